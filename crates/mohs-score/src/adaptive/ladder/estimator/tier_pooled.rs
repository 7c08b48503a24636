//! Shares by level, pooled over all sittings, then weighted: most probably what the paper reports.
//!
//! # Formula
//!
//! ```text
//! p_d = right at level d / asked at level d,     value = Σ_d W_d p_d
//! ```
//!
//! Under the paper's design strong cells are asked more hard stimuli, so `p_hard` looks too good;
//! here to be compared with.

use super::super::population::Group;
use super::super::record::Record;
use super::{Estimator, Moments};
use crate::proportion::real;

pub(super) struct TierPooled<'r> {
    pub(super) record: &'r Record<'r>,
}

impl Estimator for TierPooled<'_> {
    fn estimate(&self, group: &Group) -> Option<Moments> {
        let ladder = self.record.ladder;
        // Weight, asked and right by level.
        let mut levels = vec![(0.0, 0, 0); ladder.levels().len()];
        let mut n_stimuli = 0;
        for (idx, weight) in &group.strata {
            let stratum = &ladder.strata()[*idx];
            let answers = &self.record.samples[*idx].answers;
            let level = &mut levels[stratum.place.level_idx];
            level.0 += weight;
            level.1 += answers.len();
            level.2 += answers.iter().filter(|(_, is_right)| *is_right).count();
            n_stimuli += stratum.stimuli.len();
        }
        let there = || levels.iter().filter(|level| 0 < level.1);
        let weight: f64 = there().map(|level| level.0).sum();
        if weight <= 0.0 {
            return None;
        }
        let (mut value, mut variance, mut n_asked) = (0.0, 0.0, 0);
        for (level_weight, n, n_right) in there() {
            let (share, p) = (level_weight / weight, real(*n_right) / real(*n));
            value += share * p;
            variance += share * share * p * (1.0 - p) / real(*n);
            n_asked += n;
        }
        Some(Moments { value, variance, freedom: f64::INFINITY, n_asked, n_stimuli, n_right: None })
    }
}
