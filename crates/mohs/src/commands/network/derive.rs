//! `mohs network derive`: a network that also answers with gradients, as an ONNX file.

use std::path::PathBuf;

use clap::ValueEnum;
use mohs_graph::derive::derive;
use mohs_graph::scalar::{Reduction, Scalar};

use crate::error::CliError;
use crate::ui::Ui;

/// Write a network that also answers with gradients
///
/// The file has plain ONNX operators only. Labels and the like are inputs of it, given at run time.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  mohs network derive model.onnx --output grad.onnx
  mohs network derive model.onnx --of logit --with-respect-to layer4 --output cam.onnx
  mohs network derive model.onnx --of value:features --output features.onnx")]
pub(crate) struct DeriveArgs {
    /// The model
    #[arg(value_name = "MODEL.onnx")]
    model: PathBuf,
    /// What is differentiated: cross-entropy, targeted, margin, divergence, logit, squared-error or
    /// value:NAME
    #[arg(long, default_value = "cross-entropy", value_name = "SCALAR")]
    of: String,
    /// With respect to what: input, weights or names of values, comma-separated
    #[arg(long, default_value = "input", value_name = "WHAT", value_delimiter = ',')]
    with_respect_to: Vec<String>,
    /// How the numbers of a batch are put together
    #[arg(long, value_enum, default_value_t = Batch::Sum)]
    batch: Batch,
    /// The file to write
    #[arg(long, short, value_name = "FILE.onnx")]
    output: PathBuf,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Batch {
    /// Each picture's gradient is as if it were alone
    Sum,
    /// The gradient of the mean, as in training
    Mean,
}

pub(crate) fn run(args: &DeriveArgs, ui: &Ui) -> Result<(), CliError> {
    let scalar = scalar(&args.of)?;
    let network = super::read(&args.model)?;
    super::say_which_output(&network, ui);
    let unfolded = network.unfolded()?;
    let mut values = Vec::new();
    for what in &args.with_respect_to {
        match what.as_str() {
            "input" => values.push(network.pictures()?.name.clone()),
            "weights" => values.extend(network.trainable()?),
            name => values.push(name.to_owned()),
        }
    }
    // Weights have to stay as they are in the file when their gradients are asked for by name.
    let is_about_weights = values.iter().any(|name| unfolded.weights.contains_key(name));
    let graph = if is_about_weights { &unfolded } else { network.graph() };
    let reduction = match args.batch {
        Batch::Sum => Reduction::Sum,
        Batch::Mean => Reduction::Mean,
    };
    let derived = derive(graph, &scalar, reduction, &values)
        .map_err(mohs_vision::network::NetworkError::from)?;
    super::write(&derived.graph, &args.output, &network, ui)
}

/// Parses what people write for a scalar.
fn scalar(text: &str) -> Result<Scalar, CliError> {
    Ok(match text {
        "cross-entropy" => Scalar::CrossEntropy,
        "targeted" => Scalar::TargetedCrossEntropy,
        "margin" => Scalar::Margin,
        "divergence" => Scalar::Divergence,
        "logit" => Scalar::Logit,
        "squared-error" => Scalar::SquaredError,
        _ => match text.strip_prefix("value:") {
            Some(name) => Scalar::Value(name.to_owned()),
            None => {
                return Err(CliError::input(format!("there is no scalar `{text}`")).hint(
                    "one of cross-entropy, targeted, margin, divergence, logit, squared-error, \
                     value:NAME",
                ));
            }
        },
    })
}
