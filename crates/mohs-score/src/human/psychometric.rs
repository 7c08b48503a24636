//! Recognition as a function of exposure: the curve, its grid of parameters, and beliefs on it.
//!
//! # Model
//!
//! ```text
//! P(right | t) = g + (1 - g - l) s(b (ln t - h) + k + a)        s(z) = 1 / (1 + e^-z)
//! k            = logit((c - g) / (1 - g - l))
//! ```
//!
//! | symbol | here                    | meaning                                             |
//! |--------|-------------------------|-----------------------------------------------------|
//! | `t`    | exposure                | time on screen                                      |
//! | `h`    | `ln_threshold`          | log exposure at which a typical participant reaches |
//! |        |                         | the criterion                                       |
//! | `b`    | `slope`                 | growth of log-odds per e-fold of exposure           |
//! | `a`    | `ability`               | a participant's advantage in log-odds, 0 is typical |
//! | `g`    | `guess_rate`            | chance of a right guess                             |
//! | `l`    | `lapse_rate`            | chance of a wrong answer in spite of recognition    |
//! | `c`    | `criterion`             | accuracy that counts as recognised                  |
//!
//! The constant `k` makes `h` the threshold itself, so that `MVT <= t` is the event `h <= ln t`
//! and its probability a sum over a belief.
//!
//! Beliefs live on a fixed grid over `h` and `b`. That is exact to the grid's step, has no local
//! optima, and makes a trial's effect a table look-up and an addition.

use mohs_data::Millis;

/// How far the grid of thresholds reaches beyond the exposures, in log units (a factor of 12).
const REACH: f64 = 2.5;
/// Largest step of the grid of thresholds, in log units (10 %).
const STEP: f64 = 0.1;
/// Slopes of the grid, per e-fold of exposure: from a rise over a factor of 100 to one over 1.5.
const SLOPES: [f64; 6] = [0.6, 1.0, 1.65, 2.7, 4.5, 7.5];
/// Centre and spread of the starting weight of slopes, in log units.
const LN_SLOPE_START: (f64, f64) = (0.7, 0.7);
/// Nodes and weights of Gauss–Hermite quadrature with seven points, for a standard normal
/// (Abramowitz and Stegun 1964, table 25.10, rescaled).
const HERMITE: [(f64, f64); 7] = [
    (-3.750_439_717_725_742, 0.000_548_268_855_972_217_9),
    (-2.366_759_410_734_541, 0.030_757_123_967_586_5),
    (-1.154_405_394_739_968, 0.240_123_178_605_012_7),
    (0.0, 0.457_142_857_142_857_1),
    (1.154_405_394_739_968, 0.240_123_178_605_012_7),
    (2.366_759_410_734_541, 0.030_757_123_967_586_5),
    (3.750_439_717_725_742, 0.000_548_268_855_972_217_9),
];

/// The parts of the curve that all stimuli share.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Curve {
    /// Chance of a right guess.
    pub guess_rate: f64,
    /// Chance of a wrong answer in spite of recognition.
    pub lapse_rate: f64,
    /// Accuracy that counts as recognised.
    pub criterion: f64,
}

impl Curve {
    /// Returns the curve, or `None` if the criterion cannot be reached or is met by guessing.
    pub fn new(guess_rate: f64, lapse_rate: f64, criterion: f64) -> Option<Self> {
        let sound = 0.0 <= guess_rate
            && guess_rate < criterion
            && 0.0 <= lapse_rate
            && criterion < 1.0 - lapse_rate;
        sound.then_some(Self { guess_rate, lapse_rate, criterion })
    }

    /// Returns the probability of a right answer.
    pub fn p_right(&self, ln_exposure: f64, ln_threshold: f64, slope: f64, ability: f64) -> f64 {
        let span = 1.0 - self.guess_rate - self.lapse_rate;
        let share = (self.criterion - self.guess_rate) / span;
        let logit = (share / (1.0 - share)).ln();
        self.guess_rate + span * logistic(slope * (ln_exposure - ln_threshold) + logit + ability)
    }
}

/// Returns `1 / (1 + e^-z)`.
pub(crate) fn logistic(z: f64) -> f64 {
    1.0 / (1.0 + (-z).exp())
}

/// The grid of thresholds and slopes.
///
/// Cells are numbered slope by slope: `slope_idx * n_thresholds + threshold_idx`.
#[derive(Debug, Clone, PartialEq)]
pub struct Grid {
    ln_thresholds: Vec<f64>,
    step: f64,
}

