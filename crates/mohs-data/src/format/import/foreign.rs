//! Someone else's table in memory: any columns, every cell a text, every row with its place.
//!
//! CSV files and arrays of JSON objects both become one, so that a format only has to say which
//! columns mean what.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use compact_str::{CompactString, format_compact};
use serde_json::{Map, Value};

use crate::format::csv_rows::CsvRows;
use crate::format::document;
use crate::format::parquet_rows::ParquetRows;
use crate::format::table::RowSource as _;
use crate::{FileError, Problem};

/// A table with columns `mohs` does not know.
///
/// Invariant: every row has one cell per name, and names are unique.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ForeignTable {
    pub(super) path: PathBuf,
    names: Vec<CompactString>,
    /// How many of the names, the first ones, stand in the file; the others were added.
    n_theirs: usize,
    pub(super) rows: Vec<ForeignRow>,
}

/// One row; an empty cell holds nothing.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ForeignRow {
    pub(super) place: Place,
    cells: Vec<CompactString>,
}

/// Where a row stands in its file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    /// The line, from 1.
    pub(super) line: Option<u64>,
    /// The position in an array of JSON, from 0.
    pub(super) record: Option<usize>,
}

impl Place {
    /// Adds the place to an error.
    pub(super) fn locate(self, error: FileError) -> FileError {
        let error = match self.line {
            Some(line) => error.at_line(line),
            None => FileError { line: None, ..error },
        };
        match (self.record, error.column.clone()) {
            (Some(record), Some(column)) => error.in_column(&format!("[{record}].{column}")),
            (Some(record), None) => error.in_column(&format!("[{record}]")),
            (None, _) => error,
        }
    }

    /// Returns a number for ids: the position in the file.
    pub(super) fn number(self) -> u64 {
        self.record.map(|record| record as u64).or(self.line).unwrap_or(0)
    }
}

impl ForeignTable {
    /// Reads CSV with any delimiter; nameless columns without a value are dropped.
    pub(super) fn from_csv(path: &Path, bytes: Vec<u8>) -> Result<Self, FileError> {
        let mut source = CsvRows::from_reader(path, std::io::Cursor::new(bytes), "table")?;
        let mut names: Vec<CompactString> = Vec::new();
        for (idx, name) in source.names().into_iter().enumerate() {
            let name = if name.is_empty() { format_compact!("unnamed_{}", idx + 1) } else { name };
            if names.contains(&name) {
                let problem = Problem::TwoColumns { name: name.to_string() };
                return Err(FileError::new(path, problem).at_line(1));
            }
            names.push(name);
        }
        let mut rows = Vec::new();
        while source.advance()? {
            let cells = (0..names.len()).map(|idx| {
                source.text(idx).map_or_else(CompactString::default, CompactString::from)
            });
            let place = Place { line: Some(source.line()), record: None };
            rows.push(ForeignRow { place, cells: cells.collect() });
        }
        Ok(Self { path: path.to_owned(), n_theirs: names.len(), names, rows })
    }

    /// Reads Parquet with flat columns.
    pub(super) fn from_parquet(path: &Path, bytes: Vec<u8>) -> Result<Self, FileError> {
        let mut source = ParquetRows::from_bytes(path, bytes)?;
        let names = source.names();
        if let Some(name) = names.iter().enumerate().find(|(idx, n)| names[..*idx].contains(n)) {
            let problem = Problem::TwoColumns { name: name.1.to_string() };
            return Err(FileError::new(path, problem));
        }
        let mut rows = Vec::new();
        while source.advance()? {
            let cells = (0..names.len()).map(|idx| {
                source.text(idx).map_or_else(CompactString::default, CompactString::from)
            });
            let place = Place { line: Some(source.line()), record: None };
            rows.push(ForeignRow { place, cells: cells.collect() });
        }
        Ok(Self { path: path.to_owned(), n_theirs: names.len(), names, rows })
    }

