//! Log-rank tests: are groups of stimuli fooled at different ε, and ever sooner from easy to hard?
//!
//! # Formulas
//!
//! At each ε where some stimulus is fooled, `d` of `n` at risk are, of them `n_g` in group `g`:
//!
//! ```text
//! U_g   = Σ (d_g - d n_g / n)                                    fooled less expected
//! V_gh  = Σ d (n - d) / (n - 1) · n_g / n · ([g = h] - n_h / n)
//! χ²    = U' V⁻¹ U over all groups but one,       groups less one degrees of freedom
//! z     = Σ g U_g / √(Σ Σ g h V_gh)               trend over groups in order
//! ```
//!
//! Survivors count among those at risk up to the ε they were tried at. Stimuli are taken for
//! independent; where those of one class are alike, p-values are too small, and the intervals that
//! draw classes are the ones to read.
//!
//! # References
//!
//! - N. Mantel (1966), "Evaluation of survival data and two new rank order statistics arising in
//!   its consideration".
//! - R. E. Tarone (1975), "Tests for trend in life table analysis".

use nalgebra::{DMatrix, DVector};
use statrs::distribution::{ChiSquared, ContinuousCDF};
use statrs::function::erf::erfc;

use super::findings::{LogRank, TrendTest};
use super::survival::Observation;
use crate::proportion::real;

/// Fooled less expected by group, and the covariance.
struct Sums {
    u: Vec<f64>,
    v: Vec<Vec<f64>>,
    n_stimuli: usize,
    n_fooled: usize,
}

fn sums(groups: &[&[Observation]]) -> Sums {
    let k = groups.len();
    let mut all: Vec<(f64, bool, usize)> = groups
        .iter()
        .enumerate()
        .flat_map(|(g, group)| group.iter().map(move |o| (o.epsilon, o.is_fooled, g)))
        .collect();
    all.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.2.cmp(&b.2)).then(b.1.cmp(&a.1)));
    let mut at_risk: Vec<f64> = groups.iter().map(|group| real(group.len())).collect();
    let mut sums = Sums {
        u: vec![0.0; k],
        v: vec![vec![0.0; k]; k],
        n_stimuli: all.len(),
        n_fooled: all.iter().filter(|one| one.1).count(),
    };
    for tied in all.chunk_by(|a, b| a.0.total_cmp(&b.0).is_eq()) {
        let n: f64 = at_risk.iter().sum();
        let mut fooled = vec![0.0; k];
        for one in tied.iter().filter(|one| one.1) {
            fooled[one.2] += 1.0;
        }
        let d: f64 = fooled.iter().sum();
        if 0.0 < d {
            let scale = if 1.0 < n { d * (n - d) / (n - 1.0) } else { 0.0 };
            for g in 0..k {
                let share = at_risk[g] / n;
                sums.u[g] += fooled[g] - d * share;
                for (h, other) in at_risk.iter().enumerate() {
                    let same = if g == h { 1.0 } else { 0.0 };
                    sums.v[g][h] += scale * share * (same - other / n);
                }
            }
        }
        for one in tied {
            at_risk[one.2] -= 1.0;
        }
    }
    sums
}

/// Tests whether groups are fooled at different ε; `None` with fewer than two groups that have
/// stimuli, or where nothing tells them apart (nobody is fooled while two groups are at risk).
pub(super) fn test(groups: &[&[Observation]]) -> Option<LogRank> {
    let groups: Vec<&[Observation]> =
        groups.iter().copied().filter(|group| !group.is_empty()).collect();
    if groups.len() < 2 {
        return None;
    }
    let sums = sums(&groups);
    let degrees = groups.len() - 1;
    let u = DVector::from_fn(degrees, |g, _| sums.u[g]);
    let v = DMatrix::from_fn(degrees, degrees, |g, h| sums.v[g][h]);
    let solved = v.cholesky()?.solve(&u);
    let chi_squared = u.dot(&solved);
    if !chi_squared.is_finite() || chi_squared < 0.0 {
        return None;
    }
    let p = ChiSquared::new(real(degrees)).ok()?.sf(chi_squared).clamp(0.0, 1.0);
    Some(LogRank {
        chi_squared,
        degrees,
        p,
        p_holm: p,
        n_stimuli: sums.n_stimuli,
        n_fooled: sums.n_fooled,
    })
}

/// Tests whether groups in order are fooled ever sooner; `None` as for [`test`].
pub(super) fn trend(groups: &[&[Observation]]) -> Option<TrendTest> {
    let sums = sums(groups);
    let u: f64 = sums.u.iter().enumerate().map(|(g, u)| real(g) * u).sum();
    let mut variance = 0.0;
    for (g, row) in sums.v.iter().enumerate() {
        for (h, v) in row.iter().enumerate() {
            variance += real(g) * real(h) * v;
        }
    }
    let z = u / variance.sqrt();
    // Rounding leaves a little where it should leave nothing.
    if variance < 1e-12 || !z.is_finite() {
        return None;
    }
    let p = erfc(z.abs() / std::f64::consts::SQRT_2).clamp(0.0, 1.0);
    Some(TrendTest { z, p, n_stimuli: sums.n_stimuli })
}

#[cfg(test)]
mod tests {
    use mohs_data::Seed;
    use proptest::prelude::*;

    use super::super::survival::tests::{SMALL, TREATED, observed};
    use super::*;
    use crate::draw::Draw;

    /// Remission in weeks under placebo (Freireich et al. 1963); nobody was lost.
    const PLACEBO: [f64; 21] = [
        1.0, 1.0, 2.0, 2.0, 3.0, 4.0, 4.0, 5.0, 5.0, 8.0, 8.0, 8.0, 8.0, 11.0, 11.0, 12.0, 12.0,
        15.0, 17.0, 22.0, 23.0,
    ];

