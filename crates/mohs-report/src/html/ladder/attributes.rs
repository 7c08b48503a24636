//! Attributes and levels: where each model falls, in the form of the published tables.

use mohs_data::Estimate;
use mohs_score::model::hierarchy::{LadderFindings, LadderRow};

use super::super::figure::Plot;
use super::super::long_table;
use super::super::section::Section;
use super::super::sheet::{Cell, Column, Sheet};
use super::{cell, columns_of, headline, on_others};
use crate::chart::grid::{self, Grid, GridCell, Tint};
use crate::number::{Unit, count, fixed};

/// Models in the grid.
const MOST_MODELS: usize = 30;

/// Returns the section, or `None` without attributes.
pub(super) fn section(found: &LadderFindings) -> Option<Section> {
    if found.attributes.is_empty() {
        return None;
    }
    let by_level = |level: usize| move |row: &LadderRow| row.levels.get(level).copied().flatten();
    let mut body = heat(found);
    body += &tinted(found, "Weighted score by attribute", "score", |row| row.score);
    for (level, place) in found.levels.iter().zip(0..) {
        let title = format!("Right answers at level {}", level.name);
        body += &long_table::folded(&title, &table(found, &title, &level.name, by_level(place)));
    }
    let title = "Right answers over all levels";
    body += &long_table::folded(title, &table(found, title, "accuracy", |row| row.accuracy));
    let hierarchy = |row: &LadderRow| Some(row.hierarchy.as_ref()?.score);
    let has_hierarchy = |model: &mohs_score::model::hierarchy::LadderModel| {
        model.attributes.iter().any(|row| row.hierarchy.is_some())
    };
    if found.models.iter().any(has_hierarchy) {
        let title = "Hierarchical learning score by attribute";
        body += &long_table::folded(title, &table(found, title, "hierarchy", hierarchy));
        let excess = |row: &LadderRow| row.hierarchy.as_ref()?.excess;
        let title = "Excess over the baseline by attribute";
        body += &long_table::folded(title, &table(found, title, "excess", excess));
    }
    Some(Section {
        id: "ladder-attributes",
        nav: "Attributes",
        title: "Which attributes bring models down?".into(),
        body,
    })
}

/// Attributes down, models and their levels across: all accuracies at a glance.
fn heat(found: &LadderFindings) -> String {
    let models: Vec<usize> = headline::ranked(found).into_iter().take(MOST_MODELS).collect();
    let n_levels = found.levels.len();
    // One column per model and level as long as numbers can be read, else one per model.
    let is_fine = models.len() * n_levels <= 16;
    let mut cells = Vec::new();
    for (row, attribute) in found.attributes.iter().enumerate() {
        for (place, idx) in models.iter().enumerate() {
            let model = &found.models[*idx];
            let Some(seen) = model.attributes.get(row) else { continue };
            let mut push = |column: usize, what: &str, share: Option<Estimate>| {
                let Some(share) = share else { return };
                cells.push(GridCell {
                    row,
                    column,
                    value: 1.0 - share.value,
                    text: fixed(share.value * 100.0, 0),
                    tip: format!(
                        "{} · {what}\n{}\n{}, n = {}",
                        attribute.name,
                        model.model,
                        Unit::Share.estimate(&share),
                        count(share.n)
                    ),
                    is_marked: false,
                });
            };
            if is_fine {
                for (level, share) in seen.levels.iter().enumerate() {
                    let name = found.levels.get(level).map_or("", |level| level.name.as_str());
                    push(place * n_levels + level, name, *share);
                }
            } else {
                push(place, "weighted score", seen.score);
            }
        }
    }
    let name = |idx: &usize| found.models[*idx].model.to_string();
    let columns: Vec<String> = match is_fine {
        true => models
            .iter()
            .flat_map(|idx| found.levels.iter().map(move |l| format!("{} {}", name(idx), l.name)))
            .collect(),
        false => models.iter().map(name).collect(),
    };
    let grid = Grid {
        rows: found.attributes.iter().map(|attribute| attribute.name.clone()).collect(),
        columns,
        cells,
        tint: Tint::Rising(0.0, 1.0),
        n_letters: 3,
    };
    let what = match is_fine {
        true => "Right answers in percent, models side by side, each from easy to hard",
        false => "Weighted score in percent, most accurate model on the left",
    };
    let plot = Plot {
        id: "ladder-grid",
        title: "Attributes and levels",
        caption: format!("{what}; the deeper the tint, the more are wrong."),
    };
    plot.html(|canvas| grid::cells(canvas, &grid, plot.title))
}

fn tinted(
    found: &LadderFindings,
    title: &'static str,
    key: &str,
    of: impl Fn(&LadderRow) -> Option<Estimate>,
) -> String {
    format!("<h3>{title}</h3>\n{}", table(found, title, key, of))
}

/// Attributes down, models across, one number of each.
fn table(
    found: &LadderFindings,
    title: &str,
    key: &str,
    of: impl Fn(&LadderRow) -> Option<Estimate>,
) -> String {
    let columns = columns_of(found);
    let mut sheet = Sheet::new(vec![
        Column::text("Attribute", "attribute"),
        Column::count("Stimuli", "n_stimuli"),
    ]);
    sheet.is_tinted = true;
    sheet.has_n = false;
    for idx in &columns {
        let name = found.models[*idx].model.to_string();
        let column = Column::named(&name, Unit::Share);
        sheet.columns.push(Column { key: format!("{key}_{name}").into(), ..column });
    }
    let mut push = |name: &str, n: usize, row: &dyn Fn(usize) -> Option<Estimate>| {
        let mut cells = vec![Cell::Text(name.to_owned()), Cell::Count(n)];
        cells.extend(columns.iter().map(|idx| cell(row(*idx).as_ref(), "–")));
        sheet.push(cells);
    };
    for (place, attribute) in found.attributes.iter().enumerate() {
        push(&attribute.name, attribute.n_stimuli, &|idx| {
            found.models[idx].attributes.get(place).and_then(&of)
        });
    }
    push("all", found.n_stimuli, &|idx| of(&found.models[idx].overall));
    format!(
        "<p class=\"lede\">In percent, with {}.{}</p>\n<div class=\"tall stack tinted\">{}</div>\n",
        headline::intervals(found),
        on_others(found, "ladder-tables/levels.csv"),
        sheet.table(title)
    )
}
