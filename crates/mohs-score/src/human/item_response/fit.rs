//! Fits the item response model by marginal maximum likelihood.
//!
//! # Method
//!
//! One step of EM moves each stimulus by Newton's method on the information that complete data
//! would have. We take that step as the preconditioner of a quasi-Newton method (Jamshidian and
//! Jennrich 1997): the first steps are EM's and as safe, the later ones learn how much information
//! the unknown abilities take away and converge fast. The common-discrimination model (1PL) comes
//! first, and the 2PL starts from its solution: a start at which every stimulus already fits keeps
//! it away from degenerate maxima with one huge discrimination.
//!
//! # When there is no answer
//!
//! A stimulus that all answered rightly, or all wrongly, has no finite intercept: it takes no part
//! here (`unanimous.rs`). One that splits the participants cleanly has no finite discrimination.
//! Then, and only then, discriminations are pooled ([`Prior`]). Intercepts never have a prior here,
//! so location and scale are those of `θ ~ N(0, 1)`.
//!
//! # References
//!
//! - R. D. Bock and M. Aitkin (1981), "Marginal maximum likelihood estimation of item parameters:
//!   application of an EM algorithm".
//! - M. Jamshidian and R. I. Jennrich (1997), "Acceleration of the EM algorithm by using
//!   quasi-Newton methods".

use std::collections::VecDeque;

use super::Model;
use super::lattice::Lattice;
use super::likelihood::{self, Block, Evaluated, Items};
use super::responses::Responses;
use crate::proportion::real;

/// Standard deviation of discriminations over their mean where they are pooled. Wider lets few
/// answers push their mean up, as maximum likelihood does; narrower would hide real differences.
pub(super) const POOLED_SPREAD: f64 = 0.3;
/// Prior of the mean discrimination where even a common one runs away: mean and standard deviation.
const PRIOR_MEAN: (f64, f64) = (1.0, 1.0);
/// Stimuli from which own discriminations are told apart without a prior.
const N_OWN: usize = 3;
/// Stimuli from which a common discrimination is.
const N_COMMON: usize = 2;
/// Discrimination beyond which a fit without prior is called runaway: on the logistic scale
/// published discriminations are rarely above 4.
const RUNAWAY_A: f64 = 8.0;
/// Intercept beyond which it is: odds of three million to one.
const RUNAWAY_D: f64 = 15.0;
/// Quasi-Newton steps remembered.
const MEMORY: usize = 10;
/// Steps after which the fit is called unsettled.
const MAX_STEPS: usize = 500;
/// Expected gain in log-likelihood per parameter below which the fit has settled.
const TOLERANCE: f64 = 1e-10;
/// Share of the expected gain a step must bring (Armijo).
const SUFFICIENT: f64 = 1e-4;
/// Halvings of a step before the fit gives up.
const MAX_HALVINGS: usize = 30;
/// Largest move of a parameter in one step.
const MAX_MOVE: f64 = 1.5;

/// What is assumed about discriminations beyond the answers.
///
/// # Formula
///
/// ```text
/// pooled:   log-prior = -Σ_i (a_i/ā - 1)² / (2 · 0.3²)      ā = mean of the a_i
/// centred:  log-prior = -(ā - 1)² / 2
/// ```
///
/// Pooling looks at ratios only: all `a_i` times a number have the same prior, so it cannot move
/// the scale. Centring can; it is there for tables so small that nothing else holds the scale.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Prior {
    pub(super) is_pooled: bool,
    pub(super) is_centred: bool,
}

impl Prior {
    const NONE: Self = Self { is_pooled: false, is_centred: false };

    pub(super) fn is_some(self) -> bool {
        self != Self::NONE
    }

    /// Returns the log-prior of discriminations, and adds its slope.
    fn add(self, a: &[f64], slope: &mut [f64]) -> f64 {
        let n = real(a.len());
        let mean = a.iter().sum::<f64>() / n;
        let mut height = 0.0;
        if self.is_pooled {
            let ratio = |a: &f64| a / mean - 1.0;
            let squares: f64 = a.iter().map(|a| ratio(a).powi(2)).sum();
            let precision = POOLED_SPREAD.powi(-2);
            height -= precision * squares / 2.0;
            for (a, slope) in a.iter().zip(slope.iter_mut()) {
                *slope -= precision * (ratio(a) - squares / n) / mean;
            }
        }
        if self.is_centred {
            let z = (mean - PRIOR_MEAN.0) / PRIOR_MEAN.1;
            height -= z * z / 2.0;
            slope[..a.len()].iter_mut().for_each(|slope| *slope -= z / PRIOR_MEAN.1 / n);
        }
        height
    }

