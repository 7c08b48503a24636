//! Mean ε by attack and band: among the fooled alone, and with survivors counted at the horizon.
//!
//! # Formulas
//!
//! ```text
//! mean among the fooled  = Σ ε_i over the fooled / fooled
//! restricted mean        = area under the curve of survivors from 0 to the horizon (survival.rs)
//! easy minus hard        = restricted mean in the easiest band - that in the hardest
//! ```
//!
//! The first is the number of the paper. It leaves survivors out, and so an attack that fools only
//! the weakest stimuli looks strong; the second counts them with the largest ε tried, and so it is
//! a bound from below where some survive. Neither counts stimuli that the model gets wrong without
//! any attack.
//!
//! # Intervals
//!
//! The cluster bootstrap's (`redraw.rs`), widened where Student's or Greenwood's is wider. A band of
//! one stimulus has no spread, so that a difference with it would get the interval of the other band
//! alone: it is left out.
//!
//! # References
//!
//! - D. Mayo, J. Cummings, X. Lin, B. Katz and A. Barbu (2022), "Image recognition time for humans
//!   predicts adversarial vulnerability for models".
//! - P. Royston and M. K. B. Parmar (2013), "Restricted mean survival time".

use std::ops::Range;

use mohs_data::Estimate;

use super::bounded;
use super::findings::EpsilonGroup;
use super::series::Series;
use super::survival::{self, Observation};
use crate::model::redraw::{Redraw, ratio, widened};

/// What one model needs under one attack.
pub(super) struct Means {
    pub(super) overall: EpsilonGroup,
    pub(super) bands: Vec<EpsilonGroup>,
    pub(super) easy_minus_hard: Option<Estimate>,
}

/// Numbers of a group in a draw: mean among the fooled, restricted mean.
const N_NUMBERS: usize = 2;

/// Returns the means of a series; `bands` are the places of the bands.
pub(super) fn of_series(
    series: &Series<'_>,
    bands: &[Range<usize>],
    horizon: f64,
    redraw: &Redraw,
) -> Means {
    let mut groups = vec![series.observed.clone()];
    groups.extend(bands.iter().map(|places| series.within(places)));
    let numbers = |weights: &[u32]| -> Vec<f64> {
        let mut numbers: Vec<f64> = groups
            .iter()
            .flat_map(|group| {
                [drawn_mean(group, weights), survival::drawn_area(group, weights, horizon)]
            })
            .collect();
        let last = numbers.len() - 1;
        let first = N_NUMBERS + 1;
        numbers.push(if first < last { numbers[first] - numbers[last] } else { f64::NAN });
        numbers
    };
    let draws = redraw.draws(numbers);
    let group = |idx: usize, places: &Range<usize>| {
        let observed = &groups[idx];
        let n_fooled = observed.iter().filter(|o| o.is_fooled).count();
        let n_in = |of: &[usize]| of.iter().filter(|idx| places.contains(idx)).count();
        let drawn = |estimate: Option<Estimate>, column: usize| {
            let plain = estimate?;
            let draws = redraw.estimate(plain.value, &draws, column, plain.n);
            Some(draws.map_or(plain, |drawn| widened(drawn, Some(plain))))
        };
        let restricted = survival::restricted_mean(observed, horizon, redraw.confidence);
        let restricted = drawn(restricted, idx * N_NUMBERS + 1);
        // Where nothing survives both means are one number, and a number has one interval: that which
        // knows how far was tried.
        let is_whole = observed.iter().all(|o| o.is_fooled && o.epsilon <= horizon);
        let mean_fooled = match is_whole && 1 < observed.len() {
            true => restricted,
            false => drawn(mean_fooled(observed, redraw.confidence), idx * N_NUMBERS),
        };
        EpsilonGroup {
            n_fooled,
            n_survived: observed.len() - n_fooled,
            n_not_attacked: n_in(&series.not_attacked),
            n_failed: n_in(&series.failed),
            restricted_mean: restricted,
            mean_fooled,
            at_horizon: Some(survival::at_horizon(observed, horizon)),
        }
    };
    let easy_minus_hard = match groups.as_slice() {
        [_, easy, .., hard] => {
            let plain = difference(easy, hard, horizon, redraw.confidence);
            plain.map(|plain| {
                let column = groups.len() * N_NUMBERS;
                let drawn = redraw.estimate(plain.value, &draws, column, plain.n);
                drawn.map_or(plain, |drawn| widened(drawn, Some(plain)))
            })
        }
        _ => None,
    };
    Means {
        overall: group(0, &(0..usize::MAX)),
        bands: bands.iter().enumerate().map(|(idx, places)| group(idx + 1, places)).collect(),
        easy_minus_hard,
    }
}

