//! Events coming in: checked, stored once, and what follows from them.

use std::collections::BTreeMap;

use super::{Step, lease};
use crate::error::ApiError;
use crate::hosted::Hosted;
use crate::report::Outcome;
use crate::store::connection::Connection;
use crate::store::session::{self, EpochRow, SessionRow};
use crate::store::trial::{self, TrialRow, TrialState};
use crate::store::{StoreError, cell, event, result, seen};
use crate::token::sha256;
use crate::wire::{Ack, Calibration, Event, EventBatch, EventBody};

/// Events in one request, at most.
pub const MOST_EVENTS: usize = 500;
/// Bytes of one event's body, at most.
const MOST_BYTES: usize = 16_384;
/// Events of one epoch, at most.
const MOST_SEQ: u32 = 200_000;
/// Pages a session remembers, at most.
const MOST_PAGES: usize = 200;

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
        let body: EventBody =
            serde_json::from_str(&event.body).map_err(|_| ApiError::EventBad { seq })?;
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

/// Stores events and answers with what is stored.
pub fn receive(
    tx: &mut dyn Connection,
    hosted: &Hosted,
    (session, epoch): (&str, u32),
    opened: &[Opened],
    now_ms: i64,
) -> Step<Ack> {
    let Some(mut row) = session::find(tx, session)? else {
        return Ok(Err(ApiError::SessionWithdrawn));
    };
    let Some(mut chain) = session::find_epoch(tx, session, epoch)? else {
        return Ok(Err(ApiError::TokenBad));
    };
    let fresh = match sort_out(tx, session, epoch, &chain, opened)? {
        Ok(fresh) => fresh,
        Err(refusal) => return Ok(Err(refusal)),
    };
    let (mut trials, effects) = match check(tx, hosted, &row, &fresh.new)? {
        Ok(checked) => checked,
        Err(refusal) => return Ok(Err(refusal)),
    };
    for conflicting in &fresh.conflicting {
        event::append_conflict(tx, session, epoch, &conflicting.event, now_ms)?;
    }
    let has_facts = effects.iter().any(Effect::is_about_session);
    for (opened, effect) in fresh.new.iter().zip(effects) {
        event::append(tx, session, epoch, &opened.event, now_ms)?;
        apply(tx, hosted, &mut row, &mut trials, epoch, effect)?;
    }
    store_trials(tx, &row, &trials, now_ms)?;
    let ack = advance(tx, session, epoch, &mut chain, &fresh.new)?;
    if !fresh.new.is_empty() {
        lease::renew(tx, hosted, &mut row, now_ms)?;
        if has_facts {
            session::update(tx, &row)?;
        } else {
            session::update_progress(tx, &row)?;
        }
    }
    match fresh.conflicting.first() {
        Some(conflicting) => Ok(Err(ApiError::EventConflict { seq: conflicting.event.seq })),
        None => Ok(Ok(ack)),
    }
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
                    Some((at, hash)) if at + 1 == seq => Some(hash.to_owned()),
                    _ => stored_hash(seq - 1)?,
                };
                if let Some(previous) = previous
                    && sha256(&[&previous, &opened.event.body]) != opened.event.hash
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

/// The trials that events speak of, read once and stored once.
type Trials = BTreeMap<String, Touched>;

/// A trial, and what is to be stored of it.
struct Touched {
    trial: TrialRow,
    has_changed: bool,
    outcome: Option<Box<Outcome>>,
}

impl Touched {
    fn set(&mut self, state: TrialState, epoch: u32, reason: Option<&str>) {
        self.trial.state = state;
        self.trial.epoch = Some(epoch);
        self.trial.reason = reason.map(Into::into);
        self.has_changed = true;
    }
}

