//! Laplace's approximation of the likelihood with two crossed blocks of random effects, and its
//! exact gradient.
//!
//! # Formula
//!
//! With effects scaled to unit variance, `w = (u, v)` and `η = β + σ_u u + σ_v v`:
//!
//! ```text
//! h(w) = Σ [ln(1 + e^η) - y η] + |w|²/2
//! -ln L ≈ h(ŵ) + ln det H / 2,    H = h''(ŵ)
//! ```
//!
//! `H` has a diagonal block for the many effects (each answer is about one stimulus), which is
//! eliminated: what remains is a dense matrix of the size of the few,
//! `S = A - B D⁻¹ Bᵀ`. So thousands of stimuli cost no more than their answers.
//!
//! The gradient follows the mode: `dŵ/dψ = -H⁻¹ ∂h'/∂ψ` enters through the third derivative of
//! `h`, once for all parameters (the adjoint way): `a = H⁻¹ Zᵀ c`, with `c = q W'/2` and `q` the
//! leverage of each answer.

use nalgebra::{Cholesky, DMatrix, DVector, Dyn};

use crate::proportion::real;

const MAX_NEWTON_STEPS: usize = 60;
const MODE_TOLERANCE: f64 = 1e-8;

/// One answer.
#[derive(Debug, Clone, Copy)]
pub(super) struct Row {
    pub(super) few: usize,
    pub(super) many: usize,
    pub(super) fixed: usize,
    pub(super) is_right: bool,
}

/// The data, sorted by the effect that is eliminated.
#[derive(Debug)]
pub(super) struct Laplace {
    n_few: usize,
    n_many: usize,
    n_fixed: usize,
    rows: Vec<Row>,
    rows_of_many: Vec<std::ops::Range<usize>>,
}

/// The most likely effects, scaled to unit variance; also where the search for them starts.
#[derive(Debug, Clone)]
pub(super) struct Modes {
    few: DVector<f64>,
    many: DVector<f64>,
}

/// The approximation at some parameters.
#[derive(Debug)]
pub(super) struct At {
    /// −ln L.
    pub(super) value: f64,
    /// By β, then σ of the few, then σ of the many.
    pub(super) gradient: Vec<f64>,
    pub(super) few_effects: Vec<f64>,
    pub(super) few_sds: Vec<f64>,
    pub(super) many_effects: Vec<f64>,
    pub(super) many_sds: Vec<f64>,
}

/// Slopes and curvatures at some effects.
struct Local {
    value: f64,
    /// Expected minus observed, per row.
    residuals: Vec<f64>,
    /// Variance of each answer, per row.
    variances: Vec<f64>,
    slope_few: DVector<f64>,
    slope_many: DVector<f64>,
}

/// The curvature with the many eliminated.
struct Eliminated {
    diagonal: Vec<f64>,
    few: Cholesky<f64, Dyn>,
}

impl Laplace {
    pub(super) fn new(n_few: usize, n_many: usize, n_fixed: usize, mut rows: Vec<Row>) -> Self {
        rows.sort_by_key(|row| (row.many, row.few, row.fixed, row.is_right));
        let rows_of_many = (0..n_many)
            .map(|many| {
                rows.partition_point(|row| row.many < many)
                    ..rows.partition_point(|row| row.many <= many)
            })
            .collect();
        Self { n_few, n_many, n_fixed, rows, rows_of_many }
    }

    pub(super) fn n_fixed(&self) -> usize {
        self.n_fixed
    }

    pub(super) fn n_rows(&self) -> usize {
        self.rows.len()
    }

    pub(super) fn start(&self) -> Modes {
        Modes { few: DVector::zeros(self.n_few), many: DVector::zeros(self.n_many) }
    }

