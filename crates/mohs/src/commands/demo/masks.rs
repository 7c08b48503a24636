//! The demo's object masks: simulated people outline the object in some pictures, some with a
//! steadier hand than others.

use mohs_data::{Annotation, Mask, Seed, Stimulus};
use mohs_score::human::object_masks::{self, Input, ObjectMasks, Options};
use mohs_score::simulate::masks::{self, Hand};
use mohs_vision::world::{Recipe, draw};
use rayon::prelude::*;
use serde_json::Value;

use super::score::{SIMULATED, SOURCE};
use crate::error::CliError;

/// Pictures that are outlined.
const N_STIMULI: usize = 48;
/// People who outline each.
const N_PARTICIPANTS: usize = 5;
/// The last ones, whose hand shakes.
const N_SHAKY: usize = 2;

/// Returns the drawings, and the outlines as they are.
pub(super) fn annotations(
    recipes: &[Recipe],
    stimuli: &[Stimulus],
    seed: Seed,
) -> (Vec<Annotation>, Vec<Annotation>) {
    let step = recipes.len().div_ceil(N_STIMULI).max(1);
    let chosen: Vec<(&Recipe, &Stimulus)> = recipes.iter().zip(stimuli).step_by(step).collect();
    let (drawings, truths): (Vec<Vec<Annotation>>, Vec<Annotation>) = chosen
        .par_iter()
        .map(|(recipe, stimulus)| {
            let picture = draw(recipe);
            let bits = picture.mask.bits();
            let mask = Mask::from_bitmap(picture.mask.height(), picture.mask.width(), bits)
                .expect("because a picture's mask has a bit for each of its pixels");
            let truth = Annotation {
                stimulus: stimulus.id.clone(),
                participant: None,
                label: stimulus.label.clone(),
                mask,
                extra: [(SOURCE.to_owned(), Value::from(SIMULATED))].into_iter().collect(),
            };
            (drawings(&truth, seed), truth)
        })
        .unzip();
    (drawings.concat(), truths)
}

fn drawings(truth: &Annotation, seed: Seed) -> Vec<Annotation> {
    let side = f64::from(truth.mask.width());
    let hand = |unsteadiness: f64, careless_share| Hand {
        shift_px: 0.006 * unsteadiness * side,
        growth_px: 0.006 * unsteadiness * side,
        wave_px: 0.008 * unsteadiness * side,
        careless_share,
    };
    let drawn_by = |hand: &Hand| {
        masks::annotations(&truth.stimulus, &truth.label, &truth.mask, N_PARTICIPANTS, hand, seed)
    };
    let steady = drawn_by(&hand(1.0, 0.0));
    let shaky = drawn_by(&hand(2.5, 0.06));
    let n_steady = N_PARTICIPANTS - N_SHAKY;
    let mut drawings: Vec<Annotation> =
        steady.into_iter().take(n_steady).chain(shaky.into_iter().skip(n_steady)).collect();
    for drawing in &mut drawings {
        drawing.extra.insert(SOURCE.to_owned(), Value::from(SIMULATED));
    }
    drawings
}

pub(super) fn score(
    annotations: &[Annotation],
    references: &[Annotation],
    seed: Seed,
) -> Result<ObjectMasks, CliError> {
    let options = Options::default();
    let input = Input { annotations, references, options: &options, seed };
    let scored = object_masks::score(&input)
        .map_err(|error| CliError::input(error.to_string()).hint(error.hint()))?;
    Ok(scored.findings)
}
