//! Any other lab.js export: rows with a right answer, or those the user names.

use super::super::foreign::ForeignTable;
use super::super::{Account, Mapping};
use crate::FileError;

/// Columns in which studies name what is shown, most usual first.
const STIMULUS: [&str; 9] = [
    "stimulus",
    "image",
    "filename",
    "file",
    "picture",
    "img",
    "stimulus_id",
    "image_file",
    "video",
];

/// Columns in which studies write the right answer.
const LABEL: [&str; 4] = ["correctResponse", "correct_response", "category", "label"];

/// Keeps rows that have a right answer or, without such a column, an answer or a time-out.
///
/// With `--where`, the user says which rows are trials and nothing is chosen here.
pub(super) fn choose(
    table: &mut ForeignTable,
    mapping: &Mapping,
    account: &mut Account,
) -> Result<(), FileError> {
    account.taken_for.insert("a lab.js export, read by the usual names of its columns".into());
    if !mapping.only.is_empty() {
        return Ok(());
    }
    let by_answer = table.is_filled("correctResponse");
    let kept: Vec<usize> = (0..table.rows.len())
        .filter(|row| {
            if by_answer {
                !table.cell(*row, "correctResponse").is_empty()
            } else {
                !table.cell(*row, "response").is_empty()
                    || table.cell(*row, "ended_on") == "timeout"
            }
        })
        .collect();
    let why = if by_answer {
        "without a value in `correctResponse`"
    } else {
        "without an answer or a time-out"
    };
    account.set_aside(why, table.rows.len() - kept.len());
    table.keep(&kept);
    Ok(())
}

/// Says which columns are ours.
pub(super) fn map(table: &ForeignTable, mapping: &mut Mapping) -> Result<(), FileError> {
    if !mapping.has("stimulus") {
        let Some(stimulus) = table.first_of(&STIMULUS) else {
            let hint = "say which column names what was shown: --map stimulus=YOUR_COLUMN; \
                        --where sender=YOUR_SCREEN says which rows are trials"
                .to_owned();
            return Err(table.missing("stimulus", hint));
        };
        mapping.or_column("stimulus", stimulus);
    }
    if let Some(label) = table.first_of(&LABEL) {
        mapping.or_column("label", label);
    }
    for name in ["condition", "block"] {
        if table.column(name).is_some() {
            mapping.or_column(name, name);
        }
    }
    Ok(())
}
