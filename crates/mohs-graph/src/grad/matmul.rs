//! Gradients of matrix products: MatMul, Gemm and Einsum.
//!
//! In the formulas `y` is what the node makes and `dy` its gradient. Products with a plain matrix
//! are written as one flat Gemm, which transposes while it multiplies and sums over the batch in
//! the same pass.

use std::collections::BTreeSet;

use super::operator::{Gradients, of_first};
use super::{GradError, Tape, uncovered};
use crate::build::{BuildError, Value};
use crate::dim::{self, Dim};
use crate::graph::{Attribute, Node};

/// `y = a b`: `da = dy bᵀ`, `db = aᵀ dy`, summed over the batch where it was repeated.
pub(super) fn matmul(tape: &mut Tape<'_>, node: &Node, of_outputs: &[Option<Value>]) -> Gradients {
    let dy = of_first(node, of_outputs)?;
    let (a, b) = (tape.input(node, 0)?, tape.input(node, 1)?);
    let (rank_a, rank_b) = (tape.builder.rank(&a)?, tape.builder.rank(&b)?);
    if rank_a == 0 || rank_b == 0 {
        return Err(uncovered(node, "a product with a number; expected at least one dimension"));
    }

    // A list counts as a row on the left and as a column on the right.
    let mut wide_dy = dy;
    let wide_b = if rank_b == 1 {
        wide_dy = tape.builder.unsqueeze(&wide_dy, &[-1])?;
        tape.builder.unsqueeze(&b, &[1])?
    } else {
        b.clone()
    };
    let wide_a = if rank_a == 1 {
        wide_dy = tape.builder.unsqueeze(&wide_dy, &[-2])?;
        tape.builder.unsqueeze(&a, &[0])?
    } else {
        a.clone()
    };

    let da = if tape.wants(node, 0) {
        let found = of_left(tape, &wide_a, &wide_b, &wide_dy)?;
        Some(tape.builder.reshape_like(&found, &a)?)
    } else {
        None
    };
    let db = if tape.wants(node, 1) {
        let found = of_right(tape, &wide_a, &wide_b, &wide_dy)?;
        Some(tape.builder.reshape_like(&found, &b)?)
    } else {
        None
    };
    Ok(vec![da, db])
}

/// `dy bᵀ`, summed over the batch if `a` was repeated along it.
fn of_left(tape: &mut Tape<'_>, a: &Value, b: &Value, dy: &Value) -> Result<Value, BuildError> {
    if tape.builder.rank(b)? == 2
        && let Some(rows) = as_rows(tape, dy)?
    {
        let flat = product(tape, (&rows, false), (b, true), 1.0)?;
        return tape.builder.reshape_like(&flat, a);
    }
    if tape.builder.rank(a)? == 2
        && let Some(found) = of_repeated_left(tape, b, dy)?
    {
        return Ok(found);
    }
    let turned = turned(tape, b)?;
    let wide = tape.builder.matmul(dy, &turned)?;
    tape.sum_to_shape_of(&wide, a)
}

/// `Σ dy bᵀ` over the batch of `b`, for one matrix on the left: the columns of the whole batch side
/// by side make it a single product.
fn of_repeated_left(
    tape: &mut Tape<'_>,
    b: &Value,
    dy: &Value,
) -> Result<Option<Value>, BuildError> {
    if tape.builder.rank(b)? != 3 {
        return Ok(None);
    }
    let dy_rows = tape.builder.transpose(dy, &[0, 2, 1])?;
    let b_rows = tape.builder.transpose(b, &[0, 2, 1])?;
    let (Some(dy_rows), Some(b_rows)) = (as_rows(tape, &dy_rows)?, as_rows(tape, &b_rows)?) else {
        return Ok(None);
    };
    Ok(Some(product(tape, (&dy_rows, true), (&b_rows, false), 1.0)?))
}

/// `aᵀ dy`, summed over the batch if `b` was repeated along it.
fn of_right(tape: &mut Tape<'_>, a: &Value, b: &Value, dy: &Value) -> Result<Value, BuildError> {
    if tape.builder.rank(b)? == 2
        && let (Some(a_rows), Some(dy_rows)) = (as_rows(tape, a)?, as_rows(tape, dy)?)
    {
        return product(tape, (&a_rows, true), (&dy_rows, false), 1.0);
    }
    let turned = turned(tape, a)?;
    let wide = tape.builder.matmul(&turned, dy)?;
    tape.sum_to_shape_of(&wide, b)
}

