//! Learning speed: how early in training a stimulus was learned.
//!
//! # Formula
//!
//! ```text
//! speed      = share of epochs in which the model is right about the stimulus
//! difficulty = 1 - speed                                  mean over models, where there are several
//! ```
//!
//! Computed from predictions that were written after each epoch (condition `epoch`). What is
//! learned early and kept is right in most epochs. Jiang et al. call consistency of held-out
//! predictions over training sets the C-score; this share follows it closely and needs one
//! training only.
//!
//! # Limits
//!
//! Epochs of one training depend on each other, and another training would order stimuli
//! differently: Wilson's interval of a single stimulus, which takes epochs for independent, is too
//! narrow (caveat `epochs-depend`). Stimuli without an answer in some epoch are left out of the
//! findings of their model.
//!
//! # References
//!
//! - Z. Jiang, C. Zhang, K. Talwar and M. C. Mozer (2021), "Characterizing structural regularities
//!   of labeled data in overparameterized models".

use std::collections::{BTreeMap, BTreeSet};

use mohs_data::{Caveat, Difficulty, Extra, ModelName, Prediction, StimulusId};

use super::LearningSpeed;
use super::redraw::{Redraw, ratio};
use super::table::{EPOCH, Row, Table};
use crate::correlation::spearman;
use crate::human::agreement::by_number;
use crate::proportion::{real, wilson, wilson_of_share};

/// Name of the measure in difficulty files.
pub const MEASURE: &str = "learning-speed";

/// Returns how early stimuli were learned, for each model with at least two epochs.
pub(super) fn of_models(table: &Table<'_>, redraw: &Redraw) -> Vec<LearningSpeed> {
    (0..table.models.len()).filter_map(|model_idx| of_model(table, redraw, model_idx)).collect()
}

/// Returns the probe whose epochs count: none, if there are such rows.
fn probe<'a>(rows: impl Iterator<Item = &'a Prediction>) -> Option<&'a str> {
    let is_changed = |name: &str| name != Prediction::NO_PROBE;
    rows.filter(|row| epoch(row).is_some())
        .map(|row| row.probe.as_str())
        .min_by(|a, b| is_changed(a).cmp(&is_changed(b)).then_with(|| by_number(a, b)))
}

fn epoch(prediction: &Prediction) -> Option<f64> {
    let condition = prediction.condition.as_ref();
    condition.filter(|condition| condition.name == EPOCH).map(|condition| condition.value)
}

