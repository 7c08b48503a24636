//! Steepness: how sharply a curve bends, as its mean curvature.
//!
//! # Formula
//!
//! ```text
//! κ = |x″ y′ - x′ y″| / (x′² + y′²)^1.5         at 20 points, equally spaced in time
//! steepness = mean of κ,   its spread over the curve = SD of κ / √20
//! ```
//!
//! Derivatives are differences over the points' index: central within, one-sided at the ends, and
//! the same once more for second derivatives. That is the published program's choice.
//!
//! Curvature has a unit, one over the unit of the axes. With time in milliseconds the bend of a
//! whole study is a few millionths and hangs on the unit of time alone, so by default time is
//! scaled to run from 0 at the first block to 1 at the last; accuracy runs from 0 to 1 by nature.
//! [`Scaling::Paper`] leaves the axes as they are.
//!
//! # References
//!
//! - A. Subramanian et al. (2022), "SATBench", appendix D.2.

use serde::{Deserialize, Serialize};

use crate::correlation::mean;
use crate::proportion::real;

/// Points at which a curve's bend is taken.
pub const N_POINTS: usize = 20;

/// Axes on which curvature is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scaling {
    /// Time from 0 at the first block to 1 at the last, accuracy from 0 to 1.
    #[default]
    Normalised,
    /// Time in milliseconds, as printed; the curve is the paper's: from 0 to 1, by least squares.
    Paper,
}

impl Scaling {
    /// The words on the command line and in files.
    pub const WORDS: [(&'static str, Self); 2] =
        [("normalised", Self::Normalised), ("paper", Self::Paper)];

    /// Returns the word in files.
    pub fn as_str(self) -> &'static str {
        Self::WORDS[self as usize].0
    }
}

/// How a curve bends.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bend {
    /// Mean curvature over the points.
    pub mean: f64,
    /// Standard deviation over the points (of all of them, not of a sample) over the root of their
    /// number.
    pub spread: f64,
}

/// Returns the steepness of a curve between two times; `None` unless `start < end`.
pub fn steepness(
    curve: impl Fn(f64) -> f64,
    start: f64,
    end: f64,
    scaling: Scaling,
) -> Option<Bend> {
    if start.partial_cmp(&end) != Some(std::cmp::Ordering::Less) {
        return None;
    }
    let place = |idx: usize| real(idx) / real(N_POINTS - 1);
    let times: Vec<f64> = (0..N_POINTS).map(|idx| start + (end - start) * place(idx)).collect();
    let y: Vec<f64> = times.iter().map(|time| curve(*time)).collect();
    let x = match scaling {
        Scaling::Normalised => (0..N_POINTS).map(place).collect(),
        Scaling::Paper => times,
    };
    mean_curvature(&x, &y)
}

/// Returns the mean curvature of a line through points; `None` for fewer than three points,
/// different numbers of coordinates, or a line that stands still or runs off.
pub fn mean_curvature(x: &[f64], y: &[f64]) -> Option<Bend> {
    if x.len() != y.len() || x.len() < 3 {
        return None;
    }
    let (x1, y1) = (gradient(x), gradient(y));
    let (x2, y2) = (gradient(&x1), gradient(&y1));
    let curvature: Vec<f64> = (0..x.len())
        .map(|i| {
            let speed_squared = x1[i] * x1[i] + y1[i] * y1[i];
            (x2[i] * y1[i] - x1[i] * y2[i]).abs() / speed_squared.powf(1.5)
        })
        .collect();
    let mean = mean(&curvature);
    let variance =
        curvature.iter().map(|k| (k - mean).powi(2)).sum::<f64>() / real(curvature.len());
    let spread = (variance / real(curvature.len())).sqrt();
    (mean.is_finite() && spread.is_finite()).then_some(Bend { mean, spread })
}

