//! Cases of operators that work element by element, with or without settings.

use mohs_graph::{ElementType, Tensor};

use super::cases::Case;
use super::draw::Draw;
use super::trial::Trial;

/// One input of some shape, with numbers in a range.
fn unary(draw: &mut Draw, op: &'static str, low: f64, high: f64) -> Trial {
    let shape = draw.shape(1, 3);
    Trial::new(op).moving(draw.floats(&shape, low, high)).free_batch(draw, &[0])
}

/// One input whose numbers keep away from points where the derivative jumps.
fn kinked(draw: &mut Draw, op: &'static str, low: f64, high: f64, points: &[f64]) -> Trial {
    let shape = draw.shape(1, 3);
    Trial::new(op).moving(draw.floats_off(&shape, low, high, points)).free_batch(draw, &[0])
}

/// Shapes that fit together by repeating, and which of them have the whole first dimension.
fn repeated(draw: &mut Draw, n: usize) -> (Vec<Vec<usize>>, Vec<usize>) {
    let mut wide = draw.shape(1, 3);
    // A dimension that is not known beforehand is not one that is repeated.
    wide[0] = wide[0].max(2);
    let full = draw.size(0, n - 1);
    let shapes: Vec<Vec<usize>> =
        (0..n).map(|idx| if idx == full { wide.clone() } else { draw.narrowed(&wide) }).collect();
    let has_batch = |&idx: &usize| shapes[idx].len() == wide.len() && shapes[idx][0] == wide[0];
    let with_batch = (0..n).filter(has_batch).collect();
    (shapes, with_batch)
}

/// Several inputs that fit together by repeating.
fn together(draw: &mut Draw, op: &'static str, n: usize, low: f64, high: f64) -> Trial {
    let (shapes, with_batch) = repeated(draw, n);
    let mut trial = Trial::new(op);
    for tensor in draw.apart(&shapes, low, high) {
        trial = trial.moving(tensor);
    }
    trial.free_batch(draw, &with_batch)
}

fn variadic(draw: &mut Draw, op: &'static str) -> Trial {
    let n = draw.size(1, 3);
    together(draw, op, n, -2.0, 2.0)
}

fn div(draw: &mut Draw) -> Trial {
    let (shapes, with_batch) = repeated(draw, 2);
    let sign = draw.one_of(&[-1.0, 1.0]);
    let trial = Trial::new("Div").moving(draw.floats(&shapes[0], -2.0, 2.0));
    let (low, high) = if sign < 0.0 { (-2.0, -0.5) } else { (0.5, 2.0) };
    trial.moving(draw.floats(&shapes[1], low, high)).free_batch(draw, &with_batch)
}

fn pow(draw: &mut Draw) -> Trial {
    if draw.chance() {
        let exponent = draw.one_of(&[2.0, 3.0, 1.0, 0.0]);
        return unary(draw, "Pow", -2.0, 2.0).fixed(Tensor::scalar(exponent));
    }
    together(draw, "Pow", 2, 0.5, 2.0)
}

fn choose(draw: &mut Draw) -> Trial {
    let (shapes, with_batch) = repeated(draw, 3);
    Trial::new("Where")
        .given(draw.bools(&shapes[0]))
        .moving(draw.floats(&shapes[1], -2.0, 2.0))
        .moving(draw.floats(&shapes[2], -2.0, 2.0))
        .free_batch(draw, &with_batch)
}

fn prelu(draw: &mut Draw) -> Trial {
    let shape = draw.shape(1, 3);
    let slope = draw.narrowed(&shape);
    Trial::new("PRelu")
        .moving(draw.floats(&shape, -2.0, 2.0))
        .moving(draw.floats(&slope, -1.0, 1.0))
}

fn clip(draw: &mut Draw) -> Trial {
    let (low, high) = (draw.number(-1.5, -0.5), draw.number(0.5, 1.5));
    let mut trial = kinked(draw, "Clip", -2.0, 2.0, &[low, high]);
    trial = match draw.size(0, 2) {
        0 => trial.absent(),
        1 => trial.fixed(super::draw::tensor(&[], vec![low])),
        _ => trial.moving(super::draw::tensor(&[], vec![low])),
    };
    match draw.size(0, 2) {
        0 => trial,
        1 => trial.fixed(super::draw::tensor(&[], vec![high])),
        _ => trial.moving(super::draw::tensor(&[], vec![high])),
    }
}

fn cast(draw: &mut Draw) -> Trial {
    let to = draw.one_of(&[ElementType::F32, ElementType::F64]);
    unary(draw, "Cast", -2.0, 2.0).int("to", i64::from(to.to_onnx()))
}

fn dropout(draw: &mut Draw) -> Trial {
    let trial = unary(draw, "Dropout", -2.0, 2.0);
    if draw.chance() { trial.fixed(Tensor::scalar(0.25)) } else { trial }
}

