//! Units as types: milliseconds, frames, seeds.
//!
//! A bare number never crosses a function boundary as a time. Outside Rust the unit stands in the
//! column name (`exposure_ms`).

use std::cmp::Ordering;
use std::fmt;

use serde::{Deserialize, Serialize};

/// A time in milliseconds.
///
/// Invariant: finite. Ordered and comparable for that reason.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[serde(try_from = "f64", into = "f64")]
pub struct Millis(f64);

impl Millis {
    /// Returns the time, or `None` if `ms` is not finite.
    pub fn new(ms: f64) -> Option<Self> {
        // Adding zero turns -0.0 into 0.0, so that equal times are equal bytes.
        ms.is_finite().then_some(Self(ms + 0.0))
    }

    /// Returns the number of milliseconds.
    pub fn value(self) -> f64 {
        self.0
    }
}

impl TryFrom<f64> for Millis {
    type Error = NotFinite;

    fn try_from(ms: f64) -> Result<Self, NotFinite> {
        Self::new(ms).ok_or(NotFinite)
    }
}

impl From<Millis> for f64 {
    fn from(ms: Millis) -> Self {
        ms.0
    }
}

/// A time that is not a finite number.
#[derive(Debug, thiserror::Error)]
#[error("a time must be a finite number of milliseconds")]
pub struct NotFinite;

impl PartialEq for Millis {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Millis {}

impl PartialOrd for Millis {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Millis {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.total_cmp(&other.0)
    }
}

impl std::ops::Sub for Millis {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        // Two finite times can be infinitely far apart in `f64`; the invariant stays.
        Self((self.0 - other.0).clamp(f64::MIN, f64::MAX))
    }
}

impl fmt::Display for Millis {
    /// Prints `17 ms`, `1.5 s` or `10 s`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.abs() < 1_000.0 {
            write!(f, "{} ms", round_to(self.0, 1))
        } else {
            write!(f, "{} s", round_to(self.0 / 1_000.0, 2))
        }
    }
}

fn round_to(x: f64, digits: i32) -> f64 {
    let scale = 10f64.powi(digits);
    (x * scale).round() / scale
}

/// A number of screen refreshes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Frames(pub u32);

impl Frames {
    /// Returns the time these frames take at `refresh_hz`, rounded to whole milliseconds as the
    /// viewing-time paper does (1 frame at 60 Hz is 17 ms).
    ///
    /// `None` if the rate is not a positive number.
    pub fn at(self, refresh_hz: f64) -> Option<Millis> {
        if refresh_hz.is_nan() || refresh_hz <= 0.0 {
            return None;
        }
        Millis::new((f64::from(self.0) / refresh_hz * 1_000.0).round())
    }
}

/// The number every random draw of a run comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Seed(pub u64);

impl fmt::Display for Seed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_at_60_hz_are_the_exposures_of_the_paper() {
        let ms: Vec<f64> =
            [1, 3, 6, 9, 15, 600].map(|n| Frames(n).at(60.0).unwrap().value()).to_vec();
        assert_eq!(ms, [17.0, 50.0, 100.0, 150.0, 250.0, 10_000.0]);
    }

    #[test]
    fn a_time_is_finite() {
        assert!(Millis::new(f64::NAN).is_none());
        assert!(Millis::new(f64::INFINITY).is_none());
        assert!(Frames(1).at(0.0).is_none());
        assert!(Frames(1).at(f64::NAN).is_none());
    }

    #[test]
    fn times_print_with_their_unit() {
        let printed = |ms| Millis::new(ms).unwrap().to_string();
        assert_eq!(printed(17.0), "17 ms");
        assert_eq!(printed(10_000.0), "10 s");
        assert_eq!(printed(1_250.0), "1.25 s");
    }
}
