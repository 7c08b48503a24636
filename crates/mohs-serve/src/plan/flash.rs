//! Flashes: which stimulus at which exposure.
//!
//! Balanced: the least filled cells that this screen can show. Adaptive: the stimuli with the
//! fewest trials, each at the exposure that tells most about it; where this screen cannot show that
//! one, at the nearest it can. A few practice trials with long exposures come first, with pictures
//! that this participant does not meet again; they fill no cell.

use std::collections::{BTreeMap, BTreeSet};

use mohs_data::{Allocation, Millis, Prepared};
use mohs_score::adaptive::exposure::{self, Step, Stopping};

use super::{Asked, Plan, Shown};
use crate::allocate::{Candidate, History, choose, frames_for};
use crate::hosted::Hosted;
use crate::store::cell::{self, CellRow};
use crate::store::connection::Connection;
use crate::store::{StoreError, result};
use crate::wire::Screen;

/// Exposures of practice, from long to short; all above 100 ms, so that any browser may show them.
const PRACTICE_MS: [f64; 4] = [1_000.0, 500.0, 250.0, 150.0];
/// One practice picture per this many that are new to the participant, so that small studies keep
/// theirs.
const PICTURES_PER_PRACTICE: usize = 10;
/// The longest exposure that counts as short, and needs a browser that shows it faithfully.
const SHORT_MS: f64 = 100.0;
/// Trials of an adaptive block: few, so that choices rest on what others answered just now.
const ADAPTIVE_BLOCK: usize = 10;
/// Trials before a stimulus may count as known.
const MIN_TRIALS: usize = 4;

pub(super) fn next_block<'a>(
    tx: &mut dyn Connection,
    asked: &Asked<'a>,
) -> Result<Plan<'a>, StoreError> {
    if asked.session.n_blocks == 0 {
        let practice = practice(asked);
        // Who has seen much elsewhere should not practise for nothing.
        let is_new = asked.seen_elsewhere.is_empty();
        if !practice.shown.is_empty() && (is_new || !real_block(tx, asked)?.shown.is_empty()) {
            return Ok(practice);
        }
    }
    real_block(tx, asked)
}

fn real_block<'a>(tx: &mut dyn Connection, asked: &Asked<'a>) -> Result<Plan<'a>, StoreError> {
    match asked.hosted.study.flash.design {
        Allocation::Balanced => balanced(tx, asked),
        Allocation::Adaptive => adaptive(tx, asked),
    }
}

/// Returns the exposures this screen and browser can show: position, exposure and frames.
pub fn realisable(hosted: &Hosted, browser: &str, screen: &Screen) -> Vec<(usize, f64, u32)> {
    let study = &hosted.study;
    let browser = browser.split_whitespace().next().unwrap_or_default();
    let allowed = &study.screen.short_exposures_in;
    let shows_short = allowed.is_empty() || allowed.iter().any(|known| known == browser);
    let exposures = study.flash.exposures_ms.iter().map(|ms| ms.value()).enumerate();
    exposures
        .filter(|(_, exposure_ms)| shows_short || SHORT_MS < *exposure_ms)
        .filter_map(|(idx, exposure_ms)| {
            let period = screen.period_ms;
            Some((idx, exposure_ms, frames_for(exposure_ms, period, study.screen.tolerance)?))
        })
        .collect()
}

fn practice<'a>(asked: &Asked<'a>) -> Plan<'a> {
    let hosted = asked.hosted;
    let mut draw = asked.draw();
    let mut history = asked.history();
    let n_new = match history.sources.is_empty() {
        true => hosted.n_sources(),
        false => {
            let new = hosted.prepared.iter().filter(|row| !history.sources.contains(&row.source));
            new.map(|row| &row.source).collect::<BTreeSet<_>>().len()
        }
    };
    let n = PRACTICE_MS.len().min(n_new / PICTURES_PER_PRACTICE);
    let mut rows: Vec<usize> = (0..hosted.prepared.len()).collect();
    draw.shuffle(&mut rows);
    let mut shown = Vec::new();
    for row in rows {
        let stimulus = &hosted.prepared[row];
        if shown.len() < n && history.sources.insert(stimulus.source.clone()) {
            let exposure_ms = PRACTICE_MS[shown.len()];
            let frames = frames_for(exposure_ms, asked.screen.period_ms, 1.0).unwrap_or(1);
            let exposure = Some((exposure_ms, frames));
            shown.push(Shown { cell: None, stimulus, right: None, exposure });
        }
    }
    Plan { is_practice: true, beep_ms: None, shown }
}

