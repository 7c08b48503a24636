//! Any bytes as a table of exclusions are rows or errors, never a panic.
#![no_main]

use std::path::Path;

use libfuzzer_sys::fuzz_target;
use mohs_data::Exclusion;
use mohs_data::format::{ReadOptions, TableReader};

fuzz_target!(|bytes: &[u8]| {
    let path = Path::new("exclusions.csv");
    if let Ok(rows) =
        TableReader::<Exclusion>::from_bytes(path, bytes.to_vec(), &ReadOptions::default())
    {
        for row in rows {
            if let Err(error) = row {
                let _ = (error.to_string(), error.hint());
            }
        }
    }
});
