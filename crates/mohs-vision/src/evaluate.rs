//! Evaluations: every model of a manifest answers every stimulus under every probe.
//!
//! A [`Plan`] is made first: models are read, labels, probes and preparation are held against each
//! other, and whatever does not fit is an error before any model runs. Then each model runs over
//! the stimuli; a stimulus is read and decoded once for all its probes, and one that cannot be is a
//! failed prediction, not an error. What models answered is kept in a [`journal`], so that nothing
//! is asked twice. Rows come in the order of models, stimuli and probes. A model may also be behind
//! an endpoint ([`Remote`]); it is asked about the same pictures.
//!
//! This module measures nothing and judges nobody; it does not know people's difficulty.

pub mod journal;
mod model;
mod preparation;
mod remote;
mod rows;
pub mod side_table;

use std::num::NonZeroUsize;
use std::ops::Range;
use std::path::{Path, PathBuf};

use mohs_data::{Decode, FileError, Manifest, ModelName, Prediction, Seed, Stimulus};
use mohs_graph::cut::CutError;

use crate::endpoint::EndpointError;
use crate::engine::Engine;
use crate::labels::LabelError;
use crate::network::NetworkError;
use crate::pixels::DecodeOptions;
use crate::probe::{Probe, ProbeError};

use journal::JournalError;

pub use model::Candidate;
pub use preparation::PreparationError;
pub use remote::{Contender, Remote};
pub use rows::{Inquiry, Lack, Row, Tally};

pub(crate) use rows::reason;

/// An evaluation that cannot be done.
#[derive(Debug, thiserror::Error)]
pub enum EvaluateError {
    /// Something does not fit a model.
    #[error("the model `{model}` cannot be evaluated")]
    Model {
        /// The model.
        model: ModelName,
        /// What does not fit.
        source: Box<ModelProblem>,
    },
    /// A model cannot be asked, or not any longer.
    #[error("the model `{model}` cannot be asked")]
    Endpoint {
        /// The model.
        model: ModelName,
        /// Why not.
        source: Box<EndpointError>,
    },
    /// A probe is not understood.
    #[error(transparent)]
    Probe(#[from] ProbeError),
    /// The manifest has no model of this name.
    #[error("the manifest has no model `{found}`; it has: {}", known.join(", "))]
    UnknownModel {
        /// The name.
        found: String,
        /// The names there are.
        known: Vec<String>,
    },
    /// Not one file of the stimuli is there.
    #[error("none of the {n_stimuli} pictures is there; the first should be {}", first.display())]
    AllMissing {
        /// How many there should be.
        n_stimuli: usize,
        /// Where the first one should be.
        first: PathBuf,
    },
    /// There is nothing to show.
    #[error(
        "there are no stimuli in this part: {n_stimuli} stimuli are too few to be cut so small"
    )]
    NoStimuli {
        /// How many there are in all.
        n_stimuli: usize,
    },
    /// The cache cannot be used.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// Something could not be written.
    #[error(transparent)]
    File(#[from] FileError),
}

/// What does not fit a model.
#[derive(Debug, thiserror::Error)]
pub enum ModelProblem {
    /// The network itself.
    #[error(transparent)]
    Network(#[from] NetworkError),
    /// How its pictures are prepared.
    #[error(transparent)]
    Preparation(#[from] PreparationError),
    /// Its classes and the labels of stimuli.
    #[error(transparent)]
    Labels(#[from] LabelError),
    /// A probe and its pictures.
    #[error(transparent)]
    Probe(#[from] ProbeError),
    /// Where its features are taken.
    #[error(transparent)]
    Features(#[from] CutError),
    /// Its answers have another length than its file says.
    #[error("the model should answer with {expected} numbers per picture, found {found}")]
    OtherLength {
        /// How many the file promises.
        expected: usize,
        /// How many came.
        found: usize,
    },
}

/// What is to be evaluated, and how.
#[derive(Clone, Copy, Debug)]
pub struct Job<'a> {
    /// Which models see which stimuli under which probes.
    pub manifest: &'a Manifest,
    /// The manifest's folder.
    pub folder: &'a Path,
    /// All stimuli, whichever part of them is shown: labels are found by all.
    pub stimuli: &'a [Stimulus],
    /// The folder that files of stimuli are relative to.
    pub stimuli_folder: &'a Path,
    /// Names of the models to run; `None` for all.
    pub models: Option<&'a [String]>,
    /// How many examples a model gets at once.
    pub batch: NonZeroUsize,
    /// How many threads decode.
    pub decoders: NonZeroUsize,
    /// Where answers are kept; `None` to keep nothing.
    pub cache: Option<&'a Path>,
}

impl Job<'_> {
    /// How files become pixels.
    pub fn decoding(&self) -> DecodeOptions {
        match self.manifest.decode {
            Decode::Upright => DecodeOptions::default(),
            Decode::Torchvision => DecodeOptions::as_torchvision(),
        }
    }
}

/// An evaluation that was checked and can run.
#[derive(Debug)]
pub struct Plan<'a> {
    job: Job<'a>,
    shown: Range<usize>,
    probes: Vec<Probe>,
    candidates: Vec<Candidate>,
    remotes: Vec<Remote>,
    /// Names of all models, in the order of the manifest.
    order: Vec<ModelName>,
    slot: String,
}

/// Checks everything that can be checked before models run.
///
/// `part` says which part of the stimuli is shown: block `i` of `n`, counted from 1.
pub fn plan<'a>(job: Job<'a>, part: Part, engine: &Engine) -> Result<Plan<'a>, EvaluateError> {
    let shown = part.range(job.stimuli.len());
    if shown.is_empty() {
        return Err(EvaluateError::NoStimuli { n_stimuli: job.stimuli.len() });
    }
    let probes = probes(job.manifest)?;
    let entries = wanted(job.manifest, job.models)?;
    let path_of = |stimulus: &Stimulus| job.stimuli_folder.join(&stimulus.file);
    if !job.stimuli[shown.clone()].iter().any(|stimulus| path_of(stimulus).exists()) {
        return Err(EvaluateError::AllMissing {
            n_stimuli: shown.len(),
            first: path_of(&job.stimuli[shown.start]),
        });
    }
    let mut candidates = Vec::with_capacity(entries.len());
    let mut remotes = Vec::new();
    let order = entries.iter().map(|entry| entry.name.clone()).collect();
    for entry in entries {
        let unfit =
            |problem| EvaluateError::Model { model: entry.name.clone(), source: Box::new(problem) };
        if let Some(remote) = Remote::check(entry, &job) {
            remotes.push(remote.map_err(unfit)?);
            continue;
        }
        let candidate = Candidate::check(entry, &job, &probes, engine, candidates.is_empty());
        candidates.push(candidate.map_err(unfit)?);
    }
    Ok(Plan { job, shown, probes, candidates, remotes, order, slot: part.slot() })
}

