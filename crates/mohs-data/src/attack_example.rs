//! An attacked picture that was kept to be looked at (`examples.csv` in a folder of examples).
//!
//! `file` is the picture after the attack, at the size the model sees; the picture before it lies
//! beside it under the same name with `.clean` before the ending. Nothing is decoded here.

use std::path::{Path, PathBuf};

use compact_str::CompactString;

use crate::format::table::{Cell, CellKind, Column, Record, Row, Schema};
use crate::{Extra, FileError, Goal, Label, ModelName, Norm, StimulusId};

/// One picture that was attacked.
#[derive(Debug, Clone, PartialEq)]
pub struct AttackExample {
    /// The model.
    pub model: ModelName,
    /// What was attacked.
    pub stimulus: StimulusId,
    /// The attack, e.g. `pgd`.
    pub attack: CompactString,
    /// How the size of the change is measured.
    pub norm: Norm,
    /// What the attack was after.
    pub goal: Goal,
    /// The ε the attack was given. From 0 on, finite; at most 1 for the largest change of a number.
    pub epsilon: f64,
    /// The size of the change as it is, which is larger than ε where ε is the length of a step.
    pub change: Option<f64>,
    /// The right answer.
    pub label: Label,
    /// What the model says before the attack.
    pub clean: Option<Label>,
    /// What it says after it.
    pub answer: Option<Label>,
    /// The picture after the attack, from the folder of `examples.csv` on.
    pub file: PathBuf,
    /// The band of the stimulus, where somebody has sorted stimuli by difficulty.
    pub band: Option<String>,
    /// Columns `mohs` does not know.
    pub extra: Extra,
}

impl AttackExample {
    /// Name of the table in a folder of examples.
    pub const FILE: &'static str = "examples.csv";

    /// Returns the picture before the attack: `a/b.png` is `a/b.clean.png`.
    pub fn clean_file(&self) -> PathBuf {
        clean_file(&self.file)
    }
}

fn clean_file(file: &Path) -> PathBuf {
    let stem = file.file_stem().unwrap_or_default().to_string_lossy();
    let ending = file.extension().unwrap_or_default().to_string_lossy();
    file.with_file_name(format!("{stem}.clean.{ending}"))
}

const MODEL: usize = 0;
const STIMULUS: usize = 1;
const ATTACK: usize = 2;
const NORM: usize = 3;
const GOAL: usize = 4;
const EPSILON: usize = 5;
const LABEL: usize = 6;
const CLEAN: usize = 7;
const ANSWER: usize = 8;
const FILE: usize = 9;
const BAND: usize = 10;
const CHANGE: usize = 11;

