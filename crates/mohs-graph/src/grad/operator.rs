//! The list of operators: which have a gradient, which are flat, which are missing.
//!
//! A rule gets the node and the gradients of its outputs, and returns one gradient per input
//! (`None` where none is wanted or none exists). The list is also what the documentation shows.

use super::{
    GradError, Tape, activation, conv, elementwise, index, matmul, norm, pool, reduce, resample,
    shape, softmax, uncovered,
};
use crate::build::Value;
use crate::graph::Node;

/// What a rule returns: one gradient per input, as far as there are any.
pub type Gradients = Result<Vec<Option<Value>>, GradError>;

/// How a rule is written.
pub type RuleFn = fn(&mut Tape<'_>, &Node, &[Option<Value>]) -> Gradients;

/// What is known about differentiating a node.
pub enum Rule {
    /// A rule that appends the gradient.
    Gradient(RuleFn),
    /// The derivative is zero wherever it exists: comparisons, rounding, shapes.
    Flat,
    /// There is no rule.
    None {
        /// What would have to be written.
        needed: String,
    },
}

/// One operator in the list.
pub struct Row {
    /// The operator, such as `Conv`.
    pub op: &'static str,
    /// The rule; `None` for operators whose derivative is zero wherever it exists.
    pub rule: Option<RuleFn>,
    /// What a reader should know: the convention at kinks, the cases that are refused.
    pub note: &'static str,
}

impl Row {
    /// An operator with a rule.
    const fn gradient(op: &'static str, rule: RuleFn, note: &'static str) -> Row {
        Row { op, rule: Some(rule), note }
    }

    /// An operator whose derivative is zero wherever it exists.
    const fn flat(op: &'static str, note: &'static str) -> Row {
        Row { op, rule: None, note }
    }

    /// How the documentation calls the operator's state: `gradient` or `flat`.
    pub fn state(&self) -> &'static str {
        if self.rule.is_some() { "gradient" } else { "flat" }
    }
}

