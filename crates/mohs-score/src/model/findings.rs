//! What predictions say: the findings, as data.
//!
//! These types cross a boundary: they are the models chapter of `summary.json`. Nothing is
//! computed here. An absent number is one the data cannot give; the caveats say why.

use mohs_data::{Caveats, Estimate, Label, ModelName, StimulusId};
use serde::{Deserialize, Serialize};

use crate::human::agreement::Consistency;

/// What predictions say.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ModelFindings {
    /// How it was computed.
    pub method: Method,
    /// Rows read.
    pub n_predictions: usize,
    /// Rows with an answer.
    pub n_answered: usize,
    /// Rows without an answer, counted and never averaged.
    pub n_failed: usize,
    /// Rows whose right answer nothing says.
    pub n_unjudged: usize,
    /// Stimuli that some model was shown.
    pub n_stimuli: usize,
    /// Which rows the findings below rest on, unless they say otherwise.
    pub view: View,
    /// Bands of difficulty from easy to hard, with how many stimuli each has; empty without a
    /// difficulty.
    pub bands: Vec<Cell>,
    /// Each model, in the order of the evaluation.
    pub models: Vec<ModelFinding>,
    /// Pairs of models on the stimuli both answered, all pairs or those with the first models.
    pub comparisons: Vec<PairedComparison>,
    /// Groups of models that the comparisons cannot tell apart, best first; a model may stand in
    /// several.
    pub ties: Vec<Vec<ModelName>>,
    /// Accuracy on one data set minus that on another, on easy and on hard stimuli.
    pub gap: Option<AccuracyGap>,
    /// How pairs of models err together.
    pub consistency: Vec<ConsistencyOf>,
    /// How models and people err together; empty without trials of people.
    pub with_people: Vec<PeopleConsistency>,
    /// Accuracy by class.
    pub labels: Vec<GroupAccuracy>,
    /// Accuracy by attribute, and by level within an attribute.
    pub attributes: Vec<GroupAccuracy>,
    /// Accuracy as a condition (noise level, epoch …) or a probe changes.
    pub axes: Vec<Axis>,
    /// What people find easy and models fail, and the reverse.
    pub surprises: Option<Surprises>,
    /// How early in training stimuli were learned, where predictions run through epochs.
    pub learning: Vec<LearningSpeed>,
    /// Reasons of failed rows, the most frequent first.
    pub failures: Vec<FailureCount>,
    /// Reasons for less trust.
    pub caveats: Caveats,
}

/// How findings were computed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Method {
    /// Confidence of all intervals.
    pub confidence: f64,
    /// Classes that are drawn; stimuli, when stimuli are.
    pub n_clusters: usize,
    /// Bootstrap draws.
    pub n_resamples: usize,
    /// What is drawn together in the bootstrap.
    pub cluster: Cluster,
    /// The measure of difficulty that bands come from.
    pub difficulty: Option<String>,
    /// How bands were made.
    pub band_origin: Option<BandOrigin>,
    /// Power at which the minimum detectable effect is stated.
    pub power: f64,
    /// Seed of the draws.
    pub seed: u64,
}

/// What is drawn together in the bootstrap.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cluster {
    /// Classes, with all their stimuli.
    Label,
    /// Classes first, then stimuli within them.
    LabelThenStimulus,
    /// Stimuli on their own.
    Stimulus,
}

/// Where bands come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BandOrigin {
    /// The column `band` of the difficulty file.
    Named,
    /// The difficulty cut into parts with equally many stimuli.
    Quantiles,
    /// The column `level` of the stimuli.
    Levels,
}

/// Which rows findings rest on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct View {
    /// The probe.
    pub probe: Option<String>,
    /// The condition and its value (the last epoch of any model); absent when rows have none or all
    /// values count.
    pub condition: Option<(String, f64)>,
    /// Rows.
    pub n_predictions: usize,
}

/// A named group of stimuli and its size.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Cell {
    /// Its name.
    pub name: String,
    /// Stimuli.
    pub n_stimuli: usize,
}

