//! Joining: a new session, or the same one in a new epoch; and before that a welcome, which stores
//! nothing.

use super::end::ending;
use super::{Step, lease, proof};
use crate::error::ApiError;
use crate::hosted::Hosted;
use crate::store::cell;
use crate::store::connection::Connection;
use crate::store::session::{self, SessionRow, State};
use crate::store::study::{self, StudyRow};
use crate::token::{Secret, fresh_id, fresh_seed, sha256};
use crate::wire::{JoinRequest, Joined, SessionState, StudyInfo, Welcome};
use mohs_data::Task;

/// Who comes, worked out from the request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Comer {
    /// Session and epoch of a token that this browser kept.
    pub resumes: Option<(String, u32)>,
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
            Some(token) => Some(secret.read_epoch_token(token).ok_or(ApiError::TokenBad)?),
        };
        let recruiter = request.recruiter.as_deref().unwrap_or("link");
        let id = request.recruiter_id.as_deref().map(str::trim);
        if id.is_some_and(|id| 200 < id.len()) || 40 < recruiter.len() {
            return Err(ApiError::RequestBad { what: "the id is too long".into() });
        }
        let is_blank = id.is_some_and(is_placeholder);
        let participant = id.filter(|_| !is_blank).map(|id| secret.participant(recruiter, id));
        let is_nobody = participant.is_none() && resumes.is_none() && !is_preview;
        if is_nobody && (is_blank || !hosted.study.page.open_to_all) {
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

/// Says whether an id is what a recruiter should have replaced by one, or what a script writes for one
/// that it does not have: all who come with it would be one person.
fn is_placeholder(id: &str) -> bool {
    const OPENINGS: [(&str, &str); 5] =
        [("{", "}"), ("${", "}"), ("[", "]"), ("<", ">"), ("%", "%")];
    const NOTHINGS: [&str; 6] = ["", "undefined", "null", "none", "nan", "nil"];
    let id = id.replace("%7B", "{").replace("%7b", "{").replace("%7D", "}").replace("%7d", "}");
    let is_between = |(opening, end): &(&str, &str)| id.starts_with(opening) && id.ends_with(end);
    // MTurk says so to people who look at a task that they have not accepted.
    id == "ASSIGNMENT_ID_NOT_AVAILABLE"
        || NOTHINGS.contains(&id.to_lowercase().as_str())
        || OPENINGS.iter().any(is_between)
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

/// Returns the session of somebody who comes back; none for people who are new. One that has ended is
/// there for its own browser only.
fn known(tx: &mut dyn Connection, hosted: &Hosted, comer: &Comer) -> Step<Option<SessionRow>> {
    let row = match (&comer.resumes, &comer.participant) {
        _ if comer.is_preview => None,
        (Some((session, _)), _) => match session::find(tx, session)? {
            None => return Ok(Err(ApiError::SessionWithdrawn)),
            Some(row) if row.study != hosted.name => return Ok(Err(ApiError::TokenForeign)),
            row => row,
        },
        (None, Some(participant)) => session::of_participant(tx, &hosted.name, participant)?,
        (None, None) => None,
    };
    if row.as_ref().is_some_and(|row| row.state != State::Open) {
        let is_own = match &comer.resumes {
            Some((session, epoch)) => proof::may_end(tx, session, *epoch)?,
            None => false,
        };
        if !is_own {
            return Ok(Err(ApiError::SessionOver));
        }
    }
    Ok(Ok(row))
}

/// Opens a session or opens it again.
pub fn join(
    tx: &mut dyn Connection,
    hosted: &Hosted,
    secret: &Secret,
    comer: &Comer,
    now_ms: i64,
) -> Step<Joined> {
    if hosted.study.task == Task::Beep {
        lease::sweep(tx, hosted, now_ms)?;
    }
    let known = match known(tx, hosted, comer)? {
        Ok(known) => known,
        Err(refusal) => return Ok(Err(refusal)),
    };
    let row = match known {
        Some(row) => reopen(tx, hosted, comer, row, now_ms)?,
        None => begin(tx, hosted, secret, comer, now_ms)?,
    };
    let row = match row {
        Ok(row) => row,
        Err(refusal) => return Ok(Err(refusal)),
    };
    let root = match &comer.resumes {
        Some((session, epoch)) if !comer.is_preview => session::root_of(tx, session, *epoch)?,
        _ => None,
    };
    let head = sha256(&[&format!("{}/{}", row.session, row.epoch)]);
    session::insert_epoch(tx, &row, root.unwrap_or(row.epoch), &head, now_ms)?;
    Ok(Ok(joined(hosted, secret, &row)))
}

fn reopen(
    tx: &mut dyn Connection,
    hosted: &Hosted,
    comer: &Comer,
    mut row: SessionRow,
    now_ms: i64,
) -> Step<SessionRow> {
    if let Err(refusal) = lease::order(tx, hosted, &mut row)? {
        return Ok(Err(refusal));
    }
    row.epoch += 1;
    row.browser.clone_from(&comer.browser);
    row.system.clone_from(&comer.system);
    lease::void_started(tx, hosted, &mut row, lease::REOPENED)?;
    lease::renew(tx, hosted.lease_ms(), &mut row, now_ms)?;
    session::update(tx, &row)?;
    Ok(Ok(row))
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
    let session = fresh_id();
    let known = comer.participant.clone().filter(|_| !comer.is_preview);
    let mut row = SessionRow {
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
    // Held from consent on, so that nobody is sent home after calibration.
    if let Err(refusal) = lease::order(tx, hosted, &mut row)? {
        return Ok(Err(refusal));
    }
    if !comer.is_preview {
        study::set_counts(tx, &hosted.name, study.n_joined + 1, study.n_withdrawn)?;
    }
    session::insert(tx, &row)?;
    if row.cell.is_some() {
        lease::renew(tx, hosted.lease_ms(), &mut row, now_ms)?;
        session::update(tx, &row)?;
    }
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
        ending: ending(row),
        code: row.code.clone(),
        completion_url: completion_url(hosted, row),
        study: StudyInfo { preview: row.is_preview, ..hosted.info.clone() },
    }
}

/// Returns where a participant goes who did everything. The others have nothing to bring there.
pub fn completion_url(hosted: &Hosted, row: &SessionRow) -> Option<String> {
    if row.state != State::Complete {
        return None;
    }
    let (url, code) = (hosted.study.page.completion_url.as_ref()?, row.code.as_ref()?);
    Some(url.replace("{code}", code))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_recruiter_did_not_replace_is_no_id() {
        for blank in [
            "{{%PROLIFIC_PID%}}",
            "%7B%7B%25PROLIFIC_PID%25%7D%7D",
            "${e://Field/PROLIFIC_PID}",
            "[%PROLIFIC_PID%]",
            "%%PARTICIPANT%%",
            "%PROLIFIC_PID%",
            "ASSIGNMENT_ID_NOT_AVAILABLE",
            "undefined",
            "null",
            "None",
            "[PID]",
            "<id>",
            "",
        ] {
            assert!(is_placeholder(blank), "{blank}");
        }
        for id in [
            "5f1c0a9b2e",
            "A1B2C3",
            "'); drop table session; -- ",
            "p{1}",
            "100%",
            "nobody",
            "p[1]",
        ] {
            assert!(!is_placeholder(id), "{id}");
        }
    }
}
