//! Object masks: how well people outline objects, how far they agree, and what the objects are
//! like.
//!
//! # Method
//!
//! After Moayeri et al. (2022). People first pass an exam: they outline objects whose reference is
//! known, and pass with a mean IoU of 0.65. Among their work hide attention checks, known objects
//! too. What several people drew of one object is consolidated by a vote per pixel: object is what
//! strictly more than half of them mark. Everything about the object is then read off the vote.
//!
//! ```text
//! IoU(A, B)     = |A ∩ B| / |A ∪ B|
//! vote          = { pixel : 2 · marks > people }
//! agreement     = mean IoU over pairs of people
//! quality of i  = mean over objects of IoU(drawing of i, vote of the others)
//! ```
//!
//! The paper compares each drawing with the vote it took part in, which flatters: with three people
//! a drawing is a third of what it is compared with. We give that number too ([`ObjectMasks::to_vote`])
//! and judge people by the vote of the others.
//!
//! Work is done on run lengths (`runs.rs`); pieces are in `pieces.rs`, place and crop in
//! `placement.rs`, distributions and intervals in `spread.rs`, exams and checks in `people.rs`.
//!
//! # When there is no answer
//!
//! One drawing has nothing to agree with, and fewer than two stimuli say nothing about others:
//! both are `None`. An object without any pixel that a majority marks has no place. A mask without
//! pixels, a mask of another size than the others, and a test without a reference are errors.
//!
//! # References
//!
//! - M. Moayeri, S. Singla, S. Feizi (2022), "Hard ImageNet: segmentations for objects with strong
//!   spurious cues".
//! - M. Everingham et al. (2010), "The PASCAL visual object classes (VOC) challenge".
//! - A. B. Owen (2007), "The pigeonhole bootstrap".

mod collect;
mod examples;
mod findings;
mod object;
mod people;
mod pieces;
mod placement;
mod runs;
mod spread;

use std::collections::BTreeMap;

use mohs_data::{
    Annotation, Caveat, Caveats, Estimate, Label, ParticipantId, Role, Seed, StimulusId,
};
use rayon::prelude::*;

use self::collect::{Collected, Drawings, Key, collect};
pub use self::findings::{
    AnnotatorFinding, Distribution, Example, LabelFinding, Measured, Method, ObjectFinding,
    ObjectMasks, Place, SetAside,
};
use self::object::{Found, N_CELLS, look_at};
use self::people::{People, people};
pub use self::pieces::{Connectivity, pieces};
pub use self::placement::Crop;
pub use self::runs::{iou, vote};
use self::spread::{Observation, Redraw};
use crate::proportion::{real, wilson};

/// People per object below which a vote means little.
const N_DRAWINGS_WANTED: usize = 3;
/// People below which intervals over them are called rough.
const N_PARTICIPANTS_WANTED: usize = 5;
/// Agreement below which drawings are said to disagree; PASCAL VOC calls less than this a miss.
const DISAGREEMENT: f64 = 0.5;
/// Share of drawings set aside from which it is said.
const MANY_SET_ASIDE: f64 = 0.2;

/// The key by which a vote says how many people stand behind it.
pub const N_ANNOTATORS: &str = "n_annotators";

/// Streams of the draws behind means.
const TO_OTHERS: u64 = 3;
const TO_REFERENCE: u64 = 4;
const BY_LABEL: u64 = 5;

/// Everything scoring needs.
#[derive(Debug, Clone, Copy)]
pub struct Input<'a> {
    /// The drawings. Those without a participant are references if others have one.
    pub annotations: &'a [Annotation],
    /// Objects whose mask is known, whoever drew them; may be empty.
    pub references: &'a [Annotation],
    /// How to score.
    pub options: &'a Options,
    /// Seed of the bootstrap.
    pub seed: Seed,
}

/// How to score masks.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// Mean IoU from which the exam is passed.
    pub exam_iou: f64,
    /// IoU from which an attention check is passed.
    pub check_iou: f64,
    /// Whether people who failed the exam, or did not take it, are set aside.
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
}

impl Default for Options {
    /// The paper's exam, PASCAL VOC's hit for checks, the published code's connectivity.
    fn default() -> Self {
        Self {
            exam_iou: 0.65,
            check_iou: 0.5,
            require_exam: false,
            min_check_iou: None,
            connectivity: Connectivity::Four,
            speck_share: 0.01,
            crop: Crop::default(),
            confidence: 0.95,
            n_resamples: 1_000,
        }
    }
}

