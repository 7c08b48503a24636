//! Leases: what is promised to a participant, and goes back when they do not come back.

use mohs_data::Task;

use super::Step;
use crate::error::ApiError;
use crate::hosted::Hosted;
use crate::plan::beep;
use crate::store::connection::Connection;
use crate::store::session::{self, SessionRow, State};
use crate::store::trial::{self, TrialRow, TrialState};
use crate::store::{StoreError, cell};

/// A lease is made longer when one of so many parts of it is over, and not at every trial.
const PARTS: i64 = 20;

/// Beep: leases the order of blocks that fewest participants have to a session that has none; refuses
/// when every order has all it wants. The caller stores the session.
pub fn order(tx: &mut dyn Connection, hosted: &Hosted, row: &mut SessionRow) -> Step<()> {
    if hosted.study.task != Task::Beep || row.cell.is_some() || row.state != State::Open {
        return Ok(Ok(()));
    }
    let wanted = beep::orders(hosted.study.beep.order);
    let orders = cell::all(tx, &hosted.name)?;
    let orders = orders.iter().filter(|order| wanted.contains(&order.exposure_idx));
    let with_room = orders.filter(|order| row.is_preview || order.is_open());
    let Some(order) = with_room.min_by_key(|order| order.fill()) else {
        return Ok(Err(ApiError::StudyFull));
    };
    row.cell = Some(order.cell);
    // A session that was heard of has its time already; else `renew` leases the order with it.
    if row.lease_until_ms.is_some() {
        cell::add(tx, &hosted.name, order.cell, 0, 1)?;
    }
    Ok(Ok(()))
}

/// Gives a session more time. The caller stores the session.
pub fn renew(
    tx: &mut dyn Connection,
    lease_ms: i64,
    row: &mut SessionRow,
    now_ms: i64,
) -> Result<(), StoreError> {
    row.seen_at_ms = now_ms;
    if row.state != State::Open || row.is_preview {
        return Ok(());
    }
    if let (None, Some(order)) = (row.lease_until_ms, row.cell) {
        cell::add(tx, &row.study, order, 0, 1)?;
    }
    let until = now_ms + lease_ms;
    if row.lease_until_ms.is_none_or(|old| old + lease_ms / PARTS < until) {
        row.lease_until_ms = Some(until);
    }
    Ok(())
}

/// Takes back what a session holds. The caller stores the session.
///
/// Trials that were not begun expire; those that were are void, because the picture was seen. Who began
/// with the beeps and was not heard of for too long goes on with the rest of their block.
pub fn release(
    tx: &mut dyn Connection,
    hosted: &Hosted,
    row: &mut SessionRow,
    reason: &str,
) -> Result<(), StoreError> {
    void_started(tx, hosted, row, reason)?;
    // What is left of a block of beeps fills no cell: it waits, else they would do less than all.
    let is_kept = hosted.study.task == Task::Beep && reason == LAPSED && 0 < row.n_done;
    if !is_kept {
        for trial in trial::in_state(tx, &row.session, TrialState::Planned)? {
            expire(tx, hosted, row, trial)?;
        }
    }
    if row.lease_until_ms.take().is_some()
        && let Some(order) = row.cell
    {
        cell::add(tx, &hosted.name, order, 0, -1)?;
        // Whoever has not begun may get another order later, or find that there is none.
        if (row.n_planned, row.n_done) == (0, 0) {
            row.cell = None;
        }
    }
    Ok(())
}

/// Takes one trial back that was not begun.
pub fn expire(
    tx: &mut dyn Connection,
    hosted: &Hosted,
    row: &mut SessionRow,
    mut trial: TrialRow,
) -> Result<(), StoreError> {
    if let Some(number) = trial.cell {
        cell::add(tx, &hosted.name, number, 0, -1)?;
    }
    if !trial.is_practice {
        row.n_planned = row.n_planned.saturating_sub(1);
    }
    trial.state = TrialState::Expired;
    trial::update(tx, &trial)
}

/// Voids what was begun and not finished, e.g. when the participant opens the study anew.
pub fn void_started(
    tx: &mut dyn Connection,
    hosted: &Hosted,
    row: &mut SessionRow,
    reason: &str,
) -> Result<(), StoreError> {
    for mut trial in trial::in_state(tx, &row.session, TrialState::Started)? {
        if let Some(number) = trial.cell {
            cell::add(tx, &hosted.name, number, 0, -1)?;
        }
        if !trial.is_practice {
            row.n_done += 1;
        }
        trial.state = TrialState::Voided;
        trial.reason = Some(reason.into());
        trial::update(tx, &trial)?;
    }
    Ok(())
}

/// Takes back what everybody holds whose time is over; returns how many sessions that were.
pub fn sweep(tx: &mut dyn Connection, hosted: &Hosted, now_ms: i64) -> Result<usize, StoreError> {
    let lapsed = session::lapsed(tx, &hosted.name, now_ms)?;
    let n = lapsed.len();
    for mut row in lapsed {
        release(tx, hosted, &mut row, LAPSED)?;
        session::update(tx, &row)?;
    }
    Ok(n)
}

/// Why a trial is void whose session was not heard of for too long.
pub const LAPSED: &str = "lapsed";
/// Why a trial is void whose session was opened anew.
pub const REOPENED: &str = "reopened";
