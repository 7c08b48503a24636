//! What was typed, turned into what is meant: attacks with settings and grids, models with what is
//! said about them.

use std::path::{Path, PathBuf};

use mohs_data::format::folder_of_stimuli;
use mohs_data::{Manifest, Norm};
use mohs_vision::min_epsilon::{Grid, GridError, Planned};
use mohs_vision::probe::attack::{Attack, Settings, Steps, parse_attacks};

use super::AttackArgs;
use crate::error::CliError;

/// A setting as it is typed: `pgd.steps=20`.
pub(super) fn parse_setting(text: &str) -> Result<(String, String, String), String> {
    let parts = text.split_once('=').and_then(|(name, value)| {
        let (attack, name) = name.split_once('.')?;
        let parts = [attack, name, value].map(|part| part.trim().to_owned());
        parts.iter().all(|part| !part.is_empty()).then_some(parts)
    });
    match parts {
        Some([attack, name, value]) => Ok((attack, name, value)),
        None => Err(format!("expected ATTACK.NAME=VALUE, e.g. pgd.steps=20, found `{text}`")),
    }
}

/// What is meant.
pub(super) struct Request {
    manifest: Manifest,
    folder: PathBuf,
    attacks: Vec<Planned>,
    corrections: Vec<Planned>,
}

impl Request {
    pub(super) fn new(args: &AttackArgs) -> Result<Request, CliError> {
        let attacks = planned(args, &args.attacks, &args.grid, None)?;
        let corrections = if args.correct.is_some() {
            // The study of viewing time takes two steps to put an answer right.
            planned(args, &args.correct_attacks, &args.correct_grid, Some(2))?
        } else {
            Vec::new()
        };
        let known = |name: &str| {
            let all = attacks.iter().chain(&corrections);
            all.into_iter()
                .any(|planned| Some(planned.attack.name) == Attack::find(name).map(|a| a.name))
        };
        for (attack, ..) in &args.set {
            parse_attacks(std::slice::from_ref(attack))?;
            if !known(attack) {
                return Err(CliError::input(format!(
                    "--set names the attack `{attack}`, which is not among --attacks"
                ))
                .hint("add it to --attacks, or leave the setting away"));
            }
        }
        let model = args.model.as_deref().unwrap_or(Path::new(""));
        let is_evaluation = model.extension().is_some_and(|ending| ending == "toml");
        let (manifest, folder) = if is_evaluation {
            for (flag, is_given) in [
                ("--preprocess", args.preprocess.is_some()),
                ("--classes", args.classes.is_some()),
                ("--answer", args.answer.is_some()),
                ("--name", args.name.is_some()),
            ] {
                if is_given {
                    return Err(CliError::input(format!("{flag} goes with a model file"))
                        .hint("an evaluation says it for each of its models"));
                }
            }
            let mut manifest = Manifest::read(model)?;
            let folder = folder_of_stimuli(model);
            if let Some(stimuli) = &args.stimuli {
                manifest.stimuli = absolute(stimuli)?;
            }
            (manifest, folder)
        } else {
            if args.models.is_some() {
                return Err(CliError::input("--models goes with an evaluation")
                    .hint("name eval.toml instead of a model file"));
            }
            let Some(stimuli) = &args.stimuli else {
                return Err(CliError::input("nothing says which pictures to attack").hint(
                    "--stimuli PATH: a table with labels, or a folder with a folder per label",
                ));
            };
            // The cache lies beside the model; its own paths are seen from there.
            let folder = model.parent().unwrap_or(Path::new("")).to_owned();
            let file = PathBuf::from(model.file_name().unwrap_or_default());
            let mut manifest = super::manifest_of(args, &file)?;
            manifest.stimuli = absolute(stimuli)?;
            for entry in &mut manifest.models {
                if let Some(mohs_data::ClassesEntry::File(path)) = &mut entry.classes {
                    *path = absolute(path)?;
                }
            }
            (manifest, folder)
        };
        let mut manifest = manifest;
        manifest.map.extend(args.map.iter().cloned());
        Ok(Request { manifest, folder, attacks, corrections })
    }

    pub(super) fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    pub(super) fn attacks(&self) -> &[Planned] {
        &self.attacks
    }

    pub(super) fn corrections(&self) -> &[Planned] {
        &self.corrections
    }
}

fn planned(
    args: &AttackArgs,
    names: &[String],
    grid: &str,
    fgsm_steps: Option<usize>,
) -> Result<Vec<Planned>, CliError> {
    let mut planned = Vec::new();
    for attack in parse_attacks(names)? {
        let mut settings = Settings::of(attack, args.preset);
        if let (Some(steps), "fgsm" | "fgsm-l2") = (fgsm_steps, attack.name) {
            settings.steps = Steps::Fixed(steps);
        }
        for (of, name, value) in &args.set {
            if Attack::find(of).is_some_and(|other| other.name == attack.name) {
                settings.set(attack, name, value)?;
            }
        }
        let grid = Grid::parse(grid, attack.norm).map_err(|error| {
            let hint = match error {
                GridError::OutOfRange { .. } if attack.norm == Norm::L2 => {
                    "pixels are from 0 to 1, and in L2 ε is the root of the sum of their squared \
                     changes: write 0.5 or 128/255, not 128"
                        .to_owned()
                }
                GridError::OutOfRange { .. } => {
                    "pixels are from 0 to 1: write 8/255, not 8".to_owned()
                }
                _ => "e.g. --grid paper, --grid 1/255,2/255 or --grid 0:0.05:0.001".to_owned(),
            };
            CliError::input(error.to_string()).hint(hint)
        })?;
        planned.push(Planned { attack, settings, grid });
    }
    Ok(planned)
}

fn absolute(path: &Path) -> Result<PathBuf, CliError> {
    std::path::absolute(path)
        .map_err(|cause| CliError::surroundings("cannot find the current folder").because(cause))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_setting_names_its_attack() {
        assert_eq!(
            parse_setting("pgd.alpha = 2/255"),
            Ok(("pgd".into(), "alpha".into(), "2/255".into()))
        );
        assert!(parse_setting("alpha=1").is_err() && parse_setting("pgd.alpha").is_err());
    }
}
