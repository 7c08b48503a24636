//! Agreement and reliability: do people err on the same stimuli, and how far can anyone agree with them?
//!
//! Brings the parts together: error consistency (`error_consistency.rs`), shape bias
//! (`shape_bias.rs`), agreement in answers (`kappa.rs`), split-half reliability and noise ceilings
//! (`reliability.rs`), participant and stimulus effects (`mixed_logistic.rs`). Intervals over
//! people and stimuli are made in `crossed.rs`. Everything is computed per data set (the trials'
//! column `dataset`), where one name is one person; models (column `observer`) stand beside people
//! and never among them.

mod accuracy;
mod beside;
mod crossed;
mod dataset;
mod error_consistency;
mod findings;
mod kappa;
pub mod mixed_logistic;
mod reliability;
mod shape_bias;
mod table;

use std::collections::BTreeSet;

use mohs_data::{Caveat, Caveats, Exclusion, ParticipantId, Seed, Trial};
use rayon::prelude::*;

pub(crate) use self::beside::{ModelAnswers, beside_people};
use self::crossed::Spread;
use self::dataset::{Doubts, Scored};
pub(crate) use self::error_consistency::of_counts;
pub use self::findings::{
    Agreement, AnswerAgreement, ClassShapeBias, ConditionEffect, ConditionFinding, Consistency,
    DatasetAgreement, Means, Method, MixedLogistic, ModelFinding, ModelMeans, PairFinding,
    ParticipantFinding, Reliability, ShapeBias, StimulusEffect,
};

pub(crate) use self::table::by_number;

/// How to score.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Options {
    /// Confidence of all intervals.
    pub confidence: f64,
    /// Bootstrap draws over stimuli.
    pub n_resamples: usize,
    /// Random halves of participants.
    pub n_splits: usize,
    /// Whether conditions that the benchmark leaves out (`benchmark` is `out`) count too.
    pub all_conditions: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self { confidence: 0.95, n_resamples: 1_000, n_splits: 200, all_conditions: false }
    }
}

/// Everything scoring needs.
#[derive(Debug, Clone, Copy)]
pub struct Input<'a> {
    /// The trials.
    pub trials: &'a [Trial],
    /// How to score.
    pub options: &'a Options,
    /// Seed of draws and splits.
    pub seed: Seed,
}

/// Why trials cannot be scored.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// Nothing to score.
    #[error("there are no trials to score among {n_trials}")]
    NothingLeft {
        /// Trials given.
        n_trials: usize,
    },
    /// Only models answered.
    #[error("all {n_models} observers are models; agreement needs people to compare them with")]
    NoPeople {
        /// Models.
        n_models: usize,
    },
    /// Nobody to compare with.
    #[error(
        "agreement needs two participants who saw the same stimuli, found {n_observers} \
         participants"
    )]
    NobodyToCompare {
        /// Participants and models.
        n_observers: usize,
    },
    /// An answer cannot be judged.
    #[error(
        "trial `{trial}` has an answer but neither a label nor a mark says whether it is right"
    )]
    NotJudged {
        /// The trial.
        trial: String,
    },
    /// One name for two kinds of observers.
    #[error(
        "`{participant}` is called a human in some trials and a model in others of one data set"
    )]
    BothHumanAndModel {
        /// The name.
        participant: String,
    },
    /// An option makes no sense.
    #[error("`{name}` must be {expected}, found {found}")]
    BadOption {
        /// The option.
        name: &'static str,
        /// What it must be.
        expected: &'static str,
        /// What it is.
        found: String,
    },
}

/// Scores agreement: findings, and what was set aside.
///
/// The order of trials does not matter.
pub fn score(input: &Input<'_>) -> Result<(Agreement, Vec<Exclusion>), Error> {
    let options = input.options;
    check(options)?;
    let sorted = table::sort(input.trials, options.all_conditions);
    if sorted.kept.is_empty() {
        return Err(Error::NothingLeft { n_trials: input.trials.len() });
    }
    let datasets: Vec<(&str, &[&Trial], &[&Trial])> = sorted
        .kept
        .iter()
        .map(|(name, kept)| {
            let left_out = sorted.left_out.get(name).map_or(&[][..], Vec::as_slice);
            (*name, kept.as_slice(), left_out)
        })
        .collect();
    let scored: Vec<Scored> = datasets
        .par_iter()
        .enumerate()
        .map(|(idx, (name, kept, left_out))| {
            let parts = dataset::Parts { name, kept, left_out, idx: idx as u64 };
            dataset::score(&parts, options, input.seed)
        })
        .collect::<Result<_, _>>()?;
    let is_comparable = |scored: &Scored| {
        scored.finding.people.is_some()
            || scored.finding.models.iter().any(|model| model.with_people.is_some())
    };
    if !scored.iter().any(is_comparable) {
        let observers: BTreeSet<&ParticipantId> =
            input.trials.iter().map(|trial| &trial.participant).collect();
        let n_observers = observers.len();
        return Err(if scored.iter().all(|scored| scored.finding.n_participants == 0) {
            Error::NoPeople { n_models: n_observers }
        } else {
            Error::NobodyToCompare { n_observers }
        });
    }
    let caveats = caveats(&scored);
    let findings = Agreement {
        method: Method {
            confidence: options.confidence,
            n_resamples: options.n_resamples,
            n_splits: options.n_splits,
            all_conditions: options.all_conditions,
            seed: input.seed.0,
        },
        n_trials_read: input.trials.len(),
        n_trials: sorted.kept.values().map(Vec::len).sum(),
        exclusions: sorted.counts,
        means: means(&scored, options.confidence),
        datasets: scored.into_iter().map(|scored| scored.finding).collect(),
        caveats,
    };
    Ok((findings, sorted.exclusions))
}

