//! Attacked pictures for a report: before, after, and what was changed, magnified.

use std::path::Path;

use mohs_data::format::{ReadOptions, read_all};
use mohs_data::{AttackExample, Label};
use mohs_report::{AttackedPicture, Pictures, Thumbnail};
use mohs_vision::pixels::{self, Rgb8, thumbnail};

use crate::error::CliError;
use crate::ui::Ui;

/// The folder of examples beside a summary.
pub(crate) const FOLDER: &str = "attack-examples";
/// Examples in a report.
pub(crate) const MOST: usize = 12;
/// Longest side of a thumbnail, in pixels; these are PNG files full of noise.
const SIDE: u32 = 128;
/// The byte of the change where nothing was changed.
const GREY: i32 = 128;

/// Adds the examples of a folder. A picture that cannot be read is told of and left out, because
/// one bad file must not cost a report.
pub(super) fn read_into(pictures: &mut Pictures, folder: &Path, ui: &Ui) -> Result<(), CliError> {
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
    let (change, factor) = change(&before, &after).ok_or_else(|| {
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
        factor: f64::from(factor),
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

/// Returns `grey + k (after - before)` and `k`, the largest whole number with which nothing is cut
/// off; 0 where nothing differs, `None` where sizes do.
fn change(before: &Rgb8, after: &Rgb8) -> Option<(Rgb8, i32)> {
    if (before.width(), before.height()) != (after.width(), after.height()) {
        return None;
    }
    let differences =
        || before.bytes().iter().zip(after.bytes()).map(|(b, a)| i32::from(*a) - i32::from(*b));
    let largest = differences().map(i32::abs).max().unwrap_or(0);
    let factor = if largest == 0 { 0 } else { ((GREY - 1) / largest).max(1) };
    let shade = |difference: i32| {
        u8::try_from((GREY + factor * difference).clamp(0, 255)).unwrap_or(u8::MAX)
    };
    let bytes = differences().map(shade).collect();
    Some((Rgb8::new(before.width(), before.height(), bytes)?, factor))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pixel(bytes: [u8; 3]) -> Rgb8 {
        Rgb8::new(1, 1, bytes.to_vec()).unwrap()
    }

    #[test]
    fn a_change_is_magnified_until_it_fills_the_range() {
        let (shown, factor) = change(&pixel([10, 20, 30]), &pixel([12, 20, 27])).unwrap();
        assert_eq!((shown.bytes(), factor), (&[128 + 84, 128, 128 - 126][..], 42));
    }

    #[test]
    fn no_change_is_grey_and_other_sizes_are_none() {
        let (shown, factor) = change(&pixel([1, 2, 3]), &pixel([1, 2, 3])).unwrap();
        assert_eq!((shown.bytes(), factor), (&[128, 128, 128][..], 0));
        let wide = Rgb8::new(2, 1, vec![0; 6]).unwrap();
        assert!(change(&wide, &pixel([0, 0, 0])).is_none());
    }

    #[test]
    fn the_largest_change_is_cut_off_and_not_turned_round() {
        let (shown, factor) = change(&pixel([0, 255, 0]), &pixel([255, 0, 0])).unwrap();
        assert_eq!((shown.bytes(), factor), (&[255, 0, 128][..], 1));
    }
}
