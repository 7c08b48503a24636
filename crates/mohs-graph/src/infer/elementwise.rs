//! Operators that work element by element: arithmetic, activations, comparisons, `Where`, `Cast`.
//!
//! Contents of whole-number tensors are followed where the result is a number times symbols.

use std::cmp::Ordering;

use super::scope::{Found, Scope, compared, negated, positions, stretched, sum};
use super::{Fact, InferError, MAX_TRACKED};
use crate::dim::{self, Dim};
use crate::tensor::ElementType;

/// What this family says about a node; `None` if the operator is of another family.
pub(super) fn infer(scope: &Scope<'_>) -> Option<Found> {
    Some(match scope.node.op.as_str() {
        "Neg" | "Abs" | "Identity" => followed(scope),
        "Sqrt" | "Reciprocal" | "Exp" | "Log" | "Erf" | "Sign" | "Floor" | "Ceil" | "Round"
        | "Sin" | "Cos" | "Tan" | "Asin" | "Acos" | "Atan" | "Sinh" | "Cosh" | "Tanh" | "Asinh"
        | "Acosh" | "Atanh" | "Relu" | "LeakyRelu" | "Elu" | "Selu" | "Celu"
        | "ThresholdedRelu" | "Clip" | "Sigmoid" | "HardSigmoid" | "HardSwish" | "Gelu"
        | "Softplus" | "Softsign" | "Mish" | "Swish" | "Softmax" | "LogSoftmax" | "Hardmax"
        | "Shrink" | "BitwiseNot" | "CumSum" | "Trilu" => like_first(scope),
        "Not" | "IsNaN" | "IsInf" => truth(scope),
        "Dropout" => dropout(scope),
        // Its exponent may be of another type.
        "Pow" => scope.required(0).and_then(|base| stretched_together(scope, base.element_type)),
        "PRelu" | "Add" | "Sub" | "Mul" | "Div" | "Mod" | "Min" | "Max" | "Sum" | "Mean"
        | "BitwiseAnd" | "BitwiseOr" | "BitwiseXor" | "BitShift" => {
            let known = scope.inputs().iter().flatten().map(|fact| fact.element_type);
            let known = known.into_iter().find(|&found| found != ElementType::UNKNOWN);
            stretched_together(scope, known.unwrap_or(ElementType::UNKNOWN))
        }
        "Equal" | "Greater" | "Less" | "GreaterOrEqual" | "LessOrEqual" | "And" | "Or" | "Xor" => {
            stretched_together(scope, ElementType::Bool)
        }
        "Where" => choose(scope),
        "Cast" => cast(scope),
        "CastLike" => cast_like(scope),
        _ => return None,
    })
}

fn like_first(scope: &Scope<'_>) -> Found {
    let x = scope.required(0)?;
    Ok(vec![Fact { value: None, floats: None, ..x.clone() }])
}

fn truth(scope: &Scope<'_>) -> Found {
    let x = scope.required(0)?;
    let value = if scope.node.op == "Not" { x.value.as_deref() } else { None };
    let turned = value.and_then(|value| {
        value.iter().map(|dim| dim.as_known().map(|bit| Dim::known(i64::from(bit == 0)))).collect()
    });
    let fact = Fact { shape: x.shape.clone(), ..Fact::of_type(ElementType::Bool) };
    Ok(vec![fact.with_value(turned)])
}

fn dropout(scope: &Scope<'_>) -> Found {
    let x = scope.required(0)?;
    let mask = Fact { shape: x.shape.clone(), ..Fact::of_type(ElementType::Bool) };
    Ok(vec![x.clone(), mask])
}

/// Operators of one value whose contents are followed.
fn followed(scope: &Scope<'_>) -> Found {
    let x = scope.required(0)?;
    let value = x.value.as_deref().and_then(|value| match scope.node.op.as_str() {
        "Neg" => value.iter().map(negated).collect(),
        "Abs" => value.iter().map(|dim| Some(Dim::known(dim.as_known()?.checked_abs()?))).collect(),
        _ => Some(value.to_vec()),
    });
    let floats = if scope.node.op == "Identity" { x.floats.clone() } else { None };
    Ok(vec![Fact { value, floats, ..x.clone() }])
}

