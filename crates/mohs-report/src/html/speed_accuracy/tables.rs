//! The tables of the speed–accuracy chapter: fits, differences, ceilings, participants.

use mohs_data::Estimate;
use mohs_score::human::speed_accuracy::steepness::Scaling;
use mohs_score::human::speed_accuracy::{Curve, SpeedAccuracy};

use crate::html::section::Section;
use crate::html::sheet::{Cell, Column, Sheet};
use crate::number::{Unit, counted};

/// Factor that brings curvature in 1/ms to readable numbers.
const PER_MILLION: f64 = 1e6;

/// Returns what to call a curve.
pub(super) fn name(curve: &Curve) -> String {
    if curve.condition.is_empty() { "all conditions".into() } else { curve.condition.clone() }
}

fn or_missing(estimate: Option<Estimate>, why: &'static str) -> Cell {
    estimate.map_or(Cell::Missing(why), Cell::Estimate)
}

const NO_FIT: &str = "too few blocks";

/// Returns the numbers of a curve's fit; `unit` is what the asymptote is without one.
fn fit_cells(curve: &Curve, scaling: Scaling) -> Vec<Cell> {
    let fit = curve.fit.as_ref();
    let asymptote = match fit {
        Some(fit) => or_missing(fit.asymptote, "fixed at 100 %"),
        None => Cell::Missing(NO_FIT),
    };
    let factor = if scaling == Scaling::Paper { PER_MILLION } else { 1.0 };
    let steepness = curve.steepness.map(|steepness| steepness.scaled(factor));
    vec![
        or_missing(fit.map(|fit| fit.scale_ms), NO_FIT),
        or_missing(fit.map(|fit| fit.shape), NO_FIT),
        asymptote,
        or_missing(steepness, NO_FIT),
    ]
}

fn fit_columns(first: Column, scaling: Scaling) -> Vec<Column> {
    let steepness = match scaling {
        Scaling::Normalised => Column::estimate("Steepness", "steepness", Unit::Plain),
        Scaling::Paper => {
            Column::estimate("Steepness, × 10⁻⁶ per ms", "steepness_per_million", Unit::Plain)
        }
    };
    vec![
        first,
        Column::estimate("Scale", "scale", Unit::Time),
        Column::estimate("Shape", "shape", Unit::Plain),
        Column::estimate("Asymptote", "asymptote", Unit::Share),
        steepness,
    ]
}

pub(super) fn fits(found: &SpeedAccuracy) -> Section {
    let scaling = found.method.scaling;
    let mut sheet = Sheet::new(fit_columns(Column::text("Curve", "condition"), scaling));
    for curve in std::iter::once(&found.average).chain(&found.conditions) {
        let mut cells = vec![Cell::Text(name(curve))];
        cells.extend(fit_cells(curve, scaling));
        sheet.push(cells);
    }
    let axes = match scaling {
        Scaling::Normalised => {
            "with time scaled to run from 0 at the first block to 1 at the last, so that it does \
             not hang on the unit of time"
        }
        Scaling::Paper => "as printed in the paper, in 1/ms and off a curve from 0 to 1",
    };
    Section {
        id: "speed-accuracy-fits",
        nav: "Fits",
        title: "Fitted curves and their steepness".into(),
        body: format!(
            "<p class=\"lede\"><i>Scale</i> is the time by which 63 % of the rise is done, \
             <i>shape</i> says how sudden it is, the <i>asymptote</i> is accuracy with all the time \
             in the world. <i>Steepness</i> is the mean curvature, {axes}. \
             n&#160;=&#160;participants.</p>\n<div class=\"stack\">{}</div>\n",
            sheet.table("Fitted curves")
        ),
    }
}

