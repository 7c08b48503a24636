//! ONNX Runtime through `ort`: a library found on the machine and loaded once per process.
//!
//! The library is looked at before `ort` sees it ([`find`](super::find)), because `ort` panics when
//! something is wrong with it. Its log is kept silent: what matters comes back as an error.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use mohs_graph::{Data, Port, Tensor};
use ort::ep::{self, ExecutionProvider};
use ort::logging::LogLevel;
use ort::session::builder::GraphOptimizationLevel;
use ort::session::{Session as OrtSession, SessionInputValue};
use ort::value::{DynValue, TensorElementType, TensorRef};

use super::{Device, EngineError, OpenOptions, Run, find, odd_output};

/// The engine's name, as people type it.
pub(super) const NAME: &str = "onnxruntime";

/// The library, loaded.
#[derive(Clone)]
pub(super) struct Loaded {
    environment: ort::environment::Environment,
    path: PathBuf,
    version: String,
}

impl std::fmt::Debug for Loaded {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "Loaded({} {})", self.path.display(), self.version)
    }
}

static LOADED: Mutex<Option<Loaded>> = Mutex::new(None);

/// Finds and loads the library, or returns the one that is loaded.
pub(super) fn load(options: &OpenOptions) -> Result<Loaded, EngineError> {
    let mut loaded = LOADED.lock().unwrap_or_else(PoisonError::into_inner);
    let found = find::onnxruntime(&options.places).found?;
    if let Some(loaded) = loaded.as_ref() {
        if loaded.path == found.path {
            return Ok(loaded.clone());
        }
        return Err(EngineError::AlreadyLoaded { loaded: loaded.path.clone(), asked: found.path });
    }
    let not_a_library =
        |problem: String| EngineError::NotALibrary { path: found.path.clone(), problem };
    let environment = ort::init_from(&found.path)
        .map_err(|error| not_a_library(error.to_string()))?
        .with_name("mohs")
        .with_telemetry(false)
        .with_logger(Arc::new(|_, _, _, _, _| {}))
        .build()
        .map_err(|error| not_a_library(error.to_string()))?;
    environment.set_log_level(LogLevel::Fatal);
    let ready = Loaded { environment, path: found.path, version: found.version };
    *loaded = Some(ready.clone());
    Ok(ready)
}

/// What the loaded library can compute on.
pub(super) fn devices() -> Vec<String> {
    let mut devices = vec!["cpu".to_owned()];
    if ep::CUDA::is_available().unwrap_or(false) {
        devices.push("cuda".to_owned());
    }
    devices
}

impl Loaded {
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn version(&self) -> &str {
        &self.version
    }

    /// Opens the bytes of an ONNX file.
    pub(super) fn open(
        &self,
        bytes: &[u8],
        device: Device,
        n_threads: usize,
    ) -> Result<Opened, EngineError> {
        let mut builder = self.builder(n_threads).map_err(|problem| cannot_load(&problem))?;
        if let Device::Cuda(number) = device {
            let no_device =
                |problem: String| EngineError::NoDevice { engine: NAME, device, problem };
            if !ep::CUDA::is_available().unwrap_or(false) {
                let problem = format!("{} was built without CUDA", self.path.display());
                return Err(no_device(problem));
            }
            let number =
                i32::try_from(number).map_err(|_| no_device("there is no such card".to_owned()))?;
            // TensorFloat-32 would make logits differ from the processor's in the third digit.
            let cuda = ep::CUDA::default().with_device_id(number).with_tf32(false).build();
            builder = builder
                .with_execution_providers([cuda.error_on_failure()])
                .map_err(|error| no_device(error.message().to_owned()))?;
        }
        let session =
            builder.commit_from_memory(bytes).map_err(|error| cannot_load(error.message()))?;
        Ok(Opened { session })
    }

    fn builder(&self, n_threads: usize) -> Result<ort::session::builder::SessionBuilder, String> {
        let message = |error: ort::Error<_>| error.message().to_owned();
        OrtSession::builder(&self.environment)
            .map_err(|error| error.message().to_owned())?
            .with_optimization_level(GraphOptimizationLevel::All)
            .and_then(|builder| builder.with_intra_threads(n_threads))
            .and_then(|builder| builder.with_parallel_execution(false))
            .and_then(|builder| builder.with_memory_pattern(true))
            .and_then(|builder| builder.with_deterministic_compute(true))
            .and_then(|builder| builder.with_log_level(LogLevel::Fatal))
            .map_err(message)
    }
}

fn cannot_load(problem: &str) -> EngineError {
    EngineError::CannotLoad { engine: NAME, problem: in_one_line(problem) }
}

