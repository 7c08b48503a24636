//! A report of a trial, checked: the one place where what a page says is believed or not.
//!
//! # Verdict
//!
//! ```text
//! shown = round((offset - onset) / period)      ok: shown = planned, and the time within tolerance
//! ```
//!
//! From a hundred frames on, one in a hundred may be off: ten seconds are not known to a frame.
//!
//! The page saw more frames than it sends, so where it says that something went wrong it is
//! believed. Where it says `ok`, the stamps must agree.

use mohs_data::{TimingVerdict, nearest};

use crate::store::trial::TrialRow;
use crate::wire::TrialReport;

/// A trial as it went.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// What the page said, as it said it.
    pub report: TrialReport,
    /// What the stamps say about the exposure; none for tasks without one.
    pub verdict: Option<TimingVerdict>,
    /// Frames on screen by the stamps.
    pub frames_shown: Option<u32>,
}

impl Outcome {
    /// Returns whether the trial counts: it was shown as planned.
    pub fn is_sound(&self) -> bool {
        self.verdict.is_none_or(|verdict| verdict == TimingVerdict::Ok)
    }
}

/// Why a report is refused.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ReportError {
    /// The answer was not on offer.
    #[error("trial `{trial}` has no answer `{found}`{}", did_you_mean(nearest))]
    UnknownResponse {
        /// The trial.
        trial: String,
        /// The answer given.
        found: String,
        /// The nearest on offer.
        nearest: Option<String>,
    },
    /// A number no screen or clock gives.
    #[error("`{field}` of trial `{trial}` should be {expected}, found {found}")]
    BadNumber {
        /// The trial.
        trial: String,
        /// Which number.
        field: &'static str,
        /// What it should be.
        expected: &'static str,
        /// What it is.
        found: f64,
    },
    /// A word that is not in the list.
    #[error("`{field}` of trial `{trial}` should be one of {expected}, found `{found}`")]
    BadWord {
        /// The trial.
        trial: String,
        /// Which word.
        field: &'static str,
        /// The list.
        expected: &'static str,
        /// What was found.
        found: String,
    },
}

fn did_you_mean(nearest: &Option<String>) -> String {
    nearest.as_ref().map_or(String::new(), |nearest| format!("; did you mean `{nearest}`?"))
}

impl TrialReport {
    /// Checks a report against what was planned.
    ///
    /// `tolerance` is the share an exposure may be off. Times are raw clocks and stay as they are.
    pub fn into_outcome(self, planned: &TrialRow, tolerance: f64) -> Result<Outcome, ReportError> {
        if let Some(response) = &self.response
            && !planned.options.contains(response)
        {
            let options = planned.options.iter().map(String::as_str);
            return Err(ReportError::UnknownResponse {
                trial: planned.trial.clone(),
                found: response.clone(),
                nearest: nearest(response, options),
            });
        }
        self.check_numbers(planned)?;
        self.check_words(planned)?;
        let frames_shown = frames_shown(&self);
        let verdict = planned.frames.map(|frames| {
            let ours = verdict(&self, planned, frames, tolerance);
            let page = self.verdict.as_deref().and_then(parse_verdict);
            match (ours, page) {
                (TimingVerdict::Ok, Some(page)) => page,
                (ours, _) => ours,
            }
        });
        Ok(Outcome { report: self, verdict, frames_shown })
    }

