//! What a training starts from: a network in training form, and which of its weights change.

use mohs_data::Seed;
use mohs_data::training::{NetworkEntry, NormMode};
use mohs_graph::cut::{self, HeadSpec};
use mohs_graph::train::BatchNorm;
use mohs_graph::{Graph, Tensor};

use super::FitError;
use super::chance::{Chance, Purpose};
use crate::network::{Batch, Network};
use crate::networks::Blueprint;

/// A network in training form: no weight is folded into another.
#[derive(Clone, Debug)]
pub struct Start {
    pub(super) graph: Graph,
    pub(super) weights: Vec<String>,
    pub(super) batch_norm: BatchNorm,
    pub(super) n_outputs: usize,
}

impl Start {
    /// A new network of a built-in architecture, with random weights.
    pub fn from_blueprint(
        blueprint: &Blueprint,
        entry: &NetworkEntry,
        seed: Seed,
    ) -> Result<Start, FitError> {
        let network = Network::from_graph(blueprint.build(seed)?);
        let batch_norm = batch_norm(entry.batch_norm, false);
        let n_outputs = blueprint.n_classes;
        let (graph, weights) = (network.unfolded()?, network.trainable()?);
        Ok(Start { graph, weights, batch_norm, n_outputs })
    }

    /// A network from a file. With `entry.new_head`, its classifier is replaced by a new one for
    /// `n_classes` classes.
    pub fn from_network(
        network: &Network,
        entry: &NetworkEntry,
        n_classes: usize,
        seed: Seed,
    ) -> Result<Start, FitError> {
        network.pictures()?;
        if let Batch::Fixed(n) = network.batch() {
            let unknown = || format!("it is {n}");
            let because = network.fixed_because().map_or_else(unknown, str::to_owned);
            return Err(FitError::FixedBatch { because });
        }
        let mut graph = network.unfolded()?;
        let mut weights = network.trainable()?;
        if entry.new_head {
            let headed = with_new_head(graph, n_classes, seed)?;
            weights.retain(|name| headed.graph.weights.contains_key(name));
            weights.extend([headed.weights, headed.bias]);
            graph = headed.graph;
        }
        let weights = chosen(weights, &entry.weights)?;
        let batch_norm = batch_norm(entry.batch_norm, !entry.weights.is_empty());
        let n_outputs = n_outputs(&graph).unwrap_or(0);
        Ok(Start { graph, weights, batch_norm, n_outputs })
    }

    /// How many numbers are trained.
    pub fn n_trained(&self) -> usize {
        let weights = self.weights.iter().filter_map(|name| self.graph.weights.get(name));
        weights.map(Tensor::len).sum()
    }
}

/// A few weights are usually trained on few pictures, too few for statistics.
fn batch_norm(asked: Option<NormMode>, trains_some: bool) -> BatchNorm {
    match asked {
        Some(NormMode::Live) => BatchNorm::Live,
        Some(NormMode::Frozen) => BatchNorm::Frozen,
        None if trains_some => BatchNorm::Frozen,
        None => BatchNorm::Live,
    }
}

/// The size of the second dimension of the first output.
fn n_outputs(graph: &Graph) -> Option<usize> {
    graph.outputs.first()?.shape.as_ref()?.get(1)?.as_size()
}

/// Replaces the classifier by one of small random weights.
fn with_new_head(graph: Graph, n_classes: usize, seed: Seed) -> Result<cut::Headed, FitError> {
    let spec = |n_features: usize| {
        let mut chance = Chance::new(seed, Purpose::Weights, &[1]);
        let mut numbers = chance.normals(n_classes * n_features);
        numbers.iter_mut().for_each(|number| *number *= 0.01);
        let tensor = |shape: Vec<usize>, numbers: Vec<f32>| {
            Tensor::f32(shape, numbers).expect("because the numbers fill the shape")
        };
        HeadSpec {
            n_classes,
            weights: tensor(vec![n_classes, n_features], numbers),
            bias: tensor(vec![n_classes], vec![0.0; n_classes]),
        }
    };
    // How many features there are is known to whoever finds the classifier.
    match cut::head(graph.clone(), spec(1)) {
        Err(cut::CutError::WrongShape { what: "weights", expected, .. }) => {
            let n_features = expected.get(1).copied().unwrap_or(1);
            Ok(cut::head(graph, spec(n_features))?)
        }
        other => Ok(other?),
    }
}

/// The weights whose names fit one of the patterns; all if there is none.
fn chosen(weights: Vec<String>, patterns: &[String]) -> Result<Vec<String>, FitError> {
    if patterns.is_empty() {
        return Ok(weights);
    }
    for pattern in patterns {
        if !weights.iter().any(|name| fits(pattern, name)) {
            let examples: Vec<&str> = weights.iter().rev().map(String::as_str).take(5).collect();
            let (pattern, examples) = (pattern.clone(), examples.join(", "));
            return Err(FitError::NoSuchWeight { pattern, examples });
        }
    }
    let is_chosen = |name: &String| patterns.iter().any(|pattern| fits(pattern, name));
    Ok(weights.into_iter().filter(is_chosen).collect())
}

/// Whether a name fits a pattern in which `*` stands for any part.
fn fits(pattern: &str, name: &str) -> bool {
    let Some((before, after)) = pattern.split_once('*') else { return pattern == name };
    let Some(rest) = name.strip_prefix(before) else { return false };
    (0..=rest.len()).filter(|&at| rest.is_char_boundary(at)).any(|at| fits(after, &rest[at..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_any_part_of_a_name() {
        for (pattern, name, expected) in [
            ("fc.weight", "fc.weight", true),
            ("fc.*", "fc.bias", true),
            ("*.bias", "layer4.1.bias", true),
            ("layer4.*.weight", "layer4.1.conv1.weight", true),
            ("layer4.*.weight", "layer4.1.conv1.bias", false),
            ("*", "", true),
            ("fc", "fc.weight", false),
        ] {
            assert_eq!(fits(pattern, name), expected, "{pattern} {name}");
        }
    }
}
