//! Rows of attacks beside stimuli and difficulty: the one table all measures of attacks read.
//!
//! A series is one model under one attack: one norm, one goal, one kind of search, one set of
//! parameters. Series of different norms, goals or kinds are never mixed. Rows are joined by the
//! stimulus' id and nothing is lost silently; two rows about the same are refused.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use mohs_data::{Goal, How, Label, MinEpsilon, ModelName, Norm, Search, StimulusId};

use super::survival::{self, Observation};
use super::{AttackError, Input};
use crate::model::bands::{self, Bands};
use crate::model::table::{Shown, classes, difficulty_by_id, stimulus_by_id};

/// What must be the same for ε to be held against each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Kind {
    pub(super) goal: Goal,
    pub(super) is_bound: bool,
    pub(super) norm: Norm,
}

/// One model under one attack.
pub(super) struct Series<'a> {
    pub(super) kind: Kind,
    pub(super) model_idx: usize,
    /// The attack, with its parameters where there are several sets of them.
    pub(super) name: String,
    pub(super) settings: &'a str,
    pub(super) rows: Vec<&'a MinEpsilon>,
    /// Stimuli that were attacked, sorted by ε.
    pub(super) observed: Vec<Observation>,
    /// Stimuli with nothing to attack.
    pub(super) not_attacked: Vec<usize>,
    /// Stimuli without an outcome.
    pub(super) failed: Vec<usize>,
}

impl Series<'_> {
    /// Returns the stimuli of a run of places, sorted by ε.
    pub(super) fn within(&self, places: &std::ops::Range<usize>) -> Vec<Observation> {
        self.observed.iter().copied().filter(|o| places.contains(&o.stimulus_idx)).collect()
    }
}

/// Everything joined.
pub(super) struct Table<'a> {
    /// In the order of their first rows.
    pub(super) models: Vec<&'a ModelName>,
    /// Sorted by band, class and id; those without a band last.
    pub(super) stimuli: Vec<Shown<'a>>,
    pub(super) bands: Option<Bands>,
    /// By model and stimulus: whether the answer before any attack is right.
    pub(super) clean: Vec<Vec<Option<bool>>>,
    /// Pairs of model and stimulus whose rows disagree on that answer.
    pub(super) n_clean_differ: usize,
    /// By kind, model and attack, the last two in the order of their first rows.
    pub(super) series: Vec<Series<'a>>,
    pub(super) n_unused_difficulties: usize,
    pub(super) n_unknown_stimuli: usize,
}

impl<'a> Table<'a> {
    pub(super) fn new(input: &Input<'a>) -> Result<Self, AttackError> {
        let rows = input.rows;
        check_outcomes(rows)?;
        let stimulus_by_id = stimulus_by_id(input.stimuli)?;
        let wanted = input.options.difficulty_measure.as_deref();
        let difficulty_by_id = difficulty_by_id(input.difficulties, wanted)?;
        let mut label_by_id: BTreeMap<&StimulusId, &Label> = BTreeMap::new();
        for row in rows {
            // Should rows disagree, any fixed choice does: this is only about groups.
            let label = label_by_id.entry(&row.stimulus).or_insert(&row.label);
            *label = (*label).min(&row.label);
        }
        let mut stimuli: Vec<Shown<'a>> = label_by_id
            .into_iter()
            .map(|(id, label)| {
                let stimulus = stimulus_by_id.get(id).copied();
                Shown {
                    id,
                    label: Some(stimulus.map_or(label, |stimulus| &stimulus.label)),
                    stimulus,
                    difficulty: difficulty_by_id.get(id).copied(),
                    class_idx: 0,
                    band_idx: None,
                }
            })
            .collect();
        let n_used = stimuli.iter().filter(|shown| shown.difficulty.is_some()).count();
        if let (Some(row), Some(first), 0) = (input.difficulties.first(), rows.first(), n_used) {
            return Err(AttackError::OtherStimuli {
                n_difficulties: difficulty_by_id.len(),
                difficulty: row.stimulus.clone(),
                attacked: first.stimulus.clone(),
            });
        }
        let bands = bands::assign(&mut stimuli, input.options.n_bands);
        classes(&mut stimuli);
        stimuli
            .sort_by_key(|shown| (shown.band_idx.unwrap_or(usize::MAX), shown.class_idx, shown.id));
        let place: HashMap<&StimulusId, usize> =
            stimuli.iter().enumerate().map(|(idx, shown)| (shown.id, idx)).collect();
        let models = in_order(rows.iter().map(|row| &row.model));
        let model_idx: HashMap<&ModelName, usize> =
            models.iter().enumerate().map(|(idx, model)| (*model, idx)).collect();
        let (clean, n_clean_differ) = clean(rows, &model_idx, &place, stimuli.len());
        let series = series(rows, &model_idx, &place)?;
        let n_unknown = stimuli.iter().filter(|shown| shown.stimulus.is_none()).count();
        Ok(Self {
            n_unused_difficulties: difficulty_by_id.len() - n_used,
            n_unknown_stimuli: if input.stimuli.is_empty() { 0 } else { n_unknown },
            models,
            stimuli,
            bands,
            clean,
            n_clean_differ,
            series,
        })
    }

