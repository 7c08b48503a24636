//! Predictions in the columns of other tools, and what all readers of predictions share.
//!
//! A table of your own (CSV, Parquet, or JSON objects one per line) is understood by the names
//! other tools give our columns; `--map` says the rest. One row is one answer. A row without one
//! is a failed row with the reason `no answer`, never lost. Rows are joined to stimuli by id or by
//! file, never by their order, and a model that answers twice about one stimulus, under one probe
//! and condition, is an error that names both places.
//!
//! Nothing is computed here: no softmax, no best class of a list of logits.

pub mod answers_table;
mod class_names;
pub mod imagenet_x;
mod joined;
pub mod response_matrix;

use std::path::{Path, PathBuf};

use compact_str::{CompactString, format_compact};

pub use class_names::ClassNames;

use super::foreign::{ForeignTable, Place};
use super::{Account, ImportOptions, Imported, Mapping, mapping, paths};
use crate::format::document;
use crate::format::table::{Record as _, is_parquet};
use crate::prediction::top_k_text;
use crate::{FileError, Label, Prediction, Problem, Stimulus};

/// How readers of predictions are steered from outside.
#[derive(Debug, Clone, Default)]
pub struct PredictionOptions<'a> {
    /// What the user says about columns and rows.
    pub import: ImportOptions,
    /// The stimuli that answers are joined to; `None` leaves ids and labels as they stand.
    pub stimuli: Option<&'a [Stimulus]>,
    /// What errors call the stimuli.
    pub stimuli_name: String,
    /// Names for classes that the files number.
    pub classes: Option<&'a ClassNames>,
    /// The columns that are models, in a table with one column per model; empty means all that
    /// are nothing else.
    pub models: Vec<String>,
}

/// Names of the column `stimulus`, ids before files.
const STIMULUS: [&str; 11] = [
    "stimulus",
    "stimulus_id",
    "image_id",
    "image",
    "id",
    "item",
    "file_name",
    "filename",
    "imagename",
    "file",
    "path",
];

/// The word for an answer of which only its being right is known.
pub const RIGHT: &str = "(right)";
/// The word for an answer of which only its being wrong is known.
pub const WRONG: &str = "(wrong)";
/// Why a row without an answer failed, where the file does not say.
pub const NO_ANSWER: &str = "no answer";

/// Reads files, or folders of them.
pub fn read(
    paths: &[PathBuf],
    options: &PredictionOptions<'_>,
) -> Result<Imported<Prediction>, FileError> {
    let endings = ["csv", "tsv", "parquet", "pq", "jsonl", "ndjson", "json"];
    each_file(paths, &endings, options, parse)
}

/// Reads one file in memory; `path` gives its ending and the model's name, and stands in errors.
pub fn parse(
    path: &Path,
    bytes: Vec<u8>,
    options: &PredictionOptions<'_>,
    account: &mut Account,
    gathered: &mut Gathered,
) -> Result<(), FileError> {
    let mut table = table_of(path, bytes)?;
    account.taken_for.insert("predictions, one answer per row".into());
    account.n_records += table.rows.len();
    let mut mapping = options.import.mapping.clone();
    mapping.carry_over(&mut table)?;
    mapping.filter(&mut table, account)?;
    usual_names(&table, &mut mapping);
    model_of_file(path, &mut mapping);
    gathered.add(table, mapping, options, account)
}

/// Reads a table by its ending.
fn table_of(path: &Path, bytes: Vec<u8>) -> Result<ForeignTable, FileError> {
    if is_parquet(path) {
        ForeignTable::from_parquet(path, bytes)
    } else if paths::has_ending(path, &["json", "jsonl", "ndjson"]) {
        ForeignTable::from_json(path, &document::text_of(path, bytes, "predictions as JSON")?)
    } else {
        ForeignTable::from_csv(path, bytes)
    }
}

