//! Speed and accuracy: how right answers grow with the time people are given.
//!
//! A stimulus is shown, a beep asks for the answer after a time that is the same within a block.
//! Findings are curves of accuracy over time (average, by condition, by participant), fitted by a
//! Weibull curve, with its steepness, distances between curves, and how far people themselves
//! agree. The page is `docs/methods/speed-accuracy.md`.
//!
//! # Intervals
//!
//! Of averages: the bootstrap over participants, everything but ceilings (see `ceiling.rs`)
//! recomputed in each draw, with expanded percentiles (see `resample.rs`). With fewer than five participants each draw also redraws every
//! answer (with its cell's share of right ones), because so few people drawn again are too often
//! the same people. Of one participant: redrawn answers alone, plain percentiles.
//!
//! # References
//!
//! - A. Subramanian et al. (2022), "SATBench: benchmarking the speed-accuracy tradeoff in object
//!   recognition by humans and dynamic neural networks".
//! - B. McElree and M. Carrasco (1999), "The temporal dynamics of visual search".

mod ceiling;
mod doubts;
mod findings;
mod numbers;
mod single;
pub mod steepness;
mod table;
pub mod weibull;
mod window;

use mohs_data::{Caveats, Estimate, Exclusion, ExclusionRules, Label, Millis, Seed, Task, Trial};
use rayon::prelude::*;

pub use self::findings::{
    BandPoint, Category, Ceiling, Curve, CurvePoint, Difference, Fit, Method, ParticipantCurves,
    SpeedAccuracy,
};
use self::numbers::{Apart, FittedCurve, Numbers, Plan, numbers};
use self::steepness::Scaling;
use self::table::{Counted, Table};
use self::weibull::{Criterion, Model};
use self::window::Reading;
pub use self::window::{TimeOuts, Window};
use super::exclusion;
use super::viewing_time::chance_of_right_guess;
use crate::draw::Draw;
use crate::proportion::{real, wilson_of_share};
use crate::resample::percentile_of_few;

/// Participants from which drawing them again is enough; below, their answers are redrawn too.
const N_ENOUGH: usize = 5;

const PEOPLE: u64 = 50;
const ANSWERS: u64 = 51;
const TIMES: u64 = 52;

/// How to score.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// When an answer counts.
    pub window: Window,
    /// Trials to drop at the start of each block.
    pub drop_first: usize,
    /// What happens to time-outs.
    pub time_outs: TimeOuts,
    /// Whether fits start from guessing; else from zero.
    pub chance_floor: bool,
    /// Whether fits may end below 1.
    pub free_asymptote: bool,
    /// What fits minimise.
    pub criterion: Criterion,
    /// Axes on which steepness is taken.
    pub scaling: Scaling,
    /// Chance of a right guess; one over the number of labels seen when not given.
    pub guess_rate: Option<f64>,
    /// Confidence of all intervals.
    pub confidence: f64,
    /// Bootstrap draws.
    pub n_resamples: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            window: Window::default(),
            drop_first: 0,
            time_outs: TimeOuts::default(),
            chance_floor: true,
            free_asymptote: true,
            criterion: Criterion::default(),
            scaling: Scaling::default(),
            guess_rate: None,
            confidence: 0.95,
            n_resamples: 1_000,
        }
    }
}

/// Everything scoring needs.
#[derive(Debug, Clone, Copy)]
pub struct Input<'a> {
    /// The trials; only beep trials are used.
    pub trials: &'a [Trial],
    /// Number of answers participants chose from; `None` counts the labels seen.
    pub n_labels: Option<usize>,
    /// Which data the study sets aside.
    pub rules: &'a ExclusionRules,
    /// How to score.
    pub options: &'a Options,
    /// Seed of the bootstrap.
    pub seed: Seed,
}

/// Why trials cannot be scored.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Error {
    /// No beep trial at all.
    #[error("there is no beep trial among {n_trials} trials")]
    NoBeepTrials {
        /// Trials given.
        n_trials: usize,
    },
    /// The rules set everything aside.
    #[error("the exclusion rules set aside all {n_trials} beep trials; `{rule}` took the most")]
    NothingLeft {
        /// Trials before exclusions.
        n_trials: usize,
        /// The rule that took most.
        rule: String,
    },
    /// An answer cannot be judged.
    #[error(
        "trial `{trial}` has an answer but neither a label nor a mark says whether it is right"
    )]
    NotJudged {
        /// The trial.
        trial: String,
    },
    /// An option is out of range.
    #[error("{name} should be {expected}, found {found}")]
    BadOption {
        /// The option.
        name: &'static str,
        /// What it may be.
        expected: &'static str,
        /// What it was.
        found: f64,
    },
}

