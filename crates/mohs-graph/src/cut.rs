//! Cutting a network open: any value as an output, the classifier replaced by another, and the
//! list of values to choose from.
//!
//! Names are those of the graph. A name that does not exist is an error that lists names like it.

mod head;

use std::collections::BTreeSet;

use crate::dim::Dim;
use crate::fold::remove_dead;
use crate::graph::{Graph, Port};
use crate::infer::{self, Facts, InferError};
use crate::tensor::ElementType;

pub use head::{HeadSpec, Headed, features, head};

/// A network that cannot be cut as asked.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum CutError {
    /// There is no value of this name.
    #[error("the network has no value `{name}`; it has: {}", near.join(", "))]
    NoSuchValue {
        /// The name that was asked for.
        name: String,
        /// Names like it, the most alike first.
        near: Vec<String>,
    },
    /// The value is an input or a weight, which nothing computes.
    #[error("`{name}` is an input or a weight; an output should be a value that a node makes")]
    NotComputed {
        /// The name that was asked for.
        name: String,
    },
    /// No classifier was found in front of the output.
    #[error(
        "no classifier was found before the output `{output}`: expected a Gemm, a MatMul or a 1×1 \
         Conv with constant weights, found {found}"
    )]
    NoHead {
        /// The output the search began at.
        output: String,
        /// What stands there.
        found: String,
    },
    /// The new weights do not fit the features.
    #[error("the new classifier's {what} should have the shape {expected:?}, found {found:?}")]
    WrongShape {
        /// Weights or bias.
        what: &'static str,
        /// The shape that fits.
        expected: Vec<usize>,
        /// The shape that was given.
        found: Vec<usize>,
    },
    /// The network contradicts itself.
    #[error(transparent)]
    Infer(#[from] InferError),
}

/// Makes these values the outputs, in this order, and takes out what they do not need.
pub fn cut(mut graph: Graph, names: &[&str]) -> Result<Graph, CutError> {
    let facts = infer::facts(&graph)?;
    let mut outputs: Vec<Port> = Vec::with_capacity(names.len());
    for &name in names {
        let port = port(&graph, &facts, name)?;
        if !outputs.contains(&port) {
            outputs.push(port);
        }
    }
    graph.outputs = outputs;
    Ok(remove_dead(graph))
}

/// Adds a value to the outputs.
///
/// An output that is there already stays in its place.
pub fn also_output(mut graph: Graph, name: &str) -> Result<Graph, CutError> {
    if graph.output(name).is_none() {
        let facts = infer::facts(&graph)?;
        let port = port(&graph, &facts, name)?;
        graph.outputs.push(port);
    }
    Ok(graph)
}

fn port(graph: &Graph, facts: &Facts, name: &str) -> Result<Port, CutError> {
    if graph.makers().contains_key(name) {
        let fact = facts.get(name);
        return Ok(Port {
            name: name.to_owned(),
            element_type: fact.map_or(ElementType::F32, |fact| fact.element_type.or_f32()),
            shape: fact.and_then(|fact| fact.shape.clone()),
        });
    }
    let names = graph.value_names();
    if names.contains(name) {
        return Err(CutError::NotComputed { name: name.to_owned() });
    }
    let made: BTreeSet<&str> = graph.makers().into_keys().collect();
    Err(CutError::NoSuchValue { name: name.to_owned(), near: near(name, &made) })
}

/// How many names an error lists.
const N_NEAR: usize = 5;
/// Names are compared up to this many letters.
const MAX_LETTERS: usize = 80;

/// The names most like this one.
fn near(name: &str, names: &BTreeSet<&str>) -> Vec<String> {
    let wanted: Vec<char> = name.to_lowercase().chars().take(MAX_LETTERS).collect();
    let mut found: Vec<(usize, &str)> = names
        .iter()
        .map(|&other| {
            let letters: Vec<char> = other.to_lowercase().chars().take(MAX_LETTERS).collect();
            let is_part = !name.is_empty() && (other.contains(name) || name.contains(other));
            // A part of a name is nearer than a name that differs everywhere.
            let distance = n_edits(&wanted, &letters);
            (if is_part { distance / 4 } else { distance }, other)
        })
        .collect();
    found.sort_unstable();
    found.into_iter().take(N_NEAR).map(|(_, name)| name.to_owned()).collect()
}

/// How many letters have to be put in, taken out or changed to turn one word into another.
fn n_edits(from: &[char], to: &[char]) -> usize {
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (n_done, letter) in from.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = n_done + 1;
        for (idx, other) in to.iter().enumerate() {
            let changed = diagonal + usize::from(letter != other);
            diagonal = row[idx + 1];
            row[idx + 1] = changed.min(diagonal + 1).min(row[idx] + 1);
        }
    }
    row[to.len()]
}

/// A value of a network, as a person wants to see it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ValueLine {
    /// The value's name.
    pub name: String,
    /// The operator that makes it; `None` for an input.
    pub op: Option<String>,
    /// What its elements are.
    pub element_type: ElementType,
    /// Its shape, if known.
    pub shape: Option<Vec<Dim>>,
}

/// Lists the inputs and every value that a node makes, in order.
pub fn values(graph: &Graph) -> Result<Vec<ValueLine>, InferError> {
    let facts = infer::facts(graph)?;
    let line = |name: &str, op: Option<String>| {
        let fact = facts.get(name);
        ValueLine {
            name: name.to_owned(),
            op,
            element_type: fact.map_or(ElementType::F32, |fact| fact.element_type.or_f32()),
            shape: fact.and_then(|fact| fact.shape.clone()),
        }
    };
    let mut lines: Vec<ValueLine> =
        graph.inputs.iter().map(|port| line(&port.name, None)).collect();
    for node in &graph.nodes {
        let made = node.outputs.iter().filter(|name| !name.is_empty());
        lines.extend(made.map(|name| line(name, Some(node.full_op()))));
    }
    Ok(lines)
}

#[cfg(test)]
mod tests;
