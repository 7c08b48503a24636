//! Data quality: who answered with care, and was the timing kept?
//!
//! # Method
//!
//! For each participant the facts that tell care from carelessness (`facts.rs`, `streak.rs`), each
//! with its interval, and flags by named rules (`rules.rs`). A flag is evidence, not a verdict:
//! nothing is set aside here. Whoever wants to set data aside writes a rule into the study, where
//! `exclusion.rs` counts it. Only practice trials, which are no data, are not looked at. A name is
//! one person within a data set (the trials' column `dataset`).
//!
//! # When there is no answer
//!
//! Evidence that was not recorded is absent and said to be so; no rule judges without it.
//!
//! # References
//!
//! - P. G. Curran (2016), "Methods for the detection of carelessly invalid responses in survey
//!   data".
//! - B. Iglewicz and D. C. Hoaglin (1993), "How to detect and handle outliers".

mod facts;
mod findings;
mod rules;
mod streak;

use std::collections::{BTreeMap, BTreeSet};

use mohs_data::{Caveat, Caveats, Label, Millis, ParticipantId, Trial};
use rayon::prelude::*;

use self::facts::Scope;
pub use self::findings::{
    DataQuality, Facts, Flag, Limits, ParticipantQuality, Recorded, RtFacts, RuleCount, Streak,
    TimingShare,
};
use super::exclusion::{self, Person};
use super::viewing_time::ExclusionCount;
use crate::proportion::real;
use crate::resample::sorted_quantile;

/// Share of participants flagged from which the task is suspected before the people.
const MANY_FLAGGED: f64 = 0.25;
/// Participants below which their median rts are not compared.
const N_FOR_RT_Z: usize = 4;
/// Least spread of log median rts: medians that differ by less than a factor of two are alike, however
/// much alike the others are.
const MIN_LOG_SPREAD: f64 = 0.2;
/// Makes the median absolute deviation of normal numbers their standard deviation.
const MAD_TO_SD: f64 = 1.482_602_218_505_602;

impl Default for Limits {
    /// Customary limits; every one of them is an option.
    fn default() -> Self {
        let ms = |value| Millis::new(value).expect("because it is finite");
        Self {
            // Nobody names a picture within 150 ms (Luce 1986 puts simple reactions at 100 ms).
            min_rt: ms(150.0),
            max_rt: ms(20_000.0),
            min_accuracy: 0.8,
            max_bad_share: 0.1,
            max_timeouts: 0.2,
            min_streak_p: 0.001,
            // Iglewicz and Hoaglin's modified z-score.
            max_rt_z: 3.5,
            min_trials: 20,
        }
    }
}

/// Why there is nothing to look at.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// No trial at all.
    #[error("there are no trials to look at")]
    NoTrials,
}

