//! The summary: everything a report shows, as one versioned JSON file (`summary.json`).
//!
//! It holds findings, never raw trials and never pictures. Chapters are optional: a study without
//! flash trials has no viewing times, and its report says so.

use mohs_score::adaptive::ladder::AdaptiveTestFinding;
use mohs_score::human::agreement::Agreement;
use mohs_score::human::bradley_terry::PairedJudgements;
use mohs_score::human::item_response::ItemResponse;
use mohs_score::human::label_disagreement::LabelDisagreement;
use mohs_score::human::object_masks::ObjectMasks;
use mohs_score::human::quality::DataQuality;
use mohs_score::human::set_comparison::SetComparison;
use mohs_score::human::speed_accuracy::SpeedAccuracy;
use mohs_score::human::viewing_time::ViewingTime;
use mohs_score::model::ModelFindings;
use mohs_score::model::hierarchy::LadderFindings;
use mohs_score::model::robustness::AttackFindings;
use serde::{Deserialize, Serialize};

/// The findings of a study, ready to be shown.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// Version of this format; [`Summary::VERSION`] when written by this program.
    pub version: u64,
    /// Name of the study, as people know it.
    pub title: String,
    /// Version of the `mohs` that computed the findings.
    pub mohs_version: String,
    /// The seed every random draw came from.
    pub seed: u64,
    /// Whether the trials come from simulated people; a report says so on top.
    pub simulated: bool,
    /// What flash trials say, where there are any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub viewing_time: Option<ViewingTime>,
    /// What beep trials say, where there are any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub speed_accuracy: Option<SpeedAccuracy>,
    /// What comparisons say, where there are any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pairs: Option<PairedJudgements>,
    /// What a model of stimuli and participants says, where there are any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub item_response: Option<ItemResponse>,
    /// What counts of labels say, where there are any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label_disagreement: Option<LabelDisagreement>,
    /// How people agree, where there are any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agreement: Option<Agreement>,
    /// What outlines of objects say, where there are any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub masks: Option<ObjectMasks>,
    /// How far the trials can be trusted, where there are any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quality: Option<DataQuality>,
    /// How two sets of stimuli differ, where there are any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub set_comparison: Option<SetComparison>,
    /// What models answered, where there are predictions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub models: Option<ModelFindings>,
    /// What models do as stimuli of one kind get harder, where there is a ladder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ladder: Option<LadderFindings>,
    /// What attacks on models found, where there are any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attacks: Option<AttackFindings>,
    /// What a model knows by an adaptive test, where there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub adaptive_test: Option<AdaptiveTestFinding>,
}

/// Only the version, to refuse a newer file before its other fields confuse the reader.
#[derive(Deserialize)]
struct Versioned {
    version: u64,
}

impl Summary {
    /// The newest version this program reads, and the one it writes.
    pub const VERSION: u64 = 1;

    /// Returns a summary without findings.
    pub fn new(title: impl Into<String>, mohs_version: &str, seed: u64, simulated: bool) -> Self {
        Self {
            version: Self::VERSION,
            title: title.into(),
            mohs_version: mohs_version.to_owned(),
            seed,
            simulated,
            viewing_time: None,
            speed_accuracy: None,
            pairs: None,
            item_response: None,
            label_disagreement: None,
            agreement: None,
            masks: None,
            quality: None,
            set_comparison: None,
            models: None,
            ladder: None,
            attacks: None,
            adaptive_test: None,
        }
    }

    /// Adds the chapters of `earlier` that this summary lacks.
    #[must_use]
    pub fn with_chapters_of(self, earlier: Self) -> Self {
        Self {
            viewing_time: self.viewing_time.or(earlier.viewing_time),
            speed_accuracy: self.speed_accuracy.or(earlier.speed_accuracy),
            pairs: self.pairs.or(earlier.pairs),
            item_response: self.item_response.or(earlier.item_response),
            label_disagreement: self.label_disagreement.or(earlier.label_disagreement),
            agreement: self.agreement.or(earlier.agreement),
            masks: self.masks.or(earlier.masks),
            quality: self.quality.or(earlier.quality),
            set_comparison: self.set_comparison.or(earlier.set_comparison),
            models: self.models.or(earlier.models),
            ladder: self.ladder.or(earlier.ladder),
            attacks: self.attacks.or(earlier.attacks),
            adaptive_test: self.adaptive_test.or(earlier.adaptive_test),
            ..self
        }
    }

    /// Returns the summary as indented JSON with a final line break; fields in fixed order, so
    /// equal summaries are equal bytes.
    pub fn to_json(&self) -> String {
        let mut json = serde_json::to_string_pretty(self)
            .expect("a summary has text keys only and no part that refuses to be written");
        json.push('\n');
        json
    }

    /// Returns the summary in `json`.
    ///
    /// # Errors
    ///
    /// [`SummaryError::Newer`] when the file was written by a later `mohs`, and
    /// [`SummaryError::NotASummary`] when it is not JSON, lacks a field or has a number out of
    /// range.
    pub fn from_json(json: &str) -> Result<Self, SummaryError> {
        let Versioned { version } = serde_json::from_str(json)?;
        if Self::VERSION < version {
            return Err(SummaryError::Newer { found: version, newest: Self::VERSION });
        }
        Ok(serde_json::from_str(json)?)
    }
}

/// Why a text is not a summary this program can read.
#[derive(Debug, thiserror::Error)]
pub enum SummaryError {
    /// Written by a later `mohs`.
    #[error("the summary has version {found}, this mohs reads versions up to {newest}")]
    Newer {
        /// Version of the file.
        found: u64,
        /// Newest version this program reads.
        newest: u64,
    },
    /// Not JSON, or not of this shape.
    #[error("expected a summary written by `mohs score`, found something else")]
    NotASummary(#[from] serde_json::Error),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_newer_summary_is_refused_with_both_versions() {
        let err = Summary::from_json(r#"{ "version": 7, "colour": "new field" }"#).unwrap_err();
        assert_eq!(err.to_string(), "the summary has version 7, this mohs reads versions up to 1");
    }

    #[test]
    fn a_text_that_is_no_summary_is_refused() {
        assert!(matches!(Summary::from_json("[]"), Err(SummaryError::NotASummary(_))));
        assert!(matches!(
            Summary::from_json(r#"{ "version": 1 }"#),
            Err(SummaryError::NotASummary(_))
        ));
    }
}
