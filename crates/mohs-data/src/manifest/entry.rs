//! The values in a manifest that may be written in several ways: a word, a number, a list or a
//! table.
//!
//! Each is read by hand, so that a slip of the hand gets an answer that lists what may stand there.
//! What the words mean for pixels and outputs is not decided here.

use std::fmt;
use std::path::PathBuf;

use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{Error, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::ModelEntry;

/// How pixels become a model's input.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Preprocess {
    /// As `torchvision` weights expect.
    #[serde(serialize_with = "torchvision")]
    Torchvision,
    /// As the `timm` configuration beside the model says.
    #[serde(serialize_with = "timm")]
    Timm,
    /// As CLIP image encoders expect.
    #[serde(serialize_with = "clip")]
    Clip,
    /// Scaled to [-1, 1], as TensorFlow ports expect.
    #[serde(serialize_with = "tensorflow")]
    Tensorflow,
    /// As the side file beside the model says, which must be there.
    #[serde(serialize_with = "side_file")]
    SideFile,
    /// As this table says.
    Custom(CustomPreprocess),
}

fn torchvision<S: Serializer>(serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str("torchvision")
}

fn timm<S: Serializer>(serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str("timm")
}

fn clip<S: Serializer>(serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str("clip")
}

fn tensorflow<S: Serializer>(serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str("tensorflow")
}

fn side_file<S: Serializer>(serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str("side-file")
}

/// How pixels become a model's input, said piece by piece.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CustomPreprocess {
    /// How the picture is scaled: `cover`, `squash`, `none`, or the length of its shorter side.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resize: Option<SidesEntry>,
    /// The picture that the model gets: a side, or width and height; what the model says when not
    /// given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<SidesEntry>,
    /// How pixels between pixels are found: `bilinear`, `bicubic`, `lanczos`, `box` or `nearest`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interpolation: Option<String>,
    /// The order of the channels: `rgb` or `bgr`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub channels: Option<String>,
    /// What white is before the mean is taken away: 1 or 255.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scale: Option<f64>,
    /// What is taken away from each channel, in the order of the channels.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mean: Option<[f64; 3]>,
    /// What each channel is then divided by.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sd: Option<[f64; 3]>,
}

/// A length in pixels, a width and a height, or a word.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum SidesEntry {
    /// One length.
    One(u32),
    /// Width and height.
    Both(u32, u32),
    /// A word.
    Word(String),
}

/// A model's own classes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ClassesEntry {
    /// The thousand classes of ImageNet in their usual order.
    ImageNet1k,
    /// A text, CSV or JSON file, relative to the manifest's folder.
    File(PathBuf),
    /// This list.
    List(Vec<String>),
}

/// How a model's classes become labels of stimuli.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum AnswerEntry {
    /// Classes are labels.
    #[default]
    AsIs,
    /// The sixteen categories people were asked about, each the mean of its classes of ImageNet.
    ImageNet16,
    /// Only the classes that stimuli have, with probabilities over them alone.
    Subset,
    /// A table with the columns `class` and `label`, relative to the manifest's folder.
    Table(PathBuf),
}

impl AnswerEntry {
    pub(super) fn is_as_is(&self) -> bool {
        *self == Self::AsIs
    }
}

/// How files become pixels.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Decode {
    /// As people see them: turned as they were held, transparent parts on white.
    #[default]
    Upright,
    /// As torchvision and timm read files: neither turned nor on white.
    Torchvision,
}

impl Decode {
    pub(super) fn is_upright(&self) -> bool {
        *self == Self::Upright
    }
}

/// How the probabilities of several classes become that of their label.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Aggregate {
    /// Their mean: classes count the same, however many a label has.
    #[default]
    Mean,
    /// The largest.
    Max,
    /// Their sum: the probability that any of them is right.
    Sum,
}

