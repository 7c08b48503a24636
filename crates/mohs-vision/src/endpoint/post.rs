//! One request and its answer: what goes over the wire, and what can be wrong with what comes back.
//!
//! Nothing is tried again here. Redirects are not followed: the key is for one address. This is the
//! one place where answers are read, and the key is taken out of them before anybody sees them; texts
//! for messages are cut short.

use std::time::Duration;

use mohs_data::EndpointEntry;
use serde_json::Value;

use super::ledger::AskKey;
use super::secret::Secret;
use super::shortened;

/// Longer answers are none; the largest drawn picture in base 64 is far below.
const LONGEST_ANSWER: u64 = 128 << 20;

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub(super) enum Fault {
    /// Something that passes: asking again may help.
    #[error("{what}")]
    Passing {
        what: String,
        status: Option<u16>,
        retry_after: Option<Duration>,
        /// Whether the endpoint may have seen the request.
        was_sent: bool,
    },
    /// An answer that is not what it should be.
    #[error("an answer that is not understood: {0}")]
    Malformed(String),
    /// An answer of another kind than was asked for: the next one would be the same.
    #[error("{0}")]
    OtherKind(String),
    /// The endpoint does not take the request, now or later.
    #[error("status {status}: {detail}")]
    Refused { status: u16, detail: String },
    /// The endpoint does not want to answer this question.
    #[error("refused by the endpoint's rules: {0}")]
    Policy(String),
}

impl Fault {
    /// How long the endpoint asks us to wait.
    pub(super) fn retry_after(&self) -> Option<Duration> {
        match self {
            Fault::Passing { retry_after, .. } => *retry_after,
            _ => None,
        }
    }

    /// Whether the endpoint said that it did not answer: nothing was paid. After silence, and after
    /// an answer that is not understood, nobody knows.
    pub(super) fn is_free(&self) -> bool {
        match self {
            // Whoever stands in between did not hear from the endpoint in time.
            Fault::Passing { status: Some(status), .. } if is_lost_between(*status) => false,
            Fault::Passing { status: Some(_), .. } | Fault::Refused { .. } => true,
            Fault::Passing { was_sent, .. } => !was_sent,
            Fault::Malformed(_) | Fault::OtherKind(_) | Fault::Policy(_) => false,
        }
    }

    /// Whether other questions would meet the same trouble now.
    pub(super) fn is_for_everybody(&self) -> bool {
        matches!(self, Fault::Passing { status: Some(429 | 503), .. })
    }
}

#[derive(Debug)]
pub(super) struct Post {
    agent: ureq::Agent,
    key: Option<Secret>,
}

impl Post {
    /// Prepares to send; the error is a proxy that is none.
    pub(super) fn new(entry: &EndpointEntry, key: Option<Secret>) -> Result<Post, String> {
        let proxy = match &entry.proxy {
            Some(proxy) => Some(ureq::Proxy::new(proxy).map_err(|_| proxy.clone())?),
            None => None,
        };
        let config = ureq::Agent::config_builder()
            .timeout_global(Some(Duration::from_secs_f64(entry.timeout_s)))
            .http_status_as_error(false)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .proxy(proxy)
            .user_agent(concat!("mohs/", env!("CARGO_PKG_VERSION")))
            .build();
        let key = key.filter(|key| !key.is_empty());
        Ok(Post { agent: ureq::Agent::new_with_config(config), key })
    }

