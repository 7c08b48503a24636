//! The fast minimum-norm attack (Pintor et al. 2021): looks for the smallest change directly. While
//! the model is right, ε grows; once it is wrong, ε shrinks; each step goes down the margin and is
//! brought back to within ε. Lengths of steps and the speed of ε fade as a cosine.
//!
//! What it finds is a bound from above: the size of a change for which the model really is wrong.

use std::f32::consts::PI;

use mohs_data::Norm;

use super::{Attack, Case, End, Kind, Loss, Memory, Move, Reply, Run, Start, norm, pgd};

/// In L∞.
pub(super) const ATTACK: Attack = Attack {
    name: "fmn",
    also_called: &["fmn-linf", "linffmn"],
    about: "the smallest change, by steps down the margin",
    kind: Kind::Minimal,
    is_random: false,
    settings: &["alpha", "steps", "gamma"],
    start: |start| Box::new(Descent::new(&start, Norm::Linf)),
    ..pgd::ATTACK
};

/// In L2.
pub(super) const ATTACK_L2: Attack = Attack {
    name: "fmn-l2",
    also_called: &["fmnl2", "l2fmn"],
    norm: Norm::L2,
    about: "the smallest change in L2, by steps down the margin",
    start: |start| Box::new(Descent::new(&start, Norm::L2)),
    ..ATTACK
};

/// What the speed of ε fades to.
const LAST_GAMMA: f32 = 0.001;
/// What the length of a step fades to, as a share of the first.
const LAST_STEP: f32 = 0.01;

#[derive(Debug)]
struct Descent {
    case: Case,
    norm: Norm,
    alpha: f32,
    gamma: f32,
    steps: usize,
    step: usize,
    epsilon: f32,
    best: Option<(f32, Vec<f32>, Vec<f32>)>,
    margin: f32,
}

impl Descent {
    #[expect(clippy::cast_possible_truncation, reason = "pixels have 32 bits")]
    fn new(start: &Start<'_>, norm: Norm) -> Descent {
        Descent {
            case: start.case.clone(),
            norm,
            alpha: start.settings.alpha as f32,
            gamma: start.settings.gamma as f32,
            steps: start.settings.steps.at(1.0),
            step: 0,
            epsilon: f32::INFINITY,
            best: None,
            margin: f32::INFINITY,
        }
    }

    fn size(&self, z: &[f32]) -> f32 {
        size_of(self.norm, &self.case.pixels, z)
    }

    /// How large ε is allowed to be next, from what the model said.
    fn adapt(&mut self, z: &[f32], logits: &[f32], slope: &[f32], gamma: f32) {
        let size = self.size(z);
        let margin = self.case.margin(logits);
        self.margin = self.margin.min(margin);
        if self.case.is_reached(logits) {
            if self.best.as_ref().is_none_or(|(least, ..)| size < *least) {
                self.best = Some((size, z.to_vec(), logits.to_vec()));
            }
            let least = self.best.as_ref().map_or(size, |(least, ..)| *least);
            self.epsilon = (self.epsilon * (1.0 - gamma)).min(least);
        } else if self.best.is_some() {
            self.epsilon *= 1.0 + gamma;
        } else {
            // As far as the nearest mistake would be if the margin fell evenly, and a little
            // further: else it would be approached for ever and never crossed.
            let dual = match self.norm {
                Norm::Linf => norm::l1(slope),
                Norm::L2 => norm::l2(slope),
            };
            self.epsilon = (size + margin.abs() / dual.max(f32::MIN_POSITIVE)) * (1.0 + gamma);
        }
    }
}

/// The size of a change.
pub(super) fn size_of(norm: Norm, x: &[f32], z: &[f32]) -> f32 {
    match norm {
        Norm::Linf => norm::linf_distance(x, z),
        Norm::L2 => norm::l2_distance(x, z),
    }
}

/// How much is left at a step of so many: from one to zero as a cosine.
#[expect(clippy::cast_precision_loss, reason = "there are few steps")]
pub(super) fn cosine(step: usize, steps: usize) -> f32 {
    f32::midpoint(1.0, (PI * step as f32 / steps as f32).cos())
}

/// The end of a search for the smallest change.
pub(super) fn end(best: Option<(f32, Vec<f32>, Vec<f32>)>, margin: f32) -> End {
    match best {
        Some((_, z, logits)) => End::Answered(z, logits),
        None => End::Unchanged { margin },
    }
}

impl Run for Descent {
    fn step(&mut self, reply: Option<Reply>, _: &mut Memory) -> Move {
        let Some(reply) = reply else {
            return Move::Gradient(self.case.pixels.to_vec(), Loss::Margin);
        };
        let Reply { pixels: mut z, logits, gradient, .. } = reply;
        let left = cosine(self.step, self.steps);
        let gamma = LAST_GAMMA + (self.gamma - LAST_GAMMA) * left;
        self.adapt(&z, &logits, &gradient, gamma);
        if self.step == self.steps {
            return Move::End(end(self.best.take(), self.margin));
        }
        let length = self.alpha * (LAST_STEP + (1.0 - LAST_STEP) * left);
        let size = norm::l2(&gradient).max(f32::MIN_POSITIVE);
        for (z, slope) in z.iter_mut().zip(&gradient) {
            *z += length * (slope / size);
        }
        match self.norm {
            Norm::Linf => norm::bound_linf(&self.case.pixels, &mut z, self.epsilon),
            Norm::L2 => norm::bound_l2(&self.case.pixels, &mut z, self.epsilon),
        };
        self.step += 1;
        Move::Gradient(z, Loss::Margin)
    }
}
