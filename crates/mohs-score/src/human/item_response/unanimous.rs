//! Stimuli that all answered rightly, or all wrongly.
//!
//! # Formula
//!
//! ```text
//! a_u = median a of the others            d_u ~ N(median d of the others, 3²)
//! ```
//!
//! Their likelihood is highest at an infinite intercept, and there they say nothing about anybody.
//! So the others are fitted without them, which is their maximum likelihood, and the scale stays
//! where `θ ~ N(0, 1)` puts it. Afterwards each gets the intercept that is likeliest under a weak
//! prior of its own, over the abilities then known. A discrimination cannot be seen in answers that
//! are all alike: it is the typical one, taken to be uncertain by 30 % in the 2PL model.
//!
//! # References
//!
//! - R. J. Mislevy (1986), "Bayes modal estimation in item response models".

use super::Model;
use super::fit::{self, Fit, Information, POOLED_SPREAD};
use super::information::{self, Covariance};
use super::likelihood::{self, Items};
use super::responses::Responses;
use crate::proportion::real;

/// Standard deviation of the prior of an intercept: a factor of 20 in the odds.
pub(super) const PRIOR_SD: f64 = 3.0;
/// Discrimination when no stimulus tells what is typical.
const DEFAULT_DISCRIMINATION: f64 = 1.0;
/// Steps towards an intercept; halving alone would need about 60.
const MAX_STEPS: usize = 100;

/// The fit of all stimuli: those that divide participants, then the unanimous ones.
#[derive(Debug, Clone)]
pub(super) struct Whole {
    /// Answers to the stimuli that divide participants.
    pub(super) decisive: Responses,
    /// Their places among all stimuli.
    places: Vec<usize>,
    /// Their fit.
    pub(super) fit: Fit,
    /// Parameters of all stimuli.
    pub(super) items: Items,
    /// The unanimous stimuli: place, precision of the intercept, and how it moves with `a`.
    unanimous: Vec<(usize, f64, f64)>,
    model: Model,
}

impl Whole {
    pub(super) fn fit(responses: &Responses, model: Model) -> Self {
        let (unanimous, places): (Vec<usize>, Vec<usize>) = (0..responses.n_stimuli())
            .partition(|stimulus_idx| responses.is_unanimous(*stimulus_idx));
        let decisive = responses.of_stimuli(&places);
        let fit = fit::fit(&decisive, model);
        let a = median(&fit.items.discrimination).unwrap_or(DEFAULT_DISCRIMINATION);
        let centre = median(&fit.items.intercept).unwrap_or(0.0);
        let n = responses.n_stimuli();
        let mut items = Items { discrimination: vec![a; n], intercept: vec![centre; n] };
        for (at, place) in places.iter().enumerate() {
            items.discrimination[*place] = fit.items.discrimination[at];
            items.intercept[*place] = fit.items.intercept[at];
        }
        let unanimous = unanimous
            .into_iter()
            .map(|place| {
                let (d, precision, by_a) = likeliest(responses, &fit, place, a, centre);
                items.intercept[place] = d;
                (place, precision, by_a)
            })
            .collect();
        Self { decisive, places, fit, items, unanimous, model }
    }

    /// Returns the places of unanimous stimuli.
    pub(super) fn unanimous(&self) -> impl Iterator<Item = usize> {
        self.unanimous.iter().map(|(place, ..)| *place)
    }

    /// Returns the covariances of each stimulus' parameters, and whether they are exact.
    pub(super) fn covariances(&self) -> (Vec<Covariance>, bool) {
        let Fit { prior, items, blocks, .. } = &self.fit;
        let information = Information::new(self.model, *prior, items, blocks);
        let (found, are_joint) = if self.places.is_empty() {
            (vec![], true)
        } else {
            information::covariances(&self.decisive, &self.fit, &information)
        };
        let is_exact = are_joint && found.iter().all(Option::is_some);
        let found: Vec<Covariance> = found
            .into_iter()
            .enumerate()
            .map(|(at, found)| {
                // Complete data's: too narrow, and the caveat says so.
                let (aa, ad, dd) = information.inverse_own(at);
                found.unwrap_or(Covariance { aa, ad, dd })
            })
            .collect();
        let common = found.first().filter(|_| self.model == Model::OnePl).map(|first| first.aa);
        let mut all = vec![Covariance { aa: 0.0, ad: 0.0, dd: 0.0 }; self.items.intercept.len()];
        for (place, covariance) in self.places.iter().zip(found) {
            all[*place] = covariance;
        }
        for (place, precision, by_a) in &self.unanimous {
            let a = self.items.discrimination[*place];
            let aa = common.unwrap_or((POOLED_SPREAD * a).powi(2));
            let (ad, dd) = (aa * by_a, 1.0 / precision + aa * by_a * by_a);
            all[*place] = Covariance { aa, ad, dd };
        }
        (all, is_exact)
    }
}

fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let last = sorted.len().checked_sub(1)?;
    Some(f64::midpoint(sorted[last / 2], sorted[last.div_ceil(2)]))
}

/// Returns the likeliest intercept, its precision, and how much it moves with the discrimination.
fn likeliest(
    responses: &Responses,
    fit: &Fit,
    stimulus_idx: usize,
    a: f64,
    centre: f64,
) -> (f64, f64, f64) {
    let answered = responses.by_stimulus.answered(stimulus_idx);
    let mass = likelihood::mass_of(responses, &fit.lattice, &fit.evaluated, answered);
    let n_right = real(responses.n_right_to(stimulus_idx));
    let prior = PRIOR_SD.powi(-2);
    let at = |d: f64| {
        let (mut slope, mut precision, mut cross) = (n_right - prior * (d - centre), prior, 0.0);
        for (mass, node) in mass.iter().zip(&fit.lattice.nodes) {
            let p = 1.0 / (1.0 + (-(a * node + d)).exp());
            slope -= mass * p;
            precision += mass * p * (1.0 - p);
            cross += mass * p * (1.0 - p) * node;
        }
        (slope, precision, cross)
    };
    // The slope falls with d, and the prior alone turns it within this reach.
    let reach = real(responses.n_answers_to(stimulus_idx)) / prior;
    let (mut low, mut high, mut d) = (centre - reach, centre + reach, centre);
    for _ in 0..MAX_STEPS {
        let (slope, precision, _) = at(d);
        if 0.0 < slope {
            low = d
        } else {
            high = d
        }
        let newton = d + slope / precision;
        let next = if low < newton && newton < high { newton } else { f64::midpoint(low, high) };
        let moved = (next - d).abs();
        d = next;
        if moved < 1e-10 {
            break;
        }
    }
    let (_, precision, cross) = at(d);
    (d, precision, -cross / precision)
}
