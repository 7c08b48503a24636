//! From answers to some stimuli to the accuracy and score of all: one estimator per file.
//!
//! | name                   | file                    | unbiased                                    |
//! |------------------------|-------------------------|---------------------------------------------|
//! | `raw`                  | `raw.rs`                | only if all strata are asked alike          |
//! | `tier-pooled`          | `tier_pooled.rs`        | only if levels are asked alike in each cell |
//! | `sitting-means`        | `sitting_means.rs`      | no                                          |
//! | `stratified`           | `stratified.rs`         | yes, if strata are chosen predictably       |
//! | `control-variate`      | `control_variate.rs`    | yes, if strata are chosen predictably       |
//! | `aipw`                 | `aipw.rs`               | yes, if strata are chosen predictably       |
//! | `hierarchical-logit`   | `hierarchical_logit.rs` | nearly, if its model holds                  |

pub(super) mod aipw;
pub(super) mod by_stratum;
pub(super) mod control_variate;
pub(super) mod hierarchical_logit;
pub(super) mod raw;
pub(super) mod sitting_means;
pub(super) mod stratified;
#[cfg(test)]
mod tests;
pub(super) mod tier_pooled;

use mohs_data::nearest;
use serde::{Deserialize, Serialize};

use super::design::Design;
use super::population::{Group, LadderError};
use super::record::Record;

/// An estimate and what is known of its doubt.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Moments {
    /// The estimate.
    pub value: f64,
    /// Its variance. Not negative.
    pub variance: f64,
    /// Degrees of freedom behind the variance.
    pub freedom: f64,
    /// Answers it rests on.
    pub n_asked: usize,
    /// Stimuli it is about.
    pub n_stimuli: usize,
    /// Right answers among them, where each speaks for its stratum.
    pub n_right: Option<usize>,
}

/// Something that knows about groups of strata.
pub trait Estimator {
    /// Returns what is known of a group; `None` if nothing was answered there.
    fn estimate(&self, group: &Group) -> Option<Moments>;
}

/// Estimators by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EstimatorKind {
    /// The share of right answers, and the share of points.
    Raw,
    /// Shares by level, pooled over sittings: most probably the paper's.
    TierPooled,
    /// Means by level within each sitting, then over sittings.
    SittingMeans,
    /// Means of strata, weighted.
    Stratified,
    /// The same, with forecasts taken into account as far as they have earned it.
    ControlVariate,
    /// The same, with forecasts taken into account fully.
    Aipw,
    /// Answers where there are some, forecasts where not.
    HierarchicalLogit,
}

/// An estimator nobody knows.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no estimator `{found}`")]
pub struct UnknownEstimator {
    /// What was asked for.
    pub found: String,
    /// The name it resembles most, if any.
    pub nearest: Option<String>,
}

impl EstimatorKind {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::ControlVariate,
        Self::Stratified,
        Self::Aipw,
        Self::HierarchicalLogit,
        Self::TierPooled,
        Self::SittingMeans,
        Self::Raw,
    ];

    /// Returns the name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Raw => "raw",
            Self::TierPooled => "tier-pooled",
            Self::SittingMeans => "sitting-means",
            Self::Stratified => "stratified",
            Self::ControlVariate => "control-variate",
            Self::Aipw => "aipw",
            Self::HierarchicalLogit => "hierarchical-logit",
        }
    }

    /// Parses a name.
    pub fn parse(name: &str) -> Result<Self, UnknownEstimator> {
        let found = Self::ALL.into_iter().find(|kind| kind.name() == name);
        found.ok_or_else(|| UnknownEstimator {
            found: name.to_owned(),
            nearest: nearest(name, Self::ALL.map(Self::name)),
        })
    }

    /// Returns whether it needs strata that were chosen without looking at their own answers.
    fn needs_predictable(self) -> bool {
        matches!(self, Self::Stratified | Self::ControlVariate | Self::Aipw)
    }

    /// Refuses an estimator that would be wrong about a design, before anything is asked.
    pub fn check(self, design: &Design) -> Result<(), LadderError> {
        self.check_for(!matches!(design, Design::Gre { .. }), &design.name())
    }

    fn check_for(self, is_predictable: bool, design: &str) -> Result<(), LadderError> {
        let is_misfit =
            if is_predictable { self == Self::SittingMeans } else { self.needs_predictable() };
        if is_misfit {
            return Err(LadderError::Misfit { estimator: self.name(), design: design.into() });
        }
        Ok(())
    }

    /// Makes the estimator of a record; refuses one that would be wrong about it.
    pub fn of<'r>(self, record: &'r Record<'_>) -> Result<Box<dyn Estimator + 'r>, LadderError> {
        let is_predictable = record.is_predictable();
        self.check_for(is_predictable, if is_predictable { "static or neyman" } else { "gre" })?;
        Ok(match self {
            Self::Raw => Box::new(raw::Raw { record }),
            Self::TierPooled => Box::new(tier_pooled::TierPooled { record }),
            Self::SittingMeans => Box::new(sitting_means::SittingMeans { record }),
            Self::Stratified => Box::new(stratified::by_stratum(record)),
            Self::ControlVariate => Box::new(control_variate::by_stratum(record)),
            Self::Aipw => Box::new(aipw::by_stratum(record)),
            Self::HierarchicalLogit => Box::new(hierarchical_logit::HierarchicalLogit::fit(record)),
        })
    }
}
