//! Naming without time pressure: the least filled stimuli first. There is no practice.

use std::collections::BTreeMap;

use mohs_data::Prepared;

use super::flash::open_cells;
use super::{Asked, Plan, Shown};
use crate::allocate::{Candidate, choose};
use crate::store::StoreError;
use crate::store::connection::Connection;

pub(super) fn next_block<'a>(
    tx: &mut dyn Connection,
    asked: &Asked<'a>,
) -> Result<Plan<'a>, StoreError> {
    let n = asked.hosted.study.page.trials_between_breaks.min(asked.n_wanted());
    if n == 0 {
        return Ok(Plan::default());
    }
    let history = asked.history();
    let open = open_cells(tx, asked, &history, 0, (n, 1))?;
    let stimuli: BTreeMap<i64, &Prepared> =
        open.iter().map(|(candidate, stimulus)| (candidate.cell, *stimulus)).collect();
    let group: Vec<Candidate<'_>> = open.into_iter().map(|(candidate, _)| candidate).collect();
    let chosen = choose(&[group], &history, n, &mut asked.draw());
    let shown = chosen.into_iter().map(|(_, candidate)| {
        let (cell, stimulus) = (Some(candidate.cell), stimuli[&candidate.cell]);
        Shown { cell, stimulus, right: None, exposure: None }
    });
    Ok(Plan { shown: shown.collect(), ..Plan::default() })
}
