//! Where an object lies and how much of the picture it fills; what a standard crop leaves of it.
//!
//! # Formulas
//!
//! ```text
//! size          = area / (height · width)
//! offset        = |centroid − centre of the picture| / half the diagonal      0 centre, 1 corner
//! central share = area inside the middle half of width and height / area
//! lost share    = 1 − area inside the crop / area
//! size in crop  = area inside the crop / area of the crop
//! ```
//!
//! A pixel is a unit square. The crop is that of evaluation code everywhere: the picture is
//! resized, then a square is cut from its middle. It is a rectangle in the original picture, with
//! edges inside pixels; a pixel cut by an edge counts by the part inside. No pixel is resampled, so
//! nothing depends on an interpolation. Sizes and rounding are those of `torchvision`: the longer
//! side is cut to whole pixels, halves of the margin are rounded to even.
//!
//! Every number is a ratio of sums over pixels. [`Moments`] keeps the sums, so that votes of redrawn
//! annotators are sums of sums.

use serde::{Deserialize, Serialize};

use super::pieces::ColumnRun;
use super::runs::pixels;

/// How pictures are resized and cropped before a model sees them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Crop {
    /// Pixels of the shorter side after resizing; of both sides if the aspect is not kept.
    pub resize: u32,
    /// Pixels of each side of the square cut from the middle.
    pub crop: u32,
    /// Whether the shape of the picture is kept; Hard ImageNet's published code squeezes it square.
    pub keeps_aspect: bool,
}

impl Default for Crop {
    fn default() -> Self {
        Self { resize: 256, crop: 224, keeps_aspect: true }
    }
}

/// A rectangle in a picture, in pixels.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Window {
    x0: f64,
    x1: f64,
    y0: f64,
    y1: f64,
}

impl Window {
    fn area(&self) -> f64 {
        (self.x1 - self.x0) * (self.y1 - self.y0)
    }

    /// Returns the area a run of pixels has inside.
    fn overlap(&self, run: ColumnRun) -> f64 {
        let across = overlap(f64::from(run.x), f64::from(run.x) + 1.0, self.x0, self.x1);
        across * overlap(f64::from(run.start), f64::from(run.end), self.y0, self.y1)
    }

    /// Returns one cell of the window cut into `n × n`.
    fn cell(&self, n: u32, column: u32, row: u32) -> Self {
        let step =
            |from: f64, to: f64, idx: u32| from + (to - from) * f64::from(idx) / f64::from(n);
        Self {
            x0: step(self.x0, self.x1, column),
            x1: step(self.x0, self.x1, column + 1),
            y0: step(self.y0, self.y1, row),
            y1: step(self.y0, self.y1, row + 1),
        }
    }
}

fn overlap(a0: f64, a1: f64, b0: f64, b1: f64) -> f64 {
    (a1.min(b1) - a0.max(b0)).max(0.0)
}

/// A picture's size and the windows in it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Frame {
    height: f64,
    width: f64,
    central: Window,
    crop: Window,
}

impl Frame {
    pub(super) fn new(height: u32, width: u32, crop: Crop) -> Self {
        let (h, w) = (f64::from(height), f64::from(width));
        Self {
            height: h,
            width: w,
            central: Window { x0: w / 4.0, x1: w * 3.0 / 4.0, y0: h / 4.0, y1: h * 3.0 / 4.0 },
            crop: crop_window(height, width, crop),
        }
    }

    /// Returns the sums of one run of pixels.
    pub(super) fn moments(&self, run: ColumnRun) -> Moments {
        let n = pixels(run.len());
        Moments {
            area: n,
            sum_x: n * (f64::from(run.x) + 0.5),
            sum_y: n * (f64::from(run.start) + f64::from(run.end)) / 2.0,
            central: self.central.overlap(run),
            kept: self.crop.overlap(run),
        }
    }

