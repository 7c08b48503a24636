//! Joining: a new session, or the same one in a new epoch; and before that a welcome, which stores
//! nothing.

use super::{Step, lease};
use crate::error::ApiError;
use crate::hosted::Hosted;
use crate::store::connection::Connection;
use crate::store::session::{self, SessionRow, State};
use crate::store::study::{self, StudyRow};
use crate::store::{StoreError, cell};
use crate::token::{Secret, fresh_id, fresh_seed, sha256};
use crate::wire::{JoinRequest, Joined, SessionState, StudyInfo, Welcome};

/// Who comes, worked out from the request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Comer {
    /// The session of a token that this browser kept.
    pub resumes: Option<String>,
    /// The participant's key; none for people who just opened the page.
    pub participant: Option<String>,
    /// Whether nothing is counted.
    pub is_preview: bool,
    /// Kind of browser.
    pub browser: String,
    /// Kind of system.
    pub system: String,
}

/// Characters of a kind of browser or system that are kept.
const MOST_CHARS: usize = 40;

impl Comer {
    /// Reads a request: checks tokens and turns the recruiter's id into a key.
    pub fn from_request(
        request: &JoinRequest,
        hosted: &Hosted,
        secret: &Secret,
        now_ms: i64,
    ) -> Result<Self, ApiError> {
        let is_preview = match &request.preview {
            None => false,
            Some(token) if secret.is_preview(&hosted.name, token, now_ms) => true,
            Some(_) => return Err(ApiError::TokenBad),
        };
        let resumes = match &request.resume {
            None => None,
            Some(token) => {
                let read = secret.read_epoch_token(token).ok_or(ApiError::TokenBad)?;
                Some(read.0)
            }
        };
        let recruiter = request.recruiter.as_deref().unwrap_or("link");
        let id = request.recruiter_id.as_deref().map(str::trim).filter(|id| !id.is_empty());
        if id.is_some_and(|id| 200 < id.len()) || 40 < recruiter.len() {
            return Err(ApiError::RequestBad { what: "the id is too long".into() });
        }
        let participant = id.map(|id| secret.participant(recruiter, id));
        if participant.is_none()
            && resumes.is_none()
            && !is_preview
            && !hosted.study.page.open_to_all
        {
            return Err(ApiError::IdMissing);
        }
        let short = |text: &str| {
            let is_plain = |c: &char| c.is_ascii_alphanumeric() || " .-_".contains(*c);
            text.chars().filter(is_plain).take(MOST_CHARS).collect::<String>().to_lowercase()
        };
        let (browser, system) = (short(&request.browser), short(&request.system));
        Ok(Self { resumes, participant, is_preview, browser, system })
    }
}

/// Says what the study is, and whether the comer has a session here. Whoever is new and may take part
/// is asked for consent first, and nothing of them is stored until they gave it.
pub fn welcome(
    tx: &mut dyn Connection,
    hosted: &Hosted,
    comer: &Comer,
    now_ms: i64,
) -> Step<Welcome> {
    let is_known = match known(tx, hosted, comer)? {
        Ok(known) => known.is_some(),
        Err(refusal) => return Ok(Err(refusal)),
    };
    if !is_known && let Err(refusal) = open_study(tx, hosted, comer, now_ms)? {
        return Ok(Err(refusal));
    }
    let study = StudyInfo { preview: comer.is_preview, ..hosted.info.clone() };
    Ok(Ok(Welcome { is_known, study }))
}

/// Returns the session of somebody who comes back; none for people who are new.
fn known(tx: &mut dyn Connection, hosted: &Hosted, comer: &Comer) -> Step<Option<SessionRow>> {
    Ok(Ok(match (&comer.resumes, &comer.participant) {
        _ if comer.is_preview => None,
        (Some(session), _) => match session::find(tx, session)? {
            None => return Ok(Err(ApiError::SessionWithdrawn)),
            Some(row) if row.study != hosted.name => return Ok(Err(ApiError::TokenForeign)),
            row => row,
        },
        (None, Some(participant)) => session::of_participant(tx, &hosted.name, participant)?,
        (None, None) => None,
    }))
}

