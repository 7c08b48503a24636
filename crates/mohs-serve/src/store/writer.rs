//! The one writer: many requests, one transaction, one wait for the disk.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc as channel;
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

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

/// How long everybody may wait for readers to let go of SQLite's log, which holds what was deleted.
const MOST_HOLD: Duration = Duration::from_millis(50);
/// How long it is left alone after readers did not let go of it.
const ERASE_AGAIN: Duration = Duration::from_secs(1);

/// The way to the writer's thread.
pub(super) struct Writer {
    /// None when the writer ends.
    queue: Option<mpsc::Sender<Box<dyn Job>>>,
    /// Dropped with the writer, which ends the thread that keeps the log short.
    log: Option<channel::Sender<()>>,
    threads: Mutex<Vec<JoinHandle<()>>>,
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
    /// Whether SQLite's log may hold what somebody had deleted.
    is_log_to_erase: AtomicBool,
    /// Whether its file may: rows that are moved from page to page leave themselves behind there.
    is_file_to_rewrite: AtomicBool,
    /// Whether a write failed, and none was tried out since.
    has_failed: AtomicBool,
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
        // A crash may have left in the log what was deleted before.
        let counts = Arc::new(Counts { is_log_to_erase: true.into(), ..Counts::default() });
        let (log, stop) = channel::channel();
        let mut threads = Vec::new();
        if let Place::Sqlite(_) = &place {
            let (place, counts, queue) = (place.clone(), Arc::clone(&counts), queue.downgrade());
            threads.push(std::thread::spawn(move || keep_short(&place, &stop, &queue, &counts)));
        }
        let own_counts = Arc::clone(&counts);
        threads.push(std::thread::spawn(move || work(&place, connection, waiting, &own_counts)));
        Self { queue: Some(queue), log: Some(log), threads: Mutex::new(threads), counts }
    }

    pub(super) async fn run<T, F>(&self, job: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: FnMut(&mut dyn Connection) -> Result<T, StoreError> + Send + 'static,
    {
        let (reply, answer) = oneshot::channel();
        let asked = Box::new(Asked { job, value: None, reply });
        let queue = self.queue.as_ref().ok_or(StoreError::Closed)?;
        queue.send(asked).await.map_err(|_| StoreError::Closed)?;
        answer.await.map_err(|_| StoreError::Closed)?
    }

    /// Returns whether a write failed, and none was tried out since.
    pub(super) fn has_failed(&self) -> bool {
        self.counts.has_failed.load(Ordering::Relaxed)
    }

    /// Says that a write that was tried out is on disk.
    pub(super) fn note_success(&self) {
        self.counts.has_failed.store(false, Ordering::Relaxed);
    }

    pub(super) fn counts(&self) -> (u64, u64) {
        let Counts { n_commits, n_jobs, .. } = &*self.counts;
        (n_commits.load(Ordering::Relaxed), n_jobs.load(Ordering::Relaxed))
    }
}

impl Drop for Writer {
    /// Waits until everything is in its tables and the connections are closed: SQLite's log goes with the
    /// last of them.
    fn drop(&mut self) {
        (self.queue, self.log) = (None, None);
        let threads = self.threads.lock().map(|mut threads| std::mem::take(&mut *threads));
        for thread in threads.unwrap_or_default() {
            // A job that holds the last store is dropped by the writer's own thread.
            if thread.thread().id() != std::thread::current().id() {
                let _ = thread.join();
            }
        }
    }
}

fn work(
    place: &Place,
    mut connection: Box<dyn Connection>,
    mut waiting: mpsc::Receiver<Box<dyn Job>>,
    counts: &Counts,
) {
    let teller = tell_answers();
    let is_marked = |row: &dyn Row| row.whole(0) != 0;
    if matches!(place, Place::Sqlite(_))
        && matches!(connection.first("pragma user_version", &[], is_marked), Ok(Some(true)))
    {
        rewrite(connection.as_mut(), counts);
    }
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
            let has_deleted = counts.tell(connection.as_mut());
            // The teller is there as long as this thread.
            let _ = teller.send(jobs);
            if has_deleted && is_small(connection.as_mut()) {
                rewrite(connection.as_mut(), counts);
            }
            continue;
        }
        for job in jobs {
            let mut alone = [job];
            let outcome = transaction(connection.as_mut(), &mut alone);
            counts.tell(connection.as_mut());
            if outcome.is_err() {
                counts.has_failed.store(true, Ordering::Relaxed);
            }
            let [job] = alone;
            job.answer(outcome);
        }
    }
    // Nobody asks any more. Should this not come to its end, the journal has it.
    let rest: &mut dyn FnMut(&mut dyn Connection) -> _ = &mut memory::settle_all;
    let _ = in_transaction(connection.as_mut(), rest);
    counts.tell(connection.as_mut());
    if counts.is_file_to_rewrite.load(Ordering::Relaxed) {
        rewrite(connection.as_mut(), counts);
    }
}

