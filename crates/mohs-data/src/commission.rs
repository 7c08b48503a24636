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
use crate::{ClassesEntry, EndpointEntry, FileError, Problem, Seed};

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
        commission.check().map_err(|(key, expected, found)| {
            let problem = Problem::BadValue { expected, found, hint: None };
            document::at_key(FileError::new(path, problem).in_column(&key), text)
        })?;
        Ok(commission)
    }

    /// Finds what cannot be meant: the key, what it should be, what it is.
    fn check(&self) -> Result<(), (String, String, String)> {
        let bad = |key: &str, expected: &str, found: String| {
            Err((key.to_owned(), expected.to_owned(), found))
        };
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
        if let Some(template) = self.template.as_ref().filter(|text| !text.contains("{class}")) {
            return bad("template", "a text with {class}", template.clone());
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
            ("template = \"a cat\"", "a text with {class}"),
            ("max_cost = 5.0", "left out where no price is given"),
            ("seed_parameter = \"prompt\"", "what the painter calls a seed"),
            ("redraws = 100", "at most 99"),
            ("per_levle = 3", "per_levle"),
        ] {
            let error = parse(more).unwrap_err();
            assert!(error.contains(complaint), "{error}");
        }
        let bad = format!("{LEAST}{PAINTER}key_env = \"sk-very-secret\"\n");
        let error = Commission::parse(Path::new("draw.toml"), &bad).unwrap_err().to_string();
        assert!(error.contains("painter.key_env") && !error.contains("secret"), "{error}");
    }
}
