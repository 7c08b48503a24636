//! The fast gradient sign method from a random start (Wong et al. 2020): one step of length α,
//! brought back to within ε.

use super::climb::{Ball, Climb, Origin, Recipe};
use super::{Attack, pgd};

/// In L∞.
pub(super) const ATTACK: Attack = Attack {
    name: "ffgsm",
    also_called: &["fast-fgsm"],
    about: "one step from a random start",
    // A step much longer than ε overshoots, and the margin falls, rises and falls again.
    comes_and_goes: true,
    settings: &["alpha", "restarts"],
    start: |start| {
        let usual = pgd::recipe(&start, Ball::Linf, 1);
        let recipe = Recipe { from: Origin::Within, steps: 1, ..usual };
        Climb::boxed(start.case, recipe, start.epsilon, start.luck)
    },
    ..pgd::ATTACK
};
