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
    /// The smallest margin on the way, the last one included.
    pub(super) least: f64,
}

impl Seen {
    /// Whether the aim was reached, if only on the way.
    fn is_touched(&self) -> bool {
        self.is_reached || self.least <= 0.0
    }
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
pub(super) const N_CHECKS: usize = 4;
/// The same for attacks whose success comes and goes.
pub(super) const N_CHECKS_UNSTEADY: usize = 10;

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

/// To a crossing along the margin, then a few below; `guess` is where to begin, `n_checks` how many
/// are tried below.
///
/// Some attacks reach their aim on the way and lose it again, so that success comes and goes with
/// ε. The first ε that touches the aim at all is steadier: it is looked for, and from there on every
/// ε is tried until one ends in success.
pub(super) fn fast(grid: &Grid, seen: &BTreeMap<usize, Seen>, guess: f64, n_checks: usize) -> Next {
    let touched = seen.iter().find(|(_, seen)| seen.is_touched()).map(|(&idx, _)| idx);
    let Some(high) = touched else {
        // Nothing touched yet: further up from the largest that was tried.
        let Some((&low, last)) = seen.iter().next_back() else {
            return Next::Try(grid.nearest(guess).max(1).min(grid.len() - 1));
        };
        if low + 1 == grid.len() {
            return checks(seen, grid.len(), n_checks).unwrap_or(Next::Found(None));
        }
        return Next::Try(further_up(grid, seen, low, *last));
    };
    // Without any change nothing is touched.
    let at_zero = (0, Seen { is_reached: false, least: margin_at_zero(seen) });
    let (low, below) =
        seen.range(..high).next_back().map_or(at_zero, |(&low, &below)| (low, below));
    if low + 1 < high {
        return Next::Try(between(grid, seen, (low, below), (high, seen[&high])));
    }
    if let Some(next) = checks(seen, high, n_checks) {
        return next;
    }
    for idx in high..grid.len() {
        match seen.get(&idx) {
            None => return Next::Try(idx),
            Some(seen) if seen.is_reached => return Next::Found(Some(idx)),
            Some(_) => {}
        }
    }
    Next::Found(None)
}

fn first_reached(seen: &BTreeMap<usize, Seen>) -> Option<usize> {
    seen.iter().find(|(_, seen)| seen.is_reached).map(|(&idx, _)| idx)
}

/// The margin without any change, as far as it is known: that of the smallest ε, or more.
fn margin_at_zero(seen: &BTreeMap<usize, Seen>) -> f64 {
    seen.values().map(|seen| seen.least).fold(0.0, f64::max)
}

/// A place above all that were tried, where the margin would end if it went on falling as it did.
fn further_up(grid: &Grid, seen: &BTreeMap<usize, Seen>, low: usize, last: Seen) -> usize {
    let epsilon = grid.at(low);
    let before = seen.range(..low).next_back();
    let (earlier, margin) =
        before.map_or((0.0, last.least * 2.0), |(&idx, seen)| (grid.at(idx), seen.least));
    let slope = (margin - last.least) / (epsilon - earlier).max(f64::MIN_POSITIVE);
    let wanted = if 0.0 < slope { epsilon + 1.1 * last.least / slope } else { epsilon * 2.0 };
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
    let (left, right) = (below.least.max(0.0), (-above.least).max(0.0));
    let middle = usize::midpoint(low, high);
    let n_near = seen.range(low.saturating_sub(4)..=(high + 4).min(grid.len())).count();
    if left + right <= 0.0 || 4 < n_near {
        return middle.clamp(low + 1, high - 1);
    }
    let share = left / (left + right);
    let wanted = grid.at(low) + share * (grid.at(high) - grid.at(low));
    grid.nearest(wanted).clamp(low + 1, high - 1)
}

/// The next of the places right below a find that was not tried; the margin changes step by step,
/// so that what lies further below is rarely touched.
fn checks(seen: &BTreeMap<usize, Seen>, end: usize, n_checks: usize) -> Option<Next> {
    let mut below = (1..end).rev().take(n_checks);
    below.find(|idx| !seen.contains_key(idx)).map(Next::Try)
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
            Seen { is_reached: margin <= 0.0, least: margin }
        }
    }

    #[test]
    fn exact_stops_at_the_first_success_and_sweep_never() {
        let rule = |idx: usize| Seen { is_reached: [30, 31, 40].contains(&idx), least: 1.0 };
        assert_eq!(run(exact, rule), (Some(30), 31));
        assert_eq!(run(sweep, rule), (Some(30), 140));
        let never = |_| Seen { is_reached: false, least: 1.0 };
        assert_eq!(run(exact, never), (None, 140));
        assert_eq!(run(sweep, never), (None, 140));
    }

    #[test]
    fn fast_needs_few_tries_where_the_margin_falls_evenly_wherever_it_begins() {
        for crossing in [0.00015, 0.0011, 0.004_95, 0.0123, 0.0494] {
            let expected = run(exact, even(crossing)).0;
            for guess in [0.0001, 0.001, 0.01, 1.0] {
                let (found, n) =
                    run(|grid, seen| fast(grid, seen, guess, N_CHECKS), even(crossing));
                assert_eq!(found, expected, "{crossing} {guess}");
                assert!(n <= 16, "{crossing} {guess}: {n}");
            }
        }
        let (found, n) = run(|grid, seen| fast(grid, seen, 0.003, N_CHECKS), even(0.2));
        assert_eq!(found, None);
        assert!(n <= 12, "{n}");
    }

    #[test]
    fn fast_finds_a_success_that_lies_a_little_lower() {
        let rule = |idx: usize| Seen {
            is_reached: idx == 27 || 30 <= idx,
            least: 30.0 - f64::from(u32::try_from(idx).unwrap()),
        };
        assert_eq!(run(|grid, seen| fast(grid, seen, 0.002, N_CHECKS), rule).0, Some(27));
    }

    #[test]
    fn fast_finds_the_first_success_where_it_comes_and_goes_but_is_touched_throughout() {
        let rule = |idx: usize| {
            let margin = 40.0 - f64::from(u32::try_from(idx).unwrap());
            Seen { is_reached: idx == 43 || 60 <= idx, least: margin }
        };
        assert_eq!(run(exact, rule).0, Some(43));
        for guess in [0.0005, 0.003, 0.02] {
            let (found, n) = run(|grid, seen| fast(grid, seen, guess, N_CHECKS), rule);
            assert_eq!(found, Some(43));
            assert!(n <= 20, "{n}");
        }
    }

    proptest! {
        #[test]
        fn fast_always_ends_with_something_that_is_reached(
            pattern in prop::collection::vec((any::<bool>(), -3.0..3.0_f64), 140),
            guess in 0.0..0.1_f64,
        ) {
            let rule = |idx: usize| {
                let is_reached = pattern[idx].0 && 0 < idx;
                Seen { is_reached, least: pattern[idx].1.abs() * if is_reached { -1.0 } else { 1.0 } }
            };
            let (found, _) = run(|grid, seen| fast(grid, seen, guess, N_CHECKS), rule);
            if let Some(found) = found {
                prop_assert!(pattern[found].0);
                let below = &pattern[found.saturating_sub(N_CHECKS).max(1)..found];
                prop_assert!(below.iter().all(|(is_reached, _)| !is_reached));
            }
        }
    }
}
