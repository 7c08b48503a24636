//! Colour: the object departs from its natural colours, further at every step.
//!
//! Computed in Oklab (Ottosson 2020), where distances are about as large as they look. Hues turn
//! towards their opposite; what has little colour is tinted, and what is too dark or too light to
//! show a tint is made lighter or darker. Shading and detail stay; nothing but the object changes.
//! Steps are spaced by the change that is measured, so that no step looks more natural than an
//! easier one.

use super::{Photo, Scene, Step, Unfit};
use crate::world::colour::Colour;
use crate::world::dice::Dice;

/// How far hues turn at the end: to the opposite.
const TURN: f32 = std::f32::consts::PI;
/// How far the mean colour goes at the end; what a turn does not give is tint.
const FARTHEST: f32 = 0.22;
/// Tint that even a colourful object gets: a turn leaves its grey parts as they were.
const LEAST_TINT: f32 = 0.05;
/// Mean lightness in which a tint shows: darker and lighter objects come this far at the end.
const SHOWS: (f32, f32) = (0.48, 0.72);
/// A mean change that hardly anybody would see, at the hardest step.
const UNSEEN: f32 = 0.08;
/// Pixels that the change is measured on.
const MEASURED: usize = 4_000;

pub(super) fn scene(photo: &Photo, step: Step, dice: &mut Dice) -> Result<Scene, Unfit> {
    let paint = Paint::of(photo, dice);
    let sample = sample(photo);
    let most = paint.change(&sample, 1.0);
    if most < UNSEEN {
        return Err(Unfit::NoColour);
    }
    let wanted = step.narrow() * most;
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..16 {
        let middle = (low + high) * 0.5;
        if paint.change(&sample, middle) < wanted {
            low = middle;
        } else {
            high = middle;
        }
    }
    let mut canvas = photo.whole.clone();
    for (pixel, cover) in canvas.pixels.iter_mut().zip(&photo.cover.values) {
        if 0.0 < *cover {
            let changed = paint.on(*pixel, high);
            *pixel = [0, 1, 2].map(|i| pixel[i] + (changed[i] - pixel[i]) * cover);
        }
    }
    let amount = f64::from(paint.change(&sample, high));
    Ok(Scene { canvas, object: photo.cover.clone(), amount })
}

/// What is done to colours, from not at all (0) to all of it (1).
struct Paint {
    turn: f32,
    lift: f32,
    tint: [f32; 2],
}

impl Paint {
    fn of(photo: &Photo, dice: &mut Dice) -> Paint {
        let turn = dice.sign() * TURN;
        let (any_b, any_a) = dice.between(0.0, std::f32::consts::TAU).sin_cos();
        let [light, a, b] = mean(photo);
        let chroma = a.hypot(b);
        // The tint goes where the turn goes, so that neither takes back what the other did.
        let away = if 0.02 < chroma { [-a / chroma, -b / chroma] } else { [any_a, any_b] };
        let tint = (FARTHEST - 2.0 * chroma).max(LEAST_TINT);
        let lift = light.clamp(SHOWS.0, SHOWS.1) - light;
        Paint { turn, lift, tint: away.map(|part| part * tint) }
    }

    fn on(&self, colour: Colour, share: f32) -> Colour {
        let [light, a, b] = oklab(colour);
        let (sin, cos) = (self.turn * share).sin_cos();
        rgb_of([
            light + self.lift * share,
            cos * a - sin * b + self.tint[0] * share,
            sin * a + cos * b + self.tint[1] * share,
        ])
    }

    /// The mean distance in Oklab between the colours before and after, as far as a screen shows
    /// them.
    fn change(&self, sample: &[Colour], share: f32) -> f32 {
        let distance = |colour: &Colour| {
            let (before, after) = (oklab(*colour), oklab(self.on(*colour, share)));
            (0..3).map(|c| (after[c] - before[c]) * (after[c] - before[c])).sum::<f32>().sqrt()
        };
        sample.iter().map(distance).sum::<f32>() / (sample.len() as f32).max(1.0)
    }
}

/// Pixels of the object, evenly spread.
fn sample(photo: &Photo) -> Vec<Colour> {
    let pixels = photo.whole.pixels.iter().zip(&photo.cover.values);
    let own: Vec<Colour> =
        pixels.filter(|(_, cover)| 0.5 <= **cover).map(|(pixel, _)| *pixel).collect();
    let every = own.len().div_ceil(MEASURED).max(1);
    own.into_iter().step_by(every).collect()
}

/// The mean colour of the object, in Oklab.
fn mean(photo: &Photo) -> [f32; 3] {
    let (mut sum, mut all) = ([0.0; 3], 1e-6);
    for (pixel, cover) in photo.whole.pixels.iter().zip(&photo.cover.values) {
        if 0.0 < *cover {
            let lab = oklab(*pixel);
            sum = [0, 1, 2].map(|c| sum[c] + lab[c] * cover);
            all += cover;
        }
    }
    sum.map(|total| total / all)
}

fn oklab(colour: Colour) -> [f32; 3] {
    let [r, g, b] =
        colour.map(|c| if c <= 0.040_45 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) });
    let l = (0.412_221_46 * r + 0.536_332_55 * g + 0.051_445_995 * b).cbrt();
    let m = (0.211_903_5 * r + 0.680_699_5 * g + 0.107_396_96 * b).cbrt();
    let s = (0.088_302_46 * r + 0.281_718_85 * g + 0.629_978_7 * b).cbrt();
    [
        0.210_454_26 * l + 0.793_617_8 * m - 0.004_072_047 * s,
        1.977_998_5 * l - 2.428_592_2 * m + 0.450_593_7 * s,
        0.025_904_037 * l + 0.782_771_77 * m - 0.808_675_77 * s,
    ]
}

fn rgb_of(lab: [f32; 3]) -> Colour {
    let [light, a, b] = lab;
    let l = (light + 0.396_337_78 * a + 0.215_803_76 * b).powi(3);
    let m = (light - 0.105_561_346 * a - 0.063_854_17 * b).powi(3);
    let s = (light - 0.089_484_18 * a - 1.291_485_5 * b).powi(3);
    let linear = [
        4.076_741_7 * l - 3.307_711_6 * m + 0.230_969_94 * s,
        -1.268_438 * l + 2.609_757_4 * m - 0.341_319_38 * s,
        -0.004_196_086_3 * l - 0.703_418_6 * m + 1.707_614_7 * s,
    ];
    linear.map(|c| {
        let c = c.clamp(0.0, 1.0);
        if c <= 0.003_130_8 { c * 12.92 } else { 1.055 * c.powf(1.0 / 2.4) - 0.055 }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_come_back_and_white_is_white() {
        for colour in [[1.0, 1.0, 1.0], [0.0, 0.0, 0.0], [0.8, 0.2, 0.4], [0.1, 0.9, 0.3]] {
            let back = rgb_of(oklab(colour));
            assert!(back.iter().zip(colour).all(|(a, b)| (a - b).abs() < 2e-3), "{colour:?}");
        }
        let [light, a, b] = oklab([1.0, 1.0, 1.0]);
        assert!((light - 1.0).abs() < 1e-3 && a.abs() < 1e-3 && b.abs() < 1e-3);
    }
}
