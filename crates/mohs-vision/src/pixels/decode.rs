//! Reading pictures: PNG, JPEG, WebP, BMP, GIF and TIFF, as 8 bits of red, green and blue.
//!
//! | what | becomes |
//! |---|---|
//! | grey | three equal channels |
//! | 16 bits | the nearest of 256 levels |
//! | a palette | its colours |
//! | CMYK and YCCK | red, green and blue, without colour profiles |
//! | transparency | laid on white, or dropped if asked for |
//! | how the camera was held | turned upright, or left if asked for |
//! | an animation | its first frame |
//!
//! A file is read whole or not at all: one that is cut short is an error and never a picture with a
//! grey rest. Nothing is scaled while decoding, because that changes pixels.

use std::io;
use std::path::{Path, PathBuf};

use image::error::{DecodingError, ImageFormatHint};
use image::metadata::Orientation as Exif;
use image::{
    DynamicImage, ImageDecoder, ImageError, ImageFormat, ImageReader, ImageResult, Limits, RgbImage,
};
use libjpeg_turbo_rs::PixelFormat;

use super::Rgb8;

/// How files become pictures.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct DecodeOptions {
    /// What becomes of transparency.
    pub alpha: Alpha,
    /// What becomes of a picture that says how it was held.
    pub orientation: Orientation,
}

/// What becomes of transparency.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Alpha {
    /// Transparent parts are laid on white.
    #[default]
    White,
    /// It is dropped and the colours underneath are shown, as Pillow's `convert("RGB")` does.
    Drop,
}

/// What becomes of a picture whose metadata say how it was held (EXIF orientation).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Orientation {
    /// It is turned upright, as people see it.
    #[default]
    Apply,
    /// It stays as it is stored, as in torchvision's and timm's loaders.
    Ignore,
}

impl DecodeOptions {
    /// Returns what torchvision's and timm's loaders do: transparency dropped, nothing turned.
    pub fn as_torchvision() -> DecodeOptions {
        DecodeOptions { alpha: Alpha::Drop, orientation: Orientation::Ignore }
    }

    /// Returns both choices as text: the same text, the same pixels.
    pub fn signature(&self) -> String {
        let alpha = match self.alpha {
            Alpha::White => "white",
            Alpha::Drop => "drop",
        };
        let orientation = match self.orientation {
            Orientation::Apply => "apply",
            Orientation::Ignore => "ignore",
        };
        format!("alpha {alpha}; orientation {orientation}")
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
    /// The file may be sound, but we do not decode its kind of pixels.
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
    /// The picture has more pixels than we decode.
    #[error(
        "{} should be a picture of at most 512 MiB when decoded, found {found}",
        path.display()
    )]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// How large it claims to be.
        found: String,
    },
}

/// Reads a file with the default options: transparent parts on white, turned upright.
pub fn read(path: &Path) -> Result<Rgb8, PixelsError> {
    read_with(path, &DecodeOptions::default())
}

/// Reads a file.
pub fn read_with(path: &Path, options: &DecodeOptions) -> Result<Rgb8, PixelsError> {
    let file = std::fs::read(path)
        .map_err(|source| PixelsError::Unreadable { path: path.to_owned(), source })?;
    decode(path, &file, options)
}

/// Decodes the content of a file; `path` is only for errors.
///
/// The kind of picture is taken from the content, not from the name.
pub fn decode(path: &Path, file: &[u8], options: &DecodeOptions) -> Result<Rgb8, PixelsError> {
    let reader = ImageReader::new(io::Cursor::new(file))
        .with_guessed_format()
        .map_err(|source| PixelsError::Unreadable { path: path.to_owned(), source })?;
    let Some(format) = reader.format() else {
        return Err(PixelsError::NotAnImage { path: path.to_owned(), found: beginning(file) });
    };
    let decoded = match format {
        ImageFormat::Jpeg => match jpeg_n_components(file) {
            None => Err(cut_short()),
            Some(n_components) => {
                let is_four = n_components == 4;
                let pixels = if is_four { from_decoder } else { from_libjpeg };
                decode_turned(reader, options, pixels, file)
            }
        },
        _ => decode_turned(reader, options, from_decoder, file),
    };
    let decoded = decoded.map_err(|source| {
        let (path, format) = (path.to_owned(), format!("{format:?}").to_lowercase());
        match source {
            ImageError::Limits(_) => PixelsError::TooLarge { path, found: size_of(file) },
            ImageError::Unsupported(_) => PixelsError::Unsupported { path, format, source },
            _ => PixelsError::Broken { path, format, source },
        }
    })?;
    let (width, height) = (decoded.width(), decoded.height());
    Rgb8::new(width, height, bytes_of(decoded, options.alpha))
        .ok_or_else(|| PixelsError::NotAnImage { path: path.to_owned(), found: "no pixels".into() })
}