/// What one model did.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ModelFinding {
    /// The model.
    pub model: ModelName,
    /// Which family it belongs to, and its place in it from small to large.
    pub family: Option<Family>,
    /// Rows without an answer.
    pub n_failed: usize,
    /// Share of right answers; absent when nothing says what is right. n = stimuli.
    pub accuracy: Option<BandAccuracy>,
    /// Share of stimuli whose right answer is among the first five.
    pub top_5: Option<Estimate>,
    /// Mean over classes of the share of right answers; n = classes.
    pub mean_per_class: Option<Estimate>,
    /// By band, in the order of the bands; absent where a band has no answer.
    pub bands: Vec<Option<BandAccuracy>>,
    /// Accuracy in the easiest band minus that in the hardest.
    pub drop: Option<Estimate>,
    /// Rank correlation of the model's right answers with people's difficulty (negative: it fails
    /// on what people find hard).
    pub difficulty_correlation: Option<Estimate>,
    /// How far confidence can be believed, overall; absent without confidences.
    pub calibration: Option<Calibration>,
    /// The same by band.
    pub calibration_by_band: Vec<Option<Calibration>>,
}

/// A family of models.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Family {
    /// Its name.
    pub name: String,
    /// Place from small to large.
    pub place: usize,
}

/// A share of right answers with two intervals.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BandAccuracy {
    /// Right answers.
    pub n_right: usize,
    /// Wilson's interval, as if stimuli were independent; n = stimuli.
    pub wilson: Estimate,
    /// The cluster bootstrap's interval.
    pub clustered: Estimate,
}

/// How far confidence can be believed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Calibration {
    /// Expected calibration error, plain; n = stimuli.
    pub ece: Estimate,
    /// Root of the debiased mean squared calibration error.
    pub debiased: Estimate,
    /// Mean confidence minus accuracy: above 0 is too sure.
    pub overconfidence: Estimate,
    /// Brier score of the first answer.
    pub brier: Estimate,
    /// The part of the Brier score that calibration would remove.
    pub brier_reliability: f64,
    /// The part that telling stimuli apart gains, within bins as well as between them.
    pub brier_resolution: f64,
    /// The part that lies in the stimuli.
    pub brier_uncertainty: f64,
    /// Bins of equal mass, from unsure to sure.
    pub bins: Vec<CalibrationBin>,
}

/// Answers of similar confidence.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CalibrationBin {
    /// Mean confidence.
    pub confidence: f64,
    /// Share of right answers; n = answers.
    pub accuracy: Estimate,
}

/// Two models on the stimuli both answered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PairedComparison {
    /// One model.
    pub first: ModelName,
    /// The other.
    pub second: ModelName,
    /// Stimuli that both answered.
    pub n_stimuli: usize,
    /// Stimuli only the first got right.
    pub n_only_first: usize,
    /// Stimuli only the second got right.
    pub n_only_second: usize,
    /// Accuracy of the first minus that of the second, with the paired interval.
    pub difference: Estimate,
    /// The same with the interval that draws classes.
    pub clustered: Estimate,
    /// McNemar's test with the mid-p value, two-sided; what the corrections start from.
    pub p: f64,
    /// McNemar's exact test: never too small, and too large when few stimuli differ.
    pub p_exact: f64,
    /// The test that goes with the interval that draws classes.
    pub p_clustered: f64,
    /// The same after Holm's correction over all pairs: for claims about the family of pairs.
    pub p_holm: f64,
    /// The same after Benjamini and Hochberg's: for a list of discoveries.
    pub p_bh: f64,
    /// The smallest true difference that this many stimuli would show with the stated power.
    pub minimum_detectable: f64,
    /// By band: the difference, and its p corrected over bands (Benjamini and Hochberg); in the
    /// order of the bands.
    pub bands: Vec<Option<(Estimate, f64)>>,
}

impl PairedComparison {
    /// Returns whether the two can be told apart: corrected for all pairs, and also if other classes
    /// had been drawn. Models often win by whole classes, and then McNemar's test alone is too sure.
    pub fn is_apart(&self, level: f64) -> bool {
        self.p_holm < level && self.p_clustered < level
    }
}

/// Accuracy on one data set minus that on another.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AccuracyGap {
    /// The data set that is usually easier, e.g. `imagenet`.
    pub first: String,
    /// The other, e.g. `objectnet`.
    pub second: String,
    /// Bands that count as easy.
    pub easy: Vec<String>,
    /// Bands that count as hard.
    pub hard: Vec<String>,
    /// Each model.
    pub models: Vec<BandGap>,
}

