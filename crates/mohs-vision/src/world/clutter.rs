//! Small things that lie about and mean nothing: pebbles, balls, coins, sticks, blocks.

use super::colour::{jitter, mix, paint, rgb, scale, vivid_paint};
use super::dice::Dice;
use super::pen::{Finish, Outline, Part, Pen};
use std::f32::consts::TAU;

/// A box on the canvas to keep clear: left, top, right, bottom in pixels.
pub(crate) type Clearing = (f32, f32, f32, f32);

/// Returns the parts, in canvas pixels, of `n_things` small things outside all clearings.
pub(crate) fn scatter(
    side: f32,
    n_things: usize,
    clearings: &[Clearing],
    dice: &mut Dice,
) -> Vec<Part> {
    let mut pen = Pen::default();
    for _ in 0..n_things {
        let size = side * dice.between(0.025, 0.05);
        // A crowded frame may leave no room; then the thing is left out.
        for _ in 0..12 {
            let (x, y) = (dice.between(0.04, 0.96) * side, dice.between(0.04, 0.96) * side);
            let apart = |(left, top, right, bottom): &Clearing| {
                x < left - size || x > right + size || y < top - size || y > bottom + size
            };
            if clearings.iter().all(apart) {
                thing(&mut pen, x, y, size, dice);
                break;
            }
        }
    }
    pen.parts
}

fn thing(pen: &mut Pen, x: f32, y: f32, size: f32, dice: &mut Dice) {
    let (sin, cos) = dice.between(0.0, TAU).sin_cos();
    let at = |a: f32, b: f32| (x + size * (cos * a - sin * b), y + size * (sin * a + cos * b));
    match dice.below(5) {
        0 => {
            let points: Vec<_> = (0..7_u8)
                .map(|i| {
                    let (s, c) = (f32::from(i) / 7.0 * TAU).sin_cos();
                    let reach = dice.between(0.8, 1.05);
                    at(c * reach, s * reach * 0.72)
                })
                .collect();
            let stone = scale(jitter(rgb(150, 144, 136), dice), dice.between(0.7, 1.2));
            pen.fill(Outline::empty().blob(&points), stone)
                .bevel(size * 0.7)
                .finish(Finish::Matte)
                .mottle(0.2);
        }
        1 => {
            let colour = vivid_paint(dice);
            pen.fill(Outline::empty().circle(x, y, size * 0.8), colour)
                .bevel(size * 0.8)
                .finish(Finish::Gloss);
        }
        2 => {
            let metal = dice.pick(&[rgb(200, 160, 90), rgb(186, 188, 192), rgb(176, 110, 74)]);
            pen.fill(Outline::empty().circle(x, y, size * 0.75), metal)
                .bevel(size * 0.12)
                .finish(Finish::Metal);
            pen.line(Outline::empty().circle(x, y, size * 0.55), size * 0.08, scale(metal, 0.75))
                .decal();
        }
        3 => {
            let (a, b) = (at(-1.4, 0.0), at(1.4, 0.1));
            let colour = mix(paint(dice), rgb(120, 90, 60), 0.5);
            pen.line(Outline::from(a.0, a.1).line(b.0, b.1), size * 0.36, colour)
                .finish(Finish::Satin);
        }
        _ => {
            let colour = paint(dice);
            let corners = [at(-0.8, -0.6), at(0.8, -0.6), at(0.8, 0.6), at(-0.8, 0.6)];
            pen.fill(Outline::empty().polygon(&corners), colour).bevel(size * 0.18);
        }
    }
}
