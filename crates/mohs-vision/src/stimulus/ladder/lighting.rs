//! Lighting: the whole photo in the dark, in glare, lit from a side, from behind, in fog or through
//! blinds, as in the built-in world.

use super::{Photo, Scene, Step};
use crate::world::dice::Dice;
use crate::world::lighting::Lighting;

pub(super) fn scene(photo: &Photo, step: Step, dice: &mut Dice) -> Scene {
    let mut canvas = photo.whole.clone();
    Lighting::new(step.narrow(), dice).apply(&mut canvas, &photo.cover);
    Scene { canvas, object: photo.cover.clone(), amount: step.strength() }
}
