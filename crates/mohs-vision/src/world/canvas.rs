//! Real-valued pictures to draw on: a field of numbers, a canvas of colours, a patch of coverage.
//!
//! Everything is drawn on a canvas finer than the final picture and averaged down at the end.

use super::colour::{Colour, mix};
use tiny_skia::{FillRule, Mask, Path, Transform};

/// A rectangular field of numbers, row by row.
#[derive(Clone)]
pub(crate) struct Field {
    pub(crate) width: usize,
    pub(crate) height: usize,
    pub(crate) values: Vec<f32>,
}

impl Field {
    /// Returns a field with the same number everywhere.
    pub(crate) fn filled(width: usize, height: usize, value: f32) -> Self {
        Self { width, height, values: vec![value; width * height] }
    }

    /// Returns a field computed from coordinates.
    pub(crate) fn from_fn(width: usize, height: usize, f: impl Fn(usize, usize) -> f32) -> Self {
        let mut field = Self::filled(width, height, 0.0);
        for y in 0..height {
            for x in 0..width {
                field.values[y * width + x] = f(x, y);
            }
        }
        field
    }

    /// Returns the value at a place, or the nearest value inside.
    pub(crate) fn at(&self, x: isize, y: isize) -> f32 {
        let x = x.clamp(0, self.width as isize - 1).unsigned_abs();
        let y = y.clamp(0, self.height as isize - 1).unsigned_abs();
        self.values[y * self.width + x]
    }

    /// Returns the value at a place between pixels; zero outside.
    pub(crate) fn sample(&self, x: f32, y: f32) -> f32 {
        if x < -0.5 || y < -0.5 || x > self.width as f32 || y > self.height as f32 {
            return 0.0;
        }
        let (x0, y0) = (lattice(x), lattice(y));
        let (fx, fy) = (x - x0 as f32, y - y0 as f32);
        let top = self.at(x0, y0) * (1.0 - fx) + self.at(x0 + 1, y0) * fx;
        let bottom = self.at(x0, y0 + 1) * (1.0 - fx) + self.at(x0 + 1, y0 + 1) * fx;
        top * (1.0 - fy) + bottom * fy
    }

    /// Blurs with two passes of a box of the given radius, which looks like a soft lens.
    pub(crate) fn blur(&mut self, radius: f32) {
        let radius = whole(radius + 0.5);
        if radius == 0 {
            return;
        }
        for _ in 0..2 {
            self.box_rows(radius);
            self.box_columns(radius);
        }
    }

    fn box_rows(&mut self, radius: usize) {
        let width = self.width;
        let share = 1.0 / (2 * radius + 1) as f32;
        // The row with its ends repeated, so that the running sum needs no checks.
        let mut padded = vec![0.0; width + 2 * radius + 1];
        for row in self.values.chunks_exact_mut(width) {
            padded[..radius].fill(row[0]);
            padded[radius..radius + width].copy_from_slice(row);
            padded[radius + width..].fill(row[width - 1]);
            let mut sum: f32 = padded[..=2 * radius].iter().sum();
            let ends = padded.iter().zip(&padded[2 * radius + 1..]);
            for (value, (leaving, entering)) in row.iter_mut().zip(ends) {
                *value = sum * share;
                sum += entering - leaving;
            }
        }
    }

    fn box_columns(&mut self, radius: usize) {
        let (width, height) = (self.width, self.height);
        let share = 1.0 / (2 * radius + 1) as f32;
        let before = self.values.clone();
        let row = |y: isize| {
            let y = y.clamp(0, height.cast_signed() - 1).unsigned_abs();
            &before[y * width..(y + 1) * width]
        };
        let radius = radius.cast_signed();
        let mut sums = vec![0.0; width];
        for y in -radius..=radius {
            for (sum, value) in sums.iter_mut().zip(row(y)) {
                *sum += value;
            }
        }
        for y in 0..height {
            let y_signed = y.cast_signed();
            let moving = row(y_signed + radius + 1).iter().zip(row(y_signed - radius));
            let line = &mut self.values[y * width..(y + 1) * width];
            for ((value, sum), (entering, leaving)) in line.iter_mut().zip(&mut sums).zip(moving) {
                *value = *sum * share;
                *sum += entering - leaving;
            }
        }
    }
}

/// A rectangular picture of colours, row by row.
#[derive(Clone)]
pub(crate) struct Canvas {
    pub(crate) width: usize,
    pub(crate) height: usize,
    pub(crate) pixels: Vec<Colour>,
}

impl Canvas {
    /// Returns a canvas of one colour.
    pub(crate) fn filled(width: usize, height: usize, colour: Colour) -> Self {
        Self { width, height, pixels: vec![colour; width * height] }
    }

    /// Returns the colour at a place, or the nearest colour inside.
    pub(crate) fn at(&self, x: isize, y: isize) -> Colour {
        let x = x.clamp(0, self.width as isize - 1).unsigned_abs();
        let y = y.clamp(0, self.height as isize - 1).unsigned_abs();
        self.pixels[y * self.width + x]
    }

