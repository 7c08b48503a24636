//! Two models on the same stimuli: which is better, and could it be chance?
//!
//! # Formulas
//!
//! Of `n` stimuli that both answered, only the first got `b` right and only the second `c`.
//!
//! ```text
//! difference  = (b - c) / n
//! p exact     = min(1, 2 P(X ≤ k)),            X ~ Binomial(b + c, ½),  k = min(b, c)
//! p mid       = 2 P(X ≤ k) - P(X = k)
//! interval    = d ± z √((q + r - (q - r)²) / (n + 2)),   q = (b + 1)/(n + 2), r = (c + 1)/(n + 2),
//!               d = q - r                                            (Bonett and Price 2012)
//! clustered   = (b - c)/n ± t(G - 1) √(G/(G - 1) Σ_g u_g²) / n,
//!               u_g = Σ in class g of (first right - second right - difference)
//! detectable  = (z_{α/2} + z_power) √V,        V the variance under the root above
//! ```
//!
//! The exact p-value is never too small, and too large when few stimuli differ; the mid-p value
//! rejects a true null about as often as it says, so it is the one that is printed and corrected.
//! Both take stimuli for independent. Where models win and lose by whole classes, the clustered
//! interval and its p are the ones to read.
//!
//! # Ties
//!
//! Models are sorted by accuracy; a group is a longest run in which no pair differs after Holm's
//! correction. So a group says "not told apart", never "equal".
//!
//! # References
//!
//! - Q. McNemar (1947), "Note on the sampling error of the difference between correlated
//!   proportions or percentages".
//! - M. W. Fagerland, S. Lydersen and P. Laake (2013), "The McNemar test for binary matched-pairs
//!   data: mid-p and asymptotic are better than exact conditional".
//! - D. G. Bonett and R. M. Price (2012), "Adjusted Wald confidence interval for a difference of
//!   binomial proportions based on paired data".

use mohs_data::{Estimate, ModelName};
use rayon::prelude::*;
use statrs::distribution::{ContinuousCDF, StudentsT};
use statrs::function::gamma::ln_gamma;

use super::redraw::Redraw;
use super::table::{Answers, Table};
use super::{Cluster, PairedComparison};
use crate::multiplicity::{benjamini_hochberg, holm};
use crate::proportion::{normal_quantile, real};

/// Stimuli on which a pair should differ, so that a test has something to go by.
pub(super) const N_DISCORDANT_WANTED: usize = 10;

/// All pairs, and which models they cannot tell apart.
pub(super) struct Compared {
    pub(super) comparisons: Vec<PairedComparison>,
    pub(super) ties: Vec<Vec<ModelName>>,
}

/// Answers as bits, 64 stimuli in a word, so that pairs are counted by words.
struct Bits {
    judged: Vec<u64>,
    right: Vec<u64>,
}

impl Bits {
    fn new(answers: &Answers) -> Self {
        let pack = |marks: &[u8]| -> Vec<u64> {
            let word = |marks: &[u8]| {
                marks.iter().enumerate().fold(0, |word, (bit, mark)| word | u64::from(*mark) << bit)
            };
            marks.chunks(64).map(word).collect()
        };
        Self { judged: pack(&answers.judged), right: pack(&answers.right) }
    }
}

/// How often two models differ.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Pair {
    pub(super) n: usize,
    pub(super) only_first: usize,
    pub(super) only_second: usize,
}

