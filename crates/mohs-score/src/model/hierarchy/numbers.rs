//! All numbers of one model on a ladder, from one pass over its answers: as they are, and in each
//! draw of `redraw.rs`.
//!
//! A cell counts as often as its stimuli do on average, so that a class drawn twice counts twice.
//! A cell that a draw leaves without a level has no chain there.

use super::ladder::{Ladder, Rung};
use super::learning_score::{excess, hierarchical};
use super::{CellKind, pattern, weighted};
use crate::model::redraw::ratio;
use crate::model::table::Table;
use crate::proportion::real;

/// One model's answers on a ladder.
pub(super) struct Marked<'a> {
    ladder: &'a Ladder<'a>,
    /// By stimulus of the ladder: whether the answer is right; `None` without one to judge.
    right: Vec<Option<bool>>,
    /// By stimulus of the ladder: the confidence of an answer that can be judged.
    pub(super) confidence: Vec<Option<f64>>,
    /// Answers and right ones by cell and level.
    counts: Vec<(usize, usize)>,
    weights: &'a [f64],
    patterns: &'a [Vec<bool>],
}

/// Where numbers stand in what [`Marked::numbers`] returns. Group 0 is all stimuli, attributes
/// follow.
#[derive(Debug, Clone, Copy)]
pub(super) struct Layout {
    pub(super) n_levels: usize,
    pub(super) n_attributes: usize,
    pub(super) n_patterns: usize,
}

impl Layout {
    const N_BESIDE_LEVELS: usize = 5;

    pub(super) fn width(&self) -> usize {
        self.confidence(self.n_levels)
    }

    fn group(&self, group: usize) -> usize {
        group * (self.n_levels + Self::N_BESIDE_LEVELS)
    }

    pub(super) fn accuracy(&self, group: usize) -> usize {
        self.group(group)
    }

    pub(super) fn score(&self, group: usize) -> usize {
        self.group(group) + 1
    }

    pub(super) fn hierarchy(&self, group: usize) -> usize {
        self.group(group) + 2
    }

    pub(super) fn baseline(&self, group: usize) -> usize {
        self.group(group) + 3
    }

    pub(super) fn excess(&self, group: usize) -> usize {
        self.group(group) + 4
    }

    pub(super) fn level(&self, group: usize, level: usize) -> usize {
        self.group(group) + Self::N_BESIDE_LEVELS + level
    }

    pub(super) fn pattern(&self, idx: usize) -> usize {
        self.group(1 + self.n_attributes) + idx
    }

    pub(super) fn confidence(&self, level: usize) -> usize {
        self.pattern(self.n_patterns) + level
    }
}

/// Sums over some cells.
#[derive(Debug, Clone)]
struct Sums {
    weight: f64,
    hierarchy: f64,
    shares: Vec<f64>,
}

impl<'a> Marked<'a> {
    pub(super) fn new(
        table: &Table<'_>,
        ladder: &'a Ladder<'a>,
        model_idx: usize,
        weights: &'a [f64],
        patterns: &'a [Vec<bool>],
    ) -> Self {
        let answers = &table.answers[model_idx];
        let judge = |rung: &Rung| {
            let idx = rung.stimulus_idx;
            (0 < answers.judged[idx]).then(|| 0 < answers.right[idx])
        };
        let right: Vec<Option<bool>> = ladder.rungs.iter().map(judge).collect();
        let sure = |rung: &Rung| {
            judge(rung)?;
            table.answer(model_idx, rung.stimulus_idx)?.confidence
        };
        let confidence = ladder.rungs.iter().map(sure).collect();
        let mut counts = vec![(0, 0); ladder.cells.len() * ladder.levels.len()];
        for (rung, is_right) in ladder.rungs.iter().zip(&right) {
            let Some(is_right) = is_right else { continue };
            let count = &mut counts[ladder.stratum(rung)];
            count.0 += usize::from(*is_right);
            count.1 += 1;
        }
        Self { ladder, right, confidence, counts, weights, patterns }
    }

    /// Returns whether the answer to a stimulus of the ladder is right; `None` without one.
    pub(super) fn is_right(&self, place: usize) -> Option<bool> {
        self.right[place]
    }

    /// Returns right answers and answers to some stimuli of the ladder.
    pub(super) fn count(&self, keep: impl Fn(&Rung) -> bool) -> (usize, usize) {
        let kept = self.ladder.rungs.iter().zip(&self.right).filter(|(rung, _)| keep(rung));
        kept.filter_map(|(_, right)| *right)
            .fold((0, 0), |(k, n), right| (k + usize::from(right), n + 1))
    }

    /// Returns right answers and answers by level of each complete cell, and the cell's place.
    pub(super) fn complete_cells(&self) -> impl Iterator<Item = (usize, &[(usize, usize)])> {
        let cells = self.counts.chunks(self.ladder.levels.len()).enumerate();
        cells.filter(|(_, levels)| levels.iter().all(|(_, n)| 0 < *n))
    }

    pub(super) fn layout(&self) -> Layout {
        Layout {
            n_levels: self.ladder.levels.len(),
            n_attributes: self.ladder.attributes.len(),
            n_patterns: self.patterns.len(),
        }
    }

