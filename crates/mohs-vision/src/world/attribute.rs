//! The ten attributes a picture can vary in, and how much.
//!
//! The list is that of the hierarchical-learning test set (its appendix .9). A picture carries one
//! strength in `[0, 1]` per attribute: zero is a benign picture, one the hardest we draw.

use super::dice::Dice;
use std::fmt;

/// A way in which a picture can be made hard.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Attribute {
    /// Where the object is in the frame, up to being cut by a corner.
    Position,
    /// From where the object is seen, up to almost edge-on.
    Viewpoint,
    /// Blur, noise, low resolution and compression blocks.
    Quality,
    /// How the object is turned in the picture plane, up to upside down.
    Rotation,
    /// How much of the object is covered by other things.
    Occlusion,
    /// How small the object is.
    Size,
    /// Too dark, too bright, from one side, from behind, in fog.
    Lighting,
    /// Unusual colours, up to those of the background.
    Colour,
    /// Unusual surface, up to that of the background.
    Texture,
    /// From photo-like to cartoon, pixels, sketch, silhouette and dots.
    Style,
}

impl Attribute {
    /// All attributes, in the order of the paper.
    pub const ALL: [Self; 10] = [
        Self::Position,
        Self::Viewpoint,
        Self::Quality,
        Self::Rotation,
        Self::Occlusion,
        Self::Size,
        Self::Lighting,
        Self::Colour,
        Self::Texture,
        Self::Style,
    ];

    /// Returns the name: one lower-case word.
    pub fn name(self) -> &'static str {
        match self {
            Self::Position => "position",
            Self::Viewpoint => "viewpoint",
            Self::Quality => "quality",
            Self::Rotation => "rotation",
            Self::Occlusion => "occlusion",
            Self::Size => "size",
            Self::Lighting => "lighting",
            Self::Colour => "colour",
            Self::Texture => "texture",
            Self::Style => "style",
        }
    }

    /// Returns the attribute with this name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|attribute| attribute.name() == name)
    }
}

impl fmt::Display for Attribute {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// How far an attribute is varied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// Barely harder than a plain picture.
    Easy,
    /// Clearly harder.
    Medium,
    /// Still solvable by a careful person.
    Hard,
}

impl Level {
    /// All levels, easy first.
    pub const ALL: [Self; 3] = [Self::Easy, Self::Medium, Self::Hard];

    /// Returns the name: one lower-case word.
    pub fn name(self) -> &'static str {
        match self {
            Self::Easy => "easy",
            Self::Medium => "medium",
            Self::Hard => "hard",
        }
    }

    /// Returns the level with this name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|level| level.name() == name)
    }

    /// Returns the lowest and highest strength of this level; levels do not touch.
    pub fn strengths(self) -> (f64, f64) {
        match self {
            Self::Easy => (0.12, 0.28),
            Self::Medium => (0.46, 0.62),
            Self::Hard => (0.82, 1.0),
        }
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// One strength per attribute.
///
/// Invariant: every strength lies in `[0, 1]`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Strengths([f64; 10]);

impl Strengths {
    /// Returns strengths with one attribute varied.
    pub fn only(attribute: Attribute, strength: f64) -> Self {
        Self::default().with(attribute, strength)
    }

    /// Returns the same strengths but for one attribute; outside `[0, 1]` the strength is cut.
    pub fn with(mut self, attribute: Attribute, strength: f64) -> Self {
        self.0[attribute as usize] = strength.clamp(0.0, 1.0);
        self
    }

    /// Returns the strength of one attribute.
    pub fn of(&self, attribute: Attribute) -> f64 {
        self.0[attribute as usize]
    }

    /// Returns each attribute with its strength, in the order of the paper.
    pub fn each(&self) -> impl Iterator<Item = (Attribute, f64)> + '_ {
        Attribute::ALL.into_iter().zip(self.0)
    }

    /// Returns one number for all attributes: one minus the product of what each leaves.
    ///
    /// With a single varied attribute it is the strength of that attribute.
    pub fn together(&self) -> f64 {
        1.0 - self.0.iter().map(|strength| 1.0 - strength).product::<f64>()
    }

    /// Returns strengths for a free picture: two to four attributes, each at some strength.
    pub(crate) fn free(dice: &mut Dice) -> Self {
        let mut strengths = Self::default();
        for _ in 0..2 + dice.below(3) {
            let attribute = dice.pick(&Attribute::ALL);
            strengths = strengths.with(attribute, f64::from(dice.between(0.1, 0.6)));
        }
        strengths
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_varied_attribute_is_as_strong_as_the_whole() {
        let strengths = Strengths::only(Attribute::Size, 0.5);
        assert!((strengths.together() - 0.5).abs() < 1e-12);
    }

    #[test]
    fn names_are_found_again() {
        assert!(Attribute::ALL.iter().all(|a| Attribute::parse(a.name()) == Some(*a)));
        assert!(Level::ALL.iter().all(|level| Level::parse(level.name()) == Some(*level)));
        assert_eq!(Attribute::parse("taste"), None);
    }
}
