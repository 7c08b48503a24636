//! A training: which network learns which stimuli, and how (`fit.toml`).
//!
//! The file is the configuration of a training: everything that changes the weights stands in it,
//! but for the engine. Nothing is opened, drawn or trained here; `mohs-vision` does that. Numbers
//! that make no sense (a negative learning rate, an epoch count of zero) are refused.

mod checks;

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::format::document;
use crate::{FileError, ModelName, Seed};

/// Which network learns which stimuli, and how.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrainingPlan {
    /// Version of the file's format.
    pub version: u64,
    /// The model's name in predictions and reports.
    pub name: ModelName,
    /// Where all random draws come from: starting weights, order, augmentation, splits.
    #[serde(default)]
    pub seed: SeedNumber,
    /// The folder that everything is written to, relative to the file's folder.
    #[serde(default = "default_output")]
    pub output: PathBuf,
    /// How often the network sees the training set.
    #[serde(default = "default_epochs")]
    pub epochs: u32,
    /// How many pictures a step takes.
    #[serde(default = "default_batch")]
    pub batch: u32,
    /// The share of each answer that is spread over all classes, as PyTorch does it.
    #[serde(default)]
    pub label_smoothing: f64,
    /// The longest gradient of a step; longer ones are shortened to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clip_norm: Option<f64>,
    /// Whose answers are written after each epoch.
    #[serde(default)]
    pub record: Recorded,
    /// Which weights become the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keep: Option<Keep>,
    /// The network to start from.
    pub network: NetworkEntry,
    /// What the network takes.
    #[serde(default)]
    pub input: InputEntry,
    /// What it learns from.
    pub train: SetEntry,
    /// What it is tested with after each epoch.
    #[serde(default)]
    pub validation: SetEntry,
    /// How gradients change weights.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub optimiser: Option<Optimiser>,
    /// How the learning rate changes.
    #[serde(default)]
    pub schedule: Schedule,
    /// How training pictures are varied.
    #[serde(default)]
    pub augmentation: Augmentation,
    /// When to stop before the last epoch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub early_stop: Option<EarlyStop>,
}

/// A seed that is 1 unless the file says otherwise.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SeedNumber(pub Seed);

impl Default for SeedNumber {
    fn default() -> Self {
        Self(Seed(1))
    }
}

/// The network to start from: a file or an architecture that is built in.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NetworkEntry {
    /// A built-in architecture with random weights.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub architecture: Option<Architecture>,
    /// Channels of its first layers, or features of a transformer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub width: Option<u32>,
    /// Layers or blocks per stage, or blocks of a transformer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub depth: Option<u32>,
    /// Side of a transformer's patches in pixels.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub patch: Option<u32>,
    /// An ONNX file, relative to the file's folder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<PathBuf>,
    /// Weights of the file that are trained, by name, `*` for any part; all when empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub weights: Vec<String>,
    /// Whether the file's classifier is replaced by a new one for the classes of the training set.
    #[serde(default)]
    pub new_head: bool,
    /// What batch normalisation does; live unless only some weights are trained.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub batch_norm: Option<NormMode>,
}

/// A built-in architecture.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Architecture {
    /// Convolutions and pooling, without shortcuts.
    Plain,
    /// A residual network.
    Residual,
    /// A vision transformer.
    Transformer,
}

/// What batch normalisation does while weights are trained.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum NormMode {
    /// It uses the statistics of the batch and updates the stored ones.
    Live,
    /// It uses the stored statistics, which stay.
    Frozen,
}

/// What the network takes.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InputEntry {
    /// Side of the pictures in pixels; what the file says, or 64.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<u32>,
    /// What is taken away from each channel, with white as 1; that of ImageNet when not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mean: Option<[f64; 3]>,
    /// What each channel is then divided by; that of ImageNet when not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sd: Option<[f64; 3]>,
}

/// Where pictures come from: exactly one of the three.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SetEntry {
    /// A table, a folder, a COCO file or a list, relative to the file's folder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stimuli: Option<PathBuf>,
    /// Pictures of the built-in world.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub world: Option<WorldEntry>,
    /// For validation only: this share of the training set, taken out of it class by class.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub share: Option<f64>,
}

/// Pictures of the built-in world.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WorldEntry {
    /// Seed of the pictures.
    pub seed: u64,
    /// How many.
    pub n: u32,
    /// Side of the drawn pictures in pixels, before they are fitted to the network.
    #[serde(default = "default_world_size")]
    pub size: u32,
}

