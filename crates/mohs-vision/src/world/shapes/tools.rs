//! Things for the hand: key, scissors, umbrella.

use crate::world::colour::{jitter, mix, paint, rgb, scale, vivid_paint};
use crate::world::dice::Dice;
use crate::world::pen::{Finish, Outline, Pen};
use std::f32::consts::{FRAC_1_SQRT_2, PI};

/// An old-fashioned key, its bow to the upper left.
pub(crate) fn key(pen: &mut Pen, shape: &mut Dice, coat: &mut Dice) {
    let metal = coat.pick(&[rgb(208, 164, 72), rgb(186, 190, 198), rgb(170, 104, 62)]);
    let metal = jitter(metal, coat);
    // Drawn along x, then turned so that it lies across the picture.
    let turn = |x: f32, y: f32| ((x - y) * FRAC_1_SQRT_2, (x + y) * FRAC_1_SQRT_2);
    let length = shape.between(72.0, 84.0);
    let ring = shape.between(13.0, 16.0);
    let shaft = shape.between(6.5, 8.5);

    let (x0, y0) = turn(0.0, 0.0);
    let bow = match shape.below(3) {
        0 => Outline::empty().circle(x0, y0, ring + 4.5).circle(x0, y0, ring - 4.5),
        1 => {
            for (dx, dy) in [(-9.0, 0.0), (2.0, -11.0), (2.0, 11.0)] {
                let (x, y) = turn(dx, dy);
                let ring = Outline::empty().circle(x, y, 10.4).circle(x, y, 4.8);
                pen.fill(ring, metal).holes().bevel(3.0).finish(Finish::Metal);
            }
            Outline::empty().circle(x0, y0, 7.0)
        }
        _ => Outline::empty().oval(x0, y0, ring + 6.0, ring + 6.0).oval(
            x0,
            y0,
            ring - 2.0,
            ring - 2.0,
        ),
    };
    pen.fill(bow, metal).holes().bevel(4.0).finish(Finish::Metal);

    let line = |from: (f32, f32), to: (f32, f32)| {
        let (a, b) = (turn(from.0, from.1), turn(to.0, to.1));
        Outline::from(a.0, a.1).line(b.0, b.1)
    };
    // The bit: two or three teeth of different depth.
    let start = length - shape.between(22.0, 26.0);
    let depth = shape.between(15.0, 20.0);
    let mut bit = vec![(start, 0.0)];
    let n_teeth = 2 + shape.below(2);
    let step = (length - 2.0 - start) / n_teeth as f32;
    for tooth in 0..n_teeth {
        let left = start + step * tooth as f32;
        let reach = depth * shape.between(0.72, 1.0);
        bit.extend([
            (left, reach),
            (left + step * 0.62, reach),
            (left + step * 0.62, depth * 0.42),
            (left + step, depth * 0.42),
        ]);
    }
    bit.push((length - 2.0, 0.0));
    let bit: Vec<_> = bit.into_iter().map(|(x, y)| turn(x, y)).collect();
    pen.fill(Outline::empty().polygon(&bit), scale(metal, 0.94)).bevel(1.8).finish(Finish::Metal);
    pen.line(line((ring, 0.0), (length, 0.0)), shaft, metal).finish(Finish::Metal);
    for x in [ring + 6.0, ring + 12.0, start - 5.0] {
        let collar = line((x, -shaft * 0.62), (x, shaft * 0.62));
        pen.bar(collar, 3.6, mix(metal, [1.0; 3], 0.1)).bevel(1.6).finish(Finish::Metal);
    }
}

