//! Label disagreement as CSV: one row per stimulus, from easiest to hardest.

use mohs_score::human::label_disagreement::LabelDisagreement;

use crate::escape::csv_line;
use crate::number::raw;

const HEADERS: [&str; 10] = [
    "stimulus",
    "label",
    "n_people",
    "n_label",
    "disagreement",
    "disagreement_low",
    "disagreement_high",
    "entropy_bits",
    "usual_label",
    "band",
];

/// Returns one row per stimulus.
pub(super) fn rows(found: &LabelDisagreement) -> String {
    let headers = csv_line(HEADERS.map(str::to_owned));
    let rows = found.stimuli.iter().map(|stimulus| {
        csv_line([
            stimulus.stimulus.to_string(),
            stimulus.label.to_string(),
            stimulus.n_people.to_string(),
            stimulus.n_label.to_string(),
            raw(stimulus.disagreement.value),
            raw(stimulus.disagreement.low),
            raw(stimulus.disagreement.high),
            raw(stimulus.entropy_bits),
            stimulus.usual.to_string(),
            stimulus.band.clone(),
        ])
    });
    headers + &rows.collect::<String>()
}
