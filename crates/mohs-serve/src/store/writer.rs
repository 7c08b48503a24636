//! The one writer: many requests, one transaction, one wait for the disk.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc as channel;
use std::time::Duration;

use tokio::sync::{mpsc, oneshot};

use super::connection::{Connection, Row};
use super::{Place, StoreError, memory};

/// Requests in one transaction, at most. While one transaction goes to disk the next requests
/// gather, so groups grow with the load and nobody waits for a group to fill.
const MOST_TOGETHER: usize = 256;
/// Requests that wait, at most; more have to wait for a place.
const MOST_WAITING: usize = 4_096;

/// How often somebody looks whether SQLite's log has grown.
const LOOK_EVERY: Duration = Duration::from_millis(250);
/// Pages from which the log is moved into the file. Short logs are searched faster.
const LONG_LOG: i64 = 4_000;
/// Pages that the writer moves itself, at most: it takes a few milliseconds.
const SHORT_REST: i64 = 1_000;
/// Times the log is gone through for the rest to become short; while it is, more is written.
const MOST_PASSES: usize = 4;

/// The way to the writer's thread.
pub(super) struct Writer {
    queue: mpsc::Sender<Box<dyn Job>>,
    /// Dropped with the writer, which ends the thread that keeps the log short.
    _log: channel::Sender<()>,
    counts: Arc<Counts>,
}

/// What the writer tells of itself.
#[derive(Default)]
struct Counts {
    n_commits: AtomicU64,
    n_jobs: AtomicU64,
    /// Whether there may be something in the journal that is not in its tables.
    is_behind: AtomicBool,
    /// Whether the rest of SQLite's log is short enough for the writer to move it.
    is_log_ready: AtomicBool,
}

/// Something to run in a transaction and to answer after it.
trait Job: Send {
    fn run(&mut self, connection: &mut dyn Connection) -> Result<(), StoreError>;
    fn answer(self: Box<Self>, outcome: Result<(), StoreError>);
}

struct Asked<F, T> {
    job: F,
    value: Option<T>,
    reply: oneshot::Sender<Result<T, StoreError>>,
}

impl<F, T> Job for Asked<F, T>
where
    T: Send,
    F: FnMut(&mut dyn Connection) -> Result<T, StoreError> + Send,
{
    fn run(&mut self, connection: &mut dyn Connection) -> Result<(), StoreError> {
        self.value = Some((self.job)(connection)?);
        Ok(())
    }

    fn answer(self: Box<Self>, outcome: Result<(), StoreError>) {
        let Self { value, reply, .. } = *self;
        // Whoever asked may have gone; what they asked for is done all the same.
        let _ = reply.send(outcome.and_then(|()| value.ok_or(StoreError::Closed)));
    }
}

impl Writer {
    pub(super) fn start(place: Place, connection: Box<dyn Connection>) -> Self {
        let (queue, waiting) = mpsc::channel(MOST_WAITING);
        let counts = Arc::new(Counts::default());
        let (log, stop) = channel::channel();
        if let Place::Sqlite(_) = &place {
            let (place, counts, queue) = (place.clone(), Arc::clone(&counts), queue.downgrade());
            std::thread::spawn(move || keep_short(&place, &stop, &queue, &counts));
        }
        let own_counts = Arc::clone(&counts);
        std::thread::spawn(move || work(&place, connection, waiting, &own_counts));
        Self { queue, _log: log, counts }
    }

