//! Masks as pictures: PNG files to masks and back, and folders of them to annotations.
//!
//! What counts as object is said by [`ObjectPixels`]. Values of palette pictures are the palette's
//! indices, as tools for outlining write them, not colours. In a picture with transparent parts the
//! object is what can be seen. Where the files lie says who drew what; see [`Layout`].

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use mohs_data::{Annotation, FileError, Label, Mask, ParticipantId, Problem, StimulusId};
use png::{BitDepth, ColorType, Decoder, Encoder, Transformations};
use rayon::prelude::*;

/// Which pixels of a mask picture are object.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum ObjectPixels {
    /// Everything but zero (black).
    #[default]
    NotZero,
    /// These grey values or palette indices.
    Values(Vec<u16>),
    /// Values of at least this; of colour pictures the brightest channel counts.
    AtLeast(u16),
}

/// What the folders above a mask say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Layout {
    /// `STIMULUS.png`: nothing; folders are part of the stimulus' id.
    #[default]
    Flat,
    /// `PARTICIPANT/STIMULUS.png`: who drew it.
    ByParticipant,
    /// `CLASS/STIMULUS.png`: what is outlined; the class stays part of the stimulus' id, as in
    /// folders of pictures.
    ByClass,
    /// `PARTICIPANT/CLASS/STIMULUS.png`: both.
    ByParticipantAndClass,
}

/// How a folder of masks is read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FolderOptions {
    /// What the folders say.
    pub layout: Layout,
    /// Which pixels are object.
    pub object: ObjectPixels,
    /// What is outlined, where no folder says so.
    pub label: Label,
}

impl Default for FolderOptions {
    fn default() -> Self {
        Self { layout: Layout::Flat, object: ObjectPixels::NotZero, label: Label::new("object") }
    }
}

/// Reads a folder of PNG masks, sorted by path. The id of a stimulus is its path without `.png`.
///
/// A picture in which nothing is object is refused: it outlines nothing.
pub fn read_folder(folder: &Path, options: &FolderOptions) -> Result<Vec<Annotation>, FileError> {
    let mut files = Vec::new();
    walk(folder, &mut Vec::new(), &mut files)?;
    files.sort();
    if files.is_empty() {
        let problem = Problem::BadValue {
            expected: "a folder of PNG masks".into(),
            found: "no file ending in .png".into(),
            hint: Some(
                "one PNG per stimulus, named like it; other kinds of picture first need converting"
                    .into(),
            ),
        };
        return Err(FileError::new(folder, problem));
    }
    files
        .par_iter()
        .map(|names| {
            let path = folder.join(names.iter().collect::<PathBuf>());
            let (participant, label, stimulus) = identity(&path, names, options)?;
            let mask = read(&path, &options.object)?;
            if mask.area() == 0 {
                return Err(FileError::new(&path, nothing_marked(&options.object)));
            }
            Ok(Annotation { stimulus, participant, label, mask, extra: Default::default() })
        })
        .collect()
}

/// Reads a PNG file as a mask.
pub fn read(path: &Path, object: &ObjectPixels) -> Result<Mask, FileError> {
    let bytes = std::fs::read(path).map_err(|cause| FileError::cannot_read(path, cause))?;
    decode(&bytes, object).map_err(|problem| FileError::new(path, problem))
}

/// Returns the values of a PNG file that seems to hold classes, each with a grey value or palette
/// index of its own, rather than one object: several besides 0, and few in all.
pub fn class_values(path: &Path) -> Result<Option<Vec<u16>>, FileError> {
    /// More values are shades.
    const MOST: usize = 32;
    let bytes = std::fs::read(path).map_err(|cause| FileError::cannot_read(path, cause))?;
    let found = samples(&bytes, |picture, width, height| {
        let n_channels = picture.kind.samples();
        let n_colours = picture.n_colours();
        let brightest = |y: usize, x: usize| {
            let samples = (0..n_colours).map(|channel| picture.sample(y, x * n_channels + channel));
            samples.max().unwrap_or(0)
        };
        let rows = (0..height as usize).flat_map(|y| (0..width as usize).map(move |x| (y, x)));
        Ok(rows.map(|(y, x)| brightest(y, x)).collect::<BTreeSet<u16>>())
    });
    let found = found.map_err(|problem| FileError::new(path, problem))?;
    let is_classes = |values: &BTreeSet<u16>| {
        values.len() <= MOST && 1 < values.iter().filter(|value| **value != 0).count()
    };
    Ok(Some(found).filter(is_classes).map(|values| values.into_iter().collect()))
}

