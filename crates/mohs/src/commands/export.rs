//! `mohs export`: trials for other tools, from files or from a hosted study's database.

mod hosted;

use std::path::PathBuf;

use clap::ValueEnum;
use mohs_data::format::export::{Description, bids, psych_ds};
use mohs_data::format::{ReadOptions, write_all};
use mohs_data::{Checks, FileError, Problem, Trial, check};

use super::import::{check_output, check_overwrites_none};
use crate::error::CliError;
use crate::folder::files_of_study;
use crate::ui::Ui;

/// Write trials for other tools
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  mohs export my-study --to csv --output trials.csv          what `mohs serve` collected
  mohs export my-study --to sessions --output sessions.csv   who finished, with completion codes
  mohs export my-study --to jsonl --output events.jsonl      everything pages said, with hashes
  mohs export trials.parquet --to csv --output trials.csv
  mohs export trials.csv --to bids --output my-study-bids --name \"My study\"
  mohs export trials.csv --to psych-ds --output my-study-psych-ds --author \"A. Person\"

docs/formats/export.md says what stands where, and how to run the validators.")]
pub(crate) struct ExportArgs {
    /// Trials as CSV or Parquet, a study's folder, or its database (sqlite:PATH, postgres://…)
    trials: PathBuf,
    /// Name of the study in addresses, where a database has several
    #[arg(long, value_name = "NAME")]
    study: Option<String>,
    /// What to write
    #[arg(long, value_enum, value_name = "FORMAT")]
    to: ExportFormat,
    /// Where to write: a file for csv, parquet, sessions and jsonl, a new folder for bids and psych-ds
    #[arg(long, short, value_name = "PATH")]
    output: PathBuf,
    /// Name of the data set [default: the name of the file]
    #[arg(long, value_name = "TEXT")]
    name: Option<String>,
    /// What the data set holds, in a sentence [default: how many trials of how many participants]
    #[arg(long, value_name = "TEXT")]
    description: Option<String>,
    /// Who made it (can be repeated)
    #[arg(long, value_name = "NAME")]
    author: Vec<String>,
}

/// What can be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ExportFormat {
    /// Our own table of trials as CSV
    Csv,
    /// The same as Parquet
    Parquet,
    /// Sessions of a hosted study with their completion codes, as CSV
    Sessions,
    /// Raw events of a hosted study, one a line
    Jsonl,
    /// BIDS: one events file per participant, session and task
    Bids,
    /// Psych-DS: one table with a description of every column
    PsychDs,
}

pub(crate) fn run(args: &ExportArgs, ui: &Ui) -> Result<(), CliError> {
    if matches!(args.to, ExportFormat::Csv | ExportFormat::Parquet | ExportFormat::Sessions) {
        check_kind(args)?;
        check_output(&args.output)?;
    }
    check_overwrites_none(&args.output, [&args.trials])?;
    // Whatever is exported: beside the output may lie what a study is made of.
    let around = [args.trials.parent(), Some(args.trials.as_path()), args.output.parent()];
    let studies = around.into_iter().flatten().chain(args.output.ancestors().nth(2));
    check_overwrites_none(&args.output, &studies.flat_map(files_of_study).collect::<Vec<_>>())?;
    if let Some(place) = hosted::place(&args.trials)? {
        return hosted::run(args, &place, ui);
    }
    let missing = match args.to {
        ExportFormat::Jsonl => Some("events"),
        ExportFormat::Sessions => Some("completion codes"),
        _ => None,
    };
    if let Some(missing) = missing {
        return Err(CliError::input(format!("a file of trials has no {missing}"))
            .hint("name the folder or database of a hosted study"));
    }
    let checks = Checks { options: ReadOptions::default(), ..Checks::default() };
    let trials: Vec<Trial> = check::read_trials(&args.trials, &checks).map_err(mapped_by_import)?;
    match args.to {
        ExportFormat::Csv
        | ExportFormat::Parquet
        | ExportFormat::Sessions
        | ExportFormat::Jsonl => {
            write_all(&args.output, &trials)?;
        }
        ExportFormat::Bids => bids::write(&args.output, &trials, &about(args, &trials))?,
        ExportFormat::PsychDs => psych_ds::write(&args.output, &trials, &about(args, &trials))?,
    }
    ui.say(&format!("written: {} ({} trials)", args.output.display(), trials.len()));
    Ok(())
}

/// Says who maps columns, because an export does not.
fn mapped_by_import(mut error: FileError) -> FileError {
    if let Problem::MissingColumn { hint, .. } = &mut error.problem {
        *hint = Some("make trials of it first: mohs import csv FILE --map OURS=THEIRS".into());
    }
    error
}

/// Makes sure that the ending says the same as `--to`.
fn check_kind(args: &ExportArgs) -> Result<(), CliError> {
    let ending = if args.to == ExportFormat::Parquet { "parquet" } else { "csv" };
    if args.output.extension().is_some_and(|found| found.eq_ignore_ascii_case(ending)) {
        return Ok(());
    }
    Err(CliError::input(format!("`{}` should end in .{ending}", args.output.display()))
        .hint("the ending of a file says how it is written; let it agree with --to"))
}

fn about(args: &ExportArgs, trials: &[Trial]) -> Description {
    let stem = args.trials.file_stem().unwrap_or_default().to_string_lossy();
    let mut participants: Vec<_> = trials.iter().map(|trial| &trial.participant).collect();
    participants.sort_unstable();
    participants.dedup();
    let counts = format!("{} trials of {} participants", trials.len(), participants.len());
    Description {
        name: args.name.clone().unwrap_or_else(|| stem.into_owned()),
        description: args.description.clone().unwrap_or(counts),
        authors: args.author.clone(),
        written_by: env!("CARGO_PKG_VERSION").into(),
    }
}