    /// Returns what pooling knows about one discrimination when the mean is known.
    pub(super) fn precision(self, a: &[f64]) -> f64 {
        let mean = a.iter().sum::<f64>() / real(a.len());
        let pooled = if self.is_pooled { (POOLED_SPREAD * mean).powi(-2) } else { 0.0 };
        let centred = if self.is_centred { (PRIOR_MEAN.1 * real(a.len())).powi(-2) } else { 0.0 };
        pooled + centred
    }
}

/// A fitted model.
#[derive(Debug, Clone)]
pub(super) struct Fit {
    pub(super) items: Items,
    pub(super) lattice: Lattice,
    pub(super) evaluated: Evaluated,
    pub(super) blocks: Vec<Block>,
    pub(super) prior: Prior,
    pub(super) n_steps: usize,
    pub(super) is_settled: bool,
    /// What a common discrimination reaches.
    pub(super) one_pl_log_likelihood: f64,
}

/// Fits the model to stimuli none of which is unanimous, with a prior where it has to be.
pub(super) fn fit(responses: &Responses, model: Model) -> Fit {
    if responses.n_stimuli() == 0 {
        let items = Items { discrimination: vec![], intercept: vec![] };
        let mut modes = vec![0.0; responses.participants.len()];
        return Fit::at(responses, items, &mut modes, Prior::NONE, 0, true);
    }
    let centred = Prior { is_centred: true, ..Prior::NONE };
    let common = Some(Prior::NONE)
        .filter(|_| N_COMMON <= responses.n_stimuli())
        .and_then(|prior| search(responses, Model::OnePl, prior, start(responses)).ok())
        .unwrap_or_else(|| settled(search(responses, Model::OnePl, centred, start(responses))));
    match model {
        Model::OnePl => common.upright(responses),
        Model::TwoPl => {
            two_pl_from(responses, &common).unwrap_or_else(|| pooled(responses, &common))
        }
    }
}

/// Fits own discriminations from the solution of a common one, without prior; `None` when there is
/// no finite one.
pub(super) fn two_pl_from(responses: &Responses, common: &Fit) -> Option<Fit> {
    if common.prior.is_some() || responses.n_stimuli() < N_OWN {
        return None;
    }
    let fit = search(responses, Model::TwoPl, Prior::NONE, common.items.clone()).ok()?;
    Some(fit.after(responses, common))
}

/// Fits own discriminations that are pooled.
fn pooled(responses: &Responses, common: &Fit) -> Fit {
    let climb = |is_centred: bool| {
        let prior = Prior { is_pooled: true, is_centred };
        search(responses, Model::TwoPl, prior, common.items.clone())
    };
    let fit = match climb(common.prior.is_centred) {
        Err(_) if !common.prior.is_centred => settled(climb(true)),
        found => settled(found),
    };
    fit.after(responses, common)
}

/// Takes what was found, whether it ran away or not.
fn settled(found: Result<Fit, Box<Fit>>) -> Fit {
    found.unwrap_or_else(|last| *last)
}

impl Fit {
    /// Evaluates everything at the parameters found, on windows of their own.
    fn at(
        responses: &Responses,
        items: Items,
        modes: &mut [f64],
        prior: Prior,
        n_steps: usize,
        is_settled: bool,
    ) -> Self {
        let lattice = Lattice::around(responses, &items, modes);
        let evaluated = likelihood::evaluate(responses, &items, &lattice);
        let blocks = likelihood::blocks(responses, &items, &lattice, &evaluated);
        let one_pl_log_likelihood = evaluated.log_likelihood;
        Self {
            items,
            lattice,
            evaluated,
            blocks,
            prior,
            n_steps,
            is_settled,
            one_pl_log_likelihood,
        }
    }

