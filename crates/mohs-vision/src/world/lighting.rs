//! The lighting attribute: dark, glaring, from one side, from behind, foggy, or through blinds.

use super::canvas::{Canvas, Field, smooth_step};
use super::colour::{luma, mix, rgb, scale};
use super::dice::Dice;
use super::relief::Light;
use std::f32::consts::TAU;

/// What kind of light there is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Mood {
    Dark,
    Glare,
    Side,
    Behind,
    Fog,
    Blinds,
}

/// Mean brightness of the darkest picture: things are just visible on a good screen.
pub(crate) const DARKEST: f32 = 0.09;
/// Which way blinds hang: their bars run across this direction.
pub(crate) const ACROSS_BLINDS: (f32, f32) = (0.35, 1.0);
/// How much light the bars of blinds take.
pub(crate) const BLINDS_TAKE: f32 = 0.86;

/// How a scene is lit.
pub(crate) struct Lighting {
    /// The lamp that shapes are lit by.
    pub(crate) lamp: Light,
    pub(crate) mood: Mood,
    pub(crate) strength: f32,
    /// Where light from a side comes from, in radians; where blinds begin, in periods.
    pub(crate) angle: f32,
    /// Periods of blinds over the frame, or over the object of a photo.
    pub(crate) frequency: f32,
}

impl Lighting {
    /// Returns the lighting for a strength in `[0, 1]`; zero is a soft lamp above one shoulder.
    pub(crate) fn new(strength: f32, dice: &mut Dice) -> Self {
        let angle = dice.between(-2.6, -1.1);
        let mood = dice.pick(&[
            Mood::Dark,
            Mood::Glare,
            Mood::Side,
            Mood::Behind,
            Mood::Fog,
            Mood::Blinds,
        ]);
        let frequency = dice.between(3.5, 5.5);
        let side_angle = dice.pick(&[0.0_f32, TAU * 0.5]) + dice.between(-0.4, 0.4);
        let lamp = match mood {
            Mood::Side if strength > 0.0 => {
                Light::at(side_angle, 0.66 - 0.36 * strength, 0.5 - 0.3 * strength)
            }
            _ => Light::at(angle, dice.between(0.6, 0.7), 0.5),
        };
        let angle = if matches!(mood, Mood::Side) { side_angle } else { angle };
        Self { lamp, mood, strength, angle, frequency }
    }

    /// Changes a finished scene; `object` is where the object is seen.
    pub(crate) fn apply(&self, scene: &mut Canvas, object: &Field) {
        let s = self.strength;
        if s <= 0.0 {
            return;
        }
        let mean = luma(scene.mean()).max(0.01);
        let (sin, cos) = self.angle.sin_cos();
        self.lay(scene, object, (DARKEST / mean).min(1.0), |u, v| match self.mood {
            Mood::Side => {
                let reach = smooth_step(-0.75 + 0.45 * s, 0.6, u * cos + v * sin);
                (1.0 - s) + s * (0.06 + 1.35 * reach)
            }
            Mood::Blinds => {
                let along = (u * ACROSS_BLINDS.0 + v) * self.frequency + self.angle;
                let bar = smooth_step(-0.25, 0.15, (along * TAU).sin());
                let shade = 1.0 - s * BLINDS_TAKE * bar;
                shade * (1.0 + 0.5 * s)
            }
            _ => 1.0,
        });
    }

    /// Changes a scene, with what the dark leaves of its light at full strength, and what light
    /// from a side or through blinds leaves at a place.
    ///
    /// Places are counted in widths of the scene, from the middle of its topmost square.
    pub(crate) fn lay(
        &self,
        scene: &mut Canvas,
        object: &Field,
        left_by_dark: f32,
        left_at: impl Fn(f32, f32) -> f32,
    ) {
        let s = self.strength;
        let side = scene.width as f32;
        let width = scene.width;
        for (i, pixel) in scene.pixels.iter_mut().enumerate() {
            let (u, v) = ((i % width) as f32 / side - 0.5, (i / width) as f32 / side - 0.5);
            *pixel = match self.mood {
                Mood::Dark => {
                    // Colours fade in the dark, and what is left is bluish.
                    let grey = luma(*pixel);
                    let faded = mix(*pixel, [grey * 0.85, grey * 0.92, grey * 1.15], 0.6 * s);
                    scale(faded, left_by_dark.powf(s))
                }
                Mood::Glare => {
                    let washed = mix(*pixel, [1.0, 0.99, 0.95], 0.5 * s);
                    scale(washed, 1.0 + 0.55 * s).map(|channel| channel.min(1.0))
                }
                Mood::Behind => {
                    let dark = scale(*pixel, 1.0 - 0.93 * s);
                    let bright = mix(scale(*pixel, 1.0 + 0.5 * s), [1.0, 0.97, 0.88], 0.55 * s);
                    mix(bright, dark, object.values[i])
                }
                Mood::Fog => {
                    let thick = s * (0.83 - 0.1 * v);
                    mix(*pixel, rgb(196, 202, 206), thick.min(0.9))
                }
                Mood::Side | Mood::Blinds => scale(*pixel, left_at(u, v)),
            };
        }
    }
}
