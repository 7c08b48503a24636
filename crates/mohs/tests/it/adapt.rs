//! `mohs adapt` and `mohs simulate ladder`: replays, networks that are asked and killed, mistakes.

use serde_json::Value;

use crate::eval::json;
use crate::mohs::{Place, Ran};
use crate::real_data::real_data;

/// A number that looks random and is the same everywhere.
fn coin(seed: u64) -> f64 {
    let mut z = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(0x1234_5678);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    #[expect(clippy::cast_precision_loss, reason = "53 bits fit")]
    let bits = ((z ^ (z >> 31)) >> 11) as f64;
    bits / 9_007_199_254_740_992.0
}

/// A ladder of 5 classes, 2 attributes, 3 levels and 12 stimuli each, and four models that agree.
fn ladder() -> Place {
    let place = Place::new();
    let mut stimuli = "stimulus,file,label,attribute,level\n".to_owned();
    let mut predictions = "model,stimulus,label,predicted\n".to_owned();
    let mut idx = 0_u64;
    for class in 0..5 {
        for attribute in ["size", "style"] {
            for (level, name) in ["easy", "medium", "hard"].iter().enumerate() {
                for _ in 0..12 {
                    stimuli += &format!("s{idx},s{idx}.png,c{class},{attribute},{name}\n");
                    for model in 0..4_u64 {
                        let shared = coin(idx);
                        let own = coin(1_000_000 * (model + 1) + idx);
                        let ease = [0.9, 0.65, 0.3][level];
                        let said = if 0.6 * shared + 0.4 * own < ease {
                            format!("c{class}")
                        } else {
                            "something else".into()
                        };
                        predictions += &format!("m{model},s{idx},c{class},{said}\n");
                    }
                    idx += 1;
                }
            }
        }
    }
    place.write("stimuli.csv", stimuli);
    place.write("predictions.csv", predictions);
    place
}

fn adapt(place: &Place, more: &[&str]) -> Ran {
    let always = ["adapt", "predictions.csv", "--model", "m0", "--stimuli", "stimuli.csv"];
    place.run(&[&always[..], more].concat())
}

fn test_of(ran: &Ran) -> Value {
    json(ran)["adaptive_test"].clone()
}

#[test]
fn a_quarter_is_asked_and_the_full_run_lies_in_the_interval() {
    let place = ladder();
    let more =
        ["--references", "predictions.csv", "--output", "out", "--format", "json", "--quiet"];
    let found = test_of(&adapt(&place, &more).ok());
    assert_eq!(found["n_stimuli"].as_u64(), Some(360));
    assert_eq!(found["n_asked"].as_u64(), Some(90));
    assert_eq!(found["spent"]["n_calls"].as_u64(), Some(90));
    assert_eq!(found["references"].as_array().unwrap().len(), 3);
    let overall = &found["overall"];
    let full = overall["full_accuracy"].as_f64().unwrap();
    let end = |key: &str| overall["accuracy"][key].as_f64().unwrap();
    assert!(end("low") <= full && full <= end("high"), "{overall}");
    let asked = place.read("out/asked.csv");
    assert_eq!(asked.lines().count(), 91);
    assert!(asked.starts_with("round,stimulus,label,attribute,level,predicted,correct,why\n1,s"));
    assert_eq!(place.read("out/asked-predictions.csv").lines().count(), 91);
    place.run(&["report", "out", "--quiet"]).ok();
    assert!(place.read("out/report.html").contains("What the model knows"));
    let text = adapt(&place, &["--quiet"]).ok().stdout();
    assert!(text.contains("It was asked 90 of 360 stimuli"), "{text}");
    let csv = adapt(&place, &["--quiet", "--format", "csv"]).ok().stdout();
    assert!(csv.starts_with("group,class,attribute,level,quantity,value,low,high,n,"), "{csv}");
}

#[test]
fn every_design_runs_and_a_width_asks_less() {
    let place = ladder();
    for design in ["neyman", "static", "static-3", "gre", "gre-appendix", "gre-steep"] {
        let more = ["--design", design, "--format", "json", "--quiet"];
        let found = test_of(&adapt(&place, &more).ok());
        assert_eq!(found["n_asked"].as_u64(), Some(90), "{design}");
    }
    let more = ["--budget", "1", "--width", "0.2", "--strata", "attribute-level"];
    let found =
        test_of(&adapt(&place, &[&more[..], &["--format", "json", "--quiet"]].concat()).ok());
    let width = found["overall"]["accuracy"]["high"].as_f64().unwrap()
        - found["overall"]["accuracy"]["low"].as_f64().unwrap();
    assert!(width < 0.21, "{width}");
    assert!(found["n_asked"].as_u64().unwrap() < 100, "{}", found["n_asked"]);
}

