//! A manifest: which models see which stimuli under which probes (`eval.toml`).
//!
//! The file is the configuration of an evaluation: everything that changes a prediction stands in
//! it. Nothing is opened here; `mohs-vision` does that.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::format::document;
use crate::{FileError, ModelName, Problem, Seed};

/// Which models see which stimuli under which probes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// Version of the file's format.
    pub version: u64,
    /// A short name, used in reports.
    pub name: String,
    /// Where all random draws of probes come from.
    #[serde(default = "default_seed")]
    pub seed: Seed,
    /// The stimuli: a table, a folder, a COCO file or a list, relative to the manifest's folder.
    #[serde(default = "default_stimuli")]
    pub stimuli: PathBuf,
    /// What people found hard, relative to the manifest's folder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub difficulty: Option<PathBuf>,
    /// Where predictions go, relative to the manifest's folder.
    #[serde(default = "default_output")]
    pub output: PathBuf,
    /// The models, in the order they run and are shown. Not empty.
    #[serde(default, rename = "model")]
    pub models: Vec<ModelEntry>,
    /// The probes; empty means that stimuli are shown as they are.
    #[serde(default, rename = "probe")]
    pub probes: Vec<ProbeEntry>,
}

/// One model to run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelEntry {
    /// Its name in predictions and reports.
    pub name: ModelName,
    /// The ONNX file, relative to the manifest's folder.
    pub file: PathBuf,
    /// How pixels are prepared for it; the model's own side file decides when not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preprocess: Option<Preprocess>,
    /// A table from its output positions to labels, relative to the manifest's folder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub labels: Option<PathBuf>,
}

/// A named way to turn pixels into a model's input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Preprocess {
    /// As `torchvision` weights expect.
    Torchvision,
    /// As the `timm` configuration beside the model says.
    Timm,
    /// As CLIP image encoders expect.
    Clip,
    /// Scaled to [-1, 1], as TensorFlow ports expect.
    Tensorflow,
    /// As the side file beside the model says.
    Custom,
}

/// One thing done to stimuli before models see them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProbeEntry {
    /// Its name in predictions and reports.
    pub name: String,
    /// What is done, e.g. `gaussian-noise` or `pgd`.
    pub kind: String,
    /// How it is done; the probe's page says which parameters there are.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub parameters: BTreeMap<String, Parameter>,
}

/// The value of a probe's parameter.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Parameter {
    /// A finite number.
    Number(f64),
    /// A word, or a fraction such as `8/255`.
    Text(String),
}

fn default_seed() -> Seed {
    Seed(0)
}

fn default_stimuli() -> PathBuf {
    "stimuli.csv".into()
}

fn default_output() -> PathBuf {
    "predictions.csv".into()
}

impl Manifest {
    /// The version this code writes, and the newest it reads.
    pub const VERSION: u64 = 1;

    /// Starts a manifest with defaults and no models.
    pub fn new(name: &str) -> Self {
        Self {
            version: Self::VERSION,
            name: name.to_owned(),
            seed: default_seed(),
            stimuli: default_stimuli(),
            difficulty: None,
            output: default_output(),
            models: Vec::new(),
            probes: Vec::new(),
        }
    }

    /// Reads and checks `eval.toml`.
    pub fn read(path: &Path) -> Result<Self, FileError> {
        Self::parse(path, &document::read_text(path, "an evaluation in TOML")?)
    }

    /// Parses and checks the text of `eval.toml`; `path` is only for errors.
    pub fn parse(path: &Path, text: &str) -> Result<Self, FileError> {
        document::check_toml_version(path, text, "manifest", Self::VERSION)?;
        let manifest: Self = document::parse_toml(path, text)?;
        manifest.check(path)?;
        Ok(manifest)
    }

    /// Writes `eval.toml`.
    pub fn write(&self, path: &Path) -> Result<(), FileError> {
        document::write_toml(path, self)
    }

