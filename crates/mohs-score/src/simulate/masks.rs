//! Simulated drawings of object masks: the true outline, drawn by an unsteady hand.
//!
//! A drawing is the true mask shifted, grown or shrunk, with its outline displaced by a smooth
//! random wave. Careless participants draw a box somewhere else.

use mohs_data::{Annotation, Label, Mask, ParticipantId, Seed, StimulusId};

use crate::draw::Draw;
use crate::proportion::real;

/// How well people draw.
#[derive(Debug, Clone, PartialEq)]
pub struct Hand {
    /// Spread of shifts, in pixels.
    pub shift_px: f64,
    /// Spread of growing (positive) or shrinking, in pixels.
    pub growth_px: f64,
    /// Height of the wave along the outline, in pixels.
    pub wave_px: f64,
    /// Share of drawings that are boxes put anywhere.
    pub careless_share: f64,
}

const MASK: u64 = 60;

/// Draws a stimulus once for each of `n_participants`.
pub fn annotations(
    stimulus: &StimulusId,
    label: &Label,
    truth: &Mask,
    n_participants: usize,
    hand: &Hand,
    seed: Seed,
) -> Vec<Annotation> {
    // The stimulus is part of the key, so that drawings of different pictures differ.
    let key = stimulus
        .as_str()
        .bytes()
        .fold(0_u64, |key, byte| key.wrapping_mul(0x0100_0000_01b3).wrapping_add(u64::from(byte)));
    (0..n_participants)
        .map(|participant_idx| {
            let mut draw = Draw::new(seed, &[MASK, key, participant_idx as u64]);
            Annotation {
                stimulus: stimulus.clone(),
                participant: Some(ParticipantId::new(format!("p{:03}", participant_idx + 1))),
                label: label.clone(),
                mask: drawing(truth, hand, &mut draw),
                extra: Default::default(),
            }
        })
        .collect()
}

/// Returns one drawing of a mask.
fn drawing(truth: &Mask, hand: &Hand, draw: &mut Draw) -> Mask {
    let (height, width) = (truth.height(), truth.width());
    let bits = if draw.chance(hand.careless_share) {
        random_box(height, width, draw)
    } else {
        unsteady(truth, hand, draw)
    };
    Mask::from_bitmap(height, width, &bits).expect("because the bitmap has the mask's own size")
}

fn random_box(height: u32, width: u32, draw: &mut Draw) -> Vec<bool> {
    let mut side = |n: u32| {
        let start = draw.uniform() * 0.6 * f64::from(n);
        start..start + (0.1 + 0.3 * draw.uniform()) * f64::from(n)
    };
    let (rows, columns) = (side(height), side(width));
    (0..height)
        .flat_map(|y| (0..width).map(move |x| (y, x)))
        .map(|(y, x)| rows.contains(&f64::from(y)) && columns.contains(&f64::from(x)))
        .collect()
}

fn unsteady(truth: &Mask, hand: &Hand, draw: &mut Draw) -> Vec<bool> {
    let (height, width) = (truth.height() as usize, truth.width() as usize);
    let bits = truth.to_bitmap();
    let outside = distances(&bits, height, width, true);
    let inside = distances(&bits, height, width, false);
    let shift = (hand.shift_px * draw.normal(), hand.shift_px * draw.normal());
    let growth = hand.growth_px * draw.normal();
    // Three waves of random direction bend the outline without tearing it.
    let waves: Vec<(f64, f64, f64)> = (0..3)
        .map(|_| {
            let angle = std::f64::consts::TAU * draw.uniform();
            let length = 8.0 + 24.0 * draw.uniform();
            (angle.cos() / length, angle.sin() / length, std::f64::consts::TAU * draw.uniform())
        })
        .collect();
    let mut drawn = Vec::with_capacity(bits.len());
    for y in 0..height {
        for x in 0..width {
            let wave: f64 = waves
                .iter()
                .map(|(fx, fy, phase)| {
                    (std::f64::consts::TAU * (real(x) * fx + real(y) * fy) + phase).sin()
                })
                .sum::<f64>()
                * hand.wave_px
                / 3.0_f64.sqrt();
            let place = |at: usize, by: f64, n: usize| {
                let moved = (real(at) + by).round().clamp(0.0, real(n - 1));
                #[expect(
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    reason = "clamped to the picture"
                )]
                let moved = moved as usize;
                moved
            };
            let from = place(y, shift.1, height) * width + place(x, shift.0, width);
            let signed = if bits[from] { -inside[from] } else { outside[from] };
            drawn.push(signed <= growth + wave);
        }
    }
    drawn
}

