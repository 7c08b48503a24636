//! `mohs demo` from end to end, small.

use crate::mohs::Place;

const SMALL: [&str; 5] = ["--quiet", "--stimuli", "20", "--size", "48"];

fn demo(place: &Place, folder: &str) {
    let mut args = vec!["demo", folder];
    args.extend(SMALL);
    place.run(&args).ok();
}

#[test]
fn the_whole_story_is_written_and_repeats_to_the_byte() {
    let place = Place::new();
    demo(&place, "one");
    demo(&place, "two");
    for name in [
        "difficulty.csv",
        "summary.json",
        "trials.csv",
        "beep-trials.csv",
        "comparisons.csv",
        "annotations.json",
        "stimuli.csv",
        "ladder/stimuli.csv",
        "ladder/predictions.csv",
        "report.html",
    ] {
        assert_eq!(
            place.bytes(&format!("one/{name}")),
            place.bytes(&format!("two/{name}")),
            "{name}"
        );
    }
    let report = place.read("one/report.html");
    assert!(report.contains("data:image/jpeg;base64,"), "the gallery has pictures");
    assert!(report.contains("<section id=\"ladder\""), "the ladder has its chapter");
    demo(&place, "one");
    assert_eq!(place.bytes("one/summary.json"), place.bytes("two/summary.json"));
}

#[test]
fn what_the_demo_wrote_can_be_checked_scored_and_reported() {
    let place = Place::new();
    demo(&place, "out");
    let checked = place.run(&["check", "out", "out/difficulty.csv", "out/summary.json"]).ok();
    assert_eq!(checked.stdout().lines().filter(|line| line.starts_with("ok")).count(), 6);
    let again = place.run(&["score", "viewing-time", "out", "--format", "json", "--quiet"]).ok();
    let chapter = |json: &str| {
        let summary: serde_json::Value = serde_json::from_str(json).expect("because it is JSON");
        summary["viewing_time"].clone()
    };
    assert_eq!(chapter(&again.stdout()), chapter(&place.read("out/summary.json")));
    for (measure, file) in [
        ("speed-accuracy", "out/beep-trials.csv"),
        ("pairs", "out/comparisons.csv"),
        ("masks", "out/annotations.json"),
        ("quality", "out/trials.csv"),
    ] {
        place.run(&["score", measure, file, "--quiet"]).ok();
    }
    std::fs::remove_file(place.path("out/report.html")).expect("because the demo wrote it");
    place.run(&["report", "out"]).ok();
    assert!(place.read("out/report.html").contains("</html>"));
}

#[test]
fn a_folder_with_other_things_is_left_alone() {
    let place = Place::new();
    std::fs::create_dir(place.path("thesis")).expect("because the place is ours");
    place.write("thesis/chapter.txt", "mine");
    let ran = place.run(&["demo", "thesis"]);
    assert_eq!(ran.code(), 2);
    assert_eq!(place.read("thesis/chapter.txt"), "mine");
    insta::assert_snapshot!(ran.all());
}
