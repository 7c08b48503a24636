//! One node together with what is known about its inputs, and small arithmetic on dimensions.
//!
//! Everything a family of operators needs to reason about a node; it decides nothing itself.

use std::cmp::Ordering;

use super::{Fact, Facts, InferError};
use crate::dim::{self, Dim};
use crate::graph::Node;
use crate::tensor::ElementType;

/// What a family of operators says about a node: one fact per output it knows of.
pub(super) type Found = Result<Vec<Fact>, InferError>;

/// A node and what is known about its inputs.
pub(super) struct Scope<'a> {
    /// The node.
    pub(super) node: &'a Node,
    inputs: Vec<Option<&'a Fact>>,
}

impl<'a> Scope<'a> {
    /// Looks up the inputs of a node, all of which have to be known by name.
    pub(super) fn new(node: &'a Node, facts: &'a Facts) -> Result<Scope<'a>, InferError> {
        let mut inputs = Vec::with_capacity(node.inputs.len());
        for name in &node.inputs {
            if name.is_empty() {
                inputs.push(None);
                continue;
            }
            let fact = facts.get(name).ok_or_else(|| InferError::UnknownValue {
                node: node.label().to_owned(),
                op: node.full_op(),
                value: name.clone(),
            })?;
            inputs.push(Some(fact));
        }
        Ok(Scope { node, inputs })
    }

    /// All inputs, in order.
    pub(super) fn inputs(&self) -> &[Option<&'a Fact>] {
        &self.inputs
    }

    /// An input that may be left out.
    pub(super) fn optional(&self, idx: usize) -> Option<&'a Fact> {
        self.inputs.get(idx).copied().flatten()
    }

    /// An input that has to be there.
    pub(super) fn required(&self, idx: usize) -> Result<&'a Fact, InferError> {
        let n_found = self.inputs.iter().flatten().count();
        self.optional(idx).ok_or_else(|| {
            self.contradiction(format!("input {idx} is missing; {n_found} inputs are given"))
        })
    }

    /// The type of an input, 32-bit floats if it is left out.
    pub(super) fn element_type(&self, idx: usize) -> ElementType {
        self.optional(idx).map_or(ElementType::F32, |fact| fact.element_type)
    }

    /// The shape of an input, if known.
    pub(super) fn shape(&self, idx: usize) -> Option<&'a [Dim]> {
        self.optional(idx).and_then(|fact| fact.shape.as_deref())
    }

    /// The contents of an input, if followed.
    pub(super) fn value(&self, idx: usize) -> Option<&'a [Dim]> {
        self.optional(idx).and_then(|fact| fact.value.as_deref())
    }

    /// The contents of an input, if all numbers are known.
    pub(super) fn numbers(&self, idx: usize) -> Option<Vec<i64>> {
        self.value(idx)?.iter().map(Dim::as_known).collect()
    }

    /// The only number of an input, if it is known.
    pub(super) fn number(&self, idx: usize) -> Option<i64> {
        match self.value(idx)? {
            [number] => number.as_known(),
            _ => None,
        }
    }

    /// An error that says what does not fit.
    pub(super) fn contradiction(&self, problem: impl Into<String>) -> InferError {
        InferError::Contradiction {
            node: self.node.label().to_owned(),
            op: self.node.full_op(),
            problem: problem.into(),
        }
    }

    /// A dimension of an output that nobody knows.
    pub(super) fn fresh(&self, output_idx: usize, axis: usize) -> Dim {
        Dim::symbol(format!("?{}.{axis}", self.output_name(output_idx)))
    }

    /// A number inside the first output that nobody knows.
    pub(super) fn fresh_number(&self, idx: usize) -> Dim {
        Dim::symbol(format!("?{}#{idx}", self.output_name(0)))
    }

    /// Dimensions of an output that nobody knows.
    pub(super) fn fresh_shape(&self, output_idx: usize, rank: usize) -> Vec<Dim> {
        (0..rank).map(|axis| self.fresh(output_idx, axis)).collect()
    }

    fn output_name(&self, output_idx: usize) -> &str {
        self.node.outputs.get(output_idx).map_or("", String::as_str)
    }

    /// An axis that may count from the end, as a position below `rank`.
    pub(super) fn axis(&self, axis: i64, rank: usize) -> Result<usize, InferError> {
        resolve_axis(axis, rank).ok_or_else(|| {
            self.contradiction(format!("axis {axis} should lie within {rank} dimensions"))
        })
    }

    /// Axes that may count from the end, as positions below `rank`, each at most once.
    pub(super) fn axes(&self, axes: &[i64], rank: usize) -> Result<Vec<usize>, InferError> {
        let mut found = Vec::with_capacity(axes.len());
        for &axis in axes {
            let axis = self.axis(axis, rank)?;
            if found.contains(&axis) {
                return Err(self.contradiction(format!("axis {axis} is named twice")));
            }
            found.push(axis);
        }
        Ok(found)
    }

    /// A list of axes or sizes that newer files give as an input and older ones as a setting.
    ///
    /// `Ok(None)`: left out. `Err(())`: given, but not known before the network runs.
    pub(super) fn list(&self, input_idx: usize, setting: &str) -> Result<Option<Vec<i64>>, ()> {
        match self.optional(input_idx) {
            Some(_) => self.numbers(input_idx).map(Some).ok_or(()),
            None => Ok(self.node.ints(setting).map(<[i64]>::to_vec)),
        }
    }

    /// The shape of two shapes that are stretched to fit each other.
    pub(super) fn broadcast(&self, left: &[Dim], right: &[Dim]) -> Result<Vec<Dim>, InferError> {
        let rank = left.len().max(right.len());
        let mut shape = Vec::with_capacity(rank);
        for axis in 0..rank {
            let of =
                |dims: &[Dim]| (axis + dims.len()).checked_sub(rank).map(|axis| dims[axis].clone());
            let dim = match (of(left), of(right)) {
                (Some(dim), None) | (None, Some(dim)) => dim,
                (Some(left), Some(right)) if left == right => left,
                (Some(left), Some(right)) if left.is_one() => right,
                (Some(left), Some(right)) if right.is_one() => left,
                (Some(left_dim), Some(right_dim)) => {
                    match (left_dim.as_known(), right_dim.as_known()) {
                        (Some(_), Some(_)) => {
                            return Err(self.contradiction(format!(
                                "shapes {} and {} do not fit each other",
                                dim::describe(left),
                                dim::describe(right)
                            )));
                        }
                        // A symbol against a number that is not one: they can only be equal.
                        (Some(_), None) => left_dim,
                        (None, Some(_)) => right_dim,
                        (None, None) if super::is_open(&left_dim) => right_dim,
                        (None, None) => left_dim,
                    }
                }
                (None, None) => {
                    unreachable!("because an axis below the larger rank is in one shape")
                }
            };
            shape.push(dim);
        }
        Ok(shape)
    }

    /// Refuses two sizes that are known and differ.
    pub(super) fn check_equal(
        &self,
        what: &str,
        expected: &Dim,
        found: &Dim,
    ) -> Result<(), InferError> {
        match (expected.as_known(), found.as_known()) {
            (Some(expected), Some(found)) if expected != found => {
                Err(self.contradiction(format!("{what} should be {expected}, found {found}")))
            }
            _ => Ok(()),
        }
    }
}

