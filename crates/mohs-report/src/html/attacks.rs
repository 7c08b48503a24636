//! Attacks: the chapter. Its sections are files in `attacks/`.

mod easy_and_hard;
mod gallery;
mod means;
mod methods;
mod models;
mod others;
mod survival;
mod trust;

use mohs_data::Estimate;
use mohs_score::model::robustness::AttackFindings;

use super::caveats;
use super::chapter::Chapter;
use super::overview::{fact, fact_list};
use super::sheet::{self, Cell};
use crate::Pictures;
use crate::escape::esc;
use crate::headline::attacks as headline;
use crate::number::{Unit, count, counted};

const STIMULI: (&str, &str) = ("stimulus", "stimuli");

pub(super) fn chapter(found: &AttackFindings, pictures: &Pictures) -> Chapter {
    let sections = [
        Some(means::section(found)),
        survival::section(found),
        easy_and_hard::section(found),
        Some(models::section(found)),
        others::corrected(found),
        others::bounds(found),
        Some(trust::section(found)),
        gallery::section(found, pictures),
        others::failures(found),
        Some(methods::section(found)),
    ];
    let front = format!(
        "<p class=\"lede\">{} Based on {}. {} Brackets are {}, <i>n</i> says how many stimuli stand \
         behind a number. ε is the size of a change in pixels from 0 to 1.</p>\n{}{}",
        esc(&headline::more(found)),
        esc(&headline::basis(found)),
        esc(&headline::bands_from(found)),
        headline::intervals(found),
        caveats::list(&found.caveats),
        facts(found)
    );
    Chapter {
        id: "attacks",
        name: "Attacks",
        answer: headline::answer(found),
        front,
        sections: sections.into_iter().flatten().collect(),
    }
}

fn facts(found: &AttackFindings) -> String {
    let mut facts = Vec::new();
    if let Some((table, finding)) = headline::first_finding(found) {
        let own = headline::on_its_own(table, finding);
        let note = format!(
            "{}, {}, up to ε {}",
            esc(finding.model.as_str()),
            esc(&finding.attack),
            Unit::Epsilon.value(own.horizon)
        );
        if let Some(mean) = &own.overall.restricted_mean {
            let html = sheet::estimate_of(Unit::Epsilon, mean, STIMULI);
            let name = match headline::is_whole(own.overall) {
                true => "Mean ε",
                false => "Mean ε, restricted to the horizon",
            };
            facts.push(fact(name, &html, &note));
        }
        if let Some(mean) = &own.overall.mean_fooled
            && !headline::is_whole(own.overall)
        {
            let html = sheet::estimate_of(Unit::Epsilon, mean, STIMULI);
            facts.push(fact("Mean ε among the fooled", &html, &note));
        }
        if let Some(difference) = own.easy_minus_hard {
            let html = sheet::estimate_of(Unit::Epsilon, difference, STIMULI);
            facts.push(fact("Easiest minus hardest band", &html, &note));
        }
    }
    let n_attacked = found.n_found + found.n_survived;
    let survived = format!("<span class=\"est\"><b>{}</b></span>", count(found.n_survived));
    facts.push(fact(
        "Survived",
        &survived,
        &format!("of {}, never dropped", counted(n_attacked, "attack", "attacks")),
    ));
    let (n_forward, n_gradient) = headline::n_calls(found);
    let calls = n_forward.saturating_add(n_gradient);
    let html = format!("<span class=\"est\"><b>{}</b></span>", count(calls));
    let note = format!("of which {} with a gradient", count(n_gradient));
    facts.push(fact("Times a model was asked", &html, &note));
    fact_list(&facts)
}

/// Returns an estimate's cell, or why there is none.
fn cell(estimate: Option<&Estimate>, why: &'static str) -> Cell {
    estimate.map_or(Cell::Missing(why), |estimate| Cell::Estimate(*estimate))
}

/// Returns `name: 62.1 % [58.0, 66.0], n = 90`, a line of a tip.
fn tip_line(name: &str, unit: Unit, estimate: &Estimate) -> String {
    format!("{name}: {}, n = {}", unit.estimate(estimate), count(estimate.n))
}
