//! A model that is asked over the internet: where it is, what it may cost, and how it is asked.
//!
//! The key itself is never in a file: the file names the environment variable that holds it.
//! Nothing is asked here; `mohs-vision` does that.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Parameter;

/// An endpoint that speaks the OpenAI-compatible language.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EndpointEntry {
    /// The address that paths such as `/chat/completions` are appended to.
    pub url: String,
    /// What the endpoint calls the model.
    pub model: String,
    /// The environment variable that holds the key; none for endpoints without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key_env: Option<String>,
    /// The address of a proxy that requests go through.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proxy: Option<String>,
    /// How many requests are under way at once. At least 1.
    #[serde(default = "default_parallel")]
    pub parallel: usize,
    /// After how many seconds a request counts as lost.
    #[serde(default = "default_timeout_s")]
    pub timeout_s: f64,
    /// How often a question is asked before it counts as failed. At least 1.
    #[serde(default = "default_tries")]
    pub tries: u32,
    /// Seconds before the second try; each further wait is twice as long.
    #[serde(default = "default_wait_s")]
    pub wait_s: f64,
    /// The longest wait between tries in seconds, unless the endpoint asks for more.
    #[serde(default = "default_longest_wait_s")]
    pub longest_wait_s: f64,
    /// At most so many requests per minute.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requests_per_minute: Option<f64>,
    /// At most so many tokens per minute.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens_per_minute: Option<f64>,
    /// What a million tokens cost that are sent.
    #[serde(default)]
    pub price_input: f64,
    /// What a million tokens cost that come back.
    #[serde(default)]
    pub price_output: f64,
    /// What a drawn picture costs.
    #[serde(default)]
    pub price_picture: f64,
    /// What all answers together may cost, in the unit of the prices.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_cap: Option<f64>,
    /// How many tokens a picture is thought to be until the first answer says so.
    #[serde(default = "default_tokens_per_picture")]
    pub tokens_per_picture: u64,
    /// Further parameters of every request, as the endpoint calls them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parameters: Option<BTreeMap<String, Parameter>>,
}

/// What a model is asked about a picture.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChatEntry {
    /// The question; `{classes}`, `{numbered}` or `{lettered}` stands for the list of classes.
    #[serde(default = "default_prompt")]
    pub prompt: String,
    /// What is said before the question.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub system: Option<String>,
    /// Pictures with a longer side are shrunk to this, in pixels.
    #[serde(default = "default_max_side")]
    pub max_side: u32,
    /// How closely the endpoint looks, in its own word, e.g. `low`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
}

impl Default for ChatEntry {
    fn default() -> Self {
        Self { prompt: default_prompt(), system: None, max_side: default_max_side(), detail: None }
    }
}

impl EndpointEntry {
    /// Starts an entry with defaults.
    pub fn new(url: &str, model: &str) -> Self {
        Self {
            url: url.to_owned(),
            model: model.to_owned(),
            key_env: None,
            proxy: None,
            parallel: default_parallel(),
            timeout_s: default_timeout_s(),
            tries: default_tries(),
            wait_s: default_wait_s(),
            longest_wait_s: default_longest_wait_s(),
            requests_per_minute: None,
            tokens_per_minute: None,
            price_input: 0.0,
            price_output: 0.0,
            price_picture: 0.0,
            cost_cap: None,
            tokens_per_picture: default_tokens_per_picture(),
            parameters: None,
        }
    }

    /// Returns whether no price is given.
    pub fn is_free(&self) -> bool {
        self.price_input <= 0.0 && self.price_output <= 0.0 && self.price_picture <= 0.0
    }

    /// Finds what cannot be meant: the key, what it should be, what it is.
    pub fn check(&self) -> Result<(), (&'static str, String, String)> {
        let bad = |key, expected: &str, found: String| Err((key, expected.to_owned(), found));
        if !["http://", "https://"].iter().any(|start| self.url.starts_with(start)) {
            let expected = "an address that starts with https:// or http://";
            return bad("url", expected, self.url.clone());
        }
        if self.url.contains('@') {
            return bad("url", "an address without a name or a password", "one with @".to_owned());
        }
        if self.model.is_empty() {
            return bad("model", "what the endpoint calls the model", String::new());
        }
        if let Some(name) = &self.key_env {
            let is_name = !name.is_empty()
                && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
                && !name.starts_with(|c: char| c.is_ascii_digit());
            if !is_name {
                // Somebody may have put the key itself there: it is not repeated.
                let found = "something that is no name of a variable".to_owned();
                return bad("key_env", "the name of an environment variable", found);
            }
        }
        if !(1..=MAX_PARALLEL).contains(&self.parallel) {
            let expected = format!("from 1 to {MAX_PARALLEL}");
            return bad("parallel", &expected, self.parallel.to_string());
        }
        if !(1..=MAX_TRIES).contains(&self.tries) {
            return bad("tries", &format!("from 1 to {MAX_TRIES}"), self.tries.to_string());
        }
        let positive = [
            ("timeout_s", Some(self.timeout_s)),
            ("wait_s", Some(self.wait_s)),
            ("longest_wait_s", Some(self.longest_wait_s)),
            ("requests_per_minute", self.requests_per_minute),
            ("tokens_per_minute", self.tokens_per_minute),
        ];
        for (key, number) in positive {
            if let Some(number) = number
                && !(0.0 < number && number <= MAX_NUMBER)
            {
                return bad(key, "a number above 0", number.to_string());
            }
        }
        let prices = [
            ("price_input", Some(self.price_input)),
            ("price_output", Some(self.price_output)),
            ("price_picture", Some(self.price_picture)),
            ("cost_cap", self.cost_cap),
        ];
        for (key, price) in prices {
            if let Some(price) = price
                && !(0.0..=MAX_NUMBER).contains(&price)
            {
                return bad(key, "a number that is not below 0", price.to_string());
            }
        }
        if self.cost_cap.is_some() && self.is_free() {
            let expected = "left out where no price is given: nothing would ever reach it";
            return bad("cost_cap", expected, self.cost_cap.unwrap_or_default().to_string());
        }
        for (key, value) in self.parameters.iter().flatten() {
            if ["model", "messages", "prompt", "stream", "n"].contains(&key.as_str()) {
                return bad("parameters", "other than what mohs says itself", key.clone());
            }
            if let Parameter::Number(number) = value
                && !number.is_finite()
            {
                return bad("parameters", "finite numbers", number.to_string());
            }
        }
        Ok(())
    }
}

