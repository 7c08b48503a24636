//! Jitter (Schwinn et al. 2021): up the squared distance of noisy, rescaled shares from the label;
//! once the model is wrong, up that distance per size of the change.

use super::climb::{Ball, Climb, Recipe, What};
use super::{Attack, norm, pgd};

/// In L∞.
pub(super) const ATTACK: Attack = Attack {
    name: "jitter",
    also_called: &[],
    about: "PGD on noisy, rescaled answers",
    comes_and_goes: true,
    settings: &["alpha", "steps", "random_start", "scale", "sd", "restarts"],
    start: |start| {
        #[expect(clippy::cast_possible_truncation, reason = "models compute with 32 bits")]
        let what =
            What::Jitter { scale: start.settings.scale as f32, sd: start.settings.sd as f32 };
        let recipe = Recipe { what, ..pgd::recipe(&start, Ball::Linf, 1) };
        Climb::boxed(start.case, recipe, start.epsilon, start.luck)
    },
    ..pgd::ATTACK
};

/// Turns the slope of a loss `L` into that of `L / r`, where `r` is the largest change:
/// `∇L / r − L / r² · ∇r`. Pixels that share the largest change share its slope.
pub(super) fn per_change(x: &[f32], z: &[f32], loss: f32, slope: &mut [f32]) {
    let largest = norm::linf_distance(x, z);
    if largest <= 0.0 {
        return;
    }
    #[expect(clippy::float_cmp, reason = "those that made the largest are equal to it")]
    let is_largest = |x: f32, z: f32| (z - x).abs() == largest;
    let n = x.iter().zip(z).filter(|(x, z)| is_largest(**x, **z)).count();
    #[expect(clippy::cast_precision_loss, reason = "pictures have fewer than 2^24 numbers")]
    let share = loss / (largest * largest) / n as f32;
    for ((slope, &x), &z) in slope.iter_mut().zip(x).zip(z) {
        *slope /= largest;
        if is_largest(x, z) {
            *slope -= share * norm::sign(z - x);
        }
    }
}
