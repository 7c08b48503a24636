//! A stand-in for a model behind an endpoint: it knows the pictures of the built-in world, draws new
//! ones, and makes trouble by plan. It counts what it was asked and what it answered in full.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use mohs_vision::pixels::{self, DecodeOptions, Rgb8};
use mohs_vision::world::{Attribute, Class, Level, Recipe, WorldPlan, draw, recipes};
use serde_json::{Value, json};

/// What may go wrong on the way to an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Trouble {
    /// No answer until nobody waits for it.
    Hangs,
    /// Status 429 with a wait in seconds.
    TooMany(&'static str),
    /// Status 503.
    Down,
    /// Status 500 that repeats the key.
    TellsTheKey,
    /// Status 200 with half a JSON.
    HalfJson,
    /// Status 200 with a web page.
    WebPage,
    /// Status 200 with JSON of another kind.
    OtherJson,
    /// Status 200 with JSON of a model that only thought, and says how much.
    OnlyThinks,
    /// Status 200 with the address of a picture.
    Address,
    /// Status 200 with something in base 64 that is no picture.
    NoPicture,
    /// The connection ends before a word is said.
    CutBefore,
    /// The connection ends in the middle of the answer.
    CutInside,
    /// The answer comes byte by byte, too slowly.
    Slow,
}

/// Every kind of trouble that passes.
pub(crate) const ALL: [Trouble; 10] = [
    Trouble::Hangs,
    Trouble::TooMany("0.05"),
    Trouble::Down,
    Trouble::TellsTheKey,
    Trouble::HalfJson,
    Trouble::WebPage,
    Trouble::OtherJson,
    Trouble::CutBefore,
    Trouble::CutInside,
    Trouble::Slow,
];

/// What the stand-in does with a question.
#[derive(Debug, Clone, Default)]
pub(crate) struct Manners {
    /// Trouble before the answer, for each new question in turn; used again from the start.
    pub(crate) troubles: Vec<Vec<Trouble>>,
    /// How classes are named: `{class}` stands for the name.
    pub(crate) wording: Option<String>,
    /// Classes that it does not want to name, and words that it does not want to write or draw.
    pub(crate) refuses: Vec<&'static str>,
    /// Words in a question that make it babble, unless it is told that it did.
    pub(crate) babbles: Vec<&'static str>,
    /// What it repeats in answers and refusals, in several forms: a key that it was sent, say.
    pub(crate) repeats: Option<&'static str>,
    /// The only key it takes.
    pub(crate) key: Option<&'static str>,
    /// How long it thinks.
    pub(crate) thinks: Duration,
    /// Whether it charges once for all requests with the same idempotency key.
    pub(crate) honours_keys: bool,
}

/// What the stand-in saw.
#[derive(Debug, Clone, Default)]
pub(crate) struct Seen {
    /// Requests in all.
    pub(crate) n_requests: usize,
    /// How often each question was answered in full, by the name it came with.
    pub(crate) answered: BTreeMap<String, usize>,
    /// How often each question was charged.
    pub(crate) charged: BTreeMap<String, usize>,
    /// How often each question was asked.
    asked: BTreeMap<String, usize>,
    /// Questions in the order they first came.
    order: Vec<String>,
    /// The most requests that were under way at once.
    pub(crate) most_at_once: usize,
    at_once: usize,
}

impl Seen {
    /// How many questions were answered, and how often the one most often answered.
    pub(crate) fn paid(&self) -> (usize, usize) {
        (self.answered.len(), self.answered.values().copied().max().unwrap_or(0))
    }
}

pub(crate) struct StandIn {
    pub(crate) url: String,
    seen: Arc<Mutex<Seen>>,
}

impl StandIn {
    /// Starts a server that knows these pictures.
    pub(crate) fn start(known: &[(Rgb8, Class)], manners: Manners) -> StandIn {
        let listener = TcpListener::bind("127.0.0.1:0").expect("because a port is free");
        let port = listener.local_addr().expect("because it is bound").port();
        let known: BTreeMap<Vec<u8>, &'static str> =
            known.iter().map(|(pixels, class)| (pixels.bytes().to_vec(), class.name())).collect();
        let seen = Arc::new(Mutex::new(Seen::default()));
        let (known, manners) = (Arc::new(known), Arc::new(manners));
        let shared = Arc::clone(&seen);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (known, manners) = (Arc::clone(&known), Arc::clone(&manners));
                let seen = Arc::clone(&shared);
                std::thread::spawn(move || serve(stream, &known, &manners, &seen));
            }
        });
        StandIn { url: format!("http://127.0.0.1:{port}/v1"), seen }
    }

    pub(crate) fn seen(&self) -> Seen {
        self.seen.lock().expect("because nobody panics with it").clone()
    }
}

