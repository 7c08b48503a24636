//! `mohs check`: read everything, change nothing.

use std::path::{Path, PathBuf};

use mohs_data::format::{ReadOptions, folder_of_stimuli, read_stimuli};
use mohs_data::{
    Annotation, Checks, Comparison, Difficulty, Exclusion, Extra, FileError, Manifest, MinEpsilon,
    Prediction, Prepared, Problem, Stimulus, Study, Task, Trial, check,
};
use mohs_report::Summary;
use mohs_score::human::exclusion;
use mohs_serve::hosted::{self, Hosted};
use mohs_vision::evaluate;
use mohs_vision::network::Network;
use mohs_vision::pixels;
use rayon::prelude::*;

use crate::commands::serve::{launch_error, warn_of_design};
use crate::commands::{eval, prepare};
use crate::error::CliError;
use crate::ui::Ui;

/// Read studies, tables and pictures, and change nothing
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  mohs check my-study             the study, its stimuli, every picture, what was prepared, its
                                  trials
  mohs check trials.parquet       one table
  mohs check trials.csv --stimuli stimuli.csv
                                  a table against what was shown
  mohs check photos/              every picture in an image folder
  mohs check eval.toml            a manifest, its stimuli and its models

Prints one line per file that is in order. The first mistake is shown with its place and a hint.")]
pub(crate) struct CheckArgs {
    /// Study folders, image folders, tables or documents
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// What was shown: ids and labels in tables are held against it
    #[arg(long, value_name = "PATH")]
    stimuli: Option<PathBuf>,
}

pub(crate) fn run(args: &CheckArgs, ui: &Ui) -> Result<(), CliError> {
    let stimuli = match &args.stimuli {
        Some(path) => Some((path.as_path(), check_stimuli_at(path, ui)?)),
        None => None,
    };
    let checks = Checks {
        stimuli: stimuli.as_ref().map(|(_, stimuli)| &stimuli[..]),
        stimuli_name: stimuli
            .as_ref()
            .map(|(path, _)| path.display().to_string())
            .unwrap_or_default(),
        ..Checks::default()
    };
    for path in &args.paths {
        check_path(path, &checks, ui)?;
    }
    Ok(())
}

fn check_path(path: &Path, checks: &Checks<'_>, ui: &Ui) -> Result<(), CliError> {
    if path.is_dir() {
        return if path.join("study.toml").is_file() {
            check_study(&path.join("study.toml"), ui)
        } else {
            check_stimuli(path, ui)
        };
    }
    let ending = path.extension().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    match ending.as_str() {
        "toml" => check_toml(path, ui),
        "json" => check_json(path, ui),
        "txt" | "lst" => check_stimuli(path, ui),
        _ => check_table(path, checks, ui),
    }
}

fn ok(ui: &Ui, path: &Path, what: &str) -> Result<(), CliError> {
    ui.data(format!("ok  {}: {what}\n", path.display()).as_bytes())
}

fn check_study(path: &Path, ui: &Ui) -> Result<(), CliError> {
    let study = Study::read(path)?;
    ok(ui, path, &format!("{} study `{}`", study.task.as_str(), study.name))?;
    let folder = folder_of_stimuli(path);
    let stimuli_path = folder.join(&study.stimuli);
    if !stimuli_path.exists() {
        let problem = Problem::Unknown {
            what: "stimuli table",
            id: study.stimuli.display().to_string(),
            known_in: folder.display().to_string(),
            nearest: None,
        };
        return Err(FileError::new(path, problem).in_column("stimuli").into());
    }
    let stimuli = check_stimuli_at(&stimuli_path, ui)?;
    let annotations = folder.join("annotations.json");
    if annotations.is_file() {
        check_json(&annotations, ui)?;
    }
    let prepared = prepare::check(path)?;
    if let Some((table, what)) = &prepared {
        ok(ui, table, what)?;
    }
    check_hosting(path, &study, &stimuli, prepared.is_some(), ui)?;
    for name in ["trials.csv", "trials.parquet"] {
        let trials_path = folder.join(name);
        if trials_path.is_file() {
            let checks = Checks {
                options: ReadOptions::default(),
                stimuli: Some(&stimuli),
                stimuli_name: study.stimuli.display().to_string(),
                labels: (!study.labels.is_empty()).then_some(&study.labels[..]),
                labels_name: format!("the labels of {}", path.display()),
            };
            let trials = check::read_trials(&trials_path, &checks)?;
            let applied = exclusion::apply(&trials, &study.exclusions);
            let what = format!("{} trials, {} count", trials.len(), applied.kept.len());
            ok(ui, &trials_path, &what)?;
            for count in applied.counts.iter().filter(|count| 0 < count.n_trials) {
                ui.say(&format!(
                    "      {} sets aside {} trials ({})",
                    count.rule, count.n_trials, count.meaning
                ));
            }
        }
    }
    Ok(())
}

