//! Reading ONNX files: bytes in, a [`Graph`] out.
//!
//! Both exporters of PyTorch, and others that follow the format, are understood. Weights kept in
//! files of their own are fetched by the caller, because this crate opens no files. Half-precision
//! weights are widened to 32 bits. Local functions are written out at the places that call them.
//!
//! The reader does not trust its input: sizes are checked against the bytes that are there, names
//! against each other, and nodes are put in an order in which they can run.

mod function;
mod order;
mod tensor;

use std::collections::{BTreeMap, BTreeSet};

use bytes::Bytes;
use prost::Message;

use crate::dim::Dim;
use crate::graph::{Attribute, Graph, Node, Port};
use crate::proto::{
    AttributeProto, DimensionValue, GraphProto, ModelProto, NodeProto, ValueInfoProto,
    attribute_kind,
};
use crate::tensor::ElementType;

pub use tensor::External;

/// A file that is not a network, or not one that can be used.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ReadError {
    /// The bytes are not an ONNX file.
    #[error("this is not a complete ONNX file: {problem}")]
    NotOnnx {
        /// What gave it away.
        problem: String,
    },
    /// The network contradicts itself.
    #[error("the network is damaged: {problem}")]
    Damaged {
        /// What is wrong, with the name of the node, value or weight.
        problem: String,
    },
    /// Something valid that this crate does not read.
    #[error("{what} cannot be read; {instead}")]
    Unsupported {
        /// What was found, and where.
        what: String,
        /// What to do instead.
        instead: String,
    },
    /// Weights in another file could not be had.
    #[error("the weight `{weight}` is kept in `{location}`: {problem}")]
    External {
        /// The weight's name.
        weight: String,
        /// The file that should have it.
        location: String,
        /// Why it could not be had.
        problem: String,
    },
}

/// How weights in files of their own are fetched: exactly the bytes asked for, or why not.
pub type Fetch<'a> = dyn FnMut(&External) -> Result<Bytes, String> + 'a;

/// Reads a network whose weights are all in the file.
pub fn parse(bytes: Bytes) -> Result<Graph, ReadError> {
    parse_with(bytes, &mut |_| Err("no files can be read from here".to_owned()))
}

/// Reads a network; weights in other files are asked for from `fetch`.
pub fn parse_with(bytes: Bytes, fetch: &mut Fetch<'_>) -> Result<Graph, ReadError> {
    if bytes.is_empty() {
        return Err(not_onnx("the file is empty"));
    }
    let model = ModelProto::decode(bytes).map_err(|error| not_onnx(&error.to_string()))?;
    let Some(mut proto) = model.graph else {
        return Err(not_onnx("it has no network in it"));
    };
    let mut domains: BTreeMap<String, i64> = BTreeMap::new();
    for import in model.opset_import {
        // `ai.onnx` is the long name of the standard operators.
        let domain = if import.domain == "ai.onnx" { String::new() } else { import.domain };
        domains.insert(domain, import.version);
    }
    function::write_out(&mut proto, &model.functions)?;

    let mut graph = graph_from_proto(proto, fetch)?;
    graph.opset = match domains.remove("") {
        Some(opset) => opset,
        None if graph.nodes.is_empty() => 1,
        None => return Err(not_onnx("it does not say which version of the operators it uses")),
    };
    graph.domains = domains;
    for entry in model.metadata_props {
        graph.metadata.insert(entry.key, entry.value);
    }
    let producer = format!("{} {}", model.producer_name, model.producer_version);
    if !producer.trim().is_empty() {
        graph.metadata.entry("producer".to_owned()).or_insert_with(|| producer.trim().to_owned());
    }
    order::sort_nodes(&mut graph)?;
    check_outputs(&graph)?;
    Ok(graph)
}

fn graph_from_proto(proto: GraphProto, fetch: &mut Fetch<'_>) -> Result<Graph, ReadError> {
    if let Some(sparse) = proto.sparse_initializer.first() {
        let name = sparse.values.as_ref().map_or("", |values| values.name.as_str());
        return Err(ReadError::Unsupported {
            what: format!("the sparse weight `{name}`"),
            instead: "export the network with dense weights".to_owned(),
        });
    }
    let mut graph = Graph { name: proto.name, ..Graph::default() };
    for tensor in proto.initializer {
        let name = tensor.name.clone();
        let tensor = tensor::from_proto(tensor, fetch)?;
        if graph.weights.insert(name.clone(), tensor).is_some() {
            return Err(damaged(format!("there are two weights called `{name}`")));
        }
    }
    for info in proto.input {
        // Old files list their weights among the inputs.
        if !graph.weights.contains_key(&info.name) {
            graph.inputs.push(port_from_proto(info)?);
        }
    }
    for info in proto.output {
        graph.outputs.push(port_from_proto(info)?);
    }
    for info in proto.value_info {
        // What a file says about inner values is a help, and nothing to fail over.
        if let Ok(port) = port_from_proto(info) {
            graph.notes.insert(port.name.clone(), port);
        }
    }
    for node in proto.node {
        graph.nodes.push(node_from_proto(node, fetch)?);
    }
    Ok(graph)
}

