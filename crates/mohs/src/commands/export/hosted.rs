//! Exports out of the database of a hosted study, row by row.

use std::path::{Path, PathBuf};

use mohs_data::format::export::{bids, psych_ds};
use mohs_data::{Study, Task, Trial};
use mohs_serve::export::{self, ExportError, Written};
use mohs_serve::hosted::id_of;
use mohs_serve::store::connection::Connection;
use mohs_serve::store::{Place, Store, study};
use tempfile::TempDir;

use super::{ExportArgs, ExportFormat, about};
use crate::commands::import::check_overwrites_none;
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
    if let Place::Sqlite(database) = place {
        check_overwrites_none(&args.output, [database])?;
    }
    let copy = copy_to_read(place)?;
    let store = open_store(copy.as_ref().map_or(place, |(place, _)| place))?;
    let own = own_study(&args.trials);
    let (name, task) = which_study(&store, args.study.as_deref(), own.as_deref())?;
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
        ExportFormat::Sessions => {
            let sessions = |tx: &mut dyn Connection| {
                let n = export::write_sessions(tx, &name, &args.output)?;
                Ok(Written { n, n_void: 0 })
            };
            (read(&mut { sessions })?, "sessions")
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
    if 0 < n_void {
        ui.say(
            "void trials were not shown as planned, or not to their end; scoring sets them aside when \
             study.toml says so: \
             [exclusions] timing = [\"long\", \"short\", \"dropped\", \"unknown\"]",
        );
    }
    Ok(())
}

/// Returns a copy of a database that cannot be written here: it may hold what has yet to be moved to
/// its tables. The copy goes away with its folder.
fn copy_to_read(place: &Place) -> Result<Option<(Place, TempDir)>, CliError> {
    let Place::Sqlite(path) = place else { return Ok(None) };
    if is_writable(path) {
        return Ok(None);
    }
    let cannot_copy = |cause: std::io::Error| {
        CliError::surroundings(format!("cannot read the database {}", path.display()))
            .because(cause)
            .hint("it cannot be written either, so a copy is read from the folder for temporary files")
    };
    let folder = tempfile::tempdir().map_err(cannot_copy)?;
    let copy = folder.path().join("mohs.db");
    let beside = |path: &Path| PathBuf::from(format!("{}-wal", path.display()));
    let state = || {
        [path.to_owned(), beside(path)].map(|path| path.metadata().and_then(|m| m.modified()).ok())
    };
    // A server elsewhere may be writing; then what was copied may not fit together.
    for _ in 0..COPIES {
        let before = state();
        for (from, to) in [(path.to_owned(), copy.clone()), (beside(path), beside(&copy))] {
            if from.is_file() {
                let bytes = std::fs::read(&from).map_err(cannot_copy)?;
                std::fs::write(&to, bytes).map_err(cannot_copy)?;
            }
        }
        if state() == before {
            return Ok(Some((Place::Sqlite(copy), folder)));
        }
    }
    Err(CliError::surroundings(format!(
        "the database {} is written while it is read",
        path.display()
    ))
    .hint("export where the server runs, or from the admin page"))
}

/// Times a database is copied that changes meanwhile.
const COPIES: usize = 5;

/// Whether file and folder can be written: the log of the database stands beside it.
fn is_writable(path: &Path) -> bool {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let can_make = tempfile::tempfile_in(folder.unwrap_or(Path::new("."))).is_ok();
    can_make && std::fs::OpenOptions::new().write(true).open(path).is_ok()
}

/// Returns what the database calls the study in a folder.
fn own_study(folder: &Path) -> Option<String> {
    Study::read(&folder.join("study.toml")).ok().map(|study| id_of(&study))
}

/// Returns the study that was named, the only one, or of several that of the folder.
fn which_study(
    store: &Store,
    name: Option<&str>,
    own: Option<&str>,
) -> Result<(String, Task), CliError> {
    let studies = store.read_here(|connection| study::all(connection)).map_err(store_error)?;
    let names: Vec<&str> = studies.iter().map(|(name, _)| name.as_str()).collect();
    let found = match (name, studies.as_slice()) {
        (None, [only]) => Some(only),
        (None, studies) => studies.iter().find(|(known, _)| own == Some(known)),
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
