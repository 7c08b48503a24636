//! Whole files, checked against each other, for commands that need every row.
//!
//! The streaming readers check a row by itself. Here rows are held against their neighbours (ids
//! stand once), against the stimuli (ids exist, labels agree) and against the list of labels.
//! Every complaint names the line.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;

use crate::comparison::win::Win;
use crate::error::nearest;
use crate::format::table::Record;
use crate::format::{ReadOptions, TableReader};
use crate::{Comparison, FileError, Label, Prediction, Problem, Stimulus, StimulusId, Trial};

/// What rows are held against.
#[derive(Debug, Clone, Default)]
pub struct Checks<'a> {
    /// How the table is read.
    pub options: ReadOptions,
    /// The stimuli that may occur; `None` leaves their ids and labels unchecked.
    pub stimuli: Option<&'a [Stimulus]>,
    /// What errors call the stimuli, e.g. `stimuli.csv`.
    pub stimuli_name: String,
    /// The labels that may occur; `None` means those of the stimuli, if there are any.
    pub labels: Option<&'a [String]>,
    /// What errors call the labels, e.g. `the labels of study.toml`.
    pub labels_name: String,
}

/// The same for trials.
pub type TrialChecks<'a> = Checks<'a>;

/// Reads all trials: at least one, ids unique, stimuli and labels known, every answer judged.
///
/// Labels the trials lack are joined from the stimuli.
pub fn read_trials(path: &Path, checks: &TrialChecks<'_>) -> Result<Vec<Trial>, FileError> {
    let known = Known::new(checks);
    let mut trials = read_unique(path, &checks.options, |trial: &Trial| trial.id.clone())?;
    for (line, trial) in &mut trials {
        let here = |problem| FileError::new(path, problem).at_line(*line);
        known.fill_label(&trial.stimulus, &mut trial.label).map_err(here)?;
        for (what, label) in [("label", &trial.label), ("response", &trial.response)] {
            if let Some(label) = label {
                known.check_label(what, label).map_err(here)?;
            }
        }
        check_joined(trial).map_err(here)?;
    }
    Ok(without_lines(trials))
}

/// Reads all comparisons: at least one, ids unique, stimuli known.
///
/// A table of `winner`, `loser` and, maybe, `count` is understood too: the winner is the harder.
pub fn read_comparisons(path: &Path, checks: &Checks<'_>) -> Result<Vec<Comparison>, FileError> {
    let known = Known::new(checks);
    let comparisons = if is_table_of_wins(path, &checks.options) {
        let wins = read_unique(path, &checks.options, |row: &Win| row.0.id.clone())?;
        wins.into_iter().map(|(line, win)| (line, win.0)).collect()
    } else {
        read_unique(path, &checks.options, |row: &Comparison| row.id.clone())?
    };
    for (line, comparison) in &comparisons {
        for stimulus in [&comparison.left, &comparison.right] {
            known
                .check_stimulus(stimulus)
                .map_err(|problem| FileError::new(path, problem).at_line(*line))?;
        }
    }
    Ok(without_lines(comparisons))
}

/// Returns whether a table has winners and losers instead of sides.
fn is_table_of_wins(path: &Path, options: &ReadOptions) -> bool {
    TableReader::<Win>::open(path, options).is_ok_and(|reader| !reader.has_column("left"))
}

/// Reads all predictions: at least one, each model × stimulus × probe × condition once, stimuli
/// known. Labels the predictions lack are joined from the stimuli.
///
/// Predicted labels are not checked: a model may know classes the stimuli do not show.
pub fn read_predictions(path: &Path, checks: &Checks<'_>) -> Result<Vec<Prediction>, FileError> {
    let known = Known::new(checks);
    let mut predictions = read_unique(path, &checks.options, key_of_prediction)?;
    for (line, prediction) in &mut predictions {
        known
            .fill_label(&prediction.stimulus, &mut prediction.label)
            .map_err(|problem| FileError::new(path, problem).at_line(*line))?;
    }
    Ok(without_lines(predictions))
}

/// Joins labels from the stimuli into trials that have none; trials of other stimuli keep theirs.
pub fn fill_labels(trials: &mut [Trial], stimuli: &[Stimulus]) {
    let label_by_stimulus: HashMap<&StimulusId, &Label> =
        stimuli.iter().map(|stimulus| (&stimulus.id, &stimulus.label)).collect();
    for trial in trials {
        if trial.label.is_none() {
            trial.label = label_by_stimulus.get(&trial.stimulus).map(|label| (*label).clone());
        }
    }
}

/// Says what tells two predictions apart.
fn key_of_prediction(prediction: &Prediction) -> String {
    let Prediction { model, stimulus, probe, condition, .. } = prediction;
    match condition {
        Some(condition) => {
            format!("{model} × {stimulus} × {probe} × {} {}", condition.name, condition.value)
        }
        None => format!("{model} × {stimulus} × {probe}"),
    }
}

