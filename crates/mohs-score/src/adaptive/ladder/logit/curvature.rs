//! The curvature of a fit: a few effects that all classes share, and some of each class's own.
//!
//! Classes meet only in what they share, so the matrix has the shape of an arrow: a small corner, and
//! one block per class beside it.
//!
//! # Formula
//!
//! ```text
//! H = | C   B_1 … |        H⁻¹ from   K_c = B_c A_c⁻¹,   S = C - Σ K_c B_cᵀ
//!     | B_1ᵀ A_1  |
//!     | …         |        gᵀ H⁻¹ g = Σ g_cᵀ A_c⁻¹ g_c + uᵀ S⁻¹ u,   u = g_shared - Σ K_c g_c
//! ```

use std::collections::BTreeMap;

use nalgebra::{DMatrix, DVector};

/// A number for each effect.
#[derive(Debug, Clone)]
pub(super) struct Effects {
    pub(super) shared: DVector<f64>,
    /// By class.
    pub(super) own: Vec<DVector<f64>>,
}

impl Effects {
    pub(super) fn zero(n_shared: usize, n_classes: usize, n_own: usize) -> Self {
        Self { shared: DVector::zeros(n_shared), own: vec![DVector::zeros(n_own); n_classes] }
    }

    pub(super) fn largest(&self) -> f64 {
        self.own.iter().map(DVector::amax).fold(self.shared.amax(), f64::max)
    }

    /// Adds another, times a number.
    pub(super) fn add(&mut self, other: &Self, factor: f64) {
        self.shared.axpy(factor, &other.shared, 1.0);
        for (own, other) in self.own.iter_mut().zip(&other.own) {
            own.axpy(factor, other, 1.0);
        }
    }
}

/// How a sum moves with each effect; classes it does not depend on are left out.
#[derive(Debug, Clone)]
pub(super) struct Gradient {
    pub(super) shared: DVector<f64>,
    pub(super) own: BTreeMap<usize, DVector<f64>>,
}

impl Gradient {
    /// Returns how far the sum moves when effects move so far.
    pub(super) fn dot(&self, moves: &Effects) -> f64 {
        let own: f64 = self.own.iter().map(|(class, own)| own.dot(&moves.own[*class])).sum();
        self.shared.dot(&moves.shared) + own
    }
}

/// The curvature: corner, and one block per class.
#[derive(Debug)]
pub(super) struct Curvature {
    pub(super) shared: DMatrix<f64>,
    pub(super) classes: Vec<Block>,
}

#[derive(Debug)]
pub(super) struct Block {
    /// `A`.
    pub(super) own: DMatrix<f64>,
    /// `B`.
    pub(super) with_shared: DMatrix<f64>,
}

/// Its inverse: the posterior covariance, in parts.
#[derive(Debug, Clone)]
pub(super) struct Inverse {
    /// `S⁻¹`.
    shared: DMatrix<f64>,
    classes: Vec<InverseBlock>,
}

#[derive(Debug, Clone)]
struct InverseBlock {
    /// `A⁻¹`.
    own: DMatrix<f64>,
    /// `K`.
    carried: DMatrix<f64>,
}

impl Curvature {
    pub(super) fn zero(n_shared: usize, n_classes: usize, n_own: usize) -> Self {
        let block = || Block {
            own: DMatrix::zeros(n_own, n_own),
            with_shared: DMatrix::zeros(n_shared, n_own),
        };
        Self {
            shared: DMatrix::zeros(n_shared, n_shared),
            classes: (0..n_classes).map(|_| block()).collect(),
        }
    }

    /// Inverts; `None` if it is not positive definite.
    pub(super) fn inverse(self) -> Option<Inverse> {
        let mut corner = self.shared;
        let mut classes = Vec::with_capacity(self.classes.len());
        for block in self.classes {
            let own = block.own.cholesky()?.inverse();
            let carried = &block.with_shared * &own;
            corner.gemm(-1.0, &carried, &block.with_shared.transpose(), 1.0);
            classes.push(InverseBlock { own, carried });
        }
        Some(Inverse { shared: corner.cholesky()?.inverse(), classes })
    }
}

impl Inverse {
    /// Returns `H⁻¹ b`.
    pub(super) fn times(&self, b: &Effects) -> Effects {
        let shared = &self.shared * self.carried(&b.shared, b.own.iter().enumerate());
        let own = self.classes.iter().zip(&b.own);
        let own = own.map(|(block, b)| &block.own * b - block.carried.tr_mul(&shared)).collect();
        Effects { shared, own }
    }

