//! Auto-PGD (Croce and Hein 2020): steps of length 2 ε with momentum; the length is halved, and the
//! search goes on from the best place so far, when the loss has stopped rising.
//!
//! The picture it returns is the last one that the model got wrong. A run that only has to say
//! whether there is one ends with the first.

use super::climb::loss_of;
use super::luck::START;
use super::{Attack, Case, End, Loss, Luck, Memory, Move, Reply, Run, Start, norm, pgd};

/// In L∞.
pub(super) const ATTACK: Attack = Attack {
    name: "apgd",
    also_called: &["apgd-ce", "auto-pgd"],
    about: "PGD whose step length adapts itself",
    is_targetable: false,
    settings: &["steps", "loss", "eot", "rho", "restarts"],
    start: |start| Box::new(Climb::new(&start)),
    ..pgd::ATTACK
};

/// How much of the new step counts from the second step on; the rest is momentum.
const SHARE_OF_STEP: f32 = 0.75;

#[derive(Debug)]
struct Climb {
    case: Case,
    loss: Loss,
    luck: Luck,
    epsilon: f32,
    steps: usize,
    passes: usize,
    rho: f64,
    ends_early: bool,

    /// How many steps were taken.
    step: usize,
    is_begun: bool,
    n_passes: usize,
    sum: Vec<f32>,

    previous: Vec<f32>,
    gradient: Vec<f32>,
    z: Vec<f32>,
    best: Best,
    wrong: Option<(Vec<f32>, Vec<f32>)>,
    margin: f32,

    step_size: f32,
    losses: Vec<f32>,
    /// Steps between two looks at the losses.
    interval: usize,
    n_since_look: usize,
    best_at_last_look: f32,
    was_reduced: bool,
}

/// The best place so far.
#[derive(Debug, Default)]
struct Best {
    z: Vec<f32>,
    gradient: Vec<f32>,
    loss: f32,
}

impl Climb {
    #[expect(clippy::cast_possible_truncation, reason = "pixels have 32 bits")]
    fn new(start: &Start<'_>) -> Climb {
        let steps = start.settings.steps.at(start.epsilon);
        let epsilon = start.epsilon as f32;
        Climb {
            case: start.case.clone(),
            loss: loss_of(start.settings.loss),
            luck: start.luck.clone(),
            epsilon,
            steps,
            passes: if start.case.is_model_random { start.settings.eot } else { 1 },
            rho: start.settings.rho,
            ends_early: start.ends_early,
            step: 0,
            is_begun: false,
            n_passes: 0,
            sum: Vec::new(),
            previous: Vec::new(),
            gradient: Vec::new(),
            z: Vec::new(),
            best: Best::default(),
            wrong: None,
            margin: f32::INFINITY,
            step_size: 2.0 * epsilon,
            losses: vec![0.0; steps],
            interval: part(steps, 22),
            n_since_look: 0,
            best_at_last_look: 0.0,
            was_reduced: true,
        }
    }

    fn first_place(&self, memory: &mut Memory) -> Vec<f32> {
        let x = &self.case.pixels;
        let noise = memory.noise.get_or_insert_with(|| self.luck.stream(START).even(x.len()));
        let largest = noise.iter().fold(0.0, |most: f32, number| most.max(number.abs()));
        let factor = self.epsilon / largest.max(f32::MIN_POSITIVE);
        let moved = x.iter().zip(noise.iter()).map(|(x, noise)| x + noise * factor);
        moved.map(|z| z.clamp(0.0, 1.0)).collect()
    }

    /// The next place: a step along the sign, mixed with the last movement.
    fn next_place(&mut self) -> Vec<f32> {
        let share = if self.step == 0 { 1.0 } else { SHARE_OF_STEP };
        let (x, epsilon) = (&self.case.pixels, self.epsilon);
        let bounded = |x: f32, z: f32| z.max(x - epsilon).min(x + epsilon).clamp(0.0, 1.0);
        let z = std::mem::take(&mut self.z);
        let mut next = std::mem::take(&mut self.previous);
        let places = next.iter_mut().zip(&z).zip(x.iter()).zip(&self.gradient);
        for (((next, &z), &x), &slope) in places {
            let moved = bounded(x, z + self.step_size * norm::sign(slope));
            let last = z - *next;
            *next = bounded(x, z + (moved - z) * share + last * (1.0 - share));
        }
        self.previous = z;
        next
    }

