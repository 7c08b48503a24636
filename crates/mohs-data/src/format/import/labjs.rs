//! lab.js exports, from JATOS or from lab.js itself.
//!
//! JATOS writes one participant per line, an array of JSON with one object per screen; lab.js
//! writes CSV or JSON. Which rows are trials depends on the study, so two published row sequences
//! are known and recognised by the names of their screens, never by row numbers:
//!
//! - SATBench (`labjs/satbench.rs`): answer at a beep, five blocks and a tutorial.
//! - Its predecessor (`labjs/anytime.rs`): five response-time limits on small pictures.
//!
//! Anything else is read by the usual names of lab.js (`labjs/plain.rs`), steered by the mapping.
//! Times are the raw clock of the page: `time_show` is the onset, `time_end` the answer.

mod anytime;
mod plain;
mod satbench;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use compact_str::{CompactString, format_compact};
use serde_json::{Map, Value};

use super::foreign::ForeignTable;
use super::{
    Account, ImportOptions, Imported, Mapping, finished, json_rows, mapping,
    number_within_sessions, paths,
};
use crate::format::csv_rows::not_text;
use crate::{FileError, Problem, Trial};

/// Reads files, or folders of them.
pub fn read(paths: &[PathBuf], options: &ImportOptions) -> Result<Imported<Trial>, FileError> {
    let files = paths::files_of(paths, &["txt", "json", "csv"])?;
    let mut account = Account::default();
    let mut sittings = Sittings::default();
    let mut trials = Vec::new();
    for file in &files {
        let bytes = paths::bytes_of(file)?;
        trials.extend(parse(file, bytes, options, &mut sittings, &mut account)?);
    }
    account.files = files;
    finished(paths, trials, account, |trial| &trial.id)
}

/// How often each participant was met, because one person may take part twice.
#[derive(Debug, Default)]
pub struct Sittings(BTreeMap<String, usize>);

impl Sittings {
    /// Returns the id of the participant's next sitting.
    fn next(&mut self, participant: &str) -> String {
        let n = self.0.entry(participant.to_owned()).or_default();
        *n += 1;
        if *n == 1 { participant.to_owned() } else { format!("{participant}/{n}") }
    }
}

/// Reads one file in memory; `path` tells CSV from JSON and stands in errors.
pub fn parse(
    path: &Path,
    bytes: Vec<u8>,
    options: &ImportOptions,
    sittings: &mut Sittings,
    account: &mut Account,
) -> Result<Vec<Trial>, FileError> {
    let mut trials = Vec::new();
    for table in tables(path, bytes, account)? {
        account.n_records += table.rows.len();
        trials.extend(session(table, options, sittings, account)?);
    }
    number_within_sessions(&mut trials);
    Ok(trials)
}

/// Returns one table per participant, for JSON; a CSV file is one table.
fn tables(
    path: &Path,
    bytes: Vec<u8>,
    account: &mut Account,
) -> Result<Vec<ForeignTable>, FileError> {
    if paths::has_ending(path, &["csv", "tsv"]) {
        return Ok(vec![ForeignTable::from_csv(path, bytes)?]);
    }
    if bytes.iter().all(u8::is_ascii_whitespace) {
        let expected = "a lab.js or JATOS export";
        return Err(FileError::new(path, Problem::Empty { expected }));
    }
    if let Some(looks_like) = not_text(&bytes) {
        return Err(FileError::new(path, Problem::NotText { looks_like }));
    }
    let text = String::from_utf8(bytes).map_err(|_| {
        let looks_like = "bytes that are not UTF-8".into();
        FileError::new(path, Problem::NotText { looks_like })
    })?;
    json_rows::sessions(path, &text, &mut account.notices)
}

/// Understands the screens of one participant.
fn session(
    mut table: ForeignTable,
    options: &ImportOptions,
    sittings: &mut Sittings,
    account: &mut Account,
) -> Result<Vec<Trial>, FileError> {
    if table.column("sender").is_none() {
        let hint = "lab.js exports have a column `sender`; other JSON may be jspsych".to_owned();
        return Err(table.missing("sender", hint));
    }
    let mut mapping = options.mapping.clone();
    mapping.carry_over(&mut table)?;
    let who = who_took_part(&table);
    let mut is_known_study = true;
    if satbench::is_it(&table) {
        satbench::choose(&mut table, options.keep_warm_up, account);
        satbench::map(&table, &mut mapping);
    } else if anytime::is_it(&table) {
        anytime::choose(&mut table, account);
        anytime::map(&mut mapping);
    } else {
        is_known_study = false;
        plain::choose(&mut table, &mapping, account)?;
        plain::map(&table, &mut mapping)?;
    }
    mapping.filter(&mut table, account)?;
    let tag = match who {
        Who::One { id, said_by } => {
            let sitting = sittings.next(&id);
            table.set_column(said_by, |_, _| id.as_str().into());
            table.set_column("sitting", |_, _| sitting.as_str().into());
            mapping.or_column("participant", said_by);
            mapping.or_column("session", "sitting");
            sitting
        }
        Who::Several { column } => {
            mapping.or_column("participant", column);
            sittings.next(&stem_of(&table.path))
        }
    };
    map_answers(&mut table, &mut mapping, account);
    if is_known_study {
        leave_out_contradictions(&mut table, &mapping, account);
    }
    mapping::records(&table, &mapping, &tag, account)
}

/// When screens without an answer ended.
const TIMED_OUT: &str = "time_end of screens without an answer";

