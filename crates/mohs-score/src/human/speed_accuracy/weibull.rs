//! A Weibull curve through shares of right answers over time.
//!
//! # Model
//!
//! ```text
//! p(t) = g + (A - g) (1 - exp(-(t / λ)^k))          floor g, asymptote A, scale λ, shape k
//! ```
//!
//! The floor is given, not fitted: guessing sets it. The asymptote is fitted, or fixed at 1; what
//! it lacks to 1 is the lapse rate. The paper's curve has `g = 0` and `A = 1`.
//!
//! # Method
//!
//! Both criteria are minimised by the same steps, which weigh block `b` by `w`:
//!
//! ```text
//! maximum likelihood   Σ n (y ln p + (1 - y) ln(1 - p))     w = n / (p (1 - p))
//! least squares        Σ (y - p)²                           w = 1
//! step                 (JᵀWJ + damping) δ = JᵀW (y - p)
//! ```
//!
//! Damping as Levenberg and Marquardt's, steps cut at the bounds (a number at its bound that wants
//! to leave rests), from several starts of which the best end counts. Bounds: `λ` from a quarter of
//! the first time to four times the last, `k` from 0.2 to 30, `A` from the floor to 1.
//!
//! # References
//!
//! - D. W. Marquardt (1963), "An algorithm for least-squares estimation of nonlinear parameters".
//! - F. A. Wichmann and N. J. Hill (2001), "The psychometric function: I".

use nalgebra::{Matrix3, Vector3};
use serde::{Deserialize, Serialize};

/// Shapes that can be found.
const SHAPES: [f64; 2] = [0.2, 30.0];
/// How far beyond the times tested the scale may lie, as a factor.
const BEYOND: f64 = 4.0;
/// Steps after which a start is given up.
const MAX_STEPS: usize = 400;
/// Share that certainty is cut at, so that one slip never has likelihood zero.
const NEARLY: f64 = 1e-9;

/// What a fit minimises.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Criterion {
    /// Binomial likelihood: a block counts by its trials, and a share near 0 or 1 more than one in
    /// the middle, because it varies less.
    #[default]
    MaximumLikelihood,
    /// Squared differences, all blocks alike: the paper's.
    LeastSquares,
}

impl Criterion {
    /// The words on the command line and in files.
    pub const WORDS: [(&'static str, Self); 2] =
        [("maximum-likelihood", Self::MaximumLikelihood), ("least-squares", Self::LeastSquares)];

    /// Returns the word in files.
    pub fn as_str(self) -> &'static str {
        Self::WORDS[self as usize].0
    }
}

/// Share of right answers at one time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Observed {
    /// Time in ms; positive.
    pub time: f64,
    /// Share of right answers.
    pub share: f64,
    /// Trials behind it.
    pub n: f64,
}

/// What is fixed before fitting.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Model {
    /// Share of right answers with no time at all.
    pub floor: f64,
    /// Whether the asymptote is fitted; else it is 1.
    pub free_asymptote: bool,
    /// What is minimised.
    pub criterion: Criterion,
}

impl Model {
    /// The paper's: from 0 to 1, by least squares.
    pub const PAPER: Self =
        Self { floor: 0.0, free_asymptote: false, criterion: Criterion::LeastSquares };

    /// Returns how many numbers are fitted, and so how many times are needed.
    pub fn n_free(&self) -> usize {
        2 + usize::from(self.free_asymptote)
    }
}

/// A curve.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Weibull {
    /// Time at which 63 % of the rise is done, in ms.
    pub scale: f64,
    /// How suddenly it rises; 1 is exponential.
    pub shape: f64,
    /// Where it ends.
    pub asymptote: f64,
    /// Where it starts.
    pub floor: f64,
}

impl Weibull {
    /// Returns the share of right answers at a time in ms.
    pub fn at(&self, time: f64) -> f64 {
        self.floor + (self.asymptote - self.floor) * self.rise(time)
    }

    fn rise(&self, time: f64) -> f64 {
        -(-(time / self.scale).max(0.0).powf(self.shape)).exp_m1()
    }
}

/// A curve found, and whether to believe it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Fitted {
    /// The curve.
    pub curve: Weibull,
    /// Whether scale or shape ended at a bound: then the data do not say where it lies.
    pub is_at_bound: bool,
}

