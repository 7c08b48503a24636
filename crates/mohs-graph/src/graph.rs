//! A network as a value: nodes in order, the weights they use, inputs and outputs.
//!
//! Values are known by their names, as in the ONNX format. A graph owns nothing but data: whatever
//! changes a graph (folding, cutting, differentiating) takes one and gives another.

use std::collections::{BTreeMap, BTreeSet};

use crate::dim::Dim;
use crate::tensor::{ElementType, Tensor};

/// A network.
///
/// Invariant, kept by the reader and by every transformation: nodes stand in an order in which each
/// uses only values that are inputs, weights or made by a node before it, and no value is made twice.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Graph {
    /// What the file calls the network.
    pub name: String,
    /// The version of the standard operators that the nodes are written in.
    pub opset: i64,
    /// Versions of other families of operators, by domain.
    pub domains: BTreeMap<String, i64>,
    /// What has to be given to run the network, in order.
    pub inputs: Vec<Port>,
    /// What the network answers with, in order.
    pub outputs: Vec<Port>,
    /// The operations, each after those it depends on.
    pub nodes: Vec<Node>,
    /// Constants by name: weights, but also axes and shapes.
    pub weights: BTreeMap<String, Tensor>,
    /// What the file says about values between the nodes.
    pub notes: BTreeMap<String, Port>,
    /// Free text that came with the file.
    pub metadata: BTreeMap<String, String>,
}

/// A named value that enters or leaves a network.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Port {
    /// The value's name.
    pub name: String,
    /// What its elements are.
    pub element_type: ElementType,
    /// Its shape, if the file says so.
    pub shape: Option<Vec<Dim>>,
}

/// One operation.
#[derive(Clone, PartialEq, Debug)]
pub struct Node {
    /// The node's name, for people; may be empty.
    pub name: String,
    /// The operator, such as `Conv`.
    pub op: String,
    /// The family the operator belongs to; empty for the standard operators.
    pub domain: String,
    /// Names of the values it uses; an empty name is an optional input left out.
    pub inputs: Vec<String>,
    /// Names of the values it makes; an empty name is an optional output left out.
    pub outputs: Vec<String>,
    /// Its settings.
    pub attributes: BTreeMap<String, Attribute>,
}

/// A setting of a node.
#[derive(Clone, PartialEq, Debug)]
pub enum Attribute {
    /// A whole number.
    Int(i64),
    /// A number.
    Float(f32),
    /// A text.
    Text(String),
    /// Whole numbers.
    Ints(Vec<i64>),
    /// Numbers.
    Floats(Vec<f32>),
    /// Texts.
    Texts(Vec<String>),
    /// A tensor.
    Tensor(Tensor),
    /// A network inside a network, as branches and loops have.
    Graph(Box<Graph>),
}

impl Node {
    /// A node of a standard operator, without settings.
    pub fn new(op: &str, inputs: &[&str], outputs: &[&str]) -> Node {
        Node {
            name: String::new(),
            op: op.to_owned(),
            domain: String::new(),
            inputs: inputs.iter().map(|&name| name.to_owned()).collect(),
            outputs: outputs.iter().map(|&name| name.to_owned()).collect(),
            attributes: BTreeMap::new(),
        }
    }

    /// The same node with one more setting.
    #[must_use]
    pub fn with(mut self, name: &str, attribute: Attribute) -> Node {
        self.attributes.insert(name.to_owned(), attribute);
        self
    }

    /// The name of an input, if there is one in this place.
    pub fn input(&self, idx: usize) -> Option<&str> {
        self.inputs.get(idx).map(String::as_str).filter(|name| !name.is_empty())
    }

    /// The name of an output, if there is one in this place.
    pub fn output(&self, idx: usize) -> Option<&str> {
        self.outputs.get(idx).map(String::as_str).filter(|name| !name.is_empty())
    }

    /// The operator with its family, as people write it: `Conv`, `com.microsoft.FusedConv`.
    pub fn full_op(&self) -> String {
        if self.domain.is_empty() {
            self.op.clone()
        } else {
            format!("{}.{}", self.domain, self.op)
        }
    }

    /// Whether the operator draws random numbers, so that running it twice gives two answers.
    pub fn is_random(&self) -> bool {
        matches!(
            self.op.as_str(),
            "Bernoulli"
                | "Multinomial"
                | "RandomNormal"
                | "RandomNormalLike"
                | "RandomUniform"
                | "RandomUniformLike"
        )
    }

    /// How to name this node to a person: its name, or the value it makes.
    pub fn label(&self) -> &str {
        if !self.name.is_empty() {
            return &self.name;
        }
        self.outputs.iter().find(|name| !name.is_empty()).map_or("(unnamed)", String::as_str)
    }

    /// A setting that is a whole number.
    pub fn int(&self, name: &str) -> Option<i64> {
        match self.attributes.get(name) {
            Some(Attribute::Int(value)) => Some(*value),
            _ => None,
        }
    }

    /// A setting that is a number.
    pub fn float(&self, name: &str) -> Option<f32> {
        match self.attributes.get(name) {
            Some(Attribute::Float(value)) => Some(*value),
            _ => None,
        }
    }

    /// A setting that is a list of whole numbers.
    pub fn ints(&self, name: &str) -> Option<&[i64]> {
        match self.attributes.get(name) {
            Some(Attribute::Ints(values)) => Some(values),
            _ => None,
        }
    }

    /// A setting that is a text.
    pub fn text(&self, name: &str) -> Option<&str> {
        match self.attributes.get(name) {
            Some(Attribute::Text(value)) => Some(value),
            _ => None,
        }
    }

    /// A setting that is a tensor.
    pub fn tensor(&self, name: &str) -> Option<&Tensor> {
        match self.attributes.get(name) {
            Some(Attribute::Tensor(value)) => Some(value),
            _ => None,
        }
    }
}

impl Graph {
    /// The input of this name.
    pub fn input(&self, name: &str) -> Option<&Port> {
        self.inputs.iter().find(|port| port.name == name)
    }

    /// The output of this name.
    pub fn output(&self, name: &str) -> Option<&Port> {
        self.outputs.iter().find(|port| port.name == name)
    }

    /// For each value that a node makes, the position of that node.
    pub fn makers(&self) -> BTreeMap<&str, usize> {
        let mut makers = BTreeMap::new();
        for (idx, node) in self.nodes.iter().enumerate() {
            for name in node.outputs.iter().filter(|name| !name.is_empty()) {
                makers.insert(name.as_str(), idx);
            }
        }
        makers
    }

    /// Names of all values: inputs, weights and what nodes make.
    pub fn value_names(&self) -> BTreeSet<&str> {
        let inputs = self.inputs.iter().map(|port| port.name.as_str());
        let weights = self.weights.keys().map(String::as_str);
        let made = self.nodes.iter().flat_map(|node| node.outputs.iter().map(String::as_str));
        inputs.chain(weights).chain(made).filter(|name| !name.is_empty()).collect()
    }

    /// How many numbers the floating-point weights hold.
    pub fn n_parameters(&self) -> usize {
        let floats = self.weights.values().filter(|tensor| tensor.element_type().is_float());
        floats.map(Tensor::len).sum()
    }

    /// How often each operator is used.
    pub fn n_by_op(&self) -> BTreeMap<String, usize> {
        let mut n_by_op = BTreeMap::new();
        for node in &self.nodes {
            *n_by_op.entry(node.full_op()).or_insert(0) += 1;
        }
        n_by_op
    }
}
