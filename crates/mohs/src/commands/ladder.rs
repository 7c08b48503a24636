//! `mohs ladder`: pictures made harder step by step, for tests that go from easy to hard.
//!
//! `build` makes them, from the built-in world (`ladder/world.rs`), from photos with masks
//! (`ladder/photos.rs`), or by a writer and a painter behind endpoints (`ladder/generate.rs`). The
//! first two make units of nine pictures, each on disk before its rows are (`ladder/units.rs`), so
//! that a run that was stopped goes on where it stopped; the third keeps what it paid for.
//! `review` shows the pictures to somebody who accepts or rejects them (`ladder/review.rs`):
//! `made.csv` has all pictures, `stimuli.csv` those that were not rejected.

mod account;
mod generate;
mod photos;
mod review;
mod units;
mod world;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use clap::Subcommand;
use mohs_data::format::{ReadOptions, atomic, read_stimuli, write_all};
use mohs_data::{Stimulus, plain_name, review as reviews};
use mohs_vision::pixels::{self, Rgb8, thumbnail};
use mohs_vision::world::{Attribute, NamedRow, named_sheet};

use crate::error::CliError;
use crate::folder;
use crate::ui::Ui;

/// Make pictures harder step by step
#[derive(Debug, clap::Args)]
pub(crate) struct LadderArgs {
    #[command(subcommand)]
    verb: LadderVerb,
}

#[derive(Debug, Subcommand)]
enum LadderVerb {
    /// Build a ladder: nine steps of each attribute, grouped into easy, medium and hard
    #[command(subcommand)]
    Build(BuildFrom),
    Review(review::ReviewArgs),
}

#[derive(Debug, Subcommand)]
enum BuildFrom {
    World(world::WorldArgs),
    Photos(photos::PhotosArgs),
    Generate(generate::GenerateArgs),
}

pub(crate) fn run(args: &LadderArgs, ui: &Ui) -> Result<(), CliError> {
    match &args.verb {
        LadderVerb::Build(BuildFrom::World(args)) => world::run(args, ui),
        LadderVerb::Build(BuildFrom::Photos(args)) => photos::run(args, ui),
        LadderVerb::Build(BuildFrom::Generate(args)) => generate::run(args, ui),
        LadderVerb::Review(args) => review::run(args, ui),
    }
}

fn parse_attribute(name: &str) -> Result<Attribute, String> {
    Attribute::parse(name).ok_or_else(|| {
        let known: Vec<&str> = Attribute::ALL.iter().map(|attribute| attribute.name()).collect();
        format!("expected one of {}, found `{name}`", known.join(", "))
    })
}

/// What a ladder is made of: one folder holds one kind.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    World,
    Photos,
    Drawn,
}

impl Kind {
    fn noun(self) -> &'static str {
        match self {
            Kind::World => "a ladder of the built-in world",
            Kind::Photos => "a ladder of photos",
            Kind::Drawn => "a drawn ladder",
        }
    }

    /// Returns the kind of ladder in a folder, by what only that kind leaves there, or by the columns
    /// of its tables where that is gone; `None` where nothing was made yet.
    fn of(output: &Path) -> Option<Kind> {
        if [generate::PAID, generate::PLAN].iter().any(|name| output.join(name).exists()) {
            return Some(Kind::Drawn);
        }
        if output.join(photos::LEFT_OUT).exists() {
            return Some(Kind::Photos);
        }
        let rows = std::fs::read_dir(output.join(units::FOLDER)).into_iter().flatten().flatten();
        let mut tables = rows.map(|row| row.path()).filter(|path| path.extension().is_some());
        let table = tables.next().unwrap_or_else(|| output.join(MADE));
        let text = std::fs::read_to_string(table).ok()?;
        let header = text.lines().next().unwrap_or_default();
        let has = |name: &str| header.split(',').any(|column| column == name);
        Some(match (has(photos::SOURCE), has(generate::PAINTED_BY)) {
            (true, _) => Kind::Photos,
            (_, true) => Kind::Drawn,
            _ => Kind::World,
        })
    }
}