/// Scores beep trials: findings, and what was set aside.
///
/// The order of trials does not matter.
pub fn score(input: &Input<'_>) -> Result<(SpeedAccuracy, Vec<Exclusion>), Error> {
    let options = input.options;
    check(options)?;
    let asked: Vec<Trial> =
        input.trials.iter().filter(|trial| trial.task == Task::Beep).cloned().collect();
    if asked.is_empty() {
        return Err(Error::NoBeepTrials { n_trials: input.trials.len() });
    }
    if let Some(trial) = asked.iter().find(|trial| trial.is_correct().is_none()) {
        return Err(Error::NotJudged { trial: trial.id.to_string() });
    }
    let reading = Reading::of(&asked);
    let mut applied = exclusion::apply(&asked, input.rules);
    let timed = window::apply(&mut applied, options, reading);
    if applied.kept.is_empty() {
        let most = applied.counts.iter().max_by_key(|count| count.n_trials);
        let rule = most.map_or_else(String::new, |count| count.rule.clone());
        return Err(Error::NothingLeft { n_trials: asked.len(), rule });
    }
    let mut caveats = Caveats::default();
    let guess_rate =
        chance_of_right_guess(options.guess_rate, input.n_labels, &applied.kept, &mut caveats);
    let counted = Counted::new(&applied.kept, reading);
    let study = Study::new(&counted, guess_rate, options, input.seed);
    let (point, draws) = study.draw();
    let sampled = Sampled { study: &study, point: &point, draws: &draws };
    let mut curves = sampled.curves();
    let average = curves.remove(0);
    let mut findings = SpeedAccuracy {
        method: Method {
            window: options.window,
            drop_first: options.drop_first,
            time_outs: options.time_outs,
            guess_rate,
            chance_floor: options.chance_floor,
            free_asymptote: options.free_asymptote,
            criterion: options.criterion,
            scaling: options.scaling,
            confidence: options.confidence,
            n_resamples: options.n_resamples,
            redraws_answers: study.redraws_answers(),
            seed: input.seed.0,
        },
        n_trials_read: asked.len(),
        n_trials: applied.kept.len(),
        n_time_outs: applied.kept.iter().filter(|trial| reading.is_time_out(trial)).count(),
        n_participants: counted.participants.len(),
        exclusions: applied.counts,
        beeps: counted.beeps.clone(),
        average,
        conditions: curves,
        participants: single::participants(&study),
        categories: sampled.categories(),
        differences: sampled.differences(),
        ceilings: ceiling::ceilings(&study),
        caveats,
    };
    doubts::add(&mut findings, &timed, &applied.kept, reading, options);
    Ok((findings, applied.exclusions))
}

fn check(options: &Options) -> Result<(), Error> {
    let between = |name, value: f64| {
        let is_inside = 0.0 < value && value < 1.0;
        let error = Error::BadOption { name, expected: "between 0 and 1", found: value };
        if is_inside { Ok(()) } else { Err(error) }
    };
    between("confidence", options.confidence)?;
    options.guess_rate.map_or(Ok(()), |guess_rate| between("guess rate", guess_rate))?;
    if options.n_resamples == 0 {
        let (name, expected) = ("number of draws", "at least 1");
        return Err(Error::BadOption { name, expected, found: 0.0 });
    }
    if let Window::Between { before, after } = options.window {
        for side in [before, after] {
            if side.value() < 0.0 {
                let (name, expected) = ("window", "of times that are not negative");
                return Err(Error::BadOption { name, expected, found: side.value() });
            }
        }
    }
    Ok(())
}

/// The data and how to look at them.
struct Study<'a> {
    counted: &'a Counted<'a>,
    table: Table,
    beeps: Vec<f64>,
    guess_rate: f64,
    options: &'a Options,
    seed: Seed,
}

impl<'a> Study<'a> {
    fn new(counted: &'a Counted<'a>, guess_rate: f64, options: &'a Options, seed: Seed) -> Self {
        let beeps = counted.beeps.iter().map(|beep| beep.value()).collect();
        Self { counted, table: counted.table(), beeps, guess_rate, options, seed }
    }

    fn redraws_answers(&self) -> bool {
        self.counted.participants.len() < N_ENOUGH
    }

