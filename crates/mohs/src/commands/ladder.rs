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
use std::path::Path;

use clap::Subcommand;
use mohs_data::format::{atomic, write_all};
use mohs_data::{Stimulus, plain_name, review as reviews};
use mohs_vision::pixels::{self, Rgb8, thumbnail};
use mohs_vision::world::{Attribute, contact_sheet};

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

/// Makes the folders of a ladder; refuses a folder that holds something else.
fn make_folders(output: &Path, names: &[&str]) -> Result<(), CliError> {
    if !folder::is_empty(output) && !output.join(units::FOLDER).is_dir() {
        return Err(CliError::input(format!("`{}` is not empty and no ladder", output.display()))
            .hint("name a new folder, or one in which a ladder was begun; nothing was written"));
    }
    for name in ["stimuli", "contact", units::FOLDER].iter().chain(names) {
        folder::make(&output.join(name))?;
    }
    Ok(())
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

/// Writes the tables and says what to do next.
fn finish(output: &Path, made: &[Stimulus], n_new: usize, ui: &Ui) -> Result<(), CliError> {
    let n_used = write_tables(output, made)?;
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

/// A row of a contact sheet: where it starts, and the pictures from easy to hard.
struct SheetRow {
    first: Option<Rgb8>,
    stimuli: Vec<Stimulus>,
}

/// Rows of a sheet beyond this are left out: nobody looks at more.
const MOST_ROWS: usize = 40;
/// Side of a picture on a sheet.
const SHOWN_SIDE: u32 = 128;

/// Writes one sheet per attribute.
fn write_sheets(output: &Path, rows: &[(String, SheetRow)]) -> Result<(), CliError> {
    let attributes: BTreeSet<&String> = rows.iter().map(|(attribute, _)| attribute).collect();
    for attribute in attributes {
        let mut pictures = Vec::new();
        let mut n_columns = 0;
        let own = rows.iter().filter(|(other, _)| other == attribute).map(|(_, row)| row);
        for row in own.take(MOST_ROWS) {
            pictures.extend(row.first.clone());
            for stimulus in &row.stimuli {
                let picture = pixels::read(&output.join(&stimulus.file))?;
                pictures.push(thumbnail(&picture, SHOWN_SIDE));
            }
            n_columns = row.stimuli.len() + usize::from(row.first.is_some());
        }
        if !pictures.is_empty() {
            let path = output.join("contact").join(format!("{}.png", plain_name(attribute)));
            atomic::write_file(&path, &contact_sheet(&pictures, n_columns).to_png())?;
        }
    }
    Ok(())
}