/// Opens a session or opens it again.
pub fn join(
    tx: &mut dyn Connection,
    hosted: &Hosted,
    secret: &Secret,
    comer: &Comer,
    now_ms: i64,
) -> Step<Joined> {
    let known = match known(tx, hosted, comer)? {
        Ok(known) => known,
        Err(refusal) => return Ok(Err(refusal)),
    };
    let row = match known {
        Some(row) => reopen(tx, hosted, comer, row, now_ms)?,
        None => match begin(tx, hosted, secret, comer, now_ms)? {
            Ok(row) => row,
            Err(refusal) => return Ok(Err(refusal)),
        },
    };
    let head = sha256(&[&format!("{}/{}", row.session, row.epoch)]);
    session::insert_epoch(tx, &row, &head, now_ms)?;
    Ok(Ok(joined(hosted, secret, &row)))
}

fn reopen(
    tx: &mut dyn Connection,
    hosted: &Hosted,
    comer: &Comer,
    mut row: SessionRow,
    now_ms: i64,
) -> Result<SessionRow, StoreError> {
    row.epoch += 1;
    row.browser.clone_from(&comer.browser);
    row.system.clone_from(&comer.system);
    lease::void_started(tx, hosted, &mut row, lease::REOPENED)?;
    lease::renew(tx, hosted.lease_ms(), &mut row, now_ms)?;
    session::update(tx, &row)?;
    Ok(row)
}

/// Returns the study if somebody new may take part in it.
fn open_study(
    tx: &mut dyn Connection,
    hosted: &Hosted,
    comer: &Comer,
    now_ms: i64,
) -> Step<StudyRow> {
    let Some(study) = study::find(tx, &hosted.name)? else {
        return Ok(Err(ApiError::StudyUnknown));
    };
    if comer.is_preview {
        return Ok(Ok(study));
    }
    if !study.is_open {
        return Ok(Err(ApiError::StudyClosed));
    }
    if !cell::has_room(tx, &hosted.name)? {
        lease::sweep(tx, hosted, now_ms)?;
        if !cell::has_room(tx, &hosted.name)? {
            return Ok(Err(ApiError::StudyFull));
        }
    }
    Ok(Ok(study))
}

fn begin(
    tx: &mut dyn Connection,
    hosted: &Hosted,
    secret: &Secret,
    comer: &Comer,
    now_ms: i64,
) -> Step<SessionRow> {
    let study = match open_study(tx, hosted, comer, now_ms)? {
        Ok(study) => study,
        Err(refusal) => return Ok(Err(refusal)),
    };
    if !comer.is_preview {
        study::set_counts(tx, &hosted.name, study.n_joined + 1, study.n_withdrawn)?;
    }
    let session = fresh_id();
    let known = comer.participant.clone().filter(|_| !comer.is_preview);
    let row = SessionRow {
        participant: known.unwrap_or_else(|| secret.participant("session", &session)),
        session,
        study: hosted.name.clone(),
        is_preview: comer.is_preview,
        ordinal: study.n_joined.unsigned_abs(),
        seed: fresh_seed(),
        epoch: 1,
        state: State::Open,
        code: None,
        cell: None,
        lease_until_ms: None,
        n_blocks: 0,
        n_planned: 0,
        n_done: 0,
        n_total: u32::try_from(hosted.trials_per_participant()).unwrap_or(u32::MAX),
        pages: Vec::new(),
        calibration: None,
        screen: None,
        browser: comer.browser.clone(),
        system: comer.system.clone(),
        joined_at_ms: now_ms,
        seen_at_ms: now_ms,
        ended_at_ms: None,
    };
    session::insert(tx, &row)?;
    Ok(Ok(row))
}

fn joined(hosted: &Hosted, secret: &Secret, row: &SessionRow) -> Joined {
    let has_ended = row.state != State::Open;
    Joined {
        session: row.session.clone(),
        epoch: row.epoch,
        token: secret.epoch_token(&row.session, row.epoch),
        state: if has_ended { SessionState::Ended } else { SessionState::Open },
        pages_done: row.pages.clone(),
        calibration: row.calibration.as_deref().and_then(|text| serde_json::from_str(text).ok()),
        n_done: row.n_done,
        n_total: row.n_total,
        code: row.code.clone(),
        completion_url: completion_url(hosted, row),
        study: StudyInfo { preview: row.is_preview, ..hosted.info.clone() },
    }
}

/// Returns where a participant goes whose session has ended.
pub fn completion_url(hosted: &Hosted, row: &SessionRow) -> Option<String> {
    let (url, code) = (hosted.study.page.completion_url.as_ref()?, row.code.as_ref()?);
    Some(url.replace("{code}", code))
}
