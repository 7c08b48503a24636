//! Stratified means with forecasts as a control variate, believed as far as they have earned it.
//!
//! # Formula
//!
//! ```text
//! T_h = ȳ_h + λ_r (F̄_h - f̄_h)
//! λ_r = (P + Σ (y - ȳ)(f - f̄)) / (P + Σ (f - f̄)²)      over strata of earlier rounds, in [0, 1]
//! ```
//!
//! `P` is what a forecast is believed at first, worth a few hundred answers. The first round has
//! no fit of its own; its forecasts are shares of reference models, believed as far as references
//! predict each other. Since `λ` and `f` come from earlier rounds, `T_h` is exactly unbiased.

use super::super::record::{Record, Sample};
use super::by_stratum::ByStratum;
use crate::proportion::real;

/// Sum of squared deviations of forecasts that a first belief in them is worth.
const PRIOR: f64 = 20.0;

pub(in super::super) fn by_stratum(record: &Record<'_>) -> ByStratum {
    let slopes = slopes(record);
    ByStratum::new(record, |idx| slopes[record.samples[idx].round])
}

/// Returns `λ` by round.
fn slopes(record: &Record<'_>) -> Vec<f64> {
    let mut sums = vec![(0.0, 0.0); record.n_rounds.max(1)];
    for sample in &record.samples {
        let (products, squares) = products(sample);
        sums[sample.round].0 += products;
        sums[sample.round].1 += squares;
    }
    let mut slopes = vec![record.hints.map_or(0.0, |hints| hints.slope)];
    let (mut products, mut squares) = (PRIOR, PRIOR);
    for round in 1..sums.len() {
        // The forecasts of the first round are of another kind and say nothing about later ones.
        if 1 < round {
            products += sums[round - 1].0;
            squares += sums[round - 1].1;
        }
        slopes.push((products / squares).clamp(0.0, 1.0));
    }
    slopes
}

/// Sums of products of deviations, and of squared deviations of forecasts.
fn products(sample: &Sample) -> (f64, f64) {
    if sample.forecasts.is_empty() || sample.answers.len() < 2 {
        return (0.0, 0.0);
    }
    let n = real(sample.answers.len());
    let (mut f, mut y, mut ff, mut fy) = (0.0, 0.0, 0.0, 0.0);
    for (position, is_right) in &sample.answers {
        let forecast = sample.forecasts[*position];
        let right = f64::from(u8::from(*is_right));
        f += forecast;
        y += right;
        ff += forecast * forecast;
        fy += forecast * right;
    }
    (fy - f * y / n, (ff - f * f / n).max(0.0))
}
