//! The momentum iterative fast gradient sign method (Dong et al. 2018): directions add up, each
//! slope first divided by its mean size.

use super::climb::{Ball, Climb, Origin, Recipe};
use super::{Attack, pgd};

/// In L∞.
pub(super) const ATTACK: Attack = Attack {
    name: "mifgsm",
    also_called: &["mi-fgsm"],
    about: "step by step from the picture, with momentum",
    is_random: false,
    settings: &["alpha", "steps", "decay"],
    start: |start| {
        #[expect(clippy::cast_possible_truncation, reason = "pixels have 32 bits")]
        let decay = Some(start.settings.decay as f32);
        let recipe = Recipe { from: Origin::Picture, decay, ..pgd::recipe(&start, Ball::Linf, 1) };
        Climb::boxed(start.case, recipe, start.epsilon, start.luck)
    },
    ..pgd::ATTACK
};
