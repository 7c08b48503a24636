//! What was asked, why, and what came back.
//!
//! A record keeps with every stratum what was forecast for it *before* it was asked, because
//! estimators that use forecasts may use no others.

use super::population::Ladder;
use super::reference_models::{Features, Hints};

/// One stimulus the model under test is to be asked.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Question {
    /// Position of the stimulus in the ladder.
    pub stimulus: usize,
    /// Counted from 0.
    pub round: usize,
    /// Why this one.
    pub why: Why,
}

/// Why a stimulus is asked.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Why {
    /// One of so many drawn from its stratum.
    Drawn {
        /// How many are drawn.
        n: usize,
        /// Of how many.
        of: usize,
        /// The forecast probability of a right answer, where there is one.
        forecast: Option<f64>,
    },
    /// One of so many drawn from what was left of its stratum, because the interval was wider than
    /// requested.
    DrawnAgain {
        /// How many are drawn.
        n: usize,
        /// Of how many.
        of: usize,
        /// The forecast probability of a right answer, where there is one.
        forecast: Option<f64>,
    },
    /// The first round of a sitting asks everybody the same.
    FirstRound,
    /// The second round goes by the points of the first.
    AfterPoints {
        /// Points in the first round.
        points: usize,
    },
}

impl Why {
    /// Returns the reason in words.
    pub fn words(&self) -> String {
        match self {
            Self::Drawn { n, of, forecast } => {
                format!("{n} of {of} drawn from its stratum{}", in_words(*forecast))
            }
            Self::DrawnAgain { n, of, forecast } => {
                let forecast = in_words(*forecast);
                format!("for the width, {n} of {of} left in its stratum{forecast}")
            }
            Self::FirstRound => "first round".into(),
            Self::AfterPoints { points } => format!("second round after {points} points"),
        }
    }
}

fn in_words(forecast: Option<f64>) -> String {
    forecast.map_or(String::new(), |forecast| format!(", forecast {forecast:.2}"))
}

/// A question with its answer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Asked {
    /// The question.
    pub question: Question,
    /// Whether the answer was right; `None` if there was none.
    pub is_right: Option<bool>,
}

/// What happened in one stratum.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Sample {
    /// The round it was asked in.
    pub(super) round: usize,
    /// Positions within the stratum and whether the answers were right; those without an answer
    /// are left out.
    pub(super) answers: Vec<(usize, bool)>,
    /// The forecast for every stimulus of the stratum before the round; empty if there was none.
    pub(super) forecasts: Vec<f64>,
}

/// One sitting of the paper's design: what was asked of one class and attribute.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Sitting {
    /// Strata by level.
    pub(super) strata: Vec<usize>,
    /// Level and whether the answer was right.
    pub(super) answers: Vec<(usize, bool)>,
}

/// Everything that was asked.
#[derive(Debug, Clone, PartialEq)]
pub struct Record<'a> {
    pub(super) ladder: &'a Ladder,
    pub(super) hints: Option<&'a Hints>,
    pub(super) asked: Vec<Asked>,
    /// By stratum.
    pub(super) samples: Vec<Sample>,
    /// Only of the paper's design.
    pub(super) sittings: Vec<Sitting>,
    pub(super) n_rounds: usize,
}

impl<'a> Record<'a> {
    /// The stimuli that were asked, in order.
    pub fn asked(&self) -> &[Asked] {
        &self.asked
    }

    /// How many rounds there were.
    pub fn n_rounds(&self) -> usize {
        self.n_rounds
    }

    /// What was asked about.
    pub fn ladder(&self) -> &'a Ladder {
        self.ladder
    }

    /// How many questions had no answer.
    pub fn n_failed(&self) -> usize {
        self.asked.iter().filter(|asked| asked.is_right.is_none()).count()
    }

    /// Whether strata were chosen without looking at their own answers.
    pub(super) fn is_predictable(&self) -> bool {
        self.sittings.is_empty()
    }

    /// What reference models say, for fits.
    pub(super) fn features(&self) -> Option<&'a Features> {
        self.hints.map(|hints| &hints.features)
    }

    /// Stimuli with their answers, where there is one.
    pub(super) fn answers(&self) -> Vec<(usize, bool)> {
        let answer = |asked: &Asked| Some((asked.question.stimulus, asked.is_right?));
        self.asked.iter().filter_map(answer).collect()
    }
}
