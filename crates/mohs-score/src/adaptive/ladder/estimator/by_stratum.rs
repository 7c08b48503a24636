//! Means of strata and their variances, and groups as weighted sums of them.
//!
//! # Formulas
//!
//! ```text
//! T_h = ȳ_h + λ (F̄_h - f̄_h)
//! V_h = (1 - n_h / N_h) s_h² / n_h,     s_h² the variance of y - λ f among those asked
//! T = Σ W_h T_h,   V = Σ W_h² V_h,   degrees of freedom V² / Σ ((W_h² V_h)² / (n_h - 1))
//! ```
//!
//! `f` are the forecasts made before the stratum was asked, `f̄` their mean over those asked and `F̄`
//! over all. `λ` is 0 for the plain mean. A stratum with a single answer borrows the variance of
//! others at its level; one without any borrows their mean, too, with the variance between them.
//! Where fewer than 30 degrees of freedom stand behind a group, the variance is at least that with
//! `s²` pooled over all strata of the level: pairs of answers that happen to be alike would promise far
//! too much, and where a single stratum has all of the variance, as near 0 and 100 %, its few answers
//! would promise nothing. A group that varies more than others do at its levels keeps its own, and the
//! few degrees of freedom behind it.

use super::super::population::Group;
use super::super::record::{Record, Sample};
use super::{Estimator, Moments};
use crate::proportion::real;

/// What is known of each stratum.
#[derive(Debug, Clone, PartialEq)]
pub(in super::super) struct ByStratum {
    pub(in super::super) means: Vec<f64>,
    pub(in super::super) variances: Vec<f64>,
    n_asked: Vec<usize>,
    n_right: Vec<usize>,
    n_stimuli: Vec<usize>,
    /// Whether anything was answered at the level of the stratum.
    is_known: Vec<bool>,
    /// Level of each stratum.
    levels: Vec<usize>,
    /// Pooled `s²` of each level, and its degrees of freedom.
    pooled: Vec<(f64, f64)>,
}

/// Degrees of freedom from which a group speaks for itself.
const ENOUGH_FREEDOM: f64 = 30.0;

/// Sums over a stratum's answers.
struct Sums {
    mean: f64,
    /// Sum of squared deviations.
    squares: f64,
    n: usize,
}

impl ByStratum {
    /// `slope` is `λ` by stratum.
    pub(super) fn new(record: &Record<'_>, slope: impl Fn(usize) -> f64) -> Self {
        let ladder = record.ladder;
        let n_levels = ladder.levels().len();
        let sums: Vec<Option<Sums>> =
            (0..record.samples.len()).map(|idx| sums(record, idx, slope(idx))).collect();
        let mut within = vec![(0.0, 0.0); n_levels];
        let mut between = vec![(0.0, 0.0, 0.0); n_levels];
        for (stratum, sums) in ladder.strata().iter().zip(&sums) {
            let Some(sums) = sums else { continue };
            let level = stratum.place.level_idx;
            within[level].0 += sums.squares;
            within[level].1 += real(sums.n - 1);
            between[level].0 += sums.mean;
            between[level].1 += sums.mean * sums.mean;
            between[level].2 += 1.0;
        }
        let pooled = |level: usize| {
            let (squares, freedom) = within[level];
            let (sum, sum_of_squares, n) = between[level];
            match (0.0 < freedom, 1.0 < n) {
                (true, _) => squares / freedom,
                (false, true) => ((sum_of_squares - sum * sum / n) / (n - 1.0)).max(0.0),
                // A coin's: nothing is more doubtful.
                (false, false) => 0.25,
            }
        };
        let mut all = Self {
            means: Vec::new(),
            variances: Vec::new(),
            n_asked: Vec::new(),
            n_right: record.samples.iter().map(n_right).collect(),
            n_stimuli: Vec::new(),
            is_known: Vec::new(),
            levels: Vec::new(),
            pooled: (0..n_levels).map(|level| (pooled(level), within[level].1)).collect(),
        };
        for (stratum, sums) in ladder.strata().iter().zip(&sums) {
            let level = stratum.place.level_idx;
            let size = real(stratum.stimuli.len());
            let (mean, variance, n) = match sums {
                Some(sums) => {
                    let n = real(sums.n);
                    let spread = if 1 < sums.n { sums.squares / (n - 1.0) } else { pooled(level) };
                    (sums.mean, (1.0 - n / size).max(0.0) * spread / n, sums.n)
                }
                None => {
                    let (sum, sum_of_squares, n) = between[level];
                    let mean = if 0.0 < n { sum / n } else { 0.0 };
                    let spread = if 1.0 < n { sum_of_squares / n - mean * mean } else { 0.25 };
                    (mean, spread.max(0.0), 0)
                }
            };
            all.means.push(mean);
            all.variances.push(variance);
            all.n_asked.push(n);
            all.n_stimuli.push(stratum.stimuli.len());
            all.is_known.push(0.0 < between[level].2);
            all.levels.push(level);
        }
        all
    }
}

