//! More questions after the last round, where a requested width is not reached and the budget is not
//! spent.
//!
//! # Method
//!
//! ```text
//! n_h' = max(n_h, k W_h √(S_h² + e)),   k such that Σ W_h² V_h (1/n_h' - 1/N_h) / (1/n_h - 1/N_h) is small enough
//! ```
//!
//! | symbol | meaning                                                                       |
//! |--------|-------------------------------------------------------------------------------|
//! | `S_h²` | what was forecast for the stratum before it was asked                           |
//! | `e`    | how far answers vary more than was forecast, on average over all strata        |
//! | `V_h`  | variance of the stratum's estimate as it is                                     |
//! | `k`    | one number for the whole group                                                |
//!
//! Answers decide only `k`, through the width of one interval, and never which strata get how much of
//! it. So what is asked more does not follow the answers of a stratum, as it does in the paper's
//! second round, and the bias that is left is that of one common number: far below the interval.

use super::allocation::{Want, round, smallest, spread};
use super::estimator::control_variate;
use super::interval::interval;
use super::neyman::LEAST_SPREAD;
use super::population::{Group, Kind, Ladder, StrataBy};
use super::record::Record;
use super::test::Width;
use crate::draw::Draw;
use crate::proportion::real;

/// Rounds of this kind, at most.
pub(super) const MOST_ROUNDS: usize = 12;
/// Aimed at below the requested width, because variances are estimates.
const MARGIN: f64 = 0.99;
/// A round asks at least this share more than was asked in its strata, and one question, so that rounds
/// come to an end.
const LEAST_MORE: f64 = 0.03;

/// The groups whose accuracy should be known that well.
pub(super) fn groups(ladder: &Ladder, width: &Width) -> Vec<Group> {
    let by_attribute = width.by_attribute && ladder.strata_by() != StrataBy::Level;
    let n_groups = if by_attribute { ladder.attributes().len() } else { 1 };
    let of =
        |idx| ladder.group(Kind::Accuracy, |place| !by_attribute || place.attribute_idx == idx);
    (0..n_groups).filter_map(of).collect()
}

/// Returns how many questions each stratum should have had in all; `n_drawn` is how many it has had.
/// The same again where the width is reached or nothing is left.
pub(super) fn totals(
    record: &Record<'_>,
    width: &Width,
    n_drawn: &[usize],
    n_left: usize,
    draw: &mut Draw,
) -> Vec<usize> {
    let by_stratum = control_variate::by_stratum(record);
    // The width of the interval that will be shown, whoever makes it.
    let estimator = width.estimator.of(record).expect("because it was checked with the design");
    let spreads = spreads(record);
    let mut wants: Vec<(usize, Want, f64)> = Vec::new();
    for group in groups(record.ladder, width) {
        let moments = estimator.estimate(&group);
        let found = moments.and_then(|moments| interval(&moments, width.confidence));
        let Some(found) = found.map(|found| found.high - found.low) else { continue };
        if found <= width.value {
            continue;
        }
        let members: Vec<(usize, Want)> = group
            .strata
            .iter()
            .map(|(idx, weight)| {
                let high = record.ladder.strata()[*idx].stimuli.len();
                (*idx, Want { weight: weight * spreads[*idx], low: n_drawn[*idx].min(high), high })
            })
            .collect();
        let variance = |k: f64| -> f64 {
            let of = |((idx, want), (_, weight)): (&(usize, Want), &(usize, f64))| {
                let left = |n: f64| 1.0 / n.max(1.0) - 1.0 / real(want.high);
                let before = left(real(record.samples[*idx].answers.len()));
                let share = if 0.0 < before { (left(want.at(k)) / before).min(1.0) } else { 0.0 };
                weight * weight * by_stratum.variances[*idx] * share
            };
            members.iter().zip(&group.strata).map(of).sum()
        };
        let wanted = variance(0.0) * (MARGIN * width.value / found).powi(2);
        let n_before: usize = members.iter().map(|(_, want)| want.low).sum();
        let least = (real(n_before) * (1.0 + LEAST_MORE)).max(real(n_before) + 1.0);
        let n_at = |k: f64| members.iter().map(|(_, want)| want.at(k)).sum::<f64>();
        let k = smallest(|k| variance(k) <= wanted && least <= n_at(k)).unwrap_or(1e18);
        wants.extend(members.into_iter().map(|(idx, want)| (idx, want, want.at(k))));
    }
    let mut totals = n_drawn.to_vec();
    let (bounds, exact): (Vec<Want>, Vec<f64>) =
        wants.iter().map(|(_, want, exact)| (*want, *exact)).unzip();
    let n_before: usize = bounds.iter().map(|want| want.low).sum();
    let found = round(&exact, &bounds, draw);
    let is_affordable = found.iter().sum::<usize>() <= n_before + n_left;
    let found = if is_affordable { found } else { spread(&bounds, n_before + n_left, draw) };
    for ((idx, _, _), found) in wants.iter().zip(found) {
        totals[*idx] = found;
    }
    totals
}

/// What is expected of each stratum: its forecast, and how much more answers vary.
fn spreads(record: &Record<'_>) -> Vec<f64> {
    let excess = excess(record);
    let of = |idx| (forecast(record, idx) + excess).sqrt().max(LEAST_SPREAD);
    (0..record.samples.len()).map(of).collect()
}

/// The variance within a stratum that was forecast for it before it was asked.
fn forecast(record: &Record<'_>, idx: usize) -> f64 {
    let sum: f64 = record.samples[idx].forecasts.iter().map(|p| p * (1.0 - p)).sum();
    sum / real(record.ladder.strata()[idx].stimuli.len())
}

/// Returns how much more answers varied within strata than was forecast, on average over those that
/// were asked; 0 where they varied less.
pub(super) fn excess(record: &Record<'_>) -> f64 {
    let variances = control_variate::by_stratum(record).variances;
    let (mut sum, mut n_strata) = (0.0, 0.0);
    for (idx, sample) in record.samples.iter().enumerate() {
        let n = real(sample.answers.len());
        let left = 1.0 / n.max(1.0) - 1.0 / real(record.ladder.strata()[idx].stimuli.len());
        if 0.0 < n && 0.0 < left {
            sum += variances[idx] / left - forecast(record, idx);
            n_strata += 1.0;
        }
    }
    if 0.0 < n_strata { f64::max(sum / n_strata, 0.0) } else { 0.0 }
}
