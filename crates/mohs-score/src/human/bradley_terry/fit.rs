//! Fitting the model: Newton's method over the list of pairs.
//!
//! # Method
//!
//! With `η = d_i - d_j + b` for stimulus `i` on the left of `j`,
//!
//! ```text
//! P(i harder) = e^(η/2) / D    P(j harder) = e^(-η/2) / D    P(tie) = ν / D
//! D           = e^(η/2) + e^(-η/2) + ν
//! ```
//!
//! Without ties `ν = 0` and `P(i harder) = 1 / (1 + e^-η)`, the model of Bradley and Terry; with
//! them it is Davidson's. The log-likelihood, less `d²/2s²` per stimulus where there is a prior of
//! standard deviation `s`, is concave in `d`, `b` and `ln ν`. Each round solves
//!
//! ```text
//! [ A  B ] [ step of d      ]   [ gradient of d      ]
//! [ Bᵀ C ] [ step of b, lnν ] = [ gradient of b, lnν ]
//! ```
//!
//! `A` is a weighted Laplacian of the network of pairs (plus `1/s²`), never written down: systems
//! in `A` are solved by conjugate gradients, component by component, preconditioned by the
//! diagonal, and only as exactly as the round deserves. The other two numbers come by their Schur
//! complement. A step that overshoots (the slope turns round) is shortened. Without `b` and `ν`
//! components do not know each other and are fitted one by one.
//!
//! The covariance is the inverse of the same matrix, on vectors that sum to zero in each component.
//!
//! # References
//!
//! - R. A. Bradley, M. E. Terry (1952), "Rank analysis of incomplete block designs I".
//! - R. R. Davidson (1970), "On extending the Bradley–Terry model to accommodate ties".
//! - R. R. Davidson, R. J. Beaver (1977), "On extending the Bradley–Terry model to incorporate
//!   within-pair order effects".
//! - R. S. Dembo, S. C. Eisenstat, T. Steihaug (1982), "Inexact Newton methods".

use std::ops::Range;

use rayon::prelude::*;

use super::network::{Network, Tally};

/// Rounds of Newton's method before giving up; a handful is usual.
const MAX_ROUNDS: usize = 100;
/// Largest gradient, in judgements per judgement of the busiest stimulus, that counts as zero.
const TOLERANCE: f64 = 1e-10;
/// A bias or tie parameter beyond this is on its way to infinity.
const RUNAWAY: f64 = 12.0;
/// A slope turned round by more than this share of what it was asks for a shorter step.
const OVERSHOOT: f64 = 0.5;
/// Most times a step is shortened.
const MAX_SHORTENINGS: usize = 40;
/// Relative residual of solutions the covariance is made of.
const EXACT: f64 = 1e-11;

/// What is estimated beside difficulties.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Beside {
    /// A bias for the left.
    pub bias: bool,
    /// A share of ties (Davidson). Without it, ties must have been split.
    pub ties: bool,
}

/// A fitted model. Vectors are in the order of the stimuli.
#[derive(Debug, Clone)]
pub struct Fit {
    /// Difficulty of each stimulus in log-odds; sums to zero in each component.
    pub difficulty: Vec<f64>,
    /// Bias for the left in log-odds; 0 when not estimated.
    pub bias: f64,
    /// Logarithm of Davidson's ν; `None` when not estimated.
    pub ln_ties: Option<f64>,
    /// Rounds of Newton's method, of the component that took most.
    pub n_rounds: usize,
    /// Largest gradient left, in judgements.
    pub gradient: f64,
}

/// How far from the truth a fit may be, by the curvature of the likelihood.
#[derive(Debug, Clone)]
pub struct Spread {
    /// Variance of each difficulty, in the order of the stimuli.
    pub difficulty: Vec<f64>,
    /// Variance of the bias; `None` when not estimated.
    pub bias: Option<f64>,
    /// Variance of `ln ν`; `None` when not estimated.
    pub ln_ties: Option<f64>,
}

