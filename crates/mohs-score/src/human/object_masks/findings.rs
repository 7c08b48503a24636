//! What drawings of objects say: the findings as data.
//!
//! These types cross a boundary: they are the object-masks chapter of `summary.json`. Nothing is
//! computed here.

use mohs_data::{Caveats, Estimate, Label, Mask, ParticipantId, StimulusId};
use serde::{Deserialize, Serialize};

use super::{Connectivity, Crop};

/// What drawings of objects say about people and stimuli.
///
/// An *object* is a label on a stimulus; all outlines one person drew of it are taken together.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ObjectMasks {
    /// How it was computed.
    pub method: Method,
    /// Annotations read, references included.
    pub n_annotations: usize,
    /// Drawings that count towards votes: one per person and object.
    pub n_drawings: usize,
    /// Stimuli with at least one drawing that counts.
    pub n_stimuli: usize,
    /// People with at least one drawing that counts.
    pub n_annotators: usize,
    /// Objects for which a reference is known, those of exams and checks included.
    pub n_references: usize,
    /// People set aside by rule, with everything they drew.
    pub set_aside: Vec<SetAside>,
    /// Share of people who passed the exam; `None` without an exam.
    pub pass_share: Option<Estimate>,
    /// IoU to the reference over drawings of the exam.
    pub exam: Option<Distribution>,
    /// Share of attention checks passed; `None` without checks.
    pub check_pass_share: Option<Estimate>,
    /// IoU to the reference over drawings of attention checks.
    pub checks: Option<Distribution>,
    /// IoU between two people, over all pairs on all objects.
    pub pairwise: Option<Distribution>,
    /// IoU of each drawing to the vote it took part in.
    pub to_vote: Option<Distribution>,
    /// IoU of each drawing to the vote of the others.
    pub to_others: Option<Distribution>,
    /// IoU of each drawing to the reference, where there is one.
    pub to_reference: Option<Distribution>,
    /// IoU of each vote to the reference, where there is one.
    pub vote_to_reference: Option<Distribution>,
    /// Share of the picture that the object fills.
    pub size: Option<Distribution>,
    /// Distance of the object's centroid from the centre, 0 centre to 1 corner.
    pub offset: Option<Distribution>,
    /// Share of the object inside the middle half of width and height.
    pub central_share: Option<Distribution>,
    /// Share of the object lost by the standard crop.
    pub lost_share: Option<Distribution>,
    /// Share of the standard crop that the object fills.
    pub size_in_crop: Option<Distribution>,
    /// Share of objects that are in one piece, specks aside.
    pub one_piece_share: Option<Estimate>,
    /// Mean share of each cell of the standard crop that objects cover: a square of cells, row by
    /// row from the top.
    pub coverage: Vec<f64>,
    /// Results by label.
    pub by_label: Vec<LabelFinding>,
    /// Each person, by id.
    pub annotators: Vec<AnnotatorFinding>,
    /// Each object, by stimulus and label.
    pub objects: Vec<ObjectFinding>,
    /// The objects drawn most and least alike, for looking at; from least to most.
    pub examples: Vec<Example>,
    /// Reasons for less trust.
    pub caveats: Caveats,
}

/// How findings were computed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Method {
    /// Mean IoU from which the exam is passed.
    pub exam_iou: f64,
    /// IoU from which an attention check is passed.
    pub check_iou: f64,
    /// Whether people who failed the exam are set aside.
    pub require_exam: bool,
    /// Mean IoU on attention checks below which people are set aside.
    pub min_check_iou: Option<f64>,
    /// Which neighbours of a pixel touch it.
    pub connectivity: Connectivity,
    /// Share of the largest piece below which a piece is a speck.
    pub speck_share: f64,
    /// The standard resize and crop.
    pub crop: Crop,
    /// Confidence of all intervals.
    pub confidence: f64,
    /// Bootstrap draws.
    pub n_resamples: usize,
    /// Seed of the bootstrap.
    pub seed: u64,
}

/// Somebody whose drawings do not count.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SetAside {
    /// Who.
    pub participant: ParticipantId,
    /// The rule's name: `failed-exam`, `no-exam` or `failed-checks`.
    pub rule: String,
    /// The evidence.
    pub detail: String,
    /// Drawings set aside.
    pub n_drawings: usize,
}

