//! Planned trials, and what came of them.

use super::StoreError;
use super::connection::{Connection, Row};

/// A trial as it was planned.
#[derive(Debug, Clone, PartialEq)]
pub struct TrialRow {
    /// Its id.
    pub trial: String,
    /// The session.
    pub session: String,
    /// Position of its block.
    pub block: u32,
    /// Position in the session.
    pub idx: u32,
    /// Whether it is practice.
    pub is_practice: bool,
    /// Whether it counts for the study: neither practice nor preview.
    pub is_counted: bool,
    /// The cell it fills.
    pub cell: Option<i64>,
    /// What is shown; pairs: on the left.
    pub stimulus: String,
    /// Its condition.
    pub condition: Option<String>,
    /// What it shows. Never sent to the page.
    pub label: String,
    /// The picture it was made from.
    pub source: String,
    /// The picture that is shown.
    pub image: String,
    /// Its mask.
    pub mask: Option<String>,
    /// Pairs: what is shown on the right.
    pub right_stimulus: Option<String>,
    /// Pairs: the picture that was made from.
    pub right_source: Option<String>,
    /// Pairs: the picture on the right.
    pub right_image: Option<String>,
    /// Pairs: the label both have.
    pub recognise_as: Option<String>,
    /// Exposure that is meant.
    pub exposure_ms: Option<f64>,
    /// The same in frames.
    pub frames: Option<u32>,
    /// When the beep sounds.
    pub beep_ms: Option<f64>,
    /// The answers in their order.
    pub options: Vec<String>,
    /// Where it stands.
    pub state: TrialState,
    /// The epoch in which it was begun or answered.
    pub epoch: Option<u32>,
    /// Why it was voided.
    pub reason: Option<String>,
}

/// Where a trial stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TrialState {
    /// Promised to the participant.
    Planned,
    /// The participant has begun it.
    Started,
    /// Answered, and it counts.
    Answered,
    /// Begun, and it does not count.
    Voided,
    /// Not begun in time; its cell went back.
    Expired,
}

impl TrialState {
    /// The states and their words.
    pub const WORDS: [(&'static str, Self); 5] = [
        ("planned", Self::Planned),
        ("started", Self::Started),
        ("answered", Self::Answered),
        ("voided", Self::Voided),
        ("expired", Self::Expired),
    ];

    /// Returns the word in the database.
    pub fn as_str(self) -> &'static str {
        Self::WORDS[self as usize].0
    }

    fn parse(word: &str) -> Self {
        let known = Self::WORDS.iter().find(|(known, _)| *known == word);
        known.map_or(Self::Expired, |(_, state)| *state)
    }

    /// Returns whether the trial holds a lease of its cell.
    pub fn is_leased(self) -> bool {
        matches!(self, Self::Planned | Self::Started)
    }
}

const COLUMNS: &str = "trial, session, block, idx, is_practice, is_counted, cell, stimulus, \
    condition, label, source, image, mask, right_stimulus, right_source, right_image, \
    recognise_as, exposure_ms, frames, beep_ms, options, state, epoch, reason";

fn read(row: &dyn Row) -> TrialRow {
    TrialRow {
        trial: row.word(0),
        session: row.word(1),
        block: row.count(2),
        idx: row.count(3),
        is_practice: row.flag(4),
        is_counted: row.flag(5),
        cell: row.int(6),
        stimulus: row.word(7),
        condition: row.owned(8),
        label: row.word(9),
        source: row.word(10),
        image: row.word(11),
        mask: row.owned(12),
        right_stimulus: row.owned(13),
        right_source: row.owned(14),
        right_image: row.owned(15),
        recognise_as: row.owned(16),
        exposure_ms: row.real(17),
        frames: row.int(18).and_then(|frames| u32::try_from(frames).ok()),
        beep_ms: row.real(19),
        options: serde_json::from_str(&row.word(20)).unwrap_or_default(),
        state: TrialState::parse(&row.word(21)),
        epoch: row.int(22).and_then(|epoch| u32::try_from(epoch).ok()),
        reason: row.owned(23),
    }
}

/// Returns a trial.
pub fn find(tx: &mut dyn Connection, trial: &str) -> Result<Option<TrialRow>, StoreError> {
    let sql = format!("select {COLUMNS} from trial where trial = $1");
    tx.first(&sql, &[trial.into()], read)
}

/// Returns the trials of a session that are in a state, in order.
pub fn in_state(
    tx: &mut dyn Connection,
    session: &str,
    state: TrialState,
) -> Result<Vec<TrialRow>, StoreError> {
    let sql = format!("select {COLUMNS} from trial where session = $1 and state = $2 order by idx");
    tx.rows(&sql, &[session.into(), state.as_str().into()], read)
}

