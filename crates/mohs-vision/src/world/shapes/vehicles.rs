//! Things that carry people: bicycle, boat, car.

use crate::world::colour::{jitter, mix, paint, rgb, scale, vivid_paint};
use crate::world::dice::Dice;
use crate::world::pen::{Finish, Form, Outline, Pen};
use std::f32::consts::{PI, TAU};

/// A bicycle seen from the right side, front wheel on the right.
pub(crate) fn bicycle(pen: &mut Pen, shape: &mut Dice, coat: &mut Dice) {
    let frame = vivid_paint(coat);
    let rubber = rgb(34, 34, 38);
    let chrome = rgb(196, 200, 206);
    let radius = shape.between(21.5, 24.0);
    let (rear, front, axle) = (24.0, 78.0 + shape.between(-1.0, 2.0), 72.0);
    let n_spokes = 10 + 2 * shape.below(3);
    for x in [rear, front] {
        let mut spokes = Outline::empty();
        for i in 0..n_spokes {
            let (sin, cos) = (i as f32 / n_spokes as f32 * TAU).sin_cos();
            spokes = spokes.jump(x, axle).line(x + cos * radius, axle + sin * radius);
        }
        pen.line(spokes, 0.75, chrome).bevel(0.4);
        pen.line(Outline::empty().circle(x, axle, radius - 2.2), 1.8, chrome).finish(Finish::Metal);
        pen.line(Outline::empty().circle(x, axle, radius), 3.8, rubber).finish(Finish::Matte);
        pen.fill(Outline::empty().circle(x, axle, 2.6), chrome).bevel(2.0).finish(Finish::Metal);
    }
    let crank = (47.5, axle + 1.0);
    let saddle = (37.0, shape.between(35.0, 39.0));
    let head = (70.0, shape.between(40.0, 43.0));
    let step_through = shape.chance(0.3);

    // Chain behind the frame.
    let chain = Outline::from(rear, axle - 2.2)
        .line(crank.0, crank.1 - 5.0)
        .jump(rear, axle + 2.2)
        .line(crank.0, crank.1 + 5.0);
    pen.line(chain, 1.1, rgb(70, 70, 74));
    pen.line(
        Outline::from(crank.0, crank.1).line(crank.0 - 6.0, crank.1 - 8.0),
        2.0,
        rgb(110, 112, 118),
    );
    pen.line(
        Outline::from(crank.0 - 9.0, crank.1 - 8.0).line(crank.0 - 3.0, crank.1 - 8.0),
        2.6,
        rubber,
    );

    let tube = shape.between(3.2, 4.0);
    let seat_joint = (saddle.0 + 1.6, 46.0);
    let stays = Outline::from(rear, axle)
        .line(crank.0, crank.1)
        .jump(rear, axle)
        .line(seat_joint.0, seat_joint.1 + 2.0);
    pen.line(stays, tube * 0.7, frame).finish(Finish::Gloss);
    // The fork bends forward.
    let fork = Outline::from(head.0, head.1).line(head.0 + 2.4, head.1 + 12.0).quad(
        front - 4.0,
        axle - 10.0,
        front,
        axle,
    );
    pen.line(fork, tube * 0.8, frame).finish(Finish::Gloss);
    let drop = if step_through { 16.0 } else { 0.0 };
    let diamond = Outline::from(saddle.0, saddle.1 + 3.0)
        .line(crank.0, crank.1)
        .line(head.0 + 1.0, head.1 + 6.0)
        .jump(seat_joint.0 + drop * 0.35, seat_joint.1 + drop)
        .line(head.0 + 0.4, head.1 + 2.0);
    pen.line(diamond, tube, frame).finish(Finish::Gloss);

    pen.fill(Outline::empty().circle(crank.0, crank.1, 5.8), chrome)
        .bevel(1.2)
        .finish(Finish::Metal);
    pen.fill(Outline::empty().circle(crank.0, crank.1, 3.2), scale(frame, 0.6)).bevel(1.0);
    pen.line(Outline::from(crank.0, crank.1).line(crank.0 + 6.0, crank.1 + 9.0), 2.2, chrome)
        .finish(Finish::Metal);
    pen.line(
        Outline::from(crank.0 + 2.5, crank.1 + 9.5).line(crank.0 + 9.5, crank.1 + 9.5),
        2.8,
        rubber,
    );

    let seat = Outline::from(saddle.0 - 9.0, saddle.1 - 1.5)
        .quad(saddle.0 - 8.0, saddle.1 - 5.0, saddle.0, saddle.1 - 3.0)
        .line(saddle.0 + 10.0, saddle.1 - 2.0)
        .quad(saddle.0 + 9.0, saddle.1 + 1.0, saddle.0 + 1.0, saddle.1 + 2.0)
        .quad(saddle.0 - 6.0, saddle.1 + 3.5, saddle.0 - 9.0, saddle.1 - 1.5)
        .close();
    let leather = coat.pick(&[rgb(40, 38, 40), rgb(122, 70, 38)]);
    pen.fill(seat, leather).bevel(2.4);

    // Handlebar: stem up, then a grip forward or a drop bar.
    let stem = (head.0 - 1.4, head.1 - 6.0);
    pen.line(Outline::from(head.0, head.1).line(stem.0, stem.1), tube * 0.8, chrome)
        .finish(Finish::Metal);
    if shape.chance(0.5) {
        let bar = Outline::from(stem.0, stem.1)
            .quad(stem.0 + 8.0, stem.1 - 1.0, stem.0 + 9.0, stem.1 + 4.0)
            .quad(stem.0 + 8.0, stem.1 + 9.0, stem.0 + 1.0, stem.1 + 8.5);
        pen.line(bar, 2.6, rubber);
    } else {
        let bar = Outline::from(stem.0 + 4.0, stem.1).quad(
            stem.0 + 2.0,
            stem.1 - 4.0,
            stem.0 - 9.0,
            stem.1 - 3.0,
        );
        pen.line(bar, 2.6, chrome).finish(Finish::Metal);
        pen.line(
            Outline::from(stem.0 - 5.0, stem.1 - 3.4).line(stem.0 - 10.0, stem.1 - 3.0),
            3.4,
            leather,
        );
        pen.fill(Outline::empty().circle(stem.0 + 6.0, stem.1 + 3.0, 2.8), rgb(244, 236, 206))
            .bevel(2.0)
            .finish(Finish::Gloss);
    }
}

