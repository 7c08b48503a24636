//! Engines: what executes a network. `onnxruntime` if the machine has it, `rten` always.
//!
//! An [`Engine`] is chosen once; it opens networks as [`Session`]s, and a session turns tensors
//! into tensors. Both engines take the same inputs, refuse the same mistakes before they run, and
//! answer in the order of the network's outputs.
//!
//! Nothing here looks at the environment: whoever asks says where libraries may lie ([`find`]).
//! Numbers that are not finite are handed on as they are.

pub mod find;
mod library;
mod onnxruntime;
mod rten;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use bytes::Bytes;
use mohs_graph::dim;
use mohs_graph::read::ReadError;
use mohs_graph::write::WriteError;
use mohs_graph::{Graph, Port, Tensor};

pub use find::Places;

/// Which engine is wanted.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum EngineChoice {
    /// `onnxruntime` if a usable library is found, else `rten`.
    #[default]
    Auto,
    /// ONNX Runtime, a library that the machine has to have.
    OnnxRuntime,
    /// rten, which is part of this program.
    Rten,
}

/// What an engine computes on.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Device {
    /// The processor.
    #[default]
    Cpu,
    /// A graphics card of NVIDIA, by its number.
    Cuda(u32),
}

/// A word that names no engine or no device.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("expected {expected}, found `{found}`")]
pub struct UnknownWord {
    expected: &'static str,
    found: String,
}

impl FromStr for EngineChoice {
    type Err = UnknownWord;

    fn from_str(text: &str) -> Result<Self, UnknownWord> {
        match text {
            "auto" => Ok(EngineChoice::Auto),
            "onnxruntime" => Ok(EngineChoice::OnnxRuntime),
            "rten" => Ok(EngineChoice::Rten),
            _ => Err(UnknownWord {
                expected: "`auto`, `onnxruntime` or `rten`",
                found: text.to_owned(),
            }),
        }
    }
}

impl FromStr for Device {
    type Err = UnknownWord;

    fn from_str(text: &str) -> Result<Self, UnknownWord> {
        let unknown =
            || UnknownWord { expected: "`cpu`, `cuda` or `cuda:N`", found: text.to_owned() };
        match text {
            "cpu" => Ok(Device::Cpu),
            "cuda" => Ok(Device::Cuda(0)),
            _ => {
                let number = text.strip_prefix("cuda:").ok_or_else(unknown)?;
                number.parse().map(Device::Cuda).map_err(|_| unknown())
            }
        }
    }
}

impl fmt::Display for Device {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Device::Cpu => out.write_str("cpu"),
            Device::Cuda(number) => write!(out, "cuda:{number}"),
        }
    }
}

/// How networks are to be opened.
#[derive(Clone, Debug, Default)]
pub struct OpenOptions {
    /// Which engine.
    pub choice: EngineChoice,
    /// On what it computes.
    pub device: Device,
    /// With how many threads; as many as the machine offers if nothing is said.
    pub threads: Option<NonZeroUsize>,
    /// Where the library of `onnxruntime` may lie.
    pub places: Places,
}

impl OpenOptions {
    /// The number of threads to compute with.
    pub fn n_threads(&self) -> usize {
        let offered = || std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
        self.threads.map_or_else(offered, NonZeroUsize::get)
    }
}

