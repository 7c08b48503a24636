//! Operators that work element by element: arithmetic, comparison, logic, choice and casts.

use super::args::{Args, Operator, Outcome};
use super::array::{Array, Items, Problem, broadcast_shape, broadcast_sources, to_int};
use crate::tensor::ElementType;

/// Finds an operator of this family.
pub(super) fn operator(op: &str) -> Option<Operator> {
    let operator: Operator = match op {
        "Add" => |args| binary(args, |x, y| x + y, |x, y| Ok(x.wrapping_add(y))),
        "Sub" => |args| binary(args, |x, y| x - y, |x, y| Ok(x.wrapping_sub(y))),
        "Mul" => |args| binary(args, |x, y| x * y, |x, y| Ok(x.wrapping_mul(y))),
        "Div" => |args| binary(args, |x, y| x / y, whole_division),
        "Mod" => modulo,
        "Pow" => power,
        "Min" => |args| variadic(args, smaller, i64::min),
        "Max" => |args| variadic(args, larger, i64::max),
        "Sum" => |args| variadic(args, |x, y| x + y, i64::wrapping_add),
        "Mean" => mean,
        "Neg" => |args| number(args, |x| -x, i64::wrapping_neg),
        "Abs" => |args| number(args, f64::abs, i64::wrapping_abs),
        "Sign" => |args| number(args, sign, i64::signum),
        "Sqrt" => |args| float(args, f64::sqrt),
        "Reciprocal" => |args| float(args, f64::recip),
        "Exp" => |args| float(args, f64::exp),
        "Log" => |args| float(args, f64::ln),
        "Erf" => |args| float(args, erf),
        "Floor" => |args| float(args, f64::floor),
        "Ceil" => |args| float(args, f64::ceil),
        "Round" => |args| float(args, f64::round_ties_even),
        "Sin" => |args| float(args, f64::sin),
        "Cos" => |args| float(args, f64::cos),
        "Tan" => |args| float(args, f64::tan),
        "Asin" => |args| float(args, f64::asin),
        "Acos" => |args| float(args, f64::acos),
        "Atan" => |args| float(args, f64::atan),
        "Sinh" => |args| float(args, f64::sinh),
        "Cosh" => |args| float(args, f64::cosh),
        "Tanh" => |args| float(args, f64::tanh),
        "Asinh" => |args| float(args, f64::asinh),
        "Acosh" => |args| float(args, f64::acosh),
        "Atanh" => |args| float(args, f64::atanh),
        "Equal" => equal,
        "Greater" => |args| comparison(args, |x, y| y < x, |x, y| y < x),
        "Less" => |args| comparison(args, |x, y| x < y, |x, y| x < y),
        "GreaterOrEqual" => |args| comparison(args, |x, y| y <= x, |x, y| y <= x),
        "LessOrEqual" => |args| comparison(args, |x, y| x <= y, |x, y| x <= y),
        "And" => |args| logic(args, |x, y| x && y),
        "Or" => |args| logic(args, |x, y| x || y),
        "Xor" => |args| logic(args, |x, y| x != y),
        "Not" => not,
        "IsNaN" => |args| test(args, f64::is_nan),
        "IsInf" => is_infinite,
        "Where" => choose,
        "Clip" => clip,
        "Cast" => cast,
        "CastLike" => cast_like,
        "Identity" | "Dropout" => identity,
        _ => return None,
    };
    Some(operator)
}

/// A function of one float.
pub(super) fn float(args: &Args<'_>, function: impl Fn(f64) -> f64) -> Outcome {
    let x = args.floats(0)?;
    let items = x.iter().map(|&x| function(x)).collect();
    Ok(vec![Array::floats(args.input(0)?.shape.clone(), items)?])
}

