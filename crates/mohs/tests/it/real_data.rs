//! Real data, where they are at hand: a user's clone has none, and these tests say so.

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

/// Runs the program and parses what it printed.
fn json_of(place: &Place, args: &[&str]) -> serde_json::Value {
    let ran = place.run(args).ok();
    serde_json::from_str(&ran.stdout()).expect("because --format json prints JSON")
}

fn number(value: &serde_json::Value) -> f64 {
    value["value"].as_f64().unwrap_or_else(|| panic!("no estimate in {value}"))
}

fn check(what: &str, found: f64, expected: f64, tolerance: f64) {
    assert!((found - expected).abs() <= tolerance, "{what}: {found} is not {expected}");
}

/// Reference: the published formulas over the 90 raw files, computed independently. `mohs-score`
/// tests every data set; here the files go the whole way through the program.
#[test]
fn answers_to_degraded_pictures_give_the_published_agreement() {
    let Some(folder) = real_data("model-vs-human") else { return };
    let place = Place::new();
    let folder = folder.to_string_lossy();
    place.run(&["import", "model-vs-human", &folder, "--output", "t.parquet"]).ok();
    let args = ["score", "agreement", "t.parquet", "--format", "json", "--resamples", "100"];
    let summary = json_of(&place, &args);
    let means = &summary["agreement"]["means"];
    check("accuracy", number(&means["accuracy"]), 0.722_815, 1e-6);
    let people = &means["people"];
    for (name, expected) in [
        ("error_consistency", 0.431_216),
        ("observed_consistency", 0.808_542),
        ("accuracy_difference", 0.006_566),
    ] {
        check(name, number(&people[name]), expected, 1e-6);
    }
    let datasets = summary["agreement"]["datasets"].as_array().expect("because there are some");
    assert_eq!(datasets.len(), 17);
    let conflict = datasets.iter().find(|set| set["name"] == "cue-conflict");
    let conflict = conflict.expect("because it is one of them");
    let shape_bias = &conflict["shape_bias"]["pooled"];
    check("shape bias", number(shape_bias), 0.958_687_98, 1e-8);
}

/// Accuracy rises with the time given and falls with noise, through import and score.
#[test]
fn timed_answers_give_curves_that_rise_with_time_and_fall_with_noise() {
    let Some(folder) = real_data("anytime/noise") else { return };
    let place = Place::new();
    place.run(&["import", "labjs", &folder.to_string_lossy(), "--output", "t.parquet"]).ok();
    let args = ["score", "speed-accuracy", "t.parquet", "--format", "json", "--resamples", "100"];
    let summary = json_of(&place, &args);
    let found = &summary["speed_accuracy"];
    assert_eq!(found["n_participants"], 8);
    let last = |curve: &serde_json::Value| {
        let points = curve["points"].as_array().expect("because a curve has points").clone();
        let accuracy: Vec<f64> = points.iter().map(|point| number(&point["accuracy"])).collect();
        assert!(accuracy[0] + 0.05 < accuracy[4], "{accuracy:?}");
        accuracy[4]
    };
    let conditions = found["conditions"].as_array().expect("because there are three levels");
    let at_the_end: Vec<f64> = conditions.iter().map(last).collect();
    assert!(at_the_end.windows(2).all(|pair| pair[1] < pair[0]), "{at_the_end:?}");
}

/// Reference: `expected.json` beside the data; the trap on LSAT6 is a likelihood of -2472.94.
#[test]
fn the_classics_come_out_as_published() {
    let Some(folder) = real_data("oracles") else { return };
    let place = Place::new();
    let expected =
        std::fs::read_to_string(folder.join("expected.json")).expect("because it is there");
    let expected: serde_json::Value = serde_json::from_str(&expected).expect("because it is JSON");
    for (set, model) in [("lsat6", "1pl"), ("lsat6", "2pl"), ("lsat7", "1pl"), ("lsat7", "2pl")] {
        let file = folder.join(format!("{set}.csv"));
        let args = ["score", "item-response", &file.to_string_lossy(), "--model", model];
        let summary = json_of(&place, &[&args[..], &["--format", "json"]].concat());
        let oracle = &expected[format!("{set}_{model}")];
        let stimuli =
            summary["item_response"]["stimuli"].as_array().expect("because it was fitted").clone();
        for (idx, wanted) in
            oracle["difficulty"].as_array().expect("because it is listed").iter().enumerate()
        {
            let name = format!("q{}", idx + 1);
            let item = stimuli.iter().find(|item| item["stimulus"] == name.as_str());
            let found = number(&item.expect("because it was answered")["difficulty"]);
            check(&format!("{set} {model} {name}"), found, wanted.as_f64().unwrap(), 1e-3);
        }
    }
    let file = folder.join("citations_wins.csv");
    let file = file.to_string_lossy();
    let args = ["score", "pairs", &file, "--resamples", "100", "--format", "json"];
    let summary = json_of(&place, &args);
    let stimuli = summary["pairs"]["stimuli"].as_array().expect("because it was fitted").clone();
    let difficulty = |name: &str| {
        let item = stimuli.iter().find(|item| item["stimulus"] == name);
        number(&item.expect("because it was judged")["difficulty"])
    };
    let wanted = &expected["citations_bradley_terry_reference_Biometrika"];
    for (name, wanted) in wanted.as_object().expect("because it names journals") {
        let found = difficulty(name) - difficulty("Biometrika");
        check(name, found, wanted.as_f64().unwrap(), 1e-3);
    }
}
