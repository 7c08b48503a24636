//! Occlusion: leaves, bars or a board stand before the object and hide a wanted share of it.
//!
//! They are those of the built-in world, fitted to the real pixels of the object.

use super::{Photo, Scene, Step};
use crate::world::dice::Dice;
use crate::world::relief::Light;
use crate::world::{occluder, scene as stage};

pub(super) fn scene(photo: &Photo, step: Step, dice: &mut Dice) -> Scene {
    let wanted = 0.05 + 0.75 * step.narrow();
    let parts = occluder::hide(&photo.cover, wanted, dice);
    let lift = 0.02 * photo.shorter_side();
    let light = Light::at(-2.0, 0.65, 0.5);
    let (canvas, hidden) = stage::covered(photo.whole.clone(), &parts, light, lift);
    let mut object = photo.cover.clone();
    for (seen, hidden) in object.values.iter_mut().zip(&hidden.values) {
        *seen *= 1.0 - hidden;
    }
    let total = |values: &[f32]| values.iter().map(|value| f64::from(*value)).sum::<f64>();
    let share = 1.0 - total(&object.values) / total(&photo.cover.values).max(1e-9);
    Scene { canvas, object, amount: share }
}
