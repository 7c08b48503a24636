//! Naming without time pressure: the least filled stimuli first. There is no practice.

use super::flash::{candidate, n_looked_at};
use super::{Asked, Plan, Shown};
use crate::allocate::{Candidate, choose};
use crate::store::connection::Connection;
use crate::store::{StoreError, cell};

pub(super) fn next_block<'a>(
    tx: &mut dyn Connection,
    asked: &Asked<'a>,
) -> Result<Plan<'a>, StoreError> {
    let n = asked.hosted.study.page.trials_between_breaks.min(asked.n_wanted());
    let rows = cell::least_filled(tx, &asked.hosted.name, 0, n_looked_at(asked, n, 1))?;
    let group: Vec<Candidate<'_>> = rows.iter().filter_map(|row| candidate(asked, row)).collect();
    let chosen = choose(&[group], &asked.history(), n, &mut asked.draw());
    let shown = chosen.into_iter().filter_map(|(_, candidate)| {
        let row = rows.iter().find(|row| row.cell == candidate.cell)?;
        let stimulus = asked.hosted.find(&row.stimulus, row.condition.as_deref())?;
        Some(Shown { cell: Some(row.cell), stimulus, right: None, exposure: None })
    });
    Ok(Plan { shown: shown.collect(), ..Plan::default() })
}
