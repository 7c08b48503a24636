//! Comparing designs: for the same people and stimuli, how often is the band right, and what does
//! it cost?
//!
//! A design says how trials are spread over exposures (fixed or adaptive) and how they become a
//! band (counting rule or model). Each is run on simulated stimuli whose true band is known.

use mohs_data::{Estimate, FlashDesign, Millis, MvtRule, Seed, SimulateOptions};
use rayon::prelude::*;
use serde::Serialize;

use super::flash::deal;
use super::truth::{TrueParticipant, TrueStimulus, Truth};
use crate::adaptive::exposure::{Prior, Step, Stopping, plan};
use crate::draw::Draw;
use crate::human::psychometric::Curve;
use crate::human::recognition::minimum_viewing_time;
use crate::human::threshold::{self, Answer, Answers, Fit};
use crate::human::viewing_time::ExposureCount;
use crate::proportion::{real, wilson};

/// Rounds of showing after which an adaptive study learns its prior anew from all answers.
const RELEARN_AFTER: [usize; 5] = [2, 4, 6, 9, 14];
/// Trials every stimulus gets before a spread budget favours the promising ones.
const N_BEFORE_SPREAD: usize = 4;
/// Trials a stimulus gets at most from a spread budget.
const N_MAX_SPREAD: usize = 24;

/// How trials are spread and turned into bands.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum Design {
    /// Every exposure equally often, counting rule.
    Counting {
        /// Participants per stimulus and exposure.
        per_cell: usize,
    },
    /// Every exposure equally often, model-based band.
    Model {
        /// Participants per stimulus and exposure.
        per_cell: usize,
    },
    /// Exposure chosen for each trial, model-based band, as many trials for every stimulus.
    Adaptive {
        /// Trials per stimulus.
        n_trials: usize,
    },
    /// As adaptive, but trials go to the stimuli whose next answer promises most.
    AdaptiveSpread {
        /// Trials per stimulus, on average.
        mean_trials: usize,
    },
    /// Exposure chosen for each trial, model-based band, until the band is known.
    AdaptiveStopping {
        /// Trials a stimulus gets at most.
        max_trials: usize,
        /// Probability of the band at which a stimulus is done.
        certainty: f64,
    },
}

impl Design {
    /// Returns the name in tables.
    pub fn name(&self) -> String {
        match self {
            Self::Counting { per_cell } => format!("counting, {per_cell} per exposure"),
            Self::Model { per_cell } => format!("model, {per_cell} per exposure"),
            Self::Adaptive { n_trials } => format!("adaptive, {n_trials} trials"),
            Self::AdaptiveSpread { mean_trials } => {
                format!("adaptive, {mean_trials} trials, spread")
            }
            Self::AdaptiveStopping { max_trials, certainty } => {
                format!("adaptive, to {:.0} %, max {max_trials}", certainty * 100.0)
            }
        }
    }
}

/// What all designs are run on.
#[derive(Debug, Clone)]
pub struct Setting<'a> {
    /// The simulated world.
    pub truth: &'a Truth,
    /// Exposures and trials per participant; `participants_per_cell` is the design's own.
    pub flash: &'a FlashDesign,
    /// Number of stimuli.
    pub n_stimuli: usize,
    /// Answers to choose from.
    pub n_labels: usize,
    /// Accuracy that counts as recognised.
    pub criterion: f64,
    /// Drop-out and costs.
    pub costs: &'a SimulateOptions,
    /// Seed of everything.
    pub seed: Seed,
}

impl Setting<'_> {
    fn guess_rate(&self) -> f64 {
        1.0 / real(self.n_labels.max(2))
    }
}

/// How a design did.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Outcome {
    /// The design.
    pub design: Design,
    /// Name of the simulated world.
    pub truth: String,
    /// Trials per stimulus, on average.
    pub trials_per_stimulus: f64,
    /// Share of stimuli whose band is right; n = stimuli.
    pub share_right: Estimate,
    /// Share of stimuli at most one band off; n = stimuli.
    pub share_near: Estimate,
    /// Share of stimuli whose 95 % interval holds the true threshold, where the design gives
    /// one; n = stimuli that have a threshold within reach of the exposures.
    pub coverage: Option<Estimate>,
    /// Participants needed.
    pub n_participants: usize,
    /// Minutes one participant takes, on average.
    pub minutes_per_participant: f64,
    /// Cost of all participants.
    pub cost: f64,
}

