//! Moving an object: every pixel of the new picture looks where it came from.

use super::Photo;
use crate::world::canvas::{Canvas, Field, lattice, whole};

/// Returns the object as it is seen when each place comes from `source`, with its colours
/// multiplied by its cover.
///
/// `shrink` says how many pixels of the photo fall on one of the new picture, along a side: several
/// are then looked at, so that fine detail does not break up.
pub(super) fn object(
    photo: &Photo,
    shrink: f32,
    source: impl Fn(f32, f32) -> Option<(f32, f32)>,
) -> (Canvas, Field) {
    let (width, height) = (photo.whole.width, photo.whole.height);
    let n = whole(shrink.ceil()).clamp(1, 8);
    let share = 1.0 / (n * n) as f32;
    let mut canvas = Canvas::filled(width, height, [0.0; 3]);
    let mut cover = Field::filled(width, height, 0.0);
    for y in 0..height {
        for x in 0..width {
            let (mut colour, mut sum) = ([0.0; 3], 0.0);
            for part in 0..n * n {
                let within = |idx: usize| (idx as f32 + 0.5) / n as f32;
                let place = source(x as f32 + within(part % n), y as f32 + within(part / n));
                let Some((from_x, from_y)) = place else { continue };
                let (seen, own) = sample(photo, from_x - 0.5, from_y - 0.5);
                colour = [0, 1, 2].map(|i| colour[i] + seen[i] * share);
                sum += own * share;
            }
            canvas.pixels[y * width + x] = colour;
            cover.values[y * width + x] = sum;
        }
    }
    (canvas, cover)
}

/// The object between pixels: colour times cover, and cover; outside the photo there is nothing.
fn sample(photo: &Photo, x: f32, y: f32) -> ([f32; 3], f32) {
    let (left, top) = (lattice(x), lattice(y));
    let (across, down) = (x - left as f32, y - top as f32);
    let (width, height) = (photo.whole.width.cast_signed(), photo.whole.height.cast_signed());
    let (mut colour, mut sum) = ([0.0; 3], 0.0);
    for (dx, dy) in [(0, 0), (1, 0), (0, 1), (1, 1)] {
        let (x, y) = (left + dx, top + dy);
        if x < 0 || y < 0 || width <= x || height <= y {
            continue;
        }
        let weight_x = if dx == 0 { 1.0 - across } else { across };
        let weight_y = if dy == 0 { 1.0 - down } else { down };
        let at = (y * width + x).unsigned_abs();
        let cover = photo.cover.values[at] * weight_x * weight_y;
        colour = [0, 1, 2].map(|i| colour[i] + photo.whole.pixels[at][i] * cover);
        sum += cover;
    }
    (colour, sum)
}
