//! The plan of a commission: which attributes get harder in which steps (`plan.toml`).
//!
//! It is written once and then belongs to people: whatever they change in it holds.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::format::{atomic, document};
use crate::{FileError, Problem};

/// Classes, attributes and the steps of each attribute.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DrawPlan {
    /// Version of the file's format.
    pub version: u64,
    /// What the pictures show.
    pub classes: Vec<String>,
    /// What makes them hard.
    #[serde(rename = "attribute")]
    pub attributes: Vec<PlannedAttribute>,
}

/// One attribute and what its steps look like, from easy to hard.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlannedAttribute {
    /// Its name, e.g. `occlusion`.
    pub name: String,
    /// What it is about, in a sentence.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub about: String,
    /// The steps of the easy level, the easiest first.
    pub easy: Vec<String>,
    /// The steps of the medium level.
    pub medium: Vec<String>,
    /// The steps of the hard level, the hardest last.
    pub hard: Vec<String>,
}

/// One step of an attribute.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlannedStep<'a> {
    /// Its number over all levels, from 1.
    pub number: usize,
    /// The level it belongs to.
    pub level: &'static str,
    /// What the attribute looks like there.
    pub value: &'a str,
}

impl PlannedAttribute {
    /// The levels with their steps, the easiest first.
    pub fn levels(&self) -> [(&'static str, &[String]); 3] {
        [("easy", &self.easy), ("medium", &self.medium), ("hard", &self.hard)]
    }

    /// All steps, the easiest first.
    pub fn steps(&self) -> impl Iterator<Item = PlannedStep<'_>> {
        let values = self
            .levels()
            .into_iter()
            .flat_map(|(level, values)| values.iter().map(move |value| (level, value.as_str())));
        values.enumerate().map(|(idx, (level, value))| PlannedStep {
            number: idx + 1,
            level,
            value,
        })
    }
}

const HEADER: &str = "\
# What will be drawn. Change what you like before pictures are paid for: names, values, the order
# of steps; a level may have more or fewer than three. mohs takes this file as it is.
# Prompts are made of it once and kept in prompts.csv: delete that file to have them made anew.

";

impl DrawPlan {
    /// The version this code writes, and the newest it reads.
    pub const VERSION: u64 = 1;

    /// Reads and checks `plan.toml`.
    pub fn read(path: &Path) -> Result<Self, FileError> {
        let text = document::read_text(path, "a plan of pictures in TOML")?;
        document::check_toml_version(path, &text, "plan", Self::VERSION)?;
        let plan: Self = document::parse_toml(path, &text)?;
        plan.check().map_err(|(key, expected, found)| {
            let problem = Problem::BadValue { expected, found, hint: None };
            document::at_key(FileError::new(path, problem).in_column(key), &text)
        })?;
        Ok(plan)
    }

    /// Writes `plan.toml`, with a word to those who will read it.
    pub fn write(&self, path: &Path) -> Result<(), FileError> {
        let text = toml::to_string_pretty(self)
            .map_err(|error| FileError::cannot_write(path, std::io::Error::other(error)))?;
        atomic::write_file(path, format!("{HEADER}{text}").as_bytes())
    }

    /// Finds names of attributes that cannot be meant, or told apart in ids: the key, what they should
    /// be, what they are.
    pub fn check_attributes<'a>(
        names: impl Iterator<Item = &'a String>,
    ) -> Result<(), (&'static str, String, String)> {
        distinct("attribute", "attribute", names)
    }

    /// Finds what cannot be meant: the key, what it should be, what it is.
    pub fn check(&self) -> Result<(), (&'static str, String, String)> {
        distinct("classes", "class", self.classes.iter())?;
        Self::check_attributes(self.attributes.iter().map(|one| &one.name))?;
        for attribute in &self.attributes {
            for (level, values) in attribute.levels() {
                let name = &attribute.name;
                if values.is_empty() || values.iter().any(|value| value.trim().is_empty()) {
                    let expected = format!("one or more values, none empty, in `{name}`");
                    return Err((level, expected, format!("{values:?}")));
                }
            }
        }
        Ok(())
    }
}

/// Returns a name with nothing but letters, digits and `-`, as it stands in ids.
pub fn plain_name(name: &str) -> String {
    let plain = |c: char| if c.is_alphanumeric() { c } else { '-' };
    name.trim().chars().map(plain).collect()
}

/// Longer names do not fit into names of files.
const LONGEST_NAME: usize = 100;

/// Refuses names that make no ids, or the same id twice.
pub(super) fn distinct<'a>(
    key: &'static str,
    noun: &str,
    names: impl Iterator<Item = &'a String>,
) -> Result<(), (&'static str, String, String)> {
    let mut seen = std::collections::BTreeMap::new();
    for name in names {
        if name.trim().is_empty() {
            return Err((key, format!("a name for each {noun}"), name.clone()));
        }
        let plain = plain_name(name);
        if !plain.contains(char::is_alphanumeric) {
            return Err((key, "a name with a letter or a digit".to_owned(), name.clone()));
        }
        if LONGEST_NAME < plain.len() {
            return Err((key, format!("names of at most {LONGEST_NAME} bytes"), name.clone()));
        }
        if let Some(other) = seen.insert(plain.to_lowercase(), name) {
            let expected = "names that differ in letters and digits".to_owned();
            return Err((key, expected, format!("{other}, {name}")));
        }
    }
    if seen.is_empty() {
        return Err((key, format!("one {noun} or more"), "none".to_owned()));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan() -> DrawPlan {
        let values = |level: &str| (1..=3).map(|n| format!("{level} {n}")).collect();
        let attribute = PlannedAttribute {
            name: "occlusion".to_owned(),
            about: "how much is hidden".to_owned(),
            easy: values("easy"),
            medium: values("medium"),
            hard: values("hard"),
        };
        let classes = vec!["golden retriever".to_owned(), "mug".to_owned()];
        DrawPlan { version: 1, classes, attributes: vec![attribute] }
    }

    #[test]
    fn a_plan_comes_back_as_it_was_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("plan.toml");
        plan().write(&path).unwrap();
        assert_eq!(DrawPlan::read(&path).unwrap(), plan());
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.starts_with("# What will be drawn."), "{text}");
    }

    #[test]
    fn steps_are_counted_over_all_levels() {
        let mut plan = plan();
        plan.attributes[0].easy.truncate(1);
        let steps: Vec<_> = plan.attributes[0].steps().map(|s| (s.number, s.level)).collect();
        assert_eq!(steps.len(), 7);
        assert_eq!((steps[0], steps[1], steps[6]), ((1, "easy"), (2, "medium"), (7, "hard")));
    }

    #[test]
    fn names_that_would_give_the_same_ids_and_empty_levels_are_refused() {
        let mut twice = plan();
        twice.classes.push("Golden-Retriever".to_owned());
        assert_eq!(twice.check().unwrap_err().2, "golden retriever, Golden-Retriever");
        let mut empty = plan();
        empty.attributes[0].hard.clear();
        assert_eq!(empty.check().unwrap_err().0, "hard");
        let mut none = plan();
        none.attributes.clear();
        assert_eq!(none.check().unwrap_err().1, "one attribute or more");
    }
}
