//! Writing graphs in Rust: a builder that appends nodes and knows the shape of each value at once.
//!
//! Everything that makes nodes goes through it: layers of new networks, losses and gradients. Each
//! operator has a short method; [`Builder::op`] is for the rest. A value is a name in the graph.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use crate::dim::{self, Dim};
use crate::graph::{Attribute, Graph, Node, Port};
use crate::infer::{self, Fact, Facts, InferError};
use crate::tensor::{ElementType, Tensor};

/// The version of the standard operators that the house writes: its dialect.
pub const OPSET: i64 = 18;

/// A value in a graph under construction.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Value(String);

impl Value {
    /// The value's name in the graph.
    pub fn name(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Value {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

/// A graph that could not be written as asked.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum BuildError {
    /// The parts do not fit.
    #[error(transparent)]
    Infer(#[from] InferError),
    /// There is no value of this name.
    #[error("the network has no value `{0}`")]
    NoSuchValue(String),
    /// The shape of a value has to be known, and is not.
    #[error("the shape of `{0}` is not known before the network runs")]
    ShapeUnknown(String),
    /// A dimension has to be a number, and depends on a symbol.
    #[error("dimension {axis} of `{value}` should be a number, found {found}")]
    DimUnknown {
        /// The value.
        value: String,
        /// Which of its dimensions.
        axis: usize,
        /// What is known about it.
        found: String,
    },
}

/// A graph under construction.
#[derive(Debug)]
pub struct Builder {
    graph: Graph,
    facts: Facts,
    taken: BTreeSet<String>,
    constants: BTreeMap<ConstantKey, Value>,
    n_made: usize,
}

/// Small constants are kept once.
type ConstantKey = (Vec<usize>, ElementType, Vec<u64>);

impl Builder {
    /// Starts an empty graph.
    pub fn new(name: &str) -> Builder {
        let graph = Graph { name: name.to_owned(), opset: OPSET, ..Graph::default() };
        Builder {
            graph,
            facts: Facts::new(),
            taken: BTreeSet::new(),
            constants: BTreeMap::new(),
            n_made: 0,
        }
    }

    /// Goes on with a graph that exists.
    pub fn extend(graph: Graph) -> Result<Builder, BuildError> {
        let facts = infer::facts(&graph)?;
        let taken = graph.value_names().into_iter().map(str::to_owned).collect();
        Ok(Builder { graph, facts, taken, constants: BTreeMap::new(), n_made: 0 })
    }

    /// The graph as it is now.
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// Ends the work.
    pub fn finish(self) -> Graph {
        self.graph
    }

    /// Looks up a value by its name.
    pub fn value(&self, name: &str) -> Result<Value, BuildError> {
        if self.taken.contains(name) {
            Ok(Value(name.to_owned()))
        } else {
            Err(BuildError::NoSuchValue(name.to_owned()))
        }
    }

    /// What is known about a value.
    pub fn fact(&self, value: &Value) -> Option<&Fact> {
        self.facts.get(&value.0)
    }

    /// What the elements of a value are; 32-bit floats if nobody knows.
    pub fn element_type(&self, value: &Value) -> ElementType {
        self.fact(value).map_or(ElementType::F32, |fact| fact.element_type)
    }

    /// The shape of a value, which has to be known.
    pub fn shape(&self, value: &Value) -> Result<Vec<Dim>, BuildError> {
        let shape = self.fact(value).and_then(|fact| fact.shape.clone());
        shape.ok_or_else(|| BuildError::ShapeUnknown(value.0.clone()))
    }

    /// How many dimensions a value has, which has to be known.
    pub fn rank(&self, value: &Value) -> Result<usize, BuildError> {
        Ok(self.shape(value)?.len())
    }

    /// The size of one dimension, which has to be a number.
    pub fn size(&self, value: &Value, axis: usize) -> Result<usize, BuildError> {
        let shape = self.shape(value)?;
        let found = shape.get(axis);
        found.and_then(Dim::as_size).ok_or_else(|| BuildError::DimUnknown {
            value: value.0.clone(),
            axis,
            found: found.map_or_else(|| "no such dimension".to_owned(), Dim::to_string),
        })
    }

    /// The contents of a constant, or of whole numbers that inference could follow.
    pub fn known_list(&self, value: &Value) -> Option<Vec<i64>> {
        let value = self.fact(value)?.value.as_ref()?;
        value.iter().map(Dim::as_known).collect()
    }

    /// The tensor behind a value, if it is a constant.
    pub fn constant_of(&self, value: &Value) -> Option<&Tensor> {
        self.graph.weights.get(&value.0)
    }

    /// Adds an input.
    pub fn input(&mut self, name: &str, element_type: ElementType, shape: Vec<Dim>) -> Value {
        let value = self.fresh(name);
        self.facts.insert(value.0.clone(), Fact::new(element_type, shape.clone()));
        self.graph.inputs.push(Port { name: value.0.clone(), element_type, shape: Some(shape) });
        value
    }

    /// Makes a value an output, under the name it has.
    pub fn output(&mut self, value: &Value) {
        if self.graph.output(&value.0).is_none() {
            let fact = self.facts.get(&value.0);
            self.graph.outputs.push(Port {
                name: value.0.clone(),
                element_type: fact.map_or(ElementType::F32, |fact| fact.element_type.or_f32()),
                shape: fact.and_then(|fact| fact.shape.clone()),
            });
        }
    }

    /// Makes a value an output under a name of its own.
    pub fn output_as(&mut self, value: &Value, name: &str) -> Result<Value, BuildError> {
        let named = self.named_op(name, "Identity", &[value], vec![])?;
        self.output(&named);
        Ok(named)
    }

    /// Adds a weight under a name like this one.
    pub fn weight(&mut self, name: &str, tensor: Tensor) -> Value {
        let value = self.fresh(name);
        self.facts.insert(value.0.clone(), Fact::of_tensor(&tensor));
        self.graph.weights.insert(value.0.clone(), tensor);
        value
    }

    /// A constant; equal small constants are stored once.
    pub fn constant(&mut self, tensor: Tensor) -> Value {
        let key = match tensor.to_f64() {
            Some(numbers) if numbers.len() <= 64 => {
                let bits = numbers.iter().map(|number| number.to_bits()).collect();
                Some((tensor.shape().to_vec(), tensor.element_type(), bits))
            }
            _ => None,
        };
        if let Some(known) = key.as_ref().and_then(|key| self.constants.get(key)) {
            return known.clone();
        }
        let value = self.weight("constant", tensor);
        if let Some(key) = key {
            self.constants.insert(key, value.clone());
        }
        value
    }

    /// A constant number without dimensions.
    pub fn scalar(&mut self, number: f32) -> Value {
        self.constant(Tensor::scalar(number))
    }

    /// A constant number of the type that `like` has, without dimensions.
    pub fn number(&mut self, number: f64, like: &Value) -> Value {
        if self.element_type(like) == ElementType::F64 {
            let tensor = Tensor::f64(Vec::new(), vec![number]);
            return self.constant(tensor.expect("because one number fills one place"));
        }
        #[expect(clippy::cast_possible_truncation, reason = "the network works in 32 bits")]
        let number = number as f32;
        self.scalar(number)
    }

    /// A constant list of whole numbers.
    pub fn list(&mut self, numbers: &[i64]) -> Value {
        self.constant(Tensor::list(numbers.to_vec()))
    }

    /// Appends a node with one output.
    pub fn op(
        &mut self,
        op: &str,
        inputs: &[&Value],
        attributes: Vec<(&str, Attribute)>,
    ) -> Result<Value, BuildError> {
        self.named_op(&op.to_lowercase(), op, inputs, attributes)
    }

    /// Appends a node with one output that has a name like this one.
    pub fn named_op(
        &mut self,
        name: &str,
        op: &str,
        inputs: &[&Value],
        attributes: Vec<(&str, Attribute)>,
    ) -> Result<Value, BuildError> {
        let inputs: Vec<Option<&Value>> = inputs.iter().map(|&value| Some(value)).collect();
        let mut outputs = self.node(name, op, &inputs, 1, attributes)?;
        Ok(outputs.swap_remove(0))
    }

    /// Appends a node with any number of outputs and with inputs that may be left out.
    pub fn node(
        &mut self,
        name: &str,
        op: &str,
        inputs: &[Option<&Value>],
        n_outputs: usize,
        attributes: Vec<(&str, Attribute)>,
    ) -> Result<Vec<Value>, BuildError> {
        let outputs: Vec<Value> = (0..n_outputs).map(|_| self.fresh(name)).collect();
        let node = Node {
            name: outputs.first().map(|value| format!("{op}_{value}")).unwrap_or_default(),
            op: op.to_owned(),
            domain: String::new(),
            inputs: inputs
                .iter()
                .map(|value| value.map_or_else(String::new, |value| value.0.clone()))
                .collect(),
            outputs: outputs.iter().map(|value| value.0.clone()).collect(),
            attributes: attributes
                .into_iter()
                .map(|(name, value)| (name.to_owned(), value))
                .collect(),
        };
        let found = infer::node_facts(&node, &self.facts)?;
        for (value, fact) in outputs.iter().zip(found) {
            self.facts.insert(value.0.clone(), fact);
        }
        self.graph.nodes.push(node);
        Ok(outputs)
    }

    /// Keeps names for nodes that will be pushed later: no new value gets one of them.
    pub fn reserve(&mut self, names: impl IntoIterator<Item = String>) {
        self.taken.extend(names);
    }

    /// Appends a node that names its own outputs, which nothing may have made yet.
    pub fn push(&mut self, node: Node) -> Result<(), BuildError> {
        let found = infer::node_facts(&node, &self.facts)?;
        for (name, fact) in node.outputs.iter().zip(found) {
            if !name.is_empty() {
                self.taken.insert(name.clone());
                self.facts.insert(name.clone(), fact);
            }
        }
        self.graph.nodes.push(node);
        Ok(())
    }

    /// A name like this one that nothing has yet, and takes it.
    fn fresh(&mut self, name: &str) -> Value {
        let mut candidate = name.to_owned();
        while candidate.is_empty() || !self.taken.insert(candidate.clone()) {
            self.n_made += 1;
            candidate = format!("{name}_{}", self.n_made);
        }
        Value(candidate)
    }
}

/// Short methods for the operators that losses, layers and gradients use.
impl Builder {
    /// `x + y`
    pub fn add(&mut self, x: &Value, y: &Value) -> Result<Value, BuildError> {
        self.op("Add", &[x, y], vec![])
    }

    /// `x − y`
    pub fn sub(&mut self, x: &Value, y: &Value) -> Result<Value, BuildError> {
        self.op("Sub", &[x, y], vec![])
    }

    /// `x · y`, element by element
    pub fn mul(&mut self, x: &Value, y: &Value) -> Result<Value, BuildError> {
        self.op("Mul", &[x, y], vec![])
    }

    /// `x / y`, element by element
    pub fn div(&mut self, x: &Value, y: &Value) -> Result<Value, BuildError> {
        self.op("Div", &[x, y], vec![])
    }

    /// `x` times a number
    pub fn scale(&mut self, x: &Value, factor: f32) -> Result<Value, BuildError> {
        let factor = self.scalar(factor);
        self.mul(x, &factor)
    }

    /// An operator of one value without settings: `Neg`, `Exp`, `Sqrt`, …
    pub fn unary(&mut self, op: &str, x: &Value) -> Result<Value, BuildError> {
        self.op(op, &[x], vec![])
    }

    /// The matrix product.
    pub fn matmul(&mut self, x: &Value, y: &Value) -> Result<Value, BuildError> {
        self.op("MatMul", &[x, y], vec![])
    }

    /// Reorders dimensions: dimension `i` of the result is dimension `order[i]` of `x`.
    pub fn transpose(&mut self, x: &Value, order: &[i64]) -> Result<Value, BuildError> {
        if order.iter().zip(0..).all(|(&from, to)| from == to) {
            return Ok(x.clone());
        }
        self.op("Transpose", &[x], vec![("perm", Attribute::Ints(order.to_vec()))])
    }

    /// Gives `x` this shape. At most one dimension may depend on symbols; for more, the shape is
    /// taken from `like` when the network runs.
    pub fn reshape(&mut self, x: &Value, shape: &[Dim]) -> Result<Value, BuildError> {
        if self.fact(x).and_then(|fact| fact.shape.as_deref()) == Some(shape) {
            return Ok(x.clone());
        }
        let mut n_open = 0;
        let mut numbers = Vec::with_capacity(shape.len());
        for dim in shape {
            match dim.as_known() {
                Some(number) => numbers.push(number),
                None => {
                    n_open += 1;
                    numbers.push(-1);
                }
            }
        }
        if 1 < n_open {
            return Err(BuildError::ShapeUnknown(format!("{x} as {}", dim::describe(shape))));
        }
        let shape = self.list(&numbers);
        self.op("Reshape", &[x, &shape], vec![])
    }

    /// Gives `x` the shape that `like` has.
    pub fn reshape_like(&mut self, x: &Value, like: &Value) -> Result<Value, BuildError> {
        let shape = self.shape(like)?;
        let n_open = shape.iter().filter(|dim| dim.as_known().is_none()).count();
        if n_open <= 1 {
            return self.reshape(x, &shape);
        }
        let shape = self.shape_of(like)?;
        self.op("Reshape", &[x, &shape], vec![])
    }

    /// The shape of `x` when the network runs, as a list of whole numbers.
    pub fn shape_of(&mut self, x: &Value) -> Result<Value, BuildError> {
        let shape = self.shape(x)?;
        let numbers: Option<Vec<i64>> = shape.iter().map(Dim::as_known).collect();
        match numbers {
            Some(numbers) => Ok(self.list(&numbers)),
            None => self.op("Shape", &[x], vec![]),
        }
    }

    /// Repeats `x` along dimensions of size one until it has the shape of `like`.
    pub fn expand_like(&mut self, x: &Value, like: &Value) -> Result<Value, BuildError> {
        if self.fact(x).map(|fact| &fact.shape) == self.fact(like).map(|fact| &fact.shape) {
            return Ok(x.clone());
        }
        let shape = self.shape_of(like)?;
        self.op("Expand", &[x, &shape], vec![])
    }

    /// How many numbers of `large` there are per number of `small`, when the network runs.
    pub fn ratio_of_sizes(&mut self, large: &Value, small: &Value) -> Result<Value, BuildError> {
        let (wide, narrow) = (self.shape(large)?, self.shape(small)?);
        let known = dim::product(&wide).zip(dim::product(&narrow));
        let known = known.and_then(|(wide, narrow)| wide.divided_by(&narrow)?.as_known());
        if let Some(number) = known {
            #[expect(clippy::cast_precision_loss, reason = "counts of pixels are far below 2^53")]
            return Ok(self.number(number as f64, large));
        }
        let float = self.element_type(large);
        let (wide, narrow) = (self.unary("Size", large)?, self.unary("Size", small)?);
        let (wide, narrow) = (self.cast(&wide, float)?, self.cast(&narrow, float)?);
        self.div(&wide, &narrow)
    }

    /// A reduction (`ReduceSum`, `ReduceMean`, `ReduceMax`, …) over these dimensions.
    pub fn reduce(
        &mut self,
        op: &str,
        x: &Value,
        axes: &[i64],
        keep: bool,
    ) -> Result<Value, BuildError> {
        if axes.is_empty() {
            return Ok(x.clone());
        }
        let axes = self.list(axes);
        self.op(op, &[x, &axes], vec![("keepdims", Attribute::Int(i64::from(keep)))])
    }

    /// The sum over these dimensions.
    pub fn reduce_sum(&mut self, x: &Value, axes: &[i64], keep: bool) -> Result<Value, BuildError> {
        self.reduce("ReduceSum", x, axes, keep)
    }

    /// `yes` where `condition` holds, else `no`.
    pub fn choose(
        &mut self,
        condition: &Value,
        yes: &Value,
        no: &Value,
    ) -> Result<Value, BuildError> {
        self.op("Where", &[condition, yes, no], vec![])
    }

    /// A comparison (`Equal`, `Greater`, `Less`, `GreaterOrEqual`, `LessOrEqual`).
    pub fn compare(&mut self, op: &str, x: &Value, y: &Value) -> Result<Value, BuildError> {
        self.op(op, &[x, y], vec![])
    }

    /// `x` as another type.
    pub fn cast(&mut self, x: &Value, to: ElementType) -> Result<Value, BuildError> {
        if self.element_type(x) == to || to == ElementType::UNKNOWN {
            return Ok(x.clone());
        }
        self.op("Cast", &[x], vec![("to", Attribute::Int(i64::from(to.to_onnx())))])
    }

    /// Puts dimensions of size one in these places.
    pub fn unsqueeze(&mut self, x: &Value, axes: &[i64]) -> Result<Value, BuildError> {
        let axes = self.list(axes);
        self.op("Unsqueeze", &[x, &axes], vec![])
    }

    /// Takes away dimensions of size one.
    pub fn squeeze(&mut self, x: &Value, axes: &[i64]) -> Result<Value, BuildError> {
        let axes = self.list(axes);
        self.op("Squeeze", &[x, &axes], vec![])
    }

    /// Joins values along a dimension.
    pub fn concat(&mut self, parts: &[&Value], axis: i64) -> Result<Value, BuildError> {
        self.op("Concat", parts, vec![("axis", Attribute::Int(axis))])
    }

    /// The part of `x` from `start` to before `end` along a dimension.
    pub fn slice(
        &mut self,
        x: &Value,
        axis: i64,
        start: i64,
        end: i64,
    ) -> Result<Value, BuildError> {
        let (starts, ends, axes) = (self.list(&[start]), self.list(&[end]), self.list(&[axis]));
        self.op("Slice", &[x, &starts, &ends, &axes], vec![])
    }
}
