//! A model as attacks see it: from pixels in [0, 1] to one logit per label, with slopes.
//!
//! What a model wants to be given (order of channels, mean, spread) and what its outputs stand for
//! become part of its graph, so that slopes are with respect to pixels and of labels.
//!
//! Engines are called with a fixed number of examples, filled up if need be; with one, unless told
//! otherwise. With more than one, what is said of an example depends on its place among them:
//! onnxruntime adds up a row of ten numbers in another order where it begins at another address, and
//! the last numbers of a batch are not computed by the instructions that compute the others. An
//! attack that follows the sign of a small slope then takes another turn.

use std::collections::BTreeSet;
use std::num::NonZeroUsize;

use mohs_graph::build::{BuildError, Builder};
use mohs_graph::derive::DeriveError;
use mohs_graph::grad::GradError;
use mohs_graph::grad::operator::{self, Rule};
use mohs_graph::scalar::Scalar;
use mohs_graph::{Attribute, Graph, Node, Port, Tensor, cut};

use super::{Aim, Loss};
use crate::engine::{Engine, EngineError};
use crate::input::{Channels, InputSpec};
use crate::labels::{Labels, Reading};
use crate::network::{Answers, Gradients, Network, NetworkError};

/// Operators that look at sizes only, which no pixel changes.
const SIZE_OPS: &[&str] =
    &["ConstantOfShape", "EyeLike", "RandomNormalLike", "RandomUniformLike", "Shape", "Size"];

/// A model that cannot be attacked.
#[derive(Debug, thiserror::Error)]
pub enum WhiteBoxError {
    /// The network cannot be read, opened or differentiated.
    #[error(transparent)]
    Network(#[from] NetworkError),
    /// The network cannot be put between pixels and labels.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// The end of the network cannot be cut.
    #[error(transparent)]
    Cut(#[from] cut::CutError),
    /// No pixel has a slope.
    #[error(
        "the answer has no slope in any pixel: every way to it goes through an operator that is flat, \
         here {ops}"
    )]
    Flat {
        /// The flat operators that pixels reach first.
        ops: String,
    },
    /// Several outputs stand for a label by their largest, which has no useful slope.
    #[error("labels that stand for the largest of several outputs cannot be attacked")]
    LargestOfSeveral,
    /// An answer that is not a number for each label.
    #[error("the model should answer with {expected} numbers per picture, found {found}")]
    OtherLength {
        /// How many labels there are.
        expected: usize,
        /// How many numbers came.
        found: usize,
    },
}

/// A model from pixels to labels, not yet opened.
#[derive(Debug)]
pub struct WhiteBox {
    network: Network,
    size: (u32, u32),
    n_labels: usize,
    is_random: bool,
    engine_batch: usize,
}

impl WhiteBox {
    /// Puts a network between pixels and labels.
    pub fn new(
        network: &Network,
        spec: &InputSpec,
        labels: &Labels,
    ) -> Result<WhiteBox, WhiteBoxError> {
        let input = network.pictures()?.clone();
        let is_random = network.graph().nodes.iter().any(Node::is_random);
        let graph = over_pixels(network.graph().clone(), &input, spec);
        let is_probability = network.answers_with_probabilities();
        let (graph, n_labels) = over_labels(graph, labels, is_probability)?;
        Ok(WhiteBox {
            network: network.with_graph(graph),
            size: (spec.width, spec.height),
            n_labels,
            is_random,
            engine_batch: 1,
        })
    }

    /// Has the engine asked about as many examples at once, always.
    pub fn with_engine_batch(self, n: NonZeroUsize) -> WhiteBox {
        WhiteBox { engine_batch: n.get(), ..self }
    }

    /// How many examples the engine gets at once.
    pub fn engine_batch(&self) -> usize {
        self.engine_batch
    }

    /// Whether the model draws random numbers.
    pub fn is_random(&self) -> bool {
        self.is_random
    }

