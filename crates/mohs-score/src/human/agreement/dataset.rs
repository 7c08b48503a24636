//! One data set: all measures of agreement over its trials.

use std::collections::BTreeMap;

use mohs_data::{Estimate, ParticipantId, Seed, StimulusId, Trial};

use super::crossed::{Resampling, Spread, View};
use super::error_consistency::{self, N_NUMBERS, Pair, Pairs};
use super::findings::{
    ConditionEffect, ConditionFinding, DatasetAgreement, MixedLogistic, ModelFinding, PairFinding,
    ParticipantFinding, StimulusEffect,
};
use super::table::{self, Table};
use super::{Error, Options, accuracy, kappa, mixed_logistic, reliability, shape_bias};
use crate::draw::Draw;
use crate::proportion::real;

/// More pairs than this are not listed one by one.
const MAX_LISTED_PAIRS: usize = 300;
/// More participants than this are sampled for the effects: the dense part grows with their cube.
const MAX_PEOPLE_IN_EFFECTS: usize = 400;
/// Laplace's approximation is rough when stimuli spread by more than this on fewer answers each.
const ROUGH_SPREAD: f64 = 3.0;
const ROUGH_ANSWERS: f64 = 10.0;
const EFFECTS: u64 = 44;
/// Keys of draws over stimuli for conditions left out start here.
const LEFT_OUT: u64 = 1 << 32;

/// A data set's trials.
pub(super) struct Parts<'a> {
    pub(super) name: &'a str,
    pub(super) kept: &'a [&'a Trial],
    pub(super) left_out: &'a [&'a Trial],
    pub(super) idx: u64,
}

/// A data set's finding, and the spreads that means over data sets need.
pub(super) struct Scored {
    pub(super) finding: DatasetAgreement,
    pub(super) accuracy: Spread,
    pub(super) people: Vec<Spread>,
    pub(super) models: Vec<ModelSpreads>,
    pub(super) doubts: Doubts,
}

/// How a model's numbers vary.
pub(super) struct ModelSpreads {
    pub(super) model: ParticipantId,
    pub(super) accuracy: Spread,
    pub(super) consistency: Vec<Spread>,
}

/// What weakens a data set's numbers.
#[derive(Default)]
pub(super) struct Doubts {
    pub(super) has_fixed_people: bool,
    pub(super) n_partly_shared: usize,
    pub(super) n_too_few_shared: usize,
    pub(super) n_conditions_dropped: usize,
    pub(super) n_candidates: usize,
    pub(super) n_looked_at: usize,
    pub(super) n_no_room: usize,
    pub(super) n_people_in_effects: Option<usize>,
    pub(super) is_laplace_rough: bool,
    pub(super) not_identified: Vec<String>,
}

/// Scores one data set.
pub(super) fn score(parts: &Parts<'_>, options: &Options, seed: Seed) -> Result<Scored, Error> {
    let table = table::table(parts.name, parts.kept)?;
    let resampling = |table, table_idx| Resampling {
        table,
        table_idx,
        n_resamples: options.n_resamples,
        confidence: options.confidence,
        seed,
    };
    let here = resampling(&table, parts.idx);
    let mut doubts = Doubts { has_fixed_people: table.n_people == 2, ..Doubts::default() };
    let accuracy = accuracy::of(&here);
    let pairs = people_pairs(&table, parts.idx, seed);
    doubts.add(&pairs);
    let n_listed = if pairs.pairs.len() <= MAX_LISTED_PAIRS { pairs.pairs.len() } else { 0 };
    let compared = compare(&here, &pairs.pairs, n_listed);
    let answers = kappa::of_people(&here, &pairs.pairs, n_listed);
    let mut models = model_findings(&here, &accuracy.models, seed, &mut doubts);
    let shape_biases = shape_bias::by_observer(&table, options.confidence);
    for (model, bias) in models.0.iter_mut().zip(&shape_biases[table.n_people..]) {
        model.shape_bias = *bias;
    }
    let effects = effects(&table, parts.idx, options.confidence, seed, &mut doubts);
    let (effects, participant_effects) = effects.unzip();
    let reliability = reliability::of_people(&here, options.n_splits);
    let (reliability, reliability_within_conditions) = reliability.unzip();
    let left_out = table::table(parts.name, parts.left_out)?;
    let out = accuracy::of(&resampling(&left_out, LEFT_OUT + parts.idx));
    let mut conditions: Vec<ConditionFinding> =
        conditions(&table, &pairs.pairs, &accuracy.conditions, &compared.by_condition).collect();
    conditions.extend(left_out.conditions.iter().zip(&out.conditions).map(
        |(condition, accuracy)| ConditionFinding {
            condition: condition.clone(),
            counted: false,
            accuracy: *accuracy,
            people: None,
        },
    ));
    conditions.sort_by(|a, b| table::by_number(&a.condition, &b.condition));
    let by_pair = answers.as_ref().map_or(&[][..], |answers| answers.by_pair.as_slice());
    let finding = DatasetAgreement {
        name: table.name.clone(),
        n_trials: table.n_trials(),
        n_participants: table.n_people,
        n_stimuli: table.units.len(),
        n_conditions: table.conditions.len(),
        accuracy: accuracy.estimate,
        n_pairs: pairs.pairs.len(),
        people: error_consistency::finding(&compared.people, pairs.pairs.len(), table.units.len()),
        conditions,
        pairs: pair_findings(&table, &pairs.pairs[..n_listed], &compared.by_pair, by_pair),
        participants: participants(&table, &shape_biases, participant_effects, options.confidence),
        models: models.0,
        shape_bias: shape_bias::of_people(&here),
        answers: answers.map(|answers| answers.everybody),
        reliability,
        reliability_within_conditions: reliability_within_conditions.flatten(),
        effects,
    };
    Ok(Scored {
        finding,
        accuracy: accuracy.people,
        people: compared.people,
        models: models.1,
        doubts,
    })
}

