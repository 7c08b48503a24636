//! Gradients of softmax and its logarithm.
//!
//! In the formulas `y` is what the node makes and `dy` its gradient; sums run along the node's
//! dimension. Only the meaning from opset 13 on, one dimension, is covered.

use super::Tape;
use super::elementwise::unary;
use super::operator::Gradients;
use crate::build::Value;
use crate::graph::Node;

/// `y = eˣ / Σ eˣ`: `dx = y · (dy − Σ dy · y)`.
pub(super) fn softmax(tape: &mut Tape<'_>, node: &Node, of_outputs: &[Option<Value>]) -> Gradients {
    let axis = node.int("axis").unwrap_or(-1);
    unary(tape, node, of_outputs, |tape, dy, _, y| {
        let product = tape.builder.mul(dy, y)?;
        let sum = tape.builder.reduce_sum(&product, &[axis], true)?;
        let centred = tape.builder.sub(dy, &sum)?;
        tape.builder.mul(y, &centred)
    })
}

/// `y = x − ln Σ eˣ`: `dx = dy − e^y · Σ dy`.
pub(super) fn log_softmax(
    tape: &mut Tape<'_>,
    node: &Node,
    of_outputs: &[Option<Value>],
) -> Gradients {
    let axis = node.int("axis").unwrap_or(-1);
    unary(tape, node, of_outputs, |tape, dy, _, y| {
        let share = tape.builder.unary("Exp", y)?;
        let sum = tape.builder.reduce_sum(dy, &[axis], true)?;
        let part = tape.builder.mul(&share, &sum)?;
        tape.builder.sub(dy, &part)
    })
}
