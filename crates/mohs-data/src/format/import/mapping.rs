//! Which of someone else's columns are ours, in which unit, and which rows are trials.
//!
//! A reader starts from what its format is known to mean; what the user says goes before it. The
//! mapping also lives in a TOML file (see `docs/formats/import.md`). Every cell that is mapped is
//! then read by the noun itself, so that an imported row passes the same checks as one of ours,
//! with their column and their line in the error.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use compact_str::{CompactString, ToCompactString, format_compact};
use serde::Deserialize;

use super::Account;
use super::foreign::ForeignTable;
use crate::error::nearest;
use crate::format::document;
use crate::format::table::{CellKind, ReadOptions, Record, RowSource, Schema, TableReader};
use crate::{FileError, Frames, Problem};

/// What the columns of a foreign table mean.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Mapping {
    /// Our column → theirs; an empty name means that we have none.
    pub columns: BTreeMap<String, String>,
    /// Our column → the unit of their numbers, when it is not ours.
    pub units: BTreeMap<String, Unit>,
    /// Our column → the same value in every row.
    pub constants: BTreeMap<String, String>,
    /// Their column and a value: only such rows are trials. Several values of one column are
    /// alternatives; several columns must all agree.
    pub only: Vec<(String, String)>,
    /// Words in the response column that mean "no answer".
    pub no_response: Vec<String>,
    /// Their columns whose first value in a session is copied to all of its trials.
    pub carry: Vec<String>,
}

/// The unit of a time in someone else's file.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Unit {
    /// Milliseconds.
    Millis,
    /// Seconds.
    Seconds,
    /// Microseconds.
    Micros,
    /// Screen refreshes at this rate.
    Frames {
        /// Refreshes per second.
        hz: f64,
    },
}

impl Unit {
    /// Parses `ms`, `s`, `us` or `frames@60`.
    pub fn parse(text: &str) -> Option<Self> {
        match text {
            "ms" => Some(Self::Millis),
            "s" => Some(Self::Seconds),
            "us" => Some(Self::Micros),
            _ => {
                let hz: f64 = text.strip_prefix("frames@")?.parse().ok()?;
                (hz.is_finite() && 0.0 < hz).then_some(Self::Frames { hz })
            }
        }
    }

    /// Returns the name in files.
    pub fn name(self) -> String {
        match self {
            Self::Millis => "ms".into(),
            Self::Seconds => "s".into(),
            Self::Micros => "us".into(),
            Self::Frames { hz } => format!("frames@{hz}"),
        }
    }

    fn to_ms(self, value: f64) -> f64 {
        match self {
            Self::Millis => value,
            Self::Seconds => value * 1_000.0,
            Self::Micros => value / 1_000.0,
            Self::Frames { hz } => {
                #[expect(
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    reason = "a cast saturates, and a count of frames that is none reads as bad"
                )]
                let frames = Frames(value.round() as u32);
                frames.at(hz).map_or(f64::NAN, crate::Millis::value)
            }
        }
    }
}

/// The mapping as it stands in a file.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct MappingFile {
    version: Option<u64>,
    columns: BTreeMap<String, String>,
    units: BTreeMap<String, String>,
    constants: BTreeMap<String, toml::Value>,
    #[serde(rename = "where")]
    only: BTreeMap<String, OneOrMany>,
    no_response: Vec<String>,
    carry: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum OneOrMany {
    One(String),
    Many(Vec<String>),
}

/// The newest version of the mapping file.
const VERSION: u64 = 1;

impl Mapping {
    /// Reads a mapping file.
    pub fn read(path: &Path) -> Result<Self, FileError> {
        Self::parse(path, &document::read_text(path, "a mapping of columns")?)
    }

