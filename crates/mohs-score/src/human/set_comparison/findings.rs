//! What two sets of difficulties say about each other, as data.
//!
//! These types cross a boundary: they are the comparison chapter of `summary.json`.

use mohs_data::{Caveats, Estimate};
use serde::{Deserialize, Serialize};

/// What two sets of difficulties say about each other. Differences are A minus B: positive means
/// that A is harder.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SetComparison {
    /// The measure both sets have.
    pub measure: String,
    /// Confidence of all intervals.
    pub confidence: f64,
    /// Bootstrap draws over stimuli.
    pub n_resamples: usize,
    /// Seed of the bootstrap.
    pub seed: u64,
    /// The first set.
    pub a: SetFacts,
    /// The second set.
    pub b: SetFacts,
    /// Mean of A minus mean of B; n = stimuli of both.
    pub difference_of_means: Estimate,
    /// Median of A minus median of B; n = stimuli of both.
    pub difference_of_medians: Estimate,
    /// Chance that a stimulus drawn from A is harder than one drawn from B, ties counting half;
    /// n = stimuli of both.
    pub p_a_harder: Estimate,
    /// Any difference between the distributions.
    pub kolmogorov_smirnov: TwoSampleTest,
    /// A shift between the distributions; the statistic is `U` of A.
    pub mann_whitney: TwoSampleTest,
    /// Bands of both, from easiest to hardest; empty where the measure has none.
    pub bands: Vec<BandShares>,
    /// Stimuli of both in equal steps of difficulty.
    pub histogram: Vec<HistogramBin>,
    /// The stimuli that both sets have, each with itself; `None` when they have none in common.
    pub paired: Option<PairedDifference>,
    /// Reasons for less trust.
    pub caveats: Caveats,
}

impl SetComparison {
    /// Returns whether A is harder, as far as the interval of the difference of means tells: `None`
    /// when it holds zero.
    pub fn is_a_harder(&self) -> Option<bool> {
        let difference = &self.difference_of_means;
        let holds_zero = difference.low <= 0.0 && 0.0 <= difference.high;
        (!holds_zero).then_some(0.0 < difference.value)
    }
}

/// One set by itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SetFacts {
    /// Its name.
    pub name: String,
    /// Its stimuli.
    pub n_stimuli: usize,
    /// Mean difficulty; n = stimuli.
    pub mean: Estimate,
    /// Median difficulty; n = stimuli.
    pub median: Estimate,
    /// Standard deviation of the difficulties measured.
    pub sd: f64,
    /// Share of their variance that is noise of measurement, by the stimuli's own intervals.
    pub noise_share: f64,
}

/// A two-sample test.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TwoSampleTest {
    /// The statistic.
    pub statistic: f64,
    /// Chance of a statistic at least as extreme if both sets came from one distribution.
    pub p_value: f64,
    /// Whether the p-value was counted exactly or taken from the limit for large samples.
    pub is_exact: bool,
    /// Stimuli of A.
    pub n_a: usize,
    /// Stimuli of B.
    pub n_b: usize,
}

/// One band in both sets.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BandShares {
    /// Its name.
    pub band: String,
    /// Share of A's stimuli; n = stimuli of A with a band.
    pub a: Estimate,
    /// Share of B's stimuli; n = stimuli of B with a band.
    pub b: Estimate,
    /// Share of A minus share of B; Newcombe's interval; n = stimuli of both with a band.
    pub difference: Estimate,
}

/// How many stimuli have a difficulty in a range.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HistogramBin {
    /// Lower end; belongs to the bin.
    pub low: f64,
    /// Upper end; belongs to the last bin only.
    pub high: f64,
    /// Stimuli of A in it.
    pub n_a: usize,
    /// Stimuli of B in it.
    pub n_b: usize,
}

/// Stimuli that both sets have.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PairedDifference {
    /// How many there are.
    pub n_shared: usize,
    /// Mean difference of a stimulus' difficulties in A and in B; n = shared stimuli. `None` with
    /// one.
    pub difference: Option<Estimate>,
    /// Rank correlation of their difficulties; `None` when one of the two does not vary.
    pub spearman: Option<f64>,
}
