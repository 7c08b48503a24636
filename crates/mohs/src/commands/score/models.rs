//! `mohs score models`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use mohs_data::format::{ReadOptions, read_all};
use mohs_data::{
    Caveat, Difficulty, FamilyMember, Manifest, ModelName, Prediction, Seed, Stimulus, Trial,
};
use mohs_report::{MODEL_TABLES, Summary, model_tables};
use mohs_score::model::{Family, Input, Options, ScoreError, score};

use super::input::{DrawArgs, difficulty_at, parse_mapping, rows_at, stimuli_at, title_of};
use super::output::{self, Files, OutputArgs};
use crate::error::CliError;
use crate::ui::Ui;

/// The folder the tables are written into.
const TABLES: &str = "model-tables";

/// Score models: accuracy by human difficulty, pairs, calibration, errors like people's
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  mohs score models predictions.csv
  mohs score models eval.toml --output results
  mohs score models resnet50.csv vit.csv --stimuli stimuli.csv --difficulty difficulty.csv
  mohs score models predictions.csv --difficulty difficulty.csv --gap imagenet,objectnet \\
      --families families.csv --output results && mohs report results

An eval.toml brings predictions, stimuli, difficulty and families; options given beside it go
first. Several files are put together: files without a column `model` name their model. With
--output, the folder model-tables/ gets one table per question; tables of an earlier run go.
See docs/formats/model-tables.md.")]
pub(crate) struct ModelsArgs {
    /// Predictions as CSV or Parquet, one or more files, or an eval.toml
    #[arg(required = true, value_name = "PREDICTIONS")]
    predictions: Vec<PathBuf>,
    /// What was shown: a table, an image folder, a COCO file or a list; brings labels and groups
    #[arg(long, value_name = "PATH")]
    stimuli: Option<PathBuf>,
    /// How hard people find the stimuli, as `mohs score` writes it
    #[arg(long, value_name = "FILE")]
    difficulty: Option<PathBuf>,
    /// The measure of difficulty that counts, for files that hold several
    #[arg(long, value_name = "NAME")]
    measure: Option<String>,
    /// What people answered about the same stimuli, for errors like people's
    #[arg(long, value_name = "FILE")]
    trials: Option<PathBuf>,
    /// An eval.toml that says where everything is, beside predictions made elsewhere
    #[arg(long, value_name = "eval.toml")]
    manifest: Option<PathBuf>,
    /// Which models belong together, from small to large: columns `model` and `family`
    #[arg(long, value_name = "FILE")]
    families: Option<PathBuf>,
    /// Bands to cut difficulty into, where the difficulty file names none
    #[arg(long, default_value_t = 3, value_name = "N",
          value_parser = clap::value_parser!(u32).range(1..=100))]
    bands: u32,
    #[command(flatten)]
    draws: DrawArgs,
    /// Two data sets whose gap is shown, the easier first [default: the only two]
    #[arg(long, value_name = "A,B", value_parser = parse_gap)]
    gap: Option<(String, String)>,
    /// Read our column of the predictions from one of yours, e.g. predicted=top1 (can be repeated)
    #[arg(long, value_name = "OURS=YOURS", value_parser = parse_mapping)]
    map: Vec<(String, String)>,
    #[command(flatten)]
    output: OutputArgs,
}

/// Understands `A,B`.
fn parse_gap(text: &str) -> Result<(String, String), String> {
    match text.split_once(',').map(|(a, b)| (a.trim(), b.trim())) {
        Some((a, b)) if !a.is_empty() && !b.is_empty() && a != b => Ok((a.into(), b.into())),
        _ => Err("expected two different data sets, e.g. imagenet,objectnet".into()),
    }
}

/// Everything that was read.
struct Read {
    title: String,
    predictions: Vec<Prediction>,
    stimuli: Vec<Stimulus>,
    difficulties: Vec<Difficulty>,
    measure: Option<String>,
    trials: Vec<Trial>,
    families: BTreeMap<ModelName, Family>,
}

pub(super) fn run(args: &ModelsArgs, ui: &Ui) -> Result<(), CliError> {
    let read = read(args, ui)?;
    let replaced = args.output.earlier(TABLES, &MODEL_TABLES)?;
    let options = Options {
        n_resamples: args.draws.n(),
        n_bands: args.bands as usize,
        difficulty_measure: read.measure.clone(),
        cluster: args.draws.cluster(),
        datasets: args.gap.clone(),
        ..Options::default()
    };
    let seed = Seed(args.output.seed);
    args.draws.announce(ui);
    let mut findings = score(&Input {
        predictions: &read.predictions,
        stimuli: &read.stimuli,
        difficulties: &read.difficulties,
        trials: &read.trials,
        families: &read.families,
        options: &options,
        seed,
    })?;
    let simulated = super::is_simulated(&read.trials);
    if simulated {
        findings.caveats.add(Caveat::Simulated);
    }
    let files = Files {
        others: output::in_folder(TABLES, model_tables(&findings)),
        replaced: replaced.into_iter().collect(),
        ..Files::default()
    };
    let summary = Summary {
        models: Some(findings),
        ..Summary::new(read.title, env!("CARGO_PKG_VERSION"), seed.0, simulated)
    };
    output::finish(summary, &files, &args.output, ui)
}

