//! Real photographs, where they are at hand: a user's clone has none, and these tests say so.

use std::path::{Path, PathBuf};

use crate::mohs::Place;

#[expect(clippy::print_stdout, reason = "a skipped test says so")]
/// Returns a folder of real data beside the project, or says why the test does nothing.
pub(crate) fn real_data(name: &str) -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data").join(name);
    if folder.is_dir() {
        return Some(folder);
    }
    println!("skipped: no real data at ../shared/data/{name}");
    None
}

fn study_of(name: &str, n_stimuli: usize) {
    let Some(folder) = real_data(name) else { return };
    let place = Place::new();
    let from = folder.join("stimuli.csv");
    place.run(&["init", "flash", "study", "--from", &from.to_string_lossy(), "--quiet"]).ok();
    let checked = place.run(&["check", "study"]).ok();
    assert!(checked.stdout().contains(&format!("{n_stimuli} stimuli")), "{}", checked.all());
}

#[test]
fn photographs_of_pets_become_a_study() {
    study_of("pets", 100);
}

#[test]
fn small_pictures_with_many_raters_become_a_study() {
    study_of("cifar10h", 1_000);
}