/// Returns how far apart the conditions lie; empty with fewer than two.
pub(super) fn differences(found: &SpeedAccuracy) -> String {
    if found.differences.is_empty() {
        return String::new();
    }
    let mut sheet = Sheet::new(vec![
        Column::text("One", "a"),
        Column::text("The other", "b"),
        Column::estimate("Distance (RMSE)", "rmse", Unit::Share),
        Column::estimate("First less second", "mean_difference", Unit::Share),
        Column::count("Blocks", "n_blocks"),
    ]);
    for difference in &found.differences {
        sheet.push(vec![
            Cell::Text(difference.a.clone()),
            Cell::Text(difference.b.clone()),
            Cell::Estimate(difference.rmse),
            Cell::Estimate(difference.mean_difference),
            Cell::Count(difference.n_blocks),
        ]);
    }
    format!(
        "<h3>How far apart the conditions lie</h3>\n<p class=\"lede\">Over the blocks both have, in \
         points of accuracy. A distance is never below 0 and chance alone makes it larger; the mean \
         difference has no such bias.</p>\n{}",
        sheet.table("Differences between conditions")
    )
}

pub(super) fn ceilings(found: &SpeedAccuracy) -> Section {
    let mut sheet = Sheet::new(vec![
        Column::text("Condition", "condition"),
        Column::estimate("RMSE, average of all", "rmse_average", Unit::Share),
        Column::estimate("RMSE, average of the others", "rmse_left_out", Unit::Share),
        Column::estimate("ρ, average of all", "spearman_average", Unit::Plain),
        Column::estimate("ρ, average of the others", "spearman_left_out", Unit::Plain),
    ]);
    let why = "too few people or blocks";
    for ceiling in &found.ceilings {
        let name = match ceiling.condition.as_str() {
            "" => "all conditions",
            name => name,
        };
        sheet.push(vec![
            Cell::Text(name.into()),
            or_missing(ceiling.rmse_average, why),
            or_missing(ceiling.rmse_left_out, why),
            or_missing(ceiling.spearman_average, why),
            or_missing(ceiling.spearman_left_out, why),
        ]);
    }
    Section {
        id: "speed-accuracy-ceilings",
        nav: "Ceilings",
        title: "How well the average speaks for one person".into(),
        body: format!(
            "<p class=\"lede\">What a model of people can be expected to reach: the distance of an \
             average curve from each participant’s (RMSE, lower is closer), and Spearman’s ρ over \
             categories and blocks. The average of all holds the participant too, as in the paper, \
             and so flatters; the average of the others does not. Means over participants.</p>\n\
             <div class=\"stack\">{}</div>\n",
            sheet.table("Noise ceilings")
        ),
    }
}

pub(super) fn participants(found: &SpeedAccuracy) -> Section {
    let scaling = found.method.scaling;
    let mut columns = fit_columns(Column::text("Participant", "participant"), scaling);
    columns.insert(1, Column::estimate("First block", "accuracy_first", Unit::Share));
    columns.insert(2, Column::estimate("Last block", "accuracy_last", Unit::Share));
    columns.push(Column::estimate("RMSE to the others", "rmse_to_others", Unit::Share));
    let mut sheet = Sheet::new(columns);
    for person in &found.participants {
        let block = |beep| {
            let point = person.all.points.iter().find(|point| Some(&point.beep) == beep);
            or_missing(point.map(|point| point.accuracy), "no trials")
        };
        let mut cells = vec![
            Cell::Text(person.participant.to_string()),
            block(found.beeps.first()),
            block(found.beeps.last()),
        ];
        cells.extend(fit_cells(&person.all, scaling));
        cells.push(or_missing(person.rmse_to_others, "nobody else"));
        sheet.push(cells);
    }
    Section {
        id: "speed-accuracy-participants",
        nav: "Participants",
        title: "Participants".into(),
        body: format!(
            "<p class=\"lede\">{} with trials that count, over all conditions. Intervals redraw the \
             participant’s own answers; n&#160;=&#160;trials. A shape or scale whose interval spans \
             a wide range says that the blocks do not tell.</p>\n\
             <div class=\"tall stack\">{}</div>\n",
            counted(found.participants.len(), "participant", "participants"),
            sheet.table("Participants")
        ),
    }
}