/// Compares all pairs of models that answered.
pub(super) fn all_pairs(table: &Table<'_>, redraw: &Redraw, power: f64) -> Compared {
    let bits: Vec<Bits> = table.answers.iter().map(Bits::new).collect();
    let everything = mask(0..table.stimuli.len(), table.stimuli.len());
    let bands: Vec<Vec<u64>> = (0..table.n_bands())
        .map(|band_idx| mask(table.band(band_idx), table.stimuli.len()))
        .collect();
    let pairs: Vec<(usize, usize)> = (0..table.models.len())
        .flat_map(|first| (first + 1..table.models.len()).map(move |second| (first, second)))
        .collect();
    let mut comparisons: Vec<PairedComparison> = pairs
        .par_iter()
        .filter_map(|(first, second)| {
            let of = |mask: &[u64]| count(&bits[*first], &bits[*second], mask);
            let pair = of(&everything);
            let difference = pair.difference(redraw.confidence)?;
            let (clustered, p_clustered) = clustered(table, redraw, &bits, *first, *second, pair)
                .unwrap_or((difference, pair.p_mid()));
            let of_bands: Vec<Option<(Estimate, f64)>> = bands
                .iter()
                .map(|mask| {
                    let pair = of(mask);
                    Some((pair.difference(redraw.confidence)?, pair.p_mid()))
                })
                .collect();
            Some(PairedComparison {
                first: table.models[*first].clone(),
                second: table.models[*second].clone(),
                n_stimuli: pair.n,
                n_only_first: pair.only_first,
                n_only_second: pair.only_second,
                difference,
                clustered,
                p: pair.p_mid(),
                p_exact: pair.p_exact(),
                p_clustered,
                p_holm: 1.0,
                p_bh: 1.0,
                minimum_detectable: pair.minimum_detectable(redraw.confidence, power),
                bands: corrected(of_bands),
            })
        })
        .collect();
    let p_values: Vec<f64> = comparisons.iter().map(|comparison| comparison.p).collect();
    let corrections = holm(&p_values).into_iter().zip(benjamini_hochberg(&p_values));
    for (comparison, (p_holm, p_bh)) in comparisons.iter_mut().zip(corrections) {
        (comparison.p_holm, comparison.p_bh) = (p_holm, p_bh);
    }
    let ties = ties(table, &comparisons, 1.0 - redraw.confidence);
    Compared { comparisons, ties }
}

/// Returns a mask over a run of stimuli.
fn mask(places: std::ops::Range<usize>, n: usize) -> Vec<u64> {
    let mut words = vec![0; n.div_ceil(64)];
    for idx in places {
        words[idx / 64] |= 1 << (idx % 64);
    }
    words
}

fn count(first: &Bits, second: &Bits, mask: &[u64]) -> Pair {
    let mut pair = Pair { n: 0, only_first: 0, only_second: 0 };
    let answered = first.judged.iter().zip(&second.judged);
    let right = first.right.iter().zip(&second.right);
    for ((judged, right), mask) in answered.zip(right).zip(mask) {
        let both = judged.0 & judged.1 & mask;
        pair.n += both.count_ones() as usize;
        pair.only_first += (both & right.0 & !right.1).count_ones() as usize;
        pair.only_second += (both & right.1 & !right.0).count_ones() as usize;
    }
    pair
}

/// Corrects the p-values of bands over the bands.
fn corrected(mut bands: Vec<Option<(Estimate, f64)>>) -> Vec<Option<(Estimate, f64)>> {
    let p_values: Vec<f64> = bands.iter().flatten().map(|band| band.1).collect();
    for (band, p) in bands.iter_mut().flatten().zip(benjamini_hochberg(&p_values)) {
        band.1 = p;
    }
    bands
}

impl Pair {
    /// Returns the shares of stimuli only one got right, two stimuli added for each, and the
    /// variance of their difference (Bonett and Price).
    fn adjusted(self) -> (f64, f64) {
        let n = real(self.n) + 2.0;
        let q = (real(self.only_first) + 1.0) / n;
        let r = (real(self.only_second) + 1.0) / n;
        (q - r, (q + r - (q - r).powi(2)) / n)
    }

    /// Returns the difference of the two accuracies; `None` without shared stimuli.
    pub(super) fn difference(self, confidence: f64) -> Option<Estimate> {
        if self.n == 0 {
            return None;
        }
        let value = (real(self.only_first) - real(self.only_second)) / real(self.n);
        let (centre, variance) = self.adjusted();
        let half = normal_quantile(0.5 + confidence / 2.0) * variance.sqrt();
        let low = (centre - half).max(-1.0).min(value);
        let high = (centre + half).min(1.0).max(value);
        Estimate::new(value, low, high, confidence, self.n)
    }

    /// Returns McNemar's exact p-value, two-sided.
    pub(super) fn p_exact(self) -> f64 {
        (2.0 * self.tail().0).min(1.0)
    }

