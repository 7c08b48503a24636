//! `mohs network input`: what a model sees of pictures, as numbers or as pictures again.
//!
//! No model is run. Files are written whole or not at all, and never over the pictures.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use mohs_data::format::atomic;
use mohs_data::{Parameter, ProbeEntry, Seed, StimulusId};
use mohs_vision::input::{self, InputSpec, Preset};
use mohs_vision::pixels::{self, Alpha, DecodeOptions, Orientation, Pixels, PixelsError, Rgb8};
use mohs_vision::probe::{Probe, ProbeKey};

use crate::error::CliError;
use crate::ui::Ui;

/// Show what a model sees of pictures: resized, cut, changed by a probe, as numbers
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  mohs network input cat.jpg --preset torchvision
  mohs network input *.jpg --preset clip --model clip.onnx --output seen/ --png
  mohs network input cat.jpg --side-file config.json --output seen/
  mohs network input cat.jpg --probe gaussian-noise --set sd=0.1 --output seen/ --png

With --output, the numbers go to DIR/<picture>.npy: 32-bit floats, channels × height × width. With
--png, what is left when the mean is not yet taken away goes to DIR/<picture>.png, too. Without
--output, one line per picture says what would be seen.")]
pub(crate) struct InputArgs {
    /// The pictures
    #[arg(value_name = "PICTURE", required = true)]
    pictures: Vec<PathBuf>,
    /// How pictures are prepared
    #[arg(long, value_enum, default_value_t = Named::Torchvision, value_name = "NAME")]
    preset: Named,
    /// Take it from the configuration that came with a model: config.json of timm,
    /// preprocessor_config.json of Hugging Face, open_clip_config.json
    #[arg(long, value_name = "FILE", conflicts_with = "preset")]
    side_file: Option<PathBuf>,
    /// The model whose size counts
    #[arg(long, value_name = "MODEL.onnx")]
    model: Option<PathBuf>,
    /// Size of the pictures in pixels: N or WIDTHxHEIGHT [default: what the model or its
    /// configuration says, or 224]
    #[arg(long, value_name = "N", value_parser = parse_size, conflicts_with = "model")]
    size: Option<(u32, u32)>,
    /// What becomes of transparency
    #[arg(long, value_enum, default_value_t = AlphaRule::White)]
    alpha: AlphaRule,
    /// What becomes of pictures that say how they were held (EXIF)
    #[arg(long, value_enum, default_value_t = OrientationRule::Apply)]
    orientation: OrientationRule,
    /// What is done to the pictures first, e.g. gaussian-blur
    #[arg(long, value_name = "KIND")]
    probe: Option<String>,
    /// A parameter of the probe (can be repeated)
    #[arg(long, value_name = "NAME=VALUE", value_parser = parse_setting, requires = "probe")]
    set: Vec<(String, String)>,
    /// Where the random numbers of the probe come from; its stimulus is the name of the file
    /// without its ending
    #[arg(long, default_value_t = 0, value_name = "N")]
    seed: u64,
    /// Where to write what is seen [default: nowhere]
    #[arg(long, short, value_name = "DIR")]
    output: Option<PathBuf>,
    /// Write pictures, too
    #[arg(long, requires = "output")]
    png: bool,
}

/// The presets, as they are typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Named {
    /// Shorter side to 8/7 of the size, bilinear, middle cut out, mean of ImageNet
    Torchvision,
    /// The same, rounded down and bicubic
    Timm,
    /// Shorter side to the size, bicubic, middle cut out, mean of CLIP
    Clip,
    /// As timm, from -1 to 1
    Tensorflow,
}

/// What becomes of transparency.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum AlphaRule {
    /// Laid on white
    White,
    /// Dropped: the colours underneath are shown, as in torchvision
    Drop,
}

/// What becomes of pictures that say how they were held.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum OrientationRule {
    /// Turned upright
    Apply,
    /// Left as they are stored, as in torchvision
    Ignore,
}

/// Pictures with longer sides are a mistake in typing.
const MAX_SIDE: u32 = 16_384;

fn parse_size(text: &str) -> Result<(u32, u32), String> {
    let (width, height) = text.split_once('x').unwrap_or((text, text));
    let side = |text: &str| text.parse().ok().filter(|side| (1..=MAX_SIDE).contains(side));
    match (side(width), side(height)) {
        (Some(width), Some(height)) => Ok((width, height)),
        _ => Err(format!("expected 224 or 320x240, each from 1 to {MAX_SIDE}")),
    }
}

fn parse_setting(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() && !value.is_empty() => {
            Ok((name.to_owned(), value.to_owned()))
        }
        _ => Err("expected NAME=VALUE, e.g. sd=0.1".into()),
    }
}

