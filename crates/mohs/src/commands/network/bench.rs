//! `mohs network bench`: how long a model takes per picture, and how much memory.
//!
//! Other programs can drive it line by line (`--rounds-from-stdin`), so that rounds of several
//! engines alternate and the machine's moods meet all of them.

use std::collections::BTreeMap;
use std::io::BufRead as _;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Instant;

use clap::ValueEnum;
use mohs_graph::derive::derive;
use mohs_graph::scalar::{Reduction, Scalar};
use mohs_graph::train::{self, BatchNorm};
use mohs_graph::{ElementType, Graph, Port, Tensor};
use mohs_vision::engine::Session;
use mohs_vision::network::{Network, NetworkError};
use serde_json::json;

use crate::engine_args::EngineArgs;
use crate::error::CliError;
use crate::ui::Ui;

/// Time a model: milliseconds per picture and peak memory
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  mohs network bench resnet50.onnx --batch 8 --what input-gradient
  mohs network bench resnet50.onnx --engine rten --threads 2 --rounds 20

With --rounds-from-stdin a line of JSON says that everything is loaded; each line on standard input
then runs the model once and prints a line of JSON.")]
pub(crate) struct BenchArgs {
    /// The model
    #[arg(value_name = "MODEL.onnx")]
    model: PathBuf,
    /// Pictures at once
    #[arg(long, default_value = "1", value_name = "N")]
    batch: NonZeroUsize,
    /// What is computed
    #[arg(long, value_enum, default_value_t = What::Forward)]
    what: What,
    #[command(flatten)]
    engine: EngineArgs,
    /// Rounds to take the median of, after one that does not count
    #[arg(long, default_value = "10", value_name = "N")]
    rounds: NonZeroUsize,
    /// Run once per line of standard input
    #[arg(long, conflicts_with = "rounds")]
    rounds_from_stdin: bool,
}

/// What can be timed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum What {
    /// Answers
    Forward,
    /// Answers and the gradient of the cross-entropy with respect to the pictures
    InputGradient,
    /// Answers and the gradients of the mean cross-entropy with respect to all weights
    WeightGradient,
    /// The same with weights as inputs, as each step of training needs it
    TrainingStep,
}

pub(crate) fn run(args: &BenchArgs, ui: &Ui) -> Result<(), CliError> {
    let engine = args.engine.choose(ui)?;
    let started = Instant::now();
    let network = super::read(&args.model)?;
    let read_seconds = started.elapsed().as_secs_f64();
    let started = Instant::now();
    let (graph, weights) = graph_of(&network, args.what)?;
    let derive_seconds = started.elapsed().as_secs_f64();
    let started = Instant::now();
    let mut session = engine.open_graph(&graph)?;
    let load_seconds = started.elapsed().as_secs_f64();
    // The engine has its own copy of the weights by now.
    drop(network);
    let graph = Graph { nodes: Vec::new(), weights: BTreeMap::new(), ..graph };
    let inputs = inputs_for(&session, &graph, &weights, args.batch.get())?;
    let inputs: Vec<(&str, &Tensor)> =
        inputs.iter().map(|(name, tensor)| (name.as_str(), tensor)).collect();

    let mut outputs = Vec::new();
    if args.rounds_from_stdin {
        let ready = json!({
            "ready": true,
            "read_seconds": read_seconds,
            "derive_seconds": derive_seconds,
            "load_seconds": load_seconds,
            "engine": engine.name(),
            "engine_version": engine.version(),
        });
        ui.data(format!("{ready}\n").as_bytes())?;
        for line in std::io::stdin().lock().lines() {
            line.map_err(|cause| {
                CliError::surroundings("cannot read standard input").because(cause)
            })?;
            let milliseconds = one_round(&mut session, &inputs, &mut outputs)?;
            let round = json!({
                "milliseconds": milliseconds,
                "peak_memory_bytes": peak_memory_bytes(),
            });
            ui.data(format!("{round}\n").as_bytes())?;
        }
        return Ok(());
    }
    one_round(&mut session, &inputs, &mut outputs)?;
    let mut rounds = Vec::with_capacity(args.rounds.get());
    for _ in 0..args.rounds.get() {
        rounds.push(one_round(&mut session, &inputs, &mut outputs)?);
    }
    rounds.sort_by(f64::total_cmp);
    #[expect(clippy::cast_precision_loss, reason = "a number of pictures")]
    let per_picture = |milliseconds: f64| milliseconds / args.batch.get() as f64;
    let median = per_picture(rounds[rounds.len() / 2]);
    let (least, most) = (per_picture(rounds[0]), per_picture(rounds[rounds.len() - 1]));
    let memory = peak_memory_bytes()
        .map_or_else(|| "unknown".to_owned(), |bytes| format!("{} MB", bytes / 1_000_000));
    ui.data(
        format!(
            "engine       {} {}\nper picture  {median:.2} ms (median of {}; {least:.2} to \
             {most:.2})\nderiving     {derive_seconds:.2} s\nloading      {load_seconds:.2} s\n\
             peak memory  {memory}\n",
            engine.name(),
            engine.version(),
            rounds.len(),
        )
        .as_bytes(),
    )
}

