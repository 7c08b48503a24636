//! The hierarchical learning score against accuracy, one point per model.

use mohs_score::model::hierarchy::LadderFindings;

use super::super::figure::Figure;
use super::super::section::Section;
use super::super::sheet::{Cell, Column, Sheet};
use super::{headline, paints, tip_line};
use crate::chart::scatter::{self, ScatterPoint};
use crate::chart::steps::MUTED;
use crate::escape::esc;
use crate::number::{Unit, count};

/// Returns the section, or `None` when fewer than two models have both numbers.
pub(super) fn section(found: &LadderFindings) -> Option<Section> {
    let mut sheet = Sheet::new(vec![
        Column::text("Model", "model"),
        Column::estimate("Right answers", "accuracy", Unit::Share),
        Column::estimate("Hierarchical learning score", "hierarchy", Unit::Share),
    ]);
    let paints = paints(found);
    let mut points = Vec::new();
    for idx in headline::ranked(found) {
        let model = &found.models[idx];
        let (Some(x), Some(hierarchy)) = (model.overall.accuracy, headline::hierarchy(model))
        else {
            continue;
        };
        let name = model.model.to_string();
        sheet.push(vec![
            Cell::Text(name.clone()),
            Cell::Estimate(x),
            Cell::Estimate(hierarchy.score),
        ]);
        points.push(ScatterPoint {
            tip: format!(
                "{name}\n{}\n{}",
                tip_line("right", Unit::Share, &x),
                tip_line("hierarchical", Unit::Share, &hierarchy.score)
            ),
            name,
            x,
            y: hierarchy.score,
            paint: paints[idx].clone().unwrap_or_else(|| MUTED.into()),
        });
    }
    if points.len() < 2 {
        return None;
    }
    let figure = Figure {
        id: "ladder-and-accuracy",
        title: "Hierarchical learning score and accuracy",
        caption: format!("{} Lines are {}.", correlation(found), headline::intervals(found)),
        sheet,
    };
    let titles = ("Right answers", "Hierarchical learning score");
    Some(Section {
        id: "ladder-accuracy",
        nav: "And accuracy",
        title: "Are more accurate models more hierarchical?".into(),
        body: figure.html(|canvas| scatter::shares(canvas, &points, titles, figure.title)),
    })
}

fn correlation(found: &LadderFindings) -> String {
    let Some(r) = &found.with_accuracy else {
        return "Fewer than three models: no correlation is told.".into();
    };
    let mut sentences = Vec::new();
    if let Some(over) = &r.over_models {
        sentences.push(format!(
            "Pearson’s r = {} over {} models, for other models of the same kind.",
            Unit::Plain.estimate(over),
            count(over.n)
        ));
    }
    if let Some(over) = &r.over_classes {
        sentences.push(format!(
            "For these models on other classes, r = {}.",
            Unit::Plain.estimate(over)
        ));
    }
    if let Some(excess) = &r.excess {
        sentences.push(format!(
            "The excess over the baseline, which accuracy alone does not make, has r = {}.",
            Unit::Plain.estimate(excess)
        ));
    }
    if sentences.is_empty() {
        sentences.push("No correlation can be told: one of the two does not vary.".into());
    }
    esc(&sentences.join(" "))
}
