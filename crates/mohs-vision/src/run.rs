//! The loop that feeds an engine: pictures are decoded ahead, packed into full batches, and answers
//! come out in the order of the jobs.
//!
//! A job is whatever the caller says, usually one stimulus under one probe; batches are packed
//! across them. A job that cannot be decoded is delivered as a failure in its place and stops
//! nothing. At most [`Feed::ahead`] jobs are decoded and not yet delivered, so memory is bounded.

use std::collections::BTreeMap;
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
    /// How many jobs may be decoded before the first of them is delivered: the batch in the engine
    /// and the next one, and one for each thread.
    pub fn ahead(&self) -> usize {
        self.batch.get().saturating_mul(2).saturating_add(self.decoders.get())
    }
}

/// Runs all jobs; `deliver` gets each with its answer or its failure, in order.
///
/// `decode` makes the numbers of one example, on any thread; `answer` gets the numbers of a batch
/// one example after the other, with their count, and returns one answer per example. An error of
/// `answer` or `deliver` ends the run.
pub fn run<J, A, F, E>(
    jobs: &[J],
    feed: Feed,
    decode: impl Fn(&J) -> Result<Vec<f32>, F> + Sync,
    mut answer: impl FnMut(Vec<f32>, usize) -> Result<Vec<A>, E>,
    mut deliver: impl FnMut(&J, Result<A, F>) -> Result<(), E>,
) -> Result<(), E>
where
    J: Sync,
    F: Send,
{
    let desk = Desk::new(jobs.len(), feed.ahead());
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
        let mut pack = Pack { waiting: Vec::new(), numbers: Vec::new(), n_packed: 0 };
        for idx in 0..jobs.len() {
            let Some(decoded) = desk.next(idx) else {
                // A decoder panicked; leaving the scope hands its panic on.
                return Ok(());
            };
            pack.push(idx, decoded);
            if pack.n_packed == feed.batch.get() || pack.n_packed == 0 || idx + 1 == jobs.len() {
                pack.empty(jobs, &mut answer, &mut deliver)?;
                desk.delivered(idx + 1);
            }
        }
        Ok(())
    })
}

/// Jobs that wait for their batch to fill.
struct Pack<F> {
    /// Positions of the jobs, with their failure if they have one.
    waiting: Vec<(usize, Option<F>)>,
    /// The numbers of those that have none.
    numbers: Vec<f32>,
    n_packed: usize,
}

impl<F> Pack<F> {
    fn push(&mut self, idx: usize, decoded: Result<Vec<f32>, F>) {
        match decoded {
            Ok(numbers) => {
                self.numbers.extend_from_slice(&numbers);
                self.n_packed += 1;
                self.waiting.push((idx, None));
            }
            Err(failure) => self.waiting.push((idx, Some(failure))),
        }
    }

    /// Has the batch answered and delivers all that waits.
    fn empty<J, A, E>(
        &mut self,
        jobs: &[J],
        answer: &mut impl FnMut(Vec<f32>, usize) -> Result<Vec<A>, E>,
        deliver: &mut impl FnMut(&J, Result<A, F>) -> Result<(), E>,
    ) -> Result<(), E> {
        let n = std::mem::take(&mut self.n_packed);
        let numbers = std::mem::take(&mut self.numbers);
        let answers = if n == 0 { Vec::new() } else { answer(numbers, n)? };
        assert_eq!(answers.len(), n, "because every example gets an answer");
        let mut answers = answers.into_iter();
        for (idx, failure) in self.waiting.drain(..) {
            let outcome = match (failure, &mut answers) {
                (Some(failure), _) => Err(failure),
                (None, answers) => Ok(answers.next().expect("because there are as many")),
            };
            deliver(&jobs[idx], outcome)?;
        }
        Ok(())
    }
}

/// Where decoders fetch jobs and put their results.
struct Desk<T> {
    n_jobs: usize,
    ahead: usize,
    state: Mutex<State<T>>,
    changed: Condvar,
}

struct State<T> {
    /// The next job that nobody has taken.
    next: usize,
    /// How many jobs were delivered.
    n_delivered: usize,
    /// Results that were not fetched yet, by position.
    done: BTreeMap<usize, T>,
    /// Nobody waits for results any more, or one will never come.
    is_closed: bool,
}

impl<T> Desk<T> {
    fn new(n_jobs: usize, ahead: usize) -> Self {
        let state = State { next: 0, n_delivered: 0, done: BTreeMap::new(), is_closed: false };
        Desk { n_jobs, ahead, state: Mutex::new(state), changed: Condvar::new() }
    }

    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'a>(&self, state: MutexGuard<'a, State<T>>) -> MutexGuard<'a, State<T>> {
        self.changed.wait(state).unwrap_or_else(PoisonError::into_inner)
    }

    /// The next job to decode, once it is not too far ahead; `None` when there is none left.
    fn take(&self) -> Option<usize> {
        let mut state = self.lock();
        while !state.is_closed
            && state.next < self.n_jobs
            && state.n_delivered + self.ahead <= state.next
        {
            state = self.wait(state);
        }
        if state.is_closed || state.next == self.n_jobs {
            return None;
        }
        state.next += 1;
        Some(state.next - 1)
    }

    fn put(&self, idx: usize, result: T) {
        self.lock().done.insert(idx, result);
        self.changed.notify_all();
    }

    /// The result of a job, once it is there; `None` if it never will be.
    fn next(&self, idx: usize) -> Option<T> {
        let mut state = self.lock();
        loop {
            if let Some(result) = state.done.remove(&idx) {
                return Some(result);
            }
            if state.is_closed {
                return None;
            }
            state = self.wait(state);
        }
    }

    fn delivered(&self, n: usize) {
        self.lock().n_delivered = n;
        self.changed.notify_all();
    }
}

