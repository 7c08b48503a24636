//! Surfaces people make: wood, brick, tiles, fabric, marble, wallpaper, a cutting mat.

use super::Texture;
use crate::world::canvas::{lattice, smooth_step};
use crate::world::colour::{Colour, jitter, mix, rgb, scale};
use crate::world::dice::Dice;
use crate::world::noise::{cloud, smooth, speck};
use std::f32::consts::TAU;

/// Planks with grain.
pub(super) fn wood(side: usize, dice: &mut Dice) -> Texture {
    let seed = dice.word();
    let base = dice.pick(&[rgb(172, 122, 74), rgb(196, 150, 98), rgb(140, 94, 60)]);
    let base = jitter(base, dice);
    let n_planks = dice.between(3.4, 5.2);
    let upright = dice.chance(0.4);
    Texture::from_fn(side, |u, v| {
        let (u, v) = if upright { (v, u) } else { (u, v) };
        let across = v * n_planks;
        let plank = lattice(across);
        let within = across - plank as f32;
        let tone = speck(plank, 7, seed);
        let shift = speck(plank, 9, seed) * 40.0;
        // Rings: bands that wander along the plank, with fine fibres over them.
        let wander = cloud(u * 2.2 + shift, across * 1.7, 3, seed ^ 1);
        let rings = ((within * 5.0 + wander * 9.0 + shift) * TAU * 0.5).sin() * 0.5 + 0.5;
        let fibre = cloud(u * 9.0 + shift, v * 150.0, 3, seed ^ 2);
        let gap = smooth_step(0.0, 0.03, within.min(1.0 - within));
        let tint = 0.82 + 0.22 * tone + 0.14 * (rings - 0.5) + 0.34 * (fibre - 0.5);
        let colour = mix(scale(base, tint), scale(base, 0.6), rings * rings * 0.22);
        (scale(colour, 0.4 + 0.6 * gap), 0.004 * gap + 0.0007 * fibre)
    })
}

/// A brick wall.
pub(super) fn brick(side: usize, dice: &mut Dice) -> Texture {
    let seed = dice.word();
    let base = jitter(dice.pick(&[rgb(160, 82, 62), rgb(178, 100, 74), rgb(134, 74, 64)]), dice);
    let mortar = jitter(rgb(186, 178, 166), dice);
    let n_rows = dice.between(7.0, 9.5);
    let (du, dv) = (dice.unit(), dice.unit());
    Texture::from_fn(side, |u, v| {
        let rough = smooth(u * 40.0, v * 40.0, seed) - 0.5;
        let y = (v + dv) * n_rows + rough * 0.05;
        let row = lattice(y);
        let x = (u + du) * n_rows * 0.42 + if row % 2 == 0 { 0.5 } else { 0.0 } + rough * 0.02;
        let column = lattice(x);
        let edge_y = (y - row as f32).min(1.0 - (y - row as f32));
        let edge_x = (x - column as f32).min(1.0 - (x - column as f32)) / 0.42;
        let inside = smooth_step(0.05, 0.14, edge_x.min(edge_y));
        let tone = speck(column, row, seed);
        let grain = cloud(u * 60.0, v * 60.0, 3, seed ^ 3);
        let face = scale(base, 0.76 + 0.36 * tone + 0.4 * (grain - 0.5));
        let face = mix(face, rgb(90, 60, 58), 0.35 * speck(row, column, seed ^ 5).powi(3));
        let joint = scale(mortar, 0.72 + 0.4 * (grain - 0.3));
        (mix(joint, face, inside), 0.006 * inside + 0.003 * grain)
    })
}

