//! A ladder as text: scores beside chance, patterns, levels and attributes, and whether people agree
//! with the levels.

use mohs_data::Estimate;
use mohs_score::model::hierarchy::{LadderFindings, LadderModel, LadderRow};

use super::{WIDTH, caveats, one_line, paragraph, section};
use crate::TextTable;
use crate::headline::ladder as headline;
use crate::number::{Unit, count, counted, fixed};
use crate::width::shorten;

/// Models listed before the rest is left to other formats.
const MOST_LISTED: usize = 40;
/// Models with columns of their own.
const MOST_COLUMNS: usize = 4;
const NAME: usize = 16;

pub(super) fn chapter(found: &LadderFindings) -> String {
    let mut text = paragraph(&headline::answer(found));
    text += &paragraph(&format!(
        "{} {}. Levels are {}. Brackets are {}.",
        headline::more(found),
        headline::basis(found),
        headline::levels_from(found),
        headline::intervals(found)
    ));
    let ranked: Vec<&LadderModel> =
        headline::ranked(found).into_iter().map(|idx| &found.models[idx]).collect();
    text += &scores(&ranked);
    text += &patterns(&ranked);
    text += &levels(found, &ranked);
    text += &attributes(found, &ranked);
    text += &together(found);
    text += &confidence(found, &ranked);
    text += &validity(found);
    text += &caveats(&found.caveats);
    text
}

fn short(text: &str) -> String {
    shorten(&one_line(text), NAME)
}

fn percent(estimate: Option<&Estimate>) -> String {
    estimate.map_or_else(|| "–".into(), |e| fixed(e.value * 100.0, 1))
}

fn with_interval(estimate: Option<&Estimate>) -> String {
    estimate.map_or_else(
        || "–".into(),
        |e| format!("{} {}", fixed(e.value * 100.0, 1), Unit::Share.interval(e)),
    )
}

fn rest(n: usize) -> String {
    match n.saturating_sub(MOST_LISTED) {
        0 => String::new(),
        n => paragraph(&format!("  {} more with --format csv or json.", count(n))),
    }
}

/// Says what has no column of its own.
fn without_column(what: (&str, &str), n: usize) -> String {
    match n {
        0 => String::new(),
        n => paragraph(&format!(
            "  {} for which there is no room here: --format csv or json has {}.",
            counted(n, what.0, what.1),
            if n == 1 { "it" } else { "them" }
        )),
    }
}

const MODELS: (&str, &str) = ("model", "models");
const LEVELS: (&str, &str) = ("level", "levels");

fn scores(ranked: &[&LadderModel]) -> String {
    let mut table =
        TextTable::new(["model", "hierarchical %", "chance %", "excess %", "drawn %", "cells"])
            .indented(2);
    for model in ranked.iter().take(MOST_LISTED) {
        let hierarchy = headline::hierarchy(model);
        table.push([
            short(model.model.as_str()),
            with_interval(hierarchy.map(|hierarchy| &hierarchy.score)),
            percent(hierarchy.map(|hierarchy| &hierarchy.baseline)),
            with_interval(hierarchy.and_then(|hierarchy| hierarchy.excess.as_ref())),
            percent(model.sampled.as_ref().map(|sampled| &sampled.share)),
            hierarchy.map_or_else(|| "0".into(), |hierarchy| count(hierarchy.score.n)),
        ]);
    }
    section("Hierarchical learning score", &table) + &rest(ranked.len())
}

fn patterns(ranked: &[&LadderModel]) -> String {
    let with_patterns = ranked.iter().filter(|model| !model.patterns.is_empty());
    let n_more = with_patterns.clone().count().saturating_sub(MOST_COLUMNS);
    let shown: Vec<&&LadderModel> = with_patterns.take(MOST_COLUMNS).collect();
    let Some(first) = shown.first() else { return String::new() };
    let mut headers = vec!["pattern".to_owned(), String::new()];
    headers.extend(shown.iter().map(|model| short(model.model.as_str())));
    let mut table = TextTable::new(headers).indented(2);
    for (idx, pattern) in first.patterns.iter().enumerate() {
        let kind = if pattern.is_hierarchical { "hierarchical" } else { "not" };
        let mut cells = vec![headline::pattern(&pattern.right), kind.to_owned()];
        cells.extend(shown.iter().map(|model| percent(model.patterns.get(idx).map(|p| &p.share))));
        table.push(cells);
    }
    section("Patterns in percent of chains, easy to hard, ● right ○ wrong", &table)
        + &without_column(MODELS, n_more)
}