/// Checks what events say before anything is written.
fn check(
    tx: &mut dyn Connection,
    hosted: &Hosted,
    row: &SessionRow,
    new: &[&Opened],
) -> Step<(Trials, Vec<Effect>)> {
    let mut trials = Trials::new();
    let mut effects = Vec::with_capacity(new.len());
    for opened in new {
        let seq = opened.event.seq;
        let id = match &opened.body {
            EventBody::TrialStart { trial, .. } | EventBody::Abandoned { trial, .. } => Some(trial),
            EventBody::Trial { report, .. } => Some(&report.trial),
            _ => None,
        };
        if let Some(id) = id
            && !trials.contains_key(id)
        {
            let found = trial::find(tx, id)?.filter(|trial| trial.session == row.session);
            let Some(trial) = found else { return Ok(Err(ApiError::TrialForeign { seq })) };
            trials.insert(id.clone(), Touched { trial, has_changed: false, outcome: None });
        }
        effects.push(match &opened.body {
            EventBody::Page { page, .. } => Effect::Page(page.clone()),
            EventBody::Calibration { calibration, .. } => Effect::Calibration(calibration.clone()),
            EventBody::Context { .. } => Effect::Nothing,
            EventBody::TrialStart { trial, .. } => Effect::Start(trial.clone()),
            EventBody::Abandoned { trial, reason, .. } => {
                Effect::Abandoned(trial.clone(), reason.chars().take(100).collect())
            }
            EventBody::Trial { report, .. } => {
                let planned = &trials[&report.trial].trial;
                let tolerance = hosted.study.screen.tolerance;
                match report.clone().into_outcome(planned, tolerance) {
                    Ok(outcome) => Effect::Outcome(Box::new(outcome)),
                    Err(source) => return Ok(Err(ApiError::ReportBad { seq, source })),
                }
            }
        });
    }
    Ok(Ok((trials, effects)))
}

fn apply(
    tx: &mut dyn Connection,
    hosted: &Hosted,
    row: &mut SessionRow,
    trials: &mut Trials,
    epoch: u32,
    effect: Effect,
) -> Result<(), StoreError> {
    match effect {
        Effect::Nothing => {}
        Effect::Page(page) => {
            if !row.pages.contains(&page) && row.pages.len() < MOST_PAGES {
                row.pages.push(page);
            }
        }
        Effect::Calibration(calibration) => {
            row.calibration = serde_json::to_string(&calibration).ok();
        }
        Effect::Start(id) => {
            let Some(touched) = trials.get_mut(&id) else { return Ok(()) };
            mark_seen(tx, hosted, row, &touched.trial)?;
            match touched.trial.state {
                TrialState::Planned => touched.set(TrialState::Started, epoch, None),
                // Begun after its lease ended: the cell went to somebody else, the picture is seen.
                TrialState::Expired => {
                    touched.set(TrialState::Voided, epoch, Some(lease::LAPSED));
                    count_done(row, &touched.trial);
                    row.n_planned += u32::from(!touched.trial.is_practice);
                }
                TrialState::Started | TrialState::Answered | TrialState::Voided => {}
            }
        }
        Effect::Outcome(outcome) => {
            let Some(touched) = trials.get_mut(&outcome.report.trial) else { return Ok(()) };
            finish(tx, hosted, row, touched, epoch, outcome)?;
        }
        Effect::Abandoned(id, reason) => {
            let Some(touched) = trials.get_mut(&id) else { return Ok(()) };
            mark_seen(tx, hosted, row, &touched.trial)?;
            if touched.trial.state.is_leased() {
                if let Some(number) = touched.trial.cell {
                    cell::add(tx, &hosted.name, number, 0, -1)?;
                }
                count_done(row, &touched.trial);
                touched.set(TrialState::Voided, epoch, Some(&reason));
            }
        }
    }
    Ok(())
}

fn count_done(row: &mut SessionRow, trial: &TrialRow) {
    row.n_done += u32::from(!trial.is_practice);
}

