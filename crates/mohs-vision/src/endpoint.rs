//! Models behind an HTTP endpoint that speaks the OpenAI-compatible language: asked about pictures
//! ([`chat`]), or asked to draw them ([`images`]).
//!
//! An [`Endpoint`] is opened once and asked many times, from any number of threads. Whatever was
//! paid for is in its ledger before anybody sees it, so that a run that was killed goes on where it
//! stopped and no answer is paid twice. What is about to be sent is in a list of its own: requests
//! whose answers never came may have been paid, and are counted. Trouble that passes (timeouts, cut connections, too many
//! requests, servers that are down, answers that are not JSON) is tried again, with waits that grow;
//! trouble that does not pass (a wrong key, an unknown model) ends the run. A question that is never
//! answered is a failure of that question, not of the run.
//!
//! The key is handed in by whoever reads the environment, and is in no file, no message and no
//! error. This is the only part of the crate that reaches for the internet and the clock.
//!
//! ```no_run
//! use mohs_data::{ChatEntry, EndpointEntry, Label};
//! use mohs_vision::endpoint::{Endpoint, Secret, chat::{Chat, Question}};
//!
//! let entry = EndpointEntry::new("https://localhost/v1", "some-model");
//! let key = Secret::new("from the environment");
//! let endpoint = Endpoint::open(&entry, Some(key), None, "all")?;
//! let classes = [Label::new("cat"), Label::new("dog")];
//! let chat = Chat::new(&endpoint, &ChatEntry::default(), &classes)?;
//! let answers = chat.ask(&[Question { picture_png: std::fs::read("cat.png").unwrap() }])?;
//! println!("{:?} after {} paid calls", answers[0].outcome, endpoint.tally().n_paid);
//! # Ok::<(), mohs_vision::endpoint::EndpointError>(())
//! ```
//!
//! Read [`chat`] next.

pub mod chat;
pub mod images;
mod ledger;
mod pace;
mod patience;
mod post;
mod secret;
mod till;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use mohs_data::{EndpointEntry, FileError, Parameter};
use serde_json::{Map, Value};

use ledger::{Ledger, Record};
use pace::Pace;
use patience::Patience;
use post::{Fault, Post};
use till::Till;

pub use ledger::{AskKey, LedgerError, Said};
pub use secret::Secret;
pub use till::{Tally, Usage};

/// Changes whenever questions are put in another way, so that old answers are not used.
const LANGUAGE: u32 = 1;

/// So many questions in a row without an answer, and the endpoint counts as gone.
const MOST_LOST: usize = 8;

/// An endpoint that cannot be used, or not any longer.
#[derive(Debug, thiserror::Error)]
pub enum EndpointError {
    /// Something in the settings cannot be meant.
    #[error("`{key}` should be {expected}, found `{found}`")]
    Settings {
        /// What is wrong.
        key: String,
        /// What it should be.
        expected: String,
        /// What it is.
        found: String,
    },
    /// The endpoint does not take us, our key or our model.
    #[error("{url} refuses requests for the model `{model}` with status {status}: {detail}")]
    Refuses {
        /// The address.
        url: String,
        /// The model.
        model: String,
        /// The HTTP status.
        status: u16,
        /// What the endpoint said.
        detail: String,
    },
    /// Nothing was answered for a long time.
    #[error("{url} answered none of the last {n_lost} questions; the last one: {last}")]
    Gone {
        /// The address.
        url: String,
        /// How many questions in a row.
        n_lost: usize,
        /// Why the last one was not answered.
        last: String,
    },
    /// Two classes look the same once case and punctuation are gone.
    #[error("the classes `{first}` and `{second}` cannot be told apart in an answer")]
    SameName {
        /// The one.
        first: String,
        /// The other.
        second: String,
    },
    /// The ledger cannot be used.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
    /// A picture that was drawn could not be written.
    #[error(transparent)]
    File(#[from] FileError),
}

/// An endpoint that can be asked.
#[derive(Debug)]
pub struct Endpoint {
    url: String,
    model: String,
    parameters: Option<Map<String, Value>>,
    parallel: usize,
    tokens_per_picture: u64,
    post: Post,
    patience: Patience,
    pace: Pace,
    folder: Option<PathBuf>,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug)]
struct State {
    ledger: Ledger,
    till: Till,
    /// Questions that somebody is asking now.
    under_way: BTreeSet<AskKey>,
    /// Questions in a row that got no answer.
    n_lost: usize,
}

impl State {
    /// Tells the till how many requests for this question may have been paid for nothing.
    fn count_doubtful(&mut self, request: &Request<'_>) {
        let n = self.ledger.n_doubtful(&request.key);
        self.till.doubtful(&request.key, n, &request.expected);
    }
}

