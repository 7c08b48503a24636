//! Differentiation as a graph transformation.
//!
//! [`gradient`] takes a graph and appends the nodes that compute the gradient of one of its values
//! with respect to others. It walks the nodes from the last to the first; each operator's rule
//! turns the gradient of what a node makes into gradients of what it uses, in plain operators that
//! both engines have. The values of the forward pass are shared, and the batch stays free.
//!
//! One operator's rule is one function in a file of its family; [`operator`] is the list of them.
//! An operator without a rule is an error that names the node, never a wrong gradient.

mod activation;
mod conv;
mod elementwise;
mod gelu;
mod index;
mod matmul;
pub(crate) mod norm;
pub mod operator;
mod pool;
mod reduce;
mod resample;
mod shape;
mod softmax;

use std::collections::{BTreeMap, BTreeSet};

use crate::build::{BuildError, Builder, Value};
use crate::dim::whole;
use crate::graph::{Graph, Node};
use crate::tensor::{ElementType, Tensor};

use operator::Rule;

/// A graph that cannot be differentiated as asked.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum GradError {
    /// An operator without a rule lies on the way.
    #[error("node `{node}`: the operator {op} has no gradient here; needed: {needed}")]
    NoRule {
        /// The node's label.
        node: String,
        /// Its operator.
        op: String,
        /// What would have to be written.
        needed: String,
    },
    /// A rule exists but does not cover these settings.
    #[error("node `{node}` ({op}): no gradient for {case}")]
    Uncovered {
        /// The node's label.
        node: String,
        /// Its operator.
        op: String,
        /// The settings that are not covered, and what would be needed.
        case: String,
    },
    /// The graph of a rule could not be written.
    #[error("node `{node}` ({op}): {source}")]
    Rule {
        /// The node's label.
        node: String,
        /// Its operator.
        op: String,
        /// What went wrong.
        source: BuildError,
    },
    /// The scalar does not depend on a value that a gradient was asked for.
    #[error("`{of}` does not depend on `{with_respect_to}` in a way that has a gradient")]
    Independent {
        /// What was to be differentiated.
        of: String,
        /// With respect to what.
        with_respect_to: String,
    },
    /// Anything else that has no place in a graph.
    #[error(transparent)]
    Build(#[from] BuildError),
}

/// Appends the gradient of the sum of `of` with respect to each value in `with_respect_to`.
///
/// Returns the gradients in that order; each has the shape of its value.
pub fn gradient(
    builder: &mut Builder,
    of: &Value,
    with_respect_to: &[Value],
) -> Result<Vec<Value>, GradError> {
    let nodes: Vec<Node> = builder.graph().nodes.clone();
    let moving = moving_values(&nodes, with_respect_to);
    let found = walk(builder, &nodes, moving.clone(), of, with_respect_to);
    // Behind an operator that nobody knows, shapes are not known either: name the cause.
    found.map_err(|error| match error {
        GradError::Build(_) | GradError::Rule { .. } | GradError::Uncovered { .. } => {
            without_rule(&nodes, &moving, of).unwrap_or(error)
        }
        other => other,
    })
}

/// Walks from the last node to the first.
fn walk(
    builder: &mut Builder,
    nodes: &[Node],
    moving: BTreeSet<String>,
    of: &Value,
    with_respect_to: &[Value],
) -> Result<Vec<Value>, GradError> {
    let stays_finite = !nodes.iter().any(|node| elementwise::is_singular(node, &moving));
    let mut tape = Tape { builder, moving, stays_finite, gradients: BTreeMap::new() };
    let ones = tape.ones_like(of)?;
    tape.gradients.insert(of.name().to_owned(), ones);

    let asked = with_respect_to.iter().map(Value::name).chain([of.name()]).collect();
    let gelus = gelu::ends(nodes, tape.builder, &asked);
    for (idx, node) in nodes.iter().enumerate().rev() {
        let of_outputs: Vec<Option<Value>> =
            node.outputs.iter().map(|name| tape.gradients.get(name).cloned()).collect();
        let is_on_the_way = node.inputs.iter().any(|name| tape.moving.contains(name));
        if !is_on_the_way || of_outputs.iter().all(Option::is_none) {
            continue;
        }
        if let (Some(x), Some(Some(dy))) = (gelus.get(&idx), of_outputs.first()) {
            let found = activation::of_erf_gelu(&mut tape, dy, x)?;
            tape.accumulate(x.name(), found)?;
            continue;
        }
        let of_inputs = match operator::rule(node) {
            Rule::Gradient(rule) => {
                rule(&mut tape, node, &of_outputs).map_err(|error| at(node, error))?
            }
            Rule::Flat => continue,
            Rule::None { needed } => return Err(no_rule(node, needed)),
        };
        for (name, found) in node.inputs.iter().zip(of_inputs) {
            if let Some(found) = found
                && tape.moving.contains(name)
            {
                tape.accumulate(name, found)?;
            }
        }
    }

    let mut found = Vec::with_capacity(with_respect_to.len());
    for value in with_respect_to {
        let gradient = tape.gradients.get(value.name()).cloned();
        found.push(gradient.ok_or_else(|| GradError::Independent {
            of: of.name().to_owned(),
            with_respect_to: value.name().to_owned(),
        })?);
    }
    Ok(found)
}

