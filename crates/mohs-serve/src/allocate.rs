//! Which cells a participant gets: the least filled first, spread evenly. Pure.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use mohs_score::draw::Draw;

/// A cell with room that this participant could fill.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Candidate<'a> {
    /// The cell.
    pub cell: i64,
    /// The picture: nobody gets one twice.
    pub source: &'a str,
    /// What it shows.
    pub label: &'a str,
    /// What is done and promised already.
    pub fill: i64,
}

/// What a participant has had so far.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct History {
    /// Pictures that may not come again.
    pub sources: BTreeSet<String>,
    /// How often each label came.
    pub n_by_label: BTreeMap<String, usize>,
    /// How often each group, e.g. each exposure, came.
    pub n_by_group: Vec<usize>,
}

/// Chooses up to `n` candidates; `groups` holds them by exposure, each sorted by fill.
///
/// Each choice takes the group this participant had least, in it the least filled cells, of these
/// a label the participant had least, and of these any. Returns group and candidate.
pub fn choose<'a>(
    groups: &[Vec<Candidate<'a>>],
    history: &History,
    n: usize,
    draw: &mut Draw,
) -> Vec<(usize, Candidate<'a>)> {
    let mut n_by_group = history.n_by_group.clone();
    n_by_group.resize(groups.len(), 0);
    // Numbers instead of names, because every candidate is looked at many times.
    let (mut sources, mut labels) = (Numbers::default(), Numbers::default());
    let mut left: Vec<Vec<Left<'_>>> = Vec::new();
    for group in groups {
        let left_of_group = group.iter().map(|candidate| Left {
            candidate: *candidate,
            source: sources.of(candidate.source),
            label: labels.of(candidate.label),
        });
        left.push(left_of_group.collect());
    }
    let n_before = |label: &&str| *history.n_by_label.get(*label).unwrap_or(&0);
    let mut n_by_label: Vec<usize> = labels.names.iter().map(n_before).collect();
    let is_known = |source: &&str| history.sources.contains(*source);
    let mut is_taken: Vec<bool> = sources.names.iter().map(is_known).collect();
    let mut chosen: Vec<(usize, Candidate<'a>)> = Vec::new();
    while chosen.len() < n {
        let mut best: Option<(usize, &Left<'_>, Rank)> = None;
        for (group_idx, group) in left.iter().enumerate() {
            let n_of_group = n_by_group[group_idx];
            if best.as_ref().is_some_and(|(_, _, lowest)| lowest.n_of_group < n_of_group) {
                continue;
            }
            let mut lowest = None;
            for found in group.iter().filter(|found| !is_taken[found.source]) {
                let fill = found.candidate.fill;
                if lowest.is_some_and(|lowest| lowest < fill) {
                    break;
                }
                lowest = Some(fill);
                let n_of_label = n_by_label[found.label];
                let rank = Rank { n_of_group, fill, n_of_label, any: draw.below(1 << 30) };
                if best.as_ref().is_none_or(|(_, _, lowest)| rank < *lowest) {
                    best = Some((group_idx, found, rank));
                }
            }
        }
        let Some((group_idx, found, _)) = best else { break };
        is_taken[found.source] = true;
        n_by_label[found.label] += 1;
        n_by_group[group_idx] += 1;
        chosen.push((group_idx, found.candidate));
    }
    draw.shuffle(&mut chosen);
    chosen
}

/// A candidate that is still to be had.
struct Left<'a> {
    candidate: Candidate<'a>,
    source: usize,
    label: usize,
}

/// Numbers for names, in the order in which they come.
#[derive(Default)]
struct Numbers<'a> {
    by_name: HashMap<&'a str, usize>,
    names: Vec<&'a str>,
}

