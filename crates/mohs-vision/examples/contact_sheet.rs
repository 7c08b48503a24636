//! Writes contact sheets of the built-in world, to look at.
//!
//! `cargo run -p mohs-vision --example contact_sheet -- FOLDER [SIDE]`

use mohs_vision::pixels::Rgb8;
use mohs_vision::world::{
    Attribute, Class, Level, Recipe, Strengths, Variation, WorldPlan, contact_sheet, draw_all,
    recipes,
};
use std::error::Error;
use std::path::{Path, PathBuf};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let folder = PathBuf::from(arguments.next().unwrap_or_else(|| "contact-sheets".into()));
    let side = arguments.next().map_or(Ok(128), |side| side.parse())?;
    std::fs::create_dir_all(&folder)?;

    let plain =
        WorldPlan { variation: Variation::Plain, cue_rate: 1.0, ..WorldPlan::new(20, side, 64) };
    write(&folder, "plain-typical.png", &recipes(&plain), 8)?;
    let plain = WorldPlan { cue_rate: 0.0, seed: 21, ..plain };
    write(&folder, "plain-untypical.png", &recipes(&plain), 8)?;
    let free = WorldPlan { variation: Variation::Free, ..WorldPlan::new(22, side, 64) };
    write(&folder, "free.png", &recipes(&free), 8)?;
    for attribute in Attribute::ALL {
        write(&folder, &format!("{attribute}.png"), &levels_of(attribute, side), 9)?;
    }
    Ok(())
}

/// Returns rows of three classes, each easy, medium and hard.
fn levels_of(attribute: Attribute, side: u32) -> Vec<Recipe> {
    let mut chosen = Vec::new();
    let one_each = WorldPlan { variation: Variation::Plain, ..WorldPlan::new(30, side, 18) };
    for (i, plain) in recipes(&one_each).into_iter().enumerate() {
        for level in Level::ALL {
            let (low, high) = level.strengths();
            chosen.push(Recipe {
                class: Class::ALL[(i * 5 + attribute as usize) % 16],
                picture_idx: plain.picture_idx + 100 * attribute as u64,
                strengths: Strengths::only(attribute, (low + high) / 2.0),
                ..plain.clone()
            });
        }
    }
    chosen
}

fn write(
    folder: &Path,
    name: &str,
    recipes: &[Recipe],
    n_columns: usize,
) -> Result<(), Box<dyn Error>> {
    let pictures: Vec<Rgb8> = draw_all(recipes).into_iter().map(|picture| picture.pixels).collect();
    std::fs::write(folder.join(name), contact_sheet(&pictures, n_columns).to_png())?;
    Ok(())
}
