//! A key: something that is sent and never shown.
//!
//! Some endpoints repeat the key, in errors and in answers; a model may repeat it, too. It is taken
//! out of what they say in whatever form it can be read there: as it is, with the escapes of JSON,
//! and in base 64, also as a part of something longer (`Basic` is that). Keys of a few letters are
//! placeholders of local servers, such as `none`: they are taken out only where they are a word.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use serde_json::Value;

/// What stands where a key was: no word, because words may be classes.
const HIDDEN: &str = "[…]";
/// Shorter keys occur by chance.
const SHORTEST: usize = 8;
/// Where pictures come in an answer: megabytes in which a short key occurs by chance.
const PICTURE: &str = "b64_json";

/// A key of an endpoint. Its text is in no message: printed, it is dots.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret {
    text: String,
    /// What it looks like inside a text in base 64, by where it begins there.
    encoded: Vec<String>,
}

impl Secret {
    /// Wraps a key; blanks around it are cut off, because files and shells add them.
    pub fn new(key: &str) -> Secret {
        let text = key.trim().to_owned();
        let mut encoded = Vec::new();
        if SHORTEST <= text.len() {
            encoded.extend((0..3).flat_map(|shift| encoded_behind(shift, text.as_bytes())));
            encoded.sort_unstable();
            encoded.dedup();
        }
        Secret { text, encoded }
    }

    /// Whether there is nothing in it.
    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// Says what keeps it from being sent in a header, if anything does; the key is not in it.
    pub fn fault(&self) -> Option<String> {
        let is_bad = |letter: &char| !matches!(letter, ' '..='~');
        let (idx, letter) = self.text.chars().enumerate().find(|(_, letter)| is_bad(letter))?;
        let what = match letter {
            '\n' | '\r' => "a line break",
            letter if letter.is_control() => "a control character",
            _ => "a letter beyond ASCII",
        };
        Some(format!("letter {} of it is {what}", idx + 1))
    }

    /// The value of the header that says who asks.
    pub(super) fn header(&self) -> String {
        format!("Bearer {}", self.text)
    }

    /// Returns a text that somebody else wrote without the key in it.
    pub(super) fn hidden_in(&self, text: &str) -> String {
        let mut clean = String::with_capacity(text.len());
        let mut at = 0;
        while let Some(first) = text[at..].chars().next() {
            match self.length_at(text, at) {
                Some(n) => {
                    clean.push_str(HIDDEN);
                    at += n;
                }
                None => {
                    clean.push(first);
                    at += first.len_utf8();
                }
            }
        }
        for encoded in &self.encoded {
            clean = clean.replace(encoded.as_str(), HIDDEN);
        }
        clean
    }

