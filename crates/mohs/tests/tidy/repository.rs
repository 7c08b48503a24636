//! Reading the repository: its texts, tracked or not, and where the links of a page lead.

use std::path::{Path, PathBuf};

/// A text of the repository.
pub(crate) struct TextFile {
    /// Its path from the root, with slashes.
    pub(crate) path: String,
    /// What it says.
    pub(crate) text: String,
}

impl TextFile {
    pub(crate) fn at(&self, line: usize, what: &str) -> String {
        format!("{}:{line}: {what}", self.path).trim_end_matches([':', ' ']).to_owned()
    }

    pub(crate) fn is_rust(&self) -> bool {
        self.path.ends_with(".rs")
    }

    pub(crate) fn is_code(&self) -> bool {
        let endings = [".rs", ".js", ".ts", ".css", ".py", ".sh"];
        let scripts = ["tools/test", ".ci/run"];
        endings.iter().any(|ending| self.path.ends_with(ending))
            || scripts.contains(&self.path.as_str())
    }

    pub(crate) fn is_prose(&self) -> bool {
        let endings = [".md", ".toml", "justfile"];
        endings.iter().any(|ending| self.path.ends_with(ending))
            && !self.path.contains("/fixtures/")
    }

    pub(crate) fn is_source_of(&self, crate_name: &str) -> bool {
        self.is_rust() && self.path.starts_with(&format!("crates/{crate_name}/src/"))
    }
}

pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Reads every text of the repository, tracked or not, apart from what `.gitignore` names and
/// what cargo builds, in the order of paths.
pub(crate) fn texts() -> Vec<TextFile> {
    let mut files = Vec::new();
    let mut ignored = vec!["/.git".to_owned()];
    collect(&root(), "", &mut ignored, &mut files);
    files.sort_by(|a, b| a.path.cmp(&b.path));
    // A rule that reads nothing would pass for ever.
    for expected in ["Cargo.toml", "README.md", "crates/mohs-score/src/lib.rs"] {
        assert!(files.iter().any(|file| file.path == expected), "{expected} was not found");
    }
    files
}

fn collect(folder: &Path, prefix: &str, ignored: &mut Vec<String>, files: &mut Vec<TextFile>) {
    if let Ok(list) = std::fs::read_to_string(folder.join(".gitignore")) {
        ignored.extend(ignore_patterns(&list, prefix));
    }
    let entries = std::fs::read_dir(folder).expect("because the folder was just listed");
    for entry in entries.flatten() {
        let path = entry.path();
        let relative = format!("{prefix}/{}", entry.file_name().to_string_lossy());
        let is_built = path.join("CACHEDIR.TAG").exists();
        if is_built || is_ignored(&relative, ignored) {
            continue;
        }
        if path.is_dir() {
            collect(&path, &relative, ignored, files);
        } else if let Ok(text) = std::fs::read_to_string(&path) {
            files.push(TextFile { path: relative.trim_start_matches('/').to_owned(), text });
        }
    }
}

/// Turns the lines of a `.gitignore` into paths from the root, or bare names that count anywhere.
/// Only what this repository uses is understood: names, `*` at the start, a slash in front.
pub(crate) fn ignore_patterns(list: &str, prefix: &str) -> Vec<String> {
    list.lines()
        .map(|line| line.trim().trim_end_matches('/'))
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .map(|line| if line.starts_with('/') { format!("{prefix}{line}") } else { line.to_owned() })
        .collect()
}

pub(crate) fn is_ignored(relative: &str, ignored: &[String]) -> bool {
    let name = relative.rsplit('/').next().unwrap_or(relative);
    ignored.iter().any(|pattern| match pattern.split_once('*') {
        Some((start, end)) => {
            start.len() + end.len() <= name.len() && name.starts_with(start) && name.ends_with(end)
        }
        None if pattern.starts_with('/') => relative == pattern,
        None => name == pattern,
    })
}

pub(crate) fn text_of(files: &[TextFile], path: &str) -> String {
    files.iter().find(|file| file.path == path).map_or(String::new(), |file| file.text.clone())
}

/// Returns the relative links of a page, as paths from the root; code is not looked at.
pub(crate) fn targets(page: &TextFile) -> Vec<String> {
    let folder = page.path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let mut is_fenced = false;
    let mut targets = Vec::new();
    for line in page.text.lines() {
        if line.trim_start().starts_with("```") {
            is_fenced = !is_fenced;
        }
        if is_fenced {
            continue;
        }
        // Every second part between backticks is code.
        let prose: Vec<&str> = line.split('`').step_by(2).collect();
        for rest in prose.join("`").split("](").skip(1) {
            let target = rest.split([')', '#', ' ']).next().unwrap_or_default();
            let is_elsewhere = target.contains("://") || target.starts_with("mailto:");
            if !target.is_empty() && !is_elsewhere {
                targets.push(joined(folder, target));
            }
        }
    }
    targets
}

/// Walks from a folder along a relative path, without asking the disk.
fn joined(folder: &str, target: &str) -> String {
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in target.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    parts.join("/")
}
