//! `mohs score agreement` on a table worked by hand.

use std::fmt::Write as _;

use serde_json::Value;

use crate::mohs::Place;

/// A hundred stimuli: both right on 60, only the first on 10, only the second on 20, neither on 10.
fn table() -> String {
    let mut text = "participant,stimulus,label,response,dataset\n".to_owned();
    for idx in 0..100 {
        let (a, b) = match idx {
            0..60 => ("mug", "mug"),
            60..70 => ("mug", "key"),
            70..90 => ("key", "mug"),
            _ => ("key", "key"),
        };
        let _ = writeln!(text, "ann,s{idx},mug,{a},kitchen\nbob,s{idx},mug,{b},kitchen");
    }
    text
}

#[test]
fn a_hundred_stimuli_come_out_as_worked_by_hand() {
    let place = Place::new();
    place.write("trials.csv", table());
    let args = ["score", "agreement", "trials.csv", "--format", "json", "--resamples", "100"];
    let ran = place.run(&args).ok();
    let summary: Value = serde_json::from_str(&ran.stdout()).expect("because it is JSON");
    let set = &summary["agreement"]["datasets"][0];
    assert_eq!(set["name"], "kitchen");
    let near = |value: &Value, expected: f64| {
        let value = value["value"].as_f64().expect("because it is an estimate");
        assert!((value - expected).abs() < 1e-12, "{value} should be {expected}");
    };
    let people = &set["people"];
    near(&people["error_consistency"], 0.08 / 0.38);
    near(&people["attainable_maximum"], 0.28 / 0.38);
    near(&people["observed_consistency"], 0.7);
    near(&people["accuracy_difference"], 0.01);
    near(&set["accuracy"], 0.75);
    assert_eq!(place.run(&args).ok().stdout(), ran.stdout());
}

#[test]
fn tables_and_a_report_are_written() {
    let place = Place::new();
    place.write("trials.csv", table());
    let ran = place
        .run(&["score", "agreement", "trials.csv", "--resamples", "100", "--output", "out"])
        .ok();
    assert!(ran.stdout().contains("error consistency"), "{}", ran.all());
    for file in ["summary.json", "stimulus-effects.csv", "agreement-exclusions.csv"] {
        assert!(place.path(&format!("out/{file}")).is_file(), "{file} is missing");
    }
    place.run(&["report", "out", "--output", "report.html"]).ok();
    let html = std::fs::read_to_string(place.path("report.html")).unwrap();
    assert!(html.contains("agreement-by-dataset") && html.contains("Two participants only"));
}

#[test]
fn one_participant_has_nobody_to_compare_with() {
    let place = Place::new();
    let alone: String = table().lines().filter(|line| !line.starts_with("bob")).fold(
        String::new(),
        |mut text, line| {
            let _ = writeln!(text, "{line}");
            text
        },
    );
    place.write("trials.csv", alone);
    let ran = place.run(&["score", "agreement", "trials.csv"]);
    assert_eq!(ran.code(), 2, "{}", ran.all());
    assert!(ran.all().contains("agreement needs two participants"), "{}", ran.all());
    assert!(ran.all().contains("hint:"), "{}", ran.all());
}