/// The fit did not settle.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[error(
    "the Bradley–Terry fit did not settle in {n_rounds} rounds: the gradient is {gradient:.1e}, \
     expected nearly 0"
)]
pub struct NotSettled {
    /// Rounds made.
    pub n_rounds: usize,
    /// Largest gradient left.
    pub gradient: f64,
}

/// Fits the model.
///
/// `tallies` are by edge of the network, `precision` is `1/s²` of the prior of each component, 0
/// for none. A component without prior must be chained ([`Network::is_chained`]). `start` is a
/// nearby fit, if there is one.
pub(super) fn fit(
    network: &Network,
    tallies: &[Tally],
    precision: &[f64],
    beside: Beside,
    start: Option<&Fit>,
) -> Result<Fit, NotSettled> {
    let mut newton = Newton::new(network, tallies, precision, beside, start);
    let all = 0..network.n_components();
    let (mut n_rounds, mut gradient) = (0, 0.0_f64);
    if beside.bias || beside.ties {
        (n_rounds, gradient) = newton.run(all)?;
    } else {
        for component in all {
            let (rounds, left) = newton.run(component..component + 1)?;
            n_rounds = n_rounds.max(rounds);
            gradient = gradient.max(left);
        }
    }
    Ok(Fit {
        difficulty: network.in_given_order(&newton.at.d),
        bias: newton.at.beside[BIAS],
        ln_ties: beside.ties.then_some(newton.at.beside[TIES]),
        n_rounds,
        gradient,
    })
}

/// Returns the variances of a fit. Takes a solution of one system per stimulus.
pub(super) fn spread(
    network: &Network,
    tallies: &[Tally],
    precision: &[f64],
    beside: Beside,
    fit: &Fit,
) -> Spread {
    let mut newton = Newton::new(network, tallies, precision, beside, Some(fit));
    let all = 0..network.n_components();
    newton.evaluate(&all);
    let (through, inverse) = newton.schur(&all, EXACT);
    let of_places: Vec<f64> = network
        .components
        .iter()
        .flat_map(|component| component.places.clone().map(move |place| (component, place)))
        .collect::<Vec<_>>()
        .into_par_iter()
        .map_init(
            || (vec![0.0; network.n_stimuli()], Solver::new(network.n_stimuli())),
            |(unit, solver), (component, place)| {
                let n = count(component.places.len());
                unit[component.places.clone()].fill(-1.0 / n);
                unit[place] += 1.0;
                solver.solve(&newton.curvature, component.places.clone(), unit, EXACT);
                let mut variance = solver.x[place];
                for (a, row) in inverse.iter().enumerate() {
                    for (b, inverse) in row.iter().enumerate() {
                        variance += through[a][place] * inverse * through[b][place];
                    }
                }
                variance.max(0.0)
            },
        )
        .collect();
    Spread {
        difficulty: network.in_given_order(&of_places),
        bias: beside.bias.then_some(inverse[BIAS][BIAS]),
        ln_ties: beside.ties.then_some(inverse[TIES][TIES]),
    }
}

/// Returns the bias for the left and its variance, without the variances of difficulties; `None`
/// if it runs away, as when everybody always says "left".
pub(super) fn bias(
    network: &Network,
    tallies: &[Tally],
    precision: &[f64],
    ties: bool,
    start: &Fit,
) -> Option<(f64, f64)> {
    let beside = Beside { bias: true, ties };
    let fit = fit(network, tallies, precision, beside, Some(start)).ok()?;
    let mut newton = Newton::new(network, tallies, precision, beside, Some(&fit));
    let all = 0..network.n_components();
    newton.evaluate(&all);
    let (_, inverse) = newton.schur(&all, EXACT);
    let variance = inverse[BIAS][BIAS];
    (0.0 < variance && variance.is_finite()).then_some((fit.bias, variance))
}

