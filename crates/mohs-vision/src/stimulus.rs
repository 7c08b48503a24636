//! What participants are shown: pictures cut, resized and changed by condition, and their masks.
//!
//! ```text
//! file ─► upright picture ─► square (crop) ─► side_px ─► condition (degrade) ─► PNG
//!                                                               └─► phase mask ─► PNG
//! ```
//!
//! A mask is made of what it covers, so it comes last. Pictures are written as PNG without loss and
//! named by the SHA-256 of the file. The same file, options and seed give the same bytes, whatever
//! is made beside them. Nothing here writes to disk; `mohs prepare` does. [`flash_lint`] says how
//! often a participant would see it flash, and [`ladder`] makes pictures harder step by step.

pub mod crop;
pub mod degrade;
pub mod flash_lint;
pub mod ladder;
pub mod phase_mask;

use std::fmt::Write as _;
use std::path::Path;

use mohs_data::{BoundingBox, Crop, MaskForm, PrepareOptions, Seed, StimulusId, Task};
use sha2::{Digest, Sha256};

use crate::pixels::{self, DecodeOptions, Pixels, PixelsError, Rgb8};
use crate::probe::{Probe, ProbeError, ProbeKey};
use crop::CropError;
use flash_lint::Tones;
use phase_mask::MaskMaker;

/// Changes whenever the same options would give other pixels or bytes: what was made before is then
/// made again.
const MAKE: &str = "mohs stimulus 1";

/// Everything that decides what is made of a file.
#[derive(Debug)]
pub struct StimulusPlan {
    crop: Crop,
    side: u32,
    seed: Seed,
    masks: MaskForm,
    maker: Option<MaskMaker>,
    conditions: Vec<Condition>,
}

/// One condition of a study.
#[derive(Debug)]
pub struct Condition {
    /// Its name in trials; none where pictures are shown as they are.
    pub name: Option<String>,
    probe: Probe,
}

/// A picture as a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PngFile {
    /// The file.
    pub bytes: Vec<u8>,
    /// Its name: SHA-256 of the bytes, 64 hexadecimal digits.
    pub sha256: String,
}

/// What is shown of a stimulus in one condition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Made {
    /// The picture.
    pub image: PngFile,
    /// What covers it afterwards.
    pub mask: Option<PngFile>,
    /// What the flash linter needs to know of both.
    pub tones: Tones,
}

