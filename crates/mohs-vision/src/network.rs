//! A model file ready to run: read, brought into the house dialect, opened in an engine.
//!
//! [`Network::read`] reads the file and the weights that lie beside it. [`Answers`] runs it and
//! [`Gradients`] runs it with the gradient of a scalar. Both take any number of examples: where the
//! file fixes the batch, they run chunk by chunk, the last one filled up and its filling dropped.

mod note;

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;
use mohs_graph::cut::{self, CutError};
use mohs_graph::derive::{self, DeriveError, Derived};
use mohs_graph::normalise::{self, NormaliseError};
use mohs_graph::read::{self, External, ReadError};
use mohs_graph::scalar::{Reduction, Scalar};
use mohs_graph::{Data, Dim, ElementType, Graph, Port, Tensor, batch, dim, fold, train};

pub use note::Note;

use crate::engine::{Engine, EngineError, Session};

/// A model that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum NetworkError {
    /// The file could not be read.
    #[error("cannot read the model {}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The file is not a network, or not a complete one.
    #[error("cannot understand the model {}", path.display())]
    NotANetwork {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: ReadError,
    },
    /// The network is written in a way that is not understood.
    #[error("cannot understand the model {}", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
        /// What is not understood.
        source: NormaliseError,
    },
    /// The network cannot be rewritten.
    #[error(transparent)]
    Rewrite(#[from] NormaliseError),
    /// The network does not take pictures.
    #[error("the model should take one batch of pictures, {expected}; found {found}")]
    NoPictures {
        /// What pictures look like.
        expected: &'static str,
        /// What the network takes.
        found: String,
    },
    /// The network answers with nothing per example.
    #[error(
        "the output `{output}` should have one row per example, found {found} for {n_examples}"
    )]
    NotPerExample {
        /// The output.
        output: String,
        /// Its shape.
        found: String,
        /// How many examples there were.
        n_examples: usize,
    },
    /// The engine cannot do it.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// There is no gradient.
    #[error(transparent)]
    Derive(#[from] DeriveError),
}

/// A model as read from a file.
#[derive(Clone, Debug)]
pub struct Network {
    file: Graph,
    graph: Graph,
    fixed_because: Option<String>,
    files: Vec<PathBuf>,
}

/// How many examples a network takes at once.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Batch {
    /// Any number.
    Free,
    /// This many, and no other number.
    Fixed(usize),
}

impl Network {
    /// Reads an ONNX file and the weights that lie beside it.
    pub fn read(path: &Path) -> Result<Network, NetworkError> {
        let bytes = std::fs::read(path)
            .map_err(|source| NetworkError::Unreadable { path: path.to_owned(), source })?;
        let folder = path.parent().unwrap_or(Path::new(""));
        let mut files = vec![path.to_owned()];
        let mut fetched = |external: &External| {
            let found = fetch(folder, external);
            let beside = folder.join(&external.location);
            if found.is_ok() && !files.contains(&beside) {
                files.push(beside);
            }
            found
        };
        let file = read::parse_with(bytes.into(), &mut fetched)
            .map_err(|source| NetworkError::NotANetwork { path: path.to_owned(), source })?;
        let foreign = |source| NetworkError::Foreign { path: path.to_owned(), source };
        let graph = normalise::normalise(file.clone()).map_err(foreign)?;
        let graph = fold::simplify(graph).map_err(|error| foreign(error.into()))?;
        let (graph, fixed_because) = freed(graph);
        Ok(Network { file, graph, fixed_because, files })
    }

    /// A network that is in the house dialect already, such as one built here.
    pub fn from_graph(graph: Graph) -> Network {
        Network { file: graph.clone(), graph, fixed_because: None, files: Vec::new() }
    }

    /// The same model with another graph, which treats the examples of a batch as this one does.
    pub(crate) fn with_graph(&self, graph: Graph) -> Network {
        Network { graph, ..self.clone() }
    }

