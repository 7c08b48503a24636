//! What to differentiate: losses and other single numbers per example.
//!
//! [`add`] appends one to a network. Labels and the like are inputs, given when the network runs;
//! the batch stays open. A label that is no class picks nothing and makes its example's value zero
//! or meaningless: whoever runs the network checks labels first.

use crate::build::{BuildError, Builder, Value};
use crate::dim::{self, Dim};
use crate::graph::Attribute;
use crate::tensor::{ElementType, Tensor};

/// One number per example.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Scalar {
    /// Minus the logarithm of the probability of the class in the input `labels`.
    CrossEntropy,
    /// The logarithm of the probability of the class in the input `targets`: minus the cross
    /// entropy, so that climbing comes closer to the target.
    TargetedCrossEntropy,
    /// The logit of the class in `labels` minus the highest other logit: negative for mistakes.
    Margin,
    /// Minus the margin over the distance of the highest from the third highest logit: the
    /// difference of logits ratio (Croce and Hein 2020). Needs at least 3 classes.
    LogitsRatio,
    /// The mean squared distance of `softmax(s · z / max |z|)` plus the input `noise`, one number
    /// per class, from the class in `labels`; `s` is the input `scale`, one number per example
    /// (Schwinn et al. 2021).
    Jitter,
    /// The Kullback–Leibler divergence of the answer's probabilities from those in the input
    /// `distribution`, `Σ d ln(d / softmax(z))`; classes with `d` = 0 count nothing.
    Divergence,
    /// The logit of the class in `labels`.
    Logit,
    /// The sum (not the mean) over all features of the squared distance to the input `target`, which
    /// has the shape of the answer.
    SquaredError,
    /// The sum of all numbers that a value holds for an example: all dimensions but the first.
    Value(String),
}

/// How the numbers of a batch become one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reduction {
    /// Their sum: the gradient of each example is as if it were alone.
    Sum,
    /// Their mean, as training uses it.
    Mean,
}

/// What was appended to a network.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Added {
    /// One number per example, named `loss` unless that name was taken.
    pub per_example: Value,
    /// One number for the batch, without dimensions.
    pub total: Value,
    /// The inputs it needs, such as `labels`.
    pub inputs: Vec<Value>,
}

/// A scalar that cannot be added to a network.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ScalarError {
    /// The answer is not a list of logits per example.
    #[error("`{value}` should have the shape [batch, classes], found {found}")]
    NotLogits {
        /// The value that was taken for logits.
        value: String,
        /// Its shape.
        found: String,
    },
    /// There is nothing to be told apart.
    #[error("the {scalar} needs at least {needed} classes, found {found} in `{value}`")]
    TooFewClasses {
        /// What needs more classes.
        scalar: &'static str,
        /// How many it needs.
        needed: usize,
        /// The value that was taken for logits.
        value: String,
        /// How many classes it has.
        found: usize,
    },
    /// Only floating-point values have gradients.
    #[error("`{value}` should hold floating-point numbers, found {found}")]
    NotFloat {
        /// The value.
        value: String,
        /// What it holds.
        found: ElementType,
    },
    /// The graph could not be written.
    #[error(transparent)]
    Build(#[from] BuildError),
}

/// Appends a scalar of `logits` to a network; [`Scalar::Value`] looks at its own value instead.
///
/// Inputs that exist already under the same name, type and shape are shared. Nothing is made an
/// output.
pub fn add(
    builder: &mut Builder,
    logits: &Value,
    scalar: &Scalar,
    reduction: Reduction,
) -> Result<Added, ScalarError> {
    let (per_example, inputs) = match scalar {
        Scalar::CrossEntropy => {
            let (picked, labels) = log_probability(builder, logits, "labels")?;
            (builder.named_op("loss", "Neg", &[&picked], vec![])?, vec![labels])
        }
        Scalar::TargetedCrossEntropy => {
            let (picked, targets) = log_probability(builder, logits, "targets")?;
            (named(builder, &picked)?, vec![targets])
        }
        Scalar::Margin => {
            let (margin, labels) = margin(builder, logits)?;
            (named(builder, &margin)?, vec![labels])
        }
        Scalar::LogitsRatio => logits_ratio(builder, logits)?,
        Scalar::Jitter => jitter(builder, logits)?,
        Scalar::Divergence => divergence(builder, logits)?,
        Scalar::Logit => {
            let logits = as_logits(builder, logits)?;
            let (is_label, labels) = is_label(builder, &logits, "labels")?;
            let picked = picked(builder, &is_label, &logits)?;
            (named(builder, &picked)?, vec![labels])
        }
        Scalar::SquaredError => squared_error(builder, logits)?,
        Scalar::Value(name) => {
            let value = builder.value(name)?;
            check_float(builder, &value)?;
            let axes = axes_of_an_example(builder, &value)?;
            let summed = builder.reduce_sum(&value, &axes, false)?;
            (named(builder, &summed)?, Vec::new())
        }
    };
    let total = match (reduction, builder.rank(&per_example)?) {
        (_, 0) => per_example.clone(),
        (Reduction::Sum, _) => builder.reduce_sum(&per_example, &[0], false)?,
        (Reduction::Mean, _) => builder.reduce("ReduceMean", &per_example, &[0], false)?,
    };
    Ok(Added { per_example, total, inputs })
}