    /// Sends a request and returns the answer as JSON.
    pub(super) fn send(
        &self,
        url: &str,
        path: &str,
        ask: &AskKey,
        body: &Value,
    ) -> Result<Value, Fault> {
        let mut request = self
            .agent
            .post(format!("{url}{path}"))
            .header("Content-Type", "application/json")
            .header("Accept", "application/json")
            // Endpoints that know this header do not charge for a question they answered already.
            .header("Idempotency-Key", ask.name());
        if let Some(key) = &self.key {
            request = request.header("Authorization", key.header());
        }
        let sent = request.send(body.to_string().as_bytes());
        let mut response = sent.map_err(|error| self.fault_of(&error))?;
        let status = response.status().as_u16();
        let header = |name: &str| {
            let value = response.headers().get(name)?;
            value.to_str().ok().map(ToOwned::to_owned)
        };
        let retry_after = wait_asked(header("retry-after-ms"), header("retry-after"));
        let kind = self.clean(&header("content-type").unwrap_or_default());
        let bytes = response.body_mut().with_config().limit(LONGEST_ANSWER).read_to_vec();
        let bytes = bytes.map_err(|error| self.fault_of(&error))?;
        let mut json = serde_json::from_slice::<Value>(&bytes);
        if let (Ok(json), Some(key)) = (&mut json, &self.key) {
            key.hide_in(json);
        }
        if (200..300).contains(&status) {
            let text = || self.clean(&String::from_utf8_lossy(&bytes));
            return json.map_err(|_| Fault::Malformed(format!("`{kind}` with {}", text())));
        }
        let error = json.as_ref().map_or(&Value::Null, |json| &json["error"]);
        let detail = error["message"].as_str().or_else(|| error.as_str());
        let detail = match detail {
            Some(detail) => self.clean(detail),
            None => self.clean(&String::from_utf8_lossy(&bytes)),
        };
        let code = error["code"].as_str().or_else(|| error["type"].as_str()).unwrap_or_default();
        Err(match status {
            // Too many requests, they say, and mean that there is no money left.
            429 if code.contains("quota") => Fault::Refused { status: 402, detail },
            408 | 409 | 425 | 429 | 500.. => Fault::Passing {
                what: format!("status {status}: {detail}"),
                status: Some(status),
                retry_after,
                was_sent: true,
            },
            300..400 => Fault::Refused { status: 404, detail: "it leads elsewhere".to_owned() },
            _ if ["content", "moderation", "safety"].iter().any(|word| code.contains(word)) => {
                Fault::Policy(detail)
            }
            status => Fault::Refused { status, detail },
        })
    }

    fn fault_of(&self, error: &ureq::Error) -> Fault {
        let what = match error {
            ureq::Error::Timeout(_) => "no answer in time".to_owned(),
            other => self.clean(&other.to_string()),
        };
        match error {
            ureq::Error::BadUri(_) | ureq::Error::Tls(_) => {
                Fault::Refused { status: 404, detail: what }
            }
            _ => Fault::Passing {
                what,
                status: None,
                retry_after: None,
                was_sent: !is_unreached(error),
            },
        }
    }

    /// Returns a text of the endpoint without the key.
    pub(super) fn without_key(&self, text: &str) -> String {
        self.key.as_ref().map_or_else(|| text.to_owned(), |key| key.hidden_in(text))
    }

    fn clean(&self, text: &str) -> String {
        shortened(&self.without_key(text))
    }
}

/// Whether a status tells of an answer that did not come in time, or not through gateways: the
/// endpoint may have given it all the same.
fn is_lost_between(status: u16) -> bool {
    matches!(status, 408 | 502 | 504 | 520..=527 | 598 | 599)
}

/// Whether nobody listened where the request should have gone.
fn is_unreached(error: &ureq::Error) -> bool {
    match error {
        ureq::Error::HostNotFound | ureq::Error::ConnectionFailed => true,
        ureq::Error::Io(error) => error.kind() == std::io::ErrorKind::ConnectionRefused,
        _ => false,
    }
}

/// How long a wait the headers ask for; a date counts as none.
fn wait_asked(millis: Option<String>, seconds: Option<String>) -> Option<Duration> {
    let number = |text: Option<String>| {
        let number: f64 = text?.trim().parse().ok()?;
        (0.0..=1e9).contains(&number).then_some(number)
    };
    let seconds = number(millis).map(|millis| millis / 1e3).or_else(|| number(seconds))?;
    Some(Duration::from_secs_f64(seconds))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_stands_in_between_does_not_say_that_nothing_was_paid() {
        let is_free = |status| {
            let (what, status) = (String::new(), Some(status));
            Fault::Passing { what, status, retry_after: None, was_sent: true }.is_free()
        };
        assert!([409, 425, 429, 500, 501, 503, 529].into_iter().all(is_free));
        assert!(![408, 502, 504, 520, 522, 524, 527, 598, 599].into_iter().any(is_free));
    }

    #[test]
    fn waits_are_read_in_seconds_and_milliseconds() {
        let asked = |millis: &str, seconds: &str| {
            let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
            wait_asked(some(millis), some(seconds)).map(|wait| wait.as_millis())
        };
        assert_eq!(asked("", "2"), Some(2_000));
        assert_eq!(asked("250", "2"), Some(250));
        assert_eq!(asked("", "Wed, 21 Oct 2026 07:28:00 GMT"), None);
        assert_eq!(asked("", "-1"), None);
        assert_eq!(asked("", "NaN"), None);
    }
}
