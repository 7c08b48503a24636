//! Training a network by its derived graph of weight gradients.
//!
//! [`Fit`] stands between epochs: [`Fit::epoch`] trains one and tests it, [`Fit::checkpoint`] says
//! all that is needed to go on, [`Fit::model`] is the network as it answers. The same task, seed and
//! engine give the same weights, whether the training was interrupted between epochs or not; an
//! epoch that was interrupted is done again.
//!
//! Nothing is written and no clock is read here. A loss that is no number ends the training, because
//! weights that are no numbers never recover.

mod answers;
mod augment;
pub(crate) mod chance;
mod checkpoint;
pub mod live;
pub mod optimiser;
mod prepare;
pub mod schedule;
mod set;
mod start;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::mpsc;

use mohs_data::training::{EarlyStop, Keep};
use mohs_data::{Label, Prediction, TrainingPlan};
use mohs_graph::build::BuildError;
use mohs_graph::cut::CutError;
use mohs_graph::scalar::Scalar;
use mohs_graph::train::{self, BatchNorm, TrainError, Training};
use mohs_graph::write::WriteError;
use mohs_graph::{Graph, Tensor, fold};
use rayon::prelude::*;

use crate::engine::{Engine, EngineError, Session};
use crate::network::{Network, NetworkError, Note};
use crate::networks::BlueprintError;
use crate::pixels::PixelsError;
use chance::{Chance, Purpose, key_of};
use checkpoint::{Checkpoint, Facts};
use optimiser::{Changed, Memory};

pub use prepare::Prepare;
pub use set::{Example, Failure, Set};
pub use start::Start;

