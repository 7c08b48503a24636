//! Error consistency: do two observers err on the same stimuli?
//!
//! # Formula
//!
//! ```text
//! κ = (o - e) / (1 - e),    e = p₁p₂ + (1 - p₁)(1 - p₂)
//! κ = 1 when o = 1
//! largest o = 1 - |p₁ - p₂|,    smallest o = |p₁ + p₂ - 1|
//! ```
//!
//! | symbol | meaning |
//! |---|---|
//! | `p₁`, `p₂` | share of right answers of each, over the stimuli both saw |
//! | `o` | observed consistency: share of stimuli on which both are right or both wrong |
//! | `e` | expected consistency: the same for independent observers |
//!
//! κ is computed per pair and condition, then averaged over conditions, then over pairs. The
//! largest and the smallest `o` give the largest and the smallest κ that the two accuracies allow.
//! When both are always right, `o = e = 1`: κ is 1 by convention and says nothing.
//!
//! # References
//!
//! - R. Geirhos, K. Meding and F. A. Wichmann (2020), "Beyond accuracy: quantifying trial-by-trial
//!   behaviour of CNNs and humans by measuring error consistency".
//! - J. Cohen (1960), "A coefficient of agreement for nominal scales".

use mohs_data::{Estimate, Seed};

use super::crossed::{self, Spread, View};
use super::findings::Consistency;
use super::table::{Showing, Table};
use crate::draw::Draw;
use crate::proportion::wilson_of_share;
use crate::resample::percentile;

/// Pairs beyond this are sampled: the mean hardly changes, the time does.
pub(super) const MAX_PAIRS: usize = 1_000;
/// Two observers who saw different stimuli must share so many in a condition to be compared.
pub(super) const MIN_SHARED: usize = 10;
const PAIRS: u64 = 42;

/// Numbers per pair: κ, largest κ, smallest κ, observed, expected, squared accuracy difference.
pub(super) const N_NUMBERS: usize = 6;
const BOUNDS: [(f64, f64); N_NUMBERS] =
    [(-1.0, 1.0), (-1.0, 1.0), (-1.0, 1.0), (0.0, 1.0), (0.0, 1.0), (0.0, 1.0)];
const NOTHING: [f64; N_NUMBERS] = [f64::NAN; N_NUMBERS];

/// Two observers and what both saw.
#[derive(Debug)]
pub(super) struct Pair {
    pub(super) a: usize,
    pub(super) b: usize,
    /// By condition, in the order of conditions; only those in which they can be compared.
    pub(super) conditions: Vec<SharedCondition>,
}

/// What two observers saw in one condition.
#[derive(Debug)]
pub(super) struct SharedCondition {
    pub(super) condition_idx: usize,
    pub(super) shared: Vec<Shared>,
}

/// One unit both saw.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) unit_idx: usize,
    /// Both wrong, only `a` right, only `b` right, both right.
    pub(super) outcome: usize,
    pub(super) answers: [usize; 2],
}

impl Pair {
    /// Returns how many units they share.
    pub(super) fn n_shared(&self) -> usize {
        self.conditions.iter().map(|condition| condition.shared.len()).sum()
    }

    /// Returns whether both count; models always do.
    pub(super) fn counts(&self, view: &View) -> bool {
        [self.a, self.b].iter().all(|idx| view.counts.get(*idx).copied().unwrap_or(true))
    }

    /// Returns the numbers of one condition.
    fn in_condition(condition: &SharedCondition, weights: &[f64]) -> [f64; N_NUMBERS] {
        let mut table = [0.0; 4];
        for shared in &condition.shared {
            table[shared.outcome] += weights[shared.unit_idx];
        }
        consistency(table)
    }

    /// Returns the numbers, mean over conditions.
    pub(super) fn numbers(&self, view: &View) -> [f64; N_NUMBERS] {
        mean_of(
            self.conditions.iter().map(|condition| Self::in_condition(condition, &view.weights)),
        )
    }
}

