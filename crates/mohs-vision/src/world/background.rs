//! Textured backgrounds: what the object lies on or stands before.
//!
//! A background is a colour and a height at every point; the light of the scene falls on the height,
//! so bricks, stones and waves catch it the same way the object does.

mod built;
mod ground;
mod open;

use super::canvas::{Canvas, Field};
use super::colour::{Colour, scale};
use super::dice::Dice;
use super::relief::{Light, normalise};
use std::fmt;

/// A kind of background.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(missing_docs, reason = "each variant is the surface it says")]
pub enum Background {
    Asphalt,
    Brick,
    Cobbles,
    CuttingMat,
    Fabric,
    Grass,
    Gravel,
    Leaves,
    Marble,
    Pool,
    Sand,
    Sea,
    Sky,
    Tiles,
    Wallpaper,
    Wood,
}

impl Background {
    /// All backgrounds, in the order of their names.
    pub const ALL: [Self; 16] = [
        Self::Asphalt,
        Self::Brick,
        Self::Cobbles,
        Self::CuttingMat,
        Self::Fabric,
        Self::Grass,
        Self::Gravel,
        Self::Leaves,
        Self::Marble,
        Self::Pool,
        Self::Sand,
        Self::Sea,
        Self::Sky,
        Self::Tiles,
        Self::Wallpaper,
        Self::Wood,
    ];

    /// Returns the name: lower case, words joined by a hyphen.
    pub fn name(self) -> &'static str {
        match self {
            Self::Asphalt => "asphalt",
            Self::Brick => "brick",
            Self::Cobbles => "cobbles",
            Self::CuttingMat => "cutting-mat",
            Self::Fabric => "fabric",
            Self::Grass => "grass",
            Self::Gravel => "gravel",
            Self::Leaves => "leaves",
            Self::Marble => "marble",
            Self::Pool => "pool",
            Self::Sand => "sand",
            Self::Sea => "sea",
            Self::Sky => "sky",
            Self::Tiles => "tiles",
            Self::Wallpaper => "wallpaper",
            Self::Wood => "wood",
        }
    }

    /// Returns the background with this name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|background| background.name() == name)
    }

    /// Returns whether an object before this background throws no shadow on it.
    pub(crate) fn is_far(self) -> bool {
        self == Self::Sky
    }
}

impl fmt::Display for Background {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Returns a background, lit, on a square canvas.
pub(crate) fn paint(background: Background, side: usize, dice: &mut Dice, light: &Light) -> Canvas {
    let texture = match background {
        Background::Asphalt => ground::asphalt(side, dice),
        Background::Brick => built::brick(side, dice),
        Background::Cobbles => ground::cobbles(side, dice),
        Background::CuttingMat => built::cutting_mat(side, dice),
        Background::Fabric => built::fabric(side, dice),
        Background::Grass => ground::grass(side, dice),
        Background::Gravel => ground::gravel(side, dice),
        Background::Leaves => ground::leaves(side, dice),
        Background::Marble => built::marble(side, dice),
        Background::Pool => open::pool(side, dice),
        Background::Sand => ground::sand(side, dice),
        Background::Sea => open::sea(side, dice),
        Background::Sky => open::sky(side, dice),
        Background::Tiles => built::tiles(side, dice),
        Background::Wallpaper => built::wallpaper(side, dice),
        Background::Wood => built::wood(side, dice),
    };
    texture.lit(light)
}

/// Colour and height (in sides of the frame) at every pixel.
struct Texture {
    colour: Canvas,
    height: Field,
}

impl Texture {
    /// Returns a texture computed from coordinates in `[0, 1]`.
    fn from_fn(side: usize, f: impl Fn(f32, f32) -> (Colour, f32)) -> Self {
        let mut colour = Canvas::filled(side, side, [0.0; 3]);
        let mut height = Field::filled(side, side, 0.0);
        let unit = 1.0 / side as f32;
        for y in 0..side {
            for x in 0..side {
                let (c, h) = f((x as f32 + 0.5) * unit, (y as f32 + 0.5) * unit);
                colour.pixels[y * side + x] = c;
                height.values[y * side + x] = h;
            }
        }
        Self { colour, height }
    }

    fn lit(self, light: &Light) -> Canvas {
        let Self { mut colour, height } = self;
        let side = colour.width;
        let steep = side as f32 * 0.5;
        for y in 0..side {
            for x in 0..side {
                let (sx, sy) = (x.cast_signed(), y.cast_signed());
                let dx = (height.at(sx + 1, sy) - height.at(sx - 1, sy)) * steep;
                let dy = (height.at(sx, sy + 1) - height.at(sx, sy - 1)) * steep;
                let shade = light.shade(normalise([-dx, -dy, 1.0]));
                let pixel = &mut colour.pixels[y * side + x];
                *pixel = scale(*pixel, shade);
            }
        }
        colour
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_again() {
        assert!(Background::ALL.iter().all(|b| Background::parse(b.name()) == Some(*b)));
    }
}