/// Maps the columns whose names are ours or usual for ours, unless the user says otherwise.
fn usual_names(table: &ForeignTable, mapping: &mut Mapping) {
    for column in Prediction::SCHEMA.columns {
        let usual = match column.name {
            "stimulus" => &STIMULUS[..],
            _ => column.also_called,
        };
        let is_taken = |name: &str| mapping.columns.values().any(|theirs| theirs == name);
        let names = std::iter::once(column.name).chain(usual.iter().copied());
        let theirs = names.into_iter().find_map(|name| {
            let found = table.names().iter().find(|theirs| theirs.eq_ignore_ascii_case(name))?;
            (!is_taken(found)).then(|| found.to_string())
        });
        if let Some(theirs) = theirs {
            mapping.or_column(column.name, &theirs);
        }
    }
    // `severity` says how much; what it is how much of, its own name says best.
    if let Some(theirs) = mapping.columns.get("condition_value").filter(|name| !name.is_empty()) {
        let name = theirs.clone();
        mapping.or_constant("condition", &name);
    }
}

/// Names the model after the file, where nothing else does.
fn model_of_file(path: &Path, mapping: &mut Mapping) {
    if mapping.columns.get("model").is_some_and(String::is_empty) {
        mapping.columns.remove("model");
    }
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    mapping.or_constant("model", &stem);
}

/// Predictions on their way out, each with where it stood.
#[derive(Debug, Default)]
pub struct Gathered {
    rows: Vec<Prediction>,
    places: Vec<(usize, Place)>,
    files: Vec<PathBuf>,
}

impl Gathered {
    /// Makes predictions of a table whose columns are mapped.
    pub(super) fn add(
        &mut self,
        mut table: ForeignTable,
        mut mapping: Mapping,
        options: &PredictionOptions<'_>,
        account: &mut Account,
    ) -> Result<(), FileError> {
        for ours in ["predicted", "label"] {
            spell_whole_numbers(&mut table, &mapping, ours);
        }
        right_and_wrong(&mut table, &mut mapping)?;
        our_top_k(&mut table, &mapping)?;
        no_answers(&mut table, &mut mapping);
        let rows: Vec<Prediction> = mapping::records(&table, &mapping, "prediction", account)?;
        let from = self.rows.len();
        self.files.push(table.path.clone());
        let places = table.rows.iter().map(|row| (self.files.len() - 1, row.place));
        self.places.extend(places);
        self.rows.extend(rows);
        if let Some(classes) = options.classes {
            self.name_classes(from, classes)?;
        }
        Ok(())
    }

    /// Makes an error about one row.
    fn error(&self, row: usize, problem: Problem) -> FileError {
        let (file, place) = self.places[row];
        place.locate(FileError::new(&self.files[file], problem))
    }

    /// Says where a row stands: `a.csv:12`.
    fn place(&self, row: usize) -> String {
        let (file, place) = self.places[row];
        let file = self.files[file].display();
        match (place.line, place.record) {
            (Some(line), None) => format!("{file}:{line}"),
            (Some(line), Some(record)) => format!("{file}:{line} [{record}]"),
            (None, Some(record)) => format!("{file} [{record}]"),
            (None, None) => file.to_string(),
        }
    }

    /// Replaces numbers of classes by their names in what models answered, and in labels.
    fn name_classes(&mut self, from: usize, classes: &ClassNames) -> Result<(), FileError> {
        for idx in from..self.rows.len() {
            let mut row = self.rows[idx].clone();
            let named =
                |label: &Label| classes.name(label).map_err(|problem| self.error(idx, problem));
            if let Some(label) = &mut row.label {
                *label = named(label)?;
            }
            if let crate::Outcome::Answered(answer) = &mut row.outcome {
                answer.predicted = named(&answer.predicted)?;
                for (label, _) in &mut answer.top_k {
                    *label = named(label)?;
                }
            }
            self.rows[idx] = row;
        }
        Ok(())
    }
}

/// Reads one file in memory: path, bytes, options, account, rows.
type Parse = fn(
    &Path,
    Vec<u8>,
    &PredictionOptions<'_>,
    &mut Account,
    &mut Gathered,
) -> Result<(), FileError>;