/// Returns each pixel's distance to the object (`to_object`) or to the background, by two sweeps
/// over the picture (Borgefors 1986).
fn distances(bits: &[bool], height: usize, width: usize, to_object: bool) -> Vec<f64> {
    let far = real(height + width);
    let mut distance: Vec<f64> =
        bits.iter().map(|is_object| if *is_object == to_object { 0.0 } else { far }).collect();
    let diagonal = std::f64::consts::SQRT_2;
    let relax = |distance: &mut [f64], to: usize, from: usize, step: f64| {
        if distance[from] + step < distance[to] {
            distance[to] = distance[from] + step;
        }
    };
    for y in 0..height {
        for x in 0..width {
            let at = y * width + x;
            if 0 < x {
                relax(&mut distance, at, at - 1, 1.0);
            }
            if 0 < y {
                relax(&mut distance, at, at - width, 1.0);
                if 0 < x {
                    relax(&mut distance, at, at - width - 1, diagonal);
                }
                if x + 1 < width {
                    relax(&mut distance, at, at - width + 1, diagonal);
                }
            }
        }
    }
    for y in (0..height).rev() {
        for x in (0..width).rev() {
            let at = y * width + x;
            if x + 1 < width {
                relax(&mut distance, at, at + 1, 1.0);
            }
            if y + 1 < height {
                relax(&mut distance, at, at + width, 1.0);
                if x + 1 < width {
                    relax(&mut distance, at, at + width + 1, diagonal);
                }
                if 0 < x {
                    relax(&mut distance, at, at + width - 1, diagonal);
                }
            }
        }
    }
    distance
}

#[cfg(test)]
mod tests {
    use super::*;

    fn disc() -> Mask {
        let bits: Vec<bool> = (0..64 * 64)
            .map(|idx| {
                let (y, x) = (f64::from(idx / 64) - 30.0, f64::from(idx % 64) - 34.0);
                y * y + x * x < 225.0
            })
            .collect();
        Mask::from_bitmap(64, 64, &bits).unwrap()
    }

    fn iou(a: &Mask, b: &Mask) -> f64 {
        let (a, b) = (a.to_bitmap(), b.to_bitmap());
        let n = |is: &dyn Fn(bool, bool) -> bool| {
            real(a.iter().zip(&b).filter(|(a, b)| is(**a, **b)).count())
        };
        n(&|a, b| a && b) / n(&|a, b| a || b)
    }

    fn drawn(hand: &Hand) -> Vec<f64> {
        let truth = disc();
        let (id, label) = (StimulusId::new("s"), Label::new("disc"));
        let drawings = annotations(&id, &label, &truth, 40, hand, Seed(2));
        drawings.iter().map(|drawing| iou(&drawing.mask, &truth)).collect()
    }

    const STEADY: Hand = Hand { shift_px: 0.0, growth_px: 0.0, wave_px: 0.0, careless_share: 0.0 };

    #[test]
    fn a_perfect_hand_draws_the_truth() {
        assert!(drawn(&STEADY).iter().all(|iou| (iou - 1.0).abs() < 1e-12));
    }

    #[test]
    fn a_less_steady_hand_draws_worse() {
        let mean = |hand: &Hand| drawn(hand).iter().sum::<f64>() / 40.0;
        let good = mean(&Hand { shift_px: 0.7, growth_px: 0.7, wave_px: 0.7, ..STEADY });
        let poor = mean(&Hand { shift_px: 3.0, growth_px: 2.0, wave_px: 2.0, ..STEADY });
        assert!(0.8 < good && good < 1.0 && poor + 0.05 < good && 0.4 < poor, "{good} {poor}");
    }

    #[test]
    fn careless_boxes_miss_the_object() {
        let ious = drawn(&Hand { careless_share: 1.0, ..STEADY });
        assert!(ious.iter().sum::<f64>() / 40.0 < 0.4);
    }
}
