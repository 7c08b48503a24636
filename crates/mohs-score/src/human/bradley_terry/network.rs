//! Which stimuli were compared with which: components, and whether a component is separated.
//!
//! Stimuli that no chain of comparisons joins lie in different components, and nothing can be said
//! about the difference between them. Within a component a finite maximum of the likelihood exists
//! only if every stimulus can be reached from every other by a chain of "was called harder than"
//! (Ford 1957); a tie is a step in both directions. A component without such chains is *separated*.
//!
//! # References
//!
//! - L. R. Ford (1957), "Solution of a ranking problem from binary comparisons".

use std::ops::Range;

/// Judgements of one pair, counted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pair {
    /// Position of the first stimulus; the left one where sides matter.
    pub first: usize,
    /// Position of the second stimulus. Not the first.
    pub second: usize,
    /// Whether `first` stood on the left, so that a bias for the left acts on this pair.
    pub is_sided: bool,
    /// The answers.
    pub tally: Tally,
}

/// Answers about one pair. Counts may be weighted, so they need not be whole.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Tally {
    /// First called harder.
    pub first: f64,
    /// Second called harder.
    pub second: f64,
    /// Neither.
    pub tied: f64,
}

impl Tally {
    /// Returns how many judgements there are.
    pub fn total(&self) -> f64 {
        self.first + self.second + self.tied
    }

    /// Splits ties into two halves.
    #[must_use]
    pub fn with_ties_split(self) -> Self {
        let half = self.tied / 2.0;
        Self { first: self.first + half, second: self.second + half, tied: 0.0 }
    }
}

/// Stimuli joined by comparisons.
///
/// Inside, stimuli stand in an order of their own, *places*, in which those of a component are
/// neighbours. Invariant: `edges`, `neighbours` and `components` refer to places; the edges of a
/// component are neighbours too.
#[derive(Debug)]
pub struct Network {
    /// Place of each stimulus.
    place_of: Vec<usize>,
    /// The pairs, by places, in the order of `pair_of_edge`.
    pub(super) edges: Vec<Edge>,
    /// Position of each edge in the pairs given.
    pub(super) pair_of_edge: Vec<usize>,
    /// Where the neighbours of each place start.
    row_start: Vec<usize>,
    /// Neighbours of all places.
    neighbours: Vec<Neighbour>,
    /// The components, by the smallest position of a stimulus in them.
    pub(super) components: Vec<Component>,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Edge {
    pub(super) first: usize,
    pub(super) second: usize,
    pub(super) is_sided: bool,
}

#[derive(Debug, Clone, Copy)]
struct Neighbour {
    place: u32,
    edge: u32,
}

/// A component: its places and its edges.
#[derive(Debug, Clone)]
pub(super) struct Component {
    pub(super) places: Range<usize>,
    pub(super) edges: Range<usize>,
}

impl Network {
    /// Joins `n_stimuli` stimuli by pairs. A stimulus without pairs is a component of its own.
    pub fn new(n_stimuli: usize, pairs: &[Pair]) -> Self {
        let root = roots(n_stimuli, pairs.iter().map(|pair| (pair.first, pair.second)));
        let mut order: Vec<usize> = (0..n_stimuli).collect();
        order.sort_by_key(|idx| (root[*idx], *idx));
        let mut place_of = vec![0; n_stimuli];
        for (place, idx) in order.iter().enumerate() {
            place_of[*idx] = place;
        }
        let mut pair_of_edge: Vec<usize> = (0..pairs.len()).collect();
        pair_of_edge.sort_by_key(|idx| {
            let pair = &pairs[*idx];
            (place_of[pair.first], place_of[pair.second])
        });
        let edges: Vec<Edge> = pair_of_edge
            .iter()
            .map(|idx| Edge {
                first: place_of[pairs[*idx].first],
                second: place_of[pairs[*idx].second],
                is_sided: pairs[*idx].is_sided,
            })
            .collect();
        let mut components: Vec<Component> = Vec::new();
        let (mut place, mut edge) = (0, 0);
        for members in order.chunk_by(|a, b| root[*a] == root[*b]) {
            let places = place..place + members.len();
            let n_edges = edges[edge..].iter().take_while(|e| places.contains(&e.first)).count();
            place = places.end;
            components.push(Component { places, edges: edge..edge + n_edges });
            edge += n_edges;
        }
        let mut row_start = vec![0; n_stimuli + 1];
        for edge in &edges {
            row_start[edge.first + 1] += 1;
            row_start[edge.second + 1] += 1;
        }
        for place in 0..n_stimuli {
            row_start[place + 1] += row_start[place];
        }
        let mut next = row_start.clone();
        let mut neighbours = vec![Neighbour { place: 0, edge: 0 }; 2 * edges.len()];
        let small = |n: usize| u32::try_from(n).expect("because pairs are far fewer than 2^32");
        for (idx, edge) in edges.iter().enumerate() {
            for (from, to) in [(edge.first, edge.second), (edge.second, edge.first)] {
                neighbours[next[from]] = Neighbour { place: small(to), edge: small(idx) };
                next[from] += 1;
            }
        }
        Self { place_of, edges, pair_of_edge, row_start, neighbours, components }
    }

    /// Returns how many stimuli there are.
    pub fn n_stimuli(&self) -> usize {
        self.place_of.len()
    }

    /// Returns how many components there are.
    pub fn n_components(&self) -> usize {
        self.components.len()
    }

    /// Returns the component of each stimulus.
    pub fn component_of(&self) -> Vec<usize> {
        let mut at_place = vec![0; self.n_stimuli()];
        for (idx, component) in self.components.iter().enumerate() {
            at_place[component.places.clone()].fill(idx);
        }
        self.in_given_order(&at_place)
    }

