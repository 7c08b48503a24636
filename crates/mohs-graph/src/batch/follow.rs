//! Following the batch through a graph, node by node.
//!
//! A value that depends on the picture carries the batch in one dimension, whose index counts
//! `(outer, picture, inner)`: `8 × batch` may be eight windows of each picture, or eight times all
//! pictures. Each operator either keeps that or stops the walk. What is laid out anew keeps rows
//! apart if as many elements stand before the batch as before. Where a `Reshape` leaves a choice,
//! the first that lets the walk go on is taken.

use std::collections::BTreeMap;

use super::first_picture;
use crate::dim::{self, Dim};
use crate::graph::{Attribute, Graph, Node};
use crate::infer::scope::resolve_axis;
use crate::infer::{self, Facts, InferError};
use crate::rewrite::Rewriter;
use crate::tensor::Tensor;

/// Why the batch of a network stays as it is.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("the batch stays fixed at node `{node}` ({op}): {why}")]
pub struct Fixed {
    /// The node's label; empty if no node is to blame.
    pub node: String,
    /// Its operator.
    pub op: String,
    /// What stands in the way.
    pub why: String,
}

/// How a value depends on the batch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    /// Not at all.
    Still,
    /// Its rows along a dimension belong to pictures.
    Rows(Place),
    /// It counts: a shape, or a number made from one.
    Count,
}

/// Where a value carries the batch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Place {
    /// The dimension.
    axis: usize,
    /// How often all pictures follow each other in it.
    outer: i64,
}

impl Place {
    /// A dimension whose rows belong to the first picture, then to the second, and so on.
    fn first(axis: usize) -> Place {
        Place { axis, outer: 1 }
    }

    /// The same order of rows in another dimension.
    fn at(self, axis: usize) -> State {
        State::Rows(Place { axis, ..self })
    }
}

/// Choices are tried up to this many times.
const MAX_TRIES: usize = 2_000;
/// A wrong choice shows within this many others; older ones are not taken back.
const MAX_REGRETS: usize = 5;

/// The name of the freed dimension, unless it is taken.
const BATCH: &str = "batch";

/// Frees the batch of a graph.
pub(super) fn freed(graph: Graph) -> Result<Graph, Fixed> {
    let mut choices: Vec<Choice> = Vec::new();
    let mut first_error = None;
    let mut n_furthest = 0;
    for _ in 0..MAX_TRIES {
        let error = match freed_by(graph.clone(), &mut choices) {
            Ok(graph) => return Ok(graph),
            Err(error) => error,
        };
        first_error.get_or_insert(error);
        n_furthest = n_furthest.max(choices.len());
        // The last choice that leaves another is made anew; what came after it is forgotten.
        while choices.last().is_some_and(|choice| choice.n_options <= choice.taken + 1) {
            choices.pop();
        }
        match choices.last_mut() {
            Some(choice) => choice.taken += 1,
            None => break,
        }
        if choices.len() + MAX_REGRETS < n_furthest {
            break;
        }
    }
    Err(first_error.unwrap_or_else(|| Fixed {
        node: String::new(),
        op: String::new(),
        why: "no way was tried".to_owned(),
    }))
}

/// A `Reshape` that can carry the batch in more than one place.
struct Choice {
    taken: usize,
    n_options: usize,
}

fn freed_by(mut graph: Graph, choices: &mut Vec<Choice>) -> Result<Graph, Fixed> {
    let at_large =
        |why: &str| Fixed { node: String::new(), op: String::new(), why: why.to_owned() };
    let Some(port) = first_picture(&graph) else {
        return Err(at_large("no input has floating-point numbers"));
    };
    let name = port.name.clone();
    if port.shape.as_ref().and_then(|shape| shape.first()?.as_known()) != Some(1) {
        return Err(at_large("the first dimension of the input is not 1"));
    }
    let before = infer::facts(&graph).map_err(|error| at_large(&error.to_string()))?;
    let symbol = unused_symbol(&graph);
    for port in &mut graph.inputs {
        if port.name == name
            && let Some(first) = port.shape.as_mut().and_then(|shape| shape.first_mut())
        {
            *first = Dim::symbol(&symbol);
        }
    }
    // What the file says about values holds for a batch of 1.
    graph.notes.clear();
    for port in &mut graph.outputs {
        port.shape = None;
    }
    let (out, nodes) = Rewriter::new(graph);
    let states = out.facts.keys().map(|name| (name.clone(), State::Still)).collect();
    let mut walk = Walk {
        out,
        before,
        states,
        symbol,
        input: name.clone(),
        choices,
        n_chosen: 0,
        counted: None,
    };
    walk.states.insert(name, State::Rows(Place::first(0)));
    for node in nodes {
        let label = (node.label().to_owned(), node.full_op());
        walk.step(node).map_err(|why| Fixed { node: label.0, op: label.1, why })?;
    }
    for port in &walk.out.graph.outputs {
        let is_first = walk.states.get(&port.name) == Some(&State::Rows(Place::first(0)));
        let first = walk.out.shape(&port.name).and_then(<[Dim]>::first);
        if !is_first || first != Some(&Dim::symbol(&walk.symbol)) {
            return Err(at_large(&format!(
                "the output `{}` does not begin with the batch",
                port.name
            )));
        }
    }
    Ok(walk.out.finish())
}

