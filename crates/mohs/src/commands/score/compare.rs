//! `mohs score compare`.

use std::path::{Path, PathBuf};

use mohs_data::format::{ReadOptions, read_all};
use mohs_data::{Difficulty, Seed};
use mohs_report::Summary;
use mohs_score::human::set_comparison::{self, Options, Set};

use super::output::{self, Files, OutputArgs};
use crate::error::CliError;
use crate::ui::Ui;

/// Compare two sets of stimuli: is one harder than the other?
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  mohs score compare imagenet/difficulty.csv objectnet/difficulty.csv
  mohs score compare a.csv b.csv --names Kitchen Garden --output results
  mohs score compare old/difficulty.csv new/difficulty.csv --measure item-response

Both files need the same measure. Differences are first minus second: positive means that the
first set is harder.")]
pub(crate) struct CompareArgs {
    /// difficulty.csv of the first set
    first: PathBuf,
    /// difficulty.csv of the second set
    second: PathBuf,
    /// The measure to compare, for files that hold several
    #[arg(long, value_name = "NAME")]
    measure: Option<String>,
    /// What to call the two sets [default: their folders or files]
    #[arg(long, value_name = "NAME", num_args = 2)]
    names: Vec<String>,
    /// Bootstrap draws over stimuli
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u32).range(100..))]
    resamples: u32,
    #[command(flatten)]
    output: OutputArgs,
}

pub(super) fn run(args: &CompareArgs, ui: &Ui) -> Result<(), CliError> {
    let (first, second) = (read(&args.first, args)?, read(&args.second, args)?);
    let (name_a, name_b) = match args.names.as_slice() {
        [a, b] => (a.clone(), b.clone()),
        _ => names_of(&args.first, &args.second),
    };
    let same = |what: &str, hint: &str| {
        Err(CliError::input(format!("the two sets should differ, found {what}")).hint(hint))
    };
    if first == second {
        let what = format!(
            "the same difficulties in `{}` and `{}`",
            args.first.display(),
            args.second.display()
        );
        return same(&what, "name the difficulty.csv of two sets");
    }
    if name_a == name_b {
        return same(&format!("`{name_a}` as the name of both"), "give two names with --names");
    }
    ui.say(&format!(
        "{} difficulties read from {}, {} from {}",
        first.len(),
        args.first.display(),
        second.len(),
        args.second.display()
    ));
    let options = Options {
        confidence: 0.95,
        n_resamples: args.resamples as usize,
        seed: Seed(args.output.seed),
    };
    let findings = set_comparison::compare(
        Set { name: &name_a, difficulties: &first },
        Set { name: &name_b, difficulties: &second },
        &options,
    )?;
    let title = format!("{name_a} and {name_b}");
    let version = env!("CARGO_PKG_VERSION");
    let summary = Summary {
        set_comparison: Some(findings),
        ..Summary::new(title, version, args.output.seed, false)
    };
    output::finish(summary, &Files::default(), &args.output, ui)
}

fn read(path: &Path, args: &CompareArgs) -> Result<Vec<Difficulty>, CliError> {
    let mut rows = read_all::<Difficulty>(path, &ReadOptions::default())
        .map_err(|error| CliError::from(error).while_doing("cannot read the difficulties"))?;
    let Some(measure) = &args.measure else { return Ok(rows) };
    let mut found: Vec<String> = rows.iter().map(|row| row.measure.clone()).collect();
    found.sort_unstable();
    found.dedup();
    rows.retain(|row| row.measure == *measure);
    if rows.is_empty() {
        return Err(CliError::input(format!(
            "`{}` has no difficulties by the measure `{measure}`; it has: {}",
            path.display(),
            found.join(", ")
        )));
    }
    Ok(rows)
}

/// Names sets by what tells their paths apart: the file, else the folder, else the whole path.
fn names_of(first: &Path, second: &Path) -> (String, String) {
    let text = |part: Option<&std::ffi::OsStr>| {
        part.map(|part| part.to_string_lossy().into_owned()).filter(|part| !part.is_empty())
    };
    let by_file = |path: &Path| text(path.file_stem());
    let by_folder = |path: &Path| text(path.parent().and_then(Path::file_name));
    for by in [&by_file as &dyn Fn(&Path) -> Option<String>, &by_folder] {
        if let (Some(a), Some(b)) = (by(first), by(second))
            && a != b
        {
            return (a, b);
        }
    }
    (first.display().to_string(), second.display().to_string())
}
