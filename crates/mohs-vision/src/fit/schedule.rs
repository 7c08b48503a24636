//! Schedules: the learning rate of each step.
//!
//! ```text
//! warm-up    rate · (s + 1) / W                                  while s < W
//! constant   rate
//! step       rate · gammaᵏ                                       k milestones are behind
//! cosine     rate · (floor + (1 − floor) · ½ (1 + cos(π (s − W) / (S − W))))
//! ```
//!
//! `s` counts steps from 0, `W` is the number of steps of warm-up, `S` that of all steps. A
//! milestone is behind once that many epochs are over.

use mohs_data::training::{Schedule, ScheduleKind};

/// Returns the learning rate of step `step` (from 0), with `n_per_epoch` steps in each of `n_epochs`.
pub fn rate(how: &Schedule, rate: f64, step: u64, n_per_epoch: u64, n_epochs: u32) -> f64 {
    let n_per_epoch = n_per_epoch.max(1);
    let (at, per_epoch) = (real(step), real(n_per_epoch));
    let n_warm = (how.warm_up * per_epoch).round();
    if at < n_warm {
        return rate * (at + 1.0) / n_warm;
    }
    match how.kind {
        ScheduleKind::Constant => rate,
        ScheduleKind::Step => {
            let epoch = step / n_per_epoch;
            let is_behind = |milestone: &&u32| u64::from(**milestone) <= epoch;
            let n_behind = how.milestones.iter().filter(is_behind).count();
            rate * how.gamma.powi(i32::try_from(n_behind).unwrap_or(i32::MAX))
        }
        ScheduleKind::Cosine => {
            let n_cooling = (per_epoch * f64::from(n_epochs) - n_warm).max(1.0);
            let share = ((at - n_warm) / n_cooling).clamp(0.0, 1.0);
            let wave = 0.5 * (1.0 + (std::f64::consts::PI * share).cos());
            rate * (how.floor + (1.0 - how.floor) * wave)
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "steps are far below 2^53")]
fn real(n: u64) -> f64 {
    n as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ten steps per epoch, four epochs, rate 1.
    fn check(how: &Schedule, expected: &[(u64, f64)]) {
        for (step, expected) in expected {
            let found = rate(how, 1.0, *step, 10, 4);
            assert!((found - expected).abs() < 1e-12, "step {step}: {found}, not {expected}");
        }
    }

    #[test]
    fn a_constant_rate_stays() {
        let how = Schedule { kind: ScheduleKind::Constant, ..Schedule::default() };
        check(&how, &[(0, 1.0), (39, 1.0)]);
    }

    #[test]
    fn warm_up_rises_in_equal_steps_to_the_full_rate() {
        let how = Schedule { kind: ScheduleKind::Constant, warm_up: 0.5, ..Schedule::default() };
        check(&how, &[(0, 0.2), (1, 0.4), (4, 1.0), (5, 1.0)]);
    }

    #[test]
    fn a_milestone_multiplies_from_its_epoch_on() {
        let milestones = vec![1, 3];
        let how = Schedule { kind: ScheduleKind::Step, milestones, ..Schedule::default() };
        check(&how, &[(9, 1.0), (10, 0.1), (29, 0.1), (30, 0.01)]);
    }

    #[test]
    fn a_cosine_falls_from_the_rate_through_its_half_to_the_floor() {
        let how = Schedule { floor: 0.1, ..Schedule::default() };
        check(&how, &[(0, 1.0), (20, 0.55), (40, 0.1)]);
        let warm = Schedule { warm_up: 2.0, ..Schedule::default() };
        check(&warm, &[(19, 1.0), (20, 1.0), (30, 0.5)]);
    }

    #[test]
    fn no_steps_at_all_are_no_division_by_zero() {
        assert!(rate(&Schedule::default(), 1.0, 0, 0, 0).is_finite());
    }
}