    /// Returns where the stimuli of each band stand, from easy to hard.
    pub(super) fn band_places(&self) -> Vec<std::ops::Range<usize>> {
        let n_bands = self.bands.as_ref().map_or(0, |bands| bands.names.len());
        let key = |shown: &Shown<'_>| shown.band_idx.unwrap_or(usize::MAX);
        let of = |band_idx: usize| {
            self.stimuli.partition_point(|shown| key(shown) < band_idx)
                ..self.stimuli.partition_point(|shown| key(shown) <= band_idx)
        };
        (0..n_bands).map(of).collect()
    }
}

fn check_outcomes(rows: &[MinEpsilon]) -> Result<(), AttackError> {
    let mut reasons = rows.iter().map(|row| match &row.search {
        Search::Failed(reason) => Some(reason),
        _ => None,
    });
    match reasons.next() {
        None => Err(AttackError::NoRows),
        Some(Some(first)) if reasons.all(|reason| reason.is_some()) => {
            Err(AttackError::OnlyFailures { n_rows: rows.len(), reason: first.to_string() })
        }
        Some(_) => Ok(()),
    }
}

/// Returns each thing once, in the order of its first place.
fn in_order<'a, T: Eq + std::hash::Hash>(all: impl Iterator<Item = &'a T>) -> Vec<&'a T> {
    let mut seen = HashSet::new();
    all.filter(|one| seen.insert(*one)).collect()
}

fn clean(
    rows: &[MinEpsilon],
    model_idx: &HashMap<&ModelName, usize>,
    place: &HashMap<&StimulusId, usize>,
    n_stimuli: usize,
) -> (Vec<Vec<Option<bool>>>, usize) {
    let mut answers: Vec<Vec<Option<(&Label, bool)>>> =
        vec![vec![None; n_stimuli]; model_idx.len()];
    let mut differ = BTreeSet::new();
    for row in rows {
        let (Some(answer), Some(is_right)) = (&row.clean, row.is_clean_correct()) else { continue };
        let at = (model_idx[&row.model], place[&row.stimulus]);
        let known = answers[at.0][at.1].get_or_insert((answer, is_right));
        if known.0 != answer {
            differ.insert(at);
        }
    }
    let is_right = |answer: Option<(&Label, bool)>| answer.map(|answer| answer.1);
    let clean = answers.into_iter().map(|all| all.into_iter().map(is_right).collect()).collect();
    (clean, differ.len())
}

/// What names an attack within a norm and a goal.
type AttackKey<'a> = (Goal, Norm, &'a str, &'a str);

fn attack_key(row: &MinEpsilon) -> AttackKey<'_> {
    (row.goal, row.norm, row.attack.as_str(), row.settings.as_str())
}

fn series<'a>(
    rows: &'a [MinEpsilon],
    model_idx: &HashMap<&ModelName, usize>,
    place: &HashMap<&StimulusId, usize>,
) -> Result<Vec<Series<'a>>, AttackError> {
    let mut order: HashMap<AttackKey<'_>, usize> = HashMap::new();
    let mut bounds: HashSet<AttackKey<'_>> = HashSet::new();
    let mut settings: BTreeMap<(Goal, Norm, &str), BTreeSet<&str>> = BTreeMap::new();
    for row in rows {
        let key = attack_key(row);
        let n = order.len();
        order.entry(key).or_insert(n);
        settings.entry((key.0, key.1, key.2)).or_default().insert(key.3);
        // Whatever came of it, a minimum-norm attack is one for all its rows.
        if row.how == How::Bound {
            bounds.insert(key);
        }
    }
    let mut all: BTreeMap<(Kind, usize, usize), Series<'a>> = BTreeMap::new();
    let mut seen = HashSet::new();
    for row in rows {
        let key = attack_key(row);
        let kind = Kind { goal: row.goal, is_bound: bounds.contains(&key), norm: row.norm };
        let (model, stimulus_idx) = (model_idx[&row.model], place[&row.stimulus]);
        let attack_idx = order[&key];
        if !seen.insert((attack_idx, model, stimulus_idx)) {
            return Err(AttackError::RepeatedRow {
                model: row.model.clone(),
                stimulus: row.stimulus.clone(),
                attack: row.attack.to_string(),
            });
        }
        let has_several = 1 < settings[&(key.0, key.1, key.2)].len();
        let series = all.entry((kind, model, attack_idx)).or_insert_with(|| Series {
            kind,
            model_idx: model,
            name: match has_several && !row.settings.is_empty() {
                true => format!("{} ({})", row.attack, row.settings),
                false => row.attack.to_string(),
            },
            settings: &row.settings,
            rows: Vec::new(),
            observed: Vec::new(),
            not_attacked: Vec::new(),
            failed: Vec::new(),
        });
        series.rows.push(row);
        let mut observe = |epsilon, is_fooled| {
            series.observed.push(Observation { stimulus_idx, epsilon, is_fooled });
        };
        match &row.search {
            Search::Found { epsilon, .. } => observe(*epsilon, true),
            Search::Survived { up_to } => observe(*up_to, false),
            Search::NotAttacked => series.not_attacked.push(stimulus_idx),
            Search::Failed(_) => series.failed.push(stimulus_idx),
        }
    }
    let mut all: Vec<Series<'a>> = all.into_values().collect();
    for series in &mut all {
        survival::sort(&mut series.observed);
    }
    Ok(all)
}