    /// Returns the model of a group, for everybody or for one participant. Who does not answer
    /// cannot guess: where time-outs count as errors, the floor is guessing times the share
    /// answered in the first block.
    fn model(&self, group: usize, participants: std::ops::Range<usize>) -> Model {
        let first = (0..self.beeps.len()).find_map(|b| {
            let blocks = participants.clone().map(|p| &self.table.blocks(p, group)[b]);
            let n: f64 = blocks.clone().map(|block| block.n).sum();
            let n_time_outs: usize = blocks.map(|block| block.n_time_outs).sum();
            (0.0 < n).then(|| 1.0 - real(n_time_outs) / n)
        });
        let floor = self.guess_rate * first.unwrap_or(1.0);
        Model {
            floor: if self.options.chance_floor { floor } else { 0.0 },
            free_asymptote: self.options.free_asymptote,
            criterion: self.options.criterion,
        }
    }

    /// Returns how often each participant is in a draw.
    fn weights(&self, draw_idx: usize) -> Vec<f64> {
        let n = self.counted.participants.len();
        let mut people = Draw::new(self.seed, &[PEOPLE, draw_idx as u64]);
        let mut weights = vec![0.0; n];
        for _ in 0..n {
            weights[people.below(n)] += 1.0;
        }
        weights
    }

    /// Computes all numbers of the sample and of each draw from it, in order.
    fn draw(&self) -> (Numbers, Vec<Numbers>) {
        let n = self.counted.participants.len();
        let models = (0..self.table.n_groups).map(|g| self.model(g, 0..n)).collect();
        let mut plan =
            Plan { beeps: &self.beeps, models, scaling: self.options.scaling, known: None };
        let point = numbers(&self.table, &vec![1.0; n], &plan);
        plan.known = Some(&point);
        let draws = (0..self.options.n_resamples)
            .into_par_iter()
            .map(|draw_idx| {
                let stream = |key| Draw::new(self.seed, &[key, draw_idx as u64]);
                let weights = self.weights(draw_idx);
                if self.redraws_answers() {
                    let table = self.counted.redrawn(stream(ANSWERS), stream(TIMES));
                    numbers(&table, &weights, &plan)
                } else {
                    numbers(&self.table, &weights, &plan)
                }
            })
            .collect();
        (point, draws)
    }
}

/// Numbers of the sample and of its draws, from which estimates are made.
struct Sampled<'a> {
    study: &'a Study<'a>,
    point: &'a Numbers,
    draws: &'a [Numbers],
}

