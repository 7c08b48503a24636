//! From a network to the network that also answers with gradients: the whole journey in one call.
//!
//! The outputs of the derived graph are those of the network, `loss` with one number per example,
//! and `gradient:<value>` for each value that was asked for. What the scalar needs at run time
//! (labels, targets) are new inputs after the network's own.

use crate::build::{BuildError, Builder, Value};
use crate::fold;
use crate::grad::{self, GradError};
use crate::graph::Graph;
use crate::scalar::{self, Reduction, Scalar, ScalarError};

/// A derived graph and the names of what it answers with.
#[derive(Clone, PartialEq, Debug)]
pub struct Derived {
    /// The network with its gradients.
    pub graph: Graph,
    /// The output with one number of the scalar per example.
    pub loss: String,
    /// The outputs with the gradients, in the order they were asked for.
    pub gradients: Vec<String>,
    /// The inputs that the scalar needs, such as `labels`.
    pub needs: Vec<String>,
}

/// A network whose gradient cannot be derived as asked.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum DeriveError {
    /// The network answers with nothing.
    #[error("the network has no output")]
    NoOutput,
    /// The scalar does not fit the network.
    #[error(transparent)]
    Scalar(#[from] ScalarError),
    /// The way from the scalar to a value cannot be differentiated.
    #[error(transparent)]
    Grad(#[from] GradError),
    /// The graph could not be written.
    #[error(transparent)]
    Build(#[from] BuildError),
}

/// Derives the gradient of a scalar of the first output with respect to values by name.
pub fn derive(
    network: &Graph,
    scalar: &Scalar,
    reduction: Reduction,
    with_respect_to: &[String],
) -> Result<Derived, DeriveError> {
    let logits = network.outputs.first().ok_or(DeriveError::NoOutput)?.name.clone();
    let mut builder = Builder::extend(network.clone())?;
    let logits = builder.value(&logits)?;
    let added = scalar::add(&mut builder, &logits, scalar, reduction)?;
    let values: Vec<Value> =
        with_respect_to.iter().map(|name| builder.value(name)).collect::<Result<_, _>>()?;
    let found = grad::gradient(&mut builder, &added.total, &values)?;
    builder.output(&added.per_example);
    let mut gradients = Vec::with_capacity(found.len());
    for (value, gradient) in values.iter().zip(&found) {
        let output = builder.output_as(gradient, &format!("gradient:{value}"))?;
        gradients.push(output.name().to_owned());
    }
    let keep = with_respect_to.iter().cloned().collect();
    Ok(Derived {
        graph: fold::simplify_keeping(builder.finish(), &keep).map_err(BuildError::from)?,
        loss: added.per_example.name().to_owned(),
        gradients,
        needs: added.inputs.iter().map(|value| value.name().to_owned()).collect(),
    })
}
