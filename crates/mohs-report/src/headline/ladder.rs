//! The headline of a ladder: do models that solve hard stimuli solve easy ones, more than chance
//! makes them?

use mohs_data::Estimate;
use mohs_score::model::Cluster;
use mohs_score::model::hierarchy::{CellKind, Hierarchy, LadderFindings, LadderModel, LevelOrigin};

use crate::number::{Unit, count, counted, fixed};
use crate::width::shorten;

/// Columns of a name in a sentence.
const LONGEST_NAME: usize = 40;

/// Returns the positions of models from the most accurate to the least; those without an answer come
/// last, equals keep their order.
pub(crate) fn ranked(found: &LadderFindings) -> Vec<usize> {
    let accuracy = |idx: &usize| found.models[*idx].overall.accuracy.map_or(-1.0, |e| e.value);
    let mut places: Vec<usize> = (0..found.models.len()).collect();
    places.sort_by(|a, b| accuracy(b).total_cmp(&accuracy(a)));
    places
}

/// Returns a model's hierarchical learning score over all cells.
pub(crate) fn hierarchy(model: &LadderModel) -> Option<&Hierarchy> {
    model.overall.hierarchy.as_ref()
}

/// Returns the answer in two sentences; intervals stand beside the numbers below it.
pub(crate) fn answer(found: &LadderFindings) -> String {
    let known: Vec<&Hierarchy> = found.models.iter().filter_map(hierarchy).collect();
    if known.is_empty() {
        return match found.n_complete_cells {
            0 => "No cell has stimuli at every level, so there is no chain to climb.".into(),
            _ => "No model has an answer to judge at every level of a cell.".into(),
        };
    }
    let scores = range(known.iter().map(|hierarchy| &hierarchy.score));
    let baselines = range(known.iter().map(|hierarchy| &hierarchy.baseline));
    let n_above = known.iter().filter(|h| h.excess.is_some_and(|excess| 0.0 < excess.low)).count();
    let verdict = match (n_above, known.len()) {
        (0, _) => "That is no clear excess over chance".to_owned(),
        (1, 1) => "That is clearly above chance".to_owned(),
        (n, all) if n == all => format!("All {} models are clearly above that", count(all)),
        (n, all) => format!("{} of {} models are clearly above that", count(n), count(all)),
    };
    let who = match found.models.as_slice() {
        [only] => shorten(only.model.as_str(), LONGEST_NAME),
        many => format!("{} models", count(many.len())),
    };
    format!(
        "Once wrong, wrong on everything harder: that is how {who} answer{} {scores} of chains from \
         {} to {}, and {baselines} would come from the accuracies alone. {verdict}.",
        if found.models.len() == 1 { "s" } else { "" },
        found.levels.first().map_or("easy", |level| level.name.as_str()),
        found.levels.last().map_or("hard", |level| level.name.as_str()),
    )
}

/// Returns a share, or from which to which: `86.1 %`, `84.2 to 90.6 %`.
fn range<'a>(estimates: impl Iterator<Item = &'a Estimate>) -> String {
    let (low, high) = estimates.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), e| {
        (low.min(e.value), high.max(e.value))
    });
    let (from, to) = (fixed(low * 100.0, 1), fixed(high * 100.0, 1));
    if from == to { format!("{to} %") } else { format!("{from} to {to} %") }
}

/// Returns what else is worth knowing at once: who has the highest weighted score, and whether score
/// and accuracy go together; empty when there is nothing.
pub(crate) fn more(found: &LadderFindings) -> String {
    let best = found
        .models
        .iter()
        .filter_map(|model| Some((model, model.overall.score?)))
        .max_by(|a, b| a.1.value.total_cmp(&b.1.value));
    let best = best.map(|(model, score)| {
        format!(
            "{} has the highest weighted score, {}.",
            shorten(model.model.as_str(), LONGEST_NAME),
            Unit::Share.value(score.value)
        )
    });
    let together = found.with_accuracy.as_ref().and_then(|r| r.over_models.or(r.over_classes));
    let together = together.map(|r| {
        format!(
            "Over {} models, hierarchical learning and accuracy correlate with r = {}.",
            count(r.n),
            Unit::Plain.estimate(&r)
        )
    });
    let in_order = found.validity.as_ref().and_then(|validity| validity.in_order);
    let people = in_order.map(|share| {
        format!(
            "People’s judgements put {} of pairs of different levels in the order that was meant.",
            Unit::Share.value(share.value)
        )
    });
    [best, together, people].into_iter().flatten().collect::<Vec<_>>().join(" ")
}

/// Returns what the findings rest on.
pub(crate) fn basis(found: &LadderFindings) -> String {
    let attributes = match found.attributes.len() {
        0 => String::new(),
        n => format!(" of {}", counted(n, "attribute", "attributes")),
    };
    format!(
        "{} of {} on {}{attributes} at {}; {} of {} have every level",
        counted(found.view.n_predictions, "prediction", "predictions"),
        counted(found.models.len(), "model", "models"),
        counted(found.n_stimuli, "stimulus", "stimuli"),
        counted(found.levels.len(), "level", "levels"),
        count(found.n_complete_cells),
        counted(found.n_cells, "cell", "cells"),
    )
}

/// Returns what a cell is, in words.
pub(crate) fn cells(found: &LadderFindings) -> &'static str {
    match found.method.cells {
        CellKind::LabelAndAttribute => "one label and one attribute",
        CellKind::Label => "one label",
    }
}

/// Returns where levels come from.
pub(crate) fn levels_from(found: &LadderFindings) -> String {
    let tag = found.method.tag.as_deref().unwrap_or_default();
    match found.method.by {
        LevelOrigin::Level => "the column `level` of the stimuli".into(),
        LevelOrigin::Column => format!("the column `{tag}` of the stimuli"),
        LevelOrigin::Difficulty => format!("bands of human difficulty by the measure “{tag}”"),
    }
}

/// Returns what the intervals are: `95 % intervals`.
pub(crate) fn intervals(found: &LadderFindings) -> String {
    format!("{} % intervals", fixed(found.method.confidence * 100.0, 0))
}

/// Returns what the bootstrap draws, in words.
pub(crate) fn drawn(found: &LadderFindings) -> &'static str {
    match found.method.cluster {
        Cluster::Label => "classes with all their stimuli",
        Cluster::LabelThenStimulus => "classes, then stimuli within them",
        Cluster::Stimulus => "stimuli",
    }
}

/// Returns the weights as they are usually written: `1 : 2 : 4`.
pub(crate) fn weights(found: &LadderFindings) -> String {
    let smallest = found.method.weights.iter().copied().filter(|weight| 0.0 < *weight);
    let smallest = smallest.fold(f64::INFINITY, f64::min);
    let text = |weight: &f64| crate::number::round_number((weight / smallest * 1e3).round() / 1e3);
    found.method.weights.iter().map(text).collect::<Vec<_>>().join(" : ")
}

/// Returns a pattern in letters that need no colour: `●●○`.
pub(crate) fn pattern(right: &[bool]) -> String {
    right.iter().map(|right| if *right { '●' } else { '○' }).collect()
}
