//! Bad input gets one screen of help, exit code 2, and nothing is written.

use crate::mohs::Place;
use crate::viewing_time::{HEADER, rows_by_hand};

/// Scores what `fill` put into the folder and makes sure that nothing else appears there.
fn refused(fill: impl Fn(&Place), args: &[&str]) -> String {
    let place = Place::new();
    fill(&place);
    let before = place.names();
    let ran = place.run(args);
    assert_eq!(ran.code(), 2, "{}", ran.all());
    assert_eq!(before, place.names(), "nothing may be written");
    assert_eq!(ran.stdout(), "");
    assert!(ran.stderr().lines().count() <= 24, "one screen:\n{}", ran.stderr());
    ran.stderr()
}

const SCORE: [&str; 5] = ["score", "viewing-time", "trials.csv", "--output", "out"];

fn score(trials: impl AsRef<[u8]>) -> String {
    refused(|place| place.write("trials.csv", trials.as_ref()), &SCORE)
}

fn with_rows(rows: &[&str]) -> String {
    format!("{HEADER}\n{}\n", rows.join("\n"))
}

#[test]
fn a_missing_column() {
    let text = with_rows(&["p1,mug.png,mug,17,mug"]).replace("participant", "subj");
    insta::assert_snapshot!(score(text));
}

#[test]
fn a_missing_exposure() {
    let text = with_rows(&["p1,mug.png,mug,17,mug"]).replace("exposure_ms", "duration");
    insta::assert_snapshot!(score(text));
}

#[test]
fn a_unit_in_the_cell() {
    insta::assert_snapshot!(score(with_rows(&[
        "p1,mug.png,mug,17,mug",
        "p2,mug.png,mug,17ms,mug"
    ])));
}

#[test]
fn seconds_for_milliseconds() {
    insta::assert_snapshot!(score(with_rows(&["p1,mug.png,mug,0.017,mug"])));
}

#[test]
fn a_label_that_is_not_in_the_list() {
    let fill = |place: &Place| {
        place.write("trials.csv", with_rows(&["p1,mug.png,mug,17,mug", "p2,mug.png,mug,17,muug"]));
        place.write(
            "study.toml",
            "version = 1\nname = \"s\"\ntask = \"flash\"\nlabels = [\"mug\", \"key\"]\n",
        );
    };
    let args = ["score", "viewing-time", "trials.csv", "--study", "study.toml"];
    insta::assert_snapshot!(refused(fill, &args));
}

#[test]
fn a_trial_id_that_stands_twice() {
    let text =
        "trial,participant,stimulus,exposure_ms,correct\nt1,a,x,17,1\nt2,a,y,17,1\nt1,b,x,17,0\n";
    insta::assert_snapshot!(score(text));
}

#[test]
fn a_picture_instead_of_a_table() {
    insta::assert_snapshot!(score(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"));
}

#[test]
fn an_empty_file() {
    insta::assert_snapshot!(score(""));
}

#[test]
fn a_header_without_rows() {
    insta::assert_snapshot!(score(format!("{HEADER}\n")));
}

#[test]
fn a_parquet_file_cut_short() {
    let bytes = include_bytes!("../../../mohs-data/fixtures/v1/trials.parquet");
    let fill = |place: &Place| place.write("trials.parquet", &bytes[..bytes.len() / 2]);
    let text = refused(fill, &["score", "viewing-time", "trials.parquet"]);
    assert!(text.contains("trials.parquet is damaged or cut short"), "{text}");
    assert!(text.contains("hint: "), "{text}");
}

#[test]
fn a_newer_version() {
    let text = "participant,stimulus,exposure_ms,correct,trials_version\na,x,17,1,7\n";
    insta::assert_snapshot!(score(text));
}

#[test]
fn a_newer_study() {
    let fill = |place: &Place| {
        place.write("trials.csv", with_rows(&["p1,mug.png,mug,17,mug"]));
        place.write("study.toml", "version = 9\nname = \"s\"\ntask = \"flash\"\nnew_key = 1\n");
    };
    let args = ["score", "viewing-time", "trials.csv", "--study", "study.toml"];
    insta::assert_snapshot!(refused(fill, &args));
}

#[test]
fn a_stimulus_that_does_not_exist() {
    let fill = |place: &Place| {
        place.write("trials.csv", with_rows(&["p1,mug.png,mug,17,mug", "p2,mugg.png,mug,17,mug"]));
        place.write("stimuli.csv", "file,label\nmug.png,mug\nkey.png,key\n");
    };
    let args = ["score", "viewing-time", "trials.csv", "--stimuli", "stimuli.csv"];
    insta::assert_snapshot!(refused(fill, &args));
}

#[test]
fn an_image_that_is_not_an_image() {
    let fill = |place: &Place| {
        std::fs::create_dir_all(place.path("photos/cat")).expect("because the place is ours");
        place.write("photos/cat/a.jpg", "not a picture");
    };
    insta::assert_snapshot!(refused(fill, &["init", "flash", "mine", "--from", "photos"]));
}

#[test]
fn a_file_that_is_not_there() {
    insta::assert_snapshot!(refused(|_| {}, &SCORE));
}

#[test]
fn a_study_with_a_misspelt_key() {
    let fill = |place: &Place| {
        place.write(
            "study.toml",
            "version = 1\nname = \"s\"\ntask = \"flash\"\n[flash]\nexposure_ms = [17]\n",
        );
    };
    insta::assert_snapshot!(refused(fill, &["check", "study.toml"]));
}

#[test]
fn a_summary_that_is_none() {
    let fill = |place: &Place| place.write("summary.json", "{\"version\": 1}");
    insta::assert_snapshot!(refused(fill, &["report", "summary.json"]));
}

#[test]
fn a_good_file_in_a_path_with_spaces_and_unicode_works() {
    let place = Place::new();
    place.write("trials α β.csv", format!("{HEADER}\n{}\n", rows_by_hand().join("\n")));
    place.run(&["score", "viewing-time", "trials α β.csv", "--output", "out ü"]).ok();
    assert!(place.read("out ü/difficulty.csv").contains("mug.png"));
}