fn port_from_proto(info: ValueInfoProto) -> Result<Port, ReadError> {
    let name = info.name;
    // Outputs may come without a type, which is then found by inference.
    let Some(kind) = info.kind else {
        return Ok(Port { name, element_type: ElementType::F32, shape: None });
    };
    let Some(tensor) = kind.tensor_type else {
        return Err(ReadError::Unsupported {
            what: format!("the value `{name}`, which is not a tensor,"),
            instead: "export the network so that inputs and outputs are plain tensors".to_owned(),
        });
    };
    let shape = tensor.shape.map(|shape| {
        let dims = shape.dim.into_iter().enumerate();
        dims.map(|(axis, dim)| match dim.value {
            Some(DimensionValue::Number(number)) if 0 < number => Dim::known(number),
            Some(DimensionValue::Symbol(symbol)) if !symbol.is_empty() => Dim::symbol(symbol),
            // Some exporters write 0 or -1 for a size that is open.
            _ => Dim::symbol(format!("?{name}.{axis}")),
        })
        .collect()
    });
    Ok(Port { name, element_type: widened(ElementType::from_onnx(tensor.elem_type)), shape })
}

/// Half precision is read as 32 bits.
fn widened(element_type: ElementType) -> ElementType {
    match element_type {
        ElementType::Other(tensor::F16 | tensor::BF16) => ElementType::F32,
        other => other,
    }
}

fn node_from_proto(proto: NodeProto, fetch: &mut Fetch<'_>) -> Result<Node, ReadError> {
    let domain = if proto.domain == "ai.onnx" { String::new() } else { proto.domain };
    let mut node = Node {
        name: proto.name,
        op: proto.op_type,
        domain,
        inputs: proto.input,
        outputs: proto.output,
        attributes: BTreeMap::new(),
    };
    if node.op.is_empty() {
        return Err(damaged(format!("the node `{}` has no operator", node.label())));
    }
    for attribute in proto.attribute {
        let name = attribute.name.clone();
        if let Some(value) = attribute_from_proto(attribute, &node, fetch)? {
            node.attributes.insert(name, value);
        }
    }
    Ok(node)
}

fn attribute_from_proto(
    proto: AttributeProto,
    node: &Node,
    fetch: &mut Fetch<'_>,
) -> Result<Option<Attribute>, ReadError> {
    use attribute_kind as kind;

    let text = |bytes: &Bytes| String::from_utf8_lossy(bytes).into_owned();
    let kind_found = match proto.kind {
        kind::UNDEFINED if proto.f.is_some() => kind::FLOAT,
        kind::UNDEFINED if proto.i.is_some() => kind::INT,
        kind::UNDEFINED if proto.s.is_some() => kind::STRING,
        kind::UNDEFINED if proto.t.is_some() => kind::TENSOR,
        kind::UNDEFINED if proto.g.is_some() => kind::GRAPH,
        kind::UNDEFINED if !proto.floats.is_empty() => kind::FLOATS,
        kind::UNDEFINED if !proto.ints.is_empty() => kind::INTS,
        kind::UNDEFINED if !proto.strings.is_empty() => kind::STRINGS,
        other => other,
    };
    let value = match kind_found {
        kind::FLOAT => Attribute::Float(proto.f.unwrap_or(0.0)),
        kind::INT => Attribute::Int(proto.i.unwrap_or(0)),
        kind::STRING => Attribute::Text(proto.s.as_ref().map(text).unwrap_or_default()),
        kind::TENSOR => match proto.t {
            Some(tensor) => Attribute::Tensor(tensor::from_proto(tensor, fetch)?),
            None => return Err(damaged(missing_part(node, &proto.name, "tensor"))),
        },
        kind::GRAPH => match proto.g {
            Some(graph) => Attribute::Graph(Box::new(graph_from_proto(*graph, fetch)?)),
            None => return Err(damaged(missing_part(node, &proto.name, "network"))),
        },
        kind::FLOATS => Attribute::Floats(proto.floats),
        kind::INTS => Attribute::Ints(proto.ints),
        kind::STRINGS => Attribute::Texts(proto.strings.iter().map(text).collect()),
        kind::UNDEFINED => return Ok(None),
        other => {
            return Err(ReadError::Unsupported {
                what: format!(
                    "the setting `{}` of node `{}` ({}), of kind {other},",
                    proto.name,
                    node.label(),
                    node.full_op()
                ),
                instead: "only numbers, texts, tensors and networks are".to_owned(),
            });
        }
    };
    Ok(Some(value))
}

/// Every output has to come from somewhere.
fn check_outputs(graph: &Graph) -> Result<(), ReadError> {
    let names: BTreeSet<&str> = graph.value_names();
    for port in &graph.outputs {
        if !names.contains(port.name.as_str()) {
            return Err(damaged(format!("nothing makes the output `{}`", port.name)));
        }
    }
    Ok(())
}

