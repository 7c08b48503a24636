//! What drawings of objects say, in plain sentences; shared by the HTML and the text report.

use mohs_score::human::object_masks::{Distribution, ObjectMasks};

use crate::number::{Unit, count, counted};

/// Returns the answer: how far people agree, and how the objects lie.
pub(crate) fn answer(found: &ObjectMasks) -> String {
    let mean = |of: &Option<Distribution>| of.as_ref().map(|of| Unit::Share.value(of.mean.value));
    let agreement = mean(&found.pairwise).map(|overlap| {
        format!("Two people who outline the same object overlap by {overlap} on average.")
    });
    let place = mean(&found.size).zip(mean(&found.lost_share)).map(|(size, lost)| {
        format!("Objects fill {size} of the picture, and a standard crop loses {lost} of them.")
    });
    match (agreement, place) {
        (None, None) if found.objects.is_empty() => match found.pass_share {
            Some(share) => format!("{} of people pass the exam.", Unit::Share.value(share.value)),
            None => "No drawing counts, so nothing can be said about objects.".into(),
        },
        (None, None) => "One stimulus says nothing about others; look at its numbers alone.".into(),
        (agreement, place) => agreement.into_iter().chain(place).collect::<Vec<_>>().join(" "),
    }
}

/// Returns what it rests on.
pub(crate) fn basis(found: &ObjectMasks) -> String {
    let drawings = counted(found.n_drawings, "drawing", "drawings");
    let stimuli = counted(found.n_stimuli, "stimulus", "stimuli");
    let mut text = match found.n_annotators {
        0 => format!("{drawings} that came with a data set, on {stimuli}"),
        n => format!("{drawings} by {} on {stimuli}", counted(n, "person", "people")),
    };
    if !found.set_aside.is_empty() {
        let n: usize = found.set_aside.iter().map(|aside| aside.n_drawings).sum();
        let people = counted(found.set_aside.len(), "person", "people");
        text += &format!("; {people} with {} set aside by rule", counted(n, "drawing", "drawings"));
    }
    if 0 < found.n_references {
        text += &format!("; {} known", counted(found.n_references, "object is", "objects are"));
    }
    text
}

/// Returns the distributions there are, each with its name.
pub(crate) fn distributions(
    found: &ObjectMasks,
) -> Vec<(&'static str, &'static str, &Distribution)> {
    let all = [
        ("Overlap of two people", "pairwise", &found.pairwise),
        ("Overlap with the vote of the others", "to_others", &found.to_others),
        ("Overlap with the vote of all", "to_vote", &found.to_vote),
        ("Overlap with the reference", "to_reference", &found.to_reference),
        ("Overlap of the vote with the reference", "vote_to_reference", &found.vote_to_reference),
        ("Overlap in the exam", "exam", &found.exam),
        ("Overlap in attention checks", "checks", &found.checks),
        ("Size", "size", &found.size),
        ("Distance from the centre", "offset", &found.offset),
        ("In the middle half", "central_share", &found.central_share),
        ("Lost by the crop", "lost_share", &found.lost_share),
        ("Size in the crop", "size_in_crop", &found.size_in_crop),
    ];
    all.into_iter().filter_map(|(name, key, of)| Some((name, key, of.as_ref()?))).collect()
}

/// Returns the resize and crop in words: `shorter side to 256, middle 224 × 224`.
pub(crate) fn crop(found: &ObjectMasks) -> String {
    let crop = found.method.crop;
    let resized = match crop.keeps_aspect {
        true => format!("shorter side to {}", count(crop.resize as usize)),
        false => format!("squeezed to {0} × {0}", crop.resize),
    };
    format!("{resized}, middle {0} × {0}", crop.crop)
}
