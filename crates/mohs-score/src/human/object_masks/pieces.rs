//! Connected pieces of a mask: how many instances of the object there are.
//!
//! Pixels that touch belong to one piece: by a side ([`Connectivity::Four`]), or by a side or a
//! corner ([`Connectivity::Eight`]). Pieces are found on the runs of each column: a run touches the
//! runs of the column before that overlap it (Rosenfeld and Pfaltz 1966), and touching runs are
//! joined. A piece smaller than a share of the largest one is a speck, a slip of the hand rather
//! than an instance.
//!
//! # References
//!
//! - A. Rosenfeld, J. L. Pfaltz (1966), "Sequential operations in digital picture processing".

use mohs_data::Mask;
use serde::{Deserialize, Serialize};

use super::runs::pixels;

/// Which neighbours of a pixel touch it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Connectivity {
    /// Those that share a side.
    Four,
    /// Those that share a side or a corner.
    Eight,
}

/// The rows `start..end` of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ColumnRun {
    pub(super) x: u32,
    pub(super) start: u32,
    pub(super) end: u32,
}

impl ColumnRun {
    pub(super) fn len(self) -> u64 {
        u64::from(self.end - self.start)
    }
}

/// Visits the part of each column that lies between two pixels in the order of the runs.
pub(super) fn each_column(height: u32, start: u64, end: u64, mut visit: impl FnMut(ColumnRun)) {
    let height = u64::from(height);
    let small = |n: u64| u32::try_from(n).expect("because a side is at most 32 768 pixels");
    let mut at = start;
    while at < end {
        let (x, y) = (at / height, at % height);
        let stop = end.min((x + 1) * height);
        visit(ColumnRun { x: small(x), start: small(y), end: small(y + stop - at) });
        at = stop;
    }
}

/// Visits the object pixels of a mask, column by column.
pub(super) fn each_object_run(mask: &Mask, mut visit: impl FnMut(ColumnRun)) {
    let mut start = 0;
    for (idx, run) in mask.counts().iter().enumerate() {
        let end = start + u64::from(*run);
        if idx % 2 == 1 {
            each_column(mask.height(), start, end, &mut visit);
        }
        start = end;
    }
}

/// Returns the areas of the connected pieces, largest first.
pub fn pieces(mask: &Mask, connectivity: Connectivity) -> Vec<u64> {
    let mut runs: Vec<ColumnRun> = Vec::new();
    each_object_run(mask, |run| runs.push(run));
    let mut parent: Vec<usize> = (0..runs.len()).collect();
    let reach = match connectivity {
        Connectivity::Four => 0,
        Connectivity::Eight => 1,
    };
    // Runs of the column before that may still touch: `before` never has to go back.
    let mut before = 0;
    for (idx, run) in runs.iter().enumerate() {
        let is_past = |other: &ColumnRun| {
            other.x + 1 < run.x || (other.x + 1 == run.x && other.end + reach <= run.start)
        };
        while before < idx && is_past(&runs[before]) {
            before += 1;
        }
        let touching = runs[before..idx]
            .iter()
            .take_while(|other| other.x + 1 == run.x && other.start < run.end + reach);
        for place in before..before + touching.count() {
            let (a, b) = (root(&mut parent, place), root(&mut parent, idx));
            parent[a.max(b)] = a.min(b);
        }
    }
    let mut area_by_root = vec![0_u64; runs.len()];
    for (idx, run) in runs.iter().enumerate() {
        area_by_root[root(&mut parent, idx)] += run.len();
    }
    let mut areas: Vec<u64> = area_by_root.into_iter().filter(|area| 0 < *area).collect();
    areas.sort_unstable_by(|a, b| b.cmp(a));
    areas
}

fn root(parent: &mut [usize], mut idx: usize) -> usize {
    while parent[idx] != idx {
        parent[idx] = parent[parent[idx]];
        idx = parent[idx];
    }
    idx
}

/// Returns how many pieces are instances, and how many are specks: smaller than `speck_share` of
/// the largest piece.
pub(super) fn instances(areas: &[u64], speck_share: f64) -> (usize, usize) {
    let Some(largest) = areas.first() else { return (0, 0) };
    let least = speck_share * pixels(*largest);
    let n_instances = areas.iter().filter(|area| least <= pixels(**area)).count();
    (n_instances, areas.len() - n_instances)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::runs::tests::{drawn, masks};
    use super::*;

    /// Flood fill, pixel by pixel.
    fn brute_pieces(mask: &Mask, connectivity: Connectivity) -> Vec<u64> {
        let (height, width) = (mask.height() as usize, mask.width() as usize);
        let mut bits = mask.to_bitmap();
        let mut areas = Vec::new();
        while let Some(first) = bits.iter().position(|is| *is) {
            bits[first] = false;
            let mut open = vec![first];
            let mut area = 0;
            while let Some(at) = open.pop() {
                area += 1;
                let (y, x) = (at / width, at % width);
                for next_y in y.saturating_sub(1)..=(y + 1).min(height - 1) {
                    for next_x in x.saturating_sub(1)..=(x + 1).min(width - 1) {
                        let is_corner = next_y != y && next_x != x;
                        let next = next_y * width + next_x;
                        if bits[next] && !(is_corner && connectivity == Connectivity::Four) {
                            bits[next] = false;
                            open.push(next);
                        }
                    }
                }
            }
            areas.push(area);
        }
        areas.sort_unstable_by(|a, b| b.cmp(a));
        areas
    }

    #[test]
    fn a_corner_joins_only_under_eight() {
        let mask = drawn(&["##..", "..#.", "#..."]);
        assert_eq!(pieces(&mask, Connectivity::Four), [2, 1, 1]);
        assert_eq!(pieces(&mask, Connectivity::Eight), [3, 1]);
        assert_eq!(pieces(&drawn(&["..."]), Connectivity::Four), [] as [u64; 0]);
    }

    #[test]
    fn a_speck_is_small_beside_the_largest_piece() {
        assert_eq!(instances(&[200, 150, 2, 1], 0.01), (3, 1));
        assert_eq!(instances(&[1, 1, 1], 0.01), (3, 0));
        assert_eq!(instances(&[], 0.01), (0, 0));
    }

    proptest! {
        #[test]
        fn pieces_equal_a_flood_fill(masks in masks(1..2)) {
            for connectivity in [Connectivity::Four, Connectivity::Eight] {
                let found = pieces(&masks[0], connectivity);
                prop_assert_eq!(found, brute_pieces(&masks[0], connectivity));
            }
        }
    }
}
