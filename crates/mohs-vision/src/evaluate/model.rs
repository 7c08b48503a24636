//! One model of an evaluation, checked: what it takes, what it answers, what its answers mean.

use std::fs::File;
use std::io;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use blake3::Hasher;
use mohs_data::{ClassesEntry, ModelEntry, ModelName};
use mohs_graph::{Port, cut};

use super::journal::{Journal, ModelKey};
use super::{Job, ModelProblem, preparation};
use crate::engine::Engine;
use crate::input::InputSpec;
use crate::labels::{Labels, Strangers, Wanted};
use crate::network::{Answers, Network, NetworkError};
use crate::probe::Probe;

/// Where features are taken unless a manifest says otherwise.
const PENULTIMATE: &str = "penultimate";

/// Changes whenever pictures are decoded in another way, so that old rows are not used.
const DECODING: u32 = 1;

/// Changes whenever attacks compute in another way, so that old trials are not used.
const ATTACKS: u32 = 1;

/// A model that fits the stimuli and the probes.
#[derive(Debug)]
pub struct Candidate {
    name: ModelName,
    path: PathBuf,
    spec: InputSpec,
    prepared_by: String,
    labels: Labels,
    features: Option<String>,
    n_outputs: usize,
    n_features: usize,
    key: ModelKey,
    /// Everything but the batch that changes a number of an attack.
    for_attacks: String,
    other_outputs: usize,
    /// The model as it was opened to be checked, for whoever runs it first.
    opened: Mutex<Option<Answers>>,
}

impl Candidate {
    /// Reads a model and holds everything against it.
    ///
    /// A model that had to be opened for that can stay open; all of them would be too large.
    pub(super) fn check(
        entry: &ModelEntry,
        job: &Job<'_>,
        probes: &[Probe],
        engine: &Engine,
        keeps_open: bool,
    ) -> Result<Candidate, ModelProblem> {
        let path = job.folder.join(&entry.file);
        let network = Network::read(&path)?;
        let note = network.note();
        let size = network.picture_size()?;
        let (spec, prepared_by) = preparation::find(entry, &path, size, note.as_ref())?;
        for probe in probes {
            probe.check(spec.width, spec.height)?;
        }
        let other_outputs = network.graph().outputs.len().saturating_sub(1);
        let features = match &job.manifest.features {
            None => None,
            Some(_) => Some(features(entry, &network)?),
        };
        let files = hash_of(network.files())?;
        let network = answering(network, features.as_deref())?;
        let names: Vec<&str> = network.graph().outputs.iter().map(|p| p.name.as_str()).collect();
        // Everything that changes a number that a model answers with.
        let everything = format!(
            "model {files}\ninput {}\ndecoding {DECODING} {}\nengine {} {} {}\noutputs {}\nbatch {}\n",
            spec.signature(),
            job.decoding().signature(),
            engine.name(),
            engine.version(),
            engine.device(),
            names.join(" "),
            job.batch,
        );
        let key = ModelKey::new(&everything);
        let for_attacks = format!(
            "attacks {ATTACKS}\nmodel {files}\ninput {}\ndecoding {DECODING} {}\nengine {} {} {}\n",
            spec.signature(),
            job.decoding().signature(),
            engine.name(),
            engine.version(),
            engine.device(),
        );
        let is_known = match job.cache {
            // A cache that cannot be read is complained about when the model runs.
            Some(cache) => Journal::read(cache, &key).is_ok_and(|journal| 0 < journal.n_rows()),
            None => false,
        };
        let mut lengths = lengths(&network);
        let mut opened = None;
        if !is_known || lengths.is_none() {
            // An engine that does not take the model should say so now, not after hours.
            let mut answers = network.open(engine)?;
            if lengths.is_none() {
                lengths = Some(lengths_by_trial(&mut answers, &spec)?);
            }
            opened = keeps_open.then_some(answers);
        }
        let lengths = lengths.unwrap_or_default();
        let (n_outputs, n_features) =
            (lengths.first().copied().unwrap_or(0), lengths.get(1).copied().unwrap_or(0));
        let of_note = || note.map(|note| ClassesEntry::List(note.classes));
        let classes = entry.own_classes().or_else(of_note);
        let wanted = Wanted {
            classes: classes.as_ref(),
            answer: &entry.answer,
            aggregate: entry.aggregate.unwrap_or_default(),
            folder: job.folder,
            strangers: Strangers::Refuse,
        };
        let truth = job.stimuli.iter().map(|stimulus| &stimulus.label);
        let is_probability = network.answers_with_probabilities();
        let labels = Labels::find(&wanted, truth, n_outputs, is_probability)?;
        Ok(Candidate {
            name: entry.name.clone(),
            path,
            spec,
            prepared_by,
            labels,
            features,
            n_outputs,
            n_features,
            key,
            for_attacks,
            other_outputs,
            opened: Mutex::new(opened),
        })
    }

