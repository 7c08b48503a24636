//! A win: one stimulus was called harder than another, and how often.
//!
//! Rankings, tournaments and citation counts come as `winner,loser,count`. The winner is the
//! *harder* one: it won the question that was asked. Such a table knows no sides and often no
//! participants, and [`Comparison`] says so.

use super::{Comparison, Harder, Sides};
use crate::format::table::{Cell, CellKind, Column, Record, Row, Schema};
use crate::{Extra, FileError, ParticipantId, Problem, StimulusId, TrialId};

/// The participant of a row that names none.
const UNNAMED: &str = "unnamed";

/// One row of a table of winners and losers, as the comparison it stands for.
pub(crate) struct Win(pub(crate) Comparison);

const WINNER: usize = 0;
const LOSER: usize = 1;
const COUNT: usize = 2;
const PARTICIPANT: usize = 3;
const QUESTION: usize = 4;

impl Record for Win {
    const SCHEMA: &'static Schema = &Schema {
        noun: "comparisons",
        row_noun: "comparison",
        version: 1,
        version_column: "comparisons_version",
        columns: &[
            Column::new("winner", CellKind::Text, &["harder"]),
            Column::new("loser", CellKind::Text, &["easier"]),
            Column::new("count", CellKind::Whole, &["n", "wins", "weight", "times"]),
            Column::new("participant", CellKind::Text, &["rater", "annotator", "judge", "user"]),
            Column::new("question", CellKind::Text, &["attribute", "criterion"]),
        ],
        required: &[WINNER, LOSER],
    };

    fn from_row(row: &Row<'_>) -> Result<Self, FileError> {
        let winner = StimulusId::new(row.required_text(WINNER)?);
        let loser = StimulusId::new(row.required_text(LOSER)?);
        if winner == loser {
            let detail = format!("`{winner}` is winner and loser");
            let hint = "a stimulus cannot be compared with itself; remove the row".into();
            return Err(row.error(LOSER, Problem::Contradiction { detail, hint }));
        }
        // Any fixed side does, as long as it says nothing about who won.
        let is_first = winner < loser;
        let (left, right) = if is_first { (winner, loser) } else { (loser, winner) };
        Ok(Self(Comparison {
            id: TrialId::new(compact_str::format_compact!("line-{}", row.line())),
            participant: row
                .text(PARTICIPANT)
                .map_or_else(|| ParticipantId::new(UNNAMED), ParticipantId::new),
            left,
            right,
            harder: if is_first { Harder::Left } else { Harder::Right },
            question: row.text(QUESTION).map(Into::into),
            onset: None,
            responded: None,
            count: row.whole(COUNT)?.unwrap_or(1),
            sides: Sides::Unknown,
            extra: row.extra(),
        }))
    }

    fn cells<'a>(&'a self, cells: &mut Vec<Cell<'a>>) {
        let comparison = &self.0;
        let (winner, loser) = match comparison.harder {
            Harder::Right => (&comparison.right, &comparison.left),
            _ => (&comparison.left, &comparison.right),
        };
        cells.extend([
            Cell::text(Some(winner.as_str())),
            Cell::text(Some(loser.as_str())),
            Cell::Whole(comparison.count),
            Cell::text(Some(comparison.participant.as_str())),
            Cell::text(comparison.question.as_deref()),
        ]);
    }

    fn extra(&self) -> &Extra {
        &self.0.extra
    }
}
