//! Losses by worked numbers: values, gradients, inputs and refusals.

use std::collections::BTreeMap;

use mohs_graph::build::{Builder, Value};
use mohs_graph::scalar::{self, Added, Reduction, Scalar, ScalarError};
use mohs_graph::{Dim, ElementType, Tensor, eval, grad};

/// Two examples with three classes.
const LOGITS: [f64; 6] = [1.0, 2.0, 4.0, 0.5, -1.0, 0.25];

fn network(shape: &[i64]) -> (Builder, Value) {
    let mut builder = Builder::new("case");
    let mut dims: Vec<Dim> = shape.iter().map(|&size| Dim::known(size)).collect();
    dims.insert(0, Dim::symbol("batch"));
    let logits = builder.input("logits", ElementType::F32, dims);
    (builder, logits)
}

/// Runs a scalar on the logits; returns the values per example, the total and the gradient.
fn run(
    scalar: &Scalar,
    reduction: Reduction,
    input: (&str, Tensor),
) -> (Vec<f64>, Vec<f64>, Vec<f64>) {
    let (mut builder, logits) = network(&[3]);
    let Added { per_example, total, inputs } =
        scalar::add(&mut builder, &logits, scalar, reduction).expect("because the case is sound");
    assert_eq!(inputs.iter().map(Value::name).collect::<Vec<_>>(), [input.0]);
    assert_eq!(per_example.name(), "loss");
    assert_eq!(
        builder.shape(&per_example).expect("because the case is sound"),
        [Dim::symbol("batch")]
    );
    assert_eq!(builder.rank(&total).expect("because the case is sound"), 0);
    let gradients =
        grad::gradient(&mut builder, &total, &[logits]).expect("because the case is sound");
    builder.output(&per_example);
    builder.output_as(&total, "total").expect("because the case is sound");
    builder.output_as(&gradients[0], "gradient").expect("because the case is sound");
    let inputs = BTreeMap::from([
        (
            "logits".to_owned(),
            Tensor::f64(vec![2, 3], LOGITS.to_vec()).expect("because the case is sound"),
        ),
        (input.0.to_owned(), input.1),
    ]);
    let results = eval::run(&builder.finish(), &inputs).expect("because the case is sound");
    let numbers = |name: &str| results[name].to_f64().expect("because the case is sound");
    (numbers("loss"), numbers("total"), numbers("gradient"))
}

fn labels() -> Tensor {
    Tensor::list(vec![2, 1])
}

/// The probabilities of both examples.
fn softmax() -> Vec<f64> {
    let shares = |logits: &[f64]| {
        let sum: f64 = logits.iter().map(|logit| logit.exp()).sum();
        logits.iter().map(|logit| logit.exp() / sum).collect::<Vec<f64>>()
    };
    [shares(&LOGITS[..3]), shares(&LOGITS[3..])].concat()
}

fn assert_near(found: &[f64], expected: &[f64]) {
    assert_eq!(found.len(), expected.len(), "{found:?}");
    for (found_one, expected_one) in found.iter().zip(expected) {
        let is_near = (found_one - expected_one).abs() < 1e-9;
        assert!(is_near, "expected {expected:?}, found {found:?}");
    }
}

#[test]
fn the_gradient_of_the_cross_entropy_is_softmax_minus_the_label() {
    let p = softmax();
    let (loss, total, gradient) = run(&Scalar::CrossEntropy, Reduction::Sum, ("labels", labels()));
    assert_near(&loss, &[-p[2].ln(), -p[4].ln()]);
    assert_near(&total, &[-p[2].ln() - p[4].ln()]);
    assert_near(&gradient, &[p[0], p[1], p[2] - 1.0, p[3], p[4] - 1.0, p[5]]);
}

#[test]
fn the_mean_over_the_batch_divides_by_the_number_of_examples() {
    let p = softmax();
    let (loss, total, gradient) = run(&Scalar::CrossEntropy, Reduction::Mean, ("labels", labels()));
    assert_near(&loss, &[-p[2].ln(), -p[4].ln()]);
    assert_near(&total, &[(-p[2].ln() - p[4].ln()) / 2.0]);
    assert_near(&gradient[2..3], &[(p[2] - 1.0) / 2.0]);
}

