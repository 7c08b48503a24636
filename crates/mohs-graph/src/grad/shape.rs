//! Gradients of operators that move numbers about and change none: reshaping, joining, cutting,
//! repeating, rearranging.

use super::operator::{Gradients, of_first};
use super::{GradError, Tape, uncovered};
use crate::build::{BuildError, Value};
use crate::dim::{Dim, whole};
use crate::graph::{Attribute, Node};

/// `Reshape`, `Flatten`, `Squeeze`, `Unsqueeze`: the gradient takes the shape of `x` again.
pub(super) fn reshape(tape: &mut Tape<'_>, node: &Node, of_outputs: &[Option<Value>]) -> Gradients {
    let dy = of_first(node, of_outputs)?;
    let x = tape.input(node, 0)?;
    Ok(vec![Some(tape.builder.reshape_like(&dy, &x)?)])
}

/// `y = Transpose(x)`: the inverse order.
pub(super) fn transpose(
    tape: &mut Tape<'_>,
    node: &Node,
    of_outputs: &[Option<Value>],
) -> Gradients {
    let dy = of_first(node, of_outputs)?;
    let rank = tape.builder.rank(&dy)?;
    let order: Vec<i64> = match node.ints("perm") {
        Some(order) => order.to_vec(),
        None => (0..whole(rank)).rev().collect(),
    };
    let mut inverse = vec![0; rank];
    for (to, &from) in (0..).zip(&order) {
        let from = usize::try_from(from).ok().and_then(|from| inverse.get_mut(from));
        *from.ok_or_else(|| uncovered(node, "an order that does not fit its value"))? = to;
    }
    Ok(vec![Some(tape.builder.transpose(&dy, &inverse)?)])
}

/// `y = Expand(x)`: the sum over what was repeated.
pub(super) fn expand(tape: &mut Tape<'_>, node: &Node, of_outputs: &[Option<Value>]) -> Gradients {
    let dy = of_first(node, of_outputs)?;
    let x = tape.input(node, 0)?;
    Ok(vec![Some(tape.sum_to_shape_of(&dy, &x)?)])
}

/// `y = Tile(x)`: the sum over the copies.
pub(super) fn tile(tape: &mut Tape<'_>, node: &Node, of_outputs: &[Option<Value>]) -> Gradients {
    let dy = of_first(node, of_outputs)?;
    let (x, repeats) = (tape.input(node, 0)?, tape.input(node, 1)?);
    let shape = tape.builder.shape(&x)?;
    let repeats = tape.builder.fact(&repeats).and_then(|fact| fact.value.clone());
    let Some(repeats) = repeats.filter(|repeats| repeats.len() == shape.len()) else {
        return Err(uncovered(node, "repeats that are not known before the network runs"));
    };
    let mut split = Vec::new();
    let mut copies = Vec::new();
    for (dim, n) in shape.iter().zip(&repeats) {
        if !n.is_one() {
            copies.push(whole(split.len()));
            split.push(n.clone());
        }
        split.push(dim.clone());
    }
    let split = tape.builder.reshape(&dy, &split)?;
    let sum = tape.builder.reduce_sum(&split, &copies, false)?;
    Ok(vec![Some(tape.builder.reshape_like(&sum, &x)?)])
}

/// `y = Concat(x…)`: each part gets its own piece.
pub(super) fn concat(tape: &mut Tape<'_>, node: &Node, of_outputs: &[Option<Value>]) -> Gradients {
    let dy = of_first(node, of_outputs)?;
    let axis = tape.axis(node, &dy, node.int("axis").unwrap_or(0))?;
    let mut found = Vec::with_capacity(node.inputs.len());
    let mut start = 0;
    for idx in 0..node.inputs.len() {
        let x = tape.input(node, idx)?;
        if let ([_], Some(true)) = (node.inputs.as_slice(), Some(tape.wants(node, idx))) {
            return Ok(vec![Some(dy)]);
        }
        let end = start + whole(tape.builder.size(&x, axis)?);
        let piece = if tape.wants(node, idx) {
            Some(tape.builder.slice(&dy, whole(axis), start, end)?)
        } else {
            None
        };
        found.push(piece);
        start = end;
    }
    Ok(found)
}

