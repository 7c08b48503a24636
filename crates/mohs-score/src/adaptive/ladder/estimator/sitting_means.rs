//! Means by level within each sitting, then over sittings: the other reading of the paper.
//!
//! # Formula
//!
//! ```text
//! value = Σ_d W_d mean over sittings of (right at level d / asked at level d in the sitting)
//! ```
//!
//! With one first question and `m` more that are asked with probability `A` after a right answer and
//! `B` after a wrong one, a sitting's mean is off by `p (1 - p) m / (m + 1) (B - A)`. Only the
//! paper's design has sittings; here to be compared with.

use super::super::population::Group;
use super::super::record::Record;
use super::{Estimator, Moments};
use crate::proportion::real;

pub(super) struct SittingMeans<'r> {
    pub(super) record: &'r Record<'r>,
}

impl Estimator for SittingMeans<'_> {
    fn estimate(&self, group: &Group) -> Option<Moments> {
        let ladder = self.record.ladder;
        let n_levels = ladder.levels().len();
        let mut weights = vec![0.0; n_levels];
        let mut is_in = vec![false; ladder.strata().len()];
        let mut n_stimuli = 0;
        for (idx, weight) in &group.strata {
            is_in[*idx] = true;
            weights[ladder.strata()[*idx].place.level_idx] += weight;
            n_stimuli += ladder.strata()[*idx].stimuli.len();
        }
        // Means of sittings, their squares and their number, by level.
        let mut sums = vec![(0.0, 0.0, 0.0); n_levels];
        let mut n_asked = 0;
        for sitting in &self.record.sittings {
            for (level, sum) in sums.iter_mut().enumerate() {
                let here = sitting.answers.iter().filter(|(asked, _)| *asked == level);
                let (n, n_right) = here.fold((0, 0), |(n, n_right), (_, is_right)| {
                    (n + 1, n_right + usize::from(*is_right))
                });
                if n == 0 || !is_in[sitting.strata[level]] {
                    continue;
                }
                n_asked += n;
                let mean = real(n_right) / real(n);
                sum.0 += mean;
                sum.1 += mean * mean;
                sum.2 += 1.0;
            }
        }
        let weight: f64 = weights
            .iter()
            .zip(&sums)
            .filter(|(_, sum)| 0.0 < sum.2)
            .map(|(weight, _)| weight)
            .sum();
        if weight <= 0.0 {
            return None;
        }
        let (mut value, mut variance) = (0.0, 0.0);
        for (level_weight, (sum, squares, n)) in weights.iter().zip(sums) {
            if n <= 0.0 {
                continue;
            }
            let (share, mean) = (level_weight / weight, sum / n);
            value += share * mean;
            let spread = if 1.0 < n { (squares / n - mean * mean) / (n - 1.0) } else { 0.25 };
            variance += share * share * spread.max(0.0);
        }
        Some(Moments { value, variance, freedom: f64::INFINITY, n_asked, n_stimuli, n_right: None })
    }
}
