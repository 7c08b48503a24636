//! Share of right answers of people and models, over all trials and by condition.

use mohs_data::Estimate;

use super::crossed::{Resampling, Spread, View};
use super::table::Table;
use crate::proportion::wilson;

/// Shares of right answers and how they vary.
pub(super) struct Accuracy {
    /// People, all conditions; not finite without people.
    pub(super) people: Spread,
    /// People, by condition.
    pub(super) conditions: Vec<Option<Estimate>>,
    /// Each model, all conditions.
    pub(super) models: Vec<(Spread, Option<Estimate>)>,
    /// People's share with its interval.
    pub(super) estimate: Option<Estimate>,
}

/// Returns the shares of right answers.
pub(super) fn of(resampling: &Resampling<'_>) -> Accuracy {
    let table = resampling.table;
    let n_models = table.observers.len() - table.n_people;
    let n_conditions = table.conditions.len();
    // Places: people, people by condition, models.
    let n_places = 1 + n_conditions + n_models;
    let spreads = resampling.spreads(|view: &View| {
        let mut sums = vec![(0.0, 0.0); n_places];
        for (unit, weight) in table.units.iter().zip(&view.weights) {
            for showing in &unit.showings {
                let right = if showing.is_right { *weight } else { 0.0 };
                let mut add = |place: usize| {
                    sums[place].0 += weight;
                    sums[place].1 += right;
                };
                if table.n_people <= showing.observer_idx {
                    add(1 + n_conditions + showing.observer_idx - table.n_people);
                } else if view.counts[showing.observer_idx] {
                    add(0);
                    add(1 + unit.condition_idx);
                }
            }
        }
        sums.into_iter().map(|(n, right)| right / n).collect()
    });
    let mut counts = vec![(0, 0); n_places];
    for unit in &table.units {
        for showing in &unit.showings {
            let is_model = table.n_people <= showing.observer_idx;
            let places = if is_model {
                vec![1 + n_conditions + showing.observer_idx - table.n_people]
            } else {
                vec![0, 1 + unit.condition_idx]
            };
            for place in places {
                counts[place].0 += 1;
                counts[place].1 += usize::from(showing.is_right);
            }
        }
    }
    // Widened where Wilson's is wider: answers that are all right cannot vary.
    let estimate = |place: usize| {
        let (n, n_right) = counts[place];
        let plain = wilson(n_right, n, resampling.confidence)?;
        let crossed = spreads[place].estimate((0.0, 1.0), n)?;
        Some(Estimate {
            low: crossed.low.min(plain.low),
            high: crossed.high.max(plain.high),
            ..crossed
        })
    };
    Accuracy {
        estimate: estimate(0),
        conditions: (0..n_conditions).map(|idx| estimate(1 + idx)).collect(),
        models: (0..n_models)
            .map(|idx| 1 + n_conditions + idx)
            .map(|place| (spreads[place].clone(), estimate(place)))
            .collect(),
        people: spreads[0].clone(),
    }
}

/// Returns each observer's share with Wilson's interval; n = trials.
pub(super) fn by_observer(table: &Table, confidence: f64) -> Vec<Option<Estimate>> {
    let mut counts = vec![(0, 0); table.observers.len()];
    for showing in table.units.iter().flat_map(|unit| &unit.showings) {
        counts[showing.observer_idx].0 += 1;
        counts[showing.observer_idx].1 += usize::from(showing.is_right);
    }
    counts.into_iter().map(|(n, n_right)| wilson(n_right, n, confidence)).collect()
}