    /// How many labels there are.
    pub fn n_labels(&self) -> usize {
        self.n_labels
    }

    /// About how many bytes one session of it takes.
    pub fn n_bytes(&self) -> usize {
        self.network.graph().n_parameters() * 4
    }

    /// Opens what answers questions about it in an engine.
    pub fn open(&self, engine: &Engine) -> Oracle<'_> {
        Oracle {
            model: self,
            engine: engine.clone(),
            answers: None,
            gradients: Default::default(),
            n_calls: Calls::default(),
        }
    }

    /// Makes sure that slopes of these kinds can be had, by deriving them.
    pub fn check(&self, slopes: &[Slope], engine: &Engine) -> Result<(), WhiteBoxError> {
        for slope in slopes {
            match self.network.open_input_gradient(&slope.scalar(), engine) {
                Ok(_) => {}
                Err(NetworkError::Derive(DeriveError::Grad(GradError::Independent { .. }))) => {
                    return Err(WhiteBoxError::Flat { ops: self.first_flat_ops() });
                }
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    /// The operators at which the slopes of pixels end, by name.
    fn first_flat_ops(&self) -> String {
        let graph = self.network.graph();
        let mut moving: BTreeSet<&str> =
            graph.inputs.iter().map(|port| port.name.as_str()).collect();
        let mut flat = BTreeSet::new();
        for node in &graph.nodes {
            if !node.inputs.iter().any(|name| moving.contains(name.as_str())) {
                continue;
            }
            match operator::rule(node) {
                Rule::Flat if !SIZE_OPS.contains(&node.op.as_str()) => {
                    flat.insert(node.op.as_str());
                }
                Rule::Flat => {}
                _ => {
                    let made = node.outputs.iter().map(String::as_str);
                    // An output that is left out has no name.
                    moving.extend(made.filter(|name| !name.is_empty()));
                }
            }
        }
        let names: Vec<&str> = flat.into_iter().collect();
        if names.is_empty() { "one that cuts off".to_owned() } else { names.join(", ") }
    }
}

/// Gives a network pixels in [0, 1] as its input.
fn over_pixels(mut graph: Graph, input: &Port, spec: &InputSpec) -> Graph {
    let free = |graph: &Graph, like: &str| {
        let names = graph.value_names();
        let mut name = like.to_owned();
        while names.contains(name.as_str()) {
            name.push('_');
        }
        name
    };
    let pixels = free(&graph, "pixels");
    let mut nodes = Vec::new();
    let mut last = pixels.clone();
    let mut push = |graph: &mut Graph, op: &str, constant: Tensor, axis: Option<i64>| {
        let number = nodes.len();
        let weight = free(graph, &format!("pixels.{number}.by"));
        let made = free(graph, &format!("pixels.{number}"));
        graph.weights.insert(weight.clone(), constant);
        let mut node = Node::new(op, &[&last, &weight], &[&made]);
        node.name.clone_from(&made);
        if let Some(axis) = axis {
            node = node.with("axis", Attribute::Int(axis));
        }
        nodes.push(node);
        last = made;
    };
    if spec.channels == Channels::Bgr {
        push(&mut graph, "Gather", Tensor::list(vec![2, 1, 0]), Some(1));
    }
    #[expect(clippy::float_cmp, reason = "a scale of exactly one changes nothing")]
    if spec.scale != 1.0 {
        push(&mut graph, "Mul", Tensor::scalar(spec.scale), None);
    }
    let per_channel = |numbers: [f32; 3]| {
        Tensor::f32(vec![1, 3, 1, 1], numbers.to_vec()).expect("because there are three channels")
    };
    push(&mut graph, "Sub", per_channel(spec.mean), None);
    push(&mut graph, "Div", per_channel(spec.sd), None);
    let last_node = nodes.last_mut().expect("because two nodes were just put in");
    last_node.outputs = vec![input.name.clone()];
    graph.nodes.splice(0..0, nodes);
    for port in &mut graph.inputs {
        if port.name == input.name {
            port.name.clone_from(&pixels);
        }
    }
    graph.notes.remove(&input.name);
    graph
}

/// Has a network answer with one logit per label, and nothing else.
fn over_labels(
    graph: Graph,
    labels: &Labels,
    is_probability: bool,
) -> Result<(Graph, usize), WhiteBoxError> {
    let answer = graph.outputs.first().map(|port| port.name.clone()).unwrap_or_default();
    let mut builder = Builder::extend(graph)?;
    let mut value = builder.value(&answer)?;
    let rank = builder.rank(&value)?;
    if 2 < rank {
        let axes: Vec<i64> = (2..).take(rank - 2).collect();
        value = builder.squeeze(&value, &axes)?;
    }
    // A probability of zero has no logarithm.
    let log = |builder: &mut Builder, shares| -> Result<_, BuildError> {
        let least = builder.number(f64::from(f32::MIN_POSITIVE), &shares);
        let shares = builder.op("Max", &[&shares, &least], vec![])?;
        builder.unary("Log", &shares)
    };
    let n_outputs = builder.size(&value, 1)?;
    let n_labels = match labels.reading() {
        Reading::All => {
            if is_probability {
                value = log(&mut builder, value)?;
            }
            n_outputs
        }
        Reading::Some(outputs) => {
            if is_probability {
                value = log(&mut builder, value)?;
            }
            let places: Vec<i64> =
                outputs.iter().map(|&output| i64::try_from(output).unwrap_or(0)).collect();
            let places = builder.list(&places);
            value = builder.op("Gather", &[&value, &places], vec![("axis", Attribute::Int(1))])?;
            outputs.len()
        }
        Reading::Weighted(groups) => {
            if !is_probability {
                value = builder.op("Softmax", &[&value], vec![("axis", Attribute::Int(1))])?;
            }
            let mut weights = vec![0.0; n_outputs * groups.len()];
            for (idx, group) in groups.iter().enumerate() {
                for &(output, weight) in group {
                    weights[output * groups.len() + idx] = weight;
                }
            }
            let weights = Tensor::f32(vec![n_outputs, groups.len()], weights)
                .expect("because each output has a weight for each label");
            let weights = builder.constant(weights);
            value = builder.matmul(&value, &weights)?;
            value = log(&mut builder, value)?;
            groups.len()
        }
        Reading::Largest => return Err(WhiteBoxError::LargestOfSeveral),
    };
    let value = builder.output_as(&value, "label_logits")?;
    let name = value.name().to_owned();
    Ok((cut::cut(builder.finish(), &[&name])?, n_labels))
}

/// What can be asked of a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Slope {
    /// The slope of the cross entropy.
    CrossEntropy,
    /// The slope of the margin.
    Margin,
    /// The slope of the difference of logits ratio.
    LogitsRatio,
    /// The slope of the divergence.
    Divergence,
    /// The slope of the jittered distance.
    Jitter,
}

impl Slope {
    /// All of them.
    pub const ALL: [Slope; 5] =
        [Slope::CrossEntropy, Slope::Margin, Slope::LogitsRatio, Slope::Divergence, Slope::Jitter];

    fn scalar(self) -> Scalar {
        match self {
            Slope::CrossEntropy => Scalar::CrossEntropy,
            Slope::Margin => Scalar::Margin,
            Slope::LogitsRatio => Scalar::LogitsRatio,
            Slope::Divergence => Scalar::Divergence,
            Slope::Jitter => Scalar::Jitter,
        }
    }

    /// What has to be asked to learn the slope of a loss.
    pub fn of(loss: &Loss) -> Slope {
        match loss {
            Loss::CrossEntropy => Slope::CrossEntropy,
            Loss::Margin => Slope::Margin,
            Loss::LogitsRatio => Slope::LogitsRatio,
            Loss::Divergence(_) => Slope::Divergence,
            Loss::Jitter { .. } => Slope::Jitter,
        }
    }
}

/// How often a model was asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Calls {
    /// Examples that were answered.
    pub n_answers: u64,
    /// Examples that were answered with a slope.
    pub n_gradients: u64,
    /// Examples that only filled up batches.
    pub n_filling: u64,
}