/// One question, ready to be sent.
struct Request<'a> {
    /// Behind the address of the endpoint.
    path: &'static str,
    key: AskKey,
    body: Value,
    expected: Usage,
    /// Takes an answer apart; the error says what is wrong with it.
    read: &'a (dyn Fn(&Value) -> Result<Content, String> + Sync),
}

/// What an answer holds.
enum Content {
    Text(String, Usage),
    /// A picture file, and the ending its name should have.
    Picture(Vec<u8>, &'static str, Usage),
    Refused(String, Usage),
}

/// What became of one question.
enum Called {
    /// It was answered, now or earlier.
    Told { said: Said, usage: Usage, is_known: bool },
    /// It was asked as often as allowed, or the endpoint does not take it.
    Failed(String),
    /// The money was spent before its turn came.
    TooDear,
}

impl Endpoint {
    /// Opens an endpoint; `ledger` is the folder where answers are kept, `None` to keep nothing.
    ///
    /// `slot` tells processes apart that share a folder and ask different questions, such as the
    /// shards of a cluster. Two processes may not write to one slot: both would pay.
    pub fn open(
        entry: &EndpointEntry,
        key: Option<Secret>,
        ledger: Option<&Path>,
        slot: &str,
    ) -> Result<Endpoint, EndpointError> {
        entry.check().map_err(|(key, expected, found)| EndpointError::Settings {
            key: key.to_owned(),
            expected,
            found,
        })?;
        let url = entry.url.trim_end_matches('/').to_owned();
        let post = Post::new(entry, key).map_err(|found| EndpointError::Settings {
            key: "proxy".to_owned(),
            expected: "the address of a proxy".to_owned(),
            found,
        })?;
        let ledger = match ledger {
            Some(folder) => Ledger::open(folder, &format!("{url}\n{}", entry.model), slot)?,
            None => Ledger::none(),
        };
        Ok(Endpoint {
            parameters: entry.parameters.as_ref().map(json),
            model: entry.model.clone(),
            parallel: entry.parallel,
            tokens_per_picture: entry.tokens_per_picture,
            post,
            patience: Patience::new(entry),
            pace: Pace::new(entry.requests_per_minute, entry.tokens_per_minute),
            folder: ledger.folder().map(Path::to_owned),
            state: Mutex::new(State {
                ledger,
                till: Till::new(entry),
                under_way: BTreeSet::new(),
                n_lost: 0,
            }),
            changed: Condvar::new(),
            url,
        })
    }

    /// Its address.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// What the endpoint calls the model.
    pub fn model(&self) -> &str {
        &self.model
    }

    /// How many requests may be under way at once.
    pub fn parallel(&self) -> usize {
        self.parallel
    }

    /// What was asked, paid and known so far.
    pub fn tally(&self) -> Tally {
        self.lock().till.tally()
    }

    /// Whether the answer to a question is in the ledger already.
    pub fn knows(&self, key: &AskKey) -> bool {
        self.lock().ledger.find(key).is_some()
    }

    /// Counts everything in the ledger against the cap, whether this run uses it or not, and
    /// returns what it cost.
    pub fn count_all(&self) -> f64 {
        let mut state = self.lock();
        let State { ledger, till, .. } = &mut *state;
        for record in ledger.records() {
            till.paid_before(&record.key, &record.usage);
        }
        till.tally().cost_in_all
    }

