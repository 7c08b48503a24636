//! Arithmetic on run lengths: overlap and majority without ever drawing a bitmap.
//!
//! [`sweep`] walks several masks of one size at once, from change to change: between two changes
//! every mask is either all object or all background. Everything else here is a few sums over such
//! stretches, so the work grows with the outlines and not with the pixels.

use mohs_data::Mask;

/// Pixels of a picture, in the order of the runs: down the columns, left to right.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stretch {
    /// The first pixel.
    pub(super) start: u64,
    /// One past the last pixel.
    pub(super) end: u64,
}

impl Stretch {
    pub(super) fn len(self) -> u64 {
        self.end - self.start
    }
}

/// One mask on the way through its runs.
struct Cursor<'a> {
    rest: std::slice::Iter<'a, u32>,
    is_object: bool,
    end: u64,
}

/// Visits the stretches of masks that share a size, in order, each with who marks it as object.
/// Neighbouring stretches differ.
pub(super) fn sweep(masks: &[&Mask], mut visit: impl FnMut(Stretch, &[bool])) {
    let Some(first) = masks.first() else { return };
    let n_pixels = n_pixels(first);
    let mut cursors: Vec<Cursor> = masks
        .iter()
        .map(|mask| Cursor { rest: mask.counts().iter(), is_object: true, end: 0 })
        .collect();
    let mut marks = vec![false; masks.len()];
    let mut start = 0;
    while start < n_pixels {
        let mut end = n_pixels;
        for (cursor, is_marked) in cursors.iter_mut().zip(&mut marks) {
            // The first run may be empty: the mask starts with object.
            while cursor.end <= start {
                let Some(run) = cursor.rest.next() else { break };
                cursor.is_object = !cursor.is_object;
                cursor.end += u64::from(*run);
                *is_marked = cursor.is_object;
            }
            end = end.min(cursor.end.max(start + 1));
        }
        visit(Stretch { start, end }, &marks);
        start = end;
    }
}

/// Returns the number of pixels of the picture.
pub(super) fn n_pixels(mask: &Mask) -> u64 {
    u64::from(mask.height()) * u64::from(mask.width())
}

/// Returns intersection over union of two masks of one size; `None` if the sizes differ or both
/// masks are empty.
///
/// ```text
/// IoU = |A ∩ B| / |A ∪ B|
/// ```
pub fn iou(a: &Mask, b: &Mask) -> Option<f64> {
    if (a.height(), a.width()) != (b.height(), b.width()) {
        return None;
    }
    let (mut shared, mut either) = (0, 0);
    sweep(&[a, b], |stretch, marks| {
        shared += if marks[0] && marks[1] { stretch.len() } else { 0 };
        either += if marks[0] || marks[1] { stretch.len() } else { 0 };
    });
    ratio(shared, either)
}

/// Returns the share `part / whole`; `None` of nothing.
pub(super) fn ratio(part: u64, whole: u64) -> Option<f64> {
    (0 < whole).then(|| pixels(part) / pixels(whole))
}

/// Turns a number of pixels into a number; a mask has fewer than 2^28.
#[expect(clippy::cast_precision_loss, reason = "a mask has fewer than 2^28 pixels")]
pub(super) fn pixels(n: u64) -> f64 {
    n as f64
}

/// Collects run lengths from stretches in order.
#[derive(Default)]
struct RunsOut {
    counts: Vec<u32>,
    is_object: bool,
}

impl RunsOut {
    fn push(&mut self, is_object: bool, n_pixels: u64) {
        let n_pixels = u32::try_from(n_pixels).expect("because a mask has fewer than 2^28 pixels");
        if self.counts.is_empty() {
            self.counts.push(0);
        }
        if is_object != self.is_object {
            self.counts.push(0);
            self.is_object = is_object;
        }
        *self.counts.last_mut().expect("because one run was pushed above") += n_pixels;
    }
}