    /// Its name.
    pub fn name(&self) -> &ModelName {
        &self.name
    }

    /// How its pictures are prepared.
    pub fn spec(&self) -> &InputSpec {
        &self.spec
    }

    /// Where that was found, in words.
    pub fn prepared_by(&self) -> &str {
        &self.prepared_by
    }

    /// What its outputs mean.
    pub fn labels(&self) -> &Labels {
        &self.labels
    }

    /// How many numbers it answers with.
    pub fn n_outputs(&self) -> usize {
        self.n_outputs
    }

    /// The value that features are taken from, and how many numbers it has.
    pub fn features(&self) -> Option<(&str, usize)> {
        self.features.as_deref().map(|name| (name, self.n_features))
    }

    /// How many outputs the file has beside the one that counts.
    pub fn n_other_outputs(&self) -> usize {
        self.other_outputs
    }

    /// What its answers are kept under.
    pub(super) fn key(&self) -> &ModelKey {
        &self.key
    }

    /// Where its file is.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// What trials of attacks on it are kept under, but for how its outputs are read.
    pub(crate) fn key_for_attacks(&self, engine_batch: NonZeroUsize) -> ModelKey {
        ModelKey::new(&format!("{}batch {engine_batch}\n", self.for_attacks))
    }

    /// How many numbers a row has.
    pub(super) fn n_numbers(&self) -> usize {
        self.n_outputs + self.n_features
    }

    /// Opens it in an engine.
    pub(super) fn open(&self, engine: &Engine) -> Result<Answers, ModelProblem> {
        if let Some(answers) = self.opened.lock().unwrap_or_else(PoisonError::into_inner).take() {
            return Ok(answers);
        }
        let network = answering(Network::read(&self.path)?, self.features.as_deref())?;
        Ok(network.open(engine)?)
    }
}

/// The name of the value that features are taken from.
fn features(entry: &ModelEntry, network: &Network) -> Result<String, ModelProblem> {
    match entry.layer.as_deref() {
        None | Some(PENULTIMATE) => Ok(cut::features(network.graph())?),
        Some(name) => Ok(name.to_owned()),
    }
}

/// A network that answers with its first output and its features, and nothing else.
fn answering(network: Network, features: Option<&str>) -> Result<Network, ModelProblem> {
    Ok(network.answering_first_and(features)?)
}

/// How many numbers each output has per picture, where the file says so.
fn lengths(network: &Network) -> Option<Vec<usize>> {
    let length = |port: &Port| {
        let dims = port.shape.as_deref()?.get(1..)?;
        dims.iter().map(|dim| dim.as_size()).product::<Option<usize>>()
    };
    network.graph().outputs.iter().map(length).collect()
}

/// How many numbers each output has for a black picture.
fn lengths_by_trial(answers: &mut Answers, spec: &InputSpec) -> Result<Vec<usize>, ModelProblem> {
    let black = vec![0.0; spec.n_numbers()];
    let rows = answers.rows(black, 1, (spec.width, spec.height))?;
    Ok(rows.into_iter().flatten().map(|row| row.len()).collect())
}

/// The content of all files of a model.
fn hash_of(files: &[PathBuf]) -> Result<blake3::Hash, NetworkError> {
    let mut whole = Hasher::new();
    for path in files {
        let unreadable = |source| NetworkError::Unreadable { path: path.clone(), source };
        let mut hasher = Hasher::new();
        let mut file = File::open(path).map_err(unreadable)?;
        io::copy(&mut file, &mut hasher).map_err(unreadable)?;
        whole.update(hasher.finalize().as_bytes());
    }
    Ok(whole.finalize())
}
