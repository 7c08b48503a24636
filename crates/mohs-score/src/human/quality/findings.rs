//! What trials say about themselves, as data.
//!
//! These types cross a boundary: they are the data quality chapter of `summary.json`. What was not
//! recorded is `None`, never 0.

use mohs_data::{Caveats, Estimate, Label, Millis, ParticipantId, TimingVerdict};
use serde::{Deserialize, Serialize};

use crate::human::viewing_time::ExclusionCount;

/// What trials say about themselves.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DataQuality {
    /// Confidence of all intervals.
    pub confidence: f64,
    /// What the rules held the data against.
    pub limits: Limits,
    /// Trials looked at.
    pub n_trials: usize,
    /// Trials not looked at, by rule.
    #[serde(default)]
    pub exclusions: Vec<ExclusionCount>,
    /// Participants in all.
    pub n_participants: usize,
    /// Stimuli in all.
    pub n_stimuli: usize,
    /// Chance of a right guess: one over the number of labels seen; `None` with fewer than two.
    pub chance: Option<f64>,
    /// Which evidence is there, for how many trials.
    pub recorded: Vec<Recorded>,
    /// All trials together.
    pub everything: Facts,
    /// The rules, and how many participants each flags.
    pub rules: Vec<RuleCount>,
    /// Participants with at least one flag.
    pub n_flagged: usize,
    /// Each participant, by id.
    pub participants: Vec<ParticipantQuality>,
    /// Reasons for less trust.
    pub caveats: Caveats,
}

/// What the rules hold the data against.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Limits {
    /// Answers sooner than this after onset are too fast to be an answer to the stimulus.
    pub min_rt: Millis,
    /// Answers later than this are too slow.
    pub max_rt: Millis,
    /// Accuracy on catch trials, and at the longest exposure, that is expected of everybody.
    pub min_accuracy: f64,
    /// Share of too fast, too slow or outlying answers, or of badly timed trials, that is let pass.
    pub max_bad_share: f64,
    /// Share of time-outs that is let pass.
    pub max_timeouts: f64,
    /// Chance below which a streak is called unlikely.
    pub min_streak_p: f64,
    /// Robust z-score of a median rt beyond which it is unlike the others'.
    pub max_rt_z: f64,
    /// Trials below which shares are not judged.
    pub min_trials: usize,
}

/// How many trials have a kind of evidence.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Recorded {
    /// The evidence.
    pub what: String,
    /// Trials that have it.
    pub n_trials: usize,
}

/// One rule.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RuleCount {
    /// Its name.
    pub rule: String,
    /// What it says, with its limit.
    pub meaning: String,
    /// Participants flagged by it.
    pub n_participants: usize,
    /// Participants with enough evidence to be judged by it.
    pub n_judged: usize,
}

/// Facts about some trials.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Facts {
    /// Trials.
    pub n_trials: usize,
    /// Share of right answers among those that can be judged; n = trials judged.
    pub accuracy: Option<Estimate>,
    /// The same on catch trials.
    pub catch_accuracy: Option<Estimate>,
    /// The same at the longest exposure of all trials.
    pub accuracy_at_longest: Option<Estimate>,
    /// Response times.
    pub rt: Option<RtFacts>,
    /// Share of trials without an answer; `None` when answers were not recorded.
    pub timeouts: Option<Estimate>,
    /// Share of trials with each verdict of the presentation log; empty when there is no log.
    pub timing: Vec<TimingShare>,
    /// Entropy of the answers in bits: 0 when all are the same key; n = answers.
    pub response_entropy: Option<Estimate>,
    /// Trials with a stimulus the participant had seen before.
    pub n_repeated: usize,
    /// Trials that are copies of another, position and times included.
    pub n_duplicates: usize,
}

/// Response times of some trials.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RtFacts {
    /// Trials with a response time.
    pub n: usize,
    /// 5th percentile.
    pub p05: Millis,
    /// 25th percentile.
    pub p25: Millis,
    /// Median.
    pub median: Millis,
    /// 75th percentile.
    pub p75: Millis,
    /// 95th percentile.
    pub p95: Millis,
    /// Share sooner than the limit.
    pub too_fast: Estimate,
    /// Share later than the limit.
    pub too_slow: Estimate,
    /// Share more than three robust standard deviations of log rt from the median; `None` when half
    /// of the times are the same.
    pub outliers: Option<Estimate>,
}

/// Trials with one verdict.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TimingShare {
    /// The verdict.
    pub verdict: TimingVerdict,
    /// Share of trials with any verdict.
    pub share: Estimate,
}

/// The longest run of one answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Streak {
    /// The answer.
    pub response: Label,
    /// How often in a row.
    pub length: usize,
    /// Chance of a run at least as long in as many trials, if answers came independently at this
    /// participant's own rates.
    pub p_value: f64,
    /// The longest run of one right answer among the stimuli shown, where labels are known: a
    /// blocked design makes honest streaks.
    pub longest_of_labels: Option<usize>,
}

/// One participant.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ParticipantQuality {
    /// The id; `participant · dataset` where trials are of several data sets.
    pub participant: ParticipantId,
    /// Sessions.
    pub n_sessions: usize,
    /// Facts about the trials.
    pub facts: Facts,
    /// The longest run of one answer; `None` when answers were not recorded.
    pub streak: Option<Streak>,
    /// Robust z-score of the log of the median rt among participants; `None` with fewer than four
    /// of them.
    pub rt_z: Option<f64>,
    /// Rules that flag this participant, with the evidence.
    pub flags: Vec<Flag>,
}

/// A rule that holds for a participant.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Flag {
    /// The rule.
    pub rule: String,
    /// The evidence, in words.
    pub evidence: String,
}