/// Runs once, in the memory of the outputs before; how many milliseconds it took.
fn one_round(
    session: &mut Session,
    inputs: &[(&str, &Tensor)],
    outputs: &mut Vec<Tensor>,
) -> Result<f64, CliError> {
    let started = Instant::now();
    *outputs = session.run_again(inputs, std::mem::take(outputs))?;
    Ok(started.elapsed().as_secs_f64() * 1e3)
}

/// The graph to time, and the weights that are inputs of it.
fn graph_of(network: &Network, what: What) -> Result<(Graph, Vec<(String, Tensor)>), CliError> {
    let scalar = Scalar::CrossEntropy;
    match what {
        What::Forward => Ok((network.graph().clone(), Vec::new())),
        What::InputGradient => {
            let input = network.pictures()?.name.clone();
            let derived = derive(network.graph(), &scalar, Reduction::Sum, &[input])
                .map_err(NetworkError::from)?;
            Ok((derived.graph, Vec::new()))
        }
        What::WeightGradient => {
            let weights = network.trainable()?;
            let derived = derive(&network.unfolded()?, &scalar, Reduction::Mean, &weights)
                .map_err(NetworkError::from)?;
            Ok((derived.graph, Vec::new()))
        }
        What::TrainingStep => {
            let graph = network.unfolded()?;
            let weights = network.trainable()?;
            let training = train::training(&graph, &scalar, &weights, BatchNorm::Frozen)
                .map_err(|error| CliError::input(error.to_string()))?;
            let starts =
                training.weights.into_iter().map(|weight| (weight.name, weight.start)).collect();
            Ok((training.graph, starts))
        }
    }
}

/// Inputs of the right shapes: pictures from a fixed seed, labels that are classes, the weights.
fn inputs_for(
    session: &Session,
    graph: &Graph,
    weights: &[(String, Tensor)],
    batch: usize,
) -> Result<Vec<(String, Tensor)>, CliError> {
    let n_classes = graph
        .outputs
        .first()
        .and_then(|port| port.shape.as_ref()?.last()?.as_known())
        .filter(|&n| 0 < n)
        .unwrap_or(1);
    let mut random = Random(1);
    let mut inputs = Vec::new();
    for port in session.inputs() {
        let tensor = match weights.iter().find(|(name, _)| *name == port.name) {
            Some((_, start)) => start.clone(),
            None => random_tensor(port, batch, n_classes, &mut random)?,
        };
        inputs.push((port.name.clone(), tensor));
    }
    Ok(inputs)
}

fn random_tensor(
    port: &Port,
    batch: usize,
    n_classes: i64,
    random: &mut Random,
) -> Result<Tensor, CliError> {
    let cannot = |why: &str| {
        CliError::input(format!("cannot make up numbers for the input `{}`: {why}", port.name))
    };
    let dims = port.shape.as_deref().ok_or_else(|| cannot("its shape is not known"))?;
    let mut shape = Vec::with_capacity(dims.len());
    for (axis, dim) in dims.iter().enumerate() {
        match dim.as_size() {
            Some(size) if axis == 0 && size != batch => {
                return Err(cannot(&format!("its batch is fixed at {size}"))
                    .hint(format!("use --batch {size}")));
            }
            Some(size) => shape.push(size),
            None if axis == 0 => shape.push(batch),
            None => {
                let dims = mohs_graph::dim::describe(dims);
                return Err(cannot(&format!("its shape {dims} is open beyond the batch"))
                    .hint("export the model with pictures of one size"));
            }
        }
    }
    let n = mohs_graph::tensor::n_elements(&shape).filter(|&n| n <= MAX_NUMBERS);
    let n = n.ok_or_else(|| {
        cannot(&format!("{shape:?} are more numbers than the {MAX_NUMBERS} that are allowed"))
            .hint("use a smaller --batch")
    })?;
    let tensor = match port.element_type {
        ElementType::F32 => Tensor::f32(shape, (0..n).map(|_| random.number()).collect()),
        ElementType::I64 => Tensor::i64(shape, (0..n_classes).cycle().take(n).collect()),
        other => return Err(cannot(&format!("it takes {other}"))),
    };
    tensor.map_err(|error| cannot(&error.to_string()))
}

/// Inputs larger than this are a mistake in typing, or in the file.
const MAX_NUMBERS: usize = 1 << 31;

/// Numbers from −1 to 1, always the same ones. Their quality does not matter for timing.
struct Random(u64);

impl Random {
    fn number(&mut self) -> f32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let top = u16::try_from(self.0 >> 48).unwrap_or(0);
        f32::from(top) / 32_768.0 - 1.0
    }
}

/// The most memory that this process has had, where the system says so.
fn peak_memory_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kilobytes.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use mohs_graph::Dim;

    use super::*;

    #[test]
    fn made_up_numbers_have_the_shape_of_the_input() {
        let dims = vec![Dim::symbol("batch"), Dim::known(3)];
        let port =
            |element_type| Port { name: "x".into(), element_type, shape: Some(dims.clone()) };
        let made = random_tensor(&port(ElementType::F32), 4, 2, &mut Random(1)).unwrap();
        assert_eq!(made.shape(), [4, 3]);
        assert!(made.as_f32().unwrap().iter().all(|number| number.abs() <= 1.0));
        let labels = random_tensor(&port(ElementType::I64), 4, 2, &mut Random(1)).unwrap();
        assert!(labels.as_i64().unwrap().iter().all(|label| (0..2).contains(label)));
    }
}
