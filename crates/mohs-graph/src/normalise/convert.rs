//! One node of any version in the house dialect.
//!
//! A function per operator, or per group of operators that changed in the same way.

use super::{NormaliseError, no_form, rare};
use crate::dim::Dim;
use crate::graph::{Attribute, Node};
use crate::infer::InferError;
use crate::infer::scope::resolve_axis;
use crate::infer::spatial::{Window, automatic_pads};
use crate::rewrite::Rewriter;
use crate::tensor::{Data, ElementType, Tensor};

type Done = Result<(), NormaliseError>;

/// Pushes what stands for a node in the house dialect.
pub(super) fn node(out: &mut Rewriter, mut node: Node, opset: i64) -> Done {
    if !matches!(node.domain.as_str(), "" | "ai.onnx") {
        return Ok(out.push(node)?);
    }
    if rare::written_out(out, &node)? {
        return Ok(());
    }
    match node.op.as_str() {
        "Constant" => return constant(out, node),
        "Dropout" => return dropout(out, node),
        "Softmax" | "LogSoftmax" | "Hardmax" => return softmax(out, node, opset),
        "Squeeze" | "Unsqueeze" | "ReduceSum" | "ReduceMean" | "ReduceMax" | "ReduceMin"
        | "ReduceProd" | "ReduceL1" | "ReduceL2" | "ReduceLogSum" | "ReduceLogSumExp"
        | "ReduceSumSquare" => list_to_input(out, &mut node, "axes", 1),
        "Split" => split(out, &mut node),
        "Slice" => {
            list_to_input(out, &mut node, "starts", 1);
            list_to_input(out, &mut node, "ends", 2);
            list_to_input(out, &mut node, "axes", 3);
        }
        "Clip" => {
            float_to_input(out, &mut node, "min", 1);
            float_to_input(out, &mut node, "max", 2);
        }
        "TopK" => {
            if let Some(Attribute::Int(k)) = node.attributes.remove("k") {
                let list = out.list(&[k]);
                set_input(&mut node, 1, list);
            }
        }
        "Pad" => pad(out, &mut node),
        "Upsample" | "Resize" => resize(out, &mut node, opset)?,
        "Scatter" => "ScatterElements".clone_into(&mut node.op),
        "CastLike" => cast_like(out, &mut node),
        "BatchNormalization" => batch_normalisation(&mut node, opset)?,
        "Gelu" => return gelu(out, &node),
        "Mish" => return mish(out, &node),
        "GroupNormalization" => return group_normalisation(out, &node),
        "Conv" | "ConvTranspose" | "MaxPool" | "AveragePool" | "LpPool" => {
            explicit_pads(out, &mut node);
        }
        _ => {}
    }
    Ok(out.push(node)?)
}

/// Puts the name of a value in the place of an input, with gaps before it left empty.
fn set_input(node: &mut Node, idx: usize, name: String) {
    if node.inputs.len() <= idx {
        node.inputs.resize(idx + 1, String::new());
    }
    node.inputs[idx] = name;
}

/// A setting that is a list becomes an input, if there is none yet.
fn list_to_input(out: &mut Rewriter, node: &mut Node, setting: &str, idx: usize) {
    if let Some(Attribute::Ints(numbers)) = node.attributes.remove(setting)
        && node.input(idx).is_none()
    {
        let list = out.list(&numbers);
        set_input(node, idx, list);
    }
}

/// A setting that is a number becomes an input of the type of the first input.
fn float_to_input(out: &mut Rewriter, node: &mut Node, setting: &str, idx: usize) {
    if let Some(Attribute::Float(number)) = node.attributes.remove(setting)
        && node.input(idx).is_none()
    {
        let like = node.inputs.first().cloned().unwrap_or_default();
        let scalar = out.scalar_like(&like, f64::from(number));
        set_input(node, idx, scalar);
    }
}

