//! Intervals of estimated shares.
//!
//! # Formula
//!
//! Wilson's interval with the number of independent answers that would have the same variance:
//!
//! ```text
//! n' = p (1 - p) / V
//! ```
//!
//! `p` is the estimate and `V` its variance. The quantile is Student's where few answers stand
//! behind the variance (Satterthwaite's degrees of freedom). Where every answer was the same, `V`
//! is 0 and proves nothing: the number of answers takes the place of `n'`, more of them the smaller
//! the share that was not asked. The same is so where the estimate is less than one answer away from
//! 0 or 1, or beyond: there `p` in the formula is that with one right and one wrong answer added. For
//! the same reason no estimate is taken for more precise than four times as many answers of a plain
//! sample would be. Where every answer was right the interval reaches 1, where every one was wrong 0,
//! whatever forecasts say. A ladder that was asked completely has no doubt left.

use mohs_data::Estimate;
use statrs::distribution::{ContinuousCDF, StudentsT};

use super::estimator::Moments;
use crate::proportion::{normal_quantile, real};

/// Above so many degrees of freedom Student's distribution is normal to three digits.
const NORMAL_FROM: f64 = 300.0;
/// Differences so small come from adding up, not from the model.
const ROUNDING: f64 = 1e-12;

/// Returns an estimated share with its interval; `None` if a number is not finite.
pub fn interval(moments: &Moments, confidence: f64) -> Option<Estimate> {
    let Moments { value, variance, freedom, n_asked, n_stimuli, n_right } = *moments;
    if n_stimuli <= n_asked && variance <= ROUNDING {
        // Sums of weights are off in their last digits, and a full run says one number.
        let value = (value / ROUNDING).round() * ROUNDING;
        return Estimate::new(value, value, value, confidence, n_asked);
    }
    let variance = variance.max(least_variance(value, n_asked, n_stimuli));
    let z = quantile(freedom, confidence);
    let n_plain = real(n_asked) / unasked(n_asked, n_stimuli).max(1e-9);
    let (low, high) = if value.min(1.0 - value) * real(n_asked) < 1.0 || variance <= 0.0 {
        let p = with_one_of_each(value, n_asked);
        let n = (p * (1.0 - p) / variance).min(n_plain);
        wilson_ends(value.clamp(0.0, 1.0), n, z)
    } else {
        wilson_ends(value, value * (1.0 - value) / variance, z)
    };
    // Forecasts may move the estimate, but who never saw a wrong answer cannot rule out that there is
    // none.
    let low = if n_right == Some(0) { 0.0 } else { low };
    let high = if n_right == Some(n_asked) { 1.0 } else { high };
    Estimate::new(value, low.min(value), high.max(value), confidence, n_asked)
}

/// How much more precise than a plain sample an estimate may claim to be: strata and forecasts gain
/// a factor of two or three.
const MOST_GAIN: f64 = 4.0;

/// The variance of a plain sample of [`MOST_GAIN`] times as many answers, with one right and one
/// wrong answer added so that it is never 0.
fn least_variance(value: f64, n_asked: usize, n_stimuli: usize) -> f64 {
    let p = with_one_of_each(value, n_asked);
    unasked(n_asked, n_stimuli) * p * (1.0 - p) / (real(n_asked.max(1)) * MOST_GAIN)
}

/// The share of right answers, had there been one right and one wrong answer more.
fn with_one_of_each(value: f64, n_asked: usize) -> f64 {
    let n = real(n_asked);
    (value.clamp(0.0, 1.0) * n + 1.0) / (n + 2.0)
}

fn unasked(n_asked: usize, n_stimuli: usize) -> f64 {
    (1.0 - real(n_asked) / real(n_stimuli.max(1))).max(0.0)
}

