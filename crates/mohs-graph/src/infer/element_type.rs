//! Types of what operators make whose shapes nobody here follows.
//!
//! A type that is guessed wrong is worse than none: a `Cast` would be taken for one that does
//! nothing, and the network would not load. What cannot be known is `ElementType::UNKNOWN`.

use super::scope::Scope;
use crate::graph::Attribute;
use crate::tensor::ElementType;

/// The type of an output of an operator that no family knows.
pub(super) fn of_output(scope: &Scope<'_>, output_idx: usize) -> ElementType {
    if !matches!(scope.node.domain.as_str(), "" | "ai.onnx") {
        return ElementType::UNKNOWN;
    }
    let named = |setting: &str, usual: ElementType| {
        let code = scope.node.int(setting).and_then(|code| i32::try_from(code).ok());
        code.map_or(usual, ElementType::from_onnx)
    };
    match (scope.node.op.as_str(), output_idx) {
        ("NonMaxSuppression" | "StringSplit", _) | ("Unique", 1..) => ElementType::I64,
        ("ConvInteger" | "MatMulInteger", _) => ElementType::I32,
        ("DynamicQuantizeLinear", 0 | 2) => ElementType::U8,
        ("DynamicQuantizeLinear", _) => ElementType::F32,
        ("RegexFullMatch", _) => ElementType::Bool,
        ("TfIdfVectorizer", _) => ElementType::F32,
        ("DequantizeLinear", _) => scope.element_type(1),
        ("QuantizeLinear", _) => match scope.optional(2) {
            Some(zero) => zero.element_type,
            None => named("output_dtype", ElementType::U8),
        },
        ("QLinearConv" | "QLinearMatMul", _) => {
            scope.optional(7).map_or(ElementType::UNKNOWN, |zero| zero.element_type)
        }
        ("BlackmanWindow" | "HannWindow" | "HammingWindow", _) => {
            named("output_datatype", ElementType::F32)
        }
        // What loops, branches and sequences hand on is known only from inside.
        _ if scope.node.attributes.values().any(|value| matches!(value, Attribute::Graph(_))) => {
            ElementType::UNKNOWN
        }
        (op, _) if op.contains("Sequence") || op.starts_with("Optional") => ElementType::UNKNOWN,
        _ => scope.element_type(0),
    }
}
