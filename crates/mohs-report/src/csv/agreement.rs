//! Agreement and reliability as CSV: one row per data set and group of observers.

use mohs_data::Estimate;
use mohs_score::human::agreement::{Agreement, Consistency, Reliability};

use crate::escape::csv_line;
use crate::number::raw;

/// Columns of estimates; each has `_low`, `_high` and `_n` beside it.
const ESTIMATES: [&str; 17] = [
    "accuracy",
    "error_consistency",
    "attainable_maximum",
    "attainable_minimum",
    "observed_consistency",
    "expected_consistency",
    "accuracy_difference",
    "shape_bias",
    "fleiss_kappa",
    "mean_pair_kappa",
    "split_half",
    "spearman_brown",
    "noise_ceiling",
    "noise_ceiling_lower",
    "noise_ceiling_upper",
    "participant_sd",
    "stimulus_sd",
];

/// Returns one row per data set for people, one for each model, and the means over data sets in
/// rows whose data set is empty.
pub(super) fn rows(found: &Agreement) -> String {
    let headers = ESTIMATES
        .iter()
        .flat_map(|name| ["", "_low", "_high", "_n"].map(|end| format!("{name}{end}")));
    let mut csv =
        csv_line(["dataset".to_owned(), "observers".to_owned()].into_iter().chain(headers));
    for set in &found.datasets {
        let reliability = set.reliability.as_ref();
        let of = |pick: fn(&Reliability) -> Option<Estimate>| reliability.and_then(pick);
        let mut cells = first(set.accuracy, set.people.as_ref());
        let answers = set.answers.as_ref();
        cells.extend([
            set.shape_bias.as_ref().map(|bias| bias.pooled),
            answers.and_then(|answers| answers.fleiss_kappa),
            answers.and_then(|answers| answers.mean_pair_kappa),
            of(|found| found.split_half),
            of(|found| found.spearman_brown),
            of(|found| found.ceiling),
            of(|found| found.ceiling_low),
            of(|found| found.ceiling_high),
            set.effects.as_ref().map(|effects| effects.participant_sd),
            set.effects.as_ref().map(|effects| effects.stimulus_sd),
        ]);
        csv += &line(&set.name, "people", &cells);
        for model in &set.models {
            let mut cells = first(Some(model.accuracy), model.with_people.as_ref());
            cells.push(model.shape_bias);
            csv += &line(&set.name, model.model.as_str(), &cells);
        }
    }
    let means = &found.means;
    csv += &line("", "people", &first(means.accuracy, means.people.as_ref()));
    for model in &means.models {
        let cells = first(Some(model.accuracy), model.with_people.as_ref());
        csv += &line("", model.model.as_str(), &cells);
    }
    csv
}

fn first(accuracy: Option<Estimate>, found: Option<&Consistency>) -> Vec<Option<Estimate>> {
    vec![
        accuracy,
        found.map(|found| found.error_consistency),
        found.map(|found| found.attainable_maximum),
        found.map(|found| found.attainable_minimum),
        found.map(|found| found.observed_consistency),
        found.map(|found| found.expected_consistency),
        found.map(|found| found.accuracy_difference),
    ]
}

fn line(dataset: &str, observers: &str, cells: &[Option<Estimate>]) -> String {
    let missing = std::iter::repeat_n(&None, ESTIMATES.len().saturating_sub(cells.len()));
    let numbers = cells.iter().chain(missing).flat_map(|estimate| numbers(*estimate));
    csv_line([dataset.to_owned(), observers.to_owned()].into_iter().chain(numbers))
}

fn numbers(estimate: Option<Estimate>) -> [String; 4] {
    estimate.map_or_else(Default::default, |found| {
        [raw(found.value), raw(found.low), raw(found.high), found.n.to_string()]
    })
}

/// Returns each stimulus's effect on the log-odds of a right answer, from hardest, by data set.
pub fn render_stimulus_effects(found: &Agreement) -> String {
    let mut csv = csv_line(["dataset", "stimulus", "effect", "effect_low", "effect_high", "n"]);
    for set in &found.datasets {
        for stimulus in set.effects.iter().flat_map(|effects| &effects.stimuli) {
            let ids = [set.name.clone(), stimulus.stimulus.to_string()];
            csv += &csv_line(ids.into_iter().chain(numbers(Some(stimulus.effect))));
        }
    }
    csv
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_column_has_a_name_of_its_own() {
        let ends = ["", "_low", "_high", "_n"];
        let names = ESTIMATES.iter().flat_map(|name| ends.map(|end| format!("{name}{end}")));
        let different: BTreeSet<String> = names.collect();
        assert_eq!(different.len(), ESTIMATES.len() * ends.len());
    }
}
