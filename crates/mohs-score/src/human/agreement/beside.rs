//! Models beside people: error consistency of a model's answers with each person's.
//!
//! People's trials become the same table as for agreement among people, models' answers are put
//! beside them, and the same pairs, formulas and intervals apply. A model does not know how long
//! people had, so exposures and beeps do not part trials here; what was done to the stimulus does.

use std::collections::HashMap;

use mohs_data::{ModelName, ParticipantId, Seed, StimulusId, Trial};

use super::crossed::Resampling;
use super::dataset::{compare, people_pairs};
use super::error_consistency;
use super::findings::Consistency;
use super::table::{self, NO_ANSWER, Showing, Table, UNNAMED};

/// A model's answers.
pub(crate) struct ModelAnswers<'a> {
    /// The model.
    pub(crate) model: &'a ModelName,
    /// Whether it was right about a stimulus, where it answered.
    pub(crate) is_right: HashMap<&'a StimulusId, bool>,
}

/// Models beside people.
pub(crate) struct Beside {
    /// For each model with an answer people gave too: people it was compared with, and how they
    /// err together (n = people).
    pub(crate) models: Vec<(ModelName, usize, Option<Consistency>)>,
    /// People with people on the stimuli that models answered; n = pairs.
    pub(crate) people: Option<Consistency>,
}

/// Compares models with people; `None` when no trial counts.
///
/// Trials that nothing judges, practice and second showings do not count. The order of trials
/// does not matter.
pub(crate) fn beside_people(
    trials: &[Trial],
    models: &[ModelAnswers<'_>],
    n_resamples: usize,
    confidence: f64,
    seed: Seed,
) -> Option<Beside> {
    let is_person = |trial: &&Trial| trial.extra.get("observer") != Some("model");
    let people: Vec<Trial> = trials
        .iter()
        .filter(is_person)
        .filter(|trial| trial.is_correct().is_some())
        .map(|trial| Trial { exposure: None, beep: None, ..trial.clone() })
        .collect();
    let kept = table::sort(&people, false).kept;
    let kept: Vec<&Trial> = kept.into_values().flatten().collect();
    let table = with_models(table::table(UNNAMED, &kept).ok()?, models);
    if table.units.is_empty() {
        return None;
    }
    let resampling = Resampling { table: &table, table_idx: 0, n_resamples, confidence, seed };
    let n_stimuli = table.units.len();
    let pairs = people_pairs(&table, 0, seed).pairs;
    let among_people = compare(&resampling, &pairs, 0).people;
    let models = models
        .iter()
        .enumerate()
        .map(|(idx, answers)| {
            let candidates = (0..table.n_people).map(|person| (person, table.n_people + idx));
            let key = 1 + idx as u64;
            let pairs = error_consistency::pairs(&table, candidates.collect(), key, seed).pairs;
            let spreads = compare(&resampling, &pairs, 0).people;
            let found = error_consistency::finding(&spreads, pairs.len(), n_stimuli);
            (answers.model.clone(), pairs.len(), found)
        })
        .collect();
    let people = error_consistency::finding(&among_people, pairs.len(), n_stimuli);
    Some(Beside { models, people })
}

/// Puts models behind the people of a table, and keeps the stimuli that some model answered.
fn with_models(mut table: Table, models: &[ModelAnswers<'_>]) -> Table {
    for answers in models {
        table.observers.push(ParticipantId::new(answers.model.as_str()));
    }
    for unit in &mut table.units {
        unit.showings.extend(models.iter().enumerate().filter_map(|(idx, answers)| {
            let is_right = *answers.is_right.get(&unit.stimulus)?;
            Some(Showing { observer_idx: table.n_people + idx, is_right, answer: NO_ANSWER })
        }));
    }
    let is_answered = |showings: &[Showing]| {
        showings.last().is_some_and(|showing| table.n_people <= showing.observer_idx)
    };
    table.units.retain(|unit| is_answered(&unit.showings));
    table.units_of = (0..table.conditions.len())
        .map(|idx| {
            table.units.partition_point(|unit| unit.condition_idx < idx)
                ..table.units.partition_point(|unit| unit.condition_idx <= idx)
        })
        .collect();
    table
}
