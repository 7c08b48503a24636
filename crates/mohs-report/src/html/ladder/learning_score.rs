//! The hierarchical learning score beside what chance makes of the accuracies.

use mohs_score::model::hierarchy::LadderFindings;

use super::super::figure::Figure;
use super::super::section::Section;
use super::super::sheet::{Cell, Column, Sheet};
use super::{cell, headline, tip_line};
use crate::chart::Canvas;
use crate::chart::dots::{self, Dot, DotPanel, DotRow};
use crate::chart::paint;
use crate::number::{Unit, count};

/// Returns the section, or `None` without a score.
pub(super) fn section(found: &LadderFindings) -> Option<Section> {
    found.models.iter().find_map(headline::hierarchy)?;
    Some(Section {
        id: "ladder-score",
        nav: "Hierarchical score",
        title: "Is it more than chance?".into(),
        body: figure(found),
    })
}

const NO_CELL: &str = "no complete cell";

fn figure(found: &LadderFindings) -> String {
    let mut sheet = Sheet::new(vec![
        Column::text("Model", "model"),
        Column::estimate("Hierarchical learning score", "hierarchy", Unit::Share),
        Column::estimate("Baseline", "baseline", Unit::Share),
        Column::estimate("Excess", "excess", Unit::Share),
        Column::estimate("Drawn chains", "sampled", Unit::Share),
        Column::estimate("Right answers", "accuracy", Unit::Share),
        Column::estimate("Weighted score", "score", Unit::Share),
        Column::count("Failed", "n_failed"),
    ]);
    let mut rows = Vec::new();
    for idx in headline::ranked(found) {
        let model = &found.models[idx];
        let hierarchy = headline::hierarchy(model);
        let excess = hierarchy.and_then(|hierarchy| hierarchy.excess.as_ref());
        sheet.push(vec![
            Cell::Text(model.model.to_string()),
            cell(hierarchy.map(|hierarchy| &hierarchy.score), NO_CELL),
            cell(hierarchy.map(|hierarchy| &hierarchy.baseline), NO_CELL),
            cell(excess, "nothing left above the baseline"),
            cell(model.sampled.as_ref().map(|sampled| &sampled.share), "no chain"),
            cell(model.overall.accuracy.as_ref(), "no answers"),
            cell(model.overall.score.as_ref(), "a level without answers"),
            Cell::Count(model.n_failed),
        ]);
        let Some(hierarchy) = hierarchy else { continue };
        let tip = format!(
            "{}\n{}\n{}",
            model.model,
            tip_line("score", Unit::Share, &hierarchy.score),
            tip_line("baseline", Unit::Share, &hierarchy.baseline)
        );
        let mut dots = vec![Dot { estimate: hierarchy.score, tip }];
        dots.extend(excess.map(|excess| Dot {
            estimate: *excess,
            tip: format!("{}\n{}", model.model, tip_line("excess", Unit::Share, excess)),
        }));
        rows.push(DotRow {
            name: model.model.to_string(),
            note: count(hierarchy.score.n),
            dots,
            is_apart: false,
        });
    }
    let panels = [
        DotPanel {
            title: "Hierarchical learning score".into(),
            unit: Unit::Share,
            paint: paint::ACCENT.into(),
        },
        DotPanel {
            title: "Excess over the baseline, in %".into(),
            unit: Unit::Points,
            paint: "var(--accent-2)".into(),
        },
    ];
    let figure = Figure {
        id: "ladder-scores",
        title: "Hierarchical learning score",
        caption: format!(
            "Share of chains with a hierarchical pattern, over all chains of a cell, mean over cells; \
             the number on the right is n&#160;=&#160;cells. The baseline is what comes out if answers \
             at one level say nothing about those at another; the excess is what lies above it, in \
             percent of what is left above it. Lines are {}. Drawn chains are the score as it was \
             published: each stimulus in one chain.",
            headline::intervals(found)
        ),
        sheet,
    };
    figure.html(|canvas| match canvas {
        Canvas::Wide => dots::rows(canvas, &rows, &panels, None, figure.title),
        Canvas::Narrow => (0..panels.len())
            .map(|only| dots::rows(canvas, &rows, &panels, Some(only), figure.title))
            .collect(),
    })
}
