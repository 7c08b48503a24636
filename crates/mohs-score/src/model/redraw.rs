//! Redrawing classes and stimuli: intervals that hold for other pictures, not just for these.
//!
//! # Method
//!
//! Pictures of one class succeed and fail together, so the bootstrap draws classes with
//! replacement. By default a class comes with all its stimuli ([`Cluster::Label`]): the spread of
//! class means already holds the chance of stimuli within classes, and drawing these a second time
//! ([`Cluster::LabelThenStimulus`]) counts it twice where classes hardly differ (Davison and
//! Hinkley 1997, section 3.8). Without labels, stimuli are drawn. Percentiles are taken as far out
//! as so few classes ask for (Hesterberg 2015; see [`percentile_of_few`]).
//!
//! A draw is how often each stimulus counts; a measure is a function of these weights. Draws are
//! keyed by their number, so threads change nothing.
//!
//! # References
//!
//! - A. C. Davison and D. V. Hinkley (1997), "Bootstrap methods and their application".
//! - T. C. Hesterberg (2015), "What teachers should know about the bootstrap".

use mohs_data::{Estimate, Seed};
use rayon::prelude::*;

use super::table::{Shown, Table};
use super::{Cluster, Options};
use crate::draw::Draw;
use crate::resample::percentile_of_few;

const STREAM: u64 = 70;
/// Most draws of numbers that look at every stimulus one by one.
const N_SLOW: usize = 2_000;

/// What the draws are like.
#[derive(Debug, Clone, Copy)]
pub(super) struct How {
    /// What is drawn, if somebody chose.
    pub(super) cluster: Option<Cluster>,
    pub(super) confidence: f64,
    pub(super) n_resamples: usize,
    pub(super) seed: Seed,
}

/// How to redraw the stimuli of a table.
pub(super) struct Redraw {
    pub(super) cluster: Cluster,
    /// Classes or stimuli that are drawn.
    pub(super) n_clusters: usize,
    pub(super) confidence: f64,
    n_stimuli: usize,
    n_resamples: usize,
    seed: Seed,
    /// Stimuli by class, those with an answer only.
    members: Vec<Vec<usize>>,
    /// Stimuli with an answer.
    drawable: Vec<usize>,
}

impl Redraw {
    /// Prepares the draws.
    pub(super) fn new(table: &Table<'_>, options: &Options, seed: Seed) -> Self {
        let is_judged = |idx: usize| table.answers.iter().any(|answers| 0 < answers.judged[idx]);
        let how = How {
            cluster: options.cluster,
            confidence: options.confidence,
            n_resamples: options.n_resamples,
            seed,
        };
        Self::over(&table.stimuli, is_judged, how)
    }

    /// Prepares draws of those stimuli that have something to count.
    pub(super) fn over(
        stimuli: &[Shown<'_>],
        is_drawable: impl Fn(usize) -> bool,
        how: How,
    ) -> Self {
        let drawable: Vec<usize> = (0..stimuli.len()).filter(|idx| is_drawable(*idx)).collect();
        let n_classes = stimuli.iter().map(|shown| shown.class_idx + 1).max().unwrap_or(0);
        let mut members = vec![Vec::new(); n_classes];
        for idx in &drawable {
            members[stimuli[*idx].class_idx].push(*idx);
        }
        members.retain(|members| !members.is_empty());
        let has_classes = 1 < members.len() && members.len() < drawable.len();
        let cluster = match how.cluster {
            Some(cluster) if has_classes => cluster,
            None if has_classes => Cluster::Label,
            _ => Cluster::Stimulus,
        };
        Self {
            cluster,
            n_clusters: match cluster {
                Cluster::Label | Cluster::LabelThenStimulus => members.len(),
                Cluster::Stimulus => drawable.len(),
            },
            confidence: how.confidence,
            n_stimuli: stimuli.len(),
            n_resamples: how.n_resamples,
            seed: how.seed,
            members,
            drawable,
        }
    }

    /// Computes numbers from each draw, in parallel, in order. Numbers that a draw cannot give are
    /// not finite.
    pub(super) fn draws(&self, numbers: impl Fn(&[u32]) -> Vec<f64> + Sync) -> Vec<Vec<f64>> {
        self.first_draws(self.n_resamples, numbers)
    }

    /// The same for numbers that take long: no more draws than [`N_SLOW`], after which their
    /// intervals hardly move.
    pub(super) fn fewer_draws(&self, numbers: impl Fn(&[u32]) -> Vec<f64> + Sync) -> Vec<Vec<f64>> {
        self.first_draws(self.n_resamples.min(N_SLOW), numbers)
    }

    fn first_draws(
        &self,
        n_draws: usize,
        numbers: impl Fn(&[u32]) -> Vec<f64> + Sync,
    ) -> Vec<Vec<f64>> {
        (0..n_draws)
            .into_par_iter()
            .map_init(
                || vec![0_u32; self.n_stimuli],
                |weights, draw_idx| {
                    self.redraw(draw_idx as u64, weights);
                    numbers(weights)
                },
            )
            .collect()
    }

    fn redraw(&self, draw_idx: u64, weights: &mut [u32]) {
        let mut draw = Draw::new(self.seed, &[STREAM, draw_idx]);
        weights.fill(0);
        match self.cluster {
            Cluster::Stimulus => {
                for _ in &self.drawable {
                    weights[self.drawable[draw.below(self.drawable.len())]] += 1;
                }
            }
            Cluster::Label => {
                for _ in &self.members {
                    for idx in &self.members[draw.below(self.members.len())] {
                        weights[*idx] += 1;
                    }
                }
            }
            Cluster::LabelThenStimulus => {
                for _ in &self.members {
                    let members = &self.members[draw.below(self.members.len())];
                    for _ in members {
                        weights[members[draw.below(members.len())]] += 1;
                    }
                }
            }
        }
    }

    /// Returns a number with the interval of one column of draws.
    pub(super) fn estimate(
        &self,
        value: f64,
        draws: &[Vec<f64>],
        column: usize,
        n: usize,
    ) -> Option<Estimate> {
        let draws: Vec<f64> = draws.iter().map(|draw| draw[column]).collect();
        self.of_draws(value, &draws, n)
    }

    /// Returns a number with the interval of its draws.
    pub(super) fn of_draws(&self, value: f64, draws: &[f64], n: usize) -> Option<Estimate> {
        percentile_of_few(value, draws, self.confidence, self.n_clusters, n)
    }
}

/// Turns marks (0 or 1) into masks, with which weights are added without a multiplication.
pub(super) fn masks(marks: &[u8]) -> Vec<u32> {
    marks.iter().map(|mark| if *mark == 0 { 0 } else { u32::MAX }).collect()
}

/// Returns how often stimuli that a mask is set on count in all. Draws have as many stimuli as the
/// table, or somewhat more: far below 2^32.
pub(super) fn weighted(weights: &[u32], masks: &[u32]) -> f64 {
    let counts = weights.iter().zip(masks).map(|(weight, mask)| weight & mask);
    f64::from(counts.fold(0, u32::wrapping_add))
}

/// Returns a ratio, not a number when nothing was drawn.
pub(super) fn ratio(part: f64, whole: f64) -> f64 {
    if 0.0 < whole { part / whole } else { f64::NAN }
}

/// Widens an interval to hold another one: where draws cannot vary, certainty would be a lie.
pub(super) fn widened(estimate: Estimate, other: Option<Estimate>) -> Estimate {
    let Some(other) = other else { return estimate };
    Estimate { low: estimate.low.min(other.low), high: estimate.high.max(other.high), ..estimate }
}
