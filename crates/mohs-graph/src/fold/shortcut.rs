//! Nodes that do nothing, and pairs of nodes that one node can do.

use crate::dim::Dim;
use crate::graph::{Attribute, Node};
use crate::infer::{self, InferError};
use crate::rewrite::Rewriter;

/// The input that a node hands on unchanged, if it does no more than that.
pub(super) fn same_as_input(out: &Rewriter, node: &Node) -> Result<Option<String>, InferError> {
    if !matches!(node.domain.as_str(), "" | "ai.onnx") || node.outputs.len() != 1 {
        return Ok(None);
    }
    let Some(x) = node.input(0) else {
        return Ok(None);
    };
    let n_inputs = node.inputs.iter().filter(|name| !name.is_empty()).count();
    let has_same_shape = || -> Result<bool, InferError> {
        let made = infer::node_facts(node, &out.facts)?;
        let made = made.first().and_then(|fact| fact.shape.as_deref());
        Ok(made.is_some() && made == out.shape(x))
    };
    if node.op == "Where" {
        return Ok(settled_choice(out, node));
    }
    let is_same = match node.op.as_str() {
        "Identity" => true,
        "Concat" | "Sum" | "Mean" | "Min" | "Max" | "Clip" => n_inputs == 1,
        "Cast" => {
            let to = node.int("to");
            out.facts.get(x).is_some_and(|fact| to == Some(i64::from(fact.element_type.to_onnx())))
        }
        "Transpose" => {
            let is_still = |order: &[i64]| order.iter().zip(0..).all(|(&from, to)| from == to);
            node.ints("perm").is_some_and(is_still)
        }
        "Expand" => {
            // Two symbols may still turn out to differ, so every size has to be the same or 1.
            let target = node.input(1).and_then(|name| out.facts.get(name)?.value.as_deref());
            target
                .zip(out.shape(x))
                .is_some_and(|(target, shape)| is_stretched_by_none(shape, target))
        }
        "Reshape" | "Squeeze" | "Unsqueeze" | "Flatten" | "Split" => has_same_shape()?,
        "Tile" => numbers(out, node, 1).is_some_and(|repeats| repeats.iter().all(|&n| n == 1)),
        "Pad" => numbers(out, node, 1).is_some_and(|pads| pads.iter().all(|&pad| pad == 0)),
        "Slice" => {
            let is_onward = node.input(4).is_none()
                || numbers(out, node, 4).is_some_and(|steps| steps.iter().all(|&step| step == 1));
            is_onward && has_same_shape()?
        }
        _ => false,
    };
    Ok(is_same.then(|| x.to_owned()))
}

/// The side that a `Where` takes everywhere, if it takes one and does not stretch it.
fn settled_choice(out: &Rewriter, node: &Node) -> Option<String> {
    let condition = numbers(out, node, 0)?;
    let (side, other) = match condition.as_slice() {
        [] => return None,
        bits if bits.iter().all(|&bit| bit != 0) => (node.input(1)?, node.input(2)?),
        bits if bits.iter().all(|&bit| bit == 0) => (node.input(2)?, node.input(1)?),
        _ => return None,
    };
    let shape = out.shape(side)?;
    let is_wide = |name: &str| out.shape(name).is_some_and(|by| is_stretched_by_none(shape, by));
    (is_wide(node.input(0)?) && is_wide(other)).then(|| side.to_owned())
}

/// Whether a shape stays as it is beside another, whatever its symbols turn out to be.
fn is_stretched_by_none(shape: &[Dim], by: &[Dim]) -> bool {
    by.len() <= shape.len()
        && by.iter().rev().zip(shape.iter().rev()).all(|(by, dim)| by.is_one() || by == dim)
}

fn numbers(out: &Rewriter, node: &Node, idx: usize) -> Option<Vec<i64>> {
    out.numbers(node.input(idx)?)
}

/// Lets a node work on what the node before it worked on, where the two are one.
pub(super) fn join(out: &Rewriter, node: &mut Node) {
    if !matches!(node.op.as_str(), "Transpose" | "Reshape") {
        return;
    }
    let Some(x) = node.input(0) else {
        return;
    };
    let Some(before) = out.maker_of(x) else {
        return;
    };
    let Some(source) = before.input(0).map(str::to_owned) else {
        return;
    };
    match (before.op.as_str(), node.op.as_str()) {
        ("Transpose", "Transpose") => {
            let (Some(first), Some(second)) = (before.ints("perm"), node.ints("perm")) else {
                return;
            };
            let order: Option<Vec<i64>> =
                second.iter().map(|&idx| first.get(usize::try_from(idx).ok()?).copied()).collect();
            if let Some(order) = order {
                node.inputs[0] = source;
                node.attributes.insert("perm".to_owned(), Attribute::Ints(order));
            }
        }
        ("Reshape" | "Flatten" | "Squeeze" | "Unsqueeze", "Reshape") => {
            // A dimension that is copied would be copied from the wrong shape.
            let target = numbers(out, node, 1);
            let is_plain = target.is_some_and(|target| !target.contains(&0));
            if is_plain && out.shape(&source).is_some_and(|shape| !shape.contains(&Dim::known(0))) {
                node.inputs[0] = source;
            }
        }
        _ => {}
    }
}
