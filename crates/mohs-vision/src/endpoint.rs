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
//! error: where an endpoint or a model repeats it, it is taken out before anybody sees it. This is the only part of the crate that reaches for the internet and the clock.
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
use std::time::{Duration, Instant};

use mohs_data::{EndpointEntry, FileError, Parameter};
use serde_json::{Map, Value};

use ledger::{Ledger, Record, Useless};
use pace::Pace;
use patience::{Patience, Told};
use post::{Fault, Post};
use till::{Prices, Till};

pub use ledger::{AskKey, LedgerError, Said, remove_empty as remove_empty_ledgers};
pub use secret::Secret;
pub use till::{Tally, Usage};

/// Changes whenever questions are put in another way, so that old answers are not used.
const LANGUAGE: u32 = 1;

/// So many questions in a row without an answer, and the endpoint counts as gone.
const MOST_LOST: usize = 8;

/// So many answers to one question of which nothing can be used, over all runs, and it is given up:
/// the next one would be paid as well.
pub(crate) const MOST_USELESS: usize = 3;

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
    /// What it answers is not what was asked for.
    #[error("`{model}` at {url} gives no usable answers: {why}")]
    Unusable {
        /// The address.
        url: String,
        /// The model.
        model: String,
        /// What is wrong with its answers.
        why: String,
    },
    /// The key cannot be sent.
    #[error("the key in ${variable} cannot be sent in a header: {why}")]
    Key {
        /// The variable that holds it.
        variable: String,
        /// What is wrong with it; the key is not in it.
        why: String,
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
    /// What a drawn picture is thought to be in tokens, where those are paid.
    tokens_drawn: u64,
    post: Post,
    patience: Patience,
    pace: Pace,
    folder: Option<PathBuf>,
    state: Mutex<State>,
    changed: Condvar,
    teller: Teller,
}

/// What is done with words about a long wait.
type Tell = dyn Fn(&str) + Send + Sync;

/// Who is told of long waits.
#[derive(Default)]
struct Teller(Option<Box<Tell>>);

impl std::fmt::Debug for Teller {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Teller").field(&self.0.is_some()).finish()
    }
}

#[derive(Debug)]
struct State {
    ledger: Ledger,
    till: Till,
    /// Questions that somebody is asking now.
    under_way: BTreeSet<AskKey>,
    /// Questions in a row that got no answer.
    n_lost: usize,
    told: Told,
}

impl State {
    /// Tells the till how many requests for this question may have been paid for nothing.
    ///
    /// Each may have taken what the ledger says of the dearest, and at least what is expected.
    fn count_doubtful(&mut self, key: &AskKey, expected: &Usage) {
        let n = self.ledger.n_doubtful(key);
        let expected = self.ledger.expected(key).most(expected);
        self.till.doubtful(key, n, &expected, self.ledger.prices_sent(key));
    }

    /// Says why a question is not asked again; `None` if it may be.
    fn given_up(&self, key: &AskKey) -> Option<String> {
        let useless = self.ledger.useless(key).filter(|useless| MOST_USELESS <= useless.n)?;
        let Useless { n, why } = useless;
        Some(format!(
            "given up after {n} answers that may have been paid, and nothing in them can be used; the \
             last one: {why}"
        ))
    }
}

/// One question, ready to be sent.
struct Request<'a> {
    /// Behind the address of the endpoint.
    path: &'static str,
    key: AskKey,
    body: Value,
    expected: Usage,
    /// Whether answers of which nothing can be used are kept, and end it.
    keeps_useless: bool,
    /// Takes an answer apart; the error says what is wrong with it.
    read: &'a (dyn Fn(&Value) -> Result<Content, Unread> + Sync),
}

