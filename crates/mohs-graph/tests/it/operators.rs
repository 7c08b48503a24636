//! The reference evaluator against onnxruntime: every case of `tests/fixtures/operators`, which
//! `tools/make_operator_fixtures.py` makes. A file holds constants, one node per case, and the
//! expected value of each output as a weight named `expected:<output>`.

use std::collections::BTreeMap;

use bytes::Bytes;
use mohs_graph::{Graph, Tensor, eval, read};

/// Numbers in the files are 32-bit floats, computed in 32 bits.
const TOLERANCE: f64 = 2e-5;

#[track_caller]
fn check(bytes: &'static [u8]) {
    let graph = read::parse(Bytes::from_static(bytes)).unwrap_or_else(|error| panic!("{error}"));
    let mut problems = Vec::new();
    let mut n_checked = 0;
    for node in &graph.nodes {
        // Each case by itself, so that one that fails does not hide the others.
        let single = Graph {
            nodes: vec![node.clone()],
            outputs: graph
                .outputs
                .iter()
                .filter(|port| node.outputs.contains(&port.name))
                .cloned()
                .collect(),
            ..graph.clone()
        };
        match eval::run(&single, &BTreeMap::new()) {
            Err(error) => problems.push(error.to_string()),
            Ok(found) => {
                for (name, found) in &found {
                    let expected = &graph.weights[&format!("expected:{name}")];
                    n_checked += 1;
                    if let Some(problem) = difference(found, expected) {
                        problems.push(format!("{}, output {name}: {problem}", node.label()));
                    }
                }
            }
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
    assert!(graph.nodes.len() <= n_checked, "only {n_checked} outputs were compared");
}

/// What differs, if anything does.
fn difference(found: &Tensor, expected: &Tensor) -> Option<String> {
    if found.shape() != expected.shape() {
        return Some(format!("shape {:?}, expected {:?}", found.shape(), expected.shape()));
    }
    if found.element_type().is_float() != expected.element_type().is_float() {
        return Some(format!("{}, expected {}", found.element_type(), expected.element_type()));
    }
    let (found, expected) = (found.to_f64()?, expected.to_f64()?);
    let far = found.iter().zip(&expected).position(|(found, expected)| {
        let is_same = (found.is_nan() && expected.is_nan())
            || found.to_bits() == expected.to_bits()
            || (found - expected).abs() <= TOLERANCE * (1.0 + expected.abs());
        !is_same
    })?;
    Some(format!(
        "{} at {far}, expected {}\n{found:.4?}\n{expected:.4?}",
        found[far], expected[far]
    ))
}

#[test]
fn convolutions_are_those_of_onnxruntime() {
    check(include_bytes!("../fixtures/operators/conv.onnx"));
    check(include_bytes!("../fixtures/operators/conv_transpose.onnx"));
}

#[test]
fn pools_are_those_of_onnxruntime() {
    check(include_bytes!("../fixtures/operators/pool.onnx"));
}

#[test]
fn resizing_is_that_of_onnxruntime() {
    check(include_bytes!("../fixtures/operators/resize.onnx"));
}

#[test]
fn normalisations_are_those_of_onnxruntime() {
    check(include_bytes!("../fixtures/operators/norm.onnx"));
    check(include_bytes!("../fixtures/operators/norm_older.onnx"));
}

#[test]
fn sums_of_products_are_those_of_onnxruntime() {
    check(include_bytes!("../fixtures/operators/einsum.onnx"));
}

#[test]
fn moving_elements_is_that_of_onnxruntime() {
    check(include_bytes!("../fixtures/operators/shape.onnx"));
}

#[test]
fn gathering_and_scattering_are_those_of_onnxruntime() {
    check(include_bytes!("../fixtures/operators/index.onnx"));
}

#[test]
fn reductions_are_those_of_onnxruntime() {
    check(include_bytes!("../fixtures/operators/reduce.onnx"));
}

#[test]
fn functions_of_elements_are_those_of_onnxruntime() {
    check(include_bytes!("../fixtures/operators/elementwise.onnx"));
}