/// Turns the text of a LabelMe `mask` shape, a PNG in base 64, into its pixels; `Err` says what
/// was found instead.
pub fn decode_base64(text: &str) -> Result<Mask, String> {
    if text.is_empty() {
        return Err(String::new());
    }
    let bytes =
        STANDARD.decode(text).map_err(|error| format!("text that is not base 64: {error}"))?;
    decode(&bytes, &ObjectPixels::NotZero).map_err(|problem| problem.to_string())
}

/// Returns a mask as a PNG file: object white, background black. The same mask gives the same
/// bytes.
pub fn to_png(mask: &Mask) -> Vec<u8> {
    let grey: Vec<u8> =
        mask.to_bitmap().into_iter().map(|is_object| if is_object { 255 } else { 0 }).collect();
    let mut file = Vec::new();
    let mut encoder = Encoder::new(&mut file, mask.width(), mask.height());
    encoder.set_color(ColorType::Grayscale);
    encoder.set_depth(BitDepth::Eight);
    let written = encoder.write_header().and_then(|mut writer| {
        writer.write_image_data(&grey)?;
        writer.finish()
    });
    written.expect("because writing to memory does not fail and the size fits the bytes");
    file
}

/// Collects the paths below a folder, as names that lead there; hidden files are left out.
fn walk(
    folder: &Path,
    names: &mut Vec<String>,
    files: &mut Vec<Vec<String>>,
) -> Result<(), FileError> {
    let cannot_read = |cause| FileError::cannot_read(folder, cause);
    for entry in std::fs::read_dir(folder).map_err(cannot_read)? {
        let entry = entry.map_err(cannot_read)?;
        let Ok(name) = entry.file_name().into_string() else {
            let looks_like = "a file name that is not UTF-8".into();
            return Err(FileError::new(&entry.path(), Problem::NotText { looks_like }));
        };
        if name.starts_with('.') {
            continue;
        }
        let is_mask = name.to_ascii_lowercase().ends_with(".png");
        let is_folder = entry.file_type().map_err(cannot_read)?.is_dir();
        names.push(name);
        if is_folder {
            walk(&entry.path(), names, files)?;
        } else if is_mask {
            files.push(names.clone());
        }
        names.pop();
    }
    Ok(())
}

/// Returns who drew a mask, of what, on which stimulus.
fn identity(
    path: &Path,
    names: &[String],
    options: &FolderOptions,
) -> Result<(Option<ParticipantId>, Label, StimulusId), FileError> {
    let n_said = match options.layout {
        Layout::Flat => 0,
        Layout::ByParticipant | Layout::ByClass => 1,
        Layout::ByParticipantAndClass => 2,
    };
    if names.len() <= n_said {
        let expected = match options.layout {
            Layout::ByParticipant => "in a folder named after who drew it",
            Layout::ByClass => "in a folder named after its class",
            _ => "in PARTICIPANT/CLASS/",
        };
        let problem = Problem::BadValue {
            expected: expected.into(),
            found: names.join("/"),
            hint: Some("move it there, or name another layout".into()),
        };
        return Err(FileError::new(path, problem));
    }
    let (participant, rest) = match options.layout {
        Layout::ByParticipant | Layout::ByParticipantAndClass => {
            (Some(ParticipantId::new(&names[0])), &names[1..])
        }
        Layout::Flat | Layout::ByClass => (None, names),
    };
    let label = match options.layout {
        Layout::ByClass | Layout::ByParticipantAndClass => Label::new(&rest[0]),
        Layout::Flat | Layout::ByParticipant => options.label.clone(),
    };
    let id = rest.join("/");
    Ok((participant, label, StimulusId::new(&id[..id.len() - ".png".len()])))
}

