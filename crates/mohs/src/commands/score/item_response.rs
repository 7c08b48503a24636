//! `mohs score item-response`.

use clap::ValueEnum;
use mohs_data::format::response_matrix;
use mohs_data::{Caveat, Exclusion, Extra, Seed, Task};
use mohs_report::Summary;
use mohs_score::human::exclusion;
use mohs_score::human::item_response::{self, Model, Options, Responses};

use super::input::{self, TrialsArgs, title_of};
use super::output::{self, Files, OutputArgs};
use crate::error::CliError;
use crate::ui::Ui;

/// Share of trials set aside from which it is said beside the findings.
const MANY_EXCLUDED: f64 = 0.2;

/// Fit item response models: stimulus difficulty when participants see different stimuli
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  mohs score item-response trials.csv
  mohs score item-response trials.parquet --model 1pl --output results
  mohs score item-response lsat6.csv --format json

Instead of trials, a response matrix will do: a CSV file with one row per participant, one column
per stimulus, and 1, 0 or nothing in its cells. A column `participant` names the rows, a column
`count` says how many people a row stands for.")]
pub(crate) struct ItemResponseArgs {
    #[command(flatten)]
    input: TrialsArgs,
    /// Whether stimuli share one discrimination
    #[arg(long, value_enum, default_value_t = ModelChoice::TwoPl)]
    model: ModelChoice,
    /// Bootstrap draws over participants, for the reliability
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u32).range(100..))]
    resamples: u32,
    #[command(flatten)]
    output: OutputArgs,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum ModelChoice {
    /// One discrimination for all: steadier with few answers
    #[value(name = "1pl")]
    OnePl,
    /// Each stimulus has its own discrimination
    #[value(name = "2pl")]
    TwoPl,
}

/// What was read, whichever form it had.
struct Read {
    title: String,
    responses: Responses,
    simulated: bool,
    exclusions: Vec<Exclusion>,
    share_excluded: f64,
}

pub(super) fn run(args: &ItemResponseArgs, ui: &Ui) -> Result<(), CliError> {
    let read = read(args, ui)?;
    let options = Options {
        model: match args.model {
            ModelChoice::OnePl => Model::OnePl,
            ModelChoice::TwoPl => Model::TwoPl,
        },
        confidence: 0.95,
        n_resamples: args.resamples as usize,
        seed: Seed(args.output.seed),
    };
    let mut findings = item_response::score(&read.responses, &options);
    if MANY_EXCLUDED <= read.share_excluded {
        findings.caveats.add(Caveat::ManyExclusions { share: read.share_excluded });
    }
    if read.simulated {
        findings.caveats.add(Caveat::Simulated);
    }
    let has_exclusions = !read.exclusions.is_empty();
    let files = Files {
        difficulties: Some(findings.difficulties()),
        exclusions: has_exclusions.then_some(("item-response-exclusions.csv", read.exclusions)),
        ..Files::default()
    };
    let version = env!("CARGO_PKG_VERSION");
    let summary = Summary {
        item_response: Some(findings),
        ..Summary::new(read.title, version, args.output.seed, read.simulated)
    };
    output::finish(summary, &files, &args.output, ui)
}

fn read(args: &ItemResponseArgs, ui: &Ui) -> Result<Read, CliError> {
    let path = &args.input.trials;
    if path.is_file() && !args.input.has_mapping() && response_matrix::is_response_matrix(path) {
        let patterns = response_matrix::read(path)
            .map_err(|error| CliError::from(error).while_doing("cannot read the responses"))?;
        let stimuli = response_matrix::stimuli(path)
            .map_err(|error| CliError::from(error).while_doing("cannot read the responses"))?;
        let responses = Responses::from_patterns(&patterns)?.among(&stimuli);
        ui.say(&format!(
            "response matrix of {} participants and {} stimuli read from {}",
            responses.n_participants(),
            responses.n_stimuli(),
            path.display()
        ));
        let (simulated, exclusions, share_excluded) = (false, vec![], 0.0);
        return Ok(Read {
            title: title_of(path),
            responses,
            simulated,
            exclusions,
            share_excluded,
        });
    }
    let read = input::read(&args.input, Task::Rate, ui)?;
    if let Some(column) = read.trials.iter().find_map(|trial| count_column(&trial.extra)) {
        return Err(CliError::input(format!(
            "{}: trials have a column `{column}`, expected one row per answer",
            path.display()
        ))
        .hint(
            "counts belong to a response matrix (one row per pattern of answers, one column per \
             stimulus); in trials give every participant rows of their own, or rename the column",
        ));
    }
    let applied = exclusion::apply(&read.trials, &read.study.exclusions);
    let n_excluded = read.trials.len() - applied.kept.len();
    if 0 < n_excluded {
        ui.say(&format!("{n_excluded} trials set aside by the rules of the study"));
    }
    #[expect(clippy::cast_precision_loss, reason = "counts of trials are far below 2^53")]
    let share_excluded = n_excluded as f64 / read.trials.len().max(1) as f64;
    Ok(Read {
        responses: Responses::from_trials(applied.kept.iter().copied())?,
        simulated: super::is_simulated(&read.trials),
        title: read.study.name.clone(),
        exclusions: applied.exclusions,
        share_excluded,
    })
}

/// Returns the column that seems to say how many answers a row stands for.
fn count_column(extra: &Extra) -> Option<&str> {
    let is_it = |name: &&str| name.eq_ignore_ascii_case("count");
    extra.names().iter().map(|name| name.as_str()).find(is_it)
}
