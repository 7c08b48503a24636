//! The design that does not look: as many stimuli from each stratum, or the same share of each.

use super::allocation::{Want, spread};
use super::population::{Ladder, LadderError};
use crate::draw::Draw;
use crate::proportion::real;

/// Returns how many stimuli of each stratum are asked: `per_stratum` of each, or `n_asked` in all,
/// in proportion to their sizes and at least `least` of each.
pub(super) fn counts(
    ladder: &Ladder,
    per_stratum: Option<usize>,
    n_asked: usize,
    least: usize,
    draw: &mut Draw,
) -> Result<Vec<usize>, LadderError> {
    if let Some(expected) = per_stratum {
        let small = ladder.strata().iter().find(|stratum| stratum.stimuli.len() < expected);
        if let Some(stratum) = small {
            return Err(LadderError::FewerThanAsked {
                what: ladder.name_of(stratum.place),
                expected,
                found: stratum.stimuli.len(),
            });
        }
        return Ok(vec![expected; ladder.strata().len()]);
    }
    let wants: Vec<Want> = ladder
        .strata()
        .iter()
        .map(|stratum| {
            let high = stratum.stimuli.len();
            Want { weight: real(high), low: least.min(high), high }
        })
        .collect();
    Ok(spread(&wants, n_asked, draw))
}
