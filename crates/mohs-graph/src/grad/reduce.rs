//! Gradients of reductions: sums, means, extremes, products and norms over dimensions.
//!
//! In the formulas `y` is what the node makes, `x` what it uses, and `dy` the gradient of `y`; `y`
//! and `dy` are spread again over the dimensions that were reduced. Which dimensions those are has
//! to be known before the network runs.

use super::elementwise::signed;
use super::operator::{Gradients, of_first};
use super::{GradError, Tape, uncovered};
use crate::build::Value;
use crate::graph::{Attribute, Node};

/// A reduction, seen from its gradient.
struct Reduction {
    x: Value,
    /// What the node makes, with dimensions of size one where it reduced.
    y: Value,
    /// Its gradient, in the same shape.
    dy: Value,
    /// The dimensions that were reduced; empty if the node reduces nothing.
    axes: Vec<i64>,
}

/// Looks at a reduction; brings back the dimensions that it dropped.
fn reduction(
    tape: &mut Tape<'_>,
    node: &Node,
    of_outputs: &[Option<Value>],
) -> Result<Reduction, GradError> {
    let dy = of_first(node, of_outputs)?;
    let (x, y) = (tape.input(node, 0)?, tape.output(node, 0)?);
    let rank = i64::try_from(tape.builder.rank(&x)?).map_err(|_| uncovered(node, "its rank"))?;
    let mut axes = match tape.optional_input(node, 1)? {
        Some(list) => tape.builder.known_list(&list).ok_or_else(|| {
            uncovered(node, "dimensions chosen while it runs; needed: constant axes")
        })?,
        None => node.ints("axes").map(<[i64]>::to_vec).unwrap_or_default(),
    };
    if axes.is_empty() {
        if node.int("noop_with_empty_axes") == Some(1) {
            return Ok(Reduction { x, y, dy, axes });
        }
        axes = (0..rank).collect();
    }
    for axis in &mut axes {
        if *axis < 0 {
            *axis = axis.saturating_add(rank);
        }
        if *axis < 0 || rank <= *axis {
            return Err(uncovered(node, &format!("dimension {axis} of {rank}")));
        }
    }
    axes.sort_unstable();
    axes.dedup();
    let keeps = node.int("keepdims").unwrap_or(1) != 0;
    if keeps || axes.is_empty() {
        return Ok(Reduction { x, y, dy, axes });
    }
    let dy = tape.builder.unsqueeze(&dy, &axes)?;
    Ok(Reduction { x, y, dy, axes })
}

impl Reduction {
    /// Brings back the dimensions that were dropped from `y`, for rules that use it.
    fn with_wide_y(mut self, tape: &mut Tape<'_>, node: &Node) -> Result<Reduction, GradError> {
        if node.int("keepdims") == Some(0) && !self.axes.is_empty() {
            self.y = tape.builder.unsqueeze(&self.y, &self.axes)?;
        }
        Ok(self)
    }

    /// Refuses a node that reduces nothing, of which readers of the standard think differently.
    fn that_reduces(self, node: &Node) -> Result<Reduction, GradError> {
        if self.axes.is_empty() && node.int("noop_with_empty_axes") == Some(1) {
            return Err(uncovered(node, "no dimensions to reduce; needed: axes"));
        }
        Ok(self)
    }
}

/// `y = Σ x`: `dx = dy`.
pub(super) fn sum(tape: &mut Tape<'_>, node: &Node, of_outputs: &[Option<Value>]) -> Gradients {
    let found = reduction(tape, node, of_outputs)?;
    Ok(vec![Some(tape.builder.expand_like(&found.dy, &found.x)?)])
}

/// `y = Σ x / n`: `dx = dy / n`.
pub(super) fn mean(tape: &mut Tape<'_>, node: &Node, of_outputs: &[Option<Value>]) -> Gradients {
    let Reduction { x, dy, axes, .. } = reduction(tape, node, of_outputs)?;
    if axes.is_empty() {
        return Ok(vec![Some(dy)]);
    }
    let float = tape.builder.element_type(&dy);
    let n = tape.ratio_of_sizes(&x, &dy)?;
    let n = tape.builder.cast(&n, float)?;
    let part = tape.builder.div(&dy, &n)?;
    Ok(vec![Some(tape.builder.expand_like(&part, &x)?)])
}

/// `y = max x` or `min x`: `dy` goes to the elements that equal `y`, in equal shares.
pub(super) fn extreme(tape: &mut Tape<'_>, node: &Node, of_outputs: &[Option<Value>]) -> Gradients {
    let found = reduction(tape, node, of_outputs)?;
    let Reduction { x, y, dy, axes } = found.with_wide_y(tape, node)?;
    if axes.is_empty() {
        return Ok(vec![Some(dy)]);
    }
    let float = tape.builder.element_type(&dy);
    let is_hit = tape.builder.compare("Equal", &x, &y)?;
    let hit = tape.builder.cast(&is_hit, float)?;
    let n_hits = tape.builder.reduce_sum(&hit, &axes, true)?;
    let part = tape.builder.div(&dy, &n_hits)?;
    Ok(vec![Some(tape.builder.mul(&hit, &part)?)])
}