/// Pictures of the world with what they show, and nothing varied.
pub(crate) fn world(n: usize) -> Vec<(Rgb8, Class)> {
    let plan = WorldPlan::new(5, 48, n);
    recipes(&plan).iter().map(|recipe| (draw(recipe).pixels, recipe.class)).collect()
}

fn serve(
    mut stream: TcpStream,
    known: &BTreeMap<Vec<u8>, &'static str>,
    manners: &Manners,
    seen: &Mutex<Seen>,
) {
    let Some((path, headers, body)) = request(&mut stream) else { return };
    let name = headers.get("idempotency-key").cloned().unwrap_or_default();
    let trouble = {
        let mut seen = seen.lock().expect("because nobody panics with it");
        seen.n_requests += 1;
        seen.at_once += 1;
        seen.most_at_once = seen.most_at_once.max(seen.at_once);
        if !seen.order.contains(&name) {
            seen.order.push(name.clone());
        }
        let question = seen.order.iter().position(|other| *other == name).unwrap_or(0);
        let attempt = seen.asked.entry(name.clone()).or_insert(0);
        *attempt += 1;
        let plan = match manners.troubles.len() {
            0 => None,
            n => manners.troubles.get(question % n),
        };
        plan.and_then(|plan| plan.get(*attempt - 1)).copied()
    };
    std::thread::sleep(manners.thinks);
    // Before the answer: whoever reads it may ask the next question at once.
    seen.lock().expect("because nobody panics with it").at_once -= 1;
    let key = headers.get("authorization").cloned().unwrap_or_default();
    match (trouble, manners.key) {
        (Some(trouble), _) => make_trouble(&mut stream, trouble, &key),
        (None, Some(expected)) if key != format!("Bearer {expected}") => {
            let error = json!({ "error": { "message": format!("wrong key: {key}") } });
            answer(&mut stream, "401 Unauthorized", "", &error.to_string());
        }
        (None, _) => {
            let said = match path.as_str() {
                "/v1/chat/completions" => chat(&body, known, manners),
                "/v1/images/generations" => drawn(&body, manners),
                _ => None,
            };
            let said = match manners.repeats {
                Some(words) => said.map(|said| repeating(said, words)),
                None => said,
            };
            match said {
                Some(said) if said["refused"].is_string() => {
                    let error = json!({ "error": {
                        "message": said["refused"],
                        "code": "content_policy_violation",
                    } });
                    answer(&mut stream, "400 Bad Request", "", &error.to_string());
                }
                Some(said) => {
                    // Counted first: whoever reads the answer may look at once.
                    let mut seen = seen.lock().expect("because nobody panics with it");
                    *seen.answered.entry(name.clone()).or_insert(0) += 1;
                    let n_charged = seen.charged.entry(name).or_insert(0);
                    *n_charged += usize::from(*n_charged == 0 || !manners.honours_keys);
                    drop(seen);
                    answer(&mut stream, "200 OK", "", &said.to_string());
                }
                None => answer(&mut stream, "404 Not Found", "", "{\"error\": \"nothing here\"}"),
            }
        }
    }
}

