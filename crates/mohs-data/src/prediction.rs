//! A prediction: what one model said about one stimulus under one probe, or why it said nothing.
//!
//! A stimulus that could not be decoded or a model that failed is a row too ([`Outcome::Failed`]):
//! counted and shown, never averaged, never lost.

use std::fmt;

use compact_str::CompactString;

use crate::format::table::{Cell, CellKind, Column, Record, Row, Schema};
use crate::{Extra, FileError, Label, ModelName, Problem, StimulusId};

/// One model × stimulus × probe × condition.
#[derive(Debug, Clone, PartialEq)]
pub struct Prediction {
    /// The model; named after the file when the file has no such column.
    pub model: ModelName,
    /// What the model saw.
    pub stimulus: StimulusId,
    /// What was done to the stimulus first; [`Prediction::NO_PROBE`] when nothing was.
    pub probe: CompactString,
    /// A setting that runs through several values, e.g. the epoch or the noise level.
    pub condition: Option<Condition>,
    /// The right answer, where the file says it.
    pub label: Option<Label>,
    /// What came back.
    pub outcome: Outcome,
    /// Columns `mohs` does not know.
    pub extra: Extra,
}

/// A setting and its value.
#[derive(Debug, Clone, PartialEq)]
pub struct Condition {
    /// What is set: `epoch`, `epsilon`, `timestep` …
    pub name: CompactString,
    /// The value. Finite.
    pub value: f64,
}

/// What came back from a model.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// An answer, right or wrong.
    Answered(Answer),
    /// No answer.
    Failed(FailureReason),
}

/// What a model answered.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// The class it puts first.
    pub predicted: Label,
    /// The probability it gives that class, from 0 to 1.
    pub confidence: Option<f64>,
    /// Its first classes with their probabilities, best first; empty when not recorded.
    pub top_k: Vec<(Label, f64)>,
    /// The file's own word on whether the answer was right.
    pub correct: Option<bool>,
}

/// Why there is no answer.
///
/// Invariant: not empty.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct FailureReason(String);

impl FailureReason {
    /// Wraps the reason; an empty one becomes `unknown`.
    pub fn new(text: impl Into<String>) -> Self {
        let text: String = text.into();
        Self(if text.is_empty() { "unknown".into() } else { text })
    }

    /// Returns the reason.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for FailureReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Prediction {
    /// The probe's name when nothing was done to the stimulus.
    pub const NO_PROBE: &'static str = "none";

    /// Returns the answer, `None` when the model failed.
    pub fn answer(&self) -> Option<&Answer> {
        match &self.outcome {
            Outcome::Answered(answer) => Some(answer),
            Outcome::Failed(_) => None,
        }
    }

    /// Returns whether the answer is right.
    ///
    /// The column `correct` goes before a comparison with the label, because truth may have
    /// several labels. `None` when the model failed or nothing says what the right answer is.
    pub fn is_correct(&self) -> Option<bool> {
        let answer = self.answer()?;
        answer.correct.or_else(|| self.label.as_ref().map(|label| *label == answer.predicted))
    }
}

const MODEL: usize = 0;
const STIMULUS: usize = 1;
const PROBE: usize = 2;
const CONDITION: usize = 3;
const CONDITION_VALUE: usize = 4;
const LABEL: usize = 5;
const OUTCOME: usize = 6;
const PREDICTED: usize = 7;
const CONFIDENCE: usize = 8;
const CORRECT: usize = 9;
const TOP_K: usize = 10;
const REASON: usize = 11;

const ANSWERED: &str = "answered";
const FAILED: &str = "failed";

