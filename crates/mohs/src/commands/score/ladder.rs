//! `mohs score ladder`.

use std::path::PathBuf;

use clap::ValueEnum;
use mohs_data::format::ReadOptions;
use mohs_data::{Caveat, Checks, Comparison, Prediction, Seed, Stimulus, check};
use mohs_report::{LADDER_TABLES, Summary, ladder_tables};
use mohs_score::model::hierarchy::{By, CellKind, Input, LadderError, Options, score};

use super::input::{DrawArgs, difficulty_at, display, parse_mapping, stimuli_at, title_of};
use super::output::{self, Files, OutputArgs};
use super::{SIMULATED, SOURCE};
use crate::error::CliError;
use crate::ui::Ui;

/// The folder the tables are written into.
const TABLES: &str = "ladder-tables";

/// Score a ladder: does a model that solves hard stimuli solve easy ones, too?
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  mohs score ladder --stimuli stimuli.csv --predictions predictions.csv
  mohs score ladder --stimuli stimuli.csv --predictions plain.csv deep.csv \\
      --comparisons comparisons.csv --output results && mohs report results
  mohs score ladder --stimuli noisy.csv --predictions predictions.csv --by noise
  mohs score ladder --stimuli stimuli.csv --predictions predictions.csv --by difficulty \\
      --difficulty difficulty.csv
  mohs score ladder --stimuli stimuli.csv --predictions predictions.csv --levels weak,middling,strong

Levels are numbers, or easy, medium and hard; other words need --levels. With --output, the folder
ladder-tables/ gets one table per question; tables of an earlier run go. See
docs/formats/ladder-tables.md.")]
pub(crate) struct LadderArgs {
    /// What was shown, with label, level and attribute: a table, an image folder, a COCO file or a
    /// list
    #[arg(long, value_name = "PATH")]
    stimuli: PathBuf,
    /// Predictions as CSV or Parquet, one or more files
    #[arg(long, required = true, num_args = 1.., value_name = "FILE")]
    predictions: Vec<PathBuf>,
    /// What says how hard stimuli are: level, difficulty, or another column of the stimuli
    /// [default: level, or difficulty where stimuli have none]
    #[arg(long, value_name = "WHAT")]
    by: Option<String>,
    /// Levels from easiest to hardest; `a|b` puts two on one step [default: numbers, or
    /// easy,medium,hard]
    #[arg(long, value_name = "LEVEL,…", value_delimiter = ',')]
    levels: Vec<String>,
    /// Weight of each level in the weighted score [default: 1,2,4 and so on]
    #[arg(long, value_name = "WEIGHT,…", value_delimiter = ',')]
    weights: Vec<f64>,
    /// What chains are made within
    #[arg(long, value_enum, default_value_t = Cells::LabelAndAttribute, value_name = "WHAT")]
    cells: Cells,
    /// Which of two stimuli people find harder, to see whether they agree with the levels
    #[arg(long, value_name = "FILE")]
    comparisons: Option<PathBuf>,
    /// How hard people find the stimuli, as `mohs score` writes it
    #[arg(long, value_name = "FILE")]
    difficulty: Option<PathBuf>,
    /// The measure of difficulty that counts, for files that hold several
    #[arg(long, value_name = "NAME")]
    measure: Option<String>,
    /// Levels to cut a difficulty, or a column of many numbers, into
    #[arg(long, default_value_t = 3, value_name = "N",
          value_parser = clap::value_parser!(u32).range(2..=100))]
    bands: u32,
    #[command(flatten)]
    draws: DrawArgs,
    /// Read our column of the predictions from one of yours, e.g. predicted=top1 (can be repeated)
    #[arg(long, value_name = "OURS=YOURS", value_parser = parse_mapping)]
    map: Vec<(String, String)>,
    #[command(flatten)]
    output: OutputArgs,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Cells {
    /// Stimuli of one label and one attribute
    LabelAndAttribute,
    /// Stimuli of one label, whatever their attribute
    Label,
}

