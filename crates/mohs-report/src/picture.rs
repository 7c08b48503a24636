//! Pictures inside the report: small encoded thumbnails by stimulus.
//!
//! Nothing is decoded here. The caller makes the thumbnails, of the stimuli that
//! `stimuli_for_gallery` asks for, and this module only turns them into `data:` addresses.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use mohs_data::StimulusId;

/// A small encoded picture.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Thumbnail {
    /// Kind of encoding, e.g. `image/jpeg`.
    pub mime: &'static str,
    /// The encoded file.
    pub bytes: Vec<u8>,
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
}

impl Thumbnail {
    /// Returns the picture as a `data:` address.
    pub(crate) fn data_uri(&self) -> String {
        format!("data:{};base64,{}", self.mime, STANDARD.encode(&self.bytes))
    }
}

/// Thumbnails by stimulus; a stimulus without one is shown by name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Pictures(BTreeMap<StimulusId, Thumbnail>);

impl Pictures {
    /// Returns no pictures.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds the picture of a stimulus, in place of an earlier one.
    pub fn insert(&mut self, stimulus: StimulusId, thumbnail: Thumbnail) {
        self.0.insert(stimulus, thumbnail);
    }

    /// Returns the picture of a stimulus, where there is one.
    pub fn of(&self, stimulus: &StimulusId) -> Option<&Thumbnail> {
        self.0.get(stimulus)
    }

    /// Returns how many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl FromIterator<(StimulusId, Thumbnail)> for Pictures {
    fn from_iter<T: IntoIterator<Item = (StimulusId, Thumbnail)>>(pictures: T) -> Self {
        Self(pictures.into_iter().collect())
    }
}
