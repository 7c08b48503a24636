//! Forecasts: how probable is a right answer, from the answers so far and from reference models?
//!
//! # Model
//!
//! ```text
//! P(right) = 1 / (1 + e^-η),   η = a_(attribute, level) + c_class + b_(class, attribute)
//!                                  + d_(class, level) + β₁ x + β₂ x̄ + Σ_j γ_j z_j
//! ```
//!
//! | symbol            | meaning                                                                  |
//! |-------------------|--------------------------------------------------------------------------|
//! | `a`               | what an attribute at a level does: nearly free, alike at the same level    |
//! | `c`, `b`, `d`, `γ`| normal with mean 0; their variances are learned (empirical Bayes)        |
//! | `x`               | log-odds that reference models are right about the stimulus              |
//! | `x̄`               | its mean over stimuli of the same class, attribute and level             |
//! | `z_j`             | reference `j`: 1 or 0 for right or wrong, less the share that was right  |
//!
//! `γ` says which references the model under test resembles: where all are alike its variance goes to
//! nothing, and only their share counts.
//!
//! # Method
//!
//! Newton's method over all effects at once (`logit/curvature.rs` inverts). After each step the
//! variance of a family is `(Σ effect² + ν s²) / (g + ν)`, `g` how many of its effects the answers
//! determine (MacKay); `s²` and `ν` are a guess worth a few effects, which keeps it from 0. A fit goes
//! on from where the last one ended, so a few rounds suffice when data only grew. Forecasts are means
//! over the doubt about `η`: `1 / (1 + e^-(η / √(1 + π v / 8)))`, with `v` the posterior variance of the
//! mean `η` of the stimulus' class, attribute and level, about all effects together.
//!
//! The posterior variance of a sum over stimuli counts the doubt about all effects together, those
//! that are shrunk towards included, and about the learned variances to first order:
//!
//! ```text
//! V = gᵀ H⁻¹ g + Σ_families (gᵀ H⁻¹ P θ)² · 2 / (g_family + ν)
//! ```
//!
//! `H` is the curvature, `P θ` the pull of the family's prior and `2 / (g + ν)` the variance of the
//! logarithm of its learned variance.
//!
//! # References
//!
//! - N. E. Breslow, D. G. Clayton (1993), "Approximate inference in generalized linear mixed
//!   models".
//! - D. J. C. MacKay (1992), "The evidence framework applied to classification networks".
//! - R. E. Kass, D. Steffey (1989), "Approximate Bayesian inference in conditionally independent
//!   hierarchical models".

mod curvature;
mod shared;

use std::collections::BTreeMap;

use nalgebra::DVector;

use super::population::{Ladder, Place};
use super::reference_models::Features;
use curvature::{Curvature, Effects, Gradient, Inverse};
use shared::SharedPrior;

/// Families whose variances are learned: class, class × attribute, class × level, references.
const N_LEARNED: usize = 4;
/// Where learned variances start; also the guess they are held to.
const FIRST: [f64; N_LEARNED] = [0.4, 0.2, 0.1, 0.1];
/// How many effects the guess is worth.
const GUESS_WORTH: f64 = 2.0;
/// Learned variances stay between these, and change by no more than a factor at a time.
const SMALLEST: f64 = 1e-3;
const LARGEST: f64 = 16.0;
const MOST_CHANGE: f64 = 3.0;
/// The variance of the slopes of what references say together.
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
    features: Option<&'a Features>,
    /// What is thought of attribute × level at first.
    shared: SharedPrior,
    effects: Effects,
    variances: [f64; N_LEARNED],
    /// How many effects of each family the answers determine.
    determined: [f64; N_LEARNED],
    posterior: Option<Inverse>,
    n_rounds: usize,
}

/// How doubtful sums over forecasts are.
#[derive(Debug)]
pub(super) struct Doubt<'f> {
    fit: &'f Logit<'f>,
    /// How effects move with the logarithm of each learned variance, and the variance of that.
    moves: Vec<(Effects, f64)>,
}

fn logistic(eta: f64) -> f64 {
    1.0 / (1.0 + (-eta).exp())
}

