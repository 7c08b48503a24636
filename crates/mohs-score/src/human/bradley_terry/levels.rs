//! Difficulty against the levels a picture was made for: do people find `hard` harder?
//!
//! Levels are numbers, or `easy`, `medium`, `hard`, or words in an order that is given. Components
//! have no common zero, so difficulties *and* levels are taken from the mean of their component
//! before all stimuli are put together; in a design with the same levels in every component this
//! is the plain correlation. Components whose stimuli all have one level say nothing and are left
//! out.
//!
//! A draw leaves people out and doubles others, so its difficulties are noisier than the data's and
//! its correlations smaller. Intervals are therefore moved so that the median of the draws lies on
//! the estimate: their width is the bootstrap's, their place is not.

use std::collections::BTreeMap;

use mohs_data::Estimate;

use super::findings::{Correlations, LevelFinding, LevelGroup};
use super::in_order;
use crate::correlation::{kendall_tau_b, mean, pearson, spearman};
use crate::resample::{percentile, sorted_quantile};

/// Words whose order everybody knows.
const KNOWN: [&str; 3] = ["easy", "medium", "hard"];

/// Returns the number each level stands for: its place in `order`, if one is given; itself, if all
/// are numbers; 1, 2, 3 for easy, medium, hard. `None` if there is no level or none of this holds.
pub(crate) fn values<'a>(
    levels: impl Iterator<Item = &'a str>,
    order: &[String],
) -> Option<BTreeMap<&'a str, f64>> {
    let names: Vec<&str> = levels.collect();
    let place = |name: &str, order: &[&str]| -> Option<f64> {
        let idx = order.iter().position(|known| known.eq_ignore_ascii_case(name.trim()))?;
        Some(crate::proportion::real(idx + 1))
    };
    let by = |of: &dyn Fn(&str) -> Option<f64>| -> Option<BTreeMap<&'a str, f64>> {
        names.iter().map(|name| Some((*name, of(name)?))).collect()
    };
    if names.is_empty() {
        return None;
    }
    if !order.is_empty() {
        let order: Vec<&str> = order.iter().map(String::as_str).collect();
        return by(&|name| place(name, &order));
    }
    by(&|name| name.trim().parse::<f64>().ok().filter(|number| number.is_finite()))
        .or_else(|| by(&|name| place(name, &KNOWN)))
}

/// Stimuli with levels, ready to be correlated with one difficulty or another.
pub(super) struct Levels<'a> {
    /// Level of each stimulus; `None` without.
    pub(super) of_stimulus: &'a [Option<f64>],
    /// Members of each component.
    pub(super) members: &'a [Vec<usize>],
}

/// The three coefficients.
type Three = [Option<f64>; 3];

/// Returns a number with the interval of its draws, moved so that their median lies on it.
pub(super) fn centred(value: f64, draws: &[f64], confidence: f64, n: usize) -> Option<Estimate> {
    let mut sorted: Vec<f64> = draws.iter().copied().filter(|draw| draw.is_finite()).collect();
    sorted.sort_unstable_by(f64::total_cmp);
    let shift = if sorted.is_empty() { 0.0 } else { value - sorted_quantile(&sorted, 0.5) };
    sorted.iter_mut().for_each(|draw| *draw += shift);
    percentile(value, &sorted, confidence, n)
}

/// Returns [`centred`] within what is attainable: `most`, and the same below 0.
fn correlation(
    value: f64,
    draws: &[f64],
    most: f64,
    confidence: f64,
    n: usize,
) -> Option<Estimate> {
    let Estimate { low, high, .. } = centred(value, draws, confidence, n)?;
    // Difficulties that tie may pass what is attainable without ties.
    let most = most.max(value.abs()).min(1.0);
    Estimate::new(value, low.max(-most), high.min(most), confidence, n)
}

/// Returns the largest coefficients of levels with difficulties that do not tie: levels that tie
/// keep rank correlations below 1. For Pearson's that depends on the difficulties, and is 1.
fn attainable(levels: &[f64]) -> Three {
    let mut sorted = levels.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let places: Vec<f64> = (0..sorted.len()).map(crate::proportion::real).collect();
    [Some(1.0), spearman(&sorted, &places), kendall_tau_b(&sorted, &places)]
}

fn three(x: &[f64], y: &[f64]) -> Three {
    [pearson(x, y), spearman(x, y), kendall_tau_b(x, y)]
}

