//! HTTPS from certificate files: a client that trusts the certificate is answered, and files that are
//! wrong are named.

use std::path::PathBuf;
use std::sync::Arc;

use mohs_data::Task;
use mohs_serve::listen::{self, TlsError, TlsFiles};
use mohs_serve::router::router;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsConnector;

use crate::server::TestServer;

/// A certificate for `localhost` with its key, made for one test.
struct Certificate {
    folder: tempfile::TempDir,
}

impl Certificate {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
        let other = rcgen::KeyPair::generate().unwrap();
        let texts = [
            ("server.cert.pem", made.cert.pem()),
            ("server.key.pem", made.signing_key.serialize_pem()),
            ("other.key.pem", other.serialize_pem()),
            ("words.txt", "not a key\n".to_owned()),
        ];
        for (name, text) in texts {
            std::fs::write(folder.path().join(name), text).unwrap();
        }
        Self { folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn files(&self, certificate: &str, key: &str) -> TlsFiles {
        TlsFiles { certificate: self.path(certificate), key: self.path(key) }
    }

    /// A client that trusts this certificate and nothing else.
    fn connector(&self) -> TlsConnector {
        let mut roots = rustls::RootCertStore::empty();
        roots.add(CertificateDer::from_pem_file(self.path("server.cert.pem")).unwrap()).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = rustls::ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(roots)
            .with_no_client_auth();
        TlsConnector::from(Arc::new(config))
    }
}

#[tokio::test]
async fn a_server_with_certificate_files_speaks_https_and_only_https() {
    let server = TestServer::start(Task::Rate, (24, 3), |_| ()).await;
    let certificate = Certificate::new();
    let tls = listen::tls(&certificate.files("server.cert.pem", "server.key.pem")).unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let serving =
        tokio::spawn(listen::serve(listener, Some(tls), router(server.app.clone()), async move {
            drop(stopped.await)
        }));
    let request = b"GET /health HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n";
    let name = ServerName::try_from("localhost").unwrap();
    let stream = TcpStream::connect(address).await.unwrap();
    let mut stream = certificate.connector().connect(name, stream).await.unwrap();
    assert_eq!(stream.get_ref().1.alpn_protocol(), None);
    stream.write_all(request).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    // Another name than the certificate's is not believed.
    let stream = TcpStream::connect(address).await.unwrap();
    let name = ServerName::try_from("lab.example.org").unwrap();
    assert!(certificate.connector().connect(name, stream).await.is_err());
    // Words without encryption get no page.
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(request).await.unwrap();
    let mut answer = Vec::new();
    // A reset is as good as an end.
    let _ = stream.read_to_end(&mut answer).await;
    assert!(!answer.starts_with(b"HTTP/"));
    stop.send(()).unwrap();
    serving.await.unwrap();
}

#[test]
fn files_that_are_wrong_are_named() {
    let made = Certificate::new();
    let error = |certificate: &str, key: &str| match listen::tls(&made.files(certificate, key)) {
        Ok(_) => panic!("it was taken"),
        Err(error) => error,
    };
    let good = ("server.cert.pem", "server.key.pem");
    assert!(
        matches!(error("nothing.pem", good.1), TlsError::Missing { path } if path.ends_with("nothing.pem"))
    );
    assert!(matches!(error(good.0, "."), TlsError::Folder { .. }));
    assert!(matches!(error(good.1, good.1), TlsError::NoCertificate { .. }));
    assert!(
        matches!(error(good.0, "words.txt"), TlsError::File { path, .. } if path.ends_with("words.txt"))
    );
    assert!(matches!(error(good.0, "other.key.pem"), TlsError::Pair(_)));
}
