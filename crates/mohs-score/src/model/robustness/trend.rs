//! How ε and people's difficulty go together, stimulus by stimulus, survivors included.
//!
//! # Formulas
//!
//! Of two stimuli the order of ε is known when the one with the smaller ε was fooled: `a = ±1`,
//! else `a = 0`. Their order of difficulty is `b = ±1`, or 0 when equal. Over all pairs:
//!
//! ```text
//! τ_b = Σ a b / √(Σ a² Σ b²)                          (Brown, Hollander and Korwar 1974)
//! C   = (pairs with a b < 0 + ½ pairs with a ≠ 0, b = 0) / Σ a²       (Harrell et al. 1982)
//! ρ   = Spearman's correlation, where everything is fooled
//! ```
//!
//! A survivor was at least as strong as the ε it was tried at, so it stands above whatever is
//! fooled there or before; two survivors have no order. Without survivors `τ_b` is Kendall's.
//! Intervals come from the draws of `redraw.rs`.
//!
//! # References
//!
//! - B. W. Brown, M. Hollander and R. M. Korwar (1974), "Nonparametric tests of independence for
//!   censored data, with applications to heart transplant studies".
//! - F. E. Harrell, R. M. Califf, D. B. Pryor, K. L. Lee and R. A. Rosati (1982), "Evaluating the
//!   yield of medical tests".

use super::findings::RankCorrelation;
use super::series::{Series, Table};
use super::survival::Observation;
use crate::model::redraw::Redraw;

/// Stimuli below which ranks say nothing.
const FEWEST: usize = 4;

/// Returns how ε and difficulty go together; `None` with too few stimuli that have a difficulty, or
/// where one of the two never differs.
pub(super) fn of_series(
    table: &Table<'_>,
    series: &Series<'_>,
    redraw: &Redraw,
) -> Option<RankCorrelation> {
    let difficulty =
        |o: &Observation| table.stimuli[o.stimulus_idx].difficulty.map(|row| row.estimate.value);
    let pairs: Vec<(Observation, f64)> =
        series.observed.iter().filter_map(|o| Some((*o, difficulty(o)?))).collect();
    if pairs.len() < FEWEST {
        return None;
    }
    let ranked = Ranked::new(&pairs);
    let n = pairs.len();
    let whole = ranked.count(&vec![1; table.stimuli.len()]);
    let (tau, concordance) = (whole.tau_b(), whole.concordance());
    if !tau.is_finite() || !concordance.is_finite() {
        return None;
    }
    let is_all_fooled = pairs.iter().all(|(o, _)| o.is_fooled);
    let draws = redraw.fewer_draws(|weights| {
        let counted = ranked.count(weights);
        let rho = if is_all_fooled { ranked.spearman(weights) } else { f64::NAN };
        vec![counted.tau_b(), counted.concordance(), rho]
    });
    let rho = if is_all_fooled { ranked.spearman(&vec![1; table.stimuli.len()]) } else { f64::NAN };
    Some(RankCorrelation {
        tau_b: redraw.estimate(tau, &draws, 0, n)?,
        concordance: redraw.estimate(concordance, &draws, 1, n)?,
        spearman: rho.is_finite().then(|| redraw.estimate(rho, &draws, 2, n)).flatten(),
    })
}

/// Stimuli by ε, each with the rank of its difficulty.
struct Ranked {
    /// Sorted by ε, of equal ones the fooled first: stimulus, rank of difficulty, fooled.
    sorted: Vec<(usize, usize, bool)>,
    /// Where runs of equal ε begin, and the end.
    starts: Vec<usize>,
    n_ranks: usize,
}

/// Pairs of each kind.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Pairs {
    /// The harder has the larger ε.
    same: f64,
    /// The harder has the smaller ε.
    opposite: f64,
    /// The order of ε is known, difficulty is equal.
    tied_difficulty: f64,
    /// Difficulty differs, whatever is known of ε.
    apart: f64,
}

impl Pairs {
    fn tau_b(self) -> f64 {
        let known = self.same + self.opposite + self.tied_difficulty;
        (self.same - self.opposite) / (known * self.apart).sqrt()
    }

    fn concordance(self) -> f64 {
        let known = self.same + self.opposite + self.tied_difficulty;
        (self.opposite + self.tied_difficulty / 2.0) / known
    }
}

impl Ranked {
    /// `pairs` are sorted by ε as `survival::sort` does.
    fn new(pairs: &[(Observation, f64)]) -> Self {
        let mut values: Vec<f64> = pairs.iter().map(|pair| pair.1).collect();
        values.sort_unstable_by(f64::total_cmp);
        values.dedup_by(|a, b| a.total_cmp(b).is_eq());
        let rank = |value: f64| values.partition_point(|other| other.total_cmp(&value).is_lt());
        let sorted: Vec<(usize, usize, bool)> =
            pairs.iter().map(|(o, d)| (o.stimulus_idx, rank(*d), o.is_fooled)).collect();
        let mut starts = vec![0];
        for run in pairs.chunk_by(|a, b| a.0.epsilon.total_cmp(&b.0.epsilon).is_eq()) {
            starts.push(starts.last().copied().unwrap_or(0) + run.len());
        }
        Self { sorted, starts, n_ranks: values.len() }
    }

