//! Hugging Face's `preprocessor_config.json`.
//!
//! The file's meaning depends on the class that reads it (`image_processor_type`): whether a
//! plain number is the shorter side or both, and what is done before the cut. The rules of the
//! classes for classification and CLIP are followed; pictures of changing size are refused.

use serde_json::Value;

use super::super::{Channels, InputSpec, Interpolation, Resize};
use super::{Section, SideFileError, side_of};

/// Classes that take a plain number as the shorter side.
const SHORTER_SIDE: [&str; 8] =
    ["CLIP", "ConvNe", "Levit", "LeViT", "MobileNet", "MobileViT", "PoolFormer", "BitImage"];

/// Classes that are bicubic where the file does not say.
const BICUBIC: [&str; 4] = ["CLIP", "ConvNe", "DeiT", "BitImage"];

pub(super) fn read(root: &Section) -> Result<InputSpec, SideFileError> {
    let class = match root.text("image_processor_type")? {
        Some(class) => class,
        None => root.text("feature_extractor_type")?.unwrap_or(""),
    };
    let is_one_of = |names: &[&str]| names.iter().any(|name| class.contains(name));
    let size = size(root, is_one_of(&SHORTER_SIDE))?;
    let share = root.positive("crop_pct")?;
    let does_resize = root.flag("do_resize")?.unwrap_or(true);
    // Classes with `crop_pct` cut to the size they were given, after resizing to more.
    let (mut resize, mut crop) = match (size, share) {
        (Size::Shorter(side), _) if class.contains("ConvNe") && 384 <= side => {
            (Resize::Squash(side, side), None)
        }
        (Size::Shorter(side), share) if class.contains("ConvNe") => {
            let share = share.unwrap_or(224.0 / 256.0);
            (Resize::Shorter(side_of(f64::from(side) / share)), Some((side, side)))
        }
        (Size::Shorter(side), Some(share)) => {
            (Resize::Shorter(side_of(f64::from(side) / share)), Some((side, side)))
        }
        (Size::Shorter(side), None) if is_one_of(&["Levit", "LeViT"]) => {
            (Resize::Shorter(side_of(256.0 / 224.0 * f64::from(side))), Some((side, side)))
        }
        (Size::Shorter(side), None) => (Resize::Shorter(side), None),
        (Size::Both(width, height), _) => (Resize::Squash(width, height), None),
    };
    if !does_resize {
        resize = Resize::None;
    }
    let does_cut = root.flag("do_center_crop")?;
    match (crop_size(root)?, does_cut) {
        (_, Some(false)) if share.is_none() => crop = None,
        (Some(size), _) => crop = Some(size),
        (None, Some(true)) => {
            crop = crop.or(match size {
                Size::Shorter(side) => Some((side, side)),
                Size::Both(width, height) => Some((width, height)),
            });
        }
        (None, _) => {}
    }
    let (width, height) = match (crop, resize) {
        (Some(size), _) => size,
        (None, Resize::Squash(width, height)) => (width, height),
        (None, _) => {
            let found = root.value("size").cloned().unwrap_or(Value::Null);
            return Err(root.bad("size", "a height and a width, or do_center_crop true", &found));
        }
    };
    let usual = if is_one_of(&BICUBIC) { Interpolation::Bicubic } else { Interpolation::Bilinear };
    let (scale, offset) = scale(root)?;
    let does_normalise = root.flag("do_normalize")?.unwrap_or(true);
    let (mean, sd) = if does_normalise {
        let mean = root.three("image_mean")?.unwrap_or([0.5; 3]);
        (mean, root.three_divisors("image_std")?.unwrap_or([0.5; 3]))
    } else {
        ([0.0; 3], [1.0; 3])
    };
    Ok(InputSpec {
        resize,
        width,
        height,
        interpolation: root.interpolation("resample")?.unwrap_or(usual),
        fill: [0; 3],
        channels: Channels::Rgb,
        scale,
        mean: mean.map(|mean| mean + offset),
        sd,
    })
}

/// What `size` means.
#[derive(Clone, Copy)]
enum Size {
    Shorter(u32),
    Both(u32, u32),
}

fn size(root: &Section, is_shorter_side: bool) -> Result<Size, SideFileError> {
    const KEY: &str = "size";
    match root.value(KEY) {
        None if is_shorter_side => Ok(Size::Shorter(224)),
        None => Ok(Size::Both(224, 224)),
        Some(Value::Object(map)) => {
            let section = Section { prefix: "size.", map };
            match (map.get("shortest_edge"), map.get("height"), map.get("width")) {
                (Some(side), None, None) => Ok(Size::Shorter(section.side("shortest_edge", side)?)),
                (None, Some(height), Some(width)) => {
                    Ok(Size::Both(section.side("width", width)?, section.side("height", height)?))
                }
                _ => {
                    let expected = "{shortest_edge} or {height, width}";
                    Err(root.bad(KEY, expected, &Value::Object(map.clone())))
                }
            }
        }
        Some(Value::Array(sides)) if sides.len() == 2 => {
            Ok(Size::Both(root.side(KEY, &sides[1])?, root.side(KEY, &sides[0])?))
        }
        Some(value) => {
            let side = root.side(KEY, value)?;
            Ok(if is_shorter_side { Size::Shorter(side) } else { Size::Both(side, side) })
        }
    }
}