/// A sailing boat seen from the side.
pub(crate) fn boat(pen: &mut Pen, shape: &mut Dice, coat: &mut Dice) {
    let hull = paint(coat);
    let sail =
        if coat.chance(0.6) { rgb(246, 240, 226) } else { mix(vivid_paint(coat), [1.0; 3], 0.35) };
    let jib = if coat.chance(0.4) { vivid_paint(coat) } else { scale(sail, 0.93) };
    let deck = shape.between(71.0, 75.0);
    let mast = shape.between(44.0, 49.0);
    let peak = shape.between(1.0, 5.0);
    let wood = rgb(132, 88, 52);

    pen.line(Outline::from(mast, peak).line(mast, deck + 2.0), 2.4, wood).finish(Finish::Gloss);
    let flag = Outline::from(mast, peak)
        .quad(mast - 5.0, peak - 2.5, mast - 10.0, peak + 1.5)
        .quad(mast - 5.0, peak + 1.5, mast, peak + 5.0)
        .close();
    pen.fill(flag, vivid_paint(coat)).bevel(0.8);
    let boom = deck - 6.0;
    let main = Outline::from(mast + 1.8, peak + 5.0)
        .quad(mast + 26.0, peak + 30.0, mast + shape.between(34.0, 40.0), boom)
        .quad(mast + 16.0, boom + 2.0, mast + 1.8, boom)
        .close();
    pen.fill(main, sail).fade(scale(sail, 0.88)).bevel(6.0).finish(Finish::Matte);
    let mut seams = Outline::empty();
    for share in [0.35, 0.58, 0.8] {
        let y = peak + 5.0 + (boom - peak - 5.0) * share;
        seams = seams.jump(mast + 2.4, y).line(mast + 3.0 + 30.0 * share * share.sqrt(), y - 1.0);
    }
    pen.line(seams, 0.8, scale(sail, 0.72)).decal();
    let fore = Outline::from(mast - 2.0, peak + 10.0)
        .quad(mast - 10.0, boom - 18.0, mast - shape.between(30.0, 35.0), boom + 1.0)
        .quad(mast - 14.0, boom + 3.0, mast - 3.0, boom - 1.0)
        .close();
    pen.fill(fore, jib).fade(scale(jib, 0.88)).bevel(5.0).finish(Finish::Matte);
    pen.line(Outline::from(mast, boom + 1.0).line(mast + 37.0, boom + 1.6), 2.2, wood);

    if shape.chance(0.6) {
        let cabin = Outline::from(mast + 4.0, deck)
            .line(mast + 7.0, deck - 7.0)
            .line(mast + 27.0, deck - 7.0)
            .line(mast + 29.0, deck)
            .close();
        pen.fill(cabin, rgb(240, 234, 220)).bevel(1.2);
        let ports = Outline::empty().circle(mast + 12.5, deck - 3.4, 1.7).circle(
            mast + 20.0,
            deck - 3.4,
            1.7,
        );
        pen.fill(ports, rgb(48, 66, 88)).decal();
    }
    let body = Outline::from(4.0, deck - 4.0)
        .quad(48.0, deck + 3.0, 96.0, deck - 2.0)
        .quad(95.0, deck + 15.0, 84.0, deck + 20.0)
        .line(30.0, deck + 20.0)
        .quad(13.0, deck + 18.0, 4.0, deck - 4.0)
        .close();
    pen.fill(body, hull).fade(scale(hull, 0.72)).form(Form::Log(2.0)).finish(Finish::Gloss);
    let stripe = Outline::from(9.0, deck + 4.6).quad(48.0, deck + 10.0, 94.0, deck + 6.0);
    pen.bar(stripe, 2.6, if coat.chance(0.5) { rgb(250, 246, 236) } else { rgb(206, 60, 48) })
        .decal();
    let rail = Outline::from(4.0, deck - 4.0).quad(48.0, deck + 3.0, 96.0, deck - 2.0);
    pen.line(rail, 2.6, wood).finish(Finish::Gloss);
}

