//! Folders that a command fills: made when needed, never overwriting what is not ours.

use std::path::{Path, PathBuf};

use mohs_data::format::{ReadOptions, read_stimuli};
use mohs_data::{Study, Task};

use crate::error::CliError;

/// Makes a folder and its parents.
pub(crate) fn make(path: &Path) -> Result<(), CliError> {
    if path.is_file() {
        return Err(CliError::input(format!("`{}` is a file, not a folder", path.display()))
            .hint("name another folder"));
    }
    std::fs::create_dir_all(path).map_err(|cause| {
        CliError::surroundings(format!("cannot make the folder `{}`", path.display()))
            .because(cause)
            .hint("check that the place exists and may be written to")
    })
}

/// Removes a folder and everything in it.
pub(crate) fn remove(path: &Path) -> Result<(), CliError> {
    std::fs::remove_dir_all(path).map_err(|cause| {
        CliError::surroundings(format!("cannot remove the folder `{}`", path.display()))
            .because(cause)
    })
}

/// Returns whether a folder holds nothing, or is not there yet.
pub(crate) fn is_empty(path: &Path) -> bool {
    std::fs::read_dir(path).map_or(true, |mut entries| entries.next().is_none())
}

/// Returns whether a folder holds nothing but entries with these names.
pub(crate) fn holds_only(path: &Path, names: &[&str]) -> bool {
    std::fs::read_dir(path).is_ok_and(|entries| {
        entries.filter_map(Result::ok).all(|entry| names.iter().any(|n| entry.file_name() == *n))
    })
}

/// Returns the files that the study in a folder is made of and keeps its data in; none where there is no
/// study. Trials are not among them: they can be exported again.
pub(crate) fn files_of_study(folder: &Path) -> Vec<PathBuf> {
    let file = folder.join("study.toml");
    if !file.is_file() {
        return Vec::new();
    }
    // A study that cannot be read is worth as much; its stimuli are where they usually are.
    let study = Study::read(&file).unwrap_or_else(|_| Study::new("study", Task::Flash));
    let stimuli = folder.join(&study.stimuli);
    let in_stimuli = read_stimuli(&stimuli, &ReadOptions::default()).unwrap_or_default();
    let pictures = in_stimuli.into_iter().flat_map(|one| [Some(one.file), one.mask]).flatten();
    let fixed = ["annotations.json", "prepared.csv", "mohs.db", "mohs.db-wal", "mohs.db-shm"];
    let texts = [study.page.consent, study.page.debrief].into_iter().flatten();
    let named = pictures.chain(fixed.map(PathBuf::from)).chain(texts).map(|path| folder.join(path));
    let prepared = std::fs::read_dir(folder.join("prepared")).into_iter().flatten();
    let prepared = prepared.filter_map(|entry| Some(entry.ok()?.path()));
    [file, stimuli].into_iter().chain(named).chain(prepared).collect()
}

/// Returns a path as a shell takes it.
pub(crate) fn quoted(path: &Path) -> String {
    let text = path.display().to_string();
    let is_plain = |c: char| c.is_alphanumeric() || "/\\._-+:,=@%~".contains(c);
    if text.chars().all(is_plain) { text } else { format!("'{}'", text.replace('\'', "'\\''")) }
}

/// Returns how `file` is reached from `folder`, where both are below a common one.
pub(crate) fn relative(file: &Path, folder: &Path) -> std::path::PathBuf {
    let (Ok(file_path), Ok(folder_path)) = (file.canonicalize(), folder.canonicalize()) else {
        return file.to_owned();
    };
    let file_parts: Vec<_> = file_path.components().collect();
    let folder_parts: Vec<_> = folder_path.components().collect();
    let n_shared = file_parts.iter().zip(&folder_parts).take_while(|(a, b)| a == b).count();
    let ups = folder_parts[n_shared..].iter().map(|_| std::path::Component::ParentDir);
    ups.chain(file_parts[n_shared..].iter().copied()).collect()
}
