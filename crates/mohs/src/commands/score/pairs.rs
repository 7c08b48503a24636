//! `mohs score pairs`.

use std::collections::BTreeMap;
use std::path::PathBuf;

use clap::ValueEnum;
use mohs_data::format::ReadOptions;
use mohs_data::{Caveat, Checks, Comparison, Problem, Seed, Stimulus, Study, check};
use mohs_report::Summary;
use mohs_score::human::bradley_terry::{self, Options, PRIOR_SD, Prior};

use super::input::{self, display, parse_mapping};
use super::output::{self, Files, OutputArgs};
use super::{SIMULATED, SOURCE};
use crate::error::CliError;
use crate::ui::Ui;

/// Score paired judgements: a difficulty for every stimulus by Bradley and Terry
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  mohs score pairs comparisons.csv
  mohs score pairs comparisons.csv --stimuli stimuli.csv --output results
  mohs score pairs comparisons.csv --study my-study/study.toml
  mohs score pairs comparisons.csv --question 'which is harder to name?' --prior none
  mohs score pairs arena.csv --map left=model_a --map right=model_b --map harder=winner --map participant=judge
  mohs score pairs citations.csv        with the columns winner, loser and count

A comparison needs a participant, left, right and harder, or a winner (the harder one) and a loser.
See docs/formats/comparisons.md for all columns.")]
pub(crate) struct PairsArgs {
    /// Comparisons as CSV or Parquet, or a folder with comparisons.csv
    file: PathBuf,
    /// The study: its name, its stimuli, participants to set aside and the confidence of intervals
    #[arg(long, value_name = "study.toml")]
    study: Option<PathBuf>,
    /// What was shown: a table, an image folder, a COCO file or a list; brings labels and levels
    #[arg(long, value_name = "PATH")]
    stimuli: Option<PathBuf>,
    /// Read our column from one of yours, e.g. participant=judge (can be repeated)
    #[arg(long, value_name = "OURS=YOURS", value_parser = parse_mapping)]
    map: Vec<(String, String)>,
    /// Count the judgements of this question only
    #[arg(long, value_name = "TEXT")]
    question: Option<String>,
    /// Levels from easiest to hardest [default: numbers, or easy,medium,hard]
    #[arg(long, value_name = "LEVEL,…", value_delimiter = ',')]
    levels: Vec<String>,
    /// What to do with ties
    #[arg(long, value_enum, default_value_t = Ties::Davidson)]
    ties: Ties,
    /// Standard deviation of a prior on all difficulties, in log-odds, or none to refuse separated
    /// data [default: 2.5, for separated groups only]
    #[arg(long, value_name = "SD|none", value_parser = parse_prior)]
    prior: Option<Prior>,
    /// Give difficulties as they would be if no side was favoured
    #[arg(long)]
    account_for_position: bool,
    /// Bootstrap draws over participants
    #[arg(long, value_name = "N", default_value_t = 1000,
          value_parser = clap::value_parser!(u32).range(100..))]
    resamples: u32,
    #[command(flatten)]
    output: OutputArgs,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Ties {
    /// A tie is an answer with a chance of its own
    Davidson,
    /// A tie is half an answer for each
    Half,
}

fn parse_prior(text: &str) -> Result<Prior, String> {
    if text == "none" {
        return Ok(Prior::Never);
    }
    match text.parse::<f64>() {
        Ok(sd) if sd.is_finite() && 0.0 < sd => Ok(Prior::Always { sd }),
        _ => Err(format!("expected a positive number, such as {PRIOR_SD}, or none")),
    }
}

