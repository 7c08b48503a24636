//! `mohs ladder build photos`: a ladder of somebody's own photos and the masks of their objects.
//!
//! What cannot be done honestly with a photo is left out and listed in `left-out.csv`.

use std::cell::OnceCell;
use std::path::{Path, PathBuf};

use mohs_data::format::{ReadOptions, atomic, folder_of_stimuli, read_stimuli};
use mohs_data::{BoundingBox, Extra, FileError, Mask, Stimulus, StimulusId};
use mohs_vision::masks::{self, ObjectPixels};
use mohs_vision::pixels::{self, Rgb8, thumbnail};
use mohs_vision::stimulus::ladder::{LADDER_VERSION, PHOTO_ATTRIBUTES, Photo, Unfit, rungs, unit};
use mohs_vision::stimulus::sha256;
use mohs_vision::world::Attribute;
use rayon::prelude::*;

use super::units::{self, Made, Verdicts};
use super::{
    Kind, REVIEW, SHOWN_SIDE, SheetRow, finish, make_folders, once, parse_attribute, remove_empty,
    say_forgotten, unlisted, write_sheets,
};
use crate::commands::eval::quoted;
use crate::error::CliError;
use crate::ui::Ui;

/// Build a ladder of your photos, with a mask of the object in each
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  mohs ladder build photos --stimuli photos/stimuli.csv ladder

The table needs the columns file, label and mask; a mask is a PNG file as large as its picture,
object white on black. Eight attributes are made: position, viewpoint, quality, rotation,
occlusion, size, lighting and colour. Texture and style are not: from a photo they would not be
honest. What does not fit a photo is left out and listed in left-out.csv.
A run that was stopped goes on where it stopped.")]
pub(crate) struct PhotosArgs {
    /// Your pictures with their masks; see docs/formats/stimuli.md
    #[arg(long, value_name = "FILE")]
    stimuli: PathBuf,
    /// Folder to make
    #[arg(value_name = "DIR")]
    output: PathBuf,
    /// Only these attributes
    #[arg(long, value_name = "A,B", value_delimiter = ',', value_parser = parse_attribute)]
    attributes: Option<Vec<Attribute>>,
    /// Longest side of the pictures that are made, in pixels
    #[arg(long, default_value_t = 512, value_name = "PX",
          value_parser = clap::value_parser!(u32).range(64..=2048))]
    max_side: u32,
    /// Seed of what is left to chance: directions, occluders, lights
    #[arg(long, default_value_t = 1, value_name = "N")]
    seed: u64,
}

/// Which series were not made, and why.
pub(super) const LEFT_OUT: &str = "left-out.csv";
/// The column that says which photo a picture was made of; ladders of photos alone have it.
pub(super) const SOURCE: &str = "source_stimulus";

/// What is said of a mask that reaches all four sides of the frame.
fn all_around(mask: &Path) -> String {
    // One that cannot be read a second time is said to be wrong elsewhere.
    match masks::class_values(mask).ok().flatten() {
        Some(values) => {
            let values: Vec<String> = values.iter().map(ToString::to_string).collect();
            format!(
                "reaches all four sides and holds the values {}: are these classes, as in a trimap? A \
                 mask shows one object: make the value of the object white (255) and all others black \
                 (0)",
                values.join(", ")
            )
        }
        None => "reaches all four sides: is it the wrong way round? The object should be white"
            .to_owned(),
    }
}

/// What came of one photo.
#[derive(Default)]
struct Built {
    rows: Vec<(String, SheetRow)>,
    left_out: Vec<(Attribute, Unfit)>,
    n_made: usize,
    /// What is to be said of the mask, if it reaches all four sides of the frame.
    all_around: Option<String>,
}

