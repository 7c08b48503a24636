//! A mask: which pixels belong to an object, kept as run lengths the way COCO does.
//!
//! Runs go down the columns, left to right, and begin with background. Two masks are equal exactly
//! if their pixels are. Polygons are filled by the even-odd rule at pixel centres; `pycocotools`
//! 2.0.11 samples outlines otherwise and sets about one outline pixel in twenty differently.

use std::fmt;

use serde::de::{self, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

/// Which pixels belong to an object.
///
/// Invariant: the runs add up to `height × width`, and no run but the first is empty.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Segmentation", into = "Segmentation")]
pub struct Mask {
    height: u32,
    width: u32,
    counts: Vec<u32>,
}

/// Why there is no mask.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MaskError {
    /// The size is zero or so large that no picture has it.
    #[error(
        "a mask should be from 1 to {} pixels wide and high, found {width} × {height}",
        Mask::MAX_SIDE
    )]
    BadSize {
        /// Height asked for.
        height: u32,
        /// Width asked for.
        width: u32,
    },
    /// The runs, or the bitmap, cover another number of pixels than the size says.
    #[error("run lengths should add up to {expected} pixels, found {found}")]
    WrongSize {
        /// Height times width.
        expected: u64,
        /// Sum of the runs.
        found: u64,
    },
    /// A run is negative or longer than any picture.
    #[error("run {idx} should be from 0 to {} pixels, found {found}", Mask::MAX_PIXELS)]
    Overflow {
        /// Position of the run, from 0.
        idx: usize,
        /// The run, as far as it can be said.
        found: String,
    },
    /// The compressed text has a character that encodes nothing.
    #[error("compressed run lengths should use the characters from `0` to `o`, found {found:?}")]
    BadCharacter {
        /// The character.
        found: char,
    },
    /// The compressed text ends in the middle of a number.
    #[error("compressed run lengths end in the middle of run {idx}")]
    CutShort {
        /// Position of the run, from 0.
        idx: usize,
    },
    /// A polygon has an odd number of coordinates, fewer than three corners, or a number that is
    /// not finite.
    #[error("polygon {idx} should be three or more pairs of finite numbers")]
    BadPolygon {
        /// Position of the polygon, from 0.
        idx: usize,
    },
}

impl MaskError {
    /// Returns what to do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::BadSize { .. } => "give the size of the picture in pixels, height first",
            Self::WrongSize { .. } => {
                "`size` is height, then width, and belongs to the picture the runs were made for"
            }
            Self::Overflow { .. } | Self::BadCharacter { .. } | Self::CutShort { .. } => {
                "the runs are damaged, or not those of COCO; encode the mask again"
            }
            Self::BadPolygon { .. } => "a polygon is x0, y0, x1, y1, …, in pixels",
        }
    }
}

impl Mask {
    /// The longest side a mask may have.
    pub const MAX_SIDE: u32 = 32_768;
    /// The most pixels a mask may have; more would only be an attack on memory.
    const MAX_PIXELS: u64 = 1 << 28;

    /// Makes a mask from run lengths down the columns, background first.
    pub fn from_counts(height: u32, width: u32, counts: &[u32]) -> Result<Self, MaskError> {
        let expected = check_size(height, width)?;
        let found = counts.iter().map(|run| u64::from(*run)).sum();
        if found != expected {
            return Err(MaskError::WrongSize { expected, found });
        }
        let mut runs = Runs::default();
        for (idx, run) in counts.iter().enumerate() {
            runs.push(idx % 2 == 1, *run);
        }
        Ok(Self { height, width, counts: runs.counts })
    }