/// Adds clocks and answers, which all lab.js studies write in the same way.
///
/// `time_show` is when a screen was first drawn. A screen that ended before that has none; lab.js
/// then counts `duration` from `time_render`, and so do we. Without either, the answer counts but
/// has no response time. A screen that timed out has no answer, whatever stood in the cell before;
/// its end is when the picture went.
fn map_answers(table: &mut ForeignTable, mapping: &mut Mapping, account: &mut Account) {
    let has_clock = table.is_filled("time_show") && table.is_filled("time_end");
    let is_answered = |table: &ForeignTable, row: usize| {
        !table.cell(row, "response").is_empty() && table.cell(row, "ended_on") != "timeout"
    };
    let n_unseen = (0..table.rows.len())
        .filter(|row| has_clock && is_answered(table, *row) && onset_of(table, *row).is_empty())
        .count();
    if 0 < n_unseen {
        let (answers, have) =
            if n_unseen == 1 { ("answer", "it has") } else { ("answers", "they have") };
        account.notices.push(format!(
            "{}: {n_unseen} {answers} came before the picture was on screen; {have} no rt",
            table.path.display()
        ));
    }
    let only_answered = |column: &'static str| {
        move |table: &ForeignTable, row: usize| -> CompactString {
            if is_answered(table, row) { table.cell(row, column).into() } else { "".into() }
        }
    };
    if has_clock {
        table.set_column("time_show, else time_render", onset_of);
        mapping.or_column("onset_ms", "time_show, else time_render");
        table.set_column("time_end of answered screens", only_answered("time_end"));
        mapping.or_column("response_ms", "time_end of answered screens");
        table.set_column(TIMED_OUT, |table, row| {
            if is_answered(table, row) { "".into() } else { table.cell(row, "time_end").into() }
        });
        if table.is_filled(TIMED_OUT) {
            mapping.or_column("offset_ms", TIMED_OUT);
        }
    } else if table.is_filled("duration") {
        table.set_column("duration of answered screens", only_answered("duration"));
        mapping.or_column("rt_ms", "duration of answered screens");
    }
    if table.column("response").is_some() {
        table.set_column("response", only_answered("response"));
        mapping.or_column("response", "response");
    }
    if table.is_filled("correct") {
        mapping.or_column("correct", "correct");
    }
}

/// Empties `correct` where it contradicts answer and label, which are believed in studies whose
/// answers are known to be labels; how often is said.
fn leave_out_contradictions(table: &mut ForeignTable, mapping: &Mapping, account: &mut Account) {
    let mapped = |ours: &str| mapping.columns.get(ours).cloned().unwrap_or_default();
    let (label, response, correct) = (mapped("label"), mapped("response"), mapped("correct"));
    let contradicts = |table: &ForeignTable, row: usize| {
        let answer = table.cell(row, &response);
        let is_right = answer == table.cell(row, &label);
        let marked = match table.cell(row, &correct) {
            "1" | "1.0" | "true" => true,
            "0" | "0.0" | "false" => false,
            _ => return false,
        };
        !answer.is_empty() && !table.cell(row, &label).is_empty() && marked != is_right
    };
    let n = (0..table.rows.len()).filter(|row| contradicts(table, *row)).count();
    if n == 0 {
        return;
    }
    account.notices.push(format!(
        "{}: `{correct}` contradicts `{response}` and `{label}` in {n} trials and is left out there",
        table.path.display()
    ));
    table.set_column(&correct, |table, row| {
        if contradicts(table, row) { "".into() } else { table.cell(row, &correct).into() }
    });
}

/// Returns the clock at onset; nothing when the screen never came up.
fn onset_of(table: &ForeignTable, row: usize) -> CompactString {
    match table.cell(row, "time_show") {
        "" => table.cell(row, "time_render").into(),
        shown => shown.into(),
    }
}

/// Names under which recruiting pages hand over who takes part, most telling first.
const PARTICIPANT: [&str; 12] = [
    "participant",
    "participant_id",
    "participantId",
    "srid",
    "PROLIFIC_PID",
    "prolific_pid",
    "prolific_id",
    "subject",
    "subject_id",
    "workerId",
    "worker_id",
    "id",
];

/// Who took part in the rows of one table.
enum Who {
    /// One person, named by a column, the page's address or the file.
    One { id: String, said_by: &'static str },
    /// Several people, told apart by a column.
    Several { column: &'static str },
}

/// Finds who took part: in a column, in the page's address, or in the file's name.
fn who_took_part(table: &ForeignTable) -> Who {
    for name in PARTICIPANT {
        let cells = (0..table.rows.len()).map(|row| table.cell(row, name));
        let ids: BTreeSet<&str> = cells.filter(|cell| !cell.is_empty()).collect();
        match ids.first() {
            None => {}
            Some(id) if ids.len() == 1 => {
                return Who::One { id: (*id).to_owned(), said_by: name };
            }
            Some(_) => return Who::Several { column: name },
        }
    }
    let addresses = (0..table.rows.len()).map(|row| table.cell(row, "url"));
    for address in addresses.filter(|cell| cell.starts_with('{')) {
        let Ok(parameters) = serde_json::from_str::<Map<String, Value>>(address) else { continue };
        let known = PARTICIPANT.iter().find_map(|name| match parameters.get(*name)? {
            Value::String(text) if !text.is_empty() => Some(text.clone()),
            Value::Number(number) => Some(number.to_string()),
            _ => None,
        });
        if let Some(id) = known {
            return Who::One { id, said_by: "parameter in url" };
        }
    }
    let stem = stem_of(&table.path);
    let id = match table.rows.first().and_then(|row| row.place.line) {
        // Several people may stand in one file, one per line.
        Some(line) if 1 < line => format!("{stem}-{line}"),
        _ => stem,
    };
    Who::One { id, said_by: "name of the file" }
}

fn stem_of(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

/// Makes the name of a block from its beep.
fn block_of(beep_ms: u32) -> CompactString {
    format_compact!("beep-{beep_ms}")
}
