//! The reference evaluator: runs a graph in 64-bit floats, slowly and obviously.
//!
//! Engines and gradients are judged by it. It has no opinions about speed: loops over indices, one
//! function per operator, and an error with the node's name for an operator it does not know.
//! Operators are in the form of the house dialect; loops, sequences and text are not known.

mod activation;
mod args;
mod array;
mod conv;
mod elementwise;
mod index;
mod matrix;
mod norm;
mod pool;
mod reduce;
mod resize;
mod shape;
mod window;

use std::collections::BTreeMap;
use std::rc::Rc;

use crate::graph::{Attribute, Graph, Node};
use crate::tensor::Tensor;

use args::{Args, Operator};
use array::{Array, Problem};

/// Branches inside branches are followed this deep.
const MAX_DEPTH: usize = 16;

/// A graph that could not be evaluated.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum EvalError {
    /// An input was not given.
    #[error("the input `{0}` was not given")]
    MissingInput(String),
    /// An output that nothing makes.
    #[error("nothing makes the output `{0}`")]
    MissingOutput(String),
    /// A value of a type that the evaluator does not look into.
    #[error("`{value}` should be numbers or truth values, found {found}")]
    Unreadable {
        /// The value.
        value: String,
        /// What its elements are.
        found: String,
    },
    /// An operator that the evaluator does not know.
    #[error("node `{node}`: the reference evaluator does not know the operator {op}")]
    UnknownOperator {
        /// The node's label.
        node: String,
        /// Its operator.
        op: String,
    },
    /// A node cannot work on what it is given.
    #[error("node `{node}` ({op}): {problem}")]
    BadNode {
        /// The node's label.
        node: String,
        /// Its operator.
        op: String,
        /// What is wrong, with expected and found.
        problem: String,
    },
}

/// Runs a graph; returns its outputs by name. Floats come back as `f64`, whatever the graph says,
/// and whole numbers as `i64`.
///
/// An input that is also a weight may be left out.
pub fn run(
    graph: &Graph,
    inputs: &BTreeMap<String, Tensor>,
) -> Result<BTreeMap<String, Tensor>, EvalError> {
    let mut scope = Scope { values: BTreeMap::new(), outer: None, depth: 0 };
    for port in &graph.inputs {
        if let Some(tensor) = inputs.get(&port.name) {
            scope.values.insert(port.name.clone(), Rc::new(readable(&port.name, tensor)?));
        } else if !graph.weights.contains_key(&port.name) {
            return Err(EvalError::MissingInput(port.name.clone()));
        }
    }
    let outputs = run_in(graph, scope)?;
    let named = graph.outputs.iter().map(|port| port.name.clone());
    Ok(named.zip(outputs.into_iter().map(unshared).map(Array::into_tensor)).collect())
}

/// Runs one node, which is what folding of constants needs.
///
/// An input that is left out is `None`. Floats come back as `f64` and whole numbers as `i64`,
/// whatever their width was. There may be fewer outputs than the node names, when the last ones are
/// optional and not made.
pub fn node(node: &Node, inputs: &[Option<Tensor>]) -> Result<Vec<Tensor>, EvalError> {
    let mut arrays = Vec::with_capacity(inputs.len());
    for (idx, tensor) in inputs.iter().enumerate() {
        let name = node.input(idx).unwrap_or("(input)");
        arrays.push(tensor.as_ref().map(|tensor| readable(name, tensor)).transpose()?);
    }
    let arrays: Vec<Option<&Array>> = arrays.iter().map(Option::as_ref).collect();
    let scope = Scope { values: BTreeMap::new(), outer: None, depth: 0 };
    let outputs = run_node(node, &arrays, &scope)?;
    Ok(outputs.into_iter().map(unshared).map(Array::into_tensor).collect())
}

/// Whether the evaluator knows an operator of the standard family.
pub fn is_known(op: &str) -> bool {
    op == "If" || operator(op).is_some()
}

/// The values that are known so far; a branch also sees those around it.
struct Scope<'a> {
    values: BTreeMap<String, Rc<Array>>,
    outer: Option<&'a Scope<'a>>,
    depth: usize,
}

impl Scope<'_> {
    /// Looks up a value here, then further out.
    fn get(&self, name: &str) -> Option<&Rc<Array>> {
        self.values.get(name).or_else(|| self.outer?.get(name))
    }
}