/// Operators whose inputs are stretched to one shape.
fn stretched_together(scope: &Scope<'_>, element_type: ElementType) -> Found {
    scope.required(0)?;
    let inputs: Vec<&Fact> = scope.inputs().iter().copied().flatten().collect();
    let Some(shape) = common_shape(scope, &inputs)? else {
        return Ok(vec![Fact::of_type(element_type)]);
    };
    let value = element_by_element(&shape, &inputs, |idx, numbers| {
        arithmetic(&scope.node.op, numbers).or_else(|| {
            // A truth value or a list too long to name is not worth a symbol.
            (element_type != ElementType::Bool && idx < 64).then(|| scope.fresh_number(idx))
        })
    });
    Ok(vec![Fact::new(element_type, shape).with_value(value)])
}

/// The shape that all inputs are stretched to, if all shapes are known.
fn common_shape(scope: &Scope<'_>, inputs: &[&Fact]) -> Result<Option<Vec<Dim>>, InferError> {
    let mut common: Option<Vec<Dim>> = None;
    for fact in inputs {
        let Some(shape) = &fact.shape else {
            return Ok(None);
        };
        common = Some(match common {
            None => shape.clone(),
            Some(common) => scope.broadcast(&common, shape)?,
        });
    }
    Ok(common)
}

/// Applies `f` to the contents of all inputs, element by element.
fn element_by_element(
    shape: &[Dim],
    inputs: &[&Fact],
    f: impl Fn(usize, &[&Dim]) -> Option<Dim>,
) -> Option<Vec<Dim>> {
    let sizes = dim::as_sizes(shape)?;
    if MAX_TRACKED < crate::tensor::n_elements(&sizes)? {
        return None;
    }
    let mut parts = Vec::with_capacity(inputs.len());
    for fact in inputs {
        parts.push((fact.value.as_deref()?, dim::as_sizes(fact.shape.as_deref()?)?));
    }
    let mut found = Vec::new();
    for (idx, position) in positions(&sizes).enumerate() {
        let numbers: Option<Vec<&Dim>> =
            parts.iter().map(|(value, sizes)| value.get(stretched(&position, sizes))).collect();
        found.push(f(idx, &numbers?)?);
    }
    Some(found)
}

/// One operation on whole numbers, if its result is a number times symbols.
fn arithmetic(op: &str, numbers: &[&Dim]) -> Option<Dim> {
    let bit = |holds: bool| Some(Dim::known(i64::from(holds)));
    match (op, numbers) {
        ("Sum", numbers) => {
            numbers.iter().try_fold(Dim::known(0), |total, number| sum(&total, number))
        }
        ("Min", numbers) => extreme(numbers, Ordering::Less),
        ("Max", numbers) => extreme(numbers, Ordering::Greater),
        (_, [left, right]) => {
            let both = || Some((left.as_known()?, right.as_known()?));
            match op {
                "Add" => sum(left, right),
                "Sub" if left == right => Some(Dim::known(0)),
                "Sub" => sum(left, &negated(right)?),
                "Mul" => left.times(right),
                "Div" => left.divided_by(right).or_else(|| {
                    let (left, right) = both()?;
                    left.checked_div(right).map(Dim::known)
                }),
                "Mod" => {
                    let (left, right) = both()?;
                    let rest = left.checked_rem(right)?;
                    // The sign follows the divisor, as in Python.
                    let differs = rest != 0 && (rest < 0) != (right < 0);
                    Some(Dim::known(if differs { rest + right } else { rest }))
                }
                "Pow" => {
                    let (base, exponent) = both()?;
                    base.checked_pow(u32::try_from(exponent).ok()?).map(Dim::known)
                }
                "Equal" => bit(compared(left, right)? == Ordering::Equal),
                "Greater" => bit(compared(left, right)? == Ordering::Greater),
                "Less" => bit(compared(left, right)? == Ordering::Less),
                "GreaterOrEqual" => bit(compared(left, right)? != Ordering::Less),
                "LessOrEqual" => bit(compared(left, right)? != Ordering::Greater),
                "And" => both().and_then(|(left, right)| bit(left != 0 && right != 0)),
                "Or" => both().and_then(|(left, right)| bit(left != 0 || right != 0)),
                "Xor" => both().and_then(|(left, right)| bit((left != 0) != (right != 0))),
                _ => None,
            }
        }
        _ => None,
    }
}

