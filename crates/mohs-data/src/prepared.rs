//! A prepared stimulus: the pictures a participant is shown for it (`prepared.csv`).
//!
//! Made by `mohs prepare` and read by `mohs serve`. Files are named by the SHA-256 of their content,
//! so that a name tells nothing of what a picture shows, and a browser can check what it got.

use crate::format::table::{Cell, CellKind, Column, Record, Row, Schema};
use crate::{Extra, FileError, Label, StimulusId};

/// One stimulus in one condition, ready to be shown.
#[derive(Debug, Clone, PartialEq)]
pub struct Prepared {
    /// The stimulus.
    pub stimulus: StimulusId,
    /// What it shows.
    pub label: Label,
    /// What was done to it; none when nothing was.
    pub condition: Option<String>,
    /// SHA-256 of the PNG that is shown, 64 hexadecimal digits; the file is `HASH.png`.
    pub image: String,
    /// SHA-256 of the PNG that masks it, likewise.
    pub mask: Option<String>,
    /// SHA-256 of the file it was made from: who has seen it has seen this picture, in any study.
    pub source: String,
    /// What varies in this picture.
    pub attribute: Option<String>,
    /// How strongly it varies.
    pub level: Option<String>,
    /// Side of the PNG in pixels.
    pub side_px: u64,
    /// The most flashes in any second while it is shown (WCAG 2.3.1), over all exposures.
    pub flashes: Option<f64>,
    /// Columns `mohs` does not know.
    pub extra: Extra,
}

const STIMULUS: usize = 0;
const LABEL: usize = 1;
const CONDITION: usize = 2;
const IMAGE: usize = 3;
const MASK: usize = 4;
const SOURCE: usize = 5;
const ATTRIBUTE: usize = 6;
const LEVEL: usize = 7;
const SIDE: usize = 8;
const FLASHES: usize = 9;

impl Record for Prepared {
    const SCHEMA: &'static Schema = &Schema {
        noun: "prepared stimuli",
        row_noun: "prepared stimulus",
        version: 1,
        version_column: "prepared_version",
        columns: &[
            Column::new("stimulus", CellKind::Text, &[]),
            Column::new("label", CellKind::Text, &[]),
            Column::new("condition", CellKind::Text, &[]),
            Column::new("image_sha256", CellKind::Text, &[]),
            Column::new("mask_sha256", CellKind::Text, &[]),
            Column::new("source_sha256", CellKind::Text, &[]),
            Column::new("attribute", CellKind::Text, &[]),
            Column::new("level", CellKind::Text, &[]),
            Column::new("side_px", CellKind::Whole, &[]),
            Column::new("flashes_per_second", CellKind::Real, &[]),
        ],
        required: &[STIMULUS, LABEL, IMAGE, SOURCE, SIDE],
    };

    fn from_row(row: &Row<'_>) -> Result<Self, FileError> {
        Ok(Self {
            stimulus: StimulusId::new(row.required_text(STIMULUS)?),
            label: Label::new(row.required_text(LABEL)?),
            condition: row.text(CONDITION).map(Into::into),
            image: hash(row, IMAGE, row.required_text(IMAGE)?.as_ref())?,
            mask: row.text(MASK).map(|mask| hash(row, MASK, &mask)).transpose()?,
            source: hash(row, SOURCE, row.required_text(SOURCE)?.as_ref())?,
            attribute: row.text(ATTRIBUTE).map(Into::into),
            level: row.text(LEVEL).map(Into::into),
            side_px: row.whole(SIDE)?.unwrap_or_default(),
            flashes: row.real(FLASHES)?,
            extra: row.extra(),
        })
    }

    fn cells<'a>(&'a self, cells: &mut Vec<Cell<'a>>) {
        cells.extend([
            Cell::text(Some(self.stimulus.as_str())),
            Cell::text(Some(self.label.as_str())),
            Cell::text(self.condition.as_deref()),
            Cell::text(Some(&self.image)),
            Cell::text(self.mask.as_deref()),
            Cell::text(Some(&self.source)),
            Cell::text(self.attribute.as_deref()),
            Cell::text(self.level.as_deref()),
            Cell::Whole(self.side_px),
            Cell::real(self.flashes),
        ]);
    }

    fn extra(&self) -> &Extra {
        &self.extra
    }
}

/// Returns a hash that can be part of a file name and nothing else.
fn hash(row: &Row<'_>, column: usize, text: &str) -> Result<String, FileError> {
    let is_hash =
        text.len() == 64 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    if !is_hash {
        let hint = Some("run `mohs prepare` again; this file is not meant to be edited".into());
        return Err(row.bad_value(column, "a SHA-256 of 64 hexadecimal digits", text, hint));
    }
    Ok(text.to_owned())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::format::{ReadOptions, TableReader};

    fn read(image: &str) -> Result<Vec<Prepared>, FileError> {
        let source = "0".repeat(64);
        let csv = format!(
            "stimulus,label,image_sha256,source_sha256,side_px\nmug-1,mug,{image},{source},224\n"
        );
        let path = Path::new("prepared.csv");
        TableReader::from_bytes(path, csv.into_bytes(), &ReadOptions::default())?.collect()
    }

    #[test]
    fn a_prepared_stimulus_names_its_pictures_by_their_content() {
        let prepared = read(&"ab".repeat(32)).unwrap();
        assert_eq!(prepared[0].image, "ab".repeat(32));
        assert_eq!(prepared[0].mask, None);
        assert_eq!(prepared[0].side_px, 224);
    }

    #[test]
    fn a_name_that_could_leave_the_folder_is_refused() {
        for name in ["../../etc/passwd", "AB", &"AB".repeat(32), &"ab".repeat(31)] {
            assert!(read(name).is_err(), "{name}");
        }
    }
}
