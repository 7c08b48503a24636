//! How a manifest says that pictures are prepared, turned into what a model takes.
//!
//! Nothing is guessed: a model without a word, a table or a side file is an error that lists what
//! could be said.

use std::io;
use std::path::{Path, PathBuf};

use mohs_data::{CustomPreprocess, ModelEntry, Preprocess, SidesEntry};

use crate::input::{Channels, InputSpec, Interpolation, Preset, Resize, SIDE_FILES, SideFileError};
use crate::network::Note;

/// A preparation that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum PreparationError {
    /// Nobody says how pictures are prepared.
    #[error(
        "nothing says how pictures are prepared for it: no `preprocess`, and none of {} beside it",
        looked_for.join(", ")
    )]
    NotSaid {
        /// Files that would say so.
        looked_for: Vec<String>,
    },
    /// A side file could not be read.
    #[error("cannot read {}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A side file is not understood.
    #[error("{} does not say how pictures are prepared", path.display())]
    SideFile {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: SideFileError,
    },
    /// A word that is none of those known.
    #[error("`preprocess.{key}` should be {expected}, found `{found}`")]
    UnknownWord {
        /// The key.
        key: &'static str,
        /// What may stand there.
        expected: &'static str,
        /// What stands there.
        found: String,
    },
    /// Nobody says how large pictures are.
    #[error(
        "the model does not say how large its pictures are, and `preprocess.size` is not there"
    )]
    NoSize,
    /// The size is not the model's.
    #[error(
        "`preprocess.size` is {} × {} pixels, and the model takes {} × {}",
        said.0, said.1, model.0, model.1
    )]
    OtherSize {
        /// What the manifest says.
        said: (u32, u32),
        /// What the model takes.
        model: (u32, u32),
    },
    /// Pictures of such a size are a mistake.
    #[error("the model takes pictures of {0} × {1} pixels; {MAX_SIDE} a side are the most")]
    TooLarge(u32, u32),
}

const MAX_SIDE: u32 = 16_384;

/// Finds out how pictures are prepared for a model that says it takes this size.
///
/// Returns where that was found, in words.
pub(super) fn find(
    entry: &ModelEntry,
    model: &Path,
    size: Option<(u32, u32)>,
    note: Option<&Note>,
) -> Result<(InputSpec, String), PreparationError> {
    let by_note = || {
        let ((width, height), note) = size.zip(note)?;
        let usual = InputSpec::imagenet(width, height);
        Some((InputSpec { mean: note.mean, sd: note.sd, ..usual }, "the model itself".to_owned()))
    };
    let preset = |preset: Preset| (InputSpec::preset(preset, size), preset.name().to_owned());
    let (spec, origin) = match &entry.preprocess {
        Some(Preprocess::Torchvision) => preset(Preset::Torchvision),
        Some(Preprocess::Clip) => preset(Preset::Clip),
        Some(Preprocess::Tensorflow) => preset(Preset::Tensorflow),
        Some(Preprocess::Timm) => match side_file(model, size)? {
            Some(found) => found,
            None => preset(Preset::Timm),
        },
        Some(Preprocess::Custom(custom)) => (by_hand(custom, size)?, "the manifest".to_owned()),
        said @ (Some(Preprocess::SideFile) | None) => {
            let found = match said.is_none().then(by_note).flatten() {
                Some(found) => Some(found),
                None => side_file(model, size)?,
            };
            found.ok_or_else(|| PreparationError::NotSaid {
                looked_for: candidates(model).iter().map(|path| file_name(path)).collect(),
            })?
        }
    };
    if MAX_SIDE < spec.width.max(spec.height) {
        return Err(PreparationError::TooLarge(spec.width, spec.height));
    }
    Ok((spec, origin))
}

