//! Folders that a command fills: made when needed, never overwriting what is not ours.

use std::path::Path;

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
