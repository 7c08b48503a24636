//! Label disagreement: shares of stimuli by agreement, labels, and the stimuli.

use mohs_score::human::label_disagreement::LabelDisagreement;

use super::caveats;
use super::chapter::Chapter;
use super::figure::Figure;
use super::section::Section;
use super::sheet::{Cell, Column, Sheet};
use crate::chart::dots::{self, Dot, DotPanel, DotRow};
use crate::chart::{Canvas, paint};
use crate::escape::esc;
use crate::headline::label_disagreement as headline;
use crate::number::{Unit, count, counted, fixed};

/// Rows of the table of stimuli in the page; all of them are in the files.
const MOST_ROWS: usize = 400;

pub(super) fn chapter(found: &LabelDisagreement) -> Chapter {
    let front = format!(
        "<p class=\"lede\">{}. Difficulty is the share of people who give another label than the \
         stimulus has. Brackets are {} % intervals.</p>\n{}{}",
        esc(&headline::basis(found)),
        fixed(found.method.confidence * 100.0, 0),
        caveats::list(&found.caveats),
        bands(found),
    );
    Chapter {
        id: "label-disagreement",
        name: "Label disagreement",
        answer: headline::answer(found),
        front,
        sections: vec![labels(found), stimuli(found), methods(found)],
    }
}

fn bands(found: &LabelDisagreement) -> String {
    let mut sheet = Sheet::new(vec![
        Column::text("Agreement", "band"),
        Column::count("Stimuli", "n_stimuli"),
        Column::estimate("Share of stimuli", "share", Unit::Share),
    ]);
    let mut rows = Vec::new();
    for band in &found.bands {
        let Some(share) = band.share else { continue };
        sheet.push(vec![
            Cell::Text(band.name.clone()),
            Cell::Count(band.n_stimuli),
            Cell::Estimate(share),
        ]);
        let tip = format!(
            "{}\n{}\n{}",
            band.name,
            Unit::Share.estimate(&share),
            counted(band.n_stimuli, "stimulus", "stimuli")
        );
        rows.push(DotRow {
            name: band.name.clone(),
            note: count(band.n_stimuli),
            dots: vec![Dot { estimate: share, tip }],
            is_apart: false,
        });
    }
    let figure = Figure {
        id: "agreement-bands",
        title: "Stimuli by how many people agree with the label",
        caption:
            "A band holds the stimuli whose agreement is at least what its name says and below \
                  the band above. Wilson's intervals; the number on the right counts stimuli."
                .into(),
        sheet,
    };
    figure.html(|canvas| drawn(canvas, &rows, "Share of stimuli", figure.title))
}

fn drawn(canvas: Canvas, rows: &[DotRow], title: &str, label: &str) -> String {
    let panel =
        DotPanel { title: title.to_owned(), unit: Unit::Share, paint: paint::ACCENT.into() };
    dots::rows(canvas, rows, &[panel], None, label)
}

fn labels(found: &LabelDisagreement) -> Section {
    let mut sheet = Sheet::new(vec![
        Column::text("Label", "label"),
        Column::estimate("Disagreement", "disagreement", Unit::Share),
        Column::text("Usually taken for", "usual_mistake"),
    ]);
    let mut rows = Vec::new();
    for label in &found.labels {
        let mistake = label.usual_mistake.as_ref();
        sheet.push(vec![
            Cell::Text(label.label.to_string()),
            Cell::Estimate(label.disagreement),
            mistake.map_or(Cell::Missing("most people agree everywhere"), |(mistake, n)| {
                Cell::Text(format!("{mistake} ({})", counted(*n, "stimulus", "stimuli")))
            }),
        ]);
        let tip = format!(
            "{}\n{}\n{}",
            label.label,
            Unit::Share.estimate(&label.disagreement),
            counted(label.n_stimuli, "stimulus", "stimuli")
        );
        rows.push(DotRow {
            name: label.label.to_string(),
            note: count(label.n_stimuli),
            dots: vec![Dot { estimate: label.disagreement, tip }],
            is_apart: false,
        });
    }
    let figure = Figure {
        id: "disagreement-labels",
        title: "Mean disagreement by label",
        caption: "Intervals are a bootstrap over the stimuli of a label.".into(),
        sheet,
    };
    let body = figure.html(|canvas| drawn(canvas, &rows, "Mean disagreement", figure.title));
    Section { id: "disagreement-by-label", nav: "Labels", title: "By label".into(), body }
}

fn stimuli(found: &LabelDisagreement) -> Section {
    let mut sheet = Sheet::new(vec![
        Column::text("Stimulus", "stimulus"),
        Column::text("Label", "label"),
        Column::estimate("Disagreement", "disagreement", Unit::Share),
        Column::text("Entropy, bits", "entropy_bits"),
        Column::text("Most people say", "usual_label"),
        Column::text("Band", "band"),
    ]);
    for stimulus in found.stimuli.iter().rev().take(MOST_ROWS) {
        sheet.push(vec![
            Cell::Text(stimulus.stimulus.to_string()),
            Cell::Text(stimulus.label.to_string()),
            Cell::Estimate(stimulus.disagreement),
            Cell::Ordered(fixed(stimulus.entropy_bits, 2), stimulus.entropy_bits),
            Cell::Text(stimulus.usual.to_string()),
            Cell::Text(stimulus.band.clone()),
        ]);
    }
    let shown = if found.stimuli.len() <= MOST_ROWS {
        String::new()
    } else {
        format!("; shown are the hardest {MOST_ROWS} of {}", count(found.stimuli.len()))
    };
    let body = format!(
        "<p class=\"lede\">From hardest to easiest{shown}. n&#160;=&#160;people. A stimulus that \
         most people call something else may be hard, or mislabelled: look at it.</p>\n\
         <div class=\"tall stack first-rows\">{}</div>\n",
        sheet.table("Stimuli")
    );
    Section { id: "disagreement-stimuli", nav: "Stimuli", title: "Stimuli".into(), body }
}

fn methods(found: &LabelDisagreement) -> Section {
    let body = format!(
        "<div class=\"prose\">\n\
         <pre>disagreement = (people − people who give the label) / people\n\
         entropy = − Σ p log₂ p over the labels given</pre>\n\
         <p>A stimulus has Wilson's interval, means over stimuli a bootstrap interval ({} draws). \
         Counts do not say who gave which label, so careless people cannot be set aside and \
         intervals do not speak for other people.</p>\n</div>\n",
        count(found.method.n_resamples)
    );
    Section { id: "disagreement-methods", nav: "Method", title: "How it was computed".into(), body }
}
