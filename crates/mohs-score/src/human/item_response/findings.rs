//! What a response matrix says: the findings of the item response model, as data.
//!
//! These types cross a boundary: they are the item response chapter of `summary.json`. Nothing is
//! computed here but the rows of `difficulty.csv`.

use mohs_data::{Caveats, Difficulty, Estimate, Extra, ParticipantId, StimulusId};
use serde::{Deserialize, Serialize};

/// The name of the measure in `difficulty.csv`.
pub const MEASURE: &str = "item-response";

/// What a response matrix says about stimuli and participants.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ItemResponse {
    /// How it was computed.
    pub method: Method,
    /// People who answered.
    pub n_participants: usize,
    /// Stimuli answered.
    pub n_stimuli: usize,
    /// Answers in all.
    pub n_answers: usize,
    /// How well the model fits as a whole.
    pub model_fit: ModelFit,
    /// Whether stimuli differ in discrimination; `None` when there is no such test, for the reason
    /// a caveat gives.
    pub comparison: Option<ModelComparison>,
    /// Share of the variance of estimated abilities that is not error; interval by bootstrap over
    /// participants; n = participants. `None` when everybody has the same estimate.
    pub reliability: Option<Estimate>,
    /// Each stimulus, from easiest to hardest; those without difficulty come last.
    pub stimuli: Vec<StimulusFinding>,
    /// Each participant, by id; numbers in ids count as numbers.
    pub participants: Vec<ParticipantFinding>,
    /// Reasons for less trust.
    pub caveats: Caveats,
}

impl ItemResponse {
    /// Returns the rows of `difficulty.csv`, from easiest to hardest. Stimuli whose discrimination
    /// is too low to have a difficulty have no row; a caveat names them.
    pub fn difficulties(&self) -> Vec<Difficulty> {
        // Six digits say more than the data do and keep the file readable.
        let digits =
            |x: f64| format!("{x:.6}").trim_end_matches('0').trim_end_matches('.').to_owned();
        let row = |finding: &StimulusFinding| {
            let estimate = finding.difficulty?;
            Some(Difficulty {
                stimulus: finding.stimulus.clone(),
                measure: MEASURE.into(),
                estimate,
                band: None,
                caveats: finding.caveats.clone(),
                extra: Extra::from_pairs([
                    ("discrimination", digits(finding.discrimination.value)),
                    ("discrimination_low", digits(finding.discrimination.low)),
                    ("discrimination_high", digits(finding.discrimination.high)),
                    ("intercept", digits(finding.intercept.value)),
                    ("expected_error", digits(finding.expected_error.value)),
                    ("infit", finding.infit.map_or(String::new(), |infit| digits(infit.value))),
                ]),
            })
        };
        self.stimuli.iter().filter_map(row).collect()
    }
}

/// Which model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Model {
    /// All stimuli share one discrimination.
    #[serde(rename = "1pl")]
    OnePl,
    /// Each stimulus has its own.
    #[serde(rename = "2pl")]
    TwoPl,
}

impl Model {
    /// Returns the name in tables and files.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::OnePl => "1pl",
            Self::TwoPl => "2pl",
        }
    }
}

/// How findings were computed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Method {
    /// The model.
    pub model: Model,
    /// Whether a stimulus has a prior of its own, or all discriminations one.
    pub has_prior: bool,
    /// Whether discriminations have a prior: they are pooled.
    pub has_pooling: bool,
    /// Steps of the fit.
    pub n_steps: usize,
    /// Confidence of all intervals.
    pub confidence: f64,
    /// Bootstrap draws over participants, for the reliability.
    pub n_resamples: usize,
    /// Seed of the bootstrap.
    pub seed: u64,
}

/// How well one model fits as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ModelFit {
    /// Log of the marginal likelihood.
    pub log_likelihood: f64,
    /// Free parameters.
    pub n_parameters: usize,
    /// Akaike's criterion, smaller is better.
    pub aic: f64,
    /// The Bayesian criterion with participants as n, smaller is better.
    pub bic: f64,
}

/// The two models against each other.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ModelComparison {
    /// Common discrimination.
    pub one_pl: ModelFit,
    /// Own discriminations.
    pub two_pl: ModelFit,
    /// Twice the gain in log-likelihood.
    pub chi_square: f64,
    /// Parameters more.
    pub degrees_of_freedom: usize,
    /// Chance of at least this gain if discriminations were the same.
    pub p_value: f64,
}

/// What is known about one stimulus.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StimulusFinding {
    /// Its id.
    pub stimulus: StimulusId,
    /// Answers to it.
    pub n_answers: usize,
    /// Right ones.
    pub n_correct: usize,
    /// `b = -d/a`: the ability at which half of the answers are right; n = answers. `None` when the
    /// discrimination is so low that no ability makes the difference.
    pub difficulty: Option<Estimate>,
    /// `a`: how steeply the log-odds grow with ability; n = answers.
    pub discrimination: Estimate,
    /// `d`: log-odds of a right answer of a participant of average ability; n = answers.
    pub intercept: Estimate,
    /// Share of wrong answers expected if everybody answered; n = answers.
    pub expected_error: Estimate,
    /// Infit mean square: 1 when answers scatter as the model says, above when they scatter more.
    /// The interval says how much it varies by chance; n = answers.
    pub infit: Option<Estimate>,
    /// Outfit mean square: the same, more sensitive to surprising answers.
    pub outfit: Option<f64>,
    /// Codes of the caveats that concern this stimulus.
    pub caveats: Vec<String>,
}

impl StimulusFinding {
    /// Returns whether all answered it rightly, or all wrongly.
    pub fn is_unanimous(&self) -> bool {
        self.n_correct == 0 || self.n_correct == self.n_answers
    }
}

/// What is known about one participant.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ParticipantFinding {
    /// The id; the name of a row of a table of patterns.
    pub participant: ParticipantId,
    /// How many people the row stands for.
    pub n_people: usize,
    /// Answers of each.
    pub n_answers: usize,
    /// Right ones.
    pub n_correct: usize,
    /// Ability: posterior mean and credible interval, in standard deviations of the population;
    /// n = answers.
    pub ability: Estimate,
}