    /// Returns McNemar's mid-p value, two-sided.
    pub(super) fn p_mid(self) -> f64 {
        let (tail, point) = self.tail();
        (2.0 * tail - point).clamp(0.0, 1.0)
    }

    /// Returns P(X ≤ k) and P(X = k) for the smaller of the two counts and a fair coin.
    fn tail(self) -> (f64, f64) {
        let n = self.only_first + self.only_second;
        let k = self.only_first.min(self.only_second);
        let ln_choose =
            ln_gamma(real(n) + 1.0) - ln_gamma(real(k) + 1.0) - ln_gamma(real(n - k) + 1.0);
        let point = (ln_choose - real(n) * std::f64::consts::LN_2).exp();
        // From k down, each term follows from the one above it; far down they no longer matter.
        let (mut tail, mut term) = (point, point);
        for x in (1..=k).rev() {
            term *= real(x) / real(n - x + 1);
            tail += term;
            if term < tail * 1e-17 {
                break;
            }
        }
        (tail.min(1.0), point.min(1.0))
    }

    /// Returns the smallest true difference that a test on so many stimuli would show.
    fn minimum_detectable(self, confidence: f64, power: f64) -> f64 {
        let z = normal_quantile(0.5 + confidence / 2.0) + normal_quantile(power);
        (z * self.adjusted().1.sqrt()).min(1.0)
    }
}

/// Returns the difference with an interval that draws classes, and its p; `None` where classes
/// give no spread.
fn clustered(
    table: &Table<'_>,
    redraw: &Redraw,
    bits: &[Bits],
    first: usize,
    second: usize,
    pair: Pair,
) -> Option<(Estimate, f64)> {
    let value = (real(pair.only_first) - real(pair.only_second)) / real(pair.n);
    let (first, second) = (&bits[first], &bits[second]);
    // By class: stimuli both answered, and by how many more the first got right.
    let mut sums = vec![(0_u32, 0_i32); table.n_classes];
    let mut squares = 0.0;
    let mut n_clusters = 0;
    let is_by_class = redraw.cluster != Cluster::Stimulus;
    for word_idx in 0..first.judged.len() {
        let mut both = first.judged[word_idx] & second.judged[word_idx];
        while both != 0 {
            let bit = both.trailing_zeros();
            both &= both - 1;
            let is_right = |bits: &Bits| i32::from(bits.right[word_idx] >> bit & 1 == 1);
            let by = is_right(first) - is_right(second);
            if is_by_class {
                let sum = &mut sums[table.stimuli[word_idx * 64 + bit as usize].class_idx];
                sum.0 += 1;
                sum.1 += by;
            } else {
                n_clusters += 1;
                squares += (f64::from(by) - value).powi(2);
            }
        }
    }
    for (n, by) in sums.into_iter().filter(|sum| 0 < sum.0) {
        n_clusters += 1;
        squares += (f64::from(by) - value * f64::from(n)).powi(2);
    }
    if n_clusters < 2 || squares <= 0.0 {
        return None;
    }
    let g = real(n_clusters);
    let error = (g / (g - 1.0) * squares).sqrt() / real(pair.n);
    let student = StudentsT::new(0.0, 1.0, g - 1.0).ok()?;
    let half = student.inverse_cdf(0.5 + redraw.confidence / 2.0) * error;
    let (low, high) = ((value - half).max(-1.0), (value + half).min(1.0));
    let p = 2.0 * student.cdf(-(value / error).abs());
    Some((Estimate::new(value, low, high, redraw.confidence, pair.n)?, p.clamp(0.0, 1.0)))
}

