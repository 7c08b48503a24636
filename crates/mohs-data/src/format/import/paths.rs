//! Files to read: those named, and those in folders named, by their endings.

use std::path::{Path, PathBuf};

use crate::{FileError, Problem};

/// Returns the files, folders replaced by the files below them that have one of the endings,
/// sorted by path. Files named by themselves keep their place, whatever their ending.
pub(super) fn files_of(paths: &[PathBuf], endings: &[&str]) -> Result<Vec<PathBuf>, FileError> {
    let mut files = Vec::new();
    for path in paths {
        if path.is_dir() {
            let mut found = Vec::new();
            walk(path, endings, &mut Vec::new(), &mut found)?;
            if found.is_empty() {
                let problem = Problem::BadValue {
                    expected: format!("a folder with files ending in .{}", endings.join(", .")),
                    found: "none".into(),
                    hint: Some("name the files, or the folder that holds them".into()),
                };
                return Err(FileError::new(path, problem));
            }
            found.sort_unstable();
            files.extend(found);
        } else {
            files.push(path.clone());
        }
    }
    Ok(files)
}

/// Collects files below a folder; `above` are the canonical folders on the way, so that a link to
/// one of them ends.
fn walk(
    folder: &Path,
    endings: &[&str],
    above: &mut Vec<PathBuf>,
    found: &mut Vec<PathBuf>,
) -> Result<(), FileError> {
    let cannot_read = |cause| FileError::cannot_read(folder, cause);
    let canonical = folder.canonicalize().map_err(cannot_read)?;
    if above.contains(&canonical) {
        return Ok(());
    }
    above.push(canonical);
    for entry in std::fs::read_dir(folder).map_err(cannot_read)? {
        let path = entry.map_err(cannot_read)?.path();
        let is_hidden =
            path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
        if is_hidden {
            continue;
        }
        if path.is_dir() {
            walk(&path, endings, above, found)?;
        } else if has_ending(&path, endings) {
            found.push(path);
        }
    }
    above.pop();
    Ok(())
}

/// Returns whether a file's name ends in one of these, in any case.
pub(super) fn has_ending(path: &Path, endings: &[&str]) -> bool {
    path.extension()
        .and_then(|ending| ending.to_str())
        .is_some_and(|ending| endings.iter().any(|known| known.eq_ignore_ascii_case(ending)))
}

/// Reads a file's bytes.
pub(super) fn bytes_of(path: &Path) -> Result<Vec<u8>, FileError> {
    std::fs::read(path).map_err(|cause| FileError::cannot_read(path, cause))
}
