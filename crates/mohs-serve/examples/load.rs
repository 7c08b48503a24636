//! Bots over HTTP: how many durable submissions a server takes, and whether any is lost when
//! requests and answers get lost, come twice and come out of order.
//!
//! ```text
//! load make FOLDER N_STIMULI                          a study of flashes with tiny pictures
//! load serve FOLDER HOST:PORT                         hosts it, without anything else of `mohs`
//! load run HOST:PORT STUDY N_BOTS SECONDS [LOSS]      e.g. LOSS = 0.3; prints what bots know
//! ```
//!
//! Without loss, bots answer as fast as they can and the time to each acknowledgement is measured.
//! With loss, a tenth of the requests is also sent twice and events are sent out of order; a server
//! that is killed and started again meanwhile is met as lost requests. In the end every bot sends
//! what is left, and `answered` must be what `mohs export` finds.
#![expect(clippy::print_stdout, reason = "a tool that prints its numbers")]

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use mohs_data::format::write_all;
use mohs_data::{Extra, Label, Prepared, Seed, StimulusId, Study, Task};
use mohs_score::draw::Draw;
use mohs_serve::app::{App, Setup};
use mohs_serve::bots::{Answer, Bot, BotError, Http, Transport, join_request};
use mohs_serve::hosted::Hosted;
use mohs_serve::listen;
use mohs_serve::router::router;
use mohs_serve::store::{Place, Store};
use mohs_serve::token::{fresh_id, hex};
use sha2::{Digest, Sha256};

#[tokio::main]
async fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    match words[..] {
        ["make", folder, n] => make(Path::new(folder), n.parse().unwrap_or(1_000)),
        ["serve", folder, address] => serve(Path::new(folder), address).await,
        ["run", address, study, n_bots, seconds, ref rest @ ..] => {
            let loss = rest.first().and_then(|loss| loss.parse().ok()).unwrap_or(0.0);
            let (n_bots, seconds) = (n_bots.parse().unwrap_or(50), seconds.parse().unwrap_or(10));
            run(address, study, n_bots, Duration::from_secs(seconds), loss).await;
        }
        _ => {
            println!("load make FOLDER N_STIMULI | load run HOST:PORT STUDY N_BOTS SECONDS [LOSS]")
        }
    }
}

/// Makes a study whose cells never fill.
fn make(folder: &Path, n: u32) {
    let mut study = Study::new("load", Task::Flash);
    study.flash.participants_per_cell = 1_000_000;
    study.flash.trials_per_participant = 50;
    let pictures = folder.join("prepared");
    std::fs::create_dir_all(&pictures).expect("the folder can be made");
    let bytes = b"not shown to anybody";
    let image = hex(&Sha256::digest(bytes));
    std::fs::write(pictures.join(format!("{image}.png")), bytes).expect("a file can be written");
    let prepared: Vec<Prepared> = (0..n)
        .map(|idx| Prepared {
            stimulus: StimulusId::new(format!("s{idx}")),
            label: Label::new(format!("label {}", idx % 50)),
            condition: None,
            image: image.clone(),
            mask: None,
            source: hex(&Sha256::digest(idx.to_be_bytes())),
            attribute: None,
            level: None,
            side_px: 8,
            flashes: None,
            extra: Extra::default(),
        })
        .collect();
    study.write(&folder.join("study.toml")).expect("a file can be written");
    write_all(&folder.join("prepared.csv"), &prepared).expect("a file can be written");
}

async fn serve(folder: &Path, address: &str) {
    let hosted = Arc::new(Hosted::read(folder).expect("a study that can be hosted"));
    let place = Place::Sqlite(folder.join("mohs.db"));
    let store = tokio::task::spawn_blocking(move || Store::open(&place)).await;
    let store = store.expect("a thread").expect("a database");
    let app = App::start(store, vec![hosted], Setup::default()).await.expect("a server");
    let listener = tokio::net::TcpListener::bind(address).await.expect("a free port");
    listen::serve(listener, None, router(app), std::future::pending()).await;
}

/// A line that loses requests and answers.
struct Lossy {
    http: Http,
    loss: f64,
    n: AtomicU64,
    seed: u64,
}

impl Transport for Lossy {
    async fn post(
        &self,
        path: &str,
        token: Option<&str>,
        body: String,
    ) -> Result<(u16, Vec<u8>), BotError> {
        let n = self.n.fetch_add(1, Ordering::Relaxed);
        let mut draw = Draw::new(Seed(self.seed), &[n]);
        let (is_lost, is_before) = (draw.chance(self.loss), draw.chance(0.5));
        if is_lost && is_before {
            return Err(BotError::Lost);
        }
        if 0.0 < self.loss && draw.chance(0.1) {
            let _ = self.http.post(path, token, body.clone()).await;
        }
        let answer = self.http.post(path, token, body).await;
        if is_lost { Err(BotError::Lost) } else { answer }
    }
}

