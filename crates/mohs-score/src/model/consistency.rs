//! Error consistency of models: do they err on the same stimuli, as each other and as people?
//!
//! The formulas are those of people (`human/agreement/error_consistency.rs`), and so are the
//! intervals beside people. For two models stimuli are the only thing that varies: a bootstrap over
//! stimuli redraws four counts (neither right, only one, only the other, both), which is a
//! multinomial draw and is made as one.
//!
//! Right and wrong is all it looks at; it does not compare answers.

use std::collections::HashMap;

use mohs_data::{Estimate, Label, ModelName, Seed, StimulusId, Trial};
use rayon::prelude::*;

use super::table::Table;
use super::{ConsistencyOf, Options, PairedComparison, PeopleConsistency};
use crate::draw::Draw;
use crate::human::agreement::{Consistency, ModelAnswers, beside_people, of_counts};

const STREAM: u64 = 71;

/// Returns how pairs of models err together.
pub(super) fn of_pairs(
    table: &Table<'_>,
    comparisons: &[PairedComparison],
    options: &Options,
    seed: Seed,
) -> Vec<ConsistencyOf> {
    let idx_by_model: HashMap<&ModelName, usize> =
        table.models.iter().enumerate().map(|(idx, name)| (*name, idx)).collect();
    let mut names: Vec<&ModelName> = table.models.clone();
    names.sort_unstable();
    let place = |name: &ModelName| names.partition_point(|other| *other < name) as u64;
    comparisons
        .par_iter()
        .filter_map(|pair| {
            let right = |name: &ModelName| &table.answers[idx_by_model[name]].right;
            let both = right(&pair.first).iter().zip(right(&pair.second));
            let n_both: usize = both.map(|(first, second)| usize::from(first & second)).sum();
            let (only_first, only_second) = (pair.n_only_first, pair.n_only_second);
            let n_neither = pair.n_stimuli - n_both - only_first - only_second;
            // By name, so that draws do not depend on which model came first.
            let (first, second) = (place(&pair.first), place(&pair.second));
            let mut counts = [n_neither, only_first, only_second, n_both];
            if second < first {
                counts.swap(1, 2);
            }
            let counts = counts.map(|n| u32::try_from(n).unwrap_or(u32::MAX));
            let mut draw = Draw::new(seed, &[STREAM, first.min(second), first.max(second)]);
            let redrawn: Vec<[f64; 4]> =
                (0..options.n_resamples).map(|_| redrawn(&mut draw, counts)).collect();
            let counts = counts.map(f64::from);
            Some(ConsistencyOf {
                first: pair.first.clone(),
                second: pair.second.clone(),
                n_stimuli: pair.n_stimuli,
                consistency: of_counts(counts, &redrawn, options.confidence, pair.n_stimuli)?,
            })
        })
        .collect()
}

/// Redraws four counts: as many stimuli, each falling where the counts say it may.
fn redrawn(draw: &mut Draw, counts: [u32; 4]) -> [f64; 4] {
    let mut n_left: u32 = counts.iter().sum();
    let mut weight_left = n_left;
    counts.map(|count| {
        let share = if weight_left == 0 { 0.0 } else { f64::from(count) / f64::from(weight_left) };
        let n = draw.binomial(n_left, share.min(1.0));
        n_left -= n;
        weight_left -= count;
        f64::from(n)
    })
}

/// Returns how models and people err together; empty without trials that can be judged.
pub(super) fn with_people(
    table: &Table<'_>,
    trials: &[Trial],
    options: &Options,
    seed: Seed,
) -> Vec<PeopleConsistency> {
    let place_by_id: HashMap<&StimulusId, usize> =
        table.stimuli.iter().enumerate().map(|(idx, shown)| (shown.id, idx)).collect();
    let labelled: Vec<Trial> = trials
        .iter()
        .filter(|trial| place_by_id.contains_key(&trial.stimulus))
        .map(|trial| {
            let label: Option<&Label> = table.stimuli[place_by_id[&trial.stimulus]].label;
            Trial { label: trial.label.clone().or_else(|| label.cloned()), ..trial.clone() }
        })
        .collect();
    if labelled.is_empty() {
        return Vec::new();
    }
    let mut models: Vec<ModelAnswers<'_>> = table
        .models
        .iter()
        .zip(&table.answers)
        .map(|(model, answers)| ModelAnswers {
            model,
            is_right: (0..table.stimuli.len())
                .filter(|idx| 0 < answers.judged[*idx])
                .map(|idx| (table.stimuli[idx].id, 0 < answers.right[idx]))
                .collect(),
        })
        .collect();
    // By name, so that draws do not depend on which model came first.
    models.sort_by(|a, b| a.model.cmp(b.model));
    let found = beside_people(&labelled, &models, options.n_resamples, options.confidence, seed);
    let Some(found) = found else { return Vec::new() };
    let mut seen = vec![false; table.stimuli.len()];
    for trial in &labelled {
        seen[place_by_id[&trial.stimulus]] = true;
    }
    let of = |(model_idx, model): (usize, &&ModelName)| {
        let (_, n_participants, consistency) =
            found.models.iter().find(|(name, ..)| name == *model)?;
        let judged = &table.answers[model_idx].judged;
        let n_stimuli = (0..seen.len()).filter(|idx| seen[*idx] && 0 < judged[*idx]).count();
        Some(PeopleConsistency {
            model: (*model).clone(),
            n_participants: *n_participants,
            consistency: resting_on(consistency.clone()?, n_stimuli),
            ceiling: found.people.clone(),
        })
    };
    table.models.iter().enumerate().filter_map(of).collect()
}

/// Returns the numbers with the stimuli they rest on as their n.
fn resting_on(found: Consistency, n: usize) -> Consistency {
    let with_n = |estimate: Estimate| Estimate { n, ..estimate };
    Consistency {
        error_consistency: with_n(found.error_consistency),
        attainable_maximum: with_n(found.attainable_maximum),
        attainable_minimum: with_n(found.attainable_minimum),
        observed_consistency: with_n(found.observed_consistency),
        expected_consistency: with_n(found.expected_consistency),
        accuracy_difference: with_n(found.accuracy_difference),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 4,000 draws of 10, 20, 30 and 40 in 100: means within four standard errors.
    #[test]
    fn redrawn_counts_have_the_expected_means_and_keep_their_sum() {
        let mut draw = Draw::new(Seed(3), &[1]);
        let counts = [10, 20, 30, 40];
        let mut sums = [0.0; 4];
        for _ in 0..4_000 {
            let found = redrawn(&mut draw, counts);
            assert!((found.iter().sum::<f64>() - 100.0).abs() < 1e-9);
            for (sum, n) in sums.iter_mut().zip(found) {
                *sum += n / 4_000.0;
            }
        }
        for (mean, count) in sums.iter().zip(counts) {
            assert!((mean - f64::from(count)).abs() < 4.0 * 5.0 / 4_000.0_f64.sqrt(), "{sums:?}");
        }
        assert_eq!(
            redrawn(&mut draw, [0, 0, 0, 7]).map(f64::to_bits),
            [0.0, 0.0, 0.0, 7.0].map(f64::to_bits)
        );
    }
}
