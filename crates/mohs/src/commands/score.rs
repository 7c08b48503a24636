//! `mohs score`: difficulty from trials.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use clap::{Subcommand, ValueEnum};
use mohs_data::format::{ReadOptions, atomic, read_stimuli, write_all};
use mohs_data::{
    Caveat, Checks, Exclusion, Millis, MvtRule, Seed, Stimulus, Study, Task, Trial, check,
};
use mohs_report::{Summary, render_csv, render_text};
use mohs_score::human::viewing_time;

use crate::args::Format;
use crate::error::CliError;
use crate::folder;
use crate::ui::Ui;

/// Compute difficulty from trials
#[derive(Debug, clap::Args)]
pub(crate) struct ScoreArgs {
    #[command(subcommand)]
    measure: Measure,
}

#[derive(Debug, Subcommand)]
enum Measure {
    ViewingTime(ViewingTimeArgs),
}

/// Score flash trials: minimum viewing time, difficulty, thresholds
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  mohs score viewing-time trials.csv
  mohs score viewing-time trials.parquet --stimuli stimuli.csv --output results
  mohs score viewing-time their.csv --map participant=subj --map exposure_ms=duration
  mohs score viewing-time my-study --format json > summary.json

A trial needs a participant, a stimulus, exposure_ms, and either response and label or correct.
See docs/formats/trials.md for all columns.")]
pub(crate) struct ViewingTimeArgs {
    /// Trials as CSV or Parquet, or a study folder with study.toml and trials.csv
    trials: PathBuf,
    /// The study: exclusion rules, labels and scoring options
    #[arg(long, value_name = "study.toml")]
    study: Option<PathBuf>,
    /// What was shown: a table, an image folder, a COCO file or a list; brings labels and groups
    #[arg(long, value_name = "PATH")]
    stimuli: Option<PathBuf>,
    /// Read our column from one of yours, e.g. participant=subj (can be repeated)
    #[arg(long, value_name = "OURS=YOURS", value_parser = parse_mapping)]
    map: Vec<(String, String)>,
    /// What counts when recognition is not monotone [default: stays]
    #[arg(long, value_enum)]
    rule: Option<Rule>,
    /// Share of right answers that counts as recognised [default: 0.5]
    #[arg(long, value_name = "SHARE")]
    criterion: Option<f64>,
    /// Chance of a right guess [default: 1 / number of labels]
    #[arg(long, value_name = "SHARE")]
    guess_rate: Option<f64>,
    /// Bootstrap draws over participants and stimuli [default: 1000]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(100..))]
    resamples: Option<u32>,
    /// Seed of the bootstrap
    #[arg(long, default_value_t = 1, value_name = "N")]
    seed: u64,
    /// How to print the result
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    /// Also write difficulty.csv, exclusions.csv and summary.json into this folder
    #[arg(long, short, value_name = "DIR")]
    output: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Rule {
    /// The shortest exposure from which the stimulus stays recognised
    Stays,
    /// The shortest exposure at which it is recognised at all
    First,
}

fn parse_mapping(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((ours, theirs)) if !ours.is_empty() && !theirs.is_empty() => {
            Ok((ours.to_owned(), theirs.to_owned()))
        }
        _ => Err("expected OURS=YOURS, e.g. participant=subj".into()),
    }
}

pub(crate) fn run(args: &ScoreArgs, ui: &Ui) -> Result<(), CliError> {
    match &args.measure {
        Measure::ViewingTime(args) => viewing_time(args, ui),
    }
}

/// What was typed, read and made sense of.
struct Read {
    study: Study,
    has_study: bool,
    stimuli: Vec<Stimulus>,
    trials: Vec<Trial>,
}

