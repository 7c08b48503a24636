//! Every rule for operators without windows, against differences of the reference evaluator.
//!
//! Each case is one node, with inputs away from kinks. What it makes is weighted unevenly and summed;
//! the derived gradient has to be what moving each number a little up and down shows.

use std::collections::BTreeMap;

use mohs_graph::build::{Builder, Value};
use mohs_graph::{Attribute, Dim, ElementType, Graph, Tensor, eval, grad};

/// An input of the node under test.
enum Arg {
    /// Numbers that a gradient is checked for.
    Free(Vec<usize>, Vec<f64>),
    /// A constant: axes, indices, exponents.
    Fixed(Tensor),
    /// An optional input left out.
    Missing,
}

/// Numbers between −1 and 1 without ties and away from 0.
fn uneven(n: usize, seed: f64) -> Vec<f64> {
    (0..n)
        .map(|idx| {
            let idx = f64::from(u32::try_from(idx).expect("because cases are small"));
            let number = (seed + idx * 1.7).sin();
            if number.abs() < 0.05 { number + 0.1 } else { number }
        })
        .collect()
}

/// Free numbers of this shape.
fn free(shape: &[usize], seed: f64) -> Arg {
    Arg::Free(shape.to_vec(), uneven(shape.iter().product(), seed))
}

/// Free numbers of this shape, all above a half.
fn positive(shape: &[usize], seed: f64) -> Arg {
    let numbers = uneven(shape.iter().product(), seed);
    Arg::Free(shape.to_vec(), numbers.into_iter().map(|number| number.abs() + 0.5).collect())
}

/// Free numbers that are given.
fn exactly(shape: &[usize], numbers: &[f64]) -> Arg {
    Arg::Free(shape.to_vec(), numbers.to_vec())
}

/// A constant list of whole numbers.
fn list(numbers: &[i64]) -> Arg {
    Arg::Fixed(Tensor::list(numbers.to_vec()))
}

fn int(name: &'static str, number: i64) -> (&'static str, Attribute) {
    (name, Attribute::Int(number))
}

fn float(name: &'static str, number: f32) -> (&'static str, Attribute) {
    (name, Attribute::Float(number))
}

fn text(name: &'static str, value: &str) -> (&'static str, Attribute) {
    (name, Attribute::Text(value.to_owned()))
}

/// A node, its weighted sum `total`, and gradients of all free inputs.
///
/// With `is_open` the first dimension is a symbol: that of the first input with the most dimensions,
/// and of those that agree with it.
fn network(
    op: &str,
    attributes: Vec<(&str, Attribute)>,
    args: &[Arg],
    is_open: bool,
) -> (Graph, Vec<usize>) {
    let mut builder = Builder::new("case");
    let shapes = args.iter().filter_map(|arg| match arg {
        Arg::Free(shape, _) => Some(shape),
        _ => None,
    });
    let largest = shapes.rev().max_by_key(|shape| shape.len()).cloned().unwrap_or_default();
    let mut values: Vec<Option<Value>> = Vec::new();
    for (idx, arg) in args.iter().enumerate() {
        values.push(match arg {
            Arg::Free(shape, _) => {
                let mut dims: Vec<Dim> = shape.iter().map(|&size| Dim::from_size(size)).collect();
                let agrees = shape.len() == largest.len() && shape.first() == largest.first();
                if is_open && agrees && !shape.is_empty() {
                    dims[0] = Dim::symbol("batch");
                }
                Some(builder.input(&format!("x{idx}"), ElementType::F32, dims))
            }
            Arg::Fixed(tensor) => Some(builder.constant(tensor.clone())),
            Arg::Missing => None,
        });
    }
    let inputs: Vec<Option<&Value>> = values.iter().map(Option::as_ref).collect();
    let made = builder.node("y", op, &inputs, 1, attributes).expect("because the case is sound");
    let shape = builder.shape(&made[0]).expect("because the case is sound");
    let weights = builder.input("weights", ElementType::F32, shape.clone());
    let weighted = builder.mul(&made[0], &weights).expect("because the case is sound");
    let axes: Vec<i64> = (0..).take(shape.len()).collect();
    let total = builder.reduce_sum(&weighted, &axes, false).expect("because the case is sound");
    builder.output_as(&total, "total").expect("because the case is sound");
    builder.output(&made[0]);

    let free: Vec<usize> =
        (0..args.len()).filter(|&idx| matches!(args[idx], Arg::Free(..))).collect();
    let moving: Vec<Value> = free.iter().filter_map(|&idx| values[idx].clone()).collect();
    let gradients =
        grad::gradient(&mut builder, &total, &moving).expect("because the case is sound");
    for ((&idx, x), gradient) in free.iter().zip(&moving).zip(&gradients) {
        let (of_x, of_gradient) = (builder.shape(x), builder.shape(gradient));
        assert_eq!(of_x, of_gradient, "{op}: the gradient of input {idx} has another shape");
        builder.output_as(gradient, &format!("gradient{idx}")).expect("because the case is sound");
    }
    (builder.finish(), free)
}

