//! Object masks: the chapter. How far people agree, who draws how well, where objects lie; the
//! sections are files in `masks/`.

mod gallery;
mod methods;
mod objects;
mod people;

use mohs_data::Estimate;
use mohs_score::human::object_masks::{Distribution, Measured, ObjectMasks};

use super::caveats;
use super::chapter::Chapter;
use super::figure::Figure;
use super::overview::{fact, fact_list};
use super::section::Section;
use super::sheet::{self, Cell, Column, Sheet};
use crate::Pictures;
use crate::chart::axis;
use crate::chart::histogram::{self, Series};
use crate::chart::paint;
use crate::escape::esc;
use crate::number::{Unit, count, counted, fixed};
use crate::outlined;

pub(super) fn chapter(found: &ObjectMasks, pictures: &Pictures) -> Chapter {
    let sections = [
        agreement(found),
        people::section(found),
        gallery::section(found, pictures),
        objects::section(found),
        objects::labels(found),
        Some(methods::section(found)),
    ];
    Chapter {
        id: "masks",
        name: "Object masks",
        answer: outlined::answer(found),
        front: format!(
            "<p class=\"lede\">{}. Overlap is intersection over union (IoU): shared pixels over all \
             pixels either marks.</p>\n{}{}",
            esc(&outlined::basis(found)),
            caveats::list(&found.caveats),
            facts(found)
        ),
        sections: sections.into_iter().flatten().collect(),
    }
}

fn facts(found: &ObjectMasks) -> String {
    let mean = |of: &Option<Distribution>| of.as_ref().map(|of| of.mean);
    let share = |of: Option<Estimate>| {
        of.map(|of| Measured { value: of.value, n: of.n, interval: Some((of.low, of.high)) })
    };
    let exam = format!("mean overlap of at least {}", Unit::Share.value(found.method.exam_iou));
    let check = format!("overlap of at least {}", Unit::Share.value(found.method.check_iou));
    let numbers = [
        ("Overlap of two people", mean(&found.pairwise), ("pair", "pairs"), "mean over pairs"),
        (
            "Overlap of the vote with the reference",
            mean(&found.vote_to_reference),
            ("object", "objects"),
            "mean over objects",
        ),
        ("Passed the exam", share(found.pass_share), ("person", "people"), exam.as_str()),
        (
            "Attention checks passed",
            share(found.check_pass_share),
            ("check", "checks"),
            check.as_str(),
        ),
        ("Size", mean(&found.size), ("object", "objects"), "mean share of the picture"),
        (
            "Lost by the crop",
            mean(&found.lost_share),
            ("object", "objects"),
            "mean share of the object",
        ),
        ("In one piece", share(found.one_piece_share), ("object", "objects"), "specks aside"),
    ];
    let facts: Vec<String> = numbers
        .into_iter()
        .filter_map(|(title, number, nouns, note)| {
            let number = shown(number?, found.method.confidence, Some(nouns));
            Some(fact(title, &number, &esc(note)))
        })
        .collect();
    if facts.is_empty() { String::new() } else { fact_list(&facts) }
}

/// How far drawings agree; `None` where nobody drew what somebody else did.
fn agreement(found: &ObjectMasks) -> Option<Section> {
    let pairwise = histogram(
        found.pairwise.as_ref()?,
        found.method.confidence,
        &Drawn {
            id: "masks-pairwise",
            title: "Overlap of two people",
            caption: "Every pair of people who outlined the same object. Right is alike; a column at \
                      the left is people who outlined different things.",
            x_title: "Overlap (IoU) of two drawings",
            things: ("pair", "pairs", "Pairs"),
        },
    );
    let to_others = found.to_others.as_ref().map(|of| {
        histogram(
            of,
            found.method.confidence,
            &Drawn {
                id: "masks-to-others",
                title: "Overlap of a drawing with the vote of the others",
                caption: "Each drawing against what most of the other people marked. A drawing takes \
                          no part in the vote it is compared with.",
                x_title: "Overlap (IoU) with the vote of the others",
                things: ("drawing", "drawings", "Drawings"),
            },
        )
    });
    let body = format!("{pairwise}{}{}", to_others.unwrap_or_default(), summary(found));
    Some(Section {
        id: "masks-agreement",
        nav: "Agreement",
        title: "How far people agree".into(),
        body,
    })
}

