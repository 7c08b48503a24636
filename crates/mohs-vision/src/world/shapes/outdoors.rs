//! Things that stand outdoors: house, tree.

use crate::world::colour::{jitter, mix, rgb, scale, vivid_paint};
use crate::world::dice::Dice;
use crate::world::pen::{Finish, Form, Outline, Pen};
use std::f32::consts::TAU;

/// A house seen from the gable and one side.
pub(crate) fn house(pen: &mut Pen, shape: &mut Dice, coat: &mut Dice) {
    let wall = coat.pick(&[
        rgb(236, 222, 192),
        rgb(226, 196, 150),
        rgb(206, 216, 220),
        rgb(224, 178, 160),
        rgb(240, 236, 226),
        rgb(176, 196, 168),
    ]);
    let wall = jitter(wall, coat);
    let roof = coat.pick(&[rgb(164, 66, 46), rgb(120, 58, 48), rgb(78, 84, 96), rgb(110, 76, 54)]);
    let roof = jitter(roof, coat);
    let door = vivid_paint(coat);
    let white = rgb(248, 246, 240);
    let eave = shape.between(44.0, 50.0);
    let ridge = shape.between(12.0, 19.0);
    let corner = shape.between(48.0, 55.0);
    let (left, right, ground) = (6.0, 94.0, 92.0);
    let peak = (left + corner) * 0.5;

    let chimney_x = corner + shape.between(8.0, 24.0);
    let brick = rgb(150, 78, 60);
    pen.fill(Outline::empty().rect(chimney_x, ridge - 9.0, chimney_x + 9.0, ridge + 16.0), brick)
        .bevel(1.0);
    pen.fill(
        Outline::empty().rect(chimney_x - 1.5, ridge - 11.0, chimney_x + 10.5, ridge - 7.5),
        scale(brick, 0.8),
    )
    .bevel(1.0);

    // The long side lies in shade.
    let side = [(corner, eave), (right, eave), (right, ground - 3.0), (corner, ground)];
    pen.fill(Outline::empty().polygon(&side), scale(wall, 0.8)).fade(scale(wall, 0.7)).bevel(0.8);
    let gable = [
        (left + 2.0, ground),
        (left + 2.0, eave),
        (peak, ridge + 2.0),
        (corner, eave),
        (corner, ground),
    ];
    pen.fill(Outline::empty().polygon(&gable), wall).fade(scale(wall, 0.92)).bevel(0.8);

    // The roof: one slope in full view, with courses of tiles, and the edge over the gable.
    let slope = [
        (peak, ridge),
        (right - 7.0, ridge + 1.0),
        (right + 4.0, eave + 4.0),
        (corner + 3.0, eave + 5.0),
    ];
    pen.fill(Outline::empty().polygon(&slope), roof)
        .fade(scale(roof, 0.86))
        .bevel(1.2)
        .mottle(0.25);
    let n_courses = 5;
    let mut courses = Outline::empty();
    for i in 1..n_courses {
        let t = i as f32 / n_courses as f32;
        let y = ridge + (eave + 4.5 - ridge) * t;
        courses =
            courses.jump(peak + (corner + 3.0 - peak) * t, y).line(right - 7.0 + 11.0 * t, y - 0.5);
    }
    pen.line(courses, 1.0, scale(roof, 0.66)).decal();
    let verge =
        Outline::from(left - 4.0, eave + 6.0).line(peak, ridge).line(corner + 3.0, eave + 5.0);
    pen.line(verge, 4.2, scale(roof, 0.82));

    // Door and windows.
    let door_x = left + shape.between(8.0, 13.0);
    let door_top = ground - shape.between(25.0, 28.0);
    pen.fill(Outline::empty().rect(door_x - 1.6, door_top - 1.6, door_x + 14.6, ground), white)
        .bevel(0.8);
    pen.fill(Outline::empty().rect(door_x, door_top, door_x + 13.0, ground), door).bevel(1.0);
    let panels = Outline::empty()
        .rect(door_x + 2.5, door_top + 3.0, door_x + 10.5, door_top + 10.0)
        .rect(door_x + 2.5, door_top + 13.0, door_x + 10.5, ground - 3.0);
    pen.fill(panels, scale(door, 0.78)).decal();
    pen.fill(Outline::empty().circle(door_x + 10.8, ground - 12.0, 1.2), rgb(220, 186, 90))
        .bevel(1.0);
    let glass = if coat.chance(0.3) { rgb(255, 222, 140) } else { rgb(112, 156, 190) };
    let mut window = |x: f32, y: f32, w: f32, h: f32| {
        pen.fill(Outline::empty().rect(x - 1.6, y - 1.6, x + w + 1.6, y + h + 1.6), white)
            .bevel(0.8);
        pen.fill(Outline::empty().rect(x, y, x + w, y + h), mix(glass, [1.0; 3], 0.3))
            .fade(scale(glass, 0.8))
            .decal()
            .finish(Finish::Gloss);
        let bars = Outline::from(x + w * 0.5, y)
            .line(x + w * 0.5, y + h)
            .jump(x, y + h * 0.5)
            .line(x + w, y + h * 0.5);
        pen.bar(bars, 1.2, white).decal();
    };
    window(door_x + 19.5, ground - 26.0, (corner - door_x - 25.0).max(8.0), 13.0);
    window(peak - 5.0, eave - 9.0, 10.0, 10.0);
    let wide = (right - corner - 18.0) * 0.5;
    window(corner + 6.0, eave + 12.0, wide, 13.0);
    window(corner + 12.0 + wide, eave + 12.0, wide, 12.5);
    // A bush softens the corner of many houses.
    if shape.chance(0.6) {
        let bush = rgb(70, 112, 52);
        for (x, y, r) in [(right - 8.0, ground - 4.0, 7.0), (right - 17.0, ground - 2.5, 5.5)] {
            pen.fill(Outline::empty().circle(x, y, r), jitter(bush, coat))
                .bevel(5.0)
                .finish(Finish::Matte)
                .mottle(0.6);
        }
    }
}

