//! `mohs score viewing-time`.

use clap::ValueEnum;
use mohs_data::format::{ReadOptions, TableReader};
use mohs_data::{Caveat, Millis, MvtRule, Seed, Stimulus, Study, Task, TimingVerdict, Trial};
use mohs_report::Summary;
use mohs_score::human::viewing_time;

use super::input::{self, Read, TrialsArgs};
use super::output::{self, Files, OutputArgs};
use crate::error::CliError;
use crate::ui::Ui;

/// Score flash trials: minimum viewing time, difficulty, thresholds
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  mohs score viewing-time trials.csv
  mohs score viewing-time trials.parquet --stimuli stimuli.csv --output results
  mohs score viewing-time their.csv --map participant=subj --map exposure_ms=duration
  mohs score viewing-time my-study --format json > summary.json

A trial needs a participant, a stimulus, exposure_ms, and either response and label or correct.
See docs/formats/trials.md for all columns.")]
pub(crate) struct ViewingTimeArgs {
    #[command(flatten)]
    input: TrialsArgs,
    /// What counts when recognition is not monotone [default: stays]
    #[arg(long, value_enum)]
    rule: Option<Rule>,
    /// Share of right answers that counts as recognised [default: 0.5]
    #[arg(long, value_name = "SHARE")]
    criterion: Option<f64>,
    /// Chance of a right guess [default: 1 / number of labels]
    #[arg(long, value_name = "SHARE")]
    guess_rate: Option<f64>,
    /// Bootstrap draws over participants and stimuli [default: 1000]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(100..))]
    resamples: Option<u32>,
    #[command(flatten)]
    output: OutputArgs,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Rule {
    /// The shortest exposure from which the stimulus stays recognised
    Stays,
    /// The shortest exposure at which it is recognised at all
    First,
}

pub(super) fn run(args: &ViewingTimeArgs, ui: &Ui) -> Result<(), CliError> {
    let mut read = input::read(&args.input, Task::Flash, ui)?;
    require_exposures(&read)?;
    apply_flags(args, &mut read.study)?;
    let n_others = read.trials.iter().filter(|trial| !is_flash(trial)).count();
    if 0 < n_others {
        ui.say(&format!("{n_others} of them are not flashes with an exposure and are left out"));
    }
    tell_mismatches(&read, ui);
    tell_void(&read, ui);
    let seed = Seed(args.output.seed);
    let (summary, files) = score(&read.study, &read.stimuli, &read.trials, seed)?;
    output::finish(summary, &files, &args.output, ui)
}

/// Tells where the study and the trials do not fit; nothing is changed because of it.
fn tell_mismatches(read: &Read, ui: &Ui) {
    let planned = &read.study.flash.exposures_ms;
    let is_planned = |trial: &&Trial| trial.exposure.is_none_or(|at| planned.contains(&at));
    let n_other = read.trials.iter().filter(|trial| !is_planned(trial)).count();
    if read.has_study && 0 < n_other {
        ui.say(&format!("{n_other} trials have exposures that study.toml does not plan"));
    }
    for listed in &read.study.exclusions.participants {
        if !read.trials.iter().any(|trial| trial.participant.as_str() == listed) {
            ui.say(&format!("study.toml sets aside participant `{listed}`, who has no trials"));
        }
    }
}

/// Tells how many trials were not shown as planned, and whether they count.
fn tell_void(read: &Read, ui: &Ui) {
    let verdicts = read.trials.iter().filter_map(|trial| trial.timing);
    let void: Vec<TimingVerdict> = verdicts.filter(|found| *found != TimingVerdict::Ok).collect();
    if void.is_empty() {
        return;
    }
    let rule = &read.study.exclusions.timing;
    let n_counted = void.iter().filter(|found| !rule.contains(found)).count();
    let n = void.len();
    let what = match n_counted {
        0 => "all of them are set aside by [exclusions] timing".into(),
        n_counted => format!(
            "{n_counted} of them count all the same; to set them aside, list long, short, dropped \
             and unknown under [exclusions] timing in study.toml, and name it with --study"
        ),
    };
    ui.say(&format!("{n} are void, not shown as planned by their `timing`; {what}"));
}

fn is_flash(trial: &Trial) -> bool {
    trial.task == Task::Flash && trial.exposure.is_some()
}

/// Viewing time without exposures is a mistake worth its own message.
fn require_exposures(read: &Read) -> Result<(), CliError> {
    if read.trials.iter().any(|trial| trial.exposure.is_some()) {
        return Ok(());
    }
    let options = ReadOptions { require: vec!["exposure_ms"], ..read.options.clone() };
    match TableReader::<Trial>::open(&read.path, &options) {
        Err(error) => Err(CliError::from(error).while_doing("cannot read the trials")),
        Ok(_) => Ok(()),
    }
}

/// Flags win over the study's own options.
fn apply_flags(args: &ViewingTimeArgs, study: &mut Study) -> Result<(), CliError> {
    let share = |name: &str, value: Option<f64>| match value {
        Some(value) if !(0.0 < value && value < 1.0) => {
            Err(CliError::input(format!("{name} should be between 0 and 1, found {value}"))
                .hint("write a share, e.g. 0.5, not a percentage"))
        }
        _ => Ok(()),
    };
    share("--criterion", args.criterion)?;
    share("--guess-rate", args.guess_rate)?;
    let options = &mut study.score;
    if let Some(rule) = args.rule {
        options.rule = match rule {
            Rule::Stays => MvtRule::Stays,
            Rule::First => MvtRule::First,
        };
    }
    options.criterion = args.criterion.unwrap_or(options.criterion);
    options.guess_rate = args.guess_rate.or(options.guess_rate);
    options.n_resamples = args.resamples.map_or(options.n_resamples, |n| n as usize);
    Ok(())
}

/// Scores a study's trials into a summary and the files that go with it.
pub(crate) fn score(
    study: &Study,
    stimuli: &[Stimulus],
    trials: &[Trial],
    seed: Seed,
) -> Result<(Summary, Files), CliError> {
    let n_labels = if study.labels.is_empty() {
        let mut labels: Vec<_> = stimuli.iter().map(|stimulus| &stimulus.label).collect();
        labels.sort_unstable();
        labels.dedup();
        Some(labels.len()).filter(|n| 2 <= *n)
    } else {
        Some(study.labels.len())
    };
    let input = viewing_time::Input {
        trials,
        stimuli,
        n_labels,
        rules: &study.exclusions,
        options: &study.score,
        seed,
    };
    let (mut findings, exclusions) = viewing_time::score(&input)?;
    let simulated = super::is_simulated(trials);
    if simulated {
        findings.caveats.add(Caveat::Simulated);
    }
    let files = Files {
        difficulties: Some(findings.difficulties()),
        exclusions: Some(("exclusions.csv", exclusions)),
        ..Files::default()
    };
    let summary = Summary {
        viewing_time: Some(findings),
        ..Summary::new(&study.name, env!("CARGO_PKG_VERSION"), seed.0, simulated)
    };
    Ok((summary, files))
}

/// Returns the exposures a study plans, for messages.
pub(crate) fn exposures_in_words(exposures: &[Millis]) -> String {
    exposures.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}
