//! `mohs merge`: the parts of an evaluation become one file.

use std::path::{Path, PathBuf};

use mohs_data::format::folder_of_stimuli;
use mohs_data::merge::{self, MergeError, Merged, Whole};
use mohs_data::{FileError, Manifest};
use mohs_vision::evaluate;

use crate::commands::eval;
use crate::commands::import::{check_output, check_overwrites_none};
use crate::error::CliError;
use crate::ui::Ui;

/// Join files of predictions
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  mohs merge eval.toml                        the shards that lie beside its output
  mohs merge eval.toml a.csv b.csv            these shards
  mohs merge --output all.csv a.csv b.csv     predictions of different models

Shards must be complete; what comes out is, byte by byte, what one run would have written.
A row that stands twice is an error.")]
pub(crate) struct MergeArgs {
    /// The manifest, if these are its shards, and files of predictions
    #[arg(required = true, value_name = "FILES")]
    files: Vec<PathBuf>,
    /// Where to write: .csv or .parquet [default: what the manifest says]
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

pub(crate) fn run(args: &MergeArgs, ui: &Ui) -> Result<(), CliError> {
    let is_manifest = |path: &PathBuf| path.extension().is_some_and(|ending| ending == "toml");
    let (output, merged) = match args.files.split_first() {
        Some((manifest, files)) if is_manifest(manifest) => {
            merge_shards(manifest, files, args.output.as_deref(), ui)?
        }
        _ => {
            let Some(output) = &args.output else {
                return Err(CliError::input("--output is missing").hint(
                    "name the file to write, or the manifest whose shards these are: \
                     mohs merge eval.toml",
                ));
            };
            check(output, &args.files)?;
            (output.clone(), merge::any(&args.files, output)?)
        }
    };
    ui.say(&format!("written: {}", output.display()));
    let Merged { n_rows, n_failed } = merged;
    ui.data(format!("{n_rows} predictions, {n_failed} of them failed\n").as_bytes())
}

fn check(output: &Path, files: &[PathBuf]) -> Result<(), CliError> {
    check_output(output)?;
    check_overwrites_none(output, files)
}

fn merge_shards(
    path: &Path,
    files: &[PathBuf],
    output: Option<&Path>,
    ui: &Ui,
) -> Result<(PathBuf, Merged), CliError> {
    let manifest = Manifest::read(path)?;
    let folder = folder_of_stimuli(path);
    let whole_output = folder.join(&manifest.output);
    let files = if files.is_empty() { shards_beside(&whole_output)? } else { files.to_owned() };
    let output = output.map_or(whole_output, Path::to_owned);
    check(&output, &files)?;
    let stimuli = eval::stimuli_of(&manifest, &folder.join(&manifest.stimuli))?;
    let whole = Whole {
        models: manifest.models.iter().map(|model| model.name.clone()).collect(),
        stimuli: stimuli.into_iter().map(|stimulus| stimulus.id).collect(),
        probes: evaluate::probes(&manifest)?.iter().map(|probe| probe.name().into()).collect(),
    };
    ui.say(&format!("joining {} files", files.len()));
    Ok((output.clone(), merge::shards(&whole, &files, &output)?))
}

/// The shards beside an output: `predictions.1-of-4.csv` and so on, all of them.
fn shards_beside(output: &Path) -> Result<Vec<PathBuf>, CliError> {
    let folder = folder_of_stimuli(output);
    let entries =
        std::fs::read_dir(&folder).map_err(|cause| FileError::cannot_read(&folder, cause))?;
    let mut found: Vec<(usize, usize, PathBuf)> = Vec::new();
    for entry in entries {
        let path = entry.map_err(|cause| FileError::cannot_read(&folder, cause))?.path();
        if let Some((number, n)) = shard_of(output, &path) {
            found.push((n, number, path));
        }
    }
    found.sort_unstable();
    let Some(&(n, _, _)) = found.first() else {
        return Err(CliError::input(format!(
            "there are no shards beside {}; expected {}",
            output.display(),
            name_of(output, 1, 2).display()
        ))
        .hint("run `mohs eval eval.toml --shard 1/2` and `--shard 2/2` first, or name the files"));
    };
    if let Some((other, _, _)) = found.iter().find(|(other, _, _)| *other != n) {
        return Err(CliError::input(format!(
            "there are shards of {n} and shards of {other} beside {}",
            output.display()
        ))
        .hint("name those that belong together: mohs merge eval.toml FILES"));
    }
    let missing = (1..=n).find(|number| !found.iter().any(|(_, there, _)| there == number));
    if let Some(number) = missing {
        return Err(CliError::input(format!(
            "{} is missing; {} of {n} shards are there",
            name_of(output, number, n).display(),
            found.len()
        ))
        .hint(format!("run `mohs eval` with --shard {number}/{n}")));
    }
    Ok(found.into_iter().map(|(_, _, path)| path).collect())
}

fn name_of(output: &Path, number: usize, n: usize) -> PathBuf {
    let stem = output.file_stem().unwrap_or_default().to_string_lossy();
    let ending = output.extension().unwrap_or_default().to_string_lossy();
    output.with_file_name(format!("{stem}.{number}-of-{n}.{ending}"))
}

/// Which shard of how many a file is.
fn shard_of(output: &Path, path: &Path) -> Option<(usize, usize)> {
    let stem = output.file_stem()?.to_string_lossy();
    let ending = output.extension()?.to_string_lossy();
    let name = path.file_name()?.to_string_lossy();
    let middle = name.strip_prefix(&*stem)?.strip_prefix('.')?;
    let middle = middle.strip_suffix(&*ending)?.strip_suffix('.')?;
    let (number, n) = middle.split_once("-of-")?;
    Some((number.parse().ok()?, n.parse().ok()?))
}

impl From<MergeError> for CliError {
    fn from(error: MergeError) -> Self {
        let hint = match error {
            MergeError::File(error) => return error.into(),
            MergeError::Missing { .. } => {
                "is a shard missing, or was it made by an older manifest? Run it again: what is \
                 known is not asked anew"
            }
            MergeError::Twice { .. } => "was a file named twice?",
            MergeError::Stranger { .. } => "is this the manifest that the shards were made with?",
        };
        CliError::input(error.to_string()).hint(hint)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shards_are_known_by_their_names() {
        let of = |name: &str| shard_of(Path::new("x/predictions.csv"), Path::new(name));
        assert_eq!(of("x/predictions.2-of-3.csv"), Some((2, 3)));
        assert_eq!(of("x/predictions.csv"), None);
        assert_eq!(of("x/predictions.2-of-3.csv.part"), None);
        assert_eq!(of("x/other.2-of-3.csv"), None);
    }
}