/// The smallest or largest of some numbers, if that can be said.
fn extreme(numbers: &[&Dim], wanted: Ordering) -> Option<Dim> {
    let (first, rest) = numbers.split_first()?;
    let mut best = *first;
    for number in rest {
        if compared(number, best)? == wanted {
            best = number;
        }
    }
    Some(best.clone())
}

fn choose(scope: &Scope<'_>) -> Found {
    let (condition, yes, no) = (scope.required(0)?, scope.required(1)?, scope.required(2)?);
    let is_known = yes.element_type != ElementType::UNKNOWN;
    let element_type = if is_known { yes.element_type } else { no.element_type };
    let inputs = [condition, yes, no];
    let Some(shape) = common_shape(scope, &inputs)? else {
        return Ok(vec![Fact::of_type(element_type)]);
    };
    let value = element_by_element(&shape, &inputs, |_, numbers| match numbers {
        [condition, yes, no] => {
            if yes == no {
                return Some((*yes).clone());
            }
            Some(if condition.as_known()? == 0 { (*no).clone() } else { (*yes).clone() })
        }
        _ => None,
    });
    Ok(vec![Fact::new(element_type, shape).with_value(value)])
}

fn cast(scope: &Scope<'_>) -> Found {
    let to = scope.node.int("to").and_then(|code| i32::try_from(code).ok());
    let to = to.ok_or_else(|| scope.contradiction("the setting `to` should name a type"))?;
    Ok(vec![converted(scope.required(0)?, ElementType::from_onnx(to))])
}

fn cast_like(scope: &Scope<'_>) -> Found {
    Ok(vec![converted(scope.required(0)?, scope.required(1)?.element_type)])
}

/// A value as another type.
fn converted(x: &Fact, to: ElementType) -> Fact {
    let mut fact = Fact { shape: x.shape.clone(), ..Fact::of_type(to) };
    match to {
        ElementType::I64 | ElementType::I32 if x.element_type.is_float() => {
            let numbers = x.floats.as_ref().and_then(|floats| {
                floats.iter().map(|&number| whole(number).map(Dim::known)).collect()
            });
            fact = fact.with_value(numbers);
        }
        ElementType::I64 => fact.value.clone_from(&x.value),
        ElementType::I32 => {
            let fits = |dim: &Dim| dim.as_known().is_none_or(|n| i32::try_from(n).is_ok());
            fact.value = x.value.clone().filter(|value| value.iter().all(fits));
        }
        ElementType::Bool => {
            fact.value = x.value.as_deref().and_then(|value| {
                let bit = |dim: &Dim| Some(Dim::known(i64::from(dim.as_known()? != 0)));
                value.iter().map(bit).collect()
            });
        }
        to if to.is_float() => {
            fact.floats = x.floats.clone().or_else(|| {
                let numbers: Option<Vec<i64>> =
                    x.value.as_ref()?.iter().map(Dim::as_known).collect();
                let numbers = numbers.filter(|numbers| numbers.len() <= super::MAX_FLOATS)?;
                #[expect(clippy::cast_precision_loss, reason = "sizes are below 2^53")]
                Some(numbers.into_iter().map(|number| number as f64).collect())
            });
        }
        _ => {}
    }
    fact
}

/// A float cut off to a whole number, if it fits.
pub(super) fn whole(number: f64) -> Option<i64> {
    let cut = number.trunc();
    #[expect(clippy::cast_possible_truncation, reason = "checked to be a small whole number")]
    (cut.abs() < 9.0e15).then_some(cut as i64)
}
