//! Testing a network between epochs: answers to a set as predictions, and what they come to.

use mohs_data::training::Watched;
use mohs_data::{Answer, Condition, Extra, FailureReason, Label, Outcome, Prediction, StimulusId};
use mohs_graph::Tensor;
use rayon::prelude::*;

use super::augment::{self, Change};
use super::set::{Example, Set};
use super::{FitError, Task, real};
use crate::network::Answers;
use crate::pixels::PixelsError;

/// What a test came to.
#[derive(Debug, Default)]
pub(super) struct Tested {
    /// Mean loss over the validation set; `None` without one.
    pub(super) loss: Option<f64>,
    pub(super) n_right: usize,
    pub(super) n_answered: usize,
    pub(super) predictions: Vec<Prediction>,
}

impl Tested {
    /// How good the network is, smaller is better; `None` without a validation set.
    pub(super) fn score(&self, watched: Watched) -> Option<f64> {
        match watched {
            Watched::Loss => self.loss,
            Watched::Accuracy => {
                let share = real(self.n_right) / real(self.n_answered.max(1));
                (0 < self.n_answered).then_some(-share)
            }
        }
    }
}

/// Tests a network on the sets that the plan asks for.
pub(super) fn test(
    task: &Task<'_>,
    classes: &[Label],
    network: &mut Answers,
    epoch: u32,
) -> Result<Tested, FitError> {
    let mut tested = Tested::default();
    let mut loss = 0.0;
    let recorded = task.plan.record;
    for (example, row) in task.validation.examples.iter().zip(rows(task, task.validation, network)?)
    {
        let (outcome, surprise) = outcome(&row, &example.label, classes);
        loss += surprise;
        if let Outcome::Answered(answer) = &outcome {
            tested.n_answered += 1;
            tested.n_right += usize::from(answer.correct == Some(true));
        }
        if recorded.has_validation() {
            tested.predictions.push(prediction(task, example, "validation", epoch, outcome));
        }
    }
    if !task.validation.examples.is_empty() {
        tested.loss = Some(loss / real(task.validation.examples.len())).filter(|x| x.is_finite());
    }
    if recorded.has_validation() {
        tested.predictions.extend(failures(task, task.validation, "validation", epoch));
    }
    if recorded.has_train() {
        let rows = rows(task, task.train, network)?;
        for (example, row) in task.train.examples.iter().zip(rows) {
            let (outcome, _) = outcome(&row, &example.label, classes);
            tested.predictions.push(prediction(task, example, "train", epoch, outcome));
        }
        tested.predictions.extend(failures(task, task.train, "train", epoch));
    }
    Ok(tested)
}

/// The logits of every example.
fn rows(task: &Task<'_>, set: &Set, network: &mut Answers) -> Result<Vec<Vec<f32>>, FitError> {
    let prepare = &task.prepare;
    let mut rows = Vec::with_capacity(set.examples.len());
    for chunk in set.examples.chunks((task.plan.batch as usize).max(1)) {
        let plain = |example: &Example| {
            example.with_bytes(prepare, |bytes| augment::numbers(bytes, prepare, &Change::none()))
        };
        let parts: Result<Vec<Vec<f32>>, PixelsError> = chunk.par_iter().map(plain).collect();
        let shape = vec![chunk.len(), 3, prepare.height, prepare.width];
        let pictures = Tensor::f32(shape, parts?.concat())
            .expect("because every picture was fitted to this size");
        let answers = network.answer(&pictures)?;
        let numbers = answers.as_f32().unwrap_or_default();
        let length = (numbers.len() / chunk.len().max(1)).max(1);
        rows.extend(numbers.chunks(length).map(<[f32]>::to_vec));
    }
    Ok(rows)
}