/// Says whether `mohs serve` would host it; outlines are not drawn in a browser.
fn check_hosting(
    path: &Path,
    study: &Study,
    stimuli: &[Stimulus],
    is_prepared: bool,
    ui: &Ui,
) -> Result<(), CliError> {
    if study.task == Task::Masks {
        return Ok(());
    }
    let folder = folder_of_stimuli(path);
    let checked = if is_prepared {
        Hosted::read(path).map(|_| ())
    } else {
        hosted::check(&folder, study, &not_prepared(study, stimuli)).map(|_| ())
    };
    checked.map_err(|error| launch_error(error).while_doing("`mohs serve` would refuse it"))?;
    warn_of_design(study, stimuli.len(), ui);
    Ok(())
}

/// Returns what would be shown, without pictures.
fn not_prepared(study: &Study, stimuli: &[Stimulus]) -> Vec<Prepared> {
    let conditions = &study.prepare.conditions;
    let names: Vec<Option<String>> = match conditions.is_empty() {
        true => vec![None],
        false => conditions.iter().map(|condition| Some(condition.name.clone())).collect(),
    };
    let row = |stimulus: &Stimulus, condition: &Option<String>| Prepared {
        stimulus: stimulus.id.clone(),
        label: stimulus.label.clone(),
        condition: condition.clone(),
        image: String::new(),
        mask: None,
        source: stimulus.file.display().to_string(),
        attribute: stimulus.attribute.clone(),
        level: stimulus.level.clone(),
        side_px: u64::from(study.prepare.side_px),
        flashes: None,
        extra: Extra::default(),
    };
    stimuli.iter().flat_map(|one| names.iter().map(move |name| row(one, name))).collect()
}

fn check_stimuli(path: &Path, ui: &Ui) -> Result<(), CliError> {
    check_stimuli_at(path, ui).map(|_| ())
}

fn check_stimuli_at(path: &Path, ui: &Ui) -> Result<Vec<Stimulus>, CliError> {
    let stimuli = read_stimuli(path, &ReadOptions::default())?;
    pictures(path, &stimuli, &folder_of_stimuli(path), ui)?;
    let n = stimuli.len();
    let count = if n == 1 { "1 stimulus".into() } else { format!("{n} stimuli") };
    ok(ui, path, &format!("{count}, every picture decodes"))?;
    Ok(stimuli)
}

/// Decodes every picture and mask; the error names the table, the picture and how many are bad.
pub(crate) fn pictures(
    table: &Path,
    stimuli: &[Stimulus],
    folder: &Path,
    ui: &Ui,
) -> Result<(), CliError> {
    let bar = ui.progress(stimuli.len(), "decoding pictures");
    let bad: Vec<CliError> = stimuli
        .par_iter()
        .filter_map(|stimulus| {
            let files = std::iter::once(&stimulus.file).chain(&stimulus.mask);
            let error = files.filter_map(|file| pixels::read(&folder.join(file)).err()).next();
            bar.inc(1);
            error.map(|error| {
                CliError::from(error).while_doing(format!(
                    "{}: stimulus `{}` cannot be shown",
                    table.display(),
                    stimulus.id
                ))
            })
        })
        .collect();
    bar.finish_and_clear();
    let n_bad = bad.len();
    match bad.into_iter().next() {
        None => Ok(()),
        Some(first) if n_bad == 1 => Err(first),
        Some(first) => Err(first.hint(format!("{} more pictures are bad", n_bad - 1))),
    }
}

