//! The smallest ε that fools a model on one stimulus by one attack, or how far it was looked for in
//! vain (`min_epsilon.csv`).
//!
//! A stimulus that no ε of the grid changes is a row too ([`Search::Survived`]): a bound from below,
//! never a number to average. A stimulus that the model gets wrong before any attack is
//! [`Search::NotAttacked`], so that clean accuracy can be read from the same file.

use std::fmt;

use compact_str::CompactString;
use serde::{Deserialize, Serialize};

use crate::format::table::{Cell, CellKind, Column, Record, Row, Schema};
use crate::{Extra, FailureReason, FileError, Label, ModelName, Problem, StimulusId};

/// One model × stimulus × attack.
#[derive(Debug, Clone, PartialEq)]
pub struct MinEpsilon {
    /// The model.
    pub model: ModelName,
    /// What was attacked.
    pub stimulus: StimulusId,
    /// The attack, e.g. `pgd`.
    pub attack: CompactString,
    /// How the size of a change is measured.
    pub norm: Norm,
    /// What the attack is after.
    pub goal: Goal,
    /// Parameters of the attack that count, e.g. `alpha=2/255 steps=10`.
    pub settings: CompactString,
    /// The right answer.
    pub label: Label,
    /// What the model says when nothing is changed; `None` when that could not be found out.
    pub clean: Option<Label>,
    /// What came of it.
    pub search: Search,
    /// How the number was found.
    pub how: How,
    /// What the fast search said, on rows that were then audited.
    pub fast: Option<FastAnswer>,
    /// How often the model was asked for an answer.
    pub n_forward: u64,
    /// How often the model was asked for an answer and a gradient.
    pub n_gradient: u64,
    /// Signs that gradients may be masked.
    pub flags: Vec<Flag>,
    /// Columns `mohs` does not know.
    pub extra: Extra,
}

/// How the size of a change is measured, in pixels from 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Norm {
    /// The largest change of any number.
    Linf,
    /// The root of the sum of squared changes.
    L2,
}

/// What an attack is after.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Goal {
    /// Any other answer than the label.
    Fool,
    /// One chosen wrong answer.
    Target,
    /// The label, where the model is wrong to begin with.
    Correct,
}

/// What came of a search.
#[derive(Debug, Clone, PartialEq)]
pub enum Search {
    /// The attack reaches its goal.
    Found {
        /// The smallest ε. From 0 on, finite.
        epsilon: f64,
        /// What the model then says.
        answer: Option<Label>,
    },
    /// No ε up to this one reaches the goal.
    Survived {
        /// The largest ε that was tried.
        up_to: f64,
    },
    /// Nothing to attack: the model is wrong already (or right already, where it was to be
    /// corrected).
    NotAttacked,
    /// The picture could not be read, or the model gave no numbers.
    Failed(FailureReason),
}

/// How a number was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum How {
    /// Every smaller ε of the grid was tried, or proven to change nothing.
    Exact,
    /// Some smaller ε were tried.
    Fast,
    /// As by the fast search first, then exactly; the exact answer counts.
    Audited,
    /// The size of one change that a minimum-norm attack found: a bound from above.
    Bound,
}

/// What the fast search said of a stimulus.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum FastAnswer {
    /// This ε.
    Found(f64),
    /// None.
    Survived,
}

/// Signs that a model's gradients do not tell how robust it is (Croce and Hein 2020).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Flag {
    /// The gradient is zero everywhere in the picture.
    ZeroGradient,
    /// The same picture got two different answers.
    RandomAnswers,
    /// The model answers with probabilities, whose gradients vanish where it is sure.
    Probabilities,
}

impl Norm {
    /// The norm's name in files.
    pub fn as_str(self) -> &'static str {
        match self {
            Norm::Linf => "linf",
            Norm::L2 => "l2",
        }
    }
}

impl Goal {
    /// The goal's name in files.
    pub fn as_str(self) -> &'static str {
        match self {
            Goal::Fool => "fool",
            Goal::Target => "target",
            Goal::Correct => "correct",
        }
    }
}

impl How {
    /// The word in files.
    pub fn as_str(self) -> &'static str {
        match self {
            How::Exact => "exact",
            How::Fast => "fast",
            How::Audited => "audited",
            How::Bound => "bound",
        }
    }
}

impl Flag {
    /// The flag's name in files.
    pub fn as_str(self) -> &'static str {
        match self {
            Flag::ZeroGradient => "zero-gradient",
            Flag::RandomAnswers => "random-answers",
            Flag::Probabilities => "probabilities",
        }
    }

    const ALL: [Flag; 3] = [Flag::ZeroGradient, Flag::RandomAnswers, Flag::Probabilities];
}

