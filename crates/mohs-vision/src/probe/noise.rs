//! Noise: normal, uniform, and single pixels in black or white.
//!
//! Numbers are drawn channel by channel, each row by row; "mono" draws one plane for all three.
//! What leaves [0, 1] is cut off, never wrapped round.

use super::colour::{luminance, mean, pillow_luma, pulled};
use super::parameter::Values;
use super::random::Random;
use crate::pixels::{Clamped, Pixels};

/// Adds normal noise.
pub(super) fn gaussian(pixels: &Pixels, values: &Values, random: &mut Random) -> Clamped {
    let noise = normal_noise(n_draws(pixels, values.is_on("mono")), values, random);
    pixels.clamped(added(pixels.planes(), &noise))
}

/// Makes SATBench's noise pictures.
///
/// ```text
/// g    = luma of Pillow
/// h    = g − mean(g) + 0.5
/// out  = clamp(c h + (1 − c) 0.9999 mean(h)) + noise
/// ```
///
/// 0.9999 is the sum of torchvision's weights. `noise` is one plane for all channels.
pub(super) fn satbench(pixels: &Pixels, values: &Values, random: &mut Random) -> Clamped {
    let grey = pillow_luma(pixels);
    let shift = 0.5 - mean(&grey);
    #[expect(clippy::cast_possible_truncation, reason = "pictures are numbers of 32 bits")]
    let shifted: Vec<f32> = grey.iter().map(|&x| (f64::from(x) + shift) as f32).collect();
    let factor = values.number("contrast");
    let pulled = pulled(&shifted, factor, 0.9999 * mean(&shifted));
    let flat: Vec<f32> = pulled.iter().map(|x| x.clamp(0.0, 1.0)).collect();
    let noise = normal_noise(flat.len(), values, random);
    pixels.grey(&added(&flat, &noise))
}

/// Adds noise that is equally likely everywhere between −width and width.
pub(super) fn uniform(pixels: &Pixels, values: &Values, random: &mut Random) -> Clamped {
    let (plane, is_grey) = faded(pixels, values);
    let width = values.number("width");
    let n = if is_grey { plane.len() } else { n_draws(pixels, values.is_on("mono")) };
    #[expect(clippy::cast_possible_truncation, reason = "pictures are numbers of 32 bits")]
    let noise: Vec<f32> = (0..n).map(|_| (width * (2.0 * random.uniform() - 1.0)) as f32).collect();
    finished(pixels, added(&plane, &noise), is_grey)
}

/// Turns single pixels black or white in all channels.
pub(super) fn salt_and_pepper(pixels: &Pixels, values: &Values, random: &mut Random) -> Clamped {
    let (mut plane, is_grey) = faded(pixels, values);
    let half = values.number("share") / 2.0;
    for pixel in 0..pixels.n_pixels() {
        let draw = random.uniform();
        let speck = if draw < half {
            0.0
        } else if 1.0 - half <= draw {
            1.0
        } else {
            continue;
        };
        plane[pixel..].iter_mut().step_by(pixels.n_pixels()).for_each(|value| *value = speck);
    }
    finished(pixels, plane, is_grey)
}

/// Returns the picture at lower contrast, as one plane if it shall be grey.
fn faded(pixels: &Pixels, values: &Values) -> (Vec<f32>, bool) {
    let is_grey = values.is_on("grey");
    let numbers = if is_grey { luminance(pixels) } else { pixels.planes().to_vec() };
    (pulled(&numbers, values.number("contrast"), 0.5), is_grey)
}

fn finished(pixels: &Pixels, numbers: Vec<f32>, is_grey: bool) -> Clamped {
    if is_grey { pixels.grey(&numbers) } else { pixels.clamped(numbers) }
}

fn n_draws(pixels: &Pixels, is_mono: bool) -> usize {
    if is_mono { pixels.n_pixels() } else { pixels.planes().len() }
}

fn normal_noise(n: usize, values: &Values, random: &mut Random) -> Vec<f32> {
    let sd = values.number("sd");
    let limit = values.number_or_word("truncated").unwrap_or(f64::INFINITY);
    #[expect(clippy::cast_possible_truncation, reason = "pictures are numbers of 32 bits")]
    let draw = |_| (sd * random.truncated_normal(limit)) as f32;
    (0..n).map(draw).collect()
}

/// Adds the noise, from its start again where it ends.
fn added(numbers: &[f32], noise: &[f32]) -> Vec<f32> {
    numbers.iter().zip(noise.iter().cycle()).map(|(number, noise)| number + noise).collect()
}
