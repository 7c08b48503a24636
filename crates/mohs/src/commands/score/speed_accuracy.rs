//! `mohs score speed-accuracy`.

use clap::ValueEnum;
use mohs_data::format::{ReadOptions, TableReader};
use mohs_data::{Caveat, Millis, Seed, Task, Trial};
use mohs_report::Summary;
use mohs_score::human::speed_accuracy::steepness::Scaling;
use mohs_score::human::speed_accuracy::weibull::Criterion;
use mohs_score::human::speed_accuracy::{self, Options, TimeOuts, Window};

use super::input::{self, Read, TrialsArgs};
use super::output::{self, Files, OutputArgs};
use crate::error::CliError;
use crate::ui::Ui;

/// Score beep trials: how accuracy grows with the time people are given
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  mohs score speed-accuracy trials.csv
  mohs score speed-accuracy trials.parquet --window paper --drop-first 10 --output results
  mohs score speed-accuracy trials.csv --window 100:60 --time-outs excluded
  mohs score speed-accuracy trials.csv --fit least-squares --floor zero --asymptote one

A trial needs a participant, a stimulus, beep_ms, a response (empty where time ran out) and a label
or correct; rt_ms, or onset_ms and response_ms, for the time axis; condition and block if there are
any. Trials in a block `tutorial` or `practice` are set aside.
See docs/methods/speed-accuracy.md.")]
pub(crate) struct SpeedAccuracyArgs {
    #[command(flatten)]
    input: TrialsArgs,
    /// When an answer counts: published-code, paper, paper-appendix, none, or BEFORE:AFTER the beep
    /// in ms
    #[arg(long, value_name = "WINDOW", default_value = "published-code", value_parser = parse_window)]
    window: Window,
    /// Drop the first N trials of each block
    #[arg(long, value_name = "N", default_value_t = 0)]
    drop_first: usize,
    /// What trials without an answer are
    #[arg(long, value_enum, default_value_t = TimeOutsArg::Errors)]
    time_outs: TimeOutsArg,
    /// Where fitted curves start
    #[arg(long, value_enum, default_value_t = Floor::Chance)]
    floor: Floor,
    /// Where fitted curves end
    #[arg(long, value_enum, default_value_t = Asymptote::Free)]
    asymptote: Asymptote,
    /// What fits minimise
    #[arg(long, value_enum, default_value_t = FitArg::MaximumLikelihood)]
    fit: FitArg,
    /// On which axes steepness is taken
    #[arg(long, value_enum, default_value_t = Steepness::Normalised)]
    steepness: Steepness,
    /// Chance of a right guess [default: 1 / number of labels]
    #[arg(long, value_name = "SHARE")]
    guess_rate: Option<f64>,
    /// Bootstrap draws over participants [default: 1000]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(100..))]
    resamples: Option<u32>,
    #[command(flatten)]
    output: OutputArgs,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum TimeOutsArg {
    /// Wrong answers
    Errors,
    /// Set aside
    Excluded,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Floor {
    /// At the chance of a right guess
    Chance,
    /// At zero
    Zero,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Asymptote {
    /// Where the data say
    Free,
    /// At one: nobody ever lapses
    One,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum FitArg {
    /// Binomial likelihood: blocks count by their trials
    MaximumLikelihood,
    /// Squared differences: blocks count alike, as in the paper
    LeastSquares,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Steepness {
    /// Time scaled to run from 0 to 1
    Normalised,
    /// Time in ms and the paper's curve, as printed
    Paper,
}

fn parse_window(text: &str) -> Result<Window, String> {
    if let Some((_, window)) = Window::WORDS.iter().find(|(word, _)| *word == text) {
        return Ok(*window);
    }
    let time = |text: &str| text.parse().ok().filter(|ms| 0.0 <= *ms).and_then(Millis::new);
    let sides =
        text.split_once(':').and_then(|(before, after)| Some((time(before)?, time(after)?)));
    let (before, after) = sides.ok_or_else(|| {
        let words: Vec<&str> = Window::WORDS.iter().map(|(word, _)| *word).collect();
        format!("expected {}, or two times in ms such as 100:60", words.join(", "))
    })?;
    Ok(Window::Between { before, after })
}

pub(super) fn run(args: &SpeedAccuracyArgs, ui: &Ui) -> Result<(), CliError> {
    let read = input::read(&args.input, Task::Beep, ui)?;
    require_beeps(&read)?;
    let n_others = read.trials.iter().filter(|trial| trial.task != Task::Beep).count();
    if 0 < n_others {
        ui.say(&format!("{n_others} of them are not beep trials and are left out"));
    }
    let options = options(args, &read)?;
    let seed = Seed(args.output.seed);
    let n_labels = Some(read.study.labels.len()).filter(|n| 2 <= *n);
    let (mut findings, exclusions) = speed_accuracy::score(&speed_accuracy::Input {
        trials: &read.trials,
        n_labels,
        rules: &read.study.exclusions,
        options: &options,
        seed,
    })?;
    let simulated = super::is_simulated(&read.trials);
    if simulated {
        findings.caveats.add(Caveat::Simulated);
    }
    let files = Files {
        exclusions: Some(("speed-accuracy-exclusions.csv", exclusions)),
        ..Files::default()
    };
    let summary = Summary {
        speed_accuracy: Some(findings),
        ..Summary::new(&read.study.name, env!("CARGO_PKG_VERSION"), seed.0, simulated)
    };
    output::finish(summary, &files, &args.output, ui)
}

fn options(args: &SpeedAccuracyArgs, read: &Read) -> Result<Options, CliError> {
    if let Some(value) = args.guess_rate.filter(|value| !(0.0 < *value && *value < 1.0)) {
        let message = format!("--guess-rate should be between 0 and 1, found {value}");
        return Err(CliError::input(message).hint("write a share, e.g. 0.0625, not a percentage"));
    }
    let study = &read.study.score;
    Ok(Options {
        window: args.window,
        drop_first: args.drop_first,
        time_outs: match args.time_outs {
            TimeOutsArg::Errors => TimeOuts::Errors,
            TimeOutsArg::Excluded => TimeOuts::Excluded,
        },
        chance_floor: matches!(args.floor, Floor::Chance),
        free_asymptote: matches!(args.asymptote, Asymptote::Free),
        criterion: match args.fit {
            FitArg::MaximumLikelihood => Criterion::MaximumLikelihood,
            FitArg::LeastSquares => Criterion::LeastSquares,
        },
        scaling: match args.steepness {
            Steepness::Normalised => Scaling::Normalised,
            Steepness::Paper => Scaling::Paper,
        },
        guess_rate: args.guess_rate.or(study.guess_rate),
        confidence: study.confidence,
        n_resamples: args.resamples.map_or(study.n_resamples, |n| n as usize),
    })
}

/// Speed and accuracy without beeps is a mistake worth its own message.
fn require_beeps(read: &Read) -> Result<(), CliError> {
    if read.trials.iter().any(|trial| trial.beep.is_some()) {
        return Ok(());
    }
    let options = ReadOptions { require: vec!["beep_ms"], ..read.options.clone() };
    match TableReader::<Trial>::open(&read.path, &options) {
        Err(error) => Err(CliError::from(error).while_doing("cannot read the trials")),
        Ok(_) => Ok(()),
    }
}

impl From<speed_accuracy::Error> for CliError {
    fn from(error: speed_accuracy::Error) -> Self {
        let cli = Self::input(error.to_string());
        match error {
            speed_accuracy::Error::NoBeepTrials { .. } => cli.hint(
                "speed and accuracy needs a column `beep_ms`, and `beep` in the column `task` if \
                 there is one; see docs/formats/trials.md",
            ),
            speed_accuracy::Error::NothingLeft { rule, .. } if rule == "far-from-beep" => cli.hint(
                "nobody kept to the beep; if it is a deadline, use --window published-code or none",
            ),
            speed_accuracy::Error::NothingLeft { .. } => {
                cli.hint("widen --window, lower --drop-first, or loosen [exclusions] in study.toml")
            }
            speed_accuracy::Error::NotJudged { .. } => {
                cli.hint("add a column `label` or `correct`, or give --stimuli")
            }
            speed_accuracy::Error::BadOption { .. } => cli,
        }
    }
}