/// Whoever begins a trial has seen its picture, whatever becomes of it.
fn mark_seen(
    tx: &mut dyn Connection,
    hosted: &Hosted,
    row: &SessionRow,
    trial: &TrialRow,
) -> Result<(), StoreError> {
    let is_new = matches!(trial.state, TrialState::Planned | TrialState::Expired);
    if row.is_preview || !is_new {
        return Ok(());
    }
    seen::insert(tx, &row.participant, &trial.source, &hosted.name)?;
    match &trial.right_source {
        Some(right) => seen::insert(tx, &row.participant, right, &hosted.name),
        None => Ok(()),
    }
}

/// Takes the outcome of a trial, the first one that comes.
///
/// A trial that the server had given up, because the page was opened anew or not heard of, is
/// taken after all when its report comes late.
fn finish(
    tx: &mut dyn Connection,
    hosted: &Hosted,
    row: &mut SessionRow,
    touched: &mut Touched,
    epoch: u32,
    outcome: Box<Outcome>,
) -> Result<(), StoreError> {
    let trial = &touched.trial;
    mark_seen(tx, hosted, row, trial)?;
    let before = trial.state;
    let was_given_up = before == TrialState::Voided
        && matches!(trial.reason.as_deref(), Some(lease::REOPENED | lease::LAPSED));
    if matches!(before, TrialState::Answered | TrialState::Voided) && !was_given_up {
        return Ok(());
    }
    if let Some(number) = trial.cell {
        let done = i64::from(outcome.is_sound() && trial.is_counted);
        let leased = -i64::from(before.is_leased());
        if (done, leased) != (0, 0) {
            cell::add(tx, &hosted.name, number, done, leased)?;
        }
    }
    if !was_given_up {
        count_done(row, trial);
    }
    if before == TrialState::Expired {
        row.n_planned += u32::from(!trial.is_practice);
    }
    match outcome.is_sound() {
        true => touched.set(TrialState::Answered, epoch, None),
        false => touched.set(TrialState::Voided, epoch, Some("timing")),
    }
    touched.outcome = Some(outcome);
    Ok(())
}

/// Stores what became of the trials that events spoke of.
fn store_trials(
    tx: &mut dyn Connection,
    row: &SessionRow,
    trials: &Trials,
    now_ms: i64,
) -> Result<(), StoreError> {
    for touched in trials.values().filter(|touched| touched.has_changed) {
        match &touched.outcome {
            None => trial::update(tx, &touched.trial)?,
            Some(outcome) => {
                let calibration = row.calibration.as_deref();
                let calibration: Option<Calibration> =
                    calibration.and_then(|text| serde_json::from_str(text).ok());
                let stimulus_px = calibration.map(|calibration| calibration.stimulus_px);
                result::store(tx, &touched.trial, outcome, stimulus_px, now_ms)?;
            }
        }
    }
    Ok(())
}

/// Moves an epoch on over what is stored without gaps, and says what is stored.
fn advance(
    tx: &mut dyn Connection,
    session: &str,
    epoch: u32,
    chain: &mut EpochRow,
    new: &[&Opened],
) -> Result<Ack, StoreError> {
    let follows = new.iter().zip(chain.acked_through + 1..).all(|(new, seq)| new.event.seq == seq);
    let mut also_stored = Vec::new();
    if follows && chain.highest == chain.acked_through {
        // Without gaps, `sort_out` has held each event against the one before.
        if let Some(last) = new.last() {
            chain.acked_through = last.event.seq;
            chain.head.clone_from(&last.event.hash);
        }
    } else {
        for event in event::after(tx, session, epoch, chain.acked_through)? {
            if event.seq != chain.acked_through + 1 {
                also_stored.push(event.seq);
                continue;
            }
            if chain.broken_at.is_none() && sha256(&[&chain.head, &event.body]) != event.hash {
                chain.broken_at = Some(event.seq.into());
            }
            chain.acked_through = event.seq;
            chain.head = event.hash;
        }
    }
    if let Some(last) = new.last() {
        chain.highest = chain.highest.max(last.event.seq);
        session::update_epoch(tx, session, epoch, chain)?;
    }
    Ok(Ack { acked_through: chain.acked_through, also_stored })
}
