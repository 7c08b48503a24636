//! All models in order of accuracy.

use mohs_score::model::ModelFindings;

use super::super::figure::Figure;
use super::super::section::Section;
use super::super::sheet::{Cell, Column, Sheet};
use super::{cell, intervals};
use crate::chart::dots::{self, Dot, DotPanel, DotRow};
use crate::chart::paint;
use crate::number::{Unit, count};
use crate::standing;

pub(super) fn section(found: &ModelFindings) -> Section {
    Section {
        id: "models-accuracy",
        nav: "Accuracy",
        title: "Right answers".into(),
        body: figure(found),
    }
}

const UNKNOWN: &str = "right answers unknown";

fn figure(found: &ModelFindings) -> String {
    let ranked = standing::ranked(found);
    let mut sheet = Sheet::new(vec![
        Column::text("Model", "model"),
        Column::text("Family", "family"),
        Column::estimate("Right answers", "accuracy_wilson", Unit::Share),
        Column::estimate("Drawing classes", "accuracy_clustered", Unit::Share),
        Column::estimate("In the first five", "top_5", Unit::Share),
        Column::estimate("Mean over classes", "mean_per_class", Unit::Share),
        Column::estimate("Lost, easy to hard", "drop", Unit::Points),
        Column::estimate("ρ with difficulty", "difficulty_correlation", Unit::Plain),
        Column::count("Failed", "n_failed"),
    ]);
    let mut rows = Vec::new();
    for idx in ranked {
        let model = &found.models[idx];
        let name = model.model.to_string();
        let family = model.family.as_ref().map_or("", |family| family.name.as_str());
        let accuracy = model.accuracy.as_ref();
        sheet.push(vec![
            Cell::Text(name.clone()),
            Cell::Text(family.to_owned()),
            cell(accuracy.map(|found| &found.wilson), UNKNOWN),
            cell(accuracy.map(|found| &found.clustered), UNKNOWN),
            cell(model.top_5.as_ref(), "not recorded"),
            cell(model.mean_per_class.as_ref(), UNKNOWN),
            cell(model.drop.as_ref(), "no bands"),
            cell(model.difficulty_correlation.as_ref(), "no difficulty"),
            Cell::Count(model.n_failed),
        ]);
        if let Some(accuracy) = accuracy {
            let tip = format!(
                "{name}\n{}\nas if stimuli were independent: {}\n{} of {} right",
                Unit::Share.estimate(&accuracy.clustered),
                Unit::Share.interval(&accuracy.wilson),
                count(accuracy.n_right),
                count(accuracy.wilson.n)
            );
            rows.push(DotRow {
                note: Unit::Share.value(accuracy.clustered.value),
                dots: vec![Dot { estimate: accuracy.clustered, tip }],
                is_apart: false,
                name,
            });
        }
    }
    let panels = [DotPanel {
        title: "Share of right answers".into(),
        unit: Unit::Share,
        paint: paint::ACCENT.into(),
    }];
    let (title, overlap) = match found.models.len() {
        1 => ("Over all stimuli", ""),
        _ => (
            "Models from best to worst",
            " Overlapping lines do not decide which of two models is better: both saw the same \
             stimuli, so look at the pairs below.",
        ),
    };
    let figure = Figure {
        id: "models-right-answers",
        title,
        caption: format!(
            "Lines are {} that draw {}; those of Wilson, as if stimuli were independent, stand \
             beside them under <i>Numbers</i>.{overlap}",
            intervals(found),
            super::methods::drawn(found)
        ),
        sheet,
    };
    figure.html(|canvas| dots::rows(canvas, &rows, &panels, None, figure.title))
}
