//! Intervals that hold for other people and other stimuli, when both are random and few people
//! answered about many stimuli.
//!
//! # Method
//!
//! Stimuli are redrawn with replacement within their condition (bootstrap), people are left out
//! one at a time, or in at most forty groups (jackknife). The two variances add:
//!
//! ```text
//! V = V_stimuli + V_people,    V_people = (G - 1)/G · Σ (θ without group g - mean of those)²
//! interval = θ ± t(df) √V,     df = V² / (V_people²/(G - 1) + V_stimuli²/(n_stimuli - 1))
//! ```
//!
//! `df` is Welch's and Satterthwaite's. A bootstrap over four people would be far too narrow: it
//! misses a factor √(4/3) and knows nothing of Student's t. Chance in single answers is in both
//! variances, so intervals are rather too wide than too narrow. Numbers about named people, such
//! as one pair, take percentiles of the draws over stimuli alone.
//!
//! # References
//!
//! - B. Efron and C. Stein (1981), "The jackknife estimate of variance".
//! - B. L. Welch (1947), "The generalization of Student's problem".
//! - A. B. Owen (2007), "The pigeonhole bootstrap".

use mohs_data::{Estimate, Seed};
use rayon::prelude::*;
use statrs::distribution::{ContinuousCDF, StudentsT};

use super::table::Table;
use crate::draw::Draw;
use crate::proportion::real;
use crate::resample::percentile;

const STIMULI: u64 = 40;
const GROUPS: u64 = 41;
/// People are left out in at most so many groups: more would cost time and add little.
const MAX_GROUPS: usize = 40;

/// A look at the data: how often each unit counts, and which people do.
pub(super) struct View {
    /// By unit.
    pub(super) weights: Vec<f64>,
    /// By person.
    pub(super) counts: Vec<bool>,
    /// Whether all people count.
    pub(super) is_everybody: bool,
}

/// How to vary a table.
pub(super) struct Resampling<'a> {
    pub(super) table: &'a Table,
    pub(super) table_idx: u64,
    pub(super) n_resamples: usize,
    pub(super) confidence: f64,
    pub(super) seed: Seed,
}

/// A number and how it varies.
#[derive(Debug, Clone)]
pub(super) struct Spread {
    /// The number; not finite where there is none.
    pub(super) value: f64,
    /// Its values in redrawn data.
    draws: Vec<f64>,
    /// Its variance over people and the degrees of freedom behind it, where people can be left out.
    people: Option<(f64, f64)>,
    n_units: usize,
    confidence: f64,
}

impl Resampling<'_> {
    /// Computes numbers from the data as they are, and from the data varied.
    pub(super) fn spreads(&self, numbers: impl Fn(&View) -> Vec<f64> + Sync) -> Vec<Spread> {
        let table = self.table;
        let everybody = vec![true; table.n_people];
        let values = numbers(&View {
            weights: vec![1.0; table.units.len()],
            counts: everybody.clone(),
            is_everybody: true,
        });
        let draws: Vec<Vec<f64>> = (0..self.n_resamples)
            .into_par_iter()
            .map(|draw_idx| {
                let mut draw = Draw::new(self.seed, &[STIMULI, self.table_idx, draw_idx as u64]);
                let mut weights = vec![0.0; table.units.len()];
                for units in &table.units_of {
                    for _ in units.clone() {
                        weights[units.start + draw.below(units.len())] += 1.0;
                    }
                }
                numbers(&View { weights, counts: everybody.clone(), is_everybody: true })
            })
            .collect();
        let without: Vec<Vec<f64>> = self
            .groups()
            .into_par_iter()
            .map(|group| {
                let mut counts = everybody.clone();
                for person_idx in group {
                    counts[person_idx] = false;
                }
                let weights = vec![1.0; table.units.len()];
                numbers(&View { weights, counts, is_everybody: false })
            })
            .collect();
        values
            .iter()
            .enumerate()
            .map(|(idx, value)| Spread {
                value: *value,
                draws: draws.iter().map(|draw| draw[idx]).collect(),
                people: jackknife(without.iter().map(|numbers| numbers[idx])),
                n_units: table.units.len(),
                confidence: self.confidence,
            })
            .collect()
    }

    /// Returns the people to leave out together.
    fn groups(&self) -> Vec<Vec<usize>> {
        let mut people: Vec<usize> = (0..self.table.n_people).collect();
        Draw::new(self.seed, &[GROUPS, self.table_idx]).shuffle(&mut people);
        let n_groups = people.len().min(MAX_GROUPS);
        (0..n_groups)
            .map(|idx| people.iter().skip(idx).step_by(n_groups).copied().collect())
            .collect()
    }
}

