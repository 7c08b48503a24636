//! The core that every table shares: rows in, rows out, from CSV or Parquet by file ending.
//!
//! A noun implements [`Record`]: its [`Schema`] names the columns it knows; every other column of
//! a file is kept as [`Extra`]. The core finds columns, checks versions and puts the place into
//! every error. It streams: memory does not grow with the number of rows.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use compact_str::CompactString;

use super::atomic::AtomicFile;
use super::csv_rows::{CsvRows, CsvSink};
use super::parquet_rows::{ParquetRows, ParquetSink};
use crate::error::nearest;
use crate::{Extra, FileError, Problem};

/// What a column holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CellKind {
    /// Any text.
    Text,
    /// A finite number.
    Real,
    /// A whole number, not negative.
    Whole,
    /// Yes or no: `1`/`0`, `true`/`false`.
    Flag,
}

/// One column a noun knows.
#[derive(Debug, Clone, Copy)]
pub struct Column {
    /// Its name in the file, with the unit.
    pub name: &'static str,
    /// What it holds.
    pub kind: CellKind,
    /// Whether the writer writes it. Columns that are only read offer other spellings of the
    /// same fact (`exposure_frames` for `exposure_ms`).
    pub written: bool,
    /// Names other tools give it, for hints.
    pub also_called: &'static [&'static str],
}

impl Column {
    /// A column that is read and written.
    pub const fn new(
        name: &'static str,
        kind: CellKind,
        also_called: &'static [&'static str],
    ) -> Self {
        Self { name, kind, written: true, also_called }
    }

    /// A column that is only read.
    pub const fn read_only(name: &'static str, kind: CellKind) -> Self {
        Self { name, kind, written: false, also_called: &[] }
    }
}

/// The columns of a noun and the version of its table.
#[derive(Debug)]
pub struct Schema {
    /// The table, in the plural: `trials`.
    pub noun: &'static str,
    /// One row: `trial`.
    pub row_noun: &'static str,
    /// The version this code writes, and the newest it reads.
    pub version: u64,
    /// Holds the version: `trials_version`. A file without it is version 1.
    pub version_column: &'static str,
    /// Known columns; [`Row`] and [`Cell`]s refer to them by position.
    pub columns: &'static [Column],
    /// Positions of columns without which no row can be understood.
    pub required: &'static [usize],
}

/// A noun that lives in a table.
pub trait Record: Sized {
    /// Its columns.
    const SCHEMA: &'static Schema;

    /// Understands a row. Extra cells are in [`Row::extra`].
    fn from_row(row: &Row<'_>) -> Result<Self, FileError>;

    /// Pushes one cell per *written* column of the schema, in order.
    fn cells<'a>(&'a self, cells: &mut Vec<Cell<'a>>);

    /// Returns the cells `mohs` does not know.
    fn extra(&self) -> &Extra;
}

/// One value on its way into a file.
#[derive(Debug, Clone, PartialEq)]
pub enum Cell<'a> {
    /// Nothing.
    Empty,
    /// Text; an empty text is the same as [`Cell::Empty`].
    Text(Cow<'a, str>),
    /// A number. Must be finite.
    Real(f64),
    /// A whole number.
    Whole(u64),
    /// Yes or no.
    Flag(bool),
}

impl<'a> Cell<'a> {
    /// Text or nothing.
    pub fn text(text: Option<&'a str>) -> Self {
        text.map_or(Cell::Empty, |text| Cell::Text(Cow::Borrowed(text)))
    }

    /// A number or nothing.
    pub fn real(value: Option<f64>) -> Self {
        value.map_or(Cell::Empty, Cell::Real)
    }

    /// Yes, no or nothing.
    pub fn flag(value: Option<bool>) -> Self {
        value.map_or(Cell::Empty, Cell::Flag)
    }
}

/// How a table is read.
#[derive(Debug, Clone, Default)]
pub struct ReadOptions {
    /// Our column name → the name in this file, for tables made elsewhere.
    pub column_map: BTreeMap<String, String>,
    /// Columns this use cannot do without, beyond the schema's own.
    pub require: Vec<&'static str>,
}

/// Where the cells of one row are.
pub(super) trait RowSource {
    /// Moves to the next row; `false` at the end.
    fn advance(&mut self) -> Result<bool, FileError>;
    /// Returns a cell as text; `None` when empty.
    fn text(&self, column: usize) -> Option<Cow<'_, str>>;
    /// Returns a cell as a number without going through text, where the file has numbers.
    fn number(&self, column: usize) -> Option<f64>;
    /// Returns the line of the current row.
    fn line(&self) -> u64;
    /// Returns the column names.
    fn names(&self) -> Vec<CompactString>;
}

/// One row being read.
pub struct Row<'a> {
    source: &'a dyn RowSource,
    layout: &'a Layout,
    path: &'a Path,
}

