//! Runs of one answer, and how likely they are.
//!
//! # Formula
//!
//! Answers are taken to come independently, key `c` with chance `q_c`. Let `E_t(c)` be the chance
//! that the answer at `t` is `c` and no run has reached length `L` so far, and `N_t(c)` the part of
//! it in which a run of `c` begins at `t`. Then
//!
//! ```text
//! N_t(c) = q_c (S_{t-1} - E_{t-1}(c)),            S_t = Σ_c E_t(c)
//! E_t(c) = q_c E_{t-1}(c) + N_t(c) - q_c^(L-1) N_{t-L+1}(c)
//! ```
//!
//! and the chance of a run of at least `L` among `n` answers is `1 - S_n`. No answer is a key whose
//! runs do not count.

use crate::proportion::real;

/// Returns the chance of a run of at least `length` among `n` answers that come independently at
/// these rates; whatever the rates leave over is no answer.
pub(super) fn p_of_run(rates: &[f64], n: usize, length: usize) -> f64 {
    if length <= 1 || n < length {
        return if length <= 1 && 0 < n { 1.0 } else { 0.0 };
    }
    let silent = (1.0 - rates.iter().sum::<f64>()).max(0.0);
    let mut ends_in = vec![0.0_f64; rates.len()];
    // `begun[t % length][c]`: chance that a run of c began at t.
    let mut begun = vec![vec![0.0; rates.len()]; length];
    let mut none_so_far = 1.0_f64;
    for t in 0..n {
        let mut total = 0.0;
        for (c, rate) in rates.iter().enumerate() {
            let begins = rate * (none_so_far - ends_in[c]).max(0.0);
            // What began `length - 1` answers ago reaches the length now.
            let complete = if length - 1 <= t {
                begun[(t + 1) % length][c]
                    * rate.powi(i32::try_from(length - 1).unwrap_or(i32::MAX))
            } else {
                0.0
            };
            ends_in[c] = (rate * ends_in[c] + begins - complete).max(0.0);
            begun[t % length][c] = begins;
            total += ends_in[c];
        }
        none_so_far = total + silent * none_so_far;
    }
    (1.0 - none_so_far).clamp(0.0, 1.0)
}

/// Returns the longest run of equal keys and its key; `None` entries end a run.
pub(super) fn longest_run<K: PartialEq + Copy>(keys: &[Option<K>]) -> Option<(K, usize)> {
    let mut longest: Option<(K, usize)> = None;
    for run in keys.chunk_by(|a, b| a == b) {
        if let Some(Some(key)) = run.first()
            && longest.is_none_or(|(_, length)| length < run.len())
        {
            longest = Some((*key, run.len()));
        }
    }
    longest
}

/// Returns entropy in bits of some counts, and the standard error of that.
pub(super) fn entropy(counts: &[usize]) -> Option<(f64, f64)> {
    let n: usize = counts.iter().sum();
    if n == 0 {
        return None;
    }
    let shares = || counts.iter().filter(|count| 0 < **count).map(|count| real(*count) / real(n));
    let bits: f64 = shares().map(|p| -p * p.log2()).sum();
    let squares: f64 = shares().map(|p| p * p.log2().powi(2)).sum();
    Some((bits.max(0.0), ((squares - bits * bits).max(0.0) / real(n)).sqrt()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_coins_fall_alike_twice_in_a_row_three_times_in_four() {
        assert!((p_of_run(&[0.5, 0.5], 3, 2) - 0.75).abs() < 1e-12);
        assert!((p_of_run(&[0.5, 0.5], 3, 3) - 0.25).abs() < 1e-12);
        assert!((p_of_run(&[0.5, 0.5], 3, 4)).abs() < 1e-12);
        assert!((p_of_run(&[1.0], 5, 5) - 1.0).abs() < 1e-12);
    }

    /// All sequences, one by one.
    #[test]
    fn the_chance_of_a_run_is_that_of_all_sequences() {
        let rates = [0.5, 0.2, 0.1];
        let all = [0.5, 0.2, 0.1, 0.2];
        for (n, length) in [(6, 2), (7, 3), (8, 4), (5, 5)] {
            let mut total = 0.0;
            for code in 0..4_usize.pow(n) {
                let keys: Vec<usize> = (0..n).map(|at| code / 4_usize.pow(at) % 4).collect();
                let p: f64 = keys.iter().map(|key| all[*key]).product();
                let answers: Vec<Option<usize>> =
                    keys.iter().map(|key| Some(*key).filter(|key| *key < 3)).collect();
                if longest_run(&answers).is_some_and(|(_, run)| length <= run) {
                    total += p;
                }
            }
            let n = usize::try_from(n).unwrap();
            assert!((p_of_run(&rates, n, length) - total).abs() < 1e-12, "{n} {length}");
        }
    }

    #[test]
    fn no_answer_ends_a_run() {
        assert_eq!(longest_run(&[Some(1), Some(1), None, Some(1)]), Some((1, 2)));
        assert_eq!(longest_run::<u8>(&[None, None]), None);
    }

    #[test]
    fn two_keys_half_the_time_each_are_one_bit() {
        assert_eq!(entropy(&[5, 5]).map(|(bits, _)| bits), Some(1.0));
        assert_eq!(entropy(&[7]), Some((0.0, 0.0)));
        assert_eq!(entropy(&[]), None);
    }
}