fn check_toml(path: &Path, ui: &Ui) -> Result<(), CliError> {
    let is_manifest = std::fs::read_to_string(path)
        .is_ok_and(|text| text.lines().any(|line| line.trim_start().starts_with("[[model")));
    if is_manifest {
        return check_manifest(path, ui);
    }
    check_study(path, ui)
}

/// Reads a manifest and what it names; whether models fit is said by `mohs eval --dry-run`.
fn check_manifest(path: &Path, ui: &Ui) -> Result<(), CliError> {
    let manifest = Manifest::read(path)?;
    let probes = evaluate::probes(&manifest)?;
    let what = format!(
        "evaluation `{}`: {} models, {} probes",
        manifest.name,
        manifest.models.len(),
        probes.len()
    );
    ok(ui, path, &what)?;
    let folder = folder_of_stimuli(path);
    let stimuli_path = folder.join(&manifest.stimuli);
    let stimuli = eval::stimuli_of(&manifest, &stimuli_path)?;
    pictures(&stimuli_path, &stimuli, &folder_of_stimuli(&stimuli_path), ui)?;
    ok(ui, &stimuli_path, &format!("{} stimuli, every picture decodes", stimuli.len()))?;
    if let Some(difficulty) = &manifest.difficulty {
        check_table(&folder.join(difficulty), &Checks::default(), ui)?;
    }
    for model in &manifest.models {
        if let Some(endpoint) = &model.endpoint {
            let what = format!("model `{}` at {}, which is not asked", model.name, endpoint.url);
            ok(ui, path, &what)?;
            continue;
        }
        let path = folder.join(&model.file);
        let network = Network::read(&path)?;
        network.pictures()?;
        ok(ui, &path, &format!("model `{}`", model.name))?;
    }
    Ok(())
}

fn check_json(path: &Path, ui: &Ui) -> Result<(), CliError> {
    let text = std::fs::read_to_string(path)
        .map_err(|cause| CliError::from(FileError::cannot_read(path, cause)))?;
    if text.contains("\"mohs_version\"") {
        let summary = Summary::from_json(&text)?;
        return ok(ui, path, &format!("summary of `{}`", summary.title));
    }
    if text.contains("\"images\"") {
        return check_stimuli(path, ui);
    }
    let annotations = Annotation::read_all(path)?;
    ok(ui, path, &format!("{} annotations", annotations.len()))
}

fn check_table(path: &Path, checks: &Checks<'_>, ui: &Ui) -> Result<(), CliError> {
    let options = ReadOptions::default();
    match mohs_data::format::noun_of(path)? {
        Some("stimuli") => check_stimuli(path, ui),
        Some("comparisons") => {
            let rows: Vec<Comparison> = check::read_comparisons(path, checks)?;
            ok(ui, path, &format!("{} comparisons", rows.len()))
        }
        Some("predictions") => {
            let rows: Vec<Prediction> = check::read_predictions(path, checks)?;
            ok(ui, path, &format!("{} predictions", rows.len()))
        }
        Some("difficulty") => {
            let rows: Vec<Difficulty> = mohs_data::format::read_all(path, &options)?;
            ok(ui, path, &format!("difficulty of {} stimuli", rows.len()))
        }
        Some("minimum epsilons") => {
            let rows: Vec<MinEpsilon> = mohs_data::format::read_all(path, &options)?;
            ok(ui, path, &format!("{} smallest ε of attacks", rows.len()))
        }
        Some("exclusions") => {
            let rows: Vec<Exclusion> = mohs_data::format::read_all(path, &options)?;
            ok(ui, path, &format!("{} exclusions", rows.len()))
        }
        Some("prepared stimuli") => {
            let rows: Vec<Prepared> = mohs_data::format::read_all(path, &options)?;
            ok(ui, path, &format!("{} prepared stimuli", rows.len()))
        }
        _ => {
            let rows: Vec<Trial> = check::read_trials(path, checks)?;
            ok(ui, path, &format!("{} trials", rows.len()))
        }
    }
}
