//! Whole networks of every family: the reference evaluator and the derived gradients against what
//! PyTorch computes in 64-bit floats. The files are those that the engines are tested with.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use bytes::Bytes;
use mohs_graph::build::Builder;
use mohs_graph::{Attribute, Graph, Tensor, eval, grad, normalise, read};

/// References are stored as 32-bit floats.
const TOLERANCE: f64 = 3e-6;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../mohs-vision/tests/fixtures/networks")
}

/// Reads a network, and weights that lie beside it.
fn network(path: &Path) -> Result<Graph, String> {
    let bytes = fs::read(path).map_err(|error| error.to_string())?;
    let fetch = &mut |part: &read::External| {
        let file = folder().join(&part.location);
        let bytes = Bytes::from(fs::read(file).map_err(|error| error.to_string())?);
        let start = usize::try_from(part.offset).map_err(|error| error.to_string())?;
        let end = match part.length {
            Some(length) => start + usize::try_from(length).map_err(|error| error.to_string())?,
            None => bytes.len(),
        };
        Ok(bytes.slice(start..end))
    };
    read::parse_with(Bytes::from(bytes), fetch).map_err(|error| error.to_string())
}

/// Samples of a tensor, each a batch of one.
fn samples(tensor: &Tensor) -> Vec<Tensor> {
    let numbers = tensor.to_f64().expect("because references are numbers");
    let n = tensor.shape()[0];
    let mut shape = tensor.shape().to_vec();
    shape[0] = 1;
    numbers
        .chunks(numbers.len() / n)
        .map(|part| Tensor::f64(shape.clone(), part.to_vec()).expect("because samples are equal"))
        .collect()
}

/// The length of the difference, as a share.
fn distance(found: &Tensor, expected: &Tensor) -> Result<f64, String> {
    if found.shape() != expected.shape() {
        return Err(format!("shape {:?}, expected {:?}", found.shape(), expected.shape()));
    }
    let numbers = |tensor: &Tensor| tensor.to_f64().expect("because these are numbers");
    let (found, expected) = (numbers(found), numbers(expected));
    let length =
        |numbers: &mut dyn Iterator<Item = f64>| numbers.map(|x| x * x).sum::<f64>().sqrt();
    let apart = length(&mut found.iter().zip(&expected).map(|(x, y)| x - y));
    Ok(apart / length(&mut expected.iter().copied()))
}

fn expect_close(what: &str, found: &Tensor, expected: &Tensor) -> Result<(), String> {
    match distance(found, expected)? {
        far if far <= TOLERANCE => Ok(()),
        far => Err(format!("{what} are off by {far}")),
    }
}

/// Runs a network with one input and one output.
fn run(graph: &Graph, input: &Tensor) -> Result<Tensor, String> {
    let inputs = BTreeMap::from([(graph.inputs[0].name.clone(), input.clone())]);
    let mut found = eval::run(graph, &inputs).map_err(|error| error.to_string())?;
    found.remove(&graph.outputs[0].name).ok_or_else(|| "there is no output".to_owned())
}

/// A network that answers with the gradient of the summed cross-entropy to these labels.
fn gradient_network(graph: Graph, labels: &[i64], n_classes: usize) -> Result<Graph, String> {
    let (input, output) = (graph.inputs[0].name.clone(), graph.outputs[0].name.clone());
    let build = || -> Result<Graph, grad::GradError> {
        let mut builder = Builder::extend(graph)?;
        let (input, logits) = (builder.value(&input)?, builder.value(&output)?);
        let log_shares = builder.op("LogSoftmax", &[&logits], vec![("axis", Attribute::Int(1))])?;
        let is_class = |label: i64| {
            (0..n_classes).map(move |class| if class as i64 == label { -1.0 } else { 0.0 })
        };
        let signs: Vec<f32> = labels.iter().flat_map(|&label| is_class(label)).collect();
        let signs = Tensor::f32(vec![labels.len(), n_classes], signs)
            .expect("because every label has a row");
        let signs = builder.constant(signs);
        let losses = builder.mul(&log_shares, &signs)?;
        let gradients = grad::gradient(&mut builder, &losses, &[input])?;
        let mut graph = builder.graph().clone();
        graph.outputs.clear();
        let mut builder = Builder::extend(graph)?;
        builder.output(&gradients[0]);
        Ok(builder.finish())
    };
    build().map_err(|error| error.to_string())
}

/// Compares one network with its reference; files with a batch of one see one sample at a time.
fn check(path: &Path, reference: &Graph) -> Result<(), String> {
    let raw = network(path)?;
    let graph = normalise::normalise(raw.clone()).map_err(|error| error.to_string())?;
    let weight = |name: &str| {
        reference.weights.get(name).cloned().ok_or_else(|| format!("no `{name}` in the reference"))
    };
    let (input, logits, gradient) =
        (weight("input")?, weight("logits")?, weight("input_gradient")?);
    let labels = weight("labels")?.to_i64().ok_or("labels should be whole numbers")?;
    let has_one = raw.inputs[0].shape.as_ref().is_some_and(|shape| shape[0].is_one());
    let batches: Vec<(Tensor, Tensor, Tensor, Vec<i64>)> = if has_one {
        let parts = samples(&input).into_iter().zip(samples(&logits)).zip(samples(&gradient));
        parts.zip(labels).map(|(((x, y), dx), label)| (x, y, dx, vec![label])).collect()
    } else {
        vec![(input, logits, gradient, labels)]
    };
    for (input, logits, gradient, labels) in batches {
        expect_close("logits as exported", &run(&raw, &input)?, &logits)?;
        expect_close("logits in the dialect", &run(&graph, &input)?, &logits)?;
        let backward = gradient_network(graph.clone(), &labels, logits.shape()[1])?;
        expect_close("gradients", &run(&backward, &input)?, &gradient)?;
    }
    Ok(())
}

/// Checks the networks whose names start with a letter in this range.
#[track_caller]
fn check_all(first: std::ops::RangeInclusive<char>, at_least: usize) {
    let mut problems = Vec::new();
    let mut n_checked = 0;
    for entry in fs::read_dir(folder()).expect("because the fixtures are there") {
        let path = entry.expect("because the folder can be read").path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let is_ours = name.starts_with(|letter| first.contains(&letter));
        // References of weights belong to other tests, and have no network of their name.
        let Some(stem) = name.strip_suffix(".reference.onnx").filter(|_| is_ours) else { continue };
        let model = folder().join(format!("{stem}.onnx"));
        if !model.exists() {
            continue;
        }
        n_checked += 1;
        let reference = network(&path).expect("because references are sound");
        if let Err(problem) = check(&model, &reference) {
            problems.push(format!("{stem}: {problem}"));
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
    assert!(at_least <= n_checked, "only {n_checked} networks were there");
}

#[test]
fn families_from_clip_to_mobilenet_are_those_of_pytorch() {
    check_all('a'..='m', 14);
}

#[test]
fn families_from_odd_layers_to_resnet_are_those_of_pytorch() {
    check_all('n'..='r', 8);
}

#[test]
fn families_from_shufflenet_to_vit_are_those_of_pytorch() {
    check_all('s'..='z', 12);
}
