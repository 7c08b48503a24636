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
    /// Nothing is shown to anybody who has not agreed.
    #[error("the consent of this session is not stored")]
    ConsentMissing,
    /// No token, or one that is not ours.
    #[error("the token is not ours")]
    TokenBad,
    /// The token is of another session.
    #[error("the token is of another session")]
    TokenForeign,
    /// The screen or the browser can show none of the exposures.
    #[error("the screen or the browser can show none of the study's exposures")]
    ScreenUnfit,
    /// The session was opened anew elsewhere.
    #[error("the session was opened anew elsewhere")]
    EpochOver,
    /// The session has ended, and the browser did not prove that it was its own.
    #[error("the session is over")]
    SessionOver,
    /// This is for the browser in which the session began.
    #[error("the session began in another browser")]
    ProofMissing,
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
    /// Another site sent a form to the admin pages.
    #[error("the request comes from a page of another site")]
    SiteForeign,
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
            Self::ConsentMissing => (StatusCode::FORBIDDEN, "consent_missing"),
            Self::TokenBad => (StatusCode::UNAUTHORIZED, "token_bad"),
            Self::TokenForeign => (StatusCode::FORBIDDEN, "token_foreign"),
            Self::ScreenUnfit => (StatusCode::CONFLICT, "screen_unfit"),
            Self::EpochOver => (StatusCode::CONFLICT, "epoch_over"),
            Self::SessionOver => (StatusCode::FORBIDDEN, "session_over"),
            Self::ProofMissing => (StatusCode::FORBIDDEN, "proof_missing"),
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
            Self::SiteForeign => (StatusCode::FORBIDDEN, "site_foreign"),
            Self::Store(_) => (StatusCode::SERVICE_UNAVAILABLE, "store_failed"),
        }
    }

    /// Returns words for the participant.
    pub(crate) fn message(&self) -> String {
        match self {
            Self::StudyUnknown => "There is no such study. Please check the link.".into(),
            Self::StudyClosed => "This study is closed. Thank you for your interest.".into(),
            Self::StudyFull => "This study has all the answers it needs for now. Thank you for \
                                your interest."
                .into(),
            Self::IdMissing => "The address of this page has no id of yours in it. Please open \
                                the study from where you were invited, with the link or button \
                                there."
                .into(),
            Self::ConsentMissing => "Your consent has not arrived here. Please reload this page \
                                     and agree once more."
                .into(),
            Self::TokenBad | Self::TokenForeign => {
                "This page is out of date. Please reload it; your answers are saved.".into()
            }
            Self::ScreenUnfit => {
                "This screen or browser cannot show pictures for as short as this \
                                  study needs. Please open the link you were given in Chrome or \
                                  Edge, or on another computer."
                    .into()
            }
            Self::EpochOver => "This study was opened again elsewhere. Please go on there; your \
                                answers are saved."
                .into(),
            Self::SessionOver => {
                "This study is over for the participant of this link. The completion code is \
                 shown in the browser in which it ended; whoever lost it can write to the \
                 researchers."
                    .into()
            }
            Self::ProofMissing => {
                "Your session began in another browser. Please open the study there to stop it \
                 or to have your data deleted, or write to the researchers."
                    .into()
            }
            Self::SessionWithdrawn => {
                "You withdrew from this study, and your data were deleted.".into()
            }
            Self::EventConflict { .. } | Self::EventUnchained { .. } => {
                "This study is open in two places. Please close one of them and reload the other."
                    .into()
            }
            Self::EventBad { .. } | Self::TrialForeign { .. } | Self::ReportBad { .. } => {
                "Something went wrong on this page, and not all answers could be saved. Please \
                 download them and send them to the researchers."
                    .into()
            }
            Self::RequestBad { what } => format!("The request cannot be understood: {what}"),
            Self::TooLarge => "The request is too large.".into(),
            Self::NotFound => "There is nothing here.".into(),
            Self::MethodWrong => "This address is asked in another way.".into(),
            Self::TooMany | Self::TooSlow => "Please wait a moment and try again.".into(),
            Self::AdminOnly => "Please open the admin link that `mohs serve` printed.".into(),
            Self::OwnerOnly => "This needs the owner's link.".into(),
            Self::SiteForeign => "Nothing was done: the request did not come from this page, but \
                                  from another site. If it was you, open the admin link that \
                                  `mohs serve` printed, and try again there. Whoever runs the \
                                  server behind a proxy names its address with --public-url."
                .into(),
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
