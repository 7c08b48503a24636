//! An annotation: the outline of an object on a stimulus, as a participant or a file drew it.
//!
//! The file is one JSON document whose masks are spelled as in COCO. Keys `mohs` does not know are
//! kept with each annotation.

use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::format::{atomic, document};
use crate::{FileError, Label, Mask, ParticipantId, StimulusId};

/// The outline of an object on a stimulus.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Annotation {
    /// The stimulus.
    pub stimulus: StimulusId,
    /// Who drew it; `None` when it came with a data set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub participant: Option<ParticipantId>,
    /// What was outlined.
    pub label: Label,
    /// Its pixels.
    #[serde(rename = "segmentation")]
    pub mask: Mask,
    /// Keys `mohs` does not know.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    #[expect(dead_code, reason = "checked before the whole document is parsed")]
    version: u64,
    annotations: Vec<Annotation>,
}

impl Annotation {
    /// The version this code writes, and the newest it reads.
    pub const VERSION: u64 = 1;

    /// Reads a file of annotations.
    pub fn read_all(path: &Path) -> Result<Vec<Self>, FileError> {
        Self::parse_all(path, &document::read_text(path, "annotations in JSON")?)
    }

    /// Parses the text of a file of annotations; `path` is only for errors.
    pub fn parse_all(path: &Path, text: &str) -> Result<Vec<Self>, FileError> {
        document::check_json_version(path, text, "annotations", Self::VERSION)?;
        let document: Document = document::parse_json(path, text)?;
        Ok(document.annotations)
    }

    /// Writes a file of annotations, one a line.
    pub fn write_all(path: &Path, annotations: &[Self]) -> Result<(), FileError> {
        let mut text = format!("{{\"version\": {}, \"annotations\": [", Self::VERSION);
        for (idx, annotation) in annotations.iter().enumerate() {
            text.push_str(if idx == 0 { "\n" } else { ",\n" });
            let line = serde_json::to_string(annotation)
                .map_err(|error| FileError::cannot_write(path, error.into()))?;
            text.push_str(&line);
        }
        text.push_str("\n]}\n");
        atomic::write_file(path, text.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error_of(text: &str) -> String {
        Annotation::parse_all(Path::new("a.json"), text).unwrap_err().to_string()
    }

    #[test]
    fn annotations_come_back_as_they_were_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("annotations.json");
        let annotations = vec![
            Annotation {
                stimulus: "mug \"1\".png".into(),
                participant: Some("p1".into()),
                label: "mug".into(),
                mask: Mask::from_counts(2, 3, &[1, 2, 3]).unwrap(),
                extra: [("zoom".to_owned(), Value::from(1.5))].into_iter().collect(),
            },
            Annotation {
                stimulus: "cup.png".into(),
                participant: None,
                label: "cup".into(),
                mask: Mask::from_counts(1, 1, &[0, 1]).unwrap(),
                extra: Map::new(),
            },
        ];
        Annotation::write_all(&path, &annotations).unwrap();
        assert_eq!(Annotation::read_all(&path).unwrap(), annotations);
        Annotation::write_all(&path, &[]).unwrap();
        assert_eq!(Annotation::read_all(&path).unwrap(), []);
    }

    #[test]
    fn mistakes_are_named_with_their_place() {
        insta::assert_snapshot!(
            error_of("{\"version\": 2, \"new\": 1}"),
            @"a.json: `version` is annotations version 2; this mohs reads up to version 1"
        );
        insta::assert_snapshot!(
            error_of("{\"version\": 1, \"annotations\": [\n{\"stimulus\": \"a\", \"label\": \"mug\", \
                      \"segmentation\": {\"size\": [2, 2], \"counts\": [1, 2]}}]}"),
            @"a.json:2: run lengths should add up to 4 pixels, found 3"
        );
        insta::assert_snapshot!(
            error_of("{\"version\": 1,\n \"annotations\": [{]}"),
            @"a.json:2: key must be a string"
        );
        insta::assert_snapshot!(
            error_of("[]"),
            @"a.json:1: invalid length 0, expected struct Document with 2 elements"
        );
    }
}
