//! Grids of ε: which strengths an attack is tried at.

use std::fmt;

use mohs_data::Norm;

/// Strengths in ascending order.
///
/// Invariant: not empty, ascending without repeats, each finite and not negative.
#[derive(Debug, Clone, PartialEq)]
pub struct Grid {
    epsilons: Vec<f64>,
    text: String,
}

/// A grid that cannot be used.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum GridError {
    /// Not a grid at all.
    #[error(
        "a grid should be `paper`, `mvt`, `mvt-correct`, values such as `1/255,2/255`, or ranges \
         such as `0:0.005:0.0001`; found `{0}`"
    )]
    NotAGrid(String),
    /// An ε outside of what a change can be.
    #[error("ε should be from 0 to {most}, found `{found}`")]
    OutOfRange {
        /// The largest change that there can be.
        most: f64,
        /// What was found.
        found: String,
    },
    /// Too many values.
    #[error("a grid should have up to {MAX_VALUES} values, found {found}")]
    TooLong {
        /// How many there are.
        found: usize,
    },
}

/// More values than this are a mistake in typing.
const MAX_VALUES: usize = 100_000;
/// The largest change in L2 that is taken for meant.
const MAX_L2: f64 = 1_000.0;

/// The study of difficulty and attacks: 0 to 0.005 by 0.0001, then to 0.05 by 0.0005.
const PAPER: &str = "0:0.005:0.0001,0.005:0.05:0.0005";
/// The same hundred times as large, for changes as a whole.
const PAPER_L2: &str = "0:0.5:0.01,0.5:5:0.05";
/// The study of viewing time, for pictures that are right: one step.
const MVT: &str = "0:0.02:0.0000125,0.02:1:0.005";
/// The study of viewing time, for pictures that are wrong: two steps.
const MVT_CORRECT: &str = "0:0.001:0.00000125,0.001:0.05:0.0000125";

impl Grid {
    /// Reads a grid: a name, values and ranges (`start:stop:step`, without the stop) with commas
    /// between.
    pub fn parse(text: &str, norm: Norm) -> Result<Grid, GridError> {
        let spelled = match (text, norm) {
            ("paper", Norm::Linf) => PAPER,
            ("paper", Norm::L2) => PAPER_L2,
            ("mvt", _) => MVT,
            ("mvt-correct", _) => MVT_CORRECT,
            _ => text,
        };
        let mut epsilons = Vec::new();
        for part in spelled.split(',') {
            let numbers: Option<Vec<f64>> = part.split(':').map(number).collect();
            match numbers.as_deref() {
                Some([value]) => epsilons.push(*value),
                Some([start, stop, step]) if 0.0 < *step => {
                    #[expect(
                        clippy::cast_possible_truncation,
                        clippy::cast_sign_loss,
                        reason = "a range that is too long is refused"
                    )]
                    let n = ((stop - start) / step).ceil().max(0.0) as usize;
                    if MAX_VALUES < n {
                        return Err(GridError::TooLong { found: n });
                    }
                    #[expect(clippy::cast_precision_loss, reason = "there are few values")]
                    let value = |idx: usize| tidy(start + idx as f64 * step);
                    // Rounding may let the stop itself in.
                    let is_before = |value: &f64| *value < stop - step * 1e-6;
                    epsilons.extend((0..n).map(value).filter(is_before));
                }
                _ => return Err(GridError::NotAGrid(text.to_owned())),
            }
        }
        let most = match norm {
            Norm::Linf => 1.0,
            Norm::L2 => MAX_L2,
        };
        if let Some(found) = epsilons.iter().find(|value| !(0.0..=most).contains(*value)) {
            return Err(GridError::OutOfRange { most, found: found.to_string() });
        }
        epsilons.sort_by(f64::total_cmp);
        epsilons.dedup();
        if epsilons.is_empty() {
            return Err(GridError::NotAGrid(text.to_owned()));
        }
        if MAX_VALUES < epsilons.len() {
            return Err(GridError::TooLong { found: epsilons.len() });
        }
        Ok(Grid { epsilons, text: text.to_owned() })
    }

    /// The strengths, from small to large.
    pub fn epsilons(&self) -> &[f64] {
        &self.epsilons
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.epsilons.len()
    }

    /// Never: a grid has at least one strength.
    pub fn is_empty(&self) -> bool {
        self.epsilons.is_empty()
    }

    /// The strength at a place.
    pub(super) fn at(&self, idx: usize) -> f64 {
        self.epsilons[idx.min(self.epsilons.len() - 1)]
    }

    /// The place of the strength nearest to this one.
    pub(super) fn nearest(&self, epsilon: f64) -> usize {
        let above = self.epsilons.partition_point(|value| *value < epsilon);
        let above = above.min(self.len() - 1);
        match above.checked_sub(1) {
            Some(below) if epsilon - self.epsilons[below] < self.epsilons[above] - epsilon => below,
            _ => above,
        }
    }

    /// The largest strength.
    pub fn last(&self) -> f64 {
        self.at(self.len() - 1)
    }
}

impl fmt::Display for Grid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

fn number(text: &str) -> Option<f64> {
    crate::probe::attack::parse_number(text, f64::MIN, f64::MAX)
}

/// The number that is meant: without the last digits that come from adding up.
fn tidy(value: f64) -> f64 {
    format!("{value:.9}").parse().unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_grid_of_the_paper_has_140_values_and_ends_before_its_stop() {
        let grid = Grid::parse("paper", Norm::Linf).unwrap();
        assert_eq!((grid.len(), grid.at(0), grid.last()), (140, 0.0, 0.0495));
        assert_eq!(&grid.epsilons()[48..53], [0.0048, 0.0049, 0.005, 0.0055, 0.006]);
        assert_eq!(Grid::parse("paper", Norm::L2).unwrap().len(), 140);
        assert_eq!(Grid::parse("mvt-correct", Norm::Linf).unwrap().len(), 800 + 3920);
        assert_eq!(Grid::parse("mvt", Norm::Linf).unwrap().len(), 1600 + 196);
    }

    #[test]
    fn values_are_sorted_and_fractions_are_understood() {
        let grid = Grid::parse("8/255,0,1/255", Norm::Linf).unwrap();
        assert_eq!(grid.epsilons(), [0.0, 1.0 / 255.0, 8.0 / 255.0]);
        assert_eq!((grid.nearest(0.0), grid.nearest(0.003), grid.nearest(0.9)), (0, 1, 2));
    }

    #[test]
    fn an_epsilon_that_is_no_change_of_a_pixel_is_refused() {
        let error = |text: &str, norm| Grid::parse(text, norm).unwrap_err().to_string();
        assert_eq!(error("0,8", Norm::Linf), "ε should be from 0 to 1, found `8`");
        assert_eq!(error("-0.1", Norm::Linf), "ε should be from 0 to 1, found `-0.1`");
        assert!(error("papr", Norm::Linf).contains("found `papr`"));
        assert!(error("0:1:0", Norm::Linf).contains("found `0:1:0`"));
        assert!(error("0:1:0.0000001", Norm::Linf).contains("up to 100000 values"));
        // So fine that its values would be rounded to a handful.
        assert!(error("0:1:1e-12", Norm::Linf).contains("up to 100000 values"));
        assert!(Grid::parse("0,8", Norm::L2).is_ok());
    }
}
