//! The randomised fast gradient sign method (Tramèr et al. 2018): from a random corner at distance
//! α, which may lie outside ε, then steps of length α that are brought back to within ε.
//!
//! Where α is larger than ε, start and step cancel on about half of the pixels: a larger ε is
//! needed than for [`fgsm`](super::fgsm).

use super::climb::{Ball, Climb, Origin, Recipe};
use super::{Attack, pgd};

/// In L∞.
pub(super) const ATTACK: Attack = Attack {
    name: "rfgsm",
    also_called: &["r-fgsm", "rand-fgsm"],
    about: "from a random corner, then along the sign of the slope",
    settings: &["alpha", "steps", "restarts"],
    start: |start| {
        let usual = pgd::recipe(&start, Ball::Linf, 1);
        let recipe = Recipe { from: Origin::Corner(usual.alpha), ..usual };
        Climb::boxed(start.case, recipe, start.epsilon, start.luck)
    },
    ..pgd::ATTACK
};
