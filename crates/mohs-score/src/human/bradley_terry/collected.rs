//! Judgements as numbers, in an order that does not depend on the file's.

use std::collections::{BTreeMap, BTreeSet};

use mohs_data::{Comparison, Harder, Millis, ParticipantId, Sides, StimulusId};

use super::network::{Network, Pair, Tally};
use crate::proportion::real;

/// One row: two stimuli by position, who judged, and the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Judgement {
    pub(super) left: usize,
    pub(super) right: usize,
    pub(super) participant: usize,
    pub(super) harder: Harder,
    pub(super) sides: Sides,
    pub(super) count: usize,
    /// Position among the unordered pairs.
    pub(super) pair: usize,
}

impl Judgement {
    /// Returns the answer as seen from the pair, whose first stimulus is the smaller.
    fn tally(&self, weight: f64, is_turned: bool) -> Tally {
        let mut tally = Tally::default();
        *match (self.harder, is_turned) {
            (Harder::Tie, _) => &mut tally.tied,
            (Harder::Left, false) | (Harder::Right, true) => &mut tally.first,
            (Harder::Right, false) | (Harder::Left, true) => &mut tally.second,
        } = weight * real(self.count);
        tally
    }

    /// Returns 0, 1 or 2: the smaller stimulus is harder, the larger one, neither.
    pub(super) fn answer(&self) -> usize {
        match (self.harder, self.right < self.left) {
            (Harder::Tie, _) => 2,
            (Harder::Left, false) | (Harder::Right, true) => 0,
            (Harder::Right, false) | (Harder::Left, true) => 1,
        }
    }

    /// Returns the harder and the easier stimulus; `None` of a tie.
    pub(super) fn harder_and_easier(&self) -> Option<(usize, usize)> {
        match self.harder {
            Harder::Left => Some((self.left, self.right)),
            Harder::Right => Some((self.right, self.left)),
            Harder::Tie => None,
        }
    }
}

/// All judgements that count.
pub(super) struct Collected<'a> {
    pub(super) stimuli: Vec<&'a StimulusId>,
    pub(super) participants: Vec<&'a ParticipantId>,
    pub(super) judgements: Vec<Judgement>,
    /// Pairs of stimuli, the smaller first.
    pub(super) pairs: Vec<(usize, usize)>,
    pub(super) rts: Vec<Vec<Millis>>,
}

impl<'a> Collected<'a> {
    pub(super) fn new(comparisons: &[&'a Comparison]) -> Self {
        let mut stimuli: BTreeSet<&StimulusId> = BTreeSet::new();
        let mut participants: BTreeSet<&ParticipantId> = BTreeSet::new();
        for comparison in comparisons {
            stimuli.extend([&comparison.left, &comparison.right]);
            participants.insert(&comparison.participant);
        }
        let stimuli: Vec<&StimulusId> = stimuli.into_iter().collect();
        let participants: Vec<&ParticipantId> = participants.into_iter().collect();
        let position = "because it was collected from the same comparisons";
        let place = |id: &StimulusId| stimuli.binary_search(&id).expect(position);
        let mut rts = vec![Vec::new(); participants.len()];
        let mut judgements: Vec<Judgement> = comparisons
            .iter()
            .map(|comparison| {
                let participant =
                    participants.binary_search(&&comparison.participant).expect(position);
                rts[participant].extend(comparison.rt());
                Judgement {
                    left: place(&comparison.left),
                    right: place(&comparison.right),
                    participant,
                    harder: comparison.harder,
                    sides: comparison.sides,
                    count: usize::try_from(comparison.count).unwrap_or(usize::MAX),
                    pair: 0,
                }
            })
            .collect();
        let unordered = |judgement: &Judgement| {
            (judgement.left.min(judgement.right), judgement.left.max(judgement.right))
        };
        let pairs: BTreeSet<(usize, usize)> = judgements.iter().map(unordered).collect();
        let pairs: Vec<(usize, usize)> = pairs.into_iter().collect();
        for judgement in &mut judgements {
            judgement.pair = pairs.binary_search(&unordered(judgement)).expect(position);
        }
        judgements.sort_unstable();
        Self { stimuli, participants, judgements, pairs, rts }
    }

    /// Counts judgements that pass, each row as often as it says.
    pub(super) fn n(&self, passes: impl Fn(&Judgement) -> bool) -> usize {
        let passing = self.judgements.iter().filter(|judgement| passes(judgement));
        passing.fold(0, |n, judgement| n.saturating_add(judgement.count))
    }
}

/// Judgements on a network, ready to be counted with weights.
pub(super) struct Counted {
    pub(super) network: Network,
    /// Edge of each judgement, and whether the judgement's left is the edge's second.
    edge_of: Vec<(usize, bool)>,
}

impl Counted {
    /// Joins stimuli whichever side they stood on, or, `by_side`, keeps left and right apart.
    pub(super) fn new(data: &Collected<'_>, by_side: bool) -> Self {
        let key = |judgement: &Judgement| {
            let (left, right) = (judgement.left, judgement.right);
            let is_sided = by_side && judgement.sides == Sides::Shown;
            if is_sided { (left, right, true) } else { (left.min(right), left.max(right), false) }
        };
        let mut position: BTreeMap<(usize, usize, bool), usize> =
            data.judgements.iter().map(|judgement| (key(judgement), 0)).collect();
        for (idx, pair) in position.values_mut().enumerate() {
            *pair = idx;
        }
        let pairs: Vec<Pair> = position
            .keys()
            .map(|&(first, second, is_sided)| Pair {
                first,
                second,
                is_sided,
                tally: Tally::default(),
            })
            .collect();
        let network = Network::new(data.stimuli.len(), &pairs);
        let mut edge_of_pair = vec![0; pairs.len()];
        for (edge, pair) in network.pair_of_edge.iter().enumerate() {
            edge_of_pair[*pair] = edge;
        }
        let edge_of = data
            .judgements
            .iter()
            .map(|judgement| {
                let key = key(judgement);
                (edge_of_pair[position[&key]], key.0 != judgement.left)
            })
            .collect();
        Self { network, edge_of }
    }

    /// Counts the answers by edge, each judgement with its weight.
    pub(super) fn tallies(
        &self,
        data: &Collected<'_>,
        weight: impl Fn(usize, &Judgement) -> f64,
    ) -> Vec<Tally> {
        let mut tallies = vec![Tally::default(); self.network.edges.len()];
        for (idx, judgement) in data.judgements.iter().enumerate() {
            let (edge, is_turned) = self.edge_of[idx];
            let one = judgement.tally(weight(idx, judgement), is_turned);
            tallies[edge].first += one.first;
            tallies[edge].second += one.second;
            tallies[edge].tied += one.tied;
        }
        tallies
    }
}
