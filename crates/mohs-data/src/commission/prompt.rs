//! A prompt: what a painter is told, for one class, attribute and step.

use crate::format::table::{Cell, CellKind, Column, Record, Row, Schema};
use crate::{Extra, FileError, Label};

/// What a painter is told.
#[derive(Debug, Clone, PartialEq)]
pub struct Prompt {
    /// What the picture should show.
    pub label: Label,
    /// What makes it hard.
    pub attribute: String,
    /// The level of the step, for readers; the plan decides.
    pub level: String,
    /// The step of the attribute, from 1.
    pub step: u64,
    /// The words.
    pub prompt: String,
    /// Columns `mohs` does not know.
    pub extra: Extra,
}

const LABEL: usize = 0;
const ATTRIBUTE: usize = 1;
const LEVEL: usize = 2;
const STEP: usize = 3;
const PROMPT: usize = 4;

impl Record for Prompt {
    const SCHEMA: &'static Schema = &Schema {
        noun: "prompts",
        row_noun: "prompt",
        version: 1,
        version_column: "prompts_version",
        columns: &[
            Column::new("label", CellKind::Text, &["class", "category"]),
            Column::new("attribute", CellKind::Text, &[]),
            Column::new("level", CellKind::Text, &[]),
            Column::new("step", CellKind::Whole, &[]),
            Column::new("prompt", CellKind::Text, &["text", "caption"]),
        ],
        required: &[LABEL, ATTRIBUTE, STEP, PROMPT],
    };

    fn from_row(row: &Row<'_>) -> Result<Self, FileError> {
        let step = row.whole(STEP)?;
        Ok(Self {
            label: Label::new(row.required_text(LABEL)?),
            attribute: row.required_text(ATTRIBUTE)?.into_owned(),
            level: row.text(LEVEL).unwrap_or_default().into_owned(),
            step: step.ok_or_else(|| row.bad_value(STEP, "a step, from 1", "", None))?,
            prompt: row.required_text(PROMPT)?.into_owned(),
            extra: row.extra(),
        })
    }

    fn cells<'a>(&'a self, cells: &mut Vec<Cell<'a>>) {
        cells.extend([
            Cell::text(Some(self.label.as_str())),
            Cell::text(Some(&self.attribute)),
            Cell::text(Some(&self.level)),
            Cell::Whole(self.step),
            Cell::text(Some(&self.prompt)),
        ]);
    }

    fn extra(&self) -> &Extra {
        &self.extra
    }
}
