//! What scoring prints and writes, the same for every measure.

use std::path::{Path, PathBuf};

use mohs_data::format::{ReadOptions, atomic, read_all, write_all};
use mohs_data::{AttackExample, Difficulty, Exclusion, FileError};
use mohs_report::{Summary, render_csv, render_text};

use crate::args::Format;
use crate::error::CliError;
use crate::folder;
use crate::ui::Ui;

/// The file with all findings.
const SUMMARY: &str = "summary.json";

/// How results leave.
#[derive(Debug, clap::Args)]
pub(crate) struct OutputArgs {
    /// Seed of the random draws
    #[arg(long, default_value_t = 1, value_name = "N")]
    pub(crate) seed: u64,
    /// How to print the result
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    /// Also write summary.json and tables into this folder; chapters of other measures stay
    #[arg(long, short, value_name = "DIR")]
    output: Option<PathBuf>,
}

impl OutputArgs {
    /// Returns the folder to write into.
    pub(crate) fn folder(&self) -> Option<&Path> {
        self.output.as_deref()
    }

    /// Makes the folder, if there is to be one, and refuses what could not be written into it at the
    /// end; for commands that pay for what they find. `renewed` takes what this command will write
    /// anew out of earlier findings.
    pub(crate) fn prepare(
        &self,
        names: &[&str],
        renewed: impl FnOnce(&mut Summary),
    ) -> Result<(), CliError> {
        let Some(folder) = self.folder() else { return Ok(()) };
        folder::make(folder)?;
        for path in names.iter().chain([&SUMMARY]).map(|name| folder.join(name)) {
            if path.is_dir() {
                let what = format!("`{}` is a folder, and a file goes there", path.display());
                return Err(CliError::input(what).hint("name another folder with --output"));
            }
        }
        let path = folder.join(SUMMARY);
        if let Ok(json) = std::fs::read_to_string(&path) {
            let mut found = Summary::from_json(&json)?;
            renewed(&mut found);
            let ours = Summary::new(String::new(), env!("CARGO_PKG_VERSION"), self.seed, false);
            joined(ours, found, &path)?;
        }
        let probe = folder.join(format!(".mohs-{}", std::process::id()));
        atomic::write_file(&probe, b"")?;
        let removed = std::fs::remove_file(&probe);
        Ok(removed.map_err(|cause| FileError::cannot_write(&probe, cause))?)
    }

    /// Returns the folder of an earlier run's tables in the output folder, if there is one. Whatever
    /// else is there is somebody's own.
    pub(super) fn earlier(
        &self,
        tables: &str,
        names: &[&str],
    ) -> Result<Option<PathBuf>, CliError> {
        let Some(folder) = self.folder().map(|output| output.join(tables)) else { return Ok(None) };
        if folder::is_empty(&folder) {
            return Ok(None);
        }
        if folder::holds_only(&folder, names) {
            return Ok(Some(folder));
        }
        Err(CliError::input(format!(
            "`{}` holds something else than tables of an earlier run",
            folder.display()
        ))
        .hint("write into another folder; nothing was written"))
    }
}

