//! The marginal likelihood of the item response model, its gradient and the information that
//! complete data would have.
//!
//! # Formula
//!
//! ```text
//! log L  = Σ_p w_p log ∫ Π_i P_i(θ)^y_pi (1 - P_i(θ))^(1 - y_pi) φ(θ) dθ
//! ∂/∂d_i = Σ_p w_p E_p[y_pi - P_i(θ)]            (Fisher's identity)
//! ∂/∂a_i = Σ_p w_p E_p[θ (y_pi - P_i(θ))]
//! ```
//!
//! The log-odds are linear in the ability, so the right answers of a participant enter by the sums
//! of their `a_i` and `d_i` only, and wrong ones by `Σ log(1 - P_i)`, which everybody who answered
//! everything shares: the work grows with answers plus nodes, not with their product. Sums over
//! parallel parts are taken in a fixed order.

use rayon::prelude::*;

use super::lattice::Lattice;
use super::responses::Responses;
use crate::proportion::real;

/// Stimuli per parallel part.
const CHUNK: usize = 128;
/// Nodes after which a curve made by multiplication is made afresh.
const REFRESH: usize = 32;
/// A product of odds is turned into a logarithm before it outgrows a double.
const LARGE: f64 = 1e150;

/// The parameters of all stimuli: log-odds of a right answer are `a θ + d`.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Items {
    /// `a`: how steeply the log-odds grow with ability.
    pub(super) discrimination: Vec<f64>,
    /// `d`: the log-odds of a participant of ability 0.
    pub(super) intercept: Vec<f64>,
}

/// The likelihood at some parameters, and what was computed on the way.
#[derive(Debug, Clone)]
pub(super) struct Evaluated {
    pub(super) log_likelihood: f64,
    /// Each participant's posterior, on their window.
    pub(super) posteriors: Vec<Posterior>,
    /// Expected number of people at each node.
    pub(super) mass: Vec<f64>,
    /// Whether the lattice suits every posterior.
    pub(super) is_resolved: bool,
}

/// What a participant's answers say about their ability.
#[derive(Debug, Clone)]
pub(super) struct Posterior {
    /// Probability of each node of the window.
    pub(super) weights: Vec<f64>,
    /// Log of the marginal likelihood of the answers.
    log_likelihood: f64,
    /// Mean of the ability.
    pub(super) mean: f64,
    /// Standard deviation of the ability.
    pub(super) sd: f64,
}

/// One stimulus' share of the gradient, and of the information complete data would have.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Block {
    pub(super) slope_a: f64,
    pub(super) slope_d: f64,
    pub(super) info_aa: f64,
    pub(super) info_ad: f64,
    pub(super) info_dd: f64,
}

/// Evaluates the likelihood.
pub(super) fn evaluate(responses: &Responses, items: &Items, lattice: &Lattice) -> Evaluated {
    let n_nodes = lattice.nodes.len();
    let needs_logs = !responses.by_participant.all_complete();
    let mut log_wrong = vec![0.0; if needs_logs { responses.n_stimuli() * n_nodes } else { 0 }];
    let parts: Vec<Vec<f64>> = if needs_logs {
        log_wrong
            .par_chunks_mut(CHUNK * n_nodes)
            .enumerate()
            .map(|(chunk, logs)| sum_of_logs(items, lattice, chunk * CHUNK, Some(logs)))
            .collect()
    } else {
        (0..responses.n_stimuli().div_ceil(CHUNK))
            .into_par_iter()
            .map(|chunk| sum_of_logs(items, lattice, chunk * CHUNK, None))
            .collect()
    };
    let mut all_wrong = vec![0.0; n_nodes];
    for part in &parts {
        all_wrong.iter_mut().zip(part).for_each(|(sum, part)| *sum += part);
    }
    let posteriors: Vec<Posterior> = (0..responses.participants.len())
        .into_par_iter()
        .map(|participant_idx| {
            posterior(responses, items, lattice, participant_idx, &all_wrong, &log_wrong)
        })
        .collect();
    let mut mass = vec![0.0; n_nodes];
    let mut log_likelihood = 0.0;
    let mut is_resolved = true;
    for (participant_idx, posterior) in posteriors.iter().enumerate() {
        let weight = responses.weight(participant_idx);
        log_likelihood += weight * posterior.log_likelihood;
        let window = lattice.windows[participant_idx].clone();
        for (sum, share) in mass[window].iter_mut().zip(&posterior.weights) {
            *sum += weight * share;
        }
        let first = posterior.weights.first().copied().unwrap_or(1.0);
        let last = posterior.weights.last().copied().unwrap_or(1.0);
        is_resolved &= lattice.suits(posterior.sd, first.max(last));
    }
    Evaluated { log_likelihood, posteriors, mass, is_resolved }
}

/// Fills a stimulus' chance of a right answer at some nodes without a gap.
pub(super) fn fill_run(
    items: &Items,
    step: f64,
    stimulus_idx: usize,
    nodes: &[f64],
    p: &mut [f64],
) {
    let (a, d) = (items.discrimination[stimulus_idx], items.intercept[stimulus_idx]);
    let growth = (a * step).exp();
    let mut odds = 0.0;
    for (at, (node, p)) in nodes.iter().zip(p).enumerate() {
        odds = if at % REFRESH == 0 { (a * node + d).exp() } else { odds * growth };
        *p = odds / (1.0 + odds);
    }
}

/// Returns a stimulus' chance of a right answer at each node.
pub(super) fn fill_curve(items: &Items, lattice: &Lattice, stimulus_idx: usize, curve: &mut [f64]) {
    for run in &lattice.runs {
        let nodes = &lattice.nodes[run.clone()];
        fill_run(items, lattice.step, stimulus_idx, nodes, &mut curve[run.clone()]);
    }
}