/// A broad-leaved tree or a fir.
pub(crate) fn tree(pen: &mut Pen, shape: &mut Dice, coat: &mut Dice) {
    let bark = coat.pick(&[rgb(150, 110, 76), rgb(170, 142, 112), rgb(128, 88, 58)]);
    let bark = jitter(bark, coat);
    if shape.chance(0.3) {
        fir(pen, shape, coat, bark);
    } else {
        broadleaf(pen, shape, coat, bark);
    }
}

fn broadleaf(pen: &mut Pen, shape: &mut Dice, coat: &mut Dice, bark: [f32; 3]) {
    let leaf = coat.pick(&[
        rgb(74, 128, 50),
        rgb(98, 146, 56),
        rgb(52, 108, 62),
        rgb(204, 132, 40),
        rgb(186, 76, 40),
    ]);
    let leaf = jitter(leaf, coat);
    let lean = shape.between(-3.0, 3.0);
    let girth = shape.between(4.5, 6.5);
    let trunk = Outline::from(50.0 - girth - 5.0, 98.0)
        .quad(50.0 - girth, 90.0, 50.0 - girth * 0.8 + lean * 0.5, 70.0)
        .line(50.0 - girth * 0.6 + lean, 48.0)
        .line(50.0 + girth * 0.6 + lean, 48.0)
        .line(50.0 + girth * 0.8 + lean * 0.5, 70.0)
        .quad(50.0 + girth, 90.0, 50.0 + girth + 6.0, 98.0)
        .quad(50.0, 94.0, 50.0 - girth - 5.0, 98.0)
        .close();
    // Far foliage first, so that branches stand before it.
    crown(pen, shape, scale(leaf, 0.62), (50.0 + lean, 37.0), (30.0, 24.0), 9, 10.0);
    pen.fill(trunk, bark).form(Form::Can(2.0)).finish(Finish::Matte).mottle(0.5);
    let branches = Outline::from(50.0 + lean * 0.6, 66.0)
        .quad(40.0, 56.0, 31.0, 48.0)
        .jump(50.0 + lean * 0.7, 62.0)
        .quad(60.0, 54.0, 68.0, 46.0);
    pen.line(branches, 3.6, bark).finish(Finish::Matte);
    let mut furrows = Outline::empty();
    for dx in [-2.2, 0.6, 3.0] {
        furrows = furrows.jump(50.0 + dx, 94.0).quad(
            50.0 + dx * 0.5,
            80.0,
            50.0 + dx * 0.7 + lean * 0.5,
            66.0,
        );
    }
    pen.line(furrows, 0.8, scale(bark, 0.6)).decal();
    crown(pen, shape, scale(leaf, 0.84), (50.0 + lean, 33.0), (27.0, 20.0), 10, 10.0);
    crown(pen, shape, leaf, (48.0 + lean, 27.0), (22.0, 15.0), 8, 9.0);
    crown(
        pen,
        shape,
        mix(leaf, rgb(255, 240, 150), 0.22),
        (44.0 + lean, 22.0),
        (15.0, 9.0),
        5,
        6.5,
    );
}

