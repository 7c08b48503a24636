//! Item response as CSV: one row per stimulus, from easiest to hardest.

use mohs_data::Estimate;
use mohs_score::human::item_response::ItemResponse;

use crate::escape::csv_line;
use crate::number::raw;

const HEADERS: [&str; 20] = [
    "stimulus",
    "n_answers",
    "n_correct",
    "difficulty",
    "difficulty_low",
    "difficulty_high",
    "discrimination",
    "discrimination_low",
    "discrimination_high",
    "intercept",
    "intercept_low",
    "intercept_high",
    "expected_error",
    "expected_error_low",
    "expected_error_high",
    "infit",
    "infit_low",
    "infit_high",
    "outfit",
    "caveats",
];

/// Returns one row per stimulus; one without difficulty has empty cells there.
pub(super) fn rows(found: &ItemResponse) -> String {
    let headers = csv_line(HEADERS.map(str::to_owned));
    let rows = found.stimuli.iter().map(|stimulus| {
        let mut cells = vec![
            stimulus.stimulus.to_string(),
            stimulus.n_answers.to_string(),
            stimulus.n_correct.to_string(),
        ];
        for estimate in [
            stimulus.difficulty,
            Some(stimulus.discrimination),
            Some(stimulus.intercept),
            Some(stimulus.expected_error),
            stimulus.infit,
        ] {
            cells.extend(three(estimate));
        }
        cells.push(stimulus.outfit.map(raw).unwrap_or_default());
        cells.push(stimulus.caveats.join(";"));
        csv_line(cells)
    });
    headers + &rows.collect::<String>()
}

fn three(estimate: Option<Estimate>) -> [String; 3] {
    estimate.map_or_else(Default::default, |e| [raw(e.value), raw(e.low), raw(e.high)])
}
