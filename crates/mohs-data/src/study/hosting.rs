//! How a study is prepared and hosted: pictures, screen, page and safety (`[prepare]`, `[screen]`,
//! `[page]`, `[safety]` in `study.toml`).

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::{Problem, nearest};

/// How pictures become what is shown.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct PrepareOptions {
    /// What of a picture is shown.
    pub crop: Crop,
    /// Side of what is shown, in pixels.
    pub side_px: u32,
    /// How masks are made.
    pub masks: MaskForm,
    /// Where the random numbers of masks and noise come from.
    pub seed: u64,
    /// What is done to pictures; each stimulus is shown in every condition to some participants.
    /// Empty means as they are.
    #[serde(rename = "condition")]
    pub conditions: Vec<Degradation>,
}

/// What of a picture is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Crop {
    /// The square around the object's box: the shorter side extended, black where the picture ends.
    /// Pictures without a box are taken whole.
    Box,
    /// The whole picture, with black on both sides of its shorter one to make it square.
    Whole,
    /// The largest square in the middle.
    Centre,
}

/// How a mask is made from the picture it covers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MaskForm {
    /// Uniform noise of up to a full turn added to the phase, as the viewing-time paper says.
    Paper,
    /// The phase replaced by that of white noise, as its published code does.
    PublishedCode,
    /// No masks.
    None,
}

/// One thing done to pictures before people see them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Degradation {
    /// The condition's name in trials.
    pub name: String,
    /// What is done.
    pub kind: DegradationKind,
    /// How much: contrast kept (0 to 1), standard deviation of noise (0 to 1) or of blur (pixels).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub amount: Option<f64>,
}

/// What is done to a picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DegradationKind {
    /// Nothing.
    Colour,
    /// Grey.
    Gray,
    /// Grey with less contrast.
    Contrast,
    /// Grey at a contrast of 20 % with truncated Gaussian noise.
    Noise,
    /// Gaussian blur.
    Blur,
}

impl Default for PrepareOptions {
    fn default() -> Self {
        Self {
            crop: Crop::Box,
            side_px: 224,
            masks: MaskForm::Paper,
            seed: 1,
            conditions: Vec::new(),
        }
    }
}

/// What a participant's screen must be able to do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ScreenRules {
    /// Size of a stimulus in degrees of visual angle, where the screen is measured.
    pub size_deg: f64,
    /// Whether participants measure screen and distance (a bank card, the blind spot).
    pub calibrate: bool,
    /// Side of a stimulus in pixels of the page, where the screen is not measured.
    pub size_px: u32,
    /// How far, as a share, an exposure may be off what is meant.
    pub tolerance: f64,
    /// Whether the task fills the screen.
    pub fullscreen: bool,
    /// Browsers in which exposures up to 100 ms are shown; the others get longer ones only. Empty
    /// means all.
    pub short_exposures_in: Vec<String>,
}

impl Default for ScreenRules {
    fn default() -> Self {
        Self {
            size_deg: 8.0,
            calibrate: true,
            size_px: 400,
            tolerance: 0.1,
            fullscreen: true,
            short_exposures_in: vec!["chromium".into()],
        }
    }
}

/// The kinds of browsers that a page tells apart.
const BROWSERS: [&str; 4] = ["chromium", "firefox", "safari", "other"];

impl ScreenRules {
    /// Hands the first key that cannot be meant to `bad`, with what it should be and what was found.
    pub(super) fn check<E>(
        &self,
        bad: &impl Fn(&str, &str, String) -> Result<(), E>,
    ) -> Result<(), E> {
        if !(0.1..=60.0).contains(&self.size_deg) {
            return bad("screen.size_deg", "0.1 to 60 degrees", self.size_deg.to_string());
        }
        if !(16..=4_096).contains(&self.size_px) {
            let expected = "a side of 16 to 4096 pixels";
            return bad("screen.size_px", expected, self.size_px.to_string());
        }
        Ok(())
    }

    /// Returns what is wrong with the first browser that no page would tell of.
    pub(super) fn unknown_browser(&self) -> Option<Problem> {
        let is_unknown = |name: &&String| !BROWSERS.contains(&name.as_str());
        let name = self.short_exposures_in.iter().find(is_unknown)?;
        let lower = name.to_lowercase();
        // Browsers that are Chromium inside, and are told of as such.
        let is_chromium = ["chrome", "edge", "opera", "brave"].contains(&lower.as_str());
        let meant = if is_chromium { Some("chromium".into()) } else { nearest(&lower, BROWSERS) };
        Some(Problem::BadValue {
            expected: format!("a list of {}", BROWSERS.join(", ")),
            found: name.clone(),
            hint: Some(match meant {
                Some(meant) => format!("did you mean `{meant}`?"),
                None => "Chrome and Edge are `chromium`; an empty list means all browsers".into(),
            }),
        })
    }
}

