//! BFGS: the least value of a smooth function of a few numbers, from its gradient.
//!
//! # References
//!
//! - J. Nocedal and S. J. Wright (2006), "Numerical Optimization", chapter 6.

use nalgebra::{DMatrix, DVector};

const MAX_STEPS: usize = 200;

/// Where the function is least.
#[derive(Debug, Clone)]
pub(super) struct Minimum {
    pub(super) x: Vec<f64>,
    pub(super) value: f64,
    pub(super) inverse_curvature: DMatrix<f64>,
    /// Whether the gradient vanished before the steps ran out.
    pub(super) is_settled: bool,
}

/// Walks down from `start` until no slope exceeds the tolerance; the function returns its value and gradient, or nothing where it has
/// none. `None` when it has none at the start.
pub(super) fn minimise(
    function: impl Fn(&[f64]) -> Option<(f64, Vec<f64>)>,
    start: &[f64],
    inverse_curvature: &DMatrix<f64>,
    tolerance: f64,
) -> Option<Minimum> {
    let mut x = DVector::from_column_slice(start);
    let mut inverse = inverse_curvature.clone();
    let (mut value, gradient) = function(start)?;
    let mut gradient = DVector::from_vec(gradient);
    let mut is_fresh = true;
    for _ in 0..MAX_STEPS {
        if gradient.amax() < tolerance {
            break;
        }
        let mut step = -(&inverse * &gradient);
        let mut slope = step.dot(&gradient);
        if 0.0 <= slope {
            inverse = inverse_curvature.clone();
            step = -(&inverse * &gradient);
            slope = step.dot(&gradient);
        }
        // No coordinate moves by more than this: log-odds and their spread live on a scale of 1.
        let longest = step.amax();
        if 2.0 < longest {
            step *= 2.0 / longest;
            slope *= 2.0 / longest;
        }
        let Some((next, next_value, next_gradient)) = shorter(&function, &x, value, &step, slope)
        else {
            if is_fresh {
                break;
            }
            inverse = inverse_curvature.clone();
            is_fresh = true;
            continue;
        };
        let moved = &next - &x;
        let turned = &next_gradient - &gradient;
        let curved = moved.dot(&turned);
        if 1e-14 < curved {
            let rho = 1.0 / curved;
            let n = x.len();
            let left = DMatrix::identity(n, n) - (&moved * turned.transpose()) * rho;
            inverse = &left * &inverse * left.transpose() + (&moved * moved.transpose()) * rho;
        }
        is_fresh = false;
        (x, value, gradient) = (next, next_value, next_gradient);
    }
    let is_settled = gradient.amax() < tolerance.sqrt();
    Some(Minimum { x: x.as_slice().to_vec(), value, inverse_curvature: inverse, is_settled })
}

/// Halves the step until the function falls enough (Armijo).
fn shorter(
    function: &impl Fn(&[f64]) -> Option<(f64, Vec<f64>)>,
    x: &DVector<f64>,
    value: f64,
    step: &DVector<f64>,
    slope: f64,
) -> Option<(DVector<f64>, f64, DVector<f64>)> {
    let mut length = 1.0;
    for _ in 0..30 {
        let next = x + step * length;
        if let Some((next_value, gradient)) = function(next.as_slice())
            && next_value <= value + 1e-4 * length * slope
        {
            return Some((next, next_value, DVector::from_vec(gradient)));
        }
        length /= 2.0;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bottom_of_rosenbrocks_valley_is_found() {
        let rosenbrock = |x: &[f64]| {
            let (a, b) = (1.0 - x[0], x[1] - x[0] * x[0]);
            Some((a * a + 100.0 * b * b, vec![-2.0 * a - 400.0 * x[0] * b, 200.0 * b]))
        };
        let minimum = minimise(rosenbrock, &[-1.2, 1.0], &DMatrix::identity(2, 2), 1e-6).unwrap();
        assert!(minimum.is_settled);
        assert!(minimum.x.iter().all(|x| (x - 1.0).abs() < 1e-5), "{minimum:?}");
    }
}
