//! `mohs fit`: trains a network and writes it as a model, with its answers after each epoch.
//!
//! What is trained on what stands in `fit.toml` or in flags; `plan.rs` makes one of both. This file
//! runs the epochs and keeps the folder in order, so that a run that is killed at any moment goes on
//! where it was and ends with the same bytes.

mod book;
mod plan;

use std::path::{Path, PathBuf};
use std::time::Instant;

use mohs_data::format::{ReadOptions, folder_of_stimuli, read_stimuli};
use mohs_data::training::{NetworkEntry, SetEntry};
use mohs_data::{Label, TrainingPlan};
use mohs_graph::write;
use mohs_vision::fit::{Failure, Fit, FitError, Prepare, Set, Start, Task};
use mohs_vision::network::Network;
use mohs_vision::networks::Blueprint;

use crate::engine_args::EngineArgs;
use crate::error::CliError;
use crate::ui::Ui;
use book::Book;

/// Train a network, and write it as an ONNX model with its answers after each epoch
///
/// Starts from a built-in architecture (plain, residual, transformer) or from an ONNX file, and
/// learns stimuli of yours or pictures of the built-in world. Writes model.onnx, classes.txt,
/// config.json, log.csv and predictions.csv. A run that was interrupted goes on where it was when
/// started again.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  mohs fit fit.toml
  mohs fit --network residual --train photos/ --epochs 30 --output my-network
  mohs fit --network resnet18.onnx --new-head --train photos/ --learning-rate 0.003
  mohs fit fit.toml --epochs 5 --output quick

The file can say more than the flags: augmentation, schedule, early stop, the built-in world. See
docs/formats/fit.md. `mohs score learning-speed` tells from predictions.csv what was learned early.")]
pub(crate) struct FitArgs {
    /// What is trained on what, and how
    #[arg(value_name = "fit.toml", required_unless_present_all = ["network", "train"])]
    plan: Option<PathBuf>,
    /// plain, residual, transformer, or an ONNX file to start from
    #[arg(long, value_name = "NAME|FILE")]
    network: Option<String>,
    /// Give the ONNX file a new classifier for the labels of the training set
    #[arg(long)]
    new_head: bool,
    /// What to learn from: a table, a folder, a COCO file or a list
    #[arg(long, value_name = "PATH")]
    train: Option<PathBuf>,
    /// What to test with after each epoch [default: a tenth of the training set]
    #[arg(long, value_name = "PATH")]
    validation: Option<PathBuf>,
    /// How often the network sees the training set [default: 20]
    #[arg(long, value_name = "N")]
    epochs: Option<u32>,
    /// Pictures per step [default: 64]
    #[arg(long, value_name = "N")]
    batch: Option<u32>,
    /// How far each step goes [default: what suits the network]
    #[arg(long, value_name = "X")]
    learning_rate: Option<f64>,
    /// Side of the pictures in pixels [default: what the file says, or 64]
    #[arg(long, value_name = "PX")]
    size: Option<u32>,
    /// Seed of weights, order, augmentation and splits [default: 1]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Folder to write into [default: that of the file, or fit]
    #[arg(long, short, value_name = "DIR")]
    output: Option<PathBuf>,
    /// Forget what an earlier run left in the folder
    #[arg(long)]
    restart: bool,
    /// Megabytes of pictures to keep in memory; others are read again in each epoch
    #[arg(long, default_value_t = 2_048, value_name = "MB")]
    memory: usize,
    #[command(flatten)]
    engine: EngineArgs,
}

/// Side of the pictures where nobody says one.
const USUAL_SIDE: u32 = 64;