/// Returns the picture, turned the way its metadata asks for.
fn decode_turned<'a>(
    reader: ImageReader<io::Cursor<&'a [u8]>>,
    options: &DecodeOptions,
    pixels: impl Fn(Decoder<'a>, &'a [u8]) -> ImageResult<DynamicImage>,
    file: &'a [u8],
) -> ImageResult<DynamicImage> {
    let mut decoder = reader.into_decoder()?;
    Limits::default().reserve(decoder.total_bytes())?;
    let orientation = match options.orientation {
        // Metadata that cannot be read is no reason to refuse the pixels.
        Orientation::Apply => decoder.orientation().unwrap_or(Exif::NoTransforms),
        Orientation::Ignore => Exif::NoTransforms,
    };
    let mut decoded = pixels(Box::new(decoder), file)?;
    decoded.apply_orientation(orientation);
    Ok(decoded)
}

/// A decoder that has read what stands in front of the pixels.
type Decoder<'a> = Box<dyn ImageDecoder + 'a>;

/// Returns the pixels as the decoder of this kind of picture makes them.
fn from_decoder(decoder: Decoder<'_>, _: &[u8]) -> ImageResult<DynamicImage> {
    DynamicImage::from_decoder(decoder)
}

/// Returns the pixels of a JPEG, colour or grey, bit for bit as libjpeg-turbo makes them and with it
/// Pillow and OpenCV: other decoders round half-sized colours differently, and now and then a
/// model's answer with them.
fn from_libjpeg(_: Decoder<'_>, file: &[u8]) -> ImageResult<DynamicImage> {
    let hint = || ImageFormatHint::Exact(ImageFormat::Jpeg);
    let decoded = libjpeg_turbo_rs::decompress_to(file, PixelFormat::Rgb)
        .map_err(|error| ImageError::Decoding(DecodingError::new(hint(), error)))?;
    let side = |side: usize| u32::try_from(side).ok();
    side(decoded.width)
        .zip(side(decoded.height))
        .and_then(|(width, height)| RgbImage::from_raw(width, height, decoded.data))
        .map(DynamicImage::ImageRgb8)
        .ok_or_else(|| ImageError::Decoding(DecodingError::from_format_hint(hint())))
}

/// Returns the picture as red, green, blue; the usual kinds are not copied more than needed.
fn bytes_of(decoded: DynamicImage, alpha: Alpha) -> Vec<u8> {
    if !decoded.color().has_alpha() {
        return match decoded {
            DynamicImage::ImageLuma8(grey) => grey.iter().flat_map(|&level| [level; 3]).collect(),
            other => other.into_rgb8().into_raw(),
        };
    }
    let rgba = decoded.into_rgba8();
    let pixels = rgba.as_chunks::<4>().0.iter();
    match alpha {
        Alpha::Drop => pixels.flat_map(|[red, green, blue, _]| [*red, *green, *blue]).collect(),
        Alpha::White => pixels
            .flat_map(|&[red, green, blue, alpha]| {
                [red, green, blue].map(|channel| on_white(channel, alpha))
            })
            .collect(),
    }
}

fn on_white(channel: u8, alpha: u8) -> u8 {
    let (channel, alpha) = (u32::from(channel), u32::from(alpha));
    let mixed = (channel * alpha + 255 * (255 - alpha) + 127) / 255;
    u8::try_from(mixed).unwrap_or(u8::MAX)
}

/// Says how large a picture claims to be, for an error message.
fn size_of(file: &[u8]) -> String {
    let size = ImageReader::new(io::Cursor::new(file))
        .with_guessed_format()
        .ok()
        .and_then(|reader| reader.into_dimensions().ok());
    match size {
        Some((width, height)) => format!("one of {width} × {height} pixels"),
        None => "a larger one".to_owned(),
    }
}

fn cut_short() -> ImageError {
    let why = "the file is cut short: it has no end-of-image marker";
    ImageError::IoError(io::Error::new(io::ErrorKind::UnexpectedEof, why))
}