fn unused_symbol(graph: &Graph) -> String {
    let mut symbol = BATCH.to_owned();
    let dims: Vec<&Dim> =
        graph.inputs.iter().flat_map(|port| port.shape.iter().flatten()).collect();
    while dims.iter().any(|dim| dim.symbols().contains(&symbol)) {
        symbol.push('_');
    }
    symbol
}

/// The state of the walk.
struct Walk<'a> {
    out: Rewriter,
    /// What was known with a batch of 1.
    before: Facts,
    states: BTreeMap<String, State>,
    symbol: String,
    input: String,
    choices: &'a mut Vec<Choice>,
    n_chosen: usize,
    /// The value that holds the batch size when the network runs.
    counted: Option<String>,
}

/// The result of a step, or why it cannot be made.
type Step<T> = Result<T, String>;

fn told(error: InferError) -> String {
    error.to_string()
}

impl Walk<'_> {
    /// The shape of an input as it is now.
    fn shape(&self, node: &Node, idx: usize) -> Step<&[Dim]> {
        let name = node.input(idx).ok_or_else(|| format!("input {idx} is missing"))?;
        self.out.shape(name).ok_or_else(|| format!("the shape of `{name}` is not known"))
    }

    fn rank(&self, node: &Node, idx: usize) -> Step<usize> {
        self.shape(node, idx).map(<[Dim]>::len)
    }

    /// An axis among the settings, as a position.
    fn axis(&self, node: &Node, default: i64, rank: usize) -> Step<usize> {
        let axis = node.int("axis").unwrap_or(default);
        resolve_axis(axis, rank).ok_or_else(|| format!("axis {axis} of {rank} dimensions"))
    }

    fn numbers(&self, node: &Node, idx: usize) -> Option<Vec<i64>> {
        self.out.numbers(node.input(idx)?)
    }

    /// Takes one node over, changed where it has to be.
    fn step(&mut self, mut node: Node) -> Step<()> {
        let states: Vec<State> = node
            .inputs
            .iter()
            .map(|name| self.states.get(name).copied().unwrap_or(State::Still))
            .collect();
        if node.attributes.values().any(|value| matches!(value, Attribute::Graph(_))) {
            return Err("a branch or loop may do anything with the batch".to_owned());
        }
        let state = if states.iter().all(|&state| state == State::Still) {
            if node.is_random() {
                return Err("all pictures of a batch would get the same random numbers".to_owned());
            }
            State::Still
        } else {
            self.follow(&mut node, &states)?
        };
        let outputs = node.outputs.clone();
        self.out.push(node).map_err(told)?;
        for name in outputs.iter().filter(|name| !name.is_empty()) {
            self.check(name, state)?;
            self.states.insert(name.clone(), state);
        }
        Ok(())
    }

    /// Refuses a value that is not, for a batch of 1, what it was before.
    fn check(&self, name: &str, state: State) -> Step<()> {
        let (Some(now), Some(before)) = (self.out.facts.get(name), self.before.get(name)) else {
            return Err(format!("nothing is known about `{name}`"));
        };
        let (Some(shape), Some(shape_before)) = (&now.shape, &before.shape) else {
            return if state == State::Still {
                Ok(())
            } else {
                Err(format!("the shape of `{name}` is not known"))
            };
        };
        let one = |dims: &[Dim]| -> Option<Vec<Dim>> {
            dims.iter().map(|dim| dim.with_symbol(&self.symbol, 1)).collect()
        };
        let carries = |dim: &Dim| dim.symbols().contains(&self.symbol);
        if one(shape).as_ref() != Some(shape_before) {
            return Err(format!(
                "`{name}` would be {} instead of {}",
                dim::describe(shape),
                dim::describe(shape_before)
            ));
        }
        let axes: Vec<usize> = (0..shape.len()).filter(|&axis| carries(&shape[axis])).collect();
        let is_right = match state {
            State::Rows(place) => axes == [place.axis],
            State::Still | State::Count => axes.is_empty(),
        };
        if is_right { Ok(()) } else { Err(format!("`{name}` would be {}", dim::describe(shape))) }
    }

    /// Finds out where a node's result carries the batch; changes the node where it has to.
    fn follow(&mut self, node: &mut Node, states: &[State]) -> Step<State> {
        if !matches!(node.domain.as_str(), "" | "ai.onnx") {
            return Err("what this operator does with the batch is not known".to_owned());
        }
        let first = states.first().copied().unwrap_or(State::Still);
        let op = node.op.clone();
        match (op.as_str(), first) {
            ("Shape" | "Size", _) => return self.count(node),
            ("Reshape", State::Rows(place)) => return self.reshape(node, place),
            ("Expand", _) if states.get(1) != Some(&State::Still) => {
                return self.expand_to_count(node, first);
            }
            ("Expand", State::Rows(place)) => return self.expand(node, place),
            ("Tile", State::Still) | ("ConstantOfShape", State::Count) => {
                return self.made_by_count(node);
            }
            ("Resize", State::Rows(place)) if place.axis == 0 => return self.resize(node, place),
            ("Slice", State::Rows(place)) => return self.slice(node, place),
            _ => {}
        }
        if states.contains(&State::Count) {
            return self.count(node);
        }
        let elsewhere = states.iter().skip(1).any(|&state| state != State::Still);
        match op.as_str() {
            "Concat" => self.concat(node, states),
            "MatMul" => self.matmul(node, states),
            "Einsum" => self.einsum(node, states),
            "GatherElements" | "PRelu" | "Add" | "Sub" | "Mul" | "Div" | "Pow" | "Mod" | "Min"
            | "Max" | "Sum" | "Mean" | "Equal" | "Greater" | "Less" | "GreaterOrEqual"
            | "LessOrEqual" | "And" | "Or" | "Xor" | "Where" => self.side_by_side(node, states),
            _ if elsewhere => Err("more than its first input depends on the picture".to_owned()),
            _ => match first {
                State::Rows(place) => self.follow_first(node, place),
                _ => Err("its first input does not depend on the picture".to_owned()),
            },
        }
    }

    /// Operators of which only the first input depends on the picture.
    fn follow_first(&self, node: &mut Node, place: Place) -> Step<State> {
        let axis = place.axis;
        let rank = self.rank(node, 0)?;
        let apart = |other: usize| {
            if other == axis {
                Err("it works along the dimension of the batch".to_owned())
            } else {
                Ok(())
            }
        };
        match node.op.as_str() {
            "Identity" | "Neg" | "Abs" | "Sqrt" | "Reciprocal" | "Exp" | "Log" | "Erf" | "Sign"
            | "Floor" | "Ceil" | "Round" | "Sin" | "Cos" | "Tan" | "Asin" | "Acos" | "Atan"
            | "Sinh" | "Cosh" | "Tanh" | "Relu" | "LeakyRelu" | "Elu" | "Selu" | "Celu"
            | "ThresholdedRelu" | "Clip" | "Sigmoid" | "HardSigmoid" | "HardSwish" | "Gelu"
            | "Softplus" | "Softsign" | "Mish" | "Cast" | "Not" | "IsNaN" | "IsInf" | "Dropout"
            | "RandomNormalLike" | "RandomUniformLike" | "Bernoulli" => Ok(place.at(axis)),
            "Conv"
            | "ConvTranspose"
            | "MaxPool"
            | "AveragePool"
            | "GlobalAveragePool"
            | "GlobalMaxPool"
            | "InstanceNormalization"
            | "LRN"
            | "DepthToSpace"
            | "SpaceToDepth"
            | "BatchNormalization" => {
                if node.int("training_mode").unwrap_or(0) != 0 {
                    return Err("it takes statistics over the batch".to_owned());
                }
                whole_pictures(node, place)
            }
            "Gemm" => {
                // The bias may not stand beside the rows of one batch.
                let is_turned = node.int("transA").unwrap_or(0) != 0;
                let is_flat = node.input(2).is_none()
                    || self.shape(node, 2).is_ok_and(|shape| match shape {
                        [rows, _] => rows.is_one(),
                        _ => true,
                    });
                if axis == usize::from(is_turned) && is_flat {
                    Ok(place.at(0))
                } else {
                    Err("it sums over the batch, or adds another number to each row".to_owned())
                }
            }
            "Softmax" | "LogSoftmax" | "Hardmax" | "LpNormalization" => {
                apart(self.axis(node, -1, rank)?)?;
                Ok(place.at(axis))
            }
            "CumSum" => {
                let along = self.numbers(node, 1);
                let along = along.as_deref().and_then(|list| resolve_axis(*list.first()?, rank));
                apart(along.ok_or("its axis is not known")?)?;
                Ok(place.at(axis))
            }
            "LayerNormalization" if axis < self.axis(node, -1, rank)? => Ok(place.at(axis)),
            "LayerNormalization" => Err("it normalises over the batch".to_owned()),
            "Split" | "TopK" => {
                let default = if node.op == "Split" { 0 } else { -1 };
                apart(self.axis(node, default, rank)?)?;
                Ok(place.at(axis))
            }
            "ArgMax" | "ArgMin" => {
                let gone = self.axis(node, 0, rank)?;
                apart(gone)?;
                let keep = node.int("keepdims").unwrap_or(1) != 0;
                Ok(place.at(if keep || axis < gone { axis } else { axis - 1 }))
            }
            "Transpose" => {
                let order = node.ints("perm").map(<[i64]>::to_vec);
                let order = order.unwrap_or_else(|| {
                    (0..).take(rank).collect::<Vec<i64>>().into_iter().rev().collect()
                });
                let to = order.iter().position(|&from| usize::try_from(from) == Ok(axis));
                to.map(|to| place.at(to)).ok_or_else(|| "the order leaves out the batch".to_owned())
            }
            "Flatten" => self.flatten(node, place, rank),
            "Squeeze" | "Unsqueeze" => self.ones(node, place, rank),
            "Gather" => {
                let along = self.axis(node, 0, rank)?;
                apart(along)?;
                let n_indexed = self.rank(node, 1)?;
                Ok(place.at(if axis < along { axis } else { axis + n_indexed - 1 }))
            }
            "Pad" => {
                let pads = self.numbers(node, 1).filter(|pads| pads.len() == 2 * rank);
                match pads {
                    Some(pads) if pads[axis] == 0 && pads[axis + rank] == 0 => Ok(place.at(axis)),
                    _ => Err("it may pad the batch".to_owned()),
                }
            }
            "Tile" => match self.numbers(node, 1) {
                Some(repeats) if repeats.get(axis) == Some(&1) => Ok(place.at(axis)),
                _ => Err("it may repeat the batch".to_owned()),
            },
            op if op.starts_with("Reduce") => self.reduce(node, place, rank),
            _ => Err("what this operator does with the batch is not known".to_owned()),
        }
    }

    fn reduce(&self, node: &Node, place: Place, rank: usize) -> Step<State> {
        let axis = place.axis;
        let keep = node.int("keepdims").unwrap_or(1) != 0;
        let axes = match node.input(1) {
            Some(_) => self.numbers(node, 1),
            None => node.ints("axes").map(<[i64]>::to_vec).or(Some(vec![])),
        };
        let axes = axes.ok_or("its axes are not known")?;
        if axes.is_empty() {
            return if node.int("noop_with_empty_axes").unwrap_or(0) != 0 {
                Ok(place.at(axis))
            } else {
                Err("it reduces over the batch".to_owned())
            };
        }
        let axes: Option<Vec<usize>> = axes.iter().map(|&axis| resolve_axis(axis, rank)).collect();
        let axes = axes.ok_or("its axes do not fit")?;
        if axes.contains(&axis) {
            return Err("it reduces over the batch".to_owned());
        }
        let n_gone = axes.iter().filter(|&&gone| !keep && gone < axis).count();
        Ok(place.at(axis - n_gone))
    }

    /// `Squeeze` and `Unsqueeze`.
    fn ones(&self, node: &Node, place: Place, rank: usize) -> Step<State> {
        let axis = place.axis;
        let axes = self.numbers(node, 1);
        if node.op == "Unsqueeze" {
            let axes = axes.ok_or("its axes are not known")?;
            let new: Option<Vec<usize>> =
                axes.iter().map(|&new| resolve_axis(new, rank + axes.len())).collect();
            let new = new.ok_or("its axes do not fit")?;
            let mut old = (0..rank + axes.len()).filter(|place| !new.contains(place));
            return old
                .nth(axis)
                .map(|axis| place.at(axis))
                .ok_or_else(|| "its axes do not fit".to_owned());
        }
        let gone: Vec<usize> = match (node.input(1), axes) {
            (Some(_), Some(axes)) => {
                let gone: Option<Vec<usize>> =
                    axes.iter().map(|&axis| resolve_axis(axis, rank)).collect();
                gone.ok_or("its axes do not fit")?
            }
            (Some(_), None) => return Err("its axes are not known".to_owned()),
            (None, _) => {
                let shape = self.shape(node, 0)?;
                (0..rank).filter(|&axis| shape[axis].is_one()).collect()
            }
        };
        if gone.contains(&axis) {
            return Err("it takes away the dimension of the batch".to_owned());
        }
        Ok(place.at(axis - gone.iter().filter(|&&gone| gone < axis).count()))
    }

    /// How many elements stand before the batch, for each picture.
    fn n_before(&self, node: &Node, place: Place) -> Step<i64> {
        let before = dim::product(&self.shape(node, 0)?[..place.axis]);
        let before = before.and_then(|before| before.times(&Dim::known(place.outer)));
        let before = before.and_then(|before| before.as_known());
        before.ok_or_else(|| "the sizes of its input are not known".to_owned())
    }

    fn flatten(&self, node: &Node, place: Place, rank: usize) -> Step<State> {
        let n_before = self.n_before(node, place)?;
        let cut = node.int("axis").unwrap_or(1);
        let cut = usize::try_from(if cut < 0 { cut + dim::whole(rank) } else { cut });
        let cut = cut.ok().filter(|&cut| cut <= rank).ok_or("its axis does not fit")?;
        if place.axis < cut {
            return Ok(State::Rows(Place { axis: 0, outer: n_before }));
        }
        let lead = dim::product(&self.shape(node, 0)?[..cut]).and_then(|lead| lead.as_known());
        let lead = lead.filter(|&lead| 0 < lead).ok_or("the sizes of its input are not known")?;
        Ok(State::Rows(Place { axis: 1, outer: n_before / lead }))
    }

    fn reshape(&mut self, node: &mut Node, place: Place) -> Step<State> {
        let found = infer::node_facts(node, &self.out.facts).ok();
        let found = found.and_then(|facts| facts.into_iter().next()?.shape);
        let before = node.output(0).and_then(|name| self.before.get(name)?.shape.clone());
        let sizes: Option<Vec<i64>> =
            before.as_ref().and_then(|shape| shape.iter().map(Dim::as_known).collect());
        let Some(mut sizes) = sizes else {
            // Sizes of the picture that are open do not matter behind a batch that comes first.
            let first = self.shape(node, 0)?.first();
            let is_first =
                place == Place::first(0) && found.is_some_and(|shape| shape.first() == first);
            return if is_first {
                Ok(State::Rows(place))
            } else {
                Err("the sizes it makes are not known".to_owned())
            };
        };
        if sizes.contains(&0) {
            return Err("it makes a value without elements".to_owned());
        }
        let options = layouts(&sizes, self.n_before(node, place)?);
        let chosen = match options.len() {
            0 => return Err("it mixes the rows of the batch".to_owned()),
            1 => options[0],
            n_options => {
                if self.choices.len() <= self.n_chosen {
                    self.choices.push(Choice { taken: 0, n_options });
                }
                let taken = self.choices[self.n_chosen].taken;
                self.n_chosen += 1;
                options[taken.min(n_options - 1)]
            }
        };
        // As it stands, the target may carry the batch already.
        let carries = |dim: &Dim| dim.symbols().contains(&self.symbol);
        if found.is_none_or(|shape| shape.iter().position(carries) != Some(chosen.axis)) {
            sizes[chosen.axis] = -1;
            let target = self.out.list(&sizes);
            node.inputs[1] = target;
            node.attributes.remove("allowzero");
        }
        Ok(State::Rows(chosen))
    }

    /// `Expand` of rows to a fixed shape: the size of the batch is left as it is.
    fn expand(&mut self, node: &mut Node, place: Place) -> Step<State> {
        let rank = self.rank(node, 0)?;
        let mut target = self.numbers(node, 1).ok_or("the shape it makes is not known")?;
        let wide = target.len().max(rank);
        let axis = place.axis + wide - rank;
        if let Some(idx) = (axis + target.len()).checked_sub(wide) {
            target[idx] = 1;
            let list = self.out.list(&target);
            node.inputs[1] = list;
        }
        Ok(place.at(axis))
    }

    /// `Expand` to a shape that counts the batch.
    fn expand_to_count(&mut self, node: &Node, first: State) -> Step<State> {
        let shape = self.inferred(node)?;
        let place = shape.iter().position(|dim| dim.symbols().contains(&self.symbol));
        let place = place.ok_or("the shape it makes is not known")?;
        match first {
            State::Rows(rows) => {
                let rank = self.rank(node, 0)?;
                Ok(rows.at(rows.axis + shape.len() - rank))
            }
            State::Still => {
                // A constant of that size would be cut into pictures.
                let of_x = self.shape(node, 0)?;
                let is_new = match (place + of_x.len()).checked_sub(shape.len()) {
                    Some(axis) => of_x[axis].is_one(),
                    None => true,
                };
                if is_new {
                    Ok(State::Rows(Place::first(place)))
                } else {
                    Err("it repeats a constant".to_owned())
                }
            }
            State::Count => Err("it repeats a count".to_owned()),
        }
    }

    fn inferred(&self, node: &Node) -> Step<Vec<Dim>> {
        let facts = infer::node_facts(node, &self.out.facts).map_err(told)?;
        let shape = facts.into_iter().next().and_then(|fact| fact.shape);
        shape.ok_or_else(|| "the shape it makes is not known".to_owned())
    }

    /// A constant once per picture, or one number, in a shape that counts the batch.
    fn made_by_count(&self, node: &Node) -> Step<State> {
        let shape = self.inferred(node)?;
        let place = shape.iter().position(|dim| dim.symbols().contains(&self.symbol));
        place
            .map(|axis| State::Rows(Place::first(axis)))
            .ok_or_else(|| "the shape it makes is not known".to_owned())
    }

    /// Whole numbers made from shapes, as far as inference can follow them.
    fn count(&self, node: &Node) -> Step<State> {
        let facts = infer::node_facts(node, &self.out.facts).map_err(told)?;
        let Some(facts) = facts.into_iter().map(|fact| fact.value).collect::<Option<Vec<_>>>()
        else {
            return Err("it computes with the size of the batch".to_owned());
        };
        let counts = facts.iter().flatten().any(|dim| !dim.symbols().is_empty());
        Ok(if counts { State::Count } else { State::Still })
    }

    fn slice(&self, node: &Node, place: Place) -> Step<State> {
        let axis = place.axis;
        let rank = self.rank(node, 0)?;
        let axes: Option<Vec<i64>> = match node.input(3) {
            Some(_) => self.numbers(node, 3),
            None => Some((0..).take(rank).collect()),
        };
        let axes = axes.ok_or("its axes are not known")?;
        let is_cut = axes.iter().any(|&cut| resolve_axis(cut, rank) == Some(axis));
        let steps = self.numbers(node, 4);
        let is_onward = node.input(4).is_none()
            || steps.is_some_and(|steps| steps.iter().all(|&step| step == 1));
        let is_whole =
            is_onward && self.inferred(node)?.get(axis) == self.shape(node, 0)?.get(axis);
        if !is_cut || is_whole {
            Ok(State::Rows(place))
        } else {
            Err("it cuts the batch".to_owned())
        }
    }

    fn resize(&mut self, node: &mut Node, place: Place) -> Step<State> {
        let names_all = node.ints("axes").is_none();
        let Some(sizes) = node.input(3).filter(|_| names_all) else {
            return Ok(State::Rows(place));
        };
        if self.states.get(sizes) == Some(&State::Count) {
            return Ok(State::Rows(place));
        }
        let sizes = self.out.numbers(sizes).ok_or("the sizes it makes are not known")?;
        if sizes.first() != Some(&1) {
            return Err("the batch is folded into its first dimension".to_owned());
        }
        let count = self.batch_count()?;
        let rest = self.out.list(sizes.get(1..).unwrap_or(&[]));
        let axis = vec![("axis", Attribute::Int(0))];
        let sizes = self.out.op("sizes", "Concat", &[&count, &rest], axis).map_err(told)?;
        self.states.insert(sizes.clone(), State::Count);
        node.inputs[3] = sizes;
        Ok(State::Rows(place))
    }

    /// The value that holds the size of the batch, as a list of one number.
    fn batch_count(&mut self) -> Step<String> {
        if let Some(name) = &self.counted {
            return Ok(name.clone());
        }
        let settings = vec![("start", Attribute::Int(0)), ("end", Attribute::Int(1))];
        let input = self.input.clone();
        let name = self.out.op("batch_size", "Shape", &[&input], settings).map_err(told)?;
        self.states.insert(name.clone(), State::Count);
        self.counted = Some(name.clone());
        Ok(name)
    }

    fn concat(&mut self, node: &mut Node, states: &[State]) -> Step<State> {
        let places: Vec<Place> = states
            .iter()
            .filter_map(|state| match state {
                State::Rows(place) => Some(*place),
                _ => None,
            })
            .collect();
        let (Some(&place), true) =
            (places.first(), places.windows(2).all(|pair| pair[0] == pair[1]))
        else {
            return Err("its parts carry the batch in different places".to_owned());
        };
        let rank = self.rank(node, 0)?;
        if self.axis(node, 0, rank)? == place.axis {
            return Err("it joins along the batch".to_owned());
        }
        for (idx, &state) in states.iter().enumerate() {
            if state == State::Still && node.input(idx).is_some() {
                let repeated = self.repeated(&node.inputs[idx].clone(), place, rank)?;
                node.inputs[idx] = repeated;
            }
        }
        Ok(State::Rows(place))
    }

    /// A constant once for every picture of the batch.
    fn repeated(&mut self, name: &str, place: Place, rank: usize) -> Step<String> {
        let axis = place.axis;
        let count = self.batch_count()?;
        let ones = |n: usize| Tensor::list(vec![1; n]);
        let size = self.out.shape(name).and_then(|shape| shape.get(axis)).cloned();
        let op = match size {
            Some(size) if size.is_one() => "Expand",
            Some(_) if place.outer == 1 => "Tile",
            Some(_) => return Err("a constant stands beside the batch".to_owned()),
            None => return Err(format!("the shape of `{name}` is not known")),
        };
        let mut parts = Vec::new();
        if 0 < axis {
            parts.push(self.out.weight("ones", ones(axis)));
        }
        parts.push(count);
        if axis + 1 < rank {
            parts.push(self.out.weight("ones", ones(rank - axis - 1)));
        }
        let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
        let along = vec![("axis", Attribute::Int(0))];
        let target = self.out.op("target", "Concat", &parts, along).map_err(told)?;
        self.states.insert(target.clone(), State::Count);
        let like = format!("{name}.repeated");
        let repeated = self.out.op(&like, op, &[name, &target], vec![]).map_err(told)?;
        self.states.insert(repeated.clone(), State::Rows(place));
        Ok(repeated)
    }

    /// Operators that work on elements in the same place.
    fn side_by_side(&self, node: &Node, states: &[State]) -> Step<State> {
        let ranks: Vec<usize> =
            (0..states.len()).map(|idx| self.rank(node, idx)).collect::<Step<_>>()?;
        let rank = ranks.iter().copied().max().unwrap_or(0);
        let mut place = None;
        for (state, &own) in states.iter().zip(&ranks) {
            if let State::Rows(rows) = state {
                let here = Place { axis: rows.axis + rank - own, ..*rows };
                if place.is_some_and(|place| place != here) {
                    return Err("its inputs carry the batch in different places".to_owned());
                }
                place = Some(here);
            }
        }
        let place = place.ok_or("no input carries the batch")?;
        for (idx, (state, &own)) in states.iter().zip(&ranks).enumerate() {
            let axis = (place.axis + own).checked_sub(rank);
            if let (State::Still, Some(axis)) = (state, axis)
                && !self.shape(node, idx)?[axis].is_one()
            {
                return Err("a constant stands beside the batch".to_owned());
            }
        }
        if node.op == "GatherElements" {
            let along = self.axis(node, 0, rank)?;
            if along == place.axis || states.contains(&State::Still) {
                return Err("it gathers along the batch, or from a constant".to_owned());
            }
        }
        Ok(State::Rows(place))
    }

    fn matmul(&self, node: &Node, states: &[State]) -> Step<State> {
        let (left, right) = (self.rank(node, 0)?, self.rank(node, 1)?);
        if left < 2 || right < 2 {
            return Err("it multiplies a single vector".to_owned());
        }
        let rank = left.max(right);
        let summed = || Err("it sums over the batch".to_owned());
        let place_of = |state: State, own: usize, is_left: bool| match state {
            State::Rows(rows) => {
                let axis = match own - rows.axis {
                    1 if !is_left => rank - 1,
                    2 if is_left => rank - 2,
                    1 | 2 => return summed(),
                    _ => rows.axis + rank - own,
                };
                Ok(Some(Place { axis, ..rows }))
            }
            _ => Ok(None),
        };
        let state = |idx: usize| states.get(idx).copied().unwrap_or(State::Still);
        let places = (place_of(state(0), left, true)?, place_of(state(1), right, false)?);
        let place = match places {
            (Some(left), Some(right)) if left == right && left.axis + 2 < rank => left,
            (Some(_), Some(_)) => {
                return Err("its inputs carry the batch in different places".to_owned());
            }
            (Some(place), None) | (None, Some(place)) => place,
            (None, None) => return Err("no input carries the batch".to_owned()),
        };
        // A constant beside a batch of matrices has to be one matrix, or one per window.
        let other = if places.0.is_none() { (0, left) } else { (1, right) };
        if (places.0.is_none() || places.1.is_none())
            && place.axis + 2 < rank
            && let Some(axis) = (place.axis + other.1).checked_sub(rank)
            && !self.shape(node, other.0)?[axis].is_one()
        {
            return Err("a constant stands beside the batch".to_owned());
        }
        Ok(State::Rows(place))
    }

    fn einsum(&self, node: &Node, states: &[State]) -> Step<State> {
        let equation: String =
            node.text("equation").unwrap_or_default().split_whitespace().collect();
        let (terms, result) = equation.split_once("->").ok_or("the equation names no result")?;
        if equation.contains('.') {
            return Err("the equation leaves dimensions unnamed".to_owned());
        }
        let mut letter = None;
        for (term, state) in terms.split(',').zip(states) {
            if let State::Rows(rows) = state {
                let here = term.chars().nth(rows.axis).map(|letter| (letter, rows.outer));
                if letter.is_some() && letter != here {
                    return Err("its inputs carry the batch in different places".to_owned());
                }
                letter = here;
            }
        }
        let (letter, outer) = letter.ok_or("no input carries the batch")?;
        for (term, state) in terms.split(',').zip(states) {
            let n_times = term.matches(letter).count();
            if n_times != usize::from(*state != State::Still) {
                return Err("a constant stands beside the batch".to_owned());
            }
        }
        let place = result.chars().position(|other| other == letter);
        place
            .map(|axis| State::Rows(Place { axis, outer }))
            .ok_or_else(|| "it sums over the batch".to_owned())
    }
}

/// Operators on pictures take the batch in their first dimension.
fn whole_pictures(node: &Node, place: Place) -> Step<State> {
    if place.axis != 0 {
        return Err("the batch is not its first dimension".to_owned());
    }
    if node.op == "MaxPool" && node.output(1).is_some() {
        return Err("its indices count over the whole batch".to_owned());
    }
    Ok(State::Rows(place))
}

/// The places in a new shape in which the batch can stand with as many elements before it.
///
/// Best first: a dimension of its own, then the first part of one, then somewhere inside one.
fn layouts(sizes: &[i64], n_before: i64) -> Vec<Place> {
    let mut own = Vec::new();
    let mut leading = Vec::new();
    let mut inside = Vec::new();
    let mut product = 1_i64;
    if n_before < 1 {
        return Vec::new();
    }
    for (axis, &size) in sizes.iter().enumerate() {
        if product == n_before {
            if size == 1 { &mut own } else { &mut leading }.push(Place::first(axis));
        } else if 0 < product && n_before % product == 0 && size % (n_before / product) == 0 {
            inside.push(Place { axis, outer: n_before / product });
        }
        product = product.saturating_mul(size);
    }
    [own, leading, inside].concat()
}