fn read(args: &ModelsArgs, ui: &Ui) -> Result<Read, CliError> {
    let is_manifest = |path: &Path| path.extension().is_some_and(|ending| ending == "toml");
    let (manifest_path, files) = match args.predictions.as_slice() {
        [only] if is_manifest(only) => {
            if args.manifest.is_some() {
                return Err(CliError::input("two evaluations were given")
                    .hint("name one eval.toml, as PREDICTIONS or with --manifest"));
            }
            (Some(only.as_path()), &[][..])
        }
        files => {
            if let Some(path) = files.iter().find(|path| is_manifest(path)) {
                return Err(CliError::input(format!(
                    "`{}` stands beside other predictions",
                    path.display()
                ))
                .hint("give it alone, or with --manifest"));
            }
            (args.manifest.as_deref(), files)
        }
    };
    let manifest = manifest_path
        .map(|path| {
            Manifest::read(path)
                .map_err(|error| CliError::from(error).while_doing("cannot read the evaluation"))
        })
        .transpose()?;
    let beside = |file: &Path| {
        manifest_path.and_then(Path::parent).map_or_else(|| file.to_owned(), |dir| dir.join(file))
    };
    let from_manifest = match (&manifest, files) {
        (Some(manifest), []) => vec![beside(&manifest.output)],
        _ => files.to_vec(),
    };
    let options = ReadOptions { column_map: args.map.iter().cloned().collect(), require: vec![] };
    let predictions = predictions(&from_manifest, &options, ui)?;
    let stimuli_path = args.stimuli.clone().or_else(|| {
        // What the evaluation was made of may have been left behind; predictions stand alone then.
        manifest.as_ref().map(|manifest| beside(&manifest.stimuli)).filter(|path| path.exists())
    });
    let difficulty_path = args.difficulty.clone().or_else(|| {
        manifest.as_ref().and_then(|manifest| manifest.difficulty.as_deref()).map(beside)
    });
    let measure = args.measure.clone().or_else(|| manifest.as_ref()?.difficulty_measure.clone());
    Ok(Read {
        title: manifest.as_ref().map_or_else(|| title_of(&from_manifest[0]), |m| m.name.clone()),
        stimuli: stimuli_at(stimuli_path.as_deref())?,
        difficulties: difficulty_at(difficulty_path.as_deref())?,
        measure,
        trials: rows_at(args.trials.as_deref(), "cannot read the trials")?,
        families: families(args, manifest.as_ref(), &predictions)?,
        predictions,
    })
}

/// Reads predictions of one or more files, one after the other.
pub(super) fn predictions(
    files: &[PathBuf],
    options: &ReadOptions,
    ui: &Ui,
) -> Result<Vec<Prediction>, CliError> {
    let mut all = Vec::new();
    for path in files {
        let rows = read_all::<Prediction>(path, options)
            .map_err(|error| CliError::from(error).while_doing("cannot read the predictions"))?;
        ui.say(&format!("{} predictions read from {}", rows.len(), path.display()));
        all.extend(rows);
    }
    Ok(all)
}

/// Returns the families: those of a file, else those of the evaluation. A family without a model
/// that was scored is most often a misspelt one.
fn families(
    args: &ModelsArgs,
    manifest: Option<&Manifest>,
    predictions: &[Prediction],
) -> Result<BTreeMap<ModelName, Family>, CliError> {
    let members: Vec<(ModelName, String)> = match (&args.families, manifest) {
        (Some(path), _) => {
            let members = rows_at::<FamilyMember>(Some(path), "cannot read the families")?;
            let models: BTreeSet<&ModelName> = predictions.iter().map(|row| &row.model).collect();
            if !members.iter().any(|member| models.contains(&member.model)) {
                let known: Vec<&str> = models.iter().take(5).map(|name| name.as_str()).collect();
                return Err(CliError::input(format!(
                    "`{}` names none of the models that have predictions",
                    path.display()
                ))
                .hint(format!("models are called: {}", known.join(", "))));
            }
            members.into_iter().map(|member| (member.model, member.family)).collect()
        }
        (None, Some(manifest)) => {
            let named =
                |model: &mohs_data::ModelEntry| Some((model.name.clone(), model.family.clone()?));
            manifest.models.iter().filter_map(named).collect()
        }
        (None, None) => Vec::new(),
    };
    let mut families = BTreeMap::new();
    for (place, (model, name)) in members.into_iter().enumerate() {
        if families.insert(model.clone(), Family { name, place }).is_some() {
            return Err(CliError::input(format!("model `{model}` stands in two families"))
                .hint("give each model one row"));
        }
    }
    Ok(families)
}

impl From<ScoreError> for CliError {
    fn from(error: ScoreError) -> Self {
        let cli = Self::input(error.to_string());
        match error {
            ScoreError::NoPredictions => cli.hint("the file has a header but no rows"),
            ScoreError::OnlyFailures { .. } => {
                cli.hint("run `mohs eval` again after mending the cause")
            }
            ScoreError::RepeatedPrediction { .. } => cli.hint(
                "two models with one name? Files without a column `model` are named after the \
                 file; a row that was written twice must go",
            ),
            ScoreError::RepeatedStimulus { .. } => cli.hint("give each stimulus one row"),
            ScoreError::RepeatedDifficulty { .. } => {
                cli.hint("give each stimulus one row per measure")
            }
            ScoreError::SeveralMeasures { .. } | ScoreError::UnknownMeasure { .. } => {
                cli.hint("choose one with --measure NAME")
            }
            ScoreError::OtherStimuli { .. } => {
                cli.hint("ids of stimuli should be written alike in both files")
            }
            ScoreError::UnknownDataset { .. } => {
                cli.hint("data sets stand in the column `dataset` of the stimuli (--stimuli)")
            }
            ScoreError::BadOption { .. } => cli,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gap_is_two_different_names() {
        assert_eq!(parse_gap("a, b"), Ok(("a".into(), "b".into())));
        assert!(parse_gap("a,a").is_err() && parse_gap("a").is_err() && parse_gap(",b").is_err());
    }
}
