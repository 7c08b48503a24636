//! A number with its doubt: value, interval, confidence and how many observations stand behind it.

use serde::{Deserialize, Serialize};

/// An estimated quantity.
///
/// Invariant: all numbers finite, `low <= high`, `0 < confidence < 1`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Unchecked")]
pub struct Estimate {
    /// The best single number.
    pub value: f64,
    /// Lower end of the interval.
    pub low: f64,
    /// Upper end of the interval.
    pub high: f64,
    /// How often intervals made this way hold the truth, e.g. 0.95.
    pub confidence: f64,
    /// Observations the number rests on (the doc of each measure says of what).
    pub n: usize,
}

/// An estimate as a file claims it.
#[derive(Deserialize)]
struct Unchecked {
    value: f64,
    low: f64,
    high: f64,
    confidence: f64,
    n: usize,
}

impl TryFrom<Unchecked> for Estimate {
    type Error = NotAnEstimate;

    fn try_from(claimed: Unchecked) -> Result<Self, NotAnEstimate> {
        let Unchecked { value, low, high, confidence, n } = claimed;
        Self::new(value, low, high, confidence, n).ok_or(NotAnEstimate)
    }
}

/// Numbers that are no estimate.
#[derive(Debug, thiserror::Error)]
#[error("an estimate needs finite numbers, `low` at most `high`, and a confidence between 0 and 1")]
pub struct NotAnEstimate;

impl Estimate {
    /// Returns the estimate, or `None` if a number is not finite or the interval is reversed:
    /// "no answer" is not a number.
    pub fn new(value: f64, low: f64, high: f64, confidence: f64, n: usize) -> Option<Self> {
        let sound = value.is_finite()
            && low.is_finite()
            && high.is_finite()
            && low <= high
            && 0.0 < confidence
            && confidence < 1.0;
        sound.then_some(Self { value, low, high, confidence, n })
    }

    /// Returns half the width of the interval.
    pub fn half_width(&self) -> f64 {
        (self.high - self.low) / 2.0
    }

    /// Returns the estimate with each number multiplied by a positive factor, e.g. for percent.
    #[must_use]
    pub fn scaled(&self, factor: f64) -> Self {
        Self {
            value: self.value * factor,
            low: self.low * factor,
            high: self.high * factor,
            ..*self
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_cannot_claim_a_reversed_interval() {
        let json = r#"{"value":0.5,"low":0.9,"high":0.1,"confidence":0.95,"n":3}"#;
        assert!(serde_json::from_str::<Estimate>(json).is_err());
    }

    #[test]
    fn no_estimate_is_made_of_nan() {
        assert!(Estimate::new(f64::NAN, 0.0, 1.0, 0.95, 3).is_none());
        assert!(Estimate::new(0.5, 0.0, f64::INFINITY, 0.95, 3).is_none());
        assert!(Estimate::new(0.5, 1.0, 0.0, 0.95, 3).is_none());
        assert!(Estimate::new(0.5, 0.0, 1.0, 1.0, 3).is_none());
    }
}
