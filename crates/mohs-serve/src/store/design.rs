//! What the data of a study were collected with: keys of its design, and its stimuli.

use std::collections::{BTreeMap, BTreeSet};

use super::StoreError;
use super::connection::Connection;

/// A stimulus in a condition; the condition is empty where there is none.
pub type Shown = (String, String);

/// What a stimulus is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StimulusRow {
    /// The right answer.
    pub label: String,
    /// SHA-256 of the picture.
    pub image: String,
    /// SHA-256 of the mask; empty where there is none.
    pub mask: String,
}

/// Returns the keys of a study's design; empty before its first launch, and for studies that were
/// launched before keys were kept.
pub fn keys(tx: &mut dyn Connection, study: &str) -> Result<BTreeMap<String, String>, StoreError> {
    let sql = "select key, value from design where study = $1 order by key";
    let rows = tx.rows(sql, &[study.into()], |row| (row.word(0), row.word(1)))?;
    Ok(rows.into_iter().collect())
}

/// Replaces the keys of a study's design.
pub fn set_keys(
    tx: &mut dyn Connection,
    study: &str,
    keys: &BTreeMap<String, String>,
) -> Result<(), StoreError> {
    tx.execute("delete from design where study = $1", &[study.into()])?;
    for (key, value) in keys {
        let sql = "insert into design (study, key, value) values ($1, $2, $3)";
        tx.execute(sql, &[study.into(), key.into(), value.into()])?;
    }
    Ok(())
}

/// Returns all stimuli that a study ever had.
pub fn stimuli(
    tx: &mut dyn Connection,
    study: &str,
) -> Result<BTreeMap<Shown, StimulusRow>, StoreError> {
    let sql = "select stimulus, condition, label, image, mask from stimulus where study = $1 \
               order by stimulus, condition";
    let rows = tx.rows(sql, &[study.into()], |row| {
        let stimulus = StimulusRow { label: row.word(2), image: row.word(3), mask: row.word(4) };
        ((row.word(0), row.word(1)), stimulus)
    })?;
    Ok(rows.into_iter().collect())
}

/// Adds a stimulus or replaces what it was.
pub fn set_stimulus(
    tx: &mut dyn Connection,
    study: &str,
    (stimulus, condition): &Shown,
    row: &StimulusRow,
) -> Result<(), StoreError> {
    tx.execute(
        "insert into stimulus (study, stimulus, condition, label, image, mask) \
         values ($1, $2, $3, $4, $5, $6) on conflict (study, stimulus, condition) do update \
         set label = excluded.label, image = excluded.image, mask = excluded.mask",
        &[
            study.into(),
            stimulus.into(),
            condition.into(),
            (&row.label).into(),
            (&row.image).into(),
            (&row.mask).into(),
        ],
    )?;
    Ok(())
}

/// Returns whether anybody was given a trial of a study that counts.
pub fn has_data(tx: &mut dyn Connection, study: &str) -> Result<bool, StoreError> {
    let sql = "select trial.is_counted from session join trial on trial.session = session.session \
               where session.study = $1 and trial.is_counted = 1 limit 1";
    Ok(tx.first(sql, &[study.into()], |row| row.whole(0))?.is_some())
}

/// Returns the stimuli of which somebody was given a trial that counts. Looks through all trials.
pub fn with_data(tx: &mut dyn Connection, study: &str) -> Result<BTreeSet<Shown>, StoreError> {
    let mut found = BTreeSet::new();
    let sql = "select distinct stimulus, condition, right_stimulus from trial \
               where study = $1 and is_counted = 1";
    let rows = tx.rows(sql, &[study.into()], |row| {
        (row.word(0), row.owned(1).unwrap_or_default(), row.owned(2))
    })?;
    for (stimulus, condition, right) in rows {
        // Of the right one of a pair only the stimulus is kept; it is shown in its first condition.
        found.extend(right.map(|right| (right, String::new())));
        found.insert((stimulus, condition));
    }
    Ok(found)
}
