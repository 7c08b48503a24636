//! Any bytes as a table of pairs are comparisons or an error, never a panic.
#![no_main]

use std::path::Path;

use libfuzzer_sys::fuzz_target;
use mohs_data::format::import::{Account, ImportOptions, comparisons};

fuzz_target!(|bytes: &[u8]| {
    let path = Path::new("a_b_session_1.csv");
    let (options, mut account) = (ImportOptions::default(), Account::default());
    if let Err(error) = comparisons::parse(path, bytes.to_vec(), "f", &options, &mut account) {
        let _ = (error.to_string(), error.hint());
    }
});