fn nothing_marked(object: &ObjectPixels) -> Problem {
    let (expected, hint) = match object {
        ObjectPixels::NotZero => (
            "a mask with at least one pixel that is not black".to_owned(),
            "leave out empty masks; or say which values are object",
        ),
        ObjectPixels::Values(values) => {
            let values: Vec<String> = values.iter().map(ToString::to_string).collect();
            (
                format!("a mask with at least one pixel of value {}", values.join(" or ")),
                "look at the values of the file; palette pictures count by index",
            )
        }
        ObjectPixels::AtLeast(least) => (
            format!("a mask with at least one pixel of value {least} or more"),
            "masks of 0 and 1 need a threshold of 1",
        ),
    };
    Problem::BadValue { expected, found: "an empty mask".into(), hint: Some(hint.into()) }
}

/// Decodes a PNG file into a mask.
fn decode(bytes: &[u8], object: &ObjectPixels) -> Result<Mask, Problem> {
    samples(bytes, |picture, width, height| {
        let is_object = picture.is_object(width as usize, height as usize, object)?;
        Mask::from_bitmap(height, width, &is_object).map_err(Problem::BadMask)
    })
}

/// Decodes a PNG file and hands on its samples, with their width and height.
fn samples<T>(
    bytes: &[u8],
    take: impl FnOnce(&Samples<'_>, u32, u32) -> Result<T, Problem>,
) -> Result<T, Problem> {
    const SIGNATURE: [u8; 4] = [0x89, b'P', b'N', b'G'];
    if !bytes.starts_with(&SIGNATURE) {
        return Err(Problem::WrongKind {
            expected: "a PNG picture".into(),
            found: "another kind of file".into(),
        });
    }
    let damaged = |error: png::DecodingError| Problem::Damaged { detail: error.to_string() };
    let mut decoder = Decoder::new(std::io::Cursor::new(bytes));
    decoder.set_transformations(Transformations::IDENTITY);
    let mut reader = decoder.read_info().map_err(damaged)?;
    let (width, height) = (reader.info().width, reader.info().height);
    // Refuses sizes no mask may have before any memory is asked for.
    let too_large = width.max(height) > Mask::MAX_SIDE;
    let size = reader.output_buffer_size().filter(|_| !too_large);
    let Some(size) = size else {
        return Err(Problem::BadMask(mohs_data::MaskError::BadSize { height, width }));
    };
    let mut buffer = vec![0; size];
    let frame = reader.next_frame(&mut buffer).map_err(damaged)?;
    let picture = Samples {
        kind: frame.color_type,
        depth: frame.bit_depth,
        line: frame.line_size,
        bytes: &buffer,
    };
    take(&picture, width, height)
}

/// Decoded samples, packed as in the file.
struct Samples<'a> {
    kind: ColorType,
    depth: BitDepth,
    line: usize,
    bytes: &'a [u8],
}

