//! What is thought of attributes at levels before anything was answered.
//!
//! # Formula
//!
//! ```text
//! a_(attribute, level) = everywhere + level + own,    normal with mean 0, variances c, l, d
//! K = d I + l B + c J,    B is 1 between entries of the same level, J is 1 everywhere
//! K⁻¹ = I / d - l / (d m) B - c / (m² (1 + c n / m)) J,    m = d + l A
//! ```
//!
//! `A` is the number of attributes and `n` that of entries. So what was seen at a level says
//! something about attributes that were not asked there yet; together the variances are wide.

use nalgebra::{DMatrix, DVector};

/// The variance of what all entries have in common: the model.
const EVERYWHERE: f64 = 1.0;
/// The variance of what entries of a level have in common.
const OF_LEVEL: f64 = 1.5;
/// The variance of what is an entry's own.
const OWN: f64 = 1.5;

/// The prior of attribute × level: entries stand by attribute, then by level.
#[derive(Debug, Clone, Copy)]
pub(super) struct SharedPrior {
    n_levels: usize,
    n_entries: usize,
    /// Parts of the inverse covariance: of the same entry, level, and of all.
    same: f64,
    level: f64,
    all: f64,
}

impl SharedPrior {
    pub(super) fn new(n_attributes: usize, n_levels: usize) -> Self {
        let n_entries = n_attributes * n_levels;
        let [attributes, entries] = [n_attributes, n_entries].map(crate::proportion::real);
        let m = OWN + OF_LEVEL * attributes;
        Self {
            n_levels,
            n_entries,
            same: 1.0 / OWN,
            level: -OF_LEVEL / (OWN * m),
            all: -EVERYWHERE / (m * m * (1.0 + EVERYWHERE * entries / m)),
        }
    }

    /// Adds the prior to the curvature and the slope of a posterior at `effects`.
    pub(super) fn add_to(
        &self,
        curvature: &mut DMatrix<f64>,
        gradient: &mut DVector<f64>,
        effects: &DVector<f64>,
    ) {
        for a in 0..self.n_entries {
            for b in 0..self.n_entries {
                let precision = self.precision(a, b);
                curvature[(a, b)] += precision;
                gradient[a] -= precision * effects[b];
            }
        }
    }

    fn precision(&self, a: usize, b: usize) -> f64 {
        let same = if a == b { self.same } else { 0.0 };
        let level = if a % self.n_levels == b % self.n_levels { self.level } else { 0.0 };
        same + level + self.all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_inverse_is_that_of_the_covariance() {
        for (n_attributes, n_levels) in [(1, 1), (1, 3), (4, 1), (5, 3)] {
            let n = n_attributes * n_levels;
            let covariance = DMatrix::from_fn(n, n, |a, b| {
                let own = if a == b { OWN } else { 0.0 };
                let level = if a % n_levels == b % n_levels { OF_LEVEL } else { 0.0 };
                own + level + EVERYWHERE
            });
            let prior = SharedPrior::new(n_attributes, n_levels);
            let precision = DMatrix::from_fn(n, n, |a, b| prior.precision(a, b));
            let one = covariance * precision;
            assert!((one - DMatrix::identity(n, n)).abs().max() < 1e-12);
        }
    }
}
