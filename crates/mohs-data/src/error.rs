//! What can be wrong with a file: where, what was expected, what was found, and how to mend it.
//!
//! Every reader and writer of this crate fails with a [`FileError`]. Its text names the place;
//! [`FileError::hint`] says what to do next. Nothing here prints.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use crate::MaskError;

/// Something wrong with one file, at one place in it.
#[derive(Debug)]
pub struct FileError {
    /// The file.
    pub path: PathBuf,
    /// The line, counted from 1 with the header; for Parquet the row, counted from 1.
    pub line: Option<u64>,
    /// The column, or the key in TOML and JSON.
    pub column: Option<String>,
    /// What is wrong there.
    pub problem: Problem,
}

/// The kinds of trouble a file can be in.
#[derive(Debug, thiserror::Error)]
pub enum Problem {
    /// The file could not be opened or read.
    #[error("cannot be read")]
    CannotRead(#[source] io::Error),
    /// The file could not be written.
    #[error("cannot be written")]
    CannotWrite(#[source] io::Error),
    /// The file holds nothing.
    #[error("is empty; expected {expected}")]
    Empty {
        /// What should be in it.
        expected: &'static str,
    },
    /// The file has a header and no rows.
    #[error("has a header but no rows; expected at least one {noun}")]
    NoRows {
        /// What each row should be.
        noun: &'static str,
    },
    /// The file is not text.
    #[error("should be text, found {looks_like}")]
    NotText {
        /// What it seems to be.
        looks_like: String,
    },
    /// The file is not what its name or the command says.
    #[error("should be {expected}, found {found}")]
    WrongKind {
        /// What was asked for.
        expected: String,
        /// What it seems to be.
        found: String,
    },
    /// The file ends before it should or its bytes contradict each other.
    #[error("is damaged or cut short: {detail}")]
    Damaged {
        /// The decoder's own words.
        detail: String,
    },
    /// A required column is not there.
    #[error("has no column `{wanted}`; it has: {}", found.join(", "))]
    MissingColumn {
        /// The column wanted.
        wanted: String,
        /// The columns there are.
        found: Vec<String>,
        /// Advice, when a column looks like the one wanted.
        hint: Option<String>,
    },
    /// Two columns have one name.
    #[error("has two columns called `{name}`")]
    TwoColumns {
        /// Their name.
        name: String,
    },
    /// A row has too many or too few cells.
    #[error("should have {expected} cells, found {found}")]
    RowLength {
        /// As many as the header.
        expected: u64,
        /// As many as there are.
        found: u64,
    },
    /// A value cannot be what it says.
    #[error("should be {expected}, found {}", quoted(found))]
    BadValue {
        /// What the place should hold.
        expected: String,
        /// What it holds.
        found: String,
        /// What to do, when the cause can be guessed.
        hint: Option<String>,
    },
    /// An id stands twice.
    #[error("{what} `{id}` stands twice{}", first_line.map_or(String::new(), |line| format!("; first in line {line}")))]
    Duplicate {
        /// `trial`, `stimulus` …
        what: &'static str,
        /// The id.
        id: String,
        /// Where it stood first, in files that have lines.
        first_line: Option<u64>,
    },
    /// A name that refers to nothing.
    #[error("{what} `{id}` is not in {known_in}")]
    Unknown {
        /// `stimulus`, `label` …
        what: &'static str,
        /// The name.
        id: String,
        /// Where it should have been.
        known_in: String,
        /// The most similar name there is.
        nearest: Option<String>,
    },
    /// Two cells of a row contradict each other.
    #[error("{detail}")]
    Contradiction {
        /// Which cells, and how.
        detail: String,
        /// How to decide.
        hint: String,
    },
    /// A newer `mohs` wrote the file.
    #[error("is {noun} version {found}; this mohs reads up to version {newest}")]
    NewerVersion {
        /// `trials`, `study` …
        noun: &'static str,
        /// Version of the file.
        found: u64,
        /// Newest version known here.
        newest: u64,
    },
    /// What should be a mask is none.
    #[error("{0}")]
    BadMask(#[source] MaskError),
    /// The text does not parse.
    #[error("{message}")]
    Syntax {
        /// The parser's own words: expected and found.
        message: String,
    },
}

impl FileError {
    /// Makes an error about a whole file.
    pub fn new(path: &Path, problem: Problem) -> Self {
        Self { path: path.to_owned(), line: None, column: None, problem }
    }

    /// Adds the line.
    #[must_use]
    pub fn at_line(mut self, line: u64) -> Self {
        self.line = Some(line);
        self
    }

    /// Adds the column.
    #[must_use]
    pub fn in_column(mut self, column: &str) -> Self {
        self.column = Some(column.to_owned());
        self
    }

    /// Makes an error about reading.
    pub fn cannot_read(path: &Path, cause: io::Error) -> Self {
        Self::new(path, Problem::CannotRead(cause))
    }

    /// Makes an error about writing.
    pub fn cannot_write(path: &Path, cause: io::Error) -> Self {
        Self::new(path, Problem::CannotWrite(cause))
    }

    /// Returns whether the surroundings failed (disk, rights) rather than the content.
    ///
    /// A file that is not there, or a folder in its place, is the caller's input.
    pub fn is_environment(&self) -> bool {
        match &self.problem {
            Problem::CannotRead(cause) => {
                !matches!(cause.kind(), io::ErrorKind::NotFound | io::ErrorKind::IsADirectory)
            }
            Problem::CannotWrite(_) => true,
            _ => false,
        }
    }

    /// Returns what to do about it, where that can be said.
    pub fn hint(&self) -> Option<String> {
        match &self.problem {
            Problem::CannotRead(cause) if cause.kind() == io::ErrorKind::NotFound => {
                Some("check the path; relative paths start at the current folder".into())
            }
            Problem::CannotRead(cause) if cause.kind() == io::ErrorKind::IsADirectory => {
                Some("this is a folder; name a file in it".into())
            }
            Problem::CannotRead(_) => Some("check the file's permissions and the disk".into()),
            Problem::CannotWrite(_) => {
                Some("check that the folder exists, may be written to and has room".into())
            }
            Problem::Empty { .. } | Problem::NoRows { .. } => {
                Some("was the export interrupted? See docs/formats for what belongs here".into())
            }
            Problem::NotText { looks_like } if looks_like.contains("UTF-8") => {
                Some("save the file as UTF-8; spreadsheets call it `CSV UTF-8`".into())
            }
            Problem::NotText { .. } => {
                Some("name a CSV file, or give a Parquet file the ending .parquet".into())
            }
            Problem::WrongKind { .. } => {
                Some("the ending of a file says how it is read; name the right file".into())
            }
            Problem::Damaged { .. } => {
                Some("copy or export the file again; nothing was read from it".into())
            }
            Problem::MissingColumn { hint, .. } | Problem::BadValue { hint, .. } => hint.clone(),
            Problem::TwoColumns { .. } => Some("rename or remove one of them".into()),
            Problem::RowLength { .. } => {
                Some("a comma inside a cell needs quotes around the cell".into())
            }
            Problem::Duplicate { .. } => {
                Some("was a file appended twice? Ids must be unique within a file".into())
            }
            Problem::Unknown { nearest, .. } => Some(match nearest {
                Some(nearest) => format!("did you mean `{nearest}`?"),
                None => "check the spelling, upper and lower case too, or add it there".into(),
            }),
            Problem::Contradiction { hint, .. } => Some(hint.clone()),
            Problem::NewerVersion { .. } => Some("update mohs to read this file".into()),
            Problem::BadMask(error) => Some(error.hint().into()),
            Problem::Syntax { .. } => None,
        }
    }
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.path.display())?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        match &self.column {
            Some(column) => write!(f, ": `{column}` {}", self.problem),
            None if self.line.is_some() => write!(f, ": {}", self.problem),
            None => write!(f, " {}", self.problem),
        }
    }
}

impl std::error::Error for FileError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.problem {
            Problem::CannotRead(cause) | Problem::CannotWrite(cause) => Some(cause),
            _ => None,
        }
    }
}