    /// Returns this fit with what the model before it reached.
    fn after(self, responses: &Responses, common: &Self) -> Self {
        let one_pl_log_likelihood = common.evaluated.log_likelihood;
        Self { one_pl_log_likelihood, ..self }.upright(responses)
    }

    /// Turns the scale so that more ability helps with most stimuli: the likelihood is the same.
    fn upright(mut self, responses: &Responses) -> Self {
        if 0.0 <= self.items.discrimination.iter().sum::<f64>() {
            return self;
        }
        self.items.discrimination.iter_mut().for_each(|a| *a = -*a);
        let mut modes = vec![0.0; responses.participants.len()];
        let Self { items, prior, n_steps, is_settled, one_pl_log_likelihood, .. } = self;
        let turned = Self::at(responses, items, &mut modes, prior, n_steps, is_settled);
        Self { one_pl_log_likelihood, ..turned }
    }
}

/// Log-odds of the share right, spread as ability spreads them.
fn start(responses: &Responses) -> Items {
    let intercept = (0..responses.n_stimuli())
        .map(|stimulus_idx| {
            let right = real(responses.n_right_to(stimulus_idx)) + 0.5;
            let all = real(responses.n_answers_to(stimulus_idx)) + 1.0;
            // A mean of logistic curves over N(0, 1) is nearly a logistic curve, 1.16 times flatter.
            1.16 * (right / (all - right)).ln()
        })
        .collect();
    Items { discrimination: vec![1.0; responses.n_stimuli()], intercept }
}

/// Where the search stands.
struct Point {
    x: Vec<f64>,
    items: Items,
    blocks: Vec<Block>,
    /// Log-likelihood plus log-prior.
    height: f64,
    slope: Vec<f64>,
}

struct Search<'a> {
    responses: &'a Responses,
    model: Model,
    prior: Prior,
    modes: Vec<f64>,
    lattice: Lattice,
}

/// Climbs to the top; an error is the place from where a parameter runs away.
fn search(
    responses: &Responses,
    model: Model,
    prior: Prior,
    start: Items,
) -> Result<Fit, Box<Fit>> {
    let mut modes = vec![0.0; responses.participants.len()];
    let lattice = Lattice::around(responses, &start, &mut modes);
    let mut search = Search { responses, model, prior, modes, lattice };
    let mut point = search.at(pack(model, &start));
    let mut memory: VecDeque<(Vec<f64>, Vec<f64>)> = VecDeque::new();
    let tolerance = TOLERANCE * real(point.x.len());
    let mut is_settled = false;
    let mut n_steps = 0;
    while n_steps < MAX_STEPS && !is_settled {
        n_steps += 1;
        let information = Information::new(model, prior, &point.items, &point.blocks);
        let mut step = direction(&information, &memory, &point.slope);
        let mut gain = dot(&step, &point.slope);
        if gain <= 0.0 {
            memory.clear();
            step = information.solved(&point.slope);
            gain = dot(&step, &point.slope);
        }
        is_settled = gain / 2.0 < tolerance;
        let Some(next) = search.climb(&point, &step, gain) else {
            // No step climbs any more: rounding is all that is left, or the memory misleads.
            if memory.is_empty() {
                is_settled |= gain < tolerance.sqrt();
                break;
            }
            memory.clear();
            continue;
        };
        if next.items.runs_away() {
            let (items, modes) = (point.items, &mut search.modes);
            return Err(Box::new(Fit::at(responses, items, modes, prior, n_steps, false)));
        }
        let moved: Vec<f64> = next.x.iter().zip(&point.x).map(|(new, old)| new - old).collect();
        let bent: Vec<f64> =
            point.slope.iter().zip(&next.slope).map(|(old, new)| old - new).collect();
        if 1e-12 * dot(&moved, &moved) < dot(&moved, &bent) {
            memory.push_back((moved, bent));
            if MEMORY < memory.len() {
                memory.pop_front();
            }
        }
        point = next;
    }
    Ok(Fit::at(responses, point.items, &mut search.modes, prior, n_steps, is_settled))
}

impl Items {
    fn runs_away(&self) -> bool {
        self.discrimination.iter().any(|a| RUNAWAY_A < a.abs())
            || self.intercept.iter().any(|d| RUNAWAY_D < d.abs())
    }
}

