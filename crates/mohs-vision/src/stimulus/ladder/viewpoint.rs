//! Viewpoint: the object as a flat picture seen from the side, from above or from below, by a
//! homography, up to almost edge-on.
//!
//! What a photo does not show stays unknown: no hidden side comes into view, and the background
//! stays where it is.

use super::{Photo, Scene, Step, Unfit, warp};
use crate::world::dice::Dice;

/// The largest tilt, in radians: what the built-in world has.
const LARGEST: f32 = 1.25;
/// Distance of the eye, in lengths of the object: a photo across a table.
const DISTANCE: f32 = 2.2;

pub(super) fn scene(photo: &Photo, step: Step, dice: &mut Dice) -> Result<Scene, Unfit> {
    if photo.bounds.is_cut_off() {
        return Err(Unfit::CutOff);
    }
    let tilt = LARGEST * step.narrow().powf(0.85);
    let (yaw_sign, pitch_sign) = (dice.sign(), dice.sign());
    let (yaw, pitch) = match dice.below(4) {
        0 | 1 => (yaw_sign * tilt, 0.0),
        2 => (0.0, pitch_sign * tilt),
        _ => (yaw_sign * tilt * 0.8, pitch_sign * tilt * 0.55),
    };
    let (cx, cy) = photo.bounds.centre();
    let eye = DISTANCE * photo.bounds.longest();
    let Some(back) = inverse(&homography(yaw, pitch, eye)) else { return Err(Unfit::Gone) };
    let shrink = 1.0 / (yaw.cos() * pitch.cos()).max(0.15);
    let (object, cover) = warp::object(photo, shrink.sqrt(), |x, y| {
        let [u, v, w] = multiplied(&back, [x - cx, y - cy, 1.0]);
        // Behind the eye there is nothing.
        (1e-6 < w).then(|| (cx + u / w, cy + v / w))
    });
    let canvas = photo.over_background(&object, &cover);
    Ok(Scene { canvas, object: cover, amount: f64::from(tilt.to_degrees()) })
}

type Matrix = [[f32; 3]; 3];

/// From places on the flat object to places in the picture, both around its centre.
///
/// # Formula
///
/// ```text
/// (x, y, z) = Ry(yaw) · Rx(pitch) · (u, v, 0)
/// (x', y')  = eye · (x, y) / (eye + z)
/// ```
fn homography(yaw: f32, pitch: f32, eye: f32) -> Matrix {
    let (sy, cy) = yaw.sin_cos();
    let (sp, cp) = pitch.sin_cos();
    [[eye * cy, eye * sy * sp, 0.0], [0.0, eye * cp, 0.0], [-sy, cy * sp, eye]]
}

/// Returns the inverse up to a positive factor, which a homography does not mind.
fn inverse(m: &Matrix) -> Option<Matrix> {
    let minor = |r: usize, c: usize| {
        let (r1, r2, c1, c2) = ((r + 1) % 3, (r + 2) % 3, (c + 1) % 3, (c + 2) % 3);
        m[r1][c1] * m[r2][c2] - m[r1][c2] * m[r2][c1]
    };
    let determinant = (0..3).map(|c| m[0][c] * minor(0, c)).sum::<f32>();
    if determinant.abs() < 1e-6 {
        return None;
    }
    let at = |r: usize, c: usize| minor(c, r) / determinant;
    Some([0, 1, 2].map(|r| [0, 1, 2].map(|c| at(r, c))))
}

fn multiplied(m: &Matrix, v: [f32; 3]) -> [f32; 3] {
    [0, 1, 2].map(|r| m[r][0] * v[0] + m[r][1] * v[1] + m[r][2] * v[2])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_and_back_is_where_it_was() {
        let there = homography(0.9, -0.4, 200.0);
        let back = inverse(&there).unwrap();
        for (u, v) in [(0.0, 0.0), (30.0, -50.0), (-80.0, 20.0)] {
            let [x, y, w] = multiplied(&there, [u, v, 1.0]);
            let [a, b, c] = multiplied(&back, [x / w, y / w, 1.0]);
            assert!((a / c - u).abs() < 1e-2 && (b / c - v).abs() < 1e-2, "{u} {v}");
        }
    }

    #[test]
    fn straight_on_nothing_changes_and_the_far_side_is_smaller() {
        let [x, y, w] = multiplied(&homography(0.0, 0.0, 100.0), [7.0, -3.0, 1.0]);
        assert!((x / w - 7.0).abs() < 1e-4 && (y / w + 3.0).abs() < 1e-4);
        let turned = homography(0.8, 0.0, 100.0);
        let length = |u: f32| {
            let [x, _, w] = multiplied(&turned, [u, 0.0, 1.0]);
            (x / w).abs()
        };
        assert!((length(40.0) - length(-40.0)).abs() > 1.0);
    }
}