    /// Counts pairs when stimuli count as often as they were drawn, from the largest ε down; those
    /// above stand in a tree of sums over ranks of difficulty.
    fn count(&self, weights: &[u32]) -> Pairs {
        let mut above = Sums::new(self.n_ranks);
        let mut by_rank = vec![0.0; self.n_ranks];
        let mut pairs = Pairs::default();
        for run in self.starts.windows(2).rev() {
            let run = &self.sorted[run[0]..run[1]];
            let n_fooled = run.partition_point(|one| one.2);
            // Survivors of this ε stand above what is fooled at it.
            for (stimulus_idx, rank, _) in &run[n_fooled..] {
                above.add(*rank, f64::from(weights[*stimulus_idx]));
            }
            for (stimulus_idx, rank, _) in &run[..n_fooled] {
                let weight = f64::from(weights[*stimulus_idx]);
                let (easier, not_harder) = (above.before(*rank), above.before(*rank + 1));
                pairs.opposite += weight * easier;
                pairs.tied_difficulty += weight * (not_harder - easier);
                pairs.same += weight * (above.total - not_harder);
            }
            for (stimulus_idx, rank, _) in &run[..n_fooled] {
                above.add(*rank, f64::from(weights[*stimulus_idx]));
            }
        }
        for (stimulus_idx, rank, _) in &self.sorted {
            by_rank[*rank] += f64::from(weights[*stimulus_idx]);
        }
        let squares: f64 = by_rank.iter().map(|weight| weight * weight).sum();
        pairs.apart = (above.total * above.total - squares) / 2.0;
        pairs
    }

    /// Returns Spearman's ρ when stimuli count as often as they were drawn; not a number when one
    /// of the two never differs.
    fn spearman(&self, weights: &[u32]) -> f64 {
        let weight = |one: &(usize, usize, bool)| f64::from(weights[one.0]);
        let mut by_rank = vec![0.0; self.n_ranks];
        for one in &self.sorted {
            by_rank[one.1] += weight(one);
        }
        let mut below = 0.0;
        let middle: Vec<f64> = by_rank
            .iter()
            .map(|mass| {
                let rank = below + mass / 2.0;
                below += mass;
                rank
            })
            .collect();
        let total = below;
        let centre = total / 2.0;
        let (mut xx, mut yy, mut xy) = (0.0, 0.0, 0.0);
        let mut below = 0.0;
        for run in self.starts.windows(2) {
            let run = &self.sorted[run[0]..run[1]];
            let mass: f64 = run.iter().map(weight).sum();
            let x = below + mass / 2.0 - centre;
            below += mass;
            for one in run {
                let y = middle[one.1] - centre;
                xx += weight(one) * x * x;
                yy += weight(one) * y * y;
                xy += weight(one) * x * y;
            }
        }
        (xy / (xx * yy).sqrt()).clamp(-1.0, 1.0)
    }
}

/// Sums over a growing number of ranks (a Fenwick tree).
struct Sums {
    tree: Vec<f64>,
    total: f64,
}

impl Sums {
    fn new(n: usize) -> Self {
        Self { tree: vec![0.0; n + 1], total: 0.0 }
    }

    fn add(&mut self, rank: usize, weight: f64) {
        self.total += weight;
        let mut at = rank + 1;
        while at < self.tree.len() {
            self.tree[at] += weight;
            at += at & at.wrapping_neg();
        }
    }

