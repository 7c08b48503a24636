//! Accuracy from easy to hard, and the weighted score.

use mohs_data::Estimate;
use mohs_score::model::Cell;
use mohs_score::model::hierarchy::LadderFindings;

use super::super::figure::Plot;
use super::super::section::Section;
use super::super::sheet::{self, Column, Sheet};
use super::{cell, headline, paints, tip_line};
use crate::chart::steps::{self, Series, StepPoint, Steps};
use crate::escape::esc;
use crate::number::{Unit, count, counted};
use crate::standing;

pub(super) fn section(found: &LadderFindings) -> Section {
    Section {
        id: "ladder-levels",
        nav: "By level",
        title: "What harder levels do to models".into(),
        body: chart(found) + &table(found),
    }
}

fn chart(found: &LadderFindings) -> String {
    let paints = paints(found);
    let series: Vec<Series> = headline::ranked(found)
        .into_iter()
        .map(|idx| {
            let levels = found.levels.iter().zip(&found.models[idx].overall.levels).enumerate();
            let point = |(step, (level, accuracy)): (usize, (&Cell, &Option<Estimate>))| {
                let estimate = (*accuracy)?;
                let tip = tip_line(&level.name, Unit::Share, &estimate);
                Some(StepPoint { step, estimate, tip })
            };
            Series {
                name: found.models[idx].model.to_string(),
                paint: paints[idx].clone(),
                points: levels.filter_map(point).collect(),
            }
        })
        .collect();
    let steps = Steps {
        names: found.levels.iter().map(|level| level.name.clone()).collect(),
        values: None,
        title: "Level, easy to hard".into(),
        share: "Share of right answers",
    };
    let colours = standing::colours_of(found.models.len(), &headline::ranked(found));
    let others = standing::others(&colours);
    let plot = Plot {
        id: "ladder-by-level",
        title: "Right answers from easy to hard",
        caption: format!(
            "Lines through points are {} that draw {}; grey lines are other models and say who they \
             are when you point at them.",
            headline::intervals(found),
            headline::drawn(found)
        ),
    };
    plot.html(|canvas| steps::over(canvas, &steps, &series, &[], &others, plot.title))
}

/// Returns the table of models by levels, tinted by accuracy.
fn table(found: &LadderFindings) -> String {
    let mut sheet = Sheet::new(vec![
        Column::text("Model", "model"),
        Column::estimate("Weighted score", "score", Unit::Share),
        Column::estimate("All", "accuracy", Unit::Share),
    ]);
    sheet.is_tinted = true;
    sheet.has_n = false;
    for level in &found.levels {
        let title = format!("{} ({})", level.name, count(level.n_stimuli));
        sheet
            .columns
            .push(Column { title: title.into(), ..Column::named(&level.name, Unit::Share) });
    }
    for idx in headline::ranked(found) {
        let model = &found.models[idx];
        let mut cells = vec![
            sheet::Cell::Text(model.model.to_string()),
            cell(model.overall.score.as_ref(), "a level without answers"),
            cell(model.overall.accuracy.as_ref(), "no answers"),
        ];
        cells.extend(model.overall.levels.iter().map(|level| cell(level.as_ref(), "no answers")));
        sheet.push(cells);
    }
    format!(
        "<h3>{} at {}</h3>\n<p class=\"lede\">Right answers in percent; the deeper the tint, the more \
         are wrong. The number beside a level is that of its stimuli. The weighted score counts levels \
         {}, easy to hard.</p>\n<div class=\"tall stack tinted\">{}</div>\n",
        counted(found.models.len(), "model", "models"),
        counted(found.levels.len(), "level", "levels"),
        esc(&headline::weights(found)),
        sheet.table("Right answers by model and level")
    )
}
