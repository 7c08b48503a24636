//! The headline of paired judgements.

use mohs_data::Estimate;
use mohs_score::human::bradley_terry::{PairedJudgements, Resampled};

use crate::number::{Unit, counted, fixed};

/// Returns the answer: do judgements follow the levels that were meant, or else who is hardest?
pub(crate) fn answer(found: &PairedJudgements) -> String {
    if let Some(tau) = found.levels.as_ref().and_then(|levels| levels.within.kendall) {
        return by_levels(found, &tau);
    }
    let ends = found.stimuli.last().zip(found.stimuli.first());
    match (found.components.len(), ends) {
        (1, Some((hardest, easiest))) => {
            let apart = found.difference(&hardest.stimulus, &easiest.stimulus).map_or_else(
                |_| String::new(),
                |apart| format!(": {} log-odds apart", Unit::Plain.estimate(&apart)),
            );
            format!(
                "Of {}, {} is judged hardest and {} easiest{apart}.",
                counted(found.n_stimuli, "stimulus", "stimuli"),
                hardest.stimulus,
                easiest.stimulus
            )
        }
        _ => format!(
            "Judgements order {} inside {} that were never compared with each other.",
            counted(found.n_stimuli, "stimulus", "stimuli"),
            counted(found.components.len(), "group", "groups")
        ),
    }
}

fn by_levels(found: &PairedJudgements, tau: &Estimate) -> String {
    let verdict = if 0.0 < tau.low {
        "Stimuli meant to be harder are judged harder"
    } else if tau.high < 0.0 {
        "Stimuli meant to be harder are judged easier"
    } else {
        "Judgements do not show whether stimuli meant to be harder are harder"
    };
    let inside = match found.components.len() {
        1 => String::new(),
        n => format!(", averaged inside {}", counted(n, "group", "groups")),
    };
    format!("{verdict}: Kendall’s τ-b is {}{inside}.", Unit::Plain.estimate(tau))
}

/// Returns what it rests on.
pub(crate) fn basis(found: &PairedJudgements) -> String {
    let people = match found.method.resampled {
        Resampled::Participants => {
            format!(" by {}", counted(found.n_participants, "participant", "participants"))
        }
        Resampled::Judgements => String::new(),
    };
    let ties = match found.n_ties {
        0 => String::new(),
        n => format!(", {} among them", counted(n, "tie", "ties")),
    };
    let groups = match found.components.len() {
        0 | 1 => String::new(),
        n => format!(", in {} that no comparison joins", counted(n, "group", "groups")),
    };
    format!(
        "{}{people} of {} of {}{ties}{groups}",
        counted(found.n_judgements, "judgement", "judgements"),
        counted(found.n_pairs, "pair", "pairs"),
        counted(found.n_stimuli, "stimulus", "stimuli"),
    )
}

/// Returns the words for the intervals: `95 % intervals`.
pub(crate) fn intervals(found: &PairedJudgements) -> String {
    format!("{} % intervals", fixed(found.method.confidence * 100.0, 0))
}

/// Returns what a component is called: its number, and what its stimuli share.
pub(crate) fn group_name(number: usize, name: Option<&str>) -> String {
    match name {
        Some(name) => format!("{number} · {name}"),
        None => number.to_string(),
    }
}
