//! Ground to stand on: grass, sand, gravel, cobbles, asphalt, fallen leaves.

use super::Texture;
use crate::world::canvas::{Patch, smooth_step};
use crate::world::colour::{jitter, mix, rgb, scale};
use crate::world::dice::Dice;
use crate::world::noise::{cell, cloud, smooth};
use crate::world::pen::Outline;
use tiny_skia::FillRule;

/// A lawn: blades over dark soil.
pub(super) fn grass(side: usize, dice: &mut Dice) -> Texture {
    let seed = dice.word();
    let base = jitter(rgb(74, 112, 44), dice);
    let mut texture = Texture::from_fn(side, |u, v| {
        let patch = cloud(u * 5.0, v * 5.0, 3, seed);
        let fine = smooth(u * 90.0, v * 34.0, seed ^ 1);
        (scale(base, 0.4 + 0.4 * patch + 0.3 * fine), 0.0)
    });
    let unit = side as f32;
    let n_blades = 1_100_u16;
    for i in 0..n_blades {
        // Later blades are nearer: lower in the picture, longer and lighter.
        let near = f32::from(i) / f32::from(n_blades);
        let x = dice.between(-0.05, 1.05) * unit;
        let y = (dice.between(-0.05, 1.12)) * unit;
        let tall = dice.between(0.03, 0.075) * unit;
        let lean = dice.between(-0.6, 0.6) * tall;
        let broad = dice.between(0.0022, 0.0042) * unit;
        let blade = Outline::from(x - broad, y)
            .quad(x + lean * 0.2, y - tall * 0.6, x + lean, y - tall)
            .quad(x + lean * 0.2 + broad * 2.0, y - tall * 0.5, x + broad, y)
            .close()
            .finish();
        let yellow = dice.unit();
        let colour = scale(
            mix(base, rgb(176, 190, 84), yellow * 0.45),
            0.72 + 0.5 * near * dice.between(0.6, 1.0),
        );
        if let Some(patch) = Patch::of(&blade, FillRule::Winding, side, side, 0.0) {
            texture.colour.lay(&patch, colour, 0.9);
        }
    }
    texture
}

/// Sand with wind ripples.
pub(super) fn sand(side: usize, dice: &mut Dice) -> Texture {
    let seed = dice.word();
    let base = jitter(rgb(214, 184, 136), dice);
    let n_ripples = dice.between(8.0, 12.0);
    let slant = dice.between(-0.5, 0.5);
    Texture::from_fn(side, |u, v| {
        let wander = cloud(u * 3.0, v * 3.0, 3, seed) * 2.6;
        let phase = (v + u * slant) * n_ripples + wander;
        let ripple = (phase * std::f32::consts::TAU).sin() * 0.5 + 0.5;
        let grain = cloud(u * 170.0, v * 170.0, 2, seed ^ 1);
        let dot = smooth_step(0.93, 1.0, smooth(u * 120.0, v * 120.0, seed ^ 2));
        let dune = cloud(u * 2.0, v * 2.0, 2, seed ^ 3);
        let tone = 0.84 + 0.3 * (grain - 0.5) + 0.08 * ripple + 0.2 * (dune - 0.3);
        let colour = mix(scale(base, tone), rgb(110, 88, 66), dot * 0.6);
        (colour, 0.0075 * ripple.powf(1.5) + 0.0016 * grain)
    })
}

/// Small loose stones.
pub(super) fn gravel(side: usize, dice: &mut Dice) -> Texture {
    let base = jitter(rgb(166, 150, 130), dice);
    stones(side, dice, base, 21.0, 0.95, 0.012)
}

/// Paving stones in loose rows.
pub(super) fn cobbles(side: usize, dice: &mut Dice) -> Texture {
    let base = jitter(rgb(128, 132, 140), dice);
    stones(side, dice, base, 6.8, 0.55, 0.03)
}

fn stones(
    side: usize,
    dice: &mut Dice,
    base: [f32; 3],
    n_across: f32,
    wobble: f32,
    bulge: f32,
) -> Texture {
    let seed = dice.word();
    let (du, dv) = (dice.between(0.0, 9.0), dice.between(0.0, 9.0));
    Texture::from_fn(side, |u, v| {
        let bend = smooth(u * 30.0, v * 30.0, seed ^ 6) * 0.16;
        let cell = cell(u * n_across + du + bend, v * n_across * 1.12 + dv - bend, wobble, seed);
        let grain = cloud(u * 80.0, v * 80.0, 3, seed ^ 1) - 0.5;
        let stone = smooth_step(0.05, 0.2, cell.to_border);
        let warm = mix(base, rgb(168, 128, 100), smooth_step(0.6, 1.0, cell.tone) * 0.5);
        let face = scale(warm, 0.72 + 0.45 * cell.tone + 0.36 * grain);
        let soil = scale(rgb(74, 66, 56), 0.8 + 0.8 * grain);
        let dome = (1.0 - (cell.to_centre * 1.1).min(1.0).powi(2)).sqrt();
        (mix(soil, face, stone), bulge * stone * dome + 0.0018 * grain)
    })
}

