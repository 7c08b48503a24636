//! Viewing time as CSV: one row per stimulus, from easiest to hardest.

use mohs_data::Millis;
use mohs_score::human::viewing_time::{StimulusFinding, ViewingTime};

use crate::escape::csv_line;
use crate::number::raw;

/// Returns one row per stimulus: what it is, its difficulty, minimum viewing times, threshold, and
/// right answers and trials at each exposure. A stimulus never recognised has an empty `mvt_ms`.
pub(super) fn rows(found: &ViewingTime) -> String {
    let headers = found.exposures.iter().flat_map(|exposure| {
        let ms = exposure.value();
        [format!("n_correct_at_{ms}_ms"), format!("n_trials_at_{ms}_ms")]
    });
    let headers = csv_line(FIXED.iter().map(|name| (*name).to_owned()).chain(headers));
    let rows = found.stimuli.iter().map(|stimulus| csv_line(row(found, stimulus)));
    headers + &rows.collect::<String>()
}

const FIXED: [&str; 20] = [
    "stimulus",
    "label",
    "dataset",
    "attribute",
    "level",
    "n_trials",
    "n_errors",
    "difficulty",
    "difficulty_low",
    "difficulty_high",
    "confidence",
    "band",
    "mvt_ms",
    "mvt_first_ms",
    "mvt_stays_ms",
    "threshold_ms",
    "threshold_low_ms",
    "threshold_high_ms",
    "model_band",
    "caveats",
];

fn row(found: &ViewingTime, stimulus: &StimulusFinding) -> Vec<String> {
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    let time = |time: Option<Millis>| time.map(|time| raw(time.value())).unwrap_or_default();
    let mut cells = vec![
        stimulus.stimulus.to_string(),
        stimulus.label.as_ref().map(ToString::to_string).unwrap_or_default(),
        text(&stimulus.dataset),
        text(&stimulus.attribute),
        text(&stimulus.level),
        stimulus.difficulty.n.to_string(),
        stimulus.n_errors.to_string(),
        raw(stimulus.difficulty.value),
        raw(stimulus.difficulty.low),
        raw(stimulus.difficulty.high),
        raw(stimulus.difficulty.confidence),
        stimulus.band.name(),
        time(stimulus.mvt),
        time(stimulus.mvt_first),
        time(stimulus.mvt_stays),
        raw(stimulus.threshold_ms.value),
        raw(stimulus.threshold_ms.low),
        raw(stimulus.threshold_ms.high),
        stimulus.model_band.name(),
        stimulus.caveats.join(";"),
    ];
    for exposure in &found.exposures {
        let counts = stimulus.counts.iter().find(|count| count.exposure == *exposure);
        cells.push(counts.map(|count| count.n_correct).unwrap_or_default().to_string());
        cells.push(counts.map(|count| count.n_trials).unwrap_or_default().to_string());
    }
    cells
}
