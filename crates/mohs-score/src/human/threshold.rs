//! The model-based threshold: how long a typical participant needs, with a credible interval.
//!
//! # Model
//!
//! The curve of `psychometric.rs` for every stimulus, an ability for every participant, and a
//! distribution of thresholds and slopes over stimuli that is learned from the data themselves
//! (empirical Bayes). Stimuli with few trials borrow from the others; the guess rate is fixed,
//! the lapse rate is fitted.
//!
//! # Method
//!
//! Rounds of expectation–maximisation on the grid, until the likelihood settles:
//!
//! 1. belief of each stimulus = weights × likelihood of its trials, given abilities;
//! 2. weights of thresholds = mean belief over stimuli, smoothed by a narrow Gaussian kernel
//!    (Silverman et al. 1990: without smoothing the maximum-likelihood distribution is a handful
//!    of spikes, and intervals come out too short), plus a little of a flat distribution;
//!    weights of slopes = mean belief;
//! 3. ability of each participant = penalised maximum given the beliefs (one Newton step a round),
//!    spread of abilities by its moment equation;
//! 4. now and then, the lapse rate with the best likelihood.
//!
//! `P(MVT <= t)` is the belief that the threshold is at most `t`.
//!
//! # When there is no answer
//!
//! A criterion that guessing meets, or that lapses put out of reach, has no threshold:
//! [`Error::NoThreshold`]. Everything else has one; stimuli without evidence get the crowd's
//! distribution back, which is wide, and says so.
//!
//! # References
//!
//! - B. W. Silverman et al. (1990), "A smoothed EM approach to indirect estimation problems".
//! - B. Efron (2014), "Two modeling strategies for empirical Bayes estimation".

use mohs_data::{Estimate, Millis};
use rayon::prelude::*;

use super::psychometric::{Curve, Grid, LogTable, Weights, belief_from_logs, logistic, normalise};
use crate::proportion::{normal_quantile, real};

/// Step of the grid of abilities, in log-odds.
const ABILITY_STEP: f64 = 0.2;
/// Largest ability, either way, in log-odds.
const ABILITY_MAX: f64 = 3.0;
/// Width of the smoothing kernel over log thresholds (28 %).
const SMOOTHING: f64 = 0.25;
/// Stimuli's worth of a flat distribution mixed into the learned weights.
const FLAT_STIMULI: f64 = 1.0;
/// Rounds made before the fit may be called settled: the lapse rate is still moving.
const N_ROUNDS_MIN: usize = 12;
/// Change of log-likelihood per trial below which the fit is called settled.
const SETTLED: f64 = 5e-6;
/// Lapse rates tried.
const LAPSES: [f64; 9] = [0.0, 0.01, 0.02, 0.03, 0.045, 0.06, 0.08, 0.11, 0.15];
/// Stimuli the lapse rate is chosen by, at most about.
const N_FOR_LAPSE: usize = 500;
/// Points a belief is summed up in when abilities are updated.
const N_POINTS: usize = 12;

/// One answer, with its stimulus, participant and exposure by position.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Answer {
    /// Position of the stimulus.
    pub stimulus_idx: usize,
    /// Position of the exposure.
    pub exposure_idx: usize,
    /// Position of the participant.
    pub participant_idx: usize,
    /// Whether it was right.
    pub is_right: bool,
}

/// Answers with the sizes of what they refer to.
#[derive(Debug, Clone)]
pub struct Answers {
    /// Exposures, ascending.
    pub exposures: Vec<Millis>,
    /// Number of stimuli.
    pub n_stimuli: usize,
    /// Number of participants.
    pub n_participants: usize,
    /// The answers, sorted: the fit must not depend on their order in a file.
    pub answers: Vec<Answer>,
}

/// What the fit may assume.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// Chance of a right guess.
    pub guess_rate: f64,
    /// Accuracy that counts as recognised.
    pub criterion: f64,
    /// Confidence of the intervals.
    pub confidence: f64,
    /// Rounds after which the fit is called unsettled.
    pub max_rounds: usize,
}

/// Why there is no fit.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Error {
    /// No exposure, or one that is not positive.
    #[error("there is no positive exposure to fit")]
    NoExposure,
    /// The criterion is not between guessing and certainty.
    #[error("a criterion of {criterion} cannot tell recognition from guessing at {guess_rate}")]
    NoThreshold {
        /// The criterion.
        criterion: f64,
        /// The guess rate.
        guess_rate: f64,
    },
}

