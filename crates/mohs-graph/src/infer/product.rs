//! Products that sum over a dimension: `MatMul`, `Gemm`, `Einsum`.
//!
//! The dimensions summed over have to agree.

use std::collections::BTreeMap;

use super::Fact;
use super::scope::{Found, Scope};
use crate::dim::{self, Dim};

/// What this family says about a node; `None` if the operator is of another family.
pub(super) fn infer(scope: &Scope<'_>) -> Option<Found> {
    Some(match scope.node.op.as_str() {
        "MatMul" => matmul(scope),
        "Gemm" => gemm(scope),
        "Einsum" => einsum(scope),
        _ => return None,
    })
}

fn matmul(scope: &Scope<'_>) -> Found {
    let (left, right) = (scope.required(0)?, scope.required(1)?);
    let element_type = left.element_type;
    let (Some(of_left), Some(of_right)) = (&left.shape, &right.shape) else {
        return Ok(vec![Fact::of_type(element_type)]);
    };
    let misfit = || {
        scope.contradiction(format!(
            "matrices {} and {} do not fit each other",
            dim::describe(of_left),
            dim::describe(of_right)
        ))
    };
    let (left_lead, rows, inner) = match of_left.as_slice() {
        [] => return Err(misfit()),
        [inner] => (&[][..], None, inner),
        [lead @ .., rows, inner] => (lead, Some(rows), inner),
    };
    let (right_lead, other_inner, columns) = match of_right.as_slice() {
        [] => return Err(misfit()),
        [inner] => (&[][..], inner, None),
        [lead @ .., inner, columns] => (lead, inner, Some(columns)),
    };
    if inner.as_known().zip(other_inner.as_known()).is_some_and(|(left, right)| left != right) {
        return Err(misfit());
    }
    let mut shape = scope.broadcast(left_lead, right_lead)?;
    shape.extend(rows.cloned());
    shape.extend(columns.cloned());
    Ok(vec![Fact::new(element_type, shape)])
}

fn gemm(scope: &Scope<'_>) -> Found {
    let (left, right) = (scope.required(0)?, scope.required(1)?);
    let element_type = left.element_type;
    let matrix = |fact: &Fact, is_turned: bool, output_axis: usize| match fact.shape.as_deref() {
        None => Ok((scope.fresh(0, output_axis), scope.fresh(0, output_axis))),
        Some([rows, columns]) if is_turned => Ok((columns.clone(), rows.clone())),
        Some([rows, columns]) => Ok((rows.clone(), columns.clone())),
        Some(other) => Err(scope.contradiction(format!(
            "a matrix should have 2 dimensions, found {}",
            dim::describe(other)
        ))),
    };
    let is_turned = |name: &str| scope.node.int(name).unwrap_or(0) != 0;
    let (rows, inner) = matrix(left, is_turned("transA"), 0)?;
    let (other_inner, columns) = matrix(right, is_turned("transB"), 1)?;
    scope.check_equal("the number of features", &other_inner, &inner)?;
    let shape = vec![rows, columns];
    if let Some(bias) = scope.shape(2) {
        scope.broadcast(&shape, bias)?;
    }
    Ok(vec![Fact::new(element_type, shape)])
}

fn einsum(scope: &Scope<'_>) -> Found {
    let element_type = scope.required(0)?.element_type;
    let equation = scope.node.text("equation").unwrap_or_default();
    let equation: String = equation.chars().filter(|letter| !letter.is_whitespace()).collect();
    let (terms, result) = match equation.split_once("->") {
        Some((terms, result)) => (terms.to_owned(), Some(result.to_owned())),
        None => (equation.clone(), None),
    };
    let terms: Vec<&str> = terms.split(',').collect();
    if terms.len() != scope.inputs().len() {
        return Err(scope.contradiction(format!(
            "the equation `{equation}` should have {} terms, one per input, found {}",
            scope.inputs().len(),
            terms.len()
        )));
    }
    let mut sizes: BTreeMap<char, Dim> = BTreeMap::new();
    let mut rest: Vec<Dim> = Vec::new();
    for (idx, term) in terms.iter().enumerate() {
        let Some(shape) = scope.shape(idx) else {
            return Ok(vec![Fact::of_type(element_type)]);
        };
        let (before, after) = term.split_once("...").unwrap_or((term, ""));
        let (n_before, n_after) = (before.chars().count(), after.chars().count());
        let n_rest = shape.len().checked_sub(n_before + n_after);
        let n_rest = n_rest.filter(|&n_rest| n_rest == 0 || term.contains("..."));
        let Some(n_rest) = n_rest else {
            return Err(scope.contradiction(format!(
                "the term `{term}` does not fit {}",
                dim::describe(shape)
            )));
        };
        rest = scope.broadcast(&rest, &shape[n_before..n_before + n_rest])?;
        let named = shape[..n_before].iter().chain(&shape[n_before + n_rest..]);
        for (letter, dim) in before.chars().chain(after.chars()).zip(named) {
            match sizes.get(&letter) {
                Some(known) if !known.is_one() => {
                    if !dim.is_one() {
                        scope.check_equal(&format!("the dimension `{letter}`"), known, dim)?;
                    }
                    if super::is_open(known) && !dim.is_one() {
                        sizes.insert(letter, dim.clone());
                    }
                }
                _ => {
                    sizes.insert(letter, dim.clone());
                }
            }
        }
    }
    // Without an arrow: letters that stand once, in alphabetical order, after the ellipsis.
    let result = result.unwrap_or_else(|| {
        let once = sizes.keys().filter(|&&letter| equation.matches(letter).count() == 1);
        let once: String = once.collect();
        format!("{}{once}", if equation.contains("...") { "..." } else { "" })
    });
    let (before, after) = result.split_once("...").unwrap_or((&result, ""));
    let mut shape = Vec::new();
    for part in [before, after] {
        for letter in part.chars() {
            let dim = sizes.get(&letter).cloned().ok_or_else(|| {
                scope.contradiction(format!(
                    "the letter `{letter}` stands in no term of `{equation}`"
                ))
            })?;
            shape.push(dim);
        }
        if part == before && result.contains("...") && shape.len() == before.chars().count() {
            shape.append(&mut rest);
        }
    }
    Ok(vec![Fact::new(element_type, shape)])
}