/// An engine that cannot do what was asked.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum EngineError {
    /// No library of ONNX Runtime.
    #[error("the engine onnxruntime needs its library, found none in {} places", looked_in.len())]
    NotFound {
        /// Every place that was looked at.
        looked_in: Vec<PathBuf>,
    },
    /// A library of ONNX Runtime, but from before the functions we use.
    #[error(
        "{} is ONNX Runtime {found}; version {needed} or newer is needed",
        path.display()
    )]
    TooOld {
        /// The library.
        path: PathBuf,
        /// Its version.
        found: String,
        /// The least version.
        needed: String,
    },
    /// A file that is not a library of ONNX Runtime.
    #[error("{} is not a library of ONNX Runtime: {problem}", path.display())]
    NotALibrary {
        /// The file.
        path: PathBuf,
        /// What the system said.
        problem: String,
    },
    /// A library can be loaded only once per process.
    #[error(
        "ONNX Runtime is already loaded from {}; {} cannot be loaded beside it",
        loaded.display(),
        asked.display()
    )]
    AlreadyLoaded {
        /// What is loaded.
        loaded: PathBuf,
        /// What was asked for.
        asked: PathBuf,
    },
    /// The device is not there, or the engine cannot use it.
    #[error("the engine {engine} cannot compute on {device}: {problem}")]
    NoDevice {
        /// The engine.
        engine: &'static str,
        /// The device.
        device: Device,
        /// Why not.
        problem: String,
    },
    /// The bytes are not a network that can be read.
    #[error(transparent)]
    Unreadable(#[from] ReadError),
    /// The network cannot be written for an engine.
    #[error(transparent)]
    Unwritable(#[from] WriteError),
    /// The engine does not take the network.
    #[error("the engine {engine} cannot run this network: {problem}")]
    CannotLoad {
        /// The engine.
        engine: &'static str,
        /// What it says, with the node if it says which.
        problem: String,
    },
    /// The network has an operator that no engine brings along.
    #[error("the engine {engine} does not know the operator {op} of node `{node}`: {problem}")]
    PrivateOperator {
        /// The engine.
        engine: &'static str,
        /// The operator with its domain.
        op: String,
        /// The node.
        node: String,
        /// What the engine says.
        problem: String,
    },
    /// What was given is not what the network takes.
    #[error("the input `{name}` should be {expected}, found {found}")]
    WrongInput {
        /// The input.
        name: String,
        /// Its type and shape.
        expected: String,
        /// What was given.
        found: String,
    },
    /// The engine gave up while running.
    #[error("the engine {engine} failed: {problem}")]
    Failed {
        /// The engine.
        engine: &'static str,
        /// What it says.
        problem: String,
    },
}

impl EngineError {
    /// Says what can be done about it.
    pub fn remedy(&self) -> Option<String> {
        const INSTALL: &str =
            "pip install onnxruntime, or set ORT_DYLIB_PATH to the library, or use --engine rten";
        match self {
            EngineError::NotFound { .. } => Some(INSTALL.to_owned()),
            EngineError::TooOld { .. } => {
                Some("pip install --upgrade onnxruntime, or use --engine rten".to_owned())
            }
            EngineError::NotALibrary { .. } => Some(format!(
                "ORT_DYLIB_PATH names the file {} of ONNX Runtime; {INSTALL}",
                find::example_name()
            )),
            EngineError::AlreadyLoaded { .. } => {
                Some("choose one of them and start again".to_owned())
            }
            EngineError::NoDevice { device: Device::Cuda(_), .. } => Some(
                "pip install onnxruntime-gpu (with the CUDA it asks for), or use --device cpu"
                    .to_owned(),
            ),
            EngineError::Unreadable(_) => {
                Some("export the model again, e.g. with torch.onnx.export".to_owned())
            }
            EngineError::PrivateOperator { op, .. } => Some(format!(
                "{op} is not part of ONNX and lives in a program of its own; export the model with \
                 standard operators"
            )),
            EngineError::CannotLoad { engine: rten::NAME, .. } => {
                Some("use --engine onnxruntime, which knows more operators".to_owned())
            }
            EngineError::CannotLoad { .. } => Some(
                "`mohs network show` lists the operators; export with an older opset, or update \
                 onnxruntime"
                    .to_owned(),
            ),
            EngineError::WrongInput { .. } => {
                Some("`mohs network show` lists the inputs of a network".to_owned())
            }
            EngineError::NoDevice { .. }
            | EngineError::Unwritable(_)
            | EngineError::Failed { .. } => None,
        }
    }
}

/// A chosen engine, ready to open networks.
#[derive(Clone, Debug)]
pub struct Engine {
    kind: Kind,
    device: Device,
    n_threads: usize,
    passed_over: Option<EngineError>,
}

#[derive(Clone, Debug)]
enum Kind {
    OnnxRuntime(onnxruntime::Loaded),
    Rten,
}

impl Engine {
    /// Chooses an engine; loads the library of ONNX Runtime if that is the one.
    pub fn choose(options: &OpenOptions) -> Result<Engine, EngineError> {
        let (kind, passed_over) = match options.choice {
            EngineChoice::Rten => (Kind::Rten, None),
            EngineChoice::OnnxRuntime => (Kind::OnnxRuntime(onnxruntime::load(options)?), None),
            // A card is asked for by name; falling back to the processor would be no answer.
            EngineChoice::Auto if options.device != Device::Cpu => {
                (Kind::OnnxRuntime(onnxruntime::load(options)?), None)
            }
            EngineChoice::Auto => match onnxruntime::load(options) {
                Ok(loaded) => (Kind::OnnxRuntime(loaded), None),
                Err(error) => (Kind::Rten, Some(error)),
            },
        };
        if let (Kind::Rten, Device::Cuda(_)) = (&kind, options.device) {
            return Err(EngineError::NoDevice {
                engine: rten::NAME,
                device: options.device,
                problem: "it computes on the processor only".to_owned(),
            });
        }
        Ok(Engine { kind, device: options.device, n_threads: options.n_threads(), passed_over })
    }

    /// The same engine, computing with this many threads.
    #[must_use]
    pub fn with_threads(&self, n_threads: usize) -> Engine {
        Engine { n_threads: n_threads.max(1), ..self.clone() }
    }

    /// With how many threads it computes.
    pub fn n_threads(&self) -> usize {
        self.n_threads
    }

    /// The engine's name, as people type it.
    pub fn name(&self) -> &'static str {
        match self.kind {
            Kind::OnnxRuntime(_) => onnxruntime::NAME,
            Kind::Rten => rten::NAME,
        }
    }

    /// The engine's version.
    pub fn version(&self) -> &str {
        match &self.kind {
            Kind::OnnxRuntime(loaded) => loaded.version(),
            Kind::Rten => rten::VERSION,
        }
    }

    /// The library behind the engine, if it is one.
    pub fn library(&self) -> Option<&Path> {
        match &self.kind {
            Kind::OnnxRuntime(loaded) => Some(loaded.path()),
            Kind::Rten => None,
        }
    }

    /// What the engine computes on.
    pub fn device(&self) -> Device {
        self.device
    }

    /// What the engine can compute on, in its own words.
    pub fn devices(&self) -> Vec<String> {
        match &self.kind {
            Kind::OnnxRuntime(_) => onnxruntime::devices(),
            Kind::Rten => vec!["cpu".to_owned()],
        }
    }

    /// Why `auto` did not take ONNX Runtime, if it did not.
    pub fn passed_over(&self) -> Option<&EngineError> {
        self.passed_over.as_ref()
    }

    /// Opens the bytes of an ONNX file that holds all its weights.
    pub fn open(&self, bytes: &[u8]) -> Result<Session, EngineError> {
        let graph = mohs_graph::read::parse(Bytes::copy_from_slice(bytes))?;
        self.open_as(&graph, || Ok(bytes.into()))
    }

    fn load<'a>(
        &self,
        graph: &Graph,
        bytes: impl FnOnce() -> Result<Cow<'a, [u8]>, EngineError>,
    ) -> Result<Box<dyn Run>, EngineError> {
        Ok(match &self.kind {
            Kind::OnnxRuntime(loaded) => {
                Box::new(loaded.open(&bytes()?, self.device, self.n_threads)?)
            }
            Kind::Rten => Box::new(match rten::lowered(graph) {
                Some(lowered) => {
                    rten::open(mohs_graph::write::to_bytes(&lowered)?, graph, self.n_threads)?
                }
                None => rten::open(bytes()?.into_owned(), graph, self.n_threads)?,
            }),
        })
    }

    /// Opens a network.
    pub fn open_graph(&self, graph: &Graph) -> Result<Session, EngineError> {
        self.open_as(graph, || Ok(mohs_graph::write::to_bytes(graph)?.into()))
    }

    fn open_as<'a>(
        &self,
        graph: &Graph,
        bytes: impl FnOnce() -> Result<Cow<'a, [u8]>, EngineError>,
    ) -> Result<Session, EngineError> {
        let running =
            self.load(graph, bytes).map_err(|error| named_after_operator(error, graph))?;
        Ok(Session {
            running,
            inputs: graph.inputs.clone(),
            outputs: graph.outputs.clone(),
            engine: self.name(),
            version: self.version().to_owned(),
        })
    }
}

