//! Training graphs: the loss of a batch and the gradients of the weights, with weights as inputs.
//!
//! The weights that are trained enter as inputs, so that a training loop changes them between steps
//! without touching the graph. Batch normalisation is either frozen (it uses its stored statistics)
//! or live (it uses those of the batch, and the graph answers with the updated ones as well).
//!
//! Live statistics follow PyTorch: the batch is normalised by its population variance, and the
//! stored variance moves towards the unbiased one.

use std::collections::{BTreeMap, BTreeSet};

use crate::build::{BuildError, Builder, Value};
use crate::dim::Dim;
use crate::fold;
use crate::grad::operator::Rule;
use crate::grad::{self, GradError};
use crate::graph::{Attribute, Graph, Node, Port};
use crate::scalar::{self, Reduction, Scalar, ScalarError};
use crate::tensor::{ElementType, Tensor};

/// What batch normalisation does while weights are trained.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BatchNorm {
    /// Uses its stored statistics, which stay as they are.
    Frozen,
    /// Uses the statistics of the batch, and updates the stored ones.
    Live,
}

/// A training graph and what belongs to it.
#[derive(Clone, PartialEq, Debug)]
pub struct Training {
    /// Inputs: those of the network, the labels (or what else the loss needs), then a value for
    /// every trained weight and live statistic. Outputs: those of the network, `loss` with one
    /// number per example, then the gradients and updates.
    pub graph: Graph,
    /// The weights that are trained, sorted by name.
    pub weights: Vec<Trained>,
    /// The statistics that a step updates, sorted by name; none with frozen normalisation.
    pub statistics: Vec<Updated>,
}

/// A weight that is trained.
#[derive(Clone, PartialEq, Debug)]
pub struct Trained {
    /// Its name, as an input of the training graph and as a weight of the network.
    pub name: String,
    /// Its value to start with.
    pub start: Tensor,
    /// The output that has its gradient.
    pub gradient: String,
}

/// A statistic that each step updates.
#[derive(Clone, PartialEq, Debug)]
pub struct Updated {
    /// Its name, as an input of the training graph and as a weight of the network.
    pub name: String,
    /// Its value to start with.
    pub start: Tensor,
    /// The output that has its next value.
    pub next: String,
}

