//! Beep trials as counts: participant × condition × block × category, and shares made of them.

use std::collections::{BTreeMap, BTreeSet};

use mohs_data::{Label, Millis, ParticipantId, Trial};

use super::window::Reading;
use crate::draw::Draw;
use crate::human::exclusion::natural;
use crate::proportion::real;

/// Trials counted, in an order that does not depend on the file's.
pub(super) struct Counted<'a> {
    pub(super) participants: Vec<&'a ParticipantId>,
    /// Names of the groups: all together (empty), then each condition if there are several.
    pub(super) groups: Vec<String>,
    pub(super) beeps: Vec<Millis>,
    pub(super) labels: Vec<&'a Label>,
    cells: Vec<Cell>,
    times: Vec<Times>,
    n_conditions: usize,
    /// Labels, and one place for trials without.
    n_categories: usize,
}

#[derive(Clone, Copy, Default)]
struct Cell {
    n: usize,
    n_right: usize,
}

/// Times of one participant, condition and block.
#[derive(Clone, Default)]
struct Times {
    mean: f64,
    sum_of_squares: f64,
    n: usize,
    n_time_outs: usize,
}

impl<'a> Counted<'a> {
    pub(super) fn new(kept: &[&'a Trial], reading: Reading) -> Self {
        let participants: BTreeSet<&ParticipantId> =
            kept.iter().map(|trial| &trial.participant).collect();
        let participants: Vec<_> = participants.into_iter().collect();
        let beeps: BTreeSet<Millis> = kept.iter().filter_map(|trial| trial.beep).collect();
        let beeps: Vec<_> = beeps.into_iter().collect();
        let labels: BTreeSet<&Label> =
            kept.iter().filter_map(|trial| trial.label.as_ref()).collect();
        let labels: Vec<_> = labels.into_iter().collect();
        let conditions = conditions(kept);
        let (n_conditions, n_categories) = (conditions.len(), labels.len() + 1);
        let mut cells =
            vec![Cell::default(); participants.len() * n_conditions * beeps.len() * n_categories];
        let mut ended: Vec<Vec<f64>> =
            vec![Vec::new(); participants.len() * n_conditions * beeps.len()];
        let mut times = vec![Times::default(); ended.len()];
        let position = "because it was collected from the same trials";
        for trial in kept {
            let name = trial.condition.as_deref().unwrap_or_default();
            let p = participants.binary_search(&&trial.participant).expect(position);
            let c = conditions.iter().position(|known| *known == name).expect(position);
            let b = trial.beep.and_then(|beep| beeps.binary_search(&beep).ok()).expect(position);
            let label = trial.label.as_ref();
            let k = label.map_or(labels.len(), |l| labels.binary_search(&l).expect(position));
            let block = (p * n_conditions + c) * beeps.len() + b;
            let cell = &mut cells[block * n_categories + k];
            cell.n += 1;
            cell.n_right += usize::from(trial.is_correct() == Some(true));
            ended[block].extend(reading.ended_ms(trial));
            times[block].n_time_outs += usize::from(reading.is_time_out(trial));
        }
        for (times, mut ended) in times.iter_mut().zip(ended) {
            // Sorted, so that the sum does not hang on the file's order.
            ended.sort_unstable_by(f64::total_cmp);
            times.n = ended.len();
            if 0 < times.n {
                times.mean = ended.iter().sum::<f64>() / real(times.n);
                times.sum_of_squares = ended.iter().map(|t| (t - times.mean).powi(2)).sum();
            }
        }
        let named = if 1 < n_conditions { conditions } else { Vec::new() };
        let groups = std::iter::once(String::new()).chain(named.into_iter().map(Into::into));
        Self {
            participants,
            groups: groups.collect(),
            beeps,
            labels,
            cells,
            times,
            n_conditions,
            n_categories,
        }
    }

    /// Returns the shares as they are.
    pub(super) fn table(&self) -> Table {
        self.table_of(|cell| real(cell.n_right), |times| times.mean)
    }

    /// Returns the shares as they might have been: every answer redrawn with the cell's share of
    /// right ones, every mean time within its standard error.
    pub(super) fn redrawn(&self, mut answers: Draw, mut times: Draw) -> Table {
        let right = |cell: &Cell| {
            let p = real(cell.n_right) / real(cell.n.max(1));
            real((0..cell.n).filter(|_| answers.chance(p)).count())
        };
        let mean_time = |block: &Times| {
            let n = real(block.n);
            let se = if block.n < 2 { 0.0 } else { (block.sum_of_squares / (n - 1.0) / n).sqrt() };
            (block.mean + se * times.normal()).max(1.0)
        };
        self.table_of(right, mean_time)
    }

    fn table_of(
        &self,
        mut right: impl FnMut(&Cell) -> f64,
        mut mean_time: impl FnMut(&Times) -> f64,
    ) -> Table {
        let (n_beeps, n_groups) = (self.beeps.len(), self.groups.len());
        let n_labels = self.labels.len();
        let mut blocks = vec![Block::default(); self.participants.len() * n_groups * n_beeps];
        let mut categories = vec![(0.0, 0.0); blocks.len() * n_labels];
        for (idx, times) in self.times.iter().enumerate() {
            let (p, c, b) = (
                idx / (self.n_conditions * n_beeps),
                idx / n_beeps % self.n_conditions,
                idx % n_beeps,
            );
            let mean = if 0 < times.n { mean_time(times) } else { 0.0 };
            let groups = if n_groups == 1 { vec![0] } else { vec![0, c + 1] };
            for (k, cell) in self.cells[idx * self.n_categories..(idx + 1) * self.n_categories]
                .iter()
                .enumerate()
            {
                if cell.n == 0 {
                    continue;
                }
                let n_right = right(cell);
                for g in &groups {
                    let place = (p * n_groups + g) * n_beeps + b;
                    blocks[place].n += real(cell.n);
                    blocks[place].n_right += n_right;
                    if k < n_labels {
                        let category = &mut categories[place * n_labels + k];
                        category.0 += real(cell.n);
                        category.1 += n_right;
                    }
                }
            }
            for g in &groups {
                let block = &mut blocks[(p * n_groups + g) * n_beeps + b];
                block.n_times += real(times.n);
                block.sum_times += real(times.n) * mean;
                block.n_time_outs += times.n_time_outs;
            }
        }
        let share = |(n, n_right): (f64, f64)| (0.0 < n).then(|| n_right / n);
        Table {
            n_participants: self.participants.len(),
            n_groups,
            n_beeps,
            n_labels,
            blocks,
            categories: categories.into_iter().map(share).collect(),
        }
    }

    /// Returns the standard error of one participant's mean time in a block of a group.
    pub(super) fn time_se(&self, p: usize, g: usize, b: usize) -> Option<f64> {
        let place = |c: usize| (p * self.n_conditions + c) * self.beeps.len() + b;
        let conditions = if g == 0 { 0..self.n_conditions } else { g - 1..g };
        let all: Vec<&Times> = conditions.map(|c| &self.times[place(c)]).collect();
        let n = real(all.iter().map(|times| times.n).sum());
        if n < 2.0 {
            return None;
        }
        let mean = all.iter().map(|times| real(times.n) * times.mean).sum::<f64>() / n;
        let squares =
            |times: &&Times| times.sum_of_squares + real(times.n) * (times.mean - mean).powi(2);
        Some((all.iter().map(squares).sum::<f64>() / (n - 1.0) / n).sqrt())
    }
}

/// Returns the conditions: by number where all are numbers, else so that `n2` precedes `n10`.
fn conditions<'a>(kept: &[&'a Trial]) -> Vec<&'a str> {
    let names: BTreeSet<&str> =
        kept.iter().map(|trial| trial.condition.as_deref().unwrap_or_default()).collect();
    let numbers: Option<BTreeMap<&str, f64>> = names
        .iter()
        .map(|name| Some((*name, name.parse().ok().filter(|x: &f64| x.is_finite())?)))
        .collect();
    let mut names: Vec<&str> = names.into_iter().collect();
    match numbers {
        Some(numbers) => names.sort_by(|a, b| numbers[a].total_cmp(&numbers[b]).then(a.cmp(b))),
        None => names.sort_by(|a, b| natural(a, b)),
    }
    names
}

