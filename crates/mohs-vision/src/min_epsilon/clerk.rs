//! One clerk: keeps some pictures at work and the engine fed.
//!
//! Whoever wants to know something waits in the queue of its kind; the longest queue is served
//! first. Batches have a fixed size and are filled up only when nothing else waits.

use std::collections::VecDeque;
use std::sync::atomic::Ordering;
use std::sync::mpsc::Sender;

use mohs_data::{Extra, FailureReason, Goal, How, MinEpsilon, Search, Stimulus};

use super::attempt::Shelf;
use super::picture::{Asker, Picture, Want};
use super::{Delivered, MinEpsilonError, Plan, Sent, Shared, Tally};
use crate::engine::Engine;
use crate::evaluate::journal::Journal;
use crate::input;
use crate::pixels::{self, Pixels};
use crate::probe::attack::white_box::{Oracle, Question, Slope, Told};
use crate::probe::attack::{Aim, Loss, Reply};

/// Somebody who waits for an answer.
struct Waiting {
    slot: usize,
    asker: Asker,
    pixels: Vec<f32>,
    loss: Option<(Loss, Aim)>,
}

/// Replies with the slots and the askers they are for.
type Replies = Vec<((usize, Asker), Reply)>;

/// Works until there are no pictures left.
pub(super) fn work<'a>(
    plan: &'a Plan<'a>,
    shared: &Shared,
    journal: &'a Journal,
    engine: &Engine,
    n_at_once: usize,
    sender: &Sender<Sent>,
) -> Result<Tally, MinEpsilonError> {
    let mut desk = Desk {
        oracle: plan.model.open(engine),
        slots: (0..n_at_once.max(1)).map(|_| None).collect(),
        queues: std::array::from_fn(|_| VecDeque::new()),
        n_known: 0,
    };
    loop {
        for slot in 0..desk.slots.len() {
            while desk.slots[slot].is_none() && !shared.is_over.load(Ordering::Relaxed) {
                let idx = shared.next.fetch_add(1, Ordering::Relaxed);
                let Some(stimulus) = plan.job.stimuli.get(idx) else { break };
                match open(plan, journal, stimulus) {
                    Ok(picture) => desk.place(slot, idx, picture, sender)?,
                    Err(reason) => {
                        let failed = failed(plan, stimulus, &reason);
                        let _ = sender.send(Sent::Picture(idx, Box::new(failed)));
                    }
                }
            }
        }
        if shared.is_over.load(Ordering::Relaxed) || !desk.serve(sender)? {
            break;
        }
    }
    Ok(Tally { calls: desk.oracle.calls(), n_known: desk.n_known })
}

struct Desk<'a> {
    oracle: Oracle<'a>,
    slots: Vec<Option<(usize, Picture<'a>)>>,
    /// Answers, then one queue for each kind of slope.
    queues: [VecDeque<Waiting>; 1 + Slope::ALL.len()],
    n_known: u64,
}

impl<'a> Desk<'a> {
    fn place(
        &mut self,
        slot: usize,
        idx: usize,
        mut picture: Picture<'a>,
        sender: &Sender<Sent>,
    ) -> Result<(), MinEpsilonError> {
        let wants = picture.begin()?;
        self.slots[slot] = Some((idx, picture));
        self.queue(slot, wants);
        self.send_if_done(slot, sender);
        Ok(())
    }

    fn queue(&mut self, slot: usize, wants: Vec<(Asker, Want)>) {
        for (asker, want) in wants {
            let (queue, waiting) = match want {
                Want::Answer(pixels) => (0, Waiting { slot, asker, pixels, loss: None }),
                Want::Gradient(pixels, loss, aim) => (
                    1 + Slope::of(&loss) as usize,
                    Waiting { slot, asker, pixels, loss: Some((loss, aim)) },
                ),
            };
            self.queues[queue].push_back(waiting);
        }
    }

    fn send_if_done(&mut self, slot: usize, sender: &Sender<Sent>) {
        let is_done = self.slots[slot].as_ref().is_some_and(|(_, picture)| picture.is_done());
        if is_done && let Some((idx, picture)) = self.slots[slot].take() {
            self.n_known += picture.n_known;
            let _ = sender.send(Sent::Picture(idx, Box::new(picture.deliver())));
        }
    }

