//! A member of a family of models: which models belong together, from small to large
//! (`families.csv`).
//!
//! Reports join the models of a family by arrows. Nothing is guessed from names.

use crate::format::table::{Cell, CellKind, Column, Record, Row, Schema};
use crate::{Extra, FileError, ModelName};

/// One model and its family.
#[derive(Debug, Clone, PartialEq)]
pub struct FamilyMember {
    /// The model.
    pub model: ModelName,
    /// The family.
    pub family: String,
    /// Columns `mohs` does not know.
    pub extra: Extra,
}

const MODEL: usize = 0;
const FAMILY: usize = 1;

impl Record for FamilyMember {
    const SCHEMA: &'static Schema = &Schema {
        noun: "families",
        row_noun: "member of a family",
        version: 1,
        version_column: "families_version",
        columns: &[
            Column::new("model", CellKind::Text, &["model_name", "arch", "network"]),
            Column::new("family", CellKind::Text, &["group", "architecture"]),
        ],
        required: &[MODEL, FAMILY],
    };

    fn from_row(row: &Row<'_>) -> Result<Self, FileError> {
        Ok(Self {
            model: ModelName::new(row.required_text(MODEL)?),
            family: row.required_text(FAMILY)?.into_owned(),
            extra: row.extra(),
        })
    }

    fn cells<'a>(&'a self, cells: &mut Vec<Cell<'a>>) {
        cells.extend([Cell::text(Some(self.model.as_str())), Cell::text(Some(&self.family))]);
    }

    fn extra(&self) -> &Extra {
        &self.extra
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::format::{ReadOptions, TableReader};

    #[test]
    fn a_member_names_its_family_and_a_row_without_one_is_refused() {
        let read = |csv: &str| -> Result<Vec<FamilyMember>, FileError> {
            let path = Path::new("families.csv");
            let bytes = csv.as_bytes().to_vec();
            TableReader::from_bytes(path, bytes, &ReadOptions::default())?.collect()
        };
        let members = read("model,family\nresnet18,ResNet\nresnet50,ResNet\n").unwrap();
        assert_eq!(members[1].model.as_str(), "resnet50");
        assert_eq!(members[1].family, "ResNet");
        let error = read("model,family\nresnet18,\n").unwrap_err();
        insta::assert_snapshot!(error);
    }
}
