//! Checkpoints: all that a training needs to go on, in one file.
//!
//! The file is an ONNX file without operations: its tensors are the weights, the statistics and
//! what the optimiser remembers, its metadata the rest. Random numbers need no state, because their
//! streams are keyed by seed, epoch and stimulus. A checkpoint of another training is refused.

use std::collections::BTreeMap;

use mohs_graph::build::OPSET;
use mohs_graph::{Graph, Tensor, read, write};
use serde::{Deserialize, Serialize};

use super::FitError;
use super::optimiser::Memory;

/// Where a training stands after an epoch.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Checkpoint {
    pub(crate) facts: Facts,
    /// Weights and statistics by name.
    pub(crate) values: BTreeMap<String, Tensor>,
    /// The same after the best epoch, if it was another.
    pub(crate) best: BTreeMap<String, Tensor>,
    pub(crate) memory: Memory,
}

/// What is known beside the tensors.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Facts {
    /// Which training it is.
    pub(crate) fingerprint: String,
    /// Epochs that are done.
    pub(crate) n_epochs: u32,
    /// The best epoch and what it reached: smaller is better.
    pub(crate) best: Option<(u32, f64)>,
    /// What the caller wants to find again.
    pub(crate) note: String,
}

const FACTS: &str = "mohs.training";
const STEPS: &str = "mohs.steps";

impl Checkpoint {
    /// Writes the checkpoint.
    pub(crate) fn to_bytes(&self) -> Result<Vec<u8>, FitError> {
        let facts = serde_json::to_string(&self.facts)
            .map_err(|error| FitError::Checkpoint { problem: error.to_string() })?;
        let metadata = BTreeMap::from([
            (FACTS.to_owned(), facts),
            (STEPS.to_owned(), self.memory.n_steps.to_string()),
        ]);
        let mut weights = BTreeMap::new();
        for (kind, values) in [("value", &self.values), ("best", &self.best)] {
            for (name, tensor) in values {
                weights.insert(format!("{kind}:{name}"), tensor.clone());
            }
        }
        for (kind, lists) in [("first", &self.memory.first), ("second", &self.memory.second)] {
            for (idx, list) in lists.iter().enumerate() {
                let tensor = Tensor::f32(vec![list.len()], list.clone())
                    .expect("because a list has its own length");
                weights.insert(format!("{kind}:{idx:06}"), tensor);
            }
        }
        let graph = Graph {
            name: "checkpoint".to_owned(),
            opset: OPSET,
            weights,
            metadata,
            ..Graph::default()
        };
        Ok(write::to_bytes(&graph)?)
    }

    /// Reads a checkpoint.
    pub(crate) fn parse(bytes: Vec<u8>) -> Result<Checkpoint, FitError> {
        let broken = |problem: &str| FitError::Checkpoint { problem: problem.to_owned() };
        let graph = read::parse(bytes.into())
            .map_err(|error| FitError::Checkpoint { problem: error.to_string() })?;
        let fact = |key: &str| graph.metadata.get(key).ok_or_else(|| broken("it has no facts"));
        let facts: Facts = serde_json::from_str(fact(FACTS)?)
            .map_err(|error| FitError::Checkpoint { problem: error.to_string() })?;
        let n_steps = fact(STEPS)?.parse().map_err(|_| broken("its steps are no number"))?;
        let (mut values, mut best) = (BTreeMap::new(), BTreeMap::new());
        let mut memory = Memory { n_steps, ..Memory::default() };
        // Names are sorted, so lists come in their order.
        for (name, tensor) in graph.weights {
            let numbers = || tensor.as_f32().unwrap_or_default().to_vec();
            match name.split_once(':') {
                Some(("first", _)) => memory.first.push(numbers()),
                Some(("second", _)) => memory.second.push(numbers()),
                Some(("value", name)) => drop(values.insert(name.to_owned(), tensor)),
                Some(("best", name)) => drop(best.insert(name.to_owned(), tensor)),
                _ => return Err(broken("it holds a tensor that nobody wrote")),
            }
        }
        Ok(Checkpoint { facts, values, best, memory })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_checkpoint_comes_back_as_it_was_written() {
        let tensor = |number: f32| Tensor::f32(vec![2], vec![number, -0.0]).unwrap();
        let checkpoint = Checkpoint {
            facts: Facts {
                fingerprint: "f".to_owned(),
                n_epochs: 3,
                best: Some((2, 0.1 + 0.2)),
                note: "a \"note\"\n".to_owned(),
            },
            values: BTreeMap::from([
                ("a:b".to_owned(), tensor(1.0)),
                ("c".to_owned(), tensor(2.0)),
            ]),
            best: BTreeMap::from([("c".to_owned(), tensor(3.0))]),
            memory: Memory {
                n_steps: 12,
                first: (0..11_u8).map(|n| vec![f32::from(n)]).collect(),
                second: Vec::new(),
            },
        };
        let bytes = checkpoint.to_bytes().unwrap();
        assert_eq!(Checkpoint::parse(bytes).unwrap(), checkpoint);
    }

    #[test]
    fn what_is_no_checkpoint_is_refused() {
        for bytes in [b"no checkpoint".to_vec(), Vec::new()] {
            let error = Checkpoint::parse(bytes).unwrap_err();
            assert!(matches!(error, FitError::Checkpoint { .. }), "{error}");
        }
        let other = write::to_bytes(&Graph { opset: OPSET, ..Graph::default() }).unwrap();
        assert!(matches!(Checkpoint::parse(other), Err(FitError::Checkpoint { .. })));
    }
}