pub(super) fn run(args: &LadderArgs, ui: &Ui) -> Result<(), CliError> {
    let stimuli = stimuli_at(Some(&args.stimuli))?;
    let predictions = predictions(args, ui)?;
    let difficulties = difficulty_at(args.difficulty.as_deref())?;
    let comparisons = comparisons(args, &stimuli, ui)?;
    let replaced = args.output.earlier(TABLES, &LADDER_TABLES)?;
    let options = Options {
        by: by(args.by.as_deref()),
        levels: args.levels.clone(),
        weights: args.weights.clone(),
        cells: match args.cells {
            Cells::LabelAndAttribute => CellKind::LabelAndAttribute,
            Cells::Label => CellKind::Label,
        },
        n_resamples: args.draws.n(),
        n_bands: args.bands as usize,
        difficulty_measure: args.measure.clone(),
        cluster: args.draws.cluster(),
        ..Options::default()
    };
    let seed = Seed(args.output.seed);
    args.draws.announce(ui);
    let mut findings = score(&Input {
        predictions: &predictions,
        stimuli: &stimuli,
        difficulties: &difficulties,
        comparisons: &comparisons,
        options: &options,
        seed,
    })?;
    let simulated = comparisons.iter().any(|row| row.extra.get(SOURCE) == Some(SIMULATED));
    if simulated {
        findings.caveats.add(Caveat::Simulated);
    }
    let files = Files {
        others: output::in_folder(TABLES, ladder_tables(&findings)),
        replaced: replaced.into_iter().collect(),
        ..Files::default()
    };
    let title = title_of(&args.predictions[0]);
    let summary = Summary {
        ladder: Some(findings),
        ..Summary::new(title, env!("CARGO_PKG_VERSION"), seed.0, simulated)
    };
    output::finish(summary, &files, &args.output, ui)
}

fn by(text: Option<&str>) -> By {
    match text {
        None => By::Known,
        Some("level") => By::Level,
        Some("difficulty") => By::Difficulty,
        Some(column) => By::Column(column.to_owned()),
    }
}

fn predictions(args: &LadderArgs, ui: &Ui) -> Result<Vec<Prediction>, CliError> {
    let options = ReadOptions { column_map: args.map.iter().cloned().collect(), require: vec![] };
    super::models::predictions(&args.predictions, &options, ui)
}

fn comparisons(
    args: &LadderArgs,
    stimuli: &[Stimulus],
    ui: &Ui,
) -> Result<Vec<Comparison>, CliError> {
    let Some(path) = &args.comparisons else { return Ok(Vec::new()) };
    let checks = Checks {
        options: ReadOptions::default(),
        stimuli: Some(stimuli),
        stimuli_name: display(&args.stimuli),
        labels: None,
        labels_name: String::new(),
    };
    let comparisons = check::read_comparisons(path, &checks)
        .map_err(|error| CliError::from(error).while_doing("cannot read the comparisons"))?;
    ui.say(&format!("{} comparisons read from {}", comparisons.len(), path.display()));
    Ok(comparisons)
}

impl From<LadderError> for CliError {
    fn from(error: LadderError) -> Self {
        let cli = |error: &LadderError| Self::input(error.to_string());
        match error {
            LadderError::Join(error) => error.into(),
            LadderError::Comparisons(error) => error.into(),
            LadderError::NoLevels => cli(&error).hint(
                "the stimuli need a column `level`, or name another with --by, or give --difficulty",
            ),
            LadderError::OneLevel { .. } => {
                cli(&error).hint("a ladder has easy and hard stimuli; is the right column read?")
            }
            LadderError::OrderUnknown { .. } => {
                cli(&error).hint("say which is harder, easiest first, e.g. --levels weak,strong")
            }
            LadderError::UnknownLevels { .. } => {
                cli(&error).hint("name every level in --levels, easiest first; a|b for two on one step")
            }
            LadderError::RepeatedLevel { .. } => {
                cli(&error).hint("give --levels each level once, easiest first")
            }
            LadderError::UnknownColumn { .. } => {
                cli(&error).hint("--by names a column of the stimuli, or level, or difficulty")
            }
            LadderError::BadWeights { .. } => {
                cli(&error).hint("give --weights one number for each level, easiest first")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_levels_come_from_is_a_word_or_a_column() {
        assert_eq!(by(None), By::Known);
        assert_eq!(by(Some("level")), By::Level);
        assert_eq!(by(Some("difficulty")), By::Difficulty);
        assert_eq!(by(Some("noise")), By::Column("noise".into()));
    }
}
