//! What comparisons say: the findings of paired judgements, as data.
//!
//! These types cross a boundary: they are the paired-judgements chapter of `summary.json`. Little
//! is computed here: the rows of `difficulty.csv`, and the difference between two stimuli, which
//! refuses to compare what nobody compared.

use mohs_data::{Caveats, Difficulty, Estimate, Extra, Label, Millis, ParticipantId, StimulusId};
use serde::{Deserialize, Serialize};

use crate::proportion::normal_quantile;

/// What comparisons say about stimuli and people.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PairedJudgements {
    /// How it was computed.
    pub method: Method,
    /// Judgements counted.
    pub n_judgements: usize,
    /// Of these, "neither is harder".
    pub n_ties: usize,
    /// Participants with at least one judgement.
    pub n_participants: usize,
    /// Stimuli judged.
    pub n_stimuli: usize,
    /// Different pairs judged, whichever side they stood on.
    pub n_pairs: usize,
    /// How the fit went.
    pub fit: FitFinding,
    /// Groups of stimuli that chains of comparisons join. Difficulties of different components
    /// have no common zero and are never compared.
    pub components: Vec<ComponentFinding>,
    /// Each stimulus, by component and, in it, from easiest to hardest.
    pub stimuli: Vec<StimulusFinding>,
    /// Difficulty against the levels that were meant; `None` when stimuli have no ordered levels.
    pub levels: Option<LevelFinding>,
    /// Davidson's tie parameter ν: a tie is as likely as ν/2 times either answer about two equally
    /// hard stimuli; n = judgements. `None` without ties, or when they were split.
    pub tie_parameter: Option<Estimate>,
    /// Whether the left or the right is favoured; `None` when the file does not know the sides.
    pub position: Option<PositionFinding>,
    /// Whether people agree; `None` when no pair was judged by two of them.
    pub agreement: Option<AgreementFinding>,
    /// Each participant, by id.
    pub participants: Vec<ParticipantFinding>,
    /// Reasons for less trust.
    pub caveats: Caveats,
}

/// How findings were computed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Method {
    /// What was done with ties.
    pub ties: Ties,
    /// Where a prior was used.
    pub prior: Prior,
    /// Whether difficulties are those at no bias for a side.
    pub accounts_for_position: bool,
    /// The question judged, where one of several was chosen.
    pub question: Option<String>,
    /// Confidence of all intervals.
    pub confidence: f64,
    /// Bootstrap draws.
    pub n_resamples: usize,
    /// What each draw takes anew.
    pub resampled: Resampled,
    /// Seed of the bootstrap.
    pub seed: u64,
}

/// What is done with the answer "neither".
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ties {
    /// It is an answer with a chance of its own (Davidson 1970).
    #[default]
    Davidson,
    /// It is half an answer for each.
    Half,
}

/// Where a Gaussian prior on difficulty, in log-odds, keeps numbers finite.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "use", rename_all = "kebab-case")]
pub enum Prior {
    /// Only in separated components, whose maximum likelihood does not exist.
    WhenSeparated {
        /// Its standard deviation.
        sd: f64,
    },
    /// Everywhere.
    Always {
        /// Its standard deviation.
        sd: f64,
    },
    /// Nowhere: separated data are refused.
    Never,
}

/// Standard deviation of the prior when nothing else is said.
///
/// One such step turns even odds into 12 to 1. Gelman et al. (2008), "A weakly informative default
/// prior distribution for logistic and other regression models", use this scale.
pub const PRIOR_SD: f64 = 2.5;

impl Default for Prior {
    fn default() -> Self {
        Self::WhenSeparated { sd: PRIOR_SD }
    }
}

/// What a bootstrap draw takes anew.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Resampled {
    /// Participants, with all their judgements.
    Participants,
    /// Judgements, because only one participant is named.
    Judgements,
}

/// How the fit went.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct FitFinding {
    /// Rounds of Newton's method.
    pub n_rounds: usize,
    /// Largest gradient left, in judgements; 0 is the top.
    pub gradient: f64,
    /// Bootstrap draws in which some component was separated, so that the prior's rule decided.
    pub n_separated_draws: usize,
}