impl<'a> Logit<'a> {
    /// Starts without answers; features come from [`super::ReferenceModels`].
    pub(super) fn new(ladder: &'a Ladder, features: Option<&'a Features>) -> Self {
        let n_slopes = features.map_or(0, Features::width);
        let n_shared = ladder.attributes().len() * ladder.levels().len() + n_slopes;
        let n_own = 1 + several(ladder.attributes().len()) + several(ladder.levels().len());
        Self {
            ladder,
            features,
            shared: SharedPrior::new(ladder.attributes().len(), ladder.levels().len()),
            effects: Effects::zero(n_shared, ladder.classes().len(), n_own),
            variances: FIRST,
            determined: [0.0; N_LEARNED],
            posterior: None,
            n_rounds: 0,
        }
    }

    /// Position of what an attribute does at a level, among shared effects.
    fn shared_of(&self, place: Place) -> usize {
        place.attribute_idx * self.ladder.levels().len() + place.level_idx
    }

    /// Position of the first slope among shared effects.
    fn first_slope(&self) -> usize {
        self.ladder.attributes().len() * self.ladder.levels().len()
    }

    /// Positions of a stimulus' effects among those of its class: the class, its attribute, its
    /// level. Of a single attribute or level there is no effect but the class's.
    fn own_of(&self, place: Place) -> ([usize; 3], usize) {
        let n_attributes = several(self.ladder.attributes().len());
        let mut own = ([0; 3], 1);
        let others = [
            (n_attributes, 1 + place.attribute_idx),
            (several(self.ladder.levels().len()), 1 + n_attributes + place.level_idx),
        ];
        for (_, idx) in others.into_iter().filter(|(n, _)| 0 < *n) {
            own.0[own.1] = idx;
            own.1 += 1;
        }
        own
    }

    /// The family of each of a class's own effects.
    fn family_of(&self, own_idx: usize) -> usize {
        match own_idx {
            0 => 0,
            idx if idx <= several(self.ladder.attributes().len()) => 1,
            _ => 2,
        }
    }

