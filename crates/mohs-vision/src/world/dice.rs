//! Randomness of one picture, split by what it decides.
//!
//! Each aspect of a picture (its shape, its pose, its background …) has a stream of its own, so
//! changing one aspect leaves the others as they were. Only raw 32-bit words are taken from the
//! generator: the pictures do not change when `rand` changes how it samples a range.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// What a stream of randomness decides.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Aspect {
    Plan = 0,
    Shape = 1,
    Coat = 2,
    Pose = 3,
    Background = 4,
    Clutter = 5,
    Occluder = 6,
    Light = 7,
    Skin = 8,
    Style = 9,
    Grain = 10,
    Quality = 11,
}

/// How many streams one picture may use.
const N_ASPECTS: u64 = 16;

/// A stream of random numbers for one aspect of one picture.
pub(crate) struct Dice(ChaCha8Rng);

impl Dice {
    /// Returns the stream for one aspect of the picture `picture_idx` of the world `seed`.
    pub(crate) fn new(seed: u64, picture_idx: u64, aspect: Aspect) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        rng.set_stream(picture_idx.wrapping_mul(N_ASPECTS).wrapping_add(aspect as u64));
        Self(rng)
    }

    /// Returns a number in `[0, 1)`.
    pub(crate) fn unit(&mut self) -> f32 {
        (self.0.next_u32() >> 8) as f32 / 16_777_216.0
    }

    /// Returns a number between `low` and `high`.
    pub(crate) fn between(&mut self, low: f32, high: f32) -> f32 {
        low + (high - low) * self.unit()
    }

    /// Returns a whole number below `n`; `n` must not be zero.
    pub(crate) fn below(&mut self, n: usize) -> usize {
        self.0.next_u32() as usize % n
    }

    /// Returns `true` with the given probability.
    pub(crate) fn chance(&mut self, probability: f32) -> bool {
        self.unit() < probability
    }

    /// Returns one or minus one.
    pub(crate) fn sign(&mut self) -> f32 {
        if self.chance(0.5) { 1.0 } else { -1.0 }
    }

    /// Returns one of the choices; there must be at least one.
    pub(crate) fn pick<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())]
    }

    /// Returns a roughly normal number with mean zero and deviation one.
    pub(crate) fn normal(&mut self) -> f32 {
        // The sum of four uniforms is close enough to a bell for grain, and has no logarithm.
        (self.unit() + self.unit() + self.unit() + self.unit() - 2.0) * 1.732
    }

    /// Returns a word to seed a noise field with.
    pub(crate) fn word(&mut self) -> u32 {
        self.0.next_u32()
    }
}
