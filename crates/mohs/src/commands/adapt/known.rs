//! Predictions by model and stimulus: what is looked up in replays and taken from reference models.
//!
//! Only rows without a probe count, unless all have one. It refuses two rows about the same model
//! and stimulus, because only one of them can be the answer.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};

use mohs_data::format::{ReadOptions, read_all};
use mohs_data::{Outcome, Prediction, Stimulus, StimulusId, nearest};
use mohs_vision::evaluate::Lack;

use super::WithoutClass;
use crate::error::CliError;
use crate::ui::Ui;

/// Predictions about some stimuli.
pub(crate) struct Known {
    rows: Vec<Prediction>,
    /// By model, positions of rows by position of the stimulus.
    by_model: BTreeMap<String, Vec<Option<usize>>>,
    files: String,
}

impl Known {
    /// Reads one or more files.
    pub(crate) fn read(paths: &[PathBuf], stimuli: &[Stimulus], ui: &Ui) -> Result<Self, CliError> {
        let mut rows = Vec::new();
        for path in paths {
            let read = read_all::<Prediction>(path, &ReadOptions::default());
            let read = read.map_err(|error| {
                CliError::from(error).while_doing("cannot read the predictions")
            })?;
            ui.say(&format!("{} predictions read from {}", read.len(), path.display()));
            rows.extend(read);
        }
        let files: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
        Self::new(rows, stimuli, files.join(", "))
    }

    /// Joins rows with stimuli; rows about other stimuli are left out.
    pub(crate) fn new(
        rows: Vec<Prediction>,
        stimuli: &[Stimulus],
        files: String,
    ) -> Result<Self, CliError> {
        let place: HashMap<&StimulusId, usize> =
            stimuli.iter().enumerate().map(|(idx, stimulus)| (&stimulus.id, idx)).collect();
        let has_plain = rows.iter().any(|row| row.probe == Prediction::NO_PROBE);
        let mut by_model: BTreeMap<String, Vec<Option<usize>>> = BTreeMap::new();
        for (idx, row) in rows.iter().enumerate() {
            if has_plain && row.probe != Prediction::NO_PROBE {
                continue;
            }
            let Some(stimulus) = place.get(&row.stimulus) else { continue };
            let of_model = by_model
                .entry(row.model.as_str().to_owned())
                .or_insert_with(|| vec![None; stimuli.len()]);
            if of_model[*stimulus].replace(idx).is_some() {
                return Err(CliError::input(format!(
                    "{files}: model `{}` has two answers about `{}`",
                    row.model, row.stimulus
                ))
                .hint("keep one probe and one condition; a row that was written twice must go"));
            }
        }
        if by_model.is_empty() {
            return Err(CliError::input(format!("{files}: no row is about any of the stimuli"))
                .hint("ids of stimuli should be written alike in both files"));
        }
        Ok(Self { rows, by_model, files })
    }

    /// Names of the models.
    pub(crate) fn models(&self) -> impl Iterator<Item = &str> {
        self.by_model.keys().map(String::as_str)
    }

    /// Returns the model that is meant: the one that is named, or the only one.
    pub(super) fn model_named(&self, name: Option<&str>) -> Result<String, CliError> {
        let names: Vec<&str> = self.models().collect();
        match (name, names.as_slice()) {
            (Some(name), _) if self.by_model.contains_key(name) => Ok(name.to_owned()),
            (None, [only]) => Ok((*only).to_owned()),
            (Some(name), _) => Err(unknown_model(&self.files, name, &names)),
            (None, _) => Err(CliError::input(format!(
                "{} holds {} models: {}",
                self.files,
                names.len(),
                some(&names)
            ))
            .hint("say which is under test with --model NAME")),
        }
    }

    /// Returns one model's rows by position of the stimulus.
    pub(super) fn rows_of(&self, model: &str) -> Result<Vec<Option<&Prediction>>, CliError> {
        let rows = self
            .by_model
            .get(model)
            .ok_or_else(|| unknown_model(&self.files, model, &self.models().collect::<Vec<_>>()))?;
        Ok(rows.iter().map(|row| row.map(|idx| &self.rows[idx])).collect())
    }

    /// Returns every model's answers by position of the stimulus, but for those that are left out.
    pub(crate) fn answers(
        &self,
        stimuli: &[Stimulus],
        left_out: &BTreeSet<&str>,
        without_class: WithoutClass,
    ) -> Vec<(String, Vec<Option<bool>>)> {
        let of = |(model, rows): (&String, &Vec<Option<usize>>)| {
            let answer = |(row, stimulus): (&Option<usize>, &Stimulus)| {
                is_right(&self.rows[(*row)?], stimulus, without_class)
            };
            (model.clone(), rows.iter().zip(stimuli).map(answer).collect())
        };
        let is_kept =
            |(model, _): &(&String, &Vec<Option<usize>>)| !left_out.contains(model.as_str());
        self.by_model.iter().filter(is_kept).map(of).collect()
    }
}

/// Whether a prediction is right, by its own word or by the label of the stimulus; a refusal, or an
/// answer that names no class, by the rule for them. It is the same rule wherever predictions come
/// from: an endpoint, or a file of what an endpoint said.
pub(super) fn is_right(
    prediction: &Prediction,
    stimulus: &Stimulus,
    without_class: WithoutClass,
) -> Option<bool> {
    if lack(prediction).is_some_and(is_wordless) {
        return (without_class == WithoutClass::Wrong).then_some(false);
    }
    let by_label = || Some(prediction.answer()?.predicted == stimulus.label);
    prediction.is_correct().or_else(by_label)
}

/// Names that a hint lists before it says that there are more.
const SHOWN: usize = 12;

/// Why a prediction of a file holds no answer, by its reason; `None` if it holds one.
pub(super) fn lack(prediction: &Prediction) -> Option<Lack> {
    match &prediction.outcome {
        Outcome::Answered(_) => None,
        Outcome::Failed(reason) => Some(Lack::of_words(reason).unwrap_or(Lack::Broken)),
    }
}

/// Whether a model said something that is no class, or did not want to answer.
pub(super) fn is_wordless(lack: Lack) -> bool {
    matches!(lack, Lack::Unmatched | Lack::Refused)
}

/// The complaint about a model nobody knows, with the nearest name.
pub(super) fn unknown_model(files: &str, found: &str, known: &[&str]) -> CliError {
    let error = CliError::input(format!("{files} has no model `{found}`"));
    match nearest(found, known.iter().copied()) {
        Some(near) => error.hint(format!("did you mean `{near}`?")),
        None => error.hint(format!("models are called: {}", some(known))),
    }
}

/// The first names of a list.
pub(in crate::commands) fn some(names: &[&str]) -> String {
    let first: Vec<&str> = names.iter().take(SHOWN).copied().collect();
    let more = if SHOWN < names.len() { ", …" } else { "" };
    format!("{}{more}", first.join(", "))
}

/// Whether a path names an evaluation.
pub(super) fn is_evaluation(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "toml")
}

/// Whether a path names a model.
pub(super) fn is_model(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "onnx")
}
