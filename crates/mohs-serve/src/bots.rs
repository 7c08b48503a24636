//! Simulated participants that speak to a server as a page does.
//!
//! They keep their events in an outbox, seal them in a chain and send them until they are
//! acknowledged. What they answer is decided by whoever runs them; `people` are those of
//! `mohs-score`. How requests travel is a [`Transport`]: within the process, or over HTTP.

mod people;
mod transport;

use std::future::Future;

use serde::Serialize;
use serde::de::DeserializeOwned;

pub use self::people::{Crowd, Person};
pub use self::transport::{Http, InProcess};
use crate::store::session::CONSENT;
use crate::token::sha256;
use crate::wire::{
    Ack, BeepReport, Block, BlockAnswer, BlockRequest, EndAnswer, EndRequest, Event, EventBatch,
    EventBody, Failure, FlashEvidence, JoinRequest, Joined, PlannedTrial, Screen, TrialReport,
    Welcome, WithdrawRequest, Withdrawn,
};

/// How requests travel.
pub trait Transport: Send + Sync {
    /// Posts JSON and returns the status and the answer's body.
    fn post(
        &self,
        path: &str,
        token: Option<&str>,
        body: String,
    ) -> impl Future<Output = Result<(u16, Vec<u8>), BotError>> + Send;
}

/// Why a bot cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum BotError {
    /// The request or its answer got lost.
    #[error("a request or its answer got lost")]
    Lost,
    /// The server refused.
    #[error("the server refused: {status} {code}")]
    Refused {
        /// Its status.
        status: u16,
        /// Its code.
        code: String,
    },
    /// The answer cannot be understood.
    #[error("the answer cannot be understood")]
    Answer,
}

impl BotError {
    /// Returns the code of a refusal.
    pub fn code(&self) -> &str {
        match self {
            Self::Refused { code, .. } => code,
            Self::Lost | Self::Answer => "",
        }
    }
}

/// Returns what a usual screen is like.
pub fn screen(period_ms: f64) -> Screen {
    Screen {
        period_ms,
        period_mad_ms: 0.1,
        share_late: 0.0,
        width_px: 1_280,
        height_px: 800,
        pixel_ratio: 1.0,
        is_fullscreen: true,
        is_isolated: true,
    }
}

/// Returns a request to join; `id` is the participant's at `prolific`.
pub fn join_request(id: Option<&str>) -> JoinRequest {
    JoinRequest {
        recruiter: id.map(|_| "prolific".into()),
        recruiter_id: id.map(Into::into),
        resume: None,
        preview: None,
        browser: "chromium 150".into(),
        system: "linux".into(),
    }
}

/// One epoch of a session, as a page holds it.
pub struct Bot<T> {
    transport: T,
    /// What the server said when it joined.
    pub joined: Joined,
    /// The screen it says it has.
    pub screen: Screen,
    outbox: Vec<Event>,
    last_seq: u32,
    last_hash: String,
    clock_ms: f64,
}

/// Asks about a study as a page does before consent.
pub async fn welcome(
    transport: &impl Transport,
    study: &str,
    request: &JoinRequest,
) -> Result<Welcome, BotError> {
    ask(transport, &format!("/api/studies/{study}/welcome"), None, request).await
}

impl<T: Transport> Bot<T> {
    /// Joins a study.
    pub async fn join(transport: T, study: &str, request: &JoinRequest) -> Result<Self, BotError> {
        let path = format!("/api/studies/{study}/join");
        let joined: Joined = ask(&transport, &path, None, request).await?;
        let last_hash = sha256(&[&format!("{}/{}", joined.session, joined.epoch)]);
        Ok(Self {
            transport,
            joined,
            screen: screen(1_000.0 / 60.0),
            outbox: Vec::new(),
            last_seq: 0,
            last_hash,
            clock_ms: 1_000.0,
        })
    }

    async fn ask<A: DeserializeOwned>(
        &self,
        what: &str,
        body: &impl Serialize,
    ) -> Result<A, BotError> {
        let path = format!("/api/sessions/{}/{what}", self.joined.session);
        ask(&self.transport, &path, Some(&self.joined.token), body).await
    }

    /// Asks for the next block.
    pub async fn block(&self) -> Result<BlockAnswer, BotError> {
        self.ask("block", &BlockRequest { screen: self.screen.clone() }).await
    }