    /// Reads JSON objects, one per line or all in one array.
    pub(super) fn from_json(path: &Path, text: &str) -> Result<Self, FileError> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        if text.trim_start().starts_with('[') {
            let objects: Vec<Map<String, Value>> = document::parse_json(path, text)?;
            return Ok(Self::from_objects(path, None, &objects));
        }
        let (mut objects, mut lines) = (Vec::new(), Vec::new());
        for (idx, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
            let line_number = idx as u64 + 1;
            let object: Map<String, Value> = document::parse_json(path, line)
                .map_err(|error| FileError { line: Some(line_number), ..error })?;
            objects.push(object);
            lines.push(line_number);
        }
        let mut table = Self::from_objects(path, None, &objects);
        for (row, line) in table.rows.iter_mut().zip(lines) {
            row.place = Place { line: Some(line), record: None };
        }
        Ok(table)
    }

    /// Makes a table of cells that a reader took apart itself; its columns count as theirs.
    pub(super) fn of_cells<const N: usize>(
        path: &Path,
        names: [&str; N],
        cells: Vec<(Place, [CompactString; N])>,
    ) -> Self {
        let row =
            |(place, cells): (Place, [CompactString; N])| ForeignRow { place, cells: cells.into() };
        Self {
            path: path.to_owned(),
            names: names.iter().map(|name| (*name).into()).collect(),
            n_theirs: N,
            rows: cells.into_iter().map(row).collect(),
        }
    }

    /// Makes a table of JSON objects; nested values stay JSON text.
    pub(super) fn from_objects(
        path: &Path,
        line: Option<u64>,
        objects: &[Map<String, Value>],
    ) -> Self {
        let mut idx_by_name: BTreeMap<&str, usize> = BTreeMap::new();
        let mut names: Vec<CompactString> = Vec::new();
        for name in objects.iter().flat_map(Map::keys) {
            idx_by_name.entry(name).or_insert_with(|| {
                names.push(name.as_str().into());
                names.len() - 1
            });
        }
        let rows = objects
            .iter()
            .enumerate()
            .map(|(record, object)| {
                let mut cells = vec![CompactString::default(); names.len()];
                for (name, value) in object {
                    cells[idx_by_name[name.as_str()]] = text_of(value);
                }
                ForeignRow { place: Place { line, record: Some(record) }, cells }
            })
            .collect();
        if let Some(nameless) = names.iter_mut().find(|name| name.is_empty()) {
            *nameless = "unnamed".into();
        }
        Self { path: path.to_owned(), n_theirs: names.len(), names, rows }
    }

    pub(super) fn names(&self) -> &[CompactString] {
        &self.names
    }

    /// Says a column's name: marked if it stands in the file, bare if a reader made it.
    pub(super) fn told(&self, column: usize) -> String {
        let name = &self.names[column];
        if column < self.n_theirs { format!("`{name}`") } else { name.to_string() }
    }

    /// Returns where a column stands.
    pub(super) fn column(&self, name: &str) -> Option<usize> {
        self.names.iter().position(|known| known == name)
    }

    /// Returns the first of several names that is a column.
    pub(super) fn first_of<'a>(&self, names: &[&'a str]) -> Option<&'a str> {
        names.iter().find(|name| self.column(name).is_some()).copied()
    }

    /// Returns a cell, empty when the column is not there.
    pub(super) fn cell(&self, row: usize, name: &str) -> &str {
        self.column(name).map_or("", |column| &self.rows[row].cells[column])
    }

    /// Returns a cell by position.
    pub(super) fn at<'a>(&self, row: &'a ForeignRow, column: usize) -> &'a str {
        &row.cells[column]
    }

    /// Returns whether any row has something in this column.
    pub(super) fn is_filled(&self, name: &str) -> bool {
        self.column(name).is_some_and(|idx| self.rows.iter().any(|row| !row.cells[idx].is_empty()))
    }

    /// Adds a column, or fills one that is there anew.
    pub(super) fn set_column(&mut self, name: &str, value: impl Fn(&Self, usize) -> CompactString) {
        let values: Vec<CompactString> = (0..self.rows.len()).map(|row| value(self, row)).collect();
        let idx = self.column(name).unwrap_or_else(|| {
            self.names.push(name.into());
            for row in &mut self.rows {
                row.cells.push(CompactString::default());
            }
            self.names.len() - 1
        });
        for (row, value) in self.rows.iter_mut().zip(values) {
            row.cells[idx] = value;
        }
    }

    /// Removes a column; returns whether it was there.
    pub(super) fn remove_column(&mut self, name: &str) -> bool {
        let Some(idx) = self.column(name) else { return false };
        self.names.remove(idx);
        self.n_theirs -= usize::from(idx < self.n_theirs);
        for row in &mut self.rows {
            row.cells.remove(idx);
        }
        true
    }

    /// Returns the same rows with only these columns, in this order.
    pub(super) fn with_columns(&self, columns: &[usize]) -> Self {
        let row = |row: &ForeignRow| ForeignRow {
            place: row.place,
            cells: columns.iter().map(|column| row.cells[*column].clone()).collect(),
        };
        Self {
            path: self.path.clone(),
            names: columns.iter().map(|column| self.names[*column].clone()).collect(),
            n_theirs: columns.iter().filter(|column| **column < self.n_theirs).count(),
            rows: self.rows.iter().map(row).collect(),
        }
    }

    /// Renames columns to lower case, except where two would become one.
    pub(super) fn lower_case_names(&mut self) {
        let lower: Vec<CompactString> = self.names.iter().map(|n| n.to_lowercase()).collect();
        for (idx, name) in lower.iter().enumerate() {
            if lower.iter().filter(|other| *other == name).count() == 1 {
                self.names[idx] = name.clone();
            }
        }
    }

    /// Keeps the rows at these positions, in this order.
    pub(super) fn keep(&mut self, rows: &[usize]) {
        self.rows = rows.iter().map(|row| self.rows[*row].clone()).collect();
    }

    /// Makes the error that a column is missing.
    pub(super) fn missing(&self, wanted: &str, hint: String) -> FileError {
        let found = self.names.iter().map(ToString::to_string).collect();
        let problem = Problem::MissingColumn { wanted: wanted.into(), found, hint: Some(hint) };
        let error = FileError::new(&self.path, problem);
        match self.rows.first().map(|row| row.place) {
            // One of several arrays in a file; the header of CSV needs no place.
            Some(Place { line: Some(line), record: Some(_) }) => error.at_line(line),
            _ => error,
        }
    }

    /// Makes an error about one cell.
    pub(super) fn bad_value(
        &self,
        row: usize,
        column: &str,
        expected: &str,
        hint: Option<String>,
    ) -> FileError {
        let found: String = self.cell(row, column).chars().take(80).collect();
        let problem = Problem::BadValue { expected: expected.into(), found, hint };
        let error = FileError::new(&self.path, problem).in_column(column);
        self.rows[row].place.locate(error)
    }
}