/// Returns the longest runs of models, best first, of which no pair was told apart.
fn ties(table: &Table<'_>, comparisons: &[PairedComparison], level: f64) -> Vec<Vec<ModelName>> {
    let share = |model_idx: usize| {
        let (n, n_right) = table.answers[model_idx].counts(0..table.stimuli.len());
        (0 < n).then(|| real(n_right) / real(n))
    };
    let mut ranked: Vec<(f64, &ModelName)> = table
        .models
        .iter()
        .enumerate()
        .filter_map(|(idx, name)| Some((share(idx)?, *name)))
        .collect();
    ranked.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(b.1)));
    let apart: std::collections::BTreeSet<(&ModelName, &ModelName)> = comparisons
        .iter()
        .filter(|comparison| comparison.is_apart(level))
        .flat_map(|found| [(&found.first, &found.second), (&found.second, &found.first)])
        .collect();
    let names: Vec<&ModelName> = ranked.into_iter().map(|(_, name)| name).collect();
    runs(names.len(), |a, b| apart.contains(&(names[a], names[b])))
        .into_iter()
        .map(|run| names[run].iter().map(|name| (*name).clone()).collect())
        .collect()
}

/// Returns the longest runs of `0..n` in which no two are apart.
fn runs(n: usize, is_apart: impl Fn(usize, usize) -> bool) -> Vec<std::ops::Range<usize>> {
    let mut runs: Vec<std::ops::Range<usize>> = Vec::new();
    let mut end = 0;
    for start in 0..n {
        let mut next = end.max(start + 1);
        while next < n && !(start..next).any(|other| is_apart(other, next)) {
            next += 1;
        }
        if runs.last().is_none_or(|last| last.end < next) {
            runs.push(start..next);
        }
        end = next;
    }
    runs
}

#[cfg(test)]
mod tests {
    use mohs_data::Seed;
    use proptest::prelude::*;

    use super::*;
    use crate::draw::Draw;

    fn pair(n: usize, only_first: usize, only_second: usize) -> Pair {
        Pair { n, only_first, only_second }
    }

    /// Golden: scipy 1.17.1, `binomtest(k, b + c, 0.5).pvalue`, and
    /// `2 * binom.cdf(k, b + c, 0.5) - binom.pmf(k, b + c, 0.5)`.
    #[test]
    fn the_p_values_are_those_of_scipy() {
        for (b, c, exact, mid) in GOLDEN {
            let pair = pair(1_000, b, c);
            assert!((pair.p_exact() - exact).abs() <= 1e-9 * exact, "{} {exact}", pair.p_exact());
            assert!((pair.p_mid() - mid).abs() <= 1e-9 * mid, "{} {mid}", pair.p_mid());
        }
    }

    const GOLDEN: [(usize, usize, f64, f64); 5] = [
        (0, 0, 1.0, 1.0),
        (5, 0, 0.0625, 0.03125),
        (10, 20, 0.098_737_146_705_389_05, 0.070_755_545_981_228_43),
        (40, 40, 1.0, 1.0),
        (150, 250, 6.531_819_212_838_477e-7, 5.189_251_787_379_968e-7),
    ];

    /// b = 15, c = 5, n = 100: q = 16/102, r = 6/102, d = 10/102.
    #[test]
    fn the_interval_is_bonett_and_prices() {
        let found = pair(100, 15, 5).difference(0.95).unwrap();
        let d: f64 = 10.0 / 102.0;
        let half = 1.959_963_984_540_054 * ((22.0 / 102.0 - d * d) / 102.0).sqrt();
        assert!((found.value - 0.1).abs() < 1e-12);
        assert!((found.low - (d - half)).abs() < 1e-9 && (found.high - (d + half)).abs() < 1e-9);
    }

    #[test]
    fn models_that_never_differ_are_not_known_to_be_equal() {
        let found = pair(50, 0, 0).difference(0.95).unwrap();
        assert!(found.low < -0.03 && 0.03 < found.high);
        assert!(pair(0, 0, 0).difference(0.95).is_none());
    }

    #[test]
    fn runs_of_ties_may_overlap_and_no_run_is_part_of_another() {
        // 0 and 2 are apart, everything else is not.
        let apart = |a: usize, b: usize| (a, b) == (0, 2) || (a, b) == (2, 0);
        assert_eq!(runs(4, apart), [0..2, 1..4]);
        assert_eq!(runs(3, |_, _| true), [0..1, 1..2, 2..3]);
        assert_eq!(runs(3, |_, _| false), vec![0..3]);
        assert!(runs(0, |_, _| true).is_empty());
    }

