//! Trials for other tools: folders that their validators accept.
//!
//! Long CSV and Parquet are our own tables and need nothing here; `bids.rs` and `psych_ds.rs`
//! make folders. A folder is made under a temporary name beside its place and renamed, so that
//! a stopped run leaves no half of one. Nothing is rounded; times are turned into the unit that a
//! standard asks for.

pub mod bids;
mod glossary;
mod label;
pub mod psych_ds;

use std::path::Path;

use crate::{FileError, Problem};

/// What is said about a data set as a whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Description {
    /// Its name.
    pub name: String,
    /// What it holds, in a sentence or two.
    pub description: String,
    /// Who made it.
    pub authors: Vec<String>,
    /// Version of the program that writes it.
    pub written_by: String,
}

/// Fills a folder that must not be there yet, or must be empty: all of it or nothing.
fn make_folder(
    folder: &Path,
    fill: impl FnOnce(&Path) -> Result<(), FileError>,
) -> Result<(), FileError> {
    let is_free = match std::fs::read_dir(folder) {
        Ok(mut entries) => entries.next().is_none(),
        Err(_) => !folder.exists(),
    };
    if !is_free {
        let problem = Problem::BadValue {
            expected: "a folder that is new or empty".into(),
            found: "something there".into(),
            hint: Some("name another folder, or remove this one first".into()),
        };
        return Err(FileError::new(folder, problem));
    }
    let cannot_write = |cause| FileError::cannot_write(folder, cause);
    let above = match folder.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let temporary = tempfile::Builder::new()
        .prefix(".mohs-")
        .suffix(".part")
        .tempdir_in(above)
        .map_err(cannot_write)?;
    // The folder itself is made inside, because a temporary folder is private to its owner.
    let made = temporary.path().join("made");
    make(&made)?;
    fill(&made)?;
    if folder.exists() {
        std::fs::remove_dir(folder).map_err(cannot_write)?;
    }
    std::fs::rename(&made, folder).map_err(cannot_write)
}

/// Makes a folder and those above it.
fn make(folder: &Path) -> Result<(), FileError> {
    std::fs::create_dir_all(folder).map_err(|cause| FileError::cannot_write(folder, cause))
}

/// Writes a JSON document with a line break at its end.
fn write_json(path: &Path, value: &serde_json::Value) -> Result<(), FileError> {
    let mut text = serde_json::to_string_pretty(value)
        .map_err(|error| FileError::cannot_write(path, std::io::Error::other(error)))?;
    text.push('\n');
    super::atomic::write_file(path, text.as_bytes())
}