/// Everything one simulated run produced.
struct Run {
    answers: Answers,
    band_idx: Vec<usize>,
    fit: Option<Fit>,
}

/// Runs a design; `None` if the criterion cannot be told from guessing.
pub fn run(design: Design, setting: &Setting<'_>) -> Option<Outcome> {
    run_all(&[design], setting).pop()
}

/// Runs several designs, in order; those that cannot be run are left out.
///
/// Designs that differ only in the number of adaptive trials are one study looked at after more
/// and fewer trials, and are simulated once.
pub fn run_all(designs: &[Design], setting: &Setting<'_>) -> Vec<Outcome> {
    let stimuli: Vec<TrueStimulus> =
        (0..setting.n_stimuli).map(|idx| setting.truth.stimulus(setting.seed, idx)).collect();
    if stimuli.is_empty() {
        return Vec::new();
    }
    let n_even = |design: &Design| match design {
        Design::Adaptive { n_trials } => Some(*n_trials),
        _ => None,
    };
    let n_spread = |design: &Design| match design {
        Design::AdaptiveSpread { mean_trials } => Some(*mean_trials),
        _ => None,
    };
    let even = designs.iter().filter_map(n_even).max().and_then(|n_trials| {
        // A certainty above one is never reached: every stimulus gets all its trials.
        let stopping = Stopping { min_trials: n_trials, max_trials: n_trials, certainty: 2.0 };
        adaptive_study(&stimuli, &stopping, None, setting)
    });
    let spread = designs.iter().filter_map(n_spread).max().and_then(|mean_trials| {
        let stopping = Stopping { min_trials: 0, max_trials: N_MAX_SPREAD, certainty: 2.0 };
        adaptive_study(&stimuli, &stopping, Some(mean_trials * stimuli.len()), setting)
    });
    designs
        .par_iter()
        .filter_map(|design| {
            let answers = match *design {
                Design::Counting { per_cell } => {
                    let answers = fixed_answers(&stimuli, per_cell, setting);
                    let band_idx = counted_bands(&answers, setting.criterion);
                    let run = Run { answers, band_idx, fit: None };
                    return Some(judge(*design, &run, &stimuli, setting));
                }
                Design::Model { per_cell } => fixed_answers(&stimuli, per_cell, setting),
                Design::Adaptive { n_trials } => first_answers(even.as_ref()?, n_trials),
                Design::AdaptiveSpread { mean_trials } => {
                    first_answers(spread.as_ref()?, mean_trials)
                }
                Design::AdaptiveStopping { max_trials, certainty } => {
                    let stopping =
                        Stopping { min_trials: 5.min(max_trials), max_trials, certainty };
                    adaptive_study(&stimuli, &stopping, None, setting)?
                }
            };
            let run = modelled(answers, setting)?;
            Some(judge(*design, &run, &stimuli, setting))
        })
        .collect()
}

/// Cuts a study off when it has had `per_stimulus` trials per stimulus.
fn first_answers(study: &Answers, per_stimulus: usize) -> Answers {
    let n_answers = (per_stimulus * study.n_stimuli).min(study.answers.len());
    let answers = study.answers[..n_answers].to_vec();
    let n_participants = answers.last().map_or(0, |answer| answer.participant_idx + 1);
    Answers { answers, n_participants, exposures: study.exposures.clone(), ..*study }
}

const ANSWER: u64 = 20;
const QUEUE: u64 = 21;

/// Draws whether an answer is right. Keyed by place, so that it does not depend on the design's
/// order of work.
fn is_right(
    stimulus: &TrueStimulus,
    participant: &TrueParticipant,
    place: [u64; 2],
    exposure: Millis,
    setting: &Setting<'_>,
) -> bool {
    let mut draw = Draw::new(setting.seed, &[ANSWER, place[0], place[1]]);
    draw.chance(setting.truth.p_right(stimulus, participant, exposure, setting.guess_rate()))
}

