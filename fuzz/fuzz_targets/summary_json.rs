//! Any text is a summary or an error, never a panic; a summary that is read can be written and read
//! again.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mohs_report::Summary;

fuzz_target!(|text: &str| match Summary::from_json(text) {
    Ok(summary) => {
        if let Err(error) = Summary::from_json(&summary.to_json()) {
            panic!(
                "what was read cannot be read again: {error}: {:?}",
                std::error::Error::source(&error)
            );
        }
    }
    Err(error) => drop(error.to_string()),
});
