//! timm's `config.json`: `pretrained_cfg`, or the same keys at the top.
//!
//! Follows `resolve_data_config` and the evaluation transform of timm. `crop_border_pixels` is not
//! part of a model's configuration there, and not read here.

use serde_json::Value;

use super::super::preset::{IMAGENET_MEAN, IMAGENET_SD};
use super::super::{Channels, InputSpec, Interpolation, Resize, geometry};
use super::{Section, SideFileError, side_of};

/// What timm takes where the configuration says nothing.
const USUAL_SHARE: f64 = 0.875;

pub(super) fn read(
    section: &Section,
    model_size: Option<(u32, u32)>,
) -> Result<InputSpec, SideFileError> {
    let usual = size(section, "input_size")?;
    let test = size(section, "test_input_size")?;
    // A model that was exported at its test size is prepared as timm prepares for that size.
    let is_test = model_size.is_some() && model_size == test && model_size != usual;
    let (width, height) = model_size.or(usual).unwrap_or((224, 224));
    let share = match section.positive("test_crop_pct")? {
        Some(share) if is_test => share,
        _ => section.positive("crop_pct")?.unwrap_or(USUAL_SHARE),
    };
    let around = |side: u32| side_of(f64::from(side) / share);
    let interpolation = section.interpolation("interpolation")?.unwrap_or(Interpolation::Bicubic);
    let mean = section.three("mean")?.unwrap_or(IMAGENET_MEAN);
    let sd = section.three_divisors("std")?.unwrap_or(IMAGENET_SD);
    let (resize, interpolation, fill) = match section.text("crop_mode")? {
        None | Some("center") => {
            let resize = geometry::covering(around(width), around(height));
            // For sides that differ, timm resizes bilinearly whatever the configuration says.
            let is_square = matches!(resize, Resize::Shorter(_));
            (resize, if is_square { interpolation } else { Interpolation::Bilinear }, [0; 3])
        }
        Some("squash") => (Resize::Squash(around(width), around(height)), interpolation, [0; 3]),
        Some("border") => {
            let fill = mean.map(|mean| level(f64::from(mean)));
            (Resize::Inside(around(width), around(height)), interpolation, fill)
        }
        Some(other) => {
            let found = Value::String(other.to_owned());
            return Err(section.bad("crop_mode", "center, squash or border", &found));
        }
    };
    let channels = Channels::Rgb;
    Ok(InputSpec { resize, width, height, interpolation, fill, channels, scale: 1.0, mean, sd })
}

/// Channels, height, width.
fn size(section: &Section, key: &str) -> Result<Option<(u32, u32)>, SideFileError> {
    let Some(value) = section.value(key) else { return Ok(None) };
    let expected = "3 channels, a height and a width: [3, 224, 224]";
    let Some([channels, height, width]) = value.as_array().and_then(|list| list.first_chunk())
    else {
        return Err(section.bad(key, expected, value));
    };
    if channels.as_u64() != Some(3) || value.as_array().map(Vec::len) != Some(3) {
        return Err(section.bad(key, expected, value));
    }
    Ok(Some((section.side(key, width)?, section.side(key, height)?)))
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a cast from float saturates"
)]
fn level(mean: f64) -> u8 {
    (255.0 * mean).round_ties_even() as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, model_size: Option<(u32, u32)>) -> Result<InputSpec, SideFileError> {
        InputSpec::from_side_file(text.as_bytes(), model_size)
    }

    const CONVNEXT: &str = r#"{"architecture": "convnext_tiny", "num_classes": 1000,
        "pretrained_cfg": {"tag": "in12k_ft_in1k", "input_size": [3, 224, 224],
        "test_input_size": [3, 288, 288], "fixed_input_size": false, "interpolation": "bicubic",
        "crop_pct": 0.95, "test_crop_pct": 1.0, "crop_mode": "center",
        "mean": [0.485, 0.456, 0.406], "std": [0.229, 0.224, 0.225]}}"#;

    #[test]
    fn a_configuration_is_read_as_timm_reads_it() {
        let spec = read(CONVNEXT, None).unwrap();
        assert_eq!(spec.resize, Resize::Shorter(235));
        assert_eq!((spec.width, spec.interpolation), (224, Interpolation::Bicubic));
        assert_eq!(read(CONVNEXT, Some((288, 288))).unwrap().resize, Resize::Shorter(288));
        assert_eq!(read(CONVNEXT, Some((256, 256))).unwrap().resize, Resize::Shorter(269));
    }

    #[test]
    fn flat_keys_and_defaults_do() {
        let spec = read(r#"{"input_size": [3, 240, 320], "crop_pct": null}"#, None).unwrap();
        assert_eq!((spec.width, spec.height), (320, 240));
        assert_eq!(spec.resize, Resize::Cover(365, 274));
        assert_eq!(spec.interpolation, Interpolation::Bilinear);
        assert!(spec.signature().contains("mean 0.485,0.456,0.406; sd 0.229,0.224,0.225"));
    }

    #[test]
    fn squash_and_border_are_understood() {
        let text = |mode: &str| {
            format!(
                r#"{{"input_size": [3, 384, 384], "crop_pct": 1.0, "crop_mode": "{mode}",
                "mean": [0.5, 0.5, 0.5], "std": [0.5, 0.5, 0.5]}}"#
            )
        };
        assert_eq!(read(&text("squash"), None).unwrap().resize, Resize::Squash(384, 384));
        let border = read(&text("border"), None).unwrap();
        // Half of 255 is 127.5, and Python rounds that to the even 128.
        assert_eq!((border.resize, border.fill), (Resize::Inside(384, 384), [128; 3]));
        let error = read(&text("middle"), None).unwrap_err().to_string();
        assert_eq!(
            error,
            "`crop_mode` of the side file should be center, squash or border, found \"middle\""
        );
    }

    #[test]
    fn one_channel_is_refused() {
        let error = read(r#"{"input_size": [1, 28, 28]}"#, None).unwrap_err().to_string();
        assert!(error.contains("3 channels"), "{error}");
    }
}
