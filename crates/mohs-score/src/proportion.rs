//! A share of successes and its Wilson interval.
//!
//! # Formula
//!
//! ```text
//! (p + z²/2n ± z √(p(1-p)/n + z²/4n²)) / (1 + z²/n)
//! ```
//!
//! `p` is the share, `n` the number of trials, `z` the normal quantile of the confidence. Unlike
//! the textbook interval it never leaves `[0, 1]` and does not collapse at 0 or 1.
//!
//! # References
//!
//! - E. B. Wilson (1927), "Probable inference, the law of succession, and statistical inference".

use mohs_data::Estimate;
use statrs::function::erf::erf_inv;

/// Returns the share of successes with its Wilson interval; `None` without trials.
pub fn wilson(n_successes: usize, n: usize, confidence: f64) -> Option<Estimate> {
    if n == 0 || n < n_successes {
        return None;
    }
    wilson_of_share(real(n_successes) / real(n), n, confidence)
}

/// Returns a share that is not a count of successes (a mean of probabilities, say) with the
/// interval Wilson's formula gives it; `None` without trials or outside `[0, 1]`.
pub fn wilson_of_share(p: f64, n: usize, confidence: f64) -> Option<Estimate> {
    if n == 0 || !(0.0..=1.0).contains(&p) {
        return None;
    }
    let n_real = real(n);
    let z = normal_quantile(0.5 + confidence / 2.0);
    let centre = p + z * z / (2.0 * n_real);
    let spread = z * (p * (1.0 - p) / n_real + z * z / (4.0 * n_real * n_real)).sqrt();
    let scale = 1.0 + z * z / n_real;
    // Rounding must not push an end past the share itself or out of [0, 1].
    let low = ((centre - spread) / scale).clamp(0.0, p);
    let high = ((centre + spread) / scale).clamp(p, 1.0);
    Estimate::new(p, low, high, confidence, n)
}

/// Returns the difference of two independent shares with Newcombe's interval: each end takes the
/// nearer ends of both Wilson intervals. `None` only if a number is not finite.
pub fn newcombe(a: &Estimate, b: &Estimate) -> Option<Estimate> {
    let difference = a.value - b.value;
    let below = (a.value - a.low).hypot(b.high - b.value);
    let above = (a.high - a.value).hypot(b.value - b.low);
    let (low, high) = ((difference - below).max(-1.0), (difference + above).min(1.0));
    Estimate::new(difference, low, high, a.confidence, a.n + b.n)
}

/// Returns the point below which a standard normal number falls with probability `p`.
pub fn normal_quantile(p: f64) -> f64 {
    std::f64::consts::SQRT_2 * erf_inv(2.0 * p - 1.0)
}

/// Turns a count into a number; counts of trials are far below 2^53.
#[expect(clippy::cast_precision_loss, reason = "counts of trials are far below 2^53")]
pub(crate) fn real(n: usize) -> f64 {
    n as f64
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(n_successes: usize, n: usize, low: f64, high: f64) {
        let estimate = wilson(n_successes, n, 0.95).unwrap();
        assert!((estimate.low - low).abs() < 1e-9, "{estimate:?}");
        assert!((estimate.high - high).abs() < 1e-9, "{estimate:?}");
    }

    /// Golden: scipy 1.17.1, `binomtest(k, n).proportion_ci(0.95, "wilson")`.
    #[test]
    fn the_interval_is_wilsons() {
        check(4, 7, 0.250_458_364_5, 0.841_780_144_7);
        check(0, 10, 0.0, 0.277_532_799_9);
        check(10, 10, 0.722_467_200_1, 1.0);
        check(33, 42, 0.640_601_546_8, 0.882_942_001_2);
    }

    /// Golden: Newcombe 1998, table II, method 10, rows (a) 56/70 − 48/80 and (e) 5/56 − 0/29.
    #[test]
    fn the_interval_is_newcombes() {
        let of = |a: (usize, usize), b: (usize, usize)| {
            newcombe(&wilson(a.0, a.1, 0.95).unwrap(), &wilson(b.0, b.1, 0.95).unwrap()).unwrap()
        };
        let first = of((56, 70), (48, 80));
        assert!((first.low - 0.0524).abs() < 1e-4 && (first.high - 0.3339).abs() < 1e-4);
        let fifth = of((5, 56), (0, 29));
        assert!((fifth.low + 0.0381).abs() < 1e-4 && (fifth.high - 0.1926).abs() < 1e-4);
    }

    #[test]
    fn no_trials_no_share() {
        assert!(wilson(0, 0, 0.95).is_none());
        assert!(wilson(2, 1, 0.95).is_none());
    }

    proptest! {
        #[test]
        fn the_interval_holds_the_share_and_is_symmetric(n in 1_usize..500, k in 0_usize..500) {
            let k = k.min(n);
            let e = wilson(k, n, 0.9).unwrap();
            prop_assert!(0.0 <= e.low && e.low <= e.value && e.value <= e.high && e.high <= 1.0);
            let mirrored = wilson(n - k, n, 0.9).unwrap();
            prop_assert!((mirrored.low - (1.0 - e.high)).abs() < 1e-12);
        }

        #[test]
        fn more_confidence_is_wider(n in 1_usize..500, k in 0_usize..500) {
            let k = k.min(n);
            let narrow = wilson(k, n, 0.8).unwrap();
            let wide = wilson(k, n, 0.99).unwrap();
            prop_assert!(wide.low <= narrow.low && narrow.high <= wide.high);
        }
    }
}
