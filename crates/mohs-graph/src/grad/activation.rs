//! Gradients of activation functions.
//!
//! In the formulas `y` is what the node makes, `x` what it uses, and `dy` the gradient of `y`. At
//! kinks the rules follow PyTorch. Where `y` tells as much as `x`, the rule uses `y`, so that an
//! engine can still fuse the activation into the operation before it.

use super::elementwise::{gated, unary};
use super::operator::{Gradients, of_first};
use super::{Tape, uncovered};
use crate::build::{BuildError, Value};
use crate::graph::{Attribute, Node};

/// `left` where `x ≤ 0`, else `right`.
fn by_side(
    tape: &mut Tape<'_>,
    x: &Value,
    left: &Value,
    right: &Value,
) -> Result<Value, BuildError> {
    let zero = tape.number(0.0, x);
    let is_right = tape.builder.compare("Greater", x, &zero)?;
    tape.builder.choose(&is_right, right, left)
}

/// A setting of a node that is a number, or its usual value.
fn setting(node: &Node, name: &str, usual: f64) -> f64 {
    node.float(name).map_or(usual, f64::from)
}

/// `y = max(x, 0)`: `dx = dy` where `y > 0`, else 0.
pub(super) fn relu(tape: &mut Tape<'_>, node: &Node, of_outputs: &[Option<Value>]) -> Gradients {
    unary(tape, node, of_outputs, |tape, dy, _, y| {
        let zero = tape.number(0.0, y);
        let is_right = tape.builder.compare("Greater", y, &zero)?;
        gated(tape, &is_right, dy)
    })
}

/// `y = x` where `x > α`, else 0: `dx = dy` where `x > α`, else 0.
pub(super) fn thresholded_relu(
    tape: &mut Tape<'_>,
    node: &Node,
    of_outputs: &[Option<Value>],
) -> Gradients {
    unary(tape, node, of_outputs, |tape, dy, x, _| {
        let threshold = tape.number(setting(node, "alpha", 1.0), x);
        let is_right = tape.builder.compare("Greater", x, &threshold)?;
        gated(tape, &is_right, dy)
    })
}

/// `y = x` where `x > 0`, else `α x`: `dx = dy` or `α dy`.
pub(super) fn leaky_relu(
    tape: &mut Tape<'_>,
    node: &Node,
    of_outputs: &[Option<Value>],
) -> Gradients {
    unary(tape, node, of_outputs, |tape, dy, x, y| {
        let alpha = setting(node, "alpha", f64::from(0.01_f32));
        // A slope that is not negative leaves the sign as it was.
        let side = if 0.0 <= alpha { y } else { x };
        let factor = tape.number(alpha, dy);
        let left = tape.builder.mul(dy, &factor)?;
        by_side(tape, side, &left, dy)
    })
}

/// `y = x` where `x > 0`, else `s x`: `dx = dy` or `s dy`; `ds = 0` or `x dy`.
pub(super) fn prelu(tape: &mut Tape<'_>, node: &Node, of_outputs: &[Option<Value>]) -> Gradients {
    let dy = of_first(node, of_outputs)?;
    let (x, slope) = (tape.input(node, 0)?, tape.input(node, 1)?);
    let dx = if tape.wants(node, 0) {
        let left = tape.builder.mul(&dy, &slope)?;
        Some(by_side(tape, &x, &left, &dy)?)
    } else {
        None
    };
    let ds = if tape.wants(node, 1) {
        let zero = tape.number(0.0, &dy);
        let left = tape.builder.mul(&dy, &x)?;
        let wide = by_side(tape, &x, &left, &zero)?;
        Some(tape.sum_to_shape_of(&wide, &slope)?)
    } else {
        None
    };
    Ok(vec![dx, ds])
}

/// `y = x` where `x > 0`, else `α (eˣ − 1)`: `dx = dy` or `dy · (y + α)`.
pub(super) fn elu(tape: &mut Tape<'_>, node: &Node, of_outputs: &[Option<Value>]) -> Gradients {
    unary(tape, node, of_outputs, |tape, dy, x, y| {
        let alpha = tape.number(setting(node, "alpha", 1.0), y);
        let slope = tape.builder.add(y, &alpha)?;
        let left = tape.builder.mul(dy, &slope)?;
        by_side(tape, x, &left, dy)
    })
}

