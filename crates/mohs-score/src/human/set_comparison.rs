//! Two sets of stimuli: is one harder than the other?
//!
//! # Formulas
//!
//! ```text
//! difference of means    = mean(A) - mean(B)            positive: A is harder
//! difference of medians  = median(A) - median(B)
//! P(A harder)            = (#{a > b} + #{a = b} / 2) / (n_A n_B)
//! ```
//!
//! # Method
//!
//! Intervals are percentile intervals of a bootstrap over stimuli, because the question is about
//! the sets the stimuli were drawn from. What was measured is a true difficulty plus noise of
//! measurement, and each stimulus' own interval says how much. Each draw therefore takes stimuli
//! with replacement, pulls their values towards the set's mean by the share of the spread that is
//! noise, and adds fresh noise of each stimulus' own size. On average a draw is spread as the data
//! are: noise counts once, and counts more for stimuli that were measured badly.
//!
//! Tests are two-sample tests on the distributions: Kolmogorov–Smirnov, which sees any difference,
//! and Mann–Whitney, which sees shifts (`tests_of_two.rs`). Band shares have Newcombe's interval.
//!
//! # When there is no answer
//!
//! Different measures are not compared, and neither is a set of fewer than two stimuli: [`Error`].
//!
//! # References
//!
//! - R. G. Newcombe (1998), "Interval estimation for the difference between independent
//!   proportions: comparison of eleven methods", method 10.
//! - K. O. McGraw and S. P. Wong (1992), "A common language effect size statistic".

mod bands;
mod findings;
mod two_samples;

use std::collections::{BTreeMap, BTreeSet};

use mohs_data::{Caveat, Caveats, Difficulty, Estimate, Seed, StimulusId};
use rayon::prelude::*;

pub use self::findings::{
    BandShares, HistogramBin, PairedDifference, SetComparison, SetFacts, TwoSampleTest,
};
use crate::correlation::{mean, ranks, spearman};
use crate::draw::Draw;
use crate::proportion::{normal_quantile, real};
use crate::resample::{percentile, sorted_quantile};

/// Stimuli below which a bootstrap over them is called rough.
const N_STIMULI_WANTED: usize = 20;
/// Share of the variance from which difficulties are called noisy.
const NOISY: f64 = 0.5;
/// Bins of the histogram.
const N_BINS: usize = 20;
/// Keys of the random streams: set A, set B, shared stimuli.
const STREAMS: [u64; 3] = [60, 61, 62];

/// A named list of difficulties.
#[derive(Debug, Clone, Copy)]
pub struct Set<'a> {
    /// What to call it.
    pub name: &'a str,
    /// Its stimuli.
    pub difficulties: &'a [Difficulty],
}

/// How to compare.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// Confidence of all intervals.
    pub confidence: f64,
    /// Bootstrap draws over stimuli.
    pub n_resamples: usize,
    /// Seed of the bootstrap.
    pub seed: Seed,
}

/// Why two sets cannot be compared.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Error {
    /// Too small to say anything.
    #[error("`{set}` has {n_stimuli} stimuli; a comparison needs at least 2 in each set")]
    TooFewStimuli {
        /// The set.
        set: String,
        /// Its stimuli.
        n_stimuli: usize,
    },
    /// A set mixes measures.
    #[error("`{set}` mixes the measures {}; a comparison needs one", in_words(measures))]
    MixedMeasures {
        /// The set.
        set: String,
        /// Its measures.
        measures: Vec<String>,
    },
    /// Apples and pears.
    #[error("the sets have different measures: `{a}` in `{set_a}`, `{b}` in `{set_b}`")]
    DifferentMeasures {
        /// First set.
        set_a: String,
        /// Its measure.
        a: String,
        /// Second set.
        set_b: String,
        /// Its measure.
        b: String,
    },
    /// A stimulus twice in one set.
    #[error("`{set}` has the stimulus `{stimulus}` more than once")]
    RepeatedStimulus {
        /// The set.
        set: String,
        /// The stimulus.
        stimulus: StimulusId,
    },
}

fn in_words(measures: &[String]) -> String {
    measures.iter().map(|measure| format!("`{measure}`")).collect::<Vec<_>>().join(", ")
}

