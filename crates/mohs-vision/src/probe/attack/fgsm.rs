//! The fast gradient sign method (Goodfellow et al. 2015): one step of length ε from the picture
//! along the sign of the slope, which is the same for every ε. In L2 the step goes along the slope.
//!
//! With more than one step, each goes ε further: that is how the study of viewing time corrects
//! pictures that a model gets wrong.

use mohs_data::Norm;

use super::climb::{Ball, Climb, Origin, Recipe};
use super::{Attack, Run, Start, pgd};

/// In L∞.
pub(super) const ATTACK: Attack = Attack {
    name: "fgsm",
    also_called: &["linffastgradient", "fast-gradient-sign"],
    about: "one step along the sign of the slope",
    is_random: false,
    settings: &["steps"],
    start: |start| begin(start, Ball::Linf),
    ..pgd::ATTACK
};

/// In L2.
pub(super) const ATTACK_L2: Attack = Attack {
    name: "fgsm-l2",
    also_called: &["fgsml2", "fgm", "l2fastgradient"],
    norm: Norm::L2,
    about: "one step along the slope, in L2",
    start: |start| begin(start, Ball::L2),
    ..ATTACK
};

fn begin(start: Start<'_>, ball: Ball) -> Box<dyn Run> {
    let steps = start.settings.steps.at(start.epsilon);
    // What several steps may add up to; one step cannot be held back.
    #[expect(clippy::cast_precision_loss, reason = "there are few steps")]
    let within = start.epsilon * steps.max(1) as f64;
    #[expect(clippy::cast_possible_truncation, reason = "pixels have 32 bits")]
    let alpha = start.epsilon as f32;
    let usual = pgd::recipe(&start, ball, 1);
    let recipe = Recipe { from: Origin::Picture, alpha, steps_by_epsilon: true, ..usual };
    Climb::boxed(start.case, recipe, within, start.luck)
}
