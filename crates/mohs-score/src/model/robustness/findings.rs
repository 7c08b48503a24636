//! What attacks say: the findings, as data.
//!
//! These types cross a boundary: they are the attacks chapter of `summary.json`. Nothing is
//! computed here. An absent number is one the data cannot give; the caveats say why.

use mohs_data::{Caveats, Estimate, Goal, ModelName, Norm};
use serde::{Deserialize, Serialize};

use crate::model::{BandAccuracy, BandOrigin, Cell, Cluster, FailureCount};

/// What attacks say.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AttackFindings {
    /// How it was computed.
    pub method: Method,
    /// Rows read.
    pub n_rows: usize,
    /// Rows whose attack reaches its goal.
    pub n_found: usize,
    /// Rows whose attack does not, up to the largest ε tried.
    pub n_survived: usize,
    /// Rows with nothing to attack.
    pub n_not_attacked: usize,
    /// Rows without an outcome, counted and never averaged.
    pub n_failed: usize,
    /// Stimuli that some row is about.
    pub n_stimuli: usize,
    /// Bands of difficulty from easy to hard, with how many stimuli each has; empty without a
    /// difficulty.
    pub bands: Vec<Cell>,
    /// Each model, in the order of the rows.
    pub models: Vec<AttackedModel>,
    /// Right answers before any attack: each further model against the first.
    pub clean_comparisons: Vec<CleanComparison>,
    /// Attacks that may be held against each other: one norm, one goal, one kind of search.
    pub tables: Vec<AttackTable>,
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
    /// Seed of the draws.
    pub seed: u64,
}

/// One model before it is attacked, and signs that its gradients are masked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AttackedModel {
    /// The model.
    pub model: ModelName,
    /// Share of right answers before any attack; n = stimuli.
    pub clean: Option<BandAccuracy>,
    /// The same by band, in the order of the bands.
    pub clean_by_band: Vec<Option<BandAccuracy>>,
    /// Signs that gradients are masked.
    pub masking: Masking,
}

/// Signs that a model's gradients do not tell how robust it is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Masking {
    /// Share of rows whose gradient is zero everywhere; n = rows of attacks that took a gradient.
    pub zero_gradients: Option<Estimate>,
    /// Share of rows where the same picture got two different answers; n = rows that did not fail.
    pub random_answers: Option<Estimate>,
    /// Rows that say the model answers with probabilities.
    pub n_probabilities: usize,
    /// Share of stimuli that the attack without gradients (`square`) fools at a smaller ε than every
    /// attack with gradients; n = stimuli on which that can be said.
    pub black_box_first: Option<Estimate>,
    /// Whether any of these gives reason for doubt.
    pub is_suspect: bool,
}

/// Right answers of two models before any attack.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CleanComparison {
    /// The model compared with.
    pub first: ModelName,
    /// The other.
    pub second: ModelName,
    /// Share of right answers of the second minus that of the first; n = stimuli of both.
    pub overall: Option<Estimate>,
    /// The same by band.
    pub bands: Vec<Option<Estimate>>,
    /// The difference in the easiest band minus that in the hardest.
    pub easy_minus_hard: Option<Estimate>,
}

/// Attacks of one norm, one goal and one kind of search.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AttackTable {
    /// How the size of a change is measured.
    pub norm: Norm,
    /// What the attacks are after.
    pub goal: Goal,
    /// Whether ε are bounds from above (minimum-norm attacks) instead of the smallest of a grid.
    pub is_bound: bool,
    /// Where restricted means end: the largest ε up to which all groups are known.
    pub horizon: f64,
    /// Each model under each attack, models first, both in the order of the rows.
    pub attacks: Vec<AttackFinding>,
    /// Each further model against the first, under the same attack.
    pub comparisons: Vec<GainComparison>,
}

/// One model under one attack.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AttackFinding {
    /// The model.
    pub model: ModelName,
    /// The attack; with its parameters where the same attack ran with several.
    pub attack: String,
    /// Parameters of the attack that count.
    pub settings: String,
    /// All stimuli.
    pub overall: EpsilonGroup,
    /// By band, in the order of the bands.
    pub bands: Vec<EpsilonGroup>,
    /// Share that is not fooled as ε grows: the easiest and the hardest band, or all stimuli where
    /// there are no bands.
    pub curves: Vec<SurvivalCurve>,
    /// Restricted mean in the easiest band minus that in the hardest: above 0, easier stimuli need
    /// larger ε. n = stimuli of both bands.
    pub easy_minus_hard: Option<Estimate>,
    /// The easiest band against the hardest.
    pub log_rank: Option<LogRank>,
    /// All bands against each other.
    pub log_rank_all: Option<LogRank>,
    /// Whether bands are fooled the sooner the harder they are.
    pub trend: Option<TrendTest>,
    /// How ε and difficulty go together.
    pub correlation: Option<RankCorrelation>,
    /// How far the fast search can be believed.
    pub audit: Option<Audit>,
    /// Means up to the attack's own horizon; absent where that is the horizon of the table.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alone: Option<Alone>,
    /// Rows that rest on the fast search alone.
    pub n_fast: usize,
    /// How often the model was asked for an answer.
    pub n_forward: u64,
    /// How often the model was asked for an answer and a gradient.
    pub n_gradient: u64,
}

impl AttackFinding {
    /// Returns whether ε is the length of one of several steps, so that the whole change may be
    /// larger: the fast gradient sign method with more than one step.
    pub fn is_step_length(&self) -> bool {
        let steps = self.settings.split_whitespace().find_map(|word| word.strip_prefix("steps="));
        self.attack.starts_with("fgsm") && steps.is_some_and(|steps| steps != "1")
    }
}

