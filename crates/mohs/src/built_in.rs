//! The built-in world on disk: pictures, masks and their table.

use std::path::Path;

use mohs_data::format::{atomic, write_all};
use mohs_data::{BoundingBox, Extra, Label, Stimulus, StimulusId};
use mohs_vision::world::{Picture, Recipe, WorldPlan, draw, recipes};
use rayon::prelude::*;

use crate::error::CliError;
use crate::folder;
use crate::ui::Ui;

/// Name of the data set in tables and reports.
const DATASET: &str = "built-in world";

/// Draws a world into a folder: `stimuli/`, `masks/` and `stimuli.csv`.
pub(crate) fn draw_into(
    plan: &WorldPlan,
    output: &Path,
    ui: &Ui,
) -> Result<(Vec<Recipe>, Vec<Stimulus>), CliError> {
    let recipes = recipes(plan);
    folder::make(&output.join("stimuli"))?;
    folder::make(&output.join("masks"))?;
    let bar = ui.progress(recipes.len(), "drawing pictures");
    let stimuli = recipes
        .par_iter()
        .map(|recipe| {
            let picture = draw(recipe);
            let stimulus = stimulus(recipe, &picture);
            atomic::write_file(&output.join(&stimulus.file), &picture.pixels.to_png())?;
            if let Some(mask) = &stimulus.mask {
                atomic::write_file(&output.join(mask), &picture.mask.to_rgb().to_png())?;
            }
            bar.inc(1);
            Ok(stimulus)
        })
        .collect::<Result<Vec<_>, CliError>>()?;
    bar.finish_and_clear();
    write_all(&output.join("stimuli.csv"), &stimuli)?;
    Ok((recipes, stimuli))
}

/// The row of a picture: what it shows, where it lies, and the truth about it.
pub(crate) fn stimulus(recipe: &Recipe, picture: &Picture) -> Stimulus {
    let id = &recipe.id;
    let bounds = &picture.bounding_box;
    let share = |share: f64| format!("{share:.4}");
    Stimulus {
        id: StimulusId::new(id),
        file: format!("stimuli/{id}.png").into(),
        label: Label::new(recipe.class.name()),
        dataset: Some(DATASET.into()),
        boxes: vec![BoundingBox {
            x: f64::from(bounds.left),
            y: f64::from(bounds.top),
            width: f64::from(bounds.width),
            height: f64::from(bounds.height),
        }],
        mask: Some(format!("masks/{id}.png").into()),
        attribute: recipe.attribute.map(|attribute| attribute.name().to_owned()),
        level: recipe.level.map(|level| level.name().to_owned()),
        extra: Extra::from_pairs([
            ("background", recipe.background.name().to_owned()),
            ("is_typical_background", u8::from(recipe.is_typical()).to_string()),
            ("strength", share(recipe.strength())),
            ("share_occluded", share(picture.share_occluded)),
            ("share_of_frame", share(picture.share_of_frame)),
        ]),
    }
}
