//! Gradients of picking by index: gathering takes numbers out, its gradient adds them back in.

use super::operator::{Gradients, of_first};
use super::{GradError, Tape, uncovered};
use crate::build::Value;
use crate::dim::whole;
use crate::graph::{Attribute, Node};

/// `y = Gather(x, indices)`: what was taken several times gets the sum.
pub(super) fn gather(tape: &mut Tape<'_>, node: &Node, of_outputs: &[Option<Value>]) -> Gradients {
    let dy = of_first(node, of_outputs)?;
    let (x, indices) = (tape.input(node, 0)?, tape.input(node, 1)?);
    let axis = tape.axis(node, &x, node.int("axis").unwrap_or(0))?;

    if let Some(range) = consecutive(tape, &x, &indices, axis) {
        return Ok(vec![Some(put_range_back(tape, &x, &dy, axis, range)?)]);
    }
    // Bring the gathered dimension to the front, where whole rows can be added by number.
    let rank = tape.builder.rank(&x)?;
    let n_index_dims = tape.builder.rank(&indices)?;
    let index_dims = axis..axis + n_index_dims;
    let front = index_dims
        .clone()
        .chain((0..tape.builder.rank(&dy)?).filter(|dim| !index_dims.contains(dim)));
    let dy_order: Vec<i64> = front.map(whole).collect();
    let rows = tape.builder.transpose(&dy, &dy_order)?;
    let x_order: Vec<i64> =
        std::iter::once(axis).chain((0..rank).filter(|&dim| dim != axis)).map(whole).collect();
    let x_front = tape.builder.transpose(&x, &x_order)?;
    let zeros = tape.filled_like(&x_front, 0.0)?;
    let places = tape.builder.unsqueeze(&indices, &[whole(n_index_dims)])?;
    let sums = add_at(tape, "ScatterND", &zeros, &places, &rows, vec![])?;
    let mut back = vec![0; rank];
    for (to, &from) in (0..).zip(&x_order) {
        back[usize::try_from(from).unwrap_or(0)] = to;
    }
    Ok(vec![Some(tape.builder.transpose(&sums, &back)?)])
}

/// `y = GatherElements(x, indices)`
pub(super) fn gather_elements(
    tape: &mut Tape<'_>,
    node: &Node,
    of_outputs: &[Option<Value>],
) -> Gradients {
    let dy = of_first(node, of_outputs)?;
    let (x, indices) = (tape.input(node, 0)?, tape.input(node, 1)?);
    let zeros = tape.filled_like(&x, 0.0)?;
    let axis = ("axis", Attribute::Int(node.int("axis").unwrap_or(0)));
    Ok(vec![Some(add_at(tape, "ScatterElements", &zeros, &indices, &dy, vec![axis])?)])
}

/// `y = GatherND(x, indices)`
pub(super) fn gather_nd(
    tape: &mut Tape<'_>,
    node: &Node,
    of_outputs: &[Option<Value>],
) -> Gradients {
    let dy = of_first(node, of_outputs)?;
    if node.int("batch_dims").unwrap_or(0) != 0 {
        return Err(uncovered(node, "`batch_dims` other than 0"));
    }
    let (x, indices) = (tape.input(node, 0)?, tape.input(node, 1)?);
    let zeros = tape.filled_like(&x, 0.0)?;
    Ok(vec![Some(add_at(tape, "ScatterND", &zeros, &indices, &dy, vec![])?)])
}

/// `y = ScatterElements(x, indices, updates)`, putting or adding.
pub(super) fn scatter_elements(
    tape: &mut Tape<'_>,
    node: &Node,
    of_outputs: &[Option<Value>],
) -> Gradients {
    let axis = ("axis", Attribute::Int(node.int("axis").unwrap_or(0)));
    scatter(tape, node, of_outputs, ["ScatterElements", "GatherElements"], &[axis])
}

/// `y = ScatterND(x, indices, updates)`, putting or adding.
pub(super) fn scatter_nd(
    tape: &mut Tape<'_>,
    node: &Node,
    of_outputs: &[Option<Value>],
) -> Gradients {
    scatter(tape, node, of_outputs, ["ScatterND", "GatherND"], &[])
}

