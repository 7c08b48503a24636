//! One picture at work: what the model says of it, then every attack on it, attempt by attempt.
//!
//! A [`Picture`] never runs a model: it hands out [`Want`]s and is given replies, as attacks are.

use std::collections::BTreeMap;
use std::sync::Arc;

use mohs_data::{
    Extra, FailureReason, FastAnswer, Flag, Goal, How, Label, MinEpsilon, Search, Seed, Stimulus,
    StimulusId,
};

use super::attempt::{Attempt, Shelf};
use super::examples::Example;
use super::search::{self, Before, Mode, Next, Seen};
use super::{AttemptRow, Delivered, MinEpsilonError, Noise, Plan, Planned, size_of};
use crate::evaluate::journal::JournalError;
use crate::pixels::Pixels;
use crate::probe::attack::{
    Aim, Case, End, Kind, Loss, Luck, Memory, Move, Reply, Run, Start, first_of_largest,
};

/// What a picture wants to know.
#[derive(Debug)]
pub(super) enum Want {
    /// The answer to these pixels.
    Answer(Vec<f32>),
    /// A slope at these pixels.
    Gradient(Vec<f32>, Loss, Aim),
}

/// Who asked: the place of a task, or the picture itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Asker {
    Clean,
    Guess,
    Task(usize),
}

/// A picture and everything that is done to it.
#[derive(Debug)]
pub(super) struct Picture<'a> {
    plan: &'a Plan<'a>,
    stimulus: &'a Stimulus,
    shelf: Shelf<'a>,
    pixels: Arc<Vec<f32>>,
    label: usize,
    flags: Vec<Flag>,
    clean: Option<Arc<Vec<f32>>>,
    /// Whether everything about the picture as it is was asked, and its attacks were begun.
    is_begun: bool,
    /// ε by a straight line, in L∞ and in L2, to begin a fast search with.
    guess: Option<(f64, f64)>,
    tasks: Vec<Task<'a>>,
    n_open: usize,
    pub(super) n_known: u64,
}

const CLEAN: &str = "clean";
const GUESS: &str = "guess";

