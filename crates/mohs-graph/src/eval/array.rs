//! The value that the evaluator works on: a shape and `f64`, `i64` or truth values, row by row.
//!
//! Here are the few things that every operator needs: strides, walking over indices, broadcasting
//! and picking elements. A result that would be larger than [`MAX_ELEMENTS`] is refused before any
//! memory is taken, because sizes come from files.

use std::sync::Arc;

use crate::tensor::{Data, Tensor, n_elements};

/// The largest result that the evaluator makes: one gigabyte of 64-bit floats.
pub(crate) const MAX_ELEMENTS: usize = 1 << 27;

/// What is wrong with a node, with expected and found; the caller adds which node it is.
pub(crate) type Problem = String;

/// The elements of an array.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Items {
    /// Numbers with a fraction, whatever width the graph gives them.
    Floats(Vec<f64>),
    /// Whole numbers, whatever width the graph gives them.
    Ints(Vec<i64>),
    /// Truth values.
    Bools(Vec<bool>),
}

/// A shape and its elements.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Array {
    pub(crate) shape: Vec<usize>,
    pub(crate) items: Items,
}

impl Array {
    /// An array of floats; the length has to fit.
    pub(crate) fn floats(shape: Vec<usize>, items: Vec<f64>) -> Result<Array, Problem> {
        Array::new(shape, Items::Floats(items))
    }

    /// An array of whole numbers; the length has to fit.
    pub(crate) fn ints(shape: Vec<usize>, items: Vec<i64>) -> Result<Array, Problem> {
        Array::new(shape, Items::Ints(items))
    }

    /// An array of truth values; the length has to fit.
    pub(crate) fn bools(shape: Vec<usize>, items: Vec<bool>) -> Result<Array, Problem> {
        Array::new(shape, Items::Bools(items))
    }

    /// Puts a shape and its elements together.
    pub(crate) fn new(shape: Vec<usize>, items: Items) -> Result<Array, Problem> {
        let (expected, found) = (checked_len(&shape)?, items.len());
        if expected == found {
            Ok(Array { shape, items })
        } else {
            Err(format!(
                "a result of shape {shape:?} should have {expected} elements, found {found}"
            ))
        }
    }

    /// How many elements there are.
    pub(crate) fn len(&self) -> usize {
        self.items.len()
    }

    /// How many dimensions there are.
    pub(crate) fn rank(&self) -> usize {
        self.shape.len()
    }

    /// The array with these of its elements, in another shape.
    pub(crate) fn pick(&self, shape: Vec<usize>, sources: &[usize]) -> Result<Array, Problem> {
        let items = match &self.items {
            Items::Floats(items) => Items::Floats(pick(items, sources)?),
            Items::Ints(items) => Items::Ints(pick(items, sources)?),
            Items::Bools(items) => Items::Bools(pick(items, sources)?),
        };
        Array::new(shape, items)
    }

    /// The array repeated along dimensions of size one.
    pub(crate) fn broadcast(&self, shape: &[usize]) -> Result<Array, Problem> {
        if self.shape == shape {
            return Ok(self.clone());
        }
        self.pick(shape.to_vec(), &broadcast_sources(&self.shape, shape)?)
    }

    /// The same elements in another shape.
    pub(crate) fn reshaped(&self, shape: Vec<usize>) -> Result<Array, Problem> {
        Array::new(shape, self.items.clone())
    }

    /// What a tensor holds, or `None` for types that the evaluator does not look into.
    pub(crate) fn of_tensor(tensor: &Tensor) -> Option<Array> {
        let items = match tensor.data() {
            Data::F32(_) | Data::F64(_) => Items::Floats(tensor.to_f64()?),
            Data::I64(_) | Data::I32(_) | Data::I8(_) | Data::U8(_) => {
                Items::Ints(tensor.to_i64()?)
            }
            Data::Bool(items) => Items::Bools(items.to_vec()),
            Data::Other { .. } => return None,
        };
        Some(Array { shape: tensor.shape().to_vec(), items })
    }

    /// The array as a tensor of `f64`, `i64` or truth values.
    pub(crate) fn into_tensor(self) -> Tensor {
        let data = match self.items {
            Items::Floats(items) => Data::F64(Arc::new(items)),
            Items::Ints(items) => Data::I64(Arc::new(items)),
            Items::Bools(items) => Data::Bool(Arc::new(items)),
        };
        Tensor::new(self.shape, data).expect("because every array checked its length")
    }
}

impl Items {
    /// How many elements there are.
    pub(crate) fn len(&self) -> usize {
        match self {
            Items::Floats(items) => items.len(),
            Items::Ints(items) => items.len(),
            Items::Bools(items) => items.len(),
        }
    }

    /// What the elements are, for messages.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Items::Floats(_) => "floats",
            Items::Ints(_) => "whole numbers",
            Items::Bools(_) => "truth values",
        }
    }
}

