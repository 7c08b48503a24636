//! Shares of bands in two sets, side by side.

use std::collections::BTreeMap;

use mohs_data::{Difficulty, Estimate};

use super::BandShares;
use crate::proportion::{real, wilson};

/// Returns the shares of each band in both sets, easiest band first; empty when either set has no
/// bands.
pub(super) fn side_by_side(a: &[Difficulty], b: &[Difficulty], confidence: f64) -> Vec<BandShares> {
    /// Stimuli of A, of B, and the sum of their difficulties.
    type Counts<'a> = BTreeMap<&'a str, (usize, usize, f64)>;
    let mut counts = Counts::new();
    for (set, is_a) in [(a, true), (b, false)] {
        for row in set {
            let Some(band) = row.band.as_deref() else { continue };
            let count = counts.entry(band).or_default();
            count.0 += usize::from(is_a);
            count.1 += usize::from(!is_a);
            count.2 += row.estimate.value;
        }
    }
    let n_a: usize = counts.values().map(|count| count.0).sum();
    let n_b: usize = counts.values().map(|count| count.1).sum();
    let mut bands: Vec<(&str, usize, usize, f64)> = counts
        .iter()
        .map(|(band, (n_a, n_b, sum))| (*band, *n_a, *n_b, sum / real(n_a + n_b)))
        .collect();
    // Bands of exposure sort by their milliseconds, others by how hard their stimuli are.
    bands.sort_by(|x, y| {
        let by_number = match (milliseconds(x.0), milliseconds(y.0)) {
            (Some(x), Some(y)) => x.total_cmp(&y),
            (x, y) => y.is_some().cmp(&x.is_some()),
        };
        by_number.then(x.3.total_cmp(&y.3)).then(x.0.cmp(y.0))
    });
    bands
        .into_iter()
        .filter_map(|(band, in_a, in_b, _)| {
            let (a, b) = (wilson(in_a, n_a, confidence)?, wilson(in_b, n_b, confidence)?);
            Some(BandShares { band: band.to_owned(), difference: newcombe(&a, &b)?, a, b })
        })
        .collect()
}

/// Returns the time a band is named after, as [`mohs_data::Millis`] writes it.
fn milliseconds(band: &str) -> Option<f64> {
    let (number, unit) = band.split_once(' ').unwrap_or((band, "ms"));
    let factor = if unit == "s" { 1_000.0 } else { 1.0 };
    number.parse::<f64>().ok().map(|number| number * factor)
}

/// Returns the difference of two independent shares with Newcombe's interval: each end takes the
/// nearer ends of both Wilson intervals.
fn newcombe(a: &Estimate, b: &Estimate) -> Option<Estimate> {
    let difference = a.value - b.value;
    let below = (a.value - a.low).hypot(b.high - b.value);
    let above = (a.high - a.value).hypot(b.value - b.low);
    let (low, high) = ((difference - below).max(-1.0), (difference + above).min(1.0));
    Estimate::new(difference, low, high, a.confidence, a.n + b.n)
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
