//! Which ε is tried next: the searches, as pure functions of what was found so far.
//!
//! Whether an attack succeeds does not only depend on ε being large enough: a larger one can fail
//! where a smaller one succeeds. *Exact* therefore tries every ε from below until the first success,
//! which is the answer of trying all of them. *Fast* follows the margin that was left to a crossing
//! and then tries a few smaller ε; it can be wrong, and a share of pictures is audited for that.

use std::collections::BTreeMap;

use super::grid::Grid;

/// How the smallest ε is looked for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Mode {
    /// Every ε of the grid, each from scratch: slow, and what the others are judged by.
    Sweep,
    /// From below, until the first success.
    Exact,
    /// Along the margin, with checks; this share of pictures exactly.
    Fast {
        /// The share that is audited.
        audited: f64,
    },
}

/// What a search knows of one ε.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Seen {
    /// Whether the attack reached its aim.
    pub(super) is_reached: bool,
    /// The margin that was left.
    pub(super) margin: f64,
}

/// What to do next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Next {
    /// Try the ε at this place.
    Try(usize),
    /// The smallest ε is the one at this place; none if there is none.
    Found(Option<usize>),
}

/// How many smaller ε the fast search tries below what it found.
const N_CHECKS: usize = 4;

/// Everything of the grid.
pub(super) fn sweep(grid: &Grid, seen: &BTreeMap<usize, Seen>) -> Next {
    match (0..grid.len()).find(|idx| !seen.contains_key(idx)) {
        Some(idx) => Next::Try(idx),
        None => Next::Found(first_reached(seen)),
    }
}

/// From below, until the first success.
pub(super) fn exact(grid: &Grid, seen: &BTreeMap<usize, Seen>) -> Next {
    for idx in 0..grid.len() {
        match seen.get(&idx) {
            None => return Next::Try(idx),
            Some(seen) if seen.is_reached => return Next::Found(Some(idx)),
            Some(_) => {}
        }
    }
    Next::Found(None)
}

/// To a crossing along the margin, then a few below; `guess` is where to begin.
pub(super) fn fast(grid: &Grid, seen: &BTreeMap<usize, Seen>, guess: f64) -> Next {
    let Some(high) = first_reached(seen) else {
        // Nothing reached yet: further up from the largest that was tried.
        let Some((&low, last)) = seen.iter().next_back() else {
            return Next::Try(grid.nearest(guess).max(1).min(grid.len() - 1));
        };
        if low + 1 == grid.len() {
            return checks(grid, seen, grid.len(), None);
        }
        return Next::Try(further_up(grid, seen, low, *last));
    };
    let low = seen.range(..high).next_back();
    match low {
        Some((&low, _)) if low + 1 == high => checks(grid, seen, high, Some(high)),
        None if high == 0 => Next::Found(Some(0)),
        _ => {
            let at_zero = Seen { is_reached: false, margin: margin_at_zero(seen) };
            let (low, below) = low.map_or((0, at_zero), |(&low, below)| (low, *below));
            if low + 1 == high {
                // Only ε = 0 is left below, and that changes nothing.
                return if seen.contains_key(&low) {
                    checks(grid, seen, high, Some(high))
                } else {
                    Next::Try(low)
                };
            }
            Next::Try(between(grid, seen, (low, below), (high, seen[&high])))
        }
    }
}

fn first_reached(seen: &BTreeMap<usize, Seen>) -> Option<usize> {
    seen.iter().find(|(_, seen)| seen.is_reached).map(|(&idx, _)| idx)
}

/// The margin without any change, as far as it is known: that of the smallest ε, or more.
fn margin_at_zero(seen: &BTreeMap<usize, Seen>) -> f64 {
    seen.values().map(|seen| seen.margin).fold(0.0, f64::max)
}

/// A place above all that were tried, where the margin would end if it went on falling as it did.
fn further_up(grid: &Grid, seen: &BTreeMap<usize, Seen>, low: usize, last: Seen) -> usize {
    let epsilon = grid.at(low);
    let before = seen.range(..low).next_back();
    let (earlier, margin) =
        before.map_or((0.0, last.margin * 2.0), |(&idx, seen)| (grid.at(idx), seen.margin));
    let slope = (margin - last.margin) / (epsilon - earlier).max(f64::MIN_POSITIVE);
    let wanted = if 0.0 < slope { epsilon + 1.1 * last.margin / slope } else { epsilon * 2.0 };
    // Neither creeping nor leaping.
    let wanted = wanted.clamp(epsilon * 1.2, epsilon * 2.5);
    grid.nearest(wanted).clamp(low + 1, grid.len() - 1)
}