/// Fits a curve; `None` when there are fewer distinct times than numbers to fit, or when a time or
/// share is out of range. `near` is a curve expected close by, as in a redrawn sample: then it
/// is the only start.
pub fn fit(points: &[Observed], model: &Model, near: Option<&Weibull>) -> Option<Fitted> {
    let sound = |point: &Observed| {
        point.time.is_finite()
            && 0.0 < point.time
            && (0.0..=1.0).contains(&point.share)
            && point.n.is_finite()
            && 0.0 < point.n
    };
    if !points.iter().all(sound) || !(0.0..1.0).contains(&model.floor) {
        return None;
    }
    let mut times: Vec<f64> = points.iter().map(|point| point.time).collect();
    times.sort_unstable_by(f64::total_cmp);
    times.dedup();
    if times.len() < model.n_free() {
        return None;
    }
    // A redrawn sample says nothing in the sixth digit.
    let tolerance = if near.is_some() { 1e-6 } else { 1e-12 };
    let search = Search { points, model, bounds: Bounds::new(&times, model), tolerance };
    let starts = search.starts(&times, near);
    let ends = starts.into_iter().map(|start| search.descend(start));
    let (_, best) = ends.min_by(|a, b| a.0.total_cmp(&b.0))?;
    let at_bound = |idx: usize| {
        (best[idx] - search.bounds.low[idx]).min(search.bounds.high[idx] - best[idx]) < 1e-6
    };
    Some(Fitted { curve: search.curve(&best), is_at_bound: at_bound(0) || at_bound(1) })
}

/// Log scale, log shape, asymptote.
type Numbers = Vector3<f64>;

struct Bounds {
    low: Numbers,
    high: Numbers,
}

impl Bounds {
    fn new(sorted_times: &[f64], model: &Model) -> Self {
        let (first, last) = (sorted_times[0], sorted_times[sorted_times.len() - 1]);
        let lowest = if model.free_asymptote { model.floor } else { 1.0 };
        Self {
            low: Vector3::new((first / BEYOND).ln(), SHAPES[0].ln(), lowest),
            high: Vector3::new((last * BEYOND).ln(), SHAPES[1].ln(), 1.0),
        }
    }

    fn cut(&self, numbers: &Numbers) -> Numbers {
        numbers.sup(&self.low).inf(&self.high)
    }
}

struct Search<'a> {
    points: &'a [Observed],
    model: &'a Model,
    bounds: Bounds,
    /// Share of the loss that a step must gain to be followed by another.
    tolerance: f64,
}

