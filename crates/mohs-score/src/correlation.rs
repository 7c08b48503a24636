//! Correlations: Pearson's r, Spearman's ρ, Kendall's τ-b, and ranks with ties.
//!
//! # Formulas
//!
//! ```text
//! r   = Σ (x - x̄)(y - ȳ) / √(Σ (x - x̄)² Σ (y - ȳ)²)
//! ρ   = r of the ranks, tied values sharing the mean of their ranks
//! τ_b = (C - D) / √((C + D + Tx)(C + D + Ty))
//! ```
//!
//! `C` and `D` count pairs in the same and in opposite order, `Tx` and `Ty` pairs tied in one of
//! the two only. A constant sample has no correlation: the answer is `None`, never `NaN`.
//!
//! # References
//!
//! - W. R. Knight (1966), "A computer method for calculating Kendall's tau with ungrouped data".

use mohs_data::Estimate;

use crate::proportion::{normal_quantile, real};

/// Returns Pearson's correlation; `None` for samples of different length, fewer than two values, a
/// value that is not finite, or a constant sample.
pub fn pearson(x: &[f64], y: &[f64]) -> Option<f64> {
    if x.len() != y.len() || x.len() < 2 || !all_finite(x) || !all_finite(y) {
        return None;
    }
    let (mean_x, mean_y) = (mean(x), mean(y));
    let (mut xx, mut yy, mut xy) = (0.0, 0.0, 0.0);
    for (x, y) in x.iter().zip(y) {
        let (dx, dy) = (x - mean_x, y - mean_y);
        xx += dx * dx;
        yy += dy * dy;
        xy += dx * dy;
    }
    let r = xy / (xx.sqrt() * yy.sqrt());
    r.is_finite().then(|| r.clamp(-1.0, 1.0))
}

/// Returns Pearson's correlation of `n` pairs with Fisher's interval, `tanh(artanh r ± z / √(n - 3))`;
/// `None` for fewer than four pairs. A correlation of ±1 has no width this way and gets none.
pub fn fisher_interval(r: f64, n: usize, confidence: f64) -> Option<Estimate> {
    if n < 4 || 1.0 <= r.abs() {
        return None;
    }
    let half = normal_quantile(0.5 + confidence / 2.0) / (real(n) - 3.0).sqrt();
    Estimate::new(r, (r.atanh() - half).tanh(), (r.atanh() + half).tanh(), confidence, n)
}

/// Returns Spearman's rank correlation; `None` where [`pearson`] of the ranks is.
pub fn spearman(x: &[f64], y: &[f64]) -> Option<f64> {
    if !all_finite(x) || !all_finite(y) {
        return None;
    }
    pearson(&ranks(x), &ranks(y))
}

/// Returns Kendall's τ-b, which corrects for ties; `None` where [`pearson`] is.
pub fn kendall_tau_b(x: &[f64], y: &[f64]) -> Option<f64> {
    if x.len() != y.len() || x.len() < 2 || !all_finite(x) || !all_finite(y) {
        return None;
    }
    let mut pairs: Vec<(f64, f64)> = x.iter().copied().zip(y.iter().copied()).collect();
    pairs.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
    let tied_in_x = n_tied_pairs(pairs.chunk_by(|a, b| same(a.0, b.0)).map(<[_]>::len));
    let tied_in_both =
        n_tied_pairs(pairs.chunk_by(|a, b| same(a.0, b.0) && same(a.1, b.1)).map(<[_]>::len));
    let mut ys: Vec<f64> = pairs.iter().map(|pair| pair.1).collect();
    let mut spare = ys.clone();
    let n_swaps = merge_sort(&mut ys, &mut spare);
    let tied_in_y = n_tied_pairs(ys.chunk_by(|a, b| same(*a, *b)).map(<[_]>::len));
    let all = real(x.len()) * (real(x.len()) - 1.0) / 2.0;
    let difference = all - tied_in_x - tied_in_y + tied_in_both - 2.0 * n_swaps;
    let tau = difference / ((all - tied_in_x).sqrt() * (all - tied_in_y).sqrt());
    tau.is_finite().then(|| tau.clamp(-1.0, 1.0))
}

/// Returns the rank of each value from 1, ties sharing the mean of their ranks.
pub fn ranks(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_unstable_by(|a, b| values[*a].total_cmp(&values[*b]));
    let mut ranks = vec![0.0; values.len()];
    let mut n_before = 0;
    for tied in order.chunk_by(|a, b| same(values[*a], values[*b])) {
        let rank = real(n_before) + (real(tied.len()) + 1.0) / 2.0;
        for idx in tied {
            ranks[*idx] = rank;
        }
        n_before += tied.len();
    }
    ranks
}

/// Returns the mean; the caller knows there are values.
pub(crate) fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / real(values.len())
}

fn all_finite(values: &[f64]) -> bool {
    values.iter().all(|value| value.is_finite())
}

#[expect(clippy::float_cmp, reason = "a tie is the same number")]
fn same(a: f64, b: f64) -> bool {
    a == b
}

fn n_tied_pairs(run_lengths: impl Iterator<Item = usize>) -> f64 {
    run_lengths.map(|n| real(n) * (real(n) - 1.0) / 2.0).sum()
}

