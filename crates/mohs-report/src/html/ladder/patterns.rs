//! Patterns of right and wrong answers along a chain, one panel per model.

use mohs_score::model::hierarchy::{LadderFindings, LadderModel, MOST_LISTED, PatternShare};

use super::super::figure::Figure;
use super::super::section::Section;
use super::super::sheet::{Cell, Column, Sheet};
use super::{CELLS, headline};
use crate::chart::legend::{Entry, Swatch};
use crate::chart::patterns::{self, PatternPanel, PatternRow};
use crate::escape::esc;
use crate::number::{Unit, counted};

/// Panels drawn; the numbers of all models stand in the table.
const MOST_PANELS: usize = 9;
const FOLLOWS: &str = "var(--accent)";
const BREAKS: &str = "var(--accent-2)";

/// Returns the section, or `None` without a complete cell.
pub(super) fn section(found: &LadderFindings) -> Option<Section> {
    if found.models.iter().all(|model| model.patterns.is_empty()) {
        return None;
    }
    Some(Section {
        id: "ladder-patterns",
        nav: "Patterns",
        title: "What do models get right along a chain?".into(),
        body: figure(found),
    })
}

fn figure(found: &LadderFindings) -> String {
    let ranked: Vec<&LadderModel> =
        headline::ranked(found).into_iter().map(|idx| &found.models[idx]).collect();
    let mut sheet = Sheet::new(vec![
        Column::text("Model", "model"),
        Column::text("Pattern", "pattern"),
        Column::text("Kind", "kind"),
        Column::estimate("Share of chains", "share", Unit::Share),
        Column::count("All chains", "n_all"),
        Column::count("Drawn chains", "n_sampled"),
    ]);
    for model in &ranked {
        for (place, pattern) in model.patterns.iter().enumerate() {
            sheet.push(vec![
                Cell::Text(model.model.to_string()),
                Cell::Ranked(headline::pattern(&pattern.right), place),
                Cell::Text(kind(pattern).into()),
                Cell::Estimate(pattern.share),
                Cell::Count(usize::try_from(pattern.n_all).unwrap_or(usize::MAX)),
                Cell::Count(pattern.n_sampled),
            ]);
        }
    }
    let panels: Vec<PatternPanel> = ranked.iter().take(MOST_PANELS).map(|m| panel(m)).collect();
    let names: Vec<&str> = found.levels.iter().map(|level| level.name.as_str()).collect();
    let mut cut = String::new();
    if MOST_PANELS < ranked.len() {
        cut += &format!(" Shown are the {MOST_PANELS} most accurate models.");
    }
    if MOST_LISTED < names.len() {
        cut += " Only hierarchical patterns are listed; all others together make up the rest.";
    }
    let figure = Figure {
        id: "ladder-pattern-shares",
        title: "Patterns of right and wrong answers",
        caption: format!(
            "A chain is one stimulus of each level from one cell: {}. A filled dot is a right answer, \
             an open one a wrong answer. Bars are shares over all chains of a cell, mean over cells, \
             lines {}. A pattern is hierarchical when nothing is right after a wrong answer.{cut}",
            esc(&names.join(", ")),
            headline::intervals(found)
        ),
        sheet,
    };
    let entry = |paint: &str, name: &str| Entry {
        swatch: Swatch::Box,
        paint: paint.into(),
        name: name.into(),
    };
    let mut entries = vec![entry(FOLLOWS, "hierarchical")];
    if names.len() <= MOST_LISTED {
        entries.push(entry(BREAKS, "not hierarchical"));
    }
    figure.html(|canvas| patterns::panels(canvas, &panels, &entries, figure.title))
}

fn kind(pattern: &PatternShare) -> &'static str {
    if pattern.is_hierarchical { "hierarchical" } else { "not hierarchical" }
}

fn panel(model: &LadderModel) -> PatternPanel {
    let row = |pattern: &PatternShare| PatternRow {
        right: pattern.right.clone(),
        share: pattern.share,
        paint: if pattern.is_hierarchical { FOLLOWS } else { BREAKS }.into(),
        tip: format!(
            "{}\n{} {}\n{}\nn = {}",
            model.model,
            headline::pattern(&pattern.right),
            kind(pattern),
            Unit::Share.estimate(&pattern.share),
            counted(pattern.share.n, CELLS.0, CELLS.1)
        ),
    };
    let score = headline::hierarchy(model).map(|hierarchy| hierarchy.score.value);
    PatternPanel {
        name: model.model.to_string(),
        note: score
            .map_or_else(String::new, |score| format!("hierarchical {}", Unit::Share.value(score))),
        rows: model.patterns.iter().map(row).collect(),
    }
}