impl Search<'_> {
    fn starts(&self, sorted_times: &[f64], near: Option<&Weibull>) -> Vec<Numbers> {
        let best_share = self.points.iter().map(|point| point.share).fold(0.0, f64::max);
        let asymptote = best_share.max(self.model.floor + 0.05);
        let start = |scale: f64, shape: f64| {
            self.bounds.cut(&Vector3::new(scale.ln(), shape.ln(), asymptote))
        };
        let middle = sorted_times[sorted_times.len() / 2];
        if let Some(near) = near {
            let known = Vector3::new(near.scale.ln(), near.shape.ln(), near.asymptote);
            return vec![self.bounds.cut(&known)];
        }
        let last = sorted_times[sorted_times.len() - 1];
        let scales = [sorted_times[0], middle, last, 1.5 * last];
        let shapes = [1.0, 3.0, 10.0];
        scales.iter().flat_map(|scale| shapes.map(|shape| start(*scale, shape))).collect()
    }

    fn curve(&self, numbers: &Numbers) -> Weibull {
        Weibull {
            scale: numbers[0].exp(),
            shape: numbers[1].exp(),
            asymptote: numbers[2],
            floor: self.model.floor,
        }
    }

    /// Returns what is minimised; deviance for likelihood, so that a perfect fit is zero.
    fn loss(&self, numbers: &Numbers) -> f64 {
        let curve = self.curve(numbers);
        self.points
            .iter()
            .map(|point| {
                let p = curve.at(point.time);
                match self.model.criterion {
                    Criterion::LeastSquares => (point.share - p).powi(2),
                    Criterion::MaximumLikelihood => {
                        let p = p.clamp(NEARLY, 1.0 - NEARLY);
                        let part = |y: f64, p: f64| if y <= 0.0 { 0.0 } else { y * (y / p).ln() };
                        point.n * (part(point.share, p) + part(1.0 - point.share, 1.0 - p))
                    }
                }
            })
            .sum()
    }

    /// Returns the slope that leads downhill, and the matrix of the step.
    fn slope(&self, numbers: &Numbers) -> (Numbers, Matrix3<f64>) {
        let curve = self.curve(numbers);
        let height = curve.asymptote - curve.floor;
        let (mut slope, mut matrix) = (Vector3::zeros(), Matrix3::zeros());
        for point in self.points {
            let ln_ratio = (point.time / curve.scale).ln();
            let power = (curve.shape * ln_ratio).exp();
            let steep = if power < 700.0 { height * power * (-power).exp() } else { 0.0 };
            let derivatives = Vector3::new(
                -steep * curve.shape,
                steep * curve.shape * ln_ratio,
                if self.model.free_asymptote { curve.rise(point.time) } else { 0.0 },
            );
            let p = curve.at(point.time);
            let weight = match self.model.criterion {
                Criterion::LeastSquares => 1.0,
                Criterion::MaximumLikelihood => {
                    let p = p.clamp(NEARLY, 1.0 - NEARLY);
                    point.n / (p * (1.0 - p))
                }
            };
            slope += derivatives * (weight * (point.share - p));
            matrix += derivatives * derivatives.transpose() * weight;
        }
        (slope, matrix)
    }

    /// Walks downhill from a start; returns the loss and place of the end.
    fn descend(&self, start: Numbers) -> (f64, Numbers) {
        let mut at = start;
        let mut loss = self.loss(&at);
        let mut damping = 1e-3;
        for _ in 0..MAX_STEPS {
            let (slope, matrix) = self.slope(&at);
            let rests = |idx: usize| {
                (at[idx] <= self.bounds.low[idx] && slope[idx] <= 0.0)
                    || (self.bounds.high[idx] <= at[idx] && 0.0 <= slope[idx])
            };
            let resting = [rests(0), rests(1), rests(2)];
            let Some((next, next_loss)) =
                self.step(&at, loss, &slope, &matrix, resting, &mut damping)
            else {
                break;
            };
            let moved = (next - at).amax();
            let gained = loss - next_loss;
            (at, loss) = (next, next_loss);
            if moved < 1e-9 || gained <= self.tolerance * loss {
                break;
            }
        }
        (loss, at)
    }

    /// Takes one step down, more careful until it is one; `None` when there is none.
    fn step(
        &self,
        at: &Numbers,
        loss: f64,
        slope: &Numbers,
        matrix: &Matrix3<f64>,
        resting: [bool; 3],
        damping: &mut f64,
    ) -> Option<(Numbers, f64)> {
        while *damping < 1e9 {
            let mut damped = *matrix;
            let mut pull = *slope;
            for idx in 0..3 {
                damped[(idx, idx)] += *damping * matrix[(idx, idx)] + 1e-12;
                if resting[idx] {
                    damped.row_mut(idx).fill(0.0);
                    damped.column_mut(idx).fill(0.0);
                    damped[(idx, idx)] = 1.0;
                    pull[idx] = 0.0;
                }
            }
            if let Some(factor) = damped.cholesky() {
                let next = self.bounds.cut(&(at + factor.solve(&pull)));
                let next_loss = self.loss(&next);
                if next_loss < loss {
                    *damping = (*damping / 5.0).max(1e-12);
                    return Some((next, next_loss));
                }
            }
            *damping *= 4.0;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const TIMES: [f64; 5] = [640.0, 980.0, 1_150.0, 1_320.0, 1_490.0];
    const SHARES: [f64; 5] = [0.07, 0.22, 0.46, 0.63, 0.68];
    const NS: [f64; 5] = [210.0, 200.0, 195.0, 198.0, 190.0];

    fn points() -> Vec<Observed> {
        TIMES
            .iter()
            .zip(SHARES)
            .zip(NS)
            .map(|((time, share), n)| Observed { time: *time, share, n })
            .collect()
    }

    fn with_floor(criterion: Criterion) -> Model {
        Model { floor: 1.0 / 16.0, free_asymptote: true, criterion }
    }

    fn check(model: &Model, scale: f64, shape: f64, asymptote: f64) {
        let fitted = fit(&points(), model, None).unwrap();
        let curve = fitted.curve;
        assert!((curve.scale / scale - 1.0).abs() < 1e-5, "{curve:?}");
        assert!((curve.shape / shape - 1.0).abs() < 1e-4, "{curve:?}");
        assert!((curve.asymptote - asymptote).abs() < 1e-5, "{curve:?}");
        assert!(!fitted.is_at_bound);
    }

    /// Golden: scipy 1.17.1, `curve_fit` without and with bounds, and `minimize` (Nelder–Mead) of
    /// the binomial likelihood.
    #[test]
    fn fits_are_those_of_scipy() {
        check(&Model::PAPER, 1_375.711_230_5, 3.368_913_6, 1.0);
        let paper_by_likelihood = Model { criterion: Criterion::MaximumLikelihood, ..Model::PAPER };
        check(&paper_by_likelihood, 1_380.611_430_3, 3.398_423_7, 1.0);
        check(&with_floor(Criterion::LeastSquares), 1_148.093_712_1, 7.424_120_2, 0.675_473_7);
        check(&with_floor(Criterion::MaximumLikelihood), 1_148.554_282_7, 7.464_501_5, 0.675_362_1);
    }

    #[test]
    fn at_the_scale_sixty_three_per_cent_of_the_rise_is_done() {
        let curve = Weibull { scale: 900.0, shape: 3.0, asymptote: 0.8, floor: 0.1 };
        assert!((curve.at(900.0) - (0.1 + 0.7 * 0.632_120_558_8)).abs() < 1e-9);
        assert!((curve.at(0.0) - 0.1).abs() < 1e-12);
        assert!((curve.at(1e6) - 0.8).abs() < 1e-12);
    }

    #[test]
    fn too_few_times_or_senseless_numbers_give_no_curve() {
        let model = with_floor(Criterion::MaximumLikelihood);
        assert_eq!(fit(&points()[..2], &model, None), None);
        assert!(fit(&points()[..2], &Model::PAPER, None).is_some());
        let mut broken = points();
        broken[0].time = 0.0;
        assert_eq!(fit(&broken, &model, None), None);
        broken[0] = Observed { time: 500.0, share: f64::NAN, n: 1.0 };
        assert_eq!(fit(&broken, &model, None), None);
    }

    #[test]
    fn a_step_between_two_blocks_is_said_to_be_at_the_bound() {
        let mut step = points();
        for (point, share) in step.iter_mut().zip([0.0625, 0.0625, 0.9, 0.9, 0.9]) {
            point.share = share;
        }
        let fitted = fit(&step, &with_floor(Criterion::MaximumLikelihood), None).unwrap();
        assert!(fitted.is_at_bound || 10.0 < fitted.curve.shape, "{fitted:?}");
    }

    proptest! {
        #[test]
        fn a_curve_without_noise_is_found_again(
            scale in 700.0_f64..1_500.0, shape in 1.0_f64..8.0, asymptote in 0.4_f64..0.98,
            by_likelihood in any::<bool>(),
        ) {
            let truth = Weibull { scale, shape, asymptote, floor: 0.0625 };
            let points: Vec<Observed> = [500.0, 900.0, 1_100.0, 1_300.0, 1_500.0, 2_500.0]
                .map(|time| Observed { time, share: truth.at(time), n: 200.0 })
                .to_vec();
            let criterion =
                if by_likelihood { Criterion::MaximumLikelihood } else { Criterion::LeastSquares };
            let fitted = fit(&points, &with_floor(criterion), None).unwrap();
            for time in [600.0, 1_000.0, 1_400.0, 2_000.0] {
                let error = fitted.curve.at(time) - truth.at(time);
                prop_assert!(error.abs() < 1e-5, "{:?} {:?}", fitted, truth);
            }
        }

        #[test]
        fn whatever_the_shares_the_curve_is_finite_and_rises(
            shares in proptest::collection::vec(0.0_f64..=1.0, 5), free in any::<bool>(),
        ) {
            let points: Vec<Observed> = TIMES
                .iter()
                .zip(shares)
                .map(|(time, share)| Observed { time: *time, share, n: 40.0 })
                .collect();
            let model = Model { free_asymptote: free, ..with_floor(Criterion::default()) };
            let curve = fit(&points, &model, None).unwrap().curve;
            let at: Vec<f64> = TIMES.iter().map(|time| curve.at(*time)).collect();
            prop_assert!(at.iter().all(|p| (0.0..=1.0).contains(p)));
            prop_assert!(at.windows(2).all(|pair| pair[0] <= pair[1] + 1e-12));
        }
    }
}
