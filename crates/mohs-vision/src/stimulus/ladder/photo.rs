//! A photo taken apart: the object, and the background without it.

use mohs_data::Mask;

use super::{Unfit, fill};
use crate::pixels::{Rgb8, thumbnail};
use crate::world::canvas::{Canvas, Field, byte, smooth_step};
use crate::world::colour::{Colour, rgb};

/// A photo that no ladder can be made of.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PhotoError {
    /// Photo and mask are of different sizes.
    #[error(
        "the mask should be as large as its picture, {} × {} pixels, found {} × {}",
        picture.0, picture.1, mask.0, mask.1
    )]
    OtherSize {
        /// Size of the picture.
        picture: (u32, u32),
        /// Size of the mask.
        mask: (u32, u32),
    },
    /// The object is hardly there.
    #[error("the object should take at least {LEAST} pixels after shrinking, found {0}")]
    TooSmall(usize),
    /// There is hardly anything but the object.
    #[error("the object takes {0} % of the picture; there is no background to fill its place with")]
    TooLarge(usize),
}

/// Fewer pixels are no object.
const LEAST: usize = 64;
/// With less background there is nothing to fill holes with.
const MOST_PERCENT: usize = 85;
/// Where more of the frame has to be filled, what is shown is mostly made up.
const MOST_HOLE: f64 = 0.55;
/// Where the step across the outline is larger, the outline is seen.
const MOST_SEAM: f64 = 2.5;

/// A photo taken apart, ready to be put together at any step.
pub struct Photo {
    /// As it was, shrunk.
    pub(super) whole: Canvas,
    /// The background, with the place of the object filled.
    pub(super) plate: Canvas,
    /// How much of each pixel the object takes.
    pub(super) cover: Field,
    pub(super) bounds: Bounds,
    /// What was filled: the object and a rim around it.
    hole: Vec<bool>,
    seam: f64,
}

/// The box around the object, in pixels; right and bottom are just outside.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Bounds {
    pub(super) left: f32,
    pub(super) top: f32,
    pub(super) right: f32,
    pub(super) bottom: f32,
    /// Whether the object touches the frame at the left, top, right and bottom.
    pub(super) touches: [bool; 4],
}

impl Bounds {
    pub(super) fn centre(&self) -> (f32, f32) {
        ((self.left + self.right) * 0.5, (self.top + self.bottom) * 0.5)
    }

    pub(super) fn longest(&self) -> f32 {
        (self.right - self.left).max(self.bottom - self.top)
    }

    pub(super) fn is_cut_off(&self) -> bool {
        self.touches.contains(&true)
    }
}

impl Photo {
    /// Takes a photo apart; it is shrunk so that no side is longer than `max_side`.
    pub fn take_apart(picture: &Rgb8, mask: &Mask, max_side: u32) -> Result<Photo, PhotoError> {
        let picture_size = (picture.width(), picture.height());
        let mask_size = (mask.width(), mask.height());
        if picture_size != mask_size {
            return Err(PhotoError::OtherSize { picture: picture_size, mask: mask_size });
        }
        let whole = canvas(&thumbnail(picture, max_side));
        let grey: Vec<u8> = mask
            .to_bitmap()
            .into_iter()
            .flat_map(|is_object| [if is_object { 255 } else { 0 }; 3])
            .collect();
        let grey = Rgb8::new(mask.width(), mask.height(), grey)
            .expect("because a mask has one bit for each of its pixels");
        let sharp = canvas(&thumbnail(&grey, max_side));
        let sharp = Field {
            width: whole.width,
            height: whole.height,
            values: sharp.pixels.iter().map(|pixel| pixel[0]).collect(),
        };
        let n_object = sharp.values.iter().filter(|cover| 0.5 <= **cover).count();
        if n_object < LEAST {
            return Err(PhotoError::TooSmall(n_object));
        }
        let percent = n_object * 100 / sharp.values.len();
        if MOST_PERCENT < percent {
            return Err(PhotoError::TooLarge(percent));
        }
        let bounds = bounds(&sharp);
        // The rim of an outline holds some background: it is taken back a little, softly.
        let mut cover = sharp.clone();
        cover.blur(1.0);
        for (soft, sharp) in cover.values.iter_mut().zip(&sharp.values) {
            *soft = smooth_step(0.3, 0.9, *soft).min(if *sharp <= 0.0 { 0.0 } else { 1.0 });
        }
        let hole = hole(&sharp);
        let plate = fill::filled(&whole, &hole);
        let seam = f64::from(fill::seam(&plate, &hole));
        Ok(Photo { whole, plate, cover, bounds, hole, seam })
    }

