//! Rotation: the object turns in the picture plane, up to upside down.
//!
//! An object that would not fit in the frame when turned is shrunk and moved, the same at all nine
//! steps, so that only its angle differs between them.

use super::{Photo, Scene, Step, Unfit, warp};
use crate::world::dice::Dice;

pub(super) fn scene(photo: &Photo, step: Step, dice: &mut Dice) -> Result<Scene, Unfit> {
    if photo.bounds.is_cut_off() {
        return Err(Unfit::CutOff);
    }
    let (cx, cy) = photo.bounds.centre();
    let width = photo.whole.width;
    let radius = photo
        .cover
        .values
        .iter()
        .enumerate()
        .filter(|(_, cover)| 0.5 <= **cover)
        .map(|(i, _)| ((i % width) as f32 + 0.5 - cx).hypot((i / width) as f32 + 0.5 - cy))
        .fold(0.0, f32::max);
    let half = photo.shorter_side() * 0.5;
    let scale = (half * 0.98 / radius.max(1.0)).min(1.0);
    let inside = |centre: f32, side: usize| {
        let reach = (radius * scale).min(side as f32 * 0.5);
        centre.clamp(reach, side as f32 - reach)
    };
    let (to_x, to_y) = (inside(cx, width), inside(cy, photo.whole.height));
    let angle = dice.sign() * step.narrow().powf(1.2) * std::f32::consts::PI;
    let (sin, cos) = angle.sin_cos();
    let (object, cover) = warp::object(photo, 1.0 / scale, |x, y| {
        let (u, v) = ((x - to_x) / scale, (y - to_y) / scale);
        Some((cx + cos * u + sin * v, cy - sin * u + cos * v))
    });
    let canvas = photo.over_background(&object, &cover);
    Ok(Scene { canvas, object: cover, amount: f64::from(angle.abs().to_degrees()) })
}