/// Stimuli joined by comparisons.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ComponentFinding {
    /// Its number, from 1.
    pub number: usize,
    /// Label and attribute, where all its stimuli share them.
    pub name: Option<String>,
    /// Stimuli in it.
    pub n_stimuli: usize,
    /// Different pairs judged in it.
    pub n_pairs: usize,
    /// Judgements in it.
    pub n_judgements: usize,
    /// Participants who judged in it.
    pub n_participants: usize,
    /// Whether some stimuli only ever won or lost against the others, so that the maximum of the
    /// likelihood lies at infinity.
    pub is_separated: bool,
    /// Standard deviation of the prior used; `None` for none.
    pub prior_sd: Option<f64>,
    /// Kendall's τ-b between difficulty and level inside; n = stimuli. `None` without levels, or
    /// when they do not differ.
    pub kendall: Option<Estimate>,
}

/// What is known about one stimulus.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StimulusFinding {
    /// Its id.
    pub stimulus: StimulusId,
    /// Its label, where known.
    pub label: Option<Label>,
    /// Its attribute, where known.
    pub attribute: Option<String>,
    /// Its level, where known.
    pub level: Option<String>,
    /// Number of its component.
    pub component: usize,
    /// Its rank in the component; 1 is the hardest.
    pub rank: usize,
    /// Difficulty in log-odds against the mean of its component; interval by Fisher information;
    /// n = judgements.
    pub difficulty: Estimate,
    /// The same with the interval of the bootstrap; `None` when no draw had an answer.
    pub difficulty_by_people: Option<Estimate>,
    /// Quasi-variance: that of a difference is about the sum of two.
    pub quasi_variance: f64,
    /// Times it was called harder.
    pub n_harder: usize,
    /// Times neither was.
    pub n_ties: usize,
    /// Codes of the caveats that concern this stimulus.
    pub caveats: Vec<String>,
}

/// Difficulty against the levels that were meant.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LevelFinding {
    /// The levels from easiest to hardest, and how hard people found them.
    pub levels: Vec<LevelGroup>,
    /// Over all stimuli; difficulty and level are taken from the mean of the component, so that
    /// components are not compared; n = stimuli.
    pub overall: Correlations,
    /// Mean over components of the correlation inside each; n = components.
    pub within: Correlations,
    /// Share of pairs of stimuli, in one component and of different levels, whose difficulties are
    /// in the order of the levels, ties counting half; n = pairs. `None` without such pairs.
    #[serde(default)]
    pub in_order: Option<Estimate>,
    /// The same for each two levels.
    #[serde(default)]
    pub pairs: Vec<LevelPairOrder>,
}

/// How often people's difficulty puts two levels in their order.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LevelPairOrder {
    /// The level meant to be easier.
    pub easier: String,
    /// The level meant to be harder.
    pub harder: String,
    /// Share of pairs in order; n = pairs. `None` without such pairs.
    pub in_order: Option<Estimate>,
}

/// Stimuli of one level.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LevelGroup {
    /// Its name.
    pub level: String,
    /// The number it stands for.
    pub value: f64,
    /// Mean difficulty; interval by bootstrap; n = stimuli. `None` when no draw had an answer.
    pub difficulty: Option<Estimate>,
}

/// Three correlations; `None` where one cannot be told.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Correlations {
    /// Pearson's r.
    pub pearson: Option<Estimate>,
    /// Spearman's ρ.
    pub spearman: Option<Estimate>,
    /// Kendall's τ-b.
    pub kendall: Option<Estimate>,
}

/// Whether a side is favoured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PositionFinding {
    /// Share of "left" among answers that are no tie; n = judgements.
    pub share_left: Estimate,
    /// What standing on the left adds, in log-odds, whatever stood there; interval by Fisher
    /// information; n = judgements. `None` when it cannot be told, as when everybody says "left".
    pub left_advantage: Option<Estimate>,
}

/// Whether people agree.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AgreementFinding {
    /// Pairs judged by at least two participants.
    pub n_pairs: usize,
    /// Mean number of judgements of such a pair.
    pub judgements_per_pair: f64,
    /// Chance that two people's judgements of a pair are the same; n = pairs.
    pub observed: Estimate,
    /// The same if they answered by chance.
    pub expected: f64,
    /// Agreement beyond chance, 1 is perfect; n = pairs. `None` when chance alone is perfect.
    pub kappa: Option<Estimate>,
}