/// The probes of a manifest in order; one that does nothing if it has none.
pub fn probes(manifest: &Manifest) -> Result<Vec<Probe>, ProbeError> {
    if manifest.probes.is_empty() {
        return Ok(vec![Probe::none()]);
    }
    manifest.probes.iter().map(Probe::parse).collect()
}

/// The models of a manifest that are asked for, in the order of the manifest.
fn wanted<'a>(
    manifest: &'a Manifest,
    names: Option<&[String]>,
) -> Result<Vec<&'a mohs_data::ModelEntry>, EvaluateError> {
    let Some(names) = names else { return Ok(manifest.models.iter().collect()) };
    let is_known = |name: &&String| manifest.models.iter().any(|m| m.name.as_str() == **name);
    if let Some(found) = names.iter().find(|name| !is_known(name)) {
        return Err(EvaluateError::UnknownModel {
            found: found.clone(),
            known: manifest.models.iter().map(|model| model.name.to_string()).collect(),
        });
    }
    let is_wanted = |name: &ModelName| names.iter().any(|wanted| wanted == name.as_str());
    Ok(manifest.models.iter().filter(|model| is_wanted(&model.name)).collect())
}

/// Which part of the stimuli is shown.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Part {
    /// All of them.
    #[default]
    All,
    /// One of `n` contiguous blocks of nearly equal size, counted from 1.
    Block {
        /// Which one.
        number: usize,
        /// Of how many.
        n: usize,
    },
    /// The first few.
    First(usize),
}

impl Part {
    /// Positions of the stimuli that are shown, out of `n_stimuli`.
    pub fn range(self, n_stimuli: usize) -> Range<usize> {
        match self {
            Part::All => 0..n_stimuli,
            Part::First(n) => 0..n.min(n_stimuli),
            Part::Block { number, n } => {
                let n = n.max(1);
                let end = |blocks: usize| n_stimuli * blocks.min(n) / n;
                end(number.saturating_sub(1))..end(number)
            }
        }
    }

    /// A name for the file that this part's answers are appended to.
    fn slot(self) -> String {
        match self {
            Part::Block { number, n } => format!("{number}-of-{n}"),
            Part::All | Part::First(_) => "all".to_owned(),
        }
    }
}

impl Plan<'_> {
    /// The models that run here, in the order of the manifest.
    pub fn candidates(&self) -> &[Candidate] {
        &self.candidates
    }

    /// The models behind endpoints, in the order of the manifest.
    pub fn remotes(&self) -> &[Remote] {
        &self.remotes
    }

    /// All models, in the order of the manifest.
    pub fn contenders(&self) -> Vec<Contender<'_>> {
        let of_name = |name: &ModelName| {
            let candidate = self.candidates.iter().find(|candidate| candidate.name() == name);
            let remote = || self.remotes.iter().find(|remote| remote.name() == name);
            candidate.map(Contender::Network).or_else(|| remote().map(Contender::Endpoint))
        };
        self.order.iter().filter_map(of_name).collect()
    }

    /// Gives the models away, for whoever only wanted them checked.
    pub fn into_candidates(self) -> Vec<Candidate> {
        self.candidates
    }

    /// The probes in order.
    pub fn probes(&self) -> &[Probe] {
        &self.probes
    }

    /// The stimuli that are shown.
    pub fn stimuli(&self) -> &[Stimulus] {
        &self.job.stimuli[self.shown.clone()]
    }

    /// How many rows each model gives.
    pub fn n_rows(&self) -> usize {
        self.stimuli().len() * self.probes.len()
    }

    /// Where random numbers come from.
    pub fn seed(&self) -> Seed {
        self.job.manifest.seed
    }
}

/// Fills in whether the answer is right, where the label says so.
fn judged(mut prediction: Prediction) -> Prediction {
    let is_correct = prediction.is_correct();
    if let mohs_data::Outcome::Answered(answer) = &mut prediction.outcome {
        answer.correct = is_correct;
    }
    prediction
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_cover_all_stimuli_and_do_not_overlap() {
        for (n_stimuli, n) in [(10, 3), (1, 2), (1000, 7), (5, 5)] {
            let mut next = 0;
            for number in 1..=n {
                let range = Part::Block { number, n }.range(n_stimuli);
                assert_eq!(range.start, next);
                next = range.end;
            }
            assert_eq!(next, n_stimuli);
        }
    }
}
