//! Layers that few networks have and not every engine knows, written out in operators that all do.

use super::NormaliseError;
use crate::graph::{Attribute, Node};
use crate::infer::InferError;
use crate::rewrite::Rewriter;
use crate::tensor::{ElementType, Tensor};

/// Pushes what stands for a rare node; says whether there was anything to do.
pub(super) fn written_out(out: &mut Rewriter, node: &Node) -> Result<bool, NormaliseError> {
    let (Some(x), Some(y)) = (node.input(0), node.output(0)) else { return Ok(false) };
    match node.op.as_str() {
        "Selu" => selu(out, node, x, y)?,
        "Celu" => celu(out, node, x, y)?,
        "ThresholdedRelu" => thresholded_relu(out, node, x, y)?,
        "LRN" => return Ok(local_response_norm(out, node, x, y)?),
        "Pow" => return Ok(whole_power(out, node, x, y)?),
        _ => return Ok(false),
    }
    Ok(true)
}

fn setting(node: &Node, name: &str, usual: f32) -> f64 {
    f64::from(node.float(name).unwrap_or(usual))
}

/// The last node of a layer, which makes what the layer made and keeps its name.
fn last(node: &Node, op: &str, inputs: &[&str], y: &str) -> Node {
    Node { name: node.name.clone(), ..Node::new(op, inputs, &[y]) }
}

/// `γ Elu(x, α)`
fn selu(out: &mut Rewriter, node: &Node, x: &str, y: &str) -> Result<(), InferError> {
    let alpha = node.float("alpha").unwrap_or(1.673_263_2);
    let gamma = out.scalar_like(x, setting(node, "gamma", 1.050_701));
    let bent = out.op("selu", "Elu", &[x], vec![("alpha", Attribute::Float(alpha))])?;
    out.push(last(node, "Mul", &[&bent, &gamma], y))
}

/// `α Elu(x / α, 1)`
fn celu(out: &mut Rewriter, node: &Node, x: &str, y: &str) -> Result<(), InferError> {
    let alpha = out.scalar_like(x, setting(node, "alpha", 1.0));
    let narrow = out.op("celu", "Div", &[x, &alpha], vec![])?;
    let bent = out.op("celu", "Elu", &[&narrow], vec![("alpha", Attribute::Float(1.0))])?;
    out.push(last(node, "Mul", &[&bent, &alpha], y))
}

/// `x` where `x > α`, else 0.
fn thresholded_relu(out: &mut Rewriter, node: &Node, x: &str, y: &str) -> Result<(), InferError> {
    let alpha = out.scalar_like(x, setting(node, "alpha", 1.0));
    let zero = out.scalar_like(x, 0.0);
    let is_above = out.op("is_above", "Greater", &[x, &alpha], vec![])?;
    out.push(last(node, "Where", &[&is_above, x, &zero], y))
}

/// `x / (bias + α / size · sum of x² over neighbouring channels)^β`
///
/// The sum over neighbours is a 1 × 1 convolution with a matrix of ones around its diagonal.
fn local_response_norm(
    out: &mut Rewriter,
    node: &Node,
    x: &str,
    y: &str,
) -> Result<bool, InferError> {
    const MAX_CHANNELS: usize = 4096;
    let n_channels =
        out.shape(x).filter(|shape| shape.len() == 4).and_then(|shape| shape[1].as_size());
    let size =
        node.int("size").and_then(|size| usize::try_from(size).ok()).filter(|&size| size != 0);
    let (Some(n @ ..=MAX_CHANNELS), Some(size)) = (n_channels, size) else { return Ok(false) };
    let (before, after) = ((size - 1) / 2, size / 2);
    let mut matrix = vec![0.0; n * n];
    for row in 0..n {
        for column in row.saturating_sub(before)..(row + after + 1).min(n) {
            matrix[row * n + column] = 1.0;
        }
    }
    let Ok(matrix) = Tensor::f32(vec![n, n, 1, 1], matrix) else { return Ok(false) };
    let matrix = out.weight("neighbours", matrix);
    #[expect(clippy::cast_precision_loss, reason = "a window of channels is small")]
    let factor = out.scalar_like(x, setting(node, "alpha", 1e-4) / size as f64);
    let bias = out.scalar_like(x, setting(node, "bias", 1.0));
    let power = out.scalar_like(x, setting(node, "beta", 0.75));
    let squares = out.op("lrn", "Mul", &[x, x], vec![])?;
    let kernel = ("kernel_shape", Attribute::Ints(vec![1, 1]));
    let sums = out.op("lrn", "Conv", &[&squares, &matrix], vec![kernel])?;
    let scaled = out.op("lrn", "Mul", &[&sums, &factor], vec![])?;
    let base = out.op("lrn", "Add", &[&scaled, &bias], vec![])?;
    let divisor = out.op("lrn", "Pow", &[&base, &power], vec![])?;
    out.push(last(node, "Div", &[x, &divisor], y))?;
    Ok(true)
}

