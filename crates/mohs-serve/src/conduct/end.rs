//! The end: a completion code, once everything is stored. A person for whom there was not one trial
//! gets none.

use super::join::completion_url;
use super::{Step, lease};
use crate::error::ApiError;
use crate::hosted::Hosted;
use crate::store::connection::Connection;
use crate::store::session::{self, State};
use crate::store::{cell, event};
use crate::token::fresh_code;
use crate::wire::{EndAnswer, EndRequest};

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
    let n_trials_left = row.n_total.saturating_sub(row.n_done);
    let is_done = n_trials_left == 0 || request.is_early;
    if row.state == State::Open && missing.is_empty() && is_done {
        lease::release(tx, hosted, &mut row, "ended")?;
        row.state = match (row.n_total, n_trials_left) {
            (0, _) => State::NothingLeft,
            (_, 0) => State::Complete,
            _ => State::Early,
        };
        let counts = row.state == State::Complete && !row.is_preview;
        if let Some(order) = row.cell.filter(|_| counts) {
            cell::add(tx, &hosted.name, order, 1, 0)?;
        }
        row.code = (row.state != State::NothingLeft).then(fresh_code);
        row.ended_at_ms = Some(now_ms);
        row.seen_at_ms = now_ms;
        session::update(tx, &row)?;
    }
    let is_complete = row.state != State::Open && missing.is_empty();
    let code = row.code.clone().filter(|_| is_complete);
    let completion_url = completion_url(hosted, &row).filter(|_| is_complete);
    Ok(Ok(EndAnswer { is_complete, missing, n_trials_left, code, completion_url }))
}
