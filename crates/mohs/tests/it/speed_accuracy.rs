//! `mohs score speed-accuracy` on files worked by hand.

use std::fmt::Write as _;

use serde_json::Value;

use crate::mohs::Place;

/// Two people, beeps at 400, 600 and 800 ms, ten trials each in two conditions; answers come 20 ms
/// after the beep. Right answers of ten by block: clear 2, 6, 9, noisy 1, 3, 4.
fn trials() -> String {
    let mut text =
        "participant,idx,block,stimulus,label,beep_ms,condition,response,rt_ms\n".to_owned();
    for participant in ["ann", "bob"] {
        let mut idx = 0;
        let mut row = |block: &str, beep: u32, condition: &str, response: &str, rt: String| {
            let _ = writeln!(
                text,
                "{participant},{idx},{block},s{idx}.png,cat,{beep},{condition},{response},{rt}"
            );
            idx += 1;
        };
        for _ in 0..4 {
            row("tutorial", 400, "clear", "cat", "300".into());
        }
        for (beep, n_right) in [(400, [2, 1]), (600, [6, 3]), (800, [9, 4])] {
            for (condition, n_right) in ["clear", "noisy"].into_iter().zip(n_right) {
                for nth in 0..10 {
                    let response = if nth < n_right { "cat" } else { "dog" };
                    row("timed", beep, condition, response, (beep + 20).to_string());
                }
            }
        }
        // One time-out: no answer, no rt.
        row("timed", 800, "noisy", "", String::new());
    }
    text
}

fn scored(args: &[&str]) -> Value {
    let place = Place::new();
    place.write("trials.csv", trials());
    let mut all = vec!["score", "speed-accuracy", "trials.csv", "--format", "json"];
    all.extend(args);
    let ran = place.run(&all).ok();
    let mut summary: Value =
        serde_json::from_str(&ran.stdout()).expect("because --format json prints JSON");
    summary["speed_accuracy"].take()
}

fn accuracies(curve: &Value) -> Vec<f64> {
    let points = curve["points"].as_array().expect("because a curve has points");
    let value = |point: &Value| point["accuracy"]["value"].as_f64();
    points.iter().map(|point| value(point).expect("because it is a number")).collect()
}

#[track_caller]
fn close(found: &[f64], expected: &[f64]) {
    let is_close = |(a, b): (&f64, &f64)| (a - b).abs() < 1e-9;
    assert!(found.len() == expected.len() && found.iter().zip(expected).all(is_close), "{found:?}");
}

#[test]
fn curves_by_condition_come_out_as_worked_by_hand() {
    let found = scored(&[]);
    assert_eq!(found["n_trials_read"], 130);
    assert_eq!(found["n_trials"], 122);
    assert_eq!(found["n_time_outs"], 2);
    close(&accuracies(&found["conditions"][0]), &[0.2, 0.6, 0.9]);
    // The time-out is an eleventh trial, and wrong.
    close(&accuracies(&found["conditions"][1]), &[0.1, 0.3, 4.0 / 11.0]);
    close(&accuracies(&found["average"]), &[0.15, 0.45, 13.0 / 21.0]);
    assert_eq!(found["average"]["points"][2]["rt_ms"]["value"], 820.0);
    assert_eq!(found["exclusions"][0]["rule"], "practice");
    assert_eq!(found["exclusions"][0]["n_trials"], 8);
    assert!(found["conditions"][0]["fit"]["scale_ms"]["value"].is_number());
}

#[test]
fn rules_and_fits_can_be_chosen() {
    let found = scored(&["--time-outs", "excluded", "--drop-first", "1", "--asymptote", "one"]);
    // Four fewer: both time-outs, and the first trial of each person's first block by name.
    let by_rule = |rule: &str| {
        let rules = found["exclusions"].as_array().expect("because rules were applied");
        rules.iter().find(|found| found["rule"] == rule).expect("because it was asked for")
            ["n_trials"]
            .clone()
    };
    assert_eq!(by_rule("time-out"), 2);
    // Three blocks by beep for each of two people.
    assert_eq!(by_rule("first-trials"), 6);
    assert!(found["average"]["fit"]["asymptote"].is_null());
    assert_eq!(found["method"]["time_outs"], "excluded");
    let narrow = scored(&["--window", "10:10"]);
    assert_eq!(narrow["method"]["window"]["between"]["before"], 10.0);
    // Every answer comes 20 ms after its beep; only time-outs are left.
    assert_eq!(narrow["n_trials"], 2);
    let paper = scored(&["--steepness", "paper", "--fit", "least-squares", "--floor", "zero"]);
    let steepness = paper["average"]["steepness"]["value"].as_f64().expect("because it is fitted");
    assert!(steepness < 1e-3, "{steepness}");
    assert_eq!(paper["average"]["fit"]["floor"], 0.0);
}

#[test]
fn files_are_written_and_a_report_can_be_made_of_them() {
    let place = Place::new();
    place.write("trials.csv", trials());
    let ran = place.run(&["score", "speed-accuracy", "trials.csv", "--output", "results"]).ok();
    assert!(ran.stdout().starts_with("trials\n\nMore time helps"), "{}", ran.stdout());
    let exclusions = place.read("results/speed-accuracy-exclusions.csv");
    assert!(exclusions.contains("practice,,line-2,in `tutorial`"), "{exclusions}");
    place.run(&["report", "results"]).ok();
    let html = place.read("results/report.html");
    assert!(html.contains("Right answers over time, by condition"));
    let csv = place.run(&["score", "speed-accuracy", "trials.csv", "--format", "csv"]).ok();
    // Header, then three curves of three blocks for the average and for each of two people.
    assert_eq!(csv.stdout().lines().count(), 1 + 3 * 3 * 3);
}

#[test]
fn the_same_seed_gives_the_same_bytes() {
    let run = || scored(&["--seed", "5"]);
    assert_eq!(run(), run());
    assert_ne!(run(), scored(&["--seed", "6"]));
}

fn fails(trials: &str, args: &[&str], code: i32, words: &[&str]) {
    let place = Place::new();
    place.write("trials.csv", trials);
    let mut all = vec!["score", "speed-accuracy", "trials.csv", "--output", "results"];
    all.extend(args);
    let ran = place.run(&all);
    assert_eq!(ran.code(), code, "{}", ran.all());
    for word in words {
        assert!(ran.stderr().contains(word), "`{word}` is not in: {}", ran.stderr());
    }
    assert!(!place.path("results").exists(), "nothing is half-written");
}

#[test]
fn mistakes_are_named_with_a_hint() {
    let no_beep = "participant,stimulus,label,response\nann,a.png,cat,cat\n";
    fails(no_beep, &[], 2, &["beep_ms"]);
    fails(&trials(), &["--guess-rate", "6"], 2, &["between 0 and 1, found 6", "not a percentage"]);
    fails(&trials(), &["--window", "narrow"], 2, &["published-code", "100:60"]);
    let early = trials().replace(",420\n", ",120\n").replace(",620\n", ",120\n");
    let early = early.replace(",820\n", ",120\n");
    fails(&early, &["--window", "paper"], 2, &["far-from-beep", "deadline"]);
    let unjudged = trials().replace("label", "what").replacen("what,", "x,", 1);
    fails(&unjudged, &[], 2, &["trials.csv:2", "nothing says what is right", "--stimuli"]);
}
