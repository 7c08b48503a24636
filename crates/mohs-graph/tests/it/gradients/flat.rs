//! Operators whose derivative is zero wherever it exists: asking for it is an error, not a zero.

use std::sync::Arc;

use mohs_graph::build::{Builder, Value};
use mohs_graph::grad::{self, GradError, operator};
use mohs_graph::{Attribute, Data, Dim, ElementType, Tensor};

/// Operators that are flat in whole numbers, and refuse floats that move.
pub(crate) const COUNTING: &[&str] = &["OneHot", "Range"];

/// Writes the operator on a float input, directly or behind a comparison.
fn write(builder: &mut Builder, op: &str, x: &Value) -> Result<Value, String> {
    let text = |error: mohs_graph::build::BuildError| format!("{op}: {error}");
    let one = builder.scalar(1.0);
    let node = |builder: &mut Builder, inputs: &[&Value], attributes| {
        builder.op(op, inputs, attributes).map_err(text)
    };
    match op {
        "And" | "Or" | "Xor" | "Not" => {
            let truth = builder.compare("Greater", x, &one).map_err(text)?;
            let inputs = if op == "Not" { vec![&truth] } else { vec![&truth, &truth] };
            node(builder, &inputs, vec![])
        }
        "Equal" | "Greater" | "GreaterOrEqual" | "Less" | "LessOrEqual" => {
            node(builder, &[x, &one], vec![])
        }
        "ArgMax" | "ArgMin" => node(builder, &[x], vec![("axis", Attribute::Int(0))]),
        "ConstantOfShape" => {
            let shape = builder.op("Shape", &[x], vec![]).map_err(text)?;
            node(builder, &[&shape], vec![])
        }
        "RandomNormal" | "RandomUniform" => {
            node(builder, &[], vec![("shape", Attribute::Ints(vec![2, 3]))])
        }
        "OneHot" => {
            let values = builder
                .constant(Tensor::f32(vec![2], vec![0.0, 1.0]).expect("because the length fits"));
            let depth = builder.list(&[3]);
            let index =
                builder.op("ArgMax", &[x], vec![("axis", Attribute::Int(0))]).map_err(text)?;
            node(builder, &[&index, &depth, &values], vec![("axis", Attribute::Int(-1))])
        }
        "Range" => {
            let whole = builder.op("ArgMax", &[x], vec![("keepdims", Attribute::Int(0))]);
            let limit = builder.op(
                "ReduceMax",
                &[&whole.map_err(text)?],
                vec![("keepdims", Attribute::Int(0))],
            );
            let limit = limit.map_err(text)?;
            let number = |number: i64| {
                Tensor::i64(vec![], vec![number]).expect("because one number has no dimensions")
            };
            let (start, step) = (builder.constant(number(0)), builder.constant(number(1)));
            node(builder, &[&start, &limit, &step], vec![])
        }
        _ => node(builder, &[x], vec![]),
    }
}

#[test]
fn a_flat_operator_says_that_nothing_depends_on_its_input() {
    let mut problems = Vec::new();
    let is_flat = |row: &&operator::Row| row.rule.is_none() || COUNTING.contains(&row.op);
    for row in operator::all().iter().filter(is_flat) {
        let mut builder = Builder::new(row.op);
        let x = builder.input("x", ElementType::F32, vec![Dim::known(2), Dim::known(3)]);
        let made = match write(&mut builder, row.op, &x) {
            Ok(made) => made,
            Err(problem) => {
                problems.push(problem);
                continue;
            }
        };
        // The sum is of floats, as any scalar is.
        let floats = builder.cast(&made, ElementType::F32).expect("because casts fit anything");
        let scalar = builder
            .op("ReduceSum", &[&floats], vec![("keepdims", Attribute::Int(0))])
            .expect("because sums fit floats");
        let found = grad::gradient(&mut builder, &scalar, &[x]);
        if !matches!(found, Err(GradError::Independent { .. })) {
            problems.push(format!("{}: {found:?}", row.op));
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn a_flat_way_beside_a_smooth_one_adds_nothing() {
    let mut builder = Builder::new("two ways");
    let x = builder.input("x", ElementType::F32, vec![Dim::known(2)]);
    let floor = builder.unary("Floor", &x).unwrap();
    let both = builder.mul(&x, &floor).unwrap();
    let gradients = grad::gradient(&mut builder, &both, &[x]).unwrap();
    builder.output(&gradients[0]);
    let numbers = Data::F64(Arc::new(vec![2.5, -1.5]));
    let inputs = [("x".to_owned(), Tensor::new(vec![2], numbers).unwrap())].into();
    let found = mohs_graph::eval::run(&builder.finish(), &inputs).unwrap();
    assert_eq!(found[gradients[0].name()].to_f64().unwrap(), [2.0, -2.0]);
}

/// The slope of `(x + noise)²` is that at the numbers which were drawn, not at others.
#[test]
fn a_slope_is_taken_at_the_random_numbers_that_were_drawn() {
    let mut builder = Builder::new("noisy");
    let x = builder.input("x", ElementType::F32, vec![Dim::known(2)]);
    let noise = builder.op("RandomNormalLike", &[&x], vec![]).unwrap();
    let noisy = builder.add(&x, &noise).unwrap();
    let squared = builder.mul(&noisy, &noisy).unwrap();
    let gradients = grad::gradient(&mut builder, &squared, &[x]).unwrap();
    builder.output(&gradients[0]);
    let graph = mohs_graph::fold::simplify(builder.finish()).unwrap();
    let draws = graph.nodes.iter().filter(|node| node.is_random()).count();
    assert_eq!(draws, 1);
}

#[test]
fn floats_that_move_a_count_are_refused() {
    let mut builder = Builder::new("counts");
    let x = builder.input("x", ElementType::F32, vec![]);
    let (zero, one) = (builder.scalar(0.0), builder.scalar(1.0));
    let range = builder.op("Range", &[&zero, &x, &one], vec![]).unwrap();
    let found = grad::gradient(&mut builder, &range, &[x]);
    assert!(matches!(found, Err(GradError::Uncovered { .. })), "{found:?}");

    let mut builder = Builder::new("marks");
    let values = builder.input("values", ElementType::F32, vec![Dim::known(2)]);
    let (index, depth) = (builder.list(&[1]), builder.list(&[3]));
    let marks = builder.op("OneHot", &[&index, &depth, &values], vec![]).unwrap();
    let found = grad::gradient(&mut builder, &marks, &[values]);
    assert!(matches!(found, Err(GradError::Uncovered { .. })), "{found:?}");
}
