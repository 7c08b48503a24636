//! What is never mixed with the rest: corrected stimuli, bounds from above, and rows without an
//! outcome.

use mohs_data::Goal;
use mohs_score::model::robustness::{AttackFindings, AttackTable};

use super::super::section::Section;
use super::super::sheet::{Cell, Column, Sheet};
use super::means;
use crate::number::counted;

/// Returns the section on changes that make a wrong answer right, or `None` without any.
pub(super) fn corrected(found: &AttackFindings) -> Option<Section> {
    let body = tables(found, |table| !table.is_bound && table.goal == Goal::Correct)?;
    let lede = "Stimuli that the model gets wrong to begin with: the smallest ε that makes its answer \
                right. They stand in no other table.";
    Some(Section {
        id: "attacks-corrected",
        nav: "Corrected",
        title: "How small a change puts a wrong answer right?".into(),
        body: format!("<p class=\"lede\">{lede}</p>\n{body}"),
    })
}

/// Returns the section on minimum-norm attacks, or `None` without any.
pub(super) fn bounds(found: &AttackFindings) -> Option<Section> {
    let body = tables(found, |table| table.is_bound)?;
    let lede = "Minimum-norm attacks search for one small change instead of trying a grid of ε. The \
                size they find is a bound from above, and not to be held against the smallest ε of a \
                grid.";
    Some(Section {
        id: "attacks-bounds",
        nav: "Bounds",
        title: "Bounds by minimum-norm attacks".into(),
        body: format!("<p class=\"lede\">{lede}</p>\n{body}"),
    })
}

fn tables(found: &AttackFindings, keep: impl Fn(&AttackTable) -> bool) -> Option<String> {
    let kept: String = found
        .tables
        .iter()
        .filter(|table| keep(table))
        .map(|table| means::by_model(found, table))
        .collect();
    (!kept.is_empty()).then_some(kept)
}

/// Returns the section on rows without an outcome, or `None` without any.
pub(super) fn failures(found: &AttackFindings) -> Option<Section> {
    if found.n_failed == 0 {
        return None;
    }
    let mut sheet = Sheet::new(vec![
        Column::text("Reason", "reason"),
        Column::count("Rows", "n"),
        Column::text("For example", "example"),
    ]);
    for failure in &found.failures {
        sheet.push(vec![
            Cell::Text(failure.reason.clone()),
            Cell::Count(failure.n),
            Cell::Text(failure.example.to_string()),
        ]);
    }
    Some(Section {
        id: "attacks-failures",
        nav: "Failures",
        title: "Rows without an outcome".into(),
        body: format!(
            "<p class=\"lede\">{} failed. They are counted here and stand in no average.</p>\n{}",
            counted(found.n_failed, "attack", "attacks"),
            sheet.table("Reasons")
        ),
    })
}
