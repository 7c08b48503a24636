//! A comparison: two stimuli side by side, and which one a participant found harder.
//!
//! One comparison is one trial of the task `pairs`; its times are raw, as in [`crate::Trial`].
//! Tables of winners and losers are read too: see `win.rs`.

pub(crate) mod win;

use crate::error::nearest;
use crate::format::table::{Cell, CellKind, Column, Record, Row, Schema};
use crate::{Extra, FileError, Millis, ParticipantId, Problem, StimulusId, TrialId};

/// One judgement of a pair.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    /// Unique within a file; made from the line when the file has none. A comparison is a trial,
    /// so exclusions can name it.
    pub id: TrialId,
    /// The person.
    pub participant: ParticipantId,
    /// The stimulus on the left.
    pub left: StimulusId,
    /// The stimulus on the right. Never the one on the left.
    pub right: StimulusId,
    /// Which of the two is harder.
    pub harder: Harder,
    /// What was asked, where studies ask several questions.
    pub question: Option<String>,
    /// Clock when the pair appeared.
    pub onset: Option<Millis>,
    /// Clock when the answer came.
    pub responded: Option<Millis>,
    /// How many such judgements the row stands for; 1 unless the file counts them.
    pub count: u64,
    /// Whether `left` and `right` are where the stimuli stood.
    pub sides: Sides,
    /// Columns `mohs` does not know.
    pub extra: Extra,
}

impl Comparison {
    /// Returns the time from onset to answer.
    pub fn rt(&self) -> Option<Millis> {
        Some(self.responded? - self.onset?)
    }
}

/// The answer to "which is harder?".
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Harder {
    /// The left one.
    Left,
    /// The right one.
    Right,
    /// Neither.
    Tie,
}

impl Harder {
    /// The answers and their words in files.
    pub const WORDS: [(&'static str, Self); 3] =
        [("left", Self::Left), ("right", Self::Right), ("tie", Self::Tie)];

    /// Returns the word in files.
    pub fn as_str(self) -> &'static str {
        Self::WORDS[self as usize].0
    }
}

/// What `left` and `right` mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, PartialOrd, Ord, Hash)]
pub enum Sides {
    /// Where the stimuli stood on the screen.
    #[default]
    Shown,
    /// Nothing: the file only says which of the two was harder.
    Unknown,
}

impl Sides {
    /// The words in files.
    pub const WORDS: [(&'static str, Self); 2] =
        [("shown", Self::Shown), ("unknown", Self::Unknown)];

    /// Returns the word in files.
    pub fn as_str(self) -> &'static str {
        Self::WORDS[self as usize].0
    }
}

const COMPARISON: usize = 0;
const PARTICIPANT: usize = 1;
const LEFT: usize = 2;
const RIGHT: usize = 3;
const HARDER: usize = 4;
const QUESTION: usize = 5;
const ONSET: usize = 6;
const RESPONDED: usize = 7;
const COUNT: usize = 8;
const SIDES: usize = 9;
const RT: usize = 10;

impl Record for Comparison {
    const SCHEMA: &'static Schema = &Schema {
        noun: "comparisons",
        row_noun: "comparison",
        version: 1,
        version_column: "comparisons_version",
        columns: &[
            Column::new("comparison", CellKind::Text, &["id", "comparison_id", "trial"]),
            Column::new(
                "participant",
                CellKind::Text,
                &["rater", "subject", "subj", "worker", "worker_id", "annotator", "judge", "user"],
            ),
            Column::new("left", CellKind::Text, &["model_a", "item_a", "a", "image_a", "xs"]),
            Column::new("right", CellKind::Text, &["model_b", "item_b", "b", "image_b", "ys"]),
            Column::new("harder", CellKind::Text, &["winner", "choice", "answer", "response"]),
            Column::new("question", CellKind::Text, &["attribute", "criterion"]),
            Column::new("onset_ms", CellKind::Real, &[]),
            Column::new("response_ms", CellKind::Real, &[]),
            Column::new("count", CellKind::Whole, &["weight", "times"]),
            Column::new("sides", CellKind::Text, &[]),
            Column::read_only("rt_ms", CellKind::Real),
        ],
        required: &[PARTICIPANT, LEFT, RIGHT, HARDER],
    };

