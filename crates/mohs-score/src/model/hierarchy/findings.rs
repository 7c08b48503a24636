//! What models do on a ladder: the findings, as data.
//!
//! These types cross a boundary: they are the ladder chapter of `summary.json`. Nothing is computed
//! here. An absent number is one the data cannot give; the caveats say why.

use mohs_data::{Caveats, Estimate, Label, ModelName};
use serde::{Deserialize, Serialize};

use crate::human::bradley_terry::{Correlations, LevelGroup, LevelPairOrder};
use crate::model::{Cell, Cluster, FailureCount, View};

/// What models do on a ladder.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LadderFindings {
    /// How it was computed.
    pub method: Method,
    /// Rows read.
    pub n_predictions: usize,
    /// Rows without an answer, counted and never averaged.
    pub n_failed: usize,
    /// Rows whose right answer nothing says.
    pub n_unjudged: usize,
    /// Stimuli with a level that some model was shown.
    pub n_stimuli: usize,
    /// Which rows the findings rest on.
    pub view: View,
    /// Levels from easy to hard, with how many stimuli each has.
    pub levels: Vec<Cell>,
    /// Attributes, with how many stimuli each has; empty when stimuli have none.
    pub attributes: Vec<Cell>,
    /// Cells with a stimulus at some level.
    pub n_cells: usize,
    /// Cells with a stimulus at every level: those that chains are made of.
    pub n_complete_cells: usize,
    /// Each model with an outcome on the ladder, in the order of the evaluation.
    pub models: Vec<LadderModel>,
    /// Whether models with a higher score of one kind have a higher score of the other; absent with
    /// fewer than three models.
    pub with_accuracy: Option<ScoreCorrelation>,
    /// Whether people find the levels as hard as they were meant; absent without comparisons.
    pub validity: Option<LevelValidity>,
    /// Reasons of failed rows, the most frequent first.
    pub failures: Vec<FailureCount>,
    /// Reasons for less trust.
    pub caveats: Caveats,
}

/// How findings were computed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Method {
    /// What says how hard stimuli are.
    pub by: LevelOrigin,
    /// The column or the measure of difficulty that levels come from.
    pub tag: Option<String>,
    /// What a cell is.
    pub cells: CellKind,
    /// Weight of each level in the weighted score; they add up to 1.
    pub weights: Vec<f64>,
    /// Confidence of all intervals.
    pub confidence: f64,
    /// Classes that are drawn; stimuli, when stimuli are.
    pub n_clusters: usize,
    /// Bootstrap draws.
    pub n_resamples: usize,
    /// What is drawn together in the bootstrap.
    pub cluster: Cluster,
    /// Seed of the draws.
    pub seed: u64,
}

/// Where levels come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LevelOrigin {
    /// The column `level` of the stimuli.
    Level,
    /// Another column of the stimuli.
    Column,
    /// Bands of human difficulty.
    Difficulty,
}

/// What a cell is: the stimuli that chains are made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CellKind {
    /// Stimuli of one label and one attribute.
    LabelAndAttribute,
    /// Stimuli of one label, whatever their attribute.
    Label,
}

/// What one model did.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LadderModel {
    /// The model.
    pub model: ModelName,
    /// Rows without an answer.
    pub n_failed: usize,
    /// All stimuli: accuracy and score by level.
    pub overall: LadderRow,
    /// The same by attribute, in the order of the attributes.
    pub attributes: Vec<LadderRow>,
    /// The hierarchical learning score by label, in the order of their names; labels without a
    /// complete cell are left out.
    pub labels: Vec<LabelHierarchy>,
    /// Patterns of right and wrong answers along a chain, hierarchical ones first, from all right to
    /// all wrong. With more than [`super::MOST_LISTED`] levels only the hierarchical ones.
    pub patterns: Vec<PatternShare>,
    /// The hierarchical learning score by drawn chains, as it was published; absent without a
    /// complete chain.
    pub sampled: Option<SampledChains>,
    /// Confidence by level, in the order of the levels; absent where no answer has one.
    pub confidence: Vec<Option<LevelConfidence>>,
}

/// Accuracy, score and hierarchy on some stimuli.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LadderRow {
    /// Share of right answers; n = stimuli.
    pub accuracy: Option<Estimate>,
    /// The same by level, in the order of the levels.
    pub levels: Vec<Option<Estimate>>,
    /// Weighted score: accuracy by level, weighted; n = stimuli. Absent when a level has no answer.
    pub score: Option<Estimate>,
    /// Hierarchical learning score; absent without a complete cell.
    pub hierarchy: Option<Hierarchy>,
}

