//! Answers of many models side by side: one row per stimulus, one column per model.
//!
//! Columns with usual names (`stimulus`, `category`, …) or with `--map` say what the stimulus is;
//! every other column, or those named, is a model. Cells hold answers, and an empty one is a failed
//! row (`no answer`). Where all cells are 1 and 0 and no label is, they say which answers were
//! right, and what was answered is not known.

use std::path::{Path, PathBuf};

use super::super::foreign::ForeignTable;
use super::{Gathered, PredictionOptions, each_file, flag, table_of, usual_names};
use crate::error::nearest;
use crate::format::import::{Account, Imported, Mapping};
use crate::{FileError, Prediction, Problem};

/// Reads files, or folders of them.
pub fn read(
    paths: &[PathBuf],
    options: &PredictionOptions<'_>,
) -> Result<Imported<Prediction>, FileError> {
    each_file(paths, &["csv", "tsv", "parquet", "pq"], options, parse)
}

/// Reads one file in memory; `path` gives its ending and stands in errors.
pub fn parse(
    path: &Path,
    bytes: Vec<u8>,
    options: &PredictionOptions<'_>,
    account: &mut Account,
    gathered: &mut Gathered,
) -> Result<(), FileError> {
    let mut table = table_of(path, bytes)?;
    account.n_records += table.rows.len();
    let mut mapping = options.import.mapping.clone();
    mapping.carry_over(&mut table)?;
    mapping.filter(&mut table, account)?;
    check_mapping(&table, &mapping)?;
    about_stimuli(&table, &mut mapping, &options.models);
    if !mapping.has("stimulus") {
        let hint = "say which of these names the stimulus: --map stimulus=YOUR_COLUMN".into();
        return Err(table.missing("stimulus", hint));
    }
    let models = models(&table, &mapping, &options.models)?;
    let are_right_or_wrong = are_right_or_wrong(&table, &mapping, &models);
    let cells = if are_right_or_wrong { "whether each was right" } else { "their answers" };
    account.taken_for.insert(format!("one row per stimulus, {} models, {cells}", models.len()));

    let of_stimuli: Vec<usize> =
        (0..table.names().len()).filter(|column| !models.contains(column)).collect();
    let mut scratch = Account::default();
    for model in &models {
        let name = table.names()[*model].to_string();
        let of_model = table.with_columns(&[&of_stimuli[..], &[*model]].concat());
        let mut mapping = mapping.clone();
        mapping.constants.insert("model".into(), name.clone());
        let cells = if are_right_or_wrong { "correct" } else { "predicted" };
        mapping.columns.insert(cells.into(), name);
        gathered.add(of_model, mapping, options, &mut scratch)?;
    }
    // One line for all models says more than one for each.
    for ours in ["model", "predicted", "correct", "reason"] {
        if scratch.sources.remove(ours).is_some() {
            let theirs = match ours {
                "model" => "the names of the columns",
                "reason" => "\"no answer\" where there is none",
                _ => "the columns of the models",
            };
            account.source(ours, theirs);
        }
    }
    for (ours, theirs) in scratch.sources {
        account.sources.entry(ours).or_default().extend(theirs);
    }
    account.kept.extend(scratch.kept);
    Ok(())
}

/// Refuses to take the answers of a whole table from one column.
fn check_mapping(table: &ForeignTable, mapping: &Mapping) -> Result<(), FileError> {
    for ours in ["model", "predicted", "correct", "confidence", "top_k", "outcome", "reason"] {
        if mapping.has(ours) {
            let problem = Problem::Contradiction {
                detail: format!("`{ours}` is mapped, but here each column of answers is a model"),
                hint: "a table with one answer per row is read by `mohs import predictions`".into(),
            };
            return Err(FileError::new(&table.path, problem));
        }
    }
    Ok(())
}

/// Maps the columns that say something about the stimulus; a column named as a model is none.
fn about_stimuli(table: &ForeignTable, mapping: &mut Mapping, models: &[String]) {
    let mut usual = mapping.clone();
    let others: Vec<usize> = (0..table.names().len())
        .filter(|column| !models.iter().any(|model| *model == table.names()[*column]))
        .collect();
    usual_names(&table.with_columns(&others), &mut usual);
    for ours in ["stimulus", "label", "probe", "condition", "condition_value"] {
        if let Some(theirs) = usual.columns.get(ours) {
            mapping.or_column(ours, theirs);
        }
        if let Some(value) = usual.constants.get(ours) {
            mapping.or_constant(ours, value);
        }
    }
}

/// Returns the columns that are models, in their order.
fn models(
    table: &ForeignTable,
    mapping: &Mapping,
    named: &[String],
) -> Result<Vec<usize>, FileError> {
    let mut models = Vec::new();
    for name in named {
        let Some(column) = table.column(name) else {
            let names = table.names().iter().map(|name| name.as_str());
            let hint = match nearest(name, names) {
                Some(near) => format!("did you mean --models {near}?"),
                None => "name columns of the file, joined by commas".into(),
            };
            return Err(table.missing(name, hint));
        };
        if !models.contains(&column) {
            models.push(column);
        }
    }
    let is_mapped = |name: &str| mapping.columns.values().any(|theirs| theirs == name);
    if named.is_empty() {
        models =
            (0..table.names().len()).filter(|column| !is_mapped(&table.names()[*column])).collect();
    }
    if models.is_empty() {
        let problem = Problem::BadValue {
            expected: "at least one column with the answers of a model".into(),
            found: "only columns about stimuli".into(),
            hint: Some(
                "a table with one answer per row is read by `mohs import predictions`".into(),
            ),
        };
        return Err(FileError::new(&table.path, problem));
    }
    Ok(models)
}

/// Returns whether cells say right and wrong rather than what was answered.
fn are_right_or_wrong(table: &ForeignTable, mapping: &Mapping, models: &[usize]) -> bool {
    let labels = mapping.columns.get("label").and_then(|name| table.column(name));
    let is_flag = |column: usize| {
        let cells = table.rows.iter().map(|row| table.at(row, column));
        cells.into_iter().all(|cell| cell.is_empty() || flag(cell).is_some())
    };
    models.iter().all(|model| is_flag(*model)) && !labels.is_some_and(is_flag)
}