impl ModelEntry {
    /// Finds keys that contradict each other: the key, what it should be, what it is.
    pub(super) fn check(&self) -> Result<(), (&'static str, String, String)> {
        if self.labels.is_some() && self.classes.is_some() {
            let expected = "left out beside `classes`, which says the same".to_owned();
            return Err(("labels", expected, "both".to_owned()));
        }
        if self.aggregate.is_some() && !matches!(self.answer, AnswerEntry::Table(_)) {
            let expected = "left out unless `answer` is a table".to_owned();
            let found = match self.aggregate {
                Some(Aggregate::Max) => "max",
                Some(Aggregate::Sum) => "sum",
                Some(Aggregate::Mean) | None => "mean",
            };
            return Err(("aggregate", expected, found.to_owned()));
        }
        let classes = self.own_classes();
        if self.answer == AnswerEntry::ImageNet16
            && !matches!(classes, None | Some(ClassesEntry::ImageNet1k))
        {
            let expected = "`imagenet-1k` beside `answer = \"imagenet-16\"`".to_owned();
            return Err(("classes", expected, "other classes".to_owned()));
        }
        if let Some(ClassesEntry::List(classes)) = &classes {
            let mut sorted: Vec<&String> = classes.iter().collect();
            sorted.sort_unstable();
            if let Some(pair) = sorted.windows(2).find(|pair| pair[0] == pair[1]) {
                return Err(("classes", "each class once".to_owned(), pair[0].clone()));
            }
        }
        if let Some(Preprocess::Custom(custom)) = &self.preprocess {
            custom.check()?;
        }
        Ok(())
    }
}

impl ModelEntry {
    /// Finds keys that mean nothing to a model behind an endpoint, or only to such a model.
    pub(super) fn check_endpoint(&self) -> Result<(), (String, String, String)> {
        let beside = |key: &str, what: &str| {
            Err((key.to_owned(), format!("left out beside `{what}`"), "both".to_owned()))
        };
        let Some(endpoint) = &self.endpoint else {
            return self.chat.as_ref().map_or(Ok(()), |_| beside("chat", "file"));
        };
        let strange = [
            ("file", !self.file.as_os_str().is_empty()),
            ("answer", self.answer != AnswerEntry::AsIs),
            ("aggregate", self.aggregate.is_some()),
            ("layer", self.layer.is_some()),
            ("preprocess", self.preprocess.is_some()),
        ];
        if let Some((key, _)) = strange.into_iter().find(|(_, is_there)| *is_there) {
            return beside(key, "endpoint");
        }
        let named = |table: &'static str| {
            move |(key, expected, found): (&str, String, String)| {
                (format!("{table}.{key}"), expected, found)
            }
        };
        endpoint.check().map_err(named("endpoint"))?;
        self.chat.as_ref().map_or(Ok(()), super::ChatEntry::check).map_err(named("chat"))
    }
}

impl CustomPreprocess {
    fn check(&self) -> Result<(), (&'static str, String, String)> {
        let is_finite = |numbers: &[f64]| numbers.iter().all(|number| number.is_finite());
        let bad = |key, expected: &str, found: String| Err((key, expected.to_owned(), found));
        match (&self.mean, &self.sd, self.scale) {
            (Some(mean), _, _) if !is_finite(mean) => {
                return bad("preprocess.mean", "3 numbers", format!("{mean:?}"));
            }
            (_, Some(sd), _) if !is_finite(sd) || sd.contains(&0.0) => {
                return bad("preprocess.sd", "3 numbers, none of them 0", format!("{sd:?}"));
            }
            (_, _, Some(scale)) if !scale.is_finite() || scale <= 0.0 => {
                return bad("preprocess.scale", "1 or 255", scale.to_string());
            }
            _ => {}
        }
        for (key, sides) in [("preprocess.resize", &self.resize), ("preprocess.size", &self.size)] {
            let sides = match sides {
                Some(SidesEntry::One(side)) => [*side, *side],
                Some(SidesEntry::Both(width, height)) => [*width, *height],
                _ => continue,
            };
            if !sides.iter().all(|side| (1..=MAX_SIDE).contains(side)) {
                let expected = format!("from 1 to {MAX_SIDE} pixels");
                return bad(key, &expected, format!("{sides:?}"));
            }
        }
        Ok(())
    }
}

