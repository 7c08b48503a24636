//! Resizing as Pillow does it: the same levels, bit for bit (up to version 12 always; version 13
//! changes the order of the two passes where the height shrinks much more than the width).
//!
//! Each output pixel is a weighted mean of the input pixels under a filter, which is as wide as one
//! output pixel when shrinking (so fine patterns do not turn into coarse ones) and as one input
//! pixel when enlarging. Rows first, rounded to 8 bits, then columns, rounded to 8 bits; weights
//! are whole numbers of 22 bits.
//!
//! ```text
//! scale    = input side / output side
//! centre   = (i + 1/2) · scale
//! w(i, x)  = f((x + 1/2 − centre) / max(scale, 1)),  normalised to sum 1 over x
//! out(i)   = (sum_x in(x) · round(w(i, x) · 2^22) + 2^21) / 2^22, rounded down, cut to 0…255
//! ```
//!
//! Only the window that is asked for is computed; it has the levels that it has in the whole. This
//! file decides on no size.

use std::f64::consts::PI;
use std::ops::Range;

use super::Interpolation;
use crate::pixels::Rgb8;

/// Bits of a weight after the binary point: 8 bits of a level and 2 for the overshoot of filters
/// fit a 32-bit sum beside them.
const PRECISION: u32 = 22;

/// The part of a resized picture that is wanted.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Window {
    pub(crate) columns: Range<u32>,
    pub(crate) rows: Range<u32>,
}

/// Returns the window of the picture resized to `size` (width, height).
///
/// The window must lie inside `size` and not be empty.
pub(crate) fn resample(
    picture: &Rgb8,
    size: (u32, u32),
    window: &Window,
    interpolation: Interpolation,
) -> Rgb8 {
    let from = (picture.width(), picture.height());
    let (width, height) = (window.columns.len(), window.rows.len());
    let bytes = if interpolation == Interpolation::Nearest {
        let columns = nearest(from.0, size.0, &window.columns);
        let rows = nearest(from.1, size.1, &window.rows);
        pick(picture, &columns, &rows)
    } else {
        // A side that stays as it is is not filtered.
        let across = (from.0 != size.0)
            .then(|| Weights::new(from.0, size.0, &window.columns, interpolation));
        let down =
            (from.1 != size.1).then(|| Weights::new(from.1, size.1, &window.rows, interpolation));
        let rows = match &down {
            Some(weights) => weights.reach(),
            None => window.rows.start as usize..window.rows.end as usize,
        };
        let narrowed = match &across {
            Some(weights) => filter_rows(picture, rows.clone(), weights),
            None => {
                let stride = from.0 as usize * 3;
                let columns = window.columns.start as usize * 3..window.columns.end as usize * 3;
                rows.clone()
                    .flat_map(|row| &picture.bytes()[row * stride..][columns.clone()])
                    .copied()
                    .collect()
            }
        };
        match &down {
            Some(weights) => filter_columns(&narrowed, width * 3, rows.start, weights),
            None => narrowed,
        }
    };
    let side = |side: usize| u32::try_from(side).expect("because a window is made of 32 bits");
    Rgb8::new(side(width), side(height), bytes)
        .expect("because a window is not empty and each of its pixels was made")
}

/// The weights of each output position along one side.
struct Weights {
    /// The first input position under the filter, and how many there are.
    spans: Vec<(usize, usize)>,
    /// All weights, one span after the other.
    weights: Vec<i32>,
}