/// Whose answers are written after each epoch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Recorded {
    /// Those to the validation set.
    #[default]
    Validation,
    /// Those to the training set, as it is without augmentation.
    Train,
    /// Both.
    Both,
    /// None.
    None,
}

impl Recorded {
    /// Returns whether answers to the validation set are written.
    pub fn has_validation(self) -> bool {
        matches!(self, Self::Validation | Self::Both)
    }

    /// Returns whether answers to the training set are written.
    pub fn has_train(self) -> bool {
        matches!(self, Self::Train | Self::Both)
    }
}

/// Which weights become the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Keep {
    /// Those after the last epoch.
    Last,
    /// Those after the best epoch.
    Best,
}

/// How gradients change weights, as PyTorch defines it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
pub enum Optimiser {
    /// Stochastic gradient descent with momentum.
    Sgd {
        /// The learning rate.
        learning_rate: f64,
        /// How much of the last step stays; 0.9.
        #[serde(default = "default_momentum")]
        momentum: f64,
        /// Whether the step looks ahead.
        #[serde(default)]
        nesterov: bool,
        /// How strongly weights are drawn to zero.
        #[serde(default)]
        weight_decay: f64,
        /// Whether weights of one dimension (biases, normalisation) are drawn to zero, too.
        #[serde(default = "yes")]
        decay_vectors: bool,
    },
    /// Adam, with weight decay as part of the gradient.
    Adam(Adaptive),
    /// Adam with weight decay apart from the gradient.
    Adamw(Adaptive),
}

/// Settings of Adam and AdamW.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Adaptive {
    /// The learning rate.
    pub learning_rate: f64,
    /// How slowly the mean of gradients follows; 0.9.
    #[serde(default = "default_momentum")]
    pub beta1: f64,
    /// How slowly the mean of squares follows; 0.999.
    #[serde(default = "default_beta2")]
    pub beta2: f64,
    /// What keeps the division from zero; 1e-8.
    #[serde(default = "default_epsilon")]
    pub epsilon: f64,
    /// How strongly weights are drawn to zero.
    #[serde(default)]
    pub weight_decay: f64,
    /// Whether weights of one dimension (biases, normalisation) are drawn to zero, too.
    #[serde(default = "yes")]
    pub decay_vectors: bool,
}

impl Optimiser {
    /// Returns the learning rate before any schedule.
    pub fn learning_rate(&self) -> f64 {
        match self {
            Self::Sgd { learning_rate, .. } => *learning_rate,
            Self::Adam(adaptive) | Self::Adamw(adaptive) => adaptive.learning_rate,
        }
    }

    /// Sets the learning rate.
    pub fn set_learning_rate(&mut self, rate: f64) {
        match self {
            Self::Sgd { learning_rate, .. } => *learning_rate = rate,
            Self::Adam(adaptive) | Self::Adamw(adaptive) => adaptive.learning_rate = rate,
        }
    }
}

/// How the learning rate changes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Schedule {
    /// Its shape.
    #[serde(default)]
    pub kind: ScheduleKind,
    /// Epochs over which the learning rate rises from near zero.
    #[serde(default)]
    pub warm_up: f64,
    /// For `step`: epochs after which the rate is multiplied by `gamma`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub milestones: Vec<u32>,
    /// For `step`: the factor; 0.1.
    #[serde(default = "default_gamma")]
    pub gamma: f64,
    /// For `cosine`: the share of the rate that is left at the end; 0.
    #[serde(default)]
    pub floor: f64,
}

impl Default for Schedule {
    fn default() -> Self {
        Self {
            kind: ScheduleKind::default(),
            warm_up: 0.0,
            milestones: Vec::new(),
            gamma: default_gamma(),
            floor: 0.0,
        }
    }
}

/// The shape of a schedule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ScheduleKind {
    /// The same all the time.
    Constant,
    /// Steps down at milestones.
    Step,
    /// Half a cosine, from the rate to the floor.
    #[default]
    Cosine,
}

/// How training pictures are varied; nothing unless said.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Augmentation {
    /// Whether every other picture is mirrored, left for right.
    #[serde(default)]
    pub flip: bool,
    /// Pixels of black border that a picture may be shifted into.
    #[serde(default)]
    pub crop_padding: u32,
    /// Smallest and largest share of the picture's area that is cut out and scaled up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resized_crop: Option<[f64; 2]>,
    /// Largest turn to either side, in degrees.
    #[serde(default)]
    pub rotation: f64,
    /// How far brightness strays from 1.
    #[serde(default)]
    pub brightness: f64,
    /// How far contrast strays from 1.
    #[serde(default)]
    pub contrast: f64,
    /// How far the strength of colours strays from 1.
    #[serde(default)]
    pub colour: f64,
    /// Side in pixels of a square that is blanked.
    #[serde(default)]
    pub cutout: u32,
}