    /// Returns `gᵀ H⁻¹ g`.
    pub(super) fn quadratic(&self, g: &Gradient) -> f64 {
        let of_class =
            |(class, own): (&usize, &DVector<f64>)| own.dot(&(&self.classes[*class].own * own));
        let own: f64 = g.own.iter().map(of_class).sum();
        let carried = self.carried(&g.shared, g.own.iter().map(|(class, own)| (*class, own)));
        own + carried.dot(&(&self.shared * &carried))
    }

    /// `u`.
    fn carried<'g>(
        &self,
        shared: &DVector<f64>,
        own: impl Iterator<Item = (usize, &'g DVector<f64>)>,
    ) -> DVector<f64> {
        let mut shared = shared.clone();
        for (class, own) in own {
            shared.gemv(-1.0, &self.classes[class].carried, own, 1.0);
        }
        shared
    }

    /// Returns the variances of one class's own effects.
    pub(super) fn variances_of(&self, class: usize) -> impl Iterator<Item = f64> + '_ {
        let block = &self.classes[class];
        let spread = &self.shared * &block.carried;
        (0..block.own.nrows()).map(move |idx| {
            block.own[(idx, idx)] + block.carried.column(idx).dot(&spread.column(idx))
        })
    }

    /// Returns the variance of one shared effect.
    pub(super) fn variance_of_shared(&self, idx: usize) -> f64 {
        self.shared[(idx, idx)]
    }

    /// Returns the variance of a sum of some of one class's effects and of shared ones, each with how
    /// far the sum moves with it.
    pub(super) fn variance_of(&self, class: usize, own: &[usize], shared: DVector<f64>) -> f64 {
        let block = &self.classes[class];
        let within: f64 = own.iter().flat_map(|a| own.iter().map(|b| block.own[(*a, *b)])).sum();
        let mut carried = shared;
        for a in own {
            carried -= block.carried.column(*a);
        }
        within + carried.dot(&(&self.shared * &carried))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proportion::real;

    /// Two classes with two effects each and two shared ones, against the whole matrix.
    #[test]
    fn the_arrow_is_the_whole_matrix() {
        let whole = DMatrix::from_fn(6, 6, |row, column| {
            let (low, high) = (row.min(column), row.max(column));
            let are_apart = (2..4).contains(&low) && 4 <= high;
            let entry = 0.3 + 0.1 * real(low * 7 % 5) - 0.2 * real(high * 3 % 4);
            if row == column {
                4.0 + real(row)
            } else if are_apart {
                0.0
            } else {
                entry
            }
        });
        let mut curvature = Curvature::zero(2, 2, 2);
        curvature.shared = whole.view((0, 0), (2, 2)).into_owned();
        for (class, block) in curvature.classes.iter_mut().enumerate() {
            let start = 2 + 2 * class;
            block.own = whole.view((start, start), (2, 2)).into_owned();
            block.with_shared = whole.view((0, start), (2, 2)).into_owned();
        }
        let inverse = curvature.inverse().expect("because it is positive definite");
        let expected = whole.try_inverse().expect("because it is positive definite");
        let g = DVector::from_fn(6, |idx, _| 1.0 - 0.4 * real(idx));
        let part = |start| g.rows(start, 2).into_owned();
        let effects = Effects { shared: part(0), own: vec![part(2), part(4)] };
        let gradient =
            Gradient { shared: part(0), own: BTreeMap::from([(0, part(2)), (1, part(4))]) };
        assert!((inverse.quadratic(&gradient) - g.dot(&(&expected * &g))).abs() < 1e-12);
        let times = inverse.times(&effects);
        let found =
            [&times.shared, &times.own[0], &times.own[1]].map(|part| part.as_slice()).concat();
        for (found, expected) in found.iter().zip((&expected * &g).iter()) {
            assert!((found - expected).abs() < 1e-12);
        }
        let variances: Vec<f64> = inverse.variances_of(1).collect();
        assert!((variances[1] - expected[(5, 5)]).abs() < 1e-12);
        assert!((inverse.variance_of_shared(1) - expected[(1, 1)]).abs() < 1e-12);
        let sum = DVector::from_column_slice(&[1.0, 0.5, 0.0, 0.0, 1.0, 1.0]);
        let found = inverse.variance_of(1, &[0, 1], sum.rows(0, 2).into_owned());
        assert!((found - sum.dot(&(&expected * &sum))).abs() < 1e-12);
        assert!((gradient.dot(&times) - inverse.quadratic(&gradient)).abs() < 1e-12);
    }
}
