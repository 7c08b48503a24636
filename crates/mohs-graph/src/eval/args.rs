//! What a node is given: its inputs and settings, with an error for each that is missing or wrong.

use super::array::{Array, Items, Problem, axis_of};
use crate::graph::{Attribute, Node};

/// What an operator answers with: its outputs in order. It may leave out optional ones at the end.
pub(crate) type Outcome = Result<Vec<Array>, Problem>;

/// How an operator is written.
pub(crate) type Operator = fn(&Args<'_>) -> Outcome;

/// A node with its inputs.
pub(crate) struct Args<'a> {
    pub(crate) node: &'a Node,
    pub(crate) inputs: &'a [Option<&'a Array>],
}

impl<'a> Args<'a> {
    /// An input that has to be there.
    pub(crate) fn input(&self, idx: usize) -> Result<&'a Array, Problem> {
        self.optional(idx).ok_or_else(|| format!("input {idx} is missing"))
    }

    /// An input that may be left out.
    pub(crate) fn optional(&self, idx: usize) -> Option<&'a Array> {
        self.inputs.get(idx).copied().flatten()
    }

    /// All inputs, none of which may be left out, at least one.
    pub(crate) fn all_inputs(&self) -> Result<Vec<&'a Array>, Problem> {
        if self.inputs.is_empty() {
            return Err("at least one input should be given".to_owned());
        }
        (0..self.inputs.len()).map(|idx| self.input(idx)).collect()
    }

    /// The floats of an input that has to be there.
    pub(crate) fn floats(&self, idx: usize) -> Result<&'a [f64], Problem> {
        let array = self.input(idx)?;
        floats_of(array).map_err(|problem| format!("input {idx}: {problem}"))
    }

    /// The floats of an input that may be left out.
    pub(crate) fn optional_floats(&self, idx: usize) -> Result<Option<&'a [f64]>, Problem> {
        self.optional(idx).map(|_| self.floats(idx)).transpose()
    }

    /// The floats of an input that is one number per channel.
    pub(crate) fn per_channel(&self, idx: usize, n: usize) -> Result<&'a [f64], Problem> {
        let found = self.floats(idx)?;
        if found.len() == n {
            Ok(found)
        } else {
            Err(format!("input {idx} should have {n} numbers, found {}", found.len()))
        }
    }

    /// The whole numbers of an input that has to be there.
    pub(crate) fn ints(&self, idx: usize) -> Result<&'a [i64], Problem> {
        match &self.input(idx)?.items {
            Items::Ints(items) => Ok(items),
            other => Err(format!("input {idx} should be whole numbers, found {}", other.kind())),
        }
    }

    /// The whole numbers of an input that may be left out.
    pub(crate) fn optional_ints(&self, idx: usize) -> Result<Option<&'a [i64]>, Problem> {
        self.optional(idx).map(|_| self.ints(idx)).transpose()
    }

    /// The truth values of an input that has to be there.
    pub(crate) fn bools(&self, idx: usize) -> Result<&'a [bool], Problem> {
        match &self.input(idx)?.items {
            Items::Bools(items) => Ok(items),
            other => Err(format!("input {idx} should be truth values, found {}", other.kind())),
        }
    }

    /// One whole number that is an input.
    pub(crate) fn one_int(&self, idx: usize) -> Result<i64, Problem> {
        match self.ints(idx)? {
            [number] => Ok(*number),
            other => Err(format!("input {idx} should be one number, found {}", other.len())),
        }
    }

    /// A setting that is a whole number, or what it is when left out.
    pub(crate) fn int_or(&self, name: &str, default: i64) -> i64 {
        self.node.int(name).unwrap_or(default)
    }

    /// A setting that is yes or no, or what it is when left out.
    pub(crate) fn flag_or(&self, name: &str, default: bool) -> bool {
        self.int_or(name, i64::from(default)) != 0
    }

    /// A setting that is a number, or what it is when left out. Settings are 32-bit floats.
    pub(crate) fn float_or(&self, name: &str, default: f32) -> f64 {
        f64::from(self.node.float(name).unwrap_or(default))
    }

    /// A setting that is a text, or what it is when left out.
    pub(crate) fn text_or(&self, name: &str, default: &'a str) -> &'a str {
        self.node.text(name).unwrap_or(default)
    }

    /// A setting that names a dimension.
    pub(crate) fn axis_or(&self, name: &str, default: i64, rank: usize) -> Result<usize, Problem> {
        axis_of(self.int_or(name, default), rank)
    }

    /// Whether there is a setting of this name.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.node.attributes.contains_key(name)
    }

    /// A setting of any kind.
    pub(crate) fn attribute(&self, name: &str) -> Option<&'a Attribute> {
        self.node.attributes.get(name)
    }
}

/// The floats of an array.
pub(crate) fn floats_of(array: &Array) -> Result<&[f64], Problem> {
    match &array.items {
        Items::Floats(items) => Ok(items),
        other => Err(format!("should be floats, found {}", other.kind())),
    }
}

/// A size that a file gives, which has to be from `least` to 2^31, so that products of two fit.
pub(crate) fn size_of(number: i64, least: usize, what: &str) -> Result<usize, Problem> {
    usize::try_from(number)
        .ok()
        .filter(|size| (least..=1 << 31).contains(size))
        .ok_or_else(|| format!("{what} should be at least {least} and not huge, found {number}"))
}