impl Weights {
    fn new(from: u32, to: u32, wanted: &Range<u32>, interpolation: Interpolation) -> Weights {
        let scale = f64::from(from) / f64::from(to);
        let spread = scale.max(1.0);
        let (filter, support) = filter(interpolation);
        let support = support * spread;
        let mut spans = Vec::with_capacity(wanted.len());
        let mut weights = Vec::new();
        let mut raw = Vec::new();
        for position in wanted.clone() {
            let centre = (f64::from(position) + 0.5) * scale;
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "positions are small, and what is below 0 becomes 0"
            )]
            let bound = |at: f64| ((at + 0.5).max(0.0) as u32).min(from);
            let (first, end) = (bound(centre - support), bound(centre + support));
            raw.clear();
            raw.extend(
                (first..end).map(|x| filter((f64::from(x) - centre + 0.5) * (1.0 / spread))),
            );
            let sum: f64 = raw.iter().sum();
            let normalise = |weight: &f64| if sum == 0.0 { *weight } else { weight / sum };
            spans.push((first as usize, raw.len()));
            weights.extend(raw.iter().map(normalise).map(fixed_point));
        }
        Weights { spans, weights }
    }

    /// Returns the input positions that any filter touches.
    fn reach(&self) -> Range<usize> {
        let first = self.spans.iter().map(|&(first, _)| first).min().unwrap_or(0);
        let end = self.spans.iter().map(|&(first, n)| first + n).max().unwrap_or(0);
        first..end
    }

    /// Returns each output position's first input position and weights.
    fn iter(&self) -> impl Iterator<Item = (usize, &[i32])> {
        let mut rest = self.weights.as_slice();
        self.spans.iter().map(move |&(first, n)| {
            let (weights, others) = rest.split_at(n);
            rest = others;
            (first, weights)
        })
    }
}

/// Returns a weight as a whole number, halves away from zero.
#[expect(clippy::cast_possible_truncation, reason = "weights of filters are below 2 in size")]
fn fixed_point(weight: f64) -> i32 {
    let scaled = weight * f64::from(1_u32 << PRECISION);
    (if scaled < 0.0 { scaled - 0.5 } else { scaled + 0.5 }) as i32
}

/// Returns the level of a weighted sum that began at one half.
#[expect(clippy::cast_sign_loss, reason = "cut to 0…255 before")]
fn level(sum: i32) -> u8 {
    (sum >> PRECISION).clamp(0, 255) as u8
}

const HALF: i32 = 1 << (PRECISION - 1);

/// Filters some rows of a picture along themselves.
fn filter_rows(picture: &Rgb8, rows: Range<usize>, weights: &Weights) -> Vec<u8> {
    let stride = picture.width() as usize * 3;
    let mut filtered = Vec::with_capacity(rows.len() * weights.spans.len() * 3);
    for row in picture.bytes()[rows.start * stride..rows.end * stride].chunks_exact(stride) {
        for (first, weights) in weights.iter() {
            let mut sums = [HALF; 3];
            let under = row[first * 3..(first + weights.len()) * 3].as_chunks::<3>().0;
            for (pixel, weight) in under.iter().zip(weights) {
                sums[0] += i32::from(pixel[0]) * weight;
                sums[1] += i32::from(pixel[1]) * weight;
                sums[2] += i32::from(pixel[2]) * weight;
            }
            filtered.extend(sums.map(level));
        }
    }
    filtered
}

/// Filters rows of `stride` bytes down the columns; the first of them is row `start` of the
/// picture.
fn filter_columns(rows: &[u8], stride: usize, start: usize, weights: &Weights) -> Vec<u8> {
    let mut filtered = Vec::with_capacity(weights.spans.len() * stride);
    let mut sums = vec![HALF; stride];
    for (first, weights) in weights.iter() {
        sums.fill(HALF);
        let under = rows[(first - start) * stride..].chunks_exact(stride);
        for (row, &weight) in under.zip(weights) {
            for (sum, &byte) in sums.iter_mut().zip(row) {
                *sum += i32::from(byte) * weight;
            }
        }
        filtered.extend(sums.iter().map(|&sum| level(sum)));
    }
    filtered
}

/// Returns the input position under the middle of each output position.
fn nearest(from: u32, to: u32, wanted: &Range<u32>) -> Vec<usize> {
    let scale = f64::from(from) / f64::from(to);
    // Added up step by step, because the rounding of that sum decides ties.
    let mut at = scale * 0.5;
    let mut positions = Vec::with_capacity(wanted.len());
    for position in 0..wanted.end {
        if wanted.start <= position {
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "between 0 and the side of the picture"
            )]
            positions.push((at as usize).min(from as usize - 1));
        }
        at += scale;
    }
    positions
}

fn pick(picture: &Rgb8, columns: &[usize], rows: &[usize]) -> Vec<u8> {
    let pixels = picture.bytes().as_chunks::<3>().0;
    let width = picture.width() as usize;
    let mut picked = Vec::with_capacity(columns.len() * rows.len() * 3);
    for &row in rows {
        let row = &pixels[row * width..(row + 1) * width];
        picked.extend(columns.iter().flat_map(|&column| row[column]));
    }
    picked
}

