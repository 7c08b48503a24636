//! Any bytes as a lab.js export are trials or an error, never a panic.
#![no_main]

use std::path::Path;

use libfuzzer_sys::fuzz_target;
use mohs_data::format::import::{Account, ImportOptions, labjs};

fuzz_target!(|bytes: &[u8]| {
    let Some((first, bytes)) = bytes.split_first() else { return };
    let path = Path::new(if first % 2 == 0 { "a.json" } else { "a.csv" });
    let (options, mut account) = (ImportOptions::default(), Account::default());
    let mut sittings = labjs::Sittings::default();
    if let Err(error) = labjs::parse(path, bytes.to_vec(), &options, &mut sittings, &mut account) {
        let _ = (error.to_string(), error.hint());
    }
});
