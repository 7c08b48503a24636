//! "Ultimate" projected gradient descent, as torchattacks calls it: momentum, a choice of losses
//! and of starts. With its usual settings it is [`mifgsm`](super::mifgsm) with more steps.

use super::climb::{Ball, Climb, Recipe};
use super::{Attack, pgd};

/// In L∞.
pub(super) const ATTACK: Attack = Attack {
    name: "upgd",
    also_called: &[],
    about: "PGD with momentum and a choice of losses",
    is_random: false,
    settings: &["alpha", "steps", "random_start", "decay", "eot", "loss", "restarts"],
    start: |start| {
        let passes = if start.case.is_model_random { start.settings.eot } else { 1 };
        #[expect(clippy::cast_possible_truncation, reason = "pixels have 32 bits")]
        let decay = Some(start.settings.decay as f32);
        let recipe = Recipe { decay, ..pgd::recipe(&start, Ball::Linf, passes) };
        Climb::boxed(start.case, recipe, start.epsilon, start.luck)
    },
    ..pgd::ATTACK
};
