//! Accuracy along an axis: what probes and conditions do to models.
//!
//! Every row counts where it belongs: one axis for the probes, and one for each condition (noise
//! level, epoch, epsilon …) with its values in order. A condition that several probes have makes
//! one axis per probe. Intervals are Wilson's. An axis needs two values; nothing is interpolated
//! between them.

use std::collections::{BTreeMap, BTreeSet};

use mohs_data::{Estimate, Prediction};

use super::table::{Row, Table};
use super::{Axis, ConditionAccuracy};
use crate::human::agreement::by_number;
use crate::proportion::wilson;

/// Answers and right ones by model.
type Counts = Vec<(usize, usize)>;

/// Returns the axes: probes first, then conditions by name.
pub(super) fn of(table: &Table<'_>, confidence: f64) -> Vec<Axis> {
    let probes = probes(table, confidence);
    probes.into_iter().chain(conditions(table, confidence)).collect()
}

fn count(counts: &mut Counts, row: &Row<'_>) {
    if let Some(is_right) = row.is_right {
        counts[row.model_idx].0 += 1;
        counts[row.model_idx].1 += usize::from(is_right);
    }
}

fn shares(counts: &Counts, confidence: f64) -> Vec<Option<Estimate>> {
    counts.iter().map(|(n, n_right)| wilson(*n_right, *n, confidence)).collect()
}

fn probes(table: &Table<'_>, confidence: f64) -> Option<Axis> {
    let mut by_probe: BTreeMap<&str, Counts> = BTreeMap::new();
    for row in table.rows.iter().filter(|row| row.prediction.condition.is_none()) {
        let counts = by_probe.entry(row.prediction.probe.as_str());
        count(counts.or_insert_with(|| vec![(0, 0); table.models.len()]), row);
    }
    if by_probe.len() < 2 {
        return None;
    }
    let mut named: Vec<(&str, Counts)> = by_probe.into_iter().collect();
    let is_changed = |name: &str| name != Prediction::NO_PROBE;
    named.sort_by(|a, b| is_changed(a.0).cmp(&is_changed(b.0)).then_with(|| by_number(a.0, b.0)));
    let values = named
        .iter()
        .map(|(name, counts)| ConditionAccuracy {
            name: (*name).to_owned(),
            value: None,
            models: shares(counts, confidence),
        })
        .collect();
    Some(Axis { name: "probe".into(), is_numeric: false, values })
}

fn conditions(table: &Table<'_>, confidence: f64) -> Vec<Axis> {
    // By condition and probe; values by the bits that sort as numbers do.
    let mut by_axis: BTreeMap<(&str, &str), BTreeMap<Ordered, Counts>> = BTreeMap::new();
    for row in &table.rows {
        let Some(condition) = &row.prediction.condition else { continue };
        let axis = by_axis.entry((condition.name.as_str(), row.prediction.probe.as_str()));
        let counts = axis.or_default().entry(Ordered(condition.value));
        count(counts.or_insert_with(|| vec![(0, 0); table.models.len()]), row);
    }
    let names: Vec<&str> = by_axis.keys().map(|(name, _)| *name).collect();
    let shared: BTreeSet<&str> =
        names.windows(2).filter(|pair| pair[0] == pair[1]).map(|pair| pair[0]).collect();
    by_axis
        .iter()
        .filter(|(_, values)| 1 < values.len())
        .map(|((name, probe), values)| Axis {
            name: if shared.contains(name) {
                format!("{name} ({probe})")
            } else {
                (*name).to_owned()
            },
            is_numeric: true,
            values: values
                .iter()
                .map(|(value, counts)| ConditionAccuracy {
                    name: value.0.to_string(),
                    value: Some(value.0),
                    models: shares(counts, confidence),
                })
                .collect(),
        })
        .collect()
}

/// A finite number that sorts.
#[derive(Debug, Clone, Copy)]
struct Ordered(f64);

impl Ord for Ordered {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0)
    }
}

impl PartialOrd for Ordered {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Ordered {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Ordered {}
