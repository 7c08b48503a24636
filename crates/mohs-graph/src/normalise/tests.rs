//! Old forms of operators in the house dialect.

use super::*;
use crate::dim::Dim;
use crate::infer;
use crate::tensor::Tensor;

fn graph(opset: i64, x: &[i64], nodes: Vec<Node>) -> Graph {
    let shape = x.iter().map(|&n| if n < 0 { Dim::symbol("batch") } else { Dim::known(n) });
    let port =
        |name: &str, shape| Port { name: name.to_owned(), element_type: ElementType::F32, shape };
    Graph {
        name: "small".to_owned(),
        opset,
        inputs: vec![port("x", Some(shape.collect()))],
        outputs: vec![port("y", None)],
        nodes,
        ..Graph::default()
    }
}

fn ops(graph: &Graph) -> Vec<&str> {
    graph.nodes.iter().map(|node| node.op.as_str()).collect()
}

#[test]
fn an_old_softmax_over_one_wide_dimension_stays_a_softmax() {
    let node = Node::new("Softmax", &["x"], &["y"]);
    let done = normalise(graph(11, &[-1, 1000, 1, 1], vec![node])).unwrap();
    assert_eq!(ops(&done), ["Softmax"]);
    assert_eq!(done.nodes[0].int("axis"), Some(1));
    assert_eq!(done.opset, 18);
}

#[test]
fn an_old_softmax_over_two_dimensions_takes_them_together() {
    let node = Node::new("Softmax", &["x"], &["y"]);
    let done = normalise(graph(11, &[-1, 10, 4], vec![node.clone()])).unwrap();
    assert_eq!(ops(&done), ["Flatten", "Softmax", "Reshape"]);
    let facts = infer::facts(&done).unwrap();
    assert_eq!(crate::dim::describe(facts["y"].shape.as_ref().unwrap()), "[batch, 10, 4]");
    let new = normalise(graph(13, &[-1, 10, 4], vec![node])).unwrap();
    assert_eq!(new.nodes[0].int("axis"), Some(-1));
}

#[test]
fn constants_of_every_form_become_weights() {
    let nodes = vec![
        Node::new("Constant", &[], &["a"]).with("value", Attribute::Tensor(Tensor::list(vec![1]))),
        Node::new("Constant", &[], &["b"]).with("value_int", Attribute::Int(3)),
        Node::new("Constant", &[], &["c"]).with("value_ints", Attribute::Ints(vec![3, 4])),
        Node::new("Constant", &[], &["d"]).with("value_float", Attribute::Float(0.5)),
        Node::new("Constant", &[], &["e"]).with("value_floats", Attribute::Floats(vec![0.5, 2.0])),
        Node::new("Mul", &["x", "d"], &["y"]),
    ];
    let done = normalise(graph(13, &[-1, 2], nodes)).unwrap();
    assert_eq!(ops(&done), ["Mul"]);
    assert_eq!(done.weights["b"].shape(), [0_usize; 0]);
    assert_eq!(done.weights["c"].as_i64(), Some(&[3_i64, 4][..]));
    assert_eq!(done.weights["e"].as_f32(), Some(&[0.5_f32, 2.0][..]));
}

#[test]
fn settings_that_became_inputs_are_inputs() {
    let nodes = vec![
        Node::new("Clip", &["x"], &["a"]).with("min", Attribute::Float(0.0)),
        Node::new("ReduceMean", &["a"], &["b"])
            .with("axes", Attribute::Ints(vec![2, 3]))
            .with("keepdims", Attribute::Int(0)),
        Node::new("Unsqueeze", &["b"], &["c"]).with("axes", Attribute::Ints(vec![-1])),
        Node::new("Split", &["c"], &["d", "e"]).with("axis", Attribute::Int(1)),
        Node::new("Pad", &["d"], &["y"])
            .with("pads", Attribute::Ints(vec![0, 0, 0, 0, 0, 2]))
            .with("value", Attribute::Float(1.5)),
    ];
    let done = normalise(graph(10, &[-1, 3, 4, 4], nodes)).unwrap();
    assert!(done.nodes.iter().all(|node| !node.name.is_empty()));
    assert_eq!(done.nodes[0].inputs.len(), 2);
    assert_eq!(done.weights[&done.nodes[1].inputs[1]].as_i64(), Some(&[2_i64, 3][..]));
    assert_eq!(done.weights[&done.nodes[3].inputs[1]].as_i64(), Some(&[2_i64, 1][..]));
    assert_eq!(done.weights[&done.nodes[4].inputs[2]].as_f32(), Some(&[1.5_f32][..]));
    let facts = infer::facts(&done).unwrap();
    assert_eq!(crate::dim::describe(facts["y"].shape.as_ref().unwrap()), "[batch, 2, 3]");
}

