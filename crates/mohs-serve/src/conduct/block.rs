//! The next block: what is left of the last one, or a new one.

use super::{Step, lease};
use crate::allocate::frames_for;
use crate::error::ApiError;
use crate::hosted::Hosted;
use crate::plan::flash::realisable;
use crate::plan::{self, Asked};
use crate::store::connection::Connection;
use crate::store::live::Live;
use crate::store::session::{self, SessionRow, State};
use crate::store::trial::{self, TrialRow, TrialState};
use crate::store::{StoreError, cell};
use crate::token::Secret;
use crate::wire::{Block, BlockAnswer, PlannedTrial, Screen};
use mohs_data::Task;
use mohs_score::draw::Draw;

/// Checks what a page says of its screen.
pub fn check_screen(screen: &Screen) -> Result<(), ApiError> {
    let bad = |what: &str| Err(ApiError::RequestBad { what: what.into() });
    if !(1.0..=1_000.0).contains(&screen.period_ms) {
        return bad("period_ms should be 1 to 1000");
    }
    if !(0.0..=1_000.0).contains(&screen.period_mad_ms) || !(0.0..=1.0).contains(&screen.share_late)
    {
        return bad("the screen's spread is no measurement");
    }
    if !(0.05..=50.0).contains(&screen.pixel_ratio) {
        return bad("pixel_ratio should be 0.05 to 50");
    }
    Ok(())
}

/// What a session does next.
#[derive(Debug, Clone, PartialEq)]
pub struct Next {
    /// The trials that are left of its block; none when everything is done.
    left: Vec<TrialRow>,
    n_done: u32,
    n_total: u32,
}

impl Next {
    /// Puts it into words for the page, and signs it.
    pub fn into_answer(self, secret: &Secret, session: &str) -> BlockAnswer {
        let block = (!self.left.is_empty()).then(|| block(secret, session, &self.left));
        BlockAnswer { block, n_done: self.n_done, n_total: self.n_total }
    }
}

/// Returns the trials that come next.
pub fn next(
    tx: &mut dyn Connection,
    hosted: &Hosted,
    (session, epoch, screen): (&str, u32, &Screen),
    now_ms: i64,
) -> Step<Next> {
    lease::sweep(tx, hosted, now_ms)?;
    let Some(mut row) = session::find(tx, session)? else {
        return Ok(Err(ApiError::SessionWithdrawn));
    };
    // Two pages with the same trials would show each picture twice.
    if epoch < row.epoch {
        return Ok(Err(ApiError::EpochOver));
    }
    if row.state != State::Open {
        return Ok(Ok(Next { left: Vec::new(), n_done: row.n_done, n_total: row.n_total }));
    }
    if !row.has_agreed() {
        return Ok(Err(ApiError::ConsentMissing));
    }
    row.screen = serde_json::to_string(screen).ok();
    // Nothing of the block is given up: it can be gone on with on the screen before.
    if hosted.study.task == Task::Flash && realisable(hosted, &row.browser, screen).is_empty() {
        return Ok(Err(ApiError::ScreenUnfit));
    }
    if let Err(refusal) = lease::order(tx, hosted, &mut row)? {
        return Ok(Err(refusal));
    }
    lease::renew(tx, hosted.lease_ms(), &mut row, now_ms)?;
    let mut left = what_is_left(tx, hosted, &mut row, screen)?;
    if left.is_empty() {
        left = new_block(tx, hosted, &mut row, screen)?;
    }
    session::update(tx, &row)?;
    if let (Some(first), Some(last)) = (left.first(), left.last()) {
        session::note_handed(tx, session, epoch, (first.idx, last.idx))?;
    }
    let next = Next { left, n_done: row.n_done, n_total: row.n_total };
    // Answers come soon.
    let mut live = Live::new(row);
    live.expect(next.left.clone());
    live.keep(tx);
    Ok(Ok(next))
}

/// Returns the trials of the current block that are not begun, in frames of this screen.
fn what_is_left(
    tx: &mut dyn Connection,
    hosted: &Hosted,
    row: &mut SessionRow,
    screen: &Screen,
) -> Result<Vec<TrialRow>, StoreError> {
    let mut left = Vec::new();
    for mut trial in trial::in_state(tx, &row.session, TrialState::Planned)? {
        if let Some(exposure_ms) = trial.exposure_ms {
            let tolerance = if trial.is_practice { 1.0 } else { hosted.study.screen.tolerance };
            match frames_for(exposure_ms, screen.period_ms, tolerance) {
                // Another screen cannot show it: it goes to somebody else.
                None => {
                    lease::expire(tx, hosted, row, trial)?;
                    continue;
                }
                Some(frames) if trial.frames != Some(frames) => {
                    trial.frames = Some(frames);
                    trial::update(tx, &trial)?;
                }
                Some(_) => {}
            }
        }
        left.push(trial);
    }
    Ok(left)
}

fn new_block(
    tx: &mut dyn Connection,
    hosted: &Hosted,
    row: &mut SessionRow,
    screen: &Screen,
) -> Result<Vec<TrialRow>, StoreError> {
    let snapshot = row.clone();
    let asked = Asked::new(tx, hosted, &snapshot, screen)?;
    let plan = plan::next_block(tx, &asked)?;
    let trials = plan::trials(&asked, &plan);
    let mut draw = asked.draw();
    for trial in &trials {
        trial::insert(tx, &hosted.name, &row.participant, trial)?;
        if let Some(number) = trial.cell {
            lease_cell(tx, hosted, number, &mut draw)?;
        }
    }
    let n = u32::try_from(trials.len()).unwrap_or(u32::MAX);
    if !plan.is_practice {
        row.n_planned += n;
    }
    if trials.is_empty() {
        // Nothing is left for this participant, so they have done all there is.
        row.n_total = row.n_done;
    } else {
        row.n_blocks += 1;
    }
    Ok(trials)
}

/// Promises a cell to the participant.
fn lease_cell(
    tx: &mut dyn Connection,
    hosted: &Hosted,
    number: i64,
    draw: &mut Draw,
) -> Result<(), StoreError> {
    // Pairs read the side from the tie; everywhere else equals come in a new order each round.
    if hosted.study.task == Task::Pairs {
        return cell::add(tx, &hosted.name, number, 0, 1);
    }
    let tie = i64::try_from(draw.below(1 << 31)).unwrap_or(0);
    cell::lease(tx, &hosted.name, number, tie)
}

fn block(secret: &Secret, session: &str, trials: &[TrialRow]) -> Block {
    let first = &trials[0];
    let of_block = trials.iter().filter(|trial| trial.block == first.block);
    let mut block = Block {
        block: first.block,
        is_practice: first.is_practice,
        beep_ms: first.beep_ms,
        trials: of_block.map(planned_trial).collect(),
        signature: String::new(),
    };
    let text = serde_json::to_string(&block).unwrap_or_default();
    block.signature = secret.sign("block", &format!("{session}.{text}"));
    block
}

/// Returns what the page may know of a trial: everything but the label.
fn planned_trial(trial: &TrialRow) -> PlannedTrial {
    PlannedTrial {
        trial: trial.trial.clone(),
        idx: trial.idx,
        image: trial.image.clone(),
        mask: trial.mask.clone(),
        right: trial.right_image.clone(),
        exposure_ms: trial.exposure_ms,
        frames: trial.frames,
        options: trial.options.clone(),
        recognise_as: trial.recognise_as.clone(),
    }
}
