//! Survival of stimuli as ε grows: Kaplan and Meier's curve, and the area under it.
//!
//! # Formulas
//!
//! At the ε of a step `i`, `d_i` stimuli are fooled of the `n_i` that survived every smaller ε.
//!
//! ```text
//! S(e)      = Π over ε_i ≤ e of (1 - d_i / n_i)
//! G(e)      = Σ over ε_i ≤ e of d_i / (n_i (n_i - d_i))                       (Greenwood 1926)
//! interval  = S^exp(±z √G / ln S)                                 log-log, never leaves [0, 1]
//! area      = ∫ from 0 to E of S(e) de                                   the restricted mean
//! V(area)   = m / (m - 1) Σ over ε_i < E of A_i² d_i / (n_i (n_i - d_i)),   A_i = ∫ ε_i to E of S
//! ```
//!
//! `E` is the horizon, `m` the stimuli fooled below it, `z` the normal quantile. A stimulus that
//! survived up to some ε counts among the `n_i` up to and including that ε and then leaves: it is
//! neither dropped nor given a number. Where every survivor was tried up to `E`, the area is the
//! mean of `min(ε, E)`, and its interval Student's.
//!
//! At 0 Greenwood's variance says nothing, and Wilson's interval for none of all stimuli stands in,
//! no wider than the step before.
//!
//! # References
//!
//! - E. L. Kaplan and P. Meier (1958), "Nonparametric estimation from incomplete observations".
//! - M. Greenwood (1926), "The natural duration of cancer".
//! - J. P. Klein and M. L. Moeschberger (2003), "Survival analysis", sections 4.3 and 4.5.

use mohs_data::Estimate;

use super::bounded;
use super::findings::{AtHorizon, SurvivalStep};
use crate::proportion::{normal_quantile, real, wilson};

/// One stimulus under one attack.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Observation {
    pub(super) stimulus_idx: usize,
    /// The smallest ε that fools, or the largest that was survived.
    pub(super) epsilon: f64,
    pub(super) is_fooled: bool,
}

/// Sorts by ε; of equal ones, those fooled stand first, because survivors of an ε were at risk at
/// it.
pub(super) fn sort(observed: &mut [Observation]) {
    observed.sort_by(|a, b| {
        let key = |o: &Observation| (!o.is_fooled, o.stimulus_idx);
        a.epsilon.total_cmp(&b.epsilon).then_with(|| key(a).cmp(&key(b)))
    });
}

/// What happens at one ε.
struct Fall {
    epsilon: f64,
    n_at_risk: usize,
    n_fooled: usize,
}

/// Returns the falls of sorted observations, in order.
fn falls(sorted: &[Observation]) -> Vec<Fall> {
    let mut n_at_risk = sorted.len();
    let mut falls = Vec::new();
    for tied in sorted.chunk_by(|a, b| a.epsilon.total_cmp(&b.epsilon).is_eq()) {
        let n_fooled = tied.iter().filter(|o| o.is_fooled).count();
        if 0 < n_fooled {
            falls.push(Fall { epsilon: tied[0].epsilon, n_at_risk, n_fooled });
        }
        n_at_risk -= tied.len();
    }
    falls
}

/// Returns the curve of sorted observations, one step per ε that fools some stimulus.
pub(super) fn curve(sorted: &[Observation], confidence: f64) -> Vec<SurvivalStep> {
    let z = normal_quantile(0.5 + confidence / 2.0);
    let (mut survival, mut greenwood) = (1.0_f64, 0.0);
    let mut steps = Vec::new();
    for Fall { epsilon, n_at_risk, n_fooled } in falls(sorted) {
        let n_left = n_at_risk - n_fooled;
        let estimate = if n_left == 0 {
            survival = 0.0;
            let none = wilson(0, sorted.len(), confidence);
            let before = steps.last().map_or(1.0, |step: &SurvivalStep| step.survival.high);
            none.map(|none| Estimate { high: none.high.min(before), n: n_at_risk, ..none })
        } else {
            survival *= real(n_left) / real(n_at_risk);
            greenwood += real(n_fooled) / (real(n_at_risk) * real(n_left));
            let reach = z * greenwood.sqrt() / survival.ln().abs();
            let low = survival.powf(reach.exp()).min(survival);
            let high = survival.powf((-reach).exp()).max(survival);
            Estimate::new(survival, low, high, confidence, n_at_risk)
        };
        let Some(survival) = estimate else { continue };
        steps.push(SurvivalStep { epsilon, n_fooled, survival });
    }
    steps
}