    /// Returns width and height of every picture made of it.
    pub fn size(&self) -> (u32, u32) {
        size_of(&self.whole)
    }

    /// Returns the background with the place of the object filled.
    pub fn background(&self) -> Rgb8 {
        picture(&self.plate)
    }

    /// Returns the share of the frame that was filled: the object and a rim around it.
    pub fn share_of_hole(&self) -> f64 {
        let n_filled = self.hole.iter().filter(|is_hole| **is_hole).count();
        n_filled as f64 / self.hole.len() as f64
    }

    /// Returns how far the place of the object can be seen in the background: the step across its
    /// outline divided by the steps that are usual just outside; about 1 is invisible.
    pub fn seam(&self) -> f64 {
        self.seam
    }

    /// Whether the background can be shown without the object before it.
    pub(super) fn check_background(&self) -> Result<(), Unfit> {
        if MOST_HOLE < self.share_of_hole() {
            let n_filled = self.hole.iter().filter(|is_hole| **is_hole).count();
            return Err(Unfit::MostlyHole(n_filled * 100 / self.hole.len()));
        }
        if MOST_SEAM < self.seam {
            return Err(Unfit::Seam(format!("{:.1}", self.seam)));
        }
        Ok(())
    }

    /// Returns the photo as it was, shrunk.
    pub fn original(&self) -> Rgb8 {
        picture(&self.whole)
    }

    pub(super) fn shorter_side(&self) -> f32 {
        self.whole.width.min(self.whole.height) as f32
    }

    /// Lays an object, its colours multiplied by its cover, over the background.
    pub(super) fn over_background(&self, object: &Canvas, cover: &Field) -> Canvas {
        let mut canvas = self.plate.clone();
        for ((below, above), cover) in
            canvas.pixels.iter_mut().zip(&object.pixels).zip(&cover.values)
        {
            *below = [0, 1, 2].map(|i| below[i] * (1.0 - cover) + above[i]);
        }
        canvas
    }
}

impl std::fmt::Debug for Photo {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (width, height) = self.size();
        write!(f, "Photo({width} × {height}, {:?})", self.bounds)
    }
}

/// Returns a canvas as a picture.
pub(super) fn picture(canvas: &Canvas) -> Rgb8 {
    let bytes = canvas.pixels.iter().flat_map(|pixel| pixel.map(byte)).collect();
    let (width, height) = size_of(canvas);
    Rgb8::new(width, height, bytes).expect("because a canvas has three numbers for each pixel")
}

fn size_of(canvas: &Canvas) -> (u32, u32) {
    let side = |side: usize| u32::try_from(side).expect("because a picture was this large");
    (side(canvas.width), side(canvas.height))
}

fn canvas(picture: &Rgb8) -> Canvas {
    let pixels: Vec<Colour> =
        picture.bytes().chunks_exact(3).map(|pixel| rgb(pixel[0], pixel[1], pixel[2])).collect();
    Canvas { width: picture.width() as usize, height: picture.height() as usize, pixels }
}

fn bounds(cover: &Field) -> Bounds {
    let (width, height) = (cover.width, cover.height);
    let is_object = |x: usize, y: usize| 0.5 <= cover.values[y * width + x];
    let columns: Vec<bool> = (0..width).map(|x| (0..height).any(|y| is_object(x, y))).collect();
    let rows: Vec<bool> = (0..height).map(|y| (0..width).any(|x| is_object(x, y))).collect();
    let first = |line: &[bool]| line.iter().position(|is_set| *is_set).unwrap_or(0);
    let last = |line: &[bool]| line.iter().rposition(|is_set| *is_set).map_or(0, |at| at + 1);
    let (left, right, top, bottom) = (first(&columns), last(&columns), first(&rows), last(&rows));
    // An outline that ends a hair before the frame is cut off as well.
    let near = (width.max(height) / 200).max(1);
    Bounds {
        left: left as f32,
        top: top as f32,
        right: right as f32,
        bottom: bottom as f32,
        touches: [left <= near, top <= near, width <= right + near, height <= bottom + near],
    }
}

/// The object and a rim around it, where its shadow and its colours still are.
fn hole(cover: &Field) -> Vec<bool> {
    let rim = (cover.width.max(cover.height) as f32 * 0.012).max(2.0);
    let mut wide = cover.clone();
    wide.blur(rim);
    wide.values.iter().zip(&cover.values).map(|(wide, own)| 0.02 < *wide || 0.0 < *own).collect()
}
