//! Reference models: models whose answers to every stimulus are known already.
//!
//! They say which stimuli are hard before the model under test is asked. Their answers never enter
//! an estimate as answers, only as forecasts, so a bad choice of references costs precision, not
//! truth. It refuses references that leave stimuli unanswered: what is forecast for those would
//! have to be made up.

use std::collections::BTreeMap;

use super::population::{Ladder, Place};
use crate::proportion::real;

/// What reference models answered.
#[derive(Debug, Clone, PartialEq)]
pub struct ReferenceModels {
    names: Vec<String>,
    /// Right answers by model and stimulus.
    is_right: Vec<Vec<bool>>,
}

/// What reference models say of the stimuli of one ladder, worked out once.
#[derive(Debug, Clone, PartialEq)]
pub struct Hints {
    /// The share of them that was right, by stimulus.
    pub(super) shares: Vec<f64>,
    /// What a fit may know of each stimulus.
    pub(super) features: Features,
    /// How far the share is believed before the model under test said anything.
    pub(super) slope: f64,
}

/// What a fit may know of each stimulus: what references say together, then each of them alone.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Features {
    width: usize,
    values: Vec<f64>,
}

impl Features {
    /// How many numbers say what references say together.
    pub(super) const N_TOGETHER: usize = 2;

    /// `values` holds `width` numbers for each stimulus.
    pub(super) fn new(width: usize, values: Vec<f64>) -> Self {
        Self { width, values }
    }

    pub(super) fn width(&self) -> usize {
        self.width
    }

    pub(super) fn of(&self, stimulus: usize) -> &[f64] {
        &self.values[stimulus * self.width..(stimulus + 1) * self.width]
    }
}

/// From so many references on, the model under test may resemble some more than others.
const FEW: usize = 3;

/// A reference model that did not answer every stimulus.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the reference model `{model}` has no answer to {n} of {n_stimuli} stimuli, the first is number {}", first + 1)]
pub struct Unanswered {
    /// The model.
    pub model: String,
    /// How many are missing.
    pub n: usize,
    /// Of how many.
    pub n_stimuli: usize,
    /// Position of the first.
    pub first: usize,
}

impl ReferenceModels {
    /// Takes models with what they answered to each stimulus of a ladder, in its order.
    pub fn new(models: Vec<(String, Vec<Option<bool>>)>) -> Result<Self, Unanswered> {
        let mut references = Self { names: Vec::new(), is_right: Vec::new() };
        for (model, answers) in models {
            if let Some(first) = answers.iter().position(Option::is_none) {
                let n = answers.iter().filter(|answer| answer.is_none()).count();
                return Err(Unanswered { model, n, n_stimuli: answers.len(), first });
            }
            references.names.push(model);
            references.is_right.push(answers.into_iter().flatten().collect());
        }
        Ok(references)
    }

    /// Their names.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Returns what they say of the stimuli of a ladder.
    pub fn hints(&self, ladder: &Ladder) -> Hints {
        Hints {
            shares: self.shares(),
            features: self.features(ladder),
            slope: self.slope_between(ladder),
        }
    }

    /// Returns how many of them were right about each stimulus.
    fn n_right(&self) -> Vec<usize> {
        let n_stimuli = self.is_right.first().map_or(0, Vec::len);
        let mut n_right = vec![0; n_stimuli];
        for answers in &self.is_right {
            for (n, is_right) in n_right.iter_mut().zip(answers) {
                *n += usize::from(*is_right);
            }
        }
        n_right
    }

    /// Returns the share of them that was right about each stimulus.
    fn shares(&self) -> Vec<f64> {
        let n_models = real(self.names.len().max(1));
        self.n_right().into_iter().map(|n| real(n) / n_models).collect()
    }

    /// Returns what a fit may know of each stimulus: the log-odds that references are right about
    /// it, their mean over the stimuli of its class, attribute and level, and of each reference
    /// whether it is right, less the share that is.
    fn features(&self, ladder: &Ladder) -> Features {
        let n_models = real(self.names.len());
        // Half a success and half a failure keep unanimous references finite.
        let log_odds = |n: usize| ((real(n) + 0.5) / (n_models - real(n) + 0.5)).ln();
        let own: Vec<f64> = self.n_right().into_iter().map(log_odds).collect();
        let mut sums: BTreeMap<Place, (f64, f64)> = BTreeMap::new();
        for (place, own) in ladder.places().iter().zip(&own) {
            let (sum, n) = sums.entry(*place).or_default();
            *sum += own;
            *n += 1.0;
        }
        let means: BTreeMap<Place, f64> =
            sums.into_iter().map(|(place, (sum, n))| (place, sum / n)).collect();
        let n_alone = if self.names.len() < FEW { 0 } else { self.names.len() };
        let width = Features::N_TOGETHER + n_alone;
        let shares = self.shares();
        let mut values = Vec::with_capacity(width * own.len());
        for (stimulus, (place, own)) in ladder.places().iter().zip(own).enumerate() {
            values.extend([own, means[place]]);
            let alone = self.is_right.iter().take(n_alone);
            values
                .extend(alone.map(|right| f64::from(u8::from(right[stimulus])) - shares[stimulus]));
        }
        Features::new(width, values)
    }