    fn from_row(row: &Row<'_>) -> Result<Self, FileError> {
        let left = StimulusId::new(row.required_text(LEFT)?);
        let right = StimulusId::new(row.required_text(RIGHT)?);
        if left == right {
            let detail = format!("`{left}` stands on both sides");
            let hint = "a stimulus cannot be compared with itself; remove the row".into();
            return Err(row.error(RIGHT, Problem::Contradiction { detail, hint }));
        }
        let onset = row.real(ONSET)?.and_then(Millis::new);
        let responded = row.real(RESPONDED)?.and_then(Millis::new);
        let rt = row.real(RT)?.and_then(Millis::new);
        // A tool that only gives a duration gives it from onset: its clock starts there.
        let (onset, responded) = match (onset, responded, rt) {
            (None, None, Some(rt)) => (Millis::new(0.0), Some(rt)),
            (onset, responded, _) => (onset, responded),
        };
        Ok(Self {
            id: row.text(COMPARISON).map_or_else(
                || TrialId::new(compact_str::format_compact!("line-{}", row.line())),
                TrialId::new,
            ),
            participant: ParticipantId::new(row.required_text(PARTICIPANT)?),
            harder: harder(row, &left, &right)?,
            left,
            right,
            question: row.text(QUESTION).map(Into::into),
            onset,
            responded,
            count: row.whole(COUNT)?.unwrap_or(1),
            sides: row.word(SIDES, &Sides::WORDS)?.unwrap_or_default(),
            extra: row.extra(),
        })
    }

    fn cells<'a>(&'a self, cells: &mut Vec<Cell<'a>>) {
        cells.extend([
            Cell::text(Some(self.id.as_str())),
            Cell::text(Some(self.participant.as_str())),
            Cell::text(Some(self.left.as_str())),
            Cell::text(Some(self.right.as_str())),
            Cell::text(Some(self.harder.as_str())),
            Cell::text(self.question.as_deref()),
            Cell::real(self.onset.map(Millis::value)),
            Cell::real(self.responded.map(Millis::value)),
            // Most files count nothing and know the sides: their cells stay empty.
            if self.count == 1 { Cell::Empty } else { Cell::Whole(self.count) },
            if self.sides == Sides::Shown {
                Cell::Empty
            } else {
                Cell::text(Some(self.sides.as_str()))
            },
        ]);
    }

    fn extra(&self) -> &Extra {
        &self.extra
    }
}

/// Reads the answer: our words, the id of the harder stimulus, or the words of arena files.
///
/// Our words go first, so that a stimulus called `left` cannot turn an answer round.
fn harder(row: &Row<'_>, left: &StimulusId, right: &StimulusId) -> Result<Harder, FileError> {
    let text = row.required_text(HARDER)?;
    if let Some((_, harder)) = Harder::WORDS.iter().find(|(word, _)| *word == text) {
        return Ok(*harder);
    }
    match &*text {
        id if id == left.as_str() => Ok(Harder::Left),
        id if id == right.as_str() => Ok(Harder::Right),
        "model_a" => Ok(Harder::Left),
        "model_b" => Ok(Harder::Right),
        "draw" | "tie (bothbad)" => Ok(Harder::Tie),
        _ => {
            let hint = nearest(&text, Harder::WORDS.map(|(word, _)| word))
                .map(|nearest| format!("did you mean `{nearest}`?"));
            let expected = "left, right or tie, or the id of the harder stimulus";
            Err(row.bad_value(HARDER, expected, &text, hint))
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::format::{ReadOptions, TableReader};

    fn harder_of(word: &str) -> Result<Harder, String> {
        let csv = format!("participant,left,right,harder\np1,mug.png,cup.png,{word}\n");
        let path = Path::new("c.csv");
        let mut rows =
            TableReader::<Comparison>::from_bytes(path, csv.into(), &ReadOptions::default())
                .unwrap();
        rows.next().unwrap().map(|row| row.harder).map_err(|error| error.to_string())
    }

    #[test]
    fn the_answer_may_be_a_word_or_the_id_of_the_harder_one() {
        assert_eq!(harder_of("left"), Ok(Harder::Left));
        assert_eq!(harder_of("cup.png"), Ok(Harder::Right));
        assert_eq!(harder_of("model_a"), Ok(Harder::Left));
        assert_eq!(harder_of("tie"), Ok(Harder::Tie));
        insta::assert_snapshot!(
            harder_of("Left").unwrap_err(),
            @"c.csv:2: `harder` should be left, right or tie, or the id of the harder stimulus, found `Left`"
        );
    }
}
