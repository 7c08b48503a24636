//! A commission: a ladder whose pictures are described by one model and drawn by another.
//!
//! [`Commission`] is what is wanted (`draw.toml`), [`DrawPlan`] which attributes get harder in which
//! steps (`plan.toml`), [`Prompt`] what the painter is told (`prompts.csv`). Plan and prompts are
//! written before a picture is paid for, so that people can read and change them. Nothing is asked
//! or drawn here; `mohs-vision` does that.

mod plan;
mod prompt;

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::format::document;
use crate::{ClassesEntry, EndpointEntry, FileError, Label, Problem, Seed, nearest};

use plan::distinct;
pub use plan::{DrawPlan, PlannedAttribute, PlannedStep, plain_name};
pub use prompt::Prompt;

/// What is wanted of a writer and a painter.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Commission {
    /// Version of the file's format.
    pub version: u64,
    /// A short name; it becomes the data set of the stimuli.
    pub name: String,
    /// Where the seeds of pictures come from.
    #[serde(default = "default_seed")]
    pub seed: Seed,
    /// What the pictures show: a list, or a file relative to the folder of this one.
    pub classes: ClassesEntry,
    /// What makes them hard; empty to have the writer propose attributes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attributes: Vec<String>,
    /// How many attributes the writer proposes.
    #[serde(default = "default_n_attributes")]
    pub n_attributes: usize,
    /// Pictures of each class, attribute and level.
    #[serde(default = "default_per_level")]
    pub per_level: usize,
    /// Prompts the writer makes for each class, attribute and step.
    #[serde(default = "default_prompts_per_step")]
    pub prompts_per_step: usize,
    /// Makes the prompts, instead of the writer: `{class}`, `{attribute}` and `{value}` are filled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub template: Option<String>,
    /// What the painter calls a seed; none for painters that know no seeds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed_parameter: Option<String>,
    /// How often a picture that was rejected is drawn anew.
    #[serde(default = "default_redraws")]
    pub redraws: u32,
    /// What writer and painter together may cost, in the unit of their prices.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_cost: Option<f64>,
    /// Who proposes attributes, levels and prompts; none where the plan and the template say all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub writer: Option<EndpointEntry>,
    /// Who draws.
    pub painter: EndpointEntry,
}

fn default_seed() -> Seed {
    Seed(1)
}

/// As many as in the paper.
fn default_n_attributes() -> usize {
    10
}

/// As many as in the paper.
fn default_per_level() -> usize {
    12
}

fn default_prompts_per_step() -> usize {
    1
}

/// A prompt that failed four times will fail again.
fn default_redraws() -> u32 {
    3
}

/// More in one request, and answers are cut off.
const MOST_ATTRIBUTES: usize = 50;
const MOST_PROMPTS: usize = 12;
const MOST_REDRAWS: u32 = 99;

impl Commission {
    /// The version this code writes, and the newest it reads.
    pub const VERSION: u64 = 1;
    /// More pictures of one class, attribute and level are a mistake in typing.
    pub const MOST_PER_LEVEL: usize = 9_999;

    /// Reads and checks `draw.toml`.
    pub fn read(path: &Path) -> Result<Self, FileError> {
        Self::parse(path, &document::read_text(path, "a commission in TOML")?)
    }

    /// Parses and checks the text of `draw.toml`; `path` is only for errors.
    pub fn parse(path: &Path, text: &str) -> Result<Self, FileError> {
        document::check_toml_version(path, text, "commission", Self::VERSION)?;
        let commission: Self = document::parse_toml(path, text)?;
        commission.check().map_err(|slip| document::at_key(slip.in_file(path), text))?;
        Ok(commission)
    }

    /// Checks the classes that `draw.toml` names, wherever they are listed; `path` is only for
    /// errors.
    pub fn check_classes(path: &Path, classes: &[Label]) -> Result<(), FileError> {
        let names: Vec<String> = classes.iter().map(ToString::to_string).collect();
        distinct("classes", "class", names.iter()).map_err(|slip| Slip::from(slip).in_file(path))
    }

