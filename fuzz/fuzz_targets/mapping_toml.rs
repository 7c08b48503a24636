//! Any text is a mapping of columns or an error, never a panic.
#![no_main]

use std::path::Path;

use libfuzzer_sys::fuzz_target;
use mohs_data::format::import::Mapping;

fuzz_target!(|text: &str| {
    if let Err(error) = Mapping::parse(Path::new("mapping.toml"), text) {
        let _ = (error.to_string(), error.hint());
    }
});