/// What a row of logits says, and minus the logarithm of the probability of the label.
fn outcome(row: &[f32], label: &Label, classes: &[Label]) -> (Outcome, f64) {
    let highest = row.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let powers: Vec<f64> = row.iter().map(|&x| (f64::from(x) - f64::from(highest)).exp()).collect();
    let sum: f64 = powers.iter().sum();
    // The first of equal answers.
    let best = row.iter().position(|x| x.to_bits() == highest.to_bits());
    let (Some(best), true) = (best, sum.is_finite() && row.len() == classes.len()) else {
        let reason = FailureReason::new("the answer is not a number");
        return (Outcome::Failed(reason), f64::NAN);
    };
    let of_label = classes.iter().position(|class| class == label);
    // A probability that underflows is as small as numbers get, not zero.
    let surprise = of_label.map_or(0.0, |idx| -(powers[idx] / sum).max(f64::MIN_POSITIVE).ln());
    let answer = Answer {
        predicted: classes[best].clone(),
        confidence: Some((powers[best] / sum).clamp(0.0, 1.0)),
        top_k: Vec::new(),
        correct: Some(of_label == Some(best)),
    };
    (Outcome::Answered(answer), surprise)
}

fn prediction(
    task: &Task<'_>,
    example: &Example,
    set: &str,
    epoch: u32,
    outcome: Outcome,
) -> Prediction {
    let empty = String::new;
    let extra = Extra::from_pairs([
        ("set", set.to_owned()),
        ("attribute", example.attribute.clone().unwrap_or_else(empty)),
        ("level", example.level.clone().unwrap_or_else(empty)),
    ]);
    row(task, example.id.clone(), example.label.clone(), epoch, outcome, extra)
}

/// Pictures that could not be read are rows, too.
fn failures<'a>(
    task: &'a Task<'_>,
    set: &'a Set,
    name: &'a str,
    epoch: u32,
) -> impl Iterator<Item = Prediction> + 'a {
    set.failures.iter().map(move |failure| {
        let pairs = [("set", name), ("attribute", ""), ("level", "")];
        let extra = Extra::from_pairs(pairs.map(|(key, value)| (key, value.to_owned())));
        let outcome = Outcome::Failed(FailureReason::new(&*failure.reason));
        row(task, failure.id.clone(), failure.label.clone(), epoch, outcome, extra)
    })
}

fn row(
    task: &Task<'_>,
    stimulus: StimulusId,
    label: Label,
    epoch: u32,
    outcome: Outcome,
    extra: Extra,
) -> Prediction {
    Prediction {
        model: task.plan.name.clone(),
        stimulus,
        probe: Prediction::NO_PROBE.into(),
        condition: Some(Condition { name: "epoch".into(), value: f64::from(epoch) }),
        label: Some(label),
        outcome,
        extra,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn classes() -> Vec<Label> {
        ["a", "b", "c"].map(Label::new).to_vec()
    }

    #[test]
    fn the_first_of_equal_answers_counts_and_probabilities_are_softmax() {
        let (outcome, surprise) = outcome(&[1.0, 3.0, 3.0], &Label::new("a"), &classes());
        let Outcome::Answered(answer) = outcome else { panic!("an answer") };
        assert_eq!((answer.predicted, answer.correct), (Label::new("b"), Some(false)));
        let sum = 2.0 + (-2.0_f64).exp();
        assert!((answer.confidence.unwrap() - 1.0 / sum).abs() < 1e-12);
        assert!((surprise - (2.0 + sum.ln())).abs() < 1e-12);
    }

    #[test]
    fn an_answer_that_is_no_number_is_a_failure() {
        let (outcome, _) = outcome(&[f32::NAN, 1.0, 0.0], &Label::new("a"), &classes());
        assert!(matches!(outcome, Outcome::Failed(_)));
    }

    #[test]
    fn a_hopeless_answer_has_a_finite_loss() {
        let (_, surprise) = outcome(&[-1e6, 1e6, 0.0], &Label::new("a"), &classes());
        assert!(surprise.is_finite());
    }
}