    /// Finds what cannot be meant.
    fn check(&self) -> Result<(), Slip> {
        let bad = |key: &str, expected: &str, found: String| {
            let (key, expected) = (key.to_owned(), expected.to_owned());
            Err(Slip { key, expected, found, hint: None })
        };
        if self.name.trim().is_empty() {
            return bad("name", "a short name", self.name.clone());
        }
        if let ClassesEntry::List(names) = &self.classes {
            distinct("classes", "class", names.iter())?;
        }
        if !self.attributes.is_empty() {
            distinct("attributes", "attribute", self.attributes.iter())?;
        }
        let counts = [
            ("n_attributes", self.n_attributes, MOST_ATTRIBUTES),
            ("per_level", self.per_level, Self::MOST_PER_LEVEL),
            ("prompts_per_step", self.prompts_per_step, MOST_PROMPTS),
        ];
        for (key, found, most) in counts {
            if !(1..=most).contains(&found) {
                return bad(key, &format!("from 1 to {most}"), found.to_string());
            }
        }
        if MOST_REDRAWS < self.redraws {
            return bad("redraws", &format!("at most {MOST_REDRAWS}"), self.redraws.to_string());
        }
        if self.version == 0 {
            return bad("version", "1 or more", "0".to_owned());
        }
        if let Some(template) = &self.template {
            check_template(template)?;
        }
        if let Some(name) = &self.seed_parameter
            && ["", "model", "prompt", "n"].contains(&name.as_str())
        {
            return bad("seed_parameter", "what the painter calls a seed", name.clone());
        }
        let entries = [("writer", self.writer.as_ref()), ("painter", Some(&self.painter))];
        for (table, entry) in entries {
            if let Some(Err((key, expected, found))) = entry.map(EndpointEntry::check) {
                return bad(&format!("{table}.{key}"), &expected, found);
            }
        }
        if let Some(cost) = self.max_cost {
            if !(cost.is_finite() && 0.0 <= cost) {
                return bad("max_cost", "a number that is not below 0", cost.to_string());
            }
            if entries.iter().filter_map(|(_, entry)| *entry).all(EndpointEntry::is_free) {
                let expected = "left out where no price is given: nothing would ever reach it";
                return bad("max_cost", expected, cost.to_string());
            }
        }
        Ok(())
    }
}

/// A value that cannot be meant.
struct Slip {
    key: String,
    expected: String,
    found: String,
    hint: Option<String>,
}

impl Slip {
    fn in_file(self, path: &Path) -> FileError {
        let Slip { key, expected, found, hint } = self;
        FileError::new(path, Problem::BadValue { expected, found, hint }).in_column(&key)
    }
}