/// The fitted model.
#[derive(Debug, Clone)]
pub struct Fit {
    /// The grid beliefs live on.
    pub grid: Grid,
    /// The shared parts of the curve, with the fitted lapse rate.
    pub curve: Curve,
    /// The learned distribution over stimuli.
    pub weights: Weights,
    /// Spread of abilities.
    pub ability_sd: f64,
    /// Each participant's ability, with its interval.
    pub abilities: Vec<Estimate>,
    /// Each stimulus' threshold and bands.
    pub thresholds: Vec<Threshold>,
    /// Rounds made.
    pub n_rounds: usize,
    /// Whether the likelihood settled.
    pub is_settled: bool,
}

/// What is believed about one stimulus.
#[derive(Debug, Clone, PartialEq)]
pub struct Threshold {
    /// Posterior median and credible interval in milliseconds; n = trials.
    pub ms: Estimate,
    /// Posterior mean of the log threshold.
    pub ln_mean: f64,
    /// Posterior variance of the log threshold.
    pub ln_variance: f64,
    /// Probability that the minimum viewing time is at most each exposure.
    pub p_at_most: Vec<f64>,
}

impl Threshold {
    /// Returns the probability of each band: first to last exposure, then never.
    pub fn p_band(&self) -> Vec<f64> {
        let mut below = 0.0;
        let mut p: Vec<f64> = self
            .p_at_most
            .iter()
            .map(|at_most| {
                let p = at_most - below;
                below = *at_most;
                p.max(0.0)
            })
            .collect();
        p.push((1.0 - below).max(0.0));
        p
    }

    /// Returns the most probable band; the easier of two that tie.
    pub fn most_probable_band(&self) -> usize {
        let p = self.p_band();
        let mut best = 0;
        for idx in 1..p.len() {
            if p[best] < p[idx] {
                best = idx;
            }
        }
        best
    }
}

/// Fits the model.
pub fn fit(answers: &Answers, options: &Options) -> Result<Fit, Error> {
    let grid = Grid::over(&answers.exposures).ok_or(Error::NoExposure)?;
    let curve_with = |lapse| Curve::new(options.guess_rate, lapse, options.criterion);
    let mut curve = curve_with(0.02).or_else(|| curve_with(0.0)).ok_or(Error::NoThreshold {
        criterion: options.criterion,
        guess_rate: options.guess_rate,
    })?;
    let data = Indexed::new(answers);
    let kernel = smoothing_kernel(&grid);
    let mut weights = grid.starting_weights();
    let mut crowd = Crowd { ability: vec![0.0; answers.n_participants], sd: 0.5 };
    let mut tables = Tables::new(&grid, &curve, &data);
    let mut ln_likelihood = f64::NEG_INFINITY;
    let (mut n_rounds, mut is_settled) = (0, false);
    while n_rounds < options.max_rounds && !is_settled {
        n_rounds += 1;
        let (beliefs, now) = expect(&grid, &weights, &tables, &data, &crowd);
        let per_trial = (now - ln_likelihood) / real(data.n_answers().max(1));
        is_settled = N_ROUNDS_MIN < n_rounds && per_trial.abs() < SETTLED;
        ln_likelihood = now;
        update_weights(&grid, &kernel, &mut weights, &beliefs);
        update_crowd(&grid, &curve, &data, &beliefs, &mut crowd);
        // The lapse rate moves little and costs nine passes, so it is tried early and rarely.
        if matches!(n_rounds, 3 | 6 | 9) {
            let best = best_lapse(&grid, &weights, &data, &crowd, curve_with);
            curve = best.unwrap_or(curve);
            tables = Tables::new(&grid, &curve, &data);
        }
    }
    let (beliefs, _) = expect(&grid, &weights, &tables, &data, &crowd);
    let thresholds = beliefs
        .par_iter()
        .enumerate()
        .map(|(idx, belief)| {
            let n_trials = data.by_stimulus[idx].len();
            threshold(&grid, belief, &answers.exposures, options.confidence, n_trials)
        })
        .collect();
    let abilities = abilities(&curve, &grid, &data, &beliefs, &crowd, options.confidence);
    Ok(Fit {
        grid,
        curve,
        weights,
        ability_sd: crowd.sd,
        abilities,
        thresholds,
        n_rounds,
        is_settled,
    })
}