#[derive(Default)]
struct Totals {
    n_answered: AtomicU64,
    n_sessions: AtomicU64,
    n_refused: AtomicU64,
}

async fn run(address: &str, study: &str, n_bots: usize, time: Duration, loss: f64) {
    let totals = Arc::new(Totals::default());
    let start = Instant::now();
    let tasks: Vec<_> = (0..n_bots)
        .map(|idx| {
            let (address, study) = (address.to_owned(), study.to_owned());
            let totals = Arc::clone(&totals);
            tokio::spawn(async move {
                let mut waits = Vec::new();
                let mut round = 0;
                while start.elapsed() < time {
                    round += 1;
                    let line = Lossy {
                        http: Http::new(&address),
                        loss,
                        n: AtomicU64::new(0),
                        seed: (idx * 100_000 + round) as u64,
                    };
                    session(line, &study, &totals, &mut waits, (start, time), 0.0 < loss).await;
                }
                waits
            })
        })
        .collect();
    let mut waits = Vec::new();
    for task in tasks {
        waits.extend(task.await.unwrap_or_default());
    }
    let seconds = start.elapsed().as_secs_f64();
    waits.sort_unstable();
    let at = |share: f64| {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a position")]
        let idx = (share * waits.len() as f64) as usize;
        waits.get(idx).copied().unwrap_or_default().as_secs_f64() * 1_000.0
    };
    let n = totals.n_answered.load(Ordering::Relaxed);
    println!(
        "answered {n}, sessions {}, refused {}, {:.0} submissions/s, ack p50 {:.1} ms, p99 {:.1} ms, \
         {seconds:.1} s",
        totals.n_sessions.load(Ordering::Relaxed),
        totals.n_refused.load(Ordering::Relaxed),
        n as f64 / seconds,
        at(0.5),
        at(0.99),
    );
}

/// Asks until an answer comes.
macro_rules! insist {
    ($totals:expr, $ask:expr) => {
        loop {
            match $ask.await {
                Ok(answer) => break answer,
                Err(BotError::Refused { status, .. }) if status < 500 => {
                    $totals.n_refused.fetch_add(1, Ordering::Relaxed);
                    return;
                }
                Err(_) => tokio::time::sleep(Duration::from_millis(100)).await,
            }
        }
    };
}

async fn session(
    line: Lossy,
    study: &str,
    totals: &Totals,
    waits: &mut Vec<Duration>,
    (start, time): (Instant, Duration),
    is_chaos: bool,
) {
    let line = Arc::new(line);
    let request = join_request(Some(&fresh_id()));
    let mut bot = insist!(totals, Bot::join(Shared(Arc::clone(&line)), study, &request));
    totals.n_sessions.fetch_add(1, Ordering::Relaxed);
    let mut draw = Draw::new(Seed(line.seed), &[u64::MAX]);
    loop {
        let Some(block) = insist!(totals, bot.block()).block else { break };
        for trial in &block.trials {
            if time <= start.elapsed() {
                break;
            }
            bot.start(trial);
            let response = Some(trial.options[draw.below(trial.options.len())].clone());
            bot.answer(trial, &Answer::new(response, 700.0), 0);
            let sent = Instant::now();
            if is_chaos {
                // Whatever becomes of it: the outbox is sent until it is acknowledged.
                let mut some = bot.outbox().to_vec();
                draw.shuffle(&mut some);
                some.truncate(1 + draw.below(some.len()));
                let _ = bot.send(some).await;
                let _ = bot.flush().await;
            } else {
                insist!(totals, bot.flush());
                waits.push(sent.elapsed());
            }
            if !block.is_practice {
                totals.n_answered.fetch_add(1, Ordering::Relaxed);
            }
        }
        while !bot.outbox().is_empty() {
            insist!(totals, bot.flush());
        }
        if time <= start.elapsed() {
            return;
        }
    }
    insist!(totals, bot.end(false));
}

/// A line that several can hold.
struct Shared(Arc<Lossy>);

impl Transport for Shared {
    async fn post(
        &self,
        path: &str,
        token: Option<&str>,
        body: String,
    ) -> Result<(u16, Vec<u8>), BotError> {
        self.0.post(path, token, body).await
    }
}
