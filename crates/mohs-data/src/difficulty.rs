//! A difficulty: a number people gave a stimulus, by a named measure, with its interval.
//!
//! `difficulty.csv` is the file that joins the two wings: people write it, models read it.

use crate::format::table::{Cell, CellKind, Column, Record, Row, Schema};
use crate::{Estimate, Extra, FileError, Problem, StimulusId};

/// How hard one stimulus is by one measure.
#[derive(Debug, Clone, PartialEq)]
pub struct Difficulty {
    /// The stimulus.
    pub stimulus: StimulusId,
    /// The measure, e.g. `viewing-time`.
    pub measure: String,
    /// The number, larger is harder, with its interval and the number of trials behind it.
    pub estimate: Estimate,
    /// A coarse class of difficulty, e.g. `100 ms`; ordered as the measure's page says.
    pub band: Option<String>,
    /// Codes of the caveats that weaken this number.
    pub caveats: Vec<String>,
    /// Further numbers of the measure, and columns `mohs` does not know.
    pub extra: Extra,
}

const STIMULUS: usize = 0;
const MEASURE: usize = 1;
const DIFFICULTY: usize = 2;
const LOW: usize = 3;
const HIGH: usize = 4;
const CONFIDENCE: usize = 5;
const N_TRIALS: usize = 6;
const BAND: usize = 7;
const CAVEATS: usize = 8;

impl Record for Difficulty {
    const SCHEMA: &'static Schema = &Schema {
        noun: "difficulty",
        row_noun: "difficulty",
        version: 1,
        version_column: "difficulty_version",
        columns: &[
            Column::new("stimulus", CellKind::Text, &["image", "image_id", "file", "id"]),
            Column::new("measure", CellKind::Text, &[]),
            Column::new("difficulty", CellKind::Real, &["score", "hardness", "value"]),
            Column::new("low", CellKind::Real, &[]),
            Column::new("high", CellKind::Real, &[]),
            Column::new("confidence", CellKind::Real, &[]),
            Column::new("n_trials", CellKind::Whole, &["n"]),
            Column::new("band", CellKind::Text, &["bin", "mvt"]),
            Column::new("caveats", CellKind::Text, &[]),
        ],
        required: &[STIMULUS, DIFFICULTY],
    };

    fn from_row(row: &Row<'_>) -> Result<Self, FileError> {
        let value = row.real(DIFFICULTY)?.ok_or_else(|| {
            row.bad_value(DIFFICULTY, "a number", "", Some("remove the row if unknown".into()))
        })?;
        let n = row.whole(N_TRIALS)?.unwrap_or(0);
        let estimate = Estimate::new(
            value,
            row.real(LOW)?.unwrap_or(value),
            row.real(HIGH)?.unwrap_or(value),
            row.real(CONFIDENCE)?.unwrap_or(0.95),
            usize::try_from(n).unwrap_or(usize::MAX),
        )
        .ok_or_else(|| {
            row.error(
                LOW,
                Problem::Contradiction {
                    detail: "the interval is reversed or its confidence is not between 0 and 1"
                        .into(),
                    hint: "low must not be above high; confidence is e.g. 0.95".into(),
                },
            )
        })?;
        let caveats = row.text(CAVEATS).unwrap_or_default();
        Ok(Self {
            stimulus: crate::StimulusId::new(row.required_text(STIMULUS)?),
            measure: row.text(MEASURE).map_or_else(|| "unnamed".into(), Into::into),
            estimate,
            band: row.text(BAND).map(Into::into),
            caveats: caveats.split_whitespace().map(ToOwned::to_owned).collect(),
            extra: row.extra(),
        })
    }

    fn cells<'a>(&'a self, cells: &mut Vec<Cell<'a>>) {
        cells.extend([
            Cell::text(Some(self.stimulus.as_str())),
            Cell::text(Some(&self.measure)),
            Cell::Real(self.estimate.value),
            Cell::Real(self.estimate.low),
            Cell::Real(self.estimate.high),
            Cell::Real(self.estimate.confidence),
            Cell::Whole(self.estimate.n as u64),
            Cell::text(self.band.as_deref()),
            Cell::Text(self.caveats.join(" ").into()),
        ]);
    }

    fn extra(&self) -> &Extra {
        &self.extra
    }
}
