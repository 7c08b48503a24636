//! The hierarchical learning score by label: the mean over its cells.
//!
//! The interval draws the cells of the label, that is, its attributes; a label with one cell has
//! none. The baseline is the mean of those of its cells, which come from all labels: below it, a
//! label is less hierarchical than accuracies explain.

use std::collections::BTreeMap;

use mohs_data::{Label, Seed};

use super::LabelHierarchy;
use super::ladder::Ladder;
use super::learning_score::hierarchical;
use super::numbers::Marked;
use crate::correlation::mean;
use crate::draw::Draw;
use crate::proportion::real;
use crate::resample::percentile_of_few;

const LABELS: u64 = 75;

/// Draws of a label's cells: enough for an interval of few numbers.
const N_DRAWS: usize = 400;

/// Returns the score of each label with a complete cell, by name. `baselines` are those of the
/// ladder's groups.
pub(super) fn of_model(
    ladder: &Ladder<'_>,
    marked: &Marked<'_>,
    baselines: &[f64],
    confidence: f64,
    seed: Seed,
) -> Vec<LabelHierarchy> {
    let mut by_label: BTreeMap<&Label, Vec<(f64, f64)>> = BTreeMap::new();
    for (cell_idx, counts) in marked.complete_cells() {
        let cell = &ladder.cells[cell_idx];
        let Some(label) = cell.label else { continue };
        let shares: Vec<f64> = counts.iter().map(|(k, n)| real(*k) / real(*n)).collect();
        let both = (hierarchical(&shares), baselines[cell.group_idx]);
        by_label.entry(label).or_default().push(both);
    }
    by_label
        .into_iter()
        .enumerate()
        .map(|(label_idx, (label, cells))| {
            let (scores, baselines): (Vec<f64>, Vec<f64>) = cells.into_iter().unzip();
            let (score, n_cells) = (mean(&scores), scores.len());
            let mut draw = Draw::new(seed, &[LABELS, label_idx as u64]);
            let mut drawn = || mean_of(&scores, || draw.below(n_cells));
            let draws: Vec<f64> = (0..N_DRAWS).map(|_| drawn()).collect();
            let estimate = percentile_of_few(score, &draws, confidence, n_cells, n_cells);
            LabelHierarchy {
                label: label.clone(),
                n_cells,
                score,
                baseline: mean(&baselines),
                estimate: estimate.filter(|estimate| 1 < n_cells && estimate.low < estimate.high),
            }
        })
        .collect()
}

fn mean_of(scores: &[f64], mut place: impl FnMut() -> usize) -> f64 {
    scores.iter().map(|_| scores[place()]).sum::<f64>() / real(scores.len())
}
