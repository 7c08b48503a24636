//! Reliability: would other people find the same stimuli hard? And how well can anyone predict it?
//!
//! # Formulas
//!
//! ```text
//! r        = correlation over stimuli of the share right in two random halves, mean over splits
//! r_SB     = 2r / (1 + r)
//! ceiling  = √r_SB
//! low      = mean over people of corr(person, mean of the others)
//! high     = mean over people of corr(person, mean of everybody)
//! ```
//!
//! The people who saw a stimulus are split in halves for each stimulus anew, so people need not
//! have seen the same ones. `r_SB` (Spearman and Brown) is the reliability of the mean over
//! everybody; its root is the largest correlation with that mean which a perfect predictor of
//! difficulty can reach. `low` and `high` bracket how well one person can be predicted. Within
//! conditions, each condition's own mean is taken off first, so that easy and hard conditions
//! alone make no correlation.
//!
//! # References
//!
//! - W. Brown (1910), "Some experimental results in the correlation of mental abilities";
//!   C. Spearman (1910), "Correlation calculated from faulty data".
//! - H. Nili et al. (2014), "A toolbox for representational similarity analysis".

use super::crossed::{Resampling, View};
use super::findings::Reliability;
use super::table::Table;
use crate::draw::Draw;
use crate::proportion::real;
use mohs_data::Seed;

const SPLITS: u64 = 43;
/// Splits looked at in each draw of the bootstrap: their mean hardly varies beyond this.
const SPLITS_PER_DRAW: usize = 20;

/// Returns the reliability over all stimuli, and within conditions; `None` with fewer than two
/// people.
pub(super) fn of_people(
    resampling: &Resampling<'_>,
    n_splits: usize,
) -> Option<(Reliability, Option<Reliability>)> {
    let table = resampling.table;
    if table.n_people < 2 {
        return None;
    }
    let key = resampling.table_idx;
    let everybody = vec![true; table.n_people];
    let halves: Vec<Halves> =
        (0..n_splits).map(|idx| split(table, &everybody, resampling.seed, key, idx)).collect();
    let rights = n_right(table, &everybody);
    let is_plain = |view: &View| view.weights.iter().all(|weight| (weight - 1.0).abs() < 1e-12);
    let spreads = resampling.spreads(|view: &View| {
        let (r, loo) = if view.is_everybody {
            let n = if is_plain(view) { n_splits } else { n_splits.min(SPLITS_PER_DRAW) };
            (split_half(table, &halves[..n], view), leave_one_out(table, &rights, view))
        } else {
            let halves: Vec<Halves> = (0..n_splits.min(SPLITS_PER_DRAW))
                .map(|idx| split(table, &view.counts, resampling.seed, key, idx))
                .collect();
            let rights = n_right(table, &view.counts);
            (split_half(table, &halves, view), leave_one_out(table, &rights, view))
        };
        [0, 1].iter().flat_map(|place| numbers(r[*place], loo[*place])).collect()
    });
    let n = rights.iter().filter(|(n, _)| 2.0 <= *n).count();
    let finding = |start: usize| {
        let estimate = |idx: usize, low: f64| spreads[start + idx].estimate((low, 1.0), n);
        Reliability {
            split_half: estimate(0, -1.0),
            spearman_brown: estimate(1, -1.0),
            ceiling: estimate(2, 0.0),
            ceiling_low: estimate(3, -1.0),
            ceiling_high: estimate(4, -1.0),
        }
    };
    Some((finding(0), (1 < table.conditions.len()).then(|| finding(N_NUMBERS))))
}

const N_NUMBERS: usize = 5;

fn numbers(r: f64, [low, high]: [f64; 2]) -> [f64; N_NUMBERS] {
    let reliability = spearman_brown(r);
    // A negative reliability has no root: the number is absent.
    [r, reliability, reliability.sqrt(), low, high]
}

/// Returns the reliability of the whole from the correlation of two halves; not finite at −1.
fn spearman_brown(r: f64) -> f64 {
    (2.0 * r / (1.0 + r)).max(-1.0)
}

/// Share right in two halves of the people who saw each unit; `None` with fewer than two.
type Halves = Vec<Option<(f64, f64)>>;

fn split(table: &Table, counts: &[bool], seed: Seed, key: u64, split_idx: usize) -> Halves {
    let mut draw = Draw::new(seed, &[SPLITS, key, split_idx as u64]);
    let mut rights: Vec<f64> = Vec::new();
    table
        .units
        .iter()
        .map(|unit| {
            rights.clear();
            rights.extend(
                table
                    .people(unit)
                    .filter(|showing| counts[showing.observer_idx])
                    .map(|showing| f64::from(u8::from(showing.is_right))),
            );
            if rights.len() < 2 {
                return None;
            }
            draw.shuffle(&mut rights);
            let (a, b) = rights.split_at(rights.len() / 2);
            let mean = |half: &[f64]| half.iter().sum::<f64>() / real(half.len());
            Some((mean(a), mean(b)))
        })
        .collect()
}

/// Returns the correlation of halves, mean over splits: over all units, and within conditions.
fn split_half(table: &Table, splits: &[Halves], view: &View) -> [f64; 2] {
    let mut means = [Mean::default(); 2];
    for halves in splits {
        let mut moments = Moments::default();
        let mut within = Moments::default();
        for units in &table.units_of {
            let mut of_condition = Moments::default();
            for unit_idx in units.clone() {
                if let Some((a, b)) = halves[unit_idx] {
                    of_condition.add(view.weights[unit_idx], a, b);
                }
            }
            moments.merge(&of_condition);
            within.merge(&of_condition.centred());
        }
        means[0].add(moments.correlation());
        means[1].add(within.centred_correlation());
    }
    means.map(Mean::value)
}