/// Abilities and their spread.
struct Crowd {
    ability: Vec<f64>,
    sd: f64,
}

/// Answers by stimulus and by participant.
struct Indexed {
    ln_exposures: Vec<f64>,
    by_stimulus: Vec<Vec<Answer>>,
    by_participant: Vec<Vec<Answer>>,
}

impl Indexed {
    fn new(answers: &Answers) -> Self {
        let mut sorted = answers.answers.clone();
        sorted.sort_unstable();
        let mut by_stimulus = vec![Vec::new(); answers.n_stimuli];
        let mut by_participant = vec![Vec::new(); answers.n_participants];
        for answer in sorted {
            by_stimulus[answer.stimulus_idx].push(answer);
            by_participant[answer.participant_idx].push(answer);
        }
        let ln_exposures = answers.exposures.iter().map(|ms| ms.value().ln()).collect();
        Self { ln_exposures, by_stimulus, by_participant }
    }

    fn n_answers(&self) -> usize {
        self.by_stimulus.iter().map(Vec::len).sum()
    }
}

/// Log-likelihood tables for every exposure and step of ability.
struct Tables(Vec<Vec<LogTable>>);

fn ability_nodes() -> impl Iterator<Item = f64> {
    let n_steps = (2.0 * ABILITY_MAX / ABILITY_STEP).round();
    let mut node = 0.0;
    std::iter::from_fn(move || {
        (node <= n_steps).then(|| {
            let ability = -ABILITY_MAX + node * ABILITY_STEP;
            node += 1.0;
            ability
        })
    })
}

/// Returns the node nearest to an ability.
fn ability_idx(ability: f64) -> usize {
    let node = ((ability + ABILITY_MAX) / ABILITY_STEP).round();
    let last = (2.0 * ABILITY_MAX / ABILITY_STEP).round();
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "clamped to the nodes there are"
    )]
    let idx = node.clamp(0.0, last) as usize;
    idx
}

impl Tables {
    fn new(grid: &Grid, curve: &Curve, data: &Indexed) -> Self {
        let nodes: Vec<f64> = ability_nodes().collect();
        let tables = data
            .ln_exposures
            .par_iter()
            .map(|ln_exposure| {
                nodes
                    .iter()
                    .map(|ability| LogTable::new(grid, curve, *ln_exposure, *ability))
                    .collect()
            })
            .collect();
        Self(tables)
    }

    /// Adds the log-likelihood of answers, given each participant's step of ability.
    fn add_all(&self, logs: &mut [f32], answers: &[Answer], nodes: &[usize]) {
        for answer in answers {
            self.0[answer.exposure_idx][nodes[answer.participant_idx]]
                .add_to(logs, answer.is_right);
        }
    }
}

/// Returns the belief about every stimulus, and the log-likelihood of everything.
fn expect(
    grid: &Grid,
    weights: &Weights,
    tables: &Tables,
    data: &Indexed,
    crowd: &Crowd,
) -> (Vec<Vec<f32>>, f64) {
    let ln_weights = weights.ln_cells();
    let nodes: Vec<usize> = crowd.ability.iter().map(|ability| ability_idx(*ability)).collect();
    let (beliefs, ln_likelihoods): (Vec<_>, Vec<f64>) = data
        .by_stimulus
        .par_iter()
        .map(|answers| {
            let mut logs = ln_weights.clone();
            tables.add_all(&mut logs, answers, &nodes);
            belief_from_logs(&logs)
        })
        .unzip();
    debug_assert!(beliefs.iter().all(|belief: &Vec<f32>| belief.len() == grid.n_cells()));
    // Added in order, so that threads do not change the sum.
    (beliefs, ln_likelihoods.iter().sum())
}

/// Returns the log-likelihood of an even sample of stimuli: enough to tell lapse rates apart.
fn ln_likelihood(weights: &Weights, tables: &Tables, data: &Indexed, crowd: &Crowd) -> f64 {
    let ln_weights = weights.ln_cells();
    let nodes: Vec<usize> = crowd.ability.iter().map(|ability| ability_idx(*ability)).collect();
    let step = data.by_stimulus.len().div_ceil(N_FOR_LAPSE).max(1);
    let each: Vec<f64> = data
        .by_stimulus
        .par_iter()
        .step_by(step)
        .map(|answers| {
            let mut logs = ln_weights.clone();
            tables.add_all(&mut logs, answers, &nodes);
            belief_from_logs(&logs).1
        })
        .collect();
    each.iter().sum()
}

