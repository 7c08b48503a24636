//! A session at work: what its rows say, and what of it is not in its tables yet.
//!
//! Where a connection has a [`Memory`](super::memory::Memory), a session stays here between two of its
//! submissions, and what follows from several goes to the tables at once. Everybody else finds a
//! session through `session::find` and its kin, which settle it first.

use std::collections::BTreeMap;
use std::time::Instant;

use super::connection::Connection;
use super::session::{self, EpochRow, SessionRow};
use super::trial::{self, TrialRow, TrialState};
use super::{StoreError, cell, event, result};
use crate::report::Outcome;
use crate::wire::{Calibration, Event};

/// A session at work.
#[derive(Debug)]
pub struct Live {
    /// Its row. Whoever changes it says so by [`Live::note_progress`] or [`Live::note_facts`].
    pub row: SessionRow,
    chains: BTreeMap<u32, Chain>,
    trials: BTreeMap<String, Touched>,
    /// Cells: what is to be added to done and promised.
    cells: BTreeMap<i64, (i64, i64)>,
    events: Vec<(u32, Event, i64)>,
    /// Size of the stimulus by the last calibration.
    stimulus_px: Option<f64>,
    has_progress: bool,
    has_facts: bool,
    /// The first submission in the journal that is not settled.
    pub(super) first_id: Option<i64>,
    pub(super) used: Instant,
}

#[derive(Debug)]
struct Chain {
    row: EpochRow,
    has_changed: bool,
}

/// A trial, and what is to be stored of it.
#[derive(Debug)]
struct Touched {
    trial: TrialRow,
    has_changed: bool,
    outcome: Told,
}

/// What a page told of a trial that is not in its table yet.
#[derive(Debug, Default)]
enum Told {
    #[default]
    Nothing,
    Report {
        outcome: Box<Outcome>,
        stimulus_px: Option<f64>,
        at_ms: i64,
    },
    /// What was told does not stand.
    Dropped,
}

impl Live {
    /// Takes a session out of memory, or reads it; none when it withdrew or never was.
    pub fn recall(tx: &mut dyn Connection, session: &str) -> Result<Option<Self>, StoreError> {
        if let Some(live) = tx.memory().and_then(|memory| memory.take(session)) {
            return Ok(Some(live));
        }
        Ok(session::read_as_stored(tx, session)?.map(Self::new))
    }

    /// Returns a session whose row has just been stored.
    pub fn new(row: SessionRow) -> Self {
        let mut live = Self {
            row,
            chains: BTreeMap::new(),
            trials: BTreeMap::new(),
            cells: BTreeMap::new(),
            events: Vec::new(),
            stimulus_px: None,
            has_progress: false,
            has_facts: false,
            first_id: None,
            used: Instant::now(),
        };
        live.measure();
        live
    }

    /// Puts the session into memory, where there is one.
    pub fn keep(mut self, tx: &mut dyn Connection) {
        self.used = Instant::now();
        if let Some(memory) = tx.memory() {
            memory.keep(self);
        }
    }

    /// Returns whether a trial was handed to the browser of an epoch that was asked for before.
    pub fn was_handed(&self, epoch: u32, trial: &TrialRow) -> bool {
        self.chains.get(&epoch).is_some_and(|chain| {
            chain.row.handed.iter().any(|(from, through)| (*from..=*through).contains(&trial.idx))
        })
    }

    /// Adds trials that have just been stored, so that they need not be read.
    pub fn expect(&mut self, trials: Vec<TrialRow>) {
        for trial in trials {
            let touched = Touched { trial, has_changed: false, outcome: Told::Nothing };
            self.trials.insert(touched.trial.trial.clone(), touched);
        }
    }

    /// Returns an epoch.
    pub fn chain(
        &mut self,
        tx: &mut dyn Connection,
        epoch: u32,
    ) -> Result<Option<&EpochRow>, StoreError> {
        if !self.chains.contains_key(&epoch) {
            let Some(row) = session::find_epoch(tx, &self.row.session, epoch)? else {
                return Ok(None);
            };
            self.chains.insert(epoch, Chain { row, has_changed: false });
        }
        Ok(self.chains.get(&epoch).map(|chain| &chain.row))
    }

    /// Moves an epoch on.
    pub fn set_chain(&mut self, epoch: u32, row: EpochRow) {
        self.chains.insert(epoch, Chain { row, has_changed: true });
    }

    /// Returns a trial of this session.
    pub fn trial(
        &mut self,
        tx: &mut dyn Connection,
        id: &str,
    ) -> Result<Option<&TrialRow>, StoreError> {
        if !self.trials.contains_key(id) {
            let found = trial::find(tx, id)?.filter(|trial| trial.session == self.row.session);
            let Some(trial) = found else { return Ok(None) };
            self.expect(vec![trial]);
        }
        Ok(self.known_trial(id))
    }