/// Where the schema's columns stand in this file.
#[derive(Debug)]
struct Layout {
    columns: &'static [Column],
    position: Vec<Option<usize>>,
    file_name: Vec<CompactString>,
    version: Option<usize>,
    extra_names: Arc<[CompactString]>,
    extra_position: Vec<usize>,
}

impl Row<'_> {
    /// Returns the line of this row, for errors and for ids made from it.
    pub fn line(&self) -> u64 {
        self.source.line()
    }

    /// Returns the file, for names made from it.
    pub fn path(&self) -> &Path {
        self.path
    }

    /// Returns whether the file has this column at all.
    pub fn has_column(&self, column: usize) -> bool {
        self.layout.position[column].is_some()
    }

    /// Returns the text of a column, `None` if the cell is empty or the column is not there.
    pub fn text(&self, column: usize) -> Option<Cow<'_, str>> {
        self.source.text(self.layout.position[column]?)
    }

    /// Returns the text of a column that must not be empty.
    pub fn required_text(&self, column: usize) -> Result<Cow<'_, str>, FileError> {
        self.text(column).ok_or_else(|| {
            self.error(
                column,
                Problem::BadValue {
                    expected: "filled in".into(),
                    found: String::new(),
                    hint: Some("remove the row or fill in the cell".into()),
                },
            )
        })
    }

    /// Returns a finite number.
    pub fn real(&self, column: usize) -> Result<Option<f64>, FileError> {
        let Some(position) = self.layout.position[column] else { return Ok(None) };
        if let Some(number) = self.source.number(position) {
            return if number.is_finite() {
                Ok(Some(number))
            } else {
                Err(self.bad_value(column, "a finite number", &number.to_string(), None))
            };
        }
        let Some(text) = self.source.text(position) else { return Ok(None) };
        match text.trim().parse::<f64>() {
            Ok(number) if number.is_finite() => Ok(Some(number)),
            _ => {
                let name = self.layout.columns[column].name;
                let expected = match name.rsplit_once('_') {
                    Some((_, "ms")) => "a number of milliseconds",
                    Some((_, "hz")) => "a number of hertz",
                    _ => "a finite number",
                };
                Err(self.bad_value(column, expected, &text, number_hint(name, text.trim())))
            }
        }
    }

    /// Returns a whole number, not negative.
    pub fn whole(&self, column: usize) -> Result<Option<u64>, FileError> {
        let Some(text) = self.text(column) else { return Ok(None) };
        let digits = text.trim();
        let digits = digits.strip_suffix(".0").unwrap_or(digits);
        // Parquet has no larger whole numbers than `i64`, and a table must survive the change.
        match digits.parse::<i64>().ok().and_then(|whole| u64::try_from(whole).ok()) {
            Some(whole) => Ok(Some(whole)),
            None => Err(self.bad_value(column, "a whole number, 0 or more", &text, None)),
        }
    }

    /// Returns yes or no.
    pub fn flag(&self, column: usize) -> Result<Option<bool>, FileError> {
        let Some(text) = self.text(column) else { return Ok(None) };
        match text.trim() {
            "1" | "1.0" | "true" | "True" | "TRUE" => Ok(Some(true)),
            "0" | "0.0" | "false" | "False" | "FALSE" => Ok(Some(false)),
            _ => Err(self.bad_value(column, "1 or 0 (true or false)", &text, None)),
        }
    }

    /// Returns one of a few words.
    pub fn word<T: Copy>(
        &self,
        column: usize,
        words: &[(&str, T)],
    ) -> Result<Option<T>, FileError> {
        let Some(text) = self.text(column) else { return Ok(None) };
        if let Some((_, value)) = words.iter().find(|(word, _)| *word == text) {
            return Ok(Some(*value));
        }
        let known: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
        let hint = nearest(&text, known.iter().copied())
            .map(|nearest| format!("did you mean `{nearest}`?"));
        Err(self.bad_value(column, &format!("one of {}", known.join(", ")), &text, hint))
    }

    /// Returns the cells `mohs` does not know.
    pub fn extra(&self) -> Extra {
        if self.layout.extra_position.is_empty() {
            return Extra::default();
        }
        let cells = self.layout.extra_position.iter().map(|position| {
            self.source.text(*position).map_or(CompactString::default(), CompactString::from)
        });
        Extra::new(Arc::clone(&self.layout.extra_names), cells.collect())
            .expect("because one value is collected per name")
    }

    /// Makes an error about this row and one of its columns.
    pub fn error(&self, column: usize, problem: Problem) -> FileError {
        let name = match self.layout.position[column] {
            Some(position) => self.layout.file_name[position].as_str(),
            None => self.layout.columns[column].name,
        };
        FileError::new(self.path, problem).at_line(self.line()).in_column(name)
    }

    /// Makes the most common error.
    pub fn bad_value(
        &self,
        column: usize,
        expected: &str,
        found: &str,
        hint: Option<String>,
    ) -> FileError {
        let found: String = found.chars().take(80).collect();
        self.error(column, Problem::BadValue { expected: expected.into(), found, hint })
    }
}

