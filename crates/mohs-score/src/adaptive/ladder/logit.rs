//! Forecasts: how probable is a right answer, from the answers so far and from reference models?
//!
//! # Model
//!
//! ```text
//! P(right) = 1 / (1 + e^-η),   η = a_(attribute, level) + c_class + b_(class, attribute)
//!                                  + d_(class, level) + β₁ x + β₂ x̄
//! ```
//!
//! | symbol       | meaning                                                             |
//! |--------------|---------------------------------------------------------------------|
//! | `a`          | what an attribute at a level does, nearly free                      |
//! | `c`, `b`, `d`| normal with mean 0; their variances are learned (empirical Bayes)   |
//! | `x`          | log-odds that reference models are right about the stimulus         |
//! | `x̄`          | its mean over stimuli of the same class, attribute and level        |
//!
//! # Method
//!
//! Each family of effects takes a Newton step with the others fixed, round after round; variances
//! are `mean(effect² + its posterior variance)`. A fit goes on from where the last one ended, so
//! a few rounds suffice when data only grew. Forecasts are means over the doubt about `η`:
//! `1 / (1 + e^-(η / √(1 + π v / 8)))`.
//!
//! # References
//!
//! - N. E. Breslow, D. G. Clayton (1993), "Approximate inference in generalized linear mixed
//!   models".
//! - D. J. C. MacKay (1992), "The evidence framework applied to classification networks".

use super::population::{Ladder, Place};
use crate::proportion::real;

/// Families of effects: attribute × level, class, class × attribute, class × level.
const N_FAMILIES: usize = 4;
/// The variance of attribute × level: nearly free.
const FREE: f64 = 4.0;
/// Where learned variances start, and how small they may get.
const FIRST: [f64; N_FAMILIES] = [FREE, 0.5, 0.5, 0.1];
const SMALLEST: f64 = 0.01;
/// The variance of slopes.
const SLOPE_VARIANCE: f64 = 1.0;
/// No step is longer, so that a first step from afar cannot overshoot.
const LONGEST_STEP: f64 = 2.0;
/// Weights below this say nothing about curvature.
const LEAST_WEIGHT: f64 = 1e-4;
/// Rounds of a first fit during which variances stay.
const N_FIXED: usize = 3;

/// The effects as they stand.
#[derive(Debug, Clone)]
pub(super) struct Logit<'a> {
    ladder: &'a Ladder,
    features: Option<&'a [[f64; 2]]>,
    effects: [Vec<Effect>; N_FAMILIES],
    variances: [f64; N_FAMILIES],
    slopes: [f64; 2],
    n_rounds: usize,
}

#[derive(Debug, Clone, Copy)]
struct Effect {
    value: f64,
    variance: f64,
}

fn logistic(eta: f64) -> f64 {
    1.0 / (1.0 + (-eta).exp())
}

impl<'a> Logit<'a> {
    /// Starts without answers; features come from [`super::ReferenceModels`].
    pub(super) fn new(ladder: &'a Ladder, features: Option<&'a [[f64; 2]]>) -> Self {
        let (n_classes, n_attributes) = (ladder.classes().len(), ladder.attributes().len());
        let n_levels = ladder.levels().len();
        let sizes =
            [n_attributes * n_levels, n_classes, n_classes * n_attributes, n_classes * n_levels];
        let family = |idx: usize| vec![Effect { value: 0.0, variance: FIRST[idx] }; sizes[idx]];
        Self {
            ladder,
            features,
            effects: std::array::from_fn(family),
            variances: FIRST,
            slopes: [0.0; 2],
            n_rounds: 0,
        }
    }

    /// Positions of a stimulus' effects in their families.
    pub(super) fn effects_of(&self, place: Place) -> [usize; N_FAMILIES] {
        let (n_attributes, n_levels) = (self.ladder.attributes().len(), self.ladder.levels().len());
        let Place { attribute_idx, class_idx, level_idx } = place;
        [
            attribute_idx * n_levels + level_idx,
            class_idx,
            class_idx * n_attributes + attribute_idx,
            class_idx * n_levels + level_idx,
        ]
    }

