//! Networks as PyTorch exports them, read, brought into the house dialect, made smaller and given a
//! free batch: every shape is known, and the answers stay PyTorch's.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use mohs_graph::{Dim, Graph, Tensor, batch, cut, eval, fold, infer, normalise, read};

/// Answers may differ by this share of the largest.
const TOLERANCE: f64 = 1e-4;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../mohs-vision/tests/fixtures/networks")
}

fn read_file(path: &Path) -> Graph {
    let bytes = std::fs::read(path).expect("because the fixture was listed");
    let graph = read::parse_with(bytes.into(), &mut |external| {
        let bytes = std::fs::read(folder().join(&external.location));
        let bytes = bytes.map_err(|error| error.to_string())?;
        let start = usize::try_from(external.offset).map_err(|error| error.to_string())?;
        let length = external.length.and_then(|length| usize::try_from(length).ok());
        let end = length.map_or(bytes.len(), |length| start + length);
        Ok(bytes::Bytes::from(bytes).slice(start..end))
    });
    graph.unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Every network with a reference, in the house dialect, and the reference.
fn networks() -> Vec<(String, Graph, BTreeMap<String, Tensor>)> {
    let mut found = Vec::new();
    let entries = std::fs::read_dir(folder()).expect("because the fixtures are committed");
    let names: BTreeSet<String> = entries
        .map(|entry| entry.expect("because the folder can be read").file_name())
        .map(|name| name.to_string_lossy().into_owned())
        .collect();
    for name in &names {
        let Some(stem) = name.strip_suffix(".reference.onnx") else {
            continue;
        };
        let reference = read_file(&folder().join(name)).weights;
        let network = format!("{}.onnx", stem.strip_suffix("_frozen").unwrap_or(stem));
        if names.contains(&network) {
            let graph = normalise::normalise(read_file(&folder().join(network)));
            let graph = graph.unwrap_or_else(|error| panic!("{stem}: {error}"));
            found.push((stem.to_owned(), graph, reference));
        }
    }
    assert!(30 < found.len(), "only {} fixtures were found", found.len());
    found
}

/// Compares the answers of a network that takes any batch with PyTorch's.
fn check_answers(stem: &str, graph: &Graph, reference: &BTreeMap<String, Tensor>) {
    let inputs = BTreeMap::from([("input".to_owned(), reference["input"].clone())]);
    let found = eval::run(graph, &inputs).unwrap_or_else(|error| panic!("{stem}: {error}"));
    let (found, expected) = (&found["logits"], &reference["logits"]);
    assert_eq!(found.shape(), expected.shape(), "{stem}");
    let numbers = |tensor: &Tensor| tensor.to_f64().expect("because logits are floats");
    let (found, expected) = (numbers(found), numbers(expected));
    let largest = expected.iter().fold(0.0_f64, |largest, number| largest.max(number.abs()));
    for (found, expected) in found.iter().zip(expected) {
        assert!((found - expected).abs() <= TOLERANCE * largest, "{stem}: {found} {expected}");
    }
}

fn is_free(graph: &Graph) -> bool {
    batch::batch_symbol(graph).is_some()
}

#[test]
fn every_shape_of_every_network_is_known() {
    for (stem, graph, _) in networks() {
        let facts = infer::facts(&graph).unwrap_or_else(|error| panic!("{stem}: {error}"));
        for (name, fact) in facts {
            let shape = fact.shape.unwrap_or_else(|| panic!("{stem}: `{name}` has no shape"));
            let symbols: BTreeSet<&String> = shape.iter().flat_map(Dim::symbols).collect();
            assert!(symbols.iter().all(|symbol| *symbol == "batch"), "{stem}: `{name}` {shape:?}");
        }
    }
}

#[test]
fn a_network_in_the_house_dialect_answers_as_pytorch() {
    for (stem, graph, reference) in networks() {
        if is_free(&graph) {
            check_answers(&stem, &graph, &reference);
        }
    }
}

#[test]
fn a_smaller_network_answers_as_pytorch() {
    for (stem, graph, reference) in networks() {
        let n_before = graph.nodes.len();
        let small = fold::simplify(graph).unwrap_or_else(|error| panic!("{stem}: {error}"));
        assert!(small.nodes.len() <= n_before, "{stem}");
        if is_free(&small) {
            check_answers(&stem, &small, &reference);
        }
    }
}

#[test]
fn a_network_with_a_freed_batch_answers_as_pytorch() {
    let mut n_freed = 0;
    for (stem, graph, reference) in networks() {
        if is_free(&graph) {
            continue;
        }
        let folded =
            fold::simplify(graph.clone()).unwrap_or_else(|error| panic!("{stem}: {error}"));
        for graph in [graph, folded] {
            let free = batch::free_batch(graph).unwrap_or_else(|error| panic!("{stem}: {error}"));
            assert!(is_free(&free));
            check_answers(&stem, &free, &reference);
            check_answers(&stem, &fold::simplify(free).expect("because it ran"), &reference);
            n_freed += 1;
        }
    }
    assert!(8 <= n_freed, "only {n_freed} networks had a batch to free");
}

#[test]
fn the_classifier_of_every_network_is_found_unless_it_has_two() {
    for (stem, graph, _) in networks() {
        let small = fold::simplify(graph).unwrap_or_else(|error| panic!("{stem}: {error}"));
        let wrong = cut::HeadSpec {
            n_classes: 2,
            weights: Tensor::scalar(0.0),
            bias: Tensor::f32(vec![2], vec![0.0; 2]).expect("because two numbers are two"),
        };
        // The refusal says how many features there are.
        let n_features = match cut::head(small.clone(), wrong) {
            Err(cut::CutError::WrongShape { expected, .. }) => expected[1],
            other if stem.contains("deit") || stem.starts_with("odd_") => {
                assert!(matches!(other, Err(cut::CutError::NoHead { .. })), "{stem}: {other:?}");
                continue;
            }
            other => panic!("{stem}: {other:?}"),
        };
        let spec = cut::HeadSpec {
            n_classes: 2,
            weights: Tensor::f32(vec![2, n_features], vec![0.0; 2 * n_features])
                .expect("because there are as many"),
            bias: Tensor::f32(vec![2], vec![1.0, 3.0]).expect("because two numbers are two"),
        };
        let headed = cut::head(small, spec).unwrap_or_else(|error| panic!("{stem}: {error}"));
        let shape = headed.graph.outputs[0].shape.clone().expect("because it was known before");
        assert_eq!(shape.last(), Some(&Dim::known(2)), "{stem}");
        let features = cut::cut(headed.graph, &[&headed.features]);
        assert!(features.is_ok(), "{stem}");
    }
}

/// Networks with damage that a reader cannot see: settings, shapes and names that do not fit.
mod damaged {
    use mohs_graph::{Attribute, ElementType};
    use proptest::prelude::*;

    use super::*;

    #[derive(Clone, Debug)]
    enum Damage {
        Setting(usize, i64),
        Settings(usize, usize, i64),
        Input(usize, usize, usize),
        List(usize, usize, i64),
        Operator(usize, usize),
        Dimension(usize, i64),
    }

    fn number() -> impl Strategy<Value = i64> {
        prop_oneof![-3_i64..9, Just(i64::MAX), Just(i64::MIN), Just(1 << 33), Just(-1000),]
    }

    fn damage() -> impl Strategy<Value = Damage> {
        let any = 0_usize..1000;
        prop_oneof![
            (any.clone(), number()).prop_map(|(node, n)| Damage::Setting(node, n)),
            (any.clone(), any.clone(), number())
                .prop_map(|(node, i, n)| Damage::Settings(node, i, n)),
            (any.clone(), any.clone(), any.clone())
                .prop_map(|(node, i, n)| Damage::Input(node, i, n)),
            (any.clone(), any.clone(), number()).prop_map(|(list, i, n)| Damage::List(list, i, n)),
            (any.clone(), any).prop_map(|(node, other)| Damage::Operator(node, other)),
            (0_usize..4, number()).prop_map(|(axis, n)| Damage::Dimension(axis, n)),
        ]
    }

    fn apply(graph: &mut Graph, damage: &Damage) {
        let n_nodes = graph.nodes.len();
        match *damage {
            Damage::Setting(node, number) => {
                for value in graph.nodes[node % n_nodes].attributes.values_mut() {
                    if let Attribute::Int(old) = value {
                        *old = number;
                    }
                }
            }
            Damage::Settings(node, idx, number) => {
                for value in graph.nodes[node % n_nodes].attributes.values_mut() {
                    if let Attribute::Ints(old) = value
                        && !old.is_empty()
                    {
                        let idx = idx % old.len();
                        old[idx] = number;
                    }
                }
            }
            Damage::Input(node, idx, other) => {
                let names: Vec<String> = graph
                    .weights
                    .keys()
                    .chain(graph.inputs.iter().map(|port| &port.name))
                    .cloned()
                    .collect();
                let node = &mut graph.nodes[node % n_nodes];
                if !node.inputs.is_empty() {
                    let idx = idx % node.inputs.len();
                    node.inputs[idx].clone_from(&names[other % names.len()]);
                }
            }
            Damage::List(list, idx, number) => {
                let lists: Vec<String> = graph
                    .weights
                    .iter()
                    .filter(|(_, tensor)| {
                        tensor.element_type() == ElementType::I64 && !tensor.is_empty()
                    })
                    .map(|(name, _)| name.clone())
                    .collect();
                if let Some(name) = lists.get(list % lists.len().max(1)) {
                    let tensor = &graph.weights[name];
                    let mut numbers = tensor.to_i64().expect("because it was chosen so");
                    let idx = idx % numbers.len();
                    numbers[idx] = number;
                    let tensor = Tensor::i64(tensor.shape().to_vec(), numbers);
                    graph.weights.insert(name.clone(), tensor.expect("because the length is kept"));
                }
            }
            Damage::Operator(node, other) => {
                let op = graph.nodes[other % n_nodes].op.clone();
                graph.nodes[node % n_nodes].op = op;
            }
            Damage::Dimension(axis, number) => {
                if let Some(shape) = &mut graph.inputs[0].shape
                    && let Some(dim) = shape.get_mut(axis)
                {
                    *dim = Dim::known(number.max(0));
                }
            }
        }
    }

    const NAMES: &[&str] = &[
        "odd_layers_ts16",
        "odd_tokens_ts14",
        "swin_timm_ts17_batch_1",
        "vit_ts17_batch_1",
        "resnet_weights",
        "shufflenet_ts13_batch_1",
    ];

    proptest! {
        #![proptest_config(ProptestConfig { cases: 300, max_shrink_iters: 200, ..ProptestConfig::default() })]
        #[test]
        fn a_damaged_network_is_refused_or_used_without_panic(
            name in prop::sample::select(NAMES),
            damages in prop::collection::vec(damage(), 1..4),
        ) {
            let mut graph = read_file(&folder().join(format!("{name}.onnx")));
            for damage in &damages {
                apply(&mut graph, damage);
            }
            if let Ok(graph) = normalise::normalise(graph) {
                let small = fold::simplify(graph.clone());
                for graph in [Ok(graph), small].into_iter().flatten() {
                    if let Ok(free) = batch::free_batch(graph) {
                        prop_assert!(is_free(&free));
                        prop_assert!(infer::facts(&free).is_ok());
                    }
                }
            }
        }
    }
}
