//! Which answers of which models were right: a matrix of 1 and 0, or lines of JSON.
//!
//! A CSV file has one row per model and one column per stimulus (`format/response_matrix.rs`), its
//! rows named by a column `model` or `participant`. JSON has one object per line, as py-irt reads
//! them: `{"subject_id": "resnet50", "responses": {"cat.png": 1}}`. What was answered is not
//! known; the column `predicted` says `(right)` or `(wrong)`.

use std::path::{Path, PathBuf};

use compact_str::CompactString;
use serde_json::{Map, Value};

use super::super::foreign::{ForeignTable, Place};
use super::super::paths::has_ending;
use super::{Gathered, PredictionOptions, each_file, flag, table_of};
use crate::format::import::{Account, Imported};
use crate::{FileError, Prediction, Problem};

/// Names of the column with the model, in lower case.
const MODEL: [&str; 7] =
    ["model", "model_name", "participant", "subject_id", "subject", "network", "unnamed_1"];

/// Reads files, or folders of them.
pub fn read(
    paths: &[PathBuf],
    options: &PredictionOptions<'_>,
) -> Result<Imported<Prediction>, FileError> {
    each_file(paths, &["csv", "jsonl", "jsonlines"], options, parse)
}

/// Reads one file in memory; `path` gives its ending and stands in errors.
pub fn parse(
    path: &Path,
    bytes: Vec<u8>,
    options: &PredictionOptions<'_>,
    account: &mut Account,
    gathered: &mut Gathered,
) -> Result<(), FileError> {
    account.taken_for.insert("right and wrong answers, one row per model".into());
    let cells = if has_ending(path, &["jsonl", "jsonlines"]) {
        cells_of_lines(path, bytes, options, account)?
    } else {
        cells_of_matrix(path, bytes, options, account)?
    };
    let mut table = ForeignTable::of_cells(path, ["model", "stimulus", "correct"], cells);
    let mut mapping = options.import.mapping.clone();
    // Their columns of models and stimuli were understood above.
    mapping.columns.clear();
    for ours in ["model", "stimulus", "correct"] {
        mapping.or_column(ours, ours);
    }
    let empty: Vec<usize> =
        (0..table.rows.len()).filter(|row| !table.cell(*row, "correct").is_empty()).collect();
    account.set_aside("that are empty: stimuli not answered", table.rows.len() - empty.len());
    table.keep(&empty);
    gathered.add(table, mapping, options, account)
}

type Cells = Vec<(Place, [CompactString; 3])>;

fn cells_of_matrix(
    path: &Path,
    bytes: Vec<u8>,
    options: &PredictionOptions<'_>,
    account: &mut Account,
) -> Result<Cells, FileError> {
    let mut table = table_of(path, bytes)?;
    options.import.mapping.filter(&mut table, account)?;
    account.n_records += table.rows.len();
    let mapped = options.import.mapping.columns.get("model").cloned();
    let is_model = |name: &str| MODEL.iter().any(|known| known.eq_ignore_ascii_case(name));
    let model = mapped
        .or_else(|| table.names().iter().find(|name| is_model(name)).map(ToString::to_string));
    let Some(model) = model.filter(|name| table.column(name).is_some()) else {
        let hint = "each row is a model; say which column names it: --map model=YOUR_COLUMN; a \
                    table with one column per model is read by `mohs import answers-table`";
        return Err(table.missing("model", hint.into()));
    };
    let mut cells = Cells::new();
    for row in 0..table.rows.len() {
        for name in table.names().iter().filter(|name| **name != model) {
            let cell = table.cell(row, name);
            if !cell.is_empty() && flag(cell).is_none() {
                let expected = "1, 0, or nothing where the stimulus was not answered";
                let hint = "one row per model and one column per stimulus; other columns must go";
                return Err(table.bad_value(row, name, expected, Some(hint.into())));
            }
            let cells_of_row = [table.cell(row, &model).into(), name.clone(), cell.into()];
            cells.push((table.rows[row].place, cells_of_row));
        }
    }
    Ok(cells)
}

fn cells_of_lines(
    path: &Path,
    bytes: Vec<u8>,
    options: &PredictionOptions<'_>,
    account: &mut Account,
) -> Result<Cells, FileError> {
    let mut table = table_of(&path.with_extension("jsonl"), bytes)?;
    table.path = path.to_owned();
    options.import.mapping.filter(&mut table, account)?;
    account.n_records += table.rows.len();
    let hint = r#"one object per line: {"subject_id": "resnet50", "responses": {"cat.png": 1}}"#;
    let Some(model) = table.first_of(&MODEL) else {
        return Err(table.missing("subject_id", hint.into()));
    };
    if table.column("responses").is_none() {
        return Err(table.missing("responses", hint.into()));
    }
    let mut cells = Cells::new();
    for row in 0..table.rows.len() {
        let Ok(answers) = serde_json::from_str::<Map<String, Value>>(table.cell(row, "responses"))
        else {
            let expected = "an object from stimulus to 1 or 0";
            return Err(table.bad_value(row, "responses", expected, Some(hint.into())));
        };
        for (stimulus, answer) in answers {
            let text = match &answer {
                Value::Null => String::new(),
                Value::String(text) => text.clone(),
                other => other.to_string(),
            };
            if !text.is_empty() && flag(&text).is_none() {
                let problem = Problem::BadValue {
                    expected: "1, 0 or null".into(),
                    found: text,
                    hint: Some(hint.into()),
                };
                let error = FileError::new(path, problem).in_column(&stimulus);
                return Err(table.rows[row].place.locate(error));
            }
            let model = table.cell(row, model).into();
            cells.push((table.rows[row].place, [model, stimulus.into(), text.into()]));
        }
    }
    Ok(cells)
}
