//! Stimuli on a ladder: which cell and which level each belongs to.
//!
//! A cell is the stimuli of one label and one attribute; chains are made inside a cell, one stimulus
//! of each level. Where stimuli have no attribute, or on request, a cell is a label. A stimulus
//! without a level stands beside the ladder and is counted; one without a label is a cell of its
//! own, which is never complete.

use std::collections::{BTreeMap, BTreeSet};

use mohs_data::{Label, Stimulus};

use super::order::{self, Ordered};
use super::{By, CellKind, LadderError, LevelOrigin, Options};
use crate::model::Cell;
use crate::model::table::{Shown, Table};

/// What stimuli without an attribute are called, where others have one.
const NO_ATTRIBUTE: &str = "no attribute";

/// Stimuli on their levels.
pub(super) struct Ladder<'a> {
    pub(super) origin: LevelOrigin,
    /// The column or the measure that levels come from.
    pub(super) tag: Option<String>,
    pub(super) kind: CellKind,
    /// From easy to hard.
    pub(super) levels: Vec<String>,
    /// By name; empty when no stimulus has one.
    pub(super) attributes: Vec<String>,
    /// By class, then by attribute.
    pub(super) cells: Vec<LadderCell<'a>>,
    /// Stimuli with a level, in the order of the table.
    pub(super) rungs: Vec<Rung>,
    /// Levels of the given order that no stimulus has.
    pub(super) empty: Vec<String>,
    /// Levels that stand for several tags.
    pub(super) tied: Vec<String>,
}

/// The stimuli that chains are made of.
pub(super) struct LadderCell<'a> {
    pub(super) label: Option<&'a Label>,
    /// The cells whose mean shares make its baseline.
    pub(super) group_idx: usize,
}

/// One stimulus with a level.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rung {
    pub(super) stimulus_idx: usize,
    pub(super) cell_idx: usize,
    pub(super) level_idx: usize,
    /// 0 when no stimulus has an attribute.
    pub(super) attribute_idx: usize,
}

impl<'a> Ladder<'a> {
    /// Puts the stimuli of a table on their levels. A level counts although no model was shown one of
    /// its stimuli: without it the ladder would be another one.
    pub(super) fn new(
        table: &Table<'a>,
        stimuli: &[Stimulus],
        options: &Options,
    ) -> Result<Self, LadderError> {
        let (origin, tag) = origin(table, options)?;
        let Ordered { names, level_of, empty, tied } =
            ordered(table, stimuli, options, origin, tag.as_deref())?;
        if names.len() < 2 {
            return Err(LadderError::OneLevel { level: names.first().cloned() });
        }
        let stimuli = &table.stimuli;
        let attribute = |shown: &Shown<'a>| shown.stimulus.and_then(|row| row.attribute.as_deref());
        let attributes: BTreeSet<&str> = stimuli.iter().filter_map(attribute).collect();
        let is_bare = |idx: &usize| level_of[*idx].is_some() && attribute(&stimuli[*idx]).is_none();
        let mut names_of: Vec<&str> = attributes.into_iter().collect();
        if !names_of.is_empty() && (0..stimuli.len()).any(|idx| is_bare(&idx)) {
            names_of.push(NO_ATTRIBUTE);
        }
        let kind = match options.cells {
            CellKind::LabelAndAttribute if !names_of.is_empty() => CellKind::LabelAndAttribute,
            _ => CellKind::Label,
        };
        let mut rungs = Vec::new();
        for (stimulus_idx, level) in level_of.iter().enumerate() {
            let Some(level_idx) = *level else { continue };
            let name = attribute(&stimuli[stimulus_idx]).unwrap_or(NO_ATTRIBUTE);
            let attribute_idx = names_of.iter().position(|other| *other == name).unwrap_or(0);
            rungs.push(Rung { stimulus_idx, cell_idx: 0, level_idx, attribute_idx });
        }
        let key = |rung: &Rung| {
            let group_idx = if kind == CellKind::Label { 0 } else { rung.attribute_idx };
            (stimuli[rung.stimulus_idx].class_idx, group_idx)
        };
        let label_by_key: BTreeMap<(usize, usize), Option<&Label>> =
            rungs.iter().map(|rung| (key(rung), stimuli[rung.stimulus_idx].label)).collect();
        let place: BTreeMap<(usize, usize), usize> =
            label_by_key.keys().enumerate().map(|(idx, key)| (*key, idx)).collect();
        for rung in &mut rungs {
            rung.cell_idx = place[&key(rung)];
        }
        Ok(Self {
            origin,
            tag,
            kind,
            levels: names,
            attributes: names_of.into_iter().map(str::to_owned).collect(),
            cells: label_by_key
                .into_iter()
                .map(|((_, group_idx), label)| LadderCell { label, group_idx })
                .collect(),
            rungs,
            empty,
            tied,
        })
    }

    /// Returns the levels with their stimuli.
    pub(super) fn level_sizes(&self) -> Vec<Cell> {
        self.sizes(&self.levels, |rung| rung.level_idx)
    }

    /// Returns the attributes with their stimuli.
    pub(super) fn attribute_sizes(&self) -> Vec<Cell> {
        self.sizes(&self.attributes, |rung| rung.attribute_idx)
    }

    fn sizes(&self, names: &[String], place: impl Fn(&Rung) -> usize) -> Vec<Cell> {
        let size = |(idx, name): (usize, &String)| Cell {
            name: name.clone(),
            n_stimuli: self.rungs.iter().filter(|rung| place(rung) == idx).count(),
        };
        names.iter().enumerate().map(size).collect()
    }