/// What is written beside the summary.
#[derive(Debug, Default)]
pub(crate) struct Files {
    /// Rows for `difficulty.csv`, where the measure gives difficulties.
    pub(crate) difficulties: Option<Vec<Difficulty>>,
    /// What was set aside, and the file that says so.
    pub(crate) exclusions: Option<(&'static str, Vec<Exclusion>)>,
    /// Further files, by name (which may lead into a folder).
    pub(crate) others: Vec<(String, Vec<u8>)>,
    /// A table of attacked pictures and its folder; the pictures are among the further files.
    pub(crate) examples: Option<(&'static str, Vec<AttackExample>)>,
    /// Folders that an earlier run wrote and that go before these are written.
    pub(crate) replaced: Vec<PathBuf>,
}

/// Puts tables into a folder of their own, for [`Files::others`].
pub(super) fn in_folder<N: std::fmt::Display>(
    folder: &str,
    tables: impl IntoIterator<Item = (N, String)>,
) -> Vec<(String, Vec<u8>)> {
    let file = |(name, csv): (N, String)| (format!("{folder}/{name}"), csv.into_bytes());
    tables.into_iter().map(file).collect()
}

/// What a folder got.
#[derive(Debug)]
pub(crate) struct Written {
    /// Names of the files.
    names: Vec<String>,
    /// Title of the summary, which may be that of earlier findings.
    title: String,
}

/// Writes the files if asked, and prints the result.
pub(crate) fn finish(
    summary: Summary,
    files: &Files,
    args: &OutputArgs,
    ui: &Ui,
) -> Result<(), CliError> {
    let text = match args.format {
        Format::Text => render_text(&summary),
        Format::Json => summary.to_json(),
        Format::Csv => render_csv(&summary),
    };
    if let Some(output) = &args.output {
        let title = summary.title.clone();
        let written = write(summary, files, output)?;
        ui.say(&format!("written: {} in {}", written.names.join(", "), output.display()));
        if written.title != title {
            ui.say(&format!(
                "the findings of `{title}` stand beside those of `{}`; use another folder if they \
                 do not belong together",
                written.title
            ));
        }
    }
    ui.data(text.as_bytes())
}

/// Writes what scoring found, and returns what was written. Chapters and difficulties that
/// other measures left in the folder stay.
pub(crate) fn write(summary: Summary, files: &Files, output: &Path) -> Result<Written, CliError> {
    let path = output.join(SUMMARY);
    let summary = match std::fs::read_to_string(&path) {
        Ok(json) => joined(summary, Summary::from_json(&json)?, &path)?,
        Err(_) => summary,
    };
    let difficulties = files
        .difficulties
        .as_ref()
        .map(|ours| with_other_measures(ours, &output.join("difficulty.csv")))
        .transpose()?;
    folder::make(output)?;
    for folder in &files.replaced {
        folder::remove(folder)?;
    }
    let mut written = Vec::new();
    if let Some(difficulties) = difficulties {
        write_all(&output.join("difficulty.csv"), &difficulties)?;
        written.push("difficulty.csv".to_owned());
    }
    if let Some((name, exclusions)) = &files.exclusions {
        write_all(&output.join(name), exclusions)?;
        written.push((*name).to_owned());
    }
    for (name, content) in &files.others {
        let path = output.join(name);
        if let Some(folder) = path.parent() {
            folder::make(folder)?;
        }
        atomic::write_file(&path, content)?;
    }
    if let Some((folder, examples)) = &files.examples {
        write_all(&output.join(folder).join(AttackExample::FILE), examples)?;
    }
    match files.others.as_slice() {
        [] => {}
        [(name, _)] => written.push(name.clone()),
        many => written.push(format!("{} other files", many.len())),
    }
    atomic::write_file(&path, summary.to_json().as_bytes())?;
    written.push(SUMMARY.to_owned());
    Ok(Written { names: written, title: summary.title })
}

/// Returns the new summary with the chapters of the one found, if both were made the same way.
fn joined(new: Summary, found: Summary, path: &Path) -> Result<Summary, CliError> {
    let joined =
        Summary { title: found.title.clone(), ..new.clone() }.with_chapters_of(found.clone());
    let keeps_nothing = Summary { title: new.title.clone(), ..joined.clone() } == new;
    if keeps_nothing {
        return Ok(new);
    }
    if found.seed != new.seed || found.simulated != new.simulated {
        let how = |of: &Summary| {
            let people = if of.simulated { "simulated people" } else { "people" };
            format!("seed {} and {people}", of.seed)
        };
        return Err(CliError::input(format!(
            "`{}` holds other findings, made with {}; these are made with {}",
            path.display(),
            how(&found),
            how(&new)
        ))
        .hint(
            "write into another folder, or score again with the same seed; nothing was written",
        ));
    }
    Ok(joined)
}

/// Returns our difficulties, before them those of other measures that the file already holds.
fn with_other_measures(ours: &[Difficulty], path: &Path) -> Result<Vec<Difficulty>, CliError> {
    let mut rows = Vec::new();
    if path.is_file() {
        let is_ours = |row: &Difficulty| ours.iter().any(|own| own.measure == row.measure);
        rows = read_all::<Difficulty>(path, &ReadOptions::default())?;
        rows.retain(|row| !is_ours(row));
    }
    rows.extend_from_slice(ours);
    Ok(rows)
}
