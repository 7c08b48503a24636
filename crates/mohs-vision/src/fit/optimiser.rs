//! Optimisers: how gradients change weights. SGD, Adam and AdamW as PyTorch defines them.
//!
//! # SGD
//!
//! ```text
//! g  <-  gradient + decay · w
//! b  <-  momentum · b + g              (b = g in the first step)
//! w  <-  w − rate · b                  or, looking ahead (Nesterov), w − rate · (g + momentum · b)
//! ```
//!
//! # Adam
//!
//! ```text
//! g  <-  gradient + decay · w          (AdamW: w <- w − rate · decay · w instead)
//! m  <-  β₁ m + (1 − β₁) g
//! v  <-  β₂ v + (1 − β₂) g²
//! w  <-  w − rate / (1 − β₁ᵗ) · m / (√v / √(1 − β₂ᵗ) + ε)
//! ```
//!
//! All in 32 bits, number by number, so that threads change nothing.

use mohs_data::training::{Adaptive, Optimiser};

/// What an optimiser remembers between steps.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Memory {
    /// How many steps were made.
    pub n_steps: u64,
    /// Momentum, or means of gradients; one list per weight, none before the first step.
    pub first: Vec<Vec<f32>>,
    /// Means of squared gradients; only Adam has them.
    pub second: Vec<Vec<f32>>,
}

/// A weight that is changed, with its gradient.
#[derive(Debug)]
pub struct Changed<'a> {
    /// The weight's numbers.
    pub weight: &'a mut [f32],
    /// The gradient's numbers, as many.
    pub gradient: &'a [f32],
    /// Whether the weight has one dimension at most.
    pub is_vector: bool,
}

