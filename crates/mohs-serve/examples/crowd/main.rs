//! A crowd of simulated participants over HTTP, for load and for chaos. Not part of the product.
//!
//! ```text
//! crowd --address 127.0.0.1:8080 --study NAME --participants 5000 [--at-once 200] [--per-second 2000]
//!       [--arrivals 500] [--loss 0.3] [--duplicates 0.1] [--reorder] [--drop-out 0.3] [--voids 0.05] [--seed 1]
//!       [--seconds 60] [--until-empty] [--ledger FILE] [--peer toolkit|lean|psiturk]
//! crowd --noop 127.0.0.1:8080
//! ```
//!
//! Each participant joins, fetches blocks, answers every trial and asks for the completion code. As the
//! page does, a participant sends one request per trial: what became of it, and that the next begins.
//! Requests are lost before they are sent or after they were answered, sent twice and sent in another
//! order, as told; like the page, a participant never gives up and never forgets what is not acked. The
//! ledger has one line per answered trial (`session,trial,response`), to be held against an export.
//! With `--until-empty`, new participants come until none has found anything to do for 100 seconds.
//! Ends with one line of JSON: what was sent, how fast it was acked, what the crowd itself took of the
//! processor, and what the server said. With `--noop` it is no crowd but a server that does nothing.

mod bot;
mod http;
mod noop;
mod peer;

use std::collections::BTreeMap;
use std::io::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use tokio::sync::Semaphore;

/// What was asked for on the command line.
pub(crate) struct Options {
    pub(crate) address: String,
    pub(crate) study: String,
    pub(crate) participants: u64,
    pub(crate) at_once: usize,
    /// Submissions per second of the whole crowd; as fast as possible when 0.
    pub(crate) per_second: f64,
    /// Participants who come per second; all at once when 0.
    pub(crate) arrivals: f64,
    pub(crate) loss: f64,
    pub(crate) duplicates: f64,
    pub(crate) reorder: bool,
    pub(crate) drop_out: f64,
    pub(crate) voids: f64,
    pub(crate) seed: u64,
    pub(crate) seconds: f64,
    pub(crate) until_empty: bool,
    pub(crate) peer: Option<String>,
    /// Whether there is to be a ledger.
    pub(crate) has_ledger: bool,
}

/// How long nobody may have found anything before the crowd goes home.
const PATIENCE: Duration = Duration::from_secs(100);

/// A moment; now, unless told otherwise.
pub(crate) struct Moment(Instant);

impl Default for Moment {
    fn default() -> Self {
        Self(Instant::now())
    }
}

impl Moment {
    fn elapsed(&self) -> Duration {
        self.0.elapsed()
    }
}

/// What the crowd has seen, shared by all.
#[derive(Default)]
pub(crate) struct Tally {
    /// Answered trials that the server acknowledged.
    pub(crate) n_acked: AtomicU64,
    /// Sessions that got their code.
    pub(crate) n_complete: AtomicU64,
    /// Sessions left in the middle.
    pub(crate) n_dropped_out: AtomicU64,
    /// Participants for whom nothing was left to do.
    pub(crate) n_empty: AtomicU64,
    /// When somebody last found something to do.
    pub(crate) found: Mutex<Moment>,
    /// Requests sent, lost ones and repetitions included.
    pub(crate) n_requests: AtomicU64,
    /// Microseconds from the first try of a submission to its ack, by the second of the ack.
    pub(crate) waits_us: Mutex<BTreeMap<u64, Vec<u32>>>,
    /// When the crowd set out.
    pub(crate) start: Moment,
    /// Answers other than 2xx by status and code.
    pub(crate) refusals: Mutex<BTreeMap<String, u64>>,
    /// `session,trial,response` of every answered trial.
    pub(crate) ledger: Mutex<Vec<String>>,
}

impl Tally {
    /// Notes an acknowledged submission of one trial.
    pub(crate) fn note_ack(&self, begun: Instant) {
        count(&self.n_acked);
        let micros = u32::try_from(begun.elapsed().as_micros()).unwrap_or(u32::MAX);
        let second = self.start.elapsed().as_secs();
        lock(&self.waits_us).entry(second).or_default().push(micros);
    }

    /// Notes an answer other than 2xx.
    pub(crate) fn note_refusal(&self, answer: &http::Answer<'_>) {
        let text = String::from_utf8_lossy(answer.body);
        let code = text.split("\"code\":\"").nth(1).and_then(|rest| rest.split('"').next());
        let name = format!("{} {}", answer.status, code.unwrap_or("-"));
        *lock(&self.refusals).entry(name).or_default() += 1;
    }
}

/// Counts one more.
pub(crate) fn count(counter: &AtomicU64) {
    counter.fetch_add(1, Ordering::Relaxed);
}

/// Locks what the crowd shares; nobody holds it over a wait.
pub(crate) fn lock<T>(shared: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    shared.lock().expect("because bots do not panic")
}

