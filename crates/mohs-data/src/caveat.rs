//! Caveats: reasons to trust a number less, with the evidence inside.
//!
//! Doubt about data is data: measures collect caveats, reports print them beside the number they
//! weaken. They are not log lines and not errors.

use serde::{Deserialize, Serialize};

use crate::{Millis, StimulusId};

/// A reason for less trust.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "code", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Caveat {
    /// Some stimuli have so few trials at an exposure that the counting rule is a coin flip.
    TooFewTrials {
        /// Stimuli concerned.
        stimuli: Vec<StimulusId>,
        /// Trials per exposure below which this is said.
        n_wanted: usize,
    },
    /// Some stimuli were recognised at a short exposure and not at a longer one.
    NonMonotone {
        /// Stimuli concerned.
        stimuli: Vec<StimulusId>,
    },
    /// Some stimuli have more trials at one exposure than at another, or none at some.
    UnbalancedExposures {
        /// Stimuli concerned.
        stimuli: Vec<StimulusId>,
    },
    /// Few participants: intervals over participants are rough.
    FewParticipants {
        /// How many there are.
        n_participants: usize,
    },
    /// A large share of the data was set aside.
    ManyExclusions {
        /// Share of trials.
        share: f64,
    },
    /// Bands were made from the same trials that are shown by band.
    BandsFromSameTrials,
    /// Guess rate was not given and is taken from the labels seen, or made up when there are none.
    GuessRateAssumed {
        /// The rate used.
        guess_rate: f64,
        /// Labels seen.
        n_labels: usize,
    },
    /// Guessing comes close to the criterion, or meets it.
    CriterionNearGuessing {
        /// The criterion of the counting rule.
        criterion: f64,
        /// Chance of a right guess.
        guess_rate: f64,
        /// The criterion thresholds are given for instead.
        model_criterion: f64,
    },
    /// Some participants saw a stimulus more than once, and all showings count.
    RepeatedStimuli {
        /// Trials that were not the first with their stimulus.
        n_trials: usize,
    },
    /// The model-based fit stopped before it settled.
    FitNotConverged {
        /// Rounds made.
        n_rounds: usize,
    },
    /// Some exposures are reported by their plan because nobody measured them.
    ExposuresNotMeasured {
        /// Share of trials without a timing verdict.
        share: f64,
    },
    /// Shown times differ from planned exposures.
    UnevenFrames {
        /// Share of trials whose verdict is not `ok`.
        share: f64,
    },
    /// The data are simulated.
    Simulated,
    /// No participant saw more than one exposure, or the like: an effect cannot be told apart.
    NotIdentified {
        /// What cannot be told.
        what: String,
    },
    /// Some stimuli have trials but do not stand in the table of stimuli, or the reverse.
    StimuliWithoutTrials {
        /// How many.
        n_stimuli: usize,
    },
    /// The longest exposure is so short that "never recognised" may just mean "not yet".
    LongestExposureShort {
        /// The longest exposure tested.
        longest: Millis,
    },
}

