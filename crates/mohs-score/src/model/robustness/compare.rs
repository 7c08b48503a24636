//! Models side by side: what one gains on another, before and under attack, on easy and on hard
//! stimuli.
//!
//! # Formulas
//!
//! The first model is the one compared with. Under an attack, on stimuli that both get right:
//!
//! ```text
//! gain             = restricted mean of the second - that of the first, on the same stimuli
//! easy minus hard  = gain in the easiest band - gain in the hardest
//! ```
//!
//! Before any attack the same of shares of right answers, on stimuli that both answered. Comparing
//! on shared stimuli takes out what makes stimuli strong or weak for every model; comparing each
//! model on what it gets right would hold different stimuli against each other.
//!
//! # Intervals
//!
//! The cluster bootstrap's, both models from the same draws, widened where Student's interval of
//! the differences (Bonett and Price's for shares) is wider.

use std::ops::Range;

use mohs_data::Estimate;

use super::bounded;
use super::findings::{CleanComparison, GainComparison};
use super::series::{Series, Table};
use super::survival::{self, Observation};
use crate::model::BandAccuracy;
use crate::model::paired::Pair;
use crate::model::redraw::{Redraw, masks, ratio, weighted, widened};
use crate::proportion::{newcombe, wilson};

/// Returns a model's share of right answers before any attack: overall, and by band.
pub(super) fn clean_shares(
    clean: &[Option<bool>],
    bands: &[Range<usize>],
    redraw: &Redraw,
) -> (Option<BandAccuracy>, Vec<Option<BandAccuracy>>) {
    let marks = |keep: fn(&Option<bool>) -> bool| -> Vec<u32> {
        masks(&clean.iter().map(|answer| u8::from(keep(answer))).collect::<Vec<u8>>())
    };
    let (judged, right) = (marks(|a| a.is_some()), marks(|a| *a == Some(true)));
    let places = all_and_bands(clean.len(), bands);
    let shares = |weights: &[u32]| -> Vec<f64> {
        let share = |range: &Range<usize>| {
            let sum = |of: &[u32]| weighted(&weights[range.clone()], &of[range.clone()]);
            ratio(sum(&right), sum(&judged))
        };
        places.iter().map(share).collect()
    };
    let draws = redraw.draws(shares);
    let mut all = places.iter().enumerate().map(|(column, range)| {
        let within = &clean[range.clone()];
        let n = within.iter().flatten().count();
        let n_right = within.iter().flatten().filter(|is_right| **is_right).count();
        let wilson = wilson(n_right, n, redraw.confidence)?;
        let drawn = redraw.estimate(wilson.value, &draws, column, n);
        let clustered = drawn.map_or(wilson, |drawn| widened(drawn, Some(wilson)));
        Some(BandAccuracy { n_right, wilson, clustered })
    });
    let overall = all.next().flatten();
    (overall, all.collect())
}

/// Returns each further model against the first, before any attack.
pub(super) fn clean_pairs(
    table: &Table<'_>,
    bands: &[Range<usize>],
    redraw: &Redraw,
) -> Vec<CleanComparison> {
    let places = all_and_bands(table.stimuli.len(), bands);
    (1..table.models.len())
        .map(|second| {
            // By stimulus: whether both answered, and by how much the second is better.
            let by: Vec<Option<i8>> = table.clean[0]
                .iter()
                .zip(&table.clean[second])
                .map(|(a, b)| Some(i8::from((*b)?) - i8::from((*a)?)))
                .collect();
            let gain = |range: &Range<usize>, weights: &[u32]| {
                let (mut sum, mut n) = (0.0, 0.0);
                for (by, weight) in by[range.clone()].iter().zip(&weights[range.clone()]) {
                    let Some(by) = by else { continue };
                    sum += f64::from(*weight) * f64::from(*by);
                    n += f64::from(*weight);
                }
                ratio(sum, n)
            };
            let draws = redraw.draws(|weights| {
                let mut gains: Vec<f64> = places.iter().map(|range| gain(range, weights)).collect();
                gains.push(first_minus_last(&gains[1..]));
                gains
            });
            let plain: Vec<Option<Estimate>> = places
                .iter()
                .map(|range| {
                    let within = || by[range.clone()].iter().flatten();
                    let pair = Pair {
                        n: within().count(),
                        only_first: within().filter(|by| 0 < **by).count(),
                        only_second: within().filter(|by| **by < 0).count(),
                    };
                    pair.difference(redraw.confidence)
                })
                .collect();
            let double = match plain.as_slice() {
                [_, Some(easy), .., Some(hard)] => difference_of(easy, hard, (-2.0, 2.0)),
                _ => None,
            };
            let drawn = |plain: Option<Estimate>, column| with_draws(redraw, plain, &draws, column);
            CleanComparison {
                first: table.models[0].clone(),
                second: table.models[second].clone(),
                overall: drawn(plain[0], 0),
                bands: (1..places.len()).map(|column| drawn(plain[column], column)).collect(),
                easy_minus_hard: drawn(double, places.len()),
            }
        })
        .collect()
}