fn n_right(sample: &Sample) -> usize {
    sample.answers.iter().filter(|(_, is_right)| *is_right).count()
}

fn sums(record: &Record<'_>, idx: usize, slope: f64) -> Option<Sums> {
    let sample = &record.samples[idx];
    let n = sample.answers.len();
    if n == 0 {
        return None;
    }
    let forecast = |position: usize| sample.forecasts.get(position).copied().unwrap_or(0.0);
    let rest = |(position, is_right): &(usize, bool)| {
        f64::from(u8::from(*is_right)) - slope * forecast(*position)
    };
    let mean = sample.answers.iter().map(rest).sum::<f64>() / real(n);
    let squares = sample.answers.iter().map(|answer| (rest(answer) - mean).powi(2)).sum();
    let of_all = sample.forecasts.iter().sum::<f64>() / real(sample.forecasts.len().max(1));
    Some(Sums { mean: mean + slope * of_all, squares, n })
}

impl Estimator for ByStratum {
    fn estimate(&self, group: &Group) -> Option<Moments> {
        let mut moments = Moments {
            value: 0.0,
            variance: 0.0,
            freedom: 0.0,
            n_asked: 0,
            n_stimuli: 0,
            n_right: None,
        };
        let mut n_right = 0;
        let mut spread_of_variance = 0.0;
        for (idx, weight) in &group.strata {
            if !self.is_known[*idx] {
                return None;
            }
            let variance = weight * weight * self.variances[*idx];
            moments.value += weight * self.means[*idx];
            moments.variance += variance;
            moments.n_asked += self.n_asked[*idx];
            n_right += self.n_right[*idx];
            moments.n_stimuli += self.n_stimuli[*idx];
            spread_of_variance += variance * variance / real(self.n_asked[*idx].max(2) - 1);
        }
        moments.freedom = if 0.0 < spread_of_variance {
            moments.variance * moments.variance / spread_of_variance
        } else {
            f64::INFINITY
        };
        let answers_free: usize =
            group.strata.iter().map(|(idx, _)| self.n_asked[*idx].saturating_sub(1)).sum();
        if real(answers_free).min(moments.freedom) < ENOUGH_FREEDOM {
            self.pool(group, &mut moments);
        }
        moments.n_right = Some(n_right);
        (0 < moments.n_asked).then_some(moments)
    }
}

impl ByStratum {
    /// Holds the group's variance against that with the pooled variances of levels, and its freedom;
    /// strata without an answer keep theirs.
    fn pool(&self, group: &Group, moments: &mut Moments) {
        let mut shares = vec![0.0; self.pooled.len()];
        let (mut borrowed, mut own) = (0.0, 0.0);
        for (idx, weight) in &group.strata {
            let (n, size) = (real(self.n_asked[*idx]), real(self.n_stimuli[*idx]));
            own += (weight * weight * self.variances[*idx]).powi(2) / (n.max(2.0) + 1.0);
            if self.n_asked[*idx] == 0 {
                borrowed += weight * weight * self.variances[*idx];
            } else {
                shares[self.levels[*idx]] += weight * weight * (1.0 - n / size).max(0.0) / n;
            }
        }
        let parts = shares.iter().zip(&self.pooled);
        let parts: Vec<(f64, f64)> =
            parts.map(|(share, (spread, freedom))| (share * spread, *freedom)).collect();
        let sum: f64 = parts.iter().map(|(part, _)| part).sum();
        let square: f64 = parts.iter().map(|(part, freedom)| part * part / freedom.max(1.0)).sum();
        if moments.variance <= sum + borrowed {
            moments.variance = sum + borrowed;
            moments.freedom = if 0.0 < square { sum * sum / square } else { f64::INFINITY };
        } else {
            // Of few answers each, Satterthwaite's count is too small by a factor of up to three;
            // this one is right on average (Welch 1947).
            moments.freedom = moments.freedom.max(moments.variance * moments.variance / own - 2.0);
        }
    }
}
