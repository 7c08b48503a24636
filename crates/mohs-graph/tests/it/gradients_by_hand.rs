//! Gradients whose numbers can be checked with pencil and paper: one or more per family of operators,
//! kinks and ties above all, where differences say nothing.

use std::collections::BTreeMap;

use mohs_graph::build::{Builder, Value};
use mohs_graph::grad::{self, GradError};
use mohs_graph::{Attribute, Dim, ElementType, Tensor, eval};

/// The gradient of the sum of what `write` makes of `x`.
fn gradient_of(
    shape: &[usize],
    x: &[f64],
    write: impl FnOnce(&mut Builder, &Value) -> Value,
) -> Vec<f64> {
    let mut builder = Builder::new("case");
    let dims = shape.iter().map(|&size| Dim::from_size(size)).collect();
    let value = builder.input("x", ElementType::F32, dims);
    let made = write(&mut builder, &value);
    let gradients =
        grad::gradient(&mut builder, &made, &[value]).expect("because the case is sound");
    builder.output_as(&gradients[0], "gradient").expect("because the case is sound");
    let x = Tensor::f64(shape.to_vec(), x.to_vec()).expect("because the case is sound");
    let inputs = BTreeMap::from([("x".to_owned(), x)]);
    let results = eval::run(&builder.finish(), &inputs).expect("because the case is sound");
    results["gradient"].to_f64().expect("because the case is sound")
}

/// The gradient of the sum of one node of one input.
fn of_op(op: &str, attributes: Vec<(&str, Attribute)>, x: &[f64]) -> Vec<f64> {
    gradient_of(&[x.len()], x, |builder, x| {
        builder.op(op, &[x], attributes).expect("because the case is sound")
    })
}

/// Refuses numbers that are further apart than rounding.
fn assert_near(found: &[f64], expected: &[f64]) {
    assert_eq!(found.len(), expected.len(), "{found:?}");
    for (found_one, expected_one) in found.iter().zip(expected) {
        let is_near = (found_one - expected_one).abs() < 1e-6;
        assert!(is_near, "expected {expected:?}, found {found:?}");
    }
}

#[test]
fn the_gradient_of_a_relu_is_zero_at_zero() {
    assert_near(&of_op("Relu", vec![], &[-1.0, 0.0, 2.0]), &[0.0, 0.0, 1.0]);
    let alpha = || vec![("alpha", Attribute::Float(0.25))];
    assert_near(&of_op("LeakyRelu", alpha(), &[-1.0, 0.0, 2.0]), &[0.25, 0.25, 1.0]);
}

#[test]
fn an_infinite_slope_behind_a_relu_does_not_pass_where_the_relu_is_flat() {
    let found = gradient_of(&[2], &[-1.0, 4.0], |builder, x| {
        let y = builder.unary("Relu", x).unwrap();
        builder.unary("Sqrt", &y).unwrap()
    });
    assert_near(&found, &[0.0, 0.25]);
}

#[test]
fn the_gradient_of_an_absolute_value_is_zero_at_zero() {
    assert_near(&of_op("Abs", vec![], &[-3.0, 0.0, 2.0]), &[-1.0, 0.0, 1.0]);
    assert_near(&of_op("ReduceL1", vec![], &[-3.0, 0.0, 2.0]), &[-1.0, 0.0, 1.0]);
}

#[test]
fn a_clip_passes_the_gradient_on_its_bounds() {
    let found = gradient_of(&[5], &[-0.5, 0.0, 3.0, 6.0, 6.5], |builder, x| {
        let (low, high) = (builder.scalar(0.0), builder.scalar(6.0));
        builder.op("Clip", &[x, &low, &high], vec![]).unwrap()
    });
    assert_near(&found, &[0.0, 1.0, 1.0, 1.0, 0.0]);
}

#[test]
fn hard_activations_are_flat_on_their_bounds_as_in_pytorch() {
    let sixth = vec![("alpha", Attribute::Float(1.0 / 6.0))];
    assert_near(&of_op("HardSigmoid", sixth, &[-3.0, 0.0, 3.0]), &[0.0, 1.0 / 6.0, 0.0]);
    assert_near(
        &of_op("HardSwish", vec![], &[-3.0, -1.5, 0.0, 3.0, 4.0]),
        &[0.0, 0.0, 0.5, 1.0, 1.0],
    );
}