impl Levels<'_> {
    /// Returns levels and difficulties of the stimuli of a component that have both.
    fn of_component(&self, members: &[usize], difficulty: &[f64]) -> (Vec<f64>, Vec<f64>) {
        members
            .iter()
            .filter_map(|idx| Some((self.of_stimulus[*idx]?, difficulty[*idx])))
            .filter(|(_, difficulty)| difficulty.is_finite())
            .unzip()
    }

    /// Returns the correlations over all stimuli, and the number of these.
    fn overall(&self, difficulty: &[f64]) -> (Three, usize) {
        let (levels, difficulties) = self.pooled(difficulty);
        (three(&levels, &difficulties), levels.len())
    }

    /// Returns levels and difficulties of all stimuli, both from the mean of their component.
    fn pooled(&self, difficulty: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let (mut all_levels, mut all_difficulties) = (Vec::new(), Vec::new());
        for members in self.members {
            let (mut levels, mut difficulties) = self.of_component(members, difficulty);
            if !levels.iter().any(|level| (level - levels[0]).abs() > 0.0) {
                continue;
            }
            for values in [&mut levels, &mut difficulties] {
                let mean = mean(values);
                values.iter_mut().for_each(|value| *value -= mean);
            }
            all_levels.append(&mut levels);
            all_difficulties.append(&mut difficulties);
        }
        (all_levels, all_difficulties)
    }

    /// Returns the means over components of the correlations inside, and how many have each.
    fn within(&self, difficulty: &[f64]) -> [(Option<f64>, usize); 3] {
        self.means_within(difficulty, three)
    }

    fn means_within(
        &self,
        difficulty: &[f64],
        of: impl Fn(&[f64], &[f64]) -> Three,
    ) -> [(Option<f64>, usize); 3] {
        let inside: Vec<Three> = self
            .members
            .iter()
            .map(|members| {
                let (levels, difficulties) = self.of_component(members, difficulty);
                of(&levels, &difficulties)
            })
            .collect();
        [0, 1, 2].map(|which| {
            let known: Vec<f64> = inside.iter().filter_map(|three| three[which]).collect();
            ((!known.is_empty()).then(|| mean(&known)), known.len())
        })
    }

    /// Returns Kendall's τ-b inside one component, with the interval of its draws.
    pub(super) fn kendall(
        &self,
        component: usize,
        difficulty: &[f64],
        draws: &[Vec<f64>],
        confidence: f64,
    ) -> Option<Estimate> {
        let of = |difficulty: &[f64]| {
            let (levels, difficulties) = self.of_component(&self.members[component], difficulty);
            Some((kendall_tau_b(&levels, &difficulties)?, levels.len()))
        };
        let (value, n) = of(difficulty)?;
        let drawn: Vec<f64> = draws.iter().filter_map(|draw| Some(of(draw)?.0)).collect();
        let (levels, _) = self.of_component(&self.members[component], difficulty);
        let most = attainable(&levels)[2].unwrap_or(1.0);
        correlation(value, &drawn, most, confidence, n)
    }

    /// Returns everything about levels.
    pub(super) fn findings(
        &self,
        names: &BTreeMap<&str, f64>,
        difficulty: &[f64],
        draws: &[Vec<f64>],
        confidence: f64,
    ) -> LevelFinding {
        let (overall, n_stimuli) = self.overall(difficulty);
        let within = self.within(difficulty);
        let drawn_overall: Vec<Three> = draws.iter().map(|draw| self.overall(draw).0).collect();
        let drawn_within: Vec<Three> =
            draws.iter().map(|draw| self.within(draw).map(|(value, _)| value)).collect();
        let most_overall = attainable(&self.pooled(difficulty).0);
        let most_within =
            self.means_within(difficulty, |levels, _| attainable(levels)).map(|(most, _)| most);
        let estimate = |(value, n): (Option<f64>, usize), drawn: Vec<f64>, most: Option<f64>| {
            correlation(value?, &drawn, most.unwrap_or(1.0), confidence, n)
        };
        let of = |drawn: &[Three], which: usize| -> Vec<f64> {
            drawn.iter().filter_map(|three| three[which]).collect()
        };
        let correlations = |of: &dyn Fn(usize) -> Option<Estimate>| Correlations {
            pearson: of(0),
            spearman: of(1),
            kendall: of(2),
        };
        let groups = self.groups(names, difficulty, draws, confidence);
        let (in_order, pairs) = in_order::findings(self, &groups, difficulty, draws, confidence);
        LevelFinding {
            levels: groups,
            in_order,
            pairs,
            overall: correlations(&|idx| {
                estimate((overall[idx], n_stimuli), of(&drawn_overall, idx), most_overall[idx])
            }),
            within: correlations(&|idx| {
                estimate(within[idx], of(&drawn_within, idx), most_within[idx])
            }),
        }
    }

    fn groups(
        &self,
        names: &BTreeMap<&str, f64>,
        difficulty: &[f64],
        draws: &[Vec<f64>],
        confidence: f64,
    ) -> Vec<LevelGroup> {
        let mut by_value: Vec<(&str, f64)> = names.iter().map(|(name, at)| (*name, *at)).collect();
        by_value.sort_by(|a, b| a.1.total_cmp(&b.1).then(a.0.cmp(b.0)));
        // Two spellings of one level are one level, under the first name.
        by_value.dedup_by(|b, a| a.1.total_cmp(&b.1).is_eq());
        by_value
            .into_iter()
            .map(|(name, value)| {
                let members: Vec<usize> = (0..self.of_stimulus.len())
                    .filter(|idx| {
                        self.of_stimulus[*idx].is_some_and(|at| at.total_cmp(&value).is_eq())
                    })
                    .collect();
                let mean_of = |difficulty: &[f64]| {
                    let known: Vec<f64> = members
                        .iter()
                        .map(|idx| difficulty[*idx])
                        .filter(|difficulty| difficulty.is_finite())
                        .collect();
                    if known.is_empty() { f64::NAN } else { mean(&known) }
                };
                let drawn: Vec<f64> = draws.iter().map(|draw| mean_of(draw)).collect();
                LevelGroup {
                    level: name.to_owned(),
                    value,
                    difficulty: centred(mean_of(difficulty), &drawn, confidence, members.len()),
                }
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values_of(names: &[&str], order: &[&str]) -> Option<Vec<f64>> {
        let order: Vec<String> = order.iter().map(|name| (*name).to_owned()).collect();
        let values = values(names.iter().copied(), &order)?;
        Some(names.iter().map(|name| values[name]).collect())
    }

    #[test]
    fn levels_are_numbers_or_known_words_or_in_the_order_given() {
        assert_eq!(values_of(&["2", "0.5"], &[]), Some(vec![2.0, 0.5]));
        assert_eq!(values_of(&["hard", "Easy"], &[]), Some(vec![3.0, 1.0]));
        assert_eq!(values_of(&["low", "high"], &[]), None);
        assert_eq!(values_of(&["low", "high"], &["low", "high"]), Some(vec![1.0, 2.0]));
        assert_eq!(values_of(&["low", "other"], &["low", "high"]), None);
        assert_eq!(values_of(&[], &[]), None);
    }

    /// Two components in perfect order, one a hundred harder than the other: joined naively the
    /// correlation would be near 0.
    #[test]
    fn components_are_not_compared() {
        let of_stimulus = [Some(1.0), Some(2.0), Some(3.0), Some(1.0), Some(2.0), Some(3.0)];
        let members = [vec![0, 1, 2], vec![3, 4, 5]];
        let levels = Levels { of_stimulus: &of_stimulus, members: &members };
        let difficulty = [100.0, 101.0, 102.0, -1.0, 0.0, 1.0];
        for r in levels.overall(&difficulty).0 {
            assert!((r.unwrap() - 1.0).abs() < 1e-12);
        }
        assert_eq!(levels.within(&difficulty)[2], (Some(1.0), 2));
    }

    #[test]
    fn an_interval_of_a_correlation_lies_around_it_and_within_one() {
        let around = correlation(0.7, &[0.5, 0.6, 0.4], 1.0, 0.95, 9).unwrap();
        assert!((around.high - 0.795).abs() < 1e-9 && (around.low - 0.605).abs() < 1e-9);
        assert!(correlation(0.98, &[0.5, 0.6, 0.4], 1.0, 0.95, 9).unwrap().high <= 1.0);
        assert_eq!(correlation(0.7, &[f64::NAN], 1.0, 0.95, 9), None);
    }

    /// Levels 1, 1, 2, 2: 4 of 6 pairs differ in level, so τ-b is at most 4 / √(4 · 6) = 0.816.
    #[test]
    fn an_interval_stays_within_what_ties_in_levels_allow() {
        let most = attainable(&[1.0, 2.0, 1.0, 2.0])[2].unwrap();
        assert!((most - 4.0 / 24.0_f64.sqrt()).abs() < 1e-12);
        let found = correlation(0.8, &[0.5, 0.6, 0.7], most, 0.95, 4).unwrap();
        assert!(found.high <= most && 0.8 <= found.high, "{found:?}");
    }

    #[test]
    fn a_component_with_one_level_says_nothing() {
        let of_stimulus = [Some(1.0), Some(2.0), Some(2.0), Some(2.0)];
        let members = [vec![0, 1], vec![2, 3]];
        let levels = Levels { of_stimulus: &of_stimulus, members: &members };
        let difficulty = [-1.0, 1.0, 5.0, -5.0];
        assert_eq!(levels.overall(&difficulty).1, 2);
        assert_eq!(levels.within(&difficulty)[0].1, 1);
    }
}
