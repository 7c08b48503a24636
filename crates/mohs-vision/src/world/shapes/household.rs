//! Things of a room: mug, chair, clock, lamp.

use crate::world::colour::{jitter, mix, paint, rgb, scale, vivid_paint};
use crate::world::dice::Dice;
use crate::world::pen::{Finish, Form, Outline, Pen};
use std::f32::consts::TAU;

/// A mug with a handle, seen a little from above.
pub(crate) fn mug(pen: &mut Pen, shape: &mut Dice, coat: &mut Dice) {
    let glaze = paint(coat);
    let half = shape.between(23.0, 29.0);
    let bottom = shape.between(78.0, 88.0);
    let foot = half * shape.between(0.82, 1.0);
    let (middle, rim, squash) = (40.0, 24.0, shape.between(0.24, 0.32));
    let reach = shape.between(18.0, 25.0);

    let right = middle + half * 0.95;
    let (upper, lower) = (rim + 12.0, bottom - shape.between(14.0, 20.0));
    let handle = Outline::from(right - 3.0, upper).cubic(
        (right + reach * 1.3, upper - 6.0),
        (right + reach * 1.2, lower + 4.0),
        (right - 5.0, lower),
    );
    pen.line(handle, shape.between(6.5, 8.5), glaze).finish(Finish::Gloss);

    let body = Outline::from(middle - half, rim)
        .cubic(
            (middle - half, rim + 20.0),
            (middle - foot - 1.0, bottom - 16.0),
            (middle - foot, bottom - 4.0),
        )
        .cubic(
            (middle - foot, bottom + foot * squash),
            (middle + foot, bottom + foot * squash),
            (middle + foot, bottom - 4.0),
        )
        .cubic(
            (middle + foot + 1.0, bottom - 16.0),
            (middle + half, rim + 20.0),
            (middle + half, rim),
        )
        .close();
    pen.fill(body, glaze).fade(scale(glaze, 0.88)).form(Form::Can(2.0)).finish(Finish::Gloss);

    let trim = mix(vivid_paint(coat), rgb(250, 244, 230), 0.35);
    let dip = half * squash * 1.05;
    match shape.below(3) {
        0 => {
            for level in [0.42, 0.6] {
                let y = rim + (bottom - rim) * level;
                let w = half * 0.96;
                let band = Outline::from(middle - w, y).quad(middle, y + dip * 2.0, middle + w, y);
                pen.bar(band, 4.0, trim).decal();
            }
        }
        1 => {
            let y = rim + (bottom - rim) * 0.45;
            let heart = Outline::from(middle, y + 22.0)
                .cubic((middle - 26.0, y + 6.0), (middle - 12.0, y - 10.0), (middle, y + 3.0))
                .cubic((middle + 12.0, y - 10.0), (middle + 26.0, y + 6.0), (middle, y + 22.0))
                .close();
            pen.fill(heart, trim).decal().finish(Finish::Gloss);
        }
        _ => {}
    }

    pen.fill(Outline::empty().oval(middle, rim, half, half * squash), mix(glaze, [1.0; 3], 0.3))
        .bevel(1.5)
        .finish(Finish::Gloss);
    let inside = half - 3.0;
    pen.fill(Outline::empty().oval(middle, rim + 0.3, inside, inside * squash), scale(glaze, 0.45))
        .decal();
    let drink = coat.pick(&[rgb(74, 42, 24), rgb(128, 84, 50), rgb(150, 62, 30)]);
    let surface = Outline::empty().oval(middle, rim + 2.2, inside * 0.9, inside * squash * 0.74);
    pen.fill(surface, drink).fade(mix(drink, [1.0; 3], 0.25)).decal().finish(Finish::Gloss);
}

