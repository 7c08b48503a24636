//! How each task is run: what is shown when, to how many people (`[flash]`, `[beep]`, `[pairs]`,
//! `[rate]` in `study.toml`). Defaults follow the papers.

use serde::{Deserialize, Serialize};

use super::ms;
use crate::Millis;

/// How flashes are shown.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct FlashDesign {
    /// Exposures, ascending.
    pub exposures_ms: Vec<Millis>,
    /// Who gets which exposure of which stimulus.
    pub design: Allocation,
    /// Participants who see each stimulus at each exposure; the most per stimulus on average, over
    /// all exposures, when the design is adaptive.
    pub participants_per_cell: usize,
    /// Trials one participant does.
    pub trials_per_participant: usize,
    /// Fixation cross before the stimulus.
    pub fixation_ms: Millis,
    /// Mask after the stimulus.
    pub mask_ms: Millis,
    /// Empty screen between an answer and the next cross.
    pub gap_ms: Millis,
    /// Adaptive only: the probability of a stimulus's band from which it is shown no more.
    pub certainty: f64,
}

/// Who gets which exposure of which stimulus.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Allocation {
    /// The least filled pair of stimulus and exposure first, until all are full.
    Balanced,
    /// The exposure that tells most about the stimulus, until its band is known.
    Adaptive,
}

impl Default for FlashDesign {
    fn default() -> Self {
        Self {
            exposures_ms: [17.0, 50.0, 100.0, 150.0, 250.0, 10_000.0].map(ms).to_vec(),
            design: Allocation::Balanced,
            participants_per_cell: 7,
            trials_per_participant: 50,
            fixation_ms: ms(500.0),
            mask_ms: ms(500.0),
            gap_ms: ms(500.0),
            certainty: 0.8,
        }
    }
}

/// How answers at a beep are asked for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct BeepDesign {
    /// When the beep sounds after the stimulus appeared, one block each, ascending.
    pub beeps_ms: Vec<Millis>,
    /// The order of the blocks.
    pub order: BlockOrder,
    /// Untimed trials before the first block.
    pub practice_trials: usize,
    /// Trials of a block.
    pub trials_per_block: usize,
    /// Participants who should finish.
    pub participants: usize,
    /// An answer this near to the beep, on either side, is in time.
    pub tolerance_ms: Millis,
    /// How long after the beep an answer is taken; then the trial ends without one.
    pub window_ms: Millis,
    /// What asks for the answer.
    pub cue: Cue,
    /// Timed trials after which the share of answers in time is looked at; 0 never looks.
    pub gate_trials: usize,
    /// The share of answers in time below which the gate speaks up.
    pub gate_share: f64,
    /// What the gate does.
    pub gate: Gate,
}

/// The order of blocks with different beeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum BlockOrder {
    /// The earliest beep first.
    Ascending,
    /// The latest beep first.
    Descending,
    /// Either, for half of the participants each.
    Alternate,
}

/// What asks for an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Cue {
    /// A beep.
    Sound,
    /// A ring that closes.
    Visual,
    /// Either, as the participant likes.
    Choice,
}

/// What happens to a participant who does not keep to the beep.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Gate {
    /// Told, and practises once more.
    Warn,
    /// Told, practises once more, and ends with the code if that did not help.
    Stop,
}

impl Default for BeepDesign {
    fn default() -> Self {
        Self {
            beeps_ms: [500.0, 900.0, 1_100.0, 1_300.0, 1_500.0].map(ms).to_vec(),
            order: BlockOrder::Alternate,
            practice_trials: 50,
            trials_per_block: 210,
            participants: 20,
            tolerance_ms: ms(100.0),
            window_ms: ms(200.0),
            cue: Cue::Choice,
            gate_trials: 40,
            gate_share: 0.5,
            gate: Gate::Warn,
        }
    }
}

/// Which pairs are judged.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct PairsDesign {
    /// Which stimuli are paired.
    pub within: PairsWithin,
    /// Pairs each stimulus takes part in, at least.
    pub pairs_per_stimulus: usize,
    /// Pairs that join each group to others, so that all can be put on one scale.
    pub links_per_group: usize,
    /// Participants who judge each pair.
    pub judgements_per_pair: usize,
    /// Pairs one participant judges.
    pub trials_per_participant: usize,
    /// Whether "about the same" is an answer.
    pub ties: bool,
    /// Whether the next pair is the one that tells most, instead of the least judged.
    pub adaptive: bool,
}

/// Which stimuli are paired.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PairsWithin {
    /// Those with the same label.
    Label,
    /// Those with the same label and attribute, of different levels.
    Attribute,
    /// Any two.
    All,
}

impl Default for PairsDesign {
    fn default() -> Self {
        Self {
            within: PairsWithin::Label,
            pairs_per_stimulus: 6,
            links_per_group: 3,
            judgements_per_pair: 3,
            trials_per_participant: 60,
            ties: false,
            adaptive: false,
        }
    }
}

/// How stimuli are named without time pressure.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RateDesign {
    /// Participants who name each stimulus.
    pub participants_per_stimulus: usize,
    /// Trials one participant does.
    pub trials_per_participant: usize,
}

impl Default for RateDesign {
    fn default() -> Self {
        Self { participants_per_stimulus: 5, trials_per_participant: 50 }
    }
}