#[test]
fn a_design_that_asks_more_than_the_budget_is_refused_and_says_what_it_asks() {
    let place = ladder();
    for (design, budget, enough, what) in [
        ("gre", "0.2", "0.25", "the design `gre` asks 90 of 360 stimuli (25.0 %)"),
        ("gre-appendix", "0.24", "0.25", "the design `gre-appendix` asks 90 of 360"),
        ("static-4", "0.25", "0.334", "the design `static-4` asks 120 of 360 stimuli (33.3 %)"),
    ] {
        let refused = adapt(&place, &["--design", design, "--budget", budget]);
        assert_eq!(refused.code(), 2, "{}", refused.all());
        let said = refused.stderr();
        assert!(said.contains(what) && said.contains("allows"), "{said}");
        assert!(
            said.contains(&format!("--budget {:.3}", enough.parse::<f64>().unwrap())),
            "{said}"
        );
        adapt(&place, &["--design", design, "--budget", enough, "--quiet"]).ok();
        // Nobody said a budget: it is said how many there will be.
        let free = adapt(&place, &["--design", design]).ok();
        let said = free.stderr();
        let (before, _) = said.split_once("round 1:").expect("a first round");
        assert!(before.contains(what), "{said}");
    }
}

#[test]
fn a_reference_that_refused_counts_as_a_replay_does() {
    let place = ladder();
    let refused = |row: &str| match row.strip_suffix(",something else") {
        Some(row) if row.starts_with("m1") => format!("{row},,refused to answer: “no”\n"),
        _ => format!("{row},\n"),
    };
    let rows = place.read("predictions.csv");
    let (header, rows) = rows.split_once('\n').unwrap();
    let rows: String = rows.lines().map(refused).collect();
    place.write("refused.csv", format!("{header},reason\n{rows}"));
    let found = |references: &str| {
        let more = ["--references", references, "--format", "json", "--quiet"];
        test_of(&adapt(&place, &more).ok())
    };
    assert_eq!(found("predictions.csv"), found("refused.csv"));
}

#[test]
fn mistakes_are_named() {
    let place = ladder();
    let all: Vec<String> = [
        &["--design", "neymann"][..],
        &["--budget", "25"],
        &["--estimator", "stratifed"],
        &["--design", "gre", "--estimator", "stratified"],
        &["--design", "static-13"],
        &["--budget", "0.01"],
        &["--design", "static", "--width", "0.1"],
    ]
    .iter()
    .map(|more| format!("{}\n{}", more.join(" "), adapt(&place, more).all()))
    .collect();
    insta::assert_snapshot!(all.join("\n"));
}

#[test]
fn numbers_that_are_none_or_below_zero_are_said_in_our_words() {
    let place = ladder();
    for (more, expected) in [
        (["--width", "-0.1"], "the width should be between 0 and 1, found -0.1"),
        (["--width", "wide"], "expected a number, found `wide`"),
        (["--width", "nan"], "expected a number, found `nan`"),
        (["--budget", "-1"], "the budget should be a share above 0 and at most 1, found -1"),
        (["--weights", "-1,2,3"], "weights, one per level and none negative, found -1, 2, 3"),
        (["--weights", "1,two,3"], "expected a number, found `two`"),
    ] {
        let ran = adapt(&place, &more);
        assert_eq!(ran.code(), 2, "{}", ran.all());
        assert!(ran.stderr().contains(expected), "{}", ran.all());
    }
}

#[test]
fn ladders_without_levels_and_references_with_gaps_are_refused() {
    let place = ladder();
    place.write("flat.csv", "stimulus,file,label\ns0,s0.png,c0\ns1,s1.png,c0\n");
    let flat = place.run(&["adapt", "predictions.csv", "--model", "m0", "--stimuli", "flat.csv"]);
    let rows = place.read("predictions.csv");
    let some: String = rows
        .lines()
        .filter(|row| !row.starts_with("m1,s7,"))
        .map(|row| format!("{row}\n"))
        .collect();
    place.write("some.csv", some);
    let gaps = adapt(&place, &["--references", "some.csv"]);
    let unknown =
        place.run(&["adapt", "predictions.csv", "--model", "m9", "--stimuli", "stimuli.csv"]);
    insta::assert_snapshot!([flat.all(), gaps.all(), unknown.all()].join("\n"));
}

