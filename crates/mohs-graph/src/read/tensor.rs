//! Reading tensors: their numbers may stand as raw bytes, as lists, or in another file.

use std::sync::Arc;

use bytes::Bytes;

use super::{Fetch, ReadError, damaged};
use crate::proto::TensorProto;
use crate::tensor::{Data, ElementType, Tensor, n_elements};

/// The number of half precision in the ONNX format.
pub(super) const F16: i32 = 10;
/// The number of the short float with a wide range in the ONNX format.
pub(super) const BF16: i32 = 16;
/// `TensorProto.DataLocation` of weights in another file.
const IN_ANOTHER_FILE: i32 = 1;

/// Where a weight in another file is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct External {
    /// The other file, relative to the network's file.
    pub location: String,
    /// Where in it the weight starts, in bytes.
    pub offset: u64,
    /// How many bytes it takes; to the end of the file if not said.
    pub length: Option<u64>,
}

/// Reads one tensor.
pub(super) fn from_proto(proto: TensorProto, fetch: &mut Fetch<'_>) -> Result<Tensor, ReadError> {
    let name = &proto.name;
    let mut shape = Vec::with_capacity(proto.dims.len());
    for &size in &proto.dims {
        let size = usize::try_from(size)
            .map_err(|_| damaged(format!("the weight `{name}` has a dimension of size {size}")))?;
        shape.push(size);
    }
    let n_wanted = n_elements(&shape).ok_or_else(|| {
        damaged(format!("the weight `{name}` of shape {shape:?} is larger than any memory"))
    })?;

    let raw = if proto.data_location == IN_ANOTHER_FILE {
        Some(fetched(&proto, fetch)?)
    } else {
        proto.raw_data.clone()
    };
    let data = match raw {
        Some(raw) => from_raw(&raw, proto.data_type, n_wanted).map_err(|problem| {
            damaged(format!("the weight `{name}` of shape {shape:?}: {problem}"))
        })?,
        None => from_lists(&proto).ok_or_else(|| {
            damaged(format!("the weight `{name}` holds numbers that its type cannot"))
        })?,
    };
    let wrong = |error| damaged(format!("the weight `{name}`: {error}"));
    Tensor::new(shape, data).map_err(wrong)
}

fn fetched(proto: &TensorProto, fetch: &mut Fetch<'_>) -> Result<Bytes, ReadError> {
    let entry = |key: &str| {
        proto.external_data.iter().find(|entry| entry.key == key).map(|entry| entry.value.as_str())
    };
    let number = |key: &str| -> Result<Option<u64>, ReadError> {
        let parsed = entry(key).map(str::parse).transpose();
        parsed.map_err(|_| {
            damaged(format!("the weight `{}` has a {key} that is no number", proto.name))
        })
    };
    let external = External {
        location: entry("location").unwrap_or_default().to_owned(),
        offset: number("offset")?.unwrap_or(0),
        length: number("length")?,
    };
    fetch(&external).map_err(|problem| ReadError::External {
        weight: proto.name.clone(),
        location: external.location.clone(),
        problem,
    })
}

/// Numbers from little-endian bytes.
fn from_raw(raw: &Bytes, onnx_type: i32, n_wanted: usize) -> Result<Data, String> {
    fn split<const N: usize, T>(raw: &[u8], number: fn([u8; N]) -> T) -> Vec<T> {
        raw.as_chunks::<N>().0.iter().map(|&bytes| number(bytes)).collect()
    }

    let element_type = ElementType::from_onnx(onnx_type);
    let size = match element_type {
        ElementType::F64 | ElementType::I64 => 8,
        ElementType::F32 | ElementType::I32 => 4,
        ElementType::I8 | ElementType::U8 | ElementType::Bool => 1,
        ElementType::Other(F16 | BF16) => 2,
        ElementType::Other(_) => return Ok(Data::Other { onnx_type, bytes: raw.clone() }),
    };
    let n_bytes = n_wanted.checked_mul(size).ok_or("larger than any memory")?;
    if raw.len() != n_bytes {
        return Err(format!("expected {n_bytes} bytes, found {}", raw.len()));
    }
    Ok(match element_type {
        ElementType::F32 => Data::F32(Arc::new(split(raw, f32::from_le_bytes))),
        ElementType::F64 => Data::F64(Arc::new(split(raw, f64::from_le_bytes))),
        ElementType::I64 => Data::I64(Arc::new(split(raw, i64::from_le_bytes))),
        ElementType::I32 => Data::I32(Arc::new(split(raw, i32::from_le_bytes))),
        ElementType::I8 => Data::I8(Arc::new(split(raw, i8::from_le_bytes))),
        ElementType::U8 => Data::U8(Arc::new(raw.to_vec())),
        ElementType::Bool => Data::Bool(Arc::new(raw.iter().map(|&byte| byte != 0).collect())),
        ElementType::Other(BF16) => {
            Data::F32(Arc::new(split(raw, |bytes| f32_from_bf16(u16::from_le_bytes(bytes)))))
        }
        ElementType::Other(_) => {
            Data::F32(Arc::new(split(raw, |bytes| f32_from_f16(u16::from_le_bytes(bytes)))))
        }
    })
}

