//! Viewing time: how long must people see a stimulus to recognise it?
//!
//! Brings the parts of this measure together and holds its findings. The counting rule is in
//! `recognition.rs`, the model-based threshold in `threshold.rs`, intervals over participants and
//! stimuli in `resample.rs`. The page is `docs/methods/viewing-time.md`.

mod doubts;
mod findings;
mod groups;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use mohs_data::{
    Caveat, Caveats, Estimate, Exclusion, ExclusionRules, Label, Millis, MvtRule, ParticipantId,
    ScoreOptions, Seed, Stimulus, StimulusId, Task, Trial,
};

pub use self::findings::{
    Band, BandFinding, ExclusionCount, ExposureCount, ExposurePoint, Group, HistogramBin, Method,
    ParticipantFinding, PriorPoint, StimulusFinding, ThresholdModel, ViewingTime,
};
use self::groups::{Groups, Naming};
use super::exclusion;
use super::recognition::{minimum_viewing_time, n_errors};
use super::threshold::{self, Answer, Answers, Fit};
use crate::proportion::{real, wilson, wilson_of_share};
use crate::resample::Pigeonhole;

/// Name of the measure in files of difficulty.
pub const MEASURE: &str = "viewing-time";
/// Bins of the histogram of difficulty.
const N_BINS: usize = 21;
/// Guess rate assumed when nothing says how many answers there were to choose from.
const UNKNOWN_GUESS_RATE: f64 = 0.1;
/// Share of the way from guessing to certainty within which a criterion is called near guessing.
const NEAR_GUESSING: f64 = 0.1;
/// Rounds after which the threshold fit is called unsettled.
const MAX_ROUNDS: usize = 100;

/// Everything scoring needs.
#[derive(Debug, Clone, Copy)]
pub struct Input<'a> {
    /// The trials; only flash trials with an exposure are used.
    pub trials: &'a [Trial],
    /// What is known about the stimuli; may be empty.
    pub stimuli: &'a [Stimulus],
    /// Number of answers participants chose from; `None` counts the labels seen.
    pub n_labels: Option<usize>,
    /// Which data are set aside.
    pub rules: &'a ExclusionRules,
    /// How to score.
    pub options: &'a ScoreOptions,
    /// Seed of the bootstrap.
    pub seed: Seed,
}

/// Why trials cannot be scored.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Error {
    /// No flash trial at all.
    #[error("there is no flash trial with an exposure among {n_trials} trials")]
    NoFlashTrials {
        /// Trials given.
        n_trials: usize,
    },
    /// The rules set everything aside.
    #[error("the exclusion rules set aside all {n_trials} trials")]
    NothingLeft {
        /// Trials before exclusions.
        n_trials: usize,
    },
    /// An answer cannot be judged.
    #[error(
        "trial `{trial}` has an answer but neither a label nor a mark says whether it is right"
    )]
    NotJudged {
        /// The trial.
        trial: String,
    },
    /// The model cannot be fitted.
    #[error(transparent)]
    Threshold(#[from] threshold::Error),
}

