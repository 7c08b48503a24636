//! An annotation: the outline of an object on a stimulus, as a participant or a file drew it.
//!
//! The file is one JSON document whose masks are spelled as in COCO. Keys `mohs` does not know are
//! kept with each annotation. One key among them has a meaning: `role` marks drawings that test the
//! person who draws.

use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::error::nearest;
use crate::format::{atomic, document};
use crate::mask::Segmentation;
use crate::{FileError, Label, Mask, ParticipantId, Problem, StimulusId};

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

/// What a drawing is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// The drawing is wanted for itself.
    Work,
    /// It is part of the qualification exam: a known object, drawn before the work.
    Exam,
    /// It is an attention check: a known object, hidden among the work.
    Check,
}

impl Role {
    /// Every role, with its name in files.
    const NAMES: [(&'static str, Self); 3] =
        [("work", Self::Work), ("exam", Self::Exam), ("check", Self::Check)];

    /// Returns the name in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Work => "work",
            Self::Exam => "exam",
            Self::Check => "check",
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    #[expect(dead_code, reason = "checked before the whole document is parsed")]
    version: u64,
    annotations: Vec<Entry>,
}

/// An annotation whose mask is not checked yet, so that a mistake in it can name its place.
#[derive(Deserialize)]
struct Entry {
    stimulus: StimulusId,
    #[serde(default)]
    participant: Option<ParticipantId>,
    label: Label,
    segmentation: Segmentation,
    #[serde(flatten)]
    extra: Map<String, Value>,
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
        let numbered = document.annotations.into_iter().enumerate();
        numbered.map(|(idx, entry)| entry.checked(path, &format!("annotations[{idx}]"))).collect()
    }

    /// Returns what the drawing is for, by the key `role`; without one it is work. `Err` has the
    /// text that names no role.
    pub fn role(&self) -> Result<Role, String> {
        role_in(&self.extra)
    }

    /// Sets the key `role`.
    #[must_use]
    pub fn with_role(mut self, role: Role) -> Self {
        self.extra.insert(ROLE.into(), role.name().into());
        self
    }

    /// Writes a file of annotations, one a line.
    pub fn write_all(path: &Path, annotations: &[Self]) -> Result<(), FileError> {
        atomic::write_file(path, Self::to_json(annotations).as_bytes())
    }

    /// Returns annotations as the text of their file, one a line.
    pub fn to_json(annotations: &[Self]) -> String {
        let mut text = format!("{{\"version\": {}, \"annotations\": [", Self::VERSION);
        for (idx, annotation) in annotations.iter().enumerate() {
            text.push_str(if idx == 0 { "\n" } else { ",\n" });
            let line = serde_json::to_string(annotation)
                .expect("because an annotation has text keys only and numbers that JSON has");
            text.push_str(&line);
        }
        text.push_str("\n]}\n");
        text
    }
}

impl Entry {
    fn checked(self, path: &Path, place: &str) -> Result<Annotation, FileError> {
        let mask = Mask::try_from(self.segmentation).map_err(|error| {
            FileError::new(path, Problem::BadMask(error))
                .in_column(&format!("{place}.segmentation"))
        })?;
        check_role(path, place, &self.extra)?;
        let Self { stimulus, participant, label, extra, .. } = self;
        Ok(Annotation { stimulus, participant, label, mask, extra })
    }
}

const ROLE: &str = "role";

fn role_in(extra: &Map<String, Value>) -> Result<Role, String> {
    match extra.get(ROLE) {
        None | Some(Value::Null) => Ok(Role::Work),
        Some(Value::String(name)) => Role::NAMES
            .iter()
            .find(|(known, _)| known == name)
            .map(|(_, role)| *role)
            .ok_or_else(|| name.clone()),
        Some(other) => Err(other.to_string()),
    }
}

/// Refuses a role that is none, so that an exam is never scored as work because of a slip.
pub(crate) fn check_role(
    path: &Path,
    place: &str,
    extra: &Map<String, Value>,
) -> Result<(), FileError> {
    let Err(found) = role_in(extra) else { return Ok(()) };
    let names = Role::NAMES.map(|(name, _)| name);
    let problem = Problem::BadValue {
        expected: format!("one of {}", names.join(", ")),
        hint: nearest(&found, names).map(|name| format!("did you mean `{name}`?")),
        found,
    };
    Err(FileError::new(path, problem).in_column(&format!("{place}.{ROLE}")))
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
            @"a.json: `annotations[0].segmentation` run lengths should add up to 4 pixels, found 3"
        );
        let with_counts = |counts: &str| {
            format!(
                "{{\"version\": 1, \"annotations\": [{{\"stimulus\": \"a\", \"label\": \"mug\", \
                     \"segmentation\": {{\"size\": [2, 2], \"counts\": {counts}}}}}]}}"
            )
        };
        insta::assert_snapshot!(
            error_of(&with_counts("[1, -2, 5]")),
            @"a.json: `annotations[0].segmentation` run 1 should be from 0 to 268435456 pixels, found -2"
        );
        insta::assert_snapshot!(
            error_of(&with_counts("[99999999999]")),
            @"a.json: `annotations[0].segmentation` run 0 should be from 0 to 268435456 pixels, found 99999999999"
        );
        insta::assert_snapshot!(
            error_of(&with_counts("7")),
            @"a.json:1: invalid type: integer `7`, expected run lengths: compressed text or a list of whole numbers"
        );
        insta::assert_snapshot!(
            error_of(&with_counts("[4]").replace("\"label\"", "\"role\": \"exm\", \"label\"")),
            @"a.json: `annotations[0].role` should be one of work, exam, check, found `exm`"
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
