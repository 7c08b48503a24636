//! How numbers about masks are distributed, with intervals over people and stimuli.
//!
//! # Method
//!
//! The pigeonhole bootstrap (Owen 2007), as in `resample.rs`: annotators and, independently, stimuli
//! are drawn with replacement, and a number counts as often as all that it is about were drawn: its
//! stimulus, and the people whose drawings it compares. Numbers about stimuli alone redraw only
//! stimuli. Quantiles are those of the redrawn sample, between neighbours linearly. Where all draws
//! agree (all drawings are the same, say) there is no interval: draws that cannot vary do not tell
//! how far a number may be off, and certainty would be a lie. Wilson's interval would be none of
//! its business: an area is no count of successes.

use mohs_data::{Estimate, Seed};
use rayon::prelude::*;

use super::findings::{Distribution, Measured};
use crate::draw::Draw;
use crate::proportion::real;
use crate::resample::percentile;

/// Bins of every histogram: shares in steps of 5 %.
pub(super) const N_BINS: usize = 20;
/// Draws that differ less than this are called equal.
const EQUAL: f64 = 1e-12;

const ANNOTATORS: u64 = 70;
const STIMULI: u64 = 71;
const ONE_SAMPLE: u64 = 72;

/// One number between 0 and 1, with what it is about.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Observation {
    pub(super) value: f64,
    pub(super) stimulus_idx: usize,
    pub(super) annotators: [Option<usize>; 2],
}

/// How to redraw.
#[derive(Debug, Clone, Copy)]
pub(super) struct Redraw {
    pub(super) n_resamples: usize,
    pub(super) confidence: f64,
    pub(super) seed: Seed,
}

/// Shares below the quartiles.
const QUARTILES: [f64; 3] = [0.25, 0.5, 0.75];

impl Redraw {
    /// Returns how numbers are distributed; `None` with fewer than two stimuli, which cannot say
    /// how stimuli differ.
    pub(super) fn distribution(&self, observations: &[Observation]) -> Option<Distribution> {
        let mut sorted = observations.to_vec();
        sorted.sort_by(|a, b| a.value.total_cmp(&b.value));
        let stimuli = distinct(sorted.iter().map(|seen| seen.stimulus_idx));
        let annotators = distinct(sorted.iter().flat_map(|seen| seen.annotators).flatten());
        if stimuli.len() < 2 {
            return None;
        }
        // Only who and what was seen is redrawn, so they are counted anew.
        let place = |among: &[usize], idx: usize| {
            among.binary_search(&idx).expect("because it was collected from the same numbers")
        };
        for seen in &mut sorted {
            seen.stimulus_idx = place(&stimuli, seen.stimulus_idx);
            seen.annotators = seen.annotators.map(|by| by.map(|idx| place(&annotators, idx)));
        }
        let draws: Vec<Option<[f64; 4]>> = (0..self.n_resamples)
            .into_par_iter()
            .map(|draw_idx| {
                let people = weights(self.seed, ANNOTATORS, draw_idx, annotators.len());
                let things = weights(self.seed, STIMULI, draw_idx, stimuli.len());
                let weight_of = |seen: &Observation| {
                    let of_people = seen.annotators.iter().flatten().map(|idx| people[*idx]);
                    things[seen.stimulus_idx] * of_people.product::<usize>()
                };
                four_numbers(&sorted, weight_of)
            })
            .collect();
        let plain = four_numbers(&sorted, |_| 1)?;
        let measured = |which: usize| {
            let of_draws: Vec<f64> = draws.iter().flatten().map(|draw| draw[which]).collect();
            let interval = self.interval(plain[which], &of_draws, sorted.len());
            Measured::new(plain[which], sorted.len(), interval)
        };
        Some(Distribution {
            mean: measured(0),
            lower_quartile: measured(1),
            median: measured(2),
            upper_quartile: measured(3),
            histogram: histogram(&sorted),
        })
    }

    /// Returns the mean of a few numbers; the interval redraws them, and is absent for fewer than
    /// two. `key` names the sample.
    pub(super) fn mean(&self, key: &[u64], values: &[f64]) -> Option<Measured> {
        if values.is_empty() {
            return None;
        }
        let n = values.len();
        let value = values.iter().sum::<f64>() / real(n);
        let mut draw = Draw::new(self.seed, &[&[ONE_SAMPLE], key].concat());
        let draws: Vec<f64> = (0..self.n_resamples)
            .map(|_| (0..n).map(|_| values[draw.below(n)]).sum::<f64>() / real(n))
            .collect();
        let interval = if n < 2 { None } else { self.interval(value, &draws, n) };
        Some(Measured::new(value, n, interval))
    }

    /// Returns a number with the interval of its draws; `None` where they do not vary.
    pub(super) fn interval(&self, value: f64, draws: &[f64], n: usize) -> Option<Estimate> {
        let found = percentile(value, draws, self.confidence, n)?;
        (EQUAL < found.high - found.low).then_some(found)
    }
}

fn distinct(indices: impl Iterator<Item = usize>) -> Vec<usize> {
    let mut distinct: Vec<usize> = indices.collect();
    distinct.sort_unstable();
    distinct.dedup();
    distinct
}

