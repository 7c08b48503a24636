//! The colour and texture attributes: what the surface of the object looks like.

use super::canvas::{Canvas, smooth_step};
use super::colour::{Colour, hsv, luma, mix, scale, to_hsv, vivid_paint};
use super::dice::Dice;
use super::noise;
use super::relief::Spot;
use std::f32::consts::TAU;

/// Patterns that no thing of this world has by nature.
#[derive(Clone, Copy, Debug)]
enum Pattern {
    Stripes,
    Checks,
    Zebra,
    Spots,
    Scales,
}

/// How an object is coloured, place by place.
pub(crate) struct Skin<'a> {
    background: &'a Canvas,
    background_mean: Colour,
    colour_strength: f32,
    hue_turns: [f32; 3],
    texture_strength: f32,
    pattern: Pattern,
    /// Repeats per drawing unit.
    frequency: f32,
    slant: (f32, f32),
    tones: [Colour; 2],
    /// A hard texture is a piece of the background, or a dazzling pattern.
    is_borrowed: bool,
    shift: (usize, usize),
    seed: u32,
}

impl<'a> Skin<'a> {
    /// Returns the skin for these strengths in `[0, 1]`.
    pub(crate) fn new(
        background: &'a Canvas,
        colour_strength: f32,
        texture_strength: f32,
        dice: &mut Dice,
    ) -> Self {
        let turn = dice.sign() * (0.1 + 0.35 * colour_strength);
        let hue_turns = [0, 1, 2].map(|_| turn + dice.between(-0.25, 0.25) * colour_strength);
        let side = background.width;
        Self {
            background,
            background_mean: background.mean(),
            colour_strength,
            hue_turns,
            texture_strength,
            pattern: dice.pick(&[
                Pattern::Stripes,
                Pattern::Checks,
                Pattern::Zebra,
                Pattern::Spots,
                Pattern::Scales,
            ]),
            frequency: dice.between(0.1, 0.15),
            slant: dice.between(0.0, TAU).sin_cos(),
            tones: [vivid_paint(dice), mix(vivid_paint(dice), [1.0; 3], 0.6)],
            is_borrowed: dice.chance(0.75),
            shift: (side / 4 + dice.below(side / 2), side / 4 + dice.below(side / 2)),
            seed: dice.word(),
        }
    }

    /// Returns the colour of a place on a part of the given colour.
    pub(crate) fn colour_at(&self, colour: Colour, spot: Spot) -> Colour {
        let mut colour = colour;
        if self.colour_strength > 0.0 {
            colour = self.recoloured(colour, spot.part_idx);
        }
        if self.texture_strength > 0.0 {
            colour = self.retextured(colour, &spot);
        }
        colour
    }

    fn recoloured(&self, colour: Colour, part_idx: usize) -> Colour {
        let [hue, saturation, value] = to_hsv(colour);
        let s = self.colour_strength;
        let turned = hsv(
            hue + self.hue_turns[part_idx % 3],
            (saturation + 0.25 * s).min(1.0),
            value * (1.0 - 0.1 * s),
        );
        // From the middle on, the object takes the colour of what lies behind it.
        let hidden = smooth_step(0.22, 1.0, s) * 0.93;
        let camouflage = scale(self.background_mean, 0.74 + 0.5 * luma(colour));
        mix(turned, camouflage, hidden)
    }

    fn retextured(&self, colour: Colour, spot: &Spot) -> Colour {
        let s = self.texture_strength;
        if s > 0.72 && self.is_borrowed {
            let side = self.background.width;
            let x = (spot.pixel % side + self.shift.0) % side;
            let y = (spot.pixel / side + self.shift.1) % side;
            let borrowed = self.background.pixels[y * side + x];
            let toned = scale(borrowed, 0.82 + 0.3 * luma(colour));
            return mix(colour, toned, 0.42 + 0.46 * s);
        }
        let (x, y) = spot.place;
        let coarse = if s > 0.72 { 0.6 } else { 1.0 };
        let frequency = self.frequency * coarse;
        let (u, v) = (
            (x * self.slant.0 + y * self.slant.1) * frequency,
            (y * self.slant.0 - x * self.slant.1) * frequency,
        );
        let ink = self.pattern.ink(u, v, self.seed);
        if s > 0.72 {
            // Dazzle: the pattern ignores the parts and their colours.
            let dazzle = mix(self.tones[0], self.tones[1], ink);
            mix(colour, dazzle, (0.45 + 0.55 * s).min(1.0))
        } else if s > 0.36 {
            mix(mix(colour, self.tones[1], 0.25), self.tones[0], ink * (0.45 + 0.65 * s))
        } else {
            mix(colour, scale(colour, 0.62), ink * (0.5 + 1.5 * s))
        }
    }
}

impl Pattern {
    /// Returns how much ink there is at a place, in `[0, 1]`.
    fn ink(self, u: f32, v: f32, seed: u32) -> f32 {
        match self {
            Self::Stripes => smooth_step(-0.25, 0.25, (u * TAU).sin()),
            Self::Checks => smooth_step(-0.12, 0.12, (u * TAU * 0.7).sin() * (v * TAU * 0.7).sin()),
            Self::Zebra => {
                let bend = noise::cloud(u * 0.6, v * 0.6, 3, seed) * 2.4;
                smooth_step(-0.2, 0.2, ((u + bend) * TAU).sin())
            }
            Self::Spots => {
                smooth_step(0.36, 0.28, noise::cell(u * 1.3, v * 1.3, 0.7, seed).to_centre)
            }
            Self::Scales => {
                smooth_step(0.18, 0.08, noise::cell(u * 1.6, v * 1.6, 0.9, seed).to_border)
            }
        }
    }
}
