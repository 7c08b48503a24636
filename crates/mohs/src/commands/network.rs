//! `mohs network`: look at a model file and at what it sees, run it, differentiate it, cut it, time it. One file each
//! in `network/`.

mod bench;
mod cut;
mod derive;
mod input;
mod run;
mod show;

use std::path::Path;

use clap::Subcommand;
use mohs_graph::Port;
use mohs_graph::write;
use mohs_vision::network::Network;

use crate::error::CliError;
use crate::ui::Ui;

/// Look at model files, run them, differentiate them
#[derive(Debug, clap::Args)]
pub(crate) struct NetworkArgs {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    Show(show::ShowArgs),
    Run(run::RunArgs),
    Input(input::InputArgs),
    Derive(derive::DeriveArgs),
    Cut(cut::CutArgs),
    Bench(bench::BenchArgs),
}

pub(crate) fn run(args: &NetworkArgs, ui: &Ui) -> Result<(), CliError> {
    match &args.verb {
        Verb::Show(args) => show::run(args, ui),
        Verb::Run(args) => run::run(args, ui),
        Verb::Input(args) => input::run(args, ui),
        Verb::Derive(args) => derive::run(args, ui),
        Verb::Cut(args) => cut::run(args, ui),
        Verb::Bench(args) => bench::run(args, ui),
    }
}

/// Reads a model file.
fn read(path: &Path) -> Result<Network, CliError> {
    Ok(Network::read(path)?)
}

/// Writes a network, whole or not at all, and says what it takes and answers.
fn write(
    graph: &mohs_graph::Graph,
    output: &Path,
    network: &Network,
    ui: &Ui,
) -> Result<(), CliError> {
    super::import::check_overwrites_none(output, network.files())?;
    let bytes = write::to_bytes(graph).map_err(|error| CliError::input(error.to_string()))?;
    mohs_data::format::atomic::write_file(output, &bytes)?;
    ui.say(&format!("written: {}", output.display()));
    let mut text = String::new();
    for (what, ports) in [("input", &graph.inputs), ("output", &graph.outputs)] {
        for port in ports {
            text.push_str(&format!("{what}  {}  {}\n", port.name, kind_of(port)));
        }
    }
    ui.data(text.as_bytes())
}

/// Says which output counts as the answer, where there are several.
fn say_which_output(network: &Network, ui: &Ui) {
    if let [first, _, ..] = network.graph().outputs.as_slice() {
        ui.say(&format!(
            "the model has {} outputs; `{}` is taken as its answer (`mohs network cut --at NAME` chooses another)",
            network.graph().outputs.len(),
            first.name
        ));
    }
}

/// A port's type and shape in words: `f32 [batch, 3, 32, 32]`.
fn kind_of(port: &Port) -> String {
    match &port.shape {
        Some(dims) => format!("{} {}", port.element_type, mohs_graph::dim::describe(dims)),
        None => format!("{} of unknown shape", port.element_type),
    }
}
