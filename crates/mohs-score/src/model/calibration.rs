//! Calibration: how far a model's confidence can be believed.
//!
//! # Formulas
//!
//! Answers are sorted by confidence and cut into bins of equally many; equal confidences stay
//! together. In a bin of `n_b` answers let `p_b` be the share of right ones and `c_b` the mean
//! confidence; `p` is the share over all `n`.
//!
//! ```text
//! ECE            = Σ (n_b / n) |p_b - c_b|
//! debiased²      = Σ (n_b / n) [(p_b - c_b)² - p_b (1 - p_b) / (n_b - 1)],   root, at least 0
//! overconfidence = mean confidence - p
//! Brier          = mean of (confidence - right)²  =  reliability - resolution + uncertainty
//! reliability    = Σ (n_b / n) (p_b - c_b)²
//! uncertainty    = p (1 - p)
//! ```
//!
//! The plain ECE is too large by chance: even a model that is calibrated differs from its
//! confidence in every bin. The second term of `debiased²` is the chance part of the first.
//! Resolution is the generalised one of Stephenson, Coelho and Jolliffe (2008), which counts what
//! confidence tells apart within bins, so that the identity is exact.
//!
//! # Intervals
//!
//! Draws of `redraw.rs`, with the bins held fixed. A draw adds chance of its own to ECE and
//! `debiased²`, so their draws are moved back by their mean excess. Where the truth is 0 the
//! interval of the debiased error touches 0; that of the plain ECE is about its own, too large,
//! expectation.
//!
//! # References
//!
//! - A. Kumar, P. Liang and T. Ma (2019), "Verified uncertainty calibration".
//! - A. H. Murphy (1973), "A new vector partition of the probability score".
//! - D. B. Stephenson, C. A. S. Coelho and I. T. Jolliffe (2008), "Two extra components in the
//!   Brier score decomposition".

use std::ops::Range;

use mohs_data::Estimate;

use super::redraw::{Redraw, widened};
use super::table::Table;
use super::{Calibration, CalibrationBin};
use crate::proportion::{real, wilson};

/// Answers a bin should have; with fewer answers there are fewer bins.
const MIN_IN_BIN: usize = 10;

/// An answer with a confidence.
#[derive(Debug, Clone, Copy)]
struct Sure {
    stimulus_idx: usize,
    confidence: f64,
    right: f64,
}

/// Answers of one model in one band, or in all, from unsure to sure.
struct Sorted {
    answers: Vec<Sure>,
    bins: Vec<Range<usize>>,
}

/// What weights make of sorted answers.
#[derive(Debug, Clone, Copy)]
struct Numbers {
    ece: f64,
    debiased_square: f64,
    overconfidence: f64,
    brier: f64,
    reliability: f64,
    uncertainty: f64,
}

const N_NUMBERS: usize = 4;

/// Returns the calibration of each model: overall, and by band.
pub(super) fn of_models(
    table: &Table<'_>,
    redraw: &Redraw,
    n_bins: usize,
) -> Vec<(Option<Calibration>, Vec<Option<Calibration>>)> {
    let sorted: Vec<Vec<Sorted>> = (0..table.models.len())
        .map(|model_idx| {
            let bands = (0..table.n_bands()).map(|band_idx| table.band(band_idx));
            std::iter::once(0..table.stimuli.len())
                .chain(bands)
                .map(|places| Sorted::new(table, model_idx, places, n_bins))
                .collect()
        })
        .collect();
    if sorted.iter().all(|parts| parts[0].answers.is_empty()) {
        let none = || (None, vec![None; table.n_bands()]);
        return table.models.iter().map(|_| none()).collect();
    }
    let draws = redraw.draws(|weights| {
        let parts = sorted.iter().flatten();
        parts.flat_map(|part| part.numbers(|idx| f64::from(weights[idx])).columns()).collect()
    });
    let n_parts = 1 + table.n_bands();
    sorted
        .iter()
        .enumerate()
        .map(|(model_idx, parts)| {
            let mut of_parts = parts.iter().enumerate().map(|(part_idx, part)| {
                part.finding(redraw, &draws, (model_idx * n_parts + part_idx) * N_NUMBERS)
            });
            let overall = of_parts.next().flatten();
            (overall, of_parts.collect())
        })
        .collect()
}