    /// Positions of slopes among shared effects, each with the variance it had before anything was
    /// answered, and its family if that is learned.
    fn slopes(&self) -> impl Iterator<Item = (usize, f64, Option<usize>)> + '_ {
        let first = self.first_slope();
        (first..self.effects.shared.len()).map(move |idx| {
            if idx - first < Features::N_TOGETHER {
                (idx, SLOPE_VARIANCE, None)
            } else {
                (idx, self.variances[3], Some(3))
            }
        })
    }

    fn slopes_of(&self, stimulus: usize) -> &'a [f64] {
        self.features.map_or(&[], |features| features.of(stimulus))
    }

    /// Goes on fitting, for so many rounds, with all answers so far.
    pub(super) fn fit(&mut self, answers: &[(usize, bool)], n_rounds: usize) {
        for _ in 0..n_rounds {
            let (curvature, gradient) = self.curvature(answers);
            // Priors make it positive definite; numbers beyond all measure leave the fit as it is.
            let Some(inverse) = curvature.inverse() else { return };
            let step = inverse.times(&gradient);
            let length = step.largest();
            if !length.is_finite() {
                return;
            }
            self.effects.add(&step, (LONGEST_STEP / length.max(LONGEST_STEP)).min(1.0));
            self.posterior = Some(inverse);
            self.n_rounds += 1;
            self.learn_variances(N_FIXED < self.n_rounds);
        }
    }

    /// The curvature of the posterior where the effects stand, and its slope.
    fn curvature(&self, answers: &[(usize, bool)]) -> (Curvature, Effects) {
        let (n_shared, n_classes) = (self.effects.shared.len(), self.effects.own.len());
        let n_own = self.effects.own.first().map_or(0, |own| own.len());
        let mut curvature = Curvature::zero(n_shared, n_classes, n_own);
        let mut gradient = Effects::zero(n_shared, n_classes, n_own);
        let first = self.first_slope();
        for (stimulus, is_right) in answers {
            let place = self.ladder.places()[*stimulus];
            let p = logistic(self.eta(*stimulus));
            let weight = (p * (1.0 - p)).max(LEAST_WEIGHT);
            let rest = f64::from(u8::from(*is_right)) - p;
            let (shared, (own, n_of_own)) = (self.shared_of(place), self.own_of(place));
            let own = &own[..n_of_own];
            let slopes = self.slopes_of(*stimulus);
            let block = &mut curvature.classes[place.class_idx];
            for a in own {
                gradient.own[place.class_idx][*a] += rest;
                for b in own {
                    block.own[(*a, *b)] += weight;
                }
                block.with_shared[(shared, *a)] += weight;
                let mut column = block.with_shared.column_mut(*a);
                for (entry, x) in column.as_mut_slice()[first..].iter_mut().zip(slopes) {
                    *entry += weight * x;
                }
            }
            gradient.shared[shared] += rest;
            curvature.shared[(shared, shared)] += weight;
            for (nth, x) in slopes.iter().enumerate() {
                gradient.shared[first + nth] += rest * x;
                let mut column = curvature.shared.column_mut(first + nth);
                column[shared] += weight * x;
                // The upper half; the lower one is filled in below.
                for (entry, other) in column.as_mut_slice()[first..].iter_mut().zip(&slopes[..=nth])
                {
                    *entry += weight * x * other;
                }
            }
        }
        curvature.shared.fill_lower_triangle_with_upper_triangle();
        self.shared.add_to(&mut curvature.shared, &mut gradient.shared, &self.effects.shared);
        for (idx, variance, _) in self.slopes() {
            curvature.shared[(idx, idx)] += 1.0 / variance;
            gradient.shared[idx] -= self.effects.shared[idx] / variance;
        }
        for (class, block) in curvature.classes.iter_mut().enumerate() {
            for idx in 0..n_own {
                let precision = 1.0 / self.variances[self.family_of(idx)];
                block.own[(idx, idx)] += precision;
                gradient.own[class][idx] -= precision * self.effects.own[class][idx];
            }
        }
        (curvature, gradient)
    }

    /// Counts what the answers determine, and adapts the variances if `is_learning`.
    fn learn_variances(&mut self, is_learning: bool) {
        let Some(posterior) = &self.posterior else { return };
        let mut squares = [0.0; N_LEARNED];
        let mut determined = [0.0; N_LEARNED];
        let mut add = |family: usize, effect: f64, variance: f64| {
            squares[family] += effect * effect;
            determined[family] += (1.0 - variance / self.variances[family]).max(0.0);
        };
        for (class, own) in self.effects.own.iter().enumerate() {
            for (idx, variance) in posterior.variances_of(class).enumerate() {
                add(self.family_of(idx), own[idx], variance);
            }
        }
        for (idx, _, family) in self.slopes() {
            if let Some(family) = family {
                add(family, self.effects.shared[idx], posterior.variance_of_shared(idx));
            }
        }
        self.determined = determined;
        if !is_learning {
            return;
        }
        for (family, variance) in self.variances.iter_mut().enumerate() {
            let learned = (squares[family] + GUESS_WORTH * FIRST[family])
                / (determined[family] + GUESS_WORTH);
            *variance = learned
                .clamp(*variance / MOST_CHANGE, *variance * MOST_CHANGE)
                .clamp(SMALLEST, LARGEST);
        }
    }

    fn eta(&self, stimulus: usize) -> f64 {
        let place = self.ladder.places()[stimulus];
        let effects = &self.effects.own[place.class_idx];
        let (own, n_own) = self.own_of(place);
        let mut sum = self.effects.shared[self.shared_of(place)];
        for idx in &own[..n_own] {
            sum += effects[*idx];
        }
        let slopes = &self.effects.shared.as_slice()[self.first_slope()..];
        sum + self.slopes_of(stimulus).iter().zip(slopes).map(|(x, slope)| x * slope).sum::<f64>()
    }

    /// Returns the probability of a right answer to each stimulus, averaged over the doubt.
    pub(super) fn forecasts(&self) -> Vec<f64> {
        let doubts = self.posterior.as_ref().map(|posterior| self.doubts(posterior));
        let forecast = |stimulus: usize| {
            let place = self.ladder.places()[stimulus];
            let doubt = match &doubts {
                Some(doubts) => doubts[&place],
                None => {
                    let (own, n_own) = self.own_of(place);
                    own[..n_own].iter().map(|idx| self.variances[self.family_of(*idx)]).sum()
                }
            };
            let shrink = (1.0 + std::f64::consts::PI * doubt / 8.0).sqrt();
            logistic(self.eta(stimulus) / shrink)
        };
        (0..self.ladder.n_stimuli()).map(forecast).collect()
    }

    /// Returns the variance of the mean `η` of each class, attribute and level. Effects are doubtful
    /// together: what a level does and how able a class is may be known only as a sum.
    fn doubts(&self, posterior: &Inverse) -> BTreeMap<Place, f64> {
        let mut slopes: BTreeMap<Place, (Vec<f64>, f64)> = BTreeMap::new();
        for (stimulus, place) in self.ladder.places().iter().enumerate() {
            let of = self.slopes_of(stimulus);
            let (sums, n) = slopes.entry(*place).or_insert_with(|| (vec![0.0; of.len()], 0.0));
            for (sum, x) in sums.iter_mut().zip(of) {
                *sum += x;
            }
            *n += 1.0;
        }
        let first = self.first_slope();
        let variance = |place: Place, sums: &[f64], n: f64| {
            let mut shared = DVector::zeros(self.effects.shared.len());
            shared[self.shared_of(place)] = 1.0;
            for (nth, sum) in sums.iter().enumerate() {
                shared[first + nth] = sum / n;
            }
            let (own, n_own) = self.own_of(place);
            posterior.variance_of(place.class_idx, &own[..n_own], shared)
        };
        slopes.into_iter().map(|(place, (sums, n))| (place, variance(place, &sums, n))).collect()
    }

    /// Returns what is needed to say how doubtful sums are.
    pub(super) fn doubt(&self) -> Doubt<'_> {
        let mut moves = Vec::new();
        for (family, variance) in self.variances.iter().enumerate() {
            let Some(posterior) = &self.posterior else { break };
            let mut pull = self.effects.clone();
            pull.shared.fill(0.0);
            for (idx, _, _) in self.slopes().filter(|(_, _, of)| *of == Some(family)) {
                pull.shared[idx] = self.effects.shared[idx] / variance;
            }
            for own in &mut pull.own {
                for (idx, effect) in own.iter_mut().enumerate() {
                    let is_of = self.family_of(idx) == family;
                    *effect *= if is_of { 1.0 / variance } else { 0.0 };
                }
            }
            let of_logarithm = 2.0 / (self.determined[family] + GUESS_WORTH);
            moves.push((posterior.times(&pull), of_logarithm));
        }
        Doubt { fit: self, moves }
    }
}

