//! Answers at a beep: practice, then one block per beep.
//!
//! Everybody sees the same stimuli in the block of a beep, in an order of their own. Blocks take
//! different stimuli where there are enough for all; else the list starts again from its beginning,
//! and stimuli come back in later blocks. Conditions go round: a stimulus that one participant sees
//! in the first condition comes in the second for the next. Stimuli that a participant has seen in
//! another study are left out.

use std::collections::BTreeMap;

use mohs_data::{BlockOrder, Prepared, Seed};
use mohs_score::draw::Draw;

use super::{Asked, Plan, Shown};
use crate::hosted::Hosted;
use crate::store::trial::TrialState;

const STIMULI: u64 = 3;

/// The orders of blocks that a study wants, by the numbers of their cells.
pub fn orders(order: BlockOrder) -> &'static [i64] {
    match order {
        BlockOrder::Ascending => &[ASCENDING],
        BlockOrder::Descending => &[DESCENDING],
        BlockOrder::Alternate => &[ASCENDING, DESCENDING],
    }
}

/// The earliest beep first.
pub const ASCENDING: i64 = 0;
/// The latest beep first.
pub const DESCENDING: i64 = 1;

pub(super) fn next_block<'a>(asked: &Asked<'a>) -> Plan<'a> {
    let beep = &asked.hosted.study.beep;
    // A block of which nothing was begun before it was taken back comes again.
    let begun = || asked.given.iter().filter(|given| given.state != TrialState::Expired);
    if 0 < beep.practice_trials && !begun().any(|given| given.is_practice) {
        return practice(asked);
    }
    let is_left = |beep_idx: &usize| {
        let beep_ms = beep.beeps_ms[*beep_idx].value();
        !begun().any(|given| given.beep_ms.is_some_and(|ms| ms.total_cmp(&beep_ms).is_eq()))
    };
    let mut left = (0..beep.beeps_ms.len()).filter(is_left);
    let is_descending = asked.session.cell == Some(DESCENDING);
    let Some(beep_idx) = (if is_descending { left.next_back() } else { left.next() }) else {
        return Plan::default();
    };
    let stimuli = stimuli(asked.hosted);
    let n = beep.trials_per_block.min(stimuli.len());
    let positions = (beep_idx * n..(beep_idx + 1) * n).map(|idx| idx % stimuli.len());
    let shown = shown(asked, &stimuli, positions, beep_idx);
    Plan { is_practice: false, beep_ms: Some(beep.beeps_ms[beep_idx].value()), shown }
}

fn practice<'a>(asked: &Asked<'a>) -> Plan<'a> {
    let stimuli = stimuli(asked.hosted);
    // From the end of the list, which blocks reach last.
    let n = asked.hosted.study.beep.practice_trials.min(stimuli.len());
    let shown = shown(asked, &stimuli, stimuli.len() - n..stimuli.len(), 0);
    Plan { is_practice: true, beep_ms: None, shown }
}

/// Returns the stimuli in the study's order, each with its conditions.
fn stimuli(hosted: &Hosted) -> Vec<Vec<&Prepared>> {
    let mut by_id: BTreeMap<&str, Vec<&Prepared>> = BTreeMap::new();
    for row in &hosted.prepared {
        by_id.entry(row.stimulus.as_str()).or_default().push(row);
    }
    let mut stimuli: Vec<Vec<&Prepared>> = by_id.into_values().collect();
    Draw::new(Seed(hosted.study.prepare.seed), &[STIMULI]).shuffle(&mut stimuli);
    stimuli
}

fn shown<'a>(
    asked: &Asked<'a>,
    stimuli: &[Vec<&'a Prepared>],
    positions: impl Iterator<Item = usize>,
    beep_idx: usize,
) -> Vec<Shown<'a>> {
    let ordinal = usize::try_from(asked.session.ordinal).unwrap_or_default();
    let mut shown: Vec<Shown<'a>> = positions
        .map(|position| {
            let conditions = &stimuli[position];
            let stimulus = conditions[(position + ordinal + beep_idx) % conditions.len()];
            Shown { cell: None, stimulus, right: None, exposure: None }
        })
        .filter(|shown| !asked.seen_elsewhere.contains(&shown.stimulus.source))
        .collect();
    asked.draw().shuffle(&mut shown);
    shown
}
