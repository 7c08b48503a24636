//! Paired judgements as CSV: one row per stimulus, by component and, in it, from easiest to
//! hardest, numbers unrounded.

use mohs_data::Estimate;
use mohs_score::human::bradley_terry::{PairedJudgements, StimulusFinding};

use crate::escape::csv_line;
use crate::number::raw;

const HEADERS: [&str; 17] = [
    "stimulus",
    "label",
    "attribute",
    "level",
    "component",
    "rank",
    "difficulty",
    "difficulty_low",
    "difficulty_high",
    "bootstrap_low",
    "bootstrap_high",
    "confidence",
    "n_judgements",
    "n_harder",
    "n_ties",
    "quasi_variance",
    "caveats",
];

pub(super) fn rows(found: &PairedJudgements) -> String {
    let rows: String = found.stimuli.iter().map(|finding| csv_line(row(finding))).collect();
    csv_line(HEADERS) + &rows
}

fn row(finding: &StimulusFinding) -> [String; 17] {
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    let people = |of: fn(&Estimate) -> f64| {
        finding.difficulty_by_people.as_ref().map(of).map(raw).unwrap_or_default()
    };
    [
        finding.stimulus.to_string(),
        finding.label.as_ref().map(ToString::to_string).unwrap_or_default(),
        text(&finding.attribute),
        text(&finding.level),
        finding.component.to_string(),
        finding.rank.to_string(),
        raw(finding.difficulty.value),
        raw(finding.difficulty.low),
        raw(finding.difficulty.high),
        people(|estimate| estimate.low),
        people(|estimate| estimate.high),
        raw(finding.difficulty.confidence),
        finding.difficulty.n.to_string(),
        finding.n_harder.to_string(),
        finding.n_ties.to_string(),
        raw(finding.quasi_variance),
        finding.caveats.join(";"),
    ]
}
