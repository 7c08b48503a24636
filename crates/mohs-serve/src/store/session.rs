//! Sessions and their epochs.

use std::collections::BTreeMap;

use super::connection::{Connection, EachRow, Row};
use super::{StoreError, journal, memory};

/// A session, as stored.
#[derive(Debug, Clone, PartialEq)]
pub struct SessionRow {
    /// Its id.
    pub session: String,
    /// The study.
    pub study: String,
    /// The participant's key.
    pub participant: String,
    /// Whether nothing is counted.
    pub is_preview: bool,
    /// How many sessions of the study came before.
    pub ordinal: u64,
    /// Where its random numbers come from.
    pub seed: u64,
    /// The newest epoch.
    pub epoch: u32,
    /// Where it stands.
    pub state: State,
    /// The completion code.
    pub code: Option<String>,
    /// Beep: the order of blocks that is leased to it.
    pub cell: Option<i64>,
    /// When its leases end; none when it has none.
    pub lease_until_ms: Option<i64>,
    /// Blocks planned so far.
    pub n_blocks: u32,
    /// Trials planned so far, practice and expired ones apart.
    pub n_planned: u32,
    /// Trials answered or voided, practice apart.
    pub n_done: u32,
    /// Trials in all, practice apart.
    pub n_total: u32,
    /// Pages the participant has been through.
    pub pages: Vec<String>,
    /// The last calibration, as JSON.
    pub calibration: Option<String>,
    /// The last screen, as JSON.
    pub screen: Option<String>,
    /// Kind of browser.
    pub browser: String,
    /// Kind of system.
    pub system: String,
    /// When it began.
    pub joined_at_ms: i64,
    /// When it was last heard of.
    pub seen_at_ms: i64,
    /// When it ended.
    pub ended_at_ms: Option<i64>,
}

/// Where a session stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// Open.
    Open,
    /// Everything is done.
    Complete,
    /// The participant stopped before the end; the data are kept.
    Early,
    /// There was not one trial for the participant: what they had not seen in other studies was full.
    NothingLeft,
}

impl State {
    /// The states and their words.
    pub const WORDS: [(&'static str, Self); 4] = [
        ("open", Self::Open),
        ("complete", Self::Complete),
        ("early", Self::Early),
        ("nothing-left", Self::NothingLeft),
    ];

    /// Returns the word in the database.
    pub fn as_str(self) -> &'static str {
        Self::WORDS[self as usize].0
    }

    fn parse(word: &str) -> Self {
        let known = Self::WORDS.iter().find(|(known, _)| *known == word);
        known.map_or(Self::Open, |(_, state)| *state)
    }
}

impl SessionRow {
    /// Whether the participant's consent is stored.
    pub fn has_agreed(&self) -> bool {
        self.pages.iter().any(|page| page == CONSENT)
    }
}

/// The page on which participants agree.
pub const CONSENT: &str = "consent";

const COLUMNS: &str = "session, study, participant, is_preview, ordinal, seed, epoch, state, code, \
    cell, lease_until_ms, n_blocks, n_planned, n_done, n_total, pages, calibration, screen, \
    browser, system, joined_at_ms, seen_at_ms, ended_at_ms";

fn read(row: &dyn Row) -> SessionRow {
    SessionRow {
        session: row.word(0),
        study: row.word(1),
        participant: row.word(2),
        is_preview: row.flag(3),
        ordinal: row.whole(4).unsigned_abs(),
        seed: row.whole(5).unsigned_abs(),
        epoch: row.count(6),
        state: State::parse(&row.word(7)),
        code: row.owned(8),
        cell: row.int(9),
        lease_until_ms: row.int(10),
        n_blocks: row.count(11),
        n_planned: row.count(12),
        n_done: row.count(13),
        n_total: row.count(14),
        pages: serde_json::from_str(&row.word(15)).unwrap_or_default(),
        calibration: row.owned(16),
        screen: row.owned(17),
        browser: row.word(18),
        system: row.word(19),
        joined_at_ms: row.whole(20),
        seen_at_ms: row.whole(21),
        ended_at_ms: row.int(22),
    }
}

