//! Operators that take dimensions away by summing, averaging or choosing.
//!
//! Contents of whole-number lists are followed through products and sums.

use super::scope::{Found, Scope, sum};
use super::{Fact, InferError};
use crate::dim::{self, Dim};
use crate::tensor::ElementType;

/// What this family says about a node; `None` if the operator is of another family.
pub(super) fn infer(scope: &Scope<'_>) -> Option<Found> {
    Some(match scope.node.op.as_str() {
        "ReduceSum" | "ReduceMean" | "ReduceMax" | "ReduceMin" | "ReduceProd" | "ReduceL1"
        | "ReduceL2" | "ReduceLogSum" | "ReduceLogSumExp" | "ReduceSumSquare" => reduce(scope),
        "ArgMax" | "ArgMin" => arg(scope),
        "TopK" => top_k(scope),
        _ => return None,
    })
}

fn reduce(scope: &Scope<'_>) -> Found {
    let x = scope.required(0)?;
    let keep = scope.node.int("keepdims").unwrap_or(1) != 0;
    let Some(shape) = &x.shape else {
        return Ok(vec![Fact::of_type(x.element_type)]);
    };
    let Ok(axes) = scope.list(1, "axes") else {
        let shape = keep.then(|| scope.fresh_shape(0, shape.len()));
        return Ok(vec![Fact { shape, ..Fact::of_type(x.element_type) }]);
    };
    let axes = axes.unwrap_or_default();
    let axes = if axes.is_empty() {
        if scope.node.int("noop_with_empty_axes").unwrap_or(0) != 0 {
            return Ok(vec![x.clone()]);
        }
        (0..shape.len()).collect()
    } else {
        scope.axes(&axes, shape.len())?
    };
    let found = reduced(shape, &axes, keep);
    let is_all = axes.len() == shape.len();
    let value =
        x.value.as_deref().filter(|_| is_all).and_then(|value| match scope.node.op.as_str() {
            "ReduceProd" => dim::product(value),
            "ReduceSum" => value.iter().try_fold(Dim::known(0), |total, dim| sum(&total, dim)),
            "ReduceMax" => value
                .iter()
                .map(Dim::as_known)
                .collect::<Option<Vec<_>>>()?
                .into_iter()
                .max()
                .map(Dim::known),
            "ReduceMin" => value
                .iter()
                .map(Dim::as_known)
                .collect::<Option<Vec<_>>>()?
                .into_iter()
                .min()
                .map(Dim::known),
            _ => None,
        });
    Ok(vec![Fact::new(x.element_type, found).with_value(value.map(|value| vec![value]))])
}

/// A shape without some dimensions, or with size one in their place.
fn reduced(shape: &[Dim], axes: &[usize], keep: bool) -> Vec<Dim> {
    let mut found = Vec::with_capacity(shape.len());
    for (axis, dim) in shape.iter().enumerate() {
        if !axes.contains(&axis) {
            found.push(dim.clone());
        } else if keep {
            found.push(Dim::known(1));
        }
    }
    found
}

fn arg(scope: &Scope<'_>) -> Found {
    let x = scope.required(0)?;
    let keep = scope.node.int("keepdims").unwrap_or(1) != 0;
    let Some(shape) = &x.shape else {
        return Ok(vec![Fact::of_type(ElementType::I64)]);
    };
    let axis = scope.axis(scope.node.int("axis").unwrap_or(0), shape.len())?;
    Ok(vec![Fact::new(ElementType::I64, reduced(shape, &[axis], keep))])
}

fn top_k(scope: &Scope<'_>) -> Found {
    let x = scope.required(0)?;
    let shape = chosen(scope, x)?;
    let facts = [x.element_type, ElementType::I64];
    Ok(facts
        .map(|element_type| Fact { shape: shape.clone(), ..Fact::of_type(element_type) })
        .to_vec())
}

fn chosen(scope: &Scope<'_>, x: &Fact) -> Result<Option<Vec<Dim>>, InferError> {
    let Some(shape) = &x.shape else {
        return Ok(None);
    };
    let axis = scope.axis(scope.node.int("axis").unwrap_or(-1), shape.len())?;
    let n_chosen = scope.value(1).and_then(|value| value.first().cloned());
    let mut shape = shape.clone();
    if let (Some(n), Some(size)) =
        (n_chosen.as_ref().and_then(Dim::as_known), shape[axis].as_known())
        && !(0..=size).contains(&n)
    {
        return Err(scope.contradiction(format!("the best {n} of {size} cannot be chosen")));
    }
    shape[axis] = n_chosen.unwrap_or_else(|| scope.fresh(0, axis));
    Ok(Some(shape))
}