    /// Makes a mask from the compressed text in COCO result files.
    pub fn from_compressed(height: u32, width: u32, text: &str) -> Result<Self, MaskError> {
        let mut counts: Vec<u32> = Vec::new();
        let mut chars = text.chars().peekable();
        while chars.peek().is_some() {
            let idx = counts.len();
            let mut delta: i64 = 0;
            let mut shift = 0;
            loop {
                let c = chars.next().ok_or(MaskError::CutShort { idx })?;
                let bits = match c {
                    '0'..='o' => i64::from(u32::from(c) - u32::from('0')),
                    found => return Err(MaskError::BadCharacter { found }),
                };
                // Seven groups of five bits hold any run a picture can have.
                if 35 <= shift {
                    let found = "a number of more than 35 bits".into();
                    return Err(MaskError::Overflow { idx, found });
                }
                delta |= (bits & 0x1f) << shift;
                shift += 5;
                if bits & 0x20 == 0 {
                    if bits & 0x10 != 0 {
                        delta |= -1 << shift;
                    }
                    break;
                }
            }
            // From the fourth run on, the difference to the run two before is stored.
            let before = if 2 < idx { i64::from(counts[idx - 2]) } else { 0 };
            counts.push(run_length(idx, before + delta)?);
        }
        Self::from_counts(height, width, &counts)
    }

    /// Makes a mask from a bitmap in reading order: row by row, left to right.
    pub fn from_bitmap(height: u32, width: u32, is_object: &[bool]) -> Result<Self, MaskError> {
        let expected = check_size(height, width)?;
        if is_object.len() as u64 != expected {
            return Err(MaskError::WrongSize { expected, found: is_object.len() as u64 });
        }
        let mut runs = Runs::default();
        for x in 0..width as usize {
            for y in 0..height as usize {
                runs.push(is_object[y * width as usize + x], 1);
            }
        }
        Ok(Self { height, width, counts: runs.counts })
    }

    /// Makes a mask from polygons `x0, y0, x1, y1, …` in pixels; pixels in any of them are object.
    ///
    /// A pixel is in a polygon if its centre is, by the even-odd rule. Corners may lie outside.
    pub fn from_polygons(
        height: u32,
        width: u32,
        polygons: &[Vec<f64>],
    ) -> Result<Self, MaskError> {
        check_size(height, width)?;
        for (idx, polygon) in polygons.iter().enumerate() {
            let is_sound = 6 <= polygon.len()
                && polygon.len().is_multiple_of(2)
                && polygon.iter().all(|coordinate| coordinate.is_finite());
            if !is_sound {
                return Err(MaskError::BadPolygon { idx });
            }
        }
        // Most objects are small: columns beside all corners need no look at the edges.
        let xs = || polygons.iter().flat_map(|polygon| polygon.iter().step_by(2));
        let leftmost = xs().copied().fold(f64::INFINITY, f64::min);
        let rightmost = xs().copied().fold(f64::NEG_INFINITY, f64::max);
        Ok(Self::from_columns(height, width, |x, spans| {
            let centre = f64::from(x) + 0.5;
            if (leftmost..=rightmost).contains(&centre) {
                for polygon in polygons {
                    spans_in_column(polygon, centre, height, spans);
                }
            }
        }))
    }

    /// Makes a mask of the pixels whose centres lie in a circle, given in pixels.
    pub fn from_circle(
        height: u32,
        width: u32,
        (x, y): (f64, f64),
        radius: f64,
    ) -> Result<Self, MaskError> {
        check_size(height, width)?;
        if !(x.is_finite() && y.is_finite() && radius.is_finite()) {
            return Err(MaskError::BadPolygon { idx: 0 });
        }
        Ok(Self::from_columns(height, width, |column, spans| {
            let beside = f64::from(column) + 0.5 - x;
            if beside.abs() <= radius {
                let half = (radius * radius - beside * beside).sqrt();
                spans.push((first_row_below(y - half, height), first_row_below(y + half, height)));
            }
        }))
    }

    /// Makes a mask from a smaller bitmap, in reading order, whose corner lies at `(left, top)`;
    /// what sticks out is cut off.
    pub fn from_patch(
        height: u32,
        width: u32,
        (left, top): (i64, i64),
        patch: &Self,
    ) -> Result<Self, MaskError> {
        check_size(height, width)?;
        let bits = patch.to_bitmap();
        let inside = |place: i64, side: u32| u32::try_from(place).ok().filter(|n| *n < side);
        Ok(Self::from_columns(height, width, |x, spans| {
            let Some(from_x) = inside(i64::from(x) - left, patch.width) else { return };
            for from_y in 0..patch.height {
                let is_object = bits[from_y as usize * patch.width as usize + from_x as usize];
                if let Some(y) = inside(i64::from(from_y) + top, height).filter(|_| is_object) {
                    spans.push((y, y + 1));
                }
            }
        }))
    }

