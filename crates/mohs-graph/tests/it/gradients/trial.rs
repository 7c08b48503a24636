//! One node with numbers for its inputs, and the check of its gradient by finite differences.
//!
//! The scalar is the sum of all outputs times fixed random weights. Its gradient is derived as a
//! graph, run in 64-bit floats, and compared with what the scalar does when one number moves.

use std::collections::BTreeMap;

use mohs_graph::build::{Builder, Value};
use mohs_graph::grad::{self, GradError};
use mohs_graph::{Attribute, Dim, ElementType, Graph, Tensor, eval, normalise};

use super::draw::{Draw, tensor};

/// How far one number moves to each side.
const STEP: f64 = 1e-5;

/// How far a gradient may be off, as a share.
const TOLERANCE: f64 = 1e-5;

/// What an input of the node is.
#[derive(Clone, Debug)]
pub(crate) enum Input {
    /// Left out.
    Absent,
    /// A value whose gradient is wanted.
    Moving(Tensor),
    /// A constant of the network.
    Fixed(Tensor),
    /// Given when the network runs, and without a gradient.
    Given(Tensor),
}

/// How an output enters the scalar.
#[derive(Clone, Copy)]
enum Part {
    /// As it is.
    Plain,
    /// Squared.
    Squared,
}

/// A node and what goes into it.
#[derive(Clone, Debug)]
pub(crate) struct Trial {
    pub(crate) op: &'static str,
    pub(crate) attributes: Vec<(&'static str, Attribute)>,
    pub(crate) inputs: Vec<Input>,
    pub(crate) n_outputs: usize,
    /// Which outputs the scalar uses.
    pub(crate) used: Vec<usize>,
    /// Inputs whose first dimension is not known before the network runs.
    pub(crate) free: Vec<usize>,
}

impl Trial {
    pub(crate) fn new(op: &'static str) -> Trial {
        Trial { op, attributes: vec![], inputs: vec![], n_outputs: 1, used: vec![0], free: vec![] }
    }

    pub(crate) fn moving(mut self, tensor: Tensor) -> Trial {
        self.inputs.push(Input::Moving(tensor));
        self
    }

    pub(crate) fn fixed(mut self, tensor: Tensor) -> Trial {
        self.inputs.push(Input::Fixed(tensor));
        self
    }

    pub(crate) fn list(self, numbers: &[i64]) -> Trial {
        self.fixed(Tensor::list(numbers.to_vec()))
    }

    pub(crate) fn given(mut self, tensor: Tensor) -> Trial {
        self.inputs.push(Input::Given(tensor));
        self
    }

    pub(crate) fn absent(mut self) -> Trial {
        self.inputs.push(Input::Absent);
        self
    }

    pub(crate) fn with(mut self, name: &'static str, attribute: Attribute) -> Trial {
        self.attributes.push((name, attribute));
        self
    }

    pub(crate) fn int(self, name: &'static str, value: i64) -> Trial {
        self.with(name, Attribute::Int(value))
    }

    pub(crate) fn flag(self, name: &'static str, value: bool) -> Trial {
        self.int(name, i64::from(value))
    }

    pub(crate) fn ints(self, name: &'static str, values: &[i64]) -> Trial {
        self.with(name, Attribute::Ints(values.to_vec()))
    }

    /// A setting; settings are 32-bit floats.
    #[expect(clippy::cast_possible_truncation, reason = "settings are 32-bit floats")]
    pub(crate) fn float(self, name: &'static str, value: f64) -> Trial {
        self.with(name, Attribute::Float(value as f32))
    }

    pub(crate) fn text(self, name: &'static str, value: &str) -> Trial {
        self.with(name, Attribute::Text(value.to_owned()))
    }

    pub(crate) fn outputs(mut self, n: usize, used: &[usize]) -> Trial {
        self.n_outputs = n;
        self.used = used.to_vec();
        self
    }

    /// In half of the trials, these inputs have a first dimension that is not known beforehand.
    pub(crate) fn free_batch(mut self, draw: &mut Draw, inputs: &[usize]) -> Trial {
        if draw.chance() {
            self.free = inputs.to_vec();
        }
        self
    }

    /// Whether a moving input has a number that is exactly zero.
    pub(crate) fn has_zeros(&self) -> bool {
        self.inputs.iter().any(|input| match input {
            Input::Moving(tensor) => tensor.to_f64().is_some_and(|numbers| numbers.contains(&0.0)),
            _ => false,
        })
    }

