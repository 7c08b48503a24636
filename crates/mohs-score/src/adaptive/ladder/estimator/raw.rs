//! The share of right answers, and the share of points, whatever was asked.
//!
//! # Formula
//!
//! ```text
//! accuracy = right / asked,   score = Σ points of right answers / Σ points asked for
//! ```
//!
//! Biased whenever a design asks some levels more than others; here to be compared with.

use super::super::population::{Group, Kind};
use super::super::record::Record;
use super::{Estimator, Moments};
use crate::proportion::real;

pub(super) struct Raw<'r> {
    pub(super) record: &'r Record<'r>,
}

impl Estimator for Raw<'_> {
    fn estimate(&self, group: &Group) -> Option<Moments> {
        let ladder = self.record.ladder;
        let (mut n_asked, mut n_stimuli) = (0, 0);
        let (mut won, mut possible, mut square, mut square_won) = (0.0, 0.0, 0.0, 0.0);
        for (idx, _) in &group.strata {
            let stratum = &ladder.strata()[*idx];
            let points = match group.kind {
                Kind::Accuracy => 1.0,
                Kind::Score => ladder.weights()[stratum.place.level_idx],
            };
            let answers = &self.record.samples[*idx].answers;
            let n_right = real(answers.iter().filter(|(_, is_right)| *is_right).count());
            n_asked += answers.len();
            n_stimuli += stratum.stimuli.len();
            won += points * n_right;
            possible += points * real(answers.len());
            square += points * points * real(answers.len());
            square_won += points * points * n_right;
        }
        if possible <= 0.0 {
            return None;
        }
        let value = won / possible;
        // Σ points² (y - p)², with y² = y.
        let deviations = square_won * (1.0 - 2.0 * value) + square * value * value;
        let variance = (deviations / (possible * possible)).max(0.0);
        Some(Moments { value, variance, freedom: f64::INFINITY, n_asked, n_stimuli, n_right: None })
    }
}
