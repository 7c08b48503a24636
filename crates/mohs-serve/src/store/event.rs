//! Events: appended, never edited.

use super::StoreError;
use super::connection::{Connection, EachRow};
use crate::wire::Event;

/// Returns the hash of a stored event.
pub fn hash_of(
    tx: &mut dyn Connection,
    session: &str,
    epoch: u32,
    seq: u32,
) -> Result<Option<String>, StoreError> {
    let sql = "select hash from event where session = $1 and epoch = $2 and seq = $3";
    tx.first(sql, &[session.into(), epoch.into(), seq.into()], |row| row.word(0))
}

/// Appends an event.
pub fn append(
    tx: &mut dyn Connection,
    session: &str,
    epoch: u32,
    event: &Event,
    now_ms: i64,
) -> Result<(), StoreError> {
    tx.execute(
        "insert into event (session, epoch, seq, body, hash, received_at_ms) \
         values ($1, $2, $3, $4, $5, $6)",
        &[
            session.into(),
            epoch.into(),
            event.seq.into(),
            (&event.body).into(),
            (&event.hash).into(),
            now_ms.into(),
        ],
    )?;
    Ok(())
}

/// Keeps an event whose place is taken.
pub fn append_conflict(
    tx: &mut dyn Connection,
    session: &str,
    epoch: u32,
    event: &Event,
    now_ms: i64,
) -> Result<(), StoreError> {
    tx.execute(
        "insert into conflict (session, epoch, seq, body, hash, received_at_ms) \
         values ($1, $2, $3, $4, $5, $6) on conflict do nothing",
        &[
            session.into(),
            epoch.into(),
            event.seq.into(),
            (&event.body).into(),
            (&event.hash).into(),
            now_ms.into(),
        ],
    )?;
    Ok(())
}

/// Returns number, hash and body of the events of an epoch after `seq`, in order.
pub fn after(
    tx: &mut dyn Connection,
    session: &str,
    epoch: u32,
    seq: u32,
) -> Result<Vec<Event>, StoreError> {
    let sql = "select seq, body, hash from event \
               where session = $1 and epoch = $2 and $3 < seq order by seq";
    tx.rows(sql, &[session.into(), epoch.into(), seq.into()], |row| Event {
        seq: row.count(0),
        body: row.word(1),
        hash: row.word(2),
    })
}

/// Hands on all events of a study that count: session, epoch, number, time of arrival, hash, body.
pub fn each_of_study(
    tx: &mut dyn Connection,
    study: &str,
    each: EachRow<'_>,
) -> Result<(), StoreError> {
    let sql = "select event.session, event.epoch, event.seq, event.received_at_ms, event.hash, \
               event.body from session join event on event.session = session.session \
               where session.study = $1 and session.is_preview = 0 \
               order by event.session, event.epoch, event.seq";
    tx.each(sql, &[study.into()], each)
}

/// Returns the conflicts of a study: session, epoch and number.
pub fn conflicts(
    tx: &mut dyn Connection,
    study: &str,
) -> Result<Vec<(String, u32, u32)>, StoreError> {
    let sql = "select conflict.session, conflict.epoch, conflict.seq from conflict \
               join session on session.session = conflict.session where session.study = $1 \
               order by conflict.session, conflict.epoch, conflict.seq limit 1000";
    tx.rows(sql, &[study.into()], |row| (row.word(0), row.count(1), row.count(2)))
}