fn check(options: &Options) -> Result<(), Error> {
    let bad = |name, expected, found: String| Err(Error::BadOption { name, expected, found });
    if !(0.0 < options.confidence && options.confidence < 1.0) {
        return bad("confidence", "between 0 and 1", options.confidence.to_string());
    }
    if options.n_resamples < 2 {
        return bad("resamples", "at least 2", options.n_resamples.to_string());
    }
    if options.n_splits < 1 {
        return bad("splits", "at least 1", options.n_splits.to_string());
    }
    Ok(())
}

/// Returns means over data sets, each counting the same.
fn means(scored: &[Scored], confidence: f64) -> Means {
    let with_people: Vec<&Scored> =
        scored.iter().filter(|scored| 0 < scored.finding.n_participants).collect();
    let accuracies: Vec<&Spread> = with_people.iter().map(|scored| &scored.accuracy).collect();
    let people: Vec<&[Spread]> =
        with_people.iter().map(|scored| scored.people.as_slice()).collect();
    let models: BTreeSet<&ParticipantId> =
        scored.iter().flat_map(|scored| &scored.models).map(|model| &model.model).collect();
    Means {
        n_datasets: scored.len(),
        accuracy: crossed::mean(&accuracies, (0.0, 1.0), confidence),
        people: error_consistency::finding_of_means(&people, confidence),
        models: models
            .into_iter()
            .filter_map(|name| {
                let of_model: Vec<&dataset::ModelSpreads> = scored
                    .iter()
                    .flat_map(|scored| &scored.models)
                    .filter(|model| model.model == *name)
                    .collect();
                let accuracies: Vec<&Spread> =
                    of_model.iter().map(|model| &model.accuracy).collect();
                let consistencies: Vec<&[Spread]> =
                    of_model.iter().map(|model| model.consistency.as_slice()).collect();
                Some(ModelMeans {
                    model: name.clone(),
                    n_datasets: of_model.len(),
                    accuracy: crossed::mean(&accuracies, (0.0, 1.0), confidence)?,
                    with_people: error_consistency::finding_of_means(&consistencies, confidence),
                })
            })
            .collect(),
    }
}

/// Returns the reasons for less trust, over all data sets.
fn caveats(scored: &[Scored]) -> Caveats {
    let mut caveats = Caveats::default();
    let sum = |of: fn(&Doubts) -> usize| scored.iter().map(|scored| of(&scored.doubts)).sum();
    let named = |of: fn(&Doubts) -> bool| -> Vec<String> {
        let doubted = scored.iter().filter(|scored| of(&scored.doubts));
        doubted.map(|scored| scored.finding.name.clone()).collect()
    };
    let too_few_people = named(|doubts| doubts.has_fixed_people);
    if !too_few_people.is_empty() {
        caveats.add(Caveat::HoldsForTheseParticipants { datasets: too_few_people });
    }
    let n_partly_shared: usize = sum(|doubts| doubts.n_partly_shared);
    if 0 < n_partly_shared {
        caveats.add(Caveat::PartlySharedStimuli { n_pairs: n_partly_shared });
    }
    let n_not_compared: usize = sum(|doubts| doubts.n_too_few_shared);
    if 0 < n_not_compared {
        let n_wanted = error_consistency::MIN_SHARED;
        caveats.add(Caveat::PairsNotCompared { n_pairs: n_not_compared, n_wanted });
    }
    let n_dropped: usize = sum(|doubts| doubts.n_conditions_dropped);
    if 0 < n_dropped {
        let n_wanted = error_consistency::MIN_SHARED;
        caveats.add(Caveat::PairConditionsNotCompared { n: n_dropped, n_wanted });
    }
    let (n_pairs, n_used) = (sum(|doubts| doubts.n_candidates), sum(|doubts| doubts.n_looked_at));
    if n_used < n_pairs {
        caveats.add(Caveat::PairsSampled { n_pairs, n_used });
    }
    let n_no_room: usize = sum(|doubts| doubts.n_no_room);
    if 0 < n_no_room {
        caveats.add(Caveat::NoRoomForKappa { n_pairs: n_no_room });
    }
    for scored in scored {
        if let Some(n_participants) = scored.doubts.n_people_in_effects {
            let dataset = scored.finding.name.clone();
            caveats.add(Caveat::EffectsOfSample { dataset, n_participants });
        }
    }
    let rough = named(|doubts| doubts.is_laplace_rough);
    if !rough.is_empty() {
        caveats.add(Caveat::LaplaceIsRough { datasets: rough });
    }
    for what in scored.iter().flat_map(|scored| &scored.doubts.not_identified) {
        caveats.add(Caveat::NotIdentified { what: what.clone() });
    }
    caveats
}
