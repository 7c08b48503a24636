//! What label counts say: the findings, as data.
//!
//! These types cross a boundary: they are a chapter of `summary.json`. Nothing is computed here.

use mohs_data::{Caveats, Estimate, Label, StimulusId};
use serde::{Deserialize, Serialize};

/// What label counts say.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LabelDisagreement {
    /// How it was computed.
    pub method: Method,
    /// Stimuli that somebody labelled.
    pub n_stimuli: usize,
    /// Labels given, over all stimuli.
    pub n_answers: usize,
    /// Fewest people who labelled a stimulus.
    pub least_people: usize,
    /// Most people who labelled a stimulus.
    pub most_people: usize,
    /// Mean share of people who give another label than the stimulus has; n = stimuli.
    pub disagreement: Estimate,
    /// Stimuli to which more people give another label than the one they have.
    pub n_majority_differs: usize,
    /// Classes of agreement, from much to little.
    pub bands: Vec<AgreementBand>,
    /// Each label, from least disagreement to most.
    pub labels: Vec<LabelFinding>,
    /// Each stimulus, from easiest to hardest.
    pub stimuli: Vec<StimulusFinding>,
    /// Stimuli nobody labelled.
    pub unlabelled: Vec<StimulusId>,
    /// Reasons for less trust.
    pub caveats: Caveats,
}

/// How findings were computed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Method {
    /// Confidence of all intervals.
    pub confidence: f64,
    /// Least agreement of each band but the last.
    pub bands: Vec<f64>,
    /// Bootstrap draws over stimuli.
    pub n_resamples: usize,
}

/// Stimuli on which people agree about as much.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AgreementBand {
    /// Its name, as in `difficulty.csv`.
    pub name: String,
    /// Least agreement in it.
    pub least_agreement: f64,
    /// Stimuli in it.
    pub n_stimuli: usize,
    /// Their share of all stimuli; n = stimuli.
    pub share: Option<Estimate>,
}

/// What people say about stimuli of one label.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LabelFinding {
    /// The label.
    pub label: Label,
    /// Stimuli that have it.
    pub n_stimuli: usize,
    /// Mean share of people who give them another one; n = stimuli.
    pub disagreement: Estimate,
    /// The other label that most people give to most of these stimuli, and to how many; absent
    /// when the majority is always right.
    pub usual_mistake: Option<(Label, usize)>,
}

/// What people say about one stimulus.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StimulusFinding {
    /// The stimulus.
    pub stimulus: StimulusId,
    /// The label it has.
    pub label: Label,
    /// People who labelled it.
    pub n_people: usize,
    /// Those who gave it its label.
    pub n_label: usize,
    /// Share of people who gave another label, with Wilson's interval; n = people.
    pub disagreement: Estimate,
    /// How much labels differ, in bits: 0 when all say the same.
    pub entropy_bits: f64,
    /// The label most people gave.
    pub usual: Label,
    /// How many gave it.
    pub n_usual: usize,
    /// Its class of agreement.
    pub band: String,
}