impl<'a> Picture<'a> {
    pub(super) fn new(
        plan: &'a Plan<'a>,
        stimulus: &'a Stimulus,
        shelf: Shelf<'a>,
        pixels: &Pixels,
        label: usize,
    ) -> Picture<'a> {
        Picture {
            plan,
            stimulus,
            shelf,
            pixels: Arc::new(pixels.planes().to_vec()),
            label,
            flags: plan.flags_of_model(),
            clean: None,
            is_begun: false,
            guess: None,
            tasks: Vec::new(),
            n_open: 0,
            n_known: 0,
        }
    }

    /// What is wanted first.
    pub(super) fn begin(&mut self) -> Result<Vec<(Asker, Want)>, MinEpsilonError> {
        let n_labels = self.plan.model.n_labels();
        if let Some(mut numbers) = self.shelf.find_numbers(CLEAN)
            && numbers.len() == n_labels + 1
        {
            let is_random = numbers.pop().is_some_and(|flag| 0.0 < flag);
            self.settle_clean(numbers, is_random);
            return self.after_clean();
        }
        Ok(vec![(Asker::Clean, Want::Answer(self.pixels.to_vec()))])
    }

    /// Goes on with what the model said.
    pub(super) fn told(
        &mut self,
        asker: Asker,
        reply: Reply,
    ) -> Result<Vec<(Asker, Want)>, MinEpsilonError> {
        match asker {
            Asker::Clean => match self.clean.take() {
                None => {
                    // Asked once more: nothing was changed, so nothing may change.
                    self.clean = Some(Arc::new(reply.logits));
                    Ok(vec![(Asker::Clean, Want::Answer(reply.pixels))])
                }
                Some(first) => {
                    // What is no number both times did not change.
                    let differs = |(first, again): (&f32, &f32)| {
                        first.total_cmp(again).is_ne() && !(first.is_nan() && again.is_nan())
                    };
                    let is_random = first.iter().zip(&reply.logits).any(differs);
                    let mut numbers = first.to_vec();
                    numbers.push(f32::from(u8::from(is_random)));
                    self.shelf.keep_numbers(CLEAN, &numbers)?;
                    self.settle_clean(first.to_vec(), is_random);
                    self.after_clean()
                }
            },
            Asker::Guess => {
                let guess = guess_of(&reply);
                #[expect(clippy::cast_possible_truncation, reason = "a guess needs few digits")]
                let kept = [guess.0 as f32, guess.1 as f32];
                self.shelf.keep_numbers(GUESS, &kept)?;
                self.guess = Some((f64::from(kept[0]), f64::from(kept[1])));
                self.start_tasks()
            }
            Asker::Task(idx) => self
                .advance(idx, Some(reply))
                .map(|want| want.map(|want| (Asker::Task(idx), want)).into_iter().collect()),
        }
    }

    fn settle_clean(&mut self, logits: Vec<f32>, is_random: bool) {
        if is_random {
            self.flags.push(Flag::RandomAnswers);
        }
        self.clean = Some(Arc::new(logits));
    }

    /// Whether everything was found out.
    pub(super) fn is_done(&self) -> bool {
        self.is_begun && self.n_open == 0
    }

    /// Decides what is attacked, now that the model's own answer is known.
    fn after_clean(&mut self) -> Result<Vec<(Asker, Want)>, MinEpsilonError> {
        let clean = self.clean.clone().expect("because it was just found out");
        self.is_begun = true;
        if clean.iter().any(|number| !number.is_finite()) {
            return Ok(Vec::new());
        }
        let class = first_of_largest(&clean);
        let job = &self.plan.job;
        let (planned, goal, aim): (&'a [Planned], _, _) = if class == Some(self.label) {
            match job.target.and_then(|target| job.candidate.labels().class_of(target)) {
                Some(target) if target == self.label => return Ok(Vec::new()),
                Some(target) => (job.attacks, Goal::Target, Aim::Reach(target)),
                None => (job.attacks, Goal::Fool, Aim::Leave(self.label)),
            }
        } else {
            (job.corrections, Goal::Correct, Aim::Reach(self.label))
        };
        let spec = job.candidate.spec();
        let case = Case {
            pixels: self.pixels.clone(),
            width: spec.width as usize,
            height: spec.height as usize,
            label: self.label,
            aim,
            clean,
            is_model_random: self.plan.model.is_random()
                || self.flags.contains(&Flag::RandomAnswers),
        };
        self.tasks = planned
            .iter()
            .map(|planned| Task::new(planned, goal, case.clone(), self.plan, self.stimulus))
            .collect();
        self.n_open = self.tasks.len();
        let needs_guess = matches!(job.mode, Mode::Fast { .. })
            && self.tasks.iter().any(|task| task.planned.attack.kind == Kind::WhiteBox);
        if !needs_guess {
            return self.start_tasks();
        }
        match self.shelf.find_numbers(GUESS).as_deref() {
            Some(&[linf, l2]) => {
                self.guess = Some((f64::from(linf), f64::from(l2)));
                self.start_tasks()
            }
            _ => {
                self.is_begun = false;
                let pixels = self.pixels.to_vec();
                Ok(vec![(Asker::Guess, Want::Gradient(pixels, Loss::Margin, case.aim))])
            }
        }
    }

    fn start_tasks(&mut self) -> Result<Vec<(Asker, Want)>, MinEpsilonError> {
        self.is_begun = true;
        let mut wants = Vec::new();
        for idx in 0..self.tasks.len() {
            if let Some(want) = self.advance(idx, None)? {
                wants.push((Asker::Task(idx), want));
            }
        }
        Ok(wants)
    }

    fn advance(
        &mut self,
        idx: usize,
        reply: Option<Reply>,
    ) -> Result<Option<Want>, MinEpsilonError> {
        let guess = self.guess.unwrap_or((f64::INFINITY, f64::INFINITY));
        let task = &mut self.tasks[idx];
        let want = task.advance(reply, &self.shelf, guess, &mut self.n_known)?;
        self.n_open -= usize::from(want.is_none());
        Ok(want)
    }

    /// What came of it.
    pub(super) fn deliver(self) -> Delivered {
        let clean = self.clean.as_deref().map_or(&[][..], Vec::as_slice);
        let labels = self.plan.job.candidate.labels();
        let label_of = |class: usize| labels.label_of(class).cloned();
        let clean_label = if clean.iter().all(|number| number.is_finite()) {
            first_of_largest(clean).and_then(label_of)
        } else {
            None
        };
        let mut delivered = Delivered {
            rows: Vec::new(),
            corrected: Vec::new(),
            examples: Vec::new(),
            attempts: Vec::new(),
        };
        let row = |planned: &Planned, goal: Goal, search: Search, how: How| MinEpsilon {
            model: self.plan.model_name().clone(),
            stimulus: self.stimulus.id.clone(),
            attack: planned.attack.name.into(),
            norm: planned.attack.norm,
            goal,
            settings: planned.attack.signature(&planned.settings).into(),
            label: self.stimulus.label.clone(),
            clean: clean_label.clone(),
            search,
            how,
            fast: None,
            n_forward: 0,
            n_gradient: 0,
            flags: self.flags.clone(),
            extra: Extra::default(),
        };
        let is_attacked = self.tasks.first().is_some_and(|task| task.goal != Goal::Correct);
        if !is_attacked {
            let goal = if self.plan.job.target.is_some() { Goal::Target } else { Goal::Fool };
            for planned in self.plan.job.attacks {
                let search = match clean_label {
                    Some(_) => Search::NotAttacked,
                    None => Search::Failed(FailureReason::new("the answer is not a number")),
                };
                delivered.rows.push(row(
                    planned,
                    goal,
                    search,
                    how_of(planned, self.plan.job.mode),
                ));
            }
        }
        let size = self.plan.job.candidate.spec();
        for task in &self.tasks {
            let mut found = row(task.planned, task.goal, task.search_found(&label_of), task.how);
            found.fast = task.fast_answer();
            found.n_forward = task.attempts.iter().map(|(_, attempt)| attempt.n_forward).sum();
            let n_gradients = task.n_gradients();
            found.n_gradient = n_gradients.iter().sum();
            if task.attempts.iter().any(|(_, attempt)| attempt.has_zero_slope) {
                found.flags.insert(0, Flag::ZeroGradient);
            }
            if self.plan.job.keeps_attempts {
                let attempts = task.attempts.iter().zip(&n_gradients);
                delivered.attempts.extend(attempts.map(|(&(idx, attempt), &n_gradient)| {
                    AttemptRow {
                        attack: task.planned.attack.name,
                        goal: task.goal,
                        epsilon: task.planned.grid.at(idx),
                        is_reached: attempt.is_reached,
                        margin: attempt.margin,
                        least: attempt.least,
                        n_forward: attempt.n_forward,
                        n_gradient,
                    }
                }));
            }
            if let (Some(after), Search::Found { epsilon, answer: Some(answer) }) =
                (&task.kept, &found.search)
                && let Some((before, after)) = Pixels::new(
                    size.width,
                    size.height,
                    self.pixels.to_vec(),
                )
                .zip(Pixels::new(size.width, size.height, after.1.clone()))
            {
                delivered.examples.push(Example {
                    attack: task.planned.attack.name,
                    norm: task.planned.attack.norm,
                    goal: task.goal,
                    epsilon: *epsilon,
                    label: self.stimulus.label.clone(),
                    clean: clean_label.clone().unwrap_or_else(|| Label::new("")),
                    answer: answer.clone(),
                    before,
                    after,
                });
            }
            let table = if task.goal == Goal::Correct {
                &mut delivered.corrected
            } else {
                &mut delivered.rows
            };
            table.push(found);
        }
        delivered
    }
}