/// Width and height of the cut.
fn crop_size(root: &Section) -> Result<Option<(u32, u32)>, SideFileError> {
    const KEY: &str = "crop_size";
    match root.value(KEY) {
        None => Ok(None),
        Some(Value::Object(map)) => {
            let section = Section { prefix: "crop_size.", map };
            let (Some(height), Some(width)) = (map.get("height"), map.get("width")) else {
                return Err(root.bad(KEY, "{height, width}", &Value::Object(map.clone())));
            };
            Ok(Some((section.side("width", width)?, section.side("height", height)?)))
        }
        Some(value) => root.side(KEY, value).map(|side| Some((side, side))),
    }
}

/// What white becomes, and what is taken away before the mean.
#[expect(clippy::cast_possible_truncation, reason = "models compute in 32 bits")]
fn scale(root: &Section) -> Result<(f32, f32), SideFileError> {
    if !root.flag("do_rescale")?.unwrap_or(true) {
        return Ok((255.0, 0.0));
    }
    let factor = root.positive("rescale_factor")?.unwrap_or(1.0 / 255.0);
    let offset = if root.flag("rescale_offset")?.unwrap_or(false) { 1.0 } else { 0.0 };
    Ok(((factor * 255.0) as f32, offset))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> InputSpec {
        InputSpec::from_side_file(text.as_bytes(), None).unwrap()
    }

    #[test]
    fn vit_squashes() {
        let spec = read(
            r#"{"do_normalize": true, "do_resize": true, "image_mean": [0.5, 0.5, 0.5],
            "image_std": [0.5, 0.5, 0.5], "size": 224, "resample": 2,
            "feature_extractor_type": "ViTFeatureExtractor"}"#,
        );
        assert_eq!(spec.resize, Resize::Squash(224, 224));
        assert_eq!((spec.interpolation, spec.scale), (Interpolation::Bilinear, 1.0));
    }

    #[test]
    fn clip_keeps_the_proportions() {
        let spec = read(
            r#"{"crop_size": {"height": 224, "width": 224}, "do_center_crop": true,
            "do_rescale": true, "rescale_factor": 0.00392156862745098, "resample": 3,
            "image_mean": [0.48145466, 0.4578275, 0.40821073], "image_std": [0.27, 0.26, 0.28],
            "image_processor_type": "CLIPImageProcessor", "size": {"shortest_edge": 224}}"#,
        );
        assert_eq!(spec.resize, Resize::Shorter(224));
        assert_eq!((spec.width, spec.interpolation), (224, Interpolation::Bicubic));
        let old = r#"{"crop_size": 224, "size": 224, "resample": 3, "do_center_crop": true,
            "feature_extractor_type": "CLIPFeatureExtractor", "image_mean": [0.5, 0.5, 0.5],
            "image_std": [0.5, 0.5, 0.5]}"#;
        assert_eq!(read(old).resize, Resize::Shorter(224));
    }

    #[test]
    fn convnext_resizes_to_more_and_cuts_unless_it_is_large() {
        let text = |side: u32| {
            format!(
                r#"{{"crop_pct": 0.875, "do_resize": true, "resample": 3,
                "image_processor_type": "ConvNextImageProcessor",
                "image_mean": [0.485, 0.456, 0.406], "image_std": [0.229, 0.224, 0.225],
                "size": {{"shortest_edge": {side}}}}}"#
            )
        };
        let small = read(&text(224));
        assert_eq!((small.resize, small.width), (Resize::Shorter(256), 224));
        let large = read(&text(384));
        assert_eq!((large.resize, large.width), (Resize::Squash(384, 384), 384));
    }

    #[test]
    fn an_offset_joins_the_mean() {
        let spec = read(
            r#"{"image_processor_type": "EfficientNetImageProcessor", "do_normalize": false,
            "size": {"height": 300, "width": 300}, "rescale_factor": 0.00784313725490196,
            "rescale_offset": true}"#,
        );
        assert_eq!((spec.scale, spec.mean, spec.sd), (2.0, [1.0; 3], [1.0; 3]));
    }

    #[test]
    fn pictures_of_changing_size_are_refused() {
        let text = r#"{"size": {"shortest_edge": 800}, "image_mean": [0.5, 0.5, 0.5],
            "image_processor_type": "DetrImageProcessor"}"#;
        let error = InputSpec::from_side_file(text.as_bytes(), None).unwrap_err().to_string();
        assert!(error.contains("`size` of the side file"), "{error}");
    }

    #[test]
    fn a_size_other_than_the_models_is_an_error() {
        let text = r#"{"size": 224, "do_resize": true, "image_mean": [0.5, 0.5, 0.5]}"#;
        let error = InputSpec::from_side_file(text.as_bytes(), Some((384, 384))).unwrap_err();
        assert_eq!(
            error.to_string(),
            "the side file should say the model's size of 384 × 384 pixels, found 224 × 224"
        );
    }
}
