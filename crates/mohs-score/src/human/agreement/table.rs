//! Trials as numbers: per data set the observers, the conditions and, per stimulus, who answered
//! what. Sorted by names, so that the order of the file does not matter.

use std::collections::{BTreeMap, BTreeSet};

use mohs_data::{
    Excluded, Exclusion, Extra, Label, ParticipantId, SessionId, StimulusId, Trial, TrialId,
};

use super::Error;
use crate::human::exclusion;
use crate::human::viewing_time::ExclusionCount;

/// The name of the data set when trials name none.
pub(super) const UNNAMED: &str = "all";
/// Answers of this number mean "no answer".
pub(super) const NO_ANSWER: usize = 0;

/// One data set.
pub(super) struct Table {
    pub(super) name: String,
    /// People first, then models, each by id.
    pub(super) observers: Vec<ParticipantId>,
    pub(super) n_people: usize,
    pub(super) conditions: Vec<String>,
    /// Sorted by condition, then stimulus.
    pub(super) units: Vec<Unit>,
    /// Units of each condition.
    pub(super) units_of: Vec<std::ops::Range<usize>>,
    /// Names of the answers; the first stands for "no answer".
    pub(super) answers: Vec<Option<Label>>,
    /// Whether every trial says what was answered, so that answers can be compared.
    pub(super) has_answers: bool,
}

/// One stimulus under one condition.
pub(super) struct Unit {
    pub(super) stimulus: StimulusId,
    pub(super) label: Option<Label>,
    /// Class of the other cue, where there is one that differs from the label.
    pub(super) texture: Option<Label>,
    pub(super) condition_idx: usize,
    /// Sorted by observer, each once.
    pub(super) showings: Vec<Showing>,
}

/// One observer's answer about a unit.
#[derive(Debug, Clone, Copy)]
pub(super) struct Showing {
    pub(super) observer_idx: usize,
    pub(super) is_right: bool,
    pub(super) answer: usize,
}

impl Table {
    /// Returns the showings to people.
    pub(super) fn people<'a>(&'a self, unit: &'a Unit) -> impl Iterator<Item = &'a Showing> {
        unit.showings.iter().take_while(|showing| showing.observer_idx < self.n_people)
    }

    /// Returns showings counted.
    pub(super) fn n_trials(&self) -> usize {
        self.units.iter().map(|unit| unit.showings.len()).sum()
    }
}

/// What was kept, and what was not.
pub(super) struct Sorted<'a> {
    /// Trials that count, by data set.
    pub(super) kept: BTreeMap<&'a str, Vec<&'a Trial>>,
    /// Trials of conditions left out, by data set.
    pub(super) left_out: BTreeMap<&'a str, Vec<&'a Trial>>,
    pub(super) exclusions: Vec<Exclusion>,
    pub(super) counts: Vec<ExclusionCount>,
}

fn extra<'a>(trial: &'a Trial, name: &str) -> Option<&'a str> {
    trial.extra.get(name).filter(|text| !text.is_empty())
}

/// Returns the condition, by which only like is compared with like: what was done to the
/// stimulus, and how long people had.
fn condition(trial: &Trial) -> String {
    let exposure = trial.exposure.map(|exposure| exposure.to_string());
    let beep = trial.beep.map(|beep| format!("beep {beep}"));
    [trial.condition.clone(), exposure, beep].into_iter().flatten().collect::<Vec<_>>().join(" · ")
}

/// Sets trials aside and sorts the rest by data set.
pub(super) fn sort(trials: &[Trial], all_conditions: bool) -> Sorted<'_> {
    let mut in_order: Vec<&Trial> = trials.iter().collect();
    in_order.sort_by_cached_key(|trial| order(trial));
    let mut sorted = Sorted {
        kept: BTreeMap::new(),
        left_out: BTreeMap::new(),
        exclusions: Vec::new(),
        counts: Vec::new(),
    };
    let mut seen: BTreeSet<(&str, &ParticipantId, String, &StimulusId)> = BTreeSet::new();
    let mut left_out: Vec<(&Trial, String)> = Vec::new();
    let mut repeated: Vec<(&Trial, String)> = Vec::new();
    let mut practice: Vec<(&Trial, String)> = Vec::new();
    for trial in in_order {
        if let Some(detail) = exclusion::practice(trial) {
            practice.push((trial, detail));
            continue;
        }
        let dataset = extra(trial, "dataset").unwrap_or(UNNAMED);
        let condition = condition(trial);
        let detail = format!("condition {condition}");
        if !seen.insert((dataset, &trial.participant, condition, &trial.stimulus)) {
            repeated.push((trial, format!("stimulus {} seen before", trial.stimulus)));
        } else if !all_conditions && extra(trial, "benchmark") == Some("out") {
            left_out.push((trial, detail));
            sorted.left_out.entry(dataset).or_default().push(trial);
        } else {
            sorted.kept.entry(dataset).or_default().push(trial);
        }
    }
    if !practice.is_empty() {
        let (rule, meaning) = exclusion::PRACTICE;
        set_aside(&mut sorted, rule, meaning, &practice);
    }
    let has_benchmark = trials.iter().any(|trial| extra(trial, "benchmark").is_some());
    if has_benchmark && !all_conditions {
        let meaning = "conditions the benchmark leaves out: nearly undistorted, or too hard for \
                       anyone";
        set_aside(&mut sorted, "benchmark-conditions", meaning, &left_out);
    }
    if !repeated.is_empty() {
        let meaning = "not the first showing of a stimulus to a participant in a condition";
        set_aside(&mut sorted, "duplicate", meaning, &repeated);
    }
    sorted
}