pub(super) fn run(args: &PhotosArgs, ui: &Ui) -> Result<(), CliError> {
    let sources = read_stimuli(&args.stimuli, &ReadOptions::default())?;
    if let Some(stimulus) = sources.iter().find(|stimulus| stimulus.mask.is_none()) {
        let table = args.stimuli.display();
        return Err(CliError::input(format!("{table}: `{}` has no mask", stimulus.id))
            .hint("add a column `mask` with the path of a PNG file, object white on black"));
    }
    let attributes = once(args.attributes.clone().unwrap_or(PHOTO_ATTRIBUTES.to_vec()));
    check_attributes(&attributes)?;
    make_folders(&args.output, Kind::Photos, &["masks"])?;
    let folder = folder_of_stimuli(&args.stimuli);
    let verdicts = Verdicts::new(args.output.join(REVIEW));
    let bar = ui.progress(sources.len() * attributes.len(), "making pictures harder");
    let built: Vec<Result<Built, CliError>> = sources
        .par_iter()
        .map(|source| build(args, &folder, source, &attributes, &verdicts, &|| bar.inc(1)))
        .collect();
    bar.finish_and_clear();
    let mut failed = Vec::new();
    let (mut rows, mut n_made) = (Vec::new(), 0);
    let mut left_out = "stimulus,attribute,reason\n".to_owned();
    for (source, built) in sources.iter().zip(built) {
        match built {
            Ok(built) => {
                n_made += built.n_made;
                if let Some(doubt) = &built.all_around {
                    ui.say(&format!("the mask of `{}` {doubt}", source.id));
                }
                for (attribute, reason) in &built.left_out {
                    let (id, reason) = (quoted(source.id.as_str()), quoted(&reason.to_string()));
                    left_out.push_str(&format!("{id},{attribute},{reason}\n"));
                }
                rows.extend(built.rows);
            }
            Err(error) => failed.push((source, error)),
        }
    }
    atomic::write_file(&args.output.join(LEFT_OUT), left_out.as_bytes())?;
    write_sheets(&args.output, &rows)?;
    let stimuli: Vec<Stimulus> = rows.into_iter().flat_map(|(_, row)| row.stimuli).collect();
    // What was made of a photo that cannot be read today is used again when it can.
    let has_failed = |made: &Stimulus| {
        let source = made.extra.get(SOURCE);
        failed.iter().any(|(photo, _)| source == Some(photo.id.as_str()))
    };
    let unlisted = unlisted(&args.output, &stimuli, has_failed)?;
    let left_out = match left_out.lines().count() - 1 {
        0 => String::new(),
        n => format!(", {n} series left out: left-out.csv says why"),
    };
    ui.say(&format!("seed {}{left_out}", args.seed));
    say_forgotten(verdicts, ui);
    finish(&args.output, &stimuli, n_made, &unlisted, ui)?;
    remove_empty(&args.output);
    if let Some(error) = complaint(&failed, sources.len()) {
        return Err(error);
    }
    if stimuli.is_empty() {
        let why = format!("{} says why", args.output.join(LEFT_OUT).display());
        return Err(CliError::partly("every series was left out").hint(why));
    }
    Ok(())
}

/// Photos are not changed in every attribute.
fn check_attributes(wanted: &[Attribute]) -> Result<(), CliError> {
    let Some(other) = wanted.iter().find(|attribute| !PHOTO_ATTRIBUTES.contains(attribute)) else {
        return Ok(());
    };
    let known: Vec<&str> = PHOTO_ATTRIBUTES.iter().map(|attribute| attribute.name()).collect();
    Err(CliError::input(format!("photos are not changed in `{other}`"))
        .hint(format!("attributes of photos are {}", known.join(", ")))
        .hint("the built-in world has all ten: mohs ladder build world"))
}

fn complaint(failed: &[(&Stimulus, CliError)], n: usize) -> Option<CliError> {
    let mut error = match failed.len() {
        0 => return None,
        n_failed => CliError::partly(format!("{n_failed} of {n} photos cannot be used")),
    };
    for (source, why) in failed {
        let causes = why.causes().iter().map(String::as_str);
        let texts: Vec<&str> = std::iter::once(why.message()).chain(causes).collect();
        error = error.cause(format!("`{}`: {}", source.id, texts.join(": ")));
    }
    Some(error.hint("mend them and run again: only they are made anew"))
}

fn build(
    args: &PhotosArgs,
    folder: &Path,
    source: &Stimulus,
    attributes: &[Attribute],
    verdicts: &Verdicts,
    done: &dyn Fn(),
) -> Result<Built, CliError> {
    let picture_path = folder.join(&source.file);
    let mask_path = folder.join(source.mask.as_deref().unwrap_or(Path::new("")));
    let hash = |path: &Path| {
        let bytes = std::fs::read(path);
        bytes.map(|bytes| sha256(&bytes)).map_err(|cause| FileError::cannot_read(path, cause))
    };
    let content = format!("{} {}", hash(&picture_path)?, hash(&mask_path)?);
    // Taking a photo apart takes longest, and is not needed for what was made already.
    let photo = OnceCell::new();
    let first = thumbnail(&pixels::read(&picture_path)?, SHOWN_SIDE);
    let outline = masks::read(&mask_path, &ObjectPixels::NotZero)?;
    let all_around = reaches_all_sides(&outline).then(|| all_around(&mask_path));
    let mut built = Built { all_around, ..Built::default() };
    for &attribute in attributes {
        let everything = format!(
            "photo {LADDER_VERSION}\n{content}\n{attribute}\n{}\n{}\n{}\n{}",
            args.max_side, args.seed, source.id, source.label
        );
        let mut unfit = None;
        let units::Unit { stimuli, n_made } =
            units::rows(&args.output, &everything, verdicts, || {
                let photo = match photo.get() {
                    Some(photo) => photo,
                    None => {
                        let taken = take_apart(&picture_path, &outline, &mask_path, args.max_side)?;
                        photo.get_or_init(|| taken)
                    }
                };
                match series(photo, source, attribute, args.seed) {
                    Ok(made) => Ok(made),
                    Err(reason) => {
                        unfit = Some(reason);
                        Ok(Vec::new())
                    }
                }
            })?;
        done();
        built.n_made += n_made;
        if let Some(reason) = unfit {
            built.left_out.push((attribute, reason));
            continue;
        }
        let name = source.id.to_string();
        let row = SheetRow { name, first: Some(first.clone()), stimuli };
        built.rows.push((attribute.to_string(), row));
    }
    Ok(built)
}