/// Where the margin would end along a straight line: the margin over the size of its slope.
fn guess_of(reply: &Reply) -> (f64, f64) {
    let margin = f64::from(reply.loss).abs();
    let (mut l1, mut squares) = (0.0, 0.0);
    for &slope in &reply.gradient {
        l1 += f64::from(slope).abs();
        squares += f64::from(slope) * f64::from(slope);
    }
    let over = |size: f64| if 0.0 < size { (margin / size).min(1e6) } else { 1e6 };
    (over(l1), over(squares.sqrt()))
}

fn how_of(planned: &Planned, mode: Mode) -> How {
    match (planned.attack.kind, mode) {
        (Kind::Minimal, _) => How::Bound,
        (_, Mode::Fast { .. }) => How::Fast,
        _ => How::Exact,
    }
}

/// One attack on one picture.
#[derive(Debug)]
struct Task<'a> {
    planned: &'a Planned,
    goal: Goal,
    case: Case,
    mode: Mode,
    how: How,
    name: String,
    seed: Seed,
    stimulus: StimulusId,
    /// Whether every ε draws its own random numbers.
    is_fresh: bool,
    memories: Vec<Memory>,
    seen: BTreeMap<usize, Seen>,
    /// Attempts in the order they were made.
    attempts: Vec<(usize, Attempt)>,
    active: Option<Active>,
    /// What the fast search found, once it has, where an audit follows.
    fast: Option<Option<usize>>,
    found: Option<Result<Option<usize>, String>>,
    keeps_example: bool,
    /// The changed picture of the smallest ε so far, or of the smallest change.
    kept: Option<(usize, Vec<f32>)>,
}

