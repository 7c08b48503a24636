//! Models: the chapter. Its sections are files in `models/`.

mod accuracy;
mod axes;
mod bands;
mod calibration;
mod comparisons;
mod consistency;
mod failures;
mod gap;
mod groups;
mod learning;
mod methods;
mod surprises;

pub(super) use surprises::stimuli_shown;

use mohs_data::Estimate;
use mohs_score::model::ModelFindings;

use super::caveats;
use super::chapter::Chapter;
use super::overview::{fact, fact_list};
use super::sheet::{self, Cell};
use crate::Pictures;
use crate::chart::paint;
use crate::escape::esc;
use crate::headline::models as headline;
use crate::number::{Unit, count, counted, fixed};
use crate::standing;

const STIMULI: (&str, &str) = ("stimulus", "stimuli");

pub(super) fn chapter(found: &ModelFindings, pictures: &Pictures) -> Chapter {
    let sections = [
        Some(accuracy::section(found)),
        bands::section(found),
        gap::section(found),
        comparisons::section(found),
        calibration::section(found),
        axes::section(found),
        learning::section(found),
        consistency::section(found),
        groups::labels(found),
        groups::attributes(found),
        surprises::section(found, pictures),
        failures::section(found),
        Some(methods::section(found)),
    ];
    let front = format!(
        "<p class=\"lede\">{} Based on {}. Brackets are {}, <i>n</i> says how many stimuli stand \
         behind a number.</p>\n{}{}",
        esc(&headline::more(found)),
        esc(&headline::basis(found)),
        intervals(found),
        caveats::list(&found.caveats),
        facts(found)
    );
    Chapter {
        id: "models",
        name: "Models",
        answer: headline::answer(found),
        front,
        sections: sections.into_iter().flatten().collect(),
    }
}

/// Returns what brackets and lines show.
fn intervals(found: &ModelFindings) -> String {
    format!("{} % intervals", fixed(found.method.confidence * 100.0, 0))
}

fn facts(found: &ModelFindings) -> String {
    let ranked = standing::ranked(found);
    let best = ranked.first().map(|idx| &found.models[*idx]);
    let mut facts = Vec::new();
    if let Some((best, accuracy)) = best.and_then(|best| Some((best, standing::accuracy(best)?))) {
        let share = sheet::estimate_of(Unit::Share, accuracy, STIMULI);
        let name = esc(best.model.as_str());
        let only = found.models.len() == 1;
        let title = if only { "Right answers" } else { "Right answers, best model" };
        facts.push(fact(title, &share, &name));
        if let Some(drop) = &best.drop {
            let points = sheet::estimate_of(Unit::Points, drop, STIMULI);
            facts.push(fact("Lost from easy to hard, in points", &points, &name));
        }
    }
    let n_pairs = found.comparisons.len();
    if 0 < n_pairs {
        let n_told = found.comparisons.iter().filter(|p| standing::is_separated(found, p)).count();
        let told = format!("<span class=\"est\"><b>{}</b></span>", count(n_told));
        let of = format!("of {}, after Holm’s correction", counted(n_pairs, "pair", "pairs"));
        facts.push(fact("Pairs told apart", &told, &of));
    }
    let answered = format!("<span class=\"est\"><b>{}</b></span>", count(found.n_answered));
    let failed = match found.n_failed {
        0 => "none failed".to_owned(),
        n => format!("<a href=\"#models-failures\">{} failed</a>", count(n)),
    };
    let of = format!("of {}; {failed}", counted(found.n_predictions, "prediction", "predictions"));
    facts.push(fact("Answers", &answered, &of));
    fact_list(&facts)
}

/// Returns an estimate's cell, or why there is none.
fn cell(estimate: Option<&Estimate>, why: &'static str) -> Cell {
    estimate.map_or(Cell::Missing(why), |estimate| Cell::Estimate(*estimate))
}

/// Returns the colour of each model as a chart takes it, by position.
fn paints(found: &ModelFindings) -> Vec<Option<String>> {
    standing::colours(found).into_iter().map(|colour| colour.map(paint::set)).collect()
}

/// Returns the models that get columns of their own in wide tables, best first.
fn columns_of(found: &ModelFindings) -> Vec<usize> {
    let colours = standing::colours(found);
    standing::ranked(found).into_iter().filter(|idx| colours[*idx].is_some()).collect()
}

/// Returns the words on grey lines; empty when every model has a colour.
fn on_colours(found: &ModelFindings) -> String {
    match standing::colours(found).contains(&None) {
        true => " In colour are the three best models, the middle one and the worst; grey lines \
                 are the others and say who they are when you point at them."
            .into(),
        false => String::new(),
    }
}

/// Returns `name: 62.1 % [58.0, 66.0], n = 90`, a line of a tip.
fn tip_line(name: &str, unit: Unit, estimate: &Estimate) -> String {
    format!("{name}: {}, n = {}", unit.estimate(estimate), count(estimate.n))
}