/// Scores flash trials: findings, and what was set aside.
///
/// The order of trials does not matter.
pub fn score(input: &Input<'_>) -> Result<(ViewingTime, Vec<Exclusion>), Error> {
    let is_flash = |trial: &&Trial| trial.task == Task::Flash && trial.exposure.is_some();
    // Most files hold nothing else, and then need no copy.
    let flashes: Cow<'_, [Trial]> = if input.trials.iter().all(|trial| is_flash(&trial)) {
        Cow::Borrowed(input.trials)
    } else {
        input.trials.iter().filter(is_flash).cloned().collect()
    };
    if flashes.is_empty() {
        return Err(Error::NoFlashTrials { n_trials: input.trials.len() });
    }
    if let Some(trial) = flashes.iter().find(|trial| trial.is_correct().is_none()) {
        return Err(Error::NotJudged { trial: trial.id.to_string() });
    }
    let applied = exclusion::apply(&flashes, input.rules);
    if applied.kept.is_empty() {
        return Err(Error::NothingLeft { n_trials: flashes.len() });
    }
    let data = Collected::new(&applied.kept, input.stimuli);
    let mut caveats = Caveats::default();
    let options = input.options;
    let guess_rate =
        chance_of_right_guess(options.guess_rate, input.n_labels, &applied.kept, &mut caveats);
    let fit = threshold::fit(
        &data.answers,
        &threshold::Options {
            guess_rate,
            criterion: model_criterion(input.options.criterion, guess_rate, &mut caveats),
            confidence: input.options.confidence,
            max_rounds: MAX_ROUNDS,
        },
    )?;
    let stimuli = stimulus_findings(&data, &fit, input.options);
    doubts::of_everything(&data, &applied.kept, flashes.len(), &fit, &stimuli, input, &mut caveats);
    let pigeonhole = Pigeonhole {
        answers: &data.answers.answers,
        n_stimuli: data.stimuli.len(),
        n_participants: data.participants.len(),
        n_exposures: data.answers.exposures.len(),
        n_resamples: input.options.n_resamples,
        confidence: input.options.confidence,
        seed: input.seed,
    };
    let groups = Groups::new(&data, &stimuli, &pigeonhole, &fit);
    let by_dataset = groups.by(Naming::Dataset);
    let everything = groups.everything();
    let findings = ViewingTime {
        method: Method {
            criterion: input.options.criterion,
            rule: input.options.rule,
            guess_rate,
            confidence: input.options.confidence,
            n_resamples: input.options.n_resamples,
            seed: input.seed.0,
        },
        n_trials_read: flashes.len(),
        n_trials: applied.kept.len(),
        n_participants: data.participants.len(),
        n_stimuli: data.stimuli.len(),
        exclusions: applied.counts,
        exposures: data.answers.exposures.clone(),
        accuracy: everything.0,
        accuracy_by_exposure: everything.1,
        bands: groups.bands(),
        difficulty_histogram: histogram(&stimuli, &by_dataset),
        by_label: groups.by(Naming::Label),
        by_level: by_level(&groups),
        by_dataset,
        model: model(&fit),
        participants: participant_findings(&data, &applied.kept, &fit, input.options.confidence),
        stimuli: from_easiest(stimuli),
        caveats,
    };
    Ok((findings, applied.exclusions))
}

/// Trials as numbers, in an order that does not depend on the file's.
struct Collected<'a> {
    stimuli: Vec<Known<'a>>,
    participants: Vec<&'a ParticipantId>,
    answers: Answers,
}

/// What is known about a stimulus apart from its trials.
struct Known<'a> {
    id: &'a StimulusId,
    label: Option<&'a Label>,
    dataset: Option<String>,
    attribute: Option<String>,
    level: Option<String>,
}