    fn check(&self, path: &Path) -> Result<(), FileError> {
        let bad = |key: &str, expected: &str, found: String, hint: Option<String>| {
            let problem = Problem::BadValue { expected: expected.into(), found, hint };
            Err(FileError::new(path, problem).in_column(key))
        };
        if self.version == 0 {
            return bad("version", "1 or more", "0".into(), None);
        }
        if self.models.is_empty() {
            let hint = "add a block: [[model]] name = \"…\" file = \"….onnx\"".to_owned();
            return bad("model", "one or more models", String::new(), Some(hint));
        }
        for (idx, model) in self.models.iter().enumerate() {
            let name = model.name.as_str();
            if name.is_empty() {
                return bad("model.name", "a name", String::new(), None);
            }
            if model.file.as_os_str().is_empty() {
                return bad("model.file", "a path", String::new(), None);
            }
            if self.models[..idx].iter().any(|earlier| earlier.name == model.name) {
                return bad("model.name", "different for each model", name.to_owned(), None);
            }
        }
        for (idx, probe) in self.probes.iter().enumerate() {
            if probe.name.is_empty() {
                return bad("probe.name", "a name", String::new(), None);
            }
            if probe.kind.is_empty() {
                return bad("probe.kind", "what is done", String::new(), None);
            }
            if self.probes[..idx].iter().any(|earlier| earlier.name == probe.name) {
                return bad("probe.name", "different for each probe", probe.name.clone(), None);
            }
            for (key, value) in &probe.parameters {
                if let Parameter::Number(value) = value
                    && !value.is_finite()
                {
                    let key = format!("probe.parameters.{key}");
                    return bad(&key, "a finite number", value.to_string(), None);
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error_of(text: &str) -> String {
        Manifest::parse(Path::new("eval.toml"), text).unwrap_err().to_string()
    }

    #[test]
    fn a_manifest_comes_back_as_it_was_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("eval.toml");
        let mut manifest = Manifest::new("pilot");
        manifest.models.push(ModelEntry {
            name: "resnet50".into(),
            file: "models/resnet50.onnx".into(),
            preprocess: Some(Preprocess::Torchvision),
            labels: None,
        });
        manifest.probes.push(ProbeEntry {
            name: "noise 8".into(),
            kind: "gaussian-noise".into(),
            parameters: [
                ("eps".into(), Parameter::Text("8/255".into())),
                ("steps".into(), Parameter::Number(10.0)),
            ]
            .into(),
        });
        manifest.write(&path).unwrap();
        assert_eq!(Manifest::read(&path).unwrap(), manifest);
    }

    #[test]
    fn a_whole_number_is_a_number_too() {
        let text = "version = 1\nname = \"a\"\n[[model]]\nname = \"m\"\nfile = \"m.onnx\"\n\
                    [[probe]]\nname = \"p\"\nkind = \"pgd\"\nparameters = { steps = 10 }\n";
        let manifest = Manifest::parse(Path::new("eval.toml"), text).unwrap();
        assert_eq!(manifest.probes[0].parameters["steps"], Parameter::Number(10.0));
    }

    #[test]
    fn mistakes_are_named() {
        let head = "version = 1\nname = \"a\"\n";
        let model = "[[model]]\nname = \"m\"\nfile = \"m.onnx\"\n";
        insta::assert_snapshot!(
            error_of(head),
            @"eval.toml: `model` should be one or more models, found nothing"
        );
        insta::assert_snapshot!(
            error_of(&format!("{head}{model}{model}")),
            @"eval.toml: `model.name` should be different for each model, found `m`"
        );
        insta::assert_snapshot!(
            error_of(&format!("{head}{model}preproces = \"clip\"\n")),
            @"eval.toml:6: unknown field `preproces`, expected one of `name`, `file`, `preprocess`, `labels`"
        );
        insta::assert_snapshot!(
            error_of("version = 9\nname = \"a\"\nnovelty = 3\n"),
            @"eval.toml:1: `version` is manifest version 9; this mohs reads up to version 1"
        );
    }
}