    /// Takes the key out of everything that an answer says.
    pub(super) fn hide_in(&self, answer: &mut Value) {
        match answer {
            Value::String(text) => *text = self.hidden_in(text),
            Value::Array(values) => values.iter_mut().for_each(|value| self.hide_in(value)),
            Value::Object(fields) => {
                let mut clean = serde_json::Map::new();
                for (name, mut value) in std::mem::take(fields) {
                    if name != PICTURE || SHORTEST <= self.text.len() {
                        self.hide_in(&mut value);
                    }
                    clean.insert(self.hidden_in(&name), value);
                }
                *fields = clean;
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    /// Returns how long the key is that begins here, if one does.
    fn length_at(&self, text: &str, at: usize) -> Option<usize> {
        let mut rest = &text[at..];
        let mut is_spelled = false;
        // Any number of backslashes, because what is quoted may be quoted again.
        for letter in self.text.chars().filter(|letter| *letter != '\\') {
            let bare = behind_escapes(rest);
            let escaped = if bare.len() < rest.len() { after_code(bare, letter) } else { None };
            rest = escaped.or_else(|| bare.strip_prefix(letter))?;
            is_spelled = true;
        }
        let is_inside = |next: Option<char>| next.is_some_and(char::is_alphanumeric);
        let is_whole =
            || !is_inside(text[..at].chars().next_back()) && !is_inside(rest.chars().next());
        let is_key = is_spelled && (SHORTEST <= self.text.len() || is_whole());
        is_key.then(|| text.len() - at - rest.len())
    }
}

/// Returns what follows the backslashes at the beginning, which may be written as numbers, too.
fn behind_escapes(text: &str) -> &str {
    let bare = text.trim_start_matches('\\');
    match after_code(bare, '\\') {
        Some(more) if bare.len() < text.len() => behind_escapes(more),
        _ => bare,
    }
}

/// Returns what follows a letter that is written as a number, as in `u0041`.
fn after_code(text: &str, letter: char) -> Option<&str> {
    let digits = text.strip_prefix('u')?.get(..4)?;
    let code = u32::from_str_radix(digits, 16).ok()?;
    (code == u32::from(letter)).then(|| &text[5..])
}

/// A key in base 64 behind so many other bytes, without the letters that others have a part in.
fn encoded_behind(shift: usize, key: &[u8]) -> [String; 2] {
    let bytes = [&[0; 2][..shift], key].concat();
    let own = (shift * 8).div_ceil(6)..bytes.len() * 8 / 6;
    let encoded = [STANDARD_NO_PAD.encode(&bytes), URL_SAFE_NO_PAD.encode(&bytes)];
    encoded.map(|text| text[own.clone()].to_owned())
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

#[cfg(test)]
mod tests {
    use base64::engine::general_purpose::STANDARD;
    use serde_json::json;

    use super::*;

    const KEY: &str = "sk-a/b+c\"d\\e_123456";

    #[test]
    fn a_key_is_not_shown() {
        let secret = Secret::new(" sk-123\n");
        assert_eq!(format!("{secret:?}"), "Secret(…)");
        assert_eq!(secret.header(), "Bearer sk-123");
        assert_eq!(secret.hidden_in("wrong key sk-123!"), "wrong key […]!");
        assert_eq!(Secret::new("").hidden_in("abc"), "abc");
        assert_eq!(Secret::new("\\\\").hidden_in("a\\\\b"), "a\\\\b");
    }

    #[test]
    fn a_key_is_found_with_escapes_and_escapes_of_escapes() {
        let secret = Secret::new(KEY);
        let once = json!(KEY).to_string();
        let twice = json!(once).to_string();
        let slashes = once.replace('/', "\\/");
        let coded: String = KEY.chars().map(|c| format!("\\u{:04x}", u32::from(c))).collect();
        for text in [KEY, &once, &twice, &slashes, &coded] {
            let found = secret.hidden_in(&format!("ünï {text} and {text}."));
            assert_eq!(found.matches(HIDDEN).count(), 2, "{found}");
            assert!(!found.contains("123456") && !found.contains("0031"), "{found}");
        }
        assert_eq!(secret.hidden_in("sk-a/b+c \\u00"), "sk-a/b+c \\u00");
    }

    #[test]
    fn a_key_is_found_in_base_64_wherever_it_begins() {
        let secret = Secret::new(KEY);
        for before in ["", "a", "ab", "user:", "Bearer "] {
            let plain = format!("{before}{KEY}");
            for text in [STANDARD.encode(&plain), URL_SAFE_NO_PAD.encode(&plain)] {
                let found = secret.hidden_in(&format!("Basic {text}, it says"));
                assert!(found.contains(HIDDEN), "{before}: {found}");
                assert!(found.len() < "Basic , it says".len() + HIDDEN.len() + 16, "{found}");
            }
        }
    }

    #[test]
    fn a_placeholder_is_hidden_only_where_it_is_a_word() {
        let secret = Secret::new("cat");
        assert_eq!(secret.hidden_in("Bearer cat: catapult"), "Bearer […]: catapult");
        let mut answer = json!({ "data": [{ "b64_json": "a/cat/b" }], "said": "cat" });
        secret.hide_in(&mut answer);
        assert_eq!(answer, json!({ "data": [{ "b64_json": "a/cat/b" }], "said": "[…]" }));
    }

    #[test]
    fn a_key_is_taken_out_of_names_and_values_at_any_depth() {
        let mut answer = json!({ "a": [{ KEY: [1, format!("Bearer {KEY}")] }], "b64_json": KEY });
        Secret::new(KEY).hide_in(&mut answer);
        let expected = json!({ "a": [{ "[…]": [1, "Bearer […]"] }], "b64_json": "[…]" });
        assert_eq!(answer, expected);
    }

    #[test]
    fn a_key_that_cannot_be_sent_is_recognised_and_not_repeated() {
        let fault = |key: &str| Secret::new(key).fault();
        assert_eq!(fault("sk-123 "), None);
        assert_eq!(fault("sk\n-1").as_deref(), Some("letter 3 of it is a line break"));
        assert_eq!(fault("“sk”").as_deref(), Some("letter 1 of it is a letter beyond ASCII"));
        assert_eq!(fault("s\u{7}k").as_deref(), Some("letter 2 of it is a control character"));
    }
}
