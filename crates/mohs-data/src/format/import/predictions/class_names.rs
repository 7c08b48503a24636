//! Names of classes by number, for files that write `65` where labels say `sea snake`.
//!
//! A text with one name per line, a CSV file with an index and a name, or JSON: a list of names,
//! or an object from index to name, or to `[id, name]` as the usual ImageNet file has it. Indices
//! start at 0.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;

use super::super::foreign::ForeignTable;
use super::super::paths::has_ending;
use crate::format::document;
use crate::{FileError, Label, Problem};

/// Names of classes by number.
///
/// Invariant: not empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClassNames {
    name_by_index: BTreeMap<u64, Label>,
    source: String,
}

/// Names of the column with the number.
const INDEX: [&str; 6] = ["index", "model_index", "class_index", "class_id", "idx", "id"];
/// Names of the column with the name.
const NAME: [&str; 6] = ["label", "name", "class_name", "class", "category", "synset"];

impl ClassNames {
    /// Reads the names; the ending says how: `.csv`, `.json`, else one name per line.
    pub fn read(path: &Path) -> Result<Self, FileError> {
        let text = document::read_text(path, "names of classes")?;
        Self::parse(path, &text)
    }

    /// Parses the names; `path` gives the ending and stands in errors.
    pub fn parse(path: &Path, text: &str) -> Result<Self, FileError> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let name_by_index = if has_ending(path, &["csv", "tsv"]) {
            of_table(&ForeignTable::from_csv(path, text.as_bytes().to_vec())?)?
        } else if has_ending(path, &["json"]) {
            of_json(path, &document::parse_json(path, text)?)?
        } else {
            let lines = text.lines().map(str::trim).zip(0..);
            lines.filter(|(name, _)| !name.is_empty()).map(|(n, i)| (i, Label::new(n))).collect()
        };
        if name_by_index.is_empty() {
            return Err(FileError::new(path, Problem::NoRows { noun: "class" }));
        }
        Ok(Self { name_by_index, source: path.display().to_string() })
    }

    /// Returns the name of a class that is written as a number; a name stays as it is.
    pub(super) fn name(&self, class: &Label) -> Result<Label, Problem> {
        let text = class.as_str();
        let Ok(index) = text.strip_suffix(".0").unwrap_or(text).parse::<u64>() else {
            return Ok(class.clone());
        };
        self.name_by_index.get(&index).cloned().ok_or_else(|| {
            let first = self.name_by_index.keys().next().copied().unwrap_or(0);
            let last = self.name_by_index.keys().last().copied().unwrap_or(0);
            Problem::BadValue {
                expected: format!("a class from {first} to {last}, as {} has them", self.source),
                found: text.to_owned(),
                hint: Some("do the names belong to this model? Numbers start at 0".into()),
            }
        })
    }
}

fn of_table(table: &ForeignTable) -> Result<BTreeMap<u64, Label>, FileError> {
    let column = |wanted: &[&'static str]| {
        table.first_of(wanted).ok_or_else(|| {
            let hint = "names of classes need a column `index` and a column `label`".into();
            table.missing(wanted[0], hint)
        })
    };
    let (index, name) = (column(&INDEX)?, column(&NAME)?);
    let mut name_by_index = BTreeMap::new();
    for row in 0..table.rows.len() {
        let Ok(number) = table.cell(row, index).parse::<u64>() else {
            return Err(table.bad_value(row, index, "the number of a class, 0 or more", None));
        };
        if table.cell(row, name).is_empty() {
            return Err(table.bad_value(row, name, "the name of a class", None));
        }
        if name_by_index.insert(number, Label::new(table.cell(row, name))).is_some() {
            let hint = "each number has one name".to_owned();
            return Err(table.bad_value(row, index, "a number that stands once", Some(hint)));
        }
    }
    Ok(name_by_index)
}

fn of_json(path: &Path, value: &Value) -> Result<BTreeMap<u64, Label>, FileError> {
    let bad = |found: &Value| {
        let found: String = found.to_string().chars().take(60).collect();
        let expected = "a list of names, or an object from number to name".into();
        let hint = Some("e.g. [\"cat\", \"dog\"] or {\"0\": \"cat\", \"1\": \"dog\"}".into());
        FileError::new(path, Problem::BadValue { expected, found, hint })
    };
    let name = |value: &Value| match value {
        Value::String(name) => Ok(Label::new(name)),
        // The usual file has `["n01440764", "tench"]`: the name is the last.
        Value::Array(parts) => match parts.last() {
            Some(Value::String(name)) => Ok(Label::new(name)),
            _ => Err(bad(value)),
        },
        _ => Err(bad(value)),
    };
    match value {
        Value::Array(names) => {
            (0..).zip(names).map(|(index, value)| Ok((index, name(value)?))).collect()
        }
        Value::Object(map) => map
            .iter()
            .map(|(index, value)| {
                Ok((index.parse().map_err(|_| bad(&index.as_str().into()))?, name(value)?))
            })
            .collect(),
        _ => Err(bad(value)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(file: &str, text: &str, class: &str) -> String {
        let names = ClassNames::parse(Path::new(file), text).unwrap();
        names.name(&Label::new(class)).unwrap().to_string()
    }

    #[test]
    fn three_kinds_of_files_name_classes() {
        assert_eq!(named("c.txt", "tench\ngoldfish\n", "1"), "goldfish");
        assert_eq!(named("c.csv", "index,label\n7,cock\n", "7.0"), "cock");
        assert_eq!(named("c.json", r#"["tench","goldfish"]"#, "0"), "tench");
        assert_eq!(named("c.json", r#"{"0":["n01440764","tench"]}"#, "0"), "tench");
        assert_eq!(named("c.txt", "tench\n", "hen"), "hen");
    }

    #[test]
    fn mistakes_are_told_with_their_place() {
        let error = |file: &str, text: &str| {
            let error = ClassNames::parse(Path::new(file), text).unwrap_err();
            format!("{error}\n")
        };
        insta::assert_snapshot!(
            [
                error("c.csv", "number,label\n1,cat\n"),
                error("c.csv", "index,label\none,cat\n"),
                error("c.csv", "index,label\n1,cat\n1,dog\n"),
                error("c.json", r#"{"one":"cat"}"#),
                error("c.json", "3"),
            ].concat(),
            @r#"
        c.csv has no column `index`; it has: number, label
        c.csv:2: `index` should be the number of a class, 0 or more, found `one`
        c.csv:3: `index` should be a number that stands once, found `1`
        c.json should be a list of names, or an object from number to name, found `"one"`
        c.json should be a list of names, or an object from number to name, found `3`
        "#
        );
        let names = ClassNames::parse(Path::new("c.txt"), "cat\ndog\n").unwrap();
        let problem = names.name(&Label::new("9")).unwrap_err();
        insta::assert_snapshot!(problem, @"should be a class from 0 to 1, as c.txt has them, found `9`");
    }
}