/// A attempt under way.
#[derive(Debug)]
struct Active {
    idx: usize,
    run: Box<dyn Run>,
    restart: usize,
    n_forward: u64,
    n_gradient: u64,
    n_free: usize,
    has_zero_slope: bool,
    margin: f32,
    least: f32,
    /// Whether the run has ended and its last picture is being judged.
    is_judged: bool,
    /// Only the changed picture is wanted; the attempt itself is known.
    is_again: bool,
}

impl<'a> Task<'a> {
    fn new(
        planned: &'a Planned,
        goal: Goal,
        case: Case,
        plan: &Plan<'_>,
        stimulus: &Stimulus,
    ) -> Task<'a> {
        let job = &plan.job;
        let name = Shelf::name_of(planned, case.aim, job.seed, job.noise, &stimulus.id);
        let n_starts = planned.settings.restarts.max(1);
        let mut how = how_of(planned, job.mode);
        if how == How::Fast && plan.audit.holds(planned.attack.name, &stimulus.id) {
            how = How::Audited;
        }
        Task {
            planned,
            goal,
            case,
            mode: job.mode,
            how,
            name,
            seed: job.seed,
            stimulus: stimulus.id.clone(),
            is_fresh: job.noise == Noise::Fresh
                && (planned.attack.is_random || planned.settings.random_start),
            memories: (0..n_starts).map(|_| Memory::default()).collect(),
            seen: BTreeMap::new(),
            attempts: Vec::new(),
            active: None,
            fast: None,
            found: None,
            keeps_example: job.keeps_examples,
            kept: None,
        }
    }

    /// Goes on until something is wanted; `None` when it is done.
    fn advance(
        &mut self,
        mut reply: Option<Reply>,
        shelf: &Shelf<'_>,
        guess: (f64, f64),
        n_known: &mut u64,
    ) -> Result<Option<Want>, JournalError> {
        loop {
            if self.active.is_some() {
                match self.step(reply.take()) {
                    Stepped::Wants(want) => return Ok(Some(want)),
                    Stepped::Broken(reason) => {
                        self.active = None;
                        self.found = Some(Err(reason));
                        return Ok(None);
                    }
                    Stepped::Ended(idx, attempt, is_again) => {
                        self.active = None;
                        if is_again {
                            return Ok(None);
                        }
                        self.remember(idx, attempt);
                        shelf.keep(&self.name, self.planned.grid.at(idx), attempt)?;
                    }
                }
            }
            match self.next(guess) {
                Next::Found(found) => {
                    self.found = Some(Ok(found));
                    match found {
                        Some(idx) if self.keeps_example && !self.has_kept(idx) => {
                            self.begin(idx, true);
                        }
                        _ => return Ok(None),
                    }
                }
                Next::Try(idx) => {
                    let epsilon = self.planned.grid.at(idx);
                    if self.mode != Mode::Sweep
                        && epsilon <= 0.0
                        && self.planned.attack.kind != Kind::Minimal
                    {
                        let margin = self.case.margin(&self.case.clean);
                        self.remember(idx, Attempt { margin, least: margin, ..Attempt::default() });
                    } else if let Some(attempt) = shelf.find(&self.name, epsilon) {
                        *n_known += 1;
                        self.remember(idx, attempt);
                    } else {
                        self.begin(idx, false);
                    }
                }
            }
        }
    }

    /// How many slopes each attempt needed that no earlier one had: the same whatever was kept from
    /// other runs.
    fn n_gradients(&self) -> Vec<u64> {
        let mut n_shared = 0;
        let mut count = |attempt: &Attempt| {
            let n =
                attempt.n_gradient - (attempt.n_free.min(n_shared) as u64).min(attempt.n_gradient);
            if self.mode != Mode::Sweep {
                n_shared = n_shared.max(attempt.n_free);
            }
            n
        };
        self.attempts.iter().map(|(_, attempt)| count(attempt)).collect()
    }

    fn has_kept(&self, idx: usize) -> bool {
        self.kept.as_ref().is_some_and(|(kept, _)| *kept == idx)
    }

    fn next(&mut self, (linf, l2): (f64, f64)) -> Next {
        let grid = &self.planned.grid;
        if self.planned.attack.kind == Kind::Minimal {
            // There is one attempt, and it stands for the whole grid.
            return match self.seen.get(&0) {
                None => Next::Try(0),
                Some(seen) => Next::Found(seen.is_reached.then_some(0)),
            };
        }
        let guess = match (self.planned.attack.kind, self.planned.attack.norm) {
            // Nothing is known of slopes, or should be.
            (Kind::BlackBox, _) => f64::INFINITY,
            (_, mohs_data::Norm::Linf) => linf,
            (_, mohs_data::Norm::L2) => l2,
        };
        let attack = self.planned.attack;
        let pace = match attack.kind {
            Kind::BlackBox => &search::DOWNWARDS,
            _ if attack.comes_and_goes => &search::UNSTEADY,
            _ => &search::STEADY,
        };
        let clean = f64::from(self.case.margin(&self.case.clean));
        let before = Before { clean, guess };
        match (self.mode, self.how) {
            (Mode::Sweep, _) => search::sweep(grid, &self.seen),
            (_, How::Audited) if self.fast.is_none() => {
                match search::fast(grid, &self.seen, before, pace) {
                    Next::Found(found) => {
                        self.fast = Some(found);
                        search::exact(grid, &self.seen)
                    }
                    next => next,
                }
            }
            (Mode::Fast { .. }, How::Fast) => search::fast(grid, &self.seen, before, pace),
            _ => search::exact(grid, &self.seen),
        }
    }

    fn remember(&mut self, idx: usize, attempt: Attempt) {
        let (margin, mut least) = (f64::from(attempt.margin), f64::from(attempt.least));
        if attempt.is_reached && self.planned.attack.kind == Kind::BlackBox {
            // It ended at its first success: the fewer questions, the further beyond it would be.
            #[expect(clippy::cast_precision_loss, reason = "there are fewer than 2^53 questions")]
            let asked = attempt.n_forward as f64 / self.planned.settings.n_queries.max(1) as f64;
            least = -f64::from(self.case.margin(&self.case.clean)) * (1.0 - asked).max(0.0);
        }
        self.seen.insert(idx, Seen { is_reached: attempt.is_reached, margin, least });
        self.attempts.push((idx, attempt));
    }

    fn begin(&mut self, idx: usize, is_again: bool) {
        if self.mode == Mode::Sweep || self.is_fresh {
            // Nothing is carried over: every ε from scratch.
            self.memories.iter_mut().for_each(|memory| *memory = Memory::default());
        }
        self.active = Some(Active {
            idx,
            run: self.run(idx, 0),
            restart: 0,
            n_forward: 0,
            n_gradient: 0,
            n_free: 0,
            has_zero_slope: false,
            margin: f32::INFINITY,
            least: f32::INFINITY,
            is_judged: false,
            is_again,
        });
    }

    fn run(&self, idx: usize, restart: usize) -> Box<dyn Run> {
        let epsilon = self.planned.grid.at(idx);
        let mut name = self.planned.attack.name.to_owned();
        if self.is_fresh {
            name.push_str(&format!(" {:016x}", epsilon.to_bits()));
        }
        let restart = u32::try_from(restart).unwrap_or(u32::MAX);
        self.planned.attack.start(Start {
            case: &self.case,
            settings: &self.planned.settings,
            epsilon,
            luck: Luck::new(self.seed, &self.stimulus, &name, restart),
            ends_early: self.mode != Mode::Sweep,
        })
    }

    /// Takes the attempt a step further.
    fn step(&mut self, reply: Option<Reply>) -> Stepped {
        let active = self.active.as_mut().expect("because an attempt is under way");
        if let Some(reply) = &reply {
            let is_number = |number: &f32| number.is_finite();
            if !reply.logits.iter().all(is_number) || !reply.gradient.iter().all(is_number) {
                return Stepped::Broken("the answer to a changed picture is not a number".into());
            }
            if reply.gradient.is_empty() {
                active.n_forward += 1;
            } else {
                active.n_gradient += 1;
                active.has_zero_slope |= reply.gradient.iter().all(|&slope| slope == 0.0);
            }
        }
        let end = match (active.is_judged, reply) {
            (true, Some(Reply { pixels, logits, .. })) => End::Answered(pixels, logits),
            (_, reply) => match active.run.step(reply, &mut self.memories[active.restart]) {
                Move::Answer(pixels) => return Stepped::Wants(Want::Answer(pixels)),
                Move::Gradient(pixels, loss) => {
                    return Stepped::Wants(Want::Gradient(pixels, loss, self.case.aim));
                }
                Move::End(End::At(pixels)) if pixels == *self.case.pixels => {
                    End::Answered(pixels, self.case.clean.to_vec())
                }
                Move::End(End::At(pixels)) => {
                    active.is_judged = true;
                    return Stepped::Wants(Want::Answer(pixels));
                }
                Move::End(end) => end,
            },
        };
        self.end_run(end)
    }

    /// What a finished run means: the end of the attempt, or another start.
    fn end_run(&mut self, end: End) -> Stepped {
        let active = self.active.as_mut().expect("because an attempt is under way");
        // Whatever was at hand counts as asked here; rows count what is shared once.
        active.n_gradient += active.run.n_reused() as u64;
        if self.memories.len() == 1 && !self.is_fresh {
            active.n_free = active.run.n_free();
        }
        let (margin, changed) = match end {
            End::At(_) => unreachable!("because it was judged"),
            End::Unchanged { margin } => (margin, None),
            End::Answered(pixels, logits) => (self.case.margin(&logits), Some((pixels, logits))),
        };
        active.margin = active.margin.min(margin);
        active.least = active.least.min(margin).min(active.run.least_margin());
        let reached = changed.filter(|(_, logits)| self.case.is_reached(logits));
        if reached.is_none() && active.restart + 1 < self.memories.len() {
            let (idx, restart) = (active.idx, active.restart + 1);
            let run = self.run(idx, restart);
            let active = self.active.as_mut().expect("because an attempt is under way");
            (active.run, active.restart, active.is_judged) = (run, restart, false);
            return self.step(None);
        }
        let active = self.active.as_ref().expect("because an attempt is under way");
        let mut attempt = Attempt {
            margin: active.margin,
            least: active.least,
            n_forward: active.n_forward,
            n_gradient: active.n_gradient,
            n_free: active.n_free,
            has_zero_slope: active.has_zero_slope,
            ..Attempt::default()
        };
        let (idx, is_again) = (active.idx, active.is_again);
        if let Some((pixels, logits)) = reached {
            let size = size_of(self.planned.attack.norm, &self.case.pixels, &pixels);
            if let Some(reason) = self.leaves_bounds(idx, size, &pixels) {
                return Stepped::Broken(reason);
            }
            #[expect(clippy::cast_possible_truncation, reason = "it was a number of 32 bits")]
            let size = size as f32;
            attempt.is_reached = true;
            attempt.answer = first_of_largest(&logits).unwrap_or(0);
            attempt.size = size;
            let is_smallest = self.kept.as_ref().is_none_or(|(kept, _)| idx <= *kept);
            if self.keeps_example && is_smallest {
                self.kept = Some((idx, pixels));
            }
        }
        Stepped::Ended(idx, attempt, is_again)
    }

    /// Why a change is not what the attack promises, if it is not.
    fn leaves_bounds(&self, idx: usize, size: f64, pixels: &[f32]) -> Option<String> {
        let most = match (self.planned.attack.kind, self.planned.attack.norm) {
            (Kind::Minimal, _) => f64::INFINITY,
            (_, mohs_data::Norm::Linf) => self.most_change(idx) + 1e-7,
            (_, mohs_data::Norm::L2) => self.most_change(idx) * (1.0 + 1e-5) + 1e-7,
        };
        let is_picture = pixels.iter().all(|value| (0.0..=1.0).contains(value));
        let is_sound = size <= most && is_picture;
        (!is_sound).then(|| format!("the attack left its bounds: a change of {size}"))
    }

    /// The largest change at an ε: the fast gradient sign method may go ε several times.
    fn most_change(&self, idx: usize) -> f64 {
        let epsilon = self.planned.grid.at(idx);
        if !self.planned.attack.name.starts_with("fgsm") {
            return epsilon;
        }
        #[expect(clippy::cast_precision_loss, reason = "there are few steps")]
        let steps = self.planned.settings.steps.at(epsilon) as f64;
        epsilon * steps.max(1.0)
    }

    fn search_found(&self, label_of: &impl Fn(usize) -> Option<Label>) -> Search {
        let attempt_of = |idx: usize| self.attempts.iter().find(|(at, _)| *at == idx);
        match &self.found {
            Some(Err(reason)) => Search::Failed(FailureReason::new(reason.as_str())),
            Some(Ok(Some(idx))) => {
                let attempt = attempt_of(*idx).map(|(_, attempt)| *attempt).unwrap_or_default();
                let epsilon = match self.planned.attack.kind {
                    Kind::Minimal => f64::from(attempt.size),
                    _ => self.planned.grid.at(*idx),
                };
                Search::Found { epsilon, answer: label_of(attempt.answer) }
            }
            Some(Ok(None)) => Search::Survived {
                up_to: match (self.planned.attack.kind, self.planned.attack.norm) {
                    // No change at all was found, however large.
                    (Kind::Minimal, mohs_data::Norm::Linf) => 1.0,
                    #[expect(clippy::cast_precision_loss, reason = "pictures are small")]
                    (Kind::Minimal, mohs_data::Norm::L2) => (self.case.pixels.len() as f64).sqrt(),
                    _ => self.planned.grid.last(),
                },
            },
            None => Search::Failed(FailureReason::new("the search did not end")),
        }
    }

    fn fast_answer(&self) -> Option<FastAnswer> {
        self.fast.map(|found| match found {
            Some(idx) => FastAnswer::Found(self.planned.grid.at(idx)),
            None => FastAnswer::Survived,
        })
    }
}

/// What a step of an attempt led to.
enum Stepped {
    Wants(Want),
    Ended(usize, Attempt, bool),
    Broken(String),
}
