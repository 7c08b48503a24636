//! Which picture a participant has seen, in any study of this database: those of the trials they began,
//! whatever became of them.

use super::connection::Connection;
use super::{StoreError, memory};

/// Returns the pictures that a participant has seen in other studies than this one.
pub fn elsewhere(
    tx: &mut dyn Connection,
    participant: &str,
    study: &str,
) -> Result<Vec<String>, StoreError> {
    let sql = "select session from session where participant = $1 and study <> $2 \
               and is_preview = 0 order by session";
    let sessions = tx.rows(sql, &[participant.into(), study.into()], |row| row.word(0))?;
    let mut sources = Vec::new();
    for session in sessions {
        memory::settle(tx, &session)?;
        let sql = "select source, right_source from trial where session = $1 \
                   and state in ('started', 'answered', 'voided') order by idx";
        tx.each(sql, &[(&session).into()], &mut |row| {
            sources.extend([row.owned(0), row.owned(1)].into_iter().flatten());
            Ok(())
        })?;
    }
    Ok(sources)
}
