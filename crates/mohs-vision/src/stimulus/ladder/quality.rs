//! Quality: blur, few pixels, noise or compression over the whole photo, as in the built-in world.

use super::{Photo, Scene, Step};
use crate::world::dice::Dice;
use crate::world::quality;

pub(super) fn scene(photo: &Photo, step: Step, dice: &mut Dice) -> Scene {
    let mut canvas = photo.whole.clone();
    quality::spoil(&mut canvas, step.narrow(), dice);
    Scene { canvas, object: photo.cover.clone(), amount: step.strength() }
}