fn take_apart(
    picture: &Path,
    outline: &Mask,
    mask: &Path,
    max_side: u32,
) -> Result<Photo, CliError> {
    let pixels: Rgb8 = pixels::read(picture)?;
    Photo::take_apart(&pixels, outline, max_side).map_err(|error| {
        let error = CliError::input(format!("{}: {error}", mask.display()));
        if reaches_all_sides(outline) {
            return error.cause(format!("the mask {}", all_around(mask)));
        }
        error
    })
}

/// Backgrounds do, objects hardly ever.
fn reaches_all_sides(outline: &Mask) -> bool {
    let frame = (f64::from(outline.width()), f64::from(outline.height()));
    box_of(outline).is_some_and(|own| {
        own.x < 1.0 && own.y < 1.0 && frame.0 <= own.width && frame.1 <= own.height
    })
}

/// A photo at all steps of an attribute; one step that is not honest takes all with it.
fn series(
    photo: &Photo,
    source: &Stimulus,
    attribute: Attribute,
    seed: u64,
) -> Result<Vec<Made>, Unfit> {
    let made =
        rungs(photo, attribute, seed, source.id.as_str())?.into_iter().map(|(step, rung)| {
            let id = format!("{}-{attribute}-{}", source.id, step.number());
            let file = file_name(&id);
            let stimulus = Stimulus {
                id: StimulusId::new(&id),
                file: format!("stimuli/{file}.png").into(),
                label: source.label.clone(),
                dataset: source.dataset.clone(),
                boxes: box_of(&rung.mask).into_iter().collect(),
                mask: Some(format!("masks/{file}.png").into()),
                attribute: Some(attribute.name().to_owned()),
                level: Some(step.level().name().to_owned()),
                extra: Extra::from_pairs([
                    ("step", step.number().to_string()),
                    ("series", format!("{}-{attribute}", source.id)),
                    (SOURCE, source.id.to_string()),
                    ("strength", format!("{:.4}", step.strength())),
                    ("amount", format!("{:.4}", rung.amount)),
                    ("amount_is", unit(attribute).to_owned()),
                ]),
            };
            Made {
                stimulus,
                picture_png: rung.pixels.to_png(),
                mask_png: masks::to_png(&rung.mask),
            }
        });
    Ok(made.collect())
}

/// A name for files: what is not plain becomes `_`, and a few digits tell such names apart.
pub(super) fn file_name(id: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_');
    if id.chars().all(is_plain) {
        return id.to_owned();
    }
    let plain: String = id.chars().map(|c| if is_plain(c) { c } else { '_' }).collect();
    format!("{plain}-{}", &sha256(id.as_bytes())[..8])
}

fn box_of(mask: &Mask) -> Option<BoundingBox> {
    let width = mask.width() as usize;
    let (mut left, mut top, mut right, mut bottom) = (usize::MAX, usize::MAX, 0, 0);
    for (at, _) in mask.to_bitmap().iter().enumerate().filter(|(_, is_object)| **is_object) {
        let (x, y) = (at % width, at / width);
        (left, top) = (left.min(x), top.min(y));
        (right, bottom) = (right.max(x + 1), bottom.max(y + 1));
    }
    #[expect(clippy::cast_precision_loss, reason = "sides of pictures are small")]
    (left < right).then(|| BoundingBox {
        x: left as f64,
        y: top as f64,
        width: (right - left) as f64,
        height: (bottom - top) as f64,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_files_are_plain_and_stay_apart() {
        assert_eq!(file_name("cat-size-3"), "cat-size-3");
        let (one, two) = (file_name("a/b.png-size-3"), file_name("a_b.png-size-3"));
        assert!(one.starts_with("a_b_png-size-3-") && one != two, "{one} {two}");
    }

    #[test]
    fn a_box_holds_its_object() {
        let mut bits = vec![false; 12];
        (bits[5], bits[6]) = (true, true);
        let mask = Mask::from_bitmap(3, 4, &bits).expect("because the bits fit");
        let found = box_of(&mask).expect("because something is set");
        assert_eq!((found.x, found.y, found.width, found.height), (1.0, 1.0, 2.0, 1.0));
    }
}