pub(crate) fn run(args: &InputArgs, ui: &Ui) -> Result<(), CliError> {
    let spec = spec(args)?;
    let probe = probe(args)?;
    probe.check(spec.width, spec.height)?;
    let options = DecodeOptions {
        alpha: match args.alpha {
            AlphaRule::White => Alpha::White,
            AlphaRule::Drop => Alpha::Drop,
        },
        orientation: match args.orientation {
            OrientationRule::Apply => Orientation::Apply,
            OrientationRule::Ignore => Orientation::Ignore,
        },
    };
    let stems = stems(args)?;
    if let Some(folder) = &args.output {
        std::fs::create_dir_all(folder).map_err(|cause| {
            CliError::surroundings(format!("cannot make the folder {}", folder.display()))
                .because(cause)
        })?;
    }
    ui.say(&spec.signature());
    if !probe.is_none() {
        ui.say(&format!("{}; seed {}", probe.signature(), args.seed));
    }
    let bar = ui.progress(args.pictures.len(), "preparing pictures");
    let mut lines = String::new();
    let mut failures: Vec<PixelsError> = Vec::new();
    for (path, stem) in args.pictures.iter().zip(&stems) {
        match see(path, stem, &spec, &options, &probe, args.seed) {
            Ok(seen) => {
                lines.push_str(&seen.line(path));
                if let Some(folder) = &args.output {
                    seen.write(folder, stem, args.png)?;
                }
            }
            Err(error) => failures.push(error),
        }
        bar.inc(1);
    }
    bar.finish_and_clear();
    if let Some(folder) = &args.output {
        ui.say(&format!("written: {}", folder.display()));
    }
    ui.data(lines.as_bytes())?;
    match failures.first() {
        Some(first) => {
            let message = format!("{} of {} pictures failed", failures.len(), args.pictures.len());
            Err(CliError::partly(message).hint(format!("the first: {first}")))
        }
        None => Ok(()),
    }
}

/// What a model takes.
fn spec(args: &InputArgs) -> Result<InputSpec, CliError> {
    let size = match &args.model {
        Some(model) => super::read(model)?.picture_size()?,
        None => args.size,
    };
    if let Some(file) = &args.side_file {
        let bytes = std::fs::read(file).map_err(|cause| {
            CliError::input(format!("cannot read the side file {}", file.display())).because(cause)
        })?;
        return InputSpec::from_side_file(&bytes, size)
            .map_err(|error| CliError::input(format!("{}: {error}", file.display())));
    }
    let preset = match args.preset {
        Named::Torchvision => Preset::Torchvision,
        Named::Timm => Preset::Timm,
        Named::Clip => Preset::Clip,
        Named::Tensorflow => Preset::Tensorflow,
    };
    Ok(InputSpec::preset(preset, size))
}

fn probe(args: &InputArgs) -> Result<Probe, CliError> {
    let Some(kind) = &args.probe else { return Ok(Probe::none()) };
    let mut parameters = BTreeMap::new();
    for (name, value) in &args.set {
        if parameters.insert(name.clone(), Parameter::Text(value.clone())).is_some() {
            return Err(CliError::input(format!("--set should give `{name}` once, found twice")));
        }
    }
    let entry = ProbeEntry { name: kind.clone(), kind: kind.clone(), parameters };
    Ok(Probe::parse(&entry)?)
}

/// The names of what is written, one per picture.
fn stems(args: &InputArgs) -> Result<Vec<String>, CliError> {
    let stem_of = |path: &PathBuf| path.file_stem().unwrap_or_default().to_string_lossy().into();
    let stems: Vec<String> = args.pictures.iter().map(stem_of).collect();
    if let Some(folder) = &args.output {
        let mut seen = BTreeSet::new();
        if let Some(twice) = stems.iter().find(|stem| !seen.insert(stem.as_str())) {
            return Err(CliError::input(format!(
                "pictures should have different names without their endings, found `{twice}` twice"
            ))
            .hint("write them to different folders"));
        }
        if args.png {
            let outputs: Vec<PathBuf> =
                stems.iter().map(|stem| folder.join(format!("{stem}.png"))).collect();
            for output in &outputs {
                crate::commands::import::check_overwrites_none(output, &args.pictures)?;
            }
        }
    }
    Ok(stems)
}

/// What a model sees of one picture.
struct Seen {
    from: (u32, u32),
    pixels: Pixels,
    numbers: Vec<f32>,
    clamped: f64,
}

fn see(
    path: &Path,
    stem: &str,
    spec: &InputSpec,
    options: &DecodeOptions,
    probe: &Probe,
    seed: u64,
) -> Result<Seen, PixelsError> {
    let picture = pixels::read_with(path, options)?;
    let fitted = Pixels::from(&input::fit(&picture, spec));
    let stimulus = StimulusId::new(stem);
    let changed = probe.apply_counted(&fitted, &ProbeKey { seed: Seed(seed), stimulus: &stimulus });
    let numbers = input::numbers(&changed.pixels, spec);
    let from = (picture.width(), picture.height());
    Ok(Seen { from, pixels: changed.pixels, numbers, clamped: changed.share })
}

impl Seen {
    fn line(&self, path: &Path) -> String {
        let low = self.numbers.iter().copied().fold(f32::INFINITY, f32::min);
        let high = self.numbers.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        let (width, height) = (self.pixels.width(), self.pixels.height());
        let clamped = match self.clamped {
            0.0 => String::new(),
            share => format!("  {:.1} % clamped", share * 100.0),
        };
        let (from_width, from_height) = self.from;
        format!(
            "{}  {from_width} × {from_height} -> {width} × {height}  {low:.3} to {high:.3}{clamped}\n",
            path.display()
        )
    }

    fn write(&self, folder: &Path, stem: &str, with_png: bool) -> Result<(), CliError> {
        let shape = [3, self.pixels.height(), self.pixels.width()];
        atomic::write_file(
            &folder.join(format!("{stem}.npy")),
            &pixels::npy(shape, &self.numbers),
        )?;
        if with_png {
            let png = Rgb8::from(&self.pixels).to_png();
            atomic::write_file(&folder.join(format!("{stem}.png")), &png)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_size_is_one_side_or_two() {
        assert_eq!(parse_size("224"), Ok((224, 224)));
        assert_eq!(parse_size("320x240"), Ok((320, 240)));
        assert!(parse_size("0").is_err() && parse_size("3x").is_err());
    }
}