/// Makes a mask of the pixels for which `is_object` says so, given who marks them. The masks must
/// share a size, and there must be one.
fn combine(masks: &[&Mask], mut is_object: impl FnMut(&[bool]) -> bool) -> Mask {
    let mut runs = RunsOut::default();
    sweep(masks, |stretch, marks| runs.push(is_object(marks), stretch.len()));
    Mask::from_counts(masks[0].height(), masks[0].width(), &runs.counts)
        .expect("because the stretches cover each pixel once")
}

/// Returns the pixels that any of the masks marks; the masks must share a size, and there must be
/// one.
pub(super) fn union(masks: &[&Mask]) -> Mask {
    combine(masks, |marks| marks.contains(&true))
}

/// Returns the majority vote: the pixels that strictly more than half of the masks mark. `None`
/// without masks or if their sizes differ.
///
/// With an even number of masks a tie is background.
pub fn vote(masks: &[&Mask]) -> Option<Mask> {
    let first = masks.first()?;
    let is_same = |mask: &&Mask| (mask.height(), mask.width()) == (first.height(), first.width());
    masks.iter().all(is_same).then(|| {
        combine(masks, |marks| is_majority(marks.iter().filter(|is| **is).count(), masks.len()))
    })
}

/// Returns whether `n_marks` of `n` people are strictly more than half.
pub(super) fn is_majority(n_marks: usize, n: usize) -> bool {
    n < 2 * n_marks
}

/// How the masks of several people on one object overlap; all from one sweep.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Overlaps {
    /// The majority vote.
    pub(super) vote: Mask,
    /// Each mask's IoU with the vote of all; `None` for a single mask, which is the vote.
    pub(super) to_vote: Vec<Option<f64>>,
    /// Each mask's IoU with the vote of the others; `None` for a single mask.
    pub(super) to_others: Vec<Option<f64>>,
    /// IoU of every pair `(i, j, iou)` with `i < j`.
    pub(super) pairs: Vec<(usize, usize, f64)>,
}

/// Returns how masks overlap. They must share a size, there must be one, and none may be empty.
pub(super) fn overlaps(masks: &[&Mask]) -> Overlaps {
    let n = masks.len();
    let areas: Vec<u64> = masks.iter().map(|mask| mask.area()).collect();
    let mut runs = RunsOut::default();
    let mut shared = vec![0_u64; n * n];
    let mut with_vote = vec![(0_u64, 0_u64); n];
    let mut with_others = vec![(0_u64, 0_u64); n];
    let mut marking: Vec<usize> = Vec::with_capacity(n);
    sweep(masks, |stretch, marks| {
        marking.clear();
        marking.extend((0..n).filter(|idx| marks[*idx]));
        let is_voted = is_majority(marking.len(), n);
        runs.push(is_voted, stretch.len());
        if marking.is_empty() {
            return;
        }
        for (place, i) in marking.iter().enumerate() {
            for j in &marking[place + 1..] {
                shared[i * n + j] += stretch.len();
            }
        }
        for idx in 0..n {
            let count = |counts: &mut (u64, u64), is_other: bool| {
                counts.0 += if marks[idx] && is_other { stretch.len() } else { 0 };
                counts.1 += if marks[idx] || is_other { stretch.len() } else { 0 };
            };
            count(&mut with_vote[idx], is_voted);
            let is_others = is_majority(marking.len() - usize::from(marks[idx]), n - 1);
            count(&mut with_others[idx], is_others);
        }
    });
    let mut pairs = Vec::with_capacity(n * (n - 1) / 2);
    for i in 0..n {
        for j in i + 1..n {
            let both = shared[i * n + j];
            pairs.extend(ratio(both, areas[i] + areas[j] - both).map(|iou| (i, j, iou)));
        }
    }
    let ious = |counts: Vec<(u64, u64)>| -> Vec<Option<f64>> {
        counts.into_iter().map(|(both, either)| ratio(both, either)).collect()
    };
    Overlaps {
        vote: Mask::from_counts(masks[0].height(), masks[0].width(), &runs.counts)
            .expect("because the stretches cover each pixel once"),
        to_vote: if n < 2 { vec![None; n] } else { ious(with_vote) },
        to_others: if n < 2 { vec![None; n] } else { ious(with_others) },
        pairs,
    }
}