fn viewing_time(args: &ViewingTimeArgs, ui: &Ui) -> Result<(), CliError> {
    let mut read = read(args)?;
    apply_flags(args, &mut read.study)?;
    ui.say(&format!("{} read from {}", n_trials(read.trials.len()), args.trials.display()));
    let n_others = read.trials.iter().filter(|trial| !is_flash(trial)).count();
    if 0 < n_others {
        ui.say(&format!("{n_others} of them are not flashes with an exposure and are left out"));
    }
    tell_mismatches(&read, ui);
    let (summary, exclusions) = score(&read.study, &read.stimuli, &read.trials, Seed(args.seed))?;
    if let Some(output) = &args.output {
        write(&summary, &exclusions, output)?;
        ui.say(&format!(
            "written: difficulty.csv, exclusions.csv, summary.json in {}",
            output.display()
        ));
    }
    let text = match args.format {
        Format::Text => render_text(&summary),
        Format::Json => summary.to_json(),
        Format::Csv => render_csv(&summary),
    };
    ui.data(text.as_bytes())
}

/// Tells where the study and the trials do not fit; nothing is changed because of it.
fn tell_mismatches(read: &Read, ui: &Ui) {
    let planned = &read.study.flash.exposures_ms;
    let is_planned = |trial: &&Trial| trial.exposure.is_none_or(|at| planned.contains(&at));
    let n_other = read.trials.iter().filter(|trial| !is_planned(trial)).count();
    if read.has_study && 0 < n_other {
        ui.say(&format!("{n_other} trials have exposures that study.toml does not plan"));
    }
    for listed in &read.study.exclusions.participants {
        if !read.trials.iter().any(|trial| trial.participant.as_str() == listed) {
            ui.say(&format!("study.toml sets aside participant `{listed}`, who has no trials"));
        }
    }
}

fn n_trials(n: usize) -> String {
    if n == 1 { "1 trial".into() } else { format!("{n} trials") }
}

fn is_flash(trial: &Trial) -> bool {
    trial.task == Task::Flash && trial.exposure.is_some()
}

fn read(args: &ViewingTimeArgs) -> Result<Read, CliError> {
    let is_folder = args.trials.is_dir();
    let in_folder = |name: &str| Some(args.trials.join(name)).filter(|path| path.is_file());
    let trials_path = if is_folder {
        in_folder("trials.csv").or_else(|| in_folder("trials.parquet")).ok_or_else(|| {
            CliError::input(format!("no trials in the folder `{}`", args.trials.display()))
                .hint("it should hold trials.csv or trials.parquet; or name the file itself")
        })?
    } else {
        args.trials.clone()
    };
    let study_path = args.study.clone().or_else(|| in_folder("study.toml").filter(|_| is_folder));
    let study = match &study_path {
        Some(path) => Study::read(path)
            .map_err(|error| CliError::from(error).while_doing("cannot read the study"))?,
        None => Study::new(&title_of(&trials_path), Task::Flash),
    };
    let stimuli_path = args.stimuli.clone().or_else(|| {
        let beside = study_path.as_ref()?.parent()?.join(&study.stimuli);
        beside.exists().then_some(beside)
    });
    let stimuli = match &stimuli_path {
        Some(path) => read_stimuli(path, &ReadOptions::default())
            .map_err(|error| CliError::from(error).while_doing("cannot read the stimuli"))?,
        None => Vec::new(),
    };
    let checks = Checks {
        options: ReadOptions {
            column_map: args.map.iter().cloned().collect::<BTreeMap<_, _>>(),
            require: vec![],
        },
        stimuli: stimuli_path.as_ref().map(|_| &stimuli[..]),
        stimuli_name: stimuli_path.as_deref().map(display).unwrap_or_default(),
        labels: (!study.labels.is_empty()).then_some(&study.labels[..]),
        labels_name: study_path
            .as_deref()
            .map(|path| format!("the labels of {}", display(path)))
            .unwrap_or_default(),
    };
    let trials = check::read_trials(&trials_path, &checks)
        .map_err(|error| CliError::from(error).while_doing("cannot read the trials"))?;
    require_exposures(&trials_path, &checks.options, &trials)?;
    Ok(Read { study, has_study: study_path.is_some(), stimuli, trials })
}