/// Returns differences per index step: central within, one-sided at the ends. At least two values.
fn gradient(values: &[f64]) -> Vec<f64> {
    let last = values.len() - 1;
    (0..values.len())
        .map(|idx| match idx {
            0 => values[1] - values[0],
            idx if idx == last => values[last] - values[last - 1],
            idx => (values[idx + 1] - values[idx - 1]) / 2.0,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn between(start: f64, end: f64) -> Vec<f64> {
        (0..20).map(|idx| start + (end - start) * f64::from(idx) / 19.0).collect()
    }

    /// Reference vectors: the code printed in appendix D.2, run with numpy.
    #[test]
    fn the_bend_is_that_of_the_code_as_printed() {
        let x = between(0.0, 5.0);
        let y: Vec<f64> = x.iter().map(|x| 1.0 - (-(x / 2.5).powi(3)).exp()).collect();
        let bend = mean_curvature(&x, &y).unwrap();
        assert!((bend.mean - 0.158_144_32).abs() < 1e-8, "{bend:?}");
        assert!((bend.spread - 0.021_685_77).abs() < 1e-8, "{bend:?}");

        let weibull = |x: f64| 1.0 - (-(x / 1_200.0).powi(4)).exp();
        let bend = steepness(weibull, 500.0, 1_500.0, Scaling::Paper).unwrap();
        assert!((bend.mean - 1.582_703_24e-6).abs() < 1e-14, "{bend:?}");
        assert!((bend.spread - 1.445_164_37e-7).abs() < 1e-15, "{bend:?}");
    }

    #[test]
    fn three_points_come_out_as_worked_by_hand() {
        let bend = mean_curvature(&[0.0, 1.0, 2.0], &[0.0, 1.0, 1.0]).unwrap();
        let by_hand = [0.5 / 2_f64.powf(1.5), 0.5 / 1.25_f64.powf(1.5), 0.5];
        assert!((bend.mean - by_hand.iter().sum::<f64>() / 3.0).abs() < 1e-12);
        assert!((bend.mean - 0.345).abs() < 5e-4);
    }

    #[test]
    fn a_straight_line_does_not_bend_and_a_circle_bends_by_its_radius() {
        let x = between(0.0, 1.0);
        let line: Vec<f64> = x.iter().map(|x| 0.2 + 0.5 * x).collect();
        assert!(mean_curvature(&x, &line).unwrap().mean < 1e-12);
        let angles: Vec<f64> = (0..400).map(|idx| f64::from(idx) * 0.01).collect();
        let x: Vec<f64> = angles.iter().map(|a| 4.0 * a.cos()).collect();
        let y: Vec<f64> = angles.iter().map(|a| 4.0 * a.sin()).collect();
        let bend = mean_curvature(&x, &y).unwrap();
        assert!((bend.mean - 0.25).abs() < 1e-3, "{bend:?}");
    }

    #[test]
    fn no_bend_of_two_points_or_of_a_line_that_stands_still() {
        assert_eq!(mean_curvature(&[0.0, 1.0], &[0.0, 1.0]), None);
        assert_eq!(mean_curvature(&[1.0; 4], &[1.0; 4]), None);
        assert_eq!(mean_curvature(&[0.0, 1.0, 2.0], &[0.0, 1.0]), None);
        assert_eq!(steepness(|_| 0.5, 2.0, 2.0, Scaling::Normalised), None);
        assert_eq!(steepness(|_| 0.5, f64::NAN, 2.0, Scaling::Normalised), None);
    }

    proptest! {
        #[test]
        fn on_normalised_axes_the_unit_of_time_does_not_matter(
            shape in 0.5_f64..8.0, scale in 300.0_f64..2_000.0, unit in 0.001_f64..1_000.0,
        ) {
            let curve = |scale: f64| move |time: f64| 1.0 - (-(time / scale).powf(shape)).exp();
            let ms = steepness(curve(scale), 500.0, 1_500.0, Scaling::Normalised).unwrap();
            let (start, end) = (500.0 * unit, 1_500.0 * unit);
            let other = steepness(curve(scale * unit), start, end, Scaling::Normalised).unwrap();
            prop_assert!((ms.mean - other.mean).abs() < 1e-8 * (1.0 + ms.mean));
        }
    }
}