/// All operators that are known, sorted by name; one row per line.
#[rustfmt::skip]
static ROWS: &[Row] = &[
    Row::gradient("Abs", elementwise::abs, "0 at 0"),
    Row::gradient("Add", elementwise::add, ""),
    Row::flat("And", ""),
    Row::flat("ArgMax", "an index does not move"),
    Row::flat("ArgMin", "an index does not move"),
    Row::gradient("AveragePool", pool::average_pool, ""),
    Row::gradient("BatchNormalization", norm::batch, "stored statistics, or those of the batch with `training_mode` 1"),
    Row::flat("Bernoulli", "what is drawn does not move with its chances"),
    Row::gradient("Cast", elementwise::cast, "passes between floating-point types, else flat"),
    Row::flat("Ceil", ""),
    Row::gradient("Celu", activation::celu, ""),
    Row::gradient("Clip", elementwise::clip, "1 on the bounds, as PyTorch's `clamp`"),
    Row::gradient("Concat", shape::concat, ""),
    Row::flat("ConstantOfShape", "depends on a shape only"),
    Row::gradient("Conv", conv::conv, "any groups, strides, dilations and pads"),
    Row::gradient("ConvTranspose", conv::conv_transpose, "no given `output_shape`"),
    Row::gradient("Cos", elementwise::cos, ""),
    Row::gradient("CumSum", reduce::cum_sum, ""),
    Row::gradient("DepthToSpace", shape::depth_to_space, "both orders"),
    Row::gradient("Div", elementwise::div, ""),
    Row::gradient("Dropout", elementwise::dropout, "inference only"),
    Row::gradient("Einsum", matmul::einsum, "each label at most once per operand; no ellipsis"),
    Row::gradient("Elu", activation::elu, ""),
    Row::flat("Equal", ""),
    Row::gradient("Erf", elementwise::erf, ""),
    Row::gradient("Exp", elementwise::exp, ""),
    Row::gradient("Expand", shape::expand, ""),
    Row::flat("EyeLike", "depends on a shape only"),
    Row::gradient("Flatten", shape::reshape, ""),
    Row::flat("Floor", ""),
    Row::gradient("Gather", index::gather, "indices may come at run time"),
    Row::gradient("GatherElements", index::gather_elements, ""),
    Row::gradient("GatherND", index::gather_nd, "no batch dimensions"),
    Row::gradient("Gelu", activation::gelu, "both forms"),
    Row::gradient("Gemm", matmul::gemm, ""),
    Row::gradient("GlobalAveragePool", pool::global_average_pool, ""),
    Row::gradient("GlobalMaxPool", pool::global_max_pool, "ties share equally"),
    Row::flat("Greater", ""),
    Row::flat("GreaterOrEqual", ""),
    Row::gradient("GroupNormalization", norm::group, "scale and bias per channel, as from opset 21"),
    Row::gradient("HardSigmoid", activation::hard_sigmoid, "0 on the bounds"),
    Row::gradient("HardSwish", activation::hard_swish, "0 at −3, 1 at 3"),
    Row::gradient("Identity", elementwise::identity, ""),
    Row::gradient("InstanceNormalization", norm::instance, ""),
    Row::flat("IsInf", ""),
    Row::flat("IsNaN", ""),
    Row::gradient("LayerNormalization", norm::layer, "of the first output"),
    Row::gradient("LeakyRelu", activation::leaky_relu, "the slope of the left side at 0"),
    Row::flat("Less", ""),
    Row::flat("LessOrEqual", ""),
    Row::gradient("Log", elementwise::log, ""),
    Row::gradient("LogSoftmax", softmax::log_softmax, ""),
    Row::gradient("LpNormalization", norm::lp, "0 where the norm is 0"),
    Row::gradient("MatMul", matmul::matmul, ""),
    Row::gradient("Max", elementwise::extreme, "ties share equally"),
    Row::gradient("MaxPool", pool::max_pool, "the first of equal numbers, as PyTorch"),
    Row::gradient("Mean", elementwise::mean, ""),
    Row::gradient("Min", elementwise::extreme, "ties share equally"),
    Row::gradient("Mish", activation::mish, ""),
    Row::gradient("Mul", elementwise::mul, ""),
    Row::flat("Multinomial", "what is drawn does not move with its chances"),
    Row::gradient("Neg", elementwise::neg, ""),
    Row::flat("NonZero", "an index does not move"),
    Row::flat("Not", ""),
    Row::gradient("OneHot", elementwise::counts, "flat in its indices; refused for values that move"),
    Row::flat("Or", ""),
    Row::gradient("PRelu", activation::prelu, "the slope of the left side at 0"),
    Row::gradient("Pad", resample::pad, "all modes; sizes known"),
    Row::gradient("Pow", elementwise::pow, "base and exponent"),
    Row::flat("RandomNormal", "depends on nothing"),
    Row::flat("RandomNormalLike", "depends on a shape only"),
    Row::flat("RandomUniform", "depends on nothing"),
    Row::flat("RandomUniformLike", "depends on a shape only"),
    Row::gradient("Range", elementwise::counts, "flat in whole numbers; refused for others that move"),
    Row::gradient("Reciprocal", elementwise::reciprocal, ""),
    Row::gradient("ReduceL1", reduce::l1, "0 at 0"),
    Row::gradient("ReduceL2", reduce::l2, "0 where the norm is 0"),
    Row::gradient("ReduceLogSum", reduce::log_sum, ""),
    Row::gradient("ReduceLogSumExp", reduce::log_sum_exp, ""),
    Row::gradient("ReduceMax", reduce::extreme, "ties share equally, as PyTorch's `amax`"),
    Row::gradient("ReduceMean", reduce::mean, ""),
    Row::gradient("ReduceMin", reduce::extreme, "ties share equally, as PyTorch's `amin`"),
    Row::gradient("ReduceProd", reduce::prod, "exact with zeros among the factors; its own gradient only without"),
    Row::gradient("ReduceSum", reduce::sum, ""),
    Row::gradient("ReduceSumSquare", reduce::sum_square, ""),
    Row::gradient("Relu", activation::relu, "0 at 0"),
    Row::gradient("Reshape", shape::reshape, ""),
    Row::gradient("Resize", resample::resize, "all modes but cut-outs; sizes known"),
    Row::flat("Round", ""),
    Row::gradient("ScatterElements", index::scatter_elements, "putting and adding"),
    Row::gradient("ScatterND", index::scatter_nd, "putting and adding"),
    Row::gradient("Selu", activation::selu, ""),
    Row::flat("Shape", ""),
    Row::gradient("Sigmoid", elementwise::sigmoid, ""),
    Row::flat("Sign", ""),
    Row::gradient("Sin", elementwise::sin, ""),
    Row::flat("Size", ""),
    Row::gradient("Slice", shape::slice, "places known"),
    Row::gradient("Softmax", softmax::softmax, ""),
    Row::gradient("Softplus", activation::softplus, ""),
    Row::gradient("Softsign", activation::softsign, ""),
    Row::gradient("SpaceToDepth", shape::space_to_depth, ""),
    Row::gradient("Split", shape::split, ""),
    Row::gradient("Sqrt", elementwise::sqrt, ""),
    Row::gradient("Squeeze", shape::reshape, ""),
    Row::gradient("Sub", elementwise::sub, ""),
    Row::gradient("Sum", elementwise::sum, ""),
    Row::gradient("Tan", elementwise::tan, ""),
    Row::gradient("Tanh", elementwise::tanh, ""),
    Row::gradient("ThresholdedRelu", activation::thresholded_relu, "0 at the threshold"),
    Row::gradient("Tile", shape::tile, "repeats known"),
    Row::gradient("TopK", index::top_k, "of the values"),
    Row::gradient("Transpose", shape::transpose, ""),
    Row::gradient("Trilu", shape::trilu, ""),
    Row::gradient("Unsqueeze", shape::reshape, ""),
    Row::gradient("Where", elementwise::choose, ""),
    Row::flat("Xor", ""),
];

