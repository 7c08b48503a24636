//! Making a graph smaller without changing what it computes: folding constants, taking out nodes
//! that do nothing, joining equal ones, and folding batch normalisation into the layer before it.
//!
//! Works on graphs in the house dialect. Numbers change by no more than rounding. Weights that the
//! caller wants to keep, because they are to be trained, are not folded into others.

mod batch_norm;
mod constant;
mod shortcut;

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use crate::graph::{Attribute, Graph, Node};
use crate::infer::InferError;
use crate::normalise::branch;
use crate::rewrite::{Rewriter, rename_inputs, uses};
use crate::tensor::{ElementType, Tensor};

pub use batch_norm::{fold_batch_norms, fold_lonely_batch_norms};

/// Sweeps over the graph stop here, should one ever undo another.
const MAX_SWEEPS: usize = 12;

/// Makes a graph as small as it can be.
pub fn simplify(graph: Graph) -> Result<Graph, InferError> {
    simplify_keeping(graph, &BTreeSet::new())
}

/// Makes a graph as small as it can be while weights of these names stay as they are.
///
/// A batch normalisation whose own weights, or those of the layer before it, are to be kept stays.
pub fn simplify_keeping(graph: Graph, keep: &BTreeSet<String>) -> Result<Graph, InferError> {
    let graph = tidy(graph, keep)?;
    let folded = fold_batch_norms(graph.clone(), keep)?;
    if folded.nodes.len() == graph.nodes.len() { Ok(folded) } else { tidy(folded, keep) }
}

/// Folds constants and takes out what does nothing, until nothing changes any more.
fn tidy(graph: Graph, keep: &BTreeSet<String>) -> Result<Graph, InferError> {
    let mut graph = remove_dead(graph);
    for _ in 0..MAX_SWEEPS {
        let before = graph.nodes.clone();
        graph = name_outputs(remove_dead(sweep(graph, keep)?));
        if graph.nodes == before {
            break;
        }
    }
    Ok(graph)
}

/// Looks at each node once, in order.
fn sweep(graph: Graph, keep: &BTreeSet<String>) -> Result<Graph, InferError> {
    let outputs: BTreeSet<String> = graph.outputs.iter().map(|port| port.name.clone()).collect();
    let mut aliases = equal_constants(&graph, keep, &outputs);
    let mut seen: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let (mut out, nodes) = Rewriter::new(graph);
    let mut queue = VecDeque::from(nodes);
    while let Some(mut node) = queue.pop_front() {
        rename_inputs(&mut node, &aliases);
        if node.op == "If"
            && let Some(taken) = branch::taken(&out, &node)
        {
            for node in branch::inlined(&mut out, &node, taken)?.into_iter().rev() {
                queue.push_front(node);
            }
            continue;
        }
        if let Some(constants) = constant::values(&out, &node, keep)? {
            for (name, tensor) in node.outputs.iter().zip(constants) {
                if !name.is_empty() {
                    out.insert_weight(name.clone(), tensor);
                }
            }
            continue;
        }
        constant::settle_shape(&mut out, &mut node)?;
        shortcut::join(&out, &mut node);

        let same_as = shortcut::same_as_input(&out, &node)?.map(|name| vec![name]);
        let key = key(&node);
        let same_as = same_as.or_else(|| key.as_ref().and_then(|key| seen.get(key).cloned()));
        if let Some(values) = same_as {
            for (name, value) in node.outputs.iter().zip(values) {
                if outputs.contains(name) {
                    out.push(Node {
                        name: node.name.clone(),
                        ..Node::new("Identity", &[&value], &[name])
                    })?;
                } else if !name.is_empty() {
                    aliases.insert(name.clone(), value);
                }
            }
            continue;
        }
        if let Some(key) = key {
            seen.insert(key, node.outputs.clone());
        }
        out.push(node)?;
    }
    Ok(out.finish())
}

/// A text that is the same for nodes that compute the same; `None` if that cannot be said.
fn key(node: &Node) -> Option<String> {
    let is_unique = node.is_random() || matches!(node.op.as_str(), "Dropout" | "Identity");
    let is_small = |attribute: &Attribute| match attribute {
        Attribute::Graph(_) => false,
        Attribute::Tensor(tensor) => tensor.len() <= 64,
        _ => true,
    };
    if is_unique || !node.attributes.values().all(is_small) {
        return None;
    }
    let made: Vec<bool> = node.outputs.iter().map(|name| !name.is_empty()).collect();
    Some(format!("{} {} {:?} {made:?} {:?}", node.op, node.domain, node.inputs, node.attributes))
}