    /// Asks the engine once; `false` if nobody waits.
    fn serve(&mut self, sender: &Sender<Sent>) -> Result<bool, MinEpsilonError> {
        let longest = (0..self.queues.len()).rev().max_by_key(|&queue| self.queues[queue].len());
        let Some(longest) = longest.filter(|&queue| !self.queues[queue].is_empty()) else {
            return Ok(false);
        };
        let n = self.queues[longest].len().min(self.oracle.model().engine_batch());
        let batch: Vec<Waiting> = self.queues[longest].drain(..n).collect();
        for ((slot, asker), reply) in self.ask(longest, batch)? {
            let Some((_, picture)) = &mut self.slots[slot] else { continue };
            let wants = picture.told(asker, reply)?;
            self.queue(slot, wants);
            self.send_if_done(slot, sender);
        }
        Ok(true)
    }

    fn ask(&mut self, queue: usize, batch: Vec<Waiting>) -> Result<Replies, MinEpsilonError> {
        let Some(&slope) = queue.checked_sub(1).and_then(|idx| Slope::ALL.get(idx)) else {
            let pictures: Vec<&[f32]> = batch.iter().map(|one| one.pixels.as_slice()).collect();
            let answers = self.oracle.answers(&pictures)?;
            let reply = |(one, logits): (Waiting, Vec<f32>)| {
                let reply = Reply { pixels: one.pixels, logits, loss: 0.0, gradient: Vec::new() };
                ((one.slot, one.asker), reply)
            };
            return Ok(batch.into_iter().zip(answers).map(reply).collect());
        };
        let questions: Vec<Question<'_>> = batch
            .iter()
            .filter_map(|one| {
                let (loss, aim) = one.loss.as_ref()?;
                Some(Question { pixels: &one.pixels, loss, aim: *aim })
            })
            .collect();
        let told = self.oracle.gradients(slope, &questions)?;
        let reply = |(one, told): (Waiting, Told)| {
            let reply = Reply {
                pixels: one.pixels,
                logits: told.logits,
                loss: told.loss,
                gradient: told.gradient,
            };
            ((one.slot, one.asker), reply)
        };
        Ok(batch.into_iter().zip(told).map(reply).collect())
    }
}

/// Reads a picture; returns in words why that cannot be done.
fn open<'a>(
    plan: &'a Plan<'a>,
    journal: &'a Journal,
    stimulus: &'a Stimulus,
) -> Result<Picture<'a>, String> {
    let job = &plan.job;
    let labels = job.candidate.labels();
    let Some(label) = labels.class_of(&stimulus.label) else {
        return Err(format!("the label `{}` is none of the model's", stimulus.label));
    };
    let bytes = std::fs::read(job.folder.join(&stimulus.file))
        .map_err(|error| format!("cannot read {}: {error}", stimulus.file.display()))?;
    let decode = || pixels::decode(&stimulus.file, &bytes, job.decoding);
    let picture = std::panic::catch_unwind(std::panic::AssertUnwindSafe(decode))
        .map_err(|_| "its decoder broke off".to_owned())?
        .map_err(|error| crate::evaluate::reason(&error))?;
    let fitted = Pixels::from(&input::fit(&picture, job.candidate.spec()));
    let shelf = Shelf::new(journal, &bytes, &labels.reading());
    Ok(Picture::new(plan, stimulus, shelf, &fitted, label))
}

/// Rows of a picture that could not be read.
fn failed(plan: &Plan<'_>, stimulus: &Stimulus, reason: &str) -> Delivered {
    let rows = plan.job.attacks.iter().map(|planned| MinEpsilon {
        model: plan.model_name().clone(),
        stimulus: stimulus.id.clone(),
        attack: planned.attack.name.into(),
        norm: planned.attack.norm,
        goal: if plan.job.target.is_some() { Goal::Target } else { Goal::Fool },
        settings: planned.attack.signature(&planned.settings).into(),
        label: stimulus.label.clone(),
        clean: None,
        search: Search::Failed(FailureReason::new(reason)),
        how: How::Exact,
        fast: None,
        n_forward: 0,
        n_gradient: 0,
        flags: Vec::new(),
        extra: Extra::default(),
    });
    Delivered {
        rows: rows.collect(),
        corrected: Vec::new(),
        examples: Vec::new(),
        attempts: Vec::new(),
    }
}
