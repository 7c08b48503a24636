//! What a participant is told when something cannot be done: a status, a stable code, and words.
//!
//! The cause is never sent. Nothing here is a surprise to the page: it knows every code.

use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};

use crate::report::ReportError;
use crate::store::StoreError;
use crate::wire::{Failure, FailureDetail};

/// Why a request is refused.
#[derive(Debug, thiserror::Error)]
pub enum ApiError {
    /// No such study.
    #[error("there is no such study")]
    StudyUnknown,
    /// Nobody new may join.
    #[error("the study is closed")]
    StudyClosed,
    /// Nothing is left to do.
    #[error("the study is full")]
    StudyFull,
    /// The study wants an id of a recruiter.
    #[error("an id of a recruiter is missing")]
    IdMissing,
    /// No token, or one that is not ours.
    #[error("the token is not ours")]
    TokenBad,
    /// The token is of another session.
    #[error("the token is of another session")]
    TokenForeign,
    /// The session was opened anew elsewhere.
    #[error("the session was opened anew elsewhere")]
    EpochOver,
    /// The participant withdrew: nothing is left.
    #[error("the session was deleted")]
    SessionWithdrawn,
    /// Another event has this place.
    #[error("event {seq} was sent before with other content")]
    EventConflict {
        /// Its number.
        seq: u32,
    },
    /// An event does not follow from the one before.
    #[error("the hash of event {seq} does not follow from the one before")]
    EventUnchained {
        /// Its number.
        seq: u32,
    },
    /// An event cannot be understood.
    #[error("event {seq} cannot be understood")]
    EventBad {
        /// Its number.
        seq: u32,
    },
    /// A trial is not of this session.
    #[error("event {seq} is about a trial of nobody or of another session")]
    TrialForeign {
        /// Its number.
        seq: u32,
    },
    /// A report is not sound.
    #[error("event {seq} holds a report that is not sound")]
    ReportBad {
        /// Its number.
        seq: u32,
        /// Why.
        source: ReportError,
    },
    /// A request cannot be understood.
    #[error("the request cannot be understood: {what}")]
    RequestBad {
        /// What.
        what: String,
    },
    /// More than a request may hold.
    #[error("the request is too large")]
    TooLarge,
    /// Nothing is there.
    #[error("there is nothing here")]
    NotFound,
    /// Not like this.
    #[error("this address is asked in another way")]
    MethodWrong,
    /// Too often.
    #[error("too many requests")]
    TooMany,
    /// It took too long.
    #[error("the request took too long")]
    TooSlow,
    /// Admin pages want a token.
    #[error("an admin token is missing")]
    AdminOnly,
    /// Admin pages want the owner's token.
    #[error("the owner's token is missing")]
    OwnerOnly,
    /// The store failed.
    #[error("the store failed")]
    Store(#[from] StoreError),
}

impl ApiError {
    /// Returns the status and the stable code.
    pub fn code(&self) -> (StatusCode, &'static str) {
        match self {
            Self::StudyUnknown => (StatusCode::NOT_FOUND, "study_unknown"),
            Self::StudyClosed => (StatusCode::FORBIDDEN, "study_closed"),
            Self::StudyFull => (StatusCode::FORBIDDEN, "study_full"),
            Self::IdMissing => (StatusCode::FORBIDDEN, "id_missing"),
            Self::TokenBad => (StatusCode::UNAUTHORIZED, "token_bad"),
            Self::TokenForeign => (StatusCode::FORBIDDEN, "token_foreign"),
            Self::EpochOver => (StatusCode::CONFLICT, "epoch_over"),
            Self::SessionWithdrawn => (StatusCode::GONE, "session_withdrawn"),
            Self::EventConflict { .. } => (StatusCode::CONFLICT, "event_conflict"),
            Self::EventUnchained { .. } => (StatusCode::UNPROCESSABLE_ENTITY, "event_unchained"),
            Self::EventBad { .. } => (StatusCode::UNPROCESSABLE_ENTITY, "event_bad"),
            Self::TrialForeign { .. } => (StatusCode::FORBIDDEN, "trial_foreign"),
            Self::ReportBad { .. } => (StatusCode::UNPROCESSABLE_ENTITY, "report_bad"),
            Self::RequestBad { .. } => (StatusCode::BAD_REQUEST, "request_bad"),
            Self::TooLarge => (StatusCode::PAYLOAD_TOO_LARGE, "too_large"),
            Self::NotFound => (StatusCode::NOT_FOUND, "not_found"),
            Self::MethodWrong => (StatusCode::METHOD_NOT_ALLOWED, "method_wrong"),
            Self::TooMany => (StatusCode::TOO_MANY_REQUESTS, "too_many"),
            Self::TooSlow => (StatusCode::REQUEST_TIMEOUT, "too_slow"),
            Self::AdminOnly => (StatusCode::UNAUTHORIZED, "admin_only"),
            Self::OwnerOnly => (StatusCode::FORBIDDEN, "owner_only"),
            Self::Store(_) => (StatusCode::SERVICE_UNAVAILABLE, "store_failed"),
        }
    }

    /// Returns words for the participant.
    fn message(&self) -> String {
        match self {
            Self::StudyUnknown => "There is no such study. Please check the link.".into(),
            Self::StudyClosed => "This study is closed. Thank you for your interest.".into(),
            Self::StudyFull => "This study has all the answers it needs for now. Thank you for \
                                your interest."
                .into(),
            Self::IdMissing => "Please open this study with the link you were given.".into(),
            Self::TokenBad | Self::TokenForeign => {
                "This page is out of date. Please reload it; your answers are saved.".into()
            }
            Self::EpochOver => "This study was opened again elsewhere. Please go on there; your \
                                answers are saved."
                .into(),
            Self::SessionWithdrawn => {
                "You withdrew from this study, and your data were deleted.".into()
            }
            Self::EventConflict { .. } | Self::EventUnchained { .. } => {
                "This study is open in two places. Please close one of them and reload the other."
                    .into()
            }
            Self::EventBad { .. } | Self::TrialForeign { .. } | Self::ReportBad { .. } => {
                "Something went wrong on this page. Please reload it; your answers are saved."
                    .into()
            }
            Self::RequestBad { what } => format!("The request cannot be understood: {what}"),
            Self::TooLarge => "The request is too large.".into(),
            Self::NotFound => "There is nothing here.".into(),
            Self::MethodWrong => "This address is asked in another way.".into(),
            Self::TooMany | Self::TooSlow => "Please wait a moment and try again.".into(),
            Self::AdminOnly => "Please open the admin link that `mohs serve` printed.".into(),
            Self::OwnerOnly => "This needs the owner's link.".into(),
            Self::Store(_) => {
                "Saving does not work at the moment. Your answers are kept on this computer and \
                 sent again."
                    .into()
            }
        }
    }
}

/// Why a request failed, for the log: it travels beside the answer and is never sent.
#[derive(Debug, Clone)]
pub struct Cause(pub String);

impl Cause {
    fn of(error: &dyn std::error::Error) -> Self {
        let mut text = error.to_string();
        let mut next = error.source();
        while let Some(cause) = next {
            text = format!("{text}: {cause}");
            next = cause.source();
        }
        Self(text)
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let (status, code) = self.code();
        let detail = FailureDetail { code: code.into(), message: self.message() };
        let mut response = (status, Json(Failure { error: detail })).into_response();
        if matches!(self, Self::TooMany | Self::Store(_)) {
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
        }
        if let Self::Store(cause) = &self {
            response.extensions_mut().insert(Cause::of(cause));
        }
        response
    }
}
