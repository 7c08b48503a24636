//! The quality attribute: blur, noise, few pixels, compression blocks; and the finish of a photo.

use super::canvas::{Canvas, whole};
use super::colour::{mix, scale};
use super::dice::Dice;
use std::f32::consts::PI;

/// Gives a picture the slight unevenness of a photograph: darker corners, a little grain.
pub(crate) fn develop(picture: &mut Canvas, dice: &mut Dice) {
    const CORNER_DARKENING: f32 = 0.26;
    const GRAIN: f32 = 0.012;
    let (width, half) = (picture.width, picture.width as f32 * 0.5);
    for (i, pixel) in picture.pixels.iter_mut().enumerate() {
        let (u, v) = ((i % width) as f32 / half - 1.0, (i / width) as f32 / half - 1.0);
        let corner = (u * u + v * v) * 0.5;
        let grain = GRAIN * dice.normal();
        *pixel = scale(*pixel, 1.0 - CORNER_DARKENING * corner * corner).map(|c| {
            // A gentle curve: a little more contrast in the middle tones.
            let c = c.clamp(0.0, 1.0);
            c + 0.12 * (c - 0.5) * c * (1.0 - c) * 4.0 + grain
        });
    }
}

/// Spoils a picture; `strength` in `[0, 1]`.
pub(crate) fn spoil(picture: &mut Canvas, strength: f32, dice: &mut Dice) {
    if strength <= 0.0 {
        return;
    }
    // One fault leads, another follows at less than half its strength.
    let lead = dice.below(4);
    let follow = (lead + 1 + dice.below(3)) % 4;
    for (fault, s) in [(lead, strength), (follow, strength * 0.4)] {
        match fault {
            0 => soften(picture, s * 0.042 * picture.width as f32),
            1 => coarsen(picture, s),
            2 => add_noise(picture, 0.34 * s, dice),
            _ => compress(picture, s),
        }
    }
}

/// Blurs by any radius: between two whole ones, it is a mixture of both, so that small steps show in
/// small pictures, too.
fn soften(picture: &mut Canvas, radius: f32) {
    let (least, part) = (radius.floor(), radius.fract());
    let mut wider = picture.clone();
    wider.blur(least + 1.0);
    picture.blur(least);
    for (pixel, wide) in picture.pixels.iter_mut().zip(&wider.pixels) {
        *pixel = mix(*pixel, *wide, part);
    }
}

/// Lowers the resolution: fewer, larger pixels.
fn coarsen(picture: &mut Canvas, strength: f32) {
    let n_blocks = 128.0 * 0.15_f32.powf(strength);
    blocks(picture, n_blocks);
}

/// Replaces the picture by about `n_blocks` by `n_blocks` squares of one colour.
pub(crate) fn blocks(picture: &mut Canvas, n_blocks: f32) {
    let n = whole(n_blocks).clamp(4, picture.width);
    let (width, height) = (picture.width, picture.height);
    let bound = |i: usize, side: usize| i * side / n;
    for by in 0..n {
        for bx in 0..n {
            let (x0, x1) = (bound(bx, width), bound(bx + 1, width));
            let (y0, y1) = (bound(by, height), bound(by + 1, height));
            let mut sum = [0.0; 3];
            for y in y0..y1 {
                for x in x0..x1 {
                    for (total, channel) in sum.iter_mut().zip(picture.pixels[y * width + x]) {
                        *total += channel;
                    }
                }
            }
            let mean = sum.map(|total| total / ((x1 - x0) * (y1 - y0)) as f32);
            for y in y0..y1 {
                for x in x0..x1 {
                    picture.pixels[y * width + x] = mean;
                }
            }
        }
    }
}

fn add_noise(picture: &mut Canvas, deviation: f32, dice: &mut Dice) {
    for pixel in &mut picture.pixels {
        let grey = deviation * dice.normal();
        *pixel = pixel.map(|channel| channel + grey + 0.5 * deviation * dice.normal());
    }
}

/// Keeps only coarse steps of the cosine transform of each block, as a compressed photo does.
fn compress(picture: &mut Canvas, strength: f32) {
    const BLOCK: usize = 8;
    let step = 0.05 + 0.5 * strength * strength;
    let mut wave = [[0.0_f32; BLOCK]; BLOCK];
    for (k, row) in wave.iter_mut().enumerate() {
        let norm = if k == 0 { (1.0 / 8.0_f32).sqrt() } else { 0.5 };
        for (i, value) in row.iter_mut().enumerate() {
            *value = norm * ((2 * i + 1) as f32 * k as f32 * PI / 16.0).cos();
        }
    }
    for top in (0..picture.height).step_by(BLOCK) {
        for left in (0..picture.width).step_by(BLOCK) {
            for channel in 0..3 {
                let mut block = [[0.0_f32; BLOCK]; BLOCK];
                for (y, row) in block.iter_mut().enumerate() {
                    for (x, value) in row.iter_mut().enumerate() {
                        let place = ((left + x).cast_signed(), (top + y).cast_signed());
                        *value = picture.at(place.0, place.1)[channel];
                    }
                }
                let mut kept = transform(&block, &wave, false);
                for (ky, row) in kept.iter_mut().enumerate() {
                    for (kx, value) in row.iter_mut().enumerate() {
                        let width = step * (1.0 + 0.6 * (kx + ky) as f32);
                        *value = (*value / width).round() * width;
                    }
                }
                let block = transform(&kept, &wave, true);
                for (y, row) in block.iter().enumerate() {
                    for (x, value) in row.iter().enumerate() {
                        if left + x < picture.width && top + y < picture.height {
                            picture.pixels[(top + y) * picture.width + left + x][channel] = *value;
                        }
                    }
                }
            }
        }
    }
}

/// Returns the cosine transform of a block, or its inverse.
fn transform(block: &[[f32; 8]; 8], wave: &[[f32; 8]; 8], inverse: bool) -> [[f32; 8]; 8] {
    let weight = |k: usize, i: usize| if inverse { wave[i][k] } else { wave[k][i] };
    let mut rows = [[0.0; 8]; 8];
    for (y, row) in rows.iter_mut().enumerate() {
        for (k, value) in row.iter_mut().enumerate() {
            *value = (0..8).map(|i| weight(k, i) * block[y][i]).sum();
        }
    }
    let mut both = [[0.0; 8]; 8];
    for (k, row) in both.iter_mut().enumerate() {
        for (x, value) in row.iter_mut().enumerate() {
            *value = (0..8).map(|i| weight(k, i) * rows[i][x]).sum();
        }
    }
    both
}
