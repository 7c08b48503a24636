//! Sessions in JSON: arrays of objects, one per line or one per file.

use std::path::Path;

use serde_json::{Map, Value};

use super::foreign::ForeignTable;
use crate::format::document;
use crate::{FileError, Problem};

/// Reads the sessions of a text: one array of objects per line, or one array over many lines.
///
/// Lines that hold something else are skipped with a notice, as exports put remarks between.
pub(super) fn sessions(
    path: &Path,
    text: &str,
    notices: &mut Vec<String>,
) -> Result<Vec<ForeignTable>, FileError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if is_one_document(text) {
        let objects: Vec<Map<String, Value>> =
            document::parse_json(path, text).map_err(|error| cut_short(error, text))?;
        return Ok(vec![ForeignTable::from_objects(path, None, &objects)]);
    }
    let mut tables = Vec::new();
    for (idx, line) in text.lines().enumerate() {
        let number = idx as u64 + 1;
        let trimmed = line.trim();
        if trimmed.is_empty() {
            continue;
        }
        if !trimmed.starts_with('[') {
            notices.push(format!(
                "{}:{number}: skipped, because it is no array of JSON",
                path.display()
            ));
            continue;
        }
        let objects: Vec<Map<String, Value>> = document::parse_json(path, trimmed)
            .map_err(|error| FileError { line: Some(number), ..cut_short(error, trimmed) })?;
        if objects.is_empty() {
            notices.push(format!("{}:{number}: skipped, because it is empty", path.display()));
            continue;
        }
        tables.push(ForeignTable::from_objects(path, Some(number), &objects));
    }
    if tables.is_empty() {
        let problem = Problem::WrongKind {
            expected: "arrays of JSON objects, one per line or one in the file".into(),
            found: text.trim().chars().take_while(|c| *c != '\n').take(40).collect(),
        };
        return Err(FileError::new(path, problem));
    }
    Ok(tables)
}

/// Says of a text that does not end like an array that it was cut short.
fn cut_short(error: FileError, text: &str) -> FileError {
    match error.problem {
        Problem::Syntax { message } if !text.trim_end().ends_with(']') => {
            FileError { problem: Problem::Damaged { detail: message }, ..error }
        }
        problem => FileError { problem, ..error },
    }
}

/// Returns whether the text is one array over many lines: the first line alone is no array.
fn is_one_document(text: &str) -> bool {
    let first = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default().trim();
    first.starts_with('[') && !first.ends_with(']')
}
