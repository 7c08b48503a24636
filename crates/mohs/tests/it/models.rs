//! `mohs score models` over the binary.

use std::fmt::Write as _;

use serde_json::Value;

use crate::mohs::Place;

/// Two models on 60 stimuli of 3 classes in two data sets; the second model fails on what people
/// find hard.
fn place() -> Place {
    let place = Place::new();
    let mut stimuli = "stimulus,file,label,dataset\n".to_owned();
    let mut difficulty = "stimulus,measure,difficulty\n".to_owned();
    let mut strong = "stimulus,predicted,confidence\n".to_owned();
    let mut weak = strong.clone();
    for idx in 0..60 {
        let label = ["mug", "key", "sock"][idx % 3];
        let dataset = ["studio", "kitchen"][idx / 3 % 2];
        let _ = writeln!(stimuli, "s{idx},pictures/s{idx}.png,{label},{dataset}");
        let _ = writeln!(
            difficulty,
            "s{idx},viewing-time,{}",
            f64::from(u8::try_from(idx).unwrap_or(0)) / 60.0
        );
        let right = |is_right: bool| if is_right { label } else { "shoe" };
        let _ = writeln!(strong, "s{idx},{},0.9", right(idx % 10 != 9));
        let _ = writeln!(weak, "s{idx},{},0.8", right(idx < 30));
    }
    place.write("stimuli.csv", stimuli);
    place.write("difficulty.csv", difficulty);
    place.write("strong.csv", strong);
    place.write("weak.csv", weak);
    place
}

const FILES: [&str; 8] = [
    "score",
    "models",
    "strong.csv",
    "weak.csv",
    "--stimuli",
    "stimuli.csv",
    "--difficulty",
    "difficulty.csv",
];

fn with(more: &[&'static str]) -> Vec<&'static str> {
    [&FILES[..], &["--resamples", "200"], more].concat()
}

#[test]
fn two_models_come_out_as_worked_by_hand() {
    let place = place();
    let ran = place.run(&with(&["--format", "json"])).ok();
    let summary: Value = serde_json::from_str(&ran.stdout()).expect("because it is JSON");
    let models = &summary["models"];
    assert_eq!(models["models"][0]["model"], "strong");
    assert_eq!(models["models"][0]["accuracy"]["n_right"], 54);
    assert_eq!(models["models"][1]["accuracy"]["n_right"], 30);
    assert_eq!(models["bands"].as_array().map(Vec::len), Some(3));
    let pair = &models["comparisons"][0];
    // The weak model misses 30, of which the strong one misses 3; it also misses 3 of the others.
    assert_eq!((&pair["n_only_first"], &pair["n_only_second"]), (&27.into(), &3.into()));
    let sets = [&models["gap"]["first"], &models["gap"]["second"]];
    assert!(sets.contains(&&"studio".into()) && sets.contains(&&"kitchen".into()), "{sets:?}");
    assert_eq!(place.run(&with(&["--format", "json"])).ok().stdout(), ran.stdout());
}

#[test]
fn the_text_reads_well() {
    insta::assert_snapshot!(place().run(&with(&[])).ok().all());
}

#[test]
fn tables_and_a_report_are_written_and_old_tables_go() {
    let place = place();
    place.run(&with(&["--output", "out"])).ok();
    assert!(place.path("out/model-tables/gap.csv").is_file());
    let csv = place.read("out/model-tables/accuracy.csv");
    assert_eq!(csv.lines().count(), 1 + 2 * (1 + 3), "{csv}");
    assert_eq!(place.run(&with(&["--format", "csv"])).ok().stdout(), csv);
    place.run(&["report", "out", "--output", "report.html"]).ok();
    let html = place.read("report.html");
    assert!(html.contains("models-by-band") && html.contains("strong is right most often"));

    // Without stimuli there is no gap, and the table of the last run must not stay behind.
    let args = ["score", "models", "strong.csv", "--resamples", "100", "--output", "out"];
    let ran = place.run(&args);
    assert_eq!(ran.code(), 0, "{}", ran.all());
    assert!(!place.path("out/model-tables/gap.csv").exists());

    place.write("out/model-tables/notes.txt", "mine");
    let ran = place.run(&args);
    assert_eq!(ran.code(), 2, "{}", ran.all());
    assert!(place.path("out/model-tables/notes.txt").exists());
}

#[test]
fn an_evaluation_brings_everything() {
    let place = place();
    place.write(
        "eval.toml",
        "version = 1\nname = \"pilot\"\ndifficulty = \"difficulty.csv\"\noutput = \"strong.csv\"\n\
         [[model]]\nname = \"strong\"\nfile = \"strong.onnx\"\nfamily = \"Strong\"\n",
    );
    let args = ["score", "models", "eval.toml", "--resamples", "100", "--format", "json"];
    let ran = place.run(&args).ok();
    let summary: Value = serde_json::from_str(&ran.stdout()).expect("because it is JSON");
    assert_eq!(summary["title"], "pilot");
    assert_eq!(summary["models"]["models"][0]["family"]["name"], "Strong");
    assert_eq!(summary["models"]["method"]["difficulty"], "viewing-time");
}

#[test]
fn mistakes_are_named_with_a_hint() {
    let place = place();
    place.write("families.csv", "model,family\nresnet,ResNet\n");
    place.write("twice.csv", "model,stimulus,predicted\nstrong,s1,mug\n");
    place.write("empty.csv", "stimulus,predicted\n");
    place.write("two.csv", "stimulus,measure,difficulty\ns1,a,0.1\ns1,b,0.2\n");
    let check = |args: &[&str], expected: &[&str]| {
        let ran = place.run(&[&["score", "models"], args].concat());
        assert_eq!(ran.code(), 2, "{}", ran.all());
        assert_eq!(ran.stdout(), "");
        for part in expected {
            assert!(ran.stderr().contains(part), "{part} is missing in {}", ran.all());
        }
    };
    check(&["missing.csv"], &["missing.csv", "cannot read the predictions"]);
    check(&["stimuli.csv"], &["predicted", "hint"]);
    check(&["empty.csv"], &["no predictions"]);
    check(
        &["strong.csv", "twice.csv", "--stimuli", "stimuli.csv"],
        &["model `strong` has 2 predictions for stimulus `s1`", "two models with one name?"],
    );
    check(
        &["strong.csv", "--stimuli", "stimuli.csv", "--difficulty", "two.csv"],
        &["several measures", "--measure"],
    );
    check(
        &["strong.csv", "--stimuli", "stimuli.csv", "--gap", "studio,garden"],
        &["`garden`", "`kitchen`"],
    );
    check(&["strong.csv", "--gap", "studio"], &["two different data sets"]);
    check(
        &["strong.csv", "--stimuli", "stimuli.csv", "--families", "families.csv"],
        &["names none of the models", "models are called: strong"],
    );
    check(&["strong.csv", "--difficulty", "nowhere.csv"], &["no difficulties at"]);
}