fn hard_sigmoid(draw: &mut Draw) -> Trial {
    if draw.chance() {
        return kinked(draw, "HardSigmoid", -4.0, 4.0, &[-2.5, 2.5]);
    }
    let trial = kinked(draw, "HardSigmoid", -3.0, 3.0, &[-2.0, 2.0]);
    trial.float("alpha", 0.25).float("beta", 0.5)
}

fn with_alpha(draw: &mut Draw, op: &'static str) -> Trial {
    let trial = unary(draw, op, -2.0, 2.0);
    if draw.chance() {
        return trial;
    }
    let alpha = draw.one_of(&[0.125, 0.75, 2.0]);
    trial.float("alpha", alpha)
}

fn selu(draw: &mut Draw) -> Trial {
    let trial = unary(draw, "Selu", -2.0, 2.0);
    if draw.chance() { trial } else { trial.float("alpha", 0.75).float("gamma", 1.25) }
}

fn thresholded(draw: &mut Draw) -> Trial {
    if draw.chance() {
        return kinked(draw, "ThresholdedRelu", -2.0, 2.0, &[1.0]);
    }
    kinked(draw, "ThresholdedRelu", -2.0, 2.0, &[0.25]).float("alpha", 0.25)
}

fn gelu(draw: &mut Draw) -> Trial {
    let trial = unary(draw, "Gelu", -3.0, 3.0);
    let form = draw.one_of(&["", "none", "tanh"]);
    if form.is_empty() { trial } else { trial.text("approximate", form) }
}

/// The cases of this family.
pub(crate) fn cases() -> Vec<Case> {
    vec![
        Case::new("Abs", |draw| unary(draw, "Abs", -2.0, 2.0)),
        Case::new("Add", |draw| together(draw, "Add", 2, -2.0, 2.0)),
        Case::new("Cast", cast),
        Case::new("Celu", |draw| with_alpha(draw, "Celu")),
        Case::new("Clip", clip),
        Case::new("Cos", |draw| unary(draw, "Cos", -2.0, 2.0)),
        Case::new("Div", div),
        Case::new("Dropout", dropout),
        Case::new("Elu", |draw| with_alpha(draw, "Elu")),
        Case::new("Erf", |draw| unary(draw, "Erf", -2.0, 2.0)),
        Case::new("Exp", |draw| unary(draw, "Exp", -2.0, 2.0)),
        Case::new("Gelu", gelu),
        Case::new("HardSigmoid", hard_sigmoid),
        Case::new("HardSwish", |draw| kinked(draw, "HardSwish", -4.0, 4.0, &[-3.0, 3.0])),
        Case::new("Identity", |draw| unary(draw, "Identity", -2.0, 2.0)),
        Case::new("LeakyRelu", |draw| with_alpha(draw, "LeakyRelu")),
        Case::new("Log", |draw| unary(draw, "Log", 0.5, 3.0)),
        Case::new("Max", |draw| variadic(draw, "Max")),
        Case::new("Mean", |draw| variadic(draw, "Mean")),
        Case::new("Min", |draw| variadic(draw, "Min")),
        Case::new("Mish", |draw| unary(draw, "Mish", -3.0, 3.0)),
        Case::new("Mul", |draw| together(draw, "Mul", 2, -2.0, 2.0)),
        Case::new("Neg", |draw| unary(draw, "Neg", -2.0, 2.0)),
        Case::new("PRelu", prelu),
        Case::new("Pow", pow),
        Case::new("Reciprocal", |draw| unary(draw, "Reciprocal", 0.5, 2.0)),
        Case::new("Relu", |draw| unary(draw, "Relu", -2.0, 2.0)),
        Case::new("Selu", selu),
        Case::new("Sigmoid", |draw| unary(draw, "Sigmoid", -3.0, 3.0)),
        Case::new("Sin", |draw| unary(draw, "Sin", -2.0, 2.0)),
        Case::new("Softplus", |draw| unary(draw, "Softplus", -3.0, 3.0)),
        Case::new("Softsign", |draw| unary(draw, "Softsign", -2.0, 2.0)),
        Case::new("Sqrt", |draw| unary(draw, "Sqrt", 0.5, 3.0)),
        Case::new("Sub", |draw| together(draw, "Sub", 2, -2.0, 2.0)),
        Case::new("Sum", |draw| variadic(draw, "Sum")),
        Case::new("Tan", |draw| unary(draw, "Tan", -1.0, 1.0)),
        Case::new("Tanh", |draw| unary(draw, "Tanh", -2.0, 2.0)),
        Case::new("ThresholdedRelu", thresholded),
        Case::new("Where", choose),
    ]
}
