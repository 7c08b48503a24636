//! Events coming in: checked, stored once, and what follows from them.

use std::borrow::Cow;

use super::{Step, lease};
use crate::error::ApiError;
use crate::hosted::Hosted;
use crate::report::Outcome;
use crate::store::connection::Connection;
use crate::store::live::Live;
use crate::store::session::EpochRow;
use crate::store::trial::{TrialRow, TrialState};
use crate::store::{StoreError, event, journal};
use crate::token::is_sha256;
use crate::wire::{Ack, Calibration, Event, EventBatch, EventBody};
use mohs_data::{Allocation, Task};

/// Events in one request, at most.
pub const MOST_EVENTS: usize = 500;
/// Bytes of one event's body, at most.
const MOST_BYTES: usize = 16_384;
/// Events of one epoch, at most.
const MOST_SEQ: u32 = 200_000;
/// Pages a session remembers, at most.
const MOST_PAGES: usize = 200;

/// What of a study decides about events.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Terms {
    /// The share by which an exposure may be off.
    pub tolerance: f64,
    /// How long a lease is.
    pub lease_ms: i64,
    /// Whether what others are shown next depends on every answer.
    pub settles_at_once: bool,
}

impl Terms {
    /// Returns the terms of a study.
    pub fn of(hosted: &Hosted) -> Self {
        let study = &hosted.study;
        Self {
            tolerance: study.screen.tolerance,
            lease_ms: hosted.lease_ms(),
            settles_at_once: study.task == Task::Pairs
                || study.flash.design == Allocation::Adaptive,
        }
    }
}

/// An event with what it says.
#[derive(Debug, Clone)]
pub struct Opened {
    event: Event,
    body: EventBody,
}

/// Reads a batch: in order of their numbers, each once.
pub fn open(batch: EventBatch) -> Result<Vec<Opened>, ApiError> {
    if MOST_EVENTS < batch.events.len() {
        return Err(ApiError::TooLarge);
    }
    let mut opened: Vec<Opened> = Vec::with_capacity(batch.events.len());
    let mut events = batch.events;
    events.sort_by_key(|event| event.seq);
    for event in events {
        let seq = event.seq;
        let is_hash = event.hash.len() == 64
            && event.hash.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        let is_in_range = (1..=MOST_SEQ).contains(&seq) && event.body.len() <= MOST_BYTES;
        // Postgres keeps no text with a zero in it.
        if !is_hash || !is_in_range || event.body.contains('\0') {
            return Err(ApiError::EventBad { seq });
        }
        if let Some(last) = opened.last().filter(|last| last.event.seq == seq) {
            if last.event.hash != event.hash {
                return Err(ApiError::EventConflict { seq });
            }
            continue;
        }
        let body = EventBody::parse(&event.body).map_err(|_| ApiError::EventBad { seq })?;
        check_texts(&body).map_err(|()| ApiError::EventBad { seq })?;
        opened.push(Opened { event, body });
    }
    Ok(opened)
}

/// Keeps words short and free of zeros, which JSON can write but Postgres cannot keep.
fn check_texts(body: &EventBody) -> Result<(), ()> {
    let is_good = |text: &str| text.len() <= 2_000 && !text.contains('\0');
    let all_good = match body {
        EventBody::Page { page, choices, .. } => {
            let words = choices.iter().all(|(key, value)| is_good(key) && is_good(value));
            page.len() <= 40 && is_good(page) && choices.len() <= 50 && words
        }
        EventBody::TrialStart { trial, .. } => is_good(trial),
        EventBody::Trial { report, .. } => is_good(&report.trial),
        EventBody::Abandoned { trial, reason, .. } => is_good(trial) && is_good(reason),
        EventBody::Context { change, .. } => is_good(change),
        EventBody::Calibration { .. } => true,
    };
    all_good.then_some(()).ok_or(())
}

/// Reads the body of a request.
pub fn read(batch: &[u8]) -> Result<Vec<Opened>, ApiError> {
    let bad = |cause: serde_json::Error| ApiError::RequestBad { what: cause.to_string() };
    open(serde_json::from_slice(batch).map_err(bad)?)
}