fn constant(out: &mut Rewriter, node: Node) -> Done {
    let Some(name) = node.output(0).map(str::to_owned) else {
        return Ok(());
    };
    let tensor = match (
        node.tensor("value"),
        node.int("value_int"),
        node.ints("value_ints"),
        node.float("value_float"),
        node.attributes.get("value_floats"),
    ) {
        (Some(tensor), ..) => Some(tensor.clone()),
        (_, Some(number), ..) => Tensor::i64(vec![], vec![number]).ok(),
        (_, _, Some(numbers), ..) => Some(Tensor::list(numbers.to_vec())),
        (_, _, _, Some(number), _) => Some(Tensor::scalar(number)),
        (_, _, _, _, Some(Attribute::Floats(numbers))) => {
            Tensor::f32(vec![numbers.len()], numbers.clone()).ok()
        }
        _ => None,
    };
    match tensor {
        Some(tensor) => {
            out.insert_weight(name, tensor);
            Ok(())
        }
        None => Ok(out.push(node)?),
    }
}

fn dropout(out: &mut Rewriter, node: Node) -> Done {
    let is_training = match node.input(2) {
        Some(name) => out.numbers(name).is_none_or(|numbers| numbers != [0]),
        None => false,
    };
    if is_training {
        return Err(no_form(
            &node,
            "it may drop values at random",
            "export the network in evaluation mode (`model.eval()`)",
        ));
    }
    let (Some(x), Some(y)) = (node.input(0).map(str::to_owned), node.output(0)) else {
        return Ok(out.push(node)?);
    };
    out.push(Node { name: node.name.clone(), ..Node::new("Identity", &[&x], &[y]) })?;
    if let Some(mask) = node.output(1) {
        let shape = out.target_value(&x)?;
        let yes = Tensor::new(vec![1], Data::Bool(std::sync::Arc::new(vec![true])));
        let mut fill = Node::new("ConstantOfShape", &[&shape], &[mask]);
        if let Ok(yes) = yes {
            fill = fill.with("value", Attribute::Tensor(yes));
        }
        out.push(fill)?;
    }
    Ok(())
}

/// Before opset 13 all dimensions from an axis on were taken together.
fn softmax(out: &mut Rewriter, mut node: Node, opset: i64) -> Done {
    if 13 <= opset {
        node.attributes.entry("axis".to_owned()).or_insert(Attribute::Int(-1));
        return Ok(out.push(node)?);
    }
    let axis = node.int("axis").unwrap_or(1);
    let (Some(x), Some(y)) = (node.input(0).map(str::to_owned), node.output(0)) else {
        return Ok(out.push(node)?);
    };
    if let Some(shape) = out.shape(&x) {
        let Some(axis) = resolve_axis(axis, shape.len()) else {
            return Err(no_form(&node, "the axis lies outside the value", "export it anew"));
        };
        // One dimension, and others of size one: nothing is taken together.
        let mut wide = (axis..shape.len()).filter(|&axis| !shape[axis].is_one());
        let only = match (wide.next(), wide.next()) {
            (only, None) => Some(only.unwrap_or(axis)),
            _ => None,
        };
        if let Some(only) = only {
            let only = i64::try_from(only).unwrap_or(-1);
            return Ok(out.push(node.with("axis", Attribute::Int(only)))?);
        }
    }
    let flat = out.op("flat", "Flatten", &[&x], vec![("axis", Attribute::Int(axis))])?;
    let soft = out.op("soft", &node.op, &[&flat], vec![("axis", Attribute::Int(-1))])?;
    let shape = out.target_shape(&x)?;
    Ok(out.push(Node { name: node.name.clone(), ..Node::new("Reshape", &[&soft, &shape], &[y]) })?)
}

fn split(out: &mut Rewriter, node: &mut Node) {
    list_to_input(out, node, "split", 1);
    if node.input(1).is_some() {
        node.attributes.remove("num_outputs");
        return;
    }
    let n_parts = node.outputs.len();
    let axis = node.int("axis").unwrap_or(0);
    let whole = node.input(0).and_then(|x| {
        let shape = out.shape(x)?;
        shape.get(resolve_axis(axis, shape.len())?)?.as_known()
    });
    let n = i64::try_from(n_parts).unwrap_or(i64::MAX);
    match whole {
        Some(whole) if 0 < n => {
            // All parts are equal but for a smaller last one.
            let size = whole.saturating_add(n - 1) / n;
            let mut sizes = vec![size; n_parts];
            if let Some(last) = sizes.last_mut() {
                *last = (whole - size.saturating_mul(n - 1)).max(0);
            }
            let list = out.list(&sizes);
            set_input(node, 1, list);
            node.attributes.remove("num_outputs");
        }
        _ => {
            node.attributes.insert("num_outputs".to_owned(), Attribute::Int(n));
        }
    }
}

