//! For machines that watch over the server.

use std::fmt::Write;
use std::sync::atomic::Ordering;

use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};

use crate::app::App;
use crate::error::ApiError;

/// Says that the store answers, and takes what is written, too.
pub(crate) async fn health(State(app): State<App>) -> Result<Response, ApiError> {
    app.store.check().await?;
    Ok(([(header::CONTENT_TYPE, "application/json")], "{\"is_healthy\":true}").into_response())
}

/// Counters in Prometheus' text format. No study and no participant is named.
pub(crate) async fn metrics(State(app): State<App>) -> Response {
    let (n_commits, n_jobs) = app.store.counts();
    let counts = &app.counts;
    let lines = [
        ("mohs_requests_total", counts.n_requests.load(Ordering::Relaxed), "requests"),
        ("mohs_refused_total", counts.n_refused.load(Ordering::Relaxed), "requests refused (4xx)"),
        ("mohs_failed_total", counts.n_failed.load(Ordering::Relaxed), "requests failed (5xx)"),
        ("mohs_events_total", counts.n_events.load(Ordering::Relaxed), "events, new or known"),
        ("mohs_commits_total", n_commits, "transactions written to disk"),
        ("mohs_writes_total", n_jobs, "requests that wrote"),
    ];
    let mut text = String::new();
    for (name, value, what) in lines {
        let _ = writeln!(text, "# HELP {name} {what}\n# TYPE {name} counter\n{name} {value}");
    }
    ([(header::CONTENT_TYPE, "text/plain; version=0.0.4")], text).into_response()
}