    /// Returns the average colour.
    pub(crate) fn mean(&self) -> Colour {
        let mut sum = [0.0; 3];
        for pixel in &self.pixels {
            for (total, channel) in sum.iter_mut().zip(pixel) {
                *total += channel;
            }
        }
        sum.map(|total| total / self.pixels.len() as f32)
    }

    /// Lays a colour over the pixels a patch covers.
    pub(crate) fn lay(&mut self, patch: &Patch, colour: Colour, opacity: f32) {
        patch.each(self.width, self.height, |index, cover| {
            self.pixels[index] = mix(self.pixels[index], colour, cover * opacity);
        });
    }

    /// Returns the picture averaged down over squares of `factor` by `factor`.
    pub(crate) fn shrunk(&self, factor: usize) -> Self {
        let mut small = Self::filled(self.width / factor, self.height / factor, [0.0; 3]);
        let share = 1.0 / (factor * factor) as f32;
        for y in 0..small.height {
            for x in 0..small.width {
                let mut sum = [0.0; 3];
                for dy in 0..factor {
                    for dx in 0..factor {
                        let pixel = self.pixels[(y * factor + dy) * self.width + x * factor + dx];
                        for (total, channel) in sum.iter_mut().zip(pixel) {
                            *total += channel;
                        }
                    }
                }
                small.pixels[y * small.width + x] = sum.map(|total| total * share);
            }
        }
        small
    }

    /// Blurs every channel.
    pub(crate) fn blur(&mut self, radius: f32) {
        for channel in 0..3 {
            let mut field = Field {
                width: self.width,
                height: self.height,
                values: self.pixels.iter().map(|pixel| pixel[channel]).collect(),
            };
            field.blur(radius);
            for (pixel, value) in self.pixels.iter_mut().zip(field.values) {
                pixel[channel] = value;
            }
        }
    }
}

/// How much of each pixel a shape covers, inside the rectangle the shape needs.
pub(crate) struct Patch {
    pub(crate) left: isize,
    pub(crate) top: isize,
    pub(crate) cover: Field,
}

impl Patch {
    /// Returns the coverage of a path, cut to the canvas plus a margin; `None` when nothing is left.
    pub(crate) fn of(
        path: &Path,
        rule: FillRule,
        width: usize,
        height: usize,
        margin: f32,
    ) -> Option<Self> {
        let bounds = path.bounds();
        let pad = margin.ceil() + 2.0;
        let left = lattice((bounds.left() - pad).max(-pad));
        let top = lattice((bounds.top() - pad).max(-pad));
        let right = lattice((bounds.right() + pad).min(width as f32 + pad));
        let bottom = lattice((bounds.bottom() + pad).min(height as f32 + pad));
        if right <= left || bottom <= top {
            return None;
        }
        let (patch_width, patch_height) =
            ((right - left).unsigned_abs(), (bottom - top).unsigned_abs());
        let mut mask =
            Mask::new(u32::try_from(patch_width).ok()?, u32::try_from(patch_height).ok()?)?;
        let path = path.clone().transform(Transform::from_translate(-left as f32, -top as f32))?;
        mask.fill_path(&path, rule, true, Transform::identity());
        let values = mask.data().iter().map(|&byte| f32::from(byte) / 255.0).collect();
        let cover = Field { width: patch_width, height: patch_height, values };
        Some(Self { left, top, cover })
    }

    /// Calls `f` with the canvas index and coverage of every covered pixel on the canvas.
    pub(crate) fn each(&self, width: usize, height: usize, mut f: impl FnMut(usize, f32)) {
        for row in 0..self.cover.height {
            let y = self.top + row.cast_signed();
            if y < 0 || y >= height.cast_signed() {
                continue;
            }
            for column in 0..self.cover.width {
                let x = self.left + column.cast_signed();
                let cover = self.cover.values[row * self.cover.width + column];
                if cover > 0.0 && x >= 0 && x < width.cast_signed() {
                    f(y.unsigned_abs() * width + x.unsigned_abs(), cover);
                }
            }
        }
    }
}

/// Returns a coordinate rounded down to the pixel lattice.
#[expect(clippy::cast_possible_truncation, reason = "coordinates lie within a few canvases")]
pub(crate) fn lattice(coordinate: f32) -> isize {
    // Truncate and correct: on many machines much faster than calling `floor`.
    let cut = coordinate as isize;
    cut - isize::from(coordinate < cut as f32)
}

/// Returns a number rounded down to a count; negative numbers count as zero.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the cast saturates, and saturation is what is wanted"
)]
pub(crate) fn whole(number: f32) -> usize {
    number.max(0.0) as usize
}

/// Returns a share as a byte; outside `[0, 1]` it is cut.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the value is cut to the range of a byte first"
)]
pub(crate) fn byte(share: f32) -> u8 {
    (share.clamp(0.0, 1.0) * 255.0 + 0.5) as u8
}

/// Returns zero below `low`, one above `high`, and a smooth step between.
pub(crate) fn smooth_step(low: f32, high: f32, value: f32) -> f32 {
    let t = ((value - low) / (high - low)).clamp(0.0, 1.0);
    t * t * (3.0 - 2.0 * t)
}
