//! Asking a model to draw: a prompt in, a picture out.
//!
//! A picture is on disk, named by what was asked, before it is used, and is drawn once. Asking for
//! another picture of the same prompt takes another number.

use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use mohs_data::format::atomic;
use mohs_data::{EndpointEntry, FileError};
use serde_json::{Value, json};

use super::chat::{each_in_order, usage_of};
use super::{
    AskKey, Called, Content, Endpoint, EndpointError, Request, Said, Unread, Usage, shortened,
};
use crate::pixels::{self, DecodeOptions};

/// Where prompts go.
const PATH: &str = "/images/generations";

/// A picture to be drawn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Drawing {
    /// What it should show.
    pub prompt: String,
    /// Which picture of this prompt: another number is another picture.
    pub number: u32,
    /// A seed that is sent along, and what the endpoint calls it; none where it knows no seeds.
    pub seed: Option<(String, u32)>,
}

/// What became of a drawing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ImageOutcome {
    /// The picture, as a file beside the ledger.
    File(PathBuf),
    /// The picture, of an endpoint that keeps nothing.
    Bytes(Vec<u8>),
    /// The model does not want to draw it.
    Refused(String),
    /// There is no picture; it can be asked for again.
    Failed(String),
    /// The painter answered several times, never with a picture; it is not asked again, in later runs
    /// either.
    GivenUp(String),
    /// The cap on cost was reached first.
    TooDear,
}

/// Has pictures drawn, as many at once as the endpoint allows; `deliver` gets them in order, with
/// whether they were known.
pub fn draw_each<E: From<EndpointError>>(
    endpoint: &Endpoint,
    drawings: &[Drawing],
    deliver: impl FnMut(usize, (ImageOutcome, bool)) -> Result<(), E>,
) -> Result<(), E> {
    let one = |idx: usize| draw(endpoint, &drawings[idx]);
    each_in_order(drawings.len(), endpoint.parallel(), one, deliver)
}

/// What a picture is kept under.
pub fn key(endpoint: &Endpoint, drawing: &Drawing) -> AskKey {
    let numbered = json!({ "body": body(endpoint, drawing), "number": drawing.number });
    endpoint.key(PATH, &numbered, None)
}

/// How many tokens a drawn picture is thought to be: none where pictures have a price of their own, or
/// what comes back has none.
pub(crate) fn tokens_drawn(entry: &EndpointEntry) -> u64 {
    let is_by_token = 0.0 < entry.price_output && entry.price_picture <= 0.0;
    if is_by_token { entry.tokens_per_picture } else { 0 }
}

fn body(endpoint: &Endpoint, drawing: &Drawing) -> Value {
    let usual = json!({ "size": "1024x1024", "response_format": "b64_json" });
    let mut body = endpoint.body(usual.as_object().cloned().unwrap_or_default());
    body.insert("prompt".to_owned(), Value::from(drawing.prompt.as_str()));
    body.insert("n".to_owned(), Value::from(1));
    if let Some((name, seed)) = &drawing.seed {
        body.insert(name.clone(), Value::from(*seed));
    }
    Value::Object(body)
}

fn draw(endpoint: &Endpoint, drawing: &Drawing) -> Result<(ImageOutcome, bool), EndpointError> {
    let n_output = endpoint.tokens_drawn;
    let expected = Usage { n_input: drawing.prompt.len() as u64 / 4 + 1, n_output, n_pictures: 1 };
    let called = endpoint.call(&Request {
        path: PATH,
        key: key(endpoint, drawing),
        body: body(endpoint, drawing),
        expected,
        keeps_useless: true,
        read: &|answer| read(answer, expected),
    })?;
    Ok(match called {
        Called::Told { said, is_known, .. } => (outcome(endpoint, said), is_known),
        Called::Failed(reason) => (ImageOutcome::Failed(reason), false),
        Called::GivenUp(reason) => (ImageOutcome::GivenUp(reason), false),
        Called::TooDear => (ImageOutcome::TooDear, false),
    })
}

fn outcome(endpoint: &Endpoint, said: Said) -> ImageOutcome {
    match said {
        Said::Picture(name) => match &endpoint.folder {
            Some(folder) => ImageOutcome::File(folder.join(name)),
            None => ImageOutcome::Failed("the picture is kept nowhere".to_owned()),
        },
        Said::Drawn(bytes) => ImageOutcome::Bytes(bytes),
        Said::Refused(text) => ImageOutcome::Refused(text),
        Said::Text(text) => ImageOutcome::Failed(format!("a text: {}", shortened(&text))),
    }
}

/// Takes an answer apart: only what can be decoded is a picture.
fn read(answer: &Value, expected: Usage) -> Result<Content, Unread> {
    let Some(first) = answer["data"].get(0) else {
        return Err(Unread::Garbled(format!("no `data` in {}", shortened(&answer.to_string()))));
    };
    let Some(text) = first["b64_json"].as_str() else {
        return Err(match first["url"].as_str() {
            Some(_) => Unread::OtherKind(
                "it sends addresses of pictures, and pictures should come in the answer, as \
                 `b64_json`"
                    .to_owned(),
            ),
            None => Unread::Garbled("no `b64_json`".to_owned()),
        });
    };
    let decoded = STANDARD.decode(text);
    let bytes = decoded.map_err(|error| Unread::Garbled(format!("no base 64: {error}")))?;
    let options = DecodeOptions::default();
    pixels::decode(Path::new("picture"), &bytes, &options)
        .map_err(|error| Unread::Garbled(crate::evaluate::reason(&error)))?;
    let ending = match bytes.first() {
        Some(0xff) => "jpg",
        Some(b'R') => "webp",
        _ => "png",
    };
    Ok(Content::Picture(bytes, ending, usage_of(answer, expected)))
}

/// Writes a picture so that it is on disk before the ledger names it.
pub(super) fn store(path: &Path, bytes: &[u8]) -> Result<(), FileError> {
    atomic::write_file(path, bytes)?;
    let synced = std::fs::File::open(path).and_then(|file| file.sync_all());
    synced.map_err(|cause| FileError::cannot_write(path, cause))
}
