//! The gap between two data sets, on easy and on hard stimuli.

use std::collections::BTreeMap;

use mohs_score::model::{AccuracyGap, BandGap, BandOrigin, ModelFindings};

use super::super::figure::Figure;
use super::super::section::Section;
use super::super::sheet::{Cell, Column, Sheet};
use super::{cell, intervals, tip_line};
use crate::chart::gap::{self, FamilyPath, GapPoint, GapTexts};
use crate::chart::paint;
use crate::escape::esc;
use crate::number::Unit;
use crate::standing::MOST_COLOURS;

/// Returns the section, or `None` without two data sets.
pub(super) fn section(found: &ModelFindings) -> Option<Section> {
    let gap = found.gap.as_ref()?;
    Some(Section {
        id: "models-gap",
        nav: "Gap",
        title: format!("From {} to {}", esc(&gap.first), esc(&gap.second)),
        body: figure(found, gap),
    })
}

fn figure(found: &ModelFindings, gap: &AccuracyGap) -> String {
    let families = paths(gap);
    // Bands of people's difficulty hold stimuli that people find equally hard in both sets.
    let is_by_people =
        matches!(found.method.band_origin, Some(BandOrigin::Named | BandOrigin::Quantiles));
    let has_families = families.iter().any(|family| !family.name.is_empty());
    let texts = GapTexts {
        easy: "Gap on easy stimuli, in points".into(),
        hard: "Gap on hard stimuli, in points".into(),
        origin: is_by_people.then(|| {
            let tip = "people\nno gap, because a band holds stimuli of both sets that people find \
                       equally hard";
            ("people".to_owned(), tip.to_owned())
        }),
    };
    let arrows = match has_families {
        true => {
            " Arrows join a family from small to large: one that points down and left closes the \
             gap on hard stimuli too, one that runs level gains on easy stimuli only."
        }
        false => "",
    };
    let figure = Figure {
        id: "models-gaps",
        title: "The gap on easy and on hard stimuli",
        caption: format!(
            "A gap is accuracy on {} minus that on {}. Easy: {}. Hard: {}. On the dashed line both \
             gaps are the same; above it the gap is wider on hard stimuli.{arrows} {} are drawn \
             where there are few models, and stand in the tips and under <i>Numbers</i>.",
            esc(&gap.first),
            esc(&gap.second),
            esc(&gap.easy.join(", ")),
            esc(&gap.hard.join(", ")),
            capital(&intervals(found)),
        ),
        sheet: sheet(found, gap),
    };
    figure.html(|canvas| gap::families(canvas, &families, &texts, figure.title))
}

fn capital(text: &str) -> String {
    text.replace("intervals", "Intervals")
        .split_once(" % ")
        .map_or_else(|| text.to_owned(), |(percent, rest)| format!("{rest} ({percent} %)"))
}

/// Returns families with their members from small to large; models without one stand alone.
fn paths(gap: &AccuracyGap) -> Vec<FamilyPath> {
    let mut members: BTreeMap<&str, Vec<(usize, GapPoint)>> = BTreeMap::new();
    for model in &gap.models {
        let Some(point) = point(model) else { continue };
        let (name, place) =
            model.family.as_ref().map_or(("", 0), |family| (family.name.as_str(), family.place));
        members.entry(name).or_default().push((place, point));
    }
    let mut paths = Vec::new();
    let mut n_coloured = 0;
    for (name, mut points) in members {
        points.sort_by_key(|(place, _)| *place);
        let points = points.into_iter().map(|(_, point)| point);
        if name.is_empty() {
            let paint = if n_coloured == 0 { paint::ACCENT } else { "var(--quiet)" };
            let alone = |point| FamilyPath {
                name: String::new(),
                paint: paint.into(),
                points: vec![point],
            };
            paths.extend(points.map(alone));
            continue;
        }
        let paint = match n_coloured < MOST_COLOURS {
            true => paint::set(n_coloured),
            false => "var(--quiet)".into(),
        };
        n_coloured += 1;
        paths.push(FamilyPath { name: name.into(), paint, points: points.collect() });
    }
    paths
}

fn point(model: &BandGap) -> Option<GapPoint> {
    let (easy, hard) = (model.easy?, model.hard?);
    let family = model.family.as_ref().map(|family| format!(" ({})", family.name));
    let tip = format!(
        "{}{}\n{}\n{}",
        model.model,
        family.unwrap_or_default(),
        tip_line("easy", Unit::Points, &easy),
        tip_line("hard", Unit::Points, &hard)
    );
    Some(GapPoint { name: model.model.to_string(), easy, hard, tip })
}

fn sheet(found: &ModelFindings, gap: &AccuracyGap) -> Sheet {
    let mut sheet = Sheet::new(vec![
        Column::text("Model", "model"),
        Column::text("Family", "family"),
        Column::estimate("Gap, all", "gap", Unit::Points),
        Column::estimate("Gap, easy", "gap_easy", Unit::Points),
        Column::estimate("Gap, hard", "gap_hard", Unit::Points),
    ]);
    for band in &found.bands {
        for set in [&gap.first, &gap.second] {
            sheet.columns.push(Column::named(&format!("{set}, {}", band.name), Unit::Share));
        }
    }
    for model in &gap.models {
        let family = model.family.as_ref().map_or("", |family| family.name.as_str());
        let mut cells = vec![
            Cell::Text(model.model.to_string()),
            Cell::Text(family.to_owned()),
            cell(model.overall.as_ref(), "no answers"),
            cell(model.easy.as_ref(), "no answers"),
            cell(model.hard.as_ref(), "no answers"),
        ];
        for (first, second) in model.first.iter().zip(&model.second) {
            cells.push(cell(first.as_ref(), "no answers"));
            cells.push(cell(second.as_ref(), "no answers"));
        }
        sheet.push(cells);
    }
    sheet
}