pub(crate) fn run(args: &FitArgs, ui: &Ui) -> Result<(), CliError> {
    let (plan, folder, output) = plan::read(args)?;
    let mut book = Book::open(&output, args.restart)?;
    let network = plan.network.file.as_ref().map(|file| Network::read(&folder.join(file)));
    let network = network.transpose()?;
    let prepare = prepare(&plan, network.as_ref())?;
    let most_bytes = args.memory.saturating_mul(1 << 20);
    let mut train = set("training", &plan.train, &folder, &prepare, most_bytes, ui)?;
    let validation = match plan.validation_share() {
        Some(share) => train.split_off(share, plan.seed.0),
        None => set("validation", &plan.validation, &folder, &prepare, most_bytes, ui)?,
    };
    if let Some(share) = plan.validation_share()
        && 0.0 < share
        && validation.examples.is_empty()
    {
        return Err(CliError::input(format!(
            "`validation.share` is {share}, which is not one picture of any class of the {} for \
             training",
            train.examples.len()
        ))
        .hint("take a larger share, name a set for validation, or write 0 to test on nothing"));
    }
    if plan.record.has_train() && plan.record.has_validation() {
        check_ids(&train, &validation)?;
    }
    let start = start(&plan, network.as_ref(), &prepare, train.labels().len())?;
    let engine = args.engine.choose(ui)?;
    ui.say(&format!(
        "training {} weights on {} pictures of {} classes, testing on {}; {} {}",
        start.n_trained(),
        train.examples.len(),
        train.labels().len(),
        validation.examples.len(),
        engine.name(),
        engine.version()
    ));
    let n_train = train.examples.len();
    let task = Task { plan: &plan, start, prepare, train: &train, validation: &validation };
    let mut fit = Fit::new(task, &engine)?;
    if let Some(bytes) = book.checkpoint()? {
        let note = fit.resume(bytes)?;
        book.take_up(&note)?;
        let n_done = fit.n_epochs();
        ui.say(&format!("going on after epoch {n_done} of {}", plan.epochs));
    } else {
        if args.plan.is_none() {
            plan::write_beside(&plan, &folder, &output)?;
        }
        // From now on the folder is one of a training, whenever it is killed.
        book.save(&fit)?;
    }

    let bar = ui.progress(n_train * plan.epochs as usize, "training");
    bar.inc(n_train as u64 * u64::from(fit.n_epochs()));
    let mut started = Instant::now();
    while let Some(epoch) = fit.epoch(&mut |n| bar.inc(n as u64))? {
        let seconds = started.elapsed().as_secs_f64();
        let line = book.add(&epoch, plan.epochs, seconds)?;
        book.save(&fit)?;
        bar.set_message(format!("epoch {}", epoch.number));
        ui.say(&line);
        started = Instant::now();
    }
    bar.finish_and_clear();
    let kept = match plan.kept() {
        mohs_data::training::Keep::Best => fit.best_epoch().unwrap_or(fit.n_epochs()),
        mohs_data::training::Keep::Last => fit.n_epochs(),
    };
    let text = book.text(kept, fit.n_epochs())?;
    let model = write::to_bytes(&fit.model()).map_err(FitError::from)?;
    let written = book.finish(&model, fit.classes(), &prepare, &plan, &fit)?;
    ui.say(&format!("written: {written} in {}", output.display()));
    ui.data(text.as_bytes())?;
    complaint(&train.failures, &validation.failures).map_or(Ok(()), Err)
}

/// What the network takes.
fn prepare(plan: &TrainingPlan, network: Option<&Network>) -> Result<Prepare, CliError> {
    let said = network.map(Network::picture_size).transpose()?.flatten();
    let (width, height) = match (plan.input.size, said) {
        (Some(side), Some(size)) if size != (side, side) => {
            return Err(CliError::input(format!(
                "the network takes pictures of {} × {} pixels, the size asked for is {side}",
                size.0, size.1
            ))
            .hint("leave the size out"));
        }
        (_, Some(size)) => size,
        (side, None) => (side.unwrap_or(USUAL_SIDE), side.unwrap_or(USUAL_SIDE)),
    };
    #[expect(clippy::cast_possible_truncation, reason = "pixels have 32 bits")]
    let narrow = |numbers: [f64; 3]| numbers.map(|number| number as f32);
    let (mean, sd) = Prepare::USUAL;
    Ok(Prepare {
        width: width as usize,
        height: height as usize,
        mean: plan.input.mean.map_or(mean, narrow),
        sd: plan.input.sd.map_or(sd, narrow),
    })
}

/// Draws or reads a set of pictures.
fn set(
    name: &str,
    entry: &SetEntry,
    folder: &Path,
    prepare: &Prepare,
    most_bytes: usize,
    ui: &Ui,
) -> Result<Set, CliError> {
    if let Some(world) = &entry.world {
        let bar = ui.progress(world.n as usize, &format!("drawing the {name} set"));
        return Ok(Set::draw(world, prepare, &|| bar.inc(1)));
    }
    let path = folder.join(entry.stimuli.as_deref().unwrap_or(Path::new("")));
    let stimuli = read_stimuli(&path, &ReadOptions::default()).map_err(|error| {
        CliError::from(error).while_doing(format!("cannot read the {name} set"))
    })?;
    if let Some(stimulus) = stimuli.iter().find(|stimulus| stimulus.label.as_str().is_empty()) {
        return Err(CliError::input(format!(
            "the stimulus `{}` of the {name} set has no label",
            stimulus.id
        ))
        .hint("every picture of a training needs one; see docs/formats/stimuli.md"));
    }
    let bar = ui.progress(stimuli.len(), &format!("reading the {name} set"));
    let tick = || bar.inc(1);
    Ok(Set::read(&stimuli, &folder_of_stimuli(&path), prepare, most_bytes, &tick))
}

