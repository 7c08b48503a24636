//! All numbers of one sample of participants: computed once for the sample as it is, and once for
//! each bootstrap draw. Intervals are then percentiles, number by number.
//!
//! # Formulas
//!
//! ```text
//! average curve    y[t] = Σ w_i y_i[t] / Σ w_i                  over participants with block t
//! rmse             √(mean over t of (y[t] - z[t])²)             of two conditions
//! ```
//!
//! `w_i` is how often a participant was drawn; 1 in the sample as it is.

use super::steepness::{Scaling, steepness};
use super::table::Table;
use super::weibull::{Fitted, Model, Observed, Weibull, fit};
use crate::proportion::real;

/// Points of a drawn-out curve.
const N_BAND: usize = 41;

/// What stays the same over draws.
pub(super) struct Plan<'a> {
    /// Beep times in ms.
    pub(super) beeps: &'a [f64],
    /// Model of each group.
    pub(super) models: Vec<Model>,
    pub(super) scaling: Scaling,
    /// Fits of the sample as it is; a draw's fits are near.
    pub(super) known: Option<&'a Numbers>,
}

/// The numbers of a sample.
pub(super) struct Numbers {
    pub(super) groups: Vec<GroupNumbers>,
    /// For each pair of conditions, in order: rmse and mean difference.
    pub(super) differences: Vec<Option<Apart>>,
}

/// How far apart two average curves lie.
#[derive(Clone, Copy)]
pub(super) struct Apart {
    pub(super) rmse: f64,
    pub(super) mean_difference: f64,
    pub(super) n_blocks: usize,
}

/// The numbers of one group of trials.
pub(super) struct GroupNumbers {
    pub(super) accuracy: Vec<Option<f64>>,
    pub(super) rt: Vec<Option<f64>>,
    /// Accuracy by block, then category.
    pub(super) categories: Vec<Option<f64>>,
    pub(super) curve: FittedCurve,
}

/// A fit with what is read off it.
#[derive(Default)]
pub(super) struct FittedCurve {
    pub(super) points: Vec<Observed>,
    pub(super) fitted: Option<Fitted>,
    pub(super) steepness: Option<f64>,
    /// Times at which the curve is drawn, in ms.
    pub(super) times: Vec<f64>,
    pub(super) drawn: Vec<f64>,
}

impl FittedCurve {
    /// Fits a curve to points; `known` is the fit of the sample as it is, for a draw.
    pub(super) fn new(
        points: Vec<Observed>,
        model: &Model,
        scaling: Scaling,
        known: Option<&Self>,
    ) -> Self {
        let near = known.and_then(|known| known.fitted.as_ref());
        let Some(fitted) = fit(&points, model, near.map(|near| &near.curve)) else {
            return Self { points, ..Self::default() };
        };
        let time = |of: fn(f64, f64) -> f64, start| points.iter().map(|p| p.time).fold(start, of);
        let (first, last) = (time(f64::min, f64::INFINITY), time(f64::max, 0.0));
        let bent = match scaling {
            Scaling::Normalised => Some(fitted.curve),
            Scaling::Paper => fit(&points, &Model::PAPER, None).map(|fitted| fitted.curve),
        };
        let bend = bent.and_then(|curve| steepness(|t| curve.at(t), first, last, scaling));
        let times = known.map_or_else(
            || {
                let place = |idx: usize| first + (last - first) * real(idx) / real(N_BAND - 1);
                (0..N_BAND).map(place).collect()
            },
            |known| known.times.clone(),
        );
        let drawn = times.iter().map(|time| fitted.curve.at(*time)).collect();
        let steepness = bend.map(|bend| bend.mean);
        Self { points, fitted: Some(fitted), steepness, times, drawn }
    }

    pub(super) fn weibull(&self) -> Option<&Weibull> {
        self.fitted.as_ref().map(|fitted| &fitted.curve)
    }
}

/// Computes all numbers of a sample in which participant `i` counts `weights[i]` times.
pub(super) fn numbers(table: &Table, weights: &[f64], plan: &Plan<'_>) -> Numbers {
    let sums: Vec<Sums> = (0..table.n_groups).map(|g| Sums::new(table, weights, g)).collect();
    let means: Vec<Vec<Option<f64>>> =
        sums.iter().map(|sums| sums.blocks.iter().map(|sum| sum.mean()).collect()).collect();
    let groups = (0..table.n_groups)
        .map(|g| {
            let rt: Vec<Option<f64>> = sums[g].times.iter().map(|sum| sum.mean()).collect();
            let points = observed(&means[g], &rt, &sums[g].n_trials, plan.beeps);
            let known = plan.known.map(|known| &known.groups[g].curve);
            GroupNumbers {
                accuracy: means[g].clone(),
                rt,
                curve: FittedCurve::new(points, &plan.models[g], plan.scaling, known),
                categories: sums[g].categories.iter().map(Sum::mean).collect(),
            }
        })
        .collect();
    let differences =
        pairs(table.n_groups).into_iter().map(|(a, b)| apart(&means[a], &means[b])).collect();
    Numbers { groups, differences }
}