/// Why nothing can be shown of a file.
#[derive(Debug, thiserror::Error)]
pub enum StimulusError {
    /// It cannot be read as a picture.
    #[error(transparent)]
    Pixels(#[from] PixelsError),
    /// It has no such square.
    #[error(transparent)]
    Crop(#[from] CropError),
}

impl StimulusPlan {
    /// Checks the options. Masks are made for flashes only.
    ///
    /// # Errors
    ///
    /// Fails where a condition cannot be applied to pictures of the side that is asked for.
    pub fn new(options: &PrepareOptions, task: Task) -> Result<StimulusPlan, ProbeError> {
        let side = options.side_px;
        let masks = if task == Task::Flash { options.masks } else { MaskForm::None };
        let mut conditions = Vec::new();
        for condition in &options.conditions {
            let probe = degrade::probe(condition)?;
            probe.check(side, side)?;
            conditions.push(Condition { name: Some(condition.name.clone()), probe });
        }
        if conditions.is_empty() {
            conditions.push(Condition { name: None, probe: Probe::none() });
        }
        Ok(StimulusPlan {
            crop: options.crop,
            side,
            seed: Seed(options.seed),
            masks,
            maker: MaskMaker::new(masks, side),
            conditions,
        })
    }

    /// Returns the conditions, at least one.
    pub fn conditions(&self) -> &[Condition] {
        &self.conditions
    }

    /// Returns the side of what is shown, in pixels.
    pub fn side(&self) -> u32 {
        self.side
    }

    /// Says whether masks are made.
    pub fn has_masks(&self) -> bool {
        self.maker.is_some()
    }

    /// Returns the key of what is made: the same key, the same bytes.
    ///
    /// `source` is the SHA-256 of the file. Names of stimuli and conditions do not count.
    pub fn key(&self, source: &str, boxes: &[BoundingBox], condition: &Condition) -> String {
        let mut text = format!("{MAKE}\n{source}\n{:?} {}", self.crop, self.side);
        if self.crop == Crop::Box {
            for bounding_box in boxes {
                let BoundingBox { x, y, width, height } = bounding_box;
                write!(text, "\nbox {x} {y} {width} {height}").expect(TO_MEMORY);
            }
        }
        let probe = &condition.probe;
        write!(text, "\n{}\n{:?}", probe.signature(), self.masks).expect(TO_MEMORY);
        if probe.kind().is_random() || self.has_masks() {
            write!(text, "\nseed {}", self.seed.0).expect(TO_MEMORY);
        }
        blake3::hash(text.as_bytes()).to_hex()[..32].to_owned()
    }

    /// Decodes a file and returns the square that is shown of it, in its final size; `path` is only
    /// for errors.
    ///
    /// # Errors
    ///
    /// Fails where the file is no whole picture, or the box lies outside.
    pub fn square(
        &self,
        path: &Path,
        file: &[u8],
        boxes: &[BoundingBox],
    ) -> Result<Rgb8, StimulusError> {
        let picture = pixels::decode(path, file, &DecodeOptions::default())?;
        let square = crop::square((picture.width(), picture.height()), boxes, self.crop)?;
        Ok(crop::resized(&crop::cut(&picture, &square), self.side))
    }

    /// Makes one condition of a square, and its mask.
    pub fn make(&self, square: &Rgb8, source: &str, condition: &Condition) -> Made {
        let changed = if condition.probe.is_none() {
            None
        } else {
            let id = StimulusId::new(source);
            let key = ProbeKey { seed: self.seed, stimulus: &id };
            Some(Rgb8::from(&condition.probe.apply(&Pixels::from(square), &key)))
        };
        let image = changed.as_ref().unwrap_or(square);
        let mask = self.maker.as_ref().map(|maker| maker.mask(image, self.seed, source));
        Made {
            tones: Tones::new(image, mask.as_ref()),
            image: PngFile::new(image),
            mask: mask.as_ref().map(PngFile::new),
        }
    }
}

const TO_MEMORY: &str = "because writing to a string does not fail";

impl PngFile {
    fn new(picture: &Rgb8) -> PngFile {
        let bytes = picture.to_quick_png();
        let sha256 = sha256(&bytes);
        PngFile { bytes, sha256 }
    }
}

/// Returns the SHA-256 of some bytes as 64 hexadecimal digits.
pub fn sha256(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(64);
    for byte in Sha256::digest(bytes) {
        write!(text, "{byte:02x}").expect(TO_MEMORY);
    }
    text
}

#[cfg(test)]
mod tests {
    use mohs_data::{Degradation, DegradationKind};

    use super::*;

    fn options() -> PrepareOptions {
        PrepareOptions { side_px: 16, ..PrepareOptions::default() }
    }

    fn plan(options: &PrepareOptions, task: Task) -> StimulusPlan {
        StimulusPlan::new(options, task).unwrap()
    }

    fn photograph() -> Vec<u8> {
        let bytes = (0..40 * 30 * 3_u32).map(|n| u8::try_from(n * n / 7 % 256).unwrap()).collect();
        Rgb8::new(40, 30, bytes).unwrap().to_png()
    }

    fn condition(kind: DegradationKind, amount: f64) -> Degradation {
        Degradation { name: format!("{kind:?}"), kind, amount: Some(amount) }
    }

    #[test]
    fn a_known_text_has_its_known_hash() {
        let hash = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(sha256(b"abc"), hash);
    }

    #[test]
    fn the_same_file_gives_the_same_bytes_and_only_flashes_have_masks() {
        let file = photograph();
        let source = sha256(&file);
        let made = |task| {
            let plan = plan(&options(), task);
            let square = plan.square(Path::new("a.png"), &file, &[]).unwrap();
            plan.make(&square, &source, &plan.conditions()[0])
        };
        let flash = made(Task::Flash);
        assert_eq!(flash, made(Task::Flash));
        assert_eq!(flash.image.sha256, sha256(&flash.image.bytes));
        assert!(flash.mask.is_some());
        let rate = made(Task::Rate);
        assert_eq!((rate.image, rate.mask), (flash.image, None));
    }

    #[test]
    fn a_key_names_all_that_matters_and_nothing_else() {
        let key = |options: &PrepareOptions, task, source: &str, boxes: &[BoundingBox]| {
            let plan = plan(options, task);
            plan.key(source, boxes, plan.conditions().last().unwrap())
        };
        let first = key(&options(), Task::Flash, "a", &[]);
        let bounding_box = BoundingBox { x: 1.0, y: 2.0, width: 3.0, height: 4.0 };
        let blur = vec![condition(DegradationKind::Blur, 1.0)];
        let noise = vec![condition(DegradationKind::Noise, 0.1)];
        let others = [
            key(&options(), Task::Flash, "b", &[]),
            key(&options(), Task::Rate, "a", &[]),
            key(&options(), Task::Flash, "a", &[bounding_box]),
            key(&PrepareOptions { side_px: 17, ..options() }, Task::Flash, "a", &[]),
            key(&PrepareOptions { seed: 2, ..options() }, Task::Flash, "a", &[]),
            key(&PrepareOptions { crop: Crop::Whole, ..options() }, Task::Flash, "a", &[]),
            key(
                &PrepareOptions { masks: MaskForm::PublishedCode, ..options() },
                Task::Flash,
                "a",
                &[],
            ),
            key(&PrepareOptions { conditions: blur.clone(), ..options() }, Task::Flash, "a", &[]),
            key(&PrepareOptions { conditions: noise, ..options() }, Task::Rate, "a", &[]),
        ];
        for (idx, other) in others.iter().enumerate() {
            assert_ne!(*other, first, "{idx}");
        }
        // A seed does not matter where nothing is drawn, and neither does a condition's name.
        let mut renamed = blur.clone();
        renamed[0].name = "soft".into();
        let same = [
            key(&PrepareOptions { conditions: blur, ..options() }, Task::Rate, "a", &[]),
            key(
                &PrepareOptions { conditions: renamed, seed: 9, ..options() },
                Task::Rate,
                "a",
                &[],
            ),
        ];
        assert_eq!(same[0], same[1]);
    }

    #[test]
    fn a_blur_wider_than_the_picture_is_refused() {
        let conditions = vec![condition(DegradationKind::Blur, 9.0)];
        let error = StimulusPlan::new(&PrepareOptions { conditions, ..options() }, Task::Rate);
        assert!(matches!(error, Err(ProbeError::DoesNotFit { .. })), "{error:?}");
    }

    #[test]
    fn a_truncated_picture_and_a_box_outside_are_errors() {
        let (plan, file) = (plan(&options(), Task::Flash), photograph());
        let path = Path::new("a.png");
        let error = plan.square(path, &file[..file.len() / 2], &[]).unwrap_err();
        assert!(matches!(error, StimulusError::Pixels(PixelsError::Broken { .. })), "{error}");
        let outside = BoundingBox { x: 90.0, y: 0.0, width: 9.0, height: 9.0 };
        let error = plan.square(path, &file, &[outside]).unwrap_err();
        assert!(matches!(error, StimulusError::Crop(_)), "{error}");
    }
}
