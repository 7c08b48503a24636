//! What page and server say to each other, as data.
//!
//! `page/src/wire.ts` is generated from this file. Names have units; unknown fields are refused.
//! Nothing here says which answer is right: no label of a stimulus goes over the wire, except where
//! the question itself names it (`pairs`).
//!
//! # A session
//!
//! 1. `POST /api/studies/{study}/welcome` with a [`JoinRequest`] → [`Welcome`]: what the page needs
//!    to ask for consent. Nothing is stored. Whoever does not agree leaves no trace.
//! 2. `POST /api/studies/{study}/join` with the same, from people who agreed or come back → [`Joined`].
//!    A person who comes back (resume token, or the recruiter's id on another device) gets the same
//!    session with the next *epoch*. The id alone opens a session that is open; for one that has ended
//!    the answer is `session_over`, unless the token proves that it was this browser's. Each epoch has its own token and its own chain of events, so what
//!    an older page still holds can always be delivered. The page tells of consent by its first event,
//!    and then walks through gate, calibration and instructions.
//! 3. `POST /api/sessions/{session}/block` with a [`BlockRequest`] → [`BlockAnswer`]: the next trials
//!    of this participant, leased to them. Asking again returns what is left of the same block.
//! 4. `POST /api/sessions/{session}/events` with an [`EventBatch`] → [`Ack`], as often as needed and
//!    in any order. Answered only when everything is on disk. The same event twice is the same event.
//! 5. `POST /api/sessions/{session}/end` with an [`EndRequest`] → [`EndAnswer`], with the completion
//!    code once everything is stored.
//! 6. `POST /api/sessions/{session}/withdraw` with a [`WithdrawRequest`] → [`Withdrawn`] deletes the
//!    participant's data.
//!
//! Requests about a session carry `Authorization: Bearer TOKEN`, the token of their epoch.
//! Errors are `{ "error": { "code", "message" } }`; the message is for the participant.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Who comes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(deny_unknown_fields)]
pub struct JoinRequest {
    /// The recruiter that sent the participant: `prolific`, `mturk` or `link`; none for people who
    /// just opened the page.
    #[serde(default)]
    pub recruiter: Option<String>,
    /// The participant's id at the recruiter. Stored only as a keyed hash.
    #[serde(default)]
    pub recruiter_id: Option<String>,
    /// The token of an earlier epoch, kept by this browser.
    #[serde(default)]
    pub resume: Option<String>,
    /// A signed link for looking at the study; nothing is counted.
    #[serde(default)]
    pub preview: Option<String>,
    /// Kind of browser, e.g. `chromium 156`; the full user agent is never sent on.
    pub browser: String,
    /// Kind of system, e.g. `linux`.
    pub system: String,
}

/// What is said to somebody who comes, before they agreed to anything.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Welcome {
    /// Whether they have a session here, and only come back.
    pub is_known: bool,
    /// Everything the page needs to know of the study.
    pub study: StudyInfo,
}

/// A session, new or resumed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Joined {
    /// The session.
    pub session: String,
    /// Which opening of the session this is, from 1.
    pub epoch: u32,
    /// Bearer token of this epoch; also what resumes the session.
    pub token: String,
    /// Where the session stands.
    pub state: SessionState,
    /// Pages the participant has been through in earlier epochs, e.g. `consent`.
    pub pages_done: Vec<String>,
    /// The last calibration of an earlier epoch, as the page sent it.
    pub calibration: Option<Calibration>,
    /// Trials answered or voided so far, practice apart.
    pub n_done: u32,
    /// Trials in all, practice apart.
    pub n_total: u32,
    /// How the session ended; none while it is open.
    pub ending: Option<Ending>,
    /// Completion code, where the session has ended; none for those who did not answer one trial, and
    /// in previews.
    pub code: Option<String>,
    /// Where to go at the end, where everything was done.
    pub completion_url: Option<String>,
    /// Everything the page needs to know of the study.
    pub study: StudyInfo,
}

/// Where a session stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum SessionState {
    /// Open.
    Open,
    /// Everything is stored and the code was given.
    Ended,
    /// The participant withdrew; nothing is left.
    Withdrawn,
}