/// Returns whether some but not all judged answers of a model have a confidence.
pub(super) fn has_gaps(table: &Table<'_>, model_idx: usize) -> bool {
    let judged = &table.answers[model_idx].judged;
    let judged = (0..table.stimuli.len()).filter(|idx| 0 < judged[*idx]);
    let mut has = (false, false);
    for idx in judged {
        let is_sure =
            table.answer(model_idx, idx).is_some_and(|answer| answer.confidence.is_some());
        has = (has.0 || is_sure, has.1 || !is_sure);
    }
    has.0 && has.1
}

impl Sorted {
    fn new(table: &Table<'_>, model_idx: usize, places: Range<usize>, n_bins: usize) -> Self {
        let of_model = &table.answers[model_idx];
        let answers: Vec<Sure> = places
            .filter(|idx| 0 < of_model.judged[*idx])
            .filter_map(|stimulus_idx| {
                let confidence = table.answer(model_idx, stimulus_idx)?.confidence?;
                let right = f64::from(of_model.right[stimulus_idx]);
                Some(Sure { stimulus_idx, confidence, right })
            })
            .collect();
        Self::of(answers, n_bins)
    }

    fn of(mut answers: Vec<Sure>, n_bins: usize) -> Self {
        answers.sort_by(|a, b| {
            a.confidence.total_cmp(&b.confidence).then(a.stimulus_idx.cmp(&b.stimulus_idx))
        });
        let bins = bins(&answers, n_bins);
        Self { answers, bins }
    }

    /// Computes the numbers, answers counting as often as their weight says.
    fn numbers(&self, weight: impl Fn(usize) -> f64) -> Numbers {
        let (mut n, mut n_right, mut confidences, mut squares) = (0.0, 0.0, 0.0, 0.0);
        let (mut ece, mut reliability, mut chance) = (0.0, 0.0, 0.0);
        for bin in &self.bins {
            let (mut n_b, mut right_b, mut confidence_b) = (0.0, 0.0, 0.0);
            for answer in &self.answers[bin.clone()] {
                let weight = weight(answer.stimulus_idx);
                n_b += weight;
                right_b += weight * answer.right;
                confidence_b += weight * answer.confidence;
                squares += weight * (answer.confidence - answer.right).powi(2);
            }
            if n_b <= 0.0 {
                continue;
            }
            let p_b = right_b / n_b;
            let difference = p_b - confidence_b / n_b;
            ece += n_b * difference.abs();
            reliability += n_b * difference * difference;
            // One answer says nothing about its own chance: at most all of its error is chance.
            chance += if 1.0 < n_b {
                n_b * p_b * (1.0 - p_b) / (n_b - 1.0)
            } else {
                difference * difference
            };
            n += n_b;
            n_right += right_b;
            confidences += confidence_b;
        }
        let p = n_right / n;
        Numbers {
            ece: ece / n,
            debiased_square: (reliability - chance) / n,
            overconfidence: (confidences - n_right) / n,
            brier: squares / n,
            reliability: reliability / n,
            uncertainty: p * (1.0 - p),
        }
    }