    /// Writes the network: the node, and the scalar that is differentiated.
    fn network(&self, draw: &mut Draw, part: Part) -> Result<Network, String> {
        let mut builder = Builder::new("trial");
        let mut numbers = BTreeMap::new();
        let mut moving = Vec::new();
        let mut inputs = Vec::new();
        for (idx, input) in self.inputs.iter().enumerate() {
            let value = match input {
                Input::Absent => None,
                Input::Fixed(tensor) => Some(builder.weight("fixed", narrowed(tensor))),
                Input::Moving(tensor) | Input::Given(tensor) => {
                    let mut dims: Vec<Dim> =
                        tensor.shape().iter().map(|&size| Dim::from_size(size)).collect();
                    if self.free.contains(&idx) {
                        dims[0] = Dim::symbol("batch");
                    }
                    let element_type = match tensor.element_type() {
                        ElementType::F64 => ElementType::F32,
                        other => other,
                    };
                    let value = builder.input(&format!("input {idx}"), element_type, dims);
                    numbers.insert(value.name().to_owned(), tensor.clone());
                    Some(value)
                }
            };
            if let (Some(value), Input::Moving(_)) = (&value, input) {
                moving.push(value.clone());
            }
            inputs.push(value);
        }
        let inputs: Vec<Option<&Value>> = inputs.iter().map(Option::as_ref).collect();
        let outputs = builder
            .node("output", self.op, &inputs, self.n_outputs, self.attributes.clone())
            .map_err(|error| format!("the node: {error}"))?;
        let used: Vec<Value> = self.used.iter().map(|&idx| outputs[idx].clone()).collect();
        let mut network = Network { builder, numbers, moving, scalar: used[0].clone() };
        network.scalar = network.weighted_sum(draw, &used, part)?;
        // Rules see padding only after it was worked out.
        if self.attributes.iter().any(|(name, _)| *name == "auto_pad") {
            network.normalise()?;
        }
        Ok(network)
    }

    /// Checks the first derivative.
    pub(crate) fn check(&self, seed: u64) -> Result<(), String> {
        let mut network = self.network(&mut Draw::new(seed), Part::Plain)?;
        network.check_gradient()
    }

    /// Checks the derivative of the first derivative.
    ///
    /// Outputs are squared, so that even the gradient of a linear operator depends on its input.
    pub(crate) fn check_twice(&self, seed: u64) -> Result<(), String> {
        let draw = &mut Draw::new(seed);
        let mut network = self.network(draw, Part::Squared)?;
        let gradients = network.gradients()?;
        let gradients: Vec<Value> = gradients.into_iter().flatten().collect();
        network.scalar = network.weighted_sum(draw, &gradients, Part::Plain)?;
        network.check_gradient().map_err(|problem| format!("second derivative: {problem}"))
    }
}

/// Constants are 32-bit floats, as in files.
#[expect(clippy::cast_possible_truncation, reason = "constants are 32-bit floats")]
fn narrowed(tensor: &Tensor) -> Tensor {
    match tensor.element_type() {
        ElementType::F64 => {
            let numbers = tensor.to_f64().expect("because floats can be read");
            let numbers = numbers.into_iter().map(|number| number as f32).collect();
            Tensor::f32(tensor.shape().to_vec(), numbers).expect("because the length stays")
        }
        _ => tensor.clone(),
    }
}

/// A network with a scalar, and numbers for its inputs.
pub(crate) struct Network {
    pub(crate) builder: Builder,
    numbers: BTreeMap<String, Tensor>,
    pub(crate) moving: Vec<Value>,
    pub(crate) scalar: Value,
}

impl Network {
    /// Appends the sum of values times fixed random weights.
    fn weighted_sum(
        &mut self,
        draw: &mut Draw,
        values: &[Value],
        part: Part,
    ) -> Result<Value, String> {
        let found = self.run(self.builder.graph(), values)?;
        let builder = &mut self.builder;
        let mut total: Option<Value> = None;
        for (value, found) in values.iter().zip(found) {
            let text = |error: mohs_graph::build::BuildError| error.to_string();
            // A dimension that is not known beforehand has one weight for all of it.
            let shape: Vec<usize> = match builder.shape(value) {
                Ok(dims) => {
                    let sizes = dims.iter().zip(found.shape());
                    for (dim, &size) in sizes.clone() {
                        if dim.as_size().is_some_and(|known| known != size) {
                            return Err(format!(
                                "inference says {} for a value of shape {:?}",
                                mohs_graph::dim::describe(&dims),
                                found.shape()
                            ));
                        }
                    }
                    sizes
                        .map(|(dim, &size)| if dim.as_size().is_some() { size } else { 1 })
                        .collect()
                }
                Err(error) => return Err(error.to_string()),
            };
            let weights = draw.floats(&shape, -2.0, 2.0);
            let weights = match builder.element_type(value) {
                ElementType::F64 => weights,
                _ => narrowed(&weights),
            };
            let weights = builder.constant(weights);
            let value = match part {
                Part::Plain => value.clone(),
                Part::Squared => builder.mul(value, value).map_err(text)?,
            };
            let weighted = builder.mul(&value, &weights).map_err(text)?;
            let rank = builder.rank(&weighted).map_err(text)?;
            let axes: Vec<i64> = (0..rank as i64).collect();
            let sum = builder.reduce_sum(&weighted, &axes, false).map_err(text)?;
            let sum = builder.cast(&sum, ElementType::F32).map_err(text)?;
            total = Some(match total {
                None => sum,
                Some(total) => builder.add(&total, &sum).map_err(text)?,
            });
        }
        total.ok_or_else(|| "there is nothing to sum".to_owned())
    }

