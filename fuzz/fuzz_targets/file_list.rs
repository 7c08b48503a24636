//! Any text is a list of files or an error, never a panic.
#![no_main]

use std::path::Path;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    if let Err(error) = mohs_data::format::file_list::parse(Path::new("val.txt"), text) {
        let _ = (error.to_string(), error.hint());
    }
});
