//! `mohs init`, `mohs check` and `mohs simulate`.

use crate::mohs::Place;

#[test]
fn a_new_study_passes_its_own_check() {
    let place = Place::new();
    place.run(&["init", "flash", "my study", "--world", "16", "--size", "40"]).ok();
    let checked = place.run(&["check", "my study"]).ok();
    insta::assert_snapshot!(checked.stdout());
}

#[test]
fn a_study_of_my_own_pictures_points_to_them() {
    let place = Place::new();
    place.run(&["init", "flash", "drawn", "--world", "16", "--size", "40", "--quiet"]).ok();
    for class in ["cat", "dög"] {
        let folder = place.path("photos").join(class);
        std::fs::create_dir_all(&folder).expect("because the place is ours");
        let picture = std::fs::read_dir(place.path("drawn/stimuli"))
            .expect("because it was drawn")
            .next()
            .expect("because there are pictures")
            .expect("because it was listed")
            .path();
        std::fs::copy(picture, folder.join("a 1.png")).expect("because both are ours");
    }
    place.run(&["init", "flash", "mine", "--from", "photos", "--quiet"]).ok();
    place.run(&["check", "mine"]).ok();
    let stimuli = place.read("mine/stimuli.csv");
    assert!(stimuli.contains("../photos/dög/a 1.png"), "{stimuli}");
    assert!(place.read("mine/study.toml").contains("labels = [\"cat\", \"dög\"]"));
}

#[test]
fn a_study_is_not_made_in_a_full_folder() {
    let place = Place::new();
    std::fs::create_dir(place.path("full")).expect("because the place is ours");
    place.write("full/x", "mine");
    let ran = place.run(&["init", "flash", "full"]);
    assert_eq!(ran.code(), 2);
    assert_eq!(place.names(), ["full"]);
}

#[test]
fn designs_are_compared_and_repeat() {
    let place = Place::new();
    let args = ["simulate", "--stimuli", "40", "--format", "csv", "--quiet"];
    let first = place.run(&args).ok().stdout();
    assert_eq!(first, place.run(&args).ok().stdout());
    assert!(first.lines().count() > 15);
    assert!(first.contains("typical,\"adaptive, 10 trials, spread\",10.000,"), "{first}");
}

#[test]
fn a_world_nobody_knows_is_named() {
    let ran = Place::new().run(&["simulate", "--truth", "flat"]);
    insta::assert_snapshot!(ran.all());
}

#[test]
fn completions_are_printed_for_a_shell() {
    let ran = Place::new().run(&["completions", "bash"]).ok();
    assert!(ran.stdout().contains("_mohs()"));
}

#[test]
fn a_new_study_has_an_id_and_what_comes_next_can_be_pasted() {
    let place = Place::new();
    let made = place.run(&["init", "rate", "My pets' study", "--world", "8", "--size", "40"]).ok();
    assert!(place.read("My pets' study/study.toml").contains("\nid = \"my-pets-study\"\n"));
    let said = made.stderr();
    assert!(said.contains("mohs serve 'My pets'\\'' study'"), "{said}");
    let long = "n".repeat(80);
    place.run(&["init", "rate", &long, "--world", "8", "--size", "40"]).ok();
    place.run(&["check", &long]).ok();
}