/// Which of the two lists an annotation stands in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum List {
    /// The drawings.
    Annotations,
    /// The references.
    Reference,
}

/// Why masks cannot be scored. Sizes are height and width.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Error {
    /// There is nothing to score.
    #[error("there should be at least one annotation, found none")]
    NoAnnotations,
    /// A mask has no pixel.
    #[error(
        "`annotations[{idx}].segmentation` (stimulus `{stimulus}`) should mark at least one pixel, found an empty mask"
    )]
    EmptyMask {
        /// The list it stands in.
        list: List,
        /// Position, from 0.
        idx: usize,
        /// The stimulus.
        stimulus: StimulusId,
    },
    /// Two masks of a stimulus have different sizes.
    #[error(
        "`annotations[{idx}].segmentation` should have the size of the other masks of stimulus `{stimulus}`, {} × {} pixels (height × width), found {} × {}",
        expected.0, expected.1, found.0, found.1
    )]
    WrongSize {
        /// The list it stands in.
        list: List,
        /// Position, from 0.
        idx: usize,
        /// The stimulus.
        stimulus: StimulusId,
        /// Size of the first mask of this stimulus.
        expected: (u32, u32),
        /// Size of this one.
        found: (u32, u32),
    },
    /// A role is none.
    #[error("`annotations[{idx}].role` should be one of work, exam, check, found `{found}`")]
    BadRole {
        /// The list it stands in.
        list: List,
        /// Position, from 0.
        idx: usize,
        /// The text.
        found: String,
    },
    /// A test has nothing to be compared with.
    #[error("a drawing of role `{}` should have a reference for `{label}` on stimulus `{stimulus}`, found none", role.name())]
    NoReference {
        /// Exam or check.
        role: Role,
        /// The stimulus.
        stimulus: StimulusId,
        /// The label.
        label: Label,
    },
    /// The exam is required, and there is none.
    #[error("the exam is required, but no annotation has the role `exam`")]
    NoExam,
    /// Attention checks are required, and there are none.
    #[error("attention checks are required, but no annotation has the role `check`")]
    NoChecks,
    /// The rules set everything aside.
    #[error("the rules set aside all {n_drawings} drawings")]
    NothingLeft {
        /// Drawings before the rules.
        n_drawings: usize,
    },
}

impl Error {
    /// Returns the list and position the error is about, where it is about one annotation.
    pub fn place(&self) -> Option<(List, usize)> {
        match self {
            Self::EmptyMask { list, idx, .. }
            | Self::WrongSize { list, idx, .. }
            | Self::BadRole { list, idx, .. } => Some((*list, *idx)),
            _ => None,
        }
    }

    /// Returns what to do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::NoAnnotations => "was the export interrupted? See docs/formats/annotations.md",
            Self::EmptyMask { .. } => {
                "leave out drawings without any pixel; if people may say that there is no object, \
                 count those answers apart"
            }
            Self::WrongSize { expected, found, .. } if (expected.1, expected.0) == *found => {
                "height and width seem to be swapped: `size` is height, then width"
            }
            Self::WrongSize { .. } => {
                "all masks of a stimulus must be drawn on the picture at one size; scale them first"
            }
            Self::BadRole { .. } => "leave the key out for ordinary work",
            Self::NoReference { .. } => {
                "give the known masks with --reference, or as annotations without participant; \
                 stimulus and label must be spelled the same"
            }
            Self::NoExam => "mark the drawings of the exam with \"role\": \"exam\"",
            Self::NoChecks => "mark the drawings of attention checks with \"role\": \"check\"",
            Self::NothingLeft { .. } => "lower the thresholds of the exam or of the checks",
        }
    }
}

/// What scoring gives: the findings, and the voted masks.
#[derive(Debug, Clone, PartialEq)]
pub struct Scored {
    /// The findings.
    pub findings: ObjectMasks,
    /// The vote on each object, by stimulus and label; those without a voted pixel are left out.
    pub votes: Vec<Annotation>,
}

