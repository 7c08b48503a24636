//! Random numbers of one probe, or one mask, on one stimulus.
//!
//! The stream is keyed by what it is for and by nothing else. Uniform and normal numbers are made
//! here from raw words, because a library's sampling may change between versions and our
//! predictions must not.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::ProbeKey;

/// A stream of random numbers.
pub(crate) struct Random {
    words: ChaCha8Rng,
    /// The second of the two normal numbers that are made at a time.
    spare: Option<f64>,
}

impl Random {
    /// Opens the stream of one kind of probe on one stimulus.
    ///
    /// Strengths are not part of the key: stronger noise is the same noise, made larger, so
    /// differences between strengths are not blurred by luck.
    pub(crate) fn new(key: &ProbeKey, kind: &str, draw: u64) -> Random {
        let mut hasher = blake3::Hasher::new();
        hasher.update(b"mohs probe");
        hasher.update(&key.seed.0.to_le_bytes());
        hasher.update(&draw.to_le_bytes());
        hasher.update(&(kind.len() as u64).to_le_bytes());
        hasher.update(kind.as_bytes());
        hasher.update(key.stimulus.as_str().as_bytes());
        let words = ChaCha8Rng::from_seed(*hasher.finalize().as_bytes());
        Random { words, spare: None }
    }

    /// Returns a number in `[0, 1)`.
    pub(crate) fn uniform(&mut self) -> f64 {
        // 53 bits fill a double's mantissa exactly.
        #[expect(clippy::cast_precision_loss, reason = "53 bits fit")]
        let bits = (self.words.next_u64() >> 11) as f64;
        bits * (1.0 / 9_007_199_254_740_992.0)
    }

    /// Returns a standard normal number (Box and Muller 1958, both of the pair).
    pub(crate) fn normal(&mut self) -> f64 {
        if let Some(spare) = self.spare.take() {
            return spare;
        }
        let radius = (-2.0 * (1.0 - self.uniform()).ln()).sqrt();
        let (sin, cos) = (std::f64::consts::TAU * self.uniform()).sin_cos();
        self.spare = Some(radius * sin);
        radius * cos
    }

    /// Returns a standard normal number that is at most `limit` away from zero; others are drawn
    /// again.
    pub(crate) fn truncated_normal(&mut self, limit: f64) -> f64 {
        loop {
            let number = self.normal();
            if number.abs() <= limit {
                return number;
            }
        }
    }
}