fn pad(out: &mut Rewriter, node: &mut Node) {
    list_to_input(out, node, "pads", 1);
    float_to_input(out, node, "value", 2);
    // Pads for some dimensions become pads for all.
    let Some(axes) = node.input(3).and_then(|name| out.numbers(name)) else {
        return;
    };
    let rank = node.input(0).and_then(|x| out.shape(x)).map(<[Dim]>::len);
    let pads = node.input(1).and_then(|name| out.numbers(name));
    if let (Some(rank), Some(pads)) = (rank, pads)
        && pads.len() == 2 * axes.len()
    {
        let mut full = vec![0; 2 * rank];
        for (idx, &axis) in axes.iter().enumerate() {
            let Some(axis) = resolve_axis(axis, rank) else {
                return;
            };
            full[axis] = pads[idx];
            full[axis + rank] = pads[idx + axes.len()];
        }
        let list = out.list(&full);
        node.inputs[1] = list;
        node.inputs.truncate(3);
    }
}

fn resize(out: &mut Rewriter, node: &mut Node, opset: i64) -> Done {
    if node.op == "Upsample" || opset < 11 {
        // The scales stood in the second place, before that among the settings.
        if let Some(Attribute::Floats(scales)) = node.attributes.remove("scales")
            && let Ok(tensor) = Tensor::f32(vec![scales.len()], scales)
        {
            let name = out.weight("scales", tensor);
            set_input(node, 1, name);
        }
        if node.inputs.len() < 2 {
            return Err(no_form(
                node,
                "the scales are missing",
                "export it with opset 11 or newer",
            ));
        }
        node.inputs.insert(1, String::new());
        "Resize".clone_into(&mut node.op);
        let text = |value: &str| Attribute::Text(value.to_owned());
        node.attributes.insert("coordinate_transformation_mode".to_owned(), text("asymmetric"));
        node.attributes.insert("nearest_mode".to_owned(), text("floor"));
        return Ok(());
    }
    let mode = node.text("coordinate_transformation_mode").unwrap_or("half_pixel");
    if mode == "tf_half_pixel_for_nn" {
        return Err(no_form(
            node,
            "the mode `tf_half_pixel_for_nn` is not in newer versions",
            "export it with opset 13 or newer",
        ));
    }
    let is_cropped = mode == "tf_crop_and_resize";
    // Old files pass empty tensors for what is left out.
    for (idx, input) in node.inputs.iter_mut().enumerate().skip(1) {
        let is_empty = out.shape(input) == Some(&[Dim::known(0)]);
        if is_empty || (idx == 1 && !is_cropped) {
            input.clear();
        }
    }
    while node.inputs.last().is_some_and(String::is_empty) {
        node.inputs.pop();
    }
    Ok(())
}

fn cast_like(out: &Rewriter, node: &mut Node) {
    let like = node.input(1).and_then(|name| out.facts.get(name));
    let to = like.map(|fact| fact.element_type).filter(|&to| to != ElementType::UNKNOWN);
    if let Some(to) = to.map(ElementType::to_onnx) {
        "Cast".clone_into(&mut node.op);
        node.inputs.truncate(1);
        node.attributes.insert("to".to_owned(), Attribute::Int(i64::from(to)));
    }
}

fn batch_normalisation(node: &mut Node, opset: i64) -> Done {
    if let Some(Attribute::Int(0)) = node.attributes.remove("spatial") {
        return Err(no_form(
            node,
            "it normalises every pixel on its own",
            "export the network with opset 9 or newer",
        ));
    }
    if opset < 14 && 1 < node.outputs.len() {
        // More outputs than one meant the statistics of the batch. Kernels that are standardised
        // are written so, and fold into constants.
        if node.outputs.iter().skip(1).any(|name| !name.is_empty()) {
            node.attributes.insert("training_mode".to_owned(), Attribute::Int(1));
        }
        node.outputs.truncate(1);
    }
    Ok(())
}

