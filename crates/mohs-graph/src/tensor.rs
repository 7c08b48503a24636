//! Tensors: a shape and its numbers, shared rather than copied.
//!
//! This is a container for weights, inputs and results. Arithmetic on tensors is done by engines,
//! and in `f64` by the reference evaluator.

use std::fmt;
use std::sync::Arc;

use bytes::Bytes;

/// What the elements of a tensor are.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum ElementType {
    /// 32-bit floating point, the usual type of weights and pictures.
    F32,
    /// 64-bit floating point.
    F64,
    /// 64-bit whole numbers: shapes, axes and labels.
    I64,
    /// 32-bit whole numbers.
    I32,
    /// 8-bit whole numbers from −128.
    I8,
    /// 8-bit whole numbers from 0.
    U8,
    /// Truth values.
    Bool,
    /// Any other type, by its number in the ONNX format.
    Other(i32),
}

impl ElementType {
    /// A type that nobody knows, which the format calls undefined.
    pub const UNKNOWN: ElementType = ElementType::Other(0);

    /// The type with this number in the ONNX format.
    pub fn from_onnx(code: i32) -> ElementType {
        match code {
            1 => ElementType::F32,
            2 => ElementType::U8,
            3 => ElementType::I8,
            6 => ElementType::I32,
            7 => ElementType::I64,
            9 => ElementType::Bool,
            11 => ElementType::F64,
            other => ElementType::Other(other),
        }
    }

    /// The number of this type in the ONNX format.
    pub fn to_onnx(self) -> i32 {
        match self {
            ElementType::F32 => 1,
            ElementType::U8 => 2,
            ElementType::I8 => 3,
            ElementType::I32 => 6,
            ElementType::I64 => 7,
            ElementType::Bool => 9,
            ElementType::F64 => 11,
            ElementType::Other(code) => code,
        }
    }

    /// This type, or 32-bit floats where nobody knows it: what a port of a network has to say.
    #[must_use]
    pub fn or_f32(self) -> ElementType {
        if self == ElementType::UNKNOWN { ElementType::F32 } else { self }
    }

    /// Whether a gradient can flow through values of this type; it may through unknown ones.
    pub fn is_float(self) -> bool {
        matches!(self, ElementType::F32 | ElementType::F64 | ElementType::UNKNOWN)
    }
}

impl fmt::Display for ElementType {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self {
            ElementType::F32 => "f32",
            ElementType::F64 => "f64",
            ElementType::I64 => "i64",
            ElementType::I32 => "i32",
            ElementType::I8 => "i8",
            ElementType::U8 => "u8",
            ElementType::Bool => "bool",
            ElementType::Other(0) => "unknown type",
            ElementType::Other(4) => "u16",
            ElementType::Other(5) => "i16",
            ElementType::Other(8) => "text",
            ElementType::Other(10) => "f16",
            ElementType::Other(12) => "u32",
            ElementType::Other(13) => "u64",
            ElementType::Other(16) => "bf16",
            ElementType::Other(code) => return write!(out, "ONNX type {code}"),
        };
        out.write_str(name)
    }
}

/// The numbers of a tensor, row by row. Copies share them.
#[derive(Clone, PartialEq, Debug)]
pub enum Data {
    /// 32-bit floats.
    F32(Arc<Vec<f32>>),
    /// 64-bit floats.
    F64(Arc<Vec<f64>>),
    /// 64-bit whole numbers.
    I64(Arc<Vec<i64>>),
    /// 32-bit whole numbers.
    I32(Arc<Vec<i32>>),
    /// 8-bit whole numbers from −128.
    I8(Arc<Vec<i8>>),
    /// 8-bit whole numbers from 0.
    U8(Arc<Vec<u8>>),
    /// Truth values.
    Bool(Arc<Vec<bool>>),
    /// Bytes of a type that this crate hands on and does not look into.
    Other {
        /// The type's number in the ONNX format.
        onnx_type: i32,
        /// The bytes as they stood in the file.
        bytes: Bytes,
    },
}

/// A shape and its numbers.
///
/// Invariant: there are as many elements as the shape says.
#[derive(Clone, PartialEq, Debug)]
pub struct Tensor {
    shape: Vec<usize>,
    data: Data,
}

/// A shape that does not fit its data.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("a tensor of shape {shape:?} should have {expected} elements, found {found}")]
pub struct WrongLength {
    /// The shape that was asked for.
    pub shape: Vec<usize>,
    /// How many elements that takes.
    pub expected: usize,
    /// How many there were.
    pub found: usize,
}

/// The number of elements of a shape, or `None` if no memory could hold them.
pub fn n_elements(shape: &[usize]) -> Option<usize> {
    // A zero anywhere makes the tensor empty, however large the other sizes are.
    if shape.contains(&0) {
        return Some(0);
    }
    shape.iter().try_fold(1_usize, |product, &size| product.checked_mul(size))
}

impl Tensor {
    /// Puts a shape and its numbers together.
    pub fn new(shape: Vec<usize>, data: Data) -> Result<Tensor, WrongLength> {
        let expected = n_elements(&shape).unwrap_or(usize::MAX);
        match data.n_elements() {
            Some(found) if found != expected => Err(WrongLength { shape, expected, found }),
            _ => Ok(Tensor { shape, data }),
        }
    }

    /// A tensor of 32-bit floats.
    pub fn f32(shape: Vec<usize>, values: Vec<f32>) -> Result<Tensor, WrongLength> {
        Tensor::new(shape, Data::F32(Arc::new(values)))
    }

