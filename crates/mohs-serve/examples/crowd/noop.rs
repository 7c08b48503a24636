//! A server that reads a trial, forgets it and says `ok`: as fast as any can be in front of this crowd.

use axum::Router;
use axum::body::Bytes;
use axum::routing::{get, post};
use mohs_serve::listen;
use tokio::net::TcpListener;

/// Serves until the process is ended.
pub(crate) async fn serve(address: &str) {
    let router = Router::new()
        .route(
            "/trial",
            post(|body: Bytes| async move { if body.is_empty() { "nothing" } else { "ok" } }),
        )
        .route("/count", get(|| async { "0" }));
    let listener = TcpListener::bind(address).await.expect("because the address is free");
    listen::serve(listener, None, router, std::future::pending()).await;
}
