//! Accuracy by difficulty: the share of right answers, over all and by band.
//!
//! # Formulas
//!
//! ```text
//! accuracy        = right / n                              by band, and over all stimuli
//! mean per class  = mean over classes of (right in the class / n in the class)
//! drop            = accuracy in the easiest band - accuracy in the hardest
//! correlation     = Spearman's ρ of right (1) or wrong (0) with the difficulty
//! ```
//!
//! # Intervals
//!
//! Two for each share: Wilson's, which takes stimuli for independent, and the cluster bootstrap's
//! (`redraw.rs`), widened where Wilson's is wider: when every answer is right the draws cannot
//! vary. The drop is widened by Newcombe's interval for the same reason; its two shares come from
//! the same draws, because bands share classes.
//!
//! It never averages over failed rows and never mixes bands.

use std::ops::Range;

use mohs_data::{Estimate, Label};

use super::BandAccuracy;
use super::redraw::{Redraw, masks, ratio, weighted, widened};
use super::table::Table;
use crate::proportion::{newcombe, real, wilson};

/// One model's shares.
pub(super) struct Accuracies {
    pub(super) overall: Option<BandAccuracy>,
    pub(super) top_5: Option<Estimate>,
    pub(super) mean_per_class: Option<Estimate>,
    pub(super) bands: Vec<Option<BandAccuracy>>,
    pub(super) drop: Option<Estimate>,
    pub(super) difficulty_correlation: Option<Estimate>,
}

/// Classes among the first so many count as found.
const TOP: usize = 5;

/// What a draw is turned into, for one model.
struct Marks {
    /// Where there is an answer that can be judged; `None` when that is everywhere.
    judged: Option<Vec<u32>>,
    right: Vec<u32>,
    /// Where the right class is among the first five; `None` where not all answers say.
    top_5: Option<Vec<u32>>,
    /// One over the answers in the stimulus' class, where there is an answer.
    per_class: Vec<f64>,
    n_classes: usize,
    /// Judged and right, in the order of difficulty.
    by_difficulty: Vec<(u8, u8)>,
}

/// Columns of a model before those of its bands: overall, top 5.
const N_BEFORE_BANDS: usize = 2;
/// Columns of a model that look at every stimulus: mean per class, correlation.
const N_SLOW: usize = 2;

/// Returns the shares of each model.
pub(super) fn of_models(table: &Table<'_>, redraw: &Redraw) -> Vec<Accuracies> {
    let order = Order::new(table);
    let n_models = table.models.len();
    let marks: Vec<Marks> = (0..n_models).map(|idx| marks(table, &order, idx)).collect();
    let ranges: Vec<Range<usize>> = (0..table.n_bands()).map(|idx| table.band(idx)).collect();
    let n_in_bands = ranges.last().map_or(0, |last| last.end);
    let fast = |weights: &[u32]| -> Vec<f64> {
        let total = |range: &Range<usize>| -> f64 {
            f64::from(weights[range.clone()].iter().copied().fold(0, u32::wrapping_add))
        };
        let rest = n_in_bands..weights.len();
        let totals: Vec<f64> = ranges.iter().map(total).collect();
        let total_of_rest = total(&rest);
        let of_model = |marks: &Marks| -> Vec<f64> {
            let sum = |masks: &[u32], range: &Range<usize>| {
                weighted(&weights[range.clone()], &masks[range.clone()])
            };
            let judged = |range: &Range<usize>, total: f64| {
                marks.judged.as_ref().map_or(total, |judged| sum(judged, range))
            };
            let n: Vec<f64> =
                ranges.iter().zip(&totals).map(|(range, total)| judged(range, *total)).collect();
            let right: Vec<f64> = ranges.iter().map(|range| sum(&marks.right, range)).collect();
            let n_all = n.iter().sum::<f64>() + judged(&rest, total_of_rest);
            let right_all = right.iter().sum::<f64>() + sum(&marks.right, &rest);
            let top_5 = marks.top_5.as_ref().map(|top_5| weighted(weights, top_5));
            let mut numbers =
                vec![ratio(right_all, n_all), top_5.map_or(f64::NAN, |found| ratio(found, n_all))];
            numbers.extend(right.iter().zip(&n).map(|(right, n)| ratio(*right, *n)));
            numbers
        };
        marks.iter().flat_map(of_model).collect()
    };
    let slow = |weights: &[u32]| -> Vec<f64> {
        let in_order: Vec<u32> = order.places.iter().map(|idx| weights[*idx]).collect();
        marks
            .iter()
            .flat_map(|marks| {
                let correlation = order.spearman(&marks.by_difficulty, &in_order);
                [marks.mean_per_class(weights), correlation]
            })
            .collect()
    };
    let ones = vec![1; table.stimuli.len()];
    let columns = Columns {
        redraw,
        fast: (fast(&ones), redraw.draws(fast)),
        slow: (slow(&ones), redraw.fewer_draws(slow)),
    };
    let n_columns = N_BEFORE_BANDS + table.n_bands();
    (0..n_models).map(|idx| summary(table, &marks[idx], &columns, idx, idx * n_columns)).collect()
}

