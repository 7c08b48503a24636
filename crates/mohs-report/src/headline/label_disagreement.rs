//! What label counts say, in plain sentences.

use mohs_score::human::label_disagreement::LabelDisagreement;

use crate::number::{Unit, count, counted};

/// Returns the answer to "how hard are the stimuli?", one or two sentences.
pub(crate) fn answer(found: &LabelDisagreement) -> String {
    let n_clear = found.stimuli.iter().filter(|stimulus| stimulus.n_label == stimulus.n_people);
    let usual = match found.n_majority_differs {
        0 => "No stimulus is called something else by most people.".into(),
        1 => "1 stimulus is called something else more often than by its label.".into(),
        n => format!(
            "{} stimuli are called something else more often than by their label.",
            count(n)
        ),
    };
    format!(
        "On average {} of people give a stimulus another label than it has; on {} of {} everybody \
         agrees with the label. {usual}",
        Unit::Share.estimate(&found.disagreement),
        count(n_clear.count()),
        counted(found.n_stimuli, "stimulus", "stimuli"),
    )
}

/// Returns what the findings rest on.
pub(crate) fn basis(found: &LabelDisagreement) -> String {
    let people = if found.least_people == found.most_people {
        count(found.least_people)
    } else {
        format!("{} to {}", count(found.least_people), count(found.most_people))
    };
    format!(
        "{} for {}, {people} for each",
        counted(found.n_answers, "label given", "labels given"),
        counted(found.n_stimuli, "stimulus", "stimuli"),
    )
}