/// How a session ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Ending {
    /// Everything was done.
    Complete,
    /// The participant stopped before the end, perhaps before the beginning; what they did is kept.
    Early,
    /// There was not one trial for the participant: what they had not seen in other studies was full.
    NothingLeft,
}

/// What the page needs to know of a study.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct StudyInfo {
    /// The study's name in addresses.
    pub study: String,
    /// Title of the page.
    pub title: String,
    /// `flash`, `beep`, `pairs` or `rate`.
    pub task: String,
    /// `en` or `de`.
    pub language: String,
    /// The answers, in alphabetical order, for the list in the instructions. Empty for `pairs`.
    pub labels: Vec<String>,
    /// Who asks, and how to reach them.
    pub contact: String,
    /// How long it takes.
    pub minutes: u32,
    /// What participants get; may be empty.
    pub pay: String,
    /// Age from which people may take part.
    pub min_age: u32,
    /// Paragraphs of the study's own consent text; empty means the page's own.
    pub consent: Vec<String>,
    /// Paragraphs shown at the end.
    pub debrief: Vec<String>,
    /// Trials between breaks.
    pub trials_between_breaks: u32,
    /// Whether participants measure screen and distance.
    pub calibrate: bool,
    /// Whether the task fills the screen.
    pub fullscreen: bool,
    /// Size of a stimulus in degrees of visual angle, where measured.
    pub size_deg: f64,
    /// Size in CSS pixels, where not measured.
    pub size_px: u32,
    /// How far an exposure may be off, as a share.
    pub tolerance: f64,
    /// Flash: exposures of the study. Others: empty.
    pub exposures_ms: Vec<f64>,
    /// Flash: cross before the stimulus.
    pub fixation_ms: f64,
    /// Flash: mask after it.
    pub mask_ms: f64,
    /// Empty screen between an answer and the next trial.
    pub gap_ms: f64,
    /// Beep: how the beeps are run.
    pub beep: Option<BeepInfo>,
    /// Pairs: whether "about the same" is an answer.
    pub ties: bool,
    /// Whether this is a preview: nothing is counted.
    pub preview: bool,
}

/// How beeps are run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct BeepInfo {
    /// In time within this much of the beep.
    pub tolerance_ms: f64,
    /// Answers are taken until this long after the beep.
    pub window_ms: f64,
    /// `sound`, `visual` or `choice`.
    pub cue: String,
    /// Timed trials after which the gate looks; 0 never.
    pub gate_trials: u32,
    /// Share of answers in time below which it speaks up.
    pub gate_share: f64,
    /// `warn` or `stop`.
    pub gate: String,
}

/// Asks for the next trials.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(deny_unknown_fields)]
pub struct BlockRequest {
    /// What the screen can do, measured just now.
    pub screen: Screen,
}

/// A screen, as the page measured it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(deny_unknown_fields)]
pub struct Screen {
    /// Time between two frames: the median over at least a second.
    pub period_ms: f64,
    /// Median absolute deviation of the same.
    pub period_mad_ms: f64,
    /// Share of frames that took more than one and a half periods.
    pub share_late: f64,
    /// Width of the window in CSS pixels.
    pub width_px: u32,
    /// Height of the window in CSS pixels.
    pub height_px: u32,
    /// Device pixels in a CSS pixel.
    pub pixel_ratio: f64,
    /// Whether the page fills the screen.
    pub is_fullscreen: bool,
    /// Whether clocks are fine-grained (`crossOriginIsolated`).
    pub is_isolated: bool,
}

/// How large things are on a screen, and how far away it is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(deny_unknown_fields)]
pub struct Calibration {
    /// CSS pixels in a millimetre, from the card.
    pub px_per_mm: f64,
    /// Distance of the eye, from the blind spot; none when skipped.
    pub distance_mm: Option<f64>,
    /// Spread of the distance as a share (robust coefficient of variation).
    pub distance_spread: Option<f64>,
    /// Each sweep: where the dot went or came back, in CSS pixels from the square.
    pub sweeps_px: Vec<f64>,
    /// Device pixels in a CSS pixel at the time.
    pub pixel_ratio: f64,
    /// Side of a stimulus that follows, in CSS pixels.
    pub stimulus_px: f64,
}

