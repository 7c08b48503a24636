//! What a participant's page asks: welcome, join, block, events, end, withdraw.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use axum::Json;
use axum::body::Bytes;
use axum::extract::rejection::BytesRejection;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode, header};
use serde::de::DeserializeOwned;

use crate::app::App;
use crate::conduct::join::Comer;
use crate::conduct::receive::Terms;
use crate::conduct::withdraw as withdraw_step;
use crate::conduct::{block as block_step, end as end_step, join as join_step, receive};
use crate::error::ApiError;
use crate::hosted::Hosted;
use crate::store::session;
use crate::wire::{
    Ack, BlockAnswer, BlockRequest, EndAnswer, EndRequest, JoinRequest, Joined, Welcome,
    WithdrawRequest, Withdrawn,
};

type Body = Result<Bytes, BytesRejection>;
type Named = Result<Path<String>, axum::extract::rejection::PathRejection>;
type Answer<T> = Result<Json<T>, ApiError>;

pub(crate) async fn welcome(State(app): State<App>, study: Named, body: Body) -> Answer<Welcome> {
    let hosted = app.study(&name(study)?)?;
    let request: JoinRequest = read(body)?;
    let now_ms = app.clock.now_ms();
    let comer = Comer::from_request(&request, &hosted, &app.secret, now_ms)?;
    let step = move |tx: &mut dyn crate::store::connection::Connection| {
        join_step::welcome(tx, &hosted, &comer, now_ms)
    };
    app.store.write(step).await?.map(Json)
}

pub(crate) async fn join(State(app): State<App>, study: Named, body: Body) -> Answer<Joined> {
    let hosted = app.study(&name(study)?)?;
    let request: JoinRequest = read(body)?;
    let now_ms = app.clock.now_ms();
    let comer = Comer::from_request(&request, &hosted, &app.secret, now_ms)?;
    let secret = app.secret.clone();
    let step = move |tx: &mut dyn crate::store::connection::Connection| {
        join_step::join(tx, &hosted, &secret, &comer, now_ms)
    };
    app.store.write(step).await?.map(Json)
}

pub(crate) async fn block(
    State(app): State<App>,
    session: Named,
    headers: HeaderMap,
    body: Body,
) -> Answer<BlockAnswer> {
    let epoch = epoch(&app, session, &headers).await?;
    let request: BlockRequest = read(body)?;
    block_step::check_screen(&request.screen)?;
    let (session, now_ms) = (epoch.session.clone(), app.clock.now_ms());
    let step = move |tx: &mut dyn crate::store::connection::Connection| {
        let asked = (epoch.session.as_str(), epoch.epoch, &request.screen);
        block_step::next(tx, &epoch.hosted, asked, now_ms)
    };
    let next = app.store.write(step).await??;
    Ok(Json(next.into_answer(&app.secret, &session)))
}

pub(crate) async fn events(
    State(app): State<App>,
    session: Named,
    headers: HeaderMap,
    body: Body,
) -> Answer<Ack> {
    let epoch = epoch(&app, session, &headers).await?;
    let body = whole(body)?;
    let opened = receive::read(&body)?;
    app.counts.n_events.fetch_add(opened.len() as u64, Ordering::Relaxed);
    let (terms, now_ms) = (Terms::of(&epoch.hosted), app.clock.now_ms());
    let step = move |tx: &mut dyn crate::store::connection::Connection| {
        let of = (epoch.session.as_str(), epoch.epoch);
        // What could be read as JSON is text.
        let batch = std::str::from_utf8(&body).unwrap_or_default();
        receive::receive(tx, &terms, of, (&opened, batch), now_ms)
    };
    app.store.write(step).await?.map(Json)
}

pub(crate) async fn end(
    State(app): State<App>,
    session: Named,
    headers: HeaderMap,
    body: Body,
) -> Answer<EndAnswer> {
    let epoch = epoch(&app, session, &headers).await?;
    let request: EndRequest = read(body)?;
    let now_ms = app.clock.now_ms();
    let step = move |tx: &mut dyn crate::store::connection::Connection| {
        let of = (epoch.session.as_str(), epoch.epoch);
        end_step::end(tx, &epoch.hosted, of, &request, now_ms)
    };
    app.store.write(step).await?.map(Json)
}

pub(crate) async fn withdraw(
    State(app): State<App>,
    session: Named,
    headers: HeaderMap,
    body: Body,
) -> Answer<Withdrawn> {
    let epoch = epoch(&app, session, &headers).await?;
    let request: WithdrawRequest = read(body)?;
    if !request.delete_my_data {
        let what = "delete_my_data should be true".into();
        return Err(ApiError::RequestBad { what });
    }
    let step = move |tx: &mut dyn crate::store::connection::Connection| {
        withdraw_step::withdraw(tx, &epoch.hosted, (&epoch.session, epoch.epoch))
    };
    app.store.write(step).await?.map(Json)
}

/// The epoch a request speaks for.
struct Epoch {
    session: String,
    epoch: u32,
    hosted: Arc<Hosted>,
}

/// Checks the token against the address, and finds the study.
async fn epoch(app: &App, session: Named, headers: &HeaderMap) -> Result<Epoch, ApiError> {
    let session = name(session)?;
    let bearer = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
    let token = bearer.and_then(|value| value.strip_prefix("Bearer ")).ok_or(ApiError::TokenBad)?;
    let (of, epoch) = app.secret.read_epoch_token(token).ok_or(ApiError::TokenBad)?;
    if of != session {
        return Err(ApiError::TokenForeign);
    }
    // With one study there is nothing to look up; a session that is gone is noticed by the step.
    if app.studies.len() == 1
        && let Some(hosted) = app.studies.values().next()
    {
        return Ok(Epoch { session, epoch, hosted: Arc::clone(hosted) });
    }
    let study = app.store.peek(move |tx| session::study_of(tx, &of)).await?;
    let study = study.ok_or(ApiError::SessionWithdrawn)?;
    Ok(Epoch { session, epoch, hosted: app.study(&study)? })
}

/// Returns the name in an address.
pub(super) fn name(path: Named) -> Result<String, ApiError> {
    path.map(|Path(name)| name).map_err(|_| ApiError::NotFound)
}

/// Reads a request's body, whatever its type is called: keepalive requests call it text.
pub(super) fn read<T: DeserializeOwned>(body: Body) -> Result<T, ApiError> {
    let bytes = whole(body)?;
    serde_json::from_slice(&bytes).map_err(|cause| ApiError::RequestBad { what: cause.to_string() })
}

fn whole(body: Body) -> Result<Bytes, ApiError> {
    body.map_err(|rejection| match rejection.status() {
        StatusCode::PAYLOAD_TOO_LARGE => ApiError::TooLarge,
        _ => ApiError::RequestBad { what: "the body ended too early".into() },
    })
}