impl<'a> Collected<'a> {
    fn new(kept: &[&'a Trial], stimuli: &'a [Stimulus]) -> Self {
        let table: BTreeMap<&StimulusId, &Stimulus> =
            stimuli.iter().map(|stimulus| (&stimulus.id, stimulus)).collect();
        let mut labels: BTreeMap<&StimulusId, Option<&Label>> = BTreeMap::new();
        let mut exposures: BTreeSet<Millis> = BTreeSet::new();
        let mut participants: BTreeSet<&ParticipantId> = BTreeSet::new();
        for trial in kept {
            // The smallest label, should trials of one stimulus disagree: any fixed choice does.
            let label = labels.entry(&trial.stimulus).or_default();
            *label = match (*label, trial.label.as_ref()) {
                (Some(a), Some(b)) => Some(a.min(b)),
                (a, b) => a.or(b),
            };
            exposures.extend(trial.exposure);
            participants.insert(&trial.participant);
        }
        let known: Vec<Known<'a>> = labels
            .into_iter()
            .map(|(id, label)| {
                let row = table.get(id);
                Known {
                    id,
                    label: row.map(|row| &row.label).or(label),
                    dataset: row.and_then(|row| row.dataset.clone()),
                    attribute: row.and_then(|row| row.attribute.clone()),
                    level: row.and_then(|row| row.level.clone()),
                }
            })
            .collect();
        let exposures: Vec<Millis> = exposures.into_iter().collect();
        let participants: Vec<&ParticipantId> = participants.into_iter().collect();
        let position = "because it was collected from the same trials";
        let mut answers: Vec<Answer> = kept
            .iter()
            .map(|trial| Answer {
                stimulus_idx: known
                    .binary_search_by(|known| known.id.cmp(&trial.stimulus))
                    .expect(position),
                exposure_idx: trial
                    .exposure
                    .and_then(|exposure| exposures.binary_search(&exposure).ok())
                    .expect(position),
                participant_idx: participants.binary_search(&&trial.participant).expect(position),
                is_right: trial.is_correct() == Some(true),
            })
            .collect();
        answers.sort_unstable();
        let (n_stimuli, n_participants) = (known.len(), participants.len());
        let answers = Answers { exposures, n_stimuli, n_participants, answers };
        Self { stimuli: known, participants, answers }
    }
}

/// Returns the chance of a right guess: as given, or one over the number of labels, or, with a
/// caveat, one over the number of labels seen.
pub(crate) fn chance_of_right_guess(
    given: Option<f64>,
    n_labels: Option<usize>,
    kept: &[&Trial],
    caveats: &mut Caveats,
) -> f64 {
    if let Some(guess_rate) = given {
        return guess_rate;
    }
    if let Some(n_labels) = n_labels.filter(|n| 2 <= *n) {
        return 1.0 / real(n_labels);
    }
    let seen: BTreeSet<&Label> =
        kept.iter().flat_map(|trial| trial.label.iter().chain(&trial.response)).collect();
    let n_labels = seen.len();
    let guess_rate = if n_labels < 2 { UNKNOWN_GUESS_RATE } else { 1.0 / real(n_labels) };
    caveats.add(Caveat::GuessRateAssumed { guess_rate, n_labels });
    guess_rate
}

/// Returns the criterion thresholds are given for: the counting rule's, unless guessing comes close
/// to it; then half-way between guessing and certainty, as is usual when there are two choices.
pub fn model_criterion(criterion: f64, guess_rate: f64, caveats: &mut Caveats) -> f64 {
    if guess_rate + NEAR_GUESSING * (1.0 - guess_rate) < criterion {
        return criterion;
    }
    let model_criterion = f64::midpoint(1.0, guess_rate);
    caveats.add(Caveat::CriterionNearGuessing { criterion, guess_rate, model_criterion });
    model_criterion
}

fn stimulus_findings(
    data: &Collected<'_>,
    fit: &Fit,
    options: &ScoreOptions,
) -> Vec<StimulusFinding> {
    let exposures = &data.answers.exposures;
    let empty: Vec<ExposureCount> = exposures
        .iter()
        .map(|exposure| ExposureCount { exposure: *exposure, n_trials: 0, n_correct: 0 })
        .collect();
    let mut counts = vec![empty; data.stimuli.len()];
    for answer in &data.answers.answers {
        let count = &mut counts[answer.stimulus_idx][answer.exposure_idx];
        count.n_trials += 1;
        count.n_correct += usize::from(answer.is_right);
    }
    let band = |idx: usize| Band { idx, mvt: exposures.get(idx).copied() };
    data.stimuli
        .iter()
        .zip(counts)
        .zip(&fit.thresholds)
        .map(|((known, counts), threshold)| {
            let mvt_by = |rule| minimum_viewing_time(&counts, options.criterion, rule);
            let (mvt_first, mvt_stays) = (mvt_by(MvtRule::First), mvt_by(MvtRule::Stays));
            let mvt = if options.rule == MvtRule::First { mvt_first } else { mvt_stays };
            let band_idx = mvt.and_then(|mvt| exposures.binary_search(&mvt).ok());
            let n_trials = counts.iter().map(|count| count.n_trials).sum();
            let n_errors = n_errors(&counts);
            StimulusFinding {
                stimulus: known.id.clone(),
                label: known.label.cloned(),
                dataset: known.dataset.clone(),
                attribute: known.attribute.clone(),
                level: known.level.clone(),
                n_errors,
                difficulty: wilson(n_errors, n_trials, options.confidence)
                    .expect("because a stimulus is collected from its trials"),
                balanced_difficulty: balanced_difficulty(&counts, options.confidence)
                    .expect("because a stimulus is collected from its trials"),
                mvt,
                mvt_first,
                mvt_stays,
                band: band(band_idx.unwrap_or(exposures.len())),
                threshold_ms: threshold.ms,
                p_mvt_at_most: threshold.p_at_most.clone(),
                model_band: band(threshold.most_probable_band()),
                caveats: doubts::of_stimulus(&counts, options.criterion),
                counts,
            }
        })
        .collect()
}

/// Returns the mean over exposures of the share wrong at each; `None` without trials.
fn balanced_difficulty(counts: &[ExposureCount], confidence: f64) -> Option<Estimate> {
    let tested: Vec<&ExposureCount> = counts.iter().filter(|count| 0 < count.n_trials).collect();
    let wrong = |count: &&ExposureCount| 1.0 - real(count.n_correct) / real(count.n_trials);
    let mean = tested.iter().map(wrong).sum::<f64>() / real(tested.len());
    let n_trials = tested.iter().map(|count| count.n_trials).sum();
    wilson_of_share(mean.clamp(0.0, 1.0), n_trials, confidence)
}

fn model(fit: &Fit) -> ThresholdModel {
    let mut below = 0.0;
    let median_slope = fit
        .grid
        .slopes()
        .iter()
        .zip(&fit.weights.slopes)
        .find(|(_, weight)| {
            below += **weight;
            0.5 <= below
        })
        .map_or(1.0, |(slope, _)| *slope);
    ThresholdModel {
        guess_rate: fit.curve.guess_rate,
        lapse_rate: fit.curve.lapse_rate,
        slope_per_doubling: median_slope * std::f64::consts::LN_2,
        ability_sd: fit.ability_sd,
        n_rounds: fit.n_rounds,
        threshold_prior: fit
            .grid
            .ln_thresholds()
            .iter()
            .zip(&fit.weights.thresholds)
            .filter_map(|(ln_threshold, weight)| {
                Some(PriorPoint { threshold: Millis::new(ln_threshold.exp())?, weight: *weight })
            })
            .collect(),
    }
}

fn participant_findings(
    data: &Collected<'_>,
    kept: &[&Trial],
    fit: &Fit,
    confidence: f64,
) -> Vec<ParticipantFinding> {
    let mut rts: BTreeMap<&ParticipantId, Vec<Millis>> = BTreeMap::new();
    for trial in kept {
        rts.entry(&trial.participant).or_default().extend(trial.rt());
    }
    let longest_idx = data.answers.exposures.len() - 1;
    let mut counts = vec![[(0, 0); 2]; data.participants.len()];
    for answer in &data.answers.answers {
        let [all, at_longest] = &mut counts[answer.participant_idx];
        all.0 += 1;
        all.1 += usize::from(answer.is_right);
        if answer.exposure_idx == longest_idx {
            at_longest.0 += 1;
            at_longest.1 += usize::from(answer.is_right);
        }
    }
    data.participants
        .iter()
        .zip(counts)
        .zip(&fit.abilities)
        .map(|((participant, [all, at_longest]), ability)| ParticipantFinding {
            participant: (*participant).clone(),
            accuracy: wilson(all.1, all.0, confidence)
                .expect("because a participant is collected from trials"),
            accuracy_at_longest: wilson(at_longest.1, at_longest.0, confidence),
            ability: *ability,
            median_rt: rts.remove(participant).and_then(exclusion::median),
        })
        .collect()
}

fn from_easiest(mut stimuli: Vec<StimulusFinding>) -> Vec<StimulusFinding> {
    stimuli.sort_by(|a, b| {
        a.difficulty
            .value
            .total_cmp(&b.difficulty.value)
            .then(a.threshold_ms.value.total_cmp(&b.threshold_ms.value))
            .then(a.stimulus.cmp(&b.stimulus))
    });
    stimuli
}

/// Groups by attribute and level; levels in their own order, not the alphabet's.
fn by_level(groups: &Groups<'_>) -> Vec<Group> {
    let mut by_level = groups.by(Naming::Level);
    let words = ["easy", "medium", "hard"];
    by_level.sort_by_cached_key(|group| {
        let (attribute, level) = group.name.rsplit_once(" · ").unwrap_or_default();
        let rank = words.iter().position(|word| *word == level).map(|rank| rank as u64);
        let rank = rank.or_else(|| level.parse().ok()).unwrap_or(u64::MAX);
        (attribute.to_owned(), rank, level.to_owned())
    });
    by_level
}

fn histogram(stimuli: &[StimulusFinding], by_dataset: &[Group]) -> Vec<HistogramBin> {
    let n_datasets = by_dataset.len();
    let mut bins: Vec<HistogramBin> = (0..N_BINS)
        .map(|idx| HistogramBin {
            low: real(idx) / real(N_BINS),
            high: real(idx + 1) / real(N_BINS),
            n_by_dataset: vec![0; n_datasets],
        })
        .collect();
    for stimulus in stimuli {
        let bin_idx =
            bins.iter().position(|bin| stimulus.difficulty.value < bin.high).unwrap_or(N_BINS - 1);
        let dataset = stimulus.dataset.clone().unwrap_or_default();
        if let Some(idx) = by_dataset.iter().position(|group| group.name == dataset) {
            bins[bin_idx].n_by_dataset[idx] += 1;
        }
    }
    bins
}
