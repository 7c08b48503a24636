//! The smallest ε: how strong must an attack be to change a model's answer to a picture?
//!
//! Each picture is attacked by every attack of a [`Plan`], ε by ε, as the search asks for it
//! (`search.rs`). Pictures, attacks and restarts share batches: `clerk.rs` collects what runs want
//! to know and asks the engine one by one, or with full batches where it is told so; one by one,
//! neither the number of pictures at work nor threads change a number. What came of each ε is
//! kept in the journal (`attempt.rs`), so that a run that was stopped goes on where it stopped, and
//! an exact search knows what a fast one found.
//!
//! A picture that no ε changes is a row that says so. Nothing here knows people's difficulty.

mod attempt;
mod audit;
mod clerk;
mod doubt;
mod examples;
mod grid;
mod picture;
mod search;

use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;

use mohs_data::{Flag, Goal, Label, MinEpsilon, ModelName, Norm, Seed, Stimulus};

use audit::Audit;
pub use examples::{Example, ExampleWriter, is_for_examples};
pub use grid::{Grid, GridError};
pub use search::Mode;

use crate::engine::Engine;
use crate::evaluate::Candidate;
use crate::evaluate::journal::{Journal, JournalError};
use crate::network::{Network, NetworkError};
use crate::pixels::DecodeOptions;
use crate::probe::attack::white_box::{Calls, Slope, WhiteBox, WhiteBoxError};
use crate::probe::attack::{Attack, Kind, LossName, Settings};

/// An attack with everything that is said about it.
#[derive(Debug, Clone)]
pub struct Planned {
    /// The attack.
    pub attack: &'static Attack,
    /// How it is done.
    pub settings: Settings,
    /// The strengths it is tried at.
    pub grid: Grid,
}

impl Planned {
    /// How often trying the whole grid from scratch asks for one picture: answers and slopes, each
    /// run to its end. `None` for attacks without a grid.
    pub fn calls_of_sweep(&self) -> Option<(u64, u64)> {
        let n = self.grid.len() as u64;
        let settings = &self.settings;
        match self.attack.kind {
            Kind::Minimal => None,
            Kind::BlackBox => Some((n * (settings.n_queries as u64 + 1), 0)),
            Kind::WhiteBox => {
                let steps = |epsilon: &f64| match self.attack.name {
                    "ffgsm" => 1,
                    "apgd" => settings.steps.at(*epsilon) + 1,
                    _ => settings.steps.at(*epsilon),
                };
                let steps: usize = self.grid.epsilons().iter().map(steps).sum();
                let passes = match self.attack.name {
                    "eotpgd" | "upgd" | "apgd" => settings.eot,
                    _ => 1,
                };
                Some((n, (steps * passes) as u64))
            }
        }
    }
}

/// What is to be attacked, and how.
#[derive(Debug, Clone, Copy)]
pub struct Job<'a> {
    /// The model, with what its input and its outputs mean.
    pub candidate: &'a Candidate,
    /// The stimuli, in the order of the rows.
    pub stimuli: &'a [Stimulus],
    /// The folder that files of stimuli are relative to.
    pub folder: &'a Path,
    /// How files become pixels.
    pub decoding: &'a DecodeOptions,
    /// The attacks on pictures that the model gets right.
    pub attacks: &'a [Planned],
    /// The attacks on pictures that the model gets wrong, which look for the smallest ε that puts
    /// it right; empty for none.
    pub corrections: &'a [Planned],
    /// The answer that attacks are after; `None` for any wrong one.
    pub target: Option<&'a Label>,
    /// How the smallest ε is looked for.
    pub mode: Mode,
    /// Where random numbers come from.
    pub seed: Seed,
    /// Whether every ε draws its own random numbers.
    pub noise: Noise,
    /// How many pictures are at work at the same time.
    pub n_at_once: NonZeroUsize,
    /// How many examples the engine gets at once; with more than one, rows may depend on the others.
    pub engine_batch: NonZeroUsize,
    /// Where attempts are kept; `None` to keep nothing.
    pub cache: Option<&'a Path>,
    /// Whether changed pictures are wanted.
    pub keeps_examples: bool,
    /// Whether every attempt is wanted.
    pub keeps_attempts: bool,
}

/// Where the random numbers of one ε come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Noise {
    /// They are those of every other ε: a larger ε scales the same noise.
    #[default]
    Common,
    /// Every ε draws its own, as looping over torchattacks does; the smallest ε that succeeds is
    /// then also the luckiest.
    Fresh,
}

