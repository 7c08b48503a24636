//! Which ε is tried next: the searches, as pure functions of what was found so far.
//!
//! Whether an attack succeeds does not only depend on ε being large enough: a larger one can fail
//! where a smaller one succeeds. *Exact* therefore tries every ε from below until the first success,
//! which is the answer of trying all of them. *Fast* follows the margin that was left to a crossing
//! and then tries smaller ε, more of them where the margins that it met are rough (`doubt.rs`); it
//! can be wrong, and a share of pictures is audited for that.

use std::collections::BTreeMap;

use super::doubt::most_doubtful;
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
    /// The margin in the end.
    pub(super) margin: f64,
    /// The smallest margin on the way, the last one included.
    pub(super) least: f64,
}

/// What to do next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Next {
    /// Try the ε at this place.
    Try(usize),
    /// The smallest ε is the one at this place; none if there is none.
    Found(Option<usize>),
}

/// What the fast search knows of a picture before it tries anything.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Before {
    /// The margin without any change.
    pub(super) clean: f64,
    /// ε by a straight line.
    pub(super) guess: f64,
}

/// How warily the fast search goes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Pace {
    /// Where it begins, as a share of the guess.
    begin: f64,
    /// How many times the last ε the next one is while nothing is touched: at least and at most.
    up: (f64, f64),
    /// How many ε right below what was found are tried, whatever margins say.
    n_checks: usize,
    /// The same where the margin did not fall evenly to what was found but leapt.
    n_checks_below_leap: usize,
    /// Whether the smallest margin on the way is followed, and not the one in the end.
    follows_the_way: bool,
}

impl Pace {
    /// The margin that is followed.
    fn margin(&self, seen: &Seen) -> f64 {
        if self.follows_the_way { seen.least } else { seen.margin }
    }

    /// Whether the aim was reached; if only on the way, where that is followed.
    fn is_touched(&self, seen: &Seen) -> bool {
        seen.is_reached || (self.follows_the_way && seen.least <= 0.0)
    }
}

/// For most attacks.
pub(super) const STEADY: Pace = Pace {
    begin: 1.0,
    up: (1.2, 2.5),
    n_checks: 4,
    n_checks_below_leap: 4,
    follows_the_way: false,
};
/// For attacks whose success comes and goes. These numbers, and those of `doubt.rs`, were chosen on
/// two small networks and some pictures of a third, and judged elsewhere (`docs/formats/attacks.md`).
pub(super) const UNSTEADY: Pace = Pace {
    begin: 0.8,
    up: (1.05, 1.2),
    n_checks: 3,
    n_checks_below_leap: 12,
    follows_the_way: true,
};
/// For attacks that end with their first success, so that it is failures that cost. Without a guess
/// they begin at the top of the grid and go down; how soon they succeed stands for a margin.
pub(super) const DOWNWARDS: Pace =
    Pace { begin: 1.0, up: (1.2, 2.5), n_checks: 2, n_checks_below_leap: 2, follows_the_way: true };
/// A margin leaps when it was more than this many times what an even fall would have left.
const LEAP: f64 = 8.0;

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