/// The demo's networks, asked through the journal: a second run asks nobody, and a run that finds
/// half of its answers ends with the same bytes.
#[test]
fn a_network_is_asked_a_quarter_and_a_stopped_test_goes_on() {
    let place = Place::new();
    place.run(&["demo", "demo", "--quiet", "--stimuli", "240", "--size", "48"]).ok();
    assert!(place.read("demo/report.html").contains("Designs compared"));
    let run = |output: &str| {
        place.run(&[
            "adapt",
            "demo/eval.toml",
            "--model",
            "plain",
            "--references",
            "demo/predictions.csv",
            "--engine",
            "rten",
            "--output",
            output,
            "--format",
            "json",
        ])
    };
    let first = run("one").ok();
    let found = test_of(&first);
    assert_eq!(found["n_asked"].as_u64(), Some(60));
    assert_eq!(found["spent"]["n_calls"].as_u64(), Some(60));
    assert!(!first.stderr().contains("known from an earlier run"), "{}", first.all());
    // What a full run says of the same network is in the demo's predictions.
    let rows = place.read("demo/predictions.csv");
    let mine: Vec<Vec<&str>> = rows
        .lines()
        .map(|row| row.split(',').collect::<Vec<_>>())
        .filter(|row| row[0] == "plain" && row[2] == "none")
        .collect();
    let right = mine.iter().filter(|row| row[5] == row[7]).count();
    assert_eq!(mine.len(), 240);
    #[expect(clippy::cast_precision_loss, reason = "small counts")]
    let full = right as f64 / 240.0;
    let end = |key: &str| found["overall"]["accuracy"][key].as_f64().unwrap();
    assert!(end("low") <= full && full <= end("high"), "{full} {}", found["overall"]);

    let second = run("two").ok();
    assert!(second.stderr().contains("60 answers were known from an earlier run"));
    // Cut the journal in the middle of a row, as a kill would.
    let cache = place.path("demo/.mohs-cache");
    for entry in std::fs::read_dir(&cache).expect("because the run made it").flatten() {
        if entry.path().extension().is_some_and(|ending| ending == "rows") {
            let bytes = std::fs::read(entry.path()).unwrap();
            std::fs::write(entry.path(), &bytes[..bytes.len() / 2]).unwrap();
        }
    }
    run("three").ok();
    for name in ["summary.json", "asked.csv", "asked-predictions.csv"] {
        assert_eq!(place.read(&format!("one/{name}")), place.read(&format!("two/{name}")));
        assert_eq!(place.read(&format!("one/{name}")), place.read(&format!("three/{name}")));
    }
}

#[test]
fn designs_are_compared_on_simulated_models() {
    let place = Place::new();
    let args = ["simulate", "ladder", "--short", "--resamples", "3", "--classes", "6", "--quiet"];
    let text = place.run(&args).ok().stdout();
    assert!(text.contains("neyman with references, control-variate"), "{text}");
    let run = place.run(&[&args[..], &["--format", "json", "--output", "designs.json"]].concat());
    assert_eq!(json(&run.ok())["arms"].as_array().unwrap().len(), 5);
    assert!(place.read("designs.json").contains("\"n_resamples\": 3"));
    let refused = place.run(&["simulate", "ladder", "--replay", "predictions.csv"]);
    assert_eq!(refused.code(), 2);
}

#[test]
fn designs_that_ask_more_than_there_is_are_left_out_with_a_line() {
    let place = Place::new();
    let args = ["simulate", "ladder", "--resamples", "2", "--classes", "3", "--short", "--budget"];
    let whole = place.run(&[&args[..], &["1"]].concat()).ok();
    let said = whole.stderr();
    assert!(said.contains("the design `gre` is left out: "), "{said}");
    assert_eq!(said.matches("is left out").count(), 1, "{said}");
    assert!(whole.stdout().contains("neyman") && !whole.stdout().contains("gre"));
    let none = place.run(&[&args[..], &["2"]].concat());
    assert_eq!(none.code(), 2);
    assert!(none.stderr().contains("the budget should be a share above 0"), "{}", none.all());
}

/// Real networks on real pictures: whatever the design, nothing is off by much, and ours is nearer
/// than the baseline.
#[test]
fn designs_are_compared_on_real_predictions() {
    let Some(folder) = real_data("replay") else { return };
    let data = folder.join("noise_22_networks.csv");
    let place = Place::new();
    let file = data.to_str().expect("because the path is text");
    place
        .run(&[
            "import",
            "answers-table",
            file,
            "--map",
            "condition_value=noise",
            "--output",
            "predictions.csv",
            "--stimuli-output",
            "stimuli.csv",
            "--quiet",
        ])
        .ok();
    let found = json(
        &place
            .run(&[
                "simulate",
                "ladder",
                "--replay",
                "predictions.csv",
                "--stimuli",
                "stimuli.csv",
                "--level-groups",
                "3",
                "--short",
                "--resamples",
                "4",
                "--format",
                "json",
                "--quiet",
            ])
            .ok(),
    );
    assert_eq!((found["n_models"].as_u64(), found["n_stimuli"].as_u64()), (Some(22), Some(4480)));
    let ours = found["arms"].as_array().unwrap().last().unwrap();
    let number = |what: &str, key: &str| ours[what][key].as_f64().unwrap();
    assert!(number("accuracy", "ratio") < 0.9, "{ours}");
    assert!(number("score", "ratio") < 0.9, "{ours}");
    assert!(number("accuracy", "bias").abs() < 0.3, "{ours}");
}