/// Returns the numbers of one pair from how often both are wrong, only one is right, only the
/// other, both.
pub(super) fn consistency([neither, only_a, only_b, both]: [f64; 4]) -> [f64; N_NUMBERS] {
    let n = neither + only_a + only_b + both;
    if n <= 0.0 {
        return NOTHING;
    }
    let (p_a, p_b) = ((only_a + both) / n, (only_b + both) / n);
    let observed = (neither + both) / n;
    let expected = p_a * p_b + (1.0 - p_a) * (1.0 - p_b);
    // 1 - expected, free of cancellation: zero exactly when both are always right or always wrong.
    let room = p_a * (1.0 - p_b) + p_b * (1.0 - p_a);
    let kappa = |observed: f64| {
        if room <= 0.0 || 1.0 <= observed { 1.0 } else { (observed - expected) / room }
    };
    [
        if only_a + only_b <= 0.0 { 1.0 } else { kappa(observed) },
        kappa(1.0 - (p_a - p_b).abs()),
        if room <= 0.0 { 1.0 } else { ((p_a + p_b - 1.0).abs() - expected) / room },
        observed,
        expected,
        (p_a - p_b).powi(2),
    ]
}

/// Returns the mean of numbers, leaving out those that are not there.
pub(super) fn mean_of(numbers: impl Iterator<Item = [f64; N_NUMBERS]>) -> [f64; N_NUMBERS] {
    let mut sums = [0.0; N_NUMBERS];
    let mut n = 0.0;
    for numbers in numbers.filter(|numbers| numbers[0].is_finite()) {
        n += 1.0;
        for (sum, number) in sums.iter_mut().zip(numbers) {
            *sum += number;
        }
    }
    if 0.0 < n { sums.map(|sum| sum / n) } else { NOTHING }
}

/// The pairs to compare.
pub(super) struct Pairs {
    pub(super) pairs: Vec<Pair>,
    /// Pairs that could have been looked at.
    pub(super) n_candidates: usize,
    /// Candidates looked at that share too little.
    pub(super) n_too_few_shared: usize,
    /// Pairs that share only part of what each saw.
    pub(super) n_partly_shared: usize,
    /// Conditions of pairs compared in others that share too little in this one.
    pub(super) n_conditions_dropped: usize,
}

/// Returns the pairs among candidates that share enough, of a sample of them if there are many.
pub(super) fn pairs(
    table: &Table,
    mut candidates: Vec<(usize, usize)>,
    key: u64,
    seed: Seed,
) -> Pairs {
    let n_candidates = candidates.len();
    if MAX_PAIRS < n_candidates {
        Draw::new(seed, &[PAIRS, key]).shuffle(&mut candidates);
        candidates.truncate(MAX_PAIRS);
        candidates.sort_unstable();
    }
    let mut seen: Vec<Vec<Vec<(usize, &Showing)>>> =
        vec![vec![Vec::new(); table.conditions.len()]; table.observers.len()];
    for (unit_idx, unit) in table.units.iter().enumerate() {
        for showing in &unit.showings {
            seen[showing.observer_idx][unit.condition_idx].push((unit_idx, showing));
        }
    }
    let n_looked_at = candidates.len();
    let (mut n_partly_shared, mut n_conditions_dropped) = (0, 0);
    let pairs: Vec<Pair> = candidates
        .into_iter()
        .filter_map(|(a, b)| {
            let (mut is_partial, mut n_dropped) = (false, 0);
            let conditions: Vec<SharedCondition> = (0..table.conditions.len())
                .filter_map(|condition_idx| {
                    let (of_a, of_b) = (&seen[a][condition_idx], &seen[b][condition_idx]);
                    let shared = shared(of_a, of_b);
                    let is_all = shared.len() == of_a.len() && shared.len() == of_b.len();
                    let is_enough = MIN_SHARED <= shared.len() || is_all;
                    is_partial |= !is_all && is_enough;
                    n_dropped += usize::from(!is_enough && !shared.is_empty());
                    (is_enough && !shared.is_empty())
                        .then_some(SharedCondition { condition_idx, shared })
                })
                .collect();
            n_partly_shared += usize::from(is_partial);
            n_conditions_dropped += if conditions.is_empty() { 0 } else { n_dropped };
            (!conditions.is_empty()).then_some(Pair { a, b, conditions })
        })
        .collect();
    let n_too_few_shared = n_looked_at - pairs.len();
    Pairs { pairs, n_candidates, n_too_few_shared, n_partly_shared, n_conditions_dropped }
}