    pub(super) async fn run<T, F>(&self, job: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: FnMut(&mut dyn Connection) -> Result<T, StoreError> + Send + 'static,
    {
        let (reply, answer) = oneshot::channel();
        let asked = Box::new(Asked { job, value: None, reply });
        self.queue.send(asked).await.map_err(|_| StoreError::Closed)?;
        answer.await.map_err(|_| StoreError::Closed)?
    }

    pub(super) fn counts(&self) -> (u64, u64) {
        let Counts { n_commits, n_jobs, .. } = &*self.counts;
        (n_commits.load(Ordering::Relaxed), n_jobs.load(Ordering::Relaxed))
    }
}

fn work(
    place: &Place,
    mut connection: Box<dyn Connection>,
    mut waiting: mpsc::Receiver<Box<dyn Job>>,
    counts: &Counts,
) {
    while let Some(first) = waiting.blocking_recv() {
        let mut jobs = vec![first];
        while jobs.len() < MOST_TOGETHER {
            let Ok(job) = waiting.try_recv() else { break };
            jobs.push(job);
        }
        if counts.is_log_ready.swap(false, Ordering::Relaxed) {
            // The rest of the log, so that the next commit begins it anew.
            let _ = connection.batch(MOVE_LOG);
        }
        if connection.is_closed()
            && let Ok(fresh) = place.open_to_write()
        {
            connection = fresh;
        }
        counts.n_jobs.fetch_add(jobs.len() as u64, Ordering::Relaxed);
        if transaction(connection.as_mut(), &mut jobs).is_ok() {
            counts.tell(connection.as_mut());
            jobs.into_iter().for_each(|job| job.answer(Ok(())));
            continue;
        }
        for job in jobs {
            let mut alone = [job];
            let outcome = transaction(connection.as_mut(), &mut alone);
            counts.tell(connection.as_mut());
            let [job] = alone;
            job.answer(outcome);
        }
    }
    // Nobody asks any more. Should this not come to its end, the journal has it.
    let rest: &mut dyn FnMut(&mut dyn Connection) -> _ = &mut memory::settle_all;
    let _ = in_transaction(connection.as_mut(), rest);
}

impl Counts {
    /// Notes a commit.
    fn tell(&self, connection: &mut dyn Connection) {
        self.n_commits.fetch_add(1, Ordering::Relaxed);
        let is_behind = connection.memory().is_some_and(|memory| memory.is_behind());
        self.is_behind.store(is_behind, Ordering::Relaxed);
    }
}

const MOVE_LOG: &str = "pragma wal_checkpoint(passive)";

/// Keeps journal and log short, beside the writer: has idle sessions settled, and moves SQLite's log
/// into its file until the rest is short enough for the writer.
///
/// Only a log that was moved as a whole begins anew, and while it is moved more is written.
fn keep_short(
    place: &Place,
    stop: &channel::Receiver<()>,
    queue: &mpsc::WeakSender<Box<dyn Job>>,
    counts: &Counts,
) {
    let Ok(mut connection) = place.open() else { return };
    while stop.recv_timeout(LOOK_EVERY) == Err(channel::RecvTimeoutError::Timeout) {
        if counts.is_behind.load(Ordering::Relaxed)
            && let Some(queue) = queue.upgrade()
        {
            let (reply, _) = oneshot::channel();
            // When the queue is full there is enough to do.
            let _ = queue.try_send(Box::new(Asked { job: memory::tidy, value: None, reply }));
        }
        for _ in 0..MOST_PASSES {
            // Columns: 0 whether it could not, 1 pages in the log, 2 pages of it that were moved.
            let pages = |row: &dyn Row| (row.whole(1), row.whole(2));
            let Ok(Some((in_log, moved))) = connection.first(MOVE_LOG, &[], pages) else { break };
            if in_log < LONG_LOG {
                break;
            }
            if in_log - moved < SHORT_REST {
                counts.is_log_ready.store(true, Ordering::Relaxed);
                break;
            }
        }
    }
}

fn transaction(
    connection: &mut dyn Connection,
    jobs: &mut [Box<dyn Job>],
) -> Result<(), StoreError> {
    in_transaction(connection, &mut |tx| jobs.iter_mut().try_for_each(|job| job.run(tx)))
}

fn in_transaction(
    connection: &mut dyn Connection,
    work: &mut dyn FnMut(&mut dyn Connection) -> Result<(), StoreError>,
) -> Result<(), StoreError> {
    connection.begin()?;
    // A panic is a bug in one job; the writer must outlive it.
    let work = std::panic::AssertUnwindSafe(|| work(connection));
    let outcome = std::panic::catch_unwind(work).unwrap_or(Err(StoreError::Panicked));
    let outcome = outcome.and_then(|()| connection.batch("commit"));
    if outcome.is_err() {
        connection.undo();
    }
    outcome
}
