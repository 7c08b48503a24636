//! Runs an attack on a model by hand, and remembers everything it asked.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use mohs_data::{AnswerEntry, ClassesEntry, Label};
use mohs_vision::engine::{Engine, EngineChoice, OpenOptions};
use mohs_vision::input::InputSpec;
use mohs_vision::labels::{Labels, Strangers, Wanted};
use mohs_vision::network::Network;
use mohs_vision::probe::attack::white_box::{Oracle, Question, Slope, WhiteBox};
use mohs_vision::probe::attack::{
    Aim, Attack, Case, End, Luck, Memory, Move, Preset, Reply, Settings, Start,
};

pub(crate) fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/attacks")
}

pub(crate) fn engine() -> Engine {
    let options = OpenOptions { choice: EngineChoice::Rten, ..OpenOptions::default() };
    Engine::choose(&options).expect("because rten is always there")
}

/// A model of the fixtures, from pixels to five labels.
pub(crate) fn model(name: &str) -> WhiteBox {
    let network = Network::read(&fixtures().join(name)).expect("because the fixture is sound");
    let (width, height) = network
        .picture_size()
        .expect("because the fixture is sound")
        .expect("because the fixture is sound");
    let spec = InputSpec { mean: [0.0; 3], sd: [1.0; 3], ..InputSpec::imagenet(width, height) };
    let classes = ClassesEntry::List(["a", "b", "c", "d", "e"].map(String::from).to_vec());
    let wanted = Wanted {
        classes: Some(&classes),
        answer: &AnswerEntry::AsIs,
        aggregate: mohs_data::Aggregate::Mean,
        folder: Path::new(""),
        strangers: Strangers::Refuse,
    };
    let truth = ["a", "b", "c", "d", "e"].map(Label::new);
    let labels = Labels::find(&wanted, &truth, 5, false).expect("because the fixture is sound");
    WhiteBox::new(&network, &spec, &labels).expect("because the fixture is sound")
}

/// Everything that a run asked about, and what it ended with.
pub(crate) struct Trace {
    pub(crate) asked: Vec<Vec<f32>>,
    pub(crate) last: Vec<f32>,
}

/// An attack as it is to be run.
pub(crate) struct Drive<'a> {
    pub(crate) attack: &'static Attack,
    pub(crate) settings: &'a Settings,
    pub(crate) epsilon: f64,
    pub(crate) luck: Luck,
}

impl Drive<'_> {
    pub(crate) fn run(self, case: &Case, oracle: &mut Oracle<'_>) -> Trace {
        let mut run = self.attack.start(Start {
            case,
            settings: self.settings,
            epsilon: self.epsilon,
            luck: self.luck,
            ends_early: false,
        });
        let mut memory = Memory::default();
        let mut asked = Vec::new();
        let mut reply = None;
        loop {
            reply = Some(match run.step(reply, &mut memory) {
                Move::Answer(pixels) => {
                    let logits = oracle
                        .answers(&[&pixels])
                        .expect("because the fixture is sound")
                        .swap_remove(0);
                    asked.push(pixels.clone());
                    Reply { pixels, logits, loss: 0.0, gradient: Vec::new() }
                }
                Move::Gradient(pixels, loss) => {
                    let question = Question { pixels: &pixels, loss: &loss, aim: case.aim };
                    let told = oracle
                        .gradients(Slope::of(&loss), &[question])
                        .expect("because the fixture is sound");
                    let told = told.into_iter().next().expect("because the fixture is sound");
                    asked.push(pixels.clone());
                    let (logits, loss, gradient) = (told.logits, told.loss, told.gradient);
                    Reply { pixels, logits, loss, gradient }
                }
                Move::End(end) => {
                    let last = match end {
                        End::At(pixels) | End::Answered(pixels, _) => pixels,
                        End::Unchanged { .. } => case.pixels.to_vec(),
                    };
                    return Trace { asked, last };
                }
            });
        }
    }
}

/// A picture with what the model says of it.
pub(crate) fn case(
    pixels: Vec<f32>,
    side: usize,
    label: usize,
    target: Option<usize>,
    oracle: &mut Oracle<'_>,
) -> Case {
    let clean = oracle.answers(&[&pixels]).expect("because the fixture is sound").swap_remove(0);
    Case {
        pixels: Arc::new(pixels),
        width: side,
        height: side,
        label,
        aim: target.map_or(Aim::Leave(label), Aim::Reach),
        clean: Arc::new(clean),
        is_model_random: false,
    }
}

/// Settings of a preset with some changed.
pub(crate) fn settings(name: &str, changes: &[(&str, &str)]) -> (&'static Attack, Settings) {
    let attack = Attack::find(name).expect("because the fixture is sound");
    let mut settings = Settings::of(attack, Preset::Torchattacks351);
    for (setting, value) in changes {
        settings.set(attack, setting, value).expect("because the fixture is sound");
    }
    (attack, settings)
}

pub(crate) fn no_luck() -> Luck {
    Luck::written(BTreeMap::new())
}
