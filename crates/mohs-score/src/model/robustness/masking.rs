//! Signs that a model's gradients are masked, so that attacks which follow them say less than they
//! seem to.
//!
//! # Signs
//!
//! 1. Zero gradients: the share of rows, of attacks that took one, whose gradient is zero.
//! 2. Random answers: the share of rows where the same picture got two different answers.
//! 3. Probabilities instead of scores as output: their gradients vanish where the model is sure.
//! 4. The black box first: the share of stimuli that Square, which asks for no gradient, fools at a
//!    smaller ε than every attack with gradients. A survivor counts as stronger where it was tried
//!    at least as far; where it was not, nothing can be said and the stimulus is left out.
//!
//! Square searches at random and wins on some stimuli by luck; it counts as a sign where the whole
//! interval lies above [`MOST_BY_LUCK`]. The signs are those of AutoAttack; none of them is proof.
//!
//! # References
//!
//! - F. Croce and M. Hein (2020), "Reliable evaluation of adversarial robustness with an ensemble of
//!   diverse parameter-free attacks".
//! - A. Athalye, N. Carlini and D. Wagner (2018), "Obfuscated gradients give a false sense of
//!   security".

use std::collections::BTreeMap;

use mohs_data::{Estimate, Flag, Goal, MinEpsilon, ModelName, Norm, Search, StimulusId};

use super::findings::Masking;
use crate::proportion::wilson;

/// The attack without gradients.
const BLACK_BOX: &str = "square";
/// The share of stimuli on which Square may come first by luck: one in twenty, chosen.
const MOST_BY_LUCK: f64 = 0.05;

/// Returns the signs for one model.
pub(super) fn of_model(rows: &[MinEpsilon], model: &ModelName, confidence: f64) -> Masking {
    let ours = || rows.iter().filter(|row| row.model == *model);
    let has = |row: &MinEpsilon, flag: Flag| row.flags.contains(&flag);
    let share = |counted: &dyn Fn(&MinEpsilon) -> bool, flag: Flag| -> Option<Estimate> {
        let n = ours().filter(|row| counted(row)).count();
        let n_flagged = ours().filter(|row| counted(row) && has(row, flag)).count();
        wilson(n_flagged, n, confidence)
    };
    let took_gradient = |row: &MinEpsilon| 0 < row.n_gradient || has(row, Flag::ZeroGradient);
    let did_not_fail = |row: &MinEpsilon| !matches!(row.search, Search::Failed(_));
    let zero_gradients = share(&took_gradient, Flag::ZeroGradient);
    let random_answers = share(&did_not_fail, Flag::RandomAnswers);
    let n_probabilities = ours().filter(|row| has(row, Flag::Probabilities)).count();
    let black_box_first = black_box_first(ours(), confidence);
    let is_above_zero = |share: Option<Estimate>| share.is_some_and(|share| 0.0 < share.value);
    let is_suspect = is_above_zero(zero_gradients)
        || is_above_zero(random_answers)
        || 0 < n_probabilities
        || black_box_first.is_some_and(|share| MOST_BY_LUCK < share.low);
    Masking { zero_gradients, random_answers, n_probabilities, black_box_first, is_suspect }
}

/// What is known of one stimulus.
#[derive(Default)]
struct Race {
    square: Option<Search>,
    others: Vec<Search>,
}

fn black_box_first<'a>(
    rows: impl Iterator<Item = &'a MinEpsilon>,
    confidence: f64,
) -> Option<Estimate> {
    let mut races: BTreeMap<(Norm, &StimulusId), Race> = BTreeMap::new();
    for row in rows.filter(|row| row.goal == Goal::Fool) {
        let race = races.entry((row.norm, &row.stimulus)).or_default();
        match row.attack.eq_ignore_ascii_case(BLACK_BOX) {
            true => race.square = Some(row.search.clone()),
            false => race.others.push(row.search.clone()),
        }
    }
    let firsts: Vec<bool> = races.values().filter_map(is_first).collect();
    wilson(firsts.iter().filter(|is_first| **is_first).count(), firsts.len(), confidence)
}

/// Returns whether Square comes first; `None` where that cannot be said.
fn is_first(race: &Race) -> Option<bool> {
    let square = match race.square.as_ref()? {
        Search::Found { epsilon, .. } => *epsilon,
        Search::Survived { .. } => f64::INFINITY,
        Search::NotAttacked | Search::Failed(_) => return None,
    };
    let mut is_first = true;
    let mut n = 0;
    for other in &race.others {
        match other {
            Search::Found { epsilon, .. } => is_first &= square < *epsilon,
            Search::Survived { up_to } if square <= *up_to || square.is_infinite() => {
                is_first &= square.is_finite();
            }
            Search::Survived { .. } => return None,
            Search::NotAttacked | Search::Failed(_) => continue,
        }
        n += 1;
    }
    (0 < n).then_some(is_first)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(epsilon: f64) -> Search {
        Search::Found { epsilon, answer: None }
    }

    fn survived(up_to: f64) -> Search {
        Search::Survived { up_to }
    }

    fn check(square: Search, others: &[Search], expected: Option<bool>) {
        let race = Race { square: Some(square), others: others.to_vec() };
        assert_eq!(is_first(&race), expected);
    }

    #[test]
    fn square_comes_first_only_where_it_beats_every_other() {
        check(found(0.01), &[found(0.02), survived(0.05)], Some(true));
        check(found(0.01), &[found(0.02), found(0.01)], Some(false));
        check(survived(0.05), &[survived(0.05)], Some(false));
        check(survived(0.05), &[found(0.01)], Some(false));
    }

    #[test]
    fn nothing_is_said_where_the_others_were_not_tried_as_far_or_not_at_all() {
        check(found(0.05), &[survived(0.02)], None);
        check(found(0.05), &[], None);
        check(found(0.05), &[Search::NotAttacked], None);
        check(Search::NotAttacked, &[found(0.01)], None);
    }
}
