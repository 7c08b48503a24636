//! Agreement in the answers themselves, right or wrong: Cohen's κ for two people, Fleiss' for all.
//!
//! # Formulas
//!
//! ```text
//! Cohen:   κ = (o - e) / (1 - e),    e = Σ_k p₁ₖ p₂ₖ
//! Fleiss:  κ = (P̄ - P_e) / (1 - P_e),    P_u = (Σ_k n_uk² - n_u) / (n_u (n_u - 1)),    P_e = Σ_k p_k²
//! ```
//!
//! `o` is the share of stimuli on which two people give the same answer, `pᵢₖ` how often person
//! `i` gives answer `k`, `n_uk` how many people give answer `k` to stimulus `u`. "No answer" is an
//! answer like others. κ is absent when everybody always gives one and the same answer.
//!
//! # References
//!
//! - J. Cohen (1960), "A coefficient of agreement for nominal scales".
//! - J. L. Fleiss (1971), "Measuring nominal scale agreement among many raters".

use mohs_data::Estimate;

use super::crossed::{Resampling, View};
use super::error_consistency::Pair;
use super::findings::AnswerAgreement;
use super::table::{Table, Unit};
use crate::proportion::real;

/// Answers compared: the finding over everybody, and κ of each pair to list.
pub(super) struct Answers {
    pub(super) everybody: AnswerAgreement,
    pub(super) by_pair: Vec<Option<Estimate>>,
}

/// Compares answers; `None` when trials do not say what was answered.
pub(super) fn of_people(
    resampling: &Resampling<'_>,
    pairs: &[Pair],
    n_listed: usize,
) -> Option<Answers> {
    let table = resampling.table;
    if !table.has_answers {
        return None;
    }
    let everybody = vec![true; table.n_people];
    let all: Vec<Counted> =
        table.units.iter().map(|unit| Counted::new(table, unit, &everybody)).collect();
    let spreads = resampling.spreads(|view: &View| {
        let fleiss = if view.is_everybody {
            fleiss(&all, &view.weights, table.answers.len())
        } else {
            let counted: Vec<Counted> =
                table.units.iter().map(|unit| Counted::new(table, unit, &view.counts)).collect();
            fleiss(&counted, &view.weights, table.answers.len())
        };
        let kappas: Vec<(bool, f64)> = pairs
            .iter()
            .map(|pair| (pair.counts(view), cohen(pair, &view.weights, table.answers.len())))
            .collect();
        let defined: Vec<f64> =
            kappas.iter().filter(|(counts, k)| *counts && k.is_finite()).map(|k| k.1).collect();
        let mean = defined.iter().sum::<f64>() / real(defined.len());
        [fleiss, mean].into_iter().chain(kappas.iter().take(n_listed).map(|k| k.1)).collect()
    });
    let bounds = (-1.0, 1.0);
    let n_units = all.iter().filter(|counted| counted.n.is_some()).count();
    Some(Answers {
        everybody: AnswerAgreement {
            fleiss_kappa: spreads[0].estimate(bounds, n_units),
            mean_pair_kappa: spreads[1].estimate(bounds, pairs.len()),
        },
        by_pair: pairs
            .iter()
            .zip(&spreads[2..])
            .map(|(pair, spread)| spread.over_stimuli(pair.n_shared()))
            .collect(),
    })
}

/// Cohen's κ over all units two people share; not finite when it is not defined.
fn cohen(pair: &Pair, weights: &[f64], n_answers: usize) -> f64 {
    let mut given = [vec![0.0; n_answers], vec![0.0; n_answers]];
    let (mut n, mut n_same) = (0.0, 0.0);
    for shared in pair.conditions.iter().flat_map(|condition| &condition.shared) {
        let weight = weights[shared.unit_idx];
        let [a, b] = shared.answers;
        n += weight;
        n_same += if a == b { weight } else { 0.0 };
        given[0][a] += weight;
        given[1][b] += weight;
    }
    let expected: f64 = given[0].iter().zip(&given[1]).map(|(a, b)| (a / n) * (b / n)).sum();
    (n_same / n - expected) / (1.0 - expected)
}

