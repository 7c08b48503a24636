//! Groups of stimuli: on which classes, attributes and levels is a model worse than elsewhere?
//!
//! # Test
//!
//! Fisher's exact test, one-sided: of all `N` answers of a model `K` are right; if the `m` answers
//! in the group were any `m` of them, how often would `k` or fewer be right?
//!
//! ```text
//! p = P(X ≤ k),   X ~ Hypergeometric(N, K, m)
//! ```
//!
//! corrected over the groups of one table, for each model (Benjamini and Hochberg). Small groups
//! stay in the table with their wide intervals. The test asks about these stimuli; it does not
//! know that pictures of a group may resemble each other.

use std::collections::BTreeMap;

use rayon::prelude::*;
use statrs::function::gamma::ln_gamma;

use super::GroupAccuracy;
use super::bands::by_level;
use super::table::Table;
use crate::multiplicity::benjamini_hochberg;
use crate::proportion::{real, wilson};

/// Returns accuracy by class, in the order of their names.
pub(super) fn labels(table: &Table<'_>, confidence: f64) -> Vec<GroupAccuracy> {
    let mut members: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (idx, shown) in table.stimuli.iter().enumerate() {
        if let Some(label) = shown.label {
            members.entry(label.as_str()).or_default().push(idx);
        }
    }
    let groups = members.into_iter().map(|(name, places)| Group {
        name: name.to_owned(),
        level: None,
        places,
    });
    accuracies(table, groups.collect(), confidence)
}

/// Stands for all attributes together, where there are several.
const ALL: &str = "all attributes";

/// Returns accuracy by attribute, each followed by its levels from easy to hard; before them the
/// levels over all attributes.
pub(super) fn attributes(table: &Table<'_>, confidence: f64) -> Vec<GroupAccuracy> {
    let mut members: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (idx, shown) in table.stimuli.iter().enumerate() {
        if let Some(name) = shown.stimulus.and_then(|row| row.attribute.as_deref()) {
            members.entry(name).or_default().push(idx);
        }
    }
    let level = |idx: usize| table.stimuli[idx].stimulus.and_then(|row| row.level.as_deref());
    let by_levels = |name: &str, places: &[usize]| -> Vec<Group> {
        let mut levels: Vec<&str> = places.iter().filter_map(|idx| level(*idx)).collect();
        levels.sort_by(|a, b| by_level(a, b));
        levels.dedup();
        let group = |own: &str| Group {
            name: name.to_owned(),
            level: Some(own.to_owned()),
            places: places.iter().copied().filter(|idx| level(*idx) == Some(own)).collect(),
        };
        levels.into_iter().map(group).collect()
    };
    let mut groups = Vec::new();
    if 1 < members.len() {
        let mut places: Vec<usize> = members.values().flatten().copied().collect();
        places.sort_unstable();
        groups.extend(by_levels(ALL, &places));
    }
    for (name, places) in members {
        let of_levels = by_levels(name, &places);
        groups.push(Group { name: name.to_owned(), level: None, places });
        groups.extend(of_levels);
    }
    accuracies(table, groups, confidence)
}

struct Group {
    name: String,
    level: Option<String>,
    places: Vec<usize>,
}

fn accuracies(table: &Table<'_>, groups: Vec<Group>, confidence: f64) -> Vec<GroupAccuracy> {
    // By model: answers and right ones in each group, and p corrected over the groups.
    type Column = Vec<(usize, usize, Option<f64>)>;
    let columns: Vec<Column> = table
        .answers
        .par_iter()
        .map(|answers| {
            let (n_all, n_right_all) = answers.counts(0..table.stimuli.len());
            let mut column: Column = groups
                .iter()
                .map(|group| {
                    let judged = group.places.iter().filter(|idx| 0 < answers.judged[**idx]);
                    let (n, n_right) = judged.fold((0, 0), |(n, n_right), idx| {
                        (n + 1, n_right + usize::from(answers.right[*idx]))
                    });
                    let has_rest = 0 < n && n < n_all;
                    (n, n_right, has_rest.then(|| fisher_less(n_right, n, n_right_all, n_all)))
                })
                .collect();
            let p_values: Vec<f64> = column.iter().filter_map(|cell| cell.2).collect();
            let corrected = benjamini_hochberg(&p_values);
            for (p, corrected) in
                column.iter_mut().filter_map(|cell| cell.2.as_mut()).zip(corrected)
            {
                *p = corrected;
            }
            column
        })
        .collect();
    groups
        .into_iter()
        .enumerate()
        .map(|(group_idx, group)| GroupAccuracy {
            name: group.name,
            level: group.level,
            n_stimuli: group.places.len(),
            models: columns
                .iter()
                .map(|column| wilson(column[group_idx].1, column[group_idx].0, confidence))
                .collect(),
            p_worse_bh: columns.iter().map(|column| column[group_idx].2).collect(),
        })
        .collect()
}

/// Returns the chance of at most `k` right among `m` answers taken from `n`, of which `right` are.
fn fisher_less(k: usize, m: usize, right: usize, n: usize) -> f64 {
    let ln_choose = |n: usize, k: usize| {
        ln_gamma(real(n) + 1.0) - ln_gamma(real(k) + 1.0) - ln_gamma(real(n - k) + 1.0)
    };
    let mut term = (ln_choose(right, k) + ln_choose(n - right, m - k) - ln_choose(n, m)).exp();
    let mut sum = term;
    let least = (right + m).saturating_sub(n);
    for x in (least + 1..=k).rev() {
        // From x right answers in the group to one fewer.
        term *= real(x) * real(n + x - right - m);
        term /= real(right - x + 1) * real(m - x + 1);
        sum += term;
        if term < sum * 1e-17 {
            break;
        }
    }
    sum.clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Golden: scipy 1.17.1, `fisher_exact([[k, m - k], [K - k, N - K - m + k]], "less")`.
    #[test]
    fn the_p_value_is_that_of_scipy() {
        for (k, m, right, n, p) in [
            (3, 10, 43, 70, 0.033_208_282_010_484_48),
            (30, 32, 90, 100, 0.892_103_923_806_333_3),
            (700, 1_000, 26_700, 36_000, 0.001_465_702_701_389_804),
        ] {
            let found = fisher_less(k, m, right, n);
            assert!((found - p).abs() < 1e-8 * p, "{found} should be {p}");
        }
    }

    proptest! {
        #[test]
        fn more_right_answers_are_never_stronger_evidence_of_being_worse(
            m in 1_usize..20, rest in 1_usize..30, right in 0_usize..50,
        ) {
            let n = m + rest;
            let right = right.min(n);
            let (least, most) = ((right + m).saturating_sub(n), right.min(m));
            let mut before = 0.0;
            for k in least..=most {
                let p = fisher_less(k, m, right, n);
                prop_assert!(before <= p + 1e-12 && p <= 1.0);
                before = p;
            }
            prop_assert!((before - 1.0).abs() < 1e-9);
        }
    }
}