/// Small constants that are stored twice, with the name of the first.
fn equal_constants(
    graph: &Graph,
    keep: &BTreeSet<String>,
    outputs: &BTreeSet<String>,
) -> BTreeMap<String, String> {
    let mut first: BTreeMap<(ElementType, Vec<usize>, Vec<u64>), &str> = BTreeMap::new();
    let mut aliases = BTreeMap::new();
    for (name, tensor) in &graph.weights {
        // Lists of floats may be weights that someone wants to see under their own name.
        let is_plain =
            tensor.len() <= 64 && (tensor.to_i64().is_some() || tensor.shape().is_empty());
        if !is_plain || keep.contains(name) || outputs.contains(name) {
            continue;
        }
        if let Some(numbers) = tensor.to_f64() {
            let bits = numbers.iter().map(|number| number.to_bits()).collect();
            let key = (tensor.element_type(), tensor.shape().to_vec(), bits);
            match first.get(&key) {
                Some(&known) => {
                    aliases.insert(name.clone(), known.to_owned());
                }
                None => {
                    first.insert(key, name);
                }
            }
        }
    }
    aliases
}

/// Takes out nodes and weights that no output depends on.
pub(crate) fn remove_dead(mut graph: Graph) -> Graph {
    let mut live: BTreeSet<String> = graph.outputs.iter().map(|port| port.name.clone()).collect();
    let mut is_live = vec![false; graph.nodes.len()];
    for (node, is_live) in graph.nodes.iter_mut().zip(&mut is_live).rev() {
        *is_live = node.outputs.iter().any(|name| live.contains(name));
        if !*is_live {
            continue;
        }
        live.extend(uses(node).into_iter().map(str::to_owned));
        // Extra results that nobody reads are not asked for.
        if matches!(node.op.as_str(), "MaxPool" | "LayerNormalization" | "Dropout") {
            while 1 < node.outputs.len()
                && node.outputs.last().is_some_and(|name| !live.contains(name))
            {
                node.outputs.pop();
            }
        }
    }
    let mut flags = is_live.into_iter();
    graph.nodes.retain(|_| flags.next().unwrap_or(true));
    graph.weights.retain(|name, _| live.contains(name));
    graph.notes.retain(|name, _| live.contains(name));
    graph
}

/// Lets the node that makes an output make it under the output's name, without an `Identity`.
fn name_outputs(mut graph: Graph) -> Graph {
    let outputs: BTreeSet<String> = graph.outputs.iter().map(|port| port.name.clone()).collect();
    let made: BTreeSet<String> =
        graph.nodes.iter().flat_map(|node| node.outputs.iter().cloned()).collect();
    let mut names: BTreeMap<String, String> = BTreeMap::new();
    for node in &graph.nodes {
        if let ("Identity", Some(from), Some(to)) =
            (node.op.as_str(), node.input(0), node.output(0))
            && outputs.contains(to)
            && !outputs.contains(from)
            && made.contains(from)
            && !names.contains_key(from)
        {
            names.insert(from.to_owned(), to.to_owned());
        }
    }
    if names.is_empty() {
        return graph;
    }
    graph.nodes.retain(|node| {
        let from = node.input(0).and_then(|from| names.get(from));
        !(node.op == "Identity" && from.is_some() && from.map(String::as_str) == node.output(0))
    });
    for node in &mut graph.nodes {
        rename_inputs(node, &names);
        for output in &mut node.outputs {
            if let Some(name) = names.get(output) {
                output.clone_from(name);
            }
        }
    }
    graph
}

/// Numbers as a tensor of the type a value should have; `None` if they do not fit it.
fn as_type(tensor: Tensor, element_type: ElementType) -> Option<Tensor> {
    if tensor.element_type() == element_type {
        return Some(tensor);
    }
    let shape = tensor.shape().to_vec();
    #[expect(clippy::cast_possible_truncation, reason = "computed in f64, kept in f32")]
    let single = |numbers: Vec<f64>| numbers.into_iter().map(|number| number as f32).collect();
    let whole = || tensor.to_i64();
    let data = match element_type {
        ElementType::F32 => return Tensor::f32(shape, single(tensor.to_f64()?)).ok(),
        ElementType::F64 => return Tensor::f64(shape, tensor.to_f64()?).ok(),
        ElementType::I64 => return Tensor::i64(shape, whole()?).ok(),
        ElementType::I32 => constant::narrow(whole()?).map(crate::Data::I32),
        ElementType::I8 => constant::narrow(whole()?).map(crate::Data::I8),
        ElementType::U8 => constant::narrow(whole()?).map(crate::Data::U8),
        ElementType::Bool => {
            Some(crate::Data::Bool(whole()?.iter().map(|&bit| bit != 0).collect::<Vec<_>>().into()))
        }
        ElementType::Other(_) => None,
    };
    Tensor::new(shape, data?).ok()
}

#[cfg(test)]
mod tests;
