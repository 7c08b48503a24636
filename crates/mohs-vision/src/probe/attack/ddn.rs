//! Decoupled direction and norm (Rony et al. 2019): looks for the smallest change in L2 directly.
//! Each step goes along the slope of the cross entropy; the change is then given the size ε, which
//! shrinks while the model is wrong and grows while it is right.
//!
//! What it finds is a bound from above: the size of a change for which the model really is wrong.

use mohs_data::Norm;

use super::fmn::{cosine, end, size_of};
use super::{Attack, Case, Loss, Memory, Move, Reply, Run, Start, fmn, norm};

/// In L2.
pub(super) const ATTACK: Attack = Attack {
    name: "ddn",
    also_called: &["ddn-l2"],
    about: "the smallest change in L2, direction and size apart",
    settings: &["steps", "gamma", "first_epsilon"],
    start: |start| Box::new(Descent::new(&start)),
    ..fmn::ATTACK_L2
};

/// The last step, as a share of the first, which has the length one.
const LAST_STEP: f32 = 0.01;

#[derive(Debug)]
struct Descent {
    case: Case,
    gamma: f32,
    steps: usize,
    step: usize,
    epsilon: f32,
    best: Option<(f32, Vec<f32>, Vec<f32>)>,
    margin: f32,
}

impl Descent {
    #[expect(clippy::cast_possible_truncation, reason = "pixels have 32 bits")]
    fn new(start: &Start<'_>) -> Descent {
        Descent {
            case: start.case.clone(),
            gamma: start.settings.gamma as f32,
            steps: start.settings.steps.at(1.0),
            step: 0,
            epsilon: start.settings.first_epsilon as f32,
            best: None,
            margin: f32::INFINITY,
        }
    }
}

impl Run for Descent {
    fn step(&mut self, reply: Option<Reply>, _: &mut Memory) -> Move {
        let x = &self.case.pixels;
        let Some(reply) = reply else {
            return Move::Gradient(x.to_vec(), Loss::CrossEntropy);
        };
        let Reply { pixels: mut z, logits, gradient, .. } = reply;
        self.margin = self.margin.min(self.case.margin(&logits));
        let is_reached = self.case.is_reached(&logits);
        if is_reached {
            let size = size_of(Norm::L2, x, &z);
            if self.best.as_ref().is_none_or(|(least, ..)| size < *least) {
                self.best = Some((size, z.clone(), logits));
            }
        }
        if self.step == self.steps {
            return Move::End(end(self.best.take(), self.margin));
        }
        let length = LAST_STEP + (1.0 - LAST_STEP) * cosine(self.step, self.steps);
        let slope_size = norm::l2(&gradient).max(f32::MIN_POSITIVE);
        for (z, slope) in z.iter_mut().zip(&gradient) {
            *z += length * (slope / slope_size);
        }
        if 0 < self.step {
            self.epsilon *= if is_reached { 1.0 - self.gamma } else { 1.0 + self.gamma };
        }
        let size = size_of(Norm::L2, x, &z).max(f32::MIN_POSITIVE);
        // Without a slope nothing has moved, and nothing times infinity is no number.
        let scale = (self.epsilon / size).min(f32::MAX);
        for (z, &x) in z.iter_mut().zip(x.iter()) {
            *z = (x + (*z - x) * scale).clamp(0.0, 1.0);
        }
        self.step += 1;
        Move::Gradient(z, Loss::CrossEntropy)
    }
}
