//! Handlers of the admin pages.

use std::path::PathBuf;
use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::extract::rejection::QueryRejection;
use axum::extract::{Path, Query, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{Html, IntoResponse, Redirect, Response};
use serde::Deserialize;

use crate::admin::html;
use crate::admin::overview::Overview;
use crate::admin::trial_run::trial_run;
use crate::app::App;
use crate::error::ApiError;
use crate::export::{self, ExportError};
use crate::hosted::Hosted;
use crate::store::{StoreError, study};
use crate::token::Role;

const COOKIE: &str = "mohs_admin";
const WEEK_MS: i64 = 7 * 24 * 3_600_000;

/// An admin page that is refused, in words.
pub(crate) struct Refused(ApiError);

impl<E: Into<ApiError>> From<E> for Refused {
    fn from(error: E) -> Self {
        Self(error.into())
    }
}

impl IntoResponse for Refused {
    fn into_response(self) -> Response {
        let status = self.0.code().0;
        let text = match status {
            StatusCode::UNAUTHORIZED => "Please open the admin link that `mohs serve` printed.",
            StatusCode::FORBIDDEN => "This needs the owner's link.",
            StatusCode::NOT_FOUND => "There is nothing here.",
            _ => "That did not work. Please try again.",
        };
        (status, Html(html::message("Not this way", text))).into_response()
    }
}

type Page = Result<Response, Refused>;

fn role(app: &App, headers: &HeaderMap) -> Result<Role, ApiError> {
    let cookies = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    let mut pairs =
        cookies.flat_map(|text| text.split(';')).filter_map(|pair| pair.split_once('='));
    let token = pairs.find(|(name, _)| name.trim() == COOKIE).map(|(_, token)| token.trim());
    token.and_then(|token| app.secret.role(token)).ok_or(ApiError::AdminOnly)
}

fn owner(app: &App, headers: &HeaderMap) -> Result<(), ApiError> {
    match role(app, headers)? {
        Role::Owner => Ok(()),
        Role::Viewer => Err(ApiError::OwnerOnly),
    }
}

#[derive(Deserialize)]
pub(crate) struct Login {
    #[serde(default)]
    token: String,
}

/// Turns the token of a link into a cookie, so that it leaves the address.
pub(crate) async fn login(
    State(app): State<App>,
    login: Result<Query<Login>, QueryRejection>,
) -> Page {
    let token = login.map(|Query(login)| login.token).unwrap_or_default();
    app.secret.role(&token).ok_or(ApiError::AdminOnly)?;
    let secure = if app.is_encrypted { "; Secure" } else { "" };
    let cookie = format!(
        "{COOKIE}={token}; Path=/admin; HttpOnly; SameSite=Strict; Max-Age=2592000{secure}"
    );
    Ok(([(header::SET_COOKIE, cookie)], Redirect::to("/admin")).into_response())
}

pub(crate) async fn style() -> Response {
    ([(header::CONTENT_TYPE, "text/css")], html::STYLE).into_response()
}

pub(crate) async fn index(State(app): State<App>, headers: HeaderMap) -> Page {
    // The first page after a link from elsewhere comes without a strict cookie; a reload has it.
    if role(&app, &headers).is_err() {
        return Err(ApiError::AdminOnly.into());
    }
    let studies = app.studies.values().map(Arc::as_ref);
    Ok(Html(html::studies(studies)).into_response())
}

pub(crate) async fn study_page(
    State(app): State<App>,
    Path(name): Path<String>,
    headers: HeaderMap,
) -> Page {
    let role = role(&app, &headers)?;
    let hosted = app.study(&name)?;
    let preview = app.secret.preview_token(&name, app.clock.now_ms() + WEEK_MS);
    let counted = Arc::clone(&hosted);
    let overview = app.store.read(move |tx| Overview::read(tx, &counted)).await?;
    Ok(Html(html::study(&hosted, &overview, role, &preview)).into_response())
}

pub(crate) async fn open(app: State<App>, name: Path<String>, headers: HeaderMap) -> Page {
    set_open(app, name, headers, true).await
}

pub(crate) async fn close(app: State<App>, name: Path<String>, headers: HeaderMap) -> Page {
    set_open(app, name, headers, false).await
}

async fn set_open(
    State(app): State<App>,
    Path(name): Path<String>,
    headers: HeaderMap,
    is_open: bool,
) -> Page {
    owner(&app, &headers)?;
    let hosted = app.study(&name)?;
    app.store.write(move |tx| study::set_open(tx, &hosted.name, is_open)).await?;
    Ok(Redirect::to(&format!("/admin/{name}")).into_response())
}

pub(crate) async fn simulate(
    State(app): State<App>,
    Path(name): Path<String>,
    headers: HeaderMap,
    body: Bytes,
) -> Page {
    owner(&app, &headers)?;
    let hosted = app.study(&name)?;
    let body = String::from_utf8_lossy(&body);
    let n_bots = body.split('&').find_map(|pair| pair.strip_prefix("bots=")?.parse().ok());
    let n_bots: usize = n_bots.unwrap_or(30).clamp(1, 500);
    let run = trial_run(Arc::clone(&hosted), n_bots).await;
    let run = run.map_err(|_| ApiError::Store(StoreError::Closed))?;
    Ok(Html(html::trial_run(&hosted, &run)).into_response())
}

pub(crate) async fn download(
    State(app): State<App>,
    Path((name, file)): Path<(String, String)>,
    headers: HeaderMap,
) -> Page {
    role(&app, &headers)?;
    let hosted = app.study(&name)?;
    let noun = if hosted.study.task == mohs_data::Task::Pairs { "comparisons" } else { "trials" };
    let known = [format!("{noun}.csv"), format!("{noun}.parquet"), "events.jsonl".into()];
    let file = known.into_iter().find(|known| *known == file).ok_or(ApiError::NotFound)?;
    let kind = match file.rsplit('.').next() {
        Some("csv") => "text/csv; charset=utf-8",
        Some("jsonl") => "application/jsonl",
        _ => "application/vnd.apache.parquet",
    };
    let disposition = format!("attachment; filename=\"{name}-{file}\"");
    let made = app.store.read(move |tx| written(tx, &hosted, &file)).await?;
    let headers =
        [(header::CONTENT_TYPE, kind.to_owned()), (header::CONTENT_DISPOSITION, disposition)];
    Ok((headers, Body::new(made)).into_response())
}

/// Writes an export to a temporary file, which goes away when it has been sent.
fn written(
    tx: &mut dyn crate::store::connection::Connection,
    hosted: &Hosted,
    file: &str,
) -> Result<super::file_body::FileBody, StoreError> {
    let sink = |cause: std::io::Error| StoreError::Sink(Box::new(cause));
    let folder = tempfile::tempdir().map_err(sink)?;
    let path: PathBuf = folder.path().join(file);
    let written = if file == "events.jsonl" {
        export::write_events(tx, &hosted.name, &path).map(|_| ())
    } else {
        export::write_table(tx, &hosted.name, hosted.study.task, &path).map(|_| ())
    };
    written.map_err(|error| match error {
        ExportError::Store(error) => error,
        ExportError::File(error) => StoreError::Sink(Box::new(error)),
    })?;
    super::file_body::FileBody::open(folder, &path).map_err(sink)
}
