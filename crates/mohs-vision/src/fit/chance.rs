//! Random numbers of a training: streams keyed by a seed and a few numbers.
//!
//! A stream depends on nothing but its key, so neither threads nor the order of work nor a break in
//! the middle change a draw. Only raw 64-bit words are taken from the generator, because a
//! library's ways of sampling may change between versions.

use mohs_data::{Seed, StimulusId};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// What a stream is for; the first part of its key.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Purpose {
    Weights = 1,
    Order = 2,
    Augmentation = 3,
    Split = 4,
}

/// A stream of random numbers.
#[derive(Clone, Debug)]
pub(crate) struct Chance(ChaCha8Rng);

impl Chance {
    /// Opens the stream for this purpose and key.
    pub(crate) fn new(seed: Seed, purpose: Purpose, key: &[u64]) -> Chance {
        let mut hasher = blake3::Hasher::new();
        hasher.update(&seed.0.to_le_bytes());
        hasher.update(&(purpose as u64).to_le_bytes());
        for word in key {
            hasher.update(&word.to_le_bytes());
        }
        Chance(ChaCha8Rng::from_seed(*hasher.finalize().as_bytes()))
    }

    /// Returns a number in `[0, 1)`.
    pub(crate) fn unit(&mut self) -> f64 {
        // 53 bits fill a double's mantissa exactly.
        #[expect(clippy::cast_precision_loss, reason = "53 bits fit")]
        let bits = (self.0.next_u64() >> 11) as f64;
        bits * (1.0 / 9_007_199_254_740_992.0)
    }

    /// Returns a number between `low` and `high`.
    pub(crate) fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.unit()
    }

    /// Returns a whole number in `0..n`; `n` must be positive.
    pub(crate) fn below(&mut self, n: usize) -> usize {
        // The high word of a product: bias below n / 2^64 (Lemire 2019).
        let wide = u128::from(self.0.next_u64()) * (n as u128);
        usize::try_from(wide >> 64).expect("because the high word is below n")
    }

    /// Returns standard normal numbers (Box and Muller 1958).
    pub(crate) fn normals(&mut self, n: usize) -> Vec<f32> {
        let one = |_| {
            let radius = (-2.0 * (1.0 - self.unit()).ln()).sqrt();
            let number = radius * (std::f64::consts::TAU * self.unit()).cos();
            #[expect(clippy::cast_possible_truncation, reason = "weights have 32 bits")]
            let number = number as f32;
            number
        };
        (0..n).map(one).collect()
    }

    /// Puts a slice in random order (Fisher and Yates).
    pub(crate) fn shuffle<T>(&mut self, items: &mut [T]) {
        for end in (1..items.len()).rev() {
            items.swap(end, self.below(end + 1));
        }
    }
}

/// A number that stands for a stimulus in keys: the same wherever it is in its set.
pub(crate) fn key_of(id: &StimulusId) -> u64 {
    let hash = blake3::hash(id.as_str().as_bytes());
    let first = hash.as_bytes().first_chunk::<8>().expect("because a hash has 32 bytes");
    u64::from_le_bytes(*first)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn first(seed: u64, purpose: Purpose, key: &[u64]) -> u64 {
        Chance::new(Seed(seed), purpose, key).unit().to_bits()
    }

    #[test]
    fn a_stream_depends_on_its_key_alone() {
        let one = first(1, Purpose::Order, &[2, 3]);
        assert_eq!(one, first(1, Purpose::Order, &[2, 3]));
        assert_ne!(one, first(1, Purpose::Order, &[3, 2]));
        assert_ne!(one, first(2, Purpose::Order, &[2, 3]));
        assert_ne!(one, first(1, Purpose::Split, &[2, 3]));
    }

    #[test]
    fn normal_numbers_have_mean_zero_and_variance_one() {
        let numbers = Chance::new(Seed(3), Purpose::Weights, &[]).normals(50_000);
        let mean = numbers.iter().sum::<f32>() / 50_000.0;
        let variance = numbers.iter().map(|x| (x - mean).powi(2)).sum::<f32>() / 50_000.0;
        assert!(mean.abs() < 0.02 && (variance - 1.0).abs() < 0.03, "{mean} {variance}");
    }
}