impl Grid {
    /// Spans the grid over the exposures and well beyond; `None` without a positive exposure.
    pub fn over(exposures: &[Millis]) -> Option<Self> {
        let shortest = exposures.iter().min()?.value();
        let longest = exposures.iter().max()?.value();
        if shortest <= 0.0 {
            return None;
        }
        let (low, high) = (shortest.ln() - REACH, longest.ln() + REACH);
        let n_steps = ((high - low) / STEP).ceil();
        let step = (high - low) / n_steps;
        let mut ln_thresholds = Vec::new();
        let mut at = low + step / 2.0;
        while at < high {
            ln_thresholds.push(at);
            at += step;
        }
        Some(Self { ln_thresholds, step })
    }

    /// Returns the thresholds, ascending, in log milliseconds; each stands for a step around it.
    pub fn ln_thresholds(&self) -> &[f64] {
        &self.ln_thresholds
    }

    /// Returns the slopes, ascending.
    pub fn slopes(&self) -> &'static [f64] {
        &SLOPES
    }

    /// Returns the number of cells.
    pub fn n_cells(&self) -> usize {
        self.ln_thresholds.len() * SLOPES.len()
    }

    /// Returns the threshold and slope of a cell.
    pub(crate) fn cell(&self, idx: usize) -> (f64, f64) {
        let n = self.ln_thresholds.len();
        (self.ln_thresholds[idx % n], SLOPES[idx / n])
    }

    /// Returns starting weights: thresholds flat, slopes around two.
    pub fn starting_weights(&self) -> Weights {
        let n = self.ln_thresholds.len();
        let mut slopes: Vec<f64> = SLOPES
            .iter()
            .map(|slope| {
                let z = (slope.ln() - LN_SLOPE_START.0) / LN_SLOPE_START.1;
                (-0.5 * z * z).exp()
            })
            .collect();
        normalise(&mut slopes);
        Weights { thresholds: vec![1.0 / crate::proportion::real(n); n], slopes }
    }

    /// Adds a belief over the cells up over the slopes.
    pub(crate) fn over_thresholds(&self, belief: &[f32]) -> Vec<f64> {
        let n = self.ln_thresholds.len();
        let mut sum = vec![0.0; n];
        for row in belief.chunks_exact(n) {
            for (total, p) in sum.iter_mut().zip(row) {
                *total += f64::from(*p);
            }
        }
        sum
    }

    /// Returns the belief that the threshold is at most `ln_t`; steps are shared out linearly.
    pub(crate) fn p_at_most(&self, over_thresholds: &[f64], ln_t: f64) -> f64 {
        let mut below = 0.0;
        for (centre, p) in self.ln_thresholds.iter().zip(over_thresholds) {
            let share = ((ln_t - centre) / self.step + 0.5).clamp(0.0, 1.0);
            below += p * share;
        }
        below.clamp(0.0, 1.0)
    }

    /// Returns the log threshold below which `p` of the belief lies.
    pub(crate) fn quantile(&self, over_thresholds: &[f64], p: f64) -> f64 {
        let mut below = 0.0;
        for (centre, weight) in self.ln_thresholds.iter().zip(over_thresholds) {
            if p <= below + weight && 0.0 < *weight {
                return centre + self.step * ((p - below) / weight - 0.5);
            }
            below += weight;
        }
        let last = self.ln_thresholds[self.ln_thresholds.len() - 1];
        last + self.step / 2.0
    }
}

/// What is believed about stimuli before their trials are seen.
#[derive(Debug, Clone, PartialEq)]
pub struct Weights {
    /// Weight of each threshold of the grid; sums to one.
    pub thresholds: Vec<f64>,
    /// Weight of each slope of the grid; sums to one.
    pub slopes: Vec<f64>,
}

impl Weights {
    /// Returns the log weight of every cell.
    pub(crate) fn ln_cells(&self) -> Vec<f32> {
        // Far below any weight that matters, far above where logs break.
        #[expect(clippy::cast_possible_truncation, reason = "single precision is enough here")]
        let ln = |weight: f64| weight.max(1e-30).ln() as f32;
        let mut cells = Vec::with_capacity(self.slopes.len() * self.thresholds.len());
        for slope in &self.slopes {
            cells.extend(self.thresholds.iter().map(|threshold| ln(*slope) + ln(*threshold)));
        }
        cells
    }
}

/// Makes numbers sum to one; leaves them alone if they sum to nothing.
pub(crate) fn normalise(weights: &mut [f64]) {
    let total: f64 = weights.iter().sum();
    if 0.0 < total {
        for weight in weights {
            *weight /= total;
        }
    }
}

/// Turns log weights into a belief that sums to one; also returns the log of what they summed to.
///
/// Single precision, as in [`LogTable`]: a fit holds a belief for every stimulus.
pub(crate) fn belief_from_logs(logs: &[f32]) -> (Vec<f32>, f64) {
    let largest = logs.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let mut belief: Vec<f32> = logs.iter().map(|log| (log - largest).exp()).collect();
    let total: f64 = belief.iter().map(|p| f64::from(*p)).sum();
    #[expect(clippy::cast_possible_truncation, reason = "single precision is enough here")]
    let scale = (1.0 / total) as f32;
    for p in &mut belief {
        *p *= scale;
    }
    (belief, f64::from(largest) + total.ln())
}

