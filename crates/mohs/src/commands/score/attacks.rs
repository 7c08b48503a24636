//! `mohs score attacks`.

pub(crate) mod examples;

use std::path::PathBuf;

use mohs_data::format::{ReadOptions, read_all};
use mohs_data::{MinEpsilon, Seed};
use mohs_report::{ATTACK_TABLES, Summary, attack_tables};
use mohs_score::model::robustness::{AttackError, Input, Options, score, standings};

use super::input::{DrawArgs, difficulty_at, parse_mapping, stimuli_at, title_of};
use super::output::{self, Files, OutputArgs};
use crate::error::CliError;
use crate::ui::Ui;

/// The folder the tables are written into.
const TABLES: &str = "attack-tables";

/// Score attacks: how small a change fools a model, by human difficulty
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  mohs score attacks min_epsilon.csv --difficulty difficulty.csv
  mohs score attacks standard.csv defended.csv --difficulty difficulty.csv --output results
  mohs score attacks min_epsilon.csv --difficulty difficulty.csv --examples examples \\
      --output results && mohs report results

Rows of several models stand side by side, and the first model is the one that others are compared
with. Stimuli that no ε fools are counted as survivors and never dropped. With --output, the folder
attack-tables/ gets one table per question, and attack-examples/ up to twelve of the examples, for
`mohs report`; those of an earlier run go. See docs/formats/min-epsilon.md.")]
pub(crate) struct AttacksArgs {
    /// Smallest ε by model, stimulus and attack, as CSV or Parquet; one or more files
    #[arg(required = true, value_name = "MIN_EPSILON")]
    rows: Vec<PathBuf>,
    /// How hard people find the stimuli, as `mohs score` writes it
    #[arg(long, value_name = "FILE")]
    difficulty: Option<PathBuf>,
    /// The measure of difficulty that counts, for files that hold several
    #[arg(long, value_name = "NAME")]
    measure: Option<String>,
    /// What was attacked: a table, an image folder, a COCO file or a list; brings labels and levels
    #[arg(long, value_name = "PATH")]
    stimuli: Option<PathBuf>,
    /// Bands to cut difficulty into, where the difficulty file names none
    #[arg(long, default_value_t = 3, value_name = "N",
          value_parser = clap::value_parser!(u32).range(1..=100))]
    bands: u32,
    #[command(flatten)]
    draws: DrawArgs,
    /// Attacked pictures, as `mohs attack --examples` writes them; a few go into the output folder
    #[arg(long, value_name = "DIR", requires = "output")]
    examples: Option<PathBuf>,
    /// Read our column from one of yours, e.g. epsilon=min_eps (can be repeated)
    #[arg(long, value_name = "OURS=YOURS", value_parser = parse_mapping)]
    map: Vec<(String, String)>,
    #[command(flatten)]
    output: OutputArgs,
}

pub(super) fn run(args: &AttacksArgs, ui: &Ui) -> Result<(), CliError> {
    let rows = rows(args, ui)?;
    let stimuli = stimuli_at(args.stimuli.as_deref())?;
    let difficulties = difficulty_at(args.difficulty.as_deref())?;
    let options = Options {
        n_resamples: args.draws.n(),
        n_bands: args.bands as usize,
        difficulty_measure: args.measure.clone(),
        cluster: args.draws.cluster(),
        ..Options::default()
    };
    let seed = Seed(args.output.seed);
    let input = Input {
        rows: &rows,
        stimuli: &stimuli,
        difficulties: &difficulties,
        options: &options,
        seed,
    };
    let mut replaced: Vec<PathBuf> =
        args.output.earlier(TABLES, &ATTACK_TABLES)?.into_iter().collect();
    let shown = match &args.examples {
        Some(folder) => {
            replaced.extend(examples::earlier(&args.output)?);
            Some(examples::choose(folder, &rows, &standings(&input)?)?)
        }
        None => None,
    };
    args.draws.announce(ui);
    let mut findings = score(&input)?;
    if let Some(doubt) = shown.as_ref().and_then(|shown| shown.doubt.clone()) {
        findings.caveats.add(doubt);
    }
    let mut others = output::in_folder(TABLES, attack_tables(&findings));
    let examples = shown.map(|shown| {
        others.extend(shown.pictures);
        (examples::FOLDER, shown.table)
    });
    let files = Files { others, examples, replaced, ..Files::default() };
    let summary = Summary {
        attacks: Some(findings),
        ..Summary::new(title_of(&args.rows[0]), env!("CARGO_PKG_VERSION"), seed.0, false)
    };
    output::finish(summary, &files, &args.output, ui)
}

fn rows(args: &AttacksArgs, ui: &Ui) -> Result<Vec<MinEpsilon>, CliError> {
    let options = ReadOptions { column_map: args.map.iter().cloned().collect(), require: vec![] };
    let mut all = Vec::new();
    for path in &args.rows {
        let rows = read_all::<MinEpsilon>(path, &options)
            .map_err(|error| CliError::from(error).while_doing("cannot read the attacks"))?;
        ui.say(&format!("{} attacks read from {}", rows.len(), path.display()));
        all.extend(rows);
    }
    Ok(all)
}

impl From<AttackError> for CliError {
    fn from(error: AttackError) -> Self {
        let cli = |error: &AttackError| Self::input(error.to_string());
        match error {
            AttackError::Join(error) => error.into(),
            AttackError::NoRows => cli(&error).hint("the file has a header but no rows"),
            AttackError::OnlyFailures { .. } => {
                cli(&error).hint("run the attacks again after mending the cause")
            }
            AttackError::RepeatedRow { .. } => cli(&error).hint(
                "two models with one name, or one file given twice? A row that was written twice \
                 must go",
            ),
            AttackError::OtherStimuli { .. } => {
                cli(&error).hint("ids of stimuli should be written alike in both files")
            }
        }
    }
}