/// The answers to one unit, counted; nothing when fewer than two people answered.
struct Counted {
    n: Option<f64>,
    agreement: f64,
    /// Answer and how many gave it.
    given: Vec<(usize, f64)>,
}

impl Counted {
    fn new(table: &Table, unit: &Unit, counts: &[bool]) -> Self {
        let mut answers: Vec<usize> = table
            .people(unit)
            .filter(|showing| counts[showing.observer_idx])
            .map(|showing| showing.answer)
            .collect();
        answers.sort_unstable();
        let n = real(answers.len());
        let given: Vec<(usize, f64)> =
            answers.chunk_by(|a, b| a == b).map(|same| (same[0], real(same.len()))).collect();
        let squares: f64 = given.iter().map(|(_, n)| n * n).sum();
        Self { n: (2.0 <= n).then_some(n), agreement: (squares - n) / (n * (n - 1.0)), given }
    }
}

fn fleiss(units: &[Counted], weights: &[f64], n_answers: usize) -> f64 {
    let (mut total, mut agreement, mut n_showings) = (0.0, 0.0, 0.0);
    let mut given = vec![0.0; n_answers];
    for (unit, weight) in units.iter().zip(weights) {
        if let Some(n) = unit.n {
            total += weight;
            agreement += weight * unit.agreement;
            n_showings += weight * n;
            for (answer, n) in &unit.given {
                given[*answer] += weight * n;
            }
        }
    }
    let expected: f64 = given.iter().map(|n| (n / n_showings).powi(2)).sum();
    (agreement / total - expected) / (1.0 - expected)
}

#[cfg(test)]
mod tests {
    use super::super::error_consistency::{Shared, SharedCondition};
    use super::*;

    fn close(a: f64, b: f64) {
        assert!((a - b).abs() < 1e-12, "{a} {b}");
    }

    fn counted(counts: &[usize]) -> Counted {
        let given: Vec<(usize, f64)> = counts.iter().map(|n| real(*n)).enumerate().collect();
        let n: f64 = given.iter().map(|(_, n)| n).sum();
        let squares: f64 = given.iter().map(|(_, n)| n * n).sum();
        Counted { n: Some(n), agreement: (squares - n) / (n * (n - 1.0)), given }
    }

    /// The example of Fleiss's formula on Wikipedia and in textbooks: fourteen raters, ten items,
    /// five answers; κ = 0.2099 (statsmodels 0.14, `fleiss_kappa`: 0.20993070442195522).
    #[test]
    fn fleiss_kappa_is_that_of_the_textbook() {
        let rows = [
            [0, 0, 0, 0, 14],
            [0, 2, 6, 4, 2],
            [0, 0, 3, 5, 6],
            [0, 3, 9, 2, 0],
            [2, 2, 8, 1, 1],
            [7, 7, 0, 0, 0],
            [3, 2, 6, 3, 0],
            [2, 5, 3, 2, 2],
            [6, 5, 2, 1, 0],
            [0, 2, 2, 3, 7],
        ];
        let units: Vec<Counted> = rows.iter().map(|row| counted(row)).collect();
        close(fleiss(&units, &[1.0; 10], 5), 0.209_930_704_421_955_22);
    }

    /// Twenty of fifty both say yes, fifteen both no, five and ten differ: o = 0.7, e = 0.5.
    #[test]
    fn cohens_kappa_is_worked_by_hand() {
        let counts = [(20, [0, 0]), (5, [0, 1]), (10, [1, 0]), (15, [1, 1])];
        let shared = counts
            .iter()
            .flat_map(|(n, answers)| std::iter::repeat_n(*answers, *n))
            .map(|answers| Shared { unit_idx: 0, outcome: 0, answers })
            .collect();
        let pair =
            Pair { a: 0, b: 1, conditions: vec![SharedCondition { condition_idx: 0, shared }] };
        close(cohen(&pair, &[1.0], 2), 0.4);
    }
}