fn levels(found: &LadderFindings, ranked: &[&LadderModel]) -> String {
    // Indent, name, score and all, then levels of nine columns.
    let room = WIDTH.saturating_sub(2 + NAME + 24 + 8);
    let shown = super::models::evenly(found.levels.len(), found.levels.len().min(room / 9));
    let mut headers = vec!["model".to_owned(), "score %".to_owned(), "right %".to_owned()];
    headers.extend(shown.iter().map(|idx| shorten(&one_line(&found.levels[*idx].name), 7)));
    let mut table = TextTable::new(headers).indented(2);
    for model in ranked.iter().take(MOST_LISTED) {
        let mut cells = vec![
            short(model.model.as_str()),
            with_interval(model.overall.score.as_ref()),
            percent(model.overall.accuracy.as_ref()),
        ];
        cells.extend(
            shown
                .iter()
                .map(|idx| percent(model.overall.levels.get(*idx).and_then(Option::as_ref))),
        );
        table.push(cells);
    }
    let title = format!("Right answers by level, weighted {}", headline::weights(found));
    section(&shorten(&title, WIDTH), &table)
        + &without_column(LEVELS, found.levels.len() - shown.len())
        + &rest(ranked.len())
}

fn attributes(found: &LadderFindings, ranked: &[&LadderModel]) -> String {
    if found.attributes.is_empty() {
        return String::new();
    }
    let shown: Vec<&&LadderModel> = ranked.iter().take(MOST_COLUMNS).collect();
    let mut headers = vec!["attribute".to_owned(), "stimuli".to_owned()];
    headers.extend(shown.iter().map(|model| shorten(&one_line(model.model.as_str()), 12)));
    let mut table = TextTable::new(headers).indented(2);
    let score = |row: &LadderRow| percent(row.score.as_ref());
    for (idx, attribute) in found.attributes.iter().enumerate().take(MOST_LISTED) {
        let mut cells = vec![short(&attribute.name), count(attribute.n_stimuli)];
        cells.extend(shown.iter().map(|m| m.attributes.get(idx).map_or("–".into(), score)));
        table.push(cells);
    }
    section("Weighted score in percent by attribute", &table)
        + &without_column(MODELS, ranked.len() - shown.len())
        + &rest(found.attributes.len())
}

fn together(found: &LadderFindings) -> String {
    let Some(r) = &found.with_accuracy else { return String::new() };
    let mut table = TextTable::new(["correlation with accuracy", "r", "models"]).indented(2);
    for (name, estimate) in [
        ("hierarchical score, other models", &r.over_models),
        ("hierarchical score, other classes", &r.over_classes),
        ("excess, other classes", &r.excess),
    ] {
        let Some(estimate) = estimate else { continue };
        table.push([name.to_owned(), Unit::Plain.estimate(estimate), count(estimate.n)]);
    }
    section("Are more accurate models more hierarchical?", &table)
}

fn confidence(found: &LadderFindings, ranked: &[&LadderModel]) -> String {
    let has = |model: &&&LadderModel| model.confidence.iter().any(Option::is_some);
    let shown: Vec<&&LadderModel> = ranked.iter().filter(has).take(MOST_LISTED).collect();
    if shown.is_empty() {
        return String::new();
    }
    let places = super::models::evenly(found.levels.len(), 5);
    let mut headers = vec!["model".to_owned()];
    headers.extend(places.iter().map(|idx| shorten(&one_line(&found.levels[*idx].name), 8)));
    let mut table = TextTable::new(headers).indented(2);
    for model in shown {
        let mut cells = vec![short(model.model.as_str())];
        cells.extend(places.iter().map(|idx| {
            let level = model.confidence.get(*idx).and_then(Option::as_ref);
            level.map_or_else(|| "–".into(), |level| fixed(level.percentiles[2] * 100.0, 1))
        }));
        table.push(cells);
    }
    section("Median confidence in percent by level", &table)
        + &without_column(LEVELS, found.levels.len() - places.len())
}

fn validity(found: &LadderFindings) -> String {
    let Some(validity) = &found.validity else { return String::new() };
    let mut table = TextTable::new(["levels", "pairs in order %", "pairs"]).indented(2);
    let mut push = |name: String, share: Option<&Estimate>| {
        let n = share.map_or(0, |share| share.n);
        table.push([name, with_interval(share), count(n)]);
    };
    push("all".into(), validity.in_order.as_ref());
    for pair in &validity.pairs {
        let name = format!("{} before {}", pair.easier, pair.harder);
        push(shorten(&one_line(&name), 36), pair.in_order.as_ref());
    }
    let tau = validity.within.kendall.as_ref().map_or_else(
        || "cannot be told".into(),
        |tau| {
            let groups = counted(tau.n, "group", "groups");
            format!("{} over {groups}", Unit::Plain.estimate(tau))
        },
    );
    section("Do people find harder levels harder?", &table)
        + &paragraph(&format!(
            "  Pairs of one group only, of {} judged by {}. Kendall's τ-b inside groups: {tau}.",
            counted(validity.n_stimuli, "stimulus", "stimuli"),
            counted(validity.n_participants, "participant", "participants")
        ))
}