/// Reads files one after the other and puts their rows together.
fn each_file(
    paths: &[PathBuf],
    endings: &[&str],
    options: &PredictionOptions<'_>,
    parse: Parse,
) -> Result<Imported<Prediction>, FileError> {
    let files = paths::files_of(paths, endings)?;
    let (mut account, mut gathered) = (Account::default(), Gathered::default());
    for file in &files {
        parse(file, paths::bytes_of(file)?, options, &mut account, &mut gathered)?;
    }
    account.files = files;
    finish(paths, gathered, account, options)
}

/// Joins rows to the stimuli and makes sure that there is something and nothing stands twice.
pub(super) fn finish(
    paths: &[PathBuf],
    gathered: Gathered,
    mut account: Account,
    options: &PredictionOptions<'_>,
) -> Result<Imported<Prediction>, FileError> {
    let gathered = match options.stimuli {
        Some(stimuli) => joined::join(gathered, stimuli, &options.stimuli_name, &mut account)?,
        None => gathered,
    };
    if gathered.rows.is_empty() {
        let first = paths.first().map_or(Path::new(""), PathBuf::as_path);
        let aside: Vec<String> =
            account.set_aside.iter().map(|(why, n)| format!("; {n} rows {why}")).collect();
        let problem = Problem::BadValue {
            expected: "at least one prediction".into(),
            found: format!("none in {} rows{}", account.n_records, aside.concat()),
            hint: Some(
                "is this the right format? docs/formats/import.md says what each has".into(),
            ),
        };
        return Err(FileError::new(first, problem));
    }
    joined::check_unique(&gathered)?;
    account.notices.extend(joined::doubts(&gathered.rows, options));
    Ok(Imported { rows: gathered.rows, account })
}

/// Returns the column of theirs that one of ours is mapped to, if it is there.
fn mapped<'a>(table: &ForeignTable, mapping: &'a Mapping, ours: &str) -> Option<&'a str> {
    let theirs = mapping.columns.get(ours)?;
    table.column(theirs).map(|_| theirs.as_str())
}

/// Spells whole numbers without a point: a data frame with gaps writes class 65 as `65.0`, which
/// would equal no label.
fn spell_whole_numbers(table: &mut ForeignTable, mapping: &Mapping, ours: &str) {
    let Some(theirs) = mapped(table, mapping, ours) else { return };
    let whole = |cell: &str| {
        let digits = cell.strip_suffix(".0")?;
        digits.parse::<u64>().is_ok().then(|| CompactString::from(digits))
    };
    let mut cells = (0..table.rows.len()).map(|row| table.cell(row, theirs));
    let is_whole = |cell: &str| cell.is_empty() || whole(cell).is_some();
    if cells.all(is_whole) {
        let theirs = theirs.to_owned();
        table.set_column(&theirs, |table, row| whole(table.cell(row, &theirs)).unwrap_or_default());
    }
}

/// Makes answers of a table that only says which were right.
fn right_and_wrong(table: &mut ForeignTable, mapping: &mut Mapping) -> Result<(), FileError> {
    if mapped(table, mapping, "predicted").is_some() || mapping.constants.contains_key("predicted")
    {
        return Ok(());
    }
    let Some(correct) = mapped(table, mapping, "correct").map(ToOwned::to_owned) else {
        return Ok(());
    };
    for row in 0..table.rows.len() {
        if flag(table.cell(row, &correct)).is_none() && !table.cell(row, &correct).is_empty() {
            let hint = "without a column of answers, this one must say which were right";
            return Err(table.bad_value(row, &correct, "1 or 0", Some(hint.into())));
        }
    }
    let made = format!("whether `{correct}`");
    table.set_column(&made, |table, row| match flag(table.cell(row, &correct)) {
        Some(true) => RIGHT.into(),
        Some(false) => WRONG.into(),
        None => CompactString::default(),
    });
    mapping.columns.insert("predicted".into(), made);
    Ok(())
}

