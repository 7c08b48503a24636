//! Writing ONNX files: a [`Graph`] in, bytes out.
//!
//! Weights can go into a file of their own, which networks beyond two gigabytes need.

use std::sync::Arc;

use bytemuck::NoUninit;
use bytes::Bytes;
use prost::Message;

use crate::dim::Dim;
use crate::graph::{Attribute, Graph, Node, Port};
use crate::proto::{
    AttributeProto, DimensionProto, DimensionValue, GraphProto, ModelProto, NodeProto,
    OperatorSetIdProto, StringStringEntryProto, TensorProto, TensorShapeProto, TensorTypeProto,
    TypeProto, ValueInfoProto, attribute_kind,
};
use crate::tensor::{Data, ElementType, Tensor};

/// Protocol buffers cannot be larger than this.
const MAX_BYTES: usize = i32::MAX as usize;
/// Weights in a file of their own start at multiples of this, so that they can be mapped.
const ALIGNMENT: usize = 64;
/// Weights smaller than this stay in the network's file.
const SMALL_BYTES: usize = 16;

/// A network that could not be written.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum WriteError {
    /// The format cannot hold so much in one file.
    #[error(
        "the network takes {n_bytes} bytes, and one ONNX file holds at most {MAX_BYTES}; keep its weights in a file of their own"
    )]
    TooLarge {
        /// How large it would be.
        n_bytes: usize,
    },
}

/// Writes a network with all its weights.
pub fn to_bytes(graph: &Graph) -> Result<Vec<u8>, WriteError> {
    encoded(&model(graph, &mut |tensor, name| tensor_to_proto(tensor, name)))
}

/// Writes a network and, apart, its weights, which the network will look for at `location`.
pub fn to_bytes_with_weights(
    graph: &Graph,
    location: &str,
) -> Result<(Vec<u8>, Vec<u8>), WriteError> {
    let mut weights = Vec::new();
    let model = model(graph, &mut |tensor, name| {
        let mut proto = tensor_to_proto(tensor, name);
        if let Some(raw) = proto.raw_data.take_if(|raw| SMALL_BYTES <= raw.len()) {
            weights.resize(weights.len().next_multiple_of(ALIGNMENT), 0);
            let entry =
                |key: &str, value: String| StringStringEntryProto { key: key.to_owned(), value };
            proto.data_location = 1;
            proto.external_data = vec![
                entry("location", location.to_owned()),
                entry("offset", weights.len().to_string()),
                entry("length", raw.len().to_string()),
            ];
            weights.extend_from_slice(&raw);
        }
        proto
    });
    Ok((encoded(&model)?, weights))
}

fn encoded(model: &ModelProto) -> Result<Vec<u8>, WriteError> {
    let n_bytes = model.encoded_len();
    if MAX_BYTES < n_bytes {
        Err(WriteError::TooLarge { n_bytes })
    } else {
        Ok(model.encode_to_vec())
    }
}

fn model(graph: &Graph, weight: &mut dyn FnMut(&Tensor, &str) -> TensorProto) -> ModelProto {
    let mut opset_import = vec![OperatorSetIdProto { domain: String::new(), version: graph.opset }];
    for (domain, &version) in &graph.domains {
        opset_import.push(OperatorSetIdProto { domain: domain.clone(), version });
    }
    let mut metadata_props = Vec::new();
    for (key, value) in &graph.metadata {
        metadata_props.push(StringStringEntryProto { key: key.clone(), value: value.clone() });
    }
    ModelProto {
        ir_version: ir_version(graph.opset),
        producer_name: "mohs".to_owned(),
        producer_version: env!("CARGO_PKG_VERSION").to_owned(),
        graph: Some(graph_to_proto(graph, weight)),
        opset_import,
        metadata_props,
        functions: Vec::new(),
    }
}

/// The oldest version of the file format that knows these operators, so that old engines read it.
fn ir_version(opset: i64) -> i64 {
    match opset {
        ..=14 => 7,
        15..=18 => 8,
        19..=20 => 9,
        _ => 10,
    }
}

fn graph_to_proto(
    graph: &Graph,
    weight: &mut dyn FnMut(&Tensor, &str) -> TensorProto,
) -> GraphProto {
    GraphProto {
        node: graph.nodes.iter().map(node_to_proto).collect(),
        // The format wants a name.
        name: if graph.name.is_empty() { "network".to_owned() } else { graph.name.clone() },
        initializer: graph.weights.iter().map(|(name, tensor)| weight(tensor, name)).collect(),
        input: graph.inputs.iter().map(port_to_proto).collect(),
        output: graph.outputs.iter().map(port_to_proto).collect(),
        value_info: graph.notes.values().map(port_to_proto).collect(),
        sparse_initializer: Vec::new(),
    }
}