/// One participant's block in one group.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Block {
    pub(super) n: f64,
    pub(super) n_right: f64,
    n_times: f64,
    sum_times: f64,
    pub(super) n_time_outs: usize,
}

impl Block {
    pub(super) fn share(&self) -> Option<f64> {
        (0.0 < self.n).then(|| self.n_right / self.n)
    }

    pub(super) fn n_times(&self) -> usize {
        super::count(self.n_times)
    }

    pub(super) fn mean_time(&self) -> Option<f64> {
        (0.0 < self.n_times).then(|| self.sum_times / self.n_times)
    }
}

/// Shares by participant, group and block.
#[derive(Debug)]
pub(super) struct Table {
    pub(super) n_participants: usize,
    pub(super) n_groups: usize,
    pub(super) n_beeps: usize,
    n_labels: usize,
    blocks: Vec<Block>,
    categories: Vec<Option<f64>>,
}

impl Table {
    /// Returns a participant's blocks in a group.
    pub(super) fn blocks(&self, p: usize, g: usize) -> &[Block] {
        let start = (p * self.n_groups + g) * self.n_beeps;
        &self.blocks[start..start + self.n_beeps]
    }

    /// Returns a participant's shares in a group, block by block, category by category.
    pub(super) fn categories(&self, p: usize, g: usize) -> &[Option<f64>] {
        let n = self.n_beeps * self.n_labels;
        let start = (p * self.n_groups + g) * n;
        &self.categories[start..start + n]
    }
}