/// Runs the nodes of a graph whose inputs are in the scope; returns its outputs in order.
fn run_in(graph: &Graph, mut scope: Scope<'_>) -> Result<Vec<Rc<Array>>, EvalError> {
    let mut unreadable = BTreeMap::new();
    for (name, tensor) in &graph.weights {
        match readable(name, tensor) {
            Ok(array) => {
                scope.values.entry(name.clone()).or_insert_with(|| Rc::new(array));
            }
            // A weight that nothing uses may be anything.
            Err(error) => {
                unreadable.insert(name.as_str(), error);
            }
        }
    }
    let missing =
        |name: &str, otherwise: EvalError| unreadable.get(name).cloned().unwrap_or(otherwise);
    for node in &graph.nodes {
        let mut inputs = Vec::with_capacity(node.inputs.len());
        for name in &node.inputs {
            if name.is_empty() {
                inputs.push(None);
                continue;
            }
            let found = scope.get(name).ok_or_else(|| {
                missing(name, bad(node, format!("nothing before it makes the value `{name}`")))
            })?;
            inputs.push(Some(found.as_ref()));
        }
        let outputs = run_node(node, &inputs, &scope)?;
        let mut outputs = outputs.into_iter();
        for name in &node.outputs {
            let made = outputs.next();
            if name.is_empty() {
                continue;
            }
            let made = made.ok_or_else(|| {
                bad(node, format!("the evaluator does not make its output `{name}`"))
            })?;
            scope.values.insert(name.clone(), made);
        }
    }
    let outputs = graph.outputs.iter().map(|port| {
        let found = scope.get(&port.name).cloned();
        found.ok_or_else(|| missing(&port.name, EvalError::MissingOutput(port.name.clone())))
    });
    outputs.collect()
}

/// Runs one node on its inputs.
fn run_node(
    node: &Node,
    inputs: &[Option<&Array>],
    scope: &Scope<'_>,
) -> Result<Vec<Rc<Array>>, EvalError> {
    if !node.domain.is_empty() && node.domain != "ai.onnx" {
        return Err(unknown(node));
    }
    let args = Args { node, inputs };
    if node.op == "If" {
        let branch = branch(&args).map_err(|problem| bad(node, problem))?;
        if MAX_DEPTH <= scope.depth {
            return Err(bad(node, format!("branches should be at most {MAX_DEPTH} deep")));
        }
        let inner = Scope { values: BTreeMap::new(), outer: Some(scope), depth: scope.depth + 1 };
        return run_in(branch, inner);
    }
    let operator = operator(&node.op).ok_or_else(|| unknown(node))?;
    let outputs = operator(&args).map_err(|problem| bad(node, problem))?;
    Ok(outputs.into_iter().map(Rc::new).collect())
}

/// The branch of an `If` that its condition chooses.
fn branch<'a>(args: &Args<'a>) -> Result<&'a Graph, Problem> {
    let name = match args.bools(0)? {
        [true] => "then_branch",
        [false] => "else_branch",
        other => {
            return Err(format!("the condition should be one truth value, found {}", other.len()));
        }
    };
    match args.attribute(name) {
        Some(Attribute::Graph(graph)) => Ok(graph),
        _ => Err(format!("the setting `{name}` should be a graph")),
    }
}

/// Finds the function of an operator, family by family.
fn operator(op: &str) -> Option<Operator> {
    let families = [
        elementwise::operator,
        activation::operator,
        conv::operator,
        pool::operator,
        norm::operator,
        matrix::operator,
        reduce::operator,
        shape::operator,
        index::operator,
        resize::operator,
    ];
    families.iter().find_map(|family| family(op))
}

/// The numbers of a tensor, if they can be read.
fn readable(name: &str, tensor: &Tensor) -> Result<Array, EvalError> {
    Array::of_tensor(tensor).ok_or_else(|| EvalError::Unreadable {
        value: name.to_owned(),
        found: tensor.element_type().to_string(),
    })
}

/// An array that may be shared, as one's own.
fn unshared(array: Rc<Array>) -> Array {
    Rc::try_unwrap(array).unwrap_or_else(|shared| (*shared).clone())
}

/// Says which node has a problem.
fn bad(node: &Node, problem: Problem) -> EvalError {
    EvalError::BadNode { node: node.label().to_owned(), op: node.full_op(), problem }
}

