//! Presets: the ways of preparing pictures that most published models were trained with.
//!
//! A preset is a default for models that come without a side file; the numbers of each stand in
//! `docs/formats/preprocessing.md`, which a test holds against this file.

use super::{Channels, InputSpec, Interpolation, geometry};

pub(super) const IMAGENET_MEAN: [f32; 3] = [0.485, 0.456, 0.406];
pub(super) const IMAGENET_SD: [f32; 3] = [0.229, 0.224, 0.225];
pub(super) const CLIP_MEAN: [f32; 3] = [0.481_454_66, 0.457_827_5, 0.408_210_73];
pub(super) const CLIP_SD: [f32; 3] = [0.268_629_54, 0.261_302_6, 0.275_777_1];

/// The side of pictures where neither the model nor its side file says one.
const USUAL_SIDE: u32 = 224;

/// A named way of preparing pictures.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Preset {
    /// As torchvision's weights of ImageNet.
    Torchvision,
    /// As timm does where a model's configuration says nothing.
    Timm,
    /// As OpenAI's CLIP.
    Clip,
    /// As timm's ports of TensorFlow models: from −1 to 1.
    Tensorflow,
}

impl Preset {
    /// All presets.
    pub const ALL: [Preset; 4] =
        [Preset::Torchvision, Preset::Timm, Preset::Clip, Preset::Tensorflow];

    /// Returns the preset's name.
    pub fn name(self) -> &'static str {
        match self {
            Preset::Torchvision => "torchvision",
            Preset::Timm => "timm",
            Preset::Clip => "clip",
            Preset::Tensorflow => "tensorflow",
        }
    }

    /// Returns the preset of that name; `None` if there is none.
    pub fn parse(name: &str) -> Option<Preset> {
        Preset::ALL.into_iter().find(|preset| preset.name() == name)
    }
}

impl InputSpec {
    /// Returns what a preset says for a model of this size (width, height); 224 × 224 if the model
    /// does not say.
    pub fn preset(preset: Preset, size: Option<(u32, u32)>) -> InputSpec {
        let (width, height) = size.unwrap_or((USUAL_SIDE, USUAL_SIDE));
        // 256 for 224, and in proportion for others: rounded for torchvision (342 for 299), rounded
        // down for timm.
        let nearest = |side: u32| side.saturating_mul(16).saturating_add(7) / 14;
        let down = |side: u32| side.saturating_mul(8) / 7;
        let around = |side: fn(u32) -> u32| geometry::covering(side(width), side(height));
        let (resize, interpolation, mean, sd) = match preset {
            Preset::Torchvision => {
                (around(nearest), Interpolation::Bilinear, IMAGENET_MEAN, IMAGENET_SD)
            }
            Preset::Timm => (around(down), Interpolation::Bicubic, IMAGENET_MEAN, IMAGENET_SD),
            Preset::Clip => {
                (geometry::covering(width, height), Interpolation::Bicubic, CLIP_MEAN, CLIP_SD)
            }
            Preset::Tensorflow => (around(down), Interpolation::Bicubic, [0.5; 3], [0.5; 3]),
        };
        InputSpec {
            resize,
            width,
            height,
            interpolation,
            fill: [0; 3],
            channels: Channels::Rgb,
            scale: 1.0,
            mean,
            sd,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Resize;
    use super::*;

    fn resize(preset: Preset, side: u32) -> Resize {
        InputSpec::preset(preset, Some((side, side))).resize
    }

    #[test]
    fn the_published_sizes_come_out() {
        // torchvision: ResNet-50 V1 and Inception V3.
        assert_eq!(resize(Preset::Torchvision, 224), Resize::Shorter(256));
        assert_eq!(resize(Preset::Torchvision, 299), Resize::Shorter(342));
        assert_eq!(resize(Preset::Timm, 299), Resize::Shorter(341));
        assert_eq!(resize(Preset::Clip, 336), Resize::Shorter(336));
        assert_eq!(InputSpec::preset(Preset::Timm, None).width, 224);
    }

    #[test]
    fn names_lead_back_to_presets() {
        for preset in Preset::ALL {
            assert_eq!(Preset::parse(preset.name()), Some(preset));
        }
        assert_eq!(Preset::parse("keras"), None);
    }

    #[test]
    fn the_page_of_preprocessing_has_the_numbers_of_each_preset() {
        let page = include_str!("../../../../docs/formats/preprocessing.md");
        for preset in Preset::ALL {
            let spec = InputSpec::preset(preset, None);
            let start = format!("| `{}` | ", preset.name());
            let row = page.lines().find(|line| line.starts_with(&start)).unwrap();
            let cells: Vec<&str> = row.split('|').map(str::trim).collect();
            assert_eq!(cells[3], spec.interpolation.name(), "{row}");
            let numbers = |cell: &str| -> Vec<u32> {
                cell.split(", ").map(|number| number.parse::<f32>().unwrap().to_bits()).collect()
            };
            assert_eq!(numbers(cells[5]), [spec.scale.to_bits()], "{row}");
            assert_eq!(numbers(cells[6]), spec.mean.map(f32::to_bits), "{row}");
            assert_eq!(numbers(cells[7]), spec.sd.map(f32::to_bits), "{row}");
        }
    }
}