#[test]
fn a_branch_whose_condition_is_known_is_taken() {
    let inner = |op: &str, name: &str| {
        let port = Port { name: name.to_owned(), element_type: ElementType::F32, shape: None };
        let graph = Graph {
            outputs: vec![port],
            nodes: vec![Node::new(op, &["x"], &["inner"]), Node::new("Neg", &["inner"], &[name])],
            ..Graph::default()
        };
        Attribute::Graph(Box::new(graph))
    };
    let nodes = vec![
        Node::new("Shape", &["x"], &["shape"]),
        Node::new("Constant", &[], &["idx"]).with("value_int", Attribute::Int(1)),
        Node::new("Constant", &[], &["two"]).with("value_int", Attribute::Int(2)),
        Node::new("Gather", &["shape", "idx"], &["size"]),
        Node::new("Equal", &["size", "two"], &["is_two"]),
        Node::new("If", &["is_two"], &["branched"])
            .with("then_branch", inner("Relu", "a"))
            .with("else_branch", inner("Tanh", "b")),
        Node::new("Identity", &["branched"], &["inner"]),
        Node::new("Identity", &["inner"], &["y"]),
    ];
    let done = normalise(graph(13, &[-1, 2], nodes.clone())).unwrap();
    assert!(ops(&done).contains(&"Relu") && !ops(&done).contains(&"If"));
    infer::facts(&done).unwrap();
    let other = normalise(graph(13, &[-1, 3], nodes.clone())).unwrap();
    assert!(ops(&other).contains(&"Tanh"));
    // Whether a batch is 2 is known only when the network runs.
    let mut nodes = nodes;
    nodes[1] = Node::new("Constant", &[], &["idx"]).with("value_int", Attribute::Int(0));
    let error = normalise(graph(13, &[-1, 3], nodes)).unwrap_err().to_string();
    assert!(error.starts_with("node `branched` (If): "), "{error}");
}

#[test]
fn same_padding_becomes_numbers() {
    let node = Node::new("MaxPool", &["x"], &["y"])
        .with("kernel_shape", Attribute::Ints(vec![3, 3]))
        .with("strides", Attribute::Ints(vec![2, 2]))
        .with("auto_pad", Attribute::Text("SAME_UPPER".to_owned()));
    let done = normalise(graph(13, &[-1, 3, 224, 7], vec![node])).unwrap();
    assert_eq!(done.nodes[0].ints("pads"), Some(&[0, 1, 1, 1][..]));
    assert_eq!(done.nodes[0].text("auto_pad"), None);
    assert_eq!(crate::dim::describe(done.outputs[0].shape.as_ref().unwrap()), "[batch, 3, 112, 4]");
}

#[test]
fn a_file_older_than_the_operators_we_know_is_told_what_to_do() {
    let error = normalise(graph(6, &[1], vec![])).unwrap_err().to_string();
    assert!(error.contains("opset 6") && error.contains("opset_version=18"), "{error}");
}

#[test]
fn half_precision_becomes_single() {
    let node = Node::new("Cast", &["x"], &["y"]).with("to", Attribute::Int(10));
    let done = normalise(graph(18, &[2], vec![node])).unwrap();
    assert_eq!(done.nodes[0].int("to"), Some(1));
    assert_eq!(done.outputs[0].element_type, ElementType::F32);
}
