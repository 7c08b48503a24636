//! Layers that centre and scale: batch, layer, instance and group normalisation, and kin.
//!
//! None of them changes a shape; the numbers of channels have to fit.

use super::scope::{Found, Scope};
use super::{Fact, InferError};
use crate::dim::{self, Dim};

/// What this family says about a node; `None` if the operator is of another family.
pub(super) fn infer(scope: &Scope<'_>) -> Option<Found> {
    Some(match scope.node.op.as_str() {
        "BatchNormalization" => batch(scope),
        "InstanceNormalization" => per_channel(scope, &[1, 2]),
        "GroupNormalization" => per_channel(scope, &[]),
        "LayerNormalization" | "RMSNormalization" => layer(scope),
        "LRN" | "LpNormalization" | "MeanVarianceNormalization" => per_channel(scope, &[]),
        _ => return None,
    })
}

fn per_channel(scope: &Scope<'_>, inputs: &[usize]) -> Found {
    let x = scope.required(0)?;
    check_channels(scope, inputs)?;
    Ok(vec![Fact { shape: x.shape.clone(), ..Fact::of_type(x.element_type) }])
}

/// Refuses inputs that should have one number per channel and have another length.
fn check_channels(scope: &Scope<'_>, inputs: &[usize]) -> Result<(), InferError> {
    let Some(shape) = scope.shape(0) else {
        return Ok(());
    };
    let one = Dim::known(1);
    if shape.is_empty() {
        return Err(scope.contradiction("the input should have channels, found a single number"));
    }
    let channels = shape.get(1).unwrap_or(&one);
    for &idx in inputs {
        scope.required(idx)?;
        if let Some(found) = scope.shape(idx) {
            let [n_found] = found else {
                return Err(scope.contradiction(format!(
                    "input {idx} should have 1 dimension, found {}",
                    dim::describe(found)
                )));
            };
            scope.check_equal(&format!("the length of input {idx}"), channels, n_found)?;
        }
    }
    Ok(())
}

fn batch(scope: &Scope<'_>) -> Found {
    let x = scope.required(0)?;
    check_channels(scope, &[1, 2, 3, 4])?;
    let mut found = vec![Fact { shape: x.shape.clone(), ..Fact::of_type(x.element_type) }];
    for output_idx in 1..scope.node.outputs.len() {
        // Running mean and variance, and in old files the saved ones.
        let like = scope.optional(if output_idx % 2 == 1 { 3 } else { 4 });
        found.push(like.map_or_else(
            || Fact::of_type(x.element_type),
            |fact| Fact { value: None, floats: None, ..fact.clone() },
        ));
    }
    Ok(found)
}

fn layer(scope: &Scope<'_>) -> Found {
    let x = scope.required(0)?;
    scope.required(1)?;
    let Some(shape) = &x.shape else {
        return Ok(vec![Fact::of_type(x.element_type); scope.node.outputs.len()]);
    };
    let axis = scope.axis(scope.node.int("axis").unwrap_or(-1), shape.len())?;
    for idx in [1, 2] {
        if let Some(found) = scope.shape(idx) {
            let stretched = scope.broadcast(&shape[axis..], found)?;
            if shape.len() < stretched.len() {
                return Err(scope.contradiction(format!(
                    "input {idx} should fit {}, found {}",
                    dim::describe(&shape[axis..]),
                    dim::describe(found)
                )));
            }
        }
    }
    let mut of_rows = shape.clone();
    of_rows[axis..].fill(Dim::known(1));
    let mut found = vec![Fact::new(x.element_type, shape.clone())];
    found.resize(scope.node.outputs.len().max(1), Fact::new(x.element_type, of_rows));
    Ok(found)
}