impl ChatEntry {
    /// What the list of classes may be called in a prompt.
    pub const LISTS: [&'static str; 3] = ["{classes}", "{numbered}", "{lettered}"];

    pub(super) fn check(&self) -> Result<(), (&'static str, String, String)> {
        if !Self::LISTS.iter().any(|list| self.prompt.contains(list)) {
            let expected = format!("a question with one of {}", Self::LISTS.join(", "));
            return Err(("prompt", expected, self.prompt.clone()));
        }
        if !(MIN_SIDE..=MAX_SIDE).contains(&self.max_side) {
            let expected = format!("from {MIN_SIDE} to {MAX_SIDE} pixels");
            return Err(("max_side", expected, self.max_side.to_string()));
        }
        Ok(())
    }
}

const MAX_PARALLEL: usize = 256;
const MAX_TRIES: u32 = 100;
/// Larger waits, rates and prices are a mistake in typing.
const MAX_NUMBER: f64 = 1e12;
const MIN_SIDE: u32 = 8;
const MAX_SIDE: u32 = 8192;

/// Few enough for the smallest accounts.
fn default_parallel() -> usize {
    4
}

/// Models that think answer after half a minute; twice that is lost.
fn default_timeout_s() -> f64 {
    60.0
}

/// With waits of 1, 2, 4, 8 and 16 seconds a question outlives half a minute of trouble.
fn default_tries() -> u32 {
    6
}

fn default_wait_s() -> f64 {
    1.0
}

fn default_longest_wait_s() -> f64 {
    60.0
}

/// What common models count for a picture of 512 × 512 or a little more.
fn default_tokens_per_picture() -> u64 {
    800
}

fn default_prompt() -> String {
    "What does the picture show? Choose one of these classes:\n{numbered}\nAnswer with the name of \
     the class and nothing else."
        .to_owned()
}

/// Larger pictures cost more tokens and are shrunk by most endpoints anyway.
fn default_max_side() -> u32 {
    512
}

#[cfg(test)]
mod tests {
    use super::*;

    fn complaint(change: impl Fn(&mut EndpointEntry)) -> String {
        let mut entry = EndpointEntry::new("https://localhost/v1", "eye");
        change(&mut entry);
        let (key, expected, found) = entry.check().expect_err("because it was changed");
        format!("{key}: {expected}: {found}")
    }

    #[test]
    fn the_defaults_are_sound() {
        assert_eq!(EndpointEntry::new("http://localhost:8080/v1", "eye").check(), Ok(()));
        assert_eq!(ChatEntry::default().check(), Ok(()));
    }

    #[test]
    fn a_key_where_a_name_should_be_is_not_repeated() {
        let text = complaint(|entry| entry.key_env = Some("sk-very-secret".to_owned()));
        assert!(text.contains("environment variable") && !text.contains("secret"), "{text}");
        let text = complaint(|entry| entry.url = "https://me:secret@localhost".to_owned());
        assert!(!text.contains("secret"), "{text}");
    }

    #[test]
    fn a_cap_without_prices_is_refused() {
        let text = complaint(|entry| entry.cost_cap = Some(5.0));
        assert!(text.starts_with("cost_cap: left out where no price is given"), "{text}");
    }

    #[test]
    fn numbers_that_cannot_be_meant_are_refused() {
        assert!(complaint(|entry| entry.parallel = 0).starts_with("parallel: from 1"));
        assert!(complaint(|entry| entry.timeout_s = f64::NAN).starts_with("timeout_s"));
        assert!(complaint(|entry| entry.price_output = -1.0).starts_with("price_output"));
        assert!(complaint(|entry| entry.url = "localhost".to_owned()).starts_with("url"));
        let named = |entry: &mut EndpointEntry| {
            entry.parameters = Some([("stream".to_owned(), Parameter::Switch(true))].into());
        };
        assert!(complaint(named).ends_with("stream"));
    }

    #[test]
    fn a_question_without_the_classes_is_refused() {
        let chat = ChatEntry { prompt: "What is it?".to_owned(), ..ChatEntry::default() };
        assert!(chat.check().is_err());
    }
}