/// Understands right and wrong as tables spell them.
fn flag(cell: &str) -> Option<bool> {
    match cell {
        "1" | "1.0" | "true" | "True" | "TRUE" => Some(true),
        "0" | "0.0" | "false" | "False" | "FALSE" => Some(false),
        _ => None,
    }
}

/// Gives rows without an answer a reason, so that they are failed rows.
fn no_answers(table: &mut ForeignTable, mapping: &mut Mapping) {
    let Some(predicted) = mapped(table, mapping, "predicted").map(ToOwned::to_owned) else {
        return;
    };
    let is_silent = |cell: &str| cell.is_empty() || mapping.no_response.iter().any(|w| w == cell);
    if (0..table.rows.len()).all(|row| !is_silent(table.cell(row, &predicted))) {
        return;
    }
    let theirs = mapped(table, mapping, "reason").map(ToOwned::to_owned);
    let made = match &theirs {
        Some(theirs) => format!("`{theirs}`, else \"{NO_ANSWER}\""),
        None => format!("\"{NO_ANSWER}\" where there is none"),
    };
    table.set_column(&made, |table, row| {
        let said = theirs.as_deref().map_or("", |theirs| table.cell(row, theirs));
        match (said, is_silent(table.cell(row, &predicted))) {
            ("", true) => NO_ANSWER.into(),
            (said, _) => said.into(),
        }
    });
    if let Some(theirs) = theirs {
        table.remove_column(&theirs);
    }
    mapping.columns.insert("reason".into(), made);
}

/// Turns lists of first classes in JSON (`[["mug", 0.91]]`, `{"mug": 0.91}`) into our spelling.
fn our_top_k(table: &mut ForeignTable, mapping: &Mapping) -> Result<(), FileError> {
    let Some(theirs) = mapped(table, mapping, "top_k").map(ToOwned::to_owned) else {
        return Ok(());
    };
    let is_json = |cell: &str| cell.starts_with(['[', '{']);
    for row in 0..table.rows.len() {
        let cell = table.cell(row, &theirs);
        if is_json(cell) && top_k_of_json(cell).is_none() {
            let hint = "labels need their probabilities: [[\"mug\", 0.91], [\"cup\", 0.05]]; \
                        `--map top_k=` keeps the column without reading it";
            let expected = "labels with their probabilities";
            return Err(table.bad_value(row, &theirs, expected, Some(hint.into())));
        }
    }
    table.set_column(&theirs, |table, row| {
        let cell = table.cell(row, &theirs);
        match top_k_of_json(cell) {
            Some(text) if is_json(cell) => text.into(),
            _ => cell.into(),
        }
    });
    Ok(())
}

fn top_k_of_json(cell: &str) -> Option<String> {
    let label = |value: &serde_json::Value| match value {
        serde_json::Value::String(text) => Some(Label::new(text)),
        serde_json::Value::Number(number) => Some(Label::new(number.to_string())),
        _ => None,
    };
    let mut top_k: Vec<(Label, f64)> = match serde_json::from_str(cell).ok()? {
        serde_json::Value::Object(map) => {
            let pairs = map.iter().map(|(name, p)| Some((Label::new(name), p.as_f64()?)));
            pairs.collect::<Option<_>>()?
        }
        serde_json::Value::Array(list) => {
            let pair = |pair: &serde_json::Value| match pair.as_array()?.as_slice() {
                [name, p] => Some((label(name)?, p.as_f64()?)),
                _ => None,
            };
            list.iter().map(pair).collect::<Option<_>>()?
        }
        _ => return None,
    };
    top_k.sort_by(|a, b| b.1.total_cmp(&a.1));
    Some(top_k_text(&top_k))
}

/// Names the row of a model in errors and notes.
fn key_of(row: &Prediction) -> CompactString {
    let Prediction { model, stimulus, probe, condition, .. } = row;
    match condition {
        Some(set) => format_compact!("{model} × {stimulus} × {probe} × {} {}", set.name, set.value),
        None => format_compact!("{model} × {stimulus} × {probe}"),
    }
}

#[cfg(test)]
mod tests;
