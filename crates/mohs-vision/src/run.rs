//! The loop that feeds an engine: pictures are decoded ahead, packed into full batches, and answers
//! come out in the order of the jobs.
//!
//! A job is whatever the caller says, usually one stimulus under all its probes; it is decoded once
//! and becomes as many examples as it needs. Batches are packed across jobs. What is known already,
//! such as a failure or an answer from an earlier run, takes no place in a batch and stops nothing.
//! The examples that are decoded and not answered are bounded, so memory is bounded.

use std::collections::{BTreeMap, VecDeque};
use std::num::NonZeroUsize;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// How the engine is fed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Feed {
    /// How many examples the engine gets at once.
    pub batch: NonZeroUsize,
    /// How many threads decode.
    pub decoders: NonZeroUsize,
}

impl Feed {
    /// How many examples may wait, decoded: the batch in the engine and the next one. Each thread
    /// may add those of one job.
    pub fn ahead(&self) -> usize {
        self.batch.get().saturating_mul(2)
    }

    /// How many jobs may wait for a batch to fill; beyond that it runs as it is.
    fn patience(&self) -> usize {
        self.batch.get().saturating_mul(32)
    }
}

/// One example of a job.
#[derive(Clone, PartialEq, Debug)]
pub enum Part<T, R> {
    /// The engine has to answer these numbers; the tag goes with them.
    Numbers(Vec<f32>, T),
    /// It is known already.
    Known(R),
}

/// Runs all jobs; `deliver` gets each with one result per part, in order.
///
/// `decode` makes the parts of one job, on any thread; `answer` gets the numbers of a batch one
/// example after the other, with their tags, and returns one result per example. An error of
/// `answer` or `deliver` ends the run.
pub fn run<J, T, R, E>(
    jobs: &[J],
    feed: Feed,
    decode: impl Fn(&J) -> Vec<Part<T, R>> + Sync,
    mut answer: impl FnMut(Vec<f32>, Vec<T>) -> Result<Vec<R>, E>,
    mut deliver: impl FnMut(&J, Vec<R>) -> Result<(), E>,
) -> Result<(), E>
where
    J: Sync,
    T: Send,
    R: Send,
{
    let desk = Desk::new(jobs.len(), feed);
    std::thread::scope(|scope| {
        for _ in 0..feed.decoders.get().min(jobs.len()) {
            scope.spawn(|| {
                let closing = Closing(&desk);
                while let Some(idx) = desk.take() {
                    desk.put(idx, decode(&jobs[idx]));
                }
                std::mem::forget(closing);
            });
        }
        // Whatever ends this block early, decoders must not wait for it.
        let _closing = Closing(&desk);
        let mut pack = Pack::default();
        for idx in 0..jobs.len() {
            let Some(parts) = desk.next(idx) else {
                // A decoder panicked; leaving the scope hands its panic on.
                return Ok(());
            };
            pack.start(idx);
            for part in parts {
                pack.push(part);
                if pack.open.len() == feed.batch.get() {
                    let n = pack.answer(&mut answer)?;
                    // More parts of this job may follow.
                    pack.deliver(jobs, idx, &mut deliver)?;
                    desk.answered(n, pack.n_delivered);
                }
            }
            if idx + 1 == jobs.len() || feed.patience() <= pack.waiting.len() {
                let n = pack.answer(&mut answer)?;
                pack.deliver(jobs, idx + 1, &mut deliver)?;
                desk.answered(n, pack.n_delivered);
            } else if pack.open.is_empty() {
                pack.deliver(jobs, idx + 1, &mut deliver)?;
                desk.answered(0, pack.n_delivered);
            }
        }
        Ok(())
    })
}

/// Jobs that wait for their batch to fill.
struct Pack<T, R> {
    /// Positions of the jobs, with their results so far.
    waiting: VecDeque<(usize, Vec<Option<R>>)>,
    /// How many jobs were delivered.
    n_delivered: usize,
    /// Which part of which job the examples of the batch belong to.
    open: Vec<(usize, usize)>,
    /// Their numbers.
    numbers: Vec<f32>,
    /// Their tags.
    tags: Vec<T>,
}

impl<T, R> Default for Pack<T, R> {
    fn default() -> Self {
        Pack {
            waiting: VecDeque::new(),
            n_delivered: 0,
            open: Vec::new(),
            numbers: Vec::new(),
            tags: Vec::new(),
        }
    }
}

