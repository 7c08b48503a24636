//! From a picture to the numbers that a model takes: size, order of channels, mean and spread.
//!
//! A picture is first *fitted* (resized and cut, in 8 bits, exactly as Pillow and torchvision do),
//! then turned into *numbers*, channel by channel, each row by row. Probes act between the two.
//! Which size and mean a model was trained with is not guessed: whoever runs it says so, by a
//! [preset](Preset), a [side file](InputSpec::from_side_file) or by hand. Read `resample.rs` for
//! the arithmetic of resizing.

mod geometry;
mod preset;
pub(crate) mod resample;
mod side_file;

use std::borrow::Cow;
use std::fmt::Write as _;

use crate::pixels::{Pixels, Rgb8};

pub use preset::Preset;
pub use side_file::{SIDE_FILES, SideFileError};

/// What a model takes.
#[derive(Clone, PartialEq, Debug)]
pub struct InputSpec {
    /// How the whole picture is resized.
    pub resize: Resize,
    /// Width in pixels of the middle that is then cut out.
    pub width: u32,
    /// Height in pixels of the middle that is then cut out.
    pub height: u32,
    /// The filter of resizing.
    pub interpolation: Interpolation,
    /// What is put around a resized picture that is smaller than the cut: red, green, blue.
    pub fill: [u8; 3],
    /// The order of the channels.
    pub channels: Channels,
    /// What white is before the mean is taken away: 1, or 255 for some older models.
    pub scale: f32,
    /// What is taken away from each channel, in the order of the channels.
    pub mean: [f32; 3],
    /// What each channel is then divided by; not 0.
    pub sd: [f32; 3],
}

/// How a whole picture is resized before its middle is cut out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Resize {
    /// Not at all.
    None,
    /// The shorter side gets this many pixels, the longer side in proportion, rounded down, as
    /// torchvision's `Resize(n)` does.
    Shorter(u32),
    /// Width and height are what they should be, whatever the proportions.
    Squash(u32, u32),
    /// As small as it can be without being smaller than this width and height, in proportion.
    Cover(u32, u32),
    /// As large as it can be without being larger than this width and height, in proportion.
    Inside(u32, u32),
}

/// The filter of resizing, by Pillow's names.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Interpolation {
    /// The pixel under the middle; no smoothing at all.
    Nearest,
    /// The mean over an output pixel.
    Box,
    /// A triangle.
    #[default]
    Bilinear,
    /// Hamming's window, sharper than a triangle.
    Hamming,
    /// Keys's cubic with a = −1/2.
    Bicubic,
    /// Three lobes of a windowed sinc.
    Lanczos,
}

impl Interpolation {
    /// All filters.
    pub const ALL: [Interpolation; 6] = [
        Interpolation::Nearest,
        Interpolation::Box,
        Interpolation::Bilinear,
        Interpolation::Hamming,
        Interpolation::Bicubic,
        Interpolation::Lanczos,
    ];

    /// Returns the filter's name.
    pub fn name(self) -> &'static str {
        match self {
            Interpolation::Nearest => "nearest",
            Interpolation::Box => "box",
            Interpolation::Bilinear => "bilinear",
            Interpolation::Hamming => "hamming",
            Interpolation::Bicubic => "bicubic",
            Interpolation::Lanczos => "lanczos",
        }
    }

    /// Returns the filter of that name; `None` if there is none.
    pub fn parse(name: &str) -> Option<Interpolation> {
        Interpolation::ALL.into_iter().find(|filter| filter.name() == name)
    }
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
    /// What most models of ImageNet take, at this size: the picture is made to just cover it, and
    /// its middle is cut out.
    pub fn imagenet(width: u32, height: u32) -> InputSpec {
        InputSpec {
            resize: geometry::covering(width, height),
            width,
            height,
            interpolation: Interpolation::Bilinear,
            fill: [0; 3],
            channels: Channels::Rgb,
            scale: 1.0,
            mean: preset::IMAGENET_MEAN,
            sd: preset::IMAGENET_SD,
        }
    }

    /// How many numbers a picture becomes.
    pub fn n_numbers(&self) -> usize {
        self.width as usize * self.height as usize * 3
    }

    /// Returns everything that changes a number, as one line: the same text, the same numbers.
    pub fn signature(&self) -> String {
        let mut text = match self.resize {
            Resize::None => "resize none".to_owned(),
            Resize::Shorter(side) => format!("resize shorter {side}"),
            Resize::Squash(width, height) => format!("resize squash {width}x{height}"),
            Resize::Cover(width, height) => format!("resize cover {width}x{height}"),
            Resize::Inside(width, height) => format!("resize inside {width}x{height}"),
        };
        let [red, green, blue] = self.fill;
        let channels = match self.channels {
            Channels::Rgb => "rgb",
            Channels::Bgr => "bgr",
        };
        let list = |numbers: [f32; 3]| numbers.map(|number| number.to_string()).join(",");
        write!(
            text,
            " {}; crop {}x{}; fill {red},{green},{blue}; {channels}; scale {}; mean {}; sd {}",
            self.interpolation.name(),
            self.width,
            self.height,
            self.scale,
            list(self.mean),
            list(self.sd),
        )
        .expect("because writing to a string does not fail");
        text
    }
}

