//! A response matrix: one row per participant, one column per stimulus, cells 1 and 0.
//!
//! The form in which item response data are usually published. An empty cell is a stimulus not
//! answered. A column `participant` names the rows; a column `count` says how many people gave
//! exactly the answers of a row. Every other column is a stimulus.

use std::collections::BTreeSet;
use std::path::Path;

use super::csv_rows::CsvRows;
use super::table::{Record, RowSource};
use crate::{FileError, ParticipantId, Problem, StimulusId, Trial};

/// One row of a response matrix: who, how many of them, and each answer given.
#[derive(Debug, Clone, PartialEq)]
pub struct Pattern {
    /// Names the row; `row-1` and so on where the file has no names.
    pub participant: ParticipantId,
    /// How many people gave exactly these answers.
    pub n_people: usize,
    /// The stimuli answered, and whether rightly.
    pub answers: Vec<(StimulusId, bool)>,
}

/// What a cell may hold.
const CELLS: &str = "1, 0, or nothing where the stimulus was not answered";
const HINT: &str = "a response matrix has one column per stimulus, and may have `participant` and \
                    `count`; trials need columns `participant` and `stimulus`";

/// Returns whether a file looks like a response matrix: a CSV file without a column that could be
/// the stimulus of a trial.
pub fn is_response_matrix(path: &Path) -> bool {
    let is_parquet = path.extension().is_some_and(|ending| ending == "parquet");
    let Ok(rows) = CsvRows::open(path, "responses") else { return false };
    let stimulus = Trial::SCHEMA.columns.iter().find(|column| column.name == "stimulus");
    let is_stimulus = |name: &str| {
        stimulus.is_some_and(|column| {
            column.name.eq_ignore_ascii_case(name)
                || column.also_called.iter().any(|alias| alias.eq_ignore_ascii_case(name))
        })
    };
    !is_parquet && !rows.names().iter().any(|name| is_stimulus(name))
}

/// Reads which stimuli a response matrix has columns for, answered or not.
pub fn stimuli(path: &Path) -> Result<Vec<StimulusId>, FileError> {
    let rows = CsvRows::open(path, "responses")?;
    let is_other =
        |name: &str| ["participant", "count"].iter().any(|o| o.eq_ignore_ascii_case(name));
    let names = rows.names().into_iter().filter(|name| !is_other(name));
    Ok(names.map(StimulusId::new).collect())
}

/// Reads a response matrix.
pub fn read(path: &Path) -> Result<Vec<Pattern>, FileError> {
    let mut rows = CsvRows::open(path, "responses")?;
    let names = rows.names();
    let mut seen = BTreeSet::new();
    if let Some(twice) = names.iter().find(|name| !seen.insert(name.as_str())) {
        return Err(FileError::new(path, Problem::TwoColumns { name: twice.to_string() }));
    }
    let place = |wanted: &str| names.iter().position(|name| name.eq_ignore_ascii_case(wanted));
    let (participant_at, count_at) = (place("participant"), place("count"));
    let mut patterns = Vec::new();
    while rows.advance()? {
        let bad = |column: usize, expected: &str, found: &str| {
            let problem = Problem::BadValue {
                expected: expected.to_owned(),
                found: found.to_owned(),
                hint: Some(HINT.to_owned()),
            };
            FileError::new(path, problem).at_line(rows.line()).in_column(&names[column])
        };
        let mut answers = Vec::new();
        for (column, name) in names.iter().enumerate() {
            if Some(column) == participant_at || Some(column) == count_at {
                continue;
            }
            let Some(cell) = rows.text(column) else { continue };
            let is_right = match cell.trim() {
                "" => continue,
                "1" | "1.0" | "true" | "True" | "TRUE" => true,
                "0" | "0.0" | "false" | "False" | "FALSE" => false,
                other => return Err(bad(column, CELLS, other)),
            };
            answers.push((StimulusId::new(name), is_right));
        }
        let n_people = match count_at.and_then(|column| Some((column, rows.text(column)?))) {
            Some((column, cell)) => {
                cell.trim().parse().map_err(|_| bad(column, "a whole number of people", &cell))?
            }
            None => 1,
        };
        let participant = match participant_at.and_then(|column| rows.text(column)) {
            Some(name) => ParticipantId::new(name),
            None => ParticipantId::new(format!("row-{}", patterns.len() + 1)),
        };
        patterns.push(Pattern { participant, n_people, answers });
    }
    if patterns.is_empty() {
        return Err(FileError::new(path, Problem::NoRows { noun: "participant" }));
    }
    Ok(patterns)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(text: &str) -> tempfile::NamedTempFile {
        let mut file = tempfile::Builder::new().suffix(".csv").tempfile().expect("because of /tmp");
        std::io::Write::write_all(&mut file, text.as_bytes()).expect("because it was just made");
        file
    }

    #[test]
    fn rows_have_names_counts_and_gaps() {
        let file = written("participant,cat,dog,count\nann,1,0,3\nben,,1,1\n");
        assert!(is_response_matrix(file.path()));
        let patterns = read(file.path()).unwrap();
        assert_eq!(patterns[0].n_people, 3);
        assert_eq!(patterns[0].answers, [("cat".into(), true), ("dog".into(), false)]);
        assert_eq!(patterns[1].participant.as_str(), "ben");
        assert_eq!(patterns[1].answers, [("dog".into(), true)]);
    }

    #[test]
    fn trials_are_no_matrix() {
        let file = written("subj,imagename,correct\n1,cat.png,1\n");
        assert!(!is_response_matrix(file.path()));
    }

    #[test]
    fn a_cell_that_is_no_answer_is_refused_with_its_place() {
        let file = written("q1,q2\n1,0\n1,maybe\n");
        let error = read(file.path()).unwrap_err();
        assert_eq!((error.line, error.column.as_deref()), (Some(3), Some("q2")));
        assert!(error.to_string().contains("found `maybe`"), "{error}");
        let file = written("q1,count\n1,many\n");
        assert_eq!(read(file.path()).unwrap_err().column.as_deref(), Some("count"));
    }
}
