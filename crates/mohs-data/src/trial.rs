//! A trial: one showing of a stimulus to a participant, and what came back.
//!
//! Times are raw: the clock of the participant's machine at onset, offset and response. Nobody
//! corrects them; [`Trial::rt`] and [`Trial::shown`] are derived on demand. The file formats of
//! the other nouns follow the pattern of this one: a schema, `from_row`, `cells`.

use serde::{Deserialize, Serialize};

use crate::format::table::{Cell, CellKind, Column, Record, Row, Schema};
use crate::study::Task;
use crate::{
    Extra, FileError, Frames, Label, Millis, ParticipantId, Problem, SessionId, StimulusId, TrialId,
};

/// One showing with its response.
#[derive(Debug, Clone, PartialEq)]
pub struct Trial {
    /// Unique within a file; made from the line when the file has none.
    pub id: TrialId,
    /// The sitting; the participant's only one when the file does not say.
    pub session: SessionId,
    /// The person.
    pub participant: ParticipantId,
    /// Position within the session, from 0, where known.
    pub idx: Option<u64>,
    /// A run of trials within the session.
    pub block: Option<String>,
    /// What the participant had to do.
    pub task: Task,
    /// What was shown.
    pub stimulus: StimulusId,
    /// The right answer, where the file says it.
    pub label: Option<Label>,
    /// Time the stimulus was meant to be on screen.
    pub exposure: Option<Millis>,
    /// Time after onset at which a beep asked for the answer.
    pub beep: Option<Millis>,
    /// What was done to the stimulus, e.g. a noise level.
    pub condition: Option<String>,
    /// The answer; `None` when time ran out.
    pub response: Option<Label>,
    /// The file's own word on whether the answer was right.
    pub marked_correct: Option<bool>,
    /// Clock when the stimulus appeared.
    pub onset: Option<Millis>,
    /// Clock when the stimulus left.
    pub offset: Option<Millis>,
    /// Clock when the answer came.
    pub responded: Option<Millis>,
    /// What the presentation log says about the exposure.
    pub timing: Option<TimingVerdict>,
    /// Columns `mohs` does not know.
    pub extra: Extra,
}

impl Trial {
    /// Returns whether the answer was right; no answer is a wrong answer.
    ///
    /// `None` when there is an answer but nothing says what the right one is: labels may still
    /// have to be joined from the stimuli.
    pub fn is_correct(&self) -> Option<bool> {
        match (&self.label, &self.response, self.marked_correct) {
            (Some(label), Some(response), _) => Some(label == response),
            (_, _, Some(marked)) => Some(marked),
            (_, None, None) => Some(false),
            (None, Some(_), None) => None,
        }
    }

    /// Returns the time from onset to answer.
    pub fn rt(&self) -> Option<Millis> {
        Some(self.responded? - self.onset?)
    }

    /// Returns the time the stimulus was really on screen.
    pub fn shown(&self) -> Option<Millis> {
        Some(self.offset? - self.onset?)
    }
}

/// What the presentation log says about how long a stimulus was on screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TimingVerdict {
    /// As many frames as planned.
    Ok,
    /// More frames than planned.
    Long,
    /// Fewer frames than planned.
    Short,
    /// Never on screen, or lost in between.
    Dropped,
    /// No log.
    Unknown,
}

impl TimingVerdict {
    /// The verdicts and their words in files.
    pub const WORDS: [(&'static str, Self); 5] = [
        ("ok", Self::Ok),
        ("long", Self::Long),
        ("short", Self::Short),
        ("dropped", Self::Dropped),
        ("unknown", Self::Unknown),
    ];

    /// Returns the word in files.
    pub fn as_str(self) -> &'static str {
        Self::WORDS[self as usize].0
    }
}

const TRIAL: usize = 0;
const SESSION: usize = 1;
const PARTICIPANT: usize = 2;
const IDX: usize = 3;
const BLOCK: usize = 4;
const TASK: usize = 5;
const STIMULUS: usize = 6;
const LABEL: usize = 7;
const EXPOSURE: usize = 8;
const BEEP: usize = 9;
const CONDITION: usize = 10;
const RESPONSE: usize = 11;
const CORRECT: usize = 12;
const ONSET: usize = 13;
const OFFSET: usize = 14;
const RESPONDED: usize = 15;
const TIMING: usize = 16;
const EXPOSURE_FRAMES: usize = 17;
const REFRESH: usize = 18;
const RT: usize = 19;
const SHOWN: usize = 20;

