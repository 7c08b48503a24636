//! One model of an evaluation that is asked over the internet, and how it is asked.
//!
//! A picture is decoded, shrunk to the longest side the manifest allows, changed by its probe and
//! sent as a PNG file. An answer that names no class, a refusal and a question that nobody answered
//! are failed predictions that say so. What was paid for is in the ledger of the endpoint.

use mohs_data::{
    Answer, ChatEntry, EndpointEntry, Extra, FailureReason, Label, ModelEntry, ModelName, Outcome,
    Prediction, Stimulus,
};

use super::rows::{Lack, Row, Tally, reason};
use super::{EvaluateError, Job, ModelProblem, Plan, judged};
use crate::endpoint::chat::{Chat, ChatOutcome, Question, Reply};
use crate::endpoint::{Endpoint, EndpointError, Secret};
use crate::labels;
use crate::pixels::{self, Pixels, Rgb8};
use crate::probe::ProbeKey;

/// A model behind an endpoint that fits the stimuli.
#[derive(Debug, Clone)]
pub struct Remote {
    name: ModelName,
    endpoint: EndpointEntry,
    chat: ChatEntry,
    classes: Vec<Label>,
}

impl Remote {
    /// Holds the classes of an entry against the labels of stimuli; `None` for a model in a file.
    pub(super) fn check(entry: &ModelEntry, job: &Job<'_>) -> Option<Result<Remote, ModelProblem>> {
        let endpoint = entry.endpoint.clone()?;
        let truth = job.stimuli.iter().map(|stimulus| &stimulus.label);
        let classes = labels::names(entry.own_classes().as_ref(), job.folder, truth);
        Some(classes.map_err(ModelProblem::from).map(|classes| Remote {
            name: entry.name.clone(),
            endpoint,
            chat: entry.chat.clone().unwrap_or_default(),
            classes,
        }))
    }

    /// Its name.
    pub fn name(&self) -> &ModelName {
        &self.name
    }

    /// Where it is.
    pub fn endpoint(&self) -> &EndpointEntry {
        &self.endpoint
    }

    /// What it is asked.
    pub fn chat(&self) -> &ChatEntry {
        &self.chat
    }

    /// What it may answer, in the order of the question's list.
    pub fn classes(&self) -> &[Label] {
        &self.classes
    }

    fn failed(&self, source: EndpointError) -> EvaluateError {
        EvaluateError::Endpoint { model: self.name.clone(), source: Box::new(source) }
    }
}