/// The next trials, or none when the participant has done all.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct BlockAnswer {
    /// The block; none when nothing is left for this participant.
    pub block: Option<Block>,
    /// Trials answered or voided so far, practice apart.
    pub n_done: u32,
    /// Trials in all, practice apart.
    pub n_total: u32,
}

/// Trials in the order they are shown, up to the next break.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Block {
    /// Position in the session, from 0.
    pub block: u32,
    /// Whether these trials are practice.
    pub is_practice: bool,
    /// Beep: when the beep sounds after onset; none in untimed practice.
    pub beep_ms: Option<f64>,
    /// The trials that are left of it.
    pub trials: Vec<PlannedTrial>,
    /// Keyed hash of all the above by the server.
    pub signature: String,
}

/// One trial to show.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct PlannedTrial {
    /// The trial.
    pub trial: String,
    /// Position in the session, from 0.
    pub idx: u32,
    /// SHA-256 of the picture; it lies at `/media/HASH.png`. Pairs: the left one.
    pub image: String,
    /// Flash: SHA-256 of the mask.
    pub mask: Option<String>,
    /// Pairs: SHA-256 of the right picture.
    pub right: Option<String>,
    /// Flash: exposure that is meant.
    pub exposure_ms: Option<f64>,
    /// Flash: the same in frames of this screen.
    pub frames: Option<u32>,
    /// The answers in the order of this trial. Pairs: `left`, `right` and, where ties are allowed,
    /// `tie`.
    pub options: Vec<String>,
    /// Pairs: "harder to recognise as …"; none when the two have different labels.
    pub recognise_as: Option<String>,
}

/// Events of one epoch.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(deny_unknown_fields)]
pub struct EventBatch {
    /// In any order, new or sent before.
    pub events: Vec<Event>,
}

/// One event, sealed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(deny_unknown_fields)]
pub struct Event {
    /// Position in the epoch, from 1, without gaps.
    pub seq: u32,
    /// An [`EventBody`] as JSON text, kept as it is.
    pub body: String,
    /// Hexadecimal SHA-256 of the previous event's hash followed by `body`. Before the first stands
    /// the SHA-256 of `SESSION/EPOCH`.
    pub hash: String,
}

/// What happened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(deny_unknown_fields, tag = "kind", rename_all = "snake_case")]
#[expect(clippy::large_enum_variant, reason = "most events are trials, the largest")]
pub enum EventBody {
    /// The participant finished a page (`consent`, `gate`, `calibration`, `sound`, `instructions`,
    /// `break`, `gate_warning`, `debrief`), with what they chose there.
    Page {
        /// Page clock, ms since the page's time origin; so are all times below.
        at_ms: f64,
        /// Which page.
        page: String,
        /// Choices made there, e.g. `agreed` = `yes`.
        choices: BTreeMap<String, String>,
    },
    /// The screen was measured.
    Calibration {
        /// When.
        at_ms: f64,
        /// What came out.
        calibration: Calibration,
    },
    /// A trial is about to be shown; stored in the browser before the first frame.
    TrialStart {
        /// When.
        at_ms: f64,
        /// Which.
        trial: String,
    },
    /// A trial was shown and answered, or ran out.
    Trial {
        /// When.
        at_ms: f64,
        /// What happened.
        report: TrialReport,
    },
    /// A trial was begun and cannot be finished: the page was reloaded or left.
    Abandoned {
        /// When.
        at_ms: f64,
        /// Which.
        trial: String,
        /// Why, e.g. `reload`.
        reason: String,
    },
    /// Focus, visibility, fullscreen or zoom changed.
    Context {
        /// When.
        at_ms: f64,
        /// What, e.g. `hidden`, `visible`, `blur`, `focus`, `left_fullscreen`, `zoom`.
        change: String,
    },
}