fn of_model(table: &Table<'_>, redraw: &Redraw, model_idx: usize) -> Option<LearningSpeed> {
    let of_model = || table.rows.iter().filter(|row| row.model_idx == model_idx);
    let probe = probe(of_model().map(|row| row.prediction))?;
    let rows: Vec<(u64, &Row<'_>)> = of_model()
        .filter(|row| row.prediction.probe == probe)
        .filter_map(|row| Some((sortable(epoch(row.prediction)?), row)))
        .collect();
    let mut by_epoch: BTreeMap<u64, (f64, usize, usize)> = BTreeMap::new();
    let mut by_stimulus: BTreeMap<usize, (usize, usize)> = BTreeMap::new();
    for (key, row) in rows {
        let at = by_epoch.entry(key).or_insert((epoch(row.prediction)?, 0, 0));
        let Some(is_right) = row.is_right else { continue };
        at.1 += 1;
        at.2 += usize::from(is_right);
        let counts = by_stimulus.entry(row.stimulus_idx).or_default();
        counts.0 += 1;
        counts.1 += usize::from(is_right);
    }
    let n_epochs = by_epoch.len();
    by_stimulus.retain(|_, counts| counts.0 == n_epochs);
    if n_epochs < 2 || by_stimulus.is_empty() {
        return None;
    }
    let speeds: Vec<(usize, f64)> =
        by_stimulus.iter().map(|(idx, (n, n_right))| (*idx, real(*n_right) / real(*n))).collect();
    let numbers = |weights: &[u32]| numbers(table, &speeds, weights);
    let draws = redraw.draws(numbers);
    let values = numbers(&vec![1; table.stimuli.len()]);
    let estimate = |column: usize, n: usize| redraw.estimate(values[column], &draws, column, n);
    let n_in = |band_idx: usize| {
        let places = table.band(band_idx);
        speeds.iter().filter(|(idx, _)| places.contains(idx)).count()
    };
    let has_difficulty = |(idx, _): &&(usize, f64)| table.stimuli[*idx].difficulty.is_some();
    let n_ranked = speeds.iter().filter(has_difficulty).count();
    Some(LearningSpeed {
        model: table.models[model_idx].clone(),
        n_epochs,
        n_stimuli: speeds.len(),
        mean: estimate(0, speeds.len())?,
        difficulty_correlation: estimate(1, n_ranked),
        bands: (0..table.n_bands()).map(|idx| estimate(2 + idx, n_in(idx))).collect(),
        by_epoch: by_epoch
            .values()
            .filter_map(|(epoch, n, n_right)| {
                Some((*epoch, wilson(*n_right, *n, redraw.confidence)?))
            })
            .collect(),
    })
}

/// Returns the mean speed, its rank correlation with difficulty, and the mean speed by band.
fn numbers(table: &Table<'_>, speeds: &[(usize, f64)], weights: &[u32]) -> Vec<f64> {
    let mut sums = vec![(0.0, 0.0); 1 + table.n_bands()];
    let (mut difficulties, mut shares) = (Vec::new(), Vec::new());
    for (idx, speed) in speeds {
        let weight = f64::from(weights[*idx]);
        let shown = &table.stimuli[*idx];
        for place in [Some(0), shown.band_idx.map(|idx| idx + 1)].into_iter().flatten() {
            sums[place].0 += weight * speed;
            sums[place].1 += weight;
        }
        if let Some(row) = shown.difficulty {
            for _ in 0..weights[*idx] {
                difficulties.push(row.estimate.value);
                shares.push(*speed);
            }
        }
    }
    let mut means = sums.into_iter().map(|(sum, weight)| ratio(sum, weight));
    let overall = means.next().unwrap_or(f64::NAN);
    let correlation = spearman(&difficulties, &shares).unwrap_or(f64::NAN);
    [overall, correlation].into_iter().chain(means).collect()
}

/// Returns bits that sort as the numbers do, equal for 0 and -0.
fn sortable(value: f64) -> u64 {
    let bits = (value + 0.0).to_bits();
    if bits >> 63 == 1 { !bits } else { bits | 1 << 63 }
}

/// Returns how late each stimulus was learned, as difficulties of the measure `learning-speed`, by
/// id: the share of epochs in which models were wrong about it, each model counting the same.
///
/// Looks at rows with the condition `epoch` that can be judged by themselves (`label` or
/// `correct`); empty when there are none. n = answers. The interval is Wilson's and takes epochs
/// for independent, which they are not: it is too narrow, and the caveat `epochs-depend` says so.
pub fn difficulties(predictions: &[Prediction], confidence: f64) -> Vec<Difficulty> {
    let Some(probe) = probe(predictions.iter()) else { return Vec::new() };
    let mut by_stimulus: BTreeMap<&StimulusId, BTreeMap<&ModelName, (usize, usize)>> =
        BTreeMap::new();
    let mut epochs: BTreeSet<u64> = BTreeSet::new();
    for prediction in predictions.iter().filter(|prediction| prediction.probe == probe) {
        let (Some(epoch), Some(is_right)) = (epoch(prediction), prediction.is_correct()) else {
            continue;
        };
        epochs.insert(sortable(epoch));
        let models = by_stimulus.entry(&prediction.stimulus).or_default();
        let counts = models.entry(&prediction.model).or_default();
        counts.0 += 1;
        counts.1 += usize::from(!is_right);
    }
    by_stimulus
        .into_iter()
        .filter_map(|(stimulus, models)| {
            let shares = models.values().map(|(n, n_wrong)| real(*n_wrong) / real(*n));
            let share = shares.sum::<f64>() / real(models.len());
            let n = models.values().map(|(n, _)| n).sum();
            Some(Difficulty {
                stimulus: stimulus.clone(),
                measure: MEASURE.into(),
                estimate: wilson_of_share(share.clamp(0.0, 1.0), n, confidence)?,
                band: None,
                caveats: vec![Caveat::EpochsDepend.code().to_owned()],
                extra: Extra::from_pairs([
                    ("n_models", models.len().to_string()),
                    ("n_epochs", epochs.len().to_string()),
                ]),
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use mohs_data::{Answer, Condition, Label, Outcome};

    use super::*;

    fn row(model: &str, stimulus: &str, epoch: f64, is_right: bool) -> Prediction {
        Prediction {
            model: model.into(),
            stimulus: stimulus.into(),
            probe: Prediction::NO_PROBE.into(),
            condition: Some(Condition { name: EPOCH.into(), value: epoch }),
            label: Some(Label::new("mug")),
            outcome: Outcome::Answered(Answer {
                predicted: Label::new(if is_right { "mug" } else { "cup" }),
                confidence: None,
                top_k: Vec::new(),
                correct: None,
            }),
            extra: Extra::default(),
        }
    }

    /// One model is wrong in 1 of 4 epochs, the other in 1 of 2: mean 0.375, over 6 answers.
    #[test]
    fn each_model_counts_the_same() {
        let mut rows: Vec<Prediction> =
            (0..4).map(|epoch| row("a", "s", f64::from(epoch), 0 < epoch)).collect();
        rows.extend((0..2).map(|epoch| row("b", "s", f64::from(epoch), 0 < epoch)));
        let found = difficulties(&rows, 0.95);
        assert_eq!(found.len(), 1);
        assert!((found[0].estimate.value - 0.375).abs() < 1e-12);
        assert_eq!(
            (found[0].estimate.n, found[0].caveats.as_slice()),
            (6, &["epochs-depend".to_owned()][..])
        );
        assert_eq!(found[0].extra.get("n_epochs"), Some("4"));
    }

    #[test]
    fn rows_without_epochs_say_nothing_about_learning() {
        let mut plain = row("a", "s", 0.0, true);
        plain.condition = None;
        assert!(difficulties(&[plain], 0.95).is_empty());
    }

    #[test]
    fn bits_sort_as_numbers_do() {
        let mut values = [3.0, -2.0, 0.0, 10.0, -0.5];
        values.sort_by_key(|value| sortable(*value));
        assert_eq!(values.map(f64::to_bits), [-2.0, -0.5, 0.0, 3.0, 10.0].map(f64::to_bits));
        assert_eq!(sortable(0.0), sortable(-0.0));
    }
}
