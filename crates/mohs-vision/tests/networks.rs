//! Every family of networks, in both engines, against PyTorch in 64 bits.
//!
//! The networks are small exports with random weights, made by `tools/make_network_fixtures.py`;
//! beside each stands what PyTorch computes from it in double precision. The same is asked of the
//! reference evaluator, with much narrower bounds.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use mohs_graph::scalar::{Reduction, Scalar};
use mohs_graph::train::{self, BatchNorm};
use mohs_graph::{Tensor, derive, eval, read};
use mohs_vision::engine::{Engine, EngineChoice, OpenOptions};
use mohs_vision::network::Network;

/// How far logits may be off in 32 bits, as a share of the largest.
const LOGITS: f64 = 1e-4;
/// How far gradients may be off in 32 bits, as a share of the largest.
const GRADIENT: f64 = 1e-3;
/// How far both may be off in 64 bits; the reference is stored in 32.
const REFERENCE: f64 = 2e-6;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/networks")
}

/// Names of all fixtures, without those that are for weights.
fn names() -> Vec<String> {
    let entries = std::fs::read_dir(folder()).expect("the fixtures are part of the repository");
    let names = entries.map(|entry| {
        entry.expect("a readable folder").file_name().into_string().expect("plain names")
    });
    let mut names: Vec<String> = names
        .filter_map(|name| name.strip_suffix(".onnx").map(str::to_owned))
        .filter(|name| !name.ends_with(".reference") && !name.ends_with("_weights"))
        .collect();
    names.sort();
    names
}

fn reference(name: &str) -> BTreeMap<String, Tensor> {
    let bytes =
        std::fs::read(folder().join(format!("{name}.reference.onnx"))).expect("a reference");
    read::parse(bytes.into()).expect("a reference that can be read").weights
}

fn network(name: &str) -> Network {
    Network::read(&folder().join(format!("{name}.onnx"))).expect("a network that can be read")
}

/// The largest difference as a share of the largest expected number.
fn off_by(found: &Tensor, expected: &Tensor) -> f64 {
    off_by_at_least(found, expected, f64::MIN_POSITIVE)
}

/// The largest magnitude in a tensor.
fn largest(tensor: &Tensor) -> f64 {
    tensor.to_f64().expect("numbers").iter().fold(0.0, |most, number| most.max(number.abs()))
}

/// The same as a share of `least`, should all expected numbers be smaller.
fn off_by_at_least(found: &Tensor, expected: &Tensor, least: f64) -> f64 {
    assert_eq!(found.shape(), expected.shape());
    let (found, expected) = (found.to_f64().expect("numbers"), expected.to_f64().expect("numbers"));
    let scale = expected.iter().fold(least, |most, number| most.max(number.abs()));
    found.iter().zip(&expected).fold(0.0, |most: f64, (a, b)| most.max((a - b).abs())) / scale
}

#[expect(clippy::print_stdout, reason = "a skipped test says so")]
/// An engine; onnxruntime only where it was found.
fn engine(choice: EngineChoice, threads: Option<usize>) -> Option<Engine> {
    let threads = threads.and_then(NonZeroUsize::new);
    let mut options = OpenOptions { choice, threads, ..OpenOptions::default() };
    options.places.variable = std::env::var_os("ORT_DYLIB_PATH").map(PathBuf::from);
    match Engine::choose(&options) {
        Ok(engine) => Some(engine),
        Err(error) => {
            println!("skipped: onnxruntime is not tested: {error}");
            None
        }
    }
}

#[test]
fn every_family_is_there_in_both_styles_of_export() {
    let names = names().join(" ");
    for family in [
        "resnet",
        "vgg",
        "squeezenet",
        "densenet",
        "mobilenet_v2",
        "mobilenet_v3",
        "efficientnet",
        "convnext",
        "regnet",
        "vit",
        "deit",
        "swin",
        "mixer",
        "clip",
    ] {
        for style in ["ts", "dynamo"] {
            let is_there =
                names.split(' ').any(|name| name.starts_with(family) && name.contains(style));
            assert!(is_there, "{family} is missing in the style {style}");
        }
    }
}

#[test]
fn the_evaluator_agrees_with_pytorch() {
    for name in names() {
        let (network, expected) = (network(&name), reference(&name));
        assert!(network.fixed_because().is_none(), "{name}: {:?}", network.fixed_because());
        let input = network.pictures().unwrap().name.clone();
        let derived = derive::derive(
            network.graph(),
            &Scalar::CrossEntropy,
            Reduction::Sum,
            std::slice::from_ref(&input),
        )
        .unwrap();
        let given = BTreeMap::from([
            (input, expected["input"].clone()),
            ("labels".to_owned(), expected["labels"].clone()),
        ]);
        let found = eval::run(&derived.graph, &given).unwrap();
        let logits = off_by(&found[&network.graph().outputs[0].name], &expected["logits"]);
        let gradient = off_by(&found[&derived.gradients[0]], &expected["input_gradient"]);
        assert!(logits < REFERENCE && gradient < REFERENCE, "{name}: {logits:e}, {gradient:e}");
    }
}

#[test]
fn rten_agrees_with_pytorch() {
    check_engine(EngineChoice::Rten);
}

#[test]
fn onnxruntime_agrees_with_pytorch() {
    check_engine(EngineChoice::OnnxRuntime);
}

