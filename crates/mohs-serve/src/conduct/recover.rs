//! After a crash: submissions that are in the journal and not in their tables yet.

use super::receive::{self, Terms};
use crate::store::connection::Connection;
use crate::store::live::Live;
use crate::store::{StoreError, journal, memory};

/// Entries read at once.
const PIECE: i64 = 1_000;

/// Takes everything in the journal once more, in its order, and empties it.
///
/// What is in its tables already is known by its numbers and hashes, as when a page sends it twice.
pub fn recover(tx: &mut dyn Connection) -> Result<(), StoreError> {
    let mut last = 0;
    loop {
        let entries = journal::after(tx, last, PIECE)?;
        let Some((newest, _)) = entries.last() else { break };
        last = *newest;
        for (_, entry) in entries {
            // Whoever withdrew is gone from the journal too, but for a crash of an older program.
            let Some(mut live) = Live::recall(tx, &entry.session)? else { continue };
            let damaged = StoreError::Damaged { what: "a submission in its journal" };
            let Ok(opened) = receive::read(entry.batch.as_bytes()) else { return Err(damaged) };
            let terms = Terms {
                tolerance: entry.tolerance,
                lease_ms: entry.lease_ms,
                settles_at_once: false,
            };
            let of = (entry.epoch, opened.as_slice());
            if receive::hear(tx, &mut live, &terms, of, entry.received_at_ms)?.is_err() {
                return Err(damaged);
            }
            live.keep(tx);
        }
    }
    memory::settle_all(tx)?;
    if 0 < last {
        journal::clear(tx)?;
    }
    Ok(())
}