/// Looks at the quality of trials.
///
/// The order of rows does not matter: trials are put in order by session, position, onset and id.
pub fn look(trials: &[Trial], limits: &Limits, confidence: f64) -> Result<DataQuality, Error> {
    let (practice, trials): (Vec<&Trial>, Vec<&Trial>) =
        trials.iter().partition(|trial| exclusion::practice(trial).is_some());
    if trials.is_empty() {
        return Err(Error::NoTrials);
    }
    let mut by_participant: BTreeMap<Person<'_>, Vec<&Trial>> = BTreeMap::new();
    for trial in &trials {
        by_participant.entry(exclusion::person(trial)).or_default().push(trial);
    }
    let datasets: BTreeSet<Option<&str>> =
        by_participant.keys().map(|(_, dataset)| *dataset).collect();
    let has_several_datasets = 1 < datasets.len();
    let labels: BTreeSet<&Label> =
        trials.iter().flat_map(|trial| trial.label.iter().chain(&trial.response)).collect();
    let chance = (2 <= labels.len()).then(|| 1.0 / real(labels.len()));
    let scope = Scope {
        limits,
        confidence,
        longest: trials.iter().filter_map(|trial| trial.exposure).max(),
        has_responses: trials.iter().any(|trial| trial.response.is_some()),
    };
    let in_order: Vec<(Person<'_>, Vec<&Trial>)> = by_participant
        .into_par_iter()
        .map(|(person, mut trials)| {
            exclusion::sort_in_time(&mut trials);
            (person, trials)
        })
        .collect();
    let mut participants: Vec<ParticipantQuality> = in_order
        .par_iter()
        .map(|(person, trials)| {
            let sessions: BTreeSet<_> = trials.iter().map(|trial| &trial.session).collect();
            ParticipantQuality {
                participant: named(*person, has_several_datasets),
                n_sessions: sessions.len(),
                facts: facts::of(trials, &scope),
                streak: facts::streak(trials, &scope),
                rt_z: None,
                flags: vec![],
            }
        })
        .collect();
    compare_rts(&mut participants);
    let rules = rules::apply(&mut participants, limits, chance);
    let n_flagged = participants.iter().filter(|p| !p.flags.is_empty()).count();
    let everyone: Vec<&Trial> = in_order.iter().flat_map(|(_, trials)| trials).copied().collect();
    let recorded = facts::recorded(&everyone);
    let mut caveats = Caveats::default();
    let missing: Vec<String> = recorded
        .iter()
        .filter(|recorded| recorded.n_trials == 0)
        .map(|recorded| recorded.what.clone())
        .collect();
    if !missing.is_empty() {
        caveats.add(Caveat::NotRecorded { what: missing });
    }
    let n_unordered = everyone.iter().filter(|trial| !has_place(trial)).count();
    if 0 < n_unordered {
        let share = real(n_unordered) / real(everyone.len());
        caveats.add(Caveat::TrialOrderAssumed { share });
    }
    if 1 < participants.len() && MANY_FLAGGED * real(participants.len()) <= real(n_flagged) {
        let n_participants = participants.len();
        caveats.add(Caveat::ManyFlagged { n_flagged, n_participants });
    }
    let mut exclusions = Vec::new();
    if !practice.is_empty() {
        let (rule, meaning) = exclusion::PRACTICE;
        let n_trials = practice.len();
        let (rule, meaning) = (rule.to_owned(), meaning.to_owned());
        exclusions.push(ExclusionCount { rule, meaning, n_participants: 0, n_trials });
        caveats.add(Caveat::PracticeSetAside { n_trials });
    }
    let stimuli: BTreeSet<_> = trials.iter().map(|trial| &trial.stimulus).collect();
    Ok(DataQuality {
        confidence,
        limits: *limits,
        n_trials: trials.len(),
        exclusions,
        n_participants: participants.len(),
        n_stimuli: stimuli.len(),
        chance,
        recorded,
        everything: facts::of(&everyone, &scope),
        rules,
        n_flagged,
        participants,
        caveats,
    })
}

/// Returns a person's name, with the data set where names of several may be the same.
fn named((participant, dataset): Person<'_>, has_several_datasets: bool) -> ParticipantId {
    match dataset.filter(|_| has_several_datasets) {
        Some(dataset) => ParticipantId::new(format!("{participant} · {dataset}")),
        None => participant.clone(),
    }
}

/// Returns whether a trial says when it was: an onset of 0 is the start of its own clock.
fn has_place(trial: &Trial) -> bool {
    trial.idx.is_some() || trial.onset.is_some_and(|onset| 0.0 < onset.value())
}

/// Holds each participant's median rt against the others', on the scale of logarithms.
fn compare_rts(participants: &mut [ParticipantQuality]) {
    let log_median = |participant: &ParticipantQuality| {
        let median = participant.facts.rt.as_ref()?.median.value();
        (0.0 < median).then(|| median.ln())
    };
    let mut logs: Vec<f64> = participants.iter().filter_map(log_median).collect();
    if logs.len() < N_FOR_RT_Z {
        return;
    }
    let (centre, spread) = centre_and_spread(&mut logs);
    let spread = spread.max(MIN_LOG_SPREAD);
    for participant in participants {
        participant.rt_z = log_median(participant).map(|log| (log - centre) / spread);
    }
}

/// Returns the median, and the median distance from it as a standard deviation.
fn centre_and_spread(values: &mut [f64]) -> (f64, f64) {
    values.sort_unstable_by(f64::total_cmp);
    let centre = sorted_quantile(values, 0.5);
    let mut distances: Vec<f64> = values.iter().map(|value| (value - centre).abs()).collect();
    distances.sort_unstable_by(f64::total_cmp);
    (centre, MAD_TO_SD * sorted_quantile(&distances, 0.5))
}
