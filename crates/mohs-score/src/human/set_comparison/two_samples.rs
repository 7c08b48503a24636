//! Two-sample tests on distributions: Kolmogorov–Smirnov and Mann–Whitney, two-sided.
//!
//! # Formulas
//!
//! ```text
//! D = max |F_A(x) - F_B(x)|
//! U = Σ ranks of A - n_A (n_A + 1) / 2
//! ```
//!
//! p-values are counted exactly where that is cheap: for `D` over all orders of the two samples, a
//! sum over lattice paths (Hodges 1958); for `U` without ties and a sample of at most 8. Else they
//! come from the limits for large samples: Kolmogorov's with Stephens' correction, and the normal
//! one with corrections for ties and continuity.
//!
//! # References
//!
//! - J. L. Hodges (1958), "The significance probability of the Smirnov two-sample test".
//! - M. A. Stephens (1970), "Use of the Kolmogorov–Smirnov, Cramér–von Mises and related statistics
//!   without extensive tables".
//! - H. B. Mann and D. R. Whitney (1947), "On a test of whether one of two random variables is
//!   stochastically larger than the other".

use statrs::function::erf::erfc;

use super::TwoSampleTest;
use crate::correlation::ranks;
use crate::proportion::real;

/// Cells of the table of paths up to which Kolmogorov–Smirnov is counted exactly.
const MOST_CELLS: usize = 4_000_000;
/// Size of the smaller sample up to which Mann–Whitney is counted exactly.
const MOST_EXACT: usize = 8;
/// Size of the larger sample up to which it is; beyond it the normal limit is as good.
const MOST_OTHER: usize = 2_000;

/// Tests for any difference between two distributions.
pub(super) fn kolmogorov_smirnov(a: &[f64], b: &[f64]) -> TwoSampleTest {
    let (mut a, mut b) = (a.to_vec(), b.to_vec());
    a.sort_unstable_by(f64::total_cmp);
    b.sort_unstable_by(f64::total_cmp);
    let (n_a, n_b) = (a.len(), b.len());
    let (mut at_a, mut at_b) = (0, 0);
    // In units of 1 / (n_a n_b), so that equality is exact.
    let mut largest = 0;
    while at_a < n_a && at_b < n_b {
        let value = a[at_a].min(b[at_b]);
        while at_a < n_a && a[at_a] <= value {
            at_a += 1;
        }
        while at_b < n_b && b[at_b] <= value {
            at_b += 1;
        }
        largest = largest.max((at_a * n_b).abs_diff(at_b * n_a));
    }
    let statistic = real(largest) / (real(n_a) * real(n_b));
    let is_exact = n_a.saturating_mul(n_b) <= MOST_CELLS;
    let p_value = if is_exact {
        share_of_paths_outside(n_a, n_b, largest)
    } else {
        let root = (real(n_a) * real(n_b) / (real(n_a) + real(n_b))).sqrt();
        kolmogorov_tail((root + 0.12 + 0.11 / root) * statistic)
    };
    TwoSampleTest { statistic, p_value: p_value.clamp(0.0, 1.0), is_exact, n_a, n_b }
}

/// Returns the share of orders of two samples whose distance reaches `largest`.
fn share_of_paths_outside(n_a: usize, n_b: usize, largest: usize) -> f64 {
    if largest == 0 {
        return 1.0;
    }
    // `outside[j]`: chance that a path to (i, j) has touched the boundary. Working with the chance
    // of touching, not of staying inside, keeps small p-values exact.
    let touches = |i: usize, j: usize| largest <= (i * n_b).abs_diff(j * n_a);
    let mut outside: Vec<f64> = vec![0.0; n_b + 1];
    for i in 0..=n_a {
        for j in 0..=n_b {
            outside[j] = if touches(i, j) {
                1.0
            } else if i == 0 && j == 0 {
                0.0
            } else {
                // The last value on the way to (i, j) was one of A with chance i / (i + j).
                let from_a = if 0 < i { real(i) / real(i + j) * outside[j] } else { 0.0 };
                let from_b = if 0 < j { real(j) / real(i + j) * outside[j - 1] } else { 0.0 };
                from_a + from_b
            };
        }
    }
    outside[n_b]
}

/// Returns the chance that Kolmogorov's limit exceeds `x`.
fn kolmogorov_tail(x: f64) -> f64 {
    if x < 0.2 {
        return 1.0;
    }
    let mut sum = 0.0;
    for k in 1..=100_i32 {
        let term = (-2.0 * f64::from(k * k) * x * x).exp();
        sum += if k % 2 == 1 { term } else { -term };
        if term < 1e-18 {
            break;
        }
    }
    2.0 * sum
}

/// Tests for a shift between two distributions.
pub(super) fn mann_whitney(a: &[f64], b: &[f64]) -> TwoSampleTest {
    let (n_a, n_b) = (a.len(), b.len());
    let both: Vec<f64> = a.iter().chain(b).copied().collect();
    let mut all_ranks = ranks(&both);
    let (size_a, size_b) = (real(n_a), real(n_b));
    let statistic = all_ranks[..n_a].iter().sum::<f64>() - size_a * (size_a + 1.0) / 2.0;
    all_ranks.sort_unstable_by(f64::total_cmp);
    let tied: f64 = all_ranks
        .chunk_by(|x, y| x.total_cmp(y).is_eq())
        .map(|group| real(group.len()).powi(3) - real(group.len()))
        .sum();
    let larger = statistic.max(size_a * size_b - statistic);
    let is_exact = n_a.min(n_b) <= MOST_EXACT && n_a.max(n_b) <= MOST_OTHER && tied <= 0.0;
    let p_value = if is_exact {
        2.0 * exact_tail(n_a.min(n_b), n_a.max(n_b), larger)
    } else {
        let n = size_a + size_b;
        let variance = size_a * size_b / 12.0 * ((n + 1.0) - tied / (n * (n - 1.0)));
        let z = (larger - size_a * size_b / 2.0 - 0.5) / variance.sqrt();
        // Everything tied: nothing tells the sets apart.
        if variance <= 0.0 { 1.0 } else { erfc(z / std::f64::consts::SQRT_2) }
    };
    TwoSampleTest { statistic, p_value: p_value.clamp(0.0, 1.0), is_exact, n_a, n_b }
}

/// Returns the chance that `U` is at least `u` when all orders are equally likely.
fn exact_tail(n_small: usize, n_large: usize, u: f64) -> f64 {
    // `ways[k][s]`: chance that `k` chosen of the ranks so far have rank sum excess `s`, built by
    // the recursion of Mann and Whitney on which sample has the largest value.
    let most = n_small * n_large;
    let mut ways = vec![vec![0.0; most + 1]; n_small + 1];
    for j in 0..=n_large {
        for k in 0..=n_small {
            if k == 0 || j == 0 {
                ways[k] = vec![0.0; most + 1];
                ways[k][0] = 1.0;
                continue;
            }
            let (is_small, is_large) = (real(k) / real(k + j), real(j) / real(k + j));
            let (before, from) = ways.split_at_mut(k);
            for s in (0..=most).rev() {
                // Largest is of the small sample: it beats all j; of the large one: no change.
                let with_small = if j <= s { before[k - 1][s - j] } else { 0.0 };
                from[0][s] = is_small * with_small + is_large * from[0][s];
            }
        }
    }
    ways[n_small].iter().enumerate().filter(|(s, _)| u - 1e-9 <= real(*s)).map(|(_, p)| p).sum()
}
