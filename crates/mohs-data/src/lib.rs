//! The nouns of `mohs`, their units and ids, and the versioned files they live in.
//!
//! Everything people and models produce passes through these types: a [`Stimulus`] is shown, a
//! [`Trial`] or a [`Prediction`] comes back, a [`Difficulty`] is what we learn. Each noun has one
//! file format (see [`format`](mod@format)), read strictly and written atomically.
//!
//! This crate computes nothing: no statistics, no pixels. It refuses to guess units, to average
//! and to print. Read `trial.rs` first; the other nouns follow the same pattern. Commands that need
//! whole files checked against each other start from [`check`].

mod annotation;
mod attack_example;
mod caveat;
pub mod check;
mod commission;
mod comparison;
mod difficulty;
mod error;
mod estimate;
mod exclusion;
mod extra;
mod family;
pub mod format;
mod id;
mod manifest;
mod mask;
pub mod merge;
mod min_epsilon;
mod prediction;
mod prepared;
pub mod review;
mod stimulus;
mod study;
pub mod training;
mod trial;
mod units;

pub use annotation::{Annotation, Role};
pub use attack_example::AttackExample;
pub use caveat::{Caveat, Caveats};
pub use check::{Checks, TrialChecks};
pub use commission::{Commission, DrawPlan, PlannedAttribute, PlannedStep, Prompt, plain_name};
pub use comparison::{Comparison, Harder, Sides};
pub use difficulty::Difficulty;
pub use error::{FileError, Problem, nearest};
pub use estimate::Estimate;
pub use exclusion::{Excluded, Exclusion};
pub use extra::Extra;
pub use family::FamilyMember;
pub use id::{Label, ModelName, ParticipantId, SessionId, StimulusId, TrialId};
pub use manifest::{
    AdaptEntry, Aggregate, AnswerEntry, ChatEntry, ClassesEntry, CustomPreprocess, Decode,
    EndpointEntry, Manifest, ModelEntry, Parameter, Preprocess, ProbeEntry, RoutingEntry,
    RoutingRowEntry, SidesEntry,
};
pub use mask::{Mask, MaskError};
pub use min_epsilon::{FastAnswer, Flag, Goal, How, MinEpsilon, Norm, Search};
pub use prediction::{Answer, Condition, FailureReason, Outcome, Prediction};
pub use prepared::Prepared;
pub use review::{Review, ReviewLog, Verdict};
pub use stimulus::{BoundingBox, Stimulus};
pub use study::{
    Allocation, BeepDesign, BlockOrder, Crop, Cue, Degradation, DegradationKind, ExclusionRules,
    FlashDesign, Gate, MaskForm, MvtRule, PageOptions, PairsDesign, PairsWithin, PrepareOptions,
    RateDesign, SafetyOptions, ScoreOptions, ScreenRules, SimulateOptions, Study, Task,
    is_web_address,
};
pub use training::TrainingPlan;
pub use trial::{TimingVerdict, Trial};
pub use units::{Frames, Millis, Seed};
