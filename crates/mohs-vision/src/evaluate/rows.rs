//! One model over all stimuli and probes: from files to rows of outputs, and from rows to
//! predictions.
//!
//! A file is read and hashed once. What the journal knows is not decoded; what it does not know is
//! decoded once, fitted once and then changed by each probe. Batches are always full, the last one
//! filled up by repeating its last example, because engines may compute a batch of another size in
//! another order.

use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind};

use mohs_data::{Extra, FailureReason, Outcome, Prediction, Stimulus};
use rayon::prelude::*;

use super::journal::{Journal, RowKey};
use super::model::Candidate;
use super::{EvaluateError, ModelProblem, Plan, judged};
use crate::endpoint::chat;
use crate::engine::Engine;
use crate::input;
use crate::network::Answers;
use crate::pixels::{self, Pixels};
use crate::probe::{Probe, ProbeKey};
use crate::run::{self, Feed, Part};

/// One row of an evaluation.
#[derive(Clone, Copy, Debug)]
pub struct Row<'a> {
    /// What goes into the file.
    pub prediction: &'a Prediction,
    /// Position of the probe.
    pub probe: usize,
    /// The model's outputs as they are; empty if there is no answer.
    pub logits: &'a [f32],
    /// The model's features; empty if none were asked for or there is no answer.
    pub features: &'a [f32],
    /// Whether the model was not asked, because it was known.
    pub is_from_cache: bool,
    /// Why there is no answer; `None` if there is one.
    pub lack: Option<Lack>,
}

/// Why there is no answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Lack {
    /// The model said something that is none of the classes.
    Unmatched,
    /// The model does not want to answer.
    Refused,
    /// The model was not reached; asking again may help.
    NotReached,
    /// The cap on cost was reached first.
    TooDear,
    /// The picture, or what the model made of it, is no good.
    Broken,
}

impl Lack {
    /// Returns what the reason of a failed prediction says, where the model said something that is no
    /// class or did not want to answer; files of predictions keep nothing else of it.
    pub fn of_words(reason: &FailureReason) -> Option<Lack> {
        let is = |start: &str| reason.as_str().starts_with(start);
        match () {
            () if is(chat::UNMATCHED) => Some(Lack::Unmatched),
            () if is(chat::REFUSED) => Some(Lack::Refused),
            () => None,
        }
    }
}

/// What a model was asked.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Tally {
    /// Rows that the model was asked for in this run.
    pub n_asked: usize,
    /// Rows that were known from earlier runs.
    pub n_from_cache: usize,
    /// Rows without an answer.
    pub n_failed: usize,
    /// How often the engine was called, with a batch each time.
    pub n_batches: usize,
}

/// What is known of one stimulus under one probe.
enum Told {
    Numbers { numbers: Vec<f32>, is_from_cache: bool },
    Failed(FailureReason),
}

/// A model that is asked about stimuli of its evaluation, part by part.
///
/// It stays open between parts. Answers are kept as they come: whatever ends the run, they are not
/// lost.
#[derive(Debug)]
pub struct Inquiry<'p, 'a> {
    plan: &'p Plan<'a>,
    candidate: &'p Candidate,
    engine: &'p Engine,
    journal: Journal,
    session: Option<Answers>,
}

impl<'a> Plan<'a> {
    /// Runs a model; `deliver` gets its rows in the order of stimuli and probes.
    ///
    /// Answers are kept as they come: whatever ends the run, they are not lost. An error of the
    /// engine or of `deliver` ends it.
    pub fn run<E: From<EvaluateError>>(
        &self,
        candidate: &Candidate,
        engine: &Engine,
        deliver: impl FnMut(&Row<'_>) -> Result<(), E>,
    ) -> Result<Tally, E> {
        let all: Vec<&Stimulus> = self.stimuli().iter().collect();
        self.inquire(candidate, engine)?.ask(&all, deliver)
    }

    /// Makes ready to ask a model about some stimuli, then others.
    pub fn inquire<'p>(
        &'p self,
        candidate: &'p Candidate,
        engine: &'p Engine,
    ) -> Result<Inquiry<'p, 'a>, EvaluateError> {
        let journal = match self.job.cache {
            Some(folder) => Journal::open(folder, candidate.key(), &self.slot)?,
            None => Journal::none(),
        };
        Ok(Inquiry { plan: self, candidate, engine, journal, session: None })
    }
}