/// Says which operator is not known.
fn unknown(node: &Node) -> EvalError {
    EvalError::UnknownOperator { node: node.label().to_owned(), op: node.full_op() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::Port;
    use crate::tensor::{Data, ElementType};

    fn floats(shape: &[usize], items: &[f64]) -> Option<Tensor> {
        Some(Tensor::f64(shape.to_vec(), items.to_vec()).unwrap())
    }

    fn ints(items: &[i64]) -> Option<Tensor> {
        Some(Tensor::list(items.to_vec()))
    }

    fn single(node_of: &Node, inputs: &[Option<Tensor>]) -> Vec<f64> {
        node(node_of, inputs).unwrap()[0].to_f64().unwrap()
    }

    fn problem(node_of: &Node, inputs: &[Option<Tensor>]) -> String {
        node(node_of, inputs).unwrap_err().to_string()
    }

    fn port(name: &str) -> Port {
        Port { name: name.to_owned(), element_type: ElementType::F32, shape: None }
    }

    #[test]
    fn a_network_runs_from_inputs_through_weights_to_outputs() {
        let graph = Graph {
            inputs: vec![port("x")],
            outputs: vec![port("y"), port("x")],
            nodes: vec![
                Node::new("MatMul", &["x", "w"], &["product"]),
                Node::new("Relu", &["product"], &["y"]),
            ],
            weights: [("w".to_owned(), Tensor::f32(vec![2, 1], vec![1.0, -2.0]).unwrap())].into(),
            ..Graph::default()
        };
        let x = Tensor::f32(vec![2, 2], vec![3.0, 1.0, 1.0, 3.0]).unwrap();
        let found = run(&graph, &[("x".to_owned(), x)].into()).unwrap();
        assert_eq!(found["y"], Tensor::f64(vec![2, 1], vec![1.0, 0.0]).unwrap());
        assert_eq!(found["x"].element_type(), ElementType::F64);
        let error = run(&graph, &BTreeMap::new()).unwrap_err();
        assert_eq!(error.to_string(), "the input `x` was not given");
    }

    #[test]
    fn a_branch_sees_the_values_around_it() {
        let branch = |op: &str| {
            let graph = Graph {
                outputs: vec![port("inner")],
                nodes: vec![Node::new(op, &["x", "x"], &["inner"])],
                ..Graph::default()
            };
            Attribute::Graph(Box::new(graph))
        };
        let choice = Node::new("If", &["is_positive"], &["y"])
            .with("then_branch", branch("Add"))
            .with("else_branch", branch("Mul"));
        let graph = Graph {
            inputs: vec![port("x")],
            outputs: vec![port("y")],
            nodes: vec![Node::new("Greater", &["x", "zero"], &["is_positive"]), choice],
            weights: [("zero".to_owned(), Tensor::scalar(0.0))].into(),
            ..Graph::default()
        };
        for (x, expected) in [(3.0, 6.0), (-3.0, 9.0)] {
            let found = run(&graph, &[("x".to_owned(), Tensor::scalar(x))].into()).unwrap();
            assert_eq!(found["y"], Tensor::f64(vec![], vec![expected]).unwrap());
        }
    }

    #[test]
    fn a_missing_value_and_an_unknown_operator_are_named() {
        let graph = Graph {
            outputs: vec![port("y")],
            nodes: vec![Node::new("Relu", &["nowhere"], &["y"])],
            ..Graph::default()
        };
        let error = run(&graph, &BTreeMap::new()).unwrap_err();
        assert!(error.to_string().contains("`nowhere`"), "{error}");
        let odd = Node::new("Loop", &[], &["y"]);
        assert!(matches!(node(&odd, &[]), Err(EvalError::UnknownOperator { .. })));
        let mut other_family = Node::new("Relu", &["x"], &["y"]);
        other_family.domain = "com.microsoft".to_owned();
        let found = node(&other_family, &[floats(&[1], &[1.0])]);
        assert!(matches!(found, Err(EvalError::UnknownOperator { .. })));
    }

    #[test]
    fn text_is_refused_only_where_it_is_used() {
        let text = Data::Other { onnx_type: 8, bytes: bytes::Bytes::new() };
        let graph = Graph {
            outputs: vec![port("w")],
            weights: [
                ("w".to_owned(), Tensor::scalar(1.0)),
                ("names".to_owned(), Tensor::new(vec![1], text).unwrap()),
            ]
            .into(),
            ..Graph::default()
        };
        assert!(run(&graph, &BTreeMap::new()).is_ok());
        let asks = Graph { outputs: vec![port("names")], ..graph };
        let error = run(&asks, &BTreeMap::new()).unwrap_err();
        assert_eq!(error.to_string(), "`names` should be numbers or truth values, found text");
    }

    #[test]
    fn a_ceil_mode_pool_counts_only_real_pixels() {
        let pool = |settings: &[(&str, i64)]| {
            let mut node = Node::new("AveragePool", &["x"], &["y"])
                .with("kernel_shape", Attribute::Ints(vec![2]))
                .with("strides", Attribute::Ints(vec![2]))
                .with("ceil_mode", Attribute::Int(1));
            for (name, value) in settings {
                node = node.with(name, Attribute::Int(*value));
            }
            single(&node, &[floats(&[1, 1, 3], &[1.0, 3.0, 5.0])])
        };
        assert_eq!(pool(&[]), [2.0, 5.0]);
        // What lies beyond the padding is no padding.
        assert_eq!(pool(&[("count_include_pad", 1)]), [2.0, 5.0]);
    }

    #[test]
    fn a_transposed_convolution_spreads_each_pixel() {
        let node = Node::new("ConvTranspose", &["x", "w"], &["y"])
            .with("strides", Attribute::Ints(vec![2]));
        let found = single(
            &node,
            &[floats(&[1, 1, 2], &[1.0, 10.0]), floats(&[1, 1, 3], &[1.0, 2.0, 3.0])],
        );
        assert_eq!(found, [1.0, 2.0, 13.0, 20.0, 30.0]);
    }

    #[test]
    fn an_einstein_sum_without_a_result_sorts_the_labels_that_occur_once() {
        let node = Node::new("Einsum", &["x", "y"], &["z"])
            .with("equation", Attribute::Text("ba, ca".to_owned()));
        let x = floats(&[2, 2], &[1.0, 2.0, 3.0, 4.0]);
        assert_eq!(single(&node, &[x, floats(&[1, 2], &[1.0, 10.0])]), [21.0, 43.0]);
    }

    #[test]
    fn the_error_function_is_exact() {
        let node = Node::new("Erf", &["x"], &["y"]);
        let found = single(&node, &[floats(&[4], &[0.5, -1.0, 3.0, 40.0])]);
        let known =
            [0.520_499_877_813_046_5, -0.842_700_792_949_714_9, 0.999_977_909_503_001_4, 1.0];
        for (found, known) in found.iter().zip(known) {
            assert!((found - known).abs() < 4.0 * f64::EPSILON, "{found} is not {known}");
        }
    }

    #[test]
    fn whole_numbers_divide_towards_zero_and_never_by_it() {
        let node_of = Node::new("Div", &["x", "y"], &["z"]);
        assert_eq!(single(&node_of, &[ints(&[7, -7]), ints(&[2, 2])]), [3.0, -3.0]);
        assert!(problem(&node_of, &[ints(&[1]), ints(&[0])]).contains("zero"));
        assert!(node(&node_of, &[ints(&[i64::MIN]), ints(&[-1])]).is_ok());
    }

    #[test]
    fn sizes_that_no_memory_holds_are_refused() {
        let huge = i64::MAX;
        let x = floats(&[1, 1, 2], &[1.0, 2.0]);
        let one = floats(&[1], &[1.0]);
        let cases: Vec<(Node, Vec<Option<Tensor>>)> = vec![
            (Node::new("ConstantOfShape", &["n"], &["y"]), vec![ints(&[huge, huge])]),
            (Node::new("ConstantOfShape", &["n"], &["y"]), vec![ints(&[1 << 20, 1 << 20])]),
            (Node::new("Expand", &["x", "n"], &["y"]), vec![one.clone(), ints(&[1 << 30, 4])]),
            (Node::new("Tile", &["x", "n"], &["y"]), vec![one.clone(), ints(&[huge])]),
            (Node::new("Pad", &["x", "n"], &["y"]), vec![one.clone(), ints(&[huge, huge])]),
            (
                Node::new("Range", &["a", "b", "c"], &["y"]),
                vec![ints(&[i64::MIN]), ints(&[huge]), ints(&[1])],
            ),
            (
                Node::new("Resize", &["x", "", "s"], &["y"]),
                vec![one.clone(), None, floats(&[1], &[1e30])],
            ),
            (
                Node::new("Conv", &["x", "w"], &["y"])
                    .with("pads", Attribute::Ints(vec![1 << 31, 1 << 31])),
                vec![x.clone(), floats(&[1, 1, 1], &[1.0])],
            ),
            (
                Node::new("ConvTranspose", &["x", "w"], &["y"])
                    .with("strides", Attribute::Ints(vec![1 << 31])),
                vec![x.clone(), floats(&[1, 1, 1], &[1.0])],
            ),
            (
                Node::new("MaxPool", &["x"], &["y"])
                    .with("kernel_shape", Attribute::Ints(vec![2]))
                    .with("dilations", Attribute::Ints(vec![huge])),
                vec![x.clone()],
            ),
            (Node::new("OneHot", &["i", "n", "v"], &["y"]), {
                vec![ints(&[0; 8]), ints(&[huge]), floats(&[2], &[0.0, 1.0])]
            }),
        ];
        for (node_of, inputs) in cases {
            let found = node(&node_of, &inputs);
            assert!(matches!(found, Err(EvalError::BadNode { .. })), "{} ran", node_of.op);
        }
    }

    #[test]
    fn settings_that_make_no_sense_are_refused_and_do_not_panic() {
        let x = || floats(&[2, 3], &[0.0; 6]);
        let cases: Vec<(Node, Vec<Option<Tensor>>)> = vec![
            (
                Node::new("Softmax", &["x"], &["y"]).with("axis", Attribute::Int(i64::MIN)),
                vec![x()],
            ),
            (Node::new("Flatten", &["x"], &["y"]).with("axis", Attribute::Int(-3)), vec![x()]),
            (Node::new("Concat", &[], &["y"]).with("axis", Attribute::Int(0)), vec![]),
            (Node::new("Reshape", &["x", "n"], &["y"]), vec![x(), ints(&[-1, -1])]),
            (Node::new("Reshape", &["x", "n"], &["y"]), vec![x(), ints(&[0, 0, 0])]),
            (Node::new("Gather", &["x", "i"], &["y"]), vec![x(), ints(&[2])]),
            (Node::new("GatherND", &["x", "i"], &["y"]), vec![x(), ints(&[0, 1, 2])]),
            (Node::new("Split", &["x"], &["y"]).with("num_outputs", Attribute::Int(-1)), vec![x()]),
            (Node::new("MatMul", &["x", "y"], &["z"]), vec![x(), x()]),
            (Node::new("Add", &["x", "y"], &["z"]), vec![x(), ints(&[1])]),
            (Node::new("Add", &["x", "y"], &["z"]), vec![x()]),
            (Node::new("Conv", &["x", "w"], &["y"]), vec![x(), x()]),
            (Node::new("TopK", &["x", "k"], &["y"]), vec![x(), ints(&[9])]),
            (Node::new("Slice", &["x", "a", "b"], &["y"]), vec![x(), ints(&[0]), ints(&[1, 2])]),
            (
                Node::new("Einsum", &["x"], &["y"])
                    .with("equation", Attribute::Text("é->".to_owned())),
                vec![x()],
            ),
            (Node::new("If", &["c"], &["y"]), vec![ints(&[1])]),
        ];
        for (node_of, inputs) in cases {
            let found = node(&node_of, &inputs);
            assert!(matches!(found, Err(EvalError::BadNode { .. })), "{} ran", node_of.op);
        }
    }

    #[test]
    fn an_empty_picture_goes_through() {
        let empty = || floats(&[0, 4, 3], &[]);
        for op in ["Relu", "Softmax", "ReduceSum", "Transpose", "GlobalAveragePool"] {
            assert!(node(&Node::new(op, &["x"], &["y"]), &[empty()]).is_ok(), "{op}");
        }
        let conv = Node::new("Conv", &["x", "w"], &["y"]);
        assert!(node(&conv, &[empty(), floats(&[2, 4, 1], &[0.0; 8])]).is_ok());
    }

    #[test]
    fn a_slice_goes_backwards_with_any_step() {
        let node_of = Node::new("Slice", &["x", "a", "b", "c", "d"], &["y"]);
        let x = || floats(&[4], &[0.0, 1.0, 2.0, 3.0]);
        let slice = |start, end, step| {
            single(&node_of, &[x(), ints(&[start]), ints(&[end]), ints(&[0]), ints(&[step])])
        };
        assert_eq!(slice(-1, i64::MIN, -1), [3.0, 2.0, 1.0, 0.0]);
        assert_eq!(slice(-1, 0, -2), [3.0, 1.0]);
        assert_eq!(slice(i64::MAX, i64::MIN, i64::MIN), [3.0]);
        assert_eq!(slice(i64::MIN, i64::MAX, i64::MAX), [0.0]);
    }
}