/// Numbers as they are, and in each draw.
type Drawn = (Vec<f64>, Vec<Vec<f64>>);

struct Columns<'a> {
    redraw: &'a Redraw,
    fast: Drawn,
    slow: Drawn,
}

impl Columns<'_> {
    fn estimate(&self, (values, draws): &Drawn, column: usize, n: usize) -> Option<Estimate> {
        self.redraw.estimate(values[column], draws, column, n)
    }

    fn share(&self, column: usize, n_right: usize, n: usize) -> Option<BandAccuracy> {
        let wilson = wilson(n_right, n, self.redraw.confidence)?;
        let clustered = self
            .estimate(&self.fast, column, n)
            .map_or(wilson, |drawn| widened(drawn, Some(wilson)));
        Some(BandAccuracy { n_right, wilson, clustered })
    }
}

fn summary(
    table: &Table<'_>,
    marks: &Marks,
    columns: &Columns<'_>,
    model_idx: usize,
    first: usize,
) -> Accuracies {
    let answers = &table.answers[model_idx];
    let (n, n_right) = answers.counts(0..table.stimuli.len());
    let confidence = columns.redraw.confidence;
    let bands: Vec<Option<BandAccuracy>> = (0..table.n_bands())
        .map(|band_idx| {
            let (n, n_right) = answers.counts(table.band(band_idx));
            columns.share(first + N_BEFORE_BANDS + band_idx, n_right, n)
        })
        .collect();
    let top_5 = marks.top_5.as_ref().and_then(|top_5| {
        let n_found = top_5.iter().filter(|mask| 0 < **mask).count();
        columns.share(first + 1, n_found, n)
    });
    let overall = columns.share(first, n_right, n);
    let mean_per_class =
        columns.estimate(&columns.slow, model_idx * N_SLOW, marks.n_classes).map(|mean| {
            // As sure as Wilson's interval for all stimuli, moved to the mean over classes.
            let plain = wilson(n_right, n, confidence).and_then(|plain| {
                let shift = mean.value - plain.value;
                let (low, high) = ((plain.low + shift).max(0.0), (plain.high + shift).min(1.0));
                Estimate::new(mean.value, low.min(mean.value), high.max(mean.value), confidence, n)
            });
            widened(mean, plain)
        });
    Accuracies {
        overall,
        top_5: top_5.map(|share| share.clustered),
        mean_per_class,
        drop: drop(&bands, columns, first + N_BEFORE_BANDS),
        bands,
        difficulty_correlation: columns.estimate(
            &columns.slow,
            model_idx * N_SLOW + 1,
            marks.n_rank(n),
        ),
    }
}

/// Returns accuracy in the easiest band with answers minus that in the hardest.
fn drop(bands: &[Option<BandAccuracy>], columns: &Columns<'_>, first: usize) -> Option<Estimate> {
    let easiest = bands.iter().position(Option::is_some)?;
    let hardest = bands.iter().rposition(Option::is_some)?;
    if easiest == hardest {
        return None;
    }
    let (easy, hard) = (bands[easiest].as_ref()?, bands[hardest].as_ref()?);
    let plain = newcombe(&easy.wilson, &hard.wilson)?;
    let draws: Vec<f64> =
        columns.fast.1.iter().map(|draw| draw[first + easiest] - draw[first + hardest]).collect();
    let drawn = columns.redraw.of_draws(plain.value, &draws, plain.n);
    Some(drawn.map_or(plain, |drawn| widened(drawn, Some(plain))))
}

/// Stimuli with a difficulty, from easy to hard.
struct Order {
    places: Vec<usize>,
    /// Where each run of equal difficulties ends.
    ends: Vec<usize>,
}

impl Order {
    fn new(table: &Table<'_>) -> Self {
        let value = |idx: usize| table.stimuli[idx].difficulty.map(|row| row.estimate.value);
        let mut keyed: Vec<(f64, usize)> =
            (0..table.stimuli.len()).filter_map(|idx| Some((value(idx)?, idx))).collect();
        keyed.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let mut ends: Vec<usize> = Vec::new();
        let mut end = 0;
        for run in keyed.chunk_by(|a, b| a.0.total_cmp(&b.0).is_eq()) {
            end += run.len();
            ends.push(end);
        }
        Self { places: keyed.into_iter().map(|(_, idx)| idx).collect(), ends }
    }