/// `x · (1 + erf(x / √2)) / 2`, or its approximation by `tanh`.
fn gelu(out: &mut Rewriter, node: &Node) -> Done {
    let (Some(x), Some(y)) = (node.input(0), node.output(0)) else {
        return Ok(out.push(node.clone())?);
    };
    let (half, one) = (out.scalar_like(x, 0.5), out.scalar_like(x, 1.0));
    let bent = if node.text("approximate") == Some("tanh") {
        let (small, root) = (
            out.scalar_like(x, 0.044_715),
            out.scalar_like(x, (2.0 / std::f64::consts::PI).sqrt()),
        );
        let square = out.op("gelu", "Mul", &[x, x], vec![])?;
        let cube = out.op("gelu", "Mul", &[&square, x], vec![])?;
        let cube = out.op("gelu", "Mul", &[&cube, &small], vec![])?;
        let inner = out.op("gelu", "Add", &[x, &cube], vec![])?;
        let inner = out.op("gelu", "Mul", &[&inner, &root], vec![])?;
        out.op("gelu", "Tanh", &[&inner], vec![])?
    } else {
        let root = out.scalar_like(x, std::f64::consts::SQRT_2);
        let inner = out.op("gelu", "Div", &[x, &root], vec![])?;
        out.op("gelu", "Erf", &[&inner], vec![])?
    };
    let raised = out.op("gelu", "Add", &[&bent, &one], vec![])?;
    let product = out.op("gelu", "Mul", &[x, &raised], vec![])?;
    Ok(out.push(Node { name: node.name.clone(), ..Node::new("Mul", &[&product, &half], &[y]) })?)
}

/// `x · tanh(log(1 + exp(x)))`
fn mish(out: &mut Rewriter, node: &Node) -> Done {
    let (Some(x), Some(y)) = (node.input(0), node.output(0)) else {
        return Ok(out.push(node.clone())?);
    };
    let soft = out.op("mish", "Softplus", &[x], vec![])?;
    let bent = out.op("mish", "Tanh", &[&soft], vec![])?;
    Ok(out.push(Node { name: node.name.clone(), ..Node::new("Mul", &[x, &bent], &[y]) })?)
}

/// Groups of channels are normalised as one instance each, then scaled.
fn group_normalisation(out: &mut Rewriter, node: &Node) -> Done {
    let n_groups = node.int("num_groups").filter(|&n| (1..1 << 20).contains(&n));
    let (Some(x), Some(scale), Some(bias), Some(y), Some(n_groups)) =
        (node.input(0), node.input(1), node.input(2), node.output(0), n_groups)
    else {
        return Err(no_form(node, "an input or `num_groups` is missing", "export it anew"));
    };
    let rank = out.shape(x).map(<[Dim]>::len).filter(|&rank| 3 <= rank);
    let n_scales = out.shape(scale).and_then(|shape| shape.first()?.as_known());
    let (Some(rank), Some(n_scales)) = (rank, n_scales) else {
        return Err(no_form(
            node,
            "the shape of its input is not known",
            "export the network with the sizes of the picture fixed",
        ));
    };
    let epsilon = node.attributes.get("epsilon").cloned().unwrap_or(Attribute::Float(1e-5));
    let settings = vec![("epsilon", epsilon)];
    let groups = out.list(&[0, n_groups, -1]);
    let grouped = out.op("grouped", "Reshape", &[x, &groups], vec![])?;
    let back = out.target_shape(x)?;
    // Opset 18 scaled groups, opset 21 scales channels; the lengths tell them apart.
    let n_channels = out.shape(x).and_then(|shape| shape[1].as_known());
    if n_scales == n_groups && n_channels != Some(n_groups) {
        let done =
            out.op("grouped", "InstanceNormalization", &[&grouped, scale, bias], settings)?;
        let node = Node { name: node.name.clone(), ..Node::new("Reshape", &[&done, &back], &[y]) };
        return Ok(out.push(node)?);
    }
    let element_type = out.facts.get(x).map_or(ElementType::F32, |fact| fact.element_type);
    let n = usize::try_from(n_groups).unwrap_or(1);
    let filled = |number: f32| match element_type {
        ElementType::F64 => Tensor::f64(vec![n], vec![f64::from(number); n]),
        _ => Tensor::f32(vec![n], vec![number; n]),
    };
    let fits = "because there are as many numbers as groups";
    let ones = out.weight("ones", filled(1.0).expect(fits));
    let zeros = out.weight("zeros", filled(0.0).expect(fits));
    let done = out.op("grouped", "InstanceNormalization", &[&grouped, &ones, &zeros], settings)?;
    let done = out.op("grouped", "Reshape", &[&done, &back], vec![])?;
    let mut per_channel = vec![1; rank];
    per_channel[0] = 1;
    per_channel[1] = -1;
    let per_channel = out.list(&per_channel);
    let scale = out.op("scale", "Reshape", &[scale, &per_channel], vec![])?;
    let bias = out.op("bias", "Reshape", &[bias, &per_channel], vec![])?;
    let scaled = out.op("scaled", "Mul", &[&done, &scale], vec![])?;
    Ok(out.push(Node { name: node.name.clone(), ..Node::new("Add", &[&scaled, &bias], &[y]) })?)
}