    /// Returns the log-odds of right answers by condition, effects left aside.
    pub(super) fn marginal_log_odds(&self) -> Vec<f64> {
        let mut counts = vec![(0_usize, 0_usize); self.n_fixed];
        for row in &self.rows {
            counts[row.fixed].0 += 1;
            counts[row.fixed].1 += usize::from(row.is_right);
        }
        counts
            .into_iter()
            .map(|(n, n_right)| ((real(n_right) + 0.5) / (real(n - n_right) + 0.5)).ln())
            .collect()
    }

    fn local(&self, parameters: &[f64], modes: &Modes) -> Local {
        let (sigma_few, sigma_many) = self.sigmas(parameters);
        let mut local = Local {
            value: (modes.few.norm_squared() + modes.many.norm_squared()) / 2.0,
            residuals: Vec::with_capacity(self.rows.len()),
            variances: Vec::with_capacity(self.rows.len()),
            slope_few: modes.few.clone(),
            slope_many: modes.many.clone(),
        };
        for row in &self.rows {
            let log_odds = parameters[row.fixed]
                + sigma_few * modes.few[row.few]
                + sigma_many * modes.many[row.many];
            // ln(1 + e^η) and e^-|η| / (1 + e^-|η|)², both without overflow.
            let small = (-log_odds.abs()).exp();
            let p = if 0.0 <= log_odds { 1.0 / (1.0 + small) } else { small / (1.0 + small) };
            let y = if row.is_right { 1.0 } else { 0.0 };
            local.value += log_odds.max(0.0) + small.ln_1p() - y * log_odds;
            local.residuals.push(p - y);
            local.variances.push(small / ((1.0 + small) * (1.0 + small)));
            local.slope_few[row.few] += sigma_few * (p - y);
            local.slope_many[row.many] += sigma_many * (p - y);
        }
        local
    }

    fn sigmas(&self, parameters: &[f64]) -> (f64, f64) {
        (parameters[self.n_fixed], parameters[self.n_fixed + 1])
    }

    fn eliminate(&self, parameters: &[f64], local: &Local) -> Option<Eliminated> {
        let (sigma_few, sigma_many) = self.sigmas(parameters);
        let mut few = DMatrix::identity(self.n_few, self.n_few);
        let mut diagonal = vec![1.0; self.n_many];
        for (row, variance) in self.rows.iter().zip(&local.variances) {
            few[(row.few, row.few)] += sigma_few * sigma_few * variance;
            diagonal[row.many] += sigma_many * sigma_many * variance;
        }
        let scale = (sigma_few * sigma_many).powi(2);
        for (range, diagonal) in self.rows_of_many.iter().zip(&diagonal) {
            for one in range.clone() {
                let factor = scale * local.variances[one] / diagonal;
                for other in range.clone() {
                    few[(self.rows[one].few, self.rows[other].few)] -=
                        factor * local.variances[other];
                }
            }
        }
        Some(Eliminated { diagonal, few: few.cholesky()? })
    }

    /// Solves `H x = right` for both blocks.
    fn solve(
        &self,
        parameters: &[f64],
        local: &Local,
        eliminated: &Eliminated,
        right_few: &DVector<f64>,
        right_many: &DVector<f64>,
    ) -> (DVector<f64>, DVector<f64>) {
        let (sigma_few, sigma_many) = self.sigmas(parameters);
        let across = sigma_few * sigma_many;
        let mut reduced = right_few.clone();
        for (row, variance) in self.rows.iter().zip(&local.variances) {
            reduced[row.few] -=
                across * variance * right_many[row.many] / eliminated.diagonal[row.many];
        }
        let few = eliminated.few.solve(&reduced);
        let mut many = right_many.clone();
        for (row, variance) in self.rows.iter().zip(&local.variances) {
            many[row.many] -= across * variance * few[row.few];
        }
        for (value, diagonal) in many.iter_mut().zip(&eliminated.diagonal) {
            *value /= diagonal;
        }
        (few, many)
    }

