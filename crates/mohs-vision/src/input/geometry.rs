//! Sizes and cuts: how large a resized picture is, and which part of it is kept.
//!
//! Whole numbers are rounded as torchvision and timm round them, because a cut that is off by one
//! pixel moves the whole picture. No pixel is computed here.

use std::ops::Range;

use super::Resize;
use crate::pixels::Rgb8;

/// Pictures are never resized to longer sides; a thin strip would otherwise overflow.
const LONGEST: u64 = u32::MAX as u64 / 4;

/// How one side is cut.
pub(super) struct Cut {
    /// The positions that are kept.
    pub(super) kept: Range<u32>,
    /// How many positions are filled in front of them.
    pub(super) before: u32,
}

/// Returns what makes a picture just cover this size.
pub(super) fn covering(width: u32, height: u32) -> Resize {
    if width == height { Resize::Shorter(width) } else { Resize::Cover(width, height) }
}

/// Returns the size of a picture after resizing; no side is zero.
pub(super) fn resized(from: (u32, u32), resize: Resize) -> (u32, u32) {
    let size = match resize {
        Resize::None => from,
        Resize::Squash(width, height) => (width, height),
        Resize::Shorter(side) if from.0 <= from.1 => (side, longer(side, from.1, from.0)),
        Resize::Shorter(side) => (longer(side, from.0, from.1), side),
        Resize::Cover(width, height) => in_proportion(from, (width, height), f64::min),
        Resize::Inside(width, height) => in_proportion(from, (width, height), f64::max),
    };
    (size.0.max(1), size.1.max(1))
}

/// Returns the longer side, rounded down.
fn longer(shorter: u32, from_longer: u32, from_shorter: u32) -> u32 {
    let side = u64::from(shorter) * u64::from(from_longer) / u64::from(from_shorter);
    u32::try_from(side.min(LONGEST)).expect("because it is below the largest number of 32 bits")
}

/// Returns the size that the smaller or larger of two ratios leads to, halves to even.
fn in_proportion(from: (u32, u32), to: (u32, u32), choose: fn(f64, f64) -> f64) -> (u32, u32) {
    let ratio_of = |from: u32, to: u32| f64::from(from) / f64::from(to.max(1));
    let ratio = choose(ratio_of(from.1, to.1), ratio_of(from.0, to.0));
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "cut to what a side may be"
    )]
    let side = |side: u32| (f64::from(side) / ratio).round_ties_even().min(LONGEST as f64) as u32;
    (side(from.0), side(from.1))
}

/// Returns how a side of this length is cut to the wanted one: the middle, and what is missing is
/// filled on both sides.
pub(super) fn cut(side: u32, wanted: u32) -> Cut {
    if side < wanted {
        return Cut { kept: 0..side, before: (wanted - side) / 2 };
    }
    let rest = side - wanted;
    // Half of an odd rest is rounded to an even number, as Python's round() does.
    let start = rest / 2 + u32::from(rest % 4 == 3);
    Cut { kept: start..start + wanted, before: 0 }
}

/// Returns the picture in a frame of one colour; it must fit at `at` (from the left, from the top).
pub(super) fn framed(picture: &Rgb8, size: (u32, u32), at: (u32, u32), fill: [u8; 3]) -> Rgb8 {
    let (width, height) = (size.0 as usize, size.1 as usize);
    let mut bytes = fill.repeat(width * height);
    let row_bytes = picture.width() as usize * 3;
    for (idx, row) in picture.bytes().chunks_exact(row_bytes).enumerate() {
        let start = ((at.1 as usize + idx) * width + at.0 as usize) * 3;
        bytes[start..start + row_bytes].copy_from_slice(row);
    }
    Rgb8::new(size.0, size.1, bytes).expect("because each pixel was filled")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shorter_side_is_exact_and_the_longer_rounded_down() {
        assert_eq!(resized((640, 480), Resize::Shorter(256)), (341, 256));
        assert_eq!(resized((480, 641), Resize::Shorter(256)), (256, 341));
        assert_eq!(resized((5, 5), Resize::Shorter(7)), (7, 7));
        assert_eq!(resized((1, 4_000_000_000), Resize::Shorter(16_384)).0, 16_384);
    }

    #[test]
    fn covering_is_never_smaller_and_inside_never_larger() {
        assert_eq!(resized((640, 480), Resize::Cover(224, 112)), (224, 168));
        assert_eq!(resized((640, 480), Resize::Inside(224, 112)), (149, 112));
        assert_eq!(resized((1000, 1), Resize::Inside(10, 10)), (10, 1));
        assert_eq!(resized((30, 20), Resize::None), (30, 20));
        assert_eq!(resized((30, 20), Resize::Squash(4, 9)), (4, 9));
    }

    #[test]
    fn half_a_pixel_goes_to_the_even_side() {
        let start = |side, wanted| cut(side, wanted).kept.start;
        assert_eq!([start(5, 4), start(7, 4), start(9, 4), start(11, 4)], [0, 2, 2, 4]);
        assert_eq!([start(4, 4), start(6, 4), start(8, 4)], [0, 1, 2]);
    }

    #[test]
    fn what_is_missing_is_filled_around() {
        let white = Rgb8::new(1, 2, vec![255; 6]).unwrap();
        let (across, down) = (cut(1, 4), cut(2, 3));
        assert_eq!((across.before, down.before), (1, 0));
        let framed = framed(&white, (4, 3), (1, 0), [1, 2, 3]);
        assert_eq!(framed.pixel(1, 1), [255; 3]);
        assert_eq!(framed.pixel(1, 2), [1, 2, 3]);
        assert_eq!(framed.pixel(0, 0), [1, 2, 3]);
    }
}
