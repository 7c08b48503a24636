//! Single classes and attributes: a few answers each, shrunk towards what the rest say.
//!
//! # Formula
//!
//! ```text
//! cell = (right + Σ p over those not asked) / N
//! ```
//!
//! `p` comes from the fit of `logit.rs`, which is empirical Bayes: how much a cell follows its own
//! answers is learned from how much cells differ. The interval is a credible interval of Wilson's
//! shape, from the posterior variance. Cells are for looking at one by one; their sum is not the
//! headline, because shrinking is a bias that does not cancel.

use std::collections::BTreeMap;

use super::estimator::Moments;
use super::estimator::hierarchical_logit::HierarchicalLogit;
use super::record::Record;
use crate::proportion::real;

/// Returns what is known of each class and attribute, sorted by attribute and class: their
/// positions and the moments of their accuracy.
pub fn cells(record: &Record<'_>) -> Vec<((usize, usize), Moments)> {
    let logit = HierarchicalLogit::fit(record);
    let doubt = logit.doubt();
    let mut answers = vec![None; record.ladder.n_stimuli()];
    for (stimulus, is_right) in record.answers() {
        answers[stimulus] = Some(is_right);
    }
    let mut members: BTreeMap<(usize, usize), Vec<usize>> = BTreeMap::new();
    for (stimulus, place) in record.ladder.places().iter().enumerate() {
        members.entry((place.attribute_idx, place.class_idx)).or_default().push(stimulus);
    }
    members
        .into_iter()
        .map(|(cell, stimuli)| {
            let each = 1.0 / real(stimuli.len());
            let parts = stimuli.iter().map(|idx| (*idx, each, answers[*idx]));
            let (value, variance) = logit.sum(&doubt, parts);
            let n_asked = stimuli.iter().filter(|idx| answers[**idx].is_some()).count();
            let n_stimuli = stimuli.len();
            let freedom = f64::INFINITY;
            (cell, Moments { value, variance, freedom, n_asked, n_stimuli, n_right: None })
        })
        .collect()
}
