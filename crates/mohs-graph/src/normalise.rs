//! Any file's graph in the house dialect: standard operators in the form they have since opset 18.
//!
//! Settings that became inputs are made inputs, constants become weights, layers that engines or
//! gradients know only in parts are written out in those parts, branches whose condition is known
//! are taken. What cannot be brought into the dialect is an error that names the node; nothing is
//! left in an old form under a new version number.

pub(crate) mod branch;
mod convert;
mod rare;

use std::collections::VecDeque;

use crate::build::OPSET;
use crate::graph::{Attribute, Graph, Node, Port};
use crate::infer::InferError;
use crate::rewrite::Rewriter;
use crate::tensor::ElementType;

/// The oldest version of the operators that is understood.
pub const OLDEST_OPSET: i64 = 7;

/// A graph that cannot be brought into the house dialect.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum NormaliseError {
    /// The operators are too old, or the file does not say how old they are.
    #[error(
        "the network is written in opset {found}, which is not understood; export it with opset \
         11 to 21 (`torch.onnx.export(…, opset_version=18)`)"
    )]
    Opset {
        /// The version that the file names.
        found: i64,
    },
    /// A node in an old form that has no newer one.
    #[error("node `{node}` ({op}): {problem}; {remedy}")]
    Node {
        /// The node's label.
        node: String,
        /// Its operator.
        op: String,
        /// What cannot be converted.
        problem: String,
        /// What to do about it.
        remedy: String,
    },
    /// The graph contradicts itself.
    #[error(transparent)]
    Infer(#[from] InferError),
}

/// Writes a graph in the house dialect.
pub fn normalise(mut graph: Graph) -> Result<Graph, NormaliseError> {
    let opset = graph.opset;
    if opset < OLDEST_OPSET {
        return Err(NormaliseError::Opset { found: opset });
    }
    let ports = graph.inputs.iter_mut().chain(&mut graph.outputs).chain(graph.notes.values_mut());
    for port in ports {
        widen(port);
    }
    let (mut out, nodes) = Rewriter::new(graph);
    out.graph.opset = opset.max(OPSET);
    let mut queue = VecDeque::from(nodes);
    while let Some(mut node) = queue.pop_front() {
        widen_settings(&mut node);
        if node.op == "If"
            && let Some(taken) = branch::taken(&out, &node)
        {
            for node in branch::inlined(&mut out, &node, taken)?.into_iter().rev() {
                queue.push_front(node);
            }
            continue;
        }
        let has_inner = node.attributes.values().any(|value| matches!(value, Attribute::Graph(_)));
        if has_inner && opset < OPSET {
            return Err(no_form(
                &node,
                "what it does is known only when the network runs, and it is in an old form",
                "export the network with opset 18 or newer, or with fixed sizes",
            ));
        }
        convert::node(&mut out, node, opset)?;
    }
    Ok(out.finish())
}

fn no_form(node: &Node, problem: &str, remedy: &str) -> NormaliseError {
    NormaliseError::Node {
        node: node.label().to_owned(),
        op: node.full_op(),
        problem: problem.to_owned(),
        remedy: remedy.to_owned(),
    }
}

const F16: i32 = 10;
const BF16: i32 = 16;

fn widen(port: &mut Port) {
    if matches!(port.element_type, ElementType::Other(F16 | BF16)) {
        port.element_type = ElementType::F32;
    }
}

/// Half precision becomes 32 bits wherever a node names a type.
fn widen_settings(node: &mut Node) {
    for setting in ["to", "dtype"] {
        if let Some(Attribute::Int(code)) = node.attributes.get_mut(setting)
            && (*code == i64::from(F16) || *code == i64::from(BF16))
        {
            *code = i64::from(ElementType::F32.to_onnx());
        }
    }
}

#[cfg(test)]
mod tests;