/// Stores events and answers with what is stored. `batch` is the body they came in.
///
/// Usual submissions go to the journal and to memory, where there are such; all that changes what
/// others are given goes to its table at once.
pub fn receive(
    tx: &mut dyn Connection,
    terms: &Terms,
    (session, epoch): (&str, u32),
    (opened, batch): (&[Opened], &str),
    now_ms: i64,
) -> Step<Ack> {
    let Some(mut live) = Live::recall(tx, session)? else {
        return Ok(Err(ApiError::SessionWithdrawn));
    };
    let answer = hear(tx, &mut live, terms, (epoch, opened), now_ms)?;
    let answer = match answer {
        Err(refusal) => Err(refusal),
        Ok(Heard { ack, has_news, is_urgent }) => {
            let may_wait = has_news && !is_urgent;
            match tx.memory().filter(|_| may_wait).map(|memory| memory.next_id()) {
                Some(id) => {
                    let terms = (terms.tolerance, terms.lease_ms);
                    journal::append(tx, id, (session, epoch), terms, batch, now_ms)?;
                    live.note_journal(id);
                }
                None if has_news => live.settle(tx)?,
                None => {}
            }
            ack
        }
    };
    live.keep(tx);
    Ok(answer)
}

/// What became of a submission.
pub struct Heard {
    /// The answer, also where some of it was kept as conflicting.
    ack: Result<Ack, ApiError>,
    /// Whether there was anything new.
    has_news: bool,
    /// Whether it must go to its tables in this transaction.
    is_urgent: bool,
}

/// Takes events into a session; tables get them when it is settled.
pub fn hear(
    tx: &mut dyn Connection,
    live: &mut Live,
    terms: &Terms,
    (epoch, opened): (u32, &[Opened]),
    now_ms: i64,
) -> Step<Heard> {
    let Some(chain) = live.chain(tx, epoch)? else { return Ok(Err(ApiError::TokenBad)) };
    let mut chain = chain.clone();
    let follows = chain.highest == chain.acked_through
        && opened.iter().zip(chain.acked_through + 1..).all(|(next, seq)| next.event.seq == seq);
    if !follows {
        // What came before is looked up in its tables.
        live.settle(tx)?;
    }
    let fresh = match sort_out(tx, &live.row.session, epoch, &chain, opened)? {
        Ok(fresh) => fresh,
        Err(refusal) => return Ok(Err(refusal)),
    };
    let effects = match check(tx, live, terms, &fresh.new)? {
        Ok(effects) => effects,
        Err(refusal) => return Ok(Err(refusal)),
    };
    for conflicting in &fresh.conflicting {
        event::append_conflict(tx, &live.row.session, epoch, &conflicting.event, now_ms)?;
    }
    let has_facts = effects.iter().any(Effect::is_about_session);
    for (opened, effect) in fresh.new.iter().zip(effects) {
        live.add_event(epoch, opened.event.clone(), now_ms);
        apply(live, epoch, effect, now_ms);
    }
    let also_stored = match follows {
        true => {
            // Without gaps, `sort_out` has held each event against the one before.
            if let Some(last) = fresh.new.last() {
                chain.acked_through = last.event.seq;
                chain.head.clone_from(&last.event.hash);
            }
            Vec::new()
        }
        false => {
            live.settle(tx)?;
            advance(tx, &live.row.session, epoch, &mut chain)?
        }
    };
    let is_elsewhere = epoch < live.row.epoch;
    let ack = Ack { acked_through: chain.acked_through, also_stored, is_elsewhere };
    let mut is_urgent = !follows || has_facts || terms.settles_at_once;
    if let Some(last) = fresh.new.last() {
        chain.highest = chain.highest.max(last.event.seq);
        live.set_chain(epoch, chain);
        let lease = live.row.lease_until_ms;
        lease::renew(tx, terms.lease_ms, &mut live.row, now_ms)?;
        live.note_progress();
        if has_facts {
            live.note_facts();
        }
        is_urgent |= lease != live.row.lease_until_ms || live.moves_cells();
    }
    let ack = match fresh.conflicting.first() {
        Some(conflicting) => Err(ApiError::EventConflict { seq: conflicting.event.seq }),
        None => Ok(ack),
    };
    Ok(Ok(Heard { ack, has_news: !fresh.new.is_empty(), is_urgent }))
}

struct SortedOut<'a> {
    new: Vec<&'a Opened>,
    conflicting: Vec<&'a Opened>,
}