    fn check_numbers(&self, planned: &TrialRow) -> Result<(), ReportError> {
        let bad = |field, expected, found| ReportError::BadNumber {
            trial: planned.trial.clone(),
            field,
            expected,
            found,
        };
        /// A page that is open for a month is not.
        const LONGEST_MS: f64 = 3e9;
        let beep = self.beep.as_ref();
        let clocks = [
            ("onset_ms", Some(self.onset_ms)),
            ("offset_ms", self.offset_ms),
            ("response_ms", self.response_ms),
            ("handled_ms", self.handled_ms),
            ("beep.planned_ms", beep.map(|beep| beep.planned_ms)),
            ("beep.sounded_ms", beep.map(|beep| beep.sounded_ms)),
            ("beep.base_latency_ms", beep.and_then(|beep| beep.base_lag_ms)),
            ("beep.output_latency_ms", beep.and_then(|beep| beep.output_lag_ms)),
            ("longest_gap_ms", Some(self.longest_gap_ms)),
        ];
        let clocks = clocks.into_iter().filter_map(|(field, value)| Some((field, value?)));
        let stamps = self.stamps_ms.iter().map(|stamp| ("stamps_ms", *stamp));
        for (field, value) in clocks.chain(stamps) {
            if !(-LONGEST_MS..=LONGEST_MS).contains(&value) {
                return Err(bad(field, "a page clock in milliseconds", value));
            }
        }
        if !(1.0..=1_000.0).contains(&self.period_ms) {
            return Err(bad("period_ms", "1 to 1000", self.period_ms));
        }
        if !(0.05..=50.0).contains(&self.pixel_ratio) {
            return Err(bad("pixel_ratio", "0.05 to 50", self.pixel_ratio));
        }
        if 64 < self.stamps_ms.len() {
            return Err(bad("stamps_ms", "64 stamps at most", 65.0));
        }
        let ordered = |later: Option<f64>| later.is_none_or(|later| self.onset_ms <= later);
        if !ordered(self.offset_ms) || !ordered(self.handled_ms) {
            return Err(bad("onset_ms", "before what follows", self.onset_ms));
        }
        Ok(())
    }

    fn check_words(&self, planned: &TrialRow) -> Result<(), ReportError> {
        let beep = self.beep.as_ref();
        let words: [(&'static str, Option<&str>, &'static str); 4] = [
            ("input", self.input.as_deref(), "key, mouse, touch, pen"),
            ("verdict", self.verdict.as_deref(), "ok, long, short, dropped, unknown"),
            ("beep.cue", beep.map(|beep| &*beep.cue), "sound, visual"),
            ("beep.feedback", beep.map(|beep| &*beep.feedback), "early, late, ok"),
        ];
        for (field, found, expected) in words {
            if let Some(found) = found
                && !expected.split(", ").any(|word| word == found)
            {
                let (trial, found) = (planned.trial.clone(), found.to_owned());
                return Err(ReportError::BadWord { trial, field, expected, found });
            }
        }
        Ok(())
    }
}

fn parse_verdict(word: &str) -> Option<TimingVerdict> {
    TimingVerdict::WORDS.iter().find(|(known, _)| *known == word).map(|(_, verdict)| *verdict)
}

/// Returns frames on screen; none without an offset.
fn frames_shown(report: &TrialReport) -> Option<u32> {
    let frames = ((report.offset_ms? - report.onset_ms) / report.period_ms).round();
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped")]
    Some(frames.clamp(0.0, f64::from(u32::MAX)) as u32)
}

