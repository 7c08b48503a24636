//! Patterns along a chain: one stimulus of each level, easy to hard, each right or wrong.
//!
//! `K` levels have `2^K` patterns; `K + 1` of them are hierarchical: once wrong, wrong at all harder
//! levels. In closed form a pattern's share in a cell is the product of `p_d` where it is right and
//! `1 - p_d` where it is wrong, and its count the product of the numbers of such answers.

/// Levels up to which all patterns are listed; more have hundreds.
pub(super) const MOST_LISTED: usize = 5;

/// Returns whether nothing is right after a wrong answer.
pub(super) fn is_hierarchical(right: &[bool]) -> bool {
    right.windows(2).all(|pair| pair[0] || !pair[1])
}

/// Returns the patterns that are listed: hierarchical ones from all right to all wrong, then, with
/// few levels, the others, the easiest levels right first.
pub(super) fn listed(n_levels: usize) -> Vec<Vec<bool>> {
    let hierarchical = (0..=n_levels).rev().map(|k| (0..n_levels).map(|d| d < k).collect());
    let mut patterns: Vec<Vec<bool>> = hierarchical.collect();
    if n_levels <= MOST_LISTED {
        let all = (0..1_u32 << n_levels).rev();
        let bits = all.map(|bits| -> Vec<bool> {
            (0..n_levels).map(|d| bits >> (n_levels - 1 - d) & 1 == 1).collect()
        });
        patterns.extend(bits.filter(|right| !is_hierarchical(right)));
    }
    patterns
}

/// Returns the share of chains with a pattern, from shares of right answers by level.
pub(super) fn share(right: &[bool], shares: &[f64]) -> f64 {
    right.iter().zip(shares).map(|(right, p)| if *right { *p } else { 1.0 - p }).product()
}

/// Returns how many chains have a pattern, from right answers and answers by level.
pub(super) fn count(right: &[bool], counts: &[(usize, usize)]) -> u64 {
    right
        .iter()
        .zip(counts)
        .map(|(right, (n_right, n))| if *right { *n_right } else { n - n_right })
        .fold(1_u64, |product, n| product.saturating_mul(n as u64))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::learning_score::hierarchical;
    use super::*;

    fn text(right: &[bool]) -> String {
        right.iter().map(|right| if *right { '1' } else { '0' }).collect()
    }

    #[test]
    fn three_levels_have_eight_patterns_of_which_four_are_hierarchical() {
        let patterns = listed(3);
        let shown: Vec<String> = patterns.iter().map(|right| text(right)).collect();
        assert_eq!(shown, ["111", "110", "100", "000", "101", "011", "010", "001"]);
        let n = patterns.iter().filter(|right| is_hierarchical(right)).count();
        assert_eq!(n, 4);
        assert!(patterns[..4].iter().all(|right| is_hierarchical(right)));
    }

    #[test]
    fn two_levels_have_four_patterns_and_many_levels_list_the_hierarchical_ones() {
        let shown: Vec<String> = listed(2).iter().map(|right| text(right)).collect();
        assert_eq!(shown, ["11", "10", "00", "01"]);
        assert_eq!((listed(5).len(), listed(9).len()), (32, 10));
        assert!(listed(9).iter().all(|right| is_hierarchical(right)));
    }

    /// Two easy stimuli, one right; three medium, two right; two hard, one right: 12 chains.
    #[test]
    fn eight_patterns_of_one_cell_worked_by_hand() {
        let counts = [(1, 2), (2, 3), (1, 2)];
        let found: Vec<u64> = listed(3).iter().map(|right| count(right, &counts)).collect();
        // 1·2·1, 1·2·1, 1·1·1, 1·1·1 and 1·1·1, 1·2·1, 1·2·1, 1·1·1
        assert_eq!(found, [2, 2, 1, 1, 1, 2, 2, 1]);
        let score = hierarchical(&[0.5, 2.0 / 3.0, 0.5]);
        assert!((score - 6.0 / 12.0).abs() < 1e-12);
    }

    proptest! {
        /// Every chain looked at, one by one.
        #[test]
        fn the_closed_form_is_exhaustive_enumeration(
            levels in proptest::collection::vec(
                proptest::collection::vec(any::<bool>(), 1..5), 2..6,
            ),
        ) {
            let n_levels = levels.len();
            let mut chains: Vec<Vec<bool>> = vec![Vec::new()];
            for level in &levels {
                let longer = |chain: &Vec<bool>| {
                    let chain = chain.clone();
                    level.iter().map(move |right| {
                        chain.iter().copied().chain([*right]).collect::<Vec<bool>>()
                    })
                };
                chains = chains.iter().flat_map(longer).collect();
            }
            let counts: Vec<(usize, usize)> = levels
                .iter()
                .map(|level| (level.iter().filter(|right| **right).count(), level.len()))
                .collect();
            #[expect(clippy::cast_precision_loss, reason = "small counts")]
            let shares: Vec<f64> = counts.iter().map(|(k, n)| *k as f64 / *n as f64).collect();
            #[expect(clippy::cast_precision_loss, reason = "small counts")]
            let part = |n: usize| n as f64 / chains.len() as f64;
            for pattern in listed(n_levels) {
                let n = chains.iter().filter(|chain| **chain == pattern).count();
                prop_assert_eq!(count(&pattern, &counts), n as u64);
                prop_assert!((share(&pattern, &shares) - part(n)).abs() < 1e-12);
            }
            let n = chains.iter().filter(|chain| is_hierarchical(chain)).count();
            prop_assert!((hierarchical(&shares) - part(n)).abs() < 1e-12);
        }
    }
}
