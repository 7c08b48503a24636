//! Pictures inside the report: small encoded thumbnails by stimulus, and attacked pictures.
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

/// A picture before and after an attack, and what the attack changed.
#[derive(Debug, Clone, PartialEq)]
pub struct AttackedPicture {
    /// The model.
    pub model: String,
    /// The stimulus.
    pub stimulus: StimulusId,
    /// The attack.
    pub attack: String,
    /// How the size of the change is measured, e.g. `linf`.
    pub norm: String,
    /// The size of the change.
    pub epsilon: f64,
    /// The right answer.
    pub label: String,
    /// What the model says before the attack.
    pub clean: String,
    /// What it says after it.
    pub answer: String,
    /// The band of the stimulus, where there is one.
    pub band: Option<String>,
    /// How many times the change is magnified to be seen; 0 when nothing is left of it in eight
    /// bits.
    pub factor: f64,
    /// The picture before the attack.
    pub before: Thumbnail,
    /// The change, magnified, grey where nothing changed.
    pub change: Thumbnail,
    /// The picture after the attack.
    pub after: Thumbnail,
}

/// Thumbnails by stimulus; a stimulus without one is shown by name. Beside them pictures that were
/// attacked, in the order they are shown.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Pictures {
    by_stimulus: BTreeMap<StimulusId, Thumbnail>,
    attacked: Vec<AttackedPicture>,
}

impl Pictures {
    /// Returns no pictures.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds the picture of a stimulus, in place of an earlier one.
    pub fn insert(&mut self, stimulus: StimulusId, thumbnail: Thumbnail) {
        self.by_stimulus.insert(stimulus, thumbnail);
    }

    /// Adds a picture that was attacked.
    pub fn push_attacked(&mut self, picture: AttackedPicture) {
        self.attacked.push(picture);
    }

    /// Returns the pictures that were attacked.
    pub fn attacked(&self) -> &[AttackedPicture] {
        &self.attacked
    }

    /// Returns the picture of a stimulus, where there is one.
    pub fn of(&self, stimulus: &StimulusId) -> Option<&Thumbnail> {
        self.by_stimulus.get(stimulus)
    }

    /// Returns how many stimuli have one.
    pub fn len(&self) -> usize {
        self.by_stimulus.len()
    }

    /// Returns whether there is none.
    pub fn is_empty(&self) -> bool {
        self.by_stimulus.is_empty() && self.attacked.is_empty()
    }
}

impl FromIterator<(StimulusId, Thumbnail)> for Pictures {
    fn from_iter<T: IntoIterator<Item = (StimulusId, Thumbnail)>>(pictures: T) -> Self {
        Self { by_stimulus: pictures.into_iter().collect(), attacked: Vec::new() }
    }
}
