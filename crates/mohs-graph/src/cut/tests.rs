//! Networks that end elsewhere, and networks with another head.

use std::collections::BTreeMap;

use super::*;
use crate::build::Builder;
use crate::dim;
use crate::eval;
use crate::graph::Attribute;
use crate::tensor::Tensor;

fn network(is_gemm: bool) -> Graph {
    let mut b = Builder::new("small");
    let x = b.input("x", ElementType::F32, vec![Dim::symbol("batch"), Dim::known(3)]);
    let w = b.weight("w", Tensor::f32(vec![3, 4], (0..12_u8).map(f32::from).collect()).unwrap());
    let bias = b.weight("b", Tensor::f32(vec![4], vec![1.0; 4]).unwrap());
    let hidden = b.named_op("hidden", "Tanh", &[&x], vec![]).unwrap();
    let logits = if is_gemm {
        b.named_op("logits", "Gemm", &[&hidden, &w, &bias], vec![]).unwrap()
    } else {
        let product = b.matmul(&hidden, &w).unwrap();
        b.named_op("logits", "Add", &[&product, &bias], vec![]).unwrap()
    };
    let axis = vec![("axis", Attribute::Int(-1))];
    let y = b.named_op("shares", "Softmax", &[&logits], axis).unwrap();
    b.output(&y);
    b.finish()
}

fn new_head() -> HeadSpec {
    HeadSpec {
        n_classes: 2,
        weights: Tensor::f32(vec![2, 3], vec![1.0, 0.0, 0.0, 0.0, 2.0, 0.0]).unwrap(),
        bias: Tensor::f32(vec![2], vec![10.0, 20.0]).unwrap(),
    }
}

#[test]
fn a_cut_keeps_what_its_outputs_need() {
    let graph = cut(network(true), &["hidden"]).unwrap();
    assert_eq!(graph.nodes.len(), 1);
    assert!(graph.weights.is_empty());
    assert_eq!(dim::describe(graph.outputs[0].shape.as_ref().unwrap()), "[batch, 3]");
}

#[test]
fn a_name_that_does_not_exist_is_answered_with_names_like_it() {
    let error = cut(network(true), &["hiden"]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the network has no value `hiden`; it has: hidden, shares, logits"
    );
    assert_eq!(
        also_output(network(true), "w").unwrap_err(),
        CutError::NotComputed { name: "w".to_owned() }
    );
}

#[test]
fn another_output_leaves_the_first_in_its_place() {
    let graph = also_output(network(true), "hidden").unwrap();
    let names: Vec<&str> = graph.outputs.iter().map(|port| port.name.as_str()).collect();
    assert_eq!(names, ["shares", "hidden"]);
    assert_eq!(also_output(graph.clone(), "hidden").unwrap(), graph);
}

#[test]
fn a_new_head_computes_its_own_logits_on_the_old_features() {
    for is_gemm in [true, false] {
        let headed = head(network(is_gemm), new_head()).unwrap();
        assert_eq!(headed.features, "hidden");
        assert_eq!(headed.logits, "logits");
        let graph = cut(headed.graph.clone(), &["logits"]).unwrap();
        let x = Tensor::f32(vec![1, 3], vec![0.5, -0.25, 3.0]).unwrap();
        let found = eval::run(&graph, &BTreeMap::from([("x".to_owned(), x)])).unwrap();
        let expected = [10.0 + 0.5_f64.tanh(), 20.0 + 2.0 * (-0.25_f64).tanh()];
        for (found, expected) in found["logits"].to_f64().unwrap().iter().zip(expected) {
            assert!((found - expected).abs() < 1e-12, "{found} {expected}");
        }
        let shape = headed.graph.outputs[0].shape.clone().unwrap();
        assert_eq!(dim::describe(&shape), "[batch, 2]");
        assert!(!headed.graph.weights.contains_key("w"));
    }
}

#[test]
fn a_head_of_the_wrong_size_is_refused() {
    let spec = HeadSpec { weights: Tensor::f32(vec![2, 4], vec![0.0; 8]).unwrap(), ..new_head() };
    assert_eq!(
        head(network(true), spec).unwrap_err().to_string(),
        "the new classifier's weights should have the shape [2, 3], found [2, 4]"
    );
}

#[test]
fn a_network_without_a_classifier_says_what_stands_there() {
    let graph = cut(network(true), &["hidden"]).unwrap();
    let error = head(graph, new_head()).unwrap_err().to_string();
    assert!(error.ends_with("found node `Tanh_hidden` (Tanh)"), "{error}");
}

#[test]
fn every_value_has_a_line() {
    let lines = values(&network(true)).unwrap();
    let names: Vec<&str> = lines.iter().map(|line| line.name.as_str()).collect();
    assert_eq!(names, ["x", "hidden", "logits", "shares"]);
    assert_eq!(lines[2].op.as_deref(), Some("Gemm"));
}