/// Returns per unit how many people saw it and how many were right.
fn n_right(table: &Table, counts: &[bool]) -> Vec<(f64, f64)> {
    table
        .units
        .iter()
        .map(|unit| {
            table
                .people(unit)
                .filter(|showing| counts[showing.observer_idx])
                .fold((0.0, 0.0), |(n, n_right), showing| {
                    (n + 1.0, n_right + f64::from(u8::from(showing.is_right)))
                })
        })
        .collect()
}

/// Returns the correlation of a person with the others and with everybody, mean over people: over
/// all units, and within conditions.
fn leave_one_out(table: &Table, rights: &[(f64, f64)], view: &View) -> [[f64; 2]; 2] {
    let mut overall = vec![[Moments::default(); 2]; table.n_people];
    let mut within = overall.clone();
    let mut of_condition = overall.clone();
    for units in &table.units_of {
        of_condition.iter_mut().for_each(|moments| *moments = [Moments::default(); 2]);
        for unit_idx in units.clone() {
            let (n, n_right) = rights[unit_idx];
            let weight = view.weights[unit_idx];
            if n < 2.0 || weight <= 0.0 {
                continue;
            }
            let unit = &table.units[unit_idx];
            for showing in table.people(unit).filter(|showing| view.counts[showing.observer_idx]) {
                let x = f64::from(u8::from(showing.is_right));
                let [low, high] = &mut of_condition[showing.observer_idx];
                low.add(weight, x, (n_right - x) / (n - 1.0));
                high.add(weight, x, n_right / n);
            }
        }
        for (person_idx, moments) in of_condition.iter().enumerate() {
            for (place, moments) in moments.iter().enumerate() {
                overall[person_idx][place].merge(moments);
                within[person_idx][place].merge(&moments.centred());
            }
        }
    }
    let mean = |people: &[[Moments; 2]], place: usize, of: fn(&Moments) -> f64| {
        let mut mean = Mean::default();
        for (moments, counts) in people.iter().zip(&view.counts) {
            if *counts {
                mean.add(of(&moments[place]));
            }
        }
        mean.value()
    };
    [
        [0, 1].map(|place| mean(&overall, place, Moments::correlation)),
        [0, 1].map(|place| mean(&within, place, Moments::centred_correlation)),
    ]
}

/// A mean of what is there.
#[derive(Debug, Clone, Copy, Default)]
struct Mean {
    n: f64,
    sum: f64,
}

impl Mean {
    fn add(&mut self, value: f64) {
        if value.is_finite() {
            self.n += 1.0;
            self.sum += value;
        }
    }

    fn value(self) -> f64 {
        self.sum / self.n
    }
}

/// Weighted sums behind a correlation.
#[derive(Debug, Clone, Copy, Default)]
struct Moments {
    n: f64,
    x: f64,
    y: f64,
    xx: f64,
    yy: f64,
    xy: f64,
}

impl Moments {
    fn add(&mut self, weight: f64, x: f64, y: f64) {
        self.n += weight;
        self.x += weight * x;
        self.y += weight * y;
        self.xx += weight * x * x;
        self.yy += weight * y * y;
        self.xy += weight * x * y;
    }

    fn merge(&mut self, other: &Self) {
        self.n += other.n;
        self.x += other.x;
        self.y += other.y;
        self.xx += other.xx;
        self.yy += other.yy;
        self.xy += other.xy;
    }

    /// Returns the sums about the means.
    fn centred(&self) -> Self {
        if self.n <= 0.0 {
            return Self::default();
        }
        Self {
            n: self.n,
            x: 0.0,
            y: 0.0,
            xx: self.xx - self.x * self.x / self.n,
            yy: self.yy - self.y * self.y / self.n,
            xy: self.xy - self.x * self.y / self.n,
        }
    }

    fn correlation(&self) -> f64 {
        self.centred().centred_correlation()
    }

    /// Returns the correlation of sums about means; not finite for a constant.
    fn centred_correlation(&self) -> f64 {
        // Rounding leaves a trace of variance in a constant.
        let tiny = 1e-9 * self.n;
        if self.xx <= tiny || self.yy <= tiny {
            return f64::NAN;
        }
        (self.xy / (self.xx * self.yy).sqrt()).clamp(-1.0, 1.0)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::correlation::pearson;

    #[test]
    fn halves_that_correlate_by_a_half_make_a_whole_of_two_thirds() {
        assert!((spearman_brown(0.5) - 2.0 / 3.0).abs() < 1e-12);
        assert!(!spearman_brown(-1.0).is_finite() || spearman_brown(-1.0) <= -1.0);
    }

    proptest! {
        #[test]
        fn moments_give_pearsons_correlation(
            pairs in proptest::collection::vec((0.0..1.0_f64, 0.0..1.0_f64), 3..40)
        ) {
            let mut moments = Moments::default();
            for (x, y) in &pairs {
                moments.add(1.0, *x, *y);
            }
            let (x, y): (Vec<f64>, Vec<f64>) = pairs.into_iter().unzip();
            if let Some(r) = pearson(&x, &y) && moments.correlation().is_finite() {
                prop_assert!((r - moments.correlation()).abs() < 1e-6);
            }
        }
    }
}