/// Open scissors, blades up.
pub(crate) fn scissors(pen: &mut Pen, shape: &mut Dice, coat: &mut Dice) {
    let plastic = vivid_paint(coat);
    let steel = jitter(rgb(196, 202, 210), coat);
    let open = shape.between(0.2, 0.36);
    let blade = shape.between(50.0, 58.0);
    let broad = shape.between(7.0, 9.0);
    let loop_size = shape.between(13.0, 15.5);
    for side in [-1.0_f32, 1.0] {
        let (sin, cos) = (side * open).sin_cos();
        // `along` runs up the blade from the pivot, `across` to its outer side.
        let at = |along: f32, across: f32| {
            (50.0 + sin * along + cos * across * side, 52.0 - cos * along + sin * across * side)
        };
        let handle = |along: f32, across: f32| {
            let (x, y) = at(along, across);
            (x, y)
        };
        let (lx, ly) = handle(-32.0, -9.0);
        let neck = {
            let (a, b, c) = (at(2.0, 0.0), at(-10.0, -1.0), at(-22.0, -4.0));
            Outline::from(a.0, a.1).quad(b.0, b.1, c.0, c.1)
        };
        pen.line(neck, 8.0, plastic).finish(Finish::Gloss);
        let eye = Outline::empty().oval(lx, ly, loop_size * 0.88, loop_size * 1.12).oval(
            lx,
            ly,
            loop_size * 0.88 - 6.0,
            loop_size * 1.12 - 6.0,
        );
        pen.fill(eye, plastic).holes().bevel(3.0).finish(Finish::Gloss);
        let points = [
            at(-8.0, -3.0),
            at(4.0, -broad * 0.55),
            at(blade, broad * 0.16),
            at(blade - 2.0, broad * 0.5),
            at(8.0, broad * 0.62),
            at(-8.0, 3.5),
        ];
        pen.fill(Outline::empty().polygon(&points), steel).bevel(1.6).finish(Finish::Metal);
        let (a, b) = (at(6.0, broad * 0.2), at(blade - 4.0, broad * 0.32));
        pen.bar(Outline::from(a.0, a.1).line(b.0, b.1), 0.9, scale(steel, 0.7)).decal();
    }
    pen.fill(Outline::empty().circle(50.0, 52.0, 4.2), scale(steel, 0.85))
        .bevel(3.0)
        .finish(Finish::Metal);
    pen.bar(Outline::from(47.6, 53.6).line(52.4, 50.4), 1.2, scale(steel, 0.35)).decal();
}

/// An open umbrella with a hooked handle.
pub(crate) fn umbrella(pen: &mut Pen, shape: &mut Dice, coat: &mut Dice) {
    let cloth = vivid_paint(coat);
    let other = if coat.chance(0.45) {
        mix(paint(coat), rgb(246, 240, 226), 0.6)
    } else {
        scale(cloth, 0.84)
    };
    let top = shape.between(6.0, 12.0);
    let hem = shape.between(46.0, 51.0);
    let half = shape.between(43.0, 48.0);
    let x = 50.0;
    let wood = coat.pick(&[rgb(120, 74, 42), rgb(60, 48, 44), rgb(176, 124, 70)]);

    pen.bar(Outline::from(x, top - 7.0).line(x, 88.0), 2.6, rgb(150, 152, 158))
        .finish(Finish::Metal);
    let hook = shape.between(6.0, 8.0);
    let handle = Outline::from(x, 76.0).line(x, 88.0).cubic(
        (x, 88.0 + hook * 1.5),
        (x + hook * 2.0, 88.0 + hook * 1.5),
        (x + hook * 2.0, 87.0),
    );
    pen.line(handle, 4.6, wood).finish(Finish::Gloss);
    pen.line(Outline::from(x, top).line(x, top - 7.0), 2.4, rgb(70, 70, 76)).finish(Finish::Metal);

    // The underside shows below the scallops of the hem.
    let under = Outline::empty().oval(x, hem + 0.5, half * 0.97, 5.5);
    pen.fill(under, scale(cloth, 0.4)).decal();

    let n_panels = 6 + 2 * shape.below(2);
    let edge = |i: usize| x - half * (PI * i as f32 / n_panels as f32).cos();
    let lift = |i: usize| {
        let t = (edge(i) - x) / half;
        hem + 4.0 * (1.0 - t * t)
    };
    let dome = |i: usize, side: f32| {
        // Ribs bow outwards from the tip to the hem.
        let ex = edge(i);
        let bulge = (ex - x) * side;
        (x + bulge, top + (hem - top) * 0.12)
    };
    for i in 0..n_panels {
        let (a, b) = (i, i + 1);
        let (ca, cb) = (dome(a, 0.95), dome(b, 0.95));
        let (ea, eb) = ((edge(a), lift(a)), (edge(b), lift(b)));
        let middle = ((ea.0 + eb.0) * 0.5, (ea.1 + eb.1) * 0.5 - 7.0);
        let panel = Outline::from(x, top)
            .quad(ca.0, ca.1, ea.0, ea.1)
            .quad(middle.0, middle.1, eb.0, eb.1)
            .quad(cb.0, cb.1, x, top)
            .close();
        let share = (i as f32 + 0.5) / n_panels as f32;
        let round = 0.8 + 0.35 * (PI * share).sin() - 0.12 * (share - 0.5);
        let colour = if i % 2 == 0 { cloth } else { other };
        let colour = scale(colour, round);
        pen.fill(panel, mix(colour, [1.0; 3], 0.1)).fade(scale(colour, 0.9)).bevel(2.4);
    }
    pen.fill(Outline::empty().oval(x, top, 3.2, 1.8), scale(cloth, 0.7)).bevel(1.0);
}
