//! What does not belong into a hole: colours that are nowhere at its rim.
//!
//! A coin was taken away from a dark cloth, and other coins lie on it. Nothing at the rim says that
//! there was a second one behind it, so patches with colours of a coin cost more than plain cloth.

use super::patches::{REACH, Texel};

/// How far from the hole the rim reaches, in pixels.
const RIM: usize = 4;
/// A colour is at the rim when it takes one in so many of its pixels: a leg of a tripod does not.
const RARE: usize = 300;
/// Levels of a channel that are told apart.
const LEVELS: usize = 16;
/// What a strange colour costs, beside one that differs by as much.
const COST: f32 = 0.5;

/// The colours at the rim of a hole.
pub(super) struct Rim {
    /// How far each cell of colours is from the nearest at the rim, squared.
    distances: Vec<f32>,
}

impl Rim {
    pub(super) fn new(texels: &[Texel], hole: &[bool], width: usize, height: usize) -> Rim {
        let is_hole: Vec<f32> = hole.iter().map(|is_hole| f32::from(u8::from(*is_hole))).collect();
        let near = boxed(&is_hole, width, height, RIM);
        let mut counts = vec![0_usize; LEVELS * LEVELS * LEVELS];
        for (at, texel) in texels.iter().enumerate() {
            if !hole[at] && 0.0 < near[at] {
                counts[cell(texel)] += 1;
            }
        }
        let least = (counts.iter().sum::<usize>() / RARE).max(1);
        let is_there: Vec<bool> = counts.iter().map(|n| least <= *n).collect();
        Rim { distances: distances(&is_there) }
    }

    /// Returns for each place what a patch around it costs: the mean squared distance of its
    /// colours to the nearest colour at the rim.
    pub(super) fn strange(&self, texels: &[Texel], width: usize, height: usize) -> Vec<f32> {
        let own: Vec<f32> = texels.iter().map(|texel| COST * self.distances[cell(texel)]).collect();
        boxed(&own, width, height, REACH)
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "one of few levels")]
fn cell(texel: &Texel) -> usize {
    let level = |channel: f32| (channel.clamp(0.0, 0.999) * LEVELS as f32) as usize;
    (level(texel[0]) * LEVELS + level(texel[1])) * LEVELS + level(texel[2])
}

/// The squared distance of each cell to the nearest that is set, axis by axis.
fn distances(is_set: &[bool]) -> Vec<f32> {
    let mut distances: Vec<f32> =
        is_set.iter().map(|is_set| if *is_set { 0.0 } else { f32::MAX }).collect();
    for stride in [1, LEVELS, LEVELS * LEVELS] {
        let before = distances.clone();
        for (at, distance) in distances.iter_mut().enumerate() {
            let own = at / stride % LEVELS;
            for other in 0..LEVELS {
                let steps = own.abs_diff(other) as f32 / LEVELS as f32;
                let there = at - own * stride + other * stride;
                *distance = distance.min(before[there] + steps * steps);
            }
        }
    }
    // Nothing at the rim is no reason against anything.
    let unknown = |distance: &f32| if *distance < f32::MAX { *distance } else { 0.0 };
    distances.iter().map(unknown).collect()
}

/// Means over squares, as far as they are inside the frame.
fn boxed(values: &[f32], width: usize, height: usize, reach: usize) -> Vec<f32> {
    let along = |values: &[f32], n: usize, stride: usize, at: usize| {
        let own = at / stride % n;
        let (from, to) = (own.saturating_sub(reach), (own + reach).min(n - 1));
        let first = at - own * stride;
        (from..=to).map(|i| values[first + i * stride]).sum::<f32>() / (to - from + 1) as f32
    };
    let rows: Vec<f32> = (0..values.len()).map(|at| along(values, width, 1, at)).collect();
    (0..rows.len()).map(|at| along(&rows, height, width, at)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_nowhere_at_the_rim_costs_and_what_is_there_does_not() {
        // Dark cloth with a hole in it, and a bright coin further away.
        let (width, height) = (60, 30);
        let is_coin =
            |at: usize| (40..55).contains(&(at % width)) && (8..22).contains(&(at / width));
        let is_hole =
            |at: usize| (8..22).contains(&(at % width)) && (8..22).contains(&(at / width));
        let texel =
            |at: usize| if is_coin(at) { [0.8, 0.8, 0.8, 0.0] } else { [0.2, 0.2, 0.2, 0.0] };
        let texels: Vec<Texel> = (0..width * height).map(texel).collect();
        let hole: Vec<bool> = (0..width * height).map(is_hole).collect();
        let strange = Rim::new(&texels, &hole, width, height).strange(&texels, width, height);
        assert!(0.1 < strange[15 * width + 47]);
        assert!(strange[15 * width + 30] < 1e-6);
    }
}
