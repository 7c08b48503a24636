//! What is done to pictures before people see them: the conditions of a study, as probes.
//!
//! Models and people see the same changes, so each condition is a kind of [`Probe`] and nothing is
//! computed here. Conditions follow the speed–accuracy paper (SATBench):
//!
//! | condition | probe | as in the paper |
//! |---|---|---|
//! | `colour` | `none` | "colour" |
//! | `gray` | `grayscale` | "gray" |
//! | `contrast` | `satbench-noise` without noise | grey, mean brought to 0.5, contrast 20 % |
//! | `noise` | `satbench-noise` at a contrast of 20 % | the same, then noise cut at two sd |
//! | `blur` | `gaussian-blur`, three sd to each side | colour, Gaussian |
//!
//! The published code for noise has a contrast of 10 % by mistake, lets numbers outside [0, 1] wrap
//! round and blurs with a kernel of 7; here the paper is followed and numbers are cut off.

use std::collections::BTreeMap;

use mohs_data::{Degradation, DegradationKind, Parameter, ProbeEntry};

use crate::probe::{Probe, ProbeError};

/// Contrast that is left under noise, so that noise is seldom cut off.
const CONTRAST_UNDER_NOISE: f64 = 0.2;

/// Returns the probe that makes a condition.
///
/// # Errors
///
/// Fails where the amount is missing or outside its range.
pub fn probe(condition: &Degradation) -> Result<Probe, ProbeError> {
    let amount = condition.amount;
    let (kind, parameters): (&str, Vec<(&str, Option<f64>)>) = match condition.kind {
        DegradationKind::Colour => ("none", vec![]),
        DegradationKind::Gray => ("grayscale", vec![]),
        DegradationKind::Contrast => {
            ("satbench-noise", vec![("sd", Some(0.0)), ("contrast", amount)])
        }
        DegradationKind::Noise => {
            ("satbench-noise", vec![("sd", amount), ("contrast", Some(CONTRAST_UNDER_NOISE))])
        }
        DegradationKind::Blur => ("gaussian-blur", vec![("sigma", amount)]),
    };
    let parameters: BTreeMap<String, Parameter> = parameters
        .into_iter()
        .filter_map(|(name, number)| Some((name.to_owned(), Parameter::Number(number?))))
        .collect();
    Probe::parse(&ProbeEntry { name: condition.name.clone(), kind: kind.to_owned(), parameters })
}

#[cfg(test)]
mod tests {
    use mohs_data::{Seed, StimulusId};
    use proptest::prelude::*;

    use super::*;
    use crate::pixels::Pixels;
    use crate::probe::ProbeKey;

    fn condition(kind: DegradationKind, amount: Option<f64>) -> Degradation {
        Degradation { name: "condition".into(), kind, amount }
    }

    fn degraded(pixels: &Pixels, kind: DegradationKind, amount: Option<f64>) -> Pixels {
        let id = StimulusId::new("0");
        let key = ProbeKey { seed: Seed(1), stimulus: &id };
        probe(&condition(kind, amount)).unwrap().apply(pixels, &key)
    }

    /// Black and white, half of each.
    fn halves() -> Pixels {
        let plane: Vec<f32> = (0..64).map(|at| if at % 8 < 4 { 0.0 } else { 1.0 }).collect();
        Pixels::new(8, 8, plane.repeat(3)).unwrap()
    }

    #[test]
    fn a_fifth_of_the_contrast_is_left_around_the_middle() {
        let pixels = degraded(&halves(), DegradationKind::Contrast, Some(0.2));
        let (low, high) = (pixels.planes()[0], pixels.planes()[7]);
        assert!((low - 0.4).abs() < 1e-3 && (high - 0.6).abs() < 1e-3, "{low} {high}");
    }

    #[test]
    fn noise_is_the_same_in_all_channels_and_cut_at_two_sd() {
        let pixels = degraded(&halves(), DegradationKind::Noise, Some(0.1));
        let [red, green, blue] = pixels.channels();
        assert_eq!((red, green), (green, blue));
        assert!(red.iter().all(|x| (0.199..=0.801).contains(x)), "{red:?}");
        assert!(red.iter().any(|x| (x - 0.4).abs() > 0.02 && (x - 0.6).abs() > 0.02));
    }

    #[test]
    fn colour_stays_and_an_amount_that_is_missing_is_named() {
        assert_eq!(degraded(&halves(), DegradationKind::Colour, None), halves());
        let error = probe(&condition(DegradationKind::Blur, None)).unwrap_err();
        assert!(matches!(error, ProbeError::MissingParameter { .. }), "{error}");
    }

    proptest! {
        #[test]
        fn degraded_pictures_stay_between_black_and_white(
            planes in prop::collection::vec(0.0_f32..=1.0, 12 * 12 * 3), amount in 0.0..1.0,
        ) {
            let pixels = Pixels::new(12, 12, planes).unwrap();
            for kind in [DegradationKind::Gray, DegradationKind::Contrast, DegradationKind::Noise,
                         DegradationKind::Blur] {
                let degraded = degraded(&pixels, kind, Some(amount));
                prop_assert!(degraded.planes().iter().all(|x| (0.0..=1.0).contains(x)));
            }
        }
    }
}