/// A wooden chair seen from the front and a little from the side.
pub(crate) fn chair(pen: &mut Pen, shape: &mut Dice, coat: &mut Dice) {
    let wood = if coat.chance(0.55) {
        coat.pick(&[rgb(150, 96, 52), rgb(184, 132, 78), rgb(96, 58, 36)])
    } else {
        vivid_paint(coat)
    };
    let wood = jitter(wood, coat);
    let dark = scale(wood, 0.72);
    let thick = shape.between(5.0, 6.5);
    let seat_y = shape.between(50.0, 56.0);
    let top = shape.between(2.0, 8.0);
    let (back_left, back_right) = (30.0, 78.0);
    let (front_left, front_right) = (20.0, 70.0);
    let (back_y, front_y) = (seat_y - 5.0, seat_y + 7.0);

    // Legs at the back stand behind the seat.
    for x in [back_left, back_right] {
        pen.bar(Outline::from(x, back_y).line(x + 1.5, 88.0), thick, dark).finish(Finish::Satin);
    }
    pen.bar(Outline::from(back_left, 76.0).line(back_right, 76.0), thick * 0.6, dark);
    // Posts of the back, leaning away.
    let lean = shape.between(1.0, 4.0);
    let slats_upright = shape.chance(0.5);
    if slats_upright {
        let n = 3 + shape.below(2);
        for i in 1..=n {
            let x = back_left + (back_right - back_left) * i as f32 / (n + 1) as f32;
            pen.bar(Outline::from(x + lean, top + 6.0).line(x, back_y), 3.6, wood);
        }
    } else {
        let n = 2 + shape.below(2);
        for i in 1..=n {
            let y = top + 8.0 + (back_y - top - 12.0) * i as f32 / (n + 1) as f32;
            pen.bar(Outline::from(back_left, y).line(back_right + lean, y), 5.5, wood);
        }
    }
    for x in [back_left, back_right] {
        pen.line(Outline::from(x + lean, top + 2.0).line(x, back_y + 2.0), thick, wood);
    }
    let rail = Outline::from(back_left + lean - 3.0, top + 10.0)
        .quad(54.0 + lean, top - 5.0, back_right + lean + 3.0, top + 10.0)
        .line(back_right + lean + 3.0, top + 1.0)
        .quad(54.0 + lean, top - 12.0, back_left + lean - 3.0, top + 1.0)
        .close();
    pen.fill(rail, wood).bevel(2.5);

    // Seat: a plate with a front edge, then a cushion on some chairs.
    for x in [front_left + 3.0, front_right - 3.0] {
        pen.bar(Outline::from(x, front_y).line(x - 0.5, 98.0), thick, wood);
    }
    pen.bar(Outline::from(front_left + 3.0, 84.0).line(front_right - 3.0, 84.0), thick * 0.6, wood);
    let apron = [
        (front_left, front_y),
        (front_right, front_y),
        (back_right + 3.0, back_y),
        (back_right + 3.0, back_y + 5.5),
        (front_right, front_y + 5.5),
        (front_left, front_y + 5.5),
    ];
    pen.fill(Outline::empty().polygon(&apron), dark).bevel(1.0);
    let seat = [
        (front_left, front_y),
        (front_right, front_y),
        (back_right + 3.0, back_y),
        (back_left - 2.0, back_y),
    ];
    pen.fill(Outline::empty().polygon(&seat), mix(wood, [1.0; 3], 0.12)).bevel(1.2);
    if shape.chance(0.4) {
        let cloth = vivid_paint(coat);
        let cushion = [
            (front_left + 5.0, front_y - 0.5),
            (front_right - 2.0, front_y - 0.5),
            (back_right - 3.0, back_y - 0.5),
            (back_left + 3.0, back_y - 0.5),
        ];
        pen.fill(Outline::empty().blob(&cushion), cloth).bevel(4.0).finish(Finish::Matte);
    }
}