impl Inquiry<'_, '_> {
    /// Asks about these stimuli; `deliver` gets the rows in their order and that of probes.
    pub fn ask<E: From<EvaluateError>>(
        &mut self,
        stimuli: &[&Stimulus],
        mut deliver: impl FnMut(&Row<'_>) -> Result<(), E>,
    ) -> Result<Tally, E> {
        let (plan, candidate, engine) = (self.plan, self.candidate, self.engine);
        let (journal, session) = (&self.journal, &mut self.session);
        let job = &plan.job;
        let mut tally = Tally::default();
        let feed = Feed { batch: job.batch, decoders: job.decoders };
        let mut n_batches = 0;
        let answer = |numbers: Vec<f32>, keys: Vec<RowKey>| -> Result<Vec<Told>, E> {
            let session = match &mut *session {
                Some(session) => session,
                none => none.insert(candidate.open(engine).map_err(|e| of_model(candidate, e))?),
            };
            n_batches += 1;
            let rows = ask(candidate, session, numbers, keys.len(), job.batch)
                .map_err(|problem| of_model(candidate, problem))?;
            let keyed: Vec<(RowKey, &[f32])> =
                keys.iter().copied().zip(rows.iter().map(Vec::as_slice)).collect();
            journal.append(&keyed).map_err(EvaluateError::from)?;
            let told = |numbers| Told::Numbers { numbers, is_from_cache: false };
            Ok(rows.into_iter().map(told).collect())
        };
        let decode = |stimulus: &&Stimulus| plan.parts(candidate, journal, stimulus);
        let deliver = |stimulus: &&Stimulus, all: Vec<Told>| -> Result<(), E> {
            for (idx, told) in all.into_iter().enumerate() {
                let (outcome, numbers, is_from_cache) = match told {
                    Told::Failed(reason) => {
                        tally.n_failed += 1;
                        (Outcome::Failed(reason), Vec::new(), false)
                    }
                    Told::Numbers { numbers, is_from_cache } => {
                        let outputs = &numbers[..candidate.n_outputs()];
                        let outcome = candidate.labels().outcome(outputs, job.manifest.top_k);
                        tally.n_failed += usize::from(matches!(outcome, Outcome::Failed(_)));
                        tally.n_from_cache += usize::from(is_from_cache);
                        tally.n_asked += usize::from(!is_from_cache);
                        (outcome, numbers, is_from_cache)
                    }
                };
                let prediction = judged(Prediction {
                    model: candidate.name().clone(),
                    stimulus: stimulus.id.clone(),
                    probe: plan.probes[idx].name().into(),
                    condition: None,
                    label: Some(stimulus.label.clone()),
                    outcome,
                    extra: Extra::default(),
                });
                let (logits, features) = numbers.split_at(candidate.n_outputs().min(numbers.len()));
                let is_failed = matches!(prediction.outcome, Outcome::Failed(_));
                deliver(&Row {
                    prediction: &prediction,
                    probe: idx,
                    logits,
                    features,
                    is_from_cache,
                    lack: is_failed.then_some(Lack::Broken),
                })?;
            }
            Ok(())
        };
        run::run(stimuli, feed, decode, answer, deliver)?;
        tally.n_batches = n_batches;
        Ok(tally)
    }
}

impl Plan<'_> {
    /// Counts the rows of a model that are known, without asking it: of these stimuli, and how many
    /// files could not be read.
    pub fn count_known(&self, candidate: &Candidate) -> Result<(usize, usize), EvaluateError> {
        let journal = match self.job.cache {
            Some(folder) => Journal::read(folder, candidate.key())?,
            None => Journal::none(),
        };
        let counts = self.stimuli().par_iter().map(|stimulus| {
            match std::fs::read(self.job.stimuli_folder.join(&stimulus.file)) {
                Ok(bytes) => {
                    let content = blake3::hash(&bytes);
                    let keys = self.probes.iter().map(|probe| self.key(&content, probe, stimulus));
                    (keys.filter(|key| journal.has(key)).count(), 0)
                }
                Err(_) => (0, 1),
            }
        });
        Ok(counts.reduce(|| (0, 0), |a, b| (a.0 + b.0, a.1 + b.1)))
    }

    fn key(&self, content: &blake3::Hash, probe: &Probe, stimulus: &Stimulus) -> RowKey {
        let signature = probe.signature();
        if probe.kind().is_random() {
            let seed = self.seed().0;
            return RowKey::new(content, &format!("{signature}\n{seed}\n{}", stimulus.id));
        }
        RowKey::new(content, &signature)
    }