/// Closes the desk when dropped, panics included.
struct Closing<'a, T>(&'a Desk<T>);

impl<T> Drop for Closing<'_, T> {
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

    /// Numbers above 99 cannot be decoded.
    fn decode(job: &u8) -> Result<Vec<f32>, String> {
        if *job < 100 { Ok(vec![f32::from(*job); 2]) } else { Err(format!("{job} is too large")) }
    }

    type Delivered = Vec<(u8, Result<f32, String>)>;

    /// Delivered outcomes in order, and how many examples each call of the engine had.
    fn outcomes(jobs: &[u8], feed: Feed) -> (Delivered, Vec<usize>) {
        let (mut delivered, mut calls) = (Vec::new(), Vec::new());
        let answer = |numbers: Vec<f32>, n: usize| {
            calls.push(n);
            assert_eq!(numbers.len(), n * 2);
            Ok::<_, ()>(numbers.chunks(2).map(|pair| pair.iter().sum()).collect())
        };
        let deliver = |job: &u8, outcome| {
            delivered.push((*job, outcome));
            Ok(())
        };
        run(jobs, feed, decode, answer, deliver).unwrap();
        (delivered, calls)
    }

    #[test]
    fn answers_come_in_the_order_of_the_jobs() {
        let jobs: Vec<u8> = (0..90).rev().collect();
        let (delivered, _) = outcomes(&jobs, feed(7, 4));
        let expected: Vec<_> = jobs.iter().map(|&job| (job, Ok(f32::from(job) * 2.0))).collect();
        assert_eq!(delivered, expected);
    }

    #[test]
    fn batches_are_full_whoever_the_examples_belong_to() {
        let (_, calls) = outcomes(&(0..50).collect::<Vec<u8>>(), feed(8, 3));
        assert_eq!(calls, [8, 8, 8, 8, 8, 8, 2]);
        // Failures take no place in a batch.
        let (_, calls) = outcomes(&[1, 200, 2, 201, 3, 4, 202], feed(2, 2));
        assert_eq!(calls, [2, 2]);
    }

    #[test]
    fn a_job_that_cannot_be_decoded_is_delivered_in_its_place() {
        let (delivered, _) = outcomes(&[200, 1, 201, 2], feed(4, 2));
        let failure = |job: u8| (job, Err(format!("{job} is too large")));
        assert_eq!(delivered, [failure(200), (1, Ok(2.0)), failure(201), (2, Ok(4.0))]);
    }

    #[test]
    fn only_failures_and_no_jobs_at_all_need_no_engine() {
        assert!(outcomes(&[200, 201], feed(4, 2)).1.is_empty());
        assert_eq!(outcomes(&[], feed(4, 2)), (vec![], vec![]));
    }

    #[test]
    fn one_by_one_is_the_same_as_in_batches() {
        let jobs: Vec<u8> = (80..120).collect();
        assert_eq!(outcomes(&jobs, feed(1, 1)).0, outcomes(&jobs, feed(16, 3)).0);
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
        let answer = |_: Vec<f32>, n: usize| {
            if std::mem::take(&mut is_first) {
                meeting.wait();
            }
            Ok::<_, ()>(vec![(); n])
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
        let answer = |_: Vec<f32>, n: usize| Ok::<_, ()>(vec![(); n]);
        run(&jobs, feed, decode, answer, |_, _| {
            n_delivered += 1;
            // What is delivered is only counted batch by batch.
            assert!(n_decoded.load(Ordering::SeqCst) <= n_delivered + feed.ahead());
            Ok(())
        })
        .unwrap();
    }

    #[test]
    fn an_error_of_the_engine_ends_the_run() {
        let jobs: Vec<u8> = (0..90).collect();
        let outcome =
            run(&jobs, feed(2, 2), decode, |_, _| Err::<Vec<()>, _>("broken"), |_, _| Ok(()));
        assert_eq!(outcome, Err("broken"));
    }

    #[test]
    #[should_panic(expected = "a scoped thread panicked")]
    fn a_panic_while_decoding_is_handed_on_and_nobody_waits() {
        let decode = |_: &u8| -> Result<Vec<f32>, ()> { panic!("broken decoder") };
        let answer = |_: Vec<f32>, n: usize| Ok::<_, ()>(vec![(); n]);
        let _ = run(&[1, 2, 3], feed(2, 2), decode, answer, |_, _| Ok(()));
    }
}