    /// The files it was read from: the network, and weights that lie beside it.
    pub fn files(&self) -> &[PathBuf] {
        &self.files
    }

    /// What the file says about itself, if `mohs fit` made it.
    pub fn note(&self) -> Option<Note> {
        Note::read(&self.file.metadata)
    }

    /// The network as the file has it.
    pub fn file(&self) -> &Graph {
        &self.file
    }

    /// The network in the house dialect, constants and batch normalisation folded.
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// The network in the house dialect with every weight as the file has it: for gradients with
    /// respect to weights.
    pub fn unfolded(&self) -> Result<Graph, NetworkError> {
        let graph = normalise::normalise(self.file.clone())?;
        let is_float = |(_, tensor): &(&String, &Tensor)| tensor.element_type().is_float();
        let keep =
            self.file.weights.iter().filter(is_float).map(|(name, _)| name.clone()).collect();
        let graph = fold::simplify_keeping(graph, &keep).map_err(NormaliseError::from)?;
        Ok(freed(graph).0)
    }

    /// Names of the weights that training would change, in [`Network::unfolded`].
    pub fn trainable(&self) -> Result<Vec<String>, NetworkError> {
        let mut names = train::trainable(&normalise::normalise(self.file.clone())?);
        // Constants that stand in the network itself are no weights.
        names.retain(|name| self.file.weights.contains_key(name));
        Ok(names)
    }

    /// Why the batch could not be freed, if it is fixed.
    pub fn fixed_because(&self) -> Option<&str> {
        self.fixed_because.as_deref()
    }

    /// How many examples it takes at once.
    pub fn batch(&self) -> Batch {
        match batch_of(&self.graph) {
            // Pictures that might change each other's answers are run one by one.
            Batch::Free if self.fixed_because.is_some() => Batch::Fixed(1),
            found => found,
        }
    }

    /// The input that takes pictures: the only one with floating-point numbers.
    pub fn pictures(&self) -> Result<&Port, NetworkError> {
        const EXPECTED: &str = "f32 [batch, 3, height, width]";
        let floats: Vec<&Port> =
            self.graph.inputs.iter().filter(|port| port.element_type.is_float()).collect();
        let found = match floats.as_slice() {
            [port] if self.graph.inputs.len() == 1 => match &port.shape {
                Some(dims) if dims.len() == 4 && dims[1] == Dim::known(3) => return Ok(port),
                Some(dims) => format!("{} {}", port.element_type, dim::describe(dims)),
                None => format!("{} of unknown shape", port.element_type),
            },
            _ => format!("{} inputs", self.graph.inputs.len()),
        };
        Err(NetworkError::NoPictures { expected: EXPECTED, found })
    }

    /// Width and height of the pictures, where the network says so.
    pub fn picture_size(&self) -> Result<Option<(u32, u32)>, NetworkError> {
        let dims = self.pictures()?.shape.as_deref().unwrap_or_default();
        let side = |idx: usize| dims.get(idx)?.as_known().and_then(|n| u32::try_from(n).ok());
        Ok(side(3).zip(side(2)))
    }

    /// Whether the first output is made of probabilities already: it comes out of a softmax.
    pub fn answers_with_probabilities(&self) -> bool {
        let makers = self.graph.makers();
        let mut name = self.graph.outputs.first().map(|port| port.name.as_str());
        while let Some(&idx) = name.and_then(|name| makers.get(name)) {
            let node = &self.graph.nodes[idx];
            match node.op.as_str() {
                "Softmax" => return true,
                "Identity" | "Reshape" | "Flatten" | "Squeeze" => name = node.input(0),
                _ => return false,
            }
        }
        false
    }

