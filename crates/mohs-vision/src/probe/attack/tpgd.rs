//! Projected gradient descent on the divergence from the model's own answer (Zhang et al. 2019,
//! TRADES): labels are not used, so there is nothing to aim at.

use super::climb::{Ball, Climb, Origin, Recipe, What, softmax};
use super::{Attack, Loss, pgd};

/// The spread of the noise at the start.
const SD: f32 = 0.001;

/// In L∞.
pub(super) const ATTACK: Attack = Attack {
    name: "tpgd",
    also_called: &["trades-pgd"],
    about: "PGD away from the model's own answer, without labels",
    is_targetable: false,
    settings: &["alpha", "steps", "restarts"],
    start: |start| {
        let what = What::Plain(Loss::Divergence(softmax(&start.case.clean)));
        let usual = pgd::recipe(&start, Ball::Linf, 1);
        let recipe = Recipe { from: Origin::Noise(SD), what, ..usual };
        Climb::boxed(start.case, recipe, start.epsilon, start.luck)
    },
    ..pgd::ATTACK
};