/// How many effects a family of so many attributes or levels has: none if there is one alone.
fn several(n: usize) -> usize {
    if n == 1 { 0 } else { n }
}

impl Doubt<'_> {
    /// Returns the variance of a sum of forecasts, each with what it moves per unit of `η`.
    pub(super) fn variance(&self, parts: impl Iterator<Item = (usize, f64)>) -> f64 {
        let fit = self.fit;
        let n_own = fit.effects.own.first().map_or(0, |own| own.len());
        let shared = DVector::zeros(fit.effects.shared.len());
        let mut gradient = Gradient { shared, own: BTreeMap::new() };
        let first = fit.first_slope();
        for (stimulus, slope) in parts {
            let place = fit.ladder.places()[stimulus];
            gradient.shared[fit.shared_of(place)] += slope;
            let (own, n_of_own) = fit.own_of(place);
            let of_class =
                gradient.own.entry(place.class_idx).or_insert_with(|| DVector::zeros(n_own));
            for idx in &own[..n_of_own] {
                of_class[*idx] += slope;
            }
            for (nth, x) in fit.slopes_of(stimulus).iter().enumerate() {
                gradient.shared[first + nth] += slope * x;
            }
        }
        let of_effects =
            fit.posterior.as_ref().map_or(0.0, |posterior| posterior.quadratic(&gradient));
        let of_variances: f64 =
            self.moves.iter().map(|(moves, variance)| gradient.dot(moves).powi(2) * variance).sum();
        of_effects + of_variances
    }
}

