//! Data out of the store, row by row: trials, comparisons, raw events.
//!
//! Rows become the nouns of `mohs-data`, so that scoring reads an export as it reads any other
//! file. Nothing is held but one row. Practice and previews stay behind; trials that are void come
//! along with their verdict, because what does not count is for exclusions to say.

use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use compact_str::{CompactString, ToCompactString};
use mohs_data::format::TableWriter;
use mohs_data::format::atomic::AtomicFile;
use mohs_data::{
    Comparison, Extra, FileError, Harder, Label, Millis, ParticipantId, SessionId, Sides,
    StimulusId, Task, TimingVerdict, Trial, TrialId,
};

use crate::store::connection::{Connection, Row};
use crate::store::{StoreError, event, result, session};

/// Columns that an export has beyond those of every table of trials.
pub const EXTRA_COLUMNS: [&str; 20] = [
    "state",
    "reason",
    "frames_planned",
    "frames_shown",
    "period_ms",
    "longest_gap_ms",
    "handled_ms",
    "input",
    "was_visible",
    "was_fullscreen",
    "pixel_ratio",
    "stimulus_px",
    "cue",
    "cue_planned_ms",
    "cue_sounded_ms",
    "base_lag_ms",
    "output_lag_ms",
    "feedback",
    "epoch",
    "answered_at_ms",
];

/// Why an export failed.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A file could not be written.
    #[error(transparent)]
    File(#[from] FileError),
}

/// Takes the cause out of what the store handed on.
fn unwrapped(error: StoreError) -> ExportError {
    match error {
        StoreError::Sink(cause) => match cause.downcast::<FileError>() {
            Ok(error) => ExportError::File(*error),
            Err(cause) => ExportError::Store(StoreError::Sink(cause)),
        },
        error => ExportError::Store(error),
    }
}

fn sunk(error: FileError) -> StoreError {
    StoreError::Sink(Box::new(error))
}

/// Returns the names of the extra columns, shared by all rows.
pub fn extra_names() -> Arc<[CompactString]> {
    EXTRA_COLUMNS.map(CompactString::from).into()
}

/// Hands on every trial of a study that was begun and is over.
pub fn each_trial(
    tx: &mut dyn Connection,
    study: &str,
    task: Task,
    each: &mut dyn FnMut(&Trial) -> Result<(), FileError>,
) -> Result<(), ExportError> {
    let names = extra_names();
    let handed =
        result::each_of_study(tx, study, &mut |row| each(&trial(row, task, &names)).map_err(sunk));
    handed.map_err(unwrapped)
}

fn millis(row: &dyn Row, column: usize) -> Option<Millis> {
    row.real(column).and_then(Millis::new)
}

fn trial(row: &dyn Row, task: Task, names: &Arc<[CompactString]>) -> Trial {
    // Nobody knows what was shown of a trial without a report.
    let is_given_up = row.text(15) == Some("voided") && row.real(11).is_none();
    let verdict = row.text(14).or(is_given_up.then_some("unknown"));
    let known = |word| TimingVerdict::WORDS.iter().find(|(known, _)| *known == word);
    Trial {
        id: TrialId::new(row.text(0).unwrap_or_default()),
        session: SessionId::new(row.text(1).unwrap_or_default()),
        participant: ParticipantId::new(row.text(2).unwrap_or_default()),
        idx: Some(row.whole(3).unsigned_abs()),
        block: Some(row.whole(4).to_string()),
        task,
        stimulus: StimulusId::new(row.text(5).unwrap_or_default()),
        label: row.text(6).map(Label::new),
        exposure: millis(row, 7),
        beep: millis(row, 8),
        condition: row.owned(9),
        response: row.text(10).map(Label::new),
        marked_correct: None,
        onset: millis(row, 11),
        offset: millis(row, 12),
        responded: millis(row, 13),
        timing: verdict.and_then(known).map(|(_, verdict)| *verdict),
        extra: Extra::new(Arc::clone(names), extra(row)).unwrap_or_default(),
    }
}

/// Returns the cells of [`EXTRA_COLUMNS`].
fn extra(row: &dyn Row) -> Vec<CompactString> {
    let text = |column| CompactString::new(row.text(column).unwrap_or_default());
    let whole =
        |column| row.int(column).map_or_else(CompactString::default, |n| n.to_compact_string());
    let real =
        |column| row.real(column).map_or_else(CompactString::default, |x| x.to_compact_string());
    vec![
        text(15),
        text(16),
        whole(17),
        whole(18),
        real(19),
        real(20),
        real(21),
        text(22),
        whole(23),
        whole(24),
        real(25),
        real(26),
        text(27),
        real(28),
        real(29),
        real(30),
        real(31),
        text(32),
        whole(33),
        whole(36),
    ]
}

/// Hands on every judgement of a study that was made.
pub fn each_comparison(
    tx: &mut dyn Connection,
    study: &str,
    each: &mut dyn FnMut(&Comparison) -> Result<(), FileError>,
) -> Result<(), ExportError> {
    let handed = result::each_of_study(tx, study, &mut |row| match comparison(row) {
        Some(comparison) => each(&comparison).map_err(sunk),
        None => Ok(()),
    });
    handed.map_err(unwrapped)
}

