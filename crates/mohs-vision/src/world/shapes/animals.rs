//! Animals: fish, bird.

use crate::world::colour::{jitter, mix, rgb, scale, vivid_paint};
use crate::world::dice::Dice;
use crate::world::pen::{Finish, Outline, Pen};

/// A fish seen from the side, swimming left.
pub(crate) fn fish(pen: &mut Pen, shape: &mut Dice, coat: &mut Dice) {
    let skin = if coat.chance(0.35) { jitter(rgb(230, 120, 40), coat) } else { vivid_paint(coat) };
    let belly = mix(skin, rgb(255, 240, 214), 0.62);
    let fin = mix(scale(skin, 0.8), rgb(255, 200, 90), 0.3);
    let tall = shape.between(20.0, 29.0);
    let tail = shape.between(15.0, 22.0);
    let y = 50.0;

    // Tail: two lobes.
    let root = 74.0;
    let caudal = Outline::from(root, y - 4.0)
        .quad(root + 10.0, y - tail * 0.5, 99.0, y - tail * 1.15)
        .quad(91.0, y, 98.0, y + tail * 1.1)
        .quad(root + 10.0, y + tail * 0.5, root, y + 4.0)
        .close();
    pen.fill(caudal, fin).fade(scale(fin, 0.85)).bevel(3.0);
    rays(
        pen,
        &[
            (root + 4.0, y),
            (93.0, y - tail * 0.75),
            (92.0, y - tail * 0.25),
            (92.0, y + tail * 0.25),
            (93.0, y + tail * 0.75),
        ],
        fin,
    );
    let rise = shape.between(13.0, 20.0);
    let dorsal = Outline::from(30.0, y - tall * 0.78)
        .quad(38.0, y - tall - rise, 52.0, y - tall - rise * 0.8)
        .quad(58.0, y - tall - rise * 0.4, 69.0, y - tall * 0.42)
        .line(50.0, y - tall * 0.5)
        .close();
    pen.fill(dorsal, fin).bevel(3.0);
    rays(
        pen,
        &[
            (46.0, y - tall * 0.6),
            (42.0, y - tall - rise * 0.6),
            (49.0, y - tall - rise * 0.62),
            (56.0, y - tall - rise * 0.3),
        ],
        fin,
    );
    let anal = Outline::from(48.0, y + tall * 0.8)
        .quad(54.0, y + tall + rise * 0.5, 62.0, y + tall + rise * 0.45)
        .quad(64.0, y + tall * 0.8, 66.0, y + tall * 0.45)
        .close();
    pen.fill(anal, fin).bevel(2.5);

    let body = Outline::from(3.0, y + 1.0)
        .cubic((10.0, y - tall * 0.9), (30.0, y - tall * 1.15), (46.0, y - tall))
        .cubic((60.0, y - tall * 0.85), (68.0, y - 8.0), (79.0, y - 5.0))
        .line(79.0, y + 5.0)
        .cubic((68.0, y + 8.0), (60.0, y + tall * 0.9), (44.0, y + tall))
        .cubic((26.0, y + tall * 1.1), (10.0, y + tall * 0.75), (3.0, y + 1.0))
        .close();
    pen.fill(body, scale(skin, 0.95)).fade(belly).bevel(15.0).finish(Finish::Gloss);

    match shape.below(3) {
        0 => {
            let stripe = if coat.chance(0.5) { rgb(250, 246, 236) } else { scale(skin, 0.4) };
            for (x, reach) in [(34.0, 0.86), (50.0, 0.8), (65.0, 0.5)] {
                let band =
                    Outline::from(x, y - tall * reach).quad(x + 5.0, y, x - 1.0, y + tall * reach);
                pen.bar(band, 4.6, stripe).decal().finish(Finish::Gloss);
            }
        }
        1 => scales(pen, y, tall, scale(skin, 0.72)),
        _ => {
            scales(pen, y, tall, mix(skin, [1.0; 3], 0.35));
        }
    }
    let gill = Outline::from(24.0, y - tall * 0.55).quad(31.0, y, 23.0, y + tall * 0.6);
    pen.line(gill, 1.6, scale(skin, 0.55)).decal();
    let pectoral = Outline::from(32.0, y + 4.0)
        .quad(42.0, y + 2.0, 48.0, y + 11.0)
        .quad(40.0, y + 16.0, 32.0, y + 9.0)
        .close();
    pen.fill(pectoral, fin).bevel(2.0);
    eye(pen, 14.5, y - 4.5, 4.6);
    let mouth = Outline::from(3.5, y + 3.0).quad(8.0, y + 6.0, 12.0, y + 5.0);
    pen.line(mouth, 1.5, scale(skin, 0.42)).decal();
}

/// Lines that fan out from a root.
fn rays(pen: &mut Pen, points: &[(f32, f32)], fin: [f32; 3]) {
    let (x, y) = points[0];
    let mut outline = Outline::empty();
    for &(tx, ty) in &points[1..] {
        outline = outline.jump(x, y).line(tx, ty);
    }
    pen.line(outline, 0.9, scale(fin, 0.68)).decal();
}