/// Numbers from the lists that small tensors use; `None` if a number does not fit the type.
fn from_lists(proto: &TensorProto) -> Option<Data> {
    fn narrow<T: TryFrom<i32>>(numbers: &[i32]) -> Option<Arc<Vec<T>>> {
        numbers
            .iter()
            .map(|&number| T::try_from(number).ok())
            .collect::<Option<Vec<T>>>()
            .map(Arc::new)
    }

    let small = &proto.int32_data;
    Some(match ElementType::from_onnx(proto.data_type) {
        ElementType::F32 => Data::F32(Arc::new(proto.float_data.clone())),
        ElementType::F64 => Data::F64(Arc::new(proto.double_data.clone())),
        ElementType::I64 => Data::I64(Arc::new(proto.int64_data.clone())),
        ElementType::I32 => Data::I32(Arc::new(small.clone())),
        ElementType::I8 => Data::I8(narrow(small)?),
        ElementType::U8 => Data::U8(narrow(small)?),
        ElementType::Bool => {
            Data::Bool(Arc::new(small.iter().map(|&number| number != 0).collect()))
        }
        ElementType::Other(kind @ (F16 | BF16)) => {
            let bits: Arc<Vec<u16>> = narrow(small)?;
            let widen = if kind == F16 { f32_from_f16 } else { f32_from_bf16 };
            Data::F32(Arc::new(bits.iter().map(|&bits| widen(bits)).collect()))
        }
        ElementType::Other(onnx_type) => Data::Other { onnx_type, bytes: Bytes::new() },
    })
}

fn f32_from_bf16(bits: u16) -> f32 {
    f32::from_bits(u32::from(bits) << 16)
}

/// Half precision: one sign bit, five of exponent (bias 15), ten of fraction.
fn f32_from_f16(bits: u16) -> f32 {
    let sign = u32::from(bits >> 15) << 31;
    let exponent = u32::from(bits >> 10) & 0x1f;
    let fraction = u32::from(bits) & 0x3ff;
    let magnitude = match (exponent, fraction) {
        (0, 0) => 0,
        // Subnormal: the fraction counts steps of 2^-24, which 32 bits hold exactly.
        #[expect(clippy::cast_precision_loss, reason = "ten bits fit in a float exactly")]
        (0, _) => (fraction as f32 * f32::from_bits(0x3380_0000)).to_bits(),
        (0x1f, _) => 0x7f80_0000 | (fraction << 13),
        _ => ((exponent + 112) << 23) | (fraction << 13),
    };
    f32::from_bits(sign | magnitude)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_precision_is_widened_exactly() {
        let widened: Vec<f32> = [0x3c00, 0xc000, 0x0001, 0x03ff, 0x0400, 0x7bff, 0x8000, 0x3555]
            .map(f32_from_f16)
            .to_vec();
        let expected = [
            1.0,
            -2.0,
            2.0_f32.powi(-24),
            1023.0 * 2.0_f32.powi(-24),
            2.0_f32.powi(-14),
            65504.0,
            -0.0,
            0.333_251_95,
        ];
        assert_eq!(widened, expected);
        assert!(f32_from_f16(0x7c00).is_infinite());
        assert!(f32_from_f16(0x7e00).is_nan());
        assert_eq!(f32_from_bf16(0x3fc0).to_bits(), 1.5_f32.to_bits());
    }

    #[test]
    fn a_weight_with_too_few_bytes_is_damage() {
        let proto = TensorProto {
            dims: vec![2, 3],
            data_type: 1,
            name: "w".to_owned(),
            raw_data: Some(Bytes::from_static(&[0; 20])),
            ..TensorProto::default()
        };
        let error = from_proto(proto, &mut |_| Err(String::new())).unwrap_err();
        assert_eq!(
            error.to_string(),
            "the network is damaged: the weight `w` of shape [2, 3]: expected 24 bytes, found 20"
        );
    }

    #[test]
    fn sizes_that_no_memory_holds_are_damage() {
        let proto = |dims| TensorProto { dims, data_type: 1, ..TensorProto::default() };
        for dims in [vec![i64::MAX, i64::MAX], vec![-1], vec![1 << 40]] {
            assert!(from_proto(proto(dims), &mut |_| Err(String::new())).is_err());
        }
    }
}