/// Every operator that is known, sorted by name.
pub fn all() -> &'static [Row] {
    ROWS
}

/// Finds the rule for a node.
pub fn rule(node: &Node) -> Rule {
    let is_standard = node.domain.is_empty() || node.domain == "ai.onnx";
    let row = ROWS
        .binary_search_by(|row| row.op.cmp(&node.op))
        .ok()
        .filter(|_| is_standard)
        .and_then(|idx| ROWS.get(idx));
    match row {
        Some(Row { rule: Some(rule), .. }) => Rule::Gradient(*rule),
        Some(Row { rule: None, .. }) => Rule::Flat,
        None => Rule::None { needed: needed(node, is_standard) },
    }
}

/// Says what would have to be there to differentiate a node without a rule.
fn needed(node: &Node, is_standard: bool) -> String {
    let op = node.full_op();
    if !is_standard {
        return format!("the standard operators that {op} stands for; export without fusing them");
    }
    match node.op.as_str() {
        "If" | "Loop" | "Scan" => {
            format!("a network without {op}; export with branches decided and loops unrolled")
        }
        "QLinearConv"
        | "QLinearMatMul"
        | "ConvInteger"
        | "MatMulInteger"
        | "QuantizeLinear"
        | "DequantizeLinear"
        | "DynamicQuantizeLinear" => "the network before it was quantised".to_owned(),
        _ => {
            format!("a rule that turns gradients of what {op} makes into gradients of what it uses")
        }
    }
}

/// The gradient of the first output, where a rule covers no other.
///
/// A gradient of another output is an error: dropping it would make the result wrong.
pub(super) fn of_first(node: &Node, of_outputs: &[Option<Value>]) -> Result<Value, GradError> {
    if let Some(idx) = of_outputs.iter().skip(1).position(Option::is_some) {
        return Err(uncovered(node, &format!("output {}; only output 0 has one", idx + 1)));
    }
    let first = of_outputs.first().cloned().flatten();
    first.ok_or_else(|| uncovered(node, "a node without outputs"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_sorted_and_names_each_operator_once() {
        let out_of_order = ROWS.windows(2).find(|pair| pair[1].op <= pair[0].op);
        assert_eq!(out_of_order.map(|pair| (pair[0].op, pair[1].op)), None);
    }

    #[test]
    fn an_operator_of_another_family_is_not_taken_for_the_standard_one() {
        let mut node = Node::new("Gelu", &["x"], &["y"]);
        assert!(matches!(rule(&node), Rule::Gradient(_)));
        node.domain = "com.microsoft".to_owned();
        let Rule::None { needed } = rule(&node) else { panic!("a rule for another family") };
        assert!(needed.contains("com.microsoft.Gelu"), "{needed}");
    }
}