fn verdict(report: &TrialReport, planned: &TrialRow, frames: u32, tolerance: f64) -> TimingVerdict {
    let (Some(offset), Some(shown)) = (report.offset_ms, frames_shown(report)) else {
        return TimingVerdict::Unknown;
    };
    if report.frames_planned != Some(frames) {
        return TimingVerdict::Unknown;
    }
    if shown == 0 || !report.was_visible {
        return TimingVerdict::Dropped;
    }
    let slack = frames / 100;
    if frames + slack < shown {
        return TimingVerdict::Long;
    }
    if shown < frames - slack {
        return TimingVerdict::Short;
    }
    // The right number of frames of another screen than planned for is another exposure.
    let shown_ms = offset - report.onset_ms;
    let half_frame = report.period_ms / 2.0;
    match planned.exposure_ms {
        Some(meant) if meant * (1.0 + tolerance) + half_frame < shown_ms => TimingVerdict::Long,
        Some(meant) if shown_ms < meant * (1.0 - tolerance) - half_frame => TimingVerdict::Short,
        _ => TimingVerdict::Ok,
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::store::trial::TrialState;

    pub(crate) fn planned() -> TrialRow {
        TrialRow {
            trial: "t".into(),
            session: "s".into(),
            block: 0,
            idx: 0,
            is_practice: false,
            is_counted: true,
            cell: Some(1),
            stimulus: "mug-1".into(),
            condition: None,
            label: "mug".into(),
            source: "0".into(),
            image: "1".into(),
            mask: None,
            right_stimulus: None,
            right_source: None,
            right_image: None,
            recognise_as: None,
            exposure_ms: Some(50.0),
            frames: Some(3),
            beep_ms: None,
            options: vec!["mug".into(), "cup".into()],
            state: TrialState::Planned,
            epoch: None,
            reason: None,
        }
    }

    pub(crate) fn report() -> TrialReport {
        TrialReport {
            trial: "t".into(),
            response: Some("cup".into()),
            onset_ms: 1_000.0,
            offset_ms: Some(1_050.0),
            response_ms: Some(1_800.0),
            handled_ms: Some(1_801.0),
            input: Some("key".into()),
            verdict: Some("ok".into()),
            frames_planned: Some(3),
            frames_shown: Some(3),
            period_ms: 50.0 / 3.0,
            stamps_ms: vec![],
            longest_gap_ms: 17.0,
            was_visible: true,
            was_fullscreen: true,
            pixel_ratio: 1.0,
            beep: None,
        }
    }

    fn check(change: impl Fn(&mut TrialReport), expected: TimingVerdict) {
        let mut report = report();
        change(&mut report);
        let outcome = report.into_outcome(&planned(), 0.1).unwrap();
        assert_eq!(outcome.verdict, Some(expected));
        assert_eq!(outcome.is_sound(), expected == TimingVerdict::Ok);
    }

    #[test]
    fn the_stamps_decide_and_the_page_may_only_make_it_worse() {
        check(|_| (), TimingVerdict::Ok);
        check(|report| report.offset_ms = Some(1_067.0), TimingVerdict::Long);
        check(|report| report.offset_ms = Some(1_033.0), TimingVerdict::Short);
        check(|report| report.offset_ms = Some(1_000.0), TimingVerdict::Dropped);
        check(|report| report.offset_ms = None, TimingVerdict::Unknown);
        check(|report| report.was_visible = false, TimingVerdict::Dropped);
        check(|report| report.frames_planned = Some(2), TimingVerdict::Unknown);
        check(|report| report.verdict = Some("long".into()), TimingVerdict::Long);
        check(|report| report.verdict = None, TimingVerdict::Ok);
    }

    #[test]
    fn ten_seconds_may_be_off_by_a_hundredth() {
        let long = |frames: f64| {
            let mut report = report();
            report.frames_planned = Some(600);
            report.offset_ms = Some(report.onset_ms + frames * report.period_ms);
            let planned = TrialRow { exposure_ms: Some(10_000.0), frames: Some(600), ..planned() };
            report.into_outcome(&planned, 0.1).unwrap().verdict
        };
        assert_eq!(long(594.0), Some(TimingVerdict::Ok));
        assert_eq!(long(593.0), Some(TimingVerdict::Short));
        assert_eq!(long(606.0), Some(TimingVerdict::Ok));
        assert_eq!(long(607.0), Some(TimingVerdict::Long));
    }

    #[test]
    fn three_frames_of_a_slower_screen_are_too_long() {
        let slower = |report: &mut TrialReport| {
            report.period_ms = 40.0;
            report.offset_ms = Some(1_120.0);
        };
        check(slower, TimingVerdict::Long);
    }

    #[test]
    fn an_answer_that_was_not_on_offer_is_refused() {
        let report = TrialReport { response: Some("mugg".into()), ..report() };
        let error = report.into_outcome(&planned(), 0.1).unwrap_err().to_string();
        assert_eq!(error, "trial `t` has no answer `mugg`; did you mean `mug`?");
    }

    #[test]
    fn numbers_that_no_clock_gives_are_refused() {
        let changes: [fn(&mut TrialReport); 5] = [
            |report| report.onset_ms = f64::NAN,
            |report| report.response_ms = Some(f64::INFINITY),
            |report| report.period_ms = 0.0,
            |report| report.offset_ms = Some(1.0),
            |report| report.stamps_ms = vec![0.0; 65],
        ];
        for change in changes {
            let mut report = report();
            change(&mut report);
            assert!(report.into_outcome(&planned(), 0.1).is_err());
        }
    }

    #[test]
    fn words_that_are_not_in_the_list_are_refused() {
        let report = TrialReport { input: Some("'; drop table trial".into()), ..report() };
        assert!(report.into_outcome(&planned(), 0.1).is_err());
    }
}