/// One question about a slope.
#[derive(Debug)]
pub struct Question<'a> {
    /// The pixels.
    pub pixels: &'a [f32],
    /// What is climbed.
    pub loss: &'a Loss,
    /// What the attack is after.
    pub aim: Aim,
}

/// What a model said with a slope: the answer, the loss and its slope, towards the aim.
#[derive(Debug)]
pub struct Told {
    /// One logit per label.
    pub logits: Vec<f32>,
    /// The loss, larger nearer to the aim.
    pub loss: f32,
    /// Its slope.
    pub gradient: Vec<f32>,
}

/// A model that answers questions; sessions are opened when they are first needed.
#[derive(Debug)]
pub struct Oracle<'a> {
    model: &'a WhiteBox,
    engine: Engine,
    answers: Option<Answers>,
    gradients: [Option<Gradients>; 5],
    n_calls: Calls,
}

impl Oracle<'_> {
    /// What it answers for.
    pub fn model(&self) -> &WhiteBox {
        self.model
    }

    /// How often it was asked.
    pub fn calls(&self) -> Calls {
        self.n_calls
    }

    /// Answers for up to [`WhiteBox::engine_batch`] pictures.
    pub fn answers(&mut self, pictures: &[&[f32]]) -> Result<Vec<Vec<f32>>, WhiteBoxError> {
        let answers = match &mut self.answers {
            Some(answers) => answers,
            none => none.insert(self.model.network.open(&self.engine)?),
        };
        let engine_batch = self.model.engine_batch;
        let pixels = packed(pictures, engine_batch, self.model.size);
        let logits = answers.answer(&pixels)?;
        self.n_calls.n_answers += pictures.len() as u64;
        self.n_calls.n_filling += engine_batch.saturating_sub(pictures.len()) as u64;
        rows(&logits, (pictures.len(), engine_batch), self.model.n_labels)
    }

    /// Slopes for up to [`WhiteBox::engine_batch`] questions of the same kind.
    pub fn gradients(
        &mut self,
        kind: Slope,
        questions: &[Question<'_>],
    ) -> Result<Vec<Told>, WhiteBoxError> {
        let slot = &mut self.gradients[kind as usize];
        let gradients = match slot {
            Some(gradients) => gradients,
            none => {
                let network = &self.model.network;
                none.insert(network.open_input_gradient(&kind.scalar(), &self.engine)?)
            }
        };
        let pictures: Vec<&[f32]> = questions.iter().map(|question| question.pixels).collect();
        let engine_batch = self.model.engine_batch;
        let pixels = packed(&pictures, engine_batch, self.model.size);
        let name =
            gradients.session().inputs().first().map(|port| port.name.clone()).unwrap_or_default();
        let mut inputs = vec![(name.as_str(), pixels)];
        inputs.extend(needs(kind, questions, self.model));
        let inputs: Vec<(&str, &Tensor)> =
            inputs.iter().map(|(name, tensor)| (*name, tensor)).collect();
        let found = gradients.run(&inputs)?;
        self.n_calls.n_gradients += questions.len() as u64;
        self.n_calls.n_filling += engine_batch.saturating_sub(questions.len()) as u64;
        let n_pixels = pictures.first().map_or(0, |pixels| pixels.len());
        let logits = rows(&found.answers, (questions.len(), engine_batch), self.model.n_labels)?;
        let slopes = rows(&found.gradient, (questions.len(), engine_batch), n_pixels)?;
        let losses = found.loss.as_f32().unwrap_or_default();
        let told = logits.into_iter().zip(slopes).zip(losses).zip(questions).map(
            |(((logits, mut gradient), &loss), question)| {
                let towards = sign_towards(question);
                if towards < 0.0 {
                    gradient.iter_mut().for_each(|slope| *slope = -*slope);
                }
                Told { logits, loss: towards * loss, gradient }
            },
        );
        Ok(told.collect())
    }
}

