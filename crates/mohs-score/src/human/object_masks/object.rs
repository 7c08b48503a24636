//! One object: what its drawings have in common, where it lies, and how sure that is.
//!
//! Intervals redraw the people. A redrawn vote needs no second look at the masks: pixels marked by
//! the same people stand or fall together, so the sums over each such group of pixels are kept once
//! and added up anew for every draw.

use std::collections::BTreeMap;

use mohs_data::Mask;

use super::Options;
use super::collect::{Drawings, Key};
use super::findings::{Measured, ObjectFinding, Place};
use super::pieces::{each_column, each_object_run, instances, pieces};
use super::placement::{Frame, Moments, Placement, placement};
use super::runs::{Overlaps, iou, is_majority, overlaps, sweep};
use super::spread::Redraw;
use crate::draw::Draw;
use crate::proportion::real;

/// Cells on each side of the map of coverage.
pub(super) const N_CELLS: u32 = 16;
/// People below which an interval over them says nothing.
const N_FOR_INTERVAL: usize = 3;

const VOTERS: u64 = 73;

/// What was found about one object.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) finding: ObjectFinding,
    pub(super) overlaps: Overlaps,
    pub(super) to_reference: Vec<Option<f64>>,
    /// Share of each cell of the crop the voted object covers.
    pub(super) coverage: Option<Vec<f64>>,
}

/// Looks at one object. `object_idx` names the stream of its draws.
pub(super) fn look_at(
    (stimulus, label): Key<'_>,
    drawings: &Drawings<'_>,
    reference: Option<&Mask>,
    object_idx: usize,
    options: &Options,
    redraw: &Redraw,
) -> Found {
    let masks: Vec<&Mask> = drawings.values().map(|mask| &**mask).collect();
    let overlaps = overlaps(&masks);
    let (height, width) = (masks[0].height(), masks[0].width());
    let frame = Frame::new(height, width, options.crop);
    let groups = groups(&masks, &frame);
    let draws = draws(&groups, &overlaps, &frame, masks.len(), object_idx, redraw);
    let (n_instances, n_specks) =
        instances(&pieces(&overlaps.vote, options.connectivity), options.speck_share);
    let all_once = vec![1; masks.len()];
    let measured = |value: f64, of: fn(&Drawn) -> f64| {
        let of_draws: Vec<f64> = draws.iter().map(of).collect();
        let is_enough = N_FOR_INTERVAL <= masks.len();
        let interval = is_enough.then(|| redraw.interval(value, &of_draws, masks.len())).flatten();
        Measured::new(value, masks.len(), interval)
    };
    let place = voted(&groups, &all_once, &frame).map(|found| Place {
        size: measured(found.size, |drawn| drawn.place(|place| place.size)),
        offset: measured(found.offset, |drawn| drawn.place(|place| place.offset)),
        central_share: measured(found.central_share, |drawn| drawn.place(|p| p.central_share)),
        lost_share: measured(found.lost_share, |drawn| drawn.place(|place| place.lost_share)),
        size_in_crop: measured(found.size_in_crop, |drawn| drawn.place(|p| p.size_in_crop)),
        centroid: found.centroid,
    });
    let finding = ObjectFinding {
        stimulus: stimulus.clone(),
        label: label.clone(),
        height,
        width,
        n_annotators: masks.len(),
        agreement: agreement(&overlaps, &all_once)
            .map(|value| measured(value, |drawn| drawn.agreement.unwrap_or(f64::NAN))),
        vote_to_reference: reference.and_then(|reference| iou(&overlaps.vote, reference)),
        n_instances,
        n_specks,
        place,
    };
    let coverage = finding.place.as_ref().map(|_| {
        let mut cells = vec![0.0; (N_CELLS * N_CELLS) as usize];
        each_object_run(&overlaps.vote, |run| frame.add_coverage(run, N_CELLS, &mut cells));
        cells
    });
    let to_reference =
        masks.iter().map(|mask| reference.and_then(|reference| iou(mask, reference))).collect();
    Found { finding, overlaps, to_reference, coverage }
}

/// Pixels marked by the same people.
struct SameMarks {
    marks: Vec<bool>,
    moments: Moments,
}

