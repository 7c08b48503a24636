//! Participant and stimulus effects: a logistic model with crossed random intercepts.
//!
//! # Model
//!
//! ```text
//! logit P(right) = β_condition + u_participant + v_stimulus,    u ~ N(0, σ_u²),  v ~ N(0, σ_v²)
//! ```
//!
//! # Method
//!
//! The likelihood integrates over all `u` and `v`; Laplace's approximation replaces the integral
//! by its mode and curvature (see `mixed_logistic/laplace.rs`). β and σ maximise it together, by
//! BFGS with the exact gradient. Intervals: β from the curvature of the likelihood; σ by profile
//! likelihood, because a standard deviation near zero has no normal interval; single effects from
//! the curvature at the mode, given β and σ.
//!
//! # When there is no answer
//!
//! A condition in which everybody is right (or wrong) has no finite β: its trials are left out.
//! Fewer than two participants or stimuli have no spread.
//!
//! # References
//!
//! - N. E. Breslow and D. G. Clayton (1993), "Approximate inference in generalized linear mixed
//!   models".
//! - D. Bates et al. (2015), "Fitting linear mixed-effects models using lme4".

mod laplace;
mod minimise;

use std::cell::RefCell;

use mohs_data::Estimate;
use nalgebra::{DMatrix, DVector};

use self::laplace::{Laplace, Modes};
use self::minimise::{Minimum, minimise};
use crate::proportion::{normal_quantile, real};

/// Slope of the log-likelihood below which the fit has settled.
const TOLERANCE: f64 = 1e-6;
/// The same along a profile, where the height matters and not the place.
const PROFILE_TOLERANCE: f64 = 1e-3;

/// Data for the model; effects and conditions are numbers from 0.
#[derive(Debug, Clone)]
pub struct Answers {
    /// Number of participants.
    pub n_participants: usize,
    /// Number of stimuli.
    pub n_stimuli: usize,
    /// Number of conditions.
    pub n_conditions: usize,
    /// The answers.
    pub answers: Vec<Answer>,
}

/// One answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Answer {
    /// Who.
    pub participant_idx: usize,
    /// About what.
    pub stimulus_idx: usize,
    /// Under which condition.
    pub condition_idx: usize,
    /// Whether it was right.
    pub is_right: bool,
}

/// The fitted model.
#[derive(Debug, Clone, PartialEq)]
pub struct Fit {
    /// Log-odds by condition; `None` where everybody is right or wrong; n = trials.
    pub conditions: Vec<Option<Estimate>>,
    /// Spread of participants; n = participants.
    pub participant_sd: Estimate,
    /// Spread of stimuli; n = stimuli.
    pub stimulus_sd: Estimate,
    /// Each participant's effect; n = trials.
    pub participants: Vec<Estimate>,
    /// Each stimulus's effect; n = trials.
    pub stimuli: Vec<Estimate>,
    /// −2 × log-likelihood.
    pub deviance: f64,
    /// Whether the fit settled.
    pub is_settled: bool,
}

/// Why there is no fit.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Error {
    /// Too few of something.
    #[error(
        "spread needs two participants and two stimuli with answers both right and wrong, found \
         {n_participants} participants, {n_stimuli} stimuli and {n_answers} such answers"
    )]
    TooFew {
        /// Participants.
        n_participants: usize,
        /// Stimuli.
        n_stimuli: usize,
        /// Answers in conditions with right and wrong ones.
        n_answers: usize,
    },
    /// The likelihood has no finite maximum.
    #[error("the likelihood of the participant and stimulus effects has no finite maximum")]
    NoMaximum,
}

