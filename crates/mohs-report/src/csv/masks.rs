//! Object masks as CSV: a row per object, and a row per person.

use mohs_score::human::object_masks::{Measured, ObjectMasks};

use crate::escape::csv_line;
use crate::number::raw;

/// Returns the objects: agreement, place and pieces of each, numbers unrounded. A cell is empty
/// where there is no number.
pub fn objects_csv(found: &ObjectMasks) -> String {
    let measured = ["agreement", "size", "offset", "central_share", "lost_share", "size_in_crop"];
    let mut headers: Vec<String> =
        ["stimulus", "label", "height", "width", "n_annotators"].map(String::from).to_vec();
    headers.extend(measured.iter().flat_map(|name| with_ends(name)));
    headers.extend(
        ["centroid_x", "centroid_y", "vote_to_reference", "n_instances", "n_specks"]
            .map(String::from),
    );
    let mut csv = csv_line(headers);
    for object in &found.objects {
        let place = object.place.as_ref();
        let mut cells = vec![
            object.stimulus.to_string(),
            object.label.to_string(),
            object.height.to_string(),
            object.width.to_string(),
            object.n_annotators.to_string(),
        ];
        let numbers = [
            object.agreement,
            place.map(|place| place.size),
            place.map(|place| place.offset),
            place.map(|place| place.central_share),
            place.map(|place| place.lost_share),
            place.map(|place| place.size_in_crop),
        ];
        cells.extend(numbers.iter().flat_map(cells_of));
        let real = |value: Option<f64>| value.map(raw).unwrap_or_default();
        cells.push(real(place.map(|place| place.centroid.0)));
        cells.push(real(place.map(|place| place.centroid.1)));
        cells.push(real(object.vote_to_reference));
        cells.push(object.n_instances.to_string());
        cells.push(object.n_specks.to_string());
        csv += &csv_line(cells);
    }
    csv
}

/// Returns the people: how well each draws, numbers unrounded. A cell is empty where there is no
/// number.
pub fn annotators_csv(found: &ObjectMasks) -> String {
    let measured = ["to_others", "to_reference", "exam", "checks"];
    let mut headers: Vec<String> = ["participant", "n_objects"].map(String::from).to_vec();
    headers.extend(
        measured.iter().flat_map(|name| with_ends(name).into_iter().chain([format!("{name}_n")])),
    );
    headers.extend(["passed_exam", "n_checks_failed", "set_aside"].map(String::from));
    let mut csv = csv_line(headers);
    for person in &found.annotators {
        let mut cells = vec![person.participant.to_string(), person.n_objects.to_string()];
        for of in [person.to_others, person.to_reference, person.exam, person.checks] {
            cells.extend(cells_of(&of));
            cells.push(of.map(|of| of.n.to_string()).unwrap_or_default());
        }
        cells.push(
            person.passed_exam.map(|passed| u8::from(passed).to_string()).unwrap_or_default(),
        );
        cells.push(person.n_checks_failed.to_string());
        cells.push(person.set_aside.clone().unwrap_or_default());
        csv += &csv_line(cells);
    }
    csv
}

fn with_ends(name: &str) -> [String; 3] {
    [name.to_owned(), format!("{name}_low"), format!("{name}_high")]
}

fn cells_of(measured: &Option<Measured>) -> [String; 3] {
    let Some(measured) = measured else { return Default::default() };
    let (low, high) =
        measured.interval.map(|(low, high)| (raw(low), raw(high))).unwrap_or_default();
    [raw(measured.value), low, high]
}
