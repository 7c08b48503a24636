//! The share of pairs that people's difficulty puts in the order of the levels.
//!
//! A pair is two stimuli of one component and of different levels; stimuli of different components
//! are never compared. It is in order when the stimulus of the harder level has the larger
//! difficulty, and counts half when the two tie: the concordance of level and difficulty. Intervals
//! are moved as those of correlations are (`levels.rs`).

use mohs_data::Estimate;

use super::findings::{LevelGroup, LevelPairOrder};
use super::levels::{Levels, centred};

/// Pairs of stimuli, by easier and harder level: those in order, and all.
#[derive(Debug, Clone, PartialEq)]
struct Pairs {
    n_levels: usize,
    in_order: Vec<f64>,
    all: Vec<f64>,
}

impl Pairs {
    /// Counts within components. `level_of` is the place of each stimulus' level.
    fn count(
        n_levels: usize,
        level_of: &[Option<usize>],
        members: &[Vec<usize>],
        difficulty: &[f64],
    ) -> Self {
        let mut pairs = Self {
            n_levels,
            in_order: vec![0.0; n_levels * n_levels],
            all: vec![0.0; n_levels * n_levels],
        };
        for members in members {
            let mut sorted: Vec<(f64, usize)> = members
                .iter()
                .filter_map(|idx| Some((difficulty[*idx], level_of[*idx]?)))
                .filter(|(difficulty, _)| difficulty.is_finite())
                .collect();
            sorted.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
            pairs.sweep(&sorted);
        }
        pairs
    }

    /// Walks from easy to hard for people and counts how many of each level came before.
    fn sweep(&mut self, sorted: &[(f64, usize)]) {
        let mut before = vec![0.0; self.n_levels];
        for tied in sorted.chunk_by(|a, b| a.0.total_cmp(&b.0).is_eq()) {
            let mut here = vec![0.0; self.n_levels];
            tied.iter().for_each(|(_, level)| here[*level] += 1.0);
            for harder in 0..self.n_levels {
                for easier in 0..harder {
                    let place = easier * self.n_levels + harder;
                    self.in_order[place] += here[harder] * (before[easier] + here[easier] / 2.0);
                }
            }
            before.iter_mut().zip(here).for_each(|(sum, n)| *sum += n);
        }
        for harder in 0..self.n_levels {
            for easier in 0..harder {
                self.all[easier * self.n_levels + harder] += before[easier] * before[harder];
            }
        }
    }

    /// Returns the share in order and the number of pairs, of two levels or of all.
    fn share(&self, levels: Option<(usize, usize)>) -> (f64, f64) {
        let (in_order, all) = match levels {
            Some((easier, harder)) => {
                let place = easier * self.n_levels + harder;
                (self.in_order[place], self.all[place])
            }
            None => (self.in_order.iter().sum(), self.all.iter().sum()),
        };
        (if 0.0 < all { in_order / all } else { f64::NAN }, all)
    }
}

/// Returns the share of all pairs in order, and that of each two levels.
pub(super) fn findings(
    levels: &Levels<'_>,
    groups: &[LevelGroup],
    difficulty: &[f64],
    draws: &[Vec<f64>],
    confidence: f64,
) -> (Option<Estimate>, Vec<LevelPairOrder>) {
    let place = |value: f64| groups.iter().position(|group| group.value.total_cmp(&value).is_eq());
    let level_of: Vec<Option<usize>> =
        levels.of_stimulus.iter().map(|value| value.and_then(place)).collect();
    let count =
        |difficulty: &[f64]| Pairs::count(groups.len(), &level_of, levels.members, difficulty);
    let found = count(difficulty);
    let drawn: Vec<Pairs> = draws.iter().map(|draw| count(draw)).collect();
    let estimate = |which: Option<(usize, usize)>| {
        let (value, n) = found.share(which);
        let draws: Vec<f64> = drawn.iter().map(|pairs| pairs.share(which).0).collect();
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count")]
        let around = centred(value, &draws, confidence, n as usize)?;
        let Estimate { low, high, n, .. } = around;
        Estimate::new(value, low.max(0.0), high.min(1.0), confidence, n)
    };
    let pairs = (0..groups.len())
        .flat_map(|harder| (0..harder).map(move |easier| (easier, harder)))
        .map(|(easier, harder)| LevelPairOrder {
            easier: groups[easier].level.clone(),
            harder: groups[harder].level.clone(),
            in_order: estimate(Some((easier, harder))),
        })
        .collect();
    (estimate(None), pairs)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Levels 1, 2, 2 and 3 with difficulties 0, 5, -1 and 1: pairs (0, 5) and (0, -1) of levels 1
    /// and 2, (5, 1) and (-1, 1) of levels 2 and 3, (0, 1) of levels 1 and 3: three of five in order.
    #[test]
    fn five_pairs_worked_by_hand() {
        let level_of = [Some(0), Some(1), Some(1), Some(2)];
        let found = Pairs::count(3, &level_of, &[vec![0, 1, 2, 3]], &[0.0, 5.0, -1.0, 1.0]);
        assert_eq!(found.share(None), (3.0 / 5.0, 5.0));
        assert_eq!(found.share(Some((0, 1))), (0.5, 2.0));
        assert_eq!(found.share(Some((0, 2))), (1.0, 1.0));
    }

    /// The second component is harder throughout: pairs across would be out of order.
    #[test]
    fn pairs_across_components_do_not_count() {
        let level_of = [Some(0), Some(1), Some(0), Some(1)];
        let members = [vec![0, 1], vec![2, 3]];
        let found = Pairs::count(2, &level_of, &members, &[-1.0, 1.0, 99.0, 101.0]);
        assert_eq!(found.share(None), (1.0, 2.0));
        let joined = Pairs::count(2, &level_of, &[vec![0, 1, 2, 3]], &[-1.0, 1.0, 99.0, 101.0]);
        assert_eq!(joined.share(None), (0.75, 4.0));
    }

    #[test]
    fn a_component_of_one_level_has_no_pair() {
        let found = Pairs::count(2, &[Some(0), Some(0), None], &[vec![0, 1, 2]], &[1.0, 2.0, 3.0]);
        assert!(!found.share(None).0.is_finite());
    }

    proptest! {
        #[test]
        fn walking_along_is_looking_at_all_pairs(
            rows in proptest::collection::vec((0_usize..4, 0_i8..5), 1..25),
        ) {
            let level_of: Vec<Option<usize>> = rows.iter().map(|row| Some(row.0)).collect();
            let difficulty: Vec<f64> = rows.iter().map(|row| f64::from(row.1)).collect();
            let members = vec![(0..rows.len()).collect()];
            let found = Pairs::count(4, &level_of, &members, &difficulty);
            let (mut in_order, mut all) = (0.0, 0.0);
            for a in &rows {
                for b in rows.iter().filter(|b| a.0 < b.0) {
                    all += 1.0;
                    in_order += match a.1.cmp(&b.1) {
                        std::cmp::Ordering::Less => 1.0,
                        std::cmp::Ordering::Equal => 0.5,
                        std::cmp::Ordering::Greater => 0.0,
                    };
                }
            }
            prop_assert!((found.in_order.iter().sum::<f64>() - in_order).abs() < 1e-9);
            prop_assert!((found.all.iter().sum::<f64>() - all).abs() < 1e-9);
        }
    }
}