/// Returns what two sorted lists of showings have in common.
fn shared(of_a: &[(usize, &Showing)], of_b: &[(usize, &Showing)]) -> Vec<Shared> {
    let mut shared = Vec::new();
    let mut rest = of_b.iter().peekable();
    for (unit_idx, a) in of_a {
        while rest.next_if(|(other_idx, _)| other_idx < unit_idx).is_some() {}
        if let Some((_, b)) = rest.next_if(|(other_idx, _)| other_idx == unit_idx) {
            shared.push(Shared {
                unit_idx: *unit_idx,
                outcome: usize::from(a.is_right) + 2 * usize::from(b.is_right),
                answers: [a.answer, b.answer],
            });
        }
    }
    shared
}

/// Returns the mean over pairs that count, and the mean over pairs by condition after it.
pub(super) fn mean_numbers(pairs: &[Pair], n_conditions: usize, view: &View) -> Vec<f64> {
    let mut by_condition = vec![[0.0; N_NUMBERS]; n_conditions];
    let mut n_by_condition = vec![0.0; n_conditions];
    let mut of_pairs = Vec::with_capacity(pairs.len());
    for pair in pairs.iter().filter(|pair| pair.counts(view)) {
        let numbers: Vec<[f64; N_NUMBERS]> = pair
            .conditions
            .iter()
            .map(|condition| Pair::in_condition(condition, &view.weights))
            .collect();
        for (condition, numbers) in pair.conditions.iter().zip(&numbers) {
            if numbers[0].is_finite() {
                n_by_condition[condition.condition_idx] += 1.0;
                for (sum, number) in by_condition[condition.condition_idx].iter_mut().zip(numbers) {
                    *sum += number;
                }
            }
        }
        of_pairs.push(mean_of(numbers.into_iter()));
    }
    let mut all: Vec<f64> = mean_of(of_pairs.into_iter()).into();
    for (sums, n) in by_condition.iter().zip(n_by_condition) {
        all.extend(sums.map(|sum| if 0.0 < n { sum / n } else { f64::NAN }));
    }
    all
}

/// Returns a finding over people and stimuli from the numbers of [`consistency`]; n = pairs.
pub(super) fn finding(spreads: &[Spread], n_pairs: usize, n_stimuli: usize) -> Option<Consistency> {
    let estimates: Vec<Estimate> = spreads
        .iter()
        .zip(BOUNDS)
        .map(|(spread, bounds)| spread.estimate(bounds, n_pairs))
        .collect::<Option<_>>()?;
    named(&estimates, n_stimuli)
}

/// Returns a finding over stimuli about one pair; n = stimuli.
pub(super) fn finding_of_pair(spreads: &[Spread], n_shared: usize) -> Option<Consistency> {
    let estimates: Vec<Estimate> =
        spreads.iter().map(|spread| spread.over_stimuli(n_shared)).collect::<Option<_>>()?;
    named(&estimates, n_shared)
}

/// Returns a finding about one pair from how often both are wrong, only one is right, only the
/// other, both, and from redrawn counts of the same; n = stimuli. `None` without stimuli or draws.
pub(crate) fn of_counts(
    counts: [f64; 4],
    redrawn: &[[f64; 4]],
    confidence: f64,
    n_stimuli: usize,
) -> Option<Consistency> {
    let draws: Vec<[f64; N_NUMBERS]> = redrawn.iter().map(|counts| consistency(*counts)).collect();
    let estimates: Vec<Estimate> = consistency(counts)
        .iter()
        .enumerate()
        .map(|(idx, value)| {
            let draws: Vec<f64> = draws.iter().map(|numbers| numbers[idx]).collect();
            percentile(*value, &draws, confidence, n_stimuli)
        })
        .collect::<Option<_>>()?;
    named(&estimates, n_stimuli)
}

/// Returns the mean over independent data sets; n = data sets.
pub(super) fn finding_of_means(datasets: &[&[Spread]], confidence: f64) -> Option<Consistency> {
    let estimates: Vec<Estimate> = BOUNDS
        .iter()
        .enumerate()
        .map(|(idx, bounds)| {
            let spreads: Vec<&Spread> = datasets.iter().map(|spreads| &spreads[idx]).collect();
            crossed::mean(&spreads, *bounds, confidence)
        })
        .collect::<Option<_>>()?;
    named(&estimates, 0)
}