    /// Seals an event and puts it into the outbox.
    pub fn push(&mut self, body: &EventBody) -> Event {
        let body = serde_json::to_string(body).unwrap_or_default();
        let hash = sha256(&[&self.last_hash, &body]);
        self.last_seq += 1;
        self.last_hash.clone_from(&hash);
        let event = Event { seq: self.last_seq, body, hash };
        self.outbox.push(event.clone());
        event
    }

    /// Goes on over another way to the same database.
    pub fn over<U: Transport>(self, transport: U) -> Bot<U> {
        let Self { joined, screen, outbox, last_seq, last_hash, clock_ms, .. } = self;
        Bot { transport, joined, screen, outbox, last_seq, last_hash, clock_ms }
    }

    /// Returns what is not acknowledged yet.
    pub fn outbox(&self) -> &[Event] {
        &self.outbox
    }

    /// Returns the number of the last event.
    pub fn last_seq(&self) -> u32 {
        self.last_seq
    }

    /// Sends events as they are, whatever they are.
    pub async fn send(&self, events: Vec<Event>) -> Result<Ack, BotError> {
        self.ask("events", &EventBatch { events }).await
    }

    /// Sends the outbox and forgets what is acknowledged.
    pub async fn flush(&mut self) -> Result<Ack, BotError> {
        let ack = self.send(self.outbox.clone()).await?;
        let is_stored = |seq: u32| seq <= ack.acked_through || ack.also_stored.contains(&seq);
        self.outbox.retain(|event| !is_stored(event.seq));
        Ok(ack)
    }

    /// Notes that a page was read.
    pub fn page(&mut self, page: &str) {
        let (at_ms, page) = (self.clock_ms, page.to_owned());
        self.push(&EventBody::Page { at_ms, page, choices: Default::default() });
    }

    /// Notes that a trial begins.
    pub fn start(&mut self, trial: &PlannedTrial) {
        let (at_ms, trial) = (self.clock_ms, trial.trial.clone());
        self.push(&EventBody::TrialStart { at_ms, trial });
    }

    /// Notes the answer to a trial, shown as planned or `extra_frames` longer.
    pub fn answer(&mut self, trial: &PlannedTrial, answer: &Answer, extra_frames: u32) {
        let report = self.report(trial, answer, extra_frames);
        self.clock_ms = report.handled_ms.unwrap_or(self.clock_ms) + 500.0;
        self.push(&EventBody::Trial { at_ms: self.clock_ms, report });
    }

    /// Returns what a page would report.
    pub fn report(&self, trial: &PlannedTrial, answer: &Answer, extra_frames: u32) -> TrialReport {
        let period_ms = self.screen.period_ms;
        let shown = trial.frames.map(|frames| frames + extra_frames);
        let onset_ms = self.clock_ms + 500.0;
        let responded = answer.response.as_ref().map(|_| onset_ms + answer.rt_ms);
        TrialReport {
            trial: trial.trial.clone(),
            response: answer.response.clone(),
            onset_ms,
            offset_ms: shown.map(|shown| onset_ms + f64::from(shown) * period_ms),
            response_ms: responded,
            handled_ms: Some(responded.unwrap_or(onset_ms + 2_000.0) + 1.0),
            input: responded.map(|_| "key".into()),
            verdict: shown.map(|_| if extra_frames == 0 { "ok" } else { "long" }.into()),
            frames_planned: trial.frames,
            frames_shown: shown,
            period_ms,
            stamps_ms: vec![onset_ms - period_ms, onset_ms, onset_ms + period_ms],
            longest_gap_ms: period_ms * f64::from(1 + extra_frames),
            was_visible: true,
            was_fullscreen: true,
            pixel_ratio: self.screen.pixel_ratio,
            flash: shown.map(|shown| FlashEvidence {
                version: 1,
                n_callbacks: shown,
                shortest_gap_ms: period_ms,
                longest_gap_ms: period_ms,
                calm_frames: 30,
                since_late_ms: None,
                lags_ms: vec![0.5, 0.5],
                presented_ms: [0, shown]
                    .map(|frames| Some(onset_ms + (f64::from(frames) + 0.5) * period_ms))
                    .to_vec(),
            }),
            beep: answer.beep(onset_ms),
        }
    }

