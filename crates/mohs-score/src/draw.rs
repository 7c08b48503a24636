//! Random numbers as an argument: streams keyed by a seed and a few numbers.
//!
//! A stream depends on nothing but its key, so draws do not change with threads, batches or the
//! order of work. Uniform and normal numbers are made here from raw 64-bit words, because a
//! library's sampling algorithms may change between versions and our results must not.

use mohs_data::Seed;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use statrs::function::gamma::ln_gamma;

/// A stream of random numbers.
#[derive(Debug, Clone)]
pub struct Draw(ChaCha8Rng);

impl Draw {
    /// Opens the stream named by `key`, e.g. `[STAGE, participant_idx]`.
    pub fn new(seed: Seed, key: &[u64]) -> Self {
        let mut bytes = [0_u8; 32];
        let mut state = seed.0;
        // SplitMix64 (Steele, Lea and Flood 2014) mixes each part of the key into the state.
        let mut mix = |word: u64| {
            state = state.wrapping_add(0x9e37_79b9_7f4a_7c15).wrapping_add(word);
            let mut z = state;
            z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            state = z ^ (z >> 31);
            state
        };
        for word in key {
            mix(*word);
        }
        for chunk in bytes.chunks_exact_mut(8) {
            chunk.copy_from_slice(&mix(0).to_le_bytes());
        }
        Self(ChaCha8Rng::from_seed(bytes))
    }

    /// Returns a number in `[0, 1)`.
    pub fn uniform(&mut self) -> f64 {
        // 53 bits fill a double's mantissa exactly.
        #[expect(clippy::cast_precision_loss, reason = "53 bits fit")]
        let bits = (self.0.next_u64() >> 11) as f64;
        bits * (1.0 / 9_007_199_254_740_992.0)
    }

    /// Returns a whole number in `0..n`; `n` must be positive.
    pub fn below(&mut self, n: usize) -> usize {
        // The high word of a product: bias below n / 2^64 (Lemire 2019).
        let wide = u128::from(self.0.next_u64()) * (n as u128);
        usize::try_from(wide >> 64).expect("because the high word is below n")
    }

    /// Returns `true` with probability `p`.
    pub fn chance(&mut self, p: f64) -> bool {
        self.uniform() < p
    }

    /// Returns how many of `n` tries succeed when each does with probability `p`.
    ///
    /// Counts up from 0 where few are expected, else Hörmann's transformed rejection (1993).
    pub fn binomial(&mut self, n: u32, p: f64) -> u32 {
        if 0.5 < p {
            return n - self.binomial(n, 1.0 - p);
        }
        if p <= 0.0 || n == 0 {
            return 0;
        }
        if f64::from(n) * p < 10.0 { self.few(n, p) } else { self.many(n, p) }
    }

    /// Inverts the distribution function from 0 up.
    fn few(&mut self, n: u32, p: f64) -> u32 {
        let odds = p / (1.0 - p);
        let mut term = (f64::from(n) * (-p).ln_1p()).exp();
        let mut rest = self.uniform();
        for k in 0..n {
            if rest < term {
                return k;
            }
            rest -= term;
            term *= odds * f64::from(n - k) / f64::from(k + 1);
        }
        n
    }

