//! The basic iterative method (Kurakin et al. 2017): step by step from the picture, brought back by
//! comparing with the bounds. Older versions derive the number of steps from ε, which is none at
//! all below 0.0032.

use super::climb::{Ball, Climb, Origin, Recipe};
use super::{Attack, pgd};

/// In L∞.
pub(super) const ATTACK: Attack = Attack {
    name: "bim",
    also_called: &["i-fgsm", "ifgsm", "linfbasiciterative"],
    about: "step by step from the picture along the sign of the slope",
    is_random: false,
    settings: &["alpha", "steps"],
    start: |start| {
        let recipe = Recipe { from: Origin::Picture, ..pgd::recipe(&start, Ball::LinfByBounds, 1) };
        Climb::boxed(start.case, recipe, start.epsilon, start.luck)
    },
    ..pgd::ATTACK
};
