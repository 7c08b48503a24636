//! The sixteen classes of the world and the background each is usually found on.

use super::background::Background;
use std::fmt;

/// A kind of thing a person can name at a glance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(missing_docs, reason = "each variant is the thing it says")]
pub enum Class {
    Bicycle,
    Bird,
    Boat,
    Car,
    Chair,
    Clock,
    Fish,
    Guitar,
    House,
    Key,
    Lamp,
    Mug,
    Scissors,
    Shoe,
    Tree,
    Umbrella,
}

impl Class {
    /// All classes, in the order of their names.
    pub const ALL: [Self; 16] = [
        Self::Bicycle,
        Self::Bird,
        Self::Boat,
        Self::Car,
        Self::Chair,
        Self::Clock,
        Self::Fish,
        Self::Guitar,
        Self::House,
        Self::Key,
        Self::Lamp,
        Self::Mug,
        Self::Scissors,
        Self::Shoe,
        Self::Tree,
        Self::Umbrella,
    ];

    /// Returns the name: one lower-case word.
    pub fn name(self) -> &'static str {
        match self {
            Self::Bicycle => "bicycle",
            Self::Bird => "bird",
            Self::Boat => "boat",
            Self::Car => "car",
            Self::Chair => "chair",
            Self::Clock => "clock",
            Self::Fish => "fish",
            Self::Guitar => "guitar",
            Self::House => "house",
            Self::Key => "key",
            Self::Lamp => "lamp",
            Self::Mug => "mug",
            Self::Scissors => "scissors",
            Self::Shoe => "shoe",
            Self::Tree => "tree",
            Self::Umbrella => "umbrella",
        }
    }

    /// Returns the class with this name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|class| class.name() == name)
    }

    /// Returns the background this class is usually found on: the spurious cue.
    ///
    /// No two classes share one, so the background alone names the class when the cue always holds.
    pub fn typical_background(self) -> Background {
        match self {
            Self::Bicycle => Background::Gravel,
            Self::Bird => Background::Sky,
            Self::Boat => Background::Sea,
            Self::Car => Background::Asphalt,
            Self::Chair => Background::Tiles,
            Self::Clock => Background::Brick,
            Self::Fish => Background::Pool,
            Self::Guitar => Background::Fabric,
            Self::House => Background::Grass,
            Self::Key => Background::Marble,
            Self::Lamp => Background::Wallpaper,
            Self::Mug => Background::Wood,
            Self::Scissors => Background::CuttingMat,
            Self::Shoe => Background::Sand,
            Self::Tree => Background::Leaves,
            Self::Umbrella => Background::Cobbles,
        }
    }
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(self.name())
    }
}