impl Search<'_> {
    /// Evaluates a place, on new windows if the posteriors have left theirs.
    fn at(&mut self, x: Vec<f64>) -> Point {
        let items = unpack(self.model, &x, self.responses.n_stimuli());
        let mut evaluated = likelihood::evaluate(self.responses, &items, &self.lattice);
        if !evaluated.is_resolved {
            for (mode, posterior) in self.modes.iter_mut().zip(&evaluated.posteriors) {
                *mode = posterior.mean;
            }
            self.lattice = Lattice::around(self.responses, &items, &mut self.modes);
            evaluated = likelihood::evaluate(self.responses, &items, &self.lattice);
        }
        let blocks = likelihood::blocks(self.responses, &items, &self.lattice, &evaluated);
        let mut height = evaluated.log_likelihood;
        let mut slope = gradient(self.model, &blocks);
        let n_a = x.len() - self.responses.n_stimuli();
        height += self.prior.add(&x[..n_a], &mut slope);
        Point { x, items, blocks, height, slope }
    }

    /// Goes along a step as far as it climbs; `None` when it does not.
    fn climb(&mut self, from: &Point, step: &[f64], gain: f64) -> Option<Point> {
        let longest = step.iter().fold(0.0_f64, |longest, move_by| longest.max(move_by.abs()));
        let mut length = (MAX_MOVE / longest).min(1.0);
        let rounding = 1e-13 * from.height.abs();
        for _ in 0..MAX_HALVINGS {
            let x = from.x.iter().zip(step).map(|(x, move_by)| x + length * move_by).collect();
            let next = self.at(x);
            if from.height + SUFFICIENT * length * gain - rounding <= next.height {
                return Some(next);
            }
            length /= 2.0;
        }
        None
    }
}

/// Puts the parameters in one row: discriminations (one if common), then intercepts.
fn pack(model: Model, items: &Items) -> Vec<f64> {
    let n_a = if model == Model::OnePl { 1 } else { items.discrimination.len() };
    items.discrimination[..n_a].iter().chain(&items.intercept).copied().collect()
}

fn unpack(model: Model, x: &[f64], n_stimuli: usize) -> Items {
    let (a, d) = x.split_at(x.len() - n_stimuli);
    let discrimination = match model {
        Model::OnePl => vec![a[0]; n_stimuli],
        Model::TwoPl => a.to_vec(),
    };
    Items { discrimination, intercept: d.to_vec() }
}

fn gradient(model: Model, blocks: &[Block]) -> Vec<f64> {
    let d = blocks.iter().map(|block| block.slope_d);
    match model {
        Model::OnePl => {
            std::iter::once(blocks.iter().map(|block| block.slope_a).sum()).chain(d).collect()
        }
        Model::TwoPl => blocks.iter().map(|block| block.slope_a).chain(d).collect(),
    }
}

/// The information complete data would have: a small block per stimulus, or an arrow when all
/// share one discrimination.
#[derive(Debug, Clone)]
pub(super) struct Information {
    model: Model,
    /// Per stimulus: `aa`, `ad`, `dd`; `aa` of a common discrimination is the sum over stimuli.
    aa: Vec<f64>,
    ad: Vec<f64>,
    dd: Vec<f64>,
    /// What is left of a common discrimination's information when intercepts are unknown.
    head: f64,
}

/// Keeps a matrix invertible when rounding would not.
const RIDGE: f64 = 1e-10;

impl Information {
    pub(super) fn new(model: Model, prior: Prior, items: &Items, blocks: &[Block]) -> Self {
        let own = match model {
            Model::OnePl => items.discrimination.get(..1),
            Model::TwoPl => Some(items.discrimination.as_slice()),
        };
        // There is no stimulus at all to fit when each has only one kind of answer.
        let prior_a = match own {
            None | Some([]) => RIDGE,
            Some(own) => prior.precision(own).max(RIDGE),
        };
        let aa = match model {
            Model::OnePl => vec![prior_a + blocks.iter().map(|block| block.info_aa).sum::<f64>()],
            Model::TwoPl => blocks.iter().map(|block| prior_a + block.info_aa).collect(),
        };
        let ad: Vec<f64> = blocks.iter().map(|block| block.info_ad).collect();
        let dd: Vec<f64> = blocks.iter().map(|block| RIDGE + block.info_dd).collect();
        let taken: f64 = ad.iter().zip(&dd).map(|(ad, dd)| ad * ad / dd).sum();
        let head = (aa.first().copied().unwrap_or(RIDGE) - taken).max(RIDGE);
        Self { model, aa, ad, dd, head }
    }