    /// Draws from a hat around the distribution until a draw lies under it.
    fn many(&mut self, n: u32, p: f64) -> u32 {
        let (size, odds) = (f64::from(n), p / (1.0 - p));
        let sd = (size * p * (1.0 - p)).sqrt();
        let b = 1.15 + 2.53 * sd;
        let a = -0.0873 + 0.0248 * b + 0.01 * p;
        let sure = 0.92 - 4.2 / b;
        let alpha = (2.83 + 5.1 / b) * sd;
        let mode = ((size + 1.0) * p).floor();
        let log_rest = |k: f64| ln_gamma(k + 1.0) + ln_gamma(size - k + 1.0);
        let at_mode = log_rest(mode);
        loop {
            let u = self.uniform() - 0.5;
            let v = self.uniform();
            let side = 0.5 - u.abs();
            let k = ((2.0 * a / side + b) * u + size * p + 0.5).floor();
            if !(0.0..=size).contains(&k) {
                continue;
            }
            let is_inside = 0.07 <= side && v <= sure;
            if is_inside
                || (v * alpha / (a / (side * side) + b)).ln()
                    <= at_mode - log_rest(k) + (k - mode) * odds.ln()
            {
                #[expect(
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    reason = "whole and between 0 and n"
                )]
                return k as u32;
            }
        }
    }

    /// Returns a standard normal number (Box and Muller 1958).
    pub fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.uniform()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.uniform()).cos()
    }

    /// Puts a slice in random order (Fisher and Yates).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for end in (1..items.len()).rev() {
            items.swap(end, self.below(end + 1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_depends_on_its_key_alone() {
        let first = |seed, key: &[u64]| Draw::new(Seed(seed), key).uniform();
        assert_eq!(first(1, &[2, 3]).to_bits(), first(1, &[2, 3]).to_bits());
        assert_ne!(first(1, &[2, 3]).to_bits(), first(1, &[3, 2]).to_bits());
        assert_ne!(first(1, &[2, 3]).to_bits(), first(2, &[2, 3]).to_bits());
    }

    #[test]
    fn uniform_numbers_have_the_moments_of_uniform_numbers() {
        let mut draw = Draw::new(Seed(7), &[0]);
        let n = 100_000;
        let sample: Vec<f64> = (0..n).map(|_| draw.uniform()).collect();
        let mean = sample.iter().sum::<f64>() / f64::from(n);
        assert!((mean - 0.5).abs() < 0.005, "{mean}");
        assert!(sample.iter().all(|u| (0.0..1.0).contains(u)));
    }

    #[test]
    fn normal_numbers_have_mean_zero_and_variance_one() {
        let mut draw = Draw::new(Seed(7), &[1]);
        let n = 100_000;
        let sample: Vec<f64> = (0..n).map(|_| draw.normal()).collect();
        let mean = sample.iter().sum::<f64>() / f64::from(n);
        let variance = sample.iter().map(|z| (z - mean).powi(2)).sum::<f64>() / f64::from(n);
        assert!(mean.abs() < 0.015 && (variance - 1.0).abs() < 0.02, "{mean} {variance}");
    }

    /// Shares of draws beside the exact probabilities, where few and where many are expected.
    #[test]
    fn binomial_numbers_have_the_distribution_of_binomial_numbers() {
        for (n, p) in [(7, 0.3), (40, 0.9), (60, 0.4), (1_000, 0.02), (500, 0.5), (3, 0.0)] {
            let mut draw = Draw::new(Seed(8), &[u64::from(n)]);
            let n_draws = 100_000;
            let mut counts = vec![0_u32; n as usize + 1];
            for _ in 0..n_draws {
                counts[draw.binomial(n, p) as usize] += 1;
            }
            let mut log_term = f64::from(n) * (1.0 - p).ln();
            for (k, count) in counts.iter().enumerate() {
                let exact = log_term.exp();
                let share = f64::from(*count) / f64::from(n_draws);
                let error = (exact * (1.0 - exact) / f64::from(n_draws)).sqrt();
                assert!((share - exact).abs() < 5.0 * error + 3e-5, "{n} {p} {k} {share} {exact}");
                let k = u32::try_from(k).unwrap();
                log_term += (f64::from(n - k) / f64::from(k + 1)).ln() + (p / (1.0 - p)).ln();
            }
        }
    }

    #[test]
    fn a_shuffle_keeps_every_item() {
        let mut items: Vec<usize> = (0..50).collect();
        Draw::new(Seed(3), &[]).shuffle(&mut items);
        assert_ne!(items, (0..50).collect::<Vec<_>>());
        items.sort_unstable();
        assert_eq!(items, (0..50).collect::<Vec<_>>());
    }
}