/// What participants read, and where they go at the end.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct PageOptions {
    /// Title of the page; the study's name when not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Language of the page's own texts: `en` or `de`.
    pub language: String,
    /// Who asks, and how to reach them.
    pub contact: String,
    /// How long it takes, in minutes; worked out from the trials when not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub minutes: Option<u32>,
    /// What participants get.
    pub pay: String,
    /// Age from which people may take part.
    pub min_age: u32,
    /// A text file that participants read before they agree, relative to the study's folder; paragraphs are
    /// parted by empty lines. The page's own text is shown when not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub consent: Option<PathBuf>,
    /// A text file that participants read at the end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub debrief: Option<PathBuf>,
    /// Trials between breaks.
    pub trials_between_breaks: usize,
    /// Where participants who did everything are sent; `{code}` becomes their completion code.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub completion_url: Option<String>,
    /// The completion code of all who did everything, for recruiters that have one for a study. Everybody
    /// gets a code of their own when not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub completion_code: Option<String>,
    /// Minutes after which what was promised to a participant who does not answer goes to others.
    pub lease_minutes: u32,
    /// Whether people without an id of a recruiter may take part.
    pub open_to_all: bool,
}

impl Default for PageOptions {
    fn default() -> Self {
        Self {
            title: None,
            language: "en".into(),
            contact: String::new(),
            minutes: None,
            pay: String::new(),
            min_age: 18,
            consent: None,
            debrief: None,
            trials_between_breaks: 25,
            completion_url: None,
            completion_code: None,
            lease_minutes: 30,
            open_to_all: true,
        }
    }
}

/// The oldest that a participant may have to be.
const OLDEST: u32 = 120;

impl PageOptions {
    /// Hands the first key that cannot be meant to `bad`, with what it should be and what was found.
    pub(super) fn check<E>(
        &self,
        bad: &impl Fn(&str, &str, String) -> Result<(), E>,
    ) -> Result<(), E> {
        if OLDEST < self.min_age {
            return bad("page.min_age", "an age of 0 to 120 years", self.min_age.to_string());
        }
        if let Some(url) = self.completion_url.as_ref().filter(|url| !is_web_address(url)) {
            return bad("page.completion_url", "an address with http:// or https://", url.clone());
        }
        let has_other = |url: &&String| url.replace("{code}", "").contains(['{', '}']);
        if let Some(url) = self.completion_url.as_ref().filter(has_other) {
            let expected = "an address with no other placeholder than {code}";
            return bad("page.completion_url", expected, url.clone());
        }
        let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        if let Some(code) = &self.completion_code
            && (code.is_empty() || 60 < code.len() || !code.chars().all(is_plain))
        {
            let expected = "1 to 60 letters, digits, hyphens and underscores";
            return bad("page.completion_code", expected, format!("{code:?}"));
        }
        Ok(())
    }
}

/// Says whether a text is an address that browsers open: `http://` or `https://`, then a host.
pub fn is_web_address(text: &str) -> bool {
    let rest = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
    let host = rest.and_then(|rest| rest.split(['/', '?', '#']).next());
    let is_host = host.is_some_and(|host| {
        let (name, port) = match host.rsplit_once(':') {
            Some((name, port)) if !port.ends_with(']') => (name, Some(port)),
            _ => (host, None),
        };
        !name.is_empty() && port.is_none_or(|port| port.parse::<u16>().is_ok())
    });
    is_host && !text.contains(|c: char| c.is_whitespace() || c.is_control() || "\"<>\\".contains(c))
}

/// What may endanger participants.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SafetyOptions {
    /// Why more than three flashes in a second are allowed all the same, e.g. an ethics approval.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flash_override: Option<String>,
}

impl SafetyOptions {
    /// Hands a reason that says nothing to `bad`: it would approve in nobody's name.
    pub(super) fn check<E>(
        &self,
        bad: &impl Fn(&str, &str, String) -> Result<(), E>,
    ) -> Result<(), E> {
        let is_silent = |reason: &&String| !reason.chars().any(char::is_alphanumeric);
        if let Some(reason) = self.flash_override.as_ref().filter(is_silent) {
            let expected = "who approved it, in words";
            return bad("safety.flash_override", expected, format!("{reason:?}"));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_begins_with_http_and_names_a_host() {
        for good in [
            "https://app.prolific.com/submissions/complete?cc={code}",
            "http://127.0.0.1:8080",
            "http://[::1]:8080/",
            "https://lab.example.org#x",
        ] {
            assert!(is_web_address(good), "{good}");
        }
        for bad in [
            "",
            "lab.example.org",
            "ftp://x",
            "javascript:alert(1)",
            "https://",
            "https://:80",
            "http://x:http",
            "https://a b",
            "https://x/\"><script>",
            "http://x\n",
        ] {
            assert!(!is_web_address(bad), "{bad}");
        }
    }
}
