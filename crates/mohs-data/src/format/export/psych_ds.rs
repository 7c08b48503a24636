//! Psych-DS: a folder with one long CSV and a description of every column.
//!
//! `dataset_description.json` is JSON-LD in the vocabulary of schema.org; `variableMeasured` lists
//! exactly the columns of `data/study-<name>_data.csv`, which has the columns of `trials.csv`.

use std::path::Path;

use compact_str::CompactString;
use serde_json::{Value, json};

use super::{Description, glossary, label, make, make_folder, write_json};
use crate::format::table::Record as _;
use crate::format::{atomic, write_all};
use crate::{FileError, Trial};

/// Writes the folder.
pub fn write(folder: &Path, trials: &[Trial], about: &Description) -> Result<(), FileError> {
    make_folder(folder, |folder| {
        make(&folder.join("data"))?;
        let name = format!("study-{}_data.csv", label::plain(&about.name));
        write_all(&folder.join("data").join(name), trials)?;
        write_json(&folder.join("dataset_description.json"), &description(trials, about))?;
        atomic::write_file(&folder.join("README.md"), readme(trials, about).as_bytes())?;
        let changes = format!("# Changes\n\n- Written by mohs {}.\n", about.written_by);
        atomic::write_file(&folder.join("CHANGES.md"), changes.as_bytes())
    })
}

fn description(trials: &[Trial], about: &Description) -> Value {
    let variables: Vec<Value> = columns(trials).iter().map(|name| variable(name)).collect();
    let mut description = json!({
        "@context": "https://schema.org/",
        "@type": "Dataset",
        "name": about.name,
        "description": about.description,
        "variableMeasured": variables,
    });
    if !about.authors.is_empty() {
        let people = about.authors.iter().map(|name| json!({"@type": "Person", "name": name}));
        description["author"] = people.collect();
    }
    description
}

fn variable(name: &str) -> Value {
    match glossary::meaning(name) {
        Some((meaning, Some(unit))) => {
            json!({"@type": "PropertyValue", "name": name, "description": meaning, "unitText": unit})
        }
        Some((meaning, None)) => {
            json!({"@type": "PropertyValue", "name": name, "description": meaning})
        }
        None => json!({
            "@type": "PropertyValue",
            "name": name,
            "description": "Column of the source, kept as it was",
        }),
    }
}

/// Returns the columns of the CSV, in the order in which they are written.
fn columns(trials: &[Trial]) -> Vec<CompactString> {
    let schema = Trial::SCHEMA;
    let ours = schema.columns.iter().filter(|column| column.written).map(|column| column.name);
    let mut names: Vec<CompactString> =
        ours.chain([schema.version_column]).map(CompactString::from).collect();
    for name in trials.iter().flat_map(|trial| trial.extra.names()) {
        if !names.contains(name) {
            names.push(name.clone());
        }
    }
    names
}

fn readme(trials: &[Trial], about: &Description) -> String {
    format!(
        "# {}\n\n{}\n\n{} trials, one per row of the CSV file in `data`.\n\
         `dataset_description.json` says what every column means.\n",
        about.name,
        about.description,
        trials.len()
    )
}
