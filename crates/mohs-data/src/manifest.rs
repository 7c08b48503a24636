//! A manifest: which models see which stimuli under which probes (`eval.toml`).
//!
//! The file is the configuration of an evaluation: everything that changes a prediction stands in
//! it. Nothing is opened here; `mohs-vision` does that.

mod adapt;
mod endpoint;
mod entry;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::format::document;
use crate::{FileError, ModelName, Prediction, Problem, Seed};

pub use adapt::{AdaptEntry, RoutingEntry, RoutingRowEntry};
pub use endpoint::{ChatEntry, EndpointEntry};
pub use entry::{
    Aggregate, AnswerEntry, ClassesEntry, CustomPreprocess, Decode, Preprocess, SidesEntry,
};

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
    /// Which measure of difficulty counts, where the file has several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub difficulty_measure: Option<String>,
    /// Where predictions go, relative to the manifest's folder.
    #[serde(default = "default_output")]
    pub output: PathBuf,
    /// How files become pixels.
    #[serde(default, skip_serializing_if = "Decode::is_upright")]
    pub decode: Decode,
    /// How many labels are kept with their probabilities. At least 1.
    #[serde(default = "default_top_k")]
    pub top_k: usize,
    /// How many pictures a model gets at once. At least 1.
    #[serde(default = "default_batch")]
    pub batch: usize,
    /// A folder for the models' outputs as they are, relative to the manifest's folder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub logits: Option<PathBuf>,
    /// A folder for the models' features, relative to the manifest's folder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub features: Option<PathBuf>,
    /// Which columns of the stimuli are meant: ours → theirs, for tables made elsewhere.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub map: BTreeMap<String, String>,
    /// The models, in the order they run and are shown. Not empty.
    #[serde(default, rename = "model")]
    pub models: Vec<ModelEntry>,
    /// The probes; empty means that stimuli are shown as they are.
    #[serde(default, rename = "probe")]
    pub probes: Vec<ProbeEntry>,
    /// How an adaptive test of one of the models is done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub adapt: Option<AdaptEntry>,
}

/// One model to run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelEntry {
    /// Its name in predictions and reports.
    pub name: ModelName,
    /// The ONNX file, relative to the manifest's folder; empty for a model behind an endpoint.
    #[serde(default, skip_serializing_if = "is_empty")]
    pub file: PathBuf,
    /// Where the model is asked, if it is no file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub endpoint: Option<EndpointEntry>,
    /// What a model behind an endpoint is asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chat: Option<ChatEntry>,
    /// Models of one family are joined in reports, in the order of the file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub family: Option<String>,
    /// How classes become labels of stimuli.
    #[serde(default, skip_serializing_if = "AnswerEntry::is_as_is")]
    pub answer: AnswerEntry,
    /// How the probabilities of several classes become that of their label.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub aggregate: Option<Aggregate>,
    /// Where features are taken: a value of the network, or `penultimate`, which is the default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub layer: Option<String>,
    /// A table from its output positions to labels, relative to the manifest's folder: another
    /// word for `classes`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub labels: Option<PathBuf>,
    /// Its own classes in the order of its outputs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub classes: Option<ClassesEntry>,
    /// How pixels are prepared for it; the model's own side file decides when not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preprocess: Option<Preprocess>,
}

impl ModelEntry {
    /// Starts an entry with what every model has.
    pub fn new(name: ModelName, file: PathBuf) -> Self {
        Self {
            name,
            file,
            endpoint: None,
            chat: None,
            family: None,
            answer: AnswerEntry::AsIs,
            aggregate: None,
            layer: None,
            labels: None,
            classes: None,
            preprocess: None,
        }
    }

    /// Returns its own classes, whichever key names them.
    pub fn own_classes(&self) -> Option<ClassesEntry> {
        self.classes.clone().or_else(|| self.labels.clone().map(ClassesEntry::File))
    }
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
    /// Yes or no.
    Switch(bool),
}

