//! Attacks: small changes of a picture that are meant to change a model's answer.
//!
//! An attack is a row in [`ATTACKS`] and a file in `attack/`. It never runs a model itself: a
//! [`Run`] says what it wants to know of which pixels ([`Move`]), is told ([`Reply`]) and goes on,
//! so that pictures, attacks and strengths share the batches of one engine. Pixels are in [0, 1];
//! what a model wants to be given instead is part of the model ([`white_box`]). `climb.rs` is what
//! the attacks that follow a gradient have in common. Update rules are those of torchattacks, whose
//! settings of two generations are the presets in `setting.rs`.
//!
//! Random numbers depend on the seed, the stimulus, the attack and the restart alone, and not on ε:
//! a larger ε scales the same noise.

mod apgd;
mod bim;
mod climb;
mod ddn;
mod difgsm;
mod eotpgd;
mod ffgsm;
mod fgsm;
mod fmn;
mod jitter;
mod luck;
mod mifgsm;
mod norm;
mod pgd;
mod rfgsm;
mod setting;
mod square;
mod square_l2;
mod tifgsm;
mod tpgd;
mod upgd;
pub mod white_box;

use std::sync::Arc;

use mohs_data::{Norm, nearest};

pub use luck::Luck;
pub use norm::{l2_distance, linf_distance};
pub use setting::{
    LossName, Preset, SETTINGS, SettingError, SettingInfo, Settings, Steps, number as parse_number,
    parse_attacks,
};

/// One kind of attack.
#[derive(Debug)]
pub struct Attack {
    /// Its name, as people type it.
    pub name: &'static str,
    /// Other names it goes by.
    pub also_called: &'static [&'static str],
    /// How the size of its changes is measured.
    pub norm: Norm,
    /// What it does, in a line.
    pub about: &'static str,
    /// What it is told of the model.
    pub kind: Kind,
    /// Whether it can aim at a chosen answer.
    pub is_targetable: bool,
    /// Whether two runs with other seeds may differ.
    pub is_random: bool,
    /// Whether its success comes and goes as ε grows, more than that of others.
    pub comes_and_goes: bool,
    /// Names of the settings that count for it.
    pub settings: &'static [&'static str],
    start: fn(Start<'_>) -> Box<dyn Run>,
}

/// What an attack is told of the model, and what comes out of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Gradients; tries one ε at a time.
    WhiteBox,
    /// Answers only; tries one ε at a time.
    BlackBox,
    /// Gradients; looks for the smallest change directly, without a grid of ε.
    Minimal,
}

/// What is attacked: one picture and what the model says of it.
#[derive(Debug, Clone)]
pub struct Case {
    /// The picture, channel by channel, each row by row.
    pub pixels: Arc<Vec<f32>>,
    /// Its width in pixels.
    pub width: usize,
    /// Its height in pixels.
    pub height: usize,
    /// The class that is right.
    pub label: usize,
    /// What the attack is after.
    pub aim: Aim,
    /// The model's answer to the picture as it is.
    pub clean: Arc<Vec<f32>>,
    /// Whether the model may answer the same picture in two ways.
    pub is_model_random: bool,
}

/// What an attack is after.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Aim {
    /// Any other class than this one.
    Leave(usize),
    /// This class.
    Reach(usize),
}

/// What a run starts from.
#[derive(Debug)]
pub struct Start<'a> {
    /// What is attacked.
    pub case: &'a Case,
    /// How.
    pub settings: &'a Settings,
    /// The largest change.
    pub epsilon: f64,
    /// Where its random numbers come from.
    pub luck: Luck,
    /// Whether the run may end as soon as the aim is reached; else it goes on as torchattacks
    /// does, and its last picture counts.
    pub ends_early: bool,
}

/// What a run wants next.
#[derive(Debug)]
pub enum Move {
    /// The model's answer to these pixels.
    Answer(Vec<f32>),
    /// The slope of a loss at these pixels.
    Gradient(Vec<f32>, Loss),
    /// Nothing: it is over.
    End(End),
}

/// How a run ended.
#[derive(Debug)]
pub enum End {
    /// With these pixels; the model has not been asked about them.
    At(Vec<f32>),
    /// With pixels for which the model gave this answer.
    Answered(Vec<f32>, Vec<f32>),
    /// Without changing anything.
    Unchanged {
        /// The smallest margin that was seen on the way.
        margin: f32,
    },
}

/// What is to be climbed. Slopes always point towards the aim.
#[derive(Debug, Clone)]
pub enum Loss {
    /// The cross entropy.
    CrossEntropy,
    /// The margin.
    Margin,
    /// The difference of logits ratio.
    LogitsRatio,
    /// The divergence from these probabilities.
    Divergence(Arc<Vec<f32>>),
    /// The jittered distance, with this noise and scale.
    Jitter {
        /// One number per class.
        noise: Vec<f32>,
        /// What logits are scaled to.
        scale: f32,
    },
}

/// What a run is told.
#[derive(Debug)]
pub struct Reply {
    /// The pixels it asked about.
    pub pixels: Vec<f32>,
    /// The model's answer.
    pub logits: Vec<f32>,
    /// The loss, larger nearer to the aim; 0 if only the answer was asked for.
    pub loss: f32,
    /// Its slope; empty if only the answer was asked for.
    pub gradient: Vec<f32>,
}

