//! What the fit is asked for: the rule for the prior and the rule for ties, on any weighting of the
//! judgements, so that the data, a bootstrap draw and "all but one participant" go the same way.

use super::findings::{Prior, Ties};
use super::fit::{self, Beside, Fit, NotSettled, Spread};
use super::network::{Network, Tally};

/// The rules.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rules {
    pub(super) ties: Ties,
    pub(super) prior: Prior,
    pub(super) bias: bool,
}

/// A data set made ready by the rules.
pub(super) struct Ready {
    pub(super) tallies: Vec<Tally>,
    /// Whether each component is separated.
    pub(super) is_separated: Vec<bool>,
    /// `1/s²` of the prior of each component; `None` where the rules refuse an answer.
    pub(super) precision: Vec<Option<f64>>,
    pub(super) beside: Beside,
}

impl Rules {
    pub(super) fn apply(&self, network: &Network, mut tallies: Vec<Tally>) -> Ready {
        let is_separated: Vec<bool> = (0..network.n_components())
            .map(|component| !network.is_chained(component, &tallies))
            .collect();
        let precision: Vec<Option<f64>> = is_separated
            .iter()
            .map(|is_separated| match (self.prior, is_separated) {
                (Prior::Always { sd }, _) | (Prior::WhenSeparated { sd }, true) => {
                    Some(1.0 / (sd * sd))
                }
                (Prior::Never, true) => None,
                (Prior::WhenSeparated { .. } | Prior::Never, false) => Some(0.0),
            })
            .collect();
        for (component, _) in
            network.components.iter().zip(&precision).filter(|(_, precision)| precision.is_none())
        {
            tallies[component.edges.clone()].fill(Tally::default());
        }
        let n_tied: f64 = tallies.iter().map(|tally| tally.tied).sum();
        let n_decided: f64 = tallies.iter().map(|tally| tally.first + tally.second).sum();
        // Without a tie, or with nothing else, the tie parameter would be at an infinity.
        let has_tie_parameter = self.ties == Ties::Davidson && 0.0 < n_tied && 0.0 < n_decided;
        let beside = Beside { bias: self.bias, ties: has_tie_parameter };
        let mut ready = Ready { tallies, is_separated, precision, beside };
        if !has_tie_parameter {
            ready.split_ties();
        }
        ready
    }
}

impl Ready {
    /// A component that is refused has no judgements left; any prior keeps it at 0.
    fn precision(&self) -> Vec<f64> {
        self.precision.iter().map(|precision| precision.unwrap_or(1.0)).collect()
    }

    fn split_ties(&mut self) {
        self.beside.ties = false;
        for tally in &mut self.tallies {
            *tally = tally.with_ties_split();
        }
    }

    /// Fits. A chained component has a finite maximum when ties are split, but with a tie
    /// parameter it may not: if ties alone chain it, that parameter and the difficulties can run
    /// away together. Then ties are split after all.
    pub(super) fn fit(
        &mut self,
        network: &Network,
        start: Option<&Fit>,
    ) -> Result<Fit, NotSettled> {
        let precision = self.precision();
        match fit::fit(network, &self.tallies, &precision, self.beside, start) {
            Err(_) if self.beside.ties => {
                self.split_ties();
                fit::fit(network, &self.tallies, &precision, self.beside, start)
            }
            fitted => fitted,
        }
    }

    pub(super) fn spread(&self, network: &Network, fit: &Fit) -> Spread {
        fit::spread(network, &self.tallies, &self.precision(), self.beside, fit)
    }

    /// Returns the bias for the left with its variance; the network must keep sides apart.
    pub(super) fn bias(&self, network: &Network, start: &Fit) -> Option<(f64, f64)> {
        fit::bias(network, &self.tallies, &self.precision(), self.beside.ties, start)
    }

    /// Returns whether each stimulus has an answer: a judgement, in a component not refused.
    pub(super) fn has_answer(&self, network: &Network) -> Vec<bool> {
        let mut has = vec![false; network.n_stimuli()];
        for (edge, tally) in network.edges.iter().zip(&self.tallies) {
            if 0.0 < tally.total() {
                has[edge.first] = true;
                has[edge.second] = true;
            }
        }
        network.in_given_order(&has)
    }
}
