//! How models stand to each other: who is ahead, who cannot be told apart, who gets a colour.
//!
//! Nothing is tested here; the tests came with the findings.

use mohs_data::{Estimate, ModelName};
use mohs_score::model::{Axis, ModelFinding, ModelFindings, PairedComparison};

/// Models that can all have a colour of their own.
pub(crate) const MOST_COLOURS: usize = 8;

/// Returns the positions of models from best to worst; those without accuracy come last, equals
/// keep the order of the evaluation.
///
/// A model that has no row among those that count, such as one that only answered after epochs, is
/// left out, unless that is true of all.
pub(crate) fn ranked(found: &ModelFindings) -> Vec<usize> {
    let is_there = |idx: &usize| {
        let model = &found.models[*idx];
        model.accuracy.is_some() || 0 < model.n_failed
    };
    let all = by_accuracy(found);
    if all.iter().any(is_there) { all.into_iter().filter(is_there).collect() } else { all }
}

/// Returns the positions of models that have a value on an axis, from best to worst.
pub(crate) fn on_axis(found: &ModelFindings, axis: &Axis) -> Vec<usize> {
    let has_value =
        |idx: &usize| axis.values.iter().any(|at| at.models.get(*idx).is_some_and(Option::is_some));
    by_accuracy(found).into_iter().filter(has_value).collect()
}

fn by_accuracy(found: &ModelFindings) -> Vec<usize> {
    let accuracy = |idx: &usize| accuracy(&found.models[*idx]).map_or(-1.0, |e| e.value);
    let mut places: Vec<usize> = (0..found.models.len()).collect();
    places.sort_by(|a, b| accuracy(b).total_cmp(&accuracy(a)));
    places
}

/// Returns a model's share of right answers, with the interval that draws classes.
pub(crate) fn accuracy(model: &ModelFinding) -> Option<&Estimate> {
    model.accuracy.as_ref().map(|accuracy| &accuracy.clustered)
}

/// Returns the colour of each model, by position: all have one when there are few; otherwise the
/// best three, the middle one and the worst.
pub(crate) fn colours(found: &ModelFindings) -> Vec<Option<usize>> {
    colours_of(found.models.len(), &ranked(found))
}

/// Returns the colour of each of `n` models, by position, from their positions best to worst.
pub(crate) fn colours_of(n: usize, ranked: &[usize]) -> Vec<Option<usize>> {
    if n <= MOST_COLOURS {
        return (0..n).map(Some).collect();
    }
    let mut colours = vec![None; n];
    let last = ranked.len().saturating_sub(1);
    for (colour, place) in [0, 1, 2, ranked.len() / 2, last].into_iter().enumerate() {
        colours[ranked[place.min(last)]] = Some(colour);
    }
    colours
}

/// Returns the words for models without colour: `17 other models`.
pub(crate) fn others(colours: &[Option<usize>]) -> String {
    let n = colours.iter().filter(|colour| colour.is_none()).count();
    crate::number::counted(n, "other model", "other models")
}

/// A comparison seen from one of its models.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Seen {
    /// This model's accuracy minus the other's.
    pub(crate) difference: Estimate,
    /// Holm's p-value.
    pub(crate) p_holm: f64,
    /// Whether the two can be told apart.
    pub(crate) is_apart: bool,
}

/// Returns what the comparison of two models says, seen from the first.
pub(crate) fn seen_from(found: &ModelFindings, one: &ModelName, other: &ModelName) -> Option<Seen> {
    found.comparisons.iter().find_map(|pair| {
        let is_as_asked = pair.first == *one && pair.second == *other;
        let is_turned = pair.first == *other && pair.second == *one;
        (is_as_asked || is_turned).then(|| Seen {
            difference: if is_turned { turned(&pair.difference) } else { pair.difference },
            p_holm: pair.p_holm,
            is_apart: is_separated(found, pair),
        })
    })
}

/// Returns a difference the other way round.
pub(crate) fn turned(estimate: &Estimate) -> Estimate {
    let &Estimate { value, low, high, .. } = estimate;
    // Adding zero keeps minus zero out of texts.
    Estimate { value: -value + 0.0, low: -high + 0.0, high: -low + 0.0, ..*estimate }
}

/// Returns the p-value below which a finding stands, from the confidence asked for.
pub(crate) fn level(found: &ModelFindings) -> f64 {
    1.0 - found.method.confidence
}

/// Returns whether a difference stands: after Holm's correction, and with other classes drawn.
pub(crate) fn is_separated(found: &ModelFindings, pair: &PairedComparison) -> bool {
    pair.is_apart(level(found))
}
