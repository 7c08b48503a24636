//! Ladders: one picture made harder in one attribute, in nine steps from easy to hard.
//!
//! A photo and the mask of its object are taken apart once ([`Photo`]): the object with soft edges,
//! and the background with the place of the object filled from what surrounds it. Each attribute is
//! a file that puts them together again at a step. What cannot be done honestly with a picture is
//! not done: an object that the frame cuts off cannot be turned, because nobody knows its other
//! half. Texture and style are not made from photos at all; the built-in world has them.
//!
//! The mask goes along with every change, and each step says by how much it differs in numbers.

mod colour;
mod fill;
mod lighting;
mod occlusion;
mod photo;
mod position;
mod quality;
mod rotation;
mod size;
mod viewpoint;
mod warp;

use mohs_data::Mask;

use crate::pixels::Rgb8;
use crate::world::canvas::{Canvas, Field};
use crate::world::dice::{Aspect, Dice};
use crate::world::{Attribute, Class, Level, Recipe, Strengths, WorldPlan, recipes};

pub use photo::{Photo, PhotoError};

/// Changes whenever a step looks different, so that old pictures are made again.
pub const LADDER_VERSION: u32 = 8;

/// The attributes that photos can be changed in, in the order of the paper.
pub const PHOTO_ATTRIBUTES: [Attribute; 8] = [
    Attribute::Position,
    Attribute::Viewpoint,
    Attribute::Quality,
    Attribute::Rotation,
    Attribute::Occlusion,
    Attribute::Size,
    Attribute::Lighting,
    Attribute::Colour,
];

/// One of nine steps from easy to hard; three make a level.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Step(u8);

impl Step {
    /// How many steps there are.
    pub const N: usize = 9;

    /// All steps, the easiest first.
    pub fn all() -> impl Iterator<Item = Step> {
        (1..=9).map(Step)
    }

    /// Returns its number, from 1 to 9.
    pub fn number(self) -> u8 {
        self.0
    }

    /// Returns the level it belongs to.
    pub fn level(self) -> Level {
        Level::ALL[usize::from(self.0 - 1) / 3]
    }

    /// Returns how strongly the attribute is varied: the lowest, middle and highest strength of its
    /// level.
    pub fn strength(self) -> f64 {
        let (low, high) = self.level().strengths();
        low + (high - low) * f64::from((self.0 - 1) % 3) / 2.0
    }

    /// The strength as the drawing code wants it.
    #[expect(clippy::cast_possible_truncation, reason = "seven digits are enough for a strength")]
    fn narrow(self) -> f32 {
        self.strength() as f32
    }
}

/// A picture at one step.
#[derive(Debug, Clone)]
pub struct Rung {
    /// What is shown.
    pub pixels: Rgb8,
    /// Where the object is seen.
    pub mask: Mask,
    /// How far the attribute went, in the unit of [`fn@unit`].
    pub amount: f64,
}

/// An attribute that cannot be varied in a picture.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unfit {
    /// The frame cuts the object off.
    #[error("the frame cuts the object off, and what is outside is not known")]
    CutOff,
    /// The frame cuts the object off at the top.
    #[error("the frame cuts the object off at the top: smaller, it would hang there")]
    CutAbove,
    /// The object reaches from one side of the frame to the other.
    #[error("the object reaches from one side of the frame to the other")]
    NoRoom,
    /// The object is small already.
    #[error("the object is small already: {0} % of the frame")]
    Small(usize),
    /// The object would be too small to be told.
    #[error("at its smallest the object would be {0} × {1} pixels, too few to tell what it is")]
    Tiny(usize, usize),
    /// No colour can be changed so that it shows.
    #[error("no change of its colours would be seen")]
    NoColour,
    /// So much is missing behind the object that what it hid would be made up.
    #[error("taking the object away would leave {0} % of the frame to be made up")]
    MostlyHole(usize),
    /// The place of the object can be seen in the background.
    #[error(
        "the place where the object stood would be seen: a step across its outline {0} times the \
         usual"
    )]
    Seam(String),
    /// Photos are not changed in this attribute.
    #[error("photos are not changed in this attribute")]
    NotForPhotos,
    /// Two steps look the same.
    #[error("steps {0} and {1} would be the same picture: the object is too thin or too small")]
    SameSteps(u8, u8),
    /// Nothing of the object would be left to see.
    #[error("nothing of the object would be left to see")]
    Gone,
}

/// What the amount of a step counts.
pub fn unit(attribute: Attribute) -> &'static str {
    match attribute {
        Attribute::Position => "how far the object moved, as a share of the frame's shorter side",
        Attribute::Viewpoint => "degrees of tilt",
        Attribute::Rotation => "degrees",
        Attribute::Occlusion => "share of the object hidden",
        Attribute::Size => "longest side of the object as a share of the frame's shorter side",
        Attribute::Colour => "mean change of the object's colours, in Oklab",
        Attribute::Quality | Attribute::Lighting | Attribute::Texture | Attribute::Style => {
            "strength from 0 to 1"
        }
    }
}