impl<'a> Numbers<'a> {
    fn of(&mut self, name: &'a str) -> usize {
        let next = self.names.len();
        let number = *self.by_name.entry(name).or_insert(next);
        if number == next {
            self.names.push(name);
        }
        number
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Rank {
    n_of_group: usize,
    fill: i64,
    n_of_label: usize,
    any: usize,
}

/// Returns the frames that show an exposure on a screen; none when it would be off by more than
/// `tolerance`, a share.
pub fn frames_for(exposure_ms: f64, period_ms: f64, tolerance: f64) -> Option<u32> {
    if !(period_ms.is_finite() && 0.0 < period_ms) {
        return None;
    }
    let frames = (exposure_ms / period_ms).round().max(1.0);
    let error = (frames * period_ms - exposure_ms).abs();
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked")]
    let frames = (frames < 1e9).then_some(frames as u32);
    // Room for rounding: 17 ms on a screen of 58.8 Hz is exact.
    frames.filter(|_| error <= tolerance * exposure_ms + 1e-9)
}

#[cfg(test)]
mod tests {
    use mohs_data::Seed;
    use proptest::prelude::*;

    use super::*;

    fn draw() -> Draw {
        Draw::new(Seed(1), &[])
    }

    const SOURCES: &str = "abcdefghijklmnopqrstuvwxyzABCD";

    fn candidate<'a>(cell: i64, source: &'a str, label: &'a str, fill: i64) -> Candidate<'a> {
        Candidate { cell, source, label, fill }
    }

    fn source(idx: usize) -> &'static str {
        &SOURCES[idx..=idx]
    }

    #[test]
    fn the_emptiest_cells_go_first() {
        let group =
            vec![candidate(1, "a", "x", 0), candidate(2, "b", "x", 0), candidate(3, "c", "x", 1)];
        let chosen = choose(&[group], &History::default(), 2, &mut draw());
        let mut cells: Vec<i64> = chosen.iter().map(|(_, candidate)| candidate.cell).collect();
        cells.sort_unstable();
        assert_eq!(cells, [1, 2]);
    }

    #[test]
    fn labels_take_turns_where_cells_are_equally_full() {
        let group: Vec<Candidate<'_>> = (0..20)
            .map(|idx| candidate(0, source(idx), if idx < 10 { "x" } else { "y" }, 0))
            .collect();
        let chosen = choose(&[group], &History::default(), 8, &mut draw());
        let n_x = chosen.iter().filter(|(_, candidate)| candidate.label == "x").count();
        assert_eq!(n_x, 4);
    }

    #[test]
    fn nobody_gets_a_picture_twice() {
        let group = |cell: i64| -> Vec<Candidate<'_>> {
            (0..4).map(|idx| candidate(cell, source(idx), "x", 0)).collect()
        };
        let chosen = choose(&[group(0), group(10)], &History::default(), 8, &mut draw());
        let sources: BTreeSet<&str> = chosen.iter().map(|(_, c)| c.source).collect();
        assert_eq!((chosen.len(), sources.len()), (4, 4));
    }

    #[test]
    fn screens_show_what_their_frames_allow() {
        let on = |period: f64| [17.0, 50.0, 100.0].map(|ms| frames_for(ms, period, 0.1));
        assert_eq!(on(1_000.0 / 60.0), [Some(1), Some(3), Some(6)]);
        assert_eq!(on(1_000.0 / 120.0), [Some(2), Some(6), Some(12)]);
        assert_eq!(on(1_000.0 / 75.0), [None, Some(4), Some(8)]);
        assert_eq!(on(1_000.0 / 144.0), [None, Some(7), Some(14)]);
        assert_eq!(on(f64::NAN), [None, None, None]);
    }

    proptest! {
        #[test]
        fn exposures_are_spread_evenly_and_sources_never_repeat(
            fills in prop::collection::vec(prop::collection::vec(0_i64..4, 12..30), 1..6),
            n in 1_usize..12,
            seed in 0_u64..1_000,
        ) {
            let groups: Vec<Vec<Candidate<'_>>> = fills
                .iter()
                .enumerate()
                .map(|(group_idx, fills)| {
                    let mut group: Vec<Candidate<'_>> = fills
                        .iter()
                        .enumerate()
                        .map(|(idx, fill)| {
                            let cell = i64::try_from(group_idx * 100 + idx).unwrap();
                            candidate(cell, source(idx), ["x", "y", "z"][idx % 3], *fill)
                        })
                        .collect();
                    group.sort_by_key(|candidate| candidate.fill);
                    group
                })
                .collect();
            let mut draw = Draw::new(Seed(seed), &[]);
            let chosen = choose(&groups, &History::default(), n, &mut draw);
            prop_assert_eq!(chosen.len(), n.min(30));
            let sources: BTreeSet<&str> = chosen.iter().map(|(_, c)| c.source).collect();
            prop_assert_eq!(sources.len(), chosen.len());
            let by_group = |idx| chosen.iter().filter(|(group, _)| *group == idx).count();
            let counts: Vec<usize> = (0..groups.len()).map(by_group).collect();
            let (least, most) = (counts.iter().min().unwrap(), counts.iter().max().unwrap());
            prop_assert!(most - least <= 1, "{:?}", counts);
        }
    }
}