/// Pages up to which a file is rewritten while others wait: it takes less than a second.
const FEW_PAGES: i64 = 16_384;

fn is_small(connection: &mut dyn Connection) -> bool {
    let n_pages = connection.first("pragma page_count", &[], |row: &dyn Row| row.whole(0));
    n_pages.is_ok_and(|found| found.is_some_and(|n_pages| n_pages <= FEW_PAGES))
}

/// Writes SQLite's file anew, without what was deleted. Where that fails, e.g. on a full disk, it is
/// tried again after the next deletion, when the server stops and when it starts.
fn rewrite(connection: &mut dyn Connection, counts: &Counts) {
    if connection.batch("vacuum; pragma user_version = 0").is_ok() {
        counts.is_file_to_rewrite.store(false, Ordering::Relaxed);
        counts.is_log_to_erase.store(true, Ordering::Relaxed);
    }
}

/// Starts a thread that answers what was committed, while the next group is written. Waking those who
/// asked takes longer than it seems.
fn tell_answers() -> channel::Sender<Vec<Box<dyn Job>>> {
    let (teller, committed) = channel::channel::<Vec<Box<dyn Job>>>();
    std::thread::spawn(move || {
        for jobs in committed {
            jobs.into_iter().for_each(|job| job.answer(Ok(())));
        }
    });
    teller
}

impl Counts {
    /// Notes a commit; returns whether somebody had data deleted.
    fn tell(&self, connection: &mut dyn Connection) -> bool {
        self.n_commits.fetch_add(1, Ordering::Relaxed);
        let is_behind = connection.memory().is_some_and(|memory| memory.is_behind());
        self.is_behind.store(is_behind, Ordering::Relaxed);
        let has_deleted = connection.memory().is_some_and(|memory| memory.take_deleted());
        if has_deleted {
            self.is_log_to_erase.store(true, Ordering::Relaxed);
            self.is_file_to_rewrite.store(true, Ordering::Relaxed);
        }
        has_deleted
    }
}

const MOVE_LOG: &str = "pragma wal_checkpoint(passive)";
/// Moves all of the log and leaves nothing of it; column 0 says whether somebody held on to it.
const ERASE_LOG: &str = "pragma wal_checkpoint(truncate)";

/// Keeps journal and log short, beside the writer: has idle sessions settled, and moves SQLite's log
/// into its file until the rest is short enough for the writer. After a withdrawal it empties the log,
/// where old pages stand.
///
/// Only a log that was moved as a whole begins anew, and while it is moved more is written.
fn keep_short(
    place: &Place,
    stop: &channel::Receiver<()>,
    queue: &mpsc::WeakSender<Box<dyn Job>>,
    counts: &Counts,
) {
    let Ok(mut connection) = place.open() else { return };
    let hold = format!("pragma busy_timeout = {}", MOST_HOLD.as_millis());
    if connection.batch(&hold).is_err() {
        return;
    }
    let mut erase_from = Instant::now();
    while stop.recv_timeout(LOOK_EVERY) == Err(channel::RecvTimeoutError::Timeout) {
        if counts.is_behind.load(Ordering::Relaxed)
            && let Some(queue) = queue.upgrade()
        {
            let (reply, _) = oneshot::channel();
            // When the queue is full there is enough to do.
            let _ = queue.try_send(Box::new(Asked { job: memory::tidy, value: None, reply }));
        }
        if counts.is_log_to_erase.load(Ordering::Relaxed) && erase_from <= Instant::now() {
            // What is deleted from now on needs another round.
            counts.is_log_to_erase.store(false, Ordering::Relaxed);
            let is_held = connection.first(ERASE_LOG, &[], |row: &dyn Row| row.flag(0));
            if !matches!(is_held, Ok(Some(false))) {
                counts.is_log_to_erase.store(true, Ordering::Relaxed);
                erase_from = Instant::now() + ERASE_AGAIN;
            }
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
