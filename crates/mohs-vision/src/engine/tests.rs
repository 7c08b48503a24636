//! What both engines share: words, and the check of inputs before anything runs.

use mohs_graph::build::Builder;
use mohs_graph::{Dim, ElementType};

use super::*;

/// `y = x + shift` for pictures of 3 × 2 × 2, and the labels as they came.
fn toy() -> Graph {
    let mut builder = Builder::new("toy");
    let batch = Dim::symbol("batch");
    let known = Dim::known;
    let shape = vec![batch.clone(), known(3), known(2), known(2)];
    let x = builder.input("x", ElementType::F32, shape);
    let labels = builder.input("labels", ElementType::I64, vec![batch]);
    let shift = builder.scalar(0.5);
    let y = builder.add(&x, &shift).unwrap();
    builder.output_as(&y, "y").unwrap();
    builder.output_as(&labels, "again").unwrap();
    let is_dog = builder.list(&[1]);
    let is_dog = builder.compare("Equal", &labels, &is_dog).unwrap();
    builder.output_as(&is_dog, "is_dog").unwrap();
    builder.finish()
}

fn rten() -> Engine {
    let options = OpenOptions { choice: EngineChoice::Rten, ..OpenOptions::default() };
    Engine::choose(&options).unwrap()
}

fn pictures(shape: &[usize]) -> Tensor {
    let n = shape.iter().product();
    Tensor::f32(shape.to_vec(), vec![1.0; n]).unwrap()
}

#[track_caller]
fn refused(inputs: &[(&str, &Tensor)]) -> String {
    let mut session = rten().open_graph(&toy()).unwrap();
    session.run(inputs).unwrap_err().to_string()
}

#[test]
fn devices_are_read_as_people_write_them() {
    assert_eq!("cpu".parse(), Ok(Device::Cpu));
    assert_eq!("cuda".parse(), Ok(Device::Cuda(0)));
    assert_eq!("cuda:3".parse(), Ok(Device::Cuda(3)));
    for wrong in ["gpu", "cuda:", "cuda:-1", "cuda:x", "cuda3"] {
        let error = wrong.parse::<Device>().unwrap_err().to_string();
        assert_eq!(error, format!("expected `cpu`, `cuda` or `cuda:N`, found `{wrong}`"));
    }
}

#[test]
fn whole_numbers_and_truth_values_come_back_as_the_network_says() {
    let mut session = rten().open_graph(&toy()).unwrap();
    let labels = Tensor::i64(vec![2], vec![7, 1]).unwrap();
    let answers = session.run(&[("labels", &labels), ("x", &pictures(&[2, 3, 2, 2]))]).unwrap();
    assert_eq!(answers[0].as_f32(), Some(&[1.5; 24][..]));
    assert_eq!(answers[1], labels);
    assert_eq!(answers[2].element_type(), ElementType::Bool);
    assert_eq!(answers[2].to_i64(), Some(vec![0, 1]));
}

#[test]
fn a_picture_without_a_batch_is_refused_with_both_shapes() {
    let labels = Tensor::list(vec![0]);
    assert_eq!(
        refused(&[("x", &pictures(&[3, 2, 2])), ("labels", &labels)]),
        "the input `x` should be f32 [batch, 3, 2, 2], found f32 [3, 2, 2]"
    );
}

#[test]
fn a_missing_an_unknown_and_a_repeated_input_are_named() {
    let (x, labels) = (pictures(&[1, 3, 2, 2]), Tensor::list(vec![0]));
    assert_eq!(refused(&[("x", &x)]), "the input `labels` should be i64 [batch], found nothing");
    assert_eq!(
        refused(&[("x", &x), ("label", &labels)]),
        "the input `label` should be one of the network's inputs (x, labels), \
         found a name it does not have"
    );
    assert_eq!(
        refused(&[("x", &x), ("labels", &labels), ("x", &x)]),
        "the input `x` should be given once, found f32 [1, 3, 2, 2]"
    );
}

#[test]
fn a_symbol_has_one_size_in_a_run() {
    let labels = Tensor::list(vec![0, 1]);
    assert_eq!(
        refused(&[("x", &pictures(&[3, 3, 2, 2])), ("labels", &labels)]),
        "the input `labels` should be i64 [batch], found i64 [2]"
    );
}

#[test]
fn a_number_of_another_type_is_refused() {
    let labels = pictures(&[1]);
    assert_eq!(
        refused(&[("x", &pictures(&[1, 3, 2, 2])), ("labels", &labels)]),
        "the input `labels` should be i64 [batch], found f32 [1]"
    );
}

#[test]
fn a_label_beyond_32_bits_does_not_wrap_around() {
    let labels = Tensor::list(vec![1 << 32]);
    assert_eq!(
        refused(&[("x", &pictures(&[1, 3, 2, 2])), ("labels", &labels)]),
        "the input `labels` should be whole numbers of at most 32 bits for the engine rten, \
         found larger ones"
    );
}

#[test]
fn rten_has_no_graphics_card() {
    let options = OpenOptions {
        choice: EngineChoice::Rten,
        device: Device::Cuda(1),
        ..OpenOptions::default()
    };
    let error = Engine::choose(&options).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the engine rten cannot compute on cuda:1: it computes on the processor only"
    );
    assert!(error.remedy().unwrap().contains("--device cpu"));
}

#[test]
fn auto_takes_rten_where_there_is_no_library_and_says_why() {
    let places = Places { variable: Some("no/such/file".into()), ..Places::default() };
    let engine = Engine::choose(&OpenOptions { places, ..OpenOptions::default() }).unwrap();
    assert_eq!(engine.name(), "rten");
    assert!(matches!(engine.passed_over(), Some(EngineError::NotALibrary { .. })));
}

#[test]
fn bytes_that_are_no_network_are_refused() {
    for bytes in [&b""[..], b"\x89PNG\r\n\x1a\n", b"not a network", &[0x08]] {
        let error = rten().open(bytes).unwrap_err();
        assert!(matches!(error, EngineError::Unreadable(_)), "{error}");
    }
}

#[test]
fn an_operator_that_the_engine_lacks_is_named() {
    let mut graph = toy();
    graph.nodes[0].op = "Sharpen".to_owned();
    let error = rten().open_graph(&graph).unwrap_err();
    assert!(matches!(error, EngineError::CannotLoad { .. }), "{error}");
    assert!(error.to_string().contains("Sharpen"), "{error}");
}

#[test]
fn the_version_of_rten_is_the_one_that_is_built_in() {
    let lock = include_str!("../../../../Cargo.lock");
    let entry = format!("name = \"rten\"\nversion = \"{}\"", rten().version());
    assert!(lock.contains(&entry), "Cargo.lock has another version of rten");
}
