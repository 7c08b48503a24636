//! Do models err on the same stimuli, as each other and as people?

use mohs_score::model::ModelFindings;

use super::super::figure::{Figure, Plot};
use super::super::long_table;
use super::super::section::Section;
use super::super::sheet::{Cell, Column, Sheet};
use super::{cell, intervals};
use crate::chart::bounded_dots::{self, BoundedRow};
use crate::chart::grid::{self, Grid, GridCell, Tint};
use crate::escape::esc;
use crate::number::{Unit, count, counted, fixed};
use crate::standing;

/// Models in the grid; more cannot be read.
const MOST_IN_GRID: usize = 30;

/// Returns the section, or `None` without anything to compare.
pub(super) fn section(found: &ModelFindings) -> Option<Section> {
    if found.consistency.is_empty() && found.with_people.is_empty() {
        return None;
    }
    Some(Section {
        id: "models-consistency",
        nav: "Errors alike",
        title: "Do they err on the same stimuli?".into(),
        body: people(found) + &pairs(found),
    })
}

fn people(found: &ModelFindings) -> String {
    if found.with_people.is_empty() {
        return String::new();
    }
    let mut sheet = Sheet::new(vec![
        Column::text("Model", "model"),
        Column::count("People", "n_participants"),
        Column::estimate("Error consistency", "error_consistency", Unit::Plain),
        Column::estimate("Attainable maximum", "attainable_maximum", Unit::Plain),
        Column::estimate("Both right or both wrong", "observed_consistency", Unit::Share),
        Column::estimate("People with people", "ceiling", Unit::Plain),
    ]);
    let mut seen: Vec<_> = found.with_people.iter().collect();
    seen.sort_by(|a, b| {
        let kappa =
            |of: &&mohs_score::model::PeopleConsistency| of.consistency.error_consistency.value;
        kappa(b).total_cmp(&kappa(a))
    });
    let mut rows: Vec<BoundedRow> = Vec::new();
    let ceiling = seen.iter().find_map(|model| model.ceiling.as_ref());
    if let Some(ceiling) = ceiling {
        rows.push(row("people with people", ceiling, 0, false));
    }
    for model in seen {
        let consistency = &model.consistency;
        sheet.push(vec![
            Cell::Text(model.model.to_string()),
            Cell::Count(model.n_participants),
            Cell::Estimate(consistency.error_consistency),
            Cell::Estimate(consistency.attainable_maximum),
            Cell::Estimate(consistency.observed_consistency),
            cell(model.ceiling.as_ref().map(|c| &c.error_consistency), "one person only"),
        ]);
        rows.push(row(model.model.as_str(), consistency, 1, rows.len() == 1 && ceiling.is_some()));
    }
    let series = ["people with people", "a model with people"];
    let figure = Figure {
        id: "models-with-people",
        title: "Do models err like people?",
        caption: format!(
            "Error consistency: 0 means that a model and people share errors only as often as their \
             accuracies explain, 1 that they err on the very same stimuli. The grey tick is the \
             most that is possible with these accuracies. People with people rests on all stimuli \
             that people saw. Lines are {}; the number on the right is n&#160;=&#160;stimuli.",
            intervals(found)
        ),
        sheet,
    };
    figure.html(|canvas| {
        bounded_dots::rows(canvas, &rows, &series, "most that is attainable", figure.title)
    })
}

fn row(
    name: &str,
    consistency: &mohs_score::human::agreement::Consistency,
    series_idx: usize,
    is_apart: bool,
) -> BoundedRow {
    let kappa = consistency.error_consistency;
    BoundedRow {
        name: name.to_owned(),
        note: count(kappa.n),
        estimate: kappa,
        most: consistency.attainable_maximum.value,
        series_idx,
        tip: format!(
            "{name}\nerror consistency {}\nat most {}\nn = {}",
            Unit::Plain.estimate(&kappa),
            fixed(consistency.attainable_maximum.value, 2),
            counted(kappa.n, "stimulus", "stimuli")
        ),
        is_apart,
    }
}

fn pairs(found: &ModelFindings) -> String {
    if found.consistency.is_empty() {
        return String::new();
    }
    let mut sheet = Sheet::new(vec![
        Column::text("First", "first"),
        Column::text("Second", "second"),
        Column::estimate("Error consistency", "error_consistency", Unit::Plain),
        Column::estimate("At most", "attainable_maximum", Unit::Plain),
        Column::estimate("Both right or wrong", "observed_consistency", Unit::Share),
        Column::estimate("By chance", "expected_consistency", Unit::Share),
    ]);
    for pair in &found.consistency {
        sheet.push(vec![
            Cell::Text(pair.first.to_string()),
            Cell::Text(pair.second.to_string()),
            Cell::Estimate(pair.consistency.error_consistency),
            Cell::Estimate(pair.consistency.attainable_maximum),
            Cell::Estimate(pair.consistency.observed_consistency),
            Cell::Estimate(pair.consistency.expected_consistency),
        ]);
    }
    let table =
        long_table::table(&sheet, "models-consistency-table", "Error consistency of models");
    heat(found)
        + &long_table::folded(
            "Error consistency of all pairs",
            &format!("<div class=\"stack\">{table}</div>\n"),
        )
}

fn heat(found: &ModelFindings) -> String {
    if standing::ranked(found).len() < 3 {
        return String::new();
    }
    let shown: Vec<usize> = standing::ranked(found).into_iter().take(MOST_IN_GRID).collect();
    let place = |name: &mohs_data::ModelName| {
        shown.iter().position(|idx| found.models[*idx].model == *name)
    };
    let mut cells = Vec::new();
    let (mut least, mut most) = (f64::INFINITY, f64::NEG_INFINITY);
    for pair in &found.consistency {
        let (Some(one), Some(other)) = (place(&pair.first), place(&pair.second)) else { continue };
        let kappa = pair.consistency.error_consistency;
        (least, most) = (least.min(kappa.value), most.max(kappa.value));
        cells.push(GridCell {
            row: one.max(other) - 1,
            column: one.min(other),
            value: kappa.value,
            text: fixed(kappa.value, 2),
            tip: format!(
                "{} and {}\nerror consistency {}\nat most {}, n = {}",
                pair.first,
                pair.second,
                Unit::Plain.estimate(&kappa),
                fixed(pair.consistency.attainable_maximum.value, 2),
                count(pair.n_stimuli)
            ),
            is_marked: false,
        });
    }
    // Tints run over the numbers there are, but never make a small spread look large.
    let from = least.clamp(0.0, 0.9).min((most - 0.2).max(0.0));
    let name = |idx: &usize| found.models[*idx].model.to_string();
    let grid = Grid {
        rows: shown.iter().skip(1).map(name).collect(),
        columns: shown.iter().take(shown.len().saturating_sub(1)).map(name).collect(),
        cells,
        tint: Tint::Rising(from, most.max(from + 0.2)),
        n_letters: 4,
    };
    let cut = match found.models.len().saturating_sub(MOST_IN_GRID) {
        0 => String::new(),
        rest => format!(" Shown are the {MOST_IN_GRID} best models; {rest} more are in the table."),
    };
    let plot = Plot {
        id: "models-consistency-grid",
        title: "Do models err like each other?",
        caption: format!(
            "Error consistency of each pair of models, best model first; deeper is more alike. {} \
             are in the tips and in the table.{cut}",
            esc(&intervals(found))
        ),
    };
    plot.html(|canvas| grid::cells(canvas, &grid, plot.title))
}