/// An axis that may count from the end, as a position below `rank`.
pub(crate) fn resolve_axis(axis: i64, rank: usize) -> Option<usize> {
    let rank = i64::try_from(rank).ok()?;
    let axis = if axis < 0 { axis.checked_add(rank)? } else { axis };
    if (0..rank).contains(&axis) { usize::try_from(axis).ok() } else { None }
}

/// The sum of two numbers, if it is a number times symbols.
pub(crate) fn sum(left: &Dim, right: &Dim) -> Option<Dim> {
    if left.as_known() == Some(0) {
        return Some(right.clone());
    }
    if right.as_known() == Some(0) {
        return Some(left.clone());
    }
    if left.symbols() != right.symbols() {
        return None;
    }
    let mut sum = Dim::known(left.factor().checked_add(right.factor())?);
    for symbol in left.symbols() {
        sum = sum.times(&Dim::symbol(symbol))?;
    }
    Some(sum)
}

/// The number with its sign turned.
pub(super) fn negated(dim: &Dim) -> Option<Dim> {
    dim.times(&Dim::known(-1))
}

/// How two numbers compare for every value of the symbols, if that can be said.
///
/// Symbols are sizes, so they are at least one; symbols that stand for numbers inside a tensor
/// may be anything.
pub(super) fn compared(left: &Dim, right: &Dim) -> Option<Ordering> {
    if let (Some(left), Some(right)) = (left.as_known(), right.as_known()) {
        return Some(left.cmp(&right));
    }
    let is_size = |dim: &Dim| {
        dim.symbols().iter().all(|symbol| !(symbol.starts_with('?') && symbol.contains('#')))
    };
    if left == right {
        return Some(Ordering::Equal);
    }
    if !is_size(left) || !is_size(right) {
        return None;
    }
    if left.symbols() == right.symbols() {
        return Some(left.factor().cmp(&right.factor()));
    }
    match (left.as_known(), right.as_known()) {
        (Some(number), None) if 0 < right.factor() && number < right.factor() => {
            Some(Ordering::Less)
        }
        (None, Some(number)) if 0 < left.factor() && number < left.factor() => {
            Some(Ordering::Greater)
        }
        _ => None,
    }
}

/// For each element of a result, row by row, its position along every axis.
pub(super) fn positions(sizes: &[usize]) -> impl Iterator<Item = Vec<usize>> + '_ {
    let n_elements = crate::tensor::n_elements(sizes).unwrap_or(0);
    (0..n_elements).map(move |flat| {
        let mut rest = flat;
        let mut position = vec![0; sizes.len()];
        for (place, &size) in position.iter_mut().zip(sizes).rev() {
            *place = rest % size;
            rest /= size;
        }
        position
    })
}

/// The place in memory of a position, where dimensions of size one are stretched.
pub(super) fn stretched(position: &[usize], sizes: &[usize]) -> usize {
    let skipped = position.len().saturating_sub(sizes.len());
    let mut flat = 0;
    for (&place, &size) in position.iter().skip(skipped).zip(sizes) {
        flat = flat * size + if size == 1 { 0 } else { place };
    }
    flat
}