fn is_empty(path: &Path) -> bool {
    path.as_os_str().is_empty()
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

fn default_top_k() -> usize {
    5
}

/// More gains little on a processor and costs much memory.
fn default_batch() -> usize {
    8
}

impl Manifest {
    /// Pictures at once beyond this are a mistake in typing.
    pub const MAX_BATCH: usize = 4096;

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
            difficulty_measure: None,
            output: default_output(),
            decode: Decode::Upright,
            top_k: default_top_k(),
            batch: default_batch(),
            logits: None,
            features: None,
            map: BTreeMap::new(),
            models: Vec::new(),
            probes: Vec::new(),
            adapt: None,
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
        manifest.check(path).map_err(|error| document::at_key(error, text))?;
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
        if self.top_k == 0 {
            return bad("top_k", "1 or more", "0".into(), None);
        }
        if self.batch == 0 || Self::MAX_BATCH < self.batch {
            let expected = format!("from 1 to {}", Self::MAX_BATCH);
            return bad("batch", &expected, self.batch.to_string(), None);
        }
        for (idx, model) in self.models.iter().enumerate() {
            let name = model.name.as_str();
            if name.is_empty() {
                return bad("model.name", "a name", String::new(), None);
            }
            if is_empty(&model.file) && model.endpoint.is_none() {
                let hint = "a model is a file, or has a table [model.endpoint]".to_owned();
                return bad("model.file", "a path", String::new(), Some(hint));
            }
            if self.models[..idx].iter().any(|earlier| earlier.name == model.name) {
                let hint = Some("rename one of them: predictions are told apart by it".to_owned());
                return bad("model.name", "different for each model", name.to_owned(), hint);
            }
            let keyed = |(key, expected, found): (&str, _, _)| (key.to_owned(), expected, found);
            let checked = model.check_endpoint().and_then(|()| model.check().map_err(keyed));
            if let Err((key, expected, found)) = checked {
                let hint = Some(format!("it is about the model `{name}`"));
                return bad(&format!("model.{key}"), &expected, found, hint);
            }
        }
        for (idx, probe) in self.probes.iter().enumerate() {
            if probe.name.is_empty() {
                return bad("probe.name", "a name", String::new(), None);
            }
            if probe.kind.is_empty() {
                return bad("probe.kind", "what is done", String::new(), None);
            }
            if probe.name == Prediction::NO_PROBE && probe.kind != Prediction::NO_PROBE {
                let hint = "`none` means that nothing is done".to_owned();
                return bad("probe.name", "another name", probe.name.clone(), Some(hint));
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
            preprocess: Some(Preprocess::Torchvision),
            ..ModelEntry::new("resnet50".into(), "models/resnet50.onnx".into())
        });
        manifest.models.push(ModelEntry {
            family: Some("squeezenet".into()),
            classes: Some(ClassesEntry::List(vec!["a".into(), "b".into()])),
            answer: AnswerEntry::Table("map.csv".into()),
            aggregate: Some(Aggregate::Max),
            preprocess: Some(Preprocess::Custom(CustomPreprocess {
                resize: Some(SidesEntry::Word("squash".into())),
                size: Some(SidesEntry::Both(227, 227)),
                mean: Some([104.0, 117.0, 123.0]),
                ..CustomPreprocess::default()
            })),
            ..ModelEntry::new("squeezenet".into(), "squeezenet.onnx".into())
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
    fn a_model_may_be_described_in_every_detail() {
        let text = r#"
            version = 1
            name = "pets"
            map = { label = "imagenet_index" }
            top_k = 3
            batch = 8
            [[model]]
            name = "squeezenet"
            file = "squeezenet.onnx"
            family = "squeezenet"
            classes = "imagenet-1k"
            answer = "subset"
            preprocess = { resize = "squash", size = 227, channels = "bgr", scale = 255,
                           mean = [104, 117, 123], sd = [1, 1, 1] }
            [[model]]
            name = "own"
            file = "own.onnx"
            labels = "labels.csv"
            answer = "map.csv"
            aggregate = "max"
            preprocess = "custom"
        "#;
        let manifest = Manifest::parse(Path::new("eval.toml"), text).unwrap();
        let [first, second] = &manifest.models[..] else { panic!("two models") };
        assert_eq!(first.classes, Some(ClassesEntry::ImageNet1k));
        assert_eq!(first.answer, AnswerEntry::Subset);
        let Some(Preprocess::Custom(custom)) = &first.preprocess else { panic!("a table") };
        assert_eq!(custom.resize, Some(SidesEntry::Word("squash".into())));
        assert_eq!(custom.mean, Some([104.0, 117.0, 123.0]));
        assert_eq!(second.own_classes(), Some(ClassesEntry::File("labels.csv".into())));
        assert_eq!(second.preprocess, Some(Preprocess::SideFile));
        assert_eq!((manifest.top_k, manifest.batch), (3, 8));
    }

    #[test]
    fn mistakes_are_named() {
        let head = "version = 1\nname = \"a\"\n";
        let model = "[[model]]\nname = \"m\"\nfile = \"m.onnx\"\n";
        let of_model = |line: &str| error_of(&format!("{head}{model}{line}\n"));
        insta::assert_snapshot!(
            error_of(head),
            @"eval.toml: `model` should be one or more models, found nothing"
        );
        insta::assert_snapshot!(
            error_of(&format!("{head}{model}{model}")),
            @"eval.toml: `model.name` should be different for each model, found `m`"
        );
        insta::assert_snapshot!(
            of_model("preproces = \"clip\""),
            @"eval.toml:6: unknown field `preproces`, expected one of `name`, `file`, `endpoint`, `chat`, `family`, `answer`, `aggregate`, `layer`, `labels`, `classes`, `preprocess`"
        );
        insta::assert_snapshot!(
            of_model("preprocess = \"keras\""),
            @r#"eval.toml:6: unknown preprocessing `keras`, expected `torchvision`, `timm`, `clip`, `tensorflow`, `side-file` or a table such as { resize = "cover" }"#
        );
        insta::assert_snapshot!(
            of_model("preprocess = { resizing = 3 }"),
            @"eval.toml:6: unknown field `resizing`, expected one of `resize`, `size`, `interpolation`, `channels`, `scale`, `mean`, `sd`"
        );
        insta::assert_snapshot!(
            of_model("preprocess = { sd = [1, 0, 1] }"),
            @"eval.toml: `model.preprocess.sd` should be 3 numbers, none of them 0, found `[1.0, 0.0, 1.0]`"
        );
        insta::assert_snapshot!(
            of_model("answer = \"best\""),
            @"eval.toml:6: unknown answer `best`, expected `as-is`, `imagenet-16`, `subset` or the path of a table with the columns class and label"
        );
        insta::assert_snapshot!(
            of_model("classes = [\"cat\", \"cat\"]"),
            @"eval.toml:6: `model.classes` should be each class once, found `cat`"
        );
        insta::assert_snapshot!(
            of_model("aggregate = \"max\""),
            @"eval.toml:6: `model.aggregate` should be left out unless `answer` is a table, found `max`"
        );
        insta::assert_snapshot!(
            error_of(&format!("{head}batch = 0\n{model}")),
            @"eval.toml:3: `batch` should be from 1 to 4096, found `0`"
        );
        insta::assert_snapshot!(
            error_of("version = 9\nname = \"a\"\nnovelty = 3\n"),
            @"eval.toml:1: `version` is manifest version 9; this mohs reads up to version 1"
        );
    }
}