/// `y = γ x` where `x > 0`, else `γ α (eˣ − 1)`: `dx = γ dy` or `dy · (y + γ α)`.
pub(super) fn selu(tape: &mut Tape<'_>, node: &Node, of_outputs: &[Option<Value>]) -> Gradients {
    unary(tape, node, of_outputs, |tape, dy, x, y| {
        let alpha = setting(node, "alpha", 1.673_263_192_176_818_8);
        let gamma = setting(node, "gamma", 1.050_701_022_148_132_3);
        let (product, gamma) = (tape.number(alpha * gamma, y), tape.number(gamma, y));
        let left = tape.builder.add(y, &product)?;
        let slope = by_side(tape, x, &left, &gamma)?;
        tape.builder.mul(dy, &slope)
    })
}

/// `y = x` where `x > 0`, else `α (e^(x/α) − 1)`: `dx = dy` or `dy · (y/α + 1)`.
pub(super) fn celu(tape: &mut Tape<'_>, node: &Node, of_outputs: &[Option<Value>]) -> Gradients {
    unary(tape, node, of_outputs, |tape, dy, x, y| {
        let part = tape.number(1.0 / setting(node, "alpha", 1.0), y);
        let one = tape.number(1.0, y);
        let scaled = tape.builder.mul(y, &part)?;
        let left = tape.builder.add(&scaled, &one)?;
        let slope = by_side(tape, x, &left, &one)?;
        tape.builder.mul(dy, &slope)
    })
}

/// `y = min(max(α x + β, 0), 1)`: `dx = α dy` where `0 < y < 1`, else 0.
pub(super) fn hard_sigmoid(
    tape: &mut Tape<'_>,
    node: &Node,
    of_outputs: &[Option<Value>],
) -> Gradients {
    unary(tape, node, of_outputs, |tape, dy, _, y| {
        let (zero, one) = (tape.number(0.0, y), tape.number(1.0, y));
        let above = tape.builder.compare("Greater", y, &zero)?;
        let below = tape.builder.compare("Less", y, &one)?;
        let is_inside = tape.builder.op("And", &[&above, &below], vec![])?;
        let alpha = tape.number(setting(node, "alpha", f64::from(0.2_f32)), dy);
        let slope = tape.builder.mul(dy, &alpha)?;
        gated(tape, &is_inside, &slope)
    })
}

/// `y = x · min(max(x/6 + ½, 0), 1)`: `dx = 0` where `x ≤ −3`, `dy` where `x ≥ 3`, between them
/// `dy · (x/3 + ½)`.
pub(super) fn hard_swish(
    tape: &mut Tape<'_>,
    node: &Node,
    of_outputs: &[Option<Value>],
) -> Gradients {
    unary(tape, node, of_outputs, |tape, dy, x, _| {
        let (zero, half, one) = (tape.number(0.0, x), tape.number(0.5, x), tape.number(1.0, x));
        let (third, low, high) =
            (tape.number(1.0 / 3.0, x), tape.number(-3.0, x), tape.number(3.0, x));
        let scaled = tape.builder.mul(x, &third)?;
        let slope = tape.builder.add(&scaled, &half)?;
        let is_below = tape.builder.compare("Less", x, &high)?;
        let slope = tape.builder.choose(&is_below, &slope, &one)?;
        let is_above = tape.builder.compare("Greater", x, &low)?;
        let slope = tape.builder.choose(&is_above, &slope, &zero)?;
        tape.builder.mul(dy, &slope)
    })
}

/// `y = ln(1 + eˣ)`: `dx = dy · sigmoid(x)`.
pub(super) fn softplus(
    tape: &mut Tape<'_>,
    node: &Node,
    of_outputs: &[Option<Value>],
) -> Gradients {
    unary(tape, node, of_outputs, |tape, dy, x, _| {
        let slope = tape.builder.unary("Sigmoid", x)?;
        tape.builder.mul(dy, &slope)
    })
}

/// `y = x / (1 + |x|)`: `dx = dy · (1 − |y|)²`.
pub(super) fn softsign(
    tape: &mut Tape<'_>,
    node: &Node,
    of_outputs: &[Option<Value>],
) -> Gradients {
    unary(tape, node, of_outputs, |tape, dy, _, y| {
        let one = tape.number(1.0, y);
        let size = tape.builder.unary("Abs", y)?;
        let rest = tape.builder.sub(&one, &size)?;
        let slope = tape.builder.mul(&rest, &rest)?;
        tape.builder.mul(dy, &slope)
    })
}