/// Tells new events from known ones, and checks that each follows from the one before where that is
/// known.
fn sort_out<'a>(
    tx: &mut dyn Connection,
    session: &str,
    epoch: u32,
    chain: &EpochRow,
    opened: &'a [Opened],
) -> Step<SortedOut<'a>> {
    let (mut new, mut conflicting) = (Vec::new(), Vec::new());
    let mut stored_hash = |seq: u32| match chain.highest < seq {
        true => Ok(None),
        false => event::hash_of(tx, session, epoch, seq),
    };
    let mut before: Option<(u32, &str)> = Some((chain.acked_through, &chain.head));
    for opened in opened {
        let seq = opened.event.seq;
        match stored_hash(seq)? {
            Some(hash) if hash == opened.event.hash => {}
            Some(_) => {
                conflicting.push(opened);
                continue;
            }
            None => {
                let previous = match before {
                    Some((at, hash)) if at + 1 == seq => Some(Cow::Borrowed(hash)),
                    _ => stored_hash(seq - 1)?.map(Cow::Owned),
                };
                if let Some(previous) = previous
                    && !is_sha256(&[&previous, &opened.event.body], &opened.event.hash)
                {
                    return Ok(Err(ApiError::EventUnchained { seq }));
                }
                new.push(opened);
            }
        }
        before = Some((seq, &opened.event.hash));
    }
    Ok(Ok(SortedOut { new, conflicting }))
}

/// What follows from an event.
enum Effect {
    Nothing,
    Page(String),
    Calibration(Calibration),
    Start(String),
    Outcome(Box<Outcome>),
    Abandoned(String, String),
}

impl Effect {
    /// Whether it changes more of the session than how far it is.
    fn is_about_session(&self) -> bool {
        matches!(self, Self::Page(_) | Self::Calibration(_))
    }
}

/// Checks what events say before anything is changed.
fn check(
    tx: &mut dyn Connection,
    live: &mut Live,
    terms: &Terms,
    new: &[&Opened],
) -> Step<Vec<Effect>> {
    let mut effects = Vec::with_capacity(new.len());
    for opened in new {
        let seq = opened.event.seq;
        let mut planned: Option<&TrialRow> = None;
        if let Some(id) = opened.body.trial() {
            planned = live.trial(tx, id)?;
            if planned.is_none() {
                return Ok(Err(ApiError::TrialForeign { seq }));
            }
        }
        effects.push(match (&opened.body, planned) {
            (EventBody::Page { page, .. }, _) => Effect::Page(page.clone()),
            (EventBody::Calibration { calibration, .. }, _) => {
                Effect::Calibration(calibration.clone())
            }
            (EventBody::Context { .. }, _) => Effect::Nothing,
            (EventBody::TrialStart { trial, .. }, _) => Effect::Start(trial.clone()),
            (EventBody::Abandoned { trial, reason, .. }, _) => {
                Effect::Abandoned(trial.clone(), reason.chars().take(100).collect())
            }
            (EventBody::Trial { report, .. }, Some(planned)) => {
                match report.clone().into_outcome(planned, terms.tolerance) {
                    Ok(outcome) => Effect::Outcome(Box::new(outcome)),
                    Err(source) => return Ok(Err(ApiError::ReportBad { seq, source })),
                }
            }
            (EventBody::Trial { .. }, None) => return Ok(Err(ApiError::TrialForeign { seq })),
        });
    }
    Ok(Ok(effects))
}

fn apply(live: &mut Live, epoch: u32, effect: Effect, now_ms: i64) {
    match effect {
        Effect::Nothing => {}
        Effect::Page(page) => {
            if !live.row.pages.contains(&page) && live.row.pages.len() < MOST_PAGES {
                live.row.pages.push(page);
            }
        }
        Effect::Calibration(calibration) => {
            live.row.calibration = serde_json::to_string(&calibration).ok();
            live.note_facts();
        }
        Effect::Start(id) => {
            let Some(trial) = shown(live, epoch, &id) else { return };
            if is_known_twice(trial, epoch) {
                return void_twice(live, &id, epoch);
            }
            let counts = u32::from(!trial.is_practice);
            match trial.state {
                TrialState::Planned => live.set_trial(&id, epoch, (TrialState::Started, None)),
                // Begun after its lease ended: the cell went to somebody else, the picture is seen.
                TrialState::Expired => {
                    live.set_trial(&id, epoch, (TrialState::Voided, Some(lease::LAPSED)));
                    live.row.n_done += counts;
                    live.row.n_planned += counts;
                }
                // Given up before its beginning was told of.
                TrialState::Voided if trial.epoch.is_none() => live.set_epoch(&id, epoch),
                TrialState::Started | TrialState::Answered | TrialState::Voided => {}
            }
        }
        Effect::Outcome(outcome) => finish(live, epoch, outcome, now_ms),
        Effect::Abandoned(id, reason) => {
            let Some(trial) = shown(live, epoch, &id) else { return };
            if trial.state.is_leased() {
                let (cell, counts) = (trial.cell, u32::from(!trial.is_practice));
                if let Some(number) = cell {
                    live.add_to_cell(number, 0, -1);
                }
                live.row.n_done += counts;
                // A page also tells of what an older one began, whose epoch is another.
                live.set_state(&id, (TrialState::Voided, Some(&reason)));
            }
        }
    }
}