/// Puts marks around what was found, so that spaces show.
fn quoted(found: &str) -> String {
    if found.is_empty() { "nothing".into() } else { format!("`{found}`") }
}

/// Returns the candidate most like `name`, if one is close enough to be a slip of the hand.
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<String> {
    let allowed = name.chars().count().div_ceil(3).max(1);
    candidates
        .into_iter()
        .map(|candidate| (edit_distance(name, candidate), candidate))
        .filter(|(distance, _)| *distance <= allowed)
        .min()
        .map(|(_, candidate)| candidate.to_owned())
}

/// Counts insertions, deletions, replacements and swaps of neighbours, ignoring case.
fn edit_distance(a: &str, b: &str) -> usize {
    let a: Vec<char> = a.to_lowercase().chars().collect();
    let b: Vec<char> = b.to_lowercase().chars().collect();
    let mut before_last: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 0..a.len() {
        let mut row = vec![i + 1];
        for j in 0..b.len() {
            let replaced = last[j] + usize::from(a[i] != b[j]);
            let mut best = replaced.min(row[j] + 1).min(last[j + 1] + 1);
            if 0 < i && 0 < j && a[i] == b[j - 1] && a[i - 1] == b[j] {
                best = best.min(before_last[j - 1] + 1);
            }
            row.push(best);
        }
        before_last = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_of_the_hand_finds_its_word() {
        let words = ["exposure_ms", "response", "stimulus"];
        assert_eq!(nearest("exposre_ms", words), Some("exposure_ms".into()));
        assert_eq!(nearest("repsonse", words), Some("response".into()));
        assert_eq!(nearest("Stimulus", words), Some("stimulus".into()));
        assert_eq!(nearest("banana", words), None);
    }

    #[test]
    fn an_error_names_its_place() {
        let error = FileError::new(
            Path::new("t.csv"),
            Problem::BadValue { expected: "a number".into(), found: "x".into(), hint: None },
        )
        .at_line(3)
        .in_column("rt_ms");
        assert_eq!(error.to_string(), "t.csv:3: `rt_ms` should be a number, found `x`");
    }
}