impl From<(&'static str, String, String)> for Slip {
    fn from((key, expected, found): (&'static str, String, String)) -> Self {
        Slip { key: key.to_owned(), expected, found, hint: None }
    }
}

/// What a template is filled with.
const PLACES: [&str; 3] = ["class", "attribute", "value"];

/// Refuses what would be painted as it stands, and what would paint all steps alike.
fn check_template(template: &str) -> Result<(), Slip> {
    let slip = |expected: &str, found: &str, hint| {
        let (key, expected) = ("template".to_owned(), expected.to_owned());
        Err(Slip { key, expected, found: found.to_owned(), hint })
    };
    let mut rest = template;
    while let Some(start) = rest.find(['{', '}']) {
        let end = rest[start..].find('}').map_or(rest.len(), |at| start + at + 1);
        let place = &rest[start..end];
        let name = place.trim_matches(['{', '}', ' ']);
        if !PLACES.iter().any(|known| place == format!("{{{known}}}")) {
            let near = nearest(&name.to_lowercase(), PLACES);
            let hint = near.map(|near| format!("did you mean `{{{near}}}`?"));
            return slip("a text in which braces are {class}, {attribute} or {value}", place, hint);
        }
        rest = &rest[end..];
    }
    if !template.contains("{class}") || !template.contains("{value}") {
        return slip("a text with {class} and {value}, which steps differ in", template, None);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEAST: &str = "version = 1\nname = \"things\"\nclasses = [\"mug\"]\n";
    const PAINTER: &str = "[painter]\nurl = \"http://localhost/v1\"\nmodel = \"brush\"\n";

    fn parse(more: &str) -> Result<Commission, String> {
        let text = format!("{LEAST}{more}\n{PAINTER}");
        Commission::parse(Path::new("draw.toml"), &text).map_err(|error| error.to_string())
    }

    #[test]
    fn the_defaults_are_those_of_the_paper() {
        let commission = parse("").unwrap();
        assert_eq!((commission.n_attributes, commission.per_level), (10, 12));
        assert_eq!((commission.redraws, commission.max_cost), (3, None));
    }

    #[test]
    fn what_cannot_be_meant_is_refused_with_its_line() {
        for (more, complaint) in [
            ("per_level = 0", "draw.toml:4: `per_level` should be from 1 to 9999, found `0`"),
            ("template = \"a cat\"", "a text with {class} and {value}"),
            ("template = \"a {class}\"", "a text with {class} and {value}"),
            ("template = \"{class} {value} {foo}\"", "{attribute} or {value}, found `{foo}`"),
            ("template = \"{class} {value} {\"", "{attribute} or {value}, found `{`"),
            ("template = \"{class} {value} }\"", "{attribute} or {value}, found `}`"),
            ("attributes = [\"size\", \"odd light\", \"Odd-light\"]", "draw.toml:4: `attributes`"),
            ("attributes = [\"size\", \" \"]", "a name for each attribute"),
            ("attributes = [\"?!\"]", "a name with a letter or a digit"),
            ("max_cost = 5.0", "left out where no price is given"),
            ("seed_parameter = \"prompt\"", "what the painter calls a seed"),
            ("redraws = 100", "at most 99"),
            ("per_levle = 3", "per_levle"),
        ] {
            let error = parse(more).unwrap_err();
            assert!(error.contains(complaint), "{error}");
        }
        for (classes, complaint) in [
            ("[]", "draw.toml:3: `classes` should be one class or more, found `none`"),
            ("[\"mug\", \"Mug\"]", "names that differ in letters and digits, found `mug, Mug`"),
            ("[\"mug\", \"\"]", "a name for each class"),
        ] {
            let text = format!("{LEAST}{PAINTER}").replace("[\"mug\"]", classes);
            let error = Commission::parse(Path::new("draw.toml"), &text).unwrap_err().to_string();
            assert!(error.contains(complaint), "{error}");
        }
        let bad = format!("{LEAST}{PAINTER}key_env = \"sk-very-secret\"\n");
        let error = Commission::parse(Path::new("draw.toml"), &bad).unwrap_err().to_string();
        assert!(error.contains("painter.key_env") && !error.contains("secret"), "{error}");
    }

    #[test]
    fn a_slip_in_a_template_is_told_with_what_may_be_meant() {
        for (template, meant) in [
            ("{class} {valeu}", Some("did you mean `{value}`?")),
            ("{Class} {value}", Some("did you mean `{class}`?")),
            ("{ class } {value}", Some("did you mean `{class}`?")),
            ("{class} {value} {something}", None),
        ] {
            let hint = check_template(template).map_err(|slip| slip.hint).unwrap_err();
            assert_eq!(hint.as_deref(), meant, "{template}");
        }
    }

    #[test]
    fn classes_of_a_file_are_checked_as_those_of_a_list() {
        let check = |names: &[&str]| {
            let classes: Vec<Label> = names.iter().copied().map(Label::new).collect();
            Commission::check_classes(Path::new("draw.toml"), &classes).map_err(|e| e.to_string())
        };
        assert_eq!(check(&["mug", "owl, snowy"]), Ok(()));
        assert!(check(&["mug", "mug"]).unwrap_err().starts_with("draw.toml: `classes`"));
        assert!(check(&[&"m".repeat(101)]).unwrap_err().contains("at most 100 bytes"));
    }
}