impl EventBody {
    /// Reads a body. Those that come with every trial, as the page writes them, are read in one go;
    /// serde keeps a copy of everything else until it has seen the kind.
    pub fn parse(text: &str) -> serde_json::Result<Self> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Start {
            #[serde(rename = "kind")]
            _kind: serde::de::IgnoredAny,
            at_ms: f64,
            trial: String,
        }
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Report {
            #[serde(rename = "kind")]
            _kind: serde::de::IgnoredAny,
            at_ms: f64,
            report: TrialReport,
        }
        if text.starts_with(r#"{"kind":"trial","#) {
            let Report { at_ms, report, .. } = serde_json::from_str(text)?;
            return Ok(Self::Trial { at_ms, report });
        }
        if text.starts_with(r#"{"kind":"trial_start","#) {
            let Start { at_ms, trial, .. } = serde_json::from_str(text)?;
            return Ok(Self::TrialStart { at_ms, trial });
        }
        serde_json::from_str(text)
    }

    /// Returns the trial it speaks of.
    pub fn trial(&self) -> Option<&str> {
        match self {
            Self::TrialStart { trial, .. } | Self::Abandoned { trial, .. } => Some(trial),
            Self::Trial { report, .. } => Some(&report.trial),
            Self::Page { .. } | Self::Calibration { .. } | Self::Context { .. } => None,
        }
    }
}

/// One trial as the page saw it. Times are raw page clocks; nothing is corrected.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(deny_unknown_fields)]
pub struct TrialReport {
    /// Which trial.
    pub trial: String,
    /// One of the trial's options; none when time ran out.
    pub response: Option<String>,
    /// Stamp of the first frame with the stimulus.
    pub onset_ms: f64,
    /// Stamp of the first frame without it; none when it stayed until the answer.
    pub offset_ms: Option<f64>,
    /// Stamp of the input event.
    pub response_ms: Option<f64>,
    /// When the input was handled.
    pub handled_ms: Option<f64>,
    /// `key`, `mouse`, `touch` or `pen`.
    pub input: Option<String>,
    /// Flash: what the page makes of it (`ok`, `long`, `short`, `dropped`, `unknown`). The server
    /// checks it against the stamps.
    pub verdict: Option<String>,
    /// Flash: frames that were planned.
    pub frames_planned: Option<u32>,
    /// Flash: frames on screen, from the stamps.
    pub frames_shown: Option<u32>,
    /// Period of the screen that was counted with.
    pub period_ms: f64,
    /// Flash: stamps of the frames around each change (cross, image, mask, end): two before, two
    /// after.
    pub stamps_ms: Vec<f64>,
    /// Longest time between two frames from cross to mask.
    pub longest_gap_ms: f64,
    /// Whether the page was visible and focused from start to end.
    pub was_visible: bool,
    /// Whether it filled the screen from start to end.
    pub was_fullscreen: bool,
    /// Device pixels in a CSS pixel.
    pub pixel_ratio: f64,
    /// Flash: what else the page noted. None from pages that were opened before there was any: they
    /// are judged by their stamps alone.
    #[serde(default)]
    pub flash: Option<FlashEvidence>,
    /// Beep: what happened to it.
    pub beep: Option<BeepReport>,
}

/// What a page noted while it showed a flash, for the server to judge by. Raw, like all times.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(deny_unknown_fields)]
pub struct FlashEvidence {
    /// Version of this list; 1.
    pub version: u32,
    /// Animation frames that found the image on, its own included.
    pub n_callbacks: u32,
    /// Shortest time between two frames, from the image to the frame after the change to the mask.
    pub shortest_gap_ms: f64,
    /// The longest.
    pub longest_gap_ms: f64,
    /// Even frames in a row just before the image; 0 where many before them were late.
    pub calm_frames: u32,
    /// Time from the last late frame to the image; none when no frame was late.
    pub since_late_ms: Option<f64>,
    /// How late the image, and then the mask, were drawn after their stamps, or one of the next
    /// frames began; counted from the least that was seen.
    pub lags_ms: Vec<f64>,
    /// When image and mask were presented, as the browser says; empty where it says nothing.
    pub presented_ms: Vec<Option<f64>>,
}