/// A function of one number of either kind.
fn number(args: &Args<'_>, of_float: fn(f64) -> f64, of_int: fn(i64) -> i64) -> Outcome {
    match &args.input(0)?.items {
        Items::Ints(x) => {
            let items = x.iter().map(|&x| of_int(x)).collect();
            Ok(vec![Array::ints(args.input(0)?.shape.clone(), items)?])
        }
        _ => float(args, of_float),
    }
}

/// Two arrays repeated to the shape that they have together.
fn together(args: &Args<'_>) -> Result<(Array, Array), Problem> {
    let (x, y) = (args.input(0)?, args.input(1)?);
    let shape = broadcast_shape(&[&x.shape, &y.shape])?;
    Ok((x.broadcast(&shape)?, y.broadcast(&shape)?))
}

/// Says that two inputs are not of the same kind.
fn unlike(x: &Items, y: &Items) -> Problem {
    format!("both inputs should be numbers of one kind, found {} and {}", x.kind(), y.kind())
}

/// A function of two numbers of the same kind.
fn binary(
    args: &Args<'_>,
    of_floats: impl Fn(f64, f64) -> f64,
    of_ints: impl Fn(i64, i64) -> Result<i64, Problem>,
) -> Outcome {
    let (x, y) = together(args)?;
    let items = match (&x.items, &y.items) {
        (Items::Floats(x), Items::Floats(y)) => {
            Items::Floats(x.iter().zip(y).map(|(&x, &y)| of_floats(x, y)).collect())
        }
        (Items::Ints(x), Items::Ints(y)) => {
            let made: Result<_, _> = x.iter().zip(y).map(|(&x, &y)| of_ints(x, y)).collect();
            Items::Ints(made?)
        }
        (x, y) => return Err(unlike(x, y)),
    };
    Ok(vec![Array::new(x.shape, items)?])
}

/// Whole numbers divide towards zero.
fn whole_division(x: i64, y: i64) -> Result<i64, Problem> {
    if y == 0 {
        return Err("a whole number is divided by zero".to_owned());
    }
    Ok(x.wrapping_div(y))
}

/// What division leaves; with `fmod` the sign of the first number, else that of the second.
fn modulo(args: &Args<'_>) -> Outcome {
    let keeps_first_sign = args.flag_or("fmod", false);
    let of_floats = |x: f64, y: f64| {
        let rest = x % y;
        if keeps_first_sign || rest == 0.0 || (rest < 0.0) == (y < 0.0) { rest } else { rest + y }
    };
    let of_ints = |x: i64, y: i64| {
        if y == 0 {
            return Err("a whole number is divided by zero".to_owned());
        }
        let rest = x.wrapping_rem(y);
        let is_done = keeps_first_sign || rest == 0 || (rest < 0) == (y < 0);
        Ok(if is_done { rest } else { rest + y })
    };
    binary(args, of_floats, of_ints)
}

/// Powers have the kind of the base.
fn power(args: &Args<'_>) -> Outcome {
    let (x, y) = together(args)?;
    let exponents: Vec<f64> = match &y.items {
        Items::Floats(y) => y.clone(),
        Items::Ints(y) => y.iter().map(|&y| y as f64).collect(),
        Items::Bools(_) => return Err(unlike(&x.items, &y.items)),
    };
    let items = match (&x.items, &y.items) {
        (Items::Floats(x), _) => {
            Items::Floats(x.iter().zip(&exponents).map(|(x, &y)| x.powf(y)).collect())
        }
        (Items::Ints(x), Items::Ints(y)) => {
            let exact = |(&x, &y): (&i64, &i64)| match u32::try_from(y) {
                Ok(y) => x.wrapping_pow(y),
                Err(_) => to_int((x as f64).powf(y as f64)),
            };
            Items::Ints(x.iter().zip(y).map(exact).collect())
        }
        (Items::Ints(x), _) => {
            let powers = x.iter().zip(&exponents).map(|(&x, &y)| to_int((x as f64).powf(y)));
            Items::Ints(powers.collect())
        }
        (Items::Bools(_), _) => return Err(unlike(&x.items, &y.items)),
    };
    Ok(vec![Array::new(x.shape, items)?])
}