    /// Returns the sum over ranks below `rank`.
    fn before(&self, rank: usize) -> f64 {
        let (mut at, mut sum) = (rank, 0.0);
        while 0 < at {
            sum += self.tree[at];
            at &= at - 1;
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::survival::sort;
    use super::super::survival::tests::SMALL;
    use super::*;
    use crate::correlation::{kendall_tau_b, spearman};

    fn ranked(rows: &[(f64, bool, f64)]) -> Ranked {
        let mut observed: Vec<Observation> = rows
            .iter()
            .enumerate()
            .map(|(stimulus_idx, row)| Observation {
                stimulus_idx,
                epsilon: row.0,
                is_fooled: row.1,
            })
            .collect();
        sort(&mut observed);
        let pairs: Vec<(Observation, f64)> =
            observed.iter().map(|o| (*o, rows[o.stimulus_idx].2)).collect();
        Ranked::new(&pairs)
    }

    /// All pairs, one by one.
    fn plain(rows: &[(f64, bool, f64)]) -> Pairs {
        let mut pairs = Pairs::default();
        for (i, x) in rows.iter().enumerate() {
            for y in &rows[..i] {
                let is_below = |a: &(f64, bool, f64), b: &(f64, bool, f64)| {
                    a.1 && (a.0 < b.0 || (a.0 <= b.0 && !b.1))
                };
                let a = f64::from(u8::from(is_below(y, x))) - f64::from(u8::from(is_below(x, y)));
                let b = (x.2 - y.2).partial_cmp(&0.0).map_or(0.0, |o| f64::from(o as i8));
                pairs.apart += b * b;
                match (a * b, a * a) {
                    (product, _) if 0.0 < product => pairs.same += 1.0,
                    (product, _) if product < 0.0 => pairs.opposite += 1.0,
                    (_, known) if 0.0 < known => pairs.tied_difficulty += 1.0,
                    _ => {}
                }
            }
        }
        pairs
    }

    /// ε 1 (hard), 2 (easy), survivor of 2 (middle): 1 < 2, 1 < survivor, 2 < survivor are known.
    /// Harder first: yes, yes, no.
    #[test]
    fn three_stimuli_worked_by_hand() {
        let rows = [(1.0, true, 3.0), (2.0, true, 1.0), (2.0, false, 2.0)];
        let found = ranked(&rows).count(&[1, 1, 1]);
        let expected = Pairs { same: 1.0, opposite: 2.0, tied_difficulty: 0.0, apart: 3.0 };
        assert_eq!(found, expected);
        assert!((found.tau_b() + 1.0 / 3.0).abs() < 1e-12);
        assert!((found.concordance() - 2.0 / 3.0).abs() < 1e-12);
    }

    /// Golden: lifelines 0.30.3, `concordance_index`, larger difficulty predicting a smaller ε.
    #[test]
    fn the_concordance_is_that_of_lifelines() {
        let difficulty = [5.0, 3.0, 4.0, 4.0, 2.0, 2.0, 3.0, 1.0, 3.0, 1.0, 2.0, 0.0];
        let rows: Vec<(f64, bool, f64)> =
            SMALL.iter().zip(difficulty).map(|(pair, d)| (pair.0, pair.1, d)).collect();
        let found = ranked(&rows).count(&[1; 12]).concordance();
        assert!((found - 0.793_478_260_869_565_2).abs() < 1e-12, "{found}");
    }

    fn rows() -> impl Strategy<Value = Vec<(f64, bool, f64)>> {
        let one =
            (1_u8..9, any::<bool>(), 0_u8..6).prop_map(|(e, f, d)| (f64::from(e), f, f64::from(d)));
        proptest::collection::vec(one, 2..30)
    }

    proptest! {
        #[test]
        fn counting_by_a_tree_is_counting_all_pairs(rows in rows()) {
            prop_assert_eq!(ranked(&rows).count(&vec![1; rows.len()]), plain(&rows));
        }

        #[test]
        fn drawing_a_stimulus_twice_is_having_it_twice(rows in rows()) {
            let twice: Vec<(f64, bool, f64)> = rows.iter().chain(&rows).copied().collect();
            let drawn = ranked(&rows).count(&vec![2; rows.len()]);
            prop_assert_eq!(drawn, plain(&twice));
        }

        #[test]
        fn where_all_are_fooled_they_are_kendalls_and_spearmans(rows in rows()) {
            let rows: Vec<(f64, bool, f64)> = rows.iter().map(|row| (row.0, true, row.2)).collect();
            let x: Vec<f64> = rows.iter().map(|row| row.0).collect();
            let y: Vec<f64> = rows.iter().map(|row| row.2).collect();
            let (ranked, ones) = (ranked(&rows), vec![1; rows.len()]);
            let pairs = [
                (kendall_tau_b(&x, &y), ranked.count(&ones).tau_b()),
                (spearman(&x, &y), ranked.spearman(&ones)),
            ];
            for (known, found) in pairs {
                match known {
                    Some(known) => prop_assert!((known - found).abs() < 1e-9),
                    None => prop_assert!(!found.is_finite()),
                }
            }
        }

        #[test]
        fn turning_difficulty_round_turns_the_sign(rows in rows()) {
            let turned: Vec<(f64, bool, f64)> =
                rows.iter().map(|row| (row.0, row.1, -row.2)).collect();
            let ones = vec![1; rows.len()];
            let (one, other) = (ranked(&rows).count(&ones), ranked(&turned).count(&ones));
            prop_assert_eq!(one.same.to_bits(), other.opposite.to_bits());
            if one.tau_b().is_finite() {
                prop_assert!((one.tau_b() + other.tau_b()).abs() < 1e-12);
                prop_assert!((one.concordance() + other.concordance() - 1.0).abs() < 1e-12);
            }
        }
    }
}
