//! Intervals of means of numbers that lie in a known range.
//!
//! # Formula
//!
//! ```text
//! m ± t(n - 1) √V          cut off at the ends of the range
//! ```
//!
//! `m` is the mean, `V` the variance of the mean, `n` the observations. Where all observations are
//! the same, `V` is zero and certainty would be a lie; then the mean's place in its range gets
//! Wilson's interval, which is that of the widest numbers such a range can hold.

use mohs_data::Estimate;
use statrs::distribution::{ContinuousCDF, StudentsT};

use crate::proportion::{real, wilson_of_share};

/// Returns a mean with its interval; `None` without observations or outside its range.
pub(super) fn interval(
    value: f64,
    variance: f64,
    n: usize,
    confidence: f64,
    (from, to): (f64, f64),
) -> Option<Estimate> {
    if n == 0 || !value.is_finite() || value < from || to < value {
        return None;
    }
    if n < 2 || !variance.is_finite() || variance <= 0.0 {
        let width = to - from;
        if width <= 0.0 {
            return Estimate::new(value, value, value, confidence, n);
        }
        let share = wilson_of_share(((value - from) / width).clamp(0.0, 1.0), n, confidence)?;
        let low = (from + width * share.low).min(value);
        let high = (from + width * share.high).max(value);
        return Estimate::new(value, low, high, confidence, n);
    }
    let student = StudentsT::new(0.0, 1.0, real(n - 1)).ok()?;
    let half = student.inverse_cdf(0.5 + confidence / 2.0) * variance.sqrt();
    Estimate::new(value, (value - half).max(from), (value + half).min(to), confidence, n)
}

/// Returns the mean of some numbers and the variance of that mean; `None` without numbers.
pub(super) fn mean_and_variance(values: &[f64]) -> Option<(f64, f64)> {
    if values.is_empty() {
        return None;
    }
    let n = real(values.len());
    let mean = values.iter().sum::<f64>() / n;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    let variance = if 1 < values.len() { squares / (n - 1.0) / n } else { 0.0 };
    Some((mean, variance))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Mean 2 of 1, 2, 3: variance 1, of the mean 1/3; t(2) = 4.302653.
    #[test]
    fn the_interval_is_students() {
        let (mean, variance) = mean_and_variance(&[1.0, 2.0, 3.0]).unwrap();
        let found = interval(mean, variance, 3, 0.95, (-10.0, 10.0)).unwrap();
        let half = 4.302_652_729_911_275 / 3.0_f64.sqrt();
        assert!((found.low - (2.0 - half)).abs() < 1e-6, "{found:?}");
        assert!((found.high - (2.0 + half)).abs() < 1e-6, "{found:?}");
    }

    #[test]
    fn what_never_varies_is_not_certain_and_stays_in_its_range() {
        let found = interval(0.05, 0.0, 10, 0.95, (0.0, 0.05)).unwrap();
        assert!(found.low < 0.05 && 0.03 < found.low && found.high <= 0.05, "{found:?}");
        assert_eq!(interval(0.1, 0.0, 0, 0.95, (0.0, 1.0)), None);
        assert_eq!(interval(2.0, 0.0, 3, 0.95, (0.0, 1.0)), None);
        assert_eq!(mean_and_variance(&[]), None);
    }
}
