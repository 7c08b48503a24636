//! A model in an ONNX file: asked through the evaluation's journal, so that nothing is asked twice
//! and a test that was stopped goes on where it stopped.

use mohs_data::Stimulus;
use mohs_score::adaptive::ladder::Spent;
use mohs_vision::evaluate::{Inquiry, Row, Tally};

use super::respondent::{Reply, Respondent};
use crate::error::CliError;

pub(super) struct AskedNetwork<'p, 'a> {
    pub(super) name: &'p str,
    pub(super) stimuli: &'p [Stimulus],
    pub(super) inquiry: Inquiry<'p, 'a>,
    pub(super) tally: Tally,
}

impl Respondent for AskedNetwork<'_, '_> {
    fn name(&self) -> &str {
        self.name
    }

    fn ask(&mut self, stimuli: &[usize]) -> Result<Vec<Reply>, CliError> {
        let asked: Vec<&Stimulus> = stimuli.iter().map(|idx| &self.stimuli[*idx]).collect();
        let mut replies = Vec::with_capacity(asked.len());
        let tally = self.inquiry.ask(&asked, |row: &Row<'_>| {
            replies.push(Reply { prediction: row.prediction.clone(), lack: row.lack });
            Ok::<_, CliError>(())
        })?;
        self.tally.n_asked += tally.n_asked;
        self.tally.n_from_cache += tally.n_from_cache;
        self.tally.n_batches += tally.n_batches;
        Ok(replies)
    }

    fn spent(&self) -> Spent {
        Spent { n_calls: self.tally.n_asked + self.tally.n_from_cache, endpoint: None }
    }

    fn n_from_cache(&self) -> usize {
        self.tally.n_from_cache
    }
}