impl Doubts {
    fn add(&mut self, pairs: &Pairs) {
        self.n_partly_shared += pairs.n_partly_shared;
        self.n_too_few_shared += pairs.n_too_few_shared;
        self.n_conditions_dropped += pairs.n_conditions_dropped;
        self.n_candidates += pairs.n_candidates;
        self.n_looked_at += pairs.pairs.len() + pairs.n_too_few_shared;
        let has_no_room = |pair: &&Pair| error_consistency::has_no_room(pair);
        self.n_no_room += pairs.pairs.iter().filter(has_no_room).count();
    }
}

pub(super) fn people_pairs(table: &Table, key: u64, seed: Seed) -> Pairs {
    let all = (0..table.n_people).flat_map(|a| (a + 1..table.n_people).map(move |b| (a, b)));
    error_consistency::pairs(table, all.collect(), key, seed)
}

/// Error consistency of people: over all, by condition, by pair.
pub(super) struct Compared {
    pub(super) people: Vec<Spread>,
    by_condition: Vec<Vec<Spread>>,
    by_pair: Vec<Vec<Spread>>,
}

pub(super) fn compare(resampling: &Resampling<'_>, pairs: &[Pair], n_listed: usize) -> Compared {
    let n_conditions = resampling.table.conditions.len();
    let spreads = resampling.spreads(|view: &View| {
        let mut numbers = error_consistency::mean_numbers(pairs, n_conditions, view);
        for pair in &pairs[..n_listed] {
            numbers.extend(pair.numbers(view));
        }
        numbers
    });
    let mut chunks = spreads.chunks(N_NUMBERS).map(<[Spread]>::to_vec);
    Compared {
        people: chunks.next().unwrap_or_default(),
        by_condition: chunks.by_ref().take(n_conditions).collect(),
        by_pair: chunks.collect(),
    }
}

fn conditions<'a>(
    table: &'a Table,
    pairs: &'a [Pair],
    accuracies: &'a [Option<Estimate>],
    spreads: &'a [Vec<Spread>],
) -> impl Iterator<Item = ConditionFinding> + 'a {
    table.conditions.iter().enumerate().map(|(idx, condition)| {
        let is_compared = |pair: &&Pair| pair.conditions.iter().any(|at| at.condition_idx == idx);
        let n_pairs = pairs.iter().filter(is_compared).count();
        let n_stimuli = table.units_of[idx].len();
        ConditionFinding {
            condition: condition.clone(),
            counted: true,
            accuracy: accuracies[idx],
            people: error_consistency::finding(&spreads[idx], n_pairs, n_stimuli),
        }
    })
}

fn pair_findings(
    table: &Table,
    pairs: &[Pair],
    spreads: &[Vec<Spread>],
    kappas: &[Option<Estimate>],
) -> Vec<PairFinding> {
    pairs
        .iter()
        .zip(spreads)
        .enumerate()
        .filter_map(|(idx, (pair, spreads))| {
            Some(PairFinding {
                a: table.observers[pair.a].clone(),
                b: table.observers[pair.b].clone(),
                consistency: error_consistency::finding_of_pair(spreads, pair.n_shared())?,
                answer_kappa: kappas.get(idx).copied().flatten(),
            })
        })
        .collect()
}

