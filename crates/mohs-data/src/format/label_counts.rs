//! Label counts: how many people gave each label to each stimulus.
//!
//! The form in which repeated annotations are often published: one row per stimulus, one column per
//! label, cells whole numbers. A column `stimulus` (or `file`, `image_id` …) names the rows; a
//! column `label` may say the right answer. Every other column is a label people could give. Who
//! gave which label is not known, so these are no trials.

use std::collections::BTreeMap;
use std::path::Path;

use compact_str::CompactString;

use super::csv_rows::CsvRows;
use super::parquet_rows::ParquetRows;
use super::table::{RowSource, is_parquet};
use crate::{FileError, Label, Problem, StimulusId};

/// What people called one stimulus.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LabelCount {
    /// The stimulus.
    pub stimulus: StimulusId,
    /// The right answer, where the file says it.
    pub label: Option<Label>,
    /// Labels and how many people gave them, in the order of the columns.
    pub counts: Vec<(Label, usize)>,
}

/// Names of the column with the stimulus.
const STIMULUS: [&str; 8] =
    ["stimulus", "stimulus_id", "image_id", "image", "id", "file_name", "filename", "file"];
/// Names of the column with the right answer.
const LABEL: [&str; 4] = ["label", "true_label", "true_category", "category"];

/// Reads label counts; at least one row, each stimulus once.
pub fn read(path: &Path) -> Result<Vec<LabelCount>, FileError> {
    let mut rows: Box<dyn RowSource> = if is_parquet(path) {
        Box::new(ParquetRows::open(path)?)
    } else {
        Box::new(CsvRows::open(path, "label counts")?)
    };
    let names = rows.names();
    if let Some((_, name)) = names.iter().enumerate().find(|(idx, n)| names[..*idx].contains(n)) {
        return Err(FileError::new(path, Problem::TwoColumns { name: name.to_string() }));
    }
    let find = |wanted: &[&str]| {
        let mut places = wanted.iter().map(|want| names.iter().position(|name| name == want));
        places.find_map(|place| place)
    };
    let Some(stimulus_at) = find(&STIMULUS) else {
        let problem = Problem::MissingColumn {
            wanted: "stimulus".into(),
            found: names.iter().map(ToString::to_string).collect(),
            hint: Some("one column names the stimulus, every other one is a label".into()),
        };
        return Err(FileError::new(path, problem));
    };
    let label_at = find(&LABEL);
    let labels: Vec<usize> =
        (0..names.len()).filter(|idx| *idx != stimulus_at && Some(*idx) != label_at).collect();
    if labels.len() < 2 {
        let problem = Problem::BadValue {
            expected: "one column per label, at least two".into(),
            found: labels.len().to_string(),
            hint: Some("cells say how many people gave the label of the column".into()),
        };
        return Err(FileError::new(path, problem));
    }
    let mut line_by_stimulus: BTreeMap<StimulusId, u64> = BTreeMap::new();
    let mut found = Vec::new();
    while rows.advance()? {
        let line = rows.line();
        let bad = |column: usize, expected: &str, found: &str, hint: &str| {
            let (expected, found, hint) = (expected.into(), found.into(), Some(hint.into()));
            let problem = Problem::BadValue { expected, found, hint };
            FileError::new(path, problem).at_line(line).in_column(&names[column])
        };
        let Some(stimulus) = rows.text(stimulus_at) else {
            return Err(bad(stimulus_at, "the id of a stimulus", "", "fill it in"));
        };
        let stimulus = StimulusId::new(stimulus);
        if let Some(first_line) = line_by_stimulus.insert(stimulus.clone(), line) {
            let first_line = Some(first_line);
            let problem =
                Problem::Duplicate { what: "stimulus", id: stimulus.to_string(), first_line };
            return Err(FileError::new(path, problem).at_line(line));
        }
        let count = |column: &usize| {
            let cell = rows.text(*column).unwrap_or_default();
            let digits = cell.trim();
            let digits = digits.strip_suffix(".0").unwrap_or(digits);
            let n = if digits.is_empty() { Some(0) } else { digits.parse::<u32>().ok() };
            let Some(n) = n else {
                let hint = if digits.parse::<f64>().is_ok_and(|share| 0.0 < share) {
                    "shares say too little: how many people gave each label?"
                } else {
                    "every column but the stimulus and its `label` is a label people could give"
                };
                return Err(bad(*column, "how many people gave this label", digits, hint));
            };
            Ok((Label::new(&names[*column]), usize::try_from(n).unwrap_or(usize::MAX)))
        };
        let counts = labels.iter().map(count).collect::<Result<_, _>>()?;
        let label = label_at.and_then(|column| rows.text(column)).map(Label::new);
        found.push(LabelCount { stimulus, label, counts });
    }
    if found.is_empty() {
        return Err(FileError::new(path, Problem::NoRows { noun: "stimulus" }));
    }
    Ok(found)
}

/// Returns the labels a table of counts has columns for.
pub fn labels(counts: &[LabelCount]) -> Vec<CompactString> {
    let first = counts.first().map_or(&[][..], |row| &row.counts);
    first.iter().map(|(label, _)| label.as_str().into()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_text(text: &str) -> Result<Vec<LabelCount>, FileError> {
        let folder = tempfile::tempdir().expect("because tests may write temporary files");
        let path = folder.path().join("counts.csv");
        std::fs::write(&path, text).expect("because the folder is ours");
        read(&path).map_err(|error| FileError { path: "counts.csv".into(), ..error })
    }

    #[test]
    fn a_row_has_a_stimulus_and_how_often_each_label_was_given() {
        let rows = read_text("stimulus,cat,dog\na,48,2\nb,,50.0\n").unwrap();
        assert_eq!(rows[0].counts, [("cat".into(), 48), ("dog".into(), 2)]);
        assert_eq!(rows[1].counts, [("cat".into(), 0), ("dog".into(), 50)]);
        assert_eq!(rows[0].label, None);
        assert_eq!(labels(&rows), ["cat", "dog"]);
        let rows = read_text("image_id,label,cat,dog\na,cat,48,2\n").unwrap();
        assert_eq!(rows[0].label, Some("cat".into()));
        assert_eq!(rows[0].counts.len(), 2);
    }

    #[test]
    fn mistakes_are_told_with_their_place() {
        let error = |text: &str| {
            let error = read_text(text).unwrap_err();
            format!("{error}\n  {}\n", error.hint().unwrap_or_default())
        };
        let all = [
            error("picture,cat,dog\na,1,2\n"),
            error("stimulus,cat\na,1\n"),
            error("stimulus,cat,dog\na,1,0.5\n"),
            error("stimulus,cat,dog\na,1,-2\n"),
            error("stimulus,cat,dog\na,1,2\na,1,2\n"),
            error("stimulus,cat,dog\n"),
        ];
        insta::assert_snapshot!(all.concat());
    }
}
