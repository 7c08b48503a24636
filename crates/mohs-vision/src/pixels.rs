//! Pictures as bytes: reading, shrinking, writing.
//!
//! [`Rgb8`] is what is stored and shown; turning it into numbers for a model is not done here.

use image::codecs::jpeg::JpegEncoder;
use image::codecs::png::{CompressionType, FilterType, PngEncoder};
use image::metadata::Orientation;
use image::{
    DynamicImage, ExtendedColorType, ImageDecoder, ImageEncoder, ImageError, ImageFormat,
    ImageReader, ImageResult, Limits, imageops,
};
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
    /// The file may be sound, but its kind of pixels, or their number, is more than we decode.
    #[error(
        "{} should be a picture that can be decoded, found a kind of {format} that is not understood",
        path.display()
    )]
    Unsupported {
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
/// The kind of picture is taken from the content, not from the name. A picture that says how it
/// was held (EXIF orientation) is turned upright.
pub fn read(path: &Path) -> Result<Rgb8, PixelsError> {
    let file = std::fs::read(path)
        .map_err(|source| PixelsError::Unreadable { path: path.to_owned(), source })?;
    let reader = ImageReader::new(io::Cursor::new(&file))
        .with_guessed_format()
        .map_err(|source| PixelsError::Unreadable { path: path.to_owned(), source })?;
    let Some(format) = reader.format() else {
        return Err(PixelsError::NotAnImage { path: path.to_owned(), found: beginning(&file) });
    };
    let is_cut_short = format == ImageFormat::Jpeg && !jpeg_has_end(&file);
    let decoded = if is_cut_short { Err(cut_short()) } else { decode_upright(reader) };
    let decoded = decoded.map_err(|source| {
        let (path, format) = (path.to_owned(), format!("{format:?}").to_lowercase());
        match source {
            ImageError::Unsupported(_) | ImageError::Limits(_) => {
                PixelsError::Unsupported { path, format, source }
            }
            _ => PixelsError::Broken { path, format, source },
        }
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

/// Returns the picture, turned the way its metadata asks for.
fn decode_upright(reader: ImageReader<io::Cursor<&Vec<u8>>>) -> ImageResult<DynamicImage> {
    let mut decoder = reader.into_decoder()?;
    Limits::default().reserve(decoder.total_bytes())?;
    // Metadata that cannot be read is no reason to refuse the pixels.
    let orientation = decoder.orientation().unwrap_or(Orientation::NoTransforms);
    let mut decoded = DynamicImage::from_decoder(decoder)?;
    decoded.apply_orientation(orientation);
    Ok(decoded)
}

fn cut_short() -> ImageError {
    let why = "the file is cut short: it has no end-of-image marker";
    ImageError::IoError(io::Error::new(io::ErrorKind::UnexpectedEof, why))
}

/// Says whether a JPEG goes on to its end-of-image marker; the decoder fills what is missing with
/// grey and does not complain.
///
/// Walks from segment to segment, so that the markers of a thumbnail inside a segment, and
/// whatever a camera wrote after the end, do not count.
fn jpeg_has_end(file: &[u8]) -> bool {
    const END: u8 = 0xd9;
    const SCAN: u8 = 0xda;
    let mut has_scan = false;
    let mut at = 0;
    while let Some(pair) = file.get(at..at + 2) {
        match [pair[0], pair[1]] {
            [0xff, END] => return has_scan,
            // A stuffed byte, a restart or a start marker: without a length, like plain data.
            [0xff, 0x00 | 0x01 | 0xd0..=0xd8] => at += 2,
            // A marker may be padded in front.
            [0xff, 0xff] => at += 1,
            [0xff, marker] => {
                has_scan |= marker == SCAN;
                let Some(length) = file.get(at + 2..at + 4) else { return false };
                at += 2 + usize::from(u16::from_be_bytes([length[0], length[1]]));
            }
            _ => at += 1,
        }
    }
    false
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

    /// Returns the JPEG with an EXIF segment that holds one entry, the orientation, and `more`.
    fn with_exif(jpeg: &[u8], orientation: u8, more: &[u8]) -> Vec<u8> {
        let mut exif = b"Exif\0\0MM\0\x2a\0\0\0\x08\0\x01".to_vec();
        exif.extend([0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, orientation, 0, 0]);
        exif.extend([0, 0, 0, 0]);
        exif.extend(more);
        let length = u16::try_from(exif.len() + 2).unwrap().to_be_bytes();
        [&jpeg[..2], &[0xff, 0xe1], &length, &exif, &jpeg[2..]].concat()
    }

    #[test]
    fn a_jpeg_that_was_cut_short_is_broken() {
        let plain = slope(120, 90).to_jpeg(90);
        let thumbnail = slope(16, 12).to_jpeg(90);
        for jpeg in [plain.clone(), with_exif(&plain, 1, &thumbnail)] {
            for percent in [30, 60, 90, 99] {
                let error = read_bytes("a.jpg", &jpeg[..jpeg.len() * percent / 100]).unwrap_err();
                let PixelsError::Broken { source, .. } = &error else { panic!("{error}") };
                assert!(source.to_string().contains("cut short"), "{source}");
            }
            read_bytes("a.jpg", &jpeg).unwrap();
        }
    }

    #[test]
    fn what_follows_the_end_of_a_jpeg_does_not_matter() {
        let mut jpeg = slope(30, 20).to_jpeg(90);
        jpeg.extend([0xff, 0xda, 0, 1, 2, 0xff]);
        read_bytes("a.jpg", &jpeg).unwrap();
    }

    #[test]
    fn a_picture_taken_sideways_is_turned_upright() {
        let mut bytes = vec![0; 32 * 16 * 3];
        // The left half is white; turned to the right, it is the upper half.
        for (idx, byte) in bytes.iter_mut().enumerate() {
            *byte = if idx / 3 % 32 < 16 { 255 } else { 0 };
        }
        let jpeg = with_exif(&Rgb8::new(32, 16, bytes).unwrap().to_jpeg(90), 6, &[]);
        let upright = read_bytes("a.jpg", &jpeg).unwrap();
        assert_eq!((upright.width(), upright.height()), (16, 32));
        assert!(250 < upright.pixel(8, 2)[0] && upright.pixel(8, 29)[0] < 5, "{upright:?}");
    }

    #[test]
    fn a_kind_of_picture_that_is_not_understood_is_not_called_broken() {
        // A grey TIFF of one pixel with 32 bits of float.
        let entry = |tag: u16, kind: u16, value: u32| {
            let value = if kind == 3 { value << 16 } else { value };
            [&tag.to_be_bytes()[..], &kind.to_be_bytes(), &[0, 0, 0, 1], &value.to_be_bytes()]
                .concat()
        };
        let entries = [
            (256, 3, 1),
            (257, 3, 1),
            (258, 3, 32),
            (259, 3, 1),
            (262, 3, 1),
            (273, 4, 134),
            (277, 3, 1),
            (278, 3, 1),
            (279, 4, 4),
            (339, 3, 3),
        ];
        let mut tiff = b"MM\0\x2a\0\0\0\x08\0\x0a".to_vec();
        tiff.extend(entries.iter().flat_map(|&(tag, kind, value)| entry(tag, kind, value)));
        tiff.extend([0, 0, 0, 0]);
        tiff.extend(0.5f32.to_be_bytes());
        let error = read_bytes("a.tif", &tiff).unwrap_err();
        assert!(matches!(error, PixelsError::Unsupported { .. }), "{error:?}");
        assert!(error.to_string().ends_with("found a kind of tiff that is not understood"));
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
