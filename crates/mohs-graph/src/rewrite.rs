//! Writing a graph anew, node by node, with what is known about each value at hand.
//!
//! Transformations take the nodes out of a graph, decide about each, and push what should stand in
//! its place. Names of values that already exist are never taken by new ones.

use std::collections::{BTreeMap, BTreeSet};

use crate::dim::Dim;
use crate::graph::{Attribute, Graph, Node, Port};
use crate::infer::{self, Fact, Facts, InferError};
use crate::tensor::{ElementType, Tensor};

/// A graph whose nodes are being written anew.
#[derive(Debug)]
pub(crate) struct Rewriter {
    /// The graph so far; weights and ports are all there.
    pub(crate) graph: Graph,
    /// What is known about the values so far.
    pub(crate) facts: Facts,
    taken: BTreeSet<String>,
    node_names: BTreeSet<String>,
    notes: BTreeMap<String, Port>,
    noted: BTreeSet<String>,
    lists: BTreeMap<Vec<i64>, String>,
    maker: BTreeMap<String, usize>,
    n_made: usize,
}

impl Rewriter {
    /// Takes the nodes out of a graph.
    pub(crate) fn new(mut graph: Graph) -> (Rewriter, Vec<Node>) {
        let nodes = std::mem::take(&mut graph.nodes);
        let facts = infer::start(&graph);
        let mut taken: BTreeSet<String> = facts.keys().cloned().collect();
        for node in &nodes {
            taken.extend(node.outputs.iter().filter(|name| !name.is_empty()).cloned());
        }
        let mut notes = graph.notes.clone();
        notes.extend(graph.outputs.iter().map(|port| (port.name.clone(), port.clone())));
        let rewriter = Rewriter {
            graph,
            facts,
            taken,
            node_names: BTreeSet::new(),
            notes,
            noted: BTreeSet::new(),
            lists: BTreeMap::new(),
            maker: BTreeMap::new(),
            n_made: 0,
        };
        (rewriter, nodes)
    }

    /// Ends the work: outputs get the shapes that were found, and notes stay where nothing else
    /// says what they say.
    pub(crate) fn finish(mut self) -> Graph {
        let noted = &self.noted;
        self.graph.notes.retain(|name, _| noted.contains(name));
        for port in &mut self.graph.outputs {
            if let Some(fact) = self.facts.get(&port.name) {
                if fact.element_type != ElementType::UNKNOWN {
                    port.element_type = fact.element_type;
                }
                if let Some(shape) = &fact.shape {
                    port.shape = Some(shape.clone());
                }
            }
        }
        self.graph
    }

    /// A name like this one that nothing has yet, and takes it.
    pub(crate) fn fresh(&mut self, like: &str) -> String {
        let mut candidate = like.to_owned();
        while candidate.is_empty() || !self.taken.insert(candidate.clone()) {
            self.n_made += 1;
            candidate = format!("{like}_{}", self.n_made);
        }
        candidate
    }

    /// Appends a node and finds out what is known about what it makes.
    pub(crate) fn push(&mut self, mut node: Node) -> Result<(), InferError> {
        let found = infer::node_facts(&node, &self.facts)?;
        for (name, fact) in node.outputs.iter().zip(found) {
            if !name.is_empty() {
                let completed = match self.notes.get(name) {
                    Some(note) => infer::completed(fact.clone(), note),
                    None => fact.clone(),
                };
                if completed != fact {
                    self.noted.insert(name.clone());
                }
                self.facts.insert(name.clone(), completed);
            }
        }
        let mut name = node.name.clone();
        if name.is_empty() {
            name = format!("{}_{}", node.op, node.label());
        }
        let mut unique = name.clone();
        while !self.node_names.insert(unique.clone()) {
            self.n_made += 1;
            unique = format!("{name}_{}", self.n_made);
        }
        node.name = unique;
        for name in node.outputs.iter().filter(|name| !name.is_empty()) {
            self.maker.insert(name.clone(), self.graph.nodes.len());
        }
        self.graph.nodes.push(node);
        Ok(())
    }

    /// Appends a node that makes one new value with a name like this one.
    pub(crate) fn op(
        &mut self,
        like: &str,
        op: &str,
        inputs: &[&str],
        attributes: Vec<(&str, Attribute)>,
    ) -> Result<String, InferError> {
        let name = self.fresh(like);
        let mut node = Node::new(op, inputs, &[&name]);
        for (setting, value) in attributes {
            node = node.with(setting, value);
        }
        self.push(node)?;
        Ok(name)
    }