impl Record for AttackExample {
    const SCHEMA: &'static Schema = &Schema {
        noun: "examples of attacks",
        row_noun: "example of an attack",
        version: 1,
        version_column: "examples_version",
        columns: &[
            Column::new("model", CellKind::Text, &[]),
            Column::new("stimulus", CellKind::Text, &[]),
            Column::new("attack", CellKind::Text, &[]),
            Column::new("norm", CellKind::Text, &[]),
            Column::new("goal", CellKind::Text, &[]),
            Column::new("epsilon", CellKind::Real, &[]),
            Column::new("label", CellKind::Text, &[]),
            Column::new("clean", CellKind::Text, &[]),
            Column::new("answer", CellKind::Text, &[]),
            Column::new("file", CellKind::Text, &[]),
            Column::new("band", CellKind::Text, &[]),
            Column::new("change", CellKind::Real, &[]),
        ],
        required: &[MODEL, STIMULUS, ATTACK, EPSILON, LABEL, FILE],
    };

    fn from_row(row: &Row<'_>) -> Result<Self, FileError> {
        let norms = [Norm::Linf, Norm::L2].map(|norm| (norm.as_str(), norm));
        let goals = [Goal::Fool, Goal::Target, Goal::Correct].map(|goal| (goal.as_str(), goal));
        let norm = row.word(NORM, &norms)?.unwrap_or(Norm::Linf);
        let size = |column: usize| match row.real(column)? {
            Some(value) if !norm.can_be(value) => {
                Err(row.bad_value(column, norm.sizes(), &value.to_string(), norm.hint(value)))
            }
            size => Ok(size),
        };
        let Some(epsilon) = size(EPSILON)? else {
            return Err(row.bad_value(EPSILON, norm.sizes(), "", None));
        };
        Ok(Self {
            model: ModelName::new(row.required_text(MODEL)?),
            stimulus: StimulusId::new(row.required_text(STIMULUS)?),
            attack: row.required_text(ATTACK)?.into(),
            norm,
            goal: row.word(GOAL, &goals)?.unwrap_or(Goal::Fool),
            epsilon,
            change: size(CHANGE)?,
            label: Label::new(row.required_text(LABEL)?),
            clean: row.text(CLEAN).map(Label::new),
            answer: row.text(ANSWER).map(Label::new),
            file: PathBuf::from(row.required_text(FILE)?.into_owned()),
            band: row.text(BAND).map(std::borrow::Cow::into_owned),
            extra: row.extra(),
        })
    }

    fn cells<'a>(&'a self, cells: &mut Vec<Cell<'a>>) {
        cells.extend([
            Cell::text(Some(self.model.as_str())),
            Cell::text(Some(self.stimulus.as_str())),
            Cell::text(Some(&self.attack)),
            Cell::text(Some(self.norm.as_str())),
            Cell::text(Some(self.goal.as_str())),
            Cell::real(Some(self.epsilon)),
            Cell::text(Some(self.label.as_str())),
            Cell::text(self.clean.as_ref().map(Label::as_str)),
            Cell::text(self.answer.as_ref().map(Label::as_str)),
            Cell::Text(self.file.to_string_lossy()),
            Cell::text(self.band.as_deref()),
            Cell::real(self.change),
        ]);
    }

    fn extra(&self) -> &Extra {
        &self.extra
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::{ReadOptions, TableReader};

    #[test]
    fn an_example_is_read_and_knows_the_picture_before_the_attack() {
        let csv = "model,stimulus,attack,norm,epsilon,label,clean,answer,file\n\
                   m,a,pgd,linf,0.004,mug,mug,cup,m/pgd/a.png\n";
        let path = Path::new("examples.csv");
        let reader = TableReader::from_bytes(path, csv.into(), &ReadOptions::default()).unwrap();
        let rows: Vec<AttackExample> = reader.collect::<Result<_, _>>().unwrap();
        assert_eq!(rows[0].clean_file(), Path::new("m/pgd/a.clean.png"));
        assert_eq!((rows[0].epsilon, rows[0].band.as_deref()), (0.004, None));
        assert_eq!((rows[0].answer.clone(), rows[0].goal), (Some(Label::new("cup")), Goal::Fool));
    }

    #[test]
    fn what_an_attack_was_after_is_read_and_other_words_are_refused() {
        let read = |goal: &str| {
            let csv = format!(
                "model,stimulus,attack,goal,epsilon,label,file\nm,a,pgd,{goal},0.01,mug,a.png\n"
            );
            let path = Path::new("examples.csv");
            TableReader::from_bytes(path, csv.into(), &ReadOptions::default())
                .and_then(|reader| reader.collect::<Result<Vec<AttackExample>, _>>())
        };
        for goal in [Goal::Fool, Goal::Target, Goal::Correct] {
            assert_eq!(read(goal.as_str()).unwrap()[0].goal, goal);
        }
        let error = read("win").unwrap_err().to_string();
        assert!(error.contains("goal") && error.contains("win"), "{error}");
    }

    #[test]
    fn a_change_of_no_size_is_refused() {
        let csv = "model,stimulus,attack,epsilon,label,file\nm,a,pgd,-1,mug,a.png\n";
        let path = Path::new("examples.csv");
        let reader = TableReader::from_bytes(path, csv.into(), &ReadOptions::default()).unwrap();
        let error = reader.collect::<Result<Vec<AttackExample>, _>>().unwrap_err().to_string();
        assert!(error.contains("the size of a change"), "{error}");
    }
}
