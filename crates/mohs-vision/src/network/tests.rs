//! Chunks, fillings, weights in other files, and gradients against ones worked out by hand.

use mohs_graph::build::Builder;
use mohs_graph::write;

use super::*;
use crate::engine::{EngineChoice, OpenOptions};

fn rten() -> Engine {
    let options = OpenOptions { choice: EngineChoice::Rten, ..OpenOptions::default() };
    Engine::choose(&options).unwrap()
}

/// Two logits: the sum of the red channel, and that of the green.
fn two_logits(batch: Dim) -> Graph {
    let mut builder = Builder::new("toy");
    let shape = vec![batch, Dim::known(3), Dim::known(2), Dim::known(2)];
    let x = builder.input("x", ElementType::F32, shape);
    let sums = builder.reduce_sum(&x, &[2, 3], false).unwrap();
    let weights = Tensor::f32(vec![3, 2], vec![1.0, 0.0, 0.0, 1.0, 0.0, 0.0]).unwrap();
    let weights = builder.weight("w", weights);
    let logits = builder.matmul(&sums, &weights).unwrap();
    builder.output_as(&logits, "logits").unwrap();
    builder.finish()
}

/// Pictures whose red is their number and whose green is 2.
fn pictures(n: u8) -> Tensor {
    let picture = |idx: u8| {
        let channel = |value: f32| [value; 4];
        [channel(f32::from(idx)), channel(2.0), channel(9.0)].concat()
    };
    Tensor::f32(vec![usize::from(n), 3, 2, 2], (0..n).flat_map(picture).collect()).unwrap()
}

#[test]
fn the_size_of_the_batch_makes_no_difference() {
    for batch in [Dim::symbol("batch"), Dim::known(1), Dim::known(2), Dim::known(4), Dim::known(9)]
    {
        let network = Network::from_graph(two_logits(batch.clone()));
        let answers = network.open(&rten()).unwrap().answer(&pictures(5)).unwrap();
        assert_eq!(answers.shape(), [5, 2], "{batch}");
        let expected: Vec<f32> = (0_u8..5).flat_map(|idx| [4.0 * f32::from(idx), 8.0]).collect();
        assert_eq!(answers.as_f32().unwrap(), expected, "{batch}");
    }
}

#[test]
fn the_gradient_of_a_logit_is_one_where_it_sums() {
    for batch in [Dim::symbol("batch"), Dim::known(2)] {
        let network = Network::from_graph(two_logits(batch));
        let mut gradients = network.open_input_gradient(&Scalar::Logit, &rten()).unwrap();
        assert_eq!(gradients.needs(), ["labels"]);
        let labels = Tensor::list(vec![0, 1, 1]);
        let found = gradients.run(&[("x", &pictures(3)), ("labels", &labels)]).unwrap();
        assert_eq!(found.loss.as_f32().unwrap(), [0.0, 8.0, 8.0]);
        assert_eq!(found.answers.shape(), [3, 2]);
        let (one, none) = ([1.0; 4], [0.0; 4]);
        let expected = [one, none, none, none, one, none, none, one, none].concat();
        assert_eq!(found.gradient.as_f32().unwrap(), expected);
    }
}

#[test]
fn fewer_labels_than_pictures_are_refused_however_the_batch_is_run() {
    for batch in [Dim::symbol("batch"), Dim::known(1), Dim::known(2)] {
        let network = Network::from_graph(two_logits(batch));
        let mut gradients = network.open_input_gradient(&Scalar::Logit, &rten()).unwrap();
        for labels in [Tensor::list(vec![0, 1]), Tensor::list(vec![]), Tensor::scalar(0.0)] {
            let error = gradients.run(&[("x", &pictures(3)), ("labels", &labels)]).unwrap_err();
            let is_about_labels = matches!(&error, NetworkError::Engine(EngineError::WrongInput { name, .. }) if name == "labels");
            assert!(is_about_labels, "{error}");
        }
    }
}

#[test]
fn weights_beside_the_file_are_read_and_others_are_not() {
    let place = tempfile::tempdir().unwrap();
    let graph = two_logits(Dim::symbol("batch"));
    let write = |location: &str| {
        let (model, weights) = write::to_bytes_with_weights(&graph, location).unwrap();
        std::fs::write(place.path().join("model.onnx"), model).unwrap();
        weights
    };
    let read = || Network::read(&place.path().join("model.onnx"));

    let weights = write("model.onnx.data");
    assert!(matches!(read(), Err(NetworkError::NotANetwork { .. })), "the file is missing");
    std::fs::write(place.path().join("model.onnx.data"), &weights).unwrap();
    let network = read().unwrap();
    assert_eq!(network.graph().weights["w"], graph.weights["w"]);
    std::fs::write(place.path().join("model.onnx.data"), &weights[..8]).unwrap();
    assert!(matches!(read(), Err(NetworkError::NotANetwork { .. })), "the file is too short");

    std::fs::write(place.path().join("other"), &weights).unwrap();
    let outside = place.path().join("other");
    for location in ["../other", "./../other", outside.to_str().unwrap()] {
        write(location);
        let NetworkError::NotANetwork { source, .. } = read().unwrap_err() else { panic!() };
        assert!(source.to_string().contains("only from files beside"), "{location}: {source}");
    }
}

#[test]
fn a_network_that_takes_no_pictures_says_what_it_takes() {
    let mut builder = Builder::new("words");
    let words = builder.input("words", ElementType::I64, vec![Dim::symbol("n")]);
    builder.output_as(&words, "again").unwrap();
    let network = Network::from_graph(builder.finish());
    assert!(matches!(network.pictures(), Err(NetworkError::NoPictures { .. })));
    let network = Network::from_graph(two_logits(Dim::known(1)));
    assert_eq!(network.picture_size().unwrap(), Some((2, 2)));
    assert_eq!(network.batch(), Batch::Fixed(1));
}