    /// Returns sizes of the families, for whoever sums over effects.
    pub(super) fn sizes(&self) -> [usize; N_FAMILIES] {
        std::array::from_fn(|idx| self.effects[idx].len())
    }

    /// Returns how doubtful an effect is.
    pub(super) fn variance_of(&self, family: usize, idx: usize) -> f64 {
        self.effects[family][idx].variance
    }

    /// Goes on fitting, for so many rounds, with all answers so far.
    pub(super) fn fit(&mut self, answers: &[(usize, bool)], n_rounds: usize) {
        let places: Vec<[usize; N_FAMILIES]> = answers
            .iter()
            .map(|(stimulus, _)| self.effects_of(self.ladder.places()[*stimulus]))
            .collect();
        let mut etas: Vec<f64> = answers.iter().map(|(stimulus, _)| self.eta(*stimulus)).collect();
        for _ in 0..n_rounds {
            for family in 0..N_FAMILIES {
                self.step_family(family, answers, &places, &mut etas);
            }
            if let Some(features) = self.features {
                for slope in 0..self.slopes.len() {
                    self.step_slope(slope, features, answers, &mut etas);
                }
            }
            self.n_rounds += 1;
            if N_FIXED < self.n_rounds {
                self.learn_variances();
            }
        }
    }

    fn step_family(
        &mut self,
        family: usize,
        answers: &[(usize, bool)],
        places: &[[usize; N_FAMILIES]],
        etas: &mut [f64],
    ) {
        let effects = &mut self.effects[family];
        let mut sums = vec![(0.0, 0.0); effects.len()];
        for (((_, is_right), place), eta) in answers.iter().zip(places).zip(etas.iter()) {
            let p = logistic(*eta);
            let (gradient, curvature) = &mut sums[place[family]];
            *gradient += f64::from(u8::from(*is_right)) - p;
            *curvature += (p * (1.0 - p)).max(LEAST_WEIGHT);
        }
        let precision = 1.0 / self.variances[family];
        let mut steps = vec![0.0; effects.len()];
        for ((effect, step), (gradient, curvature)) in effects.iter_mut().zip(&mut steps).zip(sums)
        {
            let curvature = curvature + precision;
            *step = ((gradient - effect.value * precision) / curvature)
                .clamp(-LONGEST_STEP, LONGEST_STEP);
            effect.value += *step;
            effect.variance = 1.0 / curvature;
        }
        for (eta, place) in etas.iter_mut().zip(places) {
            *eta += steps[place[family]];
        }
    }

    fn step_slope(
        &mut self,
        slope: usize,
        features: &[[f64; 2]],
        answers: &[(usize, bool)],
        etas: &mut [f64],
    ) {
        let (mut gradient, mut curvature) = (0.0, 1.0 / SLOPE_VARIANCE);
        gradient -= self.slopes[slope] / SLOPE_VARIANCE;
        for ((stimulus, is_right), eta) in answers.iter().zip(etas.iter()) {
            let x = features[*stimulus][slope];
            let p = logistic(*eta);
            gradient += (f64::from(u8::from(*is_right)) - p) * x;
            curvature += (p * (1.0 - p)).max(LEAST_WEIGHT) * x * x;
        }
        let step = (gradient / curvature).clamp(-LONGEST_STEP, LONGEST_STEP);
        self.slopes[slope] += step;
        for ((stimulus, _), eta) in answers.iter().zip(etas.iter_mut()) {
            *eta += step * features[*stimulus][slope];
        }
    }

    fn learn_variances(&mut self) {
        for family in 1..N_FAMILIES {
            let effects = &self.effects[family];
            let sum: f64 = effects.iter().map(|e| e.value * e.value + e.variance).sum();
            self.variances[family] = (sum / real(effects.len())).max(SMALLEST);
        }
    }

