//! Position: the object moves towards a side or a lower corner, and then out of the frame.
//!
//! Easy steps keep all of it inside; then so much of it leaves, by area. Things stand on something:
//! they go sideways or down, never up into the sky. An object that the frame cuts off already stays
//! at that side or moves further out there; only one that hangs from the top goes up, when it has no
//! other way.

use super::{Photo, Scene, Step, Unfit, warp};
use crate::world::canvas::{Field, lattice};
use crate::world::dice::Dice;

/// The share of the object outside, by step; easy steps have room or hardly leave.
pub(super) const OUTSIDE: [f32; 9] = [0.0, 0.0, 0.0, 0.12, 0.19, 0.26, 0.36, 0.45, 0.54];
/// The same where there is no room to move inside.
const WITHOUT_ROOM: [f32; 3] = [0.015, 0.03, 0.05];
/// How many of the objects go to a lower corner; the others go sideways.
const CORNER: f32 = 0.35;

pub(super) fn scene(photo: &Photo, step: Step, dice: &mut Dice) -> Result<Scene, Unfit> {
    let (dx, dy) = direction(photo, dice)?;
    let room = room(photo, (dx, dy));
    let idx = usize::from(step.number() - 1);
    let far = (photo.whole.width + photo.whole.height) as f32;
    let has_room = 0.03 * photo.shorter_side() <= room;
    let distance = match (idx, has_room) {
        (0..3, true) => room * (idx + 1) as f32 / 3.0,
        (0..3, false) => at_share(photo, (dx, dy), WITHOUT_ROOM[idx], far),
        _ => at_share(photo, (dx, dy), OUTSIDE[idx], far),
    };
    let (shift_x, shift_y) = (dx * distance, dy * distance);
    let (object, cover) = warp::object(photo, 1.0, |x, y| Some((x - shift_x, y - shift_y)));
    let canvas = photo.over_background(&object, &cover);
    // Easy steps have nothing outside: only the way they went tells them apart.
    let moved = distance / photo.shorter_side();
    Ok(Scene { canvas, object: cover, amount: f64::from(moved) })
}

/// Where it goes, as a vector of length one.
fn direction(photo: &Photo, dice: &mut Dice) -> Result<(f32, f32), Unfit> {
    let [left, top, right, bottom] = photo.bounds.touches;
    let (sign, wants_corner) = (dice.sign(), dice.chance(CORNER));
    let sideways = match (left, right) {
        (true, true) => 0.0,
        (true, false) => -1.0,
        (false, true) => 1.0,
        (false, false) => sign,
    };
    let down = match (top, bottom) {
        (true, true) => return only(sideways),
        (true, false) => -1.0,
        (false, _) => 1.0,
    };
    if sideways == 0.0 {
        return Ok((0.0, down));
    }
    if wants_corner && 0.0 < down {
        let part = std::f32::consts::FRAC_1_SQRT_2;
        return Ok((sideways * part, down * part));
    }
    only(sideways)
}

fn only(sideways: f32) -> Result<(f32, f32), Unfit> {
    if sideways == 0.0 { Err(Unfit::NoRoom) } else { Ok((sideways, 0.0)) }
}

/// How far it can go before it reaches the frame.
fn room(photo: &Photo, (dx, dy): (f32, f32)) -> f32 {
    let bounds = &photo.bounds;
    let until = |step: f32, before: f32, after: f32| match step {
        step if step < 0.0 => before / -step,
        step if 0.0 < step => after / step,
        _ => f32::MAX,
    };
    let x = until(dx, bounds.left, photo.whole.width as f32 - bounds.right);
    let y = until(dy, bounds.top, photo.whole.height as f32 - bounds.bottom);
    x.min(y).max(0.0)
}

/// How far it goes until this share of it is outside.
fn at_share(photo: &Photo, (dx, dy): (f32, f32), share: f32, far: f32) -> f32 {
    let (mut near, mut far) = (0.0, far);
    for _ in 0..20 {
        let middle = (near + far) * 0.5;
        if share_outside(&photo.cover, dx * middle, dy * middle) < share {
            near = middle;
        } else {
            far = middle;
        }
    }
    (near + far) * 0.5
}

fn share_outside(cover: &Field, shift_x: f32, shift_y: f32) -> f32 {
    let (dx, dy) = (lattice(shift_x), lattice(shift_y));
    let (width, height) = (cover.width.cast_signed(), cover.height.cast_signed());
    let (mut inside, mut all) = (0.0, 0.0);
    for (y, row) in cover.values.chunks_exact(cover.width).enumerate() {
        let is_row_inside = (0..height).contains(&(y.cast_signed() + dy));
        for (x, value) in row.iter().enumerate() {
            all += value;
            if is_row_inside && (0..width).contains(&(x.cast_signed() + dx)) {
                inside += value;
            }
        }
    }
    1.0 - inside / all.max(1e-6)
}