/// To a crossing along the margin, then a few below.
///
/// Some attacks reach their aim on the way and lose it again, so that success comes and goes with
/// ε. The first ε that touches the aim at all is steadier: where the pace says so, it is looked for,
/// and from there on every ε is tried until one ends in success. For most attacks the margin in the
/// end is steady enough; those that look at shrunk pictures touch the aim long before they keep it.
///
/// Where the margin falls smoothly to the crossing, what lies below it is rarely touched. Where it is
/// rough, what was left at some ε may have been overcome at another: those that are in doubt are
/// tried. Where it leaps at the crossing, steps of the attack have gone another way, and may have
/// done so a little further below: more of those are tried.
pub(super) fn fast(grid: &Grid, seen: &BTreeMap<usize, Seen>, before: Before, pace: &Pace) -> Next {
    let touched = seen.iter().find(|(_, seen)| pace.is_touched(seen)).map(|(&idx, _)| idx);
    let Some(high) = touched else {
        // Nothing touched yet: further up from the largest that was tried.
        let Some((&low, last)) = seen.iter().next_back() else {
            let wanted = pace.begin * before.guess;
            return Next::Try(grid.nearest(wanted).max(first(grid)).min(grid.len() - 1));
        };
        if low + 1 == grid.len() {
            let doubted = most_doubtful(grid, seen, grid.len(), before.clean);
            return doubted.map_or(Next::Found(None), Next::Try);
        }
        return Next::Try(further_up(grid, seen, low, *last, pace));
    };
    // Without any change nothing is touched.
    let at_zero = (first(grid), 0.0, before.clean);
    let below = seen.range(..high).next_back();
    let (from, epsilon, left) =
        below.map_or(at_zero, |(&low, below)| (low + 1, grid.at(low), pace.margin(below)));
    if from < high {
        let beyond = -pace.margin(&seen[&high]);
        return Next::Try(between(grid, seen, from, (epsilon, left), (high, beyond)));
    }
    let doubted = most_doubtful(grid, seen, high, before.clean);
    if let Some(idx) = doubted.or_else(|| check(grid, seen, high, before.clean, pace)) {
        return Next::Try(idx);
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

/// A place above all that were tried, where the margin would end if it went on falling as it did.
fn further_up(
    grid: &Grid,
    seen: &BTreeMap<usize, Seen>,
    low: usize,
    last: Seen,
    pace: &Pace,
) -> usize {
    let (epsilon, left) = (grid.at(low), pace.margin(&last));
    let before = seen.range(..low).next_back();
    let (earlier, margin) =
        before.map_or((0.0, left * 2.0), |(&idx, seen)| (grid.at(idx), pace.margin(seen)));
    let slope = (margin - left) / (epsilon - earlier).max(f64::MIN_POSITIVE);
    let wanted = if 0.0 < slope { epsilon + 1.1 * left / slope } else { epsilon * 2.0 };
    let (least, most) = pace.up;
    // Neither creeping nor leaping.
    let wanted = wanted.clamp(epsilon * least, epsilon * most);
    grid.nearest(wanted).clamp(low + 1, grid.len() - 1)
}

/// The first place where anything is changed: ε = 0 is never tried.
pub(super) fn first(grid: &Grid) -> usize {
    usize::from(grid.at(0) <= 0.0)
}

/// A place from `from` on and before a success, where the margin would cross zero after a failure;
/// the middle, if the last tries have not brought the two much nearer.
fn between(
    grid: &Grid,
    seen: &BTreeMap<usize, Seen>,
    from: usize,
    (epsilon, left): (f64, f64),
    (high, beyond): (usize, f64),
) -> usize {
    let (left, right) = (left.max(0.0), beyond.max(0.0));
    let low = from.saturating_sub(1);
    let middle = usize::midpoint(low, high);
    let n_near = seen.range(low.saturating_sub(4)..=(high + 4).min(grid.len())).count();
    if left + right <= 0.0 || 4 < n_near {
        return middle.clamp(from, high - 1);
    }
    let share = left / (left + right);
    let wanted = epsilon + share * (grid.at(high) - epsilon);
    grid.nearest(wanted).clamp(from, high - 1)
}

/// The next of the places right below a find that was not tried.
fn check(
    grid: &Grid,
    seen: &BTreeMap<usize, Seen>,
    found: usize,
    clean: f64,
    pace: &Pace,
) -> Option<usize> {
    let right_below =
        found.checked_sub(1).and_then(|idx| Some((idx, pace.margin(seen.get(&idx)?))));
    // An even fall from the clean margin at 0 to nothing at the find leaves this one step below it.
    let even = |idx: usize| clean * (1.0 - grid.at(idx) / grid.at(found));
    let is_leap = right_below.is_some_and(|(idx, left)| LEAP * even(idx) < left);
    let n = if is_leap { pace.n_checks_below_leap } else { pace.n_checks };
    let mut below = (first(grid)..found).rev().take(n);
    below.find(|idx| !seen.contains_key(idx))
}

#[cfg(test)]
mod tests {
    use mohs_data::Norm;
    use proptest::prelude::*;

    use super::*;

    fn grid() -> Grid {
        Grid::parse("paper", Norm::Linf).unwrap()
    }

    fn before(guess: f64) -> Before {
        Before { clean: 5.0, guess }
    }

    fn one(is_reached: bool, margin: f64) -> Seen {
        Seen { is_reached, margin, least: margin }
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
            one(margin <= 0.0, margin)
        }
    }

    #[test]
    fn exact_stops_at_the_first_success_and_sweep_never() {
        let rule = |idx: usize| one([30, 31, 40].contains(&idx), 1.0);
        assert_eq!(run(exact, rule), (Some(30), 31));
        assert_eq!(run(sweep, rule), (Some(30), 140));
        let never = |_| one(false, 1.0);
        assert_eq!(run(exact, never), (None, 140));
        assert_eq!(run(sweep, never), (None, 140));
    }

    #[test]
    fn fast_needs_few_tries_where_the_margin_falls_evenly_wherever_it_begins() {
        for crossing in [0.00015, 0.0011, 0.004_95, 0.0123, 0.0494] {
            let expected = run(exact, even(crossing)).0;
            for guess in [0.0001, 0.001, 0.01, 1.0] {
                let (found, n) = run(fast_at(guess, &STEADY), even(crossing));
                assert_eq!(found, expected, "{crossing} {guess}");
                assert!(n <= 16, "{crossing} {guess}: {n}");
            }
        }
        let (found, n) = run(fast_at(0.003, &STEADY), even(0.2));
        assert_eq!(found, None);
        assert!(n <= 12, "{n}");
    }

    #[test]
    fn fast_finds_a_success_that_lies_a_little_lower() {
        let rule =
            |idx: usize| one(idx == 27 || 30 <= idx, 30.0 - f64::from(u32::try_from(idx).unwrap()));
        assert_eq!(run(fast_at(0.002, &STEADY), rule).0, Some(27));
    }

    #[test]
    fn fast_finds_the_first_success_where_it_comes_and_goes_but_is_touched_throughout() {
        let rule = |idx: usize| {
            let margin = 40.0 - f64::from(u32::try_from(idx).unwrap());
            one(idx == 43 || 60 <= idx, margin)
        };
        assert_eq!(run(exact, rule).0, Some(43));
        for guess in [0.003, 0.005, 0.02] {
            let (found, n) = run(fast_at(guess, &UNSTEADY), rule);
            assert_eq!(found, Some(43));
            assert!(n <= 24, "{guess}: {n}");
        }
    }

    /// The aim is touched from 12 on and kept from 60 on, with a margin that falls evenly in the end.
    #[test]
    fn a_steady_attack_follows_the_margin_in_the_end_and_not_what_it_touches_on_the_way() {
        let rule = |idx: usize| {
            let margin = 60.0 - f64::from(u32::try_from(idx).unwrap());
            Seen { is_reached: margin <= 0.0, margin, least: margin - 48.0 }
        };
        assert_eq!(run(exact, rule).0, Some(60));
        for guess in [0.0005, 0.003, 0.02] {
            let (found, n) = run(fast_at(guess, &STEADY), rule);
            assert_eq!(found, Some(60));
            assert!(n <= 16, "{guess}: {n}");
        }
    }

    fn fast_at(guess: f64, pace: &Pace) -> impl Fn(&Grid, &BTreeMap<usize, Seen>) -> Next {
        move |grid, seen| fast(grid, seen, before(guess), pace)
    }

    /// A margin of two fifths that leaps to a success at 70, and for two ε at 60.
    #[test]
    fn where_the_margin_leaps_an_unsteady_attack_is_checked_further_below() {
        let rule = |idx: usize| {
            let is_reached = 70 <= idx || [60, 61].contains(&idx);
            one(is_reached, if is_reached { -1.0 } else { 2.0 })
        };
        assert_eq!(run(exact, rule).0, Some(60));
        assert_eq!(run(fast_at(0.05, &STEADY), rule).0, Some(70));
        let (found, n) = run(fast_at(0.05, &UNSTEADY), rule);
        assert_eq!(found, Some(60));
        assert!(n <= 40, "{n}");
    }

    #[test]
    fn an_unsteady_attack_costs_little_where_the_margin_falls_evenly_or_hardly_at_all() {
        for crossing in [0.0011, 0.004_95, 0.0123, 0.0494] {
            let (found, n) = run(fast_at(crossing, &UNSTEADY), even(crossing));
            assert_eq!(found, run(exact, even(crossing)).0);
            assert!(n <= 11, "{crossing}: {n}");
        }
        let hopeless = |_| one(false, 4.0);
        let (found, n) = run(fast_at(0.02, &UNSTEADY), hopeless);
        assert_eq!(found, None);
        assert!(n <= 10, "{n}");
    }

    #[test]
    fn without_a_guess_the_search_comes_from_above_and_meets_few_failures() {
        for crossing in [0.0011, 0.004_95, 0.0123, 0.0494] {
            let n_failed = std::cell::Cell::new(0);
            let rule = |idx: usize| {
                let seen = even(crossing)(idx);
                n_failed.set(n_failed.get() + usize::from(!seen.is_reached));
                seen
            };
            let (found, _) = run(fast_at(f64::INFINITY, &DOWNWARDS), rule);
            assert_eq!(found, run(exact, even(crossing)).0);
            assert!(n_failed.get() <= 8, "{crossing}: {}", n_failed.get());
        }
    }

    /// Runs the fast search on a grid with a margin that falls evenly to zero at an ε.
    fn run_on(grid: &Grid, guess: f64, crossing: f64, pace: &Pace) -> Option<usize> {
        let mut seen = BTreeMap::new();
        loop {
            match fast(grid, &seen, before(guess), pace) {
                Next::Found(found) => return found,
                Next::Try(idx) => {
                    let least = 5.0 * (1.0 - grid.at(idx) / crossing);
                    assert!(0.0 < grid.at(idx), "nothing is changed");
                    assert!(seen.insert(idx, one(least <= 0.0, least)).is_none(), "{idx} twice");
                }
            }
        }
    }

    #[test]
    fn grids_that_do_not_begin_at_zero_are_searched_from_their_first_value() {
        for text in ["1/255", "1/255,2/255", "1/255,2/255,4/255,8/255", "0,1/255,8/255"] {
            let grid = Grid::parse(text, Norm::Linf).unwrap();
            for crossing in [0.5 / 255.0, 1.5 / 255.0, 7.0 / 255.0, 0.5] {
                let expected = grid.epsilons().iter().position(|epsilon| crossing <= *epsilon);
                for (guess, pace) in [(0.0001, STEADY), (0.01, STEADY), (1.0, UNSTEADY)] {
                    let found = run_on(&grid, guess, crossing, &pace);
                    assert_eq!(found, expected, "{text} {crossing} {guess}");
                }
            }
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
                one(is_reached, pattern[idx].1.abs() * if is_reached { -1.0 } else { 1.0 })
            };
            for pace in [STEADY, UNSTEADY] {
                let (found, _) = run(fast_at(guess, &pace), rule);
                if let Some(found) = found {
                    prop_assert!(pattern[found].0);
                    let below = &pattern[found.saturating_sub(pace.n_checks).max(1)..found];
                    prop_assert!(below.iter().all(|(is_reached, _)| !is_reached));
                }
            }
        }
    }
}
