//! One keep-alive connection to a server, opened anew whenever it breaks.
//!
//! Written by hand, because the crowd shares the machine with the server it measures: a request is
//! one write, an answer mostly one read.

use std::io::Write;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// How long an answer may take; longer counts as lost.
const PATIENCE: Duration = Duration::from_secs(10);

/// A connection that may be closed.
pub(crate) struct Connection {
    address: String,
    stream: Option<TcpStream>,
    /// What is sent, then what came.
    bytes: Vec<u8>,
}

/// What is asked: JSON is posted, unless it says otherwise.
pub(crate) struct Question<'a> {
    pub(crate) method: &'a str,
    pub(crate) path: &'a str,
    pub(crate) content_type: &'a str,
    pub(crate) token: Option<&'a str>,
    pub(crate) body: &'a [u8],
}

impl Default for Question<'_> {
    fn default() -> Self {
        Self { method: "POST", path: "/", content_type: "application/json", token: None, body: b"" }
    }
}

/// An answer.
pub(crate) struct Answer<'a> {
    pub(crate) status: u16,
    pub(crate) body: &'a [u8],
}

impl Answer<'_> {
    /// Returns whether it is 2xx.
    pub(crate) fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }
}

impl Connection {
    /// Promises a connection to `address` (`host:port`); nothing is opened yet.
    pub(crate) fn to(address: &str) -> Self {
        Self { address: address.to_owned(), stream: None, bytes: Vec::new() }
    }

    /// Asks once; none if the request or its answer was lost on the way.
    pub(crate) async fn ask(&mut self, question: &Question<'_>) -> Option<Answer<'_>> {
        let asked = tokio::time::timeout(PATIENCE, self.try_ask(question)).await;
        let Some((status, start)) = asked.ok().flatten() else {
            self.stream = None;
            return None;
        };
        Some(Answer { status, body: &self.bytes[start..] })
    }

    /// Returns the status and where in `bytes` the body begins; it ends where they do.
    async fn try_ask(&mut self, question: &Question<'_>) -> Option<(u16, usize)> {
        let Question { method, path, content_type, token, body } = question;
        let Self { address, stream, bytes } = self;
        bytes.clear();
        write!(bytes, "{method} {path} HTTP/1.1\r\nhost: {address}\r\n").ok()?;
        write!(bytes, "content-type: {content_type}\r\n").ok()?;
        if let Some(token) = token {
            write!(bytes, "authorization: Bearer {token}\r\n").ok()?;
        }
        write!(bytes, "content-length: {}\r\n\r\n", body.len()).ok()?;
        bytes.extend_from_slice(body);
        let open = match stream {
            Some(open) => open,
            None => {
                let open = TcpStream::connect(address.as_str()).await.ok()?;
                open.set_nodelay(true).ok()?;
                stream.insert(open)
            }
        };
        open.write_all(bytes).await.ok()?;
        bytes.clear();
        loop {
            if open.read_buf(bytes).await.ok()? == 0 {
                return None;
            }
            let Some(head) = Head::read(bytes) else { continue };
            while bytes.len() < head.start + head.n_bytes {
                if open.read_buf(bytes).await.ok()? == 0 {
                    return None;
                }
            }
            if head.closes {
                *stream = None;
            }
            return Some((head.status, head.start));
        }
    }
}

/// The first lines of an answer, as far as they matter here.
struct Head {
    status: u16,
    n_bytes: usize,
    closes: bool,
    /// Where the body begins.
    start: usize,
}

impl Head {
    /// Reads it; none while it is not whole.
    fn read(bytes: &[u8]) -> Option<Self> {
        let end = bytes.windows(4).position(|four| four == b"\r\n\r\n")?;
        let text = std::str::from_utf8(&bytes[..end]).ok()?;
        let mut lines = text.split("\r\n");
        let status = lines.next()?.get(9..12)?.parse().ok()?;
        let mut head = Self { status, n_bytes: 0, closes: false, start: end + 4 };
        for line in lines {
            let Some((name, value)) = line.split_once(": ") else { continue };
            if name.eq_ignore_ascii_case("content-length") {
                head.n_bytes = value.trim().parse().ok()?;
            } else if name.eq_ignore_ascii_case("connection") {
                head.closes = value.eq_ignore_ascii_case("close");
            }
        }
        Some(head)
    }
}
