//! A batch that was fixed at 1 becomes free, and rows stay as they were one by one.

use super::*;
use crate::build::{Builder, Value};
use crate::dim;
use crate::eval;
use crate::graph::Attribute;
use crate::tensor::{ElementType, Tensor};

/// Numbers that look random and are the same on every run.
fn tensor(shape: &[usize], seed: f32) -> Tensor {
    let n = shape.iter().product();
    let numbers = (0..n).scan(seed, |state, _| {
        *state = (*state * 12.9898 + 78.233).sin() * 0.9;
        Some(*state)
    });
    Tensor::f32(shape.to_vec(), numbers.collect()).unwrap()
}

fn known(sizes: &[i64]) -> Vec<Dim> {
    sizes.iter().copied().map(Dim::known).collect()
}

/// A network with a batch of 1, input `x`.
fn network(x: &[i64], body: impl Fn(&mut Builder, &Value) -> Value) -> Graph {
    let mut b = Builder::new("small");
    let x = b.input("x", ElementType::F32, known(x));
    let y = body(&mut b, &x);
    b.output(&y);
    b.finish()
}

/// Checks that a batch of three gives the rows that three runs give.
fn check_rows(graph: &Graph) -> Graph {
    let free = free_batch(graph.clone()).unwrap();
    let shape = free.outputs[0].shape.clone().unwrap();
    assert_eq!(shape[0], Dim::symbol("batch"), "{}", dim::describe(&shape));
    let mut one = dim::as_sizes(graph.inputs[0].shape.as_ref().unwrap()).unwrap();
    let n_numbers: usize = one.iter().product();
    let run = |graph: &Graph, x: Tensor| {
        let found = eval::run(graph, &BTreeMap::from([("x".to_owned(), x)])).unwrap();
        found.into_values().next().unwrap().to_f64().unwrap()
    };
    one[0] = 3;
    let pictures = tensor(&one, 0.7);
    let all = run(&free, pictures.clone());
    one[0] = 1;
    for (idx, rows) in all.chunks(all.len() / 3).enumerate() {
        let numbers = &pictures.as_f32().unwrap()[idx * n_numbers..(idx + 1) * n_numbers];
        let alone = run(graph, Tensor::f32(one.clone(), numbers.to_vec()).unwrap());
        for (found, expected) in rows.iter().zip(&alone) {
            assert!((found - expected).abs() < 1e-12, "picture {idx}: {found} is not {expected}");
        }
    }
    free
}

fn check_fixed(graph: Graph, why: &str) {
    let fixed = free_batch(graph).unwrap_err();
    assert_eq!(fixed.why, why, "{fixed}");
}

fn reshape(b: &mut Builder, x: &Value, sizes: &[i64]) -> Value {
    let target = b.list(sizes);
    b.op("Reshape", &[x, &target], vec![]).unwrap()
}

#[test]
fn a_flattened_picture_gets_its_batch() {
    for target in [[1, 24], [1, -1], [-1, 24]] {
        check_rows(&network(&[1, 3, 2, 4], |b, x| {
            let y = reshape(b, x, &target);
            let weights = b.weight("w", tensor(&[24, 5], 0.3));
            b.op("Gemm", &[&y, &weights], vec![]).unwrap()
        }));
    }
}

#[test]
fn windows_fold_into_the_batch_and_out_again() {
    check_rows(&network(&[1, 4, 4, 3], |b, x| {
        let y = reshape(b, x, &[1, 2, 2, 2, 2, 3]);
        let y = b.transpose(&y, &[0, 1, 3, 2, 4, 5]).unwrap();
        let y = reshape(b, &y, &[4, 4, 3]);
        let turned = b.transpose(&y, &[0, 2, 1]).unwrap();
        let scores = b.matmul(&y, &turned).unwrap();
        let masked = reshape(b, &scores, &[1, 4, 4, 4]);
        let mask = b.weight("mask", tensor(&[1, 4, 4, 4], 0.2));
        let masked = b.add(&masked, &mask).unwrap();
        let masked = reshape(b, &masked, &[4, 4, 4]);
        let y = b.matmul(&masked, &y).unwrap();
        let y = reshape(b, &y, &[1, 2, 2, 2, 2, 3]);
        let y = b.transpose(&y, &[0, 1, 3, 2, 4, 5]).unwrap();
        reshape(b, &y, &[1, 48])
    }));
}

#[test]
fn attention_with_the_batch_in_the_middle_keeps_pictures_apart() {
    // As PyTorch's multi-head attention is exported: positions first, heads folded into the batch.
    check_rows(&network(&[1, 5, 6], |b, x| {
        let x = b.transpose(x, &[1, 0, 2]).unwrap();
        let y = reshape(b, &x, &[5, 2, 3]);
        let y = b.transpose(&y, &[1, 0, 2]).unwrap();
        let turned = b.transpose(&y, &[0, 2, 1]).unwrap();
        let scores = b.matmul(&y, &turned).unwrap();
        let scores = b.op("Softmax", &[&scores], vec![("axis", Attribute::Int(-1))]).unwrap();
        let y = b.matmul(&scores, &y).unwrap();
        let y = b.transpose(&y, &[1, 0, 2]).unwrap();
        let y = reshape(b, &y, &[5, 6]);
        let weights = b.weight("w", tensor(&[6, 6], 0.3));
        let y = b.op("Gemm", &[&y, &weights], vec![]).unwrap();
        let y = reshape(b, &y, &[5, 1, 6]);
        let y = b.transpose(&y, &[1, 0, 2]).unwrap();
        b.reduce("ReduceMean", &y, &[1], false).unwrap()
    }));
}