/// A power with a whole-number exponent gets one of the type of its base.
fn whole_power(out: &mut Rewriter, node: &Node, x: &str, y: &str) -> Result<bool, InferError> {
    let Some(exponent) = node.input(1) else { return Ok(false) };
    let base_type = out.facts.get(x).map(|fact| fact.element_type);
    let is_whole = out.facts.get(exponent).is_some_and(|fact| !fact.element_type.is_float());
    let (Some(base_type @ (ElementType::F32 | ElementType::F64)), true) = (base_type, is_whole)
    else {
        return Ok(false);
    };
    let to = ("to", Attribute::Int(i64::from(base_type.to_onnx())));
    let exponent = out.op("exponent", "Cast", &[exponent], vec![to])?;
    out.push(last(node, "Pow", &[x, &exponent], y))?;
    Ok(true)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::dim::Dim;
    use crate::graph::{Graph, Port};
    use crate::{eval, normalise};

    /// A network of one node, before and after, on the same numbers.
    #[track_caller]
    fn check(node: Node, weights: BTreeMap<String, Tensor>) {
        let port = |name: &str| Port {
            name: name.to_owned(),
            element_type: ElementType::F32,
            shape: Some([2, 5, 2, 2].map(Dim::known).to_vec()),
        };
        let op = node.op.clone();
        let graph = Graph {
            opset: 18,
            inputs: vec![port("x")],
            outputs: vec![port("y")],
            nodes: vec![node],
            weights,
            ..Graph::default()
        };
        let numbers = (0..40_u8).map(|n| (f32::from(n) - 17.0) / 6.0).collect();
        let given =
            BTreeMap::from([("x".to_owned(), Tensor::f32(vec![2, 5, 2, 2], numbers).unwrap())]);
        let written = normalise::normalise(graph.clone()).unwrap();
        assert!(
            op == "Pow" || written.nodes.iter().all(|node| node.op != op),
            "{op} is still there"
        );
        let before = eval::run(&graph, &given).unwrap()["y"].to_f64().unwrap();
        let after = eval::run(&written, &given).unwrap()["y"].to_f64().unwrap();
        for (before, after) in before.iter().zip(&after) {
            assert!((before - after).abs() < 1e-6, "{op}: {before} became {after}");
        }
    }

    #[test]
    fn rare_layers_give_the_same_numbers_in_plain_operators() {
        let bare = |op: &str| Node::new(op, &["x"], &["y"]);
        check(bare("Selu"), BTreeMap::new());
        check(bare("Celu").with("alpha", Attribute::Float(2.0)), BTreeMap::new());
        check(bare("ThresholdedRelu").with("alpha", Attribute::Float(0.5)), BTreeMap::new());
        let lrn =
            bare("LRN").with("alpha", Attribute::Float(0.3)).with("beta", Attribute::Float(0.5));
        check(lrn.clone().with("size", Attribute::Int(3)), BTreeMap::new());
        check(lrn.with("size", Attribute::Int(4)), BTreeMap::new());
        let exponent = BTreeMap::from([("n".to_owned(), Tensor::list(vec![2]))]);
        check(Node::new("Pow", &["x", "n"], &["y"]), exponent);
    }
}
