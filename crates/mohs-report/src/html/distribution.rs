//! The distribution of difficulty: scores by data set, and shares of stimuli per band.

use mohs_data::Estimate;
use mohs_score::human::viewing_time::{BandFinding, ViewingTime};

use super::caveats::{self, Part};
use super::figure::Figure;
use super::section::Section;
use super::sheet::{Cell, Column, Sheet};
use crate::chart::bars::{self, Bar, BarGroup};
use crate::chart::histogram::{self, Series};
use crate::chart::legend::{Entry, Swatch};
use crate::chart::{Canvas, paint};
use crate::number::{Unit, counted};

pub(super) fn section(found: &ViewingTime) -> Section {
    let body = format!(
        "<p class=\"lede\">Two readings of difficulty. The <b>difficulty score</b> is the share of \
         wrong answers over all exposures. The <b>minimum viewing time</b> is the shortest exposure \
         from which people recognise a stimulus.</p>\n{}{}{}",
        caveats::notes(found, Part::Distribution),
        scores(found),
        shares(found)
    );
    Section { id: "difficulty", nav: "Difficulty", title: "How difficulty is spread".into(), body }
}

fn scores(found: &ViewingTime) -> String {
    let series: Vec<Series> = found
        .by_dataset
        .iter()
        .enumerate()
        .map(|(idx, group)| Series {
            name: group.name.clone(),
            paint: if found.by_dataset.len() < 2 { paint::ACCENT.into() } else { paint::set(idx) },
        })
        .collect();
    let columns: Vec<histogram::Column> = found
        .difficulty_histogram
        .iter()
        .map(|bin| {
            let named = bin.n_by_dataset.iter().zip(&series);
            let tip = |n, name: &str| histogram::tip(bin.low, bin.high, name, n);
            let counts = named.map(|(n, series)| (*n, tip(*n, &series.name))).collect();
            histogram::Column { low: bin.low, high: bin.high, counts }
        })
        .collect();

    let mut sheet = Sheet::new(vec![
        Column::text("Difficulty score from", "low"),
        Column::text("to", "high"),
        Column::text("Data set", "dataset"),
        Column::count("Stimuli", "n_stimuli"),
    ]);
    for bin in &found.difficulty_histogram {
        for (n, group) in bin.n_by_dataset.iter().zip(&found.by_dataset) {
            sheet.push(vec![
                Cell::Ordered(Unit::Share.value(bin.low), bin.low),
                Cell::Ordered(Unit::Share.value(bin.high), bin.high),
                Cell::Text(group.name.clone()),
                Cell::Count(*n),
            ]);
        }
    }
    let figure = Figure {
        id: "difficulty-scores",
        title: "Difficulty score of stimuli",
        caption:
            "Each stimulus is counted once, so columns are counts and have no interval. Left is \
                  easy: nobody answers wrong. Right is hard: everybody does."
                .into(),
        sheet,
    };
    let x_title = "Difficulty score (share of wrong answers)";
    figure.html(|canvas| histogram::stacked(canvas, &columns, &series, x_title, figure.title))
}

fn shares(found: &ViewingTime) -> String {
    let tip = |name: &str, by: &str, estimate: &Estimate| {
        let text = Unit::Share.estimate(estimate);
        format!("{name}, {by}\n{text}\nn = {}", counted(estimate.n, "stimulus", "stimuli"))
    };
    let group = |finding: &BandFinding| {
        let name = finding.band.name();
        let bar = |estimate: Estimate, is_pale, by: &str| Bar {
            label: String::new(),
            estimate,
            paint: paint::band(finding.band.idx),
            is_pale,
            tip: tip(&name, by, &estimate),
        };
        BarGroup {
            label: name.clone(),
            note: String::new(),
            bars: vec![
                bar(finding.share, false, "counting rule"),
                bar(finding.model_share, true, "model"),
            ],
        }
    };
    let groups: Vec<BarGroup> = found.bands.iter().map(group).collect();
    let middle = paint::band(found.bands.len() / 2);
    let entries = [
        Entry { swatch: Swatch::Box, paint: middle.clone(), name: "counting rule".into() },
        Entry { swatch: Swatch::PaleBox, paint: middle, name: "model".into() },
    ];

    let mut sheet = Sheet::new(vec![
        Column::text("Minimum viewing time", "band"),
        Column::count("Stimuli counted", "n_stimuli"),
        Column::estimate("Share, counting rule", "share", Unit::Share),
        Column::estimate("Share, model", "model_share", Unit::Share),
    ]);
    for finding in &found.bands {
        sheet.push(vec![
            Cell::Ranked(finding.band.name(), finding.band.idx),
            Cell::Count(finding.n_stimuli),
            Cell::Estimate(finding.share),
            Cell::Estimate(finding.model_share),
        ]);
    }
    let figure = Figure {
        id: "stimuli-per-band",
        title: "Share of stimuli per minimum viewing time",
        caption: format!(
            "The counting rule looks at each stimulus alone and is close to a coin flip when an \
             exposure has few trials. The model looks at all trials together and corrects for \
             guessing, lapses and participants’ ability. Lines are {}; n&#160;=&#160;stimuli.",
            super::intervals(found)
        ),
        sheet,
    };
    let x_title = |canvas| match canvas {
        Canvas::Wide => "Minimum viewing time, easy to hard",
        Canvas::Narrow => "Minimum viewing time",
    };
    figure.html(|canvas| {
        bars::grouped(canvas, &groups, &entries, "Share of stimuli", x_title(canvas), figure.title)
    })
}
