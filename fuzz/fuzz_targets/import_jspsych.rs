//! Any bytes as a file of jsPsych are trials or an error, never a panic.
#![no_main]

use std::path::Path;

use libfuzzer_sys::fuzz_target;
use mohs_data::format::import::{Account, ImportOptions, jspsych};

fuzz_target!(|bytes: &[u8]| {
    let Some((first, bytes)) = bytes.split_first() else { return };
    let path = Path::new(if first % 2 == 0 { "a.json" } else { "a.csv" });
    let (options, mut account) = (ImportOptions::default(), Account::default());
    if let Err(error) = jspsych::parse(path, bytes.to_vec(), "f", &options, &mut account) {
        let _ = (error.to_string(), error.hint());
    }
});
