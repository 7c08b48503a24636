//! A review: what somebody who looked at a picture of a ladder decided (`review.csv`).
//!
//! Rows are appended and on disk one by one, as decisions come; the last row about a stimulus holds.
//! A row that a kill cut off is as good as none.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use crate::format::table::{Cell, CellKind, Column, Record, Row, Schema, TableReader};
use crate::format::{ReadOptions, write_all};
use crate::{Extra, FileError, StimulusId};

/// What was decided about a picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It may be used.
    Accepted,
    /// It may not.
    Rejected,
    /// A decision was taken back.
    Undecided,
}

impl Verdict {
    const WORDS: [(&'static str, Verdict); 3] = [
        ("accepted", Verdict::Accepted),
        ("rejected", Verdict::Rejected),
        ("undecided", Verdict::Undecided),
    ];

    /// Returns its word in files.
    pub fn as_str(self) -> &'static str {
        match self {
            Verdict::Accepted => "accepted",
            Verdict::Rejected => "rejected",
            Verdict::Undecided => "undecided",
        }
    }

    /// Returns the verdict with this word.
    pub fn parse(word: &str) -> Option<Self> {
        Self::WORDS.iter().find(|(known, _)| *known == word).map(|(_, verdict)| *verdict)
    }
}

/// A decision about a picture.
#[derive(Debug, Clone, PartialEq)]
pub struct Review {
    /// The picture.
    pub stimulus: StimulusId,
    /// The decision.
    pub verdict: Verdict,
    /// Why, e.g. `another thing`; may be empty.
    pub reason: String,
    /// When, in milliseconds since 1970.
    pub reviewed_at_ms: Option<u64>,
    /// Columns `mohs` does not know.
    pub extra: Extra,
}

const STIMULUS: usize = 0;
const VERDICT: usize = 1;
const REASON: usize = 2;
const REVIEWED_AT: usize = 3;

impl Record for Review {
    const SCHEMA: &'static Schema = &Schema {
        noun: "reviews",
        row_noun: "review",
        version: 1,
        version_column: "reviews_version",
        columns: &[
            Column::new("stimulus", CellKind::Text, &["id"]),
            Column::new("verdict", CellKind::Text, &["decision"]),
            Column::new("reason", CellKind::Text, &[]),
            Column::new("reviewed_at_ms", CellKind::Whole, &[]),
        ],
        required: &[STIMULUS, VERDICT],
    };

    fn from_row(row: &Row<'_>) -> Result<Self, FileError> {
        let verdict = row.word(VERDICT, &Verdict::WORDS)?;
        Ok(Self {
            stimulus: StimulusId::new(row.required_text(STIMULUS)?),
            verdict: verdict.unwrap_or(Verdict::Undecided),
            reason: row.text(REASON).unwrap_or_default().into_owned(),
            reviewed_at_ms: row.whole(REVIEWED_AT)?,
            extra: row.extra(),
        })
    }

    fn cells<'a>(&'a self, cells: &mut Vec<Cell<'a>>) {
        cells.extend([
            Cell::text(Some(self.stimulus.as_str())),
            Cell::text(Some(self.verdict.as_str())),
            Cell::text(Some(&self.reason)),
            self.reviewed_at_ms.map_or(Cell::Empty, Cell::Whole),
        ]);
    }

    fn extra(&self) -> &Extra {
        &self.extra
    }
}

/// Returns the stimuli that are rejected; none where nobody has looked yet.
pub fn rejected(path: &Path) -> Result<BTreeSet<StimulusId>, FileError> {
    let latest = read(path)?;
    let rejected = latest.into_values().filter(|review| review.verdict == Verdict::Rejected);
    Ok(rejected.map(|review| review.stimulus).collect())
}

/// Reads the last review of each stimulus.
fn read(path: &Path) -> Result<BTreeMap<StimulusId, Review>, FileError> {
    match std::fs::read(path) {
        Ok(bytes) => parse(path, &bytes),
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => Ok(BTreeMap::new()),
        Err(cause) => Err(FileError::cannot_read(path, cause)),
    }
}

fn parse(path: &Path, bytes: &[u8]) -> Result<BTreeMap<StimulusId, Review>, FileError> {
    let whole = &bytes[..end_of_rows(bytes)];
    // A header alone is a review that has not begun.
    if whole.iter().filter(|byte| **byte == b'\n').count() < 2 {
        return Ok(BTreeMap::new());
    }
    let rows = TableReader::<Review>::from_bytes(path, whole.to_vec(), &ReadOptions::default())?;
    let mut latest = BTreeMap::new();
    for review in rows {
        let review = review?;
        latest.insert(review.stimulus.clone(), review);
    }
    Ok(latest)
}

/// Where the last whole line ends.
fn end_of_rows(bytes: &[u8]) -> usize {
    bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1)
}

/// The file of a review that is going on; it has one writer.
#[derive(Debug)]
pub struct ReviewLog {
    file: File,
    path: PathBuf,
    latest: BTreeMap<StimulusId, Review>,
}

const HEADER: &str = "stimulus,verdict,reason,reviewed_at_ms,reviews_version\n";

