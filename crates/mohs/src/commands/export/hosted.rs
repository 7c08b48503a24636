//! Exports out of the database of a hosted study, row by row.

use std::path::Path;

use mohs_data::format::export::{bids, psych_ds};
use mohs_data::{Task, Trial};
use mohs_serve::export::{self, ExportError, Written};
use mohs_serve::store::connection::Connection;
use mohs_serve::store::{Place, Store, study};

use super::{ExportArgs, ExportFormat, about};
use crate::commands::serve::{open_store, parse_place, store_error};
use crate::error::CliError;
use crate::ui::Ui;

/// Returns the database that a path names; none when it names a file of trials.
pub(super) fn place(path: &Path) -> Result<Option<Place>, CliError> {
    let text = path.to_string_lossy();
    if text.starts_with("sqlite:") || text.starts_with("postgres") && text.contains("://") {
        let place = parse_place(&text)?;
        return match &place {
            Place::Sqlite(path) if !path.is_file() => Err(no_database(path)),
            _ => Ok(Some(place)),
        };
    }
    if !path.is_dir() {
        return Ok(None);
    }
    let file = path.join("mohs.db");
    if !file.is_file() {
        return Err(no_database(&file));
    }
    Ok(Some(Place::Sqlite(file)))
}

fn no_database(path: &Path) -> CliError {
    CliError::input(format!("there is no database `{}`", path.display())).hint(
        "`mohs serve STUDY` makes one in the study's folder; name another with sqlite:PATH or \
         postgres://…",
    )
}

pub(super) fn run(args: &ExportArgs, place: &Place, ui: &Ui) -> Result<(), CliError> {
    let store = open_store(place)?;
    let (name, task) = which_study(&store, args.study.as_deref())?;
    let read = |job: &mut dyn FnMut(&mut dyn Connection) -> Result<Written, ExportError>| {
        let outcome = store.read_here(|connection| Ok(job(connection))).map_err(store_error)?;
        outcome.map_err(|error| match error {
            ExportError::Store(error) => store_error(error),
            ExportError::File(error) => error.into(),
        })
    };
    let (written, noun) = match args.to {
        ExportFormat::Csv | ExportFormat::Parquet => {
            let written = read(&mut |tx| export::write_table(tx, &name, task, &args.output))?;
            (written, if task == Task::Pairs { "comparisons" } else { "trials" })
        }
        ExportFormat::Jsonl => {
            let events = |tx: &mut dyn Connection| {
                let n = export::write_events(tx, &name, &args.output)?;
                Ok(Written { n, n_void: 0 })
            };
            (read(&mut { events })?, "events")
        }
        ExportFormat::Bids | ExportFormat::PsychDs if task == Task::Pairs => {
            return Err(CliError::input(
                "paired judgements have no form in BIDS and Psych-DS here",
            )
            .hint("write them as csv or parquet"));
        }
        ExportFormat::Bids | ExportFormat::PsychDs => {
            let mut trials: Vec<Trial> = Vec::new();
            let written = read(&mut |tx| {
                let mut written = Written::default();
                export::each_trial(tx, &name, task, &mut |trial| {
                    written.add(trial);
                    trials.push(trial.clone());
                    Ok(())
                })?;
                Ok(written)
            })?;
            let mut about = about(args, &trials);
            if args.name.is_none() {
                about.name = name;
            }
            match args.to {
                ExportFormat::Bids => bids::write(&args.output, &trials, &about)?,
                _ => psych_ds::write(&args.output, &trials, &about)?,
            }
            (written, "trials")
        }
    };
    let Written { n, n_void } = written;
    let void = if 0 < n_void { format!(", {n_void} of them void") } else { String::new() };
    ui.say(&format!("written: {} ({n} {noun}{void})", args.output.display()));
    if 0 < n_void && task == Task::Flash {
        ui.say(
            "void trials were not shown as planned; scoring sets them aside when study.toml says so: \
             [exclusions] timing = [\"long\", \"short\", \"dropped\", \"unknown\"]",
        );
    }
    Ok(())
}

/// Returns the study that was named, or the only one.
fn which_study(store: &Store, name: Option<&str>) -> Result<(String, Task), CliError> {
    let studies = store.read_here(|connection| study::all(connection)).map_err(store_error)?;
    let names: Vec<&str> = studies.iter().map(|(name, _)| name.as_str()).collect();
    let found = match (name, studies.as_slice()) {
        (None, [only]) => Some(only),
        (None, _) => None,
        (Some(name), studies) => studies.iter().find(|(known, _)| known == name),
    };
    let Some((name, task)) = found else {
        let what = match name {
            Some(name) => format!("there is no study `{name}` in this database"),
            None => format!("this database has {} studies", names.len()),
        };
        return Err(CliError::input(what)
            .hint(format!("choose one with --study NAME: {}", names.join(", "))));
    };
    let known = Task::WORDS.iter().find(|(word, _)| word == task);
    let task = known.map_or(Task::Rate, |(_, task)| *task);
    Ok((name.clone(), task))
}
