//! A model whose answers are known already: every question is looked up, and counted as a call.

use mohs_data::{ModelName, Prediction, Stimulus};
use mohs_score::adaptive::ladder::Spent;

use super::WithoutClass;
use super::known::{self, Known};
use super::respondent::{Reply, Respondent};
use crate::error::CliError;

pub(super) struct Replay {
    model: ModelName,
    /// By position of the stimulus.
    predictions: Vec<Prediction>,
    full: Vec<Option<bool>>,
    n_calls: usize,
}

impl Replay {
    /// Takes one model out of predictions; it must have a row about every stimulus.
    pub(super) fn new(
        known: &Known,
        model: &str,
        stimuli: &[Stimulus],
        without_class: WithoutClass,
    ) -> Result<Self, CliError> {
        let rows = known.rows_of(model)?;
        let without = stimuli.iter().zip(&rows).find(|(_, row)| row.is_none());
        if let Some((stimulus, _)) = without {
            let n = rows.iter().filter(|row| row.is_none()).count();
            return Err(CliError::input(format!(
                "`{model}` has no row about {n} of {} stimuli, e.g. `{}`",
                stimuli.len(),
                stimulus.id
            ))
            .hint("a replay needs predictions about every stimulus; give other --stimuli"));
        }
        let predictions: Vec<Prediction> = rows.into_iter().flatten().cloned().collect();
        let full = predictions
            .iter()
            .zip(stimuli)
            .map(|(prediction, stimulus)| known::is_right(prediction, stimulus, without_class))
            .collect();
        Ok(Self { model: ModelName::new(model), predictions, full, n_calls: 0 })
    }
}

impl Respondent for Replay {
    fn name(&self) -> &str {
        self.model.as_str()
    }

    fn ask(&mut self, stimuli: &[usize]) -> Result<Vec<Reply>, CliError> {
        self.n_calls += stimuli.len();
        let reply = |idx: &usize| {
            let prediction = self.predictions[*idx].clone();
            let lack = known::lack(&prediction);
            Reply { prediction, lack }
        };
        Ok(stimuli.iter().map(reply).collect())
    }

    fn spent(&self) -> Spent {
        Spent { n_calls: self.n_calls, endpoint: None }
    }

    fn full(&self) -> Option<&[Option<bool>]> {
        Some(&self.full)
    }
}