/// Sorts in place and returns by how many neighbour swaps.
fn merge_sort(values: &mut [f64], spare: &mut [f64]) -> f64 {
    let n = values.len();
    if n < 2 {
        return 0.0;
    }
    let middle = n / 2;
    let mut n_swaps = {
        let (left, right) = values.split_at_mut(middle);
        let (spare_left, spare_right) = spare.split_at_mut(middle);
        merge_sort(left, spare_left) + merge_sort(right, spare_right)
    };
    let (mut left, mut right) = (0, middle);
    for place in spare.iter_mut() {
        let take_right = left == middle || (right < n && values[right] < values[left]);
        if take_right {
            *place = values[right];
            right += 1;
            n_swaps += real(middle - left);
        } else {
            *place = values[left];
            left += 1;
        }
    }
    values.copy_from_slice(spare);
    n_swaps
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const X: [f64; 8] = [1.0, 2.0, 2.0, 4.0, 5.0, 6.0, 6.0, 9.0];
    const Y: [f64; 8] = [2.0, 1.0, 3.0, 3.0, 7.0, 5.0, 5.0, 6.0];

    /// Golden: scipy 1.17.1, `pearsonr`, `spearmanr`, `kendalltau`.
    #[test]
    fn the_three_are_those_of_scipy() {
        assert!((pearson(&X, &Y).unwrap() - 0.801_418_958_807_130_9).abs() < 1e-12);
        assert!((spearman(&X, &Y).unwrap() - 0.798_780_487_804_878_1).abs() < 1e-12);
        assert!((kendall_tau_b(&X, &Y).unwrap() - 0.653_846_153_846_154).abs() < 1e-12);
    }

    /// The correlation of the paper, 0.77 over 12 models: artanh 0.77 = 1.020328, 1.959964 / 3 =
    /// 0.653321, tanh 0.367006 = 0.351370 and tanh 1.673649 = 0.932032.
    #[test]
    fn fishers_interval_worked_by_hand() {
        let found = fisher_interval(0.77, 12, 0.95).unwrap();
        assert!((found.low - 0.351_370).abs() < 1e-5, "{found:?}");
        assert!((found.high - 0.932_032).abs() < 1e-5, "{found:?}");
        assert!(
            fisher_interval(0.77, 3, 0.95).is_none() && fisher_interval(1.0, 9, 0.95).is_none()
        );
    }

    #[test]
    fn tied_values_share_the_mean_of_their_ranks() {
        assert_eq!(ranks(&[3.0, 1.0, 3.0, 0.0]), [3.5, 2.0, 3.5, 1.0]);
    }

    #[test]
    fn no_correlation_of_a_constant_or_of_what_is_no_number() {
        for of in [pearson, spearman, kendall_tau_b] {
            assert_eq!(of(&[1.0, 1.0, 1.0], &[1.0, 2.0, 3.0]), None);
            assert_eq!(of(&[1.0, f64::NAN, 3.0], &[1.0, 2.0, 3.0]), None);
            assert_eq!(of(&[1.0], &[2.0]), None);
            assert_eq!(of(&[1.0, 2.0], &[2.0]), None);
        }
    }

    /// All pairs, one by one.
    fn plain_tau_b(x: &[f64], y: &[f64]) -> Option<f64> {
        let (mut same_order, mut opposite, mut only_x, mut only_y) = (0.0, 0.0, 0.0, 0.0);
        for i in 0..x.len() {
            for j in 0..i {
                match ((x[i] - x[j]) * (y[i] - y[j]), same(x[i], x[j]), same(y[i], y[j])) {
                    (_, true, true) => {}
                    (_, true, false) => only_x += 1.0,
                    (_, false, true) => only_y += 1.0,
                    (product, ..) if 0.0 < product => same_order += 1.0,
                    _ => opposite += 1.0,
                }
            }
        }
        let all: f64 = same_order + opposite;
        let tau = (same_order - opposite) / ((all + only_x) * (all + only_y)).sqrt();
        tau.is_finite().then_some(tau)
    }

    proptest! {
        #[test]
        fn tau_b_is_that_of_all_pairs(
            pairs in proptest::collection::vec((0_i32..6, 0_i32..6), 2..40),
        ) {
            let x: Vec<f64> = pairs.iter().map(|pair| f64::from(pair.0)).collect();
            let y: Vec<f64> = pairs.iter().map(|pair| f64::from(pair.1)).collect();
            match (kendall_tau_b(&x, &y), plain_tau_b(&x, &y)) {
                (Some(fast), Some(plain)) => prop_assert!((fast - plain).abs() < 1e-12),
                (fast, plain) => prop_assert_eq!(fast, plain),
            }
        }

        #[test]
        fn correlations_do_not_care_for_scale_and_turn_with_the_sign(
            pairs in proptest::collection::vec((-9.0_f64..9.0, -9.0_f64..9.0), 3..30),
        ) {
            let x: Vec<f64> = pairs.iter().map(|pair| pair.0).collect();
            let y: Vec<f64> = pairs.iter().map(|pair| pair.1).collect();
            let turned: Vec<f64> = x.iter().map(|x| 3.0 - 2.0 * x).collect();
            for of in [pearson, spearman, kendall_tau_b] {
                if let (Some(r), Some(back)) = (of(&x, &y), of(&turned, &y)) {
                    prop_assert!((r + back).abs() < 1e-9 && r.abs() <= 1.0);
                }
            }
        }
    }
}