/// The last node without a rule that lies between the values that move and `of`.
fn without_rule(nodes: &[Node], moving: &BTreeSet<String>, of: &Value) -> Option<GradError> {
    let mut wanted = BTreeSet::from([of.name()]);
    for node in nodes.iter().rev() {
        let is_on_the_way = node.inputs.iter().any(|name| moving.contains(name))
            && node.outputs.iter().any(|name| wanted.contains(name.as_str()));
        if !is_on_the_way {
            continue;
        }
        match operator::rule(node) {
            Rule::Gradient(_) => wanted.extend(node.inputs.iter().map(String::as_str)),
            Rule::Flat => {}
            Rule::None { needed } => return Some(no_rule(node, needed)),
        }
    }
    None
}

/// An error for a node without a rule.
fn no_rule(node: &Node, needed: String) -> GradError {
    GradError::NoRule { node: node.label().to_owned(), op: node.full_op(), needed }
}

/// Names of the values that change when one of the starting values does.
fn moving_values(nodes: &[Node], start: &[Value]) -> BTreeSet<String> {
    let mut moving: BTreeSet<String> = start.iter().map(|value| value.name().to_owned()).collect();
    for node in nodes {
        if node.inputs.iter().any(|name| moving.contains(name)) {
            moving.extend(node.outputs.iter().filter(|name| !name.is_empty()).cloned());
        }
    }
    moving
}

/// Says at which node a rule failed.
fn at(node: &Node, error: GradError) -> GradError {
    match error {
        GradError::Build(source) => {
            GradError::Rule { node: node.label().to_owned(), op: node.full_op(), source }
        }
        other => other,
    }
}

/// The state of a backward walk: the graph under construction and the gradients so far.
pub struct Tape<'a> {
    /// Where rules append their nodes.
    pub builder: &'a mut Builder,
    moving: BTreeSet<String>,
    stays_finite: bool,
    gradients: BTreeMap<String, Value>,
}

