//! Studies and settings: what a database knows of what it hosts.

use super::StoreError;
use super::connection::Connection;
use crate::token::fresh_id;

/// A study, as stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StudyRow {
    /// Where its random numbers come from.
    pub seed: u64,
    /// Whether people may join.
    pub is_open: bool,
    /// Sessions begun.
    pub n_joined: i64,
    /// Participants who withdrew; nothing else of them is left.
    pub n_withdrawn: i64,
}

/// Returns a setting, made by `fresh` the first time.
pub fn setting(
    tx: &mut dyn Connection,
    name: &str,
    fresh: impl FnOnce() -> String,
) -> Result<String, StoreError> {
    let sql = "select value from setting where name = $1";
    if let Some(value) = tx.first(sql, &[name.into()], |row| row.word(0))? {
        return Ok(value);
    }
    let value = fresh();
    tx.execute(
        "insert into setting (name, value) values ($1, $2)",
        &[name.into(), (&value).into()],
    )?;
    Ok(value)
}

/// Writes something that changes nothing, to see whether it can be written.
pub fn try_out(tx: &mut dyn Connection) -> Result<(), StoreError> {
    // The same once more would not be written.
    tx.execute(
        "insert into setting (name, value) values ('tried-out', $1) \
         on conflict (name) do update set value = excluded.value",
        &[(&fresh_id()).into()],
    )?;
    Ok(())
}

/// Returns a study; none before its first launch.
pub fn find(tx: &mut dyn Connection, study: &str) -> Result<Option<StudyRow>, StoreError> {
    let sql = "select seed, is_open, n_joined, n_withdrawn from study where study = $1";
    tx.first(sql, &[study.into()], |row| StudyRow {
        seed: row.whole(0).unsigned_abs(),
        is_open: row.flag(1),
        n_joined: row.whole(2),
        n_withdrawn: row.whole(3),
    })
}

/// Returns the names and tasks of all studies of a database.
pub fn all(tx: &mut dyn Connection) -> Result<Vec<(String, String)>, StoreError> {
    let sql = "select study, task from study order by study";
    tx.rows(sql, &[], |row| (row.word(0), row.word(1)))
}

/// Adds a study.
pub fn insert(
    tx: &mut dyn Connection,
    study: &str,
    task: &str,
    seed: i64,
    now_ms: i64,
) -> Result<(), StoreError> {
    tx.execute(
        "insert into study (study, task, seed, is_open, n_joined, n_withdrawn, made_at_ms) \
         values ($1, $2, $3, 1, 0, 0, $4)",
        &[study.into(), task.into(), seed.into(), now_ms.into()],
    )?;
    Ok(())
}

/// Opens or closes a study.
pub fn set_open(tx: &mut dyn Connection, study: &str, is_open: bool) -> Result<(), StoreError> {
    tx.execute("update study set is_open = $2 where study = $1", &[study.into(), is_open.into()])?;
    Ok(())
}

/// Notes how many joined and how many withdrew.
pub fn set_counts(
    tx: &mut dyn Connection,
    study: &str,
    n_joined: i64,
    n_withdrawn: i64,
) -> Result<(), StoreError> {
    tx.execute(
        "update study set n_joined = $2, n_withdrawn = $3 where study = $1",
        &[study.into(), n_joined.into(), n_withdrawn.into()],
    )?;
    Ok(())
}
