//! Low-pass and high-pass filters as in the stimuli of model-vs-human.
//!
//! ```text
//! low(x)   =  Gaussian of sd s over x, cut at 4 s, with one level around the picture
//! high(x)  =  x − low(x) + b − mean(x − low(x))
//! ```
//!
//! `b` is the background, per channel. Published stimuli are grey with `b` = 0.4423, the mean over
//! their pictures.

use super::blur::{Edge, filtered_plane, weights};
use super::colour::{luminance, mean};
use super::parameter::Values;
use super::random::Random;
use crate::pixels::{Clamped, Pixels};

/// How many standard deviations the filter reaches to each side.
const REACH: f64 = 4.0;

/// Keeps what is coarse.
pub(super) fn low(pixels: &Pixels, values: &Values, _: &mut Random) -> Clamped {
    each_plane(pixels, values, |_, low| low)
}

/// Keeps what is fine.
pub(super) fn high(pixels: &Pixels, values: &Values, _: &mut Random) -> Clamped {
    let background = values.number("background");
    each_plane(pixels, values, |plane, low| {
        let fine: Vec<f32> = plane.iter().zip(&low).map(|(x, low)| x - low).collect();
        let shift = background - mean(&fine);
        #[expect(clippy::cast_possible_truncation, reason = "pictures are numbers of 32 bits")]
        let moved = fine.iter().map(|&x| (f64::from(x) + shift) as f32).collect();
        moved
    })
}

/// Combines each plane with its low-pass.
fn each_plane(
    pixels: &Pixels,
    values: &Values,
    combine: impl Fn(&[f32], Vec<f32>) -> Vec<f32>,
) -> Clamped {
    let (sd, edge) = (values.number("sd"), Edge::Flat(values.number("background")));
    let size = (pixels.width() as usize, pixels.height() as usize);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "sd is between 0 and 1 000"
    )]
    let radius = (REACH * sd + 0.5) as usize;
    let changed = |plane: &[f32]| {
        let low = if radius == 0 {
            plane.to_vec()
        } else {
            filtered_plane(plane, size, &weights(sd, radius), edge)
        };
        combine(plane, low)
    };
    if values.is_on("grey") {
        pixels.grey(&changed(&luminance(pixels)))
    } else {
        pixels.clamped(pixels.channels().iter().flat_map(|plane| changed(plane)).collect())
    }
}