    /// Parses the text of a mapping file; `path` is only for errors.
    pub fn parse(path: &Path, text: &str) -> Result<Self, FileError> {
        document::check_toml_version(path, text, "mapping", VERSION)?;
        let file: MappingFile = document::parse_toml(path, text)?;
        let _ = file.version;
        let mut units = BTreeMap::new();
        for (ours, name) in file.units {
            let Some(unit) = Unit::parse(&name) else {
                let problem = Problem::BadValue {
                    expected: "a unit: ms, s, us or frames@60".into(),
                    found: name,
                    hint: None,
                };
                let error = FileError::new(path, problem).in_column(&format!("units.{ours}"));
                return Err(document::at_key(error, text));
            };
            units.insert(ours, unit);
        }
        let constant = |value: toml::Value| match value {
            toml::Value::String(text) => text,
            other => other.to_string(),
        };
        let only = file.only.into_iter().flat_map(|(column, values)| {
            let values = match values {
                OneOrMany::One(value) => vec![value],
                OneOrMany::Many(values) => values,
            };
            values.into_iter().map(move |value| (column.clone(), value))
        });
        Ok(Self {
            columns: file.columns,
            units,
            constants: file.constants.into_iter().map(|(k, v)| (k, constant(v))).collect(),
            only: only.collect(),
            no_response: file.no_response,
            carry: file.carry,
        })
    }

    /// Maps one of our columns to one of theirs, unless it is mapped already.
    pub(super) fn or_column(&mut self, ours: &str, theirs: &str) {
        if !self.constants.contains_key(ours) {
            self.columns.entry(ours.into()).or_insert_with(|| theirs.into());
        }
    }

    /// Says the unit of one of our columns, unless it is said already or mapped to a column whose
    /// unit the reader cannot know.
    pub(super) fn or_unit(&mut self, ours: &str, theirs: &str, unit: Unit) {
        if self.columns.get(ours).is_some_and(|mapped| mapped == theirs) {
            self.units.entry(ours.into()).or_insert(unit);
        }
    }

    /// Gives one of our columns the same value in every row, unless it is mapped already.
    pub(super) fn or_constant(&mut self, ours: &str, value: &str) {
        if !self.has(ours) {
            self.constants.insert(ours.into(), value.into());
        }
    }

    /// Returns whether something is said about one of our columns, even that there is none.
    pub(super) fn has(&self, ours: &str) -> bool {
        self.columns.contains_key(ours) || self.constants.contains_key(ours)
    }

    /// Keeps the rows that the user calls trials; returns whether the user said so at all.
    pub(super) fn filter(
        &self,
        table: &mut ForeignTable,
        account: &mut Account,
    ) -> Result<bool, FileError> {
        if self.only.is_empty() {
            return Ok(false);
        }
        let mut values_by_column: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for (column, value) in &self.only {
            if table.column(column).is_none() {
                let names = table.names().iter().map(CompactString::as_str);
                let hint = match nearest(column, names) {
                    Some(near) => format!("did you mean --where {near}={value}?"),
                    None => "name one of the columns of the file".into(),
                };
                return Err(table.missing(column, hint));
            }
            values_by_column.entry(column).or_default().insert(value);
        }
        let is_meant = |row: &usize| {
            values_by_column
                .iter()
                .all(|(column, values)| values.contains(table.cell(*row, column)))
        };
        let n_before = table.rows.len();
        let kept: Vec<usize> = (0..n_before).filter(is_meant).collect();
        account.set_aside("that --where leaves out", n_before - kept.len());
        table.keep(&kept);
        Ok(true)
    }

    /// Copies the columns to carry from the first row that has them to all rows.
    pub(super) fn carry_over(&self, table: &mut ForeignTable) -> Result<(), FileError> {
        for name in &self.carry {
            if table.column(name).is_none() {
                let names = table.names().iter().map(CompactString::as_str);
                let hint = match nearest(name, names) {
                    Some(near) => format!("did you mean --carry {near}?"),
                    None => "name one of the columns of the file".into(),
                };
                return Err(table.missing(name, hint));
            }
            let first = (0..table.rows.len()).map(|row| table.cell(row, name));
            let first =
                CompactString::from(first.into_iter().find(|c| !c.is_empty()).unwrap_or(""));
            table.set_column(name, |table, row| match table.cell(row, name) {
                "" => first.clone(),
                own => own.into(),
            });
        }
        Ok(())
    }
}