fn scales(pen: &mut Pen, y: f32, tall: f32, colour: [f32; 3]) {
    let mut outline = Outline::empty();
    for column in 0..6_u8 {
        let x = 34.0 + f32::from(column) * 6.0;
        let shrink = 1.0 - (f32::from(column) - 1.5).abs() * 0.13;
        for row in -2_i8..=2 {
            let shift = if column % 2 == 0 { 0.0 } else { 0.5 };
            let sy = y + (f32::from(row) + shift) * tall * 0.32 * shrink;
            if (sy - y).abs() < tall * 0.68 * shrink {
                outline = outline.jump(x, sy - 2.6).quad(x + 4.0, sy, x, sy + 2.6);
            }
        }
    }
    pen.line(outline, 1.0, colour).decal();
}

fn eye(pen: &mut Pen, x: f32, y: f32, radius: f32) {
    pen.fill(Outline::empty().circle(x, y, radius), rgb(250, 246, 236)).bevel(2.0);
    pen.fill(Outline::empty().circle(x - 0.3, y, radius * 0.58), rgb(18, 18, 22))
        .bevel(1.5)
        .finish(Finish::Gloss);
    pen.fill(Outline::empty().circle(x - 1.0, y - 1.2, radius * 0.2), [1.0; 3]).decal();
}

/// A small bird standing, looking left.
pub(crate) fn bird(pen: &mut Pen, shape: &mut Dice, coat: &mut Dice) {
    let back = vivid_paint(coat);
    let breast = match coat.below(3) {
        0 => rgb(238, 226, 204),
        1 => jitter(rgb(220, 104, 52), coat),
        _ => mix(back, rgb(255, 248, 230), 0.6),
    };
    let wing = scale(back, 0.68);
    let beak = coat.pick(&[rgb(228, 158, 44), rgb(62, 58, 58), rgb(206, 92, 50)]);
    let plump = shape.between(0.92, 1.1);
    let tail = shape.between(20.0, 28.0);

    // Legs, then the tail, then the body over both.
    let leg = rgb(150, 96, 60);
    for (x, foot) in [(50.0, 46.0), (58.0, 55.0)] {
        let limb = Outline::from(x, 70.0)
            .line(foot, 91.0)
            .jump(foot, 91.0)
            .line(foot - 8.0, 95.0)
            .jump(foot, 91.0)
            .line(foot - 1.5, 97.0)
            .jump(foot, 91.0)
            .line(foot + 6.0, 94.5);
        pen.line(limb, 2.6, leg);
    }
    let end = 76.0 + tail;
    let feathers = Outline::from(70.0, 52.0)
        .quad(84.0, 58.0, end, 72.0)
        .line(end - 7.0, 79.0)
        .quad(78.0, 74.0, 64.0, 68.0)
        .close();
    pen.fill(feathers, wing).bevel(2.5);
    pen.bar(Outline::from(74.0, 61.0).line(end - 4.0, 75.0), 1.0, scale(wing, 0.7)).decal();

    let upper =
        Outline::from(13.0, 29.0).quad(6.0, 28.0, 0.0, 33.0).quad(8.0, 35.0, 15.0, 35.0).close();
    pen.fill(upper, beak).bevel(1.6).finish(Finish::Gloss);
    let lower = Outline::from(3.5, 34.0).quad(8.0, 38.0, 16.0, 37.0).line(15.0, 34.0).close();
    pen.fill(lower, scale(beak, 0.8)).bevel(1.2);

    let body = [
        (14.0, 30.0),
        (18.0, 18.5),
        (30.0, 14.5),
        (41.0, 21.0),
        (48.0, 34.0),
        (63.0, 43.0),
        (77.0, 55.0),
        (74.0, 66.0),
        (62.0, 70.0 + 5.0 * plump),
        (44.0, 70.0 + 5.0 * plump),
        (28.0, 66.0),
        (19.0 / plump, 52.0),
        (16.5, 40.0),
    ];
    pen.fill(Outline::empty().blob(&body), back).bevel(13.0).finish(Finish::Satin);
    let front = [
        (15.5, 36.0),
        (23.0, 36.0),
        (33.0, 46.0),
        (44.0, 60.0),
        (57.0, 70.0),
        (56.0, 73.0 + 4.0 * plump - 2.0),
        (44.0, 69.0 + 5.0 * plump - 1.5),
        (29.0, 65.0),
        (20.5 / plump, 52.0),
        (17.2, 42.0),
    ];
    pen.fill(Outline::empty().blob(&front), breast).fade(scale(breast, 0.86)).decal();
    let folded = [
        (38.0, 42.0),
        (50.0, 40.0),
        (66.0, 50.0),
        (84.0, 66.0),
        (66.0, 66.0),
        (50.0, 62.0),
        (40.0, 54.0),
    ];
    pen.fill(Outline::empty().blob(&folded), wing).bevel(4.0);
    for (i, y) in [0.0, 5.0, 10.0].into_iter().enumerate() {
        let x = 46.0 + i as f32 * 1.5;
        let plume = Outline::from(x, 47.0 + y).quad(60.0, 50.0 + y, 75.0 - y * 0.6, 61.0 + y * 0.4);
        pen.line(plume, 1.1, scale(wing, 0.62)).decal();
    }
    if shape.chance(0.4) {
        let cap =
            [(17.0, 22.0), (24.0, 16.2), (33.0, 15.8), (41.0, 22.5), (36.0, 26.0), (24.0, 23.0)];
        pen.fill(Outline::empty().blob(&cap), scale(wing, 0.7)).decal();
    }
    eye(pen, 24.5, 27.5, 3.8);
}