/// Reads rows with their lines; at least one, each id once.
fn read_unique<R: Record, Id: std::hash::Hash + Eq + ToString>(
    path: &Path,
    options: &ReadOptions,
    id_of: impl Fn(&R) -> Id,
) -> Result<Vec<(u64, R)>, FileError> {
    let mut reader = TableReader::<R>::open(path, options)?;
    let mut line_by_id: HashMap<Id, u64> = HashMap::new();
    let mut rows = Vec::new();
    while let Some(row) = reader.next() {
        let row = row?;
        let line = reader.line();
        let id = id_of(&row);
        if let Some(first_line) = line_by_id.get(&id) {
            let (what, first_line) = (R::SCHEMA.row_noun, Some(*first_line));
            let problem = Problem::Duplicate { what, id: id.to_string(), first_line };
            return Err(FileError::new(path, problem).at_line(line));
        }
        line_by_id.insert(id, line);
        rows.push((line, row));
    }
    if rows.is_empty() {
        return Err(FileError::new(path, Problem::NoRows { noun: R::SCHEMA.row_noun }));
    }
    Ok(rows)
}

fn without_lines<R>(rows: Vec<(u64, R)>) -> Vec<R> {
    rows.into_iter().map(|(_, row)| row).collect()
}

/// Makes sure, after labels are joined, that an answer is right or wrong, and only one of them.
fn check_joined(trial: &Trial) -> Result<(), Problem> {
    match (&trial.label, &trial.response, trial.marked_correct) {
        (None, Some(response), None) => Err(Problem::BadValue {
            expected: "an answer that can be judged: nothing says what is right".into(),
            found: response.to_string(),
            hint: Some(
                "add a column `label` or `correct`, or give the labels: --stimuli stimuli.csv"
                    .into(),
            ),
        }),
        (Some(label), Some(response), Some(marked)) if (label == response) != marked => {
            Err(Problem::Contradiction {
                detail: format!(
                    "`correct` says {} but the response is `{response}` and `{}` shows `{label}`",
                    u8::from(marked),
                    trial.stimulus
                ),
                hint: "drop the column `correct`, or correct the label of the stimulus".into(),
            })
        }
        _ => Ok(()),
    }
}

/// What the checks know, ready for lookup.
struct Known<'a> {
    label_by_stimulus: Option<BTreeMap<&'a str, &'a Label>>,
    stimuli_name: &'a str,
    labels: Option<BTreeSet<&'a str>>,
    labels_name: String,
}

impl<'a> Known<'a> {
    fn new(checks: &'a Checks<'_>) -> Self {
        let label_by_stimulus = checks.stimuli.map(|stimuli| {
            stimuli.iter().map(|stimulus| (stimulus.id.as_str(), &stimulus.label)).collect()
        });
        let (labels, labels_name) = match (checks.labels, checks.stimuli) {
            (Some(labels), _) => (
                Some(labels.iter().map(String::as_str).collect()),
                name_or(&checks.labels_name, "the labels"),
            ),
            (None, Some(stimuli)) => {
                let name = name_or(&checks.stimuli_name, "the stimuli");
                let labels = stimuli.iter().map(|stimulus| stimulus.label.as_str()).collect();
                (Some(labels), format!("the labels of {name}"))
            }
            (None, None) => (None, String::new()),
        };
        let stimuli_name = match checks.stimuli_name.as_str() {
            "" => "the stimuli",
            name => name,
        };
        Self { label_by_stimulus, stimuli_name, labels, labels_name }
    }

    fn check_stimulus(&self, id: &StimulusId) -> Result<Option<&'a Label>, Problem> {
        let Some(label_by_stimulus) = &self.label_by_stimulus else { return Ok(None) };
        match label_by_stimulus.get(id.as_str()) {
            Some(label) => Ok(Some(*label)),
            None => Err(Problem::Unknown {
                what: "stimulus",
                id: id.to_string(),
                known_in: self.stimuli_name.to_owned(),
                nearest: nearest(id.as_str(), label_by_stimulus.keys().copied()),
            }),
        }
    }

    /// Joins the label of the stimulus, or makes sure that it is the same.
    fn fill_label(&self, id: &StimulusId, label: &mut Option<Label>) -> Result<(), Problem> {
        let Some(expected) = self.check_stimulus(id)? else { return Ok(()) };
        match label {
            Some(label) if label != expected => Err(Problem::Contradiction {
                detail: format!(
                    "stimulus `{id}` has the label `{label}` here and `{expected}` in {}",
                    self.stimuli_name
                ),
                hint: "make the labels agree, or drop the column `label` here".into(),
            }),
            Some(_) => Ok(()),
            None => {
                *label = Some(expected.clone());
                Ok(())
            }
        }
    }

    fn check_label(&self, what: &'static str, label: &Label) -> Result<(), Problem> {
        let Some(labels) = &self.labels else { return Ok(()) };
        if labels.contains(label.as_str()) {
            return Ok(());
        }
        Err(Problem::Unknown {
            what,
            id: label.to_string(),
            known_in: self.labels_name.clone(),
            nearest: nearest(label.as_str(), labels.iter().copied()),
        })
    }
}

fn name_or(name: &str, otherwise: &str) -> String {
    if name.is_empty() { otherwise.into() } else { name.into() }
}