/// Returns a trial that an epoch may speak of: one that its browser was handed, or that it is known to
/// have begun. Ids can be guessed, and who came by the recruiter's id alone could void any trial with
/// them; what they say of others is kept as events and changes nothing.
fn shown<'a>(live: &'a Live, epoch: u32, id: &str) -> Option<&'a TrialRow> {
    let trial = live.known_trial(id)?;
    (trial.epoch == Some(epoch) || live.was_handed(epoch, trial)).then_some(trial)
}

/// Takes the outcome of a trial, the first one that comes.
///
/// A trial that the server had given up, because the page was opened anew or not heard of, is
/// taken after all when its report comes late.
fn finish(live: &mut Live, epoch: u32, outcome: Box<Outcome>, now_ms: i64) {
    let id = outcome.report.trial.clone();
    let Some(trial) = shown(live, epoch, &id) else { return };
    if is_known_twice(trial, epoch) {
        return void_twice(live, &id, epoch);
    }
    let before = trial.state;
    let was_given_up = before == TrialState::Voided
        && matches!(trial.reason.as_deref(), Some(lease::REOPENED | lease::LAPSED));
    if matches!(before, TrialState::Answered | TrialState::Voided) && !was_given_up {
        return;
    }
    let counts = u32::from(!trial.is_practice);
    let done = i64::from(outcome.is_sound() && trial.is_counted);
    let leased = -i64::from(before.is_leased());
    if let Some(number) = trial.cell.filter(|_| (done, leased) != (0, 0)) {
        live.add_to_cell(number, done, leased);
    }
    if !was_given_up {
        live.row.n_done += counts;
    }
    if before == TrialState::Expired {
        live.row.n_planned += counts;
    }
    let state = match outcome.is_sound() {
        true => (TrialState::Answered, None),
        false => (TrialState::Voided, Some("timing")),
    };
    live.set_trial(&id, epoch, state);
    live.set_outcome(outcome, now_ms);
}

/// Why a trial is void that was begun in two epochs, by two devices of which one was offline: its
/// picture was seen twice.
const BEGUN_TWICE: &str = "begun-twice";

/// Returns whether a trial was begun in another epoch than this one, which begins or answers it, too.
fn is_known_twice(trial: &TrialRow, epoch: u32) -> bool {
    trial.epoch.is_some_and(|begun| begun != epoch)
}

/// Voids a trial that was begun in two epochs, whatever was known of it, so that the order in which they
/// tell does not matter; opens its cell again. Neither report stands; both are kept as events.
fn void_twice(live: &mut Live, id: &str, epoch: u32) {
    let Some(trial) = live.known_trial(id) else { return };
    let (state, counts) = (trial.state, u32::from(!trial.is_practice));
    let begun = trial.epoch.map_or(epoch, |begun| begun.min(epoch));
    let done = -i64::from(state == TrialState::Answered && trial.is_counted);
    let leased = -i64::from(state.is_leased());
    if let Some(number) = trial.cell.filter(|_| (done, leased) != (0, 0)) {
        live.add_to_cell(number, done, leased);
    }
    if state.is_leased() {
        live.row.n_done += counts;
    }
    live.set_trial(id, begun, (TrialState::Voided, Some(BEGUN_TWICE)));
    live.drop_outcome(id);
}

/// Moves an epoch on over what is stored without gaps; returns what is stored after a gap.
fn advance(
    tx: &mut dyn Connection,
    session: &str,
    epoch: u32,
    chain: &mut EpochRow,
) -> Result<Vec<u32>, StoreError> {
    let mut also_stored = Vec::new();
    for event in event::after(tx, session, epoch, chain.acked_through)? {
        if event.seq != chain.acked_through + 1 {
            also_stored.push(event.seq);
            continue;
        }
        if chain.broken_at.is_none() && !is_sha256(&[&chain.head, &event.body], &event.hash) {
            chain.broken_at = Some(event.seq.into());
        }
        chain.acked_through = event.seq;
        chain.head = event.hash;
    }
    Ok(also_stored)
}
