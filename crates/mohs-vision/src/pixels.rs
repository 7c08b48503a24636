//! Pictures as bytes: reading, shrinking, writing.
//!
//! [`Rgb8`] is what is stored and shown; turning it into numbers for a model is not done here.

use image::codecs::jpeg::JpegEncoder;
use image::codecs::png::{CompressionType, FilterType, PngEncoder};
use image::{ExtendedColorType, ImageEncoder, ImageError, ImageReader, imageops};
use std::io;
use std::path::{Path, PathBuf};

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

/// Why a file could not be read as a picture.
#[derive(Debug, thiserror::Error)]
pub enum PixelsError {
    /// The file could not be opened or read.
    #[error("cannot read the picture {}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The file does not start like any kind of picture we read.
    #[error(
        "{} should be a picture (png, jpeg, webp, bmp, gif or tiff), found {found}",
        path.display()
    )]
    NotAnImage {
        /// The file.
        path: PathBuf,
        /// What the file starts with.
        found: String,
    },
    /// The file starts like a picture but cannot be decoded to its end.
    #[error("{} should be a whole {format} picture, found a broken or truncated one", path.display())]
    Broken {
        /// The file.
        path: PathBuf,
        /// What kind of picture it claims to be.
        format: String,
        /// What the decoder said.
        source: ImageError,
    },
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
        let mut file = Vec::new();
        PngEncoder::new_with_quality(&mut file, CompressionType::Default, FilterType::Adaptive)
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

/// Reads a file as red, green and blue; transparent parts are laid on white.
///
/// The kind of picture is taken from the content, not from the name.
pub fn read(path: &Path) -> Result<Rgb8, PixelsError> {
    let file = std::fs::read(path)
        .map_err(|source| PixelsError::Unreadable { path: path.to_owned(), source })?;
    let reader = ImageReader::new(io::Cursor::new(&file))
        .with_guessed_format()
        .map_err(|source| PixelsError::Unreadable { path: path.to_owned(), source })?;
    let Some(format) = reader.format() else {
        return Err(PixelsError::NotAnImage { path: path.to_owned(), found: beginning(&file) });
    };
    let decoded = reader.decode().map_err(|source| PixelsError::Broken {
        path: path.to_owned(),
        format: format!("{format:?}").to_lowercase(),
        source,
    })?;
    let rgba = decoded.to_rgba8();
    let (width, height) = rgba.dimensions();
    let bytes = rgba
        .pixels()
        .flat_map(|pixel| {
            let [red, green, blue, alpha] = pixel.0;
            [red, green, blue].map(|channel| on_white(channel, alpha))
        })
        .collect();
    Rgb8::new(width, height, bytes)
        .ok_or_else(|| PixelsError::NotAnImage { path: path.to_owned(), found: "no pixels".into() })
}

fn on_white(channel: u8, alpha: u8) -> u8 {
    let (channel, alpha) = (u32::from(channel), u32::from(alpha));
    let mixed = (channel * alpha + 255 * (255 - alpha) + 127) / 255;
    u8::try_from(mixed).unwrap_or(u8::MAX)
}

/// Says what a file starts with, for an error message.
fn beginning(file: &[u8]) -> String {
    if file.is_empty() {
        return "an empty file".into();
    }
    let start = &file[..file.len().min(12)];
    match str::from_utf8(start) {
        Ok(text) if !text.chars().any(char::is_control) => format!("text starting with `{text}`"),
        _ => {
            let hex: Vec<String> = start.iter().map(|byte| format!("{byte:02x}")).collect();
            format!("bytes starting with {}", hex.join(" "))
        }
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

    fn slope(width: u32, height: u32) -> Rgb8 {
        let bytes = (0..width * height)
            .flat_map(|i| [u8::try_from(i % 251).unwrap(), 40, u8::try_from(i % 13).unwrap()])
            .collect();
        Rgb8::new(width, height, bytes).unwrap()
    }

    fn read_bytes(name: &str, bytes: &[u8]) -> Result<Rgb8, PixelsError> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        read(&path)
    }

    #[test]
    fn a_written_png_is_read_back_exactly() {
        let pixels = slope(17, 9);
        assert_eq!(read_bytes("a.png", &pixels.to_png()).unwrap(), pixels);
    }

    #[test]
    fn the_content_counts_and_not_the_name() {
        let pixels = slope(5, 5);
        assert_eq!(read_bytes("a.jpg", &pixels.to_png()).unwrap(), pixels);
    }

    #[test]
    fn a_text_file_is_not_an_image() {
        let error = read_bytes("a.png", b"id,label\n1,mug\n").unwrap_err();
        assert!(matches!(error, PixelsError::NotAnImage { .. }), "{error}");
        assert!(error.to_string().contains("a.png"), "{error}");
        let error = read_bytes("b.png", b"hello").unwrap_err();
        assert!(error.to_string().ends_with("found text starting with `hello`"), "{error}");
    }

    #[test]
    fn an_empty_file_is_not_an_image() {
        let error = read_bytes("a.png", b"").unwrap_err();
        assert!(error.to_string().ends_with("found an empty file"), "{error}");
    }

    #[test]
    fn a_truncated_picture_is_broken() {
        let png = slope(40, 40).to_png();
        let error = read_bytes("a.png", &png[..png.len() / 2]).unwrap_err();
        assert!(matches!(error, PixelsError::Broken { .. }), "{error}");
        assert!(error.to_string().contains("whole png picture"), "{error}");
    }

    #[test]
    fn a_missing_file_is_unreadable() {
        let error = read(Path::new("/nowhere/mug.png")).unwrap_err();
        assert!(matches!(error, PixelsError::Unreadable { .. }), "{error}");
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
