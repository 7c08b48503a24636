//! How bots' requests travel.

use axum::Router;
use axum::body::Body;
use http_body_util::{BodyExt, Full};
use hyper::body::Bytes;
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper::{Request, header};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio::sync::Mutex;
use tower::ServiceExt;

use super::{BotError, Transport};

fn request<B>(path: &str, token: Option<&str>, body: B) -> Result<Request<B>, BotError> {
    let mut request = Request::post(path).header(header::CONTENT_TYPE, "application/json");
    if let Some(token) = token {
        request = request.header(header::AUTHORIZATION, format!("Bearer {token}"));
    }
    request.header(header::HOST, "localhost").body(body).map_err(|_| BotError::Answer)
}

/// Straight into the router of this process.
#[derive(Debug, Clone)]
pub struct InProcess(pub Router);

impl Transport for InProcess {
    async fn post(
        &self,
        path: &str,
        token: Option<&str>,
        body: String,
    ) -> Result<(u16, Vec<u8>), BotError> {
        let request = request(path, token, Body::from(body))?;
        let Ok(response) = self.0.clone().oneshot(request).await;
        let status = response.status().as_u16();
        let body = response.into_body().collect().await.map_err(|_| BotError::Lost)?;
        Ok((status, body.to_bytes().to_vec()))
    }
}

/// Over HTTP without TLS, one connection that is opened again when it breaks.
#[derive(Debug)]
pub struct Http {
    address: String,
    connection: Mutex<Option<SendRequest<Full<Bytes>>>>,
}

impl Http {
    /// Talks to `HOST:PORT`.
    pub fn new(address: &str) -> Self {
        Self { address: address.into(), connection: Mutex::default() }
    }

    async fn connect(&self) -> Result<SendRequest<Full<Bytes>>, BotError> {
        let stream = TcpStream::connect(&self.address).await.map_err(|_| BotError::Lost)?;
        let _ = stream.set_nodelay(true);
        let (sender, connection) =
            handshake(TokioIo::new(stream)).await.map_err(|_| BotError::Lost)?;
        tokio::spawn(connection);
        Ok(sender)
    }
}

impl Transport for Http {
    async fn post(
        &self,
        path: &str,
        token: Option<&str>,
        body: String,
    ) -> Result<(u16, Vec<u8>), BotError> {
        let mut connection = self.connection.lock().await;
        let mut sender = match connection.take().filter(|sender| !sender.is_closed()) {
            Some(sender) => sender,
            None => self.connect().await?,
        };
        let request = request(path, token, Full::new(Bytes::from(body)))?;
        sender.ready().await.map_err(|_| BotError::Lost)?;
        let response = sender.send_request(request).await.map_err(|_| BotError::Lost)?;
        let status = response.status().as_u16();
        let body = response.into_body().collect().await.map_err(|_| BotError::Lost)?;
        *connection = Some(sender);
        Ok((status, body.to_bytes().to_vec()))
    }
}
