//! Any bytes as a Parquet table of predictions are rows or errors, never a panic that gets out.
#![no_main]

use std::path::Path;
use std::sync::Once;

use libfuzzer_sys::fuzz_target;
use mohs_data::Prediction;
use mohs_data::format::{ReadOptions, TableReader};

static QUIET: Once = Once::new();

fuzz_target!(|bytes: &[u8]| {
    // The fuzzer's hook aborts on panics that the reader catches; one that gets out still aborts.
    QUIET.call_once(|| std::panic::set_hook(Box::new(|_| {})));
    let path = Path::new("predictions.parquet");
    if let Ok(rows) =
        TableReader::<Prediction>::from_bytes(path, bytes.to_vec(), &ReadOptions::default())
    {
        // A few bytes can stand for billions of equal rows: that is slow, not wrong.
        for row in rows.take(10_000) {
            if let Err(error) = row {
                let _ = (error.to_string(), error.hint());
            }
        }
    }
});