/// The picture while it is put together.
struct Scene {
    canvas: Canvas,
    /// How much of each pixel the object takes, as far as it is seen.
    object: Field,
    amount: f64,
}

/// Whether the place that the object leaves is seen.
fn shows_background(attribute: Attribute) -> bool {
    matches!(
        attribute,
        Attribute::Position | Attribute::Viewpoint | Attribute::Rotation | Attribute::Size
    )
}

/// Returns a photo at one step of an attribute.
///
/// What is left to chance (which way it moves, what covers it, where the light is) is drawn from
/// the seed and the name, and is the same at all nine steps.
pub fn rung(
    photo: &Photo,
    attribute: Attribute,
    step: Step,
    seed: u64,
    name: &str,
) -> Result<Rung, Unfit> {
    // The stream is sixteen times this number.
    let stream = number_of(&format!("{name}\n{attribute}")) >> 4;
    let dice = || Dice::new(seed, stream, Aspect::Pose);
    if shows_background(attribute) {
        photo.check_background()?;
    }
    let scene = match attribute {
        Attribute::Position => position::scene(photo, step, &mut dice()),
        Attribute::Viewpoint => viewpoint::scene(photo, step, &mut dice()),
        Attribute::Quality => Ok(quality::scene(photo, step, &mut dice())),
        Attribute::Rotation => rotation::scene(photo, step, &mut dice()),
        Attribute::Occlusion => Ok(occlusion::scene(photo, step, &mut dice())),
        Attribute::Size => size::scene(photo, step),
        Attribute::Lighting => Ok(lighting::scene(photo, step, &mut dice())),
        Attribute::Colour => colour::scene(photo, step, &mut dice()),
        Attribute::Texture | Attribute::Style => Err(Unfit::NotForPhotos),
    }?;
    let (width, height) = photo.size();
    let pixels = photo::picture(&scene.canvas);
    let bits: Vec<bool> = scene.object.values.iter().map(|cover| 0.5 <= *cover).collect();
    if !bits.contains(&true) {
        return Err(Unfit::Gone);
    }
    let mask = Mask::from_bitmap(height, width, &bits);
    let mask = mask.expect("because a photo is no larger than a mask may be");
    Ok(Rung { pixels, mask, amount: scene.amount })
}

/// Returns a photo at all nine steps of an attribute; steps that come out as the same picture are
/// none.
pub fn rungs(
    photo: &Photo,
    attribute: Attribute,
    seed: u64,
    name: &str,
) -> Result<Vec<(Step, Rung)>, Unfit> {
    let mut rungs: Vec<(Step, Rung)> = Vec::with_capacity(Step::N);
    for step in Step::all() {
        let own = rung(photo, attribute, step, seed, name)?;
        if let Some((other, _)) = rungs.iter().find(|(_, other)| other.pixels == own.pixels) {
            return Err(Unfit::SameSteps(other.number(), step.number()));
        }
        rungs.push((step, own));
    }
    Ok(rungs)
}

/// Returns the recipes of a ladder in the built-in world: for each class and attribute so many
/// scenes, each drawn at all nine steps with nothing else changed.
///
/// A scene depends on the seed, its class, its attribute and its number, whatever else is in the
/// plan. Small things lie where the object is at no step, so that they stay. Recipes come in the order of classes, attributes, scenes and steps.
pub fn world_recipes(plan: &WorldPlan, n_scenes: usize) -> Vec<(Recipe, Step)> {
    let mut ladder = Vec::new();
    for class in &plan.classes {
        for attribute in &plan.attributes {
            for scene in 1..=n_scenes {
                let series = format!("{class}-{attribute}-{scene:02}");
                let strengths = |step: Step| Strengths::only(*attribute, step.strength());
                let base = Recipe {
                    clear_at: Step::all().map(strengths).collect(),
                    ..scene_recipe(plan, *class, *attribute, &series)
                };
                ladder.extend(Step::all().map(|step| {
                    let recipe = Recipe {
                        id: format!("{series}-{}", step.number()),
                        level: Some(step.level()),
                        strengths: strengths(step),
                        ..base.clone()
                    };
                    (recipe, step)
                }));
            }
        }
    }
    ladder
}

/// The recipe of one scene, whatever its step.
fn scene_recipe(plan: &WorldPlan, class: Class, attribute: Attribute, series: &str) -> Recipe {
    let own = WorldPlan {
        seed: number_of(&format!("{}\n{series}", plan.seed)),
        n_pictures: 1,
        classes: vec![class],
        attributes: vec![attribute],
        ..plan.clone()
    };
    let mut recipes = recipes(&own);
    recipes.pop().expect("because the plan has one picture, one class and one attribute")
}

/// A number for a name, so that what is left to chance follows from the name.
fn number_of(name: &str) -> u64 {
    let mut word = [0; 8];
    word.copy_from_slice(&blake3::hash(name.as_bytes()).as_bytes()[..8]);
    u64::from_le_bytes(word)
}

#[cfg(test)]
mod tests;
