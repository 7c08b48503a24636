//! The checks behind the rules: texts in, complaints out. Nothing here reads the disk.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::repository::{TextFile, targets};
use crate::source::{code_only, coined_names, paths, starts_with_path, tokens, words};

/// Which crate of the house may use which: arrows point down.
const ARROWS: &[(&str, &[&str])] = &[
    ("mohs-data", &[]),
    ("mohs-graph", &[]),
    ("mohs-score", &["mohs-data"]),
    ("mohs-vision", &["mohs-data", "mohs-graph"]),
    ("mohs-report", &["mohs-data", "mohs-score"]),
    ("mohs-serve", &["mohs-data", "mohs-score"]),
    (
        "mohs",
        &["mohs-data", "mohs-graph", "mohs-score", "mohs-vision", "mohs-report", "mohs-serve"],
    ),
];
/// Crates whose output depends on nothing but their input and seed.
const PURE: &[&str] = &["mohs-score", "mohs-report", "mohs-graph"];
/// What a pure crate may not reach for.
const IMPURE_PATHS: &[&str] = &[
    "std::env",
    "std::fs",
    "std::io::stderr",
    "std::io::stdin",
    "std::io::stdout",
    "std::net",
    "std::process",
    "std::thread::sleep",
    "std::time::Instant",
    "std::time::SystemTime",
    "rand::rng",
    "rand::thread_rng",
];
/// The same by their last name, should a path be shortened by an import.
const IMPURE_NAMES: &[&str] = &["Instant", "SystemTime", "thread_rng"];
/// Macros that speak to the terminal.
const SPEAKING: &[&str] = &["print", "println", "eprint", "eprintln", "dbg"];
/// Names that say nothing about what is inside.
const EMPTY_NAMES: &[&str] =
    &["utils", "util", "common", "helpers", "helper", "misc", "types", "manager", "core", "mod"];
/// Words for which the glossary has another.
const BANNED_WORDS: &[(&str, &str)] = &[
    ("subject", "participant"),
    ("subjects", "participants"),
    ("worker", "participant"),
    ("workers", "participants"),
    ("latency", "rt"),
    ("latencies", "rts"),
    ("hardness", "difficulty"),
    ("backend", "engine"),
    ("backends", "engines"),
];
/// Notes to self, spelled apart so that this file has none.
const MARKERS: &[&str] = &[concat!("TO", "DO"), concat!("FIX", "ME"), concat!("XX", "X")];
/// Places on somebody's own machine, spelled apart for the same reason.
const MACHINE_PATHS: &[&str] =
    &[concat!("/ro", "ot/"), concat!("/ho", "me/"), concat!("/Us", "ers/")];
/// A file longer than this holds more than one idea.
pub(crate) const MOST_LINES: usize = 900;
/// What the page of a measure must say.
pub(crate) const METHOD_SECTIONS: &[&str] = &[
    "## Question",
    "## Formula",
    "## Assumptions",
    "## When not to use it",
    "## Worked example",
    "## References",
];
/// The two commands a newcomer needs, in order.
pub(crate) const README_COMMANDS: &[&str] = &["cargo run --release -- demo", "./tools/test"];

pub(crate) fn wrong_arrows(metadata: &serde_json::Value) -> Vec<String> {
    let packages = metadata["packages"].as_array().map_or(&[][..], Vec::as_slice);
    let names: BTreeSet<&str> = packages.iter().filter_map(|p| p["name"].as_str()).collect();
    let mut complaints = Vec::new();
    for package in packages {
        let name = package["name"].as_str().unwrap_or_default();
        let Some((_, may_use)) = ARROWS.iter().find(|(from, _)| *from == name) else {
            complaints.push(format!("`{name}` has no floor; add it to ARROWS"));
            continue;
        };
        let dependencies = package["dependencies"].as_array().map_or(&[][..], Vec::as_slice);
        for dependency in dependencies.iter().filter_map(|d| d["name"].as_str()) {
            if names.contains(dependency) && !may_use.contains(&dependency) {
                complaints.push(format!("{name} -> {dependency}"));
            }
        }
    }
    complaints
}

pub(crate) fn impurities(file: &TextFile) -> Vec<String> {
    if !PURE.iter().any(|name| file.is_source_of(name)) {
        return Vec::new();
    }
    let tokens = tokens(&code_only(&file.text));
    let mut complaints = speech(file);
    for (line, path) in paths(&tokens) {
        let is_impure = IMPURE_PATHS.iter().any(|impure| starts_with_path(&path, impure))
            || path.split("::").any(|name| IMPURE_NAMES.contains(&name));
        if is_impure {
            complaints.push(file.at(line, &path));
        }
    }
    complaints.sort();
    complaints.dedup();
    complaints
}

