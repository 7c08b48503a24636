//! Any bytes as a table of predictions are predictions or an error, never a panic. The first byte
//! says which table, and in which format.
#![no_main]

use std::path::Path;

use libfuzzer_sys::fuzz_target;
use mohs_data::FileError;
use mohs_data::format::import::Account;
use mohs_data::format::import::predictions::{
    self, Gathered, PredictionOptions, answers_table, imagenet_x, response_matrix,
};

type Parse = fn(
    &Path,
    Vec<u8>,
    &PredictionOptions<'_>,
    &mut Account,
    &mut Gathered,
) -> Result<(), FileError>;

fuzz_target!(|bytes: &[u8]| {
    let Some((kind, bytes)) = bytes.split_first() else { return };
    let options = PredictionOptions::default();
    let (mut account, mut gathered) = (Account::default(), Gathered::default());
    let (parse, name): (Parse, &str) = match kind % 6 {
        0 => (predictions::parse, "m.csv"),
        1 => (predictions::parse, "m.jsonl"),
        2 => (imagenet_x::parse, "m.csv"),
        3 => (answers_table::parse, "m.csv"),
        4 => (response_matrix::parse, "m.csv"),
        _ => (response_matrix::parse, "m.jsonl"),
    };
    let parsed = parse(Path::new(name), bytes.to_vec(), &options, &mut account, &mut gathered);
    if let Err(error) = parsed {
        let _ = (error.to_string(), error.hint());
    }
});