/// Any number of inputs, joined from the first to the last.
fn variadic(
    args: &Args<'_>,
    of_floats: fn(f64, f64) -> f64,
    of_ints: fn(i64, i64) -> i64,
) -> Outcome {
    let inputs = args.all_inputs()?;
    let shapes: Vec<&[usize]> = inputs.iter().map(|input| input.shape.as_slice()).collect();
    let shape = broadcast_shape(&shapes)?;
    let mut so_far = inputs[0].broadcast(&shape)?;
    for input in &inputs[1..] {
        let next = input.broadcast(&shape)?;
        match (&mut so_far.items, &next.items) {
            (Items::Floats(x), Items::Floats(y)) => {
                x.iter_mut().zip(y).for_each(|(x, &y)| *x = of_floats(*x, y));
            }
            (Items::Ints(x), Items::Ints(y)) => {
                x.iter_mut().zip(y).for_each(|(x, &y)| *x = of_ints(*x, y));
            }
            (x, y) => return Err(unlike(x, y)),
        }
    }
    match so_far.items {
        Items::Bools(_) => Err("the inputs should be numbers, found truth values".to_owned()),
        _ => Ok(vec![so_far]),
    }
}

/// The mean of the inputs.
fn mean(args: &Args<'_>) -> Outcome {
    let sum = variadic(args, |x, y| x + y, i64::wrapping_add)?.swap_remove(0);
    let n = args.inputs.len() as f64;
    match sum.items {
        Items::Floats(items) => {
            Ok(vec![Array::floats(sum.shape, items.iter().map(|x| x / n).collect())?])
        }
        other => Err(format!("the inputs should be floats, found {}", other.kind())),
    }
}

/// The smaller number; what is not a number stays so.
pub(super) fn smaller(x: f64, y: f64) -> f64 {
    if x.is_nan() || x < y { x } else { y }
}

/// The larger number; what is not a number stays so.
pub(super) fn larger(x: f64, y: f64) -> f64 {
    if x.is_nan() || y < x { x } else { y }
}

/// −1, 0 or 1.
fn sign(x: f64) -> f64 {
    if x == 0.0 || x.is_nan() { x } else { x.signum() }
}

/// The error function, by a series whose terms are all of one sign.
pub(super) fn erf(x: f64) -> f64 {
    if x.is_nan() {
        return x;
    }
    // From 6 on, the rest is below the spacing of floats near one.
    if 6.0 <= x.abs() {
        return x.signum();
    }
    let mut term = x;
    let mut sum = x;
    let mut n = 1.0;
    while f64::EPSILON * 1e-3 * sum.abs() < term.abs() {
        term *= 2.0 * x * x / (2.0 * n + 1.0);
        sum += term;
        n += 1.0;
    }
    2.0 / std::f64::consts::PI.sqrt() * (-x * x).exp() * sum
}

/// Whether two elements are the same; truth values may be compared too.
#[expect(clippy::float_cmp, reason = "the operator asks for exact equality")]
fn equal(args: &Args<'_>) -> Outcome {
    let (x, y) = together(args)?;
    if let (Items::Bools(x_items), Items::Bools(y_items)) = (&x.items, &y.items) {
        let items = x_items.iter().zip(y_items).map(|(x, y)| x == y).collect();
        return Ok(vec![Array::bools(x.shape.clone(), items)?]);
    }
    comparison(args, |x, y| x == y, |x, y| x == y)
}