/// Returns the largest ε up to which the curve of sorted observations is known; `None` when
/// nothing is left at its end, so that it is known everywhere.
pub(super) fn known_to(sorted: &[Observation]) -> Option<f64> {
    sorted.last().filter(|last| !last.is_fooled).map(|last| last.epsilon)
}

/// Returns how many observations outlast the horizon, and of how many that is not known. One that is
/// fooled at the horizon does not outlast it.
pub(super) fn at_horizon(observed: &[Observation], horizon: f64) -> AtHorizon {
    let n =
        |keep: fn(&Observation, f64) -> bool| observed.iter().filter(|o| keep(o, horizon)).count();
    AtHorizon {
        n_survived: n(|o, horizon| match o.is_fooled {
            true => horizon < o.epsilon,
            false => horizon <= o.epsilon,
        }),
        n_unknown: n(|o, horizon| !o.is_fooled && o.epsilon < horizon),
    }
}

/// Returns the area under the curve of sorted observations from 0 to the horizon; `None` without
/// observations.
pub(super) fn restricted_mean(
    sorted: &[Observation],
    horizon: f64,
    confidence: f64,
) -> Option<Estimate> {
    let (value, variance) = area_and_variance(sorted, horizon)?;
    bounded::interval(value, variance, sorted.len(), confidence, (0.0, horizon))
}

/// Returns the area and its variance; `None` without observations.
pub(super) fn area_and_variance(sorted: &[Observation], horizon: f64) -> Option<(f64, f64)> {
    if sorted.is_empty() {
        return None;
    }
    let falls: Vec<Fall> =
        falls(sorted).into_iter().filter(|fall| fall.epsilon < horizon).collect();
    // Areas of the strips between falls, the first before any fall.
    let (mut survival, mut from) = (1.0, 0.0);
    let mut strips = Vec::with_capacity(falls.len() + 1);
    for fall in &falls {
        strips.push(survival * (fall.epsilon - from));
        survival *= real(fall.n_at_risk - fall.n_fooled) / real(fall.n_at_risk);
        from = fall.epsilon;
    }
    strips.push(survival * (horizon - from));
    let area = strips.iter().sum::<f64>().min(horizon);
    let (mut rest, mut variance) = (0.0, 0.0);
    for (fall, strip) in falls.iter().zip(&strips[1..]).rev() {
        rest += strip;
        let (n, d) = (real(fall.n_at_risk), real(fall.n_fooled));
        if d < n {
            variance += rest * rest * d / (n * (n - d));
        }
    }
    let m: usize = falls.iter().map(|fall| fall.n_fooled).sum();
    let few = if 1 < m { real(m) / real(m - 1) } else { 2.0 };
    Some((area, variance * few))
}

/// Returns the area when stimuli count as often as they were drawn; not a number when none was.
pub(super) fn drawn_area(sorted: &[Observation], weights: &[u32], horizon: f64) -> f64 {
    let weight = |o: &Observation| f64::from(weights[o.stimulus_idx]);
    let mut at_risk: f64 = sorted.iter().map(weight).sum();
    if at_risk <= 0.0 {
        return f64::NAN;
    }
    let (mut survival, mut from, mut area) = (1.0, 0.0, 0.0);
    for tied in sorted.chunk_by(|a, b| a.epsilon.total_cmp(&b.epsilon).is_eq()) {
        let epsilon = tied[0].epsilon;
        if horizon <= epsilon || at_risk <= 0.0 {
            break;
        }
        let fooled: f64 = tied.iter().filter(|o| o.is_fooled).map(weight).sum();
        if 0.0 < fooled {
            area += survival * (epsilon - from);
            from = epsilon;
            survival *= 1.0 - fooled / at_risk;
        }
        at_risk -= tied.iter().map(weight).sum::<f64>();
    }
    area + survival * (horizon - from)
}

