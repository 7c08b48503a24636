//! The paper's design: two rounds per class and attribute, the second by the points of the first.
//!
//! A sitting asks a few stimuli of each level, counts points (1, 2, 4 … by level), and asks more of
//! those levels that a [`Routing`] gives for the points. The paper shows one row of its table in a
//! figure; the rest of [`Routing::paper`] is a reconstruction fitted to the questions per level that
//! it reports. [`Routing::appendix`] is printed in full there.
//!
//! It is here to be compared with: what it asks depends on the answers of the very cell that is
//! estimated, so plain means of it are biased.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::population::{Ladder, LadderError, Place, StrataBy};
use super::record::{Question, Sitting, Why};
use crate::draw::Draw;
use crate::proportion::real;

/// Which questions follow which points.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Routing {
    /// Questions of each level in the first round, from easy to hard.
    pub first: Vec<usize>,
    /// What follows, by the points of the first round.
    pub rows: Vec<RoutingRow>,
}

/// One row of a routing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RoutingRow {
    /// The row holds for these points and more, up to the next row.
    pub from: usize,
    /// Questions of each level in the second round, from easy to hard.
    pub second: Vec<usize>,
}

impl Routing {
    fn of(first: [usize; 3], rows: &[(usize, [usize; 3])]) -> Self {
        let row = |(from, second): &(usize, [usize; 3])| RoutingRow {
            from: *from,
            second: second.to_vec(),
        };
        Self { first: first.to_vec(), rows: rows.iter().map(row).collect() }
    }

    /// Our reconstruction of the paper's unpublished table, within 0.1 question of its Table 1.
    pub fn paper() -> Self {
        Self::of([1, 2, 1], &[(0, [5, 0, 0]), (1, [2, 3, 0]), (4, [0, 2, 3]), (9, [0, 0, 5])])
    }

    /// The variant that the paper's appendix prints.
    pub fn appendix() -> Self {
        Self::of(
            [1, 3, 1],
            &[(0, [4, 0, 0]), (1, [3, 1, 0]), (4, [1, 2, 1]), (7, [0, 1, 3]), (11, [0, 0, 4])],
        )
    }

    /// A second reconstruction that fits the paper's Table 1 as well.
    pub fn steep() -> Self {
        Self::of(
            [1, 2, 1],
            &[(0, [5, 0, 0]), (1, [4, 1, 0]), (3, [0, 3, 2]), (7, [0, 2, 3]), (9, [0, 0, 5])],
        )
    }

    fn second(&self, points: usize) -> Option<&[usize]> {
        let row = self.rows.iter().filter(|row| row.from <= points).max_by_key(|row| row.from)?;
        Some(&row.second)
    }

    /// Points a level is worth: 1, 2, 4 …
    fn points(level: usize) -> usize {
        1 << level
    }

    /// Questions of one sitting, at most.
    fn n_questions(&self) -> usize {
        let second = self.rows.iter().map(|row| row.second.iter().sum::<usize>());
        self.first.iter().sum::<usize>() + second.max().unwrap_or(0)
    }

    /// Questions of a level in one sitting, at most.
    fn most_of(&self, level: usize) -> usize {
        let second = self.rows.iter().map(|row| row.second[level]).max();
        self.first[level] + second.unwrap_or(0)
    }

    /// Checks the table by itself: rows of one length that ascend from 0 points, each to be reached,
    /// and at least one question.
    fn check_table(&self) -> Result<(), LadderError> {
        let bad = |field: String, expected: String, found: String| {
            Err(LadderError::BadRouting { field, expected, found })
        };
        let in_row = |idx: usize, key: &str| format!("rows[{idx}].{key}");
        let first = std::iter::once(("first".to_owned(), &self.first));
        let rows = self.rows.iter().enumerate();
        let seconds = rows.map(|(idx, row)| (in_row(idx, "second"), &row.second));
        for (field, counts) in first.chain(seconds) {
            if counts.len() != self.first.len() {
                let expected = format!("{} numbers, as `first` has", self.first.len());
                return bad(field, expected, format!("{}", counts.len()));
            }
            if let Some(found) = counts.iter().find(|count| MOST_QUESTIONS < **count) {
                return bad(
                    field,
                    format!("at most {MOST_QUESTIONS} of a level"),
                    found.to_string(),
                );
            }
        }
        if self.first.iter().all(|count| *count == 0) {
            return bad("first".into(), "one question at least".into(), "none".into());
        }
        // Below the first row there would be no second round to go to.
        if self.rows.first().is_none_or(|row| row.from != 0) {
            return Err(LadderError::NoRow { score: 0 });
        }
        let most: usize =
            self.first.iter().enumerate().map(|(level, n)| n * Self::points(level)).sum();
        for (idx, pair) in self.rows.windows(2).enumerate() {
            let (before, from) = (pair[0].from, pair[1].from);
            if from <= before {
                let expected = format!("above {before}, that of the row before");
                return bad(in_row(idx + 1, "from"), expected, from.to_string());
            }
            if most < from {
                let expected =
                    format!("at most {most}, the points of a first round that is all right");
                return bad(in_row(idx + 1, "from"), expected, from.to_string());
            }
        }
        Ok(())
    }