impl Record for Trial {
    const SCHEMA: &'static Schema = &Schema {
        noun: "trials",
        row_noun: "trial",
        version: 1,
        version_column: "trials_version",
        columns: &[
            Column::new("trial", CellKind::Text, &["trial_id"]),
            Column::new("session", CellKind::Text, &["session_id"]),
            Column::new(
                "participant",
                CellKind::Text,
                &["subject", "subj", "worker", "worker_id", "participant_id", "observer", "user"],
            ),
            Column::new("idx", CellKind::Whole, &["trial_index", "trial_num"]),
            Column::new("block", CellKind::Text, &[]),
            Column::new("task", CellKind::Text, &[]),
            Column::new(
                "stimulus",
                CellKind::Text,
                &["image", "image_id", "imagename", "stimulus_id", "stim", "filename", "file"],
            ),
            Column::new(
                "label",
                CellKind::Text,
                &["category", "class", "true_label", "truth", "target", "correct_response"],
            ),
            Column::new(
                "exposure_ms",
                CellKind::Real,
                &[
                    "exposure",
                    "duration",
                    "duration_ms",
                    "image_duration",
                    "presentation_time",
                    "soa",
                ],
            ),
            Column::new("beep_ms", CellKind::Real, &["beep"]),
            Column::new("condition", CellKind::Text, &["mode"]),
            Column::new(
                "response",
                CellKind::Text,
                &["answer", "object_response", "key", "choice", "predicted"],
            ),
            Column::new("correct", CellKind::Flag, &["is_correct", "accuracy", "acc"]),
            Column::new("onset_ms", CellKind::Real, &[]),
            Column::new("offset_ms", CellKind::Real, &[]),
            Column::new("response_ms", CellKind::Real, &[]),
            Column::new("timing", CellKind::Text, &[]),
            Column::read_only("exposure_frames", CellKind::Whole),
            Column::read_only("refresh_hz", CellKind::Real),
            Column::read_only("rt_ms", CellKind::Real),
            Column::read_only("shown_ms", CellKind::Real),
        ],
        required: &[PARTICIPANT, STIMULUS],
    };

    fn from_row(row: &Row<'_>) -> Result<Self, FileError> {
        let participant = ParticipantId::new(row.required_text(PARTICIPANT)?);
        let exposure = exposure(row)?;
        let beep = beep(row)?;
        let task = match row.word(TASK, &Task::WORDS)? {
            Some(task) => task,
            None if exposure.is_some() => Task::Flash,
            None if beep.is_some() => Task::Beep,
            None => Task::Rate,
        };
        let onset = time(row, ONSET)?;
        // A tool that only gives durations gives them from onset: its clock starts there.
        let from_onset = |raw: Option<Millis>, column| match raw {
            Some(raw) => Ok(Some(raw)),
            None if onset.is_none_or(|onset| onset.value() == 0.0) => time(row, column),
            None => Ok(None),
        };
        let responded = from_onset(time(row, RESPONDED)?, RT)?;
        let offset = from_onset(time(row, OFFSET)?, SHOWN)?;
        check_rt(row)?;
        let onset = onset.or_else(|| {
            let has_duration = row.has_column(RT) || row.has_column(SHOWN);
            has_duration.then(|| Millis::new(0.0)).flatten()
        });
        let trial = Self {
            id: row.text(TRIAL).map_or_else(
                || TrialId::new(compact_str::format_compact!("line-{}", row.line())),
                TrialId::new,
            ),
            session: row
                .text(SESSION)
                .map_or_else(|| SessionId::new(participant.as_str()), SessionId::new),
            participant,
            idx: row.whole(IDX)?,
            block: row.text(BLOCK).map(Into::into),
            task,
            stimulus: StimulusId::new(row.required_text(STIMULUS)?),
            label: row.text(LABEL).map(Label::new),
            exposure,
            beep,
            condition: row.text(CONDITION).map(Into::into),
            response: row.text(RESPONSE).map(Label::new),
            marked_correct: row.flag(CORRECT)?,
            onset,
            offset,
            responded,
            timing: row.word(TIMING, &TimingVerdict::WORDS)?,
            extra: row.extra(),
        };
        check_answer(row, &trial)?;
        Ok(trial)
    }

    fn cells<'a>(&'a self, cells: &mut Vec<Cell<'a>>) {
        cells.extend([
            Cell::text(Some(self.id.as_str())),
            Cell::text(Some(self.session.as_str())),
            Cell::text(Some(self.participant.as_str())),
            self.idx.map_or(Cell::Empty, Cell::Whole),
            Cell::text(self.block.as_deref()),
            Cell::text(Some(self.task.as_str())),
            Cell::text(Some(self.stimulus.as_str())),
            Cell::text(self.label.as_ref().map(Label::as_str)),
            Cell::real(self.exposure.map(Millis::value)),
            Cell::real(self.beep.map(Millis::value)),
            Cell::text(self.condition.as_deref()),
            Cell::text(self.response.as_ref().map(Label::as_str)),
            Cell::flag(self.marked_correct),
            Cell::real(self.onset.map(Millis::value)),
            Cell::real(self.offset.map(Millis::value)),
            Cell::real(self.responded.map(Millis::value)),
            Cell::text(self.timing.map(TimingVerdict::as_str)),
        ]);
    }

    fn extra(&self) -> &Extra {
        &self.extra
    }
}