    fn eta(&self, stimulus: usize) -> f64 {
        let effects = self.effects_of(self.ladder.places()[stimulus]);
        let sum: f64 = effects.iter().zip(&self.effects).map(|(idx, all)| all[*idx].value).sum();
        self.features.map_or(sum, |features| {
            let x = features[stimulus];
            sum + self.slopes[0] * x[0] + self.slopes[1] * x[1]
        })
    }

    /// Returns the probability of a right answer to each stimulus, averaged over the doubt.
    pub(super) fn forecasts(&self) -> Vec<f64> {
        let forecast = |stimulus: usize| {
            let effects = self.effects_of(self.ladder.places()[stimulus]);
            let doubt: f64 =
                (1..N_FAMILIES).map(|family| self.effects[family][effects[family]].variance).sum();
            let shrink = (1.0 + std::f64::consts::PI * doubt / 8.0).sqrt();
            logistic(self.eta(stimulus) / shrink)
        };
        (0..self.ladder.n_stimuli()).map(forecast).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::population::Tags;
    use super::*;
    use crate::draw::Draw;
    use mohs_data::Seed;

    fn ladder(n_classes: usize, n_each: usize) -> Ladder {
        let mut tags = Vec::new();
        for class in 0..n_classes {
            for level in ["easy", "hard"] {
                let tag = Tags {
                    class: format!("{class:03}"),
                    attribute: Some("size".into()),
                    level: Some(level.into()),
                };
                tags.extend(vec![tag; n_each]);
            }
        }
        Ladder::new(&tags, &[]).unwrap()
    }

    #[test]
    fn without_answers_everything_is_a_coin() {
        let ladder = ladder(2, 2);
        assert!(Logit::new(&ladder, None).forecasts().iter().all(|p| (p - 0.5).abs() < 1e-12));
    }

    /// Recovery: forecasts of stimuli that were not asked are near their true probabilities.
    #[test]
    fn forecasts_come_near_the_truth() {
        let ladder = ladder(60, 20);
        let mut draw = Draw::new(Seed(1), &[]);
        let abilities: Vec<f64> = (0..60).map(|_| draw.normal()).collect();
        let truth: Vec<f64> = ladder
            .places()
            .iter()
            .map(|place| logistic(abilities[place.class_idx] - 2.0 * real(place.level_idx) + 1.0))
            .collect();
        let answers: Vec<(usize, bool)> =
            (0..truth.len()).step_by(2).map(|idx| (idx, draw.chance(truth[idx]))).collect();
        let mut logit = Logit::new(&ladder, None);
        logit.fit(&answers, 40);
        let forecasts = logit.forecasts();
        let mse: f64 = forecasts.iter().zip(&truth).map(|(a, b)| (a - b).powi(2)).sum::<f64>()
            / real(truth.len());
        // Plain means of ten answers each would have 0.016.
        assert!(mse < 0.012, "{mse}");
        // Effects settle at once, their variances slowly.
        logit.fit(&answers, 360);
        let again = logit.forecasts();
        logit.fit(&answers, 40);
        let moved =
            logit.forecasts().iter().zip(&again).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(moved < 1e-3, "{moved}");
    }

    #[test]
    fn references_that_know_are_followed() {
        let ladder = ladder(10, 20);
        let features: Vec<[f64; 2]> = (0..ladder.n_stimuli())
            .map(|idx| [if idx % 2 == 0 { 2.0 } else { -2.0 }, 0.0])
            .collect();
        let answers: Vec<(usize, bool)> = (0..200).map(|idx| (idx, idx % 2 == 0)).collect();
        let mut logit = Logit::new(&ladder, Some(&features));
        logit.fit(&answers, 20);
        let forecasts = logit.forecasts();
        assert!(0.9 < forecasts[300] && forecasts[301] < 0.1, "{:?}", &forecasts[300..302]);
    }
}