    fn finding(&self, redraw: &Redraw, draws: &[Vec<f64>], first: usize) -> Option<Calibration> {
        let n = self.answers.len();
        if n == 0 {
            return None;
        }
        let numbers = self.numbers(|_| 1.0);
        let confidence = redraw.confidence;
        // An interval around the number: draws moved back by their mean excess.
        let around = |value: f64, column: usize, least: f64, most: f64| {
            let moved = moved_to(value, draws.iter().map(|draw| draw[first + column]));
            let drawn = redraw.of_draws(value, &moved, n)?;
            let (low, high) = (drawn.low.clamp(least, most), drawn.high.clamp(least, most));
            Estimate::new(value.clamp(least, most), low, high, confidence, n)
        };
        let square = around(numbers.debiased_square, 1, 0.0, 1.0)?;
        let debiased = Estimate::new(
            square.value.sqrt(),
            square.low.sqrt(),
            square.high.sqrt(),
            confidence,
            n,
        )?;
        let right: f64 = self.answers.iter().map(|answer| answer.right).sum();
        let shares = wilson(whole(right), n, confidence)?;
        let mean = numbers.overconfidence + shares.value;
        let plain = Estimate::new(
            numbers.overconfidence,
            (mean - shares.high).min(numbers.overconfidence),
            (mean - shares.low).max(numbers.overconfidence),
            confidence,
            n,
        );
        let bins = self
            .bins
            .iter()
            .filter_map(|bin| {
                let answers = &self.answers[bin.clone()];
                let right: f64 = answers.iter().map(|answer| answer.right).sum();
                let sum: f64 = answers.iter().map(|answer| answer.confidence).sum();
                Some(CalibrationBin {
                    confidence: sum / real(answers.len()),
                    accuracy: wilson(whole(right), answers.len(), confidence)?,
                })
            })
            .collect();
        let overconfidence = redraw.estimate(numbers.overconfidence, draws, first + 2, n)?;
        // Draws from answers that are all right, or all wrong, cannot vary; the share of right ones
        // among others could.
        let is_one_sided = right <= 0.0 || real(n) <= right;
        let unseen = if is_one_sided { shares.high - shares.low } else { 0.0 };
        let with_unseen = |estimate: Estimate| {
            let (low, high) = (estimate.low - unseen, estimate.high + unseen);
            let (value, n) = (estimate.value, estimate.n);
            Estimate::new(value, low.clamp(0.0, 1.0), high.clamp(0.0, 1.0), confidence, n)
        };
        let brier = redraw.estimate(numbers.brier, draws, first + 3, n)?;
        Some(Calibration {
            ece: with_unseen(around(numbers.ece, 0, 0.0, 1.0)?)?,
            debiased: with_unseen(debiased)?,
            overconfidence: widened(overconfidence, plain),
            brier: with_unseen(brier)?,
            brier_reliability: numbers.reliability,
            brier_resolution: numbers.reliability + numbers.uncertainty - numbers.brier,
            brier_uncertainty: numbers.uncertainty,
            bins,
        })
    }
}

