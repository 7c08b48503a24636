//! Where the ability of each participant is integrated: windows on one evenly spaced lattice.
//!
//! # Method
//!
//! The trapezoid rule is as good as exact for bell-shaped functions once its step is near their
//! standard deviation `σ`: the relative error is `2 exp(-2π²σ²/h²)`, a millionth at `h = 1.2 σ`. So
//! one lattice serves all: its step fits the narrowest posterior, and each participant sums over
//! the nodes within a few `σ` of their own mode only. With five stimuli this is a fixed grid; with
//! thousands it follows each participant, where a fixed grid would jump from node to node.

use std::ops::Range;

use rayon::prelude::*;

use super::likelihood::Items;
use super::responses::Responses;

/// The coarsest step; fine enough for the standard normal prior alone.
const MAX_STEP: f64 = 0.2;
/// The finest step, a bound on work.
const MIN_STEP: f64 = 0.004;
/// Step in posterior standard deviations.
const STEP_IN_SD: f64 = 1.2;
/// Half width of a window in posterior standard deviations.
const REACH_IN_SD: f64 = 6.0;
/// Mass at the end of a window up to which a posterior counts as inside: it may move by more than
/// a standard deviation before its window must follow.
const MOST_AT_END: f64 = 1e-6;
/// Newton steps towards a posterior mode; it is the mode of a log-concave function.
const MAX_MODE_STEPS: usize = 60;

/// Nodes of integration, and which of them each participant uses.
#[derive(Debug, Clone)]
pub(super) struct Lattice {
    /// Distance between neighbours.
    pub(super) step: f64,
    /// Abilities, ascending; neighbours within a run are one step apart.
    pub(super) nodes: Vec<f64>,
    /// Log of the prior's mass at each node.
    pub(super) log_weight: Vec<f64>,
    /// Stretches of nodes without a gap.
    pub(super) runs: Vec<Range<usize>>,
    /// The nodes of each participant.
    pub(super) windows: Vec<Range<usize>>,
}

impl Lattice {
    /// Lays nodes around the posterior mode of each participant; `modes` are starting points and
    /// are moved to the modes.
    pub(super) fn around(responses: &Responses, items: &Items, modes: &mut [f64]) -> Self {
        let sds: Vec<f64> = modes
            .par_iter_mut()
            .enumerate()
            .map(|(participant_idx, mode)| settle(responses, items, participant_idx, mode))
            .collect();
        let narrowest = sds.iter().copied().fold(1.0, f64::min);
        let step = (STEP_IN_SD * narrowest).clamp(MIN_STEP, MAX_STEP);
        #[expect(clippy::cast_possible_truncation, reason = "modes are within a few tens of steps")]
        let place = |ability: f64| (ability / step).round() as i64;
        let spans: Vec<(i64, i64)> = modes
            .iter()
            .zip(&sds)
            .map(|(mode, sd)| (place(mode - REACH_IN_SD * sd), place(mode + REACH_IN_SD * sd)))
            .collect();
        let first = spans.iter().map(|span| span.0).min().unwrap_or(0);
        let last = spans.iter().map(|span| span.1).max().unwrap_or(0);
        let offset =
            |place: i64| usize::try_from(place - first).expect("because first is smallest");
        let mut is_used = vec![false; offset(last) + 1];
        for span in &spans {
            is_used[offset(span.0)..=offset(span.1)].fill(true);
        }
        let mut lattice =
            Self { step, nodes: vec![], log_weight: vec![], runs: vec![], windows: vec![] };
        let mut node_at = vec![0; is_used.len()];
        let half_ln_tau = 0.5 * std::f64::consts::TAU.ln();
        for at in 0..is_used.len() {
            let idx = lattice.nodes.len();
            node_at[at] = idx;
            if !is_used[at] {
                continue;
            }
            match lattice.runs.last_mut() {
                Some(run) if is_used[at - 1] => run.end = idx + 1,
                _ => lattice.runs.push(idx..idx + 1),
            }
            #[expect(clippy::cast_precision_loss, reason = "places are small whole numbers")]
            let ability = (first + i64::try_from(at).unwrap_or(0)) as f64 * step;
            lattice.nodes.push(ability);
            lattice.log_weight.push(step.ln() - half_ln_tau - ability * ability / 2.0);
        }
        lattice.windows =
            spans.iter().map(|span| node_at[offset(span.0)]..node_at[offset(span.1)] + 1).collect();
        lattice
    }

    /// Returns whether a posterior of this standard deviation, with this much mass at the ends of
    /// its window, is integrated well.
    pub(super) fn suits(&self, sd: f64, mass_at_ends: f64) -> bool {
        mass_at_ends < MOST_AT_END && (self.step <= MIN_STEP || self.step < 1.6 * sd)
    }
}

/// Moves an ability to its posterior mode and returns the standard deviation of the normal
/// distribution with the same curvature there.
fn settle(responses: &Responses, items: &Items, participant_idx: usize, mode: &mut f64) -> f64 {
    let answered = responses.by_participant.answered(participant_idx);
    let right: f64 = responses
        .by_participant
        .right(participant_idx)
        .iter()
        .map(|stimulus| items.discrimination[*stimulus as usize])
        .sum();
    let slope_and_curvature = |ability: f64| {
        let (mut slope, mut curvature) = (right - ability, 1.0);
        for stimulus in answered {
            let a = items.discrimination[*stimulus as usize];
            let p = 1.0 / (1.0 + (-(a * ability + items.intercept[*stimulus as usize])).exp());
            slope -= a * p;
            curvature += a * a * p * (1.0 - p);
        }
        (slope, curvature)
    };
    let mut curvature = 1.0;
    for _ in 0..MAX_MODE_STEPS {
        let (slope, found) = slope_and_curvature(*mode);
        curvature = found;
        let step = (slope / curvature).clamp(-1.0, 1.0);
        *mode += step;
        // Far within a standard deviation is near enough to lay a window.
        if step.abs() * curvature.sqrt() < 0.1 {
            break;
        }
    }
    1.0 / curvature.sqrt()
}