fn update_weights(grid: &Grid, kernel: &[Vec<f64>], weights: &mut Weights, beliefs: &[Vec<f32>]) {
    let n = grid.ln_thresholds().len();
    let mut thresholds = vec![0.0; n];
    let mut slopes = vec![0.0; grid.slopes().len()];
    for belief in beliefs {
        for (slope_idx, row) in belief.chunks_exact(n).enumerate() {
            for (total, p) in thresholds.iter_mut().zip(row) {
                *total += f64::from(*p);
                slopes[slope_idx] += f64::from(*p);
            }
        }
    }
    thresholds = smooth(kernel, &thresholds);
    for weight in &mut thresholds {
        *weight += FLAT_STIMULI / real(n);
    }
    let start = grid.starting_weights().slopes;
    for (weight, start) in slopes.iter_mut().zip(start) {
        *weight += FLAT_STIMULI * start;
    }
    normalise(&mut thresholds);
    normalise(&mut slopes);
    *weights = Weights { thresholds, slopes };
}

/// Returns, for each threshold, how its weight is spread over its neighbours; what would fall
/// off the grid stays on it.
fn smoothing_kernel(grid: &Grid) -> Vec<Vec<f64>> {
    let at = grid.ln_thresholds();
    at.iter()
        .map(|from| {
            let mut kernel: Vec<f64> = at
                .iter()
                .map(|to| {
                    let z = (to - from) / SMOOTHING;
                    (-0.5 * z * z).exp()
                })
                .collect();
            normalise(&mut kernel);
            kernel
        })
        .collect()
}

fn smooth(kernel: &[Vec<f64>], weights: &[f64]) -> Vec<f64> {
    let mut smoothed = vec![0.0; weights.len()];
    for (weight, row) in weights.iter().zip(kernel) {
        for (total, share) in smoothed.iter_mut().zip(row) {
            *total += weight * share;
        }
    }
    smoothed
}

/// Slope and curvature of a participant's expected log-likelihood at an ability.
fn ability_derivatives(
    curve: &Curve,
    data: &Indexed,
    points: &[Points],
    answers: &[Answer],
    ability: f64,
) -> (f64, f64) {
    let span = 1.0 - curve.guess_rate - curve.lapse_rate;
    let share = (curve.criterion - curve.guess_rate) / span;
    let logit = (share / (1.0 - share)).ln();
    let (mut gradient, mut information) = (0.0, 0.0);
    for answer in answers {
        let ln_exposure = data.ln_exposures[answer.exposure_idx];
        for (belief, ln_threshold, slope) in &points[answer.stimulus_idx] {
            let recognised = logistic(slope * (ln_exposure - ln_threshold) + logit + ability);
            let p = (curve.guess_rate + span * recognised).clamp(1e-6, 1.0 - 1e-6);
            let dp = span * recognised * (1.0 - recognised);
            let score = if answer.is_right { dp / p } else { -dp / (1.0 - p) };
            gradient += belief * score;
            information += belief * dp * dp / (p * (1.0 - p));
        }
    }
    (gradient, information)
}

/// A belief summed up in a few points of equal weight: share, log threshold, slope.
type Points = Vec<(f64, f64, f64)>;

/// Sums each belief up: neighbouring thresholds are joined until they carry their share.
fn points(grid: &Grid, beliefs: &[Vec<f32>]) -> Vec<Points> {
    let at = grid.ln_thresholds();
    let ln_slopes: Vec<f64> = grid.slopes().iter().map(|slope| slope.ln()).collect();
    beliefs
        .par_iter()
        .map(|belief| {
            let mut points = Vec::with_capacity(N_POINTS);
            let (mut mass, mut threshold, mut ln_slope) = (0.0, 0.0, 0.0);
            for idx in 0..at.len() {
                for (slope_idx, slope) in ln_slopes.iter().enumerate() {
                    let p = f64::from(belief[slope_idx * at.len() + idx]);
                    mass += p;
                    threshold += p * at[idx];
                    ln_slope += p * slope;
                }
                let is_last = idx + 1 == at.len();
                if 1.0 / real(N_POINTS) <= mass || (is_last && 0.0 < mass) {
                    points.push((mass, threshold / mass, (ln_slope / mass).exp()));
                    (mass, threshold, ln_slope) = (0.0, 0.0, 0.0);
                }
            }
            points
        })
        .collect()
}