/// A wall clock or an alarm clock.
pub(crate) fn clock(pen: &mut Pen, shape: &mut Dice, coat: &mut Dice) {
    let case = paint(coat);
    let (x, y, radius) = (50.0, 50.0, 44.0);
    let alarm = shape.chance(0.45);
    if alarm {
        let brass = coat.pick(&[rgb(206, 166, 84), rgb(190, 194, 200), case]);
        for side in [-1.0, 1.0] {
            pen.line(
                Outline::from(x + side * 24.0, y + 36.0).line(x + side * 33.0, y + 50.0),
                7.0,
                scale(case, 0.7),
            );
            let bell = Outline::from(x + side * 10.0, y - 44.0)
                .quad(x + side * 22.0, y - 64.0, x + side * 36.0, y - 52.0)
                .quad(x + side * 46.0, y - 42.0, x + side * 38.0, y - 27.0)
                .close();
            pen.fill(bell, brass).bevel(8.0).finish(Finish::Metal);
        }
        pen.line(Outline::from(x, y - 40.0).line(x, y - 54.0), 4.0, scale(brass, 0.8));
        pen.fill(Outline::empty().circle(x, y - 55.0, 4.5), brass).bevel(4.0).finish(Finish::Metal);
    }
    let rim = shape.between(6.0, 9.0);
    pen.fill(Outline::empty().circle(x, y, radius), case).bevel(rim).finish(Finish::Gloss);
    let dark_face = !alarm && shape.chance(0.15);
    let face = if dark_face { rgb(40, 42, 48) } else { rgb(248, 244, 232) };
    let print = if dark_face { rgb(240, 236, 224) } else { rgb(32, 32, 38) };
    pen.fill(Outline::empty().circle(x, y, radius - rim), scale(case, 0.5)).decal();
    pen.fill(Outline::empty().circle(x, y, radius - rim - 1.0), face)
        .fade(scale(face, 0.9))
        .bevel(1.0);
    let dial = radius - rim - 1.0;
    let arabic = shape.chance(0.6);
    for hour in 0..12_u8 {
        let (sin, cos) = (f32::from(hour) / 12.0 * TAU).sin_cos();
        let quarter = hour % 3 == 0;
        if arabic && quarter {
            numeral(pen, hour, x + sin * dial * 0.77, y - cos * dial * 0.77, print);
        } else {
            let (inner, width) = if quarter { (0.74, 3.4) } else { (0.82, 2.2) };
            let tick = Outline::from(x + sin * dial * inner, y - cos * dial * inner)
                .line(x + sin * dial * 0.93, y - cos * dial * 0.93);
            pen.bar(tick, width, print).decal();
        }
    }
    let minute = shape.below(12) as f32 / 12.0;
    let hour = (shape.below(12) as f32 + minute) / 12.0;
    for (turn, length, width) in [(hour, 0.5, 4.2), (minute, 0.76, 3.0)] {
        let (sin, cos) = (turn * TAU).sin_cos();
        let hand = Outline::from(x - sin * dial * 0.12, y + cos * dial * 0.12)
            .line(x + sin * dial * length, y - cos * dial * length);
        pen.line(hand, width, print);
    }
    let (sin, cos) = shape.between(0.0, TAU).sin_cos();
    let second = Outline::from(x - sin * dial * 0.2, y + cos * dial * 0.2)
        .line(x + sin * dial * 0.8, y - cos * dial * 0.8);
    pen.line(second, 1.2, rgb(200, 40, 36)).decal();
    pen.fill(Outline::empty().circle(x, y, 3.0), rgb(200, 40, 36)).bevel(2.0);
}

/// Writes 12, 3, 6 or 9 around a point.
fn numeral(pen: &mut Pen, hour: u8, x: f32, y: f32, print: [f32; 3]) {
    let at = |points: &[(f32, f32)]| -> Vec<(f32, f32)> {
        points.iter().map(|(dx, dy)| (x + dx * 0.62, y + dy * 0.62)).collect()
    };
    let outline = Outline::empty();
    let outline = match hour {
        0 => outline.through(&at(&[(-7.0, -5.0), (-5.0, -7.0), (-5.0, 7.0)])).through(&at(&[
            (0.0, -4.0),
            (4.0, -7.0),
            (7.0, -3.0),
            (0.5, 6.5),
            (8.0, 6.8),
        ])),
        3 => outline.through(&at(&[
            (-4.0, -6.0),
            (1.0, -7.0),
            (3.5, -3.5),
            (-1.0, -0.3),
            (4.0, 3.5),
            (1.0, 7.0),
            (-4.0, 6.0),
        ])),
        6 => outline.through(&at(&[
            (3.0, -7.0),
            (-3.0, -2.0),
            (-4.0, 3.5),
            (0.0, 7.0),
            (4.0, 3.5),
            (0.5, 0.0),
            (-3.5, 2.5),
        ])),
        _ => outline.through(&at(&[
            (-3.0, 7.0),
            (3.0, 2.0),
            (4.0, -3.5),
            (0.0, -7.0),
            (-4.0, -3.5),
            (-0.5, 0.0),
            (3.5, -2.5),
        ])),
    };
    pen.line(outline, 2.0, print).decal();
}

