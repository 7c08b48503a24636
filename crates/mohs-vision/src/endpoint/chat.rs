//! Asking a model in words: what does this picture show, of these classes?
//!
//! The question is a template with the list of classes; what comes back is matched with them
//! ([`NoMatch`] says why it may not be). An answer that matches nothing, a refusal and a question
//! that was never answered are outcomes of their own: none of them is a wrong answer.

mod matching;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use mohs_data::{ChatEntry, FailureReason, Label};
use serde_json::{Map, Value, json};

use super::{
    AskKey, Called, Content, Endpoint, EndpointError, Request, Said, Unread, Usage, shortened,
};
use matching::{Listed, Matcher, letter};

pub use matching::NoMatch;

/// Where questions go.
const PATH: &str = "/chat/completions";

/// How reasons begin where a model said something that is no class; files of predictions have it.
pub const UNMATCHED: &str = "unmatched answer";
/// How reasons begin where a model did not want to answer; files of predictions have it.
pub const REFUSED: &str = "refused to answer";

/// A model and its question.
#[derive(Debug)]
pub struct Chat<'a> {
    endpoint: &'a Endpoint,
    prompt: String,
    system: Option<String>,
    detail: Option<String>,
    matcher: Matcher,
}

/// A picture to ask about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// The picture as a PNG file.
    pub picture_png: Vec<u8>,
}

/// What became of a question.
#[derive(Debug, Clone, PartialEq)]
pub struct Reply {
    /// The answer, or why there is none.
    pub outcome: ChatOutcome,
    /// Whether the model was not asked, because the answer was known.
    pub is_known: bool,
    /// What the answer took, when it was paid.
    pub usage: Usage,
}

/// The answer to a question, or why there is none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChatOutcome {
    /// One of the classes.
    Answered(Label),
    /// A text that is none of the classes, or several.
    Unmatched {
        /// What the model said.
        text: String,
        /// Why that is no answer.
        why: NoMatch,
    },
    /// The model does not want to answer.
    Refused(String),
    /// There is no answer; the question can be asked again.
    Failed(String),
    /// There is no picture to ask about.
    NoPicture(FailureReason),
    /// The cap on cost was reached first; the question was not asked.
    TooDear,
}

impl ChatOutcome {
    /// Returns why there is no answer, in words; `None` if there is one.
    pub fn failure(&self) -> Option<FailureReason> {
        Some(FailureReason::new(match self {
            ChatOutcome::Answered(_) => return None,
            ChatOutcome::NoPicture(reason) => return Some(reason.clone()),
            ChatOutcome::Unmatched { text, why } => {
                format!("{UNMATCHED}, {}: “{}”", why.as_str(), shortened(text))
            }
            ChatOutcome::Refused(text) => format!("{REFUSED}: “{}”", shortened(text)),
            ChatOutcome::Failed(reason) => format!("no answer from the endpoint: {reason}"),
            ChatOutcome::TooDear => "not asked: the cap on cost was reached".to_owned(),
        }))
    }
}

