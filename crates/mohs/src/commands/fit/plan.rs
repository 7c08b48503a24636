//! The plan of a training: from `fit.toml`, from flags, or from a file that flags change.

use std::path::{Path, PathBuf};

use mohs_data::training::{Architecture, NetworkEntry, SetEntry};
use mohs_data::{ModelName, Seed, TrainingPlan};

use super::FitArgs;
use crate::error::CliError;
use crate::folder;

/// Returns the plan, the folder that its paths are relative to, and the folder to write into.
pub(super) fn read(args: &FitArgs) -> Result<(TrainingPlan, PathBuf, PathBuf), CliError> {
    let here = PathBuf::from(".");
    let (mut plan, folder) = match &args.plan {
        Some(path) => {
            let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
            (TrainingPlan::read(path)?, parent.map_or(here, Path::to_owned))
        }
        None => (TrainingPlan::new("network", NetworkEntry::default(), SetEntry::default()), here),
    };
    // Paths of the file start at its folder, paths that are typed where they are typed.
    let typed = |path: &Path| {
        std::path::absolute(path).map_err(|cause| {
            CliError::surroundings(format!("cannot find `{}`", path.display())).because(cause)
        })
    };
    if let Some(network) = &args.network {
        plan.network = network_entry(network, typed)?;
        plan.name = ModelName::new(stem(network));
    }
    if args.new_head {
        plan.network.new_head = true;
    }
    if let Some(path) = &args.train {
        plan.train = SetEntry { stimuli: Some(typed(path)?), ..SetEntry::default() };
    }
    if let Some(path) = &args.validation {
        plan.validation = SetEntry { stimuli: Some(typed(path)?), ..SetEntry::default() };
    }
    plan.epochs = args.epochs.unwrap_or(plan.epochs);
    plan.batch = args.batch.unwrap_or(plan.batch);
    plan.input.size = args.size.or(plan.input.size);
    if let Some(seed) = args.seed {
        plan.seed.0 = Seed(seed);
    }
    if let Some(rate) = args.learning_rate {
        let mut optimiser = plan.optimiser();
        optimiser.set_learning_rate(rate);
        plan.optimiser = Some(optimiser);
    }
    let shown = args.plan.as_deref().unwrap_or(Path::new("the training"));
    plan.check(shown)?;
    let output = args.output.clone().unwrap_or_else(|| folder.join(&plan.output));
    Ok((plan, folder, output))
}

fn network_entry(
    text: &str,
    typed: impl Fn(&Path) -> Result<PathBuf, CliError>,
) -> Result<NetworkEntry, CliError> {
    let architecture = match text {
        "plain" => Some(Architecture::Plain),
        "residual" => Some(Architecture::Residual),
        "transformer" => Some(Architecture::Transformer),
        _ => None,
    };
    if architecture.is_some() {
        return Ok(NetworkEntry { architecture, ..NetworkEntry::default() });
    }
    let path = Path::new(text);
    if !path.is_file() {
        return Err(CliError::input(format!(
            "--network should be plain, residual, transformer or an ONNX file, found `{text}`"
        )));
    }
    Ok(NetworkEntry { file: Some(typed(path)?), ..NetworkEntry::default() })
}

/// The name of a model, after its file or architecture.
fn stem(network: &str) -> String {
    let stem = Path::new(network).file_stem();
    stem.map_or_else(|| network.to_owned(), |stem| stem.to_string_lossy().into_owned())
}

/// Writes a plan that was typed beside what comes of it, with paths from there.
pub(super) fn write_beside(
    plan: &TrainingPlan,
    base: &Path,
    output: &Path,
) -> Result<(), CliError> {
    let mut plan = plan.clone();
    let from_there = |path: &PathBuf| folder::relative(&base.join(path), output);
    plan.network.file = plan.network.file.as_ref().map(from_there);
    plan.train.stimuli = plan.train.stimuli.as_ref().map(from_there);
    plan.validation.stimuli = plan.validation.stimuli.as_ref().map(from_there);
    plan.output = PathBuf::from(".");
    Ok(plan.write(&output.join("fit.toml"))?)
}