/// Glazed tiles with grout.
pub(super) fn tiles(side: usize, dice: &mut Dice) -> Texture {
    let seed = dice.word();
    let one = dice.pick(&[rgb(226, 230, 228), rgb(206, 222, 226), rgb(234, 224, 206)]);
    let two =
        dice.pick(&[rgb(112, 142, 152), rgb(198, 206, 206), rgb(160, 118, 96), rgb(88, 98, 108)]);
    let checked = dice.chance(0.7);
    let n_tiles = dice.between(3.6, 5.4);
    let (du, dv) = (dice.unit(), dice.unit());
    let (sin, cos) = dice.pick(&[0.0_f32, 0.0, 0.785]).sin_cos();
    Texture::from_fn(side, |u, v| {
        let (x, y) = ((u * cos - v * sin + du) * n_tiles, (u * sin + v * cos + dv) * n_tiles);
        let (column, row) = (lattice(x), lattice(y));
        let (fx, fy) = (x - column as f32, y - row as f32);
        let edge = fx.min(1.0 - fx).min(fy).min(1.0 - fy);
        let inside = smooth_step(0.012, 0.035, edge);
        let tone = speck(column, row, seed);
        let base = if checked && (column + row) % 2 == 0 { two } else { one };
        let vein = cloud(u * 7.0 + tone * 9.0, v * 7.0, 4, seed ^ 4);
        let sheen = 0.05 * (1.0 - (fx + fy) * 0.5);
        let glaze = scale(base, 0.9 + 0.08 * tone + 0.16 * (vein - 0.5) + sheen);
        let grout = scale(rgb(150, 146, 138), 0.8 + 0.3 * vein);
        (mix(grout, glaze, inside), 0.004 * smooth_step(0.012, 0.06, edge))
    })
}

/// A woven plaid.
pub(super) fn fabric(side: usize, dice: &mut Dice) -> Texture {
    let seed = dice.word();
    let palette: [Colour; 3] = dice.pick(&[
        [rgb(150, 44, 48), rgb(38, 52, 84), rgb(222, 206, 170)],
        [rgb(48, 84, 72), rgb(28, 42, 60), rgb(206, 186, 130)],
        [rgb(92, 100, 128), rgb(52, 58, 82), rgb(220, 214, 204)],
        [rgb(168, 126, 86), rgb(96, 64, 50), rgb(232, 216, 186)],
    ]);
    let repeat = dice.between(2.2, 3.2);
    // Threads thinner than three pixels would beat against the pixels.
    let n_threads = dice.between(62.0, 78.0).min(side as f32 / 3.4);
    let (du, dv) = (dice.unit(), dice.unit());
    let stripe = |t: f32| {
        let t = t.rem_euclid(1.0);
        if t < 0.38 {
            palette[0]
        } else if t < 0.44 || (0.88..0.94).contains(&t) {
            palette[2]
        } else {
            palette[1]
        }
    };
    Texture::from_fn(side, |u, v| {
        let sag = (smooth(u * 3.0, v * 3.0, seed) - 0.5) * 0.02;
        let (u, v) = (u + sag, v - sag);
        let (warp, weft) = (u * n_threads, v * n_threads);
        let over = (lattice(warp) + lattice(weft)) % 2 == 0;
        let (a, b) = ((warp.fract() - 0.5).abs(), (weft.fract() - 0.5).abs());
        let round = 1.0 - if over { a } else { b };
        let colour = if over { stripe(u * repeat + du) } else { stripe(v * repeat + dv) };
        let fuzz = smooth(u * 210.0, v * 210.0, seed ^ 8) - 0.5;
        let folds = cloud(u * 2.0, v * 2.0, 2, seed ^ 9);
        (scale(colour, 0.62 + 0.42 * round + 0.14 * fuzz), 0.0012 * round + 0.035 * folds)
    })
}

/// Polished stone with veins.
pub(super) fn marble(side: usize, dice: &mut Dice) -> Texture {
    let seed = dice.word();
    let stone = jitter(
        dice.pick(&[rgb(228, 226, 222), rgb(204, 200, 194), rgb(216, 206, 196), rgb(74, 80, 84)]),
        dice,
    );
    let vein = dice.pick(&[rgb(120, 124, 130), rgb(150, 128, 104)]);
    let dark = stone[0] < 0.5;
    let vein = if dark { rgb(206, 204, 196) } else { vein };
    Texture::from_fn(side, |u, v| {
        let warp = cloud(u * 2.5, v * 2.5, 4, seed) * 2.4;
        let ridge =
            |x: f32, y: f32, seed: u32| 1.0 - ((cloud(x, y, 4, seed) - 0.5).abs() * 2.0).min(1.0);
        let thick = ridge(u * 1.8 + warp, v * 1.8 - warp, seed ^ 1).powi(10);
        let thin = ridge(u * 4.5 - warp, v * 4.5 + warp * 0.6, seed ^ 2).powi(22);
        let haze = cloud(u * 3.0 + 9.0, v * 3.0, 4, seed ^ 3) - 0.5;
        let base = scale(stone, 1.0 + 0.16 * haze);
        (mix(base, vein, (thick * 0.4 + thin * 0.5).min(0.6)), 0.0)
    })
}