/// Cells of one of `n_groups` groups to look at for `n` choices in all: those the participant cannot
/// have or gets from another group, and some to choose from.
fn n_looked_at(asked: &Asked<'_>, n: usize, n_groups: usize) -> usize {
    let n_taken = asked.given.len() + asked.seen_elsewhere.len() + n;
    (n_to_choose_from(n, n_groups) + n_taken * n_conditions(asked)).min(20_000)
}

fn n_to_choose_from(n: usize, n_groups: usize) -> usize {
    4 * n.div_ceil(n_groups.max(1)) + 16
}

fn n_conditions(asked: &Asked<'_>) -> usize {
    asked.hosted.study.prepare.conditions.len().max(1)
}

fn candidate<'a>(asked: &Asked<'a>, row: &CellRow) -> Option<Candidate<'a>> {
    let stimulus = asked.hosted.find(&row.stimulus, row.condition.as_deref())?;
    Some(Candidate {
        cell: row.cell,
        source: &stimulus.source,
        label: stimulus.label.as_str(),
        fill: row.fill(),
    })
}

/// Cells with room and their stimuli, the emptiest first.
type Open<'a> = Vec<(Candidate<'a>, &'a Prepared)>;

/// Returns the cells of one of `n_groups` groups that are looked at for `n` choices in all.
///
/// Few are read at first; should this participant have had too many of them, all that may matter.
pub(super) fn open_cells<'a>(
    tx: &mut dyn Connection,
    asked: &Asked<'a>,
    history: &History,
    exposure_idx: i64,
    (n, n_groups): (usize, usize),
) -> Result<Open<'a>, StoreError> {
    let n_free = n_to_choose_from(n, n_groups).max(2 * n * n_conditions(asked));
    let most = n_looked_at(asked, n, n_groups);
    let mut limit = most.min(n_free + n_free / 4);
    loop {
        let mut open: Open<'a> = Vec::with_capacity(limit);
        let mut n_read = 0;
        cell::each_least_filled(tx, &asked.hosted.name, exposure_idx, limit, &mut |cell| {
            n_read += 1;
            if let Some(stimulus) = asked.hosted.find(cell.stimulus, cell.condition)
                && !history.sources.contains(&stimulus.source)
            {
                let (source, label) = (&*stimulus.source, stimulus.label.as_str());
                open.push((
                    Candidate { cell: cell.cell, source, label, fill: cell.fill },
                    stimulus,
                ));
            }
        })?;
        if n_free <= open.len() || n_read < limit || limit == most {
            return Ok(open);
        }
        limit = most;
    }
}

