//! What beep trials say: the findings of the speed–accuracy study, as data.
//!
//! These types cross a boundary: they are the speed–accuracy chapter of `summary.json`. Nothing is
//! computed here but points of a fitted curve.

use mohs_data::{Caveats, Estimate, Label, Millis, ParticipantId};
use serde::{Deserialize, Serialize};

use super::steepness::Scaling;
use super::weibull::{Criterion, Weibull};
use super::window::{TimeOuts, Window};
use crate::human::viewing_time::ExclusionCount;

/// What beep trials say about people, and about what was done to the stimuli.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SpeedAccuracy {
    /// How it was computed.
    pub method: Method,
    /// Trials read, before exclusions.
    pub n_trials_read: usize,
    /// Trials counted.
    pub n_trials: usize,
    /// Trials counted that got no answer.
    pub n_time_outs: usize,
    /// Participants with at least one trial counted.
    pub n_participants: usize,
    /// What was set aside, by rule, in the order the rules were applied.
    pub exclusions: Vec<ExclusionCount>,
    /// Beep times, ascending: one block each.
    pub beeps: Vec<Millis>,
    /// The average participant over all conditions.
    pub average: Curve,
    /// The average participant by condition; empty when there is only one.
    pub conditions: Vec<Curve>,
    /// Each participant, by id.
    pub participants: Vec<ParticipantCurves>,
    /// Accuracy by category and block; empty when trials name no label.
    pub categories: Vec<Category>,
    /// How far apart the curves of two conditions lie.
    pub differences: Vec<Difference>,
    /// How well the average speaks for one participant: over all conditions, then by condition.
    pub ceilings: Vec<Ceiling>,
    /// Reasons for less trust.
    pub caveats: Caveats,
}

/// How findings were computed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Method {
    /// When an answer counts.
    pub window: Window,
    /// Trials dropped at the start of each block.
    pub drop_first: usize,
    /// What happens to time-outs.
    pub time_outs: TimeOuts,
    /// Chance of a right guess.
    pub guess_rate: f64,
    /// Whether fits start from guessing; else from zero.
    pub chance_floor: bool,
    /// Whether fits may end below 1.
    pub free_asymptote: bool,
    /// What fits minimise.
    pub criterion: Criterion,
    /// Axes on which steepness is taken.
    pub scaling: Scaling,
    /// Confidence of all intervals.
    pub confidence: f64,
    /// Bootstrap draws.
    pub n_resamples: usize,
    /// Whether draws redraw participants' answers too, as with few participants.
    pub redraws_answers: bool,
    /// Seed of the bootstrap.
    pub seed: u64,
}

/// Accuracy over time, of an average or of one participant.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Curve {
    /// The condition; empty for all together.
    pub condition: String,
    /// Participants behind it.
    pub n_participants: usize,
    /// Trials behind it.
    pub n_trials: usize,
    /// One point for each block with trials, by beep.
    pub points: Vec<CurvePoint>,
    /// The fitted curve; `None` when there are fewer blocks than numbers to fit.
    pub fit: Option<Fit>,
    /// Mean curvature of the fitted curve; interval by bootstrap; n as in the fit.
    pub steepness: Option<Estimate>,
    /// The fitted curve drawn out, with its band; empty for single participants.
    pub band: Vec<BandPoint>,
}

/// One block of a curve.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CurvePoint {
    /// The beep.
    pub beep: Millis,
    /// Time on the curve's axis: the mean rt, or the beep when no rt is known.
    pub time: Millis,
    /// Share of right answers. Of an average: the mean over participants, each counting the same,
    /// interval by bootstrap, n = participants. Of one participant: Wilson's, n = trials.
    pub accuracy: Estimate,
    /// Standard error of the accuracy over participants (over trials, for one participant); `None`
    /// with fewer than two.
    pub accuracy_se: Option<f64>,
    /// Mean rt in ms, with n like the accuracy's; `None` when no rt is known.
    pub rt_ms: Option<Estimate>,
    /// Standard error of the mean rt, like the accuracy's.
    pub rt_se_ms: Option<f64>,
    /// Trials in the block.
    pub n_trials: usize,
    /// Trials in the block that count and got no answer.
    pub n_time_outs: usize,
}

/// A fitted Weibull curve. Intervals by bootstrap; n = participants of an average, trials of one
/// participant.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Fit {
    /// Time at which 63 % of the rise is done, in ms.
    pub scale_ms: Estimate,
    /// How suddenly accuracy rises.
    pub shape: Estimate,
    /// Accuracy with all the time in the world; `None` when it was fixed at 1.
    pub asymptote: Option<Estimate>,
    /// Accuracy with no time at all, given: guessing, or zero.
    pub floor: f64,
    /// Root of the mean squared distance of the points from the curve.
    pub rmse: f64,
    /// Whether scale or shape ended at the bound of what is searched.
    pub is_at_bound: bool,
}

impl Fit {
    /// Returns the accuracy of the curve at a time.
    pub fn at(&self, time: Millis) -> f64 {
        let curve = Weibull {
            scale: self.scale_ms.value,
            shape: self.shape.value,
            asymptote: self.asymptote.map_or(1.0, |asymptote| asymptote.value),
            floor: self.floor,
        };
        curve.at(time.value())
    }
}

/// One point of a drawn-out curve.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BandPoint {
    /// Time.
    pub time: Millis,
    /// Accuracy of the fitted curve; interval by bootstrap over participants.
    pub accuracy: Estimate,
}

/// What is known about one participant.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ParticipantCurves {
    /// The id.
    pub participant: ParticipantId,
    /// Over all conditions.
    pub all: Curve,
    /// By condition; empty when there is only one.
    pub conditions: Vec<Curve>,
    /// Distance from the average of the other participants, as in [`Ceiling::rmse_left_out`];
    /// interval by redrawing this participant's answers; n = trials.
    pub rmse_to_others: Option<Estimate>,
}

/// Accuracy of one category over the blocks, all conditions together.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Category {
    /// The label.
    pub label: Label,
    /// Share of right answers by block, in the order of `beeps`: mean over participants, interval
    /// by bootstrap, n = participants; `None` without trials.
    pub accuracy: Vec<Option<Estimate>>,
}

/// How far apart the average curves of two conditions lie.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Difference {
    /// One condition.
    pub a: String,
    /// The other.
    pub b: String,
    /// Blocks both have.
    pub n_blocks: usize,
    /// Root of the mean squared difference over blocks; n = participants.
    pub rmse: Estimate,
    /// Mean accuracy of `a` less that of `b` over the same blocks; n = participants.
    pub mean_difference: Estimate,
}

/// How well an average speaks for one participant: what a model of people can reach. Means over
/// participants, intervals by bootstrap, n = participants; `None` when it cannot be computed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Ceiling {
    /// The condition; empty for all: there, rmse is the mean over conditions.
    pub condition: String,
    /// Distance of each participant's curve from the average of all: the paper's "Human".
    pub rmse_average: Option<Estimate>,
    /// Distance from the average of the others.
    pub rmse_left_out: Option<Estimate>,
    /// Spearman's correlation over categories × blocks with the average of all.
    pub spearman_average: Option<Estimate>,
    /// Spearman's correlation with the average of the others.
    pub spearman_left_out: Option<Estimate>,
}
