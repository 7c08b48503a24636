//! `mohs score attacks` over the binary.

use std::fmt::Write as _;

use mohs_vision::pixels::Rgb8;
use serde_json::Value;

use crate::mohs::Place;

const HEADER: &str = "model,stimulus,attack,norm,goal,settings,label,clean,outcome,epsilon,up_to,\
                      answer,how,fast,n_forward,n_gradient,flags,reason\n";

/// Two models under two attacks on 60 stimuli of 12 classes; what people find hard is fooled sooner,
/// and the second model takes more, above all on easy stimuli.
fn place() -> Place {
    let place = Place::new();
    let mut difficulty = "stimulus,measure,difficulty\n".to_owned();
    for idx in 0..60 {
        let _ = writeln!(difficulty, "s{idx:02},viewing-time,{}", f64::from(idx) / 60.0);
    }
    place.write("difficulty.csv", difficulty);
    for (model, factor) in [("standard", 1), ("defended", 5)] {
        let mut rows = HEADER.to_owned();
        for idx in 0..60 {
            let label = format!("class{:02}", idx % 12);
            let is_right = idx < 40 || idx % 3 != 0;
            for (attack, more) in [("pgd", 0), ("fgsm", 4)] {
                let steps = 2 + (60 - idx) / 5 * factor + more + idx * 7 % 4;
                let row = format!("{model},s{idx:02},{attack},linf,fool,steps=10,{label}");
                let _ = match (is_right, steps) {
                    (false, _) => writeln!(rows, "{row},shoe,not-attacked,,,,exact,,1,0,,"),
                    (_, steps) if steps <= 50 => writeln!(
                        rows,
                        "{row},{label},found,{},,shoe,exact,,20,200,,",
                        f64::from(steps) / 1000.0
                    ),
                    _ => writeln!(rows, "{row},{label},survived,,0.05,,exact,,50,500,,"),
                };
            }
        }
        place.write(&format!("{model}.csv"), rows);
    }
    place
}

const FILES: [&str; 8] = [
    "score",
    "attacks",
    "standard.csv",
    "defended.csv",
    "--difficulty",
    "difficulty.csv",
    "--resamples",
    "200",
];