fn fixed_answers(stimuli: &[TrueStimulus], per_cell: usize, setting: &Setting<'_>) -> Answers {
    let flash = FlashDesign { participants_per_cell: per_cell, ..setting.flash.clone() };
    let hands = deal(stimuli.len(), &flash, setting.seed);
    let n_participants = hands.len();
    let answers = hands
        .into_iter()
        .enumerate()
        .flat_map(|(participant_idx, hand)| {
            let participant = setting.truth.participant(setting.seed, participant_idx);
            hand.into_iter().map(move |planned| (participant_idx, participant, planned))
        })
        .map(|(participant_idx, participant, planned)| {
            let place = [participant_idx as u64, planned.stimulus_idx as u64];
            let exposure = flash.exposures_ms[planned.exposure_idx];
            let stimulus = &stimuli[planned.stimulus_idx];
            Answer {
                stimulus_idx: planned.stimulus_idx,
                exposure_idx: planned.exposure_idx,
                participant_idx,
                is_right: is_right(stimulus, &participant, place, exposure, setting),
            }
        })
        .collect();
    let exposures = flash.exposures_ms;
    Answers { exposures, n_stimuli: stimuli.len(), n_participants, answers }
}

/// Shows stimuli in rounds, each at the exposure that promises most.
///
/// Without a budget every unfinished stimulus is shown once per round. With one, rounds after the
/// first few show only the half that promises most, until the budget is spent.
fn adaptive_study(
    stimuli: &[TrueStimulus],
    stopping: &Stopping,
    budget: Option<usize>,
    setting: &Setting<'_>,
) -> Option<Answers> {
    let exposures = setting.flash.exposures_ms.clone();
    let curve = Curve::new(setting.guess_rate(), 0.02, setting.criterion)?;
    let mut prior = Prior::weak(&exposures, &curve)?;
    let mut trials: Vec<Vec<(Millis, bool)>> = vec![Vec::new(); stimuli.len()];
    let mut answers = Answers {
        exposures: exposures.clone(),
        n_stimuli: stimuli.len(),
        n_participants: 0,
        answers: Vec::new(),
    };
    for round in 0.. {
        let mut queue: Vec<(usize, Millis, f64)> = trials
            .par_iter()
            .enumerate()
            .filter_map(|(idx, trials)| match plan(&prior, trials, stopping) {
                Step::Show { exposure, gain_bits } => Some((idx, exposure, gain_bits)),
                Step::Stop { .. } => None,
            })
            .collect();
        if let Some(budget) = budget {
            if N_BEFORE_SPREAD <= round {
                queue.sort_by(|a, b| b.2.total_cmp(&a.2).then(a.0.cmp(&b.0)));
                queue.truncate(queue.len().div_ceil(2));
            }
            queue.truncate(budget - answers.answers.len());
        }
        if queue.is_empty() {
            break;
        }
        Draw::new(setting.seed, &[QUEUE, round as u64]).shuffle(&mut queue);
        for hand in queue.chunks(setting.flash.trials_per_participant) {
            let participant_idx = answers.n_participants;
            let participant = setting.truth.participant(setting.seed, participant_idx);
            for (stimulus_idx, exposure, _) in hand {
                let place = [participant_idx as u64, *stimulus_idx as u64];
                let stimulus = &stimuli[*stimulus_idx];
                let is_right = is_right(stimulus, &participant, place, *exposure, setting);
                trials[*stimulus_idx].push((*exposure, is_right));
                let exposure_idx = exposures
                    .iter()
                    .position(|known| known == exposure)
                    .expect("because the plan chooses among these exposures");
                answers.answers.push(Answer {
                    stimulus_idx: *stimulus_idx,
                    exposure_idx,
                    participant_idx,
                    is_right,
                });
            }
            answers.n_participants += 1;
        }
        if RELEARN_AFTER.contains(&(round + 1)) {
            let fit = threshold::fit(&answers, &fit_options(setting)).ok()?;
            prior = Prior::new(&exposures, &fit.curve, fit.ability_sd, &fit.weights)?;
        }
    }
    Some(answers)
}