/// A place between a failure and a success, where the margin would cross zero; the middle, if the
/// last tries have not brought the two much nearer.
fn between(
    grid: &Grid,
    seen: &BTreeMap<usize, Seen>,
    (low, below): (usize, Seen),
    (high, above): (usize, Seen),
) -> usize {
    let (left, right) = (below.margin.max(0.0), (-above.margin).max(0.0));
    let middle = usize::midpoint(low, high);
    let n_near = seen.range(low.saturating_sub(4)..=(high + 4).min(grid.len())).count();
    if left + right <= 0.0 || 4 < n_near {
        return middle.clamp(low + 1, high - 1);
    }
    let share = left / (left + right);
    let wanted = grid.at(low) + share * (grid.at(high) - grid.at(low));
    grid.nearest(wanted).clamp(low + 1, high - 1)
}

/// Tries the places right below what was found; what is reached there is the new find.
fn checks(grid: &Grid, seen: &BTreeMap<usize, Seen>, end: usize, found: Option<usize>) -> Next {
    debug_assert!(end <= grid.len());
    let below = (1..end).rev().take(N_CHECKS);
    match below.into_iter().find(|idx| !seen.contains_key(idx)) {
        Some(idx) => Next::Try(idx),
        None => Next::Found(found),
    }
}

#[cfg(test)]
mod tests {
    use mohs_data::Norm;
    use proptest::prelude::*;

    use super::*;

    fn grid() -> Grid {
        Grid::parse("paper", Norm::Linf).unwrap()
    }

    /// Runs a search against a rule; returns what it found and how often it tried.
    fn run(
        search: impl Fn(&Grid, &BTreeMap<usize, Seen>) -> Next,
        rule: impl Fn(usize) -> Seen,
    ) -> (Option<usize>, usize) {
        let grid = grid();
        let mut seen = BTreeMap::new();
        loop {
            match search(&grid, &seen) {
                Next::Found(found) => return (found, seen.len()),
                Next::Try(idx) => assert!(seen.insert(idx, rule(idx)).is_none(), "{idx} twice"),
            }
            assert!(seen.len() <= grid.len());
        }
    }

    /// A margin that falls evenly to zero at an ε.
    fn even(crossing: f64) -> impl Fn(usize) -> Seen {
        move |idx| {
            let margin = 5.0 * (1.0 - grid().at(idx) / crossing);
            Seen { is_reached: margin <= 0.0, margin }
        }
    }

    #[test]
    fn exact_stops_at_the_first_success_and_sweep_never() {
        let rule = |idx: usize| Seen { is_reached: [30, 31, 40].contains(&idx), margin: 1.0 };
        assert_eq!(run(exact, rule), (Some(30), 31));
        assert_eq!(run(sweep, rule), (Some(30), 140));
        let never = |_| Seen { is_reached: false, margin: 1.0 };
        assert_eq!(run(exact, never), (None, 140));
        assert_eq!(run(sweep, never), (None, 140));
    }

    #[test]
    fn fast_needs_few_tries_where_the_margin_falls_evenly_wherever_it_begins() {
        for crossing in [0.00015, 0.0011, 0.004_95, 0.0123, 0.0494] {
            let expected = run(exact, even(crossing)).0;
            for guess in [0.0001, 0.001, 0.01, 1.0] {
                let (found, n) = run(|grid, seen| fast(grid, seen, guess), even(crossing));
                assert_eq!(found, expected, "{crossing} {guess}");
                assert!(n <= 16, "{crossing} {guess}: {n}");
            }
        }
        let (found, n) = run(|grid, seen| fast(grid, seen, 0.003), even(0.2));
        assert_eq!(found, None);
        assert!(n <= 12, "{n}");
    }

    #[test]
    fn fast_finds_a_success_that_lies_a_little_lower() {
        let rule = |idx: usize| Seen {
            is_reached: idx == 27 || 30 <= idx,
            margin: 30.0 - f64::from(u32::try_from(idx).unwrap()),
        };
        assert_eq!(run(|grid, seen| fast(grid, seen, 0.002), rule).0, Some(27));
    }

    proptest! {
        #[test]
        fn fast_always_ends_with_something_that_is_reached(
            pattern in prop::collection::vec((any::<bool>(), -3.0..3.0_f64), 140),
            guess in 0.0..0.1_f64,
        ) {
            let rule = |idx: usize| {
                let is_reached = pattern[idx].0 && 0 < idx;
                Seen { is_reached, margin: pattern[idx].1.abs() * if is_reached { -1.0 } else { 1.0 } }
            };
            let (found, _) = run(|grid, seen| fast(grid, seen, guess), rule);
            if let Some(found) = found {
                prop_assert!(pattern[found].0);
                for idx in found.saturating_sub(4).max(1)..found {
                    prop_assert!(!pattern[idx].0);
                }
            }
        }
    }
}
