//! How well a filled hole hides: the step across its outline, beside the steps that are usual there.
//!
//! It sees outlines, not sense: a fill that goes on smoothly and shows nonsense passes.

use crate::world::canvas::Canvas;

/// How far outside the outline steps are usual, in pixels.
const AROUND: isize = 12;
/// Steps below this are not seen: half a grey level.
const UNSEEN: f32 = 0.5 / 255.0;

/// Returns the median step across the outline of a hole divided by the median step just outside it.
///
/// About one is invisible. Steps are taken between neighbours of a picture blurred by about one
/// pixel, because a single pixel of noise is no outline. A hole without an outline has no seam: 0.
pub(in crate::stimulus::ladder) fn ratio(picture: &Canvas, hole: &[bool]) -> f32 {
    let (width, height) = (picture.width, picture.height);
    let soft = softened(picture);
    let near = near(hole, width, height);
    let (mut across, mut usual) = (Vec::new(), Vec::new());
    for at in 0..hole.len() {
        let (x, y) = (at % width, at / width);
        for (there, is_inside) in [(at + 1, x + 1 < width), (at + width, y + 1 < height)] {
            if !is_inside {
                continue;
            }
            let step = (0..3).map(|c| (soft[at][c] - soft[there][c]).abs()).sum::<f32>() / 3.0;
            if hole[at] != hole[there] {
                across.push(step);
            } else if !hole[at] && near[at] && near[there] {
                usual.push(step);
            }
        }
    }
    match (median(across), median(usual)) {
        (Some(across), Some(usual)) => across.max(UNSEEN) / usual.max(UNSEEN),
        _ => 0.0,
    }
}

fn median(mut steps: Vec<f32>) -> Option<f32> {
    let middle = steps.len() / 2;
    if steps.is_empty() {
        return None;
    }
    let (_, median, _) = steps.select_nth_unstable_by(middle, f32::total_cmp);
    Some(*median)
}

/// Two passes of 1-2-1 along rows and columns: a blur of one pixel.
fn softened(picture: &Canvas) -> Vec<[f32; 3]> {
    let mut soft = picture.clone();
    for (dx, dy) in [(1, 0), (0, 1), (1, 0), (0, 1)] {
        let before = soft.clone();
        for (at, pixel) in soft.pixels.iter_mut().enumerate() {
            let (x, y) = ((at % before.width).cast_signed(), (at / before.width).cast_signed());
            let (one, own, other) = (before.at(x - dx, y - dy), *pixel, before.at(x + dx, y + dy));
            *pixel = [0, 1, 2].map(|c| 0.25 * one[c] + 0.5 * own[c] + 0.25 * other[c]);
        }
    }
    soft.pixels
}

/// Places at most [`AROUND`] from the hole, along rows and columns.
fn near(hole: &[bool], width: usize, height: usize) -> Vec<bool> {
    let spread = |from: &[bool], n: usize, stride: usize, n_lines: usize, next: usize| {
        let mut wide = vec![false; from.len()];
        for line in 0..n_lines {
            let mut last = isize::MIN / 2;
            let at = |i: usize| line * next + i * stride;
            for i in 0..n {
                last = if from[at(i)] { i.cast_signed() } else { last };
                wide[at(i)] = i.cast_signed() - last <= AROUND;
            }
            last = isize::MAX / 2;
            for i in (0..n).rev() {
                last = if from[at(i)] { i.cast_signed() } else { last };
                wide[at(i)] |= last - i.cast_signed() <= AROUND;
            }
        }
        wide
    };
    let rows = spread(hole, width, 1, height, width);
    spread(&rows, height, width, width, 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A slope with a square in it that is `off` too bright.
    fn slope(off: f32) -> (Canvas, Vec<bool>) {
        let side = 64;
        let is_hole =
            |at: usize| (20..44).contains(&(at % side)) && (20..44).contains(&(at / side));
        let mut canvas = Canvas::filled(side, side, [0.0; 3]);
        for (at, pixel) in canvas.pixels.iter_mut().enumerate() {
            let slope = (at % side + at / side) as f32 * 0.005;
            *pixel = [slope + if is_hole(at) { off } else { 0.0 }; 3];
        }
        (canvas, (0..side * side).map(is_hole).collect())
    }

    #[test]
    fn what_goes_on_has_a_ratio_of_one_and_a_patch_of_another_tone_more() {
        let seam = |off: f32| {
            let (canvas, hole) = slope(off);
            ratio(&canvas, &hole)
        };
        assert!((seam(0.0) - 1.0).abs() < 0.05, "{}", seam(0.0));
        assert!(4.0 < seam(0.1), "{}", seam(0.1));
    }

    #[test]
    fn nothing_to_see_is_no_seam() {
        let flat = Canvas::filled(32, 32, [0.5; 3]);
        assert!(ratio(&flat, &[false; 1024]) < 1e-6);
        let hole: Vec<bool> = (0..1024).map(|at| at < 512).collect();
        assert!((ratio(&flat, &hole) - 1.0).abs() < 1e-6);
    }
}
