//! The headline of agreement: do people err on the same stimuli?

use mohs_score::human::agreement::{Agreement, Consistency};

use crate::number::{Unit, count, counted, fixed};

/// Returns the answer in a sentence or two.
pub(crate) fn answer(found: &Agreement) -> String {
    let Some(people) = &found.means.people else {
        return match found.means.models.first() {
            Some(model) => format!(
                "People cannot be compared with each other here; {} were compared with people, \
                 the first being {}.",
                counted(found.means.models.len(), "model", "models"),
                model.model
            ),
            None => "Some data sets have nobody to compare with, so there is no overall number; \
                     the others are below."
                .into(),
        };
    };
    format!("{} {}", sentence(people), models(found)).trim_end().to_owned()
}

fn sentence(people: &Consistency) -> String {
    let kappa = people.error_consistency;
    let how = if 0.0 < kappa.low {
        "People err on the same stimuli more often than their accuracies explain"
    } else if kappa.high < 0.0 {
        "People err on the same stimuli less often than their accuracies explain"
    } else {
        "Whether people err on the same stimuli more often than by chance cannot be told"
    };
    format!(
        "{how}: error consistency is {}, of at most {}.",
        Unit::Plain.estimate(&kappa),
        fixed(people.attainable_maximum.value, 2)
    )
}

fn models(found: &Agreement) -> String {
    let best = found
        .means
        .models
        .iter()
        .filter_map(|model| Some((model, model.with_people.as_ref()?.error_consistency)))
        .max_by(|a, b| a.1.value.total_cmp(&b.1.value));
    match best {
        Some((model, kappa)) => {
            format!(
                "The model closest to people is {}: {}.",
                model.model,
                Unit::Plain.estimate(&kappa)
            )
        }
        None => String::new(),
    }
}

/// Returns what the numbers rest on.
pub(crate) fn basis(found: &Agreement) -> String {
    let n_people: usize = found.datasets.iter().map(|set| set.n_participants).sum();
    let n_pairs: usize = found.datasets.iter().map(|set| set.n_pairs).sum();
    let sets = match found.datasets.len() {
        1 => String::new(),
        n => format!(" in {} data sets", count(n)),
    };
    format!(
        "{} by {} ({}){sets}",
        counted(found.n_trials, "trial", "trials"),
        counted(n_people, "person", "people"),
        counted(n_pairs, "pair", "pairs")
    )
}
