//! Accuracy by class and by attribute: where models are worse than elsewhere.

use mohs_score::model::{GroupAccuracy, ModelFindings};

use super::super::figure::Plot;
use super::super::long_table;
use super::super::section::Section;
use super::super::sheet::{Cell, Column, Sheet};
use super::{cell, columns_of};
use crate::chart::grid::{self, Grid, GridCell, Tint};
use crate::escape::esc;
use crate::number::{Unit, count, fixed};
use crate::standing;

/// Rows of the grid; the table has all groups.
const MOST_ROWS: usize = 40;
/// Models in the grid.
const MOST_MODELS: usize = 30;

/// Words that differ between classes and attributes.
struct Words {
    grid_id: &'static str,
    table_id: &'static str,
    grid_title: &'static str,
    head: &'static str,
    file: &'static str,
}

/// Returns the section on classes, or `None` without any.
pub(super) fn labels(found: &ModelFindings) -> Option<Section> {
    let words = Words {
        grid_id: "models-by-class",
        table_id: "models-classes-table",
        grid_title: "Right answers by class",
        head: "Class",
        file: "model-tables/labels.csv",
    };
    let body = body(found, &found.labels, &words)?;
    let title = "Which classes are hard for models?".into();
    Some(Section { id: "models-classes", nav: "Classes", title, body })
}

/// Returns the section on attributes, or `None` without any.
pub(super) fn attributes(found: &ModelFindings) -> Option<Section> {
    let words = Words {
        grid_id: "models-by-attribute",
        table_id: "models-attributes-table",
        grid_title: "Right answers by attribute",
        head: "Attribute",
        file: "model-tables/attributes.csv",
    };
    let body = body(found, &found.attributes, &words)?;
    let title = "Which attributes are hard for models?".into();
    Some(Section { id: "models-attributes", nav: "Attributes", title, body })
}

fn body(found: &ModelFindings, groups: &[GroupAccuracy], words: &Words) -> Option<String> {
    if groups.is_empty() {
        return None;
    }
    // The hardest for models first.
    let mut sorted: Vec<&GroupAccuracy> = groups.iter().collect();
    sorted.sort_by(|a, b| mean(a).total_cmp(&mean(b)));
    Some(heat(found, &sorted, words) + &table(found, &sorted, words))
}

#[expect(clippy::cast_precision_loss, reason = "there are far fewer than 2^52 models")]
fn mean(group: &GroupAccuracy) -> f64 {
    let known: Vec<f64> = group.models.iter().flatten().map(|e| e.value).collect();
    known.iter().sum::<f64>() / known.len().max(1) as f64
}

fn name(group: &GroupAccuracy) -> String {
    match &group.level {
        Some(level) => format!("{} · {level}", group.name),
        None => group.name.clone(),
    }
}

/// Returns whether a model is worse in a group than elsewhere, after correction.
fn is_worse(found: &ModelFindings, group: &GroupAccuracy, idx: usize) -> bool {
    let p = group.p_worse_bh.get(idx).copied().flatten();
    p.is_some_and(|p| p < standing::level(found))
}

fn n_worse(found: &ModelFindings, group: &GroupAccuracy) -> usize {
    (0..found.models.len()).filter(|idx| is_worse(found, group, *idx)).count()
}

fn heat(found: &ModelFindings, groups: &[&GroupAccuracy], words: &Words) -> String {
    let models: Vec<usize> = standing::ranked(found).into_iter().take(MOST_MODELS).collect();
    let shown: Vec<&GroupAccuracy> = groups.iter().copied().take(MOST_ROWS).collect();
    let mut cells = Vec::new();
    let mut least = 1.0_f64;
    for (row, group) in shown.iter().enumerate() {
        for (column, idx) in models.iter().enumerate() {
            let Some(accuracy) = group.models.get(*idx).copied().flatten() else { continue };
            least = least.min(accuracy.value);
            let worse = is_worse(found, group, *idx);
            cells.push(GridCell {
                row,
                column,
                value: 1.0 - accuracy.value,
                text: fixed(accuracy.value * 100.0, 0),
                tip: format!(
                    "{} · {}\n{} right, n = {}{}",
                    name(group),
                    found.models[*idx].model,
                    Unit::Share.estimate(&accuracy),
                    count(accuracy.n),
                    if worse { "\nworse than on the other stimuli" } else { "" }
                ),
                is_marked: worse,
            });
        }
    }
    let grid = Grid {
        rows: shown.iter().map(|group| name(group)).collect(),
        columns: models.iter().map(|idx| found.models[*idx].model.to_string()).collect(),
        cells,
        tint: Tint::Rising(0.0, (1.0 - least).max(0.2)),
        n_letters: 3,
    };
    let mut cut = String::new();
    if shown.len() < groups.len() {
        cut += &format!(" Shown are the {MOST_ROWS} hardest of {}.", count(groups.len()));
    }
    if models.len() < standing::ranked(found).len() {
        cut += &format!(" Shown are the {MOST_MODELS} best models.");
    }
    let plot = Plot {
        id: words.grid_id,
        title: words.grid_title,
        caption: format!(
            "Right answers in percent, best model on the left, hardest on top; the deeper the tint, \
             the more are wrong. A dot says that the model is worse there than on the other stimuli, \
             corrected over all of them (Benjamini and Hochberg).{cut}"
        ),
    };
    plot.html(|canvas| grid::cells(canvas, &grid, plot.title))
}

fn table(found: &ModelFindings, groups: &[&GroupAccuracy], words: &Words) -> String {
    let columns = columns_of(found);
    let mut sheet = Sheet::new(vec![
        Column::text(words.head, "name"),
        Column::count("Stimuli", "n_stimuli"),
        Column::count("Worse here", "n_models_worse"),
    ]);
    for idx in &columns {
        sheet.columns.push(Column::named(found.models[*idx].model.as_str(), Unit::Share));
    }
    for group in groups {
        let mut cells = vec![
            Cell::Text(name(group)),
            Cell::Count(group.n_stimuli),
            Cell::Count(n_worse(found, group)),
        ];
        for idx in &columns {
            cells.push(cell(group.models.get(*idx).and_then(Option::as_ref), "no answers"));
        }
        sheet.push(cells);
    }
    let all = match columns.len() < standing::ranked(found).len() {
        true => format!(
            "<p class=\"lede\"><i>Worse here</i> counts models that are worse than on the other stimuli. \
             Some of the models; all are in <code>{}</code>.</p>\n",
            esc(words.file)
        ),
        false => String::new(),
    };
    let table = long_table::table(&sheet, words.table_id, words.grid_title);
    long_table::folded(
        &format!("{}, in numbers", words.grid_title),
        &format!("{all}<div class=\"stack\">{table}</div>\n"),
    )
}