    /// Finds the mode, by Newton's steps halved where they overshoot.
    fn find_mode(&self, parameters: &[f64], modes: &mut Modes) -> Option<(Local, Eliminated)> {
        let mut local = self.local(parameters, modes);
        for _ in 0..MAX_NEWTON_STEPS {
            let eliminated = self.eliminate(parameters, &local)?;
            let steepest = local.slope_few.amax().max(local.slope_many.amax());
            if steepest < MODE_TOLERANCE {
                return Some((local, eliminated));
            }
            let (step_few, step_many) =
                self.solve(parameters, &local, &eliminated, &local.slope_few, &local.slope_many);
            let mut length = 1.0;
            let (next, next_local) = loop {
                let next = Modes {
                    few: &modes.few - &step_few * length,
                    many: &modes.many - &step_many * length,
                };
                let next_local = self.local(parameters, &next);
                // Near the mode, rounding alone may make the value rise.
                let slack = 1e-12 * local.value.abs();
                if next_local.value <= local.value + slack || length < 1e-6 {
                    break (next, next_local);
                }
                length /= 2.0;
            };
            let is_still = steepest
                <= next_local.slope_few.amax().max(next_local.slope_many.amax())
                && steepest < 1e-7;
            if is_still {
                return Some((local, eliminated));
            }
            (*modes, local) = (next, next_local);
        }
        let eliminated = self.eliminate(parameters, &local)?;
        Some((local, eliminated))
    }

