//! Putting nodes in an order in which they can run, and finding out when there is none.

use std::collections::{BTreeMap, BTreeSet};

use super::{ReadError, damaged};
use crate::graph::{Attribute, Graph, Node};

/// Sorts the nodes so that each stands after those it depends on; nodes in order stay in order.
pub(super) fn sort_nodes(graph: &mut Graph) -> Result<(), ReadError> {
    let mut maker_of: BTreeMap<&str, usize> = BTreeMap::new();
    let mut given: BTreeSet<&str> = graph.weights.keys().map(String::as_str).collect();
    given.extend(graph.inputs.iter().map(|port| port.name.as_str()));
    for (idx, node) in graph.nodes.iter().enumerate() {
        for name in node.outputs.iter().filter(|name| !name.is_empty()) {
            if given.contains(name.as_str()) || maker_of.insert(name, idx).is_some() {
                return Err(damaged(format!("the value `{name}` is made twice")));
            }
        }
    }

    let mut n_open = vec![0_usize; graph.nodes.len()];
    let mut users_of: Vec<Vec<usize>> = vec![Vec::new(); graph.nodes.len()];
    for (idx, node) in graph.nodes.iter().enumerate() {
        for name in used_by(node) {
            if let Some(&maker) = maker_of.get(name) {
                users_of[maker].push(idx);
                n_open[idx] += 1;
            } else if !given.contains(name) && node.inputs.iter().any(|input| input == name) {
                return Err(damaged(format!(
                    "node `{}` ({}) uses the value `{name}`, which nothing makes",
                    node.label(),
                    node.full_op()
                )));
            }
        }
    }

    let mut ready: BTreeSet<usize> =
        (0..graph.nodes.len()).filter(|&idx| n_open[idx] == 0).collect();
    let mut order = Vec::with_capacity(graph.nodes.len());
    while let Some(idx) = ready.pop_first() {
        order.push(idx);
        for &user in &users_of[idx] {
            n_open[user] -= 1;
            if n_open[user] == 0 {
                ready.insert(user);
            }
        }
    }
    if let Some(stuck) = n_open.iter().position(|&n| n != 0) {
        let label = graph.nodes[stuck].label();
        return Err(damaged(format!("the nodes `{label}` and others use each other in a circle")));
    }

    let mut nodes: Vec<Option<Node>> =
        std::mem::take(&mut graph.nodes).into_iter().map(Some).collect();
    graph.nodes = order.into_iter().filter_map(|idx| nodes[idx].take()).collect();
    Ok(())
}

/// Names of the values a node uses, those that networks inside it take from outside included.
fn used_by(node: &Node) -> BTreeSet<&str> {
    let mut used: BTreeSet<&str> =
        node.inputs.iter().map(String::as_str).filter(|name| !name.is_empty()).collect();
    for attribute in node.attributes.values() {
        if let Attribute::Graph(inner) = attribute {
            let own = inner.value_names();
            let outside = inner.nodes.iter().flat_map(used_by).filter(|name| !own.contains(name));
            used.extend(outside);
            used.extend(
                inner
                    .outputs
                    .iter()
                    .map(|port| port.name.as_str())
                    .filter(|name| !own.contains(name)),
            );
        }
    }
    used
}