/// Returns the pairs of conditions, by group.
pub(super) fn pairs(n_groups: usize) -> Vec<(usize, usize)> {
    (1..n_groups).flat_map(|a| (a + 1..n_groups).map(move |b| (a, b))).collect()
}

/// Puts shares, times and numbers of trials together; a block without a time gets its beep's.
pub(super) fn observed(
    shares: &[Option<f64>],
    times: &[Option<f64>],
    n_trials: &[f64],
    beeps: &[f64],
) -> Vec<Observed> {
    shares
        .iter()
        .zip(times)
        .zip(n_trials.iter().zip(beeps))
        .filter_map(|((share, time), (n, beep))| {
            Some(Observed { time: time.unwrap_or(*beep), share: (*share)?, n: *n })
        })
        .collect()
}

/// A weighted sum, and the weights in it.
#[derive(Clone, Copy, Default)]
struct Sum {
    total: f64,
    weight: f64,
}

impl Sum {
    fn add(&mut self, value: Option<f64>, weight: f64) {
        if let Some(value) = value {
            self.total += weight * value;
            self.weight += weight;
        }
    }

    fn mean(&self) -> Option<f64> {
        // Weights are whole numbers, so nothing but rounding of totals is left below a half.
        (0.5 < self.weight).then(|| self.total / self.weight)
    }
}

/// Sums over participants, from which averages with and without one participant are made.
struct Sums {
    blocks: Vec<Sum>,
    times: Vec<Sum>,
    n_trials: Vec<f64>,
    categories: Vec<Sum>,
}

impl Sums {
    fn new(table: &Table, weights: &[f64], g: usize) -> Self {
        let empty = vec![Sum::default(); table.n_beeps];
        let mut sums = Self {
            blocks: empty.clone(),
            times: empty,
            n_trials: vec![0.0; table.n_beeps],
            categories: vec![Sum::default(); table.categories(0, g).len()],
        };
        for (p, weight) in weights.iter().enumerate().filter(|(_, weight)| 0.0 < **weight) {
            for (b, block) in table.blocks(p, g).iter().enumerate() {
                sums.blocks[b].add(block.share(), *weight);
                sums.times[b].add(block.mean_time(), *weight);
                sums.n_trials[b] += weight * block.n;
            }
            for (sum, share) in sums.categories.iter_mut().zip(table.categories(p, g)) {
                sum.add(*share, *weight);
            }
        }
        sums
    }
}

/// An average of all participants, from which one can be taken out.
pub(super) struct Average(Sums);

impl Average {
    pub(super) fn new(table: &Table, g: usize) -> Self {
        Self(Sums::new(table, &vec![1.0; table.n_participants], g))
    }

    /// Returns the average by block, without the participant whose own shares are given if asked.
    pub(super) fn blocks_without(&self, own: &[Option<f64>], leaves_out: bool) -> Vec<Option<f64>> {
        without(&self.0.blocks, own, leaves_out)
    }

    /// Returns the average by block and category, like [`Self::blocks_without`].
    pub(super) fn categories_without(
        &self,
        own: &[Option<f64>],
        leaves_out: bool,
    ) -> Vec<Option<f64>> {
        without(&self.0.categories, own, leaves_out)
    }
}

fn without(sums: &[Sum], own: &[Option<f64>], leaves_out: bool) -> Vec<Option<f64>> {
    let weight = if leaves_out { -1.0 } else { 0.0 };
    sums.iter()
        .zip(own)
        .map(|(sum, own)| {
            let mut sum = *sum;
            sum.add(*own, weight);
            sum.mean()
        })
        .collect()
}

/// Returns how far apart two curves lie over the blocks both have.
pub(super) fn apart(a: &[Option<f64>], b: &[Option<f64>]) -> Option<Apart> {
    let differences: Vec<f64> = a.iter().zip(b).filter_map(|(a, b)| Some((*a)? - (*b)?)).collect();
    let n = real(differences.len());
    (!differences.is_empty()).then(|| Apart {
        rmse: (differences.iter().map(|d| d * d).sum::<f64>() / n).sqrt(),
        mean_difference: differences.iter().sum::<f64>() / n,
        n_blocks: differences.len(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn curves_are_apart_by_the_root_of_the_mean_squared_difference() {
        let found = apart(&[Some(0.5), None, Some(0.9)], &[Some(0.2), Some(0.4), Some(0.5)]);
        let found = found.unwrap();
        // √((0.09 + 0.16) / 2) and (0.3 + 0.4) / 2.
        assert!((found.rmse - 0.353_553_390_6).abs() < 1e-9);
        assert!((found.mean_difference - 0.35).abs() < 1e-12);
        assert_eq!(found.n_blocks, 2);
        assert!(apart(&[None], &[Some(0.2)]).is_none());
    }

    #[test]
    fn three_conditions_make_three_pairs() {
        assert_eq!(pairs(4), [(1, 2), (1, 3), (2, 3)]);
        assert!(pairs(1).is_empty());
    }
}