/// Files that may say how pictures are prepared, the model's own one first.
fn candidates(model: &Path) -> Vec<PathBuf> {
    let mut candidates = vec![model.with_extension("json")];
    candidates.extend(SIDE_FILES.iter().map(|name| model.with_file_name(name)));
    candidates
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

fn side_file(
    model: &Path,
    size: Option<(u32, u32)>,
) -> Result<Option<(InputSpec, String)>, PreparationError> {
    let Some(path) = candidates(model).into_iter().find(|path| path.is_file()) else {
        return Ok(None);
    };
    let bytes = std::fs::read(&path)
        .map_err(|source| PreparationError::Unreadable { path: path.clone(), source })?;
    match InputSpec::from_side_file(&bytes, size) {
        Ok(spec) => Ok(Some((spec, file_name(&path)))),
        Err(source) => Err(PreparationError::SideFile { path, source }),
    }
}

/// What a table says; what it leaves out is as for most models of ImageNet.
fn by_hand(
    custom: &CustomPreprocess,
    model: Option<(u32, u32)>,
) -> Result<InputSpec, PreparationError> {
    let unknown = |key, expected, found: &str| PreparationError::UnknownWord {
        key,
        expected,
        found: found.to_owned(),
    };
    let said = match &custom.size {
        None => None,
        Some(SidesEntry::One(side)) => Some((*side, *side)),
        Some(SidesEntry::Both(width, height)) => Some((*width, *height)),
        Some(SidesEntry::Word(word)) => {
            return Err(unknown("size", "a side or [width, height] in pixels", word));
        }
    };
    let (width, height) = match (said, model) {
        (Some(said), Some(model)) if said != model => {
            return Err(PreparationError::OtherSize { said, model });
        }
        (Some(size), _) | (None, Some(size)) => size,
        (None, None) => return Err(PreparationError::NoSize),
    };
    let usual = InputSpec::imagenet(width, height);
    let resize = match &custom.resize {
        None => usual.resize,
        Some(SidesEntry::One(side)) => Resize::Shorter(*side),
        Some(SidesEntry::Both(width, height)) => Resize::Squash(*width, *height),
        Some(SidesEntry::Word(word)) => match word.as_str() {
            "none" => Resize::None,
            "cover" => usual.resize,
            "squash" => Resize::Squash(width, height),
            "inside" => Resize::Inside(width, height),
            other => {
                let expected = "`cover`, `squash`, `inside`, `none`, the length of the shorter \
                                side, or [width, height]";
                return Err(unknown("resize", expected, other));
            }
        },
    };
    let interpolation = match custom.interpolation.as_deref() {
        None => usual.interpolation,
        Some(word) => Interpolation::parse(word).ok_or_else(|| {
            let expected = "`nearest`, `box`, `bilinear`, `hamming`, `bicubic` or `lanczos`";
            unknown("interpolation", expected, word)
        })?,
    };
    let channels = match custom.channels.as_deref() {
        None | Some("rgb") => Channels::Rgb,
        Some("bgr") => Channels::Bgr,
        Some(word) => return Err(unknown("channels", "`rgb` or `bgr`", word)),
    };
    #[expect(clippy::cast_possible_truncation, reason = "models compute in f32")]
    let three = |numbers: [f64; 3]| numbers.map(|number| number as f32);
    #[expect(clippy::cast_possible_truncation, reason = "models compute in f32")]
    let scale = custom.scale.map_or(usual.scale, |scale| scale as f32);
    Ok(InputSpec {
        resize,
        interpolation,
        channels,
        scale,
        mean: custom.mean.map_or(usual.mean, three),
        sd: custom.sd.map_or(usual.sd, three),
        ..usual
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn custom(text: &str) -> Result<InputSpec, String> {
        let text = format!(
            "version = 1\nname = \"a\"\n[[model]]\nname = \"m\"\nfile = \"m.onnx\"\n\
             preprocess = {text}\n"
        );
        let manifest = mohs_data::Manifest::parse(Path::new("eval.toml"), &text).unwrap();
        find(&manifest.models[0], Path::new("m.onnx"), Some((227, 227)), None)
            .map(|(spec, _)| spec)
            .map_err(|error| error.to_string())
    }

    #[test]
    fn a_table_says_everything_or_leaves_it_as_usual() {
        let squeezed = custom(
            "{ resize = \"squash\", channels = \"bgr\", scale = 255, mean = [104, 117, 123], \
             sd = [1, 1, 1] }",
        )
        .unwrap();
        assert_eq!(squeezed.resize, Resize::Squash(227, 227));
        assert_eq!((squeezed.channels, squeezed.mean), (Channels::Bgr, [104.0, 117.0, 123.0]));
        assert_eq!(custom("{ size = 227 }").unwrap(), InputSpec::imagenet(227, 227));
        assert_eq!(custom("{ resize = 256 }").unwrap().resize, Resize::Shorter(256));
    }

    #[test]
    fn a_word_that_is_not_known_and_another_size_are_named() {
        assert!(custom("{ resize = \"stretch\" }").unwrap_err().contains("found `stretch`"));
        assert!(custom("{ interpolation = \"cubic\" }").unwrap_err().contains("`bicubic`"));
        assert_eq!(
            custom("{ size = [224, 227] }").unwrap_err(),
            "`preprocess.size` is 224 × 227 pixels, and the model takes 227 × 227"
        );
    }

    #[test]
    fn a_side_file_decides_and_nothing_is_guessed_without_one() {
        let folder = tempfile::tempdir().unwrap();
        let model = folder.path().join("m.onnx");
        let entry = ModelEntry::new("m".into(), "m.onnx".into());
        let nothing = find(&entry, &model, Some((64, 64)), None).unwrap_err().to_string();
        assert!(nothing.contains("m.json"), "{nothing}");
        let config = r#"{"pretrained_cfg": {"input_size": [3, 64, 64], "mean": [0.1, 0.2, 0.3]}}"#;
        std::fs::write(folder.path().join("config.json"), config).unwrap();
        let (spec, origin) = find(&entry, &model, Some((64, 64)), None).unwrap();
        assert_eq!((spec.mean, origin.as_str()), ([0.1, 0.2, 0.3], "config.json"));
        std::fs::write(folder.path().join("m.json"), "{}").unwrap();
        assert!(find(&entry, &model, Some((64, 64)), None).is_err());
        // A model that says so itself needs nothing beside it, and goes first.
        let note = Note { classes: vec![], mean: [0.5; 3], sd: [0.25; 3] };
        let (spec, origin) = find(&entry, &model, Some((64, 64)), Some(&note)).unwrap();
        assert_eq!(
            (spec.mean, spec.sd, origin.as_str()),
            ([0.5; 3], [0.25; 3], "the model itself")
        );
    }
}
