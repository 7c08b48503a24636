//! Side files: what the published configuration beside a model says about preparing pictures.
//!
//! Three families are read: timm's `config.json`, `preprocessor_config.json` of Hugging Face's
//! transformers, and `open_clip_config.json`. What such a file leaves open is filled with the
//! defaults of the library it belongs to; a value that is not understood is an error and never
//! ignored, because it would change every answer of the model.

mod hugging_face;
mod open_clip;
mod timm;

use serde_json::{Map, Value};

use super::{InputSpec, Interpolation};

/// Names of files that may lie beside a model and say how pictures are prepared, in the order in
/// which they should be looked for.
pub const SIDE_FILES: [&str; 3] =
    ["preprocessor_config.json", "open_clip_config.json", "config.json"];

/// Pictures with longer sides are a mistake in the file.
const MAX_SIDE: u32 = 16_384;

/// Why a side file does not say how pictures are prepared.
#[derive(Debug, thiserror::Error)]
pub enum SideFileError {
    /// It is not JSON.
    #[error("the side file should be JSON, found something else")]
    NotJson {
        /// What the parser said.
        source: serde_json::Error,
    },
    /// It is JSON of another kind.
    #[error(
        "the side file should say how pictures are prepared (timm's `pretrained_cfg` or \
         `input_size`, Hugging Face's `image_mean` or `size`, open_clip's `preprocess_cfg`), \
         found {found}"
    )]
    OtherKind {
        /// Its first keys.
        found: String,
    },
    /// A value is not understood.
    #[error("`{key}` of the side file should be {expected}, found {found}")]
    BadValue {
        /// Which one.
        key: String,
        /// What it may be.
        expected: &'static str,
        /// What it is.
        found: String,
    },
    /// The side file and the model disagree.
    #[error(
        "the side file should say the model's size of {} × {} pixels, found {} × {}",
        model.0, model.1, found.0, found.1
    )]
    OtherSize {
        /// What the model takes.
        model: (u32, u32),
        /// What the side file says.
        found: (u32, u32),
    },
}

impl InputSpec {
    /// Reads the configuration beside a model.
    ///
    /// `model_size` is what the model itself says (width, height), if it does. A timm
    /// configuration is then read for that size, as timm does with `img_size`; the other two must
    /// agree with it.
    pub fn from_side_file(
        bytes: &[u8],
        model_size: Option<(u32, u32)>,
    ) -> Result<InputSpec, SideFileError> {
        let value: Value =
            serde_json::from_slice(bytes).map_err(|source| SideFileError::NotJson { source })?;
        let other = |found: String| SideFileError::OtherKind { found };
        let Value::Object(root) = value else { return Err(other("no object".into())) };
        let root = Section { prefix: "", map: &root };
        if let Some(section) = root.section("pretrained_cfg")? {
            return timm::read(&section, model_size);
        }
        let spec = if let Some(section) = root.section("preprocess_cfg")? {
            open_clip::read(&section, Some(&root))?
        } else if root.has_any(&["resize_mode"]) {
            open_clip::read(&root, None)?
        } else if root.has_any(&[
            "image_mean",
            "image_processor_type",
            "feature_extractor_type",
            "do_resize",
            "do_normalize",
        ]) {
            hugging_face::read(&root)?
        } else if root.has_any(&["input_size", "crop_pct", "test_input_size"]) {
            return timm::read(&root, model_size);
        } else {
            let keys: Vec<String> = root.map.keys().take(5).map(|key| format!("`{key}`")).collect();
            return Err(other(if keys.is_empty() {
                "an empty object".into()
            } else {
                keys.join(", ")
            }));
        };
        let found = (spec.width, spec.height);
        match model_size {
            Some(model) if model != found => Err(SideFileError::OtherSize { model, found }),
            _ => Ok(spec),
        }
    }
}

/// An object of the file; a key that is `null` counts as absent.
struct Section<'a> {
    prefix: &'static str,
    map: &'a Map<String, Value>,
}