    /// Makes a mask column by column, from the rows `start..end` that are object in each; they may
    /// overlap and come in any order. The size must have been checked.
    fn from_columns(
        height: u32,
        width: u32,
        mut spans_of: impl FnMut(u32, &mut Vec<(u32, u32)>),
    ) -> Self {
        let mut runs = Runs::default();
        let mut spans: Vec<(u32, u32)> = Vec::new();
        for x in 0..width {
            spans.clear();
            spans_of(x, &mut spans);
            spans.sort_unstable();
            let mut y = 0;
            for (start, end) in &spans {
                if y < *end && start < end {
                    let start = y.max(*start);
                    runs.push(false, start - y);
                    runs.push(true, end - start);
                    y = *end;
                }
            }
            runs.push(false, height - y);
        }
        Self { height, width, counts: runs.counts }
    }

    /// Returns the height in pixels.
    pub fn height(&self) -> u32 {
        self.height
    }

    /// Returns the width in pixels.
    pub fn width(&self) -> u32 {
        self.width
    }

    /// Returns run lengths down the columns, background first.
    pub fn counts(&self) -> &[u32] {
        &self.counts
    }

    /// Returns the number of object pixels.
    pub fn area(&self) -> u64 {
        self.counts.iter().skip(1).step_by(2).map(|run| u64::from(*run)).sum()
    }

    /// Returns the bitmap in reading order: row by row, left to right.
    pub fn to_bitmap(&self) -> Vec<bool> {
        let (height, width) = (self.height as usize, self.width as usize);
        let mut bitmap = vec![false; height * width];
        let mut start = 0;
        for (idx, run) in self.counts.iter().enumerate() {
            let end = start + *run as usize;
            if idx % 2 == 1 {
                for position in start..end {
                    bitmap[position % height * width + position / height] = true;
                }
            }
            start = end;
        }
        bitmap
    }

    /// Returns the compressed text of COCO result files.
    pub fn to_compressed(&self) -> String {
        let mut text = String::new();
        for (idx, run) in self.counts.iter().enumerate() {
            let before = if 2 < idx { i64::from(self.counts[idx - 2]) } else { 0 };
            let mut rest = i64::from(*run) - before;
            loop {
                let low = u8::try_from(rest & 0x1f).expect("because five bits fit a byte");
                rest >>= 5;
                // The last group's top bit is the sign of what follows.
                let is_last = if low & 0x10 == 0 { rest == 0 } else { rest == -1 };
                text.push(char::from(b'0' + low + if is_last { 0 } else { 0x20 }));
                if is_last {
                    break;
                }
            }
        }
        text
    }
}

/// Returns a run length that a picture can have.
fn run_length(idx: usize, found: i64) -> Result<u32, MaskError> {
    let is_possible = |run: &u32| u64::from(*run) <= Mask::MAX_PIXELS;
    let run = u32::try_from(found).ok().filter(is_possible);
    run.ok_or_else(|| MaskError::Overflow { idx, found: found.to_string() })
}

fn check_size(height: u32, width: u32) -> Result<u64, MaskError> {
    let n_pixels = u64::from(height) * u64::from(width);
    let sides = 1..=Mask::MAX_SIDE;
    if !sides.contains(&height) || !sides.contains(&width) || Mask::MAX_PIXELS < n_pixels {
        return Err(MaskError::BadSize { height, width });
    }
    Ok(n_pixels)
}

/// Adds the rows of one column whose centres lie in the polygon.
fn spans_in_column(polygon: &[f64], x: f64, height: u32, spans: &mut Vec<(u32, u32)>) {
    let n_corners = polygon.len() / 2;
    let mut crossings: Vec<f64> = Vec::new();
    for idx in 0..n_corners {
        let next = (idx + 1) % n_corners;
        let (x0, y0) = (polygon[2 * idx], polygon[2 * idx + 1]);
        let (x1, y1) = (polygon[2 * next], polygon[2 * next + 1]);
        if (x0 <= x) != (x1 <= x) {
            // Weights instead of a slope, so that huge corners cannot overflow to infinity.
            let share = x / (x1 - x0) - x0 / (x1 - x0);
            crossings.push(y0 * (1.0 - share) + y1 * share);
        }
    }
    crossings.sort_unstable_by(f64::total_cmp);
    for pair in crossings.chunks_exact(2) {
        let row = |y: f64| first_row_below(y, height);
        let (start, end) = (row(pair[0]), row(pair[1]));
        if start < end {
            spans.push((start, end));
        }
    }
}