impl Record for Prediction {
    const SCHEMA: &'static Schema = &Schema {
        noun: "predictions",
        row_noun: "prediction",
        version: 1,
        version_column: "predictions_version",
        columns: &[
            Column::new("model", CellKind::Text, &["model_name", "subj", "arch", "network"]),
            Column::new(
                "stimulus",
                CellKind::Text,
                &["file_name", "filename", "image", "image_id", "imagename", "file", "path", "id"],
            ),
            Column::new("probe", CellKind::Text, &["corruption", "attack", "transform"]),
            Column::new("condition", CellKind::Text, &[]),
            Column::new("condition_value", CellKind::Real, &["severity", "epsilon", "eps"]),
            Column::new(
                "label",
                CellKind::Text,
                &["true_label", "category", "class", "target", "truth", "label_true"],
            ),
            Column::new("outcome", CellKind::Text, &["status"]),
            Column::new(
                "predicted",
                CellKind::Text,
                &["predicted_class", "pred", "prediction", "object_response", "label_pred"],
            ),
            Column::new(
                "confidence",
                CellKind::Real,
                &["predicted_probability", "prob", "probability", "score"],
            ),
            Column::new("correct", CellKind::Flag, &["is_correct", "acc", "accuracy"]),
            Column::new("top_k", CellKind::Text, &["topk", "top5"]),
            Column::new("reason", CellKind::Text, &["error"]),
        ],
        required: &[STIMULUS, PREDICTED],
    };

    fn from_row(row: &Row<'_>) -> Result<Self, FileError> {
        Ok(Self {
            model: row.text(MODEL).map_or_else(|| model_of_file(row), ModelName::new),
            stimulus: StimulusId::new(row.required_text(STIMULUS)?),
            probe: row
                .text(PROBE)
                .map_or(CompactString::const_new(Self::NO_PROBE), CompactString::from),
            condition: condition(row)?,
            label: row.text(LABEL).map(Label::new),
            outcome: outcome(row)?,
            extra: row.extra(),
        })
    }

    fn cells<'a>(&'a self, cells: &mut Vec<Cell<'a>>) {
        cells.extend([
            Cell::text(Some(self.model.as_str())),
            Cell::text(Some(self.stimulus.as_str())),
            Cell::text(Some(&self.probe)),
            Cell::text(self.condition.as_ref().map(|condition| condition.name.as_str())),
            Cell::real(self.condition.as_ref().map(|condition| condition.value)),
            Cell::text(self.label.as_ref().map(Label::as_str)),
        ]);
        match &self.outcome {
            Outcome::Answered(answer) => cells.extend([
                Cell::text(Some(ANSWERED)),
                Cell::text(Some(answer.predicted.as_str())),
                Cell::real(answer.confidence),
                Cell::flag(answer.correct),
                Cell::Text(top_k_text(&answer.top_k).into()),
                Cell::Empty,
            ]),
            Outcome::Failed(reason) => cells.extend([
                Cell::text(Some(FAILED)),
                Cell::Empty,
                Cell::Empty,
                Cell::Empty,
                Cell::Empty,
                Cell::text(Some(reason.as_str())),
            ]),
        }
    }

    fn extra(&self) -> &Extra {
        &self.extra
    }
}

/// Files made elsewhere hold one model each and carry its name outside.
fn model_of_file(row: &Row<'_>) -> ModelName {
    ModelName::new(row.path().file_stem().unwrap_or_default().to_string_lossy())
}

fn condition(row: &Row<'_>) -> Result<Option<Condition>, FileError> {
    match (row.text(CONDITION), row.real(CONDITION_VALUE)?) {
        (None, None) => Ok(None),
        (Some(name), Some(value)) => Ok(Some(Condition { name: name.into(), value })),
        (Some(name), None) => {
            let hint =
                format!("`condition` says what is set (`{name}`), this column to which value");
            Err(row.bad_value(CONDITION_VALUE, "a number", "", Some(hint)))
        }
        (None, Some(value)) => {
            let hint = format!("say what is set to {value}, e.g. `epoch` or `epsilon`");
            Err(row.bad_value(CONDITION, "filled in", "", Some(hint)))
        }
    }
}

fn outcome(row: &Row<'_>) -> Result<Outcome, FileError> {
    let has_failed = match row.word(OUTCOME, &[(ANSWERED, false), (FAILED, true)])? {
        Some(has_failed) => has_failed,
        None => row.text(PREDICTED).is_none() && row.text(REASON).is_some(),
    };
    if has_failed {
        return Ok(Outcome::Failed(FailureReason::new(row.text(REASON).unwrap_or_default())));
    }
    let Some(predicted) = row.text(PREDICTED) else {
        let hint = "a row without an answer has `failed` in `outcome` and says why in `reason`";
        return Err(row.bad_value(PREDICTED, "the model's answer", "", Some(hint.into())));
    };
    let confidence = row.real(CONFIDENCE)?;
    if let Some(confidence) = confidence
        && !(0.0..=1.0).contains(&confidence)
    {
        let hint = (1.0 < confidence && confidence <= 100.0)
            .then(|| "are these per cent? Divide by 100".to_owned());
        let found = confidence.to_string();
        return Err(row.bad_value(CONFIDENCE, "a probability from 0 to 1", &found, hint));
    }
    let top_k = match row.text(TOP_K) {
        Some(text) => parse_top_k(&text).ok_or_else(|| {
            let hint = "write `mug:0.91|cup:0.05`; put `\\` before `:`, `|` and `\\` in labels";
            row.error(
                TOP_K,
                Problem::BadValue {
                    expected: "labels with their probabilities".into(),
                    found: text.chars().take(80).collect(),
                    hint: Some(hint.into()),
                },
            )
        })?,
        None => Vec::new(),
    };
    let predicted = Label::new(predicted);
    Ok(Outcome::Answered(Answer { predicted, confidence, top_k, correct: row.flag(CORRECT)? }))
}