/// Positions of what is estimated beside difficulties.
const BIAS: usize = 0;
const TIES: usize = 1;
type Two = [f64; 2];
type TwoByTwo = [Two; 2];

/// A point of the search: difficulties by place, and what is beside them.
#[derive(Debug, Clone)]
struct Point {
    d: Vec<f64>,
    beside: Two,
}

/// The matrix `A` at a point.
struct Curvature<'a> {
    network: &'a Network,
    weight: Vec<f64>,
    diagonal: Vec<f64>,
    /// The prior's part of the diagonal, by place.
    precision: Vec<f64>,
}

struct Newton<'a> {
    tallies: &'a [Tally],
    is_beside: [bool; 2],
    at: Point,
    gradient: Vec<f64>,
    gradient_beside: Two,
    curvature: Curvature<'a>,
    /// The columns of `B`, by place.
    border: [Vec<f64>; 2],
    corner: TwoByTwo,
    solver: Solver,
    step: Vec<f64>,
    from: Vec<f64>,
}

impl<'a> Newton<'a> {
    fn new(
        network: &'a Network,
        tallies: &'a [Tally],
        precision: &[f64],
        beside: Beside,
        start: Option<&Fit>,
    ) -> Self {
        let n = network.n_stimuli();
        let mut precision_of = vec![0.0; n];
        for (component, precision) in network.components.iter().zip(precision) {
            precision_of[component.places.clone()].fill(*precision);
        }
        let at = Point {
            d: start.map_or_else(|| vec![0.0; n], |fit| network.by_place(&fit.difficulty)),
            beside: [
                start.map_or(0.0, |fit| fit.bias),
                start.and_then(|fit| fit.ln_ties).unwrap_or_else(|| ln_ties_of_equals(tallies)),
            ],
        };
        let border_of = |is: bool| vec![0.0; if is { n } else { 0 }];
        Self {
            tallies,
            is_beside: [beside.bias, beside.ties],
            at,
            gradient: vec![0.0; n],
            gradient_beside: [0.0; 2],
            curvature: Curvature {
                network,
                weight: vec![0.0; network.edges.len()],
                diagonal: vec![0.0; n],
                precision: precision_of,
            },
            border: [border_of(beside.bias), border_of(beside.ties)],
            corner: [[0.0; 2]; 2],
            solver: Solver::new(n),
            step: vec![0.0; n],
            from: vec![0.0; n],
        }
    }

    /// Climbs to the top of a few neighbouring components; returns rounds and the gradient left.
    fn run(&mut self, components: Range<usize>) -> Result<(usize, f64), NotSettled> {
        let places = self.places(&components);
        let mut largest = self.evaluate(&components);
        let first = largest;
        let busiest = self.busiest(&components);
        let enough = TOLERANCE * busiest.max(1.0);
        for n_rounds in 0..MAX_ROUNDS {
            if largest <= enough {
                self.centre(&components);
                return Ok((n_rounds, largest));
            }
            if self.at.beside.iter().any(|number| RUNAWAY < number.abs()) {
                return Err(NotSettled { n_rounds, gradient: largest });
            }
            // The nearer the top, the more exact the step must be to keep its quadratic pace.
            let exactness = (largest / first).clamp(1e-9, 0.1);
            let step_beside = self.newton_step(&components, exactness);
            let slope = self.slope(&places, step_beside);
            self.from[places.clone()].copy_from_slice(&self.at.d[places.clone()]);
            let from_beside = self.at.beside;
            let mut share = 1.0;
            for _ in 0..MAX_SHORTENINGS {
                for place in places.clone() {
                    self.at.d[place] = self.from[place] + share * self.step[place];
                }
                for (idx, number) in self.at.beside.iter_mut().enumerate() {
                    *number = from_beside[idx] + share * step_beside[idx];
                }
                largest = self.evaluate(&components);
                let slope_there = self.slope(&places, step_beside);
                if -OVERSHOOT * slope <= slope_there {
                    break;
                }
                let turning = slope / (slope - slope_there);
                share *= if turning.is_finite() { turning.clamp(0.1, 0.7) } else { 0.1 };
            }
        }
        Err(NotSettled { n_rounds: MAX_ROUNDS, gradient: largest })
    }