#[test]
fn a_class_token_stands_before_every_picture() {
    let free = check_rows(&network(&[1, 4, 6], |b, x| {
        let token = b.weight("token", tensor(&[1, 1, 6], 0.3));
        let y = b.concat(&[&token, x], 1).unwrap();
        let place = b.weight("place", tensor(&[1, 5, 6], 0.4));
        let y = b.add(&y, &place).unwrap();
        let first = b.slice(&y, 1, 0, 2).unwrap();
        b.reduce("ReduceMean", &first, &[1], false).unwrap()
    }));
    assert!(free.n_by_op().contains_key("Expand"));
}

#[test]
fn a_picture_made_larger_by_fixed_sizes_gets_its_batch() {
    check_rows(&network(&[1, 2, 3, 3], |b, x| {
        let sizes = b.list(&[1, 2, 6, 5]);
        let settings = vec![("mode", Attribute::Text("nearest".to_owned()))];
        let y = b.node("y", "Resize", &[Some(x), None, None, Some(&sizes)], 1, settings).unwrap();
        b.op("GlobalAveragePool", &[&y[0]], vec![]).unwrap()
    }));
}

#[test]
fn what_mixes_pictures_is_refused() {
    check_fixed(
        network(&[1, 6], |b, x| b.reduce("ReduceMean", x, &[0], true).unwrap()),
        "it reduces over the batch",
    );
    check_fixed(
        network(&[1, 6], |b, x| b.op("Softmax", &[x], vec![("axis", Attribute::Int(0))]).unwrap()),
        "it works along the dimension of the batch",
    );
    check_fixed(
        network(&[1, 6], |b, x| {
            let one = b.weight("one", tensor(&[1, 6], 0.1));
            b.concat(&[x, &one], 0).unwrap()
        }),
        "it joins along the batch",
    );
    check_fixed(
        network(&[1, 6], |b, x| b.squeeze(x, &[0]).unwrap()),
        "it takes away the dimension of the batch",
    );
    // Six rows of a batch of one, with a constant for each.
    check_fixed(
        network(&[1, 6], |b, x| {
            let y = reshape(b, x, &[6, 1]);
            let each = b.weight("each", tensor(&[6, 1], 0.1));
            let y = b.add(&y, &each).unwrap();
            reshape(b, &y, &[1, 6])
        }),
        "a constant stands beside the batch",
    );
    check_fixed(
        network(&[1, 6], |b, x| {
            let turned = b.transpose(x, &[1, 0]).unwrap();
            b.matmul(&turned, x).unwrap()
        }),
        "it sums over the batch",
    );
}

#[test]
fn noise_of_the_size_of_the_picture_is_freed_and_noise_of_one_size_is_not() {
    let free = free_batch(network(&[1, 6], |b, x| {
        let noise = b.op("RandomNormalLike", &[x], vec![]).unwrap();
        b.add(x, &noise).unwrap()
    }));
    let shape = free.unwrap().outputs[0].shape.clone().unwrap();
    assert_eq!(dim::describe(&shape), "[batch, 6]");
    check_fixed(
        network(&[1, 6], |b, x| {
            let settings = vec![("shape", Attribute::Ints(vec![1, 6]))];
            let noise = b.op("RandomNormal", &[], settings).unwrap();
            b.add(x, &noise).unwrap()
        }),
        "all pictures of a batch would get the same random numbers",
    );
}

#[test]
fn an_output_that_does_not_begin_with_the_batch_is_refused() {
    check_fixed(
        network(&[1, 6], |b, x| b.transpose(x, &[1, 0]).unwrap()),
        "the output `transpose` does not begin with the batch",
    );
}

#[test]
fn symbols_get_their_numbers() {
    let mut b = Builder::new("small");
    let dims = vec![Dim::symbol("n"), Dim::known(3), Dim::symbol("h"), Dim::symbol("h")];
    let x = b.input("x", ElementType::F32, dims);
    let weights = b.weight("w", tensor(&[2, 3, 3, 3], 0.1));
    let y = b.op("Conv", &[&x, &weights], vec![]).unwrap();
    b.output(&y);
    let graph = b.finish();
    assert_eq!(batch_symbol(&graph), Some("n"));
    let sized = fix_symbols(graph, &BTreeMap::from([("h".to_owned(), 8)])).unwrap();
    assert_eq!(dim::describe(sized.outputs[0].shape.as_ref().unwrap()), "[n, 2, 6, 6]");
    let whole = set_batch(sized, 4).unwrap();
    assert_eq!(dim::describe(whole.outputs[0].shape.as_ref().unwrap()), "[4, 2, 6, 6]");
    assert_eq!(batch_symbol(&whole), None);
    assert_eq!(set_batch(whole.clone(), 9).unwrap(), whole);
}

#[test]
fn a_size_that_does_not_fit_the_network_is_refused() {
    let mut b = Builder::new("small");
    let x = b.input("x", ElementType::F32, vec![Dim::symbol("n"), Dim::symbol("features")]);
    let weights = b.weight("w", tensor(&[4, 2], 0.1));
    let y = b.op("Gemm", &[&x, &weights], vec![]).unwrap();
    b.output(&y);
    let error = fix_symbols(b.finish(), &BTreeMap::from([("features".to_owned(), 5)]));
    assert_eq!(
        error.unwrap_err().to_string(),
        "node `Gemm_gemm` (Gemm): the number of features should be 4, found 5"
    );
}