fn main() {
    let mut arguments: BTreeMap<String, String> = BTreeMap::new();
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let name = word.trim_start_matches("--").to_owned();
        let is_switch = ["reorder", "until-empty"].contains(&name.as_str());
        let value = if is_switch { "1".into() } else { words.next().unwrap_or_default() };
        arguments.insert(name, value);
    }
    let text = |name: &str, default: &str| arguments.get(name).cloned().unwrap_or(default.into());
    let number = |name: &str, default: f64| -> f64 {
        arguments.get(name).map_or(default, |value| value.parse().expect("a number"))
    };
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "typed by hand")]
    let whole = |name: &str, default: f64| number(name, default) as u64;
    let options = Arc::new(Options {
        address: text("address", "127.0.0.1:8080"),
        study: text("study", "study"),
        participants: whole("participants", 100.0),
        at_once: usize::try_from(whole("at-once", 100.0)).expect("a small number"),
        per_second: number("per-second", 0.0),
        arrivals: number("arrivals", 0.0),
        loss: number("loss", 0.0),
        duplicates: number("duplicates", 0.0),
        reorder: arguments.contains_key("reorder"),
        drop_out: number("drop-out", 0.0),
        voids: number("voids", 0.0),
        seed: whole("seed", 1.0),
        seconds: number("seconds", 0.0),
        until_empty: arguments.contains_key("until-empty"),
        peer: arguments.get("peer").cloned(),
        has_ledger: arguments.contains_key("ledger"),
    });
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("because a thread can be had");
    if let Some(address) = arguments.get("noop") {
        runtime.block_on(noop::serve(address));
    }
    let tally = Arc::new(Tally::default());
    let begun = Instant::now();
    runtime.block_on(run(Arc::clone(&options), Arc::clone(&tally)));
    let took = begun.elapsed();
    tell(&tally, took, arrival_s(&options), arguments.get("ledger"));
}

/// Returns the first second in which everybody is there.
fn arrival_s(options: &Options) -> u64 {
    if options.arrivals <= 0.0 {
        return 0;
    }
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "a few seconds"
    )]
    let seconds = (options.at_once as f64 / options.arrivals).ceil() as u64;
    seconds + 1
}

/// Sends the crowd, so many at once.
async fn run(options: Arc<Options>, tally: Arc<Tally>) {
    let seats = Arc::new(Semaphore::new(options.at_once));
    let end =
        (0.0 < options.seconds).then(|| Instant::now() + Duration::from_secs_f64(options.seconds));
    let mut people = Vec::new();
    let mut n_empty = 0;
    let mut due = Instant::now();
    for participant in 0..options.participants {
        let seat = Arc::clone(&seats).acquire_owned().await.expect("because nobody closes it");
        if end.is_some_and(|end| end <= Instant::now()) {
            break;
        }
        // What people left behind comes back when its lease ends.
        if options.until_empty && n_empty < tally.n_empty.load(Ordering::Relaxed) {
            n_empty = tally.n_empty.load(Ordering::Relaxed);
            if PATIENCE < lock(&tally.found).elapsed() {
                break;
            }
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
        if 0.0 < options.arrivals {
            due += Duration::from_secs_f64(1.0 / options.arrivals);
            tokio::time::sleep_until(due.into()).await;
        }
        let (options, tally) = (Arc::clone(&options), Arc::clone(&tally));
        people.push(tokio::spawn(async move {
            match options.peer.as_deref() {
                Some(peer) => peer::take_part(peer, participant, end, &options, &tally).await,
                None => bot::take_part(participant, end, &options, &tally).await,
            }
            drop(seat);
        }));
    }
    for person in people {
        person.await.expect("because bots do not panic");
    }
}

/// Prints what happened as one line of JSON, and writes the ledger.
///
/// `steady` is what happened from `arrival_s` on, when everybody was there.
fn tell(tally: &Tally, took: Duration, arrival_s: u64, ledger: Option<&String>) {
    let by_second = lock(&tally.waits_us);
    let of = |first: u64| {
        let mut waits: Vec<u32> =
            by_second.range(first..).flat_map(|(_, us)| us).copied().collect();
        waits.sort_unstable();
        waits
    };
    let (waits, steady) = (of(0), of(arrival_s));
    let at = |waits: &[u32], share: f64| -> f64 {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            clippy::cast_precision_loss,
            reason = "a place in a list"
        )]
        let idx = (share * waits.len() as f64) as usize;
        waits.get(idx.min(waits.len().saturating_sub(1))).map_or(0.0, |us| f64::from(*us) / 1e3)
    };
    let mut n_by_second: Vec<usize> =
        by_second.range(arrival_s..).map(|(_, us)| us.len()).collect();
    n_by_second.sort_unstable();
    let counted = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
    #[expect(clippy::cast_precision_loss, reason = "counts are small")]
    let per_second = counted(&tally.n_acked) as f64 / took.as_secs_f64();
    let said = serde_json::json!({
        "seconds": took.as_secs_f64(),
        "acked": counted(&tally.n_acked),
        "acked_per_second": per_second,
        "p50_ms": at(&waits, 0.5),
        "p99_ms": at(&waits, 0.99),
        "max_ms": at(&waits, 1.0),
        "steady": {
            "acked_in_median_second": n_by_second.get(n_by_second.len() / 2),
            "p50_ms": at(&steady, 0.5),
            "p99_ms": at(&steady, 0.99),
        },
        "complete": counted(&tally.n_complete),
        "dropped_out": counted(&tally.n_dropped_out),
        "nothing_left": counted(&tally.n_empty),
        "requests": counted(&tally.n_requests),
        "crowd_cpu_s": cpu_s(),
        "refusals": *lock(&tally.refusals),
    });
    if let Some(path) = ledger {
        let lines = lock(&tally.ledger);
        std::fs::write(path, lines.join("\n") + "\n").expect("because the folder is there");
    }
    writeln!(std::io::stdout(), "{said}").expect("because somebody reads it");
}

/// Returns the processor time that this process took, in seconds; none where nobody says.
fn cpu_s() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/self/stat").ok()?;
    // After the name in brackets: fields 14 and 15 of all, in hundredths of a second.
    let after = text.rsplit_once(')')?.1;
    let fields: Vec<f64> = after.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    Some((fields.get(10)? + fields.get(11)?) / 100.0)
}
