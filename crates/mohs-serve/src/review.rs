//! The page on which somebody accepts or rejects the pictures of a ladder, and its addresses.
//!
//! It knows nothing of studies and of the database: a decision is a row of `review.csv`, on disk
//! before it is answered. Everything but the script and the style needs the cookie that the link
//! with the token gives. The page is `page/src/review/`.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use axum::extract::rejection::{JsonRejection, PathRejection, QueryRejection};
use axum::extract::{DefaultBodyLimit, Path as InPath, Query, Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{Html, IntoResponse, Redirect, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use mohs_data::{Extra, FileError, ReviewLog, Stimulus, StimulusId, Verdict};
use serde::{Deserialize, Serialize};

use crate::clock::Clock;
use crate::router::add_headers;
use crate::routes::page::escape;
use crate::token::{Secret, hex, random};

/// Why a ladder cannot be reviewed.
#[derive(Debug, thiserror::Error)]
pub enum ReviewError {
    /// The file of decisions cannot be used.
    #[error(transparent)]
    File(#[from] FileError),
    /// A picture is not there.
    #[error("the picture of `{stimulus}` is not there: {}", path.display())]
    Missing {
        /// Whose picture.
        stimulus: StimulusId,
        /// Where it should be.
        path: PathBuf,
    },
}

/// A review that is going on; cheap to clone.
#[derive(Clone)]
pub struct Review(Arc<Parts>);

struct Parts {
    title: String,
    pictures: Vec<Picture>,
    log: Mutex<ReviewLog>,
    secret: Secret,
    token: String,
    clock: Clock,
}

struct Picture {
    stimulus: Stimulus,
    path: PathBuf,
}

/// Cookies do not know ports: each review has a cookie of its own.
const COOKIE: &str = "mohs_review_";
/// Bytes of a request: a decision is a line.
const MOST_BYTES: usize = 16 * 1024;
/// Letters of a reason.
const LONGEST_REASON: usize = 300;

impl Review {
    /// Opens the review of a ladder's pictures, or goes on with it.
    pub fn open(folder: &Path, stimuli: &[Stimulus], log: &Path) -> Result<Self, ReviewError> {
        let mut pictures = Vec::with_capacity(stimuli.len());
        for stimulus in stimuli {
            let path = folder.join(&stimulus.file);
            if !path.is_file() {
                return Err(ReviewError::Missing { stimulus: stimulus.id.clone(), path });
            }
            pictures.push(Picture { stimulus: stimulus.clone(), path });
        }
        let name = std::path::absolute(folder).unwrap_or(folder.to_owned());
        let title = name.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let secret = Secret::parse(&hex(&random::<32>()));
        let secret = secret.expect("because it has 32 bytes");
        let token = secret.sign("review", "link")[..40].to_owned();
        let log = Mutex::new(ReviewLog::open(log)?);
        let parts = Parts { title, pictures, log, secret, token, clock: Clock::System };
        Ok(Self(Arc::new(parts)))
    }

    /// Returns what the link must carry.
    pub fn token(&self) -> &str {
        &self.0.token
    }

    /// Returns how many pictures are decided.
    pub fn n_decided(&self) -> usize {
        let log = self.0.log.lock().unwrap_or_else(PoisonError::into_inner);
        let is_decided = |picture: &&Picture| {
            let review = log.find(&picture.stimulus.id);
            review.is_some_and(|review| review.verdict != Verdict::Undecided)
        };
        self.0.pictures.iter().filter(is_decided).count()
    }

    /// Returns the page and its addresses as a service.
    pub fn router(&self) -> Router {
        let inside = Router::new()
            .route("/", get(page))
            .route("/api/pictures", get(pictures))
            .route("/api/verdicts", post(decide))
            .route("/pictures/{number}", get(picture))
            .layer(middleware::from_fn_with_state(self.clone(), only_with_cookie));
        Router::new()
            .merge(inside)
            .route("/login", get(login))
            .route("/review.js", get(script))
            .route("/review.css", get(style))
            .fallback(|| async { Refused(StatusCode::NOT_FOUND) })
            .layer(DefaultBodyLimit::max(MOST_BYTES))
            .layer(middleware::map_response(|response: Response| async { add_headers(response) }))
            .with_state(self.clone())
    }

    fn cookie(&self) -> String {
        format!("{COOKIE}{}", &self.0.secret.sign("review", "cookie")[..8])
    }

    fn is_token(&self, token: &str) -> bool {
        let (ours, secret) = (&self.0.token, &self.0.secret);
        // Compared by their signatures, so that time tells nothing.
        secret.is_signed("compare", ours, &secret.sign("compare", token))
    }
}

/// A request that is refused, in words.
struct Refused(StatusCode);

impl IntoResponse for Refused {
    fn into_response(self) -> Response {
        let text = match self.0 {
            StatusCode::UNAUTHORIZED => "Please open the link that `mohs ladder review` printed.",
            StatusCode::NOT_FOUND => "There is nothing here.",
            StatusCode::BAD_REQUEST => "That cannot be understood.",
            _ => "That could not be written to disk.",
        };
        (self.0, text).into_response()
    }
}

async fn only_with_cookie(State(review): State<Review>, request: Request, next: Next) -> Response {
    if has_cookie(&review, request.headers()) {
        return next.run(request).await;
    }
    Refused(StatusCode::UNAUTHORIZED).into_response()
}

fn has_cookie(review: &Review, headers: &HeaderMap) -> bool {
    let cookies = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    let mut pairs =
        cookies.flat_map(|text| text.split(';')).filter_map(|pair| pair.split_once('='));
    let own = review.cookie();
    pairs.any(|(name, token)| name.trim() == own && review.is_token(token.trim()))
}

#[derive(Deserialize)]
struct Login {
    #[serde(default)]
    token: String,
}

/// Turns the token of a link into a cookie, so that it leaves the address.
async fn login(
    State(review): State<Review>,
    login: Result<Query<Login>, QueryRejection>,
) -> Result<Response, Refused> {
    let token = login.map(|Query(login)| login.token).unwrap_or_default();
    if !review.is_token(&token) {
        return Err(Refused(StatusCode::UNAUTHORIZED));
    }
    let cookie = format!("{}={token}; Path=/; HttpOnly; SameSite=Strict", review.cookie());
    Ok(([(header::SET_COOKIE, cookie)], Redirect::to("/")).into_response())
}

async fn page(State(review): State<Review>) -> Html<String> {
    let title = escape(&review.0.title);
    Html(format!(
        "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
         <meta name=\"robots\" content=\"noindex\"><title>Review: {title}</title>\
         <link rel=\"icon\" href=\"data:,\"><link rel=\"stylesheet\" href=\"/review.css\">\
         <script type=\"module\" src=\"/review.js\"></script></head>\
         <body data-title=\"{title}\"><noscript><p>Please allow JavaScript on this page.</p>\
         </noscript></body></html>"
    ))
}

async fn script() -> Response {
    let kind = [(header::CONTENT_TYPE, "text/javascript; charset=utf-8")];
    (kind, include_str!("../page/dist/review.js")).into_response()
}

async fn style() -> Response {
    let kind = [(header::CONTENT_TYPE, "text/css; charset=utf-8")];
    (kind, include_str!("../page/dist/review.css")).into_response()
}

/// A picture as the page gets it; its file is at `/pictures/NUMBER`.
#[derive(Serialize)]
struct Shown<'a> {
    stimulus: &'a str,
    label: &'a str,
    attribute: &'a str,
    level: &'a str,
    step: &'a str,
    prompt: &'a str,
    verdict: &'a str,
    reason: &'a str,
}

async fn pictures(State(review): State<Review>) -> Response {
    let log = review.0.log.lock().unwrap_or_else(PoisonError::into_inner);
    let shown = |picture: &Picture| {
        let Picture { stimulus, .. } = picture;
        let known = log.find(&stimulus.id);
        let extra = |name: &str| stimulus.extra.get(name).unwrap_or_default().to_owned();
        serde_json::to_value(Shown {
            stimulus: stimulus.id.as_str(),
            label: stimulus.label.as_str(),
            attribute: stimulus.attribute.as_deref().unwrap_or_default(),
            level: stimulus.level.as_deref().unwrap_or_default(),
            step: &extra("step"),
            prompt: &extra("prompt"),
            verdict: known.map_or(Verdict::Undecided, |review| review.verdict).as_str(),
            reason: known.map_or("", |review| review.reason.as_str()),
        })
    };
    let list: Result<Vec<serde_json::Value>, _> = review.0.pictures.iter().map(shown).collect();
    match list {
        Ok(list) => Json(list).into_response(),
        Err(_) => Refused(StatusCode::INTERNAL_SERVER_ERROR).into_response(),
    }
}

/// A picture's bytes. Its number is looked up in a list: an address never becomes part of a path.
async fn picture(
    State(review): State<Review>,
    number: Result<InPath<usize>, PathRejection>,
) -> Result<Response, Refused> {
    let missing = || Refused(StatusCode::NOT_FOUND);
    let InPath(number) = number.map_err(|_| missing())?;
    let path = review.0.pictures.get(number).ok_or_else(missing)?.path.clone();
    let kind = match path.extension().and_then(|ending| ending.to_str()) {
        Some("jpg" | "jpeg") => "image/jpeg",
        Some("webp") => "image/webp",
        Some("png") => "image/png",
        _ => return Err(missing()),
    };
    let bytes = tokio::task::spawn_blocking(move || std::fs::read(path)).await;
    let bytes = bytes.ok().and_then(Result::ok).ok_or_else(missing)?;
    // Not named by content: a picture may be drawn anew while its page is open.
    Ok(([(header::CONTENT_TYPE, kind), (header::CACHE_CONTROL, "no-cache")], bytes).into_response())
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Decision {
    stimulus: String,
    verdict: String,
    #[serde(default)]
    reason: String,
}

/// Keeps a decision; the answer means that it is on disk.
async fn decide(
    State(review): State<Review>,
    decision: Result<Json<Decision>, JsonRejection>,
) -> Result<Response, Refused> {
    let bad = || Refused(StatusCode::BAD_REQUEST);
    let Json(decision) = decision.map_err(|_| bad())?;
    let verdict = Verdict::parse(&decision.verdict).ok_or_else(bad)?;
    let stimulus = StimulusId::new(&decision.stimulus);
    let is_known = review.0.pictures.iter().any(|picture| picture.stimulus.id == stimulus);
    if !is_known || LONGEST_REASON < decision.reason.chars().count() {
        return Err(bad());
    }
    let row = mohs_data::Review {
        stimulus,
        verdict,
        reason: decision.reason,
        reviewed_at_ms: u64::try_from(review.0.clock.now_ms()).ok(),
        extra: Extra::default(),
    };
    let written = tokio::task::spawn_blocking(move || {
        let mut log = review.0.log.lock().unwrap_or_else(PoisonError::into_inner);
        log.append(row)
    });
    match written.await {
        Ok(Ok(())) => Ok(StatusCode::NO_CONTENT.into_response()),
        _ => Err(Refused(StatusCode::INTERNAL_SERVER_ERROR)),
    }
}