/// Scores drawings of objects.
///
/// The order of annotations does not matter.
pub fn score(input: &Input<'_>) -> Result<Scored, Error> {
    let options = input.options;
    let mut caveats = Caveats::default();
    let mut collected = collect(input)?;
    let people = people(&collected, options, &mut caveats)?;
    let n_before = n_drawings(&collected.work);
    for drawings in collected.work.values_mut() {
        drawings.retain(|by, _| by.is_none_or(|by| !people.set_aside.contains_key(by)));
    }
    collected.work.retain(|_, drawings| !drawings.is_empty());
    if 0 < n_before && collected.work.is_empty() {
        return Err(Error::NothingLeft { n_drawings: n_before });
    }
    let redraw = Redraw {
        n_resamples: options.n_resamples,
        confidence: options.confidence,
        seed: input.seed,
    };
    let objects: Vec<(Key<'_>, &Drawings<'_>)> =
        collected.work.iter().map(|(key, drawings)| (*key, drawings)).collect();
    let found: Vec<Found> = objects
        .par_iter()
        .enumerate()
        .map(|(idx, (key, drawings))| {
            let reference = collected.references.get(key).map(|mask| &**mask);
            look_at(*key, drawings, reference, idx, options, &redraw)
        })
        .collect();
    doubts(&found, n_before, &collected, &mut caveats);
    let votes = votes(&found);
    let findings = Looked { collected: &collected, people: &people, objects, found, redraw }
        .findings(input, caveats);
    Ok(Scored { findings, votes })
}

fn n_drawings(work: &BTreeMap<Key<'_>, Drawings<'_>>) -> usize {
    work.values().map(BTreeMap::len).sum()
}

/// Returns the votes as annotations that say how many people stand behind them.
fn votes(found: &[Found]) -> Vec<Annotation> {
    let with_pixels = found.iter().filter(|found| found.finding.place.is_some());
    with_pixels
        .map(|found| Annotation {
            stimulus: found.finding.stimulus.clone(),
            participant: None,
            label: found.finding.label.clone(),
            mask: found.overlaps.vote.clone(),
            extra: [(N_ANNOTATORS.to_owned(), found.finding.n_annotators.into())]
                .into_iter()
                .collect(),
        })
        .collect()
}

/// Adds what weakens the findings as a whole.
fn doubts(found: &[Found], n_before: usize, collected: &Collected<'_>, caveats: &mut Caveats) {
    let stimuli = |is_concerned: &dyn Fn(&ObjectFinding) -> bool| -> Vec<StimulusId> {
        let concerned = found.iter().map(|found| &found.finding).filter(|of| is_concerned(of));
        let mut ids: Vec<StimulusId> = concerned.map(|of| of.stimulus.clone()).collect();
        ids.dedup();
        ids
    };
    let mut say = |stimuli: Vec<StimulusId>, caveat: fn(Vec<StimulusId>) -> Caveat| {
        if !stimuli.is_empty() {
            caveats.add(caveat(stimuli));
        }
    };
    // Masks that came with a data set are nobody's vote.
    if !collected.participants.is_empty() {
        say(stimuli(&|of| of.n_annotators < N_DRAWINGS_WANTED), |stimuli| Caveat::FewDrawings {
            stimuli,
            n_wanted: N_DRAWINGS_WANTED,
        });
    }
    say(stimuli(&|of| of.place.is_none()), |stimuli| Caveat::NoMajority { stimuli });
    say(
        stimuli(&|of| of.agreement.is_some_and(|agreement| agreement.value < DISAGREEMENT)),
        |stimuli| Caveat::DrawingsDisagree { stimuli, below: DISAGREEMENT },
    );
    let n_annotators = annotators_of(collected).len();
    if (1..N_PARTICIPANTS_WANTED).contains(&n_annotators) {
        caveats.add(Caveat::FewParticipants { n_participants: n_annotators });
    }
    let n_without =
        collected.work.keys().filter(|key| !collected.references.contains_key(*key)).count();
    if 0 < n_without && n_without < collected.work.len() {
        caveats.add(Caveat::ObjectsWithoutReference { n_objects: n_without });
    }
    let n_kept = n_drawings(&collected.work);
    let share = real(n_before - n_kept) / real(n_before.max(1));
    if MANY_SET_ASIDE <= share {
        caveats.add(Caveat::ManyDrawingsSetAside { share });
    }
}

/// Returns who has a drawing that counts.
fn annotators_of<'a>(collected: &Collected<'a>) -> Vec<&'a ParticipantId> {
    let mut annotators: Vec<&ParticipantId> =
        collected.work.values().flat_map(|drawings| drawings.keys().copied().flatten()).collect();
    annotators.sort_unstable();
    annotators.dedup();
    annotators
}