impl<T, R> Pack<T, R> {
    fn start(&mut self, idx: usize) {
        self.waiting.push_back((idx, Vec::new()));
    }

    /// Adds a part to the job that was started last.
    fn push(&mut self, part: Part<T, R>) {
        let Some((idx, results)) = self.waiting.back_mut() else { return };
        match part {
            Part::Known(result) => results.push(Some(result)),
            Part::Numbers(numbers, tag) => {
                self.tags.push(tag);
                self.open.push((*idx, results.len()));
                results.push(None);
                self.numbers.extend_from_slice(&numbers);
            }
        }
    }

    /// Has the batch answered; returns how many examples it had.
    fn answer<E>(
        &mut self,
        answer: &mut impl FnMut(Vec<f32>, Vec<T>) -> Result<Vec<R>, E>,
    ) -> Result<usize, E> {
        let (open, numbers) = (std::mem::take(&mut self.open), std::mem::take(&mut self.numbers));
        if open.is_empty() {
            return Ok(0);
        }
        let results = answer(numbers, std::mem::take(&mut self.tags))?;
        assert_eq!(results.len(), open.len(), "because every example gets an answer");
        let first = self.waiting.front().map_or(0, |(idx, _)| *idx);
        for (&(idx, part), result) in open.iter().zip(results) {
            self.waiting[idx - first].1[part] = Some(result);
        }
        Ok(open.len())
    }

    /// Delivers the jobs before `end` that wait for nothing.
    fn deliver<J, E>(
        &mut self,
        jobs: &[J],
        end: usize,
        deliver: &mut impl FnMut(&J, Vec<R>) -> Result<(), E>,
    ) -> Result<(), E> {
        let end = self.open.first().map_or(end, |(idx, _)| end.min(*idx));
        while let Some((idx, _)) = self.waiting.front() {
            if end <= *idx {
                break;
            }
            let Some((idx, results)) = self.waiting.pop_front() else { break };
            deliver(&jobs[idx], results.into_iter().flatten().collect())?;
            self.n_delivered += 1;
        }
        Ok(())
    }
}

/// Where decoders fetch jobs and put their results.
struct Desk<T, R> {
    n_jobs: usize,
    feed: Feed,
    state: Mutex<State<T, R>>,
    changed: Condvar,
}

struct State<T, R> {
    /// The next job that nobody has taken.
    next: usize,
    /// How many jobs were delivered.
    n_delivered: usize,
    /// How many examples are decoded and not answered.
    n_waiting: usize,
    /// Results that were not fetched yet, by position.
    done: BTreeMap<usize, Vec<Part<T, R>>>,
    /// Nobody waits for results any more, or one will never come.
    is_closed: bool,
}

impl<T, R> Desk<T, R> {
    fn new(n_jobs: usize, feed: Feed) -> Self {
        let state = State {
            next: 0,
            n_delivered: 0,
            n_waiting: 0,
            done: BTreeMap::new(),
            is_closed: false,
        };
        Desk { n_jobs, feed, state: Mutex::new(state), changed: Condvar::new() }
    }

    fn lock(&self) -> MutexGuard<'_, State<T, R>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'a>(&self, state: MutexGuard<'a, State<T, R>>) -> MutexGuard<'a, State<T, R>> {
        self.changed.wait(state).unwrap_or_else(PoisonError::into_inner)
    }

    /// The next job to decode, once it is not too far ahead; `None` when there is none left.
    fn take(&self) -> Option<usize> {
        let is_too_far = |state: &State<T, R>| {
            // Jobs that hold no examples hold results; twice what the loop waits for is plenty.
            self.feed.ahead() <= state.n_waiting
                || state.n_delivered + self.feed.patience().saturating_mul(2) <= state.next
        };
        let mut state = self.lock();
        while !state.is_closed && state.next < self.n_jobs && is_too_far(&state) {
            state = self.wait(state);
        }
        if state.is_closed || state.next == self.n_jobs {
            return None;
        }
        state.next += 1;
        Some(state.next - 1)
    }

    fn put(&self, idx: usize, parts: Vec<Part<T, R>>) {
        let n_examples = parts.iter().filter(|part| matches!(part, Part::Numbers(..))).count();
        let mut state = self.lock();
        state.n_waiting += n_examples;
        state.done.insert(idx, parts);
        drop(state);
        self.changed.notify_all();
    }

    /// The parts of a job, once they are there; `None` if they never will be.
    fn next(&self, idx: usize) -> Option<Vec<Part<T, R>>> {
        let mut state = self.lock();
        loop {
            if let Some(parts) = state.done.remove(&idx) {
                return Some(parts);
            }
            if state.is_closed {
                return None;
            }
            state = self.wait(state);
        }
    }

    fn answered(&self, n_examples: usize, n_delivered: usize) {
        let mut state = self.lock();
        state.n_waiting = state.n_waiting.saturating_sub(n_examples);
        state.n_delivered = n_delivered;
        drop(state);
        self.changed.notify_all();
    }
}

/// Closes the desk when dropped, panics included.
struct Closing<'a, T, R>(&'a Desk<T, R>);

