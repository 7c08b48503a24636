//! `mohs simulate ladder`: designs of adaptive tests beside each other.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use mohs_data::Seed;
use mohs_data::format::{ReadOptions, atomic, read_stimuli};
use mohs_report::{designs_csv, designs_text};
use mohs_score::adaptive::ladder::StrataBy;
use mohs_score::simulate::ladder::population::World;
use mohs_score::simulate::ladder::{
    Arm, DesignComparison, Fitting, Setting, Source, compare, fitting,
};

use crate::args::Format;
use crate::commands::adapt::{self, Rules, known::Known};
use crate::error::CliError;
use crate::ui::Ui;

/// Compare designs of adaptive tests on models whose every answer is known
///
/// Simulates six models after the paper's tables, or replays real predictions; puts each under test
/// in turn with the others as references, and holds what each design says against all answers.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  mohs simulate ladder                          the table in docs/methods/adaptive-ladder.md
  mohs simulate ladder --agreement 0.8          models that agree more
  mohs simulate ladder --replay predictions.csv --stimuli stimuli.csv --level-groups 3")]
pub(crate) struct LadderArgs {
    /// Share of the stimuli that may be asked
    #[arg(long, default_value_t = 0.25, value_name = "SHARE")]
    budget: f64,
    /// How often everything is drawn anew
    #[arg(long, default_value_t = 200, value_name = "N",
          value_parser = clap::value_parser!(u32).range(2..=100_000))]
    resamples: u32,
    /// Classes of the simulated ladder
    #[arg(long, default_value_t = 100, value_name = "N", conflicts_with = "replay",
          value_parser = clap::value_parser!(u32).range(2..=10_000))]
    classes: u32,
    /// Share of the latent variance that simulated models have in common
    #[arg(long, default_value_t = 0.6, value_name = "SHARE", conflicts_with = "replay")]
    agreement: f64,
    /// Share of it that simulated models of one family (with and without CLIP) have in common beyond
    #[arg(long, default_value_t = 0.0, value_name = "SHARE", conflicts_with = "replay")]
    kinship: f64,
    /// Predictions of real models, instead of simulated ones
    #[arg(long, value_name = "PREDICTIONS", requires = "stimuli")]
    replay: Option<PathBuf>,
    /// The stimuli of the predictions, with `level`
    #[arg(long, value_name = "PATH", requires = "replay")]
    stimuli: Option<PathBuf>,
    /// Levels from easy to hard, where they are words of your own
    #[arg(long, value_name = "A,B,C", value_delimiter = ',', requires = "replay")]
    levels: Vec<String>,
    /// Put neighbouring levels into so many groups; the paper's design needs 3
    #[arg(long, value_name = "N", requires = "replay")]
    level_groups: Option<usize>,
    /// Only the baseline, the paper's and ours
    #[arg(long)]
    short: bool,
    /// Seed of everything
    #[arg(long, default_value_t = 1, value_name = "N")]
    seed: u64,
    /// Also write the comparison as JSON
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// How to print the result
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

pub(super) fn run(args: &LadderArgs, ui: &Ui) -> Result<(), CliError> {
    let found = match (&args.replay, &args.stimuli) {
        (Some(predictions), Some(stimuli)) => replayed(args, predictions, stimuli, ui)?,
        _ => simulated(args, ui)?,
    };
    let json = || {
        let json = serde_json::to_string_pretty(&found)
            .expect("because a comparison has text keys only and finite numbers");
        json + "\n"
    };
    if let Some(output) = &args.output {
        atomic::write_file(output, json().as_bytes())?;
        ui.say(&format!("written: {}", output.display()));
    }
    let text = match args.format {
        Format::Text => designs_text(&found),
        Format::Csv => designs_csv(&found),
        Format::Json => json(),
    };
    ui.data(text.as_bytes())
}

fn simulated(args: &LadderArgs, ui: &Ui) -> Result<DesignComparison, CliError> {
    let shares = [args.agreement, args.kinship, args.agreement + args.kinship];
    if !shares.iter().all(|share| (0.0..=1.0).contains(share)) {
        return Err(CliError::input(format!(
            "--agreement and --kinship should be from 0 to 1, also together, found {} and {}",
            args.agreement, args.kinship
        )));
    }
    let world = World {
        n_classes: args.classes as usize,
        shared: args.agreement,
        kinship: args.kinship,
        ..World::PAPER
    };
    ui.say(&format!("simulating six models, {} resamples", args.resamples));
    // A quarter of 12 is 3: the paper's own baseline.
    let per_stratum = ((args.budget - 0.25).abs() < 1e-12).then_some(3);
    compared(args, Source::Simulated(world), per_stratum, ui)
}

fn replayed(
    args: &LadderArgs,
    predictions: &Path,
    stimuli: &Path,
    ui: &Ui,
) -> Result<DesignComparison, CliError> {
    let stimuli = read_stimuli(stimuli, &ReadOptions::default())
        .map_err(|error| CliError::from(error).while_doing("cannot read the stimuli"))?;
    let known = Known::read(&[predictions.to_owned()], &stimuli, ui)?;
    let rules = Rules {
        levels: args.levels.clone(),
        level_groups: args.level_groups,
        strata: Some(StrataBy::ClassAttributeLevel),
        ..Rules::new(args.budget, Seed(args.seed))
    };
    let ladder = adapt::ladder(&stimuli, &rules)?;
    let mut models = Vec::new();
    for (model, answers) in known.answers(&stimuli, &BTreeSet::new(), rules.without_class) {
        let n_missing = answers.iter().filter(|answer| answer.is_none()).count();
        if 0 < n_missing {
            return Err(CliError::input(format!(
                "model `{model}` has no answer to {n_missing} of {} stimuli",
                stimuli.len()
            ))
            .hint("a replay needs every answer; leave the model or the stimuli out"));
        }
        models.push((model, answers.into_iter().flatten().collect()));
    }
    if models.len() < 2 {
        return Err(CliError::input("a replay needs at least two models, found one")
            .hint("each is under test in turn, with the others as references"));
    }
    ui.say(&format!("replaying {} models, {} resamples", models.len(), args.resamples));
    compared(args, Source::Replayed { ladder, models: &models }, None, ui)
}

fn compared(
    args: &LadderArgs,
    source: Source<'_>,
    per_stratum: Option<usize>,
    ui: &Ui,
) -> Result<DesignComparison, CliError> {
    let arms = if args.short { Arm::few(per_stratum) } else { Arm::all(per_stratum) };
    let Fitting { arms, left_out } = fitting(&source, args.budget, arms)?;
    // Estimators share a design, and one line is enough for it.
    let lines: BTreeSet<String> = left_out
        .iter()
        .map(|(arm, why)| format!("the design `{}` is left out: {why}", arm.design.name()))
        .collect();
    lines.iter().for_each(|line| ui.say(line));
    let setting = Setting {
        source,
        budget: args.budget,
        n_resamples: args.resamples as usize,
        arms: &arms,
        confidence: 0.95,
        seed: Seed(args.seed),
    };
    Ok(compare(&setting)?)
}