/// A ring of leafy clumps and one in the middle.
fn crown(
    pen: &mut Pen,
    shape: &mut Dice,
    leaf: [f32; 3],
    middle: (f32, f32),
    spread: (f32, f32),
    n_clumps: usize,
    size: f32,
) {
    let mut clumps = Outline::empty();
    clumps = clump(clumps, shape, middle, spread.0.min(spread.1) * 0.95);
    for i in 0..n_clumps {
        let (sin, cos) = ((i as f32 + shape.between(-0.3, 0.3)) / n_clumps as f32 * TAU).sin_cos();
        let x = middle.0 + cos * spread.0 * shape.between(0.85, 1.08);
        let y = middle.1 + sin * spread.1 * shape.between(0.85, 1.08);
        let clump_size = size * shape.between(0.85, 1.15);
        clumps = clump(clumps, shape, (x, y), clump_size);
    }
    pen.fill(clumps, leaf).bevel(6.0).finish(Finish::Matte).mottle(0.75);
}

/// Adds a bumpy blob.
fn clump(outline: Outline, shape: &mut Dice, (x, y): (f32, f32), size: f32) -> Outline {
    const N_BUMPS: u8 = 14;
    let points: Vec<_> = (0..N_BUMPS)
        .map(|i| {
            let (sin, cos) = (f32::from(i) / f32::from(N_BUMPS) * TAU).sin_cos();
            let bump = if i % 2 == 0 { 1.06 } else { 0.88 };
            let reach = size * bump * shape.between(0.93, 1.07);
            (x + cos * reach, y + sin * reach)
        })
        .collect();
    outline.blob(&points)
}

fn fir(pen: &mut Pen, shape: &mut Dice, coat: &mut Dice, bark: [f32; 3]) {
    let needle = jitter(coat.pick(&[rgb(54, 122, 78), rgb(76, 136, 82), rgb(70, 134, 122)]), coat);
    pen.fill(Outline::empty().rect(46.0, 78.0, 54.0, 98.0), bark)
        .form(Form::Can(1.0))
        .finish(Finish::Matte)
        .mottle(0.5);
    let n_tiers = 4 + shape.below(2);
    let widest = shape.between(33.0, 40.0);
    for tier in 0..n_tiers {
        let t = 1.0 - tier as f32 / n_tiers as f32;
        let foot = 14.0 + 72.0 * t;
        let head = (foot - 34.0 * (0.55 + 0.45 * t)).max(2.0);
        let half = widest * (0.22 + 0.78 * t);
        let mut boughs =
            Outline::from(50.0, head).quad(50.0 - half * 0.3, foot - 12.0, 50.0 - half, foot);
        let n_tips = 5;
        for tip in 0..n_tips {
            let from = -half + 2.0 * half * tip as f32 / n_tips as f32;
            let to = -half + 2.0 * half * (tip + 1) as f32 / n_tips as f32;
            let sag = |x: f32| foot + 4.0 * (1.0 - (x / half).powi(2));
            boughs = boughs
                .line(50.0 + from * 0.6 + to * 0.4, sag(from) - 3.5)
                .line(50.0 + to, sag(to) + shape.between(-0.5, 1.0));
        }
        let boughs = boughs.quad(50.0 + half * 0.3, foot - 12.0, 50.0, head).close();
        let tone = 0.8 + 0.3 * (1.0 - t);
        pen.fill(boughs, scale(needle, tone))
            .fade(scale(needle, tone * 0.85))
            .bevel(7.0)
            .finish(Finish::Matte)
            .mottle(0.8);
    }
}