/// One model's gaps.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BandGap {
    /// The model.
    pub model: ModelName,
    /// Its family.
    pub family: Option<Family>,
    /// Accuracy on the first data set, by band in the order of the bands.
    pub first: Vec<Option<Estimate>>,
    /// Accuracy on the second.
    pub second: Vec<Option<Estimate>>,
    /// The gap on all stimuli.
    pub overall: Option<Estimate>,
    /// The gap on easy stimuli.
    pub easy: Option<Estimate>,
    /// The gap on hard stimuli.
    pub hard: Option<Estimate>,
}

/// How two models err together.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ConsistencyOf {
    /// One model.
    pub first: ModelName,
    /// The other.
    pub second: ModelName,
    /// Stimuli both answered.
    pub n_stimuli: usize,
    /// What was found.
    pub consistency: Consistency,
}

/// How a model and people err together.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PeopleConsistency {
    /// The model.
    pub model: ModelName,
    /// People it was compared with.
    pub n_participants: usize,
    /// Mean over people; n = stimuli.
    pub consistency: Consistency,
    /// People with people, on all stimuli that they and some model saw.
    pub ceiling: Option<Consistency>,
}

/// Accuracy of all models in a group of stimuli.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GroupAccuracy {
    /// The group, e.g. a class or an attribute.
    pub name: String,
    /// The level within an attribute.
    pub level: Option<String>,
    /// Stimuli.
    pub n_stimuli: usize,
    /// Share of right answers by model, in the order of the models.
    pub models: Vec<Option<Estimate>>,
    /// Whether the model is worse here than on the other stimuli, corrected over groups
    /// (Benjamini and Hochberg), in the order of the models; absent where nothing can be said.
    pub p_worse_bh: Vec<Option<f64>>,
}

/// What changes, and how accuracy follows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Axis {
    /// What changes: `probe`, or the name of a condition.
    pub name: String,
    /// Whether its values are numbers in order.
    pub is_numeric: bool,
    /// The values, in order.
    pub values: Vec<ConditionAccuracy>,
}

/// Accuracy at one value of an axis.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ConditionAccuracy {
    /// The value as it is shown, e.g. `0.35` or `blur 3`.
    pub name: String,
    /// The value as a number, on a numeric axis.
    pub value: Option<f64>,
    /// Share of right answers by model, in the order of the models.
    pub models: Vec<Option<Estimate>>,
}

/// What people find easy and models fail, and the reverse.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Surprises {
    /// Easy for people, failed by most models; the most surprising first.
    pub easy_but_failed: Vec<Surprise>,
    /// Hard for people, solved by most models.
    pub hard_but_solved: Vec<Surprise>,
    /// How many stimuli of the easiest band all models fail.
    pub n_easy_failed_by_all: usize,
    /// How many stimuli of the hardest band all models solve.
    pub n_hard_solved_by_all: usize,
}

/// A stimulus on which models and people part.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Surprise {
    /// The stimulus.
    pub stimulus: StimulusId,
    /// What it shows, where anything says so.
    pub label: Option<Label>,
    /// Its difficulty for people.
    pub difficulty: Estimate,
    /// Its band.
    pub band: Option<String>,
    /// Models that got it right.
    pub n_right: usize,
    /// Models that answered.
    pub n_models: usize,
    /// The wrong answer given most often, and by how many models.
    pub usual_mistake: Option<(Label, usize)>,
}

/// How early in training stimuli were learned, for one model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LearningSpeed {
    /// The model.
    pub model: ModelName,
    /// Epochs.
    pub n_epochs: usize,
    /// Stimuli with an answer in every epoch.
    pub n_stimuli: usize,
    /// Mean share of epochs in which a stimulus is right; n = stimuli.
    pub mean: Estimate,
    /// Rank correlation of that share with people's difficulty (negative: what people find hard is
    /// learned late).
    pub difficulty_correlation: Option<Estimate>,
    /// Mean by band, in the order of the bands.
    pub bands: Vec<Option<Estimate>>,
    /// Accuracy in each epoch.
    pub by_epoch: Vec<(f64, Estimate)>,
}

/// Why rows have no answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FailureCount {
    /// The reason, without the name of the file.
    pub reason: String,
    /// Rows.
    pub n: usize,
    /// One of the stimuli.
    pub example: StimulusId,
}
