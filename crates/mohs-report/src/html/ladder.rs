//! The ladder: the chapter. Its sections are files in `ladder/`.

mod attributes;
mod confidence;
mod labels;
mod learning_score;
mod levels;
mod methods;
mod patterns;
mod validity;
mod with_accuracy;

use mohs_data::Estimate;
use mohs_score::model::hierarchy::LadderFindings;

use super::caveats;
use super::chapter::Chapter;
use super::overview::{fact, fact_list};
use super::sheet::{self, Cell};
use crate::chart::paint;
use crate::escape::esc;
use crate::headline::ladder as headline;
use crate::number::{Unit, count};
use crate::standing;

const CELLS: (&str, &str) = ("cell", "cells");
const STIMULI: (&str, &str) = ("stimulus", "stimuli");
const PAIRS: (&str, &str) = ("pair", "pairs");

pub(super) fn chapter(found: &LadderFindings) -> Chapter {
    let sections = [
        patterns::section(found),
        learning_score::section(found),
        with_accuracy::section(found),
        Some(levels::section(found)),
        attributes::section(found),
        confidence::section(found),
        validity::section(found),
        labels::section(found),
        Some(methods::section(found)),
    ];
    let front = format!(
        "<p class=\"lede\">{} Based on {}. Levels are {}; a cell is the stimuli of {}. Brackets are \
         {}, <i>n</i> says how many cells or stimuli stand behind a number.</p>\n{}{}",
        esc(&headline::more(found)),
        esc(&headline::basis(found)),
        esc(&headline::levels_from(found)),
        headline::cells(found),
        headline::intervals(found),
        caveats::list(&found.caveats),
        facts(found)
    );
    Chapter {
        id: "ladder",
        name: "Ladder",
        answer: headline::answer(found),
        front,
        sections: sections.into_iter().flatten().collect(),
    }
}

fn facts(found: &LadderFindings) -> String {
    let mut facts = Vec::new();
    let most = found
        .models
        .iter()
        .filter_map(|model| Some((model, headline::hierarchy(model)?)))
        .max_by(|a, b| a.1.score.value.total_cmp(&b.1.score.value));
    if let Some((model, hierarchy)) = most {
        let name = esc(model.model.as_str());
        let score = sheet::estimate_of(Unit::Share, &hierarchy.score, CELLS);
        facts.push(fact("Hierarchical learning score, highest", &score, &name));
        if let Some(excess) = &hierarchy.excess {
            let excess = sheet::estimate_of(Unit::Share, excess, CELLS);
            facts.push(fact("Of what chance leaves", &excess, &name));
        }
    }
    let best = found
        .models
        .iter()
        .filter_map(|model| Some((model, model.overall.score?)))
        .max_by(|a, b| a.1.value.total_cmp(&b.1.value));
    if let Some((model, score)) = best {
        let html = sheet::estimate_of(Unit::Share, &score, STIMULI);
        facts.push(fact("Weighted score, highest", &html, &esc(model.model.as_str())));
    }
    let in_order = found.validity.as_ref().and_then(|validity| validity.in_order.as_ref());
    if let Some(share) = in_order {
        let html = sheet::estimate_of(Unit::Share, share, PAIRS);
        facts.push(fact("Levels in order for people", &html, "judged pairs of one group"));
    }
    fact_list(&facts)
}

/// Returns an estimate's cell, or why there is none.
fn cell(estimate: Option<&Estimate>, why: &'static str) -> Cell {
    estimate.map_or(Cell::Missing(why), |estimate| Cell::Estimate(*estimate))
}

/// Returns the colour of each model as a chart takes it, by position.
fn paints(found: &LadderFindings) -> Vec<Option<String>> {
    let colours = standing::colours_of(found.models.len(), &headline::ranked(found));
    colours.into_iter().map(|colour| colour.map(paint::set)).collect()
}

/// Returns the models that get columns of their own in wide tables, most accurate first.
fn columns_of(found: &LadderFindings) -> Vec<usize> {
    let paints = paints(found);
    headline::ranked(found).into_iter().filter(|idx| paints[*idx].is_some()).collect()
}

/// Returns the words on models that a table leaves out; empty when it has all.
fn on_others(found: &LadderFindings, file: &str) -> String {
    match columns_of(found).len() < found.models.len() {
        true => format!(
            " Shown are the three most accurate models, the middle one and the last; all are in \
             <code>{}</code>.",
            esc(file)
        ),
        false => String::new(),
    }
}

/// Returns `name: 62.1 % [58.0, 66.0], n = 90`, a line of a tip.
fn tip_line(name: &str, unit: Unit, estimate: &Estimate) -> String {
    format!("{name}: {}, n = {}", unit.estimate(estimate), count(estimate.n))
}