/// Returns a session; none when it withdrew or never was. Its tables are up to date then.
pub fn find(tx: &mut dyn Connection, session: &str) -> Result<Option<SessionRow>, StoreError> {
    memory::settle(tx, session)?;
    read_as_stored(tx, session)
}

/// Returns a session as it is in its table.
pub(super) fn read_as_stored(
    tx: &mut dyn Connection,
    session: &str,
) -> Result<Option<SessionRow>, StoreError> {
    let sql = format!("select {COLUMNS} from session where session = $1");
    tx.first(&sql, &[session.into()], read)
}

/// Returns the study of a session; none when it withdrew or never was.
pub fn study_of(tx: &mut dyn Connection, session: &str) -> Result<Option<String>, StoreError> {
    tx.first("select study from session where session = $1", &[session.into()], |row| row.word(0))
}

/// Returns the session of a study that has this id or this completion code.
pub fn by_id_or_code(
    tx: &mut dyn Connection,
    study: &str,
    id_or_code: &str,
) -> Result<Option<String>, StoreError> {
    // Participants may share a code that the study gave to all before; then it names nobody.
    let sql =
        "select session from session where study = $1 and (session = $2 or code = $2) limit 2";
    let mut found = tx.rows(sql, &[study.into(), id_or_code.into()], |row| row.word(0))?;
    Ok(if found.len() == 1 { found.pop() } else { None })
}

/// Returns the session of a participant in a study. Its tables are up to date then.
pub fn of_participant(
    tx: &mut dyn Connection,
    study: &str,
    participant: &str,
) -> Result<Option<SessionRow>, StoreError> {
    let sql = format!("select {COLUMNS} from session where study = $1 and participant = $2");
    let found = tx.first(&sql, &[study.into(), participant.into()], read)?;
    match found {
        Some(row) if memory::settle(tx, &row.session)? => read_as_stored(tx, &row.session),
        found => Ok(found),
    }
}

/// Returns all sessions of a study that count, the newest first.
pub fn of_study(
    tx: &mut dyn Connection,
    study: &str,
    limit: i64,
) -> Result<Vec<SessionRow>, StoreError> {
    let sql = format!(
        "select {COLUMNS} from session where study = $1 and is_preview = 0 \
         order by joined_at_ms desc, session limit $2"
    );
    tx.rows(&sql, &[study.into(), limit.into()], read)
}

/// Hands on every session of a study that counts, as they came.
///
/// Columns: 0 session, 1 state, 2 code, 3 n_done, 4 n_total, 5 joined_at_ms, 6 ended_at_ms, 7 trials
/// that are not void.
pub fn each_of_study(
    tx: &mut dyn Connection,
    study: &str,
    each: EachRow<'_>,
) -> Result<(), StoreError> {
    let sql = "select session, state, code, n_done, n_total, joined_at_ms, ended_at_ms, \
               (select count(*) from trial where trial.session = session.session \
               and trial.state = 'answered' and trial.is_counted = 1) \
               from session where study = $1 and is_preview = 0 order by joined_at_ms, session";
    tx.each(sql, &[study.into()], each)
}

/// Returns how many sessions of a study that count are in each state.
pub fn n_by_state(
    tx: &mut dyn Connection,
    study: &str,
) -> Result<BTreeMap<String, usize>, StoreError> {
    let sql = "select state, count(*) from session where study = $1 and is_preview = 0 \
               group by state order by state";
    let counts = tx.rows(sql, &[study.into()], |row| {
        (row.word(0), usize::try_from(row.whole(1)).unwrap_or_default())
    })?;
    Ok(counts.into_iter().collect())
}

/// Returns how many sessions of a study that count have their consent stored.
pub fn n_agreed(tx: &mut dyn Connection, study: &str) -> Result<i64, StoreError> {
    let sql = "select count(*) from session where study = $1 and is_preview = 0 and pages like $2";
    let consent = format!("%\"{CONSENT}\"%");
    Ok(tx.first(sql, &[study.into(), (&consent).into()], |row| row.whole(0))?.unwrap_or_default())
}