/// `y = Π x`: `dx = dy` times the product of the other factors.
///
/// The product is taken without the zeros and divided by the factor itself; factors that have a
/// zero beside them get 0. That is exact however many zeros there are.
pub(super) fn prod(tape: &mut Tape<'_>, node: &Node, of_outputs: &[Option<Value>]) -> Gradients {
    let found = reduction(tape, node, of_outputs)?.that_reduces(node)?;
    let Reduction { x, dy, axes, .. } = found;
    let float = tape.builder.element_type(&x);
    let (zero, one) = (tape.number(0.0, &x), tape.number(1.0, &x));
    let is_zero = tape.builder.compare("Equal", &x, &zero)?;
    let factors = tape.builder.choose(&is_zero, &one, &x)?;
    let product = tape.builder.reduce("ReduceProd", &factors, &axes, true)?;
    let zeros = tape.builder.cast(&is_zero, float)?;
    let n_zeros = tape.builder.reduce_sum(&zeros, &axes, true)?;
    let n_other_zeros = tape.builder.sub(&n_zeros, &zeros)?;
    let has_other_zeros = tape.builder.compare("Greater", &n_other_zeros, &zero)?;
    let scaled = tape.builder.mul(&dy, &product)?;
    let others = tape.builder.div(&scaled, &factors)?;
    Ok(vec![Some(tape.builder.choose(&has_other_zeros, &zero, &others)?)])
}

/// `y = Σ |x|`: `dx = dy · sign(x)`, 0 at 0.
pub(super) fn l1(tape: &mut Tape<'_>, node: &Node, of_outputs: &[Option<Value>]) -> Gradients {
    let Reduction { x, dy, .. } = reduction(tape, node, of_outputs)?.that_reduces(node)?;
    Ok(vec![Some(signed(tape, &dy, &x)?)])
}

/// `y = √(Σ x²)`: `dx = dy · x / y`, 0 where `y` is 0.
pub(super) fn l2(tape: &mut Tape<'_>, node: &Node, of_outputs: &[Option<Value>]) -> Gradients {
    let found = reduction(tape, node, of_outputs)?.that_reduces(node)?;
    let Reduction { x, y, dy, .. } = found.with_wide_y(tape, node)?;
    let zero = tape.number(0.0, &y);
    let is_zero = tape.builder.compare("Equal", &y, &zero)?;
    let ratio = tape.builder.div(&dy, &y)?;
    let ratio = tape.builder.choose(&is_zero, &zero, &ratio)?;
    Ok(vec![Some(tape.builder.mul(&x, &ratio)?)])
}

/// `y = ln Σ x`: `dx = dy / e^y`.
pub(super) fn log_sum(tape: &mut Tape<'_>, node: &Node, of_outputs: &[Option<Value>]) -> Gradients {
    let found = reduction(tape, node, of_outputs)?.that_reduces(node)?;
    let Reduction { x, y, dy, .. } = found.with_wide_y(tape, node)?;
    let sum = tape.builder.unary("Exp", &y)?;
    let part = tape.builder.div(&dy, &sum)?;
    Ok(vec![Some(tape.builder.expand_like(&part, &x)?)])
}

/// `y = ln Σ eˣ`: `dx = dy · e^(x − y)`.
pub(super) fn log_sum_exp(
    tape: &mut Tape<'_>,
    node: &Node,
    of_outputs: &[Option<Value>],
) -> Gradients {
    let found = reduction(tape, node, of_outputs)?.that_reduces(node)?;
    let Reduction { x, y, dy, .. } = found.with_wide_y(tape, node)?;
    let below = tape.builder.sub(&x, &y)?;
    let share = tape.builder.unary("Exp", &below)?;
    Ok(vec![Some(tape.builder.mul(&dy, &share)?)])
}

/// `y = Σ x²`: `dx = 2 dy · x`.
pub(super) fn sum_square(
    tape: &mut Tape<'_>,
    node: &Node,
    of_outputs: &[Option<Value>],
) -> Gradients {
    let Reduction { x, dy, .. } = reduction(tape, node, of_outputs)?.that_reduces(node)?;
    let two = tape.number(2.0, &dy);
    let double = tape.builder.mul(&dy, &two)?;
    Ok(vec![Some(tape.builder.mul(&x, &double)?)])
}

/// Sums along a dimension so far: `dx` sums `dy` from the other end.
pub(super) fn cum_sum(tape: &mut Tape<'_>, node: &Node, of_outputs: &[Option<Value>]) -> Gradients {
    let dy = of_first(node, of_outputs)?;
    let axis = tape.input(node, 1)?;
    let is_reverse = node.int("reverse").unwrap_or(0) != 0;
    let attributes = vec![
        ("reverse", Attribute::Int(i64::from(!is_reverse))),
        ("exclusive", Attribute::Int(node.int("exclusive").unwrap_or(0))),
    ];
    Ok(vec![Some(tape.builder.op("CumSum", &[&dy, &axis], attributes)?)])
}
