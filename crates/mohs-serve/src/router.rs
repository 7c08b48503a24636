//! All addresses of the server, and what every answer carries.

use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::Ordering;
use std::time::Duration;

use axum::Router;
use axum::extract::{DefaultBodyLimit, Request, State};
use axum::http::{HeaderName, HeaderValue, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};

use crate::app::App;
use crate::error::{ApiError, Cause};
use crate::routes::{admin, health, media, openapi, page, session};

/// Bytes of a request: a page sends 60 KB at most.
pub const MOST_BYTES: usize = 256 * 1024;
/// Time for a request.
const MOST_TIME: Duration = Duration::from_secs(30);

/// Returns the server as a service.
pub fn router(app: App) -> Router {
    let admin = Router::new()
        .route("/admin", get(admin::index))
        .route("/admin/login", get(admin::login))
        .route("/admin/style.css", get(admin::style))
        .route("/admin/{study}", get(admin::study_page))
        .route("/admin/{study}/open", post(admin::open))
        .route("/admin/{study}/close", post(admin::close))
        .route("/admin/{study}/trial-run", post(admin::simulate))
        .route("/admin/{study}/withdraw", post(admin::withdraw))
        .route("/admin/{study}/export/{file}", get(admin::download))
        .layer(middleware::from_fn_with_state(app.clone(), admin::same_origin));
    Router::new()
        // What participants open.
        .route("/", get(page::index))
        .route("/s/{study}", get(page::study))
        .route("/s/{study}/", get(page::without_slash))
        .route("/assets/{file}", get(page::asset))
        .route("/media/{file}", get(media::picture))
        // What their page asks.
        .route("/api/studies/{study}/welcome", post(session::welcome))
        .route("/api/studies/{study}/join", post(session::join))
        .route("/api/sessions/{session}/block", post(session::block))
        .route("/api/sessions/{session}/events", post(session::events))
        .route("/api/sessions/{session}/end", post(session::end))
        .route("/api/sessions/{session}/withdraw", post(session::withdraw))
        // What machines ask.
        .route("/health", get(health::health))
        .route("/metrics", get(health::metrics))
        .route("/openapi.json", get(openapi::openapi))
        // What those who run the study open.
        .merge(admin)
        .fallback(page::nothing)
        .method_not_allowed_fallback(|| async { ApiError::MethodWrong })
        .layer(DefaultBodyLimit::max(MOST_BYTES))
        .layer(middleware::from_fn_with_state(app.clone(), guard))
        .with_state(app)
}

/// Counts, limits and times requests, and gives answers their headers.
async fn guard(State(app): State<App>, request: Request, next: Next) -> Response {
    app.counts.n_requests.fetch_add(1, Ordering::Relaxed);
    let is_media = request.uri().path().starts_with("/media/");
    let address = address(&app, &request);
    // Pictures cost less: a block has dozens, and browsers keep them.
    let cost = if is_media { 0.2 } else { 1.0 };
    let now_ms = app.clock.now_ms();
    let mut response = if address.is_some_and(|from| !app.limits.allows(from, cost, now_ms)) {
        ApiError::TooMany.into_response()
    } else {
        match tokio::time::timeout(MOST_TIME, next.run(request)).await {
            Ok(response) => response,
            Err(_) => ApiError::TooSlow.into_response(),
        }
    };
    let status = response.status();
    if status.is_server_error() {
        app.counts.n_failed.fetch_add(1, Ordering::Relaxed);
        if let Some(Cause(cause)) = response.extensions_mut().remove::<Cause>() {
            (app.log)(&cause);
        }
    } else if status.is_client_error() {
        app.counts.n_refused.fetch_add(1, Ordering::Relaxed);
    }
    response = add_headers(response);
    if app.is_encrypted {
        let value = HeaderValue::from_static("max-age=31536000");
        response.headers_mut().insert(header::STRICT_TRANSPORT_SECURITY, value);
    }
    response
}

/// Gives an answer what every answer carries, unless it says otherwise itself.
pub(crate) fn add_headers(mut response: Response) -> Response {
    for (name, value) in HEADERS {
        let headers = response.headers_mut();
        headers.entry(HeaderName::from_static(name)).or_insert(HeaderValue::from_static(value));
    }
    response
}

/// What every answer carries. Isolation gives pages fine-grained clocks; a page of this server
/// loads nothing from anywhere else and stands in nobody's frame.
const HEADERS: [(&str, &str); 9] = [
    (
        "content-security-policy",
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; \
         connect-src 'self'; worker-src 'self' blob:; media-src 'self' blob: data:; \
         base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
    ),
    ("cross-origin-opener-policy", "same-origin"),
    ("cross-origin-embedder-policy", "require-corp"),
    ("cross-origin-resource-policy", "same-origin"),
    ("x-content-type-options", "nosniff"),
    ("x-frame-options", "DENY"),
    ("referrer-policy", "no-referrer"),
    (
        "permissions-policy",
        "camera=(), microphone=(), geolocation=(), payment=(), usb=(), interest-cohort=()",
    ),
    ("cache-control", "no-store"),
];

/// Returns who asks; none where nobody knows.
fn address(app: &App, request: &Request) -> Option<IpAddr> {
    if app.trusts_proxy {
        let forwarded = request.headers().get("x-forwarded-for")?.to_str().ok()?;
        // The last one is what our own proxy saw; those before it anybody can make up.
        return forwarded.rsplit(',').next()?.trim().parse().ok();
    }
    request.extensions().get::<SocketAddr>().map(SocketAddr::ip)
}