#[test]
fn the_targeted_cross_entropy_rises_towards_the_target() {
    let p = softmax();
    let targets = Tensor::list(vec![0, 2]);
    let (loss, _, gradient) =
        run(&Scalar::TargetedCrossEntropy, Reduction::Sum, ("targets", targets));
    assert_near(&loss, &[p[0].ln(), p[5].ln()]);
    assert_near(&gradient, &[1.0 - p[0], -p[1], -p[2], -p[3], -p[4], 1.0 - p[5]]);
}

#[test]
fn the_margin_is_negative_for_mistakes_and_moves_two_logits() {
    let (loss, _, gradient) = run(&Scalar::Margin, Reduction::Sum, ("labels", labels()));
    assert_near(&loss, &[2.0, -1.5]);
    assert_near(&gradient, &[0.0, -1.0, 1.0, -1.0, 1.0, 0.0]);
}

#[test]
fn the_logits_ratio_does_not_change_when_logits_are_scaled() {
    let (loss, _, gradient) = run(&Scalar::LogitsRatio, Reduction::Sum, ("labels", labels()));
    assert_near(&loss, &[-2.0 / 3.0, 1.0]);
    // A change along the logits themselves, or of all by the same, changes nothing.
    assert_near(&gradient, &[-2.0 / 9.0, 1.0 / 3.0, -1.0 / 9.0, 0.0, 0.0, 0.0]);
}

#[test]
fn jitter_is_the_squared_distance_of_noisy_shares_from_the_label() {
    let noise = [0.05, -0.1, 0.2, 0.0, 0.3, -0.25];
    let jittered = |logits: &[f64]| {
        let (mut builder, value) = network(&[3]);
        let added = scalar::add(&mut builder, &value, &Scalar::Jitter, Reduction::Sum).unwrap();
        let names: Vec<&str> = added.inputs.iter().map(Value::name).collect();
        assert_eq!(names, ["labels", "noise", "scale"]);
        let gradient = grad::gradient(&mut builder, &added.total, &[value]).unwrap();
        builder.output(&added.per_example);
        builder.output_as(&gradient[0], "gradient").unwrap();
        let floats = |shape: &[usize], numbers: &[f64]| {
            Tensor::f64(shape.to_vec(), numbers.to_vec()).unwrap()
        };
        let inputs = BTreeMap::from([
            ("logits".to_owned(), floats(&[2, 3], logits)),
            ("labels".to_owned(), labels()),
            ("noise".to_owned(), floats(&[2, 3], &noise)),
            ("scale".to_owned(), floats(&[2], &[10.0, 10.0])),
        ]);
        let results = eval::run(&builder.finish(), &inputs).unwrap();
        (results["loss"].to_f64().unwrap(), results["gradient"].to_f64().unwrap())
    };
    let by_hand = |logits: &[f64], noise: &[f64], label: usize| -> f64 {
        let largest = logits.iter().fold(0.0, |most: f64, logit| most.max(logit.abs()));
        let scaled: Vec<f64> = logits.iter().map(|logit| (10.0 * logit / largest).exp()).collect();
        let sum: f64 = scaled.iter().sum();
        let distance = |idx: usize| scaled[idx] / sum + noise[idx] - f64::from(idx == label);
        (0..3).map(|idx| distance(idx).powi(2)).sum::<f64>() / 3.0
    };
    let expected = |logits: &[f64]| {
        [by_hand(&logits[..3], &noise[..3], 2), by_hand(&logits[3..], &noise[3..], 1)]
    };
    let (loss, gradient) = jittered(&LOGITS);
    assert_near(&loss, &expected(&LOGITS));
    for (idx, slope) in gradient.iter().enumerate() {
        let moved = |by: f64| {
            let mut logits = LOGITS;
            logits[idx] += by;
            expected(&logits).iter().sum::<f64>()
        };
        let by_difference = (moved(1e-5) - moved(-1e-5)) / 2e-5;
        assert!((by_difference - slope).abs() < 1e-6, "{idx}: {by_difference}, {slope}");
    }
}

#[test]
fn the_divergence_counts_nothing_for_impossible_classes() {
    let p = softmax();
    let wanted = vec![0.0, 0.25, 0.75, p[3], p[4], p[5]];
    let distribution = Tensor::f64(vec![2, 3], wanted.clone()).unwrap();
    let (loss, _, gradient) =
        run(&Scalar::Divergence, Reduction::Sum, ("distribution", distribution));
    let expected = 0.25 * (0.25 / p[1]).ln() + 0.75 * (0.75 / p[2]).ln();
    assert_near(&loss, &[expected, 0.0]);
    let slopes: Vec<f64> = p.iter().zip(&wanted).map(|(p, wanted)| p - wanted).collect();
    assert_near(&gradient, &slopes);
}