/// When to stop before the last epoch.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EarlyStop {
    /// How many epochs without a better one are waited for.
    pub patience: u32,
    /// What has to become better on the validation set.
    #[serde(default)]
    pub on: Watched,
    /// By how much it has to become better to count.
    #[serde(default)]
    pub min_change: f64,
}

/// What tells a better epoch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Watched {
    /// The mean loss on the validation set.
    #[default]
    Loss,
    /// The share of right answers on the validation set.
    Accuracy,
}

fn default_output() -> PathBuf {
    "fit".into()
}

fn default_epochs() -> u32 {
    20
}

fn default_batch() -> u32 {
    64
}

fn default_world_size() -> u32 {
    128
}

fn default_momentum() -> f64 {
    0.9
}

fn default_beta2() -> f64 {
    0.999
}

fn default_epsilon() -> f64 {
    1e-8
}

fn default_gamma() -> f64 {
    0.1
}

fn yes() -> bool {
    true
}

impl TrainingPlan {
    /// The version this code writes, and the newest it reads.
    pub const VERSION: u64 = 1;
    /// The share of the training set that is kept for validation when nobody says otherwise.
    pub const USUAL_SHARE: f64 = 0.1;

    /// Starts a plan with defaults.
    pub fn new(name: &str, network: NetworkEntry, train: SetEntry) -> Self {
        Self {
            version: Self::VERSION,
            name: ModelName::new(name),
            seed: SeedNumber::default(),
            output: default_output(),
            epochs: default_epochs(),
            batch: default_batch(),
            label_smoothing: 0.0,
            clip_norm: None,
            record: Recorded::default(),
            keep: None,
            network,
            input: InputEntry::default(),
            train,
            validation: SetEntry::default(),
            optimiser: None,
            schedule: Schedule::default(),
            augmentation: Augmentation::default(),
            early_stop: None,
        }
    }

    /// Reads and checks `fit.toml`.
    pub fn read(path: &Path) -> Result<Self, FileError> {
        Self::parse(path, &document::read_text(path, "a training in TOML")?)
    }

    /// Parses and checks the text of `fit.toml`; `path` is only for errors.
    pub fn parse(path: &Path, text: &str) -> Result<Self, FileError> {
        document::check_toml_version(path, text, "training", Self::VERSION)?;
        let plan: Self = document::parse_toml(path, text)?;
        plan.check(path).map_err(|error| document::at_key(error, text))?;
        Ok(plan)
    }

    /// Writes `fit.toml`.
    pub fn write(&self, path: &Path) -> Result<(), FileError> {
        document::write_toml(path, self)
    }

    /// Returns how gradients change weights: as the plan says, or what suits the network.
    ///
    /// Transformers learn with AdamW, new networks of convolutions with SGD, and networks that were
    /// trained before with a rate that does not spoil what they know.
    pub fn optimiser(&self) -> Optimiser {
        if let Some(optimiser) = &self.optimiser {
            return optimiser.clone();
        }
        match self.network.architecture {
            Some(Architecture::Transformer) => Optimiser::Adamw(Adaptive {
                learning_rate: 1e-3,
                beta1: default_momentum(),
                beta2: default_beta2(),
                epsilon: default_epsilon(),
                weight_decay: 0.05,
                decay_vectors: false,
            }),
            architecture => Optimiser::Sgd {
                learning_rate: if architecture.is_some() { 0.05 } else { 0.005 },
                momentum: default_momentum(),
                nesterov: true,
                weight_decay: 5e-4,
                decay_vectors: true,
            },
        }
    }

    /// Returns which weights become the model: as the plan says; else the best with early stop, and
    /// the last without.
    pub fn kept(&self) -> Keep {
        let usual = if self.early_stop.is_some() { Keep::Best } else { Keep::Last };
        self.keep.unwrap_or(usual)
    }

    /// Returns what tells a better epoch.
    pub fn watched(&self) -> Watched {
        self.early_stop.as_ref().map(|stop| stop.on).unwrap_or_default()
    }

    /// Returns the share of the training set that is kept for validation; `None` if validation has
    /// pictures of its own.
    pub fn validation_share(&self) -> Option<f64> {
        let validation = &self.validation;
        if validation.stimuli.is_some() || validation.world.is_some() {
            return None;
        }
        Some(validation.share.unwrap_or(Self::USUAL_SHARE))
    }
}
