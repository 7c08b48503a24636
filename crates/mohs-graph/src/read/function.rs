//! Writing out local functions: a file may define operators of its own by other nodes.
//!
//! Each call is replaced by the function's nodes, with values renamed so that calls do not meet.
//! A function that calls itself, or grows beyond all bounds, is refused.

use std::collections::BTreeMap;

use super::{ReadError, damaged};
use crate::proto::{AttributeProto, FunctionProto, GraphProto, NodeProto};

/// Functions may call functions, this deep.
const MAX_DEPTH: usize = 16;
/// A file that unfolds to more nodes than this is not a network.
const MAX_NODES: usize = 1_000_000;

/// Replaces every call of a function by the function's nodes.
pub(super) fn write_out(
    graph: &mut GraphProto,
    functions: &[FunctionProto],
) -> Result<(), ReadError> {
    if functions.is_empty() {
        return Ok(());
    }
    let by_name: BTreeMap<(&str, &str), &FunctionProto> = functions
        .iter()
        .map(|function| ((function.domain.as_str(), function.name.as_str()), function))
        .collect();
    let mut n_calls = 0;
    for _ in 0..MAX_DEPTH {
        let has_calls = graph
            .node
            .iter()
            .any(|node| by_name.contains_key(&(node.domain.as_str(), node.op_type.as_str())));
        if !has_calls {
            return Ok(());
        }
        let mut nodes = Vec::with_capacity(graph.node.len());
        for node in std::mem::take(&mut graph.node) {
            match by_name.get(&(node.domain.as_str(), node.op_type.as_str())) {
                Some(function) => {
                    n_calls += 1;
                    nodes.extend(body_of(&node, function, n_calls));
                }
                None => nodes.push(node),
            }
            if MAX_NODES < nodes.len() {
                return Err(damaged(format!(
                    "its functions unfold to more than {MAX_NODES} nodes"
                )));
            }
        }
        graph.node = nodes;
    }
    Err(damaged(format!("its functions call each other more than {MAX_DEPTH} deep")))
}

/// The nodes of a function, with the values and settings of one call.
fn body_of(call: &NodeProto, function: &FunctionProto, call_idx: usize) -> Vec<NodeProto> {
    let mut names: BTreeMap<&str, String> = BTreeMap::new();
    for (idx, formal) in function.input.iter().enumerate() {
        names.insert(formal, call.input.get(idx).cloned().unwrap_or_default());
    }
    for (idx, formal) in function.output.iter().enumerate() {
        let actual = call.output.get(idx).filter(|name| !name.is_empty());
        names.insert(formal, actual.cloned().unwrap_or_else(|| format!("{formal}@{call_idx}")));
    }
    let renamed = |name: &String| match names.get(name.as_str()) {
        _ if name.is_empty() => String::new(),
        Some(actual) => actual.clone(),
        None => format!("{name}@{call_idx}"),
    };
    let nodes = function.node.iter().map(|node| NodeProto {
        name: format!("{}/{}", call.name, node.name),
        input: node.input.iter().map(renamed).collect(),
        output: node.output.iter().map(renamed).collect(),
        attribute: node
            .attribute
            .iter()
            .filter_map(|setting| setting_of(setting, call, function))
            .collect(),
        ..node.clone()
    });
    nodes.collect()
}

/// A setting of a node in a function, which may stand for a setting of the call.
fn setting_of(
    setting: &AttributeProto,
    call: &NodeProto,
    function: &FunctionProto,
) -> Option<AttributeProto> {
    if setting.ref_attr_name.is_empty() {
        return Some(setting.clone());
    }
    let wanted = |given: &&AttributeProto| given.name == setting.ref_attr_name;
    let given = call
        .attribute
        .iter()
        .find(wanted)
        .or_else(|| function.attribute_proto.iter().find(wanted))?;
    Some(AttributeProto { name: setting.name.clone(), ..given.clone() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(op: &str, domain: &str, input: &[&str], output: &[&str]) -> NodeProto {
        NodeProto {
            op_type: op.to_owned(),
            domain: domain.to_owned(),
            input: input.iter().map(|&name| name.to_owned()).collect(),
            output: output.iter().map(|&name| name.to_owned()).collect(),
            ..NodeProto::default()
        }
    }

    fn function(name: &str, node: Vec<NodeProto>) -> FunctionProto {
        FunctionProto {
            name: name.to_owned(),
            domain: "own".to_owned(),
            input: vec!["a".to_owned()],
            output: vec!["b".to_owned()],
            node,
            ..FunctionProto::default()
        }
    }

    #[test]
    fn two_calls_do_not_meet() {
        let twice = function(
            "Twice",
            vec![node("Neg", "", &["a"], &["t"]), node("Neg", "", &["t"], &["b"])],
        );
        let calls =
            vec![node("Twice", "own", &["x"], &["y"]), node("Twice", "own", &["y"], &["z"])];
        let mut graph = GraphProto { node: calls, ..GraphProto::default() };
        write_out(&mut graph, &[twice]).unwrap();
        let outputs: Vec<&str> = graph.node.iter().map(|node| node.output[0].as_str()).collect();
        assert_eq!(outputs, ["t@1", "y", "t@2", "z"]);
    }

    #[test]
    fn a_function_that_calls_itself_is_damage() {
        let endless = function("Endless", vec![node("Endless", "own", &["a"], &["b"])]);
        let mut graph = GraphProto {
            node: vec![node("Endless", "own", &["x"], &["y"])],
            ..GraphProto::default()
        };
        assert!(write_out(&mut graph, &[endless]).is_err());
    }
}