/// Returns how many trials of a session have a report, practice apart.
pub fn n_answered(tx: &mut dyn Connection, session: &str) -> Result<i64, StoreError> {
    let sql = "select count(*) from trial where session = $1 and is_practice = 0 \
               and answered_at_ms is not null";
    Ok(tx.first(sql, &[session.into()], |row| row.whole(0))?.unwrap_or_default())
}

/// Returns whether a browser answered a trial of a session, practice apart; `root` is the epoch in which
/// it came first.
pub fn has_answer_of(
    tx: &mut dyn Connection,
    session: &str,
    root: u32,
) -> Result<bool, StoreError> {
    let sql = "select trial from trial where session = $1 and is_practice = 0 \
               and answered_at_ms is not null and epoch in \
               (select epoch from epoch where session = $1 and root = $2) limit 1";
    Ok(tx.first(sql, &[session.into(), root.into()], |_| ())?.is_some())
}

/// Returns whether another browser began a trial of a session.
pub fn has_begun_by_others(
    tx: &mut dyn Connection,
    session: &str,
    root: u32,
) -> Result<bool, StoreError> {
    let sql = "select trial from trial where session = $1 and epoch is not null and epoch not in \
               (select epoch from epoch where session = $1 and root = $2) limit 1";
    Ok(tx.first(sql, &[session.into(), root.into()], |_| ())?.is_some())
}

/// Returns what a session has been given in any state, for what may not come again.
pub fn given(tx: &mut dyn Connection, session: &str) -> Result<Vec<Given>, StoreError> {
    let sql = "select source, label, exposure_ms, cell, is_practice, idx, right_source, beep_ms, \
               state from trial where session = $1 order by idx";
    tx.rows(sql, &[session.into()], |row| Given {
        source: row.word(0),
        label: row.word(1),
        exposure_ms: row.real(2),
        cell: row.int(3),
        is_practice: row.flag(4),
        idx: row.count(5),
        right_source: row.owned(6),
        beep_ms: row.real(7),
        state: TrialState::parse(&row.word(8)),
    })
}

/// What a participant was given in a trial.
#[derive(Debug, Clone, PartialEq)]
pub struct Given {
    /// The picture.
    pub source: String,
    /// What it shows.
    pub label: String,
    /// Exposure.
    pub exposure_ms: Option<f64>,
    /// The cell.
    pub cell: Option<i64>,
    /// Whether it was practice.
    pub is_practice: bool,
    /// Position in the session.
    pub idx: u32,
    /// Pairs: the other picture.
    pub right_source: Option<String>,
    /// Beep: when it sounds.
    pub beep_ms: Option<f64>,
    /// Where it stands.
    pub state: TrialState,
}

/// Adds a planned trial.
pub fn insert(
    tx: &mut dyn Connection,
    study: &str,
    participant: &str,
    row: &TrialRow,
) -> Result<(), StoreError> {
    let options = serde_json::to_string(&row.options).unwrap_or_default();
    tx.execute(
        "insert into trial (trial, session, block, idx, is_practice, is_counted, cell, stimulus, \
         condition, label, source, image, mask, right_stimulus, right_source, right_image, \
         recognise_as, exposure_ms, frames, beep_ms, options, state, study, participant) \
         values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, \
         $19, $20, $21, $22, $23, $24)",
        &[
            (&row.trial).into(),
            (&row.session).into(),
            row.block.into(),
            row.idx.into(),
            row.is_practice.into(),
            row.is_counted.into(),
            row.cell.into(),
            (&row.stimulus).into(),
            row.condition.as_ref().into(),
            (&row.label).into(),
            (&row.source).into(),
            (&row.image).into(),
            row.mask.as_ref().into(),
            row.right_stimulus.as_ref().into(),
            row.right_source.as_ref().into(),
            row.right_image.as_ref().into(),
            row.recognise_as.as_ref().into(),
            row.exposure_ms.into(),
            row.frames.into(),
            row.beep_ms.into(),
            (&options).into(),
            row.state.as_str().into(),
            study.into(),
            participant.into(),
        ],
    )?;
    Ok(())
}

/// Stores where a trial stands, and its frames.
pub fn update(tx: &mut dyn Connection, row: &TrialRow) -> Result<(), StoreError> {
    tx.execute(
        "update trial set state = $2, epoch = $3, reason = $4, frames = $5 where trial = $1",
        &[
            (&row.trial).into(),
            row.state.as_str().into(),
            row.epoch.into(),
            row.reason.as_ref().into(),
            row.frames.into(),
        ],
    )?;
    Ok(())
}