/// Names the numbers. Where draws cannot vary (two observers who never differ), certainty would be
/// a lie: the interval of the observed consistency is widened to Wilson's, that of κ to what
/// follows from it, and to everything where accuracies leave no room at all.
fn named(estimates: &[Estimate], n_stimuli: usize) -> Option<Consistency> {
    let [mut kappa, maximum, minimum, mut observed, expected, difference] = *estimates else {
        return None;
    };
    if observed.high - observed.low <= 0.0
        && let Some(plain) = wilson_of_share(observed.value, n_stimuli, observed.confidence)
    {
        observed = Estimate { n: observed.n, ..plain };
        let room = 1.0 - expected.value;
        let of = |o: f64| if 1e-12 < room { (o - expected.value) / room } else { -1.0 };
        kappa.low = kappa.low.min(of(plain.low)).max(-1.0);
    }
    Some(Consistency {
        error_consistency: kappa,
        attainable_maximum: maximum,
        attainable_minimum: minimum,
        observed_consistency: observed,
        expected_consistency: expected,
        accuracy_difference: difference,
    })
}

/// Returns whether a pair leaves no room for κ in some condition: both always right, or wrong.
pub(super) fn has_no_room(pair: &Pair) -> bool {
    pair.conditions.iter().any(|condition| {
        let n_right = |side: usize| {
            condition.shared.iter().filter(|shared| shared.outcome & side != 0).count()
        };
        let n = condition.shared.len();
        let (a, b) = (n_right(1), n_right(2));
        a == b && (a == 0 || a == n)
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(counts: [f64; 4], expected: [f64; N_NUMBERS]) {
        for (found, expected) in consistency(counts).into_iter().zip(expected) {
            assert!((found - expected).abs() < 1e-12, "{found} should be {expected}");
        }
    }

    /// Both wrong on 10, only one right on 10 and on 20, both right on 60 of 100: accuracies 0.7
    /// and 0.8, o = 0.7, e = 0.62, κ = 0.08 / 0.38; at best o = 0.9, at worst 0.5.
    #[test]
    fn a_table_of_a_hundred_is_worked_by_hand() {
        let (room, expected) = (0.38, 0.62);
        let of = |o: f64| (o - expected) / room;
        check([10.0, 10.0, 20.0, 60.0], [of(0.7), of(0.9), of(0.5), 0.7, 0.62, 0.01]);
    }

    #[test]
    fn observers_who_never_differ_agree_wholly() {
        check([25.0, 0.0, 0.0, 75.0], [1.0, 1.0, of_three_quarters(), 1.0, 0.625, 0.0]);
    }

    fn of_three_quarters() -> f64 {
        (0.5 - 0.625) / 0.375
    }

    #[test]
    fn two_who_are_always_right_agree_by_convention() {
        check([0.0, 0.0, 0.0, 8.0], [1.0, 1.0, 1.0, 1.0, 1.0, 0.0]);
    }

    #[test]
    fn nothing_shared_gives_no_number() {
        assert!(consistency([0.0; 4]).iter().all(|number| number.is_nan()));
    }

    proptest! {
        #[test]
        fn kappa_lies_between_its_bounds_and_does_not_care_who_is_first(
            neither in 0_u8..50, a in 0_u8..50, b in 0_u8..50, both in 0_u8..50
        ) {
            prop_assume!(0 < u32::from(neither) + u32::from(a) + u32::from(b) + u32::from(both));
            let [neither, a, b, both] = [neither, a, b, both].map(f64::from);
            let [kappa, most, least, observed, expected, _] = consistency([neither, a, b, both]);
            prop_assert!(least - 1e-9 <= kappa && kappa <= most + 1e-9, "{least} {kappa} {most}");
            prop_assert!((0.0..=1.0).contains(&observed) && (0.0..=1.0 + 1e-12).contains(&expected));
            let exchanged = consistency([neither, b, a, both]);
            prop_assert!((exchanged[0] - kappa).abs() < 1e-12);
            // Right and wrong can be exchanged.
            let mirrored = consistency([both, b, a, neither]);
            prop_assert!((mirrored[0] - kappa).abs() < 1e-9);
        }
    }
}
