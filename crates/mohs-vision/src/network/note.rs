//! What `mohs fit` writes into the model itself: its classes, and the mean and spread of its
//! pictures. With it, a file needs nothing beside it.
//!
//! Files of other programs have no such note, and a note that is damaged is none.

use std::collections::BTreeMap;

use serde::de::DeserializeOwned;

const CLASSES: &str = "mohs.classes";
const MEAN: &str = "mohs.mean";
const SD: &str = "mohs.sd";

/// What a trained model says about itself.
#[derive(Clone, PartialEq, Debug)]
pub struct Note {
    /// Its classes in the order of its outputs.
    pub classes: Vec<String>,
    /// What is taken away from each channel, red, green, blue, with white as 1.
    pub mean: [f32; 3],
    /// What each channel is then divided by.
    pub sd: [f32; 3],
}

impl Note {
    /// Reads the note among the facts of a file.
    pub fn read(metadata: &BTreeMap<String, String>) -> Option<Note> {
        fn fact<T: DeserializeOwned>(metadata: &BTreeMap<String, String>, key: &str) -> Option<T> {
            serde_json::from_str(metadata.get(key)?).ok()
        }
        let note = Note {
            classes: fact(metadata, CLASSES)?,
            mean: fact(metadata, MEAN)?,
            sd: fact(metadata, SD)?,
        };
        let is_usable = |sd: &f32| sd.is_finite() && *sd != 0.0;
        note.sd.iter().all(is_usable).then_some(note)
    }

    /// Writes the note among the facts of a file.
    pub fn write(&self, metadata: &mut BTreeMap<String, String>) {
        let as_json = |value: serde_json::Value| value.to_string();
        metadata.extend([
            (CLASSES.to_owned(), as_json(self.classes.clone().into())),
            (MEAN.to_owned(), as_json(self.mean.to_vec().into())),
            (SD.to_owned(), as_json(self.sd.to_vec().into())),
        ]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_comes_back_as_it_was_written() {
        let note = Note {
            classes: vec!["a,b".into(), "ö \"c\"".into()],
            mean: [0.485, 0.456, 0.406],
            sd: [0.229, 1.0, 3.0],
        };
        let mut metadata = BTreeMap::new();
        note.write(&mut metadata);
        assert_eq!(Note::read(&metadata), Some(note));
    }

    #[test]
    fn a_damaged_note_is_none() {
        let mut metadata = BTreeMap::new();
        assert_eq!(Note::read(&metadata), None);
        Note { classes: vec![], mean: [0.0; 3], sd: [1.0, 0.0, 1.0] }.write(&mut metadata);
        assert_eq!(Note::read(&metadata), None);
        metadata.insert(SD.to_owned(), "[1".to_owned());
        assert_eq!(Note::read(&metadata), None);
    }
}
