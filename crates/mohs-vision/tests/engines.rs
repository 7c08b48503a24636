//! Both engines on the same networks: the same numbers, the same refusals.
//!
//! Needs the library of ONNX Runtime in `ORT_DYLIB_PATH`; where there is none, the tests say so.

use std::num::NonZeroUsize;
use std::path::Path;

use mohs_graph::build::{BuildError, Builder};
use mohs_graph::{Attribute, Dim, ElementType, Graph, Tensor};
use mohs_vision::engine::{
    Device, Engine, EngineChoice, EngineError, OpenOptions, Places, Session,
};

/// How to open networks in ONNX Runtime, or says why the test does nothing.
#[expect(clippy::print_stdout, reason = "a skipped test says so")]
fn onnxruntime() -> Option<OpenOptions> {
    let variable = std::env::var_os("ORT_DYLIB_PATH").map(Into::into);
    if variable.is_none() {
        println!("skipped: ORT_DYLIB_PATH names no library of ONNX Runtime");
        return None;
    }
    let places = Places { variable, ..Places::default() };
    Some(OpenOptions { choice: EngineChoice::OnnxRuntime, places, ..OpenOptions::default() })
}

fn rten() -> OpenOptions {
    OpenOptions { choice: EngineChoice::Rten, ..OpenOptions::default() }
}

fn all() -> Vec<OpenOptions> {
    std::iter::once(rten()).chain(onnxruntime()).collect()
}

fn opened(options: &OpenOptions, graph: &Graph) -> Session {
    Engine::choose(options)
        .and_then(|engine| engine.open_graph(graph))
        .expect("because the network is sound and the engine was found")
}

/// A convolution, a rectifier and the strongest class; labels pass through a comparison.
fn small_classifier() -> Graph {
    built().expect("because shapes fit")
}

fn built() -> Result<Graph, BuildError> {
    let mut builder = Builder::new("small");
    let batch = Dim::symbol("batch");
    let shape = [3, 8, 8].map(Dim::known);
    let x = builder.input("x", ElementType::F32, [&[batch.clone()][..], &shape].concat());
    let labels = builder.input("labels", ElementType::I64, vec![batch]);
    let weights: Vec<f32> = (0_u8..135).map(|n| f32::from(n % 17) / 17.0 - 0.4).collect();
    let weights = builder
        .weight("w", Tensor::f32(vec![5, 3, 3, 3], weights).expect("because there are as many"));
    let y = builder.op("Conv", &[&x, &weights], vec![])?;
    let y = builder.unary("Relu", &y)?;
    let logits = builder.reduce("ReduceMean", &y, &[2, 3], false)?;
    builder.output_as(&logits, "logits")?;
    let settings = vec![("axis", Attribute::Int(1)), ("keepdims", Attribute::Int(0))];
    let strongest = builder.op("ArgMax", &[&logits], settings)?;
    builder.output_as(&strongest, "strongest")?;
    let is_right = builder.compare("Equal", &strongest, &labels)?;
    builder.output_as(&is_right, "is_right")?;
    Ok(builder.finish())
}

fn pictures(n: usize) -> Tensor {
    let mut state = 1_u32;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        f32::from(u8::try_from(state >> 24).unwrap_or(0)) / 255.0
    };
    let values = (0..n * 3 * 8 * 8).map(|_| next()).collect();
    Tensor::f32(vec![n, 3, 8, 8], values).expect("because there are as many")
}

fn run(session: &mut Session, n: usize) -> Vec<Tensor> {
    let labels = Tensor::list(vec![0; n]);
    session.run(&[("x", &pictures(n)), ("labels", &labels)]).expect("because the inputs fit")
}

#[test]
fn both_engines_give_the_same_numbers_in_the_order_of_the_network() {
    let graph = small_classifier();
    for options in all() {
        let mut session = opened(&options, &graph);
        let answers = run(&mut session, 4);
        let expected = run(&mut opened(&rten(), &graph), 4);
        assert_eq!(answers.len(), 3);
        assert_eq!(answers[1..], expected[1..], "{}", session.engine());
        assert_eq!(answers[0].shape(), [4, 5]);
        for (found, expected) in
            answers[0].as_f32().unwrap().iter().zip(expected[0].as_f32().unwrap())
        {
            assert!((found - expected).abs() < 1e-5, "{}", session.engine());
        }
    }
}