/// What runs of one attack on one picture have in common, from one ε to the next.
#[derive(Debug, Default)]
pub struct Memory {
    /// Slopes of the first steps, which are the same for every ε that does not hold them back.
    slopes: Vec<Slope>,
    /// The noise of the start.
    noise: Option<Vec<f32>>,
}

/// A slope that is kept, with the margin at its place.
#[derive(Debug, Clone)]
struct Slope {
    numbers: Vec<f32>,
    margin: f32,
}

/// One run of an attack on one picture with one ε.
pub trait Run: Send + std::fmt::Debug {
    /// Goes on until something is wanted; `None` for the first time, then what was asked for.
    fn step(&mut self, reply: Option<Reply>, memory: &mut Memory) -> Move;

    /// How many of its steps were not held back by ε: a larger ε takes the same ones.
    fn n_free(&self) -> usize {
        0
    }

    /// The smallest margin that it met on the way; infinite if it did not look.
    fn least_margin(&self) -> f32 {
        f32::INFINITY
    }

    /// How many slopes it took from memory instead of asking.
    fn n_reused(&self) -> usize {
        0
    }
}

impl Attack {
    /// Returns the attack of this name, whichever of its names, as other tools write them: `PGD_L2`,
    /// `R+FGSM`, `LinfProjectedGradientDescentAttack`.
    pub fn find(name: &str) -> Option<&'static Attack> {
        let wanted = setting::plain(name);
        let is_it = |attack: &&&Attack| {
            attack.name == wanted || attack.also_called.contains(&wanted.as_str())
        };
        ATTACKS.iter().find(is_it).copied()
    }

    /// Returns the name most like this one.
    fn nearest(name: &str) -> Option<&'static str> {
        let wanted = name.to_lowercase();
        let by_name = nearest(&wanted, ATTACKS.iter().map(|attack| attack.name));
        let by_other_name = || {
            nearest(&wanted, ATTACKS.iter().flat_map(|attack| attack.also_called.iter().copied()))
        };
        Attack::find(&by_name.or_else(by_other_name)?).map(|attack| attack.name)
    }

    /// Starts a run.
    pub fn start(&self, start: Start<'_>) -> Box<dyn Run> {
        (self.start)(start)
    }

    /// Returns the settings that count for it, as one line: the same text, the same changes.
    pub fn signature(&self, settings: &Settings) -> String {
        settings.signature(self.settings)
    }

    /// Says whether it is one of the fourteen of the study of difficulty and attacks.
    pub fn is_of_the_paper(&self) -> bool {
        self.norm == Norm::Linf && self.kind != Kind::Minimal
    }
}

/// Every attack: the fourteen of the paper in its order, their forms in L2, then those that look
/// for the smallest change directly.
pub const ATTACKS: &[&Attack] = &[
    &pgd::ATTACK,
    &upgd::ATTACK,
    &apgd::ATTACK,
    &tpgd::ATTACK,
    &eotpgd::ATTACK,
    &fgsm::ATTACK,
    &bim::ATTACK,
    &rfgsm::ATTACK,
    &ffgsm::ATTACK,
    &mifgsm::ATTACK,
    &difgsm::ATTACK,
    &tifgsm::ATTACK,
    &square::ATTACK,
    &jitter::ATTACK,
    &pgd::ATTACK_L2,
    &fgsm::ATTACK_L2,
    &square_l2::ATTACK,
    &fmn::ATTACK,
    &fmn::ATTACK_L2,
    &ddn::ATTACK,
];

impl Case {
    /// Whether an answer is what the attack is after.
    pub fn is_reached(&self, logits: &[f32]) -> bool {
        match (self.aim, first_of_largest(logits)) {
            (Aim::Leave(class), found) => found != Some(class),
            (Aim::Reach(class), found) => found == Some(class),
        }
    }

    /// How far an answer is from what the attack is after: positive until it is reached.
    pub fn margin(&self, logits: &[f32]) -> f32 {
        let over_others = |class: usize| {
            let others = logits.iter().enumerate().filter(|(idx, _)| *idx != class);
            let highest = others.fold(f32::NEG_INFINITY, |most, (_, logit)| most.max(*logit));
            logits.get(class).copied().unwrap_or(f32::NEG_INFINITY) - highest
        };
        match self.aim {
            Aim::Leave(class) => over_others(class),
            Aim::Reach(class) => -over_others(class),
        }
    }

    /// Whether the model is wrong by this answer, whatever the attack is after.
    fn is_wrong(&self, logits: &[f32]) -> bool {
        first_of_largest(logits) != Some(self.label)
    }
}

/// The class with the largest number; of equals the first.
pub fn first_of_largest(logits: &[f32]) -> Option<usize> {
    let mut best: Option<(usize, f32)> = None;
    for (idx, &logit) in logits.iter().enumerate() {
        if best.is_none_or(|(_, most)| most < logit) {
            best = Some((idx, logit));
        }
    }
    best.map(|(idx, _)| idx)
}
