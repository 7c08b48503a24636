//! Any text is a COCO file or an error, never a panic.
#![no_main]

use std::path::Path;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    if let Err(error) = mohs_data::format::coco::parse(Path::new("instances.json"), text) {
        let _ = (error.to_string(), error.hint());
    }
});
