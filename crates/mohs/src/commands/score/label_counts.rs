//! `mohs score label-counts`.

use std::collections::BTreeMap;
use std::path::PathBuf;

use mohs_data::format::label_counts;
use mohs_data::{Label, Seed, StimulusId};
use mohs_report::Summary;
use mohs_score::human::label_disagreement::{self, BANDS, Options};

use super::input::{stimuli_at, title_of};
use super::output::{self, Files, OutputArgs};
use crate::error::CliError;
use crate::ui::Ui;

/// Compute difficulty from how many people gave each label to each stimulus
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  mohs score label-counts human_counts.csv --stimuli stimuli.csv
  mohs score label-counts human_counts.csv --stimuli stimuli.csv --output results
  mohs score label-counts counts.parquet --bands 0.9,0.5 --format json

The file has one row per stimulus and one column per label, with counts in its cells, as CIFAR-10H
has them. The difficulty is the share of people who give another label than the stimulus has; the
label comes from --stimuli, or from a column `label`. docs/methods/label-disagreement.md explains
the measure.")]
pub(crate) struct LabelCountsArgs {
    /// Label counts as CSV or Parquet: a column `stimulus`, then one column per label
    counts: PathBuf,
    /// What was shown: a table, an image folder, a COCO file or a list; brings the labels
    #[arg(long, value_name = "PATH")]
    stimuli: Option<PathBuf>,
    /// Least share of people who agree with the label, for each band but the last, descending
    #[arg(long, value_name = "SHARE,SHARE", value_delimiter = ',', default_values_t = BANDS)]
    bands: Vec<f64>,
    /// Bootstrap draws over stimuli
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u32).range(100..))]
    resamples: u32,
    #[command(flatten)]
    output: OutputArgs,
}

pub(super) fn run(args: &LabelCountsArgs, ui: &Ui) -> Result<(), CliError> {
    let counts = label_counts::read(&args.counts)
        .map_err(|error| CliError::from(error).while_doing("cannot read the label counts"))?;
    let stimuli = stimuli_at(args.stimuli.as_deref())?;
    let label_by_stimulus: BTreeMap<&StimulusId, &Label> =
        stimuli.iter().map(|stimulus| (&stimulus.id, &stimulus.label)).collect();
    ui.say(&format!(
        "counts of {} labels for {} stimuli read from {}",
        label_counts::labels(&counts).len(),
        counts.len(),
        args.counts.display()
    ));
    let options = Options {
        confidence: 0.95,
        bands: args.bands.clone(),
        n_resamples: args.resamples as usize,
        seed: Seed(args.output.seed),
    };
    let findings = label_disagreement::score(&counts, &label_by_stimulus, &options)?;
    if !findings.unlabelled.is_empty() {
        ui.say(&format!("{} stimuli have no count above 0", findings.unlabelled.len()));
    }
    let files = Files { difficulties: Some(findings.difficulties()), ..Files::default() };
    let title = title_of(&args.counts);
    let summary = Summary {
        label_disagreement: Some(findings),
        ..Summary::new(title, env!("CARGO_PKG_VERSION"), args.output.seed, false)
    };
    output::finish(summary, &files, &args.output, ui)
}