/// `y… = Split(x)`: the pieces joined again, with zeros for pieces that nobody used.
pub(super) fn split(tape: &mut Tape<'_>, node: &Node, of_outputs: &[Option<Value>]) -> Gradients {
    let x = tape.input(node, 0)?;
    let axis = tape.axis(node, &x, node.int("axis").unwrap_or(0))?;
    let mut pieces = Vec::with_capacity(of_outputs.len());
    for (idx, gradient) in of_outputs.iter().enumerate() {
        pieces.push(match gradient {
            Some(gradient) => gradient.clone(),
            None => {
                let y = tape.output(node, idx)?;
                tape.filled_like(&y, 0.0)?
            }
        });
    }
    let pieces: Vec<&Value> = pieces.iter().collect();
    Ok(vec![Some(tape.builder.concat(&pieces, whole(axis))?)])
}

/// `y = Slice(x)`: the gradient in its place, zeros around it and between.
pub(super) fn slice(tape: &mut Tape<'_>, node: &Node, of_outputs: &[Option<Value>]) -> Gradients {
    let dy = of_first(node, of_outputs)?;
    let x = tape.input(node, 0)?;
    let rank = tape.builder.rank(&x)?;
    let starts = known_input(tape, node, 1)?.unwrap_or_default();
    let axes = known_input(tape, node, 3)?.unwrap_or_else(|| (0..whole(starts.len())).collect());
    let steps = known_input(tape, node, 4)?.unwrap_or_else(|| vec![1; starts.len()]);

    let mut dx = dy;
    let mut pads = vec![0; 2 * rank];
    for ((&start, &axis), &step) in starts.iter().zip(&axes).zip(&steps) {
        let axis = tape.axis(node, &x, axis)?;
        let shape = (tape.builder.shape(&x)?, tape.builder.shape(&dx)?);
        if step == 1 && shape.0[axis] == shape.1[axis] {
            continue;
        }
        let (size, n_taken) =
            (whole(tape.builder.size(&x, axis)?), whole(tape.builder.size(&dx, axis)?));
        let mut first = if start < 0 { start.saturating_add(size) } else { start };
        first = first.clamp(0, if step < 0 { size - 1 } else { size });
        if step < 0 {
            // Taken backwards: turn it round, and it was taken forwards from its other end.
            dx = reversed(tape, &dx, axis)?;
            first += step * (n_taken - 1);
        }
        let gap = step.abs();
        if 1 < gap {
            dx = spread(tape, &dx, axis, gap)?;
        }
        // Spreading leaves zeros behind the last number too; they are part of what follows.
        let n_covered = if gap == 1 { n_taken } else { n_taken * gap };
        pads[axis] = first;
        pads[axis + rank] = size - first - n_covered;
    }
    Ok(vec![Some(padded(tape, &dx, &pads)?)])
}

/// `y = Pad(x)` with constants: the piece in the middle. Other modes are in `resample.rs`.
pub(super) fn pad_constant(
    tape: &mut Tape<'_>,
    node: &Node,
    of_outputs: &[Option<Value>],
) -> Gradients {
    let dy = of_first(node, of_outputs)?;
    let Some(pads) = known_input(tape, node, 1)? else {
        return Err(uncovered(node, "padding without sizes"));
    };
    let pads: Vec<i64> = pads.iter().map(|&pad| -pad).collect();
    Ok(vec![Some(padded(tape, &dy, &pads)?)])
}

/// `y = DepthToSpace(x)`: blocks of pixels go back into channels.
pub(super) fn depth_to_space(
    tape: &mut Tape<'_>,
    node: &Node,
    of_outputs: &[Option<Value>],
) -> Gradients {
    let dy = of_first(node, of_outputs)?;
    let x = tape.input(node, 0)?;
    let shape = tape.builder.shape(&dy)?;
    let block = node.int("blocksize").unwrap_or(1);
    let [batch, channels, _, _] = shape.as_slice() else {
        return Err(uncovered(node, "anything but pictures"));
    };
    let (height, width) = (tape.builder.size(&x, 2)?, tape.builder.size(&x, 3)?);
    let split = [
        batch.clone(),
        channels.clone(),
        Dim::from_size(height),
        Dim::known(block),
        Dim::from_size(width),
        Dim::known(block),
    ];
    let order: &[i64] = match node.text("mode") {
        Some("CRD") => &[0, 1, 3, 5, 2, 4],
        _ => &[0, 3, 5, 1, 2, 4],
    };
    let blocks = tape.builder.reshape(&dy, &split)?;
    let blocks = tape.builder.transpose(&blocks, order)?;
    Ok(vec![Some(tape.builder.reshape_like(&blocks, &x)?)])
}