/// Returns the first row whose centre is at or below `y`.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "clamped to 0..=height, and a cast takes NaN to 0"
)]
fn first_row_below(y: f64, height: u32) -> u32 {
    (y - 0.5).ceil().clamp(0.0, f64::from(height)) as u32
}

/// Run lengths that grow pixel by pixel.
#[derive(Default)]
struct Runs {
    counts: Vec<u32>,
}

impl Runs {
    fn push(&mut self, is_object: bool, n_pixels: u32) {
        if n_pixels == 0 {
            return;
        }
        if self.counts.is_empty() {
            self.counts.push(0);
        }
        if self.counts.len().is_multiple_of(2) != is_object {
            self.counts.push(0);
        }
        *self.counts.last_mut().expect("because one run was pushed above") += n_pixels;
    }
}

/// A mask as COCO files spell it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Segmentation {
    /// Height, width.
    pub(crate) size: [u32; 2],
    pub(crate) counts: Counts,
}

/// Run lengths, compressed or plain.
#[derive(Debug, Clone, Serialize)]
#[serde(untagged)]
pub(crate) enum Counts {
    Compressed(String),
    Plain(Vec<i64>),
}

impl<'de> Deserialize<'de> for Counts {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(CountsVisitor)
    }
}

/// Tells text from a list; a derived reader could not say what it expected.
struct CountsVisitor;