#[cfg(test)]
pub(super) mod tests {
    use mohs_data::Seed;
    use proptest::prelude::*;

    use super::*;
    use crate::draw::Draw;

    /// Sorted observations of `(ε, whether it fools)`.
    pub(in super::super) fn observed(pairs: &[(f64, bool)]) -> Vec<Observation> {
        let mut all: Vec<Observation> = pairs
            .iter()
            .enumerate()
            .map(|(stimulus_idx, (epsilon, is_fooled))| Observation {
                stimulus_idx,
                epsilon: *epsilon,
                is_fooled: *is_fooled,
            })
            .collect();
        sort(&mut all);
        all
    }

    /// Remission in weeks under 6-mercaptopurine (Freireich et al. 1963).
    pub(in super::super) const TREATED: [(f64, bool); 21] = [
        (6.0, true),
        (6.0, true),
        (6.0, true),
        (6.0, false),
        (7.0, true),
        (9.0, false),
        (10.0, true),
        (10.0, false),
        (11.0, false),
        (13.0, true),
        (16.0, true),
        (17.0, false),
        (19.0, false),
        (20.0, false),
        (22.0, true),
        (23.0, true),
        (25.0, false),
        (32.0, false),
        (32.0, false),
        (34.0, false),
        (35.0, false),
    ];

    #[test]
    fn what_is_fooled_beyond_the_horizon_has_survived_it() {
        let group =
            observed(&[(0.01, true), (0.02, true), (0.03, true), (0.02, false), (0.01, false)]);
        let found = at_horizon(&group, 0.02);
        assert_eq!((found.n_survived, found.n_unknown), (2, 1));
        assert!(!found.is_none_left() && at_horizon(&group[..1], 0.02).is_none_left());
    }

    /// 6: 1 - 3/21; 7: × 16/17; 10: × 14/15; 13: × 11/12; 16: × 10/11; 22: × 6/7; 23: × 5/6.
    #[test]
    fn remission_times_give_the_curve_of_the_textbooks() {
        let found = curve(&observed(&TREATED), 0.95);
        let mut expected = 1.0;
        let factors: [(f64, usize, usize); 4] =
            [(6.0, 18, 21), (7.0, 16, 17), (10.0, 14, 15), (13.0, 11, 12)];
        let later = [(16.0, 10, 11), (22.0, 6, 7), (23.0, 5, 6)];
        assert_eq!(found.len(), 7);
        for (step, (epsilon, left, n)) in found.iter().zip(factors.into_iter().chain(later)) {
            expected *= real(left) / real(n);
            assert!((step.epsilon - epsilon).abs() < 1e-12);
            assert_eq!(step.survival.n, n);
            assert!((step.survival.value - expected).abs() < 1e-12, "{step:?}");
        }
        assert!((found[6].survival.value - 0.448_179).abs() < 1e-6);
        assert_eq!(known_to(&observed(&TREATED)), Some(35.0));
    }

    #[test]
    fn without_stimuli_there_is_no_curve_and_no_area() {
        assert!(curve(&[], 0.95).is_empty());
        assert_eq!(restricted_mean(&[], 1.0, 0.95), None);
        assert!(drawn_area(&observed(&[(0.1, true)]), &[0], 1.0).is_nan());
    }

