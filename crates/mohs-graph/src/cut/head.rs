//! Replacing the classifier: the last layer that mixes features into classes.
//!
//! It is looked for backwards from the first output, through steps that keep classes apart, such
//! as a softmax, a mean over the picture or a change of shape.

use super::CutError;
use crate::fold::remove_dead;
use crate::graph::{Attribute, Graph, Node};
use crate::infer;
use crate::tensor::Tensor;

/// A new classifier.
#[derive(Clone, PartialEq, Debug)]
pub struct HeadSpec {
    /// How many classes it tells apart.
    pub n_classes: usize,
    /// Its weights, `[n_classes, n_features]`.
    pub weights: Tensor,
    /// Its bias, `[n_classes]`.
    pub bias: Tensor,
}

/// A network with a new classifier.
#[derive(Clone, PartialEq, Debug)]
pub struct Headed {
    /// The network.
    pub graph: Graph,
    /// The value that the classifier works on.
    pub features: String,
    /// The value that the classifier makes.
    pub logits: String,
    /// The name of its weights, which the graph may hold in another order.
    pub weights: String,
    /// The name of its bias.
    pub bias: String,
}

/// The classifier of a network.
struct Found {
    /// The node that multiplies by the weights.
    product_idx: usize,
    /// The node that adds the bias, where that is another.
    bias_idx: Option<usize>,
    n_features: usize,
    n_classes: usize,
}

/// Returns the name of the value that the classifier works on: the features before the last layer.
pub fn features(graph: &Graph) -> Result<String, CutError> {
    let found = find(graph)?;
    Ok(graph.nodes[found.product_idx].inputs[0].clone())
}

/// Replaces the classifier of a network.
pub fn head(graph: Graph, spec: HeadSpec) -> Result<Headed, CutError> {
    let found = find(&graph)?;
    check("weights", &[spec.n_classes, found.n_features], &spec.weights)?;
    check("bias", &[spec.n_classes], &spec.bias)?;

    let mut graph = graph;
    let (weights, bias) = (free_name(&graph, "head.weight"), free_name(&graph, "head.bias"));
    let (n_classes, n_features) = (spec.n_classes, found.n_features);
    let product = &mut graph.nodes[found.product_idx];
    let features = product.inputs[0].clone();
    let mut tensor = spec.weights;
    match product.op.as_str() {
        "Gemm" => {
            for setting in ["alpha", "beta"] {
                product.attributes.remove(setting);
            }
            product.attributes.insert("transB".to_owned(), Attribute::Int(1));
            product.inputs = vec![features.clone(), weights.clone(), bias.clone()];
        }
        "Conv" => {
            let mut shape = vec![n_classes, n_features];
            let rank = graph.weights.get(&product.inputs[1]).map_or(4, |old| old.shape().len());
            shape.resize(rank, 1);
            tensor = tensor.reshaped(shape).expect("because the weights were checked");
            product.inputs = vec![features.clone(), weights.clone(), bias.clone()];
        }
        _ => {
            tensor = transposed(&tensor, n_classes, n_features);
            product.inputs[1].clone_from(&weights);
            let made = product.outputs[0].clone();
            match found.bias_idx {
                Some(idx) => graph.nodes[idx].inputs = vec![made, bias.clone()],
                None => {
                    // The product gives its name to the sum, which others use.
                    let inner = free_name(&graph, &format!("{made}.product"));
                    graph.nodes[found.product_idx].outputs[0].clone_from(&inner);
                    let sum = Node {
                        name: format!("{made}.bias"),
                        ..Node::new("Add", &[&inner, &bias], &[&made])
                    };
                    graph.nodes.insert(found.product_idx + 1, sum);
                }
            }
        }
    }
    let last = found.bias_idx.unwrap_or(found.product_idx);
    let logits = match (graph.nodes[found.product_idx].op.as_str(), found.bias_idx) {
        ("MatMul", None) => graph.nodes[found.product_idx + 1].outputs[0].clone(),
        _ => graph.nodes[last].outputs[0].clone(),
    };
    graph.weights.insert(weights.clone(), tensor);
    graph.weights.insert(bias.clone(), spec.bias);
    fix_targets(&mut graph, last, found.n_classes, n_classes);
    graph.notes.clear();
    for port in &mut graph.outputs {
        port.shape = None;
    }
    let facts = infer::facts(&graph)?;
    for port in &mut graph.outputs {
        port.shape = facts.get(&port.name).and_then(|fact| fact.shape.clone());
    }
    Ok(Headed { graph: remove_dead(graph), features, logits, weights, bias })
}

fn free_name(graph: &Graph, like: &str) -> String {
    let names = graph.value_names();
    let mut name = like.to_owned();
    while names.contains(name.as_str()) {
        name.push('_');
    }
    name
}