#[test]
fn a_logit_moves_only_with_itself() {
    let (loss, total, gradient) = run(&Scalar::Logit, Reduction::Sum, ("labels", labels()));
    assert_near(&loss, &[4.0, -1.0]);
    assert_near(&total, &[3.0]);
    assert_near(&gradient, &[0.0, 0.0, 1.0, 0.0, 1.0, 0.0]);
}

#[test]
fn the_squared_error_is_a_sum_over_features() {
    let target = Tensor::f64(vec![2, 3], vec![0.0, 0.0, 4.0, 0.5, 1.0, 0.25]).unwrap();
    let (loss, _, gradient) = run(&Scalar::SquaredError, Reduction::Sum, ("target", target));
    assert_near(&loss, &[5.0, 4.0]);
    assert_near(&gradient, &[2.0, 4.0, 0.0, 0.0, -4.0, 0.0]);
}

#[test]
fn any_value_can_be_summed_per_example() {
    let (mut builder, logits) = network(&[3, 2]);
    let added =
        scalar::add(&mut builder, &logits, &Scalar::Value("logits".to_owned()), Reduction::Sum);
    let added = added.unwrap();
    builder.output(&added.per_example);
    let numbers = (0..12).map(f64::from).collect();
    let x = Tensor::f64(vec![2, 3, 2], numbers).unwrap();
    let results =
        eval::run(&builder.finish(), &BTreeMap::from([("logits".to_owned(), x)])).unwrap();
    assert_near(&results["loss"].to_f64().unwrap(), &[15.0, 51.0]);
}

#[test]
fn large_logits_do_not_overflow() {
    let (mut builder, logits) = network(&[2]);
    let added = scalar::add(&mut builder, &logits, &Scalar::CrossEntropy, Reduction::Sum).unwrap();
    builder.output(&added.per_example);
    let inputs = BTreeMap::from([
        ("logits".to_owned(), Tensor::f64(vec![1, 2], vec![5000.0, 0.0]).unwrap()),
        ("labels".to_owned(), Tensor::list(vec![1])),
    ]);
    let results = eval::run(&builder.finish(), &inputs).unwrap();
    assert_near(&results["loss"].to_f64().unwrap(), &[5000.0]);
}

#[test]
fn logits_with_empty_room_around_them_are_flattened_and_maps_are_refused() {
    let (mut builder, logits) = network(&[3, 1, 1]);
    let added = scalar::add(&mut builder, &logits, &Scalar::Margin, Reduction::Sum).unwrap();
    assert_eq!(builder.shape(&added.per_example).unwrap(), [Dim::symbol("batch")]);

    for (shape, found) in [(&[3, 7, 7][..], "[batch, 3, 7, 7]"), (&[], "[batch]")] {
        let (mut builder, logits) = network(shape);
        let error =
            scalar::add(&mut builder, &logits, &Scalar::CrossEntropy, Reduction::Sum).unwrap_err();
        let expected = format!("`logits` should have the shape [batch, classes], found {found}");
        assert_eq!(error.to_string(), expected);
    }
}

#[test]
fn a_margin_needs_something_to_be_told_apart() {
    let (mut builder, logits) = network(&[1]);
    let error = scalar::add(&mut builder, &logits, &Scalar::Margin, Reduction::Sum).unwrap_err();
    assert!(matches!(error, ScalarError::TooFewClasses { found: 1, .. }), "{error}");
}

#[test]
fn two_losses_share_their_labels_but_not_an_input_that_is_something_else() {
    let (mut builder, logits) = network(&[3]);
    let first = scalar::add(&mut builder, &logits, &Scalar::CrossEntropy, Reduction::Sum).unwrap();
    let second = scalar::add(&mut builder, &logits, &Scalar::Logit, Reduction::Sum).unwrap();
    assert_eq!(first.inputs, second.inputs);
    assert_ne!(first.per_example, second.per_example);

    let mut builder = Builder::new("case");
    let image =
        builder.input("labels", ElementType::F32, vec![Dim::symbol("batch"), Dim::known(3)]);
    let added = scalar::add(&mut builder, &image, &Scalar::Logit, Reduction::Sum).unwrap();
    assert_ne!(added.inputs[0], image);
}