/// Why an answer holds nothing that was asked for.
enum Unread {
    /// It is damaged, or half of it: the next one may be whole.
    Garbled(String),
    /// It is of another kind, as the next one will be.
    OtherKind(String),
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
    /// It was answered as often as allowed with nothing that can be used, and is not asked again.
    GivenUp(String),
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
        Endpoint::with(entry, key, |endpoint| match ledger {
            Some(folder) => Ledger::open(folder, endpoint, slot),
            None => Ok(Ledger::none()),
        })
    }

    /// Opens an endpoint to say what is known of it, and not to ask: it has no key, and nothing is
    /// written or locked in the folder of its ledger.
    pub fn look(entry: &EndpointEntry, ledger: &Path) -> Result<Endpoint, EndpointError> {
        Endpoint::with(entry, None, |endpoint| Ledger::read(ledger, endpoint))
    }

    fn with(
        entry: &EndpointEntry,
        key: Option<Secret>,
        ledger: impl FnOnce(&str) -> Result<Ledger, LedgerError>,
    ) -> Result<Endpoint, EndpointError> {
        entry.check().map_err(|(key, expected, found)| EndpointError::Settings {
            key: key.to_owned(),
            expected,
            found,
        })?;
        if let Some(why) = key.as_ref().and_then(Secret::fault) {
            let variable = entry.key_env.clone().unwrap_or_default();
            return Err(EndpointError::Key { variable, why });
        }
        let url = entry.url.trim_end_matches('/').to_owned();
        let post = Post::new(entry, key).map_err(|found| EndpointError::Settings {
            key: "proxy".to_owned(),
            expected: "the address of a proxy".to_owned(),
            found,
        })?;
        let ledger = ledger(&format!("{url}\n{}", entry.model))?;
        // All of it before the first request: the cap is about the whole ledger.
        let mut till = Till::new(entry);
        till.take_in(&ledger);
        Ok(Endpoint {
            parameters: entry.parameters.as_ref().map(json),
            model: entry.model.clone(),
            parallel: entry.parallel,
            tokens_per_picture: entry.tokens_per_picture,
            tokens_drawn: images::tokens_drawn(entry),
            post,
            patience: Patience::new(entry),
            pace: Pace::new(entry.requests_per_minute, entry.tokens_per_minute),
            folder: ledger.folder().map(Path::to_owned),
            state: Mutex::new(State {
                ledger,
                till,
                under_way: BTreeSet::new(),
                n_lost: 0,
                told: Told::default(),
            }),
            changed: Condvar::new(),
            teller: Teller::default(),
            url,
        })
    }

    /// Has somebody told, in words, of every wait of more than a few seconds: those that the endpoint
    /// asks for and those before it is asked again.
    pub fn tell_waits(&mut self, tell: impl Fn(&str) + Send + Sync + 'static) {
        self.teller = Teller(Some(Box::new(tell)));
    }

    /// Its address.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// What the endpoint calls the model.
    pub fn model(&self) -> &str {
        &self.model
    }

    /// Whether answers are kept for other runs.
    pub fn keeps_answers(&self) -> bool {
        self.folder.is_some()
    }

    /// How many requests may be under way at once.
    pub fn parallel(&self) -> usize {
        self.parallel
    }

    /// What was asked, paid and known so far.
    pub fn tally(&self) -> Tally {
        self.lock().till.tally()
    }

    /// Whether a question would not be asked: its answer is in the ledger already, or it was given
    /// up.
    pub fn knows(&self, key: &AskKey) -> bool {
        let state = self.lock();
        state.ledger.find(key).is_some() || state.given_up(key).is_some()
    }

    /// What everything in the ledger cost, with what may have been paid for answers that never came:
    /// what counts against the cap.
    pub fn spent(&self) -> f64 {
        self.lock().till.spent()
    }

    /// Changes what everything in the ledger together may cost.
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
                if let Some(record) = state.ledger.find(&request.key).cloned() {
                    state.till.known(&record.key, &record.usage, record.prices);
                    let Record { said, usage, .. } = record;
                    // Older versions kept what endpoints repeated.
                    return Ok(Called::Told { said: self.clean(said), usage, is_known: true });
                }
                if !state.under_way.contains(&request.key) {
                    break;
                }
                state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
            if let Some(why) = state.given_up(&request.key) {
                return Ok(Called::GivenUp(why));
            }
            if MOST_LOST <= state.n_lost {
                return Ok(Called::Failed("the endpoint does not answer".to_owned()));
            }
            // Lists of older versions do not say what was expected of a request.
            state.count_doubtful(&request.key, &request.expected);
            if !state.till.reserve(&request.key, &request.expected) {
                return Ok(Called::TooDear);
            }
            state.under_way.insert(request.key);
        }
        // Whatever happens, others that wait for this question must not wait for ever.
        let _leaving = Leaving { endpoint: self, key: request.key };
        self.ask(request)
    }

    fn ask(&self, request: &Request<'_>) -> Result<Called, EndpointError> {
        let mut last = String::new();
        let mut is_answered = false;
        let mut in_vain = InVain::default();
        let mut n_tries = 0;
        for attempt in 0..self.patience.tries() {
            self.pace.wait_for_turn(request.expected.n_tokens());
            {
                let mut state = self.lock();
                // While it waited, others may have become dearer than was thought.
                if !state.till.is_enough() {
                    return Ok(Called::TooDear);
                }
                let prices = Some(state.till.prices());
                state.ledger.sends(&request.key, &request.expected, prices)?;
                state.till.sent();
                if 0 < attempt {
                    state.till.repeated();
                }
            }
            let answer = self.post.send(&self.url, request.path, &request.key, &request.body);
            let (fault, useless) = match answer {
                Ok(answer) => {
                    let unread = match (request.read)(&answer) {
                        Ok(content) => return self.keep(request, content),
                        Err(unread) => unread,
                    };
                    self.note_taken(request, &answer)?;
                    match unread {
                        Unread::Garbled(found) => (Fault::Malformed(found.clone()), Some(found)),
                        Unread::OtherKind(found) => (Fault::OtherKind(found.clone()), Some(found)),
                    }
                }
                Err(fault) => (fault, None),
            };
            if fault.is_free() {
                self.lock().ledger.takes_back(&request.key)?;
            }
            in_vain.count(&fault);
            if let Some(why) = useless.filter(|_| request.keeps_useless) {
                let why = shortened(&self.post.without_key(&why));
                self.lock().ledger.finds_useless(&request.key, &why)?;
            }
            self.lock().count_doubtful(&request.key, &request.expected);
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
                Fault::OtherKind(why) => return Err(self.unusable(why.clone())),
                Fault::Passing { .. } | Fault::Malformed(_) => {}
            }
            n_tries = attempt + 1;
            last = fault.to_string();
            is_answered = matches!(fault, Fault::Malformed(_));
            if self.lock().given_up(&request.key).is_some() {
                break;
            }
            if let Some(most) = self.patience.exceeded(fault.retry_after()) {
                let asked = in_words(fault.retry_after().unwrap_or(most));
                let most = in_words(most);
                last = format!("it asks to wait {asked}, and at most {most} are waited: {fault}");
                break;
            }
            if attempt + 1 < self.patience.tries() {
                // This try may have been paid, and so may the next: then nothing is worth a wait.
                if !self.lock().till.is_enough() {
                    return Ok(Called::TooDear);
                }
                let wait = self.patience.wait(&request.key, attempt, fault.retry_after());
                self.tell_wait(wait, &fault);
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
            if is_answered {
                let why = format!("{n_lost} questions in a row have none; the last one: {last}");
                return Err(self.unusable(why));
            }
            return Err(EndpointError::Gone { url: self.url.clone(), n_lost, last });
        }
        if let Some(why) = state.given_up(&request.key) {
            return Ok(Called::GivenUp(why));
        }
        let tries = if n_tries == 1 { "try" } else { "tries" };
        Ok(Called::Failed(format!("no answer after {n_tries} {tries}: {last}{}", in_vain.told())))
    }

    /// Notes what an answer of which nothing can be used took, where it says that.
    fn note_taken(&self, request: &Request<'_>, answer: &Value) -> Result<(), EndpointError> {
        let told = chat::usage_of(answer, Usage::default());
        if told != Usage::default() {
            let mut state = self.lock();
            state.ledger.took_in_vain(&request.key, &told)?;
            state.till.may_take(&told.most(&request.expected));
        }
        Ok(())
    }

    /// Tells of a wait, once for all requests that wait together.
    fn tell_wait(&self, wait: Duration, fault: &Fault) {
        let Some(tell) = &self.teller.0 else { return };
        if !self.lock().told.is_due(Instant::now(), wait) {
            return;
        }
        let Endpoint { url, model, .. } = self;
        tell(&match fault.retry_after() {
            Some(asked) => format!("`{model}` at {url} asks to wait {}: {fault}", in_words(asked)),
            None => format!("`{model}` at {url} is asked again in {}: {fault}", in_words(wait)),
        });
    }

    fn unusable(&self, why: String) -> EndpointError {
        EndpointError::Unusable { url: self.url.clone(), model: self.model.clone(), why }
    }

    /// Takes the key out of what was said: parts of an answer may have made it whole again.
    fn clean(&self, said: Said) -> Said {
        match said {
            Said::Text(text) => Said::Text(self.post.without_key(&text)),
            Said::Refused(text) => Said::Refused(self.post.without_key(&text)),
            Said::Picture(_) | Said::Drawn(_) => said,
        }
    }

    /// Writes an answer down before anybody sees it.
    fn keep(&self, request: &Request<'_>, content: Content) -> Result<Called, EndpointError> {
        let (said, usage) = match content {
            Content::Text(text, usage) => (self.clean(Said::Text(text)), usage),
            Content::Refused(text, usage) => (self.clean(Said::Refused(text)), usage),
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
        let prices = Some(state.till.prices());
        let record = Record { key: request.key, said: said.clone(), usage, prices };
        state.ledger.append(record)?;
        state.count_doubtful(&request.key, &request.expected);
        Ok(told(said, usage))
    }
}