/// Returns the mean ε among the fooled; `None` below two, which have no spread.
fn mean_fooled(observed: &[Observation], confidence: f64) -> Option<Estimate> {
    let values: Vec<f64> = observed.iter().filter(|o| o.is_fooled).map(|o| o.epsilon).collect();
    if values.len() < 2 {
        return None;
    }
    let (mean, variance) = bounded::mean_and_variance(&values)?;
    // Nothing is known of how large ε could be but the largest one seen, fooled or survived.
    let largest = observed.iter().map(|o| o.epsilon).fold(mean, f64::max);
    bounded::interval(mean, variance, values.len(), confidence, (0.0, largest))
}

fn drawn_mean(observed: &[Observation], weights: &[u32]) -> f64 {
    let (mut sum, mut n) = (0.0, 0.0);
    for one in observed.iter().filter(|o| o.is_fooled) {
        let weight = f64::from(weights[one.stimulus_idx]);
        sum += weight * one.epsilon;
        n += weight;
    }
    ratio(sum, n)
}

/// Returns the difference of two restricted means, as if stimuli were independent; `None` where a
/// side has fewer than two, whose spread nobody knows.
fn difference(
    easy: &[Observation],
    hard: &[Observation],
    horizon: f64,
    confidence: f64,
) -> Option<Estimate> {
    if easy.len().min(hard.len()) < 2 {
        return None;
    }
    let (a, var_a) = survival::area_and_variance(easy, horizon)?;
    let (b, var_b) = survival::area_and_variance(hard, horizon)?;
    let n = easy.len() + hard.len();
    bounded::interval(a - b, var_a + var_b, n, confidence, (-horizon, horizon))
}

/// Returns where restricted means of all these series end: the largest ε up to which every group,
/// also every band of each, is known. `None` when nothing was attacked.
pub(super) fn horizon(series: &[&Series<'_>], bands: &[Range<usize>]) -> Option<f64> {
    let mut known_to = f64::INFINITY;
    let mut largest: Option<f64> = None;
    for one in series {
        let last = one.observed.iter().map(|o| o.epsilon).fold(f64::NEG_INFINITY, f64::max);
        if !one.observed.is_empty() {
            largest = Some(largest.map_or(last, |other: f64| other.max(last)));
        }
        let parts = bands.iter().map(|places| one.within(places));
        for group in std::iter::once(one.observed.clone()).chain(parts) {
            known_to = known_to.min(survival::known_to(&group).unwrap_or(f64::INFINITY));
        }
    }
    largest.map(|largest| if known_to.is_finite() { known_to } else { largest })
}

#[cfg(test)]
mod tests {
    use super::super::survival::tests::observed;
    use super::*;

    #[test]
    fn the_mean_among_the_fooled_leaves_survivors_out() {
        let group = observed(&[(0.01, true), (0.03, true), (0.05, false)]);
        let found = mean_fooled(&group, 0.95).unwrap();
        assert!((found.value - 0.02).abs() < 1e-12 && found.n == 2);
        let area = survival::restricted_mean(&group, 0.05, 0.95).unwrap();
        assert!((area.value - 0.03).abs() < 1e-12 && area.n == 3);
        assert!((drawn_mean(&group, &[3, 1, 7]) - 0.015).abs() < 1e-12);
    }

    #[test]
    fn one_fooled_stimulus_has_no_interval_and_so_no_mean() {
        assert_eq!(mean_fooled(&observed(&[(0.01, true), (0.05, false)]), 0.95), None);
        assert!(drawn_mean(&observed(&[(0.05, false)]), &[1]).is_nan());
    }

    #[test]
    fn easy_minus_hard_turns_with_its_sides() {
        let (a, b) = (observed(&[(0.04, true), (0.02, true)]), observed(&[(0.01, true); 3]));
        let one = difference(&a, &b, 0.05, 0.95).unwrap();
        let other = difference(&b, &a, 0.05, 0.95).unwrap();
        assert!((one.value - 0.02).abs() < 1e-12 && (one.low + other.high).abs() < 1e-12);
        assert_eq!(difference(&a, &[], 0.05, 0.95), None);
    }

    #[test]
    fn a_band_of_one_stimulus_has_no_difference_with_another() {
        let many = observed(&[(0.04, true), (0.02, true), (0.03, true)]);
        for one in [(0.01, true), (0.05, false)] {
            let one = observed(&[one]);
            assert_eq!(difference(&many, &one, 0.05, 0.95), None);
            assert_eq!(difference(&one, &many, 0.05, 0.95), None);
        }
        assert!(difference(&many, &many[..2], 0.05, 0.95).is_some());
    }
}