/// All distributions in one table.
fn summary(found: &ObjectMasks) -> String {
    let mut sheet = Sheet::new(vec![
        Column::text("What", "what"),
        Column::estimate("Mean", "mean", Unit::Share),
        Column::estimate("Lower quartile", "lower_quartile", Unit::Share),
        Column::estimate("Median", "median", Unit::Share),
        Column::estimate("Upper quartile", "upper_quartile", Unit::Share),
    ]);
    let number = |of: Measured| cell(Some(of), found.method.confidence, "");
    for (name, _, of) in outlined::distributions(found) {
        sheet.push(vec![
            Cell::Text(name.into()),
            number(of.mean),
            number(of.lower_quartile),
            number(of.median),
            number(of.upper_quartile),
        ]);
    }
    format!(
        "<p class=\"lede\">Everything that is distributed over pairs, drawings or objects. Brackets \
         are {} from {} draws of people and stimuli.</p>\n<div class=\"stack\">{}</div>\n",
        intervals(found),
        count(found.method.n_resamples),
        sheet.table("Distributions")
    )
}

/// What a histogram is called and counts.
struct Drawn<'a> {
    id: &'static str,
    title: &'a str,
    /// As HTML.
    caption: &'a str,
    x_title: &'a str,
    /// One, many, and many as the title of an axis.
    things: (&'a str, &'a str, &'a str),
}

/// Returns a distribution as a figure, its mean and quartiles in the caption.
fn histogram(of: &Distribution, confidence: f64, drawn: &Drawn<'_>) -> String {
    let (one, many, axis_title) = drawn.things;
    let n_bins = of.histogram.len().max(1);
    #[expect(clippy::cast_precision_loss, reason = "a few dozen bins")]
    let end = |idx: usize| idx as f64 / n_bins as f64;
    let columns: Vec<histogram::Column> = of
        .histogram
        .iter()
        .enumerate()
        .map(|(idx, n)| {
            let (low, high) = (end(idx), end(idx + 1));
            let from = axis::percent(low);
            let tip = format!(
                "{}–{}\n{}",
                from.trim_end_matches(" %"),
                axis::percent(high),
                counted(*n, one, many)
            );
            histogram::Column { low, high, counts: vec![(*n, tip)] }
        })
        .collect();
    let mut sheet = Sheet::new(vec![
        Column::text("From", "low"),
        Column::text("to", "high"),
        Column::count("Count", "n"),
    ]);
    for (idx, n) in of.histogram.iter().enumerate() {
        let share = |value: f64| Cell::Ordered(Unit::Share.value(value), value);
        sheet.push(vec![share(end(idx)), share(end(idx + 1)), Cell::Count(*n)]);
    }
    let caption = format!(
        "{} Mean {}, median {}; columns are counts and have no interval.",
        drawn.caption,
        shown(of.mean, confidence, Some((one, many))),
        shown(of.median, confidence, None)
    );
    let series = [Series { name: many.into(), paint: paint::ACCENT.into() }];
    let figure = Figure { id: drawn.id, title: drawn.title, caption, sheet };
    let titles = (drawn.x_title, axis_title);
    figure.html(|canvas| histogram::of_things(canvas, &columns, &series, titles, figure.title))
}

/// Returns a number with its interval, or with the words that it has none.
fn shown(of: Measured, confidence: f64, nouns: Option<(&str, &str)>) -> String {
    match (of.estimate(confidence), nouns) {
        (Some(estimate), Some(nouns)) => sheet::estimate_of(Unit::Share, &estimate, nouns),
        (Some(estimate), None) => sheet::value_and_interval(Unit::Share, &estimate),
        (None, _) => sheet::without_interval(Unit::Share, of.value, of.n),
    }
}

/// Returns a number as a cell: with its interval, without one, or why there is none.
fn cell(of: Option<Measured>, confidence: f64, why: &'static str) -> Cell {
    match of {
        None => Cell::Missing(why),
        Some(of) => match of.estimate(confidence) {
            Some(estimate) => Cell::Estimate(estimate),
            None => Cell::NoInterval(of.value, of.n),
        },
    }
}

/// Returns the words for the intervals of the chapter: `95 % intervals`.
fn intervals(found: &ObjectMasks) -> String {
    format!("{} % intervals", fixed(found.method.confidence * 100.0, 0))
}