/// Returns the variance over people and its degrees of freedom; `None` when leaving people out
/// leaves nothing to compute.
fn jackknife(without: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    let without: Vec<f64> = without.collect();
    if without.len() < 2 || without.iter().any(|value| !value.is_finite()) {
        return None;
    }
    let df = real(without.len()) - 1.0;
    let mean = without.iter().sum::<f64>() / real(without.len());
    let sum = without.iter().map(|value| (value - mean).powi(2)).sum::<f64>();
    Some((sum * df / real(without.len()), df))
}

impl Spread {
    /// Returns the variance of the number and the degrees of freedom behind it; `None` when there
    /// is no number.
    pub(super) fn variance(&self) -> Option<(f64, f64)> {
        let draws: Vec<f64> = self.draws.iter().copied().filter(|draw| draw.is_finite()).collect();
        if !self.value.is_finite() || draws.len() < 2 {
            return None;
        }
        let mean = draws.iter().sum::<f64>() / real(draws.len());
        let over_stimuli =
            draws.iter().map(|draw| (draw - mean).powi(2)).sum::<f64>() / (real(draws.len()) - 1.0);
        let df_stimuli = (real(self.n_units) - 1.0).max(1.0);
        Some(added(&[(over_stimuli, df_stimuli), self.people.unwrap_or((0.0, 1.0))]))
    }

    /// Returns the number with an interval over people and stimuli, within bounds.
    pub(super) fn estimate(&self, bounds: Bounds, n: usize) -> Option<Estimate> {
        let (variance, df) = self.variance()?;
        within(self.value, variance, df, bounds, self.confidence, n)
    }

    /// Returns the number with an interval over stimuli, for these very people.
    pub(super) fn over_stimuli(&self, n: usize) -> Option<Estimate> {
        percentile(self.value, &self.draws, self.confidence, n)
    }
}

/// The least and the most a number can be.
pub(super) type Bounds = (f64, f64);

/// Adds independent variances, each with its degrees of freedom.
fn added(parts: &[(f64, f64)]) -> (f64, f64) {
    let variance: f64 = parts.iter().map(|part| part.0).sum();
    let doubt: f64 = parts.iter().map(|(variance, df)| variance * variance / df).sum();
    (variance, if 0.0 < doubt { variance * variance / doubt } else { 1.0 })
}

/// Returns the mean of numbers from independent data sets; `None` when one is missing.
pub(super) fn mean(spreads: &[&Spread], bounds: Bounds, confidence: f64) -> Option<Estimate> {
    if spreads.is_empty() {
        return None;
    }
    let n = real(spreads.len());
    let value = spreads.iter().map(|spread| spread.value).sum::<f64>() / n;
    let parts: Vec<(f64, f64)> = spreads
        .iter()
        .map(|spread| spread.variance().map(|(variance, df)| (variance / (n * n), df)))
        .collect::<Option<_>>()?;
    let (variance, df) = added(&parts);
    within(value, variance, df, bounds, confidence, spreads.len())
}

fn within(
    value: f64,
    variance: f64,
    df: f64,
    bounds: Bounds,
    confidence: f64,
    n: usize,
) -> Option<Estimate> {
    let t = StudentsT::new(0.0, 1.0, df.max(1.0)).ok()?.inverse_cdf(0.5 + confidence / 2.0);
    let half = t * variance.sqrt();
    let low = (value - half).max(bounds.0).min(value);
    let high = (value + half).min(bounds.1).max(value);
    Estimate::new(value, low, high, confidence, n)
}