/// What everything in a folder of ledgers cost, whatever was asked and of whom.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Paid {
    /// What the answers cost.
    pub cost: f64,
    /// Requests that may have been paid although no answer came.
    pub n_doubtful: usize,
    /// What they may have cost.
    pub doubtful_cost: f64,
}

impl Paid {
    /// What was paid, and what may have been.
    pub fn spent(&self) -> f64 {
        self.cost + self.doubtful_cost
    }
}

/// Counts everything that the ledgers in a folder hold, at the prices of its time.
///
/// What has no prices, as in ledgers of older versions, counts at those of the entry that
/// `entry_of` names for its slot, and costs nothing where it names none.
pub fn paid_in<'a>(
    folder: &Path,
    entry_of: impl Fn(&str) -> Option<&'a EndpointEntry>,
) -> Result<Paid, LedgerError> {
    let mut paid = Paid::default();
    for (slot, ledger) in Ledger::read_all(folder)? {
        let mut till = Till::at(entry_of(&slot).map(Prices::of).unwrap_or_default());
        till.take_in(&ledger);
        let tally = till.tally();
        paid.cost += tally.cost_in_all;
        paid.n_doubtful += tally.n_doubtful;
        paid.doubtful_cost += tally.doubtful_cost;
    }
    Ok(paid)
}

