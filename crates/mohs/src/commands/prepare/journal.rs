//! The journal of prepared stimuli: what was made already, so that it is not made twice.
//!
//! One line per picture, appended when its files are on disk; a line that a kill cut off, or that
//! does not match its checksum, is as good as none. Lines are found by the key of what was made, so
//! options that are changed and changed back find their pictures again. Format:
//! `docs/formats/prepared.md`.

use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use mohs_data::FileError;
use mohs_vision::stimulus::flash_lint::Tones;
use mohs_vision::stimulus::{Made, sha256};

/// The first line of a journal.
const HEADER: &str = "mohs prepared 1";
/// Digits of a checksum: enough to tell a torn line, which is all it is for.
const N_CHECK: usize = 16;
/// What stands for a mask where there is none.
const NO_MASK: &str = "-";

/// Names of the files made of one stimulus in one condition, and what the flash linter saw.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Entry {
    pub(super) image: String,
    pub(super) mask: Option<String>,
    pub(super) tones: Tones,
}

impl From<&Made> for Entry {
    fn from(made: &Made) -> Entry {
        Entry {
            image: made.image.sha256.clone(),
            mask: made.mask.as_ref().map(|mask| mask.sha256.clone()),
            tones: made.tones.clone(),
        }
    }
}

/// What was made already.
#[derive(Debug)]
pub(super) struct Journal {
    path: PathBuf,
    entries: HashMap<String, Entry>,
    /// Whether the file ends in the middle of a line.
    is_torn: bool,
    file: Mutex<Option<File>>,
}

impl Journal {
    /// Reads what is there; a file that is not there knows nothing. Nothing is written.
    pub(super) fn read(path: &Path) -> Result<Journal, FileError> {
        let bytes = match std::fs::read(path) {
            Ok(bytes) => bytes,
            Err(cause) if cause.kind() == ErrorKind::NotFound => Vec::new(),
            Err(cause) => return Err(FileError::cannot_read(path, cause)),
        };
        let text = String::from_utf8_lossy(&bytes);
        let entries = text.lines().filter_map(parse).collect();
        let is_torn = !bytes.is_empty() && !bytes.ends_with(b"\n");
        Ok(Journal { path: path.to_owned(), entries, is_torn, file: Mutex::new(None) })
    }

    /// Returns what was made under this key.
    pub(super) fn find(&self, key: &str) -> Option<&Entry> {
        self.entries.get(key)
    }

    /// Adds what was made; its files must be on disk.
    pub(super) fn add(&self, key: &str, entry: &Entry) -> Result<(), FileError> {
        let failed = |cause| FileError::cannot_write(&self.path, cause);
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        if file.is_none() {
            let mut opened =
                OpenOptions::new().create(true).append(true).open(&self.path).map_err(failed)?;
            let start = match opened.metadata().map_err(failed)?.len() {
                0 => format!("{HEADER}\n"),
                _ if self.is_torn => "\n".to_owned(),
                _ => String::new(),
            };
            opened.write_all(start.as_bytes()).map_err(failed)?;
            *file = Some(opened);
        }
        match file.as_mut() {
            // One write per line, so that two runs at a time do not mix theirs.
            Some(file) => file.write_all(line(key, entry).as_bytes()).map_err(failed),
            None => Ok(()),
        }
    }
}

fn line(key: &str, entry: &Entry) -> String {
    let mask = entry.mask.as_deref().unwrap_or(NO_MASK);
    let text = format!("{key}\t{}\t{mask}\t{}", entry.image, entry.tones.to_text());
    let check = &sha256(text.as_bytes())[..N_CHECK];
    format!("{text}\t{check}\n")
}

fn parse(line: &str) -> Option<(String, Entry)> {
    let (text, check) = line.rsplit_once('\t')?;
    if sha256(text.as_bytes())[..N_CHECK] != *check {
        return None;
    }
    let mut cells = text.split('\t');
    let (key, image, mask) = (cells.next()?, cells.next()?, cells.next()?);
    let entry = Entry {
        image: image.to_owned(),
        mask: (mask != NO_MASK).then(|| mask.to_owned()),
        tones: Tones::parse(cells.next()?)?,
    };
    Some((key.to_owned(), entry))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(mask: Option<&str>) -> Entry {
        let tones = Tones::parse("0:10 13:6;0:16").expect("because it is well formed");
        Entry { image: "ab".repeat(32), mask: mask.map(Into::into), tones }
    }

    #[test]
    fn what_was_added_is_found_again_and_a_torn_line_is_not() {
        let folder = tempfile::tempdir().expect("because tests may write temporary files");
        let path = folder.path().join("journal.txt");
        let journal = Journal::read(&path).expect("because nothing is there");
        journal.add("one", &entry(None)).expect("because the folder is ours");
        journal.add("two", &entry(Some("cd"))).expect("because the folder is ours");
        let bytes = std::fs::read(&path).expect("because it was written");
        std::fs::write(&path, &bytes[..bytes.len() - 9]).expect("because the folder is ours");
        let journal = Journal::read(&path).expect("because it is there");
        assert_eq!(journal.find("one"), Some(&entry(None)));
        assert_eq!(journal.find("two"), None);
        journal.add("three", &entry(None)).expect("because the folder is ours");
        let journal = Journal::read(&path).expect("because it is there");
        assert_eq!(journal.find("two"), None);
        assert_eq!(journal.find("three"), Some(&entry(None)));
    }
}
