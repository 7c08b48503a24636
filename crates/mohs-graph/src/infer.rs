//! What is known about every value of a graph before it runs: type, shape, and the contents of
//! small whole-number tensors (shapes, axes, indices), which may depend on the batch size.
//!
//! Works on graphs in the house dialect. A value about which nothing is known has no shape; that
//! is not an error here, but whoever needs the shape says so. Contradictions are errors.

mod element_type;
mod elementwise;
mod index;
mod layout;
mod normalisation;
mod product;
mod reduce;
pub(crate) mod scope;
pub(crate) mod spatial;

use std::collections::BTreeMap;

use crate::dim::{self, Dim};
use crate::graph::{Graph, Node, Port};
use crate::tensor::{ElementType, Tensor};

use scope::Scope;

/// What is known about a value.
#[derive(Clone, PartialEq, Debug)]
pub struct Fact {
    /// What its elements are.
    pub element_type: ElementType,
    /// Its shape; `None` if not even the number of dimensions is known.
    ///
    /// A dimension that nobody knows is a symbol of its own.
    pub shape: Option<Vec<Dim>>,
    /// Its contents row by row, for whole numbers (at most [`MAX_TRACKED`] of them) that are known
    /// or a multiple of symbols.
    pub value: Option<Vec<Dim>>,
    /// Its contents row by row, for a few floating-point numbers that are known: the factors of a
    /// `Resize`, the bounds of a `Range`.
    pub floats: Option<Vec<f64>>,
}

/// Facts by the name of the value.
pub type Facts = BTreeMap<String, Fact>;

/// Contents are followed through tensors of up to this many whole numbers.
pub const MAX_TRACKED: usize = 4096;

/// Contents of floating-point constants are kept up to this many numbers.
const MAX_FLOATS: usize = 16;

/// A graph that contradicts itself.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum InferError {
    /// A node cannot work on what it is given.
    #[error("node `{node}` ({op}): {problem}")]
    Contradiction {
        /// The node's label.
        node: String,
        /// Its operator.
        op: String,
        /// What is wrong, with expected and found.
        problem: String,
    },
    /// A node uses a value that nothing makes before it.
    #[error("node `{node}` ({op}) uses the value `{value}`, which nothing before it makes")]
    UnknownValue {
        /// The node's label.
        node: String,
        /// Its operator.
        op: String,
        /// The missing value.
        value: String,
    },
}

impl Fact {
    /// A value of known type and shape.
    pub fn new(element_type: ElementType, shape: Vec<Dim>) -> Fact {
        Fact { element_type, shape: Some(shape), value: None, floats: None }
    }

    /// A value of which only the type is known.
    pub fn of_type(element_type: ElementType) -> Fact {
        Fact { element_type, shape: None, value: None, floats: None }
    }

    /// What is known about a constant.
    pub fn of_tensor(tensor: &Tensor) -> Fact {
        let shape = tensor.shape().iter().map(|&size| Dim::from_size(size)).collect();
        let numbers = if tensor.len() <= MAX_TRACKED { tensor.to_i64() } else { None };
        let is_few_floats = tensor.element_type().is_float() && tensor.len() <= MAX_FLOATS;
        Fact {
            element_type: tensor.element_type(),
            shape: Some(shape),
            value: numbers.map(|numbers| numbers.into_iter().map(Dim::known).collect()),
            floats: if is_few_floats { tensor.to_f64() } else { None },
        }
    }

    /// The same fact with contents, if they are few enough to follow and fit the shape.
    #[must_use]
    fn with_value(mut self, value: Option<Vec<Dim>>) -> Fact {
        let n_places = self.shape.as_deref().and_then(dim::product).and_then(|dim| dim.as_size());
        self.value =
            value.filter(|value| value.len() <= MAX_TRACKED && n_places == Some(value.len()));
        self
    }
}

/// Finds out what is known about every value of a graph.
pub fn facts(graph: &Graph) -> Result<Facts, InferError> {
    let mut facts = start(graph);
    let outputs = graph.outputs.iter().map(|port| (port.name.as_str(), port));
    let notes = graph.notes.iter().map(|(name, port)| (name.as_str(), port));
    let notes: BTreeMap<&str, &Port> = outputs.chain(notes).collect();
    for node in &graph.nodes {
        let found = node_facts(node, &facts)?;
        for (name, fact) in node.outputs.iter().zip(found) {
            if !name.is_empty() {
                let fact = match notes.get(name.as_str()) {
                    Some(note) => completed(fact, note),
                    None => fact,
                };
                facts.insert(name.clone(), fact);
            }
        }
    }
    Ok(facts)
}

/// What is known before the first node: inputs and weights.
pub(crate) fn start(graph: &Graph) -> Facts {
    let mut facts = Facts::new();
    for port in &graph.inputs {
        let fact = Fact { shape: port.shape.clone(), ..Fact::of_type(port.element_type) };
        facts.insert(port.name.clone(), fact);
    }
    for (name, tensor) in &graph.weights {
        facts.insert(name.clone(), Fact::of_tensor(tensor));
    }
    facts
}

/// Adds what the file says about a value to what was found; what was found goes first.
pub(crate) fn completed(mut fact: Fact, note: &Port) -> Fact {
    if fact.element_type == ElementType::UNKNOWN {
        fact.element_type = note.element_type;
    }
    let Some(noted) = &note.shape else {
        return fact;
    };
    match &mut fact.shape {
        None => {
            fact.shape = Some(noted.clone());
            fact.element_type = note.element_type;
        }
        Some(found) if found.len() == noted.len() => {
            for (found, noted) in found.iter_mut().zip(noted) {
                if is_open(found) && !is_open(noted) {
                    found.clone_from(noted);
                }
            }
        }
        Some(_) => {}
    }
    fact
}

/// Whether a dimension is nothing but a symbol made up because nobody knows it.
pub(crate) fn is_open(dim: &Dim) -> bool {
    dim.symbols().iter().any(|symbol| symbol.starts_with('?'))
}

/// Finds out what is known about the outputs of one node, one fact per output.
///
/// Operators that nobody here knows make values of unknown shape.
pub fn node_facts(node: &Node, facts: &Facts) -> Result<Vec<Fact>, InferError> {
    let scope = Scope::new(node, facts)?;
    let found = if matches!(node.domain.as_str(), "" | "ai.onnx") {
        elementwise::infer(&scope)
            .or_else(|| layout::infer(&scope))
            .or_else(|| index::infer(&scope))
            .or_else(|| spatial::infer(&scope))
            .or_else(|| normalisation::infer(&scope))
            .or_else(|| product::infer(&scope))
            .or_else(|| reduce::infer(&scope))
    } else {
        None
    };
    let mut found = found.unwrap_or_else(|| Ok(Vec::new()))?;
    found.truncate(node.outputs.len());
    while found.len() < node.outputs.len() {
        found.push(Fact::of_type(element_type::of_output(&scope, found.len())));
    }
    Ok(found)
}

#[cfg(test)]
mod tests;