/// Makes one step: changes all weights by their gradients.
pub fn step(how: &Optimiser, rate: f64, changed: &mut [Changed<'_>], memory: &mut Memory) {
    memory.n_steps += 1;
    let is_first = memory.first.len() != changed.len();
    if is_first {
        let zeros = || changed.iter().map(|one| vec![0.0; one.weight.len()]).collect();
        memory.first = zeros();
        memory.second = if matches!(how, Optimiser::Sgd { .. }) { Vec::new() } else { zeros() };
    }
    match how {
        Optimiser::Sgd { momentum, nesterov, weight_decay, decay_vectors, .. } => {
            let (momentum, rate) = (narrow(*momentum), narrow(rate));
            for (one, buffer) in changed.iter_mut().zip(&mut memory.first) {
                let decay = decay_of(*weight_decay, *decay_vectors, one);
                for ((w, g), b) in one.weight.iter_mut().zip(one.gradient).zip(buffer) {
                    let g = g + decay * *w;
                    *b = if is_first { g } else { momentum * *b + g };
                    let along = if *nesterov { g + momentum * *b } else { *b };
                    *w -= rate * along;
                }
            }
        }
        Optimiser::Adam(adam) => adaptive(adam, rate, false, changed, memory),
        Optimiser::Adamw(adam) => adaptive(adam, rate, true, changed, memory),
    }
}

fn adaptive(
    how: &Adaptive,
    rate: f64,
    is_apart: bool,
    changed: &mut [Changed<'_>],
    memory: &mut Memory,
) {
    let n_steps = i32::try_from(memory.n_steps).unwrap_or(i32::MAX);
    let rate_now = narrow(rate / (1.0 - how.beta1.powi(n_steps)));
    let root_now = narrow((1.0 - how.beta2.powi(n_steps)).sqrt());
    let (one_less_beta1, beta2) = (narrow(1.0 - how.beta1), narrow(how.beta2));
    let (one_less_beta2, epsilon) = (narrow(1.0 - how.beta2), narrow(how.epsilon));
    let moments = memory.first.iter_mut().zip(&mut memory.second);
    for (one, (means, squares)) in changed.iter_mut().zip(moments) {
        let decay = decay_of(how.weight_decay, how.decay_vectors, one);
        let kept = if is_apart { narrow(1.0 - rate * f64::from(decay)) } else { 1.0 };
        let decay = if is_apart { 0.0 } else { decay };
        let moments = means.iter_mut().zip(squares);
        for ((w, g), (m, v)) in one.weight.iter_mut().zip(one.gradient).zip(moments) {
            *w *= kept;
            let g = g + decay * *w;
            *m += (g - *m) * one_less_beta1;
            *v = beta2 * *v + one_less_beta2 * g * g;
            *w -= rate_now * (*m / (v.sqrt() / root_now + epsilon));
        }
    }
}

fn decay_of(weight_decay: f64, decays_vectors: bool, one: &Changed<'_>) -> f32 {
    if one.is_vector && !decays_vectors { 0.0 } else { narrow(weight_decay) }
}

#[expect(clippy::cast_possible_truncation, reason = "weights are trained in 32 bits")]
fn narrow(number: f64) -> f32 {
    number as f32
}

/// Shortens gradients together if they are longer than `longest`; returns how long they were.
///
/// As PyTorch's `clip_grad_norm_`: `g · longest / (length + 1e-6)`, never lengthened.
pub fn clip(gradients: &mut [&mut [f32]], longest: f64) -> f64 {
    // Added in order, so that threads do not change the sum.
    let squares = gradients.iter().flat_map(|gradient| gradient.iter());
    let length = squares.map(|&g| f64::from(g) * f64::from(g)).sum::<f64>().sqrt();
    let factor = longest / (length + 1e-6);
    if length.is_finite() && factor < 1.0 {
        let factor = narrow(factor);
        gradients.iter_mut().flat_map(|gradient| gradient.iter_mut()).for_each(|g| *g *= factor);
    }
    length
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Five steps on `½ Σ cᵢ (wᵢ − tᵢ)²` from `(1, −2, 0.5)`, by `tools/make_optimiser_numbers.py`.
    fn check(how: &Optimiser, expected: [f32; 3]) {
        const STEEPNESS: [f32; 3] = [1.0, 0.3, 4.0];
        const GOAL: [f32; 3] = [0.2, 0.1, -0.4];
        let mut weight = [1.0_f32, -2.0, 0.5];
        let mut memory = Memory::default();
        for _ in 0..5 {
            let gradient: Vec<f32> = weight
                .iter()
                .zip(STEEPNESS)
                .zip(GOAL)
                .map(|((w, steepness), goal)| steepness * (w - goal))
                .collect();
            let one = Changed { weight: &mut weight, gradient: &gradient, is_vector: false };
            step(how, how.learning_rate(), &mut [one], &mut memory);
        }
        for (found, expected) in weight.iter().zip(expected) {
            let off = (found - expected).abs();
            assert!(off <= 2e-6 * expected.abs().max(0.1), "{how:?}: {weight:?} {expected}");
        }
    }

    fn sgd(momentum: f64, nesterov: bool, weight_decay: f64) -> Optimiser {
        let learning_rate = 0.1;
        Optimiser::Sgd { learning_rate, momentum, nesterov, weight_decay, decay_vectors: true }
    }

    fn adam(weight_decay: f64) -> Adaptive {
        let (learning_rate, beta1, beta2, epsilon) = (0.05, 0.9, 0.999, 1e-8);
        Adaptive { learning_rate, beta1, beta2, epsilon, weight_decay, decay_vectors: true }
    }

    #[test]
    fn five_steps_of_each_optimiser_are_those_of_pytorch() {
        // Made by tools/make_optimiser_numbers.py with torch 2.15.
        check(&sgd(0.0, false, 0.0), [0.672392, -1.703341, -0.330016]);
        check(&sgd(0.9, false, 0.0), [0.176672, -1.229083, -1.0561]);
        check(&sgd(0.9, false, 0.01), [0.1684949, -1.206524, -1.053094]);
        check(&sgd(0.9, true, 0.01), [0.109168, -1.037105, -0.5458099]);
        check(&Optimiser::Adam(adam(0.0)), [0.7519923, -1.750599, 0.2516983]);
        check(&Optimiser::Adam(adam(0.1)), [0.7519318, -1.750608, 0.2517233]);
        check(&Optimiser::Adamw(adam(0.1)), [0.7299864, -1.703718, 0.2419053]);
    }

    #[test]
    fn vectors_are_not_drawn_to_zero_unless_asked() {
        let how = Optimiser::Sgd {
            learning_rate: 0.1,
            momentum: 0.0,
            nesterov: false,
            weight_decay: 0.5,
            decay_vectors: false,
        };
        for (is_vector, expected) in [(true, 1.0), (false, 0.95)] {
            let mut weight = [1.0];
            let one = Changed { weight: &mut weight, gradient: &[0.0], is_vector };
            step(&how, 0.1, &mut [one], &mut Memory::default());
            assert!((weight[0] - expected).abs() < 1e-6, "{weight:?}");
        }
    }

    #[test]
    fn gradients_are_shortened_together_and_never_lengthened() {
        let (mut first, mut second) = ([3.0], [4.0]);
        let length = clip(&mut [&mut first, &mut second], 1.0);
        assert!((length - 5.0).abs() < 1e-12);
        assert!((first[0] - 0.6).abs() < 1e-6 && (second[0] - 0.8).abs() < 1e-6);
        clip(&mut [&mut first, &mut second], 2.0);
        assert!((first[0] - 0.6).abs() < 1e-6 && (second[0] - 0.8).abs() < 1e-6);
    }
}
