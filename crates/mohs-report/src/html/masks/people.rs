//! Who draws how well: a chart of everybody's overlap with the others, and a table.

use mohs_score::human::object_masks::{AnnotatorFinding, ObjectMasks};

use super::{cell, intervals};
use crate::chart::dots::{self, Dot, DotPanel, DotRow};
use crate::chart::paint;
use crate::escape::esc;
use crate::html::figure::Figure;
use crate::html::section::Section;
use crate::html::sheet::{Cell, Column, Sheet};
use crate::number::{Unit, count, counted};

/// People in the chart before the better half is left to the table.
const MOST_CHARTED: usize = 30;

/// Returns the section, or `None` without people.
pub(super) fn section(found: &ObjectMasks) -> Option<Section> {
    if found.annotators.is_empty() {
        return None;
    }
    let body = format!("{}{}{}", chart(found), aside(found), table(found));
    Some(Section { id: "masks-people", nav: "People", title: "Who draws how well".into(), body })
}

fn chart(found: &ObjectMasks) -> String {
    let mut judged: Vec<(&AnnotatorFinding, mohs_data::Estimate)> = found
        .annotators
        .iter()
        .filter_map(|person| Some((person, person.to_others?.estimate(found.method.confidence)?)))
        .collect();
    if judged.is_empty() {
        return String::new();
    }
    judged.sort_by(|a, b| {
        a.1.value.total_cmp(&b.1.value).then_with(|| a.0.participant.cmp(&b.0.participant))
    });
    let mut sheet = Sheet::new(vec![
        Column::text("Participant", "participant"),
        Column::estimate("Overlap with the others", "to_others", Unit::Share),
    ]);
    for (person, estimate) in &judged {
        sheet.push(vec![Cell::Text(person.participant.to_string()), Cell::Estimate(*estimate)]);
    }
    let rows: Vec<DotRow> = judged
        .iter()
        .take(MOST_CHARTED)
        .map(|(person, estimate)| DotRow {
            name: person.participant.to_string(),
            note: counted(estimate.n, "object", "objects"),
            dots: vec![Dot {
                estimate: *estimate,
                tip: format!(
                    "{}\n{}\nn = {}",
                    person.participant,
                    Unit::Share.estimate(estimate),
                    counted(estimate.n, "object", "objects")
                ),
            }],
            is_apart: false,
        })
        .collect();
    let left_out = match judged.len().saturating_sub(MOST_CHARTED) {
        0 => String::new(),
        n => format!(" Shown are the {MOST_CHARTED} lowest; {} more are in the table.", count(n)),
    };
    let panels = [DotPanel {
        title: "Overlap (IoU) with the vote of the others".into(),
        unit: Unit::Share,
        paint: paint::ACCENT.into(),
    }];
    let figure = Figure {
        id: "masks-quality",
        title: "Each person against the others",
        caption: format!(
            "Mean overlap of a person’s drawings with what most of the others marked, lowest first.\
             {left_out} Lines are {} over objects.",
            intervals(found)
        ),
        sheet,
    };
    figure.html(|canvas| dots::rows(canvas, &rows, &panels, None, figure.title))
}

fn aside(found: &ObjectMasks) -> String {
    if found.set_aside.is_empty() {
        return String::new();
    }
    let items: String = found
        .set_aside
        .iter()
        .map(|aside| {
            format!(
                "<div><dt>{} <code>{}</code></dt><dd>{}; {}</dd></div>",
                esc(aside.participant.as_str()),
                esc(&aside.rule),
                esc(&aside.detail),
                counted(aside.n_drawings, "drawing", "drawings")
            )
        })
        .collect();
    format!("<p class=\"lede\">Set aside by rule:</p><dl class=\"pairs\">{items}</dl>\n")
}

fn table(found: &ObjectMasks) -> String {
    let confidence = found.method.confidence;
    let has = |of: fn(&AnnotatorFinding) -> bool| found.annotators.iter().any(of);
    let (has_reference, has_exam, has_checks) = (
        has(|person| person.to_reference.is_some()),
        has(|person| person.exam.is_some()),
        has(|person| person.checks.is_some()),
    );
    let mut columns = vec![
        Column::text("Participant", "participant"),
        Column::count("Objects", "n_objects"),
        Column::estimate("With the others", "to_others", Unit::Share),
    ];
    if has_reference {
        columns.push(Column::estimate("With the reference", "to_reference", Unit::Share));
    }
    if has_exam {
        columns.push(Column::estimate("Exam", "exam", Unit::Share));
        columns.push(Column::text("Passed", "passed_exam"));
    }
    if has_checks {
        columns.push(Column::estimate("Checks", "checks", Unit::Share));
        columns.push(Column::count("Checks failed", "n_checks_failed"));
    }
    let mut sheet = Sheet::new(columns);
    for person in &found.annotators {
        let alone = match person.set_aside {
            Some(_) => "set aside",
            None => "nobody else drew the same",
        };
        let mut row = vec![
            Cell::Text(person.participant.to_string()),
            Cell::Count(person.n_objects),
            cell(person.to_others, confidence, alone),
        ];
        if has_reference {
            row.push(cell(person.to_reference, confidence, "none known"));
        }
        if has_exam {
            row.push(cell(person.exam, confidence, "not taken"));
            let passed = match person.passed_exam {
                Some(true) => "yes",
                Some(false) => "no",
                None => "not taken",
            };
            row.push(Cell::Text(passed.into()));
        }
        if has_checks {
            row.push(cell(person.checks, confidence, "none met"));
            row.push(Cell::Count(person.n_checks_failed));
        }
        sheet.push(row);
    }
    format!("<div class=\"tall stack first-rows\">{}</div>\n", sheet.table("People who drew"))
}