    /// Has the network answer with its first output, with this value of it, and nothing else.
    pub fn answering_first_and(mut self, name: Option<&str>) -> Result<Network, CutError> {
        let first = self.graph.outputs.first().map(|port| port.name.clone());
        let names: Vec<&str> = first.as_deref().into_iter().chain(name).collect();
        let is_so = self.graph.outputs.iter().map(|port| port.name.as_str()).eq(names.clone());
        if !is_so {
            self.graph = cut::cut(self.graph, &names)?;
        }
        Ok(self)
    }

    /// Opens the network to get answers.
    pub fn open(&self, engine: &Engine) -> Result<Answers, NetworkError> {
        let session = engine.open_graph(&self.graph)?;
        Ok(Answers { session, batch: self.batch() })
    }

    /// Derives the gradient of a scalar with respect to the pictures, and opens it.
    pub fn open_input_gradient(
        &self,
        scalar: &Scalar,
        engine: &Engine,
    ) -> Result<Gradients, NetworkError> {
        let input = self.pictures()?.name.clone();
        let derived = derive::derive(&self.graph, scalar, Reduction::Sum, &[input])?;
        let session = engine.open_graph(&derived.graph)?;
        Ok(Gradients { session, batch: self.batch(), derived })
    }
}

/// Fetches weights from a file beside the network; never from anywhere else.
fn fetch(folder: &Path, external: &External) -> Result<Bytes, String> {
    let location = Path::new(&external.location);
    let is_beside = location.components().all(|part| matches!(part, Component::Normal(_)));
    if !is_beside || external.location.is_empty() {
        return Err("weights are read only from files beside the model or below".to_owned());
    }
    // A pipe would wait for somebody to write into it.
    if !folder.join(location).is_file() {
        return Err("there is no such file beside the model".to_owned());
    }
    let mut file = File::open(folder.join(location)).map_err(|error| error.to_string())?;
    let n_bytes = file.metadata().map_err(|error| error.to_string())?.len();
    let rest = n_bytes.checked_sub(external.offset).ok_or("the file is too short")?;
    let length = external.length.unwrap_or(rest);
    if rest < length {
        return Err(format!(
            "the file should have {length} bytes from {} on, found {rest}",
            external.offset
        ));
    }
    let length = usize::try_from(length).map_err(|error| error.to_string())?;
    let mut bytes = vec![0; length];
    file.seek(SeekFrom::Start(external.offset))
        .and_then(|_| file.read_exact(&mut bytes))
        .map_err(|error| error.to_string())?;
    Ok(bytes.into())
}

/// Frees the batch of a network where that can be proven to change nothing; else says why not.
///
/// A batch that is free already has to pass the same proof: rows that mix would make answers depend
/// on what else is in the batch.
fn freed(graph: Graph) -> (Graph, Option<String>) {
    let fixed = if batch::batch_symbol(&graph).is_some() {
        match batch::set_batch(graph.clone(), 1) {
            Ok(single) => batch::free_batch(single).err(),
            Err(_) => None,
        }
    } else {
        match batch::free_batch(graph.clone()) {
            Ok(freed) => return (freed, None),
            Err(fixed) => Some(fixed),
        }
    };
    (graph, fixed.map(|fixed| fixed.to_string()))
}

/// How many examples a network takes: the first dimension of its first input.
fn batch_of(graph: &Graph) -> Batch {
    let first = graph.inputs.first().and_then(|port| port.shape.as_ref()?.first());
    first.and_then(Dim::as_size).map_or(Batch::Free, Batch::Fixed)
}

/// A network that answers.
#[derive(Debug)]
pub struct Answers {
    session: Session,
    batch: Batch,
}