/// Fits the model. The order of answers does not matter.
pub fn fit(data: &Answers, confidence: f64) -> Result<Fit, Error> {
    let fixed_of = informative_conditions(data);
    let n_fixed = fixed_of.iter().flatten().count();
    let mut kept: Vec<Answer> = data
        .answers
        .iter()
        .copied()
        .filter(|answer| fixed_of[answer.condition_idx].is_some())
        .collect();
    kept.sort_unstable();
    let n_of = |idx_of: fn(&Answer) -> usize, n: usize| {
        let mut counts = vec![0; n];
        for answer in &kept {
            counts[idx_of(answer)] += 1;
        }
        counts
    };
    let by_participant = n_of(|answer| answer.participant_idx, data.n_participants);
    let by_stimulus = n_of(|answer| answer.stimulus_idx, data.n_stimuli);
    let n_seen = |counts: &[usize]| counts.iter().filter(|n| 0 < **n).count();
    let (n_participants, n_stimuli) = (n_seen(&by_participant), n_seen(&by_stimulus));
    if n_participants < 2 || n_stimuli < 2 {
        return Err(Error::TooFew { n_participants, n_stimuli, n_answers: kept.len() });
    }
    // The larger block of effects is diagonal given the smaller, and is eliminated.
    let is_swapped = data.n_stimuli < data.n_participants;
    let rows = kept.iter().map(|answer| {
        let (few, many) = (answer.participant_idx, answer.stimulus_idx);
        let (few, many) = if is_swapped { (many, few) } else { (few, many) };
        let fixed = fixed_of[answer.condition_idx].expect("because others were left out");
        laplace::Row { few, many, fixed, is_right: answer.is_right }
    });
    let (n_few, n_many) = if is_swapped {
        (data.n_stimuli, data.n_participants)
    } else {
        (data.n_participants, data.n_stimuli)
    };
    let model = Laplace::new(n_few, n_many, n_fixed, rows.collect());
    let optimum = Optimum::find(&model).ok_or(Error::NoMaximum)?;
    let z = normal_quantile(0.5 + confidence / 2.0);
    let sd = |place: usize, n: usize| {
        optimum.profile(&model, n_fixed + place, z).and_then(|(low, high)| {
            Estimate::new(optimum.minimum.x[n_fixed + place].abs(), low, high, confidence, n)
        })
    };
    let (few_sd, many_sd) = if is_swapped {
        (sd(0, n_stimuli), sd(1, n_participants))
    } else {
        (sd(0, n_participants), sd(1, n_stimuli))
    };
    let (few_sd, many_sd) = few_sd.zip(many_sd).ok_or(Error::NoMaximum)?;
    let mut modes = optimum.modes.clone();
    let at = model.at(&optimum.minimum.x, &mut modes).ok_or(Error::NoMaximum)?;
    let effects = |effects: &[f64], sds: &[f64], counts: &[usize]| -> Vec<Estimate> {
        effects
            .iter()
            .zip(sds)
            .zip(counts)
            .filter_map(|((effect, sd), n)| {
                let half = z * sd;
                Estimate::new(*effect, effect - half, effect + half, confidence, *n)
            })
            .collect()
    };
    let (few_counts, many_counts) =
        if is_swapped { (&by_stimulus, &by_participant) } else { (&by_participant, &by_stimulus) };
    let few = effects(&at.few_effects, &at.few_sds, few_counts);
    let many = effects(&at.many_effects, &at.many_sds, many_counts);
    let (participants, stimuli) = if is_swapped { (many, few) } else { (few, many) };
    let (participant_sd, stimulus_sd) =
        if is_swapped { (many_sd, few_sd) } else { (few_sd, many_sd) };
    if participants.len() != data.n_participants || stimuli.len() != data.n_stimuli {
        return Err(Error::NoMaximum);
    }
    let n_by_condition = n_of(|answer| answer.condition_idx, data.n_conditions);
    let conditions = fixed_of
        .iter()
        .zip(n_by_condition)
        .map(|(fixed, n)| {
            let fixed = (*fixed)?;
            let value = optimum.minimum.x[fixed];
            let half = z * optimum.covariance[(fixed, fixed)].max(0.0).sqrt();
            Estimate::new(value, value - half, value + half, confidence, n)
        })
        .collect();
    Ok(Fit {
        conditions,
        participant_sd,
        stimulus_sd,
        participants,
        stimuli,
        deviance: 2.0 * optimum.minimum.value,
        is_settled: optimum.minimum.is_settled,
    })
}

/// Returns the place of each condition among those with right and wrong answers.
fn informative_conditions(data: &Answers) -> Vec<Option<usize>> {
    let mut seen = vec![[false; 2]; data.n_conditions];
    for answer in &data.answers {
        seen[answer.condition_idx][usize::from(answer.is_right)] = true;
    }
    let mut n_before = 0;
    seen.iter()
        .map(|both| {
            (both[0] && both[1]).then(|| {
                n_before += 1;
                n_before - 1
            })
        })
        .collect()
}

/// The best parameters (β, then the two σ) and what is around them.
struct Optimum {
    minimum: Minimum,
    modes: Modes,
    covariance: DMatrix<f64>,
}

impl Optimum {
    fn find(model: &Laplace) -> Option<Self> {
        let modes = RefCell::new(model.start());
        let objective = |x: &[f64]| {
            let at = model.at(x, &mut modes.borrow_mut())?;
            Some((at.value, at.gradient))
        };
        let n = model.n_fixed() + 2;
        let mut start = vec![1.0; n];
        start[..model.n_fixed()].copy_from_slice(&model.marginal_log_odds());
        // Curvature of about a quarter per answer is a good first guess of the scale.
        let scale = 4.0 * real(n) / real(model.n_rows());
        let first = DMatrix::identity(n, n) * scale;
        let minimum = minimise(objective, &start, &first, TOLERANCE)?;
        let curvature = |x: &[f64]| Some(objective(x)?.1);
        let covariance = inverse_of_differences(curvature, &minimum.x)
            .unwrap_or_else(|| minimum.inverse_curvature.clone());
        // Leave the modes where the optimum is.
        objective(&minimum.x)?;
        let modes = modes.into_inner();
        Some(Self { minimum, modes, covariance })
    }

