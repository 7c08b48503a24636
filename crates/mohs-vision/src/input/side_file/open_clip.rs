//! open_clip's `open_clip_config.json`: `preprocess_cfg`, or the same keys at the top.
//!
//! Follows the evaluation transform of open_clip. The text encoder is none of our business.

use serde_json::Value;

use super::super::preset::{CLIP_MEAN, CLIP_SD};
use super::super::{Channels, InputSpec, Interpolation, Resize, geometry};
use super::{Section, SideFileError};

pub(super) fn read(section: &Section, root: Option<&Section>) -> Result<InputSpec, SideFileError> {
    let (width, height) = match size(section, "size")? {
        Some(size) => size,
        None => vision_size(root)?.unwrap_or((224, 224)),
    };
    let named = section.interpolation("interpolation")?;
    let interpolation = named.unwrap_or(Interpolation::Bicubic);
    let fill = match section.value("fill_color") {
        None => [0; 3],
        Some(value) => fill(section, value)?,
    };
    let resize = match section.text("resize_mode")? {
        None | Some("shortest") => geometry::covering(width, height),
        Some("longest") => Resize::Inside(width, height),
        Some("squash") => Resize::Squash(width, height),
        Some(other) => {
            let found = Value::String(other.to_owned());
            return Err(section.bad("resize_mode", "shortest, longest or squash", &found));
        }
    };
    Ok(InputSpec {
        resize,
        width,
        height,
        interpolation,
        fill,
        channels: Channels::Rgb,
        scale: 1.0,
        mean: section.three("mean")?.unwrap_or(CLIP_MEAN),
        sd: section.three_divisors("std")?.unwrap_or(CLIP_SD),
    })
}

/// A side, or a height and a width.
fn size(section: &Section, key: &str) -> Result<Option<(u32, u32)>, SideFileError> {
    match section.value(key) {
        None => Ok(None),
        Some(Value::Array(sides)) if sides.len() == 2 => {
            Ok(Some((section.side(key, &sides[1])?, section.side(key, &sides[0])?)))
        }
        Some(value) => section.side(key, value).map(|side| Some((side, side))),
    }
}

/// The size that the model's own part of the file gives.
fn vision_size(root: Option<&Section>) -> Result<Option<(u32, u32)>, SideFileError> {
    let Some(model) = root.map(|root| root.section("model_cfg")).transpose()?.flatten() else {
        return Ok(None);
    };
    match model.section("vision_cfg")? {
        Some(vision) => size(&vision, "image_size"),
        None => Ok(None),
    }
}

/// One level for all channels, or one each.
fn fill(section: &Section, value: &Value) -> Result<[u8; 3], SideFileError> {
    let level = |value: &Value| value.as_u64().and_then(|level| u8::try_from(level).ok());
    let levels = match value {
        Value::Array(levels) => levels.iter().map(level).collect::<Option<Vec<u8>>>(),
        single => level(single).map(|level| vec![level; 3]),
    };
    levels
        .and_then(|levels| <[u8; 3]>::try_from(levels).ok())
        .ok_or_else(|| section.bad("fill_color", "a level from 0 to 255, or three", value))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<InputSpec, SideFileError> {
        InputSpec::from_side_file(text.as_bytes(), None)
    }

    #[test]
    fn the_size_may_stand_in_the_models_part() {
        let text = r#"{"model_cfg": {"vision_cfg": {"image_size": 256}},
            "preprocess_cfg": {"mean": [0.5, 0.5, 0.5], "std": [0.5, 0.5, 0.5],
            "interpolation": "bicubic", "resize_mode": "squash"}}"#;
        let spec = read(text).unwrap();
        assert_eq!(spec.resize, Resize::Squash(256, 256));
        assert_eq!((spec.mean, spec.interpolation), ([0.5; 3], Interpolation::Bicubic));
    }

    #[test]
    fn what_is_open_is_clips() {
        let spec = read(r#"{"preprocess_cfg": {}}"#).unwrap();
        assert_eq!(spec.resize, Resize::Shorter(224));
        assert_eq!((spec.mean, spec.sd), (CLIP_MEAN, CLIP_SD));
    }

    #[test]
    fn the_longest_side_may_count() {
        let text = r#"{"resize_mode": "longest", "size": [224, 112], "fill_color": 7}"#;
        let spec = read(text).unwrap();
        assert_eq!((spec.width, spec.height, spec.fill), (112, 224, [7; 3]));
        assert_eq!(spec.resize, Resize::Inside(112, 224));
        let error = read(r#"{"resize_mode": "keep"}"#).unwrap_err().to_string();
        assert!(error.ends_with("found \"keep\""), "{error}");
    }
}