/// A road with a painted line and cracks.
pub(super) fn asphalt(side: usize, dice: &mut Dice) -> Texture {
    let seed = dice.word();
    let base = jitter(rgb(98, 98, 102), dice);
    let line = dice.pick(&[rgb(226, 222, 208), rgb(220, 178, 64)]);
    let at = dice.pick(&[0.1_f32, 0.13, 0.87, 0.9]);
    let slant = dice.between(-0.06, 0.06);
    Texture::from_fn(side, |u, v| {
        let chip = smooth(u * 130.0, v * 130.0, seed);
        let light_chip = smooth_step(0.8, 0.95, smooth(u * 95.0, v * 95.0, seed ^ 1));
        let patch = cloud(u * 3.0, v * 3.0, 3, seed ^ 2) - 0.5;
        let tone = 0.78 + 0.34 * chip + 0.3 * patch;
        let colour = mix(scale(base, tone), rgb(172, 168, 160), light_chip * 0.7);
        let vein = (cloud(u * 3.2 + 5.0, v * 3.2, 4, seed ^ 3) - 0.5).abs();
        let crack = smooth_step(0.012, 0.003, vein)
            * smooth_step(0.5, 0.62, smooth(u * 2.0, v * 2.0, seed ^ 4));
        let across = (v + u * slant - at).abs();
        let worn = smooth_step(0.28, 0.4, cloud(u * 40.0, v * 40.0, 3, seed ^ 5));
        let painted = smooth_step(0.03, 0.026, across) * worn;
        let colour = mix(colour, scale(line, 0.9 + 0.2 * (chip - 0.5)), painted * 0.9);
        (scale(colour, 1.0 - 0.6 * crack), 0.002 * chip - 0.004 * crack + 0.001 * painted)
    })
}

/// Fallen leaves on a forest floor.
pub(super) fn leaves(side: usize, dice: &mut Dice) -> Texture {
    let seed = dice.word();
    let mut texture = Texture::from_fn(side, |u, v| {
        let tone = cloud(u * 20.0, v * 20.0, 3, seed);
        (scale(rgb(74, 54, 38), 0.5 + 0.9 * tone), 0.0)
    });
    let palette = [
        rgb(168, 104, 46),
        rgb(190, 132, 58),
        rgb(140, 72, 40),
        rgb(120, 90, 54),
        rgb(156, 146, 72),
        rgb(96, 70, 44),
    ];
    let unit = side as f32;
    let n_leaves = 240_u16;
    for i in 0..n_leaves {
        let near = f32::from(i) / f32::from(n_leaves);
        let (x, y) = (dice.between(-0.03, 1.03) * unit, dice.between(-0.03, 1.03) * unit);
        let long = dice.between(0.05, 0.09) * unit;
        let broad = long * dice.between(0.24, 0.36);
        let (sin, cos) = dice.between(0.0, std::f32::consts::TAU).sin_cos();
        let at = |a: f32, b: f32| (x + cos * a - sin * b, y + sin * a + cos * b);
        let colour = scale(
            mix(jitter(dice.pick(&palette), dice), rgb(108, 84, 60), 0.35),
            0.62 + 0.34 * near,
        );
        let bend = dice.between(-0.3, 0.3) * broad;
        let blade = Outline::empty()
            .blob(&[
                at(-long, 0.0),
                at(-long * 0.3, broad + bend),
                at(long * 0.4, broad * 0.8 + bend),
                at(long, 0.0),
                at(long * 0.4, -broad * 0.8 + bend),
                at(-long * 0.3, -broad + bend),
            ])
            .finish();
        if let Some(patch) = Patch::of(&blade, FillRule::Winding, side, side, 0.0) {
            let lower =
                Patch { left: patch.left + 1, top: patch.top + 2, cover: patch.cover.clone() };
            texture.colour.lay(&lower, rgb(26, 18, 12), 0.5);
            texture.colour.lay(&patch, colour, 1.0);
        }
        let (a, b, c) = (at(-long * 1.25, 0.0), at(0.0, bend), at(long * 0.9, 0.0));
        let rib_width = (unit * 0.0028).max(0.6);
        let rib = Outline::from(a.0, a.1)
            .quad(b.0, b.1, c.0, c.1)
            .quad(b.0 - sin * rib_width, b.1 + cos * rib_width, a.0, a.1)
            .close()
            .finish();
        if let Some(patch) = Patch::of(&rib, FillRule::Winding, side, side, 0.0) {
            texture.colour.lay(&patch, mix(colour, rgb(230, 200, 140), 0.45), 0.8);
        }
        // Half of each leaf catches the light.
        let half = Outline::from(a.0, a.1)
            .quad(at(0.0, -broad * 1.5).0, at(0.0, -broad * 1.5).1, c.0, c.1)
            .quad(b.0, b.1, a.0, a.1)
            .close()
            .finish();
        if let Some(patch) = Patch::of(&half, FillRule::Winding, side, side, 0.0) {
            let lift = if dice.chance(0.5) { 1.15 } else { 0.85 };
            texture.colour.lay(&patch, scale(colour, lift), 0.35);
        }
    }
    texture
}