pub(crate) fn speech(file: &TextFile) -> Vec<String> {
    // Files of tests say why they skip, as tests elsewhere do.
    let is_exempt = file.is_source_of("mohs") || file.path.ends_with("/tests.rs");
    if !file.is_rust() || !file.path.contains("/src/") || is_exempt {
        return Vec::new();
    }
    let tokens = tokens(&code_only(&file.text));
    let macros = tokens
        .windows(2)
        .filter(|pair| pair[1].1 == "!" && SPEAKING.contains(&pair[0].1.as_str()))
        .map(|pair| file.at(pair[0].0, &format!("{}!", pair[0].1)));
    let paths = paths(&tokens)
        .into_iter()
        .filter(|(_, path)| {
            let outside = ["std::env", "std::process::exit", "std::process::abort"];
            outside.iter().any(|outside| starts_with_path(path, outside))
        })
        .map(|(line, path)| file.at(line, &path));
    macros.chain(paths).collect()
}

pub(crate) fn missing_header(file: &TextFile) -> Vec<String> {
    let is_missing = file.is_rust() && !file.text.starts_with("//!");
    is_missing.then(|| file.path.clone()).into_iter().collect()
}

pub(crate) fn empty_name(file: &TextFile) -> Vec<String> {
    let is_empty = |part: &str| {
        let stem = part.split('.').next().unwrap_or(part);
        EMPTY_NAMES.contains(&stem.strip_prefix("mohs-").unwrap_or(stem))
    };
    let is_ours = file.is_code() || file.path.ends_with(".md");
    (is_ours && file.path.split('/').any(is_empty)).then(|| file.path.clone()).into_iter().collect()
}

/// Looks at the names a source file coins: identifiers that are not a step of a path, a method of
/// something else or an import, and names of columns. Words in strings may be other people's.
pub(crate) fn banned_words(file: &TextFile) -> Vec<String> {
    if !file.is_rust() || !file.path.contains("/src/") {
        return Vec::new();
    }
    let columns = file.text.lines().enumerate().filter_map(|(idx, line)| {
        let (name, _) = line.split_once("Column::new(\"")?.1.split_once('"')?;
        Some((idx + 1, name.to_owned()))
    });
    let module = Path::new(&file.path).file_stem().unwrap_or_default().to_string_lossy();
    std::iter::once((1, module.into_owned()))
        .chain(columns)
        .chain(coined_names(&tokens(&code_only(&file.text))))
        .flat_map(|(line, name)| {
            words(&name)
                .filter_map(|word| BANNED_WORDS.iter().find(|(banned, _)| *banned == word))
                .map(|(_, better)| file.at(line, &format!("`{name}`: say {better}")))
                .collect::<Vec<_>>()
        })
        .collect()
}

pub(crate) fn trailing_white_space(file: &TextFile) -> Vec<String> {
    let is_checked = file.is_code() || file.is_prose();
    let lines = file.text.lines().enumerate().filter(|(_, line)| line.trim_end() != *line);
    lines.filter(|_| is_checked).map(|(idx, _)| file.at(idx + 1, "")).collect()
}

pub(crate) fn markers(file: &TextFile) -> Vec<String> {
    if !file.is_code() && !file.is_prose() {
        return Vec::new();
    }
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let has = |line: &str| {
        let unfinished = line.contains(concat!("to", "do!("));
        unfinished || line.split(|c| !is_word(c)).any(|word| MARKERS.contains(&word))
    };
    let lines = file.text.lines().enumerate().filter(|(_, line)| has(line));
    lines.map(|(idx, line)| file.at(idx + 1, line.trim())).collect()
}

pub(crate) fn machine_paths(file: &TextFile) -> Vec<String> {
    let has = |line: &str| MACHINE_PATHS.iter().any(|path| line.contains(path));
    let lines = file.text.lines().enumerate().filter(|(_, line)| has(line));
    lines.map(|(idx, line)| file.at(idx + 1, line.trim())).collect()
}

pub(crate) fn too_long(file: &TextFile) -> Vec<String> {
    let n_lines = file.text.lines().count();
    let is_long = file.is_code() && MOST_LINES < n_lines;
    is_long.then(|| format!("{}: {n_lines} lines", file.path)).into_iter().collect()
}