/// Beep: returns how many sessions of a study hold each order of blocks.
pub fn n_by_order(tx: &mut dyn Connection, study: &str) -> Result<BTreeMap<i64, i64>, StoreError> {
    let sql = "select cell, count(*) from session where study = $1 and is_preview = 0 \
               and cell is not null and lease_until_ms is not null group by cell order by cell";
    let counts = tx.rows(sql, &[study.into()], |row| (row.whole(0), row.whole(1)))?;
    Ok(counts.into_iter().collect())
}

/// Returns the sessions of a study whose leases ended before `now_ms`. Their tables are up to date then.
pub fn lapsed(
    tx: &mut dyn Connection,
    study: &str,
    now_ms: i64,
) -> Result<Vec<SessionRow>, StoreError> {
    let sql = format!(
        "select {COLUMNS} from session where study = $1 and lease_until_ms < $2 \
         order by lease_until_ms, session"
    );
    let mut rows = tx.rows(&sql, &[study.into(), now_ms.into()], read)?;
    for row in &mut rows {
        if memory::settle(tx, &row.session)?
            && let Some(settled) = read_as_stored(tx, &row.session)?
        {
            *row = settled;
        }
    }
    Ok(rows)
}

/// Adds a session.
pub fn insert(tx: &mut dyn Connection, row: &SessionRow) -> Result<(), StoreError> {
    tx.execute(
        "insert into session (session, study, participant, is_preview, ordinal, seed, epoch, \
         state, n_blocks, n_planned, n_done, n_total, pages, browser, system, joined_at_ms, \
         seen_at_ms) \
         values ($1, $2, $3, $4, $5, $6, $7, $8, 0, 0, 0, $9, '[]', $10, $11, $12, $12)",
        &[
            (&row.session).into(),
            (&row.study).into(),
            (&row.participant).into(),
            row.is_preview.into(),
            whole(row.ordinal).into(),
            whole(row.seed).into(),
            row.epoch.into(),
            row.state.as_str().into(),
            row.n_total.into(),
            (&row.browser).into(),
            (&row.system).into(),
            row.joined_at_ms.into(),
        ],
    )?;
    Ok(())
}

/// Stores what can change of a session.
pub fn update(tx: &mut dyn Connection, row: &SessionRow) -> Result<(), StoreError> {
    let pages = serde_json::to_string(&row.pages).unwrap_or_default();
    tx.execute(
        "update session set epoch = $2, state = $3, code = $4, cell = $5, lease_until_ms = $6, \
         n_blocks = $7, n_planned = $8, n_done = $9, n_total = $10, pages = $11, \
         calibration = $12, screen = $13, browser = $14, system = $15, seen_at_ms = $16, \
         ended_at_ms = $17 where session = $1",
        &[
            (&row.session).into(),
            row.epoch.into(),
            row.state.as_str().into(),
            row.code.as_ref().into(),
            row.cell.into(),
            row.lease_until_ms.into(),
            row.n_blocks.into(),
            row.n_planned.into(),
            row.n_done.into(),
            row.n_total.into(),
            (&pages).into(),
            row.calibration.as_ref().into(),
            row.screen.as_ref().into(),
            (&row.browser).into(),
            (&row.system).into(),
            row.seen_at_ms.into(),
            row.ended_at_ms.into(),
        ],
    )?;
    Ok(())
}

/// Stores what every submission changes of a session: how far it is, and when it was heard of.
pub fn update_progress(tx: &mut dyn Connection, row: &SessionRow) -> Result<(), StoreError> {
    tx.execute(
        "update session set n_planned = $2, n_done = $3, lease_until_ms = $4, seen_at_ms = $5 \
         where session = $1",
        &[
            (&row.session).into(),
            row.n_planned.into(),
            row.n_done.into(),
            row.lease_until_ms.into(),
            row.seen_at_ms.into(),
        ],
    )?;
    Ok(())
}

