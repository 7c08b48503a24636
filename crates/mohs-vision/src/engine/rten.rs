//! rten: an engine in Rust, part of this program and always there.
//!
//! rten knows neither 64-bit whole numbers nor truth values nor 64-bit floats; they go in as 32-bit
//! numbers, checked for their range, and come out as the network says they are. It may panic on a
//! network that contradicts itself, which here becomes an error like any other.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use mohs_graph::{Attribute, Data, ElementType, Graph, Node, Port, Tensor, infer};
use rten::{Model, ModelOptions, NodeId, RunOptions, ThreadPool, Value, ValueOrView, ValueView};
use rten_tensor::prelude::*;

use super::{EngineError, Run, odd_output};

/// The engine's name, as people type it.
pub(super) const NAME: &str = "rten";

/// The engine's version.
pub(super) const VERSION: &str = "0.27.0";

/// rten follows chains of nodes by recursion; longer ones could exhaust the stack.
const MAX_NODES: usize = 8_000;

/// A network opened in rten.
#[derive(Debug)]
pub(super) struct Opened {
    model: Model,
    output_ids: Vec<NodeId>,
    threads: Arc<ThreadPool>,
}

/// Writes out what rten does not take for granted; `None` if there is nothing of the kind.
///
/// A convolution may leave its strides, dilations and pads away. rten then counts the dimensions of
/// `kernel_shape`, which may be left away as well.
pub(super) fn lowered(graph: &Graph) -> Option<Graph> {
    if !graph.nodes.iter().any(|node| !left_away(node).is_empty()) {
        return None;
    }
    let facts = infer::facts(graph).unwrap_or_default();
    let mut lowered = graph.clone();
    for node in &mut lowered.nodes {
        let shape_of = |idx| facts.get(node.input(idx)?)?.shape.as_ref();
        let ranks = (0..2).filter_map(|idx| shape_of(idx).map(Vec::len));
        let Some(n_dims) = ranks.max().and_then(|rank| rank.checked_sub(2)) else { continue };
        for name in left_away(node) {
            let usual = if name == "pads" { vec![0; 2 * n_dims] } else { vec![1; n_dims] };
            node.attributes.insert(name.to_owned(), Attribute::Ints(usual));
        }
    }
    Some(lowered)
}

/// Settings of a convolution that are not written out.
fn left_away(node: &Node) -> Vec<&'static str> {
    if !matches!(node.op.as_str(), "Conv" | "ConvTranspose") {
        return Vec::new();
    }
    let pads_itself = node.text("auto_pad").is_some_and(|how| how != "NOTSET");
    let wanted: &[&str] =
        if pads_itself { &["strides", "dilations"] } else { &["strides", "dilations", "pads"] };
    wanted.iter().copied().filter(|name| node.ints(name).is_none()).collect()
}

/// Opens the bytes of an ONNX file that holds this network.
pub(super) fn open(bytes: Vec<u8>, graph: &Graph, n_threads: usize) -> Result<Opened, EngineError> {
    let (inputs, outputs) = (&graph.inputs, &graph.outputs);
    let cannot_load = |problem: String| EngineError::CannotLoad { engine: NAME, problem };
    if let Some(port) = inputs.iter().chain(outputs).find(|port| !is_known(port.element_type)) {
        let problem = format!("it does not know the type {} of `{}`", port.element_type, port.name);
        return Err(cannot_load(problem));
    }
    if MAX_NODES < graph.nodes.len() {
        return Err(cannot_load(format!(
            "it takes networks of up to {MAX_NODES} nodes, found {}",
            graph.nodes.len()
        )));
    }
    let threads = Arc::new(ThreadPool::with_num_threads(n_threads));
    let model =
        quietly(|| threads.run(|| ModelOptions::with_all_ops().prepack_weights(true).load(bytes)))
            .map_err(cannot_load)?
            .map_err(|error| cannot_load(error.to_string()))?;
    let mut output_ids = Vec::with_capacity(outputs.len());
    for port in outputs {
        let id = model.node_id(&port.name);
        output_ids.push(id.map_err(|error| cannot_load(error.to_string()))?);
    }
    Ok(Opened { model, output_ids, threads })
}

fn is_known(element_type: ElementType) -> bool {
    !matches!(element_type, ElementType::Other(_))
}

/// Turns a panic into its message.
fn quietly<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
        format!("it broke off: {}", text.unwrap_or("no reason given"))
    })
}

fn failed(problem: String) -> EngineError {
    EngineError::Failed { engine: NAME, problem }
}

