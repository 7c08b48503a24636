//! The hierarchical learning score against accuracy, over models.
//!
//! A model that is always right and one that is always wrong are both fully hierarchical, so the two
//! need not go together; but middling accuracies leave room for patterns that are not, so some of
//! the correlation is arithmetic. The excess over the baseline has less of that, and its correlation
//! stands beside.
//!
//! Two intervals, for two questions: Fisher's asks about other models of the same kind, the draws of
//! `redraw.rs` about these models on other classes. Three points make a correlation, and Fisher's
//! interval needs four.

use mohs_data::{Estimate, ModelName};

use super::ScoreCorrelation;
use super::numbers::Layout;
use crate::correlation::{fisher_interval, pearson};
use crate::model::redraw::Redraw;

/// Models below which nothing is said.
pub(super) const N_MODELS_WANTED: usize = 3;

/// All models' numbers side by side, as they are and in each draw.
pub(super) struct SideBySide<'a> {
    pub(super) redraw: &'a Redraw,
    pub(super) layout: Layout,
    pub(super) numbers: &'a [f64],
    pub(super) draws: &'a [Vec<f64>],
}

impl SideBySide<'_> {
    /// Returns the correlations; `None` with too few models that have both numbers.
    pub(super) fn correlations(&self, models: &[&ModelName]) -> Option<ScoreCorrelation> {
        let (score, excess) = (self.layout.hierarchy(0), self.layout.excess(0));
        let (r, n) = self.pearson(self.numbers, score, models.len());
        let r = r.filter(|_| N_MODELS_WANTED <= n)?;
        Some(ScoreCorrelation {
            over_models: fisher_interval(r, n, self.redraw.confidence),
            over_classes: self.over_classes(score, models.len()),
            excess: self.over_classes(excess, models.len()),
        })
    }

    fn over_classes(&self, column: usize, n_models: usize) -> Option<Estimate> {
        let (r, n) = self.pearson(self.numbers, column, n_models);
        let r = r.filter(|_| N_MODELS_WANTED <= n)?;
        let drawn = |draw: &Vec<f64>| self.pearson(draw, column, n_models).0.unwrap_or(f64::NAN);
        let draws: Vec<f64> = self.draws.iter().map(drawn).collect();
        self.redraw.of_draws(r, &draws, n)
    }

    /// Returns Pearson's r of a number with accuracy, and over how many models.
    fn pearson(&self, numbers: &[f64], column: usize, n_models: usize) -> (Option<f64>, usize) {
        let both = |model: usize| {
            let first = model * self.layout.width();
            let (x, y) = (numbers[first + self.layout.accuracy(0)], numbers[first + column]);
            (x.is_finite() && y.is_finite()).then_some((x, y))
        };
        let (x, y): (Vec<f64>, Vec<f64>) = (0..n_models).filter_map(both).unzip();
        (pearson(&x, &y), x.len())
    }
}