impl fmt::Display for Norm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl MinEpsilon {
    /// Returns the smallest ε, where there is one.
    pub fn epsilon(&self) -> Option<f64> {
        match self.search {
            Search::Found { epsilon, .. } => Some(epsilon),
            _ => None,
        }
    }

    /// Returns whether the model was right before the attack; `None` when it failed.
    pub fn is_clean_correct(&self) -> Option<bool> {
        self.clean.as_ref().map(|clean| *clean == self.label)
    }
}

const MODEL: usize = 0;
const STIMULUS: usize = 1;
const ATTACK: usize = 2;
const NORM: usize = 3;
const GOAL: usize = 4;
const SETTINGS: usize = 5;
const LABEL: usize = 6;
const CLEAN: usize = 7;
const OUTCOME: usize = 8;
const EPSILON: usize = 9;
const UP_TO: usize = 10;
const ANSWER: usize = 11;
const HOW: usize = 12;
const FAST: usize = 13;
const N_FORWARD: usize = 14;
const N_GRADIENT: usize = 15;
const FLAGS: usize = 16;
const REASON: usize = 17;

const FOUND: &str = "found";
const SURVIVED: &str = "survived";
const NOT_ATTACKED: &str = "not-attacked";
const FAILED: &str = "failed";

impl Record for MinEpsilon {
    const SCHEMA: &'static Schema = &Schema {
        noun: "minimum epsilons",
        row_noun: "minimum epsilon",
        version: 1,
        version_column: "min_epsilon_version",
        columns: &[
            Column::new("model", CellKind::Text, &["model_name", "arch", "network"]),
            Column::new("stimulus", CellKind::Text, &["image", "image_id", "file_name", "file"]),
            Column::new("attack", CellKind::Text, &["attack_name", "method"]),
            Column::new("norm", CellKind::Text, &[]),
            Column::new("goal", CellKind::Text, &[]),
            Column::new("settings", CellKind::Text, &["parameters"]),
            Column::new("label", CellKind::Text, &["true_label", "category", "class", "target"]),
            Column::new("clean", CellKind::Text, &["predicted", "clean_prediction"]),
            Column::new("outcome", CellKind::Text, &["status"]),
            Column::new("epsilon", CellKind::Real, &["eps", "min_epsilon", "min_eps"]),
            Column::new("up_to", CellKind::Real, &["epsilon_max", "max_epsilon"]),
            Column::new("answer", CellKind::Text, &["adversarial_prediction"]),
            Column::new("how", CellKind::Text, &["mode"]),
            Column::new("fast", CellKind::Text, &[]),
            Column::new("n_forward", CellKind::Whole, &[]),
            Column::new("n_gradient", CellKind::Whole, &[]),
            Column::new("flags", CellKind::Text, &[]),
            Column::new("reason", CellKind::Text, &["error"]),
        ],
        required: &[MODEL, STIMULUS, ATTACK, LABEL, OUTCOME],
    };

    fn from_row(row: &Row<'_>) -> Result<Self, FileError> {
        let norms = [Norm::Linf, Norm::L2].map(|norm| (norm.as_str(), norm));
        let norm = row.word(NORM, &norms)?.unwrap_or(Norm::Linf);
        let goals = [Goal::Fool, Goal::Target, Goal::Correct].map(|goal| (goal.as_str(), goal));
        let hows = [How::Exact, How::Fast, How::Audited, How::Bound].map(|how| (how.as_str(), how));
        Ok(Self {
            model: ModelName::new(row.required_text(MODEL)?),
            stimulus: StimulusId::new(row.required_text(STIMULUS)?),
            attack: row.required_text(ATTACK)?.into(),
            norm,
            goal: row.word(GOAL, &goals)?.unwrap_or(Goal::Fool),
            settings: row.text(SETTINGS).unwrap_or_default().into(),
            label: Label::new(row.required_text(LABEL)?),
            clean: row.text(CLEAN).map(Label::new),
            search: search(row, norm)?,
            how: row.word(HOW, &hows)?.unwrap_or(How::Exact),
            fast: fast(row, norm)?,
            n_forward: row.whole(N_FORWARD)?.unwrap_or(0),
            n_gradient: row.whole(N_GRADIENT)?.unwrap_or(0),
            flags: flags(row)?,
            extra: row.extra(),
        })
    }

    fn cells<'a>(&'a self, cells: &mut Vec<Cell<'a>>) {
        let (outcome, epsilon, up_to, answer, reason) = match &self.search {
            Search::Found { epsilon, answer } => {
                (FOUND, Some(*epsilon), None, answer.as_ref().map(Label::as_str), None)
            }
            Search::Survived { up_to } => (SURVIVED, None, Some(*up_to), None, None),
            Search::NotAttacked => (NOT_ATTACKED, None, None, None, None),
            Search::Failed(reason) => (FAILED, None, None, None, Some(reason.as_str())),
        };
        let fast = match self.fast {
            Some(FastAnswer::Found(epsilon)) => Cell::Text(epsilon.to_string().into()),
            Some(FastAnswer::Survived) => Cell::text(Some(SURVIVED)),
            None => Cell::Empty,
        };
        let flags: Vec<&str> = self.flags.iter().map(|flag| flag.as_str()).collect();
        cells.extend([
            Cell::text(Some(self.model.as_str())),
            Cell::text(Some(self.stimulus.as_str())),
            Cell::text(Some(&self.attack)),
            Cell::text(Some(self.norm.as_str())),
            Cell::text(Some(self.goal.as_str())),
            Cell::text(Some(&self.settings)),
            Cell::text(Some(self.label.as_str())),
            Cell::text(self.clean.as_ref().map(Label::as_str)),
            Cell::text(Some(outcome)),
            Cell::real(epsilon),
            Cell::real(up_to),
            Cell::text(answer),
            Cell::text(Some(self.how.as_str())),
            fast,
            Cell::Whole(self.n_forward),
            Cell::Whole(self.n_gradient),
            Cell::Text(flags.join(" ").into()),
            Cell::text(reason),
        ]);
    }

    fn extra(&self) -> &Extra {
        &self.extra
    }
}

