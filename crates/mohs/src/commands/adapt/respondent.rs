//! Who answers the questions of an adaptive test.
//!
//! A respondent is asked about some stimuli at a time and never about one twice. It counts what it
//! costs. An ONNX file is `network.rs`, a model behind an address `endpoint.rs`, answers that are
//! known already `replay.rs`; whatever else can be asked is one more file.

use std::collections::BTreeMap;

use mohs_data::{Outcome, Prediction};
use mohs_score::adaptive::ladder::Spent;
use mohs_vision::evaluate::Lack;

use super::known::is_wordless;
use crate::error::CliError;

/// A model under test.
pub(super) trait Respondent {
    /// Its name in reports.
    fn name(&self) -> &str;

    /// Says what it answers to these stimuli, given by their positions: one reply for each, in
    /// order. A stimulus that fails is a failed prediction, not an error.
    fn ask(&mut self, stimuli: &[usize]) -> Result<Vec<Reply>, CliError>;

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

    /// Whether its answers are kept for another run.
    fn keeps_answers(&self) -> bool {
        true
    }

    /// What is to be said at the end and stands in no report.
    fn remarks(&self) -> Vec<String> {
        Vec::new()
    }
}

/// What came back about one stimulus.
#[derive(Debug, Clone)]
pub(super) struct Reply {
    pub(super) prediction: Prediction,
    /// Why there is no answer; `None` if there is one.
    pub(super) lack: Option<Lack>,
}

impl Reply {
    /// Whether the model said something that is no class.
    pub(super) fn is_without_class(&self) -> bool {
        self.lack.is_some_and(is_wordless)
    }

    /// Why there is no answer, in words.
    pub(super) fn reason(&self) -> &str {
        match &self.prediction.outcome {
            Outcome::Failed(reason) => reason.as_str(),
            Outcome::Answered(_) => "",
        }
    }
}

/// Refuses to go on when questions of a round were not asked: an estimate without them would be off
/// without anybody noticing, and the next round depends on them.
pub(super) fn check_reached(
    round: usize,
    replies: &[Reply],
    is_kept: bool,
) -> Result<(), CliError> {
    let is_unasked = |reply: &&Reply| matches!(reply.lack, Some(Lack::NotReached | Lack::TooDear));
    let unasked: Vec<&Reply> = replies.iter().filter(is_unasked).collect();
    if unasked.is_empty() {
        return Ok(());
    }
    let mut reasons: BTreeMap<&str, (usize, &Prediction)> = BTreeMap::new();
    for reply in &unasked {
        reasons.entry(reply.reason()).or_insert((0, &reply.prediction)).0 += 1;
    }
    let mut error = CliError::partly(format!(
        "the test is not finished: {} of {} questions of round {round} were not answered",
        unasked.len(),
        replies.len()
    ));
    for (reason, (n, first)) in reasons.iter().take(MOST_SHOWN) {
        error = error.cause(format!("{n} × {reason} (first: {})", first.stimulus));
    }
    let is_dear = unasked.iter().any(|reply| reply.lack == Some(Lack::TooDear));
    Err(error.hint(match (is_dear, is_kept) {
        (true, true) => "raise `cost_cap`, or give a smaller --budget; answers are kept",
        (false, true) => {
            "run the same again to go on: answers are kept, and only the others are asked for"
        }
        (true, false) => {
            "with --no-cache no answer was kept: raise `cost_cap`, or give a smaller --budget, and all \
             is asked and paid again"
        }
        (false, false) => {
            "with --no-cache no answer was kept: the same again asks and pays for all of it"
        }
    }))
}

/// How many reasons or answers are listed.
pub(super) const MOST_SHOWN: usize = 8;
