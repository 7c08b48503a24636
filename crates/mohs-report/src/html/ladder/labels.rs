//! The hierarchical learning score by label: a long table, folded.

use std::collections::BTreeMap;

use mohs_score::model::hierarchy::{LabelHierarchy, LadderFindings};

use super::super::long_table;
use super::super::section::Section;
use super::super::sheet::{Cell, Column, Sheet};
use super::{columns_of, on_others};
use crate::number::Unit;

/// Returns the section, or `None` without a complete cell.
pub(super) fn section(found: &LadderFindings) -> Option<Section> {
    let columns = columns_of(found);
    let mut by_label: BTreeMap<&str, Vec<Option<&LabelHierarchy>>> = BTreeMap::new();
    for (place, idx) in columns.iter().enumerate() {
        for label in &found.models[*idx].labels {
            let row = by_label.entry(label.label.as_str());
            row.or_insert_with(|| vec![None; columns.len()])[place] = Some(label);
        }
    }
    if by_label.is_empty() {
        return None;
    }
    let mut sheet = Sheet::new(vec![Column::text("Label", "label")]);
    for idx in &columns {
        sheet.columns.push(Column::named(found.models[*idx].model.as_str(), Unit::Share));
    }
    for (label, row) in by_label {
        let mut cells = vec![Cell::Text(label.to_owned())];
        cells.extend(row.into_iter().map(|seen| match seen {
            Some(LabelHierarchy { estimate: Some(estimate), .. }) => Cell::Estimate(*estimate),
            Some(seen) => Cell::NoInterval(seen.score, seen.n_cells),
            None => Cell::Missing("no complete cell"),
        }));
        sheet.push(cells);
    }
    let table = long_table::table(&sheet, "ladder-labels-table", "Hierarchical learning by label");
    Some(Section {
        id: "ladder-labels",
        nav: "Labels",
        title: "Which labels are climbed in order?".into(),
        body: format!(
            "<p class=\"lede\">Hierarchical learning score by label, mean over its cells, with the \
             interval that draws these cells; <i>n</i> is how many there are.{}</p>\n{}",
            on_others(found, "ladder-tables/labels.csv"),
            long_table::folded(
                "Hierarchical learning score by label",
                &format!("<div class=\"stack\">{table}</div>\n")
            )
        ),
    })
}
