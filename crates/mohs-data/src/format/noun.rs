//! Telling tables apart: which noun does a file hold?

use std::path::Path;

use compact_str::CompactString;

use super::csv_rows::CsvRows;
use super::parquet_rows::ParquetRows;
use super::table::{Record, RowSource as _, Schema, is_parquet};
use crate::{
    Comparison, Difficulty, Exclusion, FileError, MinEpsilon, Prediction, Prepared, Stimulus, Trial,
};

/// Columns that give a noun away when no version column does, most telling first.
const TELLTALES: [(&str, &[&str]); 8] = [
    ("minimum epsilons", &["attack", "epsilon"]),
    ("comparisons", &["left", "right"]),
    ("comparisons", &["winner", "loser"]),
    ("predictions", &["model", "stimulus"]),
    ("difficulty", &["stimulus", "difficulty"]),
    ("exclusions", &["rule"]),
    ("trials", &["participant", "stimulus"]),
    ("stimuli", &["file", "label"]),
];

/// Returns the noun of a table by its columns, e.g. `trials`; `None` when they do not tell.
pub fn noun_of(path: &Path) -> Result<Option<&'static str>, FileError> {
    let names = if is_parquet(path) {
        ParquetRows::open(path)?.names()
    } else {
        CsvRows::open(path, "table")?.names()
    };
    let has = |name: &str| names.iter().any(|known: &CompactString| known == name);
    let schemas: [&Schema; 8] = [
        MinEpsilon::SCHEMA,
        Comparison::SCHEMA,
        Prediction::SCHEMA,
        Prepared::SCHEMA,
        Difficulty::SCHEMA,
        Exclusion::SCHEMA,
        Trial::SCHEMA,
        Stimulus::SCHEMA,
    ];
    let by_version = schemas.iter().find(|schema| has(schema.version_column));
    let by_columns = TELLTALES.iter().find(|(_, columns)| columns.iter().all(|name| has(name)));
    Ok(by_version.map(|schema| schema.noun).or(by_columns.map(|(noun, _)| *noun)))
}