/// Deletes all that is left of a session.
pub fn forget(tx: &mut dyn Connection, session: &str) -> Result<(), StoreError> {
    for sql in [
        "delete from event where session = $1",
        "delete from conflict where session = $1",
        "delete from trial where session = $1",
        "delete from epoch where session = $1",
        "delete from session where session = $1",
    ] {
        tx.execute(sql, &[session.into()])?;
    }
    let Some(memory) = tx.memory() else { return Ok(()) };
    memory.note_deleted();
    // The file is to be written anew; see the writer.
    tx.batch("pragma user_version = 1")?;
    journal::forget_session(tx, session)
}

/// One opening of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EpochRow {
    /// Everything up to this event is stored.
    pub acked_through: u32,
    /// Hash of that event, or what stands before the first.
    pub head: String,
    /// The first event that does not follow from the one before.
    pub broken_at: Option<i64>,
    /// The highest number of an event that is stored; above `acked_through` when there is a gap.
    pub highest: u32,
    /// Positions of the trials that its browser was handed, from the first to the last of each of that
    /// browser's epochs.
    pub handed: Vec<(u32, u32)>,
}

/// Adds an epoch; `root` is the one in which the same browser came first.
pub fn insert_epoch(
    tx: &mut dyn Connection,
    row: &SessionRow,
    root: u32,
    head: &str,
    now_ms: i64,
) -> Result<(), StoreError> {
    tx.execute(
        "insert into epoch (session, epoch, acked_through, head, browser, system, joined_at_ms, \
         root) values ($1, $2, 0, $3, $4, $5, $6, $7)",
        &[
            (&row.session).into(),
            row.epoch.into(),
            head.into(),
            (&row.browser).into(),
            (&row.system).into(),
            now_ms.into(),
            root.into(),
        ],
    )?;
    Ok(())
}

/// Returns the epoch in which the browser of an epoch came first.
pub fn root_of(
    tx: &mut dyn Connection,
    session: &str,
    epoch: u32,
) -> Result<Option<u32>, StoreError> {
    let sql = "select root from epoch where session = $1 and epoch = $2";
    tx.first(sql, &[session.into(), epoch.into()], |row| row.count(0))
}

/// Returns an epoch of a session.
pub fn find_epoch(
    tx: &mut dyn Connection,
    session: &str,
    epoch: u32,
) -> Result<Option<EpochRow>, StoreError> {
    let sql = "select epoch.acked_through, epoch.head, epoch.broken_at, epoch.highest, \
               own.handed_from, own.handed_through from epoch \
               join epoch own on own.session = epoch.session and own.root = epoch.root \
               where epoch.session = $1 and epoch.epoch = $2 order by own.epoch";
    let rows = tx.rows(sql, &[session.into(), epoch.into()], |row| {
        let handed = row.int(4).map(|_| (row.count(4), row.count(5)));
        let row = EpochRow {
            acked_through: row.count(0),
            head: row.word(1),
            broken_at: row.int(2),
            highest: row.count(3),
            handed: Vec::new(),
        };
        (row, handed)
    })?;
    let handed = rows.iter().filter_map(|(_, handed)| *handed).collect();
    Ok(rows.into_iter().next().map(|(row, _)| EpochRow { handed, ..row }))
}

/// Notes the positions of the trials that an epoch is handed now.
pub fn note_handed(
    tx: &mut dyn Connection,
    session: &str,
    epoch: u32,
    (from, through): (u32, u32),
) -> Result<(), StoreError> {
    tx.execute(
        "update epoch set handed_from = coalesce(handed_from, $3), handed_through = $4 \
         where session = $1 and epoch = $2",
        &[session.into(), epoch.into(), from.into(), through.into()],
    )?;
    Ok(())
}

/// Stores how far an epoch has come.
pub fn update_epoch(
    tx: &mut dyn Connection,
    session: &str,
    epoch: u32,
    row: &EpochRow,
) -> Result<(), StoreError> {
    tx.execute(
        "update epoch set acked_through = $3, head = $4, broken_at = $5, highest = $6 \
         where session = $1 and epoch = $2",
        &[
            session.into(),
            epoch.into(),
            row.acked_through.into(),
            (&row.head).into(),
            row.broken_at.into(),
            row.highest.into(),
        ],
    )?;
    Ok(())
}

/// Returns a seed or position as the database keeps it; all of ours fit.
pub(crate) fn whole(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}
