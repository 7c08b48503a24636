//! What is folded computes what it computed before.

use super::*;
use crate::build::{Builder, Value};
use crate::dim::Dim;
use crate::eval;

/// Numbers between −1 and 1 that look random and are the same on every run.
fn numbers(n: usize, seed: u32) -> Vec<f32> {
    let mut state = seed.wrapping_mul(2_654_435_761).wrapping_add(1);
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        f32::from(u16::try_from(state >> 16).unwrap()) / 32_768.0 - 1.0
    };
    (0..n).map(|_| next()).collect()
}

fn tensor(shape: &[usize], seed: u32) -> Tensor {
    Tensor::f32(shape.to_vec(), numbers(shape.iter().product(), seed)).unwrap()
}

fn ops(graph: &Graph) -> Vec<&str> {
    graph.nodes.iter().map(|node| node.op.as_str()).collect()
}

/// Checks that a simpler graph computes what the first one does, and returns it.
fn check_same(graph: Graph, x: &[usize], tolerance: f64) -> Graph {
    let small = simplify(graph.clone()).unwrap();
    let inputs = BTreeMap::from([("x".to_owned(), tensor(x, 7))]);
    let (before, after) =
        (eval::run(&graph, &inputs).unwrap(), eval::run(&small, &inputs).unwrap());
    assert_eq!(before.keys().collect::<Vec<_>>(), after.keys().collect::<Vec<_>>());
    for (name, before) in &before {
        let after = &after[name];
        assert_eq!(before.shape(), after.shape());
        for (before, after) in before.to_f64().unwrap().iter().zip(after.to_f64().unwrap()) {
            assert!((before - after).abs() <= tolerance, "`{name}`: {before} became {after}");
        }
    }
    small
}

fn picture(b: &mut Builder, channels: i64) -> Value {
    let dims = [Dim::symbol("batch"), Dim::known(channels), Dim::known(5), Dim::known(6)];
    b.input("x", ElementType::F32, dims.to_vec())
}

fn batch_norm(b: &mut Builder, x: &Value, n: usize, seed: u32) -> Value {
    let scale = b.weight("scale", tensor(&[n], seed));
    let bias = b.weight("bias", tensor(&[n], seed + 1));
    let mean = b.weight("mean", tensor(&[n], seed + 2));
    let variance = numbers(n, seed + 3).iter().map(|number| number.abs() + 0.1).collect();
    let variance = b.weight("variance", Tensor::f32(vec![n], variance).unwrap());
    b.op("BatchNormalization", &[x, &scale, &bias, &mean, &variance], vec![]).unwrap()
}

#[test]
fn a_batch_norm_goes_into_the_convolution_before_it() {
    for (op, weights, n_groups, n_out) in [
        ("Conv", [4, 3, 3, 3], 1, 4),
        ("Conv", [6, 1, 3, 3], 3, 6),
        ("ConvTranspose", [3, 4, 3, 3], 1, 4),
        ("ConvTranspose", [3, 2, 3, 3], 3, 6),
    ] {
        for has_bias in [false, true] {
            let mut b = Builder::new("small");
            let x = picture(&mut b, 3);
            let weights = b.weight("weights", tensor(&weights, 1));
            let mut inputs = vec![&x, &weights];
            let bias = b.weight("own_bias", tensor(&[n_out], 2));
            if has_bias {
                inputs.push(&bias);
            }
            let group = vec![("group", Attribute::Int(n_groups))];
            let y = b.op(op, &inputs, group).unwrap();
            let y = batch_norm(&mut b, &y, n_out, 3);
            let y = b.unary("Relu", &y).unwrap();
            b.output(&y);
            let small = check_same(b.finish(), &[2, 3, 5, 6], 1e-5);
            assert_eq!(ops(&small), [op, "Relu"]);
        }
    }
}