    fn check(&self, n_levels: usize) -> Result<(), LadderError> {
        self.check_table()?;
        if self.first.len() != n_levels {
            let (expected, found) = (self.first.len(), n_levels);
            return Err(LadderError::OtherLevels { expected, found });
        }
        Ok(())
    }
}

/// Questions of one level in one round of a sitting, at most: more are a slip.
const MOST_QUESTIONS: usize = 10_000;

/// Sittings under way.
#[derive(Debug, Clone)]
pub(super) struct Gre {
    routing: Routing,
    open: Vec<OpenSitting>,
    n_rounds: usize,
}

#[derive(Debug, Clone)]
struct OpenSitting {
    /// Strata by level.
    strata: Vec<usize>,
    /// Stimuli that this sitting may ask, by level, in random order.
    stimuli: Vec<Vec<usize>>,
    points: usize,
}

const DEAL: u64 = 40;

impl Gre {
    /// Deals the stimuli of each class and attribute to its sittings, as many as the budget buys.
    pub(super) fn new(
        ladder: &Ladder,
        routing: &Routing,
        budget: f64,
        seed: mohs_data::Seed,
    ) -> Result<Self, LadderError> {
        let n_levels = ladder.levels().len();
        routing.check(n_levels)?;
        if ladder.strata_by() != StrataBy::ClassAttributeLevel {
            return Err(LadderError::CoarseStrata);
        }
        let mut cells: BTreeMap<(usize, usize), Vec<Option<usize>>> = BTreeMap::new();
        for (idx, stratum) in ladder.strata().iter().enumerate() {
            let Place { attribute_idx, class_idx, level_idx } = stratum.place;
            let cell =
                cells.entry((attribute_idx, class_idx)).or_insert_with(|| vec![None; n_levels]);
            cell[level_idx] = Some(idx);
        }
        let mut open = Vec::new();
        for ((attribute_idx, class_idx), cell) in cells {
            let size =
                |idx: &Option<usize>| idx.map_or(0, |idx| ladder.strata()[idx].stimuli.len());
            let n_here: usize = cell.iter().map(size).sum();
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "a count, positive and small"
            )]
            let n_sittings =
                ((budget * real(n_here) / real(routing.n_questions())).round() as usize).max(1);
            let mut decks = Vec::new();
            for (level_idx, idx) in cell.iter().enumerate() {
                let expected = n_sittings * routing.most_of(level_idx);
                let found = size(idx);
                let Some(idx) = idx.filter(|_| expected <= found) else {
                    let what = ladder.name_of(Place { attribute_idx, class_idx, level_idx });
                    return Err(LadderError::FewerThanAsked { what, expected, found });
                };
                let mut deck = ladder.strata()[idx].stimuli.clone();
                Draw::new(seed, &[DEAL, idx as u64]).shuffle(&mut deck);
                decks.push((idx, deck));
            }
            for _ in 0..n_sittings {
                let stimuli = decks
                    .iter_mut()
                    .enumerate()
                    .map(|(level, (_, deck))| deck.split_off(deck.len() - routing.most_of(level)));
                open.push(OpenSitting {
                    stimuli: stimuli.collect(),
                    strata: decks.iter().map(|(idx, _)| *idx).collect(),
                    points: 0,
                });
            }
        }
        Ok(Self { routing: routing.clone(), open, n_rounds: 0 })
    }

    /// Questions of all sittings, at most.
    pub(super) fn n_questions(&self) -> usize {
        self.open.len() * self.routing.n_questions()
    }

    /// Empty sittings to write answers into.
    pub(super) fn sittings(&self) -> Vec<Sitting> {
        let empty =
            |open: &OpenSitting| Sitting { strata: open.strata.clone(), answers: Vec::new() };
        self.open.iter().map(empty).collect()
    }

    /// Returns the questions of the next round with their sittings; none after two rounds.
    pub(super) fn next_round(
        &mut self,
        sittings: &[Sitting],
    ) -> Result<Vec<(usize, Question)>, LadderError> {
        let round = self.n_rounds;
        if round == 2 {
            return Ok(Vec::new());
        }
        self.n_rounds += 1;
        let mut questions = Vec::new();
        for (idx, open) in self.open.iter_mut().enumerate() {
            if round == 1 {
                let points = |(level, is_right): &(usize, bool)| {
                    usize::from(*is_right) * Routing::points(*level)
                };
                open.points = sittings[idx].answers.iter().map(points).sum();
            }
            let (counts, why) = if round == 0 {
                (&self.routing.first[..], Why::FirstRound)
            } else {
                let row = self.routing.second(open.points);
                let row = row.ok_or(LadderError::NoRow { score: open.points })?;
                (row, Why::AfterPoints { points: open.points })
            };
            for (deck, n) in open.stimuli.iter_mut().zip(counts) {
                let asked = deck.split_off(deck.len() - n);
                questions.extend(
                    asked.into_iter().map(|stimulus| (idx, Question { stimulus, round, why })),
                );
            }
        }
        Ok(questions)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_choose_the_second_round() {
        let paper = Routing::paper();
        assert_eq!(paper.second(0), Some(&[5, 0, 0][..]));
        assert_eq!(paper.second(3), Some(&[2, 3, 0][..]));
        // The one row the paper shows: 7 points give 2 medium and 3 hard.
        assert_eq!(paper.second(7), Some(&[0, 2, 3][..]));
        assert_eq!(paper.second(9), Some(&[0, 0, 5][..]));
        assert_eq!(Routing::appendix().second(11), Some(&[0, 0, 4][..]));
        assert_eq!((paper.n_questions(), Routing::appendix().n_questions()), (9, 9));
        assert_eq!((paper.most_of(0), paper.most_of(1), paper.most_of(2)), (6, 5, 6));
    }

    #[test]
    fn a_routing_has_the_levels_of_the_ladder_and_starts_at_no_points() {
        assert_eq!(
            Routing::paper().check(4).unwrap_err(),
            LadderError::OtherLevels { expected: 3, found: 4 }
        );
        let mut routing = Routing::paper();
        routing.rows.remove(0);
        assert_eq!(routing.check(3).unwrap_err(), LadderError::NoRow { score: 0 });
    }

    #[test]
    fn slips_in_a_routing_are_named() {
        for known in [Routing::paper(), Routing::appendix(), Routing::steep()] {
            assert_eq!(known.check(3), Ok(()));
        }
        let of = |first: [usize; 3], rows: &[(usize, [usize; 3])]| {
            Routing::of(first, rows).check(3).unwrap_err().to_string()
        };
        let table = "of the table of the design `gre` should be";
        assert_eq!(
            of([0; 3], &[(0, [0; 3])]),
            format!("`first` {table} one question at least, found none")
        );
        assert_eq!(
            of([1, 2, 1], &[(0, [5, 0, 0]), (2, [0, 5, 0]), (2, [0, 0, 5])]),
            format!("`rows[2].from` {table} above 2, that of the row before, found 2")
        );
        assert_eq!(
            of([1, 2, 1], &[(0, [5, 0, 0]), (50, [0, 0, 5])]),
            format!(
                "`rows[1].from` {table} at most 9, the points of a first round that is all right, \
                 found 50"
            )
        );
        assert_eq!(
            of([1, 2, 1], &[(0, [5, 0, usize::MAX])]),
            format!("`rows[0].second` {table} at most 10000 of a level, found {}", usize::MAX)
        );
        let mut short = Routing::paper();
        short.rows[1].second.pop();
        assert_eq!(
            short.check(3).unwrap_err().to_string(),
            format!("`rows[1].second` {table} 3 numbers, as `first` has, found 2")
        );
    }
}
