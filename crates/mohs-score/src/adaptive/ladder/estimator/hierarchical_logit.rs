//! Answers where there are some, forecasts where not.
//!
//! # Formula
//!
//! ```text
//! stratum = (right + Σ p over those not asked) / N,     p from the fit of `logit.rs` to all answers
//! V = Σ p (1 - p) w² + gᵀ H⁻¹ g + …,                    see `logit.rs`
//! ```
//!
//! Which stimuli are asked depends on nothing but answers that are in the likelihood, so the fit is
//! right for any design, the paper's included. What it says of a group is only as good as the
//! model, and it is shrunk: nearly unbiased, not exactly.

use super::super::logit::{Doubt, Logit};
use super::super::population::Group;
use super::super::record::Record;
use super::{Estimator, Moments};
use crate::proportion::real;

/// Rounds that a fit from nothing takes to settle.
pub(in super::super) const N_FIT_ROUNDS: usize = 16;

pub(in super::super) struct HierarchicalLogit<'r> {
    record: &'r Record<'r>,
    fit: Logit<'r>,
    forecasts: Vec<f64>,
}

impl<'r> HierarchicalLogit<'r> {
    pub(in super::super) fn fit(record: &'r Record<'_>) -> Self {
        let mut fit = Logit::new(record.ladder, record.features());
        fit.fit(&record.answers(), N_FIT_ROUNDS);
        let forecasts = fit.forecasts();
        Self { record, fit, forecasts }
    }

    /// The sum over some stimuli, each with its weight, of right answers and forecasts.
    pub(in super::super) fn sum(
        &self,
        doubt: &Doubt<'_>,
        parts: impl Iterator<Item = (usize, f64, Option<bool>)>,
    ) -> (f64, f64) {
        let (mut value, mut variance) = (0.0, 0.0);
        let mut unasked = Vec::new();
        for (stimulus, weight, is_right) in parts {
            if let Some(is_right) = is_right {
                value += weight * f64::from(u8::from(is_right));
                continue;
            }
            let p = self.forecasts[stimulus];
            let spread = p * (1.0 - p);
            value += weight * p;
            variance += weight * weight * spread;
            unasked.push((stimulus, weight * spread));
        }
        (value, variance + doubt.variance(unasked.into_iter()))
    }

    /// What is needed to say how doubtful sums are, worked out once for many of them.
    pub(in super::super) fn doubt(&self) -> Doubt<'_> {
        self.fit.doubt()
    }
}

impl Estimator for HierarchicalLogit<'_> {
    fn estimate(&self, group: &Group) -> Option<Moments> {
        let ladder = self.record.ladder;
        let (mut n_asked, mut n_stimuli, mut n_right) = (0, 0, 0);
        let mut parts = Vec::new();
        for (idx, weight) in &group.strata {
            let stimuli = &ladder.strata()[*idx].stimuli;
            let answers = &self.record.samples[*idx].answers;
            n_asked += answers.len();
            n_stimuli += stimuli.len();
            let start = parts.len();
            let each = weight / real(stimuli.len());
            parts.extend(stimuli.iter().map(|stimulus| (*stimulus, each, None)));
            for (position, is_right) in answers {
                parts[start + position].2 = Some(*is_right);
                n_right += usize::from(*is_right);
            }
        }
        if n_asked == 0 {
            return None;
        }
        let (value, variance) = self.sum(&self.doubt(), parts.into_iter());
        let n_right = Some(n_right);
        Some(Moments { value, variance, freedom: f64::INFINITY, n_asked, n_stimuli, n_right })
    }
}