/// The hierarchical learning score, beside what chance makes of the accuracies.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Hierarchy {
    /// Share of chains with a hierarchical pattern, over all chains of a cell, mean over cells;
    /// n = cells.
    pub score: Estimate,
    /// The same if answers at one level said nothing about those at another; n = cells.
    pub baseline: Estimate,
    /// Score above the baseline, as a share of what is left above it; n = cells. Absent when the
    /// baseline leaves nothing.
    pub excess: Option<Estimate>,
}

/// The hierarchical learning score on one label.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LabelHierarchy {
    /// The label.
    pub label: Label,
    /// Its complete cells.
    pub n_cells: usize,
    /// Mean over its cells.
    pub score: f64,
    /// Mean baseline of its cells.
    pub baseline: f64,
    /// The score with the interval that draws its cells; absent with fewer than two.
    pub estimate: Option<Estimate>,
}

/// How often a pattern comes up.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PatternShare {
    /// Right or wrong, from the easiest level to the hardest.
    pub right: Vec<bool>,
    /// Whether nothing is right after a wrong answer.
    pub is_hierarchical: bool,
    /// Chains with it among all that there are.
    pub n_all: u64,
    /// Chains with it among those drawn.
    pub n_sampled: usize,
    /// Share over all chains of a cell, mean over cells; n = cells.
    pub share: Estimate,
}

/// Chains drawn at random, each stimulus in one of them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SampledChains {
    /// Chains with an answer to judge at every level.
    pub n_chains: usize,
    /// Those with a hierarchical pattern.
    pub n_hierarchical: usize,
    /// Their share with Wilson's interval, as if chains were independent; n = chains.
    pub share: Estimate,
}

/// Confidence at one level.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LevelConfidence {
    /// Mean confidence; n = answers.
    pub mean: Estimate,
    /// 5th, 25th, 50th, 75th and 95th percentile.
    pub percentiles: [f64; 5],
    /// Right answers with a confidence.
    pub n_right: usize,
    /// Wrong answers with a confidence.
    pub n_wrong: usize,
    /// Median confidence of right answers.
    pub median_right: Option<f64>,
    /// Median confidence of wrong answers.
    pub median_wrong: Option<f64>,
    /// Answers by confidence in ten equal steps from 0 to 1: right and wrong ones.
    pub steps: Vec<(usize, usize)>,
}

/// The hierarchical learning score against accuracy, over models.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ScoreCorrelation {
    /// Pearson's r with the interval for other models of the same kind (Fisher); n = models. Absent
    /// with fewer than four models.
    pub over_models: Option<Estimate>,
    /// The same for these models on other classes; n = models.
    pub over_classes: Option<Estimate>,
    /// Pearson's r of the excess over the baseline with accuracy, for these models on other classes;
    /// n = models.
    pub excess: Option<Estimate>,
}

/// Whether people find the levels as hard as they were meant.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LevelValidity {
    /// Judgements counted.
    pub n_judgements: usize,
    /// Participants.
    pub n_participants: usize,
    /// Stimuli with a level that were judged.
    pub n_stimuli: usize,
    /// Groups of stimuli that comparisons join; nothing is compared across them.
    pub n_components: usize,
    /// Levels with their mean difficulty for people.
    pub levels: Vec<LevelGroup>,
    /// Share of pairs of stimuli, in one component and of different levels, that people's difficulty
    /// puts in the order of the levels, ties counting half; n = pairs.
    pub in_order: Option<Estimate>,
    /// The same for each two levels.
    pub pairs: Vec<LevelPairOrder>,
    /// Mean over components of the correlations of level and difficulty; n = components.
    pub within: Correlations,
    /// The same over all stimuli, both taken from the mean of their component; n = stimuli.
    pub overall: Correlations,
    /// Kendall's τ-b inside each component.
    pub components: Vec<ComponentValidity>,
}

/// Levels and difficulty in one component.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ComponentValidity {
    /// What its stimuli share, or its number.
    pub name: String,
    /// Stimuli in it.
    pub n_stimuli: usize,
    /// Kendall's τ-b; absent when its stimuli have one level.
    pub kendall: Option<Estimate>,
}
