//! Shares of bands in two sets, side by side.

use std::collections::BTreeMap;

use mohs_data::Difficulty;

use super::BandShares;
use crate::proportion::{newcombe, real, wilson};

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