/// A table lamp with a shade, lit.
pub(crate) fn lamp(pen: &mut Pen, shape: &mut Dice, coat: &mut Dice) {
    let ceramic = paint(coat);
    let cloth = if coat.chance(0.6) { rgb(244, 226, 188) } else { mix(paint(coat), [1.0; 3], 0.4) };
    let top = shape.between(12.0, 20.0);
    let bottom = shape.between(31.0, 37.0);
    let shade_foot = shape.between(42.0, 50.0);
    let x = 50.0;
    let brass = coat.pick(&[rgb(200, 160, 80), rgb(170, 174, 180), rgb(92, 70, 54)]);

    match shape.below(3) {
        0 => {
            // A round-bellied ceramic foot.
            let belly = shape.between(13.0, 18.0);
            let body = [
                (x - 3.5, 50.0),
                (x + 3.5, 50.0),
                (x + 5.0, 58.0),
                (x + belly, 72.0),
                (x + belly * 0.8, 84.0),
                (x + 8.0, 90.0),
                (x - 8.0, 90.0),
                (x - belly * 0.8, 84.0),
                (x - belly, 72.0),
                (x - 5.0, 58.0),
            ];
            pen.bar(Outline::from(x, 36.0).line(x, 54.0), 4.0, brass).finish(Finish::Metal);
            pen.fill(Outline::empty().blob(&body), ceramic)
                .form(Form::Can(5.0))
                .finish(Finish::Gloss);
        }
        1 => {
            // Stacked spheres.
            pen.bar(Outline::from(x, 36.0).line(x, 92.0), 4.0, brass).finish(Finish::Metal);
            for (y, radius) in [(58.0, 7.0), (70.0, 8.5), (83.0, 10.0)] {
                pen.fill(Outline::empty().circle(x, y, radius), ceramic)
                    .bevel(radius)
                    .finish(Finish::Gloss);
            }
        }
        _ => {
            // A slim stem.
            pen.bar(Outline::from(x, 36.0).line(x, 92.0), 5.5, brass).finish(Finish::Metal);
            pen.fill(Outline::empty().circle(x, 62.0, 5.5), brass).bevel(5.0).finish(Finish::Metal);
        }
    }
    let base = shape.between(17.0, 22.0);
    let plate = Outline::from(x - base, 97.0)
        .quad(x - base, 89.0, x - 6.0, 88.0)
        .line(x + 6.0, 88.0)
        .quad(x + base, 89.0, x + base, 97.0)
        .quad(x, 101.0, x - base, 97.0)
        .close();
    pen.fill(plate, brass).bevel(3.0).finish(Finish::Metal);
    if shape.chance(0.5) {
        let chain = Outline::from(x + 9.0, shade_foot).line(x + 9.0, shade_foot + 12.0);
        pen.line(chain, 1.2, brass);
        pen.fill(Outline::empty().circle(x + 9.0, shade_foot + 13.0, 2.0), brass).bevel(2.0);
    }

    let bulb = mix(cloth, rgb(255, 236, 176), 0.55);
    let shade = Outline::from(x - top, 4.0)
        .quad(x, 0.0, x + top, 4.0)
        .line(x + bottom, shade_foot)
        .quad(x, shade_foot + 9.0, x - bottom, shade_foot)
        .close();
    pen.fill(shade, scale(cloth, 0.94)).fade(bulb).form(Form::Can(1.5)).finish(Finish::Glow);
    let mut folds = Outline::empty();
    let n_folds = 5 + shape.below(4);
    for i in 1..n_folds {
        let t = i as f32 / n_folds as f32 * 2.0 - 1.0;
        folds = folds
            .jump(x + top * t, 3.0 + 1.5 * (t * t - 0.5))
            .line(x + bottom * t, shade_foot + 4.0 * (1.0 - t * t));
    }
    pen.bar(folds, 0.8, scale(cloth, 0.78)).decal().finish(Finish::Glow);
    let trim = scale(mix(cloth, ceramic, 0.6), 0.85);
    let hem =
        Outline::from(x - bottom, shade_foot).quad(x, shade_foot + 9.0, x + bottom, shade_foot);
    pen.line(hem, 2.4, trim).finish(Finish::Matte);
    pen.line(Outline::from(x - top, 4.0).quad(x, 0.0, x + top, 4.0), 2.0, trim);
}
