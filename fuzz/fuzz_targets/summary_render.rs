//! Any summary that can be read can be shown, as HTML, as text and as CSV, without a panic.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mohs_report::{Pictures, Summary, render_csv, render_html, render_text};

fuzz_target!(|text: &str| {
    if let Ok(summary) = Summary::from_json(text) {
        let _ = mohs_report::stimuli_for_gallery(&summary);
        let _ = render_html(&summary, &Pictures::new());
        let _ = (render_text(&summary), render_csv(&summary));
    }
});
