//! Which picture a participant has seen, in any study of this database.

use super::StoreError;
use super::connection::Connection;

/// Notes that a participant has seen a picture; again is the same.
pub fn insert(
    tx: &mut dyn Connection,
    participant: &str,
    source: &str,
    study: &str,
) -> Result<(), StoreError> {
    tx.execute(
        "insert into seen (participant, source, study) values ($1, $2, $3) on conflict do nothing",
        &[participant.into(), source.into(), study.into()],
    )?;
    Ok(())
}

/// Returns the pictures a participant has seen, each with the study.
pub fn of_participant(
    tx: &mut dyn Connection,
    participant: &str,
) -> Result<Vec<(String, String)>, StoreError> {
    let sql = "select source, study from seen where participant = $1 order by source, study";
    tx.rows(sql, &[participant.into()], |row| (row.word(0), row.word(1)))
}

/// Forgets what a participant saw in a study.
pub fn forget(tx: &mut dyn Connection, participant: &str, study: &str) -> Result<(), StoreError> {
    tx.execute(
        "delete from seen where participant = $1 and study = $2",
        &[participant.into(), study.into()],
    )?;
    Ok(())
}
