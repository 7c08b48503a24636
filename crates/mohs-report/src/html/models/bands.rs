//! Accuracy by band of difficulty: a chart, and the table of models by bands.

use mohs_score::model::{BandAccuracy, ModelFinding, ModelFindings};

use super::super::figure::Plot;
use super::super::long_table;
use super::super::section::Section;
use super::super::sheet::{Cell, Column, Sheet};
use super::{cell, intervals, on_colours, paints, tip_line};
use crate::chart::steps::{self, Series, StepPoint, Steps};
use crate::escape::esc;
use crate::headline::models as headline;
use crate::number::{Unit, count, counted};
use crate::standing;

/// Returns the section, or `None` without bands.
pub(super) fn section(found: &ModelFindings) -> Option<Section> {
    if found.bands.is_empty() {
        return None;
    }
    Some(Section {
        id: "models-bands",
        nav: "By difficulty",
        title: "What hard stimuli do to models".into(),
        body: chart(found) + &table(found),
    })
}

fn at(model: &ModelFinding, idx: usize) -> Option<&BandAccuracy> {
    model.bands.get(idx).and_then(Option::as_ref)
}

fn chart(found: &ModelFindings) -> String {
    let mut sheet = Sheet::new(vec![
        Column::text("Model", "model"),
        Column::text("Band", "band"),
        Column::count("Right", "n_right"),
        Column::estimate("Right answers (Wilson)", "accuracy_wilson", Unit::Share),
        Column::estimate("Drawing classes", "accuracy_clustered", Unit::Share),
    ]);
    let mut series = Vec::new();
    let paints = paints(found);
    for idx in standing::ranked(found) {
        let model = &found.models[idx];
        let name = model.model.to_string();
        let mut points = Vec::new();
        for (step, band) in found.bands.iter().enumerate() {
            let Some(accuracy) = at(model, step) else { continue };
            sheet.push(vec![
                Cell::Text(name.clone()),
                Cell::Ranked(band.name.clone(), step),
                Cell::Count(accuracy.n_right),
                Cell::Estimate(accuracy.wilson),
                Cell::Estimate(accuracy.clustered),
            ]);
            let tip = tip_line(&band.name, Unit::Share, &accuracy.clustered);
            points.push(StepPoint { step, estimate: accuracy.clustered, tip });
        }
        series.push(Series { name, paint: paints[idx].clone(), points });
    }
    let steps = Steps {
        names: found.bands.iter().map(|band| band.name.clone()).collect(),
        values: None,
        title: "Difficulty for people, easy to hard".into(),
        share: "Share of right answers",
    };
    let others = standing::others(&standing::colours(found));
    let plot = Plot {
        id: "models-by-band",
        title: "Right answers from easy to hard",
        caption: format!(
            "By {}. Lines through points are {} that draw {}.{} Stimuli per band: {}.",
            esc(&headline::bands_from(found)),
            intervals(found),
            super::methods::drawn(found),
            on_colours(found),
            esc(&sizes(found)),
        ),
    };
    let drawn = plot.html(|canvas| steps::over(canvas, &steps, &series, &[], &others, plot.title));
    let table =
        long_table::table(&sheet, "models-by-band-table", "Right answers by model and band");
    drawn + &long_table::folded("Numbers with both intervals", &table)
}

fn sizes(found: &ModelFindings) -> String {
    let sizes: Vec<String> = found
        .bands
        .iter()
        .map(|band| format!("{} ({})", count(band.n_stimuli), band.name))
        .collect();
    sizes.join(", ")
}

/// Returns the table of models by bands, tinted by accuracy.
fn table(found: &ModelFindings) -> String {
    let mut sheet = Sheet::new(vec![
        Column::text("Model", "model"),
        Column::estimate("All", "all", Unit::Share),
    ]);
    sheet.is_tinted = true;
    sheet.has_n = false;
    for band in &found.bands {
        let title = format!("{} ({})", band.name, count(band.n_stimuli));
        sheet
            .columns
            .push(Column { title: title.into(), ..Column::named(&band.name, Unit::Share) });
    }
    sheet.columns.push(Column::estimate("Lost, easy to hard", "drop", Unit::Points));
    for idx in standing::ranked(found) {
        let model = &found.models[idx];
        let overall = model.accuracy.as_ref().map(|found| &found.clustered);
        let mut cells = vec![Cell::Text(model.model.to_string()), cell(overall, "–")];
        for step in 0..found.bands.len() {
            cells.push(cell(at(model, step).map(|found| &found.clustered), "no answers"));
        }
        cells.push(cell(model.drop.as_ref(), "–"));
        sheet.push(cells);
    }
    format!(
        "<h3>{} by {}</h3>\n<p class=\"lede\">Right answers in percent; the deeper the tint, the \
         more are wrong. The number beside a band’s name is that of its stimuli. <i>Lost</i> is the accuracy in the easiest band minus that in the hardest, \
         in points.</p>\n<div class=\"tall stack tinted\">{}</div>\n",
        counted(standing::ranked(found).len(), "model", "models"),
        counted(found.bands.len(), "band", "bands"),
        sheet.table("Right answers by model and band")
    )
}