/// Viewing time without exposures is a mistake worth its own message.
fn require_exposures(path: &Path, options: &ReadOptions, trials: &[Trial]) -> Result<(), CliError> {
    if trials.iter().any(|trial| trial.exposure.is_some()) {
        return Ok(());
    }
    let options = ReadOptions { require: vec!["exposure_ms"], ..options.clone() };
    match mohs_data::format::TableReader::<Trial>::open(path, &options) {
        Err(error) => Err(CliError::from(error).while_doing("cannot read the trials")),
        Ok(_) => Ok(()),
    }
}

fn display(path: &Path) -> String {
    path.display().to_string()
}

fn title_of(trials: &Path) -> String {
    trials.file_stem().map_or_else(|| "trials".into(), |stem| stem.to_string_lossy().into_owned())
}

/// Flags win over the study's own options.
fn apply_flags(args: &ViewingTimeArgs, study: &mut Study) -> Result<(), CliError> {
    let share = |name: &str, value: Option<f64>| match value {
        Some(value) if !(0.0 < value && value < 1.0) => {
            Err(CliError::input(format!("{name} should be between 0 and 1, found {value}"))
                .hint("write a share, e.g. 0.5, not a percentage"))
        }
        _ => Ok(()),
    };
    share("--criterion", args.criterion)?;
    share("--guess-rate", args.guess_rate)?;
    let options = &mut study.score;
    if let Some(rule) = args.rule {
        options.rule = match rule {
            Rule::Stays => MvtRule::Stays,
            Rule::First => MvtRule::First,
        };
    }
    options.criterion = args.criterion.unwrap_or(options.criterion);
    options.guess_rate = args.guess_rate.or(options.guess_rate);
    options.n_resamples = args.resamples.map_or(options.n_resamples, |n| n as usize);
    Ok(())
}

/// Scores a study's trials into a summary and the list of what was set aside.
pub(crate) fn score(
    study: &Study,
    stimuli: &[Stimulus],
    trials: &[Trial],
    seed: Seed,
) -> Result<(Summary, Vec<Exclusion>), CliError> {
    let n_labels = if study.labels.is_empty() {
        let mut labels: Vec<_> = stimuli.iter().map(|stimulus| &stimulus.label).collect();
        labels.sort_unstable();
        labels.dedup();
        Some(labels.len()).filter(|n| 2 <= *n)
    } else {
        Some(study.labels.len())
    };
    let input = viewing_time::Input {
        trials,
        stimuli,
        n_labels,
        rules: &study.exclusions,
        options: &study.score,
        seed,
    };
    let (mut findings, exclusions) = viewing_time::score(&input)?;
    let simulated = trials.iter().any(|trial| trial.extra.get(SOURCE) == Some(SIMULATED));
    if simulated {
        findings.caveats.add(Caveat::Simulated);
    }
    let summary = Summary {
        version: Summary::VERSION,
        title: study.name.clone(),
        mohs_version: env!("CARGO_PKG_VERSION").to_owned(),
        seed: seed.0,
        simulated,
        viewing_time: Some(findings),
    };
    Ok((summary, exclusions))
}

/// The extra column that tells simulated trials from real ones.
pub(crate) const SOURCE: &str = "source";
/// What it says of simulated trials.
pub(crate) const SIMULATED: &str = "simulated";

/// Writes what scoring found.
pub(crate) fn write(
    summary: &Summary,
    exclusions: &[Exclusion],
    output: &Path,
) -> Result<(), CliError> {
    folder::make(output)?;
    let difficulties = summary.viewing_time.as_ref().map(viewing_time::ViewingTime::difficulties);
    write_all(&output.join("difficulty.csv"), &difficulties.unwrap_or_default())?;
    write_all(&output.join("exclusions.csv"), exclusions)?;
    atomic::write_file(&output.join("summary.json"), summary.to_json().as_bytes())?;
    Ok(())
}

/// Returns the exposures a study plans, for messages.
pub(crate) fn exposures_in_words(exposures: &[Millis]) -> String {
    exposures.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}
