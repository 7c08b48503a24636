//! The sixteen things of the world, each a function from dice to parts.
//!
//! Every shape varies in proportion, detail and colour. Drawings use about a hundred units, y down;
//! the scene scales them, so only proportions matter here.

mod animals;
mod household;
mod leisure;
mod outdoors;
mod tools;
mod vehicles;

use super::class::Class;
use super::dice::Dice;
use super::pen::{Part, Pen};

/// Returns the parts of one thing, back to front. `shape` decides its form, `coat` its colours.
pub(crate) fn parts_of(class: Class, shape: &mut Dice, coat: &mut Dice) -> Vec<Part> {
    let mut pen = Pen::default();
    let draw = match class {
        Class::Bicycle => vehicles::bicycle,
        Class::Bird => animals::bird,
        Class::Boat => vehicles::boat,
        Class::Car => vehicles::car,
        Class::Chair => household::chair,
        Class::Clock => household::clock,
        Class::Fish => animals::fish,
        Class::Guitar => leisure::guitar,
        Class::House => outdoors::house,
        Class::Key => tools::key,
        Class::Lamp => household::lamp,
        Class::Mug => household::mug,
        Class::Scissors => tools::scissors,
        Class::Shoe => leisure::shoe,
        Class::Tree => outdoors::tree,
        Class::Umbrella => tools::umbrella,
    };
    draw(&mut pen, shape, coat);
    pen.parts
}