/// Pictures with longer sides are a mistake in typing.
const MAX_SIDE: u32 = 16_384;

impl<'de> Deserialize<'de> for Preprocess {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;
        impl<'de> Visitor<'de> for Reader {
            type Value = Preprocess;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("`torchvision`, `timm`, `clip`, `tensorflow`, `side-file` or a table")
            }

            fn visit_str<E: Error>(self, word: &str) -> Result<Preprocess, E> {
                match word {
                    "torchvision" => Ok(Preprocess::Torchvision),
                    "timm" => Ok(Preprocess::Timm),
                    "clip" => Ok(Preprocess::Clip),
                    "tensorflow" => Ok(Preprocess::Tensorflow),
                    // The first files said `custom`.
                    "side-file" | "custom" => Ok(Preprocess::SideFile),
                    other => Err(E::custom(format!(
                        "unknown preprocessing `{other}`, expected `torchvision`, `timm`, `clip`, \
                         `tensorflow`, `side-file` or a table such as {{ resize = \"cover\" }}"
                    ))),
                }
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Preprocess, A::Error> {
                CustomPreprocess::deserialize(MapAccessDeserializer::new(map))
                    .map(Preprocess::Custom)
            }
        }
        deserializer.deserialize_any(Reader)
    }
}

impl<'de> Deserialize<'de> for SidesEntry {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;
        impl<'de> Visitor<'de> for Reader {
            type Value = SidesEntry;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number of pixels, [width, height] or a word")
            }

            fn visit_i64<E: Error>(self, side: i64) -> Result<SidesEntry, E> {
                let wrong = || E::custom(format!("expected a number of pixels, found {side}"));
                u32::try_from(side).map(SidesEntry::One).map_err(|_| wrong())
            }

            fn visit_str<E: Error>(self, word: &str) -> Result<SidesEntry, E> {
                Ok(SidesEntry::Word(word.to_owned()))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<SidesEntry, A::Error> {
                let (width, height) = <(u32, u32)>::deserialize(SeqAccessDeserializer::new(list))?;
                Ok(SidesEntry::Both(width, height))
            }
        }
        deserializer.deserialize_any(Reader)
    }
}

impl Serialize for ClassesEntry {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            ClassesEntry::ImageNet1k => serializer.serialize_str("imagenet-1k"),
            ClassesEntry::File(path) => path.serialize(serializer),
            ClassesEntry::List(names) => names.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for ClassesEntry {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;
        impl<'de> Visitor<'de> for Reader {
            type Value = ClassesEntry;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("`imagenet-1k`, the path of a list, or a list of classes")
            }

            fn visit_str<E: Error>(self, word: &str) -> Result<ClassesEntry, E> {
                Ok(match word {
                    "imagenet-1k" => ClassesEntry::ImageNet1k,
                    path => ClassesEntry::File(path.into()),
                })
            }

            fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<ClassesEntry, A::Error> {
                Vec::deserialize(SeqAccessDeserializer::new(list)).map(ClassesEntry::List)
            }
        }
        deserializer.deserialize_any(Reader)
    }
}

impl Serialize for AnswerEntry {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            AnswerEntry::AsIs => serializer.serialize_str("as-is"),
            AnswerEntry::ImageNet16 => serializer.serialize_str("imagenet-16"),
            AnswerEntry::Subset => serializer.serialize_str("subset"),
            AnswerEntry::Table(path) => path.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for AnswerEntry {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let word = String::deserialize(deserializer)?;
        match word.as_str() {
            "as-is" => Ok(AnswerEntry::AsIs),
            "imagenet-16" => Ok(AnswerEntry::ImageNet16),
            "subset" => Ok(AnswerEntry::Subset),
            path if path.contains(['.', '/']) => Ok(AnswerEntry::Table(path.into())),
            other => Err(D::Error::custom(format!(
                "unknown answer `{other}`, expected `as-is`, `imagenet-16`, `subset` or the path \
                 of a table with the columns class and label"
            ))),
        }
    }
}
