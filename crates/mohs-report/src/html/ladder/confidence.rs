//! Confidence by level: is a model less sure where stimuli are harder?

use mohs_score::model::hierarchy::{LadderFindings, LevelConfidence};

use super::super::figure::Figure;
use super::super::section::Section;
use super::super::sheet::{Cell, Column, Sheet};
use super::{columns_of, headline, on_others, paints};
use crate::chart::paint;
use crate::chart::spans::{self, SpanRow};
use crate::number::{Unit, counted};

/// Returns the section, or `None` without confidences.
pub(super) fn section(found: &LadderFindings) -> Option<Section> {
    if found.models.iter().all(|model| model.confidence.iter().all(Option::is_none)) {
        return None;
    }
    Some(Section {
        id: "ladder-confidence",
        nav: "Confidence",
        title: "Are models less sure of harder stimuli?".into(),
        body: figure(found),
    })
}

fn figure(found: &LadderFindings) -> String {
    let mut sheet = Sheet::new(vec![
        Column::text("Model", "model"),
        Column::text("Level", "level"),
        Column::estimate("Mean confidence", "mean", Unit::Share),
        Column::count("Right", "n_right"),
        Column::count("Wrong", "n_wrong"),
        Column::number("Median, right", "median_right"),
        Column::number("Median, wrong", "median_wrong"),
        Column::number("5 %", "p05"),
        Column::number("25 %", "p25"),
        Column::number("Median", "median"),
        Column::number("75 %", "p75"),
        Column::number("95 %", "p95"),
    ]);
    let share = |value: f64| Cell::Ordered(Unit::Share.value(value), value);
    let mut rows = Vec::new();
    let paints = paints(found);
    let shown = columns_of(found);
    for idx in headline::ranked(found) {
        let model = &found.models[idx];
        for (place, seen) in model.confidence.iter().enumerate() {
            let Some(level) = found.levels.get(place) else { continue };
            let Some(seen) = seen else { continue };
            let mut cells = vec![
                Cell::Text(model.model.to_string()),
                Cell::Ranked(level.name.clone(), place),
                Cell::Estimate(seen.mean),
                Cell::Count(seen.n_right),
                Cell::Count(seen.n_wrong),
            ];
            for median in [seen.median_right, seen.median_wrong] {
                cells.push(median.map_or(Cell::Missing("none"), share));
            }
            cells.extend(seen.percentiles.map(share));
            sheet.push(cells);
            if shown.contains(&idx) {
                rows.push(SpanRow {
                    name: format!("{} · {}", level.name, model.model),
                    note: right(seen),
                    percentiles: seen.percentiles,
                    paint: paints[idx].clone().unwrap_or_else(|| paint::ACCENT.into()),
                    tip: tip(&format!("{} · {}", model.model, level.name), seen),
                });
            }
        }
    }
    let figure = Figure {
        id: "ladder-confidences",
        title: "Confidence by level",
        caption: format!(
            "How sure models are of their first answer: the middle half of the answers as a bar, nine \
             tenths as a line, the median as a dot; on the right the share of right answers.{}",
            on_others(found, "ladder-tables/confidence.csv")
        ),
        sheet,
    };
    figure.html(|canvas| spans::shares(canvas, &rows, "Confidence", figure.title))
}

#[expect(clippy::cast_precision_loss, reason = "counts of answers")]
fn right(seen: &LevelConfidence) -> String {
    let n = (seen.n_right + seen.n_wrong).max(1) as f64;
    format!("{:.0} %", seen.n_right as f64 / n * 100.0)
}

fn tip(name: &str, seen: &LevelConfidence) -> String {
    let median = |median: Option<f64>| median.map_or("–".into(), |at| Unit::Share.value(at));
    format!(
        "{name}\nmean {}\nmedian of right answers {}, of wrong ones {}\nn = {}",
        Unit::Share.estimate(&seen.mean),
        median(seen.median_right),
        median(seen.median_wrong),
        counted(seen.mean.n, "answer", "answers")
    )
}