    #[test]
    fn stimuli_that_all_survive_have_the_horizon_as_area_and_a_doubt_below_it() {
        let found = restricted_mean(&observed(&[(0.05, false); 8]), 0.05, 0.95).unwrap();
        assert!((found.value - 0.05).abs() < 1e-12 && found.low < 0.04 && found.high <= 0.05);
        assert!(curve(&observed(&[(0.05, false); 8]), 0.95).is_empty());
    }

    #[test]
    fn a_curve_that_ends_at_nothing_keeps_some_doubt_there() {
        let found = curve(&observed(&[(0.1, true), (0.2, true)]), 0.95);
        assert!(found[1].survival.value.abs() < 1e-12 && 0.5 < found[1].survival.high);
        assert_eq!(known_to(&observed(&[(0.1, true)])), None);
    }

    /// Ties and censoring.
    pub(in super::super) const SMALL: [(f64, bool); 12] = [
        (1.0, true),
        (1.0, true),
        (2.0, false),
        (2.0, true),
        (3.0, true),
        (3.0, true),
        (3.0, false),
        (4.0, false),
        (5.0, true),
        (7.0, true),
        (8.0, false),
        (8.0, false),
    ];

    /// Golden: lifelines 0.30.3, `KaplanMeierFitter` (`confidence_interval_`) and
    /// `restricted_mean_survival_time`.
    #[test]
    fn curve_and_area_are_those_of_lifelines() {
        let expected = [
            (1.0, 0.833_333_333_333_333_5, 0.481_714_942_195_378_64, 0.955_509_365_728_065),
            (2.0, 0.75, 0.408_415_913_151_594_9, 0.911_720_406_125_698_4),
            (3.0, 0.5625, 0.243_680_982_605_186_8, 0.790_991_758_910_399_7),
            (5.0, 0.421_875, 0.122_860_393_587_807_8, 0.701_000_257_713_895_7),
            (7.0, 0.281_25, 0.047_942_247_207_613_23, 0.588_777_608_762_396_2),
        ];
        let steps = curve(&observed(&SMALL), 0.95);
        assert_eq!(steps.len(), expected.len());
        for (step, (epsilon, value, low, high)) in steps.iter().zip(expected) {
            let found = step.survival;
            assert!((step.epsilon - epsilon).abs() < 1e-12);
            assert!((found.value - value).abs() < 1e-9, "{step:?}");
            assert!((found.low - low).abs() < 1e-9, "{step:?}");
            assert!((found.high - high).abs() < 1e-9, "{step:?}");
        }
        for (horizon, area) in [
            (4.0, 3.145_833_333_333_333_5),
            (6.5, 4.341_145_833_333_334),
            (8.0, 4.833_333_333_333_334),
        ] {
            let found = area_and_variance(&observed(&SMALL), horizon).unwrap().0;
            assert!((found - area).abs() < 1e-9, "{horizon} {found}");
        }
    }

    fn any_observed() -> impl Strategy<Value = Vec<(f64, bool)>> {
        let one = (1_u8..12, any::<bool>()).prop_map(|(e, f)| (f64::from(e) / 100.0, f));
        proptest::collection::vec(one, 1..40)
    }