/// Writes a JSON value as a cell: texts bare, nothing for null, nested values as JSON.
fn text_of(value: &Value) -> CompactString {
    match value {
        Value::Null => CompactString::default(),
        Value::String(text) => text.as_str().into(),
        other => CompactString::from(other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_with_different_keys_make_one_table() {
        let text = r#"[{"a":1,"b":null},{"c":{"d":[1,2]},"a":"x"}]"#;
        let objects: Vec<Map<String, Value>> = serde_json::from_str(text).unwrap();
        let table = ForeignTable::from_objects(Path::new("t.json"), None, &objects);
        assert_eq!(table.names(), ["a", "b", "c"]);
        assert_eq!(table.cell(0, "a"), "1");
        assert_eq!(table.cell(0, "b"), "");
        assert_eq!(table.cell(1, "c"), r#"{"d":[1,2]}"#);
        let mut table = table;
        table.set_column("made up", |_, _| "x".into());
        assert_eq!((table.told(0), table.told(3)), ("`a`".into(), "made up".into()));
    }

    #[test]
    fn a_place_in_an_array_stands_in_the_error() {
        let place = Place { line: Some(3), record: Some(12) };
        let problem = Problem::TwoColumns { name: "x".into() };
        let error = FileError::new(Path::new("t.txt"), problem).in_column("rt");
        assert_eq!(
            place.locate(error).to_string(),
            "t.txt:3: `[12].rt` has two columns called `x`"
        );
    }
}
