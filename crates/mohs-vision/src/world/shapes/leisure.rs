//! Things for spare time: guitar, shoe.

use crate::world::colour::{jitter, mix, rgb, scale, vivid_paint};
use crate::world::dice::Dice;
use crate::world::pen::{Finish, Outline, Pen};
use std::f32::consts::FRAC_1_SQRT_2;

/// An acoustic guitar lying aslant, neck to the upper right.
pub(crate) fn guitar(pen: &mut Pen, shape: &mut Dice, coat: &mut Dice) {
    let top = coat.pick(&[
        rgb(214, 154, 84),
        rgb(186, 104, 48),
        rgb(228, 190, 130),
        rgb(150, 44, 36),
        rgb(52, 86, 132),
    ]);
    let top = jitter(top, coat);
    let dark = rgb(58, 36, 26);
    let tilt = shape.between(-0.1, 0.12);
    // Drawn with x along the neck and y across, then turned by about 45 degrees.
    let (sin, cos) = (FRAC_1_SQRT_2 + tilt, FRAC_1_SQRT_2 - tilt);
    let turn = |x: f32, y: f32| (x * cos + y * sin, -x * sin + y * cos);
    let turned =
        |points: &[(f32, f32)]| -> Vec<_> { points.iter().map(|p| turn(p.0, p.1)).collect() };
    let lower = shape.between(22.5, 26.0);
    let upper = lower * shape.between(0.74, 0.82);
    let waist = lower * shape.between(0.58, 0.66);

    let outline = |grow: f32| {
        let half = [
            (0.0 - grow, 0.0),
            (3.0 - grow, lower * 0.62 + grow),
            (14.0, lower + grow),
            (26.0, lower * 0.88 + grow),
            (34.5, waist + grow),
            (43.0, upper * 0.95 + grow),
            (51.0, upper * 0.92 + grow),
            (57.0 + grow, upper * 0.5),
            (58.0 + grow, 0.0),
        ];
        let mut points = half.to_vec();
        points.extend(half[1..8].iter().rev().map(|(x, y)| (*x, -y)));
        turned(&points)
    };
    pen.fill(Outline::empty().blob(&outline(1.4)), scale(dark, 1.1))
        .bevel(3.0)
        .finish(Finish::Gloss);
    pen.fill(Outline::empty().blob(&outline(-0.6)), top)
        .fade(scale(top, 0.82))
        .bevel(2.5)
        .finish(Finish::Gloss);
    let (hx, hy) = turn(38.5, 0.0);
    pen.fill(Outline::empty().circle(hx, hy, 9.4), scale(top, 0.5)).decal();
    pen.fill(Outline::empty().circle(hx, hy, 8.2), mix(top, rgb(250, 236, 200), 0.6)).decal();
    pen.fill(Outline::empty().circle(hx, hy, 7.0), rgb(24, 16, 14)).decal();
    if shape.chance(0.55) {
        let guard = turned(&[
            (28.0, 6.0),
            (33.0, 8.5),
            (40.0, 10.0),
            (42.0, 13.0),
            (34.0, 13.5),
            (28.0, 14.5),
            (24.0, 11.0),
        ]);
        pen.fill(Outline::empty().blob(&guard), dark).bevel(0.6).finish(Finish::Gloss);
    }
    let bridge = turned(&[(12.0, -8.5), (15.5, -8.5), (15.5, 8.5), (12.0, 8.5)]);
    pen.fill(Outline::empty().polygon(&bridge), dark).bevel(1.2);

    // Neck, frets, head, pegs, strings.
    let nut = shape.between(98.0, 104.0);
    let neck = turned(&[(46.0, -3.6), (nut, -2.9), (nut, 2.9), (46.0, 3.6)]);
    pen.fill(Outline::empty().polygon(&neck), scale(dark, 1.25)).bevel(1.5);
    let mut frets = Outline::empty();
    let mut x = nut;
    for _ in 0..11 {
        let (a, b) = (turn(x, -3.0), turn(x, 3.0));
        frets = frets.jump(a.0, a.1).line(b.0, b.1);
        x = 12.0 + (x - 12.0) * 0.944;
    }
    pen.bar(frets, 0.8, rgb(206, 200, 186)).decal();
    let head = turned(&[
        (nut, -3.2),
        (nut + 3.0, -5.0),
        (nut + 17.0, -5.6),
        (nut + 19.0, 0.0),
        (nut + 17.0, 5.6),
        (nut + 3.0, 5.0),
        (nut, 3.2),
    ]);
    pen.fill(Outline::empty().polygon(&head), mix(dark, top, 0.3)).bevel(1.4).finish(Finish::Gloss);
    for i in 0..3_u8 {
        for side in [-1.0, 1.0] {
            let along = nut + 5.0 + f32::from(i) * 4.6;
            let (a, b) = (turn(along, side * 4.5), turn(along, side * 8.0));
            pen.line(Outline::from(a.0, a.1).line(b.0, b.1), 2.4, rgb(210, 206, 196))
                .finish(Finish::Metal);
        }
    }
    let mut strings = Outline::empty();
    for i in 0..6_u8 {
        let across = f32::from(i) - 2.5;
        let (a, b) = (turn(13.5, across * 1.5), turn(nut + 4.0, across * 0.95));
        strings = strings.jump(a.0, a.1).line(b.0, b.1);
    }
    pen.line(strings, 0.35, rgb(236, 230, 214)).decal();
}

