//! `mohs ladder build world`: a ladder of the built-in world.

use std::path::PathBuf;

use mohs_data::Extra;
use mohs_vision::stimulus::ladder::{LADDER_VERSION, Step, world_recipes};
use mohs_vision::world::{Attribute, Class, LARGEST_SIDE, Recipe, SMALLEST_SIDE, WorldPlan, draw};
use rayon::prelude::*;

use super::units::{self, Made, Unit, Verdicts};
use super::{
    Kind, REVIEW, SheetRow, finish, make_folders, once, parse_attribute, say_forgotten, unlisted,
    write_sheets,
};
use crate::built_in;
use crate::error::CliError;
use crate::ui::Ui;

/// Draw a ladder of the built-in world: sixteen classes, ten attributes, nine steps
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  mohs ladder build world ladder --scenes 4        16 × 10 × 9 × 4 pictures, 12 per level

A scene is drawn at all nine steps with nothing else changed. A run that was stopped goes on.")]
pub(crate) struct WorldArgs {
    /// Folder to make
    #[arg(value_name = "DIR")]
    output: PathBuf,
    /// Scenes of each class and attribute; each has three pictures per level
    #[arg(long, default_value_t = 4, value_name = "N",
          value_parser = clap::value_parser!(u32).range(1..=1_000))]
    scenes: u32,
    /// Only these attributes
    #[arg(long, value_name = "A,B", value_delimiter = ',', value_parser = parse_attribute)]
    attributes: Option<Vec<Attribute>>,
    /// Only these classes
    #[arg(long, value_name = "A,B", value_delimiter = ',', value_parser = parse_class)]
    classes: Option<Vec<Class>>,
    /// Side of the pictures in pixels
    #[arg(long, default_value_t = 224, value_name = "PX",
          value_parser = clap::value_parser!(u32).range(i64::from(SMALLEST_SIDE)..=i64::from(LARGEST_SIDE)))]
    size: u32,
    /// Seed of the pictures
    #[arg(long, default_value_t = 1, value_name = "N")]
    seed: u64,
}

fn parse_class(name: &str) -> Result<Class, String> {
    Class::parse(name).ok_or_else(|| {
        let known: Vec<&str> = Class::ALL.iter().map(|class| class.name()).collect();
        format!("expected one of {}, found `{name}`", known.join(", "))
    })
}

pub(super) fn run(args: &WorldArgs, ui: &Ui) -> Result<(), CliError> {
    make_folders(&args.output, Kind::World, &["masks"])?;
    let mut plan = WorldPlan::new(args.seed, args.size, 0);
    plan.attributes = once(args.attributes.clone().unwrap_or(plan.attributes));
    plan.classes = once(args.classes.clone().unwrap_or(plan.classes));
    let ladder = world_recipes(&plan, args.scenes as usize);
    let verdicts = Verdicts::new(args.output.join(REVIEW));
    let bar = ui.progress(ladder.len(), "drawing pictures");
    let drawn: Vec<_> = ladder
        .par_chunks(Step::N)
        .map(|scene| {
            let everything = format!("world {LADDER_VERSION} {scene:?}");
            let unit = units::rows(&args.output, &everything, &verdicts, || Ok(drawn(scene)))?;
            bar.inc(Step::N as u64);
            let attribute = scene[0].0.attribute.unwrap_or(Attribute::Position);
            Ok((attribute, unit))
        })
        .collect::<Result<_, CliError>>()?;
    bar.finish_and_clear();
    let n_made = drawn.iter().map(|(_, unit)| unit.n_made).sum();
    let rows: Vec<(String, SheetRow)> = drawn
        .into_iter()
        .map(|(attribute, Unit { stimuli, .. })| {
            let series = stimuli.first().and_then(|first| first.extra.get("series"));
            let name = series.unwrap_or_default().to_owned();
            (attribute.to_string(), SheetRow { name, first: None, stimuli })
        })
        .collect();
    let stimuli: Vec<_> = rows.iter().flat_map(|(_, row)| row.stimuli.iter().cloned()).collect();
    let unlisted = unlisted(&args.output, &stimuli, |_| false)?;
    if 0 < n_made + unlisted.len() {
        write_sheets(&args.output, &rows)?;
    }
    ui.say(&format!("seed {}", args.seed));
    say_forgotten(verdicts, ui);
    finish(&args.output, &stimuli, n_made, &unlisted, ui)
}

/// One scene at all its steps.
fn drawn(scene: &[(Recipe, Step)]) -> Vec<Made> {
    let one = |(recipe, step): &(Recipe, Step)| {
        let picture = draw(recipe);
        let mut stimulus = built_in::stimulus(recipe, &picture);
        let series = recipe.id.rsplit_once('-').map_or("", |(series, _)| series);
        let more = [("step", step.number().to_string()), ("series", series.to_owned())];
        let known = stimulus.extra.iter().map(|(name, value)| (name, value.to_owned()));
        stimulus.extra = Extra::from_pairs(more.into_iter().chain(known));
        Made {
            stimulus,
            picture_png: picture.pixels.to_png(),
            mask_png: picture.mask.to_rgb().to_png(),
        }
    };
    scene.iter().map(one).collect()
}