/// What was put at a place takes that place's gradient; what was there before loses it, unless the
/// update was added to it.
fn scatter(
    tape: &mut Tape<'_>,
    node: &Node,
    of_outputs: &[Option<Value>],
    [scatter_op, gather_op]: [&str; 2],
    settings: &[(&str, Attribute)],
) -> Gradients {
    let dy = of_first(node, of_outputs)?;
    let (indices, updates) = (tape.input(node, 1)?, tape.input(node, 2)?);
    let of_updates = tape.builder.op(gather_op, &[&dy, &indices], settings.to_vec())?;
    let of_x = match node.text("reduction") {
        Some("add") => dy,
        None | Some("none") => {
            let zeros = tape.filled_like(&updates, 0.0)?;
            tape.builder.op(scatter_op, &[&dy, &indices, &zeros], settings.to_vec())?
        }
        Some(other) => return Err(uncovered(node, &format!("the reduction `{other}`"))),
    };
    Ok(vec![Some(of_x), None, Some(of_updates)])
}

/// `y, indices = TopK(x)`: the gradient of the values that were chosen.
pub(super) fn top_k(tape: &mut Tape<'_>, node: &Node, of_outputs: &[Option<Value>]) -> Gradients {
    let dy = of_first(node, of_outputs)?;
    let (x, indices) = (tape.input(node, 0)?, tape.output(node, 1)?);
    let zeros = tape.filled_like(&x, 0.0)?;
    let axis = ("axis", Attribute::Int(node.int("axis").unwrap_or(-1)));
    Ok(vec![Some(add_at(tape, "ScatterElements", &zeros, &indices, &dy, vec![axis])?)])
}

/// Adds updates to the places that indices name.
fn add_at(
    tape: &mut Tape<'_>,
    op: &str,
    base: &Value,
    indices: &Value,
    updates: &Value,
    mut settings: Vec<(&str, Attribute)>,
) -> Result<Value, GradError> {
    settings.push(("reduction", Attribute::Text("add".to_owned())));
    Ok(tape.builder.op(op, &[base, indices, updates], settings)?)
}

/// The first of the indices, if they count up one by one along a dimension of known size: then
/// gathering is cutting out a piece, and the gradient is the piece with zeros around it.
fn consecutive(tape: &Tape<'_>, x: &Value, indices: &Value, axis: usize) -> Option<i64> {
    let size = whole(tape.builder.size(x, axis).ok()?);
    let numbers = tape.builder.known_list(indices)?;
    let at = |number: i64| if number < 0 { number + size } else { number };
    let first = at(*numbers.first()?);
    numbers.iter().zip(first..).all(|(&number, expected)| at(number) == expected).then_some(first)
}

fn put_range_back(
    tape: &mut Tape<'_>,
    x: &Value,
    dy: &Value,
    axis: usize,
    first: i64,
) -> Result<Value, GradError> {
    let shape = tape.builder.shape(x)?;
    let rank = shape.len();
    let size = whole(tape.builder.size(x, axis)?);
    // Index dimensions are joined into the one they came from.
    let n_taken = {
        let dy_shape = tape.builder.shape(dy)?;
        let n_index_dims = dy_shape.len() + 1 - rank;
        dy_shape
            .iter()
            .skip(axis)
            .take(n_index_dims)
            .filter_map(crate::Dim::as_known)
            .product::<i64>()
    };
    let mut piece_shape = shape;
    piece_shape[axis] = crate::Dim::known(n_taken);
    let piece = if piece_shape.iter().filter(|dim| dim.as_known().is_none()).count() <= 1 {
        tape.builder.reshape(dy, &piece_shape)?
    } else if tape.builder.rank(dy)? + 1 == rank {
        tape.builder.unsqueeze(dy, &[whole(axis)])?
    } else {
        dy.clone()
    };
    let mut pads = vec![0; 2 * rank];
    pads[axis] = first;
    pads[axis + rank] = size - first - n_taken;
    Ok(super::shape::padded(tape, &piece, &pads)?)
}