fn with(more: &[&'static str]) -> Vec<&'static str> {
    [&FILES[..], more].concat()
}

#[test]
fn two_models_come_out_as_worked_by_hand() {
    let place = place();
    let ran = place.run(&with(&["--format", "json"])).ok();
    let summary: Value = serde_json::from_str(&ran.stdout()).expect("because it is JSON");
    let attacks = &summary["attacks"];
    assert_eq!(attacks["n_rows"], 240);
    assert_eq!(attacks["models"][1]["model"], "defended");
    assert_eq!(attacks["bands"].as_array().map(Vec::len), Some(3));
    // Of 20 hard stimuli those with an index that three divides are wrong: 42, 45, 48, 51, 54, 57.
    assert_eq!(attacks["models"][0]["clean_by_band"][2]["n_right"], 14);
    let pgd = &attacks["tables"][0]["attacks"][0];
    assert_eq!((&pgd["attack"], &pgd["overall"]["n_survived"]), (&"pgd".into(), &0.into()));
    assert_eq!(attacks["tables"][0]["horizon"], 0.05);
    assert_eq!(place.run(&with(&["--format", "json"])).ok().stdout(), ran.stdout());
}

#[test]
fn the_text_reads_well() {
    insta::assert_snapshot!(place().run(&with(&[])).ok().all());
}

/// Writes a folder of examples as `mohs attack` does: 4 × 4 pixels, each changed a little.
fn write_examples(place: &Place) {
    std::fs::create_dir_all(place.path("kept")).expect("because the place can be written to");
    let mut table = "model,stimulus,attack,norm,epsilon,label,clean,answer,file\n".to_owned();
    for idx in [0, 1, 30, 58, 59] {
        let before = Rgb8::new(4, 4, vec![100; 48]).expect("because sizes fit");
        let after = Rgb8::new(4, 4, (0..48).map(|i| 98 + i % 5).collect());
        place.write(&format!("kept/{idx}.clean.png"), before.to_png());
        place.write(&format!("kept/{idx}.png"), after.expect("because sizes fit").to_png());
        let _ = writeln!(
            table,
            "standard,s{idx:02},pgd,linf,0.008,class{:02},class{:02},shoe,{idx}.png",
            idx % 12,
            idx % 12
        );
    }
    place.write("kept/examples.csv", table);
}

#[test]
fn tables_pictures_and_a_report_are_written_and_old_ones_go() {
    let place = place();
    write_examples(&place);
    place.run(&with(&["--output", "out", "--examples", "kept"])).ok();
    let csv = place.read("out/attack-tables/epsilon.csv");
    assert_eq!(csv.lines().count(), 1 + 2 * 2 * (1 + 3), "{csv}");
    assert_eq!(place.run(&with(&["--format", "csv"])).ok().stdout(), csv);
    let kept = place.read("out/attack-examples/examples.csv");
    // The easiest and the hardest band, easy first; what lies between stays away.
    assert_eq!(kept.lines().count(), 1 + 4, "{kept}");
    assert!(kept.lines().nth(1).is_some_and(|row| row.contains("s00") && row.contains("01.png")));
    assert!(!place.read("out/summary.json").contains("base64"));
    place.run(&["report", "out", "--output", "report.html"]).ok();
    let html = place.read("report.html");
    assert!(html.contains("attacks-gallery") && html.contains("change × 63"));
    assert!(html.contains("Easier stimuli need larger changes"));

    place.run(&with(&["--output", "out", "--examples", "kept"])).ok();
    place.write("out/attack-tables/notes.txt", "mine");
    let ran = place.run(&with(&["--output", "out"]));
    assert_eq!(ran.code(), 2, "{}", ran.all());
    assert!(place.path("out/attack-tables/notes.txt").exists());
}

#[test]
fn mistakes_are_named_with_a_hint() {
    let place = place();
    place.write("empty.csv", HEADER);
    place.write("other.csv", "stimulus,measure,difficulty\nx1,viewing-time,0.1\n");
    place.write("two.csv", "stimulus,measure,difficulty\ns01,a,0.1\ns01,b,0.2\n");
    place.write("bad.csv", "model,stimulus,attack,label,outcome\nm,a,pgd,mug,found\n");
    place.write(
        "failed.csv",
        "model,stimulus,attack,label,outcome,reason\nm,a,pgd,mug,failed,no file\n",
    );
    let check = |args: &[&str], expected: &[&str]| {
        let ran = place.run(&[&["score", "attacks"], args].concat());
        assert_eq!(ran.code(), 2, "{}", ran.all());
        assert_eq!(ran.stdout(), "");
        for part in expected {
            assert!(ran.stderr().contains(part), "{part} is missing in {}", ran.all());
        }
    };
    check(&["missing.csv"], &["missing.csv", "cannot read the attacks"]);
    check(&["difficulty.csv"], &["model", "hint"]);
    check(&["empty.csv"], &["no attacks to score", "no rows"]);
    check(&["bad.csv"], &["epsilon", "the size of a change"]);
    check(&["failed.csv"], &["all 1 attacks failed", "no file"]);
    check(&["standard.csv", "standard.csv"], &["more than one row", "given twice?"]);
    check(&["standard.csv", "--difficulty", "other.csv"], &["was attacked", "written alike"]);
    check(&["standard.csv", "--difficulty", "two.csv"], &["several measures", "--measure"]);
    check(&["standard.csv", "--difficulty", "nowhere.csv"], &["no difficulties at"]);
    check(&["standard.csv", "--examples", "nowhere"], &["--output"]);
    check(
        &["standard.csv", "--examples", "nowhere", "--output", "out"],
        &["no examples of attacks at", "mohs attack --examples"],
    );
    assert!(!place.path("out").exists());
}

#[test]
fn survivors_are_counted_at_the_horizon_of_the_attack_in_the_sentence() {
    let place = Place::new();
    let row = |rows: &mut String, stimulus: &str, attack: &str, cells: &str| {
        let _ = writeln!(rows, "m,{stimulus},{attack},linf,fool,,mug,mug,{cells}");
    };
    let answer = |rows: &str| {
        place.write("rows.csv", format!("{HEADER}{rows}"));
        let text = place.run(&["score", "attacks", "rows.csv"]).ok().stdout();
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let (mut pgd, mut square, mut short) = (String::new(), String::new(), String::new());
    for idx in 1_u8..=10 {
        let (name, epsilon) = (format!("s{idx}"), f64::from(idx) / 1000.0);
        row(&mut pgd, &name, "pgd", &format!("found,{epsilon},,cup,exact,,1,1,,"));
        row(&mut square, &name, "square", "survived,,0.002,,exact,,1,0,,");
        let cells = match idx {
            10 => "survived,,0.005,,exact,,1,1,,".to_owned(),
            _ => format!("found,{epsilon},,cup,exact,,1,1,,"),
        };
        row(&mut short, &name, "pgd", &cells);
    }
    let both = answer(&(pgd.clone() + &square));
    assert!(both.contains("takes a mean ε of 0.00550; none of 10 stimuli"), "{both}");
    assert!(both.contains("square (m) went no further"), "{both}");
    let alone = answer(&square);
    let expected = "a mean ε of at least 0.00200, restricted to ε up to 0.00200: 10 of 10 stimuli \
                    survive every ε up to 0.00200. Among the fooled alone, the mean is unknown";
    assert!(alone.contains(expected), "{alone}");
    let short = answer(&short);
    let expected = "none of 10 stimuli is known to survive every ε up to 0.00900 (1 that survived \
                    was not tried as far)";
    assert!(short.contains(expected), "{short}");
}

#[test]
fn examples_of_something_else_are_left_out_and_counted_or_refused() {
    let place = place();
    write_examples(&place);
    let rows = place.read("kept/examples.csv");
    let foreign = rows.replacen("standard,s00", "standard,holiday", 1);
    place.write("kept/examples.csv", &foreign);
    let ran = place.run(&with(&["--output", "out", "--examples", "kept"])).ok();
    assert!(ran.stdout().contains("1 of 5 examples"), "{}", ran.all());
    assert!(!place.read("out/attack-examples/examples.csv").contains("holiday"));
    place.write("kept/examples.csv", rows.replace("standard,", "other,"));
    let ran = place.run(&with(&["--output", "new", "--examples", "kept"]));
    assert_eq!(ran.code(), 2, "{}", ran.all());
    for part in ["none of the 5 examples", "model `other`", "hint"] {
        assert!(ran.stderr().contains(part), "{}", ran.all());
    }
    assert!(!place.path("new").exists());
}

#[test]
fn epsilon_in_levels_of_255_is_refused_wherever_rows_are_read() {
    let place = Place::new();
    place.write("rows.csv", "model,stimulus,attack,label,outcome,epsilon\nm,a,pgd,mug,found,8\n");
    for verb in [&["check", "rows.csv"][..], &["score", "attacks", "rows.csv"]] {
        let ran = place.run(verb);
        assert_ne!(ran.code(), 0, "{}", ran.all());
        for part in ["2", "from 0 to 1", "`8`", "divide by 255"] {
            assert!(ran.all().contains(part), "{}", ran.all());
        }
    }
}