impl<'a> Chat<'a> {
    /// Puts a question together; the classes are what may be answered, in the order of the list.
    pub fn new(
        endpoint: &'a Endpoint,
        entry: &ChatEntry,
        classes: &[Label],
    ) -> Result<Chat<'a>, EndpointError> {
        let (prompt, listed) = filled(&entry.prompt, classes);
        Ok(Chat {
            endpoint,
            prompt,
            system: entry.system.clone(),
            detail: entry.detail.clone(),
            matcher: Matcher::new(classes, listed)?,
        })
    }

    /// The question as the model gets it.
    pub fn prompt(&self) -> &str {
        &self.prompt
    }

    /// Asks about several pictures, as many at once as the endpoint allows; replies come in order.
    pub fn ask(&self, questions: &[Question]) -> Result<Vec<Reply>, EndpointError> {
        let mut replies = Vec::with_capacity(questions.len());
        self.ask_each(
            questions.len(),
            |idx| Ok(questions[idx].clone()),
            |_, reply| {
                replies.push(reply);
                Ok::<(), EndpointError>(())
            },
        )?;
        Ok(replies)
    }

    /// Asks about `n` pictures that are made when their turn comes, on any thread; `deliver` gets
    /// the replies in order. A picture that cannot be made is a reply that says so.
    pub fn ask_each<E: From<EndpointError>>(
        &self,
        n: usize,
        picture: impl Fn(usize) -> Result<Question, FailureReason> + Sync,
        deliver: impl FnMut(usize, Reply) -> Result<(), E>,
    ) -> Result<(), E> {
        let one = |idx: usize| match picture(idx) {
            Ok(question) => self.ask_one(&question),
            Err(reason) => Ok(Reply {
                outcome: ChatOutcome::NoPicture(reason),
                is_known: false,
                usage: Usage::default(),
            }),
        };
        each_in_order(n, self.endpoint.parallel(), one, deliver)
    }

    /// What the answer about a picture is kept under.
    pub fn key(&self, question: &Question) -> AskKey {
        self.endpoint.key(PATH, &self.body(None), Some(&blake3::hash(&question.picture_png)))
    }

    fn ask_one(&self, question: &Question) -> Result<Reply, EndpointError> {
        let picture = STANDARD.encode(&question.picture_png);
        let mut expected = expected_of(&self.prompt, self.system.as_deref());
        expected.n_input += self.endpoint.tokens_per_picture;
        let called = self.endpoint.call(&Request {
            path: PATH,
            key: self.key(question),
            body: self.body(Some(&format!("data:image/png;base64,{picture}"))),
            expected,
            keeps_useless: false,
            read: &|answer| read(answer, expected),
        })?;
        let (outcome, is_known, usage) = match called {
            Called::Told { said, usage, is_known } => (self.judged(said), is_known, usage),
            Called::Failed(reason) | Called::GivenUp(reason) => {
                (ChatOutcome::Failed(reason), false, Usage::default())
            }
            Called::TooDear => (ChatOutcome::TooDear, false, Usage::default()),
        };
        Ok(Reply { outcome, is_known, usage })
    }

    fn judged(&self, said: Said) -> ChatOutcome {
        match said {
            Said::Text(text) => match self.matcher.find(&text) {
                Ok(label) => ChatOutcome::Answered(label.clone()),
                Err(why) => ChatOutcome::Unmatched { text, why },
            },
            Said::Refused(text) => ChatOutcome::Refused(text),
            Said::Picture(_) | Said::Drawn(_) => {
                ChatOutcome::Unmatched { text: "a picture".to_owned(), why: NoMatch::None }
            }
        }
    }

    /// The body of a request; without a picture it is what the answer is kept under.
    fn body(&self, picture: Option<&str>) -> Value {
        let mut content = vec![json!({ "type": "text", "text": self.prompt })];
        let mut image = Map::new();
        if let Some(url) = picture {
            image.insert("url".to_owned(), Value::from(url));
        }
        if let Some(detail) = &self.detail {
            image.insert("detail".to_owned(), Value::from(detail.as_str()));
        }
        content.push(json!({ "type": "image_url", "image_url": image }));
        self.endpoint.chat_body(self.system.as_deref(), &Value::from(content))
    }
}

impl Endpoint {
    /// Asks in words alone, for about so many tokens; the text is kept like any answer.
    pub fn say(
        &self,
        system: Option<&str>,
        prompt: &str,
        n_output: u64,
    ) -> Result<TextReply, EndpointError> {
        let body = self.chat_body(system, &Value::from(prompt));
        let expected = Usage { n_output, ..expected_of(prompt, system) };
        let called = self.call(&Request {
            path: PATH,
            key: self.text_key(system, prompt),
            body,
            expected,
            keeps_useless: true,
            read: &|answer| read(answer, expected),
        })?;
        Ok(match called {
            Called::Told { said: Said::Text(text), .. } => TextReply::Text(text),
            Called::Told { said: Said::Refused(text), .. } => TextReply::Refused(text),
            Called::Told { .. } => TextReply::Failed("a picture instead of a text".to_owned()),
            Called::Failed(reason) => TextReply::Failed(reason),
            Called::GivenUp(reason) => TextReply::GivenUp(reason),
            Called::TooDear => TextReply::TooDear,
        })
    }

    /// What the answer to a question in words is kept under.
    pub fn text_key(&self, system: Option<&str>, prompt: &str) -> AskKey {
        self.key(PATH, &self.chat_body(system, &Value::from(prompt)), None)
    }

    fn chat_body(&self, system: Option<&str>, content: &Value) -> Value {
        // The same question should get the same answer, and a class name is short.
        let usual = json!({ "temperature": 0, "max_tokens": 200 });
        let mut body = self.body(usual.as_object().cloned().unwrap_or_default());
        let mut messages = Vec::new();
        if let Some(system) = system {
            messages.push(json!({ "role": "system", "content": system }));
        }
        messages.push(json!({ "role": "user", "content": content }));
        body.insert("messages".to_owned(), Value::from(messages));
        Value::Object(body)
    }
}

/// What became of a question in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TextReply {
    /// The answer.
    Text(String),
    /// The model does not want to answer.
    Refused(String),
    /// There is no answer; the question can be asked again.
    Failed(String),
    /// The model answered several times, never with a text; it is not asked again, in later runs
    /// either.
    GivenUp(String),
    /// The cap on cost was reached first.
    TooDear,
}

/// What a question may take: four letters are about a token, and answers are short.
pub(crate) fn expected_of(prompt: &str, system: Option<&str>) -> Usage {
    let n_letters = prompt.len() + system.map_or(0, str::len);
    Usage { n_input: n_letters as u64 / 4 + 16, n_output: 50, n_pictures: 0 }
}

