//! Any bytes as a file of the viewing-time toolkit are trials or an error, never a panic.
#![no_main]

use std::path::Path;

use libfuzzer_sys::fuzz_target;
use mohs_data::format::import::{Account, ImportOptions, mvt_toolkit};

fuzz_target!(|bytes: &[u8]| {
    let Some((first, bytes)) = bytes.split_first() else { return };
    let path = Path::new(if first % 2 == 0 { "a.json" } else { "a.csv" });
    let (options, mut account) = (ImportOptions::default(), Account::default());
    let videos = mvt_toolkit::Videos::default();
    if let Err(error) = mvt_toolkit::parse(path, bytes.to_vec(), "f", &videos, &options, &mut account) {
        let _ = (error.to_string(), error.hint());
    }
});
