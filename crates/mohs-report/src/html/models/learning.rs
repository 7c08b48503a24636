//! How early in training stimuli are learned.

use std::collections::BTreeSet;

use mohs_score::model::ModelFindings;

use super::super::figure::Plot;
use super::super::section::Section;
use super::super::sheet::{Cell, Column, Sheet};
use super::{cell, intervals, tip_line};
use crate::chart::paint;
use crate::chart::steps::{self, Series, StepPoint, Steps};
use crate::number::{Unit, count, counted, round_number};
use crate::standing::MOST_COLOURS;

/// Returns the section, or `None` without epochs.
pub(super) fn section(found: &ModelFindings) -> Option<Section> {
    if found.learning.is_empty() {
        return None;
    }
    let by_band = if found.bands.is_empty() { String::new() } else { by_band(found) };
    Some(Section {
        id: "models-learning",
        nav: "Learning",
        title: "How early stimuli are learned".into(),
        body: by_epoch(found) + &by_band + &table(found),
    })
}

/// Returns the colour of a model in the order of this section.
fn colour(idx: usize) -> Option<String> {
    (idx < MOST_COLOURS).then(|| paint::set(idx))
}

fn others(found: &ModelFindings) -> String {
    counted(found.learning.len().saturating_sub(MOST_COLOURS), "other model", "other models")
}

fn by_epoch(found: &ModelFindings) -> String {
    let epochs: BTreeSet<u64> = found
        .learning
        .iter()
        .flat_map(|model| &model.by_epoch)
        .map(|(epoch, _)| epoch.max(0.0).to_bits())
        .collect();
    // Bits of numbers that are not below zero are in the order of the numbers.
    let epochs: Vec<f64> = epochs.into_iter().map(f64::from_bits).collect();
    let series: Vec<Series> = found
        .learning
        .iter()
        .enumerate()
        .map(|(idx, model)| {
            let point = |(epoch, accuracy): &(f64, mohs_data::Estimate)| {
                let step =
                    epochs.iter().position(|other| other.to_bits() == epoch.max(0.0).to_bits())?;
                let name = format!("epoch {}", round_number(*epoch));
                let tip = tip_line(&name, Unit::Share, accuracy);
                Some(StepPoint { step, estimate: *accuracy, tip })
            };
            Series {
                name: model.model.to_string(),
                paint: colour(idx),
                points: model.by_epoch.iter().filter_map(point).collect(),
            }
        })
        .collect();
    let steps = Steps {
        names: epochs.iter().map(|epoch| round_number(*epoch)).collect(),
        values: Some(epochs.clone()),
        title: "Epoch".into(),
        share: "Share of right answers",
    };
    let plot = Plot {
        id: "models-epochs",
        title: "Right answers by epoch",
        caption: format!(
            "On stimuli with an answer in every epoch. Lines through points are {} over stimuli; \
             another training would give other curves.",
            intervals(found)
        ),
    };
    plot.html(|canvas| steps::over(canvas, &steps, &series, &[], &others(found), plot.title))
}

fn by_band(found: &ModelFindings) -> String {
    let series: Vec<Series> = found
        .learning
        .iter()
        .enumerate()
        .map(|(idx, model)| {
            let point = |(step, share): (usize, &Option<mohs_data::Estimate>)| {
                let (share, band) = ((*share)?, found.bands.get(step)?);
                let tip = tip_line(&band.name, Unit::Share, &share);
                Some(StepPoint { step, estimate: share, tip })
            };
            Series {
                name: model.model.to_string(),
                paint: colour(idx),
                points: model.bands.iter().enumerate().filter_map(point).collect(),
            }
        })
        .collect();
    let steps = Steps {
        names: found.bands.iter().map(|band| band.name.clone()).collect(),
        values: None,
        title: "Difficulty for people, easy to hard".into(),
        share: "Share of epochs right",
    };
    let plot = Plot {
        id: "models-learning-by-band",
        title: "Learning speed by difficulty",
        caption: format!(
            "Share of epochs in which a stimulus is right, mean over the stimuli of a band: the \
             higher, the earlier it is learned and the better it is kept. Lines through points are \
             {}.",
            intervals(found)
        ),
    };
    plot.html(|canvas| steps::over(canvas, &steps, &series, &[], &others(found), plot.title))
}

fn table(found: &ModelFindings) -> String {
    let mut sheet = Sheet::new(vec![
        Column::text("Model", "model"),
        Column::count("Epochs", "n_epochs"),
        Column::estimate("Share of epochs right", "mean", Unit::Share),
        Column::estimate("ρ with difficulty", "difficulty_correlation", Unit::Plain),
    ]);
    for band in &found.bands {
        sheet.columns.push(Column::named(&band.name, Unit::Share));
    }
    for model in &found.learning {
        let mut cells = vec![
            Cell::Text(model.model.to_string()),
            Cell::Count(model.n_epochs),
            Cell::Estimate(model.mean),
            cell(model.difficulty_correlation.as_ref(), "no difficulty"),
        ];
        cells.extend(model.bands.iter().map(|share| cell(share.as_ref(), "no stimuli")));
        sheet.push(cells);
    }
    let n = found.learning.iter().map(|model| model.n_stimuli).max().unwrap_or(0);
    format!(
        "<h3>Learning speed</h3>\n<p class=\"lede\">Of up to {} stimuli. A negative ρ says that what \
         people find hard is learned late.</p>\n<div class=\"stack\">{}</div>\n",
        count(n),
        sheet.table("Learning speed")
    )
}