    /// Returns how much a reference's answer moves with the share of the others that is right,
    /// within strata: what to believe of forecasts before the model under test said anything.
    ///
    /// 0 with fewer than two references, or if they never differ.
    fn slope_between(&self, ladder: &Ladder) -> f64 {
        let n_models = self.names.len();
        if n_models < 2 {
            return 0.0;
        }
        let n_right = self.n_right();
        let (mut products, mut squares) = (0.0, 0.0);
        for stratum in ladder.strata() {
            let n = real(stratum.stimuli.len());
            for answers in &self.is_right {
                let (mut x, mut y, mut xx, mut xy) = (0.0, 0.0, 0.0, 0.0);
                for idx in &stratum.stimuli {
                    let own = usize::from(answers[*idx]);
                    let others = real(n_right[*idx] - own) / real(n_models - 1);
                    let own = real(own);
                    x += others;
                    y += own;
                    xx += others * others;
                    xy += others * own;
                }
                products += xy - x * y / n;
                squares += xx - x * x / n;
            }
        }
        if squares <= 0.0 { 0.0 } else { (products / squares).clamp(0.0, 1.0) }
    }
}

#[cfg(test)]
mod tests {
    use super::super::population::Tags;
    use super::*;

    fn ladder(n: usize) -> Ladder {
        let tags = Tags { class: "dog".into(), attribute: None, level: Some("1".into()) };
        Ladder::new(&vec![tags; n], &[]).unwrap()
    }

    fn of(rows: &[&[u8]]) -> ReferenceModels {
        let model = |row: &&[u8]| {
            ("m".to_owned(), row.iter().map(|bit| Some(*bit == 1)).collect::<Vec<_>>())
        };
        ReferenceModels::new(rows.iter().map(model).collect()).unwrap()
    }

    #[test]
    fn a_reference_that_left_something_out_is_refused() {
        let models = vec![("a".to_owned(), vec![Some(true), None, None])];
        insta::assert_snapshot!(
            ReferenceModels::new(models).unwrap_err(),
            @"the reference model `a` has no answer to 2 of 3 stimuli, the first is number 2"
        );
    }

    #[test]
    fn references_that_agree_are_believed_and_others_are_not() {
        let ladder = ladder(4);
        let agree = of(&[&[1, 1, 0, 0], &[1, 1, 0, 0], &[1, 1, 0, 0]]);
        assert!((agree.slope_between(&ladder) - 1.0).abs() < 1e-12);
        let differ = of(&[&[1, 1, 0, 0], &[0, 0, 1, 1]]);
        assert!(differ.slope_between(&ladder).abs() < 1e-12);
        assert!(of(&[&[1, 0, 1, 0]]).slope_between(&ladder).abs() < 1e-12);
    }

    #[test]
    fn features_of_two_are_log_odds_and_their_mean() {
        let features = of(&[&[1, 1, 0, 0], &[1, 0, 0, 0]]).features(&ladder(4));
        let odds = |right: f64| ((right + 0.5) / (2.5 - right)).ln();
        assert!((features.of(0)[0] - odds(2.0)).abs() < 1e-12);
        let mean = (odds(2.0) + odds(1.0) + 2.0 * odds(0.0)) / 4.0;
        assert!((0..4).all(|idx| (features.of(idx)[1] - mean).abs() < 1e-12));
        assert_eq!(features.width(), 2);
    }

    #[test]
    fn from_three_on_each_reference_has_a_feature_of_its_own() {
        let features = of(&[&[1, 1, 0], &[1, 0, 0], &[1, 0, 1]]).features(&ladder(3));
        assert_eq!(features.width(), 5);
        assert_eq!(features.of(0)[2..], [0.0; 3]);
        let found = &features.of(1)[2..];
        for (found, expected) in found.iter().zip([2.0 / 3.0, -1.0 / 3.0, -1.0 / 3.0]) {
            assert!((found - expected).abs() < 1e-12);
        }
    }
}