    /// Returns how many stimuli each cell has at each level, cell by cell.
    pub(super) fn strata(&self) -> Vec<usize> {
        let mut n = vec![0; self.cells.len() * self.levels.len()];
        for rung in &self.rungs {
            n[self.stratum(rung)] += 1;
        }
        n
    }

    /// Returns the place of a stimulus' cell and level among all such pairs.
    pub(super) fn stratum(&self, rung: &Rung) -> usize {
        rung.cell_idx * self.levels.len() + rung.level_idx
    }

    /// Returns the level of a stimulus that may not have been shown to a model, by its tag; `None`
    /// without one, or where levels are parts of a scale.
    pub(super) fn level_of(&self, stimulus: &Stimulus) -> Option<usize> {
        order::place(&self.levels, tag_of(stimulus, self.origin, self.tag.as_deref())?)
    }

    /// Returns the levels of which no model was shown a stimulus.
    pub(super) fn not_shown(&self) -> Vec<String> {
        let is_shown = |idx| self.rungs.iter().any(|rung| rung.level_idx == idx);
        let levels = self.levels.iter().enumerate();
        levels.filter(|(idx, _)| !is_shown(*idx)).map(|(_, name)| name.clone()).collect()
    }

    /// Returns how many groups of cells have a baseline of their own.
    pub(super) fn n_groups(&self) -> usize {
        if self.kind == CellKind::Label { 1 } else { self.attributes.len() }
    }
}

/// Returns what a stimulus says of its level; `None` where levels are parts of a difficulty.
fn tag_of<'s>(
    stimulus: &'s Stimulus,
    origin: LevelOrigin,
    column: Option<&str>,
) -> Option<&'s str> {
    let tag = match origin {
        LevelOrigin::Level => stimulus.level.as_deref(),
        LevelOrigin::Column => stimulus.extra.get(column?),
        LevelOrigin::Difficulty => None,
    };
    tag.map(str::trim).filter(|tag| !tag.is_empty())
}

/// Decides what says how hard stimuli are.
fn origin(
    table: &Table<'_>,
    options: &Options,
) -> Result<(LevelOrigin, Option<String>), LadderError> {
    let has_levels = || {
        let level = |shown: &Shown<'_>| shown.stimulus.is_some_and(|row| row.level.is_some());
        table.stimuli.iter().any(level)
    };
    let measure = || table.stimuli.iter().find_map(|shown| Some(shown.difficulty?.measure.clone()));
    match &options.by {
        By::Level | By::Known if has_levels() => Ok((LevelOrigin::Level, None)),
        By::Difficulty | By::Known => match measure() {
            Some(measure) => Ok((LevelOrigin::Difficulty, Some(measure))),
            None => Err(LadderError::NoLevels),
        },
        By::Level => Err(LadderError::NoLevels),
        By::Column(name) => {
            let rows = || table.stimuli.iter().filter_map(|shown| shown.stimulus);
            if rows().any(|row| row.extra.get(name).is_some()) {
                return Ok((LevelOrigin::Column, Some(name.clone())));
            }
            let known: BTreeSet<&str> =
                rows().flat_map(|row| row.extra.names()).map(|name| name.as_str()).collect();
            let known = known.into_iter().map(str::to_owned).collect();
            Err(LadderError::UnknownColumn { name: name.clone(), known })
        }
    }
}

fn ordered(
    table: &Table<'_>,
    stimuli: &[Stimulus],
    options: &Options,
    origin: LevelOrigin,
    column: Option<&str>,
) -> Result<Ordered, LadderError> {
    let bands = table.bands.as_ref().map(|bands| bands.names.as_slice()).unwrap_or_default();
    if origin == LevelOrigin::Difficulty && options.levels.is_empty() {
        return Ok(Ordered {
            names: bands.to_vec(),
            level_of: table.stimuli.iter().map(|shown| shown.band_idx).collect(),
            empty: Vec::new(),
            tied: Vec::new(),
        });
    }
    let tag = |shown: &Shown<'_>| match origin {
        LevelOrigin::Difficulty => bands.get(shown.band_idx?).cloned(),
        LevelOrigin::Level | LevelOrigin::Column => {
            tag_of(shown.stimulus?, origin, column).map(str::to_owned)
        }
    };
    let tags: Vec<Option<String>> = table.stimuli.iter().map(tag).collect();
    let tags: Vec<Option<&str>> = tags.iter().map(Option::as_deref).collect();
    if tags.iter().all(Option::is_none) {
        return Err(LadderError::NoLevels);
    }
    // Of an order that is given, what it leaves out is left out.
    let is_given =
        |tag: &&str| options.levels.is_empty() || order::place(&options.levels, tag).is_some();
    let of_all = stimuli.iter().map(|row| tag_of(row, origin, column).filter(is_given));
    let with_all: Vec<Option<&str>> = tags.iter().copied().chain(of_all).collect();
    // Parts of a scale have equally many of those that were shown; and words that were not shown must
    // not spoil an order.
    if !order::is_scale(&with_all)
        && let Ok(mut ordered) = order::order(&with_all, &options.levels, options.n_bands)
    {
        ordered.level_of.truncate(tags.len());
        return Ok(ordered);
    }
    order::order(&tags, &options.levels, options.n_bands)
}