impl Answers {
    /// The session behind it.
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// Rows of numbers for `n` pictures of `width` × `height` whose numbers stand one after the
    /// other: for each picture one row per output.
    pub fn rows(
        &mut self,
        numbers: Vec<f32>,
        n: usize,
        (width, height): (u32, u32),
    ) -> Result<Vec<Vec<Vec<f32>>>, NetworkError> {
        let shape = vec![n, 3, height as usize, width as usize];
        let wrong = |output: &str, found: String| NetworkError::NotPerExample {
            output: output.to_owned(),
            found,
            n_examples: n,
        };
        let n_numbers = numbers.len();
        let pictures = Tensor::f32(shape, numbers)
            .map_err(|_| wrong("pictures", format!("{n_numbers} numbers")))?;
        let outputs = self.answer_all(&pictures)?;
        let mut rows = vec![Vec::with_capacity(outputs.len()); n];
        for (output, port) in outputs.iter().zip(self.session.outputs()) {
            let numbers = output.as_f32().unwrap_or_default();
            if output.shape().first() != Some(&n) || numbers.len() < n {
                let found = format!("{} {:?}", output.element_type(), output.shape());
                return Err(wrong(&port.name, found));
            }
            for (row, numbers) in rows.iter_mut().zip(numbers.chunks(numbers.len() / n)) {
                row.push(numbers.to_vec());
            }
        }
        Ok(rows)
    }

    /// Answers for any number of pictures with every output.
    pub fn answer_all(&mut self, pictures: &Tensor) -> Result<Vec<Tensor>, NetworkError> {
        let name = self.session.inputs().first().map(|port| port.name.clone()).unwrap_or_default();
        run_in_chunks(&mut self.session, self.batch, &[(&name, pictures)])
    }

    /// Answers for any number of pictures: the first output, one row per picture.
    pub fn answer(&mut self, pictures: &Tensor) -> Result<Tensor, NetworkError> {
        self.answer_all(pictures)?.into_iter().next().ok_or_else(|| NetworkError::NotPerExample {
            output: "(none)".to_owned(),
            found: "nothing".to_owned(),
            n_examples: pictures.shape().first().copied().unwrap_or(0),
        })
    }
}

/// A network that answers and differentiates.
#[derive(Debug)]
pub struct Gradients {
    session: Session,
    batch: Batch,
    derived: Derived,
}

/// What came back for some pictures.
#[derive(Clone, PartialEq, Debug)]
pub struct Gradient {
    /// The network's first output, one row per picture.
    pub answers: Tensor,
    /// The scalar of each picture.
    pub loss: Tensor,
    /// The gradient of each picture's scalar with respect to that picture.
    pub gradient: Tensor,
}

impl Gradients {
    /// The session behind it.
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// The inputs that the scalar needs beside the pictures, such as `labels`.
    pub fn needs(&self) -> &[String] {
        &self.derived.needs
    }

    /// Answers and gradients for any number of pictures; inputs by name, as the session has them.
    pub fn run(&mut self, inputs: &[(&str, &Tensor)]) -> Result<Gradient, NetworkError> {
        let outputs = run_in_chunks(&mut self.session, self.batch, inputs)?;
        let ports = self.session.outputs();
        let by_name = |name: &str| {
            let found = ports.iter().position(|port| port.name == name);
            found.and_then(|idx| outputs.get(idx).cloned())
        };
        let gradient = self.derived.gradients.first().and_then(|name| by_name(name));
        match (outputs.first().cloned(), by_name(&self.derived.loss), gradient) {
            (Some(answers), Some(loss), Some(gradient)) => Ok(Gradient { answers, loss, gradient }),
            _ => Err(NetworkError::NotPerExample {
                output: self.derived.loss.clone(),
                found: "nothing".to_owned(),
                n_examples: 0,
            }),
        }
    }
}