/// Returns a filter and how far it reaches to each side.
fn filter(interpolation: Interpolation) -> (fn(f64) -> f64, f64) {
    match interpolation {
        Interpolation::Nearest | Interpolation::Box => (square, 0.5),
        Interpolation::Bilinear => (triangle, 1.0),
        Interpolation::Hamming => (hamming, 1.0),
        Interpolation::Bicubic => (cubic, 2.0),
        Interpolation::Lanczos => (lanczos, 3.0),
    }
}

fn square(x: f64) -> f64 {
    if -0.5 < x && x <= 0.5 { 1.0 } else { 0.0 }
}

fn triangle(x: f64) -> f64 {
    (1.0 - x.abs()).max(0.0)
}

/// Hamming's window over the first lobe of sin x / x.
fn hamming(x: f64) -> f64 {
    let x = x.abs();
    if x == 0.0 {
        1.0
    } else if x < 1.0 {
        let x = x * PI;
        x.sin() / x * (0.54 + 0.46 * x.cos())
    } else {
        0.0
    }
}

/// Keys's cubic with a = −1/2.
fn cubic(x: f64) -> f64 {
    const A: f64 = -0.5;
    let x = x.abs();
    if x < 1.0 {
        ((A + 2.0) * x - (A + 3.0)) * x * x + 1.0
    } else if x < 2.0 {
        (((x - 5.0) * x + 8.0) * x - 4.0) * A
    } else {
        0.0
    }
}

fn lanczos(x: f64) -> f64 {
    if (-3.0..3.0).contains(&x) { sinc(x) * sinc(x / 3.0) } else { 0.0 }
}

fn sinc(x: f64) -> f64 {
    if x == 0.0 { 1.0 } else { (x * PI).sin() / (x * PI) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn busy(width: u32, height: u32) -> Rgb8 {
        let level =
            |n: u32| u8::try_from((n * 73 + n / 11 * 29) % 256).expect("because of the rest");
        Rgb8::new(width, height, (0..width * height * 3).map(level).collect())
            .expect("because each pixel has three bytes")
    }

    fn whole(size: (u32, u32)) -> Window {
        Window { columns: 0..size.0, rows: 0..size.1 }
    }

    #[test]
    fn a_window_has_the_levels_that_it_has_in_the_whole() {
        let picture = busy(41, 29);
        for filter in Interpolation::ALL {
            for size in [(13, 50), (60, 11), (41, 17), (20, 29)] {
                let all = resample(&picture, size, &whole(size), filter);
                let window = Window { columns: 3..11, rows: 4..10 };
                let part = resample(&picture, size, &window, filter);
                assert_eq!((part.width(), part.height()), (8, 6));
                for (x, y) in (0..8).flat_map(|x| (0..6).map(move |y| (x, y))) {
                    assert_eq!(part.pixel(x, y), all.pixel(x + 3, y + 4), "{filter:?} {size:?}");
                }
            }
        }
    }

    #[test]
    fn one_colour_stays_one_colour() {
        let picture = Rgb8::new(23, 17, [7, 130, 255].repeat(23 * 17)).unwrap();
        for filter in Interpolation::ALL {
            for size in [(5, 5), (50, 40), (23, 3)] {
                let resized = resample(&picture, size, &whole(size), filter);
                assert!(
                    resized.bytes().chunks(3).all(|pixel| pixel == [7, 130, 255]),
                    "{filter:?}"
                );
            }
        }
    }

    #[test]
    fn the_same_size_changes_nothing() {
        let picture = busy(9, 7);
        for filter in Interpolation::ALL {
            assert_eq!(resample(&picture, (9, 7), &whole((9, 7)), filter), picture);
        }
    }

    #[test]
    fn two_pixels_become_their_rounded_mean() {
        let picture = Rgb8::new(2, 1, vec![10, 0, 255, 21, 1, 0]).unwrap();
        let one = resample(&picture, (1, 1), &whole((1, 1)), Interpolation::Box);
        assert_eq!(one.pixel(0, 0), [16, 1, 128]);
    }
}
