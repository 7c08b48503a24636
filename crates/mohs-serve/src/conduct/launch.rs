//! The launch of a study: its cells are made, or brought in line with what the study says now.

use std::collections::BTreeMap;

use mohs_data::{Allocation, Seed, Task};
use mohs_score::draw::Draw;

use crate::hosted::Hosted;
use crate::plan::beep;
use crate::store::cell::{self, CellRow};
use crate::store::connection::Connection;
use crate::store::{StoreError, result, session, study};
use crate::token::fresh_seed;

const CELLS: u64 = 5;

/// Makes or updates a study. Cells that the study no longer wants are kept and closed.
pub fn launch(tx: &mut dyn Connection, hosted: &Hosted, now_ms: i64) -> Result<(), StoreError> {
    let seed = match study::find(tx, &hosted.name)? {
        Some(row) => row.seed,
        None => {
            let seed = fresh_seed();
            let task = hosted.study.task.as_str();
            study::insert(tx, &hosted.name, task, i64::try_from(seed).unwrap_or(1), now_ms)?;
            seed
        }
    };
    if hosted.study.flash.design == Allocation::Adaptive {
        result::index_by_stimulus(tx)?;
    }
    let mut stored: BTreeMap<String, CellRow> =
        cell::all(tx, &hosted.name)?.into_iter().map(|row| (row.name.clone(), row)).collect();
    let mut next = stored.values().map(|row| row.cell + 1).max().unwrap_or(0);
    let mut draw = Draw::new(Seed(seed), &[CELLS]);
    for mut wanted in cells(hosted) {
        wanted.tie = i64::try_from(draw.below(1 << 31)).unwrap_or(0);
        match stored.remove(&wanted.name) {
            None => {
                wanted.cell = next;
                next += 1;
                cell::insert(tx, &hosted.name, &wanted)?;
            }
            Some(row) if row.target != wanted.target => {
                cell::update(tx, &hosted.name, &CellRow { target: wanted.target, ..row })?;
            }
            Some(_) => {}
        }
    }
    for row in stored.into_values().filter(|row| row.target != 0) {
        cell::update(tx, &hosted.name, &CellRow { target: 0, ..row })?;
    }
    if hosted.study.task == Task::Beep {
        count_orders(tx, hosted)?;
    }
    Ok(())
}

/// Counts anew to how many an order of blocks is promised: an older `mohs` did not.
fn count_orders(tx: &mut dyn Connection, hosted: &Hosted) -> Result<(), StoreError> {
    let held = session::n_by_order(tx, &hosted.name)?;
    for row in cell::all(tx, &hosted.name)? {
        let n_leased = held.get(&row.cell).copied().unwrap_or_default();
        if n_leased != row.n_leased {
            cell::update(tx, &hosted.name, &CellRow { n_leased, ..row })?;
        }
    }
    Ok(())
}

/// Returns what a study wants.
fn cells(hosted: &Hosted) -> Vec<CellRow> {
    let study = &hosted.study;
    let whole = |n: usize| i64::try_from(n).unwrap_or(i64::MAX);
    let cell = |name: &[&str], target: usize| CellRow {
        cell: 0,
        name: serde_json::to_string(name).unwrap_or_default(),
        stimulus: String::new(),
        condition: None,
        right_stimulus: None,
        exposure_idx: 0,
        target: whole(target),
        n_done: 0,
        n_leased: 0,
        tie: 0,
    };
    let mut cells = Vec::new();
    match study.task {
        Task::Beep => {
            // Both, in this order, so that their numbers are the orders of `plan/beep.rs`.
            let wanted = beep::orders(study.beep.order);
            let n_each = study.beep.participants.div_ceil(wanted.len());
            for (name, order) in [("ascending", beep::ASCENDING), ("descending", beep::DESCENDING)]
            {
                let target = if wanted.contains(&order) { n_each } else { 0 };
                cells.push(CellRow { exposure_idx: order, ..cell(&[name], target) });
            }
        }
        Task::Pairs => {
            for (first, second) in &hosted.pairs.pairs {
                let (first, second) = (&hosted.prepared[*first], &hosted.prepared[*second]);
                let names = [first.stimulus.as_str(), second.stimulus.as_str()];
                cells.push(CellRow {
                    stimulus: names[0].into(),
                    condition: first.condition.clone(),
                    right_stimulus: Some(names[1].into()),
                    ..cell(&names, study.pairs.judgements_per_pair)
                });
            }
        }
        Task::Flash | Task::Rate | Task::Masks => {
            let flash = &study.flash;
            let (exposures, target) = match (study.task, flash.design) {
                (Task::Rate, _) => (vec![None], study.rate.participants_per_stimulus),
                (_, Allocation::Adaptive) => {
                    (vec![None], flash.participants_per_cell * flash.exposures_ms.len())
                }
                (_, Allocation::Balanced) => (
                    flash.exposures_ms.iter().map(|ms| Some(ms.value())).collect(),
                    flash.participants_per_cell,
                ),
            };
            for row in &hosted.prepared {
                for (exposure_idx, exposure_ms) in exposures.iter().enumerate() {
                    let exposure = exposure_ms.map_or(String::new(), |ms: f64| ms.to_string());
                    let condition = row.condition.as_deref().unwrap_or_default();
                    let name = [row.stimulus.as_str(), condition, &exposure];
                    cells.push(CellRow {
                        stimulus: row.stimulus.as_str().into(),
                        condition: row.condition.clone(),
                        exposure_idx: whole(exposure_idx),
                        ..cell(&name, target)
                    });
                }
            }
        }
    }
    cells
}