/// All objects, looked at.
struct Looked<'a, 'b> {
    collected: &'b Collected<'a>,
    people: &'b People<'a>,
    objects: Vec<(Key<'a>, &'b Drawings<'a>)>,
    found: Vec<Found>,
    redraw: Redraw,
}

impl Looked<'_, '_> {
    fn findings(&self, input: &Input<'_>, caveats: Caveats) -> ObjectMasks {
        let options = input.options;
        let place = |of: fn(&Place) -> &Measured| {
            self.distribution(|found, seen| {
                seen.extend(found.finding.place.iter().map(|place| (of(place).value, [None; 2])));
            })
        };
        let (n_one_piece, n_placed) = self.n_one_piece();
        ObjectMasks {
            method: Method {
                exam_iou: options.exam_iou,
                check_iou: options.check_iou,
                require_exam: options.require_exam,
                min_check_iou: options.min_check_iou,
                connectivity: options.connectivity,
                speck_share: options.speck_share,
                crop: options.crop,
                confidence: options.confidence,
                n_resamples: options.n_resamples,
                seed: input.seed.0,
            },
            n_annotations: input.annotations.len() + input.references.len(),
            n_drawings: n_drawings(&self.collected.work),
            n_stimuli: self.stimulus_indices().last().map_or(0, |last| last + 1),
            n_annotators: annotators_of(self.collected).len(),
            n_references: self.collected.references.len(),
            set_aside: self.people.set_aside.values().cloned().collect(),
            pass_share: self.pass_share(options),
            exam: self.redraw.distribution(&self.people.exam.observations),
            check_pass_share: self.check_pass_share(options),
            checks: self.redraw.distribution(&self.people.checks.observations),
            pairwise: self.distribution(|found, seen| {
                let pairs = found.overlaps.pairs.iter();
                seen.extend(pairs.map(|(i, j, iou)| (*iou, [Some(*i), Some(*j)])));
            }),
            to_vote: self.each_drawing(|found| &found.overlaps.to_vote),
            to_others: self.each_drawing(|found| &found.overlaps.to_others),
            to_reference: self.each_drawing(|found| &found.to_reference),
            vote_to_reference: self.distribution(|found, seen| {
                seen.extend(found.finding.vote_to_reference.map(|iou| (iou, [None; 2])));
            }),
            size: place(|place| &place.size),
            offset: place(|place| &place.offset),
            central_share: place(|place| &place.central_share),
            lost_share: place(|place| &place.lost_share),
            size_in_crop: place(|place| &place.size_in_crop),
            one_piece_share: wilson(n_one_piece, n_placed, options.confidence),
            coverage: self.coverage(),
            by_label: self.by_label(),
            annotators: self.annotators(options),
            examples: examples::choose(&self.objects, &self.found),
            objects: self.found.iter().map(|found| found.finding.clone()).collect(),
            caveats,
        }
    }

    /// Returns the position of each object's stimulus among all stimuli.
    fn stimulus_indices(&self) -> Vec<usize> {
        let mut idx = 0;
        let mut indices = Vec::with_capacity(self.objects.len());
        for (place, (key, _)) in self.objects.iter().enumerate() {
            if 0 < place && self.objects[place - 1].0.0 != key.0 {
                idx += 1;
            }
            indices.push(idx);
        }
        indices
    }

    /// Collects numbers object by object, with the drawings they are about by position.
    fn distribution(
        &self,
        numbers: impl Fn(&Found, &mut Vec<(f64, [Option<usize>; 2])>),
    ) -> Option<Distribution> {
        let annotators = annotators_of(self.collected);
        let mut observations = Vec::new();
        let mut seen = Vec::new();
        let objects = self.found.iter().zip(&self.objects).zip(self.stimulus_indices());
        for ((found, (_, drawings)), stimulus_idx) in objects {
            let by: Vec<Option<usize>> = drawings
                .keys()
                .map(|by| by.and_then(|by| annotators.binary_search(&by).ok()))
                .collect();
            seen.clear();
            numbers(found, &mut seen);
            for (value, drawn) in &seen {
                let annotators = drawn.map(|place| place.and_then(|place| by[place]));
                observations.push(Observation { value: *value, stimulus_idx, annotators });
            }
        }
        self.redraw.distribution(&observations)
    }

    fn each_drawing(&self, of: fn(&Found) -> &Vec<Option<f64>>) -> Option<Distribution> {
        self.distribution(|found, seen| {
            let numbers = of(found).iter().enumerate();
            seen.extend(numbers.filter_map(|(place, iou)| Some(((*iou)?, [Some(place), None]))));
        })
    }

