//! Chains drawn at random: the hierarchical learning score as it was published.
//!
//! In each cell stimuli of each level are put in random order, and the first of each level make a
//! chain, then the second, as long as every level has one: no stimulus stands in two chains. A
//! chain with a stimulus that has no answer to judge does not count. The closed form over all
//! chains (`learning_score.rs`) has no such luck in it; this is here to be held against it.

use mohs_data::Seed;

use super::SampledChains;
use super::ladder::Ladder;
use super::numbers::Marked;
use super::pattern::is_hierarchical;
use crate::draw::Draw;
use crate::proportion::wilson;

const CHAINS: u64 = 74;

/// Returns chains as places among the stimuli of the ladder, easy to hard; the same for all models.
pub(super) fn chains(ladder: &Ladder<'_>, seed: Seed) -> Vec<Vec<usize>> {
    let n_levels = ladder.levels.len();
    let mut members: Vec<Vec<usize>> = vec![Vec::new(); ladder.cells.len() * n_levels];
    for (place, rung) in ladder.rungs.iter().enumerate() {
        members[ladder.stratum(rung)].push(place);
    }
    let mut chains = Vec::new();
    for (cell_idx, levels) in members.chunks_mut(n_levels).enumerate() {
        let mut draw = Draw::new(seed, &[CHAINS, cell_idx as u64]);
        for level in levels.iter_mut() {
            draw.shuffle(level);
        }
        let n = levels.iter().map(Vec::len).min().unwrap_or(0);
        chains.extend((0..n).map(|nth| levels.iter().map(|level| level[nth]).collect()));
    }
    chains
}

/// Returns the patterns of those chains that can be judged.
pub(super) fn patterns(chains: &[Vec<usize>], marked: &Marked<'_>) -> Vec<Vec<bool>> {
    let pattern = |chain: &Vec<usize>| chain.iter().map(|place| marked.is_right(*place)).collect();
    chains.iter().filter_map(pattern).collect()
}

/// Returns the share of hierarchical patterns; `None` without a chain.
pub(super) fn share(patterns: &[Vec<bool>], confidence: f64) -> Option<SampledChains> {
    let n_hierarchical = patterns.iter().filter(|right| is_hierarchical(right)).count();
    let n_chains = patterns.len();
    let share = wilson(n_hierarchical, n_chains, confidence)?;
    Some(SampledChains { n_chains, n_hierarchical, share })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_of_chains_is_counted_and_no_chain_has_none() {
        let patterns = [vec![true, false], vec![false, true], vec![true, true], vec![false, false]];
        let found = share(&patterns, 0.95).unwrap();
        assert_eq!((found.n_chains, found.n_hierarchical), (4, 3));
        assert!((found.share.value - 0.75).abs() < 1e-12);
        assert!(share(&[], 0.95).is_none());
    }
}