    /// Brings the network into the house dialect, which must not change the scalar.
    fn normalise(&mut self) -> Result<(), String> {
        let before = self.run(self.builder.graph(), std::slice::from_ref(&self.scalar))?;
        self.builder.output(&self.scalar);
        let graph = normalise::normalise(self.builder.graph().clone());
        let graph = graph.map_err(|error| error.to_string())?;
        let after = self.run(&graph, std::slice::from_ref(&self.scalar))?;
        if before != after {
            return Err(format!("the dialect changes the scalar from {before:?} to {after:?}"));
        }
        self.builder = Builder::extend(graph).map_err(|error| error.to_string())?;
        Ok(())
    }

    /// The gradient with respect to each moving input; `None` where there is none.
    fn gradients(&mut self) -> Result<Vec<Option<Value>>, String> {
        let all = grad::gradient(&mut self.builder, &self.scalar, &self.moving);
        match all {
            Ok(found) => return Ok(found.into_iter().map(Some).collect()),
            Err(GradError::Independent { .. }) => {}
            Err(error) => return Err(error.to_string()),
        }
        let mut gradients = Vec::new();
        for value in &self.moving {
            let one = std::slice::from_ref(value);
            match grad::gradient(&mut self.builder, &self.scalar, one) {
                Ok(mut found) => gradients.push(found.pop()),
                Err(GradError::Independent { .. }) => gradients.push(None),
                Err(error) => return Err(error.to_string()),
            }
        }
        Ok(gradients)
    }

    /// Runs a graph and returns these values of it.
    fn run(&self, graph: &Graph, values: &[Value]) -> Result<Vec<Tensor>, String> {
        let ports = values.iter().map(|value| mohs_graph::Port {
            name: value.name().to_owned(),
            element_type: ElementType::F32,
            shape: None,
        });
        let graph = Graph { outputs: ports.collect(), ..graph.clone() };
        let found = eval::run(&graph, &self.numbers).map_err(|error| error.to_string())?;
        Ok(values.iter().map(|value| found[value.name()].clone()).collect())
    }

    /// Compares the gradient of the scalar with finite differences.
    pub(crate) fn check_gradient(&mut self) -> Result<(), String> {
        let forward = self.builder.graph().clone();
        let gradients = self.gradients()?;
        let backward = self.builder.graph().clone();
        let moving = self.moving.clone();
        for (value, gradient) in moving.iter().zip(gradients) {
            let start = self.numbers[value.name()].clone();
            let numbers = start.to_f64().expect("because moving inputs are floats");
            let found = match gradient {
                Some(gradient) => {
                    let found = self.run(&backward, &[gradient])?.swap_remove(0);
                    if found.shape() != start.shape() {
                        return Err(format!(
                            "the gradient of `{value}` should have shape {:?}, found {:?}",
                            start.shape(),
                            found.shape()
                        ));
                    }
                    found.to_f64().expect("because gradients are floats")
                }
                None => vec![0.0; numbers.len()],
            };
            let mut expected = Vec::with_capacity(numbers.len());
            for idx in 0..numbers.len() {
                let mut at = |number: f64| -> Result<f64, String> {
                    let mut moved = numbers.clone();
                    moved[idx] = number;
                    self.numbers.insert(value.name().to_owned(), tensor(start.shape(), moved));
                    let scalar = self.run(&forward, std::slice::from_ref(&self.scalar))?;
                    Ok(scalar[0].to_f64().expect("because the scalar is a float")[0])
                };
                let (above, below) = (at(numbers[idx] + STEP)?, at(numbers[idx] - STEP)?);
                expected.push((above - below) / (2.0 * STEP));
            }
            self.numbers.insert(value.name().to_owned(), start);
            compare(&found, &expected).map_err(|problem| format!("`{value}`: {problem}"))?;
        }
        Ok(())
    }
}

/// Compares a gradient with what it should be.
fn compare(found: &[f64], expected: &[f64]) -> Result<(), String> {
    let largest = expected.iter().fold(0.0_f64, |largest, number| largest.max(number.abs()));
    for (idx, (&found_here, &expected_here)) in found.iter().zip(expected).enumerate() {
        // Differences lose digits to the largest part; tiny numbers are judged beside it.
        let scale = expected_here.abs().max(0.1 * largest).max(1e-3);
        let is_close = (found_here - expected_here).abs() <= TOLERANCE * scale;
        if !is_close {
            return Err(format!(
                "element {idx} is {found_here}, by differences {expected_here}\n  found    {found:.5?}\n  expected {expected:.5?}"
            ));
        }
    }
    Ok(())
}