/// The margin of each example, and the input with the labels.
fn margin(builder: &mut Builder, logits: &Value) -> Result<(Value, Value), ScalarError> {
    let logits = as_logits(builder, logits)?;
    check_classes(builder, &logits, "margin", 2)?;
    let (is_label, labels) = is_label(builder, &logits, "labels")?;
    let of_label = picked(builder, &is_label, &logits)?;
    let lowest = builder.number(f64::from(f32::MIN), &logits);
    let others = builder.choose(&is_label, &lowest, &logits)?;
    let highest = builder.reduce("ReduceMax", &others, &[1], false)?;
    Ok((builder.sub(&of_label, &highest)?, labels))
}

/// The difference of logits ratio of each example.
fn logits_ratio(builder: &mut Builder, logits: &Value) -> Result<(Value, Vec<Value>), ScalarError> {
    let (margin, labels) = margin(builder, logits)?;
    let logits = as_logits(builder, logits)?;
    check_classes(builder, &logits, "difference of logits ratio", 3)?;
    let n_highest = builder.list(&[3]);
    let inputs = [Some(&logits), Some(&n_highest)];
    let settings = vec![("axis", Attribute::Int(1))];
    let highest = builder.node("highest", "TopK", &inputs, 2, settings)?.swap_remove(0);
    let first = builder.slice(&highest, 1, 0, 1)?;
    let third = builder.slice(&highest, 1, 2, 3)?;
    let distance = builder.sub(&first, &third)?;
    let distance = builder.squeeze(&distance, &[1])?;
    // Equal logits would divide by zero.
    let least = builder.number(1e-12, &logits);
    let distance = builder.add(&distance, &least)?;
    let ratio = builder.div(&margin, &distance)?;
    Ok((builder.named_op("loss", "Neg", &[&ratio], vec![])?, vec![labels]))
}

/// The distance from the label of each example, jittered.
fn jitter(builder: &mut Builder, logits: &Value) -> Result<(Value, Vec<Value>), ScalarError> {
    let logits = as_logits(builder, logits)?;
    let (element_type, shape) = (builder.element_type(&logits), builder.shape(&logits)?);
    let batch = shape.iter().take(1).cloned().collect();
    let (is_label, labels) = is_label(builder, &logits, "labels")?;
    let noise = shared_input(builder, "noise", element_type, shape);
    let scale = shared_input(builder, "scale", element_type, batch);
    let sizes = builder.unary("Abs", &logits)?;
    let largest = builder.reduce("ReduceMax", &sizes, &[1], true)?;
    let scaled = builder.div(&logits, &largest)?;
    let scale_column = builder.unsqueeze(&scale, &[1])?;
    let scaled = builder.mul(&scaled, &scale_column)?;
    let shares = builder.op("Softmax", &[&scaled], vec![("axis", Attribute::Int(1))])?;
    let shares = builder.add(&shares, &noise)?;
    let (zero, one) = (builder.number(0.0, &logits), builder.number(1.0, &logits));
    let wanted = builder.choose(&is_label, &one, &zero)?;
    let distance = builder.sub(&shares, &wanted)?;
    let squared = builder.mul(&distance, &distance)?;
    let mean = builder.reduce("ReduceMean", &squared, &[1], false)?;
    Ok((named(builder, &mean)?, vec![labels, noise, scale]))
}

/// Refuses a network that tells too few classes apart.
fn check_classes(
    builder: &Builder,
    logits: &Value,
    scalar: &'static str,
    needed: usize,
) -> Result<(), ScalarError> {
    let found = builder.size(logits, 1)?;
    if needed <= found {
        return Ok(());
    }
    Err(ScalarError::TooFewClasses { scalar, needed, value: logits.name().to_owned(), found })
}

/// The divergence of each example.
fn divergence(builder: &mut Builder, logits: &Value) -> Result<(Value, Vec<Value>), ScalarError> {
    let logits = as_logits(builder, logits)?;
    let (element_type, shape) = (builder.element_type(&logits), builder.shape(&logits)?);
    let distribution = shared_input(builder, "distribution", element_type, shape);
    let answer = log_softmax(builder, &logits)?;
    let (zero, one) = (builder.number(0.0, &logits), builder.number(1.0, &logits));
    let is_possible = builder.compare("Greater", &distribution, &zero)?;
    let safe = builder.choose(&is_possible, &distribution, &one)?;
    let wanted = builder.unary("Log", &safe)?;
    let surprise = builder.sub(&wanted, &answer)?;
    let weighted = builder.mul(&distribution, &surprise)?;
    // Without this an impossible class with an infinite logit would make 0 · ∞.
    let weighted = builder.choose(&is_possible, &weighted, &zero)?;
    Ok((named_sum(builder, "ReduceSum", &weighted, &[1])?, vec![distribution]))
}