pub(super) fn run(args: &PairsArgs, ui: &Ui) -> Result<(), CliError> {
    let Paths { comparisons: path, study, stimuli: stimuli_path } = paths(args)?;
    let stimuli = input::stimuli_at(stimuli_path.as_deref())?;
    let checks = Checks {
        options: ReadOptions {
            column_map: args.map.iter().cloned().collect::<BTreeMap<_, _>>(),
            require: vec![],
        },
        stimuli: stimuli_path.as_ref().map(|_| &stimuli[..]),
        stimuli_name: stimuli_path.as_deref().map(display).unwrap_or_default(),
        labels: None,
        labels_name: String::new(),
    };
    let mut comparisons = check::read_comparisons(&path, &checks).map_err(|error| {
        let lacks_people = matches!(
            &error.problem,
            Problem::MissingColumn { wanted, .. } if wanted == "participant"
        );
        let cli = CliError::from(error).while_doing("cannot read the comparisons");
        if lacks_people {
            cli.hint("map the column of judges, or let `mohs import comparisons` name a single one")
        } else {
            cli
        }
    })?;
    ui.say(&format!("{} comparisons read from {}", comparisons.len(), path.display()));
    let set_aside = study.iter().flat_map(|study| &study.exclusions.participants);
    let set_aside: Vec<&str> = set_aside.map(String::as_str).collect();
    let n_read = comparisons.len();
    comparisons.retain(|one| !set_aside.contains(&one.participant.as_str()));
    if comparisons.len() < n_read {
        let n = n_read - comparisons.len();
        ui.say(&format!("{n} comparisons set aside: [exclusions] participants of the study"));
    }
    let usual = Options::default();
    let options = Options {
        ties: match args.ties {
            Ties::Davidson => bradley_terry::Ties::Davidson,
            Ties::Half => bradley_terry::Ties::Half,
        },
        prior: args.prior.unwrap_or_default(),
        accounts_for_position: args.account_for_position,
        question: args.question.clone(),
        levels: args.levels.clone(),
        confidence: study.as_ref().map_or(usual.confidence, |study| study.score.confidence),
        n_resamples: args.resamples as usize,
    };
    ui.say(&format!("scoring with {} draws over participants", args.resamples));
    let title = study.map_or_else(|| input::title_of(&path), |study| study.name);
    let seed = Seed(args.output.seed);
    let (summary, files) = score(&title, &comparisons, &stimuli, &options, seed)?;
    output::finish(summary, &files, &args.output, ui)
}

/// What is read, and from where.
struct Paths {
    comparisons: PathBuf,
    study: Option<Study>,
    stimuli: Option<PathBuf>,
}

/// Returns where the comparisons are and, where there are any, the study and its stimuli.
fn paths(args: &PairsArgs) -> Result<Paths, CliError> {
    let is_folder = args.file.is_dir();
    let beside = |name: &str| Some(args.file.join(name)).filter(|path| is_folder && path.is_file());
    let comparisons = if is_folder {
        beside("comparisons.csv").or_else(|| beside("comparisons.parquet")).ok_or_else(|| {
            CliError::input(format!("no comparisons in the folder `{}`", args.file.display())).hint(
                "it should hold comparisons.csv or comparisons.parquet; or name the file itself",
            )
        })?
    } else {
        args.file.clone()
    };
    let study_path = args.study.clone().or_else(|| beside("study.toml"));
    let study = study_path.as_deref().map(input::study_at).transpose()?;
    let of_study = || {
        let stimuli = study_path.as_ref()?.parent()?.join(&study.as_ref()?.stimuli);
        stimuli.exists().then_some(stimuli)
    };
    let stimuli = args.stimuli.clone().or_else(of_study).or_else(|| beside("stimuli.csv"));
    Ok(Paths { comparisons, study, stimuli })
}

/// Scores comparisons into a summary and the files that go with it.
fn score(
    title: &str,
    comparisons: &[Comparison],
    stimuli: &[Stimulus],
    options: &Options,
    seed: Seed,
) -> Result<(Summary, Files), CliError> {
    let mut findings =
        bradley_terry::score(&bradley_terry::Input { comparisons, stimuli, options, seed })?;
    let simulated = comparisons.iter().any(|row| row.extra.get(SOURCE) == Some(SIMULATED));
    if simulated {
        findings.caveats.add(Caveat::Simulated);
    }
    let files = Files { difficulties: Some(findings.difficulties()), ..Files::default() };
    let summary = Summary {
        pairs: Some(findings),
        ..Summary::new(title, env!("CARGO_PKG_VERSION"), seed.0, simulated)
    };
    Ok((summary, files))
}