impl AttackTable {
    /// Returns the names of attacks whose ε is the length of a step, where others stand beside them.
    pub fn step_lengths(&self) -> Vec<&str> {
        let steps: Vec<_> = self.attacks.iter().filter(|one| one.is_step_length()).collect();
        let mut names: Vec<&str> = Vec::new();
        for one in &steps {
            if !names.contains(&one.attack.as_str()) {
                names.push(&one.attack);
            }
        }
        if steps.len() < self.attacks.len() { names } else { Vec::new() }
    }
}

/// An attack on its own, where others of its table were tried less far.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Alone {
    /// Where restricted means end: the largest ε up to which all groups of this attack are known.
    pub horizon: f64,
    /// All stimuli.
    pub overall: EpsilonGroup,
    /// By band, in the order of the bands.
    pub bands: Vec<EpsilonGroup>,
    /// Restricted mean in the easiest band minus that in the hardest.
    pub easy_minus_hard: Option<Estimate>,
}

/// What an attack needs on a group of stimuli.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EpsilonGroup {
    /// Stimuli on which the attack reaches its goal.
    pub n_fooled: usize,
    /// Stimuli on which it does not.
    pub n_survived: usize,
    /// Stimuli with nothing to attack.
    pub n_not_attacked: usize,
    /// Stimuli without an outcome.
    pub n_failed: usize,
    /// Mean of the smallest ε among the fooled alone; absent below two of them. n = fooled.
    pub mean_fooled: Option<Estimate>,
    /// Mean of the smallest ε when survivors count with the horizon: the area under the curve of
    /// survivors from 0 to the horizon. n = stimuli attacked.
    pub restricted_mean: Option<Estimate>,
    /// What is known at the horizon; absent in findings of versions that did not count it.
    #[serde(default)]
    pub at_horizon: Option<AtHorizon>,
}

/// What is known of stimuli at the horizon.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct AtHorizon {
    /// Stimuli that survive every ε up to the horizon, also those that a larger one fools.
    pub n_survived: usize,
    /// Survivors that were not tried as far as that.
    pub n_unknown: usize,
}

impl AtHorizon {
    /// Returns whether every stimulus is fooled up to the horizon.
    pub fn is_none_left(self) -> bool {
        self.n_survived + self.n_unknown == 0
    }
}

impl EpsilonGroup {
    /// Returns the stimuli that were attacked.
    pub fn n_attacked(&self) -> usize {
        self.n_fooled + self.n_survived
    }
}

/// Share of stimuli that are not fooled, as ε grows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SurvivalCurve {
    /// The band; absent for all stimuli.
    pub band: Option<String>,
    /// Stimuli attacked.
    pub n_stimuli: usize,
    /// Where the curve falls, by ascending ε; before the first step it is 1.
    pub steps: Vec<SurvivalStep>,
    /// The largest ε up to which it is known; absent when nothing is left.
    pub known_to: Option<f64>,
}

/// Where a curve falls.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SurvivalStep {
    /// The ε.
    pub epsilon: f64,
    /// Stimuli fooled at this ε.
    pub n_fooled: usize,
    /// Share that survives it; n = stimuli that had survived every smaller ε.
    pub survival: Estimate,
}

/// Whether groups are fooled at different ε.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LogRank {
    /// The statistic.
    pub chi_squared: f64,
    /// Its degrees of freedom: groups less one.
    pub degrees: usize,
    /// Its p-value.
    pub p: f64,
    /// The same after Holm's correction over all models and attacks of the table.
    pub p_holm: f64,
    /// Stimuli attacked.
    pub n_stimuli: usize,
    /// Stimuli fooled.
    pub n_fooled: usize,
}

/// Whether groups in order are fooled ever sooner.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TrendTest {
    /// The statistic: above 0, harder bands are fooled at smaller ε.
    pub z: f64,
    /// Its p-value, two-sided.
    pub p: f64,
    /// Stimuli attacked.
    pub n_stimuli: usize,
}

/// How ε and people's difficulty go together.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RankCorrelation {
    /// Kendall's τ-b over pairs whose order of ε is known (negative: what people find hard is fooled
    /// at smaller ε). n = stimuli.
    pub tau_b: Estimate,
    /// Harrell's C: the share of pairs with a known order of ε in which the harder stimulus is fooled
    /// first, pairs of equal difficulty counting one half.
    pub concordance: Estimate,
    /// Spearman's ρ; only where every stimulus is fooled.
    pub spearman: Option<Estimate>,
}

/// How far the fast search can be believed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Audit {
    /// Share of audited rows on which the fast search says something else; n = audited rows.
    pub disagreement: Estimate,
    /// Rows on which the fast search missed a smaller ε, or any.
    pub n_too_large: usize,
    /// Rows on which it claimed a smaller one.
    pub n_too_small: usize,
}

/// What one model gains on another under an attack, on stimuli both get right.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GainComparison {
    /// The attack.
    pub attack: String,
    /// The model compared with.
    pub first: ModelName,
    /// The other.
    pub second: ModelName,
    /// Stimuli that were attacked on both.
    pub n_stimuli: usize,
    /// Restricted mean of the second minus that of the first.
    pub overall: Option<Estimate>,
    /// The same by band.
    pub bands: Vec<Option<Estimate>>,
    /// The gain in the easiest band minus that in the hardest: above 0, the second model gains more
    /// on easy stimuli.
    pub easy_minus_hard: Option<Estimate>,
}