/// A number times the product of two matrices, each turned over if it says so.
fn product(
    tape: &mut Tape<'_>,
    left: (&Value, bool),
    right: (&Value, bool),
    factor: f32,
) -> Result<Value, BuildError> {
    let attributes = vec![
        ("alpha", Attribute::Float(factor)),
        ("transA", Attribute::Int(i64::from(left.1))),
        ("transB", Attribute::Int(i64::from(right.1))),
    ];
    tape.builder.op("Gemm", &[left.0, right.0], attributes)
}

/// All rows of a batch of matrices as one matrix; `None` if the length of a row is not known.
fn as_rows(tape: &mut Tape<'_>, x: &Value) -> Result<Option<Value>, BuildError> {
    let shape = tape.builder.shape(x)?;
    let Some((length, outer)) = shape.split_last() else { return Ok(None) };
    if outer.len() == 1 {
        return Ok(Some(x.clone()));
    }
    let Some(n_rows) = dim::product(outer).filter(|_| length.as_known().is_some()) else {
        return Ok(None);
    };
    Ok(Some(tape.builder.reshape(x, &[n_rows, length.clone()])?))
}

/// The same matrices with rows and columns exchanged.
fn turned(tape: &mut Tape<'_>, x: &Value) -> Result<Value, BuildError> {
    let rank = tape.builder.rank(x)?;
    let mut order: Vec<i64> = (0..).take(rank).collect();
    if 2 <= rank {
        order.swap(rank - 2, rank - 1);
    }
    tape.builder.transpose(x, &order)
}

/// `y = α a b + β c`, `a` and `b` turned over if the node says so: `da = α dy bᵀ`, `db = α aᵀ dy`,
/// `dc = β dy`.
pub(super) fn gemm(tape: &mut Tape<'_>, node: &Node, of_outputs: &[Option<Value>]) -> Gradients {
    let dy = of_first(node, of_outputs)?;
    let (a, b) = (tape.input(node, 0)?, tape.input(node, 1)?);
    let alpha = node.float("alpha").unwrap_or(1.0);
    let turns_a = node.int("transA").unwrap_or(0) != 0;
    let turns_b = node.int("transB").unwrap_or(0) != 0;

    let mut found = vec![None, None, None];
    if tape.wants(node, 0) {
        let (left, right) =
            if turns_a { ((&b, turns_b), (&dy, true)) } else { ((&dy, false), (&b, !turns_b)) };
        found[0] = Some(product(tape, left, right, alpha)?);
    }
    if tape.wants(node, 1) {
        let (left, right) =
            if turns_b { ((&dy, true), (&a, turns_a)) } else { ((&a, !turns_a), (&dy, false)) };
        found[1] = Some(product(tape, left, right, alpha)?);
    }
    if tape.wants(node, 2) {
        let c = tape.input(node, 2)?;
        let summed = tape.sum_to_shape_of(&dy, &c)?;
        let beta = f64::from(node.float("beta").unwrap_or(1.0));
        found[2] = Some(times(tape, &summed, beta)?);
    }
    Ok(found)
}

/// `x` times a number, unless that is one.
fn times(tape: &mut Tape<'_>, x: &Value, factor: f64) -> Result<Value, BuildError> {
    if (factor - 1.0).abs() < f64::EPSILON {
        return Ok(x.clone());
    }
    let factor = tape.number(factor, x);
    tape.builder.mul(x, &factor)
}

/// The labels of an equation: those of each operand, and those of the result.
struct Equation {
    operands: Vec<Vec<char>>,
    result: Vec<char>,
}

/// Reads an equation such as `bhid,bhjd->bhij`.
fn equation(node: &Node) -> Result<Equation, GradError> {
    let Some(text) = node.text("equation") else {
        return Err(uncovered(node, "a missing equation"));
    };
    let refuse = |why: &str| uncovered(node, &format!("the equation `{text}`: {why}"));
    if text.contains('.') {
        return Err(refuse("an ellipsis; needed: a label for every dimension"));
    }
    let (left, right) = match text.split_once("->") {
        Some((left, right)) => (left, Some(right)),
        None => (text, None),
    };
    let labels =
        |term: &str| -> Vec<char> { term.chars().filter(|c| !c.is_whitespace()).collect() };
    let operands: Vec<Vec<char>> = left.split(',').map(labels).collect();
    let result = match right {
        Some(right) => labels(right),
        // Without an arrow the result has the labels that occur once, in alphabetical order.
        None => {
            let mut all: Vec<char> = operands.iter().flatten().copied().collect();
            all.sort_unstable();
            let n_times = |label: char| all.iter().filter(|&&other| other == label).count();
            all.iter().copied().filter(|&label| n_times(label) == 1).collect()
        }
    };
    for term in operands.iter().chain([&result]) {
        if let Some(odd) = term.iter().find(|label| !label.is_ascii_alphabetic()) {
            return Err(refuse(&format!("`{odd}` is not a label")));
        }
        if term.iter().collect::<BTreeSet<_>>().len() != term.len() {
            return Err(refuse("a label twice in one operand; needed: a rule for diagonals"));
        }
    }
    if let Some(label) =
        result.iter().find(|&label| !operands.iter().any(|term| term.contains(label)))
    {
        return Err(refuse(&format!("`{label}` occurs in the result only")));
    }
    Ok(Equation { operands, result })
}