#[test]
fn a_batch_norm_goes_into_the_matrix_product_before_it() {
    for is_turned in [0, 1] {
        let mut b = Builder::new("small");
        let x = b.input("x", ElementType::F32, vec![Dim::symbol("batch"), Dim::known(3)]);
        let shape = if is_turned == 1 { [4, 3] } else { [3, 4] };
        let weights = b.weight("weights", tensor(&shape, 1));
        let bias = b.weight("own_bias", tensor(&[4], 2));
        let settings = vec![
            ("transB", Attribute::Int(is_turned)),
            ("alpha", Attribute::Float(0.5)),
            ("beta", Attribute::Float(2.0)),
        ];
        let y = b.op("Gemm", &[&x, &weights, &bias], settings).unwrap();
        let y = batch_norm(&mut b, &y, 4, 3);
        b.output(&y);
        assert_eq!(ops(&check_same(b.finish(), &[2, 3], 1e-5)), ["Gemm"]);
    }
    let mut b = Builder::new("small");
    let x = b.input("x", ElementType::F32, vec![Dim::symbol("batch"), Dim::known(3)]);
    let weights = b.weight("weights", tensor(&[3, 4], 1));
    let bias = b.weight("own_bias", tensor(&[4], 2));
    let y = b.matmul(&x, &weights).unwrap();
    let y = b.add(&y, &bias).unwrap();
    let y = batch_norm(&mut b, &y, 4, 3);
    b.output(&y);
    assert_eq!(ops(&check_same(b.finish(), &[2, 3], 1e-5)), ["MatMul", "Add"]);
}

#[test]
fn a_convolution_that_is_seen_elsewhere_keeps_its_weights() {
    let mut b = Builder::new("small");
    let x = picture(&mut b, 3);
    let weights = b.weight("weights", tensor(&[4, 3, 3, 3], 1));
    let conv = b.op("Conv", &[&x, &weights], vec![]).unwrap();
    let y = batch_norm(&mut b, &conv, 4, 3);
    let y = b.add(&y, &conv).unwrap();
    b.output(&y);
    let small = check_same(b.finish(), &[2, 3, 5, 6], 0.0);
    assert_eq!(ops(&small), ["Conv", "BatchNormalization", "Add"]);
}

#[test]
fn weights_that_two_layers_share_are_not_scaled_for_one() {
    let mut b = Builder::new("small");
    let x = picture(&mut b, 3);
    let weights = b.weight("weights", tensor(&[3, 3, 1, 1], 1));
    let y = b.op("Conv", &[&x, &weights], vec![]).unwrap();
    let y = batch_norm(&mut b, &y, 3, 3);
    let y = b.op("Conv", &[&y, &weights], vec![]).unwrap();
    b.output(&y);
    let small = check_same(b.finish(), &[2, 3, 5, 6], 0.0);
    assert_eq!(ops(&small), ["Conv", "BatchNormalization", "Conv"]);
}

#[test]
fn weights_to_be_kept_are_kept() {
    let mut b = Builder::new("small");
    let x = picture(&mut b, 3);
    let weights = b.weight("weights", tensor(&[4, 3, 1, 1], 1));
    let two = b.scalar(2.0);
    let doubled = b.mul(&weights, &two).unwrap();
    let y = b.op("Conv", &[&x, &doubled], vec![]).unwrap();
    let y = batch_norm(&mut b, &y, 4, 3);
    b.output(&y);
    let graph = b.finish();
    assert_eq!(ops(&simplify(graph.clone()).unwrap()), ["Conv"]);
    let keep = BTreeSet::from(["weights".to_owned()]);
    let kept = simplify_keeping(graph.clone(), &keep).unwrap();
    assert_eq!(ops(&kept), ["Mul", "Conv", "BatchNormalization"]);
    assert_eq!(kept.weights["weights"], graph.weights["weights"]);
    let keep = BTreeSet::from(["scale".to_owned()]);
    assert_eq!(ops(&simplify_keeping(graph, &keep).unwrap()), ["Conv", "BatchNormalization"]);
}