/// A network that cannot be trained as asked.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum TrainError {
    /// There is no weight of this name.
    #[error("the network has no weight `{name}`; it has for example: {examples}")]
    NoSuchWeight {
        /// The name that was asked for.
        name: String,
        /// Some names that there are.
        examples: String,
    },
    /// The network answers with nothing that a loss could be computed from.
    #[error("the network has no output")]
    NoOutput,
    /// The loss does not fit the network.
    #[error(transparent)]
    Scalar(#[from] ScalarError),
    /// The loss cannot be differentiated.
    #[error(transparent)]
    Grad(#[from] GradError),
    /// The graph could not be written.
    #[error(transparent)]
    Build(#[from] BuildError),
}

/// How a statistic moves per step when the node does not say: that of PyTorch.
const MOMENTUM: f32 = 0.9;
/// What the standard adds to variances when the node does not say.
const EPSILON: f32 = 1e-5;

/// Makes the graph that computes the mean loss and the gradients of these weights.
///
/// The network has to be in the house dialect, with batch normalisation not folded into other
/// layers if it is to be live.
pub fn training(
    network: &Graph,
    scalar: &Scalar,
    weights: &[String],
    batch_norm: BatchNorm,
) -> Result<Training, TrainError> {
    let names: BTreeSet<&String> = weights.iter().collect();
    let logits = network.outputs.first().ok_or(TrainError::NoOutput)?.name.clone();
    let mut graph = network.clone();
    let mut starts = Vec::with_capacity(names.len());
    for &name in &names {
        starts.push((name.clone(), weight_to_input(&mut graph, name)?));
    }

    let mut statistics = Vec::new();
    if batch_norm == BatchNorm::Live {
        statistics = make_live(&mut graph)?;
    }
    let mut builder = Builder::extend(graph)?;
    let logits = builder.value(&logits)?;
    let added = scalar::add(&mut builder, &logits, scalar, Reduction::Mean)?;
    builder.output(&added.per_example);
    let inputs: Vec<Value> =
        names.iter().map(|name| builder.value(name)).collect::<Result<_, _>>()?;
    let gradients = grad::gradient(&mut builder, &added.total, &inputs)?;
    let mut trained = Vec::with_capacity(starts.len());
    for ((name, start), gradient) in starts.into_iter().zip(&gradients) {
        let output = builder.output_as(gradient, &format!("gradient:{name}"))?;
        trained.push(Trained { name, start, gradient: output.name().to_owned() });
    }
    for statistic in &statistics {
        let next = builder.value(&statistic.next)?;
        builder.output(&next);
    }
    // Gradients compute means and deviations of live normalisation again; joining equal nodes
    // leaves one of each.
    let graph = fold::simplify(written_out(builder.finish())?).map_err(BuildError::from)?;
    Ok(Training { graph, weights: trained, statistics })
}

/// Names of the weights that training would change if nobody says which: floating-point weights
/// from which something flows to the first output, without statistics of batch normalisation and
/// without single numbers.
///
/// A weight may go through other nodes on its way, as scales that are reshaped and kernels that are
/// standardised do.
pub fn trainable(graph: &Graph) -> Vec<String> {
    let mut wanted: BTreeSet<&str> =
        graph.outputs.iter().take(1).map(|port| port.name.as_str()).collect();
    for node in graph.nodes.iter().rev() {
        let is_wanted = node.outputs.iter().any(|name| wanted.contains(name.as_str()));
        if !is_wanted || matches!(grad::operator::rule(node), Rule::Flat) {
            continue;
        }
        let is_live = node.int("training_mode").unwrap_or(0) != 0;
        let n_used = if node.op == "BatchNormalization" && !is_live { 3 } else { usize::MAX };
        wanted.extend(node.inputs.iter().take(n_used).map(String::as_str));
    }
    let is_trainable = |name: &str, tensor: &Tensor| {
        wanted.contains(name) && tensor.element_type() == ElementType::F32 && 1 < tensor.len()
    };
    let weights = graph.weights.iter().filter(|(name, tensor)| is_trainable(name, tensor));
    weights.map(|(name, _)| name.clone()).collect()
}

/// Turns a weight into an input of the same name, and returns its value.
fn weight_to_input(graph: &mut Graph, name: &str) -> Result<Tensor, TrainError> {
    let Some(tensor) = graph.weights.remove(name) else {
        let examples: Vec<&str> = graph.weights.keys().map(String::as_str).take(5).collect();
        return Err(TrainError::NoSuchWeight {
            name: name.to_owned(),
            examples: examples.join(", "),
        });
    };
    let shape = tensor.shape().iter().map(|&size| Dim::from_size(size)).collect();
    graph.inputs.push(Port {
        name: name.to_owned(),
        element_type: tensor.element_type(),
        shape: Some(shape),
    });
    Ok(tensor)
}

/// Lets batch normalisation use the statistics of the batch, and answer with the updated ones.
fn make_live(graph: &mut Graph) -> Result<Vec<Updated>, TrainError> {
    let mut starts: BTreeMap<String, Tensor> = BTreeMap::new();
    let mut nodes = std::mem::take(&mut graph.nodes);
    for node in nodes.iter_mut().filter(|node| node.op == "BatchNormalization") {
        node.attributes.insert("training_mode".to_owned(), Attribute::Int(1));
        let names: Vec<String> =
            [3, 4].iter().filter_map(|&idx| node.input(idx)).map(str::to_owned).collect();
        node.outputs.truncate(1);
        for name in names {
            node.outputs.push(format!("updated:{name}"));
            if graph.weights.contains_key(&name) {
                let start = weight_to_input(graph, &name)?;
                starts.insert(name, start);
            }
        }
    }
    graph.nodes = nodes;
    let statistics = starts.into_iter().map(|(name, start)| {
        let next = format!("updated:{name}");
        Updated { name, start, next }
    });
    Ok(statistics.collect())
}

/// Writes live batch normalisation out in plain operators, because engines have it in inference
/// form only. Gradients have been derived by then; they compute the same means and deviations, which
/// are shared when equal nodes are joined.
fn written_out(graph: Graph) -> Result<Graph, BuildError> {
    let is_live = |node: &Node| {
        node.op == "BatchNormalization" && node.int("training_mode").unwrap_or(0) != 0
    };
    if !graph.nodes.iter().any(is_live) {
        return Ok(graph);
    }
    let mut start = graph.clone();
    start.nodes.clear();
    start.outputs.clear();
    let mut builder = Builder::extend(start)?;
    builder.reserve(graph.nodes.iter().flat_map(|node| node.outputs.iter().cloned()));
    for node in graph.nodes {
        if is_live(&node) {
            live_batch_norm(&mut builder, &node)?;
        } else {
            builder.push(node)?;
        }
    }
    let mut graph_out = builder.finish();
    graph_out.outputs = graph.outputs;
    Ok(graph_out)
}

fn live_batch_norm(builder: &mut Builder, node: &Node) -> Result<(), BuildError> {
    let value = |builder: &Builder, idx: usize| builder.value(node.input(idx).unwrap_or_default());
    let (x, scale, bias) = (value(builder, 0)?, value(builder, 1)?, value(builder, 2)?);
    let axes: Vec<i64> = (0..).take(builder.rank(&x)?).filter(|&axis| axis != 1).collect();
    let n_after = builder.rank(&x)?.saturating_sub(2);
    let epsilon = f64::from(node.float("epsilon").unwrap_or(EPSILON));
    let spread = grad::norm::centred(builder, &x, &axes, epsilon)?;

    let mut per_channel = builder.shape(&scale)?;
    per_channel.extend(std::iter::repeat_n(Dim::known(1), n_after));
    let scale = builder.reshape(&scale, &per_channel)?;
    let bias = builder.reshape(&bias, &per_channel)?;
    let normal = builder.mul(&spread.around_mean, &spread.inverse_deviation)?;
    let scaled = builder.mul(&normal, &scale)?;
    let outputs = |idx: usize| node.output(idx).unwrap_or_default().to_owned();
    builder.push(Node::new("Add", &[scaled.name(), bias.name()], &[&outputs(0)]))?;

    if node.output(1).is_some() && node.output(2).is_some() {
        let momentum = node.float("momentum").unwrap_or(MOMENTUM);
        // The stored variance is the unbiased one: n / (n − 1) times that of the batch.
        let n = builder.ratio_of_sizes(&x, &spread.mean)?;
        let one = builder.scalar(1.0);
        let n_less = builder.sub(&n, &one)?;
        let n_less = builder.op("Max", &[&n_less, &one], vec![])?;
        let factor = builder.div(&n, &n_less)?;
        let unbiased = builder.mul(&spread.variance, &factor)?;
        for (idx, found) in [(1, spread.mean), (2, unbiased)] {
            let stored = value(builder, idx + 2)?;
            let found = builder.reshape_like(&found, &stored)?;
            let new = builder.scale(&found, 1.0 - momentum)?;
            let old = builder.scale(&stored, momentum)?;
            builder.push(Node::new("Add", &[new.name(), old.name()], &[&outputs(idx)]))?;
        }
    }
    Ok(())
}