    /// Returns how many parameters there are.
    pub(super) fn n_parameters(&self) -> usize {
        self.aa.len() + self.dd.len()
    }

    /// Returns the place of a stimulus' discrimination among the parameters.
    pub(super) fn place_a(&self, stimulus_idx: usize) -> usize {
        if self.model == Model::OnePl { 0 } else { stimulus_idx }
    }

    /// Returns the place of a stimulus' intercept among the parameters.
    pub(super) fn place_d(&self, stimulus_idx: usize) -> usize {
        self.aa.len() + stimulus_idx
    }

    /// Returns the information of a stimulus' own parameters: `aa`, `ad`, `dd`.
    pub(super) fn own(&self, stimulus_idx: usize) -> (f64, f64, f64) {
        (self.aa[self.place_a(stimulus_idx)], self.ad[stimulus_idx], self.dd[stimulus_idx])
    }

    /// Returns the inverse applied to a row of numbers.
    pub(super) fn solved(&self, row: &[f64]) -> Vec<f64> {
        let (a, d) = row.split_at(self.aa.len());
        let mut solved = vec![0.0; row.len()];
        let (solved_a, solved_d) = solved.split_at_mut(self.aa.len());
        match self.model {
            Model::OnePl => {
                let mut rest = a[0];
                for (at, d) in d.iter().enumerate() {
                    rest -= self.ad[at] / self.dd[at] * d;
                }
                solved_a[0] = rest / self.head;
                for (at, d) in d.iter().enumerate() {
                    solved_d[at] = (d - self.ad[at] * solved_a[0]) / self.dd[at];
                }
            }
            Model::TwoPl => {
                for (at, (a, d)) in a.iter().zip(d).enumerate() {
                    let determinant = self.determinant(at);
                    solved_a[at] = (self.dd[at] * a - self.ad[at] * d) / determinant;
                    solved_d[at] = (self.aa[at] * d - self.ad[at] * a) / determinant;
                }
            }
        }
        solved
    }

    /// Returns the inverse's entries of a stimulus' own parameters: `aa`, `ad`, `dd`.
    pub(super) fn inverse_own(&self, stimulus_idx: usize) -> (f64, f64, f64) {
        let (aa, ad, dd) = self.own(stimulus_idx);
        match self.model {
            Model::OnePl => {
                let ratio = ad / dd;
                (1.0 / self.head, -ratio / self.head, 1.0 / dd + ratio * ratio / self.head)
            }
            Model::TwoPl => {
                let determinant = self.determinant(stimulus_idx);
                (dd / determinant, -ad / determinant, aa / determinant)
            }
        }
    }

    fn determinant(&self, at: usize) -> f64 {
        let product = self.aa[at] * self.dd[at];
        (product - self.ad[at] * self.ad[at]).max(1e-12 * product)
    }
}

/// Returns the limited-memory quasi-Newton step (Nocedal 1980), EM's step at its heart.
fn direction(
    information: &Information,
    memory: &VecDeque<(Vec<f64>, Vec<f64>)>,
    slope: &[f64],
) -> Vec<f64> {
    let mut row = slope.to_vec();
    let mut shares = Vec::with_capacity(memory.len());
    for (moved, bent) in memory.iter().rev() {
        let share = dot(moved, &row) / dot(moved, bent);
        row.iter_mut().zip(bent).for_each(|(row, bent)| *row -= share * bent);
        shares.push(share);
    }
    let mut step = information.solved(&row);
    for ((moved, bent), share) in memory.iter().zip(shares.iter().rev()) {
        let back = share - dot(bent, &step) / dot(moved, bent);
        step.iter_mut().zip(moved).for_each(|(step, moved)| *step += back * moved);
    }
    step
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
