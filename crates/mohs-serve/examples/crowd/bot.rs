//! One simulated participant: joins, answers every trial, gets the code, whatever happens on the way.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use mohs_serve::token::sha256;
use mohs_serve::wire::{
    Ack, Block, BlockAnswer, EndAnswer, Event, EventBatch, EventBody, Joined, PlannedTrial,
    TrialReport,
};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::http::{Connection, Question};
use crate::{Moment, Options, Tally, count, lock};

/// Time between two frames of everybody's screen.
const PERIOD_MS: f64 = 1000.0 / 60.0;
/// How many submissions wait at most before the next trial begins.
const MOST_WAITING: usize = 4;

struct Bot<'a> {
    options: &'a Options,
    tally: &'a Tally,
    connection: Connection,
    rng: ChaCha8Rng,
    session: String,
    token: String,
    seq: u32,
    last_hash: String,
    /// What happened since the last submission.
    news: Vec<Event>,
    /// Submissions that are not acked yet.
    outbox: Vec<Submission>,
    clock_ms: f64,
    /// The body of the last answer that was no success.
    last_refusal: String,
    /// When the next submission is due, if the crowd keeps a pace.
    due: Instant,
}

/// Events that are sent together.
struct Submission {
    /// When it was to be sent.
    begun: Instant,
    /// Whether an answered trial is among them.
    has_trial: bool,
    batch: EventBatch,
}

/// Takes part from beginning to end, or until the participant drops out or time is up.
pub(crate) async fn take_part(
    participant: u64,
    end: Option<Instant>,
    options: &Options,
    tally: &Tally,
) {
    let mut rng = ChaCha8Rng::seed_from_u64(options.seed ^ (participant << 20));
    // Everybody starts at another moment of the pace.
    let wait = pace(options).mul_f64(rng.random::<f64>());
    let mut bot = Bot {
        options,
        tally,
        connection: Connection::to(&options.address),
        rng,
        session: String::new(),
        token: String::new(),
        seq: 0,
        last_hash: String::new(),
        news: Vec::new(),
        outbox: Vec::new(),
        clock_ms: 1000.0,
        last_refusal: String::new(),
        due: Instant::now() + wait,
    };
    if !bot.join(participant).await {
        count(&tally.n_empty);
        return;
    }
    bot.seal(&EventBody::Page {
        at_ms: bot.clock_ms,
        page: "consent".into(),
        choices: BTreeMap::from([("agreed".into(), "yes".into())]),
    });
    bot.submit(false).await;
    // Without it there are no trials, so it may not wait for others.
    bot.deliver(0).await;
    let leaves_after: Option<u32> =
        (bot.rng.random::<f64>() < options.drop_out).then(|| bot.rng.random_range(1..20));
    let mut n_answered = 0;
    let mut did_anything = false;
    while let Some(block) = bot.block().await {
        did_anything = true;
        *lock(&tally.found) = Moment::default();
        // The page waits a moment before it sends, so that the end of a trial and the beginning of the
        // next go together. The first of a block begins alone.
        bot.start(&block.trials[0]);
        bot.submit(false).await;
        for (idx, trial) in block.trials.iter().enumerate() {
            if end.is_some_and(|end| end <= Instant::now()) {
                bot.deliver(0).await;
                return;
            }
            if leaves_after.is_some_and(|most| most <= n_answered) {
                bot.deliver(0).await;
                count(&tally.n_dropped_out);
                return;
            }
            bot.answer(trial, &block).await;
            if let Some(next) = block.trials.get(idx + 1) {
                bot.start(next);
            }
            bot.submit(true).await;
            n_answered += 1;
        }
        bot.deliver(0).await;
    }
    bot.deliver(0).await;
    if !did_anything {
        count(&tally.n_empty);
    }
    bot.finish().await;
}

/// Time between two submissions of one participant.
fn pace(options: &Options) -> Duration {
    if options.per_second <= 0.0 {
        return Duration::ZERO;
    }
    #[expect(clippy::cast_precision_loss, reason = "a small number")]
    let share = options.at_once as f64 / options.per_second;
    Duration::from_secs_f64(share)
}

