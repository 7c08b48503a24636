//! `mohs score viewing-time` on a file worked by hand.

use std::fmt::Write as _;

use serde_json::Value;

use crate::mohs::Place;

const EXPOSURES: [u32; 6] = [17, 50, 100, 150, 250, 10_000];

/// Two stimuli × six exposures × seven participants, with these right answers by exposure.
pub(crate) fn rows_by_hand() -> Vec<String> {
    let right = [("mug", "key", [2, 4, 5, 7, 7, 7]), ("key", "mug", [0, 1, 4, 3, 6, 7])];
    let mut rows = Vec::new();
    for (label, other, n_right) in right {
        for (exposure, n_right) in EXPOSURES.into_iter().zip(n_right) {
            for participant in 0..7 {
                let response = if participant < n_right { label } else { other };
                rows.push(format!("p{participant},{label}.png,{label},{exposure},{response}"));
            }
        }
    }
    rows
}

pub(crate) const HEADER: &str = "participant,stimulus,label,exposure_ms,response";

fn table(rows: &[String]) -> String {
    let mut text = format!("{HEADER}\n");
    for row in rows {
        let _ = writeln!(text, "{row}");
    }
    text
}

fn summary(place: &Place, args: &[&str]) -> Value {
    let mut all = vec!["score", "viewing-time", "trials.csv", "--format", "json"];
    all.extend(args);
    let ran = place.run(&all).ok();
    serde_json::from_str(&ran.stdout()).expect("because --format json prints JSON")
}

fn stimulus<'a>(summary: &'a Value, id: &str) -> &'a Value {
    let stimuli = summary["viewing_time"]["stimuli"].as_array().expect("because there are stimuli");
    stimuli.iter().find(|stimulus| stimulus["stimulus"] == id).expect("because it was shown")
}

#[test]
fn two_stimuli_come_out_as_worked_by_hand() {
    let place = Place::new();
    place.write("trials.csv", table(&rows_by_hand()));
    let summary = summary(&place, &["--guess-rate", "0.02"]);
    // 5 + 3 + 2 wrong of 42; recognised from 50 ms on, where 4 of 7 are right.
    let mug = stimulus(&summary, "mug.png");
    assert_eq!((&mug["n_errors"], &mug["mvt"]), (&10.into(), &50.0.into()));
    // 7 + 6 + 3 + 4 + 1 wrong; recognised at 100 ms, lost at 150 ms (3 of 7), back at 250 ms.
    let key = stimulus(&summary, "key.png");
    assert_eq!((&key["n_errors"], &key["mvt"]), (&21.into(), &250.0.into()));
    assert_eq!(key["mvt_first"], 100.0);
    assert_eq!(key["difficulty"]["value"], 0.5);
    assert_eq!(key["difficulty"]["n"], 42);
}

#[test]
fn permuting_rows_changes_no_byte() {
    let place = Place::new();
    let mut rows = rows_by_hand();
    let scored = |rows: &[String]| {
        place.write("trials.csv", table(rows));
        let args = ["score", "viewing-time", "trials.csv", "--output", "out", "--quiet"];
        let printed = place.run(&args).ok().stdout();
        (printed, place.bytes("out/summary.json"), place.bytes("out/difficulty.csv"))
    };
    let before = scored(&rows);
    rows.reverse();
    rows.rotate_left(31);
    assert_eq!(before, scored(&rows));
}

#[test]
fn the_rule_moves_the_viewing_time_and_not_the_errors() {
    let place = Place::new();
    place.write("trials.csv", table(&rows_by_hand()));
    let direct = summary(&place, &["--guess-rate", "0.02"]);
    let first = summary(&place, &["--guess-rate", "0.02", "--rule", "first"]);
    assert_eq!(stimulus(&first, "key.png")["mvt"], 100.0);
    assert_eq!(stimulus(&direct, "mug.png")["n_errors"], stimulus(&first, "mug.png")["n_errors"]);
}

#[test]
fn foreign_columns_are_mapped_and_unknown_ones_kept() {
    let place = Place::new();
    let header = "subj,img,truth,duration,answer,lab";
    let rows: Vec<String> = rows_by_hand().iter().map(|row| format!("{row},B12")).collect();
    place.write("theirs.csv", format!("{header}\n{}\n", rows.join("\n")));
    let ran = place.run(&[
        "score",
        "viewing-time",
        "theirs.csv",
        "--quiet",
        "--format",
        "csv",
        "--map",
        "participant=subj",
        "--map",
        "stimulus=img",
        "--map",
        "label=truth",
        "--map",
        "exposure_ms=duration",
        "--map",
        "response=answer",
    ]);
    assert_eq!(ran.ok().stdout().lines().count(), 3);
}

#[test]
fn a_column_of_right_and_wrong_is_enough() {
    let place = Place::new();
    place.write(
        "trials.csv",
        "participant,stimulus,exposure_ms,correct\na,x,17,0\nb,x,50,1\nc,x,100,1\n",
    );
    let summary = summary(&place, &[]);
    assert_eq!(stimulus(&summary, "x")["mvt"], 50.0);
}
