//! The built-in world: a procedural set of pictures that every study can use without a download.
//!
//! Sixteen things a person names at a glance, on sixteen textured backgrounds, varied in ten
//! attributes at three levels. The background is a spurious cue that holds at a settable rate. Each
//! picture comes with the truth about it: mask, box, share hidden, strength of every attribute.
//!
//! The same plan gives the same bytes on one machine, whatever the number of threads.
//!
//! ```
//! use mohs_vision::world::{WorldPlan, draw, recipes};
//!
//! let plan = WorldPlan { cue_rate: 1.0, ..WorldPlan::new(7, 64, 3) };
//! let picture = draw(&recipes(&plan)[0]);
//! assert_eq!(picture.pixels.width(), 64);
//! ```
//!
//! Start reading at `recipe` (what is shown) and `scene` (how it is put together).

mod attribute;
mod background;
mod camera;
pub(crate) mod canvas;
mod class;
mod clutter;
pub(crate) mod colour;
pub(crate) mod dice;
mod letters;
pub(crate) mod lighting;
mod noise;
pub(crate) mod occluder;
mod pen;
mod picture;
pub(crate) mod quality;
mod recipe;
pub(crate) mod relief;
pub(crate) mod scene;
mod shapes;
mod sheet;
mod skin;
mod style;

pub use attribute::{Attribute, Level, Strengths};
pub use background::Background;
pub use class::Class;
pub use picture::{BoundingBox, LARGEST_SIDE, Mask, Picture, SMALLEST_SIDE};
pub use recipe::{Recipe, Variation, WorldPlan, recipes};
pub use scene::draw;
pub use sheet::{NamedRow, contact_sheet, named_sheet};

use rayon::prelude::*;

/// Returns the pictures of several recipes, in their order, drawn on all threads of the pool.
pub fn draw_all(recipes: &[Recipe]) -> Vec<Picture> {
    recipes.par_iter().map(draw).collect()
}
