//! Projected gradient descent on the expectation over a random model (Liu et al. 2019): slopes of
//! several passes are put together at each step.
//!
//! A model without randomness gives the same slope every time, and the sum has the same signs: one
//! pass is then enough, and the attack is [`pgd`](super::pgd) with its own settings.

use super::climb::{Ball, Climb};
use super::{Attack, pgd};

/// In L∞.
pub(super) const ATTACK: Attack = Attack {
    name: "eotpgd",
    also_called: &["eot-pgd"],
    about: "PGD with slopes put together over the randomness of the model",
    settings: &["alpha", "steps", "random_start", "eot", "restarts"],
    start: |start| {
        let passes = if start.case.is_model_random { start.settings.eot } else { 1 };
        let recipe = pgd::recipe(&start, Ball::Linf, passes);
        Climb::boxed(start.case, recipe, start.epsilon, start.luck)
    },
    ..pgd::ATTACK
};