/// A beep, or the ring in its stead.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(deny_unknown_fields)]
pub struct BeepReport {
    /// `sound` or `visual`.
    pub cue: String,
    /// When it was meant, on the page's clock.
    pub planned_ms: f64,
    /// When it was heard or seen as far as the page can tell, on the page's clock.
    pub sounded_ms: f64,
    /// `AudioContext.baseLatency`, in ms.
    #[serde(rename = "base_latency_ms")]
    pub base_lag_ms: Option<f64>,
    /// `AudioContext.outputLatency`, in ms.
    #[serde(rename = "output_latency_ms")]
    pub output_lag_ms: Option<f64>,
    /// What the participant was told: `early`, `late` or `ok`.
    pub feedback: String,
}

/// What is safely stored.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Ack {
    /// Everything up to this event of the epoch is on disk.
    pub acked_through: u32,
    /// Events after that which are on disk too.
    pub also_stored: Vec<u32>,
    /// Whether the session was opened anew since: this page gets no more trials.
    pub is_elsewhere: bool,
}

/// Asks for the completion code.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(deny_unknown_fields)]
pub struct EndRequest {
    /// The last event of this epoch.
    pub last_seq: u32,
    /// Whether the participant stops before the end (their data are kept).
    pub is_early: bool,
}

/// The end, or what is missing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct EndAnswer {
    /// Whether everything is stored.
    pub is_complete: bool,
    /// Events of this epoch up to `last_seq` that are not stored.
    pub missing: Vec<u32>,
    /// Trials of the plan that are neither answered nor voided.
    pub n_trials_left: u32,
    /// How the session ended; none while it is open.
    pub ending: Option<Ending>,
    /// The completion code; none for people who did not answer one trial, and in previews.
    pub code: Option<String>,
    /// Where to go now, where everything was done.
    pub completion_url: Option<String>,
}

/// Withdraws from the study.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(deny_unknown_fields)]
pub struct WithdrawRequest {
    /// Must be true: everything of this participant in this study is deleted.
    pub delete_my_data: bool,
}

/// Nothing is left.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Withdrawn {
    /// Always true.
    pub is_deleted: bool,
}

/// What went wrong.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Failure {
    /// The error.
    pub error: FailureDetail,
}

/// A stable code, and words for the participant.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct FailureDetail {
    /// E.g. `session_unknown`.
    pub code: String,
    /// For the participant.
    pub message: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_reads_the_same_whichever_way() {
        let report = r#"{"trial":"a","response":"x","onset_ms":1.5,"offset_ms":null,
            "response_ms":2,"handled_ms":2.5,"input":"key","verdict":null,"frames_planned":null,
            "frames_shown":null,"period_ms":16.7,"stamps_ms":[1,2.25],"longest_gap_ms":17,
            "was_visible":true,"was_fullscreen":false,"pixel_ratio":1,"beep":null}"#;
        let good = [
            format!(r#"{{"kind":"trial","at_ms":3,"report":{report}}}"#),
            r#"{"kind":"trial_start","at_ms":0.1,"trial":"a"}"#.into(),
            r#"{"kind":"context","at_ms":0.1,"change":"blur"}"#.into(),
        ];
        for text in &good {
            let slowly: EventBody = serde_json::from_str(text).unwrap();
            assert_eq!(EventBody::parse(text).unwrap(), slowly);
        }
        let bad = [
            r#"{"kind":"trial_start","at_ms":0.1,"trial":"a","more":1}"#,
            r#"{"kind":"trial_start","kind":"trial","at_ms":0.1,"trial":"a"}"#,
            r#"{"kind":"trial_start","at_ms":"0.1","trial":"a"}"#,
            r#"{"kind":"trial","at_ms":0.1}"#,
            r#"{"kind":"trial_start","at_ms":0.1,"trial":"a"} "#.trim_end_matches("} "),
        ];
        for text in bad {
            assert!(EventBody::parse(text).is_err(), "{text}");
            assert!(serde_json::from_str::<EventBody>(text).is_err(), "{text}");
        }
    }
}
