//! Accuracy as a condition or a probe changes.

use mohs_score::model::{Axis, ModelFindings};

use super::super::figure::Plot;
use super::super::long_table;
use super::super::section::Section;
use super::super::sheet::{Cell, Column, Sheet};
use super::{intervals, on_colours, paints, tip_line};
use crate::chart::steps::{self, Series, StepPoint, Steps};
use crate::number::Unit;
use crate::standing;

/// Returns the section, or `None` when nothing changes.
pub(super) fn section(found: &ModelFindings) -> Option<Section> {
    if found.axes.is_empty() {
        return None;
    }
    let figures: String =
        found.axes.iter().enumerate().map(|(nth, axis)| figure(found, axis, nth)).collect();
    Some(Section {
        id: "models-conditions",
        nav: "Conditions",
        title: "What changes their accuracy".into(),
        body: figures + &table(found),
    })
}

fn figure(found: &ModelFindings, axis: &Axis, nth: usize) -> String {
    const IDS: [&str; 4] = ["models-axis-1", "models-axis-2", "models-axis-3", "models-axis-4"];
    // Further axes are in the table; a file rarely has more than a probe and a condition.
    let Some(id) = IDS.get(nth) else { return String::new() };
    let paints = paints(found);
    let series: Vec<Series> = standing::on_axis(found, axis)
        .into_iter()
        .map(|idx| {
            let point = |(step, at): (usize, &mohs_score::model::ConditionAccuracy)| {
                let estimate = at.models.get(idx).copied().flatten()?;
                let tip = tip_line(&at.name, Unit::Share, &estimate);
                Some(StepPoint { step, estimate, tip })
            };
            Series {
                name: found.models[idx].model.to_string(),
                paint: paints[idx].clone(),
                points: axis.values.iter().enumerate().filter_map(point).collect(),
            }
        })
        .collect();
    let values: Option<Vec<f64>> = match axis.is_numeric {
        true => axis.values.iter().map(|at| at.value).collect(),
        false => None,
    };
    let steps = Steps {
        names: axis.values.iter().map(|at| at.name.clone()).collect(),
        values,
        title: axis.name.clone(),
        share: "Share of right answers",
    };
    let title = format!("Right answers by {}", axis.name);
    let plot = Plot {
        id,
        title: &title,
        caption: format!(
            "Lines through points are {}.{} Numbers are in the table below.",
            intervals(found),
            on_colours(found)
        ),
    };
    let others = standing::others(&standing::colours(found));
    plot.html(|canvas| steps::over(canvas, &steps, &series, &[], &others, plot.title))
}

fn table(found: &ModelFindings) -> String {
    let mut sheet = Sheet::new(vec![
        Column::text("What changes", "axis"),
        Column::text("Value", "value"),
        Column::text("Model", "model"),
        Column::estimate("Right answers", "accuracy", Unit::Share),
    ]);
    for axis in &found.axes {
        let ranked = standing::on_axis(found, axis);
        for (place, at) in axis.values.iter().enumerate() {
            for idx in &ranked {
                let Some(accuracy) = at.models.get(*idx).copied().flatten() else { continue };
                sheet.push(vec![
                    Cell::Text(axis.name.clone()),
                    match at.value {
                        Some(value) => Cell::Ordered(at.name.clone(), value),
                        None => Cell::Ranked(at.name.clone(), place),
                    },
                    Cell::Text(found.models[*idx].model.to_string()),
                    Cell::Estimate(accuracy),
                ]);
            }
        }
    }
    let names: Vec<&str> = found.axes.iter().map(|axis| axis.name.as_str()).collect();
    long_table::folded(
        &format!("Right answers by {}, in numbers", names.join(" and ")),
        &long_table::table(&sheet, "models-conditions-table", "Right answers by condition"),
    )
}