#[test]
fn the_largest_of_several_share_the_gradient_when_they_tie() {
    assert_near(&of_op("ReduceMax", vec![], &[2.0, 5.0, 5.0, 1.0]), &[0.0, 0.5, 0.5, 0.0]);
    assert_near(
        &of_op("ReduceMin", vec![], &[1.0, 5.0, 1.0, 1.0]),
        &[1.0 / 3.0, 0.0, 1.0 / 3.0, 1.0 / 3.0],
    );
    let found = gradient_of(&[3], &[-1.0, 0.0, 1.0], |builder, x| {
        let zero = builder.scalar(0.0);
        builder.op("Max", &[x, &zero], vec![]).unwrap()
    });
    assert_near(&found, &[0.0, 0.5, 1.0]);
}

#[test]
fn the_gradient_of_a_norm_is_zero_at_zero() {
    assert_near(&of_op("ReduceL2", vec![], &[3.0, 4.0]), &[0.6, 0.8]);
    assert_near(&of_op("ReduceL2", vec![], &[0.0, 0.0]), &[0.0, 0.0]);
    assert_near(&of_op("LpNormalization", vec![], &[0.0, 0.0]), &[0.0, 0.0]);
}

#[test]
fn a_product_with_one_zero_moves_only_with_that_zero() {
    assert_near(&of_op("ReduceProd", vec![], &[2.0, 0.0, 5.0]), &[0.0, 10.0, 0.0]);
    assert_near(&of_op("ReduceProd", vec![], &[0.0, 0.0, 5.0]), &[0.0, 0.0, 0.0]);
    assert_near(&of_op("ReduceProd", vec![], &[2.0, 3.0, 5.0]), &[15.0, 10.0, 6.0]);
}

#[test]
fn a_power_of_zero_does_not_make_nonsense() {
    let power = |p: f32| {
        gradient_of(&[2], &[0.0, -3.0], |builder, x| {
            let p = builder.scalar(p);
            builder.op("Pow", &[x, &p], vec![]).unwrap()
        })
    };
    assert_near(&power(2.0), &[0.0, -6.0]);
    assert_near(&power(0.0), &[0.0, 0.0]);
    assert_near(&power(4.0), &[0.0, -108.0]);
}

#[test]
fn a_value_used_twice_gets_both_gradients() {
    // x · sigmoid(x) at 0: sigmoid(0) + 0 · …
    let found = gradient_of(&[1], &[0.0], |builder, x| {
        let gate = builder.unary("Sigmoid", x).unwrap();
        builder.mul(x, &gate).unwrap()
    });
    assert_near(&found, &[0.5]);
    let found = gradient_of(&[1], &[3.0], |builder, x| builder.mul(x, x).unwrap());
    assert_near(&found, &[6.0]);
}

#[test]
fn the_gradient_of_a_softmax_is_its_worked_number() {
    // Two equal logits: y = ½, ½; the gradient of the first is ¼, −¼.
    let found = gradient_of(&[1, 2], &[0.7, 0.7], |builder, x| {
        let y = builder.op("Softmax", &[x], vec![("axis", Attribute::Int(1))]).unwrap();
        builder.slice(&y, 1, 0, 1).unwrap()
    });
    assert_near(&found, &[0.25, -0.25]);
}

#[test]
fn the_gradient_of_a_matrix_product_is_the_other_matrix_turned_over() {
    let found = gradient_of(&[1, 2], &[1.0, 1.0], |builder, x| {
        let numbers = Tensor::f32(vec![2, 3], vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0]).unwrap();
        let matrix = builder.constant(numbers);
        builder.matmul(x, &matrix).unwrap()
    });
    assert_near(&found, &[6.0, 15.0]);
}

#[test]
fn what_is_normalised_does_not_move_with_its_level_or_size() {
    // Any two different numbers normalise to −1 and 1.
    let found = gradient_of(&[1, 2], &[1.0, 3.0], |builder, x| {
        let scale = builder.constant(Tensor::f32(vec![2], vec![2.0, 5.0]).unwrap());
        let settings = vec![("epsilon", Attribute::Float(0.0))];
        builder.op("LayerNormalization", &[x, &scale], settings).unwrap()
    });
    assert_near(&found, &[0.0, 0.0]);
}