#[cfg(test)]
mod tests {
    use super::super::population::Tags;
    use super::*;
    use crate::draw::Draw;
    use crate::proportion::real;
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
        let rows =
            (0..ladder.n_stimuli()).flat_map(|idx| [if idx % 2 == 0 { 2.0 } else { -2.0 }, 0.0]);
        let features = Features::new(2, rows.collect());
        let answers: Vec<(usize, bool)> = (0..200).map(|idx| (idx, idx % 2 == 0)).collect();
        let mut logit = Logit::new(&ladder, Some(&features));
        logit.fit(&answers, 20);
        let forecasts = logit.forecasts();
        assert!(0.9 < forecasts[300] && forecasts[301] < 0.1, "{:?}", &forecasts[300..302]);
    }

    /// Three references, of which the model under test is like one: it is found out.
    #[test]
    fn the_reference_that_the_model_resembles_is_followed() {
        let ladder = ladder(10, 20);
        let mut draw = Draw::new(Seed(5), &[]);
        let mut coins = || (0..ladder.n_stimuli()).map(|_| draw.chance(0.5)).collect::<Vec<bool>>();
        let truth = coins();
        let models = [truth.clone(), coins(), coins()].map(|right| {
            ("m".to_owned(), right.into_iter().map(Some).collect::<Vec<Option<bool>>>())
        });
        let references = super::super::ReferenceModels::new(models.into()).unwrap();
        let hints = references.hints(&ladder);
        let answers: Vec<(usize, bool)> =
            (0..truth.len()).step_by(2).map(|idx| (idx, truth[idx])).collect();
        let mut logit = Logit::new(&ladder, Some(&hints.features));
        logit.fit(&answers, 20);
        let forecasts = logit.forecasts();
        let unasked = || (1..truth.len()).step_by(2);
        let n_right = unasked().filter(|idx| truth[*idx] == (0.5 < forecasts[*idx])).count();
        // The share of the three alone would be right about three quarters.
        assert!(190 <= n_right, "{n_right} of {}", unasked().count());
    }

    /// Recovery: posterior intervals of sums hold the truth about as often as they promise.
    #[test]
    fn the_doubt_about_a_class_is_as_large_as_its_errors() {
        let ladder = ladder(40, 30);
        let (mut n_held, mut n) = (0, 0);
        for seed in 0..20 {
            let mut draw = Draw::new(Seed(100 + seed), &[]);
            let abilities: Vec<f64> = (0..40).map(|_| 0.8 * draw.normal()).collect();
            let p =
                |place: &Place| logistic(abilities[place.class_idx] - real(place.level_idx) + 0.5);
            let truth: Vec<bool> =
                ladder.places().iter().map(|place| draw.chance(p(place))).collect();
            let answers: Vec<(usize, bool)> =
                (0..truth.len()).step_by(5).map(|idx| (idx, truth[idx])).collect();
            let mut logit = Logit::new(&ladder, None);
            logit.fit(&answers, 16);
            let forecasts = logit.forecasts();
            let doubt = logit.doubt();
            for class in 0..40 {
                let unasked = || {
                    (0..truth.len())
                        .filter(|idx| idx % 5 != 0 && ladder.places()[*idx].class_idx == class)
                };
                let spread = |idx: usize| forecasts[idx] * (1.0 - forecasts[idx]);
                let error: f64 =
                    unasked().map(|idx| f64::from(u8::from(truth[idx])) - forecasts[idx]).sum();
                let variance = unasked().map(spread).sum::<f64>()
                    + doubt.variance(unasked().map(|idx| (idx, spread(idx))));
                n_held += usize::from(error.abs() <= 1.96 * variance.sqrt());
                n += 1;
            }
        }
        // 800 draws of 0.95, in groups of 40 that share their fit.
        let share = real(n_held) / real(n);
        assert!((0.93..=0.97).contains(&share), "{share}");
    }
}