/// What is known about one participant.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ParticipantFinding {
    /// The id.
    pub participant: ParticipantId,
    /// Judgements.
    pub n_judgements: usize,
    /// Of these, ties.
    pub n_ties: usize,
    /// Share of answers that call the stimulus harder which everybody else's judgements make
    /// harder; Wilson interval; n = judgements. `None` when the others say nothing about them.
    pub agreement_with_rest: Option<Estimate>,
    /// Share of "left" among answers that are no tie; `None` without such, or without sides.
    pub share_left: Option<Estimate>,
    /// Median time from onset to answer.
    pub median_rt: Option<Millis>,
}

/// Why two stimuli are not compared.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// Nobody judged it.
    #[error("nobody judged the stimulus `{stimulus}`")]
    UnknownStimulus {
        /// The stimulus.
        stimulus: StimulusId,
    },
    /// No chain of comparisons joins them.
    #[error(
        "no chain of comparisons joins `{a}` (component {component_a}) and `{b}` (component \
         {component_b}), so nothing can be said about their difference"
    )]
    DifferentComponents {
        /// One stimulus.
        a: StimulusId,
        /// The other.
        b: StimulusId,
        /// Component of `a`.
        component_a: usize,
        /// Component of `b`.
        component_b: usize,
    },
    /// The findings were read from a file that claims impossible numbers.
    #[error("the findings hold a quasi-variance or a confidence that is none")]
    NotANumber,
}

impl PairedJudgements {
    /// Returns how much harder `a` is than `b`, in log-odds; refuses stimuli of different
    /// components. The interval is made of quasi-variances; n = judgements of the two.
    pub fn difference(&self, a: &StimulusId, b: &StimulusId) -> Result<Estimate, Refusal> {
        let (a, b) = (self.find(a)?, self.find(b)?);
        if a.component != b.component {
            return Err(Refusal::DifferentComponents {
                a: a.stimulus.clone(),
                b: b.stimulus.clone(),
                component_a: a.component,
                component_b: b.component,
            });
        }
        let value = a.difficulty.value - b.difficulty.value;
        let variance =
            if a.stimulus == b.stimulus { 0.0 } else { a.quasi_variance + b.quasi_variance };
        let half = normal_quantile(0.5 + self.method.confidence / 2.0) * variance.sqrt();
        let n = a.difficulty.n.saturating_add(b.difficulty.n);
        Estimate::new(value, value - half, value + half, self.method.confidence, n)
            .ok_or(Refusal::NotANumber)
    }

    fn find(&self, stimulus: &StimulusId) -> Result<&StimulusFinding, Refusal> {
        self.stimuli
            .iter()
            .find(|finding| finding.stimulus == *stimulus)
            .ok_or_else(|| Refusal::UnknownStimulus { stimulus: stimulus.clone() })
    }

    /// Returns the rows of `difficulty.csv`, by component and, in it, from easiest to hardest.
    pub fn difficulties(&self) -> Vec<Difficulty> {
        self.stimuli.iter().map(difficulty_of).collect()
    }
}

fn difficulty_of(stimulus: &StimulusFinding) -> Difficulty {
    // Six digits say more than the data do and keep the file readable.
    let digits = |x: f64| format!("{x:.6}").trim_end_matches('0').trim_end_matches('.').to_owned();
    let people = |of: fn(&Estimate) -> f64| {
        stimulus.difficulty_by_people.as_ref().map(of).map(digits).unwrap_or_default()
    };
    let extra = Extra::from_pairs([
        ("component", stimulus.component.to_string()),
        ("rank", stimulus.rank.to_string()),
        ("n_harder", stimulus.n_harder.to_string()),
        ("n_ties", stimulus.n_ties.to_string()),
        ("bootstrap_low", people(|estimate| estimate.low)),
        ("bootstrap_high", people(|estimate| estimate.high)),
        ("quasi_variance", digits(stimulus.quasi_variance)),
    ]);
    Difficulty {
        stimulus: stimulus.stimulus.clone(),
        measure: super::MEASURE.into(),
        estimate: stimulus.difficulty,
        band: None,
        caveats: stimulus.caveats.clone(),
        extra,
    }
}
