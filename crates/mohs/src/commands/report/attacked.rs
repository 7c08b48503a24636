//! Attacked pictures for a report: before, after, and what was changed, magnified.

use std::path::Path;

use mohs_data::format::{ReadOptions, read_all};
use mohs_data::{AttackExample, Label};
use mohs_report::{AttackedPicture, Pictures, Thumbnail};
use mohs_vision::pixels::{self, Pixels, Rgb8, thumbnail};

use crate::error::CliError;
use crate::ui::Ui;

/// The folder of examples beside a summary.
pub(crate) const FOLDER: &str = "attack-examples";
/// Examples in a report.
pub(crate) const MOST: usize = 12;
/// Longest side of a thumbnail, in pixels; these are PNG files full of noise.
const SIDE: u32 = 128;

/// Adds the examples of a folder. A picture that cannot be read is told of and left out, because
/// one bad file must not cost a report.
pub(crate) fn read_into(pictures: &mut Pictures, folder: &Path, ui: &Ui) -> Result<(), CliError> {
    for example in table(folder)?.iter().take(MOST) {
        match picture(folder, example) {
            Ok(picture) => pictures.push_attacked(picture),
            Err(why) => ui.say(&format!("no attacked picture: {why}")),
        }
    }
    Ok(())
}

/// Reads the table of a folder of examples.
pub(crate) fn table(folder: &Path) -> Result<Vec<AttackExample>, CliError> {
    let path = folder.join(AttackExample::FILE);
    if !path.is_file() {
        return Err(CliError::input(format!("no examples of attacks at `{}`", path.display()))
            .hint("name the folder that `mohs attack --examples DIR` wrote"));
    }
    read_all(&path, &ReadOptions::default())
        .map_err(|error| CliError::from(error).while_doing("cannot read the examples"))
}

fn picture(folder: &Path, example: &AttackExample) -> Result<AttackedPicture, String> {
    let read = |file: &Path| pixels::read(&folder.join(file)).map_err(|error| error.to_string());
    let (before, after) = (read(&example.clean_file())?, read(&example.file)?);
    let (change, factor) =
        change(&before, &exact(folder, &example.file, &after)).ok_or_else(|| {
            format!("`{}` and the picture before the attack differ in size", example.file.display())
        })?;
    let text = |label: Option<&Label>| label.map_or("no answer", Label::as_str).to_owned();
    Ok(AttackedPicture {
        model: example.model.to_string(),
        stimulus: example.stimulus.clone(),
        attack: example.attack.to_string(),
        norm: example.norm.to_string(),
        epsilon: example.epsilon,
        label: example.label.to_string(),
        clean: text(example.clean.as_ref()),
        answer: text(example.answer.as_ref()),
        band: example.band.clone(),
        factor,
        before: small(&before),
        change: small(&change),
        after: small(&after),
    })
}

fn small(pixels: &Rgb8) -> Thumbnail {
    let small = thumbnail(pixels, SIDE);
    Thumbnail {
        mime: "image/png",
        width: small.width(),
        height: small.height(),
        bytes: small.to_png(),
    }
}

/// The exact picture after an attack, where its numbers lie beside it: changes are often smaller than
/// a level of eight bits. Else the picture as it can be seen.
fn exact(folder: &Path, file: &Path, after: &Rgb8) -> Pixels {
    let numbers = std::fs::read(folder.join(file.with_extension("npy"))).ok();
    let numbers = numbers.and_then(|bytes| pixels::read_npy(&bytes));
    match numbers {
        Some(([3, height, width], planes))
            if (width, height) == (after.width(), after.height()) =>
        {
            Pixels::new(width, height, planes).unwrap_or_else(|| Pixels::from(after))
        }
        _ => Pixels::from(after),
    }
}

/// Returns `grey + k (after - before)` and `k`, with which the largest change just fits; 0 where
/// nothing differs, `None` where sizes do.
fn change(before: &Rgb8, after: &Pixels) -> Option<(Rgb8, f64)> {
    let before = Pixels::from(before);
    if (before.width(), before.height()) != (after.width(), after.height()) {
        return None;
    }
    let differences: Vec<f32> =
        before.planes().iter().zip(after.planes()).map(|(before, after)| after - before).collect();
    let largest = differences.iter().fold(0.0, |most: f32, number| most.max(number.abs()));
    let factor = if largest <= 0.0 { 0.0 } else { tidy(0.5 / largest) };
    let shades = differences.iter().map(|number| (0.5 + factor * number).clamp(0.0, 1.0));
    let shown = Pixels::new(before.width(), before.height(), shades.collect())?;
    Some((Rgb8::from(&shown), f64::from(factor)))
}

/// Two digits are enough to say how much something is magnified; rounded down, so that it fits.
fn tidy(factor: f32) -> f32 {
    let unit = 10.0_f32.powf(factor.log10().floor() - 1.0);
    (factor / unit).floor() * unit
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pixel(bytes: [u8; 3]) -> Rgb8 {
        Rgb8::new(1, 1, bytes.to_vec()).unwrap()
    }

    fn seen(before: [u8; 3], after: [u8; 3]) -> (Vec<u8>, f64) {
        let (shown, factor) = change(&pixel(before), &Pixels::from(&pixel(after))).unwrap();
        (shown.bytes().to_vec(), factor)
    }

    #[test]
    fn a_change_is_magnified_until_it_fills_the_range() {
        let (shown, factor) = seen([10, 20, 30], [12, 20, 27]);
        assert!((factor - 42.0).abs() < 1e-4, "{factor}");
        assert_eq!(shown, [212, 128, 2]);
    }

    #[test]
    fn a_change_of_less_than_a_level_is_seen_by_its_numbers() {
        let folder = tempfile::tempdir().unwrap();
        let before = pixel([51, 51, 51]);
        let planes = [0.2004, 0.2, 0.1998];
        let file = folder.path().join("a.npy");
        std::fs::write(file, pixels::npy([3, 1, 1], &planes)).unwrap();
        let after = exact(folder.path(), Path::new("a.png"), &before);
        let (shown, factor) = change(&before, &after).unwrap();
        assert!((1_200.0..=1_250.0).contains(&factor), "{factor}");
        assert!(240 < shown.bytes()[0] && shown.bytes()[2] < 70, "{:?}", shown.bytes());
    }

    #[test]
    fn no_change_is_grey_and_other_sizes_are_none() {
        assert_eq!(seen([1, 2, 3], [1, 2, 3]), (vec![128, 128, 128], 0.0));
        let wide = Rgb8::new(2, 1, vec![0; 6]).unwrap();
        assert!(change(&wide, &Pixels::from(&pixel([0, 0, 0]))).is_none());
    }

    #[test]
    fn the_largest_change_fits_the_range() {
        assert_eq!(seen([0, 255, 0], [255, 0, 0]), (vec![255, 0, 128], 0.5));
    }
}