fn time(row: &Row<'_>, column: usize) -> Result<Option<Millis>, FileError> {
    Ok(row.real(column)?.and_then(Millis::new))
}

/// No screen shows anything for less than a millisecond, and nobody flashes for an hour.
const SHOWABLE_MS: std::ops::Range<f64> = 1.0..3_600_000.0;

/// Reads the exposure, in milliseconds or in frames with a refresh rate.
fn exposure(row: &Row<'_>) -> Result<Option<Millis>, FileError> {
    let Some(ms) = row.real(EXPOSURE)? else {
        let Some(n_frames) = row.whole(EXPOSURE_FRAMES)? else { return Ok(None) };
        let refresh = row.real(REFRESH)?.ok_or_else(|| {
            row.error(
                REFRESH,
                Problem::BadValue {
                    expected: "the screen's refresh rate beside `exposure_frames`".into(),
                    found: String::new(),
                    hint: Some("add a column `refresh_hz`, e.g. 60, or give `exposure_ms`".into()),
                },
            )
        })?;
        let frames = u32::try_from(n_frames).ok().map(Frames);
        return match frames.and_then(|frames| frames.at(refresh)) {
            Some(exposure) if SHOWABLE_MS.contains(&exposure.value()) => Ok(Some(exposure)),
            Some(_) => {
                let expected = "frames that last from 1 ms up to an hour";
                Err(row.bad_value(EXPOSURE_FRAMES, expected, &n_frames.to_string(), None))
            }
            None => Err(row.bad_value(REFRESH, "a positive rate", &refresh.to_string(), None)),
        };
    };
    if SHOWABLE_MS.contains(&ms) {
        return Ok(Millis::new(ms));
    }
    let hint = if ms <= 0.0 {
        None
    } else if ms < SHOWABLE_MS.start {
        Some("are these seconds? Multiply by 1000; imports can say --unit exposure_ms=s".into())
    } else {
        Some("are these microseconds? Divide by 1000; imports can say --unit exposure_ms=us".into())
    };
    Err(row.bad_value(EXPOSURE, "milliseconds between 1 and 3600000", &ms.to_string(), hint))
}

/// Nobody answers to a beep within 10 ms, and nobody waits an hour for one.
const BEEPABLE_MS: std::ops::Range<f64> = 10.0..3_600_000.0;

fn beep(row: &Row<'_>) -> Result<Option<Millis>, FileError> {
    let Some(ms) = row.real(BEEP)? else { return Ok(None) };
    if BEEPABLE_MS.contains(&ms) {
        return Ok(Millis::new(ms));
    }
    let hint = if ms <= 0.0 {
        Some("leave the cell empty in trials without a beep".into())
    } else if ms < BEEPABLE_MS.start {
        Some("are these seconds? Multiply by 1000; imports can say --unit beep_ms=s".into())
    } else {
        Some("are these microseconds? Divide by 1000; imports can say --unit beep_ms=us".into())
    };
    Err(row.bad_value(BEEP, "milliseconds between 10 and 3600000", &ms.to_string(), hint))
}

/// The longest response time that is no clock: eleven days.
const LONGEST_RT_MS: f64 = 1e9;

/// Refuses response times that nobody can have. Of two clocks, the answer may come before onset.
fn check_rt(row: &Row<'_>) -> Result<(), FileError> {
    let Some(rt) = row.real(RT)?.filter(|rt| !(0.0..=LONGEST_RT_MS).contains(rt)) else {
        return Ok(());
    };
    let hint = if rt < 0.0 {
        "leave the cell empty where nobody answered"
    } else {
        "is this a clock instead of a time from onset? Clocks are `onset_ms` and `response_ms`"
    };
    Err(row.bad_value(RT, "milliseconds from 0 to 1000000000", &rt.to_string(), Some(hint.into())))
}

/// Makes sure that there is an answer column, and that it is right or wrong only one way.
fn check_answer(row: &Row<'_>, trial: &Trial) -> Result<(), FileError> {
    match (&trial.label, &trial.response, trial.marked_correct) {
        (Some(label), Some(response), Some(marked)) if (label == response) != marked => Err(row
            .error(
                CORRECT,
                Problem::Contradiction {
                    detail: format!(
                        "says {} but the response is `{response}` and the label `{label}`",
                        u8::from(marked)
                    ),
                    hint: "drop the column `correct` to compare response and label, or drop \
                           `label` to trust the column"
                        .into(),
                },
            )),
        (_, None, None) if !row.has_column(RESPONSE) => {
            let hint = "add a column `response` (empty where time ran out), or a column `correct` \
                        with 1 and 0";
            Err(row.bad_value(RESPONSE, "the participant's answer", "", Some(hint.into())))
        }
        _ => Ok(()),
    }
}