/// Guesses why a text is not a number.
fn number_hint(column: &str, text: &str) -> Option<String> {
    if text.contains(',') {
        return Some("write decimals with a point, not a comma".into());
    }
    let unit = text.trim_start_matches(|c: char| c.is_ascii_digit() || ".-+eE ".contains(c));
    if !unit.is_empty() && unit.len() < text.len() {
        return Some(format!(
            "the unit belongs to the column name (`{column}`); write the bare number"
        ));
    }
    if text.eq_ignore_ascii_case("nan") || text.eq_ignore_ascii_case("na") {
        return Some("leave the cell empty when there is no value".into());
    }
    None
}

/// Reads the rows of a table, one at a time.
pub struct TableReader<R> {
    path: PathBuf,
    source: Box<dyn RowSource>,
    layout: Layout,
    is_done: bool,
    record: std::marker::PhantomData<R>,
}

impl<R: Record> TableReader<R> {
    /// Opens a CSV or, by its ending, a Parquet file and checks the columns.
    pub fn open(path: &Path, options: &ReadOptions) -> Result<Self, FileError> {
        let source: Box<dyn RowSource> = if is_parquet(path) {
            Box::new(ParquetRows::open(path)?)
        } else {
            Box::new(CsvRows::open(path, R::SCHEMA.noun)?)
        };
        Self::new(path, source, options)
    }

    /// Reads a table that is already in memory; `path` gives its ending and stands in errors.
    pub fn from_bytes(
        path: &Path,
        bytes: Vec<u8>,
        options: &ReadOptions,
    ) -> Result<Self, FileError> {
        let source: Box<dyn RowSource> = if is_parquet(path) {
            Box::new(ParquetRows::from_bytes(path, bytes)?)
        } else {
            Box::new(CsvRows::from_reader(path, std::io::Cursor::new(bytes), R::SCHEMA.noun)?)
        };
        Self::new(path, source, options)
    }

    /// Reads rows that are neither CSV nor Parquet; `path` stands in errors.
    pub(super) fn new(
        path: &Path,
        source: Box<dyn RowSource>,
        options: &ReadOptions,
    ) -> Result<Self, FileError> {
        let names = source.names();
        // Columns are named in the first line; a Parquet file has no lines.
        let at_header = |error: FileError| if is_parquet(path) { error } else { error.at_line(1) };
        let layout = Layout::new::<R>(path, names, options).map_err(at_header)?;
        let record = std::marker::PhantomData;
        Ok(Self { path: path.to_owned(), source, layout, is_done: false, record })
    }

    /// Returns the names of columns that are kept but not understood.
    pub fn extra_names(&self) -> Arc<[CompactString]> {
        Arc::clone(&self.layout.extra_names)
    }

    /// Returns whether the file has this column, under the name the options map it to.
    pub fn has_column(&self, name: &str) -> bool {
        let known = self.layout.columns.iter().position(|column| column.name == name);
        known.is_some_and(|idx| self.layout.position[idx].is_some())
            || self.layout.extra_names.iter().any(|extra| extra == name)
    }

    /// Returns the line of the row read last.
    pub fn line(&self) -> u64 {
        self.source.line()
    }

    fn read_next(&mut self) -> Result<Option<R>, FileError> {
        if self.is_done || !self.source.advance()? {
            self.is_done = true;
            return Ok(None);
        }
        let row = Row { source: &*self.source, layout: &self.layout, path: &self.path };
        check_version::<R>(&row)?;
        R::from_row(&row).map(Some)
    }
}

impl<R: Record> Iterator for TableReader<R> {
    type Item = Result<R, FileError>;

    fn next(&mut self) -> Option<Self::Item> {
        let next = self.read_next().transpose();
        if matches!(next, Some(Err(_))) {
            self.is_done = true;
        }
        next
    }
}