impl ReviewLog {
    /// Opens a file, or starts one.
    pub fn open(path: &Path) -> Result<Self, FileError> {
        let failed = |cause| FileError::cannot_write(path, cause);
        let open = || {
            let mut options = OpenOptions::new();
            options.create(true).read(true).write(true).truncate(false).open(path)
        };
        let latest = read(path)?;
        let bytes = std::fs::read(path).unwrap_or_default();
        if !latest.is_empty() && !bytes.starts_with(HEADER.as_bytes()) {
            // Somebody arranged the columns in another way: rows would be appended wrongly.
            write_all(path, &latest.values().map(without_extra).collect::<Vec<_>>())?;
        }
        let mut file = open().map_err(failed)?;
        if let Err(TryLockError::WouldBlock) = file.try_lock() {
            return Err(failed(io::Error::other("another review of this folder is going on")));
        }
        let bytes = std::fs::read(path).map_err(|cause| FileError::cannot_read(path, cause))?;
        let n_kept = if bytes.starts_with(HEADER.as_bytes()) { end_of_rows(&bytes) } else { 0 };
        file.set_len(n_kept as u64)
            .and_then(|()| file.seek(SeekFrom::End(0)))
            .and_then(|end| if end == 0 { file.write_all(HEADER.as_bytes()) } else { Ok(()) })
            .and_then(|()| file.sync_all())
            .map_err(failed)?;
        Ok(Self { file, path: path.to_owned(), latest })
    }

    /// Keeps a decision; it is on disk when this returns.
    pub fn append(&mut self, review: Review) -> Result<(), FileError> {
        let failed = |cause| FileError::cannot_write(&self.path, cause);
        let mut line = csv::WriterBuilder::new().from_writer(Vec::new());
        // A line is a row, so that a line that was cut off can be told.
        let reason = review.reason.split_whitespace().collect::<Vec<_>>().join(" ");
        let at = review.reviewed_at_ms.map(|at| at.to_string()).unwrap_or_default();
        let cells = [review.stimulus.as_str(), review.verdict.as_str(), &reason, &at, "1"];
        line.write_record(cells).map_err(|error| failed(io::Error::other(error)))?;
        let line =
            line.into_inner().map_err(|error| failed(io::Error::other(error.to_string())))?;
        let end = self.file.stream_position().map_err(failed)?;
        let written = self.file.write_all(&line).and_then(|()| self.file.sync_data());
        if let Err(cause) = written {
            // Half a line would spoil the next one.
            let _ = self.file.set_len(end).and_then(|()| self.file.seek(SeekFrom::Start(end)));
            return Err(FileError::cannot_write(&self.path, cause));
        }
        self.latest.insert(review.stimulus.clone(), Review { reason, ..review });
        Ok(())
    }

    /// Returns the last decision about a stimulus.
    pub fn find(&self, stimulus: &StimulusId) -> Option<&Review> {
        self.latest.get(stimulus)
    }
}

fn without_extra(review: &Review) -> Review {
    Review { extra: Extra::default(), ..review.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn review(stimulus: &str, verdict: Verdict, reason: &str) -> Review {
        Review {
            stimulus: stimulus.into(),
            verdict,
            reason: reason.to_owned(),
            reviewed_at_ms: Some(7),
            extra: Extra::default(),
        }
    }

    fn ids(path: &Path) -> Vec<String> {
        rejected(path).unwrap().iter().map(ToString::to_string).collect()
    }

    #[test]
    fn the_last_word_holds_wherever_the_file_is_torn() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("review.csv");
        assert!(ids(&path).is_empty());
        let mut log = ReviewLog::open(&path).unwrap();
        log.append(review("a", Verdict::Rejected, "not, a \"cat\"\nat all")).unwrap();
        log.append(review("b", Verdict::Rejected, "")).unwrap();
        log.append(review("a", Verdict::Accepted, "")).unwrap();
        assert!(ReviewLog::open(&path).is_err(), "a file has one writer");
        drop(log);
        assert_eq!(ids(&path), ["b"]);
        let whole = std::fs::read(&path).unwrap();
        let ends: Vec<usize> =
            (0..whole.len()).filter(|at| whole[*at] == b'\n').map(|at| at + 1).collect();
        for n_bytes in 0..=whole.len() {
            std::fs::write(&path, &whole[..n_bytes]).unwrap();
            let n_rows = ends.iter().skip(1).filter(|end| **end <= n_bytes).count();
            let expected: &[&str] = [&[][..], &["a"], &["a", "b"], &["b"]][n_rows];
            assert_eq!(ids(&path), expected, "{n_bytes}");
            let mut log = ReviewLog::open(&path).unwrap();
            assert_eq!(log.find(&"b".into()).is_some(), 2 <= n_rows);
            log.append(review("c", Verdict::Rejected, "x")).unwrap();
            drop(log);
            assert_eq!(ids(&path).last().map(String::as_str), Some("c"), "{n_bytes}");
        }
    }

    #[test]
    fn a_file_whose_columns_were_moved_is_put_in_order_first() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("review.csv");
        std::fs::write(&path, "verdict;stimulus;who\r\nrejected;a;me\r\n").unwrap();
        let mut log = ReviewLog::open(&path).unwrap();
        log.append(review("b", Verdict::Rejected, "")).unwrap();
        drop(log);
        assert_eq!(ids(&path), ["a", "b"]);
    }

    #[test]
    fn a_word_that_is_no_verdict_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("review.csv");
        std::fs::write(&path, "stimulus,verdict\na,rejectd\n").unwrap();
        let error = rejected(&path).unwrap_err();
        assert!(error.to_string().contains("one of accepted, rejected, undecided"), "{error}");
    }
}
