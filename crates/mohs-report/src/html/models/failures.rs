//! Rows without an answer: how many, of which model, and why.

use mohs_score::model::ModelFindings;

use super::super::section::Section;
use super::super::sheet::{Cell, Column, Sheet};
use crate::number::counted;

/// Returns the section, or `None` when every row has an answer.
pub(super) fn section(found: &ModelFindings) -> Option<Section> {
    if found.n_failed == 0 {
        return None;
    }
    let mut reasons = Sheet::new(vec![
        Column::text("Reason", "reason"),
        Column::count("Rows", "n"),
        Column::text("For example", "example"),
    ]);
    for failure in &found.failures {
        reasons.push(vec![
            Cell::Text(failure.reason.clone()),
            Cell::Count(failure.n),
            Cell::Text(failure.example.to_string()),
        ]);
    }
    let mut models =
        Sheet::new(vec![Column::text("Model", "model"), Column::count("Failed", "n_failed")]);
    for model in found.models.iter().filter(|model| 0 < model.n_failed) {
        models.push(vec![Cell::Text(model.model.to_string()), Cell::Count(model.n_failed)]);
    }
    Some(Section {
        id: "models-failures",
        nav: "Failures",
        title: "Rows without an answer".into(),
        body: format!(
            "<p class=\"lede\">{} no answer. They are counted here and stand in no average.</p>\n\
             {}<h3>By model</h3>\n{}",
            match found.n_failed {
                1 => "1 row has".into(),
                n => format!("{} have", counted(n, "row", "rows")),
            },
            reasons.table("Reasons"),
            models.table("Failures by model")
        ),
    })
}