impl Tape<'_> {
    /// Whether a gradient of this input of a node is wanted.
    pub fn wants(&self, node: &Node, input_idx: usize) -> bool {
        node.input(input_idx).is_some_and(|name| self.moving.contains(name))
    }

    /// Whether gradients are finite as long as nothing overflows: no operator on the way has a pole.
    ///
    /// Then a mask may be multiplied, which is cheaper than choosing: no `0 · ∞` can arise.
    pub fn stays_finite(&self) -> bool {
        self.stays_finite
    }

    /// An input of a node, which has to be there.
    pub fn input(&self, node: &Node, input_idx: usize) -> Result<Value, GradError> {
        match node.input(input_idx) {
            Some(name) => Ok(self.builder.value(name)?),
            None => Err(uncovered(node, &format!("a missing input {input_idx}"))),
        }
    }

    /// An input of a node that may be left out.
    pub fn optional_input(
        &self,
        node: &Node,
        input_idx: usize,
    ) -> Result<Option<Value>, GradError> {
        match node.input(input_idx) {
            Some(name) => Ok(Some(self.builder.value(name)?)),
            None => Ok(None),
        }
    }

    /// An output of a node, which has to be there.
    pub fn output(&self, node: &Node, output_idx: usize) -> Result<Value, GradError> {
        match node.output(output_idx) {
            Some(name) => Ok(self.builder.value(name)?),
            None => Err(uncovered(node, &format!("a missing output {output_idx}"))),
        }
    }

    /// A dimension that a setting names, counted from the front.
    pub fn axis(&self, node: &Node, x: &Value, axis: i64) -> Result<usize, GradError> {
        let rank = self.builder.rank(x)?;
        let from_front = if axis < 0 { axis.saturating_add(whole(rank)) } else { axis };
        let found = usize::try_from(from_front).ok().filter(|&found| found < rank);
        found.ok_or_else(|| uncovered(node, &format!("dimension {axis} of a value with {rank}")))
    }

    /// A constant number of the type that `like` has, without dimensions.
    pub fn number(&mut self, number: f64, like: &Value) -> Value {
        self.builder.number(number, like)
    }

    /// A value of ones with the shape of another.
    pub fn ones_like(&mut self, like: &Value) -> Result<Value, BuildError> {
        self.filled_like(like, 1.0)
    }

    /// A value of one number with the shape of another.
    pub fn filled_like(&mut self, like: &Value, number: f32) -> Result<Value, BuildError> {
        let shape = self.builder.shape_of(like)?;
        let number = match self.builder.element_type(like) {
            ElementType::F64 => Tensor::f64(vec![1], vec![f64::from(number)]),
            _ => Tensor::f32(vec![1], vec![number]),
        };
        let number = number.expect("because one number fills one place");
        self.builder.op(
            "ConstantOfShape",
            &[&shape],
            vec![("value", crate::Attribute::Tensor(number))],
        )
    }

    /// Sums a gradient over the dimensions along which `x` was repeated by broadcasting.
    pub fn sum_to_shape_of(&mut self, gradient: &Value, x: &Value) -> Result<Value, BuildError> {
        let wide = self.builder.shape(gradient)?;
        let narrow = self.builder.shape(x)?;
        if wide == narrow {
            return Ok(gradient.clone());
        }
        let n_new = wide.len().saturating_sub(narrow.len());
        let mut axes: Vec<i64> = (0..).take(n_new).collect();
        for (axis, (of_wide, of_narrow)) in (0..).zip(wide.iter().skip(n_new).zip(&narrow)) {
            if of_narrow.is_one() && !of_wide.is_one() {
                axes.push(axis + i64::try_from(n_new).expect("because shapes have few dimensions"));
            }
        }
        let summed = self.builder.reduce_sum(gradient, &axes, true)?;
        self.builder.reshape_like(&summed, x)
    }

    /// How many numbers were added up per element of a reduction.
    pub fn ratio_of_sizes(&mut self, large: &Value, small: &Value) -> Result<Value, BuildError> {
        self.builder.ratio_of_sizes(large, small)
    }

    /// Adds to the gradient of a value.
    fn accumulate(&mut self, name: &str, found: Value) -> Result<(), BuildError> {
        let sum = match self.gradients.get(name).cloned() {
            Some(so_far) => self.builder.add(&so_far, &found)?,
            None => found,
        };
        self.gradients.insert(name.to_owned(), sum);
        Ok(())
    }
}

/// An error for settings that a rule does not cover.
pub(crate) fn uncovered(node: &Node, case: &str) -> GradError {
    GradError::Uncovered {
        node: node.label().to_owned(),
        op: node.full_op(),
        case: case.to_owned(),
    }
}

/// Derives a graph that has the outputs of `graph` and the gradients, each named `gradient:<value>`.
pub fn with_gradients(
    graph: Graph,
    of: &str,
    with_respect_to: &[&str],
) -> Result<Graph, GradError> {
    let mut builder = Builder::extend(graph)?;
    let of = builder.value(of)?;
    let values: Vec<Value> = with_respect_to
        .iter()
        .map(|name| builder.value(name))
        .collect::<Result<_, BuildError>>()?;
    let gradients = gradient(&mut builder, &of, &values)?;
    for (value, gradient) in values.iter().zip(&gradients) {
        builder.output_as(gradient, &format!("gradient:{value}"))?;
    }
    Ok(builder.finish())
}