/// An attack that cannot be done.
#[derive(Debug, thiserror::Error)]
pub enum MinEpsilonError {
    /// The model cannot be attacked at all.
    #[error(transparent)]
    Model(#[from] WhiteBoxError),
    /// An attack needs slopes that the model has not.
    #[error("the attack `{attack}` needs gradients, which cannot be derived from this model")]
    NoGradient {
        /// The attack.
        attack: &'static str,
        /// Why not.
        source: WhiteBoxError,
    },
    /// An attack cannot aim.
    #[error("the attack `{attack}` cannot aim at a chosen answer")]
    NotTargetable {
        /// The attack.
        attack: &'static str,
    },
    /// The target is none of the labels.
    #[error("the target `{found}` is none of the model's labels")]
    UnknownTarget {
        /// What was asked for.
        found: Label,
        /// The labels there are, in the order of the model's outputs.
        known: Vec<Label>,
    },
    /// There is no other answer.
    #[error("the model should tell at least 2 labels apart, found {found}")]
    TooFewLabels {
        /// How many there are.
        found: usize,
    },
    /// A loss that compares three labels, and fewer of them.
    #[error("the loss `dlr` of `{attack}` should have at least 3 labels to compare, found {found}")]
    TooFewForRatio {
        /// The attack.
        attack: &'static str,
        /// How many there are.
        found: usize,
    },
    /// Nobody knows which answers are right.
    #[error("nothing says which output stands for which label, so nobody knows what is right")]
    NoTruth,
    /// The cache cannot be used.
    #[error(transparent)]
    Journal(#[from] JournalError),
}

impl From<NetworkError> for MinEpsilonError {
    fn from(error: NetworkError) -> Self {
        MinEpsilonError::Model(error.into())
    }
}

/// What came of one picture.
#[derive(Debug)]
pub struct Delivered {
    /// One row per attack.
    pub rows: Vec<MinEpsilon>,
    /// One row per correction; empty if the model is right.
    pub corrected: Vec<MinEpsilon>,
    /// Changed pictures, if they are wanted.
    pub examples: Vec<Example>,
    /// Every attempt, if they are wanted.
    pub attempts: Vec<AttemptRow>,
}

/// One run of one attack with one ε.
#[derive(Debug, Clone, PartialEq)]
pub struct AttemptRow {
    /// The attack.
    pub attack: &'static str,
    /// What it is after.
    pub goal: Goal,
    /// How strong it is.
    pub epsilon: f64,
    /// Whether it reaches its aim.
    pub is_reached: bool,
    /// The margin in the end; the aim is reached below 0.
    pub margin: f32,
    /// The smallest margin on the way, the last one included.
    pub least: f32,
    /// How often the model was asked for an answer.
    pub n_forward: u64,
    /// How often the model was asked for an answer and a slope.
    pub n_gradient: u64,
}

/// Everything that was checked and can run.
#[derive(Debug)]
pub struct Plan<'a> {
    job: Job<'a>,
    audit: Audit<'a>,
    model: WhiteBox,
    is_probability: bool,
}

/// How much work was done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tally {
    /// How often the model was asked in this run, whatever rows count.
    pub calls: Calls,
    /// How many attempts were known from earlier runs.
    pub n_known: u64,
}

/// Weights above this many bytes are not loaded once per thread.
const MAX_BYTES_PER_CLERK: usize = 48 << 20;

/// Reads the model and makes sure that every attack can be done.
pub fn plan<'a>(job: Job<'a>, engine: &Engine) -> Result<Plan<'a>, MinEpsilonError> {
    if !job.candidate.labels().has_truth() {
        return Err(MinEpsilonError::NoTruth);
    }
    let network = Network::read(job.candidate.path())?;
    let labels = job.candidate.labels();
    let model =
        WhiteBox::new(&network, job.candidate.spec(), labels)?.with_engine_batch(job.engine_batch);
    if model.n_labels() < 2 {
        return Err(MinEpsilonError::TooFewLabels { found: model.n_labels() });
    }
    if let Some(target) = job.target {
        let known = labels.class_of(target);
        known.ok_or_else(|| MinEpsilonError::UnknownTarget {
            found: target.clone(),
            known: labels.all().cloned().collect(),
        })?;
    }
    let aimed = job.corrections.iter().chain(job.attacks.iter().filter(|_| job.target.is_some()));
    for planned in aimed {
        let is_margin = planned.settings.loss == LossName::LogitsRatio;
        if !planned.attack.is_targetable || is_margin {
            return Err(MinEpsilonError::NotTargetable { attack: planned.attack.name });
        }
    }
    let mut checked: Vec<Slope> = Vec::new();
    for planned in job.attacks.iter().chain(job.corrections) {
        let Some(slope) = slope_of(planned) else { continue };
        if slope == Slope::LogitsRatio && model.n_labels() < 3 {
            let (attack, found) = (planned.attack.name, model.n_labels());
            return Err(MinEpsilonError::TooFewForRatio { attack, found });
        }
        if !checked.contains(&slope) {
            model.check(&[slope], engine).map_err(|source| MinEpsilonError::NoGradient {
                attack: planned.attack.name,
                source,
            })?;
            checked.push(slope);
        }
    }
    let audit = Audit::draw(&job);
    Ok(Plan { job, audit, model, is_probability: network.answers_with_probabilities() })
}

