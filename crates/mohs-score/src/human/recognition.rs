//! The counting rule: recognised or not, minimum viewing time, difficulty score.
//!
//! # Definition
//!
//! ```text
//! recognised(t)  <=>  n_correct(t) >= criterion * n(t)              criterion = 1/2 in the paper
//! MVT, `stays`    =   smallest tested t such that recognised(t') for every tested t' >= t
//! MVT, `first`    =   smallest tested t such that recognised(t)
//! difficulty      =   wrong answers over all trials
//! ```
//!
//! The paper defines the minimum viewing time only for stimuli that, once recognised, stay
//! recognised. `stays` is the reading that its sentence "not recognised at < 100 ms and correctly
//! recognised at >= 100 ms" allows for the others: the last failure decides. `first` is the
//! optimistic reading. They agree wherever the paper is defined.
//!
//! # When there is no answer
//!
//! A stimulus nobody recognises at the longest exposure (`stays`) or at any (`first`) has no
//! minimum viewing time: `None`, a finding. Exposures without trials are not tested and are
//! skipped.
//!
//! # References
//!
//! - D. Mayo et al. (2023), "How hard are computer vision datasets? Calibrating dataset
//!   difficulty to viewing time".

use mohs_data::{Millis, MvtRule};

use super::viewing_time::ExposureCount;
use crate::proportion::real;

/// Returns the minimum viewing time of a stimulus.
///
/// `counts` must ascend by exposure; entries without trials are skipped.
pub fn minimum_viewing_time(
    counts: &[ExposureCount],
    criterion: f64,
    rule: MvtRule,
) -> Option<Millis> {
    let mut tested = counts.iter().filter(|count| 0 < count.n_trials);
    match rule {
        MvtRule::First => tested.find(|count| is_recognised(count, criterion)),
        MvtRule::Stays => tested.rev().take_while(|count| is_recognised(count, criterion)).last(),
    }
    .map(|count| count.exposure)
}

/// Returns whether enough answers at one exposure are right.
pub fn is_recognised(count: &ExposureCount, criterion: f64) -> bool {
    // A hair below the product, so that 0.6 * 5 asks for 3 right answers and not for 4.
    let n_wanted = criterion * real(count.n_trials) - 1e-9;
    0 < count.n_trials && n_wanted <= real(count.n_correct)
}

/// Returns the number of wrong answers over all exposures.
pub fn n_errors(counts: &[ExposureCount]) -> usize {
    counts.iter().map(|count| count.n_trials - count.n_correct).sum()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn counts(rows: &[(f64, usize, usize)]) -> Vec<ExposureCount> {
        rows.iter()
            .map(|&(ms, n_correct, n_trials)| ExposureCount {
                exposure: Millis::new(ms).unwrap(),
                n_trials,
                n_correct,
            })
            .collect()
    }

    fn check(rows: &[(f64, usize, usize)], first: Option<f64>, stays: Option<f64>) {
        let counts = counts(rows);
        let mvt = |rule| minimum_viewing_time(&counts, 0.5, rule).map(Millis::value);
        assert_eq!(mvt(MvtRule::First), first);
        assert_eq!(mvt(MvtRule::Stays), stays);
    }

    #[test]
    fn four_of_seven_are_half_and_three_are_not() {
        check(&[(17.0, 3, 7), (50.0, 4, 7), (100.0, 7, 7)], Some(50.0), Some(50.0));
    }

    #[test]
    fn three_of_six_are_half() {
        check(&[(17.0, 3, 6), (50.0, 6, 6)], Some(17.0), Some(17.0));
    }

    #[test]
    fn an_image_nobody_recognises_has_no_mvt() {
        check(&[(17.0, 0, 7), (10_000.0, 3, 7)], None, None);
    }

    #[test]
    fn a_relapse_separates_the_rules() {
        check(&[(17.0, 5, 7), (50.0, 2, 7), (100.0, 6, 7)], Some(17.0), Some(100.0));
    }

    #[test]
    fn failing_at_the_longest_exposure_leaves_only_the_optimistic_rule() {
        check(&[(17.0, 5, 7), (50.0, 2, 7)], Some(17.0), None);
    }

    #[test]
    fn exposures_without_trials_are_skipped() {
        check(&[(17.0, 5, 7), (50.0, 0, 0), (100.0, 6, 7)], Some(17.0), Some(17.0));
    }

    #[test]
    fn a_criterion_is_met_exactly() {
        let count = counts(&[(17.0, 3, 5)])[0];
        assert!(is_recognised(&count, 0.6));
        assert!(!is_recognised(&count, 0.61));
    }

    fn any_counts() -> impl Strategy<Value = Vec<ExposureCount>> {
        prop::collection::vec((0_usize..8, 0_usize..8), 1..7).prop_map(|rows| {
            let rows: Vec<_> = rows
                .into_iter()
                .enumerate()
                .map(|(idx, (n, k))| (real(idx + 1) * 10.0, k.min(n), n))
                .collect();
            counts(&rows)
        })
    }

    proptest! {
        #[test]
        fn the_optimistic_rule_is_never_later(counts in any_counts()) {
            let first = minimum_viewing_time(&counts, 0.5, MvtRule::First);
            let stays = minimum_viewing_time(&counts, 0.5, MvtRule::Stays);
            if let Some(stays) = stays {
                prop_assert!(first.unwrap() <= stays);
            }
        }

        #[test]
        fn doubling_every_count_changes_no_mvt(counts in any_counts()) {
            let doubled: Vec<_> = counts
                .iter()
                .map(|c| ExposureCount { n_trials: 2 * c.n_trials, n_correct: 2 * c.n_correct, ..*c })
                .collect();
            for rule in [MvtRule::First, MvtRule::Stays] {
                let mvt = minimum_viewing_time(&counts, 0.5, rule);
                prop_assert_eq!(mvt, minimum_viewing_time(&doubled, 0.5, rule));
            }
        }

        #[test]
        fn one_more_right_answer_never_lengthens_the_mvt(counts in any_counts(), at in 0_usize..7) {
            let mut better = counts.clone();
            let at = at % better.len();
            better[at].n_trials += 1;
            better[at].n_correct += 1;
            for rule in [MvtRule::First, MvtRule::Stays] {
                let before = minimum_viewing_time(&counts, 0.5, rule);
                let after = minimum_viewing_time(&better, 0.5, rule);
                // An exposure that was not tested before may now be the last one tested.
                if let Some(before) = before {
                    prop_assert!(after.is_some_and(|after| after <= before));
                }
            }
        }
    }
}