/// Turns a foreign table into our rows. `tag` names the file in ids made up for rows without one.
pub(super) fn records<R: Record>(
    table: &ForeignTable,
    mapping: &Mapping,
    tag: &str,
    account: &mut Account,
) -> Result<Vec<R>, FileError> {
    let schema = R::SCHEMA;
    let plan = Plan::new(table, mapping, schema)?;
    plan.tell(account);
    let rows: Vec<Vec<CompactString>> = table
        .rows
        .iter()
        .map(|row| {
            let ours = plan.ours.iter().map(|ours| match ours.from {
                From::Column(column) => ours.convert(table.at(row, column)),
                From::Constant(value) => value.into(),
                From::Place => format_compact!("{tag}-{}", row.place.number()),
            });
            let kept = plan.kept.iter().map(|(_, column)| table.at(row, *column).into());
            ours.chain(kept).collect()
        })
        .collect();
    let names = plan.ours.iter().map(|ours| CompactString::from(ours.name));
    let names: Vec<CompactString> =
        names.chain(plan.kept.iter().map(|(name, _)| name.clone())).collect();
    let source = MappedRows { names, rows, at: 0 };
    // Errors speak of the place and the column in the file that was given.
    let in_their_words = |error: FileError| {
        let row = error.line.and_then(|line| usize::try_from(line).ok());
        let place = row.and_then(|row| table.rows.get(row.checked_sub(1)?)).map(|row| row.place);
        let column = error.column.as_deref().map(|ours| plan.theirs(ours).to_owned());
        let error = FileError { column, ..error };
        match place {
            Some(place) => place.locate(error),
            None => FileError { line: None, ..error },
        }
    };
    TableReader::<R>::new(&table.path, Box::new(source), &ReadOptions::default())
        .map_err(|error| plan.header_error(table, error))?
        .map(|row| row.map_err(in_their_words))
        .collect()
}

/// How the cells of one output column are made.
struct Ours<'a> {
    name: &'static str,
    kind: CellKind,
    from: From<'a>,
    unit: Option<Unit>,
    empty: &'a [String],
}

#[derive(Clone, Copy)]
enum From<'a> {
    Column(usize),
    Constant(&'a str),
    /// An id made from the place of the row.
    Place,
}

/// Words for "nothing" in columns of numbers and flags, in lower case.
const NOTHING: [&str; 6] = ["nan", "na", "n/a", "none", "null", "undefined"];

impl Ours<'_> {
    fn convert(&self, cell: &str) -> CompactString {
        let trimmed = cell.trim();
        match self.kind {
            CellKind::Text => {
                let is_nothing = self.empty.iter().any(|word| word == trimmed);
                if is_nothing { CompactString::default() } else { cell.into() }
            }
            _ if NOTHING.iter().any(|word| word.eq_ignore_ascii_case(trimmed)) => {
                CompactString::default()
            }
            CellKind::Real => match (self.unit, trimmed.parse::<f64>()) {
                (Some(unit), Ok(value)) if unit != Unit::Millis => {
                    unit.to_ms(value).to_compact_string()
                }
                _ => trimmed.into(),
            },
            CellKind::Whole | CellKind::Flag => trimmed.into(),
        }
    }
}

/// Which cells go where.
struct Plan<'a> {
    table: &'a ForeignTable,
    ours: Vec<Ours<'a>>,
    /// Name in the output and position in the foreign table.
    kept: Vec<(CompactString, usize)>,
}

