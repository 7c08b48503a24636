//! How far confidence can be believed: reliability diagrams, and the numbers by band.

use mohs_score::model::{Calibration, ModelFindings};

use super::super::figure::Plot;
use super::super::long_table;
use super::super::section::Section;
use super::super::sheet::{Cell, Column, Sheet};
use super::intervals;
use crate::chart::reliability::{self, Bin, Panel};
use crate::number::{Unit, counted, fixed};
use crate::standing;

/// Diagrams drawn; the numbers of all models stand in the table.
const MOST_PANELS: usize = 12;

/// Returns the section, or `None` without confidences.
pub(super) fn section(found: &ModelFindings) -> Option<Section> {
    let ranked = standing::ranked(found);
    let seen: Vec<(usize, &Calibration)> = ranked
        .into_iter()
        .filter_map(|idx| Some((idx, found.models[idx].calibration.as_ref()?)))
        .collect();
    if seen.is_empty() {
        return None;
    }
    Some(Section {
        id: "models-calibration",
        nav: "Calibration",
        title: "Can their confidence be believed?".into(),
        body: diagrams(found, &seen) + &table(found, &seen),
    })
}

fn diagrams(found: &ModelFindings, seen: &[(usize, &Calibration)]) -> String {
    let bin = |bin: &mohs_score::model::CalibrationBin| Bin {
        confidence: bin.confidence,
        accuracy: bin.accuracy,
        tip: format!(
            "mean confidence {}\nright {}\nn = {}",
            Unit::Share.value(bin.confidence),
            Unit::Share.estimate(&bin.accuracy),
            counted(bin.accuracy.n, "answer", "answers")
        ),
    };
    let panels: Vec<Panel> = seen
        .iter()
        .take(MOST_PANELS)
        .map(|(idx, seen)| Panel {
            name: found.models[*idx].model.to_string(),
            note: format!("error {}", Unit::Share.value(seen.debiased.value)),
            bins: seen.bins.iter().map(bin).collect(),
        })
        .collect();
    let cut = match seen.len().saturating_sub(MOST_PANELS) {
        0 => String::new(),
        rest => {
            format!(" Shown are the {MOST_PANELS} best models; {rest} more are in the table below.")
        }
    };
    let plot = Plot {
        id: "models-reliability",
        title: "Confidence and right answers",
        caption: format!(
            "Each point is a bin of equally many answers of similar confidence, with {}. On the \
             dashed line a model that is 80 % sure is right 80 % of the time; below it, it is too \
             sure. The number is the debiased calibration error.{cut}",
            intervals(found)
        ),
    };
    plot.html(|canvas| reliability::panels(canvas, &panels, plot.title))
}

fn table(found: &ModelFindings, seen: &[(usize, &Calibration)]) -> String {
    let mut sheet = Sheet::new(vec![
        Column::text("Model", "model"),
        Column::text("Band", "band"),
        Column::count("n", "n"),
        Column::estimate("Too sure", "overconfidence", Unit::Points),
        Column::estimate("Error", "debiased", Unit::Share),
        Column::estimate("Plain ECE", "ece", Unit::Share),
        Column::estimate("Brier", "brier", Unit::Plain),
        Column::number("= reliability", "brier_reliability"),
        Column::number("− resolution", "brier_resolution"),
        Column::number("+ uncertainty", "brier_uncertainty"),
    ]);
    sheet.has_n = false;
    let mut push = |name: &str, band: &str, place: usize, seen: &Calibration| {
        let three = |value: f64| Cell::Ordered(fixed(value, 3), value);
        sheet.push(vec![
            Cell::Text(name.to_owned()),
            Cell::Ranked(band.to_owned(), place),
            Cell::Count(seen.ece.n),
            Cell::Estimate(seen.overconfidence),
            Cell::Estimate(seen.debiased),
            Cell::Estimate(seen.ece),
            Cell::Estimate(seen.brier),
            three(seen.brier_reliability),
            three(seen.brier_resolution),
            three(seen.brier_uncertainty),
        ]);
    };
    for (idx, overall) in seen {
        let model = &found.models[*idx];
        push(model.model.as_str(), "all", 0, overall);
        for (place, band) in found.bands.iter().enumerate() {
            let Some(seen) = model.calibration_by_band.get(place).and_then(Option::as_ref) else {
                continue;
            };
            push(model.model.as_str(), &band.name, place + 1, seen);
        }
    }
    let by_band = if found.bands.is_empty() { "" } else { ", by band" };
    let body = format!(
        "<p class=\"lede\"><i>Too sure</i> is mean confidence minus accuracy, in points. The plain \
         expected calibration error (ECE) is above 0 by chance alone, the more so the fewer stimuli \
         there are; <i>error</i>, the debiased one, takes that off. The Brier score is the sum of \
         the three columns behind it.</p>\n<div class=\"stack\">{}</div>\n",
        long_table::table(&sheet, "models-calibration-table", "Calibration")
    );
    long_table::folded(&format!("Calibration in numbers{by_band}"), &body)
}
