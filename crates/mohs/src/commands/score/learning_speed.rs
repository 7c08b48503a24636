//! `mohs score learning-speed`: which stimuli a network learned early, from its answers after each
//! epoch.

use std::collections::BTreeMap;
use std::path::PathBuf;

use mohs_data::format::{ReadOptions, read_all};
use mohs_data::{Difficulty, Prediction, Seed};
use mohs_report::Summary;
use mohs_score::model::{self, Input, Options, learning};

use super::input::{parse_mapping, stimuli_at, title_of};
use super::output::{self, Files, OutputArgs};
use crate::error::CliError;
use crate::ui::Ui;

/// Rank stimuli by how late networks learned them (a proxy of the C-score)
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  mohs score learning-speed fit/predictions.csv
  mohs score learning-speed fit/predictions.csv --difficulty difficulty.csv --output results
  mohs score learning-speed a/predictions.csv b/predictions.csv --format csv

Rows need the condition `epoch`, as `mohs fit` writes them, and `label` or `correct`. A stimulus is
harder the more epochs a network is wrong about it. With several networks, all count the same.")]
pub(crate) struct LearningSpeedArgs {
    /// Answers after each epoch, as CSV or Parquet; several files are joined
    #[arg(value_name = "predictions.csv", required = true)]
    predictions: Vec<PathBuf>,
    /// What was shown: a table, an image folder, a COCO file or a list; brings labels and groups
    #[arg(long, value_name = "PATH")]
    stimuli: Option<PathBuf>,
    /// How hard people find the stimuli, to be compared with
    #[arg(long, value_name = "difficulty.csv")]
    difficulty: Option<PathBuf>,
    /// The measure to take from the difficulties [default: the only one there]
    #[arg(long, value_name = "NAME")]
    measure: Option<String>,
    /// Read our column from one of yours, e.g. condition_value=epoch (can be repeated)
    #[arg(long, value_name = "OURS=YOURS", value_parser = parse_mapping)]
    map: Vec<(String, String)>,
    #[command(flatten)]
    output: OutputArgs,
}

pub(super) fn run(args: &LearningSpeedArgs, ui: &Ui) -> Result<(), CliError> {
    let options = ReadOptions {
        column_map: args.map.iter().cloned().collect::<BTreeMap<_, _>>(),
        require: vec![],
    };
    let mut predictions: Vec<Prediction> = Vec::new();
    for path in &args.predictions {
        let rows = read_all(path, &options)
            .map_err(|error| CliError::from(error).while_doing("cannot read the predictions"))?;
        predictions.extend(rows);
    }
    ui.say(&format!("{} predictions read", predictions.len()));
    let stimuli = stimuli_at(args.stimuli.as_deref())?;
    let people = match &args.difficulty {
        Some(path) => read_all::<Difficulty>(path, &ReadOptions::default())
            .map_err(|error| CliError::from(error).while_doing("cannot read the difficulties"))?,
        None => Vec::new(),
    };
    let options = Options { difficulty_measure: args.measure.clone(), ..Options::default() };
    let difficulties = learning::difficulties(&predictions, options.confidence);
    if difficulties.is_empty() {
        return Err(CliError::input("no prediction is of an epoch and can be judged").hint(
            "`mohs fit` writes rows with the condition `epoch`; in files of your own, add columns \
             `condition` and `condition_value`, and `label` or `correct`",
        ));
    }
    let families = BTreeMap::new();
    let findings = model::score(&Input {
        predictions: &predictions,
        stimuli: &stimuli,
        difficulties: &people,
        trials: &[],
        families: &families,
        options: &options,
        seed: Seed(args.output.seed),
    })?;
    if findings.learning.is_empty() {
        return Err(CliError::input("learning speed needs answers after at least 2 epochs")
            .hint("train longer, or give the file with all epochs"));
    }
    let title = title_of(&args.predictions[0]);
    let summary = Summary {
        models: Some(findings),
        ..Summary::new(&title, env!("CARGO_PKG_VERSION"), args.output.seed, false)
    };
    let files = Files { difficulties: Some(difficulties), ..Files::default() };
    output::finish(summary, &files, &args.output, ui)
}