/// The squared error of each example.
fn squared_error(
    builder: &mut Builder,
    answer: &Value,
) -> Result<(Value, Vec<Value>), ScalarError> {
    check_float(builder, answer)?;
    let (element_type, shape) = (builder.element_type(answer), builder.shape(answer)?);
    let axes = axes_of_an_example(builder, answer)?;
    let target = shared_input(builder, "target", element_type, shape);
    let distance = builder.sub(answer, &target)?;
    let loss = if axes.is_empty() {
        builder.named_op("loss", "Mul", &[&distance, &distance], vec![])?
    } else {
        named_sum(builder, "ReduceSumSquare", &distance, &axes)?
    };
    Ok((loss, vec![target]))
}

/// The logarithm of the probability of the class in an input of this name, and that input.
fn log_probability(
    builder: &mut Builder,
    logits: &Value,
    input: &str,
) -> Result<(Value, Value), ScalarError> {
    let logits = as_logits(builder, logits)?;
    let (is_label, labels) = is_label(builder, &logits, input)?;
    let logarithms = log_softmax(builder, &logits)?;
    Ok((picked(builder, &is_label, &logarithms)?, labels))
}

/// Logarithms of the probabilities of all classes.
fn log_softmax(builder: &mut Builder, logits: &Value) -> Result<Value, BuildError> {
    builder.op("LogSoftmax", &[logits], vec![("axis", Attribute::Int(1))])
}

/// Logits as `[batch, classes]`; further dimensions of size one are taken away.
fn as_logits(builder: &mut Builder, logits: &Value) -> Result<Value, ScalarError> {
    check_float(builder, logits)?;
    let shape = builder.shape(logits)?;
    let is_flat = 2 <= shape.len() && shape.iter().skip(2).all(Dim::is_one);
    let has_classes = shape.get(1).is_some_and(|classes| classes.as_size().is_some());
    if !is_flat || !has_classes {
        let value = logits.name().to_owned();
        return Err(ScalarError::NotLogits { value, found: dim::describe(&shape) });
    }
    let axes: Vec<i64> = (2..).take(shape.len().saturating_sub(2)).collect();
    if axes.is_empty() { Ok(logits.clone()) } else { Ok(builder.squeeze(logits, &axes)?) }
}

/// Where the class is the one in an input of this name: truth values `[batch, classes]`.
fn is_label(
    builder: &mut Builder,
    logits: &Value,
    input: &str,
) -> Result<(Value, Value), BuildError> {
    let batch = builder.shape(logits)?.into_iter().take(1).collect();
    let classes: Vec<i64> = (0..).take(builder.size(logits, 1)?).collect();
    let labels = shared_input(builder, input, ElementType::I64, batch);
    let column = builder.unsqueeze(&labels, &[1])?;
    let classes = builder.constant(Tensor::list(classes));
    Ok((builder.compare("Equal", &column, &classes)?, labels))
}

/// The number of each example for which the mask holds.
fn picked(builder: &mut Builder, is_label: &Value, x: &Value) -> Result<Value, BuildError> {
    let zero = builder.number(0.0, x);
    let only = builder.choose(is_label, x, &zero)?;
    builder.reduce_sum(&only, &[1], false)
}

/// The input of this name, type and shape, which is added if it is not there.
fn shared_input(
    builder: &mut Builder,
    name: &str,
    element_type: ElementType,
    shape: Vec<Dim>,
) -> Value {
    let same = builder.graph().input(name).is_some_and(|port| {
        port.element_type == element_type && port.shape.as_ref() == Some(&shape)
    });
    match builder.value(name) {
        Ok(value) if same => value,
        _ => builder.input(name, element_type, shape),
    }
}

/// A reduction under the name of the result.
fn named_sum(
    builder: &mut Builder,
    op: &str,
    x: &Value,
    axes: &[i64],
) -> Result<Value, BuildError> {
    let axes = builder.list(axes);
    builder.named_op("loss", op, &[x, &axes], vec![("keepdims", Attribute::Int(0))])
}

/// A value under the name of the result.
fn named(builder: &mut Builder, x: &Value) -> Result<Value, BuildError> {
    builder.named_op("loss", "Identity", &[x], vec![])
}

/// All dimensions but the first.
fn axes_of_an_example(builder: &Builder, x: &Value) -> Result<Vec<i64>, BuildError> {
    Ok((1..).take(builder.rank(x)?.saturating_sub(1)).collect())
}

/// Refuses values that have no gradient.
fn check_float(builder: &Builder, x: &Value) -> Result<(), ScalarError> {
    let found = builder.element_type(x);
    if found.is_float() {
        return Ok(());
    }
    Err(ScalarError::NotFloat { value: x.name().to_owned(), found })
}
