//! A stimulus: the thing shown, with its identity, its label and what is known about it.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::format::table::{Cell, CellKind, Column, Record, Row, Schema};
use crate::{Extra, FileError, Label, StimulusId};

/// The thing shown.
#[derive(Debug, Clone, PartialEq)]
pub struct Stimulus {
    /// Unique within a table of stimuli; trials and predictions refer to it.
    pub id: StimulusId,
    /// The picture, relative to the folder of the table.
    pub file: PathBuf,
    /// What it shows.
    pub label: Label,
    /// Where it comes from, e.g. `imagenet`; groups results in reports.
    pub dataset: Option<String>,
    /// Boxes around the object, in pixels of the file.
    pub boxes: Vec<BoundingBox>,
    /// A picture of the object's outline (white on black), relative to the table's folder.
    pub mask: Option<PathBuf>,
    /// What varies in this picture, e.g. `occlusion`.
    pub attribute: Option<String>,
    /// How strongly it varies, e.g. `easy`, `medium`, `hard`.
    pub level: Option<String>,
    /// Columns `mohs` does not know.
    pub extra: Extra,
}

/// A box in pixels: left, top, width, height, as in COCO.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct BoundingBox {
    /// Left edge.
    pub x: f64,
    /// Top edge.
    pub y: f64,
    /// Width.
    pub width: f64,
    /// Height.
    pub height: f64,
}

const STIMULUS: usize = 0;
const FILE: usize = 1;
const LABEL: usize = 2;
const DATASET: usize = 3;
const BOXES: usize = 4;
const MASK: usize = 5;
const ATTRIBUTE: usize = 6;
const LEVEL: usize = 7;

impl Record for Stimulus {
    const SCHEMA: &'static Schema = &Schema {
        noun: "stimuli",
        row_noun: "stimulus",
        version: 1,
        version_column: "stimuli_version",
        columns: &[
            Column::new("stimulus", CellKind::Text, &["id", "image_id", "stimulus_id", "image"]),
            Column::new("file", CellKind::Text, &["file_name", "filename", "path", "imagename"]),
            Column::new("label", CellKind::Text, &["class", "category", "target", "true_label"]),
            Column::new("dataset", CellKind::Text, &["source"]),
            Column::new("boxes", CellKind::Text, &["bbox", "bounding_box"]),
            Column::new("mask", CellKind::Text, &["segmentation"]),
            Column::new("attribute", CellKind::Text, &["factor"]),
            Column::new("level", CellKind::Text, &["difficulty", "tier"]),
        ],
        required: &[FILE, LABEL],
    };

    fn from_row(row: &Row<'_>) -> Result<Self, FileError> {
        let file = row.required_text(FILE)?;
        Ok(Self {
            id: row.text(STIMULUS).map_or_else(|| StimulusId::new(&file), StimulusId::new),
            file: PathBuf::from(&*file),
            label: Label::new(row.required_text(LABEL)?),
            dataset: row.text(DATASET).map(Into::into),
            boxes: boxes(row)?,
            mask: row.text(MASK).map(|path| PathBuf::from(&*path)),
            attribute: row.text(ATTRIBUTE).map(Into::into),
            level: row.text(LEVEL).map(Into::into),
            extra: row.extra(),
        })
    }

    fn cells<'a>(&'a self, cells: &mut Vec<Cell<'a>>) {
        let boxes: Vec<String> =
            self.boxes.iter().map(|bounding_box| bounding_box.to_text()).collect();
        cells.extend([
            Cell::text(Some(self.id.as_str())),
            Cell::Text(self.file.to_string_lossy()),
            Cell::text(Some(self.label.as_str())),
            Cell::text(self.dataset.as_deref()),
            Cell::Text(boxes.join("; ").into()),
            self.mask.as_ref().map_or(Cell::Empty, |mask| Cell::Text(mask.to_string_lossy())),
            Cell::text(self.attribute.as_deref()),
            Cell::text(self.level.as_deref()),
        ]);
    }

    fn extra(&self) -> &Extra {
        &self.extra
    }
}

impl BoundingBox {
    /// Writes `x y width height`.
    fn to_text(self) -> String {
        format!("{} {} {} {}", self.x, self.y, self.width, self.height)
    }

    /// Parses `x y width height`; `None` if it is not four finite numbers with a positive area.
    fn parse(text: &str) -> Option<Self> {
        let numbers: Vec<f64> =
            text.split_whitespace().map(|n| n.parse().ok()).collect::<Option<_>>()?;
        let &[x, y, width, height] = &numbers[..] else { return None };
        let sound = numbers.iter().all(|n| n.is_finite()) && 0.0 < width && 0.0 < height;
        sound.then_some(Self { x, y, width, height })
    }
}

fn boxes(row: &Row<'_>) -> Result<Vec<BoundingBox>, FileError> {
    let Some(text) = row.text(BOXES) else { return Ok(Vec::new()) };
    text.split(';')
        .map(|part| {
            BoundingBox::parse(part).ok_or_else(|| {
                let expected = "`x y width height` in pixels, several boxes joined by `;`";
                row.bad_value(BOXES, expected, part, None)
            })
        })
        .collect()
}
