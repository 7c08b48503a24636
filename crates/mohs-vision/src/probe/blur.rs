//! Gaussian blur with a kernel of fixed size, and the filtering along rows and columns that it
//! shares with the pass filters.
//!
//! ```text
//! w(d)  =  exp(−d² / 2 sigma²),   d = −(k − 1)/2 … (k − 1)/2,   normalised to sum 1
//! ```
//!
//! Filters are separable: rows first, then columns. Sums are in 64 bits.

use super::parameter::Values;
use super::random::Random;
use crate::pixels::{Clamped, Pixels};

/// What lies outside a picture.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Edge {
    /// The picture again, mirrored at the middle of its outermost pixels.
    Mirror,
    /// One level everywhere.
    Flat(f64),
}

/// Blurs as torchvision does.
pub(super) fn gaussian(pixels: &Pixels, values: &Values, _: &mut Random) -> Clamped {
    let sigma = values.number("sigma");
    let radius = radius(values);
    if sigma == 0.0 || radius == 0 {
        return Clamped { pixels: pixels.clone(), share: 0.0 };
    }
    filtered(pixels, &weights(sigma, radius), Edge::Mirror)
}

/// Mirroring once must be enough, as in torchvision.
pub(super) fn fits(values: &Values, width: u32, height: u32) -> Result<(), String> {
    let radius = radius(values);
    if (width.min(height) as usize) <= radius && values.number("sigma") != 0.0 {
        return Err(format!("pictures with sides above {radius} pixels, half of its kernel"));
    }
    Ok(())
}

/// How far the kernel reaches to each side.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "parameters are not negative, and at most 9 999 and 1 000"
)]
fn radius(values: &Values) -> usize {
    match values.number_or_word("kernel") {
        Some(side) => side as usize / 2,
        None => (3.0 * values.number("sigma")).ceil() as usize,
    }
}

/// Returns the weights from `−radius` to `radius`; their sum is 1.
#[expect(clippy::cast_precision_loss, reason = "a radius is a few thousand pixels at most")]
pub(super) fn weights(sigma: f64, radius: usize) -> Vec<f64> {
    let weight = |at: usize| {
        let distance = at as f64 - radius as f64;
        (-0.5 * (distance / sigma).powi(2)).exp()
    };
    let weights: Vec<f64> = (0..=2 * radius).map(weight).collect();
    let sum: f64 = weights.iter().sum();
    weights.iter().map(|weight| weight / sum).collect()
}

/// Filters each channel.
pub(super) fn filtered(pixels: &Pixels, weights: &[f64], edge: Edge) -> Clamped {
    let size = (pixels.width() as usize, pixels.height() as usize);
    let planes =
        pixels.channels().into_iter().flat_map(|plane| filtered_plane(plane, size, weights, edge));
    pixels.clamped(planes.collect())
}

/// Filters one plane of this width and height.
pub(super) fn filtered_plane(
    plane: &[f32],
    (width, height): (usize, usize),
    weights: &[f64],
    edge: Edge,
) -> Vec<f32> {
    let radius = weights.len() / 2;
    let outside = match edge {
        Edge::Mirror => 0.0,
        Edge::Flat(level) => level,
    };
    // Rows, each with what lies around it, as many output pixels at a time as the row has.
    let mut across = vec![0.0_f64; width * height];
    let mut padded = vec![outside; width + 2 * radius];
    for (row, output) in plane.chunks_exact(width).zip(across.chunks_exact_mut(width)) {
        for (at, value) in padded.iter_mut().enumerate() {
            if let Some(at) = inside(at, radius, width, edge) {
                *value = f64::from(row[at]);
            }
        }
        for (at, weight) in weights.iter().enumerate() {
            for (sum, value) in output.iter_mut().zip(&padded[at..]) {
                *sum += weight * value;
            }
        }
    }
    let mut sums = vec![0.0_f64; width];
    let mut output = Vec::with_capacity(width * height);
    for row in 0..height {
        sums.fill(0.0);
        for (at, weight) in weights.iter().enumerate() {
            match inside(row + at, radius, height, edge) {
                Some(at) => {
                    let source = &across[at * width..(at + 1) * width];
                    for (sum, value) in sums.iter_mut().zip(source) {
                        *sum += weight * value;
                    }
                }
                // A row of one level stays that level when filtered along itself.
                None => sums.iter_mut().for_each(|sum| *sum += weight * outside),
            }
        }
        #[expect(clippy::cast_possible_truncation, reason = "pictures are numbers of 32 bits")]
        output.extend(sums.iter().map(|&sum| sum as f32));
    }
    output
}

/// Returns which position lies `at − radius` along a side; `None` if it is outside.
fn inside(at: usize, radius: usize, side: usize, edge: Edge) -> Option<usize> {
    match edge {
        Edge::Flat(_) => at.checked_sub(radius).filter(|at| *at < side),
        Edge::Mirror if side == 1 => Some(0),
        Edge::Mirror => {
            // A mirrored side repeats after twice its length without the two ends.
            let period = 2 * (side - 1);
            let shift = period * radius.div_ceil(period);
            let at = (at + shift - radius) % period;
            Some(if at < side { at } else { period - at })
        }
    }
}
