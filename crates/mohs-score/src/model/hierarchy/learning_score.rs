//! The hierarchical learning score: does a model that solves hard stimuli solve easy ones, too?
//!
//! # Formula
//!
//! In a cell let `p_d` be the share of right answers at level `d` of `K`, easy to hard, and
//! `q_d = 1 - p_d`. Over all chains of the cell (one stimulus of each level)
//!
//! ```text
//! H = Σ_{k = 0..K}  p_1 … p_k  q_{k+1} … q_K
//! ```
//!
//! because a pattern is hierarchical when it is right up to some level `k` and wrong from there on.
//! For three levels these are four of eight patterns. `H0` is the same of the mean shares over all
//! cells of an attribute: what comes out if answers at one level say nothing about those at
//! another. The excess is
//!
//! ```text
//! (H - H0) / (1 - H0)
//! ```
//!
//! Chains take one stimulus of each level and levels share none, so a product of shares is the mean
//! over chains, and over samples of stimuli it is right on average. Cells that lack a level have no
//! chain and no score.

/// Returns the share of hierarchical patterns among all chains, from shares of right answers by
/// level, easy to hard.
pub(super) fn hierarchical(shares: &[f64]) -> f64 {
    // From the hardest level down: chance that the rest is hierarchical, and that it is all wrong.
    let (mut hierarchical, mut all_wrong) = (1.0, 1.0);
    for share in shares.iter().rev() {
        all_wrong *= 1.0 - share;
        hierarchical = share * hierarchical + all_wrong;
    }
    hierarchical
}

/// Returns the score above the baseline as a share of what is left above it; not a number when the
/// baseline leaves nothing.
pub(super) fn excess(score: f64, baseline: f64) -> f64 {
    let room = 1.0 - baseline;
    if room < 1e-9 { f64::NAN } else { (score - baseline) / room }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The form of the paper: `EMH + EMh + Emh + emh`, capitals right.
    #[test]
    fn three_levels_are_the_four_patterns_of_the_paper() {
        let [e, m, h] = [0.9, 0.6, 0.2];
        let expected = e * m * h
            + e * m * (1.0 - h)
            + e * (1.0 - m) * (1.0 - h)
            + (1.0 - e) * (1.0 - m) * (1.0 - h);
        assert!((hierarchical(&[e, m, h]) - expected).abs() < 1e-15);
        // 0.108 + 0.432 + 0.288 + 0.032
        assert!((expected - 0.86).abs() < 1e-12);
    }

    #[test]
    fn two_levels_lose_only_the_hard_one_alone() {
        assert!((hierarchical(&[0.5, 0.5]) - 0.75).abs() < 1e-15);
        assert!((hierarchical(&[0.0, 1.0]) - 0.0).abs() < 1e-15);
    }

    #[test]
    fn always_right_and_always_wrong_are_both_hierarchical() {
        for n in 1..9 {
            assert!((hierarchical(&vec![1.0; n]) - 1.0).abs() < 1e-15);
            assert!((hierarchical(&vec![0.0; n]) - 1.0).abs() < 1e-15);
        }
    }

    #[test]
    fn a_baseline_without_room_has_no_excess() {
        assert!(!excess(1.0, 1.0).is_finite());
        assert!((excess(0.9, 0.8) - 0.5).abs() < 1e-12);
        assert!((excess(0.7, 0.8) + 0.5).abs() < 1e-12);
    }

    proptest! {
        #[test]
        fn the_score_is_a_share(shares in proptest::collection::vec(0.0_f64..=1.0, 1..10)) {
            let score = hierarchical(&shares);
            prop_assert!((-1e-12..=1.0 + 1e-12).contains(&score));
        }

        #[test]
        fn steps_down_are_always_hierarchical(n in 1_usize..9, k in 0_usize..9) {
            let shares: Vec<f64> = (0..n).map(|d| if d < k { 1.0 } else { 0.0 }).collect();
            prop_assert!((hierarchical(&shares) - 1.0).abs() < 1e-12);
        }

        /// Turning levels and answers round turns hierarchical patterns into such.
        #[test]
        fn the_mirror_has_the_same_score(shares in proptest::collection::vec(0.0_f64..=1.0, 1..8)) {
            let mirrored: Vec<f64> = shares.iter().rev().map(|share| 1.0 - share).collect();
            prop_assert!((hierarchical(&shares) - hierarchical(&mirrored)).abs() < 1e-12);
        }
    }
}
