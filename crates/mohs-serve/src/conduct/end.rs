//! The end: a completion code, once everything is stored. Whoever did not answer one trial gets none,
//! nor does a preview; whoever stops early gets one that says so.

use super::join::completion_url;
use super::{Step, lease, proof};
use crate::error::ApiError;
use crate::hosted::Hosted;
use crate::store::connection::Connection;
use crate::store::session::{self, SessionRow, State};
use crate::store::{cell, event, trial};
use crate::token::fresh_code;
use crate::wire::{EndAnswer, EndRequest, Ending};

/// Numbers of missing events that are listed, at most.
const MOST_MISSING: usize = 500;

/// Ends a session, or says what is missing. Asked again, it gives the same code.
pub fn end(
    tx: &mut dyn Connection,
    hosted: &Hosted,
    (session, epoch): (&str, u32),
    request: &EndRequest,
    now_ms: i64,
) -> Step<EndAnswer> {
    let Some(mut row) = session::find(tx, session)? else {
        return Ok(Err(ApiError::SessionWithdrawn));
    };
    let Some(chain) = session::find_epoch(tx, session, epoch)? else {
        return Ok(Err(ApiError::TokenBad));
    };
    let stored = event::after(tx, session, epoch, chain.acked_through)?;
    let missing: Vec<u32> = (chain.acked_through + 1..=request.last_seq)
        .take(2 * MOST_MISSING + stored.len())
        .filter(|seq| !stored.iter().any(|event| event.seq == *seq))
        .take(MOST_MISSING)
        .collect();
    let may_end = proof::may_end(tx, session, epoch)?;
    if request.is_early && row.state == State::Open && !may_end {
        return Ok(Err(ApiError::ProofMissing));
    }
    let n_trials_left = row.n_total.saturating_sub(row.n_done);
    let is_done = n_trials_left == 0 || request.is_early;
    if row.state == State::Open && missing.is_empty() && is_done {
        lease::release(tx, hosted, &mut row, "ended")?;
        let n_answered = trial::n_answered(tx, session)?;
        row.state = match (row.n_total, n_trials_left) {
            (0, _) => State::NothingLeft,
            (_, 0) if 0 < n_answered => State::Complete,
            _ => State::Early,
        };
        let counts = row.state == State::Complete && !row.is_preview;
        if let Some(order) = row.cell.filter(|_| counts) {
            cell::add(tx, &hosted.name, order, 1, 0)?;
        }
        row.code = code(hosted, &row).filter(|_| 0 < n_answered);
        row.ended_at_ms = Some(now_ms);
        row.seen_at_ms = now_ms;
        session::update(tx, &row)?;
    }
    let is_complete = row.state != State::Open && missing.is_empty();
    if is_complete && row.code.is_some() && !may_end {
        // Not told that there is none: they would hand in nothing, and another browser shows it.
        return Ok(Err(ApiError::SessionOver));
    }
    let code = row.code.clone().filter(|_| is_complete);
    let completion_url = completion_url(hosted, &row).filter(|_| is_complete);
    let ending = ending(&row).filter(|_| is_complete);
    Ok(Ok(EndAnswer { is_complete, missing, n_trials_left, ending, code, completion_url }))
}

/// Returns the completion code of somebody who did something.
fn code(hosted: &Hosted, row: &SessionRow) -> Option<String> {
    match row.state {
        _ if row.is_preview => None,
        State::Complete => hosted.study.page.completion_code.clone().or_else(|| Some(fresh_code())),
        State::Early => Some(format!("{EARLY}{}", fresh_code())),
        State::NothingLeft | State::Open => None,
    }
}

/// What the code of somebody who stopped early begins with.
pub const EARLY: &str = "EARLY-";

/// Returns how a session ended.
pub fn ending(row: &SessionRow) -> Option<Ending> {
    match row.state {
        State::Open => None,
        State::Complete => Some(Ending::Complete),
        State::Early => Some(Ending::Early),
        State::NothingLeft => Some(Ending::NothingLeft),
    }
}
