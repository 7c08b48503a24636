//! Projected gradient descent (Madry et al. 2018): from a random place within ε, step by step up
//! the cross entropy. Its form in L2 takes steps along the slope and shortens the whole change.

use mohs_data::Norm;

use super::climb::{Ball, Climb, Origin, Recipe, What, loss_of};
use super::{Attack, Kind, Run, Start};

/// In L∞.
pub(super) const ATTACK: Attack = Attack {
    name: "pgd",
    also_called: &["pgd-linf", "linfpgd", "linfprojectedgradientdescent"],
    norm: Norm::Linf,
    about: "projected gradient descent from a random start",
    kind: Kind::WhiteBox,
    is_targetable: true,
    is_random: true,
    comes_and_goes: false,
    settings: &["alpha", "steps", "random_start", "restarts"],
    start: |start| begin(start, Ball::Linf),
};

/// In L2.
pub(super) const ATTACK_L2: Attack = Attack {
    name: "pgd-l2",
    also_called: &["pgdl2", "l2pgd", "l2projectedgradientdescent"],
    norm: Norm::L2,
    about: "projected gradient descent in L2",
    start: |start| begin(start, Ball::L2),
    ..ATTACK
};

fn begin(start: Start<'_>, ball: Ball) -> Box<dyn Run> {
    Climb::boxed(start.case, recipe(&start, ball, 1), start.epsilon, start.luck)
}

/// How it climbs, putting this many slopes together at each step.
#[expect(clippy::cast_possible_truncation, reason = "pixels have 32 bits")]
pub(super) fn recipe(start: &Start<'_>, ball: Ball, passes: usize) -> Recipe {
    let settings = start.settings;
    Recipe {
        from: if settings.random_start { Origin::Within } else { Origin::Picture },
        alpha: settings.alpha as f32,
        steps: settings.steps.at(start.epsilon),
        decay: None,
        smoothing: None,
        diversity: None,
        what: What::Plain(loss_of(settings.loss)),
        passes,
        ball,
        steps_by_epsilon: false,
    }
}