/// Whether a loss rises or falls towards the aim.
fn sign_towards(question: &Question<'_>) -> f32 {
    let rises_away_from_the_class = match question.loss {
        Loss::Divergence(_) => return 1.0,
        Loss::CrossEntropy | Loss::LogitsRatio | Loss::Jitter { .. } => true,
        Loss::Margin => false,
    };
    let is_leaving = matches!(question.aim, Aim::Leave(_));
    if rises_away_from_the_class == is_leaving { 1.0 } else { -1.0 }
}

/// What a loss has to be told beside the pixels.
fn needs(
    kind: Slope,
    questions: &[Question<'_>],
    &WhiteBox { n_labels, engine_batch, .. }: &WhiteBox,
) -> Vec<(&'static str, Tensor)> {
    let filled = |idx: usize| &questions[idx.min(questions.len() - 1)];
    let rows = || (0..engine_batch).map(filled);
    let labels = || {
        let class = |question: &Question<'_>| match question.aim {
            Aim::Leave(class) | Aim::Reach(class) => i64::try_from(class).unwrap_or(0),
        };
        ("labels", Tensor::list(rows().map(class).collect()))
    };
    let floats = |width: Option<usize>, numbers: Vec<f32>| {
        let shape = [Some(engine_batch), width].into_iter().flatten().collect();
        Tensor::f32(shape, numbers).expect("because each example has its numbers")
    };
    let none: &[f32] = &[];
    match kind {
        Slope::CrossEntropy | Slope::Margin | Slope::LogitsRatio => vec![labels()],
        Slope::Divergence => {
            let shares = rows().flat_map(|question| match question.loss {
                Loss::Divergence(shares) => shares.as_slice(),
                _ => none,
            });
            vec![("distribution", floats(Some(n_labels), shares.copied().collect()))]
        }
        Slope::Jitter => {
            let noise = rows().flat_map(|question| match question.loss {
                Loss::Jitter { noise, .. } => noise.as_slice(),
                _ => none,
            });
            let scale = rows().map(|question| match question.loss {
                Loss::Jitter { scale, .. } => *scale,
                _ => 1.0,
            });
            vec![
                labels(),
                ("noise", floats(Some(n_labels), noise.copied().collect())),
                ("scale", floats(None, scale.collect())),
            ]
        }
    }
}