/// Refuses a folder that holds another kind of ladder: its pictures would be replaced.
fn check_kind(output: &Path, kind: Kind) -> Result<(), CliError> {
    match Kind::of(output).filter(|found| *found != kind) {
        None => Ok(()),
        Some(found) => Err(CliError::input(format!(
            "`{}` holds {}, and {} would replace its pictures",
            output.display(),
            found.noun(),
            kind.noun()
        ))
        .hint("name another folder; nothing was written")),
    }
}

/// Makes the folders of a ladder; refuses a folder that holds something else.
fn make_folders(output: &Path, kind: Kind, names: &[&str]) -> Result<(), CliError> {
    check_kind(output, kind)?;
    let is_begun = output.join(units::FOLDER).is_dir() || Kind::of(output) == Some(kind);
    if !folder::is_empty(output) && !is_begun {
        return Err(CliError::input(format!("`{}` is not empty and no ladder", output.display()))
            .hint("name a new folder, or one in which a ladder was begun; nothing was written"));
    }
    for name in ["stimuli", "contact", units::FOLDER].iter().chain(names) {
        folder::make(&output.join(name))?;
    }
    Ok(())
}

/// Removes those folders of a ladder that nothing was written into, and the ladder where that was
/// all.
fn remove_empty(output: &Path) {
    for name in ["stimuli", "contact", "masks"] {
        // One that holds something stays.
        let _ = std::fs::remove_dir(output.join(name));
    }
    if folder::holds_only(output, &[units::FOLDER]) {
        let _ = std::fs::remove_dir(output.join(units::FOLDER));
        let _ = std::fs::remove_dir(output);
    }
}

/// Each of them once, however often it was named.
fn once<T: PartialEq>(named: Vec<T>) -> Vec<T> {
    named.into_iter().fold(Vec::new(), |mut kept, one| {
        if !kept.contains(&one) {
            kept.push(one);
        }
        kept
    })
}

/// Everything that was made, rejected or not.
const MADE: &str = "made.csv";
/// What people decided about it.
const REVIEW: &str = "review.csv";

/// Writes the tables: all that was made, and what was not rejected; returns how much that is.
fn write_tables(output: &Path, made: &[Stimulus]) -> Result<usize, CliError> {
    if made.is_empty() {
        // A table without rows is none; one of an earlier run would not be true any more.
        for name in [MADE, "stimuli.csv"] {
            let _ = std::fs::remove_file(output.join(name));
        }
        return Ok(0);
    }
    write_all(&output.join(MADE), made)?;
    let rejected = reviews::rejected(&output.join(REVIEW))?;
    let is_used = |stimulus: &&Stimulus| !rejected.contains(&stimulus.id);
    let used: Vec<Stimulus> = made.iter().filter(is_used).cloned().collect();
    write_all(&output.join("stimuli.csv"), &used)?;
    Ok(used.len())
}

/// Writes the tables, removes what these do not list any more, and says what to do next, if there is
/// anything to look at.
fn finish(
    output: &Path,
    made: &[Stimulus],
    n_new: usize,
    unlisted: &[PathBuf],
    ui: &Ui,
) -> Result<(), CliError> {
    let n_used = write_tables(output, made)?;
    // Only now: no table names a picture that is gone, whenever a run ends.
    remove(output, unlisted, ui);
    if made.is_empty() {
        ui.say("No picture was made.");
        return Ok(());
    }
    let shown = output.display();
    let rejected = match made.len() - n_used {
        0 => String::new(),
        n => format!(", {n} more are rejected"),
    };
    ui.say(&format!(
        "{shown}/stimuli.csv: {n_used} pictures, {n_new} of them new{rejected}\n\n\
         Look at {shown}/contact before you trust it: one sheet per attribute, a row per series, \
         from easy to hard.\n\
         Or look at every picture and reject the bad ones: mohs ladder review {shown}\n\
         Then name it in eval.toml: stimuli = \"{shown}/stimuli.csv\"",
    ));
    Ok(())
}

/// A row of a contact sheet: what it is called, where it starts, and the pictures from easy to hard.
struct SheetRow {
    name: String,
    first: Option<Rgb8>,
    stimuli: Vec<Stimulus>,
}

/// Rows of a sheet beyond this are left out: nobody looks at more.
const MOST_ROWS: usize = 40;
/// Side of a picture on a sheet.
const SHOWN_SIDE: u32 = 128;