    /// The textbook says 16.79; 9 relapses under treatment where 19.25 were expected, variance
    /// 6.257: (9 - 19.25)² / 6.257.
    #[test]
    fn remission_times_give_the_statistic_of_the_textbooks() {
        let placebo: Vec<(f64, bool)> = PLACEBO.iter().map(|time| (*time, true)).collect();
        let (treated, placebo) = (observed(&TREATED), observed(&placebo));
        let all = sums(&[&treated, &placebo]);
        assert!((all.u[0] - (9.0 - 19.250_5)).abs() < 1e-3, "{}", all.u[0]);
        assert!((all.v[0][0] - 6.257).abs() < 1e-3, "{}", all.v[0][0]);
        let found = test(&[&treated, &placebo]).unwrap();
        assert!((found.chi_squared - 16.79).abs() < 5e-3, "{found:?}");
        assert_eq!((found.degrees, found.n_stimuli, found.n_fooled), (1, 42, 30));
        let trend = trend(&[&treated, &placebo]).unwrap();
        assert!((trend.z.powi(2) - found.chi_squared).abs() < 1e-9 && 0.0 < trend.z);
    }

    /// Golden: lifelines 0.30.3, `multivariate_logrank_test` over three groups dealt in turn, and
    /// `logrank_test` of the first and the third.
    #[test]
    fn the_tests_are_those_of_lifelines() {
        let dealt = |g: usize| -> Vec<Observation> {
            observed(&SMALL.iter().copied().skip(g).step_by(3).collect::<Vec<_>>())
        };
        let (a, b, c) = (dealt(0), dealt(1), dealt(2));
        let all = test(&[&a, &b, &c]).unwrap();
        assert!((all.chi_squared - 0.688_775_650_289_275_5).abs() < 1e-9, "{all:?}");
        assert!((all.p - 0.708_654_040_892_973_1).abs() < 1e-9, "{all:?}");
        let two = test(&[&a, &c]).unwrap();
        assert!((two.chi_squared - 0.581_883_758_500_206).abs() < 1e-9, "{two:?}");
        assert!((two.p - 0.445_574_893_590_188).abs() < 1e-9, "{two:?}");
    }

    #[test]
    fn nothing_to_tell_apart_is_no_test() {
        let survived = observed(&[(0.1, false), (0.1, false)]);
        assert_eq!(test(&[&survived, &survived]), None);
        assert_eq!(trend(&[&survived, &survived]), None);
        assert_eq!(test(&[&survived]), None);
        assert_eq!(test(&[&observed(&[(0.1, true)]), &[]]), None);
    }

    fn group() -> impl Strategy<Value = Vec<(f64, bool)>> {
        let one = (1_u8..12, any::<bool>()).prop_map(|(e, f)| (f64::from(e), f));
        proptest::collection::vec(one, 1..25)
    }

    proptest! {
        #[test]
        fn the_order_of_groups_turns_the_trend_and_leaves_the_test(
            a in group(), b in group(), c in group(),
        ) {
            let (a, b, c) = (observed(&a), observed(&b), observed(&c));
            if let (Some(one), Some(other)) = (test(&[&a, &b, &c]), test(&[&c, &a, &b])) {
                prop_assert!((one.chi_squared - other.chi_squared).abs() < 1e-6 * (1.0 + one.chi_squared));
            }
            if let (Some(one), Some(other)) = (trend(&[&a, &b, &c]), trend(&[&c, &b, &a])) {
                prop_assert!((one.z + other.z).abs() < 1e-6);
                // One direction of the difference cannot say more than all of them together.
                if let Some(all) = test(&[&a, &b, &c]) {
                    prop_assert!(one.z.powi(2) <= all.chi_squared + 1e-6);
                }
            }
        }

        #[test]
        fn only_the_order_of_epsilons_counts(a in group(), b in group()) {
            let warped = |pairs: &[(f64, bool)]| -> Vec<(f64, bool)> {
                pairs.iter().map(|(e, f)| (e.exp(), *f)).collect()
            };
            let plain = test(&[&observed(&a), &observed(&b)]);
            prop_assert_eq!(plain, test(&[&observed(&warped(&a)), &observed(&warped(&b))]));
        }
    }

    /// Groups that do not differ are told apart in about one of twenty studies.
    #[test]
    fn the_tests_have_their_size() {
        let mut draw = Draw::new(Seed(31), &[]);
        let n_runs = 3_000;
        let (mut n_test, mut n_trend) = (0, 0);
        for _ in 0..n_runs {
            let groups: Vec<Vec<Observation>> = (0..3)
                .map(|_| {
                    let pairs: Vec<(f64, bool)> = (0..40)
                        .map(|_| {
                            // On a grid, as attacks are, with survivors.
                            let epsilon = (-20.0 * (1.0 - draw.uniform()).ln()).ceil();
                            (epsilon.min(30.0), epsilon <= 30.0)
                        })
                        .collect();
                    observed(&pairs)
                })
                .collect();
            let groups: Vec<&[Observation]> = groups.iter().map(Vec::as_slice).collect();
            n_test += usize::from(test(&groups).unwrap().p < 0.05);
            n_trend += usize::from(trend(&groups).unwrap().p < 0.05);
        }
        for (what, n) in [("test", n_test), ("trend", n_trend)] {
            let size = real(n) / real(n_runs);
            assert!((0.04..=0.062).contains(&size), "{what} {size}");
        }
    }
}
