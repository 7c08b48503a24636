//! How a study is prepared and hosted: pictures, screen, page and safety (`[prepare]`, `[screen]`,
//! `[page]`, `[safety]` in `study.toml`).

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

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
    /// Where participants are sent at the end; `{code}` becomes their completion code.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub completion_url: Option<String>,
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
            lease_minutes: 30,
            open_to_all: true,
        }
    }
}

/// What may endanger participants.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SafetyOptions {
    /// Why more than three flashes in a second are allowed all the same, e.g. an ethics approval.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flash_override: Option<String>,
}