fn quantile(freedom: f64, confidence: f64) -> f64 {
    let p = 0.5 + confidence / 2.0;
    if NORMAL_FROM <= freedom || freedom.is_nan() {
        return normal_quantile(p);
    }
    StudentsT::new(0.0, 1.0, freedom.max(1.0))
        .map_or_else(|_| normal_quantile(p), |t| t.inverse_cdf(p))
}

fn wilson_ends(p: f64, n: f64, z: f64) -> (f64, f64) {
    let centre = p + z * z / (2.0 * n);
    let spread = z * (p * (1.0 - p) / n + z * z / (4.0 * n * n)).sqrt();
    let scale = 1.0 + z * z / n;
    (((centre - spread) / scale).max(0.0), ((centre + spread) / scale).min(1.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proportion::wilson;

    fn moments(value: f64, variance: f64, n_asked: usize) -> Moments {
        let (freedom, n_stimuli, n_right) = (1e6, 1_000_000, None);
        Moments { value, variance, freedom, n_asked, n_stimuli, n_right }
    }

    #[test]
    fn the_variance_of_plain_answers_gives_wilsons_interval() {
        let found = interval(&moments(0.3, 0.21 / 100.0, 100), 0.95).unwrap();
        let expected = wilson(30, 100, 0.95).unwrap();
        assert!(
            (found.low - expected.low).abs() < 1e-9 && (found.high - expected.high).abs() < 1e-9
        );
    }

    #[test]
    fn equal_answers_leave_a_doubt_until_all_are_asked() {
        let some = interval(&moments(1.0, 0.0, 20), 0.95).unwrap();
        assert!(some.low < 0.85 && some.low > 0.8, "{some:?}");
        let all = Moments { n_stimuli: 20, ..moments(1.0, 0.0, 20) };
        let all = interval(&all, 0.95).unwrap();
        assert!((all.high - all.low).abs() < 1e-12);
    }

    #[test]
    fn answers_that_happen_to_agree_with_forecasts_prove_little() {
        let found = interval(&moments(0.8, 1e-6, 6), 0.95).unwrap();
        assert!(0.1 < found.half_width(), "{found:?}");
    }

    #[test]
    fn a_full_run_has_the_digits_of_its_share() {
        let added_up = Moments { n_stimuli: 600, ..moments(0.254_999_999_999_997_3, 1e-17, 600) };
        let found = interval(&added_up, 0.95).unwrap();
        assert!((found.value - 0.255).abs() < 1e-15 && found.low <= 0.255 && 0.255 <= found.high);
    }

    /// A control variate seldom says exactly 0, and the last digits must not decide.
    #[test]
    fn next_to_nothing_is_as_good_as_nothing() {
        let nothing = interval(&moments(0.0, 1e-6, 90), 0.95).unwrap();
        assert!((0.03..0.06).contains(&nothing.high), "{nothing:?}");
        for value in [1e-17, 1e-9, -1e-9, -1e-4, 1e-4] {
            let found = interval(&moments(value, 1e-6, 90), 0.95).unwrap();
            assert!((found.high - nothing.high).abs() < 1e-3, "{found:?}");
            let mirrored = interval(&moments(1.0 - value, 1e-6, 90), 0.95).unwrap();
            assert!((1.0 - mirrored.low - nothing.high).abs() < 1e-3, "{mirrored:?}");
        }
    }

    #[test]
    fn few_degrees_of_freedom_widen() {
        let few = Moments { freedom: 3.0, ..moments(0.5, 0.01, 10) };
        let wide = interval(&few, 0.95).unwrap();
        let narrow = interval(&moments(0.5, 0.01, 10), 0.95).unwrap();
        assert!(narrow.half_width() * 1.2 < wide.half_width());
    }

    #[test]
    fn an_estimate_beyond_the_ends_stays_in_its_interval() {
        let found = interval(&moments(-0.01, 0.0004, 50), 0.95).unwrap();
        assert!(
            found.low <= found.value && found.value <= found.high && found.high < 0.2,
            "{found:?}"
        );
    }
}
