//! What came of trials: written once when a report comes, read for exports and admin pages.

use super::StoreError;
use super::connection::{Connection, EachRow};
use super::trial::TrialRow;
use crate::report::Outcome;

/// Stores what a page reported of a trial.
pub fn store(
    tx: &mut dyn Connection,
    row: &TrialRow,
    outcome: &Outcome,
    stimulus_px: Option<f64>,
    now_ms: i64,
) -> Result<(), StoreError> {
    let report = &outcome.report;
    let beep = report.beep.as_ref();
    tx.execute(
        "update trial set state = $2, epoch = $3, reason = $4, response = $5, onset_ms = $6, \
         offset_ms = $7, response_ms = $8, handled_ms = $9, input = $10, verdict = $11, \
         page_verdict = $12, frames_shown = $13, period_ms = $14, longest_gap_ms = $15, \
         was_visible = $16, was_fullscreen = $17, pixel_ratio = $18, stimulus_px = $19, \
         cue = $20, cue_planned_ms = $21, cue_sounded_ms = $22, base_lag_ms = $23, \
         output_lag_ms = $24, feedback = $25, answered_at_ms = $26 where trial = $1",
        &[
            (&row.trial).into(),
            row.state.as_str().into(),
            row.epoch.into(),
            row.reason.as_ref().into(),
            report.response.as_ref().into(),
            report.onset_ms.into(),
            report.offset_ms.into(),
            report.response_ms.into(),
            report.handled_ms.into(),
            report.input.as_ref().into(),
            outcome.verdict.map(|verdict| verdict.as_str()).into(),
            report.verdict.as_ref().into(),
            outcome.frames_shown.into(),
            report.period_ms.into(),
            report.longest_gap_ms.into(),
            report.was_visible.into(),
            report.was_fullscreen.into(),
            report.pixel_ratio.into(),
            stimulus_px.into(),
            beep.map(|beep| &beep.cue).into(),
            beep.map(|beep| beep.planned_ms).into(),
            beep.map(|beep| beep.sounded_ms).into(),
            beep.and_then(|beep| beep.base_lag_ms).into(),
            beep.and_then(|beep| beep.output_lag_ms).into(),
            beep.map(|beep| &beep.feedback).into(),
            now_ms.into(),
        ],
    )?;
    Ok(())
}

/// Forgets what a page reported of a trial, because it does not stand.
pub fn clear(tx: &mut dyn Connection, trial: &str) -> Result<(), StoreError> {
    tx.execute(
        "update trial set response = null, onset_ms = null, offset_ms = null, response_ms = null, \
         handled_ms = null, input = null, verdict = null, page_verdict = null, \
         frames_shown = null, period_ms = null, longest_gap_ms = null, was_visible = null, \
         was_fullscreen = null, pixel_ratio = null, stimulus_px = null, cue = null, \
         cue_planned_ms = null, cue_sounded_ms = null, base_lag_ms = null, output_lag_ms = null, \
         feedback = null, answered_at_ms = null where trial = $1",
        &[trial.into()],
    )?;
    Ok(())
}

/// Hands on every trial of a study that was begun and is over, by session and position. Of those that
/// the server gave up there is no report: they have a reason and no times.
///
/// Columns: 0 trial, 1 session, 2 participant, 3 idx, 4 block, 5 stimulus, 6 label, 7 exposure_ms,
/// 8 beep_ms, 9 condition, 10 response, 11 onset_ms, 12 offset_ms, 13 response_ms, 14 verdict,
/// 15 state, 16 reason, 17 frames, 18 frames_shown, 19 period_ms, 20 longest_gap_ms,
/// 21 handled_ms, 22 input, 23 was_visible, 24 was_fullscreen, 25 pixel_ratio, 26 stimulus_px,
/// 27 cue, 28 cue_planned_ms, 29 cue_sounded_ms, 30 base_lag_ms, 31 output_lag_ms, 32 feedback,
/// 33 epoch, 34 right_stimulus, 35 is_practice, 36 answered_at_ms.
pub fn each_of_study(
    tx: &mut dyn Connection,
    study: &str,
    each: EachRow<'_>,
) -> Result<(), StoreError> {
    let sql = "select trial, session, participant, idx, block, stimulus, label, exposure_ms, \
         beep_ms, condition, response, onset_ms, offset_ms, response_ms, verdict, state, reason, \
         frames, frames_shown, period_ms, longest_gap_ms, handled_ms, input, was_visible, \
         was_fullscreen, pixel_ratio, stimulus_px, cue, cue_planned_ms, cue_sounded_ms, \
         base_lag_ms, output_lag_ms, feedback, epoch, right_stimulus, is_practice, answered_at_ms \
         from trial where study = $1 and is_counted = 1 \
         and (onset_ms is not null or state = 'voided') \
         order by session, idx";
    tx.each(sql, &[study.into()], each)
}

/// One answer about a stimulus, for adaptive designs.
#[derive(Debug, Clone, PartialEq)]
pub struct Answered {
    /// The exposure.
    pub exposure_ms: f64,
    /// Whether it was right.
    pub is_right: bool,
}

/// Makes the index that [`of_stimulus`] needs, if it is not there.
pub fn index_by_stimulus(tx: &mut dyn Connection) -> Result<(), StoreError> {
    tx.batch(
        "create index if not exists trial_by_stimulus on trial (study, stimulus) \
         where state = 'answered' and is_counted = 1",
    )
}

/// Returns the answers about a stimulus in a condition that count.
pub fn of_stimulus(
    tx: &mut dyn Connection,
    study: &str,
    stimulus: &str,
    condition: Option<&str>,
) -> Result<Vec<Answered>, StoreError> {
    let sql = "select exposure_ms, response, label, condition from trial where study = $1 \
               and stimulus = $2 and state = 'answered' and is_counted = 1 order by trial";
    let rows = tx.rows(sql, &[study.into(), stimulus.into()], |row| {
        let answered = Answered {
            exposure_ms: row.real(0).unwrap_or_default(),
            is_right: row.text(1).is_some() && row.text(1) == row.text(2),
        };
        (row.owned(3), answered)
    })?;
    let of_condition = rows.into_iter().filter(|(found, _)| found.as_deref() == condition);
    Ok(of_condition.map(|(_, answered)| answered).collect())
}

/// Returns all judgements of pairs that count: left, right and answer.
pub fn judgements(
    tx: &mut dyn Connection,
    study: &str,
) -> Result<Vec<(String, String, String)>, StoreError> {
    let sql = "select stimulus, right_stimulus, response from trial where study = $1 \
               and state = 'answered' and is_counted = 1 and right_stimulus is not null \
               and response is not null order by trial";
    tx.rows(sql, &[study.into()], |row| (row.word(0), row.word(1), row.word(2)))
}