#[test]
fn stored_statistics_make_batch_normalisation_a_plain_factor() {
    let found = gradient_of(&[2, 1, 1], &[1.0, 7.0], |builder, x| {
        let [scale, bias, mean, variance] = [6.0, 1.0, 2.0, 4.0]
            .map(|number| builder.constant(Tensor::f32(vec![1], vec![number]).unwrap()));
        let settings = vec![("epsilon", Attribute::Float(0.0))];
        let inputs = [x, &scale, &bias, &mean, &variance];
        builder.op("BatchNormalization", &inputs, settings).unwrap()
    });
    assert_near(&found, &[3.0, 3.0]);
}

#[test]
fn a_gradient_can_be_differentiated_again() {
    // x³: 3 x², then 6 x; and through an activation: tanh'' = −2 tanh (1 − tanh²).
    let twice = |op: &'static str, x: f64| {
        gradient_of(&[1], &[x], |builder, x| {
            let y = match op {
                "cube" => {
                    let three = builder.scalar(3.0);
                    builder.op("Pow", &[x, &three], vec![]).unwrap()
                }
                _ => builder.unary(op, x).unwrap(),
            };
            grad::gradient(builder, &y, std::slice::from_ref(x)).unwrap().swap_remove(0)
        })
    };
    assert_near(&twice("cube", 2.0), &[12.0]);
    let t = 0.3_f64.tanh();
    assert_near(&twice("Tanh", 0.3), &[-2.0 * t * (1.0 - t * t)]);
    let s = 1.0 / (1.0 + (-0.3_f64).exp());
    assert_near(&twice("Softplus", 0.3), &[s * (1.0 - s)]);
}

#[test]
fn what_a_rule_does_not_cover_is_refused_with_its_node() {
    let mut builder = Builder::new("case");
    let x = builder.input("x", ElementType::F32, vec![Dim::known(2), Dim::known(2)]);
    let equation = vec![("equation", Attribute::Text("ii->i".to_owned()))];
    let y = builder.op("Einsum", &[&x], equation).unwrap();
    let error = grad::gradient(&mut builder, &y, std::slice::from_ref(&x)).unwrap_err();
    assert!(error.to_string().contains("a label twice"), "{error}");

    // What comes behind has no known shape, but that is not the cause.
    let made = builder.node("hash", "NoSuchOperator", &[Some(&x)], 1, vec![]).unwrap();
    let y = builder.mul(&made[0], &x).unwrap();
    let error = grad::gradient(&mut builder, &y, std::slice::from_ref(&x)).unwrap_err();
    assert!(matches!(&error, GradError::NoRule { op, .. } if op == "NoSuchOperator"), "{error}");

    let start = builder.reduce_sum(&x, &[0, 1], false).unwrap();
    let (end, step) = (builder.scalar(9.0), builder.scalar(1.0));
    let y = builder.op("Range", &[&start, &end, &step], vec![]).unwrap();
    let y = builder.reduce_sum(&y, &[0], false).unwrap();
    let error = grad::gradient(&mut builder, &y, std::slice::from_ref(&x)).unwrap_err();
    assert!(error.to_string().contains("input 0, which moves"), "{error}");

    let y = builder.unary("Floor", &x).unwrap();
    let error = grad::gradient(&mut builder, &y, &[x]).unwrap_err();
    assert!(matches!(error, GradError::Independent { .. }), "{error}");
}

#[test]
fn a_pool_over_minus_infinity_still_finds_its_maximum() {
    let lowest = f64::NEG_INFINITY;
    let pool = |builder: &mut Builder, x: &Value| {
        let kernel = vec![("kernel_shape", Attribute::Ints(vec![1, 3]))];
        builder.op("MaxPool", &[x], kernel).expect("because the case is sound")
    };
    let found = gradient_of(&[1, 1, 1, 4], &[lowest, 2.0, lowest, 1.0], pool);
    assert_near(&found, &[0.0, 2.0, 0.0, 0.0]);
}
