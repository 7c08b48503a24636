//! Proof: what a browser may take out of a session.
//!
//! A session is gone on with on another device by the recruiter's id alone, and ids are no secret:
//! recruiters see them, and they stand in addresses. So the id opens a session that is open, and no
//! more. What could harm its owner (the completion code, stopping early, deleting the data) is for
//! the browser that began the session, which proves it by a token that it kept, and for one that did
//! the work itself.

use crate::store::connection::Connection;
use crate::store::{StoreError, session, trial};

/// Returns whether the browser of an epoch may have the session's code, and may stop it early: it began
/// the session, or answered in it, or nobody else began a trial.
pub fn may_end(tx: &mut dyn Connection, session: &str, epoch: u32) -> Result<bool, StoreError> {
    let Some(root) = session::root_of(tx, session, epoch)? else { return Ok(false) };
    Ok(root == FIRST
        || trial::has_answer_of(tx, session, root)?
        || !trial::has_begun_by_others(tx, session, root)?)
}

/// Returns whether the browser of an epoch may delete the session: it began it, or nothing of others
/// would go.
pub fn may_withdraw(
    tx: &mut dyn Connection,
    session: &str,
    epoch: u32,
) -> Result<bool, StoreError> {
    let Some(root) = session::root_of(tx, session, epoch)? else { return Ok(false) };
    Ok(root == FIRST || !trial::has_begun_by_others(tx, session, root)?)
}

/// The epoch of the browser that began a session.
const FIRST: u32 = 1;
