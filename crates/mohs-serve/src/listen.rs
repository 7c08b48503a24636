//! The socket: connections in, with or without TLS, until the server is told to stop.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio_rustls::TlsAcceptor;
use tower::ServiceExt;

/// Time to send the head of a request.
const MOST_HEAD_TIME: Duration = Duration::from_secs(20);
/// Time that open requests have to end after the server was told to stop.
const MOST_END_TIME: Duration = Duration::from_secs(10);

/// Certificate and key, as files in PEM.
#[derive(Debug, Clone)]
pub struct TlsFiles {
    /// The certificate, with those between it and the root.
    pub certificate: PathBuf,
    /// Its key.
    pub key: PathBuf,
}

/// Why TLS cannot be set up.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// A file is not there.
    #[error("there is no file `{}`", path.display())]
    Missing {
        /// The file.
        path: PathBuf,
    },
    /// A folder was named.
    #[error("`{}` is a folder", path.display())]
    Folder {
        /// The folder.
        path: PathBuf,
    },
    /// A file cannot be read.
    #[error("`{}` cannot be read as PEM", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        source: rustls::pki_types::pem::Error,
    },
    /// A file holds no certificate.
    #[error("`{}` holds no certificate", path.display())]
    NoCertificate {
        /// The file.
        path: PathBuf,
    },
    /// Certificate and key do not fit.
    #[error("certificate and key do not fit together")]
    Pair(#[source] rustls::Error),
    /// No version of TLS can be spoken.
    #[error("TLS cannot be set up")]
    Protocol(#[source] rustls::Error),
}

/// Reads certificate and key.
pub fn tls(files: &TlsFiles) -> Result<TlsAcceptor, TlsError> {
    for path in [&files.certificate, &files.key] {
        if path.is_dir() {
            return Err(TlsError::Folder { path: path.clone() });
        }
        if !path.exists() {
            return Err(TlsError::Missing { path: path.clone() });
        }
    }
    let bad = |path: &Path| {
        let path = path.to_owned();
        move |source| TlsError::File { path, source }
    };
    let certificates = CertificateDer::pem_file_iter(&files.certificate)
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .map_err(bad(&files.certificate))?;
    if certificates.is_empty() {
        return Err(TlsError::NoCertificate { path: files.certificate.clone() });
    }
    let key = PrivateKeyDer::from_pem_file(&files.key).map_err(bad(&files.key))?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(TlsError::Protocol)?
        .with_no_client_auth()
        .with_single_cert(certificates, key)
        .map_err(TlsError::Pair)?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(TlsAcceptor::from(Arc::new(config)))
}

/// Serves until `stop` says so, then lets open requests end.
pub async fn serve(
    listener: TcpListener,
    tls: Option<TlsAcceptor>,
    router: Router,
    stop: impl Future<Output = ()>,
) {
    let (stopping, is_stopping) = watch::channel(false);
    let (open, mut all_closed) = tokio::sync::mpsc::channel::<()>(1);
    tokio::pin!(stop);
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = &mut stop => break,
        };
        let Ok((stream, address)) = accepted else {
            // Out of file descriptors, most likely: some close in a moment.
            tokio::time::sleep(Duration::from_millis(50)).await;
            continue;
        };
        let connection = Connection {
            router: router.clone(),
            tls: tls.clone(),
            is_stopping: is_stopping.clone(),
            _open: open.clone(),
        };
        tokio::spawn(connection.run(stream, address));
    }
    drop((listener, open));
    let _ = stopping.send(true);
    let _ = tokio::time::timeout(MOST_END_TIME, all_closed.recv()).await;
}

struct Connection {
    router: Router,
    tls: Option<TlsAcceptor>,
    is_stopping: watch::Receiver<bool>,
    /// Dropped when the connection ends.
    _open: tokio::sync::mpsc::Sender<()>,
}

impl Connection {
    async fn run(self, stream: TcpStream, address: SocketAddr) {
        // Answers are small and waited for.
        let _ = stream.set_nodelay(true);
        match self.tls.clone() {
            None => self.speak(stream, address).await,
            Some(tls) => {
                let handshake = tokio::time::timeout(MOST_HEAD_TIME, tls.accept(stream)).await;
                if let Ok(Ok(stream)) = handshake {
                    self.speak(stream, address).await;
                }
            }
        }
    }

    async fn speak(
        mut self,
        stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
        address: SocketAddr,
    ) {
        let router = self.router.clone();
        let service = service_fn(move |request: hyper::Request<Incoming>| {
            let mut request = request.map(Body::new);
            request.extensions_mut().insert(address);
            router.clone().oneshot(request)
        });
        let mut http = hyper::server::conn::http1::Builder::new();
        http.timer(TokioTimer::new()).header_read_timeout(MOST_HEAD_TIME);
        let connection = http.serve_connection(TokioIo::new(stream), service);
        tokio::pin!(connection);
        tokio::select! {
            // The other side is gone or talks nonsense; both end the connection and nothing else.
            _ = connection.as_mut() => {}
            _ = self.is_stopping.changed() => {
                connection.as_mut().graceful_shutdown();
                let _ = connection.await;
            }
        }
    }
}