/// A comparison of two numbers of the same kind.
fn comparison(
    args: &Args<'_>,
    of_floats: fn(f64, f64) -> bool,
    of_ints: fn(i64, i64) -> bool,
) -> Outcome {
    let (x, y) = together(args)?;
    let items = match (&x.items, &y.items) {
        (Items::Floats(x), Items::Floats(y)) => {
            x.iter().zip(y).map(|(&x, &y)| of_floats(x, y)).collect()
        }
        (Items::Ints(x), Items::Ints(y)) => x.iter().zip(y).map(|(&x, &y)| of_ints(x, y)).collect(),
        (x, y) => return Err(unlike(x, y)),
    };
    Ok(vec![Array::bools(x.shape, items)?])
}

/// A function of two truth values.
fn logic(args: &Args<'_>, function: fn(bool, bool) -> bool) -> Outcome {
    let (x, y) = together(args)?;
    match (x.items, y.items) {
        (Items::Bools(x_items), Items::Bools(y_items)) => {
            let items = x_items.iter().zip(&y_items).map(|(&x, &y)| function(x, y)).collect();
            Ok(vec![Array::bools(x.shape, items)?])
        }
        (x, y) => {
            Err(format!("both inputs should be truth values, found {} and {}", x.kind(), y.kind()))
        }
    }
}

/// The opposite.
fn not(args: &Args<'_>) -> Outcome {
    let items = args.bools(0)?.iter().map(|x| !x).collect();
    Ok(vec![Array::bools(args.input(0)?.shape.clone(), items)?])
}

/// A question about one float.
fn test(args: &Args<'_>, question: impl Fn(f64) -> bool) -> Outcome {
    let items = args.floats(0)?.iter().map(|&x| question(x)).collect();
    Ok(vec![Array::bools(args.input(0)?.shape.clone(), items)?])
}

/// Whether a float is infinite, on the sides that count.
fn is_infinite(args: &Args<'_>) -> Outcome {
    let (below, above) =
        (args.flag_or("detect_negative", true), args.flag_or("detect_positive", true));
    test(args, |x| x.is_infinite() && if x < 0.0 { below } else { above })
}

/// The second input where the first holds, else the third.
fn choose(args: &Args<'_>) -> Outcome {
    let condition = args.bools(0)?;
    let (yes, no) = (args.input(1)?, args.input(2)?);
    let shape = broadcast_shape(&[&args.input(0)?.shape, &yes.shape, &no.shape])?;
    let sources = broadcast_sources(&args.input(0)?.shape, &shape)?;
    let condition: Vec<bool> = sources.iter().map(|&idx| condition[idx]).collect();
    let (yes, no) = (yes.broadcast(&shape)?, no.broadcast(&shape)?);
    let items = match (&yes.items, &no.items) {
        (Items::Floats(yes), Items::Floats(no)) => Items::Floats(chosen(&condition, yes, no)),
        (Items::Ints(yes), Items::Ints(no)) => Items::Ints(chosen(&condition, yes, no)),
        (Items::Bools(yes), Items::Bools(no)) => Items::Bools(chosen(&condition, yes, no)),
        (yes, no) => return Err(unlike(yes, no)),
    };
    Ok(vec![Array::new(shape, items)?])
}

/// Element by element, one or the other.
fn chosen<T: Copy>(condition: &[bool], yes: &[T], no: &[T]) -> Vec<T> {
    let pairs = yes.iter().zip(no);
    condition.iter().zip(pairs).map(|(&holds, (&yes, &no))| if holds { yes } else { no }).collect()
}

/// Keeps numbers between two bounds; the upper one wins where they cross.
fn clip(args: &Args<'_>) -> Outcome {
    let shape = args.input(0)?.shape.clone();
    if let Items::Ints(x) = &args.input(0)?.items {
        let low = args.optional(1).map(|_| args.one_int(1)).transpose()?.unwrap_or(i64::MIN);
        let high = args.optional(2).map(|_| args.one_int(2)).transpose()?.unwrap_or(i64::MAX);
        let items = x.iter().map(|&x| x.max(low).min(high)).collect();
        return Ok(vec![Array::ints(shape, items)?]);
    }
    let bound = |idx: usize, default: f64| match args.optional_floats(idx)? {
        None => Ok(default),
        Some([bound]) => Ok(*bound),
        Some(other) => Err(format!("input {idx} should be one number, found {}", other.len())),
    };
    let (low, high) = (bound(1, f64::NEG_INFINITY)?, bound(2, f64::INFINITY)?);
    float(args, |x| smaller(larger(x, low), high))
}