/// A training that cannot be done as asked, or that went wrong.
#[derive(Debug, thiserror::Error)]
pub enum FitError {
    /// The training set holds nothing.
    #[error("the training set has no picture that can be read")]
    NothingToLearn,
    /// There is nothing to tell apart.
    #[error("the training set should have at least 2 labels, found {found}")]
    TooFewClasses {
        /// How many there are.
        found: usize,
    },
    /// A label of the validation set is not learned.
    #[error("the label `{label}` of the validation set has no picture in the training set")]
    UnknownLabel {
        /// The label.
        label: Label,
    },
    /// The network has another number of outputs than there are classes.
    #[error("the network has {n_outputs} outputs, and the training set has {n_classes} labels")]
    WrongHead {
        /// Outputs of the network.
        n_outputs: usize,
        /// Labels of the training set.
        n_classes: usize,
    },
    /// No weight has such a name.
    #[error(
        "no weight of the network that can be trained is called `{pattern}`; it has for example: {examples}"
    )]
    NoSuchWeight {
        /// The name that was asked for.
        pattern: String,
        /// Some names that there are.
        examples: String,
    },
    /// The network takes a fixed number of pictures.
    #[error(
        "the network should take any number of pictures at once, but its batch is fixed: {because}"
    )]
    FixedBatch {
        /// Why it could not be freed.
        because: String,
    },
    /// One picture has no spread.
    #[error("live batch normalisation needs at least 2 pictures per step, found {found}")]
    TooSmallBatch {
        /// How many a step would have.
        found: usize,
    },
    /// The loss is no number any more.
    #[error("the loss is no number any more in epoch {epoch}, step {step}")]
    Diverged {
        /// The epoch, from 1.
        epoch: u32,
        /// The step within it, from 1.
        step: usize,
    },
    /// A checkpoint that cannot be read.
    #[error("the checkpoint cannot be used: {problem}")]
    Checkpoint {
        /// What is wrong with it.
        problem: String,
    },
    /// A checkpoint of something else.
    #[error("the checkpoint belongs to another training")]
    OtherTraining,
    /// A picture that could be read before cannot be read any more.
    #[error(transparent)]
    Pixels(#[from] PixelsError),
    /// The architecture cannot be made.
    #[error(transparent)]
    Blueprint(#[from] BlueprintError),
    /// The network cannot be used.
    #[error(transparent)]
    Network(#[from] NetworkError),
    /// The classifier cannot be replaced.
    #[error(transparent)]
    Head(#[from] CutError),
    /// The network cannot be trained.
    #[error(transparent)]
    Train(#[from] TrainError),
    /// The engine cannot do it.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// The network cannot be written.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// The network cannot be folded.
    #[error(transparent)]
    Build(#[from] BuildError),
}

/// What is to be trained on what.
#[derive(Debug)]
pub struct Task<'a> {
    /// How.
    pub plan: &'a TrainingPlan,
    /// The network to start from.
    pub start: Start,
    /// What it takes.
    pub prepare: Prepare,
    /// What it learns from.
    pub train: &'a Set,
    /// What it is tested with.
    pub validation: &'a Set,
}

/// One epoch of a training, done.
#[derive(Clone, Debug, PartialEq)]
pub struct Epoch {
    /// Its number, from 1.
    pub number: u32,
    /// The learning rate of its last step.
    pub learning_rate: f64,
    /// Mean loss over the training set, while weights changed and pictures were varied.
    pub train_loss: f64,
    /// Mean loss over the validation set afterwards; absent without one.
    pub validation_loss: Option<f64>,
    /// Right answers on the validation set.
    pub n_right: usize,
    /// Answers on the validation set.
    pub n_answered: usize,
    /// Whether it is the best so far.
    pub is_best: bool,
    /// The answers that the plan asks for, in the order of the sets.
    pub predictions: Vec<Prediction>,
}

/// A training between epochs.
#[derive(Debug)]
pub struct Fit<'a> {
    task: Task<'a>,
    engine: &'a Engine,
    session: Session,
    places: Places,
    classes: Vec<Label>,
    fingerprint: String,
    /// Weights, then statistics, in the order of the training graph.
    values: Vec<(String, Tensor)>,
    n_weights: usize,
    memory: Memory,
    earlier: Vec<Tensor>,
    n_epochs: u32,
    best: Option<(u32, f64)>,
    best_values: BTreeMap<String, Tensor>,
}

/// Where outputs of the training graph stand.
#[derive(Debug)]
struct Places {
    pictures: String,
    loss: usize,
    gradients: Vec<usize>,
    updates: Vec<usize>,
}

impl<'a> Fit<'a> {
    /// Makes everything ready for the first epoch.
    pub fn new(task: Task<'a>, engine: &'a Engine) -> Result<Fit<'a>, FitError> {
        let classes = checked_classes(&task)?;
        let network = &task.start.graph;
        let smallest = smallest_batch(task.train.examples.len(), task.plan.batch as usize);
        if task.start.batch_norm == BatchNorm::Live && smallest < 2 && has_batch_norm(network) {
            return Err(FitError::TooSmallBatch { found: smallest });
        }
        let scalar =
            if 0.0 < task.plan.label_smoothing { Scalar::Divergence } else { Scalar::CrossEntropy };
        let training =
            train::training(network, &scalar, &task.start.weights, task.start.batch_norm)?;
        let session = engine.open_graph(&training.graph)?;
        let places = Places::find(&training, network);
        let fingerprint = fingerprint(&task, engine, &classes)?;
        let n_weights = training.weights.len();
        let weights = training.weights.into_iter().map(|weight| (weight.name, weight.start));
        let statistics = training.statistics.into_iter().map(|one| (one.name, one.start));
        let values = weights.chain(statistics).collect();
        Ok(Fit {
            task,
            engine,
            session,
            places,
            classes,
            fingerprint,
            values,
            n_weights,
            memory: Memory::default(),
            earlier: Vec::new(),
            n_epochs: 0,
            best: None,
            best_values: BTreeMap::new(),
        })
    }

    /// Goes on from a checkpoint; returns the note that was left in it.
    pub fn resume(&mut self, bytes: Vec<u8>) -> Result<String, FitError> {
        let found = Checkpoint::parse(bytes)?;
        if found.facts.fingerprint != self.fingerprint {
            return Err(FitError::OtherTraining);
        }
        let mut values = found.values;
        for (name, value) in &mut self.values {
            let stored = values.remove(name).filter(|stored| stored.shape() == value.shape());
            let problem = || FitError::Checkpoint { problem: format!("`{name}` is missing") };
            *value = stored.ok_or_else(problem)?;
        }
        self.memory = found.memory;
        self.n_epochs = found.facts.n_epochs;
        self.best = found.facts.best;
        self.best_values = found.best;
        Ok(found.facts.note)
    }

    /// Returns all that is needed to go on, with a note for whoever does.
    pub fn checkpoint(&self, note: &str) -> Result<Vec<u8>, FitError> {
        Checkpoint {
            facts: Facts {
                fingerprint: self.fingerprint.clone(),
                n_epochs: self.n_epochs,
                best: self.best,
                note: note.to_owned(),
            },
            values: self.values.iter().cloned().collect(),
            best: self.best_values.clone(),
            memory: self.memory.clone(),
        }
        .to_bytes()
    }

    /// The classes in the order of the network's outputs.
    pub fn classes(&self) -> &[Label] {
        &self.classes
    }

    /// How many epochs are done.
    pub fn n_epochs(&self) -> u32 {
        self.n_epochs
    }

    /// The best epoch so far, from 1.
    pub fn best_epoch(&self) -> Option<u32> {
        self.best.map(|(epoch, _)| epoch)
    }

    /// Whether there is nothing left to train.
    pub fn is_done(&self) -> bool {
        let has_stopped = |stop: &EarlyStop| {
            self.best.is_some_and(|(epoch, _)| stop.patience <= self.n_epochs - epoch)
        };
        self.task.plan.epochs <= self.n_epochs
            || self.task.plan.early_stop.as_ref().is_some_and(has_stopped)
    }

    /// Trains one more epoch and tests it; `None` when the training is done. `tick` hears how many
    /// pictures each step learned from.
    pub fn epoch(&mut self, tick: &mut dyn FnMut(usize)) -> Result<Option<Epoch>, FitError> {
        if self.is_done() {
            return Ok(None);
        }
        let number = self.n_epochs + 1;
        let (train_loss, learning_rate) = self.train(number, tick)?;
        let tested = self.test(number)?;
        let (mut is_best, min_change) = (false, self.min_change());
        if let Some(score) = tested.score(self.task.plan.watched()) {
            is_best = self.best.is_none_or(|(_, best)| score < best - min_change);
            if is_best {
                self.best = Some((number, score));
                let keeps_best = self.task.plan.kept() == Keep::Best;
                self.best_values = if keeps_best {
                    self.values.iter().cloned().collect()
                } else {
                    BTreeMap::new()
                };
            }
        }
        self.n_epochs = number;
        Ok(Some(Epoch {
            number,
            learning_rate,
            train_loss,
            validation_loss: tested.loss,
            n_right: tested.n_right,
            n_answered: tested.n_answered,
            is_best,
            predictions: tested.predictions,
        }))
    }

    fn min_change(&self) -> f64 {
        self.task.plan.early_stop.as_ref().map_or(0.0, |stop| stop.min_change)
    }

    /// Makes the steps of one epoch; returns the mean loss and the last learning rate.
    fn train(&mut self, number: u32, tick: &mut dyn FnMut(usize)) -> Result<(f64, f64), FitError> {
        let (plan, set, prepare) = (self.task.plan, self.task.train, self.task.prepare);
        let batches = batches(set.examples.len(), plan, number);
        let n_per_epoch = batches.len() as u64;
        let optimiser = plan.optimiser();
        let index: BTreeMap<&Label, usize> =
            self.classes.iter().enumerate().map(|(idx, label)| (label, idx)).collect();
        let label_of = |idx: usize| index[&set.examples[idx].label];
        let labels: Vec<Vec<usize>> =
            batches.iter().map(|batch| batch.iter().map(|&idx| label_of(idx)).collect()).collect();
        let varied = |idx: usize| {
            let example = &set.examples[idx];
            let key = [u64::from(number), key_of(&example.id)];
            let mut chance = Chance::new(plan.seed.0, Purpose::Augmentation, &key);
            let (width, height) = (prepare.width, prepare.height);
            let change = augment::Change::draw(&plan.augmentation, width, height, &mut chance);
            example.with_bytes(&prepare, |bytes| augment::numbers(bytes, &prepare, &change))
        };
        let (mut sum, mut rate) = (0.0, 0.0);
        std::thread::scope(|scope| {
            // One batch waits while the next is made and the engine works on the one before.
            let (sender, ready) = mpsc::sync_channel(1);
            let batches = &batches;
            scope.spawn(move || {
                for batch in batches {
                    let parts: Result<Vec<Vec<f32>>, PixelsError> =
                        batch.par_iter().map(|&idx| varied(idx)).collect();
                    let is_broken = parts.is_err();
                    if sender.send(parts.map(|parts| parts.concat())).is_err() || is_broken {
                        return;
                    }
                }
            });
            for (idx, labels) in labels.iter().enumerate() {
                // A panic while pictures are made is handed on when the scope ends.
                let Ok(numbers) = ready.recv() else { break };
                let step = u64::from(number - 1) * n_per_epoch + idx as u64;
                let base = optimiser.learning_rate();
                rate = schedule::rate(&plan.schedule, base, step, n_per_epoch, plan.epochs);
                let loss = self.step(numbers?, labels, &optimiser, rate)?;
                if !loss.is_finite() {
                    return Err(FitError::Diverged { epoch: number, step: idx + 1 });
                }
                sum += loss;
                tick(labels.len());
            }
            Ok(())
        })?;
        Ok((sum / real(set.examples.len()), rate))
    }

    /// Makes one step; returns the sum of the losses.
    fn step(
        &mut self,
        numbers: Vec<f32>,
        labels: &[usize],
        optimiser: &mohs_data::training::Optimiser,
        rate: f64,
    ) -> Result<f64, FitError> {
        let n = labels.len();
        let prepare = &self.task.prepare;
        let pictures = Tensor::f32(vec![n, 3, prepare.height, prepare.width], numbers)
            .expect("because every picture was fitted to this size");
        let smoothing = self.task.plan.label_smoothing;
        let (name, targets, surplus) = targets(labels, self.classes.len(), smoothing);
        let mut inputs: Vec<(&str, &Tensor)> =
            vec![(&self.places.pictures, &pictures), (name, &targets)];
        inputs.extend(self.values.iter().map(|(name, value)| (name.as_str(), value)));
        let mut outputs = self.session.run_again(&inputs, std::mem::take(&mut self.earlier))?;

        let losses = outputs[self.places.loss].as_f32().unwrap_or_default();
        let loss = losses.iter().map(|&loss| f64::from(loss) + surplus).sum();
        if let Some(longest) = self.task.plan.clip_norm {
            let mut order: Vec<&mut Tensor> = outputs.iter_mut().collect();
            let mut gradients: Vec<&mut [f32]> = Vec::with_capacity(self.n_weights);
            for (idx, tensor) in order.iter_mut().enumerate() {
                if self.places.gradients.contains(&idx)
                    && let Some(numbers) = tensor.as_f32_mut()
                {
                    gradients.push(numbers);
                }
            }
            optimiser::clip(&mut gradients, longest);
        }
        let (weights, statistics) = self.values.split_at_mut(self.n_weights);
        let mut changed = Vec::with_capacity(weights.len());
        for ((_, weight), &place) in weights.iter_mut().zip(&self.places.gradients) {
            let is_vector = weight.shape().len() <= 1;
            let gradient = outputs[place].as_f32().unwrap_or_default();
            own(weight);
            let weight = weight.as_f32_mut().unwrap_or_default();
            changed.push(Changed { weight, gradient, is_vector });
        }
        optimiser::step(optimiser, rate, &mut changed, &mut self.memory);
        for ((_, statistic), &place) in statistics.iter_mut().zip(&self.places.updates) {
            *statistic = outputs[place].clone();
        }
        // Statistics are shared with the outputs now; their memory is not used again.
        self.earlier = outputs;
        Ok(loss)
    }

    /// The network with the weights it has now, as it answers.
    fn network_now(&self) -> Graph {
        with_values(self.task.start.graph.clone(), self.values.iter().cloned())
    }

    /// Tests the network on the validation set, and on the training set if that is recorded.
    fn test(&self, number: u32) -> Result<answers::Tested, FitError> {
        let graph = fold::simplify(self.network_now()).map_err(BuildError::from)?;
        let mut opened = Network::from_graph(graph).open(self.engine)?;
        answers::test(&self.task, &self.classes, &mut opened, number)
    }

    /// Returns the model: the network with its last or its best weights, whichever the plan keeps.
    pub fn model(&self) -> Graph {
        let mut graph = self.network_now();
        if self.task.plan.kept() == Keep::Best {
            graph = with_values(graph, self.best_values.clone());
        }
        let plan = self.task.plan;
        let prepare = &self.task.prepare;
        let classes = self.classes.iter().map(ToString::to_string).collect();
        Note { classes, mean: prepare.mean, sd: prepare.sd }.write(&mut graph.metadata);
        graph.metadata.extend([
            ("mohs.name".to_owned(), plan.name.to_string()),
            ("mohs.seed".to_owned(), plan.seed.0.to_string()),
        ]);
        graph
    }
}

impl Places {
    fn find(training: &Training, network: &Graph) -> Places {
        let outputs = &training.graph.outputs;
        let place = |name: &str| {
            let found = outputs.iter().position(|port| port.name == name);
            found.expect("because a training graph answers with all it promises")
        };
        Places {
            pictures: network.inputs.first().map(|port| port.name.clone()).unwrap_or_default(),
            // The loss is the first output after those of the network.
            loss: network.outputs.len(),
            gradients: training.weights.iter().map(|weight| place(&weight.gradient)).collect(),
            updates: training.statistics.iter().map(|one| place(&one.next)).collect(),
        }
    }
}

/// Makes sure that nobody else holds a tensor's numbers, so that they can be changed in place.
fn own(tensor: &mut Tensor) {
    if tensor.as_f32_mut().is_none()
        && let Some(numbers) = tensor.as_f32().map(<[f32]>::to_vec)
    {
        *tensor = Tensor::f32(tensor.shape().to_vec(), numbers)
            .expect("because the shape is that of the numbers");
    }
}

/// A network with these weights and statistics.
fn with_values(mut graph: Graph, values: impl IntoIterator<Item = (String, Tensor)>) -> Graph {
    graph.weights.extend(values);
    graph
}

/// What the loss compares answers with: its input, the tensor, and what has to be added to the
/// divergence to make it the cross entropy.
fn targets(labels: &[usize], n_classes: usize, smoothing: f64) -> (&'static str, Tensor, f64) {
    if smoothing <= 0.0 {
        let whole = labels.iter().map(|&label| i64::try_from(label).unwrap_or(-1)).collect();
        return ("labels", Tensor::list(whole), 0.0);
    }
    let spread = smoothing / real(n_classes);
    let of_label = 1.0 - smoothing + spread;
    let entropy = -(of_label * of_label.ln() + real(n_classes - 1) * spread * spread.ln());
    #[expect(clippy::cast_possible_truncation, reason = "shares in 32 bits")]
    let (of_label, spread) = (of_label as f32, spread as f32);
    let mut shares = vec![spread; labels.len() * n_classes];
    for (row, &label) in shares.chunks_exact_mut(n_classes).zip(labels) {
        row[label] = of_label;
    }
    let tensor =
        Tensor::f32(vec![labels.len(), n_classes], shares).expect("because every label has a row");
    ("distribution", tensor, entropy)
}

/// The order of an epoch, cut into steps. A single example that is left over joins the step before
/// it, because batch normalisation needs two.
fn batches(n: usize, plan: &TrainingPlan, epoch: u32) -> Vec<Vec<usize>> {
    let mut order: Vec<usize> = (0..n).collect();
    Chance::new(plan.seed.0, Purpose::Order, &[u64::from(epoch)]).shuffle(&mut order);
    let mut batches: Vec<Vec<usize>> =
        order.chunks((plan.batch as usize).max(1)).map(<[usize]>::to_vec).collect();
    let is_single = 1 < plan.batch && batches.last().is_some_and(|last| last.len() == 1);
    if is_single && 1 < batches.len() {
        let last = batches.pop().unwrap_or_default();
        batches.last_mut().expect("because there were two").extend(last);
    }
    batches
}

/// The fewest examples that a step of [`batches`] has.
fn smallest_batch(n: usize, batch: usize) -> usize {
    if n <= batch {
        return n;
    }
    match n % batch.max(1) {
        0 => batch,
        1 if 1 < batch => batch,
        rest => rest,
    }
}

fn has_batch_norm(graph: &Graph) -> bool {
    graph.nodes.iter().any(|node| node.op == "BatchNormalization")
}

/// The classes: the labels of the training set, which the network and the validation set must fit.
fn checked_classes(task: &Task<'_>) -> Result<Vec<Label>, FitError> {
    let classes = task.train.labels();
    match classes.len() {
        0 => return Err(FitError::NothingToLearn),
        1 => return Err(FitError::TooFewClasses { found: 1 }),
        _ => {}
    }
    let unknown = task.validation.labels().into_iter().find(|label| !classes.contains(label));
    if let Some(label) = unknown {
        return Err(FitError::UnknownLabel { label });
    }
    if task.start.n_outputs != classes.len() {
        let (n_outputs, n_classes) = (task.start.n_outputs, classes.len());
        return Err(FitError::WrongHead { n_outputs, n_classes });
    }
    Ok(classes)
}

/// A hash of everything that changes the weights.
fn fingerprint(task: &Task<'_>, engine: &Engine, classes: &[Label]) -> Result<String, FitError> {
    let mut plan = task.plan.clone();
    // Where files lie changes nothing about what is in them.
    plan.output = PathBuf::new();
    plan.network.file = None;
    plan.train.stimuli = None;
    plan.validation.stimuli = None;
    let plan = serde_json::to_string(&plan)
        .map_err(|error| FitError::Checkpoint { problem: error.to_string() })?;
    let mut hasher = blake3::Hasher::new();
    let network = mohs_graph::write::to_bytes(&task.start.graph)?;
    let prepare = format!("{:?} {:?} {:?}", task.prepare, task.start.weights, classes);
    let engine = format!("{} {}", engine.name(), engine.version());
    let sets = [task.train.fingerprint(), task.validation.fingerprint()];
    for part in [plan.as_bytes(), &network, prepare.as_bytes(), engine.as_bytes()] {
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part);
    }
    for set in &sets {
        hasher.update(set.as_bytes());
    }
    Ok(hasher.finalize().to_hex().to_string())
}

#[expect(clippy::cast_precision_loss, reason = "counts of pictures are far below 2^53")]
fn real(n: usize) -> f64 {
    n as f64
}

#[cfg(test)]
mod tests;