/// Returns the sum of `log(1 - P)` of up to [`CHUNK`] stimuli at each node, and fills the parts of
/// the sum if wanted.
fn sum_of_logs(
    items: &Items,
    lattice: &Lattice,
    first_stimulus: usize,
    mut logs: Option<&mut [f64]>,
) -> Vec<f64> {
    let n_nodes = lattice.nodes.len();
    let last_stimulus = (first_stimulus + CHUNK).min(items.intercept.len());
    let mut sums = vec![0.0; n_nodes];
    let mut products = vec![1.0; n_nodes];
    for stimulus_idx in first_stimulus..last_stimulus {
        let (a, d) = (items.discrimination[stimulus_idx], items.intercept[stimulus_idx]);
        let growth = (a * lattice.step).exp();
        for run in &lattice.runs {
            let mut odds = 0.0;
            let nodes = lattice.nodes[run.clone()].iter();
            for (at, (node, product)) in nodes.zip(&mut products[run.clone()]).enumerate() {
                odds = if at % REFRESH == 0 { (a * node + d).exp() } else { odds * growth };
                *product *= 1.0 + odds;
            }
        }
        for (sum, product) in sums.iter_mut().zip(&mut products) {
            if LARGE < *product {
                *sum -= product.ln();
                *product = 1.0;
            }
        }
        if let Some(logs) = logs.as_deref_mut() {
            let row = (stimulus_idx - first_stimulus) * n_nodes;
            for (log, node) in logs[row..row + n_nodes].iter_mut().zip(&lattice.nodes) {
                let log_odds = a * node + d;
                *log = -log_odds.max(0.0) - (-log_odds.abs()).exp().ln_1p();
            }
        }
    }
    sums.iter().zip(&products).map(|(sum, product)| sum - product.ln()).collect()
}

fn posterior(
    responses: &Responses,
    items: &Items,
    lattice: &Lattice,
    participant_idx: usize,
    all_wrong: &[f64],
    log_wrong: &[f64],
) -> Posterior {
    let window = lattice.windows[participant_idx].clone();
    let (mut a, mut d) = (0.0, 0.0);
    for stimulus in responses.by_participant.right(participant_idx) {
        a += items.discrimination[*stimulus as usize];
        d += items.intercept[*stimulus as usize];
    }
    let mut weights: Vec<f64> =
        window.clone().map(|node| lattice.log_weight[node] + a * lattice.nodes[node] + d).collect();
    let mut add = |logs: &[f64]| {
        weights.iter_mut().zip(logs).for_each(|(weight, log)| *weight += log);
    };
    if responses.by_participant.is_complete(participant_idx) {
        add(&all_wrong[window.clone()]);
    } else {
        for stimulus in responses.by_participant.answered(participant_idx) {
            let row = *stimulus as usize * lattice.nodes.len();
            add(&log_wrong[row + window.start..row + window.end]);
        }
    }
    let largest = weights.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    weights.iter_mut().for_each(|weight| *weight = (*weight - largest).exp());
    let total: f64 = weights.iter().sum();
    weights.iter_mut().for_each(|weight| *weight /= total);
    let nodes = &lattice.nodes[window];
    let mean: f64 = weights.iter().zip(nodes).map(|(weight, node)| weight * node).sum();
    let variance: f64 =
        weights.iter().zip(nodes).map(|(weight, node)| weight * (node - mean).powi(2)).sum();
    Posterior { weights, log_likelihood: largest + total.ln(), mean, sd: variance.sqrt() }
}

/// Returns the expected number of people at each node among those who answered a stimulus, each
/// as often as they answered.
pub(super) fn mass_of(
    responses: &Responses,
    lattice: &Lattice,
    evaluated: &Evaluated,
    participants: &[u32],
) -> Vec<f64> {
    let mut mass = vec![0.0; lattice.nodes.len()];
    for participant in participants {
        let participant_idx = *participant as usize;
        let weight = responses.weight(participant_idx);
        let window = lattice.windows[participant_idx].clone();
        let shares = &evaluated.posteriors[participant_idx].weights;
        for (sum, share) in mass[window].iter_mut().zip(shares) {
            *sum += weight * share;
        }
    }
    mass
}

/// Returns each stimulus' part of the gradient and of the complete-data information.
pub(super) fn blocks(
    responses: &Responses,
    items: &Items,
    lattice: &Lattice,
    evaluated: &Evaluated,
) -> Vec<Block> {
    let n_nodes = lattice.nodes.len();
    (0..responses.n_stimuli())
        .into_par_iter()
        .map_init(
            || vec![0.0; n_nodes],
            |curve, stimulus_idx| {
                let own_mass;
                let mass = if responses.by_stimulus.is_complete(stimulus_idx) {
                    &evaluated.mass
                } else {
                    let answered = responses.by_stimulus.answered(stimulus_idx);
                    own_mass = mass_of(responses, lattice, evaluated, answered);
                    &own_mass
                };
                let mut block =
                    Block { slope_d: real(responses.n_right_to(stimulus_idx)), ..Block::default() };
                for participant in responses.by_stimulus.right(stimulus_idx) {
                    let participant_idx = *participant as usize;
                    block.slope_a += responses.weight(participant_idx)
                        * evaluated.posteriors[participant_idx].mean;
                }
                fill_curve(items, lattice, stimulus_idx, curve);
                for ((p, mass), node) in curve.iter().zip(mass).zip(&lattice.nodes) {
                    let expected = mass * p;
                    block.slope_d -= expected;
                    block.slope_a -= expected * node;
                    let info = expected * (1.0 - p);
                    block.info_dd += info;
                    block.info_ad += info * node;
                    block.info_aa += info * node * node;
                }
                block
            },
        )
        .collect()
}