/// A car seen from the side, driving left.
pub(crate) fn car(pen: &mut Pen, shape: &mut Dice, coat: &mut Dice) {
    let coat_colour = paint(coat);
    let roof = shape.between(25.0, 30.0);
    let hatch = shape.chance(0.45);
    let (hood, tail) = (shape.between(46.0, 49.0), if hatch { 44.0 } else { 46.5 });
    let sill = 68.0;
    let (front_axle, rear_axle) = (shape.between(20.0, 22.5), shape.between(77.0, 79.5));
    let wheel = shape.between(9.2, 10.4);
    let roof_end = if hatch { shape.between(76.0, 82.0) } else { shape.between(64.0, 69.0) };
    let roof_start = shape.between(39.0, 43.0);
    let rear_foot = if hatch { 95.0 } else { 84.0 };

    pen.fill(Outline::empty().rounded(8.0, 58.0, 93.0, sill + 3.0, 3.0), rgb(26, 26, 30))
        .bevel(1.0);
    let body = Outline::from(1.5, 62.0)
        .quad(1.0, 54.0, 5.0, 51.5)
        .quad(16.0, hood - 1.0, 29.0, hood - 2.0)
        .quad(34.0, roof + 4.0, roof_start + 2.0, roof)
        .quad((roof_start + roof_end) * 0.5, roof - 3.5, roof_end, roof)
        .quad(rear_foot - 4.0, roof + 6.0, rear_foot, tail)
        .quad(98.0, tail, 98.5, 53.0)
        .quad(99.5, 62.0, 98.0, sill - 2.0)
        .line(rear_axle + wheel + 2.5, sill)
        .cubic(
            (rear_axle + wheel + 2.0, sill - wheel - 7.5),
            (rear_axle - wheel - 2.0, sill - wheel - 7.5),
            (rear_axle - wheel - 2.5, sill),
        )
        .line(front_axle + wheel + 2.5, sill)
        .cubic(
            (front_axle + wheel + 2.0, sill - wheel - 7.5),
            (front_axle - wheel - 2.0, sill - wheel - 7.5),
            (front_axle - wheel - 2.5, sill),
        )
        .line(4.0, sill - 1.0)
        .quad(1.5, 66.0, 1.5, 62.0)
        .close();
    pen.fill(body, mix(coat_colour, [1.0; 3], 0.14))
        .fade(scale(coat_colour, 0.8))
        .bevel(5.0)
        .finish(Finish::Gloss);

    // Windows, split by a pillar.
    let glass = rgb(60, 82, 104);
    let pillar = (roof_start + roof_end) * 0.5 + shape.between(-2.0, 2.0);
    let belt = hood - 1.0;
    let fore = Outline::from(33.0, belt)
        .quad(37.0, roof + 6.5, roof_start + 3.5, roof + 3.4)
        .line(pillar - 1.5, roof + 2.4)
        .line(pillar - 1.5, belt)
        .close();
    let aft = Outline::from(pillar + 1.5, belt)
        .line(pillar + 1.5, roof + 2.4)
        .line(roof_end - 1.5, roof + 3.2)
        .quad(rear_foot - 8.0, roof + 8.0, rear_foot - 7.0, belt)
        .close();
    for window in [fore, aft] {
        pen.fill(window, mix(glass, rgb(190, 216, 232), 0.75))
            .fade(glass)
            .bevel(0.8)
            .finish(Finish::Gloss);
    }
    let seams = Outline::from(33.5, belt + 1.0)
        .line(34.5, sill - 3.0)
        .line(pillar + 3.0, sill - 3.0)
        .line(pillar, belt + 1.0)
        .jump(pillar + 3.0, sill - 3.0)
        .line(rear_axle - wheel - 4.0, sill - 3.0);
    pen.line(seams, 0.8, scale(coat_colour, 0.5)).decal();
    let crease = Outline::from(6.0, 55.5).quad(50.0, 51.0, 97.0, 53.5);
    pen.line(crease, 0.8, mix(coat_colour, [1.0; 3], 0.4)).decal();
    for x in [pillar - 7.0, pillar + 10.0] {
        pen.line(Outline::from(x, belt + 6.0).line(x + 4.5, belt + 6.0), 1.5, rgb(206, 208, 212))
            .finish(Finish::Metal);
    }
    pen.fill(
        Outline::empty().blob(&[(3.5, 53.5), (9.0, 51.5), (11.0, 54.5), (4.0, 57.0)]),
        rgb(252, 244, 206),
    )
    .bevel(1.5)
    .finish(Finish::Gloss);
    pen.fill(
        Outline::empty().blob(&[(94.0, 49.5), (98.0, 50.5), (98.4, 56.0), (95.5, 55.5)]),
        rgb(206, 38, 34),
    )
    .bevel(1.5)
    .finish(Finish::Gloss);
    pen.line(Outline::from(2.5, 64.0).line(10.0, 65.0), 2.4, scale(coat_colour, 0.45));
    pen.line(Outline::from(97.5, 63.0).line(90.0, 65.0), 2.4, scale(coat_colour, 0.45));

    let n_spokes = 5 + shape.below(3);
    for x in [front_axle, rear_axle] {
        pen.fill(Outline::empty().circle(x, sill, wheel), rgb(30, 30, 34))
            .bevel(3.0)
            .finish(Finish::Matte);
        pen.fill(Outline::empty().circle(x, sill, wheel * 0.62), rgb(192, 196, 202))
            .bevel(2.0)
            .finish(Finish::Metal);
        let mut gaps = Outline::empty();
        for i in 0..n_spokes {
            let (sin, cos) = (i as f32 / n_spokes as f32 * TAU + PI * 0.3).sin_cos();
            gaps = gaps.circle(x + cos * wheel * 0.38, sill + sin * wheel * 0.38, wheel * 0.11);
        }
        pen.fill(gaps, rgb(60, 62, 68)).decal();
        pen.fill(Outline::empty().circle(x, sill, wheel * 0.16), jitter(rgb(150, 154, 160), coat))
            .bevel(1.0);
    }
}