#[test]
fn answers_do_not_depend_on_the_number_of_threads() {
    for options in all() {
        let with = |n| OpenOptions { threads: NonZeroUsize::new(n), ..options.clone() };
        let one = run(&mut opened(&with(1), &small_classifier()), 6);
        let two = run(&mut opened(&with(2), &small_classifier()), 6);
        for (one, two) in one[0].as_f32().unwrap().iter().zip(two[0].as_f32().unwrap()) {
            assert!((one - two).abs() < 1e-6);
        }
        assert_eq!(one[1..], two[1..]);
    }
}

#[test]
fn a_rank_that_does_not_fit_is_refused_before_the_engine_sees_it() {
    for options in all() {
        let mut session = opened(&options, &small_classifier());
        let flat = Tensor::f32(vec![3, 8, 8], vec![0.0; 192]).unwrap();
        let error = session.run(&[("x", &flat), ("labels", &Tensor::list(vec![0]))]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "the input `x` should be f32 [batch, 3, 8, 8], found f32 [3, 8, 8]"
        );
    }
}

#[test]
fn an_operator_that_no_engine_has_is_named_by_both() {
    let mut graph = small_classifier();
    graph.nodes[1].op = "Sharpen".to_owned();
    for options in all() {
        let error = Engine::choose(&options).unwrap().open_graph(&graph).unwrap_err();
        assert!(matches!(error, EngineError::CannotLoad { .. }), "{error}");
        assert!(error.to_string().contains("Sharpen"), "{error}");
        assert!(error.remedy().is_some());
    }
}

#[test]
fn an_operator_of_somebody_elses_is_said_to_be_one() {
    let mut graph = small_classifier();
    graph.nodes[1].op = "Sharpen".to_owned();
    graph.nodes[1].domain = "com.example".to_owned();
    for options in all() {
        let error = Engine::choose(&options).unwrap().open_graph(&graph).unwrap_err();
        assert!(matches!(error, EngineError::PrivateOperator { .. }), "{error}");
        assert!(error.to_string().contains("com.example"), "{error}");
        assert!(error.remedy().unwrap().contains("not part of ONNX"));
    }
}

#[test]
fn a_network_that_contradicts_itself_is_an_error_and_no_crash() {
    let mut graph = small_classifier();
    // Weights for four channels, where pictures have three.
    let weights = Tensor::f32(vec![5, 4, 3, 3], vec![0.5; 180]).unwrap();
    graph.weights.insert("w".to_owned(), weights);
    for options in all() {
        let engine = Engine::choose(&options).unwrap();
        let labels = Tensor::list(vec![0]);
        let outcome = engine
            .open_graph(&graph)
            .and_then(|mut session| session.run(&[("x", &pictures(1)), ("labels", &labels)]));
        let error = outcome.unwrap_err();
        assert!(
            matches!(error, EngineError::CannotLoad { .. } | EngineError::Failed { .. }),
            "{error}"
        );
    }
}

#[test]
fn a_card_that_the_library_cannot_use_is_named_with_the_remedy() {
    let Some(options) = onnxruntime() else { return };
    let engine = Engine::choose(&options).unwrap();
    if engine.devices().contains(&"cuda".to_owned()) {
        return;
    }
    let options = OpenOptions { device: Device::Cuda(0), ..options };
    let error = Engine::choose(&options).unwrap().open_graph(&small_classifier()).unwrap_err();
    assert!(matches!(error, EngineError::NoDevice { .. }), "{error}");
    assert!(error.remedy().unwrap().contains("pip install onnxruntime-gpu"));
}

#[test]
fn the_library_is_loaded_once_and_says_its_version() {
    let Some(options) = onnxruntime() else { return };
    let engine = Engine::choose(&options).unwrap();
    assert_eq!(engine.name(), "onnxruntime");
    assert!(engine.version().starts_with("1."), "{}", engine.version());
    assert_eq!(engine.library(), Engine::choose(&options).unwrap().library());
    assert!(engine.library().is_some_and(Path::is_absolute));
}