/// Chooses an engine and opens the bytes of an ONNX file that holds all its weights.
pub fn open(bytes: &[u8], options: &OpenOptions) -> Result<Session, EngineError> {
    Engine::choose(options)?.open(bytes)
}

/// Names the operator that makes a network unloadable, where it is one of nobody's but its maker.
fn named_after_operator(error: EngineError, graph: &Graph) -> EngineError {
    let EngineError::CannotLoad { engine, problem } = error else { return error };
    let is_known = |domain: &str| matches!(domain, "" | "ai.onnx" | "ai.onnx.ml" | "com.microsoft");
    match graph.nodes.iter().find(|node| !is_known(&node.domain)) {
        Some(node) => EngineError::PrivateOperator {
            engine,
            op: node.full_op(),
            node: node.label().to_owned(),
            problem,
        },
        None => EngineError::CannotLoad { engine, problem },
    }
}

/// What an engine does with inputs that were checked: one tensor per output, in order.
trait Run: fmt::Debug + Send {
    fn run(
        &mut self,
        inputs: &[(&str, &Tensor)],
        outputs: &[Port],
        earlier: Vec<Tensor>,
    ) -> Result<Vec<Tensor>, EngineError>;
}

/// A network opened in an engine.
#[derive(Debug)]
pub struct Session {
    running: Box<dyn Run>,
    inputs: Vec<Port>,
    outputs: Vec<Port>,
    engine: &'static str,
    version: String,
}