impl Numbers {
    fn columns(&self) -> [f64; N_NUMBERS] {
        [self.ece, self.debiased_square, self.overconfidence, self.brier]
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a sum of ones")]
fn whole(n: f64) -> usize {
    n as usize
}

/// Moves draws so that their mean is the number itself.
fn moved_to(value: f64, draws: impl Iterator<Item = f64>) -> Vec<f64> {
    let draws: Vec<f64> = draws.filter(|draw| draw.is_finite()).collect();
    let excess = draws.iter().sum::<f64>() / real(draws.len().max(1)) - value;
    draws.into_iter().map(|draw| draw - excess).collect()
}

/// Cuts sorted answers into bins of about equally many, equal confidences together.
fn bins(answers: &[Sure], n_bins: usize) -> Vec<Range<usize>> {
    let n = answers.len();
    let n_bins = n_bins.min(n / MIN_IN_BIN).max(1);
    let mut bins = Vec::new();
    let mut start = 0;
    for bin_idx in 1..=n_bins {
        let mut end = (n * bin_idx / n_bins).max(start);
        while 0 < end
            && end < n
            && answers[end - 1].confidence.total_cmp(&answers[end].confidence).is_eq()
        {
            end += 1;
        }
        if start < end {
            bins.push(start..end);
            start = end;
        }
    }
    bins
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::draw::Draw;
    use mohs_data::Seed;

    fn sorted(answers: &[(f64, bool)], n_bins: usize) -> Sorted {
        let answers = answers.iter().enumerate().map(|(stimulus_idx, (confidence, is_right))| {
            Sure { stimulus_idx, confidence: *confidence, right: f64::from(u8::from(*is_right)) }
        });
        Sorted::of(answers.collect(), n_bins)
    }

    /// Ten answers at 0.6, five right; ten at 0.9, eight right.
    fn by_hand() -> Sorted {
        let low = (0..10).map(|idx| (0.6, idx < 5));
        let high = (0..10).map(|idx| (0.9, idx < 8));
        sorted(&low.chain(high).collect::<Vec<_>>(), 15)
    }

    /// Errors 0.1 and 0.1; chance 0.25/9 and 0.16/9; p = 0.65, mean confidence 0.75.
    #[test]
    fn two_bins_are_worked_by_hand() {
        let found = by_hand();
        assert_eq!(found.bins, [0..10, 10..20]);
        let numbers = found.numbers(|_| 1.0);
        assert!((numbers.ece - 0.1).abs() < 1e-12);
        assert!((numbers.debiased_square - (0.01 - 0.41 / 18.0)).abs() < 1e-12);
        assert!((numbers.overconfidence - 0.1).abs() < 1e-12);
        assert!((numbers.uncertainty - 0.65 * 0.35).abs() < 1e-12);
        // Half of 0.16 and 0.36, and of 0.01 (8 of 10) and 0.81 (2 of 10).
        assert!((numbers.brier - (0.26 + (0.08 + 1.62) / 10.0) / 2.0).abs() < 1e-12);
    }

    /// Golden: scikit-learn's brier_score_loss is the mean square, here of the answers above.
    #[test]
    fn equal_confidences_stay_in_one_bin() {
        let answers: Vec<(f64, bool)> =
            (0..60).map(|idx| (if idx < 50 { 0.5 } else { 0.9 }, idx % 2 == 0)).collect();
        assert_eq!(sorted(&answers, 6).bins, [0..50, 50..60]);
        assert_eq!(sorted(&answers[..3], 15).bins, vec![0..3]);
    }

    fn simulated(n: usize, seed: u64, truth: impl Fn(f64) -> f64) -> Vec<(f64, bool)> {
        let mut draw = Draw::new(Seed(seed), &[5]);
        (0..n)
            .map(|_| {
                let confidence = 0.3 + 0.7 * draw.uniform();
                (confidence, draw.chance(truth(confidence)))
            })
            .collect()
    }

    /// A calibrated model has no error; the plain ECE finds one, the debiased does not.
    #[test]
    fn the_debiased_error_of_a_calibrated_model_is_zero_on_average_and_the_plain_is_not() {
        let mut plain = 0.0;
        let mut debiased = 0.0;
        for seed in 0..400 {
            let numbers = sorted(&simulated(300, seed, |c| c), 15).numbers(|_| 1.0);
            plain += numbers.ece / 400.0;
            debiased += numbers.debiased_square / 400.0;
        }
        assert!(0.05 < plain, "{plain}");
        assert!(debiased.abs() < 0.0005, "{debiased}");
    }

    /// Right with 0.8 of the confidence: in a bin the truth is 0.2 of its mean confidence.
    #[test]
    fn the_debiased_error_recovers_the_truth_of_an_overconfident_model() {
        let exact = sorted(&simulated(200_000, 9, |c| 0.8 * c), 15);
        let mut truth = 0.0;
        for bin in &exact.bins {
            let sum: f64 = exact.answers[bin.clone()].iter().map(|a| 0.2 * a.confidence).sum();
            truth += (sum / real(bin.len())).powi(2) * real(bin.len()) / 200_000.0;
        }
        let (mut found, mut plain) = (0.0, 0.0);
        for seed in 0..400 {
            let numbers = sorted(&simulated(300, seed, |c| 0.8 * c), 15).numbers(|_| 1.0);
            found += numbers.debiased_square / 400.0;
            plain += numbers.reliability / 400.0;
        }
        assert!((found - truth).abs() < 0.001, "{found} should be {truth}");
        assert!(truth + 0.008 < plain, "{plain} should be above {truth}");
    }

    proptest! {
        #[test]
        fn bins_hold_every_answer_once_and_do_not_tear_equal_confidences(
            rows in proptest::collection::vec((0_u8..12, any::<bool>()), 1..200),
            n_bins in 1_usize..20,
        ) {
            let rows: Vec<(f64, bool)> =
                rows.iter().map(|(c, right)| (f64::from(*c) / 11.0, *right)).collect();
            let sorted = sorted(&rows, n_bins);
            let mut next = 0;
            for bin in &sorted.bins {
                prop_assert_eq!(bin.start, next);
                next = bin.end;
                if next < rows.len() {
                    let (last, first) = (sorted.answers[next - 1], sorted.answers[next]);
                    prop_assert!(last.confidence < first.confidence);
                }
            }
            prop_assert_eq!(next, rows.len());
            let numbers = sorted.numbers(|_| 1.0);
            prop_assert!(numbers.ece * numbers.ece <= numbers.reliability + 1e-12);
            prop_assert!(numbers.overconfidence.abs() <= numbers.ece + 1e-12);
            // Confidence that tells nothing apart has no resolution.
            let resolution = numbers.reliability + numbers.uncertainty - numbers.brier;
            if rows.iter().all(|row| (row.0 - rows[0].0).abs() < 1e-12) {
                prop_assert!(resolution.abs() < 1e-9);
            }
        }
    }
}
