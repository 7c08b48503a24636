//! What a participant is shown next: the server's choice, from what the store knows.
//!
//! One file per task decides which stimuli; this file makes trials of them. Random numbers come from
//! the session's seed, so a plan can be made again.

pub mod beep;
pub mod flash;
pub mod pairs;
pub mod rate;

use std::collections::BTreeSet;

use mohs_data::{Prepared, Seed, Task};
use mohs_score::draw::Draw;

use crate::allocate::History;
use crate::hosted::Hosted;
use crate::store::connection::Connection;
use crate::store::session::SessionRow;
use crate::store::trial::{Given, TrialRow, TrialState};
use crate::store::{StoreError, seen, trial};
use crate::wire::Screen;

/// What planning looks at.
pub struct Asked<'a> {
    /// The study.
    pub hosted: &'a Hosted,
    /// The session.
    pub session: &'a SessionRow,
    /// The screen, as it was measured.
    pub screen: &'a Screen,
    /// Everything this session was given before.
    pub given: Vec<Given>,
    /// Pictures this participant has seen in other studies.
    pub seen_elsewhere: BTreeSet<String>,
}

/// One block, before it has ids.
#[derive(Debug, Default)]
pub struct Plan<'a> {
    /// Whether it is practice.
    pub is_practice: bool,
    /// Beep: when it sounds.
    pub beep_ms: Option<f64>,
    /// What is shown, in order.
    pub shown: Vec<Shown<'a>>,
}

/// What is shown in one trial.
#[derive(Debug)]
pub struct Shown<'a> {
    /// The cell it fills.
    pub cell: Option<i64>,
    /// The stimulus; pairs: on the left.
    pub stimulus: &'a Prepared,
    /// Pairs: on the right.
    pub right: Option<&'a Prepared>,
    /// Flash: exposure and frames.
    pub exposure: Option<(f64, u32)>,
}

const BLOCK: u64 = 1;
const OPTIONS: u64 = 2;

impl<'a> Asked<'a> {
    /// Looks up what the participant has had.
    pub fn new(
        tx: &mut dyn Connection,
        hosted: &'a Hosted,
        session: &'a SessionRow,
        screen: &'a Screen,
    ) -> Result<Self, StoreError> {
        let given = trial::given(tx, &session.session)?;
        let seen = seen::elsewhere(tx, &session.participant, &session.study)?;
        let seen_elsewhere = seen.into_iter().collect();
        Ok(Self { hosted, session, screen, given, seen_elsewhere })
    }

    /// Opens the stream of random numbers of the next block.
    pub fn draw(&self) -> Draw {
        Draw::new(Seed(self.session.seed), &[BLOCK, u64::from(self.session.n_blocks)])
    }

    /// Returns how many trials are still to be planned.
    pub fn n_wanted(&self) -> usize {
        self.session.n_total.saturating_sub(self.session.n_planned) as usize
    }

    /// Returns what may not come again.
    fn history(&self) -> History {
        let mut history = History { sources: self.seen_elsewhere.clone(), ..History::default() };
        for given in &self.given {
            history.sources.insert(given.source.clone());
            if !given.is_practice {
                *history.n_by_label.entry(given.label.clone()).or_default() += 1;
            }
        }
        history
    }
}

/// Plans the next block; nothing shown means that nothing is left for this participant.
pub fn next_block<'a>(tx: &mut dyn Connection, asked: &Asked<'a>) -> Result<Plan<'a>, StoreError> {
    match asked.hosted.study.task {
        Task::Flash | Task::Masks => flash::next_block(tx, asked),
        Task::Beep => Ok(beep::next_block(asked)),
        Task::Pairs => pairs::next_block(tx, asked),
        Task::Rate => rate::next_block(tx, asked),
    }
}

/// Makes trials of a plan.
pub fn trials(asked: &Asked<'_>, plan: &Plan<'_>) -> Vec<TrialRow> {
    let session = asked.session;
    let first_idx = asked.given.iter().map(|given| given.idx + 1).max().unwrap_or(0);
    let mut draw = Draw::new(Seed(session.seed), &[OPTIONS, u64::from(session.n_blocks)]);
    let with_positions = plan.shown.iter().zip(first_idx..);
    let trial = |(shown, idx): (&Shown<'_>, u32)| {
        let label = shown.stimulus.label.as_str();
        let same = shown.right.is_some_and(|right| right.label == shown.stimulus.label);
        TrialRow {
            trial: trial_id(&session.session, idx),
            session: session.session.clone(),
            block: session.n_blocks,
            idx,
            is_practice: plan.is_practice,
            is_counted: !plan.is_practice && !session.is_preview,
            cell: shown.cell.filter(|_| !session.is_preview),
            stimulus: shown.stimulus.stimulus.as_str().into(),
            condition: shown.stimulus.condition.clone(),
            label: label.into(),
            source: shown.stimulus.source.clone(),
            image: shown.stimulus.image.clone(),
            mask: shown.exposure.and(shown.stimulus.mask.clone()),
            right_stimulus: shown.right.map(|right| right.stimulus.as_str().into()),
            right_source: shown.right.map(|right| right.source.clone()),
            right_image: shown.right.map(|right| right.image.clone()),
            recognise_as: same.then(|| label.into()),
            exposure_ms: shown.exposure.map(|(exposure_ms, _)| exposure_ms),
            frames: shown.exposure.map(|(_, frames)| frames),
            beep_ms: plan.beep_ms,
            options: options(asked.hosted, &mut draw),
            state: TrialState::Planned,
            epoch: None,
            reason: None,
        }
    };
    with_positions.map(trial).collect()
}

/// Returns the id of a trial: that of its session in front, so that what belongs together lies together
/// in the database. It opens nothing without the token of the session.
fn trial_id(session: &str, idx: u32) -> String {
    let of_session = session.get(..26).unwrap_or(session);
    format!("{of_session}{idx:06x}")
}

/// Returns the answers in the order of one trial.
fn options(hosted: &Hosted, draw: &mut Draw) -> Vec<String> {
    if hosted.study.task == Task::Pairs {
        let words = ["left", "right", "tie"].map(String::from);
        let n = if hosted.study.pairs.ties { 3 } else { 2 };
        return words.into_iter().take(n).collect();
    }
    let mut options = hosted.labels.clone();
    draw.shuffle(&mut options);
    options
}
