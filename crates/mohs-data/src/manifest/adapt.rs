//! The table `[adapt]` of a manifest: how an adaptive test of one of its models is done.
//!
//! Every key may be left away; flags of `mohs adapt` go first. What the keys mean to each other is
//! checked where the test is planned.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// How an adaptive test is done.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct AdaptEntry {
    /// The share of stimuli that may be asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub budget: Option<f64>,
    /// The design, e.g. `neyman`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub design: Option<String>,
    /// The estimator, e.g. `control-variate`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub estimator: Option<String>,
    /// The width of interval from which no more is asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub width: Option<f64>,
    /// Predictions of models that answered everything, relative to the manifest's folder.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub references: Vec<PathBuf>,
    /// Levels from easy to hard, where they are words of your own.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub levels: Vec<String>,
    /// Into how many groups neighbouring levels are put.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub level_groups: Option<usize>,
    /// What each level counts in the score, from easy to hard.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub weights: Vec<f64>,
    /// The table of the design `gre`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gre: Option<RoutingEntry>,
}

/// Which questions follow which points.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RoutingEntry {
    /// Questions of each level in the first round, from easy to hard.
    pub first: Vec<usize>,
    /// What follows, by the points of the first round.
    pub rows: Vec<RoutingRowEntry>,
}

/// One row of the table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RoutingRowEntry {
    /// The row holds for these points and more, up to the next row.
    pub from: usize,
    /// Questions of each level in the second round, from easy to hard.
    pub second: Vec<usize>,
}
