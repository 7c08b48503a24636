//! Any text is a file of annotations or an error, never a panic.
#![no_main]

use std::path::Path;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    if let Err(error) = mohs_data::Annotation::parse_all(Path::new("annotations.json"), text) {
        let _ = (error.to_string(), error.hint());
    }
});