    /// Returns Spearman's ρ of right or wrong with the difficulty, stimuli counting as often as
    /// their weight says; not a number where one of the two does not vary.
    fn spearman(&self, marks: &[(u8, u8)], weights: &[u32]) -> f64 {
        let (mut n, mut n_right) = (0.0, 0.0);
        let (mut sum, mut sum_squares, mut sum_right) = (0.0, 0.0, 0.0);
        let mut start = 0;
        for end in &self.ends {
            let (mut here, mut right) = (0_u32, 0_u32);
            for (weight, mark) in weights[start..*end].iter().zip(&marks[start..*end]) {
                here += weight * u32::from(mark.0);
                right += weight * u32::from(mark.1);
            }
            start = *end;
            let (here, right) = (f64::from(here), f64::from(right));
            let rank = n + (here + 1.0) / 2.0;
            sum += here * rank;
            sum_squares += here * rank * rank;
            sum_right += right * rank;
            n += here;
            n_right += right;
        }
        let covariance = sum_right - n_right * sum / n;
        let spread_of_ranks = sum_squares - sum * sum / n;
        let spread_of_right = n_right - n_right * n_right / n;
        // Rounding leaves crumbs where nothing varies.
        if spread_of_right < 0.5 / n || spread_of_ranks < 1e-6 {
            return f64::NAN;
        }
        (covariance / (spread_of_ranks * spread_of_right).sqrt()).clamp(-1.0, 1.0)
    }
}

impl Marks {
    /// Returns answers with a difficulty.
    fn n_rank(&self, n: usize) -> usize {
        self.by_difficulty.iter().filter(|mark| 0 < mark.0).count().min(n)
    }

    /// Returns the mean over the classes drawn of the share of right answers.
    fn mean_per_class(&self, weights: &[u32]) -> f64 {
        let (mut n, mut right) = (0.0, 0.0);
        for ((weight, share), mask) in weights.iter().zip(&self.per_class).zip(&self.right) {
            n += f64::from(*weight) * share;
            right += f64::from(weight & mask) * share;
        }
        ratio(right, n)
    }
}

fn marks(table: &Table<'_>, order: &Order, model_idx: usize) -> Marks {
    let answers = &table.answers[model_idx];
    let mut n_by_class = vec![0_usize; table.n_classes];
    for (shown, judged) in table.stimuli.iter().zip(&answers.judged) {
        n_by_class[shown.class_idx] += usize::from(*judged);
    }
    let per_class = table
        .stimuli
        .iter()
        .zip(&answers.judged)
        .map(
            |(shown, judged)| {
                if *judged == 0 { 0.0 } else { 1.0 / real(n_by_class[shown.class_idx]) }
            },
        )
        .collect();
    let is_listed = |(idx, judged): (usize, &u8)| {
        if *judged == 0 {
            return Some(0);
        }
        is_in_top(table, model_idx, idx).map(u8::from)
    };
    let top_5 = answers.judged.iter().enumerate().map(is_listed).collect::<Option<Vec<u8>>>();
    Marks {
        judged: answers.judged.contains(&0).then(|| masks(&answers.judged)),
        right: masks(&answers.right),
        top_5: top_5.filter(|_| answers.judged.contains(&1)).map(|top_5| masks(&top_5)),
        per_class,
        n_classes: n_by_class.iter().filter(|n| 0 < **n).count(),
        by_difficulty: order
            .places
            .iter()
            .map(|idx| (answers.judged[*idx], answers.right[*idx]))
            .collect(),
    }
}

/// Returns whether the right class is among the first five; `None` when fewer were recorded or
/// nothing names the right class.
fn is_in_top(table: &Table<'_>, model_idx: usize, stimulus_idx: usize) -> Option<bool> {
    let answer = table.answer(model_idx, stimulus_idx)?;
    if answer.top_k.len() < TOP {
        return None;
    }
    if 0 < table.answers[model_idx].right[stimulus_idx] {
        return Some(true);
    }
    let label: &Label = table.stimuli[stimulus_idx].label?;
    Some(answer.top_k[..TOP].iter().any(|(listed, _)| listed == label))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::correlation::spearman;

    fn order(values: &[f64]) -> Order {
        let mut places: Vec<usize> = (0..values.len()).collect();
        places.sort_by(|a, b| values[*a].total_cmp(&values[*b]));
        let mut ends = Vec::new();
        let mut end = 0;
        for run in places.chunk_by(|a, b| values[*a].total_cmp(&values[*b]).is_eq()) {
            end += run.len();
            ends.push(end);
        }
        Order { places, ends }
    }

    proptest! {
        #[test]
        fn weighted_ranks_are_those_of_stimuli_written_out(
            rows in proptest::collection::vec((0_u8..5, 0_u8..2, 0_u32..4), 2..30),
        ) {
            let values: Vec<f64> = rows.iter().map(|row| f64::from(row.0)).collect();
            let order = order(&values);
            let marks: Vec<(u8, u8)> = order.places.iter().map(|idx| (1, rows[*idx].1)).collect();
            let weights: Vec<u32> = order.places.iter().map(|idx| rows[*idx].2).collect();
            let found = order.spearman(&marks, &weights);
            let written = rows.iter().flat_map(|row| std::iter::repeat_n(row, row.2 as usize));
            let (x, y): (Vec<f64>, Vec<f64>) =
                written.map(|row| (f64::from(row.0), f64::from(row.1))).unzip();
            match spearman(&x, &y) {
                Some(expected) => prop_assert!((found - expected).abs() < 1e-9),
                None => prop_assert!(!found.is_finite()),
            }
        }
    }
}