fn make_trouble(stream: &mut TcpStream, trouble: Trouble, key: &str) {
    const LONG: Duration = Duration::from_millis(2_500);
    let json = "{\"choices\": [{\"message\": {\"content\": \"bicycle\"}}]}";
    let long = json.len() + 2_000;
    match trouble {
        Trouble::Hangs => std::thread::sleep(LONG),
        Trouble::TooMany(wait) => {
            let header = format!("Retry-After: {wait}\r\n");
            answer(
                stream,
                "429 Too Many Requests",
                &header,
                "{\"error\": {\"message\": \"slow\"}}",
            );
        }
        Trouble::Down => answer(stream, "503 Service Unavailable", "", "down"),
        Trouble::TellsTheKey => {
            let error = json!({ "error": { "message": format!("failed for {key}") } });
            answer(stream, "500 Internal Server Error", "", &error.to_string());
        }
        Trouble::HalfJson => answer(stream, "200 OK", "", &json[..json.len() / 2]),
        Trouble::WebPage => {
            let page = format!("<html>Welcome, {key}</html>");
            answer(stream, "200 OK", "Content-Type: text/html\r\n", &page);
        }
        Trouble::OtherJson => answer(stream, "200 OK", "", "{\"object\": \"list\"}"),
        Trouble::OnlyThinks => {
            let usage = json!({ "prompt_tokens": 300, "completion_tokens": 4_000 });
            let choice = json!({ "message": { "content": null }, "finish_reason": "length" });
            let json = json!({ "choices": [choice], "usage": usage });
            answer(stream, "200 OK", "", &json.to_string());
        }
        Trouble::Address => {
            let json = "{\"data\": [{\"url\": \"https://example.org/1.png\"}]}";
            answer(stream, "200 OK", "", json);
        }
        Trouble::NoPicture => {
            let bytes = STANDARD.encode("not a picture");
            let json = json!({ "data": [{ "b64_json": bytes }] });
            answer(stream, "200 OK", "", &json.to_string());
        }
        Trouble::CutBefore => {}
        Trouble::CutInside => {
            let _ = write!(stream, "HTTP/1.1 200 OK\r\nContent-Length: {long}\r\n\r\n{json}");
        }
        Trouble::Slow => {
            let _ = write!(stream, "HTTP/1.1 200 OK\r\nContent-Length: {long}\r\n\r\n");
            for _ in 0..9 {
                let _ = stream.write_all(b" ").and_then(|()| stream.flush());
                std::thread::sleep(LONG / 9);
            }
        }
    }
}

fn answer(stream: &mut TcpStream, status: &str, headers: &str, body: &str) {
    let kind =
        if headers.contains("Content-Type") { "" } else { "Content-Type: application/json\r\n" };
    let text = format!(
        "HTTP/1.1 {status}\r\n{headers}{kind}Content-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    );
    // Whoever hung up does not want it.
    let _ = stream.write_all(text.as_bytes()).and_then(|()| stream.flush());
}

/// Path, headers by lower-case name, body.
fn request(stream: &mut TcpStream) -> Option<(String, BTreeMap<String, String>, Value)> {
    let mut bytes = Vec::new();
    let mut chunk = [0; 65_536];
    let end = loop {
        let n = stream.read(&mut chunk).ok().filter(|n| 0 < *n)?;
        bytes.extend_from_slice(&chunk[..n]);
        if let Some(at) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            break at + 4;
        }
    };
    let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
    let mut lines = head.lines();
    let path = lines.next()?.split(' ').nth(1)?.to_owned();
    let headers: BTreeMap<String, String> = lines
        .filter_map(|line| line.split_once(':'))
        .map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned()))
        .collect();
    let length: usize = headers.get("content-length")?.parse().ok()?;
    while bytes.len() < end + length {
        let n = stream.read(&mut chunk).ok().filter(|n| 0 < *n)?;
        bytes.extend_from_slice(&chunk[..n]);
    }
    Some((path, headers, serde_json::from_slice(&bytes[end..]).ok()?))
}

fn chat(body: &Value, known: &BTreeMap<Vec<u8>, &'static str>, manners: &Manners) -> Option<Value> {
    let content = &body["messages"].as_array()?.last()?["content"];
    let usage = json!({ "prompt_tokens": 300, "completion_tokens": 4 });
    let text = match content.as_str() {
        Some(text) if manners.refuses.iter().any(|word| text.contains(word)) => {
            let message = json!({ "content": null, "refusal": "I would rather not write that." });
            return Some(json!({ "choices": [{ "message": message }], "usage": usage }));
        }
        Some(text)
            if manners.babbles.iter().any(|word| text.contains(word))
                && !text.contains("could not be read") =>
        {
            "Gladly! {\"easy\": [\"here it is".to_owned()
        }
        Some(text) => written(text).unwrap_or_else(|| format!("You said: {text}")),
        None => {
            let url = content[1]["image_url"]["url"].as_str()?;
            let file = STANDARD.decode(url.strip_prefix("data:image/png;base64,")?).ok()?;
            let options = DecodeOptions::default();
            let picture = pixels::decode(Path::new("asked.png"), &file, &options).ok()?;
            let class = known.get(picture.bytes()).copied().unwrap_or("nothing I know");
            if manners.refuses.contains(&class) {
                let message = json!({ "content": null, "refusal": "I would rather not say." });
                return Some(json!({ "choices": [{ "message": message }], "usage": usage }));
            }
            let wording = manners.wording.as_deref().unwrap_or("{class}");
            wording.replace("{class}", class)
        }
    };
    Some(json!({ "choices": [{ "message": { "content": text } }], "usage": usage }))
}