    proptest! {
        #[test]
        fn a_curve_never_rises_and_its_intervals_hold_it(pairs in any_observed()) {
            let steps = curve(&observed(&pairs), 0.9);
            for pair in steps.windows(2) {
                prop_assert!(pair[0].epsilon < pair[1].epsilon);
                prop_assert!(pair[1].survival.value <= pair[0].survival.value);
            }
            for step in &steps {
                let s = step.survival;
                prop_assert!(0.0 <= s.low && s.low <= s.value && s.value <= s.high && s.high <= 1.0);
            }
        }

        #[test]
        fn the_order_of_stimuli_does_not_matter(pairs in any_observed(), horizon in 0.01..0.2) {
            let mut turned = pairs.clone();
            turned.reverse();
            let (one, other) = (observed(&pairs), observed(&turned));
            prop_assert_eq!(curve(&one, 0.95), curve(&other, 0.95));
            prop_assert_eq!(restricted_mean(&one, horizon, 0.95), restricted_mean(&other, horizon, 0.95));
        }

        /// Survivors tried up to the horizon or beyond: the area is the mean of min(ε, E), and its
        /// variance that of a mean.
        #[test]
        fn the_area_is_the_mean_of_what_is_cut_off_at_the_horizon(
            values in proptest::collection::vec(1_u8..30, 2..40), end in 5_u8..25,
        ) {
            let horizon = f64::from(end) / 100.0;
            let pairs: Vec<(f64, bool)> = values
                .iter()
                .map(|value| (f64::from(*value) / 100.0, value % 3 != 0 || *value < end))
                .collect();
            let cut: Vec<f64> = pairs.iter().map(|pair| pair.0.min(horizon)).collect();
            let (area, variance) = area_and_variance(&observed(&pairs), horizon).unwrap();
            let (mean, _) = bounded::mean_and_variance(&cut).unwrap();
            prop_assert!((area - mean).abs() < 1e-12);
            let m = pairs.iter().filter(|pair| pair.0 < horizon).count();
            if 1 < m {
                let n = real(cut.len());
                let plain: f64 = cut.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n / n;
                let expected = plain * real(m) / real(m - 1);
                prop_assert!((variance - expected).abs() < 1e-12, "{variance} {expected}");
            }
        }

        /// The curve's own area, step by step, is the restricted mean; drawing each stimulus once
        /// changes nothing.
        #[test]
        fn the_area_under_the_steps_is_the_restricted_mean(
            pairs in any_observed(), horizon in 0.01..0.2,
        ) {
            let sorted = observed(&pairs);
            let (mut from, mut level, mut area) = (0.0, 1.0, 0.0);
            for step in curve(&sorted, 0.95).iter().filter(|step| step.epsilon < horizon) {
                area += level * (step.epsilon - from);
                (from, level) = (step.epsilon, step.survival.value);
            }
            area += level * (horizon - from);
            let found = area_and_variance(&sorted, horizon).unwrap().0;
            prop_assert!((found - area).abs() < 1e-12);
            let ones = vec![1; sorted.len()];
            prop_assert!((drawn_area(&sorted, &ones, horizon) - area).abs() < 1e-12);
        }
    }

    /// ε with mean 0.02 (exponential), survivors beyond 0.05, some tried less far.
    fn simulate(draw: &mut Draw, n: usize) -> Vec<Observation> {
        let pairs: Vec<(f64, bool)> = (0..n)
            .map(|_| {
                let epsilon = -0.02 * (1.0 - draw.uniform()).ln();
                let up_to = if draw.chance(0.3) { 0.05 * draw.uniform() } else { 0.05 };
                (epsilon.min(up_to), epsilon <= up_to)
            })
            .collect();
        observed(&pairs)
    }

    #[test]
    fn the_intervals_hold_the_truth_about_as_often_as_promised() {
        for n in [40, 200] {
            let mut draw = Draw::new(Seed(21), &[n as u64]);
            let (at, horizon) = (0.015, 0.045);
            let share = (-at / 0.02_f64).exp();
            let mean = 0.02 * (1.0 - (-horizon / 0.02_f64).exp());
            let (mut n_share, mut n_mean) = (0, 0);
            for _ in 0..2_000 {
                let sorted = simulate(&mut draw, n);
                let steps = curve(&sorted, 0.95);
                let step = steps.iter().rev().find(|step| step.epsilon <= at).unwrap();
                n_share += usize::from(step.survival.low <= share && share <= step.survival.high);
                let found = restricted_mean(&sorted, horizon, 0.95).unwrap();
                n_mean += usize::from(found.low <= mean && mean <= found.high);
            }
            for (what, n_held) in [("curve", n_share), ("area", n_mean)] {
                let held = real(n_held) / 2_000.0;
                assert!((0.93..=0.975).contains(&held), "{what} {n} {held}");
            }
        }
    }
}
