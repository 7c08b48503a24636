//! One attempt: what came of one attack on one picture with one ε, and how it is kept.
//!
//! Attempts are kept under everything that changes them: model and engine (the journal's own key),
//! the picture's content, how outputs become labels, the attack with its settings, what it is after, and ε; for attacks that
//! draw random numbers also the seed and the stimulus. They are kept as a few numbers, like rows of
//! an evaluation.

use mohs_data::{Seed, StimulusId};

use super::{Noise, Planned};
use crate::evaluate::journal::{Journal, JournalError, RowKey};
use crate::labels::Reading;
use crate::probe::attack::Aim;

/// What came of one ε.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Attempt {
    /// Whether the attack reached its aim.
    pub(super) is_reached: bool,
    /// What the model then said, as a class.
    pub(super) answer: usize,
    /// The margin that was left.
    pub(super) margin: f32,
    /// The smallest margin on the way, the last one included.
    pub(super) least: f32,
    /// The size of the change.
    pub(super) size: f32,
    /// How often the model was asked for an answer.
    pub(super) n_forward: u64,
    /// How many answers with a slope it took, those that an earlier attempt asked for included.
    pub(super) n_gradient: u64,
    /// How many of its first slopes are the same for every larger ε.
    pub(super) n_free: usize,
    /// Whether a slope was zero everywhere.
    pub(super) has_zero_slope: bool,
}

impl Attempt {
    #[expect(clippy::cast_precision_loss, reason = "counts are below 2^24, and split if not")]
    fn to_numbers(self) -> Vec<f32> {
        let halves = |n: u64| [(n >> 20) as f32, (n & 0xf_ffff) as f32];
        let mut numbers = vec![
            f32::from(u8::from(self.is_reached)),
            self.answer as f32,
            self.margin,
            self.least,
            self.size,
            self.n_free as f32,
            f32::from(u8::from(self.has_zero_slope)),
        ];
        numbers.extend(halves(self.n_forward));
        numbers.extend(halves(self.n_gradient));
        numbers
    }

    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "whole numbers")]
    fn from_numbers(numbers: &[f32]) -> Option<Attempt> {
        let &[reached, answer, margin, least, size, n_free, zero, f1, f0, g1, g0] = numbers else {
            return None;
        };
        let whole = |high: f32, low: f32| ((high as u64) << 20) + low as u64;
        Some(Attempt {
            is_reached: 0.0 < reached,
            answer: answer as usize,
            margin,
            least,
            size,
            n_forward: whole(f1, f0),
            n_gradient: whole(g1, g0),
            n_free: n_free as usize,
            has_zero_slope: 0.0 < zero,
        })
    }
}

/// Where the attempts of one picture are kept.
#[derive(Debug)]
pub(super) struct Shelf<'a> {
    journal: &'a Journal,
    content: blake3::Hash,
}

impl<'a> Shelf<'a> {
    /// The shelf of a picture with these bytes; classes are counted as outputs are read.
    pub(super) fn new(journal: &'a Journal, bytes: &[u8], reading: &Reading) -> Shelf<'a> {
        let mut hasher = blake3::Hasher::new();
        hasher.update(blake3::hash(bytes).as_bytes());
        hasher.update(format!("{reading:?}").as_bytes());
        Shelf { journal, content: hasher.finalize() }
    }

    /// What the attempts of an attack are kept under, but for ε.
    pub(super) fn name_of(
        planned: &Planned,
        aim: Aim,
        seed: Seed,
        noise: Noise,
        stimulus: &StimulusId,
    ) -> String {
        let settings = planned.attack.signature(&planned.settings);
        let aim = match aim {
            Aim::Leave(class) => format!("leave {class}"),
            Aim::Reach(class) => format!("reach {class}"),
        };
        let fresh = if noise == Noise::Fresh { "\nfresh" } else { "" };
        let chance = format!("\n{}{fresh}\n{stimulus}", seed.0);
        let chance = if planned.attack.is_random || planned.settings.random_start {
            chance.as_str()
        } else {
            ""
        };
        format!("attack {}\n{settings}\n{aim}{chance}", planned.attack.name)
    }

    fn key(&self, name: &str, epsilon: f64) -> RowKey {
        RowKey::new(&self.content, &format!("{name}\n{:016x}", epsilon.to_bits()))
    }

    pub(super) fn find(&self, name: &str, epsilon: f64) -> Option<Attempt> {
        Attempt::from_numbers(&self.journal.find(&self.key(name, epsilon))?)
    }

    pub(super) fn keep(
        &self,
        name: &str,
        epsilon: f64,
        attempt: Attempt,
    ) -> Result<(), JournalError> {
        self.journal.append(&[(self.key(name, epsilon), &attempt.to_numbers())])
    }

    /// Numbers about the picture itself, such as the model's answer to it.
    pub(super) fn find_numbers(&self, name: &str) -> Option<Vec<f32>> {
        self.journal.find(&RowKey::new(&self.content, name))
    }

    pub(super) fn keep_numbers(&self, name: &str, numbers: &[f32]) -> Result<(), JournalError> {
        self.journal.append(&[(RowKey::new(&self.content, name), numbers)])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_attempt_comes_back_as_it_was_kept() {
        let attempt = Attempt {
            is_reached: true,
            answer: 999,
            margin: -0.25,
            least: -0.5,
            size: 0.004,
            n_forward: (1 << 30) + 5_001,
            n_gradient: 40,
            n_free: 3,
            has_zero_slope: true,
        };
        assert_eq!(Attempt::from_numbers(&attempt.to_numbers()), Some(attempt));
        assert_eq!(Attempt::from_numbers(&[1.0]), None);
    }
}