/// Returns how many components a JPEG has if it goes on to its end-of-image marker; decoders fill
/// what is missing with grey and do not complain.
///
/// Walks from segment to segment, so that the markers of a thumbnail inside a segment, and
/// whatever a camera wrote after the end, do not count.
fn jpeg_n_components(file: &[u8]) -> Option<u8> {
    const END: u8 = 0xd9;
    const SCAN: u8 = 0xda;
    let mut has_scan = false;
    let mut n_components = 3;
    let mut at = 0;
    while let Some(pair) = file.get(at..at + 2) {
        match [pair[0], pair[1]] {
            [0xff, END] => return has_scan.then_some(n_components),
            // A stuffed byte, a restart or a start marker: without a length, like plain data.
            [0xff, 0x00 | 0x01 | 0xd0..=0xd8] => at += 2,
            // A marker may be padded in front.
            [0xff, 0xff] => at += 1,
            [0xff, marker] => {
                has_scan |= marker == SCAN;
                // A frame's segment: length, precision, height, width, number of components.
                if matches!(marker, 0xc0..=0xcf) && !matches!(marker, 0xc4 | 0xc8 | 0xcc) {
                    n_components = *file.get(at + 9)?;
                }
                let length = file.get(at + 2..at + 4)?;
                at += 2 + usize::from(u16::from_be_bytes([length[0], length[1]]));
            }
            _ => at += 1,
        }
    }
    None
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

#[cfg(test)]
mod tests {
    use image::{ExtendedColorType, ImageEncoder as _};

    use super::*;
    use crate::pixels::tests::{read_bytes, slope};

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

    /// Returns what a PNG of one pixel of this kind becomes.
    fn png_pixel(kind: ExtendedColorType, bytes: &[u8], options: DecodeOptions) -> [u8; 3] {
        let mut file = Vec::new();
        let encoder = image::codecs::png::PngEncoder::new(&mut file);
        encoder.write_image(bytes, 1, 1, kind).unwrap();
        decode(Path::new("a.png"), &file, &options).unwrap().pixel(0, 0)
    }

    #[test]
    fn transparency_is_laid_on_white_or_dropped() {
        let half = [200, 100, 0, 51];
        let kind = ExtendedColorType::Rgba8;
        assert_eq!(png_pixel(kind, &half, DecodeOptions::default()), [244, 224, 204]);
        assert_eq!(png_pixel(kind, &half, DecodeOptions::as_torchvision()), [200, 100, 0]);
        assert_eq!(png_pixel(ExtendedColorType::La8, &[10, 0], DecodeOptions::default()), [255; 3]);
    }

    #[test]
    fn sixteen_bits_become_the_nearest_of_256_levels() {
        // 0x7f80 / 257 = 127.0, 0x8080 / 257 = 128.0 exactly, 0xffff is white.
        let bytes: Vec<u8> = [0x8080_u16, 0xffff, 0x0101 + 129]
            .iter()
            .flat_map(|level| level.to_ne_bytes())
            .collect();
        let pixel = png_pixel(ExtendedColorType::Rgb16, &bytes, DecodeOptions::default());
        assert_eq!(pixel, [128, 255, 2]);
        let grey = 0x4040_u16.to_ne_bytes();
        let pixel = png_pixel(ExtendedColorType::L16, &grey, DecodeOptions::default());
        assert_eq!(pixel, [64; 3]);
    }

    #[test]
    fn a_picture_taken_sideways_may_be_left_as_it_is_stored() {
        let jpeg = with_exif(&slope(32, 16).to_jpeg(90), 6, &[]);
        let stored = decode(Path::new("a.jpg"), &jpeg, &DecodeOptions::as_torchvision()).unwrap();
        assert_eq!((stored.width(), stored.height()), (32, 16));
    }

    #[test]
    fn a_picture_that_claims_to_be_huge_is_refused() {
        // The header of a bitmap of 60 000 × 60 000 pixels in 24 bits, and nothing else.
        let mut bmp = b"BM\0\0\0\0\0\0\0\0\x36\0\0\0\x28\0\0\0".to_vec();
        bmp.extend([60_000_u32.to_le_bytes(), 60_000_u32.to_le_bytes()].concat());
        bmp.extend([1, 0, 24, 0]);
        bmp.extend([0; 24]);
        let error = decode(Path::new("a.bmp"), &bmp, &DecodeOptions::default()).unwrap_err();
        assert!(matches!(error, PixelsError::TooLarge { .. }), "{error:?}");
        assert!(error.to_string().ends_with("found one of 60000 × 60000 pixels"), "{error}");
    }
}
