//! Object masks as text: distributions, people, labels.

use mohs_data::Estimate;
use mohs_score::human::object_masks::{Measured, ObjectMasks};

use super::{caveats, one_line, paragraph, section};
use crate::TextTable;
use crate::number::{Unit, count, fixed};
use crate::outlined;
use crate::width::shorten;

/// Rows of a table before the rest is only counted.
const MOST_ROWS: usize = 12;

pub(super) fn chapter(found: &ObjectMasks) -> String {
    let mut text = paragraph(&outlined::answer(found));
    text += &paragraph(&format!("{}.", outlined::basis(found)));
    text += &paragraph(&format!(
        "Overlap is intersection over union (IoU). Crop: {}. Brackets are {} % intervals.",
        outlined::crop(found),
        fixed(found.method.confidence * 100.0, 0)
    ));
    text += &shares(found);
    text += &distributions(found);
    text += &people(found);
    text += &labels(found);
    text += &caveats(&found.caveats);
    text
}

fn shares(found: &ObjectMasks) -> String {
    let exam = format!("pass the exam (≥ {})", Unit::Share.value(found.method.exam_iou));
    let check = format!("of checks passed (≥ {})", Unit::Share.value(found.method.check_iou));
    let shares: [(&str, Option<Estimate>); 3] = [
        (&exam, found.pass_share),
        (&check, found.check_pass_share),
        ("of objects in one piece", found.one_piece_share),
    ];
    let mut table = TextTable::new(["share", "", "n"]).indented(2);
    for (name, share) in shares {
        if let Some(share) = share {
            table.push([Unit::Share.estimate(&share), name.to_owned(), count(share.n)]);
        }
    }
    section("Shares", &table)
}

fn distributions(found: &ObjectMasks) -> String {
    let named = outlined::distributions(found);
    if named.is_empty() {
        return String::new();
    }
    let mut table = TextTable::new(["", "mean", "middle half", "n"]).indented(2);
    for (name, _, of) in named {
        let half = format!(
            "{} to {} %",
            fixed(of.lower_quartile.value * 100.0, 0),
            fixed(of.upper_quartile.value * 100.0, 0)
        );
        table.push([
            name.to_owned(),
            measured(Some(of.mean), found.method.confidence),
            half,
            count(of.mean.n),
        ]);
    }
    section("Overlap and place", &table)
}

fn people(found: &ObjectMasks) -> String {
    if found.annotators.is_empty() {
        return String::new();
    }
    let mut people: Vec<_> = found.annotators.iter().collect();
    let quality = |of: &Option<Measured>| of.map_or(f64::INFINITY, |of| of.value);
    people.sort_by(|a, b| {
        quality(&a.to_others)
            .total_cmp(&quality(&b.to_others))
            .then_with(|| a.participant.cmp(&b.participant))
    });
    let headers = ["person", "objects", "to the others", "exam", "checks failed"];
    let mut table = TextTable::new(headers).indented(2);
    for person in people.iter().take(MOST_ROWS) {
        let exam = match (person.exam, person.passed_exam) {
            (Some(exam), Some(true)) => format!("{} passed", Unit::Share.value(exam.value)),
            (Some(exam), _) => format!("{} failed", Unit::Share.value(exam.value)),
            (None, _) => "–".into(),
        };
        let checks = person
            .checks
            .map_or("–".into(), |of| format!("{} of {}", person.n_checks_failed, of.n));
        table.push([
            shorten(&one_line(person.participant.as_str()), 18),
            count(person.n_objects),
            match &person.set_aside {
                Some(rule) => format!("set aside: {rule}"),
                None => measured(person.to_others, found.method.confidence),
            },
            exam,
            checks,
        ]);
    }
    let n_more = people.len().saturating_sub(MOST_ROWS);
    if 0 < n_more {
        table.push([format!("… {} more", count(n_more))]);
    }
    section("People, least like the others first", &table)
}

fn labels(found: &ObjectMasks) -> String {
    if found.by_label.len() < 2 {
        return String::new();
    }
    let mut table = TextTable::new(["label", "objects", "overlap of two", "size"]).indented(2);
    for group in found.by_label.iter().take(MOST_ROWS) {
        table.push([
            shorten(&one_line(group.label.as_str()), 20),
            count(group.n_objects),
            measured(group.agreement, found.method.confidence),
            measured(group.size, found.method.confidence),
        ]);
    }
    let n_more = found.by_label.len().saturating_sub(MOST_ROWS);
    if 0 < n_more {
        table.push([format!("… {} more", count(n_more))]);
    }
    section("Labels", &table)
}

fn measured(of: Option<Measured>, confidence: f64) -> String {
    match of.map(|of| (of.value, of.estimate(confidence))) {
        None => "–".into(),
        Some((_, Some(estimate))) => Unit::Share.estimate(&estimate),
        Some((value, None)) => Unit::Share.value(value),
    }
}