    /// Returns a mark for each stimulus that two share if these answers join them by a chain.
    /// `tallies` are by edge.
    pub(super) fn pieces(&self, tallies: &[Tally]) -> Vec<usize> {
        let judged = self.edges.iter().zip(tallies).filter(|(_, tally)| 0.0 < tally.total());
        let by_place = roots(self.n_stimuli(), judged.map(|(edge, _)| (edge.first, edge.second)));
        self.in_given_order(&by_place)
    }

    /// Brings numbers by place into the order of the stimuli.
    pub(super) fn in_given_order<T: Copy>(&self, by_place: &[T]) -> Vec<T> {
        self.place_of.iter().map(|place| by_place[*place]).collect()
    }

    /// Brings numbers by stimulus into the order of places.
    pub(super) fn by_place(&self, in_given_order: &[f64]) -> Vec<f64> {
        let mut by_place = vec![0.0; in_given_order.len()];
        for (idx, place) in self.place_of.iter().enumerate() {
            by_place[*place] = in_given_order[idx];
        }
        by_place
    }

    /// Returns the neighbours of a place and the edges to them.
    pub(super) fn around(&self, place: usize) -> impl Iterator<Item = (usize, usize)> {
        self.neighbours[self.row_start[place]..self.row_start[place + 1]]
            .iter()
            .map(|neighbour| (neighbour.place as usize, neighbour.edge as usize))
    }

    /// Returns whether, by these answers, every stimulus of the component can be reached from
    /// every other, so that a finite maximum of the likelihood exists. `tallies` are by edge.
    pub(super) fn is_chained(&self, component: usize, tallies: &[Tally]) -> bool {
        let places = &self.components[component].places;
        let steps_from = |place: usize, (to, edge): (usize, usize), down: bool| {
            let tally = &tallies[edge];
            let harder = if self.edges[edge].first == place { tally.first } else { tally.second };
            let easier = if self.edges[edge].first == place { tally.second } else { tally.first };
            let wins = if down { harder } else { easier };
            (0.0 < wins + tally.tied).then_some(to)
        };
        let reaches_all = |down: bool| {
            let mut is_seen = vec![false; places.len()];
            let mut waiting = vec![places.start];
            is_seen[0] = true;
            let mut n_seen = 1;
            while let Some(place) = waiting.pop() {
                for step in self.around(place) {
                    if let Some(to) = steps_from(place, step, down)
                        && !is_seen[to - places.start]
                    {
                        is_seen[to - places.start] = true;
                        n_seen += 1;
                        waiting.push(to);
                    }
                }
            }
            n_seen == places.len()
        };
        // Everyone is reached from one stimulus and reaches it: then everyone reaches everyone.
        reaches_all(true) && reaches_all(false)
    }
}

/// Returns, for each stimulus, the smallest stimulus that a chain of pairs joins it with.
fn roots(n_stimuli: usize, pairs: impl Iterator<Item = (usize, usize)>) -> Vec<usize> {
    let mut parent: Vec<usize> = (0..n_stimuli).collect();
    fn find(parent: &mut [usize], mut idx: usize) -> usize {
        while parent[idx] != idx {
            parent[idx] = parent[parent[idx]];
            idx = parent[idx];
        }
        idx
    }
    for (first, second) in pairs {
        let (a, b) = (find(&mut parent, first), find(&mut parent, second));
        parent[a.max(b)] = a.min(b);
    }
    (0..n_stimuli).map(|idx| find(&mut parent, idx)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(first: usize, second: usize, a: f64, b: f64, tied: f64) -> Pair {
        Pair { first, second, is_sided: false, tally: Tally { first: a, second: b, tied } }
    }

    fn check(n: usize, pairs: &[Pair], component_of: &[usize], chained: &[bool]) {
        let network = Network::new(n, pairs);
        assert_eq!(network.component_of(), component_of);
        let tallies: Vec<Tally> = network.pair_of_edge.iter().map(|i| pairs[*i].tally).collect();
        let found: Vec<bool> =
            (0..network.n_components()).map(|c| network.is_chained(c, &tallies)).collect();
        assert_eq!(found, chained);
    }

    #[test]
    fn stimuli_never_compared_lie_in_different_components() {
        let pairs = [pair(4, 1, 1.0, 1.0, 0.0), pair(0, 2, 2.0, 1.0, 0.0)];
        check(5, &pairs, &[0, 1, 0, 2, 1], &[true, true, true]);
    }

    #[test]
    fn one_who_never_lost_separates_a_component() {
        check(2, &[pair(0, 1, 3.0, 0.0, 0.0)], &[0, 0], &[false]);
        check(2, &[pair(0, 1, 3.0, 0.0, 1.0)], &[0, 0], &[true]);
    }

    #[test]
    fn a_cycle_of_wins_is_a_chain_and_a_row_of_wins_is_none() {
        let row = [pair(0, 1, 1.0, 0.0, 0.0), pair(1, 2, 1.0, 0.0, 0.0)];
        check(3, &row, &[0, 0, 0], &[false]);
        let cycle = [row[0], row[1], pair(2, 0, 1.0, 0.0, 0.0)];
        check(3, &cycle, &[0, 0, 0], &[true]);
    }

    /// Two groups, each a chain in itself, but one always beats the other.
    #[test]
    fn a_group_that_always_wins_separates_a_component() {
        let inside = [pair(0, 1, 1.0, 1.0, 0.0), pair(2, 3, 1.0, 1.0, 0.0)];
        let between = pair(0, 2, 4.0, 0.0, 0.0);
        check(4, &[inside[0], inside[1], between], &[0, 0, 0, 0], &[false]);
    }
}