    /// Changes what all answers together may cost.
    pub fn set_cap(&self, cap: f64) {
        self.lock().till.set_cap(cap);
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What answers are kept under: everything that may change them.
    fn key(&self, path: &str, body: &Value, picture: Option<&blake3::Hash>) -> AskKey {
        let picture = picture.map_or(String::new(), |hash| hash.to_hex().to_string());
        AskKey::new(&format!("{LANGUAGE}\n{}\n{path}\n{body}\n{picture}", self.url))
    }

    /// A request's body with everything but the question.
    fn body(&self, usual: Map<String, Value>) -> Map<String, Value> {
        let mut body = self.parameters.clone().unwrap_or(usual);
        body.insert("model".to_owned(), Value::from(self.model.as_str()));
        body
    }

    /// Answers a question from the ledger, or asks it; the same question is never asked twice at
    /// the same time.
    fn call(&self, request: &Request<'_>) -> Result<Called, EndpointError> {
        {
            let mut state = self.lock();
            loop {
                state.count_doubtful(request);
                if let Some(record) = state.ledger.find(&request.key).cloned() {
                    state.till.known(&record.key, &record.usage);
                    let Record { said, usage, .. } = record;
                    return Ok(Called::Told { said, usage, is_known: true });
                }
                if !state.under_way.contains(&request.key) {
                    break;
                }
                state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
            if MOST_LOST <= state.n_lost {
                return Ok(Called::Failed("the endpoint does not answer".to_owned()));
            }
            if !state.till.reserve(&request.expected) {
                return Ok(Called::TooDear);
            }
            state.under_way.insert(request.key);
        }
        // Whatever happens, others that wait for this question must not wait for ever.
        let _leaving = Leaving { endpoint: self, key: request.key, expected: request.expected };
        self.ask(request)
    }

    fn ask(&self, request: &Request<'_>) -> Result<Called, EndpointError> {
        let mut last = String::new();
        for attempt in 0..self.patience.tries() {
            self.pace.wait_for_turn(request.expected.n_tokens());
            {
                let mut state = self.lock();
                state.ledger.sends(&request.key)?;
                state.till.sent();
            }
            let answer = self.post.send(&self.url, request.path, &request.key, &request.body);
            let fault = match answer {
                Ok(answer) => match (request.read)(&answer) {
                    Ok(content) => return self.keep(request, content),
                    Err(found) => Fault::Malformed(found),
                },
                Err(fault) => fault,
            };
            if fault.is_free() {
                self.lock().ledger.takes_back(&request.key)?;
            }
            self.lock().count_doubtful(request);
            match &fault {
                Fault::Refused { status, detail } if matches!(status, 401..=404) => {
                    return Err(EndpointError::Refuses {
                        url: self.url.clone(),
                        model: self.model.clone(),
                        status: *status,
                        detail: detail.clone(),
                    });
                }
                Fault::Refused { .. } => return Ok(Called::Failed(fault.to_string())),
                Fault::Policy(detail) => {
                    // Nothing was paid, and asking again would change nothing.
                    let content = Content::Refused(detail.clone(), Usage::default());
                    return self.keep(request, content);
                }
                Fault::Passing { .. } | Fault::Malformed(_) => {}
            }
            last = fault.to_string();
            if attempt + 1 < self.patience.tries() {
                self.lock().till.repeated();
                let wait = self.patience.wait(&request.key, attempt, fault.retry_after());
                if fault.is_for_everybody() {
                    self.pace.pause(wait);
                } else {
                    std::thread::sleep(wait);
                }
            }
        }
        let mut state = self.lock();
        state.n_lost += 1;
        if MOST_LOST <= state.n_lost {
            let n_lost = state.n_lost;
            return Err(EndpointError::Gone { url: self.url.clone(), n_lost, last });
        }
        Ok(Called::Failed(format!("no answer after {} tries: {last}", self.patience.tries())))
    }

    /// Writes an answer down before anybody sees it.
    fn keep(&self, request: &Request<'_>, content: Content) -> Result<Called, EndpointError> {
        let (said, usage) = match content {
            Content::Text(text, usage) => (Said::Text(text), usage),
            Content::Refused(text, usage) => (Said::Refused(text), usage),
            Content::Picture(bytes, ending, usage) => {
                let name = format!("{}.{ending}", request.key.name());
                match &self.folder {
                    Some(folder) => {
                        images::store(&folder.join(&name), &bytes)?;
                        (Said::Picture(name), usage)
                    }
                    None => (Said::Drawn(bytes), usage),
                }
            }
        };
        self.pace.correct(request.expected.n_tokens(), usage.n_tokens());
        let mut state = self.lock();
        state.n_lost = 0;
        state.till.paid(&request.key, &usage);
        let record = Record { key: request.key, said: said.clone(), usage };
        state.ledger.append(record)?;
        state.count_doubtful(request);
        Ok(told(said, usage))
    }
}

fn told(said: Said, usage: Usage) -> Called {
    Called::Told { said, usage, is_known: false }
}

/// Gives up the place of a question that is under way when dropped, panics included.
struct Leaving<'a> {
    endpoint: &'a Endpoint,
    key: AskKey,
    expected: Usage,
}

impl Drop for Leaving<'_> {
    fn drop(&mut self) {
        let mut state = self.endpoint.lock();
        state.under_way.remove(&self.key);
        state.till.release(&self.expected);
        drop(state);
        self.endpoint.changed.notify_all();
    }
}

/// Parameters as the endpoint gets them; whole numbers stay whole.
fn json(parameters: &std::collections::BTreeMap<String, Parameter>) -> Map<String, Value> {
    let value = |parameter: &Parameter| match parameter {
        Parameter::Switch(is_on) => Value::from(*is_on),
        Parameter::Text(text) => Value::from(text.as_str()),
        Parameter::Number(number) => {
            #[expect(
                clippy::cast_possible_truncation,
                reason = "whole and small, as was just seen"
            )]
            match number.fract().abs() < f64::EPSILON && number.abs() < 1e15 {
                true => Value::from(*number as i64),
                false => Value::from(*number),
            }
        }
    };
    parameters.iter().map(|(key, parameter)| (key.clone(), value(parameter))).collect()
}

/// A piece of text that fits into a message.
pub(crate) fn shortened(text: &str) -> String {
    const LONGEST: usize = 160;
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}