/// Pictures as one batch of the fixed size; the last one is repeated to fill it up.
fn packed(pictures: &[&[f32]], engine_batch: usize, (width, height): (u32, u32)) -> Tensor {
    let n_numbers = 3 * width as usize * height as usize;
    let mut numbers = Vec::with_capacity(engine_batch * n_numbers);
    for idx in 0..engine_batch {
        numbers.extend_from_slice(pictures[idx.min(pictures.len() - 1)]);
    }
    Tensor::f32(vec![engine_batch, 3, height as usize, width as usize], numbers)
        .expect("because every picture has the model's size")
}

/// The first `n` rows of `n_all`.
fn rows(
    tensor: &Tensor,
    (n, n_all): (usize, usize),
    length: usize,
) -> Result<Vec<Vec<f32>>, WhiteBoxError> {
    let numbers = tensor.as_f32().unwrap_or_default();
    if numbers.len() != n_all * length {
        let found = numbers.len() / n_all;
        return Err(WhiteBoxError::OtherLength { expected: length, found });
    }
    Ok(numbers.chunks(length).take(n).map(<[f32]>::to_vec).collect())
}

impl From<EngineError> for WhiteBoxError {
    fn from(error: EngineError) -> Self {
        WhiteBoxError::Network(NetworkError::Engine(error))
    }
}