/// These of the items.
fn pick<T: Copy>(items: &[T], sources: &[usize]) -> Result<Vec<T>, Problem> {
    let found: Option<Vec<T>> = sources.iter().map(|&idx| items.get(idx).copied()).collect();
    found.ok_or_else(|| format!("an index is outside of the {} elements", items.len()))
}

/// The number of elements of a shape, if the evaluator would make an array of it.
pub(crate) fn checked_len(shape: &[usize]) -> Result<usize, Problem> {
    match n_elements(shape) {
        Some(len) if len <= MAX_ELEMENTS => Ok(len),
        _ => Err(format!(
            "a result of shape {shape:?} is too large; the evaluator makes at most {MAX_ELEMENTS} elements"
        )),
    }
}

/// How far apart neighbours along each dimension are.
pub(crate) fn strides(shape: &[usize]) -> Vec<usize> {
    let mut strides = vec![1_usize; shape.len()];
    for axis in (1..shape.len()).rev() {
        // Saturating, since an empty shape may hold sizes whose product does not fit.
        strides[axis - 1] = strides[axis].saturating_mul(shape[axis]);
    }
    strides
}

/// The position of an index, row by row.
pub(crate) fn offset(index: &[usize], strides: &[usize]) -> usize {
    index.iter().zip(strides).map(|(place, stride)| place * stride).sum()
}

/// Visits every index of a shape, row by row.
pub(crate) fn for_each_index(shape: &[usize], mut visit: impl FnMut(&[usize])) {
    if shape.contains(&0) {
        return;
    }
    let mut index = vec![0; shape.len()];
    loop {
        visit(&index);
        let Some(axis) = (0..shape.len()).rev().find(|&axis| index[axis] + 1 < shape[axis]) else {
            return;
        };
        index[axis] += 1;
        index[axis + 1..].fill(0);
    }
}

/// The shape that arrays of these shapes have together.
pub(crate) fn broadcast_shape(shapes: &[&[usize]]) -> Result<Vec<usize>, Problem> {
    let rank = shapes.iter().map(|shape| shape.len()).max().unwrap_or(0);
    let mut together = vec![1; rank];
    for shape in shapes {
        let n_missing = rank - shape.len();
        for (size, &found) in together[n_missing..].iter_mut().zip(*shape) {
            if *size == 1 {
                *size = found;
            } else if found != 1 && found != *size {
                return Err(format!("shapes should fit together by repeating, found {shapes:?}"));
            }
        }
    }
    checked_len(&together)?;
    Ok(together)
}

/// For every element of the wide shape, where it comes from in the narrow one.
pub(crate) fn broadcast_sources(narrow: &[usize], wide: &[usize]) -> Result<Vec<usize>, Problem> {
    let fits = narrow.len() <= wide.len()
        && narrow.iter().rev().zip(wide.iter().rev()).all(|(&from, &to)| from == 1 || from == to);
    if !fits {
        return Err(format!("shape {narrow:?} cannot be repeated to {wide:?}"));
    }
    let n_missing = wide.len() - narrow.len();
    let mut steps = vec![0; n_missing];
    let own = strides(narrow);
    steps.extend(narrow.iter().zip(own).map(|(&size, step)| if size == 1 { 0 } else { step }));
    let mut sources = Vec::with_capacity(checked_len(wide)?);
    for_each_index(wide, |index| sources.push(offset(index, &steps)));
    Ok(sources)
}

/// A dimension counted from the front, from one that may count from the back.
pub(crate) fn axis_of(axis: i64, rank: usize) -> Result<usize, Problem> {
    let from_front = if axis < 0 { axis.checked_add(rank as i64) } else { Some(axis) };
    from_front
        .and_then(|axis| usize::try_from(axis).ok())
        .filter(|&axis| axis < rank)
        .ok_or_else(|| format!("the axis should be one of {rank} dimensions, found {axis}"))
}

/// Several dimensions counted from the front, sorted, each once.
pub(crate) fn axes_of(axes: &[i64], rank: usize) -> Result<Vec<usize>, Problem> {
    let mut found: Vec<usize> =
        axes.iter().map(|&axis| axis_of(axis, rank)).collect::<Result<_, _>>()?;
    found.sort_unstable();
    found.dedup();
    if found.len() == axes.len() {
        Ok(found)
    } else {
        Err(format!("each axis should be named once, found {axes:?}"))
    }
}

/// A place counted from the front, from one that may count from the back.
pub(crate) fn place_of(index: i64, size: usize) -> Result<usize, Problem> {
    axis_of(index, size).map_err(|_| format!("the index should be below {size}, found {index}"))
}

/// A float as a whole number, cut towards zero and kept in range.
#[expect(clippy::cast_possible_truncation, reason = "cutting off the fraction is what is wanted")]
pub(crate) fn to_int(number: f64) -> i64 {
    number as i64
}