fn failed(problem: &str) -> EngineError {
    EngineError::Failed { engine: NAME, problem: in_one_line(problem) }
}

/// ONNX Runtime puts places in its own source before what it has to say.
fn in_one_line(problem: &str) -> String {
    problem.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A network opened in ONNX Runtime.
#[derive(Debug)]
pub(super) struct Opened {
    session: OrtSession,
}

impl Run for Opened {
    fn run(
        &mut self,
        inputs: &[(&str, &Tensor)],
        outputs: &[Port],
        earlier: Vec<Tensor>,
    ) -> Result<Vec<Tensor>, EngineError> {
        let mut values = Vec::with_capacity(inputs.len());
        for (name, tensor) in inputs {
            values.push((*name, input(name, tensor)?));
        }
        let mut answers = self.session.run(values).map_err(|error| failed(error.message()))?;
        let mut tensors = Vec::with_capacity(outputs.len());
        let mut earlier = earlier.into_iter();
        for port in outputs {
            let answer = answers.remove(&port.name);
            let answer = answer.ok_or_else(|| odd_output(NAME, port, "nothing"))?;
            tensors.push(match earlier.next().and_then(|tensor| refilled(tensor, &answer)) {
                Some(tensor) => tensor,
                None => output(port, &answer)?,
            });
        }
        Ok(tensors)
    }
}

/// A view of a tensor; nothing is copied.
fn input<'a>(name: &str, tensor: &'a Tensor) -> Result<SessionInputValue<'a>, EngineError> {
    let shape = tensor.shape().to_vec();
    let value = match tensor.data() {
        Data::F32(values) => TensorRef::from_array_view((shape, values.as_slice())).map(Into::into),
        Data::F64(values) => TensorRef::from_array_view((shape, values.as_slice())).map(Into::into),
        Data::I64(values) => TensorRef::from_array_view((shape, values.as_slice())).map(Into::into),
        Data::I32(values) => TensorRef::from_array_view((shape, values.as_slice())).map(Into::into),
        Data::I8(values) => TensorRef::from_array_view((shape, values.as_slice())).map(Into::into),
        Data::U8(values) => TensorRef::from_array_view((shape, values.as_slice())).map(Into::into),
        Data::Bool(values) => {
            TensorRef::from_array_view((shape, values.as_slice())).map(Into::into)
        }
        Data::Other { .. } => {
            return Err(EngineError::WrongInput {
                name: name.to_owned(),
                expected: "of a type that can be handed over".to_owned(),
                found: tensor.element_type().to_string(),
            });
        }
    };
    value.map_err(|error| failed(error.message()))
}

/// Copies an answer into the memory of an earlier one, if it has the same shape and nobody else
/// uses it.
fn refilled(mut tensor: Tensor, value: &DynValue) -> Option<Tensor> {
    let (shape, values) = value.try_extract_tensor::<f32>().ok()?;
    let fits = shape.len() == tensor.shape().len()
        && shape.iter().zip(tensor.shape()).all(|(&new, &old)| usize::try_from(new) == Ok(old));
    if !fits {
        return None;
    }
    tensor.as_f32_mut()?.copy_from_slice(values);
    Some(tensor)
}

/// Copies an answer out of the memory of ONNX Runtime.
fn output(port: &Port, value: &DynValue) -> Result<Tensor, EngineError> {
    macro_rules! copied {
        ($kind:ident) => {{
            let (shape, values) =
                value.try_extract_tensor().map_err(|error| failed(error.message()))?;
            (shape.to_vec(), Data::$kind(Arc::new(values.to_vec())))
        }};
    }
    let (shape, data) = match value.dtype().tensor_type() {
        Some(TensorElementType::Float32) => copied!(F32),
        Some(TensorElementType::Float64) => copied!(F64),
        Some(TensorElementType::Int64) => copied!(I64),
        Some(TensorElementType::Int32) => copied!(I32),
        Some(TensorElementType::Int8) => copied!(I8),
        Some(TensorElementType::Uint8) => copied!(U8),
        Some(TensorElementType::Bool) => copied!(Bool),
        Some(other) => return Err(odd_output(NAME, port, &other.to_string())),
        None => return Err(odd_output(NAME, port, "something that is no tensor")),
    };
    let shape: Result<Vec<usize>, _> = shape.into_iter().map(usize::try_from).collect();
    let shape = shape.map_err(|_| odd_output(NAME, port, "a negative size"))?;
    Tensor::new(shape, data).map_err(|error| odd_output(NAME, port, &error.to_string()))
}
