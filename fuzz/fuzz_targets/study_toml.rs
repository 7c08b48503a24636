//! Any text is a study or an error, never a panic.
#![no_main]

use std::path::Path;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    if let Err(error) = mohs_data::Study::parse(Path::new("study.toml"), text) {
        let _ = (error.to_string(), error.hint());
    }
});
