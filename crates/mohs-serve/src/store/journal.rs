//! Submissions that are on disk and not in their tables yet. SQLite only: see [`super::memory`].

use super::StoreError;
use super::connection::Connection;

/// A submission as it came, with what deciding about it needs.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// The session.
    pub session: String,
    /// The epoch.
    pub epoch: u32,
    /// When it came.
    pub received_at_ms: i64,
    /// The share by which an exposure may be off.
    pub tolerance: f64,
    /// How long a lease is.
    pub lease_ms: i64,
    /// The body of the request: an [`EventBatch`](crate::wire::EventBatch) as JSON.
    pub batch: String,
}

/// Appends a submission.
pub fn append(
    tx: &mut dyn Connection,
    id: i64,
    (session, epoch): (&str, u32),
    (tolerance, lease_ms): (f64, i64),
    batch: &str,
    now_ms: i64,
) -> Result<(), StoreError> {
    tx.execute(
        "insert into journal (id, session, epoch, received_at_ms, tolerance, lease_ms, batch) \
         values ($1, $2, $3, $4, $5, $6, $7)",
        &[
            id.into(),
            session.into(),
            epoch.into(),
            now_ms.into(),
            tolerance.into(),
            lease_ms.into(),
            batch.into(),
        ],
    )?;
    Ok(())
}

/// Returns the first submissions after `id`, each with its own.
pub fn after(
    tx: &mut dyn Connection,
    id: i64,
    limit: i64,
) -> Result<Vec<(i64, Entry)>, StoreError> {
    let sql = "select id, session, epoch, received_at_ms, tolerance, lease_ms, batch from journal \
               where $1 < id order by id limit $2";
    tx.rows(sql, &[id.into(), limit.into()], |row| {
        let entry = Entry {
            session: row.word(1),
            epoch: row.count(2),
            received_at_ms: row.whole(3),
            tolerance: row.real(4).unwrap_or_default(),
            lease_ms: row.whole(5),
            batch: row.word(6),
        };
        (row.whole(0), entry)
    })
}

/// Forgets submissions before `id`: all of them are in their tables.
pub fn forget_before(tx: &mut dyn Connection, id: i64) -> Result<(), StoreError> {
    tx.execute("delete from journal where id < $1", &[id.into()])?;
    Ok(())
}

/// Forgets all submissions: all are in their tables.
pub fn clear(tx: &mut dyn Connection) -> Result<(), StoreError> {
    tx.execute("delete from journal", &[])?;
    Ok(())
}

/// Forgets what a session submitted, because the participant withdrew.
pub fn forget_session(tx: &mut dyn Connection, session: &str) -> Result<(), StoreError> {
    tx.execute("delete from journal where session = $1", &[session.into()])?;
    Ok(())
}