    /// Takes in what the model said; `true` when the run can end.
    fn learn(&mut self, reply: Reply) -> bool {
        let Reply { pixels, logits, loss, gradient } = reply;
        self.margin = self.margin.min(self.case.margin(&logits));
        self.z = pixels;
        self.gradient = gradient;
        if self.case.is_reached(&logits) {
            self.wrong = Some((self.z.clone(), logits));
            if self.ends_early {
                return true;
            }
        }
        if !self.is_begun {
            self.is_begun = true;
            self.previous.clone_from(&self.z);
            self.best = Best { z: self.z.clone(), gradient: self.gradient.clone(), loss };
            self.best_at_last_look = loss;
            return self.steps == 0;
        }
        self.losses[self.step] = loss;
        if self.best.loss < loss {
            self.best = Best { z: self.z.clone(), gradient: self.gradient.clone(), loss };
        }
        self.n_since_look += 1;
        if self.n_since_look == self.interval {
            self.look();
        }
        self.step += 1;
        self.step == self.steps
    }

    /// Halves the step length if the loss has not risen enough since the last look.
    fn look(&mut self) {
        let at = |back: usize| match self.step.checked_sub(back) {
            Some(idx) => self.losses[idx],
            // The published code reads one entry before the first, which is the last one of the
            // list: still zero, unless there is only one.
            None => self.losses[self.steps - 1],
        };
        let n_rises = (0..self.interval).filter(|&back| at(back + 1) < at(back)).count();
        #[expect(clippy::cast_precision_loss, reason = "there are few steps")]
        let is_flat = n_rises as f64 <= self.interval as f64 * self.rho;
        let is_stuck = !self.was_reduced && self.best.loss <= self.best_at_last_look;
        let is_reduced = is_flat || is_stuck;
        self.was_reduced = is_reduced;
        self.best_at_last_look = self.best.loss;
        if is_reduced {
            self.step_size /= 2.0;
            self.z.clone_from(&self.best.z);
            self.gradient.clone_from(&self.best.gradient);
        }
        self.n_since_look = 0;
        self.interval = self.interval.saturating_sub(part(self.steps, 3)).max(part(self.steps, 6));
    }
}

/// This many per cent of the steps, at least one.
fn part(steps: usize, per_cent: usize) -> usize {
    (steps * per_cent / 100).max(1)
}

impl Run for Climb {
    fn step(&mut self, reply: Option<Reply>, memory: &mut Memory) -> Move {
        let Some(mut reply) = reply else {
            return Move::Gradient(self.first_place(memory), self.loss.clone());
        };
        if 1 < self.passes {
            if self.sum.is_empty() {
                self.sum = std::mem::take(&mut reply.gradient);
            } else {
                self.sum.iter_mut().zip(&reply.gradient).for_each(|(sum, slope)| *sum += slope);
            }
            self.n_passes += 1;
            if self.n_passes < self.passes {
                return Move::Gradient(reply.pixels, self.loss.clone());
            }
            self.n_passes = 0;
            reply.gradient = std::mem::take(&mut self.sum);
        }
        if self.learn(reply) {
            return Move::End(match self.wrong.take() {
                Some((z, logits)) => End::Answered(z, logits),
                None => End::Unchanged { margin: self.margin },
            });
        }
        Move::Gradient(self.next_place(), self.loss.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looks_come_after_22_per_cent_of_the_steps_and_then_sooner() {
        assert_eq!((part(10, 22), part(10, 6), part(10, 3)), (2, 1, 1));
        assert_eq!((part(100, 22), part(100, 6), part(100, 3)), (22, 6, 3));
    }
}
