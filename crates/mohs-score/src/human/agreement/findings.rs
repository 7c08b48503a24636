//! What trials say about how people agree: the findings, as data.
//!
//! These types cross a boundary: they are the agreement chapter of `summary.json`. Nothing is
//! computed here. An absent number is one the data cannot give; the caveats say why.

use mohs_data::{Caveats, Estimate, Label, ParticipantId, StimulusId};
use serde::{Deserialize, Serialize};

use crate::human::viewing_time::ExclusionCount;

/// What trials say about how people agree.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Agreement {
    /// How it was computed.
    pub method: Method,
    /// Trials read, before exclusions.
    pub n_trials_read: usize,
    /// Trials counted.
    pub n_trials: usize,
    /// What was set aside, by rule, in the order the rules were applied.
    pub exclusions: Vec<ExclusionCount>,
    /// Means over the data sets, each counting the same.
    pub means: Means,
    /// Each data set, by name; one named `all` when trials name none.
    pub datasets: Vec<DatasetAgreement>,
    /// Reasons for less trust.
    pub caveats: Caveats,
}

/// How findings were computed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Method {
    /// Confidence of all intervals.
    pub confidence: f64,
    /// Bootstrap draws over stimuli.
    pub n_resamples: usize,
    /// Random halves of participants behind the split-half reliability.
    pub n_splits: usize,
    /// Whether conditions the benchmark leaves out count too.
    pub all_conditions: bool,
    /// Seed of draws and splits.
    pub seed: u64,
}

/// Means over data sets; n = data sets.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Means {
    /// Data sets.
    pub n_datasets: usize,
    /// Share of people's right answers; absent when there are only models.
    pub accuracy: Option<Estimate>,
    /// People with people; absent when some data set has no pair.
    pub people: Option<Consistency>,
    /// Each model, by name.
    pub models: Vec<ModelMeans>,
}

/// One model's means over the data sets it answered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ModelMeans {
    /// The model.
    pub model: ParticipantId,
    /// Data sets it answered.
    pub n_datasets: usize,
    /// Share of right answers.
    pub accuracy: Estimate,
    /// The model with people; absent when some data set has no people.
    pub with_people: Option<Consistency>,
}

/// How two observers err together, or the mean over pairs of observers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Consistency {
    /// κ: agreement in right and wrong beyond what the two accuracies explain.
    pub error_consistency: Estimate,
    /// Largest κ that two observers with these accuracies can reach.
    pub attainable_maximum: Estimate,
    /// Smallest κ that two observers with these accuracies can reach.
    pub attainable_minimum: Estimate,
    /// Share of stimuli on which both are right or both wrong.
    pub observed_consistency: Estimate,
    /// The same, expected of independent observers with these accuracies.
    pub expected_consistency: Estimate,
    /// Squared difference of the two accuracies.
    pub accuracy_difference: Estimate,
}

/// What one data set says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DatasetAgreement {
    /// Its name.
    pub name: String,
    /// Trials counted.
    pub n_trials: usize,
    /// People.
    pub n_participants: usize,
    /// Stimuli counted; one shown under two conditions counts twice.
    pub n_stimuli: usize,
    /// Conditions counted.
    pub n_conditions: usize,
    /// Share of people's right answers over all trials counted; n = trials.
    pub accuracy: Option<Estimate>,
    /// Pairs of people compared.
    pub n_pairs: usize,
    /// People with people: mean over conditions, then over pairs; n = pairs.
    pub people: Option<Consistency>,
    /// Each condition, those set aside included.
    pub conditions: Vec<ConditionFinding>,
    /// Each pair of people, unless there are too many to list; n = stimuli shared.
    pub pairs: Vec<PairFinding>,
    /// Each person.
    pub participants: Vec<ParticipantFinding>,
    /// Each model.
    pub models: Vec<ModelFinding>,
    /// Which of two cues people follow, where stimuli have two.
    pub shape_bias: Option<ShapeBias>,
    /// How people agree in the answers themselves.
    pub answers: Option<AnswerAgreement>,
    /// How well difficulty repeats, over all stimuli.
    pub reliability: Option<Reliability>,
    /// The same within conditions, where there are several.
    pub reliability_within_conditions: Option<Reliability>,
    /// Participant and stimulus effects.
    pub effects: Option<MixedLogistic>,
}