pub(crate) fn missing_lints(file: &TextFile) -> Vec<String> {
    let is_manifest = file.path.starts_with("crates/") && file.path.ends_with("/Cargo.toml");
    let mut section = "";
    let mut inherits = false;
    for line in file.text.lines().map(str::trim) {
        if line.starts_with('[') {
            section = line;
        }
        inherits |= section == "[lints]" && line.replace(' ', "") == "workspace=true";
        inherits |= line.replace(' ', "") == "lints.workspace=true";
    }
    (is_manifest && !inherits).then(|| file.path.clone()).into_iter().collect()
}

pub(crate) fn forgotten_tests(files: &[TextFile]) -> Vec<String> {
    let by_path: BTreeMap<&str, &str> =
        files.iter().map(|file| (file.path.as_str(), file.text.as_str())).collect();
    let is_named = |main: &str, stem: &str| {
        main.lines().any(|line| {
            let line = line.trim().trim_start_matches("pub ");
            line.strip_prefix("mod ").is_some_and(|rest| rest.trim_end_matches(';') == stem)
        })
    };
    let mut complaints = Vec::new();
    for path in by_path.keys() {
        let Some((folder, name)) = path.rsplit_once('/') else { continue };
        let Some(stem) = name.strip_suffix(".rs").filter(|stem| *stem != "main") else { continue };
        let is_suite = folder.rsplit_once('/').is_some_and(|(above, _)| above.ends_with("/tests"));
        if !folder.starts_with("crates/") || !is_suite {
            continue;
        }
        let main = by_path.get(format!("{folder}/main.rs").as_str());
        if !main.is_some_and(|main| is_named(main, stem)) {
            complaints.push((*path).to_owned());
        }
    }
    complaints
}

pub(crate) fn wrong_method_pages(files: &[TextFile], measures: &[&str]) -> Vec<String> {
    let page = |path: &str| files.iter().find(|file| file.path == path);
    let index = page("docs/methods/README.md");
    let linked: BTreeSet<String> = index.map(targets).unwrap_or_default().into_iter().collect();
    let mut complaints = Vec::new();
    for measure in measures {
        let path = format!("docs/methods/{measure}.md");
        if !linked.contains(&path) {
            complaints.push(format!("docs/methods/README.md does not link {measure}.md"));
        }
        let Some(page) = page(&path) else {
            complaints.push(format!("{path} is missing"));
            continue;
        };
        for section in METHOD_SECTIONS {
            if !page.text.lines().any(|line| line == *section) {
                complaints.push(format!("{path} has no section `{section}`"));
            }
        }
    }
    complaints
}

pub(crate) fn lost_pages(files: &[TextFile]) -> Vec<String> {
    let pages: BTreeMap<&str, &TextFile> = files
        .iter()
        .filter(|file| file.path.ends_with(".md"))
        .map(|file| (file.path.as_str(), file))
        .collect();
    let mut found = BTreeSet::from(["README.md".to_owned()]);
    let mut to_read = vec!["README.md".to_owned()];
    while let Some(path) = to_read.pop() {
        for target in pages.get(path.as_str()).map(|page| targets(page)).unwrap_or_default() {
            if pages.contains_key(target.as_str()) && found.insert(target.clone()) {
                to_read.push(target);
            }
        }
    }
    let lost = pages.keys().filter(|path| path.starts_with("docs/") && !found.contains(**path));
    lost.map(|path| (*path).to_owned()).collect()
}

pub(crate) fn broken_links(files: &[TextFile], exists: impl Fn(&str) -> bool) -> Vec<String> {
    let pages = files.iter().filter(|file| file.path.ends_with(".md"));
    pages
        .flat_map(|page| targets(page).into_iter().map(move |target| (page, target)))
        .filter(|(_, target)| !exists(target))
        .map(|(page, target)| format!("{} -> {target}", page.path))
        .collect()
}

pub(crate) fn wrong_commands(readme: &str) -> Vec<String> {
    let top = readme.lines().take_while(|line| !line.starts_with("## "));
    let mut is_fenced = false;
    let mut commands = Vec::new();
    for line in top {
        if line.starts_with("```") {
            is_fenced = !is_fenced;
        } else if is_fenced && !line.trim().is_empty() {
            commands.push(line);
        }
    }
    if commands == README_COMMANDS {
        return Vec::new();
    }
    vec![format!("expected {README_COMMANDS:?}, found {commands:?}")]
}

pub(crate) fn missing_unreleased(changelog: &str) -> Vec<String> {
    let is_missing = !changelog.lines().any(|line| line == "## Unreleased");
    is_missing.then(|| "CHANGELOG.md has no `## Unreleased`".to_owned()).into_iter().collect()
}