impl<'a> Plan<'a> {
    fn new(
        table: &'a ForeignTable,
        mapping: &'a Mapping,
        schema: &'static Schema,
    ) -> Result<Self, FileError> {
        check_targets(table, mapping, schema)?;
        let mut ours = Vec::new();
        for (idx, column) in schema.columns.iter().enumerate() {
            let theirs = mapping.columns.get(column.name).filter(|theirs| !theirs.is_empty());
            let from = if let Some(theirs) = theirs {
                let found = table.column(theirs).ok_or_else(|| {
                    let names = table.names().iter().map(CompactString::as_str);
                    let hint = match nearest(theirs, names) {
                        Some(near) => format!("did you mean --map {}={near}?", column.name),
                        None => format!("map another one: --map {}=YOUR_COLUMN", column.name),
                    };
                    table.missing(theirs, hint)
                })?;
                From::Column(found)
            } else if let Some(value) = mapping.constants.get(column.name) {
                From::Constant(value)
            } else if idx == 0 {
                From::Place
            } else {
                continue;
            };
            let unit = mapping.units.get(column.name).copied();
            let is_answer = ["response", "predicted"].contains(&column.name);
            let empty = if is_answer { &mapping.no_response[..] } else { &[] };
            ours.push(Ours { name: column.name, kind: column.kind, from, unit, empty });
        }
        let is_used = |column: usize| {
            ours.iter().any(|ours| matches!(ours.from, From::Column(used) if used == column))
        };
        let is_ours = |name: &str| {
            name == schema.version_column || schema.columns.iter().any(|column| column.name == name)
        };
        let mut kept: Vec<(CompactString, usize)> = Vec::new();
        for (column, name) in table.names().iter().enumerate() {
            if is_used(column) || !table.is_filled(name) {
                continue;
            }
            // A name of ours that means something else in their file must not be taken for ours.
            let mut name =
                if is_ours(name) { format_compact!("source_{name}") } else { name.clone() };
            while kept.iter().any(|(other, _)| *other == name)
                || (name.starts_with("source_") && table.column(&name).is_some_and(|c| c != column))
            {
                name.push('_');
            }
            kept.push((name, column));
        }
        Ok(Self { table, ours, kept })
    }

    fn tell(&self, account: &mut Account) {
        for ours in &self.ours {
            let theirs = match ours.from {
                From::Column(column) => {
                    let unit = match ours.unit {
                        Some(unit) if unit != Unit::Millis => format!(" ({})", unit.name()),
                        _ => String::new(),
                    };
                    format!("{}{unit}", self.table.told(column))
                }
                From::Constant(value) => format!("always \"{value}\""),
                From::Place => "the place in the file".to_owned(),
            };
            account.source(ours.name, theirs);
        }
        account.kept.extend(self.kept.iter().map(|(name, _)| name.to_string()));
    }

    fn theirs<'b>(&'b self, ours: &'b str) -> &'b str {
        self.ours
            .iter()
            .find(|known| known.name == ours)
            .and_then(|known| match known.from {
                From::Column(column) => Some(self.table.names()[column].as_str()),
                _ => None,
            })
            .unwrap_or(ours)
    }

    /// Says which of their columns there are when one of ours cannot be filled.
    fn header_error(&self, table: &ForeignTable, error: FileError) -> FileError {
        match error.problem {
            Problem::MissingColumn { wanted, .. } => {
                let hint = format!("say which of these it is: --map {wanted}=YOUR_COLUMN");
                table.missing(&wanted, hint)
            }
            problem => FileError::new(&table.path, problem),
        }
    }
}

/// Makes sure that every column that is mapped to is one of ours.
fn check_targets(
    table: &ForeignTable,
    mapping: &Mapping,
    schema: &'static Schema,
) -> Result<(), FileError> {
    let targets =
        mapping.columns.keys().chain(mapping.units.keys()).chain(mapping.constants.keys());
    for ours in targets {
        if schema.columns.iter().all(|column| column.name != ours) {
            let problem = Problem::Unknown {
                what: "column",
                id: ours.clone(),
                known_in: format!("the columns of {}", schema.noun),
                nearest: nearest(ours, schema.columns.iter().map(|column| column.name)),
            };
            return Err(FileError::new(&table.path, problem));
        }
    }
    Ok(())
}

/// Rows on their way to the noun's own reader; the line is the position, from 1.
struct MappedRows {
    names: Vec<CompactString>,
    rows: Vec<Vec<CompactString>>,
    at: usize,
}

impl RowSource for MappedRows {
    fn advance(&mut self) -> Result<bool, FileError> {
        self.at += 1;
        Ok(self.at <= self.rows.len())
    }

