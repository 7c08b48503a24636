//! Size: the object shrinks where it stands.
//!
//! It keeps its foot, and at the left, the right or the bottom of the frame what cuts it off. One
//! that is cut off at the top cannot keep both: it would float or show its cut. How small it gets is
//! measured against the frame, as in the built-in world, so that steps of different photos compare.

use super::photo::Bounds;
use super::{Photo, Scene, Step, Unfit, warp};
use crate::world::canvas::whole;

/// Length of the object at the hardest step, as a share of the frame's shorter side.
const SMALLEST: f32 = 0.115;
/// An object that starts smaller has no easy steps.
const LEAST_START: f32 = 0.3;
/// Pixels of the shorter and the longer side below which nobody can tell what it is.
const LEAST_PIXELS: (f32, f32) = (8.0, 14.0);

pub(super) fn scene(photo: &Photo, step: Step) -> Result<Scene, Unfit> {
    let bounds = &photo.bounds;
    let [left, top, right, bottom] = bounds.touches;
    if (left && right) || (top && bottom) {
        return Err(Unfit::NoRoom);
    }
    if top {
        return Err(Unfit::CutAbove);
    }
    let start = bounds.longest() / photo.shorter_side();
    if start < LEAST_START {
        return Err(Unfit::Small(whole(start * 100.0)));
    }
    check_smallest(bounds, SMALLEST / start)?;
    let scale = (SMALLEST / start).powf(step.narrow());
    let x0 = match (left, right) {
        (true, _) => 0.0,
        (_, true) => photo.whole.width as f32,
        _ => bounds.centre().0,
    };
    let y0 = if bottom { photo.whole.height as f32 } else { bounds.bottom };
    let (object, cover) = warp::object(photo, 1.0 / scale, |x, y| {
        Some((x0 + (x - x0) / scale, y0 + (y - y0) / scale))
    });
    let canvas = photo.over_background(&object, &cover);
    Ok(Scene { canvas, object: cover, amount: f64::from(start * scale) })
}

/// A scale for all nine steps, or none: a ladder that stops half way is not one.
fn check_smallest(bounds: &Bounds, scale: f32) -> Result<(), Unfit> {
    let width = (bounds.right - bounds.left) * scale;
    let height = (bounds.bottom - bounds.top) * scale;
    let (shorter, longer) = (width.min(height), width.max(height));
    if shorter < LEAST_PIXELS.0 || longer < LEAST_PIXELS.1 {
        return Err(Unfit::Tiny(whole(width + 0.5), whole(height + 0.5)));
    }
    Ok(())
}
