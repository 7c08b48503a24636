//! `mohs ladder`: pictures made harder step by step, for tests that go from easy to hard.
//!
//! `build` makes them, from the built-in world (`ladder/world.rs`) or from photos with masks
//! (`ladder/photos.rs`). Both make units of nine pictures, each on disk before its rows are
//! (`ladder/units.rs`), so that a run that was stopped goes on where it stopped.

mod photos;
mod units;
mod world;

use std::path::Path;

use clap::Subcommand;
use mohs_data::Stimulus;
use mohs_data::format::{atomic, write_all};
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
}

#[derive(Debug, Subcommand)]
enum BuildFrom {
    World(world::WorldArgs),
    Photos(photos::PhotosArgs),
}

pub(crate) fn run(args: &LadderArgs, ui: &Ui) -> Result<(), CliError> {
    match &args.verb {
        LadderVerb::Build(BuildFrom::World(args)) => world::run(args, ui),
        LadderVerb::Build(BuildFrom::Photos(args)) => photos::run(args, ui),
    }
}

fn parse_attribute(name: &str) -> Result<Attribute, String> {
    Attribute::parse(name).ok_or_else(|| {
        let known: Vec<&str> = Attribute::ALL.iter().map(|attribute| attribute.name()).collect();
        format!("expected one of {}, found `{name}`", known.join(", "))
    })
}

/// Makes the folders of a ladder; refuses a folder that holds something else.
fn make_folders(output: &Path) -> Result<(), CliError> {
    if !folder::is_empty(output) && !output.join(units::FOLDER).is_dir() {
        return Err(CliError::input(format!("`{}` is not empty and no ladder", output.display()))
            .hint("name a new folder, or one in which a ladder was begun; nothing was written"));
    }
    for name in ["stimuli", "masks", "contact", units::FOLDER] {
        folder::make(&output.join(name))?;
    }
    Ok(())
}

/// Writes the table and says what to do next.
fn finish(output: &Path, stimuli: &[Stimulus], n_made: usize, ui: &Ui) -> Result<(), CliError> {
    write_all(&output.join("stimuli.csv"), stimuli)?;
    let shown = output.display();
    ui.say(&format!(
        "{shown}/stimuli.csv: {} pictures, {n_made} of them new\n\n\
         Look at {shown}/contact before you trust it: one sheet per attribute, a row per series, \
         from easy to hard.\n\
         Then name it in eval.toml: stimuli = \"{shown}/stimuli.csv\"",
        stimuli.len()
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
fn write_sheets(output: &Path, rows: &[(Attribute, SheetRow)]) -> Result<(), CliError> {
    for attribute in Attribute::ALL {
        let mut pictures = Vec::new();
        let mut n_columns = 0;
        let own = rows.iter().filter(|(other, _)| *other == attribute).map(|(_, row)| row);
        for row in own.take(MOST_ROWS) {
            pictures.extend(row.first.clone());
            for stimulus in &row.stimuli {
                let picture = pixels::read(&output.join(&stimulus.file))?;
                pictures.push(thumbnail(&picture, SHOWN_SIDE));
            }
            n_columns = row.stimuli.len() + usize::from(row.first.is_some());
        }
        if !pictures.is_empty() {
            let path = output.join("contact").join(format!("{attribute}.png"));
            atomic::write_file(&path, &contact_sheet(&pictures, n_columns).to_png())?;
        }
    }
    Ok(())
}