/// `y = Σ a b …` by labels: the gradient of an operand is `Σ dy b …` with the operand's own labels
/// as the result. Labels that occur nowhere else were summed away, and are spread again.
pub(super) fn einsum(tape: &mut Tape<'_>, node: &Node, of_outputs: &[Option<Value>]) -> Gradients {
    let dy = of_first(node, of_outputs)?;
    let Equation { operands, result } = equation(node)?;
    if operands.len() != node.inputs.len() {
        return Err(uncovered(node, "an equation with another number of operands than the node"));
    }
    let values: Vec<Value> =
        (0..operands.len()).map(|idx| tape.input(node, idx)).collect::<Result<_, GradError>>()?;
    check_sizes(tape, node, &operands, &values)?;

    let mut found = Vec::with_capacity(operands.len());
    for (idx, (x, own)) in values.iter().zip(&operands).enumerate() {
        if !tape.wants(node, idx) {
            found.push(None);
            continue;
        }
        let mut terms = vec![(result.clone(), dy.clone())];
        let others = operands.iter().zip(&values).enumerate().filter(|(other, _)| *other != idx);
        terms.extend(others.map(|(_, (labels, value))| (labels.clone(), value.clone())));
        let reached: Vec<char> = own
            .iter()
            .copied()
            .filter(|label| terms.iter().any(|(labels, _)| labels.contains(label)))
            .collect();
        let narrow = contracted(tape, &terms, &reached)?;
        found.push(Some(spread(tape, &narrow, &reached, own, x)?));
    }
    Ok(found)
}

/// Refuses operands whose number of dimensions is not what the equation says, or that are repeated
/// along a label.
fn check_sizes(
    tape: &Tape<'_>,
    node: &Node,
    operands: &[Vec<char>],
    values: &[Value],
) -> Result<(), GradError> {
    let mut sizes: Vec<(char, Dim)> = Vec::new();
    for (labels, value) in operands.iter().zip(values) {
        let shape = tape.builder.shape(value)?;
        if shape.len() != labels.len() {
            let case =
                format!("`{value}` with {} dimensions; expected {}", shape.len(), labels.len());
            return Err(uncovered(node, &case));
        }
        for (&label, size) in labels.iter().zip(shape) {
            match sizes.iter().find(|(other, _)| *other == label) {
                Some((_, other)) if other.is_one() != size.is_one() => {
                    let case = format!("the label `{label}` with sizes {other} and {size}");
                    return Err(uncovered(node, &format!("{case}; needed: equal sizes")));
                }
                Some(_) => {}
                None => sizes.push((label, size)),
            }
        }
    }
    Ok(())
}

/// The sum of products over all labels but these, in this order.
fn contracted(
    tape: &mut Tape<'_>,
    terms: &[(Vec<char>, Value)],
    to: &[char],
) -> Result<Value, BuildError> {
    if let [(from, x)] = terms {
        let order: Vec<i64> = to
            .iter()
            .filter_map(|label| from.iter().position(|other| other == label))
            .filter_map(|position| i64::try_from(position).ok())
            .collect();
        return tape.builder.transpose(x, &order);
    }
    let left: Vec<String> = terms.iter().map(|(labels, _)| labels.iter().collect()).collect();
    let equation = format!("{}->{}", left.join(","), to.iter().collect::<String>());
    let values: Vec<&Value> = terms.iter().map(|(_, value)| value).collect();
    tape.builder.op("Einsum", &values, vec![("equation", Attribute::Text(equation))])
}

/// Repeats a gradient along the labels that it lacks, up to the shape of `x`.
fn spread(
    tape: &mut Tape<'_>,
    narrow: &Value,
    has: &[char],
    own: &[char],
    x: &Value,
) -> Result<Value, BuildError> {
    if has.len() == own.len() {
        return Ok(narrow.clone());
    }
    let lacking: Vec<i64> =
        (0..).zip(own).filter(|(_, label)| !has.contains(label)).map(|(axis, _)| axis).collect();
    let wide = tape.builder.unsqueeze(narrow, &lacking)?;
    tape.builder.expand_like(&wide, x)
}
