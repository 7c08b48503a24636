//! Models side by side: right answers before any attack, and what one gains on another under it.

use mohs_score::model::robustness::{AttackFindings, AttackTable, GainComparison};

use super::super::figure::Plot;
use super::super::section::Section;
use super::super::sheet::{Cell, Column, Sheet};
use super::{cell, tip_line};
use crate::chart::paint;
use crate::chart::steps::{self, Series, StepPoint, Steps};
use crate::escape::esc;
use crate::headline::attacks as headline;
use crate::number::{Unit, counted};
use crate::standing::MOST_COLOURS;

pub(super) fn section(found: &AttackFindings) -> Section {
    let gains: String = found
        .tables
        .iter()
        .filter(|table| headline::is_main(table) && !table.comparisons.is_empty())
        .map(|table| gains(found, table))
        .collect();
    let several = 1 < found.models.len();
    Section {
        id: "attacks-models",
        nav: if several { "Models" } else { "Before" },
        title: match several {
            true => "Models side by side".into(),
            false => "Before any attack".into(),
        },
        body: chart(found) + &clean(found) + &differences(found) + &gains,
    }
}

/// Right answers before any attack, by band.
fn chart(found: &AttackFindings) -> String {
    if found.bands.len() < 2 {
        return String::new();
    }
    let series: Vec<Series> = found
        .models
        .iter()
        .enumerate()
        .map(|(idx, model)| {
            let points = model.clean_by_band.iter().zip(&found.bands).enumerate();
            let points = points.filter_map(|(step, (share, band))| {
                let estimate = share.as_ref()?.clustered;
                let name = format!("{}, {}", model.model, band.name);
                Some(StepPoint { step, estimate, tip: tip_line(&name, Unit::Share, &estimate) })
            });
            Series {
                name: model.model.to_string(),
                paint: (idx < MOST_COLOURS).then(|| paint::set(idx)),
                points: points.collect(),
            }
        })
        .collect();
    let steps = Steps {
        names: found.bands.iter().map(|band| band.name.clone()).collect(),
        values: None,
        title: "Difficulty for people, easy to hard".into(),
        share: "Share of right answers",
    };
    let plot = Plot {
        id: "attacks-clean-by-band",
        title: "Right answers before any attack",
        caption: format!("Lines through points are {}.", headline::intervals(found)),
    };
    let others = found.models.len().saturating_sub(MOST_COLOURS);
    let others = counted(others, "other model", "other models");
    plot.html(|canvas| steps::over(canvas, &steps, &series, &[], &others, plot.title))
}

fn clean(found: &AttackFindings) -> String {
    let mut columns =
        vec![Column::text("Model", "model"), Column::estimate("All stimuli", "clean", Unit::Share)];
    columns.extend(found.bands.iter().map(|band| Column::named(&band.name, Unit::Share)));
    let mut sheet = Sheet::new(columns);
    for model in &found.models {
        let share = |share: Option<&mohs_score::model::BandAccuracy>| {
            cell(share.map(|share| &share.clustered), "no answers")
        };
        let mut cells = vec![Cell::Text(model.model.to_string()), share(model.clean.as_ref())];
        cells.extend(model.clean_by_band.iter().map(|band| share(band.as_ref())));
        sheet.push(cells);
    }
    let title = match found.bands.len() {
        0 | 1 => "Right answers before any attack",
        _ => "Right answers, in numbers",
    };
    format!(
        "<h3>{title}</h3>\n<div class=\"stack deep short-table\">{}</div>\n",
        sheet.table("Right answers before any attack")
    )
}

fn differences(found: &AttackFindings) -> String {
    if found.clean_comparisons.is_empty() {
        return String::new();
    }
    let mut columns = vec![
        Column::text("Model", "second"),
        Column::estimate("All stimuli", "difference", Unit::Points),
    ];
    columns.extend(found.bands.iter().map(|band| Column::named(&band.name, Unit::Points)));
    columns.push(Column::estimate("Easiest − hardest", "easy_minus_hard", Unit::Points));
    let mut sheet = Sheet::new(columns);
    for pair in &found.clean_comparisons {
        let why = "no shared stimuli";
        let mut cells = vec![Cell::Text(pair.second.to_string()), cell(pair.overall.as_ref(), why)];
        cells.extend(pair.bands.iter().map(|band| cell(band.as_ref(), why)));
        cells.resize(2 + found.bands.len(), Cell::Missing(why));
        cells.push(cell(pair.easy_minus_hard.as_ref(), "too few bands"));
        sheet.push(cells);
    }
    let first = found.models.first().map(|model| model.model.as_str()).unwrap_or_default();
    format!(
        "<h3>Against {}, in points</h3>\n<p class=\"lede\">Right answers of the model minus those of \
         {}, on stimuli that both answered. Below 0 on hard stimuli and not on easy ones: what the \
         defence costs is paid on hard stimuli.</p>\n<div class=\"stack deep short-table\">{}</div>\n",
        esc(first),
        esc(first),
        sheet.table("Differences of right answers before any attack")
    )
}

fn gains(found: &AttackFindings, table: &AttackTable) -> String {
    let mut columns = vec![Column::text("Attack", "attack")];
    let is_one = found.models.len() <= 2;
    if !is_one {
        columns.push(Column::text("Model", "second"));
    }
    columns.push(Column::estimate("All stimuli", "gain", Unit::Epsilon));
    columns.extend(found.bands.iter().map(|band| Column::named(&band.name, Unit::Epsilon)));
    columns.push(Column::estimate("Easiest − hardest", "easy_minus_hard", Unit::Epsilon));
    let mut sheet = Sheet::new(columns);
    for gain in &table.comparisons {
        sheet.push(row(gain, is_one, sheet.columns.len()));
    }
    let first = table.comparisons.first().map(|gain| gain.first.as_str()).unwrap_or_default();
    let second = match table.comparisons.first() {
        Some(gain) if is_one => esc(gain.second.as_str()),
        _ => "each model".into(),
    };
    format!(
        "<h3>Gain under attack: {}</h3>\n<p class=\"lede\">Area under the curve of {second} minus \
         that of {}, up to ε {}, on the same stimuli: those that both get right before the attack. \
         <i>Easiest − hardest</i> above 0 says that more is gained on easy stimuli.</p>\n\
         <div class=\"stack deep short-table\">{}</div>\n",
        headline::about(table),
        esc(first),
        Unit::Epsilon.value(table.horizon),
        sheet.table("Gains under attack")
    )
}

fn row(gain: &GainComparison, is_one: bool, n_columns: usize) -> Vec<Cell> {
    let why = "no shared stimuli";
    let mut cells = vec![Cell::Text(gain.attack.clone())];
    if !is_one {
        cells.push(Cell::Text(gain.second.to_string()));
    }
    cells.push(cell(gain.overall.as_ref(), why));
    cells.extend(gain.bands.iter().map(|band| cell(band.as_ref(), why)));
    cells.resize(n_columns - 1, Cell::Missing(why));
    cells.push(cell(gain.easy_minus_hard.as_ref(), "too few bands"));
    cells
}