/// How a number between 0 and 1 is distributed. `n` of each counts the numbers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Distribution {
    /// The mean.
    pub mean: Measured,
    /// A quarter lies below.
    pub lower_quartile: Measured,
    /// Half lies below.
    pub median: Measured,
    /// Three quarters lie below.
    pub upper_quartile: Measured,
    /// Numbers by equal steps from 0 to 1; each step has its lower end, the last both.
    pub histogram: Vec<usize>,
}

/// A number that may rest on too few observations, or on observations too much alike, for an
/// interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Measured {
    /// The number.
    pub value: f64,
    /// Observations it rests on.
    pub n: usize,
    /// Ends of the interval; `None` where there are too few observations, or where all draws give
    /// the same number and so cannot say how far it may be off.
    pub interval: Option<(f64, f64)>,
}

impl Measured {
    pub(super) fn new(value: f64, n: usize, estimate: Option<Estimate>) -> Self {
        Self { value, n, interval: estimate.map(|estimate| (estimate.low, estimate.high)) }
    }

    /// Returns the number as an estimate; `None` where it has no interval.
    pub fn estimate(&self, confidence: f64) -> Option<Estimate> {
        let (low, high) = self.interval?;
        Estimate::new(self.value, low, high, confidence, self.n)
    }
}

/// Objects of one label. Intervals are over stimuli.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LabelFinding {
    /// The label.
    pub label: Label,
    /// Its objects.
    pub n_objects: usize,
    /// Mean over objects of the IoU between two people.
    pub agreement: Option<Measured>,
    /// Mean size.
    pub size: Option<Measured>,
    /// Mean distance from the centre.
    pub offset: Option<Measured>,
    /// Mean share lost by the standard crop.
    pub lost_share: Option<Measured>,
}

/// What is known about how well one person draws.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AnnotatorFinding {
    /// Who.
    pub participant: ParticipantId,
    /// Objects drawn as work.
    pub n_objects: usize,
    /// Mean IoU to the vote of the others; the interval is over objects. `None` if nobody else
    /// drew the same objects, or the drawings were set aside.
    pub to_others: Option<Measured>,
    /// Mean IoU to the reference, where there is one.
    pub to_reference: Option<Measured>,
    /// Mean IoU over the exam; `None` without one.
    pub exam: Option<Measured>,
    /// Whether the exam was passed.
    pub passed_exam: Option<bool>,
    /// Mean IoU over attention checks; `None` without one.
    pub checks: Option<Measured>,
    /// Checks failed.
    pub n_checks_failed: usize,
    /// The rule that sets this person aside.
    pub set_aside: Option<String>,
}

/// What is known about one object.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ObjectFinding {
    /// The stimulus.
    pub stimulus: StimulusId,
    /// What was outlined.
    pub label: Label,
    /// Height of the picture in pixels.
    pub height: u32,
    /// Width of the picture in pixels.
    pub width: u32,
    /// People who drew it.
    pub n_annotators: usize,
    /// Mean IoU over pairs of people; `n` counts people. `None` for one.
    pub agreement: Option<Measured>,
    /// IoU of the vote to the reference, where there is one.
    pub vote_to_reference: Option<f64>,
    /// Where the voted object lies; `None` if no pixel has a majority.
    pub place: Option<Place>,
    /// Pieces of the voted object, specks aside.
    pub n_instances: usize,
    /// Pieces too small to be instances.
    pub n_specks: usize,
}

/// Where a voted object lies and how large it is. Intervals are over the people who voted, absent
/// for fewer than three; `n` counts people.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Place {
    /// Share of the picture.
    pub size: Measured,
    /// Distance of the centroid from the centre, 0 centre to 1 corner.
    pub offset: Measured,
    /// Share inside the middle half of width and height.
    pub central_share: Measured,
    /// Share lost by the standard crop.
    pub lost_share: Measured,
    /// Share of the standard crop.
    pub size_in_crop: Measured,
    /// Centroid, as shares of width (from the left) and height (from the top).
    pub centroid: (f64, f64),
}

/// An object to look at, with small copies of its masks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Example {
    /// The stimulus.
    pub stimulus: StimulusId,
    /// What was outlined.
    pub label: Label,
    /// Mean IoU over pairs of people.
    pub agreement: Measured,
    /// The majority vote.
    pub vote: Mask,
    /// What each person drew, by id.
    pub drawings: Vec<Mask>,
}
