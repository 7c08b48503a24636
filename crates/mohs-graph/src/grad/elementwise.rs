//! Gradients of operators that work element by element, with broadcasting.
//!
//! In the formulas `y` is what the node makes, `x`, `a`, `b` what it uses, and `dy` the gradient of
//! `y`. Where an input was repeated by broadcasting, its gradient is summed over the copies. At kinks
//! the rules follow PyTorch. Activation functions have a file of their own.
//!
//! The operator Sign is avoided where zero matters: the engines disagree about the sign of zero.

use std::collections::BTreeSet;

use super::operator::{Gradients, of_first};
use super::{GradError, Tape, uncovered};
use crate::build::{BuildError, Value};
use crate::graph::Node;
use crate::tensor::Tensor;

/// A rule for one input: `slope` gets `dy`, `x` and `y` and writes the gradient of `x`.
pub(super) fn unary(
    tape: &mut Tape<'_>,
    node: &Node,
    of_outputs: &[Option<Value>],
    slope: impl FnOnce(&mut Tape<'_>, &Value, &Value, &Value) -> Result<Value, BuildError>,
) -> Gradients {
    let dy = of_first(node, of_outputs)?;
    let (x, y) = (tape.input(node, 0)?, tape.output(node, 0)?);
    Ok(vec![Some(slope(tape, &dy, &x, &y)?)])
}

/// Whether an operator's derivative has poles, so that its gradient may be infinite.
pub(super) fn is_singular(node: &Node, moving: &BTreeSet<String>) -> bool {
    let moves = |idx: usize| node.input(idx).is_some_and(|name| moving.contains(name));
    match node.op.as_str() {
        "Sqrt" | "Log" | "Reciprocal" | "Tan" | "ReduceLogSum" | "Pow" => moves(0) || moves(1),
        "Div" => moves(1),
        _ => false,
    }
}

/// `dy` where `condition` holds, else 0.
///
/// Behind poles `dy` may be infinite where nothing is to pass, and has to be chosen away; without
/// them a product with 1 or 0 does, in two thirds of the time.
pub(super) fn gated(
    tape: &mut Tape<'_>,
    condition: &Value,
    dy: &Value,
) -> Result<Value, BuildError> {
    if tape.stays_finite() {
        let float = tape.builder.element_type(dy);
        let gate = tape.builder.cast(condition, float)?;
        return tape.builder.mul(dy, &gate);
    }
    let zero = tape.number(0.0, dy);
    tape.builder.choose(condition, dy, &zero)
}

/// `dy · sign(x)`, and 0 where `x` is 0.
pub(super) fn signed(tape: &mut Tape<'_>, dy: &Value, x: &Value) -> Result<Value, BuildError> {
    let zero = tape.number(0.0, x);
    let sign = tape.builder.unary("Sign", x)?;
    let signed = tape.builder.mul(dy, &sign)?;
    let is_zero = tape.builder.compare("Equal", x, &zero)?;
    let zero = tape.number(0.0, dy);
    tape.builder.choose(&is_zero, &zero, &signed)
}

/// `a + b`: both get `dy`.
pub(super) fn add(tape: &mut Tape<'_>, node: &Node, of_outputs: &[Option<Value>]) -> Gradients {
    sum(tape, node, of_outputs)
}

/// `a + b + …`: each gets `dy`.
pub(super) fn sum(tape: &mut Tape<'_>, node: &Node, of_outputs: &[Option<Value>]) -> Gradients {
    let dy = of_first(node, of_outputs)?;
    share(tape, node, &dy)
}

/// `(a + b + …) / n`: each gets `dy / n`.
pub(super) fn mean(tape: &mut Tape<'_>, node: &Node, of_outputs: &[Option<Value>]) -> Gradients {
    let dy = of_first(node, of_outputs)?;
    #[expect(clippy::cast_precision_loss, reason = "a node has few inputs")]
    let n_inputs = node.inputs.len() as f64;
    let part = tape.number(1.0 / n_inputs, &dy);
    let part = tape.builder.mul(&dy, &part)?;
    share(tape, node, &part)
}

/// Gives the same gradient to every input, summed to the input's shape.
fn share(tape: &mut Tape<'_>, node: &Node, gradient: &Value) -> Gradients {
    let mut found = Vec::with_capacity(node.inputs.len());
    for idx in 0..node.inputs.len() {
        found.push(if tape.wants(node, idx) {
            let x = tape.input(node, idx)?;
            Some(tape.sum_to_shape_of(gradient, &x)?)
        } else {
            None
        });
    }
    Ok(found)
}

/// `a − b`: `da = dy`, `db = −dy`.
pub(super) fn sub(tape: &mut Tape<'_>, node: &Node, of_outputs: &[Option<Value>]) -> Gradients {
    let dy = of_first(node, of_outputs)?;
    let (a, b) = (tape.input(node, 0)?, tape.input(node, 1)?);
    let da = if tape.wants(node, 0) { Some(tape.sum_to_shape_of(&dy, &a)?) } else { None };
    let db = if tape.wants(node, 1) {
        let summed = tape.sum_to_shape_of(&dy, &b)?;
        Some(tape.builder.unary("Neg", &summed)?)
    } else {
        None
    };
    Ok(vec![da, db])
}

/// `a · b`: `da = dy · b`, `db = dy · a`.
pub(super) fn mul(tape: &mut Tape<'_>, node: &Node, of_outputs: &[Option<Value>]) -> Gradients {
    let dy = of_first(node, of_outputs)?;
    let (a, b) = (tape.input(node, 0)?, tape.input(node, 1)?);
    let mut found = Vec::with_capacity(2);
    for (idx, x, other) in [(0, &a, &b), (1, &b, &a)] {
        found.push(if tape.wants(node, idx) {
            let wide = tape.builder.mul(&dy, other)?;
            Some(tape.sum_to_shape_of(&wide, x)?)
        } else {
            None
        });
    }
    Ok(found)
}

/// `y = a / b`: `da = dy / b`, `db = −da · y`.
pub(super) fn div(tape: &mut Tape<'_>, node: &Node, of_outputs: &[Option<Value>]) -> Gradients {
    let dy = of_first(node, of_outputs)?;
    let (a, b) = (tape.input(node, 0)?, tape.input(node, 1)?);
    let wide = tape.builder.div(&dy, &b)?;
    let da = if tape.wants(node, 0) { Some(tape.sum_to_shape_of(&wide, &a)?) } else { None };
    let db = if tape.wants(node, 1) {
        let y = tape.output(node, 0)?;
        let wide = tape.builder.mul(&wide, &y)?;
        let summed = tape.sum_to_shape_of(&wide, &b)?;
        Some(tape.builder.unary("Neg", &summed)?)
    } else {
        None
    };
    Ok(vec![da, db])
}

/// `y = x^p`: `dx = dy · p · x^(p−1)`, 0 where `p` is 0; `dp = dy · y · ln x`, 0 where `x` is 0 and
/// `p` is not negative.
///
/// Constant exponents 2, 3, ½, −1, 1 and 0 are written without a power.
pub(super) fn pow(tape: &mut Tape<'_>, node: &Node, of_outputs: &[Option<Value>]) -> Gradients {
    let dy = of_first(node, of_outputs)?;
    let (x, p) = (tape.input(node, 0)?, tape.input(node, 1)?);
    let dx = if tape.wants(node, 0) {
        let constant = tape.builder.constant_of(&p).filter(|tensor| tensor.len() == 1);
        let known = constant.and_then(Tensor::to_f64).and_then(|numbers| numbers.first().copied());
        let wide = match known {
            Some(number) if !tape.wants(node, 1) => of_power(tape, node, &dy, &x, number)?,
            _ => of_base(tape, &dy, &x, &p)?,
        };
        Some(tape.sum_to_shape_of(&wide, &x)?)
    } else {
        None
    };
    let dp = if tape.wants(node, 1) {
        let y = tape.output(node, 0)?;
        let log = tape.builder.unary("Log", &x)?;
        let slope = tape.builder.mul(&y, &log)?;
        let (zero, zero_power) = (tape.number(0.0, &x), tape.number(0.0, &p));
        let base_is_zero = tape.builder.compare("Equal", &x, &zero)?;
        let not_negative = tape.builder.compare("GreaterOrEqual", &p, &zero_power)?;
        let is_flat = tape.builder.op("And", &[&base_is_zero, &not_negative], vec![])?;
        let slope = tape.builder.choose(&is_flat, &zero, &slope)?;
        let wide = tape.builder.mul(&dy, &slope)?;
        Some(tape.sum_to_shape_of(&wide, &p)?)
    } else {
        None
    };
    Ok(vec![dx, dp])
}

/// `dy · p · x^(p−1)` for an exponent that is known.
fn of_power(
    tape: &mut Tape<'_>,
    node: &Node,
    dy: &Value,
    x: &Value,
    p: f64,
) -> Result<Value, GradError> {
    let is = |number: f64| (p - number).abs() < f64::EPSILON;
    let factor = tape.number(p, dy);
    if is(0.0) {
        let zero = tape.number(0.0, dy);
        return Ok(tape.builder.mul(dy, &zero)?);
    }
    if is(1.0) {
        return Ok(dy.clone());
    }
    let slope = if is(2.0) {
        x.clone()
    } else if is(3.0) {
        tape.builder.mul(x, x)?
    } else if is(0.5) {
        let y = tape.output(node, 0)?;
        let ratio = tape.builder.div(dy, &y)?;
        return Ok(tape.builder.mul(&ratio, &factor)?);
    } else if is(-1.0) {
        let y = tape.output(node, 0)?;
        tape.builder.mul(&y, &y)?
    } else {
        let less = tape.number(p - 1.0, x);
        tape.builder.op("Pow", &[x, &less], vec![])?
    };
    let wide = tape.builder.mul(dy, &slope)?;
    Ok(tape.builder.mul(&wide, &factor)?)
}

/// `dy · p · x^(p−1)` for any exponent, 0 where it is 0.
fn of_base(tape: &mut Tape<'_>, dy: &Value, x: &Value, p: &Value) -> Result<Value, BuildError> {
    let to = tape.builder.element_type(x);
    let p = tape.builder.cast(p, to)?;
    let (zero, one) = (tape.number(0.0, x), tape.number(1.0, x));
    let less = tape.builder.sub(&p, &one)?;
    let power = tape.builder.op("Pow", &[x, &less], vec![])?;
    let slope = tape.builder.mul(&p, &power)?;
    let is_flat = tape.builder.compare("Equal", &p, &zero)?;
    let slope = tape.builder.choose(&is_flat, &zero, &slope)?;
    tape.builder.mul(dy, &slope)
}

/// `y = √x`: `dx = dy / (2 y)`.
pub(super) fn sqrt(tape: &mut Tape<'_>, node: &Node, of_outputs: &[Option<Value>]) -> Gradients {
    unary(tape, node, of_outputs, |tape, dy, _, y| {
        let half = tape.number(0.5, dy);
        let ratio = tape.builder.div(dy, y)?;
        tape.builder.mul(&ratio, &half)
    })
}

/// `y = 1 / x`: `dx = −dy · y²`.
pub(super) fn reciprocal(
    tape: &mut Tape<'_>,
    node: &Node,
    of_outputs: &[Option<Value>],
) -> Gradients {
    unary(tape, node, of_outputs, |tape, dy, _, y| {
        let square = tape.builder.mul(y, y)?;
        let slope = tape.builder.mul(dy, &square)?;
        tape.builder.unary("Neg", &slope)
    })
}

/// `y = −x`: `dx = −dy`.
pub(super) fn neg(tape: &mut Tape<'_>, node: &Node, of_outputs: &[Option<Value>]) -> Gradients {
    unary(tape, node, of_outputs, |tape, dy, _, _| tape.builder.unary("Neg", dy))
}

/// `y = |x|`: `dx = dy · sign(x)`, 0 at 0.
pub(super) fn abs(tape: &mut Tape<'_>, node: &Node, of_outputs: &[Option<Value>]) -> Gradients {
    unary(tape, node, of_outputs, |tape, dy, x, _| signed(tape, dy, x))
}

/// `y = eˣ`: `dx = dy · y`.
pub(super) fn exp(tape: &mut Tape<'_>, node: &Node, of_outputs: &[Option<Value>]) -> Gradients {
    unary(tape, node, of_outputs, |tape, dy, _, y| tape.builder.mul(dy, y))
}

/// `y = ln x`: `dx = dy / x`.
pub(super) fn log(tape: &mut Tape<'_>, node: &Node, of_outputs: &[Option<Value>]) -> Gradients {
    unary(tape, node, of_outputs, |tape, dy, x, _| tape.builder.div(dy, x))
}

/// `y = erf x`: `dx = dy · 2/√π · e^(−x²)`, with the factor inside the exponent.
pub(super) fn erf(tape: &mut Tape<'_>, node: &Node, of_outputs: &[Option<Value>]) -> Gradients {
    unary(tape, node, of_outputs, |tape, dy, x, _| {
        let factor = tape.number(std::f64::consts::FRAC_2_SQRT_PI.ln(), x);
        let square = tape.builder.mul(x, x)?;
        let exponent = tape.builder.sub(&factor, &square)?;
        let slope = tape.builder.unary("Exp", &exponent)?;
        tape.builder.mul(dy, &slope)
    })
}

/// `y = sin x`: `dx = dy · cos x`.
pub(super) fn sin(tape: &mut Tape<'_>, node: &Node, of_outputs: &[Option<Value>]) -> Gradients {
    unary(tape, node, of_outputs, |tape, dy, x, _| {
        let slope = tape.builder.unary("Cos", x)?;
        tape.builder.mul(dy, &slope)
    })
}

/// `y = cos x`: `dx = −dy · sin x`.
pub(super) fn cos(tape: &mut Tape<'_>, node: &Node, of_outputs: &[Option<Value>]) -> Gradients {
    unary(tape, node, of_outputs, |tape, dy, x, _| {
        let sine = tape.builder.unary("Sin", x)?;
        let slope = tape.builder.unary("Neg", &sine)?;
        tape.builder.mul(dy, &slope)
    })
}

/// `y = tan x`: `dx = dy · (1 + y²)`.
pub(super) fn tan(tape: &mut Tape<'_>, node: &Node, of_outputs: &[Option<Value>]) -> Gradients {
    unary(tape, node, of_outputs, |tape, dy, _, y| {
        let one = tape.number(1.0, y);
        let square = tape.builder.mul(y, y)?;
        let slope = tape.builder.add(&square, &one)?;
        tape.builder.mul(dy, &slope)
    })
}

/// `y = tanh x`: `dx = dy · (1 − y²)`.
pub(super) fn tanh(tape: &mut Tape<'_>, node: &Node, of_outputs: &[Option<Value>]) -> Gradients {
    unary(tape, node, of_outputs, |tape, dy, _, y| {
        let one = tape.number(1.0, y);
        let square = tape.builder.mul(y, y)?;
        let slope = tape.builder.sub(&one, &square)?;
        tape.builder.mul(dy, &slope)
    })
}

/// `y = 1 / (1 + e^−x)`: `dx = dy · y · (1 − y)`.
pub(super) fn sigmoid(tape: &mut Tape<'_>, node: &Node, of_outputs: &[Option<Value>]) -> Gradients {
    unary(tape, node, of_outputs, |tape, dy, _, y| {
        let one = tape.number(1.0, y);
        let rest = tape.builder.sub(&one, y)?;
        let slope = tape.builder.mul(y, &rest)?;
        tape.builder.mul(dy, &slope)
    })
}

/// `y = max(a, b, …)` or `min`: `dy` goes to the inputs that equal `y`, in equal shares.
pub(super) fn extreme(tape: &mut Tape<'_>, node: &Node, of_outputs: &[Option<Value>]) -> Gradients {
    let dy = of_first(node, of_outputs)?;
    if node.inputs.len() == 1 {
        return Ok(vec![Some(dy)]);
    }
    let y = tape.output(node, 0)?;
    let float = tape.builder.element_type(&dy);
    let mut hits = Vec::with_capacity(node.inputs.len());
    for idx in 0..node.inputs.len() {
        let x = tape.input(node, idx)?;
        let is_hit = tape.builder.compare("Equal", &x, &y)?;
        hits.push(tape.builder.cast(&is_hit, float)?);
    }
    let n_hits = tape.builder.op("Sum", &hits.iter().collect::<Vec<_>>(), vec![])?;
    let part = tape.builder.div(&dy, &n_hits)?;
    let mut found = Vec::with_capacity(hits.len());
    for (idx, hit) in hits.iter().enumerate() {
        found.push(if tape.wants(node, idx) {
            let x = tape.input(node, idx)?;
            let wide = tape.builder.mul(&part, hit)?;
            Some(tape.sum_to_shape_of(&wide, &x)?)
        } else {
            None
        });
    }
    Ok(found)
}

/// `y = a where condition, else b`: `da = dy where condition, else 0`, and the other way round.
pub(super) fn choose(tape: &mut Tape<'_>, node: &Node, of_outputs: &[Option<Value>]) -> Gradients {
    let dy = of_first(node, of_outputs)?;
    let condition = tape.input(node, 0)?;
    let zero = tape.number(0.0, &dy);
    let mut found = vec![None];
    for (idx, yes, no) in [(1, &dy, &zero), (2, &zero, &dy)] {
        found.push(if tape.wants(node, idx) {
            let x = tape.input(node, idx)?;
            let wide = tape.builder.choose(&condition, yes, no)?;
            Some(tape.sum_to_shape_of(&wide, &x)?)
        } else {
            None
        });
    }
    Ok(found)
}

/// A change of type passes `dy` between floating-point types, and nothing else.
pub(super) fn cast(tape: &mut Tape<'_>, node: &Node, of_outputs: &[Option<Value>]) -> Gradients {
    let dy = of_first(node, of_outputs)?;
    let (x, y) = (tape.input(node, 0)?, tape.output(node, 0)?);
    let from = tape.builder.element_type(&x);
    if !from.is_float() || !tape.builder.element_type(&y).is_float() {
        return Ok(vec![None]);
    }
    Ok(vec![Some(tape.builder.cast(&dy, from)?)])
}

/// `y = x`: `dx = dy`.
pub(super) fn identity(
    tape: &mut Tape<'_>,
    node: &Node,
    of_outputs: &[Option<Value>],
) -> Gradients {
    unary(tape, node, of_outputs, |_, dy, _, _| Ok(dy.clone()))
}

/// Dropout at inference passes `dy`; at training it is refused, because the mask is random.
pub(super) fn dropout(tape: &mut Tape<'_>, node: &Node, of_outputs: &[Option<Value>]) -> Gradients {
    if let Some(training) = tape.optional_input(node, 2)? {
        let numbers = tape.builder.constant_of(&training).and_then(Tensor::to_i64);
        if numbers.is_none_or(|numbers| numbers.iter().any(|&number| number != 0)) {
            return Err(uncovered(node, "training mode; needed: the network without Dropout"));
        }
    }
    identity(tape, node, of_outputs)
}

/// `y = min(max(x, low), high)`: `dx = dy` where `low ≤ x ≤ high`, which is where `y` equals `x`;
/// the bounds get `dy` where they cut.
pub(super) fn clip(tape: &mut Tape<'_>, node: &Node, of_outputs: &[Option<Value>]) -> Gradients {
    let dy = of_first(node, of_outputs)?;
    let (x, y) = (tape.input(node, 0)?, tape.output(node, 0)?);
    let dx = if tape.wants(node, 0) {
        let is_inside = tape.builder.compare("Equal", &x, &y)?;
        Some(gated(tape, &is_inside, &dy)?)
    } else {
        None
    };
    let mut found = vec![dx];
    for (idx, comparison) in [(1, "Less"), (2, "Greater")] {
        found.push(if tape.wants(node, idx) {
            let bound = tape.input(node, idx)?;
            let is_cut = tape.builder.compare(comparison, &x, &bound)?;
            let wide = gated(tape, &is_cut, &dy)?;
            Some(tape.sum_to_shape_of(&wide, &bound)?)
        } else {
            None
        });
    }
    Ok(found)
}

/// Whole numbers do not move; floating-point inputs that do are refused.
pub(super) fn counts(tape: &mut Tape<'_>, node: &Node, _: &[Option<Value>]) -> Gradients {
    for idx in 0..node.inputs.len() {
        if tape.wants(node, idx) {
            let x = tape.input(node, idx)?;
            if tape.builder.element_type(&x).is_float() {
                let case = format!("input {idx}, which moves; needed: a constant");
                return Err(uncovered(node, &case));
            }
        }
    }
    Ok(Vec::new())
}