/// Returns how often each of `n` things is drawn when `n` are drawn with replacement.
fn weights(seed: Seed, stream: u64, draw_idx: usize, n: usize) -> Vec<usize> {
    let mut draw = Draw::new(seed, &[stream, draw_idx as u64]);
    let mut weights = vec![0; n];
    for _ in 0..n {
        weights[draw.below(n)] += 1;
    }
    weights
}

/// Returns mean, lower quartile, median and upper quartile of a sorted sample in which each number
/// counts as often as its weight; `None` if nothing counts.
fn four_numbers(
    sorted: &[Observation],
    weight_of: impl Fn(&Observation) -> usize,
) -> Option<[f64; 4]> {
    let weights: Vec<usize> = sorted.iter().map(weight_of).collect();
    let n: usize = weights.iter().sum();
    if n == 0 {
        return None;
    }
    let total: f64 =
        sorted.iter().zip(&weights).map(|(seen, weight)| seen.value * real(*weight)).sum();
    let mut numbers = [total / real(n), 0.0, 0.0, 0.0];
    let (mut idx, mut n_to_here) = (0, weights[0]);
    for (p, number) in QUARTILES.iter().zip(&mut numbers[1..]) {
        let place = p * real(n - 1);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "between 0 and the sample size"
        )]
        let below = place.floor() as usize;
        while n_to_here <= below {
            idx += 1;
            n_to_here += weights[idx];
        }
        let low = sorted[idx].value;
        // The next number of the sample is this one again, or the next that counts.
        let high = if below + 1 < n_to_here || below + 1 == n {
            low
        } else {
            let next = (idx + 1..sorted.len()).find(|next| 0 < weights[*next]);
            next.map_or(low, |next| sorted[next].value)
        };
        *number = low + (place - real(below)) * (high - low);
    }
    Some(numbers)
}

/// Counts numbers by steps of 5 %; 1 belongs to the last step.
fn histogram(sorted: &[Observation]) -> Vec<usize> {
    let mut bins = vec![0; N_BINS];
    for seen in sorted {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "between 0 and the number of bins"
        )]
        let bin = (seen.value.clamp(0.0, 1.0) * real(N_BINS)) as usize;
        bins[bin.min(N_BINS - 1)] += 1;
    }
    bins
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::resample::sorted_quantile;

    const REDRAW: Redraw = Redraw { n_resamples: 200, confidence: 0.95, seed: Seed(4) };

    fn seen(value: f64, stimulus_idx: usize) -> Observation {
        Observation { value, stimulus_idx, annotators: [None, None] }
    }

    #[test]
    fn certainty_is_never_claimed() {
        let perfect: Vec<Observation> = (0..10).map(|idx| seen(1.0, idx)).collect();
        let mean = REDRAW.distribution(&perfect).unwrap().mean;
        assert_eq!((mean.value, mean.n, mean.interval), (1.0, 10, None));
        assert!(REDRAW.distribution(&perfect[..1]).is_none());
        let one = REDRAW.mean(&[], &[0.7]).unwrap();
        assert_eq!((one.value, one.n, one.interval), (0.7, 1, None));
    }

    /// Objects of which most lose nothing: the mean varies with the stimuli drawn, the lower
    /// quartile does not, and nothing lies outside what was seen.
    #[test]
    fn an_interval_never_leaves_the_range_of_what_was_seen() {
        let lost: Vec<Observation> =
            (0..40).map(|idx| seen(if idx < 3 { 0.02 } else { 0.0 }, idx)).collect();
        let found = REDRAW.distribution(&lost).unwrap();
        assert_eq!(found.lower_quartile.interval, None);
        let mean = found.mean.estimate(0.95).unwrap();
        assert!(0.0 <= mean.low && mean.low < mean.high && mean.high <= 0.02, "{mean:?}");
    }

    #[test]
    fn people_who_differ_widen_the_interval() {
        let of = |annotators: [Option<usize>; 2]| {
            let numbers: Vec<Observation> = (0..200)
                .map(|idx| {
                    let value = if idx % 4 == 0 { 0.2 } else { 0.9 };
                    let by = annotators.map(|by| by.map(|_| idx % 4));
                    Observation { value, stimulus_idx: idx, annotators: by }
                })
                .collect();
            REDRAW.distribution(&numbers).unwrap().mean.estimate(0.95).unwrap().half_width()
        };
        assert!(3.0 * of([None, None]) < of([Some(0), None]));
    }

    proptest! {
        #[test]
        fn weighted_quartiles_are_those_of_the_repeated_sample(
            sample in prop::collection::vec((0.0_f64..1.0, 0_usize..4), 1..20),
        ) {
            let mut sample = sample;
            sample.sort_by(|a, b| a.0.total_cmp(&b.0));
            let sorted: Vec<Observation> =
                sample.iter().enumerate().map(|(idx, (value, _))| seen(*value, idx)).collect();
            let repeated: Vec<f64> =
                sample.iter().flat_map(|(value, n)| vec![*value; *n]).collect();
            let found = four_numbers(&sorted, |seen| sample[seen.stimulus_idx].1);
            match found {
                None => prop_assert!(repeated.is_empty()),
                Some(found) => {
                    for (number, p) in found[1..].iter().zip(QUARTILES) {
                        prop_assert!((number - sorted_quantile(&repeated, p)).abs() < 1e-12);
                    }
                    let mean = repeated.iter().sum::<f64>() / real(repeated.len());
                    prop_assert!((found[0] - mean).abs() < 1e-12);
                }
            }
        }
    }
}