#[test]
fn a_lonely_batch_norm_is_a_product_and_a_sum() {
    let mut b = Builder::new("small");
    let x = picture(&mut b, 3);
    let y = batch_norm(&mut b, &x, 3, 3);
    b.output(&y);
    let graph = b.finish();
    let plain = fold_lonely_batch_norms(graph.clone()).unwrap();
    assert_eq!(ops(&plain), ["Mul", "Add"]);
    let inputs = BTreeMap::from([("x".to_owned(), tensor(&[2, 3, 5, 6], 7))]);
    let run = |graph: &Graph| eval::run(graph, &inputs).unwrap()[y.name()].to_f64().unwrap();
    for (before, after) in run(&graph).iter().zip(run(&plain)) {
        assert!((before - after).abs() < 1e-5, "{before} {after}");
    }
}

#[test]
fn what_does_not_depend_on_the_input_is_computed_once() {
    let mut b = Builder::new("small");
    let x = b.input("x", ElementType::F32, vec![Dim::symbol("batch"), Dim::known(6)]);
    let weights = b.weight("weights", tensor(&[4, 6], 1));
    let turned = b.transpose(&weights, &[1, 0]).unwrap();
    let y = b.matmul(&x, &turned).unwrap();
    // The shape [batch, 2, 2], computed as exporters write it.
    let shape = b.shape_of(&y).unwrap();
    let batch = b.slice(&shape, 0, 0, 1).unwrap();
    let rest = b.list(&[2, 2]);
    let target = b.concat(&[&batch, &rest], 0).unwrap();
    let y = b.op("Reshape", &[&y, &target], vec![]).unwrap();
    b.output(&y);
    let small = check_same(b.finish(), &[3, 6], 0.0);
    assert_eq!(ops(&small), ["MatMul", "Reshape"]);
    assert_eq!(small.weights[&small.nodes[1].inputs[1]].as_i64(), Some(&[-1, 2, 2][..]));
    assert_eq!(small.weights.len(), 2);
}

#[test]
fn nodes_that_do_nothing_go_and_outputs_keep_their_names() {
    let mut b = Builder::new("small");
    let x = b.input("x", ElementType::F32, vec![Dim::symbol("batch"), Dim::known(6)]);
    let y = b.unary("Identity", &x).unwrap();
    let y = b.unary("Tanh", &y).unwrap();
    let y = b.transpose(&y, &[1, 0]).unwrap();
    let y = b.transpose(&y, &[1, 0]).unwrap();
    let unused = b.unary("Exp", &y).unwrap();
    b.unary("Neg", &unused).unwrap();
    b.output_as(&y, "first").unwrap();
    b.output_as(&y, "second").unwrap();
    b.output_as(&x, "untouched").unwrap();
    let small = check_same(b.finish(), &[3, 6], 0.0);
    assert_eq!(ops(&small), ["Tanh", "Identity", "Identity"]);
}

#[test]
fn equal_nodes_are_one() {
    let mut b = Builder::new("small");
    let x = b.input("x", ElementType::F32, vec![Dim::symbol("batch"), Dim::known(6)]);
    let (one, other) = (b.unary("Exp", &x).unwrap(), b.unary("Exp", &x).unwrap());
    let (one, other) = (b.unary("Tanh", &one).unwrap(), b.unary("Tanh", &other).unwrap());
    let y = b.mul(&one, &other).unwrap();
    b.output(&y);
    let small = check_same(b.finish(), &[3, 6], 0.0);
    assert_eq!(ops(&small), ["Exp", "Tanh", "Mul"]);
}