    fn text(&self, column: usize) -> Option<Cow<'_, str>> {
        let cell = self.rows.get(self.at.checked_sub(1)?)?.get(column)?;
        (!cell.is_empty()).then_some(Cow::Borrowed(cell))
    }

    fn number(&self, _column: usize) -> Option<f64> {
        None
    }

    fn line(&self) -> u64 {
        self.at as u64
    }

    fn names(&self) -> Vec<CompactString> {
        self.names.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Millis, Trial};

    fn trials(csv: &str, mapping: &Mapping) -> Result<Vec<Trial>, FileError> {
        let table = ForeignTable::from_csv(Path::new("t.csv"), csv.into())?;
        records(&table, mapping, "t", &mut Account::default())
    }

    fn mapping(toml: &str) -> Mapping {
        Mapping::parse(Path::new("m.toml"), toml).unwrap()
    }

    const MAPPING: &str = "
        no_response = [\"-\"]
        [columns]
        participant = \"who\"
        stimulus = \"pic\"
        response = \"said\"
        rt_ms = \"time\"
        exposure_ms = \"frames\"
        [units]
        rt_ms = \"s\"
        exposure_ms = \"frames@60\"
        [constants]
        task = \"flash\"
    ";

    #[test]
    fn units_constants_and_words_for_nothing_are_understood() {
        let csv =
            "who,pic,said,time,frames,task\np1,a.png,cat,0.5,1,blue\np1,b.png,-,NaN,600,red\n";
        let trials = trials(csv, &mapping(MAPPING)).unwrap();
        assert_eq!(trials[0].rt(), Millis::new(500.0));
        assert_eq!(trials[0].exposure, Millis::new(17.0));
        assert_eq!(trials[1].exposure, Millis::new(10_000.0));
        assert_eq!(trials[1].response, None);
        assert_eq!(trials[1].rt(), None);
        assert_eq!(trials[0].task.as_str(), "flash");
        assert_eq!(trials[0].extra.get("source_task"), Some("blue"));
        assert_eq!(trials[0].id.as_str(), "t-2");
    }

    #[test]
    fn an_error_names_their_column_and_line() {
        let csv = "who,pic,said,time,frames\np1,a.png,cat,0.5,1\np1,b.png,dog,soon,1\n";
        insta::assert_snapshot!(
            trials(csv, &mapping(MAPPING)).unwrap_err(),
            @"t.csv:3: `time` should be a number of milliseconds, found `soon`"
        );
        let csv = "whom,pic,said,time,frames\np1,a.png,cat,0.5,1\n";
        let error = trials(csv, &mapping(MAPPING)).unwrap_err();
        insta::assert_snapshot!(
            error,
            @"t.csv has no column `who`; it has: whom, pic, said, time, frames"
        );
        assert_eq!(error.hint().unwrap(), "did you mean --map participant=whom?");
    }

    #[test]
    fn a_mapping_file_is_read_strictly() {
        let error = |text: &str| Mapping::parse(Path::new("m.toml"), text).unwrap_err().to_string();
        insta::assert_snapshot!(
            error("[units]\nrt_ms = \"sec\"\n"),
            @"m.toml:2: `units.rt_ms` should be a unit: ms, s, us or frames@60, found `sec`"
        );
        assert!(error("[colums]\n").contains("unknown field `colums`"));
        assert!(error("version = 9\n").contains("version 9"));
    }

    #[test]
    fn alternatives_of_one_column_and_all_columns_together_choose_rows() {
        let csv = "participant,stimulus,correct,kind,phase\n\
                   p,a,1,x,test\np,b,1,y,test\np,c,1,z,test\np,d,1,x,practice\n";
        let mut table = ForeignTable::from_csv(Path::new("t.csv"), csv.into()).unwrap();
        let mapping = mapping("[where]\nkind = [\"x\", \"y\"]\nphase = \"test\"\n");
        let mut account = Account::default();
        assert!(mapping.filter(&mut table, &mut account).unwrap());
        assert_eq!(table.rows.len(), 2);
        assert_eq!(account.set_aside["that --where leaves out"], 2);
    }
}