/// Writes one sheet per attribute, and removes those of attributes that have no rows any more.
fn write_sheets(output: &Path, rows: &[(String, SheetRow)]) -> Result<(), CliError> {
    let attributes: BTreeSet<&str> = rows.iter().map(|(attribute, _)| attribute.as_str()).collect();
    for gone in Attribute::ALL.iter().filter(|own| !attributes.contains(own.name())) {
        let _ = std::fs::remove_file(sheet_of(output, gone.name()));
    }
    for attribute in attributes {
        let own = rows.iter().filter(|(other, _)| other == attribute).map(|(_, row)| row);
        let mut named = Vec::new();
        for row in own.take(MOST_ROWS) {
            let first = row.first.iter().map(|picture| ("photo".to_owned(), picture.clone()));
            let mut pictures: Vec<(String, Rgb8)> = first.collect();
            for stimulus in &row.stimuli {
                let picture = pixels::read(&output.join(&stimulus.file))?;
                pictures.push((caption(stimulus), thumbnail(&picture, SHOWN_SIDE)));
            }
            named.push(NamedRow { name: row.name.clone(), pictures });
        }
        if named.iter().any(|row| !row.pictures.is_empty()) {
            atomic::write_file(&sheet_of(output, attribute), &named_sheet(&named).to_png())?;
        }
    }
    Ok(())
}

fn sheet_of(output: &Path, attribute: &str) -> PathBuf {
    output.join("contact").join(plain_name(attribute) + ".png")
}

/// Step and level of a picture.
fn caption(stimulus: &Stimulus) -> String {
    let step = stimulus.extra.get("step").unwrap_or_default();
    let level = stimulus.level.as_deref().unwrap_or_default();
    format!("{step} {level}").trim().to_owned()
}

/// Returns the pictures and masks of an earlier run that are not among those of this one, except
/// those that `is_kept`, and the sheets of attributes that are gone.
///
/// Only what `made.csv` lists was made here, and only in these folders.
fn unlisted(
    output: &Path,
    made: &[Stimulus],
    is_kept: impl Fn(&Stimulus) -> bool,
) -> Result<Vec<PathBuf>, CliError> {
    let table = output.join(MADE);
    if !table.is_file() {
        return Ok(Vec::new());
    }
    let files = |stimuli: &[Stimulus]| -> BTreeSet<PathBuf> {
        let of = |stimulus: &Stimulus| [Some(stimulus.file.clone()), stimulus.mask.clone()];
        stimuli.iter().flat_map(of).flatten().collect()
    };
    let mut earlier = read_stimuli(&table, &ReadOptions::default())?;
    earlier.retain(|stimulus| !is_kept(stimulus));
    let own = |file: &Path| {
        ["stimuli", "masks"].iter().any(|folder| file.parent() == Some(Path::new(folder)))
    };
    let kept = files(made);
    let attributes = |stimuli: &[Stimulus]| -> BTreeSet<String> {
        stimuli.iter().filter_map(|stimulus| stimulus.attribute.clone()).collect()
    };
    let sheets = &attributes(&earlier) - &attributes(made);
    let sheets = sheets.iter().map(|attribute| sheet_of(Path::new(""), attribute));
    let earlier = files(&earlier);
    let gone = earlier.difference(&kept).filter(|file| own(file)).cloned();
    Ok(gone.chain(sheets).collect())
}

/// Removes pictures and masks of an earlier run, and says how many pictures.
fn remove(output: &Path, files: &[PathBuf], ui: &Ui) {
    let mut n_removed = 0;
    for file in files {
        let is_removed = std::fs::remove_file(output.join(file)).is_ok();
        n_removed += usize::from(is_removed && file.starts_with("stimuli"));
    }
    if 0 < n_removed {
        ui.say(&format!(
            "{n_removed} pictures of an earlier run are not part of this one: removed"
        ));
    }
}

/// Says which decisions of a review do not hold any more.
fn say_forgotten(verdicts: units::Verdicts, ui: &Ui) {
    let n_forgotten = verdicts.n_taken_back();
    if 0 < n_forgotten {
        ui.say(&format!(
            "pictures that were looked at and are others now: {n_forgotten}; `mohs ladder review` asks again"
        ));
    }
}
