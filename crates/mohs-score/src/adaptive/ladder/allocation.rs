//! Whole numbers of questions for strata that want broken ones.
//!
//! # Method
//!
//! ```text
//! x_h = clip(k w_h, low_h, high_h),   k such that Σ x_h = total
//! ```
//!
//! Then systematic rounding in random order: with `u` uniform, stratum `h` gets the number of whole
//! numbers that `u + Σ` passes on the way over `x_h`, which is `x_h` rounded up or down, `x_h` on
//! average, and the total exactly.

use crate::draw::Draw;
use crate::proportion::real;

/// What one stratum wants.
#[derive(Debug, Clone, Copy)]
pub(super) struct Want {
    /// How much, compared with the others. Not negative.
    pub(super) weight: f64,
    /// It gets at least this.
    pub(super) low: usize,
    /// It gets at most this.
    pub(super) high: usize,
}

impl Want {
    /// What it gets per unit `k`.
    pub(super) fn at(&self, k: f64) -> f64 {
        (k * self.weight).clamp(real(self.low), real(self.high))
    }
}

/// Halvings when `k` is looked for: enough for a double.
const N_HALVINGS: usize = 200;

/// Returns the smallest `k`, nearly, for which `is_enough` holds; `None` if none does.
pub(super) fn smallest(is_enough: impl Fn(f64) -> bool) -> Option<f64> {
    let mut high = 1.0;
    while !is_enough(high) {
        high *= 2.0;
        if 1e18 < high {
            return None;
        }
    }
    let mut low = 0.0;
    for _ in 0..N_HALVINGS {
        let middle = f64::midpoint(low, high);
        if middle <= low || high <= middle {
            break;
        }
        if is_enough(middle) { high = middle } else { low = middle }
    }
    Some(high)
}

/// Spreads `total` questions; the nearest attainable total if bounds do not allow it.
pub(super) fn spread(wants: &[Want], total: usize, draw: &mut Draw) -> Vec<usize> {
    let sum_at = |k: f64| wants.iter().map(|want| want.at(k)).sum::<f64>();
    let least: usize = wants.iter().map(|want| want.low).sum();
    if total <= least {
        return wants.iter().map(|want| want.low).collect();
    }
    // Strata that want nothing at all keep a total out of reach; they want a little.
    let Some(k) = smallest(|k| real(total) <= sum_at(k)) else {
        let wants: Vec<Want> =
            wants.iter().map(|want| Want { weight: want.weight.max(1e-9), ..*want }).collect();
        let most: usize = wants.iter().map(|want| want.high).sum();
        if most <= total {
            return wants.iter().map(|want| want.high).collect();
        }
        return spread(&wants, total, draw);
    };
    round(&wants.iter().map(|want| want.at(k)).collect::<Vec<_>>(), wants, draw)
}

/// Rounds systematically, in random order.
pub(super) fn round(exact: &[f64], wants: &[Want], draw: &mut Draw) -> Vec<usize> {
    let mut order: Vec<usize> = (0..exact.len()).collect();
    draw.shuffle(&mut order);
    let start = draw.uniform();
    // Sums of broken numbers are not exact; what is meant to be whole must be.
    let total: f64 = exact.iter().sum();
    let total = if (total - total.round()).abs() < 1e-6 { total.round() } else { total };
    let (mut sum, mut passed) = (0.0, 0);
    let mut whole = vec![0; exact.len()];
    for (nth, idx) in order.iter().enumerate() {
        sum += exact[*idx];
        let reached = if nth + 1 == order.len() { total } else { sum };
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a count, positive and small"
        )]
        let here = (start + reached).floor() as usize;
        whole[*idx] = (here - passed.min(here)).clamp(wants[*idx].low, wants[*idx].high);
        passed = here;
    }
    whole
}

#[cfg(test)]
mod tests {
    use mohs_data::Seed;
    use proptest::prelude::*;

    use super::*;

    fn wants(weights: &[f64]) -> Vec<Want> {
        weights.iter().map(|weight| Want { weight: *weight, low: 2, high: 12 }).collect()
    }

    #[test]
    fn wants_are_met_in_proportion() {
        let mut draw = Draw::new(Seed(1), &[]);
        assert_eq!(spread(&wants(&[1.0, 2.0, 3.0]), 18, &mut draw), [3, 6, 9]);
        assert_eq!(spread(&wants(&[0.1, 0.1, 5.0]), 16, &mut draw), [2, 2, 12]);
        assert_eq!(spread(&wants(&[0.0, 0.0, 0.0]), 9, &mut draw).iter().sum::<usize>(), 9);
        assert_eq!(spread(&wants(&[1.0, 1.0]), 99, &mut draw), [12, 12]);
        assert_eq!(spread(&wants(&[1.0, 1.0]), 1, &mut draw), [2, 2]);
    }

    #[test]
    fn rounding_is_right_on_average() {
        let wants = wants(&[1.0, 1.3, 2.2]);
        let mut sums = [0; 3];
        for seed in 0..4_000 {
            let found = spread(&wants, 10, &mut Draw::new(Seed(seed), &[]));
            for (sum, n) in sums.iter_mut().zip(found) {
                *sum += n;
            }
        }
        for (sum, weight) in sums.iter().zip([1.0, 1.3, 2.2]) {
            assert!((real(*sum) / 4_000.0 - 10.0 * weight / 4.5).abs() < 0.04, "{sums:?}");
        }
    }

    proptest! {
        #[test]
        fn the_total_is_met_and_bounds_are_kept(
            weights in prop::collection::vec(0.0..3.0_f64, 1..40),
            share in 0.0..1.0_f64,
            seed in 0..u64::MAX,
        ) {
            let wants = wants(&weights);
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "small")]
            let total = 2 * wants.len() + (share * 10.0 * real(wants.len())) as usize;
            let found = spread(&wants, total, &mut Draw::new(Seed(seed), &[]));
            prop_assert_eq!(found.iter().sum::<usize>(), total);
            prop_assert!(found.iter().all(|n| (2..=12).contains(n)));
        }
    }
}