    /// Adds a constant under a name like this one.
    pub(crate) fn weight(&mut self, like: &str, tensor: Tensor) -> String {
        let name = self.fresh(like);
        self.insert_weight(name.clone(), tensor);
        name
    }

    /// Adds a constant under a name that is known to be free or the constant's own.
    pub(crate) fn insert_weight(&mut self, name: String, tensor: Tensor) {
        self.facts.insert(name.clone(), Fact::of_tensor(&tensor));
        self.taken.insert(name.clone());
        self.graph.weights.insert(name, tensor);
    }

    /// A constant list of whole numbers; equal lists are stored once.
    pub(crate) fn list(&mut self, numbers: &[i64]) -> String {
        if let Some(name) = self.lists.get(numbers) {
            return name.clone();
        }
        let name = self.weight("list", Tensor::list(numbers.to_vec()));
        self.lists.insert(numbers.to_vec(), name.clone());
        name
    }

    /// A constant number of the type that a value has.
    pub(crate) fn scalar_like(&mut self, value: &str, number: f64) -> String {
        let element_type = self.facts.get(value).map(|fact| fact.element_type);
        #[expect(clippy::cast_possible_truncation, reason = "rounded to the type of the value")]
        let tensor = match element_type {
            Some(ElementType::F64) => Tensor::f64(vec![], vec![number])
                .expect("because one number fills a tensor without dimensions"),
            _ => Tensor::scalar(number as f32),
        };
        self.weight("scalar", tensor)
    }

    /// The node that makes a value, if one does and it has been written.
    pub(crate) fn maker_of(&self, value: &str) -> Option<&Node> {
        self.graph.nodes.get(*self.maker.get(value)?)
    }

    /// The shape of a value, if known.
    pub(crate) fn shape(&self, value: &str) -> Option<&[Dim]> {
        self.facts.get(value).and_then(|fact| fact.shape.as_deref())
    }

    /// The contents of a value, if all are known whole numbers.
    pub(crate) fn numbers(&self, value: &str) -> Option<Vec<i64>> {
        let value = self.facts.get(value)?.value.as_ref()?;
        value.iter().map(Dim::as_known).collect()
    }

    /// The name of a value that holds the shape of another: a constant with at most one -1 where
    /// that says it all, else what a `Shape` finds when the network runs.
    pub(crate) fn target_shape(&mut self, like: &str) -> Result<String, InferError> {
        let numbers = self.shape(like).and_then(as_target);
        match numbers {
            Some(numbers) => Ok(self.list(&numbers)),
            None => self.op("shape", "Shape", &[like], vec![]),
        }
    }
}

/// A shape as the constant of a `Reshape`, if at most one dimension depends on symbols.
pub(crate) fn as_target(shape: &[Dim]) -> Option<Vec<i64>> {
    let numbers: Vec<i64> = shape.iter().map(|dim| dim.as_known().unwrap_or(-1)).collect();
    let n_open = numbers.iter().filter(|&&number| number < 0).count();
    // A dimension of size 0 would be read as "copy", and leaves -1 without an answer.
    (n_open <= 1 && !numbers.contains(&0)).then_some(numbers)
}

/// Replaces names of values in a node, also where networks inside it use values from outside.
pub(crate) fn rename_inputs(node: &mut Node, names: &BTreeMap<String, String>) {
    for input in &mut node.inputs {
        if let Some(name) = names.get(input) {
            input.clone_from(name);
        }
    }
    for attribute in node.attributes.values_mut() {
        if let Attribute::Graph(graph) = attribute {
            // Names made inside hide those outside.
            let mut outer = names.clone();
            for made in graph.value_names() {
                outer.remove(made);
            }
            for node in &mut graph.nodes {
                rename_inputs(node, &outer);
            }
            for port in &mut graph.outputs {
                if let Some(name) = outer.get(&port.name) {
                    port.name.clone_from(name);
                }
            }
        }
    }
}

/// Names of values from outside that a node uses: its inputs and what networks inside it capture.
pub(crate) fn uses(node: &Node) -> BTreeSet<&str> {
    let mut found: BTreeSet<&str> =
        node.inputs.iter().map(String::as_str).filter(|name| !name.is_empty()).collect();
    for attribute in node.attributes.values() {
        if let Attribute::Graph(graph) = attribute {
            let made = graph.value_names();
            for inner in &graph.nodes {
                found.extend(uses(inner).into_iter().filter(|name| !made.contains(name)));
            }
            let outputs = graph.outputs.iter().map(|port| port.name.as_str());
            found.extend(outputs.filter(|name| !made.contains(name)));
        }
    }
    found
}