    /// Asks for the completion code.
    pub async fn end(&self, is_early: bool) -> Result<EndAnswer, BotError> {
        self.ask("end", &EndRequest { last_seq: self.last_seq, is_early }).await
    }

    /// Withdraws.
    pub async fn withdraw(&self) -> Result<Withdrawn, BotError> {
        self.ask("withdraw", &WithdrawRequest { delete_my_data: true }).await
    }

    /// Agrees to take part, unless that was done before; nobody is shown anything without.
    pub async fn agree(&mut self) -> Result<(), BotError> {
        if !self.joined.pages_done.iter().any(|page| page == CONSENT) {
            self.page(CONSENT);
            self.flush().await?;
            self.joined.pages_done.push(CONSENT.into());
        }
        Ok(())
    }

    /// Does all trials, and returns how the session ended.
    pub async fn take_part(&mut self, person: &mut impl Answers) -> Result<Ended, BotError> {
        self.agree().await?;
        for page in ["gate", "instructions"] {
            self.page(page);
        }
        self.flush().await?;
        let mut n_trials = 0;
        while let Some(block) = self.block().await?.block {
            for trial in &block.trials {
                let deed = person.deed(&block, trial);
                if deed == Deed::Leave {
                    return Ok(Ended { n_trials, code: None });
                }
                self.start(trial);
                match deed {
                    Deed::Leave | Deed::Close => {
                        self.flush().await?;
                        return Ok(Ended { n_trials, code: None });
                    }
                    Deed::Answer { answer, extra_frames } => {
                        self.answer(trial, &answer, extra_frames);
                    }
                }
                n_trials += 1;
                self.flush().await?;
            }
        }
        let end = self.end(false).await?;
        Ok(Ended { n_trials, code: end.code })
    }
}

/// How a session ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ended {
    /// Trials that were answered.
    pub n_trials: u32,
    /// The completion code; none for those who left.
    pub code: Option<String>,
}

/// An answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// One of the options; none when time ran out.
    pub response: Option<String>,
    /// Time from onset.
    pub rt_ms: f64,
    /// When the beep sounded after onset.
    pub beep_ms: Option<f64>,
}

impl Answer {
    /// Answers `rt_ms` after onset.
    pub fn new(response: Option<String>, rt_ms: f64) -> Self {
        Self { response, rt_ms, beep_ms: None }
    }

    /// Returns what a page would say about the beep.
    fn beep(&self, onset_ms: f64) -> Option<BeepReport> {
        let beep_ms = self.beep_ms?;
        let off_ms = self.rt_ms - beep_ms;
        let feedback = match off_ms {
            off_ms if off_ms < -100.0 => "early",
            off_ms if 100.0 < off_ms => "late",
            _ => "ok",
        };
        Some(BeepReport {
            cue: "sound".into(),
            planned_ms: onset_ms + beep_ms,
            sounded_ms: onset_ms + beep_ms + 2.0,
            base_lag_ms: Some(10.0),
            output_lag_ms: Some(20.0),
            feedback: feedback.into(),
        })
    }
}

/// What a bot does with a trial.
#[derive(Debug, Clone, PartialEq)]
pub enum Deed {
    /// Answers; the screen may show it for longer than planned.
    Answer {
        /// The answer.
        answer: Answer,
        /// Frames too many.
        extra_frames: u32,
    },
    /// Leaves before the trial.
    Leave,
    /// Closes the page in the middle of it.
    Close,
}

/// Decides what a bot does.
pub trait Answers {
    /// Returns what it does with a trial.
    fn deed(&mut self, block: &Block, trial: &PlannedTrial) -> Deed;
}

impl<F: FnMut(&Block, &PlannedTrial) -> Deed> Answers for F {
    fn deed(&mut self, block: &Block, trial: &PlannedTrial) -> Deed {
        self(block, trial)
    }
}

async fn ask<A: DeserializeOwned>(
    transport: &impl Transport,
    path: &str,
    token: Option<&str>,
    body: &impl Serialize,
) -> Result<A, BotError> {
    let body = serde_json::to_string(body).map_err(|_| BotError::Answer)?;
    let (status, answer) = transport.post(path, token, body).await?;
    if status == 200 {
        return serde_json::from_slice(&answer).map_err(|_| BotError::Answer);
    }
    let failure: Failure = serde_json::from_slice(&answer).map_err(|_| BotError::Answer)?;
    Err(BotError::Refused { status, code: failure.error.code })
}