fn check_version<R: Record>(row: &Row<'_>) -> Result<(), FileError> {
    let Some(position) = row.layout.version else { return Ok(()) };
    let Some(text) = row.source.text(position) else { return Ok(()) };
    if text == "1" {
        return Ok(());
    }
    let error = |problem| {
        FileError::new(row.path, problem).at_line(row.line()).in_column(R::SCHEMA.version_column)
    };
    match text.trim().trim_end_matches(".0").parse::<u64>() {
        Ok(found) if R::SCHEMA.version < found => Err(error(Problem::NewerVersion {
            noun: R::SCHEMA.noun,
            found,
            newest: R::SCHEMA.version,
        })),
        Ok(found) if 1 <= found => Ok(()),
        _ => Err(error(Problem::BadValue {
            expected: "a version number".into(),
            found: text.into_owned(),
            hint: None,
        })),
    }
}

impl Layout {
    fn new<R: Record>(
        path: &Path,
        names: Vec<CompactString>,
        options: &ReadOptions,
    ) -> Result<Self, FileError> {
        let schema = R::SCHEMA;
        for (idx, name) in names.iter().enumerate() {
            if names[..idx].contains(name) {
                return Err(FileError::new(path, Problem::TwoColumns { name: name.to_string() }));
            }
        }
        let find = |name: &str| {
            let name = options.column_map.get(name).map_or(name, String::as_str);
            names.iter().position(|n| n == name)
        };
        let missing = |ours: &str| {
            let wanted = options.column_map.get(ours).map_or(ours, String::as_str);
            let found = names.iter().map(ToString::to_string).collect();
            let hint = Some(missing_hint(schema, ours, wanted, &names));
            FileError::new(path, Problem::MissingColumn { wanted: wanted.into(), found, hint })
        };
        for ours in options.column_map.keys() {
            let is_known = schema.columns.iter().any(|column| column.name == ours);
            if !is_known || find(ours).is_none() {
                return Err(if is_known {
                    missing(ours)
                } else {
                    unknown_target(path, schema, ours)
                });
            }
        }
        let position: Vec<Option<usize>> =
            schema.columns.iter().map(|column| find(column.name)).collect();
        for idx in schema.required {
            if position[*idx].is_none() {
                return Err(missing(schema.columns[*idx].name));
            }
        }
        for name in &options.require {
            if find(name).is_none() {
                return Err(missing(name));
            }
        }
        let version = names.iter().position(|name| name == schema.version_column);
        let extra_position: Vec<usize> = (0..names.len())
            .filter(|idx| !position.contains(&Some(*idx)) && version != Some(*idx))
            .collect();
        let extra_names = extra_position.iter().map(|idx| names[*idx].clone()).collect();
        Ok(Self {
            columns: schema.columns,
            position,
            file_name: names,
            version,
            extra_names,
            extra_position,
        })
    }
}

fn unknown_target(path: &Path, schema: &Schema, ours: &str) -> FileError {
    let known = schema.columns.iter().map(|column| column.name);
    FileError::new(
        path,
        Problem::Unknown {
            what: "column",
            id: ours.to_owned(),
            known_in: format!("the columns of {}", schema.noun),
            nearest: nearest(ours, known),
        },
    )
}

/// Looks for the column that was probably meant by `wanted`, which stands for `ours`.
fn missing_hint(schema: &Schema, ours: &str, wanted: &str, names: &[CompactString]) -> String {
    let column = schema.columns.iter().find(|column| column.name == ours);
    let also_called = column.map_or(&[][..], |column| column.also_called);
    let theirs = names
        .iter()
        .find(|name| also_called.iter().any(|also| also.eq_ignore_ascii_case(name)))
        .map(ToString::to_string)
        .or_else(|| nearest(wanted, names.iter().map(CompactString::as_str)));
    let unit = match ours.rsplit_once('_') {
        Some((_, "ms")) => " and give it in milliseconds",
        _ => "",
    };
    match theirs {
        Some(theirs) if !unit.is_empty() && is_in_seconds(&theirs) => {
            format!("`{theirs}` looks like seconds: multiply by 1000 and call it `{ours}`")
        }
        Some(theirs) if wanted != ours => format!("did you mean --map {ours}={theirs}?"),
        Some(theirs) => format!(
            "rename `{theirs}` to `{ours}`{unit}, or say so on the command line: \
             --map {ours}={theirs}"
        ),
        None => {
            format!("add the column{unit}, or map one of yours to it: --map {ours}=YOUR_COLUMN")
        }
    }
}

/// Returns whether a column's name says that it holds seconds.
fn is_in_seconds(name: &str) -> bool {
    let unit = name.rsplit_once('_').map_or("", |(_, unit)| unit);
    ["s", "sec", "secs", "second", "seconds"].iter().any(|word| word.eq_ignore_ascii_case(unit))
}