    /// Returns the share of each of `n × n` cells of the crop that a run of pixels covers, added
    /// to `cells`, row by row.
    pub(super) fn add_coverage(&self, run: ColumnRun, n: u32, cells: &mut [f64]) {
        let share = |at: f64, from: f64, to: f64| (at - from) / (to - from) * f64::from(n);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "clamped to the cells"
        )]
        let cell = |at: f64| at.floor().clamp(0.0, f64::from(n - 1)) as u32;
        let columns = cell(share(f64::from(run.x), self.crop.x0, self.crop.x1))
            ..=cell(share(f64::from(run.x) + 1.0, self.crop.x0, self.crop.x1));
        let rows = cell(share(f64::from(run.start), self.crop.y0, self.crop.y1))
            ..=cell(share(f64::from(run.end), self.crop.y0, self.crop.y1));
        for row in rows {
            for column in columns.clone() {
                let window = self.crop.cell(n, column, row);
                cells[(row * n + column) as usize] += window.overlap(run) / window.area();
            }
        }
    }
}

/// Returns the crop as a rectangle in the original picture.
fn crop_window(height: u32, width: u32, rule: Crop) -> Window {
    let shorter = height.min(width);
    let resized = |side: u32| {
        if rule.keeps_aspect {
            (rule.resize as u64 * u64::from(side) / u64::from(shorter)) as f64
        } else {
            f64::from(rule.resize)
        }
    };
    let ends = |side: u32| {
        let resized = resized(side);
        let scale = f64::from(side) / resized;
        let margin = ((resized - f64::from(rule.crop)) / 2.0).round_ties_even();
        (margin * scale, (margin + f64::from(rule.crop)) * scale)
    };
    let ((x0, x1), (y0, y1)) = (ends(width), ends(height));
    Window { x0, x1, y0, y1 }
}

/// Sums over pixels.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Moments {
    area: f64,
    sum_x: f64,
    sum_y: f64,
    central: f64,
    kept: f64,
}

impl Moments {
    pub(super) fn add(&mut self, other: &Self) {
        self.area += other.area;
        self.sum_x += other.sum_x;
        self.sum_y += other.sum_y;
        self.central += other.central;
        self.kept += other.kept;
    }
}

/// Where an object lies and how large it is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Placement {
    pub(super) size: f64,
    pub(super) offset: f64,
    pub(super) central_share: f64,
    pub(super) lost_share: f64,
    pub(super) size_in_crop: f64,
    /// Centroid as shares of width and height.
    pub(super) centroid: (f64, f64),
}

/// Returns where an object lies; `None` without any pixel.
pub(super) fn placement(moments: &Moments, frame: &Frame) -> Option<Placement> {
    if moments.area <= 0.0 {
        return None;
    }
    let (x, y) = (moments.sum_x / moments.area, moments.sum_y / moments.area);
    let from_centre = (x - frame.width / 2.0).hypot(y - frame.height / 2.0);
    Some(Placement {
        size: moments.area / (frame.height * frame.width),
        offset: from_centre / (frame.width.hypot(frame.height) / 2.0),
        central_share: (moments.central / moments.area).min(1.0),
        // Sums of parts of pixels may miss the whole by a rounding.
        lost_share: (1.0 - moments.kept / moments.area).clamp(0.0, 1.0),
        size_in_crop: (moments.kept / frame.crop.area()).min(1.0),
        centroid: (x / frame.width, y / frame.height),
    })
}

#[cfg(test)]
mod tests {
    use mohs_data::Mask;
    use proptest::prelude::*;

    use super::super::pieces::each_object_run;
    use super::super::runs::tests::{drawn, masks};
    use super::*;

    fn of(mask: &Mask, crop: Crop) -> Option<Placement> {
        let frame = Frame::new(mask.height(), mask.width(), crop);
        let mut moments = Moments::default();
        each_object_run(mask, |run| moments.add(&frame.moments(run)));
        placement(&moments, &frame)
    }

    fn close(a: f64, b: f64) -> bool {
        (a - b).abs() < 1e-12
    }

