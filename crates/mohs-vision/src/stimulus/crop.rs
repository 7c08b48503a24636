//! The square that is shown of a picture.
//!
//! The rule of the viewing-time paper (section 6.4): start from the object's box, extend its shorter
//! side until it is a square, fill with black where the picture ends, resize.
//!
//! ```text
//! side   =  max(width, height) of the box
//! left   =  box left − floor((side − box width) / 2),   top likewise
//! ```
//!
//! What the paper leaves open is decided so: the square stays centred on the box and is never
//! shifted, because off-centre objects are what the crop is to avoid; edges of a box between pixels
//! are moved outwards to whole ones, and to the picture's edges where they lie beyond; several boxes
//! count as the one that holds them all. Resizing is Pillow's bicubic filter, so a square is what
//! `image.crop(square).resize((n, n))` gives in Pillow, bit for bit.

use mohs_data::{BoundingBox, Crop};

use crate::input::Interpolation;
use crate::input::resample::{Window, resample};
use crate::pixels::Rgb8;

/// Longest side of a square before it is resized: 512 MiB of pixels, as many as are decoded.
const LONGEST: u32 = 13_377;

/// A square of a picture, in its pixels; parts of it may lie outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Square {
    /// Left edge.
    pub left: i64,
    /// Top edge.
    pub top: i64,
    /// Side, at least 1.
    pub side: u32,
}

/// Why there is no square.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum CropError {
    /// No pixel of the picture lies in the box.
    #[error(
        "the box should lie in the picture of {width} × {height} pixels, found `{found}` (x y width height)"
    )]
    BoxOutside {
        /// The box that holds all boxes.
        found: String,
        /// Width of the picture.
        width: u32,
        /// Height of the picture.
        height: u32,
    },
    /// The square would have more pixels than we hold.
    #[error("the square to be shown should have a side of at most {LONGEST} pixels, found {found}")]
    TooLong {
        /// Its side.
        found: u32,
    },
}

/// Returns the square to be shown of a picture of this size (width, height).
pub fn square(size: (u32, u32), boxes: &[BoundingBox], crop: Crop) -> Result<Square, CropError> {
    let (width, height) = (i64::from(size.0), i64::from(size.1));
    let whole = [0, 0, width, height];
    let [left, top, right, bottom] = match crop {
        Crop::Box if boxes.is_empty() => whole,
        Crop::Box => around(boxes, size)?,
        Crop::Whole => whole,
        Crop::Centre => {
            let side = width.min(height);
            let (left, top) = ((width - side) / 2, (height - side) / 2);
            [left, top, left + side, top + side]
        }
    };
    let (width, height) = (right - left, bottom - top);
    let side = width.max(height);
    let found = u32::try_from(side).expect("because sides of pictures are 32 bits");
    if LONGEST < found {
        return Err(CropError::TooLong { found });
    }
    Ok(Square { left: left - (side - width) / 2, top: top - (side - height) / 2, side: found })
}

/// Returns left, top, right and bottom of what all boxes cover of the picture.
fn around(boxes: &[BoundingBox], (width, height): (u32, u32)) -> Result<[i64; 4], CropError> {
    let least = |edge: fn(&BoundingBox) -> f64| boxes.iter().map(edge).fold(f64::MAX, f64::min);
    let most = |edge: fn(&BoundingBox) -> f64| boxes.iter().map(edge).fold(f64::MIN, f64::max);
    let (left, top) = (least(|a| a.x), least(|a| a.y));
    let (right, bottom) = (most(|a| a.x + a.width), most(|a| a.y + a.height));
    let inside = |edge: f64, side: u32| {
        #[expect(clippy::cast_possible_truncation, reason = "between 0 and a side of 32 bits")]
        let edge = edge.clamp(0.0, f64::from(side)) as i64;
        edge
    };
    let edges = [
        inside(left.floor(), width),
        inside(top.floor(), height),
        inside(right.ceil(), width),
        inside(bottom.ceil(), height),
    ];
    if edges[2] <= edges[0] || edges[3] <= edges[1] {
        let found = format!("{left} {top} {} {}", right - left, bottom - top);
        return Err(CropError::BoxOutside { found, width, height });
    }
    Ok(edges)
}

/// Returns the square, black where the picture ends.
pub fn cut(picture: &Rgb8, square: &Square) -> Rgb8 {
    let side = square.side as usize;
    let mut bytes = vec![0; side * side * 3];
    let (from, to) = overlap(square.left, square.side, picture.width());
    let n_bytes = from.len() * 3;
    let (rows, first_row) = overlap(square.top, square.side, picture.height());
    let is_outside = from.is_empty() || rows.is_empty();
    for (idx, row) in rows.enumerate().take_while(|_| !is_outside) {
        let source = (row * picture.width() as usize + from.start) * 3;
        let target = ((first_row + idx) * side + to) * 3;
        bytes[target..target + n_bytes].copy_from_slice(&picture.bytes()[source..][..n_bytes]);
    }
    Rgb8::new(square.side, square.side, bytes).expect("because a square has a side")
}

/// Returns which positions of the picture a stretch covers, and where they begin in the stretch.
fn overlap(start: i64, length: u32, side: u32) -> (std::ops::Range<usize>, usize) {
    let clamp = |at: i64| usize::try_from(at.clamp(0, i64::from(side))).unwrap_or(0);
    let covered = clamp(start)..clamp(start + i64::from(length));
    (covered, usize::try_from(-start).unwrap_or(0))
}

