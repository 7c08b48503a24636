//! The weighted score: accuracy by level, where a right answer at a harder level counts more.
//!
//! # Formula
//!
//! ```text
//! score = Σ_d w_d accuracy_d / Σ_d w_d,      w_d = 1, 2, 4, … unless others are given
//! ```
//!
//! with `accuracy_d` the share of right answers at level `d`. For three levels the sum of weights
//! is 7. A level without an answer leaves no score: half of it would be another score.
//!
//! # Interval
//!
//! The draws of `redraw.rs`, widened where the interval made of Wilson's for each level is wider:
//!
//! ```text
//! score - √(Σ w_d² (accuracy_d - low_d)²)  to  score + √(Σ w_d² (high_d - accuracy_d)²)
//! ```
//!
//! # References
//!
//! - G. Y. Zou and A. Donner (2008), "Construction of confidence limits about effect measures".

use mohs_data::Estimate;

use super::LadderError;

/// Returns the weight of each level; they add up to 1.
pub(super) fn weights(n_levels: usize, given: &[f64]) -> Result<Vec<f64>, LadderError> {
    let doubled: Vec<f64> =
        std::iter::successors(Some(1.0), |weight| Some(2.0 * weight)).take(n_levels).collect();
    let chosen = if given.is_empty() { &doubled } else { given };
    let is_sound = |weight: &f64| weight.is_finite() && 0.0 <= *weight;
    let sum: f64 = chosen.iter().sum();
    if chosen.len() != n_levels || !chosen.iter().all(is_sound) || !(0.0 < sum && sum.is_finite()) {
        return Err(LadderError::BadWeights { n_levels, found: given.to_vec() });
    }
    Ok(chosen.iter().map(|weight| weight / sum).collect())
}

/// Returns the score; not a number when a level has none.
pub(super) fn score(weights: &[f64], accuracies: &[f64]) -> f64 {
    weights.iter().zip(accuracies).map(|(weight, accuracy)| weight * accuracy).sum()
}

/// Returns the score with the interval that Wilson's for each level make.
pub(super) fn of_levels(
    weights: &[f64],
    levels: &[Option<Estimate>],
    confidence: f64,
) -> Option<Estimate> {
    let levels: Vec<Estimate> = levels.iter().copied().collect::<Option<_>>()?;
    let far = |distance: fn(&Estimate) -> f64| {
        let squares = weights.iter().zip(&levels).map(|(w, level)| (w * distance(level)).powi(2));
        squares.sum::<f64>().sqrt()
    };
    let values: Vec<f64> = levels.iter().map(|level| level.value).collect();
    let value = score(weights, &values);
    let (below, above) = (far(|e| e.value - e.low), far(|e| e.high - e.value));
    let n = levels.iter().map(|level| level.n).sum();
    Estimate::new(value, (value - below).max(0.0), (value + above).min(1.0), confidence, n)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::proportion::wilson;

    /// Table 2 of the paper from its Tables 5 to 7: CLIP ResNet101, 73.08, 50.40 and 19.65 %.
    #[test]
    fn three_levels_count_one_two_and_four_sevenths() {
        let weights = weights(3, &[]).unwrap();
        let expected = [1.0 / 7.0, 2.0 / 7.0, 4.0 / 7.0];
        assert!(weights.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-15));
        let found = score(&weights, &[0.7308, 0.5040, 0.1965]);
        assert!((found - (0.7308 + 1.008 + 0.786) / 7.0).abs() < 1e-12, "{found}");
    }

    #[test]
    fn weights_double_from_level_to_level_or_are_those_given() {
        assert!((weights(5, &[]).unwrap()[4] - 16.0 / 31.0).abs() < 1e-15);
        assert_eq!(weights(2, &[1.0, 3.0]).unwrap(), [0.25, 0.75]);
        for bad in [&[1.0][..], &[1.0, -1.0], &[0.0, 0.0], &[1.0, f64::NAN], &[1.0, f64::INFINITY]]
        {
            assert!(matches!(weights(2, bad), Err(LadderError::BadWeights { .. })), "{bad:?}");
        }
    }

    #[test]
    fn a_level_without_answers_leaves_no_score() {
        let level = wilson(3, 4, 0.95);
        assert!(of_levels(&[0.5, 0.5], &[level, None], 0.95).is_none());
        assert!(of_levels(&[0.5, 0.5], &[level, level], 0.95).is_some());
    }

    proptest! {
        #[test]
        fn the_score_lies_between_the_accuracies_and_in_its_interval(
            counts in proptest::collection::vec((0_usize..9, 1_usize..9), 2..6),
        ) {
            let levels: Vec<Option<Estimate>> =
                counts.iter().map(|(k, n)| wilson((*k).min(*n), *n, 0.95)).collect();
            let weights = weights(levels.len(), &[]).unwrap();
            let found = of_levels(&weights, &levels, 0.95).unwrap();
            let values = || levels.iter().flatten().map(|level| level.value);
            let least = values().fold(1.0, f64::min);
            let most = values().fold(0.0, f64::max);
            prop_assert!(least - 1e-12 <= found.value && found.value <= most + 1e-12);
            prop_assert!(found.low <= found.value && found.value <= found.high);
        }

        #[test]
        fn equal_weights_are_the_mean(accuracies in proptest::collection::vec(0.0_f64..1.0, 2..6)) {
            let weights = weights(accuracies.len(), &vec![1.0; accuracies.len()]).unwrap();
            let mean = crate::correlation::mean(&accuracies);
            prop_assert!((score(&weights, &accuracies) - mean).abs() < 1e-12);
        }
    }
}