fn told(said: Said, usage: Usage) -> Called {
    Called::Told { said, usage, is_known: false }
}

/// Tries that may have been paid.
#[derive(Default)]
struct InVain {
    n: usize,
    /// What came of the last of them, unless another try came after it.
    why: String,
    is_last: bool,
}

impl InVain {
    fn count(&mut self, fault: &Fault) {
        self.is_last = !fault.is_free();
        if self.is_last {
            self.n += 1;
            self.why = fault.to_string();
        }
    }

    /// What is added to a reason that tells of the last try.
    fn told(&self) -> String {
        match (self.n, self.is_last) {
            (0, _) => String::new(),
            (n, true) => format!("; {n} of them may have been paid"),
            (n, false) => format!("; {n} of them may have been paid, with {}", self.why),
        }
    }
}

/// Gives up the place of a question that is under way when dropped, panics included.
struct Leaving<'a> {
    endpoint: &'a Endpoint,
    key: AskKey,
}

impl Drop for Leaving<'_> {
    fn drop(&mut self) {
        let mut state = self.endpoint.lock();
        state.under_way.remove(&self.key);
        state.till.release(&self.key);
        drop(state);
        self.endpoint.changed.notify_all();
    }
}

/// A time for people: in seconds, and in hours where these are many.
fn in_words(time: Duration) -> String {
    let seconds = time.as_secs_f64();
    let hours =
        if seconds < 7_200.0 { String::new() } else { format!(" ({:.1} h)", seconds / 3_600.0) };
    format!("{seconds:.0} s{hours}")
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
