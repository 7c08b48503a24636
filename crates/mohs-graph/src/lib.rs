//! Networks as values: read, build, change, differentiate and write ONNX graphs.
//!
//! A network is a [`Graph`]; what is done to it is a function from graph to graph, and
//! differentiation is one of them: [`grad`] appends plain ONNX operators that compute the gradient
//! of a scalar with respect to the input, to any value inside, or to the weights. Any ONNX engine
//! can run the result.
//!
//! This crate does no input or output beyond bytes in and bytes out, reads no clock and owns no
//! randomness. Engines live in `mohs-vision`; the evaluator here ([`eval`]) is slow and obvious on
//! purpose, and is what engines and gradients are judged by.

pub mod batch;
pub mod build;
pub mod cut;
pub mod derive;
pub mod dim;
pub mod eval;
pub mod fold;
pub mod grad;
pub mod graph;
pub mod infer;
pub mod layers;
pub mod normalise;
mod proto;
pub mod read;
mod rewrite;
pub mod scalar;
pub mod tensor;
pub mod train;
pub mod write;

pub use dim::Dim;
pub use graph::{Attribute, Graph, Node, Port};
pub use tensor::{Data, ElementType, Tensor};