impl Caveat {
    /// Returns the stable code, as in files.
    pub fn code(&self) -> &'static str {
        match self {
            Self::TooFewTrials { .. } => "too-few-trials",
            Self::NonMonotone { .. } => "non-monotone",
            Self::UnbalancedExposures { .. } => "unbalanced-exposures",
            Self::FewParticipants { .. } => "few-participants",
            Self::ManyExclusions { .. } => "many-exclusions",
            Self::BandsFromSameTrials => "bands-from-same-trials",
            Self::GuessRateAssumed { .. } => "guess-rate-assumed",
            Self::CriterionNearGuessing { .. } => "criterion-near-guessing",
            Self::RepeatedStimuli { .. } => "repeated-stimuli",
            Self::FitNotConverged { .. } => "fit-not-converged",
            Self::ExposuresNotMeasured { .. } => "exposures-not-measured",
            Self::UnevenFrames { .. } => "uneven-frames",
            Self::Simulated => "simulated",
            Self::NotIdentified { .. } => "not-identified",
            Self::StimuliWithoutTrials { .. } => "stimuli-without-trials",
            Self::LongestExposureShort { .. } => "longest-exposure-short",
        }
    }

    /// Returns one sentence for people, with the advice.
    pub fn message(&self) -> String {
        match self {
            Self::TooFewTrials { stimuli, n_wanted } => format!(
                "{} fewer than {n_wanted} trials at some exposure, where the counting rule is close \
                 to a coin flip; look at the model-based threshold instead.",
                stimuli_have(stimuli.len())
            ),
            Self::NonMonotone { stimuli } => format!(
                "{} been recognised at one exposure and not at a longer one; the rules `stays` and \
                 `first` disagree there.",
                stimuli_have(stimuli.len())
            ),
            Self::UnbalancedExposures { stimuli } => format!(
                "{} unequal numbers of trials over exposures; compare `balanced_difficulty`, which \
                 weighs exposures equally, or the model-based threshold.",
                stimuli_have(stimuli.len())
            ),
            Self::FewParticipants { n_participants } => format!(
                "Only {n_participants} participant{}: intervals over participants are rough and \
                 probably too narrow.",
                if *n_participants == 1 { "" } else { "s" }
            ),
            Self::ManyExclusions { share } => {
                format!("{:.0} % of the trials were set aside; see the exclusions.", share * 100.0)
            }
            Self::BandsFromSameTrials => "Bands are made from the same trials that are shown by \
                                          band, so differences between bands look larger than \
                                          they would on fresh trials."
                .into(),
            Self::GuessRateAssumed { guess_rate, n_labels } if 2 <= *n_labels => format!(
                "The guess rate was not given; {guess_rate:.3} is used, one over the {n_labels} \
                 labels seen."
            ),
            Self::GuessRateAssumed { guess_rate, .. } => format!(
                "Nothing says how many answers there were to choose from; a guess rate of \
                 {guess_rate:.2} is a placeholder. Give the real one with --guess-rate."
            ),
            Self::CriterionNearGuessing { criterion, guess_rate, model_criterion } => format!(
                "Guessing is right {:.0} % of the time, so a criterion of {:.0} % hardly tells \
                 recognition from guessing; thresholds are given for {:.0} % instead.",
                guess_rate * 100.0,
                criterion * 100.0,
                model_criterion * 100.0
            ),
            Self::RepeatedStimuli { n_trials } => format!(
                "{n_trials} trials show a participant a stimulus seen before, and count; set \
                 `repeated_stimuli = true` under [exclusions] to count first showings only."
            ),
            Self::FitNotConverged { n_rounds } => {
                format!("The model-based fit had not settled after {n_rounds} rounds.")
            }
            Self::ExposuresNotMeasured { share } => format!(
                "{:.0} % of the trials have no record of what the screen really showed; planned \
                 exposures are taken at their word.",
                share * 100.0
            ),
            Self::UnevenFrames { share } => {
                format!("{:.1} % of the trials were not shown for the time planned.", share * 100.0)
            }
            Self::Simulated => "These are simulated people, not people.".into(),
            Self::NotIdentified { what } => format!("The data cannot tell {what}."),
            Self::StimuliWithoutTrials { n_stimuli } => {
                format!("{} no trials and no score.", stimuli_have(*n_stimuli))
            }
            Self::LongestExposureShort { longest } => format!(
                "The longest exposure was {longest}; stimuli that need longer cannot be told \
                 from stimuli nobody ever recognises."
            ),
        }
    }

    /// Returns the stimuli concerned, empty when it is about the whole.
    pub fn stimuli(&self) -> &[StimulusId] {
        match self {
            Self::TooFewTrials { stimuli, .. }
            | Self::NonMonotone { stimuli }
            | Self::UnbalancedExposures { stimuli } => stimuli,
            _ => &[],
        }
    }
}

fn stimuli_have(n: usize) -> String {
    if n == 1 { "1 stimulus has".into() } else { format!("{n} stimuli have") }
}

/// Caveats collected while computing.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Caveats(Vec<Caveat>);

impl Caveats {
    /// Adds a caveat, unless it is there already.
    pub fn add(&mut self, caveat: Caveat) {
        if !self.0.contains(&caveat) {
            self.0.push(caveat);
        }
    }

    /// Returns the caveats in the order they came up.
    pub fn iter(&self) -> impl Iterator<Item = &Caveat> {
        self.0.iter()
    }

    /// Returns whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns how many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }
}
