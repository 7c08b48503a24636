//! Any text is a manifest or an error, never a panic.
#![no_main]

use std::path::Path;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    if let Err(error) = mohs_data::Manifest::parse(Path::new("eval.toml"), text) {
        let _ = (error.to_string(), error.hint());
    }
});