/// An answer that says something else, too: in a refusal, between the lines of what it wrote, or in
/// two parts that make it whole.
fn repeating(mut said: Value, words: &str) -> Value {
    if let Some(refused) = said["refused"].as_str() {
        said["refused"] = json!(format!("{refused} {words}"));
        return said;
    }
    let Some(message) = said.pointer_mut("/choices/0/message") else { return said };
    if let Some(refusal) = message["refusal"].as_str() {
        message["refusal"] = json!(format!("{refusal} {words}"));
    } else if let Some(text) = message["content"].as_str().map(ToOwned::to_owned) {
        message["content"] = if text.contains("A photo") {
            // As JSON may write it.
            let escaped = words.replace('-', "\\u002d");
            json!(text.replace("A photo", &format!("A photo, {escaped}, {words}")))
        } else if text.starts_with(['{', '`']) {
            json!(text)
        } else {
            let (one, two) = words.split_at(words.len() / 2);
            let basic = STANDARD.encode(format!("Basic {words}"));
            json!([{ "text": format!("{text} {basic} {one}") }, { "text": format!("{two}?") }])
        };
    }
    said
}

/// What a writer of ladders answers: attributes, levels and prompts of the built-in world.
fn written(question: &str) -> Option<String> {
    if question.contains("\"attributes\":") {
        let n: usize = question.split(' ').nth(1)?.parse().ok()?;
        let one = |a: &Attribute| json!({ "name": a.name(), "about": format!("its {a}") });
        let list: Vec<Value> = Attribute::ALL.iter().take(n).map(one).collect();
        return Some(json!({ "attributes": list }).to_string());
    }
    let attribute = Attribute::ALL.iter().find(|a| question.contains(a.name()))?.name();
    let steps = |level: &str| (1..=3).map(|n| format!("{level} {attribute} {n}")).collect();
    if question.contains("\"medium\":") {
        let levels = ["easy", "medium", "hard"].map(|level| {
            let values: Vec<String> = steps(level);
            (level.to_owned(), values)
        });
        let fenced = json!(BTreeMap::from(levels));
        return Some(format!("```json\n{fenced}\n```"));
    }
    let class = question.split_once("every picture is: ")?.1.split_once('.')?.0;
    let lines = question.lines().filter(|line| line.contains(". (") && line.contains(attribute));
    let prompt = |line: &str| {
        let value = line.split_once(") ").map_or("", |(_, value)| value);
        vec![format!("A photo of a {class}: {value}.")]
    };
    let prompts: Vec<Vec<String>> = lines.map(prompt).collect();
    question.contains("\"prompts\":").then(|| json!({ "prompts": prompts }).to_string())
}

/// A picture of the world, as a prompt asks for it.
fn drawn(body: &Value, manners: &Manners) -> Option<Value> {
    let prompt = body["prompt"].as_str()?;
    if manners.refuses.iter().any(|word| prompt.contains(word)) {
        // Said in words of an error, as image endpoints do.
        return Some(json!({ "refused": "I would rather not draw that." }));
    }
    let class = *Class::ALL.iter().find(|class| prompt.contains(class.name()))?;
    let attribute = Attribute::ALL.iter().copied().find(|a| prompt.contains(a.name()));
    let level = Level::ALL.iter().copied().find(|level| prompt.contains(level.name()));
    let asked = body["seed"].as_u64().unwrap_or(7);
    let seed = prompt.bytes().fold(asked, |sum, byte| sum.wrapping_mul(31) ^ u64::from(byte));
    let mut plan = WorldPlan::new(seed, 48, 1);
    plan.classes = vec![class];
    plan.attributes = attribute.into_iter().collect();
    plan.levels = level.into_iter().collect();
    let recipe: Recipe = recipes(&plan).into_iter().next()?;
    let png = draw(&recipe).pixels.to_png();
    Some(json!({ "data": [{ "b64_json": STANDARD.encode(png) }] }))
}
