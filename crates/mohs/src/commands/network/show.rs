//! `mohs network show`: what a model file holds, and what can be done with it.

use std::fmt::Write as _;
use std::path::PathBuf;

use mohs_graph::grad::operator::{Rule, rule};
use mohs_graph::{Graph, infer};
use mohs_report::TextTable;
use mohs_vision::engine::{Engine, EngineChoice, OpenOptions};
use mohs_vision::network::{Batch, Network};
use serde_json::json;

use super::kind_of;
use crate::args::Format;
use crate::engine_args::places;
use crate::error::CliError;
use crate::ui::Ui;

/// Show what a model file holds, and what can be done with it
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  mohs network show resnet50.onnx
  mohs network show resnet50.onnx --values    every value between the operators, with its shape")]
pub(crate) struct ShowArgs {
    /// The model
    #[arg(value_name = "MODEL.onnx")]
    model: PathBuf,
    /// List every value between the operators
    #[arg(long)]
    values: bool,
    /// How to print it
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

pub(crate) fn run(args: &ShowArgs, ui: &Ui) -> Result<(), CliError> {
    let network = super::read(&args.model)?;
    let facts = Facts::of(&network, args.values);
    let text = match args.format {
        Format::Json => format!("{:#}\n", facts.json(&network)),
        _ => facts.text(&network),
    };
    ui.data(text.as_bytes())
}

/// What is found out about a network.
struct Facts {
    operators: Vec<(String, usize, &'static str)>,
    batch: String,
    engines: Vec<(&'static str, String)>,
    values: Vec<(String, String, String)>,
}

impl Facts {
    fn of(network: &Network, with_values: bool) -> Facts {
        let graph = network.graph();
        let operators = graph
            .n_by_op()
            .into_iter()
            .map(|(op, n)| {
                let node = graph.nodes.iter().find(|node| node.full_op() == op);
                let state = match node.map(rule) {
                    Some(Rule::Gradient(_)) => "yes",
                    Some(Rule::Flat) => "zero",
                    Some(Rule::None { .. }) | None => "no",
                };
                (op, n, state)
            })
            .collect();
        let batch = match (network.batch(), network.fixed_because()) {
            (Batch::Free, _) if has_fixed_batch(network.file()) => {
                "any number of pictures at once; the file says one, which was freed".to_owned()
            }
            (Batch::Free, _) => "any number of pictures at once".to_owned(),
            (Batch::Fixed(n), Some(why)) => format!("{n} at once: {why}"),
            (Batch::Fixed(n), None) => format!("{n} at once, fixed"),
        };
        let engines = [("onnxruntime", EngineChoice::OnnxRuntime), ("rten", EngineChoice::Rten)]
            .map(|(name, choice)| {
                let options = OpenOptions { choice, places: places(), ..OpenOptions::default() };
                let opened = Engine::choose(&options).and_then(|engine| engine.open_graph(graph));
                (name, opened.map_or_else(|error| error.to_string(), |_| "can run it".to_owned()))
            })
            .to_vec();
        let values = if with_values { values_of(graph) } else { Vec::new() };
        Facts { operators, batch, engines, values }
    }

    fn json(&self, network: &Network) -> serde_json::Value {
        let file = network.file();
        let port = |port: &mohs_graph::Port| {
            let dims = port.shape.as_ref();
            json!({
                "name": port.name,
                "type": port.element_type.to_string(),
                "shape": dims.map(|dims| dims.iter().map(ToString::to_string).collect::<Vec<_>>()),
            })
        };
        json!({
            "version": 1,
            "name": file.name,
            "producer": file.metadata.get("producer"),
            "opset": file.opset,
            "inputs": network.graph().inputs.iter().map(port).collect::<Vec<_>>(),
            "outputs": network.graph().outputs.iter().map(port).collect::<Vec<_>>(),
            "n_parameters": file.n_parameters(),
            "batch": match network.batch() {
                Batch::Free => json!("free"),
                Batch::Fixed(n) => json!(n),
            },
            "operators": self.operators.iter().map(|(op, n, gradient)| {
                json!({ "operator": op, "n": n, "gradient": gradient })
            }).collect::<Vec<_>>(),
            "engines": self.engines.iter().map(|(name, says)| {
                json!({ "name": name, "says": says })
            }).collect::<Vec<_>>(),
            "values": self.values.iter().map(|(name, op, kind)| {
                json!({ "name": name, "operator": op, "kind": kind })
            }).collect::<Vec<_>>(),
        })
    }

    fn text(&self, network: &Network) -> String {
        let (file, graph) = (network.file(), network.graph());
        let mut text = String::new();
        let unknown = "unknown".to_owned();
        let producer = file.metadata.get("producer").unwrap_or(&unknown);
        let _ = writeln!(text, "producer    {producer}");
        let _ = writeln!(text, "opset       {}", file.opset);
        for (what, ports) in [("input ", &graph.inputs), ("output", &graph.outputs)] {
            for port in ports {
                let _ = writeln!(text, "{what}      {}  {}", port.name, kind_of(port));
            }
        }
        let _ = writeln!(text, "batch       {}", self.batch);
        let _ = writeln!(text, "parameters  {}", file.n_parameters());
        for (name, says) in &self.engines {
            let _ = writeln!(text, "{name:<11} {says}");
        }
        let mut table = TextTable::new(["operator", "n", "gradient"]);
        for (op, n, gradient) in &self.operators {
            table.push([op.clone(), n.to_string(), (*gradient).to_owned()]);
        }
        text.push('\n');
        text.push_str(&table.render());
        if !self.values.is_empty() {
            let mut table = TextTable::new(["value", "made by", "kind"]);
            for (name, op, kind) in &self.values {
                table.push([name, op, kind].map(String::clone));
            }
            text.push('\n');
            text.push_str(&table.render());
        }
        text
    }
}

/// Whether the file itself fixes how many pictures there are at once.
fn has_fixed_batch(file: &Graph) -> bool {
    let first = file.inputs.first().and_then(|port| port.shape.as_ref()?.first());
    first.is_some_and(|dim| dim.as_known().is_some())
}

/// Every value that a node makes, with its operator and its type and shape.
fn values_of(graph: &Graph) -> Vec<(String, String, String)> {
    let facts = infer::facts(graph).unwrap_or_default();
    let mut values = Vec::new();
    for node in &graph.nodes {
        for name in node.outputs.iter().filter(|name| !name.is_empty()) {
            let fact = facts.get(name);
            let shape = fact.and_then(|fact| fact.shape.as_ref());
            let kind = match (fact, shape) {
                (Some(fact), Some(dims)) => {
                    format!("{} {}", fact.element_type, mohs_graph::dim::describe(dims))
                }
                (Some(fact), None) => format!("{} of unknown shape", fact.element_type),
                (None, _) => "unknown".to_owned(),
            };
            values.push((name.clone(), node.full_op(), kind));
        }
    }
    values
}
