//! What does the model know, and what did it cost to find out? In plain sentences.

use mohs_score::adaptive::ladder::{AdaptiveTestFinding, GroupFinding};
use mohs_score::simulate::ladder::ArmOutcome;

use crate::number::{Unit, count, fixed};

/// Returns the answer to "how good is the model?", two sentences.
pub(crate) fn answer(found: &AdaptiveTestFinding) -> String {
    let score = found.overall.score.as_ref().map_or_else(String::new, |score| {
        format!(", and its score by level {}", Unit::Share.estimate(score))
    });
    format!(
        "{} answers {} rightly{score}. It was asked {} of {} stimuli, {} of a full run.",
        found.model,
        Unit::Share.estimate(&found.overall.accuracy),
        count(found.n_asked),
        count(found.n_stimuli),
        Unit::Share.value(share_asked(found))
    )
}

/// Returns the share of stimuli that was asked.
pub(crate) fn share_asked(found: &AdaptiveTestFinding) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "counts of stimuli")]
    let share = found.n_asked as f64 / found.n_stimuli.max(1) as f64;
    share
}

/// Returns what was asked and how, one sentence.
pub(crate) fn how(found: &AdaptiveTestFinding) -> String {
    let references = match found.references.len() {
        0 => "no reference models".to_owned(),
        1 => "1 reference model".to_owned(),
        n => format!("{n} reference models"),
    };
    format!(
        "Design {} in {} rounds over {} strata of {}, estimator {}, {references}.",
        found.design,
        found.rounds.len(),
        count(found.n_strata),
        found.strata_by.words(),
        found.estimator.name()
    )
}

/// Returns what the model cost and was spared, one sentence or two.
pub(crate) fn saved(found: &AdaptiveTestFinding) -> String {
    let spared = found.n_stimuli.saturating_sub(found.n_asked);
    let mut text = format!(
        "Calls of the model: {}; spared: {} ({}).",
        count(found.spent.n_calls),
        count(spared),
        Unit::Share.value(1.0 - share_asked(found))
    );
    if let Some(at) = &found.spent.endpoint {
        let tokens = |n: u64| count(usize::try_from(n).unwrap_or(usize::MAX));
        text += &format!(
            " Tokens: {} sent, {} received; cost: {}.",
            tokens(at.n_tokens_sent),
            tokens(at.n_tokens_received),
            fixed(at.cost, 4)
        );
    }
    text
}

/// Returns what a row of a table is about.
pub(crate) fn name(group: &GroupFinding) -> String {
    match (&group.attribute, &group.level) {
        (None, None) => "all".into(),
        (Some(attribute), None) => attribute.clone(),
        (None, Some(level)) => level.clone(),
        (Some(attribute), Some(level)) => format!("{attribute}, {level}"),
    }
}

/// Returns whether the interval of a row holds what a full run says, where that is known.
pub(crate) fn holds(group: &GroupFinding) -> Option<bool> {
    let full = group.full_accuracy?;
    // A group that was asked completely has an interval without a width: digits decide.
    const ROUNDING: f64 = 1e-9;
    Some(group.accuracy.low - ROUNDING <= full && full <= group.accuracy.high + ROUNDING)
}

/// Returns the name of an arm: design, references, estimator.
pub(crate) fn arm(arm: &ArmOutcome) -> String {
    let references = if arm.has_references { " with references" } else { "" };
    format!("{}{references}, {}", arm.design, arm.estimator.name())
}