/// What an attack has to know of the model beside answers.
fn slope_of(planned: &Planned) -> Option<Slope> {
    match (planned.attack.name, planned.attack.kind) {
        (_, Kind::BlackBox) => None,
        ("tpgd", _) => Some(Slope::Divergence),
        ("jitter", _) => Some(Slope::Jitter),
        ("fmn" | "fmn-l2", _) => Some(Slope::Margin),
        _ => Some(match planned.settings.loss {
            LossName::CrossEntropy => Slope::CrossEntropy,
            LossName::Margin => Slope::Margin,
            LossName::LogitsRatio => Slope::LogitsRatio,
        }),
    }
}

impl Plan<'_> {
    /// Whether the model draws random numbers: results then change from run to run.
    pub fn is_model_random(&self) -> bool {
        self.model.is_random()
    }

    /// Attacks all pictures; `deliver` gets what came of each, in the order of the stimuli.
    ///
    /// An error of the engine or of `deliver` ends the run; attempts that were finished are kept.
    pub fn run<E: From<MinEpsilonError>>(
        &self,
        engine: &Engine,
        mut deliver: impl FnMut(&Stimulus, Delivered) -> Result<(), E>,
    ) -> Result<Tally, E> {
        let journal = match self.job.cache {
            Some(folder) => {
                let key = self.job.candidate.key_for_attacks(self.job.engine_batch);
                Journal::open(folder, &key, "attack").map_err(MinEpsilonError::from)?
            }
            None => Journal::none(),
        };
        let n_threads = engine.n_threads();
        let is_large = MAX_BYTES_PER_CLERK < self.model.n_bytes();
        let n_clerks = if is_large { 1 } else { n_threads };
        let n_clerks = n_clerks.min(self.job.n_at_once.get()).min(self.job.stimuli.len()).max(1);
        let engine = engine.with_threads(n_threads / n_clerks);
        let shared = Shared { next: AtomicUsize::new(0), is_over: AtomicBool::new(false) };
        let (sender, receiver) = mpsc::channel();
        std::thread::scope(|scope| {
            for number in 0..n_clerks {
                let sender = sender.clone();
                let (shared, journal, engine) = (&shared, &journal, &engine);
                // The first clerks take what cannot be shared out evenly.
                let share = (self.job.n_at_once.get() + n_clerks - 1 - number) / n_clerks;
                scope.spawn(move || {
                    let worked = clerk::work(self, shared, journal, engine, share, &sender);
                    let _ = sender.send(Sent::End(worked));
                });
            }
            drop(sender);
            let over = |error: E| {
                shared.is_over.store(true, Ordering::Relaxed);
                Err(error)
            };
            let mut waiting = std::collections::BTreeMap::new();
            let (mut n_delivered, mut tally) = (0, Tally::default());
            for sent in receiver {
                match sent {
                    Sent::Picture(idx, delivered) => {
                        waiting.insert(idx, *delivered);
                        while let Some(delivered) = waiting.remove(&n_delivered) {
                            let stimulus = &self.job.stimuli[n_delivered];
                            if let Err(error) = deliver(stimulus, delivered) {
                                return over(error);
                            }
                            n_delivered += 1;
                        }
                    }
                    Sent::End(Ok(worked)) => tally.add(worked),
                    Sent::End(Err(error)) => return over(error.into()),
                }
            }
            Ok(tally)
        })
    }

    /// Signs that hold for every picture.
    fn flags_of_model(&self) -> Vec<Flag> {
        if self.is_probability { vec![Flag::Probabilities] } else { Vec::new() }
    }

    fn model_name(&self) -> &ModelName {
        self.job.candidate.name()
    }
}

impl Tally {
    fn add(&mut self, other: Tally) {
        self.calls.n_answers += other.calls.n_answers;
        self.calls.n_gradients += other.calls.n_gradients;
        self.calls.n_filling += other.calls.n_filling;
        self.n_known += other.n_known;
    }
}

/// What clerks share.
#[derive(Debug)]
struct Shared {
    /// The next picture that nobody has taken.
    next: AtomicUsize,
    /// Whether results are no longer wanted.
    is_over: AtomicBool,
}

/// What clerks send.
enum Sent {
    Picture(usize, Box<Delivered>),
    End(Result<Tally, MinEpsilonError>),
}

/// The size of a change.
fn size_of(norm: Norm, x: &[f32], z: &[f32]) -> f64 {
    f64::from(match norm {
        Norm::Linf => crate::probe::attack::linf_distance(x, z),
        Norm::L2 => crate::probe::attack::l2_distance(x, z),
    })
}

#[cfg(test)]
mod tests;
