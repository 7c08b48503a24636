//! Which exposure to show a stimulus at next, and when to stop showing it.
//!
//! # Method
//!
//! The belief about a stimulus (see `human/psychometric.rs`) implies a probability for each band
//! of minimum viewing time. For each exposure we ask how much the next answer, right or wrong, is
//! expected to lower the uncertainty about the band, and take the exposure with the most:
//!
//! ```text
//! gain(t) = H(band) - P(right) H(band | right at t) - P(wrong) H(band | wrong at t)
//! ```
//!
//! Each answer comes from another participant, so abilities are averaged over the crowd. The
//! function is pure: the trials so far go in, a step comes out. A server needs no memory of it.
//!
//! # References
//!
//! - A. B. Watson and D. G. Pelli (1983), "QUEST: a Bayesian adaptive psychometric method".
//! - L. L. Kontsevich and C. W. Tyler (1999), "Bayesian adaptive estimation of psychometric slope
//!   and threshold".

use mohs_data::Millis;

use crate::human::psychometric::{Curve, Grid, LogTable, Weights, belief_from_logs};
use crate::human::threshold::{self, Threshold};

/// What is known before a stimulus is shown, worked out once per study.
#[derive(Debug, Clone)]
pub struct Prior {
    exposures: Vec<Millis>,
    grid: Grid,
    ln_weights: Vec<f32>,
    tables: Vec<LogTable>,
    /// Probability of a right answer by exposure and cell.
    p_right: Vec<Vec<f64>>,
    /// Share of each cell that belongs to each band.
    band_shares: Vec<Vec<f64>>,
}

/// When a stimulus has been shown often enough.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stopping {
    /// Trials a stimulus gets at least.
    pub min_trials: usize,
    /// Trials a stimulus gets at most.
    pub max_trials: usize,
    /// Probability of the most probable band from which no more trials are needed.
    pub certainty: f64,
}

/// What to do with a stimulus next.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Step {
    /// Show it for this long.
    Show {
        /// The exposure.
        exposure: Millis,
        /// Expected gain of information about the band, in bits.
        gain_bits: f64,
    },
    /// Its band is known well enough, or it has had its trials.
    Stop {
        /// Position of the most probable band; one past the exposures is "never".
        band_idx: usize,
        /// Its probability.
        probability: f64,
    },
}

impl Prior {
    /// Prepares the tables; `None` when there is no positive exposure.
    ///
    /// `ability_sd` is the spread of participants in log-odds. Weights come from a fit of earlier
    /// data ([`threshold::Fit::weights`]), or from [`Prior::weak`].
    pub fn new(
        exposures: &[Millis],
        curve: &Curve,
        ability_sd: f64,
        weights: &Weights,
    ) -> Option<Self> {
        let grid = Grid::over(exposures)?;
        let ln_exposures: Vec<f64> = exposures.iter().map(|ms| ms.value().ln()).collect();
        let tables: Vec<LogTable> = ln_exposures
            .iter()
            .map(|ln_exposure| LogTable::for_anyone(&grid, curve, *ln_exposure, ability_sd))
            .collect();
        let p_right = tables
            .iter()
            .map(|table| table.right.iter().map(|ln_p| f64::from(ln_p.exp())).collect())
            .collect();
        let n = grid.ln_thresholds().len();
        let share_at_most = |threshold_idx: usize, ln_t: f64| {
            let mut alone = vec![0.0; n];
            alone[threshold_idx] = 1.0;
            grid.p_at_most(&alone, ln_t)
        };
        let band_shares = (0..n)
            .map(|threshold_idx| {
                let mut below = 0.0;
                let mut shares: Vec<f64> = ln_exposures
                    .iter()
                    .map(|ln_t| {
                        let at_most = share_at_most(threshold_idx, *ln_t);
                        let share = at_most - below;
                        below = at_most;
                        share
                    })
                    .collect();
                shares.push(1.0 - below);
                shares
            })
            .collect();
        let ln_weights = weights.ln_cells();
        Some(Self { exposures: exposures.to_vec(), grid, ln_weights, tables, p_right, band_shares })
    }