/// Replaces a rule for pads by the pads, if the sizes are known.
fn explicit_pads(out: &Rewriter, node: &mut Node) {
    let rule = match node.text("auto_pad") {
        None => return,
        Some("NOTSET" | "") => {
            node.attributes.remove("auto_pad");
            return;
        }
        Some(rule) => rule.to_owned(),
    };
    let kernel = match node.input(1).filter(|_| node.op.starts_with("Conv")) {
        Some(weights) => out.shape(weights).and_then(|shape| {
            shape.get(2..)?.iter().map(Dim::as_known).collect::<Option<Vec<i64>>>()
        }),
        None => node.ints("kernel_shape").map(<[i64]>::to_vec),
    };
    let shape = node.input(0).and_then(|x| out.shape(x));
    let (Some(kernel), Some(picture)) = (kernel, shape.and_then(|shape| shape.get(2..))) else {
        return;
    };
    // Pads beside a rule say nothing.
    let mut bare = node.clone();
    bare.attributes.remove("pads");
    let Ok(window) = Window::of_node(&bare, kernel) else {
        return;
    };
    let pads = if node.op == "ConvTranspose" {
        if node.ints("output_shape").is_some() {
            return;
        }
        transposed_pads(&rule, node, &window)
    } else {
        automatic_pads(node, &window, picture)
    };
    if let Some(pads) = pads
        && pads.iter().all(|&(before, after)| 0 <= before && 0 <= after)
    {
        let (before, after): (Vec<i64>, Vec<i64>) = pads.into_iter().unzip();
        node.attributes.remove("auto_pad");
        node.attributes.insert("pads".to_owned(), Attribute::Ints([before, after].concat()));
    }
}

/// The pads with which a transposed convolution makes its input `stride` times as large.
fn transposed_pads(rule: &str, node: &Node, window: &Window) -> Option<Vec<(i64, i64)>> {
    let mut pads = Vec::with_capacity(window.kernel.len());
    for axis in 0..window.kernel.len() {
        let extra = match node.ints("output_padding") {
            Some(extra) => *extra.get(axis)?,
            None => 0,
        };
        let total = match rule {
            "VALID" => 0,
            _ => window.span(axis).checked_add(extra)? - window.strides[axis],
        };
        let (less, more) = (total / 2, total - total / 2);
        pads.push(if rule == "SAME_UPPER" { (less, more) } else { (more, less) });
    }
    Some(pads)
}

impl Rewriter {
    /// The shape of a value as a list that names every size, for operators that take no -1.
    pub(crate) fn target_value(&mut self, like: &str) -> Result<String, InferError> {
        let known: Option<Vec<i64>> =
            self.shape(like).and_then(|shape| shape.iter().map(Dim::as_known).collect());
        match known {
            Some(numbers) => Ok(self.list(&numbers)),
            None => self.op("shape", "Shape", &[like], vec![]),
        }
    }
}