impl<'de> Visitor<'de> for CountsVisitor {
    type Value = Counts;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("run lengths: compressed text or a list of whole numbers")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Counts, E> {
        Ok(Counts::Compressed(text.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Counts, A::Error> {
        let mut counts = Vec::new();
        while let Some(run) = list.next_element()? {
            counts.push(run);
        }
        Ok(Counts::Plain(counts))
    }
}

impl TryFrom<Segmentation> for Mask {
    type Error = MaskError;

    fn try_from(segmentation: Segmentation) -> Result<Self, MaskError> {
        let [height, width] = segmentation.size;
        match segmentation.counts {
            Counts::Compressed(text) => Self::from_compressed(height, width, &text),
            Counts::Plain(counts) => {
                let runs = counts.iter().enumerate().map(|(idx, run)| run_length(idx, *run));
                Self::from_counts(height, width, &runs.collect::<Result<Vec<u32>, _>>()?)
            }
        }
    }
}

impl From<Mask> for Segmentation {
    fn from(mask: Mask) -> Self {
        Self { size: [mask.height, mask.width], counts: Counts::Compressed(mask.to_compressed()) }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Reads a drawing, one row a line, `#` for object.
    fn drawn(rows: &[&str]) -> Mask {
        let bitmap: Vec<bool> = rows.iter().flat_map(|r| r.chars().map(|c| c == '#')).collect();
        let side = |n: usize| u32::try_from(n).unwrap();
        Mask::from_bitmap(side(rows.len()), side(rows[0].len()), &bitmap).unwrap()
    }

    #[test]
    fn runs_go_down_the_columns() {
        let mask = drawn(&[".#.", ".##"]);
        assert_eq!(mask.counts(), [2, 2, 1, 1]);
        assert_eq!(mask.area(), 3);
        assert_eq!(drawn(&["#"]).counts(), [0, 1]);
    }

    #[test]
    fn compressed_text_is_that_of_pycocotools() {
        // pycocotools 2.0.11: mask.encode of a 10 × 10 picture with rows 2..7, columns 3..6 set.
        let mut bitmap = vec![false; 100];
        for y in 2..7 {
            for x in 3..6 {
                bitmap[y * 10 + x] = true;
            }
        }
        let mask = Mask::from_bitmap(10, 10, &bitmap).unwrap();
        assert_eq!(mask.counts(), [32, 5, 5, 5, 5, 5, 43]);
        assert_eq!(mask.to_compressed(), "P155000V1");
        assert_eq!(Mask::from_compressed(10, 10, "P155000V1"), Ok(mask));
    }

    #[test]
    fn a_square_polygon_covers_its_pixels() {
        let square = vec![1.0, 1.0, 3.0, 1.0, 3.0, 3.0, 1.0, 3.0];
        let expected = drawn(&["....", ".##.", ".##.", "...."]);
        assert_eq!(Mask::from_polygons(4, 4, std::slice::from_ref(&square)), Ok(expected));
        // Overlapping polygons are a union, not a parity.
        let shifted = square.iter().map(|x| x + 1.0).collect();
        let expected = drawn(&["....", ".##.", ".###", "..##"]);
        assert_eq!(Mask::from_polygons(4, 4, &[square, shifted]), Ok(expected));
    }

    #[test]
    fn a_circle_covers_the_pixels_whose_centres_it_holds() {
        let expected = drawn(&[".##.", "####", "####", ".##."]);
        assert_eq!(Mask::from_circle(4, 4, (2.0, 2.0), 2.0), Ok(expected));
        assert!(Mask::from_circle(4, 4, (f64::NAN, 2.0), 2.0).is_err());
    }

    #[test]
    fn a_patch_lands_where_it_belongs_and_is_cut_at_the_edge() {
        let patch = drawn(&["##", ".#"]);
        let expected = drawn(&["....", "..##", "...#"]);
        assert_eq!(Mask::from_patch(3, 4, (2, 1), &patch), Ok(expected));
        let expected = drawn(&["#.", ".."]);
        assert_eq!(Mask::from_patch(2, 2, (-1, -1), &patch), Ok(expected));
    }

    #[test]
    fn a_polygon_may_reach_far_outside() {
        let all = vec![-1e300, -1e300, 1e300, -1e300, 1e300, 1e300, -1e300, 1e300];
        assert_eq!(Mask::from_polygons(3, 3, &[all]).unwrap().area(), 9);
    }

    #[test]
    fn what_is_no_mask_says_why() {
        let error = |mask: Result<Mask, MaskError>| mask.unwrap_err().to_string();
        insta::assert_snapshot!(
            error(Mask::from_counts(2, 2, &[1, 2])),
            @"run lengths should add up to 4 pixels, found 3"
        );
        insta::assert_snapshot!(
            error(Mask::from_counts(0, 2, &[])),
            @"a mask should be from 1 to 32768 pixels wide and high, found 2 × 0"
        );
        insta::assert_snapshot!(
            error(Mask::from_compressed(2, 2, "é")),
            @"compressed run lengths should use the characters from `0` to `o`, found 'é'"
        );
        insta::assert_snapshot!(
            error(Mask::from_compressed(2, 2, "4P")),
            @"compressed run lengths end in the middle of run 1"
        );
        insta::assert_snapshot!(
            error(Mask::from_compressed(2, 2, "ooooooooooo")),
            @"run 0 should be from 0 to 268435456 pixels, found a number of more than 35 bits"
        );
        insta::assert_snapshot!(
            error(Mask::from_polygons(2, 2, &[vec![0.0, 1.0]])),
            @"polygon 0 should be three or more pairs of finite numbers"
        );
    }

    proptest! {
        #[test]
        fn every_bitmap_comes_back(
            (h, w, bitmap) in (1_u32..9, 1_u32..9).prop_flat_map(|(h, w)| {
                (Just(h), Just(w), prop::collection::vec(any::<bool>(), (h * w) as usize))
            }),
        ) {
            let mask = Mask::from_bitmap(h, w, &bitmap).unwrap();
            prop_assert_eq!(mask.area(), bitmap.iter().filter(|is| **is).count() as u64);
            prop_assert_eq!(Mask::from_compressed(h, w, &mask.to_compressed()), Ok(mask.clone()));
            prop_assert_eq!(Mask::from_counts(h, w, mask.counts()), Ok(mask.clone()));
            prop_assert_eq!(mask.to_bitmap(), bitmap);
        }

        #[test]
        fn any_text_is_a_mask_or_an_error(text in "[0-o]{0,40}", h in 0_u32..70, w in 0_u32..70) {
            if let Ok(mask) = Mask::from_compressed(h, w, &text) {
                prop_assert_eq!(Mask::from_compressed(h, w, &mask.to_compressed()), Ok(mask));
            }
        }
    }
}
