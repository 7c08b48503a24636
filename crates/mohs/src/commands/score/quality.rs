//! `mohs score quality`.

use mohs_data::{Caveat, Millis, Task};
use mohs_report::Summary;
use mohs_score::human::quality::{self, Limits};

use super::input::{self, TrialsArgs};
use super::output::{self, Files, OutputArgs};
use crate::error::CliError;
use crate::ui::Ui;

/// Check how far trials can be trusted: catch trials, response times, streaks, timing
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  mohs score quality trials.csv
  mohs score quality my-study --output results
  mohs score quality trials.parquet --min-rt-ms 200 --format csv > participants.csv

Catch trials have a column `catch` that says true, or stand in a block called `catch`. Nothing is
set aside here: write rules into [exclusions] of study.toml for that.")]
pub(crate) struct QualityArgs {
    #[command(flatten)]
    input: TrialsArgs,
    /// Answers sooner after onset are too fast [default: the study's limit, or 150]
    #[arg(long, value_name = "MS")]
    min_rt_ms: Option<f64>,
    /// Answers later after onset are too slow [default: the study's limit, or 20000]
    #[arg(long, value_name = "MS")]
    max_rt_ms: Option<f64>,
    #[command(flatten)]
    output: OutputArgs,
}

pub(super) fn run(args: &QualityArgs, ui: &Ui) -> Result<(), CliError> {
    let read = input::read(&args.input, Task::Rate, ui)?;
    let rules = &read.study.exclusions;
    let usual = Limits::default();
    let limits = Limits {
        min_rt: time("--min-rt-ms", args.min_rt_ms)?.or(rules.min_rt_ms).unwrap_or(usual.min_rt),
        max_rt: time("--max-rt-ms", args.max_rt_ms)?.or(rules.max_rt_ms).unwrap_or(usual.max_rt),
        ..usual
    };
    if limits.max_rt <= limits.min_rt {
        let (min, max) = (limits.min_rt, limits.max_rt);
        return Err(CliError::input(format!("too slow ({max}) should be above too fast ({min})"))
            .hint("give --min-rt-ms and --max-rt-ms in milliseconds, e.g. 150 and 20000"));
    }
    let mut findings = quality::look(&read.trials, &limits, 0.95)?;
    let simulated = super::is_simulated(&read.trials);
    if simulated {
        findings.caveats.add(Caveat::Simulated);
    }
    let version = env!("CARGO_PKG_VERSION");
    let summary = Summary {
        quality: Some(findings),
        ..Summary::new(&read.study.name, version, args.output.seed, simulated)
    };
    output::finish(summary, &Files::default(), &args.output, ui)
}

fn time(flag: &str, ms: Option<f64>) -> Result<Option<Millis>, CliError> {
    match ms {
        Some(ms) if !(ms.is_finite() && 0.0 <= ms) => {
            Err(CliError::input(format!("{flag} should be milliseconds from 0 up, found {ms}")))
        }
        ms => Ok(ms.and_then(Millis::new)),
    }
}