/// Returns a picture of this side, made with Pillow's bicubic filter.
pub fn resized(picture: &Rgb8, side: u32) -> Rgb8 {
    let all = Window { columns: 0..side, rows: 0..side };
    resample(picture, (side, side), &all, Interpolation::Bicubic)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn bounding_box(x: f64, y: f64, width: f64, height: f64) -> BoundingBox {
        BoundingBox { x, y, width, height }
    }

    #[track_caller]
    fn check(size: (u32, u32), boxes: &[BoundingBox], crop: Crop, expected: (i64, i64, u32)) {
        let (left, top, side) = expected;
        assert_eq!(square(size, boxes, crop), Ok(Square { left, top, side }));
    }

    #[test]
    fn the_shorter_side_of_a_box_is_extended_around_it() {
        check((500, 400), &[bounding_box(100.0, 50.0, 80.0, 200.0)], Crop::Box, (40, 50, 200));
        // The odd pixel goes to the right, and below.
        check((500, 400), &[bounding_box(100.0, 50.0, 7.0, 4.0)], Crop::Box, (100, 49, 7));
    }

    #[test]
    fn a_square_leaves_the_picture_and_is_not_shifted() {
        check((500, 400), &[bounding_box(0.0, 0.0, 100.0, 300.0)], Crop::Box, (-100, 0, 300));
        check((500, 400), &[bounding_box(0.0, 300.0, 500.0, 100.0)], Crop::Box, (0, 100, 500));
    }

    #[test]
    fn edges_between_pixels_go_outwards_and_stay_in_the_picture() {
        check((50, 50), &[bounding_box(10.4, 10.6, 9.2, 9.0)], Crop::Box, (10, 10, 10));
        check((50, 50), &[bounding_box(-3.0, 40.0, 23.0, 30.0)], Crop::Box, (0, 35, 20));
    }

    #[test]
    fn several_boxes_are_the_one_that_holds_them() {
        let boxes = [bounding_box(10.0, 10.0, 10.0, 10.0), bounding_box(40.0, 20.0, 10.0, 5.0)];
        check((100, 100), &boxes, Crop::Box, (10, -2, 40));
    }

    #[test]
    fn without_a_box_the_picture_is_whole_and_centred() {
        check((300, 100), &[], Crop::Box, (0, -100, 300));
        check((100, 301), &[], Crop::Whole, (-100, 0, 301));
        check((300, 101), &[], Crop::Centre, (99, 0, 101));
    }

    #[test]
    fn a_box_outside_is_told_with_the_size_of_the_picture() {
        let error = square((50, 40), &[bounding_box(50.0, 0.0, 9.0, 9.0)], Crop::Box).unwrap_err();
        let expected = "the box should lie in the picture of 50 × 40 pixels, found `50 0 9 9` (x y \
                        width height)";
        assert_eq!(error.to_string(), expected);
    }

    #[test]
    fn a_strip_too_long_for_a_square_is_refused() {
        let error = square((1, 20_000), &[], Crop::Whole).unwrap_err();
        assert_eq!(error, CropError::TooLong { found: 20_000 });
    }

    #[test]
    fn what_is_outside_is_black() {
        let white = Rgb8::new(2, 1, vec![255; 6]).unwrap();
        let cut = cut(&white, &Square { left: -1, top: -1, side: 4 });
        for (x, y) in (0..4).flat_map(|x| (0..4).map(move |y| (x, y))) {
            let is_white = y == 1 && (1..=2).contains(&x);
            assert_eq!(cut.pixel(x, y), [if is_white { 255 } else { 0 }; 3], "{x} {y}");
        }
    }

    proptest! {
        #[test]
        fn a_square_is_as_small_as_its_box_allows_and_holds_it(
            width in 1_u32..400, height in 1_u32..400,
            x in -20.0..420.0, y in -20.0..420.0, box_width in 0.5..300.0, box_height in 0.5..300.0,
        ) {
            let bounding_box = bounding_box(x, y, box_width, box_height);
            let Ok(square) = square((width, height), &[bounding_box], Crop::Box) else {
                let is_outside = f64::from(width) <= x || f64::from(height) <= y
                    || x + box_width <= 0.0 || y + box_height <= 0.0;
                prop_assert!(is_outside);
                return Ok(());
            };
            #[expect(clippy::cast_precision_loss, reason = "small")]
            let edges = |start: i64| (start as f64, start as f64 + f64::from(square.side));
            let ((left, right), (top, bottom)) = (edges(square.left), edges(square.top));
            prop_assert!(left <= x.max(0.0) && (x + box_width).min(f64::from(width)) <= right);
            prop_assert!(top <= y.max(0.0) && (y + box_height).min(f64::from(height)) <= bottom);
            prop_assert!(f64::from(square.side) < box_width.max(box_height) + 2.0);
        }

        #[test]
        fn a_cut_square_is_square(
            width in 1_u32..40, height in 1_u32..40, left in -50_i64..50, top in -50_i64..50,
            side in 1_u32..60,
        ) {
            let n = (width * height * 3) as usize;
            let picture = Rgb8::new(width, height, vec![9; n]).unwrap();
            let cut = cut(&picture, &Square { left, top, side });
            prop_assert_eq!((cut.width(), cut.height()), (side, side));
            let overlap = |start: i64, length: u32| {
                let end = (start + i64::from(side)).min(i64::from(length));
                (end - start.max(0)).max(0)
            };
            let n_inside = overlap(left, width) * overlap(top, height);
            let n_lit = cut.bytes().iter().filter(|&&byte| byte == 9).count();
            prop_assert_eq!(i64::try_from(n_lit).unwrap(), n_inside * 3);
        }
    }
}
