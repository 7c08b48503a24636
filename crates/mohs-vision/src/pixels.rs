//! Pictures as bytes: reading, shrinking, writing.
//!
//! [`Rgb8`] is what is stored and shown, [`Pixels`] what is computed with; turning them into numbers
//! for a model is not done here.

mod decode;
mod floats;
mod npy;

use image::codecs::jpeg::JpegEncoder;
use image::codecs::png::{CompressionType, FilterType, PngEncoder};
use image::{ExtendedColorType, ImageEncoder, imageops};

pub use decode::{Alpha, DecodeOptions, Orientation, PixelsError, decode, read, read_with};
pub(crate) use floats::to_byte;
pub use floats::{Clamped, Pixels};
pub use npy::{npy, read_npy};

/// A picture of eight bits per channel: red, green, blue, row by row.
///
/// Invariant: neither side is zero, and `bytes` has `width × height × 3` entries.
#[derive(Clone, PartialEq, Eq)]
pub struct Rgb8 {
    width: u32,
    height: u32,
    bytes: Vec<u8>,
}

impl std::fmt::Debug for Rgb8 {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        write!(f, "Rgb8({} × {})", self.width, self.height)
    }
}

impl Rgb8 {
    /// Returns a picture; `None` if a side is zero or the number of bytes is wrong.
    pub fn new(width: u32, height: u32, bytes: Vec<u8>) -> Option<Self> {
        let n_bytes = width as usize * height as usize * 3;
        (n_bytes > 0 && bytes.len() == n_bytes).then_some(Self { width, height, bytes })
    }

    /// Returns the width in pixels.
    pub fn width(&self) -> u32 {
        self.width
    }

    /// Returns the height in pixels.
    pub fn height(&self) -> u32 {
        self.height
    }

    /// Returns all bytes: red, green, blue, row by row.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns one pixel; both coordinates must lie inside.
    pub fn pixel(&self, x: u32, y: u32) -> [u8; 3] {
        let start = (y as usize * self.width as usize + x as usize) * 3;
        [self.bytes[start], self.bytes[start + 1], self.bytes[start + 2]]
    }

    /// Returns the picture as a PNG file. The same picture gives the same bytes.
    pub fn to_png(&self) -> Vec<u8> {
        self.packed(CompressionType::Default)
    }

    /// Returns the picture as a PNG file that is made many times faster and a little larger. The
    /// same picture gives the same bytes.
    pub fn to_quick_png(&self) -> Vec<u8> {
        self.packed(CompressionType::Fast)
    }

    fn packed(&self, compression: CompressionType) -> Vec<u8> {
        let mut file = Vec::new();
        PngEncoder::new_with_quality(&mut file, compression, FilterType::Adaptive)
            .write_image(&self.bytes, self.width, self.height, ExtendedColorType::Rgb8)
            .expect("because writing to memory does not fail and the size fits the bytes");
        file
    }

    /// Returns the picture as a JPEG file; `quality` is 1 to 100, and 80 is good for thumbnails.
    ///
    /// JPEG holds at most 65 535 pixels a side; a larger picture is shrunk to fit.
    pub fn to_jpeg(&self, quality: u8) -> Vec<u8> {
        const LARGEST: u32 = 65_535;
        if self.width > LARGEST || self.height > LARGEST {
            return thumbnail(self, LARGEST).to_jpeg(quality);
        }
        let mut file = Vec::new();
        JpegEncoder::new_with_quality(&mut file, quality.clamp(1, 100))
            .write_image(&self.bytes, self.width, self.height, ExtendedColorType::Rgb8)
            .expect("because writing to memory does not fail and the size fits the bytes");
        file
    }
}

/// Returns the picture shrunk so that no side is longer than `max_side`; never enlarged.
pub fn thumbnail(pixels: &Rgb8, max_side: u32) -> Rgb8 {
    let longest = pixels.width.max(pixels.height);
    let max_side = max_side.max(1);
    if longest <= max_side {
        return pixels.clone();
    }
    let fit = |side: u32| {
        let scaled = u64::from(side) * u64::from(max_side) / u64::from(longest);
        u32::try_from(scaled).unwrap_or(max_side).clamp(1, max_side)
    };
    let full = image::RgbImage::from_raw(pixels.width, pixels.height, pixels.bytes.clone())
        .expect("because a picture has three bytes for each of its pixels");
    let small = imageops::thumbnail(&full, fit(pixels.width), fit(pixels.height));
    let (width, height) = small.dimensions();
    Rgb8 { width, height, bytes: small.into_raw() }
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(super) fn slope(width: u32, height: u32) -> Rgb8 {
        let bytes = (0..width * height)
            .flat_map(|i| [u8::try_from(i % 251).unwrap(), 40, u8::try_from(i % 13).unwrap()])
            .collect();
        Rgb8::new(width, height, bytes).unwrap()
    }

    pub(super) fn read_bytes(name: &str, bytes: &[u8]) -> Result<Rgb8, PixelsError> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        read(&path)
    }

    #[test]
    fn a_written_png_is_read_back_exactly() {
        let pixels = slope(17, 9);
        assert_eq!(read_bytes("a.png", &pixels.to_png()).unwrap(), pixels);
        assert_eq!(read_bytes("a.png", &pixels.to_quick_png()).unwrap(), pixels);
    }

    #[test]
    fn the_content_counts_and_not_the_name() {
        let pixels = slope(5, 5);
        assert_eq!(read_bytes("a.jpg", &pixels.to_png()).unwrap(), pixels);
    }

    #[test]
    fn a_thumbnail_keeps_the_proportions() {
        let small = thumbnail(&slope(200, 100), 50);
        assert_eq!((small.width(), small.height()), (50, 25));
    }

    #[test]
    fn a_small_picture_is_its_own_thumbnail() {
        let pixels = slope(20, 10);
        assert_eq!(thumbnail(&pixels, 50), pixels);
    }

    #[test]
    fn a_jpeg_is_read_back_in_its_size() {
        let read = read_bytes("a.jpg", &slope(30, 20).to_jpeg(80)).unwrap();
        assert_eq!((read.width(), read.height()), (30, 20));
    }

    #[test]
    fn a_picture_needs_three_bytes_for_each_pixel() {
        assert_eq!(Rgb8::new(2, 2, vec![0; 11]), None);
        assert_eq!(Rgb8::new(0, 2, vec![]), None);
    }
}