/// Returns what puts showings in the order they happened, as far as anyone knows.
fn order(trial: &Trial) -> (ParticipantId, SessionId, Option<u64>, TrialId) {
    (trial.participant.clone(), trial.session.clone(), trial.idx, trial.id.clone())
}

fn set_aside(sorted: &mut Sorted<'_>, rule: &str, meaning: &str, trials: &[(&Trial, String)]) {
    sorted.counts.push(ExclusionCount {
        rule: rule.into(),
        meaning: meaning.into(),
        n_participants: 0,
        n_trials: trials.len(),
    });
    sorted.exclusions.extend(trials.iter().map(|(trial, detail)| Exclusion {
        rule: rule.into(),
        excluded: Excluded::Trial(trial.id.clone()),
        detail: detail.clone(),
        extra: Extra::default(),
    }));
}

/// Makes the table of one data set.
pub(super) fn table(name: &str, trials: &[&Trial]) -> Result<Table, Error> {
    if let Some(trial) = trials.iter().find(|trial| trial.is_correct().is_none()) {
        return Err(Error::NotJudged { trial: trial.id.to_string() });
    }
    let is_model = |trial: &Trial| extra(trial, "observer") == Some("model");
    let people: BTreeSet<&ParticipantId> =
        trials.iter().filter(|trial| !is_model(trial)).map(|trial| &trial.participant).collect();
    let models: BTreeSet<&ParticipantId> =
        trials.iter().filter(|trial| is_model(trial)).map(|trial| &trial.participant).collect();
    if let Some(both) = people.intersection(&models).next() {
        return Err(Error::BothHumanAndModel { participant: both.to_string() });
    }
    let n_people = people.len();
    let observers: Vec<ParticipantId> = people.into_iter().chain(models).cloned().collect();
    let observer_idx: BTreeMap<&ParticipantId, usize> =
        observers.iter().enumerate().map(|(idx, id)| (id, idx)).collect();
    let conditions: Vec<String> = {
        let names: BTreeSet<String> = trials.iter().map(|trial| condition(trial)).collect();
        let mut names: Vec<String> = names.into_iter().collect();
        names.sort_by(|a, b| by_number(a, b));
        names
    };
    let condition_idx: BTreeMap<&str, usize> =
        conditions.iter().enumerate().map(|(idx, name)| (name.as_str(), idx)).collect();
    let has_answers =
        trials.iter().all(|trial| trial.response.is_some() || trial.marked_correct != Some(true))
            && trials.iter().any(|trial| trial.response.is_some());
    let names: BTreeSet<&Label> =
        trials.iter().filter_map(|trial| trial.response.as_ref()).collect();
    let answers: Vec<Option<Label>> =
        std::iter::once(None).chain(names.into_iter().cloned().map(Some)).collect();
    let position = "because it was collected from the same trials";
    let mut units: BTreeMap<(usize, &StimulusId), Unit> = BTreeMap::new();
    for trial in trials {
        let condition_idx = condition_idx[condition(trial).as_str()];
        let unit = units.entry((condition_idx, &trial.stimulus)).or_insert_with(|| Unit {
            stimulus: trial.stimulus.clone(),
            label: None,
            texture: None,
            condition_idx,
            showings: Vec::new(),
        });
        unit.label = smaller(unit.label.take(), trial.label.clone());
        let texture = extra(trial, "texture").map(Label::new).filter(|_| trial.label.is_some());
        let differs = texture.filter(|texture| trial.label.as_ref() != Some(texture));
        unit.texture = smaller(unit.texture.take(), differs);
        unit.showings.push(Showing {
            observer_idx: observer_idx[&trial.participant],
            is_right: trial.is_correct() == Some(true),
            answer: match &trial.response {
                None => NO_ANSWER,
                given => answers.binary_search(given).expect(position),
            },
        });
    }
    let mut units: Vec<Unit> = units.into_values().collect();
    for unit in &mut units {
        unit.showings.sort_unstable_by_key(|showing| showing.observer_idx);
    }
    let units_of = (0..conditions.len())
        .map(|idx| {
            units.partition_point(|unit| unit.condition_idx < idx)
                ..units.partition_point(|unit| unit.condition_idx <= idx)
        })
        .collect();
    Ok(Table {
        name: name.into(),
        observers,
        n_people,
        conditions,
        units,
        units_of,
        answers,
        has_answers,
    })
}

/// Compares names so that 5 comes before 10, and c5 before c10: by the text before the first number,
/// the number, the whole.
pub(crate) fn by_number(a: &str, b: &str) -> std::cmp::Ordering {
    let parts = |name: &str| {
        let start = name.find(|c: char| c.is_ascii_digit()).unwrap_or(name.len());
        let number: String =
            name[start..].chars().take_while(|c| c.is_ascii_digit() || *c == '.').collect();
        (name[..start].to_owned(), number.parse::<f64>().unwrap_or(-1.0))
    };
    let ((text_a, number_a), (text_b, number_b)) = (parts(a), parts(b));
    text_a.cmp(&text_b).then(number_a.total_cmp(&number_b)).then(a.cmp(b))
}

/// Returns the smaller of two labels, should trials of one stimulus disagree: any fixed choice does.
fn smaller(a: Option<Label>, b: Option<Label>) -> Option<Label> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    }
}