    fn places(&self, components: &Range<usize>) -> Range<usize> {
        let all = &self.curvature.network.components[components.clone()];
        all.first().map_or(0, |c| c.places.start)..all.last().map_or(0, |c| c.places.end)
    }

    fn edges(&self, components: &Range<usize>) -> Range<usize> {
        let all = &self.curvature.network.components[components.clone()];
        all.first().map_or(0, |c| c.edges.start)..all.last().map_or(0, |c| c.edges.end)
    }

    /// Returns the number of judgements of the stimulus that has most.
    fn busiest(&mut self, components: &Range<usize>) -> f64 {
        let places = self.places(components);
        self.step[places.clone()].fill(0.0);
        for edge in self.edges(components) {
            let n = self.tallies[edge].total();
            let ends = &self.curvature.network.edges[edge];
            self.step[ends.first] += n;
            self.step[ends.second] += n;
        }
        self.step[places].iter().copied().fold(0.0, f64::max)
    }

    /// Computes gradient and curvature at the current point; returns the largest gradient.
    fn evaluate(&mut self, components: &Range<usize>) -> f64 {
        let (places, edges) = (self.places(components), self.edges(components));
        let [has_bias, has_ties] = self.is_beside;
        let nu = if has_ties { self.at.beside[TIES].exp() } else { 0.0 };
        let bias = self.at.beside[BIAS];
        for place in places.clone() {
            let precision = self.curvature.precision[place];
            self.gradient[place] = -precision * self.at.d[place];
            self.curvature.diagonal[place] = precision;
            for border in &mut self.border {
                if let Some(cell) = border.get_mut(place) {
                    *cell = 0.0;
                }
            }
        }
        self.gradient_beside = [0.0; 2];
        // What is not estimated stands still: its row of the corner is that of the identity.
        self.corner =
            [[if has_bias { 0.0 } else { 1.0 }, 0.0], [0.0, if has_ties { 0.0 } else { 1.0 }]];
        for idx in edges {
            let edge = self.curvature.network.edges[idx];
            let tally = &self.tallies[idx];
            let n = tally.total();
            let is_biased = has_bias && edge.is_sided;
            let eta =
                self.at.d[edge.first] - self.at.d[edge.second] + if is_biased { bias } else { 0.0 };
            let chances = Chances::new(eta, nu);
            let lean = chances.first - chances.second;
            let slope = 0.5 * (tally.first - tally.second - n * lean);
            let weight = 0.25 * n * (chances.first + chances.second - lean * lean);
            self.curvature.weight[idx] = weight;
            self.gradient[edge.first] += slope;
            self.gradient[edge.second] -= slope;
            self.curvature.diagonal[edge.first] += weight;
            self.curvature.diagonal[edge.second] += weight;
            if is_biased {
                self.gradient_beside[BIAS] += slope;
                self.corner[BIAS][BIAS] += weight;
                self.border[BIAS][edge.first] += weight;
                self.border[BIAS][edge.second] -= weight;
            }
            if has_ties {
                self.gradient_beside[TIES] += tally.tied - n * chances.tie;
                self.corner[TIES][TIES] += n * chances.tie * (1.0 - chances.tie);
                let both = -0.5 * n * lean * chances.tie;
                self.border[TIES][edge.first] += both;
                self.border[TIES][edge.second] -= both;
                if is_biased {
                    self.corner[BIAS][TIES] += both;
                    self.corner[TIES][BIAS] += both;
                }
            }
        }
        let of_d = self.gradient[places].iter().map(|g| g.abs()).fold(0.0, f64::max);
        self.gradient_beside.iter().map(|g| g.abs()).fold(of_d, f64::max)
    }

