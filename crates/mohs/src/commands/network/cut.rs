//! `mohs network cut`: a network that ends at the values you name.

use std::path::PathBuf;

use mohs_graph::cut;

use crate::error::CliError;
use crate::ui::Ui;

/// Write a network that ends at the values you name
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  mohs network show resnet50.onnx --values
  mohs network cut resnet50.onnx --at flatten --output features.onnx")]
pub(crate) struct CutArgs {
    /// The model
    #[arg(value_name = "MODEL.onnx")]
    model: PathBuf,
    /// Values that become the outputs, comma-separated
    #[arg(long, required = true, value_name = "VALUE", value_delimiter = ',')]
    at: Vec<String>,
    /// The file to write
    #[arg(long, short, value_name = "FILE.onnx")]
    output: PathBuf,
}

pub(crate) fn run(args: &CutArgs, ui: &Ui) -> Result<(), CliError> {
    let network = super::read(&args.model)?;
    let names: Vec<&str> = args.at.iter().map(String::as_str).collect();
    let graph = cut::cut(network.graph().clone(), &names).map_err(|error| {
        CliError::input(error.to_string())
            .hint("`mohs network show MODEL.onnx --values` lists the values")
    })?;
    super::write(&graph, &args.output, &network, ui)
}
