//! Agreement and reliability: the chapter. Its figures are files in `agreement/`.

mod conditions;
mod consistency;
mod effects;
mod methods;
mod reliability;
mod shape_bias;

use mohs_score::human::agreement::Agreement;

use super::caveats;
use super::chapter::Chapter;
use super::overview::{fact, fact_list};
use super::sheet;
use crate::escape::esc;
use crate::headline::agreement as headline;
use crate::number::{Unit, counted, fixed};

pub(super) fn chapter(found: &Agreement) -> Chapter {
    let sections = [
        Some(consistency::section(found)),
        conditions::section(found),
        shape_bias::section(found),
        Some(reliability::section(found)),
        effects::section(found),
        Some(methods::section(found)),
    ];
    let front = format!(
        "<p class=\"lede\">Based on {}. Brackets are {}, <i>n</i> says how many observations stand \
         behind a number.</p>\n{}{}",
        esc(&headline::basis(found)),
        intervals(found),
        caveats::list(&found.caveats),
        facts(found)
    );
    Chapter {
        id: "agreement",
        name: "Agreement and reliability",
        answer: headline::answer(found),
        front,
        sections: sections.into_iter().flatten().collect(),
    }
}

/// Returns what brackets and lines show.
fn intervals(found: &Agreement) -> String {
    format!("{} % intervals", fixed(found.method.confidence * 100.0, 0))
}

fn facts(found: &Agreement) -> String {
    let of = ("data set", "data sets");
    let mut facts = Vec::new();
    if let Some(people) = &found.means.people {
        facts.push(fact(
            "Error consistency",
            &sheet::estimate_of(Unit::Plain, &people.error_consistency, of),
            &format!("of at most {}", fixed(people.attainable_maximum.value, 2)),
        ));
        facts.push(fact(
            "Both right or both wrong",
            &sheet::estimate_of(Unit::Share, &people.observed_consistency, of),
            &format!("chance alone: {}", Unit::Share.value(people.expected_consistency.value)),
        ));
    }
    if let Some(accuracy) = &found.means.accuracy {
        facts.push(fact(
            "Right answers",
            &sheet::estimate_of(Unit::Share, accuracy, of),
            "mean over data sets",
        ));
    }
    let biased = found.datasets.iter().find_map(|set| Some((set, set.shape_bias.as_ref()?)));
    if let Some((set, bias)) = biased {
        facts.push(fact(
            "Shape bias",
            &sheet::estimate_of(Unit::Share, &bias.pooled, ("answer", "answers")),
            &esc(&set.name),
        ));
    }
    let n_aside = found.n_trials_read - found.n_trials.min(found.n_trials_read);
    facts.push(fact(
        "Trials counted",
        &format!("<span class=\"est\"><b>{}</b></span>", crate::number::count(found.n_trials)),
        &format!(
            "of {} read; <a href=\"#agreement-methods\">{} set aside</a>",
            counted(found.n_trials_read, "trial", "trials"),
            crate::number::count(n_aside)
        ),
    ));
    fact_list(&facts)
}