/// Patterned wallpaper.
pub(super) fn wallpaper(side: usize, dice: &mut Dice) -> Texture {
    let seed = dice.word();
    let (ground, print) = dice.pick(&[
        (rgb(206, 190, 160), rgb(170, 142, 104)),
        (rgb(168, 186, 174), rgb(122, 148, 136)),
        (rgb(190, 172, 186), rgb(150, 122, 148)),
        (rgb(98, 122, 140), rgb(150, 168, 176)),
    ]);
    let repeat = dice.between(4.0, 5.5);
    let n_petals = dice.pick(&[4.0, 5.0, 6.0]);
    let striped = dice.chance(0.5);
    Texture::from_fn(side, |u, v| {
        let column = lattice(u * repeat);
        let y = v * repeat + if column % 2 == 0 { 0.0 } else { 0.5 };
        let (dx, dy) = ((u * repeat).fract() - 0.5, y.fract() - 0.5);
        let (reach, angle) = ((dx * dx + dy * dy).sqrt(), dy.atan2(dx));
        // A flower: a rose curve with a ring and a heart, and a leaf between flowers.
        let petal = 0.2 + 0.1 * (angle * n_petals).cos();
        let mut ink =
            smooth_step(0.02, -0.02, reach - petal) - smooth_step(0.015, -0.015, reach - 0.07);
        ink += smooth_step(0.012, -0.012, reach - 0.04);
        let (lx, ly) = ((dx.abs() - 0.5) * 2.2, (dy.abs() - 0.5) * 1.1);
        ink = ink.max(smooth_step(0.03, -0.01, (lx * lx + ly * ly).sqrt() - 0.2));
        let stripe = if striped && ((u * repeat).fract() - 0.5).abs() > 0.44 { 0.5 } else { 0.0 };
        let paper = cloud(u * 70.0, v * 70.0, 2, seed) - 0.5;
        let colour = mix(ground, print, (ink.clamp(0.0, 1.0) * 0.8).max(stripe));
        (scale(colour, 1.0 + 0.1 * paper), 0.0009 * paper + 0.0012 * ink)
    })
}

/// A self-healing cutting mat with a ruled grid.
pub(super) fn cutting_mat(side: usize, dice: &mut Dice) -> Texture {
    let seed = dice.word();
    let mat = jitter(dice.pick(&[rgb(38, 100, 84), rgb(44, 82, 120), rgb(60, 106, 70)]), dice);
    let rule = rgb(214, 220, 180);
    let n_squares = dice.between(6.0, 8.0);
    let (du, dv) = (dice.unit(), dice.unit());
    Texture::from_fn(side, |u, v| {
        let (x, y) = ((u + du) * n_squares, (v + dv) * n_squares);
        let line = |t: f32, half: f32| {
            let d = (t - t.round()).abs();
            smooth_step(half * 1.8, half * 0.5, d)
        };
        let major = line(x, 0.02).max(line(y, 0.02));
        let minor = line(x * 5.0, 0.05).max(line(y * 5.0, 0.05)) * 0.22;
        let scratch = smooth_step(
            0.985,
            1.0,
            1.0 - (cloud(u * 14.0 + v * 6.0, v * 1.5, 3, seed) - 0.5).abs(),
        );
        let grain = smooth(u * 170.0, v * 170.0, seed ^ 2) - 0.5;
        let patch = cloud(u * 3.0, v * 3.0, 3, seed ^ 3) - 0.5;
        let base = scale(mat, 1.0 + 0.14 * grain + 0.2 * patch);
        let base = mix(base, scale(mat, 1.35), scratch * 0.25);
        (mix(base, rule, (major * 0.62).max(minor)), 0.0006 * grain)
    })
}