fn search(row: &Row<'_>, norm: Norm) -> Result<Search, FileError> {
    let words = [(FOUND, 0), (SURVIVED, 1), (NOT_ATTACKED, 2), (FAILED, 3)];
    match row.word(OUTCOME, &words)? {
        Some(0) => {
            let epsilon = size(row, EPSILON, norm)?;
            let answer = row.text(ANSWER).map(Label::new);
            if let Some(up_to) = row.real(UP_TO)?
                && up_to < epsilon
            {
                let hint = "`up_to` is the largest ε that was tried; leave it empty where one was \
                            found";
                let expected = format!("at most `up_to`, {up_to}");
                let found = epsilon.to_string();
                return Err(row.bad_value(EPSILON, &expected, &found, Some(hint.into())));
            }
            Ok(Search::Found { epsilon, answer })
        }
        Some(1) => Ok(Search::Survived { up_to: size(row, UP_TO, norm)? }),
        Some(2) => Ok(Search::NotAttacked),
        _ => Ok(Search::Failed(FailureReason::new(row.text(REASON).unwrap_or_default()))),
    }
}

impl Norm {
    /// Returns whether a change can be as large as this.
    pub(crate) fn can_be(self, size: f64) -> bool {
        match self {
            Norm::Linf => (0.0..=1.0).contains(&size),
            Norm::L2 => size.is_finite() && 0.0 <= size,
        }
    }

    /// Returns what the size of a change should be, in words.
    pub(crate) fn sizes(self) -> &'static str {
        match self {
            Norm::Linf => "the size of a change, from 0 to 1",
            Norm::L2 => "the size of a change, from 0 on",
        }
    }

    /// Returns what to do about a size that cannot be.
    pub(crate) fn hint(self, size: f64) -> Option<String> {
        let hint = "pixels are from 0 to 1: divide by 255, where they were from 0 to 255";
        (self == Norm::Linf && 1.0 < size).then(|| hint.to_owned())
    }
}

/// The size of a change, which must be there.
fn size(row: &Row<'_>, column: usize, norm: Norm) -> Result<f64, FileError> {
    match row.real(column)? {
        Some(value) if norm.can_be(value) => Ok(value),
        Some(value) => {
            Err(row.bad_value(column, norm.sizes(), &value.to_string(), norm.hint(value)))
        }
        None => {
            let hint = "rows `found` have `epsilon`, rows `survived` have `up_to`".to_owned();
            Err(row.bad_value(column, norm.sizes(), "", Some(hint)))
        }
    }
}

fn fast(row: &Row<'_>, norm: Norm) -> Result<Option<FastAnswer>, FileError> {
    let Some(text) = row.text(FAST) else { return Ok(None) };
    if text == SURVIVED {
        return Ok(Some(FastAnswer::Survived));
    }
    let epsilon = text.parse::<f64>().ok();
    match epsilon.filter(|epsilon| norm.can_be(*epsilon)) {
        Some(epsilon) => Ok(Some(FastAnswer::Found(epsilon))),
        None => {
            let expected = format!("{}, or `survived`", norm.sizes());
            let hint = epsilon.and_then(|epsilon| norm.hint(epsilon));
            Err(row.bad_value(FAST, &expected, &text, hint))
        }
    }
}