fn check(what: &'static str, expected: &[usize], tensor: &Tensor) -> Result<(), CutError> {
    if tensor.shape() == expected && tensor.as_f32().is_some() {
        return Ok(());
    }
    let (expected, found) = (expected.to_vec(), tensor.shape().to_vec());
    Err(CutError::WrongShape { what, expected, found })
}

fn transposed(tensor: &Tensor, n_rows: usize, n_columns: usize) -> Tensor {
    let numbers = tensor.as_f32().expect("because the weights were checked");
    let mut turned = Vec::with_capacity(numbers.len());
    for column in 0..n_columns {
        turned.extend((0..n_rows).map(|row| numbers[row * n_columns + column]));
    }
    Tensor::f32(vec![n_columns, n_rows], turned).expect("because no number was lost")
}

/// Looks for the classifier, backwards from the first output.
fn find(graph: &Graph) -> Result<Found, CutError> {
    let output = graph.outputs.first().map_or("", |port| port.name.as_str());
    let none = |found: String| CutError::NoHead { output: output.to_owned(), found };
    let makers = graph.makers();
    let mut value = output;
    loop {
        let Some(&idx) = makers.get(value) else {
            return Err(none(format!("the value `{value}`, which no node makes")));
        };
        let node = &graph.nodes[idx];
        let weight = |idx: usize| node.input(idx).and_then(|name| graph.weights.get(name));
        let step_over = || node.input(0).ok_or_else(|| none(described(node)));
        match node.op.as_str() {
            "Identity" | "Softmax" | "LogSoftmax" | "Sigmoid" | "Reshape" | "Flatten"
            | "Squeeze" | "Relu" | "GlobalAveragePool" | "AveragePool" | "ReduceMean" | "Cast" => {
                value = step_over()?;
            }
            "Gemm" => {
                let is_turned = node.int("transB").unwrap_or(0) != 0;
                return match weight(1).map(Tensor::shape) {
                    Some(&[rows, columns]) if node.int("transA").unwrap_or(0) == 0 => {
                        let (n_features, n_classes) =
                            if is_turned { (columns, rows) } else { (rows, columns) };
                        Ok(Found { product_idx: idx, bias_idx: None, n_features, n_classes })
                    }
                    _ => Err(none(described(node))),
                };
            }
            "Conv" => {
                return match weight(1).map(Tensor::shape) {
                    Some(&[n_classes, n_features, ref window @ ..])
                        if window.iter().all(|&size| size == 1)
                            && node.int("group").unwrap_or(1) == 1 =>
                    {
                        Ok(Found { product_idx: idx, bias_idx: None, n_features, n_classes })
                    }
                    _ => Err(none(described(node))),
                };
            }
            "MatMul" => {
                return match weight(1).map(Tensor::shape) {
                    Some(&[n_features, n_classes]) => {
                        Ok(Found { product_idx: idx, bias_idx: None, n_features, n_classes })
                    }
                    _ => Err(none(described(node))),
                };
            }
            "Add" => {
                let product = node.inputs.iter().find_map(|name| {
                    let product_idx = *makers.get(name.as_str())?;
                    (graph.nodes[product_idx].op == "MatMul").then_some(product_idx)
                });
                let is_bias = weight(0).or_else(|| weight(1)).is_some();
                let of_product = product.filter(|_| is_bias).and_then(|product_idx| {
                    let weights = graph.weights.get(graph.nodes[product_idx].input(1)?)?;
                    match weights.shape() {
                        &[n_features, n_classes] => Some((product_idx, n_features, n_classes)),
                        _ => None,
                    }
                });
                let (product_idx, n_features, n_classes) =
                    of_product.ok_or_else(|| none(described(node)))?;
                return Ok(Found { product_idx, bias_idx: Some(idx), n_features, n_classes });
            }
            _ => return Err(none(described(node))),
        }
    }
}

fn described(node: &Node) -> String {
    format!("node `{}` ({})", node.label(), node.full_op())
}

/// Shapes behind the classifier that name the old number of classes get the new one.
fn fix_targets(graph: &mut Graph, from: usize, n_old: usize, n_new: usize) {
    let (Ok(n_old), Ok(n_new)) = (i64::try_from(n_old), i64::try_from(n_new)) else {
        return;
    };
    for idx in from..graph.nodes.len() {
        let node = &graph.nodes[idx];
        let target = node.input(1).filter(|_| node.op == "Reshape");
        let numbers = target.and_then(|name| graph.weights.get(name)?.as_i64());
        let Some(numbers) = numbers.filter(|numbers| numbers.contains(&n_old)) else {
            continue;
        };
        let changed: Vec<i64> =
            numbers.iter().map(|&n| if n == n_old { n_new } else { n }).collect();
        let name = free_name(graph, &format!("{}.target", node.outputs[0]));
        graph.weights.insert(name.clone(), Tensor::list(changed));
        graph.nodes[idx].inputs[1] = name;
    }
}
