//! Values that do not depend on the input: computed once, here, instead of on every run.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::as_type;
use crate::dim::{self, Dim};
use crate::eval;
use crate::graph::{Attribute, Node};
use crate::infer::{self, Fact, InferError};
use crate::rewrite::{Rewriter, as_target};
use crate::tensor::Tensor;

/// No constant of more numbers than this is made (64 MB of 32-bit floats).
const MAX_RESULT: usize = 1 << 24;
/// A result may always have this many numbers, however small what it is made from.
const SMALL_RESULT: usize = 1 << 14;
/// Sums over many products are left to engines above this many numbers.
const MAX_PRODUCT: usize = 1 << 16;

/// What a node makes, if that does not depend on the input.
pub(super) fn values(
    out: &Rewriter,
    node: &Node,
    keep: &BTreeSet<String>,
) -> Result<Option<Vec<Tensor>>, InferError> {
    let facts = infer::node_facts(node, &out.facts)?;
    if facts.is_empty() || node.is_random() {
        return Ok(None);
    }
    let known: Option<Vec<Tensor>> = facts.iter().map(of_fact).collect();
    if known.is_some() {
        return Ok(known);
    }
    Ok(computed(out, node, keep, &facts))
}

/// The tensor that a fact describes completely.
fn of_fact(fact: &Fact) -> Option<Tensor> {
    let numbers: Option<Vec<i64>> = fact.value.as_ref()?.iter().map(Dim::as_known).collect();
    let shape = dim::as_sizes(fact.shape.as_deref()?)?;
    as_type(Tensor::i64(shape, numbers?).ok()?, fact.element_type)
}

/// Runs a node all of whose inputs are constants.
fn computed(
    out: &Rewriter,
    node: &Node,
    keep: &BTreeSet<String>,
    facts: &[Fact],
) -> Option<Vec<Tensor>> {
    let is_plain = matches!(node.domain.as_str(), "" | "ai.onnx")
        && node.op != "Dropout"
        && !node.attributes.values().any(|value| matches!(value, Attribute::Graph(_)));
    if !is_plain {
        return None;
    }
    let mut inputs = Vec::with_capacity(node.inputs.len());
    let mut n_given = 0_usize;
    for name in &node.inputs {
        if name.is_empty() {
            inputs.push(None);
            continue;
        }
        if keep.contains(name) {
            return None;
        }
        let tensor = out.graph.weights.get(name)?;
        n_given = n_given.saturating_add(tensor.len());
        inputs.push(Some(tensor.clone()));
    }
    let is_product = matches!(
        node.op.as_str(),
        "Conv" | "ConvTranspose" | "MatMul" | "Gemm" | "Einsum" | "Resize" | "LRN"
    );
    let limit = SMALL_RESULT.max(n_given.saturating_mul(2)).min(MAX_RESULT);
    for fact in facts {
        let sizes = dim::as_sizes(fact.shape.as_deref()?)?;
        let n_made = crate::tensor::n_elements(&sizes)?;
        if limit < n_made || (is_product && MAX_PRODUCT < n_made.max(n_given)) {
            return None;
        }
    }
    let made = eval::node(node, &inputs).ok()?;
    if made.len() < node.outputs.len() {
        return None;
    }
    made.into_iter().zip(facts).map(|(tensor, fact)| as_type(tensor, fact.element_type)).collect()
}

/// Whole numbers in a smaller type; `None` if one does not fit.
pub(super) fn narrow<T: TryFrom<i64>>(numbers: Vec<i64>) -> Option<Arc<Vec<T>>> {
    let numbers: Option<Vec<T>> = numbers.into_iter().map(|n| T::try_from(n).ok()).collect();
    numbers.map(Arc::new)
}

/// Gives a `Reshape` with a computed shape a constant one, where that says the same.
pub(super) fn settle_shape(out: &mut Rewriter, node: &mut Node) -> Result<(), InferError> {
    let is_computed = node.input(1).is_some_and(|name| !out.graph.weights.contains_key(name));
    if node.op != "Reshape" || !is_computed {
        return Ok(());
    }
    let facts = infer::node_facts(node, &out.facts)?;
    let Some(found) = facts.into_iter().next().and_then(|fact| fact.shape) else {
        return Ok(());
    };
    let before = node.input(0).and_then(|name| out.shape(name));
    let target = as_target(&found).or_else(|| with_copies(&found, before?));
    if let Some(target) = target {
        node.inputs[1] = out.list(&target);
        node.attributes.remove("allowzero");
    }
    Ok(())
}

/// A target in which dimensions that stay in their place are copied.
fn with_copies(found: &[Dim], before: &[Dim]) -> Option<Vec<i64>> {
    let mut n_open = 0;
    let mut target = Vec::with_capacity(found.len());
    for (axis, dim) in found.iter().enumerate() {
        target.push(match dim.as_known() {
            Some(0) => return None,
            Some(number) => number,
            None if before.get(axis) == Some(dim) => 0,
            None => {
                n_open += 1;
                -1
            }
        });
    }
    (n_open <= 1).then_some(target)
}