fn check_engine(choice: EngineChoice) {
    if let Some(engine) = engine(choice, None) {
        for name in names() {
            let (network, expected) = (network(&name), reference(&name));
            let mut opened = network.open(&engine).expect("an engine that takes it");
            let answers = opened.answer(&expected["input"]).expect("answers");
            let answered = off_by(&answers, &expected["logits"]);
            let mut gradients = network
                .open_input_gradient(&Scalar::CrossEntropy, &engine)
                .expect("a gradient that the engine takes");
            let input = network.pictures().expect("pictures").name.clone();
            let inputs = [(input.as_str(), &expected["input"]), ("labels", &expected["labels"])];
            let found = gradients.run(&inputs).expect("gradients");
            let logits = off_by(&found.answers, &expected["logits"]);
            let loss = off_by(&found.loss, &expected["loss"]);
            let gradient = off_by(&found.gradient, &expected["input_gradient"]);
            assert!(
                answered < LOGITS && logits < LOGITS && loss < LOGITS && gradient < GRADIENT,
                "{name} in {}: {answered:e}, {logits:e}, {loss:e}, {gradient:e}",
                engine.name()
            );
        }
    }
}

#[test]
fn gradients_of_weights_agree_with_pytorch_with_frozen_and_live_batch_norm() {
    let modes = [("frozen", BatchNorm::Frozen), ("live", BatchNorm::Live)];
    for name in ["resnet_weights", "mobilenet_v3_weights", "efficientnet_weights", "vit_weights"] {
        for (mode, batch_norm) in modes {
            // A network without batch normalisation has nothing that could be live.
            if name == "vit_weights" && mode == "live" {
                continue;
            }
            check_weights(name, mode, batch_norm);
        }
    }
}

fn check_weights(name: &str, mode: &str, batch_norm: BatchNorm) {
    let expected = reference(&format!("{name}_{mode}"));
    let network = network(name);
    let trainable = network.trainable().expect("a network that can be rewritten");
    let network = network.unfolded().expect("a network that can be folded");
    let names: Vec<String> = expected
        .keys()
        .filter_map(|name| name.strip_prefix("gradient:"))
        .map(str::to_owned)
        .collect();
    assert_eq!(trainable, names, "{name}");
    let training = train::training(&network, &Scalar::CrossEntropy, &names, batch_norm)
        .expect("a training graph");
    let graph = &training.graph;

    let mut given = BTreeMap::from([
        (graph.inputs[0].name.clone(), expected["input"].clone()),
        ("labels".to_owned(), expected["labels"].clone()),
    ]);
    given.extend(training.weights.iter().map(|weight| (weight.name.clone(), weight.start.clone())));
    given.extend(
        training
            .statistics
            .iter()
            .map(|statistic| (statistic.name.clone(), statistic.start.clone())),
    );
    let mut wanted: Vec<(&str, Tensor)> = Vec::new();
    for weight in &training.weights {
        wanted.push((&weight.gradient, expected[&format!("gradient:{}", weight.name)].clone()));
    }
    for statistic in &training.statistics {
        let is_it = |name: &&String| name.ends_with(&format!(":{}", statistic.name));
        let key = expected.keys().find(is_it).expect("a reference for every statistic");
        wanted.push((&statistic.next, expected[key].clone()));
    }
    assert_eq!(training.statistics.is_empty(), batch_norm == BatchNorm::Frozen);

    // A bias in front of live batch normalisation has no effect: its gradient is zero but for
    // rounding, and is judged by the size of the others.
    let least = 1e-3 * wanted.iter().map(|(_, expected)| largest(expected)).fold(0.0, f64::max);
    let exact = eval::run(graph, &given).expect("a graph that can be evaluated");
    for (output, expected) in &wanted {
        let off = off_by_at_least(&exact[*output], expected, least);
        assert!(off < REFERENCE, "{name} {mode}, {output}: {off:e}");
    }
    let choices = [EngineChoice::Rten, EngineChoice::OnnxRuntime];
    for engine in choices.into_iter().filter_map(|choice| engine(choice, None)) {
        let mut session = engine.open_graph(graph).expect("a graph that the engine takes");
        let inputs: Vec<(&str, &Tensor)> =
            given.iter().map(|(name, tensor)| (name.as_str(), tensor)).collect();
        let found = session.run(&inputs).expect("a graph that runs");
        let outputs = session.outputs().iter().map(|port| port.name.as_str());
        let found: BTreeMap<&str, Tensor> = outputs.zip(found).collect();
        for (output, expected) in &wanted {
            let off = off_by_at_least(&found[output], expected, least);
            assert!(off < GRADIENT, "{name} {mode} in {}, {output}: {off:e}", engine.name());
        }
    }
}

#[test]
fn neither_batch_size_nor_threads_change_an_answer() {
    for choice in [EngineChoice::Rten, EngineChoice::OnnxRuntime] {
        for name in
            ["resnet_basic_ts11", "mobilenet_v3_dynamo20", "swin_ts17", "vit_timm_ts17_batch_1"]
        {
            let (network, expected) = (network(name), reference(name));
            let pictures = &expected["input"];
            let n_pictures = pictures.shape()[0];
            let mut all = Vec::new();
            for threads in [1, 2] {
                let Some(engine) = engine(choice, Some(threads)) else { return };
                let mut answers = network.open(&engine).unwrap();
                all.push(answers.answer(pictures).unwrap().to_f64().unwrap());
                let numbers = pictures.as_f32().unwrap();
                let one_by_one = numbers.chunks(numbers.len() / n_pictures).flat_map(|picture| {
                    let shape = [&[1], &pictures.shape()[1..]].concat();
                    let picture = Tensor::f32(shape, picture.to_vec()).unwrap();
                    answers.answer(&picture).unwrap().to_f64().unwrap()
                });
                all.push(one_by_one.collect());
            }
            for other in &all[1..] {
                let most =
                    all[0].iter().zip(other).fold(0.0, |most: f64, (a, b)| most.max((a - b).abs()));
                assert!(most < 1e-5, "{name}: {most:e}");
            }
        }
    }
}
