//! `mohs score agreement`.

use mohs_data::{Caveat, Seed, Task};
use mohs_report::{Summary, render_stimulus_effects};
use mohs_score::human::agreement::{self, Options};

use super::input::{self, TrialsArgs};
use super::output::{self, Files, OutputArgs};
use crate::error::CliError;
use crate::ui::Ui;

/// Measure how people agree: error consistency, shape bias, reliability, ceilings
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  mohs score agreement trials.csv
  mohs score agreement trials.parquet --format json > summary.json
  mohs score agreement trials.parquet --output results

Trials may say in further columns: `dataset` (each is scored on its own), `texture` (the class of
the other cue, for shape bias), `observer` (human or model), `benchmark` (in or out).
See docs/methods/error-consistency.md.")]
pub(crate) struct AgreementArgs {
    #[command(flatten)]
    input: TrialsArgs,
    /// Count conditions that a benchmark leaves out (`benchmark` is `out`) too
    #[arg(long)]
    all_conditions: bool,
    /// Bootstrap draws over stimuli
    #[arg(long, default_value_t = 1000, value_name = "N",
          value_parser = clap::value_parser!(u32).range(100..))]
    resamples: u32,
    /// Random halves of participants behind the split-half reliability
    #[arg(long, default_value_t = 200, value_name = "N",
          value_parser = clap::value_parser!(u32).range(1..=10_000))]
    splits: u32,
    #[command(flatten)]
    output: OutputArgs,
}

pub(super) fn run(args: &AgreementArgs, ui: &Ui) -> Result<(), CliError> {
    let read = input::read(&args.input, Task::Rate, ui)?;
    let seed = Seed(args.output.seed);
    let options = Options {
        confidence: read.study.score.confidence,
        n_resamples: args.resamples as usize,
        n_splits: args.splits as usize,
        all_conditions: args.all_conditions,
    };
    ui.say(&format!("scoring with {} draws over stimuli", args.resamples));
    let input = agreement::Input { trials: &read.trials, options: &options, seed };
    let (mut findings, exclusions) = agreement::score(&input)?;
    let simulated = super::is_simulated(&read.trials);
    if simulated {
        findings.caveats.add(Caveat::Simulated);
    }
    let effects = render_stimulus_effects(&findings);
    let files = Files {
        exclusions: Some(("agreement-exclusions.csv", exclusions)),
        others: vec![("stimulus-effects.csv".into(), effects.into_bytes())],
        ..Files::default()
    };
    let summary = Summary {
        agreement: Some(findings),
        ..Summary::new(&read.study.name, env!("CARGO_PKG_VERSION"), seed.0, simulated)
    };
    output::finish(summary, &files, &args.output, ui)
}