impl Run for Opened {
    fn run(
        &mut self,
        inputs: &[(&str, &Tensor)],
        outputs: &[Port],
        // rten hands its own memory over: there is nothing to save.
        _earlier: Vec<Tensor>,
    ) -> Result<Vec<Tensor>, EngineError> {
        let mut values = Vec::with_capacity(inputs.len());
        for (name, tensor) in inputs {
            // An input that nothing uses may have been optimised away.
            if let Some(id) = self.model.find_node(name) {
                values.push((id, input(name, tensor)?));
            }
        }
        let options = RunOptions::default().with_thread_pool(Some(Arc::clone(&self.threads)));
        let answers = quietly(|| self.model.run(values, &self.output_ids, Some(options)))
            .map_err(failed)?
            .map_err(|error| failed(error.to_string()))?;
        outputs.iter().zip(answers).map(|(port, answer)| output(port, answer)).collect()
    }
}

/// A view of a tensor, or a copy in 32 bits where rten has no wider type.
fn input<'a>(name: &str, tensor: &'a Tensor) -> Result<ValueOrView<'a>, EngineError> {
    let shape = tensor.shape();
    let (view, owned) = match tensor.data() {
        Data::F32(values) => (Some(ValueView::from_shape(shape, values).map_err(text)), None),
        Data::I32(values) => (Some(ValueView::from_shape(shape, values).map_err(text)), None),
        Data::I8(values) => (Some(ValueView::from_shape(shape, values).map_err(text)), None),
        Data::U8(values) => (Some(ValueView::from_shape(shape, values).map_err(text)), None),
        #[expect(clippy::cast_possible_truncation, reason = "rounding is what rten computes with")]
        Data::F64(values) => {
            let narrow: Vec<f32> = values.iter().map(|&value| value as f32).collect();
            (None, Some(Value::from_shape(shape, narrow).map_err(text)))
        }
        Data::I64(values) => {
            let narrow: Result<Vec<i32>, _> = values.iter().map(|&v| i32::try_from(v)).collect();
            let narrow = narrow.map_err(|_| EngineError::WrongInput {
                name: name.to_owned(),
                expected: "whole numbers of at most 32 bits for the engine rten".to_owned(),
                found: "larger ones".to_owned(),
            })?;
            (None, Some(Value::from_shape(shape, narrow).map_err(text)))
        }
        Data::Bool(values) => {
            let narrow: Vec<i32> = values.iter().map(|&value| i32::from(value)).collect();
            (None, Some(Value::from_shape(shape, narrow).map_err(text)))
        }
        Data::Other { .. } => {
            return Err(EngineError::WrongInput {
                name: name.to_owned(),
                expected: "of a type that can be handed over".to_owned(),
                found: tensor.element_type().to_string(),
            });
        }
    };
    match (view, owned) {
        (Some(view), _) => view.map(ValueOrView::View).map_err(failed),
        (None, Some(owned)) => owned.map(ValueOrView::Value).map_err(failed),
        (None, None) => Err(failed("an input without numbers".to_owned())),
    }
}

fn text(error: impl std::error::Error) -> String {
    error.to_string()
}

/// Gives an answer the type that the network says it has.
fn output(port: &Port, value: Value) -> Result<Tensor, EngineError> {
    let (shape, data) = match (port.element_type, value) {
        (ElementType::F64, Value::FloatTensor(tensor)) => {
            let shape = tensor.shape().to_vec();
            let wide = tensor.into_data().into_iter().map(f64::from).collect();
            (shape, Data::F64(Arc::new(wide)))
        }
        (_, Value::FloatTensor(tensor)) => {
            (tensor.shape().to_vec(), Data::F32(Arc::new(tensor.into_data())))
        }
        (ElementType::I64, Value::Int32Tensor(tensor)) => {
            let shape = tensor.shape().to_vec();
            let wide = tensor.into_data().into_iter().map(i64::from).collect();
            (shape, Data::I64(Arc::new(wide)))
        }
        (ElementType::Bool, Value::Int32Tensor(tensor)) => {
            let shape = tensor.shape().to_vec();
            let flags = tensor.into_data().into_iter().map(|value| value != 0).collect();
            (shape, Data::Bool(Arc::new(flags)))
        }
        (_, Value::Int32Tensor(tensor)) => {
            (tensor.shape().to_vec(), Data::I32(Arc::new(tensor.into_data())))
        }
        (_, Value::Int8Tensor(tensor)) => {
            (tensor.shape().to_vec(), Data::I8(Arc::new(tensor.into_data())))
        }
        (_, Value::UInt8Tensor(tensor)) => {
            (tensor.shape().to_vec(), Data::U8(Arc::new(tensor.into_data())))
        }
        _ => return Err(odd_output(NAME, port, "something that is no tensor")),
    };
    let tensor =
        Tensor::new(shape, data).map_err(|error| odd_output(NAME, port, &error.to_string()))?;
    if tensor.element_type() == port.element_type {
        return Ok(tensor);
    }
    Err(odd_output(NAME, port, &tensor.element_type().to_string()))
}
