//! From a picture to the numbers that a model takes: size, order of channels, mean and spread.
//!
//! Numbers come channel by channel, each row by row. Which size and mean a model was trained with
//! is not guessed: whoever runs it says so.

use image::imageops::{self, FilterType};
use image::{ImageBuffer, Rgb};

use crate::pixels::Rgb8;

/// What a model takes.
#[derive(Clone, PartialEq, Debug)]
pub struct InputSpec {
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
    /// The order of the channels.
    pub channels: Channels,
    /// What white is before the mean is taken away: 1, or 255 for some older models.
    pub scale: f32,
    /// What is taken away from each channel, in the order of the channels.
    pub mean: [f32; 3],
    /// What each channel is then divided by.
    pub sd: [f32; 3],
}

/// The order of the channels.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Channels {
    /// Red, green, blue.
    #[default]
    Rgb,
    /// Blue, green, red, as models trained with Caffe take them.
    Bgr,
}

impl InputSpec {
    /// What most models of ImageNet take, at this size.
    pub fn imagenet(width: u32, height: u32) -> InputSpec {
        InputSpec {
            width,
            height,
            channels: Channels::Rgb,
            scale: 1.0,
            mean: [0.485, 0.456, 0.406],
            sd: [0.229, 0.224, 0.225],
        }
    }

    /// How many numbers a picture becomes.
    pub fn n_numbers(&self) -> usize {
        self.width as usize * self.height as usize * 3
    }
}

/// Turns a picture into numbers.
///
/// A picture of another size is scaled until it just covers the wanted one, with the filter that
/// keeps fine patterns from turning into coarse ones, and its middle is cut out.
pub fn prepare(pixels: &Rgb8, spec: &InputSpec) -> Vec<f32> {
    let fitted = fitted(pixels, spec.width, spec.height);
    let bytes = fitted.as_deref().unwrap_or(pixels.bytes());
    let n_pixels = spec.width as usize * spec.height as usize;
    let mut numbers = Vec::with_capacity(n_pixels * 3);
    for channel in 0..3 {
        let source = match spec.channels {
            Channels::Rgb => channel,
            Channels::Bgr => 2 - channel,
        };
        let (mean, sd) = (spec.mean[channel], spec.sd[channel]);
        let value = |byte: &u8| (f32::from(*byte) / 255.0 * spec.scale - mean) / sd;
        numbers.extend(bytes.iter().skip(source).step_by(3).map(value));
    }
    numbers
}

/// The bytes of the picture at this size; `None` if it has the size already.
fn fitted(pixels: &Rgb8, width: u32, height: u32) -> Option<Vec<u8>> {
    if (pixels.width(), pixels.height()) == (width, height) {
        return None;
    }
    let view: ImageBuffer<Rgb<u8>, &[u8]> =
        ImageBuffer::from_raw(pixels.width(), pixels.height(), pixels.bytes())
            .expect("because the picture has as many bytes as its size asks for");
    let (wide, high) = covering((pixels.width(), pixels.height()), (width, height));
    let scaled = imageops::resize(&view, wide, high, FilterType::Triangle);
    let (left, top) = ((wide - width) / 2, (high - height) / 2);
    Some(imageops::crop_imm(&scaled, left, top, width, height).to_image().into_raw())
}

/// The size with the picture's proportions that just covers the wanted one.
fn covering(from: (u32, u32), to: (u32, u32)) -> (u32, u32) {
    let scale = (f64::from(to.0) / f64::from(from.0)).max(f64::from(to.1) / f64::from(from.1));
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "sides of pictures are small and not negative"
    )]
    let side = |side: u32, least: u32| ((f64::from(side) * scale).round() as u32).max(least);
    (side(from.0, to.0), side(from.1, to.1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn two_pixels() -> Rgb8 {
        Rgb8::new(2, 1, vec![255, 0, 51, 0, 255, 102]).unwrap()
    }

    fn plain(channels: Channels) -> InputSpec {
        InputSpec { channels, mean: [0.0; 3], sd: [1.0; 3], ..InputSpec::imagenet(2, 1) }
    }

    #[test]
    fn channels_follow_each_other() {
        assert_eq!(prepare(&two_pixels(), &plain(Channels::Rgb)), [1.0, 0.0, 0.0, 1.0, 0.2, 0.4]);
        assert_eq!(prepare(&two_pixels(), &plain(Channels::Bgr)), [0.2, 0.4, 0.0, 1.0, 1.0, 0.0]);
    }

    #[test]
    fn the_mean_stands_in_the_order_of_the_channels_and_in_the_unit_of_the_scale() {
        let spec = InputSpec { scale: 255.0, mean: [104.0, 117.0, 123.0], ..plain(Channels::Bgr) };
        assert_eq!(prepare(&two_pixels(), &spec), [-53.0, -2.0, -117.0, 138.0, 132.0, -123.0]);
    }

    #[test]
    fn the_shorter_side_fits_and_the_middle_stays() {
        assert_eq!(covering((640, 480), (224, 224)), (299, 224));
        assert_eq!(covering((100, 400), (50, 50)), (50, 200));
        assert_eq!(covering((3, 3), (7, 5)), (7, 7));
        // Black, white, black side by side: the middle third is white.
        let mut bytes = vec![0; 30 * 10 * 3];
        for row in bytes.chunks_mut(30 * 3) {
            row[10 * 3..20 * 3].fill(255);
        }
        let pixels = Rgb8::new(30, 10, bytes).unwrap();
        let spec = InputSpec { width: 10, height: 10, ..plain(Channels::Rgb) };
        let numbers = prepare(&pixels, &spec);
        assert_eq!(numbers.len(), spec.n_numbers());
        assert_eq!(numbers, vec![1.0; spec.n_numbers()]);
    }

    #[test]
    fn fine_stripes_become_grey_when_shrunk() {
        let bytes: Vec<u8> = (0..64 * 64)
            .flat_map(|n| [(n % 2) * 255; 3])
            .map(|n: u32| u8::try_from(n).unwrap())
            .collect();
        let pixels = Rgb8::new(64, 64, bytes).unwrap();
        let spec = InputSpec { width: 8, height: 8, ..plain(Channels::Rgb) };
        assert!(prepare(&pixels, &spec).iter().all(|number| (number - 0.5).abs() < 0.1));
    }
}
