//! Colour and contrast.
//!
//! Three ways of making a picture grey are in use, and each probe follows the program that it is
//! known from: Pillow's luma in 8 bits, torchvision's weights (their sum is 0.9999), and those of
//! scikit-image. They are not made one, because published results depend on them.

use super::parameter::Values;
use super::random::Random;
use crate::pixels::{Clamped, Pixels, to_byte};

/// Takes the colour away as Pillow does, in 8 bits.
///
/// ```text
/// L = (19595 R + 38470 G + 7471 B + 2^15) / 2^16, rounded down
/// ```
///
/// `R`, `G` and `B` are the nearest of 256 levels.
pub(super) fn grayscale(pixels: &Pixels) -> Clamped {
    pixels.grey(&pillow_luma(pixels))
}

/// Returns the luma plane, as 256 levels between 0 and 1.
pub(super) fn pillow_luma(pixels: &Pixels) -> Vec<f32> {
    let [red, green, blue] = pixels.channels();
    let level = |value: &f32| u32::from(to_byte(*value));
    red.iter()
        .zip(green)
        .zip(blue)
        .map(|((red, green), blue)| {
            let sum = 19_595 * level(red) + 38_470 * level(green) + 7_471 * level(blue) + 0x8000;
            let luma = u8::try_from(sum >> 16).expect("because the weights sum up to 2^16");
            f32::from(luma) / 255.0
        })
        .collect()
}

/// Returns the grey plane of scikit-image's weights.
pub(super) fn luminance(pixels: &Pixels) -> Vec<f32> {
    weighted(pixels, [0.2125, 0.7154, 0.0721])
}

fn weighted(pixels: &Pixels, weights: [f32; 3]) -> Vec<f32> {
    let [red, green, blue] = pixels.channels();
    red.iter()
        .zip(green)
        .zip(blue)
        .map(|((red, green), blue)| red * weights[0] + green * weights[1] + blue * weights[2])
        .collect()
}

/// Pulls towards the mean luminance, as torchvision does on numbers.
///
/// ```text
/// out = c x + (1 − c) m,   m = mean of 0.2989 R + 0.587 G + 0.114 B
/// ```
pub(super) fn contrast(pixels: &Pixels, values: &Values, _: &mut Random) -> Clamped {
    let mean = mean(&weighted(pixels, [0.2989, 0.587, 0.114]));
    pixels.clamped(pulled(pixels.planes(), values.number("factor"), mean))
}

/// Returns `c x + (1 − c) m` of each number.
#[expect(clippy::cast_possible_truncation, reason = "pictures are numbers of 32 bits")]
pub(super) fn pulled(numbers: &[f32], factor: f64, mean: f64) -> Vec<f32> {
    let pull = |x: &f32| (factor * f64::from(*x) + (1.0 - factor) * mean) as f32;
    numbers.iter().map(pull).collect()
}

/// Returns the mean; `numbers` must not be empty.
#[expect(clippy::cast_precision_loss, reason = "pictures have fewer than 2^53 numbers")]
pub(super) fn mean(numbers: &[f32]) -> f64 {
    numbers.iter().map(|&number| f64::from(number)).sum::<f64>() / numbers.len() as f64
}