#[cfg(test)]
pub(super) mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Reads a drawing, one row a line, `#` for object.
    pub(in super::super) fn drawn(rows: &[&str]) -> Mask {
        let bits: Vec<bool> = rows.iter().flat_map(|r| r.chars().map(|c| c == '#')).collect();
        let side = |n: usize| u32::try_from(n).expect("because drawings are small");
        Mask::from_bitmap(side(rows.len()), side(rows[0].len()), &bits)
            .expect("because the rows are equally long")
    }

    /// Some masks of one size.
    pub(in super::super) fn masks(n: std::ops::Range<usize>) -> impl Strategy<Value = Vec<Mask>> {
        (1_u32..10, 1_u32..10, n).prop_flat_map(|(height, width, n)| {
            let bits = prop::collection::vec(any::<bool>(), (height * width) as usize);
            prop::collection::vec(bits, n).prop_map(move |bitmaps| {
                let mask = |bits: &Vec<bool>| {
                    Mask::from_bitmap(height, width, bits).expect("because the sizes fit")
                };
                bitmaps.iter().map(mask).collect()
            })
        })
    }

    /// Intersection over union, pixel by pixel.
    fn brute_iou(a: &[bool], b: &[bool]) -> Option<f64> {
        let both = a.iter().zip(b).filter(|(a, b)| **a && **b).count();
        let either = a.iter().zip(b).filter(|(a, b)| **a || **b).count();
        ratio(both as u64, either as u64)
    }

    /// Majority, pixel by pixel.
    fn brute_vote(bitmaps: &[Vec<bool>]) -> Vec<bool> {
        (0..bitmaps[0].len())
            .map(|idx| bitmaps.len() < 2 * bitmaps.iter().filter(|bits| bits[idx]).count())
            .collect()
    }

    #[test]
    fn a_vote_and_an_iou_worked_by_hand() {
        let a = drawn(&["##.", "##.", "..."]);
        let b = drawn(&[".##", ".##", "..."]);
        let c = drawn(&[".#.", ".#.", ".#."]);
        assert_eq!(iou(&a, &b), Some(2.0 / 6.0));
        assert_eq!(vote(&[&a, &b, &c]), Some(drawn(&[".#.", ".#.", "..."])));
        // A tie is background.
        assert_eq!(vote(&[&a, &b]), Some(drawn(&[".#.", ".#.", "..."])));
        assert_eq!(vote(&[&a]), Some(a.clone()));
        let overlaps = overlaps(&[&a, &b, &c]);
        assert_eq!(overlaps.to_vote, [Some(2.0 / 4.0), Some(2.0 / 4.0), Some(2.0 / 3.0)]);
        assert_eq!(overlaps.to_others, [Some(2.0 / 4.0), Some(2.0 / 4.0), Some(2.0 / 3.0)]);
        assert_eq!(overlaps.pairs, [(0, 1, 2.0 / 6.0), (0, 2, 2.0 / 5.0), (1, 2, 2.0 / 5.0)]);
    }

    #[test]
    fn masks_of_different_sizes_have_no_iou_and_no_vote() {
        let (a, b) = (drawn(&["#."]), drawn(&["#", "."]));
        assert_eq!(iou(&a, &b), None);
        assert_eq!(vote(&[&a, &b]), None);
        assert_eq!(vote(&[]), None);
        let empty = drawn(&[".."]);
        assert_eq!(iou(&empty, &empty), None);
        assert_eq!(iou(&a, &empty), Some(0.0));
    }

    /// Golden: pycocotools 2.0.11, `mask.decode`, `mask.area`, `mask.iou(…, [0])` and
    /// `mask.merge` of three drawings on 40 × 60 pixels.
    #[test]
    fn areas_and_ious_are_those_of_pycocotools() {
        let read = |text| Mask::from_compressed(40, 60, text).unwrap();
        let [a, b, c] = GOLDEN_MASKS.map(read);
        assert_eq!([a.area(), b.area(), c.area()], GOLDEN_AREAS);
        for ((x, y), expected) in [(&a, &b), (&a, &c), (&b, &c)].into_iter().zip(GOLDEN_IOUS) {
            assert!((iou(x, y).unwrap() - expected).abs() < 1e-15);
        }
        assert_eq!(union(&[&a, &b, &c]).to_compressed(), GOLDEN_UNION);
        assert_eq!(vote(&[&a, &b, &c]).unwrap().to_compressed(), GOLDEN_VOTE);
    }

    const GOLDEN_MASKS: [&str; 3] = [
        "Xc09n02N2N2N2N2O000O2O00000000000000000001N10001N2N2N2N2No5LUJ2O00000001N[7",
        "Zh09m04M2N2N2N2O0O2O00000000000000000001N101N2N2N2N3L`c0",
        "W>7P12N2O0O2N2O000O2O0000F\\O0d0O^O0b00^O0b00^O0b00^O0b00^O0b00^O0b00^O0b01\\O0d0:00001N10001N2N101N2NRf0",
    ];
    const GOLDEN_AREAS: [u64; 3] = [520, 483, 406];
    const GOLDEN_IOUS: [f64; 3] = [0.6388888888888888, 0.5993091537132987, 0.44084278768233387];
    const GOLDEN_UNION: &str =
        "W>7P12N2O0O2N2O1O1N2O1O001O1O1O001O00000000000001O00001N101N2N2N2N3L^3LgL2O00000001N[7";
    const GOLDEN_VOTE: &str = "Xc09n02N1O1O2N3N1O0O2O00000000000000000001N10001N2N1O2N2NRf0";

    proptest! {
        #[test]
        fn sweeps_equal_brute_force(masks in masks(1..7)) {
            let refs: Vec<&Mask> = masks.iter().collect();
            let bitmaps: Vec<Vec<bool>> = masks.iter().map(Mask::to_bitmap).collect();
            let voted = brute_vote(&bitmaps);
            prop_assert_eq!(vote(&refs).unwrap().to_bitmap(), voted.clone());
            let any: Vec<bool> =
                (0..voted.len()).map(|idx| bitmaps.iter().any(|bits| bits[idx])).collect();
            prop_assert_eq!(union(&refs).to_bitmap(), any);
            let found = overlaps(&refs);
            prop_assert_eq!(found.vote.to_bitmap(), voted.clone());
            for (i, bits) in bitmaps.iter().enumerate() {
                let alone = masks.len() < 2;
                let expected = if alone { None } else { brute_iou(bits, &voted) };
                prop_assert_eq!(found.to_vote[i], expected);
                let others: Vec<Vec<bool>> = bitmaps
                    .iter()
                    .enumerate()
                    .filter(|(j, _)| *j != i)
                    .map(|(_, bits)| bits.clone())
                    .collect();
                let expected =
                    if others.is_empty() { None } else { brute_iou(bits, &brute_vote(&others)) };
                prop_assert_eq!(found.to_others[i], expected);
                for (j, other) in bitmaps.iter().enumerate() {
                    prop_assert_eq!(iou(&masks[i], &masks[j]), brute_iou(bits, other));
                }
            }
            for (i, j, iou) in found.pairs {
                prop_assert_eq!(Some(iou), brute_iou(&bitmaps[i], &bitmaps[j]));
            }
        }

        #[test]
        fn iou_is_symmetric_and_one_only_for_equals(masks in masks(2..3)) {
            let (a, b) = (&masks[0], &masks[1]);
            prop_assert_eq!(iou(a, b), iou(b, a));
            if let Some(iou) = iou(a, b) {
                prop_assert!((0.0..=1.0).contains(&iou));
                prop_assert_eq!(1.0 <= iou, a == b);
            }
        }

        #[test]
        fn stretches_cover_every_pixel_once_in_order(masks in masks(1..5)) {
            let refs: Vec<&Mask> = masks.iter().collect();
            let mut at = 0;
            sweep(&refs, |stretch, _| {
                assert_eq!(stretch.start, at);
                assert!(stretch.start < stretch.end);
                at = stretch.end;
            });
            prop_assert_eq!(at, n_pixels(&masks[0]));
        }
    }
}