    /// Draws pairs of right answers: both, only the first, only the second.
    fn simulate(draw: &mut Draw, n: usize, only_first: f64, only_second: f64) -> Pair {
        let mut found = pair(n, 0, 0);
        for _ in 0..n {
            let u = draw.uniform();
            found.only_first += usize::from(u < only_first);
            found.only_second += usize::from(only_first <= u && u < only_first + only_second);
        }
        found
    }

    /// Two models that are equally good differ "significantly" in 4 to 6 % of studies by the
    /// mid-p value; by the exact one in fewer.
    #[test]
    fn the_mid_p_test_has_its_size_and_the_exact_test_is_below_it() {
        for (n, rate) in [(200, 0.1), (500, 0.06), (1_000, 0.15)] {
            let mut draw = Draw::new(Seed(11), &[n as u64]);
            let n_runs = 8_000;
            let (mut n_mid, mut n_exact) = (0, 0);
            for _ in 0..n_runs {
                let found = simulate(&mut draw, n, rate, rate);
                n_mid += usize::from(found.p_mid() < 0.05);
                n_exact += usize::from(found.p_exact() < 0.05);
            }
            let (mid, exact) = (real(n_mid) / 8_000.0, real(n_exact) / 8_000.0);
            assert!((0.04..=0.06).contains(&mid), "{n} {mid}");
            assert!(exact < mid, "{n} {exact} {mid}");
        }
    }

    #[test]
    fn the_paired_interval_holds_the_truth_about_as_often_as_promised() {
        for (n, b, c) in [(60, 0.1, 0.05), (200, 0.12, 0.04), (1_000, 0.02, 0.02), (300, 0.3, 0.1)]
        {
            let mut draw = Draw::new(Seed(12), &[n as u64]);
            let n_runs = 4_000;
            let n_held = (0..n_runs)
                .filter(|_| {
                    let found = simulate(&mut draw, n, b, c).difference(0.95).unwrap();
                    found.low <= b - c && b - c <= found.high
                })
                .count();
            let share = real(n_held) / real(n_runs);
            assert!((0.935..=0.975).contains(&share), "{n} {share}");
        }
    }

    /// Two models with accuracies 0.75 and 0.70 whose errors go together (κ about 0.6): the paired
    /// test on 0.6 n stimuli finds the difference as often as a test that forgets the pairs on n.
    #[test]
    fn pairs_need_at_most_three_fifths_of_the_stimuli() {
        let (only_first, only_second, both) = (0.10, 0.05, 0.65);
        let power = |n: usize, is_paired: bool| {
            let mut draw = Draw::new(Seed(13), &[n as u64, u64::from(is_paired)]);
            let n_found = (0..2_000).filter(|_| {
                let found = simulate(&mut draw, n, only_first, only_second);
                if is_paired {
                    return found.p_mid() < 0.05;
                }
                let n_both = (0..n - found.only_first - found.only_second)
                    .filter(|_| draw.chance(both / (1.0 - only_first - only_second)))
                    .count();
                let p = |only: usize| real(only + n_both) / real(n);
                let (a, b) = (p(found.only_first), p(found.only_second));
                let error = ((a * (1.0 - a) + b * (1.0 - b)) / real(n)).sqrt();
                1.959_963_984_540_054 < ((a - b) / error).abs()
            });
            real(n_found.count()) / 2_000.0
        };
        let (paired, unpaired) = (power(600, true), power(1_000, false));
        assert!(unpaired <= paired, "{paired} {unpaired}");
    }

    proptest! {
        #[test]
        fn exchanging_the_models_turns_the_difference_round(
            b in 0_usize..80, c in 0_usize..80, rest in 1_usize..200,
        ) {
            let (one, other) = (pair(b + c + rest, b, c), pair(b + c + rest, c, b));
            let (d, e) = (one.difference(0.9).unwrap(), other.difference(0.9).unwrap());
            prop_assert!((d.value + e.value).abs() < 1e-12 && (d.low + e.high).abs() < 1e-12);
            prop_assert!((one.p_mid() - other.p_mid()).abs() < 1e-12);
            prop_assert!(one.p_mid() <= one.p_exact() && one.p_exact() <= 1.0);
            prop_assert!(d.low <= d.value && d.value <= d.high);
        }
    }
}
