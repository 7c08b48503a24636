//! Noise to make textures from: smooth noise, its sum over octaves, and cells.

use super::canvas::lattice;

/// Returns a number in `[0, 1)` that depends on a lattice point and a seed, and looks random.
#[inline]
pub(crate) fn speck(x: isize, y: isize, seed: u32) -> f32 {
    (scramble(x, y, seed) >> 8) as f32 / 16_777_216.0
}

#[inline]
fn scramble(x: isize, y: isize, seed: u32) -> u32 {
    let low = |n: isize| u32::from_le_bytes(first_four(n.to_le_bytes()));
    let mut h =
        seed ^ low(x).wrapping_mul(0x9E37_79B1) ^ low(y).wrapping_mul(0x85EB_CA77).rotate_left(13);
    h = (h ^ (h >> 15)).wrapping_mul(0x2C1B_3C6D);
    h = (h ^ (h >> 12)).wrapping_mul(0x297A_2D39);
    h ^ (h >> 15)
}

fn first_four(bytes: [u8; size_of::<isize>()]) -> [u8; 4] {
    [bytes[0], bytes[1], bytes[2], bytes[3]]
}

/// Returns smooth noise in `[0, 1]` with features of about one unit.
pub(crate) fn smooth(x: f32, y: f32, seed: u32) -> f32 {
    let (x0, y0) = (lattice(x), lattice(y));
    let ease = |t: f32| t * t * (3.0 - 2.0 * t);
    let (fx, fy) = (ease(x - x0 as f32), ease(y - y0 as f32));
    let top = speck(x0, y0, seed) * (1.0 - fx) + speck(x0 + 1, y0, seed) * fx;
    let bottom = speck(x0, y0 + 1, seed) * (1.0 - fx) + speck(x0 + 1, y0 + 1, seed) * fx;
    top * (1.0 - fy) + bottom * fy
}

/// Returns noise in `[0, 1]` with detail at several scales, each half as large and half as strong.
pub(crate) fn cloud(x: f32, y: f32, n_octaves: u32, seed: u32) -> f32 {
    let (mut sum, mut weight, mut total, mut frequency) = (0.0, 1.0, 0.0, 1.0);
    for octave in 0..n_octaves {
        sum += weight * smooth(x * frequency, y * frequency, seed.wrapping_add(octave * 0x51ED));
        total += weight;
        weight *= 0.5;
        frequency *= 2.03;
    }
    sum / total
}

/// The cell of a cellular pattern that a point lies in.
pub(crate) struct Cell {
    /// Distance to the centre of the cell.
    pub(crate) to_centre: f32,
    /// How much nearer the centre is than the next one; zero on a border.
    pub(crate) to_border: f32,
    /// A number in `[0, 1)` that is the same all over the cell.
    pub(crate) tone: f32,
}

/// Returns the cell at a point; cells are about one unit wide, `wobble` in `[0, 1]` shifts centres.
pub(crate) fn cell(x: f32, y: f32, wobble: f32, seed: u32) -> Cell {
    let (x0, y0) = (lattice(x), lattice(y));
    let (mut nearest, mut second, mut tone) = (9.0_f32, 9.0_f32, 0.0);
    for j in -1..=1 {
        for i in -1..=1 {
            let (cx, cy) = (x0 + i, y0 + j);
            let dx = cx as f32 + 0.5 + wobble * (speck(cx, cy, seed) - 0.5) - x;
            let dy = cy as f32 + 0.5 + wobble * (speck(cx, cy, seed ^ 0xABCD) - 0.5) - y;
            let distance = (dx * dx + dy * dy).sqrt();
            if distance < nearest {
                second = nearest;
                nearest = distance;
                tone = speck(cx, cy, seed ^ 0x1357);
            } else if distance < second {
                second = distance;
            }
        }
    }
    Cell { to_centre: nearest, to_border: second - nearest, tone }
}