fn missing_part(node: &Node, setting: &str, part: &str) -> String {
    format!(
        "the setting `{setting}` of node `{}` should hold a {part} and holds nothing",
        node.label()
    )
}

fn not_onnx(problem: &str) -> ReadError {
    ReadError::NotOnnx { problem: problem.to_owned() }
}

fn damaged(problem: String) -> ReadError {
    ReadError::Damaged { problem }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tensor::Tensor;
    use crate::write;

    fn small() -> Graph {
        let port = |name: &str| Port {
            name: name.to_owned(),
            element_type: ElementType::F32,
            shape: Some(vec![Dim::symbol("batch"), Dim::known(2)]),
        };
        let attributes = [
            ("alpha", Attribute::Float(0.5)),
            ("axes", Attribute::Ints(vec![-1, 2])),
            ("mode", Attribute::Text("linear".to_owned())),
            ("value", Attribute::Tensor(Tensor::list(vec![7]))),
        ];
        let mut node = Node::new("Gemm", &["x", "w"], &["y"]);
        for (name, value) in attributes {
            node = node.with(name, value);
        }
        Graph {
            name: "small".to_owned(),
            opset: 18,
            inputs: vec![port("x")],
            outputs: vec![port("y")],
            nodes: vec![node],
            weights: BTreeMap::from([(
                "w".to_owned(),
                Tensor::f32(vec![2, 2], vec![1.0, 2.0, 3.0, 4.0]).unwrap(),
            )]),
            ..Graph::default()
        }
    }

    #[test]
    fn what_is_written_is_read_again() {
        let bytes = write::to_bytes(&small()).unwrap();
        let mut read = parse(bytes.into()).unwrap();
        read.metadata.clear();
        assert_eq!(read, small());
    }

    #[test]
    fn every_cut_of_a_file_is_refused_or_read_without_panic() {
        let bytes = Bytes::from(write::to_bytes(&small()).unwrap());
        let n_read = (0..bytes.len()).filter(|&n| parse(bytes.slice(..n)).is_ok()).count();
        assert!(n_read < bytes.len() / 10, "{n_read} of {} cuts were read", bytes.len());
    }

    #[test]
    fn an_empty_file_and_a_text_are_not_networks() {
        let refused =
            |bytes: &'static [u8]| parse(Bytes::from_static(bytes)).unwrap_err().to_string();
        assert_eq!(refused(b""), "this is not a complete ONNX file: the file is empty");
        assert!(refused(b"import torch\n").starts_with("this is not a complete ONNX file: "));
    }

    #[test]
    fn nodes_out_of_order_are_put_in_order() {
        let mut graph = small();
        graph.nodes = vec![Node::new("Relu", &["z"], &["y"]), Node::new("Neg", &["x"], &["z"])];
        let read = parse(write::to_bytes(&graph).unwrap().into()).unwrap();
        let ops: Vec<&str> = read.nodes.iter().map(|node| node.op.as_str()).collect();
        assert_eq!(ops, ["Neg", "Relu"]);
    }

    #[test]
    fn a_circle_a_missing_value_and_a_value_made_twice_are_damage() {
        let problem_of = |nodes: Vec<Node>| {
            let graph = Graph { nodes, ..small() };
            parse(write::to_bytes(&graph).unwrap().into()).unwrap_err().to_string()
        };
        let circle = vec![Node::new("Add", &["x", "z"], &["y"]), Node::new("Neg", &["y"], &["z"])];
        assert_eq!(
            problem_of(circle),
            "the network is damaged: the nodes `y` and others use each other in a circle"
        );
        let missing = vec![Node::new("Add", &["x", "nowhere"], &["y"])];
        assert_eq!(
            problem_of(missing),
            "the network is damaged: node `y` (Add) uses the value `nowhere`, which nothing makes"
        );
        let twice = vec![Node::new("Neg", &["x"], &["y"]), Node::new("Abs", &["x"], &["y"])];
        assert_eq!(problem_of(twice), "the network is damaged: the value `y` is made twice");
    }

    #[test]
    fn weights_in_another_file_are_fetched() {
        let (bytes, weights) = write::to_bytes_with_weights(&small(), "small.onnx.data").unwrap();
        let weights = Bytes::from(weights);
        let mut asked = Vec::new();
        let read = parse_with(bytes.clone().into(), &mut |external| {
            asked.push(external.location.clone());
            let start = usize::try_from(external.offset).unwrap();
            let length = usize::try_from(external.length.unwrap()).unwrap();
            Ok(weights.slice(start..start + length))
        });
        let mut read = read.unwrap();
        read.metadata.clear();
        assert_eq!(read, small());
        assert_eq!(asked, ["small.onnx.data"]);
        assert_eq!(
            parse(bytes.into()).unwrap_err().to_string(),
            "the weight `w` is kept in `small.onnx.data`: no files can be read from here"
        );
    }
}
