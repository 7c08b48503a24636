//! Open backgrounds: sky, sea, pool.

use super::Texture;
use crate::world::canvas::{lattice, smooth_step};
use crate::world::colour::{jitter, mix, rgb, scale};
use crate::world::dice::Dice;
use crate::world::noise::{cell, cloud, smooth};

/// A sky with clouds.
pub(super) fn sky(side: usize, dice: &mut Dice) -> Texture {
    let seed = dice.word();
    let high = jitter(rgb(66, 122, 190), dice);
    let low = jitter(rgb(176, 208, 232), dice);
    let threshold = dice.between(0.46, 0.56);
    let (du, dv) = (dice.between(0.0, 9.0), dice.between(0.0, 9.0));
    Texture::from_fn(side, |u, v| {
        let blue = mix(high, low, v.powf(0.8));
        let (x, y) = (u * 2.3 + du, v * 3.8 + dv);
        let density = cloud(x, y, 5, seed);
        let above = cloud(x - 0.05, y - 0.12, 4, seed);
        let white = smooth_step(threshold, threshold + 0.2, density);
        let shade = (0.95 + (density - above) * 1.1).clamp(0.74, 1.05);
        (mix(blue, scale(rgb(250, 250, 252), shade), white * 0.92), 0.0)
    })
}

/// Open water with waves and foam.
pub(super) fn sea(side: usize, dice: &mut Dice) -> Texture {
    let seed = dice.word();
    let deep = jitter(rgb(24, 74, 112), dice);
    let light = jitter(rgb(84, 150, 176), dice);
    let n_waves = dice.between(9.0, 13.0);
    Texture::from_fn(side, |u, v| {
        // Waves are closer together further away, that is higher in the picture.
        let far = 1.0 / (0.55 + 0.75 * v);
        let y = v * n_waves * far;
        let swell = cloud(u * 2.6 * far, y * 0.55, 3, seed);
        let chop = cloud(u * 9.0 * far, y * 2.0 + swell * 3.0, 4, seed ^ 1);
        let crest = 1.0 - ((chop - 0.5).abs() * 4.0).min(1.0);
        let tone = 0.25 + 0.75 * swell * (0.5 + 0.5 * chop);
        let foam = smooth_step(0.62, 0.76, swell) * smooth_step(0.55, 1.0, crest);
        let glint = smooth_step(0.86, 0.98, crest) * smooth_step(0.45, 0.7, chop + swell * 0.3);
        let body = mix(deep, light, (tone * 0.8 + 0.25 * (1.0 - v)).clamp(0.0, 1.0));
        let body = mix(body, rgb(226, 240, 244), foam * 0.6 + glint * 0.12);
        (body, 0.016 * chop + 0.02 * swell)
    })
}

/// Clear shallow water over tiles, with a net of light.
pub(super) fn pool(side: usize, dice: &mut Dice) -> Texture {
    let seed = dice.word();
    let water = jitter(rgb(44, 150, 178), dice);
    let n_cells = dice.between(4.2, 5.6);
    let n_tiles = dice.between(6.0, 8.0);
    Texture::from_fn(side, |u, v| {
        let bend_u = (cloud(u * 3.0, v * 3.0, 3, seed) - 0.5) * 0.16;
        let bend_v = (cloud(u * 3.0 + 7.0, v * 3.0, 3, seed ^ 1) - 0.5) * 0.16;
        let (wu, wv) = (u + bend_u, v + bend_v);
        let net = |n: f32, seed: u32| {
            let border = cell(wu * n, wv * n, 1.0, seed).to_border;
            smooth_step(0.22, 0.0, border).powi(2)
        };
        let caustic = net(n_cells, seed ^ 2) * 0.7 + net(n_cells * 1.7, seed ^ 3) * 0.4;
        let (x, y) = ((u + bend_u * 0.3) * n_tiles, (v + bend_v * 0.3) * n_tiles);
        let edge = (x - x.round()).abs().min((y - y.round()).abs());
        let grout = smooth_step(0.06, 0.02, edge);
        let tint =
            0.96 + 0.1 * (smooth(lattice(x) as f32 * 7.1, lattice(y) as f32 * 5.3, seed ^ 4) - 0.5);
        let depth = 0.86 + 0.2 * (1.0 - v);
        let colour = scale(water, tint * depth);
        let colour = mix(colour, scale(water, 0.66), grout * 0.5);
        (mix(colour, rgb(214, 246, 244), caustic.min(1.0) * 0.5), 0.006 * bend_u)
    })
}
