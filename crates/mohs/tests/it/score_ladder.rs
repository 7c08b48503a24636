//! `mohs score ladder` over the binary.

use std::fmt::Write as _;

use serde_json::Value;

use crate::mohs::Place;

/// Twelve labels, one attribute, three levels of two stimuli; `plain` is right on the easy ones and
/// on half of the medium ones, `lucky` on half of everything, whatever the level.
fn place(levels: [&str; 3]) -> Place {
    let place = Place::new();
    let mut stimuli = "stimulus,file,label,attribute,level,noise\n".to_owned();
    let mut predictions = "model,stimulus,predicted\n".to_owned();
    for label in 0..12 {
        for (level_idx, level) in levels.iter().enumerate() {
            for nth in 0..2 {
                let id = format!("s{label:02}{level_idx}{nth}");
                let _ =
                    writeln!(stimuli, "{id},{id}.png,label{label:02},blur,{level},0.{level_idx}");
                let answer = |is_right: bool| {
                    if is_right { format!("label{label:02}") } else { "no".into() }
                };
                let is_right = level_idx == 0 || (level_idx == 1 && nth == 0);
                let _ = writeln!(predictions, "plain,{id},{}", answer(is_right));
                let _ = writeln!(predictions, "lucky,{id},{}", answer(nth == 0));
            }
        }
    }
    place.write("stimuli.csv", stimuli);
    place.write("predictions.csv", predictions);
    place
}

const FILES: [&str; 8] = [
    "score",
    "ladder",
    "--stimuli",
    "stimuli.csv",
    "--predictions",
    "predictions.csv",
    "--resamples",
    "200",
];

fn with(more: &[&'static str]) -> Vec<&'static str> {
    [&FILES[..], more].concat()
}

const KNOWN: [&str; 3] = ["easy", "medium", "hard"];

#[test]
fn two_models_come_out_as_worked_by_hand() {
    let place = place(KNOWN);
    let ran = place.run(&with(&["--format", "json"])).ok();
    let summary: Value = serde_json::from_str(&ran.stdout()).expect("because it is JSON");
    let ladder = &summary["ladder"];
    assert_eq!((&ladder["n_cells"], &ladder["n_complete_cells"]), (&12.into(), &12.into()));
    let hierarchy =
        |model: usize| &ladder["models"][model]["overall"]["hierarchy"]["score"]["value"];
    // Easy right, hard wrong: whatever medium is, the pattern is hierarchical.
    assert_eq!(hierarchy(0), &Value::from(1.0));
    // A coin at each level: four of eight patterns.
    assert_eq!(hierarchy(1), &Value::from(0.5));
    let score = ladder["models"][0]["overall"]["score"]["value"].as_f64();
    assert!((score.expect("because it is a number") - 2.0 / 7.0).abs() < 1e-12);
    assert_eq!(place.run(&with(&["--format", "json"])).ok().stdout(), ran.stdout());
}

#[test]
fn the_text_reads_well() {
    insta::assert_snapshot!(place(KNOWN).run(&with(&[])).ok().all());
}

#[test]
fn words_without_an_order_are_refused_with_a_hint() {
    let place = place(["weak", "middling", "strong"]);
    let refused = place.run(&with(&[]));
    assert_eq!(refused.code(), 2);
    insta::assert_snapshot!(refused.all());
    place.run(&with(&["--levels", "weak,middling,strong"])).ok();
    let lacking = place.run(&with(&["--levels", "weak,strong"]));
    assert_eq!(lacking.code(), 2);
    insta::assert_snapshot!(lacking.all());
    place.run(&with(&["--levels", "weak,middling|strong", "--weights", "1,3"])).ok();
    assert_eq!(
        place.run(&with(&["--levels", "weak,middling,strong", "--weights", "1,3"])).code(),
        2
    );
}

#[test]
fn a_column_of_numbers_is_a_ladder_and_an_unknown_one_is_refused() {
    let place = place(["weak", "middling", "strong"]);
    let csv = place.run(&with(&["--by", "noise", "--format", "csv"])).ok().stdout();
    assert!(csv.lines().nth(1).expect("because there are models").starts_with("plain,,72,0.5,"));
    let refused = place.run(&with(&["--by", "nose"]));
    assert_eq!(refused.code(), 2);
    insta::assert_snapshot!(refused.all());
}

#[test]
fn tables_are_written_beside_the_summary_and_become_a_report() {
    let place = place(KNOWN);
    place.run(&with(&["--output", "results"])).ok();
    for name in ["ladder.csv", "levels.csv", "patterns.csv", "labels.csv"] {
        assert!(place.read(&format!("results/ladder-tables/{name}")).lines().count() > 2, "{name}");
    }
    place.run(&with(&["--output", "results"])).ok();
    place.run(&["report", "results"]).ok();
    assert!(place.read("results/report.html").contains("ladder-patterns"));
}
