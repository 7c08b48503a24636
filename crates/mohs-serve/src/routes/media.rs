//! Pictures by the SHA-256 of their content: kept by browsers for ever, and named by nothing else.

use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};

use super::session::name;
use crate::app::App;
use crate::error::ApiError;

pub(crate) async fn picture(
    State(app): State<App>,
    file: Result<axum::extract::Path<String>, axum::extract::rejection::PathRejection>,
) -> Result<Response, ApiError> {
    let file = name(file)?;
    let hash = file.strip_suffix(".png").ok_or(ApiError::NotFound)?;
    // Looked up in the list of prepared pictures: an address never becomes part of a path.
    let path = app.studies.values().find_map(|hosted| hosted.picture(hash));
    let path = path.ok_or(ApiError::NotFound)?.to_owned();
    let bytes = tokio::task::spawn_blocking(move || std::fs::read(path)).await;
    let bytes = bytes.ok().and_then(Result::ok).ok_or(ApiError::NotFound)?;
    let kind = [
        (header::CONTENT_TYPE, "image/png"),
        (header::CACHE_CONTROL, "public, max-age=31536000, immutable"),
    ];
    Ok((kind, bytes).into_response())
}
