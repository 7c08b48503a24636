//! An exclusion: data set aside by a named rule, never silently.

use crate::format::table::{Cell, CellKind, Column, Record, Row, Schema};
use crate::{Extra, FileError, ParticipantId, TrialId};

/// Data set aside, and why.
#[derive(Debug, Clone, PartialEq)]
pub struct Exclusion {
    /// The rule's name, e.g. `too-fast`.
    pub rule: String,
    /// What was set aside.
    pub excluded: Excluded,
    /// The evidence, e.g. `rt 83 ms < 150 ms`.
    pub detail: String,
    /// Columns `mohs` does not know.
    pub extra: Extra,
}

/// What an exclusion sets aside.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Excluded {
    /// All trials of a participant.
    Participant(ParticipantId),
    /// One trial.
    Trial(TrialId),
}

const RULE: usize = 0;
const PARTICIPANT: usize = 1;
const TRIAL: usize = 2;
const DETAIL: usize = 3;

impl Record for Exclusion {
    const SCHEMA: &'static Schema = &Schema {
        noun: "exclusions",
        row_noun: "exclusion",
        version: 1,
        version_column: "exclusions_version",
        columns: &[
            Column::new("rule", CellKind::Text, &["reason"]),
            Column::new("participant", CellKind::Text, &[]),
            Column::new("trial", CellKind::Text, &[]),
            Column::new("detail", CellKind::Text, &[]),
        ],
        required: &[RULE],
    };

    fn from_row(row: &Row<'_>) -> Result<Self, FileError> {
        let excluded = match (row.text(TRIAL), row.text(PARTICIPANT)) {
            (Some(trial), None) => Excluded::Trial(TrialId::new(trial)),
            (None, Some(participant)) => Excluded::Participant(ParticipantId::new(participant)),
            _ => {
                let expected = "a participant or a trial, one of the two";
                return Err(row.bad_value(PARTICIPANT, expected, "", None));
            }
        };
        Ok(Self {
            rule: row.required_text(RULE)?.into_owned(),
            excluded,
            detail: row.text(DETAIL).unwrap_or_default().into_owned(),
            extra: row.extra(),
        })
    }

    fn cells<'a>(&'a self, cells: &mut Vec<Cell<'a>>) {
        let (participant, trial) = match &self.excluded {
            Excluded::Participant(participant) => (Some(participant.as_str()), None),
            Excluded::Trial(trial) => (None, Some(trial.as_str())),
        };
        cells.extend([
            Cell::text(Some(&self.rule)),
            Cell::text(participant),
            Cell::text(trial),
            Cell::text(Some(&self.detail)),
        ]);
    }

    fn extra(&self) -> &Extra {
        &self.extra
    }
}