impl Session {
    /// What has to be given, in the order of the network.
    pub fn inputs(&self) -> &[Port] {
        &self.inputs
    }

    /// What comes back, in the order of the network.
    pub fn outputs(&self) -> &[Port] {
        &self.outputs
    }

    /// The name of the engine.
    pub fn engine(&self) -> &'static str {
        self.engine
    }

    /// The version of the engine.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// Runs the network once; outputs come in the order of the network.
    pub fn run(&mut self, inputs: &[(&str, &Tensor)]) -> Result<Vec<Tensor>, EngineError> {
        self.run_again(inputs, Vec::new())
    }

    /// Runs the network once more, in the memory of earlier outputs where they fit and are not
    /// shared: gradients of many weights are large, and new memory for them costs time.
    pub fn run_again(
        &mut self,
        inputs: &[(&str, &Tensor)],
        earlier: Vec<Tensor>,
    ) -> Result<Vec<Tensor>, EngineError> {
        check_inputs(&self.inputs, inputs)?;
        self.running.run(inputs, &self.outputs, earlier)
    }
}

/// Makes sure that every input is given once, with the type and shape the network takes.
fn check_inputs(ports: &[Port], given: &[(&str, &Tensor)]) -> Result<(), EngineError> {
    let wrong = |name: &str, expected: String, found: String| {
        Err(EngineError::WrongInput { name: name.to_owned(), expected, found })
    };
    for (idx, (name, tensor)) in given.iter().enumerate() {
        if !ports.iter().any(|port| port.name == *name) {
            let names: Vec<&str> = ports.iter().map(|port| port.name.as_str()).collect();
            let expected = format!("one of the network's inputs ({})", names.join(", "));
            return wrong(name, expected, "a name it does not have".to_owned());
        }
        if given[..idx].iter().any(|(other, _)| other == name) {
            return wrong(name, "given once".to_owned(), describe(tensor));
        }
    }
    let mut sizes = BTreeMap::new();
    for port in ports {
        let Some((_, tensor)) = given.iter().find(|(name, _)| *name == port.name) else {
            return wrong(&port.name, describe_port(port), "nothing".to_owned());
        };
        if tensor.element_type() != port.element_type || !fits(port, tensor, &mut sizes) {
            return wrong(&port.name, describe_port(port), describe(tensor));
        }
    }
    Ok(())
}

/// Whether a tensor has the shape of a port; a symbol has one size in all inputs of a run.
fn fits<'a>(port: &'a Port, tensor: &Tensor, sizes: &mut BTreeMap<&'a str, usize>) -> bool {
    let Some(dims) = &port.shape else { return true };
    dims.len() == tensor.shape().len()
        && dims.iter().zip(tensor.shape()).all(|(dim, &size)| {
            match (dim.as_known(), dim.factor(), dim.symbols()) {
                (Some(known), ..) => usize::try_from(known) == Ok(size),
                (None, 1, [symbol]) => *sizes.entry(symbol.as_str()).or_insert(size) == size,
                // A product of symbols is left to the engine.
                _ => true,
            }
        })
}

fn describe(tensor: &Tensor) -> String {
    format!("{} {:?}", tensor.element_type(), tensor.shape())
}

fn describe_port(port: &Port) -> String {
    match &port.shape {
        Some(dims) => format!("{} {}", port.element_type, dim::describe(dims)),
        None => format!("{} of any shape", port.element_type),
    }
}

/// An error for an output that an engine returned in a form that has no place here.
fn odd_output(engine: &'static str, port: &Port, found: &str) -> EngineError {
    let problem =
        format!("the output `{}` should be {}, found {found}", port.name, port.element_type);
    EngineError::Failed { engine, problem }
}

#[cfg(test)]
mod tests;