/// Compares two sets.
///
/// The order of stimuli does not matter; exchanging the sets turns every difference round.
pub fn compare(a: Set<'_>, b: Set<'_>, options: &Options) -> Result<SetComparison, Error> {
    let (measure_a, measure_b) = (measure_of(a)?, measure_of(b)?);
    if measure_a != measure_b {
        return Err(Error::DifferentMeasures {
            set_a: a.name.into(),
            a: measure_a.into(),
            set_b: b.name.into(),
            b: measure_b.into(),
        });
    }
    let (first, second) = (Collected::new(a)?, Collected::new(b)?);
    let draws: Vec<Draws> = (0..options.n_resamples)
        .into_par_iter()
        .map(|draw_idx| {
            let redraw = |set: &Collected<'_>, stream| {
                set.redrawn(&mut Draw::new(options.seed, &[stream, draw_idx as u64]))
            };
            Draws::of(&redraw(&first, STREAMS[0]), &redraw(&second, STREAMS[1]))
        })
        .collect();
    let truth = Draws::of(&first.values, &second.values);
    let n = first.values.len() + second.values.len();
    let estimate = |of: &dyn Fn(&Draws) -> f64, n: usize| {
        let draws: Vec<f64> = draws.iter().map(of).collect();
        percentile(of(&truth), &draws, options.confidence, n)
            .expect("because difficulties are finite and there are draws")
    };
    let facts =
        |set: &Collected<'_>, mean: &dyn Fn(&Draws) -> f64, median: &dyn Fn(&Draws) -> f64| {
            let n_stimuli = set.values.len();
            SetFacts {
                name: set.name.to_owned(),
                n_stimuli,
                mean: estimate(mean, n_stimuli),
                median: estimate(median, n_stimuli),
                sd: set.variance.sqrt(),
                noise_share: set.noise_share,
            }
        };
    let mut caveats = Caveats::default();
    let paired = paired(&first, &second, options, &mut caveats);
    doubts(&first, &second, &mut caveats);
    Ok(SetComparison {
        measure: measure_a.to_owned(),
        confidence: options.confidence,
        n_resamples: options.n_resamples,
        seed: options.seed.0,
        a: facts(&first, &|draws| draws.mean_a, &|draws| draws.median_a),
        b: facts(&second, &|draws| draws.mean_b, &|draws| draws.median_b),
        difference_of_means: estimate(&|draws| draws.mean_a - draws.mean_b, n),
        difference_of_medians: estimate(&|draws| draws.median_a - draws.median_b, n),
        p_a_harder: estimate(&|draws| draws.p_a_harder, n),
        kolmogorov_smirnov: two_samples::kolmogorov_smirnov(&first.values, &second.values),
        mann_whitney: two_samples::mann_whitney(&first.values, &second.values),
        bands: bands::side_by_side(a.difficulties, b.difficulties, options.confidence),
        histogram: histogram(&first.values, &second.values),
        paired,
        caveats,
    })
}

fn measure_of<'a>(set: Set<'a>) -> Result<&'a str, Error> {
    let measures: BTreeSet<&str> =
        set.difficulties.iter().map(|row| row.measure.as_str()).collect();
    match measures.first() {
        Some(measure) if measures.len() == 1 => Ok(measure),
        None => Err(Error::TooFewStimuli { set: set.name.into(), n_stimuli: 0 }),
        Some(_) => Err(Error::MixedMeasures {
            set: set.name.into(),
            measures: measures.iter().map(|measure| (*measure).to_owned()).collect(),
        }),
    }
}

/// One set as numbers, by stimulus id.
struct Collected<'a> {
    name: &'a str,
    by_stimulus: BTreeMap<&'a StimulusId, f64>,
    values: Vec<f64>,
    /// Standard deviation of each value's noise; 0 where there is no interval.
    noise: Vec<f64>,
    variance: f64,
    noise_share: f64,
    n_without_interval: usize,
}

impl<'a> Collected<'a> {
    fn new(set: Set<'a>) -> Result<Self, Error> {
        let mut rows: Vec<&Difficulty> = set.difficulties.iter().collect();
        rows.sort_by(|a, b| a.stimulus.cmp(&b.stimulus));
        if let Some(pair) = rows.windows(2).find(|pair| pair[0].stimulus == pair[1].stimulus) {
            let stimulus = pair[0].stimulus.clone();
            return Err(Error::RepeatedStimulus { set: set.name.into(), stimulus });
        }
        if rows.len() < 2 {
            return Err(Error::TooFewStimuli { set: set.name.into(), n_stimuli: rows.len() });
        }
        let values: Vec<f64> = rows.iter().map(|row| row.estimate.value).collect();
        let noise: Vec<f64> = rows.iter().map(|row| noise_of(&row.estimate)).collect();
        let centre = mean(&values);
        let squares: f64 = values.iter().map(|value| (value - centre).powi(2)).sum();
        let variance = squares / (real(values.len()) - 1.0);
        let noise_variance = mean(&noise.iter().map(|sd| sd * sd).collect::<Vec<_>>());
        let noise_share = if 0.0 < variance { (noise_variance / variance).min(1.0) } else { 0.0 };
        Ok(Self {
            name: set.name,
            by_stimulus: rows.iter().map(|row| (&row.stimulus, row.estimate.value)).collect(),
            n_without_interval: noise.iter().filter(|sd| **sd <= 0.0).count(),
            values,
            noise,
            variance,
            noise_share,
        })
    }

    /// Draws a set like this one.
    fn redrawn(&self, draw: &mut Draw) -> Vec<f64> {
        let centre = mean(&self.values);
        let kept = (1.0 - self.noise_share).sqrt();
        let noise_factor = self.noise_factor();
        (0..self.values.len())
            .map(|_| {
                let idx = draw.below(self.values.len());
                let believed = centre + kept * (self.values[idx] - centre);
                believed + noise_factor * self.noise[idx] * draw.normal()
            })
            .collect()
    }

