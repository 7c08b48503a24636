//! Handlers of the admin pages.

use std::path::PathBuf;
use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::extract::rejection::{FormRejection, QueryRejection};
use axum::extract::{Form, Path, Query, Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::{Html, IntoResponse, Redirect, Response};
use serde::Deserialize;

use crate::admin::html;
use crate::admin::overview::Overview;
use crate::admin::trial_run::trial_run;
use crate::app::App;
use crate::conduct::withdraw as withdraw_step;
use crate::error::ApiError;
use crate::export::{self, ExportError};
use crate::hosted::Hosted;
use crate::store::{StoreError, study};
use crate::token::Role;

const COOKIE: &str = "mohs_admin";
/// The table of sessions with their codes.
const SESSIONS: &str = "sessions.csv";
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
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN | StatusCode::BAD_REQUEST => {
                self.0.message()
            }
            StatusCode::NOT_FOUND => "There is nothing here.".into(),
            _ => "That did not work. Please try again.".into(),
        };
        (status, Html(html::message("Not this way", &text))).into_response()
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

/// Lets nobody but our own pages change something. A cookie that stays within a site is not enough:
/// other ports and subdomains are the same site to a browser, and their forms bring it along.
pub(crate) async fn same_origin(State(app): State<App>, request: Request, next: Next) -> Response {
    let headers = request.headers();
    if !request.method().is_safe() && !is_from_here(&app, headers) {
        return Refused(ApiError::SiteForeign).into_response();
    }
    let mut response = next.run(request).await;
    // With no referrer at all, browsers would not say of our own forms where they come from.
    let policy = HeaderValue::from_static("same-origin");
    response.headers_mut().insert(header::REFERRER_POLICY, policy);
    response
}

/// Says whether a request comes from a page of this server or from no page at all. Browsers tell in
/// `Sec-Fetch-Site`, over plain HTTP in `Origin` only; programs tell neither, and no page can make them.
fn is_from_here(app: &App, headers: &HeaderMap) -> bool {
    let text = |name: HeaderName| headers.get(name).map(|value| value.to_str().unwrap_or_default());
    if let Some(site) = text(HeaderName::from_static("sec-fetch-site")) {
        return site == "same-origin" || site == "none";
    }
    let Some(origin) = text(header::ORIGIN) else { return true };
    let scheme = if app.is_encrypted { "https" } else { "http" };
    let own = text(header::HOST).map(|host| format!("{scheme}://{host}"));
    let is = |ours: &str| ours.eq_ignore_ascii_case(origin);
    own.as_deref().is_some_and(is) || app.public_origin.as_deref().is_some_and(is)
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

/// Deletes what a participant asked the owner to delete.
pub(crate) async fn withdraw(
    State(app): State<App>,
    Path(name): Path<String>,
    headers: HeaderMap,
    form: Result<Form<WithdrawForm>, FormRejection>,
) -> Page {
    owner(&app, &headers)?;
    let hosted = app.study(&name)?;
    let bad = |what: String| ApiError::RequestBad { what };
    let Form(form) = form.map_err(|_| bad("the form should have `whose`".into()))?;
    if !form.is_sure {
        return Err(bad("the box \"for good\" should be ticked".into()).into());
    }
    let whose = form.whose.trim().to_owned();
    let asked = whose.clone();
    let is_found =
        app.store.write(move |tx| withdraw_step::withdraw_for(tx, &hosted, &asked)).await?;
    if !is_found {
        let found: String = whose.chars().take(40).collect();
        let what = format!(
            "whose should be the id of a session or a code of one participant, as in \
             sessions.csv, found `{found}`"
        );
        return Err(bad(what).into());
    }
    Ok(Redirect::to(&format!("/admin/{name}")).into_response())
}

/// Whose data are to be deleted.
#[derive(Deserialize)]
pub(crate) struct WithdrawForm {
    whose: String,
    #[serde(default, rename = "sure", deserialize_with = "is_ticked")]
    is_sure: bool,
}

/// A box that is ticked says `yes`; one that is not says nothing.
fn is_ticked<'de, D: serde::Deserializer<'de>>(from: D) -> Result<bool, D::Error> {
    String::deserialize(from).map(|word| word == "yes")
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
    let n_bots = body.split('&').find_map(|pair| pair.strip_prefix("bots="));
    let n_bots = n_bots.unwrap_or_default();
    let n_bots =
        n_bots.parse().ok().filter(|n| (1..=html::MOST_BOTS).contains(n)).ok_or_else(|| {
            let found: String = n_bots.chars().take(20).collect();
            ApiError::RequestBad {
                what: format!(
                    "bots should be a number from 1 to {}, found `{found}`",
                    html::MOST_BOTS
                ),
            }
        })?;
    let run = trial_run(Arc::clone(&hosted), n_bots).await;
    let run = run.map_err(|_| ApiError::Store(StoreError::Closed))?;
    Ok(Html(html::trial_run(&hosted, &run)).into_response())
}

pub(crate) async fn download(
    State(app): State<App>,
    Path((name, file)): Path<(String, String)>,
    headers: HeaderMap,
) -> Page {
    let role = role(&app, &headers)?;
    // Codes are worth money.
    if file == SESSIONS && role != Role::Owner {
        return Err(ApiError::OwnerOnly.into());
    }
    let hosted = app.study(&name)?;
    let noun = if hosted.study.task == mohs_data::Task::Pairs { "comparisons" } else { "trials" };
    let known =
        [format!("{noun}.csv"), format!("{noun}.parquet"), "events.jsonl".into(), SESSIONS.into()];
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
    let written = match file {
        "events.jsonl" => export::write_events(tx, &hosted.name, &path).map(|_| ()),
        SESSIONS => export::write_sessions(tx, &hosted.name, &path).map(|_| ()),
        _ => export::write_table(tx, &hosted.name, hosted.study.task, &path).map(|_| ()),
    };
    written.map_err(|error| match error {
        ExportError::Store(error) => error,
        ExportError::File(error) => StoreError::Sink(Box::new(error)),
    })?;
    super::file_body::FileBody::open(folder, &path).map_err(sink)
}
