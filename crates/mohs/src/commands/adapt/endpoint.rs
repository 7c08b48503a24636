//! A model behind an endpoint: asked through its ledger, so that no answer is paid twice and a test
//! that was stopped goes on where it stopped.

use mohs_data::Stimulus;
use mohs_score::adaptive::ladder::{Spent, SpentAtEndpoint};
use mohs_vision::endpoint::Endpoint;
use mohs_vision::evaluate::{Lack, Plan, Remote, Row};

use super::respondent::{Reply, Respondent};
use crate::error::CliError;

pub(super) struct AskedEndpoint<'p, 'a> {
    pub(super) plan: &'p Plan<'a>,
    pub(super) remote: &'p Remote,
    pub(super) endpoint: Endpoint,
    pub(super) stimuli: &'p [Stimulus],
    /// Answers, whatever they say.
    pub(super) n_told: usize,
    pub(super) n_unmatched: usize,
    pub(super) n_refused: usize,
}

impl Respondent for AskedEndpoint<'_, '_> {
    fn name(&self) -> &str {
        self.remote.name().as_str()
    }

    fn ask(&mut self, stimuli: &[usize]) -> Result<Vec<Reply>, CliError> {
        let asked: Vec<&Stimulus> = stimuli.iter().map(|idx| &self.stimuli[*idx]).collect();
        let mut replies = Vec::with_capacity(asked.len());
        self.plan.ask_about(self.remote, &self.endpoint, &asked, |row: &Row<'_>| {
            replies.push(Reply { prediction: row.prediction.clone(), lack: row.lack });
            Ok::<_, CliError>(())
        })?;
        let count = |lacks: &[Option<Lack>]| {
            replies.iter().filter(|reply| lacks.contains(&reply.lack)).count()
        };
        self.n_told += count(&[None, Some(Lack::Unmatched), Some(Lack::Refused)]);
        self.n_unmatched += count(&[Some(Lack::Unmatched)]);
        self.n_refused += count(&[Some(Lack::Refused)]);
        Ok(replies)
    }

    fn spent(&self) -> Spent {
        let tally = self.endpoint.tally();
        let at_endpoint = SpentAtEndpoint {
            n_unmatched: self.n_unmatched,
            n_refused: self.n_refused,
            n_tokens_sent: tally.usage_used.n_input,
            n_tokens_received: tally.usage_used.n_output,
            cost: tally.cost_used,
        };
        Spent { n_calls: self.n_told, endpoint: Some(at_endpoint) }
    }

    fn n_from_cache(&self) -> usize {
        self.endpoint.tally().n_known
    }

    fn keeps_answers(&self) -> bool {
        self.endpoint.keeps_answers()
    }

    /// What only this run knows: how a test came about does not change what it found.
    fn remarks(&self) -> Vec<String> {
        let tally = self.endpoint.tally();
        let mut remarks = vec![format!(
            "{} paid calls in this run, {} asked again · cost {:.4}, in all {:.4}",
            tally.n_paid, tally.n_repeated, tally.cost, tally.cost_in_all
        )];
        if 0 < tally.n_doubtful {
            remarks.push(format!(
                "{} requests may have been paid although no answer came, up to {:.4} in all; the list \
                 of what was sent in the cache folder has them",
                tally.n_doubtful, tally.doubtful_cost
            ));
        }
        remarks
    }
}
