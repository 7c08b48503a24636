//! Surprises: stimuli that people find easy and models fail, and the reverse.
//!
//! # Rank
//!
//! ```text
//! u = (rank of the difficulty - ½) / n          0 easiest, 1 hardest
//! s = models that got it right / models that answered
//! easy but failed:  u < ½ and s < ½,  by 1 - s - u, largest first
//! hard but solved:  ½ < u and ½ < s,  by s - (1 - u), largest first
//! ```
//!
//! It shows where to look. A wrong label surprises, too, and so does a difficulty measured badly:
//! the interval of each difficulty stands beside it.

use std::collections::BTreeMap;

use mohs_data::Label;

use super::table::Table;
use super::{Surprise, Surprises};
use crate::correlation::ranks;
use crate::proportion::real;

/// Returns the surprises; `None` without difficulties of people.
pub(super) fn of(table: &Table<'_>, n_wanted: usize) -> Option<Surprises> {
    let places: Vec<usize> = (0..table.stimuli.len())
        .filter(|idx| table.stimuli[*idx].difficulty.is_some() && 0 < count(table, *idx).0)
        .collect();
    if places.is_empty() {
        return None;
    }
    let value = |idx: &usize| table.stimuli[*idx].difficulty.map_or(0.0, |row| row.estimate.value);
    let difficulties: Vec<f64> = places.iter().map(value).collect();
    let n = real(places.len());
    let (mut failed, mut solved) = (Vec::new(), Vec::new());
    for (idx, rank) in places.iter().zip(ranks(&difficulties)) {
        let hard = (rank - 0.5) / n;
        let (n_models, n_right) = count(table, *idx);
        let right = real(n_right) / real(n_models);
        if hard < 0.5 && right < 0.5 {
            failed.push((1.0 - right - hard, *idx));
        } else if 0.5 < hard && 0.5 < right {
            solved.push((right - (1.0 - hard), *idx));
        }
    }
    let most = |mut ranked: Vec<(f64, usize)>| -> Vec<Surprise> {
        let id = |idx: usize| table.stimuli[idx].id;
        ranked.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| id(a.1).cmp(id(b.1))));
        ranked.into_iter().filter_map(|(_, idx)| surprise(table, idx)).take(n_wanted).collect()
    };
    let in_band = |band_idx: usize, is_all: &dyn Fn(usize, usize) -> bool| {
        table
            .band(band_idx)
            .filter(|idx| {
                let (n_models, n_right) = count(table, *idx);
                0 < n_models && is_all(n_models, n_right)
            })
            .count()
    };
    Some(Surprises {
        easy_but_failed: most(failed),
        hard_but_solved: most(solved),
        n_easy_failed_by_all: in_band(0, &|_, n_right| n_right == 0),
        n_hard_solved_by_all: in_band(table.n_bands().saturating_sub(1), &|n, n_right| {
            n == n_right
        }),
    })
}

/// Returns models that answered about a stimulus, and those that were right.
fn count(table: &Table<'_>, idx: usize) -> (usize, usize) {
    table.answers.iter().fold((0, 0), |(n, n_right), answers| {
        (n + usize::from(answers.judged[idx]), n_right + usize::from(answers.right[idx]))
    })
}

/// Returns the row of one stimulus; `None` without a difficulty.
fn surprise(table: &Table<'_>, idx: usize) -> Option<Surprise> {
    let shown = &table.stimuli[idx];
    let (n_models, n_right) = count(table, idx);
    let mut mistakes: BTreeMap<&Label, usize> = BTreeMap::new();
    for (model_idx, answers) in table.answers.iter().enumerate() {
        let is_wrong = 0 < answers.judged[idx] && answers.right[idx] == 0;
        if let Some(answer) = table.answer(model_idx, idx).filter(|_| is_wrong) {
            *mistakes.entry(&answer.predicted).or_default() += 1;
        }
    }
    let usual = mistakes.iter().max_by(|a, b| a.1.cmp(b.1).then(b.0.cmp(a.0)));
    let bands = table.bands.as_ref();
    Some(Surprise {
        stimulus: shown.id.clone(),
        label: shown.label.cloned(),
        difficulty: shown.difficulty?.estimate,
        band: shown.band_idx.and_then(|band_idx| bands?.names.get(band_idx).cloned()),
        n_right,
        n_models,
        usual_mistake: usual.map(|(label, n)| ((*label).clone(), *n)),
    })
}