    /// Prepares a prior that assumes little: any threshold, middling slopes, people who differ.
    pub fn weak(exposures: &[Millis], curve: &Curve) -> Option<Self> {
        let weights = Grid::over(exposures)?.starting_weights();
        Self::new(exposures, curve, 0.5, &weights)
    }

    /// Returns the belief after some trials: exposures by position, and whether right.
    fn belief(&self, trials: &[(usize, bool)]) -> Vec<f32> {
        let mut logs = self.ln_weights.clone();
        for (exposure_idx, is_right) in trials {
            self.tables[*exposure_idx].add_to(&mut logs, *is_right);
        }
        belief_from_logs(&logs).0
    }

    /// Returns the probability of each band, and of each band together with a right answer at
    /// each exposure.
    fn joint(&self, belief: &[f32]) -> (Vec<f64>, Vec<Vec<f64>>) {
        let n = self.grid.ln_thresholds().len();
        let over = self.grid.over_thresholds(belief);
        let by_band = |over: &[f64]| {
            let mut bands = vec![0.0; self.exposures.len() + 1];
            for (p, shares) in over.iter().zip(&self.band_shares) {
                for (band, share) in bands.iter_mut().zip(shares) {
                    *band += p * share;
                }
            }
            bands
        };
        let right = self
            .p_right
            .iter()
            .map(|p_right| {
                let mut over = vec![0.0; n];
                for (cells, rights) in belief.chunks_exact(n).zip(p_right.chunks_exact(n)) {
                    for ((total, p), right) in over.iter_mut().zip(cells).zip(rights) {
                        *total += f64::from(*p) * right;
                    }
                }
                by_band(&over)
            })
            .collect();
        (by_band(&over), right)
    }
}

/// Decides what to do with a stimulus, given its trials so far.
///
/// Trials at exposures the prior does not know are ignored. Of exposures that promise the same,
/// the shortest is taken.
pub fn plan(prior: &Prior, trials: &[(Millis, bool)], stopping: &Stopping) -> Step {
    let known = known_trials(prior, trials);
    let belief = prior.belief(&known);
    let (bands, right) = prior.joint(&belief);
    let mut band_idx = 0;
    for idx in 1..bands.len() {
        if bands[band_idx] < bands[idx] {
            band_idx = idx;
        }
    }
    let is_certain = stopping.certainty <= bands[band_idx];
    if stopping.max_trials <= trials.len() || (stopping.min_trials <= trials.len() && is_certain) {
        return Step::Stop { band_idx, probability: bands[band_idx] };
    }
    let before = entropy_bits(&bands);
    let mut best = (0, f64::NEG_INFINITY);
    for (exposure_idx, joint_right) in right.iter().enumerate() {
        let p_right: f64 = joint_right.iter().sum();
        let joint_wrong: Vec<f64> =
            bands.iter().zip(joint_right).map(|(band, right)| (band - right).max(0.0)).collect();
        let after =
            p_right * entropy_bits(joint_right) + (1.0 - p_right) * entropy_bits(&joint_wrong);
        let gain = before - after;
        if best.1 + 1e-12 < gain {
            best = (exposure_idx, gain);
        }
    }
    Step::Show { exposure: prior.exposures[best.0], gain_bits: best.1.max(0.0) }
}

/// Returns what the prior and the trials say about a stimulus.
pub fn belief(prior: &Prior, trials: &[(Millis, bool)], confidence: f64) -> Threshold {
    let belief = prior.belief(&known_trials(prior, trials));
    threshold::threshold(&prior.grid, &belief, &prior.exposures, confidence, trials.len())
}

fn known_trials(prior: &Prior, trials: &[(Millis, bool)]) -> Vec<(usize, bool)> {
    trials
        .iter()
        .filter_map(|(exposure, is_right)| {
            let idx = prior.exposures.iter().position(|known| known == exposure)?;
            Some((idx, *is_right))
        })
        .collect()
}