    /// Sets `step` to the step of difficulties; returns that of what is beside them.
    fn newton_step(&mut self, components: &Range<usize>, exactness: f64) -> Two {
        let places = self.places(components);
        if self.is_beside == [false; 2] {
            for idx in components.clone() {
                let places = self.curvature.network.components[idx].places.clone();
                self.solver.solve(&self.curvature, places, &self.gradient, exactness);
            }
            self.step[places.clone()].copy_from_slice(&self.solver.x[places]);
            return [0.0; 2];
        }
        let (through, inverse) = self.schur(components, exactness);
        let mut rest = self.gradient_beside;
        for (idx, rest) in rest.iter_mut().enumerate().filter(|(idx, _)| self.is_beside[*idx]) {
            for place in places.clone() {
                *rest -= through[idx][place] * self.gradient[place];
            }
        }
        let step = [
            inverse[0][0] * rest[0] + inverse[0][1] * rest[1],
            inverse[1][0] * rest[0] + inverse[1][1] * rest[1],
        ];
        let mut right = self.gradient.clone();
        for idx in (0..2).filter(|idx| self.is_beside[*idx]) {
            for place in places.clone() {
                right[place] -= self.border[idx][place] * step[idx];
            }
        }
        for idx in components.clone() {
            let places = self.curvature.network.components[idx].places.clone();
            self.solver.solve(&self.curvature, places, &right, exactness);
        }
        self.step[places.clone()].copy_from_slice(&self.solver.x[places]);
        step
    }

    /// Returns `A⁺B`, by column, and the inverse of the Schur complement `C - BᵀA⁺B`.
    fn schur(&mut self, components: &Range<usize>, exactness: f64) -> ([Vec<f64>; 2], TwoByTwo) {
        let places = self.places(components);
        let mut through = [vec![0.0; self.step.len()], vec![0.0; self.step.len()]];
        let mut schur = self.corner;
        for column in (0..2).filter(|column| self.is_beside[*column]) {
            for idx in components.clone() {
                let places = self.curvature.network.components[idx].places.clone();
                let border = &self.border[column];
                self.solver.solve(&self.curvature, places, border, exactness.min(1e-6));
            }
            through[column][places.clone()].copy_from_slice(&self.solver.x[places.clone()]);
            for row in (0..2).filter(|row| self.is_beside[*row]) {
                for place in places.clone() {
                    schur[row][column] -= self.border[row][place] * through[column][place];
                }
            }
        }
        let [[a, b], [c, d]] = schur;
        let determinant = a * d - b * c;
        let inverse = [[d / determinant, -b / determinant], [-c / determinant, a / determinant]];
        // What is not estimated has no variance to pass on.
        let keep = |row: usize, column: usize| {
            let both = self.is_beside[row] && self.is_beside[column];
            if both { inverse[row][column] } else { 0.0 }
        };
        (through, [[keep(0, 0), keep(0, 1)], [keep(1, 0), keep(1, 1)]])
    }

    /// Returns the slope along the step, at the current point.
    fn slope(&self, places: &Range<usize>, step_beside: Two) -> f64 {
        let of_d: f64 = places.clone().map(|place| self.gradient[place] * self.step[place]).sum();
        let of_beside: f64 =
            self.gradient_beside.iter().zip(step_beside).map(|(g, step)| g * step).sum();
        of_d + of_beside
    }

    fn centre(&mut self, components: &Range<usize>) {
        for component in &self.curvature.network.components[components.clone()] {
            subtract_mean(&mut self.at.d[component.places.clone()]);
        }
    }
}

/// Chances of the three answers.
struct Chances {
    first: f64,
    second: f64,
    tie: f64,
}

