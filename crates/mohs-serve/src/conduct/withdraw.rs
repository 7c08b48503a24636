//! Withdrawal: everything of a participant in a study is deleted, at once.

use super::{Step, lease, proof};
use crate::error::ApiError;
use crate::hosted::Hosted;
use crate::store::connection::Connection;
use crate::store::session::{self, SessionRow, State};
use crate::store::trial::TrialState;
use crate::store::{StoreError, cell, study, trial};
use crate::wire::Withdrawn;

/// Deletes a session with its events and trials and what the participant saw in this study. Cells
/// that they filled are open again. Only a count without a name stays.
pub fn withdraw(
    tx: &mut dyn Connection,
    hosted: &Hosted,
    (session, epoch): (&str, u32),
) -> Step<Withdrawn> {
    let Some(row) = session::find(tx, session)? else {
        return Ok(Err(ApiError::SessionWithdrawn));
    };
    if !proof::may_withdraw(tx, session, epoch)? {
        return Ok(Err(ApiError::ProofMissing));
    }
    forget(tx, hosted, row)?;
    Ok(Ok(Withdrawn { is_deleted: true }))
}

/// Deletes what the owner was asked to delete: the session with this id or completion code. Returns
/// whether there is one.
pub fn withdraw_for(
    tx: &mut dyn Connection,
    hosted: &Hosted,
    id_or_code: &str,
) -> Result<bool, StoreError> {
    // The code that all get is nobody's, also while only one has it.
    if hosted.study.page.completion_code.as_deref() == Some(id_or_code) {
        return Ok(false);
    }
    let Some(session) = session::by_id_or_code(tx, &hosted.name, id_or_code)? else {
        return Ok(false);
    };
    let Some(row) = session::find(tx, &session)? else { return Ok(false) };
    forget(tx, hosted, row)?;
    Ok(true)
}

fn forget(tx: &mut dyn Connection, hosted: &Hosted, mut row: SessionRow) -> Result<(), StoreError> {
    let session = row.session.clone();
    let session = session.as_str();
    let was_complete = row.state == State::Complete && !row.is_preview;
    lease::release(tx, hosted, &mut row, "withdrawn")?;
    for answered in trial::in_state(tx, session, TrialState::Answered)? {
        if let Some(number) = answered.cell.filter(|_| answered.is_counted) {
            cell::add(tx, &hosted.name, number, -1, 0)?;
        }
    }
    if let (Some(order), true) = (row.cell, was_complete) {
        cell::add(tx, &hosted.name, order, -1, 0)?;
    }
    session::forget(tx, session)?;
    if let Some(study) = study::find(tx, &hosted.name)?.filter(|_| !row.is_preview) {
        study::set_counts(tx, &hosted.name, study.n_joined, study.n_withdrawn + 1)?;
    }
    Ok(())
}
