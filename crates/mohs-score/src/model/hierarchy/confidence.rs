//! Confidence by level: is a model less sure where stimuli are meant to be harder?
//!
//! Percentiles are those of type 7 (Hyndman and Fan 1996). Answers without a confidence, and those
//! that nothing can judge, do not count. Whether confidence can be believed is another question
//! (`calibration.rs`).

use mohs_data::Estimate;

use super::LevelConfidence;
use super::ladder::Ladder;
use super::numbers::Marked;
use crate::resample::sorted_quantile;

/// Equal steps of confidence.
const N_STEPS: usize = 10;
/// The percentiles that are kept.
const PERCENTILES: [f64; 5] = [0.05, 0.25, 0.5, 0.75, 0.95];

/// Returns the confidence of one model at one level; `None` where no answer has one. `mean` makes an
/// estimate of the number of answers.
pub(super) fn of_level(
    ladder: &Ladder<'_>,
    marked: &Marked<'_>,
    level_idx: usize,
    mean: impl Fn(usize) -> Option<Estimate>,
) -> Option<LevelConfidence> {
    let (mut right, mut wrong) = (Vec::new(), Vec::new());
    for (place, rung) in ladder.rungs.iter().enumerate() {
        let is_here = rung.level_idx == level_idx;
        if let (true, Some(confidence)) = (is_here, marked.confidence[place]) {
            let is_right = marked.is_right(place) == Some(true);
            if is_right { right.push(confidence) } else { wrong.push(confidence) }
        }
    }
    let mut all: Vec<f64> = right.iter().chain(&wrong).copied().collect();
    let mut steps = vec![(0, 0); N_STEPS];
    right.iter().for_each(|confidence| steps[step(*confidence)].0 += 1);
    wrong.iter().for_each(|confidence| steps[step(*confidence)].1 += 1);
    for values in [&mut all, &mut right, &mut wrong] {
        values.sort_unstable_by(f64::total_cmp);
    }
    let median = |sorted: &[f64]| (!sorted.is_empty()).then(|| sorted_quantile(sorted, 0.5));
    Some(LevelConfidence {
        mean: mean(all.len()).filter(|_| !all.is_empty())?,
        percentiles: PERCENTILES.map(|p| sorted_quantile(&all, p)),
        n_right: right.len(),
        n_wrong: wrong.len(),
        median_right: median(&right),
        median_wrong: median(&wrong),
        steps,
    })
}

/// Returns the step a confidence from 0 to 1 falls into; 1 belongs to the last.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "clamped to the number of steps"
)]
fn step(confidence: f64) -> usize {
    ((confidence * N_STEPS as f64).floor().max(0.0) as usize).min(N_STEPS - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_holds_its_lower_end_and_the_last_both() {
        let found = [0.0, 0.099, 0.1, 0.55, 0.999, 1.0].map(step);
        assert_eq!(found, [0, 0, 1, 5, 9, 9]);
    }
}
