//! Gradients of resizing and of padding with pixels of the picture itself.
//!
//! Both are linear along each dimension on its own: `y = M x`, where the matrix `M` depends only on
//! sizes and settings. The gradient is `transpose(M) dy`, dimension by dimension. The matrices are
//! found when the gradient is derived, by running the node on unit vectors in the reference
//! evaluator, so every mode that the evaluator knows has its exact gradient.

use super::operator::{Gradients, of_first};
use super::shape::known_input;
use super::{GradError, Tape, uncovered};
use crate::build::Value;
use crate::dim::whole;
use crate::eval;
use crate::graph::Node;
use crate::tensor::{Data, Tensor};

/// `y = Resize(x)`
pub(super) fn resize(tape: &mut Tape<'_>, node: &Node, of_outputs: &[Option<Value>]) -> Gradients {
    let dy = of_first(node, of_outputs)?;
    if node.text("coordinate_transformation_mode") == Some("tf_crop_and_resize") {
        return Err(uncovered(node, "resizing of a cut-out"));
    }
    if node.attributes.contains_key("keep_aspect_ratio_policy")
        && node.text("keep_aspect_ratio_policy") != Some("stretch")
    {
        return Err(uncovered(node, "sizes that depend on the aspect ratio"));
    }
    let (x, y) = (tape.input(node, 0)?, tape.output(node, 0)?);
    let scales = match tape.optional_input(node, 2)? {
        Some(scales) => tape
            .builder
            .constant_of(&scales)
            .and_then(Tensor::to_f64)
            .filter(|list| !list.is_empty()),
        None => None,
    };
    let axes = node.ints("axes").map(<[i64]>::to_vec);

    let mut dx = dy;
    for axis in 0..tape.builder.rank(&x)? {
        let (from, to) =
            (tape.builder.shape(&x)?[axis].clone(), tape.builder.shape(&y)?[axis].clone());
        let place = match &axes {
            Some(axes) => axes.iter().position(|&listed| tape.axis(node, &x, listed) == Ok(axis)),
            None => Some(axis),
        };
        let scale =
            scales.as_ref().zip(place).and_then(|(scales, place)| scales.get(place).copied());
        if from == to && scale.is_none_or(|scale| (scale - 1.0).abs() < f64::EPSILON) {
            continue;
        }
        let (from, to) = (tape.builder.size(&x, axis)?, tape.builder.size(&y, axis)?);
        let matrix = matrix_of_resize(node, from, to, scale)?;
        dx = along(tape, &dx, axis, matrix)?;
    }
    Ok(vec![Some(dx)])
}

/// `y = Pad(x)` in any mode.
pub(super) fn pad(tape: &mut Tape<'_>, node: &Node, of_outputs: &[Option<Value>]) -> Gradients {
    if matches!(node.text("mode"), None | Some("constant")) {
        return super::shape::pad_constant(tape, node, of_outputs);
    }
    let dy = of_first(node, of_outputs)?;
    let x = tape.input(node, 0)?;
    let rank = tape.builder.rank(&x)?;
    let pads = known_input(tape, node, 1)?.unwrap_or_default();
    if pads.len() != 2 * rank {
        return Err(uncovered(node, "padding that does not fit its value"));
    }
    let mut dx = dy;
    for axis in 0..rank {
        let (before, after) = (pads[axis], pads[axis + rank]);
        if before == 0 && after == 0 {
            continue;
        }
        let size = tape.builder.size(&x, axis)?;
        let matrix = matrix_of_pad(node, size, before, after)?;
        dx = along(tape, &dx, axis, matrix)?;
    }
    Ok(vec![Some(dx)])
}

