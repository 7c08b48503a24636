//! Where below a find another success may hide: margins along straight lines, and how rough they are.
//!
//! ```text
//! m(ε)  = the straight line between the tries on both sides; the clean margin at 0
//! r(t)  = |margin of try t − line through its two neighbours| / √(1 + λ² + (1 − λ)²)
//! s²(ε) = (Σ w r(t)² + ½ (0.07 · clean)²) / (Σ w + ½)        w = 1 / (1 + |ε − t| / (0.1 · top))²
//! ```
//!
//! `λ` says where the try lies between its neighbours and `top` is the find. An ε is in doubt while
//! m(ε) < 3.5 s(ε): where margins fall smoothly that ends after a few tries, where they are rough it
//! goes on.

use std::collections::BTreeMap;

use super::grid::Grid;
use super::search::{Seen, first};

/// The spread before anything is known, as a share of the clean margin.
const SPREAD: f64 = 0.07;
/// How many tries that is worth.
const WORTH: f64 = 0.5;
/// How far off a try still tells half or so of the roughness, as a share of the find.
const NEAR: f64 = 0.1;
/// An ε is in doubt up to this many spreads.
const DOUBT: f64 = 3.5;
/// What lies below this share of the find is not in doubt.
const REACH: f64 = 0.3;
/// Nothing is in doubt after this many tries: on a fine grid the next ε always is.
const MAX_TRIES: usize = 60;

/// The place below `end` that is most in doubt; `None` if none is.
pub(super) fn most_doubtful(
    grid: &Grid,
    seen: &BTreeMap<usize, Seen>,
    end: usize,
    clean: f64,
) -> Option<usize> {
    if MAX_TRIES <= seen.len() || clean <= 0.0 {
        return None;
    }
    let top = grid.at(end.min(grid.len() - 1));
    let mut tries = vec![(0.0, clean)];
    let below = seen.range(first(grid)..end);
    tries.extend(below.map(|(&idx, seen)| (grid.at(idx), seen.margin)));
    let roughness = roughness(&tries);
    let spread = |epsilon: f64| {
        let (mut weights, mut squares) = (WORTH, WORTH * (SPREAD * clean).powi(2));
        for &(at, rough) in &roughness {
            let weight = (1.0 + (epsilon - at).abs() / (NEAR * top)).powi(-2);
            weights += weight;
            squares += weight * rough * rough;
        }
        (squares / weights).sqrt()
    };
    let doubt = |idx: usize| margin_at(&tries, grid.at(idx)) / spread(grid.at(idx));
    let from = grid.epsilons().partition_point(|epsilon| *epsilon < REACH * top).max(first(grid));
    let mut most: Option<(usize, f64)> = None;
    for idx in (from..end).filter(|idx| !seen.contains_key(idx)) {
        let doubt = doubt(idx);
        if doubt < most.map_or(DOUBT, |(_, most)| most) {
            most = Some((idx, doubt));
        }
    }
    most.map(|(idx, _)| idx)
}

/// How far each try but the first and the last lies off the line through its neighbours.
fn roughness(tries: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let off = |three: &[(f64, f64)]| {
        let [(low, left), (at, margin), (high, right)] = *three else { return None };
        let share = (at - low) / (high - low);
        let line = left + share * (right - left);
        let scale = (1.0 + share * share + (1.0 - share).powi(2)).sqrt();
        Some((at, (margin - line).abs() / scale))
    };
    tries.windows(3).filter_map(off).collect()
}

/// The margin at an ε on the straight line between the tries on both sides; beyond the last its own.
fn margin_at(tries: &[(f64, f64)], epsilon: f64) -> f64 {
    let above = tries.partition_point(|(at, _)| *at < epsilon);
    match (above.checked_sub(1).map(|below| tries[below]), tries.get(above)) {
        (Some((low, left)), Some(&(high, right))) => {
            left + (epsilon - low) / (high - low) * (right - left)
        }
        (Some((_, margin)), None) | (None, Some(&(_, margin))) => margin,
        (None, None) => 0.0,
    }
}

#[cfg(test)]
mod tests {
    use mohs_data::Norm;

    use super::*;

    fn seen(margins: &[(usize, f64)]) -> BTreeMap<usize, Seen> {
        let seen = |margin: f64| Seen { is_reached: false, margin, least: margin };
        margins.iter().map(|&(idx, margin)| (idx, seen(margin))).collect()
    }

    #[test]
    fn the_margin_between_tries_is_on_a_line_and_beyond_them_that_of_the_last() {
        let tries = [(0.0, 4.0), (2.0, 2.0), (4.0, 3.0)];
        let margins = [0.0, 1.0, 2.0, 3.0, 9.0].map(|epsilon| margin_at(&tries, epsilon));
        for (margin, expected) in margins.iter().zip([4.0, 3.0, 2.0, 2.5, 3.0]) {
            assert!((margin - expected).abs() < 1e-12, "{margins:?}");
        }
        // The line from 4 to 3 passes at 3.5; that estimate varies by ¼ + ¼, the try itself by 1.
        let [(epsilon, rough)] = roughness(&tries)[..] else {
            panic!("one try has two neighbours")
        };
        assert!((epsilon - 2.0_f64).abs() + (rough - 1.5 / 1.5_f64.sqrt()).abs() < 1e-12);
    }

    #[test]
    fn nothing_is_in_doubt_below_an_even_fall_once_it_was_looked_at() {
        let grid = Grid::parse("0:1:0.01", Norm::Linf).unwrap();
        let even = |idx: usize| (idx, 5.0 * (1.0 - grid.at(idx) / 0.6));
        let looked = seen(&[30, 50, 56, 57, 58, 59].map(even));
        let doubted = most_doubtful(&grid, &looked, 60, 5.0);
        assert!(doubted.is_none_or(|idx| 50 < idx), "{doubted:?}");
        let more = seen(&[30, 45, 50, 52, 53, 54, 55, 56, 57, 58, 59].map(even));
        assert_eq!(most_doubtful(&grid, &more, 60, 5.0), None);
    }

    #[test]
    fn rough_margins_leave_the_small_ones_in_doubt() {
        let grid = Grid::parse("0:1:0.01", Norm::Linf).unwrap();
        let rough = seen(&[(30, 4.0), (40, 1.0), (50, 4.0), (57, 2.0), (58, 4.0), (59, 3.0)]);
        let doubted = most_doubtful(&grid, &rough, 60, 5.0);
        assert!(doubted.is_some_and(|idx| [39, 41].contains(&idx)), "{doubted:?}");
        assert_eq!(most_doubtful(&grid, &rough, 60, 0.0), None);
    }
}
