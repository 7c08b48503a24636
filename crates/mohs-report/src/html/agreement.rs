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
use super::overview::{fact, fact_list, trials_counted};
use super::sheet;
use crate::escape::esc;
use crate::headline::agreement as headline;
use crate::number::{Unit, fixed};

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
    // Of one data set its own numbers stand, which know how many pairs are behind them.
    let (people, of, note) = match &found.datasets[..] {
        [only] => (&only.people, ("pair", "pairs"), "people together"),
        _ => (&found.means.people, ("data set", "data sets"), "mean over data sets"),
    };
    let accuracy = match &found.datasets[..] {
        [only] => (only.accuracy, ("trial", "trials")),
        _ => (found.means.accuracy, of),
    };
    let mut facts = Vec::new();
    if let Some(people) = people {
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
    if let (Some(accuracy), of) = accuracy {
        facts.push(fact("Right answers", &sheet::estimate_of(Unit::Share, &accuracy, of), note));
    }
    let biased = found.datasets.iter().find_map(|set| Some((set, set.shape_bias.as_ref()?)));
    if let Some((set, bias)) = biased {
        facts.push(fact(
            "Shape bias",
            &sheet::estimate_of(Unit::Share, &bias.pooled, ("answer", "answers")),
            &esc(&set.name),
        ));
    }
    facts.push(trials_counted(found.n_trials, found.n_trials_read, "agreement-methods"));
    fact_list(&facts)
}
