//! Branches whose condition is known before the network runs: the branch taken replaces the `If`.

use std::collections::BTreeMap;

use crate::graph::{Attribute, Graph, Node};
use crate::infer::InferError;
use crate::rewrite::{Rewriter, rename_inputs};

/// The branch that an `If` takes, if that is known.
pub(crate) fn taken<'a>(out: &Rewriter, node: &'a Node) -> Option<&'a Graph> {
    let condition = out.numbers(node.input(0)?)?;
    let [condition] = condition.as_slice() else {
        return None;
    };
    let name = if *condition != 0 { "then_branch" } else { "else_branch" };
    match node.attributes.get(name) {
        Some(Attribute::Graph(branch)) => Some(branch),
        _ => None,
    }
}

/// The nodes of a branch, with names that clash with none outside, and what the `If` makes.
pub(crate) fn inlined(
    out: &mut Rewriter,
    node: &Node,
    branch: &Graph,
) -> Result<Vec<Node>, InferError> {
    let mut names = BTreeMap::new();
    for made in branch.value_names() {
        let fresh = out.fresh(made);
        names.insert(made.to_owned(), fresh);
    }
    for (name, tensor) in &branch.weights {
        let name = names.get(name).cloned().unwrap_or_else(|| name.clone());
        out.insert_weight(name, tensor.clone());
    }
    let mut nodes = Vec::with_capacity(branch.nodes.len() + branch.outputs.len());
    for inner in &branch.nodes {
        let mut inner = inner.clone();
        rename_inputs(&mut inner, &names);
        for output in &mut inner.outputs {
            if let Some(name) = names.get(output) {
                output.clone_from(name);
            }
        }
        nodes.push(inner);
    }
    if branch.outputs.len() < node.outputs.len() {
        return Err(InferError::Contradiction {
            node: node.label().to_owned(),
            op: node.full_op(),
            problem: format!(
                "the branch should make {} values, found {}",
                node.outputs.len(),
                branch.outputs.len()
            ),
        });
    }
    for (output, port) in node.outputs.iter().zip(&branch.outputs) {
        if !output.is_empty() {
            let made = names.get(&port.name).map_or(port.name.as_str(), String::as_str);
            nodes.push(Node::new("Identity", &[made], &[output]));
        }
    }
    Ok(nodes)
}