    /// Approximates the likelihood at parameters (β, then σ of the few and the many), and moves
    /// the modes there. `None` where parameters are beyond all numbers.
    pub(super) fn at(&self, parameters: &[f64], modes: &mut Modes) -> Option<At> {
        if parameters.iter().any(|x| !x.is_finite() || 1e3 < x.abs()) {
            return None;
        }
        if modes.few.iter().chain(modes.many.iter()).any(|x| !x.is_finite()) {
            *modes = self.start();
        }
        let (sigma_few, sigma_many) = self.sigmas(parameters);
        let (local, eliminated) = self.find_mode(parameters, modes)?;
        let inverse = eliminated.few.inverse();
        let ln_det = 2.0 * eliminated.few.l().diagonal().iter().map(|x| x.ln()).sum::<f64>()
            + eliminated.diagonal.iter().map(|x| x.ln()).sum::<f64>();

        // Per row, the entries of H⁻¹ that its answer touches.
        let mut across = vec![0.0; self.rows.len()];
        let mut many_variances = vec![0.0; self.n_many];
        for (many, range) in self.rows_of_many.iter().enumerate() {
            let diagonal = eliminated.diagonal[many];
            let mut variance = 1.0;
            for one in range.clone() {
                let few = self.rows[one].few;
                let mut sum = 0.0;
                for other in range.clone() {
                    sum += inverse[(few, self.rows[other].few)] * local.variances[other];
                }
                across[one] = -sigma_few * sigma_many * sum / diagonal;
                variance -= sigma_few * sigma_many * local.variances[one] * across[one];
            }
            many_variances[many] = variance / diagonal;
        }

        // c = q W' / 2, and the adjoint a = H⁻¹ Zᵀ c.
        let mut third = Vec::with_capacity(self.rows.len());
        let mut right_few = DVector::zeros(self.n_few);
        let mut right_many = DVector::zeros(self.n_many);
        for (idx, row) in self.rows.iter().enumerate() {
            let leverage = sigma_few * sigma_few * inverse[(row.few, row.few)]
                + 2.0 * sigma_few * sigma_many * across[idx]
                + sigma_many * sigma_many * many_variances[row.many];
            let y = if row.is_right { 1.0 } else { 0.0 };
            let p = local.residuals[idx] + y;
            let c = leverage * local.variances[idx] * (1.0 - 2.0 * p) / 2.0;
            third.push(c);
            right_few[row.few] += sigma_few * c;
            right_many[row.many] += sigma_many * c;
        }
        let (a_few, a_many) = self.solve(parameters, &local, &eliminated, &right_few, &right_many);

        let mut gradient = vec![0.0; self.n_fixed + 2];
        for (idx, row) in self.rows.iter().enumerate() {
            let (residual, variance) = (local.residuals[idx], local.variances[idx]);
            let adjoint = sigma_few * a_few[row.few] + sigma_many * a_many[row.many];
            // What a change of η alone does: directly, by the determinant, by the moving mode.
            let by_log_odds = residual + third[idx] - variance * adjoint;
            gradient[row.fixed] += by_log_odds;
            gradient[self.n_fixed] += by_log_odds * modes.few[row.few]
                + variance * (sigma_few * inverse[(row.few, row.few)] + sigma_many * across[idx])
                - residual * a_few[row.few];
            gradient[self.n_fixed + 1] += by_log_odds * modes.many[row.many]
                + variance * (sigma_many * many_variances[row.many] + sigma_few * across[idx])
                - residual * a_many[row.many];
        }
        let value = local.value + ln_det / 2.0;
        let sound = value.is_finite() && gradient.iter().all(|x| x.is_finite());
        sound.then(|| At {
            value,
            gradient,
            few_effects: modes.few.iter().map(|u| sigma_few * u).collect(),
            few_sds: inverse
                .diagonal()
                .iter()
                .map(|variance| sigma_few.abs() * variance.max(0.0).sqrt())
                .collect(),
            many_effects: modes.many.iter().map(|v| sigma_many * v).collect(),
            many_sds: many_variances
                .iter()
                .map(|variance| sigma_many.abs() * variance.max(0.0).sqrt())
                .collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draw::Draw;
    use mohs_data::Seed;

    fn model() -> Laplace {
        let mut draw = Draw::new(Seed(5), &[1]);
        let rows = (0..60)
            .map(|idx| Row {
                few: idx % 4,
                many: idx / 5,
                fixed: (idx / 5) % 2,
                is_right: draw.chance(0.6),
            })
            .collect();
        Laplace::new(4, 12, 2, rows)
    }

    #[test]
    fn the_gradient_is_that_of_the_value() {
        let model = model();
        let x = [0.4, -0.3, 0.8, 1.3];
        let value = |x: &[f64]| model.at(x, &mut model.start()).unwrap().value;
        let gradient = model.at(&x, &mut model.start()).unwrap().gradient;
        for idx in 0..4 {
            let moved = |step: f64| {
                let mut x = x;
                x[idx] += step;
                value(&x)
            };
            let slope = (moved(1e-5) - moved(-1e-5)) / 2e-5;
            assert!((slope - gradient[idx]).abs() < 1e-6, "{idx}: {slope} {}", gradient[idx]);
        }
    }

    /// One effect at a time: with σ of the many at zero, the likelihood is a product of
    /// one-dimensional integrals, which a fine sum gives exactly.
    #[test]
    fn the_approximation_is_near_the_integral() {
        let model = model();
        let (beta, sigma) = ([0.4, -0.3], 0.8);
        let mut exact = 0.0;
        for few in 0..4 {
            let integrand = |u: f64| {
                let mut ln = -u * u / 2.0 - (std::f64::consts::TAU).ln() / 2.0;
                for row in model.rows.iter().filter(|row| row.few == few) {
                    let log_odds = beta[row.fixed] + sigma * u;
                    let signed = if row.is_right { log_odds } else { -log_odds };
                    ln -= (-signed).exp().ln_1p();
                }
                ln.exp()
            };
            let sum: f64 = (0..4_000).map(|k| integrand(-8.0 + 0.004 * f64::from(k)) * 0.004).sum();
            exact -= sum.ln();
        }
        let x = [beta[0], beta[1], sigma, 0.0];
        let approximate = model.at(&x, &mut model.start()).unwrap().value;
        assert!((approximate - exact).abs() < 0.05, "{approximate} {exact}");
    }
}