/// What one condition says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ConditionFinding {
    /// Its name; empty when trials name none.
    pub condition: String,
    /// Whether it counts in the numbers of the data set.
    pub counted: bool,
    /// Share of people's right answers; n = trials.
    pub accuracy: Option<Estimate>,
    /// People with people, mean over pairs; absent where the condition does not count; n = pairs.
    pub people: Option<Consistency>,
}

/// How two people agree.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PairFinding {
    /// One of them.
    pub a: ParticipantId,
    /// The other.
    pub b: ParticipantId,
    /// Mean over conditions; n = stimuli shared. The interval is over stimuli.
    pub consistency: Consistency,
    /// Cohen's κ of their answers; n = stimuli shared.
    pub answer_kappa: Option<Estimate>,
}

/// What is known about one person.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ParticipantFinding {
    /// The id.
    pub participant: ParticipantId,
    /// Share of right answers; Wilson interval; n = trials.
    pub accuracy: Estimate,
    /// Shape bias; Wilson interval; n = answers that follow either cue.
    pub shape_bias: Option<Estimate>,
    /// Log-odds of a right answer against the typical participant; n = trials.
    pub effect: Option<Estimate>,
}

/// What is known about one model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ModelFinding {
    /// Its name.
    pub model: ParticipantId,
    /// Share of right answers; n = trials.
    pub accuracy: Estimate,
    /// People compared with.
    pub n_pairs: usize,
    /// With people: mean over conditions, then over people; n = pairs.
    pub with_people: Option<Consistency>,
    /// Shape bias; Wilson interval; n = answers that follow either cue.
    pub shape_bias: Option<Estimate>,
}

/// Which of two conflicting cues people's answers follow.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ShapeBias {
    /// Answers that name the shape, stimuli with one class for both left out.
    pub n_shape: usize,
    /// Answers that name the texture.
    pub n_texture: usize,
    /// Share of shape among the two, all people pooled; n = answers that follow either cue.
    pub pooled: Estimate,
    /// The same by class of the shape.
    pub by_class: Vec<ClassShapeBias>,
}

/// Shape bias for one class.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ClassShapeBias {
    /// Class of the shape.
    pub class: Label,
    /// Share of shape; absent when no answer follows either cue.
    pub shape_bias: Option<Estimate>,
}

/// How people agree in the answers themselves, right or wrong.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AnswerAgreement {
    /// Fleiss' κ over all people; n = stimuli with two answers or more.
    pub fleiss_kappa: Option<Estimate>,
    /// Mean of Cohen's κ over pairs; n = pairs.
    pub mean_pair_kappa: Option<Estimate>,
}

/// How well a stimulus's share of right answers repeats with other people; n = stimuli.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Reliability {
    /// Correlation between random halves of the people who saw each stimulus.
    pub split_half: Option<Estimate>,
    /// Spearman–Brown: the reliability of the mean over everybody.
    pub spearman_brown: Option<Estimate>,
    /// Square root of that: the largest correlation a perfect predictor of difficulty can reach.
    pub ceiling: Option<Estimate>,
    /// Mean correlation of one person with the others: what a person reaches.
    pub ceiling_low: Option<Estimate>,
    /// Mean correlation of one person with everybody, that person included.
    pub ceiling_high: Option<Estimate>,
}

/// Participant and stimulus effects on the log-odds of a right answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MixedLogistic {
    /// Log-odds of a right answer in each condition for a typical person and stimulus; n = trials.
    pub conditions: Vec<ConditionEffect>,
    /// Standard deviation over participants, in log-odds; n = participants.
    pub participant_sd: Estimate,
    /// Standard deviation over stimuli, in log-odds; n = stimuli.
    pub stimulus_sd: Estimate,
    /// −2 × log-likelihood in Laplace's approximation.
    pub deviance: f64,
    /// Each stimulus against the typical one of its condition, from hardest; n = trials.
    pub stimuli: Vec<StimulusEffect>,
}

/// The typical log-odds in one condition.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ConditionEffect {
    /// The condition; empty when trials name none.
    pub condition: String,
    /// Log-odds of a right answer.
    pub log_odds: Estimate,
}

/// One stimulus's effect.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StimulusEffect {
    /// The stimulus.
    pub stimulus: StimulusId,
    /// Log-odds of a right answer; negative is harder.
    pub effect: Estimate,
}