/// `y = SpaceToDepth(x)`: channels go back into blocks of pixels.
pub(super) fn space_to_depth(
    tape: &mut Tape<'_>,
    node: &Node,
    of_outputs: &[Option<Value>],
) -> Gradients {
    let dy = of_first(node, of_outputs)?;
    let x = tape.input(node, 0)?;
    let shape = tape.builder.shape(&x)?;
    let block = node.int("blocksize").unwrap_or(1);
    let [batch, channels, _, _] = shape.as_slice() else {
        return Err(uncovered(node, "anything but pictures"));
    };
    let (height, width) = (tape.builder.size(&dy, 2)?, tape.builder.size(&dy, 3)?);
    let split = [
        batch.clone(),
        Dim::known(block),
        Dim::known(block),
        channels.clone(),
        Dim::from_size(height),
        Dim::from_size(width),
    ];
    let blocks = tape.builder.reshape(&dy, &split)?;
    let blocks = tape.builder.transpose(&blocks, &[0, 3, 4, 1, 5, 2])?;
    Ok(vec![Some(tape.builder.reshape_like(&blocks, &x)?)])
}

/// `y = Trilu(x)`: the gradient of the triangle that was kept.
pub(super) fn trilu(tape: &mut Tape<'_>, node: &Node, of_outputs: &[Option<Value>]) -> Gradients {
    let dy = of_first(node, of_outputs)?;
    let diagonal = tape.optional_input(node, 1)?;
    let inputs: Vec<&Value> = std::iter::once(&dy).chain(diagonal.as_ref()).collect();
    let upper = Attribute::Int(node.int("upper").unwrap_or(1));
    Ok(vec![Some(tape.builder.op("Trilu", &inputs, vec![("upper", upper)])?)])
}

/// The contents of an input that has to be known if it is there.
pub(super) fn known_input(
    tape: &Tape<'_>,
    node: &Node,
    idx: usize,
) -> Result<Option<Vec<i64>>, GradError> {
    let Some(value) = tape.optional_input(node, idx)? else { return Ok(None) };
    match tape.builder.known_list(&value) {
        Some(numbers) => Ok(Some(numbers)),
        None => Err(uncovered(
            node,
            &format!("an input `{value}` that is not known before the network runs"),
        )),
    }
}

/// `x` with zeros around it, or less of it where a number is negative.
pub(super) fn padded(tape: &mut Tape<'_>, x: &Value, pads: &[i64]) -> Result<Value, BuildError> {
    let rank = pads.len() / 2;
    let mut found = x.clone();
    let (mut starts, mut ends, mut axes) = (vec![], vec![], vec![]);
    for axis in 0..rank {
        let (before, after) = (pads[axis].min(0), pads[axis + rank].min(0));
        if before != 0 || after != 0 {
            starts.push(-before);
            ends.push(if after == 0 { i64::MAX } else { after });
            axes.push(whole(axis));
        }
    }
    if !axes.is_empty() {
        let lists = [starts, ends, axes].map(|numbers| tape.builder.list(&numbers));
        let [starts, ends, axes] = &lists;
        found = tape.builder.op("Slice", &[&found, starts, ends, axes], vec![])?;
    }
    if pads.iter().any(|&pad| 0 < pad) {
        let pads: Vec<i64> = pads.iter().map(|&pad| pad.max(0)).collect();
        let pads = tape.builder.list(&pads);
        found = tape.builder.op("Pad", &[&found, &pads], vec![])?;
    }
    Ok(found)
}

/// `x` backwards along a dimension.
fn reversed(tape: &mut Tape<'_>, x: &Value, axis: usize) -> Result<Value, BuildError> {
    let lists = [vec![-1], vec![i64::MIN], vec![whole(axis)], vec![-1]];
    let lists = lists.map(|numbers| tape.builder.list(&numbers));
    let [starts, ends, axes, steps] = &lists;
    tape.builder.op("Slice", &[x, starts, ends, axes, steps], vec![])
}

/// `x` along a dimension with `gap − 1` zeros behind each number.
fn spread(tape: &mut Tape<'_>, x: &Value, axis: usize, gap: i64) -> Result<Value, BuildError> {
    let mut shape = tape.builder.shape(x)?;
    let rank = shape.len();
    let open = tape.builder.unsqueeze(x, &[whole(axis) + 1])?;
    let mut pads = vec![0; 2 * (rank + 1)];
    pads[rank + 1 + axis + 1] = gap - 1;
    let wide = padded(tape, &open, &pads)?;
    if let Some(dim) = shape.get_mut(axis) {
        *dim = dim.times(&Dim::known(gap)).unwrap_or_else(|| dim.clone());
    }
    tape.builder.reshape(&wide, &shape)
}
