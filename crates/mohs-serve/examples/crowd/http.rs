//! One keep-alive connection to a server, opened anew whenever it breaks.

use std::time::Duration;

use http_body_util::{BodyExt, Full};
use hyper::body::Bytes;
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper::{Method, Request, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;

/// How long an answer may take; longer counts as lost.
const PATIENCE: Duration = Duration::from_secs(10);

/// A connection that may be closed.
pub(crate) struct Connection {
    address: String,
    sender: Option<SendRequest<Full<Bytes>>>,
}

/// An answer.
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) body: Bytes,
}

impl Connection {
    /// Promises a connection to `address` (`host:port`); nothing is opened yet.
    pub(crate) fn to(address: &str) -> Self {
        Self { address: address.to_owned(), sender: None }
    }

    /// Asks once; none if the request or its answer was lost on the way.
    pub(crate) async fn ask(
        &mut self,
        method: Method,
        path: &str,
        token: Option<&str>,
        body: String,
    ) -> Option<Answer> {
        let answer = tokio::time::timeout(PATIENCE, self.try_ask(method, path, token, body)).await;
        let answer = answer.ok().flatten();
        if answer.is_none() {
            self.sender = None;
        }
        answer
    }

    async fn try_ask(
        &mut self,
        method: Method,
        path: &str,
        token: Option<&str>,
        body: String,
    ) -> Option<Answer> {
        let mut request = Request::builder()
            .method(method)
            .uri(path)
            .header("host", &self.address)
            .header("content-type", "application/json");
        if let Some(token) = token {
            request = request.header("authorization", format!("Bearer {token}"));
        }
        let request = request.body(Full::new(Bytes::from(body))).ok()?;
        let response = self.open().await?.send_request(request).await.ok()?;
        let status = response.status();
        let body = response.into_body().collect().await.ok()?.to_bytes();
        Some(Answer { status, body })
    }

    async fn open(&mut self) -> Option<&mut SendRequest<Full<Bytes>>> {
        let is_open = match &mut self.sender {
            Some(sender) => sender.ready().await.is_ok(),
            None => false,
        };
        if !is_open {
            let stream = TcpStream::connect(&self.address).await.ok()?;
            stream.set_nodelay(true).ok()?;
            let (sender, connection) = handshake(TokioIo::new(stream)).await.ok()?;
            tokio::spawn(connection);
            self.sender = Some(sender);
        }
        self.sender.as_mut()
    }
}