fn groups(masks: &[&Mask], frame: &Frame) -> Vec<SameMarks> {
    let mut by_marks: BTreeMap<Vec<bool>, Moments> = BTreeMap::new();
    sweep(masks, |stretch, marks| {
        if !marks.contains(&true) {
            return;
        }
        let add = |moments: &mut Moments| {
            each_column(masks[0].height(), stretch.start, stretch.end, |run| {
                moments.add(&frame.moments(run));
            });
        };
        match by_marks.get_mut(marks) {
            Some(moments) => add(moments),
            None => add(by_marks.entry(marks.to_vec()).or_default()),
        }
    });
    by_marks.into_iter().map(|(marks, moments)| SameMarks { marks, moments }).collect()
}

/// What one draw of the people says.
struct Drawn {
    place: Option<Placement>,
    agreement: Option<f64>,
}

impl Drawn {
    /// Returns a number about the place; without a voted pixel it is no number, and does not count.
    fn place(&self, of: fn(&Placement) -> f64) -> f64 {
        self.place.as_ref().map_or(f64::NAN, of)
    }
}

fn draws(
    groups: &[SameMarks],
    overlaps: &Overlaps,
    frame: &Frame,
    n: usize,
    object_idx: usize,
    redraw: &Redraw,
) -> Vec<Drawn> {
    if n < N_FOR_INTERVAL {
        return Vec::new();
    }
    let mut draw = Draw::new(redraw.seed, &[VOTERS, object_idx as u64]);
    (0..redraw.n_resamples)
        .map(|_| {
            let mut weights = vec![0_usize; n];
            for _ in 0..n {
                weights[draw.below(n)] += 1;
            }
            Drawn {
                place: voted(groups, &weights, frame),
                agreement: agreement(overlaps, &weights),
            }
        })
        .collect()
}

/// Returns where the object lies if each person's vote counts as often as the weight says.
fn voted(groups: &[SameMarks], weights: &[usize], frame: &Frame) -> Option<Placement> {
    let n: usize = weights.iter().sum();
    let mut total = Moments::default();
    for group in groups {
        let marked = group.marks.iter().zip(weights).filter(|(is, _)| **is);
        if is_majority(marked.map(|(_, weight)| weight).sum(), n) {
            total.add(&group.moments);
        }
    }
    placement(&total, frame)
}

/// Returns the mean IoU over pairs of people, each counting as often as the weights say; `None`
/// without a pair.
fn agreement(overlaps: &Overlaps, weights: &[usize]) -> Option<f64> {
    let (mut total, mut n) = (0.0, 0);
    for (i, j, iou) in &overlaps.pairs {
        let weight = weights[*i] * weights[*j];
        total += iou * real(weight);
        n += weight;
    }
    (0 < n).then(|| total / real(n))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::runs::tests::masks;
    use super::super::runs::vote;
    use super::*;

    proptest! {
        /// Sums over groups of pixels must say what a vote over repeated masks says.
        #[test]
        fn a_redrawn_vote_is_the_vote_of_the_people_drawn(
            masks in masks(3..6), picks in prop::collection::vec(0_usize..100, 5),
        ) {
            let refs: Vec<&Mask> = masks.iter().collect();
            let frame = Frame::new(masks[0].height(), masks[0].width(), Options::default().crop);
            let picked: Vec<usize> =
                picks[..masks.len()].iter().map(|pick| pick % masks.len()).collect();
            let mut weights = vec![0; masks.len()];
            for idx in &picked {
                weights[*idx] += 1;
            }
            let found = voted(&groups(&refs, &frame), &weights, &frame);
            let again: Vec<&Mask> = picked.iter().map(|idx| refs[*idx]).collect();
            let mut moments = Moments::default();
            each_object_run(&vote(&again).unwrap(), |run| moments.add(&frame.moments(run)));
            let expected = placement(&moments, &frame);
            prop_assert_eq!(found.is_some(), expected.is_some());
            if let (Some(found), Some(expected)) = (found, expected) {
                prop_assert!((found.size - expected.size).abs() < 1e-12);
                prop_assert!((found.offset - expected.offset).abs() < 1e-12);
                prop_assert!((found.lost_share - expected.lost_share).abs() < 1e-9);
            }
        }
    }
}