/// The network in training form.
fn start(
    plan: &TrainingPlan,
    network: Option<&Network>,
    prepare: &Prepare,
    n_classes: usize,
) -> Result<Start, CliError> {
    let entry: &NetworkEntry = &plan.network;
    if let Some(network) = network {
        return Ok(Start::from_network(network, entry, n_classes, plan.seed.0)?);
    }
    let Some(architecture) = entry.architecture else {
        return Err(CliError::input("there is no network to start from"));
    };
    // One class is refused with a better message than an architecture could give.
    let usual = Blueprint::new(architecture, prepare.width, n_classes.max(2));
    let or = |asked: Option<u32>, usual: usize| asked.map_or(usual, |n| n as usize);
    let blueprint = Blueprint {
        width: or(entry.width, usual.width),
        depth: or(entry.depth, usual.depth),
        patch: or(entry.patch, usual.patch),
        ..usual
    };
    Ok(Start::from_blueprint(&blueprint, entry, plan.seed.0)?)
}

/// Refuses an id that stands in both sets, where answers to both are written.
fn check_ids(train: &Set, validation: &Set) -> Result<(), CliError> {
    let ids: std::collections::BTreeSet<_> = train.examples.iter().map(|one| &one.id).collect();
    match validation.examples.iter().find(|one| ids.contains(&one.id)) {
        None => Ok(()),
        Some(one) => Err(CliError::input(format!(
            "the stimulus `{}` stands in the training set and in the validation set",
            one.id
        ))
        .hint("with record = \"both\" every stimulus needs an id of its own")),
    }
}

/// What is said when pictures could not be read.
fn complaint(train: &[Failure], validation: &[Failure]) -> Option<CliError> {
    let n = train.len() + validation.len();
    let first = train.iter().chain(validation).next()?;
    Some(
        CliError::partly(format!("{n} pictures could not be used"))
            .hint(format!("the first: {}: {}", first.id, first.reason)),
    )
}

impl From<FitError> for CliError {
    fn from(error: FitError) -> Self {
        let hint = match &error {
            FitError::Pixels(_) | FitError::Network(_) | FitError::Engine(_) => None,
            FitError::NothingToLearn => Some("check the paths of the pictures"),
            FitError::TooFewClasses { .. } => {
                Some("a table has a column `label`, a folder one folder per class")
            }
            FitError::UnknownLabel { .. } => Some(
                "add pictures of it to the training set, or remove them from the validation set",
            ),
            FitError::WrongHead { .. } => Some("give it a new classifier: --new-head"),
            FitError::NoSuchWeight { .. } => {
                Some("`mohs network show` lists the weights; `*` is any part")
            }
            FitError::FixedBatch { .. } => {
                Some("export the model with an open batch (dynamic axes)")
            }
            FitError::TooSmallBatch { .. } => {
                Some("raise `batch`, or freeze it: batch_norm = \"frozen\"")
            }
            FitError::Diverged { .. } => Some(
                "lower the learning rate, or set `clip_norm`; the checkpoint of the epoch before is \
                 kept",
            ),
            FitError::Checkpoint { .. } => Some("start anew with --restart"),
            FitError::OtherTraining => Some(
                "the plan, the pictures or the engine changed since; name another folder with \
                 --output, or start anew with --restart",
            ),
            FitError::Blueprint(_) => Some("change `size`, `width` or `patch`"),
            FitError::Head(_) => Some("`mohs network show` lists the nodes"),
            FitError::Train(_) | FitError::Build(_) => {
                Some("`mohs network show` says which operators have a gradient")
            }
            FitError::Write(_) => None,
        };
        let cli = match error {
            FitError::Pixels(error) => error.into(),
            FitError::Network(error) => error.into(),
            FitError::Engine(error) => error.into(),
            other => Self::input(other.to_string()),
        };
        match hint {
            Some(hint) => cli.hint(hint),
            None => cli,
        }
    }
}

/// The classes as a file: one per line.
fn classes_text(classes: &[Label]) -> String {
    classes.iter().map(|label| format!("{label}\n")).collect()
}
