//! Many tests at once: p-values corrected for how many there are.
//!
//! # Formulas
//!
//! With the p-values sorted, `p_(1) ≤ … ≤ p_(m)`:
//!
//! ```text
//! Holm                 p'_(i) = max over j ≤ i of min(1, (m - j + 1) p_(j))
//! Benjamini, Hochberg  p'_(i) = min over j ≥ i of min(1, m p_(j) / j)
//! ```
//!
//! Holm's keeps the chance of any false claim in the whole family; Benjamini and Hochberg's keeps
//! the expected share of false ones among the claims.
//!
//! # References
//!
//! - S. Holm (1979), "A simple sequentially rejective multiple test procedure".
//! - Y. Benjamini and Y. Hochberg (1995), "Controlling the false discovery rate".

use crate::proportion::real;

/// Returns p-values after Holm's correction, in the order given.
pub fn holm(p_values: &[f64]) -> Vec<f64> {
    let order = ascending(p_values);
    let m = p_values.len();
    let mut corrected = vec![0.0; m];
    let mut largest: f64 = 0.0;
    for (place, idx) in order.into_iter().enumerate() {
        largest = largest.max(real(m - place) * p_values[idx]).min(1.0);
        corrected[idx] = largest;
    }
    corrected
}

/// Returns p-values after Benjamini and Hochberg's correction, in the order given.
pub fn benjamini_hochberg(p_values: &[f64]) -> Vec<f64> {
    let order = ascending(p_values);
    let m = p_values.len();
    let mut corrected = vec![0.0; m];
    let mut smallest: f64 = 1.0;
    for (place, idx) in order.into_iter().enumerate().rev() {
        smallest = smallest.min(real(m) * p_values[idx] / real(place + 1));
        corrected[idx] = smallest;
    }
    corrected
}

fn ascending(p_values: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|a, b| p_values[*a].total_cmp(&p_values[*b]));
    order
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(found: &[f64], expected: &[f64]) {
        for (found, expected) in found.iter().zip(expected) {
            assert!((found - expected).abs() < 1e-12, "{found} should be {expected}");
        }
    }

    /// Golden: statsmodels 0.15.0, `multipletests(p, method="holm")` and `method="fdr_bh"`.
    #[test]
    fn both_are_those_of_statsmodels() {
        let p = [0.01, 0.04, 0.03, 0.005, 0.5];
        check(&holm(&p), &[0.04, 0.09, 0.09, 0.025, 0.5]);
        check(&benjamini_hochberg(&p), &[0.025, 0.05, 0.05, 0.025, 0.5]);
    }

    #[test]
    fn one_test_needs_no_correction_and_none_has_none() {
        check(&holm(&[0.2]), &[0.2]);
        check(&benjamini_hochberg(&[0.2]), &[0.2]);
        assert!(holm(&[]).is_empty() && benjamini_hochberg(&[]).is_empty());
    }

    proptest! {
        #[test]
        fn a_correction_keeps_the_order_and_never_makes_smaller(
            p in proptest::collection::vec(0.0_f64..=1.0, 1..40),
        ) {
            let (holm, bh) = (holm(&p), benjamini_hochberg(&p));
            for i in 0..p.len() {
                prop_assert!(p[i] <= bh[i] + 1e-15 && bh[i] <= holm[i] + 1e-15 && holm[i] <= 1.0);
                for j in 0..p.len() {
                    if p[i] <= p[j] {
                        prop_assert!(holm[i] <= holm[j] && bh[i] <= bh[j]);
                    }
                }
            }
        }
    }
}
