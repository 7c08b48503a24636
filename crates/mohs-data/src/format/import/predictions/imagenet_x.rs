//! Answers of models to ImageNet's validation pictures, as ImageNet-X keeps them.
//!
//! One CSV file per model, named after it, with the columns
//! `file_name, predicted_class, predicted_probability`. Classes are numbers from 0 to 999. Right
//! answers are not in the file: they come from the stimuli, or from a column `label`.

use std::path::{Path, PathBuf};

use super::super::foreign::ForeignTable;
use super::{Gathered, PredictionOptions, each_file, model_of_file, usual_names};
use crate::format::import::{Account, Imported};
use crate::{FileError, Prediction};

/// Reads files, or folders of them.
pub fn read(
    paths: &[PathBuf],
    options: &PredictionOptions<'_>,
) -> Result<Imported<Prediction>, FileError> {
    each_file(paths, &["csv"], options, parse)
}

/// Reads one file in memory; `path` gives the model's name and stands in errors.
pub fn parse(
    path: &Path,
    bytes: Vec<u8>,
    options: &PredictionOptions<'_>,
    account: &mut Account,
    gathered: &mut Gathered,
) -> Result<(), FileError> {
    let mut table = ForeignTable::from_csv(path, bytes)?;
    for wanted in ["file_name", "predicted_class"] {
        if table.column(wanted).is_none() {
            let hint = "ImageNet-X files have the columns file_name, predicted_class, \
                        predicted_probability; `mohs import predictions` reads other names"
                .into();
            return Err(table.missing(wanted, hint));
        }
    }
    account.taken_for.insert("ImageNet-X predictions, one file per model".into());
    account.n_records += table.rows.len();
    let mut mapping = options.import.mapping.clone();
    mapping.carry_over(&mut table)?;
    mapping.filter(&mut table, account)?;
    mapping.or_column("stimulus", "file_name");
    mapping.or_column("predicted", "predicted_class");
    usual_names(&table, &mut mapping);
    model_of_file(path, &mut mapping);
    gathered.add(table, mapping, options, account)
}
