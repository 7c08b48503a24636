//! Who answers the questions of an adaptive test.
//!
//! A respondent is asked about some stimuli at a time and never about one twice. It counts what it
//! costs. An ONNX file is `network.rs`, answers that are known already are `replay.rs`; whatever
//! else can be asked, such as a model behind an address, is one more file.

use mohs_data::Prediction;
use mohs_score::adaptive::ladder::Spent;

use crate::error::CliError;

/// A model under test.
pub(super) trait Respondent {
    /// Its name in reports.
    fn name(&self) -> &str;

    /// Says what it answers to these stimuli, given by their positions: one prediction for each, in
    /// order. A stimulus that fails is a failed prediction, not an error.
    fn ask(&mut self, stimuli: &[usize]) -> Result<Vec<Prediction>, CliError>;

    /// What it cost so far.
    fn spent(&self) -> Spent;

    /// How many of its answers were known from an earlier run.
    fn n_from_cache(&self) -> usize {
        0
    }

    /// What it says of every stimulus, where that is known without asking.
    fn full(&self) -> Option<&[Option<bool>]> {
        None
    }
}
