//! Colour: the object takes on unusual colours, and at last those of what surrounds it.
//!
//! Computed in Oklab (Ottosson 2020), where turning a hue leaves how light a colour looks. Shading
//! and detail stay; nothing but the object changes.

use super::{Photo, Scene, Step};
use crate::world::canvas::smooth_step;
use crate::world::colour::Colour;
use crate::world::dice::Dice;

/// How far hues turn at full strength: to the opposite.
const TURN: f32 = std::f32::consts::PI;
/// The tint at full strength, for objects that have no hue to turn.
const TINT: f32 = 0.09;
/// From here on the object nears its surroundings.
const CAMOUFLAGE_FROM: f32 = 0.7;

pub(super) fn scene(photo: &Photo, step: Step, dice: &mut Dice) -> Scene {
    let strength = step.narrow();
    let (sin, cos) = (dice.sign() * TURN * strength).sin_cos();
    let (tint_b, tint_a) = dice.between(0.0, std::f32::consts::TAU).sin_cos();
    let hide = 0.85 * smooth_step(CAMOUFLAGE_FROM, 1.0, strength);
    let own = mean(photo, |i| photo.cover.values[i]);
    let around = surroundings(photo);
    let mut canvas = photo.whole.clone();
    for (pixel, cover) in canvas.pixels.iter_mut().zip(&photo.cover.values) {
        if *cover <= 0.0 {
            continue;
        }
        let [light, a, b] = oklab(*pixel);
        let turned = [
            light,
            cos * a - sin * b + TINT * strength * tint_a,
            sin * a + cos * b + TINT * strength * tint_b,
        ];
        let hidden = [
            around[0] + (light - own[0]) * 0.8,
            around[1] + (a - own[1]) * 0.3,
            around[2] + (b - own[2]) * 0.3,
        ];
        let changed = rgb_of([0, 1, 2].map(|i| turned[i] + (hidden[i] - turned[i]) * hide));
        *pixel = [0, 1, 2].map(|i| pixel[i] + (changed[i] - pixel[i]) * cover);
    }
    Scene { canvas, object: photo.cover.clone(), amount: step.strength() }
}

/// The mean colour of a ring around the object.
fn surroundings(photo: &Photo) -> [f32; 3] {
    let mut near = photo.cover.clone();
    near.blur(0.06 * photo.shorter_side());
    mean(photo, |i| if photo.cover.values[i] <= 0.0 && 0.02 < near.values[i] { 1.0 } else { 0.0 })
}

fn mean(photo: &Photo, weight: impl Fn(usize) -> f32) -> [f32; 3] {
    let (mut sum, mut all) = ([0.0; 3], 1e-6);
    for (i, pixel) in photo.whole.pixels.iter().enumerate() {
        let weight = weight(i);
        if 0.0 < weight {
            let lab = oklab(*pixel);
            sum = [0, 1, 2].map(|c| sum[c] + lab[c] * weight);
            all += weight;
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