impl Chances {
    /// Everything is divided by the largest term, so that nothing overflows.
    fn new(eta: f64, nu: f64) -> Self {
        let (small, tie) = if 0.0 < nu {
            let root = (-0.5 * eta.abs()).exp();
            (root * root, nu * root)
        } else {
            ((-eta.abs()).exp(), 0.0)
        };
        let all = 1.0 + small + tie;
        let (large, small) = (1.0 / all, small / all);
        let (first, second) = if 0.0 <= eta { (large, small) } else { (small, large) };
        Self { first, second, tie: tie / all }
    }
}

/// Returns the tie parameter if all stimuli were equally hard: where the search starts.
fn ln_ties_of_equals(tallies: &[Tally]) -> f64 {
    let tied: f64 = tallies.iter().map(|tally| tally.tied).sum();
    let decided: f64 = tallies.iter().map(|tally| tally.first + tally.second).sum();
    if 0.0 < tied && 0.0 < decided { (2.0 * tied / decided).ln() } else { 0.0 }
}

/// Solves systems in `A` by conjugate gradients; holds the memory for it.
struct Solver {
    x: Vec<f64>,
    residual: Vec<f64>,
    direction: Vec<f64>,
    product: Vec<f64>,
}

impl Solver {
    fn new(n: usize) -> Self {
        let zeros = vec![0.0; n];
        Self { x: zeros.clone(), residual: zeros.clone(), direction: zeros.clone(), product: zeros }
    }

    /// Sets `x` at the places of one component to the solution of `A x = right` that sums to
    /// zero, to a relative residual.
    fn solve(&mut self, a: &Curvature<'_>, places: Range<usize>, right: &[f64], exactness: f64) {
        let x = &mut self.x[places.clone()];
        let residual = &mut self.residual[places.clone()];
        let direction = &mut self.direction[..];
        let product = &mut self.product[places.clone()];
        let diagonal = &a.diagonal[places.clone()];
        x.fill(0.0);
        residual.copy_from_slice(&right[places.clone()]);
        subtract_mean(residual);
        let mut size = 0.0;
        let mut strength = 0.0;
        for (idx, r) in residual.iter().enumerate() {
            let preconditioned = scaled(*r, diagonal[idx]);
            direction[places.start + idx] = preconditioned;
            size += r * r;
            strength += r * preconditioned;
        }
        let enough = size * exactness * exactness;
        // Exact arithmetic would need one round per place; rounding asks for some more.
        for _ in 0..2 * places.len() + 20 {
            if size <= enough || strength <= 0.0 {
                break;
            }
            let mut bend = 0.0;
            for (idx, place) in places.clone().enumerate() {
                let mut sum = diagonal[idx] * direction[place];
                for (to, edge) in a.network.around(place) {
                    sum -= a.weight[edge] * direction[to];
                }
                product[idx] = sum;
                bend += sum * direction[place];
            }
            if bend <= 0.0 || !bend.is_finite() {
                break;
            }
            let share = strength / bend;
            size = 0.0;
            let mut next = 0.0;
            for (idx, place) in places.clone().enumerate() {
                x[idx] += share * direction[place];
                let r = residual[idx] - share * product[idx];
                residual[idx] = r;
                size += r * r;
                next += r * scaled(r, diagonal[idx]);
            }
            let turn = next / strength;
            strength = next;
            for (idx, place) in places.clone().enumerate() {
                direction[place] = scaled(residual[idx], diagonal[idx]) + turn * direction[place];
            }
        }
        subtract_mean(x);
    }
}

/// Divides by the diagonal, where there is one: a stimulus without judgements has none.
fn scaled(r: f64, diagonal: f64) -> f64 {
    if 0.0 < diagonal { r / diagonal } else { 0.0 }
}

fn subtract_mean(values: &mut [f64]) {
    let mean = values.iter().sum::<f64>() / count(values.len());
    for value in values {
        *value -= mean;
    }
}

fn count(n: usize) -> f64 {
    crate::proportion::real(n.max(1))
}
