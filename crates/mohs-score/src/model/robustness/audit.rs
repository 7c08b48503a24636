//! How far the fast search can be believed: on rows that were searched both ways, how often do the
//! two disagree?
//!
//! # Formula
//!
//! ```text
//! disagreement = audited rows whose fast answer is not the exact one / audited rows
//! ```
//!
//! With Wilson's interval. Success need not grow with ε, so a search that skips some ε finds *a*
//! crossing and not always the first: where it errs it mostly says too much. Rows without an
//! outcome do not count.

use mohs_data::{FastAnswer, How, MinEpsilon, Search};

use super::findings::Audit;
use crate::proportion::wilson;

/// What is lost by writing numbers as text, and no more.
const SAME: f64 = 1e-12;

/// Returns what the audited rows say; `None` when there are none.
pub(super) fn of_rows(rows: &[&MinEpsilon], confidence: f64) -> Option<Audit> {
    let (mut n, mut n_too_large, mut n_too_small) = (0, 0, 0);
    for row in rows.iter().filter(|row| row.how == How::Audited) {
        let exact = match row.search {
            Search::Found { epsilon, .. } => epsilon,
            Search::Survived { .. } => f64::INFINITY,
            Search::NotAttacked | Search::Failed(_) => continue,
        };
        let fast = match row.fast {
            Some(FastAnswer::Found(epsilon)) => epsilon,
            Some(FastAnswer::Survived) => f64::INFINITY,
            None => continue,
        };
        n += 1;
        n_too_large += usize::from(exact + SAME < fast);
        n_too_small += usize::from(fast + SAME < exact);
    }
    let disagreement = wilson(n_too_large + n_too_small, n, confidence)?;
    Some(Audit { disagreement, n_too_large, n_too_small })
}

#[cfg(test)]
mod tests {
    use mohs_data::{Extra, Goal, Norm};

    use super::*;

    fn row(search: Search, fast: Option<FastAnswer>, how: How) -> MinEpsilon {
        MinEpsilon {
            model: "m".into(),
            stimulus: "s".into(),
            attack: "pgd".into(),
            norm: Norm::Linf,
            goal: Goal::Fool,
            settings: "".into(),
            label: "mug".into(),
            clean: Some("mug".into()),
            search,
            how,
            fast,
            n_forward: 0,
            n_gradient: 0,
            flags: Vec::new(),
            extra: Extra::default(),
        }
    }

    fn found(epsilon: f64) -> Search {
        Search::Found { epsilon, answer: None }
    }

    #[test]
    fn every_way_to_disagree_is_counted_and_the_rest_is_left_out() {
        let survived = Search::Survived { up_to: 0.05 };
        let rows = [
            row(found(0.01), Some(FastAnswer::Found(0.01)), How::Audited),
            row(found(0.01), Some(FastAnswer::Found(0.03)), How::Audited),
            row(found(0.01), Some(FastAnswer::Survived), How::Audited),
            row(survived.clone(), Some(FastAnswer::Found(0.03)), How::Audited),
            row(survived, Some(FastAnswer::Survived), How::Audited),
            row(found(0.01), Some(FastAnswer::Found(0.03)), How::Exact),
            row(Search::NotAttacked, None, How::Audited),
        ];
        let rows: Vec<&MinEpsilon> = rows.iter().collect();
        let found = of_rows(&rows, 0.95).unwrap();
        assert_eq!((found.n_too_large, found.n_too_small, found.disagreement.n), (2, 1, 5));
        assert!((found.disagreement.value - 0.6).abs() < 1e-12);
        assert_eq!(of_rows(&rows[5..], 0.95), None);
    }
}