/// `y = x t` with `t = tanh(ln(1 + eˣ))`: `dx = dy · (t + x (1 − t²) sigmoid(x))`.
pub(super) fn mish(tape: &mut Tape<'_>, node: &Node, of_outputs: &[Option<Value>]) -> Gradients {
    unary(tape, node, of_outputs, |tape, dy, x, _| {
        let one = tape.number(1.0, x);
        let soft = tape.builder.unary("Softplus", x)?;
        let t = tape.builder.unary("Tanh", &soft)?;
        let square = tape.builder.mul(&t, &t)?;
        let rest = tape.builder.sub(&one, &square)?;
        let sigmoid = tape.builder.unary("Sigmoid", x)?;
        let product = tape.builder.mul(&rest, &sigmoid)?;
        let product = tape.builder.mul(x, &product)?;
        let slope = tape.builder.add(&t, &product)?;
        tape.builder.mul(dy, &slope)
    })
}

/// `y = x Φ(x)`: `dx = dy · (Φ(x) + x φ(x))`, with the normal distribution `Φ` and its density `φ`,
/// or with the curve through `tanh` that stands for them.
pub(super) fn gelu(tape: &mut Tape<'_>, node: &Node, of_outputs: &[Option<Value>]) -> Gradients {
    match node.attributes.get("approximate") {
        None => {}
        Some(Attribute::Text(text)) if text == "none" => {}
        Some(Attribute::Text(text)) if text == "tanh" => {
            return unary(tape, node, of_outputs, |tape, dy, x, _| of_tanh_gelu(tape, dy, x));
        }
        Some(other) => {
            return Err(uncovered(
                node,
                &format!("approximate = {other:?}; expected none or tanh"),
            ));
        }
    }
    unary(tape, node, of_outputs, |tape, dy, x, _| of_erf_gelu(tape, dy, x))
}

/// The gradient of the exact form: `Φ = ½ (1 + erf(x/√2))`, `φ = e^(−x²/2) / √(2π)`.
pub(super) fn of_erf_gelu(tape: &mut Tape<'_>, dy: &Value, x: &Value) -> Result<Value, BuildError> {
    let root_half = tape.number(std::f64::consts::FRAC_1_SQRT_2, x);
    let (half, minus_half) = (tape.number(0.5, x), tape.number(-0.5, x));
    let density =
        tape.number(0.5 * std::f64::consts::FRAC_2_SQRT_PI * std::f64::consts::FRAC_1_SQRT_2, x);
    let scaled = tape.builder.mul(x, &root_half)?;
    let erf = tape.builder.unary("Erf", &scaled)?;
    let erf = tape.builder.mul(&erf, &half)?;
    let below = tape.builder.add(&erf, &half)?;
    let square = tape.builder.mul(x, x)?;
    let square = tape.builder.mul(&square, &minus_half)?;
    let bell = tape.builder.unary("Exp", &square)?;
    let bell = tape.builder.mul(&bell, &density)?;
    let moved = tape.builder.mul(x, &bell)?;
    let slope = tape.builder.add(&below, &moved)?;
    tape.builder.mul(dy, &slope)
}

/// The gradient of `½ x (1 + t)`, `t = tanh(c (x + k x³))`, `c = √(2/π)`, `k = 0.044715`:
/// `½ (1 + t) + ½ x (1 − t²) c (1 + 3 k x²)`.
fn of_tanh_gelu(tape: &mut Tape<'_>, dy: &Value, x: &Value) -> Result<Value, BuildError> {
    let c = std::f64::consts::FRAC_2_SQRT_PI * std::f64::consts::FRAC_1_SQRT_2;
    let k = 0.044_715;
    let (half, one) = (tape.number(0.5, x), tape.number(1.0, x));
    let (c_value, ck) = (tape.number(c, x), tape.number(c * k, x));
    let (half_c, three_half_ck) = (tape.number(0.5 * c, x), tape.number(1.5 * c * k, x));

    let square = tape.builder.mul(x, x)?;
    let inner = tape.builder.mul(&square, &ck)?;
    let inner = tape.builder.add(&inner, &c_value)?;
    let inner = tape.builder.mul(&inner, x)?;
    let t = tape.builder.unary("Tanh", &inner)?;

    let rest = tape.builder.mul(&t, &t)?;
    let rest = tape.builder.sub(&one, &rest)?;
    let steep = tape.builder.mul(&square, &three_half_ck)?;
    let steep = tape.builder.add(&steep, &half_c)?;
    let steep = tape.builder.mul(&steep, x)?;
    let steep = tape.builder.mul(&steep, &rest)?;
    let level = tape.builder.mul(&t, &half)?;
    let level = tape.builder.add(&level, &half)?;
    let slope = tape.builder.add(&level, &steep)?;
    tape.builder.mul(dy, &slope)
}