    /// What is known of a stimulus, and the numbers of what is not.
    fn parts(
        &self,
        candidate: &Candidate,
        journal: &Journal,
        stimulus: &Stimulus,
    ) -> Vec<Part<RowKey, Told>> {
        let all_failed = |reason: &str| -> Vec<Part<RowKey, Told>> {
            let failed = |_| Part::Known(Told::Failed(FailureReason::new(reason)));
            self.probes.iter().map(failed).collect()
        };
        let path = self.job.stimuli_folder.join(&stimulus.file);
        let bytes = match std::fs::read(&path) {
            Ok(bytes) => bytes,
            Err(error) => {
                return all_failed(&format!("cannot read {}: {error}", stimulus.file.display()));
            }
        };
        let content = blake3::hash(&bytes);
        let known: Vec<Result<Vec<f32>, RowKey>> = self
            .probes
            .iter()
            .map(|probe| {
                let key = self.key(&content, probe, stimulus);
                let found = journal.find(&key);
                found.filter(|row| row.len() == candidate.n_numbers()).ok_or(key)
            })
            .collect();
        let unknown: Vec<&Probe> = known
            .iter()
            .zip(&self.probes)
            .filter_map(|(known, probe)| known.is_err().then_some(probe))
            .collect();
        let mut fresh = if unknown.is_empty() {
            Ok(Vec::new())
        } else {
            // A decoder that breaks off takes one stimulus with it, not the run.
            catch_unwind(AssertUnwindSafe(|| self.fresh(candidate, stimulus, &bytes, &unknown)))
                .unwrap_or_else(|_| Err("its decoder broke off".to_owned()))
        }
        .map(Vec::into_iter);
        let part = |known: Result<Vec<f32>, RowKey>| match (known, &mut fresh) {
            (Ok(numbers), _) => Part::Known(Told::Numbers { numbers, is_from_cache: true }),
            (Err(_), Err(reason)) => Part::Known(Told::Failed(FailureReason::new(&**reason))),
            (Err(key), Ok(fresh)) => {
                Part::Numbers(fresh.next().expect("because there is one per unknown key"), key)
            }
        };
        known.into_iter().map(part).collect()
    }

    /// The numbers of a stimulus under these probes.
    fn fresh(
        &self,
        candidate: &Candidate,
        stimulus: &Stimulus,
        bytes: &[u8],
        probes: &[&Probe],
    ) -> Result<Vec<Vec<f32>>, String> {
        let spec = candidate.spec();
        let picture = pixels::decode(&stimulus.file, bytes, &self.job.decoding())
            .map_err(|error| reason(&error))?;
        if let [only] = probes
            && only.is_none()
        {
            return Ok(vec![input::prepare(&picture, spec)]);
        }
        let fitted = Pixels::from(&input::fit(&picture, spec));
        drop(picture);
        let key = ProbeKey { seed: self.seed(), stimulus: &stimulus.id };
        let changed = |probe: &&Probe| {
            if probe.is_none() {
                return input::numbers(&fitted, spec);
            }
            input::numbers(&probe.apply(&fitted, &key), spec)
        };
        Ok(probes.iter().map(changed).collect())
    }
}

/// An error with the causes behind it, in one line.
pub(crate) fn reason(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        text.push_str(": ");
        text.push_str(&cause.to_string());
        next = cause.source();
    }
    text
}

fn of_model(candidate: &Candidate, problem: ModelProblem) -> EvaluateError {
    EvaluateError::Model { model: candidate.name().clone(), source: Box::new(problem) }
}

/// Has a batch answered: one row per example, outputs and features behind each other.
fn ask(
    candidate: &Candidate,
    answers: &mut Answers,
    mut numbers: Vec<f32>,
    n: usize,
    batch: NonZeroUsize,
) -> Result<Vec<Vec<f32>>, ModelProblem> {
    let n_numbers = candidate.spec().n_numbers();
    let filled = batch.get().max(n);
    let last = numbers.len().saturating_sub(n_numbers)..numbers.len();
    for _ in n..filled {
        numbers.extend_from_within(last.clone());
    }
    let size = (candidate.spec().width, candidate.spec().height);
    let rows = answers.rows(numbers, filled, size)?;
    let rows: Vec<Vec<f32>> = rows.into_iter().take(n).map(|outputs| outputs.concat()).collect();
    let expected = candidate.n_numbers();
    match rows.iter().find(|row| row.len() != expected) {
        Some(row) => Err(ModelProblem::OtherLength { expected, found: row.len() }),
        None => Ok(rows),
    }
}
