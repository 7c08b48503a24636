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
//! Stamps say when a page was asked for a frame, and not when the frame was on the screen. So a flash
//! is `ok` only if its surroundings were sound as well ([`FlashEvidence`]): no frame was missed on the
//! way, frames were even before, the page drew early in its frames; and
//!
//! ```text
//! (presented(mask) - presented(image)) / period = planned       where the browser says so
//! no late frame in the 1.5 s before the image                   where it says nothing
//! ```
//!
//! The page saw more frames than it sends, so where it says that something went wrong it is
//! believed. Where it says `ok`, all of the above must agree. `page/src/verdict.ts` has the same rules.

use mohs_data::{TimingVerdict, nearest};

use crate::store::trial::TrialRow;
use crate::wire::{FlashEvidence, TrialReport};

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
        let noted = self.flash.iter().flat_map(|flash| {
            let gaps = [flash.shortest_gap_ms, flash.longest_gap_ms].map(Some);
            let noted = gaps.into_iter().chain([flash.since_late_ms]);
            let noted = noted.chain(flash.lags_ms.iter().copied().map(Some));
            noted.chain(flash.presented_ms.iter().copied()).flatten().map(|value| ("flash", value))
        });
        for (field, value) in clocks.chain(stamps).chain(noted) {
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
        let n_noted = |flash: &FlashEvidence| flash.lags_ms.len().max(flash.presented_ms.len());
        if self.flash.as_ref().is_some_and(|flash| 2 < n_noted(flash)) {
            return Err(bad("flash", "two times, of image and mask", 3.0));
        }
        if self.offset_ms.is_some_and(|offset| offset < self.onset_ms) {
            return Err(bad("onset_ms", "before what follows", self.onset_ms));
        }
        let answered = [("response_ms", self.response_ms), ("handled_ms", self.handled_ms)];
        for (field, found) in answered {
            if let Some(found) = found.filter(|ms| *ms < self.onset_ms - MOST_EARLY_MS) {
                return Err(bad(field, "an answer after the onset", found));
            }
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
        _ => report.flash.as_ref().map_or(TimingVerdict::Ok, |flash| {
            surroundings(report, flash, (frames, slack), offset)
        }),
    }
}

/// So much before the onset an answer may be stamped: somebody pressed while it was being drawn.
const MOST_EARLY_MS: f64 = 100.0;

/// Even frames in a row before an image that may be believed.
const CALM_FRAMES: u32 = 6;
/// A change that was drawn later than this after its stamp, in periods, may have missed its refresh.
/// Found with traces of Chromium under load.
const MOST_LAG_PERIODS: f64 = 0.4;
/// Time without a late frame before the image, where the browser does not say what it presented: what
/// starves a page now and then starves the compositor too, unseen.
const QUIET_MS: f64 = 1_500.0;
/// Presented this near to the plan, in periods, it is the plan: screens present at fixed times.
const NEAR_PERIODS: f64 = 0.1;