/// A laced trainer seen from the side, toe to the left.
pub(crate) fn shoe(pen: &mut Pen, shape: &mut Dice, coat: &mut Dice) {
    let upper = vivid_paint(coat);
    let other =
        if coat.chance(0.5) { rgb(244, 240, 232) } else { mix(upper, [0.1, 0.1, 0.14], 0.6) };
    let rubber = coat.pick(&[rgb(246, 242, 232), rgb(226, 214, 186), rgb(60, 60, 66)]);
    let ankle = shape.between(17.0, 26.0);
    let thick = shape.between(8.5, 11.5);
    let sole = 74.0;

    // The inside of the collar, seen behind the opening.
    let lining = Outline::from(56.0, ankle + 4.0)
        .quad(74.0, ankle - 7.0, 91.0, ankle + 2.0)
        .quad(78.0, ankle + 13.0, 60.0, ankle + 9.0)
        .close();
    pen.fill(lining, scale(upper, 0.36)).decal();
    let tongue = Outline::from(50.0, ankle + 11.0)
        .quad(50.0, ankle - 7.0, 58.0, ankle - 9.0)
        .quad(64.0, ankle - 6.0, 64.0, ankle + 8.0)
        .close();
    pen.fill(tongue, other).bevel(3.0).finish(Finish::Matte);

    let body = Outline::from(3.0, sole + 1.0)
        .quad(0.0, 58.0, 14.0, 54.0)
        .quad(31.0, 50.0, 42.0, 37.0)
        .quad(49.0, ankle + 10.0, 56.0, ankle + 4.0)
        .quad(72.0, ankle + 16.0, 91.0, ankle + 1.0)
        .quad(96.0, ankle + 6.0, 94.0, ankle + 22.0)
        .quad(98.0, 62.0, 97.0, sole + 1.0)
        .close();
    pen.fill(body, mix(upper, [1.0; 3], 0.08))
        .fade(scale(upper, 0.85))
        .bevel(9.0)
        .finish(Finish::Matte);
    let toe = Outline::from(3.0, sole + 1.0)
        .quad(0.0, 58.5, 13.0, 54.6)
        .quad(25.0, 59.0, 27.0, sole + 1.0)
        .close();
    pen.fill(toe, other).bevel(4.0);
    let heel = Outline::from(97.0, sole + 1.0)
        .quad(98.0, 62.0, 94.0, ankle + 22.0)
        .quad(95.6, ankle + 12.0, 93.5, ankle + 3.0)
        .quad(86.0, ankle + 14.0, 84.0, 52.0)
        .quad(80.0, 62.0, 82.0, sole + 1.0)
        .close();
    pen.fill(heel, other).bevel(3.0);
    match shape.below(3) {
        0 => {
            for i in 0..3_u8 {
                let x = 52.0 + f32::from(i) * 8.0;
                let stripe = Outline::from(x, sole).line(x - 7.0 + f32::from(i), 52.0);
                pen.bar(stripe, 3.8, other).bevel(0.8);
            }
        }
        1 => {
            let swoosh = Outline::from(36.0, 61.0)
                .quad(40.0, 75.0, 56.0, 66.0)
                .line(80.0, 50.0)
                .quad(54.0, 62.0, 46.0, 63.0)
                .quad(41.0, 62.0, 42.0, 55.0)
                .close();
            pen.fill(swoosh, other).bevel(0.8);
        }
        _ => {
            let seam =
                Outline::from(40.0, sole).quad(48.0, 60.0, 58.0, 50.0).quad(66.0, 46.0, 82.0, 52.0);
            pen.line(seam, 1.2, scale(upper, 0.55)).decal();
            pen.fill(Outline::empty().circle(72.0, 60.0, 6.0), other).bevel(0.8);
        }
    }
    // Eyelet strip and laces.
    let strip = Outline::from(30.0, 52.0).quad(44.0, 46.0, 57.0, ankle + 8.0);
    pen.line(strip, 7.0, scale(upper, 0.8)).bevel(2.0).finish(Finish::Matte);
    let lace = if coat.chance(0.75) { rgb(250, 248, 242) } else { rgb(40, 40, 46) };
    for i in 0..5_u8 {
        let t = f32::from(i) / 4.0;
        let s = 1.0 - t;
        let x = s * s * 30.0 + 2.0 * s * t * 44.0 + t * t * 56.0;
        let y = s * s * 52.0 + 2.0 * s * t * 46.0 + t * t * (ankle + 9.0);
        let cross = Outline::from(x + 3.5, y + 4.6).line(x - 5.5, y - 5.2);
        pen.line(cross, 2.5, lace).finish(Finish::Matte);
    }

    let bottom = sole + thick;
    let slab = Outline::from(1.0, sole - 1.0)
        .line(98.5, sole - 1.0)
        .quad(101.0, sole + thick * 0.5, 97.5, bottom)
        .line(14.0, bottom)
        .quad(0.0, bottom - 1.0, 1.0, sole - 1.0)
        .close();
    pen.fill(slab, rubber).fade(scale(rubber, 0.84)).bevel(2.5);
    let welt = Outline::from(2.0, sole + thick * 0.45).line(99.0, sole + thick * 0.45);
    pen.line(welt, 1.2, if shape.chance(0.5) { upper } else { scale(rubber, 0.7) }).decal();
    let mut tread = Outline::empty();
    for i in 0..10_u8 {
        let x = 12.0 + f32::from(i) * 9.0;
        tread = tread.rect(x, bottom - 0.5, x + 6.0, bottom + 2.0);
    }
    pen.fill(tread, scale(rubber, 0.55)).bevel(0.6);
}