/// Returns each further model against the first, attack by attack; `series` are of one kind.
pub(super) fn gains(
    table: &Table<'_>,
    series: &[&Series<'_>],
    bands: &[Range<usize>],
    horizon: f64,
    redraw: &Redraw,
) -> Vec<GainComparison> {
    let mut found = Vec::new();
    for second in series.iter().filter(|one| 0 < one.model_idx) {
        let is_same = |one: &&&Series<'_>| {
            one.model_idx == 0 && one.name == second.name && one.settings == second.settings
        };
        let Some(first) = series.iter().find(is_same) else { continue };
        found.push(gain(table, first, second, bands, horizon, redraw));
    }
    found
}

fn gain(
    table: &Table<'_>,
    first: &Series<'_>,
    second: &Series<'_>,
    bands: &[Range<usize>],
    horizon: f64,
    redraw: &Redraw,
) -> GainComparison {
    let n_stimuli = table.stimuli.len();
    let (ours, theirs) = (by_stimulus(first, n_stimuli), by_stimulus(second, n_stimuli));
    let is_shared = |idx: usize| ours[idx].is_some() && theirs[idx].is_some();
    let places = all_and_bands(n_stimuli, bands);
    let shared = |series: &Series<'_>, range: &Range<usize>| -> Vec<Observation> {
        let mut within = series.within(range);
        within.retain(|o| is_shared(o.stimulus_idx));
        within
    };
    let groups: Vec<(Vec<Observation>, Vec<Observation>)> =
        places.iter().map(|range| (shared(first, range), shared(second, range))).collect();
    let draws = redraw.draws(|weights| {
        let area = |group: &[Observation]| survival::drawn_area(group, weights, horizon);
        let mut gains: Vec<f64> = groups.iter().map(|(a, b)| area(b) - area(a)).collect();
        gains.push(first_minus_last(&gains[1..]));
        gains
    });
    let plain: Vec<Option<Estimate>> = groups
        .iter()
        .map(|(a, b)| paired_gain(a, b, &ours, &theirs, horizon, redraw.confidence))
        .collect();
    let double = match plain.as_slice() {
        // One stimulus has no spread.
        [_, Some(easy), .., Some(hard)] if 1 < easy.n && 1 < hard.n => {
            difference_of(easy, hard, (-2.0 * horizon, 2.0 * horizon))
        }
        _ => None,
    };
    let drawn = |plain: Option<Estimate>, column| with_draws(redraw, plain, &draws, column);
    GainComparison {
        attack: second.name.clone(),
        first: table.models[first.model_idx].clone(),
        second: table.models[second.model_idx].clone(),
        n_stimuli: groups[0].0.len(),
        overall: drawn(plain[0], 0),
        bands: (1..places.len()).map(|column| drawn(plain[column], column)).collect(),
        easy_minus_hard: drawn(double, places.len()),
    }
}

/// Returns the places of all stimuli, then those of the bands.
fn all_and_bands(n_stimuli: usize, bands: &[Range<usize>]) -> Vec<Range<usize>> {
    std::iter::once(0..n_stimuli).chain(bands.iter().cloned()).collect()
}

fn by_stimulus(series: &Series<'_>, n_stimuli: usize) -> Vec<Option<Observation>> {
    let mut all = vec![None; n_stimuli];
    for one in &series.observed {
        all[one.stimulus_idx] = Some(*one);
    }
    all
}