#[test]
fn a_value_used_only_inside_a_branch_stays() {
    let port = |name: &str| crate::Port {
        name: name.to_owned(),
        element_type: ElementType::F32,
        shape: Some(vec![Dim::symbol("batch"), Dim::known(2)]),
    };
    let branch = |op: &str| {
        let inner = Graph {
            outputs: vec![port("inner")],
            nodes: vec![Node::new(op, &["outer"], &["inner"])],
            ..Graph::default()
        };
        Attribute::Graph(Box::new(inner))
    };
    let condition =
        crate::Port { element_type: ElementType::Bool, shape: Some(vec![]), ..port("c") };
    let graph = Graph {
        opset: 18,
        inputs: vec![port("x"), condition],
        outputs: vec![port("y")],
        nodes: vec![
            Node::new("Identity", &["x"], &["same"]),
            Node::new("Tanh", &["same"], &["outer"]),
            Node::new("If", &["c"], &["y"])
                .with("then_branch", branch("Exp"))
                .with("else_branch", branch("Neg")),
        ],
        ..Graph::default()
    };
    assert_eq!(ops(&simplify(graph).unwrap()), ["Tanh", "If"]);
}

#[test]
fn a_constant_that_would_be_huge_is_left_to_the_engine() {
    let mut b = Builder::new("small");
    let x = b.input("x", ElementType::F32, vec![Dim::known(1)]);
    let shape = b.list(&[1 << 20, 1 << 20]);
    let huge = b.op("ConstantOfShape", &[&shape], vec![]).unwrap();
    let y = b.add(&x, &huge).unwrap();
    b.output(&y);
    assert_eq!(ops(&simplify(b.finish()).unwrap()), ["ConstantOfShape", "Add"]);
}

#[test]
fn random_numbers_are_drawn_by_every_node_and_when_the_network_runs() {
    let mut b = Builder::new("small");
    let x = b.input("x", ElementType::F32, vec![Dim::known(2)]);
    let like = |b: &mut Builder| b.op("RandomNormalLike", &[&x], vec![]).unwrap();
    let of_two = |b: &mut Builder| {
        b.op("RandomUniform", &[], vec![("shape", Attribute::Ints(vec![2]))]).unwrap()
    };
    let drawn = [like(&mut b), like(&mut b), of_two(&mut b), of_two(&mut b)];
    let y = b.op("Sum", &drawn.each_ref(), vec![]).unwrap();
    b.output(&y);
    let found = simplify(b.finish()).unwrap();
    let expected = ["RandomNormalLike", "RandomNormalLike", "RandomUniform", "RandomUniform"];
    assert_eq!(ops(&found)[..4], expected);
}

#[test]
fn a_stretch_stays_unless_it_is_known_to_do_nothing() {
    let mut b = Builder::new("small");
    let x = b.input("x", ElementType::F32, vec![Dim::symbol("batch"), Dim::known(6)]);
    let size = b.input("size", ElementType::I64, vec![Dim::known(1)]);
    let six = b.list(&[6]);
    let target = b.concat(&[&size, &six], 0).unwrap();
    let stretched = b.op("Expand", &[&x, &target], vec![]).unwrap();
    let shape = b.shape_of(&x).unwrap();
    let same = b.op("Expand", &[&x, &shape], vec![]).unwrap();
    let y = b.add(&stretched, &same).unwrap();
    b.output(&y);
    assert_eq!(ops(&simplify(b.finish()).unwrap()), ["Concat", "Expand", "Add"]);
}

#[test]
fn a_cast_of_what_nobody_knows_stays() {
    // Boxes that were kept are whole numbers, though the boxes and scores are not.
    for (op, domain) in [("NonMaxSuppression", ""), ("Mystery", "com.example")] {
        let mut b = Builder::new("cast");
        let x = picture(&mut b, 4);
        let boxes = b.op(op, &[&x, &x], vec![]).unwrap();
        let kept = b.op("Cast", &[&boxes], vec![("to", Attribute::Int(1))]).unwrap();
        b.output(&kept);
        let mut graph = b.finish();
        domain.clone_into(&mut graph.nodes[0].domain);
        let small = simplify(graph).unwrap();
        assert_eq!(ops(&small), [op, "Cast"]);
    }
}