/// Resizes a picture and cuts out its middle, in 8 bits.
///
/// The result has the specified size whatever the picture's: what is missing is filled.
pub fn fit(picture: &Rgb8, spec: &InputSpec) -> Rgb8 {
    fitted(picture, spec).into_owned()
}

/// Turns a fitted picture into numbers.
///
/// The picture's size must be the specified one.
pub fn numbers(pixels: &Pixels, spec: &InputSpec) -> Vec<f32> {
    let planes = pixels.channels();
    let mut numbers = Vec::with_capacity(pixels.planes().len());
    for channel in 0..3 {
        let plane = planes[source(channel, spec.channels)];
        numbers.extend(plane.iter().map(|&value| normalised(value, channel, spec)));
    }
    numbers
}

/// Fits a picture and turns it into numbers.
pub fn prepare(picture: &Rgb8, spec: &InputSpec) -> Vec<f32> {
    let fitted = fitted(picture, spec);
    let pixels = fitted.bytes().as_chunks::<3>().0;
    let mut numbers = Vec::with_capacity(spec.n_numbers());
    for channel in 0..3 {
        // There are only 256 levels, and so many numbers.
        let of_level: [f32; 256] = std::array::from_fn(|level| {
            let level = u8::try_from(level).expect("because an array of 256 has 256 positions");
            normalised(f32::from(level) / 255.0, channel, spec)
        });
        let source = source(channel, spec.channels);
        numbers.extend(pixels.iter().map(|pixel| of_level[usize::from(pixel[source])]));
    }
    numbers
}

/// Which of red, green and blue a channel is.
fn source(channel: usize, channels: Channels) -> usize {
    match channels {
        Channels::Rgb => channel,
        Channels::Bgr => 2 - channel,
    }
}

fn normalised(value: f32, channel: usize, spec: &InputSpec) -> f32 {
    (value * spec.scale - spec.mean[channel]) / spec.sd[channel]
}

fn fitted<'a>(picture: &'a Rgb8, spec: &InputSpec) -> Cow<'a, Rgb8> {
    let from = (picture.width(), picture.height());
    let size = geometry::resized(from, spec.resize);
    let wanted = (spec.width, spec.height);
    if from == size && size == wanted {
        return Cow::Borrowed(picture);
    }
    let columns = geometry::cut(size.0, wanted.0);
    let rows = geometry::cut(size.1, wanted.1);
    let window = resample::Window { columns: columns.kept, rows: rows.kept };
    let kept = resample::resample(picture, size, &window, spec.interpolation);
    if (kept.width(), kept.height()) == wanted {
        return Cow::Owned(kept);
    }
    Cow::Owned(geometry::framed(&kept, wanted, (columns.before, rows.before), spec.fill))
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
        // Black, white, black side by side: the middle third is white.
        let mut bytes = vec![0; 30 * 10 * 3];
        for row in bytes.chunks_mut(30 * 3) {
            row[10 * 3..20 * 3].fill(255);
        }
        let pixels = Rgb8::new(30, 10, bytes).unwrap();
        let spec = InputSpec {
            resize: Resize::Shorter(10),
            width: 10,
            height: 10,
            ..plain(Channels::Rgb)
        };
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
        let spec =
            InputSpec { resize: Resize::Shorter(8), width: 8, height: 8, ..plain(Channels::Rgb) };
        assert!(prepare(&pixels, &spec).iter().all(|number| (number - 0.5).abs() < 0.1));
    }
}
