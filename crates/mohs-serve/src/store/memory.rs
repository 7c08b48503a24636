//! What one SQLite connection remembers of sessions at work, so that what follows from their
//! submissions goes to the tables many at a time.
//!
//! Truth is on disk: tables and [`super::journal`]. Every submission is in one of them before it is
//! answered, and memory is what both say together. A transaction that was undone, or another
//! connection that wrote, leaves doubt; then memory is dropped and made again from the disk, inside
//! the next transaction, before anything else. Postgres has many writers and therefore no memory.

use std::collections::BTreeMap;
use std::time::Duration;

use super::connection::{Connection, EachRow, Param, Row};
use super::live::Live;
use super::sqlite::Sqlite;
use super::{StoreError, journal};
use crate::conduct::recover::recover;

/// Sessions at work.
#[derive(Debug, Default)]
pub struct Memory {
    sessions: BTreeMap<String, Live>,
    /// Submissions in the journal since it was last empty.
    n_journal: i64,
    /// Whether somebody had data deleted.
    has_deleted: bool,
}

/// After so long without a word, a session is settled and forgotten.
const IDLE: Duration = Duration::from_secs(1);
/// Events that are settled between two groups of requests, at least as many as may be.
const EVENTS_AT_ONCE: usize = 1_200;
/// One of so many events that wait is settled at once, should there be many.
const PART_AT_ONCE: usize = 16;

impl Memory {
    /// Takes a session out; whoever does puts it back.
    pub fn take(&mut self, session: &str) -> Option<Live> {
        self.sessions.remove(session)
    }

    /// Puts a session in.
    pub fn keep(&mut self, live: Live) {
        self.sessions.insert(live.row.session.clone(), live);
    }

    /// Returns the number of the next submission in the journal.
    pub fn next_id(&mut self) -> i64 {
        self.n_journal += 1;
        self.n_journal
    }

    /// Says that somebody had data deleted.
    pub fn note_deleted(&mut self) {
        self.has_deleted = true;
    }

    /// Returns whether somebody had data deleted since this was asked.
    pub fn take_deleted(&mut self) -> bool {
        std::mem::take(&mut self.has_deleted)
    }

    /// Returns whether tables lack anything.
    pub fn is_behind(&self) -> bool {
        0 < self.n_journal
    }
}

/// Writes what is remembered of a session to its tables, and forgets it.
pub fn settle(tx: &mut dyn Connection, session: &str) -> Result<bool, StoreError> {
    let Some(mut live) = tx.memory().and_then(|memory| memory.take(session)) else {
        return Ok(false);
    };
    live.settle(tx)?;
    Ok(true)
}

/// Writes everything to its tables, and forgets it.
pub fn settle_all(tx: &mut dyn Connection) -> Result<(), StoreError> {
    while let Some((_, mut live)) = tx.memory().and_then(|memory| memory.sessions.pop_first()) {
        live.settle(tx)?;
    }
    if let Some(memory) = tx.memory()
        && memory.is_behind()
    {
        memory.n_journal = 0;
        journal::clear(tx)?;
    }
    Ok(())
}

/// Settles sessions that were not heard of for a moment, some at a time.
pub fn tidy(tx: &mut dyn Connection) -> Result<(), StoreError> {
    let Some(memory) = tx.memory() else { return Ok(()) };
    let n_behind: usize = memory.sessions.values().map(Live::n_behind).sum();
    let mut n_left = EVENTS_AT_ONCE.max(n_behind / PART_AT_ONCE);
    let mut idle: Vec<(std::time::Instant, String)> = Vec::new();
    for (session, live) in &memory.sessions {
        if IDLE < live.used.elapsed() {
            idle.push((live.used, session.clone()));
        }
    }
    idle.sort_unstable();
    for (_, session) in idle {
        let Some(mut live) = tx.memory().and_then(|memory| memory.take(&session)) else { continue };
        n_left = n_left.saturating_sub(live.n_behind());
        live.settle(tx)?;
        if n_left == 0 {
            break;
        }
    }
    let Some(memory) = tx.memory() else { return Ok(()) };
    match memory.sessions.values().filter_map(|live| live.first_id).min() {
        Some(first) => journal::forget_before(tx, first),
        None => settle_all(tx),
    }
}

/// SQLite with a memory.
pub(super) struct Remembering {
    sqlite: Sqlite,
    memory: Memory,
    /// The version of the file that memory is about; none in doubt.
    version: Option<i64>,
}

impl Remembering {
    pub(super) fn new(sqlite: Sqlite) -> Self {
        Self { sqlite, memory: Memory::default(), version: None }
    }

    /// Inside a transaction: makes memory again if another connection wrote since, or if in doubt.
    fn check(&mut self) -> Result<(), StoreError> {
        let sqlite: &mut dyn Connection = &mut self.sqlite;
        let version = sqlite.first("pragma data_version", &[], |row: &dyn Row| row.whole(0))?;
        if self.version.is_none() || self.version != version {
            self.memory = Memory::default();
            recover(self)?;
            self.version = version;
        }
        Ok(())
    }
}

impl Connection for Remembering {
    fn execute(&mut self, sql: &str, params: &[Param<'_>]) -> Result<u64, StoreError> {
        self.sqlite.execute(sql, params)
    }

    fn each(
        &mut self,
        sql: &str,
        params: &[Param<'_>],
        each: EachRow<'_>,
    ) -> Result<(), StoreError> {
        self.sqlite.each(sql, params, each)
    }

    fn batch(&mut self, sql: &str) -> Result<(), StoreError> {
        self.sqlite.batch(sql)
    }

    fn begin(&mut self) -> Result<(), StoreError> {
        self.sqlite.begin()?;
        self.check().inspect_err(|_| self.undo())
    }

    fn undo(&mut self) {
        self.version = None;
        self.sqlite.undo();
    }

    fn is_closed(&self) -> bool {
        self.sqlite.is_closed()
    }

    fn dialect(&self) -> &'static str {
        self.sqlite.dialect()
    }

    fn memory(&mut self) -> Option<&mut Memory> {
        Some(&mut self.memory)
    }
}