    /// Noise cannot make more than the whole spread, even if the intervals claim so.
    fn noise_factor(&self) -> f64 {
        let claimed: f64 = mean(&self.noise.iter().map(|sd| sd * sd).collect::<Vec<_>>());
        if claimed <= 0.0 { 0.0 } else { (self.noise_share * self.variance / claimed).sqrt() }
    }
}

/// Returns the standard deviation an interval stands for.
fn noise_of(estimate: &Estimate) -> f64 {
    estimate.half_width() / normal_quantile(0.5 + estimate.confidence / 2.0)
}

/// What is computed from each pair of sets drawn.
struct Draws {
    mean_a: f64,
    mean_b: f64,
    median_a: f64,
    median_b: f64,
    p_a_harder: f64,
}

impl Draws {
    fn of(a: &[f64], b: &[f64]) -> Self {
        Self {
            mean_a: mean(a),
            mean_b: mean(b),
            median_a: median(a),
            median_b: median(b),
            p_a_harder: p_harder(a, b),
        }
    }
}

fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    sorted_quantile(&sorted, 0.5)
}

/// Returns the chance that a value of the first sample is larger, ties counting half.
fn p_harder(a: &[f64], b: &[f64]) -> f64 {
    let both: Vec<f64> = a.iter().chain(b).copied().collect();
    let rank_sum: f64 = ranks(&both)[..a.len()].iter().sum();
    let (n_a, n_b) = (real(a.len()), real(b.len()));
    ((rank_sum - n_a * (n_a + 1.0) / 2.0) / (n_a * n_b)).clamp(0.0, 1.0)
}

/// Compares the stimuli that are in both sets, each with itself.
fn paired(
    a: &Collected<'_>,
    b: &Collected<'_>,
    options: &Options,
    caveats: &mut Caveats,
) -> Option<PairedDifference> {
    let (values_a, values_b): (Vec<f64>, Vec<f64>) = a
        .by_stimulus
        .iter()
        .filter_map(|(stimulus, value)| Some((*value, *b.by_stimulus.get(stimulus)?)))
        .unzip();
    let n_shared = values_a.len();
    if n_shared == 0 {
        return None;
    }
    caveats.add(Caveat::SetsOverlap { n_shared });
    let differences: Vec<f64> = values_a.iter().zip(&values_b).map(|(a, b)| a - b).collect();
    let draws: Vec<f64> = (0..options.n_resamples)
        .into_par_iter()
        .map(|draw_idx| {
            let mut draw = Draw::new(options.seed, &[STREAMS[2], draw_idx as u64]);
            let sum: f64 = (0..n_shared).map(|_| differences[draw.below(n_shared)]).sum();
            sum / real(n_shared)
        })
        .collect();
    // One pair has no spread to redraw.
    let difference = (2 <= n_shared)
        .then(|| percentile(mean(&differences), &draws, options.confidence, n_shared))
        .flatten();
    Some(PairedDifference { n_shared, difference, spearman: spearman(&values_a, &values_b) })
}

fn doubts(a: &Collected<'_>, b: &Collected<'_>, caveats: &mut Caveats) {
    let n_smaller = a.values.len().min(b.values.len());
    if n_smaller < N_STIMULI_WANTED {
        caveats.add(Caveat::FewStimuli { n_stimuli: n_smaller });
    }
    let n_without = a.n_without_interval + b.n_without_interval;
    if 0 < n_without {
        caveats.add(Caveat::NoOwnIntervals { n_stimuli: n_without });
    }
    for set in [a, b] {
        if NOISY <= set.noise_share {
            let share = set.noise_share;
            caveats.add(Caveat::NoisyDifficulties { set: set.name.to_owned(), share });
        }
    }
}

/// Counts the stimuli of both sets in equal steps from the smallest value to the largest.
fn histogram(a: &[f64], b: &[f64]) -> Vec<HistogramBin> {
    let both = || a.iter().chain(b).copied();
    let (low, high) =
        (both().fold(f64::INFINITY, f64::min), both().fold(f64::NEG_INFINITY, f64::max));
    let n_bins = if low < high { N_BINS } else { 1 };
    let width = (high - low) / real(n_bins);
    let edge = |idx: usize| if idx == n_bins { high } else { low + width * real(idx) };
    let count = |values: &[f64], idx: usize| {
        let is_last = idx + 1 == n_bins;
        let inside = |value: &&f64| edge(idx) <= **value && (**value < edge(idx + 1) || is_last);
        values.iter().filter(inside).count()
    };
    (0..n_bins)
        .map(|idx| HistogramBin {
            low: edge(idx),
            high: edge(idx + 1),
            n_a: count(a, idx),
            n_b: count(b, idx),
        })
        .collect()
}
