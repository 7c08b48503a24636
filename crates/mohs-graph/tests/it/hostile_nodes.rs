//! Nodes that make no sense: whatever a file says, the evaluator answers or refuses, and never
//! panics or takes memory that a small node cannot need. Constants are folded with it, so it meets
//! every file that is read.

use std::sync::Arc;

use mohs_graph::grad::operator;
use mohs_graph::{Attribute, Data, Node, Tensor, eval};
use proptest::prelude::*;

/// Operators that the evaluator knows and that are not in the list of gradients.
const OTHERS: &[&str] = &[
    "Acos", "Asin", "Atan", "CastLike", "Constant", "Cosh", "Hardmax", "If", "LRN", "Mod",
    "NonZero", "Sinh", "Swish",
];

/// Settings by name, each with the values that it should not have among those that it may.
const INTS: &[&str] = &[
    "axis",
    "group",
    "num_groups",
    "blocksize",
    "ceil_mode",
    "keepdims",
    "to",
    "size",
    "num_outputs",
    "batch_dims",
    "start",
    "end",
    "allowzero",
    "training_mode",
    "noop_with_empty_axes",
    "antialias",
    "exclude_outside",
    "k",
    "p",
    "dtype",
    "upper",
    "transA",
    "transB",
    "value_int",
];
const LISTS: &[&str] = &[
    "strides",
    "dilations",
    "pads",
    "kernel_shape",
    "output_padding",
    "output_shape",
    "axes",
    "perm",
    "split",
];
const TEXTS: &[(&str, &[&str])] = &[
    ("auto_pad", &["SAME_UPPER", "SAME_LOWER", "VALID", "odd"]),
    ("mode", &["constant", "reflect", "edge", "wrap", "nearest", "linear", "cubic", "DCR", "CRD"]),
    ("reduction", &["none", "add", "mul", "odd"]),
    ("equation", &["ij,jk->ik", "...i,...j", "ii->i", "i->ij", "->", "é", "....i", "a,b,c->abc"]),
    ("approximate", &["tanh", "odd"]),
    ("coordinate_transformation_mode", &["align_corners", "asymmetric", "tf_crop_and_resize"]),
    ("keep_aspect_ratio_policy", &["not_larger", "not_smaller"]),
];

/// Whole numbers that files have been seen to lie with. None asks for a lot of memory that could
/// be had.
fn odd_number() -> impl Strategy<Value = i64> {
    prop_oneof![
        6 => -3..5_i64,
        1 => prop::sample::select(vec![i64::MIN, i64::MIN + 1, i64::MAX, 1 << 31, 1 << 40, -(1 << 31)]),
    ]
}

fn odd_float() -> impl Strategy<Value = f64> {
    prop_oneof![
        6 => -3.0..3.0_f64,
        1 => prop::sample::select(vec![f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e300, 0.0, 1e-300]),
    ]
}

fn odd_tensor() -> impl Strategy<Value = Option<Tensor>> {
    let shape = prop::collection::vec(0..4_usize, 0..5);
    (shape, 0..8_usize).prop_flat_map(|(shape, kind)| {
        let n: usize = shape.iter().product();
        let of =
            move |data: Data| Tensor::new(shape.clone(), data).expect("because the length fits");
        match kind {
            0 => Just(None).boxed(),
            1 => prop::collection::vec(any::<bool>(), n)
                .prop_map(move |items| Some(of(Data::Bool(Arc::new(items)))))
                .boxed(),
            2..=4 => prop::collection::vec(odd_number(), n)
                .prop_map(move |items| Some(of(Data::I64(Arc::new(items)))))
                .boxed(),
            _ => prop::collection::vec(odd_float(), n)
                .prop_map(move |items| Some(of(Data::F64(Arc::new(items)))))
                .boxed(),
        }
    })
}

fn odd_attribute() -> impl Strategy<Value = (String, Attribute)> {
    let int = (prop::sample::select(INTS), odd_number())
        .prop_map(|(name, value)| (name.to_owned(), Attribute::Int(value)));
    let list = (prop::sample::select(LISTS), prop::collection::vec(odd_number(), 0..5))
        .prop_map(|(name, values)| (name.to_owned(), Attribute::Ints(values)));
    let text = prop::sample::select(TEXTS).prop_flat_map(|(name, values)| {
        prop::sample::select(values)
            .prop_map(move |value| (name.to_owned(), Attribute::Text(value.to_owned())))
    });
    let tensor = odd_tensor().prop_map(|tensor| {
        let attribute = match tensor {
            Some(tensor) => Attribute::Tensor(tensor),
            None => Attribute::Graph(Box::default()),
        };
        let name = if matches!(attribute, Attribute::Tensor(_)) { "value" } else { "then_branch" };
        (name.to_owned(), attribute)
    });
    prop_oneof![4 => int, 3 => list, 3 => text, 1 => tensor]
}

fn odd_node() -> impl Strategy<Value = (Node, Vec<Option<Tensor>>)> {
    let known: Vec<&'static str> =
        operator::all().iter().map(|row| row.op).chain(OTHERS.iter().copied()).collect();
    (
        prop::sample::select(known),
        prop::collection::vec(odd_tensor(), 0..5),
        prop::collection::vec(odd_attribute(), 0..6),
        1..4_usize,
    )
        .prop_map(|(op, inputs, attributes, n_outputs)| {
            let mut node = Node::new(op, &[], &[]);
            node.inputs = (0..inputs.len()).map(|idx| format!("input {idx}")).collect();
            node.outputs = (0..n_outputs).map(|idx| format!("output {idx}")).collect();
            node.attributes = attributes.into_iter().collect();
            (node, inputs)
        })
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 20_000,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn a_node_that_makes_no_sense_is_answered_or_refused((node, inputs) in odd_node()) {
        match eval::node(&node, &inputs) {
            Ok(outputs) => prop_assert!(outputs.iter().all(|output| output.len() < 1 << 20)),
            Err(error) => prop_assert!(!error.to_string().is_empty()),
        }
    }
}

#[test]
fn the_evaluator_knows_every_operator_that_has_a_gradient_or_is_flat_unless_it_draws() {
    let known = operator::all().iter().map(|row| row.op).chain(OTHERS.iter().copied());
    let is_missing = |op: &&str| eval::is_known(op) == Node::new(op, &[], &[]).is_random();
    let missing: Vec<&str> = known.filter(is_missing).collect();
    assert_eq!(missing, Vec::<&str>::new());
}
