//! A key: something that is sent and never shown.

use std::fmt;

/// A key of an endpoint. Its text is in no message: printed, it is dots.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Wraps a key; blanks around it are cut off, because files and shells add them.
    pub fn new(key: &str) -> Secret {
        Secret(key.trim().to_owned())
    }

    /// Whether there is nothing in it.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The value of the header that says who asks.
    pub(super) fn header(&self) -> String {
        format!("Bearer {}", self.0)
    }

    /// Returns a text that somebody else wrote without the key in it: some endpoints repeat it.
    pub(super) fn hidden_in(&self, text: &str) -> String {
        if self.0.is_empty() {
            return text.to_owned();
        }
        text.replace(&self.0, "…")
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_not_shown() {
        let secret = Secret::new(" sk-123\n");
        assert_eq!(format!("{secret:?}"), "Secret(…)");
        assert_eq!(secret.header(), "Bearer sk-123");
        assert_eq!(secret.hidden_in("wrong key sk-123!"), "wrong key …!");
        assert_eq!(Secret::new("").hidden_in("abc"), "abc");
    }
}
