//! The batch: freeing one that an exporter fixed at 1, and giving symbols their numbers.
//!
//! [`free_batch`] walks over the nodes with the first dimension of the input as a symbol, and keeps
//! book of where each value carries the batch. It changes constants that name the old size, and
//! repeats constants that stand beside pictures. It answers only with a network for which every
//! step keeps the rows of a batch apart; where that cannot be shown, it says at which node.

mod follow;

use std::collections::BTreeMap;

use crate::dim::Dim;
use crate::graph::{Graph, Port};
use crate::infer::{self, InferError};

pub use follow::Fixed;

/// The symbol that stands for the batch: the first dimension of the first floating-point input.
pub fn batch_symbol(graph: &Graph) -> Option<&str> {
    let shape = first_picture(graph)?.shape.as_ref()?;
    let first = shape.first()?;
    match first.symbols() {
        [symbol] if first.factor() == 1 => Some(symbol),
        _ => None,
    }
}

fn first_picture(graph: &Graph) -> Option<&Port> {
    graph.inputs.iter().find(|port| port.element_type.is_float())
}

/// Makes the batch of a network free that was exported with a batch of 1.
///
/// A network whose batch is free already comes back as it is.
pub fn free_batch(graph: Graph) -> Result<Graph, Fixed> {
    if batch_symbol(&graph).is_some() {
        return Ok(graph);
    }
    follow::freed(graph)
}

/// Fixes the batch at a number.
///
/// A network whose batch is fixed already comes back as it is.
pub fn set_batch(graph: Graph, n: i64) -> Result<Graph, InferError> {
    match batch_symbol(&graph).map(str::to_owned) {
        Some(symbol) => fix_symbols(graph, &BTreeMap::from([(symbol, n)])),
        None => Ok(graph),
    }
}

/// Gives symbols in the shapes of the inputs their numbers, such as the size of the picture.
pub fn fix_symbols(mut graph: Graph, numbers: &BTreeMap<String, i64>) -> Result<Graph, InferError> {
    let fixed = |dim: &Dim| {
        numbers
            .iter()
            .try_fold(dim.clone(), |dim, (symbol, &number)| dim.with_symbol(symbol, number))
    };
    for port in graph.inputs.iter_mut().chain(graph.notes.values_mut()) {
        for dim in port.shape.iter_mut().flatten() {
            *dim = fixed(dim).unwrap_or_else(|| dim.clone());
        }
    }
    for port in &mut graph.outputs {
        port.shape = None;
    }
    let facts = infer::facts(&graph)?;
    for port in &mut graph.outputs {
        port.shape = facts.get(&port.name).and_then(|fact| fact.shape.clone());
    }
    Ok(graph)
}

#[cfg(test)]
mod tests;