fn comparison(row: &dyn Row) -> Option<Comparison> {
    let answer = row.text(10)?;
    let harder = Harder::WORDS.iter().find(|(word, _)| *word == answer)?.1;
    Some(Comparison {
        id: TrialId::new(row.text(0)?),
        participant: ParticipantId::new(row.text(2)?),
        left: StimulusId::new(row.text(5)?),
        right: StimulusId::new(row.text(34)?),
        harder,
        question: None,
        onset: millis(row, 11),
        responded: millis(row, 13),
        count: 1,
        sides: Sides::Shown,
        extra: Extra::from_pairs([
            ("session", row.word(1)),
            ("idx", row.whole(3).to_string()),
            ("input", row.word(22)),
        ]),
    })
}

/// What was written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Written {
    /// Trials or comparisons.
    pub n: usize,
    /// Those of them that are void.
    pub n_void: usize,
}

impl Written {
    /// Counts a trial.
    pub fn add(&mut self, trial: &Trial) {
        self.n += 1;
        self.n_void += usize::from(trial.extra.get("state") == Some("voided"));
    }
}

/// Writes trials, or comparisons where the task is `pairs`, as CSV or by its ending as Parquet;
/// returns how many.
pub fn write_table(
    tx: &mut dyn Connection,
    study: &str,
    task: Task,
    path: &Path,
) -> Result<Written, ExportError> {
    let mut written = Written::default();
    if task == Task::Pairs {
        let names = ["session", "idx", "input"].map(CompactString::from).into();
        let mut writer = TableWriter::<Comparison>::create(path, names)?;
        each_comparison(tx, study, &mut |comparison| {
            written.n += 1;
            writer.push(comparison)
        })?;
        writer.finish()?;
    } else {
        let mut writer = TableWriter::<Trial>::create(path, extra_names())?;
        each_trial(tx, study, task, &mut |trial| {
            written.add(trial);
            writer.push(trial)
        })?;
        writer.finish()?;
    }
    Ok(written)
}

/// Columns of the table of sessions.
const SESSION_COLUMNS: &str = "session,state,code,n_done,n_good,n_total,joined_at_ms,ended_at_ms";

/// Writes the sessions of a study as CSV, with their completion codes; returns how many. Previews stay
/// behind, and there is no id of a recruiter, because none is stored.
pub fn write_sessions(
    tx: &mut dyn Connection,
    study: &str,
    path: &Path,
) -> Result<usize, ExportError> {
    let mut file = std::io::BufWriter::new(AtomicFile::create(path)?);
    let cannot_write = |cause| FileError::cannot_write(path, cause);
    writeln!(file, "{SESSION_COLUMNS}").map_err(cannot_write)?;
    let mut n = 0;
    let handed = session::each_of_study(tx, study, &mut |row| {
        n += 1;
        writeln!(file, "{}", session_line(row)).map_err(|cause| sunk(cannot_write(cause)))
    });
    handed.map_err(unwrapped)?;
    let file = file.into_inner().map_err(|error| cannot_write(error.into_error()))?;
    file.commit()?;
    Ok(n)
}

/// A line of the table of sessions. Sessions, states and codes have no letter that CSV would quote.
fn session_line(row: &dyn Row) -> String {
    let text = |column| row.text(column).unwrap_or_default();
    let ended = row.int(6).map_or(String::new(), |ms| ms.to_string());
    format!(
        "{},{},{},{},{},{},{},{ended}",
        text(0),
        text(1),
        text(2),
        row.whole(3),
        row.whole(7),
        row.whole(4),
        row.whole(5)
    )
}

/// Writes raw events as JSON, one a line; returns how many.
///
/// `body` is the text as the page sent it, so that hashes can be checked.
pub fn write_events(
    tx: &mut dyn Connection,
    study: &str,
    path: &Path,
) -> Result<usize, ExportError> {
    let mut file = std::io::BufWriter::new(AtomicFile::create(path)?);
    let mut n = 0;
    let handed = event::each_of_study(tx, study, &mut |row| {
        n += 1;
        let line = event_line(row);
        file.write_all(line.as_bytes()).map_err(|cause| sunk(FileError::cannot_write(path, cause)))
    });
    handed.map_err(unwrapped)?;
    let file = file.into_inner();
    let file = file.map_err(|error| FileError::cannot_write(path, error.into_error()))?;
    file.commit()?;
    Ok(n)
}

fn event_line(row: &dyn Row) -> String {
    let quoted = |text: &str| serde_json::Value::from(text).to_string();
    format!(
        "{{\"session\":{},\"epoch\":{},\"seq\":{},\"received_at_ms\":{},\"hash\":{},\"body\":{}}}\n",
        quoted(&row.word(0)),
        row.whole(1),
        row.whole(2),
        row.whole(3),
        quoted(&row.word(4)),
        quoted(row.text(5).unwrap_or_default()),
    )
}