/// `transpose(M) dy` along one dimension, where the matrix is `[to, from]`.
fn along(tape: &mut Tape<'_>, dy: &Value, axis: usize, matrix: Matrix) -> Result<Value, GradError> {
    let rank = tape.builder.rank(dy)?;
    let Matrix { n_to, n_from, numbers } = matrix;
    if axis + 1 == rank {
        let matrix = tape.builder.constant(tensor(vec![n_to, n_from], numbers));
        return Ok(tape.builder.matmul(dy, &matrix)?);
    }
    let transposed: Vec<f32> = (0..n_from)
        .flat_map(|from| (0..n_to).map(move |to| (to, from)))
        .map(|(to, from)| numbers[to * n_from + from])
        .collect();
    let matrix = tape.builder.constant(tensor(vec![n_from, n_to], transposed));
    if axis + 2 == rank {
        return Ok(tape.builder.matmul(&matrix, dy)?);
    }
    // Any other dimension changes places with the one before the last.
    let mut order: Vec<i64> = (0..whole(rank)).collect();
    order.swap(axis, rank - 2);
    let turned = tape.builder.transpose(dy, &order)?;
    let found = tape.builder.matmul(&matrix, &turned)?;
    Ok(tape.builder.transpose(&found, &order)?)
}

/// A matrix `[to, from]`, row by row.
struct Matrix {
    n_to: usize,
    n_from: usize,
    numbers: Vec<f32>,
}

fn matrix_of_resize(
    node: &Node,
    n_from: usize,
    n_to: usize,
    scale: Option<f64>,
) -> Result<Matrix, GradError> {
    // A picture [1, n, n] whose rows are unit vectors, resized along the last dimension only.
    let mut alone = node.clone();
    alone.attributes.remove("axes");
    let number = |numbers: Vec<f32>| Tensor::f32(vec![numbers.len()], numbers).ok();
    #[expect(clippy::cast_possible_truncation, reason = "scales are stored in 32 bits")]
    let (scales, sizes) = match scale {
        Some(scale) => (number(vec![1.0, scale as f32]), None),
        None => (None, Some(Tensor::list(vec![whole(n_from), whole(n_to)]))),
    };
    alone.inputs = vec!["x".to_owned(), String::new()];
    alone.inputs.push(if scales.is_some() { "scales".to_owned() } else { String::new() });
    if sizes.is_some() {
        alone.inputs.push("sizes".to_owned());
    }
    run_on_units(node, &alone, n_from, &[None, scales, sizes])
}

fn matrix_of_pad(node: &Node, n_from: usize, before: i64, after: i64) -> Result<Matrix, GradError> {
    let mut alone = node.clone();
    alone.attributes.remove("axes");
    alone.inputs = vec!["x".to_owned(), "pads".to_owned()];
    run_on_units(node, &alone, n_from, &[Some(Tensor::list(vec![0, before, 0, after]))])
}

/// Runs a node on unit vectors along the last dimension, and reads its matrix off.
fn run_on_units(
    node: &Node,
    alone: &Node,
    n_from: usize,
    others: &[Option<Tensor>],
) -> Result<Matrix, GradError> {
    let mut units = vec![0.0; n_from * n_from];
    units.iter_mut().step_by(n_from + 1).for_each(|number| *number = 1.0);
    let mut inputs = vec![Some(tensor(vec![n_from, n_from], units))];
    inputs.extend(others.iter().cloned());
    let found = eval::node(alone, &inputs).map_err(|error| uncovered(node, &error.to_string()))?;
    let found = found.first().ok_or_else(|| uncovered(node, "no output"))?;
    let [_, n_to] = *found.shape() else {
        return Err(uncovered(node, "a result that is no matrix"));
    };
    let numbers = found.to_f64().ok_or_else(|| uncovered(node, "a result that is no matrix"))?;
    #[expect(clippy::cast_possible_truncation, reason = "weights of pixels, stored in 32 bits")]
    let at = |to: usize, from: usize| numbers[from * n_to + to] as f32;
    let numbers = (0..n_to)
        .flat_map(|to| (0..n_from).map(move |from| (to, from)))
        .map(|(to, from)| at(to, from))
        .collect();
    Ok(Matrix { n_to, n_from, numbers })
}

fn tensor(shape: Vec<usize>, numbers: Vec<f32>) -> Tensor {
    Tensor::new(shape, Data::F32(std::sync::Arc::new(numbers)))
        .expect("because a matrix has rows times columns numbers")
}