impl Plan<'_> {
    /// Opens the endpoint of a model, with the answers that are kept; the key is what the variable
    /// named in the manifest holds.
    pub fn connect(&self, remote: &Remote, key: Option<Secret>) -> Result<Endpoint, EvaluateError> {
        Endpoint::open(&remote.endpoint, key, self.job.cache, &self.slot)
            .map_err(|error| remote.failed(error))
    }

    /// Asks a model; `deliver` gets its rows in the order of stimuli and probes.
    ///
    /// Answers are on disk as they come: whatever ends the run, they are not lost.
    pub fn ask<E: From<EvaluateError>>(
        &self,
        remote: &Remote,
        endpoint: &Endpoint,
        deliver: impl FnMut(&Row<'_>) -> Result<(), E>,
    ) -> Result<Tally, E> {
        let all: Vec<&Stimulus> = self.stimuli().iter().collect();
        self.ask_about(remote, endpoint, &all, deliver)
    }

    /// The same about some stimuli of the evaluation, in the order they are given.
    pub fn ask_about<E: From<EvaluateError>>(
        &self,
        remote: &Remote,
        endpoint: &Endpoint,
        stimuli: &[&Stimulus],
        mut deliver: impl FnMut(&Row<'_>) -> Result<(), E>,
    ) -> Result<Tally, E> {
        let chat = self.chat(remote, endpoint)?;
        let before = endpoint.tally();
        let mut tally = Tally::default();
        let n_probes = self.probes.len();
        let told = |idx: usize, reply: Reply| -> Result<(), Told<E>> {
            let (stimulus, probe) = (stimuli[idx / n_probes], idx % n_probes);
            let lack = lack(&reply.outcome);
            let is_said = matches!(lack, None | Some(Lack::Unmatched | Lack::Refused));
            tally.n_from_cache += usize::from(reply.is_known);
            tally.n_asked += usize::from(is_said && !reply.is_known);
            let outcome = outcome(reply.outcome);
            tally.n_failed += usize::from(matches!(outcome, Outcome::Failed(_)));
            let prediction = judged(Prediction {
                model: remote.name.clone(),
                stimulus: stimulus.id.clone(),
                probe: self.probes[probe].name().into(),
                condition: None,
                label: Some(stimulus.label.clone()),
                outcome,
                extra: Extra::default(),
            });
            deliver(&Row {
                prediction: &prediction,
                probe,
                logits: &[],
                features: &[],
                is_from_cache: reply.is_known,
                lack,
            })
            .map_err(Told::Theirs)
        };
        let picture = |idx: usize| self.question(remote, stimuli[idx / n_probes], idx % n_probes);
        chat.ask_each(stimuli.len() * n_probes, picture, told).map_err(|error| match error {
            Told::Theirs(error) => error,
            Told::Ours(error) => remote.failed(error).into(),
        })?;
        tally.n_batches = endpoint.tally().n_sent - before.n_sent;
        Ok(tally)
    }

    /// Counts the rows that are known, without asking; of these stimuli, and how many files could
    /// not be read.
    pub fn count_answered(
        &self,
        remote: &Remote,
        endpoint: &Endpoint,
    ) -> Result<(usize, usize), EvaluateError> {
        let chat = self.chat(remote, endpoint)?;
        let (mut n_known, mut n_unreadable) = (0, 0);
        for stimulus in self.stimuli() {
            for probe in 0..self.probes.len() {
                match self.question(remote, stimulus, probe) {
                    Ok(question) => n_known += usize::from(endpoint.knows(&chat.key(&question))),
                    Err(_) => n_unreadable += usize::from(probe == 0),
                }
            }
        }
        Ok((n_known, n_unreadable))
    }

    fn chat<'e>(&self, remote: &Remote, endpoint: &'e Endpoint) -> Result<Chat<'e>, EvaluateError> {
        Chat::new(endpoint, &remote.chat, &remote.classes).map_err(|error| remote.failed(error))
    }

    /// The picture of a row as it is sent.
    fn question(
        &self,
        remote: &Remote,
        stimulus: &Stimulus,
        probe: usize,
    ) -> Result<Question, FailureReason> {
        let probe = &self.probes[probe];
        let picture = self.picture(stimulus, remote.chat.max_side)?;
        probe
            .check(picture.width(), picture.height())
            .map_err(|error| FailureReason::new(error.to_string()))?;
        if probe.is_none() {
            return Ok(Question { picture_png: picture.to_png() });
        }
        let key = ProbeKey { seed: self.seed(), stimulus: &stimulus.id };
        let changed = probe.apply(&Pixels::from(&picture), &key);
        Ok(Question { picture_png: Rgb8::from(&changed).to_png() })
    }

    fn picture(&self, stimulus: &Stimulus, max_side: u32) -> Result<Rgb8, FailureReason> {
        let path = self.job.stimuli_folder.join(&stimulus.file);
        let bytes = std::fs::read(&path).map_err(|error| {
            FailureReason::new(format!("cannot read {}: {error}", stimulus.file.display()))
        })?;
        let picture = pixels::decode(&stimulus.file, &bytes, &self.job.decoding())
            .map_err(|error| FailureReason::new(reason(&error)))?;
        Ok(pixels::thumbnail(&picture, max_side))
    }
}

/// Whose error it is: of the endpoint, or of whoever takes the rows.
enum Told<E> {
    Ours(EndpointError),
    Theirs(E),
}

impl<E> From<EndpointError> for Told<E> {
    fn from(error: EndpointError) -> Self {
        Told::Ours(error)
    }
}

/// Why there is no answer; `None` if there is one.
fn lack(said: &ChatOutcome) -> Option<Lack> {
    match said {
        ChatOutcome::Answered(_) => None,
        ChatOutcome::Unmatched { .. } => Some(Lack::Unmatched),
        ChatOutcome::Refused(_) => Some(Lack::Refused),
        ChatOutcome::Failed(_) => Some(Lack::NotReached),
        ChatOutcome::NoPicture(_) => Some(Lack::Broken),
        ChatOutcome::TooDear => Some(Lack::TooDear),
    }
}

fn outcome(said: ChatOutcome) -> Outcome {
    match (said.failure(), said) {
        (None, ChatOutcome::Answered(predicted)) => Outcome::Answered(Answer {
            predicted,
            confidence: None,
            top_k: Vec::new(),
            correct: None,
        }),
        (Some(reason), _) => Outcome::Failed(reason),
        (None, _) => Outcome::Failed(FailureReason::new("no answer")),
    }
}

/// A model of an evaluation, wherever it runs.
#[derive(Debug, Clone, Copy)]
pub enum Contender<'a> {
    /// In an engine, here.
    Network(&'a super::Candidate),
    /// Behind an endpoint.
    Endpoint(&'a Remote),
}

impl Contender<'_> {
    /// Its name.
    pub fn name(&self) -> &ModelName {
        match self {
            Contender::Network(candidate) => candidate.name(),
            Contender::Endpoint(remote) => remote.name(),
        }
    }
}