/// Returns the gain on shared stimuli with Student's interval of the differences; where a stimulus
/// was tried less far than the horizon, the two areas count as independent, which is too wide.
fn paired_gain(
    first: &[Observation],
    second: &[Observation],
    ours: &[Option<Observation>],
    theirs: &[Option<Observation>],
    horizon: f64,
    confidence: f64,
) -> Option<Estimate> {
    let (a, var_a) = survival::area_and_variance(first, horizon)?;
    let (b, var_b) = survival::area_and_variance(second, horizon)?;
    let is_known = |o: &Observation| o.is_fooled || horizon <= o.epsilon;
    let mut variance = var_a + var_b;
    if first.iter().chain(second).all(is_known) {
        let differences: Vec<f64> = first
            .iter()
            .filter_map(|o| Some((ours[o.stimulus_idx]?, theirs[o.stimulus_idx]?)))
            .map(|(a, b)| b.epsilon.min(horizon) - a.epsilon.min(horizon))
            .collect();
        variance = bounded::mean_and_variance(&differences)?.1;
    }
    bounded::interval(b - a, variance, first.len(), confidence, (-horizon, horizon))
}

/// Returns the difference of two independent estimates, each end from the nearer ends of both.
fn difference_of(a: &Estimate, b: &Estimate, (from, to): (f64, f64)) -> Option<Estimate> {
    let wide = newcombe(a, b)?;
    // Newcombe's ends stop at ±1, which gains are not bound by.
    let below = (a.value - a.low).hypot(b.high - b.value);
    let above = (a.high - a.value).hypot(b.value - b.low);
    let (low, high) = ((wide.value - below).max(from), (wide.value + above).min(to));
    Estimate::new(wide.value, low, high, wide.confidence, wide.n)
}

fn first_minus_last(gains: &[f64]) -> f64 {
    match gains {
        [first, .., last] => first - last,
        _ => f64::NAN,
    }
}

fn with_draws(
    redraw: &Redraw,
    plain: Option<Estimate>,
    draws: &[Vec<f64>],
    column: usize,
) -> Option<Estimate> {
    let plain = plain?;
    let drawn = redraw.estimate(plain.value, draws, column, plain.n);
    Some(drawn.map_or(plain, |drawn| widened(drawn, Some(plain))))
}

#[cfg(test)]
mod tests {
    use super::super::survival::tests::observed;
    use super::*;

    fn places(observed: &[Observation]) -> Vec<Option<Observation>> {
        let mut all = vec![None; observed.len()];
        for one in observed {
            all[one.stimulus_idx] = Some(*one);
        }
        all
    }

    fn check(first: &[(f64, bool)], second: &[(f64, bool)]) -> Estimate {
        let (a, b) = (observed(first), observed(second));
        paired_gain(&a, &b, &places(&a), &places(&b), 0.05, 0.95).unwrap()
    }

    /// Gains 0.02, 0.02, 0.01 (cut off at 0.05): mean 0.05 / 3.
    #[test]
    fn the_gain_is_the_mean_of_gains_on_the_same_stimuli() {
        let found = check(
            &[(0.01, true), (0.02, true), (0.04, true)],
            &[(0.03, true), (0.04, true), (0.06, false)],
        );
        assert!((found.value - 0.05 / 3.0).abs() < 1e-12 && found.n == 3, "{found:?}");
        assert!(found.low < found.value && found.value < found.high);
    }

    #[test]
    fn models_that_never_differ_are_not_known_to_be_equal() {
        let same = [(0.01, true), (0.02, true), (0.05, false)];
        let found = check(&same, &same);
        assert!(found.value.abs() < 1e-12 && found.low < -0.01 && 0.01 < found.high, "{found:?}");
    }

    #[test]
    fn exchanging_the_models_turns_the_gain_round() {
        let (a, b) = ([(0.01, true), (0.03, true)], [(0.04, true), (0.01, true)]);
        let (one, other) = (check(&a, &b), check(&b, &a));
        assert!((one.value + other.value).abs() < 1e-12 && (one.low + other.high).abs() < 1e-12);
    }

    #[test]
    fn first_minus_last_needs_two() {
        assert!((first_minus_last(&[0.5, 9.0, 0.2]) - 0.3).abs() < 1e-12);
        assert!(first_minus_last(&[0.5]).is_nan() && first_minus_last(&[]).is_nan());
    }
}