/// Takes an answer apart.
fn read(answer: &Value, expected: Usage) -> Result<Content, Unread> {
    let Some(choice) = answer["choices"].get(0) else {
        return Err(Unread::Garbled(format!("no `choices` in {}", shortened(&answer.to_string()))));
    };
    let message = &choice["message"];
    let usage = usage_of(answer, expected);
    if let Some(refusal) = message["refusal"].as_str().filter(|refusal| !refusal.is_empty()) {
        return Ok(Content::Refused(refusal.to_owned(), usage));
    }
    let text = text_of(&message["content"]);
    if choice["finish_reason"] == "content_filter" {
        let text = text.unwrap_or_else(|| "its filter stopped it".to_owned());
        return Ok(Content::Refused(text, usage));
    }
    match text {
        // A model that thinks may have no token left for a word.
        Some(text) if text.trim().is_empty() && choice["finish_reason"] == "length" => {
            let found = "no word before it was cut off; `max_tokens` may be too few";
            Err(Unread::Garbled(found.to_owned()))
        }
        Some(text) => Ok(Content::Text(text, usage)),
        None => Err(Unread::Garbled(format!("no text in {}", shortened(&choice.to_string())))),
    }
}

/// A text, or the texts of a list of parts.
fn text_of(content: &Value) -> Option<String> {
    if let Some(text) = content.as_str() {
        return Some(text.to_owned());
    }
    let parts = content.as_array()?;
    let texts: Vec<&str> = parts.iter().filter_map(|part| part["text"].as_str()).collect();
    (!texts.is_empty()).then(|| texts.concat())
}

/// What an answer took by its own account, or what was thought.
pub(super) fn usage_of(answer: &Value, expected: Usage) -> Usage {
    let usage = &answer["usage"];
    let count = |names: [&str; 2], otherwise: u64| {
        names.iter().find_map(|name| usage[name].as_u64()).unwrap_or(otherwise)
    };
    Usage {
        n_input: count(["prompt_tokens", "input_tokens"], expected.n_input),
        n_output: count(["completion_tokens", "output_tokens"], expected.n_output),
        n_pictures: expected.n_pictures,
    }
}

/// A name as it stands in a row with commas between: in quotes where it has a comma of its own.
pub(crate) fn in_a_row(name: &str) -> String {
    if name.contains(',') { format!("\"{name}\"") } else { name.to_owned() }
}

/// Puts the classes into a prompt, and says how they were listed.
fn filled(template: &str, classes: &[Label]) -> (String, Listed) {
    let [plain, numbered, lettered] = ChatEntry::LISTS;
    let mut lists = [String::new(), String::new()];
    for (idx, class) in classes.iter().enumerate() {
        let end = if idx + 1 == classes.len() { "" } else { "\n" };
        let _ = write!(lists[0], "{}. {class}{end}", idx + 1);
        let _ = write!(lists[1], "{}. {class}{end}", letter(idx));
    }
    let names: Vec<String> = classes.iter().map(|class| in_a_row(class.as_str())).collect();
    let listed =
        Listed { by_number: template.contains(numbered), by_letter: template.contains(lettered) };
    let prompt = template
        .replace(plain, &names.join(", "))
        .replace(numbered, &lists[0])
        .replace(lettered, &lists[1]);
    (prompt, listed)
}

/// Does `n` things, several at once; results are delivered in order on this thread, and an error
/// ends it once what is under way is done. That is delivered, too, unless `deliver` itself failed: it
/// may have been paid.
pub(crate) fn each_in_order<R: Send, E: From<EndpointError>>(
    n: usize,
    parallel: usize,
    one: impl Fn(usize) -> Result<R, EndpointError> + Sync,
    mut deliver: impl FnMut(usize, R) -> Result<(), E>,
) -> Result<(), E> {
    let next = AtomicUsize::new(0);
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let (sender, results) = mpsc::sync_channel(parallel);
        for _ in 0..parallel.min(n) {
            let sender = sender.clone();
            let (next, is_over, one) = (&next, &is_over, &one);
            scope.spawn(move || {
                while !is_over.load(Ordering::SeqCst) {
                    let idx = next.fetch_add(1, Ordering::SeqCst);
                    if n <= idx {
                        return;
                    }
                    let result = one(idx);
                    is_over.fetch_or(result.is_err(), Ordering::SeqCst);
                    if sender.send((idx, result)).is_err() {
                        return;
                    }
                }
            });
        }
        drop(sender);
        let mut waiting = BTreeMap::new();
        let mut n_delivered = 0;
        let mut outcome = Ok(());
        let mut is_taken = true;
        // Everything is taken in, even after an error, so that nobody waits to hand it over.
        for (idx, result) in results {
            match result {
                Ok(result) => drop(waiting.insert(idx, result)),
                Err(error) => outcome = outcome.and(Err(E::from(error))),
            }
            while outcome.is_ok()
                && let Some(result) = waiting.remove(&n_delivered)
            {
                outcome = deliver(n_delivered, result);
                is_taken = outcome.is_ok();
                n_delivered += 1;
            }
            is_over.fetch_or(outcome.is_err(), Ordering::SeqCst);
        }
        for (idx, result) in waiting {
            is_taken = is_taken && deliver(idx, result).is_ok();
        }
        outcome
    })
}