fn balanced<'a>(tx: &mut dyn Connection, asked: &Asked<'a>) -> Result<Plan<'a>, StoreError> {
    let study = &asked.hosted.study;
    let n = study.page.trials_between_breaks.min(asked.n_wanted());
    if n == 0 {
        return Ok(Plan::default());
    }
    let exposures = realisable(asked.hosted, &asked.session.browser, asked.screen);
    let mut history = History { n_by_group: vec![0; exposures.len()], ..asked.history() };
    for given in asked.given.iter().filter(|given| !given.is_practice) {
        let group = exposures.iter().position(|(_, ms, _)| given.exposure_ms == Some(*ms));
        if let Some(group) = group {
            history.n_by_group[group] += 1;
        }
    }
    let mut stimuli: BTreeMap<i64, &Prepared> = BTreeMap::new();
    let mut groups = Vec::new();
    for (exposure_idx, _, _) in &exposures {
        let idx = i64::try_from(*exposure_idx).unwrap_or(i64::MAX);
        let open = open_cells(tx, asked, &history, idx, (n, exposures.len()))?;
        stimuli.extend(open.iter().map(|(candidate, stimulus)| (candidate.cell, *stimulus)));
        groups.push(open.into_iter().map(|(candidate, _)| candidate).collect::<Vec<_>>());
    }
    let chosen = choose(&groups, &history, n, &mut asked.draw());
    let shown = chosen.into_iter().map(|(group, candidate)| {
        let (_, exposure_ms, frames) = exposures[group];
        let (cell, stimulus) = (Some(candidate.cell), stimuli[&candidate.cell]);
        Shown { cell, stimulus, right: None, exposure: Some((exposure_ms, frames)) }
    });
    Ok(Plan { shown: shown.collect(), ..Plan::default() })
}

fn adaptive<'a>(tx: &mut dyn Connection, asked: &Asked<'a>) -> Result<Plan<'a>, StoreError> {
    let (hosted, flash) = (asked.hosted, &asked.hosted.study.flash);
    let n = flash.trials_per_participant.min(ADAPTIVE_BLOCK).min(asked.n_wanted());
    let exposures = realisable(asked.hosted, &asked.session.browser, asked.screen);
    let (Some(prior), false) = (&hosted.prior, exposures.is_empty()) else {
        return Ok(Plan::default());
    };
    let stopping = Stopping {
        min_trials: MIN_TRIALS,
        max_trials: flash.participants_per_cell * flash.exposures_ms.len(),
        certainty: flash.certainty,
    };
    let rows = cell::least_filled(tx, &hosted.name, 0, n_looked_at(asked, n, 1))?;
    let group: Vec<Candidate<'_>> = rows.iter().filter_map(|row| candidate(asked, row)).collect();
    let n_tried = group.len();
    let mut draw = asked.draw();
    // Those whose band is known fall away on the way, so all are put in order.
    let mut ranked = choose(&[group], &asked.history(), n_tried, &mut draw);
    ranked.sort_by_key(|(_, candidate)| candidate.fill);
    let mut shown = Vec::new();
    for (_, candidate) in ranked {
        if shown.len() == n {
            break;
        }
        let Some(row) = rows.iter().find(|row| row.cell == candidate.cell) else { continue };
        let condition = row.condition.as_deref();
        let Some(stimulus) = hosted.find(&row.stimulus, condition) else { continue };
        let answered = result::of_stimulus(tx, &hosted.name, &row.stimulus, condition)?;
        let answered: Vec<(Millis, bool)> = answered
            .iter()
            .filter_map(|answered| Some((Millis::new(answered.exposure_ms)?, answered.is_right)))
            .collect();
        match exposure::plan(prior, &answered, &stopping) {
            Step::Show { exposure, .. } => {
                let (_, exposure_ms, frames) = nearest(&exposures, exposure.value());
                let exposure = Some((exposure_ms, frames));
                shown.push(Shown { cell: Some(row.cell), stimulus, right: None, exposure });
            }
            // Nothing more is wanted of it.
            Step::Stop { .. } => {
                cell::update(tx, &hosted.name, &CellRow { target: row.fill(), ..row.clone() })?;
            }
        }
    }
    Ok(Plan { shown, ..Plan::default() })
}

/// Returns the exposure nearest to the one wanted, by ratio. There must be one.
fn nearest(exposures: &[(usize, f64, u32)], wanted_ms: f64) -> (usize, f64, u32) {
    let off = |exposure: &(usize, f64, u32)| (exposure.1 / wanted_ms).ln().abs();
    let nearest = exposures.iter().min_by(|a, b| off(a).total_cmp(&off(b)));
    *nearest.expect("because the caller returned when there was none")
}