    /// A tensor of 64-bit floats.
    pub fn f64(shape: Vec<usize>, values: Vec<f64>) -> Result<Tensor, WrongLength> {
        Tensor::new(shape, Data::F64(Arc::new(values)))
    }

    /// A tensor of 64-bit whole numbers.
    pub fn i64(shape: Vec<usize>, values: Vec<i64>) -> Result<Tensor, WrongLength> {
        Tensor::new(shape, Data::I64(Arc::new(values)))
    }

    /// A single 32-bit float, without dimensions.
    pub fn scalar(value: f32) -> Tensor {
        Tensor { shape: Vec::new(), data: Data::F32(Arc::new(vec![value])) }
    }

    /// A list of 64-bit whole numbers, such as axes or a shape.
    pub fn list(values: Vec<i64>) -> Tensor {
        Tensor { shape: vec![values.len()], data: Data::I64(Arc::new(values)) }
    }

    /// The shape.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// The numbers.
    pub fn data(&self) -> &Data {
        &self.data
    }

    /// What the elements are.
    pub fn element_type(&self) -> ElementType {
        self.data.element_type()
    }

    /// How many elements there are.
    pub fn len(&self) -> usize {
        n_elements(&self.shape).unwrap_or(usize::MAX)
    }

    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The numbers, if they are 32-bit floats.
    pub fn as_f32(&self) -> Option<&[f32]> {
        match &self.data {
            Data::F32(values) => Some(values),
            _ => None,
        }
    }

    /// The numbers to be changed, if they are 32-bit floats that no copy shares.
    pub fn as_f32_mut(&mut self) -> Option<&mut [f32]> {
        match &mut self.data {
            Data::F32(values) => Arc::get_mut(values).map(Vec::as_mut_slice),
            _ => None,
        }
    }

    /// The numbers, if they are 64-bit whole numbers.
    pub fn as_i64(&self) -> Option<&[i64]> {
        match &self.data {
            Data::I64(values) => Some(values),
            _ => None,
        }
    }

    /// The numbers as 64-bit floats, whatever type they have; truth values are 0 and 1.
    ///
    /// `None` for types that this crate does not look into.
    pub fn to_f64(&self) -> Option<Vec<f64>> {
        Some(match &self.data {
            Data::F32(values) => values.iter().map(|&value| f64::from(value)).collect(),
            Data::F64(values) => values.to_vec(),
            #[expect(
                clippy::cast_precision_loss,
                reason = "axes, shapes and labels are below 2^53"
            )]
            Data::I64(values) => values.iter().map(|&value| value as f64).collect(),
            Data::I32(values) => values.iter().map(|&value| f64::from(value)).collect(),
            Data::I8(values) => values.iter().map(|&value| f64::from(value)).collect(),
            Data::U8(values) => values.iter().map(|&value| f64::from(value)).collect(),
            Data::Bool(values) => values.iter().map(|&value| f64::from(u8::from(value))).collect(),
            Data::Other { .. } => return None,
        })
    }

    /// The numbers as 64-bit whole numbers, if they are whole numbers or truth values.
    pub fn to_i64(&self) -> Option<Vec<i64>> {
        Some(match &self.data {
            Data::I64(values) => values.to_vec(),
            Data::I32(values) => values.iter().map(|&value| i64::from(value)).collect(),
            Data::I8(values) => values.iter().map(|&value| i64::from(value)).collect(),
            Data::U8(values) => values.iter().map(|&value| i64::from(value)).collect(),
            Data::Bool(values) => values.iter().map(|&value| i64::from(value)).collect(),
            Data::F32(_) | Data::F64(_) | Data::Other { .. } => return None,
        })
    }

    /// The same numbers in another shape.
    pub fn reshaped(&self, shape: Vec<usize>) -> Result<Tensor, WrongLength> {
        Tensor::new(shape, self.data.clone())
    }
}

impl Data {
    /// What the elements are.
    pub fn element_type(&self) -> ElementType {
        match self {
            Data::F32(_) => ElementType::F32,
            Data::F64(_) => ElementType::F64,
            Data::I64(_) => ElementType::I64,
            Data::I32(_) => ElementType::I32,
            Data::I8(_) => ElementType::I8,
            Data::U8(_) => ElementType::U8,
            Data::Bool(_) => ElementType::Bool,
            Data::Other { onnx_type, .. } => ElementType::Other(*onnx_type),
        }
    }

    /// How many elements there are; `None` for types that this crate does not look into.
    fn n_elements(&self) -> Option<usize> {
        match self {
            Data::F32(values) => Some(values.len()),
            Data::F64(values) => Some(values.len()),
            Data::I64(values) => Some(values.len()),
            Data::I32(values) => Some(values.len()),
            Data::I8(values) => Some(values.len()),
            Data::U8(values) => Some(values.len()),
            Data::Bool(values) => Some(values.len()),
            Data::Other { .. } => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shape_that_does_not_fit_is_refused() {
        let error = Tensor::f32(vec![2, 3], vec![0.0; 5]).unwrap_err();
        assert_eq!(error.to_string(), "a tensor of shape [2, 3] should have 6 elements, found 5");
    }

    #[test]
    fn a_shape_that_no_memory_holds_is_refused() {
        assert!(Tensor::f32(vec![usize::MAX, 2], vec![]).is_err());
        assert!(Tensor::f32(vec![usize::MAX, 2, 0], vec![]).is_ok());
    }

    #[test]
    fn types_keep_their_numbers_in_the_format() {
        for code in 0..30 {
            assert_eq!(ElementType::from_onnx(code).to_onnx(), code);
        }
    }
}