impl Bot<'_> {
    /// Opens a session; returns whether the study still wants anybody.
    async fn join(&mut self, participant: u64) -> bool {
        let body = serde_json::json!({
            "recruiter": "link",
            "recruiter_id": format!("bot-{}-{participant}", self.options.seed),
            "browser": "chromium 150",
            "system": "linux",
        });
        let path = format!("/api/studies/{}/join", self.options.study);
        let mut wait = Duration::from_millis(20);
        let joined: Joined = loop {
            if let Some(joined) = self.try_once(&path, body.to_string().as_bytes()).await {
                break joined;
            }
            if self.last_refusal.contains("study_full") {
                return false;
            }
            tokio::time::sleep(wait).await;
            wait = (wait * 2).min(Duration::from_secs(2));
        };
        self.last_hash = sha256(&[&format!("{}/{}", joined.session, joined.epoch)]);
        self.session = joined.session;
        self.token = joined.token;
        true
    }

    async fn block(&mut self) -> Option<Block> {
        let body = serde_json::json!({ "screen": {
            "period_ms": PERIOD_MS, "period_mad_ms": 0.05, "share_late": 0.0, "width_px": 1280,
            "height_px": 800, "pixel_ratio": 1.0, "is_fullscreen": true, "is_isolated": true,
        }});
        let path = format!("/api/sessions/{}/block", self.session);
        let answer: BlockAnswer = self.insist(&path, body.to_string().as_bytes()).await;
        answer.block
    }

    /// Begins a trial.
    fn start(&mut self, trial: &PlannedTrial) {
        self.clock_ms += 1500.0;
        let at_ms = self.clock_ms - 600.0;
        self.seal(&EventBody::TrialStart { at_ms, trial: trial.trial.clone() });
    }

    /// Answers a trial, when the pace says so.
    async fn answer(&mut self, trial: &PlannedTrial, block: &Block) {
        let report = self.report(trial, block, self.clock_ms);
        // Exports have no practice.
        if self.options.has_ledger && !block.is_practice {
            let response = report.response.as_deref().unwrap_or_default();
            let line = format!("{},{},{response}", self.session, trial.trial);
            lock(&self.tally.ledger).push(line);
        }
        let pace = pace(self.options);
        if !pace.is_zero() {
            tokio::time::sleep_until(self.due.into()).await;
            self.due += pace;
        }
        self.seal(&EventBody::Trial { at_ms: self.clock_ms, report });
    }

    /// Hands in what happened since the last time.
    async fn submit(&mut self, has_trial: bool) {
        let batch = EventBatch { events: std::mem::take(&mut self.news) };
        self.outbox.push(Submission { begun: Instant::now(), has_trial, batch });
        let most = if self.options.reorder { MOST_WAITING } else { 0 };
        self.deliver(most).await;
    }

    /// What a page would report; now and then a frame too many.
    fn report(&mut self, trial: &PlannedTrial, block: &Block, onset: f64) -> TrialReport {
        let is_late = self.rng.random::<f64>() < self.options.voids;
        let frames_shown = trial.frames.map(|frames| frames + u32::from(is_late));
        let verdict = trial.frames.map(|_| if is_late { "long" } else { "ok" }.to_owned());
        let offset = frames_shown.map(|frames| onset + f64::from(frames) * PERIOD_MS);
        let response = &trial.options[self.rng.random_range(0..trial.options.len())];
        let responded = offset.unwrap_or(onset) + 700.0;
        self.clock_ms = responded + 1.0;
        let beep = block.beep_ms.map(|beep_ms| mohs_serve::wire::BeepReport {
            cue: "sound".into(),
            planned_ms: onset + beep_ms,
            sounded_ms: onset + beep_ms + 0.5,
            base_lag_ms: Some(5.0),
            output_lag_ms: Some(20.0),
            feedback: "ok".into(),
        });
        TrialReport {
            trial: trial.trial.clone(),
            response: Some(response.clone()),
            onset_ms: onset,
            offset_ms: offset,
            response_ms: Some(responded),
            handled_ms: Some(responded + 0.3),
            input: Some("mouse".into()),
            verdict,
            frames_planned: trial.frames,
            frames_shown,
            period_ms: PERIOD_MS,
            stamps_ms: vec![onset - PERIOD_MS, onset, offset.unwrap_or(onset)],
            longest_gap_ms: PERIOD_MS,
            was_visible: true,
            was_fullscreen: true,
            pixel_ratio: 1.0,
            flash: None,
            beep,
        }
    }

    fn seal(&mut self, body: &EventBody) {
        let body = serde_json::to_string(body).expect("because events are plain data");
        self.seq += 1;
        self.last_hash = sha256(&[&self.last_hash, &body]);
        self.news.push(Event { seq: self.seq, body, hash: self.last_hash.clone() });
    }

    /// Sends what waits until no more than `most` submissions do.
    async fn deliver(&mut self, most: usize) {
        let mut wait = Duration::from_millis(20);
        while most < self.outbox.len() {
            let idx = match self.options.reorder {
                true => self.rng.random_range(0..self.outbox.len()),
                false => 0,
            };
            let n_times = 1 + u32::from(self.rng.random::<f64>() < self.options.duplicates);
            let body = serde_json::to_vec(&self.outbox[idx].batch);
            let body = body.expect("because events are plain data");
            let path = format!("/api/sessions/{}/events", self.session);
            let mut is_stored = false;
            for _ in 0..n_times {
                let ack: Option<Ack> = self.try_once(&path, &body).await;
                let events = &self.outbox[idx].batch.events;
                is_stored |= ack.is_some_and(|ack| {
                    events.iter().all(|event| {
                        event.seq <= ack.acked_through || ack.also_stored.contains(&event.seq)
                    })
                });
            }
            if is_stored {
                let submission = self.outbox.swap_remove(idx);
                if submission.has_trial {
                    self.tally.note_ack(submission.begun);
                }
                wait = Duration::from_millis(20);
            } else {
                tokio::time::sleep(wait).await;
                wait = (wait * 2).min(Duration::from_secs(2));
            }
        }
    }

    async fn finish(&mut self) {
        let body = serde_json::json!({ "last_seq": self.seq, "is_early": false }).to_string();
        let path = format!("/api/sessions/{}/end", self.session);
        let answer: EndAnswer = self.insist(&path, body.as_bytes()).await;
        if answer.is_complete && answer.code.is_some() {
            count(&self.tally.n_complete);
        }
    }

    /// Asks until there is an answer.
    async fn insist<T: serde::de::DeserializeOwned>(&mut self, path: &str, body: &[u8]) -> T {
        let mut wait = Duration::from_millis(20);
        loop {
            if let Some(answer) = self.try_once(path, body).await {
                return answer;
            }
            tokio::time::sleep(wait).await;
            wait = (wait * 2).min(Duration::from_secs(2));
        }
    }

    /// Asks once, over a network that loses half of its losses on the way there and half on the way
    /// back.
    async fn try_once<T: serde::de::DeserializeOwned>(
        &mut self,
        path: &str,
        body: &[u8],
    ) -> Option<T> {
        count(&self.tally.n_requests);
        let luck = self.rng.random::<f64>();
        if luck < self.options.loss / 2.0 {
            return None;
        }
        let token = (!self.token.is_empty()).then_some(self.token.as_str());
        let question = Question { path, token, body, ..Question::default() };
        let answer = self.connection.ask(&question).await?;
        if luck < self.options.loss {
            return None;
        }
        if !answer.is_success() {
            self.tally.note_refusal(&answer);
            self.last_refusal = String::from_utf8_lossy(answer.body).into_owned();
            return None;
        }
        serde_json::from_slice(answer.body).ok()
    }
}
