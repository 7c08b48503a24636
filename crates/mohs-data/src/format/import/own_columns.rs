//! CSV files of your own making, with a mapping from our columns to yours.
//!
//! Columns that already have our names are taken as they are; the mapping says the rest. Columns
//! that mean something else must be mapped away: `--map label=` says that there is no label.

use std::path::{Path, PathBuf};

use super::foreign::ForeignTable;
use super::{Account, ImportOptions, Imported, each_file, mapping};
use crate::format::table::Record as _;
use crate::{FileError, Trial};

/// Reads CSV files with the columns of the mapping.
pub fn read(paths: &[PathBuf], options: &ImportOptions) -> Result<Imported<Trial>, FileError> {
    each_file(paths, &["csv", "tsv", "txt"], options, parse, |trial| &trial.id)
}

/// Reads one file in memory; `path` stands in errors.
pub fn parse(
    path: &Path,
    bytes: Vec<u8>,
    tag: &str,
    options: &ImportOptions,
    account: &mut Account,
) -> Result<Vec<Trial>, FileError> {
    let mut table = ForeignTable::from_csv(path, bytes)?;
    account.taken_for.insert("CSV with columns of its own".into());
    account.n_records += table.rows.len();
    let mut mapping = options.mapping.clone();
    mapping.carry_over(&mut table)?;
    mapping.filter(&mut table, account)?;
    for column in Trial::SCHEMA.columns {
        if table.column(column.name).is_some() {
            mapping.or_column(column.name, column.name);
        }
    }
    mapping::records(&table, &mapping, tag, account)
}
