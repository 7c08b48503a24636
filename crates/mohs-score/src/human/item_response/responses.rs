//! Who answered what, as the item response model needs it: sparse, in both directions, in an order
//! that does not depend on the file's.
//!
//! Nothing is fitted here. A participant may answer a stimulus more than once; every answer counts.

use std::collections::{BTreeMap, BTreeSet};

use mohs_data::format::response_matrix::Pattern;
use mohs_data::{ParticipantId, StimulusId, Trial};

use super::Error;
use crate::proportion::real;

/// Right and wrong answers of participants to stimuli.
///
/// Invariant: every participant and every stimulus has at least one answer, but in a part made by
/// `of_stimuli`.
#[derive(Debug, Clone, PartialEq)]
pub struct Responses {
    pub(super) participants: Vec<ParticipantId>,
    /// How many people a row stands for: more than one in a table of patterns and counts.
    pub(super) n_people: Vec<usize>,
    pub(super) stimuli: Vec<StimulusId>,
    pub(super) by_participant: Rows,
    pub(super) by_stimulus: Rows,
    /// People left out because they answered nothing.
    pub(super) n_silent: usize,
    /// Stimuli left out because nobody answered them.
    pub(super) unanswered: Vec<StimulusId>,
}

/// For each row: the columns answered, and the columns answered rightly.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Rows {
    starts: Vec<usize>,
    answered: Vec<u32>,
    right_starts: Vec<usize>,
    right: Vec<u32>,
    /// Whether the row has each column exactly once.
    is_complete: Vec<bool>,
}

impl Rows {
    fn new(
        n_rows: usize,
        n_columns: usize,
        answers: impl Iterator<Item = (u32, u32, bool)>,
    ) -> Self {
        let mut sorted: Vec<(u32, u32, bool)> = answers.collect();
        sorted.sort_unstable();
        let mut rows = Self {
            starts: vec![0; n_rows + 1],
            answered: Vec::with_capacity(sorted.len()),
            right_starts: vec![0; n_rows + 1],
            right: Vec::new(),
            is_complete: Vec::with_capacity(n_rows),
        };
        for (row, column, is_right) in &sorted {
            rows.answered.push(*column);
            rows.starts[*row as usize + 1] += 1;
            if *is_right {
                rows.right.push(*column);
                rows.right_starts[*row as usize + 1] += 1;
            }
        }
        for row in 0..n_rows {
            rows.starts[row + 1] += rows.starts[row];
            rows.right_starts[row + 1] += rows.right_starts[row];
        }
        for row in 0..n_rows {
            let answered = rows.answered(row);
            let each_once = answered.iter().enumerate().all(|(at, column)| at == *column as usize);
            rows.is_complete.push(answered.len() == n_columns && each_once);
        }
        rows
    }

    /// Returns the columns answered in a row.
    pub(super) fn answered(&self, row: usize) -> &[u32] {
        &self.answered[self.starts[row]..self.starts[row + 1]]
    }

    /// Returns the columns answered rightly in a row.
    pub(super) fn right(&self, row: usize) -> &[u32] {
        &self.right[self.right_starts[row]..self.right_starts[row + 1]]
    }

    pub(super) fn is_complete(&self, row: usize) -> bool {
        self.is_complete[row]
    }

    pub(super) fn all_complete(&self) -> bool {
        self.is_complete.iter().all(|is_complete| *is_complete)
    }
}