impl<T, R> Drop for Closing<'_, T, R> {
    fn drop(&mut self) {
        self.0.lock().is_closed = true;
        self.0.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    fn feed(batch: usize, decoders: usize) -> Feed {
        let at_least_one = |n| NonZeroUsize::new(n).unwrap();
        Feed { batch: at_least_one(batch), decoders: at_least_one(decoders) }
    }

    type Known = Result<f32, String>;

    /// Numbers above 99 cannot be decoded.
    fn decode(job: &u8) -> Vec<Part<(), Known>> {
        vec![if *job < 100 {
            Part::Numbers(vec![f32::from(*job); 2], ())
        } else {
            Part::Known(Err(format!("{job} is too large")))
        }]
    }

    fn sums(numbers: &[f32]) -> Vec<Known> {
        numbers.chunks(2).map(|pair| Ok(pair.iter().sum())).collect()
    }

    type Delivered = Vec<(u8, Vec<Known>)>;

    /// Delivered outcomes in order, and how many examples each call of the engine had.
    fn outcomes(
        jobs: &[u8],
        feed: Feed,
        decode: impl Fn(&u8) -> Vec<Part<(), Known>> + Sync,
    ) -> (Delivered, Vec<usize>) {
        let (mut delivered, mut calls) = (Vec::new(), Vec::new());
        let answer = |numbers: Vec<f32>, tags: Vec<()>| {
            calls.push(tags.len());
            assert_eq!(numbers.len(), tags.len() * 2);
            Ok::<_, ()>(sums(&numbers))
        };
        let deliver = |job: &u8, results| {
            delivered.push((*job, results));
            Ok(())
        };
        run(jobs, feed, decode, answer, deliver).unwrap();
        (delivered, calls)
    }

    #[test]
    fn answers_come_in_the_order_of_the_jobs() {
        let jobs: Vec<u8> = (0..90).rev().collect();
        let (delivered, _) = outcomes(&jobs, feed(7, 4), decode);
        let expected: Delivered =
            jobs.iter().map(|&job| (job, vec![Ok(f32::from(job) * 2.0)])).collect();
        assert_eq!(delivered, expected);
    }

    #[test]
    fn batches_are_full_whoever_the_examples_belong_to() {
        let (_, calls) = outcomes(&(0..50).collect::<Vec<u8>>(), feed(8, 3), decode);
        assert_eq!(calls, [8, 8, 8, 8, 8, 8, 2]);
        // Failures take no place in a batch.
        let (_, calls) = outcomes(&[1, 200, 2, 201, 3, 4, 202], feed(2, 2), decode);
        assert_eq!(calls, [2, 2]);
    }

    #[test]
    fn a_job_that_cannot_be_decoded_is_delivered_in_its_place() {
        let (delivered, _) = outcomes(&[200, 1, 201, 2], feed(4, 2), decode);
        let failure = |job: u8| (job, vec![Err(format!("{job} is too large"))]);
        let answer = |job: u8| (job, vec![Ok(f32::from(job) * 2.0)]);
        assert_eq!(delivered, [failure(200), answer(1), failure(201), answer(2)]);
    }

    #[test]
    fn only_failures_and_no_jobs_at_all_need_no_engine() {
        assert!(outcomes(&[200, 201], feed(4, 2), decode).1.is_empty());
        assert_eq!(outcomes(&[], feed(4, 2), decode), (vec![], vec![]));
    }

    #[test]
    fn one_by_one_is_the_same_as_in_batches() {
        let jobs: Vec<u8> = (80..120).collect();
        let one_by_one = outcomes(&jobs, feed(1, 1), decode).0;
        assert_eq!(one_by_one, outcomes(&jobs, feed(16, 3), decode).0);
    }

    #[test]
    fn a_job_of_many_parts_keeps_their_order_and_fills_batches_with_its_neighbours() {
        // Every job has three parts, the middle one of every other job is known.
        let decode = |job: &u8| {
            let part = |n: u8| match (n, job % 2) {
                (1, 0) => Part::Known(Err("known".to_owned())),
                _ => Part::Numbers(vec![f32::from(*job), f32::from(n)], ()),
            };
            (0..3).map(part).collect()
        };
        let jobs: Vec<u8> = (0..10).collect();
        for (batch, expected) in [(4, vec![4, 4, 4, 4, 4, 4, 1]), (1, vec![1; 25])] {
            let (delivered, calls) = outcomes(&jobs, feed(batch, 3), decode);
            assert_eq!(calls, expected);
            for (job, results) in delivered {
                let sum = |n: u8| Ok(f32::from(job) + f32::from(n));
                let middle = if job % 2 == 0 { Err("known".to_owned()) } else { sum(1) };
                assert_eq!(results, [sum(0), middle, sum(2)]);
            }
        }
    }

    #[test]
    fn few_examples_among_many_known_ones_do_not_wait_for_ever() {
        let decode = |job: &u8| match job {
            1 => vec![Part::Numbers(vec![1.0, 1.0], ())],
            _ => vec![Part::Known(Ok(0.0))],
        };
        let mut jobs = vec![0; 5_000];
        jobs[10] = 1;
        let (delivered, calls) = outcomes(&jobs, feed(2, 2), decode);
        assert_eq!(delivered.len(), 5_000);
        assert_eq!(delivered[10].1, [Ok(2.0)]);
        assert_eq!(calls, [1]);
    }

    #[test]
    fn the_next_batch_is_decoded_while_the_engine_works() {
        // The engine works on the first batch until the second is being decoded: without decoding
        // ahead both would wait for ever.
        let meeting = Barrier::new(2);
        let jobs: Vec<u8> = (0..4).collect();
        let decode = |job: &u8| {
            if *job == 2 {
                meeting.wait();
            }
            decode(job)
        };
        let mut is_first = true;
        let answer = |numbers: Vec<f32>, _: Vec<()>| {
            if std::mem::take(&mut is_first) {
                meeting.wait();
            }
            Ok::<_, ()>(sums(&numbers))
        };
        run(&jobs, feed(2, 1), decode, answer, |_, _| Ok(())).unwrap();
    }

    #[test]
    fn decoders_do_not_run_away() {
        let feed = feed(2, 3);
        let n_decoded = AtomicUsize::new(0);
        let mut n_delivered = 0;
        let jobs = [1; 200];
        let decode = |job: &u8| {
            n_decoded.fetch_add(1, Ordering::SeqCst);
            decode(job)
        };
        let answer = |numbers: Vec<f32>, _: Vec<()>| Ok::<_, ()>(sums(&numbers));
        run(&jobs, feed, decode, answer, |_, _| {
            n_delivered += 1;
            // What is delivered is only counted batch by batch.
            let most = n_delivered + feed.ahead() + feed.decoders.get();
            assert!(n_decoded.load(Ordering::SeqCst) <= most);
            Ok(())
        })
        .unwrap();
    }

    #[test]
    fn an_error_of_the_engine_ends_the_run() {
        let jobs: Vec<u8> = (0..90).collect();
        let outcome = run(&jobs, feed(2, 2), decode, |_, _| Err("broken"), |_, _| Ok(()));
        assert_eq!(outcome, Err("broken"));
    }

    #[test]
    #[should_panic(expected = "a scoped thread panicked")]
    fn a_panic_while_decoding_is_handed_on_and_nobody_waits() {
        let decode = |_: &u8| -> Vec<Part<(), ()>> { panic!("broken decoder") };
        let answer = |_: Vec<f32>, tags: Vec<()>| Ok::<_, ()>(tags);
        let _ = run(&[1, 2, 3], feed(2, 2), decode, answer, |_, _| Ok(()));
    }
}