    /// Returns all numbers, stimuli counting as often as their weight says; not finite where there
    /// is no answer.
    pub(super) fn numbers(&self, weights: &[u32]) -> Vec<f64> {
        let (ladder, layout) = (self.ladder, self.layout());
        let n_levels = layout.n_levels;
        let mut strata = vec![(0.0, 0.0); self.counts.len()];
        let mut table = vec![(0.0, 0.0); n_levels * layout.n_attributes.max(1)];
        let mut sure = vec![(0.0, 0.0); n_levels];
        for ((rung, right), confidence) in
            ladder.rungs.iter().zip(&self.right).zip(&self.confidence)
        {
            let (weight, Some(right)) = (weights[rung.stimulus_idx], right) else { continue };
            if weight == 0 {
                continue;
            }
            let weight = f64::from(weight);
            let place = rung.attribute_idx * n_levels + rung.level_idx;
            for sum in [&mut strata[ladder.stratum(rung)], &mut table[place]] {
                sum.0 += if *right { weight } else { 0.0 };
                sum.1 += weight;
            }
            if let Some(confidence) = confidence {
                sure[rung.level_idx].0 += weight * confidence;
                sure[rung.level_idx].1 += weight;
            }
        }
        let mut numbers = vec![f64::NAN; layout.width()];
        self.table_numbers(&table, layout, &mut numbers);
        self.cell_numbers(&strata, layout, &mut numbers);
        for (level, (sum, n)) in sure.into_iter().enumerate() {
            numbers[layout.confidence(level)] = ratio(sum, n);
        }
        numbers
    }

    /// Fills in accuracy and score, of all stimuli and by attribute.
    fn table_numbers(&self, table: &[(f64, f64)], layout: Layout, numbers: &mut [f64]) {
        let add = |a: (f64, f64), b: &(f64, f64)| (a.0 + b.0, a.1 + b.1);
        for group in 0..=layout.n_attributes {
            let levels: Vec<(f64, f64)> = (0..layout.n_levels)
                .map(|level| match group {
                    0 => table.iter().skip(level).step_by(layout.n_levels).fold((0.0, 0.0), add),
                    group => table[(group - 1) * layout.n_levels + level],
                })
                .collect();
            let all = levels.iter().fold((0.0, 0.0), add);
            let shares: Vec<f64> = levels.iter().map(|(right, n)| ratio(*right, *n)).collect();
            numbers[layout.accuracy(group)] = ratio(all.0, all.1);
            numbers[layout.score(group)] = weighted::score(self.weights, &shares);
            for (level, share) in shares.into_iter().enumerate() {
                numbers[layout.level(group, level)] = share;
            }
        }
    }

    /// Fills in what chains say: hierarchy, baseline and excess, and the patterns.
    fn cell_numbers(&self, strata: &[(f64, f64)], layout: Layout, numbers: &mut [f64]) {
        let (ladder, n_levels) = (self.ladder, layout.n_levels);
        let nothing = Sums { weight: 0.0, hierarchy: 0.0, shares: vec![0.0; n_levels] };
        let mut groups = vec![nothing; ladder.n_groups()];
        let mut patterns = vec![0.0; layout.n_patterns];
        let mut shares = vec![0.0; n_levels];
        for (cell_idx, counts) in self.complete_cells() {
            let drawn = &strata[cell_idx * n_levels..(cell_idx + 1) * n_levels];
            if drawn.iter().any(|(_, n)| *n <= 0.0) {
                continue;
            }
            for (share, (right, n)) in shares.iter_mut().zip(drawn) {
                *share = right / n;
            }
            let n_drawn: f64 = drawn.iter().map(|(_, n)| n).sum();
            let weight = n_drawn / real(counts.iter().map(|(_, n)| n).sum());
            let sums = &mut groups[ladder.cells[cell_idx].group_idx];
            sums.weight += weight;
            sums.hierarchy += weight * hierarchical(&shares);
            for (sum, share) in sums.shares.iter_mut().zip(&shares) {
                *sum += weight * share;
            }
            for (sum, right) in patterns.iter_mut().zip(self.patterns) {
                *sum += weight * pattern::share(right, &shares);
            }
        }
        let (mut weight, mut score, mut baseline) = (0.0, 0.0, 0.0);
        for (group, sums) in groups.iter().enumerate().filter(|(_, sums)| 0.0 < sums.weight) {
            let means: Vec<f64> = sums.shares.iter().map(|sum| sum / sums.weight).collect();
            let of_group = (sums.hierarchy / sums.weight, hierarchical(&means));
            weight += sums.weight;
            score += sums.hierarchy;
            baseline += sums.weight * of_group.1;
            if ladder.kind == CellKind::LabelAndAttribute {
                fill(layout, group + 1, of_group, numbers);
            }
        }
        fill(layout, 0, (ratio(score, weight), ratio(baseline, weight)), numbers);
        for (idx, sum) in patterns.into_iter().enumerate() {
            numbers[layout.pattern(idx)] = ratio(sum, weight);
        }
    }
}

fn fill(layout: Layout, group: usize, (score, baseline): (f64, f64), numbers: &mut [f64]) {
    numbers[layout.hierarchy(group)] = score;
    numbers[layout.baseline(group)] = baseline;
    numbers[layout.excess(group)] = excess(score, baseline);
}