/// Runs a session on any number of examples, the first dimension of every input.
fn run_in_chunks(
    session: &mut Session,
    batch: Batch,
    inputs: &[(&str, &Tensor)],
) -> Result<Vec<Tensor>, NetworkError> {
    let n_examples = inputs.first().and_then(|(_, tensor)| tensor.shape().first().copied());
    let (Some(n_examples), Batch::Fixed(size @ 1..)) = (n_examples, batch) else {
        return Ok(session.run(inputs)?);
    };
    if n_examples == size || n_examples == 0 {
        return Ok(session.run(inputs)?);
    }
    for (name, tensor) in inputs {
        // Rows are only repeated to fill up the last chunk, never because some were not given.
        if tensor.shape().first() != Some(&n_examples) {
            return Err(NetworkError::Engine(EngineError::WrongInput {
                name: (*name).to_owned(),
                expected: format!("of {n_examples} rows, one per example"),
                found: format!("the shape {:?}", tensor.shape()),
            }));
        }
    }
    let mut parts: Vec<Vec<Tensor>> = Vec::new();
    for start in (0..n_examples).step_by(size) {
        let chunk: Vec<(&str, Tensor)> = inputs
            .iter()
            .map(|(name, tensor)| (*name, rows(tensor, start, start + size)))
            .collect();
        let chunk: Vec<(&str, &Tensor)> = chunk.iter().map(|(name, rows)| (*name, rows)).collect();
        parts.push(session.run(&chunk)?);
    }
    let mut joined = Vec::with_capacity(session.outputs().len());
    for (idx, port) in session.outputs().iter().enumerate() {
        let part: Vec<&Tensor> = parts.iter().filter_map(|part| part.get(idx)).collect();
        let wrong = part.iter().find(|tensor| tensor.shape().first() != Some(&size));
        if let Some(wrong) = wrong {
            return Err(NetworkError::NotPerExample {
                output: port.name.clone(),
                found: format!("{:?}", wrong.shape()),
                n_examples: size,
            });
        }
        joined.push(join(&part, n_examples));
    }
    Ok(joined)
}

/// Rows of a tensor; rows beyond its end repeat the last one, so that they hold usual numbers.
fn rows(tensor: &Tensor, start: usize, end: usize) -> Tensor {
    let n_rows = tensor.shape().first().copied().unwrap_or(0);
    let take = |row: usize| row.min(n_rows.saturating_sub(1));
    with_rows(&[tensor], (start..end).map(take).collect())
}

/// Puts tensors one below the other and keeps the first rows.
fn join(parts: &[&Tensor], n_rows: usize) -> Tensor {
    with_rows(parts, (0..n_rows).collect())
}

/// These rows of tensors that stand one below the other; all have the same rows otherwise.
fn with_rows(parts: &[&Tensor], rows: Vec<usize>) -> Tensor {
    fn pick<T: Copy>(parts: &[&[T]], rows: &[usize], row_len: usize) -> Arc<Vec<T>> {
        let n_per_part =
            parts.first().map_or(0, |part| part.len().checked_div(row_len).unwrap_or(0));
        let mut picked = Vec::with_capacity(rows.len() * row_len);
        for row in rows {
            let (part, row) = (row / n_per_part.max(1), row % n_per_part.max(1));
            picked.extend_from_slice(&parts[part][row * row_len..][..row_len]);
        }
        Arc::new(picked)
    }
    let first = parts.first().expect("because there is at least one part");
    let row_len: usize = first.shape().iter().skip(1).product();
    macro_rules! picked {
        ($kind:ident) => {{
            let slices: Vec<&[_]> = parts
                .iter()
                .filter_map(|part| match part.data() {
                    Data::$kind(values) => Some(values.as_slice()),
                    _ => None,
                })
                .collect();
            Data::$kind(pick(&slices, &rows, row_len))
        }};
    }
    let data = match first.element_type() {
        ElementType::F32 => picked!(F32),
        ElementType::F64 => picked!(F64),
        ElementType::I64 => picked!(I64),
        ElementType::I32 => picked!(I32),
        ElementType::I8 => picked!(I8),
        ElementType::U8 => picked!(U8),
        ElementType::Bool => picked!(Bool),
        ElementType::Other(_) => return (*first).clone(),
    };
    let shape = [&[rows.len()][..], &first.shape()[1..]].concat();
    Tensor::new(shape, data).expect("because as many rows were picked as the shape says")
}

#[cfg(test)]
mod tests;