    #[test]
    fn an_object_in_a_corner_worked_by_hand() {
        // 4 × 8 pixels, resized to 8 × 16 and cut to 4 × 4: rows 1..3, columns 3..5 stay.
        let mask = drawn(&["##......", "##......", "...#....", "........"]);
        let crop = Crop { resize: 8, crop: 4, keeps_aspect: true };
        let found = of(&mask, crop).unwrap();
        assert!(close(found.size, 5.0 / 32.0));
        // Centroid: x = (4 · 1 + 3.5) / 5 = 1.5, y = (4 · 1 + 2.5) / 5 = 1.3.
        let offset = 2.5_f64.hypot(0.7) / (8.0_f64.hypot(4.0) / 2.0);
        assert!(close(found.offset, offset), "{found:?}");
        assert!(close(found.central_share, 1.0 / 5.0));
        assert!(close(found.lost_share, 4.0 / 5.0));
        assert!(close(found.size_in_crop, 1.0 / 4.0));
        assert_eq!(of(&drawn(&["..."]), crop), None);
    }

    /// torchvision: Resize(256) takes 500 × 375 to 341 × 256, CenterCrop(224) starts at
    /// `int(round((341 - 224) / 2.0))` = 58 and `int(round((256 - 224) / 2.0))` = 16.
    #[test]
    fn the_crop_is_that_of_torchvision() {
        let window = crop_window(375, 500, Crop::default());
        assert!(close(window.x0, 58.0 * 500.0 / 341.0) && close(window.x1, 282.0 * 500.0 / 341.0));
        assert!(close(window.y0, 16.0 * 375.0 / 256.0) && close(window.y1, 240.0 * 375.0 / 256.0));
        let square = crop_window(375, 500, Crop { keeps_aspect: false, ..Crop::default() });
        assert!(close(square.x0, 16.0 * 500.0 / 256.0) && close(square.x1, 240.0 * 500.0 / 256.0));
    }

    #[test]
    fn a_crop_larger_than_the_picture_loses_nothing() {
        let mask = drawn(&["#..", "...", "..#"]);
        let found = of(&mask, Crop { resize: 4, crop: 8, keeps_aspect: true }).unwrap();
        assert!(close(found.lost_share, 0.0));
    }

    proptest! {
        /// Cut every pixel into 40 × 40 parts and count those whose centres lie inside. Each of the
        /// four edges is then off by at most half a part.
        #[test]
        fn the_lost_share_equals_counting_small_parts(
            masks in masks(1..2), resize in 8_u32..40, less in 0_u32..8, keeps_aspect: bool,
        ) {
            let (mask, n) = (&masks[0], 40);
            let rule = Crop { resize, crop: resize - less, keeps_aspect };
            let window = crop_window(mask.height(), mask.width(), rule);
            let bits = mask.to_bitmap();
            let (mut inside, mut all) = (0.0, 0.0);
            for (idx, _) in bits.iter().enumerate().filter(|(_, is)| **is) {
                let (y, x) = (idx / mask.width() as usize, idx % mask.width() as usize);
                for part in 0..n * n {
                    let at = |pixel: usize, part: usize| pixel as f64 + (part as f64 + 0.5) / n as f64;
                    let (px, py) = (at(x, part % n), at(y, part / n));
                    all += 1.0;
                    let is_in = window.x0 <= px && px < window.x1 && window.y0 <= py && py < window.y1;
                    inside += if is_in { 1.0 } else { 0.0 };
                }
            }
            match of(mask, rule) {
                None => prop_assert!(all < 0.5),
                Some(found) => {
                    let expected = 1.0 - inside / all;
                    let off = (found.lost_share - expected).abs();
                    prop_assert!(off <= 2.0 / n as f64 + 1e-9, "{} {expected}", found.lost_share);
                    let mut cells = vec![0.0; 25];
                    let frame = Frame::new(mask.height(), mask.width(), rule);
                    each_object_run(mask, |run| frame.add_coverage(run, 5, &mut cells));
                    let mean = cells.iter().sum::<f64>() / 25.0;
                    prop_assert!((mean - found.size_in_crop).abs() < 1e-9);
                    prop_assert!((0.0..=1.0).contains(&found.offset));
                }
            }
        }
    }
}