/// Log-likelihoods of a right and a wrong answer in every cell, for one exposure and ability.
///
/// Single precision: the tables are read once per trial and round, half the bytes is half the
/// time, and an error of 1e-7 per trial is nothing beside the grid's step.
#[derive(Debug, Clone)]
pub(crate) struct LogTable {
    pub(crate) right: Vec<f32>,
    pub(crate) wrong: Vec<f32>,
}

impl LogTable {
    /// Adds the log-likelihood of one answer to every cell.
    pub(crate) fn add_to(&self, logs: &mut [f32], is_right: bool) {
        let row = if is_right { &self.right } else { &self.wrong };
        for (log, ln_p) in logs.iter_mut().zip(row) {
            *log += ln_p;
        }
    }
}

impl LogTable {
    pub(crate) fn new(grid: &Grid, curve: &Curve, ln_exposure: f64, ability: f64) -> Self {
        let p = (0..grid.n_cells()).map(|idx| {
            let (ln_threshold, slope) = grid.cell(idx);
            curve.p_right(ln_exposure, ln_threshold, slope, ability)
        });
        Self::from_probabilities(p)
    }

    /// The same for a participant of unknown ability drawn from the crowd.
    pub(crate) fn for_anyone(
        grid: &Grid,
        curve: &Curve,
        ln_exposure: f64,
        ability_sd: f64,
    ) -> Self {
        let p = (0..grid.n_cells()).map(|idx| {
            let (ln_threshold, slope) = grid.cell(idx);
            HERMITE
                .iter()
                .map(|(node, weight)| {
                    weight * curve.p_right(ln_exposure, ln_threshold, slope, node * ability_sd)
                })
                .sum()
        });
        Self::from_probabilities(p)
    }

    fn from_probabilities(p: impl Iterator<Item = f64>) -> Self {
        // No answer is ruled out for certain, or one slip of the hand could break a fit.
        #[expect(clippy::cast_possible_truncation, reason = "single precision is enough here")]
        let (right, wrong) = p
            .map(|p: f64| {
                let p = p.clamp(1e-6, 1.0 - 1e-6);
                (p.ln() as f32, (1.0 - p).ln() as f32)
            })
            .unzip();
        Self { right, wrong }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn exposures() -> Vec<Millis> {
        [17.0, 50.0, 100.0, 150.0, 250.0, 10_000.0].map(|ms| Millis::new(ms).unwrap()).to_vec()
    }

    #[test]
    fn at_the_threshold_a_typical_participant_is_at_the_criterion() {
        let curve = Curve::new(0.02, 0.03, 0.5).unwrap();
        for slope in SLOPES {
            let p = curve.p_right(4.0, 4.0, slope, 0.0);
            assert!((p - 0.5).abs() < 1e-12, "{p}");
        }
    }

    #[test]
    fn a_criterion_that_guessing_meets_has_no_curve() {
        assert!(Curve::new(0.5, 0.0, 0.5).is_none());
        assert!(Curve::new(0.1, 0.6, 0.5).is_none());
    }

    #[test]
    fn quadrature_integrates_moments_of_a_normal() {
        let moment = |power| HERMITE.iter().map(|(x, w)| w * f64::powi(*x, power)).sum::<f64>();
        for (power, value) in [(0, 1.0), (1, 0.0), (2, 1.0), (4, 3.0), (6, 15.0)] {
            assert!((moment(power) - value).abs() < 1e-9, "{power}: {}", moment(power));
        }
    }

    #[test]
    fn quantile_and_probability_undo_each_other() {
        let grid = Grid::over(&exposures()).unwrap();
        let mut belief: Vec<f64> =
            grid.ln_thresholds().iter().map(|h| (-(h - 4.0).powi(2)).exp()).collect();
        normalise(&mut belief);
        for p in [0.025, 0.3, 0.5, 0.9, 0.975] {
            let back = grid.p_at_most(&belief, grid.quantile(&belief, p));
            assert!((back - p).abs() < 1e-9, "{p} {back}");
        }
    }

    proptest! {
        #[test]
        fn longer_exposure_is_never_worse(
            t in 2.0_f64..9.0, more in 0.0_f64..3.0, h in 0.0_f64..10.0, b in 0.5_f64..8.0,
        ) {
            let curve = Curve::new(0.02, 0.05, 0.5).unwrap();
            let p = curve.p_right(t, h, b, 0.0);
            prop_assert!(p <= curve.p_right(t + more, h, b, 0.0));
            prop_assert!((0.02..=0.95).contains(&p));
        }
    }
}