impl Samples<'_> {
    /// Channels that are not transparency.
    fn n_colours(&self) -> usize {
        let has_alpha = matches!(self.kind, ColorType::GrayscaleAlpha | ColorType::Rgba);
        self.kind.samples() - usize::from(has_alpha)
    }

    fn is_object(
        &self,
        width: usize,
        height: usize,
        object: &ObjectPixels,
    ) -> Result<Vec<bool>, Problem> {
        let n_channels = self.kind.samples();
        let n_colours = self.n_colours();
        let has_alpha = n_colours < n_channels;
        if matches!(object, ObjectPixels::Values(_)) && 1 < n_colours {
            return Err(Problem::BadValue {
                expected: "a grey or palette picture, whose pixels have one value".into(),
                found: "a colour picture".into(),
                hint: Some(
                    "leave out the values, or give a threshold for the brightest channel".into(),
                ),
            });
        }
        let opaque = match self.depth {
            BitDepth::Sixteen => u16::MAX,
            _ => u16::from(u8::MAX),
        };
        let mut colours = Vec::with_capacity(width * height);
        let mut alphas = Vec::new();
        for y in 0..height {
            for x in 0..width {
                let sample = |channel: usize| self.sample(y, x * n_channels + channel);
                colours.push((0..n_colours).map(sample).max().unwrap_or(0));
                if has_alpha {
                    alphas.push(sample(n_colours));
                }
            }
        }
        let is_seen_through = alphas.iter().any(|alpha| *alpha < opaque);
        Ok(match object {
            ObjectPixels::NotZero if is_seen_through => {
                alphas.iter().map(|alpha| opaque / 2 < *alpha).collect()
            }
            ObjectPixels::NotZero => colours.iter().map(|value| *value != 0).collect(),
            ObjectPixels::Values(values) => {
                colours.iter().map(|value| values.contains(value)).collect()
            }
            ObjectPixels::AtLeast(least) => colours.iter().map(|value| least <= value).collect(),
        })
    }

    /// Returns one sample of a row, in the range of its depth.
    fn sample(&self, row: usize, idx: usize) -> u16 {
        let row = &self.bytes[row * self.line..];
        match self.depth {
            BitDepth::Eight => row[idx].into(),
            BitDepth::Sixteen => u16::from_be_bytes([row[2 * idx], row[2 * idx + 1]]),
            small => {
                let n_bits = small as usize;
                let place = 8 - n_bits - idx * n_bits % 8;
                u16::from(row[idx * n_bits / 8] >> place) & ((1 << n_bits) - 1)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn png(kind: ColorType, depth: BitDepth, width: u32, height: u32, data: &[u8]) -> Vec<u8> {
        let mut file = Vec::new();
        let mut encoder = Encoder::new(&mut file, width, height);
        encoder.set_color(kind);
        encoder.set_depth(depth);
        if kind == ColorType::Indexed {
            encoder.set_palette(vec![0, 0, 0, 128, 0, 0, 224, 224, 192]);
        }
        let mut writer = encoder.write_header().expect("because the header is sound");
        writer.write_image_data(data).expect("because the data fit");
        writer.finish().expect("because memory takes it");
        file
    }

    fn marked(file: &[u8], object: &ObjectPixels) -> Vec<usize> {
        let mask = decode(file, object).expect("because the file is sound");
        let bits = mask.to_bitmap();
        (0..bits.len()).filter(|idx| bits[*idx]).collect()
    }

    #[test]
    fn grey_palette_bits_wide_and_see_through_pictures_are_read() {
        let not_zero = ObjectPixels::NotZero;
        let grey = png(ColorType::Grayscale, BitDepth::Eight, 3, 1, &[0, 1, 255]);
        assert_eq!(marked(&grey, &not_zero), [1, 2]);
        assert_eq!(marked(&grey, &ObjectPixels::AtLeast(128)), [2]);
        assert_eq!(marked(&grey, &ObjectPixels::Values(vec![0, 1])), [0, 1]);
        // Index 2 is the border of PASCAL VOC, bright though it is.
        let palette = png(ColorType::Indexed, BitDepth::Eight, 3, 1, &[0, 1, 2]);
        assert_eq!(marked(&palette, &ObjectPixels::Values(vec![1])), [1]);
        let two_bits = png(ColorType::Indexed, BitDepth::Two, 3, 1, &[0b00_01_10_00]);
        assert_eq!(marked(&two_bits, &ObjectPixels::Values(vec![2])), [2]);
        let bits = png(ColorType::Grayscale, BitDepth::One, 10, 1, &[0b0100_0001, 0b1000_0000]);
        assert_eq!(marked(&bits, &not_zero), [1, 7, 8]);
        let wide = png(ColorType::Grayscale, BitDepth::Sixteen, 2, 1, &[0, 0, 1, 0]);
        assert_eq!(marked(&wide, &ObjectPixels::AtLeast(256)), [1]);
        let clear = png(ColorType::Rgba, BitDepth::Eight, 2, 1, &[9, 9, 9, 0, 0, 0, 0, 255]);
        assert_eq!(marked(&clear, &not_zero), [1]);
        let opaque = png(ColorType::GrayscaleAlpha, BitDepth::Eight, 2, 1, &[0, 255, 7, 255]);
        assert_eq!(marked(&opaque, &not_zero), [1]);
    }

    fn folder_with(files: &[(&str, &[u8])]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().expect("because tests may write temporary files");
        for (name, content) in files {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().expect("because it has a folder"))
                .expect("because the folder is ours");
            std::fs::write(path, content).expect("because the folder is ours");
        }
        folder
    }

    #[test]
    fn folders_say_who_drew_what() {
        let dot = png(ColorType::Grayscale, BitDepth::Eight, 2, 1, &[0, 1]);
        let folder =
            folder_with(&[("bo/mug/b.png", &dot), ("ann/mug/a b.PNG", &dot), ("x.txt", b"")]);
        let read = |layout| {
            let options = FolderOptions { layout, ..FolderOptions::default() };
            let read = read_folder(folder.path(), &options).unwrap();
            let said = |a: &Annotation| {
                let by = a.participant.as_ref().map_or("", |by| by.as_str());
                format!("{by}|{}|{}", a.label, a.stimulus)
            };
            read.iter().map(said).collect::<Vec<_>>()
        };
        assert_eq!(read(Layout::Flat), ["|object|ann/mug/a b", "|object|bo/mug/b"]);
        assert_eq!(read(Layout::ByParticipant), ["ann|object|mug/a b", "bo|object|mug/b"]);
        assert_eq!(read(Layout::ByClass), ["|ann|ann/mug/a b", "|bo|bo/mug/b"]);
        assert_eq!(read(Layout::ByParticipantAndClass), ["ann|mug|mug/a b", "bo|mug|mug/b"]);
    }

    #[test]
    fn what_is_no_mask_says_why() {
        let dot = png(ColorType::Grayscale, BitDepth::Eight, 2, 1, &[0, 1]);
        let colour = png(ColorType::Rgb, BitDepth::Eight, 1, 1, &[1, 2, 3]);
        let error_of = |name: &str, content: &[u8], options: &FolderOptions| {
            let folder = folder_with(&[(name, content)]);
            let error = read_folder(folder.path(), options).unwrap_err();
            format!("{} [{}]", error.problem, error.hint().unwrap_or_default())
        };
        let plain = FolderOptions::default();
        let twos = FolderOptions { object: ObjectPixels::Values(vec![2]), ..plain.clone() };
        let people = FolderOptions { layout: Layout::ByParticipant, ..plain.clone() };
        assert_eq!(
            error_of("a.png", &dot, &twos),
            "should be a mask with at least one pixel of value 2, found `an empty mask` \
             [look at the values of the file; palette pictures count by index]"
        );
        assert!(error_of("a.png", &colour, &twos).contains("a grey or palette picture"));
        assert!(
            error_of("a.png", &dot, &people).contains("named after who drew it, found `a.png`")
        );
        assert!(error_of("a.png", b"GIF89a", &plain).contains("should be a PNG picture"));
        assert!(error_of("a.png", &dot[..40], &plain).contains("damaged or cut short"));
        assert!(error_of("a.txt", b"", &plain).contains("no file ending in .png"));
        assert!(decode_base64("%").unwrap_err().contains("base 64"));
    }

    proptest! {
        #[test]
        fn every_mask_comes_back_from_its_png(
            (h, w, bits) in (1_u32..20, 1_u32..20).prop_flat_map(|(h, w)| {
                (Just(h), Just(w), prop::collection::vec(any::<bool>(), (h * w) as usize))
            }),
        ) {
            let mask = Mask::from_bitmap(h, w, &bits).unwrap();
            let file = to_png(&mask);
            prop_assert_eq!(decode(&file, &ObjectPixels::NotZero).unwrap(), mask.clone());
            prop_assert_eq!(decode_base64(&STANDARD.encode(&file)), Ok(mask));
        }

        #[test]
        fn any_bytes_are_a_mask_or_an_error(bytes in prop::collection::vec(any::<u8>(), 0..80)) {
            let mut file = vec![0x89, b'P', b'N', b'G', 0x0d, 0x0a, 0x1a, 0x0a];
            file.extend(bytes);
            prop_assert!(decode(&file, &ObjectPixels::NotZero).is_err());
        }
    }

    #[test]
    fn a_file_of_classes_is_told_from_a_mask() {
        let folder = tempfile::tempdir().unwrap();
        let found = |kind, data: &[u8]| {
            let path = folder.path().join("a.png");
            std::fs::write(&path, png(kind, BitDepth::Eight, 2, 2, data)).unwrap();
            class_values(&path).unwrap()
        };
        assert_eq!(found(ColorType::Grayscale, &[1, 2, 3, 2]), Some(vec![1, 2, 3]));
        assert_eq!(found(ColorType::Indexed, &[0, 1, 2, 2]), Some(vec![0, 1, 2]));
        assert_eq!(found(ColorType::Grayscale, &[0, 255, 255, 0]), None);
        assert_eq!(found(ColorType::Rgb, &[9; 12]), None);
    }
}