    /// Returns the profile-likelihood interval of one σ: where twice the log-likelihood has fallen
    /// by z², all other parameters at their best.
    fn profile(&self, model: &Laplace, place: usize, z: f64) -> Option<(f64, f64)> {
        let best = self.minimum.x[place].abs();
        let sign = self.minimum.x[place].signum();
        let others: Vec<usize> = (0..self.minimum.x.len()).filter(|idx| *idx != place).collect();
        let modes = RefCell::new(self.modes.clone());
        let variance = self.covariance[(place, place)].max(1e-12);
        let across: DVector<f64> = DVector::from_iterator(
            others.len(),
            others.iter().map(|idx| self.covariance[(*idx, place)] / variance),
        );
        // The inverse curvature of the others, this one held fixed.
        let inner = self.covariance.select_rows(&others).select_columns(&others)
            - &across * across.transpose() * variance;
        let is_sound = inner.iter().all(|x| x.is_finite()) && inner.clone().cholesky().is_some();
        let scale = 4.0 * real(others.len() + 1) / real(model.n_rows());
        let plain = DMatrix::identity(others.len(), others.len()) * scale;
        let inner = if is_sound { inner } else { plain };
        // Root of the fall, minus z: nearly a straight line in σ.
        let mut excess = |sigma: f64| -> Option<f64> {
            let objective = |x: &[f64]| {
                let mut full = vec![sigma; x.len() + 1];
                for (idx, value) in others.iter().zip(x) {
                    full[*idx] = *value;
                }
                let at = model.at(&full, &mut modes.borrow_mut())?;
                Some((at.value, others.iter().map(|idx| at.gradient[*idx]).collect()))
            };
            // Where the curvature at the optimum expects the others.
            let start: Vec<f64> = others
                .iter()
                .zip(across.iter())
                .map(|(idx, slope)| self.minimum.x[*idx] + slope * sign * (sigma - best))
                .collect();
            let minimum = minimise(objective, &start, &inner, PROFILE_TOLERANCE)?;
            Some((2.0 * (minimum.value - self.minimum.value)).max(0.0).sqrt() - z)
        };
        let reach = (z * variance.sqrt()).clamp(0.02, 2.0);
        let mut low = (best - 1.2 * reach).max(0.0);
        let low = loop {
            let at_low = excess(low)?;
            if 0.0 < at_low {
                break root(&mut excess, (best, -z), (low, at_low))?;
            }
            if low <= 0.0 {
                break 0.0;
            }
            low = if 0.3 * best < low { low / 2.0 } else { 0.0 };
        };
        let mut high = best + 1.2 * reach;
        for _ in 0..30 {
            let at_high = excess(high)?;
            if 0.0 < at_high {
                let high = root(&mut excess, (best, -z), (high, at_high))?;
                return Some((low.min(best), high.max(best)));
            }
            high += (high - best).max(0.1);
        }
        None
    }
}

/// Returns where a nearly straight function crosses zero, from a point where it is negative and
/// one where it is positive (false position, Illinois rule).
fn root(
    function: &mut impl FnMut(f64) -> Option<f64>,
    negative: (f64, f64),
    positive: (f64, f64),
) -> Option<f64> {
    let (mut a, mut f_a) = negative;
    let (mut b, mut f_b) = positive;
    for _ in 0..40 {
        let middle = (a * f_b - b * f_a) / (f_b - f_a);
        let f_middle = function(middle)?;
        if f_middle.abs() < 1e-3 || (b - a).abs() < 1e-7 {
            return Some(middle);
        }
        if f_middle < 0.0 {
            (a, f_a, f_b) = (middle, f_middle, f_b / 2.0);
        } else {
            (b, f_b, f_a) = (middle, f_middle, f_a / 2.0);
        }
    }
    Some(f64::midpoint(a, b))
}

/// Returns the inverse of the matrix of second derivatives, from differences of the gradient;
/// `None` when it is not positive definite.
fn inverse_of_differences(
    gradient: impl Fn(&[f64]) -> Option<Vec<f64>>,
    x: &[f64],
) -> Option<DMatrix<f64>> {
    let n = x.len();
    let mut curvature = DMatrix::zeros(n, n);
    for idx in 0..n {
        let step = 1e-4 * x[idx].abs().max(0.1);
        let at = |sign: f64| {
            let mut moved = x.to_vec();
            moved[idx] += sign * step;
            gradient(&moved)
        };
        let (up, down) = (at(1.0)?, at(-1.0)?);
        for other in 0..n {
            let slope = (up[other] - down[other]) / (2.0 * step);
            curvature[(idx, other)] += slope / 2.0;
            curvature[(other, idx)] += slope / 2.0;
        }
    }
    curvature.cholesky().map(|cholesky| cholesky.inverse())
}

