//! Activations: functions of one float with settings.

use super::args::{Args, Operator, Outcome, floats_of};
use super::array::Array;
use super::elementwise::{erf, float};

/// Finds an operator of this family.
pub(super) fn operator(op: &str) -> Option<Operator> {
    let operator: Operator = match op {
        "Relu" => |args| float(args, |x| if 0.0 < x || x.is_nan() { x } else { 0.0 }),
        "LeakyRelu" => |args| {
            let alpha = args.float_or("alpha", 0.01);
            float(args, |x| if x < 0.0 { alpha * x } else { x })
        },
        "PRelu" => prelu,
        "Elu" => |args| {
            let alpha = args.float_or("alpha", 1.0);
            float(args, |x| if x < 0.0 { alpha * x.exp_m1() } else { x })
        },
        "Selu" => |args| {
            let alpha = args.float_or("alpha", 1.673_263_2);
            let gamma = args.float_or("gamma", 1.050_701);
            float(args, |x| gamma * if x <= 0.0 { alpha * x.exp_m1() } else { x })
        },
        "Celu" => |args| {
            let alpha = args.float_or("alpha", 1.0);
            float(args, |x| if x < 0.0 { alpha * (x / alpha).exp_m1() } else { x })
        },
        "ThresholdedRelu" => |args| {
            let alpha = args.float_or("alpha", 1.0);
            float(args, |x| if alpha < x { x } else { 0.0 })
        },
        "Sigmoid" => |args| float(args, sigmoid),
        "HardSigmoid" => |args| {
            let (alpha, beta) = (args.float_or("alpha", 0.2), args.float_or("beta", 0.5));
            float(args, |x| (alpha * x + beta).clamp(0.0, 1.0))
        },
        "HardSwish" => |args| float(args, |x| x * (x / 6.0 + 0.5).clamp(0.0, 1.0)),
        "Gelu" => gelu,
        "Softplus" => |args| float(args, softplus),
        "Softsign" => |args| float(args, |x| x / (1.0 + x.abs())),
        "Mish" => |args| float(args, |x| x * softplus(x).tanh()),
        "Swish" => |args| {
            let alpha = args.float_or("alpha", 1.0);
            float(args, |x| x * sigmoid(alpha * x))
        },
        _ => return None,
    };
    Some(operator)
}

/// `1 / (1 + e^-x)`, without overflow on either side.
fn sigmoid(x: f64) -> f64 {
    if x < 0.0 { x.exp() / (1.0 + x.exp()) } else { 1.0 / (1.0 + (-x).exp()) }
}

/// `ln(1 + e^x)`, without overflow.
fn softplus(x: f64) -> f64 {
    x.max(0.0) + (-x.abs()).exp().ln_1p()
}

/// A slope below zero that is an input.
fn prelu(args: &Args<'_>) -> Outcome {
    let x = args.input(0)?;
    let slope = args.input(1)?.broadcast(&x.shape)?;
    let pairs = args.floats(0)?.iter().zip(floats_of(&slope)?);
    let items = pairs.map(|(&x, slope)| if x < 0.0 { slope * x } else { x }).collect();
    Ok(vec![Array::floats(x.shape.clone(), items)?])
}

/// `x` times the share of a normal distribution below it, exactly or by the usual approximation.
fn gelu(args: &Args<'_>) -> Outcome {
    match args.text_or("approximate", "none") {
        "none" => float(args, |x| 0.5 * x * (1.0 + erf(x / 2.0_f64.sqrt()))),
        "tanh" => float(args, |x| {
            let inner = (2.0 / std::f64::consts::PI).sqrt() * (x + 0.044_715 * x * x * x);
            0.5 * x * (1.0 + inner.tanh())
        }),
        other => Err(format!("`approximate` should be `none` or `tanh`, found `{other}`")),
    }
}