/// Judges a flash whose stamps are right by what the page noted besides.
fn surroundings(
    report: &TrialReport,
    flash: &FlashEvidence,
    (frames, slack): (u32, u32),
    offset_ms: f64,
) -> TimingVerdict {
    let period = report.period_ms;
    if flash.n_callbacks < frames - slack {
        return TimingVerdict::Dropped;
    }
    let is_even = 0.5 * period <= flash.shortest_gap_ms && flash.longest_gap_ms <= 1.5 * period;
    // Long exposures bear a late frame in their middle: the image stays on.
    if slack == 0 && !is_even {
        return TimingVerdict::Dropped;
    }
    let is_early = |lag: &f64| *lag <= MOST_LAG_PERIODS * period;
    if flash.calm_frames < CALM_FRAMES || !flash.lags_ms.iter().all(is_early) {
        return TimingVerdict::Unknown;
    }
    let (image, mask) = match flash.presented_ms[..] {
        [] if flash.since_late_ms.is_none_or(|since| QUIET_MS <= since) => {
            return TimingVerdict::Ok;
        }
        [Some(image), Some(mask)] if report.onset_ms <= image && offset_ms <= mask => (image, mask),
        _ => return TimingVerdict::Unknown,
    };
    let presented = (mask - image) / period;
    let (planned, slack_frames) = (f64::from(frames), f64::from(slack));
    if presented.round() <= 0.0 {
        return TimingVerdict::Dropped;
    }
    if planned + slack_frames < presented.round() {
        return TimingVerdict::Long;
    }
    if presented.round() < planned - slack_frames {
        return TimingVerdict::Short;
    }
    // Not at fixed times, so refreshes are counted: both came as many of them after their stamps.
    let slot = |after_ms: f64| (after_ms / period).floor();
    let is_near = (presented - planned).abs() <= NEAR_PERIODS;
    let is_same_slot = (slot(image - report.onset_ms) - slot(mask - offset_ms)).abs() < 0.5;
    if 0 < slack || is_near || is_same_slot { TimingVerdict::Ok } else { TimingVerdict::Unknown }
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
            flash: None,
            beep: None,
        }
    }

    pub(crate) fn evidence() -> FlashEvidence {
        FlashEvidence {
            version: 1,
            n_callbacks: 3,
            shortest_gap_ms: 16.6,
            longest_gap_ms: 16.8,
            calm_frames: 30,
            since_late_ms: None,
            lags_ms: vec![1.0, 1.0],
            presented_ms: vec![Some(1_010.0), Some(1_060.0)],
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
    fn a_flash_is_believed_only_if_what_is_around_it_was_sound() {
        use TimingVerdict::{Dropped, Long, Ok, Short, Unknown};
        type Spoil = fn(&mut FlashEvidence);
        let rows: [(Spoil, TimingVerdict); 16] = [
            (|_| (), Ok),
            (|flash| flash.n_callbacks = 2, Dropped),
            (|flash| flash.longest_gap_ms = 33.0, Dropped),
            (|flash| flash.shortest_gap_ms = 2.0, Dropped),
            (|flash| flash.calm_frames = 5, Unknown),
            (|flash| flash.lags_ms = vec![1.0, 7.0], Unknown),
            // Presented a refresh later, or earlier, than the page could see.
            (|flash| flash.presented_ms[1] = Some(1_076.7), Long),
            (|flash| flash.presented_ms[0] = Some(1_026.7), Short),
            (|flash| flash.presented_ms[0] = Some(1_059.0), Dropped),
            // Two refreshes after both stamps, on a screen with fixed times: a little here or there.
            (|flash| flash.presented_ms = vec![Some(1_033.4), Some(1_083.2)], Ok),
            // A third of a frame more, and across the border of a refresh.
            (|flash| flash.presented_ms = vec![Some(1_011.6), Some(1_067.1)], Unknown),
            (|flash| flash.presented_ms[1] = None, Unknown),
            (|flash| flash.presented_ms[0] = Some(999.0), Unknown),
            // Without the browser's word, a late frame shortly before is a doubt.
            (|flash| flash.presented_ms.clear(), Ok),
            (
                |flash| {
                    flash.presented_ms.clear();
                    flash.since_late_ms = Some(1_400.0);
                },
                Unknown,
            ),
            (|flash| flash.since_late_ms = Some(200.0), Ok),
        ];
        for (idx, (change, expected)) in rows.into_iter().enumerate() {
            let mut flash = evidence();
            change(&mut flash);
            let report = TrialReport { flash: Some(flash), ..report() };
            let outcome = report.into_outcome(&planned(), 0.1).unwrap();
            assert_eq!(outcome.verdict, Some(expected), "row {idx}");
        }
    }

    #[test]
    fn a_late_frame_in_the_middle_of_ten_seconds_does_no_harm() {
        let mut report = report();
        report.frames_planned = Some(600);
        report.offset_ms = Some(report.onset_ms + 600.0 * report.period_ms);
        let presented_ms = vec![Some(1_010.0), Some(11_020.0)];
        let (longest_gap_ms, n_callbacks) = (60.0, 597);
        report.flash =
            Some(FlashEvidence { presented_ms, longest_gap_ms, n_callbacks, ..evidence() });
        let planned = TrialRow { exposure_ms: Some(10_000.0), frames: Some(600), ..planned() };
        let outcome = report.into_outcome(&planned, 0.1).unwrap();
        assert_eq!(outcome.verdict, Some(TimingVerdict::Ok));
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
    fn a_key_that_was_handled_while_the_picture_was_being_drawn_is_an_answer() {
        let pressed = |report: &mut TrialReport| {
            (report.response_ms, report.handled_ms) = (Some(997.0), Some(998.0));
        };
        check(pressed, TimingVerdict::Ok);
    }

    #[test]
    fn numbers_that_no_clock_gives_are_refused() {
        let changes: [fn(&mut TrialReport); 9] = [
            |report| report.response_ms = Some(-5.0),
            |report| report.handled_ms = Some(899.0),
            |report| report.onset_ms = f64::NAN,
            |report| report.response_ms = Some(f64::INFINITY),
            |report| report.period_ms = 0.0,
            |report| report.offset_ms = Some(1.0),
            |report| report.stamps_ms = vec![0.0; 65],
            |report| {
                report.flash = Some(FlashEvidence { since_late_ms: Some(f64::NAN), ..evidence() });
            },
            |report| {
                report.flash = Some(FlashEvidence { lags_ms: vec![1.0; 3], ..evidence() });
            },
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
