//! Shape bias: when a picture has the shape of one thing and the texture of another, which do
//! people name?
//!
//! # Formula
//!
//! ```text
//! shape bias = S / (S + T)
//! ```
//!
//! `S` counts answers that name the shape, `T` answers that name the texture, over stimuli whose
//! shape and texture differ. Other answers do not count. The shape is the trial's label, the
//! texture its column `texture`.
//!
//! # References
//!
//! - R. Geirhos et al. (2019), "ImageNet-trained CNNs are biased towards texture".

use std::collections::BTreeSet;

use mohs_data::{Estimate, Label};

use super::crossed::{Resampling, View};
use super::findings::{ClassShapeBias, ShapeBias};
use super::table::{Showing, Table, Unit};
use crate::proportion::{real, wilson};

/// Answers that follow shape, and texture.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Cues {
    n_shape: usize,
    n_texture: usize,
}

impl Cues {
    fn add(&mut self, table: &Table, unit: &Unit, showing: &Showing) {
        let answer = table.answers[showing.answer].as_ref();
        let (Some(shape), Some(texture), Some(answer)) = (&unit.label, &unit.texture, answer)
        else {
            return;
        };
        self.n_shape += usize::from(answer == shape);
        self.n_texture += usize::from(answer == texture);
    }

    fn wilson(self, confidence: f64) -> Option<Estimate> {
        wilson(self.n_shape, self.n_shape + self.n_texture, confidence)
    }
}

/// Returns each observer's shape bias; `None` where no answer follows either cue.
pub(super) fn by_observer(table: &Table, confidence: f64) -> Vec<Option<Estimate>> {
    let mut cues = vec![Cues::default(); table.observers.len()];
    for unit in &table.units {
        for showing in &unit.showings {
            cues[showing.observer_idx].add(table, unit, showing);
        }
    }
    cues.into_iter().map(|cues| cues.wilson(confidence)).collect()
}

/// Returns people's shape bias, pooled and by class; `None` without two cues.
pub(super) fn of_people(resampling: &Resampling<'_>) -> Option<ShapeBias> {
    let table = resampling.table;
    let in_conflict: Vec<(usize, &Unit)> =
        table.units.iter().enumerate().filter(|(_, unit)| unit.texture.is_some()).collect();
    let classes: Vec<&Label> = {
        let classes: BTreeSet<&Label> =
            in_conflict.iter().filter_map(|(_, unit)| unit.label.as_ref()).collect();
        classes.into_iter().collect()
    };
    let class_of: Vec<usize> = in_conflict
        .iter()
        .filter_map(|(_, unit)| classes.binary_search(&unit.label.as_ref()?).ok())
        .collect();
    let cues_of = |unit: &Unit, counts: &[bool]| {
        let mut cues = Cues::default();
        for showing in table.people(unit).filter(|showing| counts[showing.observer_idx]) {
            cues.add(table, unit, showing);
        }
        cues
    };
    let everybody = vec![true; table.n_people];
    let all: Vec<Cues> = in_conflict.iter().map(|(_, unit)| cues_of(unit, &everybody)).collect();
    let spreads = resampling.spreads(|view: &View| {
        let mut sums = vec![(0.0, 0.0); classes.len() + 1];
        for (idx, (unit_idx, unit)) in in_conflict.iter().enumerate() {
            let cues = if view.is_everybody { all[idx] } else { cues_of(unit, &view.counts) };
            let weight = view.weights[*unit_idx];
            for place in [0, class_of[idx] + 1] {
                sums[place].0 += weight * real(cues.n_shape);
                sums[place].1 += weight * real(cues.n_texture);
            }
        }
        sums.into_iter().map(|(shape, texture)| shape / (shape + texture)).collect()
    });
    let total = |class_idx: Option<usize>| {
        let mut total = Cues::default();
        for (cues, class) in all.iter().zip(&class_of) {
            if class_idx.is_none_or(|idx| idx == *class) {
                total.n_shape += cues.n_shape;
                total.n_texture += cues.n_texture;
            }
        }
        total
    };
    // Widened where Wilson's is wider: answers that all follow shape cannot vary.
    let estimate = |place: usize, cues: Cues| {
        let plain = cues.wilson(resampling.confidence)?;
        let crossed = spreads[place].estimate((0.0, 1.0), plain.n)?;
        Some(Estimate {
            low: crossed.low.min(plain.low),
            high: crossed.high.max(plain.high),
            ..crossed
        })
    };
    let pooled = total(None);
    Some(ShapeBias {
        n_shape: pooled.n_shape,
        n_texture: pooled.n_texture,
        pooled: estimate(0, pooled)?,
        by_class: classes
            .iter()
            .enumerate()
            .map(|(idx, class)| ClassShapeBias {
                class: (*class).clone(),
                shape_bias: estimate(idx + 1, total(Some(idx))),
            })
            .collect(),
    })
}