/// Returns each model against people, and how its numbers vary.
fn model_findings(
    resampling: &Resampling<'_>,
    accuracies: &[(Spread, Option<Estimate>)],
    seed: Seed,
    doubts: &mut Doubts,
) -> (Vec<ModelFinding>, Vec<ModelSpreads>) {
    let table = resampling.table;
    let mut findings = Vec::new();
    let mut all_spreads = Vec::new();
    for (model_idx, (spread, accuracy)) in (table.n_people..).zip(accuracies) {
        let candidates = (0..table.n_people).map(|person_idx| (person_idx, model_idx)).collect();
        let key = resampling.table_idx ^ ((model_idx as u64) << 40);
        let pairs = error_consistency::pairs(table, candidates, key, seed);
        doubts.add(&pairs);
        let consistency = compare(resampling, &pairs.pairs, 0).people;
        let model = table.observers[model_idx].clone();
        let n_pairs = pairs.pairs.len();
        if let Some(accuracy) = accuracy {
            findings.push(ModelFinding {
                model: model.clone(),
                accuracy: *accuracy,
                n_pairs,
                with_people: error_consistency::finding(&consistency, n_pairs, table.units.len()),
                shape_bias: None,
            });
        }
        all_spreads.push(ModelSpreads { model, accuracy: spread.clone(), consistency });
    }
    (findings, all_spreads)
}

fn participants(
    table: &Table,
    shape_biases: &[Option<Estimate>],
    effects: Option<BTreeMap<usize, Estimate>>,
    confidence: f64,
) -> Vec<ParticipantFinding> {
    let effects = effects.unwrap_or_default();
    accuracy::by_observer(table, confidence)
        .into_iter()
        .take(table.n_people)
        .enumerate()
        .filter_map(|(idx, accuracy)| {
            Some(ParticipantFinding {
                participant: table.observers[idx].clone(),
                accuracy: accuracy?,
                shape_bias: shape_biases[idx],
                effect: effects.get(&idx).copied(),
            })
        })
        .collect()
}

/// Fits participant and stimulus effects: the finding, and each participant's effect.
fn effects(
    table: &Table,
    key: u64,
    confidence: f64,
    seed: Seed,
    doubts: &mut Doubts,
) -> Option<(MixedLogistic, BTreeMap<usize, Estimate>)> {
    let mut people: Vec<usize> = (0..table.n_people).collect();
    let stimuli: BTreeMap<&StimulusId, usize> = {
        let ids: std::collections::BTreeSet<&StimulusId> =
            table.units.iter().map(|unit| &unit.stimulus).collect();
        ids.into_iter().enumerate().map(|(idx, id)| (id, idx)).collect()
    };
    let smaller = people.len().min(stimuli.len());
    if MAX_PEOPLE_IN_EFFECTS < smaller {
        Draw::new(seed, &[EFFECTS, key]).shuffle(&mut people);
        people.truncate(MAX_PEOPLE_IN_EFFECTS);
        people.sort_unstable();
        doubts.n_people_in_effects = Some(people.len());
    }
    let place: BTreeMap<usize, usize> =
        people.iter().enumerate().map(|(place, idx)| (*idx, place)).collect();
    let mut answers = Vec::new();
    for unit in &table.units {
        for showing in table.people(unit) {
            if let Some(participant_idx) = place.get(&showing.observer_idx) {
                answers.push(mixed_logistic::Answer {
                    participant_idx: *participant_idx,
                    stimulus_idx: stimuli[&unit.stimulus],
                    condition_idx: unit.condition_idx,
                    is_right: showing.is_right,
                });
            }
        }
    }
    let data = mixed_logistic::Answers {
        n_participants: people.len(),
        n_stimuli: stimuli.len(),
        n_conditions: table.conditions.len(),
        answers,
    };
    let unknown = |what: &str| format!("{what} in data set `{}`", table.name);
    let fit = match mixed_logistic::fit(&data, confidence) {
        Ok(fit) => fit,
        Err(_) => {
            doubts.not_identified.push(unknown("participant and stimulus effects"));
            return None;
        }
    };
    let n_per_stimulus = real(data.answers.len()) / real(data.n_stimuli);
    doubts.is_laplace_rough =
        ROUGH_SPREAD < fit.stimulus_sd.value && n_per_stimulus < ROUGH_ANSWERS;
    if !fit.is_settled {
        doubts.not_identified.push(unknown("participant and stimulus effects exactly"));
    }
    let log_odds: Vec<ConditionEffect> = table
        .conditions
        .iter()
        .zip(&fit.conditions)
        .filter_map(|(condition, log_odds)| {
            Some(ConditionEffect { condition: condition.clone(), log_odds: (*log_odds)? })
        })
        .collect();
    if log_odds.len() < table.conditions.len() {
        doubts
            .not_identified
            .push(unknown("the log-odds of conditions in which everybody was right, or wrong,"));
    }
    let mut effects: Vec<StimulusEffect> = stimuli
        .keys()
        .zip(&fit.stimuli)
        .map(|(stimulus, effect)| StimulusEffect { stimulus: (*stimulus).clone(), effect: *effect })
        .collect();
    effects.sort_by(|a, b| {
        a.effect.value.total_cmp(&b.effect.value).then(a.stimulus.cmp(&b.stimulus))
    });
    let model = MixedLogistic {
        conditions: log_odds,
        participant_sd: fit.participant_sd,
        stimulus_sd: fit.stimulus_sd,
        deviance: fit.deviance,
        stimuli: effects,
    };
    Some((model, people.into_iter().zip(fit.participants).collect()))
}