impl<'a> Section<'a> {
    fn value(&self, key: &str) -> Option<&'a Value> {
        self.map.get(key).filter(|value| !value.is_null())
    }

    fn has_any(&self, keys: &[&str]) -> bool {
        keys.iter().any(|key| self.value(key).is_some())
    }

    fn bad(&self, key: &str, expected: &'static str, found: &Value) -> SideFileError {
        let key = format!("{}{key}", self.prefix);
        SideFileError::BadValue { key, expected, found: found.to_string() }
    }

    fn section(&self, key: &'static str) -> Result<Option<Section<'a>>, SideFileError> {
        match self.value(key) {
            None => Ok(None),
            Some(Value::Object(map)) => Ok(Some(Section { prefix: "", map })),
            Some(other) => Err(self.bad(key, "an object", other)),
        }
    }

    fn text(&self, key: &str) -> Result<Option<&'a str>, SideFileError> {
        self.value(key)
            .map(|value| value.as_str().ok_or_else(|| self.bad(key, "a word", value)))
            .transpose()
    }

    fn flag(&self, key: &str) -> Result<Option<bool>, SideFileError> {
        self.value(key)
            .map(|value| value.as_bool().ok_or_else(|| self.bad(key, "true or false", value)))
            .transpose()
    }

    fn number(&self, key: &str) -> Result<Option<f64>, SideFileError> {
        self.value(key)
            .map(|value| {
                let number = value.as_f64().filter(|number| number.is_finite());
                number.ok_or_else(|| self.bad(key, "a number", value))
            })
            .transpose()
    }

    fn positive(&self, key: &str) -> Result<Option<f64>, SideFileError> {
        match (self.number(key)?, self.value(key)) {
            (Some(number), Some(value)) if number <= 0.0 => {
                Err(self.bad(key, "a number above 0", value))
            }
            (number, _) => Ok(number),
        }
    }

    /// One number per channel; a single number stands for all three.
    fn three(&self, key: &str) -> Result<Option<[f32; 3]>, SideFileError> {
        let Some(value) = self.value(key) else { return Ok(None) };
        let numbers: Option<Vec<f32>> = match value {
            Value::Array(items) => items.iter().map(small).collect(),
            single => small(single).map(|number| vec![number]),
        };
        match numbers.as_deref() {
            Some(&[one]) => Ok(Some([one; 3])),
            Some(&[red, green, blue]) => Ok(Some([red, green, blue])),
            _ => Err(self.bad(key, "one number per channel, for three channels", value)),
        }
    }

    /// One divisor per channel.
    fn three_divisors(&self, key: &str) -> Result<Option<[f32; 3]>, SideFileError> {
        match (self.three(key)?, self.value(key)) {
            (Some(numbers), Some(value)) if numbers.contains(&0.0) => {
                Err(self.bad(key, "numbers other than 0", value))
            }
            (numbers, _) => Ok(numbers),
        }
    }

    fn side(&self, key: &str, value: &Value) -> Result<u32, SideFileError> {
        let side = value.as_u64().and_then(|side| u32::try_from(side).ok());
        side.filter(|side| (1..=MAX_SIDE).contains(side))
            .ok_or_else(|| self.bad(key, "a side from 1 to 16384 pixels", value))
    }

    fn interpolation(&self, key: &str) -> Result<Option<Interpolation>, SideFileError> {
        const EXPECTED: &str = "nearest, box, bilinear, hamming, bicubic or lanczos";
        let Some(value) = self.value(key) else { return Ok(None) };
        let filter = match value {
            Value::String(name) => Interpolation::parse(name),
            // Pillow's numbers.
            number => match number.as_u64() {
                Some(0) => Some(Interpolation::Nearest),
                Some(1) => Some(Interpolation::Lanczos),
                Some(2) => Some(Interpolation::Bilinear),
                Some(3) => Some(Interpolation::Bicubic),
                Some(4) => Some(Interpolation::Box),
                Some(5) => Some(Interpolation::Hamming),
                _ => None,
            },
        };
        filter.map(Some).ok_or_else(|| self.bad(key, EXPECTED, value))
    }
}

/// A finite number of 32 bits.
#[expect(clippy::cast_possible_truncation, reason = "models compute in 32 bits")]
fn small(value: &Value) -> Option<f32> {
    value.as_f64().map(|number| number as f32).filter(|number| number.is_finite())
}

/// Rounds a quotient of sides down, as `int()` and `math.floor` do in the libraries meant.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "cut to what a side may be"
)]
fn side_of(quotient: f64) -> u32 {
    quotient.clamp(1.0, f64::from(4 * MAX_SIDE)) as u32
}