/// Returns the entropy of weights that need not sum to one; 0 of nothing.
fn entropy_bits(weights: &[f64]) -> f64 {
    let total: f64 = weights.iter().sum();
    if total <= 0.0 {
        return 0.0;
    }
    weights
        .iter()
        .filter(|weight| 0.0 < **weight)
        .map(|weight| {
            let p = weight / total;
            -p * p.log2()
        })
        .sum()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const STOPPING: Stopping = Stopping { min_trials: 4, max_trials: 24, certainty: 0.8 };

    fn ms(value: f64) -> Millis {
        Millis::new(value).unwrap()
    }

    fn prior() -> Prior {
        let exposures = [17.0, 50.0, 100.0, 150.0, 250.0, 10_000.0].map(ms);
        Prior::weak(&exposures, &Curve::new(0.02, 0.02, 0.5).unwrap()).unwrap()
    }

    fn repeated(exposure: f64, is_right: bool, n: usize) -> Vec<(Millis, bool)> {
        vec![(ms(exposure), is_right); n]
    }

    #[test]
    fn the_first_exposure_is_neither_the_shortest_nor_the_longest() {
        let Step::Show { exposure, gain_bits } = plan(&prior(), &[], &STOPPING) else { panic!() };
        assert!(ms(17.0) < exposure && exposure < ms(10_000.0), "{exposure}");
        assert!(0.0 < gain_bits && gain_bits <= 1.0);
    }

    #[test]
    fn right_answers_lead_to_shorter_exposures_and_wrong_ones_to_longer() {
        let next = |trials: &[(Millis, bool)]| match plan(&prior(), trials, &STOPPING) {
            Step::Show { exposure, .. } => exposure,
            Step::Stop { .. } => panic!("too early"),
        };
        assert!(next(&repeated(100.0, true, 2)) < ms(100.0));
        assert!(ms(100.0) < next(&repeated(100.0, false, 2)));
    }

    #[test]
    fn a_stimulus_always_recognised_at_once_is_in_the_first_band() {
        let Step::Stop { band_idx, probability } =
            plan(&prior(), &repeated(17.0, true, 12), &STOPPING)
        else {
            panic!()
        };
        assert_eq!(band_idx, 0);
        assert!(0.8 < probability);
    }

    #[test]
    fn a_stimulus_never_recognised_is_in_the_last_band() {
        let Step::Stop { band_idx, .. } = plan(&prior(), &repeated(10_000.0, false, 8), &STOPPING)
        else {
            panic!()
        };
        assert_eq!(band_idx, 6);
    }

    #[test]
    fn nobody_is_asked_more_often_than_the_rule_allows() {
        let mut trials = repeated(100.0, true, 12);
        trials.extend(repeated(100.0, false, 12));
        assert!(matches!(plan(&prior(), &trials, &STOPPING), Step::Stop { .. }));
    }

    proptest! {
        #[test]
        fn the_order_of_trials_does_not_matter(
            answers in prop::collection::vec((0_usize..6, any::<bool>()), 0..12),
            turn in 0_usize..12,
        ) {
            let prior = prior();
            let trials: Vec<_> =
                answers.iter().map(|(idx, is_right)| (prior.exposures[*idx], *is_right)).collect();
            let mut turned = trials.clone();
            if !turned.is_empty() {
                let n = turned.len();
                turned.rotate_left(turn % n);
            }
            let (a, b) = (belief(&prior, &trials, 0.95), belief(&prior, &turned, 0.95));
            prop_assert!((a.ln_mean - b.ln_mean).abs() < 1e-4);
            prop_assert!((a.p_band().iter().sum::<f64>() - 1.0).abs() < 1e-9);
        }

        #[test]
        fn information_is_never_expected_to_be_lost(
            answers in prop::collection::vec((0_usize..6, any::<bool>()), 0..12),
        ) {
            let prior = prior();
            let trials: Vec<_> =
                answers.iter().map(|(idx, is_right)| (prior.exposures[*idx], *is_right)).collect();
            if let Step::Show { gain_bits, .. } = plan(&prior, &trials, &STOPPING) {
                prop_assert!((0.0..=3.0).contains(&gain_bits));
            }
        }
    }
}