impl Responses {
    /// Collects the answers of trials. No answer in time counts as wrong.
    pub fn from_trials<'a>(trials: impl IntoIterator<Item = &'a Trial>) -> Result<Self, Error> {
        let mut answers = Vec::new();
        for trial in trials {
            let is_right = trial
                .is_correct()
                .ok_or_else(|| Error::NotJudged { trial: trial.id.to_string() })?;
            answers.push((&trial.participant, 1, &trial.stimulus, is_right));
        }
        Self::collect(&answers)
    }

    /// Collects the rows of a response matrix. Rows without people or answers do not count.
    pub fn from_patterns(patterns: &[Pattern]) -> Result<Self, Error> {
        let mut names = BTreeSet::new();
        let mut answers = Vec::new();
        let mut n_silent = 0;
        for pattern in patterns.iter().filter(|pattern| 0 < pattern.n_people) {
            if !names.insert(&pattern.participant) {
                return Err(Error::RepeatedRow { participant: pattern.participant.clone() });
            }
            if pattern.answers.is_empty() {
                n_silent += pattern.n_people;
            }
            answers.extend(pattern.answers.iter().map(|(stimulus, is_right)| {
                (&pattern.participant, pattern.n_people, stimulus, *is_right)
            }));
        }
        Ok(Self { n_silent, ..Self::collect(&answers)? })
    }

    /// Notes which of the stimuli there were nobody answered.
    #[must_use]
    pub fn among(mut self, stimuli: &[StimulusId]) -> Self {
        let is_answered = |stimulus: &&StimulusId| self.stimuli.binary_search(stimulus).is_ok();
        self.unanswered = stimuli.iter().filter(|s| !is_answered(s)).cloned().collect();
        self
    }

    fn collect(answers: &[(&ParticipantId, usize, &StimulusId, bool)]) -> Result<Self, Error> {
        let people: BTreeMap<&ParticipantId, usize> =
            answers.iter().map(|(participant, n_people, ..)| (*participant, *n_people)).collect();
        let stimuli: BTreeSet<&StimulusId> = answers.iter().map(|answer| answer.2).collect();
        let n_people: usize = people.values().sum();
        if n_people < 2 {
            return Err(Error::TooFewParticipants { n_participants: n_people });
        }
        if stimuli.len() < 2 {
            return Err(Error::TooFewStimuli { n_stimuli: stimuli.len() });
        }
        let (rows, columns) = (people.len(), stimuli.len());
        let places = |n: usize| u32::try_from(n).expect("because the answers fit into memory");
        let row_of: BTreeMap<&ParticipantId, u32> =
            people.keys().enumerate().map(|(at, id)| (*id, places(at))).collect();
        let column_of: BTreeMap<&StimulusId, u32> =
            stimuli.iter().enumerate().map(|(at, id)| (*id, places(at))).collect();
        let cells: Vec<(u32, u32, bool)> =
            answers.iter().map(|(p, _, s, right)| (row_of[p], column_of[s], *right)).collect();
        Ok(Self {
            by_participant: Rows::new(rows, columns, cells.iter().copied()),
            by_stimulus: Rows::new(
                columns,
                rows,
                cells.iter().map(|(p, s, right)| (*s, *p, *right)),
            ),
            participants: people.keys().map(|id| (*id).clone()).collect(),
            n_people: people.values().copied().collect(),
            stimuli: stimuli.into_iter().cloned().collect(),
            n_silent: 0,
            unanswered: vec![],
        })
    }

    /// Returns how many people there are.
    pub fn n_participants(&self) -> usize {
        self.n_people.iter().sum()
    }

    /// Returns how many stimuli there are.
    pub fn n_stimuli(&self) -> usize {
        self.stimuli.len()
    }

    /// Returns how many answers there are.
    pub fn n_answers(&self) -> usize {
        (0..self.stimuli.len()).map(|stimulus_idx| self.n_answers_to(stimulus_idx)).sum()
    }

    /// Returns how many answers a stimulus has.
    pub(super) fn n_answers_to(&self, stimulus_idx: usize) -> usize {
        self.people_of(self.by_stimulus.answered(stimulus_idx))
    }

    /// Returns how many answers to a stimulus are right.
    pub(super) fn n_right_to(&self, stimulus_idx: usize) -> usize {
        self.people_of(self.by_stimulus.right(stimulus_idx))
    }

    fn people_of(&self, rows: &[u32]) -> usize {
        rows.iter().map(|row| self.n_people[*row as usize]).sum()
    }

    /// Returns how many people a row stands for, as a number to multiply by.
    pub(super) fn weight(&self, participant_idx: usize) -> f64 {
        real(self.n_people[participant_idx])
    }

    /// Returns whether all answered a stimulus rightly, or all wrongly.
    pub(super) fn is_unanimous(&self, stimulus_idx: usize) -> bool {
        let n_right = self.n_right_to(stimulus_idx);
        n_right == 0 || n_right == self.n_answers_to(stimulus_idx)
    }

    /// Returns the answers to some stimuli, in ascending order, of the same participants; some of
    /// them may have none.
    pub(super) fn of_stimuli(&self, stimuli: &[usize]) -> Self {
        let mut cells = Vec::new();
        for (at, stimulus_idx) in (0_u32..).zip(stimuli) {
            let mut right = self.by_stimulus.right(*stimulus_idx).iter().peekable();
            for participant in self.by_stimulus.answered(*stimulus_idx) {
                // Several answers of one participant: which of them is which does not matter.
                let is_right = right.next_if(|next| *next == participant).is_some();
                cells.push((at, *participant, is_right));
            }
        }
        let (rows, columns) = (self.participants.len(), stimuli.len());
        let by_participant = cells.iter().map(|(s, p, right)| (*p, *s, *right));
        Self {
            by_participant: Rows::new(rows, columns, by_participant),
            by_stimulus: Rows::new(columns, rows, cells.iter().copied()),
            stimuli: stimuli.iter().map(|idx| self.stimuli[*idx].clone()).collect(),
            participants: self.participants.clone(),
            n_people: self.n_people.clone(),
            n_silent: 0,
            unanswered: vec![],
        }
    }

    /// Counts the groups of participants that share no stimulus with one another.
    pub(super) fn n_parts(&self) -> usize {
        let mut part_of_participant = vec![usize::MAX; self.participants.len()];
        let mut seen_stimulus = vec![false; self.stimuli.len()];
        let mut n_parts = 0;
        for first in 0..self.participants.len() {
            if part_of_participant[first] != usize::MAX {
                continue;
            }
            let mut open = vec![first];
            part_of_participant[first] = n_parts;
            while let Some(participant) = open.pop() {
                for stimulus in self.by_participant.answered(participant) {
                    let stimulus = *stimulus as usize;
                    if std::mem::replace(&mut seen_stimulus[stimulus], true) {
                        continue;
                    }
                    for other in self.by_stimulus.answered(stimulus) {
                        let other = *other as usize;
                        if part_of_participant[other] == usize::MAX {
                            part_of_participant[other] = n_parts;
                            open.push(other);
                        }
                    }
                }
            }
            n_parts += 1;
        }
        n_parts
    }
}