fn fit_options(setting: &Setting<'_>) -> threshold::Options {
    threshold::Options {
        guess_rate: setting.guess_rate(),
        criterion: setting.criterion,
        confidence: 0.95,
        max_rounds: 60,
    }
}

fn modelled(answers: Answers, setting: &Setting<'_>) -> Option<Run> {
    let fit = threshold::fit(&answers, &fit_options(setting)).ok()?;
    let band_idx = fit.thresholds.iter().map(threshold::Threshold::most_probable_band).collect();
    Some(Run { answers, band_idx, fit: Some(fit) })
}

fn counted_bands(answers: &Answers, criterion: f64) -> Vec<usize> {
    let empty: Vec<ExposureCount> = answers
        .exposures
        .iter()
        .map(|exposure| ExposureCount { exposure: *exposure, n_trials: 0, n_correct: 0 })
        .collect();
    let mut counts = vec![empty; answers.n_stimuli];
    for answer in &answers.answers {
        let count = &mut counts[answer.stimulus_idx][answer.exposure_idx];
        count.n_trials += 1;
        count.n_correct += usize::from(answer.is_right);
    }
    counts
        .iter()
        .map(|counts| {
            let mvt = minimum_viewing_time(counts, criterion, MvtRule::Stays);
            let idx = mvt.and_then(|mvt| answers.exposures.iter().position(|ms| *ms == mvt));
            idx.unwrap_or(answers.exposures.len())
        })
        .collect()
}

fn judge(design: Design, run: &Run, stimuli: &[TrueStimulus], setting: &Setting<'_>) -> Outcome {
    let truth = setting.truth;
    let (criterion, guess_rate) = (setting.criterion, setting.guess_rate());
    let exposures = &run.answers.exposures;
    let (mut n_right, mut n_near) = (0, 0);
    let (mut n_covered, mut n_with_threshold) = (0, 0);
    for (idx, stimulus) in stimuli.iter().enumerate() {
        let band = truth.band_idx(stimulus, exposures, criterion, guess_rate);
        n_right += usize::from(band == run.band_idx[idx]);
        n_near += usize::from(band.abs_diff(run.band_idx[idx]) <= 1);
        let threshold = truth.threshold(stimulus, criterion, guess_rate);
        if let (Some(fit), Some(threshold)) = (&run.fit, threshold)
            && is_within_reach(threshold, exposures)
        {
            let ms = &fit.thresholds[idx].ms;
            n_with_threshold += 1;
            n_covered += usize::from(ms.low <= threshold.value() && threshold.value() <= ms.high);
        }
    }
    let n_answers = run.answers.answers.len();
    let n_participants = run.answers.n_participants;
    // Who leaves half-way is replaced by somebody who is paid as well.
    let n_recruited = real(n_participants) * (1.0 + setting.costs.drop_out);
    let seconds: f64 = run
        .answers
        .answers
        .iter()
        .map(|answer| {
            setting.costs.seconds_per_trial + exposures[answer.exposure_idx].value() / 1_000.0
        })
        .sum();
    let minutes_per_participant = seconds / 60.0 / real(n_participants.max(1));
    let hours = n_recruited * minutes_per_participant / 60.0;
    let share = |n| wilson(n, stimuli.len(), 0.95).expect("because there are stimuli");
    Outcome {
        design,
        truth: truth.name.to_owned(),
        trials_per_stimulus: real(n_answers) / real(stimuli.len()),
        share_right: share(n_right),
        share_near: share(n_near),
        coverage: wilson(n_covered, n_with_threshold, 0.95),
        n_participants: to_count(n_recruited.ceil()),
        minutes_per_participant,
        cost: hours * setting.costs.pay_per_hour * (1.0 + setting.costs.recruiter_fee),
    }
}

/// Returns whether exposures can say anything about a threshold: within a factor of four.
fn is_within_reach(threshold: Millis, exposures: &[Millis]) -> bool {
    let (Some(first), Some(last)) = (exposures.first(), exposures.last()) else { return false };
    first.value() / 4.0 <= threshold.value() && threshold.value() <= last.value() * 4.0
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a number of participants, positive and small"
)]
fn to_count(n: f64) -> usize {
    n as usize
}