fn update_crowd(
    grid: &Grid,
    curve: &Curve,
    data: &Indexed,
    beliefs: &[Vec<f32>],
    crowd: &mut Crowd,
) {
    if crowd.ability.is_empty() {
        return;
    }
    let points = points(grid, beliefs);
    let precision = 1.0 / (crowd.sd * crowd.sd);
    let updated: Vec<(f64, f64)> = data
        .by_participant
        .par_iter()
        .zip(&crowd.ability)
        .map(|(answers, start)| {
            // One step a round: the next round starts where this one ends.
            let (gradient, information) =
                ability_derivatives(curve, data, &points, answers, *start);
            let variance = 1.0 / (information + precision);
            let step = ((gradient - precision * start) * variance).clamp(-1.0, 1.0);
            ((start + step).clamp(-ABILITY_MAX, ABILITY_MAX), variance)
        })
        .collect();
    let n = real(updated.len());
    let mean = updated.iter().map(|(ability, _)| ability).sum::<f64>() / n;
    let square = updated.iter().map(|(a, v)| (a - mean).powi(2) + v).sum::<f64>() / n;
    // The typical participant is the average one; a spread of nothing would never recover.
    crowd.ability = updated.into_iter().map(|(ability, _)| ability - mean).collect();
    crowd.sd = square.sqrt().clamp(0.05, 2.0);
}

fn best_lapse(
    grid: &Grid,
    weights: &Weights,
    data: &Indexed,
    crowd: &Crowd,
    curve_with: impl Fn(f64) -> Option<Curve>,
) -> Option<Curve> {
    let mut best: Option<(f64, Curve)> = None;
    for curve in LAPSES.iter().filter_map(|lapse| curve_with(*lapse)) {
        let tables = Tables::new(grid, &curve, data);
        let ln_likelihood = ln_likelihood(weights, &tables, data, crowd);
        if best.is_none_or(|(best, _)| best < ln_likelihood) {
            best = Some((ln_likelihood, curve));
        }
    }
    best.map(|(_, curve)| curve)
}

fn abilities(
    curve: &Curve,
    grid: &Grid,
    data: &Indexed,
    beliefs: &[Vec<f32>],
    crowd: &Crowd,
    confidence: f64,
) -> Vec<Estimate> {
    let points = points(grid, beliefs);
    let z = normal_quantile(0.5 + confidence / 2.0);
    data.by_participant
        .par_iter()
        .zip(&crowd.ability)
        .map(|(answers, ability)| {
            let (_, information) = ability_derivatives(curve, data, &points, answers, *ability);
            let half = z / (information + 1.0 / (crowd.sd * crowd.sd)).sqrt();
            Estimate::new(*ability, ability - half, ability + half, confidence, answers.len())
                .expect("because abilities are clamped and their spread is positive")
        })
        .collect()
}

/// Sums a belief up into a threshold.
pub(crate) fn threshold(
    grid: &Grid,
    belief: &[f32],
    exposures: &[Millis],
    confidence: f64,
    n_trials: usize,
) -> Threshold {
    let over = grid.over_thresholds(belief);
    let tail = (1.0 - confidence) / 2.0;
    let at = |p| grid.quantile(&over, p).exp();
    let ln_mean: f64 = over.iter().zip(grid.ln_thresholds()).map(|(p, h)| p * h).sum();
    let ln_variance =
        over.iter().zip(grid.ln_thresholds()).map(|(p, h)| p * (h - ln_mean).powi(2)).sum();
    let p_at_most = exposures.iter().map(|ms| grid.p_at_most(&over, ms.value().ln())).collect();
    Threshold {
        ms: Estimate::new(at(0.5), at(tail), at(1.0 - tail), confidence, n_trials)
            .expect("because quantiles of a belief on a finite grid are finite and ordered"),
        ln_mean,
        ln_variance,
        p_at_most,
    }
}