impl Sampled<'_> {
    /// Returns a number of `n` participants with the interval of its draws.
    fn estimate(&self, n: usize, of: impl Fn(&Numbers) -> Option<f64>) -> Option<Estimate> {
        let draws: Vec<f64> = self.draws.iter().filter_map(&of).collect();
        percentile_of_few(of(self.point)?, &draws, self.study.options.confidence, n, n)
    }

    /// Returns a mean share of participants, its interval widened where Wilson's, with all trials
    /// for independent, is wider: when everybody is right the draws cannot vary.
    fn share(
        &self,
        n: usize,
        n_trials: usize,
        of: impl Fn(&Numbers) -> Option<f64>,
    ) -> Option<Estimate> {
        let drawn = self.estimate(n, of)?;
        let value = drawn.value.clamp(0.0, 1.0);
        let plain = wilson_of_share(value, n_trials, drawn.confidence)?;
        let (low, high) = (drawn.low.min(plain.low), drawn.high.max(plain.high));
        Estimate::new(value, low, high, drawn.confidence, n)
    }

    fn curves(&self) -> Vec<Curve> {
        (0..self.study.table.n_groups).map(|g| self.curve(g)).collect()
    }

    /// Returns the participants with trials in a group.
    fn members(&self, g: usize) -> Vec<usize> {
        let table = &self.study.table;
        let has_trials = |p: &usize| table.blocks(*p, g).iter().any(|block| 0.0 < block.n);
        (0..table.n_participants).filter(has_trials).collect()
    }

    fn curve(&self, g: usize) -> Curve {
        let table = &self.study.table;
        let members = self.members(g);
        let points: Vec<CurvePoint> =
            (0..table.n_beeps).filter_map(|b| self.point_of(g, b, &members)).collect();
        let n = members.len();
        let weibull = |read: fn(&weibull::Weibull) -> f64| {
            self.estimate(n, |numbers| numbers.groups[g].curve.weibull().map(read))
        };
        let known = &self.point.groups[g].curve;
        let band = known
            .times
            .iter()
            .enumerate()
            .filter_map(|(idx, time)| {
                let at = |numbers: &Numbers| numbers.groups[g].curve.drawn.get(idx).copied();
                Some(BandPoint { time: Millis::new(*time)?, accuracy: self.estimate(n, at)? })
            })
            .collect();
        Curve {
            condition: self.study.counted.groups[g].clone(),
            n_participants: n,
            n_trials: points.iter().map(|point| point.n_trials).sum(),
            fit: fit_finding(known, self.study.options, weibull),
            steepness: self.estimate(n, |numbers| numbers.groups[g].curve.steepness),
            points,
            band,
        }
    }

    fn point_of(&self, g: usize, b: usize, members: &[usize]) -> Option<CurvePoint> {
        let study = self.study;
        let blocks = || members.iter().map(|p| &study.table.blocks(*p, g)[b]);
        let shares: Vec<f64> = blocks().filter_map(|block| block.share()).collect();
        let times: Vec<f64> = blocks().filter_map(|block| block.mean_time()).collect();
        let n_trials = count(blocks().map(|block| block.n).sum());
        let accuracy =
            self.share(shares.len(), n_trials, |numbers| numbers.groups[g].accuracy[b])?;
        let rt_ms = self.estimate(times.len(), |numbers| numbers.groups[g].rt[b]);
        let beep = study.counted.beeps[b];
        Some(CurvePoint {
            beep,
            time: rt_ms.and_then(|rt| Millis::new(rt.value)).unwrap_or(beep),
            accuracy,
            accuracy_se: standard_error(&shares),
            rt_ms,
            rt_se_ms: standard_error(&times),
            n_trials,
            n_time_outs: blocks().map(|block| block.n_time_outs).sum(),
        })
    }

    fn categories(&self) -> Vec<Category> {
        let (table, labels) = (&self.study.table, &self.study.counted.labels);
        let n_labels = labels.len();
        let accuracy = |k: usize, b: usize| {
            let place = b * n_labels + k;
            let n = (0..table.n_participants)
                .filter(|p| table.categories(*p, 0)[place].is_some())
                .count();
            self.estimate(n, |numbers| numbers.groups[0].categories[place])
        };
        let category = |(k, label): (usize, &&Label)| Category {
            label: (*label).clone(),
            accuracy: (0..table.n_beeps).map(|b| accuracy(k, b)).collect(),
        };
        labels.iter().enumerate().map(category).collect()
    }

    fn differences(&self) -> Vec<Difference> {
        let groups = &self.study.counted.groups;
        numbers::pairs(groups.len())
            .into_iter()
            .enumerate()
            .filter_map(|(idx, (a, b))| {
                let n = self.members(a).len().min(self.members(b).len());
                let of = |read: fn(&Apart) -> f64| {
                    self.estimate(n, move |numbers| numbers.differences[idx].as_ref().map(read))
                };
                Some(Difference {
                    a: groups[a].clone(),
                    b: groups[b].clone(),
                    n_blocks: self.point.differences[idx]?.n_blocks,
                    rmse: of(|apart| apart.rmse)?,
                    mean_difference: of(|apart| apart.mean_difference)?,
                })
            })
            .collect()
    }
}

/// Makes a fit's findings; `estimate` reads a number off the curve and gives it an interval.
fn fit_finding(
    known: &FittedCurve,
    options: &Options,
    estimate: impl Fn(fn(&weibull::Weibull) -> f64) -> Option<Estimate>,
) -> Option<Fit> {
    let fitted = known.fitted?;
    let squares = known.points.iter().map(|p| (p.share - fitted.curve.at(p.time)).powi(2));
    let asymptote = estimate(|curve| curve.asymptote);
    Some(Fit {
        scale_ms: estimate(|curve| curve.scale)?,
        shape: estimate(|curve| curve.shape)?,
        asymptote: asymptote.filter(|_| options.free_asymptote),
        floor: fitted.curve.floor,
        rmse: (squares.sum::<f64>() / real(known.points.len())).sqrt(),
        is_at_bound: fitted.is_at_bound,
    })
}

/// Returns the standard error of a mean, with the variance of a sample (n - 1); `None` below two.
fn standard_error(values: &[f64]) -> Option<f64> {
    if values.len() < 2 {
        return None;
    }
    let (n, mean) = (real(values.len()), crate::correlation::mean(values));
    let variance = values.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (n - 1.0);
    Some((variance / n).sqrt())
}

/// Turns a sum of counts back into a count.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a sum of counts is a count"
)]
fn count(n: f64) -> usize {
    n.round() as usize
}