#[cfg(test)]
mod tests {
    use mohs_data::Seed;
    use proptest::prelude::*;

    use super::*;
    use crate::draw::Draw;

    /// Draws answers of `n_participants` about `n_stimuli`, in two conditions.
    fn simulate(n_participants: usize, n_stimuli: usize, sds: [f64; 2], key: u64) -> Answers {
        let mut draw = Draw::new(Seed(11), &[key]);
        let mut effects =
            |n: usize, sd: f64| -> Vec<f64> { (0..n).map(|_| sd * draw.normal()).collect() };
        let participants = effects(n_participants, sds[0]);
        let stimuli = effects(n_stimuli, sds[1]);
        let mut answers = Vec::new();
        for (participant_idx, u) in participants.iter().enumerate() {
            for (stimulus_idx, v) in stimuli.iter().enumerate() {
                let condition_idx = stimulus_idx % 2;
                let log_odds = [0.8, -0.4][condition_idx] + u + v;
                let is_right = draw.chance(1.0 / (1.0 + (-log_odds).exp()));
                answers.push(Answer { participant_idx, stimulus_idx, condition_idx, is_right });
            }
        }
        Answers { n_participants, n_stimuli, n_conditions: 2, answers }
    }

    #[test]
    fn true_spreads_and_log_odds_lie_in_their_intervals() {
        let n_runs = 40;
        let mut held = [0; 4];
        for key in 0..n_runs {
            let fit = fit(&simulate(12, 150, [0.7, 1.1], key), 0.95).unwrap();
            let holds = |estimate: &Estimate, truth: f64| {
                usize::from(estimate.low <= truth && truth <= estimate.high)
            };
            held[0] += holds(&fit.participant_sd, 0.7);
            held[1] += holds(&fit.stimulus_sd, 1.1);
            held[2] += holds(&fit.conditions[0].unwrap(), 0.8);
            held[3] += holds(&fit.conditions[1].unwrap(), -0.4);
        }
        // Of 40 intervals at 95 %, fewer than 33 hold the truth once in 2,500.
        assert!(held.iter().all(|n| 33 <= *n), "{held:?}");
    }

    #[test]
    fn people_who_do_not_differ_have_an_interval_from_zero() {
        let fit = fit(&simulate(10, 80, [0.0, 0.8], 3), 0.95).unwrap();
        assert!(fit.participant_sd.low.abs() < 1e-12, "{:?}", fit.participant_sd);
        assert!(fit.participant_sd.high < 0.6, "{:?}", fit.participant_sd);
    }

    #[test]
    fn participants_and_stimuli_can_change_places() {
        let data = simulate(9, 30, [0.6, 1.0], 7);
        let swapped = Answers {
            n_participants: data.n_stimuli,
            n_stimuli: data.n_participants,
            n_conditions: 2,
            answers: data
                .answers
                .iter()
                .map(|answer| Answer {
                    participant_idx: answer.stimulus_idx,
                    stimulus_idx: answer.participant_idx,
                    ..*answer
                })
                .collect(),
        };
        let (plain, swapped) = (fit(&data, 0.95).unwrap(), fit(&swapped, 0.95).unwrap());
        assert!((plain.deviance - swapped.deviance).abs() < 1e-6);
        assert!((plain.participant_sd.value - swapped.stimulus_sd.value).abs() < 1e-4);
        assert!((plain.stimulus_sd.high - swapped.participant_sd.high).abs() < 1e-2);
    }

    #[test]
    fn a_condition_in_which_everybody_is_right_has_no_log_odds() {
        let mut data = simulate(6, 30, [0.5, 0.5], 1);
        for answer in data.answers.iter_mut().filter(|answer| answer.condition_idx == 0) {
            answer.is_right = true;
        }
        let fit = fit(&data, 0.95).unwrap();
        assert!(fit.conditions[0].is_none() && fit.conditions[1].is_some());
    }

    #[test]
    fn one_participant_has_no_spread() {
        let data = simulate(1, 30, [0.5, 0.5], 1);
        assert!(matches!(fit(&data, 0.95), Err(Error::TooFew { n_participants: 1, .. })));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(8))]
        #[test]
        fn the_order_of_answers_does_not_matter(key in 0_u64..1_000) {
            let mut data = simulate(5, 20, [0.5, 1.0], key);
            let plain = fit(&data, 0.9);
            Draw::new(Seed(key), &[]).shuffle(&mut data.answers);
            prop_assert_eq!(plain, fit(&data, 0.9));
        }
    }
}