fn numbers(results: &BTreeMap<String, Tensor>, name: &str) -> Vec<f64> {
    results.get(name).and_then(Tensor::to_f64).unwrap_or_default()
}

/// Checks the gradients of one node, with a fixed and with an open first dimension.
fn check(op: &str, attributes: &[(&'static str, Attribute)], args: &[Arg]) {
    for is_open in [false, true] {
        check_one(op, attributes, args, is_open);
    }
}

fn check_one(op: &str, attributes: &[(&'static str, Attribute)], args: &[Arg], is_open: bool) {
    let (graph, free) = network(op, attributes.to_vec(), args, is_open);
    let mut inputs = BTreeMap::new();
    for &idx in &free {
        if let Arg::Free(shape, numbers) = &args[idx] {
            let tensor =
                Tensor::f64(shape.clone(), numbers.clone()).expect("because the case is sound");
            inputs.insert(format!("x{idx}"), tensor);
        }
    }
    // The first run finds out how many numbers the node makes.
    let mut probe = graph.clone();
    probe.nodes.retain(|node| node.outputs == ["y"]);
    probe.inputs.retain(|port| port.name != "weights");
    probe.outputs.retain(|port| port.name == "y");
    let made = eval::run(&probe, &inputs).expect("because the case is sound")["y"].clone();
    let weights = uneven(made.len(), 0.3).iter().map(|number| number + 0.2).collect();
    let weights = Tensor::f64(made.shape().to_vec(), weights).expect("because the case is sound");
    inputs.insert("weights".to_owned(), weights);

    let results = eval::run(&graph, &inputs).expect("because the case is sound");
    let step = 1e-5;
    for &idx in &free {
        let Arg::Free(shape, start) = &args[idx] else { continue };
        let found = numbers(&results, &format!("gradient{idx}"));
        assert_eq!(found.len(), start.len(), "{op}: gradient of input {idx}");
        for place in 0..start.len() {
            let total = |change: f64| {
                let mut moved = start.clone();
                moved[place] += change;
                let mut inputs = inputs.clone();
                inputs.insert(
                    format!("x{idx}"),
                    Tensor::f64(shape.clone(), moved).expect("because the case is sound"),
                );
                numbers(&eval::run(&graph, &inputs).expect("because the case is sound"), "total")[0]
            };
            let expected = (total(step) - total(-step)) / (2.0 * step);
            let error = (expected - found[place]).abs() / (1.0 + expected.abs());
            assert!(
                error < 1e-6,
                "{op} {attributes:?}: gradient of input {idx} at {place} should be {expected}, \
                 found {}",
                found[place]
            );
        }
    }
}

#[test]
fn arithmetic_with_broadcasting_has_the_gradients_that_differences_show() {
    for op in ["Add", "Sub", "Mul"] {
        check(op, &[], &[free(&[2, 3], 0.1), free(&[2, 3], 0.7)]);
        check(op, &[], &[free(&[2, 3, 2], 0.1), free(&[3, 1], 0.7)]);
        check(op, &[], &[free(&[3], 0.1), free(&[2, 3], 0.7)]);
        check(op, &[], &[free(&[2, 3], 0.1), free(&[], 0.7)]);
    }
    check("Div", &[], &[free(&[2, 3], 0.1), positive(&[3], 0.7)]);
    check("Div", &[], &[free(&[], 0.1), positive(&[2, 3], 0.7)]);
    for op in ["Sum", "Mean", "Max", "Min"] {
        check(op, &[], &[free(&[2, 3], 0.1)]);
        check(op, &[], &[free(&[2, 3], 0.1), free(&[3], 0.7), free(&[2, 1], 1.9)]);
    }
}

#[test]
fn powers_have_the_gradients_that_differences_show() {
    for p in [2.0, 3.0, 0.5, -1.0, 1.0, 0.0, 2.5, -0.5] {
        check("Pow", &[], &[positive(&[2, 3], 0.1), Arg::Fixed(Tensor::scalar(p))]);
    }
    for p in [2.0, 3.0, -1.0] {
        check("Pow", &[], &[free(&[2, 3], 0.1), Arg::Fixed(Tensor::scalar(p))]);
    }
    check("Pow", &[], &[free(&[2, 2], 0.1), list(&[3])]);
    check("Pow", &[], &[positive(&[2, 3], 0.1), free(&[3], 0.4)]);
    check("Pow", &[], &[positive(&[2, 1], 0.1), free(&[2, 3], 0.4)]);
    let powers = Tensor::f32(vec![3], vec![0.0, 1.0, 2.0]).unwrap();
    check("Pow", &[], &[positive(&[2, 3], 0.1), Arg::Fixed(powers)]);
}

#[test]
fn functions_of_one_number_have_the_gradients_that_differences_show() {
    for op in ["Neg", "Abs", "Exp", "Erf", "Sin", "Cos", "Tan", "Tanh", "Sigmoid", "Identity"] {
        check(op, &[], &[free(&[2, 5], 0.1)]);
    }
    for op in ["Sqrt", "Reciprocal", "Log"] {
        check(op, &[], &[positive(&[2, 5], 0.1)]);
    }
    check("Cast", &[int("to", 11)], &[free(&[2, 5], 0.1)]);
    check("Dropout", &[], &[free(&[2, 5], 0.1)]);
}

#[test]
fn choosing_and_clipping_have_the_gradients_that_differences_show() {
    let mask =
        Tensor::new(vec![2, 1], mohs_graph::Data::Bool(std::sync::Arc::new(vec![true, false])));
    let args = [Arg::Fixed(mask.unwrap()), free(&[2, 3], 0.1), free(&[3], 0.4)];
    check_one("Where", &[], &args, false);
    let (low, high) = (|| exactly(&[], &[-0.4]), || exactly(&[], &[0.6]));
    check("Clip", &[], &[free(&[2, 7], 0.1), low(), high()]);
    check("Clip", &[], &[free(&[2, 7], 0.1), Arg::Missing, high()]);
    check("Clip", &[], &[free(&[2, 7], 0.1), low()]);
}

#[test]
fn activations_have_the_gradients_that_differences_show() {
    let wide = || {
        let numbers: Vec<f64> = uneven(14, 0.1).iter().map(|number| number * 4.0).collect();
        exactly(&[2, 7], &numbers)
    };
    for op in [
        "Relu",
        "LeakyRelu",
        "Elu",
        "Selu",
        "Celu",
        "ThresholdedRelu",
        "HardSigmoid",
        "HardSwish",
        "Softplus",
        "Softsign",
        "Mish",
        "Gelu",
    ] {
        check(op, &[], &[wide()]);
    }
    for op in ["LeakyRelu", "Elu", "Celu"] {
        check(op, &[float("alpha", 0.3)], &[wide()]);
    }
    check("LeakyRelu", &[float("alpha", -0.3)], &[wide()]);
    check("Selu", &[float("alpha", 1.2), float("gamma", 0.7)], &[wide()]);
    check("HardSigmoid", &[float("alpha", 0.3), float("beta", 0.4)], &[wide()]);
    check("ThresholdedRelu", &[float("alpha", 0.4)], &[wide()]);
    check("Gelu", &[text("approximate", "tanh")], &[wide()]);
    check("PRelu", &[], &[free(&[2, 3, 2], 0.1), free(&[3, 1], 0.4)]);
    check("PRelu", &[], &[free(&[2, 3], 0.1), free(&[1], 0.4)]);
}

#[test]
fn reductions_have_the_gradients_that_differences_show() {
    for op in [
        "ReduceSum",
        "ReduceMean",
        "ReduceMax",
        "ReduceMin",
        "ReduceProd",
        "ReduceL1",
        "ReduceL2",
        "ReduceLogSum",
        "ReduceLogSumExp",
        "ReduceSumSquare",
    ] {
        let x =
            || if op == "ReduceLogSum" { positive(&[2, 3, 2], 0.1) } else { free(&[2, 3, 2], 0.1) };
        for axes in [&[1][..], &[0, 2], &[-1], &[0, 1, 2]] {
            for keeps in [0, 1] {
                check(op, &[int("keepdims", keeps)], &[x(), list(axes)]);
            }
        }
        check(op, &[int("keepdims", 0)], &[x()]);
        check(op, &[], &[x()]);
    }
    for op in ["ReduceSum", "ReduceMean", "ReduceMax"] {
        check(op, &[int("noop_with_empty_axes", 1)], &[free(&[2, 3], 0.1)]);
    }
}

#[test]
fn products_with_zeros_have_the_gradients_that_differences_show() {
    let x = || exactly(&[3, 3], &[2.0, 0.0, 3.0, 0.0, 0.0, 5.0, 1.5, -2.0, 4.0]);
    check("ReduceProd", &[], &[x(), list(&[1])]);
    check("ReduceProd", &[], &[x(), list(&[0])]);
}

#[test]
fn running_sums_have_the_gradients_that_differences_show() {
    for (exclusive, reverse) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
        let attributes = [int("exclusive", exclusive), int("reverse", reverse)];
        let axis = Tensor::i64(vec![], vec![1]).unwrap();
        check("CumSum", &attributes, &[free(&[2, 4], 0.1), Arg::Fixed(axis)]);
    }
}

#[test]
fn softmaxes_have_the_gradients_that_differences_show() {
    for op in ["Softmax", "LogSoftmax"] {
        for axis in [1, -1, 0] {
            check(op, &[int("axis", axis)], &[free(&[2, 3, 2], 0.1)]);
        }
    }
}

#[test]
fn matrix_products_have_the_gradients_that_differences_show() {
    for (a, b) in [
        (&[2, 3][..], &[3, 4][..]),
        (&[2, 5, 3], &[3, 4]),
        (&[2, 5, 3], &[2, 3, 4]),
        (&[2, 5, 3], &[1, 3, 4]),
        (&[5, 3], &[2, 3, 4]),
        (&[5, 3], &[2, 2, 3, 4]),
        (&[2, 1, 5, 3], &[2, 3, 4]),
        (&[3], &[2, 3, 4]),
        (&[2, 3], &[3]),
        (&[2, 5, 3], &[3]),
        (&[3], &[3]),
    ] {
        check("MatMul", &[], &[free(a, 0.1), free(b, 0.7)]);
    }
    check_one("MatMul", &[], &[free(&[3], 0.1), free(&[3, 4], 0.7)], false);
}

#[test]
fn general_products_have_the_gradients_that_differences_show() {
    for (turns_a, turns_b) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
        let attributes = [
            int("transA", turns_a),
            int("transB", turns_b),
            float("alpha", 0.5),
            float("beta", 2.0),
        ];
        let a = if turns_a == 1 { [3, 2] } else { [2, 3] };
        let b = if turns_b == 1 { [4, 3] } else { [3, 4] };
        for c in [&[4][..], &[1, 4], &[2, 1], &[2, 4], &[]] {
            check_one("Gemm", &attributes, &[free(&a, 0.1), free(&b, 0.7), free(c, 1.1)], false);
        }
        check_one("Gemm", &attributes, &[free(&a, 0.1), free(&b, 0.7)], false);
    }
    for turns_b in [0, 1] {
        let b = if turns_b == 1 { [4, 3] } else { [3, 4] };
        let attributes = [int("transB", turns_b)];
        check("Gemm", &attributes, &[free(&[2, 3], 0.1), free(&b, 0.7), free(&[4], 1.1)]);
    }
}

#[test]
fn sums_by_labels_have_the_gradients_that_differences_show() {
    for (equation, shapes) in [
        ("bij,bjk->bik", &[&[2, 3, 4][..], &[2, 4, 2][..]][..]),
        ("bhid,bhjd->bhij", &[&[2, 2, 3, 2], &[2, 2, 4, 2]]),
        ("ij,kj->ki", &[&[2, 3], &[4, 3]]),
        ("ij,kl->il", &[&[2, 3], &[4, 3]]),
        ("ij,jk", &[&[2, 3], &[3, 4]]),
        ("i,j->ij", &[&[2], &[3]]),
        ("ij,ij->", &[&[2, 3], &[2, 3]]),
        ("ij->ji", &[&[2, 3]]),
        ("ijk->ki", &[&[2, 3, 2]]),
        ("ij->", &[&[2, 3]]),
        ("a b, b c, c d -> a d", &[&[2, 3], &[3, 2], &[2, 2]]),
    ] {
        let seeds = [0.1, 0.7, 1.3];
        let args: Vec<Arg> =
            shapes.iter().zip(seeds).map(|(shape, seed)| free(shape, seed)).collect();
        check_one("Einsum", &[text("equation", equation)], &args, false);
    }
    let args = [free(&[2, 3, 4, 2], 0.1), free(&[2, 3, 5, 2], 0.7)];
    check("Einsum", &[text("equation", "bhid,bhjd->bhij")], &args);
}

#[test]
fn normalisations_have_the_gradients_that_differences_show() {
    let x = || free(&[3, 4, 2, 3], 0.1);
    let (scale, bias) = (|| free(&[4], 0.7), || free(&[4], 1.7));
    let epsilon = float("epsilon", 0.01);
    check(
        "BatchNormalization",
        std::slice::from_ref(&epsilon),
        &[x(), scale(), bias(), free(&[4], 2.1), positive(&[4], 0.3)],
    );
    check("InstanceNormalization", std::slice::from_ref(&epsilon), &[x(), scale(), bias()]);
    check("GroupNormalization", &[epsilon.clone(), int("num_groups", 2)], &[x(), scale(), bias()]);
    check(
        "LayerNormalization",
        std::slice::from_ref(&epsilon),
        &[x(), free(&[3], 0.7), free(&[3], 0.9)],
    );
    check("LayerNormalization", &[epsilon, int("axis", 2)], &[x(), free(&[2, 3], 0.7)]);
    check("LayerNormalization", &[int("axis", -3)], &[x(), free(&[4, 1, 1], 0.7), free(&[1], 0.3)]);
    for p in [1, 2] {
        check("LpNormalization", &[int("p", p), int("axis", 1)], &[free(&[2, 3, 2], 0.1)]);
    }
}

#[test]
fn statistics_of_the_batch_are_differentiated_too() {
    let mean = Tensor::f32(vec![4], vec![0.0; 4]).unwrap();
    let args = [
        free(&[3, 4, 2], 0.1),
        free(&[4], 0.7),
        free(&[4], 1.7),
        Arg::Fixed(mean.clone()),
        Arg::Fixed(mean),
    ];
    check("BatchNormalization", &[int("training_mode", 1), float("epsilon", 0.01)], &args);
}
