//! Size: the object shrinks where it stands.
//!
//! It keeps its foot, or the side of the frame that cuts it off. How small it gets is measured
//! against the frame, as in the built-in world, so that steps of different photos compare.

use super::{Photo, Scene, Step, Unfit, warp};

/// Length of the object at the hardest step, as a share of the frame's shorter side.
const SMALLEST: f32 = 0.115;
/// An object that starts smaller has no easy steps.
const LEAST_START: f32 = 0.3;

pub(super) fn scene(photo: &Photo, step: Step) -> Result<Scene, Unfit> {
    let bounds = &photo.bounds;
    let [left, top, right, bottom] = bounds.touches;
    if (left && right) || (top && bottom) {
        return Err(Unfit::NoRoom);
    }
    let start = bounds.longest() / photo.shorter_side();
    if start < LEAST_START {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a percentage"
        )]
        return Err(Unfit::Small((start * 100.0) as u32));
    }
    let scale = (SMALLEST / start).powf(step.narrow());
    let fixed = |at_start: bool, at_end: bool, otherwise: f32, side: usize| match (at_start, at_end)
    {
        (true, _) => 0.0,
        (_, true) => side as f32,
        _ => otherwise,
    };
    let x0 = fixed(left, right, bounds.centre().0, photo.whole.width);
    let y0 = fixed(top, bottom, bounds.bottom, photo.whole.height);
    let (object, cover) = warp::object(photo, 1.0 / scale, |x, y| {
        Some((x0 + (x - x0) / scale, y0 + (y - y0) / scale))
    });
    let canvas = photo.over_background(&object, &cover);
    Ok(Scene { canvas, object: cover, amount: f64::from(start * scale) })
}