fn port_to_proto(port: &Port) -> ValueInfoProto {
    let dim = |dim: &Dim| {
        let value = match (dim.as_known(), dim.symbols()) {
            (Some(number), _) => Some(DimensionValue::Number(number)),
            (None, [symbol]) if dim.factor() == 1 && !symbol.starts_with('?') => {
                Some(DimensionValue::Symbol(symbol.clone()))
            }
            // A multiple of a symbol has no place in the format: the size stays open.
            _ => None,
        };
        DimensionProto { value }
    };
    let shape =
        port.shape.as_ref().map(|dims| TensorShapeProto { dim: dims.iter().map(dim).collect() });
    let tensor_type = TensorTypeProto { elem_type: port.element_type.to_onnx(), shape };
    ValueInfoProto {
        name: port.name.clone(),
        kind: Some(TypeProto { tensor_type: Some(tensor_type) }),
    }
}

fn node_to_proto(node: &Node) -> NodeProto {
    NodeProto {
        input: node.inputs.clone(),
        output: node.outputs.clone(),
        name: node.name.clone(),
        op_type: node.op.clone(),
        attribute: node
            .attributes
            .iter()
            .map(|(name, value)| attribute_to_proto(name, value))
            .collect(),
        domain: node.domain.clone(),
    }
}

fn attribute_to_proto(name: &str, attribute: &Attribute) -> AttributeProto {
    let text = |text: &String| Bytes::from(text.clone().into_bytes());
    let mut proto = AttributeProto { name: name.to_owned(), ..AttributeProto::default() };
    proto.kind = match attribute {
        Attribute::Int(value) => {
            proto.i = Some(*value);
            attribute_kind::INT
        }
        Attribute::Float(value) => {
            proto.f = Some(*value);
            attribute_kind::FLOAT
        }
        Attribute::Text(value) => {
            proto.s = Some(text(value));
            attribute_kind::STRING
        }
        Attribute::Ints(values) => {
            proto.ints = values.clone();
            attribute_kind::INTS
        }
        Attribute::Floats(values) => {
            proto.floats = values.clone();
            attribute_kind::FLOATS
        }
        Attribute::Texts(values) => {
            proto.strings = values.iter().map(text).collect();
            attribute_kind::STRINGS
        }
        Attribute::Tensor(value) => {
            proto.t = Some(tensor_to_proto(value, ""));
            attribute_kind::TENSOR
        }
        Attribute::Graph(graph) => {
            proto.g = Some(Box::new(graph_to_proto(graph, &mut |tensor, name| {
                tensor_to_proto(tensor, name)
            })));
            attribute_kind::GRAPH
        }
    };
    proto
}

/// The bytes of numbers as the format wants them: the numbers' own memory where the machine stores
/// them so, else a copy.
fn little_endian<const N: usize, T>(numbers: &Arc<Vec<T>>, bytes: fn(T) -> [u8; N]) -> Bytes
where
    T: NoUninit + Send + Sync,
{
    if cfg!(target_endian = "little") {
        return Bytes::from_owner(Shared(Arc::clone(numbers)));
    }
    numbers.iter().flat_map(|&number| bytes(number)).collect()
}

/// Numbers whose memory is lent out as bytes.
struct Shared<T>(Arc<Vec<T>>);

impl<T: NoUninit> AsRef<[u8]> for Shared<T> {
    fn as_ref(&self) -> &[u8] {
        bytemuck::cast_slice(&self.0)
    }
}

fn tensor_to_proto(tensor: &Tensor, name: &str) -> TensorProto {
    let raw = match tensor.data() {
        Data::F32(numbers) => little_endian(numbers, f32::to_le_bytes),
        Data::F64(numbers) => little_endian(numbers, f64::to_le_bytes),
        Data::I64(numbers) => little_endian(numbers, i64::to_le_bytes),
        Data::I32(numbers) => little_endian(numbers, i32::to_le_bytes),
        Data::I8(numbers) => little_endian(numbers, i8::to_le_bytes),
        Data::U8(numbers) => Bytes::from(numbers.to_vec()),
        Data::Bool(numbers) => numbers.iter().map(|&number| u8::from(number)).collect(),
        Data::Other { bytes, .. } => bytes.clone(),
    };
    let dims =
        Tensor::shape(tensor).iter().map(|&size| i64::try_from(size).unwrap_or(i64::MAX)).collect();
    TensorProto {
        dims,
        data_type: ElementType::to_onnx(tensor.element_type()),
        name: name.to_owned(),
        raw_data: Some(raw),
        ..TensorProto::default()
    }
}