/// Writes `mug:0.91|cup:0.05`, with `\` before `:`, `|` and `\` inside a label.
pub(crate) fn top_k_text(top_k: &[(Label, f64)]) -> String {
    let mut text = String::new();
    for (idx, (label, probability)) in top_k.iter().enumerate() {
        if 0 < idx {
            text.push('|');
        }
        for c in label.as_str().chars() {
            if matches!(c, ':' | '|' | '\\') {
                text.push('\\');
            }
            text.push(c);
        }
        text.push(':');
        text.push_str(&probability.to_string());
    }
    text
}

/// Parses what [`top_k_text`] writes; `None` if it is anything else.
fn parse_top_k(text: &str) -> Option<Vec<(Label, f64)>> {
    let mut top_k = Vec::new();
    let mut chars = text.chars();
    loop {
        let mut label = String::new();
        loop {
            match chars.next()? {
                ':' => break,
                '|' => return None,
                '\\' => label.push(chars.next()?),
                c => label.push(c),
            }
        }
        let rest = chars.as_str();
        let end = rest.find('|').unwrap_or(rest.len());
        let probability: f64 = rest[..end].trim().parse().ok()?;
        if !probability.is_finite() {
            return None;
        }
        top_k.push((Label::new(label), probability));
        if end == rest.len() {
            return Some(top_k);
        }
        chars = rest[end + 1..].chars();
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::format::{ReadOptions, TableReader};

    fn first_row(csv: &str, maps: &[(&str, &str)]) -> Result<Prediction, FileError> {
        let column_map = maps.iter().map(|(k, v)| ((*k).into(), (*v).into())).collect();
        let options = ReadOptions { column_map, ..ReadOptions::default() };
        let path = Path::new("resnet50.csv");
        TableReader::from_bytes(path, csv.as_bytes().to_vec(), &options)?.next().unwrap()
    }

    #[test]
    fn labels_with_marks_survive_the_top_k_cell() {
        let top_k = vec![(Label::new(r"a:b|c\d"), 0.9), (Label::new(""), 1e-300)];
        assert_eq!(parse_top_k(&top_k_text(&top_k)), Some(top_k));
        assert_eq!(parse_top_k("mug"), None);
        assert_eq!(parse_top_k("mug:x"), None);
        assert_eq!(parse_top_k("mug:0.5|"), None);
        assert_eq!(parse_top_k("mug:NaN"), None);
    }

    #[test]
    fn an_imagenet_x_file_is_read_with_a_map() {
        let csv = "file_name,predicted_class,predicted_probability\nval_1.JPEG,65,0.75\n";
        let maps = [
            ("stimulus", "file_name"),
            ("predicted", "predicted_class"),
            ("confidence", "predicted_probability"),
        ];
        let prediction = first_row(csv, &maps).unwrap();
        assert_eq!(prediction.model.as_str(), "resnet50");
        assert_eq!(prediction.probe, Prediction::NO_PROBE);
        assert_eq!(prediction.answer().unwrap().confidence, Some(0.75));
        assert_eq!(prediction.is_correct(), None);
    }

    #[test]
    fn a_failure_is_a_row_with_its_reason() {
        let csv = "stimulus,outcome,predicted,reason\na.png,failed,,cannot decode\n";
        let prediction = first_row(csv, &[]).unwrap();
        assert_eq!(prediction.outcome, Outcome::Failed(FailureReason::new("cannot decode")));
        assert_eq!(prediction.is_correct(), None);
    }

    #[test]
    fn a_row_without_answer_or_reason_is_refused() {
        let error = first_row("stimulus,predicted\na.png,\nb.png,mug\n", &[]).unwrap_err();
        insta::assert_snapshot!(
            format!("{error}\n{}", error.hint().unwrap()),
            @r"
        resnet50.csv:2: `predicted` should be the model's answer, found nothing
        a row without an answer has `failed` in `outcome` and says why in `reason`
        "
        );
    }

    #[test]
    fn per_cent_is_not_a_probability() {
        let error = first_row("stimulus,predicted,confidence\na,mug,91\n", &[]).unwrap_err();
        insta::assert_snapshot!(
            format!("{error}\n{}", error.hint().unwrap()),
            @r"
        resnet50.csv:2: `confidence` should be a probability from 0 to 1, found `91`
        are these per cent? Divide by 100
        "
        );
    }

    #[test]
    fn a_condition_needs_its_name_and_its_value() {
        let error = first_row("stimulus,predicted,condition_value\na,mug,3\n", &[]).unwrap_err();
        insta::assert_snapshot!(
            format!("{error}\n{}", error.hint().unwrap()),
            @r"
        resnet50.csv:2: `condition` should be filled in, found nothing
        say what is set to 3, e.g. `epoch` or `epsilon`
        "
        );
    }
}