fn flags(row: &Row<'_>) -> Result<Vec<Flag>, FileError> {
    let text = row.text(FLAGS).unwrap_or_default();
    let parse = |word: &str| {
        let known = Flag::ALL.into_iter().find(|flag| flag.as_str() == word);
        known.ok_or_else(|| {
            let names: Vec<&str> = Flag::ALL.iter().map(|flag| flag.as_str()).collect();
            row.error(
                FLAGS,
                Problem::BadValue {
                    expected: format!("words out of {}", names.join(", ")),
                    found: word.to_owned(),
                    hint: None,
                },
            )
        })
    };
    text.split_whitespace().map(parse).collect()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::format::{ReadOptions, TableReader};

    fn read(csv: &str) -> Result<Vec<MinEpsilon>, FileError> {
        let path = Path::new("min_epsilon.csv");
        TableReader::from_bytes(path, csv.as_bytes().to_vec(), &ReadOptions::default())?.collect()
    }

    #[test]
    fn every_outcome_is_read_with_what_belongs_to_it() {
        let rows = read(
            "model,stimulus,attack,label,clean,outcome,epsilon,up_to,fast,flags,reason\n\
             m,a,pgd,mug,mug,found,0.002,,survived,zero-gradient random-answers,\n\
             m,b,pgd,mug,mug,survived,,0.0495,0.004,,\n\
             m,c,pgd,mug,cup,not-attacked,,,,,\n\
             m,d,pgd,mug,,failed,,,,,cannot decode\n",
        )
        .unwrap();
        assert_eq!(rows[0].epsilon(), Some(0.002));
        assert_eq!(rows[0].fast, Some(FastAnswer::Survived));
        assert_eq!(rows[0].flags, [Flag::ZeroGradient, Flag::RandomAnswers]);
        assert_eq!((rows[0].norm, rows[0].goal, rows[0].how), (Norm::Linf, Goal::Fool, How::Exact));
        assert_eq!(rows[1].search, Search::Survived { up_to: 0.0495 });
        assert_eq!(rows[1].fast, Some(FastAnswer::Found(0.004)));
        assert_eq!((rows[2].epsilon(), rows[2].is_clean_correct()), (None, Some(false)));
        assert_eq!(rows[3].search, Search::Failed(FailureReason::new("cannot decode")));
        assert_eq!(rows[3].is_clean_correct(), None);
    }

    #[test]
    fn a_row_that_contradicts_itself_is_refused() {
        let first = |cells: &str| {
            let csv = format!("model,stimulus,attack,label,outcome,epsilon,up_to\n{cells}\n");
            read(&csv).unwrap_err().to_string()
        };
        let wants_a_size = "should be the size of a change, from 0 to 1, found";
        let found = first("m,a,pgd,mug,found,,");
        assert!(found.contains(&format!("`epsilon` {wants_a_size} nothing")), "{found}");
        let survived = first("m,a,pgd,mug,survived,0.1,");
        assert!(survived.contains(&format!("`up_to` {wants_a_size} nothing")), "{survived}");
        let negative = first("m,a,pgd,mug,found,-0.1,");
        assert!(negative.contains(&format!("`epsilon` {wants_a_size} `-0.1`")), "{negative}");
        let unknown = first("m,a,pgd,mug,fooled,0.1,");
        assert!(
            unknown.contains("`outcome` should be") && unknown.contains("`fooled`"),
            "{unknown}"
        );
    }

    #[test]
    fn a_change_of_a_number_is_at_most_1_and_its_square_root_of_squares_may_be_more() {
        let read = |norm: &str, cells: &str| {
            let header = "model,stimulus,attack,norm,label,outcome,epsilon,up_to,fast";
            read(&format!("{header}\nm,a,pgd,{norm},mug,{cells}\n"))
        };
        for cells in ["found,8,,", "survived,,8,", "found,0.01,,8"] {
            assert!(read("l2", cells).is_ok(), "{cells}");
            let error = read("linf", cells).unwrap_err();
            let text = error.to_string();
            assert!(text.contains("from 0 to 1") && text.contains("`8`"), "{text}");
            assert!(error.hint().is_some_and(|hint| hint.contains("divide by 255")), "{error:?}");
        }
        assert!(read("linf", "found,1,1,").is_ok());
        let text = read("linf", "found,0.02,0.01,").unwrap_err().to_string();
        assert!(text.contains("at most `up_to`, 0.01") && text.contains("`0.02`"), "{text}");
    }
}