/// Another kind of element.
fn cast(args: &Args<'_>) -> Outcome {
    let code = i32::try_from(args.int_or("to", 0)).unwrap_or(0);
    let to = ElementType::from_onnx(code);
    let x = args.input(0)?;
    let items = match to {
        // Half floats (10 and 16) are floats here; what they round away is not modelled.
        ElementType::F32 | ElementType::F64 | ElementType::Other(10 | 16) => as_floats(&x.items),
        ElementType::Bool => as_bools(&x.items),
        ElementType::I64 | ElementType::Other(13) => as_ints(&x.items),
        ElementType::I32 => narrowed(&x.items, 32, true),
        ElementType::I8 => narrowed(&x.items, 8, true),
        ElementType::U8 => narrowed(&x.items, 8, false),
        ElementType::Other(4) => narrowed(&x.items, 16, false),
        ElementType::Other(5) => narrowed(&x.items, 16, true),
        ElementType::Other(12) => narrowed(&x.items, 32, false),
        ElementType::Other(_) => {
            return Err(format!("`to` should be a type of numbers or truth values, found {to}"));
        }
    };
    Ok(vec![Array::new(x.shape.clone(), items)?])
}

/// The kind of element that the second input has.
fn cast_like(args: &Args<'_>) -> Outcome {
    let x = args.input(0)?;
    let items = match &args.input(1)?.items {
        Items::Floats(_) => as_floats(&x.items),
        Items::Ints(_) => as_ints(&x.items),
        Items::Bools(_) => as_bools(&x.items),
    };
    Ok(vec![Array::new(x.shape.clone(), items)?])
}

/// Elements as floats.
fn as_floats(items: &Items) -> Items {
    Items::Floats(match items {
        Items::Floats(items) => items.clone(),
        Items::Ints(items) => items.iter().map(|&x| x as f64).collect(),
        Items::Bools(items) => items.iter().map(|&x| f64::from(u8::from(x))).collect(),
    })
}

/// Elements as whole numbers.
fn as_ints(items: &Items) -> Items {
    Items::Ints(match items {
        Items::Floats(items) => items.iter().map(|&x| to_int(x)).collect(),
        Items::Ints(items) => items.clone(),
        Items::Bools(items) => items.iter().map(|&x| i64::from(x)).collect(),
    })
}

/// Elements as truth values: whatever is not zero.
fn as_bools(items: &Items) -> Items {
    Items::Bools(match items {
        Items::Floats(items) => items.iter().map(|&x| x != 0.0).collect(),
        Items::Ints(items) => items.iter().map(|&x| x != 0).collect(),
        Items::Bools(items) => items.clone(),
    })
}

/// Elements as whole numbers of fewer bits, wrapping around.
fn narrowed(items: &Items, n_bits: u32, is_signed: bool) -> Items {
    let range = 1_i64 << n_bits;
    let wrap = |x: i64| {
        let x = x.rem_euclid(range);
        if is_signed && range / 2 <= x { x - range } else { x }
    };
    match as_ints(items) {
        Items::Ints(items) => Items::Ints(items.into_iter().map(wrap).collect()),
        other => other,
    }
}

/// The first input; a dropout's mask, if asked for, is true everywhere.
fn identity(args: &Args<'_>) -> Outcome {
    let x = args.input(0)?;
    let mut outputs = vec![x.clone()];
    if 1 < args.node.outputs.len() {
        outputs.push(Array::bools(x.shape.clone(), vec![true; x.len()])?);
    }
    Ok(outputs)
}