    /// Returns a trial that was asked for before.
    pub fn known_trial(&self, id: &str) -> Option<&TrialRow> {
        self.trials.get(id).map(|touched| &touched.trial)
    }

    /// Says where a trial stands now, and in which epoch it was begun.
    pub fn set_trial(&mut self, id: &str, epoch: u32, stands: (TrialState, Option<&str>)) {
        self.set_state(id, stands);
        self.set_epoch(id, epoch);
    }

    /// Says where a trial stands now.
    pub fn set_state(&mut self, id: &str, (state, reason): (TrialState, Option<&str>)) {
        if let Some(touched) = self.trials.get_mut(id) {
            touched.trial.state = state;
            touched.trial.reason = reason.map(Into::into);
            touched.has_changed = true;
        }
    }

    /// Says in which epoch a trial was begun.
    pub fn set_epoch(&mut self, id: &str, epoch: u32) {
        if let Some(touched) = self.trials.get_mut(id) {
            touched.trial.epoch = Some(epoch);
            touched.has_changed = true;
        }
    }

    /// Says what a page told of a trial.
    pub fn set_outcome(&mut self, outcome: Box<Outcome>, at_ms: i64) {
        let stimulus_px = self.stimulus_px;
        if let Some(touched) = self.trials.get_mut(&outcome.report.trial) {
            touched.outcome = Told::Report { outcome, stimulus_px, at_ms };
        }
    }

    /// Says that what was told of a trial does not stand.
    pub fn drop_outcome(&mut self, id: &str) {
        if let Some(touched) = self.trials.get_mut(id) {
            touched.outcome = Told::Dropped;
        }
    }

    /// Adds an event.
    pub fn add_event(&mut self, epoch: u32, event: Event, at_ms: i64) {
        self.events.push((epoch, event, at_ms));
    }

    /// Adds to what is done and promised of a cell.
    pub fn add_to_cell(&mut self, cell: i64, done: i64, leased: i64) {
        let sum = self.cells.entry(cell).or_default();
        *sum = (sum.0 + done, sum.1 + leased);
    }

    /// Returns whether cells would be fuller or emptier if this were settled.
    pub fn moves_cells(&self) -> bool {
        self.cells.values().any(|(done, leased)| done + leased != 0)
    }

    /// Says that the session is further on, or was heard of.
    pub fn note_progress(&mut self) {
        self.has_progress = true;
    }

    /// Says that more of the session has changed than how far it is.
    pub fn note_facts(&mut self) {
        self.has_facts = true;
        self.measure();
    }

    fn measure(&mut self) {
        let calibration: Option<Calibration> =
            self.row.calibration.as_deref().and_then(|text| serde_json::from_str(text).ok());
        self.stimulus_px = calibration.map(|calibration| calibration.stimulus_px);
    }

    /// Says under which number the journal has what is not settled.
    pub fn note_journal(&mut self, id: i64) {
        self.first_id.get_or_insert(id);
    }

    /// Returns how many events are not in their table.
    pub fn n_behind(&self) -> usize {
        self.events.len()
    }

    /// Writes everything to its table.
    pub fn settle(&mut self, tx: &mut dyn Connection) -> Result<(), StoreError> {
        let session = &self.row.session;
        for (epoch, event, at_ms) in self.events.drain(..) {
            event::append(tx, session, epoch, &event, at_ms)?;
        }
        for touched in self.trials.values_mut().filter(|touched| touched.has_changed) {
            match std::mem::take(&mut touched.outcome) {
                Told::Nothing => trial::update(tx, &touched.trial)?,
                Told::Report { outcome, stimulus_px, at_ms } => {
                    result::store(tx, &touched.trial, &outcome, stimulus_px, at_ms)?;
                }
                Told::Dropped => {
                    trial::update(tx, &touched.trial)?;
                    result::clear(tx, &touched.trial.trial)?;
                }
            }
            touched.has_changed = false;
        }
        // What is over is seldom spoken of again.
        self.trials.retain(|_, touched| touched.trial.state.is_leased());
        for (cell, (done, leased)) in std::mem::take(&mut self.cells) {
            cell::add(tx, &self.row.study, cell, done, leased)?;
        }
        for (epoch, chain) in self.chains.iter_mut().filter(|(_, chain)| chain.has_changed) {
            session::update_epoch(tx, session, *epoch, &chain.row)?;
            chain.has_changed = false;
        }
        if self.has_facts {
            session::update(tx, &self.row)?;
        } else if self.has_progress {
            session::update_progress(tx, &self.row)?;
        }
        (self.has_facts, self.has_progress, self.first_id) = (false, false, None);
        Ok(())
    }
}