    fn n_one_piece(&self) -> (usize, usize) {
        let placed = || self.found.iter().filter(|found| found.finding.place.is_some());
        (placed().filter(|found| found.finding.n_instances == 1).count(), placed().count())
    }

    /// Returns the mean over objects of the share of each cell they cover.
    fn coverage(&self) -> Vec<f64> {
        let mut mean = vec![0.0; (N_CELLS * N_CELLS) as usize];
        let covered: Vec<&Vec<f64>> =
            self.found.iter().filter_map(|found| found.coverage.as_ref()).collect();
        for cells in &covered {
            for (mean, cell) in mean.iter_mut().zip(*cells) {
                *mean += cell / real(covered.len());
            }
        }
        mean
    }

    fn by_label(&self) -> Vec<LabelFinding> {
        let mut by_label: BTreeMap<&Label, Vec<&ObjectFinding>> = BTreeMap::new();
        for found in &self.found {
            by_label.entry(&found.finding.label).or_default().push(&found.finding);
        }
        let numbered = by_label.into_iter().enumerate();
        numbered
            .map(|(label_idx, (label, objects))| {
                let mean = |of: &dyn Fn(&ObjectFinding) -> Option<f64>| {
                    let values: Vec<f64> = objects.iter().filter_map(|object| of(object)).collect();
                    self.redraw.mean(&[BY_LABEL, label_idx as u64], &values)
                };
                let place = |of: fn(&Place) -> &Measured| {
                    mean(&|object| object.place.as_ref().map(|place| of(place).value))
                };
                LabelFinding {
                    label: label.clone(),
                    n_objects: objects.len(),
                    agreement: mean(&|object| object.agreement.map(|agreement| agreement.value)),
                    size: place(|place| &place.size),
                    offset: place(|place| &place.offset),
                    lost_share: place(|place| &place.lost_share),
                }
            })
            .collect()
    }

    fn pass_share(&self, options: &Options) -> Option<Estimate> {
        let exam = &self.people.exam;
        let means = exam.by_participant.keys().filter_map(|participant| exam.mean_of(participant));
        let n_passed = means.filter(|mean| options.exam_iou <= *mean).count();
        wilson(n_passed, exam.by_participant.len(), options.confidence)
    }

    fn check_pass_share(&self, options: &Options) -> Option<Estimate> {
        let seen = &self.people.checks.observations;
        let n_passed = seen.iter().filter(|seen| options.check_iou <= seen.value).count();
        wilson(n_passed, seen.len(), options.confidence)
    }

    fn annotators(&self, options: &Options) -> Vec<AnnotatorFinding> {
        let everybody = self.collected.participants.iter().enumerate();
        everybody
            .map(|(idx, participant)| self.annotator(participant, idx as u64, options))
            .collect()
    }

    fn annotator(
        &self,
        participant: &ParticipantId,
        idx: u64,
        options: &Options,
    ) -> AnnotatorFinding {
        let (mut to_others, mut to_reference) = (Vec::new(), Vec::new());
        let mut n_objects = 0;
        for (found, (_, drawings)) in self.found.iter().zip(&self.objects) {
            let Some(place) = drawings.keys().position(|by| *by == Some(participant)) else {
                continue;
            };
            n_objects += 1;
            to_others.extend(found.overlaps.to_others[place]);
            to_reference.extend(found.to_reference[place]);
        }
        let exam = self.people.exam_of(participant, idx, &self.redraw);
        let failed = self.people.checks.by_participant.get(participant);
        let set_aside = self.people.set_aside.get(participant);
        AnnotatorFinding {
            participant: participant.clone(),
            n_objects: n_objects + set_aside.map_or(0, |set_aside| set_aside.n_drawings),
            to_others: self.redraw.mean(&[TO_OTHERS, idx], &to_others),
            to_reference: self.redraw.mean(&[TO_REFERENCE, idx], &to_reference),
            passed_exam: exam.map(|exam| options.exam_iou <= exam.value),
            exam,
            checks: self.people.checks_of(participant, idx, &self.redraw),
            n_checks_failed: failed
                .map_or(0, |ious| ious.iter().filter(|iou| **iou < options.check_iou).count()),
            set_aside: set_aside.map(|set_aside| set_aside.rule.clone()),
        }
    }
}