/// Reads a whole table.
pub fn read_all<R: Record>(path: &Path, options: &ReadOptions) -> Result<Vec<R>, FileError> {
    TableReader::open(path, options)?.collect()
}

pub(super) trait RowSink {
    fn push(&mut self, cells: &[Cell<'_>]) -> Result<(), FileError>;
    /// Lets readers see what was pushed, where the format allows it.
    fn flush(&mut self) -> Result<(), FileError> {
        Ok(())
    }
    fn finish(self: Box<Self>) -> Result<(), FileError>;
}

/// Writes the rows of a table, one at a time; the file appears when finished.
pub struct TableWriter<R> {
    path: PathBuf,
    sink: Box<dyn RowSink>,
    extra_names: Arc<[CompactString]>,
    record: std::marker::PhantomData<R>,
}

impl<R: Record> TableWriter<R> {
    /// Starts a CSV or, by its ending, a Parquet file with these extra columns.
    pub fn create(path: &Path, extra_names: Arc<[CompactString]>) -> Result<Self, FileError> {
        Self::over(AtomicFile::create(path)?, extra_names)
    }

    /// Starts a file that can be looked into while it grows, under its name with `.part` behind.
    pub fn create_in_view(
        path: &Path,
        extra_names: Arc<[CompactString]>,
    ) -> Result<Self, FileError> {
        Self::over(AtomicFile::create_in_view(path)?, extra_names)
    }

    fn over(file: AtomicFile, extra_names: Arc<[CompactString]>) -> Result<Self, FileError> {
        let path = file.path().to_owned();
        let schema = R::SCHEMA;
        let mut columns: Vec<(CompactString, CellKind)> = schema
            .columns
            .iter()
            .filter(|column| column.written)
            .map(|column| (column.name.into(), column.kind))
            .collect();
        columns.push((schema.version_column.into(), CellKind::Whole));
        columns.extend(extra_names.iter().map(|name| (name.clone(), CellKind::Text)));
        let sink: Box<dyn RowSink> = if is_parquet(&path) {
            Box::new(ParquetSink::create(file, schema, &columns)?)
        } else {
            Box::new(CsvSink::create(file, &columns)?)
        };
        let record = std::marker::PhantomData;
        Ok(Self { path, sink, extra_names, record })
    }

    /// Adds a row.
    ///
    /// Fails if the row has an extra column that was not announced: it would be lost.
    pub fn push(&mut self, record: &R) -> Result<(), FileError> {
        let mut cells = Vec::with_capacity(R::SCHEMA.columns.len() + self.extra_names.len());
        record.cells(&mut cells);
        cells.push(Cell::Whole(R::SCHEMA.version));
        let extra = record.extra();
        if extra.is_empty() && self.extra_names.is_empty() {
            // Nothing to add.
        } else if extra.names() == &*self.extra_names {
            cells.extend(extra.iter().map(|(_, value)| Cell::Text(Cow::Borrowed(value))));
        } else {
            if let Some(name) = extra.names().iter().find(|n| !self.extra_names.contains(n)) {
                return Err(FileError::new(
                    &self.path,
                    Problem::Unknown {
                        what: "extra column",
                        id: name.to_string(),
                        known_in: "the columns this file was started with".into(),
                        nearest: None,
                    },
                ));
            }
            let value = |name: &CompactString| Cell::Text(extra.get(name).unwrap_or("").into());
            cells.extend(self.extra_names.iter().map(value));
        }
        self.sink.push(&cells)
    }

    /// Lets readers of a CSV file in view see every row so far; Parquet shows nothing before its end.
    pub fn flush(&mut self) -> Result<(), FileError> {
        self.sink.flush()
    }

    /// Ends the file and gives it its name.
    pub fn finish(self) -> Result<(), FileError> {
        self.sink.finish()
    }
}

/// Writes a whole table; its extra columns are those of all rows, in the order first seen.
pub fn write_all<'a, R: Record + 'a>(path: &Path, records: &'a [R]) -> Result<(), FileError> {
    let mut extra_names: Vec<CompactString> = Vec::new();
    for record in records {
        for name in record.extra().names() {
            if !extra_names.contains(name) {
                extra_names.push(name.clone());
            }
        }
    }
    let mut writer = TableWriter::create(path, extra_names.into())?;
    for record in records {
        writer.push(record)?;
    }
    writer.finish()
}

/// Returns whether a path names a Parquet file.
pub(super) fn is_parquet(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("parquet") || ending == "pq")
}
